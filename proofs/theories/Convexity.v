(* A polynomial whose Hessian is positive semidefinite on a segment lies above its tangent plane there. *)
From Coq Require Import Reals Lra Lia List Arith ZArith.
From Paramverify Require Import Poly Semantics.
Import ListNotations.
Open Scope R_scope.

(* --- finite sums ----------------------------------------------------------------------------------- *)

Fixpoint rsum (f : nat -> R) (n : nat) : R :=
  match n with O => 0 | S m => f 0%nat + rsum (fun i => f (S i)) m end.

Lemma rsum_ext : forall n f g, (forall i, (i < n)%nat -> f i = g i) -> rsum f n = rsum g n.
Proof.
  induction n as [|n IH]; intros f g H; simpl; [reflexivity|].
  rewrite (H 0%nat) by lia. f_equal. apply IH. intros i Hi. apply H. lia.
Qed.

Lemma rsum_le : forall n f g, (forall i, (i < n)%nat -> f i <= g i) -> rsum f n <= rsum g n.
Proof.
  induction n as [|n IH]; intros f g H; simpl; [lra|].
  apply Rplus_le_compat; [apply H; lia|]. apply IH. intros i Hi. apply H. lia.
Qed.

Lemma rsum_plus : forall n f g, rsum (fun i => f i + g i) n = rsum f n + rsum g n.
Proof. induction n as [|n IH]; intros f g; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma rsum_scale : forall n a f, rsum (fun i => a * f i) n = a * rsum f n.
Proof. induction n as [|n IH]; intros a f; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma rsum_0 : forall n f, (forall i, (i < n)%nat -> f i = 0) -> rsum f n = 0.
Proof.
  induction n as [|n IH]; intros f H; simpl; [reflexivity|].
  rewrite (H 0%nat) by lia. rewrite IH; [ring|]. intros i Hi. apply H. lia.
Qed.

