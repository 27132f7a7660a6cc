(** Certificates that a cone of inequalities lies in the cone of some rays.

    From a point of the cone one goes against a ray until the first inequality becomes an equality; what is left
    lies in a face, which is dealt with in the same way. That a face is the point zero is shown by sums of the
    inequalities, and of the equalities of the face: each coordinate is at least zero, and at most zero. *)

From Coq Require Import Reals ZArith List Lra Lia Bool.
From Paramverify Require Import Expressions Sums Privacy Hmm.
Import ListNotations.
Local Open Scope R_scope.

Definition whole_vector := list Z.
Definition reals (v : whole_vector) : vector := map IZR v.

Fixpoint whole_dot (a b : whole_vector) : Z :=
  match a, b with
  | x :: a, y :: b => (x * y + whole_dot a b)%Z
  | _, _ => 0%Z
  end.

Lemma whole_dot_right a b : dot (reals a) (reals b) = IZR (whole_dot a b).
Proof.
  revert b. induction a as [|x a IH]; intros [|y b]; simpl; try reflexivity.
  rewrite IH, <- mult_IZR, <- plus_IZR. reflexivity.
Qed.

Fixpoint add_multiple (w : Z) (a b : whole_vector) : whole_vector :=
  match a, b with
  | x :: a, y :: b => (w * x + y)%Z :: add_multiple w a b
  | _, _ => []
  end.

Fixpoint combination (ws : list Z) (vs : list whole_vector) (zero : whole_vector) : whole_vector :=
  match ws, vs with
  | w :: ws, v :: vs => add_multiple w v (combination ws vs zero)
  | _, _ => zero
  end.

Inductive covering :=
| Point_zero (scale : Z) (at_least at_most : list (list Z * list Z))
| Along (ray : whole_vector) (faces : list covering).

Section Check.
Variable n : nat.
Variable rays : list whole_vector.

(** For each coordinate from i on: a sum of inequalities with weights that are at least zero, and of equalities,
    is d times that coordinate. *)
Fixpoint bounds_coordinates (d : Z) (rows : list (list Z * list Z)) (i : nat)
    (normals equalities : list whole_vector) : bool :=
  match rows with
  | [] => Nat.eqb i n
  | (ls, ms) :: rows =>
      forallb (fun w => 0 <=? w)%Z ls
      && same (add_multiple 1 (combination ls normals (repeat 0%Z n)) (combination ms equalities (repeat 0%Z n)))
              (repeat 0%Z i ++ d :: repeat 0%Z (n - S i))
      && bounds_coordinates d rows (S i) normals equalities
  end.

Fixpoint covered (c : covering) (normals equalities : list whole_vector) : bool :=
  match c with
  | Point_zero d at_least at_most =>
      (0 <? d)%Z && bounds_coordinates d at_least 0 normals equalities
      && bounds_coordinates (- d) at_most 0 normals equalities
      && forallb (fun e => Nat.eqb (length e) n) normals && forallb (fun e => Nat.eqb (length e) n) equalities
  | Along r faces =>
      existsb (same r) rays
      && forallb (fun m => 0 <=? whole_dot m r)%Z normals
      && forallb (fun e => whole_dot e r =? 0)%Z equalities
      && negb (match filter (fun m => 0 <? whole_dot m r)%Z normals with [] => true | _ => false end)
      && (fix go (ms : list whole_vector) (cs : list covering) {struct cs} : bool :=
            match cs, ms with
            | [], [] => true
            | c :: cs, m :: ms => covered c normals (m :: equalities) && go ms cs
            | _, _ => false
            end) (filter (fun m => 0 <? whole_dot m r)%Z normals) faces
  end.

Lemma dot_add_multiple w a b v : length a = length b ->
  dot (reals (add_multiple w a b)) v = IZR w * dot (reals a) v + dot (reals b) v.
