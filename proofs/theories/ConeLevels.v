(** Steps that are numbers: a cone of rays that no step leaves; and vectors that are kept length by length. *)

From Coq Require Import Reals ZArith List Lra Lia Bool Arith.
From Paramverify Require Import Privacy Hmm Coverings Poly Goal ConeModels Masks Cones.
Import ListNotations.
Local Open Scope R_scope.

Definition is_whole (p : poly) : bool := match p with Pc _ => true | PX _ _ => false end.
Definition as_whole (p : poly) : Z := match p with Pc z => z | PX _ _ => 0%Z end.

(** All steps are whole numbers that are at least zero. *)
Definition whole_steps (m : model) : bool :=
  forallb (forallb (forallb (fun p => is_whole p && (0 <=? as_whole p)%Z))) (steps m).

Definition whole_table (t : list (list poly)) : list whole_vector := map (map as_whole) t.
Definition whole_apply (t : list whole_vector) (v : whole_vector) : whole_vector := map (fun row => whole_dot row v) t.

Lemma numbers_as_whole e row : forallb (fun p => is_whole p && (0 <=? as_whole p)%Z) row = true ->
  numbers e row = reals (map as_whole row).
Proof.
  induction row as [|p row IH]; simpl; intros H; [reflexivity|]. apply andb_true_iff in H. destruct H as [H1 H2].
  rewrite <- IH by exact H2. destruct p as [z|]; [reflexivity | discriminate H1].
Qed.

Lemma whole_apply_right m e t v : whole_steps m = true -> In t (steps m) ->
  apply (map (numbers e) t) (reals v) = reals (whole_apply (whole_table t) v).
Proof.
  unfold whole_steps. rewrite forallb_forall. intros H Hin. specialize (H t Hin). rewrite forallb_forall in H.
  unfold apply, whole_apply, whole_table, reals at 2. rewrite !map_map. apply map_ext_in. intros row Hrow.
  rewrite (numbers_as_whole e row) by (apply H; exact Hrow). apply whole_dot_right.
Qed.

(** The tables as programs use them: whole numbers, without the zeros at the ends of rows. Most rows are zeros alone. They are
    made once, not for each vector. *)
Fixpoint without_zeros (v : whole_vector) : whole_vector :=
  match v with
  | [] => []
  | x :: v => match without_zeros v with [] => if (x =? 0)%Z then [] else [x] | w => x :: w end
  end.

Definition short_tables (l : list (list (list poly))) : list (list whole_vector) :=
  map (fun t => map without_zeros (whole_table t)) l.

Lemma dot_without_zeros a b : whole_dot (without_zeros a) b = whole_dot a b.
Proof.
  revert b. induction a as [|x a IH]; intros [|y b]; simpl; [reflexivity..| |].
  - destruct (without_zeros a); [destruct (x =? 0)%Z|]; reflexivity.
  - rewrite <- IH. destruct (without_zeros a) as [|z w]; [|reflexivity].
    destruct (Z.eqb_spec x 0) as [->|_]; [|reflexivity]. reflexivity.
Qed.

Lemma apply_without_zeros t v : whole_apply (map without_zeros t) v = whole_apply t v.
Proof. unfold whole_apply. rewrite map_map. apply map_ext. intros row. apply dot_without_zeros. Qed.

Lemma in_short_tables l t : In t l -> In (map without_zeros (whole_table t)) (short_tables l).
Proof. apply (in_map (fun t => map without_zeros (whole_table t))). Qed.

Lemma length_whole_apply t v : length (whole_apply (whole_table t) v) = length t.
Proof. unfold whole_apply, whole_table. rewrite !map_length. reflexivity. Qed.

Fixpoint pairwise {A B} (test : A -> B -> bool) (l : list A) (k : list B) : bool :=
  match l, k with
  | [], [] => true
  | a :: l, b :: k => test a b && pairwise test l k
  | _, _ => false
  end.

Lemma pairwise_left {A B} (test : A -> B -> bool) l k : pairwise test l k = true ->
  forall a, In a l -> exists b, In b k /\ test a b = true.
Proof.
  revert k. induction l as [|a l IH]; intros [|b k] H x Hx; simpl in *; try discriminate; [destruct Hx|].
  apply andb_true_iff in H. destruct H as [H1 H2]. destruct Hx as [<-|Hx].
  - exists b. split; [left; reflexivity | exact H1].
  - destruct (IH k H2 x Hx) as [y [Hy Ey]]. exists y. split; [right; exact Hy | exact Ey].
