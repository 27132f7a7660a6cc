(* Deciding formulas of dpCTL* in all states of a finite chain: see `Formulas` for what they say. *)
From Coq Require Import Reals ZArith QArith Qreals Lra Lia List Bool Arith.
From Coquelicot Require Import Rbar Lim_seq.
From Paramverify Require Import Poly Goal Certificate Rule Check Sound Parts Unwinding Weights Closures Violations Formulas.
Import ListNotations.
Local Open Scope R_scope.

Fixpoint all_some {A : Type} (l : list (option A)) : option (list A) :=
  match l with
  | [] => Some []
  | Some a :: l => match all_some l with Some m => Some (a :: m) | None => None end
  | None :: _ => None
  end.

Definition both (a b : option bool) : option bool :=
  match a, b with
  | Some false, _ | _, Some false => Some false
  | Some true, b => b
  | a, Some true => a
  | _, _ => None
  end.
Definition opposite (a : option bool) : option bool := option_map negb a.

Section Deciding.

Variable g : goal.
Variable signs : list sign.
Variable c : chain.
Variable near : list (nat * nat).

Definition size : nat := length c.
Definition zero : weight := (qconst 0, qconst 1).

Definition chain_ok : bool :=
  forallb (fun r =>
    forallb (fun p => ask g signs false (fst (snd p)) && ask g signs true (snd (snd p)) && Nat.ltb (fst p) size) r &&
    same_weight (added_up r) one) c.

(* --- probabilities ------------------------------------------------------------------------------------------------ *)

Fixpoint average (look : nat -> option weight) (l : list (nat * weight)) : option weight :=
  match l with
  | [] => Some zero
  | (z, w) :: l =>
    match look z, average look l with
    | Some u, Some s => Some (plus_weight s (times_weight w u))
    | _, _ => None
    end
  end.

Definition find_plan (found : list (plan * list weight)) (p : plan) : option (list weight) :=
  match find (fun q => same_plan (fst q) p) found with Some (_, vs) => Some vs | None => None end.

Definition chance_of (found : list (plan * list weight)) (p : plan) (x : nat) : option weight :=
  match onwards p x with
  | Sure true => Some one
  | Sure false => Some zero
  | q => match find_plan found q with Some vs => average (nth_error vs) (nth x c []) | None => None end
  end.

(* Each plan once, without those that are decided. *)
Definition open_ones (l : list plan) : list plan :=
  fold_left (fun found p =>
    match p with Sure _ => found | p => if existsb (fun q => same_plan q p) found then found else p :: found end) l [].

Fixpoint vectors (n : nat) (l : list plan) : option (list (plan * list weight)) :=
  let later := match open_ones (flat_map (fun p => map (onwards p) (seq 0 size)) l) with
               | [] => Some []
               | todo => match n with O => None | S n => vectors n todo end
               end in
  match later with
  | None => None
  | Some found => all_some (map (fun p => option_map (pair p) (all_some (map (chance_of found p) (seq 0 size)))) l)
  end.

(* The probabilities to reach something within one step more. *)
Definition one_more_step (stay goal_bits : list bool) (us : list weight) : option (list weight) :=
  all_some (map (fun x =>
    if nth x goal_bits false then Some one
    else if nth x stay false then average (nth_error us) (nth x c []) else Some zero) (seq 0 size)).

Fixpoint same_weights (l m : list weight) : bool :=
  match l, m with
  | [], [] => true
  | a :: l, b :: m => same_weight a b && same_weights l m
  | _, _ => false
  end.

Fixpoint stable (n : nat) (stay goal_bits : list bool) (us : list weight) : option (list weight) :=
  match n with
  | O => None
  | S n =>
    match one_more_step stay goal_bits us with
    | Some vs => if same_weights us vs then Some us else stable n stay goal_bits vs
    | None => None
    end
  end.

(* The probabilities of `f U h`, from the truths of both. *)
Definition ever (fs hs : list (option bool)) : option (list weight) :=
  match all_some fs, all_some hs with
  | Some stay, Some goal_bits =>
    if Nat.eqb (length stay) size && Nat.eqb (length goal_bits) size
    then stable (S size) stay goal_bits (map (fun b : bool => if b then one else zero) goal_bits) else None
  | _, _ => None
  end.

Definition complement (w : weight) : weight := (qsub (snd w) (fst w), snd w).

(* --- truth --------------------------------------------------------------------------------------------------------- *)

Definition compared (strict : bool) (small large : weight) : option bool :=
  if ask g signs strict (difference [small] [large]) then Some true
  else if ask g signs (negb strict) (difference [large] [small]) then Some false else None.

Definition hidden_by (ratio delta y z : weight) : option bool :=
  compared false y (plus_weight (times_weight ratio z) delta).

Definition private_at (ratio delta : weight) (vs : list weight) (x : nat) : option bool :=
  let itself := if ask g signs false (difference [one] [ratio]) && ask g signs false (fst delta)
                then Some true else None in
  fold_right (fun y rest =>
    match nth_error vs x, nth_error vs y with
    | Some u, Some v => both (both (hidden_by ratio delta u v) (hidden_by ratio delta v u)) rest
    | _, _ => None
    end) itself (mates_of near x).

Fixpoint truths (f : formula) : list (option bool) :=
  match f with
  | Truth b => map (fun _ => Some b) (seq 0 size)
  | Among states => map (fun x => Some (existsb (Nat.eqb x) states)) (seq 0 size)
  | Not f => map opposite (truths f)
  | And f h => map (fun p => both (fst p) (snd p)) (combine (truths f) (truths h))
  | Or f h => map (fun p => opposite (both (opposite (fst p)) (opposite (snd p)))) (combine (truths f) (truths h))
  | Share lower strict bound v =>
    match ask g signs true (snd bound), chances v with
    | true, Some vs => map (fun u => if lower then compared strict bound u else compared strict u bound) vs
    | _, _ => []
    end
  | Private ratio delta v =>
    match ask g signs true (snd ratio) && ask g signs true (snd delta), chances v with
    | true, Some vs => map (private_at ratio delta vs) (seq 0 size)
    | _, _ => []
    end
  end
