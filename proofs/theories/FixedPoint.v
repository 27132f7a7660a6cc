(* Numbers z/U with a fixed U: products, exponentials and logarithms, rounded to the safe side. *)
From Coq Require Import Reals ZArith QArith Qreals Lra Lia List Bool Arith.
From Paramverify Require Import Poly Goal Certificate Rule Semantics ExpBounds RuleExponential.
Import ListNotations.
Local Open Scope R_scope.

Lemma Q2R_div_Z : forall q, Q2R q = IZR (Qnum q) / IZR (Zpos (Qden q)).
Proof. reflexivity. Qed.

Lemma at_most_div : forall x y d, 0 < d -> x * d <= y -> x <= y / d.
Proof.
  intros x y d Hd H. apply Rmult_le_reg_r with d; [assumption|].
  replace (y / d * d) with y by (field; lra). assumption.
Qed.

Lemma div_at_most : forall x y d, 0 < d -> x <= y * d -> x / d <= y.
Proof.
  intros x y d Hd H. apply Rmult_le_reg_r with d; [assumption|].
  replace (x / d * d) with x by (field; lra). assumption.
Qed.

Lemma Rle_ln : forall x y, 0 < x -> x <= y -> ln x <= ln y.
Proof. intros x y Hx [H| ->]; [left; now apply ln_increasing | right; reflexivity]. Qed.

Lemma Rle_exp : forall x y, x <= y -> exp x <= exp y.
Proof. intros x y [H| ->]; [left; now apply exp_increasing | right; reflexivity]. Qed.

Section Fixed.

Variable U : positive.

Definition val (z : Z) : R := IZR z / IZR (Zpos U).

Lemma U_pos : 0 < IZR (Zpos U). Proof. apply pos_IZR. Qed.

Lemma val_IZR : forall z, val z * IZR (Zpos U) = IZR z.
Proof. intro z. unfold val. pose proof U_pos. field. lra. Qed.

Lemma val_0 : val 0 = 0. Proof. unfold val, Rdiv. ring. Qed.
Lemma val_U : val (Zpos U) = 1. Proof. unfold val. pose proof U_pos. field. lra. Qed.
Lemma val_add : forall a b, val (a + b) = val a + val b.
Proof. intros a b. unfold val, Rdiv. rewrite plus_IZR. ring. Qed.
Lemma val_sub : forall a b, val (a - b) = val a - val b.
Proof. intros a b. unfold val, Rdiv. rewrite minus_IZR. ring. Qed.
Lemma val_opp : forall a, val (- a) = - val a.
Proof. intro a. unfold val, Rdiv. rewrite opp_IZR. ring. Qed.

Lemma val_le : forall a b, (a <= b)%Z -> val a <= val b.
Proof.
  intros a b H. apply IZR_le in H. unfold val, Rdiv. apply Rmult_le_compat_r; [|assumption].
  left. apply Rinv_0_lt_compat, U_pos.
Qed.

Lemma val_max : forall a b, val (Z.max a b) = Rmax (val a) (val b).
Proof.
  intros a b. destruct (Z.le_ge_cases a b) as [H|H].
  - rewrite Z.max_r, Rmax_right by (try apply val_le; assumption). reflexivity.
  - rewrite Z.max_l, Rmax_left by (try apply val_le; lia). reflexivity.
Qed.

Lemma val_max_l : forall a b, val a <= val (Z.max a b). Proof. intros. apply val_le. lia. Qed.
Lemma val_max_r : forall a b, val b <= val (Z.max a b). Proof. intros. apply val_le. lia. Qed.