Qed.

(** * Combinations *)

Definition scaled (w : R) (v : vector) : vector := map (fun x => w * x) v.

Lemma scaled_zeros w n : scaled w (zeros n) = zeros n.
Proof. unfold scaled, zeros. induction n as [|n IH]; simpl; [reflexivity|]. rewrite IH. f_equal. lra. Qed.

Lemma scaled_plus w x r v : scaled w (plus_scaled x r v) = plus_scaled (w * x) r (scaled w v).
Proof.
  revert v. unfold scaled, plus_scaled. induction r as [|a r IH]; intros [|b v]; simpl; try reflexivity.
  rewrite IH. f_equal. ring.
Qed.

Lemma scaled_length w v : length (scaled w v) = length v.
Proof. apply map_length. Qed.

Lemma spanned_scaled n rays w v : 0 <= w -> spanned n rays v -> spanned n rays (scaled w v).
Proof.
  intros Hw H. induction H as [|r x v Hin Hx Hv IH]; [rewrite scaled_zeros; apply spanned_zero|].
  rewrite scaled_plus. apply spanned_more; [exact Hin | apply Rmult_le_pos; assumption | exact IH].
Qed.

Lemma reals_add_multiple w a b : reals (add_multiple w a b) = plus_scaled (IZR w) (reals a) (reals b).
Proof.
  revert b. unfold reals, plus_scaled. induction a as [|x a IH]; intros [|y b]; simpl; try reflexivity.
  rewrite IH, plus_IZR, mult_IZR. reflexivity.
Qed.

Lemma reals_zeros n : reals (repeat 0%Z n) = zeros n.
Proof. unfold zeros, reals. induction n as [|n IH]; simpl; [reflexivity|]. rewrite IH. reflexivity. Qed.

Lemma combination_spanned n rays ws : all_nonnegative ws = true -> forall vs, incl vs rays ->
  spanned n (map reals rays) (reals (combination ws vs (repeat 0%Z n))).
Proof.
  intros H. unfold all_nonnegative in H. induction ws as [|w ws IH]; intros [|v vs] Hin; simpl in *;
    try (rewrite reals_zeros; apply spanned_zero).
  apply andb_true_iff in H. destruct H as [Hw H]. rewrite reals_add_multiple. apply spanned_more.
  - apply in_map. apply Hin. left. reflexivity.
  - apply (IZR_le 0). apply Z.leb_le. exact Hw.
  - apply IH; [exact H|]. intros x Hx. apply Hin. right. exact Hx.
Qed.

Lemma reals_scaled c v : reals (map (Z.mul c) v) = scaled (IZR c) (reals v).
Proof. unfold reals, scaled. rewrite !map_map. apply map_ext. intros x. apply mult_IZR. Qed.

Lemma unscaled c v w : c <> 0 -> scaled c v = w -> v = scaled (/ c) w.
Proof.
  intros Hc <-. unfold scaled. rewrite map_map. rewrite <- (map_id v) at 1. apply map_ext. intros x. field. exact Hc.
Qed.

(** * A cone that is spanned by rays *)

Section Closed.
Variable shown : poly -> bool.
Variable m : model.
Notation n := (size m).

(** A positive multiple of the next vector, as a combination of rays. *)
Definition check_way (rays : list whole_vector) (source : whole_vector) (t : list whole_vector) (way : Z * list Z) : bool :=
  (0 <? fst way)%Z && all_nonnegative (snd way)
  && same (map (Z.mul (fst way)) (whole_apply t source)) (combination (snd way) rays (repeat 0%Z n)).

Definition check_ways (rays : list whole_vector) (tables : list (list whole_vector)) (sources : list whole_vector)
    (ways : list (list (Z * list Z))) : bool :=
  pairwise (fun source row => pairwise (check_way rays source) tables row) sources ways.

Definition check_closed (rays : list whole_vector) (ways : list (list (Z * list Z))) : bool :=
  shaped m && whole_steps m
  && forallb (fun r => Nat.eqb (length r) n) rays
  && check_ways rays (short_tables (steps m)) (rays ++ [repeat 1%Z n]) ways
  && forallb (fun r => in_bounds shown m (as_polys r)) rays.

