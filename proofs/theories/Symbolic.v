(** Probabilities as quotients of polynomials: what a program computes from a case.

    A fraction is [top / (low * bottom)], with a whole number [low] > 0 and a polynomial [bottom] that was found to
    be positive on the domain. The polynomials are any for which the operations below are right. *)

From Coq Require Import Reals ZArith List Lra Lia.
From Paramverify Require Import Expressions Sums Programs Privacy.
Import ListNotations.
Local Open Scope R_scope.

(** Polynomials with their operations, on a domain; [positive] and [proved] may fail, and are right when they say so. *)
Record algebra := {
  poly : Type;
  at_point : point -> poly -> R;
  whole : Z -> poly;
  variable : nat -> poly;
  sum : poly -> poly -> poly;
  product : poly -> poly -> poly;
  multiple : Z -> poly -> poly;
  equal : poly -> poly -> bool;
  number : poly -> option Z;
  inside : point -> Prop;
  positive_on : poly -> bool;
  proved : poly -> bool;
  whole_right : forall p z, at_point p (whole z) = IZR z;
  variable_right : forall p k, at_point p (variable k) = p k;
  sum_right : forall p f g, at_point p (sum f g) = at_point p f + at_point p g;
  product_right : forall p f g, at_point p (product f g) = at_point p f * at_point p g;
  multiple_right : forall p z f, at_point p (multiple z f) = IZR z * at_point p f;
  equal_right : forall p f g, equal f g = true -> at_point p f = at_point p g;
  number_right : forall p f z, number f = Some z -> at_point p f = IZR z;
  positive_right : forall p f, positive_on f = true -> inside p -> 0 < at_point p f;
  proved_right : forall p f, proved f = true -> inside p -> 0 <= at_point p f
}.

Section Fractions.
Variable K : algebra.
Notation poly := (poly K).
Notation at_point := (at_point K).

Record fraction := { top : poly; low : positive; bottom : poly }.

Definition amount (p : point) (f : fraction) : R :=
  at_point p (top f) / (IZR (Zpos (low f)) * at_point p (bottom f)).

(** The bottom is positive wherever the parameters may be. *)
Definition proper (f : fraction) : Prop := forall p, inside K p -> 0 < at_point p (bottom f).

Definition one : poly := whole K 1.
Definition of_poly (f : poly) : fraction := {| top := f; low := 1; bottom := one |}.
Definition none : fraction := of_poly (whole K 0).

Definition times_bottoms (f g : poly) : poly :=
  if equal K f one then g else if equal K g one then f else product K f g.

Definition plus_fractions (f g : fraction) : fraction :=
  let '(_, (a, b)) := Pos.ggcd (low f) (low g) in
  if equal K (bottom f) (bottom g) then
    {| top := sum K (multiple K (Zpos b) (top f)) (multiple K (Zpos a) (top g)); low := low f * b; bottom := bottom f |}
  else
    {| top := sum K (multiple K (Zpos b) (product K (top f) (bottom g)))
                    (multiple K (Zpos a) (product K (top g) (bottom f)));
       low := low f * b; bottom := times_bottoms (bottom f) (bottom g) |}.

Definition times_fractions (f g : fraction) : fraction :=
  {| top := product K (top f) (top g); low := low f * low g; bottom := times_bottoms (bottom f) (bottom g) |}.

Definition minus_fraction (f : fraction) : fraction :=
  {| top := multiple K (-1) (top f); low := low f; bottom := bottom f |}.

(** One over a fraction, where its sign is known. *)
Definition inverse (f : fraction) : option fraction :=
  match number K (top f) with
  | Some (Zpos z) => Some {| top := multiple K (Zpos (low f)) (bottom f); low := z; bottom := one |}
  | Some (Zneg z) => Some {| top := multiple K (Zneg (low f)) (bottom f); low := z; bottom := one |}
  | Some Z0 => None
  | None =>
      if positive_on K (top f) then
        Some {| top := multiple K (Zpos (low f)) (bottom f); low := 1; bottom := top f |}
      else
        let g := multiple K (-1) (top f) in
        if positive_on K g then Some {| top := multiple K (Zneg (low f)) (bottom f); low := 1; bottom := g |} else None
  end.

Fixpoint power_of (f : fraction) (n : nat) : fraction :=
  match n with O => of_poly one | S n => times_fractions f (power_of f n) end.

