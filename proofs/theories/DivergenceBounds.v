(* Upper bounds of divergences where the probabilities of outputs are products, and each factor has a range.

   P and Q are c·x₁^e₁·x₂^e₂·... with sizes x of factors. A factor may be 0: then its logarithm has no lower bound. *)
From Coq Require Import Reals ZArith QArith Qreals Lra Lia List Bool Arith.
From Paramverify Require Import Poly Goal Sums Semantics RuleLogarithm FixedPoint Divergences.
Import ListNotations.
Local Open Scope R_scope.

(* Bounds of the logarithm of a size; no lower one where it may be 0. *)
Record range := Range { low : option Z; high : Z }.
Record product := Product { const : Q; pows : list Q }.
Record output := Output { left : option product; right : option product }.  (* None: it is 0 everywhere *)

Fixpoint mix (a b : Q) (l m : list Q) : list Q :=
  match l, m with x :: l, y :: m => Qplus (Qmult a x) (Qmult b y) :: mix a b l m | _, _ => [] end.

Fixpoint dot (es : list Q) (xs : list R) : R :=
  match es, xs with e :: es, x :: xs => Q2R e * ln x + dot es xs | _, _ => 0 end.

(* No factor is 0 but one with exponent 0; one is 0 whose exponent is positive, or negative. *)
Fixpoint regular (es : list Q) (xs : list R) : Prop :=
  match es, xs with e :: es, x :: xs => (x = 0 -> Q2R e = 0) /\ regular es xs | _, _ => True end.
Fixpoint has_zero (es : list Q) (xs : list R) : Prop :=
  match es, xs with e :: es, x :: xs => (x = 0 /\ 0 < Q2R e) \/ has_zero es xs | _, _ => False end.
Fixpoint has_pole (es : list Q) (xs : list R) : Prop :=
  match es, xs with e :: es, x :: xs => (x = 0 /\ Q2R e < 0) \/ has_pole es xs | _, _ => False end.

(* What is known of a probability P at a point. *)
Definition share (xs : list R) (o : option product) (P : R) : Prop :=
  0 <= P /\
  match o with
  | None => P = 0
  | Some p =>
    length (pows p) = length xs /\ 0 < Q2R (const p) /\ (P = 0 -> has_zero (pows p) xs) /\
    (0 < P -> regular (pows p) xs /\ ln P = ln (Q2R (const p)) + dot (pows p) xs)
  end.

Lemma dot_mix : forall a b l m xs, length l = length m ->
  dot (mix a b l m) xs = Q2R a * dot l xs + Q2R b * dot m xs.
Proof.
  intros a b l. induction l as [|x l IH]; intros [|y m] xs H; try discriminate; [simpl; ring|].
  destruct xs as [|z xs]; [simpl; ring|]. simpl in *. rewrite IH by lia.
  rewrite Q2R_plus, !Q2R_mult. ring.
Qed.

Lemma length_mix : forall a b l m, length l = length m -> length (mix a b l m) = length l.
Proof. intros a b l. induction l as [|x l IH]; intros [|y m] H; try discriminate; simpl in *; auto. Qed.

Lemma regular_mix : forall a b l m xs, regular l xs -> regular m xs -> regular (mix a b l m) xs.
Proof.
  intros a b l. induction l as [|x l IH]; intros [|y m] xs H K; simpl; auto.
  destruct xs as [|z xs]; simpl in *; [exact I|]. destruct H as [H1 H2], K as [K1 K2]. split; [|auto].
  intro Z. rewrite Q2R_plus, !Q2R_mult, (H1 Z), (K1 Z). ring.
Qed.

(* P is not 0 and Q is: then the quotient has a pole. *)
Lemma pole_mix : forall a b l m xs, length l = length m -> Q2R b < 0 -> regular l xs -> has_zero m xs ->
  has_pole (mix a b l m) xs.
Proof.
  intros a b l. induction l as [|x l IH]; intros [|y m] xs L Hb H K; try discriminate; [destruct K|].
  destruct xs as [|z xs]; [destruct K|]. simpl in *. destruct H as [H1 H2]. destruct K as [[Z K]|K].
  - left. split; [assumption|]. rewrite Q2R_plus, !Q2R_mult, (H1 Z). nra.
  - right. apply IH; auto.
Qed.

(* P is 0 and Q is not: then it has a zero. *)
Lemma zero_mix : forall a b l m xs, length l = length m -> 0 < Q2R a -> has_zero l xs -> regular m xs ->
  has_zero (mix a b l m) xs.
