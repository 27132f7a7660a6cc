(* Unwinding families: pairs of states with a level, and a step. The cost of a pair is the step to the power of its
   level, and each action leads to pairs of the same level with the same weights, or of a lower level with weights
   that differ by a step at most. See `Unwinding` for what costs show. *)
From Coq Require Import Reals ZArith QArith Qreals Lra Lia List Bool Arith Permutation.
From Paramverify Require Import Poly Goal Certificate Rule Unwinding Weights.
Import ListNotations.
Local Open Scope R_scope.

(* For each action the partners of the outcomes of the first state, as places in what is left of the outcomes of
   the second one; true: of the same level. *)
Record pair := Pair { one_state : nat; other_state : nat; pair_level : nat; mates : list (list (bool * nat)) }.

Section Families.

Variable rec : checker.
Variable g : goal.
Variable signs : list sign.
Variable s : system.
Variable guarded : nat.
Variable step : weight.
Variable pairs : list pair.

Definition related (x y n : nat) : bool :=
  Nat.eqb x y ||
  match find (fun p => Nat.eqb (one_state p) x && Nat.eqb (other_state p) y) pairs with
  | Some p => Nat.leb (pair_level p) n
  | None => false
  end.

(* The same by a table of the pairs by their first state, which is made once. *)
Definition by_first : list (list pair) :=
  map (fun x => filter (fun p => Nat.eqb (one_state p) x) pairs) (seq 0 (length s)).
Definition found_in (table : list (list pair)) (x y n : nat) : bool :=
  Nat.eqb x y ||
  match find (fun p => Nat.eqb (other_state p) y) (nth x table []) with
  | Some p => Nat.leb (pair_level p) n
  | None => false
  end.

Lemma find_filter : forall (A : Type) (f h : A -> bool) l, find f (filter h l) = find (fun x => h x && f x) l.
Proof.
  intros A f h. induction l as [|x l IH]; [reflexivity|]. simpl. destruct (h x); simpl; [|exact IH].
  destruct (f x); [reflexivity | exact IH].
Qed.

Lemma found_related : forall x y n, found_in by_first x y n = true -> related x y n = true.
Proof.
  intros x y n. unfold found_in, related, by_first. destruct (Nat.eqb x y); [reflexivity|]. simpl.
  destruct (Nat.lt_ge_cases x (length s)) as [L|L].
  - rewrite (nth_indep _ [] (filter (fun p => Nat.eqb (one_state p) 0) pairs)) by (rewrite map_length, seq_length; exact L).
    rewrite (map_nth (fun x => filter (fun p => Nat.eqb (one_state p) x) pairs)), seq_nth by exact L.
    rewrite find_filter. easy.
  - rewrite nth_overflow by (rewrite map_length, seq_length; exact L). discriminate.
Qed.

Section Near.

Variable near : nat -> nat -> nat -> bool.

Fixpoint mated (n : nat) (mu nu : list (nat * weight)) (ps : list (bool * nat)) : bool :=
  match mu, ps with
  | [], [] => true
  | (z, w) :: mu, (same, p) :: ps =>
    match take p nu with
    | Some ((y, v), nu) =>
      (if same then near z y n && same_weight w v
       else match n with S m => near z y m && at_most g signs [w] [step; v] | O => false end) && mated n mu nu ps
    | None => false
    end
  | _, _ => false
  end.

(* Action by action, from [a] on; [waits]: the second state accepts an input. *)
Fixpoint actions_ok (n : nat) (waits : bool) (a : nat) (mine others : list (list (nat * weight)))
    (chosen : list (list (bool * nat))) : bool :=
  match mine with
  | [] => true
  | mu :: mine =>
    (Nat.ltb a guarded && waits && empty (hd [] others) || mated n mu (hd [] others) (hd [] chosen))
    && actions_ok n waits (S a) mine (tl others) (tl chosen)
  end.

Definition pair_ok (p : pair) : bool :=
  let mine := nth (one_state p) s [] in
  let others := nth (other_state p) s [] in
  let waits := existsb (fun b => negb (empty (nth b others []))) (seq 0 guarded) in
  actions_ok (pair_level p) waits 0 mine others (mates p).

