(* Violations of interactive systems: at a point, an observation is more likely with some inputs than the ratio times
   with others. *)
From Coq Require Import Reals ZArith QArith Qreals Lra Lia List Bool Arith.
From Paramverify Require Import Poly Goal Certificate Rule Parts Unwinding Weights Closures Systems.
Import ListNotations.
Local Open Scope R_scope.

(* --- the chance to see something, with given inputs --------------------------------------------------------------- *)

Section Chance.

Variable A : Type.
Variables none all : A.
Variable mean_of : (nat -> A) -> list (nat * weight) -> A.
Variable c : system.
Variables data inputs visible : nat.  (* data points come first, then queries, then responses *)
Variable only : bool.  (* nothing more is seen *)

Definition enabled (x a : nat) : bool := negb (empty (row c x a)).
Definition waits (x : nat) : bool := existsb (enabled x) (seq 0 inputs).
Definition next (x : nat) (given : list nat) : option nat :=
  if waits x then match given with i :: _ => if enabled x i then Some i else None | [] => None end
  else find (enabled x) (seq inputs (visible - inputs)).

(* Each step takes an input or shows something. *)
Fixpoint chance (n : nat) (given trace : list nat) (x : nat) : A :=
  match n with
  | O => none
  | S n =>
    match next x given with
    | None => if empty trace then all else none
    | Some a =>
      let rest := if waits x then tl given else given in
      if empty trace && negb only then all
      else if Nat.ltb a data then mean_of (chance n rest trace) (row c x a)
      else match trace with
           | b :: trace => if Nat.eqb a b then mean_of (chance n rest trace) (row c x a) else none
           | [] => none
           end
    end
  end.

Definition chance_from (start : list (nat * weight)) (given trace : list nat) : A :=
  mean_of (chance (S (length given + length trace)) given trace) start.

End Chance.

(* As numbers, and as quotients. *)
Definition likely (e : env) := chance_from R 0 1 (fun f l => mean f (valued e l)).

Fixpoint mean_weight (f : nat -> weight) (l : list (nat * weight)) : weight :=
  match l with
  | [] => (qconst 0, qconst 1)
  | (z, w) :: l => plus_weight (mean_weight f l) (times_weight w (f z))
  end.

Definition likely_weight := chance_from weight (qconst 0, qconst 1) one mean_weight.

Lemma mean_weight_ok : forall e f h l, (forall z, value e (f z) = h z /\ sound_weight e (f z)) -> good_row e l ->
  value e (mean_weight f l) = mean h (valued e l) /\ sound_weight e (mean_weight f l).
Proof.
  intros e f h l F. induction l as [|[z w] l IH]; intro G; cbn [mean_weight valued map mean fst snd].
  - unfold value, sound_weight. simpl. rewrite !qeval_const, Q2R_0, Q2R_1. split; lra.
  - destruct (IH (fun p P => G p (or_intror P))) as [I1 I2]. pose proof (G (z, w) (or_introl eq_refl)) as W.
    cbn [snd] in W. destruct (F z) as [F1 F2]. destruct (times_value_ok e w (f z) W F2) as [T1 T2].
    destruct (plus_weight_ok e _ _ I2 T2) as [P1 P2]. split; [|exact P2]. rewrite P1, I1, T1, F1.
    unfold valued. ring.
Qed.

Lemma none_ok : forall e, value e (qconst 0, qconst 1) = 0 /\ sound_weight e (qconst 0, qconst 1).
Proof. intro e. unfold value, sound_weight. simpl. rewrite !qeval_const, Q2R_0, Q2R_1. split; lra. Qed.

Lemma chance_ok : forall e c data inputs visible only, sound_system e c -> forall n given trace x,
  value e (chance weight (qconst 0, qconst 1) one mean_weight c data inputs visible only n given trace x)
  = chance R 0 1 (fun f l => mean f (valued e l)) c data inputs visible only n given trace x /\
  sound_weight e (chance weight (qconst 0, qconst 1) one mean_weight c data inputs visible only n given trace x).
Proof.
  intros e c data inputs visible only S.
  assert (One : value e one = 1 /\ sound_weight e one) by (split; [apply one_value | apply one_sound]).
  induction n as [|n IH]; intros given trace x; cbn [chance]; [apply none_ok|].
  destruct (next c inputs visible x given) as [a|]; [|destruct (empty trace); [exact One | apply none_ok]].
  destruct (empty trace && negb only); [exact One|].
  destruct (Nat.ltb a data); [apply mean_weight_ok; [intro z; apply IH | apply sound_good; apply S]|].
  destruct trace as [|b trace]; [apply none_ok|]. destruct (Nat.eqb a b); [|apply none_ok].
  apply mean_weight_ok; [intro z; apply IH | apply sound_good; apply S].
Qed.

(* --- a system at a point ------------------------------------------------------------------------------------------ *)

