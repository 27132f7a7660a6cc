(** What privacy means: the definitions of the books, over real numbers.

    A world is what the mechanism is applied to, and an output what it releases: both are lists of whole
    numbers. Nothing in this file is about polynomials, solvers or certificates. *)

From Coq Require Import Reals ZArith List Lra.
From Paramverify Require Import Expressions Sums Programs.
Import ListNotations.

Definition world := list Z.
Definition output := list Z.
Definition secret := world -> bool.

Fixpoint same (a b : list Z) : bool :=
  match a, b with
  | [], [] => true
  | x :: a, y :: b => if Z.eqb x y then same a b else false
  | _, _ => false
  end.

Lemma same_spec a b : same a b = true <-> a = b.
Proof.
  revert b. induction a as [|x a IH]; intros [|y b]; simpl; split; intros H; try discriminate; try reflexivity.
  - destruct (Z.eqb_spec x y) as [->|]; [|discriminate]. apply IH in H. rewrite H. reflexivity.
  - injection H as -> ->. rewrite Z.eqb_refl. apply IH. reflexivity.
Qed.

Section Definitions.
Variable p : point.  (* the values of the parameters *)
Variable prior : distribution world.  (* what the attacker believes *)
Variable mechanism : world -> distribution output.
Local Open Scope R_scope.

(** Pr(secret). *)
Definition chance (s : secret) : R := probability p prior s.

(** Pr(secret and output). *)
Definition chance_with (s : secret) (y : output) : R :=
  total (fun way => if s (snd way) then value p (fst way) * probability p (mechanism (snd way)) (same y) else 0)
        prior.

(** Pr(output | secret). *)
Definition conditional (s : secret) (y : output) : R := chance_with s y / chance s.

(** Pufferfish privacy with ratio c = exp(epsilon): no output is more than c times as likely under one secret
    of a pair than under the other one, whichever of both it is. A secret of probability zero has no
    conditional probabilities, and is compared with nothing. *)
Definition pufferfish (c : R) (pairs : list (secret * secret)) : Prop :=
  forall s t, In (s, t) pairs -> 0 < chance s -> 0 < chance t ->
  forall y, conditional s y <= c * conditional t y /\ conditional t y <= c * conditional s y.

(** Differential privacy with ratio c, for the given pairs of neighbours. *)
Definition differentially_private (c : R) (neighbours : list (world * world)) : Prop :=
  forall x x', In (x, x') neighbours ->
  forall y, probability p (mechanism x) (same y) <= c * probability p (mechanism x') (same y)
         /\ probability p (mechanism x') (same y) <= c * probability p (mechanism x) (same y).

(** Pr(output in a set | secret). *)
Definition conditional_in (s : secret) (set : output -> bool) : R :=
  total (fun way => if s (snd way) then value p (fst way) * probability p (mechanism (snd way)) set else 0) prior
  / chance s.

(** The same with a delta, which is about all sets of outputs. *)
Definition approximate_pufferfish (c d : R) (pairs : list (secret * secret)) : Prop :=
  forall s t, In (s, t) pairs -> 0 < chance s -> 0 < chance t ->
  forall set : output -> bool,
    conditional_in s set <= c * conditional_in t set + d /\ conditional_in t set <= c * conditional_in s set + d.

Definition approximately_private (c d : R) (neighbours : list (world * world)) : Prop :=
  forall x x', In (x, x') neighbours ->
  forall set : output -> bool,
    probability p (mechanism x) set <= c * probability p (mechanism x') set + d
    /\ probability p (mechanism x') set <= c * probability p (mechanism x) set + d.

End Definitions.

(** The first outputs of a mechanism that puts out several symbols. *)
Definition first_outputs (k : nat) (mechanism : world -> distribution output) (x : world) : distribution output :=
  map (fun way => (fst way, firstn k (snd way))) (mechanism x).

Section Claims.
Variable p : point.
Local Open Scope R_scope.

(** Where both secrets are possible, a comparison of probabilities is one of products. *)
Lemma ratio_of_products (c a b m n : R) :
  0 < m -> 0 < n -> a * n <= c * (b * m) -> a / m <= c * (b / n).
Proof.
  intros Hm Hn H. apply (Rmult_le_reg_r (m * n)); [apply Rmult_lt_0_compat; assumption|].
  replace (a / m * (m * n)) with (a * n) by (field; lra).
  replace (c * (b / n) * (m * n)) with (c * (b * m)) by (field; lra). exact H.
Qed.

Theorem claims_imply_pufferfish prior mechanism c pairs :
  (forall s t, In (s, t) pairs -> forall y,
     chance_with p prior mechanism s y * chance p prior t
       <= c * (chance_with p prior mechanism t y * chance p prior s)
     /\ chance_with p prior mechanism t y * chance p prior s
       <= c * (chance_with p prior mechanism s y * chance p prior t)) ->
  pufferfish p prior mechanism c pairs.
Proof.
  intros H s t Hin Hs Ht y. destruct (H s t Hin y) as [H1 H2].
  split; unfold conditional; apply ratio_of_products; assumption.
Qed.

(** What holds for each output holds for each set of them. *)
Lemma probability_of_set (d : distribution output) (set : output -> bool) (ys : list output) :
  NoDup ys -> (forall w y, In (w, y) d -> In y ys) ->
  probability p d set = total (fun y => if set y then probability p d (same y) else 0) ys.
Proof.
  intros Hys Hall. unfold probability.
  rewrite (total_ext (fun y => if set y then _ else 0)
    (fun y => total (fun way => if same y (snd way) then (if set y then value p (fst way) else 0) else 0) d)).
  2:{ intros y _. destruct (set y); [reflexivity|]. symmetry. apply total_zero. intros way _.
      destruct (same y (snd way)); reflexivity. }
  rewrite total_swap. apply total_ext. intros [w y] Hin. simpl. specialize (Hall w y Hin).
  clear Hin d. induction Hys as [|z zs Hz Hzs IH]; [destruct Hall|]. simpl.
  destruct (same z y) eqn:E.
  - apply same_spec in E. subst z. rewrite total_zero; [lra|].
    intros z Hz'. destruct (same z y) eqn:E'; [|reflexivity]. apply same_spec in E'. subst z. contradiction.
  - destruct Hall as [->|Hall]; [|rewrite IH by assumption; lra].
    exfalso. rewrite (proj2 (same_spec y y) eq_refl) in E. discriminate.
Qed.

End Claims.
