(* Witnesses at points that are not rational: E = exp(q) stands for itself, or the coordinates are polynomials in
   a root of a polynomial. *)
From Coq Require Import Reals ZArith QArith Qreals Lra Lia List Bool Arith.
From Paramverify Require Import Poly Goal Certificate Rule Bernstein RuleExponential RuleConvex RuleConvexRoot.
Import ListNotations.
Local Open Scope R_scope.

(* --- with exp --------------------------------------------------------------------------------------------------- *)

Definition positive_at (q : Q) (l : list Z) : bool :=
  if hopeless q l then false else decided q (fun M L H => (0 <=? L)%Z && (0 <? lowest l (Zpos M) L H 0 1 1)%Z).

Lemma positive_at_ok : forall q l, positive_at q l = true -> 0 < hor (exp (Q2R q)) (map IZR l).
Proof.
  intros q l H. unfold positive_at in H. destruct (hopeless q l); [discriminate|]. apply decided_ok in H as (M & L & U & H & B & X). apply andb_prop in H as [H1 H2].
  apply Z.leb_le, IZR_le in H1. apply Z.ltb_lt, IZR_lt in H2. pose proof (pos_IZR M) as HM.
  assert (HL : 0 <= IZR L <= IZR (Zpos M) * exp (Q2R q)) by (rewrite Rmult_comm; lra).
  assert (HH : IZR (Zpos M) * exp (Q2R q) <= IZR U) by (rewrite Rmult_comm; lra).
  pose proof (lowest_ok l (Zpos M) L U 0 1 1 (exp (Q2R q)) 0 1 HM (Rlt_le _ _ X) HL HH) as K.
  specialize (K ltac:(lra) ltac:(lra) ltac:(lra)).
  assert (P : 0 < IZR (Zpos M) ^ length l) by (apply pow_lt; assumption).
  assert (Z : 0 < IZR (lowest l (Zpos M) L U 0 1 1) * IZR (Zpos M)) by (apply Rmult_lt_0_compat; lra).
  apply Rmult_lt_reg_l with (IZR (Zpos M) ^ length l); [assumption|]. rewrite Rmult_0_r.
  rewrite Rmult_0_l, Rplus_0_l, Rmult_1_l in K. lra.
Qed.

(* All variables but k, with their values. *)
Definition others (k : nat) (v : list Q) : list (nat * qpoly) :=
  flat_map (fun j => if Nat.eqb j k then [] else [(j, qconst (nth j v 0%Q))]) (seq 0 (length v)).

Definition sign_with_exp (k : nat) (q : Q) (v : list Q) (strict : bool) (p : qpoly) : bool :=
  match numbers (coefs (num (placed p (others k v))) k) with
  | Some l => if strict then positive_at q l else nonneg_at q l
  | None => false
  end.

Definition end_with_exp (k : nat) (q : Q) (b : box) (v : list Q) (j : nat) : bool :=
  match at_axis b j with
  | None => true
  | Some i =>
    sign_with_exp k q v (lopen i) (qsub (qvar j) (qconst (lo i))) &&
    sign_with_exp k q v (hopen i) (qsub (qconst (hi i)) (qvar j))
  end.

Definition refutes_with_exp (g : goal) (v : list Q) : bool :=
  match gfacts g with
  | [Exp k q] =>
    forallb (end_with_exp k q (gbox g) v) (seq 0 (length (gbox g))) &&
    forallb (fun c => match c with Some (p, s) => sign_with_exp k q v s p | None => true end) (gconds g) &&
    sign_with_exp k q v true (qopp (gpoly g))
  | _ => false
  end.

Lemma others_apart : forall k v e, place (others k v) e k = e k.
Proof.
  intros k v e. unfold others. induction (seq 0 (length v)) as [|j l IH]; simpl; [reflexivity|].
  destruct (Nat.eqb_spec j k) as [|N]; simpl; [exact IH|]. rewrite upd_other by auto. exact IH.
Qed.

Lemma sign_with_exp_ok : forall k q v strict p e, e k = exp (Q2R q) -> sign_with_exp k q v strict p = true ->
  below strict 0 (qeval p (place (others k v) e)).
