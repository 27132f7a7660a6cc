(* Bounds of exp by partial sums of its series, and of ln by partial sums of that of ln(1/(1 - v)). *)
From Coq Require Import Reals Lra Lia Arith.
From Paramverify Require Import Semantics.
Open Scope R_scope.

Definition eterm (q : R) (i : nat) : R := q ^ i / INR (fact i).

Fixpoint esum (q : R) (n : nat) : R := match n with O => 0 | S k => esum q k + eterm q k end.

Lemma eterm_pos : forall q i, 0 <= q -> 0 <= eterm q i.
Proof.
  intros q i H. unfold eterm, Rdiv. apply Rmult_le_pos; [apply pow_le; assumption|].
  left. apply Rinv_0_lt_compat, INR_fact_lt_0.
Qed.

Lemma eterm_S : forall q i, eterm q (S i) = eterm q i * (q / INR (S i)).
Proof.
  intros q i. unfold eterm. rewrite fact_simpl, mult_INR, <- tech_pow_Rmult.
  pose proof (INR_fact_neq_0 i). assert (INR (S i) <> 0) by (apply not_0_INR; discriminate).
  field. split; assumption.
Qed.

Lemma esum_series : forall q n, esum q (S n) = sum_f_R0 (fun i => / INR (fact i) * q ^ i) n.
Proof.
  intros q n. induction n as [|n IH].
  - simpl. unfold eterm. simpl. field.
  - change (esum q (S (S n))) with (esum q (S n) + eterm q (S n)). rewrite IH, tech5.
    f_equal. unfold eterm, Rdiv. ring.
Qed.

Lemma esum_cv : forall q, Un_cv (fun n => esum q (S n)) (exp q).
Proof.
  intro q. unfold exp. destruct (exist_exp q) as [l H]. simpl proj1_sig.
  intros eps He. destruct (H eps He) as [N HN]. exists N. intros n Hn.
  rewrite esum_series. apply HN. assumption.
Qed.

Lemma esum_low : forall q n, 0 <= q -> esum q n <= exp q.
Proof.
  intros q n H.
  assert (G : Un_growing (fun k => esum q (S k))).
  { intro k. change (esum q (S (S k))) with (esum q (S k) + eterm q (S k)).
    pose proof (eterm_pos q (S k) H). lra. }
  pose proof (growing_ineq _ _ G (esum_cv q) n) as L. simpl in L.
  pose proof (eterm_pos q n H). lra.
Qed.

Lemma cv_at_most : forall u l c, Un_cv u l -> (exists N, forall n, (N <= n)%nat -> u n <= c) -> l <= c.
Proof.
  intros u l c H [M HM]. destruct (Rle_lt_dec l c) as [|L]; [assumption|].
  destruct (H (l - c)) as [N HN]; [lra|].
  pose proof (HN (max M N) (Nat.le_max_r _ _)) as D. pose proof (HM (max M N) (Nat.le_max_l _ _)).
  unfold R_dist in D. apply Rabs_def2 in D. lra.
Qed.

(* The rest from the term n on is below a geometric series where q < n + 1. *)
Lemma esum_high : forall q n b, 0 <= q -> 0 < b -> b * (INR (S n) - q) >= INR (S n) ->
  exp q <= esum q n + eterm q n * b.
Proof.
  intros q n b Hq Hb Hg.
  assert (Hn : 0 < INR (S n)) by (apply lt_0_INR; lia).
  assert (Step : forall d, esum q (n + d) + eterm q (n + d) * b <= esum q n + eterm q n * b).
  { induction d as [|d IH]; [rewrite Nat.add_0_r; lra|].
    rewrite Nat.add_succ_r.
    change (esum q (S (n + d))) with (esum q (n + d) + eterm q (n + d)). rewrite eterm_S.
    pose proof (eterm_pos q (n + d) Hq) as Hp.
    assert (Hk : INR (S n) <= INR (S (n + d))) by (apply le_INR; lia).
    assert (Hs : 0 < INR (S (n + d))) by (apply lt_0_INR; lia).
    assert (A : 1 + q / INR (S (n + d)) * b <= b).
    { apply Rmult_le_reg_r with (INR (S (n + d))); [assumption|].
      replace ((1 + q / INR (S (n + d)) * b) * INR (S (n + d))) with (INR (S (n + d)) + q * b)
        by (field; lra).
      assert (1 <= b).
      { apply Rmult_le_reg_r with (INR (S n)); [assumption|].
        assert (0 <= b * q) by (apply Rmult_le_pos; lra). nra. }
      assert ((b - 1) * INR (S n) <= (b - 1) * INR (S (n + d))) by (apply Rmult_le_compat_l; lra).
      nra. }
    assert (eterm q (n + d) * (1 + q / INR (S (n + d)) * b) <= eterm q (n + d) * b)
      by (apply Rmult_le_compat_l; assumption).
    nra. }
  apply cv_at_most with (fun k => esum q (S k)); [apply esum_cv|].
  exists n. intros k Hk. replace (S k) with (n + (S k - n))%nat by lia.
  pose proof (Step (S k - n)%nat) as H. pose proof (eterm_pos q (n + (S k - n)) Hq).
  assert (0 <= eterm q (n + (S k - n)) * b) by (apply Rmult_le_pos; lra). lra.
