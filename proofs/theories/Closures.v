(* Hidden actions of an interactive system: nobody sees them, and they go on until a state takes an input, gives a
   response or stops. A closure says where a hidden state ends, with which probabilities. That is a limit: of the
   probabilities to end within n hidden steps. Closures are given, and their equations and bounds of the numbers of
   steps show that they are right. Hidden actions that never end lead to a state that is none of the system, and that
   does nothing. *)
From Coq Require Import Reals ZArith QArith Qreals Lra Lia List Bool Arith.
From Paramverify Require Import Poly Goal Certificate Rule Unwinding Weights.
Import ListNotations.
Local Open Scope R_scope.

(* --- limits of sums ------------------------------------------------------------------------------------------ *)

Lemma const_cv : forall c, Un_cv (fun _ => c) c.
Proof. intros c eps E. exists O. intros n _. unfold R_dist. rewrite Rminus_diag_eq by reflexivity. now rewrite Rabs_R0. Qed.

Lemma cv_ext : forall u v a, (forall n, u n = v n) -> Un_cv u a -> Un_cv v a.
Proof. intros u v a E H eps P. destruct (H eps P) as [N K]. exists N. intros n L. rewrite <- E. now apply K. Qed.

Lemma cv_next : forall u a, Un_cv u a -> Un_cv (fun n => u (S n)) a.
Proof. intros u a H eps P. destruct (H eps P) as [N K]. exists N. intros n L. apply K. lia. Qed.

Lemma mean_cv : forall (u : nat -> nat -> R) a l, (forall p, In p l -> Un_cv (fun n => u n (fst p)) (a (fst p))) ->
  Un_cv (fun n => mean (u n) l) (mean a l).
Proof.
  intros u a. induction l as [|[z w] l IH]; intro H; cbn [mean]; [apply const_cv|].
  apply (CV_plus (fun n => w * u n z) (fun n => mean (u n) l)).
  - apply (CV_mult (fun _ => w) (fun n => u n z)); [apply const_cv | exact (H (z, w) (or_introl eq_refl))].
  - apply IH. intros p P. apply H. now right.
Qed.

Lemma mean_add : forall f h l, mean (fun z => f z + h z) l = mean f l + mean h l.
Proof. intros f h. induction l as [|[z w] l IH]; simpl; [ring|]. rewrite IH. ring. Qed.

(* --- a group of states that is left ---------------------------------------------------------------------------- *)

Lemma least : forall (q : nat -> R) x l, exists y, In y (x :: l) /\ forall z, In z (x :: l) -> q y <= q z.
Proof.
  intros q x l. revert x. induction l as [|a l IH]; intro x.
  - exists x. split; [now left|]. intros z [<-|[]]. lra.
  - destruct (IH a) as (y & Y & M). destruct (Rle_lt_dec (q x) (q y)) as [L|L].
    + exists x. split; [now left|]. intros z [<-|Z]; [lra|]. specialize (M z Z). lra.
    + exists y. split; [now right|]. intros z [<-|Z]; [lra|]. exact (M z Z).
Qed.

Section Group.

Variable steps : nat -> list (nat * R).
Variable inner : nat -> bool.  (* the members *)
Variable members : list nat.
Variable h d : nat -> R.
Hypothesis weights : forall x p, In x members -> In p (steps x) -> 0 <= snd p.
Hypothesis inner_ok : forall z, inner z = true -> In z members.
Hypothesis times : forall x, In x members -> 1 <= h x /\ h x = 1 + mean (fun z => if inner z then h z else 0) (steps x).
Hypothesis above : forall x, In x members -> mean (fun z => if inner z then d z else 0) (steps x) <= d x.

