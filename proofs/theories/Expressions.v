(** Numbers of a case: expressions over its parameters, and their values as real numbers.

    A file of a case writes probabilities as people write them, [2 * pA * (1 - pA)]. Such a text is an
    expression, and [value] says which real number it is at a point of the parameters. *)

From Coq Require Import Reals ZArith List.
Import ListNotations.

(** The values of the parameters: the first one is number 0. *)
Definition point := nat -> R.

Definition at_values (values : list R) : point := fun k => nth k values 0%R.

Inductive expression :=
| Whole (z : Z)
| Param (k : nat)
| Plus (a b : expression)
| Minus (a b : expression)
| Times (a b : expression)
| Over (a b : expression)
| Power (a : expression) (n : nat).

Fixpoint value (p : point) (e : expression) : R :=
  match e with
  | Whole z => IZR z
  | Param k => p k
  | Plus a b => value p a + value p b
  | Minus a b => value p a - value p b
  | Times a b => value p a * value p b
  | Over a b => value p a / value p b
  | Power a n => value p a ^ n
  end%R.

(** So that files can write [1/2 * pA ^ 2]. *)
Declare Scope case_scope.
Delimit Scope case_scope with case.
Bind Scope case_scope with expression.

Definition whole_of_expression (e : expression) : option Z :=
  match e with Whole z => Some z | _ => None end.

Number Notation expression Whole whole_of_expression : case_scope.

Infix "+" := Plus : case_scope.
Infix "-" := Minus : case_scope.
Infix "*" := Times : case_scope.
Infix "/" := Over : case_scope.
Infix "^" := Power : case_scope.
