(** Polynomials with rational coefficients: one with whole coefficients over a positive whole number. *)

From Coq Require Import ZArith Reals List Lia Lra Bool QArith Qreals.
From Paramverify Require Export Chains.
Import ListNotations.
Local Open Scope R_scope.

Record qpoly := QP { num : poly; pden : positive }.

Definition qeval (p : qpoly) (e : env) : R := eval (num p) e / IZR (Zpos (pden p)).

(** Equality and powers of positive numbers, as programs: in the extracted one [Z.eqb] is one comparison of whole numbers
    of the machine's library, and [Pos.eqb] would go through all bits, which takes time by the square of their number. *)
Definition same_positive (a b : positive) : bool := Z.eqb (Zpos a) (Zpos b).

Lemma same_positive_spec : forall a b, reflect (a = b) (same_positive a b).
Proof. intros a b; unfold same_positive; simpl; apply Pos.eqb_spec. Qed.

Definition is_multiple (a b : positive) : bool := Z.eqb (Zpos a / Zpos b * Zpos b) (Zpos a).

Lemma is_multiple_ok : forall a b, is_multiple a b = true ->
  IZR (Zpos a / Zpos b) * IZR (Zpos b) = IZR (Zpos a).
Proof. intros a b H; apply Z.eqb_eq in H; now rewrite <- mult_IZR, H. Qed.

Fixpoint positive_power (d n : positive) : positive :=
  match n with
  | xH => d
  | xO n => let h := positive_power d n in (h * h)%positive
  | xI n => let h := positive_power d n in (d * (h * h))%positive
  end.

Definition qconst (c : Q) : qpoly := QP (Pc (Qnum c)) (Qden c).

(** The sum, over the larger denominator where that is a multiple of the other one: sums of many terms stay small. *)
Definition qadd (p q : qpoly) : qpoly :=
  if same_positive (pden p) (pden q) then QP (padd (num p) (num q)) (pden p)
  else if is_multiple (pden q) (pden p) then QP (padd (pscale (Zpos (pden q) / Zpos (pden p)) (num p)) (num q)) (pden q)
  else if is_multiple (pden p) (pden q) then QP (padd (num p) (pscale (Zpos (pden p) / Zpos (pden q)) (num q))) (pden p)
  else QP (padd (pscale (Zpos (pden q)) (num p)) (pscale (Zpos (pden p)) (num q))) (pden p * pden q).
Definition qmul (p q : qpoly) : qpoly := QP (pmul (num p) (num q)) (pden p * pden q).
Definition qscale (c : Q) (p : qpoly) : qpoly := QP (pscale (Qnum c) (num p)) (Qden c * pden p).
Definition qopp (p : qpoly) : qpoly := QP (popp (num p)) (pden p).
Definition qsub (p q : qpoly) : qpoly := qadd p (qopp q).
Definition qpow (p : qpoly) (n : positive) : qpoly := QP (ppow (num p) n) (positive_power (pden p) n).
Definition qeq (p q : qpoly) : bool :=
  peq (pscale (Zpos (pden q)) (num p)) (pscale (Zpos (pden p)) (num q)).
Definition qvar (k : nat) : qpoly := QP (var k) 1.
Definition qderiv (p : qpoly) (k : nat) : qpoly := QP (deriv (num p) k) (pden p).
Definition qcompose (p : qpoly) (k : nat) (u : qpoly) : qpoly :=
  let (n, d) := horner (coefs (num p) k) (num u) (pden u) in QP n (d * pden p).
Definition qfree (p : qpoly) (k : nat) : bool := free (num p) k.

Lemma qeval_ext : forall p e f, (forall k, e k = f k) -> qeval p e = qeval p f.
Proof. intros p e f H; unfold qeval; now rewrite (eval_ext _ e f). Qed.

Lemma qeval_upd_self : forall p e k, qeval p (upd e k (e k)) = qeval p e.
Proof. intros; unfold qeval; now rewrite eval_upd_self. Qed.

Lemma qeval_const : forall c e, qeval (qconst c) e = Q2R c.
Proof. easy. Qed.

Lemma qeval_var : forall k e, qeval (qvar k) e = e k.
Proof. intros; unfold qeval, qvar; cbn [num pden]; rewrite eval_var; lra. Qed.

Ltac positive_denominators := repeat split; apply Rgt_not_eq, pos_IZR.

Lemma qeval_add : forall p q e, qeval (qadd p q) e = qeval p e + qeval q e.
Proof.
  intros [p a] [q b] e; unfold qadd, qeval; cbn [num pden]; pose proof (pos_IZR a); pose proof (pos_IZR b).
  destruct (same_positive_spec a b) as [<-|_]; [cbn [num pden]; rewrite eval_padd; field; lra|].
  destruct (is_multiple b a) eqn:E.
  { apply is_multiple_ok in E; cbn [num pden]; rewrite eval_padd, eval_pscale, <- E; field; split; nra. }
  destruct (is_multiple a b) eqn:F.
  { apply is_multiple_ok in F; cbn [num pden]; rewrite eval_padd, eval_pscale, <- F; field; split; nra. }
  cbn [num pden]; rewrite eval_padd, !eval_pscale, Pos2Z.inj_mul, mult_IZR; field; positive_denominators.
Qed.

Lemma qeval_mul : forall p q e, qeval (qmul p q) e = qeval p e * qeval q e.
Proof.
  intros [p a] [q b] e; unfold qmul, qeval; cbn [num pden].
  rewrite eval_pmul, Pos2Z.inj_mul, mult_IZR; field; positive_denominators.
Qed.

Lemma qeval_scale : forall c p e, qeval (qscale c p) e = Q2R c * qeval p e.
Proof.
  intros [a b] [p d] e; unfold qscale, qeval, Q2R; cbn [num pden Qnum Qden].
  rewrite eval_pscale, Pos2Z.inj_mul, mult_IZR; field; positive_denominators.
Qed.

Lemma qeval_opp : forall p e, qeval (qopp p) e = - qeval p e.
Proof.
  intros [p d] e; unfold qopp, qeval; cbn [num pden]; rewrite eval_popp; field; positive_denominators.
Qed.

Lemma qeval_sub : forall p q e, qeval (qsub p q) e = qeval p e - qeval q e.
Proof. intros; unfold qsub; rewrite qeval_add, qeval_opp; lra. Qed.

Lemma positive_power_R : forall d n, IZR (Zpos (positive_power d n)) = IZR (Zpos d) ^ Pos.to_nat n.
Proof.
  intros d n; induction n as [n IH|n IH|]; cbn [positive_power]; rewrite ?Pos2Z.inj_mul, ?mult_IZR, ?IH.
  - replace (Pos.to_nat n~1) with (S (Pos.to_nat n + Pos.to_nat n)) by lia; simpl; now rewrite pow_add.
  - replace (Pos.to_nat n~0) with (Pos.to_nat n + Pos.to_nat n)%nat by lia; now rewrite pow_add.
  - simpl; lra.
Qed.

Lemma qeval_pow : forall p n e, qeval (qpow p n) e = qeval p e ^ Pos.to_nat n.
Proof.
  intros [p d] n e; unfold qpow, qeval; cbn [num pden].
  rewrite eval_ppow, positive_power_R; unfold Rdiv; now rewrite Rpow_mult_distr, pow_inv.
Qed.

Lemma qeq_eval : forall p q, qeq p q = true -> forall e, qeval p e = qeval q e.
Proof.
  intros [p a] [q b] H e; unfold qeq in H; cbn [num pden] in H.
  apply peq_eval with (e := e) in H; rewrite !eval_pscale in H; unfold qeval; cbn [num pden].
  apply Rmult_eq_reg_l with (IZR (Zpos a) * IZR (Zpos b)).
  2: { apply Rgt_not_eq, Rmult_lt_0_compat; apply pos_IZR. }
  transitivity (IZR (Zpos b) * eval p e); [field; positive_denominators|].
  rewrite H; field; positive_denominators.
Qed.

Lemma qeval_compose : forall p k u e, qeval (qcompose p k u) e = qeval p (upd e k (qeval u e)).
Proof.
  intros [p a] k [u b] e; unfold qcompose, qeval; cbn [num pden].
  rewrite coefs_eval, <- horner_ok.
  destruct (horner (coefs p k) u b) as [n d]; cbn [fst snd num pden].
  rewrite Pos2Z.inj_mul, mult_IZR; field; positive_denominators.
Qed.

Lemma qfree_eval : forall p k, qfree p k = true -> forall e v, qeval p (upd e k v) = qeval p e.
Proof. intros p k H e v; unfold qeval; now rewrite (free_eval _ _ H). Qed.

Lemma qderiv_ok : forall p k e x,
  derivable_pt_lim (fun y => qeval p (upd e k y)) x (qeval (qderiv p k) (upd e k x)).
Proof.
  intros [p d] k e x; unfold qeval; cbn [num pden qderiv].
  eapply slope_eq.
  - apply (derivable_pt_lim_scal (fun y => eval p (upd e k y)) (/ IZR (Zpos d))), deriv_ok.
  - intro y; unfold mult_real_fct, Rdiv; lra.
  - unfold Rdiv; lra.
Qed.

Lemma qeval_sign : forall p e, 0 <= qeval p e <-> 0 <= eval (num p) e.
Proof.
  intros [p d] e; unfold qeval; cbn [num pden]; pose proof (pos_IZR d) as H; split; intro K.
  - replace (eval p e) with (eval p e / IZR (Zpos d) * IZR (Zpos d)) by (field; lra).
    apply Rmult_le_pos; lra.
  - apply Rmult_le_pos; [easy|]; left; now apply Rinv_0_lt_compat.
Qed.

Lemma qeval_pos : forall p e, 0 < qeval p e <-> 0 < eval (num p) e.
Proof.
  intros [p d] e; unfold qeval; cbn [num pden]; pose proof (pos_IZR d) as H; split; intro K.
  - replace (eval p e) with (eval p e / IZR (Zpos d) * IZR (Zpos d)) by (field; lra).
    apply Rmult_lt_0_compat; lra.
  - apply Rmult_lt_0_compat; [easy|]; now apply Rinv_0_lt_compat.
Qed.
