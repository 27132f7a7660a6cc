(** Certificates as text: whole numbers with blanks between them, read inside of Coq.

    What is read is data that the checker looks at, so nothing about the reader has to be proved. *)

From Coq Require Import ZArith List String Ascii QArith.
From Paramverify Require Import Poly Goal Certificate.
Import ListNotations.
Local Open Scope Z_scope.

(** ** Numbers *)

Definition digit_of (a : ascii) : option Z :=
  let n := Z.of_N (N_of_ascii a) in
  if (48 <=? n) && (n <=? 57) then Some (n - 48) else None.

Fixpoint numbers_after (text : string) (sign : Z) (started : bool) (value : Z) : list Z :=
  match text with
  | EmptyString => if started then [sign * value] else []
  | String a rest =>
      match digit_of a with
      | Some d => numbers_after rest sign true (10 * value + d)
      | None =>
          let later := numbers_after rest (if Ascii.eqb a "-" then -1 else 1) false 0 in
          if started then (sign * value) :: later else later
      end
  end.

Definition numbers (text : string) : list Z := numbers_after text 1 false 0.

(** ** Readers: what is read, and the numbers that are left *)

Definition reader (A : Type) := list Z -> option (A * list Z).

Definition give {A} (x : A) : reader A := fun l => Some (x, l).
Definition fail {A} : reader A := fun _ => None.
Definition after {A B} (r : reader A) (f : A -> reader B) : reader B :=
  fun l => match r l with Some (x, l) => f x l | None => None end.

Notation "x <~ r ; rest" := (after r (fun x => rest)) (at level 60, r at next level, right associativity).

