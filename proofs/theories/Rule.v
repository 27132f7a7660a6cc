(** The form of rules: a function that decides, and may ask [rec] about smaller goals; and a lemma that it is
    right whenever [rec] is. *)

From Paramverify Require Import Goal Certificate.

Definition checker := goal -> cert -> bool.
Definition honest (rec : checker) : Prop := forall g c, rec g c = true -> holds g.
