(** The rule of cuts: a tree, with the form of the polynomial on the box at each node. *)

From Coq Require Import ZArith Reals List Lia Lra Bool QArith Qreals.
From Paramverify Require Import Poly Goal Certificate Rule Analysis Bernstein RuleCore.
Import ListNotations.
Local Open Scope R_scope.

(** The part of an interval on one side of a cut. *)
Definition lower_part (i : interval) (a : Q) : interval := Iv (lo i) a (lopen i) false.
Definition upper_part (i : interval) (a : Q) : interval := Iv a (hi i) false (hopen i).

(** The changes of u and v for the parts: the place of the cut is α·(first end) + β·(second end). *)
Definition cut_weights (m : mat) (a : Q) : Z * Z :=
  let r := Zpos (Qden a) in
  let s := Qnum a in
  let x := (r * md m - s * mb m)%Z in
  let y := (s * ma m - r * mc m)%Z in
  let d := Z.gcd x y in
  if Z.eqb d 0 then (x, y) else ((x / d)%Z, (y / d)%Z).

Definition lower_form (k : nat) (a : Q) (f : form) : form :=
  let (x, y) := cut_weights (mat_at (fmats f) k) a in step k [Scale y; Rev; Shear x; Rev] f.
Definition upper_form (k : nat) (a : Q) (f : form) : form :=
  let (x, y) := cut_weights (mat_at (fmats f) k) a in step k [Rev; Scale x; Rev; Shear y] f.

Lemma lower_form_shows : forall k a f p, shows f p -> shows (lower_form k a f) p.
Proof. intros k a f p H; unfold lower_form; destruct (cut_weights _ _); now apply step_shows. Qed.

Lemma upper_form_shows : forall k a f p, shows f p -> shows (upper_form k a f) p.
Proof. intros k a f p H; unfold upper_form; destruct (cut_weights _ _); now apply step_shows. Qed.

(** Another degree in one variable. *)
Fixpoint set_degree (ns : list nat) (k n : nat) : list nat :=
  match k, ns with
  | O, [] => [n]
  | O, _ :: l => n :: l
  | S k, [] => O :: set_degree [] k n
  | S k, a :: l => a :: set_degree l k n
  end.

(** Whether the interval of a variable has one point only. *)
Definition one_value (b : box) (k : nat) : bool :=
  match at_axis b k with Some i => qle (hi i) (lo i) | None => false end.

(** The polynomial, which mentions the variable, at an end, where its derivative has a sign on the whole box. *)
Definition slope_ok (g : goal) (k : nat) (upper : bool) (ns : list nat) : bool :=
  let d := qderiv (gpoly g) k in
  match nth k ns O with
  | O => false
  | S n => one_value (gbox g) k || nonneg_at (set_degree ns k n) (gbox g) (num (if upper then qopp d else d))
  end.

(** Outside of the points of the goal: a constraint is nowhere fulfilled. *)
Definition fails (g : goal) (i : nat) : bool :=
  match get_cond g i with
  | Some (p, strict) => if strict then nonneg_on (gbox g) (popp (num p)) else positive_on (gbox g) (popp (num p))
  | None => false
  end.

(** The goal on the face at an end, and its form. *)
Definition face (g : goal) (k : nat) (upper : bool) (i : interval) : goal :=
  at_end g k (if upper then hi i else lo i).
Definition face_form (g : goal) (k : nat) (ns : list nat) : form :=
  form_on (gbox g) (set_degree ns k O) (num (gpoly g)).

Fixpoint follow (rec : checker) (t : tree) (g : goal) (f : form) : bool :=
  match t with
  | TLeaf => leaf f (gbox g) (num (gpoly g))
  | TOutside i => fails g i
  | TProof c => rec g c
  | TLow k t =>
      match at_axis (gbox g) k with
      | Some i =>
          let h := face g k false i in
          slope_ok g k false (fdegrees f) && follow rec t h (face_form h k (fdegrees f))
      | None => false
      end
  | THigh k t =>
      match at_axis (gbox g) k with
      | Some i =>
          let h := face g k true i in
          slope_ok g k true (fdegrees f) && follow rec t h (face_form h k (fdegrees f))
      | None => false
      end
  | TCut k a l h =>
      match at_axis (gbox g) k with
      | Some i =>
          qlt (lo i) a && qlt a (hi i) &&
          follow rec l (with_interval g k (Some (lower_part i a))) (lower_form k a f) &&
          follow rec h (with_interval g k (Some (upper_part i a))) (upper_form k a f)
      | None => false
      end
  end.

