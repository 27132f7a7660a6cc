(** Divergences of two distributions: Kullback-Leibler, Renyi of all orders, and what bounds them.

    A list has both probabilities of each output: P on the left, Q on the right. *)

From Coq Require Import Reals QArith Qreals Lra Lia List Bool.
From Paramverify Require Import Goal Sums FixedPoint.
Import ListNotations.
Local Open Scope R_scope.

(** * What is claimed *)

Definition distributions (l : list (R * R)) : Prop :=
  (forall p q, In (p, q) l -> 0 <= p /\ 0 <= q) /\ total fst l = 1 /\ total snd l = 1.

(** Where Q is 0, P is 0: else all these divergences are infinite. *)
Definition dominated (l : list (R * R)) : Prop := forall p q, In (p, q) l -> q = 0 -> p = 0.

(** P·ln(P/Q), and P^a·Q^(1-a): both are 0 where P is. *)
Definition kl_term (pq : R * R) : R :=
  let (p, q) := pq in if Req_EM_T p 0 then 0 else p * ln (p / q).
Definition power_term (a : R) (pq : R * R) : R :=
  let (p, q) := pq in if Req_EM_T p 0 then 0 else Rpower p a * Rpower q (1 - a).

Definition kl (l : list (R * R)) : R := total kl_term l.
Definition moment (a : R) (l : list (R * R)) : R := total (power_term a) l.
Definition renyi (a : R) (l : list (R * R)) : R := ln (moment a l) / (a - 1).

(** The divergence is finite and at most the bound. *)
Definition kl_at_most (bound : R) (l : list (R * R)) : Prop := dominated l /\ kl l <= bound.

(** Zero-concentrated privacy: for every order above 1. *)
Definition zcdp_at_most (rho : R) (l : list (R * R)) : Prop :=
  dominated l /\ forall a, 1 < a -> renyi a l <= rho * a.

(** * Inequalities of exp *)

Lemma exp_above_tangent : forall x u, exp u * (1 + (x - u)) <= exp x.
Proof.
  intros x u. pose proof (exp_ineq1_le (x - u)) as H. pose proof (exp_pos u) as P.
  replace (exp x) with (exp u * exp (x - u)) by (rewrite <- exp_plus; f_equal; ring).
  apply Rmult_le_compat_l; lra.
Qed.

Lemma exp_convex : forall w x y, 0 <= w <= 1 -> exp ((1 - w) * x + w * y) <= (1 - w) * exp x + w * exp y.
Proof.
  intros w x y H. set (u := (1 - w) * x + w * y).
  pose proof (exp_above_tangent x u) as X. pose proof (exp_above_tangent y u) as Y.
  assert (A : (1 - w) * (exp u * (1 + (x - u))) <= (1 - w) * exp x) by (apply Rmult_le_compat_l; lra).
  assert (B : w * (exp u * (1 + (y - u))) <= w * exp y) by (apply Rmult_le_compat_l; lra).
  assert (E : (1 - w) * (exp u * (1 + (x - u))) + w * (exp u * (1 + (y - u))) = exp u).
  { replace ((1 - w) * (exp u * (1 + (x - u))) + w * (exp u * (1 + (y - u))))
      with (exp u * (1 + ((1 - w) * x + w * y - u))) by ring. fold u. ring. }
  lra.
Qed.

(** a·(exp u - 1) is at most exp(a·u) - 1. *)
Lemma bernoulli : forall a u, 1 <= a -> a * (exp u - 1) <= exp (a * u) - 1.
Proof.
  intros a u Ha. pose proof (exp_convex (/ a) 0 (a * u)) as C.
  assert (I : 0 < / a) by (apply Rinv_0_lt_compat; lra).
  assert (J : / a <= 1) by (rewrite <- Rinv_1; apply Rinv_le_contravar; lra).
  specialize (C ltac:(lra)).
  replace ((1 - / a) * 0 + / a * (a * u)) with u in C by (field; lra). rewrite exp_0 in C.
  assert (a * exp u <= a * ((1 - / a) * 1 + / a * exp (a * u))) by (apply Rmult_le_compat_l; lra).
  replace (a * ((1 - / a) * 1 + / a * exp (a * u))) with (a - 1 + exp (a * u)) in H by (field; lra). lra.
