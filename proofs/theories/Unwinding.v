(* Interactive systems: costs of pairs of states bound the quotient of the probabilities of all observations.

   What a system does is given by the distribution to which an action leads from a state; that of an action that
   is not enabled is empty. An observation is a list of actions: inputs, which are given, and responses. *)
From Coq Require Import Reals ZArith QArith Qreals Lra Lia List Bool Arith Permutation.
From Paramverify Require Import Poly Goal Certificate Rule Check Sound.
Import ListNotations.
Local Open Scope R_scope.

(* --- probabilities of observations ------------------------------------------------------------------------ *)

Section System.

Variable moves : nat -> nat -> list (nat * R).
Hypothesis weights : forall s a p, In p (moves s a) -> 0 <= snd p.

Fixpoint mean (f : nat -> R) (l : list (nat * R)) : R :=
  match l with [] => 0 | (z, w) :: l => w * f z + mean f l end.

Fixpoint prob (s : nat) (t : list nat) : R :=
  match t with [] => 1 | a :: t => mean (fun z => prob z t) (moves s a) end.

(* Some inputs may come only where they are accepted. With these steps that is so: after each part of them that is
   possible, what comes next is accepted, where it has to be. *)
Variable assumed : nat -> nat -> Prop.

Fixpoint admits (s : nat) (t : list nat) : Prop :=
  match t with
  | [] => True
  | a :: t => (assumed s a -> moves s a <> []) /\ forall p, In p (moves s a) -> 0 < snd p -> admits (fst p) t
  end.

Lemma admits_all : (forall s a, ~ assumed s a) -> forall t s, admits s t.
Proof.
  intros N. induction t as [|a t IH]; intro s; simpl; [exact I|].
  split; [intro H; destruct (N s a H) | intros p _ _; apply IH].
Qed.

Lemma mean_nonneg : forall f l, (forall z, 0 <= f z) -> (forall p, In p l -> 0 <= snd p) -> 0 <= mean f l.
Proof.
  intros f. induction l as [|[z w] l IH]; intros F W; simpl; [lra|].
  assert (0 <= w * f z) by (apply Rmult_le_pos; [apply (W (z, w)); now left | apply F]).
  assert (0 <= mean f l) by (apply IH; [assumption | intros p P; apply W; now right]). lra.
Qed.

Lemma prob_nonneg : forall t s, 0 <= prob s t.
Proof.
  induction t as [|a t IH]; intro s; simpl; [lra|]. apply mean_nonneg; [apply IH | apply weights].
Qed.

Lemma mean_app : forall f l m, mean f (l ++ m) = mean f l + mean f m.
Proof. induction l as [|[z w] l IH]; intro m; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma mean_permuted : forall f l m, Permutation l m -> mean f l = mean f m.
Proof.
  intros f l m P. induction P as [|[z w] l m P IH|[z w] [y v] l|l m n P1 I1 P2 I2]; simpl; try lra.
Qed.

(* Each outcome of the first has a partner of its own in the second; `cost` of both, and of what they become. *)
Definition matched (cost : nat -> nat -> R -> Prop) (c : R) (mu nu : list (nat * R)) : Prop :=
  exists chosen rest, Permutation nu (chosen ++ rest) /\
    Forall2 (fun p q => exists d, cost (fst p) (fst q) d /\ snd p * d <= c * snd q) mu chosen.

Variable cost : nat -> nat -> R -> Prop.
Hypothesis cost_one : forall x y c, cost x y c -> 1 <= c.
Hypothesis cost_step : forall x y c a, cost x y c ->
  matched cost c (moves x a) (moves y a) \/ (assumed y a /\ moves y a = []).

