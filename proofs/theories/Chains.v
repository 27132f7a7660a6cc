(** Polynomials with whole coefficients, their values at real points, and computations with them.

    A polynomial in the variables 0, 1, 2, ... is a chain.  [Pc c] is the number c.  [PX q p] is q + x·p, where
    x is variable 0 and q does not mention it: variable 0 of q is variable 1 of [PX q p].  So the chain
    [PX q0 (PX q1 (PX q2 (Pc c)))] is q0 + q1·x + q2·x² + c·x³. *)

From Coq Require Import ZArith Reals List Lia Lra Bool QArith Qreals.
Import ListNotations.
Local Open Scope R_scope.

(** * Points *)

Definition env := nat -> R.
Definition shift (e : env) : env := fun k => e (S k).
Definition upd (e : env) (k : nat) (v : R) : env := fun j => if Nat.eqb j k then v else e j.

Lemma upd_same : forall e k v, upd e k v k = v.
Proof. intros; unfold upd; now rewrite Nat.eqb_refl. Qed.

Lemma upd_other : forall e k v j, j <> k -> upd e k v j = e j.
Proof. intros e k v j H; unfold upd; apply Nat.eqb_neq in H; now rewrite H. Qed.

Lemma upd_self : forall e k j, upd e k (e k) j = e j.
Proof. intros e k j; unfold upd; destruct (Nat.eqb_spec j k); now subst. Qed.

Lemma upd_upd : forall e k v w j, upd (upd e k v) k w j = upd e k w j.
Proof. intros; unfold upd; now destruct (Nat.eqb j k). Qed.

(** * Polynomials and their values *)

Inductive poly := Pc (c : Z) | PX (q p : poly).

Fixpoint eval (p : poly) (e : env) : R :=
  match p with
  | Pc c => IZR c
  | PX q p => eval q (shift e) + e 0%nat * eval p e
  end.

Lemma eval_ext : forall p e f, (forall k, e k = f k) -> eval p e = eval p f.
Proof.
  induction p as [c|q IHq p IHp]; intros e f H; simpl; [easy|].
  rewrite (IHq _ (shift f)), (IHp _ f), (H 0%nat); auto.
  intro k; apply H.
Qed.

Lemma eval_upd_self : forall p e k, eval p (upd e k (e k)) = eval p e.
Proof. intros; apply eval_ext; intro; apply upd_self. Qed.

Lemma eval_upd_upd : forall p e k v w, eval p (upd (upd e k v) k w) = eval p (upd e k w).
Proof. intros; apply eval_ext; intro; apply upd_upd. Qed.

Lemma shift_upd0 : forall p e v, eval p (shift (upd e 0 v)) = eval p (shift e).
Proof. intros; apply eval_ext; now intro. Qed.

Lemma shift_updS : forall p e k v, eval p (shift (upd e (S k) v)) = eval p (upd (shift e) k v).
Proof. intros; apply eval_ext; now intro. Qed.

(** [PX q p], written in a shorter form where it is a number. *)
Definition mkX (q p : poly) : poly :=
  match p with
  | Pc Z0 => match q with Pc c => Pc c | _ => PX q p end
  | _ => PX q p
  end.

Lemma eval_mkX : forall q p e, eval (mkX q p) e = eval q (shift e) + e 0%nat * eval p e.
Proof. intros [c|q1 q2] [[| |]|p1 p2] e; simpl; lra. Qed.

(** The same polynomial with all variables moved up by one. *)
Definition lift (q : poly) : poly := mkX q (Pc 0).

Lemma eval_lift : forall q e, eval (lift q) e = eval q (shift e).
Proof. intros; unfold lift; rewrite eval_mkX; simpl; lra. Qed.

Fixpoint var (k : nat) : poly :=
  match k with O => PX (Pc 0) (Pc 1) | S k => PX (var k) (Pc 0) end.

Lemma eval_var : forall k e, eval (var k) e = e k.
Proof. induction k; intro e; simpl; [|rewrite IHk; unfold shift]; lra. Qed.

Fixpoint addc (a : Z) (p : poly) : poly :=
  match p with Pc b => Pc (a + b) | PX q p => PX (addc a q) p end.