with planned (p : path) : option plan :=
  match p with
  | State f => match all_some (truths f) with
               | Some bits => if Nat.eqb (length bits) size then Some (Listed bits) else None
               | None => None
               end
  | NotP p => option_map PNot (planned p)
  | AndP p q => match planned p, planned q with Some a, Some b => Some (PAnd a b) | _, _ => None end
  | OrP p q => match planned p, planned q with Some a, Some b => Some (POr a b) | _, _ => None end
  | Next p => option_map PNext (planned p)
  | Until p q low high =>
    match planned p, planned q with
    | Some a, Some b => Some (if Nat.ltb high low then Sure false else PUntil a b low (high - low))
    | _, _ => None
    end
  end
with chances (v : event) : option (list weight) :=
  match v with
  | Within p =>
    match planned p with
    | Some q => match vectors (depth p) [q] with Some found => find_plan found q | None => None end
    | None => None
    end
  | Ever f h => ever (truths f) (truths h)
  | Release f h => option_map (map complement) (ever (map opposite (truths f)) (map opposite (truths h)))
  end.

(* --- it is right --------------------------------------------------------------------------------------------------- *)

Variable rec : checker.
Hypothesis rec_honest : honest rec.
Hypothesis known : signs_ok rec g signs = true.
Variable e : env.
Hypothesis in_domain : dom g e.
Hypothesis accepted : chain_ok = true.

Let asked := ask_ok rec g signs rec_honest known e in_domain.
Let steps (x : nat) : list (nat * R) := next_of c e x.

Lemma row_facts : forall x, sound_row e (nth x c []) /\ (forall p, In p (nth x c []) -> (fst p < size)%nat) /\
  ((x < size)%nat -> mean (fun _ => 1) (steps x) = 1).
Proof.
  intro x. destruct (Nat.lt_ge_cases x size) as [L|L].
  - unfold chain_ok in accepted. rewrite forallb_forall in accepted. specialize (accepted _ (nth_In c [] L)).
    apply andb_prop in accepted as [H One]. rewrite forallb_forall in H.
    assert (S : sound_row e (nth x c [])).
    { intros p P. specialize (H p P). apply andb_prop in H as [H _]. apply andb_prop in H as [A B].
      apply asked in A, B. split; [|exact B]. unfold value, Rdiv. apply Rmult_le_pos; [exact A|].
      left. now apply Rinv_0_lt_compat. }
    split; [exact S|]. split.
    + intros p P. specialize (H p P). apply andb_prop in H as [_ H]. now apply Nat.ltb_lt.
    + intros _. unfold steps, next_of. destruct (added_up_ok e _ (sound_good e _ S)) as [S1 S2].
      rewrite S1, (same_weight_ok e _ _ S2 (one_sound e) One). apply one_value.
  - unfold size in L. rewrite nth_overflow by assumption. split; [intros p []|]. split; [intros p []|]. unfold size. lia.
Qed.

Lemma steps_facts : forall x p, In p (steps x) -> 0 <= snd p /\ (fst p < size)%nat.
Proof.
  intros x p P. apply in_map_iff in P as (q & <- & Q). destruct (row_facts x) as (S & T & _).
  split; [apply (S q Q) | exact (T q Q)].
Qed.

Definition inside (w : list nat) : Prop := Forall (fun x => (x < size)%nat) w.

Lemma expect_ext : forall n good other x, (forall w, inside w -> good w = other w) -> (x < size)%nat ->
  expect c e n good x = expect c e n other x.
Proof.
  induction n as [|n IH]; intros good other x E X; cbn [expect].
  - rewrite E; [reflexivity | repeat constructor; exact X].
  - apply mean_ext. intros p P. apply IH; [|apply (steps_facts x p P)].
    intros w W. apply E. now constructor.
Qed.

Lemma expect_sure : forall n good b x, (forall w, good (x :: w) = b) -> (x < size)%nat ->
  expect c e n good x = if b then 1 else 0.
Proof.
  induction n as [|n IH]; intros good b x E X; cbn [expect]; [now rewrite E|].
  rewrite (mean_ext _ (fun _ => if b then 1 else 0)).
  - rewrite mean_const. fold (steps x). rewrite (proj2 (proj2 (row_facts x)) X). ring.
  - intros p P. apply IH; [|apply (steps_facts x p P)]. intro w. apply E.
Qed.

Lemma expect_nonneg : forall n good x, 0 <= expect c e n good x.
Proof.
  induction n as [|n IH]; intros good x; cbn [expect]; [destruct (good [x]); lra|].
  apply mean_nonneg; [intro; apply IH|]. intros p P. apply (steps_facts x p P).
Qed.

Lemma expect_most : forall n good x, (x < size)%nat -> expect c e n good x <= 1.
Proof.
  induction n as [|n IH]; intros good x X; cbn [expect]; [destruct (good [x]); lra|].
  rewrite <- (proj2 (proj2 (row_facts x)) X). apply mean_le. intros p P. destruct (steps_facts x p P) as [W L].
  split; [exact W | apply IH; exact L].
Qed.

Lemma complement_ok : forall w, sound_weight e w -> value e (complement w) = 1 - value e w /\ sound_weight e (complement w).
Proof.
  intros w S. split; [|exact S]. unfold complement, value. cbn [fst snd]. rewrite qeval_sub. unfold sound_weight in S. field. lra.
