(* Interactive systems as a whole: closures of hidden actions, and then a family or costs. *)
From Coq Require Import Reals ZArith QArith Qreals Lra Lia List Bool Arith.
From Paramverify Require Import Poly Goal Certificate Rule Check Sound Unwinding Weights Interactive Families Closures.
Import ListNotations.
Local Open Scope R_scope.

Inductive argument :=
  | ByFamily (step : weight) (pairs : list pair) (steps : nat)
  | ByCosts (classes leaders : list nat) (entries : list priced).

(* The states of `reach` are those that do not hide, to which inputs lead; the first `data` actions are data points,
   and those from `visible` on are hidden. For `guarded` see `Weights.assumed`. *)
Definition check_interactive (rec : checker) (g : goal) (signs : list sign) (s : system) (visible data guarded : nat)
  (groups : list (list closure)) (initial : nat) (reach : list nat) (ratio : weight) (why : argument) : bool :=
  let all := concat groups in
  let c := closed_system s visible all in
  signs_ok rec g signs && weights_ok g signs s && closures_ok g signs s visible all groups &&
  forallb (fun p => among reach (fst p)) (ends_of s visible all initial) &&
  forallb (fun x => forallb (fun a => Bool.eqb (empty (row s x a)) (empty (row c x a))) (seq 0 visible)) reach &&
  match why with
  | ByFamily step pairs steps => check_family g signs c guarded step pairs data reach steps ratio
  | ByCosts classes leaders entries => check_costs g signs c classes leaders entries data guarded visible reach ratio
  end.

(* --- probabilities of observations are limits --------------------------------------------------------------------- *)

(* By states, the probability of what is seen. That of one action is its weight. With f that of the rest, it is the
   limit of the probabilities that the action is seen, hidden steps end within n, and then the rest is seen. *)
Inductive observed (s : system) (visible : nat) (e : env) : list nat -> (nat -> R) -> Prop :=
  | nothing_more : observed s visible e [] (fun _ => 1)
  | one_action : forall a p, (forall x, p x = mean (fun _ => 1) (moves_at s e x a)) -> observed s visible e [a] p
  | one_more : forall a b t f p, observed s visible e (b :: t) f ->
      (forall x, Un_cv (fun n => mean (settle s visible e f n) (moves_at s e x a)) (p x)) ->
      observed s visible e (a :: b :: t) p.

Section System.

Variable rec : checker.
Variable g : goal.
Variable signs : list sign.
Variable s : system.
Variable visible : nat.
Variable groups : list (list closure).
Hypothesis rec_honest : honest rec.
Hypothesis known : signs_ok rec g signs = true.
Variable e : env.
Hypothesis in_domain : dom g e.
Hypothesis sound : sound_system e s.

Let all := concat groups.
Hypothesis right : closures_ok g signs s visible all groups = true.

Lemma distinct : different (map fst all) = true.
Proof. unfold closures_ok in right. apply andb_prop in right as [H _]. now apply andb_prop in H as [H _]. Qed.

Lemma each_of : forall gs before, groups_ok g signs s visible all before gs = true ->
  forall c, In c (concat gs) -> closure_form g signs s visible c = true.
Proof.
  induction gs as [|group gs IH]; intros before H c I; [destruct I|]. simpl in H, I.
  apply andb_prop in H as [H H2]. apply andb_prop in H as [H1 _].
  apply in_app_or in I as [I|I]; [|exact (IH _ H2 c I)]. rewrite forallb_forall in H1. exact (H1 c I).
Qed.

Lemma groups_right : groups_ok g signs s visible all [] groups = true.
Proof. unfold closures_ok in right. apply andb_prop in right as [H _]. now apply andb_prop in H as [_ H]. Qed.

Definition each := each_of groups [] groups_right.

Lemma all_settled : forall f, (forall x, 0 <= f x) -> forall x, settled s visible all e f x.
Proof.
  intros f F x. destruct (hidden s visible x) eqn:H; [|now apply shown_settled].
  assert (C : has all x = true).
  { unfold closures_ok in right. apply andb_prop in right as [_ K]. rewrite forallb_forall in K.
    destruct (Nat.lt_ge_cases x (length s)) as [L|L].
    - specialize (K x ltac:(apply in_seq; lia)). rewrite H in K. exact K.
    - exfalso. unfold hidden, hidden_row in H. rewrite (nth_overflow s) in H by assumption.
      rewrite skipn_nil in H. discriminate. }
  unfold has in C. destruct (find_closure all x) as [p|] eqn:E; [|discriminate]. apply find_in in E.
  apply (groups_settled g signs s visible all rec rec_honest known e in_domain sound distinct each f F groups [])
    with (p := p); auto; [intros y Y; discriminate | apply groups_right].
Qed.

Definition at_state (k z : nat) : R := if Nat.eqb z k then 1 else 0.

Lemma mean_apart : forall k l, ~ In k (map fst l) -> mean (at_state k) (valued e l) = 0.
Proof.
  intros k. induction l as [|[z w] l IH]; intro N; [reflexivity|]. cbn [valued map mean fst snd] in *.
  fold (valued e l). rewrite IH by (intro X; apply N; now right). unfold at_state.
  destruct (Nat.eqb_spec z k) as [->|Z]; [exfalso; apply N; now left | ring].
