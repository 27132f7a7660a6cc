(** Polynomials that are not negative, or positive, on a box.

    With a·u + b·v = 1 and c·u + d·v = x, a polynomial in x is a form in u and v.  For x = (A·u + B·v)/D with
    D·(u + v) = 1 its coefficients are those of Bernstein on [A/D, B/D], up to positive numbers.  Where u and v are
    at least zero and all coefficients are, the polynomial is.  The numbers a, b, c, d are kept: when a sign is
    read, they are compared with the box once more, so nothing rests on how the form was made. *)

From Coq Require Import ZArith Reals List Lia Lra Bool QArith Qreals Psatz.
From Paramverify Require Import Poly Goal.
From Paramverify Require Export Forms.
Import ListNotations.
Local Open Scope R_scope.

(** * Forms on boxes *)

Record form := Form { fpoly : poly; fdegrees : list nat; fmats : list mat; fgood : bool }.
Definition mat_at (l : list mat) (k : nat) : mat := nth k l identity.

Fixpoint put (l : list mat) (k : nat) (m : mat) : list mat :=
  match k, l with
  | O, [] => [m]
  | O, _ :: l => m :: l
  | S k, [] => identity :: put [] k m
  | S k, a :: l => a :: put l k m
  end.

Lemma mat_put_same : forall k l m, mat_at (put l k m) k = m.
Proof. unfold mat_at; induction k; intros [|a l] m; simpl; auto. Qed.

Lemma mat_put_other : forall k l m j, j <> k -> mat_at (put l k m) j = mat_at l j.
Proof.
  unfold mat_at; induction k; intros [|a l] m [|j] H; simpl; try easy.
  - now destruct j.
  - rewrite IHk by lia; now destruct j.
  - apply IHk; lia.
Qed.

Definition form_of (p : poly) (ns : list nat) : form := Form p ns [] true.

Definition step (k : nat) (l : list move) (f : form) : form :=
  let n := nth k (fdegrees f) 0%nat in
  if fgood f && fits_at k n (fpoly f)
  then Form (at_depth k (apply_moves l n) (fpoly f)) (fdegrees f)
         (put (fmats f) k (mmul (mat_at (fmats f) k) (mat_of_moves l))) true
  else Form (Pc 0) (fdegrees f) [] false.

(** The form is p, seen from other coordinates. *)
Definition shows (f : form) (p : poly) : Prop :=
  fgood f = true -> forall u v, fval (fpoly f) (fdegrees f) u v =
    fval p (fdegrees f) (fun k => toU (mat_at (fmats f) k) (u k) (v k))
      (fun k => toV (mat_at (fmats f) k) (u k) (v k)).

Lemma form_of_shows : forall p ns, shows (form_of p ns) p.
Proof.
  intros p ns _ u v; apply fval_ext; intro k; unfold mat_at; cbn [form_of fmats];
    rewrite nth_overflow by (simpl; lia); unfold toU, toV, identity; cbn [ma mb mc md]; lra.
Qed.

Lemma step_shows : forall k l f p, shows f p -> shows (step k l f) p.
Proof.
  intros k l f p H; unfold step.
  destruct (fgood f && fits_at k (nth k (fdegrees f) 0%nat) (fpoly f)) eqn:E; [|intro; discriminate].
  apply andb_prop in E as [E1 E2]; intros _ u v; cbn [fpoly fdegrees fmats].
  rewrite at_depth_ok by easy; rewrite (H E1).
  apply fval_ext; intro j; cbn [change fst snd]; (destruct (Nat.eq_dec j k) as [->|n];
    [rewrite !upd_same, mat_put_same, ?toU_mul, ?toV_mul; reflexivity
    |rewrite !upd_other, mat_put_other by easy; reflexivity]).
Qed.

