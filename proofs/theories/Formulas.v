(* Formulas of dpCTL* about finite chains: what they say, and a function that decides them in all states. The path
   formulas are those that look at so many steps, and `a U b` and `a R b` without a bound, whose probabilities are limits. *)
From Coq Require Import Reals ZArith QArith Qreals Lra Lia List Bool Arith.
From Coquelicot Require Import Rbar Lim_seq.
From Paramverify Require Import Poly Goal Certificate Rule Parts Unwinding Weights Closures Violations.
Import ListNotations.
Local Open Scope R_scope.

(* --- formulas, and what they say ------------------------------------------------------------------------------- *)

Inductive formula :=
  | Truth (b : bool)
  | Among (states : list nat)
  | Not (f : formula)
  | And (f h : formula)
  | Or (f h : formula)
  | Share (lower strict : bool) (bound : weight) (v : event)  (* its probability is below the bound, or above it *)
  | Private (ratio delta : weight) (v : event)
with path :=
  | State (f : formula)
  | NotP (p : path)
  | AndP (p q : path)
  | OrP (p q : path)
  | Next (p : path)
  | Until (p q : path) (low high : nat)
with event :=
  | Within (p : path)
  | Ever (f h : formula)  (* f U h, after any number of steps *)
  | Release (f h : formula).  (* f R h: at no step h is false where f was false at all steps before *)

Fixpoint depth (p : path) : nat :=
  match p with
  | State _ => 0
  | NotP p => depth p
  | AndP p q | OrP p q => Nat.max (depth p) (depth q)
  | Next p => S (depth p)
  | Until p q _ high => high + Nat.max (depth p) (depth q)
  end.

(* The second one is true at one of so many places, from `low` on, and the first one at all places before. *)
Definition until (first second : list nat -> bool) (low many : nat) (w : list nat) : bool :=
  existsb (fun j => second (skipn j w) && forallb (fun i => first (skipn i w)) (seq 0 j)) (seq low many).

Definition chain := list (list (nat * weight)).  (* by state, the probabilities of the next one *)

Section Meaning.

Variable c : chain.
Variable near : list (nat * nat).  (* pairs of states, in both orders *)
Variable e : env.

Definition next_of (x : nat) : list (nat * R) := valued e (nth x c []).

(* The probability that a path from a state on, with so many steps, is as it should be. *)
Fixpoint expect (n : nat) (good : list nat -> bool) (x : nat) : R :=
  match n with
  | O => if good [x] then 1 else 0
  | S n => mean (expect n (fun w => good (x :: w))) (next_of x)
  end.

Definition mates_of (x : nat) : list nat := map snd (filter (fun p => Nat.eqb (fst p) x) near).

Fixpoint true_at (f : formula) (x : nat) : bool :=
  match f with
  | Truth b => b
  | Among states => existsb (Nat.eqb x) states
  | Not f => negb (true_at f x)
  | And f h => true_at f x && true_at h x
  | Or f h => true_at f x || true_at h x
  | Share lower strict bound v =>
    let '(small, large) := if lower then (value e bound, prob_of v x) else (prob_of v x, value e bound) in
    if strict then if Rlt_dec small large then true else false else if Rle_dec small large then true else false
  | Private ratio delta v =>
    let hidden y z := if Rle_dec (prob_of v y) (value e ratio * prob_of v z + value e delta) then true else false in
    forallb (fun y => hidden x y && hidden y x) (x :: mates_of x)
  end
with satisfied (p : path) (w : list nat) : bool :=
  match p with
  | State f => true_at f (hd 0%nat w)
  | NotP p => negb (satisfied p w)
  | AndP p q => satisfied p w && satisfied q w
  | OrP p q => satisfied p w || satisfied q w
  | Next p => satisfied p (tl w)
  | Until p q low high => until (satisfied p) (satisfied q) low (S high - low) w
  end
