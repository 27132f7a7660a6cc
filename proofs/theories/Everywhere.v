(** One pair of neighbouring inputs of noisy max stands for all others, for all parameters: the noise is a table of
    polynomials. Where every answer may change, the pair is compared with one pair of each class of neighbours; or, where the
    first one of those that are largest wins, with products of the answers that have the largest quotients. *)

From Coq Require Import Reals ZArith QArith List Lra Lia Bool Arith Permutation.
From Paramverify Require Import Poly Goal Certificate Rule Check Sound Maxima MonotoneMaxima ProductMaxima.
Import ListNotations.
Local Close Scope Q_scope.
Local Open Scope R_scope.

Record everywhere := {
  about_all : goal;            (* the domain; its polynomial plays no part *)
  table : list (list poly);    (* a row for each answer; divided by the sum of a row these are probabilities *)
  inputs : nat;                (* the number of answers *)
  at_random : bool;            (* of those that are largest: one at random, or the first one *)
  largest_change : nat;
  one_input : list nat;
  other_input : list nat;
  released_one : nat;          (* the output at which the ratio of the pair is largest, from 0 *)
  fractions : list Z;          (* a number divided by 1, 2, 3, ... *)
  divided : Z;
  by_products : option (list nat * list nat)  (* by noisy value, the own answer and the other one with the largest quotients *)
}.

Definition total_of (l : list poly) : poly := fold_right padd (Pc 0) l.

Lemma eval_total l e : eval (total_of l) e = sum_of (fun f => eval f e) l.
Proof. induction l as [|f l IH]; simpl; [reflexivity|]. rewrite eval_padd, IH. reflexivity. Qed.

Lemma sum_of_map {A B} (f : B -> R) (h : A -> B) l : sum_of f (map h l) = sum_of (fun x => f (h x)) l.
Proof. induction l as [|x l IH]; simpl; [reflexivity|]. rewrite IH. reflexivity. Qed.

Section Everywhere.
Variable d : everywhere.
Notation size := (length (table d)).
Notation n := (inputs d).
Notation step := (largest_change d).
Notation u := (at_random d).

Definition item (f v : nat) : poly := nth v (nth f (table d) []) (Pc 0).
Definition less_than (f v : nat) : poly := total_of (map (item f) (seq 0 v)).

(** * Probabilities, as polynomials *)

Definition loses_by (v : nat) (a : role * nat) : poly * poly :=
  match fst a with
  | Ties => (less_than (snd a) v, item (snd a) v)
  | Less => (less_than (snd a) v, Pc 0)
  | Loses => (less_than (snd a) (S v), Pc 0)
  end.

Fixpoint grown (a b before : poly) (c : list poly) : list poly :=
  match c with
  | [] => [pmul b before]
  | f :: c => padd (pmul a f) (pmul b before) :: grown a b f c
  end.

Definition side := list (list poly).  (* by noisy values, and by how many others are equal *)
Definition none_yet : side := map (fun _ => [Pc 1]) (seq 0 size).

Fixpoint extend_from (a : role * nat) (v : nat) (s : side) : side :=
  match s with
  | [] => []
  | c :: s => grown (fst (loses_by v a)) (snd (loses_by v a)) (Pc 0) c :: extend_from a (S v) s
  end.
Definition extend (a : role * nat) (s : side) : side := extend_from a 0 s.
Definition side_of (l : list (role * nat)) : side := fold_right extend none_yet l.

Definition shares_of (c : list poly) : poly :=
  total_of (map (fun k => pscale (nth k (fractions d) 0%Z) (nth k c (Pc 0))) (seq 0 n)).
Fixpoint weight_from (own v : nat) (s : side) : poly :=
  match s with [] => Pc 0 | c :: s => padd (pmul (item own v) (shares_of c)) (weight_from own (S v) s) end.
Definition weight_of (own : nat) (s : side) : poly := weight_from own 0 s.
Definition weight_at (x : list nat) (o : nat) : poly := weight_of (nth o x 0%nat) (side_of (others u x o)).

(** * What is checked *)

Variable shown above_zero : poly -> bool.

Definition more (a : role * nat) (s : side * side) : side * side :=
  (extend a (fst s), extend (fst a, (snd a + step)%nat) (snd s)).

Fixpoint explore_all (kinds : list nat) (leaf : side * side -> bool) (gs : list (role * nat)) (s : side * side) : bool :=
  match gs with
  | [] => leaf s
  | (r, k) :: gs => explore (role * nat) (side * side) more (explore_all kinds leaf gs) (map (pair r) kinds) k s
  end.

Definition groups_of (o : nat) : list (role * nat) :=
  if u then [(Ties, (n - 1)%nat)] else [(Less, o); (Loses, (n - 1 - o)%nat)].

Definition best_weight : poly := weight_at (one_input d) (released_one d).
Definition other_weight : poly := weight_at (other_input d) (released_one d).

