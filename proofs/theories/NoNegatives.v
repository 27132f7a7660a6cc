(** That polynomials are nowhere negative on a domain, by a proof for each: with it, nothing is left to assume of
    the theorems about divergences and about sequences. *)

From Coq Require Import Reals QArith List Bool Lra.
From Paramverify Require Import Poly Goal Sums Certificate Check Sound ConeModels EveryLength Losses.
Import ListNotations.
Local Open Scope R_scope.

Local Opaque check.

(** A proof for each polynomial. *)
Fixpoint all_nonnegative (lemmas : list goal) (g : goal) (fs : list qpoly) (cs : list cert) : bool :=
  match fs, cs with
  | [], [] => true
  | f :: fs, c :: cs => check max_depth lemmas (for_poly g f) c && all_nonnegative lemmas g fs cs
  | _, _ => false
  end.

Lemma all_nonnegative_sound : forall lemmas g fs cs, (forall l, In l lemmas -> holds l) ->
  all_nonnegative lemmas g fs cs = true -> forall f, In f fs -> holds (for_poly g f).
Proof.
  intros lemmas g fs. induction fs as [|f fs IH]; intros [|c cs] L H h I; try discriminate; [destruct I|].
  cbn [all_nonnegative] in H. apply andb_prop in H as [H1 H2].
  destruct I as [<-|I]; [exact (check_sound _ _ _ _ L H1) | exact (IH cs L H2 h I)].
Qed.

(** * Divergences *)

(** The polynomials of all probabilities, or minus them where the total is negative. *)
Definition chances (minus : bool) (c : loss) : list qpoly :=
  let turned f := if minus then qopp f else f in
  flat_map (fun pq => [turned (fst pq); turned (snd pq)]) (outcomes c).

Lemma chances_right : forall minus c e, (forall f, In f (chances minus c) -> 0 <= qeval f e) ->
  forall p q, In (p, q) (outcomes c) ->
  if minus then qeval p e <= 0 /\ qeval q e <= 0 else 0 <= qeval p e /\ 0 <= qeval q e.
Proof.
  intros minus c e N p q I. unfold chances in N. destruct minus.
  - assert (P : 0 <= qeval (qopp p) e) by (apply N, in_flat_map; exists (p, q); split; [exact I | left; reflexivity]).
    assert (Q : 0 <= qeval (qopp q) e)
      by (apply N, in_flat_map; exists (p, q); split; [exact I | right; left; reflexivity]).
    rewrite qeval_opp in P, Q. lra.
  - split; apply N, in_flat_map; exists (p, q); split; try exact I; [left | right; left]; reflexivity.
Qed.

Lemma total_nonpos : forall (A : Type) (f : A -> R) l, (forall x, In x l -> f x <= 0) -> total f l <= 0.
Proof.
  intros A f l H. induction l as [|x l IH]; simpl; [lra|].
  assert (f x <= 0) by (apply H; left; reflexivity).
  assert (total f l <= 0) by (apply IH; intros y Hy; apply H; right; exact Hy). lra.
Qed.

(** The theorem [check_loss_sound], without a premise about signs. *)
Theorem check_signed_loss_sound : forall lemmas minus cs U largest smallest guess nothing m b g ends c fs t l tree,
  (forall h, In h lemmas -> holds h) ->
  all_nonnegative lemmas g (chances minus c) cs = true ->
  check_loss U largest smallest guess nothing m b g ends c fs t l tree = true ->
  forall e, dom g e -> qeval (whole c) e <> 0 -> at_most m (bound_value b) (at_env c e).
