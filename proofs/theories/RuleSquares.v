(** Sums of squares: identities between polynomials, which are multiplied out again. *)

From Coq Require Import ZArith Reals List Lia Lra Bool QArith Qreals Psatz.
From Paramverify Require Import Poly Goal Certificate Rule Dense.
Import ListNotations.
Local Open Scope R_scope.

(** ** Terms, and whether they are positive on the points of the goal *)

Definition side_poly (g : goal) (s : side) : option (qpoly * bool) :=
  match s with
  | SLow k a =>
      match at_axis (gbox g) k with
      | Some i => if qle a (lo i) then Some (qsub (qvar k) (qconst a), lopen i || qlt a (lo i)) else None
      | None => None
      end
  | SHigh k b =>
      match at_axis (gbox g) k with
      | Some i => if qle (hi i) b then Some (qsub (qconst b) (qvar k), hopen i || qlt (hi i) b) else None
      | None => None
      end
  | SCond i => get_cond g i
  end.

Fixpoint sides (g : goal) (l : list side) : option (qpoly * bool) :=
  match l with
  | [] => Some (qconst 1, true)
  | s :: l =>
      match side_poly g s, sides g l with
      | Some (p, a), Some (q, b) => Some (qmul p q, a && b)
      | _, _ => None
      end
  end.

Fixpoint nonzero_number (p : poly) : bool :=
  match p with Pc c => negb (Z.eqb c 0) | PX q p => is_zero p && nonzero_number q end.

Fixpoint squares (l : list (Q * qpoly)) : option (qpoly * bool) :=
  match l with
  | [] => Some (qconst 0, false)
  | (c, h) :: l =>
      match squares l with
      | Some (p, s) =>
          if qle 0 c then Some (qadd (qscale c (qmul h h)) p, s || (qlt 0 c && nonzero_number (num h))) else None
      | None => None
      end
  end.

Fixpoint terms (g : goal) (l : list term) : option (qpoly * bool) :=
  match l with
  | [] => Some (qconst 0, false)
  | (ss, qs) :: l =>
      match sides g ss, squares qs, terms g l with
      | Some (p, a), Some (q, b), Some (r, c) => Some (qadd (qmul p q) r, (a && b) || c)
      | _, _, _ => None
      end
  end.

Lemma side_poly_ok : forall g s p a e, side_poly g s = Some (p, a) -> dom g e -> below a 0 (qeval p e).
Proof.
  intros g [k x|k x|i] p a e H D; cbn [side_poly] in H; [| |eapply get_cond_ok; eauto].
  - destruct (at_axis (gbox g) k) as [i|] eqn:E; [|discriminate].
    destruct (qle x (lo i)) eqn:L; [|discriminate]; inversion H; subst; clear H; apply qle_R in L.
    rewrite qeval_sub, qeval_var, qeval_const; apply D in E; destruct E as [E _].
    destruct (lopen i); simpl in *; [lra|]; destruct (qlt x (lo i)) eqn:K; simpl; [apply qlt_R in K|]; lra.
  - destruct (at_axis (gbox g) k) as [i|] eqn:E; [|discriminate].
    destruct (qle (hi i) x) eqn:L; [|discriminate]; inversion H; subst; clear H; apply qle_R in L.
    rewrite qeval_sub, qeval_var, qeval_const; apply D in E; destruct E as [_ E].
    destruct (hopen i); simpl in *; [lra|]; destruct (qlt (hi i) x) eqn:K; simpl; [apply qlt_R in K|]; lra.
Qed.

Lemma below_mul : forall a b x y, below a 0 x -> below b 0 y -> below (a && b) 0 (x * y).
Proof.
  intros a b x y X Y; pose proof (below_le _ _ _ X); pose proof (below_le _ _ _ Y).
  destruct a, b; simpl in *; try (now apply Rmult_lt_0_compat); apply Rmult_le_pos; lra.
Qed.

Lemma below_add : forall a b x y, below a 0 x -> below b 0 y -> below (a || b) 0 (x + y).
Proof. intros [|] [|] x y; simpl; lra. Qed.

Lemma sides_ok : forall g e, dom g e -> forall l p a, sides g l = Some (p, a) -> below a 0 (qeval p e).
Proof.
  intros g e D; induction l as [|s l IH]; intros p a H; cbn [sides] in H.
  - inversion H; subst; rewrite qeval_const, Q2R_1; simpl; lra.
  - destruct (side_poly g s) as [[p1 a1]|] eqn:E; [|discriminate].
    destruct (sides g l) as [[p2 a2]|]; [|discriminate]; inversion H; subst.
    rewrite qeval_mul; apply below_mul; auto; eapply side_poly_ok; eauto.
Qed.

