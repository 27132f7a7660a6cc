(** Noisy max where the first one of those that are largest wins: the probability of an output is a sum of products over the
    answers, and of each factor one answer has the largest quotient. So the products of these answers stand for all. *)

From Coq Require Import Reals List Lra Lia Arith.
From Paramverify Require Import Maxima MonotoneMaxima.
Import ListNotations.
Local Open Scope R_scope.

Definition product_of (l : list R) : R := fold_right Rmult 1 l.

(** Nobody is equal: then the shares are a product. *)
Lemma shared_alone l : Forall (fun x => snd x = 0) l -> shared l = product_of (map fst l).
Proof.
  intros H.
  assert (E : forall k, equals l k = match k with O => product_of (map fst l) | S _ => 0 end).
  { induction H as [|[a b] l B H IH]; intros k; simpl in *; [reflexivity|]. rewrite B, IH.
    destruct k as [|k]; simpl; [ring|]. rewrite IH. ring. }
  unfold shared. rewrite sum_of_first, E, sum_of_zero; [simpl; lra|]. intros k _. rewrite E. unfold Rdiv. ring.
Qed.

Lemma product_cons x l : product_of (x :: l) = x * product_of l.
Proof. reflexivity. Qed.

Lemma product_least l : Forall (fun x => 0 <= x) l -> 0 <= product_of l.
Proof. induction 1 as [|x l X H IH]; simpl; [lra | apply Rmult_le_pos; assumption]. Qed.

Lemma product_app l m : product_of (l ++ m) = product_of l * product_of m.
Proof. induction l as [|x l IH]; simpl; [lra|]. rewrite IH. ring. Qed.

Lemma product_same {A} (f : A -> R) c l : (forall a, In a l -> f a = c) -> product_of (map f l) = c ^ length l.
Proof.
  induction l as [|a l IH]; intros H; simpl; [reflexivity|]. rewrite IH by (intros x X; apply H; right; exact X).
  rewrite (H a) by (left; reflexivity). reflexivity.
Qed.

(** Of two quotients the larger ones are multiplied. *)
Lemma larger_product x y x' y' z w z' w' : 0 <= x -> 0 <= y' -> 0 <= z -> 0 <= w' ->
  x * y' <= x' * y -> z * w' <= z' * w -> x * z * (y' * w') <= x' * z' * (y * w).
Proof.
  intros X Y Z W H K. replace (x * z * (y' * w')) with (x * y' * (z * w')) by ring.
  replace (x' * z' * (y * w)) with (x' * y * (z' * w)) by ring.
  apply Rmult_le_compat; try assumption; apply Rmult_le_pos; assumption.
Qed.

(** All are zero; or [best] has the largest quotient q f / q (moved f), and its own factor is above zero. *)
Definition column_right (q : nat -> R) (kinds : nat -> Prop) (moved : nat -> nat) (best : nat) : Prop :=
  (forall f, kinds f -> q f = 0) \/ (0 < q best /\ forall f, kinds f -> q f * q (moved best) <= q best * q (moved f)).

Section Terms.
Variables size step : nat.
Variable p : nat -> nat -> R.
Hypothesis nonnegative : forall f v, 0 <= p f v.
Variables own_best others_best : nat -> nat.
Hypothesis own_right : forall v, (v < size)%nat ->
  column_right (fun f => p f v) (fun f => (step <= f < size)%nat) (fun f => (f - step)%nat) (own_best v).
Hypothesis others_right : forall v, (v <= size)%nat ->
  column_right (fun f => below_ p f v) (fun f => (f < size - step)%nat) (fun f => (f + step)%nat) (others_best v).

Definition place (r : role) (v : nat) : nat := match r with Loses => S v | _ => v end.

(** What the answers that are named put in the place of another one, and of its neighbour. *)
Definition best_factor (v : nat) (a : role * nat) : R := below_ p (others_best (place (fst a) v)) (place (fst a) v).
Definition moved_factor (v : nat) (a : role * nat) : R := below_ p (others_best (place (fst a) v) + step) (place (fst a) v).

Definition alone (a : role * nat) : Prop := fst a <> Ties.

Lemma hidden_alone l v : Forall alone l -> hidden p l v = product_of (map (fun a => below_ p (snd a) (place (fst a) v)) l).
Proof.
  intros H. unfold hidden. rewrite shared_alone.
  - rewrite map_map. f_equal. apply map_ext_in. intros [[] f] _; reflexivity.
  - apply Forall_forall. intros x X. apply in_map_iff in X. destruct X as [[r f] [<- X]]. rewrite Forall_forall in H.
    specialize (H _ X). unfold alone in H. unfold chances. simpl in *. destruct r; simpl; congruence.
Qed.

Lemma all_least (f : role * nat -> R) l : (forall a, 0 <= f a) -> 0 <= product_of (map f l).
Proof. intros H. apply product_least, Forall_forall. intros x X. apply in_map_iff in X. destruct X as [a [<- _]]. apply H. Qed.

