(* A check of costs of pairs of states of an interactive system whose probabilities are quotients of
   polynomials: see `Unwinding` for what costs show. An unwinding family is one with powers of its step. *)
From Coq Require Import Reals ZArith QArith Qreals Lra Lia List Bool Arith Permutation.
From Paramverify Require Import Poly Goal Certificate Rule Check Sound Maps Unwinding.
Import ListNotations.
Local Open Scope R_scope.

Definition weight := (qpoly * qpoly)%type.
Definition value (e : env) (w : weight) : R := qeval (fst w) e / qeval (snd w) e.

(* By state and action, where that leads to. *)
Definition system := list (list (list (nat * weight))).
Definition row (s : system) (x a : nat) : list (nat * weight) := nth a (nth x s []) [].
Definition moves_at (s : system) (e : env) (x a : nat) : list (nat * R) :=
  map (fun p => (fst p, value e (snd p))) (row s x a).

(* A pair of states, its cost, and for each action the partners of the outcomes of the first: each is a place
   in what is left of the outcomes of the second. *)
Record entry := Entry { left : nat; right : nat; price : weight; partners : list (list nat) }.

(* What is known of signs: polynomials that are at least 0, or above it, with their proofs. *)
Definition sign := (bool * qpoly * cert)%type.

Section Check.

Variable rec : checker.
Variable g : goal.
Variable signs : list sign.
Variable s : system.
Variable entries : list entry.

Definition signs_ok : bool := forallb (fun f => proved rec g (fst (fst f)) (snd (fst f)) (snd f)) signs.

Definition ask (strict : bool) (p : qpoly) : bool :=
  match num p with
  | Pc c => if strict then (0 <? c)%Z else (0 <=? c)%Z
  | _ => existsb (fun f => (fst (fst f) || negb strict) && proportional (num p) (num (snd (fst f)))) signs
  end.

Definition at_most (l : list weight) (r : list weight) : bool :=
  let times := fold_right qmul (qconst 1) in
  ask false (qsub (qmul (times (map fst r)) (times (map snd l))) (qmul (times (map fst l)) (times (map snd r)))).

Definition one : weight := (qconst 1, qconst 1).

Definition find_price (x y : nat) : option weight :=
  if Nat.eqb x y then Some one
  else match find (fun n => Nat.eqb (left n) x && Nat.eqb (right n) y) entries with
       | Some n => Some (price n)
       | None => None
       end.

Fixpoint take {A : Type} (n : nat) (l : list A) : option (A * list A) :=
  match l, n with
  | [], _ => None
  | a :: l, O => Some (a, l)
  | a :: l, S n => match take n l with Some (b, m) => Some (b, a :: m) | None => None end
  end.

Fixpoint match_rows (c : weight) (mu nu : list (nat * weight)) (ps : list nat) : bool :=
  match mu, ps with
  | [], [] => true
  | (z, w) :: mu, p :: ps =>
    match take p nu with
    | Some ((y, v), nu) =>
      match find_price z y with
      | Some d => at_most [w; d] [c; v] && match_rows c mu nu ps
      | None => false
      end
    | None => false
    end
  | _, _ => false
  end.

Definition entry_ok (n : entry) : bool :=
  ask true (snd (price n)) && at_most [one] [price n] &&
  forallb (fun a => match_rows (price n) (row s (left n) a) (row s (right n) a) (nth a (partners n) []))
    (seq 0 (length (nth (left n) s []))).

Definition weights_ok : bool :=
  forallb (forallb (forallb (fun p => ask false (fst (snd p)) && ask true (snd (snd p))))) s.

Fixpoint sum_of (l : list (nat * weight)) : weight :=
  match l with
  | [] => (qconst 0, qconst 1)
  | (_, (t, b)) :: l =>
    let (u, d) := sum_of l in if qeq b d then (qadd t u, b) else (qadd (qmul t d) (qmul u b), qmul b d)
  end.

Variable data : nat.
Variable reach : list nat.
Variable ratio : weight.

