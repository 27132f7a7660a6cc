(* Interactive systems without a budget: two runs, one with one data point more, and a loop that both make. Each time
   the ratio of the probabilities of what is seen grows by the same factor. *)
From Coq Require Import Reals ZArith QArith Qreals Lra Lia List Bool Arith.
From Paramverify Require Import Poly Goal Certificate Rule Parts Unwinding Weights Closures Systems Violations.
Import ListNotations.
Local Open Scope R_scope.

Section Growth.

Variable g : goal.
Variable c : system.
Variables data inputs visible : nat.

(* Steps are inputs and responses. What is given, and what is seen of them. *)
Definition given_of (t : list nat) : list nat := filter (fun a => Nat.ltb a inputs) t.
Definition seen_of (t : list nat) : list nat := filter (fun a => negb (Nat.ltb a data)) t.

(* In this state no other step agrees with what is given and seen. *)
Definition fits (a x : nat) : bool :=
  Nat.ltb a visible &&
  if Nat.ltb a data then enabled c x a && same_weight (added_up (row c x a)) one
  else if Nat.ltb a inputs then true
  else negb (waits c inputs x) &&
       (negb (enabled c x a) || match next c inputs visible x [] with Some b => Nat.eqb b a | None => false end).

Definition moved (a : nat) (v : list (nat * weight)) : list (nat * weight) :=
  gather (flat_map (fun p => map (fun q => (fst q, times_weight (snd p) (snd q))) (row c (fst p) a)) v).

Fixpoint run_from (v : list (nat * weight)) (t : list nat) : option (list (nat * weight)) :=
  match t with
  | [] => Some v
  | a :: t => if forallb (fun p => fits a (fst p)) v then run_from (moved a v) t else None
  end.

(* w is a multiple of v. *)
Definition multiple (factor : weight) (v w : list (nat * weight)) : bool :=
  let minus := times_weight (qconst (-1), qconst 1) factor in
  forallb (fun p => same_weight (snd p) (qconst 0, qconst 1) ||
                    (ask g [] false (fst (snd p)) && ask g [] false (qsub (qconst 0) (fst (snd p)))))
    (gather (w ++ map (fun p => (fst p, times_weight minus (snd p))) v)).

Definition grows (start : list (nat * weight)) (left right loop : list nat) (more less : weight) : bool :=
  Nat.leb data inputs && ask g [] true (snd more) && ask g [] true (snd less) &&
  ask g [] true (difference [less] [more]) &&
  match run_from start left, run_from start right with
  | Some x, Some y =>
    ask g [] true (fst (added_up x)) && ask g [] true (fst (added_up y)) &&
    match run_from x loop, run_from y loop with
    | Some x', Some y' => multiple more x x' && multiple less y y'
    | _, _ => false
    end
  | _, _ => false
  end.

(* --- one step ----------------------------------------------------------------------------------------------------- *)

Variable e : env.
Hypothesis in_domain : dom g e.
Hypothesis sound : sound_system e c.

Let asked : forall strict p, ask g [] strict p = true -> below strict 0 (qeval p e).
Proof.
  apply (ask_ok (fun _ _ => false) g []); [intros h k K; discriminate | reflexivity | exact in_domain].
Qed.

Let mean_of := fun f l => mean f (valued e l).
Let chance_of := chance R 0 1 mean_of c data inputs visible false.

Lemma seen_at_once : forall n given x, chance_of (S n) given [] x = 1.
Proof.
  intros n given x. unfold chance_of. cbn [chance]. destruct (next c inputs visible x given); reflexivity.
Qed.

Lemma moved_sound : forall a v, sound_row e v -> sound_row e (moved a v).
Proof.
  intros a v V. unfold moved. apply gather_sound. intros p P. apply in_flat_map in P as (q & Q & P).
  apply in_map_iff in P as (r & <- & R). cbn [snd].
  destruct (V q Q) as [V1 W1], (sound (fst q) a r R) as [V2 W2].
  destruct (times_value_ok e (snd q) (snd r) W1 W2) as [T1 T2]. split; [|exact T2]. rewrite T1. now apply Rmult_le_pos.
Qed.

