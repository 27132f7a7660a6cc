(** Every length: a cone of bounded ratios, or one that is spanned by given rays, which no step leaves. *)

From Coq Require Import Reals ZArith List Lra Lia Bool Arith.
From Paramverify Require Import Privacy Hmm Coverings Poly Goal ConeModels.
Import ListNotations.
Local Open Scope R_scope.

(** * Sets of states, as lists with [true] for each state in it *)

Definition agree (r : list bool) (x y : vector) : Prop := forall i, nth i r false = true -> nth i x 0 = nth i y 0.

Lemma agree_cons b r x xs y ys : agree (b :: r) (x :: xs) (y :: ys) -> (b = true -> x = y) /\ agree r xs ys.
Proof. intros H. split; [apply (H 0%nat) | intros i; apply (H (S i))]. Qed.

(** Nothing but 0 is at states outside of a set. *)
Fixpoint supported (row : list poly) (r : list bool) : bool :=
  match row, r with
  | [], [] => true
  | p :: row, b :: r => (b || nothing p) && supported row r
  | _, _ => false
  end.

Lemma supported_length row r : supported row r = true -> length r = length row.
Proof.
  revert r. induction row as [|p row IH]; intros [|b r] H; simpl in *; try discriminate; [reflexivity|].
  apply andb_true_iff in H. rewrite (IH r) by apply H. reflexivity.
Qed.

Lemma supported_right e row r x y : supported row r = true -> length x = length row -> length y = length row ->
  agree r x y -> dot (numbers e row) x = dot (numbers e row) y.
Proof.
  revert r x y. induction row as [|p row IH]; intros [|b r] [|x xs] [|y ys] H Hx Hy A; simpl in *; try discriminate;
    try reflexivity.
  apply andb_true_iff in H. destruct H as [Hb H]. apply agree_cons in A. destruct A as [A0 A].
  fold (numbers e row). rewrite (IH r xs ys H) by (try assumption; lia).
  apply orb_true_iff in Hb. destruct Hb as [Hb|Hb]; [rewrite A0 by exact Hb; reflexivity|].
  rewrite (nothing_right p e Hb). lra.
Qed.

(** Steps from states in one set lead to states in the other one. *)
Fixpoint leads (rows : list (list poly)) (r to : list bool) : bool :=
  match rows, r with
  | [], [] => true
  | row :: rows, b :: r => (negb b || supported row to) && leads rows r to
  | _, _ => false
  end.

Lemma leads_right e n rows r to x y : leads rows r to = true -> length to = n -> length x = n -> length y = n ->
  agree to x y -> agree r (apply (map (numbers e) rows) x) (apply (map (numbers e) rows) y).
Proof.
  intros H Lt Lx Ly A. revert r H. induction rows as [|row rows IH]; intros [|b r] H; simpl in *; try discriminate.
  - intros i. destruct i; discriminate.
  - apply andb_true_iff in H. destruct H as [Hb H]. intros [|i] Hi; simpl in *.
    + subst b. simpl in Hb. pose proof (supported_length _ _ Hb) as L.
      apply (supported_right e row to); try assumption; congruence.
    + apply (IH r H i Hi).
Qed.

Fixpoint subset (r to : list bool) : bool :=
  match r, to with
  | [], [] => true
  | a :: r, b :: to => (negb a || b) && subset r to
  | _, _ => false
  end.

Lemma subset_agree r to x y : subset r to = true -> agree to x y -> agree r x y.
Proof.
  intros H A i Hi. apply A. clear A. revert to H i Hi.
  induction r as [|a r IH]; intros [|b to] H [|i] Hi; simpl in *; try discriminate.
  - apply andb_true_iff in H. destruct H as [H _]. subst a. exact H.
  - apply andb_true_iff in H. destruct H as [_ H]. apply (IH to H i Hi).
Qed.

Fixpoint path (m : model) (r : list bool) (more : list (list bool)) : bool :=
  match more with
  | [] => true
  | to :: more => Nat.eqb (length to) (size m) && forallb (fun t => leads t r to) (steps m) && path m to more
  end.

