(* The tangent plane of a convex polynomial at an algebraic point: f vanishes there, and each slope vanishes or
   points into the box. The coordinates are polynomials in one root t of a polynomial in an interval. *)
From Coq Require Import Reals ZArith QArith Qreals Lra Lia List Bool Arith.
From Paramverify Require Import Poly Goal Certificate Rule Bernstein Convexity Semidefinite RuleExponential RuleProduct
  RuleConvex.
Import ListNotations.
Local Open Scope R_scope.

(* --- polynomials in one variable, the highest coefficient first --------------------------------------------- *)

Fixpoint hval (l : list Z) (x : R) : R := match l with [] => 0 | a :: l => IZR a * x ^ length l + hval l x end.

(* c·(t·xⁿ + ...) - t·xᵏ·(c·xᵐ + ...), without its first coefficient, which is 0. *)
Fixpoint reduce_step (c t : Z) (m l : list Z) : list Z :=
  match m, l with
  | a :: m, b :: l => (c * b - t * a)%Z :: reduce_step c t m l
  | _, l => map (fun b => c * b)%Z l
  end.

Lemma hval_scaled : forall c l x, hval (map (fun b => c * b)%Z l) x = IZR c * hval l x.
Proof.
  induction l as [|b l IH]; intro x; simpl; [ring|]. rewrite IH, mult_IZR, map_length. ring.
Qed.

Lemma hval_opp : forall l x, hval (map Z.opp l) x = - hval l x.
Proof.
  induction l as [|b l IH]; intro x; simpl; [ring|]. rewrite IH, opp_IZR, map_length. ring.
Qed.

Lemma reduce_step_length : forall c t m l, length (reduce_step c t m l) = length l.
Proof.
  intros c t. induction m as [|a m IH]; intros [|b l]; simpl; try reflexivity; [now rewrite map_length | now rewrite IH].
Qed.

Lemma reduce_step_ok : forall c t m l x, (length m <= length l)%nat ->
  hval (reduce_step c t m l) x = IZR c * hval l x - IZR t * (hval m x * x ^ (length l - length m)).
Proof.
  intros c t. induction m as [|a m IH]; intros [|b l] x H; cbn [reduce_step].
  - simpl. ring.
  - rewrite hval_scaled. simpl. ring.
  - simpl in H. lia.
  - cbn [hval]. rewrite IH by (simpl in H; lia). rewrite reduce_step_length, minus_IZR, !mult_IZR. simpl length.
    replace (S (length l) - S (length m))%nat with (length l - length m)%nat by lia.
    simpl in H. assert (E : x ^ length l = x ^ length m * x ^ (length l - length m)).
    { rewrite <- pow_add. f_equal. lia. }
    rewrite E at 1. rewrite E. ring.
Qed.

