(** Hidden Markov models: a step puts out a symbol and moves to a next state; states are not seen.

    States and symbols are numbered from 0. This file has definitions over the real numbers, and the two ways from
    finitely many comparisons to all sequences of a length, or of every length. *)

From Coq Require Import Reals ZArith List Lra Lia.
From Paramverify Require Import Expressions Sums.
Import ListNotations.
Local Open Scope R_scope.

Record hidden_markov := {
  states : nat;
  symbols : nat;
  move : nat -> nat -> nat -> expression  (* symbol, from, to: the probability to put it out and to go there *)
}.

(** Weights of states; they need not sum to one. *)
Definition weights := nat -> expression.

Definition all_states (h : hidden_markov) : list nat := seq 0 (states h).

Section Definitions.
Variable p : point.
Variable h : hidden_markov.

(** The probability that a sequence is put out from a state: Pr(o u | s) = sum over t of Pr(o, t | s) * Pr(u | t). *)
Fixpoint onwards (word : list nat) (s : nat) : R :=
  match word with
  | [] => 1
  | o :: rest => total (fun t => value p (move h o s t) * onwards rest t) (all_states h)
  end.

Definition weight_of (start : weights) : R := total (fun s => value p (start s)) (all_states h).

Definition weight_with (start : weights) (word : list nat) : R :=
  total (fun s => value p (start s) * onwards word s) (all_states h).

(** Pr(sequence | secret), where the secret says how likely each first state is. *)
Definition sequence_probability (start : weights) (word : list nat) : R := weight_with start word / weight_of start.

(** Words of symbols of the model. *)
Definition spelled (word : list nat) : Prop := Forall (fun o => (o < symbols h)%nat) word.

(** Privacy with ratio c of all sequences for which [about] holds, wherever both secrets are possible. *)
Definition sequences_private (about : list nat -> Prop) (c : R) (pairs : list (weights * weights)) : Prop :=
  forall left right, In (left, right) pairs -> 0 < weight_of left -> 0 < weight_of right ->
  forall word, spelled word -> about word ->
    sequence_probability left word <= c * sequence_probability right word
    /\ sequence_probability right word <= c * sequence_probability left word.

(** All words of a length. *)
Fixpoint words (k : nat) : list (list nat) :=
  match k with
  | O => [[]]
  | S k => flat_map (fun word => map (fun o => o :: word) (seq 0 (symbols h))) (words k)
  end.

(** Pr(a sequence of a set | secret), where all sequences have k symbols. *)
Definition set_probability (start : weights) (k : nat) (set : list nat -> bool) : R :=
  total (fun word => if set word then sequence_probability start word else 0) (words k).

(** The same with a delta, which is about all sets of sequences of a length. *)
Definition sequences_approximately_private (lengths : list nat) (c d : R) (pairs : list (weights * weights)) : Prop :=
  forall left right, In (left, right) pairs -> 0 < weight_of left -> 0 < weight_of right ->
  forall k, In k lengths -> forall set : list nat -> bool,
    set_probability left k set <= c * set_probability right k set + d
    /\ set_probability right k set <= c * set_probability left k set + d.

End Definitions.

Definition of_length (k : nat) (word : list nat) : Prop := length word = k.
Definition of_any_length (word : list nat) : Prop := word <> [].

(** * Vectors *)

Definition vector := list R.

Fixpoint dot (a b : vector) : R :=
  match a, b with
  | x :: a, y :: b => x * y + dot a b
  | _, _ => 0
  end.

Definition plus_scaled (w : R) (r v : vector) : vector := map (fun pair => w * fst pair + snd pair) (combine r v).
Definition zeros (n : nat) : vector := repeat 0 n.
Definition ones (n : nat) : vector := repeat 1 n.
Definition apply (m : list vector) (v : vector) : vector := map (fun row => dot row v) m.

Lemma length_plus_scaled w r v n : length r = n -> length v = n -> length (plus_scaled w r v) = n.
Proof. intros Hr Hv. unfold plus_scaled. rewrite map_length, combine_length. lia. Qed.