Definition one : reader Z := fun l => match l with x :: l => Some (x, l) | [] => None end.
Definition read_nat : reader nat := x <~ one; if x <? 0 then fail else give (Z.to_nat x).
Definition read_positive : reader positive := x <~ one; match x with Zpos n => give n | _ => fail end.
Definition read_bool : reader bool := x <~ one; give (negb (x =? 0)).
Definition read_Q : reader Q := a <~ one; b <~ read_positive; give (a # b)%Q.

Fixpoint times {A} (n : nat) (r : reader A) : reader (list A) :=
  match n with
  | O => give []
  | S n => x <~ r; rest <~ times n r; give (x :: rest)
  end.

(** A count, and then so many things. *)
Definition read_list {A} (r : reader A) : reader (list A) := n <~ read_nat; times n r.

Definition read_option {A} (r : reader A) : reader (option A) :=
  b <~ read_bool; if (b : bool) then (x <~ r; give (Some x)) else give None.

(** ** Polynomials: a count of terms, each a coefficient and the exponents of all variables *)

Section Variables.
Variable width : nat.  (* the number of variables *)

Fixpoint raised (n : nat) (p : poly) : poly := match n with O => p | S n => PX (Pc 0) (raised n p) end.

Fixpoint monomial (c : Z) (exponents : list nat) : poly :=
  match exponents with
  | [] => Pc c
  | e :: rest => raised e (lift (monomial c rest))
  end.

Definition read_term : reader poly := c <~ one; es <~ times width read_nat; give (monomial c es).

Definition read_poly : reader poly := terms <~ read_list read_term; give (fold_right padd (Pc 0) terms).

Definition read_qpoly : reader qpoly := d <~ read_positive; f <~ read_poly; give (QP f d).

(** ** Certificates: the number of the kind, and what belongs to it *)

Definition read_side : reader side :=
  kind <~ one;
  match kind with
  | 0 => k <~ read_nat; a <~ read_Q; give (SLow k a)
  | 1 => k <~ read_nat; b <~ read_Q; give (SHigh k b)
  | 2 => i <~ read_nat; give (SCond i)
  | _ => fail
  end.

Definition read_square : reader (Q * qpoly) := a <~ read_Q; f <~ read_qpoly; give (a, f).

Definition read_squares : reader term :=
  sides <~ read_list read_side; squares <~ read_list read_square; give (sides, squares).

Definition read_cell : reader cell :=
  kind <~ one;
  match kind with
  | 0 => n <~ read_positive; a <~ read_Q; b <~ read_Q; give (Between n a b)
  | 1 => a <~ read_Q; n <~ read_nat; b <~ read_Q; give (Near a n b)
  | _ => fail
  end.

(** Whatever is nested: a certificate, or a tree of cuts. *)
Fixpoint read_cert (deep : nat) : reader cert :=
  match deep with
  | O => fail
  | S deep =>
      let inner := read_cert deep in
      kind <~ one;
      match kind with
      | 0 => give CConstant
      | 1 => k <~ read_nat; c <~ inner; give (CFixed k c)
      | 2 => a <~ read_Q; l <~ read_list (f <~ read_qpoly; n <~ read_positive;
               part <~ read_option (s <~ read_bool; c <~ inner; give (s, c)); give (f, n, part)); give (CFactors a l)
      | 3 => l <~ read_list (f <~ read_qpoly; c <~ inner; give (f, c)); give (CSum l)
      | 4 => k <~ read_nat; a <~ inner; b <~ inner; c <~ read_option inner; give (CEnds k a b c)
      | 5 => k <~ read_nat; u <~ read_bool; s <~ inner; c <~ inner; give (CMonotone k u s c)
      | 6 => k <~ read_nat; a <~ inner; b <~ inner; c <~ inner; give (CQuadratic k a b c)
      | 7 => t <~ read_tree deep; give (CBernstein t)
      | 8 => l <~ read_list read_Q; give (CConvex l)
      | 9 => f <~ read_qpoly; a <~ read_Q; b <~ read_Q; l <~ read_list read_qpoly; give (CConvexRoot f a b l)
      | 10 => i <~ read_nat; a <~ read_Q; c <~ inner; give (CConstraint i a c)
      | 11 => i <~ read_nat; f <~ read_qpoly; g <~ read_qpoly; s <~ read_bool; c <~ inner; give (CDivide i f g s c)
      | 12 => i <~ read_nat; j <~ read_nat; give (CContradiction i j)
      | 13 => k <~ read_nat; i <~ read_nat; c <~ inner; give (CStretch k i c)
      | 14 => k <~ read_nat; i <~ read_nat; j <~ read_nat; c <~ inner; give (CEliminate k i j c)
      | 15 => k <~ read_nat; l <~ read_list (j <~ read_nat; n <~ read_positive; r <~ read_bool; give (j, n, r));
              c <~ inner; give (CProduct k l c)
      | 16 => l <~ read_list (k <~ read_nat; u <~ read_bool; c <~ inner; give (k, u, c)); give (CBlowup l)
      | 17 => a <~ read_Q; b <~ read_Q; c <~ inner; give (CEnclose a b c)
      | 18 => give CExponential
      | 19 => k <~ read_nat; cuts <~ read_list read_Q; l <~ read_list (x <~ read_cell; c <~ inner; give (x, c));
              give (CLogarithm k cuts l)
      | 20 => l <~ read_list read_squares; m <~ read_option (read_list read_squares); give (CSquares l m)
      | 21 => i <~ read_nat; l <~ read_list read_square; c <~ inner; give (CVanish i l c)
      | 22 => i <~ read_nat; give (CLemma i)
      | _ => fail
      end
  end
with read_tree (deep : nat) : reader tree :=
  match deep with
  | O => fail
  | S deep =>
      kind <~ one;
      match kind with
      | 0 => give TLeaf
      | 1 => i <~ read_nat; give (TOutside i)
      | 2 => c <~ read_cert deep; give (TProof c)
      | 3 => k <~ read_nat; t <~ read_tree deep; give (TLow k t)
      | 4 => k <~ read_nat; t <~ read_tree deep; give (THigh k t)
      | 5 => k <~ read_nat; a <~ read_Q; l <~ read_tree deep; h <~ read_tree deep; give (TCut k a l h)
      | _ => fail
      end
  end.

(** ** Domains *)

Definition read_interval : reader interval :=
  a <~ read_Q; b <~ read_Q; x <~ read_bool; y <~ read_bool; give (Iv a b x y).

Definition read_condition : reader cond := s <~ read_bool; f <~ read_qpoly; give (Some (f, s)).

Definition read_fact : reader fact :=
  kind <~ one;
  match kind with
  | 0 => k <~ read_nat; q <~ read_Q; give (Exp k q)
  | 1 => k <~ read_nat; j <~ read_nat; q <~ read_Q; give (Log k j q)
  | _ => fail
  end.

End Variables.

(** Deep enough for what the checker accepts, trees of cuts included. *)
Definition deepest : nat := 2000.

(** A text, in parts: Coq cannot read a string of a hundred thousand characters. *)
Definition texts := list string.

(** All that a text says; nothing where it is not read to its end. *)
Definition read_all {A} (r : reader (list A)) (text : texts) : list A :=
  match r (flat_map numbers text) with
  | Some (x, []) => x
  | _ => []
  end.

(** Polynomials with their proofs; the deep reader is made once. *)
Definition proofs_of (width : nat) (text : texts) : list (poly * cert) :=
  let proof := read_cert width deepest in
  read_all (read_list (f <~ read_poly width; c <~ proof; give (f, c))) text.

(** Proofs to try. *)
Definition certs_of (width : nat) (text : texts) : list cert := read_all (read_list (read_cert width deepest)) text.

(** Constraints of a domain. *)
Definition conditions_of (width : nat) (text : texts) : list cond := read_all (read_list (read_condition width)) text.
