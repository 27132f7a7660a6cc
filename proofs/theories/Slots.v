(* Systems with any number of slots, after Tschantz, Kaynar and Datta: data points come and are kept in the current
   slot while it has a place. A query is answered with noise from all slots; then the oldest slot is emptied, and is
   the current one. Two runs differ in one data point that is inserted. What is checked is a finite induction about
   the slot in which they differ, and the theorem is about every number of slots and places, all data, and all
   noise that costs epsilon for one data point. *)
From Coq Require Import Reals Lra Lia List Bool Arith Permutation.
Import ListNotations.
Local Open Scope R_scope.

(* A form says how many data points of the second run the first one lacks, and the other way round, in one slot. *)
Definition has_form (forms : list (nat * nat)) (a b : nat) : bool :=
  existsb (fun f => Nat.eqb (fst f) a && Nat.eqb (snd f) b) forms.

(* Where the fuller slot has no place, a full slot drops what comes, and the other run alone stores it. *)
Definition form_ok (drops : bool) (forms : list (nat * nat)) (steps : nat) (f : nat * nat) : bool :=
  match f with (a, b) =>
    Nat.leb (a + b) steps &&
    (negb drops || Nat.eqb a b || if Nat.ltb b a then has_form forms a (S b) else has_form forms (S a) b)
  end.

Definition check_slots (shared drops deletes : bool) (forms : list (nat * nat)) (steps : nat) : bool :=
  deletes && negb (shared && drops) && has_form forms 1 0 && forallb (form_ok drops forms steps) forms.

Section Slots.

Variables data query response : Type.
Variable shared : bool.  (* the places are counted over all slots *)
Variable places : nat.
Variable eps : R.
Variable noise : query -> list data -> response -> R.  (* the probability of a response *)
Hypothesis eps_nonneg : 0 <= eps.
Hypothesis noise_nonneg : forall q l r, 0 <= noise q l r.
Hypothesis noise_alike : forall q l m r, Permutation l m -> noise q l r = noise q m r.
Hypothesis noise_private : forall q x l r,
  noise q (x :: l) r <= exp eps * noise q l r /\ noise q l r <= exp eps * noise q (x :: l) r.

Definition slots := list (list data).  (* the current one first, the oldest one last *)

Inductive input := Point (x : data) | Query (q : query).

Definition has_place (s : slots) : bool :=
  Nat.ltb (length (if shared then concat s else hd [] s)) places.

Definition put (x : data) (s : slots) : slots :=
  match s with [] => [] | now :: l => if has_place s then (x :: now) :: l else s end.

Definition turned (s : slots) : slots := match s with [] => [] | _ => [] :: removelast s end.

(* The probability that these are the responses to the queries. *)
Fixpoint chance (s : slots) (inputs : list input) (seen : list response) : R :=
  match inputs, seen with
  | [], [] => 1
  | Point x :: inputs, _ => chance (put x s) inputs seen
  | Query q :: inputs, r :: seen => noise q (concat s) r * chance (turned s) inputs seen
  | _, _ => 0
  end.

(* No data point comes to slots without a place. *)
Fixpoint never_full (s : slots) (inputs : list input) : Prop :=
  match inputs with
  | [] => True
  | Point x :: inputs => (s = [] \/ has_place s = true) /\ never_full (put x s) inputs
  | Query _ :: inputs => never_full (turned s) inputs
  end.

(* --- what a query costs ----------------------------------------------------------------------------------------- *)

Lemma power_pos : forall n, 0 < exp (INR n * eps).
Proof. intro n. apply exp_pos. Qed.

Lemma power_succ : forall n, exp (INR (S n) * eps) = exp eps * exp (INR n * eps).
Proof. intro n. rewrite <- exp_plus. f_equal. rewrite S_INR. ring. Qed.

Lemma power_le : forall n m, (n <= m)%nat -> exp (INR n * eps) <= exp (INR m * eps).
Proof.
  intros n m L. apply le_INR in L. destruct (Req_dec (INR n * eps) (INR m * eps)) as [->|N]; [lra|].
  left. apply exp_increasing. assert (INR n * eps <= INR m * eps) by (apply Rmult_le_compat_r; assumption). lra.
Qed.

Lemma more_points : forall q r l c,
  noise q (l ++ c) r <= exp (INR (length l) * eps) * noise q c r /\
  noise q c r <= exp (INR (length l) * eps) * noise q (l ++ c) r.
