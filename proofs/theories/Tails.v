(** Geometric noise inside of clamp is what its name says: sums over all of its values.

    [clamped] gives to an end what falls beyond it. Here is the theorem that this is an infinite sum of the
    probabilities of the noise, and that the probabilities of all values between the ends and at them sum to 1. *)

From Coq Require Import Reals ZArith List Lra Lia.
From Paramverify Require Import Expressions Sums Programs Values.
Import ListNotations.
Local Open Scope R_scope.

Lemma scaled_series (c x : R) : Rabs x < 1 -> infinite_sum (fun n => c * x ^ n) (c * / (1 - x)).
Proof.
  intros Hx. pose proof (GP_infinite x Hx) as G. unfold Pser in G. intros e He.
  destruct (G (e / (Rabs c + 1))) as [N HN].
  { apply Rdiv_lt_0_compat; [exact He|]. pose proof (Rabs_pos c). lra. }
  exists N. intros n Hn. specialize (HN n Hn). unfold R_dist in *.
  replace (sum_f_R0 (fun k => c * x ^ k) n) with (c * sum_f_R0 (fun k => 1 * x ^ k) n)
    by (rewrite scal_sum; apply sum_eq; intros i _; ring).
  rewrite <- Rmult_minus_distr_l, Rabs_mult. pose proof (Rabs_pos c).
  apply Rle_lt_trans with ((Rabs c + 1) * Rabs (sum_f_R0 (fun k => 1 * x ^ k) n - / (1 - x))).
  - apply Rmult_le_compat_r; [apply Rabs_pos | lra].
  - apply Rmult_lt_reg_r with (/ (Rabs c + 1)); [apply Rinv_0_lt_compat; lra|].
    replace ((Rabs c + 1) * Rabs (sum_f_R0 (fun k => 1 * x ^ k) n - / (1 - x)) * / (Rabs c + 1))
      with (Rabs (sum_f_R0 (fun k => 1 * x ^ k) n - / (1 - x))) by (field; lra). exact HN.
Qed.

Lemma series_ext (f g : nat -> R) l : (forall n, f n = g n) -> infinite_sum f l -> infinite_sum g l.
Proof.
  intros E H e He. destruct (H e He) as [N HN]. exists N. intros n Hn.
  rewrite <- (sum_eq f g) by (intros i _; apply E). apply HN. exact Hn.
Qed.

Section Tails.
Variable p : point.
Variable a : expression.
Hypothesis ratio : 0 < value p a < 1.

(** Noise of d or more: the sum of the probabilities of d, d + 1, d + 2, ... *)
Theorem geometric_tail d : (0 <= d)%Z ->
  infinite_sum (fun n => value p (exactly_geometric a (d + Z.of_nat n))) (value p (at_least_geometric a d)).
Proof.
  intros Hd. unfold at_least_geometric. replace (0 <=? d)%Z with true by (symmetry; apply Z.leb_le; exact Hd).
  cbn [value]. set (x := value p a) in *.
  replace (x ^ Z.to_nat d / (1 + x)) with ((1 - x) * x ^ Z.to_nat d / (1 + x) * / (1 - x)) by (field; lra).
  apply (series_ext (fun n => (1 - x) * x ^ Z.to_nat d / (1 + x) * x ^ n)).
  - intros n. unfold exactly_geometric; cbn [value]. fold x.
    replace (Z.abs_nat (d + Z.of_nat n)) with (Z.to_nat d + n)%nat by lia. rewrite pow_add. field. lra.
  - apply scaled_series. rewrite Rabs_right; lra.
Qed.

(** The noise is as likely to be k as to be -k; so this says the same of numbers below 0. *)
Theorem geometric_step d :
  value p (at_least_geometric a d) = value p (exactly_geometric a d) + value p (at_least_geometric a (d + 1)).