Lemma eval_addc : forall a p e, eval (addc a p) e = IZR a + eval p e.
Proof. induction p; intro e; simpl; [apply plus_IZR|rewrite IHp1; lra]. Qed.

Fixpoint padd (p q : poly) : poly :=
  match p with
  | Pc a => addc a q
  | PX p1 p2 => match q with Pc b => PX (addc b p1) p2 | PX q1 q2 => mkX (padd p1 q1) (padd p2 q2) end
  end.

Lemma eval_padd : forall p q e, eval (padd p q) e = eval p e + eval q e.
Proof.
  induction p as [a|p1 IH1 p2 IH2]; intros q e; simpl; [apply eval_addc|].
  destruct q as [b|q1 q2]; simpl.
  - rewrite eval_addc; lra.
  - rewrite eval_mkX, IH1, IH2; lra.
Qed.

Fixpoint pmapz (a : Z) (p : poly) : poly :=
  match p with Pc c => Pc (a * c) | PX q p => PX (pmapz a q) (pmapz a p) end.

Definition pscale (a : Z) (p : poly) : poly :=
  match a with Z0 => Pc 0 | Zpos xH => p | _ => pmapz a p end.

Lemma eval_pmapz : forall a p e, eval (pmapz a p) e = IZR a * eval p e.
Proof. induction p; intro e; simpl; [apply mult_IZR|rewrite IHp1, IHp2; lra]. Qed.

Lemma eval_pscale : forall a p e, eval (pscale a p) e = IZR a * eval p e.
Proof.
  intros a p e; unfold pscale; destruct a as [|[| |]|]; try apply eval_pmapz; simpl; lra.
Qed.

Definition popp := pscale (-1).
Definition psub (p q : poly) := padd p (popp q).

Lemma eval_popp : forall p e, eval (popp p) e = - eval p e.
Proof. intros; unfold popp; rewrite eval_pscale; lra. Qed.

Lemma eval_psub : forall p q e, eval (psub p q) e = eval p e - eval q e.
Proof. intros; unfold psub; rewrite eval_padd, eval_popp; lra. Qed.

(** r·q where r does not mention variable 0; f is the product with r, for what does not mention it either. *)
Fixpoint mul_low (f : poly -> poly) (r q : poly) : poly :=
  match q with Pc b => lift (pscale b r) | PX q1 q2 => mkX (f q1) (mul_low f r q2) end.

Fixpoint pmul (p : poly) : poly -> poly :=
  match p with
  | Pc a => pscale a
  | PX r s => fun q =>
      let later := mkX (Pc 0) (pmul s q) in
      match r with Pc Z0 => later | _ => padd (mul_low (pmul r) r q) later end  (* most coefficients may be 0 *)
  end.

Lemma eval_mul_low : forall f r, (forall q e, eval (f q) e = eval r e * eval q e) ->
  forall q e, eval (mul_low f r q) e = eval r (shift e) * eval q e.
Proof.
  intros f r H; induction q as [b|q1 _ q2 IH2]; intro e; simpl.
  - rewrite eval_lift, eval_pscale; lra.
  - rewrite eval_mkX, H, IH2; lra.
Qed.

Lemma eval_pmul : forall p q e, eval (pmul p q) e = eval p e * eval q e.
Proof.
  induction p as [a|r IHr s IHs]; intros q e; [apply eval_pscale|].
  assert (L : eval (mkX (Pc 0) (pmul s q)) e = e 0%nat * (eval s e * eval q e)) by (rewrite eval_mkX, IHs; simpl; lra).
  assert (G : eval (padd (mul_low (pmul r) r q) (mkX (Pc 0) (pmul s q))) e = eval (PX r s) e * eval q e)
    by (rewrite eval_padd, L, (eval_mul_low _ _ IHr); simpl; lra).
  destruct r as [[|a|a]|r1 r2]; [cbn [pmul]; rewrite L; simpl; lra|exact G..].
Qed.

Fixpoint ppow (p : poly) (n : positive) : poly :=
  match n with
  | xH => p
  | xO n => let h := ppow p n in pmul h h
  | xI n => let h := ppow p n in pmul p (pmul h h)
  end.

