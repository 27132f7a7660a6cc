(* A polynomial whose Hessian is positive semidefinite on the box lies above each tangent plane: it is enough
   that one tangent plane is nonnegative on the box.  The point may be algebraic. *)
From Coq Require Import Reals ZArith QArith Qreals Qround Lra Lia List Bool Arith.
From Paramverify Require Import Poly Goal Certificate Rule Bernstein Convexity Semidefinite RuleExponential RuleProduct.
Import ListNotations.
Local Open Scope R_scope.

(* --- the box with its ends --------------------------------------------------------------------------- *)

Definition closed_interval (i : interval) : interval := Iv (lo i) (hi i) false false.
Definition closed (b : box) : box := map (option_map closed_interval) b.

Lemma at_closed : forall b k, at_axis (closed b) k = option_map closed_interval (at_axis b k).
Proof. intros b k. unfold at_axis, closed. exact (map_nth (option_map closed_interval) b None k). Qed.

Lemma in_closed : forall b e, in_box b e -> in_box (closed b) e.
Proof.
  intros b e B k i H. rewrite at_closed in H. destruct (at_axis b k) as [j|] eqn:E; [|discriminate].
  inversion H; subst. pose proof (inside_le _ _ (B k j E)). unfold inside; simpl. assumption.
Qed.

(* --- bounds of the entries of a Hessian ---------------------------------------------------------------- *)

Fixpoint qlisted (f : nat -> qpoly) (n : nat) : list qpoly :=
  match n with O => [] | S n => f 0%nat :: qlisted (fun i => f (S i)) n end.

Fixpoint qtriangle (h : nat -> nat -> qpoly) (n : nat) : list (qpoly * list qpoly) :=
  match n with
  | O => []
  | S n => (qscale 2 (h 0%nat 0%nat), qlisted (fun j => qadd (h 0%nat (S j)) (h (S j) 0%nat)) n)
           :: qtriangle (fun i j => h (S i) (S j)) n
  end.

(* Guesses: the least and the largest Bernstein coefficient. What they say is shown after that. *)
Fixpoint choose (n k : nat) : Z :=
  match n, k with
  | _, O => 1
  | O, S _ => 0
  | S m, S j => choose m j + choose m k
  end.

Definition wider (a b : Q * Q) : Q * Q :=
  (if Qle_bool (fst a) (fst b) then fst a else fst b, if Qle_bool (snd a) (snd b) then snd b else snd a).