Proof.
  intros lemmas minus cs U largest smallest guess nothing m b g ends c fs t l tree L S H e D N.
  assert (F : forall f, In f (chances minus c) -> 0 <= qeval f e).
  { intros f I. exact (holds_for_poly _ _ _ D (all_nonnegative_sound _ _ _ _ L S f I)). }
  pose proof (chances_right _ _ _ F) as R.
  apply (check_loss_sound _ _ _ _ _ _ _ _ _ _ _ _ _ _ H e D N).
  assert (W : qeval (whole c) e = total (fun pq => qeval (fst pq) e) (outcomes c)).
  { unfold check_loss in H. apply andb_prop in H as [H _]. apply andb_prop in H as [H _].
    apply andb_prop in H as [_ H]. apply qeq_eval with (e := e) in H. rewrite sum_of_ok, total_map in H.
    symmetry. exact H. }
  intros p q I. unfold at_env in I. apply in_map_iff in I as [[a b'] [E I]]. cbn [fst snd] in E.
  inversion E; subst; clear E. specialize (R a b' I) as K. destruct minus.
  - assert (T : qeval (whole c) e <= 0).
    { rewrite W. apply total_nonpos. intros [x y] J. exact (proj1 (R x y J)). }
    assert (V : / qeval (whole c) e < 0) by (apply Rinv_lt_0_compat; lra).
    unfold Rdiv. split; rewrite <- Rmult_opp_opp; apply Rmult_le_pos; lra.
  - assert (T : 0 <= qeval (whole c) e).
    { rewrite W. apply total_nonneg. intros [x y] J. exact (proj1 (R x y J)). }
    assert (V : 0 < / qeval (whole c) e) by (apply Rinv_0_lt_compat; lra).
    unfold Rdiv. split; apply Rmult_le_pos; lra.
Qed.

(** * Sequences *)

(** All weights, masses and sides of the bound. *)
Definition numbers_of (m : model) : list poly :=
  let of_prior w := mass w :: first w in
  [above m; under m] ++ flat_map (fun ab => of_prior (fst ab) ++ of_prior (snd ab)) (secrets m)
  ++ concat (concat (steps m)).

(** Each is a number, or a positive multiple of one that is shown not to be negative; [find] says of which. *)
Definition possible_everywhere (lemmas : list goal) (find : poly -> nat) (known : list qpoly) (cs : list cert)
  (m : model) : bool :=
  all_nonnegative lemmas (domain m) known cs && forallb (follows find (map num known)) (numbers_of m).

Theorem possible_everywhere_sound : forall lemmas find known cs m, (forall h, In h lemmas -> holds h) ->
  possible_everywhere lemmas find known cs m = true -> forall e, dom (domain m) e -> possible m e.
Proof.
  intros lemmas find known cs m L H e D. apply andb_prop in H as [H1 H2]. rewrite forallb_forall in H2.
  assert (N : forall f, In f (numbers_of m) -> 0 <= eval f e).
  { intros f I. apply (follows_right find (map num known)); [|exact (H2 f I)]. intros p J.
    apply in_map_iff in J as [q [<- J]]. apply qeval_sign.
    exact (holds_for_poly _ _ _ D (all_nonnegative_sound _ _ _ _ L H1 q J)). }
  unfold numbers_of in N. split; [|split].
  - intros t row p T R P. apply N. apply in_or_app; right. apply in_or_app; right.
    apply in_concat. exists row. split; [|exact P]. apply in_concat. exists t. split; assumption.
  - intros a b I.
    assert (B : forall f, In f ((mass a :: first a) ++ (mass b :: first b)) -> 0 <= eval f e).
    { intros f J. apply N. apply in_or_app; right. apply in_or_app; left. apply in_flat_map.
      exists (a, b). split; [exact I | exact J]. }
    split; (split; [intros p J|]); apply B; apply in_or_app; [left; right | left; left | right; right | right; left];
      auto.
  - split; apply N; [left | right; left]; reflexivity.
Qed.

(** The theorem [check_cone_sound], without a premise about signs. *)
Theorem check_possible_cone_sound : forall lemmas seek known cs find claims m c,
  (forall h, In h lemmas -> holds h) ->
  possible_everywhere lemmas seek known cs m = true ->
  (forall p, In p claims -> holds (for_poly (domain m) p)) -> check_cone find claims m c = true ->
  forall e, dom (domain m) e -> all_within m e (about_words c).
Proof.
  intros lemmas seek known cs find claims m c L S K H e D.
  exact (check_cone_sound find claims m c K H e D (possible_everywhere_sound _ _ _ _ _ L S e D)).
Qed.
