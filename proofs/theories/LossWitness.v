(* Witnesses about divergences: at a point of the domain one is larger than its bound. The sizes of all polynomials are
   between rational numbers there. *)
From Coq Require Import Reals ZArith QArith Qreals Lra Lia List Bool Arith.
From Paramverify Require Import Poly Goal Sums RuleLogarithm Witness WitnessPoints.
From Paramverify Require Import FixedPoint Divergences DivergenceBounds DivergenceSums Losses.
Import ListNotations.
Local Open Scope R_scope.

(* The probabilities, as sizes: where p/total and q/total are not negative, these are the distributions. *)
Definition abs_env (c : loss) (e : env) : list (R * R) :=
  map (fun pq => (Rabs (qeval (fst pq) e) / Rabs (qeval (whole c) e), Rabs (qeval (snd pq) e) / Rabs (qeval (whole c) e)))
    (outcomes c).

(* A polynomial is positive or not, and its size is between two numbers. *)
Definition sized := (bool * (Q * Q))%type.
Definition least (s : sized) : Q := fst (snd s).
Definition greatest (s : sized) : Q := snd (snd s).

Definition size_conds (f : qpoly) (s : sized) : list cond :=
  let f := if fst s then f else qopp f in
  [Some (qsub f (qconst (least s)), false); Some (qsub (qconst (greatest s)) f, false)].

Lemma size_conds_ok : forall f s e, 0 <= Q2R (least s) -> (forall c, In c (size_conds f s) -> cond_holds e c) ->
  Q2R (least s) <= Rabs (qeval f e) <= Q2R (greatest s).
Proof.
  intros f [sign [lo hi]] e N H. unfold size_conds, least, greatest in *. cbn [fst snd] in *.
  pose proof (H _ (or_introl eq_refl)) as A. pose proof (H _ (or_intror (or_introl eq_refl))) as B.
  simpl in A, B. rewrite qeval_sub, qeval_const in A, B. destruct sign.
  - rewrite Rabs_right; lra.
  - rewrite qeval_opp in A, B. rewrite Rabs_left1; lra.
Qed.

Section Witness.

Variable U : positive.
Variable largest smallest : Z.
Variable guess : Q -> Z * Z.

Notation val := (val U).
Notation exp_down := (exp_down U largest smallest).
Notation ln_low := (ln_low U guess).
Notation ln_high := (ln_high U guess).

Definition logs_high (l : list (Q * Q)) : option Z :=
  fold_right (fun fn s => plus s
    (if qle 0 (fst fn) then match ln_high (snd fn) with Some x => Some (times_up (fst fn) x) | None => None end
     else match ln_low (snd fn) with Some x => Some (times_up (fst fn) x) | None => None end)) (Some 0%Z) l.
Definition bound_high (b : bound) : option Z := plus (Some (up U (fst b))) (logs_high (snd b)).

Lemma bound_high_ok : forall b z, bound_high b = Some z -> bound_value b <= val z.
Proof.
  intros [a l] z H. unfold bound_high in H. cbn [fst snd] in H. unfold bound_value. cbn [fst snd].
  apply plus_some in H as (x & y & H1 & H2 & ->). inversion H1; subst x. rewrite val_add.
  pose proof (up_ok U a) as A.
  assert (total (fun fn => Q2R (fst fn) * ln (Q2R (snd fn))) l <= val y); [|lra].
  clear H1 A a. revert y H2. induction l as [|[f n] l IH]; intros y H; simpl in H.
  { inversion H. rewrite val_0. simpl. lra. }
  apply plus_some in H as (x & z & H1 & H2 & ->). specialize (IH x H1). rewrite val_add. simpl.
  assert (Q2R f * ln (Q2R n) <= val z); [|lra]. destruct (qle 0 f) eqn:E.
  - apply qle_R in E. rewrite Q2R_0 in E. destruct (ln_high n) as [w|] eqn:W; [|discriminate].
    inversion H2; subst z. apply ln_high_le in W. eapply Rle_trans; [|apply times_up_ok]. apply Rmult_le_compat_l; lra.
  - apply qle_false_R' in E. rewrite Q2R_0 in E. destruct (ln_low n) as [w|] eqn:W; [|discriminate].
    inversion H2; subst z. apply ln_low_le in W. eapply Rle_trans; [|apply times_up_ok]. nra.