Qed.

(* --- ln(1/(1 - v)) = v + v²/2 + v³/3 + ... --------------------------------------------------------- *)

Fixpoint lsum (v : R) (n : nat) : R := match n with O => 0 | S k => lsum v k + v ^ S k / INR (S k) end.

Fixpoint gsum (v : R) (n : nat) : R := match n with O => 0 | S k => gsum v k + v ^ k end.

Lemma gsum_closed : forall v n, gsum v n * (1 - v) = 1 - v ^ n.
Proof.
  intros v n. induction n as [|n IH]; simpl; [ring|].
  rewrite Rmult_plus_distr_r, IH. ring.
Qed.

Lemma lsum_derivative : forall n v, derivable_pt_lim (fun t => lsum t n) v (gsum v n).
Proof.
  induction n as [|n IH]; intro v.
  - simpl. apply derivable_pt_lim_const.
  - change (gsum v (S n)) with (gsum v n + v ^ n).
    apply (derivable_pt_lim_plus (fun t => lsum t n) (fun t => t ^ S n / INR (S n))); [apply IH|].
    assert (Hn : INR (S n) <> 0) by (apply not_0_INR; discriminate).
    replace (v ^ n) with (/ INR (S n) * (INR (S n) * v ^ pred (S n))) by (simpl pred; field; assumption).
    assert (E : forall t, (mult_real_fct (/ INR (S n)) (fun t => t ^ S n)) t = t ^ S n / INR (S n)).
    { intro t. unfold mult_real_fct, Rdiv. ring. }
    intros eps He.
    destruct (derivable_pt_lim_scal (fun t => t ^ S n) (/ INR (S n)) v (INR (S n) * v ^ pred (S n))
                (derivable_pt_lim_pow v (S n)) eps He) as [d Hd].
    exists d. intros h Hh Hhd. rewrite <- !E. apply Hd; assumption.
Qed.

Lemma lsum_0 : forall n, lsum 0 n = 0.
Proof.
  induction n as [|n IH]; [reflexivity|]. change (lsum 0 (S n)) with (lsum 0 n + 0 ^ S n / INR (S n)).
  rewrite IH, pow_i by lia. unfold Rdiv. ring.
Qed.

Lemma ln_derivative : forall v, v < 1 -> derivable_pt_lim (fun t => ln (1 - t)) v (- / (1 - v)).
Proof.
  intros v H. replace (- / (1 - v)) with (/ (1 - v) * (0 - 1)) by ring.
  apply (derivable_pt_lim_comp (fun t => 1 - t) ln v (0 - 1) (/ (1 - v))).
  - apply (derivable_pt_lim_minus (fun _ => 1) (fun t => t) v 0 1);
      [apply derivable_pt_lim_const | apply derivable_pt_lim_id].
  - apply derivable_pt_lim_ln. lra.
Qed.

