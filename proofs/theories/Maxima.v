(** Noisy max: each answer is perturbed on its own, and the index of the largest is released. One pair of neighbouring
    inputs stands for all others: no other pair has a larger ratio.

    The probability of an output does not depend on the order of the other answers. So it is enough to look at
    neighbours as multisets of pairs of answers. *)

From Coq Require Import Reals ZArith List Lra Lia Bool Arith Permutation.
Import ListNotations.
Local Open Scope R_scope.

Definition sum_of {A} (f : A -> R) (l : list A) : R := fold_right (fun x t => f x + t) 0 l.

Lemma sum_of_ext {A} (f g : A -> R) l : (forall x, In x l -> f x = g x) -> sum_of f l = sum_of g l.
Proof.
  induction l as [|x l IH]; intros H; [reflexivity|]. simpl. rewrite IH by (intros y Hy; apply H; right; exact Hy).
  rewrite H by (left; reflexivity). reflexivity.
Qed.

Lemma sum_of_scaled {A} c (f : A -> R) l : sum_of (fun x => c * f x) l = c * sum_of f l.
Proof. induction l as [|x l IH]; simpl; [lra|]. rewrite IH. lra. Qed.

Definition whole_sum {A} (f : A -> Z) (l : list A) : Z := fold_right (fun x t => (f x + t)%Z) 0%Z l.

Lemma whole_sum_zero {A} (f : A -> Z) l : (forall x, f x = 0%Z) -> whole_sum f l = 0%Z.
Proof. intros H. unfold whole_sum. induction l as [|x l IH]; simpl; [reflexivity|]. rewrite H, IH. reflexivity. Qed.

Lemma whole_sum_map {A B} (f : B -> Z) (g : A -> B) l : whole_sum f (map g l) = whole_sum (fun x => f (g x)) l.
Proof. unfold whole_sum. induction l as [|x l IH]; simpl; [reflexivity|]. rewrite IH. reflexivity. Qed.

Lemma whole_sum_right {A} (f : A -> Z) l : IZR (whole_sum f l) = sum_of (fun x => IZR (f x)) l.
Proof. induction l as [|x l IH]; simpl; [reflexivity|]. rewrite plus_IZR, IH. reflexivity. Qed.

(** How another answer loses: it may be equal, which makes a tie; it has to be less; or it may be equal and loses. *)
Inductive role := Ties | Less | Loses.

Section Noise.
(** [noise] has a row for each answer: entry v, divided by [unit_mass], is the probability that v comes of it. *)
Variable noise : list (list Z).
Variable unit_mass : positive.

Definition values : nat := length noise.
Definition entry (f v : nat) : Z := nth v (nth f noise []) 0%Z.
Definition less (f v : nat) : Z := whole_sum (fun u => entry f u) (seq 0 v).

Definition losing (r : role) (f v : nat) : Z := match r with Loses => (less f v + entry f v)%Z | _ => less f v end.
Definition equal (r : role) (f v : nat) : Z := match r with Ties => entry f v | _ => 0%Z end.

Definition shift_down (c : nat -> R) (k : nat) : R := match k with O => 0 | S k => c k end.

(** That k of the others are equal to v, and the rest loses to it. *)
Fixpoint tied (v : nat) (l : list (role * nat)) (k : nat) : R :=
  match l with
  | [] => match k with O => 1 | S _ => 0 end
  | (r, f) :: l => IZR (losing r f v) * tied v l k + IZR (equal r f v) * shift_down (tied v l) k
  end.

(** The own answer becomes v and is released: one of k + 1 that are equal, at random. *)
Definition won (own : nat) (l : list (role * nat)) : R :=
  sum_of (fun v => IZR (entry own v) * sum_of (fun k => tied v l k / INR (S k)) (seq 0 (S (length l)))) (seq 0 values).

Lemma tied_swap v a b l k : tied v (a :: b :: l) k = tied v (b :: a :: l) k.
Proof. destruct a as [r f], b as [s g]. destruct k as [|[|k]]; simpl; ring. Qed.

