(* Rules that put another variable into the place of one: for constraints and equations, and near a vertex. *)
From Coq Require Import Reals ZArith QArith Qreals Lra Lia List Bool Arith.
From Paramverify Require Import Poly Goal Certificate Rule Semantics.
Import ListNotations.
Local Open Scope R_scope.

(* --- a polynomial a·(x - u) ------------------------------------------------------------------------ *)

(* The number a, and u without x, of a polynomial that is linear in variable k with a number before it. *)
Definition bound_of (p : qpoly) (k : nat) : option (Z * positive * qpoly) :=
  match coefs (num p) k with
  | [r; Pc (Zpos a)] => Some (Zpos a, a, QP (popp r) a)
  | [r; Pc (Zneg a)] => Some (Zneg a, a, QP r a)
  | _ => None
  end.

Lemma bound_of_ok : forall p k a b u e, bound_of p k = Some (a, b, u) ->
  qeval p e = IZR a / IZR (Zpos (pden p)) * (e k - qeval u e) /\ (forall v, qeval u (upd e k v) = qeval u e).
Proof.
  intros p k a b u e H. unfold bound_of in H. unfold qeval at 1.
  rewrite (coefs_eval' (num p) k e). pose proof (coefs_fixed (num p) k) as F.
  destruct (coefs (num p) k) as [|r [|s [|t l]]]; try discriminate; destruct s as [[|c|c]|]; try discriminate;
    inversion H; subst; clear H; inversion F as [|x l Fr _]; subst; cbn [evals map hor eval].
  - split.
    + unfold qeval; cbn [num pden]; rewrite eval_popp; field. positive_denominators.
    + intro v. unfold qeval; cbn [num pden]. now rewrite !eval_popp, Fr.
  - split.
    + unfold qeval; cbn [num pden]. change (IZR (Zneg b)) with (- IZR (Zpos b)). field. positive_denominators.
    + intro v. unfold qeval; cbn [num pden]. now rewrite Fr.
Qed.

(* --- stretch --------------------------------------------------------------------------------------- *)

Fixpoint drop_nth (l : list cond) (i : nat) : list cond :=
  match l, i with
  | [], _ => []
  | _ :: l, O => None :: l
  | c :: l, S i => c :: drop_nth l i
  end.

Lemma drop_nth_holds : forall l i e, (forall c, In c l -> cond_holds e c) ->
  forall c, In c (drop_nth l i) -> cond_holds e c.
Proof.
  induction l as [|d l IH]; intros [|i] e H c K; simpl in *; try tauto.
  - destruct K as [<-|K]; [exact I | auto].
  - destruct K as [<-|K]; [auto|]. apply (IH i e); auto.
Qed.

Definition unit_interval (lower upper : bool) : interval := Iv 0 1 lower upper.

(* x = e + (u - e)·x', where e is the end of the box and u the bound of the constraint. *)
Definition stretch_goal (g : goal) (k i : nat) : option goal :=
  match get_cond g i, at_axis (gbox g) k with
  | Some (p, strict), Some iv =>
    match bound_of p k with
    | Some (a, _, u) =>
      let down := (a <? 0)%Z in
      let end_ := if down then lo iv else hi iv in
      let out := if down then lopen iv else hopen iv in
      let reach := qsub u (qconst end_) in
      let kept := Goal (gpoly g) (gbox g) (drop_nth (gconds g) i) (gfacts g) in
      let image := qadd (qconst end_) (qmul reach (qvar k)) in
      let room := if down then reach else qopp reach in
      Some (with_cond (replaced kept k image (Some (unit_interval out strict))) (Some (room, strict || out)))
    | None => None
    end
  | _, _ => None
  end.

Definition check_stretch (rec : checker) (g : goal) (k i : nat) (c : cert) : bool :=
  match stretch_goal g k i with Some h => rec h c | None => false end.

Lemma scaled_sign : forall a d y, 0 < d -> a <> 0 -> 
  (0 <= a / d * y -> 0 < a -> 0 <= y) /\ (0 <= a / d * y -> a < 0 -> y <= 0) /\
  (0 < a / d * y -> 0 < a -> 0 < y) /\ (0 < a / d * y -> a < 0 -> y < 0).
Proof.
  intros a d y Hd Ha.
  assert (Hi : 0 < / d) by (apply Rinv_0_lt_compat; assumption).
  assert (P : 0 < a -> 0 < a / d) by (intro; apply Rmult_lt_0_compat; assumption).
  assert (N : a < 0 -> a / d < 0) by (intro; unfold Rdiv; nra).
  repeat split; intros H K; try (specialize (P K)); try (specialize (N K)); nra.
Qed.

Lemma dom_stretched : forall g k i h e, stretch_goal g k i = Some h -> dom g e ->
  exists v, dom h (upd e k v) /\ qeval (gpoly h) (upd e k v) = qeval (gpoly g) e.
Proof.
  intros g k i h e H D. unfold stretch_goal in H.
  destruct (get_cond g i) as [[p strict]|] eqn:Ec; [|discriminate].
  destruct (at_axis (gbox g) k) as [iv|] eqn:Ei; [|discriminate].
  destruct (bound_of p k) as [[[a b] u]|] eqn:Eb; [|discriminate].
  inversion H; subst h; clear H.
  pose proof (get_cond_ok _ _ _ _ _ Ec D) as Hc.
  destruct (bound_of_ok _ _ _ _ _ e Eb) as [Ep Fu]. rewrite Ep in Hc.
  assert (Ha : (0 < a)%Z \/ (a < 0)%Z).
  { unfold bound_of in Eb. destruct (coefs (num p) k) as [|r [|s [|t l]]]; try discriminate;
      destruct s as [[|c|c]|]; try discriminate; inversion Eb; subst; lia. }
  pose proof (proj1 D k iv Ei) as [Hlo Hhi].
  set (x := e k) in *. set (w := qeval u e) in *.
  set (down := (a <? 0)%Z). set (end_ := if down then lo iv else hi iv).
  set (out := if down then lopen iv else hopen iv).
  assert (X : exists t, inside (unit_interval out strict) t /\ x = Q2R end_ + (w - Q2R end_) * t /\
     below (strict || out) 0 (if down then w - Q2R end_ else - (w - Q2R end_))).
  { destruct (scaled_sign (IZR a) (IZR (Zpos (pden p))) (x - w)) as (S1 & S2 & S3 & S4);
      [apply pos_IZR | apply not_0_IZR; lia |].
    unfold inside, unit_interval; cbn [lo hi lopen hopen]. rewrite Q2R_0, Q2R_1.
    unfold out, end_, down. destruct (Z.ltb_spec a 0) as [L|L].
    - apply IZR_lt in L. assert (W : below strict x w).
      { destruct strict; simpl in *; [specialize (S4 Hc L) | specialize (S2 Hc L)]; lra. }
      destruct (between_below (Q2R (lo iv)) w x) as (t & Ht & Et & T0 & T1);
        [eapply below_le; eassumption | eapply below_le; eassumption |].
      exists t. split; [|split].
      + split; [destruct (lopen iv) | destruct strict]; simpl in *; try lra; auto.
      + exact Et.
      + destruct strict, (lopen iv); simpl in *; lra.
    - assert (La : (0 < a)%Z) by lia. apply IZR_lt in La. assert (W : below strict w x).
      { destruct strict; simpl in *; [specialize (S3 Hc La) | specialize (S1 Hc La)]; lra. }
      destruct (between_above (Q2R (hi iv)) w x) as (t & Ht & Et & T0 & T1);
        [eapply below_le; eassumption | eapply below_le; eassumption |].
      exists t. split; [|split].
      + split; [destruct (hopen iv) | destruct strict]; simpl in *; try lra; auto.
      + exact Et.
      + destruct strict, (hopen iv); simpl in *; lra. }
  destruct X as (t & It & Et & Rt). exists t.
  set (kept := Goal (gpoly g) (gbox g) (drop_nth (gconds g) i) (gfacts g)).
  assert (Dk : dom kept e).
  { destruct D as (B & C & F). split; [|split]; auto. simpl. apply drop_nth_holds. assumption. }
  set (image := qadd (qconst end_) (qmul (qsub u (qconst end_)) (qvar k))).
  assert (U : qeval image (upd e k t) = e k).
  { unfold image. rewrite qeval_add, qeval_mul, qeval_sub, qeval_var, !qeval_const, Fu, upd_same.
    fold w x. lra. }
  split.
  - apply dom_with_cond.
    + apply dom_replaced; [assumption | exact U |]. intros j E. inversion E; subst. exact It.
    + simpl. fold down. destruct down; rewrite ?qeval_opp, qeval_sub, qeval_const, Fu; exact Rt.
  - simpl. rewrite qeval_compose. fold image. rewrite U. apply qeval_ext. intro j.
    rewrite upd_upd. apply upd_self.
Qed.

Lemma check_stretch_sound : forall rec, honest rec -> forall g k i c, check_stretch rec g k i c = true -> holds g.
Proof.
  intros rec R g k i c H e D. unfold check_stretch in H.
  destruct (stretch_goal g k i) as [h|] eqn:E; [|discriminate].
  destruct (dom_stretched g k i h e E D) as (v & Dh & Ev). rewrite <- Ev.
  exact (R h c H _ Dh).
Qed.

(* --- eliminate ------------------------------------------------------------------------------------- *)

Definition eliminate_goal (g : goal) (k i j : nat) : option goal :=
  match get_cond g i, get_cond g j, at_axis (gbox g) k with
  | Some (p, _), Some (q, _), Some iv =>
    if proportional (num p) (popp (num q)) then
      match bound_of p k with
      | Some (_, _, u) =>
        Some (with_cond (with_cond (replaced g k u (Some iv)) (Some (qsub u (qconst (lo iv)), false)))
                (Some (qsub (qconst (hi iv)) u, false)))
      | None => None
      end
    else None
  | _, _, _ => None
  end.

Definition check_eliminate (rec : checker) (g : goal) (k i j : nat) (c : cert) : bool :=
  match eliminate_goal g k i j with Some h => rec h c | None => false end.

Lemma check_eliminate_sound : forall rec, honest rec ->
  forall g k i j c, check_eliminate rec g k i j c = true -> holds g.
Proof.
  intros rec R g k i j c H e D. unfold check_eliminate in H.
  destruct (eliminate_goal g k i j) as [h|] eqn:E; [|discriminate]. unfold eliminate_goal in E.
  destruct (get_cond g i) as [[p s]|] eqn:Ep; [|discriminate].
  destruct (get_cond g j) as [[q t]|] eqn:Eq; [|discriminate].
  destruct (at_axis (gbox g) k) as [iv|] eqn:Ei; [|discriminate].
  destruct (proportional (num p) (popp (num q))) eqn:Pr; [|discriminate].
  destruct (bound_of p k) as [[[a b] u]|] eqn:Eb; [|discriminate]. inversion E; subst h; clear E.
  pose proof (below_le _ _ _ (get_cond_ok _ _ _ _ _ Ep D)) as Hp.
  pose proof (below_le _ _ _ (get_cond_ok _ _ _ _ _ Eq D)) as Hq.
  assert (Z : qeval p e = 0).
  { apply proportional_ok in Pr as (m & n & Hm & Hn & Pr). specialize (Pr e). rewrite eval_popp in Pr.
    apply qeval_sign in Hp. apply qeval_sign in Hq. unfold qeval.
    assert (eval (num p) e = 0) as -> by nra. unfold Rdiv. ring. }
  destruct (bound_of_ok _ _ _ _ _ e Eb) as [Ev Fu].
  assert (Ha : IZR a / IZR (Zpos (pden p)) <> 0).
  { assert (a <> 0%Z).
    { unfold bound_of in Eb. destruct (coefs (num p) k) as [|r [|s' [|t' l]]]; try discriminate;
        destruct s' as [[|c'|c']|]; try discriminate; inversion Eb; subst; lia. }
    unfold Rdiv. apply Rmult_integral_contrapositive_currified; [apply not_0_IZR; assumption|].
    apply Rinv_neq_0_compat. apply Rgt_not_eq, pos_IZR. }
  assert (U : qeval u e = e k).
  { rewrite Z in Ev. symmetry in Ev. apply Rmult_integral in Ev. destruct Ev; [contradiction|lra]. }
  assert (U' : qeval u (upd e k (e k)) = e k) by (rewrite qeval_upd_self; assumption).
  pose proof (inside_le _ _ (proj1 D k iv Ei)) as B.
  assert (Dh : dom (with_cond (with_cond (replaced g k u (Some iv)) (Some (qsub u (qconst (lo iv)), false)))
                (Some (qsub (qconst (hi iv)) u, false))) (upd e k (e k))).
  { apply dom_with_cond; [apply dom_with_cond|].
    - apply dom_replaced; auto. intros m M. inversion M; subst. apply (proj1 D). assumption.
    - simpl. rewrite qeval_sub, qeval_const, U'. lra.
    - simpl. rewrite qeval_sub, qeval_const, U'. lra. }
  pose proof (R _ _ H _ Dh) as P. simpl in P. rewrite qeval_compose, U' in P.
  rewrite (qeval_ext _ _ e) in P; [exact P|]. intro m. rewrite upd_upd. apply upd_self.
Qed.
