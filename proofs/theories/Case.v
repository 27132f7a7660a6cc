(** From certificates to theorems about cases.

    A certificate has polynomials with proofs. The claims of a case are computed from its model, and each has to be
    one of these polynomials, up to a positive factor, or plainly at least zero, or a product of two such ones. *)

From Coq Require Import Reals ZArith List Lra Lia Bool QArith Qreals.
From Paramverify Require Import Expressions Sums Programs Privacy Symbolic OneShot Hmm Coverings Sequences Search.
From Paramverify Require Import Poly Multiples Goal Certificate RuleExponential Check Sound Division.
Import ListNotations.
Local Open Scope R_scope.

Record certificate := {
  intervals : box;  (* of the parameters, by their numbers *)
  conditions : list cond;
  constants : list fact;  (* which variable stands for exp(q) *)
  lemmas : list (goal * cert);
  enclosure : option (Q * Q);  (* of exp(q) *)
  parts : list (poly * cert)
}.

Section Certificate.
Variable c : certificate.

(** The intervals, and one around exp(q) where it is checked to be there. *)
Definition enclosed : box :=
  match find_exp (constants c), enclosure c with
  | Some (k, q), Some (low, high) =>
      if encloses q low high then set_axis (intervals c) k (Some (Iv low high false false)) else intervals c
  | _, _ => intervals c
  end.

(** The box and the lemmas are arguments below, so that they are computed once. *)
Definition domain_in (b : box) (f : poly) : goal := Goal (QP f 1) b (conditions c) (constants c).
Definition domain_of (f : poly) : goal := domain_in enclosed f.

(** Where the parameters may be. *)
Definition domain (p : point) : Prop := dom (domain_of (Pc 0)) p.

Definition known : list goal :=
  match check_lemmas max_depth [] (lemmas c) with Some found => found | None => [] end.

Lemma known_hold : forall g, In g known -> holds g.
Proof.
  unfold known. destruct (check_lemmas max_depth [] (lemmas c)) as [found|] eqn:E; [|intros g []].
  apply (check_lemmas_sound max_depth (lemmas c) []); [intros g [] | exact E].
Qed.

(** The polynomials whose proofs are accepted. *)
Definition accepted (b : box) (l : list goal) : list poly :=
  map fst (filter (fun part => check max_depth l (domain_in b (fst part)) (snd part)) (parts c)).

Definition plain (b : box) (l : list goal) (f : poly) : bool := check max_depth l (domain_in b f) (CBernstein TLeaf).

Definition shown (b : box) (l : list goal) (good : list poly) (i : index) (f : poly) : bool :=
  match f with
  | Pc z => (0 <=? z)%Z
  | _ =>
      if indexed (primitive f) i then true else if plain b l f then true
      else if any (proportional f) good then true else any (multiple_by (plain b l) f) good
  end.

Definition shown_positive (b : box) (l : list goal) (f : poly) : bool :=
  check max_depth l (with_cond (domain_in b (Pc (-1))) (Some (QP (popp f) 1, false)))
        (CBernstein (TOutside (length (conditions c)))).

Definition number_of (f : poly) : option Z := match f with Pc z => Some z | _ => None end.

Lemma eval_over_one f p : qeval (QP f 1) p = eval f p.
Proof. unfold qeval; simpl. field. Qed.

Lemma domain_any f p : domain p -> dom (domain_of f) p.
Proof. intros H. exact H. Qed.

Lemma checked_right f d p : check max_depth known (domain_of f) d = true -> domain p -> 0 <= eval f p.
Proof.
  intros H Hp. pose proof (check_sound max_depth known (domain_of f) d known_hold H p Hp) as G.
  change (gpoly (domain_of f)) with (QP f 1) in G. rewrite eval_over_one in G. exact G.
Qed.

