(** Documents about many sequences: a hidden Markov model whose weights are polynomials, and what is said of it.

    States and symbols are numbered from 0. All weights of steps are to be divided by one number, [scale]. The weights
    and the mass of a secret are given up to one positive number, and so are both sides of the bound. *)

From Coq Require Import Reals ZArith List Lra Lia Bool Arith.
From Paramverify Require Import Privacy Hmm Coverings Poly Goal.
Import ListNotations.
Local Open Scope R_scope.

(** A secret: how likely each first state is, and the sum of that. *)
Record prior := { first : list poly; mass : poly }.

Record model := {
  size : nat;                        (* the number of states *)
  steps : list (list (list poly));   (* by symbol, state and next state *)
  scale : positive;
  secrets : list (prior * prior);
  above : poly;                      (* the bound is above / under *)
  under : poly;
  domain : goal                      (* a set of points: the polynomial of the goal says nothing *)
}.

Definition numbers (e : env) (v : list poly) : vector := map (fun p => eval p e) v.

(** * What is said *)

Definition table (m : model) (e : env) (o : nat) : list vector :=
  map (numbers e) (nth o (steps m) (repeat [] (size m))).

Definition divided (s : R) (v : vector) : vector := map (fun x => x / s) v.

(** Pr(o, next state | state). *)
Definition matrix (m : model) (e : env) (o : nat) : list vector :=
  map (divided (IZR (Zpos (scale m)))) (table m e o).

(** Pr(sequence and secret), up to the number that belongs to the secret. *)
Definition weight (m : model) (e : env) (w : prior) (word : list nat) : R :=
  dot (numbers e (first w)) (apply_word (matrix m e) word (ones (size m))).

Definition in_range (m : model) (word : list nat) : Prop := Forall (fun o => (o < length (steps m))%nat) word.

(** Pr(sequence | left) <= above/under * Pr(sequence | right), without quotients: see [within_ratio]. *)
Definition within (m : model) (e : env) (left right : prior) (word : list nat) : Prop :=
  eval (under m) e * (weight m e left word * eval (mass right) e)
  <= eval (above m) e * (weight m e right word * eval (mass left) e).

Definition all_within (m : model) (e : env) (about : list nat -> Prop) : Prop :=
  forall left right, In (left, right) (secrets m) -> forall word, in_range m word -> about word ->
  within m e left right word /\ within m e right left word.

Definition possible_prior (e : env) (w : prior) : Prop :=
  (forall p, In p (first w) -> 0 <= eval p e) /\ 0 <= eval (mass w) e.

(** At a point of a case no weight is negative. *)
Definition possible (m : model) (e : env) : Prop :=
  (forall t row p, In t (steps m) -> In row t -> In p row -> 0 <= eval p e)
  /\ (forall left right, In (left, right) (secrets m) -> possible_prior e left /\ possible_prior e right)
  /\ 0 <= eval (above m) e /\ 0 <= eval (under m) e.

Lemma within_ratio m e left right word :
  within m e left right word -> 0 < eval (mass left) e -> 0 < eval (mass right) e -> 0 < eval (under m) e ->
  weight m e left word / eval (mass left) e
  <= eval (above m) e / eval (under m) e * (weight m e right word / eval (mass right) e).
Proof.
  unfold within. intros H L R U. set (x := weight m e left word) in *. set (y := weight m e right word) in *.
  set (u := eval (under m) e) in *. set (a := eval (above m) e) in *.
  set (p := eval (mass left) e) in *. set (q := eval (mass right) e) in *.
  assert (D : 0 < u * (p * q)) by (repeat apply Rmult_lt_0_compat; assumption).
  replace (x / p) with (u * (x * q) / (u * (p * q))) by (field; lra).
  replace (a / u * (y / q)) with (a * (y * p) / (u * (p * q))) by (field; lra).
  unfold Rdiv. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; exact D | exact H].
Qed.

(** * Tables in place of matrices *)

