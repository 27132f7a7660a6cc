(* f = g(u) for a product u of powers of variables x or 1 - x: it is enough that g ≥ 0 on the values of u. *)
From Coq Require Import Reals ZArith QArith Qreals Lra Lia List Bool Arith.
From Paramverify Require Import Poly Goal Certificate Rule.
Import ListNotations.
Local Open Scope R_scope.

Definition power := (nat * positive * bool)%type.

Definition factor (k : nat) (reflected : bool) : qpoly := if reflected then qsub (qconst 1) (qvar k) else qvar k.

Fixpoint product_of (l : list power) : qpoly :=
  match l with [] => qconst 1 | (k, n, b) :: l => qmul (qpow (factor k b) n) (product_of l) end.

(* The least and the largest value of the product, where all factors have none that is negative. *)
Fixpoint values_of (g : goal) (l : list power) : option (Q * Q) :=
  match l with
  | [] => Some (1%Q, 1%Q)
  | (k, n, b) :: l =>
    match at_axis (gbox g) k, values_of g l with
    | Some iv, Some (low, high) =>
      let a := if b then (1 - hi iv)%Q else lo iv in
      let z := if b then (1 - lo iv)%Q else hi iv in
      if qle 0 a then Some (Qred (a ^ Zpos n * low), Qred (z ^ Zpos n * high))%Q else None
    | _, _ => None
    end
  end.

Lemma Q2R_power : forall q n, Q2R (Qpower_positive q n) = Q2R q ^ Pos.to_nat n.
Proof.
  intros q n. unfold Qpower_positive.
  assert (E : forall m, Q2R (pow_pos Qmult q m) = Q2R q ^ Pos.to_nat m).
  { induction m as [m IH|m IH|]; cbn [pow_pos].
    - rewrite !Q2R_mult, IH, Pos2Nat.inj_xI. replace (S (2 * Pos.to_nat m)) with (1 + (Pos.to_nat m + Pos.to_nat m))%nat by lia.
      rewrite !pow_add. simpl. ring.
    - rewrite Q2R_mult, IH, Pos2Nat.inj_xO. replace (2 * Pos.to_nat m)%nat with (Pos.to_nat m + Pos.to_nat m)%nat by lia.
      rewrite pow_add. reflexivity.
    - simpl. ring. }
  apply E.
Qed.

Lemma values_ok : forall g e l low high, dom g e -> values_of g l = Some (low, high) ->
  0 <= Q2R low <= qeval (product_of l) e /\ qeval (product_of l) e <= Q2R high.
Proof.
  intros g e l. induction l as [|[[k n] b] l IH]; intros low high D H; cbn [values_of product_of] in *.
  - inversion H; subst. rewrite qeval_const, Q2R_1. lra.
  - destruct (at_axis (gbox g) k) as [iv|] eqn:E; [|discriminate].
    destruct (values_of g l) as [[l0 h0]|]; [|discriminate].
    destruct (IH l0 h0 D eq_refl) as [[I1 I2] I3].
    pose proof (inside_le _ _ (proj1 D k iv E)) as B.
    set (a := if b then (1 - hi iv)%Q else lo iv) in *. set (z := if b then (1 - lo iv)%Q else hi iv) in *.
    destruct (qle 0 a) eqn:P; [|discriminate]. apply qle_R in P. rewrite Q2R_0 in P.
    assert (F : Q2R a <= qeval (factor k b) e <= Q2R z).
    { unfold factor, a, z. destruct b; rewrite ?qeval_sub, ?qeval_const, qeval_var, ?Q2R_minus, ?Q2R_1; lra. }
    assert (EL : Qred (a ^ Zpos n * l0) = low) by congruence.
    assert (EH : Qred (z ^ Zpos n * h0) = high) by congruence. subst low high.
    rewrite !(Qeq_eqR _ _ (Qred_correct _)), !Q2R_mult, qeval_mul, qeval_pow.
    simpl Qpower. rewrite !Q2R_power.
    set (p := Pos.to_nat n). set (x := qeval (factor k b) e) in *.
    assert (0 <= Q2R a ^ p) by (apply pow_le; assumption).
    assert (Q2R a ^ p <= x ^ p) by (apply pow_incr; lra).
    assert (x ^ p <= Q2R z ^ p) by (apply pow_incr; lra).
    split; [split|].
    + apply Rmult_le_pos; lra.
    + apply Rmult_le_compat; lra.
    + apply Rmult_le_compat; lra.