Lemma accepted_right p g : In g (accepted enclosed known) -> domain p -> 0 <= eval g p.
Proof.
  intros Hin Hp. unfold accepted in Hin.
  apply in_map_iff in Hin. destruct Hin as [[g' d] [Heq Hin]]. simpl in Heq. subst g'.
  apply filter_In in Hin. destruct Hin as [_ Hd]. exact (checked_right g d p Hd Hp).
Qed.

Lemma plain_right p f : plain enclosed known f = true -> domain p -> 0 <= eval f p.
Proof. intros H Hp. exact (checked_right f _ p H Hp). Qed.

(** The polynomials whose proofs are accepted, to look for others among them. *)
Definition accepted_index (good : list poly) : index := index_of (map primitive good).

Lemma shown_right p f :
  shown enclosed known (accepted enclosed known) (accepted_index (accepted enclosed known)) f = true ->
  domain p -> 0 <= eval f p.
Proof.
  intros H Hp. destruct f as [z|f1 f2]; [apply Z.leb_le, IZR_le in H; exact H|].
  set (f := PX f1 f2) in *.
  change (shown enclosed known (accepted enclosed known) (accepted_index (accepted enclosed known)) f) with
    (if indexed (primitive f) (accepted_index (accepted enclosed known)) then true
     else if plain enclosed known f then true
     else if any (proportional f) (accepted enclosed known) then true
     else any (multiple_by (plain enclosed known) f) (accepted enclosed known)) in H.
  destruct (indexed (primitive f) _) eqn:E1.
  { apply indexed_ok, in_map_iff in E1. destruct E1 as [g [E Hin]]. apply (accepted_right p) in Hin; [|exact Hp].
    destruct (primitive_ok f) as [a [Ha Va]]. destruct (primitive_ok g) as [b [Hb Vb]].
    rewrite Va, <- E. rewrite Vb in Hin. apply Rmult_le_pos; [lra|].
    apply (Rmult_le_reg_l b); [exact Hb|]. lra. }
  destruct (plain enclosed known f) eqn:E2; [apply plain_right; assumption|].
  destruct (any (proportional f) _) eqn:E3; apply any_right in E3 || apply any_right in H.
  - destruct E3 as [g [Hin Hg]]. apply (accepted_right p) in Hin; [|exact Hp].
    apply proportional_ok in Hg. destruct Hg as [a [b [Ha [Hb Hab]]]]. specialize (Hab p).
    apply (Rmult_le_reg_l a); [exact Ha|]. rewrite Rmult_0_r, Hab. apply Rmult_le_pos; [lra | exact Hin].
  - destruct H as [g [Hin H]]. apply (accepted_right p) in Hin; [|exact Hp].
    apply multiple_by_right in H. destruct H as [s [h [Hs [H E]]]]. apply plain_right with (p := p) in H; [|exact Hp].
    specialize (E p). assert (0 <= s * eval f p) by (rewrite E; apply Rmult_le_pos; assumption).
    apply (Rmult_le_reg_l s); [exact Hs|]. lra.
Qed.

Lemma shown_positive_right p f : shown_positive enclosed known f = true -> domain p -> 0 < eval f p.
Proof.
  intros H Hp. destruct (Rlt_le_dec 0 (eval f p)) as [L|L]; [exact L|]. exfalso.
  pose proof (check_sound max_depth known _ _ known_hold H) as G.
  assert (D : dom (with_cond (domain_of (Pc (-1))) (Some (QP (popp f) 1, false))) p).
  { apply dom_with_cond; [exact Hp|]. simpl. rewrite eval_over_one, eval_popp. lra. }
  specialize (G p D). change (0 <= qeval (QP (Pc (-1)) 1) p) in G. rewrite eval_over_one in G. simpl in G. lra.
Qed.

Definition algebra_of : algebra :=
  let b := enclosed in let l := known in let good := accepted b l in
  let i := accepted_index good in {|
    Symbolic.poly := Chains.poly;
    at_point := fun p f => eval f p;
    whole := Pc;
    variable := var;
    sum := padd;
    product := pmul;
    multiple := pscale;
    equal := peq;
    number := number_of;
    Symbolic.inside := domain;
    positive_on := shown_positive b l;
    proved := shown b l good i;
    whole_right := fun p z => eq_refl;
    variable_right := fun p k => eval_var k p;
    sum_right := fun p f g => eval_padd f g p;
    product_right := fun p f g => eval_pmul f g p;
    multiple_right := fun p z f => eval_pscale z f p;
    equal_right := fun p f g H => peq_eval f g H p;
    number_right := fun p f z => match f return number_of f = Some z -> eval f p = IZR z with
                                 | Pc z' => fun H => f_equal IZR (f_equal (fun o => match o with Some x => x | None => z' end) H)
                                 | PX _ _ => fun H => match (eq_ind None (fun o => match o with None => True | Some _ => False end) I _ H) with end
                                 end;
    positive_right := shown_positive_right;
    proved_right := shown_right
  |}.

End Certificate.

(** ** The theorems that files of cases use *)

(** That parameters are in their intervals, one after the other. *)
Fixpoint in_ranges (b : box) (values : list R) : Prop :=
  match b, values with
  | [], _ => True
  | None :: b, _ :: values => in_ranges b values
  | Some i :: b, v :: values => Goal.inside i v /\ in_ranges b values
  | _ :: _, [] => False
  end.

Lemma in_ranges_right b values : in_ranges b values -> in_box b (at_values values).
Proof.
  revert values. induction b as [|[i|] b IH]; intros values H k j Hk.
  - unfold at_axis in Hk. destruct k; discriminate.
  - destruct values as [|v values]; [destruct H|]. destruct H as [H1 H2]. destruct k as [|k].
    + injection Hk as <-. exact H1.
    + apply (IH values H2 k j Hk).
  - destruct values as [|v values]; [destruct H|]. destruct k as [|k]; [discriminate|]. apply (IH values H k j Hk).
