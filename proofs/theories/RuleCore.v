(** Rules about one polynomial on the same set, or with one variable at an end. *)

From Coq Require Import ZArith Reals List Lia Lra Bool QArith Qreals Psatz.
From Paramverify Require Import Poly Goal Certificate Rule Analysis Bernstein.
Import ListNotations.
Local Open Scope R_scope.

(** ** The polynomial is a number that is not negative. *)

Fixpoint nonneg_number (p : poly) : bool :=
  match p with Pc c => Z.leb 0 c | PX q p => is_zero p && nonneg_number q end.

Definition check_constant (rec : checker) (g : goal) : bool := nonneg_number (num (gpoly g)).

Lemma nonneg_number_ok : forall p e, nonneg_number p = true -> 0 <= eval p e.
Proof.
  induction p as [c|q IHq p IHp]; intros e H; simpl in *.
  - apply IZR_le; now apply Z.leb_le.
  - apply andb_prop in H as [H1 H2]; rewrite (is_zero_eval _ H1); specialize (IHq (shift e) H2); lra.
Qed.

Lemma check_constant_sound : forall rec, honest rec -> forall g,
  check_constant rec g = true -> holds g.
Proof. intros rec R g H e _; apply qeval_sign; now apply nonneg_number_ok. Qed.

(** ** A variable whose interval is one point. *)

Definition check_fixed (rec : checker) (g : goal) (k : nat) (c : cert) : bool :=
  match at_axis (gbox g) k with
  | Some i => qsame (lo i) (hi i) && rec (replaced g k (qconst (lo i)) (Some i)) c
  | None => false
  end.

Lemma check_fixed_sound : forall rec, honest rec -> forall g k c,
  check_fixed rec g k c = true -> holds g.
Proof.
  intros rec R g k c H e D; unfold check_fixed in H.
  destruct (at_axis (gbox g) k) as [i|] eqn:E; [|discriminate].
  apply andb_prop in H as [H1 H2]; apply qsame_R in H1.
  assert (I : inside i (e k)) by now apply D.
  eapply holds_replaced with (v := e k); [exact D| | |exact (R _ _ H2)].
  - rewrite qeval_const; apply inside_le in I; lra.
  - intros j K; inversion K; now subst.
Qed.

(** ** A product of powers.  [acc] is the product so far, which is at least zero if [pos], else at most. *)

Fixpoint factors_go (rec : checker) (g : goal) (l : list (qpoly * positive * option (bool * cert)))
    (acc : qpoly) (pos : bool) : bool :=
  match l with
  | [] => pos && qeq acc (gpoly g)
  | (p, m, o) :: l =>
      let acc' := qmul acc (qpow p m) in
      match m, o with
      | xO _, _ => factors_go rec g l acc' pos
      | _, Some (s, c) => factors_go rec g l acc' (Bool.eqb pos s) && rec (for_poly g (if s then p else qopp p)) c
      | _, None => false
      end
  end.

Definition check_factors (rec : checker) (g : goal) (a : Q) (l : list (qpoly * positive * option (bool * cert))) : bool :=
  factors_go rec g l (qconst a) (qle 0 a).

Lemma even_power : forall x n, 0 <= x ^ Pos.to_nat (xO n).
Proof.
  intros x n; rewrite Pos2Nat.inj_xO, pow_mult; apply pow_le; simpl; nra.
Qed.

Lemma odd_power : forall x m, (forall n, m <> xO n) -> exists y, 0 <= y /\ x ^ Pos.to_nat m = x * y.
Proof.
  intros x [n|n|] H; [|now destruct (H n)|exists 1; simpl; lra].
  exists (x ^ Pos.to_nat (xO n)); split; [apply even_power|].
  now rewrite Pos2Nat.inj_xI, Pos2Nat.inj_xO.
Qed.

Lemma factors_go_ok : forall rec, honest rec -> forall g e, dom g e -> forall l acc (pos : bool),
  (if pos then 0 <= qeval acc e else qeval acc e <= 0) ->
  factors_go rec g l acc pos = true -> 0 <= qeval (gpoly g) e.