(** How far the left secret is within the bound, where [x] is a vector of probabilities by first state. *)
Definition margin (m : model) (e : env) (left right : prior) (x : vector) : R :=
  eval (above m) e * (dot (numbers e (first right)) x * eval (mass left) e)
  - eval (under m) e * (dot (numbers e (first left)) x * eval (mass right) e).

Lemma dot_divided s a v : dot (divided s a) v = dot a v / s.
Proof.
  revert v. induction a as [|x a IH]; intros [|y v]; simpl; try (unfold Rdiv; ring).
  fold (divided s a). rewrite IH. unfold Rdiv. ring.
Qed.

Lemma dot_divided_right s a v : dot a (divided s v) = dot a v / s.
Proof.
  revert v. induction a as [|x a IH]; intros [|y v]; simpl; try (unfold Rdiv; ring).
  fold (divided s v). rewrite IH. unfold Rdiv. ring.
Qed.

Lemma apply_divided s t v : apply (map (divided s) t) v = divided s (apply t v).
Proof.
  unfold apply, divided at 2. rewrite !map_map. apply map_ext. intros row. apply dot_divided.
Qed.

Lemma apply_divided_right s t v : apply t (divided s v) = divided s (apply t v).
Proof. unfold apply, divided at 2. rewrite map_map. apply map_ext. intros row. apply dot_divided_right. Qed.

Lemma apply_word_divided (t : nat -> list vector) s word v : s <> 0 ->
  apply_word (fun o => map (divided s) (t o)) word v = divided (s ^ length word) (apply_word t word v).
Proof.
  intros Hs. induction word as [|o word IH]; simpl.
  - unfold divided. rewrite <- (map_id v) at 1. apply map_ext. intros x. field.
  - fold (apply_word t word v). fold (apply_word (fun o => map (divided s) (t o)) word v). rewrite IH.
    rewrite apply_divided, apply_divided_right. unfold divided. rewrite map_map. apply map_ext. intros x.
    field. split; [apply pow_nonzero; exact Hs | exact Hs].
Qed.

Lemma margin_within m e left right word :
  0 <= margin m e left right (apply_word (table m e) word (ones (size m))) -> within m e left right word.
Proof.
  unfold margin, within, weight. intros H.
  set (s := IZR (Zpos (scale m))) in *. assert (Hs : 0 < s) by (apply IZR_lt; reflexivity).
  change (matrix m e) with (fun o => map (divided s) (table m e o)). rewrite apply_word_divided by lra.
  rewrite !dot_divided_right. set (d := s ^ length word). assert (Hd : 0 < d) by (apply pow_lt; exact Hs).
  set (v := apply_word (table m e) word (ones (size m))) in *.
  set (x := dot (numbers e (first left)) v) in *. set (y := dot (numbers e (first right)) v) in *.
  replace (eval (under m) e * (x / d * eval (mass right) e)) with (eval (under m) e * (x * eval (mass right) e) * / d)
    by (unfold Rdiv; ring).
  replace (eval (above m) e * (y / d * eval (mass left) e)) with (eval (above m) e * (y * eval (mass left) e) * / d)
    by (unfold Rdiv; ring).
  apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; exact Hd | lra].
Qed.

(** The margin as a product with a vector. *)
Definition excess (m : model) (e : env) (left right : prior) : vector :=
  plus_scaled (eval (above m) e * eval (mass left) e) (numbers e (first right))
    (plus_scaled (- (eval (under m) e * eval (mass right) e)) (numbers e (first left)) (zeros (size m))).

Lemma dot_plus_left w (a b v : vector) : length a = length b -> dot (plus_scaled w a b) v = w * dot a v + dot b v.
Proof.
  revert b v. induction a as [|x a IH]; intros [|y b] [|z v] H; simpl in *; try discriminate; try lra.
  fold (plus_scaled w a b). injection H as H. rewrite IH by exact H. lra.
Qed.

Lemma dot_zeros_left k v : dot (zeros k) v = 0.
Proof. revert v. induction k as [|k IH]; intros [|x v]; simpl; try reflexivity. fold (zeros k). rewrite IH. lra. Qed.