Proof.
  intros a b l. induction l as [|x l IH]; intros [|y m] xs L Ha H K; try discriminate; [destruct H|].
  destruct xs as [|z xs]; [destruct H|]. simpl in *. destruct K as [K1 K2]. destruct H as [[Z H]|H].
  - left. split; [assumption|]. rewrite Q2R_plus, !Q2R_mult, (K1 Z). nra.
  - right. apply IH; auto.
Qed.

Section Bounds.

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

Definition in_range (r : range) (x : R) : Prop :=
  0 <= x /\ (forall l, low r = Some l -> exp (val l) <= x) /\ x <= exp (val (high r)).

Lemma low_positive : forall r x l, in_range r x -> low r = Some l -> 0 < x /\ val l <= ln x.
Proof.
  intros r x l (_ & L & _) E. specialize (L l E). pose proof (exp_pos (val l)).
  assert (0 < x) by lra. split; [assumption|]. now apply exp_to_ln.
Qed.

Lemma high_at_least : forall r x, in_range r x -> 0 < x -> ln x <= val (high r).
Proof. intros r x (_ & _ & H) P. now apply ln_to_exp. Qed.

(* --- bounds of sums of logarithms ----------------------------------------------------------------------------- *)

Definition plus (a b : option Z) : option Z :=
  match a, b with Some a, Some b => Some (a + b)%Z | _, _ => None end.

Fixpoint upper (es : list Q) (rs : list range) : option Z :=
  match es, rs with
  | [], _ => Some 0%Z
  | e :: es, r :: rs =>
    plus (upper es rs)
      (if qsame e 0 then Some 0%Z
       else if qlt 0 e then Some (times_up e (high r))
       else match low r with Some l => Some (times_up e l) | None => None end)
  | _ :: _, [] => None
  end.

Fixpoint lower (es : list Q) (rs : list range) : option Z :=
  match es, rs with
  | [], _ => Some 0%Z
  | e :: es, r :: rs =>
    plus (lower es rs)
      (if qsame e 0 then Some 0%Z
       else if qlt 0 e then match low r with Some l => Some (times_down e l) | None => None end
       else Some (times_down e (high r)))
  | _ :: _, [] => None
  end.

Lemma plus_some : forall a b c, plus a b = Some c -> exists x y, a = Some x /\ b = Some y /\ c = (x + y)%Z.
Proof. intros [x|] [y|] c H; simpl in H; try discriminate. exists x, y. split; [|split]; congruence. Qed.

Lemma sign_cases : forall e, qsame e 0 = false -> qlt 0 e = false -> Q2R e < 0.
Proof.
  intros e H K. apply qlt_false_R in K. rewrite Q2R_0 in K. destruct K as [K|K]; [assumption|].
  exfalso. assert (E : Qeq e 0) by (apply eqR_Qeq; now rewrite Q2R_0). apply Qeq_bool_iff in E.
  unfold qsame in H. congruence.
Qed.

Lemma sizes_positive : forall e x r, in_range r x -> qsame e 0 = false -> (x = 0 -> Q2R e = 0) -> 0 < x.
Proof.
  intros e x r (N & _) H Z. destruct N as [N|N]; [assumption|]. exfalso. symmetry in N. apply Z in N.
  assert (E : Qeq e 0) by (apply eqR_Qeq; now rewrite Q2R_0). apply Qeq_bool_iff in E. unfold qsame in H. congruence.
Qed.

Lemma upper_ok : forall es rs xs h, Forall2 in_range rs xs -> regular es xs -> upper es rs = Some h ->
  dot es xs <= val h.
Proof.
  induction es as [|e es IH]; intros rs xs h F R H.
  { simpl in H. inversion H. rewrite val_0. simpl. lra. }
  destruct F as [|r x rs xs Fx F]; [discriminate|]. cbn [upper] in H.
  apply plus_some in H as (s & t & H1 & H2 & ->). simpl in R. destruct R as [Rx R].
  specialize (IH rs xs s F R H1). rewrite val_add. cbn [dot].
  assert (Q2R e * ln x <= val t); [|lra].
  destruct (qsame e 0) eqn:E0.
  { apply qsame_R in E0. inversion H2. rewrite val_0, E0, Q2R_0. lra. }
  pose proof (sizes_positive e x r Fx E0 Rx) as X.
  destruct (qlt 0 e) eqn:E1.
  - apply qlt_R in E1. rewrite Q2R_0 in E1. inversion H2; subst t.
    eapply Rle_trans; [|apply times_up_ok]. apply Rmult_le_compat_l; [lra|]. eapply high_at_least; eassumption.
  - pose proof (sign_cases e E0 E1) as N. destruct (low r) as [l|] eqn:L; [|discriminate]. inversion H2; subst t.
    destruct (low_positive r x l Fx L) as [_ K]. eapply Rle_trans; [|apply times_up_ok]. nra.