(* The least quotient of d and h is not negative, since a step takes 1 from h. *)
Lemma above_zero : forall x, In x members -> 0 <= d x.
Proof.
  intros x X. destruct members as [|y l] eqn:E; [destruct X|]. rewrite <- E in *. clear E y l.
  assert (H : forall y, In y members -> 0 < h y) by (intros y Y; destruct (times y Y); lra).
  assert (Y : exists y, In y members /\ forall z, In z members -> d y / h y <= d z / h z).
  { destruct members as [|a l]; [destruct X|]. apply least. }
  destruct Y as (y & Y & M). set (m := d y / h y) in *.
  assert (B : forall z, In z members -> m * h z <= d z).
  { intros z Z. specialize (M z Z). specialize (H z Z). apply Rmult_le_compat_r with (r := h z) in M; [|lra].
    unfold Rdiv in M at 1. rewrite Rmult_assoc, Rinv_l, Rmult_1_r in M by lra. exact M. }
  destruct (times y Y) as [_ T]. pose proof (above y Y) as A.
  assert (K : m * mean (fun z => if inner z then h z else 0) (steps y)
    <= mean (fun z => if inner z then d z else 0) (steps y)).
  { rewrite <- mean_scaled. apply mean_le. intros p P. split; [exact (weights y p Y P)|].
    destruct (inner (fst p)) eqn:I; [|lra]. apply B. now apply inner_ok. }
  assert (D : d y = m * h y) by (unfold m; field; specialize (H y Y); lra).
  assert (0 <= m).
  { replace (mean (fun z => if inner z then h z else 0) (steps y)) with (h y - 1) in K by lra. lra. }
  apply Rle_trans with (m * h x); [|now apply B]. apply Rmult_le_pos; [assumption|]. specialize (H x X). lra.
Qed.

End Group.

(* --- closures ---------------------------------------------------------------------------------------------------- *)

(* A hidden state, a bound of the expected number of steps inside of its group, and where it ends. *)
Definition closure := (nat * (weight * list (nat * weight)))%type.

Definition find_closure (l : list closure) (x : nat) : option (weight * list (nat * weight)) :=
  match find (fun c => Nat.eqb (fst c) x) l with Some c => Some (snd c) | None => None end.

Definition has (l : list closure) (x : nat) : bool := match find_closure l x with Some _ => true | None => false end.

Definition times_weight (x y : weight) : weight := (qmul (fst x) (fst y), qmul (snd x) (snd y)).

Fixpoint different (l : list nat) : bool :=
  match l with [] => true | k :: l => negb (existsb (Nat.eqb k) l) && different l end.

Section Closures.

Variable g : goal.
Variable signs : list sign.
Variable s : system.
Variable visible : nat.  (* actions from this number on are hidden; a state has at most one *)
Variable all : list closure.

Definition hidden_row (x : nat) : list (nat * weight) := concat (skipn visible (nth x s [])).
Definition hidden (x : nat) : bool := match hidden_row x with [] => false | _ => true end.

Definition ends_of (x : nat) : list (nat * weight) :=
  if hidden x then match find_closure all x with Some (_, ends) => ends | None => [] end else [(x, one)].

Definition onward (l : list (nat * weight)) : list (nat * weight) :=
  flat_map (fun p => map (fun q => (fst q, times_weight (snd p) (snd q))) (ends_of (fst p))) l.

Definition inside_group (group : list closure) (l : list (nat * weight)) : list (nat * weight) :=
  flat_map (fun p => match find_closure group (fst p) with
                     | Some (h, _) => [(fst p, times_weight (snd p) h)]
                     | None => []
                     end) l.

Definition never : nat := length s.

Definition closure_form (c : closure) : bool :=
  let '(x, (h, ends)) := c in
  hidden x && different (map fst ends) &&
  forallb (fun p => ask g signs true (snd (snd p)) && negb (hidden (fst p))) ends && same_weight (added_up ends) one.

Definition closure_ok (before group : list closure) (c : closure) : bool :=
  let '(x, (h, ends)) := c in
  ask g signs true (snd h) && ask g signs false (fst h) &&
  same_weight h (added_up ((x, one) :: inside_group group (hidden_row x))) &&
  forallb (fun p => negb (hidden (fst p)) || has group (fst p) || has before (fst p)) (hidden_row x) &&
  same_row (gather (onward (hidden_row x))) ends.