Lemma actions_ok_at : forall n waits mine others chosen k a, actions_ok n waits k mine others chosen = true ->
  (a < length mine)%nat ->
  Nat.ltb (k + a) guarded && waits && empty (nth a others []) || mated n (nth a mine []) (nth a others []) (nth a chosen []) = true.
Proof.
  intros n waits. induction mine as [|mu mine IH]; intros others chosen k a H L; simpl in L; [lia|].
  cbn [actions_ok] in H. apply andb_prop in H as [H1 H2]. destruct a as [|a].
  - rewrite Nat.add_0_r. destruct others, chosen; exact H1.
  - specialize (IH _ _ _ a H2 ltac:(lia)). rewrite Nat.add_succ_r. cbn [nth].
    destruct others, chosen; cbn [tl] in IH; cbn [nth]; try exact IH; destruct a; exact IH.
Qed.

End Near.

Definition check_pairs (table : list (list pair)) (data : nat) (reach : list nat) (steps : nat) : bool :=
  forallb (pair_ok (found_in table)) pairs && insertions_ok s (fun x y => found_in table x y steps) data reach.

Definition check_family (data : nat) (reach : list nat) (steps : nat) (ratio : weight) : bool :=
  ask g signs true (snd ratio) && ask g signs true (snd step) &&
  at_most g signs [one] [step] && at_most g signs (repeat step steps) [ratio] && check_pairs by_first data reach steps.

Hypothesis rec_honest : honest rec.

Section Point.

Hypothesis known : signs_ok rec g signs = true.
Variable e : env.
Hypothesis in_domain : dom g e.
Hypothesis sound : sound_system e s.
Hypothesis step_sound : sound_weight e step.
Hypothesis step_one : 1 <= value e step.
Hypothesis accepted : forallb (pair_ok (found_in by_first)) pairs = true.

Definition cost (x y : nat) (c : R) : Prop := exists n, related x y n = true /\ c = value e step ^ n.

Lemma power_grows : forall m n, (m <= n)%nat -> value e step ^ m <= value e step ^ n.
Proof. intros m n H. now apply Rle_pow. Qed.

Lemma power_positive : forall n, 0 < value e step ^ n.
Proof. intro n. apply pow_lt. lra. Qed.

Lemma mated_ok : forall m n, (m <= n)%nat -> forall mu nu ps, sound_row e mu -> sound_row e nu ->
  mated (found_in by_first) m mu nu ps = true -> matched cost (value e step ^ n) (valued e mu) (valued e nu).
Proof.
  intros m n L. induction mu as [|[z w] mu IH]; intros nu [|[same p] ps] M N H; try discriminate.
  - exists [], (valued e nu). split; [apply Permutation_refl | constructor].
  - cbn [mated] in H. destruct (take p nu) as [[[y v] rest]|] eqn:T; [|discriminate].
    apply andb_prop in H as [H1 H2]. apply take_permutes in T.
    assert (Nr : sound_row e rest).
    { intros q Q. apply N. apply (Permutation_in q (Permutation_sym T)). now right. }
    destruct (N (y, v)) as [Vv Nv]; [apply (Permutation_in (y, v) (Permutation_sym T)); now left|].
    destruct (M (z, w) (or_introl eq_refl)) as [Vw Mw]. cbn [snd] in *.
    destruct (IH rest ps (fun q Q => M q (or_intror Q)) Nr H2) as (chosen & left_ & P & Q).
    exists ((y, value e v) :: chosen), left_. split.
    + unfold valued. rewrite (Permutation_map (fun p => (fst p, value e (snd p))) T). simpl.
      apply perm_skip. exact P.
    + constructor; [|exact Q]. cbn [fst snd]. pose proof (power_grows m n L) as G. destruct same.
      * apply andb_prop in H1 as [H1 H3]. apply found_related in H1. exists (value e step ^ m). split; [exists m; auto|].
        rewrite (same_weight_ok e w v Mw Nv H3), Rmult_comm. now apply Rmult_le_compat_r.
      * destruct m as [|m]; [discriminate|]. apply andb_prop in H1 as [H1 H3]. apply found_related in H1.
        exists (value e step ^ m). split; [exists m; auto|].
        apply (at_most_ok rec g signs rec_honest known e in_domain) in H3;
          [|repeat constructor; assumption|repeat constructor; assumption].
        simpl in H3. pose proof (power_positive m) as Pm.
        apply Rle_trans with (value e step * value e v * value e step ^ m).
        -- apply Rmult_le_compat_r; lra.
        -- simpl in G. apply Rle_trans with (value e step * value e step ^ m * value e v); [lra|].
           now apply Rmult_le_compat_r.
