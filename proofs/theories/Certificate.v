(** Certificates: proofs of goals as data, with whole numbers only.  A rational number is a whole one over a
    positive whole one.  Variables, constraints and lemmas are named by their numbers, from 0. *)

From Coq Require Import ZArith List QArith.
From Paramverify Require Import Poly.

(** Polynomials that are not negative on the points of a goal: x - a, b - x, and a constraint. *)
Inductive side := SLow (k : nat) (a : Q) | SHigh (k : nat) (b : Q) | SCond (i : nat).

(** A sum of terms: a product of such polynomials times a sum of squares with coefficients. *)
Definition term := (list side * list (Q * qpoly))%type.

(** One constructor for each kind of proof.  A flag for an end is true for the upper one, a flag for a sign is
    true for plus. *)
Inductive cert :=
  | CConstant
  | CFixed (k : nat) (c : cert)
  | CFactors (a : Q) (l : list (qpoly * positive * option (bool * cert)))
  | CSum (l : list (qpoly * cert))
  | CEnds (k : nat) (lower upper : cert) (concave : option cert)
  | CMonotone (k : nat) (upper : bool) (slope rest : cert)
  | CQuadratic (k : nat) (leading constant discriminant : cert)
  | CBernstein (t : tree)
  | CConvex (point : list Q)
  | CConvexRoot (minimal : qpoly) (low high : Q) (point : list qpoly)
  | CConstraint (i : nat) (a : Q) (c : cert)
  | CDivide (i : nat) (factor cofactor : qpoly) (plus : bool) (c : cert)
  | CContradiction (i j : nat)
  | CStretch (k i : nat) (c : cert)
  | CEliminate (k i j : nat) (c : cert)
  | CProduct (k : nat) (powers : list (nat * positive * bool)) (c : cert)
  | CBlowup (l : list (nat * bool * cert))
  | CEnclose (low high : Q) (c : cert)
  | CExponential
  | CLogarithm (k : nat) (cuts : list Q) (l : list (cell * cert))
  | CSquares (terms : list term) (multiplier : option (list term))
  | CVanish (i : nat) (l : list (Q * qpoly)) (c : cert)
  | CLemma (i : nat)
(** Cuts of a box.  A cut of variable k at a has the part below it first.  [TLow] and [THigh] go to the lower
    and the upper end of a variable in which the polynomial is monotone. *)
with tree :=
  | TLeaf
  | TOutside (i : nat)
  | TProof (c : cert)
  | TLow (k : nat) (t : tree)
  | THigh (k : nat) (t : tree)
  | TCut (k : nat) (a : Q) (low high : tree)
(** A cell of the rule for logarithms: away from 0, with so many terms and an enclosure of the logarithm at its
    upper end; or at 0, with the least value of the logarithm, a power, and a bound. *)
with cell :=
  | Between (terms : positive) (low high : Q)
  | Near (least : Q) (power : nat) (bound : Q).