Lemma eval_ppow : forall p n e, eval (ppow p n) e = eval p e ^ Pos.to_nat n.
Proof.
  intros p n e; induction n as [n IH|n IH|]; cbn [ppow].
  - rewrite !eval_pmul, IH, Pos2Nat.inj_xI.
    replace (S (2 * Pos.to_nat n)) with (1 + (Pos.to_nat n + Pos.to_nat n))%nat by lia.
    rewrite !pow_add; simpl; lra.
  - rewrite eval_pmul, IH, Pos2Nat.inj_xO.
    replace (2 * Pos.to_nat n)%nat with (Pos.to_nat n + Pos.to_nat n)%nat by lia.
    now rewrite pow_add.
  - simpl; lra.
Qed.

(** * Equality, by computation *)

Fixpoint is_zero (p : poly) : bool :=
  match p with Pc c => Z.eqb c 0 | PX q p => is_zero q && is_zero p end.

Lemma is_zero_eval : forall p, is_zero p = true -> forall e, eval p e = 0.
Proof.
  induction p as [c|q IHq p IHp]; simpl; intros H e.
  - now apply Z.eqb_eq in H; subst.
  - apply andb_prop in H as [H1 H2]; rewrite IHq, IHp; auto; lra.
Qed.

Definition peq (p q : poly) : bool := is_zero (psub p q).

Lemma peq_eval : forall p q, peq p q = true -> forall e, eval p e = eval q e.
Proof.
  intros p q H e; apply is_zero_eval with (e := e) in H; rewrite eval_psub in H; lra.
Qed.

(** The coefficient of the first monomial that has one (0 for the polynomial 0). *)
Fixpoint lead (p : poly) : Z :=
  match p with Pc c => c | PX q p => let c := lead q in if Z.eqb c 0 then lead p else c end.

(** Some a, b > 0 with a·p = b·q. *)
Definition proportional (p q : poly) : bool :=
  let a := lead p in
  let b := lead q in
  if Z.eqb a 0 then is_zero p && is_zero q
  else Z.ltb 0 (a * b) && peq (pscale (Z.abs b) p) (pscale (Z.abs a) q).

Lemma proportional_ok : forall p q, proportional p q = true ->
  exists a b, 0 < a /\ 0 < b /\ forall e, a * eval p e = b * eval q e.
Proof.
  intros p q; unfold proportional; destruct (Z.eqb_spec (lead p) 0) as [_|n]; intro H.
  - apply andb_prop in H as [H1 H2]; exists 1, 1; repeat split; try lra.
    intro e; now rewrite (is_zero_eval _ H1), (is_zero_eval _ H2).
  - apply andb_prop in H as [H1 H2]; apply Z.ltb_lt in H1.
    exists (IZR (Z.abs (lead q))), (IZR (Z.abs (lead p))); repeat split; try (apply IZR_lt; nia).
    intro e; apply peq_eval with (e := e) in H2; now rewrite !eval_pscale in H2.
Qed.

(** * Rows: the coefficients of the powers of one variable *)

(** a₀ + a₁·x + a₂·x² + ... *)
Fixpoint hor (x : R) (l : list R) : R :=
  match l with [] => 0 | a :: l => a + x * hor x l end.

Definition evals (l : list poly) (e : env) : list R := map (fun p => eval p e) l.

Fixpoint zipX (la lb : list poly) : list poly :=
  match la, lb with
  | [], _ => map (mkX (Pc 0)) lb
  | _, [] => map lift la
  | a :: la, b :: lb => mkX a b :: zipX la lb
  end.

Lemma hor_map_lift : forall x l e, hor x (evals (map lift l) e) = hor x (evals l (shift e)).
Proof. induction l; intro e; simpl; [easy|]; now rewrite eval_lift, IHl. Qed.

Lemma hor_map_low : forall x l e, hor x (evals (map (mkX (Pc 0)) l) e) = e 0%nat * hor x (evals l e).
Proof. induction l; intro e; simpl; [lra|]; rewrite eval_mkX, IHl; simpl; lra. Qed.

Lemma hor_zipX : forall x la lb e,
  hor x (evals (zipX la lb) e) = hor x (evals la (shift e)) + e 0%nat * hor x (evals lb e).
Proof.
  induction la as [|a la IH]; intros lb e.
  - simpl; rewrite hor_map_low; lra.
  - destruct lb as [|b lb].
    + change (zipX (a :: la) []) with (map lift (a :: la)); rewrite hor_map_lift; simpl; lra.
    + simpl; rewrite eval_mkX, IH; lra.
