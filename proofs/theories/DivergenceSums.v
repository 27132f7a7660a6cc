(* Upper bounds of divergences, continued: outputs whose ratio has no bound, sums over all outputs, and all orders. *)
From Coq Require Import Reals ZArith QArith Qreals Lra Lia List Bool Arith.
From Paramverify Require Import Poly Goal Sums Semantics RuleLogarithm FixedPoint Divergences DivergenceBounds.
Import ListNotations.
Local Open Scope R_scope.

Lemma dot_apart : forall pre xpre o own x xs, length pre = length xpre ->
  dot (pre ++ o :: own) (xpre ++ x :: xs) = dot (pre ++ 0%Q :: own) (xpre ++ x :: xs) + Q2R o * ln x.
Proof.
  induction pre as [|e pre IH]; intros [|y xpre] o own x xs H; try discriminate.
  - simpl. rewrite Q2R_0. ring.
  - simpl in *. rewrite (IH xpre o own x xs) by lia. ring.
Qed.

Lemma regular_apart : forall pre o own xs, regular (pre ++ o :: own) xs -> regular (pre ++ 0%Q :: own) xs.
Proof.
  induction pre as [|e pre IH]; intros o own [|x xs] H; simpl in *; auto.
  - split; [intros _; apply Q2R_0 | tauto].
  - split; [tauto|]. apply IH with o. tauto.
Qed.

Lemma qle_false_R' : forall a b, qle a b = false -> Q2R b < Q2R a.
Proof.
  intros a b H. apply Qlt_Rlt, Qnot_le_lt. intro K. apply Qle_bool_iff in K. unfold qle in H. congruence.
Qed.

Section Sums.

Variable U : positive.
Variable largest smallest : Z.
Variable guess : Q -> Z * Z.

Notation val := (val U).
Notation exp_up := (exp_up U largest smallest).
Notation exp_down := (exp_down U largest smallest).
Notation ln_low := (ln_low U guess).
Notation ln_high := (ln_high U guess).
Notation prod_up := (prod_up U).
Notation prod_down := (prod_down U).
Notation most := (most U).
Notation in_range := (in_range U).
Notation product_high := (product_high U guess).
Notation product_low := (product_low U guess).

(* --- x^k·ln x --------------------------------------------------------------------------------------------------- *)

(* Bounds of exp(k·y)·y for y up to h. *)
Definition entropy (h : Z) (k : Q) : option (Z * Z) :=
  let x := times_up k h in
  match exp_up x, exp_up (- Zpos U) with
  | Some e, Some f =>
    if (x <? - Zpos U)%Z then Some (prod_down e h, 0%Z)
    else Some ((- times_up (/ k) f)%Z, if (0 <? h)%Z then Z.max 0 (prod_up e h) else 0%Z)
  | _, _ => None
  end.

Lemma entropy_ok : forall h k y l m, 0 < Q2R k -> y <= val h -> entropy h k = Some (l, m) ->
  val l <= exp (Q2R k * y) * y <= val m.
