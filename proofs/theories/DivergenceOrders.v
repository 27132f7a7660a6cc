(* A bound of Kullback-Leibler, and one of all orders above 1, on a box where factors have ranges. *)
From Coq Require Import Reals ZArith QArith Qreals Lra Lia List Bool Arith.
From Paramverify Require Import Poly Goal Sums RuleLogarithm FixedPoint Divergences DivergenceBounds DivergenceSums.
Import ListNotations.
Local Open Scope R_scope.

Section Orders.

Variable U : positive.
Variable largest smallest : Z.
Variable guess : Q -> Z * Z.

Notation val := (val U).
Notation ln_high := (ln_high U guess).
Notation in_range := (in_range U).
Notation product_high := (product_high U guess).
Notation sum_up := (sum_up U largest smallest guess).

Definition kl_below (bound : Z) (rs : list range) (os : list output) : bool :=
  match sum_up None rs os with Some z => (z <=? bound)%Z | None => false end.

Lemma kl_below_ok : forall bound rs xs os l, Forall2 in_range rs xs -> Forall2 (output_shares xs) os l ->
  distributions l -> kl_below bound rs os = true -> kl_at_most (val bound) l.
Proof.
  intros bound rs xs os l F S D H. unfold kl_below in H.
  destruct (sum_up None rs os) as [z|] eqn:E; [|discriminate]. apply Z.leb_le, (val_le U) in H.
  destruct (sum_up_ok U largest smallest guess None rs xs os l z I F S E) as [Dom K]. split; [assumption|].
  rewrite kl_by_parts by assumption. change (part None) with kl_part in K. lra.
Qed.

