(** Probabilities p/total as products of factors: the polynomials are multiplied again, and the exponents are compared with
    what is known of a share. *)

From Coq Require Import ZArith Reals List Lia Lra Bool QArith Qreals Qabs Arith.
From Paramverify Require Import Poly Goal RuleLogarithm DivergenceBounds.
Import ListNotations.
Local Open Scope R_scope.

Definition powers := (Q * list nat)%type.

Definition fpow (p : qpoly) (n : nat) : qpoly :=
  match n with O => qconst 1 | S m => qpow p (Pos.of_succ_nat m) end.

Fixpoint multiplied (fs : list qpoly) (es : list nat) (acc : qpoly) : qpoly :=
  match fs, es with
  | f :: fs, e :: es => multiplied fs es (match e with O => acc | S _ => qmul acc (fpow f e) end)
  | _, _ => acc
  end.

Fixpoint mono (xs : list R) (es : list nat) : R :=
  match xs, es with x :: xs, e :: es => x ^ e * mono xs es | _, _ => 1 end.

Definition sizes (fs : list qpoly) (e : env) : list R := map (fun f => Rabs (qeval f e)) fs.
Definition exponents (es : list nat) : list Q := map (fun n => Z.of_nat n # 1) es.

Lemma qeval_fpow : forall p n e, qeval (fpow p n) e = qeval p e ^ n.
Proof.
  intros p [|n] e; simpl fpow; [rewrite qeval_const, Q2R_1; reflexivity|].
  now rewrite qeval_pow, SuccNat2Pos.id_succ.
Qed.

Lemma multiplied_ok : forall fs es acc e,
  Rabs (qeval (multiplied fs es acc) e) = Rabs (qeval acc e) * mono (sizes fs e) es.
Proof.
  induction fs as [|f fs IH]; intros [|n es] acc e; simpl; try (rewrite Rmult_1_r; reflexivity).
  rewrite IH. destruct n as [|n]; [simpl; ring|].
  rewrite qeval_mul, qeval_fpow, Rabs_mult, <- RPow_abs. ring.
Qed.

Definition is_product (fs : list qpoly) (w : powers) (p : qpoly) : bool :=
  negb (qsame (fst w) 0) && Nat.eqb (length (snd w)) (length fs) && qeq (multiplied fs (snd w) (qconst (fst w))) p.

Lemma is_product_ok : forall fs w p e, is_product fs w p = true ->
  length (snd w) = length (sizes fs e) /\ 0 < Q2R (Qabs (fst w)) /\
  Rabs (qeval p e) = Q2R (Qabs (fst w)) * mono (sizes fs e) (snd w).
Proof.
  intros fs [c es] p e H. unfold is_product in H. cbn [fst snd] in *.
  apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2].
  apply Nat.eqb_eq in H2. apply negb_true_iff in H1.
  assert (A : Q2R (Qabs c) = Rabs (Q2R c)).
  { destruct (Qlt_le_dec c 0) as [L|L].
    - rewrite Rabs_left by (rewrite <- Q2R_0; now apply Qlt_Rlt). rewrite <- Q2R_opp. apply Qeq_eqR, Qabs_neg, Qlt_le_weak, L.
    - rewrite Rabs_right by (apply Rle_ge; rewrite <- Q2R_0; now apply Qle_Rle). apply Qeq_eqR, Qabs_pos, L. }
  assert (N : Q2R c <> 0).
  { intro Z. assert (E : Qeq c 0) by (apply eqR_Qeq; now rewrite Q2R_0). apply Qeq_bool_iff in E.
    unfold qsame in H1. congruence. }
  split; [unfold sizes; now rewrite map_length|]. rewrite A. split; [now apply Rabs_pos_lt|].
  rewrite <- (qeq_eval _ _ H3 e), multiplied_ok, qeval_const. reflexivity.
Qed.