Proof.
  intros q r l c. induction l as [|x l [IH1 IH2]]; cbn [length app].
  - simpl. rewrite Rmult_0_l, exp_0. lra.
  - rewrite power_succ. destruct (noise_private q x (l ++ c) r) as [P1 P2]. pose proof (exp_pos eps) as E.
    pose proof (power_pos (length l)) as W. split.
    + apply Rle_trans with (1 := P1). rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra | exact IH1].
    + apply Rle_trans with (1 := IH2). rewrite (Rmult_comm (exp eps)), Rmult_assoc.
      apply Rmult_le_compat_l; [lra | exact P2].
Qed.

(* The second list has these points in the place of those. *)
Definition differ (a b : nat) (one other : list data) : Prop :=
  exists c p m, Permutation other (p ++ c) /\ Permutation one (m ++ c) /\ length p = a /\ length m = b.

Lemma cost : forall q r a b one other, differ a b one other ->
  noise q other r <= exp (INR (a + b) * eps) * noise q one r /\
  noise q one r <= exp (INR (a + b) * eps) * noise q other r.
Proof.
  intros q r a b one other (c & p & m & P & M & <- & <-).
  rewrite (noise_alike q _ _ r P), (noise_alike q _ _ r M).
  destruct (more_points q r p c) as [P1 P2]. destruct (more_points q r m c) as [M1 M2].
  assert (E : exp (INR (length p + length m) * eps) = exp (INR (length p) * eps) * exp (INR (length m) * eps)).
  { rewrite <- exp_plus. f_equal. rewrite plus_INR. ring. }
  pose proof (power_pos (length p)) as Wp. pose proof (power_pos (length m)) as Wm. rewrite E. split.
  - apply Rle_trans with (1 := P1). rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra | exact M2].
  - apply Rle_trans with (1 := M1). rewrite (Rmult_comm (exp (INR (length p) * eps))), Rmult_assoc.
    apply Rmult_le_compat_l; [lra | exact P2].
Qed.

Lemma differ_length : forall a b one other, differ a b one other -> (length other + b = length one + a)%nat.
Proof.
  intros a b one other (c & p & m & P & M & <- & <-). apply Permutation_length in P, M.
  rewrite app_length in P, M. lia.
Qed.

Lemma differ_both : forall a b x one other, differ a b one other -> differ a b (x :: one) (x :: other).
Proof.
  intros a b x one other (c & p & m & P & M & A & B). exists (x :: c), p, m. repeat split; try assumption.
  - apply Permutation_trans with (x :: p ++ c); [now constructor | apply Permutation_middle].
  - apply Permutation_trans with (x :: m ++ c); [now constructor | apply Permutation_middle].
Qed.

Lemma differ_one : forall a b x one other, differ a b one other -> differ a (S b) (x :: one) other.
Proof.
  intros a b x one other (c & p & m & P & M & A & B). exists c, p, (x :: m). simpl.
  repeat split; try assumption; [now constructor | now rewrite B].
Qed.

Lemma differ_other : forall a b x one other, differ a b one other -> differ (S a) b one (x :: other).
Proof.
  intros a b x one other (c & p & m & P & M & A & B). exists c, (x :: p), m. simpl.
  repeat split; try assumption; [now constructor | now rewrite A].
Qed.

Lemma differ_around : forall a b one other l m, differ a b one other -> differ a b (l ++ one ++ m) (l ++ other ++ m).
Proof.
  intros a b one other l m (c & p & n & P & M & A & B). exists (l ++ c ++ m), p, n.
  assert (E : forall s k, Permutation s (k ++ c) -> Permutation (l ++ s ++ m) (k ++ l ++ c ++ m)).
  { intros s k S. apply Permutation_trans with (l ++ (k ++ c) ++ m).
    - apply Permutation_app_head. now apply Permutation_app_tail.
    - rewrite <- app_assoc, !app_assoc. apply Permutation_app_tail. apply Permutation_app_tail. apply Permutation_app_comm. }
  repeat split; auto.
Qed.

(* --- two runs ---------------------------------------------------------------------------------------------------- *)

Variable drops : bool.
Variable forms : list (nat * nat).
Variable steps : nat.
Hypothesis memory : shared && drops = false.
Hypothesis insertion : has_form forms 1 0 = true.
Hypothesis forms_ok : forallb (form_ok drops forms steps) forms = true.

