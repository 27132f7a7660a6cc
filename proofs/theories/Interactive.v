(* Costs of pairs of states of an interactive system: see `Unwinding` for what costs show. States that nobody can
   tell apart are put together first. *)
From Coq Require Import Reals ZArith QArith Qreals Lra Lia List Bool Arith Permutation.
From Paramverify Require Import Poly Goal Certificate Rule Unwinding Weights.
Import ListNotations.
Local Open Scope R_scope.

(* A pair of states, its cost, and for each action the partners of the outcomes of the first: each is a place
   in what is left of the outcomes of the second. *)
Record priced := Entry { left : nat; right : nat; price : weight; partners : list (list nat) }.

Section Costs.

Variable rec : checker.
Variable g : goal.
Variable signs : list sign.

(* --- pairs of states ---------------------------------------------------------------------------------------- *)

Section Pairs.

Variable s : system.
Variable guarded : nat.
Variable entries : list priced.

Definition find_price (x y : nat) : option weight :=
  if Nat.eqb x y then Some one
  else match find (fun n => Nat.eqb (left n) x && Nat.eqb (right n) y) entries with
       | Some n => Some (price n)
       | None => None
       end.

(* A state has no cost against itself. *)
Definition shares (x y : nat) (w d c v : weight) : bool :=
  if Nat.eqb x y then at_most g signs [w] [c; v] else at_most g signs [w; d] [c; v].

Fixpoint match_rows (c : weight) (mu nu : list (nat * weight)) (ps : list nat) : bool :=
  match mu, ps with
  | [], [] => true
  | (z, w) :: mu, p :: ps =>
    match take p nu with
    | Some ((y, v), nu) =>
      match find_price z y with
      | Some d => shares z y w d c v && match_rows c mu nu ps
      | None => false
      end
    | None => false
    end
  | _, _ => false
  end.

Definition entry_ok (n : priced) : bool :=
  ask g signs true (snd (price n)) && at_most g signs [one] [price n] &&
  forallb (fun a => (assumed s guarded (right n) a && empty (row s (right n) a)) ||
    match_rows (price n) (row s (left n) a) (row s (right n) a) (nth a (partners n) []))
    (seq 0 (length (nth (left n) s []))).

Definition cheap (ratio : weight) (x y : nat) : bool :=
  match find_price x y with Some c => at_most g signs [c] [ratio] | None => false end.

Hypothesis rec_honest : honest rec.
Hypothesis known : signs_ok rec g signs = true.
Variable e : env.
Hypothesis in_domain : dom g e.
Hypothesis sound : sound_system e s.
Hypothesis accepted : forallb entry_ok entries = true.

Let asked := ask_ok rec g signs rec_honest known e in_domain.
Let less := at_most_ok rec g signs rec_honest known e in_domain.

Lemma entry_in : forall n, In n entries -> entry_ok n = true.
Proof. intros n I. rewrite forallb_forall in accepted. exact (accepted n I). Qed.

Lemma price_sound : forall n, In n entries -> sound_weight e (price n).
Proof.
  intros n I. apply entry_in in I. unfold entry_ok in I. apply andb_prop in I as [I _].
  apply andb_prop in I as [I _]. apply asked in I. exact I.
Qed.

Definition cost (x y : nat) (c : R) : Prop := exists w, find_price x y = Some w /\ value e w = c.

Lemma find_price_cases : forall x y w, find_price x y = Some w ->
  (x = y /\ w = one) \/ exists n, In n entries /\ left n = x /\ right n = y /\ price n = w.
Proof.
  intros x y w H. unfold find_price in H. destruct (Nat.eqb_spec x y) as [->|N].
  - left. split; congruence.
  - right. destruct (find _ entries) as [n|] eqn:E; [|discriminate]. apply find_some in E as [I E].
    apply andb_prop in E as [E1 E2]. apply Nat.eqb_eq in E1, E2. exists n. repeat split; congruence.
Qed.

Lemma found_sound : forall x y w, find_price x y = Some w -> sound_weight e w.
Proof.
  intros x y w H. destruct (find_price_cases x y w H) as [[_ ->]|(n & I & _ & _ & <-)];
    [apply one_sound | apply price_sound; assumption].
Qed.

