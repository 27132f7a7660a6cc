(* The constant E = exp(q): enclosed between rational numbers, and signs of polynomials in it. *)
From Coq Require Import Reals ZArith QArith Qreals Qround Lra Lia List Bool Arith.
From Paramverify Require Import Poly Goal Certificate Rule ExpBounds.
Import ListNotations.
Local Open Scope R_scope.

(* --- bounds of exp, with whole numbers --------------------------------------------------------------- *)

(* (P, A, D) with the sum P/D of the first n terms of the series of exp(a/b), and the next one A/D. *)
Fixpoint exp_terms (a : Z) (b : positive) (n : nat) : Z * Z * positive :=
  match n with
  | O => (0%Z, 1%Z, 1%positive)
  | S m =>
    let '(P, A, D) := exp_terms a b m in
    let f := (b * Pos.of_succ_nat m)%positive in
    ((P + A) * Zpos f, A * a, (D * f)%positive)%Z
  end.

Definition div (a : Z) (d : positive) : R := IZR a / IZR (Zpos d).

Lemma div_Q : forall q, Q2R q = div (Qnum q) (Qden q).
Proof. reflexivity. Qed.

Lemma succ_INR : forall m, IZR (Zpos (Pos.of_succ_nat m)) = INR (S m).
Proof. intro m. rewrite Zpos_P_of_succ_nat, <- Nat2Z.inj_succ, <- INR_IZR_INZ. reflexivity. Qed.

Lemma exp_terms_ok : forall a b n, let '(P, A, D) := exp_terms a b n in
  div P D = esum (div a b) n /\ div A D = eterm (div a b) n.
Proof.
  intros a b n. induction n as [|m IH].
  - simpl. unfold div, eterm. simpl. split; field.
  - cbn [exp_terms]. destruct (exp_terms a b m) as [[P A] D]. destruct IH as [I1 I2].
    pose proof (pos_IZR D). pose proof (pos_IZR b). pose proof (pos_IZR (Pos.of_succ_nat m)).
    split.
    + change (esum (div a b) (S m)) with (esum (div a b) m + eterm (div a b) m).
      rewrite <- I1, <- I2. unfold div. rewrite !Pos2Z.inj_mul, !mult_IZR, plus_IZR.
      field. lra.
    + rewrite eterm_S, <- I2, <- succ_INR. unfold div.
      rewrite !Pos2Z.inj_mul, !mult_IZR. field. lra.
Qed.

(* Whole numbers L and H with L ≤ exp(q)·M ≤ H, for q ≥ 0. *)
Definition exp_between (q : Q) (n : nat) (M : positive) : option (Z * Z) :=
  let '(P, A, D) := exp_terms (Qnum q) (Qden q) n in
  let top := Zpos (Pos.of_succ_nat n * Qden q) in
  let rest := (top - Qnum q)%Z in
  if (0 <=? Qnum q)%Z && (0 <? rest)%Z then
    Some (P * Zpos M / Zpos D, - (- ((P * rest + A * top) * Zpos M) / (Zpos D * rest)))%Z
  else None.

Lemma floor_div : forall a d, (0 < d)%Z -> IZR (a / d) * IZR d <= IZR a.
Proof.
  intros a d H. rewrite <- mult_IZR. apply IZR_le. rewrite Z.mul_comm. apply Z.mul_div_le. assumption.
Qed.

Lemma exp_between_ok : forall q n M L H, exp_between q n M = Some (L, H) ->
  IZR L <= exp (Q2R q) * IZR (Zpos M) <= IZR H /\ 0 < exp (Q2R q).