Theorem check_closed_sound rays ways e : (forall f, shown f = true -> 0 <= eval f e) ->
  check_closed rays ways = true -> all_within m e (fun word => word <> []).
Proof.
  intros S. unfold check_closed. rewrite !andb_true_iff. intros [[[[Hm Hz] Hrays] Hways] Hbounds].
  rewrite forallb_forall in Hrays, Hbounds. pose proof (shaped_table m e Hm) as Ht.
  assert (Lreals : Forall (fun r => length r = n) (map reals rays)).
  { apply Forall_forall. intros r Hr. apply in_map_iff in Hr. destruct Hr as [z [<- Hin]]. unfold reals.
    rewrite map_length. apply Nat.eqb_eq. apply Hrays. exact Hin. }
  assert (Hstep : forall o source, (o < length (steps m))%nat -> In source (rays ++ [repeat 1%Z n]) ->
            spanned n (map reals rays) (apply (table m e o) (reals source))).
  { intros o source Ho Hs. destruct (table_at m e o Ho) as [t [Hin Et]].
    destruct (pairwise_left _ _ _ Hways source Hs) as [row [_ H1]].
    destruct (pairwise_left _ _ _ H1 _ (in_short_tables _ t Hin)) as [[c ws] [_ H2]]. unfold check_way in H2.
    rewrite apply_without_zeros in H2. simpl in H2.
    rewrite !andb_true_iff in H2. destruct H2 as [[Hc Hws] Hsame]. apply Z.ltb_lt, IZR_lt in Hc.
    apply same_spec in Hsame. apply (f_equal reals) in Hsame. rewrite reals_scaled in Hsame.
    apply unscaled in Hsame; [|lra]. rewrite Et, (whole_apply_right m e t source Hz Hin), Hsame.
    apply spanned_scaled; [left; apply Rinv_0_lt_compat; exact Hc|].
    apply combination_spanned; [exact Hws | apply incl_refl]. }
  intros l r Hin word Hw Hne. destruct (shaped_priors m Hm l r Hin) as [Ll Lr].
  assert (Hray : forall z, In z (map reals rays) -> 0 <= margin m e l r z /\ 0 <= margin m e r l z).
  { intros z Hz'. apply in_map_iff in Hz'. destruct Hz' as [ray [<- Hz']].
    rewrite <- (numbers_as_polys e). apply (in_bounds_right shown); [exact S | apply Hbounds; exact Hz' | exact Hin]. }
  assert (Hone : forall o, (o < length (steps m))%nat -> spanned n (map reals rays) (apply (table m e o) (ones n))).
  { intros o Ho. rewrite <- reals_ones. apply Hstep; [exact Ho|]. apply in_or_app. right. left. reflexivity. }
  assert (Hall : forall o, (o < length (steps m))%nat -> forall z, In z (map reals rays) ->
            spanned n (map reals rays) (apply (table m e o) z)).
  { intros o Ho z Hz'. apply in_map_iff in Hz'. destruct Hz' as [ray [<- Hz']]. apply Hstep; [exact Ho|].
    apply in_or_app. left. exact Hz'. }
  split; apply margin_within; rewrite <- dot_excess by assumption;
    apply (closed_cone n (length (steps m)) (table m e) Ht (map reals rays) Lreals); try assumption;
    intros z Hz'; rewrite dot_excess by assumption; apply Hray; exact Hz'.
Qed.

End Closed.

(** * Length by length

    A vector is dropped where it is no worse than a combination of kept ones and of ones before it. At states that only
    the left secret reaches it may be smaller, and at those that only the right one reaches it may be larger. *)

Record level := {
  level_kept : list whole_vector;
  dropped : list (whole_vector * (Z * list (Z * nat)));   (* weights of kept ones, and of ones before it *)
  ways_on : list (list (option (Z * nat)))        (* by vector kept before and by symbol: a multiple of which one it is *)
}.

Record run := {
  turns : list bool;             (* with [true]: the right secret against the left one *)
  smaller : list bool;           (* states that only the left one reaches *)
  larger : list bool;
  reached : list bool * list bool;   (* by the left one, by the right one *)
  levels : list level
}.