Qed.

(* Both probabilities of an output between rational numbers; t is the size of the total. *)
Definition ratio_low (s t : sized) : Q := Qdiv (least s) (greatest t).
Definition ratio_high (s t : sized) : Q := Qdiv (greatest s) (least t).

Definition between (s t : sized) (P : R) : Prop :=
  Q2R (ratio_low s t) <= P <= Q2R (ratio_high s t) /\ 0 <= P /\ (Q2R (greatest s) <= 0 -> P = 0) /\
  (0 < Q2R (least s) -> 0 < Q2R (ratio_low s t)).

Lemma between_ok : forall s t x y, 0 <= Q2R (least s) -> 0 < Q2R (least t) ->
  Q2R (least s) <= x <= Q2R (greatest s) -> Q2R (least t) <= y <= Q2R (greatest t) -> between s t (x / y).
Proof.
  intros s t x y Hs Ht Hx Hy. unfold between, ratio_low, ratio_high, Qdiv.
  rewrite !Q2R_mult, !Q2R_inverse' by lra.
  assert (I : 0 < / Q2R (least t)) by (apply Rinv_0_lt_compat; lra).
  assert (J : 0 < / Q2R (greatest t)) by (apply Rinv_0_lt_compat; lra).
  assert (K : 0 < / y) by (apply Rinv_0_lt_compat; lra).
  assert (A : / y <= / Q2R (least t)) by (apply Rinv_le_contravar; lra).
  assert (B : / Q2R (greatest t) <= / y) by (apply Rinv_le_contravar; lra).
  unfold Rdiv. split; [split; apply Rmult_le_compat; lra|].
  split; [apply Rmult_le_pos; lra|]. split.
  - intro Z. assert (x = 0) by lra. subst x. ring.
  - intro L. now apply Rmult_lt_0_compat.
Qed.

Definition kl_low_term (t : sized) (pq : sized * sized) : option Z :=
  let (p, q) := pq in
  if qle (greatest p) 0 then Some 0%Z
  else if qlt 0 (least p) && qlt 0 (least q) then
    match ln_low (Qdiv (ratio_low p t) (ratio_high q t)) with
    | Some d =>
      Some (if (0 <=? d)%Z then prod_down U (down U (ratio_low p t)) d else prod_down U (up U (ratio_high p t)) d)
    | None => None
    end
  else None.

Definition power_low_term (a : Q) (t : sized) (pq : sized * sized) : option Z :=
  let (p, q) := pq in
  if qle (greatest p) 0 then Some 0%Z
  else if qlt 0 (least p) && qlt 0 (least q) then
    match ln_low (ratio_low p t), ln_high (ratio_high q t) with
    | Some x, Some y => Some (exp_down (times_down a x - times_up (Qminus a 1) y))
    | _, _ => None
    end
  else None.

Fixpoint sum_low (f : sized * sized -> option Z) (l : list (sized * sized)) : option Z :=
  match l with [] => Some 0%Z | pq :: l => plus (f pq) (sum_low f l) end.

Lemma kl_low_term_ok : forall t p q P Q z, between p t P -> between q t Q -> kl_low_term t (p, q) = Some z ->
  val z <= kl_term (P, Q).
