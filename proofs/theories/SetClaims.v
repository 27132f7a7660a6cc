(** The claims about sets of outputs, computed from a model, and that they are enough: of a mechanism that answers
    once, and of a hidden Markov model. *)

From Coq Require Import Reals ZArith List Lra Bool.
From Paramverify Require Import Expressions Sums Programs Privacy Approximate Symbolic OneShot Hmm Sequences Excesses.
Import ListNotations.
Local Open Scope R_scope.

Section Claims.
Variable K : algebra.
Variable S : known_sums K.
Notation fraction := (fraction K).
Notation amount := (amount K).
Notation fits := (fits K S).
Notation beyond := (beyond K).
Notation room_of := (room_of K).

(** ** Mechanisms that answer once *)

Fixpoint distinct (ys : list output) : bool :=
  match ys with
  | [] => true
  | y :: rest => negb (existsb (same y) rest) && distinct rest
  end.

Lemma distinct_right ys : distinct ys = true -> NoDup ys.
Proof.
  induction ys as [|y ys IH]; intros H; [constructor|]. simpl in H. apply andb_true_iff in H. destruct H as [H1 H2].
  constructor; [|apply IH; exact H2]. intros Hin. rewrite (proj2 (existsb_exists (same y) ys)) in H1; [discriminate|].
  exists y. split; [exact Hin | apply same_spec; reflexivity].
Qed.

Notation table := (table K).

Lemma add_entry_keys y f (t : table) z : z = y \/ In z (map fst t) -> In z (map fst (add_entry K y f t)).
Proof.
  induction t as [|[x g] t IH]; simpl; intros H.
  - destruct H as [->|[]]. left. reflexivity.
  - destruct (same y x) eqn:E; simpl.
    + apply same_spec in E. subst x. destruct H as [->|[H|H]]; auto.
    + destruct H as [H|[H|H]]; auto.
Qed.

Lemma add_table_keys (t u : table) z : In z (map fst t) \/ In z (map fst u) -> In z (map fst (add_table K t u)).
Proof.
  induction t as [|[y f] t IH]; simpl; intros H; [destruct H as [[]|H]; exact H|].
  apply add_entry_keys. destruct H as [[H|H]|H]; auto.
Qed.

Lemma collect_keys d (t : table) : collect K d = Some t -> forall v y, In (v, y) d -> In y (map fst t).
Proof.
  revert t. induction d as [|[w z] d IH]; simpl; intros t H v y Hin; [destruct Hin|].
  destruct (fraction_of K w) as [f|]; [|discriminate]. destruct (collect K d) as [u|]; [|discriminate].
  injection H as <-. apply add_entry_keys. destruct Hin as [Hin|Hin]; [left; congruence|].
  right. apply (IH _ eq_refl v). exact Hin.
Qed.

Lemma joint_keys mechanism s prior (t : table) : joint K mechanism s prior = Some t ->
  forall w x, In (w, x) prior -> s x = true -> forall v y, In (v, y) (mechanism x) -> In y (map fst t).