Lemma products v l : (v < size)%nat -> Forall (fun a => (snd a < size - step)%nat) l ->
  let here := product_of (map (fun a => below_ p (snd a) (place (fst a) v)) l) in
  let there := product_of (map (fun a => below_ p (snd a + step) (place (fst a) v)) l) in
  here = 0 \/ (0 < product_of (map (best_factor v) l)
               /\ here * product_of (map (moved_factor v) l) <= product_of (map (best_factor v) l) * there).
Proof.
  intros V H. cbv zeta. induction H as [|[r f] l L H IH]; [right; simpl; lra|]. cbn [map]. rewrite !product_cons.
  assert (W : (place r v <= size)%nat) by (destruct r; simpl; lia). cbn [fst snd] in *.
  destruct (others_right _ W) as [Z|[B M]]; [left; rewrite (Z f L); ring|].
  destruct IH as [Z|[B' M']]; [left; rewrite Z; ring|]. right. split.
  - apply Rmult_lt_0_compat; [exact B | exact B'].
  - apply larger_product; try (apply below_least; exact nonnegative); try (apply M; exact L); try exact M'.
    + apply (all_least (fun a => below_ p (snd a) (place (fst a) v))). intros a. apply below_least. exact nonnegative.
    + apply (all_least (moved_factor v)). intros a. apply below_least. exact nonnegative.
Qed.

Variables top bottom : R.
Hypothesis top_least : 0 <= top.

Theorem by_terms own l : (step <= own < size)%nat -> Forall alone l -> Forall (fun a => (snd a < size - step)%nat) l ->
  (forall v, (v < size)%nat ->
     let best := p (own_best v) v * product_of (map (best_factor v) l) in
     let moved := p (own_best v - step) v * product_of (map (moved_factor v) l) in
     0 < best -> best * bottom <= top * moved) ->
  released size p own l * bottom <= top * released size p (own - step) (map (raised step) l).
Proof.
  intros O A H K. unfold released. rewrite <- sum_of_scaled, Rmult_comm, <- sum_of_scaled. apply sum_of_le.
  intros v V. apply in_seq in V. assert (V' : (v < size)%nat) by lia. specialize (K v V'). cbv zeta in K.
  assert (A' : Forall alone (map (raised step) l)).
  { apply Forall_forall. intros a I. apply in_map_iff in I. destruct I as [b [<- I]]. rewrite Forall_forall in A. exact (A b I). }
  rewrite (hidden_alone l v A), (hidden_alone _ v A'), map_map. unfold raised. cbn [fst snd].
  destruct (products v l V' H) as [Z|[B M]].
  - rewrite Z. rewrite Rmult_0_r, Rmult_0_r. apply Rmult_le_pos; [exact top_least|]. apply Rmult_le_pos; [apply nonnegative|].
    apply (all_least (fun a => below_ p (snd a + step) (place (fst a) v))). intros a. apply below_least. exact nonnegative.
  - set (here := product_of (map (fun a => below_ p (snd a) (place (fst a) v)) l)) in *.
    set (there := product_of (map (fun a => below_ p (snd a + step) (place (fst a) v)) l)) in *.
    set (bests := product_of (map (best_factor v) l)) in *. set (moveds := product_of (map (moved_factor v) l)) in *.
    assert (Here : 0 <= here).
    { apply (all_least (fun a => below_ p (snd a) (place (fst a) v))). intros a. apply below_least. exact nonnegative. }
    assert (There : 0 <= there).
    { apply (all_least (fun a => below_ p (snd a + step) (place (fst a) v))). intros a. apply below_least. exact nonnegative. }
    assert (Moveds : 0 <= moveds) by (apply (all_least (moved_factor v)); intros a; apply below_least; exact nonnegative).
    destruct (own_right v V') as [Z|[B' M']].
    + rewrite (Z own O). rewrite Rmult_0_l, Rmult_0_r. apply Rmult_le_pos; [exact top_least|].
      apply Rmult_le_pos; [apply nonnegative | exact There].
    + assert (P : 0 < p (own_best v) v * bests) by (apply Rmult_lt_0_compat; assumption). specialize (K P).
      pose proof (larger_product _ _ _ _ here there bests moveds (nonnegative own v) (nonnegative (own_best v - step) v)
        Here Moveds (M' own O) M) as J. cbv beta in J.
      set (X := p own v * here) in *. set (Y := p (own - step)%nat v * there) in *.
      set (best := p (own_best v) v * bests) in *. set (moved := p (own_best v - step)%nat v * moveds) in *.
      assert (X0 : 0 <= X) by (apply Rmult_le_pos; [apply nonnegative | exact Here]).
      apply Rmult_le_reg_l with best; [exact P|].
      apply Rle_trans with (X * (top * moved)).
      * replace (best * (bottom * X)) with (X * (best * bottom)) by ring. apply Rmult_le_compat_l; assumption.
      * replace (X * (top * moved)) with (top * (X * moved)) by ring. replace (best * (top * Y)) with (top * (best * Y)) by ring.
        apply Rmult_le_compat_l; assumption.
Qed.

End Terms.
