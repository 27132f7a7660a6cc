(* D of dpCTL* in models with choices: under every word of actions, two states are as likely to start a path that is as
   asked. It is shown by bounds of the probabilities over all words, and a word may show that it is false. *)
From Coq Require Import Reals ZArith QArith Qreals Lra Lia List Bool Arith.
From Paramverify Require Import Poly Goal Certificate Rule Check Sound Parts Unwinding Weights Closures Violations.
From Paramverify Require Import Formulas Decisions.
Import ListNotations.
Local Open Scope R_scope.

(* No part of these asks for probabilities. *)
Fixpoint plain_formula (f : formula) : bool :=
  match f with
  | Truth _ | Among _ => true
  | Not f => plain_formula f
  | And f h | Or f h => plain_formula f && plain_formula h
  | Share _ _ _ _ | Private _ _ _ => false
  end.

Fixpoint plain_path (p : path) : bool :=
  match p with
  | State f => plain_formula f
  | NotP p | Next p => plain_path p
  | AndP p q | OrP p q | Until p q _ _ => plain_path p && plain_path q
  end.

Fixpoint nexts (n : nat) (p : path) : path := match n with O => p | S n => Next (nexts n p) end.

Section Choices.

Variable cs : list chain.  (* by action *)
Variable near : list (nat * nat).

Definition all_alike : nat := length (hd [] cs).  (* the number of states *)

(* The probability of what is asked, where the actions come from a word. *)
Fixpoint expect_under (e : env) (word : nat -> nat) (n : nat) (good : list nat -> bool) (x : nat) : R :=
  match n with
  | O => if good [x] then 1 else 0
  | S n => mean (expect_under e (fun k => word (S k)) n (fun w => good (x :: w))) (next_of (nth (word 0%nat) cs []) e x)
  end.

Definition likely_under (e : env) (word : nat -> nat) (p : path) : nat -> R :=
  expect_under e word (depth p) (satisfied (hd [] cs) near e p).

(* One of two states is hidden by the other one. *)
Definition hidden_under (e : env) (ratio delta : weight) (p : path) (word : nat -> nat) (x y : nat) : Prop :=
  likely_under e word p x <= value e ratio * likely_under e word p y + value e delta /\
  likely_under e word p y <= value e ratio * likely_under e word p x + value e delta.

Definition is_word (word : nat -> nat) : Prop := forall k, (word k < length cs)%nat.

(* D says this of a state. *)
Definition private_under (e : env) (ratio delta : weight) (p : path) (x : nat) : Prop :=
  forall word, is_word word -> forall y, In y (x :: mates_of near x) -> hidden_under e ratio delta p word x y.

Variable g : goal.
Variable signs : list sign.

Definition better (largest : bool) (a b : weight) : option weight :=
  if ask g signs false (difference [a] [b]) then Some (if largest then b else a)
  else if ask g signs false (difference [b] [a]) then Some (if largest then a else b) else None.

Fixpoint best_of (largest : bool) (a : weight) (l : list (option weight)) : option weight :=
  match l with
  | [] => Some a
  | Some b :: l => match better largest a b with Some w => best_of largest w l | None => None end
  | None :: _ => None
  end.

Definition best (largest : bool) (l : list (option weight)) : option weight :=
  match l with Some a :: l => best_of largest a l | _ => None end.

Definition bound_of (largest : bool) (allowed : list nat) (found : list (plan * list weight)) (p : plan) (x : nat) : option weight :=
  match onwards p x with
  | Sure true => Some one
  | Sure false => Some zero
  | q => match find_plan found q with
         | Some vs => best largest (map (fun a => average (nth_error vs) (nth x (nth a cs []) [])) allowed)
         | None => None
         end
  end.

(* Bounds over all words whose actions are allowed, step by step. *)
Fixpoint bounds (largest : bool) (allowed : list (list nat)) (l : list plan) : option (list (plan * list weight)) :=
  let later := match open_ones (flat_map (fun p => map (onwards p) (seq 0 all_alike)) l), allowed with
               | [], _ => Some []
               | _, [] => None
               | todo, _ :: allowed => bounds largest allowed todo
               end in
  match later with
  | None => None
  | Some found => all_some (map (fun p =>
      option_map (pair p) (all_some (map (bound_of largest (hd [] allowed) found p) (seq 0 all_alike)))) l)
  end.

Definition bound_path (largest : bool) (allowed : list (list nat)) (p : path) : option (list weight) :=
  match planned g signs (hd [] cs) near p with
  | Some q => match bounds largest allowed [q] with Some found => find_plan found q | None => None end
  | None => None
  end.

Definition anything (p : path) : list (list nat) := repeat (seq 0 (length cs)) (depth p).

(* --- what is asked --------------------------------------------------------------------------------------------------- *)

(* A state hides itself: the ratio is at least 1, and delta at least 0. *)
Definition reflexive (ratio delta : weight) : bool :=
  ask g signs true (snd ratio) && ask g signs true (snd delta) &&
  ask g signs false (difference [one] [ratio]) && ask g signs false (fst delta).

