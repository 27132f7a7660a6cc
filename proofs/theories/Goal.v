(** Goals: a polynomial is at least zero at all points of a box at which some constraints are true. *)

From Coq Require Import ZArith Reals List Lia Lra Bool QArith Qreals.
From Paramverify Require Import Poly.
Import ListNotations.
Local Open Scope R_scope.

(** * Comparisons of rational numbers *)

Definition qle (a b : Q) : bool := Qle_bool a b.
Definition qlt (a b : Q) : bool := negb (Qle_bool b a).
Definition qsame (a b : Q) : bool := Qeq_bool a b.

Lemma qle_R : forall a b, qle a b = true -> Q2R a <= Q2R b.
Proof. intros a b H; now apply Qle_Rle, Qle_bool_iff. Qed.

Lemma qlt_R : forall a b, qlt a b = true -> Q2R a < Q2R b.
Proof.
  intros a b H; unfold qlt in H; apply Qlt_Rlt, Qnot_le_lt; intro K.
  apply Qle_bool_iff in K; now rewrite K in H.
Qed.

Lemma qlt_false_R : forall a b, qlt a b = false -> Q2R b <= Q2R a.
Proof. intros a b H; unfold qlt in H; apply qle_R; unfold qle; now destruct (Qle_bool b a). Qed.

Lemma qsame_R : forall a b, qsame a b = true -> Q2R a = Q2R b.
Proof. intros a b H; now apply Qeq_eqR, Qeq_bool_iff. Qed.

Lemma Q2R_0 : Q2R 0 = 0. Proof. unfold Q2R; simpl; lra. Qed.
Lemma Q2R_1 : Q2R 1 = 1. Proof. unfold Q2R; simpl; lra. Qed.

(** * Boxes *)

(** An interval with rational ends; [lopen] and [hopen] say that an end is left out. *)
Record interval := Iv { lo : Q; hi : Q; lopen : bool; hopen : bool }.

Definition below (strict : bool) (a b : R) : Prop := if strict then a < b else a <= b.

Definition inside (i : interval) (x : R) : Prop :=
  below (lopen i) (Q2R (lo i)) x /\ below (hopen i) x (Q2R (hi i)).

Lemma below_le : forall s a b, below s a b -> a <= b.
Proof. intros [|] a b; simpl; lra. Qed.

Lemma below_lt : forall s a b, a < b -> below s a b.
Proof. intros [|] a b; simpl; lra. Qed.

Lemma inside_le : forall i x, inside i x -> Q2R (lo i) <= x <= Q2R (hi i).
Proof. intros i x [H K]; split; eapply below_le; eauto. Qed.

Lemma inside_lt : forall i x, Q2R (lo i) < x < Q2R (hi i) -> inside i x.
Proof. intros i x [H K]; split; now apply below_lt. Qed.

(** Between points of an interval, or between one and an end: inside. *)
Lemma inside_between : forall i a b x, Q2R (lo i) <= a -> b <= Q2R (hi i) -> a < x < b -> inside i x.
Proof. intros; apply inside_lt; lra. Qed.

(** By the number of a variable: its interval, or none. *)
Definition box := list (option interval).
Definition at_axis (b : box) (k : nat) : option interval := nth k b None.

Definition in_box (b : box) (e : env) : Prop := forall k i, at_axis b k = Some i -> inside i (e k).

(** A box with another interval for one variable. *)
Fixpoint set_axis (b : box) (k : nat) (i : option interval) : box :=
  match k, b with
  | O, [] => [i]
  | O, _ :: b => i :: b
  | S k, [] => None :: set_axis [] k i
  | S k, a :: b => a :: set_axis b k i
  end.

Lemma at_set_same : forall k b i, at_axis (set_axis b k i) k = i.
Proof. unfold at_axis; induction k; intros [|a b] i; simpl; auto. Qed.

Lemma at_set_other : forall k b i j, j <> k -> at_axis (set_axis b k i) j = at_axis b j.
Proof.
  unfold at_axis; induction k; intros [|a b] i [|j] H; simpl; try easy.
  - now destruct j.
  - rewrite IHk by lia; now destruct j.
  - apply IHk; lia.
Qed.

Lemma in_box_upd : forall b e k v,
  in_box b e -> (forall i, at_axis b k = Some i -> inside i v) -> in_box b (upd e k v).
Proof.
  intros b e k v H K j i E; unfold upd; destruct (Nat.eqb_spec j k); [subst; auto|auto].
