(** Theorems about inequalities, in the words of real numbers.

    A file of a case states what it claims with the real numbers of Coq: [a / (b + c) >= 1 / 2]. The tactic [by_claims] reads
    that statement, and finds the claims about polynomials. A tactic may do anything: Coq's kernel sees that the
    statement is what was read. *)

From Coq Require Import Reals ZArith List Lra Bool QArith Qreals.
From Paramverify Require Import Expressions Symbolic Coverings Chains Search Division.
From Paramverify Require Import Poly Goal Certificate Check Sound Case Reader.
Import ListNotations.
Local Open Scope R_scope.

(** ** Formulas, and what is said of them *)

Inductive formula :=
| Number (z : Z)
| Named (k : nat)
| Opposite (a : formula)
| Sum (a b : formula)
| Difference (a b : formula)
| Product (a b : formula)
| Quotient (a b : formula)
| Raised (a : formula) (n : nat).

Fixpoint meaning (p : point) (f : formula) : R :=
  match f with
  | Number z => IZR z
  | Named k => p k
  | Opposite a => - meaning p a
  | Sum a b => meaning p a + meaning p b
  | Difference a b => meaning p a - meaning p b
  | Product a b => meaning p a * meaning p b
  | Quotient a b => meaning p a / meaning p b
  | Raised a n => meaning p a ^ n
  end.

Inductive statement :=
| At_most (a b : formula)
| Below (a b : formula)
| At_least (a b : formula)
| Above (a b : formula)
| Same (a b : formula)
| Not_zero (a : formula)
| All (s t : statement).

Fixpoint says (p : point) (s : statement) : Prop :=
  match s with
  | At_most a b => meaning p a <= meaning p b
  | Below a b => meaning p a < meaning p b
  | At_least a b => meaning p a >= meaning p b
  | Above a b => meaning p a > meaning p b
  | Same a b => meaning p a = meaning p b
  | Not_zero a => meaning p a <> 0
  | All s t => says p s /\ says p t
  end.

Fixpoint plain_of (f : formula) : expression :=
  match f with
  | Number z => Whole z
  | Named k => Param k
  | Opposite a => Times (Whole (-1)) (plain_of a)
  | Sum a b => Plus (plain_of a) (plain_of b)
  | Difference a b => Minus (plain_of a) (plain_of b)
  | Product a b => Times (plain_of a) (plain_of b)
  | Quotient a b => Over (plain_of a) (plain_of b)
  | Raised a n => Power (plain_of a) n
  end.

Lemma plain_of_right p f : value p (plain_of f) = meaning p f.
Proof. induction f; simpl; try congruence. rewrite IHf. lra. Qed.

(** ** The claims about polynomials *)

Section Claims.
Import Symbolic.
Variable K : algebra.
Notation fraction := (fraction K).

(** Of a and b, both of them fractions with a positive denominator: a <= b, a < b, and a <> 0. *)
Definition unit_fraction : fraction := of_poly K (Symbolic.one K).
Definition gap (a b : fraction) : Symbolic.poly K := Symbolic.claim K unit_fraction a b.

Definition least (a b : option fraction) : bool :=
  match a, b with Some a, Some b => proved K (gap a b) | _, _ => false end.
Definition less (a b : option fraction) : bool :=
  match a, b with Some a, Some b => positive_on K (gap a b) | _, _ => false end.
Definition apart (a : option fraction) : bool :=
  match a with Some a => match inverse K a with Some _ => true | None => false end | None => false end.

Fixpoint keeps (s : statement) : bool :=
  match s with
  | At_most a b => least (fraction_of K (plain_of a)) (fraction_of K (plain_of b))
  | Below a b => less (fraction_of K (plain_of a)) (fraction_of K (plain_of b))
  | At_least a b => least (fraction_of K (plain_of b)) (fraction_of K (plain_of a))
  | Above a b => less (fraction_of K (plain_of b)) (fraction_of K (plain_of a))
  | Same a b =>
      let f := fraction_of K (plain_of a) in let g := fraction_of K (plain_of b) in
      if least f g then least g f else false
  | Not_zero a => apart (fraction_of K (plain_of a))
  | All s t => if keeps s then keeps t else false
  end.

Lemma unit_proper : proper K unit_fraction.
Proof. apply of_poly_proper. Qed.

Lemma unit_amount p : amount K p unit_fraction = 1.
Proof. unfold unit_fraction. rewrite of_poly_right. apply at_one. Qed.

