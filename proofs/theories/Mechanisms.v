(** The mechanisms of case files, as random experiments: what is drawn, and what is released. *)

From Coq Require Import Reals ZArith List Bool.
From Paramverify Require Import Expressions Sums Programs Privacy Hmm.
Import ListNotations.
Local Open Scope Z_scope.

(** The whole numbers 0, 1, ..., n. *)
Definition up_to (n : nat) : list Z := map Z.of_nat (seq 0 (S n)).

(** ** Noise *)

(** What an answer becomes. *)
Definition noise := Z -> distribution Z.

(** The truncated a-geometric mechanism on 0..n: each step away from the answer is a times as likely, and what falls
    beyond an end is given to the end. *)
Definition truncated_geometric (a : expression) (n : nat) : noise := fun f =>
  map (fun o => (Over (Times (if (o =? 0) || (o =? Z.of_nat n) then Whole 1 else Minus (Whole 1) a)
                             (Power a (Z.abs_nat (o - f))))
                      (Plus (Whole 1) a), o))
      (up_to n).

(** Noise that is given as a table: row f has the probabilities of 0, 1, 2, ... for the answer f. *)
Definition noise_table (rows : list (list expression)) : noise := fun f =>
  let row := nth (Z.to_nat f) rows [] in combine row (map Z.of_nat (seq 0 (length row))).

(** Each answer with noise of its own. *)
Fixpoint with_noise (drawn : noise) (answers : list Z) : distribution (list Z) :=
  match answers with
  | [] => always []
  | f :: rest => then_do (drawn f) (fun v => then_do (with_noise drawn rest) (fun vs => always (v :: vs)))
  end.

(** ** Mechanisms that answer once *)

(** One answer with noise. *)
Definition one_answer (drawn : noise) (answer : Z) : distribution output :=
  then_do (drawn answer) (fun v => always [v]).

Definition largest (values : list Z) : Z := fold_right Z.max (hd 0 values) values.

(** The numbers (from 1) of the largest values. *)
Definition places_of_largest (values : list Z) : list Z :=
  map fst (filter (fun place => snd place =? largest values)
                  (combine (map Z.of_nat (seq 1 (length values))) values)).

(** The number of the largest noisy answer; of several ones each alike. *)
Definition noisy_max_uniform (drawn : noise) (answers : list Z) : distribution output :=
  then_do (with_noise drawn answers) (fun values =>
    let places := places_of_largest values in
    map (fun k => (Over (Whole 1) (Whole (Z.of_nat (length places))), [k])) places).

(** The number of the first largest noisy answer. *)
Definition noisy_max_first (drawn : noise) (answers : list Z) : distribution output :=
  then_do (with_noise drawn answers) (fun values => always [hd 0 (places_of_largest values)]).

(** The true value with probability t, and each other one alike. *)
Definition randomized_response (t : expression) (values : list Z) (x : Z) : distribution output :=
  map (fun v => (if v =? x then t else Over (Minus (Whole 1) t) (Whole (Z.of_nat (length values) - 1)), [v])) values.

(** A mechanism that is given as a table: row k belongs to the k-th list of answers. *)
Fixpoint table_row (rows : list (list Z * list expression)) (answers : list Z) : distribution output :=
  match rows with
  | [] => []
  | (key, row) :: rest =>
      if same key answers then combine row (map (fun k => [Z.of_nat k]) (seq 0 (length row))) else table_row rest answers
  end.

(** ** Above threshold *)

Definition below := 0.
Definition above := 1.
Definition stopped := 2.

(** One symbol for each answer until one reaches the threshold. *)
Fixpoint until_above (drawn : noise) (threshold : Z) (answers : list Z) : distribution output :=
  match answers with
  | [] => always []
  | f :: rest =>
      then_do (drawn f) (fun v =>
        if v <? threshold then then_do (until_above drawn threshold rest) (fun symbols => always (below :: symbols))
        else always [above])
  end.

(** The threshold gets noise once and each answer noise of its own; then nothing is put out but [stopped], up to the
    given length. *)
Definition above_threshold (threshold_noise query_noise : noise) (length_of_output : nat)
    (threshold : Z) (answers : list Z) : distribution output :=
  then_do (threshold_noise threshold) (fun r =>
    then_do (until_above query_noise r answers) (fun symbols =>
      always (symbols ++ repeat stopped (length_of_output - length symbols)))).

(** ** Chains that are released day by day *)

Definition matrix := list (list expression).
Definition entry (m : matrix) (i j : nat) : expression := nth j (nth i m []) (Whole 0).

(** The state itself is released with probability t, and each other one alike. *)
Definition truthful (n : nat) (t : expression) : matrix :=
  map (fun s => map (fun o => if Nat.eqb s o then t else Over (Minus (Whole 1) t) (Whole (Z.of_nat n - 1))) (seq 0 n))
      (seq 0 n).

(** Each day the state is released, and then it changes. *)
Definition time_series (emissions transitions : matrix) : hidden_markov := {|
  states := length transitions;
  symbols := fold_right Nat.max 0%nat (map (fun row => length row) emissions);
  move := fun o s t => Times (entry emissions s o) (entry transitions s t)
|}.

(** That the state on the first day is s, where [initial] says how likely that is. *)
Definition first_day (initial : list expression) (s : nat) : weights :=
  fun k => if Nat.eqb k s then nth k initial (Whole 0) else Whole 0.

(** ** Neighbours, where each answer is one of 0..top *)

Fixpoint inputs (n top : nat) : list (list Z) :=
  match n with
  | O => [[]]
  | S n => flat_map (fun x => map (cons x) (inputs n top)) (up_to top)
  end.

Definition differences (x y : list Z) : list Z := map (fun pair => Z.abs (fst pair - snd pair)) (combine x y).

(** Pairs of different inputs for which a condition on the differences of their answers is true. *)
Definition pairs_with (condition : list Z -> bool) (n top : nat) : list (world * world) :=
  filter (fun pair => negb (same (fst pair) (snd pair)) && condition (differences (fst pair) (snd pair)))
         (list_prod (inputs n top) (inputs n top)).

(** Every answer may differ by at most so much. *)
Definition each_differs_by (most : Z) := pairs_with (forallb (fun d => d <=? most)).

(** One answer differs, by at most so much. *)
Definition one_differs_by (most : Z) :=
  pairs_with (fun ds => forallb (fun d => d <=? most) ds && Nat.leb (length (filter (fun d => 0 <? d) ds)) 1).

(** ** Models that are written out step by step *)

(** The probability of a step: the sum of the entries for it. *)
Definition written_out (steps : list (nat * nat * nat * expression)) (o : nat) : nat -> nat -> expression :=
  let of_symbol := filter (fun step => match step with (symbol, _, _, _) => Nat.eqb symbol o end) steps in
  fun s =>
    let of_state := filter (fun step => match step with (_, from, _, _) => Nat.eqb from s end) of_symbol in
    fun t =>
      fold_right (fun step found =>
        match step with (_, _, to, weight) => if Nat.eqb to t then Plus weight found else found end) (Whole 0) of_state.

(** Weights of the states that are listed. *)
Definition weights_of (listed : list (nat * expression)) : weights := fun s =>
  fold_right (fun entry found => if Nat.eqb (fst entry) s then Plus (snd entry) found else found) (Whole 0) listed.