Proof.
  intros t p q P Q z ([P1 P2] & P3 & P4 & P5) ([Q1 Q2] & Q3 & _ & Q5) H. unfold kl_low_term in H.
  unfold kl_term. destruct (qle (greatest p) 0) eqn:E.
  { apply qle_R in E. rewrite Q2R_0 in E. inversion H. rewrite val_0. destruct (Req_EM_T P 0) as [|N]; [lra|].
    exfalso. apply N. auto. }
  destruct (qlt 0 (least p)) eqn:Ep; [|discriminate]. destruct (qlt 0 (least q)) eqn:Eq; [|discriminate].
  apply qlt_R in Ep, Eq. rewrite Q2R_0 in Ep, Eq. specialize (P5 Ep). specialize (Q5 Eq). cbn [andb] in H.
  destruct (ln_low _) as [d|] eqn:L in H; [|discriminate]. apply some_same in H. subst z. apply ln_low_le in L.
  destruct (Req_EM_T P 0) as [N|_]; [lra|].
  assert (I : 0 < / Q2R (ratio_high q t)) by (apply Rinv_0_lt_compat; lra).
  assert (D : val d <= ln (P / Q)).
  { eapply Rle_trans; [exact L|]. unfold Qdiv. rewrite Q2R_mult, Q2R_inverse' by lra.
    apply Rle_ln; [now apply Rmult_lt_0_compat|]. unfold Rdiv. apply Rmult_le_compat; try lra.
    apply Rinv_le_contravar; lra. }
  assert (M : P * val d <= P * ln (P / Q)) by (apply Rmult_le_compat_l; lra).
  eapply Rle_trans; [|exact M]. destruct (Z.leb_spec 0 d) as [C|C].
  - apply (val_le U) in C. rewrite val_0 in C. eapply Rle_trans; [apply prod_down_ok|].
    pose proof (down_ok U (ratio_low p t)). apply Rmult_le_compat_r; lra.
  - assert (val d <= 0) by (rewrite <- (val_0 U); apply val_le; lia). eapply Rle_trans; [apply prod_down_ok|].
    pose proof (up_ok U (ratio_high p t)). nra.
Qed.

Lemma power_low_term_ok : forall a t p q P Q z, 1 < Q2R a -> between p t P -> between q t Q ->
  power_low_term a t (p, q) = Some z -> val z <= power_term (Q2R a) (P, Q).
Proof.
  intros a t p q P Q z Ha ([P1 P2] & P3 & P4 & P5) ([Q1 Q2] & Q3 & _ & Q5) H. unfold power_low_term in H.
  unfold power_term. destruct (qle (greatest p) 0) eqn:E.
  { apply qle_R in E. rewrite Q2R_0 in E. inversion H. rewrite val_0. destruct (Req_EM_T P 0) as [|N]; [lra|].
    exfalso. apply N. auto. }
  destruct (qlt 0 (least p)) eqn:Ep; [|discriminate]. destruct (qlt 0 (least q)) eqn:Eq; [|discriminate].
  apply qlt_R in Ep, Eq. rewrite Q2R_0 in Ep, Eq. specialize (P5 Ep). specialize (Q5 Eq). cbn [andb] in H.
  destruct (ln_low _) as [x|] eqn:L in H; [|discriminate]. destruct (ln_high _) as [y|] eqn:M in H; [|discriminate].
  apply some_same in H. subst z. apply ln_low_le in L. apply ln_high_le in M.
  destruct (Req_EM_T P 0) as [N|_]; [lra|]. unfold Rpower. rewrite <- exp_plus.
  eapply Rle_trans; [apply exp_down_ok|]. apply Rle_exp. rewrite val_sub.
  pose proof (times_down_ok U a x) as T1. pose proof (times_up_ok U (Qminus a 1) y) as T2.
  rewrite Q2R_minus, Q2R_1 in T2.
  assert (X : val x <= ln P) by (eapply Rle_trans; [exact L | apply Rle_ln; assumption]).
  assert (Y : ln Q <= val y) by (eapply Rle_trans; [apply Rle_ln; [lra | exact Q2] | exact M]).
  assert (Q2R a * val x <= Q2R a * ln P) by (apply Rmult_le_compat_l; lra).
  assert ((Q2R a - 1) * ln Q <= (Q2R a - 1) * val y) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Definition both_between (t : sized) (s : sized * sized) (pq : R * R) : Prop :=
  between (fst s) t (fst pq) /\ between (snd s) t (snd pq).

Lemma sum_low_ok : forall t f g, (forall p q P Q z, between p t P -> between q t Q -> f (p, q) = Some z ->
  val z <= g (P, Q)) -> forall l m z, Forall2 (both_between t) l m -> sum_low f l = Some z -> val z <= total g m.
Proof.
  intros t f g H l m z F. revert z. induction F as [|[p q] [P Q] l m [A B] F IH]; intros z E; simpl in E.
  - inversion E. rewrite val_0. simpl. lra.
  - apply plus_some in E as (x & y & E1 & E2 & ->). rewrite val_add. cbn [total]. cbn [fst snd] in A, B.
    pose proof (H p q P Q x A B E1). specialize (IH y E2). lra.
Qed.

