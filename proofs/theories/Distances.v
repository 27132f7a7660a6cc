(** Bounds that depend on the distance of two inputs: one ratio for each list of pairs. *)

From Coq Require Import Reals List Bool.
From Paramverify Require Import Expressions Sums Symbolic Hmm Sequences Case.
Import ListNotations.
Local Open Scope R_scope.

(** Privacy of all sequences for which [about] holds, of each pair with the ratio of its list. *)
Definition sequences_private_by (p : point) (h : hidden_markov) (about : list nat -> Prop)
    (bounds : list (expression * list (weights * weights))) : Prop :=
  forall ratio pairs, In (ratio, pairs) bounds -> sequences_private p h about (value p ratio) pairs.

Theorem distances_theorem c h lengths bounds :
  certified c (fun K => forallb (fun b => keeps_lengths K h lengths (fst b) (snd b)) bounds) = true ->
  forall values, in_domain c values ->
  sequences_private_by (at_values values) h (fun word => In (length word) lengths) bounds.
Proof.
  intros H values Hv ratio pairs Hin. unfold certified in H. rewrite forallb_forall in H. specialize (H _ Hin).
  apply (lengths_theorem c h lengths pairs ratio); assumption.
Qed.