Proof.
  intros rec R g e D; induction l as [|[[p m] o] l IH]; intros acc pos A H; cbn [factors_go] in H.
  - apply andb_prop in H as [H1 H2]; subst; now rewrite <- (qeq_eval _ _ H2).
  - assert (G : (exists n, m = xO n) \/ (forall n, m <> xO n)).
    { destruct m; [right|left|right]; try discriminate; eauto. }
    destruct G as [[n ->]|O].
    + apply IH in H; auto; rewrite qeval_mul, qeval_pow; pose proof (even_power (qeval p e) n).
      destruct pos; nra.
    + destruct o as [[s c]|]; [|destruct m; [discriminate|now destruct (O m)|discriminate]].
      assert (K : factors_go rec g l (qmul acc (qpow p m)) (Bool.eqb pos s)
                  && rec (for_poly g (if s then p else qopp p)) c = true)
        by (destruct m; [exact H|now destruct (O m)|exact H]).
      clear H; apply andb_prop in K as [K1 K2]; apply IH in K1; auto.
      apply R in K2; apply (holds_for_poly _ _ _ D) in K2.
      rewrite qeval_mul, qeval_pow; destruct (odd_power (qeval p e) m O) as (y & Y & ->).
      rewrite <- Rmult_assoc.
      destruct s; [|rewrite qeval_opp in K2]; destruct pos; simpl.
      * apply Rmult_le_pos; [|easy]; now apply Rmult_le_pos.
      * assert (0 <= - qeval acc e * qeval p e) by (apply Rmult_le_pos; lra).
        assert (0 <= - qeval acc e * qeval p e * y) by now apply Rmult_le_pos.
        lra.
      * assert (0 <= qeval acc e * - qeval p e) by (apply Rmult_le_pos; lra).
        assert (0 <= qeval acc e * - qeval p e * y) by now apply Rmult_le_pos.
        lra.
      * apply Rmult_le_pos; [|easy].
        assert (0 <= - qeval acc e * - qeval p e) by (apply Rmult_le_pos; lra).
        lra.
Qed.

Lemma check_factors_sound : forall rec, honest rec -> forall g a l,
  check_factors rec g a l = true -> holds g.
Proof.
  intros rec R g a l H e D; refine (factors_go_ok _ R _ _ D _ _ _ _ H); rewrite qeval_const.
  destruct (qle 0 a) eqn:E.
  - apply qle_R in E; now rewrite Q2R_0 in E.
  - assert (K : qlt a 0 = true) by (unfold qlt, qle in *; now rewrite E).
    apply qlt_R in K; rewrite Q2R_0 in K; lra.
Qed.

(** ** A sum. *)

Definition qsum (l : list qpoly) : qpoly := fold_right qadd (qconst 0) l.

Definition check_sum (rec : checker) (g : goal) (l : list (qpoly * cert)) : bool :=
  qeq (qsum (map fst l)) (gpoly g) && forallb (fun x => rec (for_poly g (fst x)) (snd x)) l.

Lemma check_sum_sound : forall rec, honest rec -> forall g l, check_sum rec g l = true -> holds g.
Proof.
  intros rec R g l H e D; apply andb_prop in H as [H1 H2]; rewrite <- (qeq_eval _ _ H1); clear H1.
  induction l as [|[p c] l IH]; simpl in *.
  - rewrite qeval_const, Q2R_0; lra.
  - apply andb_prop in H2 as [H2 H3]; rewrite qeval_add; specialize (IH H3).
    apply R in H2; apply (holds_for_poly _ _ _ D) in H2; lra.
Qed.

(** ** At the ends of one variable. *)

Definition at_end (g : goal) (k : nat) (a : Q) : goal := without g k (qcompose (gpoly g) k (qconst a)).

Lemma at_end_ok : forall g k a e, dom g e -> holds (at_end g k a) ->
  0 <= qeval (gpoly g) (upd e k (Q2R a)).
Proof.
  intros g k a e D H; specialize (H e (dom_without _ _ _ _ D)); cbn [at_end without gpoly] in H.
  now rewrite qeval_compose, qeval_const in H.
Qed.