(* In the slot number k they differ by a form, and nowhere else. *)
Definition related (k : nat) (one other : slots) : Prop :=
  exists before s t after a b, one = before ++ s :: after /\ other = before ++ t :: after /\ length before = k /\
  has_form forms a b = true /\ differ a b s t.

Lemma form_facts : forall a b, has_form forms a b = true -> (a + b <= steps)%nat /\
  (drops = true -> a = b \/ ((b < a)%nat /\ has_form forms a (S b) = true) \/ ((a < b)%nat /\ has_form forms (S a) b = true)).
Proof.
  intros a b H. unfold has_form in H. apply existsb_exists in H as ([x y] & I & E). apply andb_prop in E as [E1 E2].
  apply Nat.eqb_eq in E1, E2. cbn [fst snd] in E1, E2. subst x y.
  pose proof (proj1 (forallb_forall _ _) forms_ok _ I) as F. unfold form_ok in F. apply andb_prop in F as [F1 F2].
  apply Nat.leb_le in F1. split; [exact F1|]. intros ->. simpl in F2. apply orb_prop in F2 as [F2|F2].
  - left. now apply Nat.eqb_eq.
  - destruct (Nat.ltb b a) eqn:L.
    + right. left. apply Nat.ltb_lt in L. now split.
    + apply Nat.ltb_ge in L. destruct (Nat.eq_dec a b) as [->|N]; [now left|]. right. right. split; [lia | exact F2].
Qed.

Lemma dropping : drops = false \/ (drops = true /\ shared = false).
Proof. destruct (bool_dec drops false) as [E|E]; [now left|]. apply not_false_is_true in E. rewrite E, andb_true_r in memory. now right. Qed.

Lemma put_related : forall x k one other, related k one other ->
  (drops = false -> has_place one = true /\ has_place other = true) -> related k (put x one) (put x other).
Proof.
  intros x k one other (before & s & t & after & a & b & -> & -> & K & F & D) A.
  destruct before as [|u before]; cbn [app] in *.
  - destruct (form_facts a b F) as [_ Fd]. pose proof (differ_length _ _ _ _ D) as L. cbn [put] in *.
    assert (Both : forall c d v w, has_form forms c d = true -> differ c d v w -> related k (v :: after) (w :: after)).
    { intros c d v w C W. exists [], v, w, after, c, d. repeat split; auto. }
    destruct (has_place (s :: after)) eqn:P, (has_place (t :: after)) eqn:Q.
    + apply (Both a b); [exact F | now apply differ_both].
    + destruct dropping as [Dr|[Dr Sh]]; [destruct (A Dr); congruence|].
      unfold has_place in P, Q. rewrite Sh in P, Q. cbn [hd] in P, Q. apply Nat.ltb_lt in P. apply Nat.ltb_ge in Q.
      destruct (Fd Dr) as [E|[[E H]|[E H]]]; [lia | | lia]. apply (Both a (S b)); [exact H | now apply differ_one].
    + destruct dropping as [Dr|[Dr Sh]]; [destruct (A Dr); congruence|].
      unfold has_place in P, Q. rewrite Sh in P, Q. cbn [hd] in P, Q. apply Nat.ltb_ge in P. apply Nat.ltb_lt in Q.
      destruct (Fd Dr) as [E|[[E H]|[E H]]]; [lia | lia |]. apply (Both (S a) b); [exact H | now apply differ_other].
    + now apply (Both a b).
  - assert (E : has_place (u :: before ++ s :: after) = has_place (u :: before ++ t :: after)).
    { destruct dropping as [Dr|[Dr Sh]]; [destruct (A Dr) as [-> ->]; reflexivity|]. unfold has_place. now rewrite Sh. }
    cbn [put]. rewrite <- E. destruct (has_place (u :: before ++ s :: after)).
    + exists ((x :: u) :: before), s, t, after, a, b. repeat split; auto.
    + exists (u :: before), s, t, after, a, b. repeat split; auto.
Qed.

Lemma turned_some : forall before s after, turned (before ++ s :: after) = [] :: removelast (before ++ s :: after).
Proof. intros [|u before] s after; reflexivity. Qed.

Lemma turned_related : forall k one other, related k one other ->
  turned one = turned other \/ (related (S k) (turned one) (turned other) /\ (S k < length one)%nat).