Qed.

Lemma lower_ok : forall es rs xs h, Forall2 in_range rs xs -> regular es xs -> lower es rs = Some h ->
  val h <= dot es xs.
Proof.
  induction es as [|e es IH]; intros rs xs h F R H.
  { simpl in H. inversion H. rewrite val_0. simpl. lra. }
  destruct F as [|r x rs xs Fx F]; [discriminate|]. cbn [lower] in H.
  apply plus_some in H as (s & t & H1 & H2 & ->). simpl in R. destruct R as [Rx R].
  specialize (IH rs xs s F R H1). rewrite val_add. cbn [dot].
  assert (val t <= Q2R e * ln x); [|lra].
  destruct (qsame e 0) eqn:E0.
  { apply qsame_R in E0. inversion H2. rewrite val_0, E0, Q2R_0. lra. }
  pose proof (sizes_positive e x r Fx E0 Rx) as X.
  destruct (qlt 0 e) eqn:E1.
  - apply qlt_R in E1. rewrite Q2R_0 in E1. destruct (low r) as [l|] eqn:L; [|discriminate]. inversion H2; subst t.
    destruct (low_positive r x l Fx L) as [_ K].
    eapply Rle_trans; [apply times_down_ok|]. apply Rmult_le_compat_l; lra.
  - pose proof (sign_cases e E0 E1) as N. inversion H2; subst t.
    pose proof (high_at_least r x Fx X) as K. eapply Rle_trans; [apply times_down_ok|]. nra.
Qed.

Lemma upper_pole : forall es rs xs, Forall2 in_range rs xs -> has_pole es xs -> upper es rs = None.
Proof.
  induction es as [|e es IH]; intros rs xs F H; [destruct H|].
  destruct F as [|r x rs xs Fx F]; [reflexivity|]. simpl in H. cbn [upper]. destruct H as [[Z N]|H].
  - destruct (qsame e 0) eqn:E0; [apply qsame_R in E0; rewrite Q2R_0 in E0; lra|].
    destruct (qlt 0 e) eqn:E1; [apply qlt_R in E1; rewrite Q2R_0 in E1; lra|].
    destruct (low r) as [l|] eqn:L; [destruct (low_positive r x l Fx L); lra|].
    destruct (upper es rs); reflexivity.
  - now rewrite (IH rs xs F H).
Qed.

Lemma lower_zero : forall es rs xs, Forall2 in_range rs xs -> has_zero es xs -> lower es rs = None.
Proof.
  induction es as [|e es IH]; intros rs xs F H; [destruct H|].
  destruct F as [|r x rs xs Fx F]; [reflexivity|]. simpl in H. cbn [lower]. destruct H as [[Z N]|H].
  - destruct (qsame e 0) eqn:E0; [apply qsame_R in E0; rewrite Q2R_0 in E0; lra|].
    destruct (qlt 0 e) eqn:E1; [|apply qlt_false_R in E1; rewrite Q2R_0 in E1; lra].
    destruct (low r) as [l|] eqn:L; [destruct (low_positive r x l Fx L); lra|].
    destruct (lower es rs); reflexivity.
  - now rewrite (IH rs xs F H).
Qed.

Definition product_high (p : product) (rs : list range) : option Z := plus (ln_high (const p)) (upper (pows p) rs).
Definition product_low (p : product) (rs : list range) : option Z := plus (ln_low (const p)) (lower (pows p) rs).

Lemma product_high_ok : forall rs xs p P h, Forall2 in_range rs xs -> share xs (Some p) P ->
  product_high p rs = Some h -> P <= exp (val h).
Proof.
  intros rs xs p P h F (N & L & C & _ & S) H. pose proof (exp_pos (val h)).
  destruct N as [N|N]; [|lra]. destruct (S N) as [R E].
  apply plus_some in H as (s & t & H1 & H2 & ->).
  apply ln_high_le in H1. pose proof (upper_ok _ _ _ _ F R H2) as K.
  rewrite <- (exp_ln P N), E. apply Rle_exp. rewrite val_add. lra.