Definition both {A B C} (f : A -> B -> C) (x : option A) (y : option B) : option C :=
  match x, y with Some a, Some b => Some (f a b) | _, _ => None end.

Fixpoint fraction_of (e : expression) : option fraction :=
  match e with
  | Whole z => Some (of_poly (whole K z))
  | Param k => Some (of_poly (variable K k))
  | Plus a b => both plus_fractions (fraction_of a) (fraction_of b)
  | Minus a b => both (fun f g => plus_fractions f (minus_fraction g)) (fraction_of a) (fraction_of b)
  | Times a b => both times_fractions (fraction_of a) (fraction_of b)
  | Over a b =>
      match fraction_of b with
      | Some g => both times_fractions (fraction_of a) (inverse g)
      | None => None
      end
  | Power a n => option_map (fun f => power_of f n) (fraction_of a)
  end.

Lemma low_positive (n : positive) : 0 < IZR (Zpos n).
Proof. apply IZR_lt. reflexivity. Qed.

Lemma at_one p : at_point p one = 1.
Proof. apply whole_right. Qed.

Lemma times_bottoms_right p f g : at_point p (times_bottoms f g) = at_point p f * at_point p g.
Proof.
  unfold times_bottoms. destruct (equal K f one) eqn:E.
  - apply (equal_right K p) in E. rewrite E, at_one. lra.
  - destruct (equal K g one) eqn:E'; [|apply product_right].
    apply (equal_right K p) in E'. rewrite E', at_one. lra.
Qed.

Lemma of_poly_right p f : amount p (of_poly f) = at_point p f.
Proof. unfold amount, of_poly; simpl. rewrite at_one. field. Qed.

Lemma of_poly_proper f : proper (of_poly f).
Proof. intros p _. simpl. rewrite at_one. lra. Qed.

Lemma none_right p : amount p none = 0.
Proof. unfold none. rewrite of_poly_right. apply whole_right. Qed.

Lemma times_proper f g : proper f -> proper g -> proper (times_fractions f g).
Proof.
  intros Hf Hg p Hp. simpl. rewrite times_bottoms_right.
  apply Rmult_lt_0_compat; [apply Hf | apply Hg]; exact Hp.
Qed.

Lemma times_right p f g : proper f -> proper g -> inside K p ->
  amount p (times_fractions f g) = amount p f * amount p g.
Proof.
  intros Hf Hg Hp. specialize (Hf p Hp). specialize (Hg p Hp). unfold amount; simpl.
  rewrite times_bottoms_right, product_right, Pos2Z.inj_mul, mult_IZR.
  pose proof (low_positive (low f)). pose proof (low_positive (low g)). field. repeat split; lra.
Qed.

Lemma plus_proper f g : proper f -> proper g -> proper (plus_fractions f g).
Proof.
  intros Hf Hg p Hp. unfold plus_fractions. destruct (Pos.ggcd (low f) (low g)) as [d [a b]].
  destruct (equal K (bottom f) (bottom g)); simpl; [apply Hf; exact Hp|].
  rewrite times_bottoms_right. apply Rmult_lt_0_compat; [apply Hf | apply Hg]; exact Hp.
Qed.

Lemma plus_right p f g : proper f -> proper g -> inside K p ->
  amount p (plus_fractions f g) = amount p f + amount p g.
Proof.
  intros Hf Hg Hp. specialize (Hf p Hp). specialize (Hg p Hp). unfold plus_fractions.
  pose proof (Pos.ggcd_correct_divisors (low f) (low g)) as H.
  destruct (Pos.ggcd (low f) (low g)) as [d [a b]]. destruct H as [Ha Hb].
  unfold amount.
  pose proof (low_positive d). pose proof (low_positive a). pose proof (low_positive b).
  destruct (equal K (bottom f) (bottom g)) eqn:E; simpl.
  - apply (equal_right K p) in E. rewrite <- E.
    rewrite sum_right, !multiple_right, !Ha, Hb, !Pos2Z.inj_mul, !mult_IZR. field. repeat split; lra.
  - rewrite sum_right, !multiple_right, !product_right, times_bottoms_right, !Ha, Hb, !Pos2Z.inj_mul, !mult_IZR.
    field. repeat split; lra.
Qed.

Lemma minus_proper f : proper f -> proper (minus_fraction f).
Proof. intros Hf p Hp. apply Hf. exact Hp. Qed.

