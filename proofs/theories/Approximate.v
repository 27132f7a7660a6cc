(** (epsilon, delta) privacy from one sum for each pair of secrets.

    Of all sets of outputs, the one with the outputs that are more than c times as likely is the worst. So the claim
    about all sets is one about a sum of positive parts, and `Sets.v` has a checker of such sums. *)

From Coq Require Import Reals ZArith List Lra.
From Paramverify Require Import Expressions Sums Programs Privacy.
Import ListNotations.
Local Open Scope R_scope.

(** Of all sets the one with the positive terms is the worst; nothing is divided in the terms. *)
Lemma worst_set {A} (P Q : A -> R) (m n c d : R) (set : A -> bool) l : 0 < m -> 0 < n ->
  total (fun y => Rmax 0 (P y * n - c * (Q y * m))) l <= d * (m * n) ->
  total (fun y => if set y then P y else 0) l / m <= c * (total (fun y => if set y then Q y else 0) l / n) + d.
Proof.
  intros Hm Hn H.
  set (U := total (fun y => if set y then P y else 0) l). set (V := total (fun y => if set y then Q y else 0) l).
  assert (L : n * U - c * m * V <= d * (m * n)).
  { eapply Rle_trans; [|exact H]. unfold U, V.
    replace (n * total (fun y => if set y then P y else 0) l - c * m * total (fun y => if set y then Q y else 0) l)
      with (n * total (fun y => if set y then P y else 0) l
            + - (c * m) * total (fun y => if set y then Q y else 0) l) by ring.
    rewrite <- !total_scale, <- total_plus. apply total_le. intros y _.
    pose proof (Rmax_l 0 (P y * n - c * (Q y * m))). pose proof (Rmax_r 0 (P y * n - c * (Q y * m))).
    destruct (set y); lra. }
  apply (Rmult_le_reg_r (m * n)); [apply Rmult_lt_0_compat; assumption|].
  replace (U / m * (m * n)) with (n * U) by (field; lra).
  replace ((c * (V / n) + d) * (m * n)) with (c * m * V + d * (m * n)) by (field; lra). lra.
Qed.

Section Approximate.
Variable p : point.
Variable prior : distribution world.
Variable mechanism : world -> distribution output.

(** Nothing else is put out where the secret is true. *)
Definition covers (ys : list output) (s : secret) : Prop :=
  forall w x, In (w, x) prior -> s x = true -> forall v y, In (v, y) (mechanism x) -> In y ys.

(** What outputs are more likely under s than c times under t, in all: each probability is multiplied by that of the
    other secret, so that nothing is divided. *)
Definition too_likely (c : R) (ys : list output) (s t : secret) : R :=
  total (fun y => Rmax 0 (chance_with p prior mechanism s y * chance p prior t
                          - c * (chance_with p prior mechanism t y * chance p prior s))) ys.

Lemma conditional_in_sum ys s set : NoDup ys -> covers ys s ->
  conditional_in p prior mechanism s set
    = total (fun y => if set y then chance_with p prior mechanism s y else 0) ys / chance p prior s.
Proof.
  intros Hys Hall. unfold conditional_in. f_equal. unfold chance_with.
  rewrite (total_ext (fun y => if set y then _ else 0)
    (fun y => total (fun way => if s (snd way)
       then value p (fst way) * (if set y then probability p (mechanism (snd way)) (same y) else 0) else 0) prior)).
  2:{ intros y _. destruct (set y); [reflexivity|]. symmetry. apply total_zero. intros way _.
      destruct (s (snd way)); lra. }
  rewrite total_swap. apply total_ext. intros [w x] Hin. simpl. destruct (s x) eqn:E.
  - rewrite total_scale. f_equal. apply probability_of_set; [exact Hys|]. intros v y. exact (Hall w x Hin E v y).
  - symmetry. apply total_zero. reflexivity.
Qed.

Lemma one_side c d ys s t set : NoDup ys -> covers ys s -> covers ys t -> 0 < chance p prior s -> 0 < chance p prior t ->
  too_likely c ys s t <= d * (chance p prior s * chance p prior t) ->
  conditional_in p prior mechanism s set <= c * conditional_in p prior mechanism t set + d.
Proof.
  intros Hys Hs Ht Ps Pt H. rewrite !(conditional_in_sum ys) by assumption. apply worst_set; assumption.
Qed.

Theorem claims_imply_approximate c d ys pairs : NoDup ys ->
  (forall s t, In (s, t) pairs -> 0 < chance p prior s -> 0 < chance p prior t ->
     covers ys s /\ covers ys t /\
     too_likely c ys s t <= d * (chance p prior s * chance p prior t) /\
     too_likely c ys t s <= d * (chance p prior t * chance p prior s)) ->
  approximate_pufferfish p prior mechanism c d pairs.
Proof.
  intros Hys H s t Hin Hs Ht set. destruct (H s t Hin Hs Ht) as (Cs & Ct & H1 & H2).
  split; eapply one_side; eauto.
Qed.

(** The sums are not too large: where a mechanism is private, they are as the claims say. *)
Theorem approximate_implies_claims c d ys pairs : NoDup ys ->
  approximate_pufferfish p prior mechanism c d pairs ->
  forall s t, In (s, t) pairs -> covers ys s -> covers ys t -> 0 < chance p prior s -> 0 < chance p prior t ->
  too_likely c ys s t <= d * (chance p prior s * chance p prior t).
Proof.
  intros Hys H s t Hin Cs Ct Hs Ht. unfold too_likely.
  set (gap := fun y => chance_with p prior mechanism s y * chance p prior t
                       - c * (chance_with p prior mechanism t y * chance p prior s)).
  pose (worst := fun y => if Rlt_dec 0 (gap y) then true else false).
  destruct (H s t Hin Hs Ht worst) as [W _]. rewrite !(conditional_in_sum ys) in W by assumption.
  set (m := chance p prior s) in *. set (n := chance p prior t) in *.
  rewrite (total_ext _ (fun y => n * (if worst y then chance_with p prior mechanism s y else 0)
                         + - (c * m) * (if worst y then chance_with p prior mechanism t y else 0))).
  - rewrite total_plus, !total_scale.
    set (A := total (fun y => if worst y then chance_with p prior mechanism s y else 0) ys) in *.
    set (B := total (fun y => if worst y then chance_with p prior mechanism t y else 0) ys) in *.
    apply (Rmult_le_compat_r (m * n)) in W; [|apply Rlt_le, Rmult_lt_0_compat; assumption].
    replace (A / m * (m * n)) with (n * A) in W by (field; lra).
    replace ((c * (B / n) + d) * (m * n)) with (c * m * B + d * (m * n)) in W by (field; lra). lra.
  - intros y _. change (chance_with p prior mechanism s y * n - c * (chance_with p prior mechanism t y * m)) with (gap y).
    unfold worst. destruct (Rlt_dec 0 (gap y)) as [G|G].
    + rewrite Rmax_right by lra. unfold gap. ring.
    + rewrite Rmax_left by lra. ring.
Qed.

End Approximate.