(** To the interval [A/D, B/D], from 1 and x: D·(u + v) = 1 and A·u + B·v = x. *)
Definition moves_to (a b d : Z) : list move := [Rev; Scale d; Rev; Shear a; Scale (b - a); Rev; Shear 1; Rev].
Definition moves_of (i : interval) : list move :=
  let (a, m) := lo i in
  let (b, n) := hi i in
  if same_positive m n then moves_to a b (Zpos m) else moves_to (a * Zpos n) (b * Zpos m) (Zpos (m * n)).

Fixpoint on_axes (b : box) (k : nat) (f : form) : form :=
  match b with
  | [] => f
  | None :: b => on_axes b (S k) f
  | Some i :: b => on_axes b (S k) (step k (moves_of i) f)
  end.

Definition form_on (b : box) (ns : list nat) (p : poly) : form := on_axes b 0 (form_of p ns).

Lemma form_on_shows : forall b ns p, shows (form_on b ns p) p.
Proof.
  intros b ns p; unfold form_on; generalize (form_of_shows p ns); generalize (form_of p ns), 0%nat.
  induction b as [|[i|] b IH]; intros f k H; simpl; auto.
  now apply IH, step_shows.
Qed.

(** Only variables with an interval occur. *)
Fixpoint flat (b : box) (p : poly) : bool :=
  match p with
  | Pc _ => true
  | PX q r =>
      match b with
      | Some _ :: b' => flat b' q && flat b r
      | None :: b' => is_zero r && flat b' q
      | [] => false
      end
  end.

Definition mask (b : box) (e : env) : env := fun k => match at_axis b k with Some _ => e k | None => 0 end.

Lemma flat_eval : forall p b e, flat b p = true -> eval p (mask b e) = eval p e.
Proof.
  induction p as [c|q IHq p IHp]; intros b e H; [easy|].
  destruct b as [|[i|] b]; simpl in H; try discriminate; apply andb_prop in H as [H1 H2]; cbn [eval].
  - rewrite IHp by easy; change (shift (mask (Some i :: b) e)) with (mask b (shift e)).
    rewrite IHq by easy; reflexivity.
  - change (shift (mask (None :: b) e)) with (mask b (shift e)).
    rewrite IHq by easy; rewrite !(is_zero_eval _ H1); lra.
Qed.

Definition is_identity (m : mat) : bool :=
  Z.eqb (ma m) 1 && Z.eqb (mb m) 0 && Z.eqb (mc m) 0 && Z.eqb (md m) 1.

(** The interval is in [c/a, d/b]. *)
Definition covers1 (o : option interval) (m : mat) : bool :=
  match o with
  | None => is_identity m
  | Some i =>
      Z.ltb 0 (ma m) && Z.ltb 0 (mb m) &&
      Z.leb (mc m * Zpos (Qden (lo i))) (ma m * Qnum (lo i)) &&
      Z.leb (mb m * Qnum (hi i)) (md m * Zpos (Qden (hi i)))
  end.

Fixpoint covers (b : box) (l : list mat) : bool :=
  match b, l with
  | [], l => forallb is_identity l
  | o :: b, [] => match o with None => covers b [] | Some _ => false end
  | o :: b, m :: l => covers1 o m && covers b l
  end.

Lemma covers_at : forall b l k, covers b l = true -> covers1 (at_axis b k) (mat_at l k) = true.
Proof.
  unfold at_axis, mat_at; induction b as [|o b IH]; intros l k H.
  - simpl in H; replace (nth k [] None) with (@None interval) by now destruct k.
    rewrite forallb_forall in H; destruct (Nat.lt_ge_cases k (length l)) as [L|L].
    + apply H; now apply nth_In.
    + now rewrite nth_overflow.
  - destruct l as [|m l]; simpl in H.
    + destruct o; [discriminate|]; destruct k; [easy|].
      specialize (IH [] k H); now destruct k.
    + apply andb_prop in H as [H1 H2]; destruct k; simpl; auto.
Qed.

(** The u and v of a point. *)
Definition ucoord (m : mat) (x : R) : R :=
  let D := IZR (ma m) * IZR (md m) - IZR (mb m) * IZR (mc m) in
  if Req_EM_T D 0 then / IZR (ma m) else (IZR (md m) - IZR (mb m) * x) / D.