Fixpoint ending (r : list bool) (more : list (list bool)) : list bool :=
  match more with [] => r | to :: more => ending to more end.

Lemma path_right m e more r word x y : shaped m = true -> path m r more = true -> length word = length more ->
  in_range m word -> length x = size m -> length y = size m -> agree (ending r more) x y ->
  agree r (apply_word (table m e) word x) (apply_word (table m e) word y).
Proof.
  intros Hm. revert r word. induction more as [|to more IH]; intros r [|o word] H Hl Hw Lx Ly A; simpl in *;
    try discriminate; [exact A|].
  rewrite !andb_true_iff in H. destruct H as [[Ht H1] H2]. apply Nat.eqb_eq in Ht. inversion Hw as [|? ? Ho Hw']; subst.
  destruct (table_at m e o Ho) as [t [Hin Et]]. rewrite forallb_forall in H1. specialize (H1 t Hin).
  fold (apply_word (table m e) word x). fold (apply_word (table m e) word y). rewrite Et.
  apply (leads_right e (size m) t r to); try assumption.
  - apply (apply_word_length _ (size m)); [apply shaped_table; exact Hm | exact Lx].
  - apply (apply_word_length _ (size m)); [apply shaped_table; exact Hm | exact Ly].
  - apply IH; try assumption. lia.
Qed.

(** Zero outside of a set. *)
Definition masked (r : list bool) (v : vector) : vector :=
  map (fun pair : bool * R => if fst pair then snd pair else 0) (combine r v).

Lemma masked_length r v n : length r = n -> length v = n -> length (masked r v) = n.
Proof. intros Hr Hv. unfold masked. rewrite map_length, combine_length. lia. Qed.

Lemma masked_agree r v : length v = length r -> agree r v (masked r v).
Proof.
  intros H i. revert v H i. induction r as [|b r IH]; intros [|x v] H [|i] Hi; simpl in *; try discriminate.
  - subst b. reflexivity.
  - apply IH; [lia | exact Hi].
Qed.

Lemma masked_outside r v i : nth i r false = false -> nth i (masked r v) 0 = 0.
Proof.
  revert v i. induction r as [|b r IH]; intros [|x v] [|i] H; simpl in *; try reflexivity.
  - subst b. reflexivity.
  - apply IH. exact H.
Qed.

Definition unit (n i : nat) : whole_vector := repeat 0%Z i ++ 1%Z :: repeat 0%Z (n - S i).

Definition outside (n : nat) (r : list bool) : list whole_vector :=
  map (unit n) (filter (fun i => negb (nth i r false)) (seq 0 n)).

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
         && path m r more && subset (ending r more) (kept c)
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
  apply Nat.eqb_eq in Hk. apply Nat.eqb_eq in Hr0.
  rewrite forallb_forall in Hleads, Hnormals, Hrays, Hsteps, Hpriors, Hshort, Hlong.
  pose proof (shaped_table m e Hm) as Ht.
  assert (Lrays : Forall (fun r => length r = n) (cone_rays c)).
  { apply Forall_forall. intros r Hr. specialize (Hrays r Hr). apply andb_true_iff in Hrays. apply Nat.eqb_eq. apply Hrays. }
  assert (Lreals : Forall (fun r => length r = n) (map reals (cone_rays c))).
  { apply Forall_forall. intros r Hr. apply in_map_iff in Hr. destruct Hr as [z [<- Hz]]. unfold reals.
    rewrite map_length. rewrite Forall_forall in Lrays. apply Lrays. exact Hz. }
  assert (Lword : forall word, length (apply_word (table m e) word (ones n)) = n).
  { intros word. apply (apply_word_length _ n); [exact Ht | apply repeat_length]. }
  assert (Hspan : forall x, length x = n -> (forall a, In a (cone_normals c) -> 0 <= dot (reals a) x) ->
            spanned n (map reals (cone_rays c)) (masked (kept c) x)).
  { intros x Lx Hx. assert (Lm : length (masked (kept c) x) = n) by (apply masked_length; assumption).
    apply (covering_right n (cone_rays c) (cone_cover c) Lrays (cone_normals c) (outside n (kept c))); try assumption.
    - intros a Ha. specialize (Hnormals a Ha). apply andb_true_iff in Hnormals. destruct Hnormals as [Hs _].
      pose proof (supported_length _ _ Hs) as La. rewrite <- (numbers_as_polys e).
      rewrite (supported_right e (as_polys a) (kept c) (masked (kept c) x) x Hs) by
        (try (intros i Hi; symmetry; apply masked_agree; [congruence | exact Hi]); congruence).
      rewrite numbers_as_polys. apply Hx. exact Ha.
    - intros a Ha. unfold outside in Ha. apply in_map_iff in Ha. destruct Ha as [i [<- Hi]].
      apply filter_In in Hi. destruct Hi as [_ Hi]. unfold unit. rewrite dot_unit, masked_outside; [lra|].
      destruct (nth i (kept c) false); [discriminate Hi | reflexivity]. }
  assert (Hinv : forall word, in_range m word -> forall a, In a (cone_normals c) ->
            0 <= dot (reals a) (apply_word (table m e) word (ones n))).
  { induction word as [|o word IH]; intros Hw a Ha.
    - simpl. specialize (Hnormals a Ha). apply andb_true_iff in Hnormals. destruct Hnormals as [_ H1].
      apply Z.leb_le, IZR_le in H1. rewrite <- whole_dot_right, reals_ones in H1. exact H1.
    - inversion Hw as [|? ? Ho Hw']; subst. specialize (IH Hw').
      set (x := apply_word (table m e) word (ones n)) in *.
      change (apply_word (table m e) (o :: word) (ones n)) with (apply (table m e o) x).
      destruct (table_at m e o Ho) as [t [Hin Et]].
      assert (A : agree (kept c) (apply (table m e o) x) (apply (table m e o) (masked (kept c) x))).
      { rewrite Et. apply (leads_right e n t (kept c) (kept c)); try assumption.
        - apply Hleads. exact Hin.
        - apply Lword.
        - apply masked_length; [exact Hk | apply Lword].
        - apply masked_agree. rewrite Hk. apply Lword. }
      pose proof (Hnormals a Ha) as Hn. apply andb_true_iff in Hn. destruct Hn as [Hs _].
      pose proof (supported_length _ _ Hs) as La. rewrite <- (numbers_as_polys e).
      rewrite (supported_right e (as_polys a) (kept c) _ (apply (table m e o) (masked (kept c) x)) Hs) by
        (try exact A; unfold apply; rewrite map_length, Ht; congruence).
      apply (spanned_apply_dot n (map reals (cone_rays c))); [exact Lreals | | apply Hspan; [apply Lword | exact IH]].
      intros r Hr. apply in_map_iff in Hr. destruct Hr as [z [<- Hz]].
      specialize (Hsteps t Hin). rewrite forallb_forall in Hsteps. specialize (Hsteps z Hz). unfold check_step in Hsteps.
      rewrite forallb_forall in Hsteps. specialize (Hsteps a Ha). apply orb_true_iff in Hsteps.
      destruct Hsteps as [H1|H1].
      + rewrite numbers_as_polys. apply dot_nonnegative; [apply all_nonnegative_right; exact H1|].
        apply apply_nonnegative; [exact is_possible | exact Ho|]. apply all_nonnegative_right.
        specialize (Hrays z Hz). apply andb_true_iff in Hrays. apply Hrays.
      + apply shown_right in H1. rewrite eval_pdot, numbers_papply, numbers_as_polys in H1.
        rewrite Et. rewrite numbers_as_polys in H1 |- *. exact H1. }
  intros l r Hin word Hw Hne. destruct (shaped_priors m Hm l r Hin) as [Ll Lr].
  pose proof (numbers_as_polys e (repeat 1%Z n)) as Hone. rewrite reals_ones in Hone.
  destruct (Nat.lt_ge_cases (length word) (length more)) as [Hlt|Hge].
  - assert (Hlen : In (length word) (seq 1 (length more - 1))).
    { apply in_seq. destruct word; [congruence|]. simpl in *. lia. }
    destruct (in_level _ _ word (Hshort _ Hlen) Hw eq_refl l r Hin) as [H1 H2]. rewrite Hone in H1, H2.
    split; apply margin_within; assumption.
  - set (w := firstn (length more) word). set (u := skipn (length more) word).
    assert (Hboth : in_range m w /\ in_range m u).
    { apply Forall_app. unfold w, u. rewrite firstn_skipn. exact Hw. }
    destruct Hboth as [Hw1 Hw2]. assert (Lw : length w = length more) by (apply firstn_length_le; exact Hge).
    assert (Hsplit : apply_word (table m e) word (ones n)
              = apply_word (table m e) w (apply_word (table m e) u (ones n))).
    { rewrite <- apply_word_app. unfold w, u. rewrite firstn_skipn. reflexivity. }
    set (x := apply_word (table m e) u (ones n)) in *.
    assert (Lx : length x = n) by apply Lword.
    assert (Lm : length (masked (kept c) x) = n) by (apply masked_length; assumption).
    assert (A : agree r0 (apply_word (table m e) w x) (apply_word (table m e) w (masked (kept c) x))).
    { apply (path_right m e more); try assumption. apply (subset_agree _ (kept c)); [exact Hsubset|].
      apply masked_agree. congruence. }
    assert (Lwx : length (apply_word (table m e) w x) = n) by (apply (apply_word_length _ n); assumption).
    assert (Lwm : length (apply_word (table m e) w (masked (kept c) x)) = n) by (apply (apply_word_length _ n); assumption).
    specialize (Hpriors _ Hin). simpl in Hpriors. apply andb_true_iff in Hpriors. destruct Hpriors as [Sl Sr].
    assert (El : dot (numbers e (first l)) (apply_word (table m e) w x)
                 = dot (numbers e (first l)) (apply_word (table m e) w (masked (kept c) x))).
    { apply (supported_right e _ r0); try assumption; congruence. }
    assert (Er : dot (numbers e (first r)) (apply_word (table m e) w x)
                 = dot (numbers e (first r)) (apply_word (table m e) w (masked (kept c) x))).
    { apply (supported_right e _ r0); try assumption; congruence. }
    assert (Hsp : spanned n (map reals (cone_rays c)) (masked (kept c) x)) by (apply Hspan; [exact Lx | apply Hinv; exact Hw2]).
    assert (Hray : forall z, In z (map reals (cone_rays c)) ->
              0 <= margin m e l r (apply_word (table m e) w z) /\ 0 <= margin m e r l (apply_word (table m e) w z)).
    { intros z Hz. apply in_map_iff in Hz. destruct Hz as [ray [<- Hz]].
      destruct (in_level _ _ w (Hlong ray Hz) Hw1 Lw l r Hin) as [H1 H2]. rewrite numbers_as_polys in H1, H2.
      split; assumption. }
    split; apply margin_within; rewrite Hsplit; unfold margin; rewrite El, Er.
    + change (0 <= margin m e l r (apply_word (table m e) w (masked (kept c) x))). rewrite <- dot_excess by assumption.
      apply (spanned_apply_word_dot n (map reals (cone_rays c))); [exact Ht | exact Lreals | | exact Hsp].
      intros z Hz. rewrite dot_excess by assumption. apply Hray. exact Hz.
    + change (0 <= margin m e r l (apply_word (table m e) w (masked (kept c) x))). rewrite <- dot_excess by assumption.
      apply (spanned_apply_word_dot n (map reals (cone_rays c))); [exact Ht | exact Lreals | | exact Hsp].
      intros z Hz. rewrite dot_excess by assumption. apply Hray. exact Hz.
Qed.

End Check.
