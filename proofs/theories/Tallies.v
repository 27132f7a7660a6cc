(** Tallies: things with their probabilities as fractions, each once.

    A tally says what a list of ways says, where ways with the same end are put together. *)

From Coq Require Import Reals ZArith List Lra Bool.
From Paramverify Require Import Expressions Sums Programs Privacy Symbolic.
Import ListNotations.
Local Open Scope R_scope.

Section Tally.
Variable K : algebra.
Notation fraction := (fraction K).

Definition tally (A : Type) := list (A * fraction).

Section Tallies.
Context {A : Type} (dec : forall a b : A, {a = b} + {a <> b}).

(** The mean of a function; with one that is 1 for some things and 0 for all others, it is a probability. *)
Definition mean (p : point) (g : A -> R) (d : distribution A) : R := total (fun way => value p (fst way) * g (snd way)) d.

Definition weighed (p : point) (g : A -> R) (t : tally A) : R := total (fun entry => amount K p (snd entry) * g (fst entry)) t.

Definition proper_tally (t : tally A) : Prop := forall a f, In (a, f) t -> proper K f.

(** A tally says what a distribution says. *)
Definition tells (t : tally A) (d : distribution A) : Prop :=
  proper_tally t /\ (forall p, inside K p -> forall g, mean p g d = weighed p g t)
  /\ (forall w a, In (w, a) d -> In a (map fst t)).

Fixpoint put (a : A) (f : fraction) (t : tally A) : tally A :=
  match t with
  | [] => [(a, f)]
  | (b, g) :: rest => if dec a b then (b, plus_fractions K f g) :: rest else (b, g) :: put a f rest
  end.

Lemma put_right a f t : proper K f -> proper_tally t ->
  proper_tally (put a f t)
  /\ (forall p, inside K p -> forall g, weighed p g (put a f t) = amount K p f * g a + weighed p g t)
  /\ (forall b, b = a \/ In b (map fst t) -> In b (map fst (put a f t))).