Definition among (x : nat) : bool := existsb (Nat.eqb x) reach.
Definition closed_under_moves : bool :=
  forallb (fun x => forallb (forallb (fun p => among (fst p))) (nth x s [])) reach.

Definition cheap (x y : nat) : bool :=
  match find_price x y with Some c => at_most [c] [ratio] | None => false end.

Definition insertion_ok (x a : nat) : bool :=
  let l := row s x a in
  forallb (fun p => cheap (fst p) x && cheap x (fst p)) l &&
  match l with [] => true | _ => let (t, b) := sum_of l in qeq t b end.

Definition check_costs : bool :=
  signs_ok && weights_ok && forallb entry_ok entries && closed_under_moves && ask true (snd ratio) &&
  forallb (fun x => forallb (insertion_ok x) (seq 0 data)) reach.

(* --- it is right ------------------------------------------------------------------------------------------- *)

Hypothesis rec_honest : honest rec.
Hypothesis accepted : check_costs = true.
Variable e : env.
Hypothesis in_domain : dom g e.

Definition parts : signs_ok = true /\ weights_ok = true /\ forallb entry_ok entries = true /\
  closed_under_moves = true /\ ask true (snd ratio) = true /\
  forallb (fun x => forallb (insertion_ok x) (seq 0 data)) reach = true.
Proof.
  unfold check_costs in accepted.
  repeat (apply andb_prop in accepted as [accepted ?H]). tauto.
Qed.

Lemma ask_ok : forall strict p, ask strict p = true -> below strict 0 (qeval p e).
Proof.
  intros strict p H. unfold ask in H.
  assert (X : existsb (fun f => (fst (fst f) || negb strict) && proportional (num p) (num (snd (fst f)))) signs = true ->
    below strict 0 (qeval p e)).
  { clear H. intro H. apply existsb_exists in H as ([[t q] c] & I & H). simpl in H.
    apply andb_prop in H as [H1 H2]. destruct parts as (P & _). unfold signs_ok in P.
    rewrite forallb_forall in P. pose proof (proved_ok rec g t q c e rec_honest (P _ I) in_domain) as B.
    apply proportional_ok in H2 as (a & b & Ha & Hb & H2). specialize (H2 e).
    destruct strict; simpl.
    - destruct t; [|discriminate]. simpl in B. apply qeval_pos in B. apply qeval_pos.
      apply Rmult_lt_reg_l with a; [assumption|]. rewrite Rmult_0_r, H2. apply Rmult_lt_0_compat; assumption.
    - apply below_le in B. apply qeval_sign in B. apply qeval_sign.
      apply Rmult_le_reg_l with a; [assumption|]. rewrite Rmult_0_r, H2. apply Rmult_le_pos; lra. }
  destruct p as [[c|q r] d]; cbn [num] in H; [|exact (X H)].
  destruct strict; simpl.
  - apply qeval_pos. simpl. apply Z.ltb_lt in H. apply IZR_lt. assumption.
  - apply qeval_sign. simpl. apply Z.leb_le in H. apply IZR_le. assumption.
Qed.

Definition sound_weight (w : weight) : Prop := 0 < qeval (snd w) e.

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
  intros l r L R H. unfold at_most in H. apply ask_ok in H. simpl in H.
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

Lemma entry_in : forall n, In n entries -> entry_ok n = true.
Proof. intros n I. destruct parts as (_ & _ & P & _). rewrite forallb_forall in P. exact (P n I). Qed.

Lemma price_sound : forall n, In n entries -> sound_weight (price n).
Proof.
  intros n I. apply entry_in in I. unfold entry_ok in I. apply andb_prop in I as [I _].
  apply andb_prop in I as [I _]. apply ask_ok in I. exact I.
Qed.

