(** Witnesses: a claim is false, because its polynomial is negative at a rational point of its domain. *)

From Coq Require Import ZArith Reals List Lia Lra Bool QArith Qreals.
From Paramverify Require Import Poly Goal.
Import ListNotations.
Local Open Scope R_scope.

(** * The value of a polynomial at a rational point *)

Lemma Q2R_make : forall n d, Q2R (n # d) = IZR n / IZR (Zpos d).
Proof. easy. Qed.

(** The sum, over the larger denominator where that is a multiple of the other one. *)
Definition qsum (a b : Q) : Q :=
  let (n, d) := a in
  let (m, e) := b in
  if same_positive d e then (n + m)%Z # d
  else
    let k := (Zpos e / Zpos d)%Z in
    let l := (Zpos d / Zpos e)%Z in
    if Z.eqb (k * Zpos d) (Zpos e) then (n * k + m)%Z # e
    else if Z.eqb (l * Zpos e) (Zpos d) then (n + m * l)%Z # d
    else (n * Zpos e + m * Zpos d)%Z # (d * e).

Lemma qsum_R : forall a b, Q2R (qsum a b) = Q2R a + Q2R b.
Proof.
  intros [n d] [m e]; unfold qsum.
  pose proof (pos_IZR d); pose proof (pos_IZR e).
  destruct (same_positive_spec d e) as [->|_]; [rewrite !Q2R_make, plus_IZR; field; lra|].
  destruct (Z.eqb_spec (Zpos e / Zpos d * Zpos d) (Zpos e)) as [K|_].
  { rewrite !Q2R_make, plus_IZR, mult_IZR.
    assert (E : IZR (Zpos e) = IZR (Zpos e / Zpos d) * IZR (Zpos d)) by (now rewrite <- mult_IZR, K).
    assert (IZR (Zpos e / Zpos d) <> 0) by (intro Z; rewrite Z in E; lra).
    rewrite E; field; split; lra. }
  destruct (Z.eqb_spec (Zpos d / Zpos e * Zpos e) (Zpos d)) as [K|_].
  { rewrite !Q2R_make, plus_IZR, mult_IZR.
    assert (E : IZR (Zpos d) = IZR (Zpos d / Zpos e) * IZR (Zpos e)) by (now rewrite <- mult_IZR, K).
    assert (IZR (Zpos d / Zpos e) <> 0) by (intro Z; rewrite Z in E; lra).
    rewrite E; field; split; lra. }
  rewrite !Q2R_make, plus_IZR, !mult_IZR, Pos2Z.inj_mul, mult_IZR; field; split; lra.
Qed.

(** The values of the variables, the first one for variable 0; variables without one are 0. *)
Definition values (v : list Q) : env := fun k => Q2R (nth k v 0%Q).

Fixpoint at_point (p : poly) (v : list Q) : Q :=
  match p with
  | Pc c => c # 1
  | PX q p => qsum (at_point q (tl v)) (Qmult (hd 0%Q v) (at_point p v))
  end.

Lemma values_tl : forall v k, values (tl v) k = shift (values v) k.
Proof. intros [|a v] k; unfold values, shift; simpl; [now destruct k|easy]. Qed.

Lemma values_hd : forall v, values v 0%nat = Q2R (hd 0%Q v).
Proof. now intros [|a v]. Qed.

Lemma at_point_R : forall p v, Q2R (at_point p v) = eval p (values v).
Proof.
  induction p as [c|q IHq p IHp]; intros v; simpl.
  - rewrite Q2R_make; field.
  - rewrite qsum_R, Q2R_mult, IHq, IHp, values_hd.
    now rewrite (eval_ext q _ (shift (values v))) by (intro; apply values_tl).
Qed.

Definition qat_point (p : qpoly) (v : list Q) : Q := at_point (num p) v.

Lemma qat_point_neg : forall p v, qlt (qat_point p v) 0 = true -> qeval p (values v) < 0.
Proof.
  intros p v H; apply Rnot_le_lt; intro K; apply qeval_sign in K.
  apply qlt_R in H; rewrite Q2R_0 in H; unfold qat_point in H; rewrite at_point_R in H; lra.
Qed.

Lemma qat_point_pos : forall p v, qlt 0 (qat_point p v) = true -> 0 < qeval p (values v).
Proof.
  intros p v H; apply qeval_pos.
  apply qlt_R in H; rewrite Q2R_0 in H; unfold qat_point in H; rewrite at_point_R in H; lra.
Qed.

Lemma qat_point_le : forall p v, qle 0 (qat_point p v) = true -> 0 <= qeval p (values v).
Proof.
  intros p v H; apply qeval_sign.
  apply qle_R in H; rewrite Q2R_0 in H; unfold qat_point in H; rewrite at_point_R in H; lra.
Qed.

(** * The point is in the domain, and the polynomial is negative there *)

Definition qbelow (strict : bool) (a b : Q) : bool := if strict then qlt a b else qle a b.

Lemma qbelow_R : forall s a b, qbelow s a b = true -> below s (Q2R a) (Q2R b).
Proof. intros [|] a b H; [now apply qlt_R|now apply qle_R]. Qed.

Definition inside_at (i : interval) (x : Q) : bool := qbelow (lopen i) (lo i) x && qbelow (hopen i) x (hi i).

Fixpoint in_box_at (b : box) (v : list Q) : bool :=
  match b with
  | [] => true
  | i :: b => match i with None => true | Some i => inside_at i (hd 0%Q v) end && in_box_at b (tl v)
  end.

Lemma in_box_at_ok : forall b v, in_box_at b v = true -> in_box b (values v).
Proof.
  unfold in_box, at_axis; induction b as [|i b IH]; simpl; intros v H [|k] j E; try discriminate.
  - subst i; apply andb_prop in H as [H _]; apply andb_prop in H as [H K].
    rewrite values_hd; split; now apply qbelow_R.
  - apply andb_prop in H as [_ H].
    change (values v (S k)) with (shift (values v) k); rewrite <- values_tl; eauto.
Qed.

Definition cond_at (c : cond) (v : list Q) : bool :=
  match c with None => true | Some (p, strict) => qbelow strict 0 (qat_point p v) end.

Lemma cond_at_ok : forall c v, cond_at c v = true -> cond_holds (values v) c.
Proof.
  intros [[p [|]]|] v H; simpl in *; [now apply qat_point_pos|now apply qat_point_le|easy].
Qed.

(** Variables that stand for something are left to others. *)
Definition refutes (g : goal) (v : list Q) : bool :=
  match gfacts g with
  | [] => in_box_at (gbox g) v && forallb (fun c => cond_at c v) (gconds g) && qlt (qat_point (gpoly g) v) 0
  | _ :: _ => false
  end.

(** What the function accepts is a point of the domain at which the claim is false. *)
Theorem refutes_sound : forall g v, refutes g v = true -> dom g (values v) /\ qeval (gpoly g) (values v) < 0.
Proof.
  intros g v; unfold refutes; destruct (gfacts g) eqn:F; [|discriminate]; intro H.
  apply andb_prop in H as [H N]; apply andb_prop in H as [B C].
  split; [split; [|split]|].
  - now apply in_box_at_ok.
  - intros c K; apply cond_at_ok; rewrite forallb_forall in C; auto.
  - now rewrite F.
  - now apply qat_point_neg.
Qed.

Corollary refutes_false : forall g v, refutes g v = true -> ~ holds g.
Proof. intros g v H K; apply refutes_sound in H as [D N]; specialize (K _ D); lra. Qed.