Qed.

Lemma cost_at_least_one : forall x y c, cost x y c -> 1 <= c.
Proof. intros x y c (n & _ & ->). now apply pow_R1_Rle. Qed.

Lemma cost_steps : forall x y c a, cost x y c -> matched cost c (moves_at s e x a) (moves_at s e y a) \/
  (assumed s guarded y a = true /\ moves_at s e y a = []).
Proof.
  intros x y c a (n & H & ->). unfold related in H. destruct (Nat.eqb_spec x y) as [->|N].
  - left. exists (moves_at s e y a), []. split; [rewrite app_nil_r; apply Permutation_refl|].
    pose proof (moves_nonneg e s sound y a) as W. revert W.
    induction (moves_at s e y a) as [|p l IH]; intro W; constructor; [|apply IH; intros q Q; apply W; now right].
    exists 1. split.
    + exists O. split; [unfold related; now rewrite Nat.eqb_refl | reflexivity].
    + pose proof (W p (or_introl eq_refl)) as Wp. pose proof (power_grows 0 n (Nat.le_0_l n)) as G. simpl in G.
      rewrite Rmult_1_r. rewrite <- (Rmult_1_l (snd p)) at 1. now apply Rmult_le_compat_r.
  - simpl in H. destruct (find _ pairs) as [p|] eqn:E; [|discriminate]. apply find_some in E as [I E].
    apply andb_prop in E as [E1 E2]. apply Nat.eqb_eq in E1, E2. subst x y. apply Nat.leb_le in H.
    rewrite forallb_forall in accepted. pose proof (accepted p I) as K. unfold pair_ok in K.
    destruct (Nat.lt_ge_cases a (length (nth (one_state p) s []))) as [L|L].
    + apply actions_ok_at with (a := a) in K; [|exact L]. apply orb_prop in K as [K|K].
      * right. apply andb_prop in K as [K1 K2]. split; [exact K1|]. unfold moves_at, row.
        now destruct (nth a (nth (other_state p) s []) []).
      * left. exact (mated_ok (pair_level p) n H _ _ _ (sound _ _) (sound _ _) K).
    + left. unfold moves_at at 1, row. rewrite (nth_overflow (nth (one_state p) s [])) by assumption.
      exists [], (moves_at s e (other_state p) a). split; [apply Permutation_refl | constructor].
Qed.

Lemma repeated : forall n, fold_right Rmult 1 (map (value e) (repeat step n)) = value e step ^ n.
Proof. induction n as [|n IH]; simpl; [reflexivity|]. now rewrite IH. Qed.

End Point.

Theorem check_family_sound : forall data reach steps ratio, signs_ok rec g signs = true ->
  check_family data reach steps ratio = true ->
  forall e, dom g e -> sound_system e s -> hides e s data guarded reach (value e ratio).
Proof.
  intros data reach steps ratio Signs H e D S. unfold check_family in H.
  repeat (apply andb_prop in H as [H ?H]).
  rename H into P, H3 into T, H2 into One, H1 into Most, H0 into I. apply andb_prop in I as [Pairs I].
  apply (ask_ok rec g signs rec_honest Signs e D) in P, T. simpl in P, T.
  pose proof (at_most_ok rec g signs rec_honest Signs e D) as Less.
  apply Less in One; [|repeat constructor; apply one_sound | repeat constructor; exact T].
  simpl in One. rewrite one_value in One.
  apply Less in Most; [|apply Forall_forall; intros w K; apply repeat_spec in K; now subst | repeat constructor; exact P].
  rewrite repeated in Most. simpl in Most.
  apply (insertions_hide e s (fun x y => found_in by_first x y steps) data guarded reach (cost e) (value e ratio) S); try assumption.
  - apply cost_at_least_one. lra.
  - apply cost_steps; try assumption. lra.
  - intros x y K. apply found_related in K. exists (value e step ^ steps). split; [exists steps; auto | lra].
Qed.

End Families.
