(** A small language of programs with finite random choices, and what its programs mean.

    A program of a case file is written here nearly as it stands there. [outputs_of] says which outputs it has, each
    way with its probability. `Values.v` has operators and draws. Nothing here computes claims. *)

From Coq Require Import Reals ZArith String Ascii List Bool.
From Paramverify Require Import Expressions Sums Programs Privacy.
From Paramverify Require Export Values.
Import ListNotations.
Local Open Scope Z_scope.

(** ** Expressions *)

Declare Scope program_scope.
Delimit Scope program_scope with program.

Inductive term :=
| Num (z : Z)
| Text (s : string)
| Yes
| No
| Var (x : string)
| Known (e : expression)  (* a number in the parameters *)
| Apply (o : operator) (given : list term)
| Draw (d : draw) (given : list term)
| And (a b : term)
| Or (a b : term)
| Where (test a b : term).  (* a if test else b *)

Bind Scope program_scope with term.
Arguments And (a b)%program.
Arguments Or (a b)%program.
Arguments Where (test a b)%program.

Definition memory := list (string * data).

Fixpoint recall (m : memory) (x : string) : data :=
  match m with [] => Wrong | (y, v) :: m => if String.eqb x y then v else recall m x end.

Fixpoint store (m : memory) (x : string) (v : data) : memory :=
  match m with
  | [] => [(x, v)]
  | (y, w) :: m => if String.eqb x y then (y, v) :: m else (y, w) :: store m x v
  end.

Section Each.
Context {A B : Type} (f : A -> distribution B).

(** One after the other, independently. *)
Fixpoint each (l : list A) : distribution (list B) :=
  match l with
  | [] => always []
  | x :: l => then_do (f x) (fun v => then_do (each l) (fun vs => always (v :: vs)))
  end.

End Each.

(** The second part of [And] and [Or] counts only where the first one does not decide. *)
Fixpoint evaluate (m : memory) (t : term) : distribution data :=
  match t with
  | Num z => always (Number z)
  | Text s => always (Label s)
  | Yes => always (Truth true)
  | No => always (Truth false)
  | Var x => always (recall m x)
  | Known e => always (Share e)
  | Apply o l => then_do (each (evaluate m) l) (fun given => always (applied o given))
  | Draw d l => then_do (each (evaluate m) l) (drawn d)
  | And a b =>
      then_do (evaluate m a) (fun v =>
        match truth v with Some true => evaluate m b | Some false => always v | None => always Wrong end)
  | Or a b =>
      then_do (evaluate m a) (fun v =>
        match truth v with Some true => always v | Some false => evaluate m b | None => always Wrong end)
  | Where test a b =>
      then_do (evaluate m test) (fun v =>
        match truth v with Some true => evaluate m a | Some false => evaluate m b | None => always Wrong end)
  end.

(** ** Statements *)

Inductive statement :=
| Nothing
| Then (first rest : statement)
| Assign (x : string) (t : term)
| Assign_at (x : string) (k t : term)  (* x[k] = t *)
| Branch (test : term) (yes no : statement)
| Each (x : string) (values : term) (body : statement)
| Repeat (most : nat) (test : term) (body : statement)  (* while, with a bound for the number of tests *)
| Output (t : term)
| Stop
| Break
| Continue.

Definition block : list statement -> statement := fold_right Then Nothing.

(** Where a run is: it goes on, it leaves a loop or a round of it, it has ended, or it has met an error. *)
Inductive phase := Going | Leaving | Skipping | Ended | Stuck.

Record state := { now : phase; values : memory; told : list data }.

Definition started (m : memory) : state := {| now := Going; values := m; told := [] |}.
Definition turned (s : state) (to : phase) : state := {| now := to; values := values s; told := told s |}.

Definition assigned (s : state) (x : string) (v : data) : state :=
  match v with
  | Wrong => turned s Stuck
  | _ => {| now := now s; values := store (values s) x v; told := told s |}
  end.