Lemma moved_ok : forall f a v, sound_row e v ->
  mean f (valued e (moved a v)) = mean (fun x => mean f (moves_at c e x a)) (valued e v).
Proof.
  intros f a v V. unfold moved.
  set (l := flat_map (fun p => map (fun q => (fst q, times_weight (snd p) (snd q))) (row c (fst p) a)) v).
  assert (L : good_row e l /\ mean f (valued e l) = mean (fun x => mean f (moves_at c e x a)) (valued e v)).
  { unfold l. clear l. induction v as [|[z w] v IH]; [split; [intros p [] | reflexivity]|].
    destruct (IH (fun p P => V p (or_intror P))) as [I1 I2]. destruct (V (z, w) (or_introl eq_refl)) as [_ W].
    cbn [flat_map fst snd] in *. cbn [valued map mean fst snd]. fold (valued e v).
    assert (M : good_row e (map (fun q => (fst q, times_weight w (snd q))) (row c z a)) /\
      mean f (valued e (map (fun q => (fst q, times_weight w (snd q))) (row c z a))) = value e w * mean f (moves_at c e z a)).
    { pose proof (sound z a) as S. unfold moves_at. induction (row c z a) as [|[y u] r IHr].
      - split; [intros p [] | simpl; ring].
      - destruct (IHr (fun p P => S p (or_intror P))) as [J1 J2]. destruct (S (y, u) (or_introl eq_refl)) as [_ U].
        cbn [snd] in U. destruct (times_value_ok e w u W U) as [T1 T2]. cbn [map fst snd valued mean]. split.
        + intros p [<-|P]; [exact T2 | now apply J1].
        + unfold valued in J2. rewrite T1, J2. ring. }
    destruct M as [M1 M2]. split.
    - intros p P. apply in_app_or in P as [P|P]; auto.
    - unfold valued. rewrite map_app, mean_app. fold (valued e (map (fun q => (fst q, times_weight w (snd q))) (row c z a))).
      unfold valued in I2. rewrite M2, I2. reflexivity. }
  destruct L as [L1 L2]. rewrite (proj1 (gather_ok e f l L1)). exact L2.
Qed.

Lemma one_step : forall n a t x, (data <= inputs)%nat -> fits a x = true ->
  chance_of (S (S n)) (given_of (a :: t)) (seen_of (a :: t)) x
  = mean (chance_of (S n) (given_of t) (seen_of t)) (moves_at c e x a).
Proof.
  intros n a t x Order F. unfold fits in F. apply andb_prop in F as [Vis F]. apply Nat.ltb_lt in Vis.
  assert (Waits : (a < inputs)%nat -> enabled c x a = true -> waits c inputs x = true).
  { intros L E. apply existsb_exists. exists a. split; [apply in_seq; lia | exact E]. }
  unfold given_of, seen_of. cbn [filter]. destruct (Nat.ltb_spec a data) as [D|D].
  - assert (L : (a < inputs)%nat) by lia. apply Nat.ltb_lt in L as L'. rewrite L'. cbn [negb].
    apply andb_prop in F as [E One]. fold (given_of t) (seen_of t).
    destruct (seen_of t) as [|b s] eqn:Seen.
    + rewrite seen_at_once. rewrite (mean_ext _ (fun _ => 1)) by (intros p _; apply seen_at_once).
      unfold moves_at. destruct (added_up_ok e _ (sound_good e _ (sound x a))) as [S1 S2].
      rewrite S1, (same_weight_ok e _ _ S2 (one_sound e) One). symmetry. apply one_value.
    + unfold chance_of. cbn [chance]. unfold next. rewrite (Waits L E), E. cbn [empty andb tl].
      apply Nat.ltb_lt in D. rewrite D. reflexivity.
  - cbn [negb]. fold (given_of t) (seen_of t).
    assert (NotData : forall b, (inputs <= b)%nat -> Nat.ltb b data = false) by (intros b B; apply Nat.ltb_ge; lia).
    assert (Found : forall b, find (enabled c x) (seq inputs (visible - inputs)) = Some b ->
      (inputs <= b)%nat /\ enabled c x b = true).
    { intros b B. apply find_some in B as [B1 B2]. apply in_seq in B1. split; [lia | exact B2]. }
    assert (Row : enabled c x a = false -> mean (chance_of (S n) (given_of t) (seen_of t)) (moves_at c e x a) = 0).
    { intro E. unfold enabled in E. unfold moves_at. destruct (row c x a); [reflexivity | discriminate]. }
    destruct (Nat.ltb_spec a inputs) as [L|L].
    + unfold chance_of. cbn [chance]. unfold next. destruct (enabled c x a) eqn:E.
      * rewrite (Waits L eq_refl). cbn [empty andb tl]. apply Nat.ltb_ge in D. rewrite D, Nat.eqb_refl. reflexivity.
      * transitivity 0; [|symmetry; apply Row; reflexivity]. destruct (waits c inputs x); [reflexivity|].
        destruct (find (enabled c x) (seq inputs (visible - inputs))) as [b|] eqn:B; [|reflexivity].
        destruct (Found b eq_refl) as [B1 _]. cbn [empty andb]. rewrite (NotData b B1).
        destruct (Nat.eqb_spec b a) as [->|_]; [lia | reflexivity].
    + apply andb_prop in F as [W F]. apply negb_true_iff in W. unfold chance_of. cbn [chance]. unfold next in *.
      rewrite W in *. destruct (enabled c x a) eqn:E.
      * cbn [negb orb] in F. destruct (find _ _) as [b|]; [|discriminate]. apply Nat.eqb_eq in F. subst b.
        cbn [empty andb]. rewrite (NotData a L), Nat.eqb_refl. reflexivity.
      * transitivity 0; [|symmetry; apply Row; reflexivity].
        destruct (find (enabled c x) (seq inputs (visible - inputs))) as [b|] eqn:B; [|reflexivity].
        destruct (Found b eq_refl) as [B1 B2]. cbn [empty andb]. rewrite (NotData b B1).
        destruct (Nat.eqb_spec b a) as [->|_]; [congruence | reflexivity].