Lemma dot_plus_scaled a w r v : length r = length v -> dot a (plus_scaled w r v) = w * dot a r + dot a v.
Proof.
  revert r v. induction a as [|x a IH]; intros [|y r] [|z v] H; simpl in *; try discriminate; try lra.
  injection H as H. fold (plus_scaled w r v). rewrite IH by exact H. lra.
Qed.

Lemma dot_zeros a n : dot a (zeros n) = 0.
Proof. revert n. induction a as [|x a IH]; intros [|n]; simpl; try lra. fold (zeros n). rewrite IH. lra. Qed.

Lemma apply_plus_scaled m w r v : length r = length v ->
  apply m (plus_scaled w r v) = plus_scaled w (apply m r) (apply m v).
Proof.
  intros H. induction m as [|row m IH]; [reflexivity|]. unfold apply, plus_scaled in *; simpl.
  fold (plus_scaled w r v). rewrite dot_plus_scaled by exact H. f_equal. exact IH.
Qed.

Lemma apply_zeros m n : apply m (zeros n) = zeros (length m).
Proof.
  induction m as [|row m IH]; [reflexivity|]. simpl. change (zeros (S (length m))) with (0 :: zeros (length m)).
  rewrite dot_zeros, IH. reflexivity.
Qed.

(** The cone of some rays: sums of them with weights that are at least zero. *)
Inductive spanned (n : nat) (rays : list vector) : vector -> Prop :=
| spanned_zero : spanned n rays (zeros n)
| spanned_more r w v : In r rays -> 0 <= w -> spanned n rays v -> spanned n rays (plus_scaled w r v).

Lemma spanned_length n rays v : Forall (fun r => length r = n) rays -> spanned n rays v -> length v = n.
Proof.
  intros Hr H. induction H; [apply repeat_length|]. apply length_plus_scaled; [|exact IHspanned].
  rewrite Forall_forall in Hr. apply Hr. exact H.
Qed.

(** What is linear and at least zero on the rays is at least zero on their cone. *)
Lemma spanned_dot n rays (a v : vector) :
  Forall (fun r => length r = n) rays -> (forall r, In r rays -> 0 <= dot a r) -> spanned n rays v -> 0 <= dot a v.
Proof.
  intros Hn Ha H. induction H as [|r w v Hin Hw Hv IH]; [rewrite dot_zeros; lra|].
  rewrite dot_plus_scaled.
  - specialize (Ha r Hin). assert (0 <= w * dot a r) by (apply Rmult_le_pos; assumption). lra.
  - rewrite (spanned_length n rays v Hn Hv). rewrite Forall_forall in Hn. apply Hn. exact Hin.
Qed.

Lemma spanned_apply_dot n rays m (a v : vector) :
  Forall (fun r => length r = n) rays -> (forall r, In r rays -> 0 <= dot a (apply m r)) -> spanned n rays v ->
  0 <= dot a (apply m v).
Proof.
  intros Hn Ha H. induction H as [|r w v Hin Hw Hv IH]; [rewrite apply_zeros, dot_zeros; lra|].
  assert (Hl : length r = length v).
  { rewrite (spanned_length n rays v Hn Hv). rewrite Forall_forall in Hn. apply Hn. exact Hin. }
  rewrite apply_plus_scaled by exact Hl. rewrite dot_plus_scaled.
  - specialize (Ha r Hin). assert (0 <= w * dot a (apply m r)) by (apply Rmult_le_pos; assumption). lra.
  - unfold apply. rewrite !map_length. reflexivity.
Qed.

(** The matrices of a word, applied from the right to the left. *)
Definition apply_word (matrices : nat -> list vector) (word : list nat) (v : vector) : vector :=
  fold_right (fun o u => apply (matrices o) u) v word.

Lemma apply_word_app ms w u v : apply_word ms (w ++ u) v = apply_word ms w (apply_word ms u v).
Proof. apply fold_right_app. Qed.

Lemma apply_word_length ms n word v :
  (forall o, length (ms o) = n) -> length v = n -> length (apply_word ms word v) = n.