Qed.

Lemma in_box_set : forall b e k i,
  in_box b e -> (forall j, i = Some j -> inside j (e k)) -> in_box (set_axis b k i) e.
Proof.
  intros b e k i H K j m E; destruct (Nat.eq_dec j k) as [->|n].
  - rewrite at_set_same in E; auto.
  - rewrite at_set_other in E by easy; auto.
Qed.

(** * Goals *)

(** A constraint p >= 0, or p > 0 where the second part is true; None: one that was dropped. *)
Definition cond := option (qpoly * bool).
Definition cond_holds (e : env) (c : cond) : Prop :=
  match c with None => True | Some (p, strict) => below strict 0 (qeval p e) end.

(** What is known of variables without an interval: x_k = exp q; or x_j > 0 and x_k = - ln x_j / step. *)
Inductive fact := Exp (k : nat) (q : Q) | Log (k j : nat) (step : Q).
Definition fact_holds (e : env) (f : fact) : Prop :=
  match f with
  | Exp k q => e k = exp (Q2R q)
  | Log k j step => 0 < e j /\ e k = - ln (e j) / Q2R step
  end.
Definition about (k : nat) (f : fact) : bool :=
  match f with Exp j _ => Nat.eqb j k | Log i j _ => Nat.eqb i k || Nat.eqb j k end.

Record goal := Goal { gpoly : qpoly; gbox : box; gconds : list cond; gfacts : list fact }.

(** The points that a goal is about. *)
Definition dom (g : goal) (e : env) : Prop :=
  in_box (gbox g) e /\ (forall c, In c (gconds g) -> cond_holds e c) /\
  (forall f, In f (gfacts g) -> fact_holds e f).

Definition holds (g : goal) : Prop := forall e, dom g e -> 0 <= qeval (gpoly g) e.

(** * New goals from old ones *)

(** The same set of points, another polynomial. *)
Definition for_poly (g : goal) (p : qpoly) : goal := Goal p (gbox g) (gconds g) (gfacts g).

Lemma holds_for_poly : forall g p e, dom g e -> holds (for_poly g p) -> 0 <= qeval p e.
Proof. intros g p e D H; exact (H e D). Qed.

Definition with_cond (g : goal) (c : cond) : goal :=
  Goal (gpoly g) (gbox g) (gconds g ++ [c]) (gfacts g).

Lemma dom_with_cond : forall g c e, dom g e -> cond_holds e c -> dom (with_cond g c) e.
Proof.
  intros g c e (B & C & F) H; split; [|split]; auto; simpl.
  intros d D; apply in_app_or in D; destruct D as [D|[<-|[]]]; auto.
Qed.

Definition with_interval (g : goal) (k : nat) (i : option interval) : goal :=
  Goal (gpoly g) (set_axis (gbox g) k i) (gconds g) (gfacts g).

Lemma dom_with_interval : forall g k i e,
  dom g e -> (forall j, i = Some j -> inside j (e k)) -> dom (with_interval g k i) e.
Proof. intros g k i e (B & C & F) H; split; [|split]; auto; now apply in_box_set. Qed.

(** Nothing but its interval restricts variable k: so it may be moved inside of that. *)
Definition drop_cond (k : nat) (c : cond) : cond :=
  match c with Some (p, _) => if qfree p k then c else None | None => None end.
Definition drop_facts (k : nat) (l : list fact) : list fact := filter (fun f => negb (about k f)) l.

Definition without (g : goal) (k : nat) (p : qpoly) : goal :=
  Goal p (gbox g) (map (drop_cond k) (gconds g)) (drop_facts k (gfacts g)).

Lemma fact_upd : forall f k e v, about k f = false -> fact_holds e f -> fact_holds (upd e k v) f.
Proof.
  intros [j q|i j s] k e v A H; simpl in *.
  - apply Nat.eqb_neq in A; now rewrite upd_other.
  - apply orb_false_elim in A as [A B]; apply Nat.eqb_neq in A, B; now rewrite !upd_other.
Qed.

Lemma drop_facts_upd : forall l k e v, (forall f, In f l -> fact_holds e f) ->
  forall f, In f (drop_facts k l) -> fact_holds (upd e k v) f.
Proof.
  intros l k e v H f K; apply filter_In in K as [K A]; apply fact_upd; auto; now destruct (about k f).
Qed.