Qed.

Lemma ran_ok : (data <= inputs)%nat -> forall t rest n v w, sound_row e v -> run_from v t = Some w ->
  sound_row e w /\
  mean (chance_of (length t + S n) (given_of (t ++ rest)) (seen_of (t ++ rest))) (valued e v)
  = mean (chance_of (S n) (given_of rest) (seen_of rest)) (valued e w).
Proof.
  intros Order. induction t as [|a t IH]; intros rest n v w V H; cbn [run_from] in H.
  - inversion H; subst. split; [assumption | reflexivity].
  - destruct (forallb (fun p => fits a (fst p)) v) eqn:F; [|discriminate].
    destruct (IH rest n (moved a v) w (moved_sound a v V) H) as [W I]. split; [exact W|]. rewrite <- I.
    rewrite moved_ok by assumption. apply mean_ext. intros p P. apply in_map_iff in P as (q & <- & Q). cbn [fst].
    rewrite forallb_forall in F. cbn [app length Nat.add]. rewrite Nat.add_succ_r. apply one_step; [assumption|].
    exact (F q Q).
Qed.

(* --- the loop ------------------------------------------------------------------------------------------------------ *)

Fixpoint again (loop : list nat) (k : nat) : list nat :=
  match k with O => [] | S k => loop ++ again loop k end.

Lemma zero_row : forall l, good_row e l -> (forall p, In p l -> value e (snd p) = 0) -> forall f, mean f (valued e l) = 0.
Proof.
  intros l G Z f. induction l as [|[z w] l IH]; [reflexivity|]. cbn [valued map mean fst snd].
  unfold valued in IH. rewrite (IH (fun p P => G p (or_intror P)) (fun p P => Z p (or_intror P))).
  pose proof (Z (z, w) (or_introl eq_refl)) as W. cbn [snd] in W. rewrite W. ring.
Qed.

Lemma multiple_ok : forall factor v w, sound_weight e factor -> sound_row e v -> sound_row e w ->
  multiple factor v w = true -> forall f, mean f (valued e w) = value e factor * mean f (valued e v).
