(* Near a vertex, the box is the union of the cones in which one of some distances is largest. *)
From Coq Require Import Reals ZArith QArith Qreals Lra Lia List Bool Arith.
From Paramverify Require Import Poly Goal Certificate Rule Semantics.
Import ListNotations.
Local Open Scope R_scope.

Lemma replaced_value : forall g k u i e v, qeval u (upd e k v) = e k ->
  qeval (gpoly (replaced g k u i)) (upd e k v) = qeval (gpoly g) e.
Proof.
  intros g k u i e v U. simpl. rewrite qeval_compose, U. apply qeval_ext. intro j.
  rewrite upd_upd. apply upd_self.
Qed.

(* A variable with the end of its interval at the vertex, and the way from there to the other end. *)
Record corner := Corner { cvar : nat; cend : Q; cway : Q }.

Definition read_corner (g : goal) (k : nat) (upper : bool) : option corner :=
  match at_axis (gbox g) k with
  | Some iv =>
    if qlt (lo iv) (hi iv) then
      Some (if upper then Corner k (hi iv) (lo iv - hi iv) else Corner k (lo iv) (hi iv - lo iv))
    else None
  | None => None
  end.

Fixpoint read_corners (g : goal) (l : list (nat * bool * cert)) : option (list (corner * cert)) :=
  match l with
  | [] => Some []
  | (k, upper, c) :: l =>
    match read_corner g k upper, read_corners g l with Some a, Some m => Some ((a, c) :: m) | _, _ => None end
  end.

(* Where the distance of m is largest, that of j is r times it, and r takes the place of j. *)
Definition image (m j : corner) : qpoly :=
  qadd (qconst (cend j))
    (qmul (qscale (cway j) (qvar (cvar j))) (qscale (/ cway m) (qsub (qvar (cvar m)) (qconst (cend m))))).

Fixpoint blown (g : goal) (m : corner) (l : list corner) : goal :=
  match l with
  | [] => g
  | j :: l =>
    blown (if Nat.eqb (cvar j) (cvar m) then g
           else replaced g (cvar j) (image m j) (Some (Iv 0 1 false false))) m l
  end.

Fixpoint distinct (l : list nat) : bool :=
  match l with [] => true | k :: l => negb (existsb (Nat.eqb k) l) && distinct l end.

Lemma distinct_ok : forall l, distinct l = true -> NoDup l.
Proof.
  induction l as [|k l IH]; intro H; [constructor|]. simpl in H. apply andb_prop in H as [H1 H2].
  constructor; [|auto]. intro K. apply negb_true_iff in H1.
  assert (X : existsb (Nat.eqb k) l = true) by (apply existsb_exists; exists k; rewrite Nat.eqb_refl; auto).
  congruence.
Qed.

Definition check_blowup (rec : checker) (g : goal) (l : list (nat * bool * cert)) : bool :=
  match read_corners g l with
  | Some m =>
    negb (Nat.eqb (length m) 0) && distinct (map (fun p => cvar (fst p)) m) &&
    forallb (fun p => rec (blown g (fst p) (map fst m)) (snd p)) m
  | None => false
  end.

(* The share of the way from the vertex on which a point is. *)
Definition share (e : env) (c : corner) : R := (e (cvar c) - Q2R (cend c)) / Q2R (cway c).

Lemma Q2R_inverse : forall q, Q2R q <> 0 -> Q2R (/ q) = / Q2R q.
Proof. intros q H. apply Q2R_inv. intro E. apply H. rewrite (Qeq_eqR _ _ E). apply Q2R_0. Qed.

Lemma read_corner_ok : forall g k upper c e, read_corner g k upper = Some c -> dom g e ->
  cvar c = k /\ Q2R (cway c) <> 0 /\ 0 <= share e c <= 1.
Proof.
  intros g k upper c e H D. unfold read_corner in H.
  destruct (at_axis (gbox g) k) as [iv|] eqn:E; [|discriminate].
  destruct (qlt (lo iv) (hi iv)) eqn:L; [|discriminate].
  apply qlt_R in L. pose proof (inside_le _ _ (proj1 D k iv E)) as B.
  assert (Hi : 0 < / (Q2R (hi iv) - Q2R (lo iv))) by (apply Rinv_0_lt_compat; lra).
  destruct upper; inversion H; subst; clear H; unfold share; cbn [cvar cend cway]; rewrite Q2R_minus.
  - split; [reflexivity|]. split; [lra|].
    replace ((e k - Q2R (hi iv)) / (Q2R (lo iv) - Q2R (hi iv)))
      with ((Q2R (hi iv) - e k) * / (Q2R (hi iv) - Q2R (lo iv))) by (field; lra).
    split; [apply Rmult_le_pos; lra|].
    apply Rmult_le_reg_r with (Q2R (hi iv) - Q2R (lo iv)); [lra|].
    rewrite Rmult_assoc, Rinv_l by lra. lra.
  - split; [reflexivity|]. split; [lra|].
    split; [apply Rmult_le_pos; lra|].
    apply Rmult_le_reg_r with (Q2R (hi iv) - Q2R (lo iv)); [lra|].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

