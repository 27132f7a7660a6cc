(* Region maps about sets of outputs. A map has claims, and says where they hold. Here it is shown that all of them hold
   at a point iff every sum of max(0, t) over some terms is at most its room there. *)
From Coq Require Import Reals ZArith QArith Qreals Lra Lia List Bool Arith.
From Paramverify Require Import Poly Goal Certificate Rule RuleBernstein Check Sound Sets.
Import ListNotations.
Local Open Scope R_scope.

(* A leaf with the lemma number k says that what is left of the room is the claim number k. *)
Fixpoint covers (rec : checker) (claims : list qpoly) (all : list cond) (g : goal) (terms : list (option qpoly))
  (t : set_tree) : bool :=
  match t with
  | Leaf (CLemma k) =>
    forallb is_settled terms && match nth_error claims k with Some p => qeq (gpoly g) p | None => false end
  | Leaf _ | Bounded _ _ _ _ _ => false
  | Counts i c t =>
    match nth_error terms i with
    | Some (Some p) =>
      rec (for_poly g p) c && covers rec claims all (for_poly g (qsub (gpoly g) p)) (settle terms i) t
    | _ => false
    end
  | Nothing i c t =>
    match nth_error terms i with
    | Some (Some p) => rec (for_poly g (qopp p)) c && covers rec claims all g (settle terms i) t
    | _ => false
    end
  | CutAt k a low high =>
    match at_axis (gbox g) k with
    | Some i =>
      covers rec claims all (with_interval g k (Some (lower_part i a))) terms low &&
      covers rec claims all (with_interval g k (Some (upper_part i a))) terms high
    | None => false
    end
  | CutBy p up down =>
    covers rec claims all (with_cond g (Some (p, false))) terms up &&
    covers rec claims all (with_cond g (Some (qopp p, false))) terms down
  | Free t => covers rec claims all (Goal (gpoly g) (gbox g) all (gfacts g)) terms t
  end.

Fixpoint at_leaf (k : nat) (t : set_tree) : bool :=
  match t with
  | Leaf (CLemma j) => Nat.eqb k j
  | Leaf _ => false
  | Counts _ _ t | Nothing _ _ t | Bounded _ _ _ _ t | Free t => at_leaf k t
  | CutAt _ _ low high => at_leaf k low || at_leaf k high
  | CutBy _ up down => at_leaf k up || at_leaf k down
  end.

(* At each point one of the claims is what the sum leaves of the room. *)
Lemma one_is_left : forall rec, honest rec -> forall claims all t g terms e,
  covers rec claims all g terms t = true -> dom g e -> (forall c, In c all -> cond_holds e c) ->
  exists p, In p claims /\ qeval p e = qeval (gpoly g) e - open_excess terms e.
Proof.
  intros rec R claims all.
  induction t as [c|i c t IH|i c t IH|i u c d t IH|k a low IHl high IHh|p up IHu down IHd|t IH];
    intros g terms e H D A; cbn [covers] in H; try discriminate.
  - destruct c; try discriminate. apply andb_prop in H as [H1 H2].
    destruct (nth_error claims _) as [p|] eqn:N; [|discriminate]. exists p. split; [exact (nth_error_In _ _ N)|].
    rewrite all_settled by assumption. rewrite <- (qeq_eval _ _ H2 e). ring.
  - destruct (nth_error terms i) as [[p|]|] eqn:E; try discriminate. apply andb_prop in H as [H1 H2].
    pose proof (holds_for_poly _ _ _ D (R _ _ H1)) as P.
    destruct (IH (for_poly g (qsub (gpoly g) p)) _ e H2 D A) as (q & I & Q). exists q. split; [exact I|].
    rewrite Q, (settle_ok _ _ _ e E), Rmax_right by assumption. simpl. rewrite qeval_sub. ring.
  - destruct (nth_error terms i) as [[p|]|] eqn:E; try discriminate. apply andb_prop in H as [H1 H2].
    pose proof (holds_for_poly _ _ _ D (R _ _ H1)) as P. rewrite qeval_opp in P.
    destruct (IH g _ e H2 D A) as (q & I & Q). exists q. split; [exact I|].
    rewrite Q, (settle_ok _ _ _ e E), Rmax_left by lra. ring.
  - destruct (at_axis (gbox g) k) as [i|] eqn:E; [|discriminate]. apply andb_prop in H as [H1 H2].
    destruct (proj1 D k i E) as [B1 B2]. destruct (Rle_lt_dec (e k) (Q2R a)) as [L|L].
    + apply (IHl _ terms e H1); [|assumption]. apply dom_with_interval; [assumption|].
      intros j J. inversion J; subst. split; simpl; assumption.
    + apply (IHh _ terms e H2); [|assumption]. apply dom_with_interval; [assumption|].
      intros j J. inversion J; subst. split; simpl; [lra | assumption].
  - apply andb_prop in H as [H1 H2]. destruct (Rle_lt_dec 0 (qeval p e)) as [L|L].
    + apply (IHu _ terms e H1); [|assumption]. apply dom_with_cond; assumption.
    + apply (IHd _ terms e H2); [|assumption]. apply dom_with_cond; [assumption|]. simpl. rewrite qeval_opp. lra.
  - apply (IH _ terms e H); [|assumption]. destruct D as (B & C & F). split; [|split]; assumption.