Proof.
  intros q n M L H E. unfold exp_between in E.
  pose proof (exp_terms_ok (Qnum q) (Qden q) n) as T.
  destruct (exp_terms (Qnum q) (Qden q) n) as [[P A] D]. destruct T as [T1 T2].
  set (top := Zpos (Pos.of_succ_nat n * Qden q)) in *.
  destruct (Z.leb_spec 0 (Qnum q)) as [Hq|]; [|discriminate].
  destruct (Z.ltb_spec 0 (top - Qnum q)) as [Hr|]; [|discriminate].
  set (r := (top - Qnum q)%Z) in *. cbn [andb] in E.
  set (below := (P * Zpos M / Zpos D)%Z) in E. set (N := ((P * r + A * top) * Zpos M)%Z) in E.
  set (above := (- (- N / (Zpos D * r)))%Z) in E.
  assert (EL : L = below) by congruence. assert (EH : H = above) by congruence. subst L H. clear E.
  rewrite div_Q. pose proof (pos_IZR M) as HM. pose proof (pos_IZR D) as HD.
  pose proof (pos_IZR (Qden q)) as Hd. apply IZR_le in Hq. assert (Hr' := Hr). apply IZR_lt in Hr'.
  assert (Hn : 0 <= div (Qnum q) (Qden q)).
  { unfold div, Rdiv. apply Rmult_le_pos; [assumption|]. left. now apply Rinv_0_lt_compat. }
  split; [split|apply exp_pos].
  - apply Rle_trans with (div P D * IZR (Zpos M)).
    + apply Rmult_le_reg_r with (IZR (Zpos D)); [assumption|].
      replace (div P D * IZR (Zpos M) * IZR (Zpos D)) with (IZR (P * Zpos M)) by (rewrite mult_IZR; unfold div; field; lra).
      unfold below. apply floor_div. lia.
    + apply Rmult_le_compat_r; [lra|]. rewrite T1. apply esum_low. assumption.
  - set (b := IZR top / IZR r).
    assert (Htop : 0 < IZR top) by apply pos_IZR.
    assert (Hsn : IZR top = INR (S n) * IZR (Zpos (Qden q))).
    { unfold top. rewrite Pos2Z.inj_mul, mult_IZR, succ_INR. reflexivity. }
    assert (B : exp (div (Qnum q) (Qden q)) <= div P D + div A D * b).
    { rewrite T1, T2. apply esum_high; [assumption | now apply Rdiv_lt_0_compat |].
      assert (Er : IZR r = (INR (S n) - div (Qnum q) (Qden q)) * IZR (Zpos (Qden q))).
      { unfold r. rewrite minus_IZR, Hsn. unfold div. field. lra. }
      right. unfold b. rewrite Hsn. apply Rmult_eq_reg_r with (IZR r); [|lra].
      replace (INR (S n) * IZR (Zpos (Qden q)) / IZR r * (INR (S n) - div (Qnum q) (Qden q)) * IZR r)
        with (INR (S n) * (IZR (Zpos (Qden q)) * (INR (S n) - div (Qnum q) (Qden q)))) by (field; lra).
      rewrite Er. ring. }
    apply Rle_trans with ((div P D + div A D * b) * IZR (Zpos M)); [apply Rmult_le_compat_r; lra|].
    assert (Hdr : (0 < Zpos D * r)%Z) by lia.
    pose proof (floor_div (- N) _ Hdr) as F. rewrite opp_IZR, mult_IZR in F.
    apply Rmult_le_reg_r with (IZR (Zpos D) * IZR r); [now apply Rmult_lt_0_compat|].
    replace ((div P D + div A D * b) * IZR (Zpos M) * (IZR (Zpos D) * IZR r)) with (IZR N).
    2: { unfold N, b, div. rewrite !mult_IZR, plus_IZR, !mult_IZR. field. lra. }
    unfold above. rewrite opp_IZR. lra.
Qed.

(* Terms, and the number of bits, one after the other; more terms where q is large. *)
Definition precisions : list (nat * positive) :=
  [(10%nat, Pos.pow 2 40); (30%nat, Pos.pow 2 120); (100%nat, Pos.pow 2 600);
   (300%nat, Pos.pow 2 2400); (1000%nat, Pos.pow 2 10000)]%positive.

Definition at_precision (q : Q) (ok : positive -> Z -> Z -> bool) (pr : nat * positive) : bool :=
  match exp_between q (Nat.max (fst pr) (Z.to_nat (Qceiling q))) (snd pr) with
  | Some (L, H) => ok (snd pr) L H
  | None => false
  end.

Definition decided (q : Q) (ok : positive -> Z -> Z -> bool) : bool :=
  qle q 1000 && existsb (at_precision q ok) precisions.

Lemma decided_ok : forall q ok, decided q ok = true -> exists M L H, ok M L H = true /\
  IZR L <= exp (Q2R q) * IZR (Zpos M) <= IZR H /\ 0 < exp (Q2R q).
Proof.
  intros q ok H. unfold decided in H. apply andb_prop in H as [_ H].
  apply existsb_exists in H as (pr & _ & H). unfold at_precision in H.
  destruct (exp_between _ _ _) as [[L U]|] eqn:E in H; [|discriminate].
  exists (snd pr), L, U. split; [assumption|]. eapply exp_between_ok; eassumption.
Qed.

(* --- enclose ------------------------------------------------------------------------------------------- *)

Definition encloses (q low high : Q) : bool :=
  decided q (fun M L H =>
    (Qnum low * Zpos M <=? L * Zpos (Qden low))%Z && (H * Zpos (Qden high) <=? Qnum high * Zpos M)%Z).

Lemma encloses_ok : forall q low high, encloses q low high = true -> Q2R low <= exp (Q2R q) <= Q2R high.
Proof.
  intros q low high H. apply decided_ok in H as (M & L & U & H & B & _).
  apply andb_prop in H as [H1 H2]. apply Z.leb_le, IZR_le in H1, H2. rewrite !mult_IZR in H1, H2.
  pose proof (pos_IZR M) as HM. pose proof (pos_IZR (Qden low)) as Hl. pose proof (pos_IZR (Qden high)) as Hh.
  set (x := exp (Q2R q)) in *. rewrite !div_Q. unfold div. split.
  - apply Rmult_le_reg_r with (IZR (Zpos (Qden low)) * IZR (Zpos M)); [now apply Rmult_lt_0_compat|].
    replace (IZR (Qnum low) / IZR (Zpos (Qden low)) * (IZR (Zpos (Qden low)) * IZR (Zpos M)))
      with (IZR (Qnum low) * IZR (Zpos M)) by (field; lra). nra.
  - apply Rmult_le_reg_r with (IZR (Zpos (Qden high)) * IZR (Zpos M)); [now apply Rmult_lt_0_compat|].
    replace (IZR (Qnum high) / IZR (Zpos (Qden high)) * (IZR (Zpos (Qden high)) * IZR (Zpos M)))
      with (IZR (Qnum high) * IZR (Zpos M)) by (field; lra). nra.
Qed.

Fixpoint find_exp (l : list fact) : option (nat * Q) :=
  match l with [] => None | Exp k q :: _ => Some (k, q) | _ :: l => find_exp l end.

Lemma find_exp_ok : forall l k q, find_exp l = Some (k, q) -> In (Exp k q) l.
Proof.
  induction l as [|[j r|i j s] l IH]; intros k q H; simpl in H; [discriminate | inversion H; left; reflexivity |].
  right. auto.
Qed.

Definition check_enclose (rec : checker) (g : goal) (low high : Q) (c : cert) : bool :=
  match find_exp (gfacts g) with
  | Some (k, q) => encloses q low high && rec (with_interval g k (Some (Iv low high false false))) c
  | None => false
  end.

Lemma check_enclose_sound : forall rec, honest rec ->
  forall g low high c, check_enclose rec g low high c = true -> holds g.
Proof.
  intros rec R g low high c H e D. unfold check_enclose in H.
  destruct (find_exp (gfacts g)) as [[k q]|] eqn:E; [|discriminate].
  apply andb_prop in H as [H1 H2]. apply find_exp_ok in E.
  assert (F : e k = exp (Q2R q)) by (apply (proj2 (proj2 D) _ E)).
  apply (R _ _ H2 e). apply dom_with_interval; [assumption|].
  intros j J. inversion J; subst. apply encloses_ok in H1. rewrite F. exact H1.
Qed.

(* --- the sign of a polynomial in E ------------------------------------------------------------------------ *)

(* c₀ + c₁·x + ... times a power of M is at least this, where L^i ≤ (M·x)^i ≤ H^i. *)
Fixpoint lowest (l : list Z) (M L H : Z) (acc pl ph : Z) : Z :=
  match l with
  | [] => acc
  | c :: l => lowest l M L H (acc * M + c * (if (0 <=? c)%Z then pl else ph))%Z (pl * L) (ph * H)
  end.

(* With t = (m·x)^i: what is found is at most m^n·s + t·m^(n-1)·(c₀ + c₁·x + ...), n the length. *)
Lemma lowest_ok : forall l M L H acc pl ph x s t, 0 < IZR M -> 0 <= x ->
  0 <= IZR L <= IZR M * x -> IZR M * x <= IZR H -> 0 <= IZR pl <= t -> t <= IZR ph -> IZR acc <= s ->
  IZR (lowest l M L H acc pl ph) * IZR M <= IZR M ^ length l * (s * IZR M + t * hor x (map IZR l)).
Proof.
  induction l as [|c l IH]; intros M L H acc pl ph x s t HM Hx HL HH Hpl Hph Hs.
  - simpl. nra.
  - cbn [lowest].
    set (acc' := (acc * M + c * (if (0 <=? c)%Z then pl else ph))%Z).
    assert (A : IZR acc' <= s * IZR M + IZR c * t).
    { unfold acc'. rewrite plus_IZR, !mult_IZR.
      assert (IZR acc * IZR M <= s * IZR M) by (apply Rmult_le_compat_r; lra).
      assert (IZR c * IZR (if (0 <=? c)%Z then pl else ph) <= IZR c * t).
      { destruct (Z.leb_spec 0 c) as [K|K].
        - apply IZR_le in K. apply Rmult_le_compat_l; lra.
        - apply IZR_lt in K. nra. }
      lra. }
    assert (T : 0 <= t) by lra.
    assert (P1 : 0 <= IZR (pl * L) <= t * (IZR M * x)).
    { rewrite mult_IZR. split; [apply Rmult_le_pos; lra|]. apply Rmult_le_compat; lra. }
    assert (P2 : t * (IZR M * x) <= IZR (ph * H)).
    { rewrite mult_IZR. apply Rmult_le_compat; lra. }
    pose proof (IH M L H acc' _ _ x _ _ HM Hx HL HH P1 P2 A) as Q.
    eapply Rle_trans; [exact Q|]. right. simpl. ring.
Qed.

Fixpoint numbers (l : list poly) : option (list Z) :=
  match l with
  | [] => Some []
  | Pc c :: l => match numbers l with Some m => Some (c :: m) | None => None end
  | _ => None
  end.

Lemma numbers_ok : forall l m e, numbers l = Some m -> evals l e = map IZR m.
Proof.
  induction l as [|[c|q p] l IH]; intros m e H; simpl in H; [inversion H; reflexivity | | discriminate].
  destruct (numbers l) as [n|]; [|discriminate]. inversion H; subst. simpl. f_equal. now apply IH.
Qed.

Definition nonneg_at (q : Q) (l : list Z) : bool :=
  decided q (fun M L H => (0 <=? L)%Z && (0 <=? lowest l (Zpos M) L H 0 1 1)%Z).

Lemma nonneg_at_ok : forall q l, nonneg_at q l = true -> 0 <= hor (exp (Q2R q)) (map IZR l).
Proof.
  intros q l H. apply decided_ok in H as (M & L & U & H & B & X). apply andb_prop in H as [H1 H2].
  apply Z.leb_le, IZR_le in H1, H2. pose proof (pos_IZR M) as HM.
  assert (HL : 0 <= IZR L <= IZR (Zpos M) * exp (Q2R q)) by (rewrite Rmult_comm; lra).
  assert (HH : IZR (Zpos M) * exp (Q2R q) <= IZR U) by (rewrite Rmult_comm; lra).
  pose proof (lowest_ok l (Zpos M) L U 0 1 1 (exp (Q2R q)) 0 1 HM (Rlt_le _ _ X) HL HH) as K.
  specialize (K ltac:(lra) ltac:(lra) ltac:(lra)).
  assert (P : 0 < IZR (Zpos M) ^ length l) by (apply pow_lt; assumption).
  assert (Z : 0 <= IZR (lowest l (Zpos M) L U 0 1 1) * IZR (Zpos M)) by (apply Rmult_le_pos; lra).
  apply Rmult_le_reg_l with (IZR (Zpos M) ^ length l); [assumption|]. rewrite Rmult_0_r.
  rewrite Rmult_0_l, Rplus_0_l, Rmult_1_l in K. lra.
Qed.

Definition check_exponential (rec : checker) (g : goal) : bool :=
  existsb (fun f => match f with
    | Exp k q => match numbers (coefs (num (gpoly g)) k) with Some l => nonneg_at q l | None => false end
    | Log _ _ _ => false
    end) (gfacts g).

Lemma check_exponential_sound : forall rec, honest rec -> forall g, check_exponential rec g = true -> holds g.
Proof.
  intros rec _ g H e D. apply existsb_exists in H as ([k q|i j s] & F & H); [|discriminate].
  destruct (numbers (coefs (num (gpoly g)) k)) as [l|] eqn:E; [|discriminate].
  apply nonneg_at_ok in H. apply qeval_sign. rewrite (coefs_eval' _ k), (numbers_ok _ _ _ E).
  assert (X : e k = exp (Q2R q)) by (apply (proj2 (proj2 D) _ F)). rewrite X. assumption.
Qed.