Definition is_shown (truth : bool) (a : option bool) : bool := match a with Some b => Bool.eqb truth b | None => false end.

(* The largest probability of one state and the least one of the other are in the relation. *)
Definition private_by_bounds (ratio delta : weight) (p : path) (states : list nat) : bool :=
  match bound_path true (anything p) p, bound_path false (anything p) p with
  | Some us, Some ls => forallb (fun x => Nat.ltb x all_alike && forallb (fun y =>
      match nth_error us x, nth_error ls x, nth_error us y, nth_error ls y with
      | Some ux, Some lx, Some uy, Some ly =>
        is_shown true (hidden_by g signs ratio delta ux ly) && is_shown true (hidden_by g signs ratio delta uy lx)
      | _, _, _, _ => false
      end) (mates_of near x)) states
  | _, _ => false
  end.

(* With this word the first state is too likely, or the second one. *)
Definition broken_by (ratio delta : weight) (p : path) (x y : nat) (word : list nat) : bool :=
  let only := map (fun a => [a]) word in
  existsb (Nat.eqb y) (mates_of near x) && forallb (fun a => Nat.ltb a (length cs)) word &&
  Nat.eqb (length word) (depth p) && ask g signs true (snd ratio) && ask g signs true (snd delta) &&
  ask g signs false (fst ratio) &&
  match bound_path true only p, bound_path false only p with
  | Some us, Some ls =>
    match nth_error us x, nth_error ls x, nth_error us y, nth_error ls y with
    | Some ux, Some lx, Some uy, Some ly =>
      is_shown false (hidden_by g signs ratio delta lx uy) || is_shown false (hidden_by g signs ratio delta ly ux)
    | _, _, _, _ => false
    end
  | _, _ => false
  end.

(* After m steps, so many states satisfy this. *)
Definition stay (m : nat) (a : path) (many : nat) : path :=
  nexts m (NotP (Until (State (Truth true)) (NotP a) 0 (pred many))).

(* That is at most delta likely, for the state and for its mates. *)
Definition rare (delta : weight) (m : nat) (a : path) (many : nat) (states : list nat) : bool :=
  Nat.ltb 0 many &&
  match bound_path true (anything (stay m a many)) (stay m a many) with
  | Some us => forallb (fun x => forallb (fun y =>
      match nth_error us y with Some u => ask g signs false (difference [u] [delta]) | None => false end)
      (x :: mates_of near x)) states
  | None => false
  end.

Definition choices_ok : bool :=
  negb (empty cs) && forallb (fun c => chain_ok g signs c && Nat.eqb (length c) all_alike) cs.

(* --- they are bounds -------------------------------------------------------------------------------------------------- *)

Variable rec : checker.
Hypothesis rec_honest : honest rec.
Hypothesis known : signs_ok rec g signs = true.
Variable e : env.
Hypothesis in_domain : dom g e.
Hypothesis accepted : choices_ok = true.

Lemma chain_of : forall a, (a < length cs)%nat -> chain_ok g signs (nth a cs []) = true /\ length (nth a cs []) = all_alike.
Proof.
  intros a A. unfold choices_ok in accepted. apply andb_prop in accepted as [_ H]. rewrite forallb_forall in H.
  specialize (H _ (nth_In cs [] A)). apply andb_prop in H as [H1 H2]. apply Nat.eqb_eq in H2. now split.
Qed.

Lemma some_chain : (0 < length cs)%nat.
Proof. unfold choices_ok in accepted. destruct cs; [discriminate | simpl; lia]. Qed.

Lemma facts_of : forall a x, (a < length cs)%nat -> (x < all_alike)%nat ->
  sound_row e (nth x (nth a cs []) []) /\
  (forall p, In p (next_of (nth a cs []) e x) -> 0 <= snd p /\ (fst p < all_alike)%nat) /\
  mean (fun _ => 1) (next_of (nth a cs []) e x) = 1.
Proof.
  intros a x A X. destruct (chain_of a A) as [C L].
  destruct (row_facts g signs (nth a cs []) rec rec_honest known e in_domain C x) as (S & _ & M).
  split; [exact S|]. split; [|apply M; unfold size; lia].
  intros p P. destruct (steps_facts g signs (nth a cs []) rec rec_honest known e in_domain C x p P) as [P1 P2].
  unfold size in P2. rewrite L in P2. now split.
Qed.

Lemma is_word_next : forall word, is_word word -> is_word (fun k => word (S k)).
Proof. intros word W k. apply W. Qed.

Lemma under_ext : forall n word good other x, is_word word -> (x < all_alike)%nat ->
  (forall w, Forall (fun y => (y < all_alike)%nat) w -> good w = other w) ->
  expect_under e word n good x = expect_under e word n other x.
Proof.
  induction n as [|n IH]; intros word good other x W X E; cbn [expect_under].
  - rewrite E; [reflexivity | repeat constructor; exact X].
  - apply mean_ext. intros p P. destruct (facts_of (word 0%nat) x (W 0%nat) X) as (_ & F & _).
    apply IH; [now apply is_word_next | apply (F p P)|]. intros w Hw. apply E. now constructor.