Qed.

(** With r = exp t: r·ln r - r + 1, and r^a - 1 - a·(r - 1). Both fall up to t = 0, and rise from there. *)
Definition psi (t : R) : R := 1 + exp t * (t - 1).
Definition psi_order (a t : R) : R := exp (a * t) - 1 - a * (exp t - 1).

Lemma psi_falls : forall s t, s <= t -> t <= 0 -> psi t <= psi s.
Proof.
  intros s t H K. unfold psi. pose proof (exp_ineq1_le (t - s)) as E. pose proof (exp_pos s) as P.
  replace (exp t) with (exp s * exp (t - s)) by (rewrite <- exp_plus; f_equal; ring).
  assert (A : (1 - s) <= exp (t - s) * (1 - t)).
  { apply Rle_trans with ((1 + (t - s)) * (1 - t)); [nra|]. apply Rmult_le_compat_r; lra. }
  assert (B : exp s * (1 - s) <= exp s * (exp (t - s) * (1 - t))) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Lemma psi_rises : forall t s, 0 <= t -> t <= s -> psi t <= psi s.
Proof.
  intros t s H K. unfold psi. pose proof (exp_pos t) as P. set (d := s - t).
  replace (exp s) with (exp t * exp d) by (unfold d; rewrite <- exp_plus; f_equal; ring).
  pose proof (exp_ineq1_le (- d)) as E. pose proof (exp_pos d) as Pd.
  assert (D : (1 - d) * exp d <= 1).
  { assert (X : (1 + - d) * exp d <= exp (- d) * exp d) by (apply Rmult_le_compat_r; lra).
    rewrite <- exp_plus in X. replace (- d + d) with 0 in X by ring. rewrite exp_0 in X. lra. }
  assert (Hd : 0 <= d) by (unfold d; lra).
  assert (A : (1 - s) * exp d <= 1 - t).
  { destruct (Rle_lt_dec t 1) as [T|T].
    - apply Rle_trans with ((1 - t) * ((1 - d) * exp d)).
      + replace ((1 - t) * ((1 - d) * exp d)) with ((1 - t) * (1 - d) * exp d) by ring.
        apply Rmult_le_compat_r; [lra|]. unfold d in *. nra.
      + replace (1 - t) with ((1 - t) * 1) at 2 by ring. apply Rmult_le_compat_l; lra.
    - assert (X : 1 <= exp d) by (pose proof (exp_ineq1_le d); lra).
      assert ((1 - s) * exp d <= (1 - s) * 1) by nra. lra. }
  assert (B : exp t * ((1 - s) * exp d) <= exp t * (1 - t)) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Lemma psi_order_falls : forall a s t, 1 <= a -> s <= t -> t <= 0 -> psi_order a t <= psi_order a s.
Proof.
  intros a s t Ha H K. unfold psi_order. pose proof (bernoulli a (- (t - s)) Ha) as B.
  set (y := exp (- (t - s))) in *. set (z := exp (a * - (t - s))) in *.
  replace (exp s) with (exp t * y) by (unfold y; rewrite <- exp_plus; f_equal; ring).
  replace (exp (a * s)) with (exp (a * t) * z) by (unfold z; rewrite <- exp_plus; f_equal; ring).
  assert (T : exp (a * t) <= exp t) by (apply Rle_exp; nra).
  assert (Y : y <= 1) by (unfold y; rewrite <- exp_0; apply Rle_exp; lra).
  pose proof (exp_pos (a * t)) as P.
  assert (A : exp (a * t) * (1 - z) <= exp (a * t) * (a * (1 - y))) by (apply Rmult_le_compat_l; lra).
  assert (C : exp (a * t) * (a * (1 - y)) <= exp t * (a * (1 - y))).
  { apply Rmult_le_compat_r; [|assumption]. apply Rmult_le_pos; lra. }
  lra.
