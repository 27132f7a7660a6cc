(** Noisy max with any table of noise, as real numbers: the probability that an answer is released grows with that
    answer, and falls where another one grows. So of all neighbours of an input one has the least probability. *)

From Coq Require Import Reals List Lra Lia Arith Permutation.
From Paramverify Require Import Maxima.
Import ListNotations.
Local Open Scope R_scope.

(** * Sums *)

Lemma sum_of_app {A} (f : A -> R) l m : sum_of f (l ++ m) = sum_of f l + sum_of f m.
Proof. induction l as [|x l IH]; simpl; [lra|]. rewrite IH. lra. Qed.

Lemma sum_of_le {A} (f g : A -> R) l : (forall x, In x l -> f x <= g x) -> sum_of f l <= sum_of g l.
Proof.
  induction l as [|x l IH]; intros H; simpl; [lra|].
  pose proof (H x (or_introl eq_refl)). assert (sum_of f l <= sum_of g l) by (apply IH; intros y Y; apply H; right; exact Y). lra.
Qed.

Lemma sum_of_plus {A} (f g : A -> R) l : sum_of (fun x => f x + g x) l = sum_of f l + sum_of g l.
Proof. induction l as [|x l IH]; simpl; [lra|]. rewrite IH. lra. Qed.

Lemma sum_of_zero {A} (f : A -> R) l : (forall x, In x l -> f x = 0) -> sum_of f l = 0.
Proof.
  induction l as [|x l IH]; intros H; simpl; [reflexivity|].
  rewrite (H x (or_introl eq_refl)), IH by (intros y Y; apply H; right; exact Y). lra.
Qed.

Lemma sum_of_least {A} (f : A -> R) l : (forall x, In x l -> 0 <= f x) -> 0 <= sum_of f l.
Proof. intros H. rewrite <- (sum_of_zero (fun _ : A => 0) l) by reflexivity. apply sum_of_le. exact H. Qed.

Lemma sum_of_last f n : sum_of f (seq 0 (S n)) = sum_of f (seq 0 n) + f n.
Proof. rewrite seq_S, sum_of_app. simpl. lra. Qed.

Lemma sum_of_first f n : sum_of f (seq 0 (S n)) = f 0%nat + sum_of (fun k => f (S k)) (seq 0 n).
Proof.
  simpl. f_equal. rewrite <- seq_shift. generalize (seq 0 n). induction l as [|x l IH]; simpl; [reflexivity|]. rewrite IH. reflexivity.
Qed.

(** * Ties: of each other answer the probability to be less, and the one to be equal *)

Fixpoint equals (l : list (R * R)) (k : nat) : R :=
  match l with
  | [] => match k with O => 1 | S _ => 0 end
  | (a, b) :: l => a * equals l k + b * shift_down (equals l) k
  end.

(** One of those that are equal is released, at random. *)
Definition shared (l : list (R * R)) : R := sum_of (fun k => equals l k / INR (S k)) (seq 0 (S (length l))).
Definition later (l : list (R * R)) : R := sum_of (fun k => equals l k / INR (S (S k))) (seq 0 (S (length l))).

Definition plain (x : R * R) : Prop := 0 <= fst x /\ 0 <= snd x.

Lemma INR_positive k : 0 < INR (S k). Proof. apply lt_0_INR. lia. Qed.

Lemma equals_beyond l : forall k, (length l < k)%nat -> equals l k = 0.
Proof.
  induction l as [|[a b] l IH]; intros k H; simpl in *; [destruct k; [lia|reflexivity]|].
  destruct k as [|k]; [lia|]. simpl. rewrite !IH by lia. lra.
Qed.

Lemma equals_plain l : Forall plain l -> forall k, 0 <= equals l k.
Proof.
  induction 1 as [|[a b] l [A B] H IH]; intros k; simpl in *; [destruct k; lra|].
  assert (0 <= shift_down (equals l) k) by (destruct k; simpl; [lra | apply IH]).
  pose proof (Rmult_le_pos _ _ A (IH k)). pose proof (Rmult_le_pos _ _ B H0). lra.
Qed.

Lemma equals_permutation l m : Permutation l m -> forall k, equals l k = equals m k.
Proof.
  induction 1 as [|[a b] l m H IH|[a b] [c d] l|l1 l2 l3 H1 IH1 H2 IH2]; intros k.
  - reflexivity.
  - simpl. rewrite IH. destruct k as [|k]; simpl; [reflexivity|]. rewrite IH. reflexivity.
  - destruct k as [|[|k]]; simpl; ring.
  - rewrite IH1. apply IH2.
Qed.