(* No step leads out of the group. *)
Definition endless (group : list closure) (c : closure) : bool :=
  let '(x, (h, ends)) := c in forallb (fun p => has group (fst p)) (hidden_row x) && same_row ends [(never, one)].

Fixpoint groups_ok (before : list closure) (groups : list (list closure)) : bool :=
  match groups with
  | [] => true
  | group :: groups =>
    forallb closure_form group && (forallb (closure_ok before group) group || forallb (endless group) group) &&
    groups_ok (group ++ before) groups
  end.

(* Where an action of a state leads to when the hidden ones are over. *)
Definition closed_system : system :=
  map (fun actions => map (fun a => gather (onward (nth a actions []))) (seq 0 visible)) s.

Definition closures_ok (groups : list (list closure)) : bool :=
  different (map fst all) && groups_ok [] groups &&
  forallb (fun x => negb (hidden x) || has all x) (seq 0 (length s)).

(* --- they are right --------------------------------------------------------------------------------------------- *)

Variable rec : checker.
Hypothesis rec_honest : honest rec.
Hypothesis known : signs_ok rec g signs = true.
Variable e : env.
Hypothesis in_domain : dom g e.
Hypothesis sound : sound_system e s.
Hypothesis distinct : different (map fst all) = true.

Lemma find_in : forall l x p, find_closure l x = Some p -> In (x, p) l.
Proof.
  intros l x p H. unfold find_closure in H. destruct (find (fun c => Nat.eqb (fst c) x) l) as [[y q]|] eqn:E; [|discriminate].
  apply find_some in E as [I E]. simpl in *. apply Nat.eqb_eq in E. inversion H; subst. exact I.
Qed.

Lemma in_has : forall l x p, In (x, p) l -> exists q, find_closure l x = Some q.
Proof.
  intros l x p I. unfold find_closure. destruct (find (fun c => Nat.eqb (fst c) x) l) as [[y q]|] eqn:E; [exists q; reflexivity|].
  pose proof (find_none _ _ E _ I) as N. simpl in N. now rewrite Nat.eqb_refl in N.
Qed.

Lemma in_all : forall x p, In (x, p) all -> find_closure all x = Some p.
Proof.
  intros x p. generalize distinct. clear. induction all as [|[y q] l IH]; intros N I; [destruct I|].
  simpl in N. apply andb_prop in N as [N1 N2]. unfold find_closure. simpl. destruct I as [I|I].
  - inversion I; subst. now rewrite Nat.eqb_refl.
  - destruct (Nat.eqb_spec y x) as [->|Y]; [|exact (IH N2 I)]. apply negb_true_iff in N1. exfalso.
    rewrite <- not_true_iff_false in N1. apply N1. apply existsb_exists. exists x.
    split; [apply (in_map fst _ _ I) | apply Nat.eqb_refl].
Qed.

Lemma hidden_sound : forall x, sound_row e (hidden_row x).
Proof.
  intros x p P. unfold hidden_row in P. apply in_concat in P as (m & M1 & M2).
  assert (M : In m (nth x s [])).
  { rewrite <- (firstn_skipn visible (nth x s [])). apply in_or_app. now right. }
  apply (In_nth _ _ []) in M as (a & _ & A). apply (sound x a). unfold row. now rewrite A.
Qed.

Lemma times_value_ok : forall x y, sound_weight e x -> sound_weight e y ->
  value e (times_weight x y) = value e x * value e y /\ sound_weight e (times_weight x y).
Proof.
  intros [t b] [u d] X Y. unfold sound_weight, times_weight, value in *. cbn [fst snd] in *. rewrite !qeval_mul.
  split; [field; lra | now apply Rmult_lt_0_compat].
Qed.

Let asked := ask_ok rec g signs rec_honest known e in_domain.