Qed.

Lemma zero_ok : value e zero = 0 /\ sound_weight e zero.
Proof. exact (none_ok e). Qed.

Lemma average_ok : forall look h l v, good_row e l ->
  (forall z u, In z (map fst l) -> look z = Some u -> value e u = h z /\ sound_weight e u) ->
  average look l = Some v -> value e v = mean h (valued e l) /\ sound_weight e v.
Proof.
  intros look h. induction l as [|[z w] l IH]; intros v G L H; cbn [average] in H.
  - inversion H; subst. exact zero_ok.
  - destruct (look z) as [u|] eqn:U; [|discriminate]. destruct (average look l) as [s|]; [|discriminate].
    inversion H; subst. clear H. destruct (L z u (or_introl eq_refl) U) as [U1 U2].
    destruct (IH s (fun p P => G p (or_intror P)) (fun y t Y => L y t (or_intror Y)) eq_refl) as [I1 I2].
    pose proof (G (z, w) (or_introl eq_refl)) as W. cbn [snd] in W.
    destruct (times_value_ok e w u W U2) as [T1 T2]. destruct (plus_weight_ok e s _ I2 T2) as [P1 P2].
    split; [|exact P2]. rewrite P1, I1, T1, U1. cbn [valued map mean fst snd]. unfold valued. ring.
Qed.

Lemma all_some_nth : forall A (l : list (option A)) m, all_some l = Some m ->
  forall x a, nth_error m x = Some a -> nth_error l x = Some (Some a).
Proof.
  intros A. induction l as [|[b|] l IH]; intros m H x a N; simpl in H; try discriminate.
  - inversion H; subst. destruct x; discriminate.
  - destruct (all_some l) as [k|]; [|discriminate]. inversion H; subst. destruct x as [|x]; simpl in *; [congruence|].
    exact (IH k eq_refl x a N).
Qed.

Lemma all_some_in : forall A (l : list (option A)) m a, all_some l = Some m -> In a m -> In (Some a) l.
Proof.
  intros A l m a H I. apply In_nth_error in I as [x N]. apply (nth_error_In l x). exact (all_some_nth A l m H x a N).
Qed.

