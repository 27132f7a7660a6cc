(** A polynomial that vanishes on a box with an inside is zero; polynomials are continuous. *)

From Coq Require Import ZArith Reals List Lia Lra Bool.
From Paramverify Require Import Poly.
Import ListNotations.
Local Open Scope R_scope.

(** * One variable *)

(** i·a₀ + (i+1)·a₁·x + ... *)
Fixpoint der (i : nat) (l : list R) : list R :=
  match l with [] => [] | a :: l => INR i * a :: der (S i) l end.

Lemma der_S : forall l i x, hor x (der (S i) l) = hor x l + hor x (der i l).
Proof.
  induction l as [|a l IH]; intros i x; cbn [der hor]; [lra|].
  rewrite IH, S_INR; lra.
Qed.

Lemma hor_slope : forall l x, derivable_pt_lim (fun y => hor y l) x (hor x (der 1 (tl l))).
Proof.
  induction l as [|a l IH]; intro x; cbn [hor tl]; [apply derivable_pt_lim_const|].
  eapply slope_eq.
  - apply (derivable_pt_lim_plus (fun _ => a) (fun y => y * hor y l)).
    + apply derivable_pt_lim_const.
    + apply (derivable_pt_lim_mult (fun y => y)); [apply derivable_pt_lim_id|apply IH].
  - reflexivity.
  - rewrite der_S; destruct l as [|b l]; cbn [tl der hor]; simpl (INR 0); lra.
Qed.

Lemma der_zero : forall l i, Forall (fun a => a = 0) (der (S i) l) -> Forall (fun a => a = 0) l.
Proof.
  induction l as [|a l IH]; intros i H; [constructor|]; cbn [der] in H.
  apply Forall_cons_iff in H as [H1 H2]; constructor; [|eauto].
  pose proof (lt_0_INR (S i) (Nat.lt_0_succ i)) as P; apply Rmult_integral in H1; destruct H1; lra.
Qed.

Lemma der_length : forall l i, length (der i l) = length l.
Proof. induction l; simpl; auto. Qed.

Lemma slope_of_zero : forall f a b x, (forall y, a < y < b -> f y = 0) -> a < x < b ->
  derivable_pt_lim f x 0.
Proof.
  intros f a b x Z X eps E.
  assert (D : 0 < Rmin (x - a) (b - x)) by (apply Rmin_pos; lra).
  exists (mkposreal _ D); simpl pos; intros h N K.
  assert (Y : a < x + h < b).
  { pose proof (Rmin_l (x - a) (b - x)); pose proof (Rmin_r (x - a) (b - x)).
    apply Rabs_def2 in K; lra. }
  rewrite (Z _ Y), (Z _ X); replace ((0 - 0) / h - 0) with 0 by (field; easy).
  now rewrite Rabs_R0.
Qed.

Lemma hor_zero : forall n l a b, (length l <= n)%nat -> a < b -> (forall x, a < x < b -> hor x l = 0) ->
  Forall (fun c => c = 0) l.
Proof.
  induction n as [|n IH]; intros l a b L H Z; destruct l as [|c l]; try constructor; simpl in L; try lia.
  all: assert (T : Forall (fun c => c = 0) l) by
    (apply der_zero with 0%nat, (IH _ a b); [rewrite der_length; lia|easy|];
     intros x X; apply (uniqueness_limite (fun y => hor y (c :: l)) x); [exact (hor_slope (c :: l) x)|];
     now apply (slope_of_zero _ a b)).
  - specialize (Z ((a + b) / 2)); cbn [hor] in Z.
    assert (V : hor ((a + b) / 2) l = 0).
    { clear - T; induction T as [|d l D T I]; cbn [hor]; [easy|]; rewrite D, I; lra. }
    rewrite V in Z; rewrite <- Z; lra.
  - exact T.
Qed.

(** * Several variables *)

Fixpoint chain (p : poly) : list poly := match p with Pc _ => [p] | PX q p => q :: chain p end.

Lemma chain_eval : forall p e, eval p e = hor (e 0%nat) (evals (chain p) (shift e)).
Proof. induction p as [c|q _ p IH]; intro e; cbn [eval chain evals map hor]; [simpl; lra|now rewrite IH]. Qed.

Lemma chain_zero : forall p, Forall (fun q => is_zero q = true) (chain p) -> is_zero p = true.
Proof.
  induction p as [c|q _ p IH]; intro H; inversion H; subst; [easy|]; simpl; rewrite H2, IH; auto.
Qed.

Fixpoint size (p : poly) : nat := match p with Pc _ => 1 | PX q p => S (size q + size p) end.

Lemma chain_size : forall q p1 p2, In q (chain (PX p1 p2)) -> (size q < size (PX p1 p2))%nat.
Proof.
  intros q p1 p2; revert p1; induction p2 as [c|r _ p2 IH]; intros p1 H; simpl in *.
  - destruct H as [<-|[<-|[]]]; simpl; lia.
  - destruct H as [<-|H]; [lia|]; specialize (IH r); simpl in IH; apply IH in H; lia.
Qed.

Definition cons_env (x : R) (e : env) : env := fun k => match k with O => x | S k => e k end.

Lemma zero_on_box : forall n p (a b : env), (size p <= n)%nat -> (forall k, a k < b k) ->
  (forall e, (forall k, a k < e k < b k) -> eval p e = 0) -> is_zero p = true.
