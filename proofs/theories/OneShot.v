(** The claims of a mechanism that answers once, computed from prior, mechanism and secrets; and that they are enough.

    [keeps_pufferfish] and [keeps_differential] are programs. They collect the probability of each output as a
    fraction, form one polynomial for each output, pair and direction, and ask whether it is proved. *)

From Coq Require Import Reals ZArith List Lra Bool.
From Paramverify Require Import Expressions Sums Programs Privacy Symbolic.
Import ListNotations.
Local Open Scope R_scope.

Section Tables.
Variable K : algebra.
Notation fraction := (fraction K).

(** The probabilities of outputs; an output may occur more than once, and its probability is the sum then. *)
Definition table := list (output * fraction).

Definition amount_of (p : point) (t : table) (y : output) : R :=
  total (fun entry => if same y (fst entry) then amount K p (snd entry) else 0) t.

Definition proper_table (t : table) : Prop := forall y f, In (y, f) t -> proper K f.

Fixpoint add_entry (y : output) (f : fraction) (t : table) : table :=
  match t with
  | [] => [(y, f)]
  | (z, g) :: rest => if same y z then (z, plus_fractions K f g) :: rest else (z, g) :: add_entry y f rest
  end.

Definition add_table (t u : table) : table := fold_right (fun entry => add_entry (fst entry) (snd entry)) u t.

Definition scaled (w : fraction) (t : table) : table := map (fun entry => (fst entry, times_fractions K w (snd entry))) t.

Definition look_up (t : table) (y : output) : fraction :=
  fold_right (fun entry found => if same y (fst entry) then plus_fractions K (snd entry) found else found) (none K) t.

Fixpoint collect (d : distribution output) : option table :=
  match d with
  | [] => Some []
  | (w, y) :: rest => both (add_entry y) (fraction_of K w) (collect rest)
  end.

(** Pr(secret and output), for all outputs. *)
Fixpoint joint (mechanism : world -> distribution output) (s : secret) (prior : distribution world) : option table :=
  match prior with
  | [] => Some []
  | (w, x) :: rest =>
      if s x then both (fun more now => add_table now more) (joint mechanism s rest)
                       (both scaled (fraction_of K w) (collect (mechanism x)))
      else joint mechanism s rest
  end.

(** Pr(secret). *)
Fixpoint mass (s : secret) (prior : distribution world) : option fraction :=
  match prior with
  | [] => Some (none K)
  | (w, x) :: rest => if s x then both (plus_fractions K) (fraction_of K w) (mass s rest) else mass s rest
  end.

Lemma add_entry_right y f t : proper K f -> proper_table t ->
  proper_table (add_entry y f t) /\
  forall p, inside K p -> forall z,
    amount_of p (add_entry y f t) z = (if same z y then amount K p f else 0) + amount_of p t z.
