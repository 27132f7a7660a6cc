(* Witnesses against claims with logarithms: at a point with rational coordinates, each y = -ln(x)/step is between two
   rational numbers. Who finds these bounds does not matter: they are shown here. *)
From Coq Require Import Reals ZArith QArith Qreals Lra Lia List Bool Arith.
From Paramverify Require Import Poly Goal Certificate Rule Semantics ExpBounds RuleExponential RuleConvex RuleLogarithm.
From Paramverify Require Import Witness.
Import ListNotations.
Local Open Scope R_scope.

(* --- a polynomial where its variables are between numbers ------------------------------------------------------ *)

(* The variables are at least 0. *)
Fixpoint poly_between (p : poly) (b : list (Q * Q)) : Q * Q :=
  match p with
  | Pc c => (c # 1, c # 1)
  | PX q p =>
    let (l, h) := poly_between q (tl b) in
    let (m, n) := poly_between p b in
    let (x, y) := hd (0%Q, 0%Q) b in
    (qsum l (Qmult (if qle 0 m then x else y) m), qsum h (Qmult (if qle 0 n then y else x) n))
  end.

Definition lies (b : list (Q * Q)) (e : env) : Prop :=
  forall k, let (x, y) := nth k b (0%Q, 0%Q) in 0 <= Q2R x <= e k /\ e k <= Q2R y.

Lemma lies_tl : forall b e, lies b e -> lies (tl b) (shift e).
Proof.
  intros b e H k. specialize (H (S k)). unfold shift. destruct b as [|a b]; simpl in *; [now destruct k|exact H].
Qed.

Lemma qle_false_R : forall a b, qle a b = false -> Q2R b < Q2R a.
Proof.
  intros a b H. apply Qlt_Rlt, Qnot_le_lt. intro K. apply Qle_bool_iff in K. unfold qle in H. congruence.
Qed.

Lemma poly_between_ok : forall p b e, lies b e ->
  Q2R (fst (poly_between p b)) <= eval p e <= Q2R (snd (poly_between p b)).
Proof.
  induction p as [c|q IHq p IHp]; intros b e H.
  - simpl. rewrite Q2R_make. split; right; field.
  - pose proof (IHq (tl b) (shift e) (lies_tl b e H)) as Hq. pose proof (IHp b e H) as Hp.
    pose proof (H 0%nat) as H0.
    assert (E : nth 0 b (0%Q, 0%Q) = hd (0%Q, 0%Q) b) by now destruct b.
    rewrite E in H0. cbn [poly_between eval].
    destruct (poly_between q (tl b)) as [l h]. destruct (poly_between p b) as [m n].
    destruct (hd (0%Q, 0%Q) b) as [x y]. cbn [fst snd] in *.
    rewrite !qsum_R, !Q2R_mult. destruct H0 as [[X0 X1] X2].
    split.
    + assert (Q2R (if qle 0 m then x else y) * Q2R m <= e 0%nat * eval p e); [|lra].
      destruct (qle 0 m) eqn:M.
      * apply qle_R in M. rewrite Q2R_0 in M. apply Rmult_le_compat; lra.
      * apply qle_false_R in M. rewrite Q2R_0 in M. nra.
    + assert (e 0%nat * eval p e <= Q2R (if qle 0 n then y else x) * Q2R n); [|lra].
      destruct (qle 0 n) eqn:N.
      * apply qle_R in N. rewrite Q2R_0 in N. nra.
      * apply qle_false_R in N. rewrite Q2R_0 in N. nra.
Qed.

(* --- the point -------------------------------------------------------------------------------------------------- *)

Definition tied (fs : list fact) (k : nat) : bool := match find_log k fs with Some _ => true | None => false end.

Definition untied (fs : list fact) (v : list Q) : list (nat * qpoly) :=
  flat_map (fun j => if tied fs j then [] else [(j, qconst (nth j v 0%Q))]) (seq 0 (length v)).

Definition logs_at (fs : list fact) (v : list Q) : env := fun k =>
  match find_log k fs with Some (j, s) => - ln (Q2R (nth j v 0%Q)) / Q2R s | None => 0 end.

Definition log_point (fs : list fact) (v : list Q) : env := place (untied fs v) (logs_at fs v).

Lemma place_tied : forall fs v e k, tied fs k = true -> place (untied fs v) e k = e k.
Proof.
  intros fs v e k T. unfold untied. induction (seq 0 (length v)) as [|j l IH]; [reflexivity|].
  cbn [flat_map]. destruct (tied fs j) eqn:J; cbn [app place]; [exact IH|].
  rewrite upd_other; [exact IH|]. intros ->. congruence.
Qed.

Lemma place_untied : forall fs v e k, tied fs k = false -> (k < length v)%nat ->
  place (untied fs v) e k = Q2R (nth k v 0%Q).
Proof.
  intros fs v e k T L. unfold untied. assert (I : In k (seq 0 (length v))) by (apply in_seq; lia).
  clear L. induction (seq 0 (length v)) as [|j l IH]; [destruct I|]. cbn [flat_map].
  destruct (Nat.eq_dec j k) as [->|N].
  - rewrite T. cbn [app place]. rewrite upd_same. apply qeval_const.
  - destruct I as [I|I]; [contradiction|]. destruct (tied fs j); cbn [app place]; [exact (IH I)|].
    rewrite upd_other by auto. exact (IH I).
Qed.

(* Bounds of -ln(x) for each variable that is tied to x; for others they are not looked at. *)
Definition bounds_of (fs : list fact) (logs : list (Q * Q)) (k : nat) : Q * Q :=
  match find_log k fs with
  | Some (_, s) => let (l, h) := nth k logs (0%Q, 0%Q) in (Qdiv l s, Qdiv h s)
  | None => (0%Q, 0%Q)
  end.
Definition bounds_at (fs : list fact) (logs : list (Q * Q)) : list (Q * Q) :=
  map (bounds_of fs logs) (seq 0 (length logs)).

Lemma bounds_at_nth : forall fs logs k, (k < length logs)%nat ->
  nth k (bounds_at fs logs) (0%Q, 0%Q) = bounds_of fs logs k.
Proof.
  intros fs logs k H. unfold bounds_at.
  rewrite nth_indep with (d' := bounds_of fs logs 0%nat) by (rewrite map_length, seq_length; assumption).
  rewrite map_nth, seq_nth by assumption. reflexivity.
Qed.

Definition sign_with_log (fs : list fact) (v : list Q) (logs : list (Q * Q)) (strict : bool) (p : qpoly) : bool :=
  qbelow strict 0 (fst (poly_between (num (placed p (untied fs v))) (bounds_at fs logs))).

Definition fact_with_log (fs : list fact) (v : list Q) (logs : list (Q * Q)) (f : fact) : bool :=
  match f with
  | Exp _ _ => false
  | Log k j s =>
    match find_log k fs with
    | Some (j', s') =>
      let x := nth j v 0%Q in
      let (l, h) := nth k logs (0%Q, 0%Q) in
      Nat.eqb j j' && qsame s s' && qlt 0 s && negb (tied fs j) && Nat.ltb j (length v) && Nat.ltb k (length logs) &&
      qlt 0 x && qle x 1 && qle 0 l && encloses_log x l h
    | None => false
    end
  end.

Definition end_with_log (fs : list fact) (v : list Q) (b : box) (k : nat) : bool :=
  match at_axis b k with
  | Some i => negb (tied fs k) && Nat.ltb k (length v) && inside_at i (nth k v 0%Q)
  | None => true
  end.

Definition refutes_with_log (g : goal) (v : list Q) (logs : list (Q * Q)) : bool :=
  let fs := gfacts g in
  forallb (fact_with_log fs v logs) fs &&
  forallb (end_with_log fs v (gbox g)) (seq 0 (length (gbox g))) &&
  forallb (fun c => match c with Some (p, s) => sign_with_log fs v logs s p | None => true end) (gconds g) &&
  sign_with_log fs v logs true (qopp (gpoly g)).

Lemma fact_with_log_ok : forall fs v logs k j s, fact_with_log fs v logs (Log k j s) = true ->
  tied fs k = true /\ tied fs j = false /\ (j < length v)%nat /\ 0 < Q2R s /\ 0 < Q2R (nth j v 0%Q) /\
  logs_at fs v k = - ln (Q2R (nth j v 0%Q)) / Q2R s /\
  exists l h, nth k (bounds_at fs logs) (0%Q, 0%Q) = (l, h) /\ 0 <= Q2R l <= logs_at fs v k /\ logs_at fs v k <= Q2R h.
Proof.
  intros fs v logs k j s H. unfold fact_with_log in H.
  destruct (find_log k fs) as [[j' s']|] eqn:F; [|discriminate].
  destruct (nth k logs (0%Q, 0%Q)) as [l h] eqn:N. repeat apply andb_prop in H as [H ?H].
  apply Nat.eqb_eq in H. subst j'. apply qsame_R in H8. apply qlt_R in H7, H3. apply qle_R in H2, H1.
  rewrite Q2R_0 in *. rewrite Q2R_1 in H2. apply negb_true_iff in H6. apply Nat.ltb_lt in H5, H4.
  apply encloses_log_ok in H0; [|lra].
  assert (V : logs_at fs v k = - ln (Q2R (nth j v 0%Q)) / Q2R s) by (unfold logs_at; now rewrite F, H8).
  assert (I : 0 < / Q2R s) by now apply Rinv_0_lt_compat.
  assert (S0 : Q2R s <> 0) by lra.
  split; [unfold tied; now rewrite F|]. repeat (split; [assumption|]).
  exists (Qdiv l s'), (Qdiv h s'). split.
  - rewrite bounds_at_nth by assumption. unfold bounds_of. rewrite F, N. reflexivity.
  - assert (D : forall q, Q2R (Qdiv q s') = Q2R q * / Q2R s).
    { intro q. unfold Qdiv. rewrite Q2R_mult, Q2R_inverse' by (rewrite <- H8; assumption). now rewrite H8. }
    rewrite !D, V. unfold Rdiv. split; [split|].
    + apply Rmult_le_pos; lra.
    + apply Rmult_le_compat_r; lra.
    + apply Rmult_le_compat_r; lra.
Qed.

Theorem refutes_with_log_sound : forall g v logs, refutes_with_log g v logs = true ->
  exists e, dom g e /\ qeval (gpoly g) e < 0.
Proof.
  intros g v logs H. unfold refutes_with_log in H. set (fs := gfacts g) in *.
  apply andb_prop in H as [H H4]. apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2].
  rewrite forallb_forall in H1, H2, H3.
  assert (Known : forall k j s, In (Log k j s) fs -> fact_with_log fs v logs (Log k j s) = true) by (intros; auto).
  assert (B : lies (bounds_at fs logs) (logs_at fs v)).
  { intro k. destruct (find_log k fs) as [[j s]|] eqn:F.
    - pose proof (find_log_ok _ _ _ _ F) as I.
      destruct (fact_with_log_ok fs v logs k j s (Known _ _ _ I)) as (_ & _ & _ & _ & _ & _ & l & h & E & A & C).
      rewrite E. split; assumption.
    - assert (Z : logs_at fs v k = 0) by (unfold logs_at; now rewrite F). rewrite Z.
      assert (N : nth k (bounds_at fs logs) (0%Q, 0%Q) = (0%Q, 0%Q)).
      { destruct (Nat.lt_ge_cases k (length logs)) as [L|L].
        - rewrite bounds_at_nth by assumption. unfold bounds_of. now rewrite F.
        - apply nth_overflow. unfold bounds_at. now rewrite map_length, seq_length. }
      rewrite N, Q2R_0. lra. }
  assert (S : forall s p, sign_with_log fs v logs s p = true -> below s 0 (qeval p (log_point fs v))).
  { intros s p K. unfold sign_with_log in K. apply qbelow_R in K. rewrite Q2R_0 in K.
    unfold log_point. rewrite <- placed_ok.
    pose proof (poly_between_ok (num (placed p (untied fs v))) _ _ B) as [L _].
    destruct s; simpl in *; [apply qeval_pos | apply qeval_sign]; lra. }
  exists (log_point fs v). split; [split; [|split]|].
  - intros k i K.
    assert (L : (k < length (gbox g))%nat).
    { destruct (Nat.lt_ge_cases k (length (gbox g))) as [|L]; [assumption|].
      unfold at_axis in K. rewrite nth_overflow in K by assumption. discriminate. }
    specialize (H2 k ltac:(apply in_seq; lia)). unfold end_with_log in H2. rewrite K in H2.
    apply andb_prop in H2 as [H2 H5]. apply andb_prop in H2 as [H2 H6].
    apply negb_true_iff in H2. apply Nat.ltb_lt in H6.
    unfold log_point. rewrite place_untied by assumption.
    apply andb_prop in H5 as [A C]. split; now apply qbelow_R.
  - intros c K. specialize (H3 c K). destruct c as [[p s]|]; [|exact I]. simpl. apply S. assumption.
  - intros f K. pose proof (H1 f K) as F. destruct f as [k q|k j s]; [discriminate|].
    destruct (fact_with_log_ok fs v logs k j s F) as (T & U & L & Hs & Hx & V & _). simpl.
    unfold log_point. rewrite (place_untied _ _ _ j), (place_tied _ _ _ k) by assumption. split; assumption.
  - apply S in H4. simpl in H4. rewrite qeval_opp in H4. lra.
Qed.