Lemma rsum_derivative : forall n (f f' : nat -> R -> R) x,
  (forall i, (i < n)%nat -> derivable_pt_lim (f i) x (f' i x)) ->
  derivable_pt_lim (fun y => rsum (fun i => f i y) n) x (rsum (fun i => f' i x) n).
Proof.
  induction n as [|n IH]; intros f f' x H; simpl; [apply derivable_pt_lim_const|].
  apply (derivable_pt_lim_plus (f 0%nat) (fun y => rsum (fun i => f (S i) y) n)); [apply H; lia|].
  apply (IH (fun i => f (S i)) (fun i => f' (S i))). intros i Hi. apply H. lia.
Qed.

(* --- along a line ---------------------------------------------------------------------------------- *)

Definition line (z d : env) (t : R) : env := fun k => z k + t * d k.

(* The derivative of a polynomial in a direction. *)
Fixpoint along (p : poly) (e d : env) : R :=
  match p with
  | Pc _ => 0
  | PX q p => along q (shift e) (shift d) + (d 0%nat * eval p e + e 0%nat * along p e d)
  end.

Lemma along_ok : forall p z d t, derivable_pt_lim (fun s => eval p (line z d s)) t (along p (line z d t) d).
Proof.
  induction p as [c|q IHq p IHp]; intros z d t; [apply derivable_pt_lim_const|].
  simpl. apply (derivable_pt_lim_plus (fun s => eval q (shift (line z d s)))
                  (fun s => line z d s 0%nat * eval p (line z d s))).
  - apply (IHq (shift z) (shift d)).
  - apply (derivable_pt_lim_mult (fun s => line z d s 0%nat) (fun s => eval p (line z d s))); [|apply IHp].
    unfold line. replace (d 0%nat) with (0 + 1 * d 0%nat) at 1 by ring.
    apply (derivable_pt_lim_plus (fun _ => z 0%nat) (fun s => s * d 0%nat)); [apply derivable_pt_lim_const|].
    eapply slope_eq; [apply (derivable_pt_lim_scal (fun s => s) (d 0%nat)), derivable_pt_lim_id | |].
    + intro y. unfold mult_real_fct. ring.
    + ring.
Qed.

Lemma along_sum : forall p n e d, (forall k, (n <= k)%nat -> d k = 0) ->
  along p e d = rsum (fun i => d i * eval (deriv p i) e) n.
Proof.
  induction p as [c|q IHq p IHp]; intros n e d H.
  - simpl. symmetry. apply rsum_0. intros. ring.
  - simpl along. destruct n as [|n].
    + rewrite (IHq 0%nat), (IHp 0%nat), (H 0%nat); try lia; simpl; [ring | assumption |].
      intros k _. apply H. lia.
    + rewrite (IHq n), (IHp (S n)) by (try assumption; intros k Hk; apply H; lia).
      simpl. rewrite eval_padd, eval_mkX. simpl.
      rewrite (rsum_ext n (fun i => d (S i) * eval (mkX (deriv q i) (deriv p (S i))) e)
                (fun i => d (S i) * eval (deriv q i) (shift e)
                          + e 0%nat * (d (S i) * eval (deriv p (S i)) e))).
      2: { intros i Hi. rewrite eval_mkX. ring. }
      rewrite rsum_plus, rsum_scale. unfold shift. ring.
Qed.

Lemma slope_along : forall n p z d t, (forall k, (n <= k)%nat -> d k = 0) ->
  derivable_pt_lim (fun s => qeval p (line z d s)) t
    (rsum (fun i => d i * qeval (qderiv p i) (line z d t)) n).
Proof.
  intros n [p a] z d t H. unfold qeval, qderiv; cbn [num pden].
  eapply slope_eq.
  - apply (derivable_pt_lim_scal (fun s => eval p (line z d s)) (/ IZR (Zpos a))), along_ok.
  - intro y. unfold mult_real_fct, Rdiv. ring.
  - rewrite (along_sum p n) by assumption. rewrite <- rsum_scale. apply rsum_ext.
    intros i _. unfold Rdiv. ring.
Qed.

(* xᵀHx for the Hessian at a point. *)
Definition curvature (n : nat) (p : qpoly) (d e : env) : R :=
  rsum (fun i => d i * rsum (fun j => d j * qeval (qderiv (qderiv p i) j) e) n) n.

Lemma above_tangent_plane : forall n p z d, (forall k, (n <= k)%nat -> d k = 0) ->
  (forall t, 0 <= t <= 1 -> 0 <= curvature n p d (line z d t)) ->
  qeval p z + rsum (fun i => d i * qeval (qderiv p i) z) n <= qeval p (line z d 1).
Proof.
  intros n p z d Hd Hc.
  set (g := fun s => qeval p (line z d s)).
  set (g' := fun s => rsum (fun i => d i * qeval (qderiv p i) (line z d s)) n).
  set (g'' := fun s => curvature n p d (line z d s)).
  assert (D1 : forall s, derivable_pt_lim g s (g' s)) by (intro; apply slope_along; assumption).
  assert (D2 : forall s, derivable_pt_lim g' s (g'' s)).
  { intro s. unfold g', g'', curvature.
    apply (rsum_derivative n (fun i s => d i * qeval (qderiv p i) (line z d s))
      (fun i s => d i * rsum (fun j => d j * qeval (qderiv (qderiv p i) j) (line z d s)) n)).
    intros i _. apply (derivable_pt_lim_scal (fun s => qeval (qderiv p i) (line z d s))).
    apply slope_along. assumption. }
  destruct (MVT_cor2 g g' 0 1) as (c & E & Hcc); [lra | intros; apply D1 |].
  destruct (MVT_cor2 g' g'' 0 c) as (b & Eb & Hb); [lra | intros; apply D2 |].
  assert (P : 0 <= g'' b) by (apply Hc; lra).
  assert (0 <= g'' b * (c - 0)) by (apply Rmult_le_pos; lra).
  assert (E0 : g 0 = qeval p z) by (apply qeval_ext; intro; unfold line; ring).
  assert (E1 : g' 0 = rsum (fun i => d i * qeval (qderiv p i) z) n).
  { apply rsum_ext. intros i _. f_equal. apply qeval_ext. intro. unfold line. ring. }
  change (qeval p (line z d 1)) with (g 1). rewrite <- E0, <- E1. lra.
Qed.
