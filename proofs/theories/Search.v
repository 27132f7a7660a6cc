(** Looking for something in a list: [vm_compute] does not stop [existsb] at the first one. *)

From Coq Require Import List.
Import ListNotations.

Fixpoint any {A} (test : A -> bool) (l : list A) : bool :=
  match l with [] => false | x :: l => if test x then true else any test l end.

Lemma any_right {A} (test : A -> bool) l : any test l = true -> exists x, In x l /\ test x = true.
Proof.
  induction l as [|x l IH]; simpl; intros H; [discriminate|]. destruct (test x) eqn:E; [exists x; auto|].
  destruct (IH H) as [y [H1 H2]]. exists y. auto.
Qed.
