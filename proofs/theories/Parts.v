(* What region maps are made of: parts of a box that is cut again and again, signs of polynomials on a part, and
   polynomials at values of some variables. *)
From Coq Require Import Reals ZArith QArith Qreals Lra Lia List Bool Arith.
From Paramverify Require Import Poly Goal Certificate Rule Forms Bernstein RuleBernstein.
Import ListNotations.
Local Open Scope R_scope.

(* --- strict inequalities ---------------------------------------------------------------------------------- *)

(* p > 0 is shown: on the part of the set with -p ≥ 0 it is shown that -1 ≥ 0. *)
Definition positive_goal (g : goal) (p : qpoly) : goal :=
  for_poly (with_cond g (Some (qopp p, false))) (qconst (-1)).

Lemma minus_one : forall e, ~ 0 <= qeval (qconst (-1)) e.
Proof.
  intros e N. rewrite qeval_const in N. replace (Q2R (-1)) with (-1) in N by (unfold Q2R; simpl; lra). lra.
Qed.

Lemma positive_goal_ok : forall g p e, holds (positive_goal g p) -> dom g e -> 0 < qeval p e.
Proof.
  intros g p e H D. destruct (Rlt_le_dec 0 (qeval p e)) as [|L]; [assumption|]. exfalso.
  assert (D' : dom (with_cond g (Some (qopp p, false))) e).
  { apply dom_with_cond; [assumption|]. simpl. rewrite qeval_opp. lra. }
  exact (minus_one e (holds_for_poly _ _ _ D' H)).
Qed.

Definition proved (rec : checker) (g : goal) (strict : bool) (p : qpoly) (c : cert) : bool :=
  rec (if strict then positive_goal g p else for_poly g p) c.

Lemma proved_ok : forall rec g strict p c e, honest rec -> proved rec g strict p c = true -> dom g e ->
  below strict 0 (qeval p e).
Proof.
  intros rec g strict p c e R H D. unfold proved in H. apply R in H. destruct strict; simpl.
  - exact (positive_goal_ok _ _ _ H D).
  - exact (holds_for_poly _ _ _ D H).
Qed.

(* --- cuts --------------------------------------------------------------------------------------------------- *)

(* Cuts of variable k at a, the part below first. *)
Inductive cuts (A : Type) := Part (a : A) | Cut (k : nat) (a : Q) (low high : cuts A).
Arguments Part {A} _.
Arguments Cut {A} _ _ _ _.

(* The parts in their order, before the rest; none where a cut is not inside. *)
Fixpoint parts_of {A} (g : goal) (t : cuts A) (rest : list (goal * A)) : option (list (goal * A)) :=
  match t with
  | Part a => Some ((g, a) :: rest)
  | Cut k a low high =>
    match at_axis (gbox g) k with
    | Some i =>
      if qlt (lo i) a && qlt a (hi i) then
        match parts_of (with_interval g k (Some (upper_part i a))) high rest with
        | Some rest => parts_of (with_interval g k (Some (lower_part i a))) low rest
        | None => None
        end
      else None
    | None => None
    end
  end.

Lemma dom_part : forall g k i j e, at_axis (gbox g) k = Some i -> (forall x, inside j x -> inside i x) ->
  dom (with_interval g k (Some j)) e -> dom g e.
Proof.
  intros g k i j e E S (B & C & F). split; [|split]; auto. intros m iv M.
  destruct (Nat.eq_dec m k) as [->|N].
  - rewrite E in M. inversion M; subst. apply S. apply (B k j). simpl. apply at_set_same.
  - apply (B m iv). simpl. rewrite at_set_other by assumption. assumption.
Qed.

Lemma parts_keep : forall A (t : cuts A) g rest l, parts_of g t rest = Some l -> incl rest l.
Proof.
  induction t as [a|k a low IHl high IHh]; intros g rest l H; cbn [parts_of] in H.
  - inversion H; subst. apply incl_tl, incl_refl.
  - destruct (at_axis (gbox g) k) as [i|]; [|discriminate].
    destruct (qlt (lo i) a && qlt a (hi i)); [|discriminate].
    destruct (parts_of _ high rest) as [more|] eqn:P; [|discriminate].
    eapply incl_tran; [eapply IHh; exact P | eapply IHl; exact H].
Qed.

Lemma parts_inside : forall A (t : cuts A) g rest l h a, parts_of g t rest = Some l -> In (h, a) l ->
  In (h, a) rest \/ (forall e, dom h e -> dom g e).
Proof.
  induction t as [b|k b low IHl high IHh]; intros g rest l h a H I; cbn [parts_of] in H.
  - inversion H; subst. destruct I as [I|I]; [|now left]. inversion I; subst. now right.
  - destruct (at_axis (gbox g) k) as [i|] eqn:E; [|discriminate].
    destruct (qlt (lo i) b && qlt b (hi i)) eqn:C; [|discriminate].
    apply andb_prop in C as [C1 C2]. apply qlt_R in C1, C2.
    destruct (parts_of _ high rest) as [more|] eqn:P; [|discriminate].
    destruct (IHl _ _ _ _ _ H I) as [K|K].
    + destruct (IHh _ _ _ _ _ P K) as [M|M]; [now left|]. right. intros e D.
      apply (dom_part g k i (upper_part i b)); [assumption| |exact (M e D)].
      intros x [X1 X2]. split; [|exact X2]. simpl in X1. apply below_lt. lra.
    + right. intros e D. apply (dom_part g k i (lower_part i b)); [assumption| |exact (K e D)].
      intros x [X1 X2]. split; [exact X1|]. simpl in X2. apply below_lt. lra.
Qed.

(* A point of a part that is below the upper ends of the part, but for those of the whole box. *)
Definition reaches (g h : goal) (e : env) : Prop :=
  dom h e /\ forall k i, at_axis (gbox g) k = Some i ->
    exists j, at_axis (gbox h) k = Some j /\ (e k < Q2R (hi j) \/ Q2R (hi j) = Q2R (hi i)) /\
      Q2R (hi j) <= Q2R (hi i) /\ (Q2R (lo i) < Q2R (hi i) -> Q2R (lo j) < Q2R (hi j)).

Lemma parts_reach : forall A (t : cuts A) g rest l e, parts_of g t rest = Some l -> dom g e ->
  exists h a, In (h, a) l /\ reaches g h e.
Proof.
  induction t as [b|k b low IHl high IHh]; intros g rest l e H D; cbn [parts_of] in H.
  - inversion H; subst. exists g, b. split; [now left|]. split; [assumption|].
    intros k i E. exists i. split; [assumption|]. split; [now right|]. split; [lra|auto].
  - destruct (at_axis (gbox g) k) as [i|] eqn:E; [|discriminate].
    destruct (qlt (lo i) b && qlt b (hi i)) eqn:C; [|discriminate].
    apply andb_prop in C as [C1 C2]. apply qlt_R in C1, C2.
    destruct (parts_of _ high rest) as [more|] eqn:P; [|discriminate].
    destruct (proj1 D k i E) as [B1 B2].
    destruct (Rlt_le_dec (e k) (Q2R b)) as [L|L].
    + destruct (IHl _ _ _ e H) as (h & a & I & R1 & R2).
      { apply dom_with_interval; [assumption|]. intros j J. inversion J; subst. split; simpl; [assumption|lra]. }
      exists h, a. split; [assumption|]. split; [assumption|]. intros m i' E'.
      destruct (Nat.eq_dec m k) as [->|N].
      * rewrite E in E'. inversion E'; subst i'.
        destruct (R2 k (lower_part i b)) as (j & J1 & J2 & J3 & J4); [simpl; apply at_set_same|].
        simpl in J2, J3, J4. exists j. split; [assumption|].
        split; [left; destruct J2; lra|]. split; [lra|]. intros _. apply J4. lra.
      * destruct (R2 m i') as (j & J); [simpl; rewrite at_set_other by assumption; assumption|].
        exists j. exact J.
    + destruct (IHh _ _ _ e P) as (h & a & I & R1 & R2).
      { apply dom_with_interval; [assumption|]. intros j J. inversion J; subst. split; simpl; [lra|assumption]. }
      exists h, a. split; [exact (parts_keep _ _ _ _ _ H _ I)|]. split; [assumption|]. intros m i' E'.
      destruct (Nat.eq_dec m k) as [->|N].
      * rewrite E in E'. inversion E'; subst i'.
        destruct (R2 k (upper_part i b)) as (j & J1 & J2 & J3 & J4); [simpl; apply at_set_same|].
        simpl in J2, J3, J4. exists j. split; [assumption|]. split; [assumption|]. split; [assumption|].
        intros _. apply J4. lra.
      * destruct (R2 m i') as (j & J); [simpl; rewrite at_set_other by assumption; assumption|].
        exists j. exact J.
Qed.

Definition on_parts {A} (leaf : goal -> bool) (g : goal) (t : cuts A) : bool :=
  match parts_of g t [] with Some l => forallb (fun x => leaf (fst x)) l | None => false end.

Lemma on_parts_ok : forall A leaf g (t : cuts A) e (P : Prop), on_parts leaf g t = true -> dom g e ->
  (forall h, leaf h = true -> dom h e -> P) -> P.
Proof.
  intros A leaf g t e P H D K. unfold on_parts in H. destruct (parts_of g t []) as [l|] eqn:E; [|discriminate].
  destruct (parts_reach _ _ _ _ _ _ E D) as (h & a & I & R & _).
  rewrite forallb_forall in H. exact (K h (H _ I) R).
Qed.

(* --- signs on a box ----------------------------------------------------------------------------------------- *)

(* Eq: it is zero everywhere. *)
Definition weak_sign (b : box) (p : qpoly) : option comparison :=
  let f := form_on b (degrees (num p)) (num p) in
  if fgood f && flat b (num p) && covers b (fmats f) then
    if nonneg (fpoly f) then Some (if is_zero (fpoly f) then Eq else Gt)
    else if nonneg (popp (fpoly f)) then Some Lt else None
  else None.

Lemma is_zero_fval : forall p ns u v, is_zero p = true -> fval p ns u v = 0.
Proof.
  induction p as [c|q IHq p IHp]; intros ns u v H; simpl in *.
  - apply Z.eqb_eq in H. subst. lra.
  - apply andb_prop in H as [H1 H2]. rewrite IHq, IHp by assumption. lra.
Qed.

Lemma qeval_nonpos : forall p e, eval (num p) e <= 0 -> qeval p e <= 0.
Proof.
  intros p e H. assert (K : 0 <= qeval (qopp p) e) by (apply qeval_sign; simpl; rewrite eval_popp; lra).
  rewrite qeval_opp in K. lra.
Qed.

Lemma weak_sign_ok : forall b p e, in_box b e ->
  match weak_sign b p with
  | Some Gt => 0 <= qeval p e
  | Some Lt => qeval p e <= 0
  | Some Eq => qeval p e = 0
  | None => True
  end.
Proof.
  intros b p e B. unfold weak_sign. set (f := form_on b (degrees (num p)) (num p)).
  destruct (fgood f && flat b (num p) && covers b (fmats f)) eqn:E; [|exact I].
  apply andb_prop in E as [E E3]. apply andb_prop in E as [E1 E2].
  destruct (shows_at f (num p) b e (form_on_shows b (degrees (num p)) (num p)) E1 E2 E3 B) as [V P].
  destruct (nonneg (fpoly f)) eqn:N.
  - destruct (is_zero (fpoly f)) eqn:Z.
    + rewrite is_zero_fval in V by assumption. apply Rle_antisym; [apply qeval_nonpos; lra | apply qeval_sign; lra].
    + apply qeval_sign. rewrite V. apply fval_nonneg; auto; intro k; apply P.
  - destruct (nonneg (popp (fpoly f))) eqn:M; [|exact I]. apply qeval_nonpos. rewrite V.
    match type of V with _ = fval _ ?ns ?u ?v => assert (K : 0 <= fval (popp (fpoly f)) ns u v) end.
    { apply fval_nonneg; auto; intro k; apply P. }
    unfold popp in K. rewrite fval_pscale in K. lra.
Qed.

Definition strict_sign (b : box) (p : qpoly) : option bool :=
  if positive_on b (num p) then Some true else if positive_on b (popp (num p)) then Some false else None.

Lemma strict_sign_ok : forall b p e, in_box b e ->
  match strict_sign b p with Some true => 0 < qeval p e | Some false => qeval p e < 0 | None => True end.
Proof.
  intros b p e B. unfold strict_sign. destruct (positive_on b (num p)) eqn:H.
  - apply qeval_pos. exact (positive_on_ok _ _ _ H B).
  - destruct (positive_on b (popp (num p))) eqn:K; [|exact I].
    assert (X : 0 < qeval (qopp p) e) by (apply qeval_pos; exact (positive_on_ok _ _ _ K B)).
    rewrite qeval_opp in X. lra.
Qed.

(* --- values of some variables ------------------------------------------------------------------------------ *)

Fixpoint set_values (l : list (nat * Q)) (e : env) : env :=
  match l with [] => e | (k, v) :: l => upd (set_values l e) k (Q2R v) end.

(* The polynomial at these values. *)
Fixpoint with_values (l : list (nat * Q)) (p : qpoly) : qpoly :=
  match l with
  | [] => p
  | (k, v) :: l => with_values l (if qfree p k then p else qcompose p k (qconst v))
  end.

Lemma with_values_ok : forall l p e, qeval (with_values l p) e = qeval p (set_values l e).
Proof.
  induction l as [|[k v] l IH]; intros p e; simpl; [reflexivity|]. rewrite IH.
  destruct (qfree p k) eqn:F; [now rewrite qfree_eval | now rewrite qeval_compose, qeval_const].
Qed.

Definition holds_value (iv : interval) (v : Q) : bool :=
  (if lopen iv then qlt (lo iv) v else qle (lo iv) v) && (if hopen iv then qlt v (hi iv) else qle v (hi iv)).

Lemma holds_value_ok : forall iv v, holds_value iv v = true -> inside iv (Q2R v).
Proof.
  intros iv v H. unfold holds_value in H. apply andb_prop in H as [H1 H2]. split.
  - destruct (lopen iv); simpl; [now apply qlt_R | now apply qle_R].
  - destruct (hopen iv); simpl; [now apply qlt_R | now apply qle_R].
Qed.

Fixpoint values_inside (b : box) (l : list (nat * Q)) : bool :=
  match l with
  | [] => true
  | (k, v) :: l => match at_axis b k with Some iv => holds_value iv v | None => false end && values_inside b l
  end.

Lemma values_inside_ok : forall b l e, values_inside b l = true -> in_box b e -> in_box b (set_values l e).
Proof.
  intros b. induction l as [|[k v] l IH]; intros e H B; simpl; [assumption|].
  simpl in H. apply andb_prop in H as [V1 V2]. apply in_box_upd; [apply IH; assumption|].
  intros iv E. rewrite E in V1. apply holds_value_ok. assumption.
Qed.

Definition facts_apart (g : goal) (l : list (nat * Q)) : bool :=
  forallb (fun f => forallb (fun r => negb (about (fst r) f)) l) (gfacts g).

Lemma facts_apart_ok : forall l f e, forallb (fun r => negb (about (fst r) f)) l = true -> fact_holds e f ->
  fact_holds (set_values l e) f.
Proof.
  induction l as [|[k v] l IH]; intros f e H F; simpl; [assumption|].
  simpl in H. apply andb_prop in H as [A1 A2]. apply negb_true_iff in A1.
  apply fact_upd; [assumption|]. apply IH; assumption.
Qed.

Definition mentions (l : list (nat * Q)) (p : qpoly) : bool := existsb (fun r => negb (qfree p (fst r))) l.

Lemma not_mentioned : forall l p e, mentions l p = false -> qeval p (set_values l e) = qeval p e.
Proof.
  induction l as [|[k v] l IH]; intros p e H; simpl; [reflexivity|].
  simpl in H. apply orb_false_elim in H as [H1 H2]. apply negb_false_iff in H1.
  rewrite qfree_eval by assumption. apply IH. assumption.
Qed.