Qed.

Lemma psi_order_rises : forall a t s, 1 <= a -> 0 <= t -> t <= s -> psi_order a t <= psi_order a s.
Proof.
  intros a t s Ha H K. unfold psi_order. pose proof (bernoulli a (s - t) Ha) as B.
  set (y := exp (s - t)) in *. set (z := exp (a * (s - t))) in *.
  replace (exp s) with (exp t * y) by (unfold y; rewrite <- exp_plus; f_equal; ring).
  replace (exp (a * s)) with (exp (a * t) * z) by (unfold z; rewrite <- exp_plus; f_equal; ring).
  assert (T : exp t <= exp (a * t)) by (apply Rle_exp; nra).
  assert (Y : 1 <= y) by (unfold y; rewrite <- exp_0; apply Rle_exp; lra).
  pose proof (exp_pos t) as P.
  assert (A : exp (a * t) * (a * (y - 1)) <= exp (a * t) * (z - 1)).
  { apply Rmult_le_compat_l; lra. }
  assert (C : exp t * (a * (y - 1)) <= exp (a * t) * (a * (y - 1))).
  { apply Rmult_le_compat_r; [|assumption]. apply Rmult_le_pos; lra. }
  lra.
Qed.

(** x·exp x is at least -exp(-1); it falls up to x = -1. *)
Lemma entropy_low : forall x, - exp (- 1) <= x * exp x.
Proof.
  intro x. pose proof (exp_ineq1_le (- 1 - x)) as E. pose proof (exp_pos x) as P.
  assert (A : - x * exp x <= exp (- 1 - x) * exp x) by (apply Rmult_le_compat_r; lra).
  rewrite <- exp_plus in A. replace (- 1 - x + x) with (- 1) in A by ring. lra.
Qed.

Lemma entropy_falls : forall x y, x <= y -> y <= - 1 -> y * exp y <= x * exp x.
Proof.
  intros x y H K. pose proof (exp_pos x) as P. pose proof (exp_ineq1_le (y - x)) as E.
  replace (exp y) with (exp x * exp (y - x)) by (rewrite <- exp_plus; f_equal; ring).
  assert (A : y * exp (y - x) <= x).
  { assert (y * exp (y - x) <= y * (1 + (y - x))) by nra. nra. }
  assert (exp x * (y * exp (y - x)) <= exp x * x) by (apply Rmult_le_compat_l; lra). lra.
Qed.

(** * Orders *)

Lemma power_term_nonneg : forall a pq, 0 <= power_term a pq.
Proof.
  intros a [p q]. unfold power_term. destruct (Req_EM_T p 0); [lra|].
  left. apply Rmult_lt_0_compat; apply exp_pos.
Qed.

(** Between two orders the logarithm of the moment is below a line. *)
Lemma power_term_between : forall w a b s t pq, 0 <= w <= 1 ->
  power_term ((1 - w) * a + w * b) pq <=
  exp ((1 - w) * s + w * t) * ((1 - w) * (power_term a pq * exp (- s)) + w * (power_term b pq * exp (- t))).
Proof.
  intros w a b s t [p q] H. unfold power_term. destruct (Req_EM_T p 0); [right; ring|].
  unfold Rpower. set (x := ln p). set (y := ln q). rewrite <- !exp_plus.
  pose proof (exp_convex w (a * x + (1 - a) * y + - s) (b * x + (1 - b) * y + - t) H) as C.
  pose proof (exp_pos ((1 - w) * s + w * t)) as P.
  eapply Rle_trans; [|apply Rmult_le_compat_l; [lra | exact C]].
  rewrite <- exp_plus. right. f_equal. ring.
Qed.

