(** Every length: a cone of bounded ratios, or one that is spanned by given rays, which no step leaves. *)

From Coq Require Import Reals ZArith List Lra Lia Bool Arith.
From Paramverify Require Import Privacy Hmm Coverings Poly Goal ConeModels Masks.
Import ListNotations.
Local Open Scope R_scope.

Notation supported := (Masks.supported poly nothing).
Notation leads := (Masks.leads poly nothing).

(** * Vectors that are at least zero *)

Lemma dot_nonnegative a v : Forall (Rle 0) a -> Forall (Rle 0) v -> 0 <= dot a v.
Proof.
  intros Ha. revert v. induction Ha as [|x a Hx Ha IH]; intros v Hv; simpl; [lra|].
  destruct Hv as [|y v Hy Hv]; [lra|]. specialize (IH v Hv). assert (0 <= x * y) by (apply Rmult_le_pos; assumption). lra.
Qed.

Definition all_nonnegative (v : list Z) : bool := forallb (fun z => 0 <=? z)%Z v.

Lemma all_nonnegative_right v : all_nonnegative v = true -> Forall (Rle 0) (reals v).
Proof.
  unfold all_nonnegative. rewrite forallb_forall. intros H. apply Forall_forall. intros x Hx.
  apply in_map_iff in Hx. destruct Hx as [z [<- Hz]]. apply (IZR_le 0). apply Z.leb_le. apply H. exact Hz.
Qed.

Lemma apply_nonnegative m e o v : possible m e -> (o < length (steps m))%nat -> Forall (Rle 0) v ->
  Forall (Rle 0) (apply (table m e o) v).
Proof.
  intros [P _] Ho Hv. destruct (table_at m e o Ho) as [t [Hin ->]]. apply Forall_forall. intros x Hx.
  unfold apply in Hx. rewrite map_map in Hx. apply in_map_iff in Hx. destruct Hx as [row [<- Hrow]].
  apply dot_nonnegative; [|exact Hv]. apply Forall_forall. intros y Hy. apply in_map_iff in Hy.
  destruct Hy as [p [<- Hp]]. apply (P t row p); assumption.
Qed.

(** * A cone of bounded ratios *)

Record ratio_cone := {
  kept : list bool;               (* the states in which the cone lives *)
  cone_normals : list whole_vector;
  cone_rays : list whole_vector;
  cone_cover : covering;
  tail : list (list bool)         (* where one can be after 0, 1, 2, ... steps *)
}.

Section Check.
Variable shown : poly -> bool.
Variable m : model.
Notation n := (size m).

Definition check_step (c : ratio_cone) (t : list (list poly)) (r : whole_vector) : bool :=
  let v := papply t (as_polys r) in
  forallb (fun a => all_nonnegative a || shown (pdot (as_polys a) v)) (cone_normals c).

Definition check_ratios (c : ratio_cone) : bool :=
  shaped m
  && Nat.eqb (length (kept c)) n
  && forallb (fun t => leads t (kept c) (kept c)) (steps m)
  && forallb (fun a => supported (as_polys a) (kept c) && (0 <=? whole_dot a (repeat 1%Z n))%Z) (cone_normals c)
  && forallb (fun r => Nat.eqb (length r) n && all_nonnegative r) (cone_rays c)
  && covered n (cone_rays c) (cone_cover c) (cone_normals c) (outside n (kept c))
  && forallb (fun t => forallb (check_step c t) (cone_rays c)) (steps m)
  && match tail c with
     | r :: (_ :: _) as more =>
         Nat.eqb (length r) n
         && forallb (fun lr => supported (first (fst lr)) r && supported (first (snd lr)) r) (secrets m)
         && path poly nothing n (steps m) r more && subset (ending r more) (kept c)
         && forallb (fun k => forallb (in_bounds shown m) (plevel (steps m) (as_polys (repeat 1%Z n)) k))
              (seq 1 (length more - 1))
         && forallb (fun ray => forallb (in_bounds shown m) (plevel (steps m) (as_polys ray) (length more))) (cone_rays c)
     | _ => false
     end.

