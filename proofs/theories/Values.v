(** Values of programs, and what operators and draws make of them.

    `Language.v` has the programs. Everything random is a list of ways, see `Programs.v`. *)

From Coq Require Import Reals ZArith String Ascii List Bool.
From Paramverify Require Import Expressions Sums Programs Privacy Networks.
Import ListNotations.
Local Open Scope Z_scope.

(** ** Values

    A list is [Entry first rest], or [Empty]. [Share] is a number in the parameters, such as a probability. [Wrong] is
    the value of what has none, as in Python an error. *)
Inductive data :=
| Number (z : Z)
| Truth (b : bool)
| Label (s : string)
| Empty
| Entry (first rest : data)
| Share (e : expression)
| Wrong.

Fixpoint list_of (l : list data) : data := match l with [] => Empty | v :: l => Entry v (list_of l) end.

Fixpoint entries (v : data) : option (list data) :=
  match v with
  | Empty => Some []
  | Entry first rest => option_map (cons first) (entries rest)
  | _ => None
  end.

(** True and False count as 1 and 0 in sums and comparisons. *)
Definition number (v : data) : option Z :=
  match v with Number z => Some z | Truth b => Some (if b then 1 else 0) | _ => None end.

Definition share (v : data) : option expression :=
  match v with Share e => Some e | _ => option_map Whole (number v) end.

(** What counts as true: neither 0, nor an empty list or text. *)
Definition truth (v : data) : option bool :=
  match v with
  | Number z => Some (negb (z =? 0))
  | Truth b => Some b
  | Label s => Some (negb (String.eqb s ""))
  | Empty => Some false
  | Entry _ _ => Some true
  | _ => None
  end.

(** Whether two values are equal; nothing is said about numbers in the parameters. *)
Fixpoint equal (a b : data) : option bool :=
  match a, b with
  | Share _, _ | _, Share _ | Wrong, _ | _, Wrong => None
  | Label s, Label t => Some (String.eqb s t)
  | Empty, Empty => Some true
  | Entry a l, Entry b m =>
      match equal a b, equal l m with Some x, Some y => Some (x && y) | _, _ => None end
  | _, _ => Some match number a, number b with Some x, Some y => x =? y | _, _ => false end
  end.

(** ** Operators *)

Inductive operator :=
| Add | Subtract | Multiply | Divide | Floor_divide | Remainder | Raise | Negate
| Equal | Unequal | Less | At_most | Negation | Among
| List_of | Index | Slice | Length | Total | Greatest | Least | Magnitude | Range.

Definition of_truth (found : option bool) : data := match found with Some b => Truth b | None => Wrong end.

(** Whole numbers as such, and all others as expressions. *)
Definition arithmetic (whole : Z -> Z -> Z) (real : expression -> expression -> expression) (a b : data) : data :=
  match number a, number b with
  | Some x, Some y => Number (whole x y)
  | _, _ => match share a, share b with Some x, Some y => Share (real x y) | _, _ => Wrong end
  end.

Definition added (a b : data) : data :=
  match entries a, entries b with
  | Some l, Some m => list_of (l ++ m)
  | _, _ => arithmetic Z.add Plus a b
  end.

Definition divided (a b : data) : data :=
  match number a, number b with
  | Some x, Some y => if y =? 0 then Wrong else if x mod y =? 0 then Number (x / y) else Share (Over (Whole x) (Whole y))
  | _, _ => match share a, share b with Some x, Some y => Share (Over x y) | _, _ => Wrong end
  end.

Definition raised (a b : data) : data :=
  match number b with
  | Some n =>
      if 0 <=? n then
        match number a with
        | Some x => Number (x ^ n)
        | None => match share a with Some x => Share (Power x (Z.to_nat n)) | None => Wrong end
        end
      else match share a with Some x => Share (Over (Whole 1) (Power x (Z.to_nat (- n)))) | None => Wrong end
  | None => Wrong
  end.

Definition whole_parts (f : Z -> Z -> Z) (a b : data) : data :=
  match number a, number b with
  | Some x, Some y => if y =? 0 then Wrong else Number (f x y)
  | _, _ => Wrong
  end.

Definition compared (f : Z -> Z -> bool) (a b : data) : data :=
  match number a, number b with Some x, Some y => Truth (f x y) | _, _ => Wrong end.

Fixpoint among (v : data) (l : list data) : option bool :=
  match l with
  | [] => Some false
  | w :: l => match equal v w, among v l with Some x, Some y => Some (x || y) | _, _ => None end
  end.

(** Negative places count from the end. *)
Definition place (l : list data) (k : Z) : Z := if k <? 0 then k + Z.of_nat (length l) else k.

Definition indexed (l : list data) (k : Z) : data :=
  let k := place l k in if k <? 0 then Wrong else nth (Z.to_nat k) l Wrong.

Definition sliced (l : list data) (from to : Z) : data :=
  let first := Z.to_nat (place l from) in list_of (skipn first (firstn (Z.to_nat (place l to)) l)).

Definition extreme (f : Z -> Z -> Z) (l : list data) : data :=
  match l with
  | [] => Wrong
  | v :: l =>
      fold_left (fun a b => match a, b with Number x, Number y => Number (f x y) | _, _ => Wrong end) l
                (match v with Number x => Number x | _ => Wrong end)
  end.

(** The arguments of max and min: one list, or several numbers. *)
Definition several (given : list data) : option (list data) :=
  match given with [v] => entries v | _ => Some given end.

(** All steps from one number on, before the other one. *)
Definition range (from to step : Z) : data :=
  let count := if 0 <? step then (to - from + step - 1) / step else if step <? 0 then (from - to - step - 1) / - step else 0 in
  if step =? 0 then Wrong
  else list_of (map (fun k => Number (from + step * Z.of_nat k)) (seq 0 (Z.to_nat count))).