Lemma least_right p a b : least (fraction_of K (plain_of a)) (fraction_of K (plain_of b)) = true -> inside K p ->
  meaning p a <= meaning p b.
Proof.
  unfold least. intros H Hp. destruct (fraction_of K (plain_of a)) as [f|] eqn:Ea; [|discriminate].
  destruct (fraction_of K (plain_of b)) as [g|] eqn:Eb; [|discriminate].
  destruct (fraction_of_right K _ _ Ea) as [Pf Vf], (fraction_of_right K _ _ Eb) as [Pg Vg].
  rewrite <- !plain_of_right, Vf, Vg by exact Hp. rewrite <- (Rmult_1_l (amount K p g)), <- (unit_amount p).
  apply claim_right; [apply unit_proper | exact Pf | exact Pg | exact Hp | apply proved_right; assumption].
Qed.

Lemma cross (x y a b : R) : a <> 0 -> b <> 0 -> x / a = y / b -> x * b = y * a.
Proof. intros A B H. replace x with (x / a * a) by (field; exact A). rewrite H. field. exact B. Qed.

(** The claim is the difference of both sides times positive numbers. *)
Lemma gap_equal p a b : proper K a -> proper K b -> inside K p -> amount K p a = amount K p b ->
  at_point K p (gap a b) = 0.
Proof.
  intros Pa Pb Hp H. specialize (Pa p Hp). specialize (Pb p Hp).
  pose proof (low_positive (low K a)) as La. pose proof (low_positive (low K b)) as Lb. unfold amount in H.
  apply cross in H; [|apply Rgt_not_eq, Rmult_lt_0_compat; assumption | apply Rgt_not_eq, Rmult_lt_0_compat; assumption].
  unfold gap, claim, unit_fraction, of_poly; simpl.
  rewrite Pos.mul_1_r. change (Zneg (low K b)) with (- Zpos (low K b))%Z.
  destruct (equal K (bottom K a) (bottom K b)) eqn:E;
    rewrite ?sum_right, ?multiple_right, ?product_right, ?at_one, opp_IZR.
  - apply (equal_right K p) in E. rewrite E in H. apply (Rmult_eq_reg_r (at_point K p (bottom K b))); lra.
  - lra.
Qed.

Lemma less_right p a b : less (fraction_of K (plain_of a)) (fraction_of K (plain_of b)) = true -> inside K p ->
  meaning p a < meaning p b.
Proof.
  unfold less. intros H Hp. destruct (fraction_of K (plain_of a)) as [f|] eqn:Ea; [|discriminate].
  destruct (fraction_of K (plain_of b)) as [g|] eqn:Eb; [|discriminate].
  destruct (fraction_of_right K _ _ Ea) as [Pf Vf], (fraction_of_right K _ _ Eb) as [Pg Vg].
  pose proof (positive_right K p _ H Hp) as G. rewrite <- !plain_of_right, Vf, Vg by exact Hp.
  destruct (Rle_lt_or_eq_dec (amount K p f) (amount K p g)) as [L|L]; [|exact L|].
  - rewrite <- (Rmult_1_l (amount K p g)), <- (unit_amount p).
    apply claim_right; [apply unit_proper | exact Pf | exact Pg | exact Hp | apply Rlt_le; exact G].
  - rewrite (gap_equal p f g Pf Pg Hp L) in G. lra.
Qed.

Lemma apart_right p a : apart (fraction_of K (plain_of a)) = true -> inside K p -> meaning p a <> 0.
Proof.
  unfold apart. intros H Hp Z. destruct (fraction_of K (plain_of a)) as [f|] eqn:Ea; [|discriminate].
  destruct (inverse K f) as [g|] eqn:E; [|discriminate]. destruct (fraction_of_right K _ _ Ea) as [Pf Vf].
  rewrite <- plain_of_right, Vf in Z by exact Hp. specialize (Pf p Hp).
  pose proof (low_positive (low K f)) as L. unfold inverse in E.
  assert (T : at_point K p (top K f) = 0).
  { unfold amount in Z. apply (Rmult_eq_compat_r (IZR (Zpos (low K f)) * at_point K p (bottom K f))) in Z.
    rewrite Rmult_0_l in Z. unfold Rdiv in Z. rewrite Rmult_assoc, Rinv_l, Rmult_1_r in Z; [exact Z|].
    apply Rgt_not_eq, Rmult_lt_0_compat; assumption. }
  destruct (number K (top K f)) as [[|z|z]|] eqn:N; [discriminate| | |].
  - apply (number_right K p) in N. rewrite T in N. apply eq_IZR in N. discriminate.
  - apply (number_right K p) in N. rewrite T in N. apply eq_IZR in N. discriminate.
  - destruct (positive_on K (top K f)) eqn:P; [apply (positive_right K p) in P; [lra | exact Hp]|].
    destruct (positive_on K (multiple K (-1) (top K f))) eqn:M; [|discriminate].
    apply (positive_right K p) in M; [|exact Hp]. rewrite multiple_right in M. lra.
