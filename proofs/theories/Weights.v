(* Interactive systems whose probabilities are quotients of polynomials: what is known of signs, and sums. *)
From Coq Require Import Reals ZArith QArith Qreals Lra Lia List Bool Arith Permutation.
From Paramverify Require Import Poly Goal Certificate Rule RuleCore RuleExponential WitnessPoints Parts Unwinding.
Import ListNotations.
Local Open Scope R_scope.

Definition weight := (qpoly * qpoly)%type.
Definition value (e : env) (w : weight) : R := qeval (fst w) e / qeval (snd w) e.

(* By state and action, where that leads to. *)
Definition system := list (list (list (nat * weight))).
Definition row (s : system) (x a : nat) : list (nat * weight) := nth a (nth x s []) [].
Definition valued (e : env) (l : list (nat * weight)) : list (nat * R) := map (fun p => (fst p, value e (snd p))) l.
Definition moves_at (s : system) (e : env) (x a : nat) : list (nat * R) := valued e (row s x a).

Definition empty {A : Type} (l : list A) : bool := match l with [] => true | _ => false end.

(* Inputs below this number come only where a state that waits accepts them; with 0 nothing is assumed. *)
Definition assumed (s : system) (guarded x a : nat) : bool :=
  Nat.ltb a guarded && existsb (fun b => negb (empty (row s x b))) (seq 0 guarded).

(* What is known of signs: polynomials that are at least 0, or above it, with their proofs. *)
Definition sign := (bool * qpoly * cert)%type.

Definition plus_weight (x y : weight) : weight :=
  if qeq (snd y) (snd x) then (qadd (fst x) (fst y), snd x)
  else (qadd (qmul (fst x) (snd y)) (qmul (fst y) (snd x)), qmul (snd x) (snd y)).

Definition same_weight (x y : weight) : bool := qeq (qmul (fst x) (snd y)) (qmul (fst y) (snd x)).

Definition one : weight := (qconst 1, qconst 1).

Definition added_up (l : list (nat * weight)) : weight :=
  match l with
  | [] => (qconst 0, qconst 1)
  | (_, w) :: l => fold_left (fun x p => plus_weight x (snd p)) l w
  end.

Fixpoint take {A : Type} (n : nat) (l : list A) : option (A * list A) :=
  match l, n with
  | [], _ => None
  | a :: l, O => Some (a, l)
  | a :: l, S n => match take n l with Some (b, m) => Some (b, a :: m) | None => None end
  end.

(* One weight for each state: those of the same state are added. *)
Fixpoint put (c : nat) (w : weight) (l : list (nat * weight)) : list (nat * weight) :=
  match l with
  | [] => [(c, w)]
  | (d, v) :: l => if Nat.eqb c d then (d, plus_weight v w) :: l else (d, v) :: put c w l
  end.

Definition gather (l : list (nat * weight)) : list (nat * weight) :=
  fold_left (fun found p => put (fst p) (snd p) found) l [].

Fixpoint pull (c : nat) (l : list (nat * weight)) : option (weight * list (nat * weight)) :=
  match l with
  | [] => None
  | (d, v) :: l =>
    if Nat.eqb c d then Some (v, l)
    else match pull c l with Some (w, m) => Some (w, (d, v) :: m) | None => None end
  end.

(* Both have the same weights of the same states. *)
Fixpoint same_row (l m : list (nat * weight)) : bool :=
  match l with
  | [] => match m with [] => true | _ => false end
  | (c, w) :: l => match pull c m with Some (v, m) => same_weight w v && same_row l m | None => false end
  end.

Section Signs.

Variable rec : checker.
Variable g : goal.
Variable signs : list sign.

Definition signs_ok : bool := forallb (fun f => proved rec g (fst (fst f)) (snd (fst f)) (snd f)) signs.

(* A polynomial in what stands for the exponential of a number, and in nothing else. *)
Definition exp_sign (strict : bool) (p : qpoly) : bool :=
  existsb (fun f => match f with
    | Exp k q =>
      match numbers (coefs (num p) k) with
      | Some l => if strict then positive_at q l else nonneg_at q l
      | None => false
      end
    | Log _ _ _ => false
    end) (gfacts g).

Definition ask (strict : bool) (p : qpoly) : bool :=
  match num p with
  | Pc c => if strict then (0 <? c)%Z else (0 <=? c)%Z
  | _ =>
    existsb (fun f => (fst (fst f) || negb strict) && proportional (num p) (num (snd (fst f)))) signs ||
    exp_sign strict p || (negb strict && nonneg_number (num p))
  end.