Proof.
  intros h k y l m Hk Hy H. unfold entropy in H.
  destruct (exp_up (times_up k h)) as [e|] eqn:E; [|discriminate].
  destruct (exp_up (- Zpos U)) as [f|] eqn:F; [|discriminate].
  apply exp_up_ok in E, F. rewrite val_opp, val_U in F. replace (Ropp 1) with (- 1) in F by lra.
  pose proof (times_up_ok U k h) as X. set (K := Q2R k) in *. set (x := times_up k h) in *.
  assert (E' : exp (K * val h) <= val e) by (eapply Rle_trans; [apply Rle_exp; exact X | exact E]).
  pose proof (exp_pos (K * y)) as Py. pose proof (exp_pos (K * val h)) as Ph.
  assert (KY : K * y <= K * val h) by (apply Rmult_le_compat_l; lra).
  destruct (Z.ltb_spec x (- Zpos U)) as [C|C]; inversion H; subst l m; clear H.
  - assert (C' : val x <= - 1).
    { apply Rle_trans with (val (- Zpos U)); [apply val_le; lia|]. rewrite val_opp, val_U. lra. }
    assert (N : K * val h <= - 1) by lra.
    pose proof (entropy_falls (K * y) (K * val h) KY N) as G.
    assert (Hh : val h < 0) by nra. rewrite val_0. split.
    + eapply Rle_trans; [apply prod_down_ok|].
      assert (val e * val h <= exp (K * val h) * val h) by nra.
      assert (K * (exp (K * val h) * val h) <= K * (exp (K * y) * y)) by nra.
      apply Rle_trans with (exp (K * val h) * val h); [assumption|]. apply Rmult_le_reg_l with K; assumption.
    + nra.
  - split.
    + rewrite val_opp. pose proof (times_up_ok U (/ k) f) as T. rewrite Q2R_inverse' in T by (fold K; lra). fold K in T.
      pose proof (entropy_low (K * y)) as G.
      assert (I : 0 < / K) by now apply Rinv_0_lt_compat.
      assert (A : / K * exp (- 1) <= / K * val f) by (apply Rmult_le_compat_l; lra).
      assert (B : / K * - exp (- 1) <= / K * (K * y * exp (K * y))) by (apply Rmult_le_compat_l; lra).
      replace (/ K * (K * y * exp (K * y))) with (exp (K * y) * y) in B by (field; lra). lra.
    + destruct (Z.ltb_spec 0 h) as [P|P].
      * pose proof (val_max_r U 0 (prod_up e h)) as M. pose proof (val_max_l U 0 (prod_up e h)) as M0.
        rewrite val_0 in M0. pose proof (prod_up_ok U e h) as T.
        destruct (Rle_lt_dec y 0) as [Y|Y]; [nra|].
        assert (exp (K * y) <= exp (K * val h)) by now apply Rle_exp.
        assert (exp (K * y) * y <= val e * val h) by (apply Rmult_le_compat; lra). lra.
      * assert (val h <= 0) by (rewrite <- (val_0 U); apply val_le; lia). rewrite val_0. nra.
Qed.

(* --- P·ln(P/Q), factor by factor ----------------------------------------------------------------------------------- *)

(* One factor: e is its exponent in P/Q and o in P; the other factors of P have exponents `rest`. *)
Definition log_part (c : option Z) (all : list range) (least hi : Z) (rest : list Q) (o e : Q) (r : range) : option Z :=
  if qsame e 0 then Some 0%Z
  else
    match low r with
    | Some l => Some (most least hi (if qlt 0 e then times_up e (high r) else times_up e l))
    | None =>
      if qle o 0 then if qlt 0 e then Some (Z.max 0 (prod_up hi (times_up e (high r)))) else None
      else
        match plus c (upper rest all) with
        | Some a =>
          match exp_up a, entropy (high r) o with
          | Some b, Some (l, m) => Some (prod_up b (Z.max 0 (times_up e (if qlt 0 e then m else l))))
          | _, _ => None
          end
        | None => None
        end
    end.

Fixpoint log_parts (c : option Z) (all : list range) (least hi : Z) (pre own es : list Q) (rs : list range)
  {struct es} : option Z :=
  match es, own, rs with
  | [], _, _ => Some 0%Z
  | e :: es, o :: own, r :: rs =>
    plus (log_parts c all least hi (pre ++ [o]) own es rs) (log_part c all least hi (pre ++ 0%Q :: own) o e r)
  | _, _, _ => None
  end.

Lemma log_part_ok : forall c all least hi rest o e r x P xall C s, in_range r x -> Forall2 in_range all xall ->
  0 <= P -> val least <= P <= val hi -> (forall z, c = Some z -> ln C <= val z) ->
  (0 < P -> (x = 0 -> Q2R e = 0) /\ regular rest xall /\ ln P = ln C + dot rest xall + Q2R o * ln x) ->
  log_part c all least hi rest o e r = Some s -> P * (Q2R e * ln x) <= val s.
Proof.
  intros c all least hi rest o e r x P xall C s Fx F N B Hc D H. unfold log_part in H.
  destruct (qsame e 0) eqn:E0.
  { apply qsame_R in E0. inversion H. rewrite val_0, E0, Q2R_0. lra. }
  destruct (low r) as [l|] eqn:L.
  { destruct (low_positive U r x l Fx L) as [X1 X2]. pose proof (high_at_least U r x Fx X1) as X3.
    inversion H; subst s. apply most_ok; try assumption. destruct (qlt 0 e) eqn:E1.
    - apply qlt_R in E1. rewrite Q2R_0 in E1. eapply Rle_trans; [|apply times_up_ok]. apply Rmult_le_compat_l; lra.
    - pose proof (sign_cases e E0 E1). eapply Rle_trans; [|apply times_up_ok]. nra. }
  destruct (qle o 0) eqn:O.
  - destruct (qlt 0 e) eqn:E1; [|discriminate]. inversion H; subst s. apply qlt_R in E1. rewrite Q2R_0 in E1.
    set (d := times_up e (high r)). pose proof (val_max_l U 0 (prod_up hi d)) as M0. rewrite val_0 in M0.
    pose proof (val_max_r U 0 (prod_up hi d)) as M. destruct N as [N|N]; [|subst P; lra].
    destruct (D N) as (Z & _). pose proof (sizes_positive U e x r Fx E0 Z) as X1.
    pose proof (high_at_least U r x Fx X1) as X3. pose proof (times_up_ok U e (high r)) as T. fold d in T.
    assert (Y : Q2R e * ln x <= val d) by (eapply Rle_trans; [apply Rmult_le_compat_l; [lra | exact X3] | exact T]).
    pose proof (prod_up_ok U hi d) as K.
    destruct (Rle_lt_dec 0 (val d)) as [V|V].
    + assert (P * (Q2R e * ln x) <= P * val d) by (apply Rmult_le_compat_l; lra).
      assert (P * val d <= val hi * val d) by (apply Rmult_le_compat_r; lra). lra.
    + assert (P * (Q2R e * ln x) <= P * val d) by (apply Rmult_le_compat_l; lra). nra.
  - apply qle_false_R' in O. rewrite Q2R_0 in O.
    destruct (plus c (upper rest all)) as [a|] eqn:A; [|discriminate].
    destruct (exp_up a) as [b|] eqn:Eb; [|discriminate].
    destruct (entropy (high r) o) as [[l m]|] eqn:En; [|discriminate]. inversion H; subst s.
    apply plus_some in A as (u & v & A1 & A2 & ->). apply exp_up_ok in Eb.
    set (d := times_up e (if qlt 0 e then m else l)). pose proof (val_max_l U 0 d) as M0. rewrite val_0 in M0.
    pose proof (val_max_r U 0 d) as M. eapply Rle_trans; [|apply prod_up_ok].
    assert (Pb : 0 <= val b) by (eapply Rle_trans; [left; apply exp_pos | exact Eb]).
    destruct N as [N|N]; [|subst P; rewrite Rmult_0_l; apply Rmult_le_pos; assumption].
    destruct (D N) as (Z & R & E). pose proof (sizes_positive U e x r Fx E0 Z) as X1.
    pose proof (high_at_least U r x Fx X1) as X3. destruct (entropy_ok _ _ _ _ _ O X3 En) as [G1 G2].
    set (g := exp (Q2R o * ln x) * ln x) in *.
    assert (EP : P * (Q2R e * ln x) = exp (ln C + dot rest xall) * (Q2R e * g)).
    { unfold g. rewrite <- (exp_ln P N) at 1. rewrite E, exp_plus. ring. }
    rewrite EP. apply Rle_trans with (exp (ln C + dot rest xall) * val (Z.max 0 d)).
    + apply Rmult_le_compat_l; [left; apply exp_pos|]. eapply Rle_trans; [|exact M]. unfold d.
      eapply Rle_trans; [|apply times_up_ok]. destruct (qlt 0 e) eqn:E1.
      * apply qlt_R in E1. rewrite Q2R_0 in E1. apply Rmult_le_compat_l; lra.
      * pose proof (sign_cases e E0 E1). nra.
    + apply Rmult_le_compat_r; [assumption|]. eapply Rle_trans; [|exact Eb]. apply Rle_exp. rewrite val_add.
      pose proof (upper_ok _ _ _ _ _ F R A2). specialize (Hc u A1). lra.
Qed.

Lemma log_parts_ok : forall es own rs xs pre xpre c all least hi P xall C t,
  Forall2 in_range rs xs -> length own = length xs -> length es = length xs -> length pre = length xpre ->
  Forall2 in_range all xall -> xall = xpre ++ xs -> 0 <= P -> val least <= P <= val hi ->
  (forall z, c = Some z -> ln C <= val z) ->
  (0 < P -> regular es xs /\ regular (pre ++ own) xall /\ ln P = ln C + dot (pre ++ own) xall) ->
  log_parts c all least hi pre own es rs = Some t -> P * dot es xs <= val t.
Proof.
  induction es as [|e es IH]; intros own rs xs pre xpre c all least hi P xall C t F Lo Le Lp Fa Ea N B Hc D H.
  { simpl in H. inversion H. rewrite val_0. simpl. lra. }
  destruct F as [|r x rs xs Fx F]; [discriminate|]. destruct own as [|o own]; [discriminate|].
  cbn [log_parts] in H. apply plus_some in H as (s & u & H1 & H2 & ->). rewrite val_add. cbn [dot].
  rewrite Rmult_plus_distr_l.
  assert (P * (Q2R e * ln x) <= val u).
  { apply (log_part_ok c all least hi (pre ++ 0%Q :: own) o e r x P xall C u); try assumption.
    intro Pp. destruct (D Pp) as (R1 & R2 & E). simpl in R1. split; [tauto|]. split; [now apply regular_apart with o|].
    rewrite E. subst xall. rewrite dot_apart by assumption. ring. }
  assert (P * dot es xs <= val s); [|lra].
  apply (IH own rs xs (pre ++ [o]) (xpre ++ [x]) c all least hi P xall C s); try assumption.
  - simpl in Lo. lia.
  - simpl in Le. lia.
  - rewrite !app_length. simpl. lia.
  - rewrite <- app_assoc. exact Ea.
  - intro Pp. destruct (D Pp) as (R1 & R2 & E). rewrite <- app_assoc. simpl in R1. split; [tauto|]. split; assumption.
Qed.

Lemma log_parts_pole : forall es own rs xs pre c all least hi, Forall2 in_range rs xs -> regular own xs ->
  length own = length xs -> has_pole es xs -> log_parts c all least hi pre own es rs = None.
Proof.
  induction es as [|e es IH]; intros own rs xs pre c all least hi F R L H; [destruct H|].
  destruct F as [|r x rs xs Fx F]; [destruct H|]. destruct own as [|o own]; [discriminate|].
  cbn [log_parts]. simpl in H, R. destruct R as [Ro R]. destruct H as [[Z N]|H].
  - assert (log_part c all least hi (pre ++ 0%Q :: own) o e r = None) as ->.
    { unfold log_part. destruct (qsame e 0) eqn:E0; [apply qsame_R in E0; rewrite Q2R_0 in E0; lra|].
      destruct (low r) as [l|] eqn:E; [destruct (low_positive U r x l Fx E); lra|].
      assert (qle o 0 = true) as ->.
      { apply Qle_bool_iff, Rle_Qle. rewrite (Ro Z), Q2R_0. lra. }
      destruct (qlt 0 e) eqn:E1; [apply qlt_R in E1; rewrite Q2R_0 in E1; lra|]. reflexivity. }
    destruct (log_parts _ _ _ _ _ _ _ _); reflexivity.
  - rewrite (IH own rs xs (pre ++ [o]) c all least hi F R); [reflexivity | simpl in L; lia | assumption].
Qed.

(* P·ln(P/Q) - P + Q, or P^a·Q^(1-a) - a·P + (a-1)·Q. *)
Definition by_split (ord : option Q) (p q : product) (rs : list range) (most_q : Z) : option Z :=
  match product_high p rs with
  | None => None
  | Some hp =>
    let least := match product_low p rs with Some l => exp_down l | None => 0%Z end in
    match ord with
    | None =>
      match exp_up hp, ln_high (const (quotient p q)) with
      | Some hi, Some c =>
        match log_parts (ln_high (const p)) rs least hi [] (pows p) (pows (quotient p q)) rs with
        | Some z => Some (most least hi c + z - least + most_q)%Z
        | None => None
        end
      | _, _ => None
      end
    | Some a =>
      match ln_high (const p), ln_low (const q), upper (mix a (Qminus 1 a) (pows p) (pows q)) rs with
      | Some cp, Some cq, Some u =>
        match exp_up (times_up a cp - times_down (Qminus a 1) cq + u) with
        | Some t => Some (t - times_down a least + times_up (Qminus a 1) most_q)%Z
        | None => None
        end
      | _, _, _ => None
      end
    end
  end.

Lemma by_split_ok : forall ord rs xs p q P Q most_q z, good_order ord -> Forall2 in_range rs xs ->
  share xs (Some p) P -> share xs (Some q) Q -> Q <= val most_q -> by_split ord p q rs most_q = Some z ->
  (0 < P -> 0 < Q) /\ part ord (P, Q) <= val z.
Proof.
  intros ord rs xs p q P Q most_q z G F Sp Sq Hq H. unfold by_split in H.
  destruct (product_high p rs) as [hp|] eqn:Hp; [|discriminate].
  set (least := match product_low p rs with Some l => exp_down l | None => 0%Z end) in *.
  pose proof (product_high_ok _ _ _ _ _ _ _ F Sp Hp) as Top.
  assert (NP : 0 <= P) by apply Sp. assert (NQ : 0 <= Q) by apply Sq.
  assert (Low : val least <= P).
  { unfold least. destruct (product_low p rs) as [l|] eqn:E; [|rewrite val_0; assumption].
    eapply Rle_trans; [apply exp_down_ok | eapply product_low_ok; eassumption]. }
  destruct Sp as (_ & Lp & Cp & Zp & Pp). destruct Sq as (_ & Lq & Cq & Zq & Pq).
  assert (Lpq : length (pows p) = length (pows q)) by congruence.
  destruct ord as [a|]; simpl in G.
  - destruct (ln_high (const p)) as [cp|] eqn:Ecp; [|discriminate].
    destruct (ln_low (const q)) as [cq|] eqn:Ecq; [|discriminate].
    destruct (upper (mix a (Qminus 1 a) (pows p) (pows q)) rs) as [u|] eqn:Eu; [|discriminate].
    destruct (exp_up _) as [t|] eqn:Et in H; [|discriminate]. inversion H; subst z. clear H.
    assert (A1 : Q2R (Qminus 1 a) = 1 - Q2R a) by now rewrite Q2R_minus, Q2R_1.
    assert (A2 : Q2R (Qminus a 1) = Q2R a - 1) by now rewrite Q2R_minus, Q2R_1.
    assert (Dom : 0 < P -> 0 < Q).
    { intro HP. destruct NQ as [|N]; [assumption|]. exfalso. symmetry in N.
      rewrite (upper_pole U _ rs xs F) in Eu; [discriminate|].
      apply pole_mix; [assumption | lra | apply Pp; assumption | apply Zq; assumption]. }
    split; [assumption|]. apply exp_up_ok in Et. apply ln_high_le in Ecp. apply ln_low_le in Ecq.
    rewrite !val_add, !val_sub in *. simpl part. unfold power_part. simpl fst. simpl snd.
    pose proof (times_down_ok U a least) as T1. pose proof (times_up_ok U (Qminus a 1) most_q) as T2. rewrite A2 in T2.
    assert (B1 : Q2R a * val least <= Q2R a * P) by (apply Rmult_le_compat_l; lra).
    assert (B2 : (Q2R a - 1) * Q <= (Q2R a - 1) * val most_q) by (apply Rmult_le_compat_l; lra).
    assert (power_term (Q2R a) (P, Q) <= val t); [|lra].
    unfold power_term. destruct (Req_EM_T P 0) as [E|E]; [eapply Rle_trans; [left; apply exp_pos | exact Et]|].
    assert (HP : 0 < P) by lra. destruct (Pp HP) as [Rp EP]. destruct (Pq (Dom HP)) as [Rq EQ].
    eapply Rle_trans; [|exact Et]. unfold Rpower. rewrite <- exp_plus. apply Rle_exp. rewrite EP, EQ.
    pose proof (upper_ok _ _ _ _ _ F (regular_mix a (Qminus 1 a) _ _ _ Rp Rq) Eu) as K.
    rewrite dot_mix, A1 in K by assumption.
    pose proof (times_up_ok U a cp) as T3. pose proof (times_down_ok U (Qminus a 1) cq) as T4. rewrite A2 in T4.
    assert (Q2R a * ln (Q2R (const p)) <= Q2R a * val cp) by (apply Rmult_le_compat_l; lra).
    assert ((Q2R a - 1) * val cq <= (Q2R a - 1) * ln (Q2R (const q))) by (apply Rmult_le_compat_l; lra).
    lra.
  - destruct (exp_up hp) as [hi|] eqn:Ehi; [|discriminate].
    destruct (ln_high (const (quotient p q))) as [c|] eqn:Ec; [|discriminate].
    destruct (log_parts _ _ _ _ _ _ _ _) as [t|] eqn:Et in H; [|discriminate]. inversion H; subst z. clear H.
    apply exp_up_ok in Ehi. apply ln_high_le in Ec.
    assert (Dom : 0 < P -> 0 < Q).
    { intro HP. destruct NQ as [|N]; [assumption|]. exfalso. symmetry in N.
      rewrite (log_parts_pole _ _ rs xs) in Et; [discriminate | assumption | apply Pp; assumption | assumption |].
      simpl pows. apply pole_mix; [assumption | unfold Q2R; simpl; lra | apply Pp; assumption | apply Zq; assumption]. }
    split; [assumption|]. rewrite !val_add, val_sub, val_add.
    assert (Bd : val least <= P <= val hi) by lra.
    assert (K1 : P * ln (Q2R (const (quotient p q))) <= val (most least hi c)) by (apply most_ok; assumption).
    assert (K2 : P * dot (pows (quotient p q)) xs <= val t).
    { eapply (log_parts_ok _ (pows p) rs xs [] [] (ln_high (const p)) rs least hi P xs (Q2R (const p)) t);
        try assumption; try reflexivity.
      - simpl pows. rewrite length_mix by assumption. assumption.
      - intros w Hw. now apply ln_high_le in Hw.
      - intro HP. destruct (Pp HP) as [Rp EP]. destruct (Pq (Dom HP)) as [Rq EQ]. simpl app. split; [|split; assumption].
        simpl pows. now apply regular_mix. }
    simpl part. unfold kl_part. simpl fst. simpl snd.
    assert (kl_term (P, Q) <= val (most least hi c) + val t); [|lra].
    unfold kl_term. destruct (Req_EM_T P 0) as [E|E].
    + rewrite E in K1, K2. lra.
    + assert (HP : 0 < P) by lra.
      destruct (quotient_ok xs p q P Q) as (_ & _ & ->); try assumption; [| | auto |].
      * split; [assumption|]. repeat split; try assumption; apply Pp; assumption.
      * split; [assumption|]. repeat split; try assumption; apply Pq; assumption.
      * lra.
Qed.

(* --- all outputs ------------------------------------------------------------------------------------------------ *)

Definition smaller (a b : option Z) : option Z :=
  match a, b with Some a, Some b => Some (Z.min a b) | Some a, None => Some a | None, b => b end.

Definition term (ord : option Q) (rs : list range) (o : output) : option Z :=
  match right o with
  | None => match left o with None => Some 0%Z | Some _ => None end
  | Some q =>
    match match product_high q rs with Some h => exp_up h | None => None end with
    | None => None
    | Some most_q =>
      match left o with
      | None => Some (match ord with None => most_q | Some a => times_up (Qminus a 1) most_q end)
      | Some p =>
        let bottom := product_low (quotient p q) rs in
        let one :=
          match product_high (quotient p q) rs with
          | Some top => by_range U largest smallest ord bottom top most_q
          | None => None
          end in
        match one, bottom with
        | Some _, Some _ => one
        | _, _ => smaller one (by_split ord p q rs most_q)
        end
      end
    end
  end.

Definition output_shares (xs : list R) (o : output) (pq : R * R) : Prop :=
  share xs (left o) (fst pq) /\ share xs (right o) (snd pq).

Lemma term_ok : forall ord rs xs o P Q z, good_order ord -> Forall2 in_range rs xs -> output_shares xs o (P, Q) ->
  term ord rs o = Some z -> (0 < P -> 0 < Q) /\ part ord (P, Q) <= val z.
Proof.
  intros ord rs xs [l r] P Q z G F [Sp Sq] H. cbn [left right fst snd] in *. unfold term in H. cbn [left right] in H.
  destruct r as [q|].
  2: { destruct l; [discriminate|]. destruct Sp as [_ Sp], Sq as [_ Sq]. subst P Q. inversion H; subst z.
       split; [intro; lra|]. rewrite part_at_0, val_0. lra. }
  destruct (product_high q rs) as [h|] eqn:Eh; [|discriminate].
  destruct (exp_up h) as [mq|] eqn:Em; [|discriminate].
  assert (Hq : Q <= val mq).
  { eapply Rle_trans; [eapply product_high_ok; eassumption|]. now apply exp_up_ok in Em. }
  destruct l as [p|].
  - assert (One : forall y, match product_high (quotient p q) rs with
      | Some top => by_range U largest smallest ord (product_low (quotient p q) rs) top mq
      | None => None
      end = Some y -> (0 < P -> 0 < Q) /\ part ord (P, Q) <= val y).
    { intros y Hy. destruct (product_high (quotient p q) rs) as [top|] eqn:Et; [|discriminate].
      eapply by_range_ok; eassumption. }
    assert (Other : forall y, by_split ord p q rs mq = Some y -> (0 < P -> 0 < Q) /\ part ord (P, Q) <= val y).
    { intros y Hy. eapply by_split_ok; eassumption. }
    destruct (match product_high (quotient p q) rs with Some top => _ | None => None end) as [a|] eqn:Ea.
    + destruct (product_low (quotient p q) rs) as [b|] eqn:Eb.
      * inversion H; subst. apply One. reflexivity.
      * destruct (by_split ord p q rs mq) as [y|] eqn:Ey; simpl in H; inversion H; subst.
        -- destruct (One a eq_refl) as [D K1]. destruct (Other y eq_refl) as [_ K2]. split; [assumption|].
           destruct (Z.min_spec a y) as [[_ ->]|[_ ->]]; assumption.
        -- apply One. reflexivity.
    + destruct (by_split ord p q rs mq) as [y|] eqn:Ey; simpl in H; [|discriminate].
      inversion H; subst. apply Other. reflexivity.
  - destruct Sp as [_ Sp]. subst P. split; [intro; lra|]. rewrite part_at_0. destruct ord as [a|]; inversion H; subst z.
    + simpl. eapply Rle_trans; [|apply times_up_ok]. rewrite Q2R_minus, Q2R_1. simpl in G. apply Rmult_le_compat_l; lra.
    + simpl. lra.
Qed.

Fixpoint sum_up (ord : option Q) (rs : list range) (os : list output) : option Z :=
  match os with
  | [] => Some 0%Z
  | o :: os =>
    match term ord rs o with
    | Some z => plus (Some (Z.max z 0)) (sum_up ord rs os)
    | None => None
    end
  end.

Lemma sum_up_ok : forall ord rs xs os l z, good_order ord -> Forall2 in_range rs xs ->
  Forall2 (output_shares xs) os l -> sum_up ord rs os = Some z -> dominated l /\ total (part ord) l <= val z.
Proof.
  intros ord rs xs os l z G F S. revert z. induction S as [|o [P Q] os l So S IH]; intros z H.
  - simpl in H. inversion H. rewrite val_0. split; [intros p q []|]. simpl. lra.
  - cbn [sum_up] in H. destruct (term ord rs o) as [a|] eqn:Ea; [|discriminate].
    apply plus_some in H as (x & y & H1 & H2 & ->). inversion H1; subst x.
    destruct (term_ok ord rs xs o P Q a G F So Ea) as [D K]. destruct (IH y H2) as [DL KL].
    pose proof (val_max_l U a 0). rewrite val_add. split.
    + intros p q [E|I] Z; [|eapply DL; eassumption]. inversion E; subst p q.
      destruct So as [[NP _] _]. simpl in NP. destruct NP as [NP|NP]; [|auto]. specialize (D NP). lra.
    + simpl. lra.
Qed.

End Sums.
