(* The constant E = exp(q): enclosed between rational numbers, and signs of polynomials in it. *)
From Coq Require Import Reals ZArith QArith Qreals Qround Lra Lia List Bool Arith.
From Paramverify Require Import Poly Goal Certificate Rule ExpBounds.
Import ListNotations.
Local Open Scope R_scope.

(* --- bounds of exp, with whole numbers --------------------------------------------------------------- *)

(* The sum of the first n terms of the series of exp(a/b) and the next one, times M, both between whole numbers. *)
Fixpoint exp_terms (a : Z) (b M : positive) (n : nat) : (Z * Z) * (Z * Z) :=
  match n with
  | O => ((0, Zpos M), (0, Zpos M))%Z
  | S m =>
    let '((s, t), (s', t')) := exp_terms a b M m in
    let f := Zpos (b * Pos.of_succ_nat m) in
    ((s + t, t * a / f), (s' + t', - (- (t' * a) / f)))%Z
  end.

Definition div (a : Z) (d : positive) : R := IZR a / IZR (Zpos d).

Lemma div_Q : forall q, Q2R q = div (Qnum q) (Qden q).
Proof. reflexivity. Qed.

Lemma succ_INR : forall m, IZR (Zpos (Pos.of_succ_nat m)) = INR (S m).
Proof. intro m. rewrite Zpos_P_of_succ_nat, <- Nat2Z.inj_succ, <- INR_IZR_INZ. reflexivity. Qed.

Lemma floor_div : forall a d, (0 < d)%Z -> IZR (a / d) * IZR d <= IZR a.
Proof.
  intros a d H. rewrite <- mult_IZR. apply IZR_le. rewrite Z.mul_comm. apply Z.mul_div_le. assumption.
Qed.

Lemma ceiling_div : forall a d, (0 < d)%Z -> IZR a <= IZR (- (- a / d)) * IZR d.
Proof. intros a d H. pose proof (floor_div (- a) d H) as F. rewrite opp_IZR in F. rewrite opp_IZR. lra. Qed.

Lemma exp_terms_ok : forall a b M n, (0 <= a)%Z -> let '((s, t), (s', t')) := exp_terms a b M n in
  IZR s <= IZR (Zpos M) * esum (div a b) n <= IZR s' /\
  IZR t <= IZR (Zpos M) * eterm (div a b) n <= IZR t'.
Proof.
  intros a b M n Ha. induction n as [|m IH].
  - simpl exp_terms. unfold eterm. simpl. lra.
  - cbn [exp_terms]. destruct (exp_terms a b M m) as [[s t] [s' t']]. destruct IH as [I1 I2].
    set (f := Zpos (b * Pos.of_succ_nat m)).
    assert (Hf : (0 < f)%Z) by reflexivity. pose proof (pos_IZR (b * Pos.of_succ_nat m)) as Pf. fold f in Pf.
    pose proof (pos_IZR b) as Pb. pose proof (pos_IZR (Pos.of_succ_nat m)) as Pm. apply IZR_le in Ha.
    split.
    + change (esum (div a b) (S m)) with (esum (div a b) m + eterm (div a b) m). rewrite !plus_IZR. lra.
    + assert (E : IZR (Zpos M) * eterm (div a b) (S m) * IZR f = IZR (Zpos M) * eterm (div a b) m * IZR a).
      { rewrite eterm_S, <- succ_INR. unfold f, div. rewrite Pos2Z.inj_mul, mult_IZR. field. lra. }
      pose proof (floor_div (t * a) f Hf) as F. pose proof (ceiling_div (t' * a) f Hf) as C.
      rewrite mult_IZR in F, C. split; apply Rmult_le_reg_r with (IZR f); try assumption; rewrite E.
      * assert (IZR t * IZR a <= IZR (Zpos M) * eterm (div a b) m * IZR a) by (apply Rmult_le_compat_r; lra). lra.
      * assert (IZR (Zpos M) * eterm (div a b) m * IZR a <= IZR t' * IZR a) by (apply Rmult_le_compat_r; lra). lra.
Qed.

(* Whole numbers L and H with L ≤ exp(q)·M ≤ H, for q ≥ 0. *)
Definition exp_between (q : Q) (n : nat) (M : positive) : option (Z * Z) :=
  let top := Zpos (Pos.of_succ_nat n * Qden q) in
  let rest := (top - Qnum q)%Z in
  if (0 <=? Qnum q)%Z && (0 <? rest)%Z then
    let '((s, _), (s', t')) := exp_terms (Qnum q) (Qden q) M n in Some (s, s' + - (- (t' * top) / rest))%Z
  else None.

Lemma exp_between_ok : forall q n M L H, exp_between q n M = Some (L, H) ->
  IZR L <= exp (Q2R q) * IZR (Zpos M) <= IZR H /\ 0 < exp (Q2R q).
Proof.
  intros q n M L H E. unfold exp_between in E.
  set (top := Zpos (Pos.of_succ_nat n * Qden q)) in *.
  destruct (Z.leb_spec 0 (Qnum q)) as [Hq|]; [|discriminate].
  destruct (Z.ltb_spec 0 (top - Qnum q)) as [Hr|]; [|discriminate].
  set (r := (top - Qnum q)%Z) in *. cbn [andb] in E.
  pose proof (exp_terms_ok (Qnum q) (Qden q) M n Hq) as T.
  destruct (exp_terms (Qnum q) (Qden q) M n) as [[s t] [s' t']]. destruct T as [T1 T2].
  set (more := (- (- (t' * top) / r))%Z) in E.
  assert (EL : L = s) by congruence. assert (EH : H = (s' + more)%Z) by congruence. subst L H. clear E.
  rewrite div_Q. pose proof (pos_IZR M) as HM. pose proof (pos_IZR (Qden q)) as Hd. apply IZR_le in Hq.
  assert (Hr' := Hr). apply IZR_lt in Hr'.
  set (x := div (Qnum q) (Qden q)) in *.
  assert (Hn : 0 <= x).
  { unfold x, div, Rdiv. apply Rmult_le_pos; [assumption|]. left. now apply Rinv_0_lt_compat. }
  split; [split|apply exp_pos].
  - apply Rle_trans with (IZR (Zpos M) * esum x n); [apply T1|].
    rewrite Rmult_comm. apply Rmult_le_compat_r; [lra|]. apply esum_low. assumption.
  - set (b := IZR top / IZR r).
    assert (Htop : 0 < IZR top) by apply pos_IZR.
    assert (Hsn : IZR top = INR (S n) * IZR (Zpos (Qden q))).
    { unfold top. rewrite Pos2Z.inj_mul, mult_IZR, succ_INR. reflexivity. }
    assert (B : exp x <= esum x n + eterm x n * b).
    { apply esum_high; [assumption | now apply Rdiv_lt_0_compat |].
      assert (Er : IZR r = (INR (S n) - x) * IZR (Zpos (Qden q))).
      { unfold r. rewrite minus_IZR, Hsn. unfold x, div. field. lra. }
      right. unfold b. rewrite Hsn. apply Rmult_eq_reg_r with (IZR r); [|lra].
      replace (INR (S n) * IZR (Zpos (Qden q)) / IZR r * (INR (S n) - x) * IZR r)
        with (INR (S n) * (IZR (Zpos (Qden q)) * (INR (S n) - x))) by (field; lra).
      rewrite Er. ring. }
    pose proof (ceiling_div (t' * top) r Hr) as C. fold more in C. rewrite mult_IZR in C.
    assert (K : IZR (Zpos M) * eterm x n * b <= IZR more).
    { apply Rmult_le_reg_r with (IZR r); [assumption|].
      replace (IZR (Zpos M) * eterm x n * b * IZR r) with (IZR (Zpos M) * eterm x n * IZR top)
        by (unfold b; field; lra).
      assert (IZR (Zpos M) * eterm x n * IZR top <= IZR t' * IZR top) by (apply Rmult_le_compat_r; lra). lra. }
    rewrite plus_IZR. apply Rle_trans with ((esum x n + eterm x n * b) * IZR (Zpos M)).
    + apply Rmult_le_compat_r; lra.
    + replace ((esum x n + eterm x n * b) * IZR (Zpos M))
        with (IZR (Zpos M) * esum x n + IZR (Zpos M) * eterm x n * b) by ring. lra.
Qed.

(* Terms, and the number of bits, one after the other; more terms where q is large. *)
Definition precisions : list (nat * positive) :=
  [(12%nat, positive_power 2 48); (50%nat, positive_power 2 192); (120%nat, positive_power 2 600);
   (300%nat, positive_power 2 2400); (1000%nat, positive_power 2 10000)]%positive.

Definition at_precision (q : Q) (ok : positive -> Z -> Z -> bool) (pr : nat * positive) : bool :=
  match exp_between q (Nat.max (fst pr) (Z.to_nat (Qceiling q))) (snd pr) with
  | Some (L, H) => ok (snd pr) L H
  | None => false
  end.

(* Whether one is right: the rest is not computed after the first. *)
Fixpoint some_is {A : Type} (f : A -> bool) (l : list A) : bool :=
  match l with [] => false | a :: l => if f a then true else some_is f l end.

Lemma some_is_ok : forall A (f : A -> bool) l, some_is f l = true -> exists a, f a = true.
Proof.
  induction l as [|a l IH]; intro H; [discriminate|]. simpl in H.
  destruct (f a) eqn:E; [exists a; assumption | apply IH; assumption].
Qed.

Definition decided (q : Q) (ok : positive -> Z -> Z -> bool) : bool :=
  if qle q 1000 then some_is (at_precision q ok) precisions else false.

Lemma decided_ok : forall q ok, decided q ok = true -> exists M L H, ok M L H = true /\
  IZR L <= exp (Q2R q) * IZR (Zpos M) <= IZR H /\ 0 < exp (Q2R q).
Proof.
  intros q ok H. unfold decided in H. destruct (qle q 1000); [|discriminate].
  apply some_is_ok in H as (pr & H). unfold at_precision in H.
  destruct (exp_between _ _ _) as [[L U]|] eqn:E in H; [|discriminate].
  exists (snd pr), L, U. split; [assumption|]. eapply exp_between_ok; eassumption.
Qed.

(* More terms do not help where the contrary is seen. *)
Definition beyond (q : Q) (contrary : positive -> Z -> Z -> bool) : bool :=
  if qle q 1000 then at_precision q contrary (50%nat, positive_power 2 192) else true.

(* --- enclose ------------------------------------------------------------------------------------------- *)

(* It is outside of the interval. *)
Definition apart (q low high : Q) : bool :=
  beyond q (fun M L H =>
    (H * Zpos (Qden low) <? Qnum low * Zpos M)%Z || (Qnum high * Zpos M <? L * Zpos (Qden high))%Z).

Definition encloses (q low high : Q) : bool :=
  if apart q low high then false
  else decided q (fun M L H =>
    (Qnum low * Zpos M <=? L * Zpos (Qden low))%Z && (H * Zpos (Qden high) <=? Qnum high * Zpos M)%Z).

Lemma encloses_ok : forall q low high, encloses q low high = true -> Q2R low <= exp (Q2R q) <= Q2R high.
Proof.
  intros q low high H. unfold encloses in H. destruct (apart q low high); [discriminate|].
  apply decided_ok in H as (M & L & U & H & B & _).
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

(* It is negative. *)
Definition hopeless (q : Q) (l : list Z) : bool :=
  beyond q (fun M L H => (0 <? lowest (map Z.opp l) (Zpos M) L H 0 1 1)%Z).

(* A number alone needs no bounds of exp. *)
Definition nonneg_at (q : Q) (l : list Z) : bool :=
  match l with
  | [] => true
  | [c] => (0 <=? c)%Z
  | _ =>
    if hopeless q l then false
    else decided q (fun M L H => (0 <=? L)%Z && (0 <=? lowest l (Zpos M) L H 0 1 1)%Z)
  end.

Lemma nonneg_at_ok : forall q l, nonneg_at q l = true -> 0 <= hor (exp (Q2R q)) (map IZR l).
Proof.
  intros q [|c [|c' l']] H; unfold nonneg_at in H; [simpl; lra| |].
  { apply Z.leb_le, IZR_le in H. simpl. lra. }
  remember (c :: c' :: l') as l. destruct (hopeless q l); [discriminate|].
  apply decided_ok in H as (M & L & U & H & B & X). apply andb_prop in H as [H1 H2].
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