Proof.
  intros k one other (before & s & t & after & a & b & -> & -> & K & F & D). rewrite !turned_some.
  destruct after as [|z after].
  - left. now rewrite !removelast_last.
  - right. destruct (@exists_last _ (z :: after)) as (l & y & E); [discriminate|]. rewrite E.
    assert (R : forall v, removelast (before ++ v :: l ++ [y]) = before ++ v :: l).
    { intro v. replace (before ++ v :: l ++ [y]) with ((before ++ v :: l) ++ [y]) by (now rewrite <- app_assoc).
      apply removelast_last. }
    rewrite !R. split.
    + exists ([] :: before), s, t, l, a, b. repeat split; auto. simpl. now rewrite K.
    + rewrite app_length. simpl. rewrite app_length. simpl. lia.
Qed.

Lemma put_length : forall x s, length (put x s) = length s.
Proof. intros x [|now l]; [reflexivity|]. cbn [put]. now destruct (has_place (now :: l)). Qed.

Lemma turned_length : forall s, length (turned s) = length s.
Proof.
  intros [|now l]; [reflexivity|]. destruct (@exists_last _ (now :: l)) as (m & y & E); [discriminate|].
  rewrite E. destruct m as [|z m]; [reflexivity|].
  change (length ([] :: removelast ((z :: m) ++ [y])) = length ((z :: m) ++ [y])).
  rewrite removelast_last, app_length. simpl. lia.
Qed.

Lemma chance_nonneg : forall inputs s seen, 0 <= chance s inputs seen.
Proof.
  induction inputs as [|[x|q] inputs IH]; intros s [|r seen]; cbn [chance]; try lra; try apply IH.
  apply Rmult_le_pos; [apply noise_nonneg | apply IH].
Qed.

Lemma times_le : forall a b c d n m, 0 <= a -> 0 <= b -> 0 <= c -> 0 <= d ->
  a <= exp (INR n * eps) * c -> b <= exp (INR m * eps) * d -> a * b <= exp (INR (n + m) * eps) * (c * d).
Proof.
  intros a b c d n m A B C D H1 H2.
  replace (exp (INR (n + m) * eps)) with (exp (INR n * eps) * exp (INR m * eps)).
  - apply Rle_trans with ((exp (INR n * eps) * c) * (exp (INR m * eps) * d)); [now apply Rmult_le_compat | lra].
  - rewrite <- exp_plus. f_equal. rewrite plus_INR. ring.
Qed.

Lemma at_least_one : forall n a, 0 <= a -> a <= exp (INR n * eps) * a.
Proof.
  intros n a A. pose proof (power_le 0 n (Nat.le_0_l n)) as P. simpl in P. rewrite Rmult_0_l, exp_0 in P.
  rewrite <- (Rmult_1_l a) at 1. now apply Rmult_le_compat_r.
Qed.

Lemma runs : forall inputs k one other seen, related k one other ->
  (drops = false -> never_full one inputs /\ never_full other inputs) ->
  let most := exp (INR ((length one - k) * steps) * eps) in
  chance other inputs seen <= most * chance one inputs seen /\ chance one inputs seen <= most * chance other inputs seen.