Qed.

Fixpoint rows (p : poly) (k : nat) : list poly :=
  match p with
  | Pc c => [Pc c]
  | PX q p => match k with O => lift q :: rows p O | S j => zipX (rows q j) (rows p k) end
  end.

(** Without zeros at the end. *)
Fixpoint trim (l : list poly) : list poly :=
  match l with
  | [] => []
  | a :: l => match trim l with [] => if is_zero a then [] else [a] | m => a :: m end
  end.

Definition coefs (p : poly) (k : nat) : list poly := trim (rows p k).
Definition degree (p : poly) (k : nat) : nat := pred (length (coefs p k)).

Lemma rows_eval : forall p k e, hor (e k) (evals (rows p k) e) = eval p e.
Proof.
  induction p as [c|q IHq p IHp]; intros k e; simpl; [lra|].
  destruct k as [|j]; simpl.
  - now rewrite eval_lift, IHp.
  - rewrite hor_zipX, IHp; change (e (S j)) with (shift e j); now rewrite IHq.
Qed.

Lemma hor_trim : forall x l e, hor x (evals (trim l) e) = hor x (evals l e).
Proof.
  induction l as [|a l IH]; intro e; simpl; [easy|].
  rewrite <- IH; destruct (trim l) as [|b m]; [|easy].
  destruct (is_zero a) eqn:H; simpl; [rewrite (is_zero_eval _ H)|]; lra.
Qed.

(** [free p k]: p does not mention variable k. *)
Fixpoint free (p : poly) (k : nat) : bool :=
  match p with
  | Pc _ => true
  | PX q p => match k with O => is_zero p | S j => free q j && free p k end
  end.

Lemma free_eval : forall p k, free p k = true -> forall e v, eval p (upd e k v) = eval p e.
Proof.
  induction p as [c|q IHq p IHp]; intros k H e v; simpl; [easy|].
  destruct k as [|j]; simpl in H.
  - rewrite shift_upd0, !(is_zero_eval _ H); lra.
  - apply andb_prop in H as [H1 H2].
    rewrite shift_updS, IHq, IHp, upd_other by auto; easy.
Qed.

(** What is said of rows below: they do not depend on the variable. *)
Definition fixed_at (k : nat) (p : poly) : Prop := forall e v, eval p (upd e k v) = eval p e.

Lemma fixed_mkX : forall k q p, fixed_at k q -> fixed_at (S k) p -> fixed_at (S k) (mkX q p).
Proof.
  intros k q p Hq Hp e v; rewrite !eval_mkX, Hp, shift_updS, Hq, upd_other by easy; easy.
Qed.

Lemma fixed_zipX : forall k la lb, Forall (fixed_at k) la -> Forall (fixed_at (S k)) lb ->
  Forall (fixed_at (S k)) (zipX la lb).
Proof.
  induction la as [|a la IH]; intros lb Ha Hb.
  - simpl; induction Hb; simpl; constructor; auto; apply fixed_mkX; easy.
  - destruct lb as [|b lb].
    + change (zipX (a :: la) []) with (map lift (a :: la)).
      induction Ha; simpl; constructor; auto; apply fixed_mkX; easy.
    + simpl; inversion Ha; inversion Hb; subst; constructor; auto; now apply fixed_mkX.
Qed.

Lemma rows_fixed : forall p k, Forall (fixed_at k) (rows p k).
Proof.
  induction p as [c|q IHq p IHp]; intros k; simpl; [now repeat constructor|].
  destruct k as [|j].
  - constructor; auto; intros e v; now rewrite !eval_lift, shift_upd0.
  - apply fixed_zipX; auto.
Qed.

Lemma trim_fixed : forall k l, Forall (fixed_at k) l -> Forall (fixed_at k) (trim l).
Proof.
  induction 1 as [|a l Ha H IH]; simpl; [constructor|].
  destruct (trim l); [|now constructor].
  destruct (is_zero a); repeat constructor; auto.
Qed.

Lemma coefs_fixed : forall p k, Forall (fixed_at k) (coefs p k).
Proof. intros; apply trim_fixed, rows_fixed. Qed.

