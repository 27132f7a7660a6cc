(* Inputs that come only where they are accepted: whatever a system with given inputs does, each of them comes to a
   state that accepts it. *)
From Coq Require Import Reals QArith List Bool Arith.
From Paramverify Require Import Poly Goal Certificate Weights Violations.
Import ListNotations.

Section Environment.

Variable c : system.
Variable inputs : nat.
Variable start : list (nat * weight).
Variables given loop : list nat.

(* The inputs have places. Behind the last one those of the loop come again. *)
Definition input_at (k : nat) : option nat := nth_error (given ++ loop) k.
Definition behind (k : nat) : nat := if Nat.eqb (S k) (length given + length loop) then length given else S k.

(* A state of the system, and the place of the next input. *)
Inductive reaches : nat -> nat -> Prop :=
  | begins : forall p, In p start -> reaches (fst p) 0
  | takes : forall x k i p, reaches x k -> waits c inputs x = true -> input_at k = Some i -> In p (row c x i) ->
      reaches (fst p) (behind k)
  | tells : forall x k a p, reaches x k -> waits c inputs x = false -> In p (row c x a) -> reaches (fst p) k.

(* All that is reached is given. *)
Definition listed (all : list (nat * nat)) (x k : nat) : bool :=
  existsb (fun q => Nat.eqb (fst q) x && Nat.eqb (snd q) k) all.

Definition check_accepted (all : list (nat * nat)) : bool :=
  forallb (fun p => listed all (fst p) 0) start &&
  forallb (fun q =>
    let '(x, k) := q in
    if waits c inputs x then
      match input_at k with
      | Some i => enabled c x i && forallb (fun p => listed all (fst p) (behind k)) (row c x i)
      | None => true
      end
    else forallb (forallb (fun p => listed all (fst p) k)) (nth x c [])) all.

Lemma listed_in : forall all x k, listed all x k = true -> In (x, k) all.
Proof.
  intros all x k H. apply existsb_exists in H as ([y j] & I & E). apply andb_prop in E as [E1 E2].
  apply Nat.eqb_eq in E1, E2. cbn [fst snd] in *. now subst.
Qed.

Lemma reached_listed : forall all, check_accepted all = true -> forall x k, reaches x k -> In (x, k) all.
Proof.
  intros all H. unfold check_accepted in H. apply andb_prop in H as [H1 H2]. rewrite forallb_forall in H1, H2.
  intros x k R. induction R as [p P|x k i p R IH W I P|x k a p R IH W P].
  - apply listed_in. exact (H1 p P).
  - specialize (H2 _ IH). cbn in H2. rewrite W, I in H2. apply andb_prop in H2 as [_ H2].
    rewrite forallb_forall in H2. apply listed_in. exact (H2 p P).
  - specialize (H2 _ IH). cbn in H2. rewrite W in H2. rewrite forallb_forall in H2. apply listed_in.
    unfold row in P. destruct (Nat.lt_ge_cases a (length (nth x c []))) as [L|L].
    + specialize (H2 _ (nth_In _ [] L)). rewrite forallb_forall in H2. exact (H2 p P).
    + rewrite nth_overflow in P by assumption. destruct P.
Qed.

Theorem check_accepted_sound : forall all, check_accepted all = true ->
  forall x k i, reaches x k -> waits c inputs x = true -> input_at k = Some i -> row c x i <> [].
Proof.
  intros all H x k i R W I. pose proof (reached_listed all H x k R) as L. unfold check_accepted in H.
  apply andb_prop in H as [_ H]. rewrite forallb_forall in H. specialize (H _ L). cbn in H. rewrite W, I in H.
  apply andb_prop in H as [H _]. unfold enabled in H. now destruct (row c x i).
Qed.

End Environment.
