(* A variable that stands for a logarithm, y = -ln(x)/step: between polynomials in x, cell by cell. *)
From Coq Require Import Reals ZArith QArith Qreals Lra Lia List Bool Arith.
From Paramverify Require Import Poly Goal Certificate Rule Semantics ExpBounds RuleExponential.
Import ListNotations.
Local Open Scope R_scope.

(* --- bounds of a logarithm ------------------------------------------------------------------------- *)

(* exp(q) ≤ 1/b, and exp(q)·c ≥ t. *)
Definition exp_at_most (q b : Q) : bool :=
  if beyond q (fun M L H => (Zpos M * Zpos (Qden b) <? L * Qnum b)%Z) then false
  else decided q (fun M L H => (H * Qnum b <=? Zpos M * Zpos (Qden b))%Z).
Definition exp_at_least (q c t : Q) : bool :=
  if beyond q (fun M L H => (Qnum c * Zpos (Qden t) * H <? Qnum t * Zpos (Qden c) * Zpos M)%Z) then false
  else decided q (fun M L H => (Qnum t * Zpos (Qden c) * Zpos M <=? Qnum c * Zpos (Qden t) * L)%Z).

Lemma exp_at_most_ok : forall q b, 0 < Q2R b -> exp_at_most q b = true -> Q2R q <= - ln (Q2R b).
Proof.
  intros q b Hb H. unfold exp_at_most in H. destruct (beyond q _); [discriminate|].
  apply decided_ok in H as (M & L & U & H & B & X). apply Z.leb_le, IZR_le in H.
  rewrite !mult_IZR in H. pose proof (pos_IZR M) as HM. pose proof (pos_IZR (Qden b)) as Hd.
  rewrite (div_Q b) in *. unfold div in *. set (x := exp (Q2R q)) in *.
  assert (Hn : 0 < IZR (Qnum b)).
  { replace (IZR (Qnum b)) with (IZR (Qnum b) / IZR (Zpos (Qden b)) * IZR (Zpos (Qden b))) by (field; lra).
    now apply Rmult_lt_0_compat. }
  assert (K : x * (IZR (Qnum b) / IZR (Zpos (Qden b))) <= 1).
  { apply Rmult_le_reg_r with (IZR (Zpos (Qden b)) * IZR (Zpos M)); [now apply Rmult_lt_0_compat|].
    replace (x * (IZR (Qnum b) / IZR (Zpos (Qden b))) * (IZR (Zpos (Qden b)) * IZR (Zpos M)))
      with (x * IZR (Zpos M) * IZR (Qnum b)) by (field; lra).
    assert (x * IZR (Zpos M) * IZR (Qnum b) <= IZR U * IZR (Qnum b)) by (apply Rmult_le_compat_r; lra). lra. }
  set (y := IZR (Qnum b) / IZR (Zpos (Qden b))) in *.
  assert (E : ln (x * y) <= 0).
  { rewrite <- ln_1. destruct (Req_dec (x * y) 1) as [->|N]; [lra|].
    left. apply ln_increasing; [now apply Rmult_lt_0_compat | lra]. }
  rewrite ln_mult in E by assumption. unfold x in E. rewrite ln_exp in E. lra.
Qed.

Lemma exp_at_least_ok : forall q c t, exp_at_least q c t = true -> Q2R t <= Q2R c * exp (Q2R q) \/ Q2R c < 0.
Proof.
  intros q c t H. unfold exp_at_least in H. destruct (beyond q _); [discriminate|].
  apply decided_ok in H as (M & L & U & H & B & X). apply Z.leb_le, IZR_le in H.
  rewrite !mult_IZR in H. pose proof (pos_IZR M) as HM. pose proof (pos_IZR (Qden c)) as Hc.
  pose proof (pos_IZR (Qden t)) as Ht.
  rewrite (div_Q c), (div_Q t). set (x := exp (Q2R q)) in *. unfold div.
  destruct (Rlt_le_dec (IZR (Qnum c)) 0) as [N|N].
  - right. unfold Rdiv. assert (0 < / IZR (Zpos (Qden c))) by now apply Rinv_0_lt_compat. nra.
  - left. apply Rmult_le_reg_r with (IZR (Zpos (Qden c)) * IZR (Zpos (Qden t)) * IZR (Zpos M)).
    { repeat apply Rmult_lt_0_compat; assumption. }
    replace (IZR (Qnum t) / IZR (Zpos (Qden t)) * (IZR (Zpos (Qden c)) * IZR (Zpos (Qden t)) * IZR (Zpos M)))
      with (IZR (Qnum t) * IZR (Zpos (Qden c)) * IZR (Zpos M)) by (field; lra).
    replace (IZR (Qnum c) / IZR (Zpos (Qden c)) * x * (IZR (Zpos (Qden c)) * IZR (Zpos (Qden t)) * IZR (Zpos M)))
      with (IZR (Qnum c) * IZR (Zpos (Qden t)) * (x * IZR (Zpos M))) by (field; lra).
    assert (0 <= IZR (Qnum c) * IZR (Zpos (Qden t))) by (apply Rmult_le_pos; lra).
    assert (IZR (Qnum c) * IZR (Zpos (Qden t)) * IZR L <= IZR (Qnum c) * IZR (Zpos (Qden t)) * (x * IZR (Zpos M)))
      by (apply Rmult_le_compat_l; lra). lra.
