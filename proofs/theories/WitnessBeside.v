(* Witnesses against claims about E = exp(q), where other variables stand for logarithms that no polynomial mentions. *)
From Coq Require Import Reals ZArith QArith Qreals Lra Lia List Bool Arith.
From Paramverify Require Import Poly Goal Certificate Rule RuleLogarithm WitnessPoints.
Import ListNotations.
Local Open Scope R_scope.

(* Whether a polynomial does not mention a variable. *)
Fixpoint omits (k : nat) (p : poly) : bool :=
  match p, k with
  | Pc _, _ => true
  | PX _ p, O => is_zero p
  | PX q p, S j => omits j q && omits k p
  end.

Lemma omits_ok : forall p e f, (forall k, e k = f k \/ omits k p = true) -> eval p e = eval p f.
Proof.
  induction p as [c|q IHq p IHp]; intros e f H; [reflexivity|]. cbn [eval].
  assert (Q : eval q (shift e) = eval q (shift f)).
  { apply IHq. intro k. unfold shift. destruct (H (S k)) as [E|O]; [now left|]. right. cbn [omits] in O.
    now apply andb_prop in O as [O _]. }
  rewrite Q. destruct (H 0%nat) as [E|O].
  - rewrite E, (IHp e f); [reflexivity|]. intros [|k]; [now left|].
    destruct (H (S k)) as [K|K]; [now left|]. right. cbn [omits] in K. now apply andb_prop in K as [_ K].
  - cbn [omits] in O. now rewrite !(is_zero_eval _ O), !Rmult_0_r.
Qed.

Definition is_log (f : fact) : bool := match f with Log _ _ _ => true | Exp _ _ => false end.

Definition omits_logs (logs : list fact) (p : qpoly) : bool :=
  forallb (fun f => match f with Log k _ _ => omits k (num p) | Exp _ _ => true end) logs.

Definition is_apart (logs : list fact) (k : nat) : bool := match find_log k logs with None => true | Some _ => false end.

(* The variable is tied once, and has no interval; what it is the logarithm of stands for itself. *)
Definition log_ok (logs : list fact) (b : box) (f : fact) : bool :=
  match f with
  | Exp k _ => is_apart logs k
  | Log k j s =>
    match find_log k logs, at_axis b k with
    | Some (i, r), None => Nat.eqb i j && qsame r s && is_apart logs j
    | _, _ => false
    end
  end.

Definition positive_arguments (logs : list fact) : list cond :=
  map (fun f => match f with Log _ j _ => Some (qvar j, true) | Exp _ _ => None end) logs.

Definition refutes_beside_logs (g : goal) (v : list Q) : bool :=
  let logs := filter is_log (gfacts g) in
  forallb (log_ok logs (gbox g)) (gfacts g) && omits_logs logs (gpoly g) &&
  forallb (fun c => match c with Some (p, _) => omits_logs logs p | None => true end) (gconds g) &&
  refutes_with_exp (Goal (gpoly g) (gbox g) (gconds g ++ positive_arguments logs)
    (filter (fun f => negb (is_log f)) (gfacts g))) v.

Definition with_logs (logs : list fact) (e : env) : env :=
  fun k => match find_log k logs with Some (j, s) => - ln (e j) / Q2R s | None => e k end.

Lemma apart_same : forall logs e k, is_apart logs k = true -> with_logs logs e k = e k.
Proof. intros logs e k H. unfold is_apart in H. unfold with_logs. now destruct (find_log k logs). Qed.

Lemma omits_same : forall logs e p, omits_logs logs p = true -> qeval p (with_logs logs e) = qeval p e.
Proof.
  intros logs e p H. unfold qeval. f_equal. apply omits_ok. intro k. unfold with_logs.
  destruct (find_log k logs) as [[j s]|] eqn:F; [|now left]. right. apply find_log_ok in F.
  unfold omits_logs in H. rewrite forallb_forall in H. exact (H _ F).
Qed.

Theorem refutes_beside_logs_sound : forall g v, refutes_beside_logs g v = true ->
  exists e, dom g e /\ qeval (gpoly g) e < 0.
Proof.
  intros g v H. unfold refutes_beside_logs in H. set (logs := filter is_log (gfacts g)) in *.
  apply andb_prop in H as [H R]. apply andb_prop in H as [H C]. apply andb_prop in H as [F P].
  rewrite forallb_forall in F, C. apply refutes_with_exp_sound in R as (e & (B & K & X) & N).
  cbn [gbox gconds gfacts gpoly] in *. exists (with_logs logs e). split; [split; [|split]|].
  - intros k i A. rewrite apart_same; [exact (B k i A)|]. unfold is_apart. destruct (find_log k logs) as [[j s]|] eqn:L; [|reflexivity].
    apply find_log_ok in L. apply filter_In in L as [L _]. specialize (F _ L). cbn [log_ok] in F. rewrite A in F.
    now destruct (find_log k logs) as [[? ?]|].
  - intros [[p s]|] I; [|exact Logic.I]. pose proof (K (Some (p, s)) (in_or_app _ _ _ (or_introl I))) as D.
    specialize (C _ I). cbn [cond_holds] in *. now rewrite omits_same.
  - intros f I. pose proof (F f I) as O. destruct f as [k q|k j s]; cbn [log_ok fact_holds] in *.
    + rewrite apart_same by exact O. apply (X (Exp k q)). apply filter_In. now split.
    + destruct (find_log k logs) as [[i r]|] eqn:L; [|discriminate]. destruct (at_axis (gbox g) k); [discriminate|].
      apply andb_prop in O as [O1 O2]. apply andb_prop in O1 as [O1 O3]. apply Nat.eqb_eq in O1. subst i.
      apply qsame_R in O3. rewrite (apart_same logs e j O2).
      assert (J : In (Some (qvar j, true)) (gconds g ++ positive_arguments logs)).
      { apply in_or_app. right. apply in_map_iff. exists (Log k j s). split; [reflexivity|]. apply filter_In. now split. }
      specialize (K _ J). cbn [cond_holds below] in K. rewrite qeval_var in K. split; [exact K|].
      unfold with_logs. now rewrite L, O3.
  - rewrite omits_same by exact P. exact N.
Qed.
