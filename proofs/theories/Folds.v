(* Symmetric variables of a region map: to change places of two of them leaves the domain and the claims as they
   are. Then a point goes to one at which the variables of each class ascend, and the claims hold at both or at
   neither. So a cell at which no point ascends needs no proof: it mirrors others. *)
From Coq Require Import Reals ZArith QArith Qreals Lra Lia List Bool Arith.
From Paramverify Require Import Poly Goal Certificate Rule Check Sound Maps.
Import ListNotations.
Local Open Scope R_scope.

(* --- two variables change places ---------------------------------------------------------------------------- *)

Definition swapped (a b : nat) (e : env) : env := upd (upd e a (e b)) b (e a).

(* The variable n occurs in no polynomial. *)
Definition swap_in (n a b : nat) (p : qpoly) : qpoly :=
  qcompose (qcompose (qcompose p a (qvar n)) b (qvar a)) n (qvar b).

Lemma swap_in_ok : forall n a b p e, qfree p n = true -> n <> a -> n <> b -> a <> b ->
  qeval (swap_in n a b p) e = qeval p (swapped a b e).
Proof.
  intros n a b p e F Na Nb N. unfold swap_in. rewrite !qeval_compose, !qeval_var.
  rewrite <- (qfree_eval p n F (swapped a b e) (e b)). apply qeval_ext. intro k. unfold swapped, upd.
  repeat match goal with |- context [Nat.eqb ?x ?y] => destruct (Nat.eqb_spec x y) end; subst; try congruence; auto.
Qed.

Lemma swapped_twice : forall a b e k, swapped a b (swapped a b e) k = e k.
Proof.
  intros a b e k. unfold swapped, upd.
  repeat match goal with |- context [Nat.eqb ?x ?y] => destruct (Nat.eqb_spec x y) end; subst; congruence.
Qed.

Definition same_interval (i j : interval) : bool :=
  qsame (lo i) (lo j) && qsame (hi i) (hi j) && Bool.eqb (lopen i) (lopen j) && Bool.eqb (hopen i) (hopen j).

Definition alike (g : goal) (a b : nat) : bool :=
  match at_axis (gbox g) a, at_axis (gbox g) b with
  | Some i, Some j => qlt (lo i) (hi i) && same_interval i j
  | _, _ => false
  end.

Definition same_claims (n a b : nat) (claims : list qpoly) : bool :=
  forallb (fun p => qfree p n && existsb (fun q => proportional (num (swap_in n a b p)) (num q)) claims) claims.

Definition cond_like (n a b : nat) (p : qpoly) (strict : bool) (c : cond) : bool :=
  match c with Some (q, s) => Bool.eqb strict s && proportional (num (swap_in n a b p)) (num q) | None => false end.

Definition same_conds (n a b : nat) (l : list cond) : bool :=
  forallb (fun c => match c with
                    | Some (p, s) => qfree p n && existsb (cond_like n a b p s) l
                    | None => true
                    end) l.

Definition exchange (claims : list qpoly) (g : goal) (a b : nat) : bool :=
  let n := S (a + b + length (gbox g)) in
  negb (Nat.eqb a b) && alike g a b && forallb (fun f => negb (about a f) && negb (about b f)) (gfacts g) &&
  same_claims n a b claims && same_conds n a b (gconds g).

Definition all_hold (claims : list qpoly) (e : env) : Prop := forall p, In p claims -> 0 <= qeval p e.

Lemma proportional_sign : forall p q e, proportional (num p) (num q) = true ->
  (0 <= qeval p e <-> 0 <= qeval q e) /\ (0 < qeval p e <-> 0 < qeval q e).
Proof.
  intros p q e H. apply proportional_ok in H as (a & b & A & B & E). specialize (E e).
  rewrite !qeval_sign, !qeval_pos. split; split; intro K.
  - apply Rmult_le_reg_l with b; [assumption|]. rewrite Rmult_0_r, <- E. apply Rmult_le_pos; lra.
  - apply Rmult_le_reg_l with a; [assumption|]. rewrite Rmult_0_r, E. apply Rmult_le_pos; lra.
  - apply Rmult_lt_reg_l with b; [assumption|]. rewrite Rmult_0_r, <- E. apply Rmult_lt_0_compat; lra.
  - apply Rmult_lt_reg_l with a; [assumption|]. rewrite Rmult_0_r, E. apply Rmult_lt_0_compat; lra.
