(** Rules that are not proved yet: they accept nothing. *)

From Coq Require Import ZArith List QArith.
From Paramverify Require Import Poly Goal Certificate Rule.

Definition check_convex (rec : checker) (g : goal) (point : list Q) : bool := false.
Lemma check_convex_sound : forall rec, honest rec -> forall g point, check_convex rec g point = true -> holds g.
Proof. discriminate. Qed.

Definition check_convex_root (rec : checker) (g : goal) (minimal : qpoly) (low high : Q) (point : list qpoly) : bool := false.
Lemma check_convex_root_sound : forall rec, honest rec -> forall g minimal low high point, check_convex_root rec g minimal low high point = true -> holds g.
Proof. discriminate. Qed.

Definition check_product (rec : checker) (g : goal) (k : nat) (powers : list (nat * positive * bool)) (c : cert) : bool := false.
Lemma check_product_sound : forall rec, honest rec -> forall g k powers c, check_product rec g k powers c = true -> holds g.
Proof. discriminate. Qed.

Definition check_logarithm (rec : checker) (g : goal) (k : nat) (cuts : list Q) (l : list (cell * cert)) : bool := false.
Lemma check_logarithm_sound : forall rec, honest rec -> forall g k cuts l, check_logarithm rec g k cuts l = true -> holds g.
Proof. discriminate. Qed.
