(** No bound at all: sequences with a part that is repeated, whose probabilities drift apart. *)

From Coq Require Import Reals ZArith List Lra Lia Bool Arith.
From Paramverify Require Import Privacy Hmm Coverings Poly Goal ConeModels Masks Cones ConeLevels.
Import ListNotations.
Local Open Scope R_scope.

(** Whatever the bound, a sequence of the left secret is more likely than that. *)
Definition unbounded (m : model) (e : env) (left right : prior) : Prop :=
  forall c : R, exists word, word <> [] /\ in_range m word /\
    c * (weight m e right word / eval (mass right) e) < weight m e left word / eval (mass left) e.

(** At least [rate_up]^k of the left secret stays at a state while a loop is repeated k times. All of the right one is where
    vectors of [bounds] shrink, or grow by [rate_down] at most. *)
Record loop := {
  which : nat;
  swapped : bool;
  before_loop : list nat;
  body : list nat;
  behind_loop : list nat;
  at_state : nat;
  bounded : list bool;
  bounds : whole_vector;
  times : Z;          (* by which bounds are multiplied *)
  rate_up : Z;
  rate_down : Z;
  rate_under : Z;     (* by which both are to be divided *)
  factor_top : Z;
  factor_bottom : Z
}.

Fixpoint repeated (word : list nat) (k : nat) : list nat :=
  match k with O => [] | S k => word ++ repeated word k end.

Definition looped (l : loop) (k : nat) : list nat := before_loop l ++ repeated (body l) k ++ behind_loop l.

Section Loops.
Variable m : model.
Notation n := (size m).

Definition whole_word (word : list nat) (v : whole_vector) : whole_vector :=
  fold_right (fun o u => whole_apply (whole_table (nth o (steps m) [])) u) v word.

Definition whole_prior (w : prior) : bool :=
  forallb (fun p => is_whole p && (0 <=? as_whole p)%Z) (first w) && is_whole (mass w) && (0 <? as_whole (mass w))%Z.

Definition wholes (w : prior) : whole_vector := map as_whole (first w).

Definition others (s : list bool) : whole_vector := map (fun b : bool => if b then 0%Z else 1%Z) s.

Fixpoint on_all (test : Z -> Z -> bool) (s : list bool) (x y : whole_vector) : bool :=
  match s, x, y with
  | [], [], [] => true
  | b :: s, a :: x, c :: y => (negb b || test a c) && on_all test s x y
  | _, _, _ => false
  end.

Definition check_ends (l : loop) (left right : prior) : bool :=
  let after := whole_word (behind_loop l) (repeat 1%Z n) in
  let there := unit n (at_state l) in
  let low := (whole_dot (wholes left) (whole_word (before_loop l) there) * nth (at_state l) after 0)%Z in
  let high := whole_dot (wholes right) (whole_word (before_loop l) (bounds l)) in
  whole_prior left && whole_prior right
  && Nat.ltb (at_state l) n && Nat.eqb (length (bounds l)) n && Nat.eqb (length (bounded l)) n
  && all_nonnegative (bounds l)
  && (rate_up l <=? rate_under l * nth (at_state l) (whole_word (body l) there) 0)%Z
  && on_all (fun a _ => a =? 0)%Z (bounded l) (whole_word (body l) (others (bounded l))) (bounds l)
  && (whole_dot (wholes right) (whole_word (before_loop l) (others (bounded l))) =? 0)%Z
  && on_all (fun a b => times l * a <=? b)%Z (bounded l) after (bounds l)
  && on_all (fun a b => rate_under l * a <=? rate_down l * b)%Z (bounded l) (whole_word (body l) (bounds l)) (bounds l)
  && (0 <? rate_under l)%Z && (0 <? rate_down l)%Z && (rate_down l <? rate_up l)%Z && (0 <? times l)%Z && (0 <? high)%Z
  && (0 <? factor_top l)%Z && (0 <? factor_bottom l)%Z
  && (factor_top l * (high * as_whole (mass left)) <=? factor_bottom l * (low * as_whole (mass right) * times l))%Z.

