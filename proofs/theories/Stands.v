(** One pair of neighbouring inputs of noisy max stands for all others: the theorems. *)

From Coq Require Import Reals ZArith List Lra Lia Bool Arith Permutation.
From Paramverify Require Import Maxima Standing.
Import ListNotations.
Local Open Scope R_scope.

Section Stands.
Variable d : standing.

Definition best : R := IZR (best_top d) / IZR (best_bottom d).
Definition chance (x : list nat) (o : nat) : R := probability (noise d) (noise_mass d) (uniform_ties d) x o.
Definition allowed (x : list nat) : Prop := input (noise d) (answers d) x.
Definition adjacent (x y : list nat) : Prop := neighbours (one_differs d) (by_at_most d) x y.

(** * Probabilities are at least zero *)

Definition nonnegative_noise : Prop := forall row z, In row (noise d) -> In z row -> (0 <= z)%Z.

Lemma entry_nonnegative f v : nonnegative_noise -> (0 <= entry (noise d) f v)%Z.
Proof.
  intros H. unfold entry. destruct (nth_in_or_default v (nth f (noise d) []) 0%Z) as [Hz|E]; [|rewrite E; lia].
  destruct (nth_in_or_default f (noise d) []) as [Hr|E]; [apply (H _ _ Hr Hz)|]. rewrite E in Hz. destruct Hz.
Qed.

Lemma less_nonnegative f v : nonnegative_noise -> (0 <= less (noise d) f v)%Z.
Proof.
  intros H. unfold less. generalize (seq 0 v). intros l. induction l as [|u l IH]; simpl; [lia|].
  pose proof (entry_nonnegative f u H). lia.
Qed.

Lemma tied_nonnegative v l : nonnegative_noise -> forall k, 0 <= tied (noise d) v l k.
Proof.
  intros H. induction l as [|[r f] l IH]; intros k; simpl; [destruct k; lra|].
  assert (A : 0 <= IZR (losing (noise d) r f v)).
  { apply (IZR_le 0). pose proof (entry_nonnegative f v H). pose proof (less_nonnegative f v H). destruct r; simpl; lia. }
  assert (B : 0 <= IZR (equal (noise d) r f v)).
  { apply (IZR_le 0). pose proof (entry_nonnegative f v H). destruct r; simpl; lia. }
  apply Rplus_le_le_0_compat; apply Rmult_le_pos; try assumption; [apply IH|]. destruct k as [|k]; simpl; [lra | apply IH].
Qed.

Lemma sum_of_nonnegative {A} (f : A -> R) l : (forall x, 0 <= f x) -> 0 <= sum_of f l.
Proof. intros H. induction l as [|x l IH]; simpl; [lra|]. pose proof (H x). lra. Qed.

Lemma won_nonnegative own l : nonnegative_noise -> 0 <= won (noise d) own l.
Proof.
  intros H. unfold won. apply sum_of_nonnegative. intros v. apply Rmult_le_pos.
  - apply (IZR_le 0). apply entry_nonnegative. exact H.
  - apply sum_of_nonnegative. intros k. apply Rmult_le_pos; [apply tied_nonnegative; exact H|].
    left. apply Rinv_0_lt_compat. apply lt_0_INR. lia.
Qed.

Lemma mass_positive k : 0 < IZR (Zpos (noise_mass d)) ^ k.
Proof. apply pow_lt. apply IZR_lt. reflexivity. Qed.

Lemma chance_nonnegative x o : nonnegative_noise -> 0 <= chance x o.
Proof.
  intros H. unfold chance, probability. apply Rmult_le_pos; [apply won_nonnegative; exact H|].
  left. apply Rinv_0_lt_compat. apply mass_positive.
Qed.

(** * The pair *)

Lemma no_difference x y : length x = length y -> filter differing (combine x y) = [] ->
  forall i, nth i x 0%nat = nth i y 0%nat.
Proof.
  revert y. induction x as [|a x IH]; intros [|b y] L H i; simpl in *; try discriminate; [reflexivity|].
  unfold differing at 1 in H. simpl in H. destruct (Nat.eqb_spec a b) as [->|Hab]; simpl in H; [|discriminate].
  destruct i as [|i]; [reflexivity|]. apply IH; [lia | exact H].
Qed.

Lemma one_difference x y : length x = length y -> (length (filter differing (combine x y)) <= 1)%nat ->
  exists j, forall i, i <> j -> nth i x 0%nat = nth i y 0%nat.
Proof.
  revert y. induction x as [|a x IH]; intros [|b y] L H; simpl in *; try discriminate; [exists 0%nat; reflexivity|].
  unfold differing at 1 in H. simpl in H. destruct (Nat.eqb_spec a b) as [->|Hab]; simpl in H.
  - destruct (IH y) as [j Hj]; [lia | exact H|]. exists (S j). intros [|i] Hi; [reflexivity|]. apply Hj. congruence.
  - exists 0%nat. intros [|i] Hi; [congruence|]. apply no_difference; [lia|].
    destruct (filter differing (combine x y)); [reflexivity | simpl in H; lia].
