(** Claims about divergences that are no polynomials: a tree of boxes shows that one is at most a bound on a domain.

    The probabilities of outputs are p/total and q/total with polynomials p, q and total. *)

From Coq Require Import Reals ZArith QArith Qreals Qabs Lra Lia List Bool Arith.
From Paramverify Require Import Poly Goal Sums Bernstein RuleBernstein RuleExponential RuleLogarithm.
From Paramverify Require Import FixedPoint Divergences DivergenceBounds DivergenceSums DivergenceOrders LossProducts.
Import ListNotations.
Local Open Scope R_scope.

Inductive measure := KL | ZCDP.

(** * What a claim says *)

(** The polynomials of a claim: the total, and p and q of each output. *)
Record loss := Loss { whole : qpoly; outcomes : list (qpoly * qpoly) }.

(** The distributions at a point. *)
Definition at_env (c : loss) (e : env) : list (R * R) :=
  map (fun pq => (qeval (fst pq) e / qeval (whole c) e, qeval (snd pq) e / qeval (whole c) e)) (outcomes c).

(** A bound: a number, and factors of logarithms of numbers. *)
Definition bound := (Q * list (Q * Q))%type.
Definition bound_value (b : bound) : R := Q2R (fst b) + total (fun fn => Q2R (fst fn) * ln (Q2R (snd fn))) (snd b).

Definition at_most (m : measure) (b : R) (l : list (R * R)) : Prop :=
  match m with KL => kl_at_most b l | ZCDP => zcdp_at_most b l end.

(** * Trees *)

(** A box is cut; it is outside of the domain, as constraint i is at most a number there; or the bound is shown, with
    a range of each factor, and some orders. *)
Inductive loss_tree :=
  | LossCut (k : nat) (a : Q) (low high : loss_tree)
  | LossOutside (i : nat) (most : Q)
  | LossLeaf (ranges : list (Q * Q)) (orders : list Q).

Section Trees.

Variable U : positive.
Variable largest smallest : Z.
Variable guess : Q -> Z * Z.
Variable nothing : Z.  (* the upper bound of the logarithm of 0 *)

Definition at_most_on (b : box) (p : qpoly) (c : Q) : bool := nonneg_on b (num (qsub (qconst c) p)).
Definition at_least_on (b : box) (p : qpoly) (c : Q) : bool := nonneg_on b (num (qsub p (qconst c))).

Lemma at_most_on_ok : forall b p c e, at_most_on b p c = true -> in_box b e -> qeval p e <= Q2R c.
Proof.
  intros b p c e H B. apply nonneg_on_ok with (e := e) in H; [|assumption]. apply qeval_sign in H.
  rewrite qeval_sub, qeval_const in H. lra.
Qed.

Lemma at_least_on_ok : forall b p c e, at_least_on b p c = true -> in_box b e -> Q2R c <= qeval p e.
Proof.
  intros b p c e H B. apply nonneg_on_ok with (e := e) in H; [|assumption]. apply qeval_sign in H.
  rewrite qeval_sub, qeval_const in H. lra.
Qed.

(** The range of the size of a factor. *)
Definition size_range (b : box) (f : qpoly) (ends : Q * Q) : option range :=
  let (lo, hi) := ends in
  if at_least_on b f lo && at_most_on b f hi then
    let (x, y) :=
      if qle 0 lo then (lo, hi) else if qle hi 0 then (Qopp hi, Qopp lo) else (0%Q, if qle (Qopp lo) hi then hi else Qopp lo) in
    if qlt 0 y then
      match ln_high U guess y with
      | Some h => Some (Range (if qlt 0 x then ln_low U guess x else None) h)
      | None => None
      end
    else Some (Range None nothing)
  else None.

Lemma size_range_ok : forall b f ends r e, size_range b f ends = Some r -> in_box b e ->
  in_range U r (Rabs (qeval f e)).