(* What is left modulo c·xᵐ + ..., times a positive number. *)
Fixpoint reduce (fuel : nat) (c : Z) (m l : list Z) : list Z :=
  match fuel, l with
  | S fuel, t :: l' => if Nat.leb (length m) (length l') then reduce fuel c m (reduce_step c t m l') else l
  | _, _ => l
  end.

Lemma reduce_ok : forall fuel c m x, (0 < c)%Z -> IZR c * x ^ length m + hval m x = 0 ->
  forall l, exists q, 0 < q /\ hval (reduce fuel c m l) x = q * hval l x.
Proof.
  induction fuel as [|fuel IH]; intros c m x Hc R l; [exists 1; split; [lra | simpl; ring]|].
  destruct l as [|t l]; [exists 1; split; [lra | simpl; ring]|]. cbn [reduce].
  destruct (Nat.leb_spec (length m) (length l)) as [L|L]; [|exists 1; split; [lra | ring]].
  destruct (IH c m x Hc R (reduce_step c t m l)) as (q & Hq & E).
  apply IZR_lt in Hc. exists (q * IZR c). split; [apply Rmult_lt_0_compat; assumption|].
  rewrite E, reduce_step_ok by assumption. cbn [hval].
  assert (P : x ^ length l = x ^ length m * x ^ (length l - length m)) by (rewrite <- pow_add; f_equal; lia).
  assert (M : hval m x = - (IZR c * x ^ length m)) by lra.
  rewrite M, P. ring.
Qed.

(* The numbers before the powers of variable k, the highest first, and without zeros in front. *)
Fixpoint strip (l : list Z) : list Z := match l with 0%Z :: l => strip l | _ => l end.

Lemma strip_ok : forall l x, hval (strip l) x = hval l x.
Proof.
  induction l as [|a l IH]; intro x; [reflexivity|]. destruct a; try reflexivity. simpl strip. rewrite IH. simpl. ring.
Qed.

Lemma hval_app : forall l m x, hval (l ++ m) x = hval l x * x ^ length m + hval m x.
Proof.
  induction l as [|a l IH]; intros m x; simpl; [ring|]. rewrite IH, app_length, pow_add. ring.
Qed.

Lemma hval_rev : forall l x, hval (rev l) x = hor x (map IZR l).
Proof.
  induction l as [|a l IH]; intro x; simpl; [reflexivity|]. rewrite hval_app, IH. simpl. ring.
Qed.

Definition in_one (p : qpoly) (k : nat) : option (list Z) :=
  match numbers (coefs (num p) k) with Some l => Some (strip (rev l)) | None => None end.

Lemma in_one_ok : forall p k l e, in_one p k = Some l -> hval l (e k) = eval (num p) e.
Proof.
  intros p k l e H. unfold in_one in H. destruct (numbers (coefs (num p) k)) as [m|] eqn:E; [|discriminate].
  inversion H; subst. rewrite strip_ok, hval_rev, (coefs_eval' (num p) k e), (numbers_ok _ _ _ E). reflexivity.
Qed.

(* --- a root in an interval ------------------------------------------------------------------------------------ *)

Lemma hor_continuous : forall l, continuity (fun x => hor x l).
Proof.
  induction l as [|a l IH]; simpl; [apply continuity_const; intros x y; reflexivity|].
  apply (continuity_plus (fun _ => a) (fun x => x * hor x l)); [apply continuity_const; intros x y; reflexivity|].
  apply (continuity_mult (fun x => x)); [apply derivable_continuous, derivable_id | exact IH].
Qed.

Definition sign_at (l : list poly) (x : Q) : option Z :=
  match fst (horner l (Pc (Qnum x)) (Qden x)) with Pc c => Some (Z.sgn c) | _ => None end.

Lemma sign_at_ok : forall l x s e, sign_at l x = Some s ->
  (s = 1%Z -> 0 <= hor (Q2R x) (evals l e)) /\ (s = (-1)%Z -> hor (Q2R x) (evals l e) <= 0).
Proof.
  intros l x s e H. unfold sign_at in H.
  pose proof (horner_ok (Pc (Qnum x)) (Qden x) e l) as K.
  destruct (horner l (Pc (Qnum x)) (Qden x)) as [n d]. simpl in K, H.
  destruct n as [c|]; [|discriminate]. inversion H; subst. simpl in K.
  change (IZR (Qnum x) / IZR (Zpos (Qden x))) with (Q2R x) in K. rewrite <- K.
  assert (D : 0 < / IZR (Zpos d)) by (apply Rinv_0_lt_compat, pos_IZR).
  split; intro S.
  - assert (0 < c)%Z as C by lia. apply IZR_lt in C. apply Rmult_le_pos; lra.
  - assert (c < 0)%Z as C by lia. apply IZR_lt in C. unfold Rdiv. nra.
Qed.

Definition has_root (l : list poly) (low high : Q) : bool :=
  qle low high && match sign_at l low, sign_at l high with
  | Some 1%Z, Some (-1)%Z => true
  | Some (-1)%Z, Some 1%Z => true
  | _, _ => false
  end.

Lemma has_root_ok : forall l low high e, has_root l low high = true ->
  exists t, Q2R low <= t <= Q2R high /\ hor t (evals l e) = 0.
Proof.
  intros l low high e H. unfold has_root in H. apply andb_prop in H as [H1 H2]. apply qle_R in H1.
  assert (S : hor (Q2R low) (evals l e) * hor (Q2R high) (evals l e) <= 0).
  { destruct (sign_at l low) as [s|] eqn:A; [|discriminate].
    destruct (sign_at l high) as [s'|] eqn:B; [|destruct s as [|[]|[]]; discriminate].
    destruct (sign_at_ok _ _ _ e A) as [A1 A2]. destruct (sign_at_ok _ _ _ e B) as [B1 B2].
    destruct s as [|[]|[]]; try discriminate; destruct s' as [|[]|[]]; try discriminate.
    - specialize (A1 eq_refl). specialize (B2 eq_refl). nra.
    - specialize (A2 eq_refl). specialize (B1 eq_refl). nra. }
  destruct (IVT_cor (fun x => hor x (evals l e)) (Q2R low) (Q2R high) (hor_continuous _) H1 S) as (t & Ht & E).
  exists t. split; assumption.
Qed.

(* --- the rule --------------------------------------------------------------------------------------------------- *)

(* The root t is a variable behind all others. *)
Definition chosen_images (p : qpoly) (n : nat) (point : list qpoly) : list (nat * qpoly) :=
  flat_map (fun k => if qfree p k then [] else [(k, qcompose (nth k point (qconst 0)) 0 (qvar n))]) (seq 0 n).

(* Every image is about the root alone. *)
Definition about_root (n : nat) (l : list (nat * qpoly)) : bool :=
  forallb (fun r => match in_one (snd r) n with Some _ => true | None => false end) l.

Definition root_box (n : nat) (low high : Q) : box := set_axis [] n (Some (Iv low high false false)).

Definition image_inside (rb : box) (i : interval) (u : qpoly) : bool :=
  nonneg_on rb (num (qsub u (qconst (lo i)))) && nonneg_on rb (num (qsub (qconst (hi i)) u)).

(* What a polynomial is at the point, up to a positive number: as a polynomial in the root, reduced. *)
Definition at_point (p : qpoly) (l : list (nat * qpoly)) (n : nat) (c : Z) (m : list Z) : option (list Z) :=
  match in_one (placed p l) n with
  | Some v => Some (strip (reduce (length v) c m v))
  | None => None
  end.

Definition in_root (n : nat) (l : list Z) : poly := in_variable n (map Pc (rev l)).

Definition slope_inward (b rb : box) (n : nat) (p : qpoly) (l : list (nat * qpoly)) (c : Z) (m : list Z) (k : nat) : bool :=
  match at_point (qderiv p k) l n c m with
  | Some [] => true
  | Some v =>
    match at_axis b k with
    | Some i =>
      (qeq (placed (qvar k) l) (qconst (lo i)) && nonneg_on rb (in_root n v)) ||
      (qeq (placed (qvar k) l) (qconst (hi i)) && nonneg_on rb (popp (in_root n v)))
    | None => false
    end
  | None => false
  end.

Definition positive_lead (l : list Z) : option (Z * list Z) :=
  match l with
  | Zpos c :: l => Some (Zpos c, l)
  | Zneg c :: l => Some (Zpos c, map Z.opp l)
  | _ => None
  end.

Definition check_convex_root (rec : checker) (g : goal) (minimal : qpoly) (low high : Q) (point : list qpoly) : bool :=
  let b := closed (gbox g) in
  let n := length b in
  let p := gpoly g in
  let l := chosen_images p n point in
  let rb := root_box n low high in
  let mp := qcompose minimal 0 (qvar n) in
  match in_one mp n with
  | Some mv =>
    match positive_lead mv with
    | Some (c, m) =>
      qfree p n && names_below l n && about_root n l && has_root (coefs (num mp) n) low high &&
      inside_ends b l (image_inside rb) && curved b n p &&
      (match at_point p l n c m with Some [] => true | _ => false end) &&
      forallb (slope_inward b rb n p l c m) (seq 0 n)
    | None => false
    end
  | None => false
  end.

Lemma positive_lead_ok : forall l c m x, positive_lead l = Some (c, m) -> hval l x = 0 ->
  (0 < c)%Z /\ IZR c * x ^ length m + hval m x = 0.
Proof.
  intros [|[|a|a] l] c m x H E; cbn [positive_lead] in H; try discriminate;
    injection H as <- <-; (split; [lia|]).
  - simpl in E. exact E.
  - rewrite map_length, hval_opp. cbn [hval] in E. change (IZR (Zneg a)) with (- IZR (Zpos a)) in E. lra.
Qed.

Lemma at_point_ok : forall p l n c m v e, at_point p l n c m = Some v -> (0 < c)%Z ->
  IZR c * e n ^ length m + hval m (e n) = 0 ->
  exists q, 0 < q /\ hval v (e n) = q * eval (num (placed p l)) e.
Proof.
  intros p l n c m v e H Hc E. unfold at_point in H.
  destruct (in_one (placed p l) n) as [w|] eqn:W; [|discriminate]. inversion H; subst.
  destruct (reduce_ok (length w) c m (e n) Hc E w) as (q & Hq & R).
  exists q. split; [assumption|]. rewrite strip_ok, R, (in_one_ok _ _ _ e W). reflexivity.
Qed.

Lemma in_variable_ok : forall k l e, eval (in_variable k l) e = hor (e k) (evals l e).
Proof.
  intros k l e. induction l as [|p l IH]; simpl; [reflexivity|]. rewrite eval_padd, eval_pmul, eval_var, IH. reflexivity.
Qed.

Lemma in_root_ok : forall n v e, eval (in_root n v) e = hval v (e n).
Proof.
  intros n v e. unfold in_root. rewrite in_variable_ok.
  assert (E : evals (map Pc (rev v)) e = map IZR (rev v)).
  { unfold evals. rewrite map_map. reflexivity. }
  rewrite E, <- hval_rev, rev_involutive. reflexivity.
Qed.

Lemma root_in_box : forall n low high e, Q2R low <= e n <= Q2R high -> in_box (root_box n low high) e.
Proof.
  intros n low high e H k i E. unfold root_box in E. destruct (Nat.eq_dec k n) as [->|N].
  - rewrite at_set_same in E. inversion E; subst. exact H.
  - rewrite at_set_other in E by assumption. unfold at_axis in E. destruct k; discriminate.
Qed.

(* A polynomial about the root alone has the same value wherever the root is the same. *)
Lemma about_one : forall u n l e d, in_one u n = Some l -> e n = d n -> qeval u e = qeval u d.
Proof.
  intros u n l e d H E. unfold qeval. rewrite <- (in_one_ok u n l e H), <- (in_one_ok u n l d H), E. reflexivity.
Qed.

Lemma images_inside : forall b rb n l e, in_box b e -> in_box rb e -> names_below l n = true ->
  about_root n l = true -> inside_ends b l (image_inside rb) = true ->
  (forall k i, at_axis b k = Some i -> lopen i = false /\ hopen i = false) -> in_box b (place l e).
Proof.
  intros b rb n. induction l as [|[k u] l IH]; intros e B RB N A H O; simpl; [assumption|].
  simpl in N, A, H. apply andb_prop in N as [N1 N2]. apply andb_prop in A as [A1 A2].
  apply andb_prop in H as [H1 H2]. apply in_box_upd; [apply IH; assumption|].
  intros i E. rewrite E in H1. destruct (O k i E) as [O1 O2].
  destruct (in_one u n) as [w|] eqn:W; [|discriminate].
  rewrite (about_one u n w (place l e) e W) by (eapply place_above; [eassumption | lia]).
  apply andb_prop in H1 as [K1 K2].
  apply nonneg_on_ok with (e := e) in K1; [|assumption]. apply nonneg_on_ok with (e := e) in K2; [|assumption].
  apply qeval_sign in K1, K2. rewrite qeval_sub, qeval_const in K1, K2.
  unfold inside. rewrite O1, O2. simpl. lra.
Qed.

Lemma rsum_nonneg : forall n f, (forall i, (i < n)%nat -> 0 <= f i) -> 0 <= rsum f n.
Proof.
  intros n f H. rewrite <- (rsum_0 n (fun _ => 0)) by reflexivity. apply rsum_le. assumption.
Qed.

Lemma check_convex_root_sound : forall rec, honest rec ->
  forall g minimal low high point, check_convex_root rec g minimal low high point = true -> holds g.
Proof.
  intros rec _ g minimal low high point H e0 D. unfold check_convex_root in H.
  set (b := closed (gbox g)) in *. set (n := length b) in *. set (p := gpoly g) in *.
  set (l := chosen_images p n point) in *. set (rb := root_box n low high) in *.
  set (mp := qcompose minimal 0 (qvar n)) in *.
  destruct (in_one mp n) as [mv|] eqn:Em; [|discriminate].
  destruct (positive_lead mv) as [[c m]|] eqn:El; [|discriminate].
  apply andb_prop in H as [H H8]. apply andb_prop in H as [H H7]. apply andb_prop in H as [H H6].
  apply andb_prop in H as [H H5]. apply andb_prop in H as [H H4]. apply andb_prop in H as [H H3].
  apply andb_prop in H as [H1 H2].
  destruct (has_root_ok (coefs (num mp) n) low high e0 H4) as (t & Ht & Et).
  set (e := upd e0 n t).
  assert (Et' : hval mv (e n) = 0).
  { rewrite (in_one_ok mp n mv e Em). unfold e. rewrite coefs_eval. exact Et. }
  destruct (positive_lead_ok mv c m (e n) El Et') as [Hc Hm].
  assert (B : in_box b e).
  { apply in_box_upd; [apply in_closed; apply D|]. intros i E. unfold at_axis in E.
    rewrite nth_overflow in E by (unfold n; lia). discriminate. }
  assert (RB : in_box rb e) by (apply root_in_box; unfold e; rewrite upd_same; assumption).
  pose proof (closed_ends (gbox g)) as O. fold b in O.
  assert (P : in_box b (place l e)) by (eapply images_inside; eassumption).
  fold p. rewrite <- (qfree_eval p n H1 e0 t). fold e.
  apply Rle_trans with (qeval (tangent n p l) e); [|apply (convex_above b); assumption].
  rewrite tangent_ok. apply Rplus_le_le_0_compat.
  - destruct (at_point p l n c m) as [[|]|] eqn:A; try discriminate.
    destruct (at_point_ok p l n c m [] e A Hc Hm) as (q & Hq & E). simpl in E.
    rewrite <- placed_ok. apply qeval_sign. symmetry in E. apply Rmult_integral in E. destruct E; lra.
  - apply rsum_nonneg. intros k Hk. rewrite forallb_forall in H8.
    specialize (H8 k ltac:(apply in_seq; lia)). unfold slope_inward in H8.
    destruct (at_point (qderiv p k) l n c m) as [v|] eqn:A; [|discriminate].
    destruct (at_point_ok _ l n c m v e A Hc Hm) as (q & Hq & E).
    rewrite <- (placed_ok l (qderiv p k)).
    destruct v as [|a v].
    + simpl in E. assert (Z : eval (num (placed (qderiv p k) l)) e = 0).
      { symmetry in E. apply Rmult_integral in E. destruct E; lra. }
      unfold qeval. rewrite Z. unfold Rdiv. right. ring.
    + set (w := a :: v) in *. destruct (at_axis b k) as [i|] eqn:Ei; [|discriminate].
      pose proof (inside_le _ _ (B k i Ei)) as Bk.
      assert (X : forall s, qeq (placed (qvar k) l) (qconst s) = true -> place l e k = Q2R s).
      { intros s S. apply qeq_eval with (e := e) in S. rewrite placed_ok, qeval_var, qeval_const in S. exact S. }
      set (y := place l e k) in *. set (s := placed (qderiv p k) l) in *.
      apply orb_prop in H8 as [H8|H8]; apply andb_prop in H8 as [S1 S2]; specialize (X _ S1);
        apply nonneg_on_ok with (e := e) in S2; try assumption; rewrite ?eval_popp, in_root_ok, E in S2.
      * assert (0 <= eval (num s) e).
        { apply Rmult_le_reg_l with q; [assumption|]. rewrite Rmult_0_r. assumption. }
        apply Rmult_le_pos; [lra | now apply qeval_sign].
      * assert (K : 0 <= qeval (qopp s) e).
        { apply qeval_sign. simpl. rewrite eval_popp.
          apply Rmult_le_reg_l with q; [assumption|]. rewrite Rmult_0_r. lra. }
        rewrite qeval_opp in K. replace ((e k - y) * qeval s e) with ((y - e k) * - qeval s e) by ring.
        apply Rmult_le_pos; lra.
Qed.
