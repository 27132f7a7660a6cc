(* What rules may do with points: no polynomial occurs here.

   A point gives a number to each variable, a set is a property of points, and `holds_on D f` says that f is
   nowhere negative on D. Each rule that puts another variable into the place of one finds, for a point of D,
   a point of the set of the smaller goal with the same value of the polynomial, up to a positive factor. *)
From Coq Require Import Reals Lra Lia List Arith.
From Paramverify Require Import Poly.
Import ListNotations.
Open Scope R_scope.

Definition holds_on (D : env -> Prop) (f : env -> R) : Prop := forall e, D e -> 0 <= f e.

(* A point of D is moved to one of D', where the other function is at most a positive multiple of f. *)
Lemma holds_by_moving : forall (D D' : env -> Prop) f f',
  (forall e, D e -> exists e' c, D' e' /\ 0 < c /\ f' e' <= c * f e) -> holds_on D' f' -> holds_on D f.
Proof.
  intros D D' f f' H H' e De. destruct (H e De) as (e' & c & De' & Hc & Hf).
  pose proof (H' e' De') as Hp. destruct (Rle_lt_dec 0 (f e)) as [|Hn]; [assumption|].
  assert (c * f e < 0) by (rewrite <- (Rmult_0_r c); apply Rmult_lt_compat_l; assumption). lra.
Qed.

(* A set is the union of some parts. *)
Lemma holds_by_parts : forall (I : Type) (D : env -> Prop) (P : I -> env -> Prop) f,
  (forall e, D e -> exists i, P i e) -> (forall i, holds_on (P i) f) -> holds_on D f.
Proof. intros I D P f H HP e De. destruct (H e De) as [i Hi]. exact (HP i e Hi). Qed.

(* Nothing is to be shown on the empty set. *)
Lemma holds_nowhere : forall (D : env -> Prop) f, (forall e, D e -> False) -> holds_on D f.
Proof. intros D f H e De. destruct (H e De). Qed.

(* --- stretch ------------------------------------------------------------------------------------- *)

(* The segment between e and u is run through as t runs over [0, 1]; e is below u, or above. *)
Lemma between_below : forall e u x, e <= x -> x <= u ->
  exists t, 0 <= t <= 1 /\ x = e + (u - e) * t /\ (e < x -> 0 < t) /\ (x < u -> t < 1).
Proof.
  intros e u x H1 H2. destruct (Req_dec u e) as [E|N].
  - exists 0. repeat split; try lra.
  - assert (Hd : 0 < u - e) by lra. exists ((x - e) / (u - e)).
    assert (Hi : 0 < / (u - e)) by (apply Rinv_0_lt_compat; assumption).
    assert (E1 : (x - e) / (u - e) * (u - e) = x - e) by (field; lra).
    repeat split.
    + apply Rmult_le_pos; lra.
    + apply Rmult_le_reg_r with (u - e); [assumption|]. rewrite E1. lra.
    + field. lra.
    + intro H. apply Rmult_lt_0_compat; lra.
    + intro H. apply Rmult_lt_reg_r with (u - e); [assumption|]. rewrite E1. lra.
Qed.

Lemma between_above : forall e u x, x <= e -> u <= x ->
  exists t, 0 <= t <= 1 /\ x = e + (u - e) * t /\ (x < e -> 0 < t) /\ (u < x -> t < 1).
Proof.
  intros e u x H1 H2. destruct (between_below (- e) (- u) (- x)) as (t & Ht & E & H3 & H4); try lra.
  exists t. repeat split; try lra.
Qed.

(* --- blow-up ------------------------------------------------------------------------------------- *)

(* Of some numbers, one is largest. *)
Lemma largest : forall (A : Type) (s : A -> R) (l : list A), l <> [] ->
  exists k, In k l /\ forall i, In i l -> s i <= s k.
Proof.
  intros A s l. induction l as [|a l IH]; [congruence|]. intros _. destruct l as [|b l].
  - exists a. split; [left; reflexivity|]. intros i [E|[]]. subst. lra.
  - destruct IH as (k & Hk & H); [discriminate|].
    destruct (Rle_lt_dec (s a) (s k)) as [L|L].
    + exists k. split; [right; assumption|]. intros i [E|Hi]; [subst; assumption | apply H; assumption].
    + exists a. split; [left; reflexivity|]. intros i [E|Hi]; [subst; lra|].
      pose proof (H i Hi). lra.
Qed.

(* A number of [0, m] is r·m with r in [0, 1]. *)
Lemma share_of : forall x m, 0 <= x -> x <= m -> exists r, 0 <= r <= 1 /\ x = r * m.
Proof.
  intros x m H1 H2. destruct (between_below 0 m x H1 H2) as (t & Ht & E & _).
  exists t. split; [assumption|]. rewrite E. ring.
Qed.

(* --- cuts ---------------------------------------------------------------------------------------- *)

Lemma cut_between : forall (P : R -> Prop) a, (forall x, x <= a -> P x) -> (forall x, a <= x -> P x) ->
  forall x, P x.
Proof. intros P a H1 H2 x. destruct (Rle_lt_dec x a); [apply H1 | apply H2]; lra. Qed.