(* Each closure was looked at. *)
Hypothesis each : forall c, In c all -> closure_form c = true.

Lemma form_of : forall x h ends, In (x, (h, ends)) all ->
  hidden x = true /\ different (map fst ends) = true /\ good_row e ends /\ mean (fun _ => 1) (valued e ends) = 1.
Proof.
  intros x h ends I. apply each in I. unfold closure_form in I. apply andb_prop in I as [I One].
  apply andb_prop in I as [I F]. apply andb_prop in I as [I D]. rewrite forallb_forall in F.
  assert (G : good_row e ends).
  { intros p P. specialize (F p P). apply andb_prop in F as [F _]. exact (asked true _ F). }
  split; [exact I|]. split; [exact D|]. split; [exact G|]. destruct (added_up_ok e ends G) as [S1 S2].
  rewrite S1, (same_weight_ok e _ _ S2 (one_sound e) One). apply one_value.
Qed.

Lemma ends_good : forall x, good_row e (ends_of x).
Proof.
  intros x. unfold ends_of. destruct (hidden x); [|intros p [<-|[]]; apply one_sound].
  destruct (find_closure all x) as [[h ends]|] eqn:F; [|intros p []]. apply find_in in F.
  exact (proj1 (proj2 (proj2 (form_of _ _ _ F)))).
Qed.

Section Means.

Variable f : nat -> R.
Hypothesis f_nonneg : forall x, 0 <= f x.

(* The mean where a state ends. *)
Definition at_end (x : nat) : R := mean f (valued e (ends_of x)).

(* The mean where it ends within n hidden steps. *)
Fixpoint settle (n x : nat) : R :=
  match n with
  | O => if hidden x then 0 else f x
  | S n => if hidden x then mean (settle n) (valued e (hidden_row x)) else f x
  end.

Lemma onward_ok : forall l, good_row e l ->
  mean f (valued e (onward l)) = mean at_end (valued e l) /\ good_row e (onward l).
Proof.
  induction l as [|[z w] l IH]; intro L; [split; [reflexivity | intros p []]|].
  destruct (IH (fun p P => L p (or_intror P))) as [I1 I2]. pose proof (L (z, w) (or_introl eq_refl)) as W.
  cbn [snd] in W. cbn [onward flat_map fst snd]. fold (onward l).
  set (m := map (fun q => (fst q, times_weight w (snd q))) (ends_of z)).
  assert (M : mean f (valued e m) = value e w * at_end z /\ good_row e m).
  { unfold m, at_end. pose proof (ends_good z) as G. clear - W G.
    induction (ends_of z) as [|[y v] r IH]; [split; [simpl; ring | intros p []]|].
    destruct (IH (fun p P => G p (or_intror P))) as [A B]. pose proof (G (y, v) (or_introl eq_refl)) as V.
    cbn [snd] in V. destruct (times_value_ok w v W V) as [T1 T2]. split.
    - cbn [map valued mean fst snd] in *. unfold valued in A. rewrite T1, A. ring.
    - intros p [<-|P]; [exact T2 | now apply B]. }
  destruct M as [M1 M2]. split.
  - unfold valued. rewrite map_app. fold (valued e m). fold (valued e (onward l)).
    rewrite mean_app, M1, I1. cbn [valued map mean fst snd]. reflexivity.
  - intros p P. apply in_app_or in P as [P|P]; auto.
Qed.

Lemma at_end_hidden : forall before group x h ends, In (x, (h, ends)) all ->
  closure_ok before group (x, (h, ends)) = true -> at_end x = mean at_end (valued e (hidden_row x)).
Proof.
  intros before group x h ends I H. destruct (form_of _ _ _ I) as (Hx & _ & E & _). unfold closure_ok in H.
  apply andb_prop in H as [_ S]. unfold at_end at 1, ends_of. rewrite Hx, (in_all _ _ I).
  destruct (onward_ok (hidden_row x) (sound_good e _ (hidden_sound x))) as [O1 O2].
  destruct (gather_ok e f _ O2) as [G1 G2]. rewrite <- O1, <- G1. symmetry. now apply (same_row_ok e f).
