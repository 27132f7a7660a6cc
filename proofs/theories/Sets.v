(* Claims about all sets of outputs: the sum of max(0, t) over some terms is at most a number, by a tree. *)
From Coq Require Import Reals ZArith QArith Qreals Lra Lia List Bool Arith.
From Paramverify Require Import Poly Goal Certificate Rule RuleBernstein Check Sound.
Import ListNotations.
Local Open Scope R_scope.

(* A leaf shows what is left. Before that, terms are settled by their numbers: one counts, is nothing, or is at
   most a polynomial; and a part is cut at a variable, or by the sign of a polynomial. *)
Inductive set_tree :=
  | Leaf (c : cert)
  | Counts (i : nat) (c : cert) (t : set_tree)
  | Nothing (i : nat) (c : cert) (t : set_tree)
  | Bounded (i : nat) (u : qpoly) (c d : cert) (t : set_tree)
  | CutAt (k : nat) (a : Q) (low high : set_tree)
  | CutBy (p : qpoly) (up down : set_tree)
  | Free (t : set_tree).

Fixpoint excess (terms : list qpoly) (e : env) : R :=
  match terms with [] => 0 | t :: l => Rmax 0 (qeval t e) + excess l e end.

(* What is open: a term, or nothing where it is settled. *)
Fixpoint open_excess (terms : list (option qpoly)) (e : env) : R :=
  match terms with
  | [] => 0
  | Some t :: l => Rmax 0 (qeval t e) + open_excess l e
  | None :: l => open_excess l e
  end.

Fixpoint settle (terms : list (option qpoly)) (i : nat) : list (option qpoly) :=
  match terms, i with
  | [], _ => []
  | _ :: l, O => None :: l
  | t :: l, S i => t :: settle l i
  end.

Lemma settle_ok : forall terms i t e, nth_error terms i = Some (Some t) ->
  open_excess terms e = Rmax 0 (qeval t e) + open_excess (settle terms i) e.
Proof.
  induction terms as [|s l IH]; intros [|i] t e H; simpl in H; try discriminate.
  - inversion H; subst. reflexivity.
  - cbn [settle open_excess]. rewrite (IH i t e H). destruct s; ring.
Qed.

Definition is_settled (t : option qpoly) : bool := match t with None => true | Some _ => false end.

Lemma all_settled : forall terms e, forallb is_settled terms = true -> open_excess terms e = 0.
Proof.
  induction terms as [|[t|] l IH]; intros e H; simpl in *; [reflexivity | discriminate | auto].
Qed.

(* The goal holds what is left of the room; `all` are the constraints of the whole domain. *)
Fixpoint check_sets (rec : checker) (all : list cond) (g : goal) (terms : list (option qpoly)) (t : set_tree) : bool :=
  match t with
  | Leaf c => forallb is_settled terms && rec g c
  | Counts i c t =>
    match nth_error terms i with
    | Some (Some p) =>
      rec (for_poly g p) c && check_sets rec all (for_poly g (qsub (gpoly g) p)) (settle terms i) t
    | _ => false
    end
  | Nothing i c t =>
    match nth_error terms i with
    | Some (Some p) => rec (for_poly g (qopp p)) c && check_sets rec all g (settle terms i) t
    | _ => false
    end
  | Bounded i u c d t =>
    match nth_error terms i with
    | Some (Some p) =>
      rec (for_poly g u) c && rec (for_poly g (qsub u p)) d &&
      check_sets rec all (for_poly g (qsub (gpoly g) u)) (settle terms i) t
    | _ => false
    end
  | CutAt k a low high =>
    match at_axis (gbox g) k with
    | Some i =>
      check_sets rec all (with_interval g k (Some (lower_part i a))) terms low &&
      check_sets rec all (with_interval g k (Some (upper_part i a))) terms high
    | None => false
    end
  | CutBy p up down =>
    check_sets rec all (with_cond g (Some (p, false))) terms up &&
    check_sets rec all (with_cond g (Some (qopp p, false))) terms down
  | Free t => check_sets rec all (Goal (gpoly g) (gbox g) all (gfacts g)) terms t
  end.