Definition infinite (l : list (sized * sized)) : bool :=
  existsb (fun pq => qlt 0 (least (fst pq)) && qle (greatest (snd pq)) 0) l.

Lemma infinite_ok : forall t l m, Forall2 (both_between t) l m -> infinite l = true -> ~ dominated m.
Proof.
  intros t l m F. induction F as [|[p q] [P Q] l m [A B] F IH]; intros H D; [discriminate|].
  simpl in H. cbn [fst snd] in A, B. apply orb_prop in H as [H|H].
  - apply andb_prop in H as [H1 H2]. apply qlt_R in H1. apply qle_R in H2. rewrite Q2R_0 in H1, H2.
    destruct A as (A1 & _ & _ & A5). destruct B as (_ & _ & B4 & _). specialize (A5 H1). specialize (B4 H2).
    pose proof (D P Q (or_introl eq_refl) B4). lra.
  - apply IH; [assumption|]. intros p' q' I. apply D. right. assumption.
Qed.

Definition is_beyond (m : measure) (b : bound) (t : sized) (l : list (sized * sized)) (order : Q) : bool :=
  if infinite l then true
  else
    match bound_high b with
    | None => false
    | Some y =>
      match m with
      | KL => match sum_low (kl_low_term t) l with Some z => (y <? z)%Z | None => false end
      | ZCDP =>
        qlt 1 order &&
        match sum_low (power_low_term order t) l with
        | Some z =>
          match ln_low (z # U) with
          | Some x => qlt ((y # U) * order * (order - 1)) (x # U)
          | None => false
          end
        | None => false
        end
      end
    end.

Lemma is_beyond_ok : forall m b t l order d, Forall2 (both_between t) l d -> is_beyond m b t l order = true ->
  ~ at_most m (bound_value b) d.
Proof.
  intros m b t l order d F H K. unfold is_beyond in H. destruct (infinite l) eqn:I.
  { apply (infinite_ok t l d F I). destruct m; apply K. }
  destruct (bound_high b) as [y|] eqn:B; [|discriminate]. apply bound_high_ok in B. destruct m; simpl in K.
  - destruct (sum_low (kl_low_term t) l) as [z|] eqn:E; [|discriminate]. apply Z.ltb_lt in H.
    pose proof (sum_low_ok t _ kl_term (kl_low_term_ok t) l d z F E) as L.
    assert (val y < val z).
    { unfold FixedPoint.val, Rdiv. apply Rmult_lt_compat_r; [apply Rinv_0_lt_compat, U_pos | now apply IZR_lt]. }
    destruct K as [_ K]. unfold kl in K. lra.
  - apply andb_prop in H as [H1 H2]. apply qlt_R in H1. rewrite Q2R_1 in H1.
    destruct (sum_low (power_low_term order t) l) as [z|] eqn:E; [|discriminate].
    destruct (ln_low (z # U)) as [x|] eqn:X; [|discriminate]. apply qlt_R in H2.
    rewrite !Q2R_mult, Q2R_minus, Q2R_1, !val_Q in H2.
    pose proof (sum_low_ok t _ (power_term (Q2R order)) (fun p q P Q z => power_low_term_ok order t p q P Q z H1) l d z F E) as L.
    apply ln_low_ok in X as [X1 X2]. rewrite val_Q in X1, X2.
    destruct K as [_ K]. specialize (K (Q2R order) H1). unfold renyi in K.
    assert (M : val x <= ln (moment (Q2R order) d)).
    { unfold moment. eapply Rle_trans; [apply exp_to_ln; [exact X1 | exact X2] | apply Rle_ln; lra]. }
    assert (N : ln (moment (Q2R order) d) <= bound_value b * Q2R order * (Q2R order - 1)).
    { replace (ln (moment (Q2R order) d)) with (ln (moment (Q2R order) d) / (Q2R order - 1) * (Q2R order - 1)) by (field; lra).
      apply Rmult_le_compat_r; lra. }
    assert (bound_value b * Q2R order * (Q2R order - 1) <= val y * Q2R order * (Q2R order - 1)).
    { apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_r; lra. }
    lra.
Qed.

(* --- the point ---------------------------------------------------------------------------------------------------- *)

Definition is_point (g : goal) (v : list Q) : bool :=
  match gfacts g with [] => refutes g v | _ :: _ => refutes_with_exp g v end.

Fixpoint all_conds (pqs : list (qpoly * qpoly)) (l : list (sized * sized)) : list cond :=
  match pqs, l with
  | (p, q) :: pqs, (s, u) :: l => size_conds p s ++ size_conds q u ++ all_conds pqs l
  | _, _ => []
  end.

Definition refutes_loss (m : measure) (b : bound) (g : goal) (c : loss) (v : list Q) (t : sized)
  (l : list (sized * sized)) (order : Q) : bool :=
  qlt 0 (least t) && Nat.eqb (length l) (length (outcomes c)) &&
  forallb (fun pq => qle 0 (least (fst pq)) && qle 0 (least (snd pq))) l &&
  is_point (Goal (qconst (-1)) (gbox g) (gconds g ++ size_conds (whole c) t ++ all_conds (outcomes c) l) (gfacts g)) v &&
  is_beyond m b t l order.

Lemma all_between : forall t y e pqs l, 0 < Q2R (least t) -> Q2R (least t) <= y <= Q2R (greatest t) ->
  length l = length pqs -> forallb (fun pq => qle 0 (least (fst pq)) && qle 0 (least (snd pq))) l = true ->
  (forall c, In c (all_conds pqs l) -> cond_holds e c) ->
  Forall2 (both_between t) l (map (fun pq => (Rabs (qeval (fst pq) e) / y, Rabs (qeval (snd pq) e) / y)) pqs).
Proof.
  intros t y e. induction pqs as [|[p q] pqs IH]; intros [|[s u] l] Ht Hy L N C; try discriminate; [constructor|].
  simpl in N. apply andb_prop in N as [N N3]. apply andb_prop in N as [N1 N2].
  apply qle_R in N1, N2. rewrite Q2R_0 in N1, N2. simpl map. constructor.
  - split; cbn [fst snd]; apply between_ok; try assumption; apply size_conds_ok; try assumption; intros c I; apply C;
      cbn [all_conds]; apply in_or_app; [left; assumption|]. right. apply in_or_app. left. assumption.
  - apply IH; try assumption; [simpl in L; lia|]. intros c I. apply C. cbn [all_conds].
    apply in_or_app. right. apply in_or_app. right. assumption.
Qed.

End Witness.

(* At a point of the domain the divergence of what the sizes give is not within the bound. *)
Theorem refutes_loss_sound : forall U largest smallest guess m b g c v t l order,
  refutes_loss U largest smallest guess m b g c v t l order = true ->
  exists e, dom g e /\ qeval (whole c) e <> 0 /\ ~ at_most m (bound_value b) (abs_env c e).
Proof.
  intros U largest smallest guess m b g c v t l order H. unfold refutes_loss in H.
  apply andb_prop in H as [H H5]. apply andb_prop in H as [H H4]. apply andb_prop in H as [H H3].
  apply andb_prop in H as [H1 H2]. apply qlt_R in H1. rewrite Q2R_0 in H1. apply Nat.eqb_eq in H2.
  assert (P : exists e, dom (Goal (qconst (-1)) (gbox g)
    (gconds g ++ size_conds (whole c) t ++ all_conds (outcomes c) l) (gfacts g)) e).
  { set (h := Goal (qconst (-1)) (gbox g) _ (gfacts g)) in *. unfold is_point in H4. destruct (gfacts h) eqn:Z; clear Z.
    - apply refutes_sound in H4 as [D _]. exists (values v). exact D.
    - apply refutes_with_exp_sound in H4 as (e & D & _). exists e. exact D. }
  destruct P as (e & B & C & F). cbn [gbox gconds gfacts] in B, C, F. exists e.
  assert (T : Q2R (least t) <= Rabs (qeval (whole c) e) <= Q2R (greatest t)).
  { apply size_conds_ok; [lra|]. intros d I. apply C. apply in_or_app. right. apply in_or_app. left. assumption. }
  split; [split; [exact B | split; [|exact F]]|].
  - intros d I. apply C. apply in_or_app. left. assumption.
  - split; [intro Z; rewrite Z, Rabs_R0 in T; lra|].
    eapply is_beyond_ok; [|exact H5]. unfold abs_env. apply all_between; try assumption.
    intros d I. apply C. apply in_or_app. right. apply in_or_app. right. assumption.
Qed.
