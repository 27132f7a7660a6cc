(** Random experiments with finitely many outcomes, as lists of ways and their probabilities.

    A program with finitely many random choices is written with [always], [choose] and [then_do]; each way
    through it is one entry of its list, with the product of the probabilities on that way. *)

From Coq Require Import Reals ZArith List Lra.
From Paramverify Require Import Expressions Sums.
Import ListNotations.

Definition distribution (A : Type) := list (expression * A).

Section Distributions.
Context {A B : Type}.

(** The probability of an event: the sum of the weights of the ways on which it happens. *)
Definition probability (p : point) (d : distribution A) (event : A -> bool) : R :=
  total (fun way => if event (snd way) then value p (fst way) else 0%R) d.

Definition always (x : A) : distribution A := [(Whole 1, x)].

Definition choose (ways : list (expression * A)) : distribution A := ways.

Definition then_do (d : distribution A) (next : A -> distribution B) : distribution B :=
  flat_map (fun way => map (fun more => (Times (fst way) (fst more), snd more)) (next (snd way))) d.

(** The law of total probability, which is how [then_do] is meant. *)
Lemma probability_then_do (p : point) (d : distribution A) (next : A -> distribution B) (event : B -> bool) :
  total (fun way => if event (snd way) then value p (fst way) else 0%R) (then_do d next)
  = total (fun way => value p (fst way)
      * total (fun more => if event (snd more) then value p (fst more) else 0) (next (snd way)))%R d.
Proof.
  unfold then_do. rewrite total_flat_map. apply total_ext. intros [w x] _. simpl.
  rewrite total_map, <- total_scale. apply total_ext. intros [v y] _. simpl.
  destruct (event y); [reflexivity | ring].
Qed.

End Distributions.

Notation "x <- d ;; rest" := (then_do d (fun x => rest))
  (at level 61, d at next level, right associativity) : case_scope.

(** Programs as control graphs: in each state a choice among finitely many steps, each of which may put out a
    symbol and leads to a next state. [run] goes through the graph for a bounded number of steps. *)
Section Control.
Context {State : Type}.

Definition control := State -> distribution (option Z * State).

Fixpoint run (graph : control) (steps : nat) (s : State) : distribution (list Z) :=
  match steps with
  | O => always []
  | S more =>
      then_do (graph s) (fun step =>
        then_do (run graph more (snd step)) (fun rest =>
          always (match fst step with Some o => o :: rest | None => rest end)))
  end.

End Control.