Qed.

Lemma under_sure : forall n word good b x, is_word word -> (x < all_alike)%nat -> (forall w, good (x :: w) = b) ->
  expect_under e word n good x = if b then 1 else 0.
Proof.
  induction n as [|n IH]; intros word good b x W X E; cbn [expect_under]; [now rewrite E|].
  destruct (facts_of (word 0%nat) x (W 0%nat) X) as (_ & F & M).
  rewrite (mean_ext _ (fun _ => if b then 1 else 0)); [rewrite mean_const, M; ring|].
  intros p P. apply IH; [now apply is_word_next | apply (F p P)|]. intro w. apply E.
Qed.

Lemma under_monotone : forall n word good other x, is_word word -> (x < all_alike)%nat ->
  (forall w, good w = true -> other w = true) -> expect_under e word n good x <= expect_under e word n other x.
Proof.
  induction n as [|n IH]; intros word good other x W X E; cbn [expect_under].
  - destruct (good [x]) eqn:G; [rewrite (E _ G); lra | destruct (other [x]); lra].
  - destruct (facts_of (word 0%nat) x (W 0%nat) X) as (_ & F & _). apply mean_le. intros p P.
    split; [apply (F p P)|]. apply IH; [now apply is_word_next | apply (F p P)|]. intros w. apply E.
Qed.

Lemma under_nonneg : forall n word good x, is_word word -> (x < all_alike)%nat -> 0 <= expect_under e word n good x.
Proof.
  intros n word good x W X. rewrite <- (under_sure n word (fun _ => false) false x W X) by reflexivity.
  apply under_monotone; auto; discriminate.
Qed.

Definition on_side (largest : bool) (p v : R) : Prop := if largest then p <= v else v <= p.

Lemma better_ok : forall largest a b v p, sound_weight e a -> sound_weight e b -> better largest a b = Some v ->
  sound_weight e v /\ (on_side largest p (value e a) \/ on_side largest p (value e b) -> on_side largest p (value e v)).
Proof.
  intros largest a b v p A B H. unfold better in H.
  assert (L : forall x y, sound_weight e x -> sound_weight e y -> ask g signs false (difference [x] [y]) = true ->
    value e x <= value e y).
  { intros x y X Y K. pose proof (at_most_ok rec g signs rec_honest known e in_domain [x] [y]
      (Forall_cons _ X (Forall_nil _)) (Forall_cons _ Y (Forall_nil _)) K) as M. simpl in M. lra. }
  destruct (ask g signs false (difference [a] [b])) eqn:E.
  - apply L in E; auto. inversion H; subst. destruct largest; (split; [assumption|]); unfold on_side; intros [K|K]; lra.
  - destruct (ask g signs false (difference [b] [a])) eqn:F; [|discriminate]. apply L in F; auto. inversion H; subst.
    destruct largest; (split; [assumption|]); unfold on_side; intros [K|K]; lra.
Qed.

Lemma best_of_ok : forall largest l a v, best_of largest a l = Some v -> sound_weight e a ->
  (forall u, In (Some u) l -> sound_weight e u) ->
  sound_weight e v /\ (forall p, on_side largest p (value e a) -> on_side largest p (value e v)) /\
  (forall u p, In (Some u) l -> on_side largest p (value e u) -> on_side largest p (value e v)) /\
  forall b, In b l -> exists u, b = Some u.
Proof.
  intros largest. induction l as [|[b|] l IH]; intros a v H A S; simpl in H; [|destruct (better largest a b) as [w|] eqn:B|];
    try discriminate.
  - inversion H; subst. split; [assumption|]. split; [auto|]. split; [intros u p []|intros b []].
  - pose proof (S b (or_introl eq_refl)) as Sb. pose proof (proj1 (better_ok largest a b w 0 A Sb B)) as W.
    destruct (IH w v H W (fun u U => S u (or_intror U))) as (V1 & V2 & V3 & V4).
    split; [exact V1|]. split; [|split].
    + intros p K. apply V2. apply (better_ok largest a b w p A Sb B). now left.
    + intros u p [U|U] K; [|exact (V3 u p U K)]. inversion U; subst. apply V2.
      apply (better_ok largest a u w p A Sb B). now right.
    + intros c [<-|C]; [now exists b | exact (V4 c C)].
Qed.

Lemma best_ok : forall largest l v, best largest l = Some v ->
  (forall u, In (Some u) l -> sound_weight e u) ->
  sound_weight e v /\ (forall u p, In (Some u) l -> on_side largest p (value e u) -> on_side largest p (value e v)) /\
  forall b, In b l -> exists u, b = Some u.
Proof.
  intros largest [|[a|] l] v H S; try discriminate. simpl in H.
  destruct (best_of_ok largest l a v H (S a (or_introl eq_refl)) (fun u U => S u (or_intror U))) as (V1 & V2 & V3 & V4).
  split; [exact V1|]. split.
  - intros u p [U|U] K; [inversion U; subst; now apply V2 | exact (V3 u p U K)].
  - intros b [<-|B]; [now exists a | exact (V4 b B)].
Qed.