Proof.
  intros Hf. induction t as [|[b h] t IH]; intros Ht.
  - split; [|split].
    + intros a' f' [H|[]]. injection H as <- <-. exact Hf.
    + intros p Hp g. unfold weighed; simpl. reflexivity.
    + intros c [->|[]]. left. reflexivity.
  - assert (Hh : proper K h) by (apply (Ht b); left; reflexivity).
    assert (Ht' : proper_tally t) by (intros a' f' H; apply (Ht a'); right; exact H).
    destruct (IH Ht') as [I1 [I2 I3]]. cbn [put]. destruct (dec a b) as [->|n].
    + split; [|split].
      * intros a' f' [H|H]; [injection H as <- <-; apply plus_proper; assumption | apply (Ht' a'); exact H].
      * intros p Hp g. unfold weighed; simpl. rewrite plus_right by assumption. lra.
      * intros c [->|H]; [left; reflexivity | exact H].
    + split; [|split].
      * intros a' f' [H|H]; [injection H as <- <-; exact Hh | apply (I1 a'); exact H].
      * intros p Hp g. specialize (I2 p Hp g). unfold weighed in *; simpl. rewrite I2. lra.
      * intros c [->|[H|H]]; [right; apply I3; left; reflexivity | left; exact H | right; apply I3; right; exact H].
Qed.

(** The ways of a distribution, those with the same end together. *)
Fixpoint gathered (d : distribution A) : option (tally A) :=
  match d with
  | [] => Some []
  | (w, a) :: rest => both (put a) (fraction_of K w) (gathered rest)
  end.

Lemma gathered_right d t : gathered d = Some t -> tells t d.
Proof.
  revert t. induction d as [|[w a] d IH]; simpl; intros t H.
  - injection H as <-. split; [intros a f [] | split; [reflexivity | intros w a []]].
  - destruct (fraction_of K w) as [f|] eqn:E; [|discriminate]. destruct (gathered d) as [u|]; [|discriminate].
    injection H as <-. destruct (IH _ eq_refl) as [I1 [I2 I3]]. destruct (fraction_of_right K w f E) as [Pf Vf].
    destruct (put_right a f u Pf I1) as [H1 [H2 H3]]. split; [exact H1 | split].
    + intros p Hp g. rewrite H2, <- I2 by assumption. unfold mean; simpl. rewrite Vf by assumption. reflexivity.
    + intros w' b [H|H]; apply H3; [injection H as _ <-; left; reflexivity | right; apply (I3 w'); exact H].
Qed.

(** All entries of a tally, each times a weight, put to those of another one. *)
Definition put_all (w : fraction) (t u : tally A) : tally A :=
  fold_right (fun entry => put (fst entry) (times_fractions K w (snd entry))) u t.

Lemma put_all_right w t u : proper K w -> proper_tally t -> proper_tally u ->
  proper_tally (put_all w t u)
  /\ (forall p, inside K p -> forall g, weighed p g (put_all w t u) = amount K p w * weighed p g t + weighed p g u)
  /\ (forall b, In b (map fst t) \/ In b (map fst u) -> In b (map fst (put_all w t u))).
Proof.
  intros Hw Ht Hu. induction t as [|[a f] t IH].
  - split; [exact Hu | split]; [|intros b [[]|H]; exact H]. intros p Hp g. unfold weighed at 2; simpl. lra.
  - assert (Hf : proper K f) by (apply (Ht a); left; reflexivity).
    destruct IH as [I1 [I2 I3]]; [intros a' f' H; apply (Ht a'); right; exact H|].
    destruct (put_right a (times_fractions K w f) _ (times_proper K w f Hw Hf) I1) as [H1 [H2 H3]].
    split; [exact H1 | split].
    + intros p Hp g. change (weighed p g ((a, f) :: t)) with (amount K p f * g a + weighed p g t).
      simpl. rewrite H2, I2, times_right by assumption. ring.
    + intros b [[<-|H]|H]; apply H3; [left; reflexivity | right; apply I3; left; exact H | right; apply I3; right; exact H].
Qed.

End Tallies.

(** ** One step after another

    [u] is where the entries of [t] lead by [k]. *)
Definition leads {A B : Type} (t : tally A) (k : A -> distribution B) (u : tally B) : Prop :=
  proper_tally u
  /\ (forall p, inside K p -> forall g, weighed p g u = weighed p (fun a => mean p g (k a)) t)
  /\ (forall a, In a (map fst t) -> forall w b, In (w, b) (k a) -> In b (map fst u)).

Lemma mean_then_do {A B : Type} p (g : B -> R) (d : distribution A) (k : A -> distribution B) :
  mean p g (then_do d k) = mean p (fun a => mean p g (k a)) d.
Proof.
  unfold mean, then_do. rewrite total_flat_map. apply total_ext. intros [w a] _. simpl.
  rewrite total_map, <- total_scale. apply total_ext. intros [v b] _. simpl. ring.
Qed.

Lemma in_then_do {A B : Type} (d : distribution A) (k : A -> distribution B) w b : In (w, b) (then_do d k) ->
  exists w1 a w2, In (w1, a) d /\ In (w2, b) (k a).
Proof.
  unfold then_do. intros H. apply in_flat_map in H. destruct H as [[w1 a] [Hd Hb]].
  apply in_map_iff in Hb. destruct Hb as [[w2 b'] [E Hb]]. injection E as _ <-. exists w1, a, w2. split; assumption.
Qed.

Lemma mean_always {A : Type} p (g : A -> R) a : mean p g (always a) = g a.
Proof. unfold mean; simpl. lra. Qed.

Lemma weighed_ext {A : Type} p (g h : A -> R) t : (forall a, In a (map fst t) -> g a = h a) -> weighed p g t = weighed p h t.
Proof.
  intros H. apply total_ext. intros [a f] Hin. simpl. rewrite H; [reflexivity|]. apply (in_map fst) in Hin. exact Hin.
Qed.

Lemma leads_then {A B C : Type} (t : tally A) (u : tally B) (v : tally C) k l :
  leads t k u -> leads u l v -> leads t (fun a => then_do (k a) l) v.
Proof.
  intros [_ [U1 U2]] [V0 [V1 V2]]. split; [exact V0 | split].
  - intros p Hp g. rewrite V1, U1 by exact Hp. apply weighed_ext. intros a _. symmetry. apply mean_then_do.
  - intros a Ha w c Hc. apply in_then_do in Hc. destruct Hc as [w1 [b [w2 [Hb Hc]]]].
    apply (V2 b (U2 a Ha w1 b Hb) w2). exact Hc.
Qed.

(** The same where a first step is certain. *)
Lemma leads_after {A B C : Type} (t : tally A) (u : tally B) (v : tally C) (f : A -> B) l :
  leads t (fun a => always (f a)) u -> leads u l v -> leads t (fun a => l (f a)) v.
Proof.
  intros [_ [U1 U2]] [V0 [V1 V2]]. split; [exact V0 | split].
  - intros p Hp g. rewrite V1, U1 by exact Hp. apply weighed_ext. intros a _. exact (mean_always p (fun b => mean p g (l b)) (f a)).
  - intros a Ha w c Hc. apply (V2 (f a)) with (w := w); [|exact Hc]. apply (U2 a Ha (Whole 1)). left. reflexivity.
Qed.

Lemma leads_ext {A B : Type} (t : tally A) (k l : A -> distribution B) u :
  (forall a, In a (map fst t) -> k a = l a) -> leads t k u -> leads t l u.
Proof.
  intros E [U0 [U1 U2]]. split; [exact U0 | split].
  - intros p Hp g. rewrite U1 by exact Hp. apply weighed_ext. intros a Ha. rewrite E by exact Ha. reflexivity.
  - intros a Ha w b Hb. rewrite <- E in Hb by exact Ha. apply (U2 a Ha w). exact Hb.
Qed.

Definition unit_weight : fraction := of_poly K (one K).

Lemma unit_weight_right p : amount K p unit_weight = 1.
Proof. unfold unit_weight. rewrite of_poly_right. apply at_one. Qed.

Section Joined.
Context {A : Type} (dec : forall a b : A, {a = b} + {a <> b}).

(** Both together. *)
Definition joined (t u : tally A) : tally A := fold_right (fun entry => put dec (fst entry) (snd entry)) u t.

Lemma joined_right t u : proper_tally t -> proper_tally u ->
  proper_tally (joined t u)
  /\ (forall p, inside K p -> forall g, weighed p g (joined t u) = weighed p g t + weighed p g u)
  /\ (forall b, In b (map fst t) \/ In b (map fst u) -> In b (map fst (joined t u))).
Proof.
  intros Ht Hu. induction t as [|[a f] t IH].
  - split; [exact Hu | split]; [|intros b [[]|H]; exact H]. intros p Hp g. unfold weighed at 2; simpl. lra.
  - assert (Hf : proper K f) by (apply (Ht a); left; reflexivity).
    destruct IH as [I1 [I2 I3]]; [intros a' f' H; apply (Ht a'); right; exact H|].
    destruct (put_right dec a f _ Hf I1) as [H1 [H2 H3]]. split; [exact H1 | split].
    + intros p Hp g. change (weighed p g ((a, f) :: t)) with (amount K p f * g a + weighed p g t).
      simpl. rewrite H2, I2 by assumption. ring.
    + intros b [[<-|H]|H]; apply H3; [left; reflexivity | right; apply I3; left; exact H | right; apply I3; right; exact H].
Qed.

End Joined.

Lemma leads_parts {A B : Type} (dec : forall a b : B, {a = b} + {a <> b}) (q : A -> bool) (t : tally A) k u v :
  leads (filter (fun entry => q (fst entry)) t) k u -> leads (filter (fun entry => negb (q (fst entry))) t) k v ->
  leads t k (joined dec u v).
Proof.
  intros [U0 [U1 U2]] [V0 [V1 V2]]. destruct (joined_right dec u v U0 V0) as [J0 [J1 J2]]. split; [exact J0 | split].
  - intros p Hp g. rewrite J1, U1, V1 by exact Hp. clear. unfold weighed. induction t as [|[a f] t IH]; simpl; [lra|].
    destruct (q a); simpl; lra.
  - intros a Ha w b Hb. apply J2. apply in_map_iff in Ha. destruct Ha as [[a' f] [E Ha]]. simpl in E. subst a'.
    destruct (q a) eqn:Q; [left; apply (U2 a) with (w := w) | right; apply (V2 a) with (w := w)]; try exact Hb;
      apply in_map_iff; exists (a, f); split; try reflexivity; apply filter_In; split; try exact Ha; simpl; rewrite Q; reflexivity.
Qed.

Lemma filter_proper {A : Type} (q : A * fraction -> bool) (t : tally A) : proper_tally t -> proper_tally (filter q t).
Proof. intros H a f Hin. apply filter_In in Hin. apply (H a). apply Hin. Qed.

(** All entries changed by a function. *)
Definition changed {A B : Type} (dec : forall a b : B, {a = b} + {a <> b}) (f : A -> B) (t : tally A) : tally B :=
  fold_right (fun entry => put dec (f (fst entry)) (snd entry)) [] t.

Lemma changed_right {A B : Type} (dec : forall a b : B, {a = b} + {a <> b}) (f : A -> B) t : proper_tally t ->
  leads t (fun a => always (f a)) (changed dec f t).
Proof.
  induction t as [|[a h] t IH]; intros Pt.
  - split; [intros b g [] | split; [reflexivity | intros a []]].
  - assert (Hh : proper K h) by (apply (Pt a); left; reflexivity).
    destruct IH as [I0 [I1 I2]]; [intros a' f' H; apply (Pt a'); right; exact H|].
    destruct (put_right dec (f a) h _ Hh I0) as [H0 [H1 H2]]. split; [exact H0 | split].
    + intros p Hp g. simpl. rewrite H1, I1 by exact Hp. unfold weighed; simpl. rewrite mean_always. reflexivity.
    + intros a' [<-|Ha] w b Hb; apply H2; [left | right; apply (I2 a' Ha w); exact Hb].
      destruct Hb as [Hb|[]]. injection Hb as _ <-. reflexivity.
Qed.

(** The entries of a tally, each led on by itself. *)
Fixpoint spread {A B : Type} (dec : forall a b : B, {a = b} + {a <> b}) (next : A -> option (tally B)) (t : tally A)
    : option (tally B) :=
  match t with
  | [] => Some []
  | (a, f) :: rest => both (put_all dec f) (next a) (spread dec next rest)
  end.

Lemma spread_right {A B : Type} (dec : forall a b : B, {a = b} + {a <> b}) next (k : A -> distribution B) :
  (forall a u, next a = Some u -> tells u (k a)) ->
  forall t u, proper_tally t -> spread dec next t = Some u -> leads t k u.
Proof.
  intros Hk. induction t as [|[a f] t IH]; simpl; intros u Pt H.
  - injection H as <-. split; [intros b h [] | split; [reflexivity | intros a []]].
  - destruct (next a) as [v|] eqn:E; [|discriminate]. destruct (spread dec next t) as [r|]; [|discriminate].
    injection H as <-. assert (Hf : proper K f) by (apply (Pt a); left; reflexivity).
    destruct (IH r) as [I1 [I2 I3]]; [intros a' f' Hin; apply (Pt a'); right; exact Hin | reflexivity|].
    destruct (Hk a v E) as [K1 [K2 K3]]. destruct (put_all_right dec f v r Hf K1 I1) as [G1 [G2 G3]].
    split; [exact G1 | split].
    + intros p Hp g. rewrite G2, I2, <- K2 by assumption. unfold weighed; simpl. reflexivity.
    + intros a' [<-|Hin] w b Hb; apply G3; [left; apply (K3 w); exact Hb | right; apply (I3 a' Hin w); exact Hb].
Qed.

Lemma stays {A : Type} (t : tally A) : proper_tally t -> leads t always t.
Proof.
  intros Pt. split; [exact Pt | split].
  - intros p Hp g. apply weighed_ext. intros a _. symmetry. apply mean_always.
  - intros a Ha w b [H|[]]. injection H as _ <-. exact Ha.
Qed.

Lemma leads_nothing {A B : Type} (k : A -> distribution B) : leads [] k [].
Proof. split; [intros a f [] | split; [reflexivity | intros a []]]. Qed.

End Tally.

Arguments weighed {K A}.
Arguments proper_tally {K A}.
Arguments tells {K A}.
Arguments put {K A}.
Arguments put_right {K A}.
Arguments gathered_right {K A}.
Arguments leads {K A B}.
Arguments leads_then {K A B C}.
Arguments leads_after {K A B C}.
Arguments leads_ext {K A B}.
Arguments leads_parts {K A B}.
Arguments leads_nothing {K A B}.
Arguments weighed_ext {K A}.
Arguments joined {K A}.
Arguments joined_right {K A}.
Arguments filter_proper {K A}.
Arguments changed {K A B}.
Arguments changed_right {K A B}.
Arguments spread {K A B}.
Arguments spread_right {K A B}.
Arguments stays {K A}.
