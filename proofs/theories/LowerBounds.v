(* Lower bounds of budgets of interactive systems: an observation and its probabilities with two sequences of inputs.
   No budget that is right can be below their quotient. *)
From Coq Require Import Reals ZArith QArith Qreals Lra Lia List Bool Arith.
From Paramverify Require Import Poly Goal Certificate Rule Parts Unwinding Weights Closures Systems Violations.
Import ListNotations.
Local Open Scope R_scope.

(* Two weights are the same: as quotients of polynomials, or since none is larger than the other. *)
Definition same_value (g : goal) (signs : list sign) (v w : weight) : bool :=
  same_weight v w || (at_most g signs [v] [w] && at_most g signs [w] [v]).

(* What is told of the probabilities is right, and the right one is positive. *)
Definition check_lower_bound (rec : checker) (g : goal) (signs : list sign) (s : system) (data inputs visible : nat)
  (groups : list (list closure)) (initial : nat) (left right trace : list nat) (only : bool) (first second : weight) : bool :=
  let all := concat groups in
  let c := closed_system s visible all in
  let likely := likely_weight c data inputs visible only (ends_of s visible all initial) in
  signs_ok rec g signs && weights_ok g signs s && closures_ok g signs s visible all groups &&
  ask g signs true (snd first) && ask g signs true (snd second) &&
  (ask g signs true (fst second) || ask g signs true (fst (likely right trace))) &&
  same_value g signs first (likely left trace) && same_value g signs second (likely right trace).

Theorem check_lower_bound_sound : forall rec, honest rec ->
  forall g signs s data inputs visible groups initial left right trace only first second,
  check_lower_bound rec g signs s data inputs visible groups initial left right trace only first second = true ->
  forall e, dom g e -> let c := closed_system s visible (concat groups) in
  let seen := likely e c data inputs visible only (ends_of s visible (concat groups) initial) in
  seen left trace = value e first /\ seen right trace = value e second /\ 0 < seen right trace /\
  (forall budget, seen left trace <= budget * seen right trace -> value e first / value e second <= budget) /\
  (forall t, Forall (fun a => (a < visible)%nat) t -> observed s visible e t (fun x => prob (moves_at c e) x t)).
Proof.
  intros rec R g signs s data inputs visible groups initial left right trace only first second H e D c seen.
  unfold check_lower_bound in H. apply andb_prop in H as [H Right]. apply andb_prop in H as [H Left].
  apply andb_prop in H as [H Pos]. apply andb_prop in H as [H B]. apply andb_prop in H as [H A].
  apply andb_prop in H as [H C]. apply andb_prop in H as [Signs W].
  pose proof (weights_sound rec g signs R Signs e D s W) as S.
  pose proof (closed_sound rec g signs s visible groups R Signs e D S C) as Sc.
  pose proof (ends_sound rec g signs s visible groups R Signs e D S C initial) as Si.
  apply (ask_ok rec g signs R Signs e D) in A, B. simpl in A, B.
  assert (L : forall given, let w := likely_weight c data inputs visible only (ends_of s visible (concat groups) initial) given trace in
    value e w = seen given trace /\ sound_weight e w).
  { intros given w. apply mean_weight_ok; [|now apply sound_good]. intro z. now apply chance_ok. }
  destruct (L left) as [L1 L2], (L right) as [R1 R2]. fold c in Pos, Left, Right.
  set (p := likely_weight c data inputs visible only (ends_of s visible (concat groups) initial) left trace) in *.
  set (q := likely_weight c data inputs visible only (ends_of s visible (concat groups) initial) right trace) in *.
  assert (Same : forall v w, sound_weight e v -> sound_weight e w -> same_value g signs v w = true -> value e v = value e w).
  { intros v w V K E. unfold same_value in E. apply orb_prop in E as [E|E]; [now apply (same_weight_ok e v w)|].
    apply andb_prop in E as [E1 E2].
    pose proof (at_most_ok rec g signs R Signs e D [v] [w] (Forall_cons _ V (Forall_nil _)) (Forall_cons _ K (Forall_nil _)) E1) as X.
    pose proof (at_most_ok rec g signs R Signs e D [w] [v] (Forall_cons _ K (Forall_nil _)) (Forall_cons _ V (Forall_nil _)) E2) as Y.
    simpl in X, Y. lra. }
  assert (P1 : seen left trace = value e first) by (rewrite <- L1; symmetry; now apply Same).
  assert (P2 : seen right trace = value e second) by (rewrite <- R1; symmetry; now apply Same).
  assert (P3 : 0 < seen right trace).
  { apply orb_prop in Pos as [Pos|Pos]; apply (ask_ok rec g signs R Signs e D) in Pos; simpl in Pos.
    - rewrite P2. unfold value. apply Rdiv_lt_0_compat; [exact Pos | exact B].
    - rewrite <- R1. unfold value. apply Rdiv_lt_0_compat; [exact Pos | exact R2]. }
  split; [exact P1|]. split; [exact P2|]. split; [exact P3|]. split.
  - intros budget K. rewrite P1, P2 in K. rewrite P2 in P3. apply Rmult_le_reg_r with (value e second); [exact P3|].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
  - exact (closed_observed rec g signs s visible groups R Signs e D S C).
Qed.