Qed.

Lemma at_end_shown : forall x, hidden x = false -> at_end x = f x.
Proof. intros x H. unfold at_end, ends_of. rewrite H. cbn [valued map mean fst snd]. rewrite one_value. ring. Qed.

Lemma settle_shown : forall n x, hidden x = false -> settle n x = f x.
Proof. intros [|n] x H; simpl; now rewrite H. Qed.

Lemma row_weights : forall x p, In p (valued e (hidden_row x)) -> 0 <= snd p.
Proof. intros x p P. apply in_map_iff in P as (q & <- & Q). exact (proj1 (hidden_sound x q Q)). Qed.

Lemma settle_grows : forall n x, 0 <= settle n x /\ settle n x <= settle (S n) x.
Proof.
  induction n as [|n IH]; intro x.
  - cbn [settle]. destruct (hidden x); [|split; [apply f_nonneg | lra]]. split; [lra|].
    apply mean_nonneg; [|apply row_weights]. intro z. cbn [settle]. destruct (hidden z); [lra | apply f_nonneg].
  - split; [apply Rle_trans with (settle n x); apply IH|]. cbn [settle]. destruct (hidden x); [|lra].
    apply mean_le. intros p P. split; [exact (row_weights x p P)|]. apply (IH (fst p)).
Qed.

(* What never ends counts nothing. *)
Definition settled (x : nat) : Prop := 0 <= at_end x /\ (f never = 0 -> Un_cv (fun n => settle n x) (at_end x)).

Lemma shown_settled : forall x, hidden x = false -> settled x.
Proof.
  intros x H. split; [rewrite at_end_shown by assumption; apply f_nonneg|]. intros _.
  apply (cv_ext (fun _ => f x)); [intro n; now rewrite settle_shown|]. rewrite at_end_shown by assumption. apply const_cv.
Qed.

Lemma settled_below : forall x n, f never = 0 -> settled x -> settle n x <= at_end x.
Proof. intros x n Z [_ C]. apply (growing_ineq (fun n => settle n x)); [intro m; apply settle_grows | exact (C Z)]. Qed.

Lemma endless_settled : forall group, (forall c, In c group -> In c all /\ endless group c = true) ->
  forall c, In c group -> settled (fst c).
Proof.
  intros group G.
  assert (Zero : forall n x, has group x = true -> settle n x = 0).
  { induction n as [|n IH]; intros x X; unfold has in X; destruct (find_closure group x) as [[h ends]|] eqn:F;
      try discriminate; apply find_in in F; destruct (G _ F) as [A H]; destruct (form_of _ _ _ A) as (Hx & _);
      cbn [settle]; rewrite Hx; [reflexivity|]. unfold endless in H. apply andb_prop in H as [H _].
    rewrite forallb_forall in H. rewrite (mean_ext _ (fun _ => 0)); [rewrite mean_const; ring|].
    intros p P. apply in_map_iff in P as (q & <- & Q). cbn [fst]. apply IH. exact (H q Q). }
  intros [x [h ends]] I. cbn [fst]. destruct (G _ I) as [A H]. destruct (form_of _ _ _ A) as (Hx & _ & E & _).
  assert (V : at_end x = f never).
  { unfold at_end, ends_of. rewrite Hx, (in_all _ _ A). unfold endless in H. apply andb_prop in H as [_ H].
    assert (N : good_row e [(never, one)]) by (intros p [<-|[]]; apply one_sound).
    rewrite (proj1 (same_row_ok e f _ _ E N H)). cbn [valued map mean fst snd]. rewrite one_value. ring. }
  split; [rewrite V; apply f_nonneg|]. intro Z. rewrite V, Z. apply (cv_ext (fun _ => 0)); [|apply const_cv].
  intro n. symmetry. apply Zero. destruct (in_has _ _ _ I) as [q F]. unfold has. now rewrite F.
