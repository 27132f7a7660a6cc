(** Rules that are not proved yet: they accept nothing. *)

From Coq Require Import ZArith List QArith.
From Paramverify Require Import Poly Goal Certificate Rule.

Definition check_convex (rec : checker) (g : goal) (point : list Q) : bool := false.
Lemma check_convex_sound : forall rec, honest rec -> forall g point, check_convex rec g point = true -> holds g.
Proof. discriminate. Qed.

Definition check_convex_root (rec : checker) (g : goal) (minimal : qpoly) (low high : Q) (point : list qpoly) : bool := false.
Lemma check_convex_root_sound : forall rec, honest rec -> forall g minimal low high point, check_convex_root rec g minimal low high point = true -> holds g.
Proof. discriminate. Qed.