Definition check_bernstein (rec : checker) (g : goal) (t : tree) : bool :=
  let p := num (gpoly g) in follow rec t g (form_on (gbox g) (degrees p) p).

Lemma slope_ok_sound : forall g k upper ns i e, at_axis (gbox g) k = Some i -> dom g e ->
  slope_ok g k upper ns = true ->
  qeval (gpoly g) (upd e k (Q2R (if upper then hi i else lo i))) <= qeval (gpoly g) e.
Proof.
  intros g k upper ns i e E D H; unfold slope_ok in H; destruct (nth k ns O) as [|n]; [discriminate|].
  apply orb_prop in H as [H|H].
  { unfold one_value in H; rewrite E in H; apply qle_R in H.
    assert (I : inside i (e k)) by (apply D; exact E); apply inside_le in I.
    assert (V : Q2R (if upper then hi i else lo i) = e k) by (destruct upper; lra).
    rewrite V, qeval_upd_self; lra. }
  apply monotone_at; [now apply D|]; intros y Y.
  apply nonneg_at_ok with (e := upd e k y) in H.
  - apply qeval_sign in H; destruct upper; [now rewrite qeval_opp in H|exact H].
  - apply in_box_upd; [apply D|]; intros j J; rewrite E in J; now inversion J; subst.
Qed.

Lemma face_sound : forall g k upper ns i, at_axis (gbox g) k = Some i ->
  slope_ok g k upper ns = true -> holds (face g k upper i) -> holds g.
Proof.
  intros g k upper ns i E H1 H2 e D; eapply Rle_trans; [|eapply slope_ok_sound; eauto].
  exact (at_end_ok _ _ _ _ D H2).
Qed.

Lemma fails_sound : forall g i e, fails g i = true -> dom g e -> False.
Proof.
  intros g i e H D; unfold fails in H; destruct (get_cond g i) as [[p s]|] eqn:E; [|discriminate].
  pose proof (get_cond_ok _ _ _ _ _ E D) as C; destruct s; simpl in C.
  - apply nonneg_on_ok with (e := e) in H; [|apply D]; rewrite eval_popp in H; apply qeval_pos in C; lra.
  - apply positive_on_ok with (e := e) in H; [|apply D]; rewrite eval_popp in H; apply qeval_sign in C; lra.
Qed.

Lemma follow_sound : forall rec, honest rec -> forall t g f, shows f (num (gpoly g)) ->
  follow rec t g f = true -> holds g.
Proof.
  intros rec R; induction t as [|i|c|k t IH|k t IH|k a l IHl h IHh]; intros g f S H; cbn [follow] in H.
  - intros e D; apply qeval_sign; eapply leaf_ok; eauto; apply D.
  - intros e D; now destruct (fails_sound _ _ _ H D).
  - exact (R _ _ H).
  - destruct (at_axis (gbox g) k) as [i|] eqn:E; [|discriminate].
    apply andb_prop in H as [H1 H2]; apply IH in H2; [|apply form_on_shows].
    exact (face_sound _ _ _ _ _ E H1 H2).
  - destruct (at_axis (gbox g) k) as [i|] eqn:E; [|discriminate].
    apply andb_prop in H as [H1 H2]; apply IH in H2; [|apply form_on_shows].
    exact (face_sound _ _ _ _ _ E H1 H2).
  - destruct (at_axis (gbox g) k) as [i|] eqn:E; [|discriminate].
    apply andb_prop in H as [H H4]; apply andb_prop in H as [H H3]; apply andb_prop in H as [H1 H2].
    apply IHl in H3; [|now apply lower_form_shows]; apply IHh in H4; [|now apply upper_form_shows].
    intros e D; destruct (Rle_or_lt (e k) (Q2R a)) as [K|K].
    + apply (H3 e), dom_with_interval; [easy|]; intros j J; inversion J; subst.
      split; [|exact K]; apply (proj1 D k i E).
    + apply (H4 e), dom_with_interval; [easy|]; intros j J; inversion J; subst.
      split; [now left|]; apply (proj1 D k i E).
Qed.

Lemma check_bernstein_sound : forall rec, honest rec -> forall g t,
  check_bernstein rec g t = true -> holds g.
Proof. intros rec R g t H; exact (follow_sound _ R _ _ _ (form_on_shows _ _ _) H). Qed.