Theorem check_sets_sound : forall rec, honest rec -> forall all t g terms e,
  check_sets rec all g terms t = true -> dom g e -> (forall c, In c all -> cond_holds e c) ->
  open_excess terms e <= qeval (gpoly g) e.
Proof.
  intros rec R all. induction t as [c|i c t IH|i c t IH|i u c d t IH|k a low IHl high IHh|p up IHu down IHd|t IH];
    intros g terms e H D A; cbn [check_sets] in H.
  - apply andb_prop in H as [H1 H2]. rewrite all_settled by assumption. exact (R _ _ H2 e D).
  - destruct (nth_error terms i) as [[p|]|] eqn:E; try discriminate. apply andb_prop in H as [H1 H2].
    pose proof (holds_for_poly _ _ _ D (R _ _ H1)) as P.
    pose proof (IH (for_poly g (qsub (gpoly g) p)) _ e H2 D A) as Q. simpl in Q. rewrite qeval_sub in Q.
    rewrite (settle_ok _ _ _ e E), Rmax_right by assumption. lra.
  - destruct (nth_error terms i) as [[p|]|] eqn:E; try discriminate. apply andb_prop in H as [H1 H2].
    pose proof (holds_for_poly _ _ _ D (R _ _ H1)) as P. rewrite qeval_opp in P.
    pose proof (IH g _ e H2 D A) as Q. rewrite (settle_ok _ _ _ e E), Rmax_left by lra. lra.
  - destruct (nth_error terms i) as [[p|]|] eqn:E; try discriminate.
    apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2].
    pose proof (holds_for_poly _ _ _ D (R _ _ H1)) as P.
    pose proof (holds_for_poly _ _ _ D (R _ _ H2)) as P2. rewrite qeval_sub in P2.
    pose proof (IH (for_poly g (qsub (gpoly g) u)) _ e H3 D A) as Q. simpl in Q. rewrite qeval_sub in Q.
    rewrite (settle_ok _ _ _ e E). assert (Rmax 0 (qeval p e) <= qeval u e) by (apply Rmax_lub; lra). lra.
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

Definition check_excess (lemmas : list goal) (g : goal) (terms : list qpoly) (t : set_tree) : bool :=
  check_sets (check max_depth lemmas) (gconds g) g (map Some terms) t.

(* Σ max(0, t) is at most the polynomial of the goal, on all of its set. *)
Theorem check_excess_sound : forall lemmas g terms t, (forall l, In l lemmas -> holds l) ->
  check_excess lemmas g terms t = true -> forall e, dom g e -> excess terms e <= qeval (gpoly g) e.
Proof.
  intros lemmas g terms t L H e D.
  assert (E : forall l, excess l e = open_excess (map Some l) e).
  { induction l as [|p l IH]; simpl; [reflexivity|]. rewrite IH. reflexivity. }
  rewrite E. refine (check_sets_sound _ _ (gconds g) t g _ e H D _).
  - intros h c K. exact (check_sound max_depth lemmas h c L K).
  - exact (proj1 (proj2 D)).
Qed.

(* Of all sets of outputs, the one with the positive terms has the largest sum. *)
Fixpoint chosen_sum (terms : list qpoly) (chosen : list bool) (e : env) : R :=
  match terms, chosen with
  | t :: l, b :: m => (if b then qeval t e else 0) + chosen_sum l m e
  | _, _ => 0
  end.

Theorem every_set : forall terms chosen e, chosen_sum terms chosen e <= excess terms e.
Proof.
  induction terms as [|t l IH]; intros [|b m] e; simpl; try lra.
  - pose proof (IH [] e). pose proof (Rmax_l 0 (qeval t e)).
    assert (chosen_sum l [] e = 0) by (destruct l; reflexivity). lra.
  - pose proof (IH m e). pose proof (Rmax_l 0 (qeval t e)). pose proof (Rmax_r 0 (qeval t e)). destruct b; lra.
Qed.