Proof.
  intros k q v strict p e E H. unfold sign_with_exp in H. rewrite <- placed_ok.
  set (r := placed p (others k v)) in *. destruct (numbers (coefs (num r) k)) as [l|] eqn:N; [|discriminate].
  assert (V : eval (num r) e = hor (exp (Q2R q)) (map IZR l)).
  { rewrite (coefs_eval' (num r) k e), (numbers_ok _ _ _ N), E. reflexivity. }
  destruct strict; simpl.
  - apply qeval_pos. rewrite V. apply positive_at_ok. assumption.
  - apply qeval_sign. rewrite V. apply nonneg_at_ok. assumption.
Qed.

Theorem refutes_with_exp_sound : forall g v, refutes_with_exp g v = true ->
  exists e, dom g e /\ qeval (gpoly g) e < 0.
Proof.
  intros g v H. unfold refutes_with_exp in H.
  destruct (gfacts g) as [|[k q|] [|]] eqn:F; try discriminate.
  apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2].
  set (e := fun _ : nat => exp (Q2R q)). exists (place (others k v) e).
  assert (S : forall s p, sign_with_exp k q v s p = true -> below s 0 (qeval p (place (others k v) e))).
  { intros s p. apply sign_with_exp_ok. reflexivity. }
  split; [split; [|split]|].
  - intros j i J. rewrite forallb_forall in H1.
    assert (L : (j < length (gbox g))%nat).
    { destruct (Nat.lt_ge_cases j (length (gbox g))) as [|L]; [assumption|].
      unfold at_axis in J. rewrite nth_overflow in J by assumption. discriminate. }
    specialize (H1 j ltac:(apply in_seq; lia)). unfold end_with_exp in H1. rewrite J in H1.
    apply andb_prop in H1 as [A B]. apply S in A, B. rewrite qeval_sub, qeval_const, qeval_var in A, B.
    split; [destruct (lopen i) | destruct (hopen i)]; simpl in *; lra.
  - intros c K. rewrite forallb_forall in H2. specialize (H2 c K). destruct c as [[p s]|]; [|exact I].
    simpl. apply S. assumption.
  - intros f K. rewrite F in K. destruct K as [<-|[]]. simpl. rewrite others_apart. reflexivity.
  - apply S in H3. simpl in H3. rewrite qeval_opp in H3. lra.
Qed.

(* --- at a root ---------------------------------------------------------------------------------------------------- *)

(* The interval of the root is halved so many times. *)
Fixpoint halved (l : list poly) (low high : Q) (times : nat) : Q * Q :=
  match times with
  | O => (low, high)
  | S times =>
    let middle := Qred ((low + high) * (1 # 2)) in
    if has_root l low middle then halved l low middle times else halved l middle high times
  end.

Definition coordinates (n : nat) (point : list qpoly) : list (nat * qpoly) :=
  map (fun k => (k, qcompose (nth k point (qconst 0)) 0 (qvar n))) (seq 0 n).

Section Root.

Variable n : nat.
Variable l : list (nat * qpoly).
Variable c : Z.
Variable m : list Z.
Variable low high : Q.

Definition sign_at_root (strict : bool) (p : qpoly) : bool :=
  match at_point p l n c m with
  | Some [] => negb strict
  | Some v => positive_on (root_box n low high) (in_root n v)
  | None => false
  end.

Definition end_at_root (b : box) (k : nat) : bool :=
  match at_axis b k with
  | None => true
  | Some i =>
    sign_at_root (lopen i) (qsub (qvar k) (qconst (lo i))) && sign_at_root (hopen i) (qsub (qconst (hi i)) (qvar k))
  end.

Definition refuted_there (g : goal) : bool :=
  if forallb (end_at_root (gbox g)) (seq 0 (length (gbox g))) then
    if forallb (fun d => match d with Some (p, s) => sign_at_root s p | None => true end) (gconds g) then
      sign_at_root true (qopp (gpoly g))
    else false
  else false.

Lemma sign_at_root_ok : forall strict p e, (0 < c)%Z -> IZR c * e n ^ length m + hval m (e n) = 0 ->
  Q2R low <= e n <= Q2R high -> sign_at_root strict p = true -> below strict 0 (qeval p (place l e)).
Proof.
  intros strict p e Hc E B H. unfold sign_at_root in H. rewrite <- placed_ok.
  destruct (at_point p l n c m) as [v|] eqn:A; [|discriminate].
  destruct (at_point_ok p l n c m v e A Hc E) as (q & Hq & V).
  destruct v as [|a v].
  - destruct strict; [discriminate|]. simpl in *. apply qeval_sign. symmetry in V.
    apply Rmult_integral in V. destruct V; lra.
  - apply positive_on_ok with (e := e) in H; [|apply root_in_box; assumption].
    rewrite in_root_ok, V in H. apply below_lt, qeval_pos.
    apply Rmult_lt_reg_l with q; [assumption|]. rewrite Rmult_0_r. assumption.
Qed.

End Root.

Definition refutes_at_root (g : goal) (minimal : qpoly) (low high : Q) (point : list qpoly) : bool :=
  let n := length (gbox g) in
  let l := coordinates n point in
  let mp := qcompose minimal 0 (qvar n) in
  match gfacts g, in_one mp n with
  | [], Some mv =>
    match positive_lead mv with
    | Some (c, m) =>
      some_is (fun times =>
        let (a, b) := halved (coefs (num mp) n) low high times in
        if has_root (coefs (num mp) n) a b then refuted_there n l c m a b g else false)
        [0%nat; 2%nat; 6%nat; 16%nat; 40%nat; 100%nat]
    | None => false
    end
  | _, _ => false
  end.

Theorem refutes_at_root_sound : forall g minimal low high point, refutes_at_root g minimal low high point = true ->
  exists e, dom g e /\ qeval (gpoly g) e < 0.
Proof.
  intros g minimal low high point H. unfold refutes_at_root in H.
  set (n := length (gbox g)) in *. set (l := coordinates n point) in *.
  set (mp := qcompose minimal 0 (qvar n)) in *.
  destruct (gfacts g) as [|f fs] eqn:F; [|discriminate].
  destruct (in_one mp n) as [mv|] eqn:Em; [|discriminate].
  destruct (positive_lead mv) as [[c m]|] eqn:El; [|discriminate].
  apply some_is_ok in H as (times & H). destruct (halved _ low high times) as [a b].
  destruct (has_root (coefs (num mp) n) a b) eqn:Hr; [|discriminate].
  destruct (has_root_ok _ a b (fun _ => 0) Hr) as (t & Ht & Et).
  set (e := upd (fun _ => 0) n t).
  assert (Et' : hval mv (e n) = 0) by (rewrite (in_one_ok mp n mv e Em); unfold e; rewrite coefs_eval; exact Et).
  destruct (positive_lead_ok mv c m (e n) El Et') as [Hc Hm].
  assert (B : Q2R a <= e n <= Q2R b) by (unfold e; rewrite upd_same; assumption).
  assert (S : forall s p, sign_at_root n l c m a b s p = true -> below s 0 (qeval p (place l e))).
  { intros s p. apply sign_at_root_ok; assumption. }
  unfold refuted_there in H. destruct (forallb (end_at_root _ _ _ _ _ _ _) _) eqn:H1 in H; [|discriminate].
  match type of H with (if ?b then _ else _) = true => destruct b eqn:H2; [|discriminate] end.
  exists (place l e). split; [split; [|split]|].
  - intros j i J. rewrite forallb_forall in H1.
    assert (L : (j < length (gbox g))%nat).
    { destruct (Nat.lt_ge_cases j (length (gbox g))) as [|L]; [assumption|].
      unfold at_axis in J. rewrite nth_overflow in J by assumption. discriminate. }
    specialize (H1 j ltac:(apply in_seq; lia)). unfold end_at_root in H1. rewrite J in H1.
    apply andb_prop in H1 as [A C]. apply S in A, C. rewrite qeval_sub, qeval_const, qeval_var in A, C.
    split; [destruct (lopen i) | destruct (hopen i)]; simpl in *; lra.
  - intros d K. rewrite forallb_forall in H2. specialize (H2 d K). destruct d as [[p s]|]; [|exact I].
    simpl. apply S. assumption.
  - intros f K. rewrite F in K. destruct K.
  - apply S in H. simpl in H. rewrite qeval_opp in H. lra.
Qed.
