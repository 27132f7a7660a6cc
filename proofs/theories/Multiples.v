(** Polynomials up to a positive factor, and search trees of them: quick answers for those that are written alike. *)

From Coq Require Import ZArith Reals Lia Lra.
From Paramverify Require Import Poly.
Local Open Scope R_scope.

(** a·p = b·q, seen coefficient by coefficient: [vm_compute] stops at the first that differs. *)
Fixpoint same_multiple (a b : Z) (p q : poly) : bool :=
  match p, q with
  | Pc c, Pc d => Z.eqb (a * c) (b * d)
  | PX p1 p2, PX q1 q2 => if same_multiple a b p1 q1 then same_multiple a b p2 q2 else false
  | _, _ => false
  end.

Lemma same_multiple_ok : forall a b p q, same_multiple a b p q = true ->
  forall e, IZR a * eval p e = IZR b * eval q e.
Proof.
  intros a b; induction p as [c|p1 IH1 p2 IH2]; intros [d|q1 q2] H e; simpl in H; try discriminate.
  - apply Z.eqb_eq in H; simpl; now rewrite <- !mult_IZR, H.
  - destruct (same_multiple a b p1 q1) eqn:E; [|discriminate]; simpl.
    rewrite !Rmult_plus_distr_l, (IH1 _ E (shift e)).
    replace (IZR a * (e 0%nat * eval p2 e)) with (e 0%nat * (IZR a * eval p2 e)) by ring.
    rewrite (IH2 _ H e); ring.
Qed.

(** ** The multiple of a polynomial whose coefficients have no common divisor *)

Fixpoint content (c : Z) (p : poly) : Z :=
  match p with
  | Pc d => if Z.eqb c 1 then 1%Z else Z.gcd (if Z.eqb c 0 then d else Z.modulo d c) c
  | PX q p => content (content c q) p
  end.

Fixpoint divided (c : Z) (p : poly) : poly :=
  match p with Pc d => Pc (Z.div d c) | PX q p => PX (divided c q) (divided c p) end.

Definition primitive (p : poly) : poly :=
  let c := content 0 p in
  if Z.ltb 1 c then let q := divided c p in if same_multiple c 1 q p then q else p else p.

Lemma primitive_ok : forall p, exists a, 0 < a /\ forall e, eval p e = a * eval (primitive p) e.
Proof.
  intros p; unfold primitive; destruct (Z.ltb_spec 1 (content 0 p)) as [L|].
  - destruct (same_multiple (content 0 p) 1 (divided (content 0 p) p) p) eqn:E.
    + exists (IZR (content 0 p)); split; [apply IZR_lt; lia|]; intro e; rewrite (same_multiple_ok _ _ _ _ E e); lra.
    + exists 1; split; [lra|]; intro; lra.
  - exists 1; split; [lra|]; intro; lra.
Qed.

(** ** Search trees of polynomials *)

Fixpoint order (p q : poly) : comparison :=
  match p, q with
  | Pc c, Pc d => Z.compare c d
  | Pc _, PX _ _ => Lt
  | PX _ _, Pc _ => Gt
  | PX p1 p2, PX q1 q2 => match order p1 q1 with Eq => order p2 q2 | o => o end
  end.

Lemma order_eq : forall p q, order p q = Eq -> p = q.
Proof.
  induction p as [c|p1 IH1 p2 IH2]; intros [d|q1 q2] H; simpl in H; try discriminate.
  - apply Z.compare_eq in H; now subst.
  - destruct (order p1 q1) eqn:E; try discriminate; now rewrite (IH1 _ E), (IH2 _ H).
Qed.

Inductive index := Empty | Node (low : index) (p : poly) (high : index).

Fixpoint add_to (p : poly) (i : index) : index :=
  match i with
  | Empty => Node Empty p Empty
  | Node l q h => match order p q with Eq => i | Lt => Node (add_to p l) q h | Gt => Node l q (add_to p h) end
  end.

Fixpoint indexed (p : poly) (i : index) : bool :=
  match i with
  | Empty => false
  | Node l q h => match order p q with Eq => true | Lt => indexed p l | Gt => indexed p h end
  end.

Fixpoint index_of (l : list poly) : index := match l with nil => Empty | cons p l => add_to p (index_of l) end.

Lemma indexed_add : forall i p q, indexed q (add_to p i) = true -> q = p \/ indexed q i = true.
Proof.
  induction i as [|l IHl r h IHh]; intros p q H; simpl in *.
  - destruct (order q p) eqn:E; try discriminate; left; now apply order_eq.
  - destruct (order p r); simpl in H; [right; exact H| |]; destruct (order q r); auto.
Qed.

Lemma indexed_ok : forall l p, indexed p (index_of l) = true -> List.In p l.
Proof.
  induction l as [|q l IH]; intros p H; simpl in *; [discriminate|].
  destruct (indexed_add _ _ _ H) as [->|K]; auto.
Qed.