Definition replaced (l : list data) (k : Z) (v : data) : data :=
  let k := place l k in
  if (k <? 0) || (Z.of_nat (length l) <=? k) then Wrong
  else list_of (firstn (Z.to_nat k) l ++ v :: skipn (S (Z.to_nat k)) l).

Definition assigned_at (s : state) (x : string) (k v : data) : state :=
  match v, entries (recall (values s) x), number k with
  | Wrong, _, _ => turned s Stuck
  | _, Some l, Some k => assigned s x (replaced l k v)
  | _, _, _ => turned s Stuck
  end.

(** What may be put out: numbers, labels, True, False, and lists of these. *)
Fixpoint shown (v : data) : bool :=
  match v with
  | Number _ | Truth _ | Label _ | Empty => true
  | Entry first rest => shown first && shown rest
  | Share _ | Wrong => false
  end.

Definition telling (s : state) (v : data) : state :=
  if shown v then {| now := now s; values := values s; told := told s ++ [v] |} else turned s Stuck.

Definition is_going (s : state) : bool := match now s with Going => true | _ => false end.

(** After a round of a loop: on with [next], or out of the loop. *)
Definition after_round (s : state) (next : state -> distribution state) : distribution state :=
  match now s with
  | Going | Skipping => next (turned s Going)
  | Leaving => always (turned s Going)
  | Ended | Stuck => always s
  end.

Section Loops.
Variable body : state -> distribution state.

Fixpoint rounds (x : string) (l : list data) (s : state) : distribution state :=
  match l with
  | [] => always s
  | v :: l => then_do (body (assigned s x v)) (fun s => after_round s (rounds x l))
  end.

Fixpoint repeated (most : nat) (test : term) (s : state) : distribution state :=
  match most with
  | O => always (turned s Stuck)
  | S most =>
      then_do (evaluate (values s) test) (fun v =>
        match truth v with
        | Some true => then_do (body s) (fun s => after_round s (repeated most test))
        | Some false => always s
        | None => always (turned s Stuck)
        end)
  end.

End Loops.

(** What a statement does with a run. *)
Fixpoint run (c : statement) (s : state) : distribution state :=
  if is_going s then
    match c with
    | Nothing => always s
    | Then first rest => then_do (run first s) (run rest)
    | Assign x t => then_do (evaluate (values s) t) (fun v => always (assigned s x v))
    | Assign_at x k t =>
        then_do (evaluate (values s) t) (fun v =>
          then_do (evaluate (values s) k) (fun k => always (assigned_at s x k v)))
    | Branch test yes no =>
        then_do (evaluate (values s) test) (fun v =>
          match truth v with Some true => run yes s | Some false => run no s | None => always (turned s Stuck) end)
    | Each x values_of body =>
        then_do (evaluate (values s) values_of) (fun v =>
          match entries v with Some l => rounds (run body) x l s | None => always (turned s Stuck) end)
    | Repeat most test body => repeated (run body) most test s
    | Output t => then_do (evaluate (values s) t) (fun v => always (telling s v))
    | Stop => always (turned s Ended)
    | Break => always (turned s Leaving)
    | Continue => always (turned s Skipping)
    end
  else always s.

(** ** Outputs

    An output is a list of numbers here, as everywhere in these theories. Each value that is told becomes some of them:
    the first says of which kind it is. Different values have different numbers, see `Outcomes.v`. *)
Fixpoint letters (s : string) : list Z :=
  match s with
  | EmptyString => [0]
  | String a s => 1 :: Z.of_N (N_of_ascii a) :: letters s
  end.

Fixpoint code (v : data) : list Z :=
  match v with
  | Number z => [0; z]
  | Truth b => [1; if b then 1 else 0]
  | Label s => 2 :: letters s
  | Empty => [3]
  | Entry first rest => 4 :: code first ++ code rest
  | Share _ => [5]
  | Wrong => [6]
  end.