Qed.

Theorem keeps_right p s : keeps s = true -> inside K p -> says p s.
Proof.
  induction s as [a b|a b|a b|a b|a b|a|s IHs t IHt]; simpl; intros H Hp.
  - apply least_right; assumption.
  - apply less_right; assumption.
  - apply Rle_ge, least_right; assumption.
  - apply Rlt_gt, less_right; assumption.
  - destruct (least (fraction_of K (plain_of a)) (fraction_of K (plain_of b))) eqn:E; [|discriminate].
    apply Rle_antisym; apply least_right; assumption.
  - apply apart_right; assumption.
  - destruct (keeps s) eqn:E; [|discriminate]. split; [apply IHs | apply IHt]; auto.
Qed.
End Claims.

(** ** Polynomials that are shown to be positive by proofs *)

Section More.
Import Symbolic.
Variable K : algebra.
Variables more_positive more_proved : Symbolic.poly K -> bool.
Hypothesis more_positive_right : forall p f, more_positive f = true -> inside K p -> 0 < at_point K p f.
Hypothesis more_proved_right : forall p f, more_proved f = true -> inside K p -> 0 <= at_point K p f.

Definition with_more : algebra := {|
  Symbolic.poly := Symbolic.poly K;
  at_point := at_point K;
  whole := whole K;
  variable := variable K;
  sum := sum K;
  product := product K;
  multiple := multiple K;
  equal := equal K;
  number := number K;
  inside := inside K;
  positive_on := fun f => if positive_on K f then true else more_positive f;
  proved := fun f => if proved K f then true else more_proved f;
  whole_right := whole_right K;
  variable_right := variable_right K;
  sum_right := sum_right K;
  product_right := product_right K;
  multiple_right := multiple_right K;
  equal_right := equal_right K;
  number_right := number_right K;
  positive_right := fun p f =>
    match positive_on K f as b return positive_on K f = b -> (if b then true else more_positive f) = true -> inside K p ->
      0 < at_point K p f with
    | true => fun E _ => positive_right K p f E
    | false => fun _ => more_positive_right p f
    end eq_refl;
  proved_right := fun p f =>
    match proved K f as b return proved K f = b -> (if b then true else more_proved f) = true -> inside K p ->
      0 <= at_point K p f with
    | true => fun E _ => proved_right K p f E
    | false => fun _ => more_proved_right p f
    end eq_refl
|}.
End More.

(** A polynomial f with a proof that no point of the domain has -f >= 0. *)
Definition positive_proof := (qpoly * cert)%type.

Section Certificate.
Variable c : certificate.
Variable positives : list positive_proof.

Definition no_point (b : box) (f : qpoly) : goal := with_cond (domain_in c b (Pc (-1))) (Some (qopp f, false)).

Definition strict_in (b : box) (l : list goal) : list Chains.poly :=
  map (fun part => num (fst part)) (filter (fun part => check max_depth l (no_point b (fst part)) (snd part)) positives).
Definition strict : list Chains.poly := strict_in (enclosed c) (known c).

Lemma strict_right p f : In f strict -> domain c p -> 0 < eval f p.
Proof.
  unfold strict, strict_in. intros H Hp. apply in_map_iff in H. destruct H as [[q d] [E H]]. simpl in E.
  apply filter_In in H. destruct H as [_ H]. cbn [fst snd] in H.
  apply (check_sound _ _ _ _ (known_hold c)) in H.
  assert (Q : 0 < qeval q p).
  { destruct (Rlt_le_dec 0 (qeval q p)) as [L|L]; [exact L|]. exfalso.
    specialize (H p). assert (D : dom (no_point (enclosed c) q) p).
    { apply dom_with_cond; [exact Hp|]. simpl. rewrite qeval_opp. lra. }
    specialize (H D). change (0 <= qeval (QP (Pc (-1)) 1) p) in H. rewrite eval_over_one in H. simpl in H. lra. }
  apply qeval_pos in Q. rewrite <- E. exact Q.