Definition compare_class (s : side * side) : bool :=
  forallb (fun own => shown (psub (pmul best_weight (weight_of (own - step) (snd s))) (pmul (weight_of own (fst s)) other_weight)))
    (seq step (size - step)).

Definition check_class (o : nat) : bool :=
  explore_all (seq 0 (size - step)) compare_class (groups_of o) (none_yet, none_yet).

(** The answer that is named has the largest quotient of a column, and its own factor is above zero. *)
Definition check_column (column : nat -> poly) (kinds : list nat) (moved : nat -> nat) (best : nat) : bool :=
  forallb (fun f => is_zero (column f)) kinds
  || above_zero (column best)
     && forallb (fun f => shown (psub (pmul (column best) (column (moved f))) (pmul (column f) (column (moved best))))) kinds.

Fixpoint power_of (f : poly) (k : nat) : poly := match k with O => Pc 1 | S k => pmul f (power_of f k) end.

(** The product of the answers that are named, with so many others before and behind the own one; and of their neighbours. *)
Definition product_at (own others : list nat) (o v : nat) (moved : bool) : poly :=
  let down := if moved then step else 0%nat in
  let f w := less_than (nth w others 0%nat + down)%nat w in
  pmul (item (nth v own 0 - down)%nat v) (pmul (power_of (f v) o) (power_of (f (S v)) (n - 1 - o))).

Definition check_product (own others : list nat) (best bottom : poly) (o v : nat) : bool :=
  let here := product_at own others o v false in
  is_zero here || shown (psub (pmul best (product_at own others o v true)) (pmul here bottom)).

Definition check_products (own others : list nat) (best bottom : poly) : bool :=
  negb u
  && forallb (fun v => check_column (fun f => item f v) (seq step (size - step)) (fun f => f - step)%nat (nth v own 0%nat)) (seq 0 size)
  && forallb (fun v => check_column (fun f => less_than f v) (seq 0 (size - step)) (fun f => f + step)%nat (nth v others 0%nat))
       (seq 0 (S size))
  && forallb (fun o => forallb (check_product own others best bottom o) (seq 0 size)) (seq 0 n).

Definition known_input (x : list nat) : bool := Nat.eqb (length x) n && forallb (fun f => Nat.ltb f size) x.

Definition check_noise : bool :=
  forallb (fun row => Nat.eqb (length row) size && forallb shown row && peq (total_of row) (total_of (nth 0 (table d) []))) (table d)
  && forallb (fun f => forallb (fun v => shown (psub (less_than f v) (less_than (S f) v))) (seq 1 (size - 1))) (seq 0 (size - 1)).

Definition check_everywhere : bool :=
  check_noise && Nat.ltb step size && Nat.ltb (released_one d) n
  && known_input (one_input d) && known_input (other_input d)
  && forallb (fun fg => Nat.leb (fst fg) (snd fg + step) && Nat.leb (snd fg) (fst fg + step)) (combine (one_input d) (other_input d))
  && (0 <? divided d)%Z && forallb (fun k => nth k (fractions d) 0 * Z.of_nat (S k) =? divided d)%Z (seq 0 n)
  && above_zero best_weight
  && match by_products d with
     | None => if u then check_class 0 else forallb check_class (seq 0 n)
     | Some (own, others) => check_products own others best_weight other_weight
     end.

(** * It is right *)

Variable e : env.
Definition noise_at (f v : nat) : R := eval (item f v) e.

Lemma eval_less_than f v : eval (less_than f v) e = below_ noise_at f v.
Proof. unfold less_than, below_, noise_at. rewrite eval_total, sum_of_map. reflexivity. Qed.

Lemma eval_loses_by v a : (eval (fst (loses_by v a)) e, eval (snd (loses_by v a)) e) = chances noise_at v a.
Proof. unfold loses_by, chances. destruct (fst a); simpl fst; simpl snd; rewrite eval_less_than; reflexivity. Qed.

Lemma grown_right a b c : forall before k, eval (nth k (grown a b before c) (Pc 0)) e
  = eval a e * eval (nth k c (Pc 0)) e + eval b e * eval (match k with O => before | S k => nth k c (Pc 0) end) e.
Proof.
  induction c as [|f c IH]; intros before [|k]; simpl nth.
  - rewrite eval_pmul. simpl. lra.
  - destruct k; simpl; lra.
  - rewrite eval_padd, !eval_pmul. lra.
  - rewrite IH. destruct k; reflexivity.
Qed.

Definition row_right (v : nat) (l : list (role * nat)) (c : list poly) : Prop :=
  forall k, eval (nth k c (Pc 0)) e = equals (map (chances noise_at v) l) k.
Fixpoint side_right (v : nat) (l : list (role * nat)) (s : side) : Prop :=
  match s with [] => True | c :: s => row_right v l c /\ side_right (S v) l s end.