Lemma exponent_R : forall n, Q2R (Z.of_nat n # 1) = INR n.
Proof. intro n. unfold Q2R. cbn [Qnum Qden]. rewrite INR_IZR_INZ. field. Qed.

Lemma mono_regular : forall xs es, length es = length xs -> mono xs es <> 0 -> regular (exponents es) xs.
Proof.
  induction xs as [|x xs IH]; intros [|n es] L H; simpl in *; try discriminate; auto. split.
  - intro Z. rewrite exponent_R. destruct n as [|n]; [reflexivity|]. exfalso. apply H. rewrite Z, pow_i by lia. ring.
  - apply IH; [lia|]. intro Z. apply H. rewrite Z. ring.
Qed.

Lemma mono_zero : forall xs es, length es = length xs -> mono xs es = 0 -> has_zero (exponents es) xs.
Proof.
  induction xs as [|x xs IH]; intros [|n es] L H; simpl in *; try discriminate; try lra.
  apply Rmult_integral in H as [H|H]; [left | right; apply IH; [lia | assumption]].
  rewrite exponent_R. destruct n as [|n]; [simpl in H; lra|]. split.
  - destruct (Req_dec x 0) as [|N]; [assumption|]. exfalso. now apply (pow_nonzero x (S n)) in N.
  - apply lt_0_INR. lia.
Qed.

Lemma mono_ln : forall xs es, length es = length xs -> (forall x, In x xs -> 0 <= x) -> regular (exponents es) xs ->
  0 < mono xs es /\ ln (mono xs es) = dot (exponents es) xs.
Proof.
  induction xs as [|x xs IH]; intros [|n es] L N R; simpl in *; try discriminate; [split; [lra | apply ln_1]|].
  destruct R as [Rx R]. destruct (IH es ltac:(lia) ltac:(auto) R) as [P E]. rewrite exponent_R in *.
  assert (X : 0 < x ^ n /\ ln (x ^ n) = INR n * ln x).
  { destruct (N x (or_introl eq_refl)) as [Px|Zx].
    - split; [now apply pow_lt|]. rewrite <- Rpower_pow by assumption. unfold Rpower. apply ln_exp.
    - symmetry in Zx. rewrite (Rx Zx). assert (n = 0%nat) as -> by (apply INR_eq; rewrite (Rx Zx); reflexivity).
      simpl. split; [lra|]. rewrite ln_1. ring. }
  destruct X as [X1 X2]. split; [now apply Rmult_lt_0_compat|]. rewrite ln_mult, X2, E by assumption. reflexivity.
Qed.

(** The product of p/total. *)
Definition over (w t : powers) : product :=
  Product (Qdiv (Qabs (fst w)) (Qabs (fst t))) (mix 1 (-1) (exponents (snd w)) (exponents (snd t))).

Definition share_of (t : powers) (w : option powers) : option product :=
  match w with Some w => Some (over w t) | None => None end.

Definition shown (fs : list qpoly) (w : option powers) (p : qpoly) : bool :=
  match w with Some w => is_product fs w p | None => qeq p (qconst 0) end.

Lemma ln_quotients : forall a m b n, 0 < a -> 0 < m -> 0 < b -> 0 < n ->
  ln (a * m * / (b * n)) = ln (a * / b) + (ln m - ln n).
Proof.
  intros a m b n Ha Hm Hb Hn. assert (Hi : 0 < / b) by now apply Rinv_0_lt_compat.
  assert (Hbn : 0 < b * n) by now apply Rmult_lt_0_compat.
  assert (Hj : 0 < / (b * n)) by now apply Rinv_0_lt_compat.
  assert (Ham : 0 < a * m) by now apply Rmult_lt_0_compat.
  rewrite (ln_mult (a * m) (/ (b * n)) Ham Hj), (ln_Rinv (b * n) Hbn), (ln_mult a m Ha Hm), (ln_mult b n Hb Hn),
    (ln_mult a (/ b) Ha Hi), (ln_Rinv b Hb). ring.
Qed.

Lemma share_of_ok : forall fs t w T p e, is_product fs t T = true -> shown fs w p = true -> qeval T e <> 0 ->
  0 <= qeval p e / qeval T e -> share (sizes fs e) (share_of t w) (qeval p e / qeval T e).
Proof.
  intros fs t w T p e Ht Hw NT NP. split; [assumption|]. destruct w as [w|]; simpl share_of; simpl shown in Hw.
  2: { rewrite (qeq_eval _ _ Hw e), qeval_const, Q2R_0. unfold Rdiv. ring. }
  destruct (is_product_ok fs t T e Ht) as (Lt & Ct & Et). destruct (is_product_ok fs w p e Hw) as (Lw & Cw & Ew).
  set (xs := sizes fs e) in *. unfold over. cbn [const pows].
  assert (Nx : forall x, In x xs -> 0 <= x).
  { intros x I. unfold xs, sizes in I. apply in_map_iff in I as (f & <- & _). apply Rabs_pos. }
  assert (It : 0 < / Q2R (Qabs (fst t))) by now apply Rinv_0_lt_compat.
  assert (Ec : Q2R (Qdiv (Qabs (fst w)) (Qabs (fst t))) = Q2R (Qabs (fst w)) * / Q2R (Qabs (fst t))).
  { unfold Qdiv. rewrite Q2R_mult, Q2R_inverse' by lra. reflexivity. }
  assert (Le : length (exponents (snd w)) = length (exponents (snd t))).
  { unfold exponents. rewrite !map_length. congruence. }
  assert (Mt : mono xs (snd t) <> 0).
  { intro Z. rewrite Z, Rmult_0_r in Et. revert Et. now apply Rabs_no_R0. }
  pose proof (mono_regular _ _ Lt Mt) as Rt. destruct (mono_ln _ _ Lt Nx Rt) as [Pt Dt].
  assert (EP : qeval p e / qeval T e = Rabs (qeval p e) / Rabs (qeval T e)).
  { unfold Rdiv. rewrite <- Rabs_inv, <- Rabs_mult, Rabs_right; [reflexivity | apply Rle_ge; exact NP]. }
  assert (PT : 0 < Rabs (qeval T e)) by now apply Rabs_pos_lt.
  split; [rewrite length_mix by assumption; unfold exponents; now rewrite map_length|].
  split; [rewrite Ec; now apply Rmult_lt_0_compat|]. split.
  - intro Z. apply zero_mix; [assumption | rewrite Q2R_1; lra | | assumption]. apply mono_zero; [assumption|].
    rewrite EP in Z. apply Rmult_integral in Z as [Z|Z].
    + rewrite Ew in Z. apply Rmult_integral in Z as [Z|Z]; [lra | assumption].
    + exfalso. assert (0 < / Rabs (qeval T e)) by now apply Rinv_0_lt_compat. lra.
  - intro P. assert (Mw : mono xs (snd w) <> 0).
    { intro Z. rewrite EP, Ew, Z in P. unfold Rdiv in P. rewrite Rmult_0_r, Rmult_0_l in P. lra. }
    pose proof (mono_regular _ _ Lw Mw) as Rw. destruct (mono_ln _ _ Lw Nx Rw) as [Pw Dw].
    split; [now apply regular_mix|]. rewrite dot_mix by assumption. rewrite EP, Ew, Et, Ec.
    unfold Rdiv. rewrite ln_quotients by assumption.
    rewrite Dw, Dt, Q2R_1. replace (Q2R (-1)) with (-1) by (unfold Q2R; simpl; lra). ring.
Qed.