Proof.
  intros b f [lo hi] r e H B. unfold size_range in H.
  destruct (at_least_on b f lo) eqn:L; [|discriminate]. destruct (at_most_on b f hi) eqn:M; [|discriminate].
  cbn [andb] in H. apply at_least_on_ok with (e := e) in L; [|assumption]. apply at_most_on_ok with (e := e) in M; [|assumption].
  set (v := qeval f e) in *.
  destruct (if qle 0 lo then (lo, hi) else _) as [x y] eqn:E.
  assert (K : Q2R x <= Rabs v <= Q2R y).
  { destruct (qle 0 lo) eqn:E1.
    - inversion E; subst. apply qle_R in E1. rewrite Q2R_0 in E1. rewrite Rabs_right; lra.
    - destruct (qle hi 0) eqn:E2.
      + inversion E; subst. apply qle_R in E2. rewrite Q2R_0 in E2. rewrite !Q2R_opp, Rabs_left1; lra.
      + inversion E; subst. rewrite Q2R_0. split; [apply Rabs_pos|]. apply Rabs_le.
        destruct (qle (Qopp lo) hi) eqn:E3.
        * apply qle_R in E3. rewrite Q2R_opp in E3. lra.
        * apply qle_false_R' in E3. rewrite Q2R_opp in *. lra. }
  pose proof (Rabs_pos v) as N. destruct (qlt 0 y) eqn:Y.
  - destruct (ln_high U guess y) as [h|] eqn:H1; [|discriminate]. inversion H; subst r. cbn [low high].
    apply ln_high_ok in H1 as [_ H1]. split; [assumption|]. split; [|cbn [high]; lra].
    intros l Hl. cbn [low] in Hl. destruct (qlt 0 x); [|discriminate]. apply ln_low_ok in Hl as [_ Hl]. lra.
  - inversion H; subst r. apply qlt_false_R in Y. rewrite Q2R_0 in Y. split; [assumption|]. split.
    + intros l Hl. discriminate.
    + cbn [high]. pose proof (exp_pos (val U nothing)). lra.
Qed.

Fixpoint size_ranges (b : box) (fs : list qpoly) (l : list (Q * Q)) : option (list range) :=
  match fs, l with
  | [], [] => Some []
  | f :: fs, ends :: l =>
    match size_range b f ends, size_ranges b fs l with Some r, Some rs => Some (r :: rs) | _, _ => None end
  | _, _ => None
  end.

Lemma size_ranges_ok : forall b fs l rs e, size_ranges b fs l = Some rs -> in_box b e ->
  Forall2 (in_range U) rs (sizes fs e).
Proof.
  intros b. induction fs as [|f fs IH]; intros [|ends l] rs e H B; simpl in H; try discriminate.
  - inversion H. constructor.
  - destruct (size_range b f ends) as [r|] eqn:E; [|discriminate].
    destruct (size_ranges b fs l) as [r'|] eqn:E'; [|discriminate]. inversion H; subst.
    simpl. constructor; [eapply size_range_ok; eassumption | eapply IH; eassumption].
Qed.

Fixpoint follow_loss (m : measure) (b : Z) (fs : list qpoly) (os : list output) (t : loss_tree) (g : goal) : bool :=
  match t with
  | LossCut k a low high =>
    match at_axis (gbox g) k with
    | Some i =>
      qlt (lo i) a && qlt a (hi i) &&
      follow_loss m b fs os low (with_interval g k (Some (lower_part i a))) &&
      follow_loss m b fs os high (with_interval g k (Some (upper_part i a)))
    | None => false
    end
  | LossOutside i most =>
    match get_cond g i with
    | Some (p, strict) => (if strict then qle most 0 else qlt most 0) && at_most_on (gbox g) p most
    | None => false
    end
  | LossLeaf l orders =>
    match size_ranges (gbox g) fs l with
    | Some rs =>
      match m with
      | KL => match orders with [] => kl_below U largest smallest guess b rs os | _ :: _ => false end
      | ZCDP => zcdp_below U largest smallest guess b rs os orders
      end
    | None => false
    end
  end.

Lemma follow_loss_ok : forall m b fs os t g e l, follow_loss m b fs os t g = true -> dom g e ->
  Forall2 (output_shares (sizes fs e)) os l -> distributions l -> at_most m (val U b) l.
Proof.
  intros m b fs os. induction t as [k a low IHl high IHh|i most|ranges orders]; intros g e l H D S P; cbn [follow_loss] in H.
  - destruct (at_axis (gbox g) k) as [i|] eqn:E; [|discriminate].
    apply andb_prop in H as [H H2]. apply andb_prop in H as [_ H1].
    destruct (proj1 D k i E) as [B1 B2]. destruct (Rle_lt_dec (e k) (Q2R a)) as [L|L].
    + apply (IHl _ e l H1); try assumption. apply dom_with_interval; [assumption|].
      intros j J. inversion J; subst. split; simpl; assumption.
    + apply (IHh _ e l H2); try assumption. apply dom_with_interval; [assumption|].
      intros j J. inversion J; subst. split; simpl; [lra | assumption].
  - exfalso. destruct (get_cond g i) as [[p strict]|] eqn:E; [|discriminate]. apply andb_prop in H as [H1 H2].
    pose proof (get_cond_ok g i p strict e E D) as K. apply at_most_on_ok with (e := e) in H2; [|apply D].
    destruct strict; simpl in K.
    + apply qle_R in H1. rewrite Q2R_0 in H1. lra.
    + apply qlt_R in H1. rewrite Q2R_0 in H1. lra.
  - destruct (size_ranges (gbox g) fs ranges) as [rs|] eqn:E; [|discriminate].
    pose proof (size_ranges_ok _ _ _ _ e E (proj1 D)) as F. destruct m; simpl.
    + destruct orders; [|discriminate]. eapply kl_below_ok; eassumption.
    + eapply zcdp_below_ok; eassumption.
Qed.

(** * Claims *)

Definition sum_of (l : list qpoly) : qpoly := fold_right qadd (qconst 0) l.

Lemma sum_of_ok : forall l e, qeval (sum_of l) e = total (fun p => qeval p e) l.
Proof.
  induction l as [|p l IH]; intro e; simpl; [apply Q2R_0|]. change (fold_right qadd (qconst 0) l) with (sum_of l).
  now rewrite qeval_add, IH.
Qed.

Fixpoint all_shown (fs : list qpoly) (l : list (option powers * option powers)) (pqs : list (qpoly * qpoly)) : bool :=
  match l, pqs with
  | [], [] => true
  | (v, w) :: l, (p, q) :: pqs => shown fs v p && shown fs w q && all_shown fs l pqs
  | _, _ => false
  end.

Definition net (t : powers) (l : list (option powers * option powers)) : list output :=
  map (fun vw => Output (share_of t (fst vw)) (share_of t (snd vw))) l.

Lemma all_shown_ok : forall fs t T e, is_product fs t T = true -> qeval T e <> 0 -> forall l pqs,
  all_shown fs l pqs = true ->
  (forall p q, In (p, q) pqs -> 0 <= qeval p e / qeval T e /\ 0 <= qeval q e / qeval T e) ->
  Forall2 (output_shares (sizes fs e)) (net t l)
    (map (fun pq => (qeval (fst pq) e / qeval T e, qeval (snd pq) e / qeval T e)) pqs).
Proof.
  intros fs t T e Ht NT. induction l as [|[v w] l IH]; intros [|[p q] pqs] H N; simpl in H; try discriminate; [constructor|].
  apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2]. simpl. destruct (N p q (or_introl eq_refl)) as [Np Nq].
  constructor; [|apply IH; [assumption | intros; apply N; right; assumption]].
  split; cbn [left right fst snd]; now apply share_of_ok.
Qed.

(** A lower bound of the bound. *)
Fixpoint logs_low (l : list (Q * Q)) : option Z :=
  match l with
  | [] => Some 0%Z
  | (f, n) :: l =>
    plus (logs_low l)
      (if qle 0 f then match ln_low U guess n with Some x => Some (times_down f x) | None => None end
       else match ln_high U guess n with Some x => Some (times_down f x) | None => None end)
  end.
Definition bound_low (b : bound) : option Z := plus (Some (down U (fst b))) (logs_low (snd b)).

Lemma bound_low_ok : forall b z, bound_low b = Some z -> val U z <= bound_value b.
Proof.
  intros [a l] z H. unfold bound_low in H. cbn [fst snd] in H. unfold bound_value. cbn [fst snd].
  apply plus_some in H as (x & y & H1 & H2 & ->). inversion H1; subst x. rewrite val_add.
  pose proof (down_ok U a) as A.
  assert (val U y <= total (fun fn => Q2R (fst fn) * ln (Q2R (snd fn))) l); [|lra].
  clear H1 A a. revert y H2. induction l as [|[f n] l IH]; intros y H; simpl in H.
  { inversion H. rewrite val_0. simpl. lra. }
  apply plus_some in H as (x & z & H1 & H2 & ->). specialize (IH x H1). rewrite val_add. simpl.
  assert (val U z <= Q2R f * ln (Q2R n)); [|lra]. destruct (qle 0 f) eqn:E.
  - apply qle_R in E. rewrite Q2R_0 in E. destruct (ln_low U guess n) as [w|] eqn:W; [|discriminate].
    inversion H2; subst z. apply ln_low_le in W. eapply Rle_trans; [apply times_down_ok|]. apply Rmult_le_compat_l; lra.
  - apply qle_false_R' in E. rewrite Q2R_0 in E. destruct (ln_high U guess n) as [w|] eqn:W; [|discriminate].
    inversion H2; subst z. apply ln_high_le in W. eapply Rle_trans; [apply times_down_ok|]. nra.
Qed.

(** Where E = exp q occurs, it is put between two numbers. *)
Definition enclosed (g : goal) (ends : option (Q * Q)) : option goal :=
  match ends with
  | None => Some g
  | Some (a, b) =>
    match find_exp (gfacts g) with
    | Some (k, q) => if encloses q a b then Some (with_interval g k (Some (Iv a b false false))) else None
    | None => None
    end
  end.

Lemma enclosed_ok : forall g ends h e, enclosed g ends = Some h -> dom g e -> dom h e.
Proof.
  intros g [[a b]|] h e H D; simpl in H; [|inversion H; subst; assumption].
  destruct (find_exp (gfacts g)) as [[k q]|] eqn:E; [|discriminate].
  destruct (encloses q a b) eqn:N; [|discriminate]. inversion H; subst h. apply find_exp_ok in E.
  assert (F : e k = exp (Q2R q)) by (apply (proj2 (proj2 D) _ E)).
  apply dom_with_interval; [assumption|]. intros j J. inversion J; subst j. apply encloses_ok in N.
  rewrite F. exact N.
Qed.

Definition check_loss (m : measure) (b : bound) (g : goal) (ends : option (Q * Q)) (c : loss) (fs : list qpoly)
  (t : powers) (l : list (option powers * option powers)) (tree : loss_tree) : bool :=
  is_product fs t (whole c) && all_shown fs l (outcomes c) &&
  qeq (sum_of (map fst (outcomes c))) (whole c) && qeq (sum_of (map snd (outcomes c))) (whole c) &&
  match enclosed g ends, bound_low b with
  | Some g, Some z => follow_loss m z fs (net t l) tree g
  | _, _ => false
  end.

Lemma sum_is_one : forall (f : qpoly * qpoly -> qpoly) c e, qeval (whole c) e <> 0 ->
  qeq (sum_of (map f (outcomes c))) (whole c) = true ->
  total (fun pq => qeval (f pq) e / qeval (whole c) e) (outcomes c) = 1.
Proof.
  intros f c e N H. apply qeq_eval with (e := e) in H. rewrite sum_of_ok, total_map in H.
  assert (E : total (fun pq => qeval (f pq) e / qeval (whole c) e) (outcomes c)
    = / qeval (whole c) e * total (fun pq => qeval (f pq) e) (outcomes c)).
  { rewrite <- total_scale. apply total_ext. intros. unfold Rdiv. ring. }
  rewrite E, H. field. assumption.
Qed.

End Trees.

(** The divergence is at most the bound on the whole domain, wherever the polynomials are distributions: where the
    total is not 0, and no quotient is negative. Nothing is known of the guesses. *)
Theorem check_loss_sound : forall U largest smallest guess nothing m b g ends c fs t l tree,
  check_loss U largest smallest guess nothing m b g ends c fs t l tree = true ->
  forall e, dom g e -> qeval (whole c) e <> 0 ->
  (forall p q, In (p, q) (at_env c e) -> 0 <= p /\ 0 <= q) ->
  at_most m (bound_value b) (at_env c e).
Proof.
  intros U largest smallest guess nothing m b g ends c fs t l tree H e D NT N. unfold check_loss in H.
  apply andb_prop in H as [H H5]. apply andb_prop in H as [H H4]. apply andb_prop in H as [H H3].
  apply andb_prop in H as [H1 H2].
  destruct (enclosed g ends) as [h|] eqn:E; [|discriminate].
  destruct (bound_low U guess b) as [z|] eqn:B; [|discriminate].
  pose proof (enclosed_ok _ _ _ _ E D) as Dh. apply bound_low_ok in B.
  assert (P : distributions (at_env c e)).
  { split; [assumption|]. unfold at_env. rewrite !total_map. cbn [fst snd].
    split; [apply (sum_is_one fst) | apply (sum_is_one snd)]; assumption. }
  assert (S : Forall2 (output_shares (sizes fs e)) (net t l) (at_env c e)).
  { apply all_shown_ok; try assumption. intros p q I.
    apply (N (qeval p e / qeval (whole c) e) (qeval q e / qeval (whole c) e)).
    unfold at_env. apply in_map_iff. exists (p, q). split; [reflexivity | assumption]. }
  pose proof (follow_loss_ok U largest smallest guess nothing m z fs (net t l) tree h e _ H5 Dh S P) as K.
  destruct m; simpl in *.
  - destruct K as [K1 K2]. split; [assumption|]. lra.
  - destruct K as [K1 K2]. split; [assumption|]. intros a Ha. specialize (K2 a Ha).
    assert (val U z * a <= bound_value b * a) by (apply Rmult_le_compat_r; lra). lra.
Qed.