Definition check_loop (l : loop) : bool :=
  shaped m && whole_steps m
  && forallb (fun o => Nat.ltb o (length (steps m))) (before_loop l ++ body l ++ behind_loop l)
  && negb (match body l with [] => true | _ => false end)
  && match nth_error (secrets m) (which l) with
     | Some (a, b) => if swapped l then check_ends l b a else check_ends l a b
     | None => false
     end.

Variable e : env.
Hypothesis is_shaped : shaped m = true.
Hypothesis is_whole_steps : whole_steps m = true.

Definition pointwise (x y : vector) : Prop := forall i, nth i x 0 <= nth i y 0.

Lemma dot_pointwise a x y : Forall (Rle 0) a -> length x = length y -> pointwise x y -> dot a x <= dot a y.
Proof.
  intros Ha. revert x y. induction Ha as [|w a Hw Ha IH]; intros [|x xs] [|y ys] L H; simpl in *; try discriminate; try lra.
  assert (dot a xs <= dot a ys) by (apply IH; [lia | intros i; apply (H (S i))]).
  assert (w * x <= w * y) by (apply Rmult_le_compat_l; [exact Hw | apply (H 0%nat)]). lra.
Qed.

Lemma rows_nonnegative o : (o < length (steps m))%nat -> Forall (Forall (Rle 0)) (table m e o).
Proof.
  intros Ho. destruct (table_at m e o Ho) as [t [Hin ->]]. unfold whole_steps in is_whole_steps.
  rewrite forallb_forall in is_whole_steps. specialize (is_whole_steps t Hin). rewrite forallb_forall in is_whole_steps.
  apply Forall_forall. intros v Hv. apply in_map_iff in Hv. destruct Hv as [row [<- Hrow]].
  specialize (is_whole_steps row Hrow). rewrite (numbers_as_whole e row is_whole_steps).
  apply Forall_forall. intros x Hx. unfold reals in Hx. rewrite map_map in Hx. apply in_map_iff in Hx.
  destruct Hx as [p [<- Hp]]. rewrite forallb_forall in is_whole_steps. specialize (is_whole_steps p Hp).
  apply andb_true_iff in is_whole_steps. destruct is_whole_steps as [_ H]. apply (IZR_le 0). apply Z.leb_le. exact H.
Qed.

Lemma apply_pointwise o x y : (o < length (steps m))%nat -> length x = length y -> pointwise x y ->
  pointwise (apply (table m e o) x) (apply (table m e o) y).
Proof.
  intros Ho L H. pose proof (rows_nonnegative o Ho) as P. induction P as [|row t Hrow P IH]; intros i; simpl.
  - destruct i; lra.
  - destruct i as [|i]; [apply dot_pointwise; assumption | apply IH].
Qed.

Lemma word_length word v : length v = n -> length (apply_word (table m e) word v) = n.
Proof. apply apply_word_length. apply shaped_table. exact is_shaped. Qed.

Lemma word_pointwise word x y : in_range m word -> length x = n -> length y = n -> pointwise x y ->
  pointwise (apply_word (table m e) word x) (apply_word (table m e) word y).
Proof.
  intros Hw Lx Ly H. induction Hw as [|o word Ho Hw IH]; [exact H|]. simpl. apply apply_pointwise; [exact Ho | | exact IH].
  fold (apply_word (table m e) word x). fold (apply_word (table m e) word y). rewrite !word_length by assumption. reflexivity.
Qed.

Lemma dot_scaled a w v : dot a (scaled w v) = w * dot a v.
Proof.
  revert v. induction a as [|x a IH]; intros [|y v]; simpl; try lra. fold (scaled w v). rewrite IH. lra.
Qed.

Lemma word_scaled word w v : apply_word (table m e) word (scaled w v) = scaled w (apply_word (table m e) word v).
Proof.
  induction word as [|o word IH]; [reflexivity|]. simpl. fold (apply_word (table m e) word (scaled w v)).
  fold (apply_word (table m e) word v). rewrite IH. unfold apply, scaled at 2. rewrite map_map. apply map_ext.
  intros row. apply dot_scaled.
Qed.

Lemma whole_word_right word v : in_range m word ->
  apply_word (table m e) word (reals v) = reals (whole_word word v).