Proof.
  unfold at_least_geometric, exactly_geometric. set (x := value p a) in *.
  destruct (Z.leb_spec 0 d) as [L|L].
  - replace (0 <=? d + 1)%Z with true by (symmetry; apply Z.leb_le; lia). cbn [value]. fold x.
    replace (Z.abs_nat d) with (Z.to_nat d) by lia. replace (Z.to_nat (d + 1)) with (S (Z.to_nat d)) by lia.
    simpl. field. lra.
  - destruct (Z.leb_spec 0 (d + 1)) as [M|M]; cbn [value]; fold x.
    + replace d with (-1)%Z by lia. simpl. field. lra.
    + replace (Z.abs_nat d) with (Z.to_nat (1 - (d + 1))) by lia.
      replace (Z.to_nat (1 - d)) with (S (Z.to_nat (1 - (d + 1)))) by lia. simpl. field. lra.
Qed.

Theorem one_sided_tail d : (0 <= d)%Z ->
  infinite_sum (fun n => value p (exactly_one_sided a (d + Z.of_nat n))) (value p (at_least_one_sided a d)).
Proof.
  intros Hd. unfold at_least_one_sided. replace (0 <=? d)%Z with true by (symmetry; apply Z.leb_le; exact Hd).
  cbn [value]. set (x := value p a) in *.
  replace (x ^ Z.to_nat d) with ((1 - x) * x ^ Z.to_nat d * / (1 - x)) by (field; lra).
  apply (series_ext (fun n => (1 - x) * x ^ Z.to_nat d * x ^ n)).
  - intros n. unfold exactly_one_sided. replace (0 <=? d + Z.of_nat n)%Z with true by (symmetry; apply Z.leb_le; lia).
    cbn [value]. fold x. replace (Z.to_nat (d + Z.of_nat n)) with (Z.to_nat d + n)%nat by lia. rewrite pow_add. ring.
  - apply scaled_series. rewrite Rabs_right; lra.
Qed.

Theorem one_sided_step d :
  value p (at_least_one_sided a d) = value p (exactly_one_sided a d) + value p (at_least_one_sided a (d + 1)).
Proof.
  unfold at_least_one_sided, exactly_one_sided. set (x := value p a) in *. destruct (Z.leb_spec 0 d) as [L|L].
  - replace (0 <=? d + 1)%Z with true by (symmetry; apply Z.leb_le; lia). cbn [value]. fold x.
    replace (Z.to_nat (d + 1)) with (S (Z.to_nat d)) by lia. simpl. ring.
  - destruct (Z.leb_spec 0 (d + 1)) as [M|M]; cbn [value]; fold x; [|ring].
    replace (d + 1)%Z with 0%Z by lia. simpl. ring.
Qed.

End Tails.

(** Where each value has what is left by the larger ones, all ways together have the probability 1. *)
Theorem clamped_whole p (at_least exactly : Z -> expression) x low high :
  (forall d, value p (at_least d) = value p (exactly d) + value p (at_least (d + 1))%Z) ->
  (low <= high)%Z -> total (fun way => value p (fst way)) (clamped at_least exactly x low high) = 1.
Proof.
  intros step H. unfold clamped. replace (high <? low)%Z with false by (symmetry; apply Z.ltb_ge; exact H).
  destruct (Z.eqb_spec low high) as [->|n]; [unfold always; simpl; lra|].
  cbn [total fst value]. rewrite total_app, total_map. cbn [total fst].
  assert (G : forall count from, total (fun k => value p (fst (exactly (low + Z.of_nat k - x)%Z, Number (low + Z.of_nat k))))
      (seq from count) + value p (at_least (low + Z.of_nat (from + count) - x)%Z)
      = value p (at_least (low + Z.of_nat from - x)%Z)).
  { induction count as [|count IH]; intros from; simpl.
    - rewrite Nat.add_0_r. lra.
    - rewrite (step (low + Z.of_nat from - x)%Z). specialize (IH (S from)).
      replace (low + Z.of_nat from - x + 1)%Z with (low + Z.of_nat (S from) - x)%Z by lia.
      rewrite <- IH. replace (from + S count)%nat with (S from + count)%nat by lia. simpl. ring. }
  specialize (G (Z.to_nat (high - low - 1)) 1%nat).
  replace (low + Z.of_nat (1 + Z.to_nat (high - low - 1)) - x)%Z with (high - x)%Z in G by lia.
  replace (low + Z.of_nat 1 - x)%Z with (low + 1 - x)%Z in G by lia. cbn [fst] in G |- *. cbn [value]. lra.
Qed.