Definition over (c : Z) (w : positive) : Q * Q := ((c # w)%Q, (c # w)%Q).

Fixpoint extremes (p : poly) (ns : list nat) (i : nat) (w : positive) : Q * Q :=
  match p with
  | Pc c => if existsb (Nat.leb 1) ns then wider (over c w) (0%Q, 0%Q) else over c w
  | PX q r =>
    let here := extremes q (tl ns) 0 (w * Z.to_pos (choose (hd 0%nat ns) i)) in
    match r with
    | Pc Z0 => if Nat.ltb i (hd 0%nat ns) then wider here (0%Q, 0%Q) else here
    | Pc c =>
      let last := over c (w * Z.to_pos (choose (hd 0%nat ns) (S i))) in
      let both := wider here last in
      if Nat.ltb (S i) (hd 0%nat ns) || existsb (Nat.leb 1) (tl ns) then wider both (0%Q, 0%Q) else both
    | PX _ _ => wider here (extremes r ns (S i) w)
    end
  end.

Fixpoint scale_of (ns : list nat) (ms : list mat) : positive :=
  match ns, ms with
  | n :: ns, m :: ms => (Z.to_pos (ma m ^ Z.of_nat n) * scale_of ns ms)%positive
  | _, _ => 1%positive
  end.

Definition guess (b : box) (p : qpoly) : Q * Q :=
  let ns := degrees (num p) in
  let f := form_on b ns (num p) in
  let e := extremes (fpoly f) ns 0 1 in
  let d := (scale_of ns (fmats f) * pden p)%positive in
  (Qred (fst e * (1 # d)), Qred (snd e * (1 # d))).

Definition common (l : list (Q * Q)) : positive :=
  fold_right (fun r d => Z.to_pos (Z.lcm (Zpos d) (Z.lcm (Zpos (Qden (fst r))) (Zpos (Qden (snd r)))))) 1%positive l.

Definition floor_of (d : positive) (q : Q) : Z := (Qnum q * Zpos d / Zpos (Qden q))%Z.
Definition ceiling_of (d : positive) (q : Q) : Z := (- (- Qnum q * Zpos d / Zpos (Qden q)))%Z.

Definition whole_rows (d : positive) (l : list ((Q * Q) * list (Q * Q))) : list (Z * list (Z * Z)) :=
  map (fun r => (floor_of d (fst (fst r)), map (fun p => (floor_of d (fst p), ceiling_of d (snd p))) (snd r))) l.

(* low ≤ d·p and d·p ≤ high on the box. *)
Definition at_least_on (b : box) (d : positive) (p : qpoly) (low : Z) : bool :=
  nonneg_on b (num (qsub (qscale (Zpos d # 1) p) (qconst (low # 1)))).
Definition at_most_on (b : box) (d : positive) (p : qpoly) (high : Z) : bool :=
  nonneg_on b (num (qsub (qconst (high # 1)) (qscale (Zpos d # 1) p))).

Fixpoint row_ok (b : box) (d : positive) (l : list (Z * Z)) (h : list qpoly) : bool :=
  match l, h with
  | [], [] => true
  | (low, high) :: l, p :: h => at_least_on b d p low && at_most_on b d p high && row_ok b d l h
  | _, _ => false
  end.

Fixpoint rows_ok (b : box) (d : positive) (rows : list (Z * list (Z * Z))) (t : list (qpoly * list qpoly)) : bool :=
  match rows, t with
  | [], [] => true
  | (a, l) :: rows, (p, h) :: t => at_least_on b d p a && row_ok b d l h && rows_ok b d rows t
  | _, _ => false
  end.

(* The width of an interval: the entries are those in coordinates in which the box is the unit box. *)
Definition width (b : box) (k : nat) : Q :=
  match at_axis b k with
  | Some i => if qlt (lo i) (hi i) then Qred (hi i - lo i) else 1%Q
  | None => 1%Q
  end.

Lemma width_pos : forall b k, 0 < Q2R (width b k).
Proof.
  intros b k. unfold width. destruct (at_axis b k) as [i|]; [|rewrite Q2R_1; lra].
  destruct (qlt (lo i) (hi i)) eqn:E; [|rewrite Q2R_1; lra].
  apply qlt_R in E. rewrite (Qeq_eqR _ _ (Qred_correct _)), Q2R_minus. lra.
Qed.

Definition curved (b : box) (n : nat) (p : qpoly) : bool :=
  let t := qtriangle (fun i j => qscale (width b i * width b j) (qderiv (qderiv p i) j)) n in
  let guesses := map (fun r => (guess b (fst r), map (guess b) (snd r))) t in
  let d := common (flat_map (fun r => fst r :: snd r) guesses) in
  let rows := whole_rows d guesses in
  let w := weakened rows [] in
  semidefinite (length w) w && rows_ok b d rows t.

Lemma whole_R : forall z, Q2R (z # 1) = IZR z.
Proof. intro z. unfold Q2R; cbn [Qnum Qden]. field. Qed.

Lemma at_least_on_ok : forall b d p low e, at_least_on b d p low = true -> in_box b e ->
  IZR low <= IZR (Zpos d) * qeval p e.
Proof.
  intros b d p low e H B. apply nonneg_on_ok with (e := e) in H; [|assumption].
  apply qeval_sign in H. rewrite qeval_sub, qeval_scale, qeval_const, !whole_R in H. lra.
Qed.

Lemma at_most_on_ok : forall b d p high e, at_most_on b d p high = true -> in_box b e ->
  IZR (Zpos d) * qeval p e <= IZR high.
Proof.
  intros b d p high e H B. apply nonneg_on_ok with (e := e) in H; [|assumption].
  apply qeval_sign in H. rewrite qeval_sub, qeval_scale, qeval_const, !whole_R in H. lra.
Qed.

Lemma row_ok_within : forall b d e n f l, in_box b e -> row_ok b d l (qlisted f n) = true ->
  within l (listed (fun i => IZR (Zpos d) * qeval (f i) e) n).
Proof.
  intros b d e. induction n as [|n IH]; intros f [|[low high] l] B H; simpl in H; try discriminate; [exact I|].
  apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2]. simpl. split.
  - split; [eapply at_least_on_ok | eapply at_most_on_ok]; eassumption.
  - apply (IH (fun i => f (S i))); assumption.
Qed.

Lemma within_ext : forall n l f g, (forall i, f i = g i) -> within l (listed f n) -> within l (listed g n).
Proof.
  induction n as [|n IH]; intros [|[low high] l] f g E H; simpl in *; try tauto.
  rewrite <- E. destruct H. split; [assumption|]. eapply IH; [|eassumption]. intro i. apply E.
Qed.

Lemma rows_ok_within : forall b d e n h rows, in_box b e -> rows_ok b d rows (qtriangle h n) = true ->
  rows_within rows (triangle (fun i j => IZR (Zpos d) * qeval (h i j) e) n).
Proof.
  intros b d e. induction n as [|n IH]; intros h [|[a l] rows] B H; simpl in H; try discriminate; [exact I|].
  apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2]. simpl. split; [|split].
  - apply at_least_on_ok with (e := e) in H1; [|assumption]. rewrite qeval_scale in H1.
    replace (Q2R 2) with 2 in H1 by (unfold Q2R; simpl; lra). lra.
  - apply row_ok_within with (e := e) in H2; [|assumption].
    eapply within_ext; [|exact H2]. intro i. cbn beta. rewrite qeval_add. ring.
  - apply (IH (fun i j => h (S i) (S j))); assumption.
Qed.

Lemma curved_ok : forall b n p e d, curved b n p = true -> in_box b e -> 0 <= curvature n p d e.
Proof.
  intros b n p e d H B. unfold curved in H. apply andb_prop in H as [H1 H2].
  set (D := common _) in *. set (rows := whole_rows D _) in *.
  pose proof (rows_ok_within _ _ e _ _ _ B H2) as W.
  pose proof (curved_upwards rows n _ (fun i => d i / Q2R (width b i)) H1 W) as C. unfold curvature.
  pose proof (pos_IZR D) as HD. apply Rmult_le_reg_l with (IZR (Zpos D)); [assumption|]. rewrite Rmult_0_r.
  eapply Rle_trans; [exact C|]. right. rewrite <- rsum_scale. apply rsum_ext. intros i _. cbn beta.
  pose proof (width_pos b i) as Wi. unfold Rdiv at 1. rewrite Rmult_assoc, (Rmult_comm (IZR (Zpos D))), Rmult_assoc.
  f_equal. rewrite <- rsum_scale, Rmult_comm, <- rsum_scale. apply rsum_ext. intros j _.
  pose proof (width_pos b j) as Wj. rewrite qeval_scale, Q2R_mult. field. split; lra.
Qed.

(* --- a point, and the tangent plane there ---------------------------------------------------------------- *)

(* Some variables are replaced one after the other, from the last of the list to the first. *)
Fixpoint place (l : list (nat * qpoly)) (e : env) : env :=
  match l with [] => e | (k, u) :: l => let d := place l e in upd d k (qeval u d) end.

Fixpoint placed (p : qpoly) (l : list (nat * qpoly)) : qpoly :=
  match l with [] => p | (k, u) :: l => placed (qcompose p k u) l end.

Lemma placed_ok : forall l p e, qeval (placed p l) e = qeval p (place l e).
Proof.
  induction l as [|[k u] l IH]; intros p e; simpl; [reflexivity|]. rewrite IH, qeval_compose. reflexivity.
Qed.

Definition names_below (l : list (nat * qpoly)) (n : nat) : bool := forallb (fun r => Nat.ltb (fst r) n) l.

Lemma place_above : forall l n e k, names_below l n = true -> (n <= k)%nat -> place l e k = e k.
Proof.
  induction l as [|[j u] l IH]; intros n e k H Hk; simpl; [reflexivity|].
  simpl in H. apply andb_prop in H as [H1 H2]. apply Nat.ltb_lt in H1. rewrite upd_other by lia.
  eapply IH; eassumption.
Qed.

Definition tangent (n : nat) (p : qpoly) (l : list (nat * qpoly)) : qpoly :=
  (fix go (m : nat) : qpoly :=
     match m with
     | O => placed p l
     | S k => qadd (go k) (qmul (placed (qderiv p k) l) (qsub (qvar k) (placed (qvar k) l)))
     end) n.

Lemma rsum_last : forall n f, rsum f (S n) = rsum f n + f n.
Proof.
  induction n as [|n IH]; intro f; [simpl; ring|].
  change (rsum f (S (S n))) with (f 0%nat + rsum (fun i => f (S i)) (S n)). rewrite IH. simpl. ring.
Qed.

Lemma tangent_ok : forall n p l e, qeval (tangent n p l) e =
  qeval p (place l e) + rsum (fun k => (e k - place l e k) * qeval (qderiv p k) (place l e)) n.
Proof.
  intros n p l e. unfold tangent. induction n as [|n IH]; [simpl; rewrite placed_ok; ring|].
  rewrite rsum_last, qeval_add, IH, qeval_mul, qeval_sub, !placed_ok, !qeval_var. ring.
Qed.

Lemma convex_above : forall b n p l e, curved b n p = true -> names_below l n = true ->
  in_box b e -> in_box b (place l e) ->
  (forall k i, at_axis b k = Some i -> lopen i = false /\ hopen i = false) ->
  qeval (tangent n p l) e <= qeval p e.
Proof.
  intros b n p l e C N B P O. rewrite tangent_ok. set (z := place l e) in *.
  set (d := fun k => e k - z k).
  assert (L : qeval p (line z d 1) = qeval p e) by (apply qeval_ext; intro; unfold line, d; ring).
  rewrite <- L. apply above_tangent_plane.
  - intros k Hk. unfold d, z. rewrite (place_above l n) by assumption. ring.
  - intros t Ht. apply (curved_ok b); [assumption|]. intros k i E.
    pose proof (inside_le _ _ (B k i E)). pose proof (inside_le _ _ (P k i E)).
    destruct (O k i E) as [O1 O2]. unfold inside. rewrite O1, O2. unfold line, d. simpl.
    assert (0 <= t * (e k - Q2R (lo i)) /\ 0 <= (1 - t) * (z k - Q2R (lo i))) by (split; apply Rmult_le_pos; lra).
    assert (0 <= t * (Q2R (hi i) - e k) /\ 0 <= (1 - t) * (Q2R (hi i) - z k)) by (split; apply Rmult_le_pos; lra).
    lra.
Qed.

Lemma closed_ends : forall b k i, at_axis (closed b) k = Some i -> lopen i = false /\ hopen i = false.
Proof.
  intros b k i H. rewrite at_closed in H. destruct (at_axis b k); inversion H; subst. split; reflexivity.
Qed.

(* --- a rational point -------------------------------------------------------------------------------------- *)

(* Only the variables that occur are placed. *)
Definition chosen (p : qpoly) (n : nat) (point : list Q) : list (nat * qpoly) :=
  flat_map (fun k => if qfree p k then [] else [(k, qconst (nth k point 0%Q))]) (seq 0 n).

Definition inside_ends (b : box) (l : list (nat * qpoly)) (ok : interval -> qpoly -> bool) : bool :=
  forallb (fun r => match at_axis b (fst r) with Some i => ok i (snd r) | None => true end) l.

Definition number_inside (i : interval) (u : qpoly) : bool :=
  match num u with Pc c => qle (lo i) (c # pden u) && qle (c # pden u) (hi i) | _ => false end.

Definition check_convex (rec : checker) (g : goal) (point : list Q) : bool :=
  let b := closed (gbox g) in
  let n := length b in
  let p := gpoly g in
  let l := chosen p n point in
  names_below l n && inside_ends b l number_inside && nonneg_on b (num (tangent n p l)) && curved b n p.

Lemma number_inside_ok : forall i u d, lopen i = false -> hopen i = false -> number_inside i u = true ->
  inside i (qeval u d).
Proof.
  intros i u d O1 O2 H. unfold number_inside in H. destruct u as [[c|] q]; simpl in H; [|discriminate].
  apply andb_prop in H as [H1 H2]. apply qle_R in H1, H2. unfold inside. rewrite O1, O2. simpl.
  unfold qeval; cbn [num pden eval]. unfold Q2R in H1 at 2. unfold Q2R in H2 at 1. cbn [Qnum Qden] in H1, H2.
  unfold Rdiv. lra.
Qed.

Lemma numbers_inside : forall b l e, in_box b e -> inside_ends b l number_inside = true ->
  (forall k i, at_axis b k = Some i -> lopen i = false /\ hopen i = false) -> in_box b (place l e).
Proof.
  intros b. induction l as [|[k u] l IH]; intros e B H O; simpl; [assumption|].
  simpl in H. apply andb_prop in H as [H1 H2]. apply in_box_upd; [apply IH; assumption|].
  intros i E. rewrite E in H1. destruct (O k i E). apply number_inside_ok; assumption.
Qed.

Lemma check_convex_sound : forall rec, honest rec -> forall g point, check_convex rec g point = true -> holds g.
Proof.
  intros rec _ g point H e D. unfold check_convex in H.
  set (b := closed (gbox g)) in *. set (l := chosen _ _ point) in *.
  apply andb_prop in H as [H H4]. apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2].
  assert (B : in_box b e) by (apply in_closed; apply D).
  pose proof (closed_ends (gbox g)) as O. fold b in O.
  apply Rle_trans with (qeval (tangent (length b) (gpoly g) l) e).
  - apply qeval_sign. eapply nonneg_on_ok; eassumption.
  - apply (convex_above b); auto. apply numbers_inside; assumption.
Qed.