Proof.
  intros Hw. induction Hw as [|o word Ho Hw IH]; [reflexivity|]. simpl. fold (apply_word (table m e) word (reals v)).
  fold (whole_word word v). rewrite IH. unfold table.
  rewrite (nth_indep (steps m) (repeat [] n) []) by exact Ho. apply (whole_apply_right m); [exact is_whole_steps | apply nth_In; exact Ho].
Qed.

Lemma nth_reals i v : nth i (reals v) 0 = IZR (nth i v 0%Z).
Proof. unfold reals. apply (map_nth IZR). Qed.

Lemma on_all_right test s x y : on_all test s x y = true -> forall i, nth i s false = true ->
  test (nth i x 0%Z) (nth i y 0%Z) = true.
Proof.
  revert x y. induction s as [|b s IH]; intros [|a x] [|c y] H [|i] Hi; simpl in *; try discriminate.
  - apply andb_true_iff in H. destruct H as [H _]. subst b. exact H.
  - apply andb_true_iff in H. apply IH; [apply H | exact Hi].
Qed.

Lemma largest (v : vector) : exists k, 0 <= k /\ forall i, nth i v 0 <= k.
Proof.
  induction v as [|x v [k [Hk H]]]; [exists 0; split; [lra | intros [|i]; simpl; lra]|].
  exists (Rmax k x). split; [apply Rle_trans with k; [exact Hk | apply Rmax_l]|]. intros [|i]; simpl.
  - apply Rmax_r.
  - apply Rle_trans with k; [apply H | apply Rmax_l].
Qed.

Lemma nth_others s i : nth i (reals (others s)) 0 = if nth i s true then 0 else 1.
Proof.
  rewrite nth_reals. revert i. induction s as [|b s IH]; intros [|i]; simpl; try reflexivity; [destruct b; reflexivity | apply IH].
Qed.

Lemma nth_unit i j k : nth j (reals (unit k i)) 0 = if Nat.eqb j i then 1 else 0.
Proof.
  rewrite nth_reals. unfold unit. destruct (Nat.eqb_spec j i) as [->|H].
  - rewrite app_nth2; rewrite repeat_length; [|lia]. rewrite Nat.sub_diag. reflexivity.
  - destruct (Nat.lt_ge_cases j i) as [L|L].
    + rewrite app_nth1 by (rewrite repeat_length; exact L). rewrite nth_repeat. reflexivity.
    + rewrite app_nth2; rewrite repeat_length; [|exact L]. destruct (j - i)%nat as [|d] eqn:E; [lia|]. simpl.
      rewrite nth_repeat. reflexivity.
Qed.

Lemma length_unit i : (i < n)%nat -> length (reals (unit n i)) = n.
Proof.
  intros H. unfold reals, unit. rewrite map_length, app_length. simpl. rewrite !repeat_length. lia.
Qed.

Lemma nonnegative_words word v : in_range m word -> length v = n -> pointwise (zeros n) v ->
  pointwise (zeros n) (apply_word (table m e) word v).
Proof.
  intros Hw Lv H. assert (E : apply_word (table m e) word (zeros n) = zeros n).
  { apply (apply_word_zeros _ n). apply shaped_table. exact is_shaped. }
  rewrite <- E at 1. apply word_pointwise; [exact Hw | apply repeat_length | exact Lv | exact H].
Qed.

Lemma nth_zeros i k : nth i (zeros k) 0 = 0.
Proof. apply nth_repeat. Qed.

Lemma prior_right w : whole_prior w = true ->
  numbers e (first w) = reals (wholes w) /\ Forall (Rle 0) (reals (wholes w)) /\
  eval (mass w) e = IZR (as_whole (mass w)) /\ 0 < IZR (as_whole (mass w)).
Proof.
  unfold whole_prior. rewrite !andb_true_iff. intros [[H1 H2] H3]. split; [apply numbers_as_whole; exact H1|].
  split; [|split].
  - apply Forall_forall. intros x Hx. unfold reals, wholes in Hx. rewrite map_map in Hx. apply in_map_iff in Hx.
    destruct Hx as [p [<- Hp]]. rewrite forallb_forall in H1. specialize (H1 p Hp). apply andb_true_iff in H1.
    apply (IZR_le 0). apply Z.leb_le. apply H1.
  - destruct (mass w) as [z|]; [reflexivity | discriminate H2].
  - apply (IZR_lt 0). apply Z.ltb_lt. exact H3.