Qed.

(** Positive: in proportion to a proved one; or a product of such. *)
Definition in_proportion (good : list Chains.poly) (f : Chains.poly) : bool := any (proportional f) good.

Lemma in_proportion_right good p f : (forall g, In g good -> 0 < eval g p) -> in_proportion good f = true -> 0 < eval f p.
Proof.
  intros G H. apply any_right in H. destruct H as [g [Hin H]]. apply proportional_ok in H.
  destruct H as [a [b [A [B E]]]]. specialize (E p). specialize (G g Hin).
  apply Rmult_lt_reg_l with a; [exact A|]. rewrite E, Rmult_0_r. apply Rmult_lt_0_compat; assumption.
Qed.

Definition shown_above (b : box) (l : list goal) (good : list Chains.poly) (f : Chains.poly) : bool :=
  if in_proportion good f then true
  else any (multiple_by (fun h => if shown_positive c b l h then true else in_proportion good h) f) good.

Lemma shown_above_right p f : shown_above (enclosed c) (known c) strict f = true -> domain c p -> 0 < eval f p.
Proof.
  unfold shown_above. intros H Hp. assert (G : forall g, In g strict -> 0 < eval g p) by (intros; apply strict_right; assumption).
  destruct (in_proportion strict f) eqn:E; [apply (in_proportion_right _ _ _ G E)|].
  apply any_right in H. destruct H as [g [Hin H]]. apply multiple_by_right in H. destruct H as [s [h [S [H V]]]].
  specialize (V p). specialize (G g Hin) as Gg.
  assert (P : 0 < eval h p).
  { destruct (shown_positive c (enclosed c) (known c) h) eqn:Eh; [exact (shown_positive_right c p h Eh Hp)|].
    exact (in_proportion_right _ _ _ G H). }
  apply Rmult_lt_reg_l with s; [exact S|]. rewrite V, Rmult_0_r. apply Rmult_lt_0_compat; assumption.
Qed.

(** At least zero: a proved one times a positive one, or positive. *)
Definition shown_least (b : box) (l : list goal) (good above : list Chains.poly) (f : Chains.poly) : bool :=
  if shown_above b l above f then true else any (multiple_by (in_proportion above) f) good.

Lemma shown_least_right p f :
  shown_least (enclosed c) (known c) (accepted c (enclosed c) (known c)) strict f = true -> domain c p -> 0 <= eval f p.
Proof.
  unfold shown_least. intros H Hp.
  destruct (shown_above (enclosed c) (known c) strict f) eqn:E; [apply Rlt_le, shown_above_right; assumption|].
  apply any_right in H. destruct H as [g [Hin H]]. apply multiple_by_right in H. destruct H as [s [h [S [H V]]]].
  specialize (V p). apply (accepted_right c p g) in Hin; [|exact Hp].
  assert (P : 0 < eval h p) by (apply (in_proportion_right strict); [intros; apply strict_right|]; assumption).
  apply Rmult_le_reg_l with s; [exact S|]. rewrite V, Rmult_0_r. apply Rmult_le_pos; lra.
Qed.

Definition full_algebra : algebra :=
  let b := enclosed c in let l := known c in let good := accepted c b l in let above := strict_in b l in
  with_more (algebra_of c) (shown_above b l above) (shown_least b l good above)
    (fun p f => shown_above_right p f) (fun p f => shown_least_right p f).

Definition claimed (s : statement) : bool := keeps full_algebra s.

Theorem claims_theorem s : claimed s = true -> forall values, in_domain c values -> says (at_values values) s.
Proof.
  intros H values Hv. apply (keeps_right full_algebra); [exact H|].
  change (domain c (at_values values)). apply in_domain_right. exact Hv.
Qed.
End Certificate.

Definition positives_of (width : nat) (text : texts) : list positive_proof :=
  let proof := read_cert width deepest in
  read_all (read_list (f <~ read_qpoly width; d <~ proof; give (f, d))) text.

(** ** From a statement about real numbers to [says], by looking at it *)

Ltac place_of x l :=
  match l with
  | x :: _ => constr:(O)
  | _ :: ?l => let n := place_of x l in constr:(S n)
  end.