Lemma none_right k : forall v, side_right v [] (map (fun _ => [Pc 1]) (seq v k)).
Proof.
  induction k as [|k IH]; intros v; simpl; [exact I|]. split; [|apply IH]. intros [|[|j]]; reflexivity.
Qed.

Lemma extend_from_right a l s : forall v, side_right v l s -> side_right v (a :: l) (extend_from a v s).
Proof.
  induction s as [|c s IH]; intros v H; simpl; [exact I|]. destruct H as [H0 H]. split; [|apply IH; exact H].
  intros k. rewrite grown_right. simpl map. rewrite <- (eval_loses_by v a). simpl equals. rewrite H0.
  destruct k as [|k]; simpl shift_down; [simpl eval; reflexivity|]. rewrite H0. reflexivity.
Qed.

Lemma extend_from_length a s : forall v, length (extend_from a v s) = length s.
Proof. induction s as [|c s IH]; intros v; simpl; [reflexivity|]. rewrite IH. reflexivity. Qed.

Lemma side_of_right l : side_right 0 l (side_of l) /\ length (side_of l) = size.
Proof.
  induction l as [|a l [IH1 IH2]]; simpl.
  - split; [apply none_right | unfold none_yet; rewrite map_length, seq_length; reflexivity].
  - split; [apply extend_from_right; exact IH1 | unfold extend; rewrite extend_from_length; exact IH2].
Qed.

Hypothesis fractions_right : forall k, (k < n)%nat -> (nth k (fractions d) 0 * Z.of_nat (S k))%Z = divided d.

Lemma shares_right v l c : row_right v l c -> S (length l) = n ->
  eval (shares_of c) e = IZR (divided d) * hidden noise_at l v.
Proof.
  intros H L. unfold shares_of, hidden, shared. rewrite map_length, L, eval_total, sum_of_map, <- sum_of_scaled.
  apply sum_of_ext. intros k K. apply in_seq in K. rewrite eval_pscale, H, <- (fractions_right k) by lia.
  rewrite mult_IZR, <- INR_IZR_INZ. field. apply not_0_INR. lia.
Qed.

Lemma weight_from_right own l s : S (length l) = n -> forall v, side_right v l s ->
  eval (weight_from own v s) e = IZR (divided d) * sum_of (fun v => noise_at own v * hidden noise_at l v) (seq v (length s)).
Proof.
  intros L. induction s as [|c s IH]; intros v H; simpl; [lra|]. destruct H as [H0 H].
  rewrite eval_padd, eval_pmul, (IH _ H), (shares_right v l c H0 L). unfold noise_at. ring.
Qed.

Lemma weight_of_right own l : S (length l) = n ->
  eval (weight_of own (side_of l)) e = IZR (divided d) * released size noise_at own l.
Proof.
  intros L. destruct (side_of_right l) as [H S]. unfold weight_of, released. rewrite (weight_from_right own l _ L 0 H), S. reflexivity.
Qed.

Lemma others_length x o : length x = n -> (o < n)%nat -> S (length (others u x o)) = n.
Proof.
  intros L O. unfold others. destruct u; rewrite ?map_length, ?app_length, ?map_length, firstn_length, skipn_length; lia.
Qed.

Lemma weight_at_right x o : length x = n -> (o < n)%nat ->
  eval (weight_at x o) e = IZR (divided d) * weight size noise_at u x o.
Proof. intros L O. unfold weight_at, weight. apply weight_of_right. apply others_length; assumption. Qed.

Lemma pair_dec : forall a b : role * nat, {a = b} + {a <> b}.
Proof. repeat decide equality. Qed.

Lemma more_sides l : forall s, fold_right more s l = (fold_right extend (fst s) l, fold_right extend (snd s) (map (raised step) l)).
Proof. induction l as [|a l IH]; intros s; simpl; [destruct s; reflexivity|]. rewrite IH. reflexivity. Qed.

Inductive grouped (kinds : list nat) : list (role * nat) -> list (role * nat) -> Prop :=
| grouped_none : grouped kinds [] []
| grouped_more r k gs l1 l2 : length l1 = k -> (forall a, In a l1 -> In a (map (pair r) kinds)) -> grouped kinds gs l2 ->
    grouped kinds ((r, k) :: gs) (l1 ++ l2).