(* These bound a probability, state by state. *)
Definition sided (largest : bool) (vs : list weight) (h : nat -> R) : Prop :=
  forall x v, nth_error vs x = Some v -> (x < all_alike)%nat /\ on_side largest (h x) (value e v) /\ sound_weight e v.

Definition permitted (allowed : list (list nat)) (word : nat -> nat) : Prop :=
  is_word word /\ forall k, (k < length allowed)%nat -> In (word k) (nth k allowed []).

Definition legal (allowed : list (list nat)) : Prop := forall l a, In l allowed -> In a l -> (a < length cs)%nat.

Lemma average_sided : forall largest look h l v, sound_row e l ->
  (forall z u, look z = Some u -> on_side largest (h z) (value e u) /\ sound_weight e u) ->
  average look l = Some v -> on_side largest (mean h (valued e l)) (value e v) /\ sound_weight e v.
Proof.
  intros largest look h. induction l as [|[z w] l IH]; intros v G L H; cbn [average] in H.
  - inversion H; subst. destruct (none_ok e) as [Z1 Z2]. cbn [valued map mean]. split; [|exact Z2].
    unfold zero. destruct largest; unfold on_side; rewrite Z1; lra.
  - destruct (look z) as [u|] eqn:U; [|discriminate]. destruct (average look l) as [s|]; [|discriminate].
    inversion H; subst. clear H. destruct (L z u U) as [U1 U2].
    destruct (IH s (fun p P => G p (or_intror P)) L eq_refl) as [I1 I2].
    destruct (G (z, w) (or_introl eq_refl)) as [Wp W]. cbn [snd] in Wp, W.
    destruct (times_value_ok e w u W U2) as [T1 T2]. destruct (plus_weight_ok e s _ I2 T2) as [P1 P2].
    split; [|exact P2]. cbn [valued map mean fst snd]. unfold valued in I1.
    assert (K : on_side largest (value e w * h z) (value e w * value e u)).
    { destruct largest; unfold on_side in *; now apply Rmult_le_compat_l. }
    rewrite P1, T1. destruct largest; unfold on_side in *; lra.
Qed.

Lemma bound_ok : forall largest allowed found p x v n word, (x < all_alike)%nat -> is_word word ->
  (forall a, In a allowed -> (a < length cs)%nat) ->
  (forall q vs, In (q, vs) found -> In (word 0%nat) allowed /\
    exists m, (n = S m)%nat /\ sided largest vs (expect_under e (fun k => word (S k)) m (meets q))) ->
  bound_of largest allowed found p x = Some v ->
  on_side largest (expect_under e word n (meets p) x) (value e v) /\ sound_weight e v.
Proof.
  intros largest allowed found p x v n word X W A F H. unfold bound_of in H.
  assert (Later : match find_plan found (onwards p x) with
      | Some vs => best largest (map (fun a => average (nth_error vs) (nth x (nth a cs []) [])) allowed)
      | None => None end = Some v -> on_side largest (expect_under e word n (meets p) x) (value e v) /\ sound_weight e v).
  { clear H. intro H. destruct (find_plan found (onwards p x)) as [vs|] eqn:E; [|discriminate].
    apply find_plan_in in E. destruct (F _ _ E) as (In0 & m & -> & T).
    assert (Each : forall a u, In a allowed -> average (nth_error vs) (nth x (nth a cs []) []) = Some u ->
      on_side largest (mean (expect_under e (fun k => word (S k)) m (meets (onwards p x))) (next_of (nth a cs []) e x)) (value e u)
      /\ sound_weight e u).
    { intros a u I U. destruct (facts_of a x (A a I) X) as (S & _).
      exact (average_sided largest _ _ _ u S (fun z t Z => proj2 (T z t Z)) U). }
    destruct (best_ok largest _ v H) as (V1 & V2 & V3).
    { intros u U. apply in_map_iff in U as (a & U & I). apply (Each a u I U). }
    split; [|exact V1]. destruct (V3 _ (in_map _ _ _ In0)) as [u U].
    apply (V2 u); [rewrite <- U; exact (in_map _ _ _ In0)|]. cbn [expect_under].
    destruct (facts_of (word 0%nat) x (W 0%nat) X) as (_ & T2 & _).
    rewrite (mean_ext _ (expect_under e (fun k => word (S k)) m (meets (onwards p x)))).
    - exact (proj1 (Each _ u In0 U)).
    - intros q Q. apply under_ext; [now apply is_word_next | apply (T2 q Q) | intros w _; apply onwards_ok]. }
  destruct (onwards p x) as [b| | | | | |] eqn:E; try exact (Later H).
  rewrite (under_sure n word (meets p) b x W X) by (intro w; rewrite onwards_ok, E; reflexivity).
  destruct (none_ok e) as [Z1 Z2].
  destruct b; inversion H; subst; (split; [|assumption || apply one_sound]); unfold zero, on_side; rewrite ?one_value, ?Z1; destruct largest; lra.
Qed.

Lemma bounds_ok : forall largest allowed l found, legal allowed -> bounds largest allowed l = Some found ->
  forall p vs, In (p, vs) found -> forall word m, permitted allowed word -> (length allowed <= m)%nat ->
  sided largest vs (expect_under e word m (meets p)).
