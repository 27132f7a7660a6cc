(** One pair of neighbouring inputs of noisy max stands for all others: what is checked, and that it is right. *)

From Coq Require Import Reals ZArith List Lra Lia Bool Arith Permutation.
From Paramverify Require Import Maxima.
Import ListNotations.
Local Open Scope R_scope.

Record standing := {
  noise : list (list Z);
  noise_mass : positive;     (* the sum of each row *)
  answers : nat;
  uniform_ties : bool;
  one_differs : bool;
  by_at_most : nat;
  left_input : list nat;
  right_input : list nat;
  best_top : Z;              (* the ratio of the pair *)
  best_bottom : Z;
  shares : list Z;           (* a number divided by 1, 2, 3, ... *)
  shared : Z
}.

Section Standing.
Variable d : standing.
Notation p := (noise d).
Notation n := (answers d).
Notation size := (values p).
Notation step := (by_at_most d).

Definition near_bool (f g : nat) : bool := Nat.leb f (g + step) && Nat.leb g (f + step).

Definition all_pairs : list (nat * nat) :=
  filter (fun fg => near_bool (fst fg) (snd fg)) (list_prod (seq 0 size) (seq 0 size)).
Definition equal_pairs : list (nat * nat) := map (fun f => (f, f)) (seq 0 size).

Definition groups := list (role * nat).
Definition groups_at (o : nat) : groups :=
  if uniform_ties d then [(Ties, (n - 1)%nat)] else [(Less, o); (Loses, (n - 1 - o)%nat)].

Fixpoint explore_groups (kinds : list (nat * nat)) (leaf : state -> bool) (gs : groups) (s : state) : bool :=
  match gs with
  | [] => leaf s
  | (r, k) :: gs => explore two state (add p) (explore_groups kinds leaf gs) (map (pair r) kinds) k s
  end.

Definition compare_all (own : list (nat * nat)) (s : state) : bool :=
  let first := first_shares (shares d) n s in
  let second := second_shares (shares d) n s in
  let fs := map (fun a => total_from p a 0 first) (seq 0 size) in
  let ss := map (fun a => total_from p a 0 second) (seq 0 size) in
  forallb (fun ab => best_bottom d * nth (fst ab) fs 0 <=? best_top d * nth (snd ab) ss 0)%Z own.

Fixpoint removals (gs : groups) : list (role * groups) :=
  match gs with
  | [] => []
  | (r, k) :: gs =>
      match k with O => [] | S k => [(r, (r, k) :: gs)] end
      ++ map (fun q => (fst q, (r, k) :: snd q)) (removals gs)
  end.

Definition check_output (gs : groups) : bool :=
  if one_differs d then
    explore_groups equal_pairs (compare_all all_pairs) gs (start p)
    && forallb (fun q => forallb (fun fg =>
         explore_groups equal_pairs (compare_all equal_pairs) (snd q) (add p (fst q, fg) (start p))) all_pairs) (removals gs)
  else explore_groups all_pairs (compare_all all_pairs) gs (start p).

Definition input_bool (x : list nat) : bool := Nat.eqb (length x) n && forallb (fun f => Nat.ltb f size) x.

Definition differing (fg : nat * nat) : bool := negb (Nat.eqb (fst fg) (snd fg)).

(** The others of two inputs at once. *)
Definition both (u : bool) (xy : list (nat * nat)) (o : nat) : list two :=
  if u then map (pair Ties) (firstn o xy ++ skipn (S o) xy)
  else map (pair Less) (firstn o xy) ++ map (pair Loses) (skipn (S o) xy).

(** The ratio of the pair at an output, in one direction. *)
Definition attained (o : nat) : bool :=
  let x := left_input d in
  let y := right_input d in
  let s := state_of p (both (uniform_ties d) (combine x y) o) in
  let a := first_total p (shares d) n (nth o x 0%nat) s in
  let b := second_total p (shares d) n (nth o y 0%nat) s in
  ((0 <? b) && (best_bottom d * a =? best_top d * b) || (0 <? a) && (best_bottom d * b =? best_top d * a))%Z.