Lemma nonzero_number_ok : forall p e, nonzero_number p = true -> eval p e <> 0.
Proof.
  induction p as [c|q IHq p IHp]; intros e H; simpl in *.
  - apply not_0_IZR; intros ->; discriminate.
  - apply andb_prop in H as [H1 H2]; rewrite (is_zero_eval _ H1); specialize (IHq (shift e) H2); lra.
Qed.

Lemma squares_ok : forall e l p a, squares l = Some (p, a) -> below a 0 (qeval p e).
Proof.
  intros e; induction l as [|[c h] l IH]; intros p a H; cbn [squares] in H.
  - inversion H; subst; rewrite qeval_const, Q2R_0; simpl; lra.
  - destruct (squares l) as [[q s]|]; [|discriminate]; destruct (qle 0 c) eqn:C; [|discriminate].
    inversion H; subst; clear H; specialize (IH _ _ eq_refl); apply qle_R in C; rewrite Q2R_0 in C.
    rewrite qeval_add, qeval_scale, qeval_mul, Rplus_comm; apply below_add; auto.
    pose proof (Rle_0_sqr (qeval h e)) as P; unfold Rsqr in P.
    destruct (qlt 0 c && nonzero_number (num h)) eqn:E; simpl; [|now apply Rmult_le_pos].
    apply andb_prop in E as [E1 E2]; apply qlt_R in E1; rewrite Q2R_0 in E1.
    apply nonzero_number_ok with (e := e) in E2.
    apply Rmult_lt_0_compat; [easy|]; apply Rsqr_pos_lt; unfold qeval; intro Z.
    apply E2; apply Rmult_integral in Z; destruct Z as [Z|Z]; [easy|].
    pose proof (Rinv_0_lt_compat _ (pos_IZR (pden h))); lra.
Qed.

Lemma terms_ok : forall g e, dom g e -> forall l p a, terms g l = Some (p, a) -> below a 0 (qeval p e).
Proof.
  intros g e D; induction l as [|[ss qs] l IH]; intros p a H; cbn [terms] in H.
  - inversion H; subst; rewrite qeval_const, Q2R_0; simpl; lra.
  - destruct (sides g ss) as [[p1 a1]|] eqn:E1; [|discriminate].
    destruct (squares qs) as [[p2 a2]|] eqn:E2; [|discriminate].
    destruct (terms g l) as [[p3 a3]|]; [|discriminate]; inversion H; subst.
    rewrite qeval_add, qeval_mul; apply below_add; auto.
    apply below_mul; [eapply sides_ok|eapply squares_ok]; eauto.
Qed.

(** ** m·f is a sum of terms: m is 1, or positive, or positive on a dense part of the box. *)

(** The box alone, or all real points where the box is empty. *)
Definition bare (b : box) : goal := Goal (qconst 0) b [] [].

(** The variables of m have an inside. *)
Definition wide (b : box) (m : poly) : bool :=
  forallb (fun k => match at_axis b k with Some i => free m k || qlt (lo i) (hi i) | None => true end)
    (seq 0 (length b)).

Definition dense (b : box) (f : qpoly) (ts ms : list term) : bool :=
  match terms (bare b) ts, terms (bare b) ms with
  | Some (s, _), Some (m, _) => negb (is_zero (num m)) && wide b (num m) && qeq s (qmul m f)
  | _, _ => false
  end.

Definition check_squares (rec : checker) (g : goal) (ts : list term) (mult : option (list term)) : bool :=
  match mult with
  | None => match terms g ts with Some (s, _) => qeq s (gpoly g) | None => false end
  | Some ms =>
      if match terms g ts, terms g ms with Some (s, _), Some (m, true) => qeq s (qmul m (gpoly g)) | _, _ => false end
      then true
      else if dense (gbox g) (gpoly g) ts ms then true else dense [] (gpoly g) ts ms
  end.

(** Part of an interval around a point of it, or of all numbers. *)
Definition part_low (o : option interval) (x delta : R) : R :=
  match o with Some i => Rmax (Q2R (lo i)) (x - delta) | None => x - delta end.
Definition part_high (o : option interval) (x delta : R) : R :=
  match o with Some i => Rmin (Q2R (hi i)) (x + delta) | None => x + delta end.

Lemma part_of : forall o x delta, 0 < delta -> (forall i, o = Some i -> inside i x /\ Q2R (lo i) < Q2R (hi i)) ->
  part_low o x delta < part_high o x delta /\
  forall y, part_low o x delta < y < part_high o x delta ->
    Rabs (y - x) < delta /\ forall i, o = Some i -> inside i y.