Lemma shares_ok : forall x y w d c v, find_price x y = Some d -> sound_weight e w -> sound_weight e c ->
  sound_weight e v -> shares x y w d c v = true -> value e w * value e d <= value e c * value e v.
Proof.
  intros x y w d c v F W C V H. pose proof (found_sound _ _ _ F) as D. unfold shares in H.
  assert (Two : forall a b, sound_weight e a -> sound_weight e b -> Forall (sound_weight e) [a; b]) by (intros; auto).
  destruct (Nat.eqb_spec x y) as [->|N]; apply less in H; auto; simpl in H; [|lra].
  unfold find_price in F. rewrite Nat.eqb_refl in F. inversion F; subst d. rewrite one_value. lra.
Qed.

Lemma match_rows_ok : forall c mu nu ps, sound_weight e c -> sound_row e mu -> sound_row e nu ->
  match_rows c mu nu ps = true -> matched cost (value e c) (valued e mu) (valued e nu).
Proof.
  intros c. induction mu as [|[z w] mu IH]; intros nu [|p ps] C M N H; try discriminate.
  - exists [], (valued e nu). split; [apply Permutation_refl | constructor].
  - cbn [match_rows] in H. destruct (take p nu) as [[[y v] rest]|] eqn:T; [|discriminate].
    destruct (find_price z y) as [d|] eqn:F; [|discriminate]. apply andb_prop in H as [H1 H2].
    apply take_permutes in T.
    assert (Nr : sound_row e rest).
    { intros q Q. apply N. apply (Permutation_in q (Permutation_sym T)). now right. }
    assert (Nv : sound_weight e v).
    { apply (N (y, v)). apply (Permutation_in (y, v) (Permutation_sym T)). now left. }
    destruct (IH rest ps C (fun q Q => M q (or_intror Q)) Nr H2) as (chosen & left_ & P & Q).
    exists ((y, value e v) :: chosen), left_. split.
    + unfold valued. rewrite (Permutation_map (fun p => (fst p, value e (snd p))) T). simpl.
      apply perm_skip. exact P.
    + constructor; [|exact Q]. simpl. exists (value e d). split; [exists d; split; [assumption|reflexivity]|].
      exact (shares_ok z y w d c v F (proj2 (M (z, w) (or_introl eq_refl))) C Nv H1).
Qed.

Lemma cost_at_least_one : forall x y c, cost x y c -> 1 <= c.
Proof.
  intros x y c (w & F & <-). destruct (find_price_cases x y w F) as [[_ ->]|(n & I & _ & _ & <-)].
  - rewrite one_value. lra.
  - pose proof (entry_in n I) as E. unfold entry_ok in E. apply andb_prop in E as [E _].
    apply andb_prop in E as [_ E]. apply less in E.
    + simpl in E. rewrite one_value in E. lra.
    + repeat constructor. apply one_sound.
    + repeat constructor. apply price_sound. assumption.
Qed.

Lemma cost_steps : forall x y c a, cost x y c -> matched cost c (moves_at s e x a) (moves_at s e y a) \/
  (assumed s guarded y a = true /\ moves_at s e y a = []).
Proof.
  intros x y c a (w & F & <-). destruct (find_price_cases x y w F) as [[-> ->]|(n & I & <- & <- & <-)].
  - left. exists (moves_at s e y a), []. split; [rewrite app_nil_r; apply Permutation_refl|].
    induction (moves_at s e y a) as [|p l IH]; constructor; [|exact IH].
    exists 1. split; [|rewrite one_value; lra]. exists one. unfold find_price. rewrite Nat.eqb_refl.
    split; [reflexivity | apply one_value].
  - pose proof (entry_in n I) as E. unfold entry_ok in E. apply andb_prop in E as [_ E].
    destruct (Nat.lt_ge_cases a (length (nth (left n) s []))) as [L|L].
    + rewrite forallb_forall in E. specialize (E a ltac:(apply in_seq; lia)).
      apply orb_prop in E as [E|E].
      { right. apply andb_prop in E as [E1 E2]. split; [exact E1|]. unfold moves_at. now destruct (row s (right n) a). }
      left. eapply match_rows_ok; [apply price_sound; assumption | apply sound | apply sound | exact E].
    + left. unfold moves_at at 1, row. rewrite (nth_overflow (nth (left n) s [])) by assumption.
      exists [], (moves_at s e (right n) a). split; [apply Permutation_refl | constructor].
