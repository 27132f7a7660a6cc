(** From certificates about sums of positive parts to theorems about cases with a delta. *)

From Coq Require Import Reals ZArith List Lra Bool QArith Qreals String.
From Paramverify Require Import Expressions Sums Programs Privacy Symbolic Hmm Excesses SetClaims Case Reader.
From Paramverify Require Import Poly Multiples Goal Certificate Check Sound Sets.
Import ListNotations.
Local Open Scope R_scope.

(** What a sum is at most, its terms, and a tree that shows it. *)
Definition sum_proof := (qpoly * list qpoly * set_tree)%type.

(** How many times a term a polynomial is. *)
Definition multiple_of (f : Chains.poly) (t : qpoly) : option Q :=
  if is_zero f then Some 0%Q
  else
    let a := lead f in
    let b := lead (num t) in
    match Z.abs b with
    | Zpos d =>
        if Z.ltb 0 (a * b)
        then if same_multiple (Zpos d) (Z.abs a) f (num t) then Some (Z.abs a * Zpos (pden t) # d)%Q else None
        else None
    | _ => None
    end.

Lemma multiple_of_right f t q : multiple_of f t = Some q -> 0 <= Q2R q /\ forall p, eval f p = Q2R q * qeval t p.
Proof.
  unfold multiple_of. destruct (is_zero f) eqn:E.
  { intros H. injection H as <-. replace (Q2R 0) with 0 by (unfold Q2R; simpl; lra). split; [lra|].
    intros p. rewrite (is_zero_eval f E). lra. }
  destruct (Z.abs (lead (num t))) as [|d|d]; try discriminate.
  destruct (Z.ltb 0 _); [|discriminate]. destruct (same_multiple _ _ f (num t)) eqn:H'; [|discriminate].
  intros H. injection H as <-. unfold Q2R; cbn [Qnum Qden]. rewrite mult_IZR.
  assert (A : 0 <= IZR (Z.abs (lead f))) by (apply IZR_le, Z.abs_nonneg).
  pose proof (low_positive (pden t)) as L. pose proof (low_positive d) as M.
  split.
  - apply Rmult_le_pos; [apply Rmult_le_pos; lra|]. left. apply Rinv_0_lt_compat. exact M.
  - intros p. pose proof (same_multiple_ok _ _ _ _ H' p) as G. unfold qeval.
    apply (Rmult_eq_reg_l (IZR (Zpos d))); [|lra]. rewrite G. field. split; lra.
Qed.

Lemma excess_total ts p : Sets.excess ts p = total (fun t => Rmax 0 (qeval t p)) ts.
Proof. induction ts as [|t ts IH]; simpl; [reflexivity|]. rewrite IH. reflexivity. Qed.

Section Certificate.
Variable c : certificate.
Variable sums : list sum_proof.

Definition accepted_sums (b : box) (l : list goal) : list (qpoly * list qpoly) :=
  map fst (filter (fun s => Sets.check_excess l (Goal (fst (fst s)) b (conditions c) (constants c)) (snd (fst s)) (snd s)) sums).

Lemma accepted_sums_right room ts : In (room, ts) (accepted_sums (enclosed c) (known c)) ->
  forall p, domain c p -> total (fun t => Rmax 0 (qeval t p)) ts <= qeval room p.
Proof.
  unfold accepted_sums. intros H p Hp. apply in_map_iff in H. destruct H as [[[r us] tree] [H Hin]].
  simpl in H. injection H as -> ->. apply filter_In in Hin. destruct Hin as [_ Hin]. simpl in Hin.
  rewrite <- excess_total. exact (check_excess_sound _ _ _ _ (known_hold c) Hin p Hp).
Qed.

Definition sums_of_case : known_sums (algebra_of c) :=
  let good := accepted_sums (enclosed c) (known c) in {|
    Excesses.term := qpoly;
    term_at := fun p t => qeval t p;
    share := multiple_of : Symbolic.poly (algebra_of c) -> qpoly -> option Q;
    listed_sums := good;
    share_right := multiple_of_right;
    sums_right := accepted_sums_right
  |}.

End Certificate.

Definition certified_sums c sums (claims : forall K, known_sums K -> bool) : bool :=
  claims (algebra_of c) (sums_of_case c sums).

Theorem approximate_pufferfish_theorem c sums prior mechanism pairs ratio delta :
  certified_sums c sums (fun K S => keeps_approximate_pufferfish K S prior mechanism pairs ratio delta) = true ->
  forall values, in_domain c values ->
  approximate_pufferfish (at_values values) prior mechanism
    (value (at_values values) ratio) (value (at_values values) delta) pairs.
Proof.
  intros H values Hv. apply (approximate_pufferfish_proved (algebra_of c) (sums_of_case c sums)); [exact H|].
  apply in_domain_right. exact Hv.
Qed.

Theorem approximate_privacy_theorem c sums mechanism neighbours ratio delta :
  certified_sums c sums (fun K S => keeps_approximate K S mechanism neighbours ratio delta) = true ->
  forall values, in_domain c values ->
  approximately_private (at_values values) mechanism
    (value (at_values values) ratio) (value (at_values values) delta) neighbours.
Proof.
  intros H values Hv. apply (approximate_privacy_proved (algebra_of c) (sums_of_case c sums)); [exact H|].
  apply in_domain_right. exact Hv.
Qed.

Theorem approximate_lengths_theorem c sums h lengths pairs ratio delta :
  certified_sums c sums (fun K S => keeps_approximate_lengths K S h lengths ratio delta pairs) = true ->
  forall values, in_domain c values ->
  sequences_approximately_private (at_values values) h lengths
    (value (at_values values) ratio) (value (at_values values) delta) pairs.
Proof.
  intros H values Hv. apply (approximate_lengths_proved (algebra_of c) (sums_of_case c sums)); [exact H|].
  apply in_domain_right. exact Hv.
Qed.

(** ** Such certificates as text *)

Section Variables.
Variable width : nat.  (* the number of variables *)
Variable proof : reader cert.

(** Deep readers are made once, and not for each tree. *)
Fixpoint read_set_tree (deep : nat) : reader set_tree :=
  match deep with
  | O => fail
  | S deep =>
      let inner := read_set_tree deep in
      kind <~ Reader.one;
      match kind with
      | 0 => c <~ proof; give (Leaf c)
      | 1 => i <~ read_nat; c <~ proof; t <~ inner; give (Counts i c t)
      | 2 => i <~ read_nat; c <~ proof; t <~ inner; give (Nothing i c t)
      | 3 => i <~ read_nat; u <~ read_qpoly width; c <~ proof; d <~ proof; t <~ inner; give (Bounded i u c d t)
      | 4 => k <~ read_nat; a <~ read_Q; l <~ inner; h <~ inner; give (CutAt k a l h)
      | 5 => p <~ read_qpoly width; u <~ inner; d <~ inner; give (CutBy p u d)
      | 6 => t <~ inner; give (Free t)
      | _ => fail
      end%Z
  end.

End Variables.

(** Sums with their proofs. *)
Definition sums_of (width : nat) (text : texts) : list sum_proof :=
  let tree := read_set_tree width (read_cert width deepest) deepest in
  read_all (read_list (room <~ read_qpoly width; terms <~ read_list (read_qpoly width); t <~ tree; give (room, terms, t))) text.