Lemma rises_from_0 : forall h h' v, 0 <= v -> h 0 = 0 ->
  (forall c, 0 <= c <= v -> derivable_pt_lim h c (h' c)) -> (forall c, 0 <= c <= v -> 0 <= h' c) -> 0 <= h v.
Proof.
  intros h h' v Hv H0 Hd Hp. destruct (Req_dec v 0) as [E|N]; [subst; rewrite H0; lra|].
  destruct (MVT_cor2 h h' 0 v) as (c & E & Hc); [lra | assumption |].
  assert (0 <= h' c) by (apply Hp; lra). assert (0 <= h' c * (v - 0)) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma lsum_low : forall n v, 0 <= v < 1 -> lsum v n <= - ln (1 - v).
Proof.
  intros n v Hv.
  cut (0 <= - ln (1 - v) - lsum v n); [lra|].
  apply (rises_from_0 (fun t => - ln (1 - t) - lsum t n) (fun c => - (- / (1 - c)) - gsum c n)).
  - lra.
  - rewrite Rminus_0_r, ln_1, lsum_0. ring.
  - intros c Hc.
    apply (derivable_pt_lim_minus (fun t => - ln (1 - t)) (fun t => lsum t n)); [|apply lsum_derivative].
    apply (derivable_pt_lim_opp (fun t => ln (1 - t))). apply ln_derivative. lra.
  - intros c Hc. pose proof (gsum_closed c n) as G.
    assert (Hi : 0 < / (1 - c)) by (apply Rinv_0_lt_compat; lra).
    assert (E : gsum c n = (1 - c ^ n) * / (1 - c)) by (rewrite <- G; field; lra).
    rewrite E. assert (0 <= c ^ n) by (apply pow_le; lra).
    replace (- - / (1 - c) - (1 - c ^ n) * / (1 - c)) with (c ^ n * / (1 - c)) by ring.
    apply Rmult_le_pos; lra.
Qed.

Lemma lsum_high : forall n v, 0 <= v < 1 -> - ln (1 - v) <= lsum v n + v ^ S n / (INR (S n) * (1 - v)).
Proof.
  intros n v Hv. assert (Hn : 0 < INR (S n)) by (apply lt_0_INR; lia).
  set (k := / (INR (S n) * (1 - v))).
  cut (0 <= lsum v n + k * v ^ S n + ln (1 - v)); [unfold Rdiv; fold k; lra|].
  apply (rises_from_0 (fun t => lsum t n + k * t ^ S n + ln (1 - t))
           (fun c => gsum c n + k * (INR (S n) * c ^ pred (S n)) + - / (1 - c))).
  - lra.
  - rewrite Rminus_0_r, ln_1, lsum_0, pow_i by lia. ring.
  - intros c Hc.
    apply (derivable_pt_lim_plus (fun t => lsum t n + k * t ^ S n) (fun t => ln (1 - t)));
      [|apply ln_derivative; lra].
    apply (derivable_pt_lim_plus (fun t => lsum t n) (fun t => k * t ^ S n)); [apply lsum_derivative|].
    apply (derivable_pt_lim_scal (fun t => t ^ S n)). apply derivable_pt_lim_pow.
  - intros c Hc. simpl pred. pose proof (gsum_closed c n) as G.
    assert (E : gsum c n = (1 - c ^ n) * / (1 - c)) by (rewrite <- G; field; lra).
    assert (E2 : k * (INR (S n) * c ^ n) = c ^ n * / (1 - v)) by (unfold k; field; lra).
    rewrite E, E2. assert (0 <= c ^ n) by (apply pow_le; lra).
    assert (/ (1 - c) <= / (1 - v)) by (apply Rinv_le_contravar; lra).
    replace ((1 - c ^ n) * / (1 - c) + c ^ n * / (1 - v) + - / (1 - c))
      with (c ^ n * (/ (1 - v) - / (1 - c))) by ring.
    apply Rmult_le_pos; lra.
Qed.

(* On [a, b] the logarithm of 1/x is between two polynomials in v = 1 - x/b. *)
Lemma ln_between : forall n a b x low high, 0 < a -> a <= x -> x <= b -> low <= - ln b -> - ln b <= high ->
  let v := 1 - x / b in
  low + lsum v n <= - ln x <= high + lsum v n + v ^ S n * b / (INR (S n) * a).
Proof.
  intros n a b x low high Ha Hx Hb Hl Hh v.
  assert (Hv : 0 <= v < 1).
  { unfold v. assert (0 < x / b) by (apply Rdiv_lt_0_compat; lra).
    assert (x / b <= 1) by (apply Rmult_le_reg_r with b; [lra|]; replace (x / b * b) with x by (field; lra); lra).
    lra. }
  assert (E : - ln x = - ln b + - ln (1 - v)).
  { unfold v. replace (1 - (1 - x / b)) with (x / b) by ring. unfold Rdiv.
    rewrite ln_mult by (try apply Rinv_0_lt_compat; lra). rewrite ln_Rinv by lra. ring. }
  pose proof (lsum_low n v Hv). pose proof (lsum_high n v Hv) as Hu.
  assert (Hn : 0 < INR (S n)) by (apply lt_0_INR; lia).
  assert (v ^ S n / (INR (S n) * (1 - v)) <= v ^ S n * b / (INR (S n) * a)).
  { unfold v at 2. replace (1 - (1 - x / b)) with (x / b) by ring.
    replace (v ^ S n / (INR (S n) * (x / b))) with ((v ^ S n * b / INR (S n)) * / x) by (field; lra).
    replace (v ^ S n * b / (INR (S n) * a)) with ((v ^ S n * b / INR (S n)) * / a) by (field; lra).
    apply Rmult_le_compat_l; [|apply Rinv_le_contravar; lra].
    unfold Rdiv. repeat apply Rmult_le_pos; try lra; [apply pow_le; lra|].
    left. apply Rinv_0_lt_compat. assumption. }
  split; lra.
Qed.

(* --- near 0 ---------------------------------------------------------------------------------------- *)

Lemma exp_times : forall n x, exp x ^ n = exp (INR n * x).
Proof.
  intros n x. induction n as [|n IH].
  - simpl. rewrite Rmult_0_l, exp_0. reflexivity.
  - rewrite <- tech_pow_Rmult, IH, <- exp_plus, S_INR. f_equal. ring.
Qed.

(* t^M·e^(-t) falls for t ≥ M. *)
Lemma pow_exp_falls : forall M t T, 0 < T -> INR M <= T -> T <= t -> t ^ M * exp (- t) <= T ^ M * exp (- T).
Proof.
  intros M t T HT HM Ht. set (y := (t - T) / T).
  assert (Hy : 0 <= y) by (apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; assumption]).
  assert (E : t = T * (1 + y)) by (unfold y; field; lra).
  assert (L : (1 + y) ^ M <= exp (t - T)).
  { apply Rle_trans with (exp y ^ M).
    - apply pow_incr. split; [lra | apply exp_ineq1_le].
    - rewrite exp_times. destruct (Req_dec (INR M * y) (t - T)) as [->|N]; [lra|].
      left. apply exp_increasing. assert (T * y = t - T) by (unfold y; field; lra).
      assert (INR M * y <= T * y) by (apply Rmult_le_compat_r; assumption). lra. }
  replace (exp (- T)) with (exp (t - T) * exp (- t)) by (rewrite <- exp_plus; f_equal; ring).
  rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [left; apply exp_pos|].
  rewrite E at 1. rewrite Rpow_mult_distr. apply Rmult_le_compat_l; [apply pow_le; lra|assumption].
Qed.

(* Near 0, x is a share of B·u^M with u = 1/ln(1/x). *)
Lemma near_zero : forall M T B x, 0 < T -> INR M <= T -> 0 < x -> T <= - ln x -> T ^ M <= B * exp T ->
  exists r, 0 <= r <= 1 /\ x = r * (B * (/ - ln x) ^ M).
Proof.
  intros M T B x HT HM Hx Ht HB. set (t := - ln x) in *.
  assert (E : x = exp (- t)) by (unfold t; rewrite Ropp_involutive, exp_ln; [reflexivity|assumption]).
  pose proof (pow_exp_falls M t T HT HM Ht) as F.
  assert (Hb : T ^ M * exp (- T) <= B).
  { apply Rmult_le_reg_r with (exp T); [apply exp_pos|].
    rewrite Rmult_assoc, <- exp_plus, Rplus_opp_l, exp_0. lra. }
  assert (Hp : 0 < t ^ M) by (apply pow_lt; lra).
  assert (Hx1 : x <= B * (/ t) ^ M).
  { apply Rmult_le_reg_r with (t ^ M); [assumption|].
    rewrite Rmult_assoc, <- Rpow_mult_distr, Rinv_l, pow1 by lra.
    rewrite E, Rmult_comm, Rmult_1_r. apply Rle_trans with (T ^ M * exp (- T)); assumption. }
  apply share_of; lra.
Qed.