Qed.

(* A claim at a leaf leaves out some terms, so it is not below what the sum leaves of the room. *)
Lemma none_is_below : forall rec claims all k p e, nth_error claims k = Some p -> forall t g terms,
  covers rec claims all g terms t = true -> at_leaf k t = true ->
  qeval (gpoly g) e - open_excess terms e <= qeval p e.
Proof.
  intros rec claims all k p e N.
  induction t as [c|i c t IH|i c t IH|i u c d t IH|j a low IHl high IHh|q up IHu down IHd|t IH];
    intros g terms H L; cbn [covers at_leaf] in H, L; try discriminate.
  - destruct c; try discriminate. apply Nat.eqb_eq in L. subst. apply andb_prop in H as [H1 H2]. rewrite N in H2.
    rewrite all_settled by assumption. rewrite (qeq_eval _ _ H2 e). lra.
  - destruct (nth_error terms i) as [[q|]|] eqn:E; try discriminate. apply andb_prop in H as [_ H].
    pose proof (IH _ _ H L) as Q. simpl in Q. rewrite qeval_sub in Q. rewrite (settle_ok _ _ _ e E).
    pose proof (Rmax_r 0 (qeval q e)). lra.
  - destruct (nth_error terms i) as [[q|]|] eqn:E; try discriminate. apply andb_prop in H as [_ H].
    pose proof (IH _ _ H L) as Q. rewrite (settle_ok _ _ _ e E). pose proof (Rmax_l 0 (qeval q e)). lra.
  - destruct (at_axis (gbox g) j) as [i|]; [|discriminate]. apply andb_prop in H as [H1 H2].
    apply orb_prop in L as [L|L]; [exact (IHl _ _ H1 L) | exact (IHh _ _ H2 L)].
  - apply andb_prop in H as [H1 H2]. apply orb_prop in L as [L|L]; [exact (IHu _ _ H1 L) | exact (IHd _ _ H2 L)].
  - exact (IH _ _ H L).
Qed.

(* Sums are rooms, terms and trees. Each claim is at a leaf of one of the trees. *)
Definition check_covers (lemmas : list goal) (claims : list qpoly) (g : goal) (sums : list (qpoly * list qpoly * set_tree)) :
  bool :=
  forallb (fun s => match s with (room, terms, t) =>
    covers (check max_depth lemmas) claims (gconds g) (for_poly g room) (map Some terms) t end) sums &&
  forallb (fun k => existsb (fun s => at_leaf k (snd s)) sums) (seq 0 (length claims)).

Theorem check_covers_sound : forall lemmas claims g sums, (forall l, In l lemmas -> holds l) ->
  check_covers lemmas claims g sums = true -> forall e, dom g e ->
  ((forall p, In p claims -> 0 <= qeval p e) <->
   (forall room terms t, In (room, terms, t) sums -> excess terms e <= qeval room e)).
Proof.
  intros lemmas claims g sums L H e D. unfold check_covers in H. apply andb_prop in H as [H1 H2].
  rewrite forallb_forall in H1, H2.
  assert (R : honest (check max_depth lemmas)) by (intros h c K; exact (check_sound max_depth lemmas h c L K)).
  assert (E : forall l, open_excess (map Some l) e = excess l e).
  { induction l as [|p l IH]; simpl; [reflexivity|]. rewrite IH. reflexivity. }
  split; intro A.
  - intros room terms t I. specialize (H1 _ I). cbn beta iota in H1.
    destruct (one_is_left _ R _ _ _ _ _ e H1 D (proj1 (proj2 D))) as (p & P & Q).
    specialize (A p P). rewrite Q, E in A. simpl in A. lra.
  - intros p P. destruct (In_nth_error _ _ P) as [k N].
    assert (K : In k (seq 0 (length claims))).
    { apply in_seq. assert (k < length claims)%nat by (apply nth_error_Some; congruence). lia. }
    specialize (H2 k K). apply existsb_exists in H2 as ([[room terms] t] & I & T). cbn [snd] in T.
    pose proof (H1 _ I) as C. cbn beta iota in C.
    pose proof (none_is_below _ _ _ k p e N _ _ _ C T) as B. rewrite E in B. simpl in B.
    specialize (A room terms t I). lra.
Qed.