Lemma row_weight : forall x a p, In p (row s x a) -> 0 <= qeval (fst (snd p)) e /\ sound_weight (snd p).
Proof.
  intros x a p I. destruct parts as (_ & P & _). unfold weights_ok in P. unfold row in I.
  destruct (Nat.lt_ge_cases x (length s)) as [L|L]; [|rewrite (nth_overflow s) in I by assumption; destruct a; destruct I].
  rewrite forallb_forall in P. pose proof (P _ (nth_In s [] L)) as P1.
  destruct (Nat.lt_ge_cases a (length (nth x s []))) as [M|M]; [|rewrite nth_overflow in I by assumption; destruct I].
  rewrite forallb_forall in P1. pose proof (P1 _ (nth_In _ [] M)) as P2.
  rewrite forallb_forall in P2. pose proof (P2 p I) as P3. apply andb_prop in P3 as [A B].
  apply ask_ok in A, B. split; assumption.
Qed.

Definition cost (x y : nat) (c : R) : Prop := exists w, find_price x y = Some w /\ value e w = c.

Lemma find_price_cases : forall x y w, find_price x y = Some w ->
  (x = y /\ w = one) \/ exists n, In n entries /\ left n = x /\ right n = y /\ price n = w.
Proof.
  intros x y w H. unfold find_price in H. destruct (Nat.eqb_spec x y) as [->|N].
  - left. split; congruence.
  - right. destruct (find _ entries) as [n|] eqn:E; [|discriminate]. apply find_some in E as [I E].
    apply andb_prop in E as [E1 E2]. apply Nat.eqb_eq in E1, E2. exists n. repeat split; congruence.
Qed.

Lemma found_sound : forall x y w, find_price x y = Some w -> sound_weight w.
Proof.
  intros x y w H. destruct (find_price_cases x y w H) as [[_ ->]|(n & I & _ & _ & <-)];
    [apply one_sound | apply price_sound; assumption].
Qed.

Lemma take_permutes : forall A (l : list A) n a m, take n l = Some (a, m) -> Permutation l (a :: m).
Proof.
  induction l as [|b l IH]; intros [|n] a m H; simpl in H; try discriminate.
  - inversion H; subst. apply Permutation_refl.
  - destruct (take n l) as [[c k]|] eqn:E; [|discriminate]. inversion H; subst.
    apply IH in E. rewrite E. apply perm_swap.
Qed.

Definition valued (l : list (nat * weight)) : list (nat * R) := map (fun p => (fst p, value e (snd p))) l.

Lemma match_rows_ok : forall c mu nu ps, sound_weight c ->
  (forall p, In p mu -> sound_weight (snd p)) -> (forall p, In p nu -> sound_weight (snd p)) ->
  match_rows c mu nu ps = true -> matched cost (value e c) (valued mu) (valued nu).
Proof.
  intros c. induction mu as [|[z w] mu IH]; intros nu [|p ps] C M N H; try discriminate.
  - exists [], (valued nu). split; [apply Permutation_refl | constructor].
  - cbn [match_rows] in H. destruct (take p nu) as [[[y v] rest]|] eqn:T; [|discriminate].
    destruct (find_price z y) as [d|] eqn:F; [|discriminate]. apply andb_prop in H as [H1 H2].
    apply take_permutes in T.
    assert (Nr : forall q, In q rest -> sound_weight (snd q)).
    { intros q Q. apply N. apply (Permutation_in q (Permutation_sym T)). now right. }
    assert (Nv : sound_weight v).
    { apply (N (y, v)). apply (Permutation_in (y, v) (Permutation_sym T)). now left. }
    destruct (IH rest ps C (fun q Q => M q (or_intror Q)) Nr H2) as (chosen & left_ & P & Q).
    exists ((y, value e v) :: chosen), left_. split.
    + unfold valued. rewrite (Permutation_map (fun p => (fst p, value e (snd p))) T). simpl.
      apply perm_skip. exact P.
    + constructor; [|exact Q]. simpl. exists (value e d). split; [exists d; split; [assumption|reflexivity]|].
      apply at_most_ok in H1.
      * simpl in H1. lra.
      * repeat constructor; [apply (M (z, w)); now left | eapply found_sound; eassumption].
      * repeat constructor; assumption.
Qed.