Proof.
  intros factor v w F V W H f. unfold multiple in H.
  set (minus := times_weight (qconst (-1), qconst 1) factor) in *.
  set (l := w ++ map (fun p => (fst p, times_weight minus (snd p))) v) in *.
  assert (M : value e minus = - value e factor /\ sound_weight e minus).
  { destruct (times_value_ok e (qconst (-1), qconst 1) factor) as [T1 T2]; [|exact F|].
    - unfold sound_weight. cbn [snd]. rewrite qeval_const, Q2R_1. lra.
    - split; [|exact T2]. unfold minus. rewrite T1. unfold value at 1. cbn [fst snd]. rewrite !qeval_const, Q2R_1.
      replace (Q2R (-1)) with (-1) by (unfold Q2R; simpl; lra). field. }
  destruct M as [M1 M2].
  assert (L : good_row e l /\ mean f (valued e l) = mean f (valued e w) - value e factor * mean f (valued e v)).
  { unfold l. split.
    - intros p P. apply in_app_or in P as [P|P]; [exact (proj2 (W p P))|]. apply in_map_iff in P as (q & <- & Q).
      cbn [snd]. exact (proj2 (times_value_ok e minus (snd q) M2 (proj2 (V q Q)))).
    - unfold valued at 1. rewrite map_app, mean_app. fold (valued e w). unfold Rminus. f_equal. clear H l.
      induction v as [|[z u] v IH]; [simpl; ring|]. cbn [map valued mean fst snd].
      destruct (times_value_ok e minus u M2 (proj2 (V (z, u) (or_introl eq_refl)))) as [T1 _].
      specialize (IH (fun p P => V p (or_intror P))). unfold valued in IH. rewrite T1, M1, IH. ring. }
  destruct L as [L1 L2]. destruct (gather_ok e f l L1) as [G1 G2]. rewrite <- G1 in L2.
  rewrite (zero_row (gather l) G2) in L2; [lra|]. intros p P. rewrite forallb_forall in H. specialize (H p P).
  apply orb_prop in H as [H|H].
  - rewrite (same_weight_ok e _ (qconst 0, qconst 1) (G2 p P)) by
      (assumption || (unfold sound_weight; cbn [snd]; rewrite qeval_const, Q2R_1; lra)).
    unfold value. cbn [fst snd]. rewrite !qeval_const, Q2R_0, Q2R_1. lra.
  - apply andb_prop in H as [H1 H2]. apply asked in H1, H2. simpl in H1, H2. rewrite qeval_sub, qeval_const, Q2R_0 in H2.
    unfold value. replace (qeval (fst (snd p)) e) with 0 by lra. unfold Rdiv. ring.
Qed.

Lemma again_ok : (data <= inputs)%nat -> forall v w loop factor, sound_row e v -> sound_weight e factor ->
  run_from v loop = Some w -> multiple factor v w = true -> forall k n,
  mean (chance_of (length (again loop k) + S n) (given_of (again loop k)) (seen_of (again loop k))) (valued e v)
  = value e factor ^ k * mean (fun _ => 1) (valued e v).
Proof.
  intros Order v w loop factor V F H M. induction k as [|k IH]; intro n.
  - cbn [again length Nat.add pow]. rewrite Rmult_1_l. apply mean_ext. intros p _. apply seen_at_once.
  - cbn [again pow]. rewrite app_length, <- Nat.add_assoc, Nat.add_succ_r.
    destruct (ran_ok Order loop (again loop k) (length (again loop k) + n) v w V H) as [W E]. rewrite E.
    rewrite (multiple_ok factor v w F V W M), <- Nat.add_succ_r, IH. ring.
Qed.

Lemma all_counted : (data <= inputs)%nat -> forall t, (length t <= length (given_of t) + length (seen_of t))%nat.
Proof.
  intros Order. induction t as [|a t IH]; [simpl; lia|]. unfold given_of, seen_of in *. cbn [filter length].
  destruct (Nat.ltb_spec a inputs), (Nat.ltb_spec a data); cbn [negb length]; lia.
Qed.

Lemma run_ok : (data <= inputs)%nat -> forall start t v w loop factor, sound_row e start -> sound_weight e factor ->
  run_from start t = Some v -> run_from v loop = Some w -> multiple factor v w = true -> forall k,
  let u := t ++ again loop k in
  likely e c data inputs visible false start (given_of u) (seen_of u) = value e factor ^ k * mean (fun _ => 1) (valued e v).