Qed.

(* What g may be: nothing of this is trusted, for g(u) is computed again and compared with f. *)
Fixpoint reflect (p : qpoly) (l : list power) : qpoly :=
  match l with
  | [] => p
  | (k, _, b) :: l => reflect (if b then qcompose p k (factor k true) else p) l
  end.

Fixpoint at_one (p : qpoly) (l : list power) : qpoly :=
  match l with [] => p | (k, _, _) :: l => at_one (qcompose p k (qconst 1)) l end.

(* Every n-th coefficient, the first one included; `skip` of them are left out first. *)
Fixpoint every (n skip : nat) (l : list poly) : list poly :=
  match l with
  | [] => []
  | c :: l => match skip with O => c :: every n (pred n) l | S m => every n m l end
  end.

Fixpoint in_variable (k : nat) (l : list poly) : poly :=
  match l with [] => Pc 0 | c :: l => padd c (pmul (var k) (in_variable k l)) end.

Definition outer (f : qpoly) (k : nat) (l : list power) : qpoly :=
  match l with
  | [] => f
  | (j, n, _) :: m =>
    let p := at_one (reflect f l) m in
    QP (in_variable k (every (Pos.to_nat n) 0 (coefs (num p) j))) (pden p)
  end.

Definition product_goal (g : goal) (k : nat) (l : list power) : option goal :=
  let p := outer (gpoly g) k l in
  match values_of g l with
  | Some (low, high) =>
    if qeq (qcompose p k (product_of l)) (gpoly g) then
      Some (Goal p (set_axis (gbox g) k (Some (Iv low high false false))) (map (drop_cond k) (gconds g))
              (drop_facts k (gfacts g)))
    else None
  | None => None
  end.

(** The polynomial mentions a variable of the product, and no other one.  The proof does not need this; without it
    more would be accepted than by the checker in Python. *)
Definition of_product (g : goal) (powers : list (nat * positive * bool)) : bool :=
  let own := map (fun p => fst (fst p)) powers in
  existsb (fun j => negb (qfree (gpoly g) j)) own &&
  forallb (fun j => existsb (Nat.eqb j) own || qfree (gpoly g) j) (seq 0 (length (gbox g))).

Definition check_product (rec : checker) (g : goal) (k : nat) (powers : list (nat * positive * bool)) (c : cert)
  : bool := match product_goal g k powers with Some h => of_product g powers && rec h c | None => false end.

Lemma check_product_sound : forall rec, honest rec ->
  forall g k powers c, check_product rec g k powers c = true -> holds g.
Proof.
  intros rec R g k powers c H e D. unfold check_product in H.
  destruct (product_goal g k powers) as [h|] eqn:E; [|discriminate]. unfold product_goal in E.
  apply andb_prop in H as [_ H].
  destruct (values_of g powers) as [[low high]|] eqn:V; [|discriminate].
  destruct (qeq _ _) eqn:Q in E; [|discriminate]. inversion E; subst h; clear E.
  set (u := qeval (product_of powers) e).
  destruct (values_ok g e powers low high D V) as [V1 V2]. fold u in V1, V2.
  assert (P : 0 <= qeval (outer (gpoly g) k powers) (upd e k u)).
  { apply (R _ _ H (upd e k u)). destruct D as (B & C & F). split; [|split].
    - intros j i J. simpl in J. destruct (Nat.eq_dec j k) as [->|N].
      + rewrite at_set_same in J. inversion J; subst. rewrite upd_same. unfold inside; simpl. lra.
      + rewrite at_set_other in J by assumption. rewrite upd_other by assumption. auto.
    - intros d K. simpl in K. apply in_map_iff in K as (b & <- & K). apply drop_cond_upd; auto.
    - intros f K. eapply drop_facts_upd; eauto. }
  apply qeq_eval with (e := e) in Q. rewrite qeval_compose in Q. fold u in Q. rewrite <- Q. exact P.
Qed.