Qed.

Lemma product_low_ok : forall rs xs p P h, Forall2 in_range rs xs -> share xs (Some p) P ->
  product_low p rs = Some h -> exp (val h) <= P.
Proof.
  intros rs xs p P h F (N & L & C & Z & S) H. apply plus_some in H as (s & t & H1 & H2 & ->).
  destruct N as [N|N].
  - destruct (S N) as [R E]. apply ln_low_le in H1. pose proof (lower_ok _ _ _ _ F R H2) as K.
    rewrite <- (exp_ln P N), E. apply Rle_exp. rewrite val_add. lra.
  - exfalso. symmetry in N. apply Z in N. rewrite (lower_zero _ _ _ F N) in H2. discriminate.
Qed.

Definition quotient (p q : product) : product := Product (Qdiv (const p) (const q)) (mix 1 (-1) (pows p) (pows q)).

Lemma quotient_ok : forall xs p q P Q, share xs (Some p) P -> share xs (Some q) Q -> 0 < P -> 0 < Q ->
  0 < Q2R (const (quotient p q)) /\ regular (pows (quotient p q)) xs /\
  ln (P / Q) = ln (Q2R (const (quotient p q))) + dot (pows (quotient p q)) xs.
Proof.
  intros xs p q P Q (_ & Lp & Cp & _ & Sp) (_ & Lq & Cq & _ & Sq) HP HQ.
  destruct (Sp HP) as [Rp Ep]. destruct (Sq HQ) as [Rq Eq]. unfold quotient. cbn [const pows].
  assert (Iq : 0 < / Q2R (const q)) by now apply Rinv_0_lt_compat.
  assert (E : Q2R (Qdiv (const p) (const q)) = Q2R (const p) * / Q2R (const q)).
  { unfold Qdiv. rewrite Q2R_mult, Q2R_inverse' by lra. reflexivity. }
  rewrite E. split; [now apply Rmult_lt_0_compat|]. split; [now apply regular_mix|].
  rewrite dot_mix by congruence. unfold Rdiv.
  rewrite !ln_mult, !ln_Rinv by (try apply Rinv_0_lt_compat; assumption). rewrite Ep, Eq, Q2R_1.
  replace (Q2R (-1)) with (-1) by (unfold Q2R; simpl; lra). ring.
Qed.

(* --- psi ------------------------------------------------------------------------------------------------------ *)

(* Without an order it is that of Kullback-Leibler. *)
Definition psi_of (ord : option Q) (t : R) : R :=
  match ord with None => psi t | Some a => psi_order (Q2R a) t end.
Definition psi_at_0 (ord : option Q) : R := match ord with None => 1 | Some a => Q2R a - 1 end.
Definition good_order (ord : option Q) : Prop := match ord with None => True | Some a => 1 < Q2R a end.
Definition part (ord : option Q) (pq : R * R) : R :=
  match ord with None => kl_part pq | Some a => power_part (Q2R a) pq end.

Lemma psi_of_falls : forall ord s t, good_order ord -> s <= t -> t <= 0 -> psi_of ord t <= psi_of ord s.
Proof. intros [a|] s t G H K; simpl in *; [apply psi_order_falls | apply psi_falls]; lra. Qed.

Lemma psi_of_rises : forall ord t s, good_order ord -> 0 <= t -> t <= s -> psi_of ord t <= psi_of ord s.
Proof. intros [a|] t s G H K; simpl in *; [apply psi_order_rises | apply psi_rises]; lra. Qed.

Lemma psi_of_left : forall ord t, good_order ord -> t <= 0 -> psi_of ord t <= psi_at_0 ord.
Proof.
  intros [a|] t G H; simpl in *.
  - unfold psi_order. assert (exp (Q2R a * t) <= exp t) by (apply Rle_exp; nra). pose proof (exp_pos t). nra.
  - unfold psi. pose proof (exp_pos t). nra.
Qed.

Lemma part_at_0 : forall ord q, part ord (0, q) = psi_at_0 ord * q.
Proof.
  intros [a|] q; simpl; unfold power_part, kl_part, power_term, kl_term; simpl;
    (destruct (Req_EM_T 0 0) as [_|N]; [|lra]); ring.
Qed.

Lemma part_positive : forall ord p q, 0 < p -> 0 < q -> part ord (p, q) = q * psi_of ord (ln (p / q)).
Proof.
  intros ord p q Hp Hq. assert (D : 0 < p / q) by now apply Rdiv_lt_0_compat.
  assert (E : q * exp (ln (p / q)) = p) by (rewrite exp_ln by assumption; field; lra).
  assert (L : ln (p / q) = ln p - ln q).
  { unfold Rdiv. rewrite ln_mult, ln_Rinv by (try apply Rinv_0_lt_compat; assumption). ring. }
  destruct ord as [a|]; simpl; unfold power_part, kl_part, power_term, kl_term; simpl;
    (destruct (Req_EM_T p 0) as [N|_]; [lra|]).
  - unfold psi_order. set (t := ln (p / q)) in *.
    assert (X : Rpower p (Q2R a) * Rpower q (1 - Q2R a) = q * exp (Q2R a * t)).
    { unfold Rpower. rewrite <- (exp_ln q) at 2 by assumption. rewrite <- !exp_plus. f_equal. rewrite L. ring. }
    rewrite X. replace (q * (exp (Q2R a * t) - 1 - Q2R a * (exp t - 1)))
      with (q * exp (Q2R a * t) - Q2R a * (q * exp t) + (Q2R a - 1) * q) by ring. rewrite E. ring.
  - unfold psi. set (t := ln (p / q)) in *.
    replace (q * (1 + exp t * (t - 1))) with (q + q * exp t * t - q * exp t) by ring. rewrite E. ring.
Qed.

Definition psi_up (s : option Z) (ord : option Q) : option Z :=
  match s, ord with
  | None, None => Some (Zpos U)
  | None, Some a => Some (up U (Qminus a 1))
  | Some s, None =>
    match exp_up s with
    | Some h => Some (Zpos U + prod_up (if (Zpos U <=? s)%Z then h else exp_down s) (s - Zpos U))%Z
    | None => None
    end
  | Some s, Some a =>
    match exp_up (times_up a s) with
    | Some h => Some (h - Zpos U - times_down a (exp_down s - Zpos U))%Z
    | None => None
    end
  end.

Lemma some_same : forall a b : Z, Some a = Some b -> a = b.
Proof. congruence. Qed.

Lemma psi_up_0 : forall ord z, psi_up None ord = Some z -> psi_at_0 ord <= val z.
Proof.
  intros [a|] z H; simpl in H; inversion H; simpl.
  - pose proof (up_ok U (Qminus a 1)) as K. rewrite Q2R_minus, Q2R_1 in K. exact K.
  - rewrite val_U. lra.
Qed.

Lemma psi_up_ok : forall s ord z, good_order ord -> psi_up (Some s) ord = Some z -> psi_of ord (val s) <= val z.
Proof.
  intros s [a|] z G H; cbn [psi_up] in H; simpl in G; cbn [psi_of].
  - destruct (exp_up (times_up a s)) as [h|] eqn:E; [|discriminate]. apply some_same in H. subst z.
    apply exp_up_ok in E. rewrite !val_sub, val_U. unfold psi_order.
    assert (A : exp (Q2R a * val s) <= val h).
    { eapply Rle_trans; [|exact E]. apply Rle_exp, times_up_ok. }
    pose proof (times_down_ok U a (exp_down s - Zpos U)) as T. rewrite val_sub, val_U in T.
    pose proof (exp_down_ok U largest smallest s) as D.
    assert (Q2R a * (val (exp_down s) - 1) <= Q2R a * (exp (val s) - 1)) by (apply Rmult_le_compat_l; lra). lra.
  - destruct (exp_up s) as [h|] eqn:E; [|discriminate]. apply some_same in H. subst z.
    apply exp_up_ok in E. pose proof (exp_down_ok U largest smallest s) as D. unfold psi.
    rewrite val_add, val_U. apply Rplus_le_compat_l. eapply Rle_trans; [|apply prod_up_ok].
    rewrite val_sub, val_U. destruct (Z.leb_spec (Zpos U) s) as [K|K].
    + apply val_le with (U := U) in K. rewrite val_U in K. apply Rmult_le_compat_r; lra.
    + assert (K' : val s <= 1) by (rewrite <- (val_U U); apply val_le; lia). nra.
Qed.

(* --- one output: Q·psi(ln(P/Q)) ----------------------------------------------------------------------------------- *)

Definition by_range (ord : option Q) (bottom : option Z) (top most_q : Z) : option Z :=
  match psi_up bottom ord, psi_up (Some top) ord with
  | Some a, Some b => Some (prod_up most_q (Z.max (Z.max a b) 0))
  | _, _ => None
  end.

Lemma by_range_ok : forall ord rs xs p q P Q top most_q z, good_order ord -> Forall2 in_range rs xs ->
  share xs (Some p) P -> share xs (Some q) Q -> Q <= val most_q ->
  product_high (quotient p q) rs = Some top ->
  by_range ord (product_low (quotient p q) rs) top most_q = Some z ->
  (0 < P -> 0 < Q) /\ part ord (P, Q) <= val z.
Proof.
  intros ord rs xs p q P Q top most_q z G F Sp Sq Hq Ht H.
  unfold by_range in H. destruct (psi_up (product_low (quotient p q) rs) ord) as [a|] eqn:Ea; [|discriminate].
  destruct (psi_up (Some top) ord) as [b|] eqn:Eb; [|discriminate]. inversion H; subst z. clear H.
  set (m := Z.max (Z.max a b) 0).
  assert (M0 : 0 <= val m) by (rewrite <- (val_0 U); apply val_le; lia).
  assert (Ma : val a <= val m) by (apply val_le; lia). assert (Mb : val b <= val m) by (apply val_le; lia).
  pose proof (prod_up_ok U most_q m) as K.
  assert (NP : 0 <= P) by apply Sp. assert (NQ : 0 <= Q) by apply Sq.
  assert (QM : Q * val m <= val most_q * val m) by (apply Rmult_le_compat_r; assumption).
  assert (Lpq : length (pows p) = length (pows q)).
  { destruct Sp as (_ & Lp & _). destruct Sq as (_ & Lq & _). congruence. }
  assert (Dom : 0 < P -> 0 < Q).
  { intro HP. destruct NQ as [|N]; [assumption|]. exfalso. symmetry in N.
    apply plus_some in Ht as (s & t & _ & Ht & _).
    rewrite (upper_pole _ rs xs F) in Ht; [discriminate|]. simpl pows.
    apply pole_mix; [assumption | unfold Q2R; simpl; lra | apply Sp; assumption | apply Sq; assumption]. }
  split; [assumption|]. destruct NP as [HP|HP].
  - specialize (Dom HP). rewrite part_positive by assumption.
    destruct (quotient_ok xs p q P Q Sp Sq HP Dom) as (C & R & E). set (t := ln (P / Q)) in *.
    assert (T1 : t <= val top).
    { apply plus_some in Ht as (s & u & H1 & H2 & ->). apply ln_high_le in H1.
      pose proof (upper_ok _ _ _ _ F R H2). rewrite val_add. lra. }
    assert (X : psi_of ord t <= val m).
    { destruct (Rle_lt_dec 0 t) as [T|T].
      - eapply Rle_trans; [apply psi_of_rises with (s := val top); assumption|].
        eapply Rle_trans; [apply psi_up_ok; eassumption | assumption].
      - destruct (product_low (quotient p q) rs) as [l|] eqn:El.
        + assert (T2 : val l <= t).
          { apply plus_some in El as (s & u & H1 & H2 & ->). apply ln_low_le in H1.
            pose proof (lower_ok _ _ _ _ F R H2). rewrite val_add. lra. }
          eapply Rle_trans; [apply psi_of_falls with (s := val l); auto; lra|].
          eapply Rle_trans; [apply psi_up_ok; eassumption | assumption].
        + apply psi_up_0 in Ea. pose proof (psi_of_left ord t G ltac:(lra)). lra. }
    assert (Q * psi_of ord t <= Q * val m) by (apply Rmult_le_compat_l; assumption). lra.
  - subst P. rewrite part_at_0. destruct NQ as [HQ|HQ].
    + assert (El : product_low (quotient p q) rs = None).
      { unfold product_low. rewrite (lower_zero _ rs xs F).
        - destruct (ln_low _); reflexivity.
        - simpl pows. apply zero_mix; [assumption | rewrite Q2R_1; lra | apply Sp; reflexivity | apply Sq; assumption]. }
      rewrite El in Ea. apply psi_up_0 in Ea.
      assert (psi_at_0 ord * Q <= val m * Q) by (apply Rmult_le_compat_r; lra). lra.
    + subst Q. lra.
Qed.

End Bounds.