Definition check_standing : bool :=
  forallb (fun row => Nat.eqb (length row) size && forallb (fun z => 0 <=? z)%Z row
                      && (whole_sum (fun z => z) row =? Zpos (noise_mass d))%Z) p
  && input_bool (left_input d) && input_bool (right_input d)
  && forallb (fun fg => near_bool (fst fg) (snd fg)) (combine (left_input d) (right_input d))
  && (negb (one_differs d) || Nat.leb (length (filter differing (combine (left_input d) (right_input d)))) 1)
  && (0 <? best_bottom d)%Z && (best_bottom d <=? best_top d)%Z && (0 <? shared d)%Z
  && forallb (fun k => nth k (shares d) 0 * Z.of_nat (S k) =? shared d)%Z (seq 0 n)
  && ((best_bottom d =? best_top d)%Z || existsb attained (seq 0 n))
  && (if uniform_ties d then Nat.eqb n 0 || check_output (groups_at 0) else forallb (fun o => check_output (groups_at o)) (seq 0 n)).

(** * Groups of others *)

Inductive grouped (kinds : list (nat * nat)) : groups -> list two -> Prop :=
| grouped_none : grouped kinds [] []
| grouped_more r k gs (l1 l2 : list two) : length l1 = k -> (forall q : two, In q l1 -> In q (map (pair r) kinds)) ->
    grouped kinds gs l2 ->
    grouped kinds ((r, k) :: gs) (l1 ++ l2).

Lemma two_dec : forall a b : two, {a = b} + {a <> b}.
Proof. repeat decide equality. Qed.

