(** Priors as finite networks: variables one after the other, each with a distribution that may depend on the
    values of those before it. A world is the list of all values. *)

From Coq Require Import Reals ZArith List.
From Paramverify Require Import Expressions Sums Programs Privacy.
Import ListNotations.
Local Open Scope Z_scope.

Definition network := list (world -> distribution Z).

Fixpoint extended (worlds : distribution world) (net : network) : distribution world :=
  match net with
  | [] => worlds
  | next :: rest =>
      extended (then_do worlds (fun w => map (fun way => (fst way, w ++ [snd way])) (next w))) rest
  end.

(** All worlds with their probabilities: the product of the probabilities of their values. *)
Definition worlds_of (net : network) : distribution world := extended (always []) net.

(** The value of a variable in a world. *)
Definition variable_in (w : world) (k : nat) : Z := nth k w 0.

(** ** The distributions that case files name *)

Definition bernoulli (q : expression) : distribution Z := [(Minus (Whole 1) q, 0); (q, 1)].

Fixpoint choices (n k : nat) : Z :=
  match n, k with
  | _, O => 1
  | O, S _ => 0
  | S n', S k' => choices n' k' + choices n' k
  end.

Definition binomial (n : nat) (q : expression) : distribution Z :=
  map (fun k => (Times (Whole (choices n k)) (Times (Power q k) (Power (Minus (Whole 1) q) (n - k))), Z.of_nat k))
      (seq 0 (S n)).

(** Values with their probabilities. *)
Definition listed (ways : list (Z * expression)) : distribution Z := map (fun way => (snd way, fst way)) ways.

(** A table whose row is chosen by the values of other variables. *)
Fixpoint row_of (rows : list (list Z * list (Z * expression))) (given : list Z) : distribution Z :=
  match rows with
  | [] => []
  | (key, ways) :: rest => if same key given then listed ways else row_of rest given
  end.

(** A value that others determine. *)
Definition determined (x : Z) : distribution Z := always x.
