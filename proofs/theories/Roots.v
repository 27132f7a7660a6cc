(* Descartes' rule of signs, as far as maps need it: where the coefficients of a polynomial change their sign at
   most once, it changes its sign at most once on the positive numbers. *)
From Coq Require Import Reals ZArith Lra Lia List Bool.
From Paramverify Require Import Poly.
Import ListNotations.
Local Open Scope R_scope.

(* All are at least 0; or: first those that are at least 0, then those that are at most 0. *)
Definition all_up (l : list Z) : bool := forallb (Z.leb 0) l.
Definition all_down (l : list Z) : bool := forallb (fun a => Z.leb a 0) l.

Fixpoint one_change (l : list Z) : bool :=
  match l with
  | [] => true
  | a :: l => if (0 <=? a)%Z then one_change l else all_down l
  end.

Definition poly_at (l : list Z) (x : R) : R := hor x (map IZR l).

Lemma all_up_ok : forall l x, all_up l = true -> 0 <= x -> 0 <= poly_at l x.
Proof.
  unfold poly_at. induction l as [|a l IH]; intros x H Hx; simpl; [lra|].
  simpl in H. apply andb_prop in H as [H1 H2]. apply Z.leb_le, IZR_le in H1.
  assert (0 <= x * hor x (map IZR l)) by (apply Rmult_le_pos; [assumption | now apply IH]). lra.
Qed.

Lemma all_down_falls : forall l x y, all_down l = true -> 0 <= x <= y -> poly_at l y <= poly_at l x /\ poly_at l x <= 0.
Proof.
  unfold poly_at. induction l as [|a l IH]; intros x y H Hx; simpl; [lra|].
  simpl in H. apply andb_prop in H as [H1 H2]. apply Z.leb_le, IZR_le in H1.
  destruct (IH x y H2 Hx) as [I1 I2].
  assert (y * hor y (map IZR l) <= y * hor x (map IZR l)) by (apply Rmult_le_compat_l; lra).
  assert (y * hor x (map IZR l) <= x * hor x (map IZR l)) by nra.
  assert (x * hor x (map IZR l) <= 0) by nra. lra.
Qed.

(* Once it is at most 0, it falls. *)
Theorem falls_from_there : forall l x y, one_change l = true -> 0 < x <= y -> poly_at l x <= 0 ->
  poly_at l y <= poly_at l x.
Proof.
  induction l as [|a l IH]; intros x y H Hx N; [unfold poly_at; simpl; lra|].
  cbn [one_change] in H. destruct (Z.leb_spec 0 a) as [A|A].
  - apply IZR_le in A. unfold poly_at in *. simpl in *. set (g := hor x (map IZR l)) in *.
    assert (T : g <= 0).
    { destruct (Rle_lt_dec g 0) as [|P]; [assumption|]. exfalso.
      assert (0 < x * g) by (apply Rmult_lt_0_compat; lra). lra. }
    pose proof (IH x y H Hx T) as I. unfold poly_at in I. fold g in I.
    assert (y * hor y (map IZR l) <= y * g) by (apply Rmult_le_compat_l; lra).
    assert (y * g <= x * g) by nra. lra.
  - apply (all_down_falls (a :: l)); [|lra]. unfold all_down. cbn [forallb].
    apply andb_true_intro. split; [apply Z.leb_le; lia | exact H].
Qed.

(* Where the coefficients change from plus to minus once, f > 0 at a place shows f > 0 before it, and f < 0 at a
   place shows f < 0 behind it: so a root is between the two, and no other one. *)
Corollary before_and_behind : forall l x y, one_change l = true -> 0 < x <= y ->
  (0 < poly_at l y -> 0 < poly_at l x) /\ (poly_at l x < 0 -> poly_at l y < 0).
Proof.
  intros l x y H Hx. split; intro P.
  - destruct (Rlt_le_dec 0 (poly_at l x)) as [|N]; [assumption|].
    pose proof (falls_from_there l x y H Hx N). lra.
  - assert (N : poly_at l x <= 0) by lra. pose proof (falls_from_there l x y H Hx N). lra.
Qed.