Proof.
  intros largest. induction allowed as [|first allowed IH]; intros l found Legal H p vs I word m [W P] L; cbn [bounds] in H.
  - destruct (open_ones _) as [|q todo]; [|discriminate]. intros x v N.
    apply (all_some_in _ _ _ _ H) in I. apply in_map_iff in I as (p' & I & _).
    destruct (all_some (map (bound_of _ _ _ p') _)) as [us|] eqn:E; [|discriminate]. inversion I; subst.
    apply (all_some_nth _ _ _ E) in N. apply nth_error_map_seq in N as [X N]. split; [exact X|].
    apply (bound_ok largest [] [] p x v m word X W); [intros a [] | intros q us' [] | now symmetry].
  - set (later := match open_ones _ with [] => Some [] | _ => _ end) in H.
    assert (Later : forall f, later = Some f -> forall q us, In (q, us) f -> In (word 0%nat) first /\
      exists k, (m = S k)%nat /\ sided largest us (expect_under e (fun k => word (S k)) k (meets q))).
    { intros f Lf q us Q. unfold later in Lf. destruct (open_ones _) as [|t todo]; [inversion Lf; subst; destruct Q|].
      split; [exact (P 0%nat ltac:(simpl; lia))|]. destruct m as [|m]; [simpl in L; lia|]. exists m. split; [reflexivity|].
      apply (IH _ f (fun l' a I1 I2 => Legal l' a (or_intror I1) I2) Lf q us Q); [|simpl in L; lia].
      split; [now apply is_word_next|]. intros k K. exact (P (S k) ltac:(simpl; lia)). }
    destruct later as [f|]; [|discriminate]. intros x v N.
    apply (all_some_in _ _ _ _ H) in I. apply in_map_iff in I as (p' & I & _). cbn [hd] in I.
    destruct (all_some (map (bound_of largest first f p') _)) as [us|] eqn:E; [|discriminate]. inversion I; subst.
    apply (all_some_nth _ _ _ E) in N. apply nth_error_map_seq in N as [X N]. split; [exact X|].
    apply (bound_ok largest first f p x v m word X W); [|exact (Later f eq_refl) | now symmetry].
    intros a A. exact (Legal first a (or_introl eq_refl) A).
Qed.

Lemma hd_chain : chain_ok g signs (hd [] cs) = true.
Proof. pose proof (chain_of 0 some_chain) as [C _]. destruct cs; exact C. Qed.

Lemma satisfied_plan : forall p q, planned g signs (hd [] cs) near p = Some q -> (0 < all_alike)%nat ->
  forall w, Forall (fun y => (y < all_alike)%nat) w -> meets q w = satisfied (hd [] cs) near e p w.
Proof.
  intros p q H Z w W.
  exact (planned_right g signs (hd [] cs) near rec rec_honest known e in_domain hd_chain p q H Z w W).
Qed.

Lemma bound_path_ok : forall largest allowed p vs, legal allowed -> bound_path largest allowed p = Some vs ->
  forall word m, permitted allowed word -> (length allowed <= m)%nat ->
  sided largest vs (expect_under e word m (satisfied (hd [] cs) near e p)).
Proof.
  intros largest allowed p vs Legal H word m W L x v N. unfold bound_path in H.
  destruct (planned g signs (hd [] cs) near p) as [q|] eqn:Q; [|discriminate].
  destruct (bounds largest allowed [q]) as [found|] eqn:B; [|discriminate]. apply find_plan_in in H.
  destruct (bounds_ok largest allowed [q] found Legal B q vs H word m W L x v N) as (X & S & V).
  split; [exact X|]. split; [|exact V]. rewrite <- (under_ext m word (meets q)); [exact S | apply W | exact X|].
  intros w Hw. apply (satisfied_plan p q Q); [lia | exact Hw].
Qed.

Lemma anything_legal : forall p, legal (anything p).
Proof. intros p l a L A. apply repeat_spec in L. subst l. apply in_seq in A. lia. Qed.

Lemma anything_permits : forall p word, is_word word -> permitted (anything p) word.
Proof.
  intros p word W. split; [exact W|]. intros k K. unfold anything in *. rewrite repeat_length in K.
  pose proof (nth_In (repeat (seq 0 (length cs)) (depth p)) [] (eq_ind_r (fun n => (k < n)%nat) K (repeat_length _ _))) as I.
  apply repeat_spec in I. rewrite I. apply in_seq. split; [lia|]. apply W.
Qed.

Lemma on_states : forall largest p vs word x v, bound_path largest (anything p) p = Some vs -> is_word word ->
  nth_error vs x = Some v ->
  (x < all_alike)%nat /\ on_side largest (likely_under e word p x) (value e v) /\ sound_weight e v.
Proof.
  intros largest p vs word x v B W N.
  refine (bound_path_ok largest (anything p) p vs (anything_legal p) B word (depth p) (anything_permits p word W) _ x v N).
  unfold anything. now rewrite repeat_length.
Qed.

Lemma reflexive_ok : forall ratio delta, reflexive ratio delta = true ->
  sound_weight e ratio /\ sound_weight e delta /\ 1 <= value e ratio /\ 0 <= value e delta.
Proof.
  intros ratio delta H. unfold reflexive in H. apply andb_prop in H as [H D]. apply andb_prop in H as [H One].
  apply andb_prop in H as [R Dd]. apply (ask_ok rec g signs rec_honest known e in_domain) in R, Dd, D. simpl in R, Dd, D.
  split; [exact R|]. split; [exact Dd|].
  pose proof (at_most_ok rec g signs rec_honest known e in_domain [one] [ratio]
    (Forall_cons _ (one_sound e) (Forall_nil _)) (Forall_cons _ R (Forall_nil _)) One) as L.
  simpl in L. rewrite one_value in L. split; [lra|]. unfold value, Rdiv. apply Rmult_le_pos; [exact D|].
  left. now apply Rinv_0_lt_compat.
Qed.

Lemma itself : forall ratio delta p word x, reflexive ratio delta = true -> is_word word -> (x < all_alike)%nat ->
  hidden_under e ratio delta p word x x.
Proof.
  intros ratio delta p word x R W X. destruct (reflexive_ok ratio delta R) as (_ & _ & One & D).
  pose proof (under_nonneg (depth p) word (satisfied (hd [] cs) near e p) x W X) as N.
  fold (likely_under e word p x) in N.
  assert (1 * likely_under e word p x <= value e ratio * likely_under e word p x) by (apply Rmult_le_compat_r; lra).
  split; lra.
Qed.

Lemma shown_ok : forall truth ratio delta u v, sound_weight e ratio -> sound_weight e delta -> sound_weight e u ->
  sound_weight e v -> is_shown truth (hidden_by g signs ratio delta u v) = true ->
  if truth then value e u <= value e ratio * value e v + value e delta
  else value e ratio * value e v + value e delta < value e u.
Proof.
  intros truth ratio delta u v R D U V H. unfold is_shown in H.
  destruct (hidden_by g signs ratio delta u v) as [b|] eqn:E; [|discriminate]. apply eqb_prop in H. subst b.
  apply (hidden_by_ok g signs rec rec_honest known e in_domain ratio delta u v truth R D U V) in E.
  destruct truth, (Rle_dec _ _); try discriminate; lra.
Qed.

Lemma private_by_bounds_ok : forall ratio delta p states x, reflexive ratio delta = true ->
  private_by_bounds ratio delta p states = true -> In x states -> private_under e ratio delta p x.
Proof.
  intros ratio delta p states x R H Hx word W y Y. unfold private_by_bounds in H.
  destruct (bound_path true (anything p) p) as [us|] eqn:U; [|discriminate].
  destruct (bound_path false (anything p) p) as [ls|] eqn:L; [|discriminate].
  rewrite forallb_forall in H. specialize (H x Hx). apply andb_prop in H as [X H].
  apply Nat.ltb_lt in X. destruct Y as [<-|Y]; [now apply itself|].
  rewrite forallb_forall in H. specialize (H y Y).
  destruct (nth_error us x) as [ux|] eqn:Ux; [|discriminate]. destruct (nth_error ls x) as [lx|] eqn:Lx; [|discriminate].
  destruct (nth_error us y) as [uy|] eqn:Uy; [|discriminate]. destruct (nth_error ls y) as [ly|] eqn:Ly; [|discriminate].
  destruct (on_states true p us word x ux U W Ux) as (_ & A1 & A2).
  destruct (on_states false p ls word x lx L W Lx) as (_ & B1 & B2).
  destruct (on_states true p us word y uy U W Uy) as (_ & C1 & C2).
  destruct (on_states false p ls word y ly L W Ly) as (_ & D1 & D2). unfold on_side in *.
  destruct (reflexive_ok ratio delta R) as (Sr & Sd & One & _). apply andb_prop in H as [H1 H2].
  apply shown_ok in H1, H2; auto.
  assert (value e ratio * value e ly <= value e ratio * likely_under e word p y) by (apply Rmult_le_compat_l; lra).
  assert (value e ratio * value e lx <= value e ratio * likely_under e word p x) by (apply Rmult_le_compat_l; lra).
  split; lra.
Qed.

Lemma broken_by_ok : forall ratio delta p x y word, broken_by ratio delta p x y word = true ->
  ~ private_under e ratio delta p x.
Proof.
  intros ratio delta p x y word H Private. unfold broken_by in H. apply andb_prop in H as [H B].
  apply andb_prop in H as [H Pos]. apply andb_prop in H as [H Sd]. apply andb_prop in H as [H Sr].
  apply andb_prop in H as [H Len]. apply andb_prop in H as [Y Word]. apply Nat.eqb_eq in Len.
  apply existsb_exists in Y as (z & Y & E). apply Nat.eqb_eq in E. subst z. rewrite forallb_forall in Word.
  apply (ask_ok rec g signs rec_honest known e in_domain) in Sr, Sd, Pos. simpl in Sr, Sd, Pos.
  assert (R : 0 <= value e ratio).
  { unfold value, Rdiv. apply Rmult_le_pos; [exact Pos|]. left. now apply Rinv_0_lt_compat. }
  set (only := map (fun a => [a]) word) in *. set (w := fun k => nth k word 0%nat).
  assert (W : is_word w).
  { intro k. unfold w. destruct (Nat.lt_ge_cases k (length word)) as [L|L].
    - apply Nat.ltb_lt. apply Word. now apply nth_In.
    - rewrite nth_overflow by assumption. apply some_chain. }
  assert (P : permitted only w).
  { split; [exact W|]. intros k K. unfold only in *. rewrite map_length in K.
    rewrite nth_indep with (d' := [0%nat]) by (now rewrite map_length). rewrite (map_nth (fun a => [a])). now left. }
  assert (Lg : legal only).
  { intros l a L A. apply in_map_iff in L as (b & <- & I). destruct A as [<-|[]]. apply Nat.ltb_lt. now apply Word. }
  destruct (bound_path true only p) as [us|] eqn:U; [|discriminate].
  destruct (bound_path false only p) as [ls|] eqn:L; [|discriminate].
  destruct (nth_error us x) as [ux|] eqn:Ux; [|discriminate]. destruct (nth_error ls x) as [lx|] eqn:Lx; [|discriminate].
  destruct (nth_error us y) as [uy|] eqn:Uy; [|discriminate]. destruct (nth_error ls y) as [ly|] eqn:Ly; [|discriminate].
  assert (M : (length only <= depth p)%nat) by (unfold only; rewrite map_length; lia).
  destruct (bound_path_ok true only p us Lg U w (depth p) P M x ux Ux) as (_ & A1 & A2).
  destruct (bound_path_ok false only p ls Lg L w (depth p) P M x lx Lx) as (_ & B1 & B2).
  destruct (bound_path_ok true only p us Lg U w (depth p) P M y uy Uy) as (_ & C1 & C2).
  destruct (bound_path_ok false only p ls Lg L w (depth p) P M y ly Ly) as (_ & D1 & D2).
  fold (likely_under e w p x) in A1, B1. fold (likely_under e w p y) in C1, D1. unfold on_side in *.
  destruct (Private w W y (or_intror Y)) as [H1 H2].
  assert (value e ratio * likely_under e w p x <= value e ratio * value e ux) by (apply Rmult_le_compat_l; lra).
  assert (value e ratio * likely_under e w p y <= value e ratio * value e uy) by (apply Rmult_le_compat_l; lra).
  apply orb_prop in B as [B|B]; apply shown_ok in B; auto; lra.
Qed.

Lemma depth_nexts : forall m p, depth (nexts m p) = (m + depth p)%nat.
Proof. induction m as [|m IH]; intro p; simpl; [reflexivity|]. now rewrite IH. Qed.

Lemma nexts_imply : forall m p q, (forall w, satisfied (hd [] cs) near e p w = true -> satisfied (hd [] cs) near e q w = true) ->
  forall w, satisfied (hd [] cs) near e (nexts m p) w = true -> satisfied (hd [] cs) near e (nexts m q) w = true.
Proof. induction m as [|m IH]; intros p q H w; cbn [nexts satisfied]; [apply H | apply (IH p q H)]. Qed.

Lemma stays : forall a b low high many, (0 < many)%nat -> (many <= low)%nat -> forall w,
  satisfied (hd [] cs) near e (Until a b low high) w = true ->
  satisfied (hd [] cs) near e (NotP (Until (State (Truth true)) (NotP a) 0 (pred many))) w = true.
Proof.
  intros a b low high many Pos L w H. cbn [satisfied] in *. apply negb_true_iff. apply not_true_iff_false. intro K.
  unfold until in H, K. apply existsb_exists in H as (j & J & H). apply andb_prop in H as [_ H].
  apply existsb_exists in K as (i & I & K). apply andb_prop in K as [K _]. apply in_seq in I, J.
  rewrite forallb_forall in H. rewrite H in K; [discriminate|]. apply in_seq. lia.
Qed.

Lemma rare_ok : forall ratio delta m a many states x, reflexive ratio delta = true ->
  rare delta m a many states = true -> In x states -> forall b low high, (many <= low)%nat -> private_under e ratio delta (nexts m (Until a b low high)) x.
Proof.
  intros ratio delta m a many states x R H Hx b low high Low word W y Y. unfold rare in H. apply andb_prop in H as [Pos H].
  apply Nat.ltb_lt in Pos. destruct (bound_path true _ _) as [us|] eqn:U; [|discriminate].
  rewrite forallb_forall in H. specialize (H x Hx). rewrite forallb_forall in H.
  destruct (reflexive_ok ratio delta R) as (_ & Sd & One & D).
  set (p := nexts m (Until a b low high)).
  assert (Small : forall z, In z (x :: mates_of near x) -> 0 <= likely_under e word p z <= value e delta).
  { intros z Z. specialize (H z Z). destruct (nth_error us z) as [u|] eqn:N; [|discriminate].
    assert (X : (z < all_alike)%nat) by exact (proj1 (on_states true _ us word z u U W N)).
    split; [now apply under_nonneg|]. destruct (Nat.lt_ge_cases high low) as [Hl|Hl].
    - unfold likely_under. rewrite (under_sure (depth p) word _ false z W X); [exact D|].
      intro w. apply not_true_iff_false. intro K.
      assert (F : forall v, satisfied (hd [] cs) near e (Until a b low high) v = true ->
        satisfied (hd [] cs) near e (State (Truth false)) v = true).
      { intros v V. cbn [satisfied] in V. replace (S high - low)%nat with 0%nat in V by lia. discriminate. }
      pose proof (nexts_imply m _ _ F _ K) as V. clear - V. revert V. generalize (z :: w).
      induction m as [|k IH]; intros l V; cbn [nexts satisfied] in V; [discriminate | exact (IH _ V)].
    - assert (M : (length (anything (stay m a many)) <= depth p)%nat).
      { unfold anything, stay, p. rewrite repeat_length, !depth_nexts. cbn [depth]. lia. }
      destruct (bound_path_ok true _ _ us (anything_legal _) U word (depth p) (anything_permits _ word W) M z u N)
        as (_ & B1 & B2). unfold on_side in B1.
      pose proof (at_most_ok rec g signs rec_honest known e in_domain [u] [delta]
        (Forall_cons _ B2 (Forall_nil _)) (Forall_cons _ Sd (Forall_nil _)) H) as L. simpl in L.
      assert (likely_under e word p z <= expect_under e word (depth p) (satisfied (hd [] cs) near e (stay m a many)) z).
      { apply under_monotone; auto. apply nexts_imply. now apply stays. }
      lra. }
  destruct (Small x (or_introl eq_refl)) as [X1 X2]. destruct (Small y Y) as [Y1 Y2].
  assert (0 <= value e ratio * likely_under e word p x) by (apply Rmult_le_pos; lra).
  assert (0 <= value e ratio * likely_under e word p y) by (apply Rmult_le_pos; lra).
  split; lra.
Qed.

End Choices.

(* What is asked about the states that are given: D of a path formula; that all later members of a family follow, where
   a U b is to last so many steps; or that D is false, since a word and a mate of the state show it. *)
Inductive asked :=
  | Always (p : path)
  | Later (m : nat) (a : path) (many : nat)
  | Broken (p : path) (mate : nat) (word : list nat).

Definition check_choices (rec : checker) (g : goal) (signs : list sign) (cs : list chain) (near : list (nat * nat))
  (states : list nat) (ratio delta : weight) (what : asked) : bool :=
  signs_ok rec g signs && choices_ok cs g signs &&
  match what with
  | Always p => plain_path p && reflexive g signs ratio delta && private_by_bounds cs near g signs ratio delta p states
  | Later m a many => plain_path a && reflexive g signs ratio delta && rare cs near g signs delta m a many states
  | Broken p mate word => plain_path p && forallb (fun x => broken_by cs near g signs ratio delta p x mate word) states
  end.

Theorem check_choices_sound : forall rec, honest rec -> forall g signs cs near states ratio delta what,
  check_choices rec g signs cs near states ratio delta what = true -> forall e, dom g e -> forall x, In x states ->
  match what with
  | Always p => private_under cs near e ratio delta p x
  | Later m a many => forall b low high, (many <= low)%nat -> private_under cs near e ratio delta (nexts m (Until a b low high)) x
  | Broken p _ _ => ~ private_under cs near e ratio delta p x
  end.
Proof.
  intros rec R g signs cs near states ratio delta what H e D x X. unfold check_choices in H.
  apply andb_prop in H as [H K]. apply andb_prop in H as [Signs C]. destruct what as [p|m a many|p mate word].
  - apply andb_prop in K as [K B]. apply andb_prop in K as [_ Rf].
    exact (private_by_bounds_ok cs near g signs rec R Signs e D C ratio delta p states x Rf B X).
  - apply andb_prop in K as [K B]. apply andb_prop in K as [_ Rf].
    exact (rare_ok cs near g signs rec R Signs e D C ratio delta m a many states x Rf B X).
  - apply andb_prop in K as [_ B]. rewrite forallb_forall in B.
    exact (broken_by_ok cs near g signs rec R Signs e D C ratio delta p x mate word (B x X)).
Qed.

Corollary check_words_sound : forall lemmas g signs cs near states ratio delta what,
  (forall l, In l lemmas -> holds l) ->
  check_choices (check max_depth lemmas) g signs cs near states ratio delta what = true ->
  forall e, dom g e -> forall x, In x states ->
  match what with
  | Always p => private_under cs near e ratio delta p x
  | Later m a many => forall b low high, (many <= low)%nat -> private_under cs near e ratio delta (nexts m (Until a b low high)) x
  | Broken p _ _ => ~ private_under cs near e ratio delta p x
  end.
Proof.
  intros lemmas g signs cs near states ratio delta what L.
  apply (check_choices_sound (check max_depth lemmas)). intros h k K. exact (check_sound max_depth lemmas h k L K).
Qed.