Definition weight_at (l : list (nat * Q)) (w : weight) : weight := (with_values l (fst w), with_values l (snd w)).
Definition row_at (l : list (nat * Q)) (r : list (nat * weight)) : list (nat * weight) :=
  map (fun p => (fst p, weight_at l (snd p))) r.
Definition system_at (l : list (nat * Q)) (s : system) : system := map (map (row_at l)) s.

Lemma row_system_at : forall l s x a, row (system_at l s) x a = row_at l (row s x a).
Proof.
  intros l s x a. unfold row, system_at. change (@nil (list (nat * weight))) with (map (row_at l) []) at 1.
  rewrite map_nth. change (@nil (nat * weight)) with (row_at l []) at 1. apply map_nth.
Qed.

Lemma moves_system_at : forall l s e x a, moves_at (system_at l s) e x a = moves_at s (set_values l e) x a.
Proof.
  intros l s e x a. unfold moves_at. rewrite row_system_at. unfold row_at, valued. rewrite map_map.
  apply map_ext. intros [z w]. unfold value, weight_at. cbn [fst snd]. now rewrite !with_values_ok.
Qed.

(* All numbers are those at the point: of the system, the closures and the ratio. The goal says which variables are
   left, such as one that is the exponential of a number. *)
Definition check_violation (g : goal) (s : system) (data inputs visible : nat) (groups : list (list closure)) (initial : nat)
  (ratio : weight) (left right trace : list nat) (only : bool) : bool :=
  let all := concat groups in
  let c := closed_system s visible all in
  let likely := likely_weight c data inputs visible only (ends_of s visible all initial) in
  weights_ok g [] s && closures_ok g [] s visible all groups &&
  ask g [] true (snd ratio) &&
  ask g [] true (difference [ratio; likely right trace] [likely left trace]).

Theorem check_violation_sound : forall g s data inputs visible groups initial ratio left right trace only,
  check_violation g s data inputs visible groups initial ratio left right trace only = true ->
  forall e, dom g e -> let c := closed_system s visible (concat groups) in
  let seen := likely e c data inputs visible only (ends_of s visible (concat groups) initial) in
  value e ratio * seen right trace < seen left trace /\
  (forall t, Forall (fun a => (a < visible)%nat) t -> observed s visible e t (fun x => prob (moves_at c e) x t)).
Proof.
  intros g s data inputs visible groups initial ratio left right trace only H e D c seen. unfold check_violation in H.
  apply andb_prop in H as [H More]. apply andb_prop in H as [H P]. apply andb_prop in H as [W C].
  pose (rec := fun (_ : goal) (_ : cert) => false).
  assert (R : honest rec) by (intros h k K; discriminate).
  assert (Signs : signs_ok rec g [] = true) by reflexivity.
  pose proof (weights_sound rec g [] R Signs e D s W) as S.
  pose proof (closed_sound rec g [] s visible groups R Signs e D S C) as Sc.
  pose proof (ends_sound rec g [] s visible groups R Signs e D S C initial) as Si.
  apply (ask_ok rec g [] R Signs e D) in P, More. simpl in P, More. split.
  - assert (L : forall given, let w := likely_weight c data inputs visible only (ends_of s visible (concat groups) initial) given trace in
      value e w = seen given trace /\ sound_weight e w).
    { intros given w. apply mean_weight_ok; [|now apply sound_good]. intro z. now apply chance_ok. }
    destruct (L left) as [L1 L2], (L right) as [R1 R2]. fold c in More. rewrite <- L1, <- R1.
    set (p := likely_weight c data inputs visible only (ends_of s visible (concat groups) initial) left trace) in *.
    set (q := likely_weight c data inputs visible only (ends_of s visible (concat groups) initial) right trace) in *.
    unfold difference in More. cbn [map fold_right fst snd] in More.
    rewrite qeval_sub, !qeval_mul, qeval_const, Q2R_1 in More. unfold sound_weight, value in *.
    set (a := qeval (fst p) e) in *. set (b := qeval (snd p) e) in *. set (r := qeval (fst ratio) e) in *.
    set (d := qeval (snd ratio) e) in *. set (u := qeval (fst q) e) in *. set (v := qeval (snd q) e) in *.
    assert (Pb : 0 < b) by exact L2. assert (Pv : 0 < v) by exact R2. assert (Pd : 0 < d) by exact P.
    apply Rmult_lt_reg_r with (b * (d * v)); [exact (Rmult_lt_0_compat _ _ Pb (Rmult_lt_0_compat _ _ Pd Pv))|].
    replace (r / d * (u / v) * (b * (d * v))) with (r * u * b) by (field; lra).
    replace (a / b * (b * (d * v))) with (a * (d * v)) by (field; lra). lra.
  - exact (closed_observed rec g [] s visible groups R Signs e D S C).
Qed.