Proof.
  revert b v. induction a as [|x a IH]; intros [|y b] [|z v] H; simpl in *; try discriminate; try lra.
  rewrite IH by lia. rewrite plus_IZR, mult_IZR. lra.
Qed.

Lemma length_add_multiple w a b k : length a = k -> length b = k -> length (add_multiple w a b) = k.
Proof.
  revert b k. induction a as [|x a IH]; intros [|y b] [|k] Ha Hb; simpl in *; try discriminate; try reflexivity.
  f_equal. apply IH; lia.
Qed.

Lemma dot_repeat_zero k v : dot (reals (repeat 0%Z k)) v = 0.
Proof. revert v. induction k as [|k IH]; intros [|x v]; simpl; try reflexivity. rewrite IH. lra. Qed.

Lemma dot_unit i d k v : dot (reals (repeat 0%Z i ++ d :: repeat 0%Z k)) v = IZR d * nth i v 0.
Proof.
  revert v. induction i as [|i IH]; intros [|x v]; simpl; try lra.
  - rewrite dot_repeat_zero. lra.
  - rewrite IH. lra.
Qed.

Lemma combination_right ws vs v :
  Forall (fun e => length e = n) vs -> (forall e, In e vs -> dot (reals e) v = 0) ->
  length (combination ws vs (repeat 0%Z n)) = n /\ dot (reals (combination ws vs (repeat 0%Z n))) v = 0.