Lemma length_numbers e v : length (numbers e v) = length v.
Proof. apply map_length. Qed.

Lemma dot_excess m e left right v : length (first left) = size m -> length (first right) = size m ->
  dot (excess m e left right) v = margin m e left right v.
Proof.
  intros Hl Hr. unfold excess, margin. assert (Hz : length (zeros (size m)) = size m) by apply repeat_length.
  rewrite dot_plus_left by (rewrite (length_plus_scaled _ _ _ (size m)); rewrite ?length_numbers; congruence).
  rewrite dot_plus_left by (rewrite ?length_numbers; congruence). rewrite dot_zeros_left. ring.
Qed.

(** * What is computed *)

Definition shaped (m : model) : bool :=
  forallb (fun t => Nat.eqb (length t) (size m) && forallb (fun row : list poly => Nat.eqb (length row) (size m)) t)
    (steps m)
  && forallb (fun lr => Nat.eqb (length (first (fst lr))) (size m) && Nat.eqb (length (first (snd lr))) (size m))
    (secrets m).

Lemma table_at m e o : (o < length (steps m))%nat ->
  exists t, In t (steps m) /\ table m e o = map (numbers e) t.
Proof.
  intros H. exists (nth o (steps m) (repeat [] (size m))). split; [apply nth_In; exact H | reflexivity].
Qed.

Lemma shaped_table m e : shaped m = true -> forall o, length (table m e o) = size m.
Proof.
  unfold shaped. rewrite andb_true_iff, forallb_forall. intros [H _] o. unfold table. rewrite map_length.
  destruct (Nat.lt_ge_cases o (length (steps m))) as [L|L].
  - specialize (H _ (nth_In _ (repeat [] (size m)) L)). apply andb_true_iff in H. apply Nat.eqb_eq. apply H.
  - rewrite nth_overflow by exact L. apply repeat_length.
Qed.

Lemma shaped_priors m : shaped m = true -> forall l r, In (l, r) (secrets m) ->
  length (first l) = size m /\ length (first r) = size m.
Proof.
  unfold shaped. rewrite andb_true_iff, !forallb_forall. intros [_ H] l r Hin. specialize (H _ Hin). simpl in H.
  apply andb_true_iff in H. rewrite !Nat.eqb_eq in H. exact H.
Qed.

Definition nothing (p : poly) : bool := match p with Pc Z0 => true | _ => false end.

Lemma nothing_right p e : nothing p = true -> eval p e = 0.
Proof. destruct p as [[|z|z]|]; try discriminate. reflexivity. Qed.

Fixpoint pdot (a b : list poly) : poly :=
  match a, b with
  | x :: a, y :: b =>
      if nothing x then pdot a b else if nothing y then pdot a b else padd (pmul x y) (pdot a b)
  | _, _ => Pc 0
  end.

Lemma eval_pdot e a b : eval (pdot a b) e = dot (numbers e a) (numbers e b).
Proof.
  revert b. induction a as [|x a IH]; intros [|y b]; simpl; try reflexivity.
  destruct (nothing x) eqn:X; [rewrite IH, (nothing_right _ e X); unfold numbers; lra|].
  destruct (nothing y) eqn:Y; [rewrite IH, (nothing_right _ e Y); unfold numbers; lra|].
  rewrite eval_padd, eval_pmul, IH. reflexivity.
Qed.

Definition papply (t : list (list poly)) (v : list poly) : list poly := map (fun row => pdot row v) t.

Lemma numbers_papply e t v : numbers e (papply t v) = apply (map (numbers e) t) (numbers e v).
Proof. unfold numbers at 1, papply, apply. rewrite !map_map. apply map_ext. intros row. apply eval_pdot. Qed.

Definition as_polys (v : list Z) : list poly := map Pc v.

Lemma numbers_as_polys e v : numbers e (as_polys v) = reals v.
Proof. unfold numbers, as_polys, reals. rewrite map_map. reflexivity. Qed.

Lemma reals_ones k : reals (repeat 1%Z k) = ones k.
Proof. induction k as [|k IH]; simpl; [reflexivity|]. unfold ones in *. simpl. rewrite <- IH. reflexivity. Qed.