Proof.
  induction inputs as [|[x|q] inputs IH]; intros k one other seen R A; cbn zeta.
  - destruct seen; cbn [chance]; split; try (apply at_least_one; lra); lra.
  - assert (P : drops = false -> has_place one = true /\ has_place other = true).
    { intro E. destruct (A E) as [[[N|H1] _] [[M|H2] _]]; auto;
        destruct R as (before & s & t & after & a & b & -> & -> & _); exfalso; destruct before; discriminate. }
    cbn [chance]. rewrite <- (put_length x one). apply IH; [now apply put_related|].
    intro E. destruct (A E) as [[_ H1] [_ H2]]. now split.
  - destruct seen as [|r seen]; cbn [chance]; [split; lra|].
    assert (C : exists a b, (a + b <= steps)%nat /\ differ a b (concat one) (concat other)).
    { destruct R as (before & s & t & after & a & b & -> & -> & _ & F & D). exists a, b.
      split; [apply (form_facts a b F)|]. rewrite !concat_app. cbn [concat]. now apply differ_around. }
    destruct C as (a & b & L & D). destruct (cost q r a b _ _ D) as [C1 C2].
    assert (W : forall u v, 0 <= v -> u <= exp (INR (a + b) * eps) * v -> u <= exp (INR steps * eps) * v).
    { intros u v V U. apply Rle_trans with (1 := U). apply Rmult_le_compat_r; [exact V | now apply power_le]. }
    apply W in C1, C2; try apply noise_nonneg.
    assert (N : (k < length one)%nat).
    { destruct R as (before & s & t & after & x & y & -> & _ & <- & _). rewrite app_length. simpl. lia. }
    destruct (turned_related k one other R) as [E|[R' N']].
    + rewrite <- E. pose proof (chance_nonneg inputs (turned one) seen) as Z.
      replace ((length one - k) * steps)%nat with (steps + (length one - S k) * steps)%nat by (replace (length one - k)%nat with (S (length one - S k)) by lia; lia).
      split; (apply times_le; auto using noise_nonneg; now apply at_least_one).
    + destruct (IH (S k) _ _ seen R') as [I1 I2].
      { intro E. destruct (A E) as [H1 H2]. now split. }
      rewrite turned_length in I1, I2.
      replace ((length one - k) * steps)%nat with (steps + (length one - S k) * steps)%nat by (replace (length one - k)%nat with (S (length one - S k)) by lia; lia).
      split; apply times_le; auto using noise_nonneg, chance_nonneg.
Qed.

Lemma insertion_bound : forall first x later s seen,
  (drops = false -> never_full s (first ++ Point x :: later) /\ never_full s (first ++ later)) ->
  let most := exp (INR (length s * steps) * eps) in
  chance s (first ++ Point x :: later) seen <= most * chance s (first ++ later) seen /\
  chance s (first ++ later) seen <= most * chance s (first ++ Point x :: later) seen.
Proof.
  induction first as [|[y|q] first IH]; intros x later s seen A; cbn zeta; cbn [app].
  - cbn [chance]. assert (Same : put x s = s \/ related 0 s (put x s)).
    { destruct s as [|now l]; [now left|]. cbn [put]. destruct (has_place (now :: l)); [right | now left].
      exists [], now, (x :: now), l, 1%nat, 0%nat. repeat split; auto. exists now, [x], []. simpl. repeat split; auto. }
    destruct Same as [E|R].
    + rewrite E. split; apply at_least_one; apply chance_nonneg.
    + destruct (runs later 0 s (put x s) seen R) as [H1 H2].
      { intro E. destruct (A E) as [[_ H1] H2]. now split. }
      rewrite Nat.sub_0_r in H1, H2. now split.
  - cbn [chance]. rewrite <- (put_length y s). apply IH. intro E. destruct (A E) as [[_ H1] [_ H2]]. now split.
  - destruct seen as [|r seen]; cbn [chance]; [split; lra|].
    destruct (IH x later (turned s) seen) as [H1 H2].
    { intro E. destruct (A E) as [H1 H2]. now split. }
    rewrite turned_length in H1, H2. pose proof (noise_nonneg q (concat s) r) as N.
    split; rewrite <- Rmult_assoc, (Rmult_comm (exp _)), Rmult_assoc; now apply Rmult_le_compat_l.
Qed.

End Slots.

(* One data point more, at any place among the inputs, changes the probability of all responses by no more than a
   factor exp(t * steps * eps), where t is the number of slots. Where full slots do not drop points, no point comes to
   one, by assumption. *)
Theorem check_slots_sound : forall shared drops deletes forms steps,
  check_slots shared drops deletes forms steps = true ->
  forall (data query response : Type) (noise : query -> list data -> response -> R) places eps,
  0 <= eps -> (forall q l r, 0 <= noise q l r) ->
  (forall q l m r, Permutation l m -> noise q l r = noise q m r) ->
  (forall q x l r, noise q (x :: l) r <= exp eps * noise q l r /\ noise q l r <= exp eps * noise q (x :: l) r) ->
  forall t first x later seen,
  let start := repeat [] t in
  let more := first ++ Point _ _ x :: later in
  let less := first ++ later in
  (drops = false -> never_full _ _ shared places start more /\ never_full _ _ shared places start less) ->
  let chance := chance data query response shared places noise start in
  let most := exp (INR (t * steps) * eps) in
  chance more seen <= most * chance less seen /\ chance less seen <= most * chance more seen.
Proof.
  intros shared drops deletes forms steps H data query response noise places eps E N P K t first x later seen start more less A.
  unfold check_slots in H. apply andb_prop in H as [H F]. apply andb_prop in H as [H I]. apply andb_prop in H as [_ M].
  apply negb_true_iff in M. cbn zeta.
  pose proof (insertion_bound data query response shared places eps noise E N P K drops forms steps M I F
    first x later start seen A) as B.
  cbn zeta in B. replace (length start) with t in B by (unfold start; now rewrite repeat_length). exact B.
Qed.