Proof.
  revert ws. induction vs as [|e vs IH]; intros [|w ws] Hl H; simpl;
    try (split; [apply repeat_length | apply dot_repeat_zero]).
  pose proof (Forall_inv Hl) as He. pose proof (Forall_inv_tail Hl) as Hl'.
  destruct (IH ws Hl') as [H1 H2]; [intros f Hf; apply H; right; exact Hf|].
  split; [apply length_add_multiple; [exact He | exact H1]|].
  rewrite dot_add_multiple by congruence. rewrite H2, H by (left; reflexivity). lra.
Qed.

Lemma combination_nonneg ws vs v :
  Forall (fun e => length e = n) vs -> (forall e, In e vs -> 0 <= dot (reals e) v) ->
  forallb (fun w => 0 <=? w)%Z ws = true ->
  length (combination ws vs (repeat 0%Z n)) = n /\ 0 <= dot (reals (combination ws vs (repeat 0%Z n))) v.
Proof.
  revert ws. induction vs as [|e vs IH]; intros [|w ws] Hl H Hw; simpl;
    try (split; [apply repeat_length | rewrite dot_repeat_zero; lra]).
  pose proof (Forall_inv Hl) as He. pose proof (Forall_inv_tail Hl) as Hl'.
  simpl in Hw. apply andb_true_iff in Hw. destruct Hw as [Hw Hws]. apply Z.leb_le, IZR_le in Hw.
  destruct (IH ws Hl') as [H1 H2]; [intros f Hf; apply H; right; exact Hf | exact Hws|].
  split; [apply length_add_multiple; [exact He | exact H1]|].
  rewrite dot_add_multiple by congruence.
  assert (0 <= IZR w * dot (reals e) v) by (apply Rmult_le_pos; [exact Hw | apply H; left; reflexivity]). lra.
Qed.

Lemma bounds_coordinates_right d rows i normals equalities v :
  bounds_coordinates d rows i normals equalities = true ->
  Forall (fun e => length e = n) normals -> Forall (fun e => length e = n) equalities ->
  (forall m, In m normals -> 0 <= dot (reals m) v) -> (forall e, In e equalities -> dot (reals e) v = 0) ->
  forall j, (i <= j < n)%nat -> 0 <= IZR d * nth j v 0.
Proof.
  revert i. induction rows as [|[ls ms] rows IH]; simpl; intros i H Hln Hle Hn He j Hj.
  - apply Nat.eqb_eq in H. lia.
  - rewrite !andb_true_iff in H. destruct H as [[H0 H1] H2]. apply same_spec in H1.
    destruct (Nat.eq_dec i j) as [->|Hne]; [|apply (IH (S i)); try assumption; lia].
    destruct (combination_nonneg ls normals v Hln Hn H0) as [L1 C1].
    destruct (combination_right ms equalities v Hle He) as [L2 C2].
    rewrite <- (dot_unit j d (n - S j) v), <- H1, dot_add_multiple by congruence. lra.
Qed.

Lemma first_reached (r : whole_vector) (v : vector) (active : list whole_vector) :
  active <> [] -> (forall m, In m active -> 0 < dot (reals m) (reals r)) ->
  exists m, In m active /\ forall m', In m' active ->
    dot (reals m) v / dot (reals m) (reals r) <= dot (reals m') v / dot (reals m') (reals r).
Proof.
  induction active as [|m active IH]; [congruence|]. intros _ Hpos.
  destruct active as [|m' active].
  - exists m. split; [left; reflexivity|]. intros k [<-|[]]. lra.
  - destruct IH as [k [Hk Hmin]]; [discriminate | intros k Hk; apply Hpos; right; exact Hk |].
    destruct (Rle_or_lt (dot (reals m) v / dot (reals m) (reals r)) (dot (reals k) v / dot (reals k) (reals r))) as [L|L].
    + exists m. split; [left; reflexivity|]. intros l [<-|Hl]; [lra|]. specialize (Hmin l Hl). lra.
    + exists k. split; [right; exact Hk|]. intros l [<-|Hl]; [lra | apply Hmin; exact Hl].
Qed.

Definition right_covering (c : covering) : Prop := forall normals equalities,
  covered c normals equalities = true ->
  forall v, length v = n -> (forall m, In m normals -> 0 <= dot (reals m) v) ->
  (forall e, In e equalities -> dot (reals e) v = 0) -> spanned n (map reals rays) v.

Lemma plus_scaled_back t (r v : vector) : length r = length v ->
  plus_scaled t r (plus_scaled (- t) r v) = v.
Proof.
  revert v. induction r as [|x r IH]; intros [|y v] H; simpl in *; try discriminate; [reflexivity|].
  injection H as H. unfold plus_scaled in *; simpl. f_equal; [lra | apply IH; exact H].
Qed.

Lemma along_right r faces :
  Forall (fun r => length r = n) rays -> Forall right_covering faces -> right_covering (Along r faces).
Proof.
  intros Hrays Hfaces normals equalities H v Hv Hn He. simpl in H.
  rewrite !andb_true_iff in H. destruct H as [[[[Hr H1] H2] H3] H4].
  apply existsb_exists in Hr. destruct Hr as [r' [Hin Hr]]. apply same_spec in Hr. subst r'.
  rewrite forallb_forall in H1. rewrite forallb_forall in H2.
  set (active := filter (fun m => 0 <? whole_dot m r)%Z normals) in *.
  assert (Hact : forall m, In m active <-> In m normals /\ 0 < dot (reals m) (reals r)).
  { intros m. unfold active. rewrite filter_In, whole_dot_right. split; intros [A B]; (split; [exact A|]).
    - apply IZR_lt. apply Z.ltb_lt. exact B.
    - apply Z.ltb_lt. apply lt_IZR. exact B. }
  assert (Hne : active <> []) by (destruct active; [discriminate H3 | discriminate]).
  assert (Hlr : length (reals r) = length v).
  { unfold reals. rewrite map_length, Hv. rewrite Forall_forall in Hrays. apply Hrays. exact Hin. }
  destruct (first_reached r v active Hne) as [m [Hm Hmin]]; [intros k Hk; apply Hact; exact Hk|].
  set (t := dot (reals m) v / dot (reals m) (reals r)) in *.
  destruct (proj1 (Hact m) Hm) as [Hmn Hmr].
  assert (Ht : 0 <= t) by (apply Rmult_le_pos; [apply Hn; exact Hmn | left; apply Rinv_0_lt_compat; exact Hmr]).
  assert (Hface : exists c, In c faces /\ covered c normals (m :: equalities) = true).
  { clear -H4 Hm. revert faces H4. induction active as [|k active IH]; [destruct Hm|].
    intros [|c faces] H4; [discriminate|]. apply andb_true_iff in H4. destruct H4 as [A B].
    destruct Hm as [->|Hm]; [exists c; split; [left; reflexivity | exact A]|].
    destruct (IH Hm faces B) as [c' [C D]]. exists c'. split; [right; exact C | exact D]. }
  destruct Hface as [c [Hc Hcov]]. rewrite Forall_forall in Hfaces.
  rewrite <- (plus_scaled_back t (reals r) v) by exact Hlr.
  apply spanned_more; [apply in_map; exact Hin | exact Ht |].
  apply (Hfaces c Hc normals (m :: equalities) Hcov).
  - apply length_plus_scaled; [congruence | exact Hv].
  - intros k Hk. rewrite dot_plus_scaled by exact Hlr.
    specialize (H1 k Hk). apply Z.leb_le in H1. apply IZR_le in H1. rewrite <- whole_dot_right in H1.
    destruct (Rle_lt_or_eq_dec _ _ H1) as [L|L].
    + assert (Hk' : In k active) by (apply Hact; split; assumption). specialize (Hmin k Hk').
      apply (Rmult_le_compat_r (dot (reals k) (reals r))) in Hmin; [|lra].
      replace (dot (reals k) v / dot (reals k) (reals r) * dot (reals k) (reals r)) with (dot (reals k) v) in Hmin
        by (field; lra). lra.
    + rewrite <- L. specialize (Hn k Hk). lra.
  - intros e [<-|Hin']; rewrite dot_plus_scaled by exact Hlr.
    + unfold t. field. lra.
    + specialize (H2 e Hin'). apply Z.eqb_eq in H2. rewrite whole_dot_right, H2, He by exact Hin'. simpl. lra.
Qed.

Theorem covering_right (c : covering) : Forall (fun r => length r = n) rays -> right_covering c.
Proof.
  intros Hrays. revert c. fix IH 1. intros [d at_least at_most|r faces].
  - intros normals equalities H v Hv Hn He. simpl in H. rewrite !andb_true_iff in H.
    destruct H as [[[[H1 H2] H3] H4] H5]. apply Z.ltb_lt, IZR_lt in H1.
    assert (Hl : forall l, forallb (fun e : whole_vector => Nat.eqb (length e) n) l = true -> Forall (fun e => length e = n) l).
    { intros l Hl. rewrite forallb_forall in Hl. apply Forall_forall. intros e Hin. apply Nat.eqb_eq. apply Hl. exact Hin. }
    apply Hl in H4. apply Hl in H5.
    replace v with (zeros n); [apply spanned_zero|].
    apply (nth_ext _ _ 0 0); [unfold zeros; rewrite repeat_length; symmetry; exact Hv|].
    intros j Hj. unfold zeros in *. rewrite repeat_length in Hj. rewrite nth_repeat.
    assert (Hj' : (0 <= j < n)%nat) by lia.
    pose proof (bounds_coordinates_right _ _ _ _ _ v H2 H4 H5 Hn He j Hj') as B1.
    pose proof (bounds_coordinates_right _ _ _ _ _ v H3 H4 H5 Hn He j Hj') as B2. rewrite opp_IZR in B2.
    assert (IZR d * nth j v 0 = 0) as B3 by lra. apply Rmult_integral in B3. destruct B3; lra.
  - apply along_right; [exact Hrays|].
    exact ((fix go (l : list covering) : Forall right_covering l :=
      match l with [] => Forall_nil _ | c :: l => Forall_cons c (IH c) (go l) end) faces).
Qed.

End Check.