Proof.
  revert t. induction prior as [|[w' x'] prior IH]; simpl; intros t H w x Hin Hs v y Hy; [destruct Hin|].
  destruct (s x') eqn:E.
  - destruct (joint K mechanism s prior) as [more|]; [|discriminate].
    destruct (fraction_of K w') as [f|]; [|discriminate].
    destruct (collect K (mechanism x')) as [u|] eqn:E'; [|discriminate]. injection H as <-.
    apply add_table_keys. destruct Hin as [Hin|Hin].
    + left. injection Hin as <- <-. unfold scaled. rewrite map_map. simpl. apply (collect_keys _ _ E' v). exact Hy.
    + right. apply (IH _ eq_refl w x Hin Hs v). exact Hy.
  - destruct Hin as [Hin|Hin]; [injection Hin as <- <-; congruence|]. apply (IH _ H w x Hin Hs v). exact Hy.
Qed.

Lemma in_outputs (t u : table) y : In y (map fst t) \/ In y (map fst u) -> In y (outputs K t u).
Proof.
  intros H. destruct (in_dec (list_eq_dec Z.eq_dec) y (outputs K t u)) as [Y|N]; [exact Y|]. exfalso.
  apply not_in_outputs in N. destruct N as [A B].
  assert (seen : forall v : table, In y (map fst v) -> existsb (fun entry => same y (fst entry)) v = true).
  { intros v Hv. apply in_map_iff in Hv. destruct Hv as [[z f] [<- Hv]]. apply existsb_exists. exists (z, f).
    split; [exact Hv | apply same_spec; reflexivity]. }
  destruct H as [H|H]; apply seen in H; congruence.
Qed.

(** One direction of a comparison of two tables, for all sets of outputs. *)
Definition sets_within (c d : fraction) (t : table) (m : fraction) (u : table) (n : fraction) : bool :=
  let ys := outputs K t u in
  distinct ys && fits (map (fun y => beyond c (look_up K t y) m (look_up K u y) n) ys) (room_of d m n).

Lemma sets_within_right c d (t : table) m (u : table) n : proper K c -> proper K d -> proper_table K t -> proper K m ->
  proper_table K u -> proper K n -> sets_within c d t m u n = true ->
  NoDup (outputs K t u) /\ forall p, inside K p ->
    total (fun y => Rmax 0 (amount_of K p t y * amount p n - amount p c * (amount_of K p u y * amount p m))) (outputs K t u)
      <= amount p d * (amount p m * amount p n).
Proof.
  intros Hc Hd Ht Hm Hu Hn H. unfold sets_within in H. apply andb_true_iff in H. destruct H as [H1 H2].
  split; [apply distinct_right; exact H1|]. intros p Hp. destruct (room_of_right K d m n Hd Hm Hn) as [Pr Vr].
  assert (B : forall y, proper K (beyond c (look_up K t y) m (look_up K u y) n) /\ forall p, inside K p ->
      amount p (beyond c (look_up K t y) m (look_up K u y) n)
      = amount_of K p t y * amount p n - amount p c * (amount_of K p u y * amount p m)).
  { intros y. destruct (look_up_right K t y Ht) as [P1 V1]. destruct (look_up_right K u y Hu) as [P2 V2].
    destruct (beyond_right K c _ m _ n Hc P1 Hm P2 Hn) as [P V]. split; [exact P|].
    intros q Hq. rewrite V, V1, V2 by exact Hq. reflexivity. }
  assert (A : Forall (proper K) (map (fun y => beyond c (look_up K t y) m (look_up K u y) n) (outputs K t u))).
  { apply Forall_forall. intros f Hf. apply in_map_iff in Hf. destruct Hf as [y [<- _]]. apply B. }
  pose proof (fits_right K S _ _ A Pr H2 p Hp) as G. rewrite Vr, total_map in G by exact Hp.
  rewrite (total_ext _ (fun y => Rmax 0 (amount p (beyond c (look_up K t y) m (look_up K u y) n)))); [exact G|].
  intros y _. rewrite (proj2 (B y)) by exact Hp. reflexivity.
Qed.

Definition compared_sets (c d : fraction) mechanism prior (pair : secret * secret) : bool :=
  match joint K mechanism (fst pair) prior, mass K (fst pair) prior,
        joint K mechanism (snd pair) prior, mass K (snd pair) prior with
  | Some t, Some m, Some u, Some n => sets_within c d t m u n && sets_within c d u n t m
  | _, _, _, _ => false
  end.

Definition keeps_approximate_pufferfish (prior : distribution world) mechanism pairs (ratio delta : expression) : bool :=
  match fraction_of K ratio, fraction_of K delta with
  | Some c, Some d => forallb (compared_sets c d mechanism prior) pairs
  | _, _ => false
  end.

Lemma one_secret c d mechanism prior s t (ts tt : table) ms mt : proper K c -> proper K d ->
  joint K mechanism s prior = Some ts -> mass K s prior = Some ms ->
  joint K mechanism t prior = Some tt -> mass K t prior = Some mt -> sets_within c d ts ms tt mt = true ->
  forall p, inside K p -> 0 < chance p prior s -> 0 < chance p prior t -> forall set,
    conditional_in p prior mechanism s set <= amount p c * conditional_in p prior mechanism t set + amount p d.
Proof.
  intros Pc Pd E1 E2 E3 E4 H p Hp Hs Ht set.
  destruct (joint_right K _ _ _ _ E1) as [P1 V1]. destruct (mass_right K _ _ _ E2) as [P2 V2].
  destruct (joint_right K _ _ _ _ E3) as [P3 V3]. destruct (mass_right K _ _ _ E4) as [P4 V4].
  destruct (sets_within_right c d ts ms tt mt Pc Pd P1 P2 P3 P4 H) as [N G]. specialize (G p Hp).
  apply (one_side p prior mechanism _ _ (outputs K ts tt)); [exact N | | | exact Hs | exact Ht |].
  - intros w x Hw Hx v y Hy. apply in_outputs. left. apply (joint_keys _ _ _ _ E1 w x Hw Hx v y Hy).
  - intros w x Hw Hx v y Hy. apply in_outputs. right. apply (joint_keys _ _ _ _ E3 w x Hw Hx v y Hy).
  - unfold too_likely. rewrite (V2 p Hp), (V4 p Hp).
    erewrite total_ext; [exact G|]. intros y _. simpl. rewrite (V1 p Hp), (V3 p Hp). reflexivity.
Qed.

Theorem approximate_pufferfish_proved prior mechanism pairs ratio delta :
  keeps_approximate_pufferfish prior mechanism pairs ratio delta = true ->
  forall p, inside K p -> approximate_pufferfish p prior mechanism (value p ratio) (value p delta) pairs.
Proof.
  unfold keeps_approximate_pufferfish. destruct (fraction_of K ratio) as [c|] eqn:E; [|discriminate].
  destruct (fraction_of K delta) as [d|] eqn:E'; [|discriminate].
  destruct (fraction_of_right K _ _ E) as [Pc Vc]. destruct (fraction_of_right K _ _ E') as [Pd Vd].
  rewrite forallb_forall. intros H p Hp s t Hin Hs Ht set. specialize (H _ Hin). unfold compared_sets in H; simpl in H.
  destruct (joint K mechanism s prior) as [ts|] eqn:E1; [|discriminate].
  destruct (mass K s prior) as [ms|] eqn:E2; [|discriminate].
  destruct (joint K mechanism t prior) as [tt|] eqn:E3; [|discriminate].
  destruct (mass K t prior) as [mt|] eqn:E4; [|discriminate].
  apply andb_true_iff in H. destruct H as [H1 H2]. rewrite Vc, Vd by exact Hp.
  split; [apply (one_secret c d mechanism prior s t ts tt ms mt) | apply (one_secret c d mechanism prior t s tt ts mt ms)];
    assumption.
Qed.

Definition alike_sets (c d : fraction) (found : tables K) (pair : world * world) : bool :=
  match table_in K found (fst pair), table_in K found (snd pair) with
  | Some t, Some u => sets_within c d t (unit_mass K) u (unit_mass K) && sets_within c d u (unit_mass K) t (unit_mass K)
  | _, _ => false
  end.

Definition keeps_approximate mechanism (neighbours : list (world * world)) (ratio delta : expression) : bool :=
  match fraction_of K ratio, fraction_of K delta with
  | Some c, Some d => let found := all_tables K mechanism neighbours in forallb (alike_sets c d found) neighbours
  | _, _ => false
  end.

Lemma one_set c d (mechanism : world -> distribution output) x x' (t u : table) : proper K c -> proper K d ->
  collect K (mechanism x) = Some t -> collect K (mechanism x') = Some u ->
  sets_within c d t (unit_mass K) u (unit_mass K) = true -> forall p, inside K p -> forall set,
  probability p (mechanism x) set
    <= amount p c * probability p (mechanism x') set + amount p d.
Proof.
  intros Pc Pd E1 E2 H p Hp set.
  destruct (collect_right K _ _ E1) as [P1 V1]. destruct (collect_right K _ _ E2) as [P2 V2].
  assert (Hone : proper K (unit_mass K)) by apply of_poly_proper.
  assert (V : amount p (unit_mass K) = 1) by (unfold unit_mass; rewrite of_poly_right; apply whole_right).
  destruct (sets_within_right c d t _ u _ Pc Pd P1 Hone P2 Hone H) as [N G]. specialize (G p Hp). rewrite V in G.
  rewrite !(probability_of_set p _ set (outputs K t u)); [|exact N| |exact N|].
  2:{ intros w y Hin. apply in_outputs. right. apply (collect_keys _ _ E2 w y Hin). }
  2:{ intros w y Hin. apply in_outputs. left. apply (collect_keys _ _ E1 w y Hin). }
  pose proof (worst_set (fun y => probability p (mechanism x) (same y)) (fun y => probability p (mechanism x') (same y))
    1 1 (amount p c) (amount p d) set (outputs K t u)) as W.
  assert (over_one : forall a, a / 1 = a) by (intros; field). rewrite !over_one in W. apply W; [lra | lra |].
  rewrite (total_ext _ (fun y => Rmax 0 (amount_of K p t y * 1 - amount p c * (amount_of K p u y * 1)))); [exact G|].
  intros y _. rewrite V1, V2 by exact Hp. reflexivity.
Qed.

Theorem approximate_privacy_proved mechanism neighbours ratio delta :
  keeps_approximate mechanism neighbours ratio delta = true ->
  forall p, inside K p -> approximately_private p mechanism (value p ratio) (value p delta) neighbours.
Proof.
  unfold keeps_approximate. destruct (fraction_of K ratio) as [c|] eqn:E; [|discriminate].
  destruct (fraction_of K delta) as [d|] eqn:E'; [|discriminate].
  destruct (fraction_of_right K _ _ E) as [Pc Vc]. destruct (fraction_of_right K _ _ E') as [Pd Vd].
  rewrite forallb_forall. intros H p Hp x x' Hin set. specialize (H _ Hin). unfold alike_sets in H; simpl in H.
  destruct (table_in K _ x) as [t|] eqn:E1; [|discriminate]. apply table_in_right in E1.
  destruct (table_in K _ x') as [u|] eqn:E2; [|discriminate]. apply table_in_right in E2.
  apply andb_true_iff in H. destruct H as [H1 H2]. rewrite Vc, Vd by exact Hp.
  split; [apply (one_set c d mechanism x x' t u) | apply (one_set c d mechanism x' x u t)]; assumption.
Qed.

(** ** Hidden Markov models *)

Variable h : hidden_markov.
Notation n := (states h).

Definition sets_at (c d : fraction) (left right : list fraction) (vs : list (list fraction)) : bool :=
  let m := mass_of K h left in
  let m' := mass_of K h right in
  fits (map (fun v => beyond c (dot_fractions K left v) m (dot_fractions K right v) m') vs) (room_of d m m').

Definition keeps_approximate_lengths (lengths : list nat) (ratio delta : expression) (pairs : list (weights * weights)) : bool :=
  match matrices_of K h, fraction_of K delta with
  | Some ms, Some d =>
      let levels := map (level K ms (one_vector K h)) lengths in
      for_pairs K h ratio pairs (fun c left right => forallb (sets_at c d left right) levels)
  | _, _ => false
  end.

(** A vector has the probabilities of a word from each state. *)
Definition of_word (word : list nat) (u : list fraction) : Prop :=
  Forall (proper K) u /\ forall p, inside K p -> amounts K p u = apply_word (matrix_values h p) word (ones n).

Lemma forall2_flat_map {A B C D} (P : A -> B -> Prop) (Q : C -> D -> Prop) (f : A -> list C) (g : B -> list D) l m :
  (forall a b, P a b -> Forall2 Q (f a) (g b)) -> Forall2 P l m -> Forall2 Q (flat_map f l) (flat_map g m).
Proof. intros H G. induction G; simpl; [constructor|]. apply Forall2_app; auto. Qed.

Lemma level_of_words ms : matrices_of K h = Some ms ->
  forall k, Forall2 of_word (words h k) (level K ms (one_vector K h) k).
Proof.
  intros Hms. unfold matrices_of in Hms. apply all_some_right in Hms. induction k as [|k IH]; simpl.
  - constructor; [|constructor]. destruct (one_vector_right K h) as [P V]. split; [exact P|]. intros p _. apply V.
  - revert IH. apply forall2_flat_map. intros word u [Pu Vu]. clear -Hms Pu Vu.
    induction Hms as [|o m l ms Ho Hms IH]; simpl; constructor; [|exact IH].
    destruct (matrix_of_right K h o m Ho) as [Pm Vm]. destruct (apply_fractions_right K m u Pm Pu) as [P V].
    split; [exact P|]. intros p Hp. simpl. rewrite V, Vm, Vu by exact Hp. reflexivity.
Qed.

Lemma set_probability_right p start k set : weight_of p h start <> 0 ->
  set_probability p h start k set
    = total (fun word => if set word then weight_with p h start word else 0) (words h k) / weight_of p h start.
Proof.
  intros Hm. unfold set_probability, Rdiv. rewrite Rmult_comm, <- total_scale. apply total_ext. intros word _.
  unfold sequence_probability, Rdiv. destruct (set word); lra.
Qed.

Lemma sets_at_right c d left right starts starts' ms k : proper K c -> proper K d -> matrices_of K h = Some ms ->
  start_of K h left = Some starts -> start_of K h right = Some starts' ->
  sets_at c d starts starts' (level K ms (one_vector K h) k) = true ->
  forall p, inside K p -> 0 < weight_of p h left -> 0 < weight_of p h right -> forall set,
    set_probability p h left k set <= amount p c * set_probability p h right k set + amount p d.
Proof.
  intros Hc Hd Hms El Er H p Hp Pl Pr set.
  destruct (start_of_right K h _ _ El) as [Hl [_ Vl]]. destruct (Vl p Hp) as [Vl1 Vl2].
  destruct (start_of_right K h _ _ Er) as [Hr [_ Vr]]. destruct (Vr p Hp) as [Vr1 Vr2].
  destruct (mass_of_right K h starts Hl) as [Pm _]. destruct (mass_of_right K h starts' Hr) as [Pm' _].
  rewrite !set_probability_right by lra. apply worst_set; [exact Pl | exact Pr |].
  unfold sets_at in H. set (vs := level K ms (one_vector K h) k) in *.
  pose proof (level_of_words ms Hms k : Forall2 of_word (words h k) vs) as W.
  set (f := fun v => beyond c (dot_fractions K starts v) (mass_of K h starts) (dot_fractions K starts' v) (mass_of K h starts')) in *.
  assert (B : forall word v, of_word word v -> proper K (f v) /\ amount p (f v)
      = weight_with p h left word * weight_of p h right - amount p c * (weight_with p h right word * weight_of p h left)).
  { intros word v [Pv Vv]. destruct (dot_fractions_right K starts v Hl Pv) as [P1 V1].
    destruct (dot_fractions_right K starts' v Hr Pv) as [P2 V2].
    destruct (beyond_right K c _ _ _ _ Hc P1 Pm P2 Pm') as [P V]. split; [exact P|].
    unfold f. rewrite V, V1, V2, Vv, Vl1, Vr1, Vl2, Vr2, <- !weight_with_right by exact Hp. reflexivity. }
  assert (A : Forall (proper K) (map f vs) /\ total (fun g => Rmax 0 (amount p g)) (map f vs)
      = total (fun word => Rmax 0 (weight_with p h left word * weight_of p h right
                 - amount p c * (weight_with p h right word * weight_of p h left))) (words h k)).
  { clear H. induction W as [|word v ws vs Hw W [IH1 IH2]]; simpl; [split; [constructor | reflexivity]|].
    destruct (B word v Hw) as [P V]. split; [constructor; assumption|]. rewrite V, IH2. reflexivity. }
  destruct A as [A1 A2]. destruct (room_of_right K d _ _ Hd Pm Pm') as [R1 R2].
  pose proof (fits_right K S _ _ A1 R1 H p Hp) as G. rewrite A2, R2, Vl2, Vr2 in G by exact Hp. exact G.
Qed.

Theorem approximate_lengths_proved lengths ratio delta pairs :
  keeps_approximate_lengths lengths ratio delta pairs = true ->
  forall p, inside K p -> sequences_approximately_private p h lengths (value p ratio) (value p delta) pairs.
Proof.
  unfold keeps_approximate_lengths. destruct (matrices_of K h) as [ms|] eqn:Ems; [|discriminate].
  destruct (fraction_of K delta) as [d|] eqn:E'; [|discriminate]. unfold for_pairs.
  destruct (fraction_of K ratio) as [c|] eqn:E; [|discriminate].
  destruct (fraction_of_right K _ _ E) as [Pc Vc]. destruct (fraction_of_right K _ _ E') as [Pd Vd].
  rewrite forallb_forall. intros H p Hp left right Hin Hl Hr k Hk set. specialize (H _ Hin). simpl in H.
  destruct (start_of K h left) as [l|] eqn:El; [|discriminate]. destruct (start_of K h right) as [r|] eqn:Er; [|discriminate].
  apply andb_true_iff in H. destruct H as [H1 H2]. rewrite forallb_forall in H1, H2.
  assert (Hlevel : In (level K ms (one_vector K h) k) (map (level K ms (one_vector K h)) lengths)) by (apply in_map; exact Hk).
  rewrite Vc, Vd by exact Hp.
  split; [apply (sets_at_right c d left right l r ms k) | apply (sets_at_right c d right left r l ms k)]; auto.
Qed.

End Claims.