Qed.

Lemma mean_at : forall k w l, different (map fst l) = true -> In (k, w) l -> mean (at_state k) (valued e l) = value e w.
Proof.
  intros k w. induction l as [|[z v] l IH]; intros N I; [destruct I|]. cbn [map fst different] in N.
  apply andb_prop in N as [N1 N2]. apply negb_true_iff in N1.
  cbn [valued map mean fst snd]. fold (valued e l). destruct I as [I|I].
  - inversion I; subst. rewrite mean_apart; [unfold at_state; rewrite Nat.eqb_refl; ring|]. intro X.
    rewrite <- not_true_iff_false in N1. apply N1. apply existsb_exists. exists k. split; [assumption | apply Nat.eqb_refl].
  - rewrite (IH N2 I). unfold at_state. destruct (Nat.eqb_spec z k) as [->|Z]; [|ring]. exfalso.
    rewrite <- not_true_iff_false in N1. apply N1. apply existsb_exists. exists k.
    split; [exact (in_map fst _ _ I) | apply Nat.eqb_refl].
Qed.

Lemma ends_sound : forall x, sound_row e (ends_of s visible all x).
Proof.
  intros x [k w] P. pose proof (ends_good g signs s visible all rec rec_honest known e in_domain each x _ P) as W.
  split; [|exact W]. cbn [snd].
  assert (F : forall z, 0 <= at_state k z) by (intro z; unfold at_state; destruct (Nat.eqb z k); lra).
  destruct (all_settled (at_state k) F x) as [V _]. unfold at_end in V. rewrite (mean_at k w) in V; [exact V | | exact P].
  unfold ends_of. destruct (hidden s visible x) eqn:H; [|reflexivity].
  destruct (find_closure all x) as [[h ends]|] eqn:E; [|reflexivity]. apply find_in in E.
  exact (proj1 (proj2 (form_of g signs s visible all rec rec_honest known e in_domain each _ _ _ E))).
Qed.

Lemma onward_sound : forall l, sound_row e l -> sound_row e (onward s visible all l).
Proof.
  intros l L p P. apply in_flat_map in P as (q & Q & P). apply in_map_iff in P as (r & <- & R). cbn [snd].
  destruct (L q Q) as [V1 W1], (ends_sound (fst q) r R) as [V2 W2].
  destruct (times_value_ok e (snd q) (snd r) W1 W2) as [T1 T2]. split; [|exact T2]. rewrite T1. now apply Rmult_le_pos.
Qed.