Variable e : env.
Hypothesis shown_right : forall f, shown f = true -> 0 <= eval f e.
Hypothesis is_possible : possible m e.

Lemma in_level v k word : forallb (in_bounds shown m) (plevel (steps m) v k) = true -> in_range m word -> length word = k ->
  forall l r, In (l, r) (secrets m) ->
  0 <= margin m e l r (apply_word (table m e) word (numbers e v))
  /\ 0 <= margin m e r l (apply_word (table m e) word (numbers e v)).
Proof.
  intros H Hw <- l r Hin. destruct (plevel_right m e v word Hw) as [u [Hu Eu]]. rewrite forallb_forall in H.
  rewrite <- Eu. apply (in_bounds_right shown); [exact shown_right | apply H; exact Hu | exact Hin].
Qed.

Theorem check_ratios_sound c : check_ratios c = true -> all_within m e (fun word => word <> []).
Proof.
  unfold check_ratios. destruct (tail c) as [|r0 [|r1 more']]; rewrite ?andb_false_r; try discriminate.
  set (more := r1 :: more') in *. rewrite !andb_true_iff.
  intros [[[[[[[Hm Hk] Hleads] Hnormals] Hrays] Hcover] Hsteps] [[[[[Hr0 Hpriors] Hpath] Hsubset] Hshort] Hlong]].
  apply Nat.eqb_eq in Hk. rewrite forallb_forall in Hleads, Hnormals, Hrays, Hsteps, Hpriors, Hshort, Hlong.
  pose proof (shaped_table m e Hm) as Ht.
  pose proof (fun p H => nothing_right p e H) as Hzero.
  assert (Lrays : Forall (fun r => length r = n) (cone_rays c)).
  { apply Forall_forall. intros r Hr. specialize (Hrays r Hr). apply andb_true_iff in Hrays. apply Nat.eqb_eq. apply Hrays. }
  assert (Lreals : Forall (fun r => length r = n) (map reals (cone_rays c))).
  { apply Forall_forall. intros r Hr. apply in_map_iff in Hr. destruct Hr as [z [<- Hz]]. unfold reals.
    rewrite map_length. rewrite Forall_forall in Lrays. apply Lrays. exact Hz. }
  assert (Htell : forall a, In a (cone_normals c) -> tells n (kept c) (dot (reals a))).
  { intros a Ha x y Lx Ly A. specialize (Hnormals a Ha). apply andb_true_iff in Hnormals. destruct Hnormals as [Hs _].
    pose proof (supported_length _ _ Hs) as La. rewrite <- (numbers_as_polys e).
    apply (supported_right poly nothing (fun q => eval q e) Hzero _ (kept c)); try assumption; congruence. }
  intros l r Hin word Hw Hne. destruct (shaped_priors m Hm l r Hin) as [Ll Lr].
  pose proof (numbers_as_polys e (repeat 1%Z n)) as Hone. rewrite reals_ones in Hone.
  specialize (Hpriors _ Hin). simpl in Hpriors. apply andb_true_iff in Hpriors. destruct Hpriors as [Sl Sr].
  assert (Hboth : forall x y, length (first x) = n -> length (first y) = n -> supported (first x) r0 = true ->
            supported (first y) r0 = true ->
            (forall v, (0 <= margin m e l r v /\ 0 <= margin m e r l v) -> 0 <= margin m e x y v) -> within m e x y word).
  { intros x y Lx Ly Sx Sy Hsides. apply margin_within. rewrite <- dot_excess by assumption.
    apply (masked_cone n (length (steps m)) (table m e) Ht (map reals (cone_rays c)) Lreals (kept c) Hk
      (map reals (cone_normals c)) (length more)); try assumption.
    - intros v Lv Hv Hn. apply (covering_right n (cone_rays c) (cone_cover c) Lrays (cone_normals c) (outside n (kept c)));
        try assumption; [intros a Ha; apply Hn; apply in_map; exact Ha | apply outside_zero; exact Hv].
    - intros a Ha. apply in_map_iff in Ha. destruct Ha as [z [<- Ha]]. apply Htell. exact Ha.
    - intros o a Ho Ha u v Lu Lv A. apply in_map_iff in Ha. destruct Ha as [z [<- Ha]].
      apply (Htell z Ha); try (unfold apply; rewrite map_length; apply Ht).
      destruct (table_at m e o Ho) as [t [Hi ->]]. change (map (numbers e) t) with (map (map (fun q => eval q e)) t).
      apply (leads_right poly nothing (fun q => eval q e) Hzero n t (kept c) (kept c)); try assumption. apply Hleads. exact Hi.
    - intros w Hw1 Lw u v Lu Lv A. rewrite !dot_excess by assumption.
      assert (A' : agree r0 (apply_word (table m e) w u) (apply_word (table m e) w v)).
      { apply (path_right poly nothing (fun q => eval q e) Hzero n (length (steps m)) (table m e) (steps m) more); try assumption.
        - intros o Ho. apply table_at. exact Ho.
        - apply (subset_agree _ (kept c)); assumption. }
      assert (Lwu : length (apply_word (table m e) w u) = n) by (apply apply_word_length; assumption).
      assert (Lwv : length (apply_word (table m e) w v) = n) by (apply apply_word_length; assumption).
      assert (Esame : forall z, length (first z) = n -> supported (first z) r0 = true ->
                dot (numbers e (first z)) (apply_word (table m e) w u) = dot (numbers e (first z)) (apply_word (table m e) w v)).
      { intros z Lz Sz. apply (supported_right poly nothing (fun q => eval q e) Hzero (first z) r0); try assumption; congruence. }
      unfold margin. rewrite (Esame x Lx Sx), (Esame y Ly Sy).
      reflexivity.
    - intros a Ha. apply in_map_iff in Ha. destruct Ha as [z [<- Ha]]. specialize (Hnormals z Ha).
      apply andb_true_iff in Hnormals. destruct Hnormals as [_ H1]. apply Z.leb_le, IZR_le in H1.
      rewrite <- whole_dot_right, reals_ones in H1. exact H1.
    - intros o Ho v Hv a Ha. apply in_map_iff in Hv. destruct Hv as [z [<- Hz]]. apply in_map_iff in Ha. destruct Ha as [b [<- Ha]].
      destruct (table_at m e o Ho) as [t [Hi Et]]. specialize (Hsteps t Hi). rewrite forallb_forall in Hsteps.
      specialize (Hsteps z Hz). unfold check_step in Hsteps. rewrite forallb_forall in Hsteps. specialize (Hsteps b Ha).
      apply orb_true_iff in Hsteps. destruct Hsteps as [H1|H1].
      + apply dot_nonnegative; [apply all_nonnegative_right; exact H1|].
        apply apply_nonnegative; [exact is_possible | exact Ho|]. apply all_nonnegative_right.
        specialize (Hrays z Hz). apply andb_true_iff in Hrays. apply Hrays.
      + apply shown_right in H1. rewrite eval_pdot, numbers_papply, !numbers_as_polys, <- Et in H1. exact H1.
    - intros w Hw1 [Hlt1 Hlt2]. rewrite dot_excess by assumption.
      assert (Hlen : In (length w) (seq 1 (length more - 1))) by (apply in_seq; lia).
      apply Hsides. pose proof (in_level _ _ w (Hshort _ Hlen) Hw1 eq_refl l r Hin) as H1. rewrite Hone in H1. exact H1.
    - intros w Hw1 Lw v Hv. rewrite dot_excess by assumption. apply in_map_iff in Hv. destruct Hv as [z [<- Hz]].
      apply Hsides. pose proof (in_level _ _ w (Hlong z Hz) Hw1 Lw l r Hin) as H1. rewrite numbers_as_polys in H1. exact H1. }
  split; apply Hboth; try assumption; intros v H; apply H.
Qed.

End Check.