Lemma nth_error_map_seq : forall A (f : nat -> A) n x a, nth_error (map f (seq 0 n)) x = Some a -> (x < n)%nat /\ a = f x.
Proof.
  intros A f n x a H. assert (L : (x < n)%nat).
  { rewrite <- (seq_length n 0), <- (map_length f (seq 0 n)). apply nth_error_Some. congruence. }
  split; [exact L|]. rewrite (nth_error_nth' _ (f 0%nat)) in H by (now rewrite map_length, seq_length).
  inversion H. rewrite (map_nth f). now rewrite seq_nth.
Qed.

Lemma find_plan_in : forall found p vs, find_plan found p = Some vs -> In (p, vs) found.
Proof.
  intros found p vs H. unfold find_plan in H. destruct (find _ found) as [[q us]|] eqn:F; [|discriminate].
  inversion H; subst. apply find_some in F as [I E]. apply same_plan_ok in E. cbn [fst] in E. now subst.
Qed.

(* The numbers of a vector are those of a function of states. *)
Definition tells (vs : list weight) (h : nat -> R) : Prop :=
  forall x v, nth_error vs x = Some v -> (x < size)%nat /\ value e v = h x /\ sound_weight e v.

Lemma chance_ok : forall found p x v n, (x < size)%nat ->
  (forall q vs, In (q, vs) found -> exists m, (n = S m)%nat /\ tells vs (expect c e m (meets q))) ->
  chance_of found p x = Some v -> value e v = expect c e n (meets p) x /\ sound_weight e v.
Proof.
  intros found p x v n X F H. unfold chance_of in H.
  assert (Later : match find_plan found (onwards p x) with Some vs => average (nth_error vs) (nth x c []) | None => None end
    = Some v -> value e v = expect c e n (meets p) x /\ sound_weight e v).
  { clear H. intro H. destruct (find_plan found (onwards p x)) as [vs|] eqn:E; [|discriminate].
    apply find_plan_in in E. destruct (F _ _ E) as (m & -> & T). cbn [expect].
    destruct (row_facts x) as (S & _). destruct (average_ok _ (expect c e m (meets (onwards p x))) _ _ (sound_good e _ S)
      (fun z u _ Z => proj2 (T z u Z)) H) as [A1 A2]. split; [|exact A2]. rewrite A1. apply mean_ext. intros q Q.
    symmetry. apply expect_ext; [|apply (steps_facts x q Q)]. intros w _. apply onwards_ok. }
  destruct (onwards p x) as [b| | | | | |] eqn:E; try exact (Later H).
  assert (Sure_ok : expect c e n (meets p) x = if b then 1 else 0).
  { apply expect_sure; [|exact X]. intro w. rewrite onwards_ok, E. reflexivity. }
  rewrite Sure_ok. destruct b; inversion H; subst; [split; [apply one_value | apply one_sound] | exact zero_ok].
Qed.

Lemma vectors_ok : forall n l found, vectors n l = Some found -> forall p vs, In (p, vs) found ->
  forall m, (n <= m)%nat -> tells vs (expect c e m (meets p)).
Proof.
  induction n as [|n IH]; intros l found H p vs I m L; cbn [vectors] in H;
    (destruct (open_ones _) as [|q todo] eqn:Todo; [|try discriminate]).
  - intros x v N. apply (all_some_in _ _ _ _ H) in I. apply in_map_iff in I as (p' & I & _).
    destruct (all_some (map (chance_of [] p') (seq 0 size))) as [us|] eqn:E; [|discriminate]. inversion I; subst.
    apply (all_some_nth _ _ _ E) in N. apply nth_error_map_seq in N as [X N]. split; [exact X|].
    apply (chance_ok [] p x v m X); [intros q us' []|now symmetry].
  - intros x v N. apply (all_some_in _ _ _ _ H) in I. apply in_map_iff in I as (p' & I & _).
    destruct (all_some (map (chance_of [] p') (seq 0 size))) as [us|] eqn:E; [|discriminate]. inversion I; subst.
    apply (all_some_nth _ _ _ E) in N. apply nth_error_map_seq in N as [X N]. split; [exact X|].
    apply (chance_ok [] p x v m X); [intros q us' []|now symmetry].
  - destruct (vectors n (q :: todo)) as [later|] eqn:V; [|discriminate].
    intros x v N. apply (all_some_in _ _ _ _ H) in I. apply in_map_iff in I as (p' & I & _).
    destruct (all_some (map (chance_of later p') (seq 0 size))) as [us|] eqn:E; [|discriminate]. inversion I; subst.
    apply (all_some_nth _ _ _ E) in N. apply nth_error_map_seq in N as [X N]. split; [exact X|].
    apply (chance_ok later p x v m X); [|now symmetry]. intros r us' R. destruct m as [|m]; [lia|]. exists m.
    split; [reflexivity|]. apply (IH _ _ V r us' R). lia.
Qed.

(* --- after any number of steps --------------------------------------------------------------------------------------- *)

Section Ever.

Variables stay reached : nat -> bool.

Definition within (n x : nat) : R :=
  expect c e n (until (fun w => stay (hd 0%nat w)) (fun w => reached (hd 0%nat w)) 0 (S n)) x.

Lemma within_now : forall x, within 0 x = if reached x then 1 else 0.
Proof. intro x. unfold within, until. cbn. now rewrite andb_true_r, orb_false_r. Qed.

Lemma within_next : forall n x, (x < size)%nat ->
  within (S n) x = if reached x then 1 else if stay x then mean (within n) (steps x) else 0.
Proof.
  intros n x X. unfold within.
  set (first := fun w => stay (hd 0%nat w)). set (second := fun w => reached (hd 0%nat w)).
  assert (E : forall w, until first second 0 (S (S n)) (x :: w) = reached x || (stay x && until first second 0 (S n) w)).
  { intro w. rewrite until_now, until_later. reflexivity. }
  destruct (reached x) eqn:R.
  - apply (expect_sure (S n) _ true); [|exact X]. intro w. now rewrite E.
  - destruct (stay x) eqn:T.
    + cbn [expect]. apply mean_ext. intros p P. apply expect_ext; [|apply (steps_facts x p P)]. intros w _. apply E.
    + apply (expect_sure (S n) _ false); [|exact X]. intro w. now rewrite E.
Qed.

Lemma same_weights_nth : forall l m, same_weights l m = true -> forall x v, nth_error l x = Some v ->
  exists u, nth_error m x = Some u /\ same_weight v u = true.
Proof.
  induction l as [|a l IH]; intros [|b m] H x v N; try discriminate; [destruct x; discriminate|].
  simpl in H. apply andb_prop in H as [H1 H2]. destruct x as [|x]; simpl in *; [|exact (IH m H2 x v N)].
  inversion N; subst. exists b. now split.
Qed.

Lemma all_some_length : forall A (l : list (option A)) m, all_some l = Some m -> length m = length l.
Proof.
  intros A. induction l as [|[a|] l IH]; intros m H; simpl in H; try discriminate; [now inversion H|].
  destruct (all_some l) as [k|]; [|discriminate]. inversion H; subst. simpl. now rewrite (IH k).
Qed.

Lemma limit_of : forall k x, (x < size)%nat -> (forall z, (z < size)%nat -> within (S k) z = within k z) ->
  real (Lim_seq (fun n => within n x)) = within k x.
Proof.
  intros k x X E.
  assert (Const : forall n z, (z < size)%nat -> within (n + k) z = within k z).
  { induction n as [|n IH]; intros z Z; [reflexivity|]. cbn [Nat.add]. rewrite within_next by assumption.
    rewrite <- (E z Z) at 1. rewrite within_next by assumption. destruct (reached z); [reflexivity|].
    destruct (stay z); [|reflexivity]. apply mean_ext. intros p P. apply IH. apply (steps_facts z p P). }
  rewrite <- (Lim_seq_incr_n _ k). rewrite (Lim_seq_ext _ (fun _ => within k x)) by (intro n; now apply Const).
  now rewrite Lim_seq_const.
Qed.

Lemma stable_ok : forall stay_bits reached_bits,
  (forall x, (x < size)%nat -> nth x stay_bits false = stay x /\ nth x reached_bits false = reached x) ->
  forall n k us found, length us = size -> tells us (within k) -> stable n stay_bits reached_bits us = Some found ->
  tells found (fun x => real (Lim_seq (fun n => within n x))).
Proof.
  intros sb rb B. induction n as [|n IH]; intros k us found Len T H; cbn [stable] in H; [discriminate|].
  destruct (one_more_step sb rb us) as [vs|] eqn:O; [|discriminate].
  assert (Tv : tells vs (within (S k))).
  { intros x v N. unfold one_more_step in O. apply (all_some_nth _ _ _ O) in N. apply nth_error_map_seq in N as [X N].
    split; [exact X|]. destruct (B x X) as [B1 B2]. rewrite B1, B2 in N. rewrite within_next by assumption.
    destruct (reached x); [inversion N; split; [apply one_value | apply one_sound]|].
    destruct (stay x); [|inversion N; exact zero_ok]. destruct (row_facts x) as (S & _).
    exact (average_ok _ (within k) _ v (sound_good e _ S) (fun z u _ Z => proj2 (T z u Z)) (eq_sym N)). }
  destruct (same_weights us vs) eqn:W.
  - inversion H; subst found. clear H.
    assert (Same : forall z, (z < size)%nat -> within (S k) z = within k z).
    { intros z Z. destruct (nth_error us z) as [u|] eqn:U.
      - destruct (same_weights_nth us vs W z u U) as (v & V & E). destruct (T z u U) as (_ & U1 & U2).
        destruct (Tv z v V) as (_ & V1 & V2). rewrite <- U1, <- V1. symmetry. now apply same_weight_ok.
      - apply nth_error_None in U. lia. }
    intros x v N. destruct (T x v N) as (X & V1 & V2). split; [exact X|]. split; [|exact V2].
    rewrite (limit_of k x X Same). exact V1.
  - apply (IH (S k) vs found); [|exact Tv | exact H]. unfold one_more_step in O.
    rewrite (all_some_length _ _ _ O). now rewrite map_length, seq_length.
Qed.

End Ever.

(* --- formulas ---------------------------------------------------------------------------------------------------------- *)

Lemma both_ok : forall a b t, both a b = Some t -> forall x y, (forall s, a = Some s -> x = s) ->
  (forall s, b = Some s -> y = s) -> x && y = t.
Proof.
  intros [[]|] [[]|] t H x y A B; simpl in H; try discriminate; inversion H; subst;
    try (rewrite (A _ eq_refl)); try (rewrite (B _ eq_refl)); try reflexivity; now destruct x.
Qed.

Lemma compared_ok : forall strict y z t, sound_weight e y -> sound_weight e z -> compared strict y z = Some t ->
  if t then below strict (value e y) (value e z) else below (negb strict) (value e z) (value e y).
Proof.
  assert (D : forall strict y z, sound_weight e y -> sound_weight e z -> ask g signs strict (difference [y] [z]) = true ->
    below strict (value e y) (value e z)).
  { intros strict y z Y Z H. apply asked in H. unfold difference in H. cbn [map fold_right fst snd] in H.
    assert (K : qeval (qsub (qmul (qmul (fst z) (qconst 1)) (qmul (snd y) (qconst 1)))
      (qmul (qmul (fst y) (qconst 1)) (qmul (snd z) (qconst 1)))) e
      = (value e z - value e y) * (qeval (snd y) e * qeval (snd z) e)).
    { rewrite qeval_sub, !qeval_mul, !qeval_const, Q2R_1. unfold value, sound_weight in *. field. lra. }
    rewrite K in H. assert (P : 0 < qeval (snd y) e * qeval (snd z) e) by now apply Rmult_lt_0_compat.
    destruct strict; simpl in *.
    - apply Rnot_le_lt. intro C. assert ((value e z - value e y) * (qeval (snd y) e * qeval (snd z) e) <= 0); [|lra].
      rewrite <- (Rmult_0_l (qeval (snd y) e * qeval (snd z) e)). apply Rmult_le_compat_r; lra.
    - apply Rnot_lt_le. intro C. assert ((value e z - value e y) * (qeval (snd y) e * qeval (snd z) e) < 0); [|lra].
      rewrite <- (Rmult_0_l (qeval (snd y) e * qeval (snd z) e)). apply Rmult_lt_compat_r; lra. }
  intros strict y z t Y Z H. unfold compared in H.
  destruct (ask g signs strict (difference [y] [z])) eqn:A; [inversion H; subst; now apply D|].
  destruct (ask g signs (negb strict) (difference [z] [y])) eqn:B; [|discriminate]. inversion H; subst. now apply D.
Qed.

Definition right_at (f : formula) : Prop := forall x b, nth_error (truths f) x = Some (Some b) ->
  (x < size)%nat /\ true_at c near e f x = b.
Definition right_along (p : path) : Prop := forall q, planned p = Some q -> (0 < size)%nat ->
  forall w, inside w -> meets q w = satisfied c near e p w.
Definition right_chance (v : event) : Prop := forall vs, chances v = Some vs ->
  tells vs (prob_of c near e v) /\ forall x, (x < size)%nat -> 0 <= prob_of c near e v x.

Lemma bits_right : forall f bits, right_at f -> all_some (truths f) = Some bits -> length bits = size ->
  forall x, (x < size)%nat -> nth x bits false = true_at c near e f x.
Proof.
  intros f bits R H L x X. destruct (nth_error bits x) as [b|] eqn:N; [|apply nth_error_None in N; lia].
  rewrite (nth_error_nth _ _ _ N). symmetry. apply (R x b). exact (all_some_nth _ _ _ H x b N).
Qed.

Lemma inside_skipn : forall n w, inside w -> inside (skipn n w).
Proof.
  induction n as [|n IH]; intros w W; [exact W|]. destruct W as [|x w X W]; [constructor|]. now apply IH.
Qed.

Lemma inside_hd : forall w, (0 < size)%nat -> inside w -> (hd 0 w < size)%nat.
Proof. intros w Z [|x w' X W]; assumption. Qed.

Lemma until_same : forall a b a' b' low many w, inside w -> (forall v, inside v -> a v = a' v) ->
  (forall v, inside v -> b v = b' v) -> until a b low many w = until a' b' low many w.
Proof.
  intros a b a' b' low many w W A B. unfold until. apply existsb_ext'. intro j.
  rewrite B by now apply inside_skipn. f_equal. induction (seq 0 j) as [|i l IH]; simpl; [reflexivity|].
  now rewrite A, IH by now apply inside_skipn.
Qed.

Lemma dec_le : forall x y, (if Rle_dec x y then true else false) = true <-> x <= y.
Proof. intros x y. destruct (Rle_dec x y); split; intro H; auto; try discriminate; contradiction. Qed.

Lemma hidden_by_ok : forall ratio delta u v t, sound_weight e ratio -> sound_weight e delta -> sound_weight e u ->
  sound_weight e v -> hidden_by ratio delta u v = Some t ->
  (if Rle_dec (value e u) (value e ratio * value e v + value e delta) then true else false) = t.
Proof.
  intros ratio delta u v t R D U V H. unfold hidden_by in H. destruct (times_value_ok e ratio v R V) as [T1 T2].
  destruct (plus_weight_ok e _ delta T2 D) as [P1 P2]. apply compared_ok in H; [|assumption|assumption].
  rewrite P1, T1 in H. destruct t; simpl in H; destruct (Rle_dec _ _); auto; lra.
Qed.

Lemma private_ok : forall ratio delta v vs x b, sound_weight e ratio -> sound_weight e delta ->
  tells vs (prob_of c near e v) -> (forall x, (x < size)%nat -> 0 <= prob_of c near e v x) -> (x < size)%nat ->
  private_at ratio delta vs x = Some b -> true_at c near e (Private ratio delta v) x = b.
Proof.
  intros ratio delta v vs x b R D T N X H.
  set (hid := fun y z => if Rle_dec (prob_of c near e v y)
    (value e ratio * prob_of c near e v z + value e delta) then true else false).
  change (forallb (fun y => hid x y && hid y x) (x :: mates_of near x) = b). cbn [forallb].
  unfold private_at in H.
  set (itself := if ask g signs false (difference [one] [ratio]) && ask g signs false (fst delta) then Some true else None) in H.
  assert (Self : forall s, itself = Some s -> hid x x && hid x x = s).
  { intros s S. unfold itself in S. destruct (ask g signs false (difference [one] [ratio]) && _) eqn:A; [|discriminate].
    inversion S; subst. apply andb_prop in A as [A1 A2].
    pose proof (at_most_ok rec g signs rec_honest known e in_domain [one] [ratio]
      (Forall_cons _ (one_sound e) (Forall_nil _)) (Forall_cons _ R (Forall_nil _)) A1) as L.
    simpl in L. rewrite one_value in L. apply asked in A2. simpl in A2. specialize (N x X).
    assert (Z : 0 <= value e delta).
    { unfold value, Rdiv. apply Rmult_le_pos; [exact A2|]. left. now apply Rinv_0_lt_compat. }
    assert (K : hid x x = true).
    { unfold hid. apply dec_le. assert (1 * prob_of c near e v x <= value e ratio * prob_of c near e v x)
        by (apply Rmult_le_compat_r; lra). lra. }
    now rewrite K. }
  revert b H. induction (mates_of near x) as [|y l IH]; intros b H; cbn [fold_right forallb] in *.
  - rewrite andb_true_r. now apply Self.
  - destruct (nth_error vs x) as [u|] eqn:U; [|discriminate]. destruct (nth_error vs y) as [w|] eqn:W; [|discriminate].
    destruct (T x u U) as (_ & U1 & U2). destruct (T y w W) as (_ & W1 & W2).
    assert (K : (hid x y && hid y x) && ((hid x x && hid x x) && forallb (fun z => hid x z && hid z x) l) = b).
    { apply (both_ok _ _ _ H); [|exact IH]. intros s S. symmetry. symmetry. apply (both_ok _ _ _ S).
      - intros s' S'. unfold hid. rewrite <- U1, <- W1. now apply hidden_by_ok.
      - intros s' S'. unfold hid. rewrite <- U1, <- W1. now apply hidden_by_ok. }
    rewrite <- K. destruct (hid x y), (hid y x), (hid x x), (forallb _ l); reflexivity.
Qed.

Lemma nth_error_map' : forall A B (f : A -> B) l x b, nth_error (map f l) x = Some b ->
  exists a, nth_error l x = Some a /\ f a = b.
Proof.
  intros A B f. induction l as [|a l IH]; intros [|x] b H; simpl in *; try discriminate.
  - exists a. split; [reflexivity | congruence].
  - exact (IH x b H).
Qed.

Lemma nth_error_combine : forall A B (l : list A) (m : list B) x a b, nth_error (combine l m) x = Some (a, b) ->
  nth_error l x = Some a /\ nth_error m x = Some b.
Proof.
  intros A B. induction l as [|a l IH]; intros [|b m] [|x] u v H; simpl in *; try discriminate.
  - inversion H; subst. now split.
  - exact (IH m x u v H).
Qed.

Lemma opposite_some : forall a b, opposite a = Some b -> a = Some (negb b).
Proof. intros [[]|] b H; simpl in H; inversion H; reflexivity. Qed.

Scheme formula_parts := Induction for formula Sort Prop
  with path_parts := Induction for path Sort Prop
  with event_parts := Induction for event Sort Prop.
Combined Scheme all_parts from formula_parts, path_parts, event_parts.

Lemma not_right : forall f, right_at f -> right_at (Not f).
Proof.
  intros f IH x b H. cbn [truths] in H. apply nth_error_map' in H as (a & A & O). apply opposite_some in O. subst a.
  destruct (IH x _ A) as [X E]. split; [exact X|]. cbn [true_at]. rewrite E. apply negb_involutive.
Qed.

Lemma ever_right : forall f h, right_at f -> right_at h -> forall vs, ever (truths f) (truths h) = Some vs ->
  tells vs (prob_of c near e (Ever f h)) /\ forall x, (x < size)%nat -> 0 <= prob_of c near e (Ever f h) x <= 1.
Proof.
  intros f h If Ih vs H. unfold ever in H. destruct (all_some (truths f)) as [fb|] eqn:F; [|discriminate].
  destruct (all_some (truths h)) as [hb|] eqn:Hh; [|discriminate].
  destruct (Nat.eqb (length fb) size && Nat.eqb (length hb) size) eqn:L; [|discriminate].
  apply andb_prop in L as [Lf Lh]. apply Nat.eqb_eq in Lf, Lh.
  set (stay := true_at c near e f). set (reached := true_at c near e h).
  assert (T : tells vs (fun x => real (Lim_seq (fun n => within stay reached n x)))).
  { apply (stable_ok stay reached fb hb) with (n := S size) (k := O) (us := map (fun b : bool => if b then one else zero) hb).
    - intros x X. split; apply bits_right; auto.
    - now rewrite map_length.
    - intros x v N. apply nth_error_map' in N as (b & N & E).
      assert (X : (x < size)%nat) by (rewrite <- Lh; apply nth_error_Some; congruence). split; [exact X|].
      rewrite within_now. pose proof (bits_right h hb Ih Hh Lh x X) as R. rewrite (nth_error_nth _ _ _ N) in R.
      fold reached in R. rewrite <- R. subst v. destruct b; [split; [apply one_value | apply one_sound] | exact zero_ok].
    - exact H. }
  split; [exact T|]. intros x X. cbn [prob_of].
  assert (Least : forall n, 0 <= within stay reached n x) by (intro n; apply expect_nonneg).
  assert (Most : forall n, within stay reached n x <= 1) by (intro n; apply expect_most; exact X).
  pose proof (Lim_seq_le_loc (fun _ => 0) (fun n => within stay reached n x) (Hierarchy.filter_forall _ Least)) as K.
  pose proof (Lim_seq_le_loc (fun n => within stay reached n x) (fun _ => 1) (Hierarchy.filter_forall _ Most)) as M.
  rewrite Lim_seq_const in K, M. fold stay reached. unfold within in K, M.
  destruct (Lim_seq _) as [r| |]; simpl in *; [split; assumption | lra | lra].
Qed.

Lemma all_right : (forall f, right_at f) /\ (forall p, right_along p) /\ (forall v, right_chance v).
Proof.
  apply all_parts.
  - intros b x t H. apply nth_error_map_seq in H as [X H]. inversion H. now split.
  - intros states x t H. apply nth_error_map_seq in H as [X H]. inversion H. now split.
  - apply not_right.
  - intros f If h Ih x b H. cbn [truths] in H. apply nth_error_map' in H as ([a d] & A & O).
    apply nth_error_combine in A as [A D]. cbn [fst snd] in O. cbn [true_at].
    assert (X : (x < size)%nat).
    { destruct a as [a|]; [apply (If x a A)|]. destruct d as [d|]; [apply (Ih x d D) | discriminate]. }
    split; [exact X|]. apply (both_ok _ _ _ O); intros s ->; [apply (If x s A) | apply (Ih x s D)].
  - intros f If h Ih x b H. cbn [truths] in H. apply nth_error_map' in H as ([a d] & A & O).
    apply nth_error_combine in A as [A D]. cbn [fst snd] in O. cbn [true_at]. apply opposite_some in O.
    assert (X : (x < size)%nat).
    { destruct a as [a|]; [apply (If x a A)|]. destruct d as [d|]; [apply (Ih x d D) | discriminate]. }
    split; [exact X|].
    assert (K : negb (true_at c near e f x) && negb (true_at c near e h x) = negb b).
    { apply (both_ok _ _ _ O); intros s S; apply opposite_some in S; subst.
      - rewrite (proj2 (If x _ A)). apply negb_involutive.
      - rewrite (proj2 (Ih x _ D)). apply negb_involutive. }
    rewrite <- negb_orb in K. now apply (f_equal negb) in K; rewrite !negb_involutive in K.
  - intros lower strict bound v IH x b H. cbn [truths] in H.
    destruct (ask g signs true (snd bound)) eqn:B; [|destruct x; discriminate].
    destruct (chances v) as [vs|] eqn:V; [|destruct x; discriminate].
    apply nth_error_map' in H as (u & U & H). destruct (IH vs V) as [T _]. destruct (T x u U) as (X & U1 & U2).
    apply asked in B. simpl in B. split; [exact X|].
    change ((let '(small, large) := if lower then (value e bound, prob_of c near e v x) else (prob_of c near e v x, value e bound) in
      if strict then if Rlt_dec small large then true else false else if Rle_dec small large then true else false) = b).
    rewrite <- U1.
    assert (Sb : sound_weight e bound) by exact B.
    destruct lower; apply compared_ok in H; auto; destruct b, strict; simpl in H;
      repeat (destruct (Rlt_dec _ _) || destruct (Rle_dec _ _)); auto; lra.
  - intros ratio delta v IH x b H. cbn [truths] in H.
    destruct (ask g signs true (snd ratio) && ask g signs true (snd delta)) eqn:B; [|destruct x; discriminate].
    destruct (chances v) as [vs|] eqn:V; [|destruct x; discriminate].
    apply nth_error_map_seq in H as [X H]. destruct (IH vs V) as [T N]. apply andb_prop in B as [B1 B2].
    apply asked in B1, B2. simpl in B1, B2. split; [exact X|]. symmetry in H. exact (private_ok ratio delta v vs x b B1 B2 T N X H).
  - intros f IH q H Z w W. cbn [planned] in H. destruct (all_some (truths f)) as [bits|] eqn:B; [|discriminate].
    destruct (Nat.eqb_spec (length bits) size) as [L|L]; [|discriminate]. inversion H; subst. cbn [meets satisfied].
    apply bits_right; auto. now apply inside_hd.
  - intros p IH q H Z w W. cbn [planned] in H. destruct (planned p) as [a|] eqn:A; [|discriminate]. inversion H; subst.
    cbn [meets satisfied]. now rewrite (IH a A Z w W).
  - intros p IHp r IHr q H Z w W. cbn [planned] in H. destruct (planned p) as [a|] eqn:A; [|discriminate].
    destruct (planned r) as [b|] eqn:B; [|discriminate]. inversion H; subst. cbn [meets satisfied].
    now rewrite (IHp a A Z w W), (IHr b B Z w W).
  - intros p IHp r IHr q H Z w W. cbn [planned] in H. destruct (planned p) as [a|] eqn:A; [|discriminate].
    destruct (planned r) as [b|] eqn:B; [|discriminate]. inversion H; subst. cbn [meets satisfied].
    now rewrite (IHp a A Z w W), (IHr b B Z w W).
  - intros p IH q H Z w W. cbn [planned] in H. destruct (planned p) as [a|] eqn:A; [|discriminate]. inversion H; subst.
    cbn [meets satisfied]. apply (IH a A Z). destruct W; [constructor | assumption].
  - intros p IHp r IHr low high q H Z w W. cbn [planned] in H. destruct (planned p) as [a|] eqn:A; [|discriminate].
    destruct (planned r) as [b|] eqn:B; [|discriminate]. inversion H; subst. cbn [satisfied].
    destruct (Nat.ltb_spec high low) as [L|L].
    + replace (S high - low)%nat with 0%nat by lia. reflexivity.
    + cbn [meets]. replace (S high - low)%nat with (S (high - low)) by lia.
      apply until_same; [exact W | intros u U; now apply IHp | intros u U; now apply IHr].
  - intros p IH vs H. cbn [chances] in H. destruct (planned p) as [q|] eqn:Q; [|discriminate].
    destruct (vectors (depth p) [q]) as [found|] eqn:V; [|discriminate]. apply find_plan_in in H. cbn [prob_of]. split.
    + intros x v N. destruct (vectors_ok _ _ _ V q vs H (depth p) (Nat.le_refl _) x v N) as (X & V1 & V2).
      split; [exact X|]. split; [|exact V2]. rewrite V1. apply expect_ext; [|exact X].
      intros w W. apply (IH q Q); [lia | exact W].
    + intros x _. apply expect_nonneg.
  - intros f If h Ih vs H. destruct (ever_right f h If Ih vs H) as [T N]. split; [exact T|]. intros x X. apply (N x X).
  - intros f If h Ih vs H. cbn [chances] in H.
    destruct (ever (map opposite (truths f)) (map opposite (truths h))) as [us|] eqn:E; [|discriminate].
    injection H as <-. destruct (ever_right (Not f) (Not h) (not_right f If) (not_right h Ih) us E) as [T N].
    assert (C : forall x, prob_of c near e (Release f h) x = 1 - prob_of c near e (Ever (Not f) (Not h)) x) by reflexivity.
    split.
    + intros x v V. apply nth_error_map' in V as (u & U & <-). destruct (T x u U) as (X & U1 & U2).
      destruct (complement_ok u U2) as [C1 C2]. split; [exact X|]. split; [|exact C2]. rewrite C, C1, U1. reflexivity.
    + intros x X. rewrite C. specialize (N x X). lra.
Qed.

Theorem decided : forall f, right_at f.
Proof. apply all_right. Qed.

Theorem planned_right : forall p, right_along p.
Proof. apply all_right. Qed.

End Deciding.

(* A formula is true in all first states; or, at a place that is told, it is false in this one. *)
Definition check_formula (rec : checker) (g : goal) (signs : list sign) (c : chain) (near : list (nat * nat))
  (initial : list nat) (f : formula) (where_false : option nat) : bool :=
  signs_ok rec g signs && chain_ok g signs c &&
  match where_false with
  | None => forallb (fun x => match nth_error (truths g signs c near f) x with Some (Some true) => true | _ => false end) initial
  | Some x => existsb (Nat.eqb x) initial &&
              match nth_error (truths g signs c near f) x with Some (Some false) => true | _ => false end
  end.

Theorem check_formula_sound : forall rec, honest rec -> forall g signs c near initial f where_false,
  check_formula rec g signs c near initial f where_false = true -> forall e, dom g e ->
  match where_false with
  | None => forall x, In x initial -> true_at c near e f x = true
  | Some x => In x initial /\ true_at c near e f x = false
  end.
Proof.
  intros rec R g signs c near initial f where_false H e D. unfold check_formula in H. apply andb_prop in H as [H T].
  apply andb_prop in H as [Signs C]. pose proof (decided g signs c near rec R Signs e D C f) as K.
  destruct where_false as [x|].
  - apply andb_prop in T as [I T]. apply existsb_exists in I as (y & I & E). apply Nat.eqb_eq in E. subst y.
    split; [exact I|]. destruct (nth_error _ x) as [[[]|]|] eqn:N; try discriminate. exact (proj2 (K x false N)).
  - intros x I. rewrite forallb_forall in T. specialize (T x I).
    destruct (nth_error _ x) as [[[]|]|] eqn:N; try discriminate. exact (proj2 (K x true N)).
Qed.

Corollary check_logic_sound : forall lemmas g signs c near initial f where_false,
  (forall l, In l lemmas -> holds l) ->
  check_formula (check max_depth lemmas) g signs c near initial f where_false = true -> forall e, dom g e ->
  match where_false with
  | None => forall x, In x initial -> true_at c near e f x = true
  | Some x => In x initial /\ true_at c near e f x = false
  end.
Proof.
  intros lemmas g signs c near initial f where_false L.
  apply (check_formula_sound (check max_depth lemmas)). intros h k K. exact (check_sound max_depth lemmas h k L K).
Qed.