Definition check_ends (rec : checker) (g : goal) (k : nat) (lower upper : cert) (concave : option cert) : bool :=
  match at_axis (gbox g) k with
  | None => false
  | Some i =>
      (if Nat.leb (degree (num (gpoly g)) k) 1 then true
       else match concave with
            | Some c => rec (without g k (qopp (qderiv (qderiv (gpoly g) k) k))) c
            | None => false
            end)
      && rec (at_end g k (lo i)) lower && rec (at_end g k (hi i)) upper
  end.

Lemma linear_between : forall p k e a b x, (degree (num p) k <= 1)%nat -> a <= x <= b ->
  0 <= qeval p (upd e k a) -> 0 <= qeval p (upd e k b) -> 0 <= qeval p (upd e k x).
Proof.
  intros [p d] k e a b x H X A B; rewrite qeval_sign in *; cbn [num] in *.
  rewrite coefs_eval in *; unfold degree in H.
  destruct (coefs p k) as [|p0 [|p1 [|p2 l]]]; simpl in *; [lra|lra| |lia].
  destruct (Rle_or_lt 0 (eval p1 e)); nra.
Qed.

Lemma check_ends_sound : forall rec, honest rec -> forall g k lower upper concave,
  check_ends rec g k lower upper concave = true -> holds g.
Proof.
  intros rec R g k lower upper concave H e D; unfold check_ends in H.
  destruct (at_axis (gbox g) k) as [i|] eqn:E; [|discriminate].
  apply andb_prop in H as [H H3]; apply andb_prop in H as [H1 H2].
  apply R in H2, H3; apply (at_end_ok _ _ _ _ D) in H2, H3.
  assert (I := D); destruct I as [I _]; specialize (I _ _ E); apply inside_le in I.
  rewrite <- (qeval_upd_self _ e k).
  destruct (Nat.leb_spec (degree (num (gpoly g)) k) 1) as [L|L].
  - eapply linear_between; eauto.
  - destruct concave as [c|]; [|discriminate]; apply R in H1.
    apply (concave_on (fun y => qeval (gpoly g) (upd e k y)) (fun y => qeval (qderiv (gpoly g) k) (upd e k y))
      (fun y => qeval (qderiv (qderiv (gpoly g) k) k) (upd e k y))) with (Q2R (lo i)) (Q2R (hi i)); auto.
    1, 2: intro; apply qderiv_ok.
    intros y Y; specialize (H1 (upd e k y)); cbn [without gpoly] in H1; rewrite qeval_opp in H1.
    cut (0 <= - qeval (qderiv (qderiv (gpoly g) k) k) (upd e k y)); [lra|]; apply H1.
    apply dom_without_upd; auto; intros j J; rewrite E in J; inversion J; subst.
    eapply inside_between; eauto; lra.
Qed.

(** ** A derivative of one sign. *)

Definition check_monotone (rec : checker) (g : goal) (k : nat) (upper : bool) (slope rest : cert) : bool :=
  match at_axis (gbox g) k with
  | None => false
  | Some i =>
      rec (without g k (if upper then qopp (qderiv (gpoly g) k) else qderiv (gpoly g) k)) slope &&
      rec (at_end g k (if upper then hi i else lo i)) rest
  end.

(** If a derivative has its sign on the whole line from a point to an end, the value at the end is smaller. *)
Lemma monotone_at : forall p k i e (upper : bool), inside i (e k) ->
  (forall y, inside i y ->
     0 <= (if upper then - qeval (qderiv p k) (upd e k y) else qeval (qderiv p k) (upd e k y))) ->
  qeval p (upd e k (Q2R (if upper then hi i else lo i))) <= qeval p e.
Proof.
  intros p k i e upper I H; assert (J := inside_le _ _ I); rewrite <- (qeval_upd_self p e k).
  destruct upper.
  - apply (decreasing_on (fun y => qeval p (upd e k y)) (fun y => qeval (qderiv p k) (upd e k y)));
      [intro; apply qderiv_ok|lra|].
    intros y Y; cut (0 <= - qeval (qderiv p k) (upd e k y)); [lra|]; apply H.
    eapply inside_between with (b := Q2R (hi i)); [apply J|lra|lra].
  - apply (increasing_on (fun y => qeval p (upd e k y)) (fun y => qeval (qderiv p k) (upd e k y)));
      [intro; apply qderiv_ok|lra|].
    intros y Y; apply H; eapply inside_between with (a := Q2R (lo i)); [lra|apply J|lra].