Lemma evals_fixed : forall k l, Forall (fixed_at k) l -> forall e v, evals l (upd e k v) = evals l e.
Proof. induction 1; intros e v; simpl; [easy|]; f_equal; auto. Qed.

(** A polynomial as a polynomial in variable k alone. *)
Lemma coefs_eval : forall p k e x, eval p (upd e k x) = hor x (evals (coefs p k) e).
Proof.
  intros p k e x.
  rewrite <- (rows_eval p k (upd e k x)), upd_same.
  rewrite (evals_fixed _ _ (rows_fixed p k)); unfold coefs; now rewrite hor_trim.
Qed.

Lemma coefs_eval' : forall p k e, eval p e = hor (e k) (evals (coefs p k) e).
Proof. intros; now rewrite <- coefs_eval, eval_upd_self. Qed.

(** * Composition: x is replaced by u/d *)

(** A polynomial n and a number d > 0, which stand for n/d. *)
Fixpoint horner (l : list poly) (u : poly) (d : positive) : poly * positive :=
  match l with
  | [] => (Pc 0, xH)
  | [r] => (r, xH)
  | r :: l => let (n, D) := horner l u d in (padd (pscale (Zpos (d * D)) r) (pmul u n), (d * D)%positive)
  end.

Lemma pos_IZR : forall d, 0 < IZR (Zpos d).
Proof. intro; now apply IZR_lt. Qed.

Lemma horner_ok : forall u d e l,
  eval (fst (horner l u d)) e / IZR (Zpos (snd (horner l u d))) = hor (eval u e / IZR (Zpos d)) (evals l e).
Proof.
  intros u d e; induction l as [|r l IH]; [simpl; lra|].
  destruct l as [|s l]; [simpl; lra|].
  change (horner (r :: s :: l) u d) with
    (let (n, D) := horner (s :: l) u d in (padd (pscale (Zpos (d * D)) r) (pmul u n), (d * D)%positive)).
  change (evals (r :: s :: l) e) with (eval r e :: evals (s :: l) e).
  cbn [hor]; rewrite <- IH; destruct (horner (s :: l) u d) as [n D]; cbn [fst snd].
  rewrite eval_padd, eval_pscale, eval_pmul, Pos2Z.inj_mul, mult_IZR.
  field; split; apply Rgt_not_eq, pos_IZR.
Qed.

(** * Derivatives *)

Fixpoint deriv (p : poly) (k : nat) : poly :=
  match p with
  | Pc _ => Pc 0
  | PX q p => match k with O => padd p (mkX (Pc 0) (deriv p O)) | S j => mkX (deriv q j) (deriv p k) end
  end.

Lemma slope_eq : forall f g x l m,
  derivable_pt_lim f x l -> (forall y, g y = f y) -> m = l -> derivable_pt_lim g x m.
Proof. intros f g x l m H E ->; intros eps K; destruct (H eps K) as [d D]; exists d; intros; rewrite !E; auto. Qed.

Lemma deriv_ok : forall p k e x,
  derivable_pt_lim (fun y => eval p (upd e k y)) x (eval (deriv p k) (upd e k x)).
Proof.
  induction p as [c|q IHq p IHp]; intros k e x; simpl; [apply derivable_pt_lim_const|].
  destruct k as [|j].
  - set (f := fun y => eval p (upd e 0 y)).
    eapply slope_eq.
    + apply (derivable_pt_lim_plus (fun _ => eval q (shift e)) (fun y => y * f y)).
      * apply derivable_pt_lim_const.
      * apply (derivable_pt_lim_mult (fun y => y)); [apply derivable_pt_lim_id|apply IHp].
    + intro y; unfold plus_fct; rewrite shift_upd0; reflexivity.
    + rewrite eval_padd, eval_mkX; unfold f, upd; simpl; lra.
  - eapply slope_eq.
    + apply (derivable_pt_lim_plus (fun y => eval q (upd (shift e) j y))
        (fun y => e 0%nat * eval p (upd e (S j) y))).
      * apply IHq.
      * apply (derivable_pt_lim_scal (fun y => eval p (upd e (S j) y))), IHp.
    + intro y; unfold plus_fct; rewrite shift_updS; reflexivity.
    + rewrite eval_mkX, shift_updS; reflexivity.
Qed.