Definition vcoord (m : mat) (x : R) : R :=
  let D := IZR (ma m) * IZR (md m) - IZR (mb m) * IZR (mc m) in
  if Req_EM_T D 0 then 0 else (IZR (ma m) * x - IZR (mc m)) / D.

(** What is known of u and v on an axis, whose ends are left out or not. *)
Definition proper (lopen hopen : bool) (u v : R) : Prop :=
  0 <= u /\ 0 <= v /\ (0 < u \/ 0 < v) /\ (lopen = true -> 0 < v) /\ (hopen = true -> 0 < u).

Definition flags (o : option interval) : bool * bool :=
  match o with Some i => (lopen i, hopen i) | None => (false, true) end.

Lemma Q2R_bounds : forall q, Q2R q * IZR (Zpos (Qden q)) = IZR (Qnum q).
Proof. intros [n d]; unfold Q2R; simpl; field; apply Rgt_not_eq, pos_IZR. Qed.

Lemma coords_ok : forall o m x, covers1 o m = true -> (forall i, o = Some i -> inside i x) ->
  (o = None -> x = 0) ->
  toU m (ucoord m x) (vcoord m x) = 1 /\ toV m (ucoord m x) (vcoord m x) = x /\
  proper (fst (flags o)) (snd (flags o)) (ucoord m x) (vcoord m x).