Qed.

Section Ends.
Variables (l : loop) (left right : prior).
Hypothesis in_range_before : in_range m (before_loop l).
Hypothesis in_range_body : in_range m (body l).
Hypothesis in_range_behind : in_range m (behind_loop l).
Hypothesis checked : check_ends l left right = true.

Lemma in_range_repeated k : in_range m (repeated (body l) k).
Proof. induction k as [|k IH]; simpl; [constructor | apply Forall_app; split; assumption]. Qed.

Definition later (k : nat) : vector := apply_word (table m e) (repeated (body l) k ++ behind_loop l) (ones n).

Lemma later_next k : later (S k) = apply_word (table m e) (body l) (later k).
Proof. unfold later. simpl. rewrite <- app_assoc. apply apply_word_app. Qed.

Lemma later_length k : length (later k) = n.
Proof. apply word_length. apply repeat_length. Qed.

Lemma later_nonnegative k : pointwise (zeros n) (later k).
Proof.
  apply nonnegative_words; [apply Forall_app; split; [apply in_range_repeated | exact in_range_behind] | apply repeat_length|].
  intros i. rewrite nth_zeros. unfold ones. destruct (Nat.lt_ge_cases i n) as [L|L].
  - rewrite (nth_indep _ 0 1) by (rewrite repeat_length; exact L). rewrite nth_repeat. lra.
  - rewrite nth_overflow by (rewrite repeat_length; exact L). lra.
Qed.

Lemma later_start : later 0 = reals (whole_word (behind_loop l) (repeat 1%Z n)).
Proof. unfold later. simpl. rewrite <- reals_ones. apply whole_word_right. exact in_range_behind. Qed.

Notation s := (at_state l).
Notation A := (IZR (rate_up l) / IZR (rate_under l)).
Notation B := (IZR (rate_down l) / IZR (rate_under l)).
Notation after_at := (IZR (nth s (whole_word (behind_loop l) (repeat 1%Z n)) 0%Z)).

Lemma above_unit k : (s < n)%nat -> pointwise (scaled (nth s (later k) 0) (reals (unit n s))) (later k).
Proof.
  intros Hs i. rewrite nth_scaled, nth_unit. pose proof (later_nonnegative k i) as P. rewrite nth_zeros in P.
  destruct (Nat.eqb_spec i s) as [->|H]; lra.
Qed.

Lemma stays k : 0 < A -> 0 < IZR (rate_under l) -> (s < n)%nat ->
  (rate_up l <=? rate_under l * nth s (whole_word (body l) (unit n s)) 0)%Z = true ->
  A ^ k * after_at <= nth s (later k) 0.
Proof.
  intros HA HU Hs H0. apply Z.leb_le, IZR_le in H0. rewrite mult_IZR in H0.
  assert (H : A <= IZR (nth s (whole_word (body l) (unit n s)) 0%Z)).
  { apply Rmult_le_reg_l with (IZR (rate_under l)); [exact HU|].
    replace (IZR (rate_under l) * A) with (IZR (rate_up l)) by (field; lra). exact H0. }
  rewrite <- nth_reals, <- whole_word_right in H by exact in_range_body.
  induction k as [|k IH]; [rewrite later_start, nth_reals; simpl; lra|]. rewrite later_next.
  pose proof (above_unit k Hs) as P.
  apply (word_pointwise (body l)) in P; [|exact in_range_body | rewrite scaled_length; apply length_unit; exact Hs | apply later_length].
  specialize (P s). rewrite word_scaled, nth_scaled in P.
  pose proof (later_nonnegative k s) as Q. rewrite nth_zeros in Q. simpl.
  set (c := nth s (later k) 0) in *. set (d := nth s (apply_word (table m e) (body l) (reals (unit n s))) 0) in *.
  assert (A * (A ^ k * after_at) <= A * c) by (apply Rmult_le_compat_l; lra).
  assert (c * A <= c * d) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Lemma shrinks k : 0 < B -> 0 < IZR (rate_under l) -> 0 < IZR (times l) -> length (bounds l) = n -> length (bounded l) = n ->
  all_nonnegative (bounds l) = true ->
  on_all (fun a _ => a =? 0)%Z (bounded l) (whole_word (body l) (others (bounded l))) (bounds l) = true ->
  on_all (fun a b => times l * a <=? b)%Z (bounded l) (whole_word (behind_loop l) (repeat 1%Z n)) (bounds l) = true ->
  on_all (fun a b => rate_under l * a <=? rate_down l * b)%Z (bounded l) (whole_word (body l) (bounds l)) (bounds l) = true ->
  exists c, 0 <= c /\
    pointwise (scaled (IZR (times l)) (later k))
              (plus_scaled c (reals (others (bounded l))) (scaled (B ^ k) (reals (bounds l)))).