Qed.

Lemma input_bool_right x : input_bool d x = true -> allowed x.
Proof.
  unfold input_bool. rewrite andb_true_iff, forallb_forall. intros [L F]. split; [apply Nat.eqb_eq; exact L|].
  apply Forall_forall. intros f Hf. apply Nat.ltb_lt. apply F. exact Hf.
Qed.

Lemma near_pairs x y : length x = length y ->
  forallb (fun fg => near_bool d (fst fg) (snd fg)) (combine x y) = true -> Forall2 (near (by_at_most d)) x y.
Proof.
  revert y. induction x as [|a x IH]; intros [|b y] L H; simpl in *; try discriminate; constructor.
  - apply andb_true_iff in H. destruct H as [H _]. unfold near_bool in H. apply andb_true_iff in H. rewrite !Nat.leb_le in H. exact H.
  - apply andb_true_iff in H. apply IH; [lia | apply H].
Qed.

Definition has_largest : Prop :=
  best = 1 \/ exists o, (o < answers d)%nat /\
    ((0 < chance (right_input d) o /\ chance (left_input d) o = best * chance (right_input d) o)
     \/ (0 < chance (left_input d) o /\ chance (right_input d) o = best * chance (left_input d) o)).

(** No neighbours have a larger ratio than [best], and the pair has it. *)
Theorem check_standing_sound : check_standing d = true ->
  allowed (left_input d) /\ allowed (right_input d) /\ adjacent (left_input d) (right_input d) /\ 1 <= best /\ has_largest /\
  forall x y, allowed x -> allowed y -> adjacent x y -> forall o, (o < answers d)%nat -> chance x o <= best * chance y o.