Proof.
  intros Order start t v w loop factor S F H1 H2 M k u. unfold likely, chance_from.
  pose proof (all_counted Order u) as C. set (r := again loop k) in *.
  assert (N : exists n, Datatypes.S (length (given_of u) + length (seen_of u))
    = (length t + Datatypes.S (length r + n))%nat).
  { exists (length (given_of u) + length (seen_of u) - length u)%nat. unfold u in *. rewrite app_length in *. lia. }
  destruct N as [n ->]. destruct (ran_ok Order t r (length r + n) start v S H1) as [V E].
  transitivity (mean (chance_of (Datatypes.S (length r + n)) (given_of r) (seen_of r)) (valued e v)); [exact E|].
  rewrite <- Nat.add_succ_r. exact (again_ok Order v w loop factor V F H2 M k n).
Qed.

Lemma power_wins : forall l m x y, 0 <= m -> m < l -> 0 < x -> forall b, exists k, b * (m ^ k * y) < l ^ k * x.
Proof.
  intros l m x y M L X b. destruct (Rle_lt_or_eq_dec 0 m M) as [P|<-].
  - set (d := l / m - 1). assert (D : 0 < d).
    { unfold d. assert (1 < l / m); [|lra]. apply Rmult_lt_reg_r with m; [assumption|]. unfold Rdiv.
      rewrite Rmult_assoc, Rinv_l by lra. lra. }
    assert (U : exists k, b * y / (d * x) < INR k).
    { destruct (archimed (b * y / (d * x))) as [A _]. exists (Z.to_nat (up (b * y / (d * x)))).
      rewrite INR_IZR_INZ. apply Rlt_le_trans with (IZR (up (b * y / (d * x)))); [lra | apply IZR_le; lia]. }
    destruct U as [k K]. exists k.
    assert (B : 1 + INR k * d <= (1 + d) ^ k) by (apply Rfunctions.poly; lra).
    assert (E : l ^ k = m ^ k * (1 + d) ^ k).
    { rewrite <- Rpow_mult_distr. f_equal. unfold d. field. lra. }
    rewrite E. assert (Mk : 0 < m ^ k) by now apply pow_lt.
    assert (Z : b * y < (1 + d) ^ k * x).
    { apply Rlt_le_trans with ((1 + INR k * d) * x); [|apply Rmult_le_compat_r; lra].
      assert (K2 : b * y < INR k * (d * x)).
      { assert (Dx : 0 < d * x) by now apply Rmult_lt_0_compat.
        apply Rmult_lt_reg_r with (/ (d * x)).
        - now apply Rinv_0_lt_compat.
        - replace (INR k * (d * x) * / (d * x)) with (INR k) by (field; lra). exact K. }
      lra. }
    replace (b * (m ^ k * y)) with (m ^ k * (b * y)) by ring. rewrite Rmult_assoc.
    now apply Rmult_lt_compat_l.
  - exists 1%nat. simpl. assert (0 < l * x) by now apply Rmult_lt_0_compat. lra.
Qed.

Lemma grows_ok : forall start left right loop more less, sound_row e start ->
  grows start left right loop more less = true -> forall b, exists k,
  let seen t := likely e c data inputs visible false start (given_of t) (seen_of t) in
  b * seen (right ++ again loop k) < seen (left ++ again loop k).