Proof.
  intros HB HU HT Lb Ld Hb Hout Hstart Hstep.
  assert (Lo : length (reals (others (bounded l))) = n) by (unfold reals, others; rewrite !map_length; exact Ld).
  assert (Lr : length (reals (bounds l)) = n) by (unfold reals; rewrite map_length; exact Lb).
  assert (Hnn : forall i, 0 <= nth i (reals (bounds l)) 0).
  { intros i. destruct (nth_in_or_default i (reals (bounds l)) 0) as [Hin|E]; [|rewrite E; lra].
    pose proof (all_nonnegative_right _ Hb) as P. rewrite Forall_forall in P. apply P. exact Hin. }
  assert (Hall : forall j, (forall i, nth i (bounded l) false = true ->
              IZR (times l) * nth i (later j) 0 <= B ^ j * nth i (reals (bounds l)) 0) ->
            exists c, 0 <= c /\ pointwise (scaled (IZR (times l)) (later j))
              (plus_scaled c (reals (others (bounded l))) (scaled (B ^ j) (reals (bounds l))))).
  { intros j Hj. destruct (largest (scaled (IZR (times l)) (later j))) as [c [Hc H]]. exists c. split; [exact Hc|].
    intros i. specialize (H i). rewrite nth_plus_scaled by (rewrite scaled_length; congruence).
    rewrite nth_others. rewrite nth_scaled in H. rewrite (nth_scaled _ (later j)), (nth_scaled _ (reals (bounds l))).
    destruct (nth i (bounded l) true) eqn:E; cbv iota.
    - destruct (Nat.lt_ge_cases i n) as [L|L].
      + rewrite (nth_indep _ true false) in E by (rewrite Ld; exact L). specialize (Hj i E). lra.
      + rewrite (nth_overflow (later j)) by (rewrite later_length; exact L).
        rewrite (nth_overflow (reals (bounds l))) by (rewrite Lr; exact L). lra.
    - assert (0 <= B ^ j * nth i (reals (bounds l)) 0).
      { apply Rmult_le_pos; [left; apply pow_lt; exact HB | apply Hnn]. } lra. }
  apply Hall. induction k as [|k IH]; intros i Hi.
  - rewrite later_start, !nth_reals. pose proof (on_all_right _ _ _ _ Hstart i Hi) as H. cbv beta in H.
    apply Z.leb_le, IZR_le in H. rewrite mult_IZR in H. rewrite pow_O. lra.
  - destruct (Hall k IH) as [c [Hc P]].
    apply (word_pointwise (body l)) in P; [|exact in_range_body | rewrite scaled_length; apply later_length
      | apply length_plus_scaled; [exact Lo | rewrite scaled_length; exact Lr]].
    specialize (P i). rewrite word_scaled, <- later_next, nth_scaled in P.
    rewrite (apply_word_plus_scaled _ n) in P;
      [|apply shaped_table; exact is_shaped | exact Lo | rewrite scaled_length; exact Lr].
    rewrite nth_plus_scaled in P by (rewrite !word_length; [reflexivity | rewrite scaled_length; exact Lr | exact Lo]).
    rewrite word_scaled, nth_scaled, !whole_word_right, !nth_reals in P by exact in_range_body.
    pose proof (on_all_right _ _ _ _ Hout i Hi) as H1. cbv beta in H1. apply Z.eqb_eq in H1. rewrite H1 in P.
    pose proof (on_all_right _ _ _ _ Hstep i Hi) as H2. cbv beta in H2. apply Z.leb_le, IZR_le in H2. rewrite !mult_IZR in H2.
    assert (H3 : IZR (nth i (whole_word (body l) (bounds l)) 0%Z) <= B * IZR (nth i (bounds l) 0%Z)).
    { apply Rmult_le_reg_l with (IZR (rate_under l)); [exact HU|].
      replace (IZR (rate_under l) * (B * IZR (nth i (bounds l) 0%Z))) with (IZR (rate_down l) * IZR (nth i (bounds l) 0%Z))
        by (field; lra). exact H2. }
    rewrite nth_reals. pose proof (pow_lt _ k HB) as HBk. apply (Rmult_le_compat_l (B ^ k)) in H3; [|lra].
    simpl pow. rewrite Rmult_0_r in P. apply (Rle_trans _ _ _ P). rewrite Rplus_0_l. lra.