Qed.

Lemma cheap_ok : forall ratio x y, sound_weight e ratio -> cheap ratio x y = true ->
  exists c, cost x y c /\ c <= value e ratio.
Proof.
  intros ratio x y P H. unfold cheap in H. destruct (find_price x y) as [w|] eqn:F; [|discriminate].
  exists (value e w). split; [exists w; split; [assumption|reflexivity]|].
  apply less in H; [simpl in H; lra | |]; repeat constructor; [eapply found_sound; eassumption | assumption].
Qed.

End Pairs.

(* --- classes of states that nobody can tell apart ---------------------------------------------------------- *)

Section Classes.

Variable s : system.
Variable classes : list nat.  (* by state *)
Variable leaders : list nat.  (* by class, one of its states *)
Variable count : nat.  (* of actions *)
Variable guarded : nat.

Definition class (x : nat) : nat := nth x classes 0%nat.

Definition lump (l : list (nat * weight)) : list (nat * weight) :=
  gather (map (fun p => (class (fst p), snd p)) l).

Definition quotient : system := map (fun x => map (fun a => lump (row s x a)) (seq 0 count)) leaders.

Definition alike (q : system) (reach : list nat) : bool :=
  forallb (fun m => Nat.leb (length m) count) s &&
  forallb (fun x => forallb (fun a => same_row (lump (row s x a)) (row q (class x) a)) (seq 0 count)) reach.

Variable e : env.

Lemma lump_ok : forall f l, sound_row e l ->
  mean f (valued e (lump l)) = mean (fun z => f (class z)) (valued e l) /\ sound_row e (lump l).
Proof.
  intros f l L. assert (S : sound_row e (map (fun p => (class (fst p), snd p)) l)).
  { intros p P. apply in_map_iff in P as (q & <- & Q). exact (L q Q). }
  split; [|now apply gather_sound]. unfold lump. rewrite (proj1 (gather_ok e f _ (sound_good e _ S))).
  clear. induction l as [|[z w] l IH]; simpl; [reflexivity|]. now rewrite IH.
Qed.

Lemma lump_nil : forall l, lump l = [] <-> l = [].
Proof. intro l. unfold lump. rewrite gather_nil. destruct l; simpl; split; intro H; auto; discriminate. Qed.

Hypothesis sound : sound_system e s.

Lemma quotient_sound : sound_system e quotient.
Proof.
  intros x a. destruct (row_of quotient x a) as [E|(m & M1 & M2)]; [rewrite E; intros p []|].
  unfold quotient in M1. apply in_map_iff in M1 as (y & <- & _). apply in_map_iff in M2 as (b & <- & _).
  apply (lump_ok (fun _ => 0)). apply sound.
Qed.

Variable reach : list nat.
Hypothesis closed : closed_under_moves s reach = true.
Hypothesis told_alike : alike quotient reach = true.

Lemma row_alike : forall x a, In x reach ->
  (forall f, mean (fun z => f (class z)) (moves_at s e x a) = mean f (moves_at quotient e (class x) a)) /\
  (moves_at s e x a = [] <-> moves_at quotient e (class x) a = []).