(** The vectors of all words of a length. *)
Fixpoint plevel (ts : list (list (list poly))) (v : list poly) (k : nat) : list (list poly) :=
  match k with
  | O => [v]
  | S k => flat_map (fun u => map (fun t => papply t u) ts) (plevel ts v k)
  end.

Lemma plevel_right m e v word : in_range m word ->
  exists u, In u (plevel (steps m) v (length word)) /\ numbers e u = apply_word (table m e) word (numbers e v).
Proof.
  induction word as [|o word IH]; intros H; simpl.
  - exists v. split; [left; reflexivity | reflexivity].
  - inversion H as [|? ? Ho Hw]; subst. destruct (IH Hw) as [u [Hu Eu]]. destruct (table_at m e o Ho) as [t [Ht Et]].
    exists (papply t u). split.
    + apply in_flat_map. exists u. split; [exact Hu|]. apply in_map_iff. exists t. split; [reflexivity | exact Ht].
    + rewrite numbers_papply, Eu, Et. reflexivity.
Qed.

Definition compared (m : model) (left right : prior) (v : list poly) : poly :=
  psub (pmul (above m) (pmul (pdot (first right) v) (mass left)))
       (pmul (under m) (pmul (pdot (first left) v) (mass right))).

Lemma eval_compared m e left right v : eval (compared m left right v) e = margin m e left right (numbers e v).
Proof. unfold compared, margin. rewrite eval_psub, !eval_pmul, !eval_pdot. reflexivity. Qed.

(** Both directions of all pairs. *)
Definition in_bounds (shown : poly -> bool) (m : model) (v : list poly) : bool :=
  forallb (fun lr => shown (compared m (fst lr) (snd lr) v) && shown (compared m (snd lr) (fst lr) v)) (secrets m).

Lemma in_bounds_right shown m e v : (forall f, shown f = true -> 0 <= eval f e) -> in_bounds shown m v = true ->
  forall l r, In (l, r) (secrets m) -> 0 <= margin m e l r (numbers e v) /\ 0 <= margin m e r l (numbers e v).
Proof.
  intros S H l r Hin. unfold in_bounds in H. rewrite forallb_forall in H. specialize (H _ Hin). simpl in H.
  apply andb_true_iff in H. destruct H as [H1 H2]. apply S in H1. apply S in H2. rewrite eval_compared in H1, H2.
  split; assumption.
Qed.

(** * What follows from claims: what is a number, or a claim up to a positive number *)

Fixpoint trivial (f : poly) : bool :=
  match f with Pc c => (0 <=? c)%Z | PX q p => is_zero p && trivial q end.

Lemma trivial_right f e : trivial f = true -> 0 <= eval f e.
Proof.
  revert e. induction f as [c|q IHq p IHp]; simpl; intros e H.
  - apply Z.leb_le, IZR_le in H. exact H.
  - apply andb_true_iff in H. destruct H as [H1 H2]. rewrite (is_zero_eval _ H1). specialize (IHq (shift e) H2). lra.
Qed.

(** [find] says which claim it is; nothing rests on its answer. *)
Definition follows (find : poly -> nat) (known : list poly) (f : poly) : bool :=
  trivial f || match nth_error known (find f) with Some p => proportional p f | None => false end.

Lemma follows_right find known e : (forall p, In p known -> 0 <= eval p e) ->
  forall f, follows find known f = true -> 0 <= eval f e.
Proof.
  intros K f H. unfold follows in H. apply orb_true_iff in H. destruct H as [H|H]; [apply trivial_right; exact H|].
  destruct (nth_error known (find f)) as [p|] eqn:E; [|discriminate]. apply nth_error_In in E. apply K in E.
  apply proportional_ok in H. destruct H as [a [b [A [B H]]]]. specialize (H e).
  apply Rmult_le_reg_l with b; [exact B|]. rewrite <- H, Rmult_0_r. apply Rmult_le_pos; lra.
Qed.