Lemma cost_at_least_one : forall x y c, cost x y c -> 1 <= c.
Proof.
  intros x y c (w & F & <-). destruct (find_price_cases x y w F) as [[_ ->]|(n & I & _ & _ & <-)].
  - rewrite one_value. lra.
  - pose proof (entry_in n I) as E. unfold entry_ok in E. apply andb_prop in E as [E _].
    apply andb_prop in E as [_ E]. apply at_most_ok in E.
    + simpl in E. rewrite one_value in E. lra.
    + repeat constructor. apply one_sound.
    + repeat constructor. apply price_sound. assumption.
Qed.

Lemma cost_steps : forall x y c a, cost x y c -> matched cost c (moves_at s e x a) (moves_at s e y a).
Proof.
  intros x y c a (w & F & <-). destruct (find_price_cases x y w F) as [[-> ->]|(n & I & <- & <- & <-)].
  - exists (moves_at s e y a), []. split; [rewrite app_nil_r; apply Permutation_refl|].
    induction (moves_at s e y a) as [|p l IH]; constructor; [|exact IH].
    exists 1. split; [|rewrite one_value; lra]. exists one. unfold find_price. rewrite Nat.eqb_refl.
    split; [reflexivity | apply one_value].
  - pose proof (entry_in n I) as E. unfold entry_ok in E. apply andb_prop in E as [_ E].
    destruct (Nat.lt_ge_cases a (length (nth (left n) s []))) as [L|L].
    + rewrite forallb_forall in E. specialize (E a ltac:(apply in_seq; lia)).
      eapply match_rows_ok; [apply price_sound; assumption | | | exact E]; intros p P; eapply row_weight; eassumption.
    + unfold moves_at at 1, row. rewrite (nth_overflow (nth (left n) s [])) by assumption.
      exists [], (moves_at s e (right n) a). split; [apply Permutation_refl | constructor].
Qed.

Lemma moves_nonneg : forall x a p, In p (moves_at s e x a) -> 0 <= snd p.
Proof.
  intros x a p H. apply in_map_iff in H as (q & <- & Q). destruct (row_weight x a q Q) as [A B].
  simpl. unfold value, Rdiv. apply Rmult_le_pos; [assumption|]. left. apply Rinv_0_lt_compat. exact B.
Qed.

Lemma sum_of_ok : forall l, (forall p, In p l -> sound_weight (snd p)) ->
  mean (fun _ => 1) (valued l) = value e (sum_of l) /\ sound_weight (sum_of l).
Proof.
  induction l as [|[z [t b]] l IH]; intro H.
  - simpl. unfold value, sound_weight. simpl. rewrite !qeval_const, Q2R_0, Q2R_1. split; lra.
  - destruct IH as [I1 I2]; [intros p P; apply H; now right|].
    assert (B : 0 < qeval b e) by (apply (H (z, (t, b))); now left).
    cbn [sum_of valued map mean fst snd]. fold (valued l). rewrite I1. unfold sound_weight in *.
    destruct (sum_of l) as [u d]. unfold value in *. cbn [fst snd] in *.
    destruct (qeq b d) eqn:Q; cbn [fst snd].
    + apply qeq_eval with (e := e) in Q. rewrite qeval_add, <- Q. split; [field; lra | assumption].
    + rewrite qeval_add, !qeval_mul. split; [field; lra | apply Rmult_lt_0_compat; assumption].
Qed.

Lemma cheap_ok : forall x y, cheap x y = true -> exists c, cost x y c /\ c <= value e ratio.
Proof.
  intros x y H. unfold cheap in H. destruct (find_price x y) as [w|] eqn:F; [|discriminate].
  exists (value e w). split; [exists w; split; [assumption|reflexivity]|].
  apply at_most_ok in H; [simpl in H; lra | |].
  - repeat constructor. eapply found_sound; eassumption.
  - repeat constructor. destruct parts as (_ & _ & _ & _ & P & _). apply ask_ok in P. exact P.
Qed.