Proof.
  intros [i|] x delta D H; cbn [part_low part_high].
  - destruct (H i eq_refl) as [I W]; apply inside_le in I; split.
    + apply Rmax_lub_lt; apply Rmin_glb_lt; lra.
    + intros y [Y1 Y2].
      pose proof (Rmax_l (Q2R (lo i)) (x - delta)); pose proof (Rmax_r (Q2R (lo i)) (x - delta)).
      pose proof (Rmin_l (Q2R (hi i)) (x + delta)); pose proof (Rmin_r (Q2R (hi i)) (x + delta)).
      split; [apply Rabs_def1; lra|]; intros j J; inversion J; subst; apply inside_lt; lra.
  - split; [lra|]; intros y Y; split; [apply Rabs_def1; lra|easy].
Qed.

Lemma wide_ok : forall b m k i, wide b m = true -> at_axis b k = Some i -> free m k = false ->
  Q2R (lo i) < Q2R (hi i).
Proof.
  intros b m k i W E F; unfold wide in W; rewrite forallb_forall in W.
  destruct (Nat.lt_ge_cases k (length b)) as [L|L].
  - specialize (W k); rewrite E, F in W; apply qlt_R, W, in_seq; lia.
  - unfold at_axis in E; rewrite nth_overflow in E by easy; discriminate.
Qed.