Lemma minus_right p f : proper f -> inside K p -> amount p (minus_fraction f) = - amount p f.
Proof.
  intros Hf Hp. specialize (Hf p Hp). unfold amount; simpl. rewrite multiple_right.
  pose proof (low_positive (low f)). field. split; lra.
Qed.

Lemma inverse_right f g : proper f -> inverse f = Some g ->
  proper g /\ forall p, inside K p -> amount p g = / amount p f.
Proof.
  intros Hf. unfold inverse. destruct (number K (top f)) as [[|z|z]|] eqn:En; intros H; try discriminate.
  - injection H as <-. split; [intros p _; simpl; rewrite at_one; lra|].
    intros p Hp. specialize (Hf p Hp). apply (number_right K p) in En. unfold amount; simpl.
    rewrite En, multiple_right, at_one. pose proof (low_positive (low f)). pose proof (low_positive z).
    field. repeat split; lra.
  - injection H as <-. split; [intros p _; simpl; rewrite at_one; lra|].
    intros p Hp. specialize (Hf p Hp). apply (number_right K p) in En. unfold amount; simpl.
    rewrite En, multiple_right, at_one. pose proof (low_positive (low f)). pose proof (low_positive z).
    change (Zneg z) with (- Zpos z)%Z. change (Zneg (low f)) with (- Zpos (low f))%Z. rewrite !opp_IZR.
    field. repeat split; lra.
  - destruct (positive_on K (top f)) eqn:Ep.
    + injection H as <-. assert (Hpos : forall p, inside K p -> 0 < at_point p (top f)).
      { intros p Hp. apply positive_right; assumption. }
      split; [exact Hpos|]. intros p Hp. specialize (Hf p Hp). specialize (Hpos p Hp). unfold amount; simpl.
      rewrite multiple_right. pose proof (low_positive (low f)). field. repeat split; lra.
    + destruct (positive_on K (multiple K (-1) (top f))) eqn:Em; [|discriminate].
      injection H as <-. assert (Hpos : forall p, inside K p -> 0 < at_point p (multiple K (-1) (top f))).
      { intros p Hp. apply positive_right; assumption. }
      split; [exact Hpos|]. intros p Hp. specialize (Hf p Hp). specialize (Hpos p Hp). unfold amount; simpl.
      rewrite multiple_right in Hpos |- *. rewrite multiple_right. pose proof (low_positive (low f)).
      change (Zneg (low f)) with (- Zpos (low f))%Z. rewrite opp_IZR. field. repeat split; lra.
Qed.

Lemma power_right f n : proper f ->
  proper (power_of f n) /\ forall p, inside K p -> amount p (power_of f n) = amount p f ^ n.
Proof.
  intros Hf. induction n as [|n [IH1 IH2]]; simpl.
  - split; [apply of_poly_proper|]. intros p _. rewrite of_poly_right, at_one. reflexivity.
  - split; [apply times_proper; assumption|]. intros p Hp. rewrite times_right, IH2 by assumption. reflexivity.
Qed.

Lemma fraction_of_right e f : fraction_of e = Some f ->
  proper f /\ forall p, inside K p -> value p e = amount p f.