Qed.

(** After k loops the quotient of probabilities is at least factor * (up/down)^k. *)
Lemma grows k : let word := apply_word (table m e) (looped l k) (ones n) in
  0 < dot (numbers e (first left)) word /\ 0 <= dot (numbers e (first right)) word /\
  IZR (factor_top l) * A ^ k * (dot (numbers e (first right)) word * eval (mass left) e)
  <= IZR (factor_bottom l) * B ^ k * (dot (numbers e (first left)) word * eval (mass right) e).
Proof.
  unfold check_ends in checked. cbv zeta in checked. rewrite !andb_true_iff in checked.
  destruct checked as [[[[[[[[[[[[[[[[[[Cl Cr] Cs] Cb] Cd] Cn] Cstay] Cout] Cfrom] Cstart] Cstep] CU] CB] CA] CT] Ch] Cf] Cg] Cfinal].
  destruct (prior_right left Cl) as [El [Nl [Ml Pl]]]. destruct (prior_right right Cr) as [Er [Nr [Mr Pr]]].
  rewrite El, Er, Ml, Mr. apply Nat.ltb_lt in Cs. apply Nat.eqb_eq in Cb. apply Nat.eqb_eq in Cd.
  apply Z.ltb_lt, IZR_lt in CU. apply Z.ltb_lt, IZR_lt in CB. apply Z.ltb_lt, IZR_lt in CA. apply Z.ltb_lt, IZR_lt in CT. apply Z.ltb_lt, IZR_lt in Ch.
  apply Z.ltb_lt, IZR_lt in Cf. apply Z.ltb_lt, IZR_lt in Cg. apply Z.leb_le, IZR_le in Cfinal. rewrite !mult_IZR in Cfinal.
  apply Z.eqb_eq in Cfrom.
  set (low := IZR (whole_dot (wholes left) (whole_word (before_loop l) (unit n s)))) in *.
  set (high := IZR (whole_dot (wholes right) (whole_word (before_loop l) (bounds l)))) in *.
  set (pl := IZR (as_whole (mass left))) in *. set (pr := IZR (as_whole (mass right))) in *.
  assert (HA : 0 < A) by (apply Rdiv_lt_0_compat; lra). assert (HB : 0 < B) by (apply Rdiv_lt_0_compat; lra).
  pose proof (stays k HA CU Cs Cstay) as Hstay.
  destruct (shrinks k HB CU CT Cb Cd Cn Cout Cstart Cstep) as [c [Hc Hshrink]].
  assert (Eword : apply_word (table m e) (looped l k) (ones n) = apply_word (table m e) (before_loop l) (later k))
    by apply apply_word_app.
  cbv zeta. rewrite Eword. set (word := apply_word (table m e) (before_loop l) (later k)).
  assert (Lword : length word = n) by (apply word_length; apply later_length).
  assert (Nword : pointwise (zeros n) word) by (apply nonnegative_words; [exact in_range_before | apply later_length | apply later_nonnegative]).
  assert (Hright0 : 0 <= dot (reals (wholes right)) word).
  { rewrite <- (dot_zeros (reals (wholes right)) n). apply dot_pointwise; [exact Nr | rewrite Lword; apply repeat_length | exact Nword]. }
  assert (Hlow0 : 0 <= low).
  { unfold low. rewrite <- whole_dot_right, <- whole_word_right by exact in_range_before.
    rewrite <- (dot_zeros (reals (wholes left)) n). apply dot_pointwise; [exact Nl | |].
    - rewrite word_length; [apply repeat_length | apply length_unit; exact Cs].
    - apply nonnegative_words; [exact in_range_before | apply length_unit; exact Cs|]. intros i. rewrite nth_zeros, nth_unit.
      destruct (Nat.eqb i s); lra. }
  assert (Hleft : A ^ k * (low * after_at) <= dot (reals (wholes left)) word).
  { pose proof (above_unit k Cs) as P.
    apply (word_pointwise (before_loop l)) in P; [|exact in_range_before | rewrite scaled_length; apply length_unit; exact Cs | apply later_length].
    apply (dot_pointwise (reals (wholes left))) in P; [|exact Nl|].
    2: { rewrite !word_length by (rewrite ?scaled_length; first [apply later_length | apply length_unit; exact Cs]). reflexivity. }
    rewrite word_scaled, dot_scaled, whole_word_right, whole_dot_right in P by exact in_range_before. fold low in P. fold word in P.
    apply (Rmult_le_compat_r low) in Hstay; [|exact Hlow0]. lra. }
  assert (Hright : IZR (times l) * dot (reals (wholes right)) word <= B ^ k * high).
  { apply (word_pointwise (before_loop l)) in Hshrink; [|exact in_range_before | rewrite scaled_length; apply later_length|].
    2: { apply length_plus_scaled; [unfold reals, others; rewrite !map_length; exact Cd | rewrite scaled_length; unfold reals; rewrite map_length; exact Cb]. }
    apply (dot_pointwise (reals (wholes right))) in Hshrink; [|exact Nr|].
    2: { rewrite !word_length; [reflexivity | | rewrite scaled_length; apply later_length].
         apply length_plus_scaled; [unfold reals, others; rewrite !map_length; exact Cd | rewrite scaled_length; unfold reals; rewrite map_length; exact Cb]. }
    rewrite word_scaled, dot_scaled in Hshrink. fold word in Hshrink.
    rewrite (apply_word_plus_scaled _ n) in Hshrink;
      [|apply shaped_table; exact is_shaped | unfold reals, others; rewrite !map_length; exact Cd
       |rewrite scaled_length; unfold reals; rewrite map_length; exact Cb].
    rewrite dot_plus_scaled in Hshrink.
    2: { rewrite !word_length; [reflexivity | rewrite scaled_length; unfold reals; rewrite map_length; exact Cb
         | unfold reals, others; rewrite !map_length; exact Cd]. }
    rewrite word_scaled, dot_scaled, !whole_word_right, !whole_dot_right in Hshrink by exact in_range_before.
    rewrite Cfrom in Hshrink. fold high in Hshrink. lra. }
  pose proof (pow_lt _ k HA) as PA. pose proof (pow_lt _ k HB) as PB.
  set (x := dot (reals (wholes left)) word) in *. set (y := dot (reals (wholes right)) word) in *.
  set (f := IZR (factor_top l)) in *. set (g := IZR (factor_bottom l)) in *. set (t := IZR (times l)) in *.
  set (a := A ^ k) in *. set (b := B ^ k) in *. set (z := low * after_at) in *.
  assert (Hz : 0 < z).
  { apply Rnot_le_lt. intros Hz. assert (0 < f * (high * pl)) by (repeat apply Rmult_lt_0_compat; assumption).
    assert (0 <= g * (- z * pr * t)) by (repeat apply Rmult_le_pos; lra). lra. }
  split; [|split; [exact Hright0|]].
  - assert (0 < a * z) by (apply Rmult_lt_0_compat; assumption). lra.
  - apply Rmult_le_reg_l with t; [exact CT|].
    assert (H1 : (f * a * pl) * (t * y) <= (f * a * pl) * (b * high)) by (apply Rmult_le_compat_l; [left; repeat apply Rmult_lt_0_compat; assumption | exact Hright]).
    assert (H2 : (a * b) * (f * (high * pl)) <= (a * b) * (g * (z * pr * t))) by (apply Rmult_le_compat_l; [left; apply Rmult_lt_0_compat; assumption | exact Cfinal]).
    assert (H3 : (g * b * pr * t) * (a * z) <= (g * b * pr * t) * x) by (apply Rmult_le_compat_l; [left; repeat apply Rmult_lt_0_compat; assumption | exact Hleft]).
    lra.
Qed.

End Ends.
End Loops.