Proof.
  intros Hm Hv. destruct word as [|o word]; simpl; [exact Hv|]. unfold apply. rewrite map_length. apply Hm.
Qed.

Lemma apply_word_plus_scaled ms n word w r v :
  (forall o, length (ms o) = n) -> length r = n -> length v = n ->
  apply_word ms word (plus_scaled w r v) = plus_scaled w (apply_word ms word r) (apply_word ms word v).
Proof.
  intros Hm Hr Hv. induction word as [|o word IH]; simpl; [reflexivity|].
  rewrite IH. apply apply_plus_scaled. rewrite !(apply_word_length ms n) by assumption. reflexivity.
Qed.

Lemma apply_word_zeros ms n word : (forall o, length (ms o) = n) -> apply_word ms word (zeros n) = zeros n.
Proof. intros Hm. induction word as [|o word IH]; simpl; [reflexivity|]. rewrite IH, apply_zeros, Hm. reflexivity. Qed.

Lemma spanned_apply_word_dot n rays ms word (a v : vector) :
  (forall o, length (ms o) = n) -> Forall (fun r => length r = n) rays ->
  (forall r, In r rays -> 0 <= dot a (apply_word ms word r)) -> spanned n rays v ->
  0 <= dot a (apply_word ms word v).
Proof.
  intros Hm Hn Ha H. induction H as [|r w v Hin Hw Hv IH].
  - rewrite (apply_word_zeros ms n) by exact Hm. rewrite dot_zeros. lra.
  - assert (Hr : length r = n) by (rewrite Forall_forall in Hn; apply Hn; exact Hin).
    pose proof (spanned_length n rays v Hn Hv) as Hl.
    rewrite (apply_word_plus_scaled ms n) by assumption. rewrite dot_plus_scaled.
    + specialize (Ha r Hin). assert (0 <= w * dot a (apply_word ms word r)) by (apply Rmult_le_pos; assumption). lra.
    + rewrite !(apply_word_length ms n) by assumption. reflexivity.
Qed.

(** * Every length *)

Section Cones.
Variable n : nat.
Variable symbols : nat.
Variable matrices : nat -> list vector.
Hypothesis square : forall o, length (matrices o) = n.
Variable rays : list vector.
Hypothesis rays_long : Forall (fun r => length r = n) rays.
Let spelled (word : list nat) := Forall (fun o => (o < symbols)%nat) word.

(** A cone that is given by inequalities and lies in that of some rays; no step leaves it. *)
Theorem invariant_cone (normals : list vector) (depth : nat) (a : vector) :
  (forall v, length v = n -> (forall m, In m normals -> 0 <= dot m v) -> spanned n rays v) ->
  (forall m, In m normals -> 0 <= dot m (ones n)) ->
  (forall o, (o < symbols)%nat -> forall r, In r rays -> forall m, In m normals -> 0 <= dot m (apply (matrices o) r)) ->
  (forall word, spelled word -> (0 < length word < depth)%nat -> 0 <= dot a (apply_word matrices word (ones n))) ->
  (forall word, spelled word -> length word = depth -> forall r, In r rays -> 0 <= dot a (apply_word matrices word r)) ->
  forall word, spelled word -> word <> [] -> 0 <= dot a (apply_word matrices word (ones n)).