(** Also errors are seen: no number above is 7. *)
Definition seen (s : state) : output :=
  match now s with Stuck => [7] | _ => flat_map code (told s) end.

(** All outputs of a program that starts with these values of variables. *)
Definition outputs_of (program : statement) (m : memory) : distribution output :=
  then_do (run program (started m)) (fun s => always (seen s)).

(** No run meets an error, or leaves a loop by its bound. *)
Definition never_stuck (program : statement) (m : memory) : Prop :=
  forall weight s, In (weight, s) (run program (started m)) -> now s <> Stuck.

(** ** Words, so that programs are written nearly as in case files *)

Definition For x values_of body := Each x values_of (block body).
Definition If test yes := Branch test (block yes) Nothing.
Definition If_else test yes no := Branch test (block yes) (block no).
Definition While most test body := Repeat most test (block body).
Definition Return t := Then (Output t) Stop.

Definition flip p := Draw Flip [p].
Definition uniform a b := Draw Uniform [a; b].
Definition binomial_draw n p := Draw Binomial [n; p].
Definition choice (ways : list (term * term)) := Draw Weighted (flat_map (fun way => [fst way; snd way]) ways).
Definition clamp_geometric x a low high := Draw Clamped_geometric [x; a; low; high].
Definition clamp_one_sided x a low high := Draw Clamped_one_sided [x; a; low; high].

Definition items l := Apply List_of l.
Definition len t := Apply Length [t].
Definition sum_of t := Apply Total [t].
Definition max_of l := Apply Greatest l.
Definition min_of l := Apply Least l.
Definition abs_of t := Apply Magnitude [t].
Definition clamp x low high := max_of [low; min_of [high; x]].
Definition index t k := Apply Index [t; k].
Definition slice_from t from := Apply Slice [t; from].
Definition slice t from to := Apply Slice [t; from; to].
Definition range_of from to step := Apply Range [from; to; step].
Definition negative t := Apply Negate [t].
Definition negation t := Apply Negation [t].
Definition isin t l := Apply Among [t; l].

Definition num_of_term (t : term) : option Z := match t with Num z => Some z | _ => None end.
Number Notation term Num num_of_term : program_scope.

Definition var_of_bytes (l : list Byte.byte) : term := Var (string_of_list_byte l).
Definition bytes_of_var (t : term) : option (list Byte.byte) :=
  match t with Var x => Some (list_byte_of_string x) | _ => None end.
(* A scope has notations for numbers or for texts, not for both. *)
Delimit Scope string_scope with string.
Declare Scope name_scope.
String Notation term var_of_bytes bytes_of_var : name_scope.

Notation "x ::= t" := (Assign x t) (at level 71, no associativity) : program_scope.
Notation "a + b" := (Apply Add [a; b]) : program_scope.
Notation "a - b" := (Apply Subtract [a; b]) : program_scope.
Notation "a * b" := (Apply Multiply [a; b]) : program_scope.
Notation "a / b" := (Apply Divide [a; b]) : program_scope.
Notation "a // b" := (Apply Floor_divide [a; b]) (at level 40, left associativity) : program_scope.
Notation "a 'mod' b" := (Apply Remainder [a; b]) : program_scope.
Notation "a ^ b" := (Apply Raise [a; b]) : program_scope.
Notation "a == b" := (Apply Equal [a; b]) (at level 70, no associativity) : program_scope.
Notation "a != b" := (Apply Unequal [a; b]) (at level 70, no associativity) : program_scope.
Notation "a < b" := (Apply Less [a; b]) : program_scope.
Notation "a <= b" := (Apply At_most [a; b]) : program_scope.
Notation "a > b" := (Apply Less [b; a]) : program_scope.
Notation "a >= b" := (Apply At_most [b; a]) : program_scope.
Notation "a && b" := (And a b) : program_scope.
Notation "a || b" := (Or a b) : program_scope.