Proof.
  intros x a Hx. unfold alike in told_alike. apply andb_prop in told_alike as [T1 T2]. unfold moves_at.
  assert (N : forall l, valued e l = [] <-> l = []).
  { intros [|p l]; split; intro H; try reflexivity; discriminate. }
  rewrite !N. destruct (Nat.lt_ge_cases a count) as [A|A].
  - rewrite forallb_forall in T2. specialize (T2 x Hx). rewrite forallb_forall in T2.
    specialize (T2 a ltac:(apply in_seq; lia)). pose proof (sound x a) as S. pose proof (quotient_sound (class x) a) as Q.
    split.
    + intro f. rewrite <- (proj1 (lump_ok f _ S)). apply (same_row_ok e f); auto; apply sound_good; [apply (lump_ok f _ S) | assumption].
    + rewrite <- (lump_nil (row s x a)). apply (same_row_ok e (fun _ => 0)); auto; apply sound_good;
      [apply (lump_ok (fun _ => 0) _ S) | assumption].
  - assert (R1 : row s x a = []).
    { destruct (row_of s x a) as [E|(m & M1 & _)]; [assumption|]. unfold row.
      destruct (Nat.lt_ge_cases x (length s)) as [L|L].
      - apply nth_overflow. rewrite forallb_forall in T1. specialize (T1 _ (nth_In s [] L)). apply Nat.leb_le in T1. lia.
      - rewrite (nth_overflow s) by assumption. now destruct a. }
    assert (R2 : row quotient (class x) a = []).
    { unfold row, quotient. destruct (Nat.lt_ge_cases (class x) (length leaders)) as [L|L].
      - rewrite nth_indep with (d' := map (fun b => lump (row s 0 b)) (seq 0 count)) by (now rewrite map_length).
        rewrite (map_nth (fun y => map (fun b => lump (row s y b)) (seq 0 count))).
        apply nth_overflow. rewrite map_length, seq_length. assumption.
      - rewrite (nth_overflow (map _ leaders)) by (now rewrite map_length). now destruct a. }
    rewrite R1, R2. split; [reflexivity | tauto].
Qed.

Lemma prob_class : forall t x, In x reach -> prob (moves_at s e) x t = prob (moves_at quotient e) (class x) t.
Proof.
  induction t as [|a t IH]; intros x Hx; cbn [prob]; [reflexivity|].
  rewrite (mean_ext _ (fun z => prob (moves_at quotient e) (class z) t)).
  - exact (proj1 (row_alike x a Hx) (fun c => prob (moves_at quotient e) c t)).
  - intros p P. apply IH. apply in_map_iff in P as (q & <- & Q). exact (closed_ok s reach closed x a q Hx Q).
Qed.

Lemma prob_taking_class : forall d first t x, In x reach ->
  prob_taking (moves_at s e) x d first t = prob_taking (moves_at quotient e) (class x) d first t.
Proof.
  intros d. induction first as [|a first IH]; intros t x Hx; cbn [prob_taking].
  - pose proof (proj2 (row_alike x d Hx)) as N. rewrite (prob_class t x Hx).
    destruct (moves_at s e x d) as [|p l], (moves_at quotient e (class x) d) as [|q m]; try reflexivity.
    + destruct N as [N _]. discriminate (N eq_refl).
    + destruct N as [_ N]. discriminate (N eq_refl).
  - rewrite (mean_ext _ (fun z => prob_taking (moves_at quotient e) (class z) d first t)).
    + exact (proj1 (row_alike x a Hx) (fun c => prob_taking (moves_at quotient e) c d first t)).
    + intros p P. apply IH. apply in_map_iff in P as (q & <- & Q). exact (closed_ok s reach closed x a q Hx Q).
Qed.

Lemma assumed_class : forall x a, In x reach -> assumed quotient guarded (class x) a = assumed s guarded x a.
Proof.
  intros x a Hx. unfold assumed. f_equal.
  assert (E : forall b, empty (row quotient (class x) b) = empty (row s x b)).
  { intro b. pose proof (proj2 (row_alike x b Hx)) as N. unfold moves_at in N.
    destruct (row s x b), (row quotient (class x) b); cbn [valued map empty] in *; try reflexivity.
    - destruct N as [N _]. discriminate (N eq_refl).
    - destruct N as [_ N]. discriminate (N eq_refl). }
  induction (seq 0 guarded) as [|b l IH]; simpl; [reflexivity|]. now rewrite E, IH.
Qed.

Lemma mean_positive : forall f l, (forall p, In p l -> 0 <= snd p) -> (forall z, 0 <= f z) -> 0 < mean f l ->
  exists p, In p l /\ 0 < snd p /\ 0 < f (fst p).
Proof.
  intros f. induction l as [|[z w] l IH]; intros W F H; cbn [mean] in H; [lra|].
  pose proof (W (z, w) (or_introl eq_refl)) as Hw. cbn [snd] in Hw.
  destruct (Rle_lt_dec (mean f l) 0) as [L|L].
  - exists (z, w). cbn [fst snd]. split; [now left|]. specialize (F z).
    assert (0 < w * f z) by lra. split; apply Rnot_le_lt; intro K.
    + assert (w = 0) as -> by lra. lra.
    + assert (f z = 0) as E by lra. rewrite E in *. lra.
  - destruct (IH (fun p P => W p (or_intror P)) F L) as (p & P & Q). exists p. split; [now right | exact Q].
Qed.

Lemma accepted_class : forall t x, In x reach -> accepted_steps e s guarded x t ->
  accepted_steps e quotient guarded (class x) t.
Proof.
  induction t as [|a t IH]; intros x Hx A; [exact I|]. destruct A as [A1 A2]. split.
  - rewrite assumed_class by assumption. intro H. specialize (A1 H). intro K. apply A1.
    apply (proj2 (row_alike x a Hx)). exact K.
  - intros [k w] P W. cbn [fst snd] in *.
    set (f := fun z => if Nat.eqb z k then 1 else 0).
    assert (F : forall z, 0 <= f z) by (intro z; unfold f; destruct (Nat.eqb z k); lra).
    assert (M : 0 < mean f (moves_at quotient e (class x) a)).
    { pose proof (moves_nonneg e quotient quotient_sound (class x) a) as N. revert P N.
      induction (moves_at quotient e (class x) a) as [|[z v] l IHl]; intros P N; [destruct P|]. cbn [mean].
      pose proof (N (z, v) (or_introl eq_refl)) as V. cbn [snd] in V.
      assert (R : 0 <= mean f l) by (apply mean_nonneg; [exact F | intros q Q; apply N; now right]).
      destruct P as [P|P].
      - inversion P; subst. unfold f at 1. rewrite Nat.eqb_refl. lra.
      - specialize (IHl P (fun q Q => N q (or_intror Q))). specialize (F z).
        assert (0 <= v * f z) by now apply Rmult_le_pos. lra. }
    rewrite <- (proj1 (row_alike x a Hx) f) in M.
    apply mean_positive in M as ([z v] & Q & V & E);
      [|exact (moves_nonneg e s sound x a) | intro z; apply F]. cbn [fst snd] in *.
    unfold f in E. destruct (Nat.eqb_spec (class z) k) as [<-|_]; [|lra].
    apply in_map_iff in Q as (q & Q1 & Q2). inversion Q1; subst.
    apply IH; [exact (closed_ok s reach closed x a q Hx Q2)|].
    apply (A2 (fst q, value e (snd q))); [|exact V]. apply in_map_iff. now exists q.
Qed.

End Classes.

(* --- the check ----------------------------------------------------------------------------------------------- *)

Definition check_costs (s : system) (classes leaders : list nat) (entries : list priced) (data guarded count : nat)
  (reach : list nat) (ratio : weight) : bool :=
  let q := quotient s classes leaders count in
  ask g signs true (snd ratio) && closed_under_moves s reach &&
  alike s classes count q reach && forallb (entry_ok q guarded entries) entries &&
  insertions_ok q (cheap entries ratio) data (nodup Nat.eq_dec (map (class classes) reach)).

Theorem check_costs_sound : honest rec -> forall s classes leaders entries data guarded count reach ratio,
  signs_ok rec g signs = true -> check_costs s classes leaders entries data guarded count reach ratio = true ->
  forall e, dom g e -> sound_system e s -> hides e s data guarded reach (value e ratio).
Proof.
  intros R s classes leaders entries data guarded count reach ratio Signs H e D S. unfold check_costs in H.
  repeat (apply andb_prop in H as [H ?H]). rename H into P, H3 into C, H2 into A, H1 into E, H0 into I.
  pose proof (quotient_sound s classes leaders count e S) as Q.
  apply (ask_ok rec g signs R Signs e D) in P. simpl in P.
  pose proof (insertions_hide e (quotient s classes leaders count) (cheap entries ratio) data guarded _
    (cost entries e) (value e ratio) Q
    (cost_at_least_one (quotient s classes leaders count) guarded entries R Signs e D E)
    (cost_steps (quotient s classes leaders count) guarded entries R Signs e D Q E)
    (fun x y => cheap_ok (quotient s classes leaders count) guarded entries R Signs e D E ratio x y P) I) as K.
  intros x d first t Hx Hd Steps. rewrite (prob_class s classes leaders count e S reach C A _ x Hx).
  rewrite (prob_taking_class s classes leaders count e S reach C A _ _ _ x Hx). apply K; [|assumption|].
  - apply nodup_In. now apply in_map.
  - destruct Steps as [Z|[A1 A2]]; [now left | right].
    split; now apply (accepted_class s classes leaders count guarded e S reach C A).
Qed.

End Costs.