Proof.
  intros Hspan Hone Hstep Hshort Hlong.
  assert (Hinv : forall word, spelled word ->
            forall m, In m normals -> 0 <= dot m (apply_word matrices word (ones n))).
  { induction word as [|o word IH]; simpl; intros Hw; [exact Hone|]. inversion Hw as [|? ? Ho Hw']; subst.
    intros m Hm. apply (spanned_apply_dot n rays); [exact rays_long | |].
    - intros r Hr. apply Hstep; assumption.
    - apply Hspan; [apply apply_word_length; [exact square | apply repeat_length]|]. apply IH. exact Hw'. }
  intros word Hw Hne. destruct (Nat.lt_ge_cases (length word) depth) as [Hlt|Hge].
  - apply Hshort; [exact Hw|]. split; [|exact Hlt]. destruct word; [congruence | simpl; lia].
  - rewrite <- (firstn_skipn depth word). rewrite apply_word_app.
    assert (Hboth : spelled (firstn depth word) /\ spelled (skipn depth word)).
    { apply Forall_app. rewrite firstn_skipn. exact Hw. }
    destruct Hboth as [Hw1 Hw2].
    apply (spanned_apply_word_dot n rays); [exact square | exact rays_long | |].
    + intros r Hr. apply Hlong; [exact Hw1 | apply firstn_length_le; exact Hge | exact Hr].
    + apply Hspan; [apply apply_word_length; [exact square | apply repeat_length]|]. apply Hinv. exact Hw2.
Qed.

Lemma spanned_scaled_more w u v : spanned n rays u -> spanned n rays v -> 0 <= w -> spanned n rays (plus_scaled w u v).
Proof.
  intros Hu Hv Hw. induction Hu as [|r x u Hin Hx Hu IH].
  - replace (plus_scaled w (zeros n) v) with v; [exact Hv|].
    pose proof (spanned_length n rays v rays_long Hv) as Hl. clear -Hl. revert v Hl.
    induction n as [|k IH]; intros [|y v] Hl; simpl in *; try discriminate; [reflexivity|].
    injection Hl as Hl. unfold plus_scaled; simpl. f_equal; [lra|]. apply IH. exact Hl.
  - replace (plus_scaled w (plus_scaled x r u) v) with (plus_scaled (w * x) r (plus_scaled w u v)).
    + apply spanned_more; [exact Hin | apply Rmult_le_pos; assumption | exact IH].
    + pose proof (spanned_length n rays v rays_long Hv) as H1. pose proof (spanned_length n rays u rays_long Hu) as H2.
      assert (H3 : length r = n) by (rewrite Forall_forall in rays_long; apply rays_long; exact Hin).
      clear -H1 H2 H3. revert r u v H1 H2 H3. induction n as [|k IH]; intros [|a r] [|b u] [|c v] H1 H2 H3;
        simpl in *; try discriminate; [reflexivity|].
      injection H1 as H1. injection H2 as H2. injection H3 as H3. unfold plus_scaled in *; simpl.
      f_equal; [lra|]. apply IH; assumption.
Qed.

(** A cone of rays that no step leaves: then comparisons at the rays are enough. *)
Theorem closed_cone (a : vector) :
  (forall o, (o < symbols)%nat -> spanned n rays (apply (matrices o) (ones n))) ->
  (forall o, (o < symbols)%nat -> forall r, In r rays -> spanned n rays (apply (matrices o) r)) ->
  (forall r, In r rays -> 0 <= dot a r) ->
  forall word, spelled word -> word <> [] -> 0 <= dot a (apply_word matrices word (ones n)).
Proof.
  intros Hone Hstep Ha.
  assert (Hinv : forall o v, (o < symbols)%nat -> spanned n rays v -> spanned n rays (apply (matrices o) v)).
  { intros o v Ho Hv. induction Hv as [|r w v Hin Hw Hv IH].
    - rewrite apply_zeros, square. apply spanned_zero.
    - rewrite apply_plus_scaled.
      + apply spanned_scaled_more; [apply Hstep; assumption | exact IH | exact Hw].
      + rewrite (spanned_length n rays v rays_long Hv). rewrite Forall_forall in rays_long. apply rays_long. exact Hin. }
  assert (Hall : forall word, spelled word -> word <> [] -> spanned n rays (apply_word matrices word (ones n))).
  { induction word as [|o word IH]; intros Hw Hne; [congruence|]. inversion Hw as [|? ? Ho Hw']; subst. simpl.
    destruct word as [|o' word]; [apply Hone; exact Ho|]. apply Hinv; [exact Ho|]. apply IH; [exact Hw' | discriminate]. }
  intros word Hw Hne. apply (spanned_dot n rays); [exact rays_long | exact Ha | apply Hall; assumption].
Qed.

End Cones.