Ltac formula_of l t :=
  match t with
  | IZR ?z => constr:(Number z)
  | Ropp ?a => let x := formula_of l a in constr:(Opposite x)
  | Rplus ?a ?b => let x := formula_of l a in let y := formula_of l b in constr:(Sum x y)
  | Rminus ?a ?b => let x := formula_of l a in let y := formula_of l b in constr:(Difference x y)
  | Rmult ?a ?b => let x := formula_of l a in let y := formula_of l b in constr:(Product x y)
  | Rdiv ?a ?b => let x := formula_of l a in let y := formula_of l b in constr:(Quotient x y)
  | pow ?a ?n => let x := formula_of l a in constr:(Raised x n)
  | _ => let k := place_of t l in constr:(Named k)
  end.

Ltac statement_of l t :=
  match t with
  | ?s /\ ?t => let x := statement_of l s in let y := statement_of l t in constr:(All x y)
  | Rle ?a ?b => let x := formula_of l a in let y := formula_of l b in constr:(At_most x y)
  | Rlt ?a ?b => let x := formula_of l a in let y := formula_of l b in constr:(Below x y)
  | Rge ?a ?b => let x := formula_of l a in let y := formula_of l b in constr:(At_least x y)
  | Rgt ?a ?b => let x := formula_of l a in let y := formula_of l b in constr:(Above x y)
  | ?a <> 0 => let x := formula_of l a in constr:(Not_zero x)
  | @eq R ?a ?b => let x := formula_of l a in let y := formula_of l b in constr:(Same x y)
  end.

(** As [by_domain], where the logarithm of a parameter is known to be linear in another one. *)
Ltac by_logarithms :=
  let d := fresh "condition" in
  let f := fresh "constant" in
  let H := fresh "among" in
  split;
  [cbn; unfold Goal.inside, Goal.below, Q2R; cbn; repeat split; lra
  | split;
    [intros d H; cbn in H;
     repeat (destruct H as [<-|H];
             [unfold cond_holds, Goal.below, qeval, at_values; simpl; unfold shift; simpl; lra |]); contradiction
    | intros f H; cbn in H;
      repeat (destruct H as [<-|H]; [unfold fact_holds, at_values, Q2R; simpl; first [split; lra | f_equal; lra] |]);
      contradiction]].

(** Proves what is claimed of the values [l] of the parameters. *)
Ltac by_claims evidence positives l :=
  match goal with
  | |- ?t =>
      let s := statement_of l t in
      refine (claims_theorem evidence positives s _ l _);
      [vm_cast_no_check (eq_refl true) | first [by_domain | by_logarithms]]
  end.

(** ** Exponentials *)

Lemma exp_power (t : R) (n : nat) : exp t ^ n = exp (IZR (Z.of_nat n) * t).
Proof.
  rewrite <- INR_IZR_INZ. induction n as [|n IH]; [simpl; rewrite Rmult_0_l, exp_0; reflexivity|].
  rewrite S_INR, Rmult_plus_distr_r, Rmult_1_l, exp_plus, <- IH. simpl. ring.
Qed.

Lemma exp_quotient (s t : R) : exp s / exp t = exp (s - t).
Proof. unfold Rminus, Rdiv. rewrite exp_plus, exp_Ropp. reflexivity. Qed.

Lemma one_over_exp (t : R) : 1 / exp t = exp (- t).
Proof. rewrite exp_Ropp. unfold Rdiv. ring. Qed.

Lemma exp_inside (t : R) : 0 < t -> 0 < exp (- t) < 1.
Proof. intros H. split; [apply exp_pos|]. rewrite <- exp_0. apply exp_increasing. lra. Qed.

(** That an exponential is a product of powers of others, or a quotient of such. *)
Ltac by_exponents :=
  rewrite ?exp_power; rewrite <- ?exp_plus; rewrite ?exp_quotient, ?one_over_exp;
  first [f_equal; cbn [Z.of_nat Pos.of_succ_nat Pos.succ]; lra | rewrite <- exp_0; f_equal; lra].

(** Gives exp (-t), for t > 0, the name x. *)
Ltac of_exponential t x :=
  let H := fresh "inside" in
  let L := fresh "logarithm" in
  let E := fresh "named" in
  pose proof (exp_inside t ltac:(lra)) as H;
  pose proof (ln_exp (- t)) as L;
  remember (exp (- t)) as x eqn:E in *; clear E.