Proof.
  revert f. induction e; simpl; intros f H.
  - injection H as <-. split; [apply of_poly_proper|]. intros p _. rewrite of_poly_right, whole_right. reflexivity.
  - injection H as <-. split; [apply of_poly_proper|]. intros p _. rewrite of_poly_right, variable_right. reflexivity.
  - destruct (fraction_of e1) as [g1|]; [|discriminate]. destruct (fraction_of e2) as [g2|]; [|discriminate].
    injection H as <-. destruct (IHe1 _ eq_refl) as [P1 V1], (IHe2 _ eq_refl) as [P2 V2].
    split; [apply plus_proper; assumption|]. intros p Hp. rewrite plus_right, V1, V2 by assumption. reflexivity.
  - destruct (fraction_of e1) as [g1|]; [|discriminate]. destruct (fraction_of e2) as [g2|]; [|discriminate].
    injection H as <-. destruct (IHe1 _ eq_refl) as [P1 V1], (IHe2 _ eq_refl) as [P2 V2].
    split; [apply plus_proper; [|apply minus_proper]; assumption|]. intros p Hp.
    rewrite plus_right, minus_right, V1, V2 by (try apply minus_proper; assumption). lra.
  - destruct (fraction_of e1) as [g1|]; [|discriminate]. destruct (fraction_of e2) as [g2|]; [|discriminate].
    injection H as <-. destruct (IHe1 _ eq_refl) as [P1 V1], (IHe2 _ eq_refl) as [P2 V2].
    split; [apply times_proper; assumption|]. intros p Hp. rewrite times_right, V1, V2 by assumption. reflexivity.
  - destruct (fraction_of e2) as [g2|]; [|discriminate]. destruct (fraction_of e1) as [g1|]; [|discriminate].
    destruct (inverse g2) as [i|] eqn:E; [|discriminate].
    injection H as <-. destruct (IHe1 _ eq_refl) as [P1 V1], (IHe2 _ eq_refl) as [P2 V2].
    destruct (inverse_right _ _ P2 E) as [Pi Vi]. split; [apply times_proper; assumption|].
    intros p Hp. rewrite times_right, V1, V2, Vi by assumption. reflexivity.
  - destruct (fraction_of e) as [g|]; [|discriminate]. injection H as <-. destruct (IHe _ eq_refl) as [P V].
    destruct (power_right g n P) as [P' V']. split; [exact P'|]. intros p Hp. rewrite V, V' by assumption. reflexivity.
Qed.

(** The claim that [a <= c * b], as one polynomial that is to be at least zero. *)
Definition claim (c a b : fraction) : poly :=
  let left := product K (top a) (bottom c) in
  let right := product K (top c) (top b) in
  let by_left := Zneg (low b * low c) in
  let by_right := Zpos (low a) in
  if equal K (bottom a) (bottom b) then sum K (multiple K by_right right) (multiple K by_left left)
  else sum K (multiple K by_right (product K right (bottom a))) (multiple K by_left (product K left (bottom b))).

Lemma claim_right p c a b : proper c -> proper a -> proper b -> inside K p ->
  0 <= at_point p (claim c a b) -> amount p a <= amount p c * amount p b.
Proof.
  intros Hc Ha Hb Hp. specialize (Hc p Hp). specialize (Ha p Hp). specialize (Hb p Hp).
  unfold claim, amount.
  change (Zneg (low b * low c)) with (- Zpos (low b * low c))%Z.
  pose proof (low_positive (low a)) as La. pose proof (low_positive (low b)) as Lb. pose proof (low_positive (low c)) as Lc.
  destruct (equal K (bottom a) (bottom b)) eqn:E; intros H.
  - apply (equal_right K p) in E. rewrite E in *.
    rewrite sum_right, !multiple_right, !product_right, opp_IZR, Pos2Z.inj_mul, mult_IZR in H.
    revert H La Lb Lc Hb Hc.
    generalize (IZR (Z.pos (low a))), (IZR (Z.pos (low b))), (IZR (Z.pos (low c))), (at_point p (bottom b)),
      (at_point p (bottom c)), (at_point p (top a)), (at_point p (top b)), (at_point p (top c)).
    intros la lb lc bb bc ta tb tc H La Lb Lc Hb Hc.
    apply (Rmult_le_reg_r (la * lb * lc * bc * bb)); [repeat apply Rmult_lt_0_compat; assumption|].
    replace (ta / (la * bb) * (la * lb * lc * bc * bb)) with (lb * lc * (ta * bc)) by (field; split; lra).
    replace (tc / (lc * bc) * (tb / (lb * bb)) * (la * lb * lc * bc * bb)) with (la * (tc * tb))
      by (field; repeat split; lra). lra.
  - rewrite sum_right, !multiple_right, !product_right, opp_IZR, Pos2Z.inj_mul, mult_IZR in H.
    revert H La Lb Lc Ha Hb Hc.
    generalize (IZR (Z.pos (low a))), (IZR (Z.pos (low b))), (IZR (Z.pos (low c))), (at_point p (bottom a)),
      (at_point p (bottom b)), (at_point p (bottom c)), (at_point p (top a)), (at_point p (top b)), (at_point p (top c)).
    intros la lb lc ba bb bc ta tb tc H La Lb Lc Ha Hb Hc.
    apply (Rmult_le_reg_r (la * lb * lc * bc * (ba * bb))); [repeat apply Rmult_lt_0_compat; assumption|].
    replace (ta / (la * ba) * (la * lb * lc * bc * (ba * bb))) with (lb * lc * (ta * bc * bb)) by (field; split; lra).
    replace (tc / (lc * bc) * (tb / (lb * bb)) * (la * lb * lc * bc * (ba * bb))) with (la * (tc * tb * ba))
      by (field; repeat split; lra). lra.
Qed.

End Fractions.