(** No worse: at most [y] where the left secret comes, at least [y] where the right one comes. *)
Definition no_worse (l r : list bool) (x y : vector) : Prop :=
  forall i, (nth i l false = true -> nth i x 0 <= nth i y 0) /\ (nth i r false = true -> nth i y 0 <= nth i x 0).

(** Entries of a vector, times c, and of a combination. *)
Fixpoint entries (c : Z) (small large : list bool) (x y : whole_vector) : bool :=
  match small, large, x, y with
  | [], [], [], [] => true
  | s :: small, g :: large, a :: x, b :: y =>
      ((c * a =? b) || (s && (c * a <=? b)) || (g && (b <=? c * a)))%Z && entries c small large x y
  | _, _, _, _ => false
  end.

Fixpoint apart (a b : list bool) : bool :=
  match a, b with
  | [], [] => true
  | x :: a, y :: b => negb (x && y) && apart a b
  | _, _ => false
  end.

Lemma entries_right c small large l r x y : (0 < c)%Z -> entries c small large x y = true ->
  apart small r = true -> apart large l = true -> no_worse l r (scaled (IZR c) (reals x)) (reals y).
Proof.
  intros Hc. revert large l r x y.
  induction small as [|s small IH]; intros [|g large] l r [|a x] [|b y] H Hs Hg; simpl in H; try discriminate.
  - intros i. destruct i; simpl; split; intros; lra.
  - destruct l as [|bl l]; [discriminate Hg|]. destruct r as [|br r]; [discriminate Hs|]. simpl in Hs, Hg.
    rewrite !andb_true_iff, !orb_true_iff, !andb_true_iff in H. destruct H as [H0 H].
    apply andb_true_iff in Hs. destruct Hs as [Hs0 Hs]. apply andb_true_iff in Hg. destruct Hg as [Hg0 Hg].
    specialize (IH large l r x y H Hs Hg). intros [|i]; [|apply IH]. simpl. rewrite <- mult_IZR.
    destruct H0 as [[H0|[H1 H0]]|[H1 H0]].
    + apply Z.eqb_eq in H0. rewrite H0. split; intros; lra.
    + subst s. apply Z.leb_le, IZR_le in H0. split; intros E; [exact H0|]. subst br. discriminate Hs0.
    + subst g. apply Z.leb_le, IZR_le in H0. split; intros E; [|exact H0]. subst bl. discriminate Hg0.
Qed.

Lemma no_worse_trans l r x y z : no_worse l r x y -> no_worse l r y z -> no_worse l r x z.
Proof.
  intros H1 H2 i. destruct (H1 i) as [A B]. destruct (H2 i) as [C D]. split; intros E.
  - specialize (A E). specialize (C E). lra.
  - specialize (B E). specialize (D E). lra.
Qed.

Lemma nth_scaled w v i : nth i (scaled w v) 0 = w * nth i v 0.
Proof. revert i. induction v as [|x v IH]; intros [|i]; simpl; try lra. apply IH. Qed.

Lemma nth_plus_scaled w r v i : length r = length v -> nth i (plus_scaled w r v) 0 = w * nth i r 0 + nth i v 0.
Proof.
  revert v i. induction r as [|x r IH]; intros [|y v] [|i] H; simpl in *; try discriminate; try lra.
  fold (plus_scaled w r v). apply IH. lia.
Qed.

Lemma no_worse_scaled l r w x y : 0 <= w -> no_worse l r x y -> no_worse l r (scaled w x) (scaled w y).
Proof.
  intros Hw H i. rewrite !nth_scaled. destruct (H i) as [A B].
  split; intros E; apply Rmult_le_compat_l; try exact Hw; [apply A | apply B]; exact E.
Qed.

Lemma no_worse_plus l r w x y u v : 0 <= w -> length x = length u -> length y = length v ->
  no_worse l r x y -> no_worse l r u v -> no_worse l r (plus_scaled w x u) (plus_scaled w y v).
Proof.
  intros Hw Lx Ly H1 H2 i. rewrite !nth_plus_scaled by assumption. destruct (H1 i) as [A B]. destruct (H2 i) as [C D].
  split; intros E.
  - specialize (A E). specialize (C E). apply (Rmult_le_compat_l w) in A; [|exact Hw]. lra.
  - specialize (B E). specialize (D E). apply (Rmult_le_compat_l w) in B; [|exact Hw]. lra.
Qed.
