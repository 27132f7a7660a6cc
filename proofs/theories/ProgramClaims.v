(** Privacy of programs, and the claims that are enough for it.

    [keeps_neighbours] and [keeps_secrets] compute the outputs of a program for each input once, form one polynomial for
    each output, pair and direction, and ask whether it is proved. *)

From Coq Require Import Reals ZArith String List Lra Bool.
From Paramverify Require Import Expressions Sums Programs Privacy Symbolic OneShot Language Outcomes Case.
Import ListNotations.
Local Open Scope R_scope.

(** ** What is claimed

    [given] says with which values a program starts. A program is private if no run of it meets an error, and its outputs
    are about as likely for neighbouring inputs, or under both secrets of a pair. *)
Definition program_private (p : point) (program : statement) (given : world -> memory) (c : R)
    (neighbours : list (world * world)) : Prop :=
  (forall x x', In (x, x') neighbours -> never_stuck program (given x) /\ never_stuck program (given x'))
  /\ differentially_private p (fun x => outputs_of program (given x)) c neighbours.

Definition program_pufferfish (p : point) (prior : distribution world) (program : statement) (given : world -> memory)
    (c : R) (pairs : list (secret * secret)) : Prop :=
  (forall s t, In (s, t) pairs -> forall w x, In (w, x) prior -> s x || t x = true -> never_stuck program (given x))
  /\ pufferfish p prior (fun x => outputs_of program (given x)) c pairs.

(** ** Inputs of case files *)

(** All lists with one of the given values at each place. *)
Fixpoint every_input (places : list (list Z)) : list world :=
  match places with
  | [] => [[]]
  | values :: places => flat_map (fun x => map (cons x) (every_input places)) values
  end.

(** All pairs of different inputs that are related. *)
Definition related_pairs (related : world -> world -> bool) (inputs : list world) : list (world * world) :=
  filter (fun pair => negb (same (fst pair) (snd pair)) && related (fst pair) (snd pair)) (list_prod inputs inputs).

Definition distances (x y : world) : list Z := map (fun pair => Z.abs (fst pair - snd pair)) (combine x y).

(** At how many places two inputs differ. *)
Definition changes (x y : world) : nat := length (filter (fun d => Z.ltb 0 d) (distances x y)).

Definition by_at_most (most : Z) (x y : world) : bool := forallb (fun d => Z.leb d most) (distances x y).
Definition at_one_place (x y : world) : bool := Nat.leb (changes x y) 1.
Definition anyhow (x y : world) : bool := true.

(** A list of numbers as the value of a variable. *)
Definition numbers_of (l : list Z) : data := list_of (map Number l).

(** A label that a number stands for. *)
Definition label_at (labels : list string) (z : Z) : data := match nth_error labels (Z.to_nat z) with Some s => Label s | None => Wrong end.
Definition labels_of (labels : list string) (l : list Z) : data := list_of (map (label_at labels) l).

(** So many entries of an input, from a place on. *)
Definition part_of (x : world) (from count : nat) : list Z := firstn count (skipn from x).
Definition entry_of (x : world) (k : nat) : Z := nth k x 0%Z.

(** ** The claims *)

Section Claims.
Variable K : algebra.
Notation table := (table K).
Variable program : statement.
Variable given : world -> memory.

Definition rows (inputs : list world) : list (world * option table) :=
  map (fun x => (x, outcomes K program (given x))) (nodup (list_eq_dec Z.eq_dec) inputs).

Fixpoint found (x : world) (l : list (world * option table)) : option table :=
  match l with [] => None | (y, t) :: l => if same x y then t else found x l end.

Lemma found_right x inputs t : found x (rows inputs) = Some t -> outcomes K program (given x) = Some t.
Proof.
  unfold rows. induction (nodup (list_eq_dec Z.eq_dec) inputs) as [|y l IH]; simpl; [discriminate|].
  destruct (same x y) eqn:E; [|exact IH]. apply same_spec in E. subst y. trivial.
Qed.

Definition close (c : fraction K) (l : list (world * option table)) (pair : world * world) : bool :=
  match found (fst pair) l, found (snd pair) l with
  | Some t, Some u => within K c t (unit_mass K) u (unit_mass K) && within K c u (unit_mass K) t (unit_mass K)
  | _, _ => false
  end.

Definition keeps_neighbours (neighbours : list (world * world)) (ratio : expression) : bool :=
  match fraction_of K ratio with
  | Some c => let l := rows (map fst neighbours ++ map snd neighbours) in forallb (close c l) neighbours
  | None => false
  end.

Theorem neighbours_proved neighbours ratio : keeps_neighbours neighbours ratio = true ->
  forall p, inside K p -> program_private p program given (value p ratio) neighbours.
Proof.
  unfold keeps_neighbours. destruct (fraction_of K ratio) as [c|] eqn:E; [|discriminate].
  destruct (fraction_of_right K _ _ E) as [Pc Vc]. rewrite forallb_forall. intros H p Hp.
  split; intros x x' Hin; [|intros y]; specialize (H _ Hin); unfold close in H; simpl in H;
    destruct (found x _) as [t|] eqn:F1 in H; try discriminate;
    destruct (found x' _) as [u|] eqn:F2 in H; try discriminate;
    apply found_right in F1, F2; apply outcomes_right in F1, F2;
    destruct F1 as [N1 [P1 V1]], F2 as [N2 [P2 V2]]; [split; assumption|].
  apply andb_true_iff in H. destruct H as [H1 H2].
  assert (Hone : proper K (unit_mass K)) by apply of_poly_proper.
  assert (V : amount K p (unit_mass K) = 1) by (unfold unit_mass; rewrite of_poly_right; apply whole_right).
  pose proof (within_right K c t (unit_mass K) u (unit_mass K) Pc P1 Hone P2 Hone H1 p Hp y) as G1.
  pose proof (within_right K c u (unit_mass K) t (unit_mass K) Pc P2 Hone P1 Hone H2 p Hp y) as G2.
  rewrite V in G1, G2. rewrite V1, V2, Vc by assumption. split; lra.
Qed.

(** Pr(secret and output), for all outputs. *)
Fixpoint together (l : list (world * option table)) (s : secret) (prior : distribution world) : option table :=
  match prior with
  | [] => Some []
  | (w, x) :: rest =>
      if s x then both (fun more now => add_table K now more) (together l s rest)
                       (both (scaled K) (fraction_of K w) (found x l))
      else together l s rest
  end.

Lemma together_right inputs s prior t : together (rows inputs) s prior = Some t ->
  proper_table K t
  /\ (forall p, inside K p -> forall y, chance_with p prior (fun x => outputs_of program (given x)) s y = amount_of K p t y)
  /\ (forall w x, In (w, x) prior -> s x = true -> never_stuck program (given x)).
Proof.
  revert t. induction prior as [|[w x] prior IH]; intros t H.
  - injection H as <-. split; [intros y f [] | split; [reflexivity | intros w x []]].
  - cbn [together] in H. destruct (s x) eqn:S.
    + destruct (together (rows inputs) s prior) as [more|]; [|discriminate].
      destruct (fraction_of K w) as [f|] eqn:E; [|discriminate].
      destruct (found x (rows inputs)) as [u|] eqn:F; [|discriminate]. injection H as <-.
      destruct (IH _ eq_refl) as [I1 [I2 I3]]. destruct (fraction_of_right K w f E) as [Pf Vf].
      apply found_right, outcomes_right in F. destruct F as [N [Pu Vu]]. destruct (scaled_right K f u Pf Pu) as [Ps Vs].
      destruct (add_table_right K _ _ Ps I1) as [H1 H2]. split; [exact H1 | split].
      * intros p Hp y. rewrite H2, Vs, <- I2 by exact Hp. unfold chance_with; simpl. rewrite S, Vf, Vu by exact Hp.
        reflexivity.
      * intros w' x' [Hin|Hin] S'; [injection Hin as _ <-; exact N | apply (I3 w'); assumption].
    + destruct (IH _ H) as [I1 [I2 I3]]. split; [exact I1 | split].
      * intros p Hp y. rewrite <- I2 by exact Hp. unfold chance_with; simpl. rewrite S. lra.
      * intros w' x' [Hin|Hin] S'; [injection Hin as _ <-; congruence | apply (I3 w'); assumption].