Proof.
  induction n as [|n IH]; intros p a b N L Z; [destruct p; simpl in N; lia|].
  destruct p as [c|p1 p2].
  - specialize (Z (fun k => (a k + b k) / 2)); cbn [eval] in Z; simpl; apply Z.eqb_eq, eq_IZR, Z.
    intro k; specialize (L k); lra.
  - apply chain_zero, Forall_forall; intros q Q.
    apply (IH q (shift a) (shift b)).
    + apply chain_size in Q; lia.
    + intro k; apply L.
    + intros e E.
      assert (H : Forall (fun c => c = 0) (evals (chain (PX p1 p2)) e)).
      { apply hor_zero with (length (evals (chain (PX p1 p2)) e)) (a 0%nat) (b 0%nat); [lia|apply L|].
        intros x X; specialize (Z (cons_env x e)); rewrite chain_eval in Z; apply Z.
        intros [|k]; [exact X|apply E]. }
      rewrite Forall_forall in H; apply (H (eval q e)); unfold evals; exact (in_map (fun p => eval p e) _ _ Q).
Qed.

(** Only variables that occur matter. *)
Lemma free_agree : forall p e d, (forall k, free p k = false -> e k = d k) -> eval p e = eval p d.
Proof.
  induction p as [c|q IHq p IHp]; intros e d H; [easy|]; cbn [eval].
  assert (Q : eval q (shift e) = eval q (shift d)).
  { apply IHq; intros k K; apply (H (S k)); simpl; now rewrite K. }
  rewrite Q; destruct (is_zero p) eqn:Z; [now rewrite !(is_zero_eval _ Z), !Rmult_0_r|].
  rewrite (H 0%nat) by (simpl; exact Z); rewrite (IHp e d); [easy|].
  intros [|k] K; apply H; simpl; [exact Z|]; rewrite K; apply andb_false_r.
Qed.

Lemma eval_continuous : forall p e eps, 0 < eps -> exists delta, 0 < delta /\
  forall d, (forall k, Rabs (d k - e k) < delta) -> Rabs (eval p d - eval p e) < eps.
Proof.
  induction p as [c|q IHq p IHp]; intros e eps E.
  - exists 1; split; [lra|]; intros d _; cbn [eval]; unfold Rminus; now rewrite Rplus_opp_r, Rabs_R0.
  - set (M := Rabs (e 0%nat) + 1 + Rabs (eval p e)).
    assert (M1 : 1 <= M).
    { unfold M; pose proof (Rabs_pos (e 0%nat)); pose proof (Rabs_pos (eval p e)); lra. }
    assert (EM : 0 < eps / (4 * M)) by (apply Rdiv_lt_0_compat; lra).
    assert (EE : eps / (4 * M) * M = eps / 4) by (field; lra).
    destruct (IHq (shift e) (eps / 4)) as (d1 & D1 & K1); [lra|].
    destruct (IHp e (eps / (4 * M))) as (d2 & D2 & K2); [easy|].
    exists (Rmin (Rmin d1 d2) (Rmin 1 (eps / (4 * M)))); split.
    { repeat apply Rmin_pos; lra. }
    intros d K.
    pose proof (Rmin_l (Rmin d1 d2) (Rmin 1 (eps / (4 * M)))); pose proof (Rmin_r (Rmin d1 d2) (Rmin 1 (eps / (4 * M)))).
    pose proof (Rmin_l d1 d2); pose proof (Rmin_r d1 d2).
    pose proof (Rmin_l 1 (eps / (4 * M))); pose proof (Rmin_r 1 (eps / (4 * M))).
    assert (A : Rabs (eval q (shift d) - eval q (shift e)) < eps / 4).
    { apply K1; intro k; specialize (K (S k)); unfold shift; lra. }
    assert (B : Rabs (eval p d - eval p e) < eps / (4 * M)).
    { apply K2; intro k; specialize (K k); lra. }
    specialize (K 0%nat); cbn [eval].
    replace (eval q (shift d) + d 0%nat * eval p d - (eval q (shift e) + e 0%nat * eval p e))
      with ((eval q (shift d) - eval q (shift e)) + d 0%nat * (eval p d - eval p e)
            + (d 0%nat - e 0%nat) * eval p e) by ring.
    eapply Rle_lt_trans; [apply Rabs_triang|].
    eapply Rle_lt_trans; [apply Rplus_le_compat_r, Rabs_triang|].
    rewrite !Rabs_mult.
    assert (C : Rabs (d 0%nat) <= M).
    { replace (d 0%nat) with (e 0%nat + (d 0%nat - e 0%nat)) by ring.
      eapply Rle_trans; [apply Rabs_triang|]; unfold M; pose proof (Rabs_pos (eval p e)); lra. }
    assert (F : Rabs (d 0%nat) * Rabs (eval p d - eval p e) <= M * (eps / (4 * M))).
    { apply Rmult_le_compat; try apply Rabs_pos; lra. }
    assert (G : Rabs (d 0%nat - e 0%nat) * Rabs (eval p e) <= eps / (4 * M) * M).
    { apply Rmult_le_compat; try apply Rabs_pos; [lra|]; unfold M; pose proof (Rabs_pos (e 0%nat)); lra. }
    lra.
Qed.