Lemma shared_permutation l m : Permutation l m -> shared l = shared m.
Proof.
  intros H. unfold shared. rewrite (Permutation_length H). apply sum_of_ext. intros k _.
  rewrite (equals_permutation l m H). reflexivity.
Qed.

Lemma shared_cons a b l : shared ((a, b) :: l) = a * (shared l - later l) + (a + b) * later l.
Proof.
  transitivity (a * shared l + b * later l); [|ring].
  unfold shared. simpl length.
  rewrite (sum_of_ext _ (fun k => a * (equals l k / INR (S k)) + b * (shift_down (equals l) k / INR (S k)))).
  2: { intros k _. simpl equals. field. apply Rgt_not_eq, INR_positive. }
  rewrite sum_of_plus, !sum_of_scaled. f_equal.
  - rewrite sum_of_last, (equals_beyond l) by lia. unfold Rdiv. lra.
  - f_equal. rewrite sum_of_first. simpl shift_down. unfold later, Rdiv. lra.
Qed.

Lemma later_least l : Forall plain l -> 0 <= later l /\ later l <= shared l.
Proof.
  intros H. split.
  - apply sum_of_least. intros k _. apply Rmult_le_pos; [apply equals_plain; exact H|].
    left. apply Rinv_0_lt_compat, INR_positive.
  - apply sum_of_le. intros k _. apply Rmult_le_compat_l; [apply equals_plain; exact H|].
    apply Rinv_le_contravar; [apply INR_positive|]. apply le_INR. lia.
Qed.

Lemma shared_least l : Forall plain l -> 0 <= shared l.
Proof. intros H. destruct (later_least l H). lra. Qed.

Definition under (x y : R * R) : Prop := plain x /\ plain y /\ fst x <= fst y /\ fst x + snd x <= fst y + snd y.

Lemma shared_one a b c d l : Forall plain l -> under (a, b) (c, d) -> shared ((a, b) :: l) <= shared ((c, d) :: l).
Proof.
  intros H [_ [_ [U V]]]. simpl in U, V. rewrite !shared_cons. destruct (later_least l H) as [P Q].
  apply Rplus_le_compat; apply Rmult_le_compat_r; lra.
Qed.