Definition applied (o : operator) (given : list data) : data :=
  match o, given with
  | Add, [a; b] => added a b
  | Subtract, [a; b] => arithmetic Z.sub Minus a b
  | Multiply, [a; b] => arithmetic Z.mul Times a b
  | Divide, [a; b] => divided a b
  | Floor_divide, [a; b] => whole_parts Z.div a b
  | Remainder, [a; b] => whole_parts Z.modulo a b
  | Raise, [a; b] => raised a b
  | Negate, [a] => arithmetic Z.sub Minus (Number 0) a
  | Equal, [a; b] => of_truth (equal a b)
  | Unequal, [a; b] => of_truth (option_map negb (equal a b))
  | Less, [a; b] => compared Z.ltb a b
  | At_most, [a; b] => compared Z.leb a b
  | Negation, [a] => of_truth (option_map negb (truth a))
  | Among, [a; b] => match entries b with Some l => of_truth (among a l) | None => Wrong end
  | List_of, l => list_of l
  | Index, [a; k] => match entries a, number k with Some l, Some k => indexed l k | _, _ => Wrong end
  | Slice, [a; from] =>
      match entries a, number from with Some l, Some i => sliced l i (Z.of_nat (length l)) | _, _ => Wrong end
  | Slice, [a; from; to] =>
      match entries a, number from, number to with Some l, Some i, Some j => sliced l i j | _, _, _ => Wrong end
  | Length, [a] => match entries a with Some l => Number (Z.of_nat (length l)) | None => Wrong end
  | Total, [a] => match entries a with Some l => fold_left added l (Number 0) | None => Wrong end
  | Greatest, l => match several l with Some l => extreme Z.max l | None => Wrong end
  | Least, l => match several l with Some l => extreme Z.min l | None => Wrong end
  | Magnitude, [Number x] => Number (Z.abs x)
  | Range, [a; b; c] =>
      match number a, number b, number c with Some a, Some b, Some c => range a b c | _, _, _ => Wrong end
  | _, _ => Wrong
  end.

(** ** Draws *)

Inductive draw :=
| Flip  (* True with a probability, else False *)
| Uniform  (* each whole number from one to another alike *)
| Weighted  (* a value, its probability, a value, its probability, ... *)
| Binomial  (* how many of n flips are True *)
| Clamped_geometric  (* clamp(x + geometric(a), low, high) *)
| Clamped_one_sided.  (* clamp(x + one_sided_geometric(a), low, high) *)

(** [x + geometric(a)] is k with probability (1 - a) / (1 + a) * a ^ |k - x|; what falls beyond an end is given to it. *)
Definition at_least_geometric (a : expression) (d : Z) : expression :=  (* the noise is d or more *)
  if 0 <=? d then Over (Power a (Z.to_nat d)) (Plus (Whole 1) a)
  else Minus (Whole 1) (Over (Power a (Z.to_nat (1 - d))) (Plus (Whole 1) a)).

Definition at_least_one_sided (a : expression) (d : Z) : expression :=
  if 0 <=? d then Power a (Z.to_nat d) else Whole 1.

Definition exactly_geometric (a : expression) (d : Z) : expression :=
  Over (Times (Minus (Whole 1) a) (Power a (Z.abs_nat d))) (Plus (Whole 1) a).

Definition exactly_one_sided (a : expression) (d : Z) : expression :=
  if 0 <=? d then Times (Minus (Whole 1) a) (Power a (Z.to_nat d)) else Whole 0.

Definition clamped (at_least exactly : Z -> expression) (x low high : Z) : distribution data :=
  if high <? low then always Wrong
  else if low =? high then always (Number low)
  else (Minus (Whole 1) (at_least (low + 1 - x)), Number low)
       :: map (fun k => let o := low + Z.of_nat k in (exactly (o - x), Number o)) (seq 1 (Z.to_nat (high - low - 1)))
       ++ [(at_least (high - x), Number high)].

Fixpoint weighted (given : list data) : option (distribution data) :=
  match given with
  | [] => Some []
  | v :: p :: rest => match share p, weighted rest with Some e, Some d => Some ((e, v) :: d) | _, _ => None end
  | _ => None
  end.

Definition drawn (d : draw) (given : list data) : distribution data :=
  match d, given with
  | Flip, [p] =>
      match share p with Some e => [(e, Truth true); (Minus (Whole 1) e, Truth false)] | None => always Wrong end
  | Uniform, [a; b] =>
      match number a, number b with
      | Some a, Some b =>
          let n := b - a + 1 in
          if 0 <? n then map (fun k => (Over (Whole 1) (Whole n), Number (a + Z.of_nat k))) (seq 0 (Z.to_nat n))
          else always Wrong
      | _, _ => always Wrong
      end
  | Weighted, _ => match weighted given with Some d => d | None => always Wrong end
  | Binomial, [n; p] =>
      match number n, share p with
      | Some n, Some e =>
          if 0 <=? n then map (fun way => (fst way, Number (snd way))) (binomial (Z.to_nat n) e) else always Wrong
      | _, _ => always Wrong
      end
  | Clamped_geometric, [x; a; low; high] =>
      match number x, share a, number low, number high with
      | Some x, Some a, Some low, Some high => clamped (at_least_geometric a) (exactly_geometric a) x low high
      | _, _, _, _ => always Wrong
      end
  | Clamped_one_sided, [x; a; low; high] =>
      match number x, share a, number low, number high with
      | Some x, Some a, Some low, Some high => clamped (at_least_one_sided a) (exactly_one_sided a) x low high
      | _, _, _, _ => always Wrong
      end
  | _, _ => always Wrong
  end.