Lemma explore_groups_right kinds leaf gs : forall s l, grouped kinds gs l -> explore_groups kinds leaf gs s = true ->
  exists l', Permutation l l' /\ leaf (fold_right (add p) s l') = true.
Proof.
  induction gs as [|[r k] gs IH]; intros s l G H; inversion G; subst; simpl in H.
  - exists []. split; [constructor | exact H].
  - apply (explore_right two state (add p) two_dec) with (l := l1) in H; [|assumption|reflexivity].
    destruct H as [l1' [P1 E1]]. destruct (IH _ l2 H6 E1) as [l2' [P2 E2]]. exists (l2' ++ l1'). split.
    + apply Permutation_trans with (l1' ++ l2'); [apply Permutation_app; assumption | apply Permutation_app_comm].
    + rewrite fold_right_app. exact E2.
Qed.

Definition is_differing (q : two) : bool := differing (snd q).

Lemma none_differs kinds gs l : grouped kinds gs l -> (forall fg, In fg kinds -> (fst fg < size)%nat) ->
  filter is_differing l = [] -> grouped equal_pairs gs l.
Proof.
  intros G K. induction G as [|r k gs l1 l2 Hl Hin G IH]; intros H; [constructor|].
  rewrite filter_app in H. apply app_eq_nil in H. destruct H as [H1 H2]. constructor; [exact Hl | | apply IH; exact H2].
  intros q Hq. pose proof (Hin q Hq) as Hk. apply in_map_iff in Hk. destruct Hk as [[f g] [<- Hk]].
  assert (E : is_differing (r, (f, g)) = false).
  { destruct (is_differing (r, (f, g))) eqn:E; [|reflexivity].
    assert (Hf : In (r, (f, g)) (filter is_differing l1)) by (apply filter_In; split; assumption).
    destruct (eq_ind _ (fun l => In (r, (f, g)) l) Hf _ H1). }
  unfold is_differing, differing in E. simpl in E. apply negb_false_iff, Nat.eqb_eq in E. subst g.
  apply in_map. unfold equal_pairs. apply in_map_iff. exists f. split; [reflexivity|]. apply in_seq. specialize (K _ Hk). simpl in K. lia.
Qed.

Lemma filter_split {A} (test : A -> bool) l : filter test l <> [] ->
  exists a x b, l = a ++ x :: b /\ test x = true /\ filter test a = [].
Proof.
  induction l as [|y l IH]; simpl; [congruence|]. destruct (test y) eqn:E.
  - intros _. exists [], y, l. split; [reflexivity|]. split; [exact E | reflexivity].
  - intros H. destruct (IH H) as [a [x [b [-> [Hx Ha]]]]]. exists (y :: a), x, b. split; [reflexivity|].
    split; [exact Hx|]. simpl. rewrite E. exact Ha.
Qed.

Lemma one_differs_split kinds gs l : grouped kinds gs l -> (forall fg, In fg kinds -> (fst fg < size)%nat) ->
  (length (filter is_differing l) <= 1)%nat -> filter is_differing l <> [] ->
  exists r rest fg l', In (r, rest) (removals gs) /\ In fg kinds /\ grouped equal_pairs rest l' /\ Permutation l ((r, fg) :: l').
Proof.
  intros G K. induction G as [|r k gs l1 l2 Hl Hin G IH]; intros H Hne; [exfalso; apply Hne; reflexivity|].
  rewrite filter_app in H, Hne. rewrite app_length in H.
  destruct (filter is_differing l1) as [|q0 more] eqn:E1.
  - destruct IH as [r' [rest [fg [l' [I1 [I2 [I3 P]]]]]]]; [exact H | exact Hne|].
    exists r', ((r, k) :: rest), fg, (l1 ++ l'). split; [|split; [exact I2|split]].
    + simpl. apply in_or_app. right. apply in_map_iff. exists (r', rest). split; [reflexivity | exact I1].
    + pose proof (grouped_more kinds r k [] l1 [] Hl Hin (grouped_none kinds)) as G1. rewrite app_nil_r in G1.
      apply none_differs in G1; [|exact K | exact E1]. inversion G1; subst.
      inversion H6; subst. rewrite app_nil_r. constructor; [reflexivity | assumption | exact I3].
    + apply Permutation_trans with (l1 ++ (r', fg) :: l'); [apply Permutation_app_head; exact P|].
      apply Permutation_sym. apply Permutation_middle.
  - assert (E2 : filter is_differing l2 = []) by (simpl in H; destruct (filter is_differing l2); [reflexivity | simpl in H; lia]).
    destruct (filter_split is_differing l1) as [a [q [b [-> [Hq Ha]]]]]; [rewrite E1; discriminate|].
    assert (Hb : filter is_differing b = []).
    { rewrite filter_app, Ha in E1. simpl in E1. rewrite Hq in E1. simpl in E1. injection E1 as _ E1.
      rewrite E1. destruct more; [reflexivity | simpl in H; lia]. }
    assert (Hk : In q (map (pair r) kinds)) by (apply Hin; apply in_or_app; right; left; reflexivity).
    apply in_map_iff in Hk. destruct Hk as [fg [<- Hk]].
    rewrite app_length in Hl. simpl in Hl. destruct k as [|k]; [lia|].
    exists r, ((r, k) :: gs), fg, ((a ++ b) ++ l2). split; [|split; [exact Hk|split]].
    + simpl. left. reflexivity.
    + apply (none_differs kinds); [|exact K|].
      * constructor; [rewrite app_length; lia | | exact G]. intros q Hi. apply Hin. apply in_app_or in Hi.
        apply in_or_app. destruct Hi as [Hi|Hi]; [left; exact Hi | right; right; exact Hi].
      * rewrite !filter_app, Ha, Hb, E2. reflexivity.
    + rewrite <- app_assoc. simpl. rewrite <- app_assoc. apply Permutation_sym. apply Permutation_middle.
Qed.

Lemma equal_no_difference x y : (forall i, nth i x 0%nat = nth i y 0%nat) -> length x = length y ->
  filter differing (combine x y) = [].
Proof.
  revert y. induction x as [|a x IH]; intros [|b y] H L; simpl in *; try discriminate; [reflexivity|].
  pose proof (H 0%nat) as H0. simpl in H0. subst b. unfold differing at 1. simpl. rewrite Nat.eqb_refl. simpl.
  apply IH; [intros i; apply (H (S i)) | lia].
Qed.

Lemma count_differences x y j : (forall i, i <> j -> nth i x 0%nat = nth i y 0%nat) -> length x = length y ->
  (length (filter differing (combine x y)) <= 1)%nat.
Proof.
  revert y j. induction x as [|a x IH]; intros [|b y] j H L; simpl in *; try discriminate; [lia|].
  destruct j as [|j].
  - rewrite equal_no_difference; [destruct (differing (a, b)); simpl; lia | | lia].
    intros i. apply (H (S i)). lia.
  - pose proof (H 0%nat) as H0. simpl in H0. rewrite H0 by lia. unfold differing at 1. simpl. rewrite Nat.eqb_refl. simpl.
    apply (IH y j); [|lia]. intros i Hi. apply (H (S i)). lia.
Qed.

(** * The others of two inputs at once *)

Lemma firsts_map r xy : firsts (map (pair r) xy) = map (pair r) (map fst xy).
Proof. unfold firsts. rewrite !map_map. reflexivity. Qed.
Lemma seconds_map r xy : seconds (map (pair r) xy) = map (pair r) (map snd xy).
Proof. unfold seconds. rewrite !map_map. reflexivity. Qed.

Lemma firsts_both u xy o : firsts (both u xy o) = others u (map fst xy) o.
Proof.
  unfold both, others. destruct u.
  - rewrite firsts_map, map_app, <- firstn_map, <- skipn_map. reflexivity.
  - unfold firsts at 1. rewrite map_app. fold (firsts (map (pair Less) (firstn o xy))).
    fold (firsts (map (pair Loses) (skipn (S o) xy))). rewrite !firsts_map, <- firstn_map, <- skipn_map. reflexivity.
Qed.

Lemma seconds_both u xy o : seconds (both u xy o) = others u (map snd xy) o.
Proof.
  unfold both, others. destruct u.
  - rewrite seconds_map, map_app, <- firstn_map, <- skipn_map. reflexivity.
  - unfold seconds at 1. rewrite map_app. fold (seconds (map (pair Less) (firstn o xy))).
    fold (seconds (map (pair Loses) (skipn (S o) xy))). rewrite !seconds_map, <- firstn_map, <- skipn_map. reflexivity.
Qed.

Lemma grouped_both kinds xy o : length xy = n -> (o < n)%nat -> (forall fg, In fg xy -> In fg kinds) ->
  grouped kinds (groups_at o) (both (uniform_ties d) xy o).
Proof.
  intros L Ho K. unfold groups_at, both.
  assert (K1 : forall fg, In fg (firstn o xy) -> In fg kinds) by (intros fg H; apply K; rewrite <- (firstn_skipn o xy); apply in_or_app; left; exact H).
  assert (K2 : forall fg, In fg (skipn (S o) xy) -> In fg kinds) by (intros fg H; apply K; rewrite <- (firstn_skipn (S o) xy); apply in_or_app; right; exact H).
  assert (L1 : length (firstn o xy) = o) by (apply firstn_length_le; lia).
  assert (L2 : length (skipn (S o) xy) = (n - 1 - o)%nat) by (rewrite skipn_length; lia).
  destruct (uniform_ties d).
  - rewrite <- (app_nil_r (map (pair Ties) (firstn o xy ++ skipn (S o) xy))). constructor; [| |constructor].
    + rewrite map_length, app_length. lia.
    + intros q Hq. apply in_map_iff in Hq. destruct Hq as [fg [<- Hq]]. apply in_map. apply in_app_or in Hq. destruct Hq; auto.
  - constructor; [rewrite map_length; exact L1| |].
    + intros q Hq. apply in_map_iff in Hq. destruct Hq as [fg [<- Hq]]. apply in_map. auto.
    + rewrite <- (app_nil_r (map (pair Loses) (skipn (S o) xy))). constructor; [rewrite map_length; exact L2| |constructor].
      intros q Hq. apply in_map_iff in Hq. destruct Hq as [fg [<- Hq]]. apply in_map. auto.
Qed.

Lemma filter_map_pair r l : filter is_differing (map (pair r) l) = map (pair r) (filter differing l).
Proof.
  induction l as [|x l IH]; simpl; [reflexivity|]. unfold is_differing at 1. simpl. destruct (differing x); simpl; rewrite IH; reflexivity.
Qed.

Lemma differing_both u xy o : length (filter is_differing (both u xy o))
  = length (filter differing (firstn o xy ++ skipn (S o) xy)).
Proof.
  unfold both. destruct u.
  - rewrite filter_map_pair, map_length. reflexivity.
  - rewrite !filter_app, !filter_map_pair, !app_length, !map_length. reflexivity.
Qed.

Lemma length_both xy o : length xy = n -> (o < n)%nat -> S (length (both (uniform_ties d) xy o)) = n.
Proof.
  intros L Ho. unfold both. destruct (uniform_ties d); rewrite ?app_length, ?map_length, ?app_length, firstn_length, skipn_length; lia.
Qed.

Lemma middle {A} (l : list A) o x : (o < length l)%nat -> l = firstn o l ++ nth o l x :: skipn (S o) l.
Proof.
  revert o. induction l as [|a l IH]; intros [|o] H; simpl in *; try lia; [reflexivity|]. f_equal. apply IH. lia.
Qed.

Lemma map_combine (x y : list nat) : length x = length y -> map fst (combine x y) = x /\ map snd (combine x y) = y.
Proof.
  revert y. induction x as [|a x IH]; intros [|b y] H; simpl in *; try discriminate; [split; reflexivity|].
  destruct (IH y) as [E1 E2]; [lia|]. rewrite E1, E2. split; reflexivity.
Qed.

Lemma nth_table (f : nat -> Z) a k : (a < k)%nat -> nth a (map f (seq 0 k)) 0%Z = f a.
Proof.
  intros H. rewrite (nth_indep _ 0%Z (f 0%nat)) by (rewrite map_length, seq_length; exact H).
  rewrite map_nth, seq_nth by exact H. reflexivity.
Qed.

Section Shares.
Hypothesis shares_right : forall k, (k < n)%nat -> (nth k (shares d) 0 * Z.of_nat (S k))%Z = shared d.
Hypothesis shared_positive : (0 < shared d)%Z.

(** From a comparison of totals to one of probabilities. *)
Lemma compared_right own l l' a b : Permutation l l' -> S (length l) = n -> compare_all own (state_of p l') = true ->
  In (a, b) own -> (a < size)%nat -> (b < size)%nat ->
  IZR (best_bottom d) * won p a (firsts l) <= IZR (best_top d) * won p b (seconds l).
Proof.
  intros P L H Hin Ha Hb. unfold compare_all in H. rewrite forallb_forall in H. specialize (H _ Hin). simpl in H.
  rewrite !nth_table in H by assumption. fold (first_total p (shares d) n a (state_of p l')) in H.
  fold (second_total p (shares d) n b (state_of p l')) in H. apply Z.leb_le, IZR_le in H. rewrite !mult_IZR in H.
  assert (L' : S (length l') = n) by (rewrite <- (Permutation_length P); exact L).
  destruct (totals_right p (shares d) (shared d) n a l' shares_right L') as [E1 _].
  destruct (totals_right p (shares d) (shared d) n b l' shares_right L') as [_ E2].
  rewrite E1, E2 in H.
  rewrite (won_permutation p a (firsts l) (firsts l')) by (apply Permutation_map; exact P).
  rewrite (won_permutation p b (seconds l) (seconds l')) by (apply Permutation_map; exact P).
  apply IZR_lt in shared_positive. apply Rmult_le_reg_l with (IZR (shared d)); [exact shared_positive|]. lra.
Qed.

Lemma check_output_right x y o : check_output (groups_at o) = true -> input p n x -> input p n y ->
  neighbours (one_differs d) step x y -> (o < n)%nat ->
  IZR (best_bottom d) * won p (nth o x 0%nat) (others (uniform_ties d) x o)
  <= IZR (best_top d) * won p (nth o y 0%nat) (others (uniform_ties d) y o).
Proof.
  intros H [Lx Fx] [Ly Fy] [N1 N2] Ho.
  set (xy := combine x y). destruct (map_combine x y) as [E1 E2]; [congruence|]. fold xy in E1, E2.
  assert (Lxy : length xy = n) by (unfold xy; rewrite combine_length; lia).
  assert (Hpairs : forall fg, In fg xy -> In fg all_pairs).
  { intros [f g] Hfg. apply filter_In. unfold xy in Hfg. split.
    - rewrite Forall_forall in Fx, Fy. apply in_prod; apply in_seq; [pose proof (Fx f (in_combine_l _ _ _ _ Hfg)) | pose proof (Fy g (in_combine_r _ _ _ _ Hfg))]; lia.
    - clear -N1 Hfg. induction N1 as [|a b x y [A B] N IH]; simpl in Hfg; [destruct Hfg|].
      destruct Hfg as [E|Hfg]; [injection E as <- <-; unfold near_bool; simpl; apply andb_true_iff; rewrite !Nat.leb_le; split; assumption | apply IH; exact Hfg]. }
  assert (Hown : nth o xy (0, 0)%nat = (nth o x 0%nat, nth o y 0%nat)) by (apply combine_nth; congruence).
  assert (Hownin : In (nth o x 0%nat, nth o y 0%nat) all_pairs) by (rewrite <- Hown; apply Hpairs; apply nth_In; lia).
  assert (Ha : (nth o x 0 < size)%nat) by (rewrite Forall_forall in Fx; apply Fx; apply nth_In; lia).
  assert (Hb : (nth o y 0 < size)%nat) by (rewrite Forall_forall in Fy; apply Fy; apply nth_In; lia).
  assert (Hsmall : forall fg, In fg all_pairs -> (fst fg < size)%nat).
  { intros [f g] Hfg. apply filter_In in Hfg. destruct Hfg as [Hfg _]. apply in_prod_iff in Hfg. destruct Hfg as [Hf _]. apply in_seq in Hf. simpl. lia. }
  set (l := both (uniform_ties d) xy o).
  assert (El : others (uniform_ties d) x o = firsts l) by (unfold l; rewrite firsts_both, E1; reflexivity).
  assert (Er : others (uniform_ties d) y o = seconds l) by (unfold l; rewrite seconds_both, E2; reflexivity).
  rewrite El, Er. pose proof (length_both xy o Lxy Ho) as Ll. fold l in Ll.
  assert (G : grouped all_pairs (groups_at o) l) by (apply grouped_both; assumption).
  unfold check_output in H. destruct (one_differs d) eqn:Eone.
  - apply andb_true_iff in H. destruct H as [H1 H2]. destruct N2 as [j Hj].
    assert (Hcount : (length (filter differing xy) <= 1)%nat) by (apply (count_differences x y j Hj); congruence).
    pose proof (middle xy o (0, 0)%nat) as Hmid. rewrite Hmid, filter_app in Hcount by lia. simpl in Hcount.
    rewrite Hown in Hcount. rewrite app_length in Hcount.
    pose proof (differing_both (uniform_ties d) xy o) as Hd. fold l in Hd. rewrite filter_app, app_length in Hd.
    destruct (filter is_differing l) as [|q more] eqn:El'.
    + apply (none_differs all_pairs) in G; [|exact Hsmall | exact El'].
      destruct (explore_groups_right _ _ _ _ _ G H1) as [l' [P E]]. apply (compared_right all_pairs l l'); assumption.
    + assert (Hsame : differing (nth o x 0%nat, nth o y 0%nat) = false).
      { destruct (differing (nth o x 0%nat, nth o y 0%nat)); [|reflexivity]. simpl in Hcount, Hd. lia. }
      destruct (one_differs_split all_pairs (groups_at o) l G Hsmall) as [r [rest [fg [l' [I1 [I2 [I3 P]]]]]]].
      { rewrite El'. rewrite Hsame in Hcount. simpl in Hcount, Hd |- *. lia. }
      { rewrite El'. discriminate. }
      rewrite forallb_forall in H2. specialize (H2 _ I1). rewrite forallb_forall in H2. specialize (H2 _ I2).
      destruct (explore_groups_right _ _ _ _ _ I3 H2) as [l2 [P2 E]]. simpl fst in E.
      apply (compared_right equal_pairs l (l2 ++ [(r, fg)])); try assumption.
      * apply Permutation_trans with ((r, fg) :: l'); [exact P|].
        apply Permutation_trans with ((r, fg) :: l2); [apply perm_skip; exact P2 | apply Permutation_cons_append].
      * unfold state_of. rewrite fold_right_app. exact E.
      * unfold differing in Hsame. simpl in Hsame. apply negb_false_iff, Nat.eqb_eq in Hsame. rewrite <- Hsame.
        unfold equal_pairs. apply in_map_iff. exists (nth o x 0%nat). split; [reflexivity | apply in_seq; lia].
  - destruct (explore_groups_right _ _ _ _ _ G H) as [l' [P E]]. apply (compared_right all_pairs l l'); assumption.
Qed.

End Shares.
End Standing.