Qed.

(* low ≤ -ln b ≤ high for b in (0, 1]. *)
Definition encloses_log (b low high : Q) : bool :=
  (if qle low 0 then true else exp_at_most low b) && qle 0 high &&
  (if qsame b 1 then true else exp_at_least high b 1).

Lemma encloses_log_ok : forall b low high, 0 < Q2R b <= 1 -> encloses_log b low high = true ->
  Q2R low <= - ln (Q2R b) <= Q2R high.
Proof.
  intros b low high Hb H. unfold encloses_log in H.
  apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2]. apply qle_R in H2. rewrite Q2R_0 in H2.
  assert (L : ln (Q2R b) <= 0).
  { rewrite <- ln_1. destruct (Req_dec (Q2R b) 1) as [->|N]; [lra|]. left. apply ln_increasing; lra. }
  split.
  - destruct (qle low 0) eqn:E; [apply qle_R in E; rewrite Q2R_0 in E; lra|].
    apply exp_at_most_ok; tauto.
  - destruct (qsame b 1) eqn:E1.
    + apply qsame_R in E1. rewrite E1, Q2R_1, ln_1. lra.
    + apply exp_at_least_ok in H3 as [H3|H3]; [|lra]. rewrite Q2R_1 in H3.
      assert (E : 0 <= ln (Q2R b * exp (Q2R high))).
      { rewrite <- ln_1. destruct (Req_dec (Q2R b * exp (Q2R high)) 1) as [->|N]; [lra|].
        left. apply ln_increasing; lra. }
      rewrite ln_mult, ln_exp in E; [lra | lra | apply exp_pos].
Qed.

(* --- away from 0 ------------------------------------------------------------------------------------- *)

(* x + x²/2 + ... + xⁿ/n. *)
Fixpoint log_series (j n : nat) : qpoly :=
  match n with
  | O => QP (Pc 0) 1
  | S m =>
    let s := log_series j m in
    let d := Pos.of_succ_nat m in
    QP (padd (pscale (Zpos d) (num s)) (pscale (Zpos (pden s)) (ppow (var j) d))) (pden s * d)
  end.

Lemma log_series_ok : forall j n e, qeval (log_series j n) e = lsum (e j) n.
Proof.
  intros j n e. induction n as [|m IH]; [unfold qeval; simpl; lra|].
  cbn [log_series]. change (lsum (e j) (S m)) with (lsum (e j) m + e j ^ S m / INR (S m)).
  rewrite <- IH. unfold qeval. cbn [num pden].
  rewrite eval_padd, !eval_pscale, eval_ppow, eval_var, SuccNat2Pos.id_succ, Pos2Z.inj_mul, mult_IZR.
  rewrite <- succ_INR. field. positive_denominators.
Qed.

