(** A lemma: the same statement, up to a positive number, on a set that contains that of the goal. *)

From Coq Require Import ZArith Reals List Lra Bool QArith Qreals.
From Paramverify Require Import Poly Goal Certificate Rule.
Import ListNotations.
Local Open Scope R_scope.

(** Each point of the first interval is in the second. *)
Definition within (a b : interval) : bool :=
  (if lopen b && negb (lopen a) then qlt (lo b) (lo a) else qle (lo b) (lo a)) &&
  (if hopen b && negb (hopen a) then qlt (hi a) (hi b) else qle (hi a) (hi b)).

Fixpoint box_within (a b : box) : bool :=
  match b with
  | [] => true
  | j :: b =>
      match j with
      | None => true
      | Some j => match a with Some i :: _ => within i j | _ => false end
      end && box_within (tl a) b
  end.

Definition same_cond (a b : cond) : bool :=
  match a, b with Some (p, s), Some (q, t) => qeq p q && Bool.eqb s t | _, _ => false end.

Definition cond_among (l : list cond) (c : cond) : bool :=
  match c with None => true | Some _ => existsb (same_cond c) l end.

Definition same_fact (a b : fact) : bool :=
  match a, b with
  | Exp k q, Exp j r => Nat.eqb k j && qsame q r
  | Log k i s, Log j l t => Nat.eqb k j && Nat.eqb i l && qsame s t
  | _, _ => false
  end.

Definition check_lemma (lemmas : list goal) (g : goal) (i : nat) : bool :=
  match nth_error lemmas i with
  | None => false
  | Some h =>
      proportional (num (gpoly g)) (num (gpoly h)) && box_within (gbox g) (gbox h) &&
      forallb (cond_among (gconds g)) (gconds h) &&
      forallb (fun f => existsb (same_fact f) (gfacts g)) (gfacts h)
  end.

Lemma within_ok : forall a b x, within a b = true -> inside a x -> inside b x.
Proof.
  intros [a1 a2 a3 a4] [b1 b2 b3 b4] x H [K1 K2]; unfold within, inside in *; simpl in *.
  apply andb_prop in H as [H1 H2]; split; unfold below in *.
  - destruct b3, a3; simpl in H1; try apply qle_R in H1; try apply qlt_R in H1; lra.
  - destruct b4, a4; simpl in H2; try apply qle_R in H2; try apply qlt_R in H2; lra.
Qed.

Lemma box_within_ok : forall b a e, box_within a b = true -> in_box a e -> in_box b e.
Proof.
  induction b as [|j b IH]; intros a e H K k m E.
  - unfold at_axis in E; destruct k; discriminate.
  - simpl in H; apply andb_prop in H as [H1 H2]; destruct k as [|k].
    + unfold at_axis in E; simpl in E; subst j.
      destruct a as [|[i|] a]; try discriminate.
      eapply within_ok; eauto; now apply (K 0%nat).
    + assert (T : in_box (tl a) (shift e)).
      { intros l i F; apply (K (S l)); unfold at_axis in *; destruct a as [|x a]; [now destruct l|easy]. }
      exact (IH _ _ H2 T k m E).
Qed.

Lemma same_cond_ok : forall a b e, same_cond a b = true -> cond_holds e b -> cond_holds e a.
Proof.
  intros [[p s]|] [[q t]|] e H K; try discriminate; simpl in *.
  apply andb_prop in H as [H1 H2]; apply eqb_prop in H2; subst; now rewrite (qeq_eval _ _ H1).
Qed.

Lemma same_fact_ok : forall a b e, same_fact a b = true -> fact_holds e b -> fact_holds e a.
Proof.
  intros [k q|k i s] [j r|j l t] e H K; try discriminate; simpl in *.
  - apply andb_prop in H as [H1 H2]; apply Nat.eqb_eq in H1; now rewrite (qsame_R _ _ H2), H1.
  - apply andb_prop in H as [H1 H3]; apply andb_prop in H1 as [H1 H2].
    apply Nat.eqb_eq in H1, H2; now rewrite (qsame_R _ _ H3), H1, H2.
Qed.

Lemma check_lemma_sound : forall lemmas, (forall l, In l lemmas -> holds l) ->
  forall g i, check_lemma lemmas g i = true -> holds g.
Proof.
  intros lemmas L g i H e (B & C & F); unfold check_lemma in H.
  destruct (nth_error lemmas i) as [h|] eqn:E; [|discriminate].
  apply nth_error_In, L in E.
  apply andb_prop in H as [H H4]; apply andb_prop in H as [H H3]; apply andb_prop in H as [H1 H2].
  assert (D : dom h e).
  { split; [|split].
    - eapply box_within_ok; eauto.
    - intros c K; rewrite forallb_forall in H3; specialize (H3 _ K).
      destruct c as [[p s]|]; [|easy]; simpl in H3; apply existsb_exists in H3 as (d & I & S).
      apply same_cond_ok with d; auto.
    - intros f K; rewrite forallb_forall in H4; specialize (H4 _ K).
      apply existsb_exists in H4 as (d & I & S); apply same_fact_ok with d; auto. }
  apply E, qeval_sign in D; apply qeval_sign.
  apply proportional_ok in H1 as (a & b & A & P & Q); specialize (Q e).
  apply Rmult_le_reg_l with a; [easy|]; rewrite Q, Rmult_0_r; apply Rmult_le_pos; lra.
Qed.
