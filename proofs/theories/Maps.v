(* Region maps: a box is cut again and again, and of each part something is proved: that all claims are true
   there, that no point of the domain is there, or that a claim fails at values of some variables. *)
From Coq Require Import Reals ZArith QArith Qreals Lra Lia List Bool Arith.
From Paramverify Require Import Poly Goal Certificate Rule RuleBernstein Check Sound.
Import ListNotations.
Local Open Scope R_scope.

(* How a constraint is known where some variables have values: it mentions none of them, or there is a proof. *)
Inductive known := Kept | Shown (c : cert).

(* Cuts of variable k at a, the part below first. A leaf is a part of the map, and says what it is. *)
Inductive region :=
  | Safe (l : list cert)
  | Outside (c : cert)
  | Violating (i : nat) (at_ : list (nat * Q)) (conditions : list known) (c : cert)
  | Undecided
  | Cut (k : nat) (a : Q) (low high : region).

(* --- strict inequalities ---------------------------------------------------------------------------------- *)

(* p > 0 is shown: on the part of the set with -p ≥ 0 it is shown that -1 ≥ 0. *)
Definition positive_goal (g : goal) (p : qpoly) : goal :=
  for_poly (with_cond g (Some (qopp p, false))) (qconst (-1)).

Lemma positive_goal_ok : forall g p e, holds (positive_goal g p) -> dom g e -> 0 < qeval p e.
Proof.
  intros g p e H D. destruct (Rlt_le_dec 0 (qeval p e)) as [|L]; [assumption|]. exfalso.
  assert (D' : dom (with_cond g (Some (qopp p, false))) e).
  { apply dom_with_cond; [assumption|]. simpl. rewrite qeval_opp. lra. }
  pose proof (holds_for_poly _ _ _ D' H) as N. rewrite qeval_const in N.
  replace (Q2R (-1)) with (-1) in N by (unfold Q2R; simpl; lra). lra.
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

(* --- values of some variables ------------------------------------------------------------------------------ *)

Fixpoint set_values (l : list (nat * Q)) (e : env) : env :=
  match l with [] => e | (k, v) :: l => upd (set_values l e) k (Q2R v) end.

Definition holds_value (iv : interval) (v : Q) : bool :=
  (if lopen iv then qlt (lo iv) v else qle (lo iv) v) && (if hopen iv then qlt v (hi iv) else qle v (hi iv)).

Lemma holds_value_ok : forall iv v, holds_value iv v = true -> inside iv (Q2R v).
Proof.
  intros iv v H. unfold holds_value in H. apply andb_prop in H as [H1 H2]. split.
  - destruct (lopen iv); simpl; [now apply qlt_R | now apply qle_R].
  - destruct (hopen iv); simpl; [now apply qlt_R | now apply qle_R].
Qed.

(* The goal without what restricts the variables, and then with their values as intervals. *)
Fixpoint at_values (g : goal) (l : list (nat * Q)) : goal :=
  match l with
  | [] => g
  | (k, v) :: l => with_interval (without (at_values g l) k (gpoly g)) k (Some (Iv v v false false))
  end.

Fixpoint values_inside (b : box) (l : list (nat * Q)) : bool :=
  match l with
  | [] => true
  | (k, v) :: l => match at_axis b k with Some iv => holds_value iv v | None => false end && values_inside b l
  end.

Definition facts_apart (g : goal) (l : list (nat * Q)) : bool :=
  forallb (fun f => forallb (fun r => negb (about (fst r) f)) l) (gfacts g).

Fixpoint distinct_names (l : list (nat * Q)) : bool :=
  match l with [] => true | (k, _) :: l => negb (existsb (fun r => Nat.eqb k (fst r)) l) && distinct_names l end.

Lemma at_values_box : forall g l k, existsb (fun r => Nat.eqb k (fst r)) l = false ->
  at_axis (gbox (at_values g l)) k = at_axis (gbox g) k.
Proof.
  intros g. induction l as [|[j v] l IH]; intros k H; simpl; [reflexivity|].
  simpl in H. apply orb_false_elim in H as [H1 H2]. apply Nat.eqb_neq in H1.
  rewrite at_set_other by assumption. apply IH. assumption.
Qed.

Lemma at_values_ok : forall g l e, dom g e -> values_inside (gbox g) l = true -> distinct_names l = true ->
  dom (at_values g l) (set_values l e).
Proof.
  intros g. induction l as [|[k v] l IH]; intros e D V N; simpl; [assumption|].
  simpl in V, N. apply andb_prop in V as [V1 V2]. apply andb_prop in N as [N1 N2].
  apply negb_true_iff in N1.
  apply dom_with_interval.
  - apply dom_without_upd; [apply IH; assumption|].
    intros i E. rewrite at_values_box in E by assumption. rewrite E in V1. apply holds_value_ok. assumption.
  - intros j J. inversion J; subst. rewrite upd_same. unfold inside; simpl. lra.
Qed.

Definition mentions (l : list (nat * Q)) (p : qpoly) : bool := existsb (fun r => negb (qfree p (fst r))) l.

Lemma not_mentioned : forall l p e, mentions l p = false -> qeval p (set_values l e) = qeval p e.
Proof.
  induction l as [|[k v] l IH]; intros p e H; simpl; [reflexivity|].
  simpl in H. apply orb_false_elim in H as [H1 H2]. apply negb_false_iff in H1.
  rewrite qfree_eval by assumption. apply IH. assumption.
Qed.

Fixpoint conditions_shown (rec : checker) (g : goal) (l : list (nat * Q)) (cs : list cond) (ks : list known) : bool :=
  match cs, ks with
  | [], [] => true
  | None :: cs, _ :: ks => conditions_shown rec g l cs ks
  | Some (p, s) :: cs, Kept :: ks => negb (mentions l p) && conditions_shown rec g l cs ks
  | Some (p, s) :: cs, Shown c :: ks => proved rec (at_values g l) s p c && conditions_shown rec g l cs ks
  | _, _ => false
  end.

Lemma conditions_shown_ok : forall rec g l e, honest rec -> dom (at_values g l) (set_values l e) ->
  forall cs ks, (forall c, In c cs -> cond_holds e c) -> conditions_shown rec g l cs ks = true ->
  forall c, In c cs -> cond_holds (set_values l e) c.
Proof.
  intros rec g l e R D. induction cs as [|[[p s]|] cs IH]; intros [|[|c0] ks] C H c K; try discriminate;
    try destruct K as [<-|K]; try (simpl in K; tauto); cbn [conditions_shown] in H;
    try (apply andb_prop in H as [H1 H2]).
  - simpl. apply negb_true_iff in H1. rewrite not_mentioned by assumption. apply (C (Some (p, s))). now left.
  - apply (IH ks); auto. intros d Hd. apply C. now right.
  - simpl. eapply proved_ok; eassumption.
  - apply (IH ks); auto. intros d Hd. apply C. now right.
  - exact I.
  - apply (IH ks); auto. intros d Hd. apply C. now right.
  - exact I.
  - apply (IH ks); auto. intros d Hd. apply C. now right.
Qed.

(* --- the check ----------------------------------------------------------------------------------------------- *)

Fixpoint all_shown (rec : checker) (g : goal) (claims : list qpoly) (l : list cert) : bool :=
  match claims, l with
  | [], [] => true
  | p :: claims, c :: l => rec (for_poly g p) c && all_shown rec g claims l
  | _, _ => false
  end.

(* The polynomial of the goal plays no part. *)
Fixpoint check_region (rec : checker) (claims : list qpoly) (g : goal) (r : region) : bool :=
  match r with
  | Safe l => all_shown rec g claims l
  | Outside c => rec (for_poly g (qconst (-1))) c
  | Violating i l ks c =>
    match nth_error claims i with
    | Some p =>
      distinct_names l && values_inside (gbox g) l && facts_apart g l &&
      conditions_shown rec g l (gconds g) ks && proved rec (at_values g l) true (qopp p) c
    | None => false
    end
  | Undecided => true
  | Cut k a low high =>
    match at_axis (gbox g) k with
    | Some i =>
      qlt (lo i) a && qlt a (hi i) &&
      check_region rec claims (with_interval g k (Some (lower_part i a))) low &&
      check_region rec claims (with_interval g k (Some (upper_part i a))) high
    | None => false
    end
  end.

(* The part of the map in which a point is; cells are closed, so there may be several. *)
Inductive in_part (e : env) : region -> region -> Prop :=
  | part_here : forall r, (forall k a low high, r <> Cut k a low high) -> in_part e r r
  | part_low : forall k a low high r, e k <= Q2R a -> in_part e low r -> in_part e (Cut k a low high) r
  | part_high : forall k a low high r, Q2R a <= e k -> in_part e high r -> in_part e (Cut k a low high) r.

(* The parts tile the box. *)
Theorem parts_cover : forall r e, exists part, in_part e r part.
Proof.
  induction r as [l|c|i l ks c| |k a low IHl high IHh]; intro e;
    try (eexists; apply part_here; intros; discriminate).
  destruct (Rle_lt_dec (e k) (Q2R a)) as [L|L].
  - destruct (IHl e) as [p P]. exists p. apply part_low; assumption.
  - destruct (IHh e) as [p P]. exists p. apply part_high; [lra | assumption].
Qed.

(* What a part says of a point of the domain. *)
Definition says (g : goal) (claims : list qpoly) (e : env) (part : region) : Prop :=
  match part with
  | Safe _ => forall p, In p claims -> 0 <= qeval p e
  | Outside _ => False
  | Violating i l _ _ => exists p, nth_error claims i = Some p /\
      dom g (set_values l e) /\ qeval p (set_values l e) < 0
  | _ => True
  end.

Lemma all_shown_ok : forall rec g claims l e, honest rec -> all_shown rec g claims l = true -> dom g e ->
  forall p, In p claims -> 0 <= qeval p e.
Proof.
  intros rec g. induction claims as [|q claims IH]; intros [|c l] e R H D p K; try discriminate; try (simpl in K; tauto).
  cbn [all_shown] in H. apply andb_prop in H as [H1 H2]. destruct K as [<-|K]; [|eapply IH; eassumption].
  exact (holds_for_poly _ _ _ D (R _ _ H1)).
Qed.

Lemma dom_part : forall g k i j e, at_axis (gbox g) k = Some i -> (forall x, inside j x -> inside i x) ->
  dom (with_interval g k (Some j)) e -> dom g e.
Proof.
  intros g k i j e E S (B & C & F). split; [|split]; auto. intros m iv M.
  destruct (Nat.eq_dec m k) as [->|N].
  - rewrite E in M. inversion M; subst. apply S. apply (B k j). simpl. apply at_set_same.
  - apply (B m iv). simpl. rewrite at_set_other by assumption. assumption.
Qed.

Lemma says_part : forall g k i j claims e part, at_axis (gbox g) k = Some i ->
  (forall x, inside j x -> inside i x) -> says (with_interval g k (Some j)) claims e part -> says g claims e part.
Proof.
  intros g k i j claims e [l|c|n l ks c| |k' a' low' high'] E S H; simpl in *; auto.
  destruct H as (p & P1 & P2 & P3). exists p. split; [assumption|]. split; [|assumption].
  exact (dom_part g k i j _ E S P2).
Qed.

(* Each part is what it says, at all its points of the domain. *)
Theorem check_region_sound : forall rec, honest rec -> forall claims r g e part,
  check_region rec claims g r = true -> in_part e r part -> dom g e -> says g claims e part.
Proof.
  intros rec R claims. induction r as [l|c|i l ks c| |k a low IHl high IHh]; intros g e part H P D;
    inversion P as [? NC | ? ? ? ? ? L P1 | ? ? ? ? ? L P1]; subst; clear P; cbn [check_region] in H.
  - exact (all_shown_ok _ _ _ _ _ R H D).
  - simpl. pose proof (holds_for_poly _ _ _ D (R _ _ H)) as N. rewrite qeval_const in N.
    replace (Q2R (-1)) with (-1) in N by (unfold Q2R; simpl; lra). lra.
  - destruct (nth_error claims i) as [p|] eqn:E; [|discriminate].
    apply andb_prop in H as [H H5]. apply andb_prop in H as [H H4]. apply andb_prop in H as [H H3].
    apply andb_prop in H as [H1 H2]. exists p.
    pose proof (at_values_ok g l e D H2 H1) as D'.
    split; [assumption|]. split.
    + destruct D as (B & C & F). split; [|split].
      * clear - B H2. revert e B. induction l as [|[k v] l IH]; intros e B; simpl; [assumption|].
        simpl in H2. apply andb_prop in H2 as [V1 V2]. apply in_box_upd; [apply IH; assumption|].
        intros iv E. rewrite E in V1. apply holds_value_ok. assumption.
      * eapply conditions_shown_ok; eassumption.
      * intros f Hf. unfold facts_apart in H3. rewrite forallb_forall in H3. specialize (H3 f Hf).
        pose proof (F f Hf) as Fh. clear - H3 Fh. induction l as [|[k v] l IH]; simpl; [assumption|].
        simpl in H3. apply andb_prop in H3 as [A1 A2]. apply negb_true_iff in A1.
        apply fact_upd; [assumption|]. apply IH. assumption.
    + pose proof (proved_ok rec _ _ _ _ _ R H5 D') as N. simpl in N. rewrite qeval_opp in N. lra.
  - exact I.
  - exfalso. eapply NC. reflexivity.
  - destruct (at_axis (gbox g) k) as [i|] eqn:E; [|discriminate].
    apply andb_prop in H as [H H2]. apply andb_prop in H as [H H1]. apply andb_prop in H as [_ H0].
    apply qlt_R in H0.
    apply (says_part g k i (lower_part i a)); [assumption | |].
    + intros x [A B]. split; [exact A|]. simpl in B. apply below_lt. lra.
    + apply (IHl _ e part H1 P1). apply dom_with_interval; [assumption|]. intros j J. inversion J; subst.
      destruct (proj1 D k i E) as [A B]. split; simpl; assumption.
  - destruct (at_axis (gbox g) k) as [i|] eqn:E; [|discriminate].
    apply andb_prop in H as [H H2]. apply andb_prop in H as [H H1]. apply andb_prop in H as [H0 _].
    apply qlt_R in H0.
    apply (says_part g k i (upper_part i a)); [assumption | |].
    + intros x [A B]. split; [|exact B]. simpl in A. apply below_lt. lra.
    + apply (IHh _ e part H2 P1). apply dom_with_interval; [assumption|]. intros j J. inversion J; subst.
      destruct (proj1 D k i E) as [A B]. split; simpl; assumption.
Qed.

Corollary check_map_sound : forall lemmas claims g r, (forall l, In l lemmas -> holds l) ->
  check_region (check max_depth lemmas) claims g r = true ->
  forall e, dom g e -> exists part, in_part e r part /\ says g claims e part.
Proof.
  intros lemmas claims g r L H e D. destruct (parts_cover r e) as [part P]. exists part. split; [assumption|].
  refine (check_region_sound _ _ claims r g e part H P D). intros h c K.
  exact (check_sound max_depth lemmas h c L K).
Qed.