Qed.

Definition told_apart (c : fraction K) (l : list (world * option table)) (prior : distribution world)
    (pair : secret * secret) : bool :=
  match together l (fst pair) prior, mass K (fst pair) prior, together l (snd pair) prior, mass K (snd pair) prior with
  | Some t, Some m, Some u, Some n => within K c t m u n && within K c u n t m
  | _, _, _, _ => false
  end.

Definition keeps_secrets (prior : distribution world) (pairs : list (secret * secret)) (ratio : expression) : bool :=
  match fraction_of K ratio with
  | Some c =>
      let asked := filter (fun x => existsb (fun pair => fst pair x || snd pair x) pairs) (map snd prior) in
      let l := rows asked in forallb (told_apart c l prior) pairs
  | None => false
  end.

Theorem secrets_proved prior pairs ratio : keeps_secrets prior pairs ratio = true ->
  forall p, inside K p -> program_pufferfish p prior program given (value p ratio) pairs.
Proof.
  unfold keeps_secrets. destruct (fraction_of K ratio) as [c|] eqn:E; [|discriminate].
  destruct (fraction_of_right K _ _ E) as [Pc Vc]. rewrite forallb_forall. intros H p Hp.
  set (asked := filter _ (map snd prior)) in H.
  assert (G : forall s t, In (s, t) pairs ->
    (forall w x, In (w, x) prior -> s x || t x = true -> never_stuck program (given x)) /\
    forall y,
      chance_with p prior (fun x => outputs_of program (given x)) s y * chance p prior t
        <= value p ratio * (chance_with p prior (fun x => outputs_of program (given x)) t y * chance p prior s)
      /\ chance_with p prior (fun x => outputs_of program (given x)) t y * chance p prior s
        <= value p ratio * (chance_with p prior (fun x => outputs_of program (given x)) s y * chance p prior t)).
  { intros s t Hin. specialize (H _ Hin). unfold told_apart in H; simpl in H.
    destruct (together (rows asked) s prior) as [ts|] eqn:E1; [|discriminate].
    destruct (mass K s prior) as [ms|] eqn:E2; [|discriminate].
    destruct (together (rows asked) t prior) as [tt|] eqn:E3; [|discriminate].
    destruct (mass K t prior) as [mt|] eqn:E4; [|discriminate].
    apply andb_true_iff in H. destruct H as [H1 H2].
    destruct (together_right _ _ _ _ E1) as [P1 [V1 N1]]. destruct (mass_right K _ _ _ E2) as [P2 V2].
    destruct (together_right _ _ _ _ E3) as [P3 [V3 N3]]. destruct (mass_right K _ _ _ E4) as [P4 V4].
    split.
    - intros w x Hx S. apply orb_true_iff in S. destruct S; [apply (N1 w) | apply (N3 w)]; assumption.
    - intros y. rewrite V1, V2, V3, V4, Vc by assumption. split.
      + apply (within_right K c ts ms tt mt); assumption.
      + apply (within_right K c tt mt ts ms); assumption. }
  split; [intros s t Hin; apply (G s t Hin)|].
  apply claims_imply_pufferfish. intros s t Hin. apply (G s t Hin).
Qed.

End Claims.

(** ** The theorems that files of cases use *)

Theorem program_neighbours_theorem c program given neighbours ratio :
  certified c (fun K => keeps_neighbours K program given neighbours ratio) = true ->
  forall values, in_domain c values ->
  program_private (at_values values) program given (value (at_values values) ratio) neighbours.
Proof.
  intros H values Hv. apply (neighbours_proved (algebra_of c)); [exact H | apply in_domain_right; exact Hv].
Qed.

Theorem program_secrets_theorem c prior program given pairs ratio :
  certified c (fun K => keeps_secrets K program given prior pairs ratio) = true ->
  forall values, in_domain c values ->
  program_pufferfish (at_values values) prior program given (value (at_values values) ratio) pairs.
Proof.
  intros H values Hv. apply (secrets_proved (algebra_of c)); [exact H | apply in_domain_right; exact Hv].
Qed.