Qed.

Section Exchange.

Variable claims : list qpoly.
Variable g : goal.

Lemma same_interval_ok : forall i j x, same_interval i j = true -> (inside i x <-> inside j x).
Proof.
  intros i j x H. unfold same_interval in H. apply andb_prop in H as [H H4]. apply andb_prop in H as [H H3].
  apply andb_prop in H as [H1 H2]. apply qsame_R in H1, H2. apply eqb_prop in H3, H4.
  unfold inside. rewrite H1, H2, H3, H4. tauto.
Qed.

Lemma exchange_ok : forall a b, exchange claims g a b = true -> forall e, dom g e ->
  dom g (swapped a b e) /\ (all_hold claims e -> all_hold claims (swapped a b e)).
Proof.
  intros a b H e (B & C & F). unfold exchange in H. set (n := S (a + b + length (gbox g))) in *.
  apply andb_prop in H as [H H5]. apply andb_prop in H as [H H4]. apply andb_prop in H as [H H3].
  apply andb_prop in H as [H1 H2]. apply negb_true_iff, Nat.eqb_neq in H1.
  assert (Na : n <> a) by (unfold n; lia). assert (Nb : n <> b) by (unfold n; lia).
  unfold alike in H2. destruct (at_axis (gbox g) a) as [i|] eqn:Ea; [|discriminate].
  destruct (at_axis (gbox g) b) as [j|] eqn:Eb; [|discriminate]. apply andb_prop in H2 as [_ H2].
  split; [split; [|split]|].
  - intros k iv E. unfold swapped, upd. destruct (Nat.eqb_spec k b) as [->|Kb].
    + rewrite Eb in E. inversion E; subst. apply (same_interval_ok i iv _ H2). apply B. assumption.
    + destruct (Nat.eqb_spec k a) as [->|Ka]; [|apply B; assumption].
      rewrite Ea in E. inversion E; subst. apply (same_interval_ok iv j _ H2). apply B. assumption.
  - intros [[p s]|] K; [|exact I]. unfold same_conds in H5. rewrite forallb_forall in H5.
    specialize (H5 _ K). cbv beta iota in H5. apply andb_prop in H5 as [P1 P2].
    apply existsb_exists in P2 as ([[q t]|] & I & P2); [|discriminate]. simpl in P2.
    apply andb_prop in P2 as [P2 P3]. apply eqb_prop in P2. subst t.
    pose proof (C _ I) as Cq. simpl in Cq |- *. rewrite <- (swap_in_ok n a b p e P1 Na Nb H1).
    destruct (proportional_sign _ _ e P3) as [S1 S2]. destruct s; simpl in *; [now apply S2 | now apply S1].
  - intros f K. rewrite forallb_forall in H3. specialize (H3 f K). apply andb_prop in H3 as [A1 A2].
    apply negb_true_iff in A1, A2. unfold swapped. apply fact_upd; [assumption|]. apply fact_upd; auto.
  - intros A p K. unfold same_claims in H4. rewrite forallb_forall in H4. specialize (H4 p K).
    apply andb_prop in H4 as [P1 P2]. apply existsb_exists in P2 as (q & I & P2).
    rewrite <- (swap_in_ok n a b p e P1 Na Nb H1). apply (proportional_sign _ _ e P2). exact (A q I).
Qed.

Lemma all_hold_ext : forall e d, (forall k, e k = d k) -> all_hold claims e -> all_hold claims d.
Proof. intros e d E A p K. rewrite <- (qeval_ext p e d E). exact (A p K). Qed.

Lemma exchange_iff : forall a b, exchange claims g a b = true -> forall e, dom g e ->
  dom g (swapped a b e) /\ (all_hold claims e <-> all_hold claims (swapped a b e)).