with prob_of (v : event) (x : nat) : R :=
  match v with
  | Within p => expect (depth p) (satisfied p) x
  | Ever f h => real (Lim_seq (fun n =>
      expect n (until (fun w => true_at f (hd 0%nat w)) (fun w => true_at h (hd 0%nat w)) 0 (S n)) x))
  | Release f h => 1 - real (Lim_seq (fun n =>
      expect n (until (fun w => negb (true_at f (hd 0%nat w))) (fun w => negb (true_at h (hd 0%nat w))) 0 (S n)) x))
  end.

End Meaning.

(* --- path formulas whose parts are known ------------------------------------------------------------------------ *)

Inductive plan :=
  | Sure (b : bool)
  | Listed (bits : list bool)  (* by state *)
  | PNot (p : plan)
  | PAnd (p q : plan)
  | POr (p q : plan)
  | PNext (p : plan)
  | PUntil (p q : plan) (low more : nat).

Fixpoint meets (p : plan) (w : list nat) : bool :=
  match p with
  | Sure b => b
  | Listed bits => nth (hd 0%nat w) bits false
  | PNot p => negb (meets p w)
  | PAnd p q => meets p w && meets q w
  | POr p q => meets p w || meets q w
  | PNext p => meets p (tl w)
  | PUntil p q low more => until (meets p) (meets q) low (S more) w
  end.

Definition not_plan (p : plan) : plan := match p with Sure b => Sure (negb b) | p => PNot p end.
Definition and_plan (p q : plan) : plan :=
  match p, q with
  | Sure true, q => q
  | Sure false, _ => Sure false
  | p, Sure true => p
  | _, Sure false => Sure false
  | p, q => PAnd p q
  end.
Definition or_plan (p q : plan) : plan :=
  match p, q with
  | Sure false, q => q
  | Sure true, _ => Sure true
  | p, Sure false => p
  | _, Sure true => Sure true
  | p, q => POr p q
  end.

(* What is left to ask behind a state. *)
Fixpoint onwards (p : plan) (x : nat) : plan :=
  match p with
  | Sure b => Sure b
  | Listed bits => Sure (nth x bits false)
  | PNot p => not_plan (onwards p x)
  | PAnd p q => and_plan (onwards p x) (onwards q x)
  | POr p q => or_plan (onwards p x) (onwards q x)
  | PNext p => p
  | PUntil p q (S low) more => and_plan (onwards p x) (PUntil p q low more)
  | PUntil p q O O => onwards q x
  | PUntil p q O (S more) => or_plan (onwards q x) (and_plan (onwards p x) (PUntil p q 0 more))
  end.

Lemma not_plan_ok : forall p w, meets (not_plan p) w = negb (meets p w).
Proof. intros [] w; reflexivity. Qed.

Lemma and_plan_ok : forall p q w, meets (and_plan p q) w = meets p w && meets q w.
Proof.
  intros p q w. destruct p as [[]| | | | | |]; destruct q as [[]| | | | | |]; simpl; try reflexivity;
    try (now rewrite andb_true_r); try (now rewrite andb_false_r).
Qed.

Lemma or_plan_ok : forall p q w, meets (or_plan p q) w = meets p w || meets q w.
Proof.
  intros p q w. destruct p as [[]| | | | | |]; destruct q as [[]| | | | | |]; simpl; try reflexivity;
    try (now rewrite orb_true_r); try (now rewrite orb_false_r).
Qed.

Lemma existsb_and : forall A (f : A -> bool) b l, existsb (fun j => f j && b) l = existsb f l && b.
Proof. induction l as [|a l IH]; simpl; [reflexivity|]. rewrite IH. destruct (f a), b, (existsb f l); reflexivity. Qed.

Lemma existsb_map : forall A B (f : B -> bool) (h : A -> B) l, existsb f (map h l) = existsb (fun a => f (h a)) l.
Proof. induction l as [|a l IH]; simpl; [reflexivity|]. now rewrite IH. Qed.