Qed.

Definition in_domain (c : certificate) (values : list R) : Prop :=
  in_ranges (intervals c) values /\
  (forall d, In d (conditions c) -> cond_holds (at_values values) d) /\
  (forall f, In f (constants c) -> fact_holds (at_values values) f).

Lemma enclosed_right c p : in_box (intervals c) p -> (forall f, In f (constants c) -> fact_holds p f) ->
  in_box (enclosed c) p.
Proof.
  intros Hb Hf. unfold enclosed. destruct (find_exp (constants c)) as [[k q]|] eqn:E; [|exact Hb].
  destruct (enclosure c) as [[low high]|]; [|exact Hb]. destruct (encloses q low high) eqn:E'; [|exact Hb].
  apply in_box_set; [exact Hb|]. intros j H. injection H as <-. apply find_exp_ok in E. apply Hf in E. simpl in E.
  unfold Goal.inside; simpl. rewrite E. apply encloses_ok. exact E'.
Qed.

Lemma in_domain_right c values : in_domain c values -> domain c (at_values values).
Proof.
  intros [H1 [H2 H3]]. split; [apply enclosed_right; [apply in_ranges_right; exact H1 | exact H3] | split; assumption].
Qed.

Definition certified (c : certificate) (claims : algebra -> bool) : bool := claims (algebra_of c).

Theorem pufferfish_theorem c prior mechanism pairs ratio :
  certified c (fun K => keeps_pufferfish K prior mechanism pairs ratio) = true ->
  forall values, in_domain c values ->
  pufferfish (at_values values) prior mechanism (value (at_values values) ratio) pairs.
Proof.
  intros H values Hv. apply (pufferfish_proved (algebra_of c)); [exact H | apply in_domain_right; exact Hv].
Qed.

Definition keeps_first_outputs K prior mechanism lengths pairs ratio : bool :=
  forallb (fun k => keeps_pufferfish K prior (first_outputs k mechanism) pairs ratio) lengths.

Theorem first_outputs_theorem c prior mechanism lengths pairs ratio :
  certified c (fun K => keeps_first_outputs K prior mechanism lengths pairs ratio) = true ->
  forall values, in_domain c values -> forall k, In k lengths ->
  pufferfish (at_values values) prior (first_outputs k mechanism) (value (at_values values) ratio) pairs.
Proof.
  intros H values Hv k Hk. unfold certified, keeps_first_outputs in H. rewrite forallb_forall in H.
  apply (pufferfish_proved (algebra_of c)); [apply H; exact Hk | apply in_domain_right; exact Hv].
Qed.

Theorem differential_privacy_theorem c mechanism neighbours ratio :
  certified c (fun K => keeps_differential K mechanism neighbours ratio) = true ->
  forall values, in_domain c values ->
  differentially_private (at_values values) mechanism (value (at_values values) ratio) neighbours.
Proof.
  intros H values Hv. apply (differential_privacy_proved (algebra_of c)); [exact H | apply in_domain_right; exact Hv].
Qed.

Theorem lengths_theorem c h lengths pairs ratio :
  certified c (fun K => keeps_lengths K h lengths ratio pairs) = true ->
  forall values, in_domain c values ->
  sequences_private (at_values values) h (fun word => In (length word) lengths) (value (at_values values) ratio) pairs.
Proof.
  intros H values Hv. apply (lengths_proved (algebra_of c) h); [exact H | apply in_domain_right; exact Hv].
Qed.

Theorem every_length_theorem c h k pairs ratio :
  certified c (fun K => keeps_every_length K h k ratio pairs) = true ->
  forall values, in_domain c values ->
  sequences_private (at_values values) h of_any_length (value (at_values values) ratio) pairs.
Proof.
  intros H values Hv. apply (every_length_proved (algebra_of c) h k); [exact H | apply in_domain_right; exact Hv].
Qed.

(** Shows that parameters are where the theorem says, in the words of the certificate. *)
Ltac by_domain :=
  let d := fresh "condition" in
  let f := fresh "constant" in
  let H := fresh "among" in
  split;
  [cbn; unfold Goal.inside, Goal.below, Q2R; cbn; repeat split; lra
  | split;
    [intros d H; cbn in H;
     repeat (destruct H as [<-|H];
             [unfold cond_holds, Goal.below, qeval, at_values;
              first [cbn; unfold shift; cbn; lra | simpl; unfold shift; simpl; lra] |]); contradiction
    | intros f H; cbn in H;
      repeat (destruct H as [<-|H];
              [unfold fact_holds, at_values, Q2R; first [cbn; f_equal; lra | simpl; split; [lra | field]] |]);
      contradiction]].
