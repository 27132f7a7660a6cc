(** Finite sums of real numbers. *)

From Coq Require Import Reals List Lra Lia.
Import ListNotations.
Local Open Scope R_scope.

Section Total.
Context {A : Type}.

Fixpoint total (f : A -> R) (l : list A) : R :=
  match l with
  | [] => 0
  | x :: rest => f x + total f rest
  end.

Lemma total_ext (f g : A -> R) l : (forall x, In x l -> f x = g x) -> total f l = total g l.
Proof.
  induction l as [|x l IH]; intros H; simpl; [reflexivity|].
  rewrite H by (left; reflexivity). rewrite IH; [reflexivity|]. intros y Hy. apply H. right. exact Hy.
Qed.

Lemma total_app (f : A -> R) l m : total f (l ++ m) = total f l + total f m.
Proof. induction l as [|x l IH]; simpl; [lra|]. rewrite IH. lra. Qed.

Lemma total_plus (f g : A -> R) l : total (fun x => f x + g x) l = total f l + total g l.
Proof. induction l as [|x l IH]; simpl; [lra|]. rewrite IH. lra. Qed.

Lemma total_scale (c : R) (f : A -> R) l : total (fun x => c * f x) l = c * total f l.
Proof. induction l as [|x l IH]; simpl; [lra|]. rewrite IH. lra. Qed.

Lemma total_zero (f : A -> R) l : (forall x, In x l -> f x = 0) -> total f l = 0.
Proof.
  induction l as [|x l IH]; intros H; simpl; [reflexivity|].
  rewrite H by (left; reflexivity). rewrite IH; [lra|]. intros y Hy. apply H. right. exact Hy.
Qed.

Lemma total_nonneg (f : A -> R) l : (forall x, In x l -> 0 <= f x) -> 0 <= total f l.
Proof.
  induction l as [|x l IH]; intros H; simpl; [lra|].
  assert (0 <= f x) by (apply H; left; reflexivity).
  assert (0 <= total f l) by (apply IH; intros y Hy; apply H; right; exact Hy). lra.
Qed.

Lemma total_le (f g : A -> R) l : (forall x, In x l -> f x <= g x) -> total f l <= total g l.
Proof.
  induction l as [|x l IH]; intros H; simpl; [lra|].
  assert (f x <= g x) by (apply H; left; reflexivity).
  assert (total f l <= total g l) by (apply IH; intros y Hy; apply H; right; exact Hy). lra.
Qed.

End Total.

Lemma total_map {A B} (g : A -> B) (f : B -> R) l : total f (map g l) = total (fun x => f (g x)) l.
Proof. induction l as [|x l IH]; simpl; [reflexivity|]. rewrite IH. reflexivity. Qed.

Lemma total_flat_map {A B} (g : A -> list B) (f : B -> R) l :
  total f (flat_map g l) = total (fun x => total f (g x)) l.
Proof. induction l as [|x l IH]; simpl; [reflexivity|]. rewrite total_app, IH. reflexivity. Qed.

Lemma total_swap {A B} (f : A -> B -> R) l m :
  total (fun x => total (f x) m) l = total (fun y => total (fun x => f x y) l) m.
Proof.
  induction l as [|x l IH]; simpl.
  - symmetry. apply total_zero. reflexivity.
  - rewrite IH, <- total_plus. reflexivity.
Qed.