Qed.

Lemma inside_ok : forall group, (forall z h ends, find_closure group z = Some (h, ends) -> sound_weight e h) ->
  forall l, good_row e l -> good_row e (inside_group group l) /\
  mean (fun _ => 1) (valued e (inside_group group l)) =
  mean (fun z => if has group z then match find_closure group z with Some (h, _) => value e h | None => 0 end else 0)
    (valued e l).
Proof.
  intros group G. induction l as [|[z w] l IH]; intro L; [split; [intros p [] | reflexivity]|].
  destruct (IH (fun p P => L p (or_intror P))) as [I1 I2]. pose proof (L (z, w) (or_introl eq_refl)) as W.
  cbn [snd] in W. cbn [inside_group flat_map fst snd]. fold (inside_group group l).
  cbn [valued map mean fst snd]. fold (valued e l).
  assert (Hz : has group z = match find_closure group z with Some _ => true | None => false end) by reflexivity.
  destruct (find_closure group z) as [[h ends]|] eqn:F; cbn [app]; rewrite Hz.
  - destruct (times_value_ok w h W (G _ _ _ F)) as [T1 T2]. split.
    + intros p [<-|P]; [exact T2 | now apply I1].
    + cbn [valued map mean fst snd]. fold (valued e (inside_group group l)). rewrite T1, I2. ring.
  - split; [exact I1|]. rewrite I2. ring.
Qed.

Lemma group_settled : forall before group, (forall x, has before x = true -> settled x) ->
  (forall c, In c group -> In c all /\ closure_ok before group c = true) -> forall c, In c group -> settled (fst c).