Lemma shared_grows l l' : Forall2 under l l' -> forall m, Forall plain m -> shared (m ++ l) <= shared (m ++ l').
Proof.
  induction 1 as [|[a b] [c d] l l' U F IH]; intros m M; [lra|].
  assert (L : Forall plain l) by (clear - F; induction F as [|x y l l' [P _] F IH]; constructor; assumption).
  apply Rle_trans with (shared (m ++ (c, d) :: l)).
  - rewrite <- (shared_permutation _ _ (Permutation_middle m l (a, b))).
    rewrite <- (shared_permutation _ _ (Permutation_middle m l (c, d))).
    apply shared_one; [apply Forall_app; split; assumption | exact U].
  - change ((c, d) :: l) with ([(c, d)] ++ l). change ((c, d) :: l') with ([(c, d)] ++ l'). rewrite !app_assoc.
    apply IH. apply Forall_app. split; [exact M|]. constructor; [apply U | constructor].
Qed.

(** * Noise: p f v is the weight with which the answer f becomes v *)

Section Table.
Variable size : nat.
Variable p : nat -> nat -> R.

Definition below_ (f v : nat) : R := sum_of (p f) (seq 0 v).

(** How another answer loses to v. *)
Definition chances (v : nat) (a : role * nat) : R * R :=
  match fst a with
  | Ties => (below_ (snd a) v, p (snd a) v)
  | Less => (below_ (snd a) v, 0)
  | Loses => (below_ (snd a) (S v), 0)
  end.

Definition hidden (l : list (role * nat)) (v : nat) : R := shared (map (chances v) l).
Definition released (own : nat) (l : list (role * nat)) : R := sum_of (fun v => p own v * hidden l v) (seq 0 size).

(** The weight of an output; divided by the sum of a row to the power of the number of answers it is its probability. *)
Definition weight (uniform : bool) (x : list nat) (o : nat) : R := released (nth o x 0%nat) (others uniform x o).

Lemma released_permutation own l m : Permutation l m -> released own l = released own m.
Proof.
  intros H. apply sum_of_ext. intros v _. f_equal. apply shared_permutation, Permutation_map. exact H.
Qed.

Hypothesis nonnegative : forall f v, 0 <= p f v.

Lemma below_least f v : 0 <= below_ f v.
Proof. apply sum_of_least. intros u _. apply nonnegative. Qed.

Lemma chances_plain v a : plain (chances v a).
Proof. unfold plain, chances. destruct (fst a); simpl; split; try lra; try apply below_least; apply nonnegative. Qed.

Lemma hidden_least l v : 0 <= hidden l v.
Proof.
  apply shared_least. apply Forall_forall. intros x H. apply in_map_iff in H. destruct H as [a [<- _]]. apply chances_plain.
Qed.

Lemma released_least own l : 0 <= released own l.
Proof. apply sum_of_least. intros v _. apply Rmult_le_pos; [apply nonnegative | apply hidden_least]. Qed.

Lemma hidden_grows l v : hidden l v <= hidden l (S v).
Proof.
  apply (shared_grows (map (chances v) l) (map (chances (S v)) l)) with (m := []); [|constructor].
  induction l as [|a l IH]; simpl; constructor; [|exact IH].
  split; [apply chances_plain|]. split; [apply chances_plain|]. unfold chances, below_.
  pose proof (nonnegative (snd a) v). pose proof (nonnegative (snd a) (S v)).
  destruct (fst a); cbn [fst snd]; rewrite ?sum_of_last; lra.
Qed.

Hypothesis falls : forall f g v, (f <= g)%nat -> (g < size)%nat -> (v <= size)%nat -> below_ g v <= below_ f v.
Hypothesis same_sum : forall f g, (f < size)%nat -> (g < size)%nat -> below_ f size = below_ g size.

(** Other answers with the same roles, none of which is larger. *)
Definition smaller (a b : role * nat) : Prop := fst a = fst b /\ (snd a <= snd b)%nat /\ (snd b < size)%nat.

Lemma released_others own l m : Forall2 smaller l m -> released own m <= released own l.
Proof.
  intros H. apply sum_of_le. intros v V. apply in_seq in V. apply Rmult_le_compat_l; [apply nonnegative|].
  apply (shared_grows (map (chances v) m) (map (chances v) l)) with (m := []); [|constructor].
  induction H as [|[r f] [s g] l m [E [L G]] F IH]; simpl; constructor; [|exact IH]. simpl in E, L, G. subst s.
  split; [apply chances_plain|]. split; [apply chances_plain|].
  assert (A : below_ g v <= below_ f v) by (apply falls; lia).
  assert (B : below_ g (S v) <= below_ f (S v)) by (apply falls; lia).
  unfold chances. simpl fst. simpl snd. unfold below_ in *. rewrite !sum_of_last in B.
  destruct r; cbn [fst snd]; rewrite ?sum_of_last; lra.
Qed.

(** Weights move up, and so does what is weighed. *)
Lemma moved_up (h d : nat -> R) n : (forall v, h v <= h (S v)) ->
  (forall v, (v <= S n)%nat -> sum_of d (seq 0 v) <= 0) ->
  sum_of d (seq 0 (S n)) * h n <= sum_of (fun v => d v * h v) (seq 0 (S n)).
Proof.
  intros H. induction n as [|n IH]; intros D.
  - simpl. lra.
  - rewrite !(sum_of_last _ (S n)). specialize (IH (fun v L => D v (Nat.le_trans _ _ _ L (Nat.le_succ_diag_r _)))).
    pose proof (D (S n) ltac:(lia)) as N. pose proof (H n) as G.
    assert (sum_of d (seq 0 (S n)) * h (S n) <= sum_of d (seq 0 (S n)) * h n).
    { apply Rmult_le_compat_neg_l; assumption. }
    lra.
Qed.

Lemma released_own f g l : (f <= g)%nat -> (g < size)%nat -> released f l <= released g l.
Proof.
  intros L G. unfold released. pose proof (same_sum f g ltac:(lia) G) as E. unfold below_ in E.
  assert (F : forall v, (v <= size)%nat -> sum_of (p g) (seq 0 v) <= sum_of (p f) (seq 0 v)) by (intros v V; apply falls; assumption).
  revert E F. destruct size as [|n]; [lia|]. intros E F.
  assert (X : forall v, sum_of (fun u => p g u - p f u) (seq 0 v) = sum_of (p g) (seq 0 v) - sum_of (p f) (seq 0 v)).
  { intros v. generalize (seq 0 v). induction l0 as [|x m IH]; simpl; [lra|]. rewrite IH. lra. }
  pose proof (moved_up (hidden l) (fun u => p g u - p f u) n (hidden_grows l)) as M.
  rewrite X, E in M.
  rewrite (sum_of_ext (fun v => (p g v - p f v) * hidden l v) (fun v => p g v * hidden l v + -1 * (p f v * hidden l v))) in M
    by (intros; ring).
  rewrite sum_of_plus, sum_of_scaled in M.
  assert (K : forall v, (v <= S n)%nat -> sum_of (fun u => p g u - p f u) (seq 0 v) <= 0).
  { intros v V. rewrite X. specialize (F v V). lra. }
  specialize (M K). lra.
Qed.

(** * The neighbour with the least probability *)

Variable step : nat.
Hypothesis step_inside : (step < size)%nat.

Definition lowest (f : nat) : nat := Nat.max f step.
Definition capped (f : nat) : nat := Nat.min f (size - 1 - step).
Definition raised (a : role * nat) : role * nat := (fst a, (snd a + step)%nat).
Definition cap (a : role * nat) : role * nat := (fst a, capped (snd a)).

Definition by_role (Q : nat -> nat -> Prop) (a b : role * nat) : Prop := fst a = fst b /\ Q (snd a) (snd b).

Lemma others_related (Q : nat -> nat -> Prop) u x y : Forall2 Q x y -> forall o, Forall2 (by_role Q) (others u x o) (others u y o).
Proof.
  intros H o.
  assert (B : Forall2 Q (firstn o x) (firstn o y)).
  { revert o. induction H as [|a b x y K H IH]; intros [|o]; simpl; constructor; auto. }
  assert (C : forall k, Forall2 Q (skipn k x) (skipn k y)).
  { clear B. induction H as [|a b x y K H IH]; intros [|k]; simpl; auto. }
  assert (M : forall r l m, Forall2 Q l m -> Forall2 (by_role Q) (map (pair r) l) (map (pair r) m)).
  { induction 1; simpl; constructor; [split; [reflexivity | assumption] | assumption]. }
  unfold others. destruct u.
  - apply M. apply Forall2_app; [exact B | apply C].
  - apply Forall2_app; apply M; [exact B | apply C].
Qed.

Lemma same_length {A B} (Q : A -> B -> Prop) x y : Forall2 Q x y -> length x = length y.
Proof. induction 1; simpl; [reflexivity | lia]. Qed.

Lemma nth_related (Q : nat -> nat -> Prop) x y : Forall2 Q x y -> forall o, (o < length x)%nat -> Q (nth o x 0%nat) (nth o y 0%nat).
Proof. induction 1 as [|a b x y K H IH]; intros [|o] L; simpl in *; try lia; [exact K | apply IH; lia]. Qed.

(** Of two neighbours the first is at most one of a class, and the second at least the neighbour of that. *)
Theorem class_between u x y o : Forall (fun f => (f < size)%nat) x -> Forall (fun f => (f < size)%nat) y ->
  Forall2 (near step) x y -> (o < length x)%nat ->
  let own := lowest (nth o x 0%nat) in
  let l := map cap (others u x o) in
  (step <= own < size)%nat /\ weight u x o <= released own l /\ released (own - step) (map raised l) <= weight u y o.
Proof.
  intros X Y N O own l.
  assert (Xo : (nth o x 0 < size)%nat) by (rewrite Forall_forall in X; apply X, nth_In; exact O).
  assert (Yo : (nth o y 0 < size)%nat) by (rewrite Forall_forall in Y; apply Y, nth_In; apply same_length in N; lia).
  destruct (nth_related _ _ _ N o O) as [N1 N2].
  assert (Own : (step <= own < size)%nat) by (unfold own, lowest; lia).
  split; [exact Own|]. unfold weight. split.
  - apply Rle_trans with (released own (others u x o)); [apply released_own; [unfold own, lowest; lia | lia]|].
    apply released_others. unfold l.
    assert (F : Forall2 (by_role (fun f g => f = g /\ (f < size)%nat)) (others u x o) (others u x o)).
    { apply others_related. clear - X. induction X; constructor; auto. }
    induction F as [|[r f] [s g] a b [E [E' L]] F IH]; simpl; constructor; [|exact IH].
    simpl in *. subst. split; [reflexivity|]. simpl. unfold capped. split; [lia | exact L].
  - apply Rle_trans with (released (own - step) (others u y o)).
    2: { apply released_own; [unfold own, lowest; lia | exact Yo]. }
    apply released_others. unfold l.
    assert (F : Forall2 (by_role (fun f g => (f < size)%nat /\ (g < size)%nat /\ (g <= f + step)%nat)) (others u x o) (others u y o)).
    { apply others_related. clear - X Y N. induction N as [|a b x y [K1 K2] N IH]; [constructor|].
      inversion X; inversion Y; subst. constructor; auto. }
    induction F as [|[r f] [s g] a b [E [L1 [L2 L3]]] F IH]; simpl; constructor; [|exact IH].
    simpl in *. subst. split; [reflexivity|]. simpl. unfold capped. lia.
Qed.

End Table.
