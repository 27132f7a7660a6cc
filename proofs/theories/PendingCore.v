(** Rules that are not proved yet: they accept nothing. *)

From Coq Require Import ZArith List QArith.
From Paramverify Require Import Poly Goal Certificate Rule.

Definition check_constant (rec : checker) (g : goal) : bool := false.
Lemma check_constant_sound : forall rec, honest rec -> forall g, check_constant rec g = true -> holds g.
Proof. discriminate. Qed.

Definition check_fixed (rec : checker) (g : goal) (k : nat) (c : cert) : bool := false.
Lemma check_fixed_sound : forall rec, honest rec -> forall g k c, check_fixed rec g k c = true -> holds g.
Proof. discriminate. Qed.

Definition check_factors (rec : checker) (g : goal) (a : Q) (l : list (qpoly * positive * option (bool * cert))) : bool := false.
Lemma check_factors_sound : forall rec, honest rec -> forall g a l, check_factors rec g a l = true -> holds g.
Proof. discriminate. Qed.

Definition check_sum (rec : checker) (g : goal) (l : list (qpoly * cert)) : bool := false.
Lemma check_sum_sound : forall rec, honest rec -> forall g l, check_sum rec g l = true -> holds g.
Proof. discriminate. Qed.

Definition check_ends (rec : checker) (g : goal) (k : nat) (lower upper : cert) (concave : option cert) : bool := false.
Lemma check_ends_sound : forall rec, honest rec -> forall g k lower upper concave, check_ends rec g k lower upper concave = true -> holds g.
Proof. discriminate. Qed.

Definition check_monotone (rec : checker) (g : goal) (k : nat) (upper : bool) (slope rest : cert) : bool := false.
Lemma check_monotone_sound : forall rec, honest rec -> forall g k upper slope rest, check_monotone rec g k upper slope rest = true -> holds g.
Proof. discriminate. Qed.

Definition check_quadratic (rec : checker) (g : goal) (k : nat) (leading constant discriminant : cert) : bool := false.
Lemma check_quadratic_sound : forall rec, honest rec -> forall g k leading constant discriminant, check_quadratic rec g k leading constant discriminant = true -> holds g.
Proof. discriminate. Qed.

Definition check_bernstein (rec : checker) (g : goal) (t : tree) : bool := false.
Lemma check_bernstein_sound : forall rec, honest rec -> forall g t, check_bernstein rec g t = true -> holds g.
Proof. discriminate. Qed.

Definition check_constraint (rec : checker) (g : goal) (i : nat) (a : Q) (c : cert) : bool := false.
Lemma check_constraint_sound : forall rec, honest rec -> forall g i a c, check_constraint rec g i a c = true -> holds g.
Proof. discriminate. Qed.

Definition check_divide (rec : checker) (g : goal) (i : nat) (factor cofactor : qpoly) (plus : bool) (c : cert) : bool := false.
Lemma check_divide_sound : forall rec, honest rec -> forall g i factor cofactor plus c, check_divide rec g i factor cofactor plus c = true -> holds g.
Proof. discriminate. Qed.

Definition check_contradiction (rec : checker) (g : goal) (i j : nat) : bool := false.
Lemma check_contradiction_sound : forall rec, honest rec -> forall g i j, check_contradiction rec g i j = true -> holds g.
Proof. discriminate. Qed.

Definition check_squares (rec : checker) (g : goal) (terms : list term) (multiplier : option (list term)) : bool := false.
Lemma check_squares_sound : forall rec, honest rec -> forall g terms multiplier, check_squares rec g terms multiplier = true -> holds g.
Proof. discriminate. Qed.

Definition check_vanish (rec : checker) (g : goal) (i : nat) (l : list (Q * qpoly)) (c : cert) : bool := false.
Lemma check_vanish_sound : forall rec, honest rec -> forall g i l c, check_vanish rec g i l c = true -> holds g.
Proof. discriminate. Qed.