Qed.

Lemma check_monotone_sound : forall rec, honest rec -> forall g k upper slope rest,
  check_monotone rec g k upper slope rest = true -> holds g.
Proof.
  intros rec R g k upper slope rest H e D; unfold check_monotone in H.
  destruct (at_axis (gbox g) k) as [i|] eqn:E; [|discriminate].
  apply andb_prop in H as [H1 H2]; apply R in H1, H2; apply (at_end_ok _ _ _ _ D) in H2.
  eapply Rle_trans; [exact H2|].
  apply monotone_at with (upper := upper); [now apply D|].
  intros y Y; specialize (H1 (upd e k y)); cbn [without gpoly] in H1.
  assert (K : 0 <= qeval (if upper then qopp (qderiv (gpoly g) k) else qderiv (gpoly g) k) (upd e k y)).
  { apply H1, dom_without_upd; auto; intros j J; rewrite E in J; now inversion J; subst. }
  destruct upper; [now rewrite qeval_opp in K|exact K].
Qed.

(** ** f = a·x² + b·x + c with a >= 0, c >= 0, 4·a·c - b² >= 0. *)

Definition check_quadratic (rec : checker) (g : goal) (k : nat) (leading constant discriminant : cert) : bool :=
  let d := pden (gpoly g) in
  match at_axis (gbox g) k, coefs (num (gpoly g)) k with
  | Some _, [c; b; a] =>
      rec (without g k (QP a d)) leading && rec (without g k (QP c d)) constant &&
      rec (without g k (QP (psub (pscale 4 (pmul a c)) (pmul b b)) (d * d))) discriminant
  | _, _ => false
  end.

Lemma check_quadratic_sound : forall rec, honest rec -> forall g k leading constant discriminant,
  check_quadratic rec g k leading constant discriminant = true -> holds g.