Lemma forallb_map : forall A B (f : B -> bool) (h : A -> B) l, forallb f (map h l) = forallb (fun a => f (h a)) l.
Proof. induction l as [|a l IH]; simpl; [reflexivity|]. now rewrite IH. Qed.

Lemma existsb_ext' : forall A (f h : A -> bool) l, (forall a, f a = h a) -> existsb f l = existsb h l.
Proof. intros A f h l E. induction l as [|a l IH]; simpl; [reflexivity|]. now rewrite E, IH. Qed.

Lemma until_later : forall a b low many x w,
  until a b (S low) many (x :: w) = a (x :: w) && until a b low many w.
Proof.
  intros a b low many x w. unfold until. rewrite <- seq_shift, existsb_map, andb_comm, <- existsb_and.
  apply existsb_ext'. intro j. cbn [skipn seq forallb]. rewrite <- seq_shift, forallb_map. cbn [skipn].
  destruct (b (skipn j w)), (a (x :: w)), (forallb (fun i => a (skipn i w)) (seq 0 j)); reflexivity.
Qed.

Lemma until_now : forall a b many w, until a b 0 (S many) w = b w || until a b 1 many w.
Proof. intros a b many w. unfold until. cbn [seq existsb skipn forallb]. now rewrite andb_true_r. Qed.

Lemma onwards_ok : forall p x w, meets p (x :: w) = meets (onwards p x) w.
Proof.
  induction p as [b|bits|p IH|p IHp q IHq|p IHp q IHq|p IH|p IHp q IHq low more]; intros x w.
  - reflexivity.
  - reflexivity.
  - simpl. rewrite not_plan_ok. now rewrite IH.
  - simpl. rewrite and_plan_ok. now rewrite IHp, IHq.
  - simpl. rewrite or_plan_ok. now rewrite IHp, IHq.
  - reflexivity.
  - cbn [meets onwards]. destruct low as [|low].
    + destruct more as [|more]; rewrite until_now.
      * unfold until at 1. cbn [seq existsb]. now rewrite orb_false_r, IHq.
      * rewrite or_plan_ok, and_plan_ok, until_later. cbn [meets]. now rewrite IHp, IHq.
    + rewrite until_later, and_plan_ok. cbn [meets]. now rewrite IHp.
Qed.

Fixpoint same_bits (l m : list bool) : bool :=
  match l, m with
  | [], [] => true
  | a :: l, b :: m => Bool.eqb a b && same_bits l m
  | _, _ => false
  end.

Fixpoint same_plan (p q : plan) : bool :=
  match p, q with
  | Sure a, Sure b => Bool.eqb a b
  | Listed l, Listed m => same_bits l m
  | PNot p, PNot q | PNext p, PNext q => same_plan p q
  | PAnd p q, PAnd r s | POr p q, POr r s => same_plan p r && same_plan q s
  | PUntil p q a b, PUntil r s c d => same_plan p r && same_plan q s && Nat.eqb a c && Nat.eqb b d
  | _, _ => false
  end.

Lemma same_bits_ok : forall l m, same_bits l m = true -> l = m.
Proof.
  induction l as [|a l IH]; intros [|b m] H; try discriminate; [reflexivity|]. simpl in H.
  apply andb_prop in H as [H1 H2]. apply eqb_prop in H1. now rewrite H1, (IH m H2).
Qed.

Lemma same_plan_ok : forall p q, same_plan p q = true -> p = q.
Proof.
  induction p as [b|bits|p IH|p IHp q IHq|p IHp q IHq|p IH|p IHp q IHq low more]; intros [] H; try discriminate;
    simpl in H; repeat (apply andb_prop in H as [H ?H]).
  - apply eqb_prop in H. now subst.
  - apply same_bits_ok in H. now subst.
  - now rewrite (IH _ H).
  - now rewrite (IHp _ H), (IHq _ H0).
  - now rewrite (IHp _ H), (IHq _ H0).
  - now rewrite (IH _ H).
  - apply Nat.eqb_eq in H0, H1. now rewrite (IHp _ H), (IHq _ H2), H0, H1.
Qed.