(* The logarithm of the moment of an order. *)
Definition height (rs : list range) (os : list output) (a : Q) : option Z :=
  match sum_up (Some a) rs os with Some z => ln_high ((Zpos U + z) # U) | None => None end.

Lemma height_ok : forall rs xs os l a h, Forall2 in_range rs xs -> Forall2 (output_shares xs) os l ->
  distributions l -> 1 < Q2R a -> height rs os a = Some h -> moment (Q2R a) l <= exp (val h).
Proof.
  intros rs xs os l a h F S D Ha H. unfold height in H.
  destruct (sum_up (Some a) rs os) as [z|] eqn:E; [|discriminate]. apply ln_high_ok in H as [_ H].
  destruct (sum_up_ok U largest smallest guess (Some a) rs xs os l z Ha F S E) as [_ K].
  rewrite moment_by_parts by assumption. change (part (Some a)) with (power_part (Q2R a)) in K.
  rewrite val_Q, val_add, val_U in H. lra.
Qed.

(* The logarithm of the largest ratio. *)
Fixpoint largest_ratio (rs : list range) (os : list output) : option Z :=
  match os with
  | [] => Some 0%Z
  | o :: os =>
    match largest_ratio rs os, left o, right o with
    | Some m, None, _ => Some m
    | Some m, Some p, Some q =>
      match product_high (quotient p q) rs with Some h => Some (Z.max m h) | None => None end
    | _, _, _ => None
    end
  end.

Lemma largest_ratio_ok : forall rs xs os l m, Forall2 in_range rs xs -> Forall2 (output_shares xs) os l ->
  largest_ratio rs os = Some m ->
  dominated l /\ forall p q, In (p, q) l -> 0 < p -> ln (p / q) <= val m.
Proof.
  intros rs xs os l m F S. revert m. induction S as [|o [P Q] os l So S IH]; intros m H.
  - split; [intros p q [] | intros p q []].
  - cbn [largest_ratio] in H. destruct (largest_ratio rs os) as [m'|] eqn:E; [|discriminate].
    destruct (IH m' eq_refl) as [D L]. destruct So as [Sp Sq]. cbn [fst snd] in Sp, Sq.
    destruct (left o) as [p|].
    + destruct (right o) as [q|]; [|discriminate].
      destruct (product_high (quotient p q) rs) as [h|] eqn:Eh; [|discriminate]. inversion H; subst m.
      assert (Dom : 0 < P -> 0 < Q).
      { intro HP. destruct Sq as (NQ & Lq & _ & Zq & _). destruct NQ as [|N]; [assumption|]. exfalso. symmetry in N.
        destruct Sp as (_ & Lp & _ & _ & Pp).
        apply plus_some in Eh as (s & t & _ & Eh & _). rewrite (upper_pole U _ rs xs F) in Eh; [discriminate|].
        simpl pows. apply pole_mix; [congruence | unfold Q2R; simpl; lra | apply Pp; assumption | apply Zq; assumption]. }
      split.
      * intros p' q' [X|X] Z; [|eapply D; eassumption]. inversion X; subst p' q'.
        destruct Sp as [[NP|NP] _]; [|auto]. specialize (Dom NP). lra.
      * intros p' q' [X|X] HP.
        -- inversion X; subst p' q'. specialize (Dom HP).
           destruct (quotient_ok xs p q P Q Sp Sq HP Dom) as (_ & R & ->).
           apply plus_some in Eh as (s & t & H1 & H2 & ->). apply ln_high_le in H1.
           pose proof (upper_ok U _ _ _ _ F R H2). pose proof (val_max_r U m' (s + t)). rewrite val_add in *. lra.
        -- pose proof (L p' q' X HP). pose proof (val_max_l U m' h). lra.
    + inversion H; subst m. destruct Sp as [_ Sp]. subst P. split.
      * intros p' q' [X|X] Z; [congruence | eapply D; eassumption].
      * intros p' q' [X|X] HP; [inversion X; lra | eapply L; eassumption].
Qed.

(* The line through (a, s) and (b, t) is at most rho·x·(x - 1) between them. *)
Definition line_below (rho a s b t : Q) : bool :=
  let slope := Qdiv (t - s) (b - a) in
  let turn := Qdiv (rho + slope) (2 * rho) in
  qlt 0 rho && qlt a b && qle s (rho * a * (a - 1)) && qle t (rho * b * (b - 1)) &&
  (if qlt a turn && qlt turn b then qle (s + slope * (turn - a)) (rho * turn * (turn - 1)) else true).

Lemma parabola : forall rho a s b t x, 0 < rho -> a < b -> a <= x <= b ->
  s <= rho * a * (a - 1) -> t <= rho * b * (b - 1) ->
  let slope := (t - s) / (b - a) in
  let turn := (rho + slope) / (2 * rho) in
  (turn <= a \/ b <= turn \/ s + slope * (turn - a) <= rho * turn * (turn - 1)) ->
  s + slope * (x - a) <= rho * x * (x - 1).
Proof.
  intros rho a s b t x Hr Hab Hx Hs Ht slope turn C.
  assert (E : rho + slope = 2 * rho * turn) by (unfold turn; field; lra).
  assert (T : t = s + slope * (b - a)) by (unfold slope; field; lra).
  assert (S : slope = 2 * rho * turn - rho) by lra. clearbody slope turn. subst slope.
  destruct C as [C|[C|C]].
  - assert (0 <= rho * ((x - a) * (x + a - 2 * turn))).
    { apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; lra. }
    replace (rho * x * (x - 1)) with (rho * a * (a - 1) + (2 * rho * turn - rho) * (x - a)
      + rho * ((x - a) * (x + a - 2 * turn))) by ring. lra.
  - assert (0 <= rho * ((b - x) * (2 * turn - b - x))).
    { apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; lra. }
    replace (rho * x * (x - 1)) with (rho * b * (b - 1) - (2 * rho * turn - rho) * (b - x)
      + rho * ((b - x) * (2 * turn - b - x))) by ring. lra.
  - assert (0 <= rho * ((x - turn) * (x - turn))).
    { apply Rmult_le_pos; [lra|]. apply Rle_0_sqr. }
    replace (rho * x * (x - 1)) with (rho * turn * (turn - 1) + (2 * rho * turn - rho) * (x - turn)
      + rho * ((x - turn) * (x - turn))) by ring. lra.
Qed.

Lemma line_below_ok : forall rho a s b t x, line_below rho a s b t = true -> Q2R a <= x <= Q2R b ->
  Q2R s + (Q2R t - Q2R s) / (Q2R b - Q2R a) * (x - Q2R a) <= Q2R rho * x * (x - 1).
Proof.
  intros rho a s b t x H Hx. unfold line_below in H.
  set (slope := Qdiv (t - s) (b - a)) in *. set (turn := Qdiv (rho + slope) (2 * rho)) in *.
  apply andb_prop in H as [H H5]. apply andb_prop in H as [H H4]. apply andb_prop in H as [H H3].
  apply andb_prop in H as [H1 H2]. apply qlt_R in H1, H2. apply qle_R in H3, H4.
  rewrite Q2R_0 in H1. rewrite !Q2R_mult, Q2R_minus, Q2R_1 in H3, H4.
  assert (Es : Q2R slope = (Q2R t - Q2R s) / (Q2R b - Q2R a)).
  { unfold slope, Qdiv. rewrite Q2R_mult, Q2R_inverse', !Q2R_minus by (rewrite Q2R_minus; lra). reflexivity. }
  assert (E2 : Q2R 2 = 2) by (unfold Q2R; simpl; lra).
  assert (Et : Q2R turn = (Q2R rho + (Q2R t - Q2R s) / (Q2R b - Q2R a)) / (2 * Q2R rho)).
  { unfold turn, Qdiv. rewrite Q2R_mult, Q2R_inverse', Q2R_plus, Q2R_mult, Es, E2 by (rewrite Q2R_mult, E2; lra).
    reflexivity. }
  apply parabola with (t := Q2R t) (b := Q2R b); try assumption. rewrite <- Et, <- Es.
  destruct (qlt a turn) eqn:C1; [|apply qlt_false_R in C1; tauto].
  destruct (qlt turn b) eqn:C2; [|apply qlt_false_R in C2; tauto].
  simpl in H5. apply qle_R in H5. rewrite Q2R_plus, !Q2R_mult, !Q2R_minus, Q2R_1 in H5. tauto.
Qed.

(* What is left above an order a, whose moment has the logarithm s; m is that of the largest ratio. *)
Fixpoint above (rho : Q) (m : Z) (rs : list range) (os : list output) (a : Q) (s : Z) (orders : list Q) : bool :=
  match orders with
  | [] => qle (m # U) (rho * a)
  | b :: orders =>
    match height rs os b with
    | Some t => line_below rho a (s # U) b (t # U) && above rho m rs os b t orders
    | None => false
    end
  end.

Definition zcdp_below (bound : Z) (rs : list range) (os : list output) (orders : list Q) : bool :=
  let rho := bound # U in
  match largest_ratio rs os with
  | Some m =>
    (0 <=? bound)%Z &&
    match orders with
    | [] => qle (m # U) rho
    | a :: orders =>
      match height rs os a with
      | Some s => qlt 1 a && qle (s # U) (rho * (a - 1)) && above rho m rs os a s orders
      | None => false
      end
    end
  | None => false
  end.

Section Point.
Variable rs : list range.
Variable xs : list R.
Variable os : list output.
Variable l : list (R * R).
Hypothesis F : Forall2 in_range rs xs.
Hypothesis S : Forall2 (output_shares xs) os l.
Hypothesis D : distributions l.

Lemma beyond_last : forall rho m a x, 0 <= Q2R rho -> largest_ratio rs os = Some m -> qle (m # U) (rho * a) = true ->
  1 <= Q2R a -> Q2R a <= x -> moment x l <= exp (Q2R rho * x * (x - 1)).
Proof.
  intros rho m a x Hr Hm H Ha Hx. destruct (largest_ratio_ok rs xs os l m F S Hm) as [Dom L].
  apply qle_R in H. rewrite val_Q, Q2R_mult in H.
  eapply Rle_trans; [apply (moment_of_largest x (val m)); try assumption; lra|]. apply Rle_exp.
  assert (val m <= Q2R rho * x).
  { eapply Rle_trans; [exact H|]. apply Rmult_le_compat_l; assumption. }
  rewrite (Rmult_comm (Q2R rho * x)). apply Rmult_le_compat_l; lra.
Qed.

Lemma above_ok : forall rho m orders a s x, 0 <= Q2R rho -> largest_ratio rs os = Some m -> 1 < Q2R a ->
  moment (Q2R a) l <= exp (val s) -> above rho m rs os a s orders = true -> Q2R a <= x ->
  moment x l <= exp (Q2R rho * x * (x - 1)).
Proof.
  intros rho m. induction orders as [|b orders IH]; intros a s x Hr Hm Ha Hs H Hx.
  - eapply beyond_last; try eassumption; lra.
  - cbn [above] in H. destruct (height rs os b) as [t|] eqn:E; [|discriminate].
    apply andb_prop in H as [H1 H2].
    assert (Hab : Q2R a < Q2R b).
    { unfold line_below in H1. apply andb_prop in H1 as [H1 _]. apply andb_prop in H1 as [H1 _].
      apply andb_prop in H1 as [H1 _]. apply andb_prop in H1 as [_ H1]. now apply qlt_R. }
    assert (Hb : 1 < Q2R b) by lra.
    pose proof (height_ok rs xs os l b t F S D Hb E) as Ht.
    destruct (Rle_lt_dec x (Q2R b)) as [C|C].
    + apply (moment_on_line (Q2R a) (Q2R b) x (val s) (val t)); try assumption; [split; assumption|].
      apply (line_below_ok rho a (s # U) b (t # U) x H1). split; assumption.
    + apply (IH b t x); try assumption. lra.
Qed.

Lemma zcdp_below_ok : forall bound orders, zcdp_below bound rs os orders = true -> zcdp_at_most (val bound) l.
Proof.
  intros bound orders H. unfold zcdp_below in H.
  destruct (largest_ratio rs os) as [m|] eqn:Em; [|discriminate].
  destruct (largest_ratio_ok rs xs os l m F S Em) as [Dom L].
  apply andb_prop in H as [H0 H]. apply Z.leb_le, (val_le U) in H0. rewrite val_0 in H0. rewrite <- val_Q in *.
  apply zcdp_of_moments; try assumption. intros x Hx. destruct orders as [|a orders].
  - apply beyond_last with (m := m) (a := 1%Q); try assumption; try (rewrite Q2R_1; lra).
    apply qle_R in H. apply Qle_bool_iff, Rle_Qle. rewrite Q2R_mult, Q2R_1. lra.
  - destruct (height rs os a) as [s|] eqn:E; [|discriminate].
    apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2]. apply qlt_R in H1. rewrite Q2R_1 in H1.
    apply qle_R in H2. rewrite (val_Q U s), Q2R_mult, Q2R_minus, Q2R_1 in H2.
    pose proof (height_ok rs xs os l a s F S D H1 E) as Hs.
    destruct (Rle_lt_dec x (Q2R a)) as [C|C].
    + apply (moment_on_line 1 (Q2R a) x 0 (val s)); [assumption | lra | now apply moment_1 | assumption |].
      set (rho := Q2R (bound # U)) in *.
      assert (K : (val s - 0) / (Q2R a - 1) <= rho) by (apply div_at_most; lra).
      assert (K2 : (val s - 0) / (Q2R a - 1) * (x - 1) <= rho * (x - 1)) by (apply Rmult_le_compat_r; lra).
      assert (K3 : rho * (x - 1) * 1 <= rho * (x - 1) * x).
      { apply Rmult_le_compat_l; [|lra]. apply Rmult_le_pos; lra. }
      lra.
    + eapply above_ok; try eassumption. lra.
Qed.

End Point.

End Orders.