Lemma tied_permutation v l l' : Permutation l l' -> forall k, tied v l k = tied v l' k.
Proof.
  induction 1 as [|[r f] l l' H IH|a b l|l1 l2 l3 H1 IH1 H2 IH2]; intros k.
  - reflexivity.
  - simpl. rewrite IH. destruct k as [|k]; simpl; [reflexivity|]. rewrite IH. reflexivity.
  - apply tied_swap.
  - rewrite IH1. apply IH2.
Qed.

Lemma won_permutation own l l' : Permutation l l' -> won own l = won own l'.
Proof.
  intros H. unfold won. rewrite (Permutation_length H). apply sum_of_ext. intros v _. f_equal.
  apply sum_of_ext. intros k _. rewrite (tied_permutation v l l' H). reflexivity.
Qed.

(** * Inputs *)

(** [uniform]: one of those that are largest, at random; otherwise the first one of them. *)
Definition others (uniform : bool) (x : list nat) (o : nat) : list (role * nat) :=
  let before := firstn o x in
  let behind := skipn (S o) x in
  if uniform then map (pair Ties) (before ++ behind) else map (pair Less) before ++ map (pair Loses) behind.

Definition probability (uniform : bool) (x : list nat) (o : nat) : R :=
  won (nth o x 0%nat) (others uniform x o) / IZR (Zpos unit_mass) ^ length x.

Definition input (n : nat) (x : list nat) : Prop := length x = n /\ Forall (fun f => (f < values)%nat) x.
Definition near (step f g : nat) : Prop := (f <= g + step)%nat /\ (g <= f + step)%nat.

(** Answers change by at most a step: each one, or with [one] at most one of them. *)
Definition neighbours (one : bool) (step : nat) (x y : list nat) : Prop :=
  Forall2 (near step) x y
  /\ (if one then exists j, forall i, i <> j -> nth i x 0%nat = nth i y 0%nat else True).

(** * States: what is known of the others, for two inputs at once *)

Definition two := (role * (nat * nat))%type.
Definition firsts (l : list two) : list (role * nat) := map (fun d => (fst d, fst (snd d))) l.
Definition seconds (l : list two) : list (role * nat) := map (fun d => (fst d, snd (snd d))) l.

Definition state := list (list Z * list Z).

Fixpoint grow (a b before : Z) (c : list Z) : list Z :=
  match c with
  | [] => [(b * before)%Z]
  | x :: c => (a * x + b * before)%Z :: grow a b x c
  end.

Lemma grow_right a b c : forall before k, nth k (grow a b before c) 0%Z
  = (a * nth k c 0 + b * match k with O => before | S k => nth k c 0 end)%Z.
Proof.
  induction c as [|x c IH]; intros before [|k]; simpl; try ring; [destruct k; ring|].
  rewrite IH. destruct k; reflexivity.
Qed.

Definition start : state := map (fun _ => ([1%Z], [1%Z])) (seq 0 values).

Fixpoint add_from (d : two) (v : nat) (s : state) : state :=
  let (r, fg) := d in
  match s with
  | [] => []
  | (cx, cy) :: s =>
      (grow (losing r (fst fg) v) (equal r (fst fg) v) 0 cx, grow (losing r (snd fg) v) (equal r (snd fg) v) 0 cy)
      :: add_from d (S v) s
  end.

Definition add (d : two) (s : state) : state := add_from d 0 s.

Definition right_at (v : nat) (l : list two) (cs : list Z * list Z) : Prop :=
  forall k, IZR (nth k (fst cs) 0%Z) = tied v (firsts l) k /\ IZR (nth k (snd cs) 0%Z) = tied v (seconds l) k.

Fixpoint right_from (v : nat) (l : list two) (s : state) : Prop :=
  match s with [] => True | cs :: s => right_at v l cs /\ right_from (S v) l s end.

Lemma start_right v k : right_from v [] (map (fun _ => ([1%Z], [1%Z])) (seq v k)).
Proof.
  revert v. induction k as [|k IH]; intros v; simpl; [exact I|]. split; [|apply IH].
  intros [|[|j]]; simpl; split; reflexivity.
Qed.

Lemma add_from_right d l s : forall v, right_from v l s -> right_from v (d :: l) (add_from d v s).
Proof.
  destruct d as [r [f g]]. induction s as [|[cx cy] s IH]; intros v H; simpl; [exact I|].
  destruct H as [H0 H]. split; [|apply IH; exact H]. intros k. simpl. destruct (H0 k) as [A B].
  rewrite !grow_right, !plus_IZR, !mult_IZR. simpl in A, B. rewrite A, B.
  destruct k as [|k]; simpl; [split; ring|]. destruct (H0 k) as [C D]. simpl in C, D. rewrite C, D. split; reflexivity.
Qed.

Lemma add_from_length d s : forall v, length (add_from d v s) = length s.
Proof. destruct d as [r fg]. induction s as [|[cx cy] s IH]; intros v; simpl; [reflexivity|]. rewrite IH. reflexivity. Qed.

Definition state_of (l : list two) : state := fold_right add start l.

Lemma state_of_right l : right_from 0 l (state_of l) /\ length (state_of l) = values.
Proof.
  induction l as [|d l [IH1 IH2]]; simpl.
  - split; [apply start_right | unfold start; rewrite map_length, seq_length; reflexivity].
  - split; [apply add_from_right; exact IH1 | unfold add; rewrite add_from_length; exact IH2].
Qed.

(** * Comparisons *)

(** [weights]: a number divided by 1, 2, 3, ... *)
Fixpoint share (weights c : list Z) (n : nat) {struct n} : Z :=
  match n, c, weights with
  | S n, x :: c, w :: weights => (x * w + share weights c n)%Z
  | _, _, _ => 0%Z
  end.

Lemma share_sum weights c n : share weights c n = whole_sum (fun k => nth k c 0 * nth k weights 0)%Z (seq 0 n).
Proof.
  revert weights c. induction n as [|n IH]; intros weights c; [reflexivity|].
  destruct c as [|x c]; [symmetry; apply whole_sum_zero; intros [|k]; reflexivity|].
  destruct weights as [|w weights]; [symmetry; apply whole_sum_zero; intros [|k]; simpl; lia|].
  change (seq 0 (S n)) with (0%nat :: seq 1 n). rewrite <- seq_shift. simpl. rewrite whole_sum_map, IH. reflexivity.
Qed.

(** The shares of all values, made once for all own values. *)
Definition first_shares (weights : list Z) (n : nat) (s : state) : list Z := map (fun c => share weights (fst c) n) s.
Definition second_shares (weights : list Z) (n : nat) (s : state) : list Z := map (fun c => share weights (snd c) n) s.

Fixpoint total_from (own v : nat) (l : list Z) : Z :=
  match l with
  | [] => 0%Z
  | z :: l => (entry own v * z + total_from own (S v) l)%Z
  end.

Lemma share_right weights common n c (t : nat -> R) :
  (forall k, (k < n)%nat -> (nth k weights 0 * Z.of_nat (S k))%Z = common) -> (forall k, IZR (nth k c 0%Z) = t k) ->
  IZR (share weights c n) = IZR common * sum_of (fun k => t k / INR (S k)) (seq 0 n).
Proof.
  intros Hw Hc. rewrite share_sum, whole_sum_right, <- sum_of_scaled. apply sum_of_ext. intros k Hk.
  apply in_seq in Hk. rewrite <- (Hw k) by lia. rewrite !mult_IZR, Hc, <- INR_IZR_INZ. field. apply not_0_INR. lia.
Qed.

Lemma total_right weights common n own l (side : list Z * list Z -> list Z) (t : nat -> nat -> R) :
  (forall k, (k < n)%nat -> (nth k weights 0 * Z.of_nat (S k))%Z = common) ->
  (forall v cs k, right_at v l cs -> IZR (nth k (side cs) 0%Z) = t v k) ->
  forall s v, right_from v l s ->
  IZR (total_from own v (map (fun c => share weights (side c) n) s))
  = IZR common * sum_of (fun v => IZR (entry own v) * sum_of (fun k => t v k / INR (S k)) (seq 0 n)) (seq v (length s)).
Proof.
  intros Hw Ht. induction s as [|cs s IH]; intros v H; simpl; [lra|]. destruct H as [H0 H].
  rewrite plus_IZR, mult_IZR, (IH (S v) H).
  rewrite (share_right weights common n (side cs) (t v) Hw) by (intros k; apply Ht; exact H0). simpl. ring.
Qed.

Lemma firsts_length l : length (firsts l) = length l. Proof. apply map_length. Qed.
Lemma seconds_length l : length (seconds l) = length l. Proof. apply map_length. Qed.

Definition first_total (weights : list Z) (n own : nat) (s : state) : Z := total_from own 0 (first_shares weights n s).
Definition second_total (weights : list Z) (n own : nat) (s : state) : Z := total_from own 0 (second_shares weights n s).

Lemma totals_right weights common n own l :
  (forall k, (k < n)%nat -> (nth k weights 0 * Z.of_nat (S k))%Z = common) -> S (length l) = n ->
  IZR (first_total weights n own (state_of l)) = IZR common * won own (firsts l)
  /\ IZR (second_total weights n own (state_of l)) = IZR common * won own (seconds l).
Proof.
  intros Hw Hl. destruct (state_of_right l) as [H L]. unfold first_total, second_total, won.
  rewrite firsts_length, seconds_length, Hl, <- L. split.
  - apply (total_right weights common n own l fst (fun v => tied v (firsts l)) Hw); [|exact H]. intros v cs k Hr. apply Hr.
  - apply (total_right weights common n own l snd (fun v => tied v (seconds l)) Hw); [|exact H]. intros v cs k Hr. apply Hr.
Qed.

End Noise.

(** * All multisets *)

Section Explore.
Variables (A B : Type) (add : A -> B -> B).
Hypothesis decide : forall x y : A, {x = y} + {x <> y}.

(** All multisets with k elements of some kinds, added to a state. *)
Fixpoint explore (leaf : B -> bool) (kinds : list A) (k : nat) (s : B) : bool :=
  match kinds with
  | [] => match k with O => leaf s | S _ => true end
  | a :: kinds =>
      (fix more (k : nat) (s : B) : bool :=
         explore leaf kinds k s && match k with O => true | S k => more k (add a s) end) k s
  end.

Lemma explore_right leaf kinds : forall k s, explore leaf kinds k s = true ->
  forall l, (forall a, In a l -> In a kinds) -> length l = k ->
  exists l', Permutation l l' /\ leaf (fold_right add s l') = true.
Proof.
  induction kinds as [|a kinds IH]; intros k s H l Hin Hl.
  - destruct l as [|b l]; [|destruct (Hin b); left; reflexivity]. simpl in Hl. subst k. simpl in H.
    exists []. split; [constructor | exact H].
  - revert s l H Hin Hl. induction k as [|k IHk]; intros s l H Hin Hl; simpl in H; apply andb_true_iff in H; destruct H as [H1 H2].
    + destruct l as [|b l]; [|discriminate Hl]. apply (IH 0%nat s H1 []); [intros b [] | reflexivity].
    + destruct (in_dec decide a l) as [Ha|Ha].
      * apply in_split in Ha. destruct Ha as [l1 [l2 ->]].
        destruct (IHk (add a s) (l1 ++ l2)) as [l' [P E]].
        -- exact H2.
        -- intros b Hb. apply Hin. apply in_app_or in Hb. apply in_or_app. destruct Hb as [Hb|Hb]; [left; exact Hb | right; right; exact Hb].
        -- rewrite app_length in *. simpl in Hl. lia.
        -- exists (l' ++ [a]). split.
           ++ apply Permutation_trans with (a :: l1 ++ l2); [apply Permutation_sym; apply Permutation_middle|].
              apply Permutation_trans with (a :: l'); [apply perm_skip; exact P | apply Permutation_cons_append].
           ++ rewrite fold_right_app. exact E.
      * apply (IH (S k) s H1 l); [|exact Hl]. intros b Hb. destruct (Hin b Hb) as [<-|Hk]; [contradiction | exact Hk].
Qed.

End Explore.