Proof.
  intros a b H e D. destruct (exchange_ok a b H e D) as [D' A]. split; [assumption|]. split; [assumption|].
  intro A'. destruct (exchange_ok a b H _ D') as [_ A2].
  exact (all_hold_ext _ _ (swapped_twice a b e) (A2 A')).
Qed.

End Exchange.

(* --- points that ascend --------------------------------------------------------------------------------------- *)

Fixpoint ascending (l : list nat) (e : env) : Prop :=
  match l with [] => True | k :: l => (forall j, In j l -> e k <= e j) /\ ascending l e end.

Fixpoint neighbours (l : list nat) : list (nat * nat) :=
  match l with a :: (b :: _) as l => (a, b) :: neighbours l | _ => [] end.

(* From a point to another one, by exchanges of some pairs. *)
Inductive swaps (pairs : list (nat * nat)) : env -> env -> Prop :=
  | swaps_none : forall e, swaps pairs e e
  | swaps_one : forall a b e d, In (a, b) pairs -> swaps pairs (swapped a b e) d -> swaps pairs e d.

Lemma swaps_more : forall l m e d, incl l m -> swaps l e d -> swaps m e d.
Proof. intros l m e d I S. induction S as [|a b e d K S IH]; [constructor|]. apply (swaps_one m a b); auto. Qed.

Lemma swaps_trans : forall l e d c, swaps l e d -> swaps l d c -> swaps l e c.
Proof. intros l e d c S T. induction S as [|a b e d K S IH]; [assumption|]. apply (swaps_one l a b); auto. Qed.

Lemma neighbours_tail : forall k l, incl (neighbours l) (neighbours (k :: l)).
Proof. intros k [|j l]; [intros x []|]. cbn [neighbours]. apply incl_tl, incl_refl. Qed.

Lemma ascending_ext : forall l e d, (forall k, In k l -> e k = d k) -> ascending l e -> ascending l d.
Proof.
  induction l as [|k l IH]; intros e d E A; [exact I|]. destruct A as [A1 A2]. split.
  - intros j J. rewrite <- !E by (simpl; auto). exact (A1 j J).
  - apply (IH e); [|exact A2]. intros j J. apply E. now right.
Qed.

Lemma insert_one : forall l k e, NoDup (k :: l) -> ascending l e -> exists d,
  swaps (neighbours (k :: l)) e d /\ ascending (k :: l) d /\ (forall j, ~ In j (k :: l) -> d j = e j) /\
  (forall x, (forall j, In j (k :: l) -> x <= e j) -> forall j, In j (k :: l) -> x <= d j).
Proof.
  induction l as [|j l IH]; intros k e N A.
  - exists e. repeat split; auto; [constructor | intros j []].
  - destruct (Rle_lt_dec (e k) (e j)) as [L|L].
    + exists e. split; [constructor|]. split; [|auto]. split; [|exact A]. destruct A as [A _].
      intros m [<-|M]; [assumption|]. specialize (A m M). lra.
    + inversion N as [|? ? Nk N']; subst. inversion N' as [|? ? Nj N'']; subst.
      assert (kj : k <> j) by (intro X; subst; apply Nk; now left).
      set (c := swapped k j e).
      assert (Ck : c k = e j) by (unfold c, swapped; rewrite upd_other by assumption; apply upd_same).
      assert (Cj : c j = e k) by (unfold c, swapped; apply upd_same).
      assert (Co : forall m, m <> k -> m <> j -> c m = e m).
      { intros m M1 M2. unfold c, swapped. now rewrite !upd_other by assumption. }
      assert (Cl : forall m, In m l -> c m = e m).
      { intros m M. apply Co; intro X; subst; [apply Nk; now right | now apply Nj]. }
      destruct A as [A1 A2].
      destruct (IH j c N') as (d & S & D1 & D2 & D3).
      { apply (ascending_ext l e); [intros m M; symmetry; now apply Cl | assumption]. }
      assert (Dk : d k = e j) by (rewrite D2 by assumption; exact Ck).
      exists d. split; [|split; [|split]].
      * apply (swaps_one _ k j); [now left|]. apply (swaps_more (neighbours (j :: l))); [apply neighbours_tail|exact S].
      * split; [|exact D1]. intros m M. rewrite Dk. apply D3; [|exact M].
        intros p [<-|P]; [lra|]. rewrite (Cl p P). exact (A1 p P).
      * intros m M. rewrite D2 by (intro X; apply M; now right). apply Co; intro X; subst; apply M; simpl; auto.
      * intros x X m [<-|M]; [rewrite Dk; apply X; simpl; auto|]. apply D3; [|exact M].
        intros p [<-|P]; [rewrite Cj; apply X; simpl; auto|]. rewrite (Cl p P). apply X. simpl; auto.
Qed.

Lemma sort_one : forall l e, NoDup l -> exists d,
  swaps (neighbours l) e d /\ ascending l d /\ (forall j, ~ In j l -> d j = e j).
Proof.
  induction l as [|k l IH]; intros e N.
  - exists e. repeat split; auto. constructor.
  - inversion N as [|? ? Nk N']; subst. destruct (IH e N') as (c & S & A & O).
    destruct (insert_one l k c N A) as (d & S' & A' & O' & _). exists d. split; [|split; [exact A'|]].
    + apply (swaps_trans _ _ c); [|exact S']. apply (swaps_more (neighbours l)); [apply neighbours_tail | exact S].
    + intros j J. rewrite O' by assumption. apply O. intro X. apply J. now right.
Qed.

Lemma sort_all : forall folds e, NoDup (concat folds) -> exists d,
  swaps (flat_map neighbours folds) e d /\ (forall l, In l folds -> ascending l d) /\
  (forall j, ~ In j (concat folds) -> d j = e j).
Proof.
  induction folds as [|l folds IH]; intros e N.
  - exists e. repeat split; auto; [constructor | intros l []].
  - simpl in N. destruct (sort_one l e) as (c & S & A & O).
    { clear - N. induction l as [|k l IH]; [constructor|]. simpl in N. inversion N; subst. constructor; auto.
      intro X. apply H1. apply in_or_app. now left. }
    assert (N2 : NoDup (concat folds)).
    { clear - N. induction l as [|k l IH]; [assumption|]. simpl in N. inversion N; auto. }
    assert (Apart : forall k, In k l -> ~ In k (concat folds)).
    { clear - N. induction l as [|j l IH]; intros k K M; [destruct K|]. simpl in N. inversion N; subst.
      destruct K as [<-|K]; [apply H1; apply in_or_app; now right | exact (IH H2 k K M)]. }
    destruct (IH c N2) as (d & S' & A' & O'). exists d. split; [|split].
    + apply (swaps_trans _ _ c).
      * apply (swaps_more (neighbours l)); [|exact S]. simpl. apply incl_appl, incl_refl.
      * apply (swaps_more (flat_map neighbours folds)); [|exact S']. simpl. apply incl_appr, incl_refl.
    + intros m [<-|M]; [|now apply A']. apply (ascending_ext l c); [|exact A]. intros k K. symmetry.
      apply O'. now apply Apart.
    + intros j J. simpl in J. rewrite O' by (intro X; apply J; apply in_or_app; now right). apply O.
      intro X. apply J. apply in_or_app. now left.
Qed.

(* --- maps ------------------------------------------------------------------------------------------------------ *)

Fixpoint different (l : list nat) : bool :=
  match l with [] => true | k :: l => negb (existsb (Nat.eqb k) l) && different l end.

Lemma different_ok : forall l, different l = true -> NoDup l.
Proof.
  induction l as [|k l IH]; intro H; [constructor|]. simpl in H. apply andb_prop in H as [H1 H2].
  constructor; [|auto]. intro K. apply negb_true_iff in H1. rewrite <- not_true_iff_false in H1. apply H1.
  apply existsb_exists. exists k. split; [assumption | apply Nat.eqb_refl].
Qed.

Definition symmetric (claims : list qpoly) (g : goal) (folds : list (list nat)) : bool :=
  different (concat folds) && forallb (fun p => exchange claims g (fst p) (snd p)) (flat_map neighbours folds).

Lemma swaps_ok : forall claims g pairs, (forall a b, In (a, b) pairs -> exchange claims g a b = true) ->
  forall e d, swaps pairs e d -> dom g e -> dom g d /\ (all_hold claims e <-> all_hold claims d).
Proof.
  intros claims g pairs H e d S. induction S as [|a b e d K S IH]; intro D; [tauto|].
  destruct (exchange_iff claims g a b (H a b K) e D) as [D' A]. destruct (IH D') as [D2 A2]. tauto.
Qed.

(* Values of other variables may be put in before or after the exchanges. *)
Definition apart (pairs : list (nat * nat)) (l : list (nat * Q)) : Prop :=
  forall a b k v, In (a, b) pairs -> In (k, v) l -> k <> a /\ k <> b.

Lemma swapped_values : forall a b e l k, (forall j v, In (j, v) l -> j <> a /\ j <> b) ->
  swapped a b (set_values l e) k = set_values l (swapped a b e) k.
Proof.
  intros a b e. induction l as [|[j v] l IH]; intros k N; [reflexivity|]. cbn [set_values].
  destruct (N j v (or_introl eq_refl)) as [Na Nb].
  assert (IHk := IH k (fun i w I => N i w (or_intror I))). unfold upd at 2. destruct (Nat.eqb_spec k j) as [->|K].
  - unfold swapped. rewrite !upd_other by assumption. apply upd_same.
  - rewrite <- IHk. unfold swapped, upd.
    repeat match goal with |- context [Nat.eqb ?x ?y] => destruct (Nat.eqb_spec x y) end; subst; congruence.
Qed.

Lemma swaps_values : forall claims g pairs, (forall a b, In (a, b) pairs -> exchange claims g a b = true) ->
  forall l, apart pairs l -> forall e d, swaps pairs e d -> dom g (set_values l d) ->
  dom g (set_values l e) /\ (all_hold claims (set_values l e) <-> all_hold claims (set_values l d)).
Proof.
  intros claims g pairs H l N e d S. induction S as [|a b e d K S IH]; intro D; [tauto|].
  destruct (IH D) as [D1 A1].
  assert (X : forall k, swapped a b (set_values l e) k = set_values l (swapped a b e) k).
  { intro k. apply swapped_values. intros j v I. exact (N a b j v K I). }
  assert (D2 : dom g (swapped a b (set_values l e))) by (apply (dom_ext g _ _ (fun k => eq_sym (X k))); exact D1).
  destruct (exchange_iff claims g a b (H a b K) _ D2) as [D3 A3].
  pose proof (swapped_twice a b (set_values l e)) as T. split; [exact (dom_ext _ _ _ T D3)|].
  pose proof (all_hold_ext claims _ _ T) as T1. pose proof (all_hold_ext claims _ _ (fun k => eq_sym (T k))) as T2.
  pose proof (all_hold_ext claims _ _ X) as X1. pose proof (all_hold_ext claims _ _ (fun k => eq_sym (X k))) as X2.
  tauto.
Qed.

(* The ends of all variables of a class are those of the first one. *)
Lemma fold_ends : forall claims g l, forallb (fun p => exchange claims g (fst p) (snd p)) (neighbours l) = true ->
  forall k j, In k l -> In j l -> k <> j -> exists i m, at_axis (gbox g) k = Some i /\ at_axis (gbox g) j = Some m /\
  Q2R (lo i) < Q2R (hi i) /\ Q2R (hi i) = Q2R (hi m).
Proof.
  intros claims g l H.
  assert (G : forall a l, forallb (fun p => exchange claims g (fst p) (snd p)) (neighbours (a :: l)) = true -> l <> [] ->
    exists x y, x < y /\ forall k, In k (a :: l) -> exists i, at_axis (gbox g) k = Some i /\ Q2R (lo i) = x /\ Q2R (hi i) = y).
  { clear. intros a l. revert a. induction l as [|b l IH]; intros a H N; [congruence|].
    cbn [neighbours forallb fst snd] in H. apply andb_prop in H as [H1 H2].
    unfold exchange in H1. apply andb_prop in H1 as [H1 _]. apply andb_prop in H1 as [H1 _].
    apply andb_prop in H1 as [H1 _]. apply andb_prop in H1 as [_ H1]. unfold alike in H1.
    destruct (at_axis (gbox g) a) as [i|] eqn:Ea; [|discriminate].
    destruct (at_axis (gbox g) b) as [j|] eqn:Eb; [|discriminate].
    apply andb_prop in H1 as [P S]. apply qlt_R in P. unfold same_interval in S.
    apply andb_prop in S as [S _]. apply andb_prop in S as [S _]. apply andb_prop in S as [S1 S2].
    apply qsame_R in S1, S2. destruct l as [|c l].
    - exists (Q2R (lo i)), (Q2R (hi i)). split; [assumption|]. intros k [<-|[<-|[]]]; [exists i | exists j]; auto.
    - destruct (IH b H2) as (x & y & L & K); [congruence|]. exists x, y. split; [assumption|].
      intros k [<-|M]; [|now apply K]. destruct (K b) as (j' & J1 & J2 & J3); [now left|].
      rewrite Eb in J1. inversion J1; subst j'. exists i. repeat split; [assumption | lra | lra]. }
  intros k j K J N. destruct l as [|a [|b l]]; [destruct K | |].
  { destruct K as [<-|[]], J as [<-|[]]. congruence. }
  destruct (G a (b :: l) H) as (x & y & L & M); [congruence|].
  destruct (M k K) as (i & I1 & I2 & I3), (M j J) as (m & M1 & M2 & M3). exists i, m. repeat split; auto; lra.
Qed.

Lemma descends_not : forall claims g h e l, reaches g h e -> ascending l e ->
  forallb (fun p => exchange claims g (fst p) (snd p)) (neighbours l) = true -> NoDup l ->
  descends (gbox h) l = true -> False.
Proof.
  intros claims g h e l [D R] A H N X.
  assert (Found : exists k j, In k l /\ In j l /\ k <> j /\ e k <= e j /\ exists i m,
    at_axis (gbox h) k = Some i /\ at_axis (gbox h) j = Some m /\ Q2R (hi m) <= Q2R (lo i)).
  { clear R D H. induction l as [|k l IH]; [discriminate|]. cbn [descends] in X. destruct A as [A1 A2].
    inversion N as [|? ? Nk N']; subst. apply orb_prop in X as [X|X].
    - apply existsb_exists in X as (j & J & X). exists k, j. repeat split; [now left | now right | | now apply A1 |].
      + intro E. subst. contradiction.
      + destruct (at_axis (gbox h) k) as [i|]; [|discriminate]. destruct (at_axis (gbox h) j) as [m|]; [|discriminate].
        apply qle_R in X. exists i, m. auto.
    - destruct (IH A2 N' X) as (k' & j & K & J & rest). exists k', j. split; [now right|]. split; [now right | exact rest]. }
  destruct Found as (k & j & K & J & kj & L & i & m & Hi & Hm & Le).
  destruct (fold_ends claims g l H k j K J kj) as (i' & m' & I' & M' & Lt & Eq).
  destruct (R k i' I') as (i2 & I2 & _ & I3 & I4). rewrite Hi in I2. inversion I2; subst i2.
  destruct (R j m' M') as (m2 & M2 & M3 & _ & _). rewrite Hm in M2. inversion M2; subst m2.
  specialize (I4 Lt). destruct (proj1 D k i Hi) as [B _]. apply below_le in B. destruct M3; lra.
Qed.

(* A map with symmetric variables. Each point of the domain has a mirror image, itself or another one, in a part
   that is not a mirrored one; and the claims hold at both or at neither, also with other values of other variables. *)
Theorem folded_map : forall rec, honest rec -> forall factors constant claims folds g t l,
  check_region rec factors constant claims folds g t = Some l -> symmetric (map fst claims) g folds = true ->
  forall e, dom g e -> exists d h r, swaps (flat_map neighbours folds) e d /\ dom g d /\
    (all_hold (map fst claims) e <-> all_hold (map fst claims) d) /\
    (forall at_, apart (flat_map neighbours folds) at_ -> dom g (set_values at_ d) -> dom g (set_values at_ e) /\
      (all_hold (map fst claims) (set_values at_ e) <-> all_hold (map fst claims) (set_values at_ d))) /\
    In (h, r) l /\ dom h d /\ r <> Mirrored /\ says h claims d r.
Proof.
  intros rec R factors constant claims folds g t l H S e D. unfold symmetric in S. apply andb_prop in S as [S1 S2].
  apply different_ok in S1. destruct (sort_all folds e S1) as (d & W & A & _).
  assert (X : forall a b, In (a, b) (flat_map neighbours folds) -> exchange (map fst claims) g a b = true).
  { intros a b I. rewrite forallb_forall in S2. exact (S2 _ I). }
  destruct (swaps_ok _ _ _ X _ _ W D) as [D' E].
  pose proof (check_region_sound rec factors constant R claims folds g t l H) as [_ Says].
  unfold check_region in H. destruct (forallb _ claims); [|discriminate].
  destruct (parts_of g t []) as [m|] eqn:P; [|discriminate].
  destruct (forallb (fun x => check_part _ _ _ _ _ (fst x) (snd x)) m) eqn:K; [|discriminate].
  inversion H; subst m. destruct (parts_reach _ _ _ _ _ _ P D') as (h & r & I & Re).
  exists d, h, r. destruct (Says h r d I (proj1 Re)) as [_ Q]. 
  split; [exact W|]. split; [exact D'|]. split; [exact E|].
  split; [intros at_ N; exact (swaps_values _ _ _ X at_ N e d W)|].
  split; [exact I|]. split; [exact (proj1 Re)|]. split; [|exact Q]. intros ->. rewrite forallb_forall in K. specialize (K _ I). cbn [fst snd check_part] in K.
  apply existsb_exists in K as (f & F & K). apply (descends_not (map fst claims) g h d f Re (A f F)) in K; [exact K | |].
  - rewrite forallb_forall. intros [a b] Y. apply X. apply in_flat_map. exists f. auto.
  - clear - S1 F. induction folds as [|f' folds IH]; [destruct F|]. simpl in S1. destruct F as [->|F].
    + clear IH. induction f as [|k f IH]; [constructor|]. simpl in S1. inversion S1; subst. constructor; auto.
      intro Z. apply H1. apply in_or_app. now left.
    + apply IH; [exact F|]. clear - S1. induction f' as [|k f' IH]; [assumption|]. simpl in S1. inversion S1; auto.
Qed.

Corollary check_folded_map_sound : forall lemmas factors constant claims folds g t l,
  (forall h, In h lemmas -> holds h) ->
  check_region (check max_depth lemmas) factors constant claims folds g t = Some l ->
  symmetric (map fst claims) g folds = true ->
  forall e, dom g e -> exists d h r, swaps (flat_map neighbours folds) e d /\ dom g d /\
    (all_hold (map fst claims) e <-> all_hold (map fst claims) d) /\
    (forall at_, apart (flat_map neighbours folds) at_ -> dom g (set_values at_ d) -> dom g (set_values at_ e) /\
      (all_hold (map fst claims) (set_values at_ e) <-> all_hold (map fst claims) (set_values at_ d))) /\
    In (h, r) l /\ dom h d /\ r <> Mirrored /\ says h claims d r.
Proof.
  intros lemmas factors constant claims folds g t l L H.
  refine (folded_map (check max_depth lemmas) _ factors constant claims folds g t l H).
  intros h c K. exact (check_sound max_depth lemmas h c L K).
Qed.
