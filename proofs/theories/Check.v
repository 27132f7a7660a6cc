(** The checker: one function, by recursion on the depth of proofs inside proofs. *)

From Coq Require Import ZArith List Bool QArith.
From Paramverify Require Import Poly Goal Certificate Rule RuleConvexRoot RuleConvex RuleMoves RuleExponential
  RuleBlowup RuleProduct RuleLogarithm RuleCore RuleBernstein RuleSquares RuleLemma.
Import ListNotations.

(** [lemmas]: goals that are proved already. *)
Fixpoint check (depth : nat) (lemmas : list goal) (g : goal) (c : cert) : bool :=
  match depth with
  | O => false
  | S depth =>
      let rec := check depth lemmas in
      match c with
      | CConstant => check_constant rec g
      | CFixed k c => check_fixed rec g k c
      | CFactors a l => check_factors rec g a l
      | CSum l => check_sum rec g l
      | CEnds k lower upper concave => check_ends rec g k lower upper concave
      | CMonotone k upper slope rest => check_monotone rec g k upper slope rest
      | CQuadratic k leading constant discriminant => check_quadratic rec g k leading constant discriminant
      | CBernstein t => check_bernstein rec g t
      | CConvex point => check_convex rec g point
      | CConvexRoot minimal low high point => check_convex_root rec g minimal low high point
      | CConstraint i a c => check_constraint rec g i a c
      | CDivide i factor cofactor plus c => check_divide rec g i factor cofactor plus c
      | CContradiction i j => check_contradiction rec g i j
      | CStretch k i c => check_stretch rec g k i c
      | CEliminate k i j c => check_eliminate rec g k i j c
      | CProduct k powers c => check_product rec g k powers c
      | CBlowup l => check_blowup rec g l
      | CEnclose low high c => check_enclose rec g low high c
      | CExponential => check_exponential rec g
      | CLogarithm k cuts l => check_logarithm rec g k cuts l
      | CSquares terms multiplier => check_squares rec g terms multiplier
      | CVanish i l c => check_vanish rec g i l c
      | CLemma i => check_lemma lemmas g i
      end
  end.

(** Lemmas one after the other; each may use those before it. *)
Fixpoint check_lemmas (depth : nat) (known : list goal) (l : list (goal * cert)) : option (list goal) :=
  match l with
  | [] => Some known
  | (g, c) :: l => if check depth known g c then check_lemmas depth (known ++ [g]) l else None
  end.

(** All claims, with lemmas that are proved first. *)
Definition check_all (depth : nat) (lemmas claims : list (goal * cert)) : bool :=
  match check_lemmas depth [] lemmas with
  | Some known => forallb (fun p => check depth known (fst p) (snd p)) claims
  | None => false
  end.

(** Proofs inside proofs that are deeper are not accepted. *)
Definition max_depth : nat := 61.