Proof.
  intros start left right loop more less S H b. unfold grows in H. apply andb_prop in H as [H Both].
  apply andb_prop in H as [H Order]. apply andb_prop in H as [H Less]. apply andb_prop in H as [O More].
  apply Nat.leb_le in O. apply asked in More, Less, Order. simpl in More, Less, Order.
  destruct (run_from start left) as [x|] eqn:X; [|discriminate].
  destruct (run_from start right) as [y|] eqn:Y; [|discriminate].
  apply andb_prop in Both as [Pos Both]. apply andb_prop in Pos as [PX PY]. apply asked in PX, PY. simpl in PX, PY.
  destruct (run_from x loop) as [x'|] eqn:X'; [|discriminate].
  destruct (run_from y loop) as [y'|] eqn:Y'; [|discriminate]. apply andb_prop in Both as [MX MY].
  destruct (ran_ok O left [] 0 start x S X) as [Sx _]. destruct (ran_ok O right [] 0 start y S Y) as [Sy _].
  destruct (ran_ok O loop [] 0 y y' Sy Y') as [Sy' _].
  assert (Positive : forall v, sound_row e v -> 0 < qeval (fst (added_up v)) e -> 0 < mean (fun _ => 1) (valued e v)).
  { intros v V P. destruct (added_up_ok e v (sound_good e _ V)) as [A1 A2]. rewrite A1. unfold value.
    now apply Rdiv_lt_0_compat. }
  pose proof (Positive x Sx PX) as Hx. pose proof (Positive y Sy PY) as Hy.
  assert (L0 : 0 <= value e less).
  { pose proof (multiple_ok less y y' Less Sy Sy' MY (fun _ => 1)) as E.
    assert (N : 0 <= mean (fun _ => 1) (valued e y')).
    { apply mean_nonneg; [intro; lra|]. intros p P. apply in_map_iff in P as (q & <- & Q). exact (proj1 (Sy' q Q)). }
    rewrite E in N. apply Rmult_le_reg_r with (mean (fun _ => 1) (valued e y)); [assumption | lra]. }
  assert (L1 : value e less < value e more).
  { unfold difference in Order. cbn [map fold_right fst snd] in Order.
    rewrite qeval_sub, !qeval_mul, !qeval_const, Q2R_1 in Order. unfold value, sound_weight in *.
    apply Rmult_lt_reg_r with (qeval (snd less) e * qeval (snd more) e); [now apply Rmult_lt_0_compat|].
    replace (qeval (fst less) e / qeval (snd less) e * (qeval (snd less) e * qeval (snd more) e))
      with (qeval (fst less) e * qeval (snd more) e) by (field; lra).
    replace (qeval (fst more) e / qeval (snd more) e * (qeval (snd less) e * qeval (snd more) e))
      with (qeval (fst more) e * qeval (snd less) e) by (field; lra). lra. }
  destruct (power_wins (value e more) (value e less) _ (mean (fun _ => 1) (valued e y)) L0 L1 Hx b) as [k K].
  exists k. pose proof (run_ok O start left x x' loop more S More X X' MX k) as U.
  pose proof (run_ok O start right y y' loop less S Less Y Y' MY k) as V. cbv beta zeta in U, V |- *. rewrite U, V. exact K.
Qed.

End Growth.

(* As in `Violations.check_violation`, all numbers are those at one point. *)
Definition check_growth (g : goal) (s : system) (data inputs visible : nat) (groups : list (list closure)) (initial : nat)
  (left right loop : list nat) (more less : weight) : bool :=
  let all := concat groups in
  weights_ok g [] s && closures_ok g [] s visible all groups &&
  grows g (closed_system s visible all) data inputs visible (ends_of s visible all initial) left right loop more less.

(* No number bounds the ratio of what is seen with the left inputs and with the right ones. *)
Theorem check_growth_sound : forall g s data inputs visible groups initial left right loop more less,
  check_growth g s data inputs visible groups initial left right loop more less = true ->
  forall e, dom g e -> let c := closed_system s visible (concat groups) in
  let seen t := likely e c data inputs visible false (ends_of s visible (concat groups) initial)
    (given_of inputs t) (seen_of data t) in
  (forall b, exists k, b * seen (right ++ again loop k) < seen (left ++ again loop k)) /\
  (forall t, Forall (fun a => (a < visible)%nat) t -> observed s visible e t (fun x => prob (moves_at c e) x t)).
Proof.
  intros g s data inputs visible groups initial left right loop more less H e D c seen. unfold check_growth in H.
  apply andb_prop in H as [H G]. apply andb_prop in H as [W C].
  pose (rec := fun (_ : goal) (_ : cert) => false).
  assert (R : honest rec) by (intros h k K; discriminate).
  assert (Signs : signs_ok rec g [] = true) by reflexivity.
  pose proof (weights_sound rec g [] R Signs e D s W) as S.
  split; [|exact (closed_observed rec g [] s visible groups R Signs e D S C)].
  exact (grows_ok g c data inputs visible e D (closed_sound rec g [] s visible groups R Signs e D S C)
    _ left right loop more less (ends_sound rec g [] s visible groups R Signs e D S C initial) G).
Qed.