Lemma moment_between : forall w a b s t l, 0 <= w <= 1 -> moment a l <= exp s -> moment b l <= exp t ->
  moment ((1 - w) * a + w * b) l <= exp ((1 - w) * s + w * t).
Proof.
  intros w a b s t l H A B. unfold moment.
  eapply Rle_trans; [apply total_le; intros pq _; apply (power_term_between w a b s t pq H)|].
  rewrite total_scale, total_plus, !total_scale.
  assert (X : total (fun pq => power_term a pq * exp (- s)) l = moment a l * exp (- s)).
  { unfold moment. rewrite Rmult_comm, <- total_scale. apply total_ext. intros; ring. }
  assert (Y : total (fun pq => power_term b pq * exp (- t)) l = moment b l * exp (- t)).
  { unfold moment. rewrite Rmult_comm, <- total_scale. apply total_ext. intros; ring. }
  rewrite X, Y.
  assert (X' : moment a l * exp (- s) <= 1).
  { apply Rle_trans with (exp s * exp (- s)); [apply Rmult_le_compat_r; [left; apply exp_pos | assumption]|].
    rewrite <- exp_plus, Rplus_opp_r, exp_0. lra. }
  assert (Y' : moment b l * exp (- t) <= 1).
  { apply Rle_trans with (exp t * exp (- t)); [apply Rmult_le_compat_r; [left; apply exp_pos | assumption]|].
    rewrite <- exp_plus, Rplus_opp_r, exp_0. lra. }
  pose proof (exp_pos ((1 - w) * s + w * t)) as P.
  rewrite <- (Rmult_1_r (exp ((1 - w) * s + w * t))) at 2. apply Rmult_le_compat_l; [lra|]. nra.
Qed.

Lemma moment_on_line : forall a b c s t u l, a < b -> a <= c <= b -> moment a l <= exp s -> moment b l <= exp t ->
  s + (t - s) / (b - a) * (c - a) <= u -> moment c l <= exp u.
Proof.
  intros a b c s t u l H C A B K. set (w := (c - a) / (b - a)).
  assert (W : 0 <= w <= 1).
  { unfold w. split.
    - apply Rmult_le_pos; [lra|]. left. apply Rinv_0_lt_compat. lra.
    - apply div_at_most; lra. }
  pose proof (moment_between w a b s t l W A B) as M.
  replace ((1 - w) * a + w * b) with c in M by (unfold w; field; lra).
  eapply Rle_trans; [exact M|]. apply Rle_exp.
  replace ((1 - w) * s + w * t) with (s + (t - s) / (b - a) * (c - a)) by (unfold w; field; lra). assumption.
Qed.

(** The moment of order 1. *)
Lemma moment_1 : forall l, distributions l -> dominated l -> moment 1 l <= exp 0.
Proof.
  intros l [N [P _]] D. rewrite exp_0. apply Rle_trans with (total fst l); [|lra]. unfold moment. apply total_le.
  intros [p q] I. unfold power_term. destruct (Req_EM_T p 0) as [->|E]; [simpl; lra|].
  destruct (N p q I) as [Hp Hq].
  unfold Rpower. replace ((1 - 1) * ln q) with 0 by ring. rewrite exp_0, Rmult_1_l, exp_ln by lra. simpl. lra.
Qed.

(** All ratios are at most exp(m): then the moment of order a is at most exp((a - 1)·m). *)
Lemma moment_of_largest : forall a m l, 1 <= a -> distributions l -> dominated l ->
  (forall p q, In (p, q) l -> 0 < p -> ln (p / q) <= m) -> moment a l <= exp ((a - 1) * m).
Proof.
  intros a m l Ha [N [P _]] D L. unfold moment.
  apply Rle_trans with (total (fun pq => exp ((a - 1) * m) * fst pq) l).
  - apply total_le. intros [p q] I. unfold power_term. cbn [fst].
    destruct (N p q I) as [Hp Hq].
    destruct (Req_EM_T p 0) as [->|E]; [right; ring|].
    assert (Pp : 0 < p) by lra. assert (Pq : 0 < q).
    { destruct (Req_dec q 0) as [Z|Z]; [|lra]. exfalso. apply E. exact (D p q I Z). }
    specialize (L p q I Pp). unfold Rdiv in L. rewrite ln_mult, ln_Rinv in L by (try apply Rinv_0_lt_compat; assumption).
    assert (A : (a - 1) * (ln p + - ln q) <= (a - 1) * m) by (apply Rmult_le_compat_l; lra).
    unfold Rpower. rewrite <- exp_plus.
    replace (a * ln p + (1 - a) * ln q) with ((a - 1) * (ln p + - ln q) + ln p) by ring.
    rewrite exp_plus, (exp_ln p) by assumption. apply Rmult_le_compat_r; [assumption|]. now apply Rle_exp.
  - rewrite total_scale. change (total (fun pq : R * R => fst pq) l) with (total fst l). rewrite P. lra.
Qed.

Lemma moment_pos : forall a l, distributions l -> 0 < moment a l.
Proof.
  intros a l [N [P _]]. unfold moment.
  assert (G : total (power_term a) l = 0 -> total fst l = 0).
  { clear P. induction l as [|[p q] l IH]; intro Z; [reflexivity|]. cbn [total] in *.
    pose proof (power_term_nonneg a (p, q)) as A.
    assert (B : 0 <= total (power_term a) l) by (apply total_nonneg; intros; apply power_term_nonneg).
    rewrite IH by (try (intros; apply N; right; assumption); lra).
    assert (Z' : power_term a (p, q) = 0) by lra. unfold power_term in Z'. simpl fst.
    destruct (Req_EM_T p 0) as [->|E]; [lra|]. exfalso.
    assert (0 < Rpower p a * Rpower q (1 - a)) by (apply Rmult_lt_0_compat; apply exp_pos). lra. }
  assert (B : 0 <= total (power_term a) l) by (apply total_nonneg; intros; apply power_term_nonneg).
  destruct B as [B|B]; [assumption|]. rewrite G in P by auto. lra.
Qed.

Lemma zcdp_of_moments : forall rho l, distributions l -> dominated l ->
  (forall a, 1 < a -> moment a l <= exp (rho * a * (a - 1))) -> zcdp_at_most rho l.
Proof.
  intros rho l H D M. split; [assumption|]. intros a Ha. unfold renyi.
  apply div_at_most; [lra|]. apply ln_to_exp; [now apply moment_pos | auto].
Qed.

(** * The divergences as sums of terms that are at least 0 *)

Definition kl_part (pq : R * R) : R := kl_term pq - fst pq + snd pq.
Definition power_part (a : R) (pq : R * R) : R := power_term a pq - a * fst pq + (a - 1) * snd pq.

Lemma total_minus (A : Type) (f g : A -> R) l : total (fun x => f x - g x) l = total f l - total g l.
Proof. induction l as [|x l IH]; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma kl_by_parts : forall l, distributions l -> kl l = total kl_part l.
Proof.
  intros l [_ [P Q]]. unfold kl, kl_part. rewrite total_plus, total_minus.
  change (total (fun x : R * R => fst x) l) with (total fst l).
  change (total (fun x : R * R => snd x) l) with (total snd l). rewrite P, Q.
  change (total (fun x : R * R => kl_term x) l) with (total kl_term l). ring.
Qed.

Lemma moment_by_parts : forall a l, distributions l -> moment a l = 1 + total (power_part a) l.
Proof.
  intros a l [_ [P Q]]. unfold moment, power_part. rewrite total_plus, total_minus, !total_scale.
  change (total (fun x : R * R => fst x) l) with (total fst l).
  change (total (fun x : R * R => snd x) l) with (total snd l). rewrite P, Q.
  change (total (fun x : R * R => power_term a x) l) with (total (power_term a) l). ring.
Qed.