Lemma read_corners_ok : forall g l m e, read_corners g l = Some m -> dom g e ->
  forall p, In p m -> Q2R (cway (fst p)) <> 0 /\ 0 <= share e (fst p) <= 1.
Proof.
  induction l as [|[[k b] c] l IH]; intros m e H D p K; simpl in H.
  - inversion H; subst. destruct K.
  - destruct (read_corner g k b) as [a|] eqn:E; [|discriminate].
    destruct (read_corners g l) as [n|] eqn:F; [|discriminate]. inversion H; subst; clear H.
    destruct K as [<-|K]; [|eapply IH; eauto].
    apply (read_corner_ok g k b a e E D).
Qed.

Lemma blown_ok : forall l g m e, dom g e -> Q2R (cway m) <> 0 ->
  NoDup (map cvar l) ->
  (forall j, In j l -> Q2R (cway j) <> 0 /\ 0 <= share e j <= share e m) ->
  exists d, dom (blown g m l) d /\ qeval (gpoly (blown g m l)) d = qeval (gpoly g) e.
Proof.
  induction l as [|j l IH]; intros g m e D W N S; cbn [blown]; [exists e; auto|].
  simpl in N. inversion N as [|x y N1 N2]; subst.
  destruct (Nat.eqb_spec (cvar j) (cvar m)) as [E|E].
  - apply IH; auto. intros i K. apply S. right. assumption.
  - destruct (S j) as [Wj Sj]; [left; reflexivity|].
    destruct (share_of (share e j) (share e m)) as (r & Hr & Er); [lra | lra |].
    set (d := upd e (cvar j) r).
    assert (U : qeval (image m j) d = e (cvar j)).
    { unfold image, d. rewrite qeval_add, qeval_mul, !qeval_scale, qeval_sub, !qeval_var, !qeval_const.
      rewrite upd_same, upd_other by auto. rewrite Q2R_inverse by assumption.
      unfold share in Er. apply Rmult_eq_compat_l with (r := Q2R (cway j)) in Er.
      replace (Q2R (cway j) * ((e (cvar j) - Q2R (cend j)) / Q2R (cway j))) with (e (cvar j) - Q2R (cend j))
        in Er by (field; assumption).
      unfold Rdiv in Er. lra. }
    assert (Dd : dom (replaced g (cvar j) (image m j) (Some (Iv 0 1 false false))) d).
    { apply dom_replaced; [assumption | exact U |]. intros i I. inversion I; subst.
      unfold inside; simpl. rewrite Q2R_0, Q2R_1. assumption. }
    assert (Sd : forall c, cvar c <> cvar j -> share d c = share e c).
    { intros c Hc. unfold share, d. rewrite upd_other by assumption. reflexivity. }
    destruct (IH _ m d Dd W N2) as (d' & D' & V').
    + intros i K. rewrite (Sd m) by auto. rewrite (Sd i).
      * apply S. right. assumption.
      * intro F. apply N1. rewrite <- F. apply in_map. assumption.
    + exists d'. split; [exact D'|]. rewrite V'. apply replaced_value. exact U.
Qed.

Lemma check_blowup_sound : forall rec, honest rec -> forall g l, check_blowup rec g l = true -> holds g.
Proof.
  intros rec R g l H e D. unfold check_blowup in H.
  destruct (read_corners g l) as [m|] eqn:E; [|discriminate].
  apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2].
  pose proof (read_corners_ok g l m e E D) as S.
  destruct (largest _ (fun p => share e (fst p)) m) as (p & Hp & Sp); [intros ->; discriminate|].
  apply distinct_ok in H2. rewrite <- map_map in H2.
  rewrite forallb_forall in H3. specialize (H3 p Hp).
  destruct (blown_ok (map fst m) g (fst p) e D) as (d & Dd & V).
  - apply (S p Hp).
  - exact H2.
  - intros j J. apply in_map_iff in J as (q & <- & Q). split; [apply (S q Q)|].
    split; [apply (S q Q) | apply (Sp q Q)].
  - rewrite <- V. exact (R _ _ H3 d Dd).
Qed.