(* The product of the weights of the first list is at most that of the second. *)
Definition difference (l r : list weight) : qpoly :=
  let times := fold_right qmul (qconst 1) in
  qsub (qmul (times (map fst r)) (times (map snd l))) (qmul (times (map fst l)) (times (map snd r))).
Definition at_most (l r : list weight) : bool := ask false (difference l r).

Definition weights_ok (s : system) : bool :=
  forallb (forallb (forallb (fun p => ask false (fst (snd p)) && ask true (snd (snd p))))) s.

Hypothesis rec_honest : honest rec.
Hypothesis accepted : signs_ok = true.
Variable e : env.
Hypothesis in_domain : dom g e.

Lemma exp_sign_ok : forall strict p, exp_sign strict p = true -> below strict 0 (qeval p e).
Proof.
  intros strict p H. apply existsb_exists in H as ([k q|i j s] & F & H); [|discriminate].
  destruct (numbers (coefs (num p) k)) as [l|] eqn:E; [|discriminate].
  assert (X : e k = exp (Q2R q)) by (apply (proj2 (proj2 in_domain) _ F)).
  assert (V : eval (num p) e = hor (exp (Q2R q)) (map IZR l)).
  { rewrite (coefs_eval' (num p) k e), (numbers_ok _ _ _ E), X. reflexivity. }
  destruct strict; simpl.
  - apply qeval_pos. rewrite V. apply positive_at_ok. assumption.
  - apply qeval_sign. rewrite V. apply nonneg_at_ok. assumption.
Qed.

Lemma ask_ok : forall strict p, ask strict p = true -> below strict 0 (qeval p e).
Proof.
  intros strict p H. unfold ask in H.
  assert (X : existsb (fun f => (fst (fst f) || negb strict) && proportional (num p) (num (snd (fst f)))) signs ||
    exp_sign strict p || (negb strict && nonneg_number (num p)) = true -> below strict 0 (qeval p e)).
  { clear H. intro H. apply orb_prop in H as [H|H]; [apply orb_prop in H as [H|H]|].
    - apply existsb_exists in H as ([[t q] c] & I & H). simpl in H.
      apply andb_prop in H as [H1 H2]. unfold signs_ok in accepted.
      rewrite forallb_forall in accepted. pose proof (proved_ok rec g t q c e rec_honest (accepted _ I) in_domain) as B.
      apply proportional_ok in H2 as (a & b & Ha & Hb & H2). specialize (H2 e).
      destruct strict; simpl.
      + destruct t; [|discriminate]. simpl in B. apply qeval_pos in B. apply qeval_pos.
        apply Rmult_lt_reg_l with a; [assumption|]. rewrite Rmult_0_r, H2. apply Rmult_lt_0_compat; assumption.
      + apply below_le in B. apply qeval_sign in B. apply qeval_sign.
        apply Rmult_le_reg_l with a; [assumption|]. rewrite Rmult_0_r, H2. apply Rmult_le_pos; lra.
    - now apply exp_sign_ok.
    - apply andb_prop in H as [H1 H2]. destruct strict; [discriminate|]. simpl. apply qeval_sign.
      now apply nonneg_number_ok. }
  destruct p as [[c|q r] d]; cbn [num] in H; [|exact (X H)].
  destruct strict; simpl.
  - apply qeval_pos. simpl. apply Z.ltb_lt in H. apply IZR_lt. assumption.
  - apply qeval_sign. simpl. apply Z.leb_le in H. apply IZR_le. assumption.
Qed.

Definition sound_weight (w : weight) : Prop := 0 < qeval (snd w) e.

(* All probabilities are at least 0, and their denominators above it. *)
Definition sound_row (l : list (nat * weight)) : Prop := forall p, In p l -> 0 <= value e (snd p) /\ sound_weight (snd p).
Definition sound_system (s : system) : Prop := forall x a, sound_row (row s x a).
Definition good_row (l : list (nat * weight)) : Prop := forall p, In p l -> sound_weight (snd p).

Lemma sound_good : forall l, sound_row l -> good_row l.
Proof. intros l H p P. exact (proj2 (H p P)). Qed.

Lemma row_of : forall s x a, row s x a = [] \/ exists m, In m s /\ In (row s x a) m.
Proof.
  intros s x a. unfold row. destruct (Nat.lt_ge_cases x (length s)) as [L|L].
  - destruct (Nat.lt_ge_cases a (length (nth x s []))) as [M|M].
    + right. exists (nth x s []). split; now apply nth_In.
    + left. now apply nth_overflow.
  - left. rewrite (nth_overflow s) by assumption. now destruct a.
Qed.

Lemma weights_sound : forall s, weights_ok s = true -> sound_system s.
Proof.
  intros s H x a p I. destruct (row_of s x a) as [E|(m & M1 & M2)]; [rewrite E in I; destruct I|].
  unfold weights_ok in H. rewrite forallb_forall in H. specialize (H m M1). rewrite forallb_forall in H.
  specialize (H _ M2). rewrite forallb_forall in H. specialize (H p I). apply andb_prop in H as [A B].
  apply ask_ok in A, B. split; [|exact B]. unfold value, Rdiv. apply Rmult_le_pos; [exact A|].
  left. now apply Rinv_0_lt_compat.
Qed.

Lemma times_value : forall l, Forall sound_weight l ->
  qeval (fold_right qmul (qconst 1) (map fst l)) e
  = fold_right Rmult 1 (map (value e) l) * qeval (fold_right qmul (qconst 1) (map snd l)) e
  /\ 0 < qeval (fold_right qmul (qconst 1) (map snd l)) e.
Proof.
  intros l F. induction F as [|w l W F [I1 I2]]; cbn [map fold_right].
  - rewrite qeval_const, Q2R_1. split; [ring | lra].
  - rewrite !qeval_mul, I1. unfold sound_weight in W. split; [|apply Rmult_lt_0_compat; assumption].
    unfold value at 2. field. lra.
Qed.

Lemma at_most_ok : forall l r, Forall sound_weight l -> Forall sound_weight r -> at_most l r = true ->
  fold_right Rmult 1 (map (value e) l) <= fold_right Rmult 1 (map (value e) r).
Proof.
  intros l r L R H. unfold at_most in H. apply ask_ok in H. unfold difference in H. simpl in H.
  rewrite qeval_sub, !qeval_mul in H.
  destruct (times_value l L) as [L1 L2]. destruct (times_value r R) as [R1 R2]. rewrite L1, R1 in H.
  revert L2 R2 H. generalize (qeval (fold_right qmul (qconst 1) (map snd l)) e).
  generalize (qeval (fold_right qmul (qconst 1) (map snd r)) e). intros y x Hx Hy H.
  apply Rmult_le_reg_r with (x * y); [apply Rmult_lt_0_compat; assumption|]. nra.
Qed.

Lemma one_sound : sound_weight one.
Proof. unfold sound_weight, one. simpl. rewrite qeval_const, Q2R_1. lra. Qed.

Lemma one_value : value e one = 1.
Proof. unfold value, one. simpl. rewrite qeval_const, Q2R_1. lra. Qed.

Lemma plus_weight_ok : forall x y, sound_weight x -> sound_weight y ->
  value e (plus_weight x y) = value e x + value e y /\ sound_weight (plus_weight x y).
Proof.
  intros [t b] [u d] X Y. unfold sound_weight, plus_weight, value in *. cbn [fst snd] in *.
  destruct (qeq d b) eqn:Q; cbn [fst snd].
  - apply qeq_eval with (e := e) in Q. rewrite qeval_add, Q. split; [field; lra | assumption].
  - rewrite qeval_add, !qeval_mul. split; [field; lra | apply Rmult_lt_0_compat; assumption].
Qed.

Lemma added_up_ok : forall l, good_row l ->
  mean (fun _ => 1) (valued e l) = value e (added_up l) /\ sound_weight (added_up l).
Proof.
  intros [|[z w] l] H.
  - simpl. unfold value, sound_weight. simpl. rewrite !qeval_const, Q2R_0, Q2R_1. split; lra.
  - cbn [added_up valued map mean fst snd]. fold (valued e l).
    assert (W : sound_weight w) by (apply (H (z, w)); now left).
    assert (L : good_row l) by (intros p P; apply H; now right). clear H. revert w W.
    induction l as [|[y v] l IH]; intros w W; cbn [fold_left valued map mean fst snd]; [split; [lra|assumption]|].
    fold (valued e l). pose proof (L (y, v) (or_introl eq_refl)) as V. cbn [snd] in V.
    destruct (plus_weight_ok w v W V) as [P1 P2].
    destruct (IH (fun p P => L p (or_intror P)) (plus_weight w v) P2) as [I1 I2]. split; [|assumption].
    rewrite <- I1, P1. ring.
Qed.

Lemma same_weight_ok : forall x y, sound_weight x -> sound_weight y -> same_weight x y = true -> value e x = value e y.
Proof.
  intros [t b] [u d] X Y H. unfold same_weight in H. apply qeq_eval with (e := e) in H. cbn [fst snd] in H.
  rewrite !qeval_mul in H. unfold sound_weight, value in *. cbn [fst snd] in *.
  apply Rmult_eq_reg_r with (qeval b e * qeval d e); [|apply Rgt_not_eq; now apply Rmult_lt_0_compat].
  transitivity (qeval t e * qeval d e); [field; lra|]. rewrite H. field. lra.
Qed.

Lemma take_permutes : forall A (l : list A) n a m, take n l = Some (a, m) -> Permutation l (a :: m).
Proof.
  induction l as [|b l IH]; intros [|n] a m H; simpl in H; try discriminate.
  - inversion H; subst. apply Permutation_refl.
  - destruct (take n l) as [[c k]|] eqn:E; [|discriminate]. inversion H; subst.
    apply IH in E. rewrite E. apply perm_swap.
Qed.

Lemma moves_nonneg : forall s, sound_system s -> forall x a p, In p (moves_at s e x a) -> 0 <= snd p.
Proof. intros s S x a p H. apply in_map_iff in H as (q & <- & Q). apply (S x a q Q). Qed.

(* --- rows --------------------------------------------------------------------------------------------------- *)

Lemma mean_ext : forall f h l, (forall p, In p l -> f (fst p) = h (fst p)) -> mean f l = mean h l.
Proof.
  intros f h. induction l as [|[z w] l IH]; intro H; simpl; [reflexivity|].
  rewrite (IH (fun p P => H p (or_intror P))). pose proof (H (z, w) (or_introl eq_refl)) as E. simpl in E. now rewrite E.
Qed.

Lemma put_ok : forall f c w l, good_row l -> sound_weight w ->
  mean f (valued e (put c w l)) = mean f (valued e l) + value e w * f c /\ good_row (put c w l).
Proof.
  intros f c w l S W. induction l as [|[d v] l IH]; cbn [put].
  - split; [simpl; ring|]. intros p [<-|[]]. exact W.
  - pose proof (S (d, v) (or_introl eq_refl)) as Sv. cbn [snd] in Sv.
    assert (Sl : good_row l) by (intros p P; apply S; now right).
    destruct (Nat.eqb_spec c d) as [->|N].
    + destruct (plus_weight_ok v w Sv W) as [P1 P2]. split.
      * cbn [valued map mean fst snd]. rewrite P1. ring.
      * intros p [<-|P]; [exact P2 | now apply Sl].
    + destruct (IH Sl) as [I1 I2]. split.
      * cbn [valued map mean fst snd]. fold (valued e (put c w l)). fold (valued e l). rewrite I1. ring.
      * intros p [<-|P]; [exact Sv | now apply I2].
Qed.

Lemma put_sound : forall c w l, sound_row l -> sound_weight w -> 0 <= value e w -> sound_row (put c w l).
Proof.
  intros c w. induction l as [|[d v] l IH]; intros S W V; cbn [put].
  - intros p [<-|[]]. now split.
  - destruct (S (d, v) (or_introl eq_refl)) as [Dv Sv]. cbn [snd] in *.
    assert (Sl : sound_row l) by (intros p P; apply S; now right). destruct (Nat.eqb c d).
    + destruct (plus_weight_ok v w Sv W) as [P1 P2]. intros p [<-|P]; [|now apply Sl].
      cbn [snd]. split; [rewrite P1; lra | assumption].
    + intros p [<-|P]; [now split | now apply IH].
Qed.

Lemma gather_from : forall f l m, good_row l -> good_row m ->
  mean f (valued e (fold_left (fun found p => put (fst p) (snd p) found) l m))
  = mean f (valued e m) + mean f (valued e l) /\
  good_row (fold_left (fun found p => put (fst p) (snd p) found) l m).
Proof.
  intros f. induction l as [|[z w] l IH]; intros m L M; cbn [fold_left].
  - simpl. split; [ring | assumption].
  - pose proof (L (z, w) (or_introl eq_refl)) as W. cbn [fst snd] in *.
    destruct (put_ok f z w m M W) as [P1 P2].
    destruct (IH (put z w m) (fun p P => L p (or_intror P)) P2) as [I1 I2]. split; [|exact I2].
    rewrite I1, P1. cbn [valued map mean fst snd]. fold (valued e l). ring.
Qed.

Lemma gather_ok : forall f l, good_row l -> mean f (valued e (gather l)) = mean f (valued e l) /\ good_row (gather l).
Proof.
  intros f l L. destruct (gather_from f l [] L) as [A B]; [intros p []|]. split; [|exact B].
  unfold gather. rewrite A. simpl. ring.
Qed.

Lemma gather_sound : forall l, sound_row l -> sound_row (gather l).
Proof.
  intros l L. unfold gather. assert (M : sound_row []) by intros p []. revert M. generalize (@nil (nat * weight)).
  induction l as [|[z w] l IH]; intros m M; cbn [fold_left]; [assumption|].
  destruct (L (z, w) (or_introl eq_refl)) as [V W]. apply IH; [intros p P; apply L; now right|]. now apply put_sound.
Qed.

Lemma gather_nil : forall l, gather l = [] <-> l = [].
Proof.
  assert (P : forall c w m, put c w m <> []).
  { intros c w [|[d v] m]; cbn [put]; [discriminate|]. destruct (Nat.eqb c d); discriminate. }
  assert (F : forall l m, m <> [] -> fold_left (fun found p => put (fst p) (snd p) found) l m <> []).
  { induction l as [|p l IH]; intros m M; simpl; [assumption|]. apply IH, P. }
  intros [|p l]; split; intro H; try reflexivity; [|discriminate].
  unfold gather in H. cbn [fold_left] in H. destruct (F l _ (P _ _ []) H).
Qed.

Lemma pull_permutes : forall c l v m, pull c l = Some (v, m) -> Permutation l ((c, v) :: m).
Proof.
  intros c. induction l as [|[d u] l IH]; intros v m H; simpl in H; [discriminate|].
  destruct (Nat.eqb_spec c d) as [->|N]; [inversion H; subst; apply Permutation_refl|].
  destruct (pull c l) as [[w r]|]; [|discriminate]. inversion H; subst.
  rewrite (IH v r eq_refl). apply perm_swap.
Qed.

Lemma same_row_ok : forall f l m, good_row l -> good_row m -> same_row l m = true ->
  mean f (valued e l) = mean f (valued e m) /\ (l = [] <-> m = []).
Proof.
  intros f. induction l as [|[c w] l IH]; intros m L M H; cbn [same_row] in H.
  - destruct m; [|discriminate]. split; [reflexivity | tauto].
  - destruct (pull c m) as [[v r]|] eqn:E; [|discriminate]. apply andb_prop in H as [H1 H2].
    apply pull_permutes in E.
    assert (R : good_row r) by (intros p P; apply M; apply (Permutation_in p (Permutation_sym E)); now right).
    assert (V : sound_weight v) by (apply (M (c, v)), (Permutation_in _ (Permutation_sym E)); now left).
    assert (W : sound_weight w) by (apply (L (c, w)); now left).
    destruct (IH r (fun p P => L p (or_intror P)) R H2) as [I _]. split.
    + unfold valued. rewrite (mean_permuted f _ _ (Permutation_map (fun p => (fst p, value e (snd p))) E)).
      simpl. fold (valued e l). fold (valued e r). rewrite I, (same_weight_ok w v W V H1). reflexivity.
    + split; intro K; [discriminate|]. subst m. apply Permutation_nil in E. discriminate.
Qed.

(* --- one data point more ------------------------------------------------------------------------------------ *)

Section Insertions.

Variable s : system.
Variable cheap : nat -> nat -> bool.  (* what one state hides of another *)
Variable data : nat.
Variable guarded : nat.
Variable reach : list nat.

Definition among (x : nat) : bool := existsb (Nat.eqb x) reach.
Definition closed_under_moves : bool :=
  forallb (fun x => forallb (forallb (fun p => among (fst p))) (nth x s [])) reach.

Definition insertion_ok (x a : nat) : bool :=
  let l := row s x a in
  forallb (fun p => cheap (fst p) x && cheap x (fst p)) l &&
  match l with [] => true | _ => same_weight (added_up l) one end.

Definition insertions_ok : bool :=
  closed_under_moves && forallb (fun x => forallb (insertion_ok x) (seq 0 data)) reach.

(* These steps have no input that is assumed not to come. *)
Definition accepted_steps (x : nat) (t : list nat) : Prop :=
  admits (moves_at s e) (fun y a => assumed s guarded y a = true) x t.

(* One data point more changes the probability of no observation by more than the ratio, wherever it comes; see
   `Unwinding.prob_taking`. *)
Definition hides (ratio : R) : Prop := forall x d first t, In x reach -> (d < data)%nat ->
  guarded = 0%nat \/ (accepted_steps x (first ++ d :: t) /\ accepted_steps x (first ++ t)) ->
  prob (moves_at s e) x (first ++ d :: t) <= ratio * prob_taking (moves_at s e) x d first t /\
  prob_taking (moves_at s e) x d first t <= ratio * prob (moves_at s e) x (first ++ d :: t).

Lemma unguarded_steps : guarded = 0%nat -> forall x t, accepted_steps x t.
Proof. intros Z x t. apply admits_all. intros y a. unfold assumed. rewrite Z. discriminate. Qed.

Lemma among_ok : forall x, among x = true <-> In x reach.
Proof.
  intro x. unfold among. rewrite existsb_exists. split.
  - intros (y & I & E). apply Nat.eqb_eq in E. now subst.
  - intro I. exists x. split; [assumption | apply Nat.eqb_refl].
Qed.

Lemma closed_ok : closed_under_moves = true -> forall x a p, In x reach -> In p (row s x a) -> In (fst p) reach.
Proof.
  intros C x a p Hx Q. apply among_ok. unfold closed_under_moves in C. rewrite forallb_forall in C.
  specialize (C x Hx). unfold row in Q. destruct (Nat.lt_ge_cases a (length (nth x s []))) as [M|M].
  - rewrite forallb_forall in C. specialize (C _ (nth_In _ [] M)). rewrite forallb_forall in C. exact (C p Q).
  - rewrite nth_overflow in Q by assumption. destruct Q.
Qed.

Lemma insertions_hide : forall (cost : nat -> nat -> R -> Prop) ratio, sound_system s ->
  (forall x y c, cost x y c -> 1 <= c) ->
  (forall x y c a, cost x y c -> matched cost c (moves_at s e x a) (moves_at s e y a) \/
    (assumed s guarded y a = true /\ moves_at s e y a = [])) ->
  (forall x y, cheap x y = true -> exists c, cost x y c /\ c <= ratio) ->
  insertions_ok = true -> hides ratio.
Proof.
  intros cost ratio S One Step Cheap H x d first t Hx Hd Assumed. unfold insertions_ok in H. apply andb_prop in H as [C H].
  assert (Ins : forall y a, In y reach -> (a < data)%nat -> insertion_ok y a = true).
  { intros y a Hy Ha. rewrite forallb_forall in H. specialize (H y Hy). rewrite forallb_forall in H.
    apply H. apply in_seq. lia. }
  assert (Acc : accepted_steps x (first ++ d :: t) /\ accepted_steps x (first ++ t)).
  { destruct Assumed as [Z|K]; [split; now apply unguarded_steps | exact K]. }
  destruct Acc as [AccA AccB].
  apply (data_points_are_hidden (moves_at s e) (moves_nonneg s S) (fun y a => assumed s guarded y a = true) cost One Step
    (fun a => (a < data)%nat) (fun y => In y reach)); try assumption.
  - intros y a p Hy Hp. apply in_map_iff in Hp as (q & <- & Q). simpl. exact (closed_ok C y a q Hy Q).
  - intros y a Hy Ha N. specialize (Ins y a Hy Ha). unfold insertion_ok in Ins.
    apply andb_prop in Ins as [_ Ins]. destruct (added_up_ok (row s y a) (sound_good _ (S y a))) as [S1 S2].
    unfold moves_at in *. rewrite S1. destruct (row s y a) as [|q l] eqn:E; [now destruct N|]. rewrite <- E in *.
    rewrite (same_weight_ok _ _ S2 one_sound Ins). apply one_value.
  - intros y a p Hy Ha Hp. apply in_map_iff in Hp as (q & <- & Q). simpl.
    specialize (Ins y a Hy Ha). unfold insertion_ok in Ins. apply andb_prop in Ins as [Ins _].
    rewrite forallb_forall in Ins. specialize (Ins q Q). apply andb_prop in Ins as [I1 I2].
    destruct (Cheap _ _ I1) as (b & B1 & B2). destruct (Cheap _ _ I2) as (c & C1 & C2).
    exists b, c. tauto.
Qed.

End Insertions.

End Signs.
