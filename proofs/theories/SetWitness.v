(* Witnesses about sets of outputs: at a point the sum of max(0, t) is larger than the room. Some terms are chosen;
   where their sum alone is larger than the room, the sum of all positive ones is too. *)
From Coq Require Import Reals QArith Lra List.
From Paramverify Require Import Poly Goal Witness WitnessPoints Sets.
Import ListNotations.
Local Open Scope R_scope.

Fixpoint less_chosen (room : qpoly) (terms : list qpoly) (chosen : list bool) : qpoly :=
  match terms, chosen with
  | t :: l, b :: m => less_chosen (if b then qsub room t else room) l m
  | _, _ => room
  end.

Lemma less_chosen_ok : forall terms chosen room e,
  qeval (less_chosen room terms chosen) e = qeval room e - chosen_sum terms chosen e.
Proof.
  induction terms as [|t l IH]; intros [|b m] room e; simpl; try ring.
  rewrite IH. destruct b; [rewrite qeval_sub|]; ring.
Qed.

Definition left_of (g : goal) (terms : list qpoly) (chosen : list bool) : goal :=
  for_poly g (less_chosen (gpoly g) terms chosen).

Lemma beyond_room : forall g terms chosen e, dom (left_of g terms chosen) e ->
  qeval (gpoly (left_of g terms chosen)) e < 0 -> dom g e /\ qeval (gpoly g) e < excess terms e.
Proof.
  intros g terms chosen e D N. split; [exact D|]. unfold left_of in N. simpl in N.
  rewrite less_chosen_ok in N. pose proof (every_set terms chosen e). lra.
Qed.

Definition refutes_sum (g : goal) (terms : list qpoly) (chosen : list bool) (v : list Q) : bool :=
  refutes (left_of g terms chosen) v.

Theorem refutes_sum_sound : forall g terms chosen v, refutes_sum g terms chosen v = true ->
  dom g (values v) /\ qeval (gpoly g) (values v) < excess terms (values v).
Proof.
  intros g terms chosen v H. apply refutes_sound in H as [D N]. exact (beyond_room _ _ _ _ D N).
Qed.

Definition refutes_sum_with_exp (g : goal) (terms : list qpoly) (chosen : list bool) (v : list Q) : bool :=
  refutes_with_exp (left_of g terms chosen) v.

Theorem refutes_sum_with_exp_sound : forall g terms chosen v, refutes_sum_with_exp g terms chosen v = true ->
  exists e, dom g e /\ qeval (gpoly g) e < excess terms e.
Proof.
  intros g terms chosen v H. apply refutes_with_exp_sound in H as (e & D & N).
  exists e. exact (beyond_room _ _ _ _ D N).
Qed.