Proof.
  intros rec R g k leading constant discriminant H e D; unfold check_quadratic in H.
  destruct (at_axis (gbox g) k); [|discriminate].
  destruct (coefs (num (gpoly g)) k) as [|c [|b [|a [|]]]] eqn:E; try discriminate.
  apply andb_prop in H as [H H3]; apply andb_prop in H as [H1 H2].
  apply R in H1, H2, H3; specialize (H1 e (dom_without _ _ _ _ D)); specialize (H2 e (dom_without _ _ _ _ D));
    specialize (H3 e (dom_without _ _ _ _ D)); cbn [without gpoly] in *.
  apply qeval_sign in H1, H2, H3; cbn [num] in *.
  rewrite eval_psub, eval_pscale, !eval_pmul in H3.
  apply qeval_sign; rewrite (coefs_eval' _ k), E; simpl.
  set (A := eval a e) in *; set (B := eval b e) in *; set (C := eval c e) in *; set (x := e k).
  destruct (Rle_lt_or_eq_dec _ _ H1) as [P|P].
  - apply Rmult_le_reg_l with (4 * A); [lra|].
    replace (4 * A * (C + x * (B + x * (A + x * 0)))) with ((2 * A * x + B) * (2 * A * x + B) + (4 * (A * C) - B * B)) by ring.
    pose proof (Rle_0_sqr (2 * A * x + B)); unfold Rsqr in *; lra.
  - rewrite <- P in *; assert (B = 0) by nra; nra.
Qed.

(** ** With constraints. *)

Definition check_constraint (rec : checker) (g : goal) (i : nat) (a : Q) (c : cert) : bool :=
  match get_cond g i with
  | Some (p, _) => qle 0 a && rec (for_poly g (qsub (gpoly g) (qscale a p))) c
  | None => false
  end.

Lemma check_constraint_sound : forall rec, honest rec -> forall g i a c,
  check_constraint rec g i a c = true -> holds g.
Proof.
  intros rec R g i a c H e D; unfold check_constraint in H.
  destruct (get_cond g i) as [[p s]|] eqn:E; [|discriminate].
  apply andb_prop in H as [H1 H2]; apply qle_R in H1; rewrite Q2R_0 in H1.
  apply R in H2; apply (holds_for_poly _ _ _ D) in H2; rewrite qeval_sub, qeval_scale in H2.
  apply (get_cond_ok _ _ _ _ _ E) in D; apply below_le in D.
  assert (0 <= Q2R a * qeval p e) by now apply Rmult_le_pos.
  lra.
Qed.

(** A constraint h·k with ±k > 0 on the box is the constraint ±h. *)
Definition check_divide (rec : checker) (g : goal) (i : nat) (factor cofactor : qpoly) (plus : bool) (c : cert) : bool :=
  match get_cond g i with
  | Some (p, s) =>
      qeq (qmul factor cofactor) p &&
      positive_on (gbox g) (num (if plus then cofactor else qopp cofactor)) &&
      rec (with_cond g (Some (if plus then factor else qopp factor, s))) c
  | None => false
  end.

Lemma below_div : forall s x y, 0 < y -> below s 0 (x * y) -> below s 0 x.
Proof.
  intros s x y Y H; destruct s; simpl in *.
  - destruct (Rlt_or_le 0 x) as [K|K]; [easy|exfalso].
    assert (0 <= - x * y) by (apply Rmult_le_pos; lra); lra.
  - destruct (Rle_or_lt 0 x) as [K|K]; [easy|exfalso].
    assert (0 < - x * y) by (apply Rmult_lt_0_compat; lra); lra.
Qed.

Lemma check_divide_sound : forall rec, honest rec -> forall g i factor cofactor plus c,
  check_divide rec g i factor cofactor plus c = true -> holds g.
Proof.
  intros rec R g i factor cofactor plus c H e D; unfold check_divide in H.
  destruct (get_cond g i) as [[p s]|] eqn:E; [|discriminate].
  apply andb_prop in H as [H H3]; apply andb_prop in H as [H1 H2].
  pose proof (get_cond_ok _ _ _ _ _ E D) as C; rewrite <- (qeq_eval _ _ H1), qeval_mul in C.
  apply positive_on_ok with (e := e) in H2; [|apply D]; apply qeval_pos in H2.
  apply R in H3; apply (H3 e); apply dom_with_cond; [easy|].
  destruct plus; cbn [cond_holds].
  - eapply below_div; eauto.
  - apply below_div with (qeval (qopp cofactor) e); auto; rewrite !qeval_opp.
    now replace (- qeval factor e * - qeval cofactor e) with (qeval factor e * qeval cofactor e) by ring.
Qed.

(** Two constraints g >= 0 and -g >= 0, one of them strict. *)
Definition check_contradiction (rec : checker) (g : goal) (i j : nat) : bool :=
  match get_cond g i, get_cond g j with
  | Some (p, s), Some (q, t) => (s || t) && proportional (num p) (popp (num q))
  | _, _ => false
  end.

Lemma check_contradiction_sound : forall rec, honest rec -> forall g i j,
  check_contradiction rec g i j = true -> holds g.
Proof.
  intros rec R g i j H e D; unfold check_contradiction in H; exfalso.
  destruct (get_cond g i) as [[p s]|] eqn:E; [|discriminate].
  destruct (get_cond g j) as [[q t]|] eqn:F; [|discriminate].
  apply andb_prop in H as [H1 H2].
  pose proof (get_cond_ok _ _ _ _ _ E D) as P; pose proof (get_cond_ok _ _ _ _ _ F D) as Q.
  apply proportional_ok in H2 as (a & b & A & B & H2); specialize (H2 e); rewrite eval_popp in H2.
  assert (P0 := below_le _ _ _ P); assert (Q0 := below_le _ _ _ Q); rewrite qeval_sign in P0, Q0.
  assert (0 <= a * eval (num p) e) by (apply Rmult_le_pos; lra).
  assert (0 <= b * eval (num q) e) by (apply Rmult_le_pos; lra).
  destruct s; simpl in P.
  - apply qeval_pos in P; assert (0 < a * eval (num p) e) by now apply Rmult_lt_0_compat.
    lra.
  - destruct t; [|discriminate]; simpl in Q.
    apply qeval_pos in Q; assert (0 < b * eval (num q) e) by now apply Rmult_lt_0_compat.
    lra.
Qed.