Proof.
  intros Hf. induction t as [|[z g] t IH]; simpl; intros Ht.
  - split; [|reflexivity]. intros y' f' [H|[]]. injection H as <- <-. exact Hf.
  - assert (Hg : proper K g) by (apply (Ht z); left; reflexivity).
    assert (Ht' : proper_table t) by (intros y' f' H; apply (Ht y'); right; exact H).
    destruct (IH Ht') as [IH1 IH2]. destruct (same y z) eqn:E.
    + apply same_spec in E. subst z. split.
      * intros y' f' [H|H]; [injection H as <- <-; apply plus_proper; assumption | apply (Ht' y'); exact H].
      * intros p Hp z. unfold amount_of; simpl. destruct (same z y); [|lra]. rewrite plus_right by assumption. lra.
    + split.
      * intros y' f' [H|H]; [injection H as <- <-; exact Hg | apply (IH1 y'); exact H].
      * intros p Hp z'. unfold amount_of in *; simpl. rewrite IH2 by assumption. lra.
Qed.

Lemma add_table_right t u : proper_table t -> proper_table u ->
  proper_table (add_table t u) /\
  forall p, inside K p -> forall z, amount_of p (add_table t u) z = amount_of p t z + amount_of p u z.
Proof.
  intros Ht Hu. induction t as [|[y f] t IH]; simpl.
  - split; [exact Hu|]. intros p _ z. unfold amount_of at 2; simpl. lra.
  - assert (Hf : proper K f) by (apply (Ht y); left; reflexivity).
    destruct IH as [IH1 IH2]; [intros y' f' H; apply (Ht y'); right; exact H|].
    destruct (add_entry_right y f _ Hf IH1) as [H1 H2]. split; [exact H1|].
    intros p Hp z. rewrite H2, IH2 by assumption. unfold amount_of at 3; simpl. unfold amount_of. lra.
Qed.

Lemma scaled_right w t : proper K w -> proper_table t ->
  proper_table (scaled w t) /\
  forall p, inside K p -> forall z, amount_of p (scaled w t) z = amount K p w * amount_of p t z.
Proof.
  intros Hw Ht. split.
  - intros y f H. apply in_map_iff in H. destruct H as [[y' f'] [H Hin]]. injection H as <- <-.
    apply times_proper; [exact Hw | apply (Ht y'); exact Hin].
  - intros p Hp z. unfold amount_of, scaled. rewrite total_map, <- total_scale. apply total_ext.
    intros [y f] Hin. simpl. destruct (same z y); [|lra]. apply times_right; [| |exact Hp]; [exact Hw|].
    apply (Ht y). exact Hin.
Qed.

Lemma look_up_right t y : proper_table t ->
  proper K (look_up t y) /\ forall p, inside K p -> amount K p (look_up t y) = amount_of p t y.
Proof.
  induction t as [|[z f] t IH]; simpl; intros Ht.
  - split; [apply of_poly_proper|]. intros p _. apply none_right.
  - assert (Hf : proper K f) by (apply (Ht z); left; reflexivity).
    destruct IH as [IH1 IH2]; [intros y' f' H; apply (Ht y'); right; exact H|].
    unfold amount_of; simpl. destruct (same y z).
    + split; [apply plus_proper; assumption|]. intros p Hp. rewrite plus_right, IH2 by assumption. reflexivity.
    + split; [exact IH1|]. intros p Hp. rewrite IH2 by assumption. unfold amount_of. lra.
Qed.

Lemma collect_right d t : collect d = Some t ->
  proper_table t /\ forall p, inside K p -> forall y, probability p d (same y) = amount_of p t y.
Proof.
  revert t. induction d as [|[w y] d IH]; simpl; intros t H.
  - injection H as <-. split; [intros y f []|]. reflexivity.
  - destruct (fraction_of K w) as [f|] eqn:E; [|discriminate]. destruct (collect d) as [u|]; [|discriminate].
    injection H as <-. destruct (IH _ eq_refl) as [IH1 IH2]. destruct (fraction_of_right K w f E) as [Pf Vf].
    destruct (add_entry_right y f u Pf IH1) as [H1 H2]. split; [exact H1|].
    intros p Hp z. rewrite H2, <- IH2 by assumption. unfold probability; simpl.
    destruct (same z y); [rewrite Vf by assumption|]; reflexivity.
Qed.

Lemma joint_right mechanism s prior t : joint mechanism s prior = Some t ->
  proper_table t /\ forall p, inside K p -> forall y, chance_with p prior mechanism s y = amount_of p t y.
Proof.
  revert t. induction prior as [|[w x] prior IH]; simpl; intros t H.
  - injection H as <-. split; [intros y f []|]. reflexivity.
  - unfold chance_with; simpl. destruct (s x).
    + destruct (joint mechanism s prior) as [more|]; [|discriminate].
      destruct (fraction_of K w) as [f|] eqn:E; [|discriminate].
      destruct (collect (mechanism x)) as [u|] eqn:E'; [|discriminate]. injection H as <-.
      destruct (IH _ eq_refl) as [IH1 IH2]. destruct (fraction_of_right K w f E) as [Pf Vf].
      destruct (collect_right _ _ E') as [Pu Vu]. destruct (scaled_right f u Pf Pu) as [Ps Vs].
      destruct (add_table_right _ _ Ps IH1) as [H1 H2]. split; [exact H1|].
      intros p Hp y. rewrite H2, Vs, <- IH2, Vf, Vu by assumption. reflexivity.
    + destruct (IH _ H) as [IH1 IH2]. split; [exact IH1|]. intros p Hp y. rewrite <- IH2 by assumption.
      unfold chance_with. lra.
Qed.

Lemma mass_right s prior f : mass s prior = Some f ->
  proper K f /\ forall p, inside K p -> chance p prior s = amount K p f.
Proof.
  revert f. induction prior as [|[w x] prior IH]; simpl; intros f H.
  - injection H as <-. split; [apply of_poly_proper|]. intros p _. symmetry. apply none_right.
  - unfold chance, probability; simpl. destruct (s x).
    + destruct (fraction_of K w) as [g|] eqn:E; [|discriminate].
      destruct (mass s prior) as [m|]; [|discriminate]. injection H as <-.
      destruct (IH _ eq_refl) as [IH1 IH2]. destruct (fraction_of_right K w g E) as [Pg Vg].
      split; [apply plus_proper; assumption|]. intros p Hp. rewrite plus_right, <- IH2, Vg by assumption. reflexivity.
    + destruct (IH _ H) as [IH1 IH2]. split; [exact IH1|]. intros p Hp. rewrite <- IH2 by assumption.
      unfold chance, probability. lra.
Qed.

Lemma absent t y : existsb (fun entry => same y (fst entry)) t = false -> forall p, amount_of p t y = 0.
Proof.
  intros H p. apply total_zero. intros entry Hin. destruct (same y (fst entry)) eqn:E; [|reflexivity].
  exfalso. assert (existsb (fun entry => same y (fst entry)) t = true) by (apply existsb_exists; eauto). congruence.
Qed.

(** All outputs of two tables. *)
Definition outputs (t u : table) : list output :=
  map fst t ++ filter (fun y => negb (existsb (fun entry => same y (fst entry)) t)) (map fst u).

Lemma not_in_outputs t u y : ~ In y (outputs t u) ->
  existsb (fun entry => same y (fst entry)) t = false /\ existsb (fun entry => same y (fst entry)) u = false.
Proof.
  intros H. destruct (existsb (fun entry => same y (fst entry)) t) eqn:E.
  - exfalso. apply H. apply existsb_exists in E. destruct E as [[z f] [Hin E]]. apply same_spec in E. simpl in E. subst z.
    apply in_or_app. left. apply (in_map fst) in Hin. exact Hin.
  - split; [reflexivity|]. destruct (existsb (fun entry => same y (fst entry)) u) eqn:E'; [|reflexivity].
    exfalso. apply H. apply existsb_exists in E'. destruct E' as [[z f] [Hin E']]. apply same_spec in E'. simpl in E'.
    subst z. apply in_or_app. right. apply filter_In. split; [apply (in_map fst) in Hin; exact Hin | rewrite E; reflexivity].
Qed.

(** One side of a comparison of two tables, each with the mass that the other one is multiplied by. *)
Definition within (c : fraction) (t : table) (m : fraction) (u : table) (n : fraction) : bool :=
  forallb (fun y => proved K (claim K c (times_fractions K (look_up t y) n) (times_fractions K (look_up u y) m)))
          (outputs t u).

Lemma within_right c t m u n : proper K c -> proper_table t -> proper K m -> proper_table u -> proper K n ->
  within c t m u n = true ->
  forall p, inside K p -> forall y,
    amount_of p t y * amount K p n <= amount K p c * (amount_of p u y * amount K p m).
Proof.
  intros Hc Ht Hm Hu Hn H p Hp y. unfold within in H. rewrite forallb_forall in H.
  destruct (look_up_right t y Ht) as [P1 V1]. destruct (look_up_right u y Hu) as [P2 V2].
  destruct (in_dec (list_eq_dec Z.eq_dec) y (outputs t u)) as [Hin|Hout].
  - specialize (H y Hin). apply (proved_right K p) in H; [|exact Hp]. apply claim_right in H;
      [| exact Hc | apply times_proper; assumption | apply times_proper; assumption | exact Hp].
    rewrite !times_right, V1, V2 in H by assumption. exact H.
  - apply not_in_outputs in Hout. destruct Hout as [A B].
    rewrite (absent t y A), (absent u y B). lra.
Qed.

Definition compared (c : fraction) mechanism prior (pair : secret * secret) : bool :=
  match joint mechanism (fst pair) prior, mass (fst pair) prior, joint mechanism (snd pair) prior, mass (snd pair) prior
  with
  | Some t, Some m, Some u, Some n => within c t m u n && within c u n t m
  | _, _, _, _ => false
  end.

Definition keeps_pufferfish (prior : distribution world) mechanism pairs (ratio : expression) : bool :=
  match fraction_of K ratio with
  | Some c => forallb (compared c mechanism prior) pairs
  | None => false
  end.

Theorem pufferfish_proved prior mechanism pairs ratio :
  keeps_pufferfish prior mechanism pairs ratio = true ->
  forall p, inside K p -> pufferfish p prior mechanism (value p ratio) pairs.
Proof.
  unfold keeps_pufferfish. destruct (fraction_of K ratio) as [c|] eqn:E; [|discriminate].
  destruct (fraction_of_right K _ _ E) as [Pc Vc]. rewrite forallb_forall. intros H p Hp.
  apply claims_imply_pufferfish. intros s t Hin y. specialize (H _ Hin). unfold compared in H; simpl in H.
  destruct (joint mechanism s prior) as [ts|] eqn:E1; [|discriminate].
  destruct (mass s prior) as [ms|] eqn:E2; [|discriminate].
  destruct (joint mechanism t prior) as [tt|] eqn:E3; [|discriminate].
  destruct (mass t prior) as [mt|] eqn:E4; [|discriminate].
  apply andb_true_iff in H. destruct H as [H1 H2].
  destruct (joint_right _ _ _ _ E1) as [P1 V1]. destruct (mass_right _ _ _ E2) as [P2 V2].
  destruct (joint_right _ _ _ _ E3) as [P3 V3]. destruct (mass_right _ _ _ E4) as [P4 V4].
  rewrite V1, V2, V3, V4, Vc by assumption. split.
  - apply (within_right c ts ms tt mt); assumption.
  - apply (within_right c tt mt ts ms); assumption.
Qed.

Definition unit_mass : fraction := of_poly K (whole K 1).

(** The table of each input, computed once. *)
Definition tables := list (world * option table).

Fixpoint tables_of (mechanism : world -> distribution output) (inputs : list world) (found : tables) : tables :=
  match inputs with
  | [] => found
  | x :: rest =>
      tables_of mechanism rest
        (if existsb (fun entry => same x (fst entry)) found then found else (x, collect (mechanism x)) :: found)
  end.

Definition all_tables mechanism (neighbours : list (world * world)) : tables :=
  tables_of mechanism (map fst neighbours ++ map snd neighbours) [].

Definition table_in (found : tables) (x : world) : option table :=
  match find (fun entry => same x (fst entry)) found with Some (_, t) => t | None => None end.

Lemma tables_of_right mechanism inputs found :
  (forall x t, In (x, t) found -> t = collect (mechanism x)) ->
  forall x t, In (x, t) (tables_of mechanism inputs found) -> t = collect (mechanism x).
Proof.
  revert found. induction inputs as [|x inputs IH]; simpl; intros found H; [exact H|]. apply IH.
  destruct (existsb (fun entry => same x (fst entry)) found); [exact H|]. intros x' t [E|Hin]; [|apply H; exact Hin].
  injection E as <- <-. reflexivity.
Qed.

Lemma table_in_right mechanism neighbours x t : table_in (all_tables mechanism neighbours) x = Some t ->
  collect (mechanism x) = Some t.
Proof.
  unfold table_in.
  destruct (find (fun entry => same x (fst entry)) (all_tables mechanism neighbours)) as [[x' u]|] eqn:E; [|discriminate]. intros ->.
  apply find_some in E. destruct E as [Hin E]. simpl in E. apply same_spec in E. subst x'. symmetry.
  exact (tables_of_right mechanism _ [] (fun _ _ H => match H with end) _ _ Hin).
Qed.

Definition alike (c : fraction) (found : tables) (pair : world * world) : bool :=
  match table_in found (fst pair), table_in found (snd pair) with
  | Some t, Some u => within c t unit_mass u unit_mass && within c u unit_mass t unit_mass
  | _, _ => false
  end.

Definition keeps_differential mechanism (neighbours : list (world * world)) (ratio : expression) : bool :=
  match fraction_of K ratio with
  | Some c => let found := all_tables mechanism neighbours in forallb (alike c found) neighbours
  | None => false
  end.

Theorem differential_privacy_proved mechanism neighbours ratio :
  keeps_differential mechanism neighbours ratio = true ->
  forall p, inside K p -> differentially_private p mechanism (value p ratio) neighbours.
Proof.
  unfold keeps_differential. destruct (fraction_of K ratio) as [c|] eqn:E; [|discriminate].
  destruct (fraction_of_right K _ _ E) as [Pc Vc]. rewrite forallb_forall. intros H p Hp x x' Hin y.
  specialize (H _ Hin). unfold alike in H; simpl in H.
  destruct (table_in _ x) as [t|] eqn:E1; [|discriminate]. apply table_in_right in E1.
  destruct (table_in _ x') as [u|] eqn:E2; [|discriminate]. apply table_in_right in E2.
  apply andb_true_iff in H. destruct H as [H1 H2].
  destruct (collect_right _ _ E1) as [P1 V1]. destruct (collect_right _ _ E2) as [P2 V2].
  assert (Hone : proper K unit_mass) by apply of_poly_proper.
  assert (V : amount K p unit_mass = 1) by (unfold unit_mass; rewrite of_poly_right; apply whole_right).
  pose proof (within_right c t unit_mass u unit_mass Pc P1 Hone P2 Hone H1 p Hp y) as G1.
  pose proof (within_right c u unit_mass t unit_mass Pc P2 Hone P1 Hone H2 p Hp y) as G2.
  rewrite V in G1, G2. rewrite V1, V2, Vc by assumption. split; lra.
Qed.

End Tables.