Proof.
  intros [i|] [a b c d] x H I N; unfold covers1 in H.
  - repeat apply andb_prop in H as [H ?H]; cbn [ma mb mc md] in *.
    apply Z.ltb_lt in H, H2; apply Z.leb_le in H0, H1.
    specialize (I i eq_refl); destruct i as [l h lp hp]; cbn [lo hi] in *.
    destruct I as [I J]; cbn [lo hi lopen hopen] in I, J.
    apply IZR_lt in H, H2; apply IZR_le in H0, H1; rewrite !mult_IZR in H0, H1.
    pose proof (Q2R_bounds l) as L; pose proof (Q2R_bounds h) as K.
    pose proof (pos_IZR (Qden l)) as PL; pose proof (pos_IZR (Qden h)) as PH.
    assert (A : IZR c <= IZR a * Q2R l).
    { apply Rmult_le_reg_r with (IZR (Zpos (Qden l))); nra. }
    assert (B : IZR b * Q2R h <= IZR d).
    { apply Rmult_le_reg_r with (IZR (Zpos (Qden h))); nra. }
    assert (Lx := below_le _ _ _ I); assert (Hx := below_le _ _ _ J).
    unfold ucoord, vcoord, toU, toV, proper; cbn [ma mb mc md flags fst snd lopen hopen].
    set (D := IZR a * IZR d - IZR b * IZR c).
    assert (U : 0 <= IZR d - IZR b * x).
    { assert (IZR b * x <= IZR b * Q2R h) by (apply Rmult_le_compat_l; lra); lra. }
    assert (V : 0 <= IZR a * x - IZR c).
    { assert (IZR a * Q2R l <= IZR a * x) by (apply Rmult_le_compat_l; lra); lra. }
    assert (DE : D = IZR a * (IZR d - IZR b * x) + IZR b * (IZR a * x - IZR c)) by (unfold D; ring).
    assert (U' : 0 <= IZR a * (IZR d - IZR b * x)) by (apply Rmult_le_pos; lra).
    assert (V' : 0 <= IZR b * (IZR a * x - IZR c)) by (apply Rmult_le_pos; lra).
    assert (D0 : 0 <= D) by lra.
    destruct (Req_EM_T D 0) as [E|E].
    + assert (X : IZR a * x - IZR c = 0).
      { apply Rmult_eq_reg_l with (IZR b); lra. }
      assert (Y : IZR d - IZR b * x = 0).
      { apply Rmult_eq_reg_l with (IZR a); lra. }
      assert (X1 : x <= Q2R l) by (apply Rmult_le_reg_l with (IZR a); lra).
      assert (X2 : Q2R h <= x) by (apply Rmult_le_reg_l with (IZR b); lra).
      assert (P : 0 < / IZR a) by now apply Rinv_0_lt_compat.
      split; [field; lra|]; split.
      * replace (IZR c) with (IZR a * x) by lra; field; lra.
      * split; [lra|]; split; [lra|]; split; [now left|].
        split; intros ->; simpl in *; lra.
    + assert (Dp : 0 < D) by lra.
      split; [unfold D in *; field; easy|]; split; [unfold D in *; field; easy|].
      assert (P : 0 < / D) by now apply Rinv_0_lt_compat.
      unfold Rdiv; split; [apply Rmult_le_pos; lra|]; split; [apply Rmult_le_pos; lra|]; split.
      * destruct (Rle_lt_or_eq_dec _ _ U) as [U1|U1]; [left; now apply Rmult_lt_0_compat|right].
        apply Rmult_lt_0_compat; [|easy]; rewrite <- U1 in DE.
        destruct (Rle_lt_or_eq_dec _ _ V) as [V1|V1]; [easy|]; rewrite <- V1 in DE; lra.
      * split; intros ->; simpl in *; apply Rmult_lt_0_compat; try easy.
        -- assert (IZR a * Q2R l < IZR a * x) by (now apply Rmult_lt_compat_l). lra.
        -- assert (IZR b * x < IZR b * Q2R h) by (now apply Rmult_lt_compat_l). lra.
  - unfold is_identity in H; repeat apply andb_prop in H as [H ?H]; cbn [ma mb mc md] in *.
    apply Z.eqb_eq in H, H0, H1, H2; subst; rewrite (N eq_refl).
    unfold ucoord, vcoord, toU, toV, proper; cbn [ma mb mc md flags fst snd].
    destruct (Req_EM_T _ _) as [E|E]; [lra|]; repeat split; try lra; try discriminate.
Qed.

(** * Signs *)

Fixpoint nonneg (p : poly) : bool :=
  match p with Pc c => Z.leb 0 c | PX q p => nonneg q && nonneg p end.

Lemma wt_nonneg : forall ns u, (forall k, 0 <= u k) -> 0 <= wt ns u.
Proof.
  induction ns as [|n ns IH]; intros u H; simpl; [lra|].
  apply Rmult_le_pos; [now apply pow_le|]; apply IH; intro; apply H.
Qed.

Lemma fval_nonneg : forall p ns u v, nonneg p = true -> (forall k, 0 <= u k) -> (forall k, 0 <= v k) ->
  0 <= fval p ns u v.
Proof.
  induction p as [c|q IHq p IHp]; intros ns u v H U V; simpl in *.
  - apply Rmult_le_pos; [apply IZR_le; now apply Z.leb_le|now apply wt_nonneg].
  - apply andb_prop in H as [H1 H2].
    assert (0 <= fval q (tl ns) (shift u) (shift v)) by (apply IHq; auto; intro; [apply U|apply V]).
    assert (0 <= fval p (pred (hd 0%nat ns) :: tl ns) u v) by now apply IHp.
    pose proof (pow_le (u 0%nat) (hd 0%nat ns) (U 0%nat)); pose proof (V 0%nat); nra.
Qed.

(** The form shows that p is at least zero on the box. *)
Definition leaf (f : form) (b : box) (p : poly) : bool :=
  fgood f && nonneg (fpoly f) && flat b p && covers b (fmats f).

Lemma shows_at : forall f p b e, shows f p -> fgood f = true -> flat b p = true ->
  covers b (fmats f) = true -> in_box b e ->
  let u := fun k => ucoord (mat_at (fmats f) k) (mask b e k) in
  let v := fun k => vcoord (mat_at (fmats f) k) (mask b e k) in
  eval p e = fval (fpoly f) (fdegrees f) u v /\
  forall k, proper (fst (flags (at_axis b k))) (snd (flags (at_axis b k))) (u k) (v k).
Proof.
  intros f p b e S G F C B u v.
  assert (P : forall k,
    toU (mat_at (fmats f) k) (u k) (v k) = 1 /\ toV (mat_at (fmats f) k) (u k) (v k) = mask b e k /\
    proper (fst (flags (at_axis b k))) (snd (flags (at_axis b k))) (u k) (v k)).
  { intro k; apply coords_ok; [now apply covers_at| |]; unfold mask; intros; rewrite H; auto. }
  split; [|intro k; apply P].
  rewrite <- (flat_eval _ _ _ F), (S G), <- (fval_one _ (fdegrees f)).
  apply fval_ext; intro k; symmetry; apply P.
Qed.

Lemma leaf_ok : forall f b p e, shows f p -> leaf f b p = true -> in_box b e -> 0 <= eval p e.
Proof.
  intros f b p e S H B; unfold leaf in H; repeat apply andb_prop in H as [H ?H].
  destruct (shows_at f p b e S) as [-> P]; auto.
  apply fval_nonneg; auto; intro k; apply P.
Qed.

(** The degrees in all variables. *)
Fixpoint lmax (l m : list nat) : list nat :=
  match l, m with [], m => m | l, [] => l | a :: l, b :: m => Nat.max a b :: lmax l m end.
Fixpoint degrees (p : poly) : list nat :=
  match p with
  | Pc _ => []
  | PX q r =>
      lmax (O :: degrees q)
        (match r with Pc Z0 => [] | _ => match degrees r with [] => [1%nat] | n :: l => S n :: l end end)
  end.

Definition nonneg_at (ns : list nat) (b : box) (p : poly) : bool := leaf (form_on b ns p) b p.
Definition nonneg_on (b : box) (p : poly) : bool := nonneg_at (degrees p) b p.

Lemma nonneg_at_ok : forall ns b p e, nonneg_at ns b p = true -> in_box b e -> 0 <= eval p e.
Proof. intros ns b p e H B; exact (leaf_ok _ _ _ _ (form_on_shows b ns p) H B). Qed.

Lemma nonneg_on_ok : forall b p e, nonneg_on b p = true -> in_box b e -> 0 <= eval p e.
Proof. intros b p e; apply nonneg_at_ok. Qed.

(** * Positive forms

    Each point lies inside a face, with the other variables at ends that are in the box. *)

Definition pfirst (p : poly) : poly := match p with Pc _ => p | PX q _ => q end.
Fixpoint plast (n : nat) (p : poly) : poly :=
  match n with O => pfirst p | S n => match p with Pc _ => Pc 0 | PX _ p => plast n p end end.
Fixpoint psum (p : poly) : poly := match p with Pc _ => p | PX q p => padd q (psum p) end.

Fixpoint positive_form (fl : list (bool * bool)) (ns : list nat) (p : poly) : bool :=
  match fl with
  | [] => match ns, p with [], Pc c => Z.ltb 0 c | _, _ => false end
  | (l, h) :: fl =>
      (l || positive_form fl (tl ns) (pfirst p)) && (h || positive_form fl (tl ns) (plast (hd 0%nat ns) p)) &&
      (if l && h then positive_form fl (tl ns) (psum p) else true)
  end.

Lemma nonneg_mkX : forall q p, nonneg q = true -> nonneg p = true -> nonneg (mkX q p) = true.
Proof. intros [c|q1 q2] [[| |]|p1 p2] Q P; simpl in *; rewrite ?Q, ?P; easy. Qed.

Lemma nonneg_addc : forall a p, (0 <= a)%Z -> nonneg p = true -> nonneg (addc a p) = true.
Proof.
  induction p as [c|q IHq p IHp]; simpl; intros A H.
  - apply Z.leb_le in H; apply Z.leb_le; lia.
  - apply andb_prop in H as [H1 H2]; now rewrite IHq, H2.
Qed.

Lemma nonneg_padd : forall p q, nonneg p = true -> nonneg q = true -> nonneg (padd p q) = true.
Proof.
  induction p as [a|p1 IH1 p2 IH2]; intros q P Q; cbn [padd].
  - apply nonneg_addc; auto; now apply Z.leb_le.
  - simpl in P; apply andb_prop in P as [P1 P2]; destruct q as [b|q1 q2]; simpl in Q.
    + simpl; rewrite P2, nonneg_addc; auto; now apply Z.leb_le.
    + apply andb_prop in Q as [Q1 Q2]; apply nonneg_mkX; auto.
Qed.

Lemma nonneg_pfirst : forall p, nonneg p = true -> nonneg (pfirst p) = true.
Proof. intros [c|q p] H; simpl in *; [easy|]; now apply andb_prop in H. Qed.

Lemma nonneg_plast : forall n p, nonneg p = true -> nonneg (plast n p) = true.
Proof.
  induction n; intros p H; [now apply nonneg_pfirst|].
  destruct p; [easy|]; simpl in *; apply andb_prop in H as [_ H]; auto.
Qed.

Lemma nonneg_psum : forall p, nonneg p = true -> nonneg (psum p) = true.
Proof.
  induction p as [c|q IHq p IHp]; intro H; [easy|]; simpl in *.
  apply andb_prop in H as [H1 H2]; apply nonneg_padd; auto.
Qed.

Section Faces.
Variables u v : env.
Hypothesis U : forall k, 0 <= u k.
Hypothesis V : forall k, 0 <= v k.

Lemma low_nonneg : forall q ns, nonneg q = true -> 0 <= fval q ns (shift u) (shift v).
Proof. intros q ns H; apply fval_nonneg; auto; intro; [apply U|apply V]. Qed.

Lemma fval_first : forall p ns, nonneg p = true ->
  u 0%nat ^ hd 0%nat ns * fval (pfirst p) (tl ns) (shift u) (shift v) <= fval p ns u v.
Proof.
  intros [c|q p] ns H; cbn [pfirst fval].
  - rewrite (wt_cons ns); lra.
  - simpl in H; apply andb_prop in H as [H1 H2].
    pose proof (fval_nonneg p (pred (hd 0%nat ns) :: tl ns) u v H2 U V); pose proof (V 0%nat); nra.
Qed.

Lemma fval_last : forall n p ns, nonneg p = true ->
  v 0%nat ^ n * fval (plast n p) ns (shift u) (shift v) <= fval p (n :: ns) u v.
Proof.
  induction n as [|n IH]; intros p ns H.
  - pose proof (fval_first p (0%nat :: ns) H) as K; cbn [hd tl pow] in K; cbn [pow plast]; lra.
  - destruct p as [c|q p]; cbn [plast fval].
    + pose proof (fval_nonneg (Pc c) (S n :: ns) u v H U V) as K; cbn [fval] in K; lra.
    + simpl in H; apply andb_prop in H as [H1 H2]; cbn [hd tl pred].
      pose proof (IH p ns H2); pose proof (V 0%nat); pose proof (low_nonneg q ns H1).
      pose proof (pow_le (u 0%nat) (S n) (U 0%nat)).
      assert (0 <= u 0%nat ^ S n * fval q ns (shift u) (shift v)) by now apply Rmult_le_pos.
      change (v 0%nat ^ S n) with (v 0%nat * v 0%nat ^ n); nra.
Qed.

Lemma fval_sum : 0 < u 0%nat -> 0 < v 0%nat -> forall p ns n, nonneg p = true ->
  0 < fval (psum p) ns (shift u) (shift v) -> 0 < fval p (n :: ns) u v.
Proof.
  intros U0 V0; induction p as [c|q _ p IH]; intros ns n H K; cbn [psum fval wt] in *.
  - pose proof (pow_lt _ n U0); nra.
  - simpl in H; apply andb_prop in H as [H1 H2]; cbn [hd tl]; rewrite fval_padd in K.
    pose proof (pow_lt _ n U0); pose proof (low_nonneg q ns H1).
    pose proof (fval_nonneg p (pred n :: ns) u v H2 U V).
    assert (N : 0 <= fval (psum p) ns (shift u) (shift v)) by now apply low_nonneg, nonneg_psum.
    destruct (Rle_lt_or_eq_dec _ _ N) as [L|L].
    + pose proof (IH ns (pred n) H2 L).
      assert (0 < v 0%nat * fval p (pred n :: ns) u v) by now apply Rmult_lt_0_compat.
      assert (0 <= u 0%nat ^ n * fval q ns (shift u) (shift v)) by (apply Rmult_le_pos; lra).
      lra.
    + assert (0 < u 0%nat ^ n * fval q ns (shift u) (shift v)) by (apply Rmult_lt_0_compat; lra).
      assert (0 <= v 0%nat * fval p (pred n :: ns) u v) by (apply Rmult_le_pos; lra).
      lra.
Qed.
End Faces.

Lemma positive_ok : forall fl ns p u v, nonneg p = true -> positive_form fl ns p = true ->
  (forall k, proper (fst (nth k fl (false, true))) (snd (nth k fl (false, true))) (u k) (v k)) ->
  0 < fval p ns u v.
Proof.
  induction fl as [|[l h] fl IH]; intros ns p u v N H P.
  - simpl in H; destruct ns; [|discriminate]; destruct p; [|discriminate].
    apply Z.ltb_lt, IZR_lt in H; simpl; lra.
  - assert (U : forall k, 0 <= u k) by (intro k; apply (P k)).
    assert (V : forall k, 0 <= v k) by (intro k; apply (P k)).
    assert (I : forall q, nonneg q = true -> positive_form fl (tl ns) q = true ->
      0 < fval q (tl ns) (shift u) (shift v)).
    { intros q Q R; apply IH; auto; intro k; apply (P (S k)). }
    cbn [positive_form] in H; apply andb_prop in H as [H H3]; apply andb_prop in H as [H1 H2].
    destruct (P 0%nat) as (_ & _ & E & L & K); cbn [nth fst snd] in L, K.
    rewrite <- (fval_hd p ns).
    destruct (Rle_lt_or_eq_dec _ _ (U 0%nat)) as [U0|U0].
    + destruct (Rle_lt_or_eq_dec _ _ (V 0%nat)) as [V0|V0].
      * destruct l; [destruct h|].
        -- apply fval_sum; auto; apply I; auto; now apply nonneg_psum.
        -- eapply Rlt_le_trans; [|apply fval_last; auto].
           apply Rmult_lt_0_compat; [now apply pow_lt|]; apply I; auto; now apply nonneg_plast.
        -- eapply Rlt_le_trans; [|apply fval_first; auto]; cbn [hd tl].
           apply Rmult_lt_0_compat; [now apply pow_lt|]; apply I; auto; now apply nonneg_pfirst.
      * destruct l; [specialize (L eq_refl); lra|].
        eapply Rlt_le_trans; [|apply fval_first; auto]; cbn [hd tl].
        apply Rmult_lt_0_compat; [now apply pow_lt|]; apply I; auto; now apply nonneg_pfirst.
    + destruct h; [specialize (K eq_refl); lra|].
      eapply Rlt_le_trans; [|apply fval_last; auto].
      apply Rmult_lt_0_compat; [apply pow_lt; lra|]; apply I; auto; now apply nonneg_plast.
Qed.

Definition positive_on (b : box) (p : poly) : bool :=
  let f := form_on b (degrees p) p in
  leaf f b p && positive_form (map flags b) (fdegrees f) (fpoly f).

Lemma positive_on_ok : forall b p e, positive_on b p = true -> in_box b e -> 0 < eval p e.
Proof.
  intros b p e H B; unfold positive_on, leaf in H; repeat apply andb_prop in H as [H ?H].
  destruct (shows_at _ p b e (form_on_shows b (degrees p) p)) as [-> P]; auto.
  apply positive_ok with (map flags b); auto; intro k; specialize (P k); unfold at_axis in P.
  change (false, true) with (flags None); now rewrite map_nth.
Qed.