Lemma explore_all_right kinds leaf gs : forall s l, grouped kinds gs l -> explore_all kinds leaf gs s = true ->
  exists l', Permutation l l' /\ leaf (fold_right more s l') = true.
Proof.
  induction gs as [|[r k] gs IH]; intros s l G H; inversion G; subst; simpl in H.
  - exists []. split; [constructor | exact H].
  - apply (explore_right _ _ more pair_dec) with (l := l1) in H; [|assumption|reflexivity].
    destruct H as [l1' [P1 E1]]. destruct (IH _ l2 H6 E1) as [l2' [P2 E2]]. exists (l2' ++ l1'). split.
    + apply Permutation_trans with (l1' ++ l2'); [apply Permutation_app; assumption | apply Permutation_app_comm].
    + rewrite fold_right_app. exact E2.
Qed.

Lemma grouped_others x o : length x = n -> (o < n)%nat -> (step < size)%nat ->
  grouped (seq 0 (size - step)) (groups_of o) (map (cap size step) (others u x o)).
Proof.
  intros L O T. unfold groups_of, others.
  assert (K : forall r l a, In a (map (cap size step) (map (pair r) l)) -> In a (map (pair r) (seq 0 (size - step)))).
  { intros r l a H. rewrite map_map in H. apply in_map_iff in H. destruct H as [f [<- _]]. unfold cap. simpl. apply in_map.
    apply in_seq. unfold capped. lia. }
  destruct u.
  - rewrite <- (app_nil_r (map (cap size step) _)). constructor; [|apply K|constructor].
    rewrite !map_length, app_length, firstn_length, skipn_length. lia.
  - rewrite map_app. constructor; [|apply K|].
    + rewrite !map_length, firstn_length. lia.
    + rewrite <- (app_nil_r (map (cap size step) _)). constructor; [|apply K|constructor].
      rewrite !map_length, skipn_length. lia.
Qed.

Hypothesis shown_right : forall f, shown f = true -> 0 <= eval f e.
Hypothesis above_right : forall f, above_zero f = true -> 0 < eval f e.

Lemma noise_right : check_noise = true ->
  (forall f v, 0 <= noise_at f v)
  /\ (forall f g v, (f <= g)%nat -> (g < size)%nat -> (v <= size)%nat -> below_ noise_at g v <= below_ noise_at f v)
  /\ (forall f, (f < size)%nat -> below_ noise_at f size = eval (total_of (nth 0 (table d) [])) e).
Proof.
  unfold check_noise. rewrite andb_true_iff, !forallb_forall. intros [H F].
  assert (R : forall f, (f < size)%nat -> In (nth f (table d) []) (table d)) by (intros; apply nth_In; assumption).
  assert (N : forall f v, 0 <= noise_at f v).
  { intros f v. unfold noise_at, item. destruct (Nat.lt_ge_cases f size) as [L|L].
    - specialize (H _ (R f L)). rewrite !andb_true_iff in H. destruct H as [[_ H] _]. rewrite forallb_forall in H.
      destruct (Nat.lt_ge_cases v (length (nth f (table d) []))) as [M|M].
      + apply shown_right, H, nth_In. exact M.
      + rewrite (nth_overflow _ _ M). simpl. lra.
    - rewrite (nth_overflow (table d) [] L). destruct v; simpl; lra. }
  assert (Sm : forall f, (f < size)%nat -> below_ noise_at f size = eval (total_of (nth 0 (table d) [])) e).
  { intros f L. specialize (H _ (R f L)). rewrite !andb_true_iff in H. destruct H as [[H1 _] H2].
    apply Nat.eqb_eq in H1. rewrite <- (peq_eval _ _ H2 e), eval_total. unfold below_, noise_at, item. rewrite <- H1 at 1.
    generalize (nth f (table d) []). clear. intros row. rewrite <- (sum_of_map (fun g => eval g e)). f_equal.
    induction row as [|a row IH]; simpl; [reflexivity|]. f_equal. rewrite <- seq_shift, map_map. exact IH. }
  split; [exact N|]. split; [|exact Sm].
  intros f g v FG G V. induction g as [|g IH]; [replace f with 0%nat by lia; lra|].
  destruct (Nat.eq_dec f (S g)) as [->|D]; [lra|].
  apply Rle_trans with (below_ noise_at g v); [|apply IH; lia].
  destruct (Nat.eq_dec v 0) as [->|V0]; [unfold below_; simpl; lra|].
  destruct (Nat.eq_dec v size) as [->|V1]; [rewrite !Sm by lia; lra|].
  specialize (F g). rewrite forallb_forall in F. assert (G' : In g (seq 0 (size - 1))) by (apply in_seq; lia).
  specialize (F G' v). assert (V' : In v (seq 1 (size - 1))) by (apply in_seq; lia). apply F, shown_right in V'.
  rewrite eval_psub, !eval_less_than in V'. lra.
Qed.

Definition allowed (x : list nat) : Prop := length x = n /\ Forall (fun f => (f < size)%nat) x.

Lemma known_right x : known_input x = true -> allowed x.
Proof.
  unfold known_input, allowed. rewrite andb_true_iff, forallb_forall. intros [L F]. split; [apply Nat.eqb_eq; exact L|].
  apply Forall_forall. intros f H. apply Nat.ltb_lt, F, H.
Qed.

Lemma column_is_right column kinds moved best : check_column column kinds moved best = true ->
  column_right (fun f => eval (column f) e) (fun f => In f kinds) moved best.
Proof.
  unfold check_column, column_right. rewrite orb_true_iff, andb_true_iff, !forallb_forall. intros [Z|[A M]].
  - left. intros f F. apply is_zero_eval, Z, F.
  - right. split; [apply above_right; exact A|]. intros f F. specialize (M f F). apply shown_right in M.
    rewrite eval_psub, !eval_pmul in M. lra.
Qed.

Lemma eval_power f k : eval (power_of f k) e = eval f e ^ k.
Proof. induction k as [|k IH]; simpl; [reflexivity|]. rewrite eval_pmul, IH. reflexivity. Qed.

Lemma products_right own others x o :
  check_products own others best_weight other_weight = true -> (forall f v, 0 <= noise_at f v) ->
  length x = n -> (o < n)%nat -> (step < size)%nat -> (released_one d < n)%nat ->
  length (one_input d) = n -> length (other_input d) = n -> 0 < IZR (divided d) ->
  let top := weight size noise_at u (one_input d) (released_one d) in
  let bottom := weight size noise_at u (other_input d) (released_one d) in
  let l := map (cap size step) (Maxima.others u x o) in
  forall mine, (step <= mine < size)%nat -> 0 <= top ->
  released size noise_at mine l * bottom <= top * released size noise_at (mine - step) (map (raised step) l).
Proof.
  intros H P Lx O T O' L1 L2 D. unfold check_products in H. rewrite !andb_true_iff, negb_true_iff, !forallb_forall in H.
  destruct H as [[[U Cown] Cothers] Cproducts]. cbv zeta. intros mine M T0.
  assert (L : map (cap size step) (Maxima.others u x o)
    = map (pair Less) (map (capped size step) (firstn o x)) ++ map (pair Loses) (map (capped size step) (skipn (S o) x))).
  { unfold Maxima.others. rewrite U, map_app, !map_map. reflexivity. }
  assert (Lb : length (map (capped size step) (firstn o x)) = o) by (rewrite map_length; apply firstn_length_le; lia).
  assert (La : length (map (capped size step) (skipn (S o) x)) = (n - 1 - o)%nat) by (rewrite map_length, skipn_length; lia).
  rewrite L. set (before := map (capped size step) (firstn o x)) in *. set (behind := map (capped size step) (skipn (S o) x)) in *.
  assert (F : forall (f : role * nat -> R) a b, (forall g, f (Less, g) = a) -> (forall g, f (Loses, g) = b) ->
    product_of (map f (map (pair Less) before ++ map (pair Loses) behind)) = a ^ o * b ^ (n - 1 - o)).
  { intros f a b A B. rewrite map_app, product_app, !map_map.
    rewrite (product_same _ a) by (intros; apply A). rewrite (product_same _ b) by (intros; apply B). now rewrite Lb, La. }
  apply (by_terms size step noise_at P (fun v => nth v own 0%nat) (fun v => nth v others 0%nat)).
  - intros v V. assert (I : In v (seq 0 size)) by (apply in_seq; lia). specialize (Cown v I).
    apply column_is_right in Cown. destruct Cown as [Z|[A Q]]; [left|right; split; [exact A|]]; intros f Hf;
      [apply Z | apply Q]; apply in_seq; lia.
  - intros v V. assert (I : In v (seq 0 (S size))) by (apply in_seq; lia). specialize (Cothers v I).
    apply column_is_right in Cothers. destruct Cothers as [Z|[A Q]].
    + left. intros f Hf. rewrite <- eval_less_than. apply Z. apply in_seq. lia.
    + right. split; [rewrite <- eval_less_than; exact A|]. intros f Hf. rewrite <- !eval_less_than. apply Q. apply in_seq. lia.
  - exact T0.
  - exact M.
  - apply Forall_forall. intros a A. apply in_app_or in A. destruct A as [A|A]; apply in_map_iff in A; destruct A as [f [<- _]]; discriminate.
  - apply Forall_forall. intros a A. apply in_app_or in A.
    destruct A as [A|A]; apply in_map_iff in A; destruct A as [f [<- A]]; apply in_map_iff in A; destruct A as [g [<- _]];
      simpl; unfold capped; lia.
  - intros v V. cbv zeta. intros B.
    assert (I : In o (seq 0 n)) by (apply in_seq; lia). specialize (Cproducts o I). rewrite forallb_forall in Cproducts.
    assert (J : In v (seq 0 size)) by (apply in_seq; lia). specialize (Cproducts v J). clear I J.
    unfold check_product in Cproducts.
    assert (E : forall moved : bool, eval (product_at own others o v moved) e
      = noise_at (nth v own 0 - (if moved then step else 0))%nat v
        * product_of (map (if moved then moved_factor step noise_at (fun v => nth v others 0%nat) v
                           else best_factor noise_at (fun v => nth v others 0%nat) v)
            (map (pair Less) before ++ map (pair Loses) behind))).
    { intros moved. unfold product_at. rewrite !eval_pmul, !eval_power, !eval_less_than. unfold noise_at at 1. f_equal. symmetry.
      destruct moved; apply F; intros g; unfold moved_factor, best_factor; cbn [fst place]; rewrite ?Nat.add_0_r; reflexivity. }
    pose proof (E false) as E0. pose proof (E true) as E1. cbv beta iota in E0, E1. rewrite Nat.sub_0_r in E0.
    rewrite <- E0 in *. rewrite <- E1. apply orb_true_iff in Cproducts. destruct Cproducts as [Z|S].
    + rewrite (is_zero_eval _ Z) in B. lra.
    + apply shown_right in S. unfold best_weight, other_weight in S.
      rewrite eval_psub, !eval_pmul, !weight_at_right in S by assumption.
      apply Rmult_le_reg_l with (IZR (divided d)); [exact D | lra].
Qed.

(** The pair has the largest ratio: Pr(x)·Pr(other) is at most Pr(one)·Pr(y). *)
Lemma class_right x y o : check_everywhere = true -> allowed x -> allowed y -> Forall2 (near step) x y -> (o < n)%nat ->
  0 < weight size noise_at u (one_input d) (released_one d)
  /\ weight size noise_at u x o * weight size noise_at u (other_input d) (released_one d)
     <= weight size noise_at u (one_input d) (released_one d) * weight size noise_at u y o.
Proof.
  unfold check_everywhere. rewrite !andb_true_iff.
  intros [[[[[[[[[H1 H2] H3] H4] H5] H6] H7] H8] H9] H10] [Lx X] [Ly Y] N O.
  destruct (noise_right H1) as [P [F E]]. apply Nat.ltb_lt in H2. apply Nat.ltb_lt in H3. apply Z.ltb_lt, (IZR_lt 0) in H7.
  apply known_right in H4. destruct H4 as [L1 _]. apply known_right in H5. destruct H5 as [L2 _].
  assert (Sm : forall f g, (f < size)%nat -> (g < size)%nat -> below_ noise_at f size = below_ noise_at g size).
  { intros f g A B. rewrite !E by assumption. reflexivity. }
  apply above_right in H9. unfold best_weight in H9. rewrite weight_at_right in H9 by assumption.
  set (top := weight size noise_at u (one_input d) (released_one d)) in *.
  set (bottom := weight size noise_at u (other_input d) (released_one d)) in *.
  assert (T : 0 < top) by (apply Rmult_lt_reg_l with (IZR (divided d)); lra). split; [exact T|].
  destruct (class_between size noise_at P F Sm step H2 u x y o X Y N) as [Own [U V]]; [lia|].
  set (own := lowest step (nth o x 0%nat)) in *. set (l := map (cap size step) (others u x o)) in *.
  assert (J : released size noise_at own l * bottom <= top * released size noise_at (own - step) (map (raised step) l)).
  2: { assert (B : 0 <= bottom) by (apply released_least; exact P).
    apply Rle_trans with (released size noise_at own l * bottom); [apply Rmult_le_compat_r; assumption|].
    apply Rle_trans with (1 := J). apply Rmult_le_compat_l; [lra | exact V]. }
  destruct (by_products d) as [[best_own best_others]|].
  { apply (products_right best_own best_others x o H10 P Lx O H2 H3 L1 L2 H7 own Own). apply Rlt_le. exact T. }
  assert (C : check_class o = true).
  { destruct (at_random d) eqn:A; [|rewrite forallb_forall in H10; apply H10, in_seq; lia].
    unfold check_class, groups_of in *. rewrite A in *. exact H10. }
  unfold check_class in C. destruct (explore_all_right _ _ _ _ _ (grouped_others x o Lx O H2) C) as [l' [Pl Q]].
  fold l in Pl. rewrite more_sides in Q. simpl fst in Q. simpl snd in Q.
  change (fold_right extend none_yet l') with (side_of l') in Q.
  change (fold_right extend none_yet (map (raised step) l')) with (side_of (map (raised step) l')) in Q.
  unfold compare_class in Q. rewrite forallb_forall in Q. specialize (Q own). cbv beta in Q.
  assert (I : In own (seq step (size - step))) by (apply in_seq; lia). apply Q, shown_right in I. clear Q.
  assert (Ll : Datatypes.S (length l') = n).
  { rewrite <- (Permutation_length Pl). unfold l. rewrite map_length. apply others_length; assumption. }
  simpl fst in I. simpl snd in I. unfold best_weight, other_weight in I.
  rewrite eval_psub, !eval_pmul, !weight_at_right in I by assumption.
  rewrite !weight_of_right in I by (rewrite ?map_length; exact Ll). fold top bottom in I.
  rewrite <- (released_permutation size noise_at own l l' Pl) in I.
  rewrite <- (released_permutation size noise_at (own - step) _ _ (Permutation_map (raised step) Pl)) in I.
  apply Rmult_le_reg_l with (IZR (divided d) * IZR (divided d)); [apply Rmult_lt_0_compat; assumption | lra].
Qed.

End Everywhere.

(** * What is shown by proofs *)

Definition shown_by (g : goal) (find : poly -> option (qpoly * cert)) (f : poly) : bool :=
  is_zero f || match find f with Some (q, c) => proportional (num q) f && check max_depth [] (for_poly g q) c | None => false end.

(** That f is above 0: no point of the domain has −f ≥ 0, since there −1 ≥ 0. *)
Definition above_by (g : goal) (find : poly -> option (qpoly * cert)) (f : poly) : bool :=
  match find f with
  | Some (q, c) => proportional (num q) f && check max_depth [] (for_poly (with_cond g (Some (qopp q, false))) (qconst (-1 # 1))) c
  | None => false
  end.

Lemma none_holds : forall l : goal, In l [] -> holds l.
Proof. intros l []. Qed.

Lemma shown_by_right g find e : dom g e -> forall f, shown_by g find f = true -> 0 <= eval f e.
Proof.
  intros D f H. unfold shown_by in H. apply orb_true_iff in H. destruct H as [H|H]; [rewrite (is_zero_eval _ H); lra|].
  destruct (find f) as [[q c]|]; [|discriminate]. apply andb_true_iff in H. destruct H as [H1 H2].
  apply (check_sound _ _ _ _ none_holds) in H2. apply (holds_for_poly _ _ _ D), qeval_sign in H2.
  apply proportional_ok in H1. destruct H1 as [a [b [A [B H]]]]. specialize (H e).
  apply Rmult_le_reg_l with b; [exact B|]. rewrite <- H, Rmult_0_r. apply Rmult_le_pos; lra.
Qed.

Lemma above_by_right g find e : dom g e -> forall f, above_by g find f = true -> 0 < eval f e.
Proof.
  intros D f H. unfold above_by in H. destruct (find f) as [[q c]|]; [|discriminate].
  apply andb_true_iff in H. destruct H as [H1 H2]. apply (check_sound _ _ _ _ none_holds) in H2.
  assert (Q : 0 < qeval q e).
  { destruct (Rlt_le_dec 0 (qeval q e)) as [L|L]; [exact L|]. exfalso.
    specialize (H2 e). assert (K : dom (for_poly (with_cond g (Some (qopp q, false))) (qconst (-1 # 1))) e).
    { destruct (dom_with_cond g (Some (qopp q, false)) e D) as [B C]; [simpl; rewrite qeval_opp; lra | exact (conj B C)]. }
    specialize (H2 K). simpl gpoly in H2. rewrite qeval_const in H2. unfold Q2R in H2. simpl in H2. lra. }
  apply qeval_pos in Q. apply proportional_ok in H1. destruct H1 as [a [b [A [B H]]]]. specialize (H e).
  apply Rmult_lt_reg_l with b; [exact B|]. rewrite <- H, Rmult_0_r. apply Rmult_lt_0_compat; lra.
Qed.

(** * The theorem *)

(** The sum of each row of the noise, and the probability that an output is released. *)
Definition mass_of (d : everywhere) (e : env) : R := below_ (noise_at d e) 0 (length (table d)).
Definition chance_of (d : everywhere) (e : env) (x : list nat) (o : nat) : R :=
  weight (length (table d)) (noise_at d e) (at_random d) x o / mass_of d e ^ inputs d.

Definition stands (find_shown find_above : poly -> option (qpoly * cert)) (d : everywhere) : bool :=
  check_everywhere d (shown_by (about_all d) find_shown) (above_by (about_all d) find_above).

Lemma near_right step x y : length x = length y ->
  forallb (fun fg => Nat.leb (fst fg) (snd fg + step) && Nat.leb (snd fg) (fst fg + step)) (combine x y) = true -> Forall2 (near step) x y.
Proof.
  revert y. induction x as [|a x IH]; intros [|b y] L H; simpl in *; try discriminate; constructor.
  - apply andb_true_iff in H. destruct H as [H _]. apply andb_true_iff in H. rewrite !Nat.leb_le in H. exact H.
  - apply andb_true_iff in H. apply IH; [lia | apply H].
Qed.

(** The noise is a distribution at each point of the domain, the pair is a pair of neighbours, and a bound for it at one
    output, in one direction, is one for all neighbours and all outputs. [find_shown] and [find_above] may be anything. *)
Theorem stands_sound : forall find_shown find_above d, stands find_shown find_above d = true ->
  forall e, dom (about_all d) e ->
  (forall f v, 0 <= noise_at d e f v) /\ 0 < mass_of d e
  /\ (forall f, (f < length (table d))%nat -> below_ (noise_at d e) f (length (table d)) = mass_of d e)
  /\ allowed d (one_input d) /\ allowed d (other_input d) /\ Forall2 (near (largest_change d)) (one_input d) (other_input d)
  /\ (released_one d < inputs d)%nat
  /\ forall c, 0 <= c -> chance_of d e (one_input d) (released_one d) <= c * chance_of d e (other_input d) (released_one d) ->
     forall x y, allowed d x -> allowed d y -> Forall2 (near (largest_change d)) x y ->
     forall o, (o < inputs d)%nat -> chance_of d e x o <= c * chance_of d e y o.
Proof.
  intros find_shown find_above d H e D. unfold stands in H.
  pose proof (shown_by_right (about_all d) find_shown e D) as A. pose proof (above_by_right (about_all d) find_above e D) as B.
  set (shown := shown_by (about_all d) find_shown) in *. set (above := above_by (about_all d) find_above) in *.
  pose proof H as K. unfold check_everywhere in K. rewrite !andb_true_iff in K.
  destruct K as [[[[[[[[[H1 H2] H3] H4] H5] H6] H7] H8] _] _].
  assert (W : forall k, (k < inputs d)%nat -> (nth k (fractions d) 0 * Z.of_nat (S k))%Z = divided d).
  { intros k L. rewrite forallb_forall in H8. apply Z.eqb_eq, H8, in_seq. lia. }
  destruct (noise_right d shown e A H1) as [P [_ E]]. apply Nat.ltb_lt in H2. apply Nat.ltb_lt in H3.
  apply known_right in H4. apply known_right in H5. pose proof H4 as [L1 _]. pose proof H5 as [L2 _].
  apply near_right in H6; [|congruence].
  pose proof (class_right d shown above e W A B) as C.
  destruct (C _ _ _ H H4 H5 H6 H3) as [T _].
  assert (M : 0 < mass_of d e).
  { unfold mass_of. destruct (Rle_lt_or_eq_dec 0 (below_ (noise_at d e) 0 (length (table d)))) as [L|L];
      [apply below_least; exact P | exact L | exfalso].
    assert (Z : forall f v, (f < length (table d))%nat -> (v < length (table d))%nat -> noise_at d e f v = 0).
    { intros f v F V. apply Rle_antisym; [|apply P].
      assert (X : below_ (noise_at d e) f (length (table d)) = 0) by (rewrite E, <- (E 0%nat), <- L by lia; reflexivity).
      rewrite <- X. unfold below_. clear - P V. induction (length (table d)) as [|k IH]; [lia|]. rewrite sum_of_last.
      pose proof (P f k). destruct (Nat.eq_dec v k) as [->|N].
      - pose proof (below_least _ P f k). unfold below_ in *. lra.
      - specialize (IH ltac:(lia)). lra. }
    unfold weight, released in T. rewrite sum_of_zero in T; [lra|]. intros v V. apply in_seq in V.
    rewrite Z; [lra | | lia]. destruct H4 as [_ F]. rewrite Forall_forall in F. apply F, nth_In. lia. }
  split; [exact P|]. split; [exact M|]. split; [intros f F; rewrite E by exact F; unfold mass_of; rewrite E by lia; reflexivity|].
  split; [exact H4|]. split; [exact H5|]. split; [exact H6|]. split; [exact H3|].
  intros c Hc G x y X Y N o O. destruct (C x y o H X Y N O) as [_ J].
  assert (V : 0 <= weight (length (table d)) (noise_at d e) (at_random d) y o) by (apply released_least; exact P).
  assert (V' : 0 <= weight (length (table d)) (noise_at d e) (at_random d) x o) by (apply released_least; exact P).
  pose proof (pow_lt _ (inputs d) M) as M'. unfold chance_of in *. unfold Rdiv in *. rewrite <- Rmult_assoc in *.
  apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; exact M'|].
  apply Rmult_le_reg_r in G; [|apply Rinv_0_lt_compat; exact M'].
  set (a := weight _ _ _ x o) in *. set (b := weight _ _ _ y o) in *.
  set (top := weight _ _ _ (one_input d) _) in *. set (bottom := weight _ _ _ (other_input d) _) in *.
  apply Rmult_le_reg_l with top; [exact T|].
  apply Rle_trans with (c * bottom * a); [rewrite (Rmult_comm top); rewrite (Rmult_comm _ a); apply Rmult_le_compat_l; assumption|].
  replace (c * bottom * a) with (c * (a * bottom)) by ring. replace (top * (c * b)) with (c * (top * b)) by ring.
  apply Rmult_le_compat_l; assumption.
Qed.