Lemma drop_cond_upd : forall c k e v, cond_holds e c -> cond_holds (upd e k v) (drop_cond k c).
Proof.
  intros [[p s]|] k e v H; simpl in *; [|easy].
  destruct (qfree p k) eqn:E; simpl; [|easy]; now rewrite qfree_eval.
Qed.

Lemma dom_without_upd : forall g k p e v,
  dom g e -> (forall i, at_axis (gbox g) k = Some i -> inside i v) -> dom (without g k p) (upd e k v).
Proof.
  intros g k p e v (B & C & F) H; split; [|split].
  - now apply in_box_upd.
  - intros c K; apply in_map_iff in K as (d & <- & K); apply drop_cond_upd; auto.
  - intros f K; eapply drop_facts_upd; eauto.
Qed.

Lemma fact_ext : forall f e d, (forall k, e k = d k) -> fact_holds e f -> fact_holds d f.
Proof. intros [j q|i j s] e d E; simpl; now rewrite <- !E. Qed.

Lemma cond_ext : forall c e d, (forall k, e k = d k) -> cond_holds e c -> cond_holds d c.
Proof. intros [[p s]|] e d E; simpl; [|easy]; now rewrite (qeval_ext p e d). Qed.

Lemma dom_ext : forall g e d, (forall k, e k = d k) -> dom g e -> dom g d.
Proof.
  intros g e d E (B & C & F); split; [|split].
  - intros k i K; rewrite <- E; auto.
  - intros c K; eapply cond_ext; eauto.
  - intros f K; eapply fact_ext; eauto.
Qed.

Lemma dom_without : forall g k p e, dom g e -> dom (without g k p) e.
Proof.
  intros g k p e D; apply dom_ext with (upd e k (e k)); [intro; apply upd_self|].
  apply dom_without_upd; auto; intros i E; now apply D.
Qed.

(** A variable is replaced by a polynomial, in which it has another interval: what is true of new points d
    with d k in the interval is true of the points e = d with e k = u(d). *)
Definition compose_cond (k : nat) (u : qpoly) (c : cond) : cond :=
  match c with Some (p, s) => Some (qcompose p k u, s) | None => None end.

Definition replaced (g : goal) (k : nat) (u : qpoly) (i : option interval) : goal :=
  Goal (qcompose (gpoly g) k u) (set_axis (gbox g) k i) (map (compose_cond k u) (gconds g))
    (drop_facts k (gfacts g)).

Lemma dom_replaced : forall g k u i e v,
  dom g e -> qeval u (upd e k v) = e k -> (forall j, i = Some j -> inside j v) ->
  dom (replaced g k u i) (upd e k v).
Proof.
  intros g k u i e v (B & C & F) U I; split; [|split].
  - intros j m E; simpl in E; destruct (Nat.eq_dec j k) as [->|n].
    + rewrite at_set_same in E; rewrite upd_same; auto.
    + rewrite at_set_other in E by easy; rewrite upd_other; auto.
  - intros c K; simpl in K; apply in_map_iff in K as ([[p s]|] & <- & K); simpl; [|easy].
    rewrite qeval_compose, U.
    rewrite (qeval_ext p _ e); [exact (C _ K)|].
    intro j; rewrite upd_upd; apply upd_self.
  - intros f K; eapply drop_facts_upd; eauto.
Qed.

Lemma holds_replaced : forall g k u i e v,
  dom g e -> qeval u (upd e k v) = e k -> (forall j, i = Some j -> inside j v) ->
  holds (replaced g k u i) -> 0 <= qeval (gpoly g) e.
Proof.
  intros g k u i e v D U I H; specialize (H _ (dom_replaced _ _ _ _ _ _ D U I)); simpl in H.
  rewrite qeval_compose, U, (qeval_ext _ _ e) in H; auto.
  intro j; rewrite upd_upd; apply upd_self.
Qed.

(** A constraint by its number. *)
Definition get_cond (g : goal) (i : nat) : cond := nth i (gconds g) None.

Lemma get_cond_ok : forall g i p s e, get_cond g i = Some (p, s) -> dom g e -> below s 0 (qeval p e).
Proof.
  intros g i p s e H (_ & C & _); apply (C (Some (p, s))); rewrite <- H; unfold get_cond in *.
  destruct (Nat.lt_ge_cases i (length (gconds g))) as [L|L]; [now apply nth_In|].
  rewrite nth_overflow in H by easy; discriminate.
Qed.