Lemma dense_sound : forall b f ts ms e, dense b f ts ms = true -> in_box b e -> 0 <= qeval f e.
Proof.
  intros b f ts ms e H B; unfold dense in H.
  destruct (terms (bare b) ts) as [[s s']|] eqn:Es; [|discriminate].
  destruct (terms (bare b) ms) as [[m m']|] eqn:Em; [|discriminate].
  apply andb_prop in H as [H H3]; apply andb_prop in H as [H1 H2].
  destruct (Rle_or_lt 0 (qeval f e)) as [K|K]; [easy|exfalso].
  assert (N : eval (num f) e < 0).
  { destruct (Rlt_or_le (eval (num f) e) 0) as [L|L]; [easy|]; apply qeval_sign in L; lra. }
  destruct (eval_continuous (num f) e (- eval (num f) e)) as (delta & D & C); [lra|].
  (* Near e, inside of the box, m is zero. *)
  assert (Z : forall d, (forall k, Rabs (d k - e k) < delta) -> in_box b d -> eval (num m) d = 0).
  { intros d Near Bd.
    assert (Dd : dom (bare b) d) by (split; [exact Bd|split; intros x []]).
    pose proof (below_le _ _ _ (terms_ok _ _ Dd _ _ _ Es)) as S0.
    pose proof (below_le _ _ _ (terms_ok _ _ Dd _ _ _ Em)) as M0.
    rewrite (qeq_eval _ _ H3), qeval_mul in S0; apply qeval_sign in M0 as M1.
    specialize (C d Near); apply Rabs_def2 in C.
    destruct (Rle_lt_or_eq_dec _ _ M1) as [P|P]; [exfalso|easy].
    apply qeval_pos in P.
    assert (F : qeval f d < 0).
    { destruct (Rlt_or_le (qeval f d) 0) as [L|L]; [easy|]; apply qeval_sign in L; lra. }
    assert (0 < qeval m d * - qeval f d) by (apply Rmult_lt_0_compat; lra); lra. }
  (* So m is zero on a box with an inside. *)
  set (lows := fun k => if free (num m) k then 0 else part_low (at_axis b k) (e k) delta).
  set (highs := fun k => if free (num m) k then 1 else part_high (at_axis b k) (e k) delta).
  assert (P : forall k, lows k < highs k /\ (free (num m) k = false -> forall y, lows k < y < highs k ->
    Rabs (y - e k) < delta /\ forall i, at_axis b k = Some i -> inside i y)).
  { intro k; unfold lows, highs; destruct (free (num m) k) eqn:F; [split; [lra|discriminate]|].
    destruct (part_of (at_axis b k) (e k) delta D) as [L I]; [|split; [exact L|intros _; exact I]].
    intros i E; split; [now apply B|]; eapply wide_ok; eauto. }
  assert (is_zero (num m) = true); [|rewrite H in H1; discriminate].
  apply (zero_on_box _ _ lows highs (le_n _)); [apply P|].
  intros d I; rewrite (free_agree _ d (fun k => if free (num m) k then e k else d k)).
  - apply Z.
    + intro k; destruct (free (num m) k) eqn:F.
      * unfold Rminus; now rewrite Rplus_opp_r, Rabs_R0.
      * apply (proj2 (P k) F), I.
    + intros k i E; destruct (free (num m) k) eqn:F; [now apply B|].
      apply (proj2 (P k) F (d k)); auto.
  - intros k F; now rewrite F.
Qed.

Lemma check_squares_sound : forall rec, honest rec -> forall g ts mult,
  check_squares rec g ts mult = true -> holds g.
Proof.
  intros rec R g ts [ms|] H e D; unfold check_squares in H.
  - destruct (match terms g ts with Some _ => _ | None => _ end) eqn:E; [clear H|].
    + destruct (terms g ts) as [[s s']|] eqn:Es; [|discriminate].
      destruct (terms g ms) as [[m [|]]|] eqn:Em; try discriminate.
      pose proof (below_le _ _ _ (terms_ok _ _ D _ _ _ Es)) as S0.
      pose proof (terms_ok _ _ D _ _ _ Em) as M0; simpl in M0.
      rewrite (qeq_eval _ _ E), qeval_mul in S0.
      destruct (Rle_or_lt 0 (qeval (gpoly g) e)) as [K|K]; [easy|exfalso].
      assert (0 < qeval m e * - qeval (gpoly g) e) by (apply Rmult_lt_0_compat; lra); lra.
    + clear E; destruct (dense (gbox g) (gpoly g) ts ms) eqn:E.
      * eapply dense_sound; eauto; apply D.
      * eapply dense_sound; eauto; intros k i F; unfold at_axis in F; now destruct k.
  - destruct (terms g ts) as [[s s']|] eqn:Es; [|discriminate].
    rewrite <- (qeq_eval _ _ H); eapply below_le, terms_ok; eauto.
Qed.

(** ** A constraint that says that a sum of squares is at most zero: each square is zero. *)

Fixpoint sum_of_squares (l : list (Q * qpoly)) : qpoly :=
  match l with [] => qconst 0 | (c, h) :: l => qadd (qscale c (qmul h h)) (sum_of_squares l) end.

Fixpoint with_zeros (g : goal) (l : list (Q * qpoly)) : goal :=
  match l with
  | [] => g
  | (_, h) :: l => with_zeros (with_cond (with_cond g (Some (h, false))) (Some (qopp h, false))) l
  end.

Definition check_vanish (rec : checker) (g : goal) (i : nat) (l : list (Q * qpoly)) (c : cert) : bool :=
  match get_cond g i with
  | Some (p, _) =>
      forallb (fun x => qlt 0 (fst x)) l && qeq (qopp p) (sum_of_squares l) && rec (with_zeros g l) c
  | None => false
  end.

Lemma sum_of_squares_ok : forall e l, forallb (fun x => qlt 0 (fst x)) l = true ->
  0 <= qeval (sum_of_squares l) e /\
  (qeval (sum_of_squares l) e <= 0 -> Forall (fun x => qeval (snd x) e = 0) l).
Proof.
  intros e; induction l as [|[c h] l IH]; intro H; simpl in *.
  - rewrite qeval_const, Q2R_0; split; [lra|constructor].
  - apply andb_prop in H as [H1 H2]; apply qlt_R in H1; rewrite Q2R_0 in H1; destruct (IH H2) as [A B].
    rewrite qeval_add, qeval_scale, qeval_mul.
    pose proof (Rle_0_sqr (qeval h e)) as P; unfold Rsqr in P.
    assert (0 <= Q2R c * (qeval h e * qeval h e)) by (apply Rmult_le_pos; lra).
    split; [lra|]; intro K; constructor; [|apply B; lra].
    assert (Z : Q2R c * (qeval h e * qeval h e) = 0) by lra.
    apply Rmult_integral in Z; destruct Z as [Z|Z]; [lra|]; now apply Rsqr_0_uniq.
Qed.

Lemma with_zeros_dom : forall l g e, dom g e -> Forall (fun x => qeval (snd x) e = 0) l ->
  dom (with_zeros g l) e /\ gpoly (with_zeros g l) = gpoly g.
Proof.
  induction l as [|[c h] l IH]; intros g e D F; simpl; [easy|].
  apply Forall_cons_iff in F as [F1 F2]; cbn [snd] in F1.
  apply (IH (with_cond (with_cond g (Some (h, false))) (Some (qopp h, false)))); auto.
  apply dom_with_cond; [apply dom_with_cond; [easy|]|]; cbn [cond_holds below]; rewrite ?qeval_opp; lra.
Qed.

Lemma check_vanish_sound : forall rec, honest rec -> forall g i l c,
  check_vanish rec g i l c = true -> holds g.
Proof.
  intros rec R g i l c H e D; unfold check_vanish in H.
  destruct (get_cond g i) as [[p s]|] eqn:E; [|discriminate].
  apply andb_prop in H as [H H3]; apply andb_prop in H as [H1 H2]; apply R in H3.
  pose proof (below_le _ _ _ (get_cond_ok _ _ _ _ _ E D)) as C.
  destruct (sum_of_squares_ok e l H1) as [_ B].
  destruct (with_zeros_dom l g e D) as [Dz G].
  { apply B; rewrite <- (qeq_eval _ _ H2), qeval_opp; lra. }
  specialize (H3 e Dz); now rewrite G in H3.
Qed.