Proof.
  intros before group B G.
  assert (Own : forall x p, In (x, p) group -> find_closure group x = Some p).
  { intros x p I. destruct (in_has _ _ _ I) as [q F]. rewrite F. apply find_in in F.
    destruct (G _ I) as [A1 _], (G _ F) as [A2 _]. apply in_all in A1, A2. congruence. }
  assert (Sh : forall z h ends, find_closure group z = Some (h, ends) -> sound_weight e h /\ 0 <= value e h).
  { intros z h ends F. apply find_in in F. destruct (G _ F) as [_ H]. unfold closure_ok in H.
    do 3 (apply andb_prop in H as [H _]). apply andb_prop in H as [H1 H2].
    apply asked in H1, H2. split; [exact H1|]. unfold value, Rdiv. apply Rmult_le_pos; [exact H2|].
    left. now apply Rinv_0_lt_compat. }
  set (times := fun z => match find_closure group z with Some (h, _) => value e h | None => 0 end).
  assert (InHas : forall z, In z (map fst group) -> has group z = true).
  { intros z Z. apply in_map_iff in Z as ([y p] & <- & I). unfold has. simpl. now rewrite (Own _ _ I). }
  assert (HasIn : forall z, has group z = true -> In z (map fst group)).
  { intros z Z. unfold has in Z. destruct (find_closure group z) as [p|] eqn:F; [|discriminate].
    apply find_in in F. exact (in_map fst _ _ F). }
  assert (Weights : forall x p, In x (map fst group) -> In p (valued e (hidden_row x)) -> 0 <= snd p).
  { intros x p _ P. exact (row_weights x p P). }
  assert (Times : forall x, In x (map fst group) ->
    1 <= times x /\ times x = 1 + mean (fun z => if has group z then times z else 0) (valued e (hidden_row x))).
  { intros x X. apply in_map_iff in X as ([y [h ends]] & <- & I). cbn [fst].
    assert (T : times y = value e h) by (unfold times; now rewrite (Own _ _ I)).
    destruct (G _ I) as [_ H]. destruct (Sh _ _ _ (Own _ _ I)) as [H1 _]. unfold closure_ok in H.
    do 2 (apply andb_prop in H as [H _]). apply andb_prop in H as [_ H].
    destruct (inside_ok group (fun z h' r F => proj1 (Sh z h' r F)) (hidden_row y)
      (sound_good e _ (hidden_sound y))) as [I1 I2].
    assert (Good : good_row e ((y, one) :: inside_group group (hidden_row y))).
    { intros p [<-|P]; [apply one_sound | now apply I1]. }
    destruct (added_up_ok e _ Good) as [S1 S2]. apply (same_weight_ok e _ _ H1 S2) in H. rewrite <- S1 in H.
    cbn [valued map mean fst snd] in H. fold (valued e (inside_group group (hidden_row y))) in H.
    rewrite one_value, I2 in H.
    change (value e h = 1 * 1 + mean (fun z => if has group z then times z else 0) (valued e (hidden_row y))) in H.
    assert (0 <= mean (fun z => if has group z then times z else 0) (valued e (hidden_row y))).
    { apply mean_nonneg; [|apply row_weights]. intro z. unfold times.
      destruct (has group z); [|lra]. destruct (find_closure group z) as [[h' r]|] eqn:F; [|lra]. apply (Sh _ _ _ F). }
    rewrite T. rewrite Rmult_1_r in H. split; [rewrite H; lra | exact H]. }
  assert (Equation : forall x, In x (map fst group) -> hidden x = true /\
    at_end x = mean at_end (valued e (hidden_row x)) /\
    forall p, In p (valued e (hidden_row x)) -> has group (fst p) = true \/ settled (fst p)).
  { intros x X. apply in_map_iff in X as ([y [h ends]] & <- & I). destruct (G _ I) as [A H]. cbn [fst].
    pose proof (at_end_hidden _ _ _ _ _ A H) as E. unfold closure_ok in H. apply andb_prop in H as [H _].
    apply andb_prop in H as [_ K]. split; [exact (proj1 (form_of _ _ _ A))|]. split; [exact E|].
    intros p P. apply in_map_iff in P as (q & <- & Q). cbn [fst]. rewrite forallb_forall in K. specialize (K q Q).
    apply orb_prop in K as [K|K]; [|right; now apply B]. apply orb_prop in K as [K|K]; [|now left].
    right. apply shown_settled. now apply negb_true_iff. }
  assert (Nonneg : forall x, In x (map fst group) -> 0 <= at_end x).
  { apply (above_zero (fun x => valued e (hidden_row x)) (has group) (map fst group) times at_end Weights HasIn Times).
    intros x X. destruct (Equation x X) as (_ & E & K). rewrite E. apply mean_le. intros p P.
    split; [exact (row_weights x p P)|]. destruct (has group (fst p)) eqn:F; [lra|].
    destruct (K p P) as [K1|K1]; [congruence | apply K1]. }
  intros [c given] I. cbn [fst]. assert (Member : In c (map fst group)) by exact (in_map fst _ _ I).
  split; [now apply Nonneg|]. intro NoEnd.
  assert (Below : forall n x, In x (map fst group) -> settle n x <= at_end x).
  { induction n as [|n IH]; intros x X; destruct (Equation x X) as (Hx & E & K); cbn [settle]; rewrite Hx.
    - exact (Nonneg x X).
    - rewrite E. apply mean_le. intros p P. split; [exact (row_weights x p P)|].
      destruct (K p P) as [K1|K1]; [apply IH; now apply HasIn | now apply settled_below]. }
  set (capped := fun x n => Rmin (settle n x) (at_end x)).
  assert (Grow : forall x, Un_growing (capped x)).
  { intros x n. unfold capped, Rmin. pose proof (proj2 (settle_grows n x)).
    destruct (Rle_dec (settle n x) (at_end x)), (Rle_dec (settle (S n) x) (at_end x)); lra. }
  assert (Bound : forall x, has_ub (capped x)).
  { intros x. exists (at_end x). intros r [n ->]. apply Rmin_r. }
  set (limit := fun x => proj1_sig (growing_cv (capped x) (Grow x) (Bound x))).
  assert (Lim : forall x, In x (map fst group) -> Un_cv (fun n => settle n x) (limit x)).
  { intros x X. apply (cv_ext (capped x)); [|exact (proj2_sig (growing_cv (capped x) (Grow x) (Bound x)))].
    intro n. unfold capped. apply Rmin_left. now apply Below. }
  set (a := fun z => if has group z then limit z else at_end z).
  assert (LimRow : forall x, In x (map fst group) -> limit x = mean a (valued e (hidden_row x))).
  { intros x X. destruct (Equation x X) as (Hx & _ & K).
    apply (UL_sequence (fun n => settle (S n) x)); [apply (cv_next (fun n => settle n x)); now apply Lim|].
    apply (cv_ext (fun n => mean (settle n) (valued e (hidden_row x)))); [intro n; cbn [settle]; now rewrite Hx|].
    apply mean_cv. intros p P. unfold a. destruct (has group (fst p)) eqn:F; [apply Lim; now apply HasIn|].
    destruct (K p P) as [K1|K1]; [congruence | exact (proj2 K1 NoEnd)]. }
  assert (Above : forall x, In x (map fst group) -> 0 <= limit x - at_end x).
  { intros x X.
    assert (Z : 0 <= a x - at_end x).
    { revert x X.
      apply (above_zero (fun x => valued e (hidden_row x)) (has group) (map fst group) times (fun z => a z - at_end z)
        Weights HasIn Times).
      intros x X. destruct (Equation x X) as (_ & E & _).
      assert (a x = limit x) by (unfold a; now rewrite (InHas x X)).
      rewrite H, (LimRow x X). rewrite E at 1.
      assert (Q : mean a (valued e (hidden_row x)) =
        mean (fun z => if has group z then a z - at_end z else 0) (valued e (hidden_row x))
        + mean at_end (valued e (hidden_row x))).
      { rewrite <- mean_add. apply mean_ext. intros p P. unfold a. destruct (has group (fst p)); ring. }
      rewrite Q. lra. }
    unfold a in Z. now rewrite (InHas x X) in Z. }
  replace (at_end c) with (limit c); [now apply Lim|].
  apply Rle_antisym; [|specialize (Above c Member); lra].
  apply (@Rle_cv_lim (capped c) (fun _ => at_end c)); [intro n; apply Rmin_r | | apply const_cv].
  exact (proj2_sig (growing_cv (capped c) (Grow c) (Bound c))).
Qed.

Lemma groups_settled : forall groups before, (forall x, has before x = true -> settled x) ->
  (forall c, In c (concat groups) -> In c all) -> groups_ok before groups = true ->
  forall x p, In (x, p) (concat groups) -> settled x.
Proof.
  induction groups as [|group groups IH]; intros before B A H x p I; [destruct I|].
  simpl in H, I. apply andb_prop in H as [H H2]. apply andb_prop in H as [_ H1].
  assert (G : forall c, In c group -> settled (fst c)).
  { assert (M : forall c, In c group -> In c all) by (intros c C; apply A; simpl; apply in_or_app; now left).
    apply orb_prop in H1 as [H1|H1]; rewrite forallb_forall in H1.
    - apply (group_settled before group B). intros c C. split; [exact (M c C) | exact (H1 c C)].
    - apply (endless_settled group). intros c C. split; [exact (M c C) | exact (H1 c C)]. }
  apply in_app_or in I as [I|I]; [exact (G _ I)|]. apply (IH (group ++ before)) with (p := p); auto.
  - intros y Y. unfold has in Y. destruct (find_closure (group ++ before) y) as [q|] eqn:F; [|discriminate].
    apply find_in in F. apply in_app_or in F as [F|F]; [exact (G _ F)|]. apply B. unfold has.
    destruct (in_has _ _ _ F) as [r ->]. reflexivity.
  - intros c C. apply A. simpl. apply in_or_app. now right.
Qed.

End Means.

End Closures.