Definition between_image (k j : nat) (step a b low high : Q) (terms : positive) : qpoly :=
  let v := qsub (qconst 1) (qscale (/ b) (qvar j)) in
  let rest := qadd (qconst (high - low)) (qscale (b / ((Zpos terms # 1) * a)) (qpow v terms)) in
  qscale (/ step)
    (qadd (qadd (qconst low) (qcompose (log_series j (pred (Pos.to_nat terms))) j v)) (qmul (qvar k) rest)).

Lemma Q2R_inverse' : forall q, Q2R q <> 0 -> Q2R (/ q) = / Q2R q.
Proof. intros q H. apply Q2R_inv. intro E. apply H. rewrite (Qeq_eqR _ _ E). apply Q2R_0. Qed.

Lemma between_image_ok : forall k j step a b low high terms e, k <> j -> 0 < Q2R step -> 0 < Q2R a ->
  Q2R a <= e j <= Q2R b -> Q2R low <= - ln (Q2R b) <= Q2R high -> e k = - ln (e j) / Q2R step ->
  exists r, 0 <= r <= 1 /\ qeval (between_image k j step a b low high terms) (upd e k r) = e k.
Proof.
  intros k j step a b low high terms e N Hs Ha Hx Hb Ek.
  set (n := pred (Pos.to_nat terms)). pose proof (Pos2Nat.is_pos terms) as Pt.
  destruct (ln_between n (Q2R a) (Q2R b) (e j) (Q2R low) (Q2R high)) as [B1 B2]; try lra.
  set (v := 1 - e j / Q2R b) in *.
  destruct (between_below (Q2R low + lsum v n) (Q2R high + lsum v n + v ^ S n * Q2R b / (INR (S n) * Q2R a)) (- ln (e j)))
    as (r & Hr & Er & _); [assumption | assumption |].
  exists r. split; [assumption|]. unfold between_image. fold n.
  rewrite qeval_scale, !qeval_add, qeval_mul, qeval_add, qeval_scale, qeval_pow, !qeval_const, qeval_compose,
    log_series_ok, qeval_var, qeval_sub, qeval_scale, qeval_const, qeval_var, !upd_same, !upd_other by auto.
  assert (Hb0 : Q2R b <> 0) by lra. rewrite !Q2R_inverse' by lra. rewrite Q2R_1.
  assert (T : Q2R (Zpos terms # 1) = INR (S n)).
  { unfold Q2R; cbn [Qnum Qden]. unfold n. rewrite Nat.succ_pred by lia.
    rewrite INR_IZR_INZ, positive_nat_Z. field. }
  assert (HT : 0 < INR (S n)) by (apply lt_0_INR; lia).
  assert (Q2R (b / ((Zpos terms # 1) * a)) = Q2R b / (INR (S n) * Q2R a)) as ->.
  { unfold Qdiv. rewrite Q2R_mult, Q2R_inverse'; rewrite Q2R_mult, T; [reflexivity|].
    apply Rmult_integral_contrapositive_currified; lra. }
  replace (1 - / Q2R b * e j) with v by (unfold v, Rdiv; ring).
  replace (Pos.to_nat terms) with (S n) by (unfold n; lia).
  rewrite Q2R_minus, Ek, Er. unfold Rdiv. field. repeat split; lra.
Qed.

(* --- near 0 -------------------------------------------------------------------------------------------- *)

(* Σ Fᵢ·sⁱ·u^(m-i) for the rows fᵢ of a polynomial in variable k, with B·x·u^M in the place of variable j. *)
Fixpoint near_rows (l : list poly) (d : positive) (j : nat) (image : qpoly) (s : Q) (u acc : qpoly) (c : Q) : qpoly :=
  match l with
  | [] => acc
  | p :: l =>
    near_rows l d j image s u (qadd (qmul acc u) (qscale c (qcompose (QP p d) j image))) (Qred (c * s))
  end.

Definition near_image (k j : nat) (power : nat) (bound : Q) : qpoly :=
  let x := qscale bound (qvar j) in
  match power with O => x | S m => qmul x (qpow (qvar k) (Pos.of_succ_nat m)) end.

Definition near_poly (k j : nat) (step : Q) (power : nat) (bound : Q) (p : qpoly) : qpoly :=
  near_rows (coefs (num p) k) (pden p) j (near_image k j power bound) (/ step) (qvar k) (qconst 0) 1.

Definition near_cond (k j : nat) (step : Q) (power : nat) (bound : Q) (c : cond) : cond :=
  match c with Some (p, s) => Some (near_poly k j step power bound p, s) | None => None end.

Lemma near_rows_ok : forall l d k j image s u acc c e e' y, 
  Forall (fixed_at k) l -> k <> j -> y <> 0 -> qeval u e' = y ->
  (forall p, In p l -> qeval (qcompose (QP p d) j image) e' = qeval (QP p d) e) ->
  qeval (near_rows l d j image s u acc c) e' * y
  = y ^ length l * (qeval acc e' * y + Q2R c * (hor (Q2R s / y) (evals l e) / IZR (Zpos d))).
Proof.
  induction l as [|p l IH]; intros d k j image s u acc c e e' y F N Hy Hu H; cbn [near_rows length evals map hor].
  - simpl. unfold Rdiv. ring.
  - inversion F; subst. rewrite (IH d k j image s u _ _ e e' (qeval u e')); auto.
    2: { intros q K. apply H. right. assumption. }
    rewrite qeval_add, qeval_mul, qeval_scale, (H p) by (left; reflexivity).
    rewrite (Qeq_eqR _ _ (Qred_correct _)), Q2R_mult.
    replace (qeval (QP p d) e) with (eval p e / IZR (Zpos d)) by reflexivity.
    set (y := qeval u e') in *. fold (evals l e). simpl pow. field.
    split; [assumption | apply Rgt_not_eq, pos_IZR].
Qed.

Lemma near_poly_ok : forall k j step power bound p e r u, k <> j -> 0 < u -> Q2R step <> 0 ->
  e j = r * (Q2R bound * u ^ power) -> e k = / Q2R step / u ->
  let e' := upd (upd e k u) j r in
  exists c, 0 < c /\ qeval (near_poly k j step power bound p) e' = c * qeval p e.
Proof.
  intros k j step power bound p e r u N Hu Hs Ej Ek e'.
  assert (I : qeval (near_image k j power bound) e' = e j).
  { unfold near_image, e'. destruct power as [|m].
    - rewrite qeval_scale, qeval_var, upd_same. rewrite Ej. simpl. ring.
    - rewrite qeval_mul, qeval_scale, qeval_pow, !qeval_var, upd_same, upd_other by auto.
      rewrite upd_same, SuccNat2Pos.id_succ, Ej. ring. }
  pose proof (coefs_fixed (num p) k) as F.
  pose proof (near_rows_ok (coefs (num p) k) (pden p) k j (near_image k j power bound) (/ step) (qvar k)
    (qconst 0) 1 e e' u F N) as K.
  rewrite Q2R_inverse', qeval_const, Q2R_0, Q2R_1 in K by assumption.
  rewrite <- Ek, <- coefs_eval' in K. fold (near_poly k j step power bound p) in K.
  exists (u ^ length (coefs (num p) k) * / u). split.
  - apply Rmult_lt_0_compat; [apply pow_lt; assumption | now apply Rinv_0_lt_compat].
  - apply Rmult_eq_reg_r with u; [|lra]. rewrite K.
    + unfold qeval. field. split; [apply Rgt_not_eq, pos_IZR | lra].
    + lra.
    + unfold e'. rewrite qeval_var, upd_other by auto. apply upd_same.
    + intros q Hq. rewrite Forall_forall in F. specialize (F q Hq).
      rewrite qeval_compose, I. unfold qeval; cbn [num pden]. f_equal.
      transitivity (eval q (upd e k u)); [|apply F].
      apply eval_ext. intro i. unfold e', upd. destruct (Nat.eqb_spec i j); subst; [|reflexivity].
      destruct (Nat.eqb_spec j k); [congruence|reflexivity].
Qed.

(* --- cells ----------------------------------------------------------------------------------------------- *)

Definition near_goal (g : goal) (k j : nat) (step least : Q) (power : nat) (bound : Q) : goal :=
  Goal (near_poly k j step power bound (gpoly g))
    (set_axis (set_axis (gbox g) k (Some (Iv 0 (/ least) true false))) j (Some (Iv 0 1 true false)))
    (map (near_cond k j step power bound) (gconds g)) (drop_facts j (drop_facts k (gfacts g))).

Definition check_cell (rec : checker) (g : goal) (k j : nat) (step : Q) (iv : interval) (what : cell) (c : cert)
  : bool :=
  match what with
  | Between terms low high =>
    qlt 0 (lo iv) && qle (hi iv) 1 && encloses_log (hi iv) low high &&
    rec (replaced (with_interval g j (Some iv)) k (between_image k j step (lo iv) (hi iv) low high terms)
           (Some (Iv 0 1 false false))) c
  | Near least power bound =>
    qlt 0 least && qle (Z.of_nat power # 1) least && qlt 0 (hi iv) && qle 0 bound &&
    exp_at_most least (hi iv) && exp_at_least least bound (least ^ Z.of_nat power) &&
    rec (near_goal g k j step least power bound) c
  end.

Lemma check_cell_ok : forall rec g k j step iv what c e, honest rec -> k <> j -> 0 < Q2R step -> dom g e ->
  0 < e j -> e k = - ln (e j) / Q2R step -> inside iv (e j) ->
  check_cell rec g k j step iv what c = true -> 0 <= qeval (gpoly g) e.
Proof.
  intros rec g k j step iv what c e R N Hs D Hj Ek Hi H.
  pose proof (inside_le _ _ Hi) as B. destruct what as [terms low high | least power bound]; cbn [check_cell] in H.
  - apply andb_prop in H as [H H4]. apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2].
    apply qlt_R in H1. apply qle_R in H2. rewrite Q2R_0 in H1. rewrite Q2R_1 in H2.
    apply encloses_log_ok in H3; [|lra].
    destruct (between_image_ok k j step (lo iv) (hi iv) low high terms e) as (r & Hr & Er); auto.
    apply (holds_replaced (with_interval g j (Some iv)) k
             (between_image k j step (lo iv) (hi iv) low high terms) (Some (Iv 0 1 false false)) e r).
    + apply dom_with_interval; [assumption|]. intros i I. inversion I; subst. assumption.
    + exact Er.
    + intros i I. inversion I; subst. unfold inside; simpl. rewrite Q2R_0, Q2R_1. assumption.
    + apply (R _ _ H4).
  - apply andb_prop in H as [H H7]. apply andb_prop in H as [H H6]. apply andb_prop in H as [H H5].
    apply andb_prop in H as [H H4]. apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2].
    apply qlt_R in H1, H3. apply qle_R in H2, H4. rewrite Q2R_0 in H1, H3, H4.
    apply exp_at_most_ok in H5; [|assumption]. apply exp_at_least_ok in H6 as [H6|H6]; [|lra].
    assert (T : Q2R least <= - ln (e j)).
    { destruct (Req_dec (e j) (Q2R (hi iv))) as [->|NE]; [assumption|].
      assert (ln (e j) < ln (Q2R (hi iv))) by (apply ln_increasing; lra). lra. }
    assert (P : INR power <= Q2R least).
    { unfold Q2R in H2 at 1; cbn [Qnum Qden] in H2. rewrite INR_IZR_INZ. lra. }
    assert (E : Q2R (least ^ Z.of_nat power) = Q2R least ^ power).
    { destruct power as [|m]; [simpl; apply Q2R_1|].
      simpl Z.of_nat. simpl Qpower. unfold Qpower_positive.
      rewrite <- (SuccNat2Pos.id_succ m). generalize (Pos.of_succ_nat m). intro q.
      induction q as [q IH|q IH|]; cbn [pow_pos].
      - rewrite !Q2R_mult, IH, Pos2Nat.inj_xI.
        replace (S (2 * Pos.to_nat q)) with (1 + (Pos.to_nat q + Pos.to_nat q))%nat by lia.
        rewrite !pow_add. simpl. ring.
      - rewrite Q2R_mult, IH, Pos2Nat.inj_xO.
        replace (2 * Pos.to_nat q)%nat with (Pos.to_nat q + Pos.to_nat q)%nat by lia.
        rewrite pow_add. reflexivity.
      - simpl. ring. }
    rewrite E in H6.
    destruct (near_zero power (Q2R least) (Q2R bound) (e j)) as (r & Hr & Er); auto.
    assert (Hr' : 0 < r) by (destruct Hr as [[Hr|Hr] _]; [assumption | rewrite <- Hr in Er; lra]).
    set (u := / - ln (e j)) in *.
    assert (Hu : 0 < u) by (apply Rinv_0_lt_compat; lra).
    assert (Eu : e k = / Q2R step / u) by (rewrite Ek; unfold u; field; lra).
    set (e' := upd (upd e k u) j r).
    assert (V : forall p, exists q, 0 < q /\ qeval (near_poly k j step power bound p) e' = q * qeval p e).
    { intro p. apply near_poly_ok; auto. lra. }
    assert (D' : dom (near_goal g k j step least power bound) e').
    { destruct D as (DB & DC & DF). split; [|split].
      - unfold e'. intros i iw I. simpl in I. destruct (Nat.eq_dec i j) as [->|Nj].
        + rewrite at_set_same in I. inversion I; subst. rewrite upd_same.
          unfold inside; simpl. rewrite Q2R_0, Q2R_1. lra.
        + rewrite at_set_other in I by assumption. rewrite upd_other by assumption.
          destruct (Nat.eq_dec i k) as [->|Nk].
          * rewrite at_set_same in I. inversion I; subst. rewrite upd_same.
            unfold inside; simpl. rewrite Q2R_0, Q2R_inverse' by lra. split; [lra|].
            unfold u. apply Rinv_le_contravar; lra.
          * rewrite at_set_other in I by assumption. rewrite upd_other by assumption. auto.
      - intros d K. simpl in K. apply in_map_iff in K as ([[p s]|] & <- & K); simpl; [|exact I].
        specialize (DC _ K). simpl in DC. destruct (V p) as (q & Hq & ->).
        destruct s; simpl in *; [apply Rmult_lt_0_compat | apply Rmult_le_pos]; lra.
      - intros f K. unfold e'. simpl in K. eapply drop_facts_upd; [|exact K].
        intros f' K'. eapply drop_facts_upd; [|exact K']. exact DF. }
    pose proof (R _ _ H7 _ D') as Z. simpl in Z. destruct (V (gpoly g)) as (q & Hq & Eq).
    rewrite Eq in Z. destruct (Rle_lt_dec 0 (qeval (gpoly g) e)) as [|L]; [assumption|]. nra.
Qed.

Fixpoint check_cells (rec : checker) (g : goal) (k j : nat) (step : Q) (iv : interval) (cuts : list Q)
  (l : list (cell * cert)) : bool :=
  match cuts, l with
  | [], [(what, c)] => check_cell rec g k j step iv what c
  | a :: cuts, (what, c) :: l =>
    check_cell rec g k j step (Iv (lo iv) a (lopen iv) false) what c &&
    check_cells rec g k j step (Iv a (hi iv) false (hopen iv)) cuts l
  | _, _ => false
  end.

Lemma check_cells_ok : forall rec g k j step cuts l iv e, honest rec -> k <> j -> 0 < Q2R step -> dom g e ->
  0 < e j -> e k = - ln (e j) / Q2R step -> inside iv (e j) ->
  check_cells rec g k j step iv cuts l = true -> 0 <= qeval (gpoly g) e.
Proof.
  intros rec g k j step. induction cuts as [|a cuts IH]; intros [|[what c] l] iv e R N Hs D Hj Ek Hi H; try discriminate.
  - destruct l; [|discriminate]. exact (check_cell_ok rec g k j step iv what c e R N Hs D Hj Ek Hi H).
  - cbn [check_cells] in H. apply andb_prop in H as [H1 H2].
    destruct (Rle_lt_dec (e j) (Q2R a)) as [L|L].
    + refine (check_cell_ok rec g k j step _ what c e R N Hs D Hj Ek _ H1).
      destruct Hi as [A B]. split; assumption.
    + refine (IH l _ e R N Hs D Hj Ek _ H2).
      destruct Hi as [A B]. split; simpl; [lra | assumption].
Qed.

Fixpoint find_log (k : nat) (l : list fact) : option (nat * Q) :=
  match l with
  | [] => None
  | Log i j s :: l => if Nat.eqb i k then Some (j, s) else find_log k l
  | _ :: l => find_log k l
  end.

Lemma find_log_ok : forall k l j s, find_log k l = Some (j, s) -> In (Log k j s) l.
Proof.
  induction l as [|[i q|i j' s'] l IH]; intros j s H; simpl in H; [discriminate | right; auto |].
  destruct (Nat.eqb_spec i k); [inversion H; subst; left; reflexivity | right; auto].
Qed.

Definition check_logarithm (rec : checker) (g : goal) (k : nat) (cuts : list Q) (l : list (cell * cert)) : bool :=
  match find_log k (gfacts g) with
  | Some (j, step) =>
    match at_axis (gbox g) j with
    | Some iv => negb (Nat.eqb k j) && qlt 0 step && check_cells rec g k j step iv cuts l
    | None => false
    end
  | None => false
  end.

Lemma check_logarithm_sound : forall rec, honest rec ->
  forall g k cuts l, check_logarithm rec g k cuts l = true -> holds g.
Proof.
  intros rec R g k cuts l H e D. unfold check_logarithm in H.
  destruct (find_log k (gfacts g)) as [[j step]|] eqn:F; [|discriminate].
  destruct (at_axis (gbox g) j) as [iv|] eqn:E; [|discriminate].
  apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2]. apply find_log_ok in F.
  destruct (proj2 (proj2 D) _ F) as [Hj Ek].
  apply negb_true_iff, Nat.eqb_neq in H1. apply qlt_R in H2. rewrite Q2R_0 in H2.
  exact (check_cells_ok rec g k j step cuts l iv e R H1 H2 D Hj Ek (proj1 D j iv E) H3).
Qed.