Lemma nth_map_seq : forall A (f : nat -> A) n k d, (k < n)%nat -> nth k (map f (seq 0 n)) d = f k.
Proof.
  intros A f n k d L. rewrite nth_indep with (d' := f 0%nat) by (now rewrite map_length, seq_length).
  rewrite (map_nth f). now rewrite seq_nth.
Qed.

Lemma row_closed : forall x a, row (closed_system s visible all) x a =
  if Nat.ltb a visible then gather (onward s visible all (row s x a)) else [].
Proof.
  intros x a. unfold row, closed_system. destruct (Nat.lt_ge_cases x (length s)) as [L|L].
  - set (f := fun actions => map (fun a => gather (onward s visible all (nth a actions []))) (seq 0 visible)).
    rewrite (nth_indep (map f s) [] (f [])) by (rewrite map_length; exact L). rewrite (map_nth f). unfold f.
    destruct (Nat.ltb_spec a visible) as [A|A].
    + now rewrite nth_map_seq.
    + apply nth_overflow. now rewrite map_length, seq_length.
  - rewrite (nth_overflow (map _ _)) by (now rewrite map_length).
    rewrite (nth_overflow s) by assumption. destruct a, (Nat.ltb _ visible); reflexivity.
Qed.

Lemma closed_sound : sound_system e (closed_system s visible all).
Proof.
  intros x a. rewrite row_closed. destruct (Nat.ltb a visible); [|intros p []].
  apply gather_sound. apply onward_sound. apply sound.
Qed.

Lemma ends_whole : forall x, at_end s visible all e (fun _ => 1) x = 1.
Proof.
  intro x. unfold at_end, ends_of. destruct (hidden s visible x) eqn:H.
  - assert (C : exists p, find_closure all x = Some p).
    { unfold closures_ok in right. apply andb_prop in right as [_ K]. rewrite forallb_forall in K.
      destruct (Nat.lt_ge_cases x (length s)) as [L|L].
      - specialize (K x ltac:(apply in_seq; lia)). rewrite H in K. unfold has in K. fold all in K.
        destruct (find_closure all x) as [p|]; [now exists p | discriminate].
      - exfalso. unfold hidden, hidden_row in H. rewrite (nth_overflow s) in H by assumption.
        rewrite skipn_nil in H. discriminate. }
    destruct C as [[h ends] F]. rewrite F. apply find_in in F.
    exact (proj2 (proj2 (proj2 (form_of g signs s visible all rec rec_honest known e in_domain each _ _ _ F)))).
  - cbn [valued map mean fst snd]. rewrite one_value. ring.
Qed.

Lemma prob_closed : forall x a t, (a < visible)%nat ->
  prob (moves_at (closed_system s visible all) e) x (a :: t)
  = mean (at_end s visible all e (fun z => prob (moves_at (closed_system s visible all) e) z t)) (moves_at s e x a).
Proof.
  intros x a t L. cbn [prob]. unfold moves_at at 2. rewrite row_closed. destruct (Nat.ltb_spec a visible) as [_|N]; [|lia].
  rewrite (proj1 (gather_ok e _ _ (sound_good e _ (onward_sound _ (sound x a))))).
  exact (proj1 (onward_ok g signs s visible all rec rec_honest known e in_domain each _ _ (sound_good e _ (sound x a)))).
Qed.

Theorem closed_observed : forall t, Forall (fun a => (a < visible)%nat) t ->
  observed s visible e t (fun x => prob (moves_at (closed_system s visible all) e) x t).
Proof.
  intros t A. induction A as [|a t L A IH]; [apply nothing_more|]. destruct t as [|b t].
  - apply one_action. intro x. rewrite prob_closed by assumption. apply mean_ext. intros p _. apply ends_whole.
  - set (f := fun x => prob (moves_at (closed_system s visible all) e) x (b :: t)) in *.
    apply (one_more s visible e a b t f); [exact IH|]. intro x. rewrite prob_closed by assumption. fold f.
    assert (F : forall z, 0 <= f z) by (intro z; apply prob_nonneg; apply moves_nonneg; apply closed_sound).
    assert (N : f (never s) = 0).
    { unfold f. cbn [prob]. unfold moves_at at 2. rewrite row_closed. unfold row, never.
      rewrite (nth_overflow s) by lia. destruct b, (Nat.ltb _ visible); reflexivity. }
    apply mean_cv. intros p P. apply (all_settled f F). exact N.
Qed.

End System.

(* One data point more changes the probability of no observation by more than the ratio, wherever it comes. *)
Theorem check_interactive_sound : forall rec, honest rec -> forall g signs s visible data guarded groups initial reach ratio why,
  check_interactive rec g signs s visible data guarded groups initial reach ratio why = true ->
  forall e, dom g e -> let c := closed_system s visible (concat groups) in
  hides e c data guarded reach (value e ratio) /\
  (forall p, In p (ends_of s visible (concat groups) initial) -> In (fst p) reach) /\
  (forall x a, In x reach -> (a < visible)%nat -> (row s x a = [] <-> row c x a = [])) /\
  (forall t, Forall (fun a => (a < visible)%nat) t -> observed s visible e t (fun x => prob (moves_at c e) x t)).
Proof.
  intros rec R g signs s visible data guarded groups initial reach ratio why H e D c. unfold check_interactive in H.
  repeat (apply andb_prop in H as [H ?H]).
  rename H into Signs, H4 into W, H3 into C, H2 into First, H1 into Same, H0 into Why. fold c in Same, Why.
  pose proof (weights_sound rec g signs R Signs e D s W) as S.
  pose proof (closed_sound rec g signs s visible groups R Signs e D S C) as Sc. split; [|split; [|split]].
  - destruct why as [step pairs steps|classes leaders entries].
    + exact (check_family_sound rec g signs c guarded step pairs R data reach steps ratio Signs Why e D Sc).
    + exact (check_costs_sound rec g signs R c classes leaders entries data guarded visible reach ratio Signs Why e D Sc).
  - intros p P. rewrite forallb_forall in First. apply among_ok. exact (First p P).
  - intros x a X A. rewrite forallb_forall in Same. specialize (Same x X). rewrite forallb_forall in Same.
    specialize (Same a ltac:(apply in_seq; lia)). apply eqb_prop in Same.
    destruct (row s x a), (row c x a); simpl in Same; split; intro K; try discriminate; reflexivity.
  - exact (closed_observed rec g signs s visible groups R Signs e D S C).
Qed.

Corollary check_system_sound : forall lemmas g signs s visible data guarded groups initial reach ratio why,
  (forall l, In l lemmas -> holds l) ->
  check_interactive (check max_depth lemmas) g signs s visible data guarded groups initial reach ratio why = true ->
  forall e, dom g e -> let c := closed_system s visible (concat groups) in
  hides e c data guarded reach (value e ratio) /\
  (forall p, In p (ends_of s visible (concat groups) initial) -> In (fst p) reach) /\
  (forall x a, In x reach -> (a < visible)%nat -> (row s x a = [] <-> row c x a = [])) /\
  (forall t, Forall (fun a => (a < visible)%nat) t -> observed s visible e t (fun x => prob (moves_at c e) x t)).
Proof.
  intros lemmas g signs s visible data guarded groups initial reach ratio why L.
  apply (check_interactive_sound (check max_depth lemmas)). intros h k K. exact (check_sound max_depth lemmas h k L K).
Qed.