Theorem costs_bound : forall t x y c, cost x y c -> admits y t -> prob x t <= c * prob y t.
Proof.
  induction t as [|a t IH]; intros x y c H A; simpl; [pose proof (cost_one _ _ _ H); lra|].
  destruct A as [A1 A2]. destruct (cost_step x y c a H) as [(chosen & rest & P & F)|[Q E]]; [|destruct (A1 Q E)].
  rewrite (mean_permuted _ _ _ P), mean_app.
  assert (R0 : 0 <= c) by (pose proof (cost_one _ _ _ H); lra).
  assert (Rest : 0 <= mean (fun z => prob z t) rest).
  { apply mean_nonneg; [intro; apply prob_nonneg|]. intros p Hp. apply (weights y a).
    apply (Permutation_in p (Permutation_sym P)). apply in_or_app. now right. }
  assert (In_y : forall p, In p chosen -> In p (moves y a)).
  { intros p Hp. apply (Permutation_in p (Permutation_sym P)). apply in_or_app. now left. }
  assert (B : mean (fun z => prob z t) (moves x a) <= c * mean (fun z => prob z t) chosen).
  { assert (W : forall p, In p (moves x a) -> 0 <= snd p) by (intros; eapply weights; eassumption).
    assert (V : forall p, In p chosen -> 0 <= snd p /\ (0 < snd p -> admits (fst p) t)).
    { intros p Hp. split; [exact (weights y a p (In_y p Hp)) | exact (A2 p (In_y p Hp))]. }
    clear P In_y. revert W V. induction F as [|[z w] [y' v] mu ch (d & Cd & Hd) F I2]; intros W V; simpl; [lra|].
    simpl in Cd, Hd. assert (Hw : 0 <= w) by (apply (W (z, w)); now left).
    destruct (V (y', v) (or_introl eq_refl)) as [Hv Av]. cbn [fst snd] in Hv, Av.
    pose proof (prob_nonneg t y') as Y. pose proof (cost_one _ _ _ Cd) as D.
    assert (K : w * prob z t <= c * v * prob y' t).
    { destruct (Rle_lt_or_eq_dec 0 w Hw) as [Pw|<-].
      - assert (Pv : 0 < v).
        { destruct (Rle_lt_or_eq_dec 0 v Hv) as [Pv|<-]; [exact Pv|]. exfalso.
          assert (0 < w * d) by (apply Rmult_lt_0_compat; lra). lra. }
        apply Rle_trans with (w * (d * prob y' t)); [apply Rmult_le_compat_l; auto|].
        rewrite <- Rmult_assoc. now apply Rmult_le_compat_r.
      - rewrite Rmult_0_l. apply Rmult_le_pos; [now apply Rmult_le_pos | exact Y]. }
    assert (mean (fun z => prob z t) mu <= c * mean (fun z => prob z t) ch)
      by (apply I2; intros p Hp; [apply W | apply V]; now right). lra. }
  assert (0 <= c * mean (fun z => prob z t) rest) by (apply Rmult_le_pos; assumption). lra.
Qed.

(* --- one data point more -------------------------------------------------------------------------------------- *)

Variable data : nat -> Prop.   (* the actions that are data points *)
Variable reached : nat -> Prop.
Variable ratio : R.
Hypothesis reached_step : forall s a p, reached s -> In p (moves s a) -> reached (fst p).
Hypothesis total_one : forall s d, reached s -> data d -> moves s d <> [] -> mean (fun _ => 1) (moves s d) = 1.
Hypothesis insertion : forall s d p, reached s -> data d -> In p (moves s d) ->
  exists b c, cost (fst p) s b /\ b <= ratio /\ cost s (fst p) c /\ c <= ratio.

(* The probability of an observation whose first part leads to a state that takes the data point. *)
Fixpoint prob_taking (s d : nat) (first t : list nat) : R :=
  match first with
  | [] => match moves s d with [] => 0 | _ => prob s t end
  | a :: first => mean (fun z => prob_taking z d first t) (moves s a)
  end.

Lemma mean_le : forall f g l, (forall p, In p l -> 0 <= snd p /\ f (fst p) <= g (fst p)) -> mean f l <= mean g l.
Proof.
  intros f g. induction l as [|[z w] l IH]; intro H; simpl; [lra|].
  destruct (H (z, w)) as [W L]; [now left|]. simpl in W, L.
  assert (w * f z <= w * g z) by (apply Rmult_le_compat_l; assumption).
  assert (mean f l <= mean g l) by (apply IH; intros p P; apply H; now right). lra.
Qed.

Lemma mean_le_possible : forall f g l, (forall p, In p l -> 0 <= snd p /\ (0 < snd p -> f (fst p) <= g (fst p))) ->
  mean f l <= mean g l.
Proof.
  intros f g. induction l as [|[z w] l IH]; intro H; simpl; [lra|].
  destruct (H (z, w)) as [W L]; [now left|]. simpl in W, L.
  assert (w * f z <= w * g z).
  { destruct (Rle_lt_or_eq_dec 0 w W) as [P|<-]; [apply Rmult_le_compat_l; auto | lra]. }
  assert (mean f l <= mean g l) by (apply IH; intros p P; apply H; now right). lra.
Qed.

Lemma mean_scaled : forall c f l, mean (fun z => c * f z) l = c * mean f l.
Proof. induction l as [|[z w] l IH]; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma mean_const : forall c l, mean (fun _ => c) l = c * mean (fun _ => 1) l.
Proof. induction l as [|[z w] l IH]; simpl; [ring|]. rewrite IH. ring. Qed.

Theorem data_points_are_hidden : forall first t d s, reached s -> data d ->
  admits s (first ++ d :: t) -> admits s (first ++ t) ->
  prob s (first ++ d :: t) <= ratio * prob_taking s d first t /\
  prob_taking s d first t <= ratio * prob s (first ++ d :: t).
Proof.
  induction first as [|a first IH]; intros t d s Hs Hd A B.
  - cbn [app prob prob_taking] in *. destruct (moves s d) as [|p l] eqn:E; [simpl; lra|]. rewrite <- E.
    assert (T : mean (fun _ => 1) (moves s d) = 1) by (apply total_one; [assumption | assumption | congruence]).
    pose proof (prob_nonneg t s) as Ps.
    split.
    + apply Rle_trans with (mean (fun _ => ratio * prob s t) (moves s d)); [|rewrite mean_const, T; lra].
      apply mean_le. intros q Q. split; [eapply weights; eassumption|].
      destruct (insertion s d q Hs Hd Q) as (b & c & B1 & B2 & _).
      apply Rle_trans with (b * prob s t); [apply costs_bound; assumption|].
      apply Rmult_le_compat_r; assumption.
    + rewrite <- mean_scaled. apply Rle_trans with (mean (fun _ => prob s t) (moves s d)); [rewrite mean_const, T; lra|].
      apply mean_le_possible. intros q Q. split; [eapply weights; eassumption|]. intro P.
      destruct (insertion s d q Hs Hd Q) as (b & c & _ & _ & C1 & C2).
      apply Rle_trans with (c * prob (fst q) t).
      * apply costs_bound; [assumption|]. destruct A as [_ A]. now apply A.
      * apply Rmult_le_compat_r; [apply prob_nonneg | assumption].
  - cbn [app prob prob_taking admits] in *. destruct A as [_ A], B as [_ B]. rewrite <- !mean_scaled.
    split; apply mean_le_possible; intros q Q; (split; [eapply weights; eassumption|]); intro P;
      apply IH; try assumption; auto; eapply reached_step; eassumption.
Qed.

End System.