Proof.
  unfold check_standing. rewrite !andb_true_iff.
  intros [[[[[[[[[[Hnoise Hleft] Hright] Hnear] Hone] Hbottom] Hbest] Hshared] Hshares] Hlargest] Houtputs].
  apply input_bool_right in Hleft. apply input_bool_right in Hright. pose proof Hleft as [Ll Fl]. pose proof Hright as [Lr Fr].
  apply Z.ltb_lt in Hbottom. apply Z.leb_le in Hbest. apply Z.ltb_lt in Hshared.
  assert (Sh : forall k, (k < answers d)%nat -> (nth k (shares d) 0 * Z.of_nat (S k))%Z = shared d).
  { intros k Hk. rewrite forallb_forall in Hshares. apply Z.eqb_eq. apply Hshares. apply in_seq. lia. }
  assert (B0 : 0 < IZR (best_bottom d)) by (apply (IZR_lt 0); exact Hbottom).
  assert (C0 : 0 < IZR (shared d)) by (apply (IZR_lt 0); exact Hshared).
  assert (Hadj : adjacent (left_input d) (right_input d)).
  { split; [apply near_pairs; [congruence | exact Hnear]|]. destruct (one_differs d); [|exact I].
    apply one_difference; [congruence|]. apply Nat.leb_le. exact Hone. }
  assert (Hb1 : 1 <= best).
  { unfold best. apply Rmult_le_reg_r with (IZR (best_bottom d)); [exact B0|]. apply IZR_le in Hbest.
    replace (IZR (best_top d) / IZR (best_bottom d) * IZR (best_bottom d)) with (IZR (best_top d)) by (field; lra). lra. }
  split; [exact Hleft|]. split; [exact Hright|]. split; [exact Hadj|]. split; [exact Hb1|]. split.
  - apply orb_true_iff in Hlargest. destruct Hlargest as [E|E].
    + left. apply Z.eqb_eq in E. unfold best. rewrite E. field. rewrite <- E. lra.
    + right. apply existsb_exists in E. destruct E as [o [Ho E]]. apply in_seq in Ho. exists o. split; [lia|].
      unfold attained in E. cbv zeta in E.
      set (xy := combine (left_input d) (right_input d)) in *.
      assert (Lxy : length xy = answers d) by (unfold xy; rewrite combine_length; lia).
      destruct (map_combine (left_input d) (right_input d)) as [E1 E2]; [congruence|]. fold xy in E1, E2.
      assert (Lb : S (length (both (uniform_ties d) xy o)) = answers d) by (apply length_both; [exact Lxy | lia]).
      destruct (totals_right (noise d) (shares d) (shared d) (answers d) (nth o (left_input d) 0%nat) _ Sh Lb) as [T1 _].
      destruct (totals_right (noise d) (shares d) (shared d) (answers d) (nth o (right_input d) 0%nat) _ Sh Lb) as [_ T2].
      rewrite firsts_both, E1 in T1. rewrite seconds_both, E2 in T2.
      unfold chance, probability. rewrite Ll, Lr. pose proof (mass_positive (answers d)) as M.
      set (a := won (noise d) (nth o (left_input d) 0%nat) (others (uniform_ties d) (left_input d) o)) in *.
      set (b := won (noise d) (nth o (right_input d) 0%nat) (others (uniform_ties d) (right_input d) o)) in *.
      set (w := IZR (Zpos (noise_mass d)) ^ answers d) in *. unfold best.
      assert (Case : forall u v su sv, IZR su = IZR (shared d) * u -> IZR sv = IZR (shared d) * v -> (0 < sv)%Z ->
                (best_bottom d * su)%Z = (best_top d * sv)%Z ->
                0 < v / w /\ u / w = IZR (best_top d) / IZR (best_bottom d) * (v / w)).
      { intros u v su sv Eu Ev Hv E0. apply (f_equal IZR) in E0. rewrite !mult_IZR, Eu, Ev in E0. apply (IZR_lt 0) in Hv. rewrite Ev in Hv.
        assert (Hv' : 0 < v) by (apply Rmult_lt_reg_l with (IZR (shared d)); lra).
        assert (E3 : IZR (best_bottom d) * u = IZR (best_top d) * v) by (apply Rmult_eq_reg_l with (IZR (shared d)); lra).
        split; [apply Rdiv_lt_0_compat; assumption|].
        replace u with (IZR (best_top d) * v / IZR (best_bottom d)) by (rewrite <- E3; field; lra). field. lra. }
      apply orb_true_iff in E. destruct E as [E|E]; apply andb_true_iff in E; destruct E as [E3 E4];
        apply Z.ltb_lt in E3; apply Z.eqb_eq in E4.
      * left. exact (Case a b _ _ T1 T2 E3 E4).
      * right. exact (Case b a _ _ T2 T1 E3 E4).
  - intros x y Hx Hy Hxy o Ho.
    assert (Hout : check_output d (groups_at d o) = true).
    { destruct (uniform_ties d) eqn:U.
      - apply orb_true_iff in Houtputs. destruct Houtputs as [E|E]; [apply Nat.eqb_eq in E; lia|].
        replace (groups_at d o) with (groups_at d 0); [exact E|]. unfold groups_at. rewrite U. reflexivity.
      - rewrite forallb_forall in Houtputs. apply Houtputs. apply in_seq. lia. }
    pose proof (check_output_right d Sh Hshared x y o Hout Hx Hy Hxy Ho) as H.
    destruct Hx as [Lx _]. destruct Hy as [Ly _]. unfold chance, probability. rewrite Lx, Ly.
    pose proof (mass_positive (answers d)) as M. unfold best.
    set (a := won (noise d) (nth o x 0%nat) (others (uniform_ties d) x o)) in *.
    set (b := won (noise d) (nth o y 0%nat) (others (uniform_ties d) y o)) in *.
    set (w := IZR (Zpos (noise_mass d)) ^ answers d) in *.
    apply Rmult_le_reg_r with (w * IZR (best_bottom d)); [apply Rmult_lt_0_compat; assumption|].
    replace (a / w * (w * IZR (best_bottom d))) with (IZR (best_bottom d) * a) by (field; lra).
    replace (IZR (best_top d) / IZR (best_bottom d) * (b / w) * (w * IZR (best_bottom d))) with (IZR (best_top d) * b)
      by (field; lra).
    exact H.
Qed.

(** A bound that holds for the pair, in both directions and for all outputs, holds for all neighbours. *)
Theorem stands_for_all : check_standing d = true -> forall c, 1 <= c ->
  (forall o, (o < answers d)%nat -> chance (left_input d) o <= c * chance (right_input d) o
                                 /\ chance (right_input d) o <= c * chance (left_input d) o) ->
  forall x y, allowed x -> allowed y -> adjacent x y -> forall o, (o < answers d)%nat -> chance x o <= c * chance y o.
Proof.
  intros H c Hc Hpair x y Hx Hy Hxy o Ho.
  assert (N : nonnegative_noise).
  { unfold check_standing in H. rewrite !andb_true_iff in H. destruct H as [[[[[[[[[[Hnoise _] _] _] _] _] _] _] _] _] _].
    intros row z Hrow Hz. rewrite forallb_forall in Hnoise. specialize (Hnoise row Hrow). rewrite !andb_true_iff in Hnoise.
    destruct Hnoise as [[_ Hnoise] _]. rewrite forallb_forall in Hnoise. apply Z.leb_le. apply Hnoise. exact Hz. }
  destruct (check_standing_sound H) as [_ [_ [_ [_ [L R]]]]].
  assert (B : best <= c).
  { destruct L as [->|[k [Hk [[P E]|[P E]]]]]; [exact Hc| |]; destruct (Hpair k Hk) as [H1 H2].
    - apply Rmult_le_reg_r with (chance (right_input d) k); [exact P | lra].
    - apply Rmult_le_reg_r with (chance (left_input d) k); [exact P | lra]. }
  apply Rle_trans with (best * chance y o); [apply R; assumption|].
  apply Rmult_le_compat_r; [apply chance_nonnegative; exact N | exact B].
Qed.

End Stands.