Lemma among_ok : forall x, among x = true <-> In x reach.
Proof.
  intro x. unfold among. rewrite existsb_exists. split.
  - intros (y & I & E). apply Nat.eqb_eq in E. now subst.
  - intro I. exists x. split; [assumption | apply Nat.eqb_refl].
Qed.

(* At every point of the domain: one data point more changes the probability of no observation by more than the
   ratio, wherever it comes; see `Unwinding.prob_taking`. *)
Theorem check_costs_sound : forall x d first t, In x reach -> (d < data)%nat ->
  prob (moves_at s e) x (first ++ d :: t) <= value e ratio * prob_taking (moves_at s e) x d first t /\
  prob_taking (moves_at s e) x d first t <= value e ratio * prob (moves_at s e) x (first ++ d :: t).
Proof.
  intros x d first t Hx Hd. destruct parts as (_ & _ & _ & P4 & _ & P6).
  assert (Ins : forall y a, In y reach -> (a < data)%nat -> insertion_ok y a = true).
  { intros y a Hy Ha. rewrite forallb_forall in P6. specialize (P6 y Hy). rewrite forallb_forall in P6.
    apply P6. apply in_seq. lia. }
  apply (data_points_are_hidden (moves_at s e) moves_nonneg cost cost_at_least_one cost_steps
    (fun a => (a < data)%nat) (fun y => In y reach)); try assumption.
  - intros y a p Hy Hp. apply in_map_iff in Hp as (q & <- & Q). simpl. apply among_ok.
    unfold closed_under_moves in P4. rewrite forallb_forall in P4. specialize (P4 y Hy). unfold row in Q.
    destruct (Nat.lt_ge_cases a (length (nth y s []))) as [M|M].
    + rewrite forallb_forall in P4. specialize (P4 _ (nth_In _ [] M)). rewrite forallb_forall in P4. exact (P4 q Q).
    + rewrite nth_overflow in Q by assumption. destruct Q.
  - intros y a Hy Ha N. specialize (Ins y a Hy Ha). unfold insertion_ok in Ins.
    apply andb_prop in Ins as [_ Ins].
    destruct (sum_of_ok (row s y a)) as [S1 S2]; [intros p P; eapply row_weight; eassumption|].
    unfold moves_at. fold (valued (row s y a)). rewrite S1.
    assert (Ne : row s y a <> []) by (intro E; apply N; unfold moves_at; rewrite E; reflexivity).
    destruct (row s y a) as [|q l] eqn:E; [congruence|]. rewrite <- E in *.
    unfold value, sound_weight in *. destruct (sum_of (row s y a)) as [u b].
    apply qeq_eval with (e := e) in Ins. cbn [fst snd] in *. rewrite Ins. field. lra.
  - intros y a p Hy Ha Hp. apply in_map_iff in Hp as (q & <- & Q). simpl.
    specialize (Ins y a Hy Ha). unfold insertion_ok in Ins. apply andb_prop in Ins as [Ins _].
    rewrite forallb_forall in Ins. specialize (Ins q Q). apply andb_prop in Ins as [I1 I2].
    destruct (cheap_ok _ _ I1) as (b & B1 & B2). destruct (cheap_ok _ _ I2) as (c & C1 & C2).
    exists b, c. tauto.
Qed.

End Check.

Corollary check_system_sound : forall lemmas g signs s entries data reach ratio,
  (forall l, In l lemmas -> holds l) ->
  check_costs (check max_depth lemmas) g signs s entries data reach ratio = true ->
  forall e, dom g e -> forall x d first t, In x reach -> (d < data)%nat ->
  prob (moves_at s e) x (first ++ d :: t) <= value e ratio * prob_taking (moves_at s e) x d first t /\
  prob_taking (moves_at s e) x d first t <= value e ratio * prob (moves_at s e) x (first ++ d :: t).
Proof.
  intros lemmas g signs s entries data reach ratio L H e D.
  refine (check_costs_sound (check max_depth lemmas) g signs s entries data reach ratio _ H e D).
  intros h c K. exact (check_sound max_depth lemmas h c L K).
Qed.