Lemma val_Q : forall z, Q2R (z # U) = val z. Proof. reflexivity. Qed.

(* --- rounding --------------------------------------------------------------------------------------------------- *)

Definition floor_of (a : Z) (d : positive) : Z := (a / Zpos d)%Z.
Definition ceiling_of (a : Z) (d : positive) : Z := (- (- a / Zpos d))%Z.

Lemma floor_of_ok : forall a d, IZR (floor_of a d) <= IZR a / IZR (Zpos d).
Proof. intros a d. apply at_most_div; [apply pos_IZR|]. now apply floor_div. Qed.

Lemma ceiling_of_ok : forall a d, IZR a / IZR (Zpos d) <= IZR (ceiling_of a d).
Proof. intros a d. apply div_at_most; [apply pos_IZR|]. now apply ceiling_div. Qed.

Definition up (q : Q) : Z := ceiling_of (Qnum q * Zpos U) (Qden q).
Definition down (q : Q) : Z := floor_of (Qnum q * Zpos U) (Qden q).
Definition times_up (a : Q) (z : Z) : Z := ceiling_of (Qnum a * z) (Qden a).
Definition times_down (a : Q) (z : Z) : Z := floor_of (Qnum a * z) (Qden a).
Definition prod_up (z w : Z) : Z := ceiling_of (z * w) U.
Definition prod_down (z w : Z) : Z := floor_of (z * w) U.

Lemma by_U : forall x z, x * IZR (Zpos U) <= IZR z -> x <= val z.
Proof. intros x z H. apply at_most_div; [apply U_pos | assumption]. Qed.

Lemma by_U' : forall x z, IZR z <= x * IZR (Zpos U) -> val z <= x.
Proof. intros x z H. apply div_at_most; [apply U_pos | assumption]. Qed.

Lemma up_ok : forall q, Q2R q <= val (up q).
Proof.
  intro q. apply by_U. eapply Rle_trans; [|apply ceiling_of_ok]. rewrite mult_IZR, Q2R_div_Z. right.
  unfold Rdiv. ring.
Qed.

Lemma down_ok : forall q, val (down q) <= Q2R q.
Proof.
  intro q. apply by_U'. eapply Rle_trans; [apply floor_of_ok|]. rewrite mult_IZR, Q2R_div_Z. right.
  unfold Rdiv. ring.
Qed.

Lemma times_up_ok : forall a z, Q2R a * val z <= val (times_up a z).
Proof.
  intros a z. apply by_U. eapply Rle_trans; [|apply ceiling_of_ok].
  rewrite Rmult_assoc, val_IZR, mult_IZR, Q2R_div_Z. right. unfold Rdiv. ring.
Qed.

Lemma times_down_ok : forall a z, val (times_down a z) <= Q2R a * val z.
Proof.
  intros a z. apply by_U'. eapply Rle_trans; [apply floor_of_ok|].
  rewrite Rmult_assoc, val_IZR, mult_IZR, Q2R_div_Z. right. unfold Rdiv. ring.
Qed.

Lemma prod_up_ok : forall z w, val z * val w <= val (prod_up z w).
Proof.
  intros z w. apply by_U. eapply Rle_trans; [|apply ceiling_of_ok].
  rewrite Rmult_assoc, val_IZR, mult_IZR. right. unfold val, Rdiv. ring.
Qed.

Lemma prod_down_ok : forall z w, val (prod_down z w) <= val z * val w.
Proof.
  intros z w. apply by_U'. eapply Rle_trans; [apply floor_of_ok|].
  rewrite Rmult_assoc, val_IZR, mult_IZR. right. unfold val, Rdiv. ring.
Qed.

(* An upper bound of x·y for low ≤ x ≤ high, where x is at least 0 and y at most d. *)
Definition most (low high d : Z) : Z := if (0 <=? d)%Z then prod_up high d else prod_up low d.

Lemma most_ok : forall low high d x y, 0 <= x -> val low <= x <= val high -> y <= val d ->
  x * y <= val (most low high d).
Proof.
  intros low high d x y Hx [Hl Hh] Hy. unfold most.
  assert (A : x * y <= x * val d) by (apply Rmult_le_compat_l; assumption).
  destruct (Z.leb_spec 0 d) as [K|K].
  - apply val_le in K. rewrite val_0 in K.
    eapply Rle_trans; [|apply prod_up_ok]. assert (x * val d <= val high * val d) by (apply Rmult_le_compat_r; assumption). lra.
  - assert (K' : val d <= 0) by (rewrite <- val_0; apply val_le; lia).
    eapply Rle_trans; [|apply prod_up_ok]. nra.
Qed.

(* --- exponentials ----------------------------------------------------------------------------------------------- *)

Definition extra : positive := 18446744073709551616.  (* 2^64: bits that are rounded away *)
Definition fine : positive := (U * extra)%positive.

(* For x ≥ 0: bounds of exp(x/U)·fine. *)
Definition exp_fine (x : Z) : option (Z * Z) :=
  exp_between (x # U) (Z.to_nat (60 + 4 * ceiling_of x U)) fine.

Lemma exp_fine_ok : forall x L H, exp_fine x = Some (L, H) ->
  IZR L <= exp (val x) * IZR (Zpos fine) <= IZR H.
Proof. intros x L H E. apply exp_between_ok in E. rewrite val_Q in E. tauto. Qed.

Variable largest : Z.  (* no exponential of a larger number is computed *)
Variable smallest : Z.  (* nor of a smaller one *)

Definition exp_up (x : Z) : option Z :=
  if (x =? 0)%Z then Some (Zpos U)
  else if (0 <? x)%Z then
    if (largest <? x)%Z then None
    else match exp_fine x with Some (_, H) => Some (ceiling_of H extra) | None => None end
  else
    match exp_fine (- Z.max x smallest) with
    | Some (Zpos L, _) => Some (ceiling_of (Zpos U * Zpos fine) L)
    | _ => None
    end.

Definition exp_down (x : Z) : Z :=
  if (x =? 0)%Z then Zpos U
  else if (0 <? x)%Z then
    if (largest <? x)%Z then 0%Z
    else match exp_fine x with Some (L, _) => floor_of L extra | None => 0%Z end
  else
    if (x <? smallest)%Z then 0%Z
    else match exp_fine (- x) with Some (_, Zpos H) => floor_of (Zpos U * Zpos fine) H | _ => 0%Z end.

Lemma fine_IZR : IZR (Zpos fine) = IZR (Zpos U) * IZR (Zpos extra).
Proof. unfold fine. now rewrite Pos2Z.inj_mul, mult_IZR. Qed.

Lemma exp_opp_inv : forall x, exp x = / exp (- x).
Proof. intro x. rewrite exp_Ropp, Rinv_inv. reflexivity. Qed.

Lemma exp_up_ok : forall x t, exp_up x = Some t -> exp (val x) <= val t.
Proof.
  intros x t H. unfold exp_up in H. pose proof U_pos as PU. pose proof (pos_IZR extra) as PE.
  destruct (Z.eqb_spec x 0) as [->|_]; [inversion H; rewrite val_0, exp_0, val_U; lra|].
  destruct (Z.ltb_spec 0 x) as [X|X].
  - destruct (largest <? x)%Z; [discriminate|]. destruct (exp_fine x) as [[L h]|] eqn:E; [|discriminate].
    inversion H; subst t. apply exp_fine_ok in E as [_ E]. rewrite fine_IZR in E.
    apply by_U. eapply Rle_trans; [|apply ceiling_of_ok]. apply at_most_div; [assumption|]. lra.
  - destruct (exp_fine (- Z.max x smallest)) as [[[|L|L] h]|] eqn:E; try discriminate.
    injection H as <-. apply exp_fine_ok in E as [E _]. rewrite val_opp in E.
    apply Rle_trans with (exp (val (Z.max x smallest))); [apply Rle_exp, val_max_l|].
    rewrite exp_opp_inv. set (y := exp (- val (Z.max x smallest))) in *. assert (Y : 0 < y) by apply exp_pos.
    pose proof (pos_IZR L) as PL.
    apply by_U. eapply Rle_trans; [|apply ceiling_of_ok]. rewrite Pos2Z.inj_mul, mult_IZR. apply at_most_div; [assumption|].
    apply Rmult_le_reg_l with y; [assumption|].
    replace (y * (/ y * IZR (Zpos U) * IZR (Zpos L))) with (IZR (Zpos U) * IZR (Zpos L)) by (field; lra).
    assert (IZR (Zpos U) * IZR (Zpos L) <= IZR (Zpos U) * (y * IZR (Zpos fine))) by (apply Rmult_le_compat_l; lra).
    lra.
Qed.

Lemma exp_down_ok : forall x, val (exp_down x) <= exp (val x).
Proof.
  intro x. unfold exp_down. pose proof U_pos as PU. pose proof (pos_IZR extra) as PE.
  pose proof (exp_pos (val x)) as Px. pose proof val_0 as V0.
  destruct (Z.eqb_spec x 0) as [->|_]; [rewrite val_0, exp_0, val_U; lra|].
  destruct (Z.ltb_spec 0 x) as [X|X].
  - destruct (largest <? x)%Z; [lra|]. destruct (exp_fine x) as [[L h]|] eqn:E; [|lra].
    apply exp_fine_ok in E as [E _]. rewrite fine_IZR in E.
    apply by_U'. eapply Rle_trans; [apply floor_of_ok|]. apply div_at_most; [assumption|]. lra.
  - destruct (x <? smallest)%Z; [lra|].
    destruct (exp_fine (- x)) as [[L [|h|h]]|] eqn:E; try lra.
    apply exp_fine_ok in E as [_ E]. rewrite val_opp in E.
    rewrite exp_opp_inv. set (y := exp (- val x)) in *. assert (Y : 0 < y) by apply exp_pos.
    pose proof (pos_IZR h) as Ph.
    apply by_U'. eapply Rle_trans; [apply floor_of_ok|]. rewrite ?Pos2Z.inj_mul, mult_IZR. apply div_at_most; [assumption|].
    apply Rmult_le_reg_l with y; [assumption|].
    replace (y * (/ y * IZR (Zpos U) * IZR (Zpos h))) with (IZR (Zpos U) * IZR (Zpos h)) by (field; lra).
    assert (IZR (Zpos U) * (y * IZR (Zpos fine)) <= IZR (Zpos U) * IZR (Zpos h)) by (apply Rmult_le_compat_l; lra).
    lra.
Qed.

Lemma exp_up_pos : forall x t, exp_up x = Some t -> 0 <= val t.
Proof. intros x t H. apply exp_up_ok in H. pose proof (exp_pos (val x)). lra. Qed.

(* --- logarithms ------------------------------------------------------------------------------------------------- *)

(* Bounds of ln(q)·U, of which nothing is known: they are shown here. *)
Variable guess : Q -> Z * Z.

(* exp(x) ≤ q, and exp(x) ≥ q. *)
Definition exp_within (x : Z) (q : Q) : bool :=
  if (0 <=? x)%Z then
    match exp_fine x with Some (_, H) => (H * Zpos (Qden q) <=? Zpos fine * Qnum q)%Z | None => false end
  else match exp_fine (- x) with Some (L, _) => (Zpos fine * Zpos (Qden q) <=? L * Qnum q)%Z | None => false end.

Definition exp_beyond (x : Z) (q : Q) : bool :=
  if (0 <=? x)%Z then
    match exp_fine x with Some (L, _) => (Zpos fine * Qnum q <=? L * Zpos (Qden q))%Z | None => false end
  else match exp_fine (- x) with Some (_, H) => (H * Qnum q <=? Zpos fine * Zpos (Qden q))%Z | None => false end.

Lemma exp_within_ok : forall x q, 0 < Q2R q -> exp_within x q = true -> exp (val x) <= Q2R q.
Proof.
  intros x q Hq H. unfold exp_within in H. pose proof (pos_IZR fine) as PF. pose proof (pos_IZR (Qden q)) as PD.
  assert (N : IZR (Qnum q) = Q2R q * IZR (Zpos (Qden q))) by (rewrite Q2R_div_Z; field; lra).
  destruct (0 <=? x)%Z.
  - destruct (exp_fine x) as [[L h]|] eqn:E; [|discriminate]. apply exp_fine_ok in E as [_ E].
    apply Z.leb_le, IZR_le in H. rewrite !mult_IZR, N in H.
    apply Rmult_le_reg_r with (IZR (Zpos fine) * IZR (Zpos (Qden q))); [now apply Rmult_lt_0_compat|].
    assert (exp (val x) * IZR (Zpos fine) * IZR (Zpos (Qden q)) <= IZR h * IZR (Zpos (Qden q)))
      by (apply Rmult_le_compat_r; lra). lra.
  - destruct (exp_fine (- x)) as [[L h]|] eqn:E; [|discriminate]. apply exp_fine_ok in E as [E _].
    apply Z.leb_le, IZR_le in H. rewrite !mult_IZR, N in H. rewrite val_opp in E. rewrite exp_opp_inv.
    set (y := exp (- val x)) in *. assert (Y : 0 < y) by apply exp_pos.
    apply Rmult_le_reg_l with (y * (IZR (Zpos fine) * IZR (Zpos (Qden q)))).
    { repeat apply Rmult_lt_0_compat; assumption. }
    replace (y * (IZR (Zpos fine) * IZR (Zpos (Qden q))) * / y) with (IZR (Zpos fine) * IZR (Zpos (Qden q))) by (field; lra).
    assert (IZR L * (Q2R q * IZR (Zpos (Qden q))) <= y * IZR (Zpos fine) * (Q2R q * IZR (Zpos (Qden q)))).
    { apply Rmult_le_compat_r; [|assumption]. apply Rmult_le_pos; lra. }
    lra.
Qed.

Lemma exp_beyond_ok : forall x q, 0 < Q2R q -> exp_beyond x q = true -> Q2R q <= exp (val x).
Proof.
  intros x q Hq H. unfold exp_beyond in H. pose proof (pos_IZR fine) as PF. pose proof (pos_IZR (Qden q)) as PD.
  assert (N : IZR (Qnum q) = Q2R q * IZR (Zpos (Qden q))) by (rewrite Q2R_div_Z; field; lra).
  destruct (0 <=? x)%Z.
  - destruct (exp_fine x) as [[L h]|] eqn:E; [|discriminate]. apply exp_fine_ok in E as [E _].
    apply Z.leb_le, IZR_le in H. rewrite !mult_IZR, N in H.
    apply Rmult_le_reg_r with (IZR (Zpos fine) * IZR (Zpos (Qden q))); [now apply Rmult_lt_0_compat|].
    assert (IZR L * IZR (Zpos (Qden q)) <= exp (val x) * IZR (Zpos fine) * IZR (Zpos (Qden q)))
      by (apply Rmult_le_compat_r; lra). lra.
  - destruct (exp_fine (- x)) as [[L h]|] eqn:E; [|discriminate]. apply exp_fine_ok in E as [_ E].
    apply Z.leb_le, IZR_le in H. rewrite !mult_IZR, N in H. rewrite val_opp in E. rewrite exp_opp_inv.
    set (y := exp (- val x)) in *. assert (Y : 0 < y) by apply exp_pos.
    apply Rmult_le_reg_l with (y * (IZR (Zpos fine) * IZR (Zpos (Qden q)))).
    { repeat apply Rmult_lt_0_compat; assumption. }
    replace (y * (IZR (Zpos fine) * IZR (Zpos (Qden q))) * / y) with (IZR (Zpos fine) * IZR (Zpos (Qden q))) by (field; lra).
    assert (y * IZR (Zpos fine) * (Q2R q * IZR (Zpos (Qden q))) <= IZR h * (Q2R q * IZR (Zpos (Qden q)))).
    { apply Rmult_le_compat_r; [|assumption]. apply Rmult_le_pos; lra. }
    lra.
Qed.

Definition ln_low (q : Q) : option Z :=
  let x := fst (guess q) in if qlt 0 q && exp_within x q then Some x else None.
Definition ln_high (q : Q) : option Z :=
  let x := snd (guess q) in if qlt 0 q && exp_beyond x q then Some x else None.

Lemma ln_low_ok : forall q x, ln_low q = Some x -> 0 < Q2R q /\ exp (val x) <= Q2R q.
Proof.
  intros q x H. unfold ln_low in H. destruct (qlt 0 q) eqn:E; [|discriminate]. simpl in H.
  apply qlt_R in E. rewrite Q2R_0 in E.
  destruct (exp_within (fst (guess q)) q) eqn:W; [|discriminate]. inversion H; subst. split; [assumption|].
  now apply exp_within_ok.
Qed.

Lemma ln_high_ok : forall q x, ln_high q = Some x -> 0 < Q2R q /\ Q2R q <= exp (val x).
Proof.
  intros q x H. unfold ln_high in H. destruct (qlt 0 q) eqn:E; [|discriminate]. simpl in H.
  apply qlt_R in E. rewrite Q2R_0 in E.
  destruct (exp_beyond (snd (guess q)) q) eqn:W; [|discriminate]. inversion H; subst. split; [assumption|].
  now apply exp_beyond_ok.
Qed.

Lemma exp_to_ln : forall x y, 0 < y -> exp x <= y -> x <= ln y.
Proof. intros x y Hy H. rewrite <- (ln_exp x). apply Rle_ln; [apply exp_pos | assumption]. Qed.

Lemma ln_to_exp : forall x y, 0 < y -> y <= exp x -> ln y <= x.
Proof. intros x y Hy H. rewrite <- (ln_exp x). now apply Rle_ln. Qed.

Lemma ln_low_le : forall q x, ln_low q = Some x -> val x <= ln (Q2R q).
Proof. intros q x H. apply ln_low_ok in H as [P H]. now apply exp_to_ln. Qed.

Lemma ln_high_le : forall q x, ln_high q = Some x -> ln (Q2R q) <= val x.
Proof. intros q x H. apply ln_high_ok in H as [P H]. now apply ln_to_exp. Qed.

End Fixed.
