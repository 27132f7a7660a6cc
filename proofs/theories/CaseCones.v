(** Theorems about cases, by certificates about many sequences at once: a cone that rays span, and vectors that are kept
    length by length.

    The document's model, with polynomials over common denominators, is computed here from the hidden Markov model of
    the file. What [check_closed] and [check_runs] say of it is said of the file's model. *)

From Coq Require Import Reals ZArith List Lra Lia Bool.
From Paramverify Require Import Expressions Sums Privacy Symbolic Hmm Coverings Sequences Case.
From Paramverify Require Import Poly Goal ConeModels Cones ConeLevels ConeRuns.
Import ListNotations.
Local Open Scope R_scope.

Section CaseCones.
Variable c : certificate.
Let K : algebra := algebra_of c.
Notation fraction := (Symbolic.fraction K).
Notation amount := (Symbolic.amount K).

(** ** Fractions over one denominator *)

(** The least common multiple of the whole numbers below; nothing rests on it. *)
Definition common (fs : list fraction) : positive := Z.to_pos (fold_right (fun f s => Z.lcm (Zpos (low K f)) s) 1%Z fs).

(** s * bottom times a fraction with that bottom; zero is over every denominator. *)
Definition over (s : positive) (below : Chains.poly) (f : fraction) : option Chains.poly :=
  let times := (Zpos s / Zpos (low K f))%Z in
  if nothing (top K f) then Some (Pc 0)
  else if ((times * Zpos (low K f) =? Zpos s)%Z && peq (bottom K f) below)%bool then Some (pscale times (top K f)) else None.

Lemma over_right s below f g p : over s below f = Some g -> 0 < eval (bottom K f) p ->
  eval g p = IZR (Zpos s) * eval below p * amount p f.
Proof.
  unfold over. intros H B. set (times := (Zpos s / Zpos (low K f))%Z) in *. clearbody times.
  destruct (nothing (top K f)) eqn:E.
  - injection H as <-. apply (nothing_right _ p) in E. unfold Symbolic.amount. change (at_point K p) with (fun q => eval q p).
    cbv beta. rewrite E. simpl. unfold Rdiv. ring.
  - destruct (_ && _)%bool eqn:E2; [|discriminate]. injection H as <-. apply andb_true_iff in E2. destruct E2 as [E1 E2].
    apply Z.eqb_eq in E1. apply peq_eval with (e := p) in E2. rewrite eval_pscale.
    unfold Symbolic.amount. change (at_point K p (top K f)) with (eval (top K f) p).
    change (at_point K p (bottom K f)) with (eval (bottom K f) p).
    rewrite <- E2, <- E1, mult_IZR. pose proof (low_positive (low K f)). field. split; lra.
Qed.

(** ** The model of a document *)

Definition row_over (s : positive) (row : list fraction) : option (list Chains.poly) := all_some (map (over s (Pc 1)) row).
Definition table_over (s : positive) (m : list (list fraction)) : option (list (list Chains.poly)) :=
  all_some (map (row_over s) m).

Definition prior_of (start : list fraction) : option prior :=
  let below := match find (fun f => negb (nothing (top K f))) start with Some f => bottom K f | None => Pc 1 end in
  match all_some (map (over (common start) below) start) with
  | Some l => Some {| first := l; mass := fold_right padd (Pc 0) l |}
  | None => None
  end.

Definition pair_of (h : hidden_markov) (pair : weights * weights) : option (prior * prior) :=
  match start_of K h (fst pair), start_of K h (snd pair) with
  | Some l, Some r => both (fun a b => (a, b)) (prior_of l) (prior_of r)
  | _, _ => None
  end.

Definition model_of (h : hidden_markov) (ratio : expression) (pairs : list (weights * weights)) : option model :=
  match matrices_of K h, fraction_of K ratio, all_some (map (pair_of h) pairs) with
  | Some ms, Some r, Some ps =>
      let s := common (concat (concat ms)) in
      option_map (fun ts => {|
        size := states h;
        steps := ts;
        scale := s;
        secrets := ps;
        above := top K r;
        under := pscale (Zpos (low K r)) (bottom K r);
        ConeModels.domain := domain_of c (Pc 0)
      |}) (all_some (map (table_over s) ms))
  | _, _, _ => None
  end.

(** ** That it is the model of the file *)

Definition proper_row := Forall (proper K).

Lemma row_over_right s below row found p : Symbolic.inside K p -> proper_row row ->
  all_some (map (over s below) row) = Some found ->
  numbers p found = map (fun x => IZR (Zpos s) * eval below p * x) (amounts K p row).
Proof.
  intros Hp Hr H. apply all_some_right in H. unfold numbers, amounts. rewrite map_map.
  induction H as [|f g row found Hf H IH]; [reflexivity|]. inversion Hr as [|? ? Pf Pr]; subst. simpl.
  rewrite IH by exact Pr. rewrite (over_right s below f g p Hf) by (apply Pf; exact Hp). reflexivity.
Qed.

Lemma row_right s row found p : Symbolic.inside K p -> proper_row row -> row_over s row = Some found ->
  divided (IZR (Zpos s)) (numbers p found) = amounts K p row.
Proof.
  intros Hp Hr H. rewrite (row_over_right s (Pc 1) row found p Hp Hr H). unfold divided. rewrite map_map.
  rewrite <- (map_id (amounts K p row)) at 2. apply map_ext. intros x. simpl. pose proof (low_positive s). field. lra.
Qed.

Lemma table_right s m found p : Symbolic.inside K p -> Forall proper_row m -> table_over s m = Some found ->
  map (divided (IZR (Zpos s))) (map (numbers p) found) = map (amounts K p) m.
Proof.
  intros Hp Hm H. unfold table_over in H. apply all_some_right in H.
  induction H as [|row r m found Hr H IH]; [reflexivity|]. inversion Hm as [|? ? Pr Pm]; subst. simpl.
  rewrite IH by exact Pm. rewrite (row_right s row r p) by assumption. reflexivity.
Qed.

Lemma forall2_nth {A B} (P : A -> B -> Prop) l m i d d' : Forall2 P l m -> (i < length l)%nat -> P (nth i l d) (nth i m d').
Proof.
  intros H. revert i. induction H as [|a b l m Hab H IH]; intros i Hi; simpl in *; [lia|].
  destruct i as [|i]; [exact Hab | apply IH; lia].
Qed.

Lemma dot_times k a v : dot (map (fun x => k * x) a) v = k * dot a v.
Proof.
  revert v. induction a as [|x a IH]; intros [|y v]; simpl; try ring. rewrite IH. ring.
Qed.

Lemma eval_total l p n : length l = n -> eval (fold_right padd (Pc 0) l) p = dot (numbers p l) (ones n).
Proof.
  revert n. induction l as [|f l IH]; intros [|n] H; try discriminate; [reflexivity|]. injection H as H. simpl.
  rewrite eval_padd, (IH n H). unfold ones. ring.
Qed.

Lemma prior_of_right start w p n : prior_of start = Some w -> proper_row start -> length start = n -> Symbolic.inside K p ->
  exists k, 0 < k /\ numbers p (first w) = map (fun x => k * x) (amounts K p start)
            /\ eval (mass w) p = k * dot (amounts K p start) (ones n).
Proof.
  unfold prior_of. intros H Hs Hn Hp.
  set (below := match find (fun f => negb (nothing (top K f))) start with Some f => bottom K f | None => Pc 1 end) in *.
  destruct (all_some (map (over (common start) below) start)) as [l|] eqn:E; [|discriminate]. injection H as <-.
  pose proof (row_over_right _ _ _ _ p Hp Hs E) as R. simpl.
  exists (IZR (Zpos (common start)) * eval below p). split; [|split; [exact R|]].
  - apply Rmult_lt_0_compat; [apply low_positive|]. subst below.
    destruct (find _ start) as [f|] eqn:F; [|simpl; lra]. apply find_some in F. destruct F as [F _].
    unfold proper_row in Hs. rewrite Forall_forall in Hs. apply (Hs f F p Hp).
  - rewrite (eval_total l p n).
    + rewrite R. apply dot_times.
    + apply all_some_right, forall2_length in E. congruence.
Qed.

Section Model.
Variable h : hidden_markov.
Variable ratio : expression.
Variable pairs : list (weights * weights).
Variable m : model.
Hypothesis is_model : model_of h ratio pairs = Some m.
Variable p : point.
Hypothesis in_domain : Symbolic.inside K p.

Lemma matrix_right o : (o < symbols h)%nat -> ConeModels.matrix m p o = matrix_values h p o.
Proof.
  intros Ho. pose proof is_model as H. unfold model_of in H.
  destruct (matrices_of K h) as [ms|] eqn:E; [|discriminate]. destruct (fraction_of K ratio) as [r|]; [|discriminate].
  destruct (all_some (map (pair_of h) pairs)) as [ps|]; [|discriminate].
  set (s := common (concat (concat ms))) in *.
  destruct (all_some (map (table_over s) ms)) as [ts|] eqn:T; [|discriminate]. injection H as <-.
  unfold ConeModels.matrix, table; simpl. apply all_some_right in T.
  unfold matrices_of in E. apply all_some_right in E. pose proof (forall2_length _ _ _ E) as L. rewrite seq_length in L.
  pose proof (forall2_nth _ _ _ o 0%nat [] E ltac:(rewrite seq_length; exact Ho)) as N.
  rewrite seq_nth in N by exact Ho. simpl in N. apply matrix_of_right in N. destruct N as [N1 N2].
  rewrite <- N2 by exact in_domain. apply (table_right s); [exact in_domain | exact N1 |].
  apply (forall2_nth _ _ _ o [] _ T). lia.
Qed.

Lemma apply_word_same word : spelled h word ->
  apply_word (ConeModels.matrix m p) word (ones (states h)) = apply_word (matrix_values h p) word (ones (states h)).
Proof.
  intros H. induction H as [|o word Ho H IH]; [reflexivity|]. simpl. fold (apply_word (ConeModels.matrix m p) word (ones (states h))).
  rewrite IH, (matrix_right o Ho). reflexivity.
Qed.

Lemma symbols_right : length (steps m) = symbols h /\ size m = states h.
Proof.
  pose proof is_model as H. unfold model_of in H.
  destruct (matrices_of K h) as [ms|] eqn:E; [|discriminate]. destruct (fraction_of K ratio) as [r|]; [|discriminate].
  destruct (all_some (map (pair_of h) pairs)) as [ps|]; [|discriminate].
  destruct (all_some (map _ ms)) as [ts|] eqn:T; [|discriminate]. injection H as <-. simpl. split; [|reflexivity].
  apply all_some_right, forall2_length in T. unfold matrices_of in E. apply all_some_right, forall2_length in E.
  rewrite seq_length in E. congruence.
Qed.

Lemma ratio_right : 0 < eval (under m) p /\ value p ratio = eval (above m) p / eval (under m) p.
Proof.
  pose proof is_model as H. unfold model_of in H.
  destruct (matrices_of K h) as [ms|]; [|discriminate]. destruct (fraction_of K ratio) as [r|] eqn:E; [|discriminate].
  destruct (all_some (map (pair_of h) pairs)) as [ps|]; [|discriminate].
  destruct (all_some (map _ ms)) as [ts|]; [|discriminate]. injection H as <-. cbn [above under].
  destruct (fraction_of_right K _ _ E) as [P V]. rewrite V by exact in_domain.
  pose proof (eval_pscale (Zpos (low K r)) (bottom K r) p) as U.
  match goal with |- 0 < ?x /\ _ => change x with (eval (pscale (Zpos (low K r)) (bottom K r)) p) end.
  set (u := eval (pscale (Zpos (low K r)) (bottom K r)) p) in *.
  assert (Hu : 0 < u) by (rewrite U; apply Rmult_lt_0_compat; [apply low_positive | apply (P p in_domain)]).
  split; [exact Hu|]. unfold Symbolic.amount. change (at_point K p) with (fun q => eval q p). cbv beta.
  change (eval (top K r) p / (IZR (Zpos (low K r)) * eval (bottom K r) p) = eval (top K r) p / u). rewrite U. reflexivity.
Qed.

(** What belongs to a pair of the file, up to positive numbers. *)
Lemma pair_right left right : In (left, right) pairs -> exists a b, In (a, b) (secrets m) /\
  (forall w z, (w, z) = (left, a) \/ (w, z) = (right, b) -> exists k, 0 < k /\ eval (mass z) p = k * weight_of p h w /\
     forall word, spelled h word -> weight m p z word = k * weight_with p h w word).
Proof.
  intros Hin. pose proof is_model as H. unfold model_of in H.
  destruct (matrices_of K h) as [ms|]; [|discriminate]. destruct (fraction_of K ratio) as [r|]; [|discriminate].
  destruct (all_some (map (pair_of h) pairs)) as [ps|] eqn:E; [|discriminate].
  destruct (all_some (map (table_over _) ms)) as [ts|]; [|discriminate]. simpl in H.
  assert (Hs : secrets m = ps /\ size m = states h) by (injection H as <-; split; reflexivity).
  destruct Hs as [Hs Hn]. rewrite Hs. clear H.
  apply all_some_right in E. destruct (In_nth _ _ (left, right) Hin) as [i [Hi Ei]].
  pose proof (forall2_length _ _ _ E) as L.
  pose proof (forall2_nth _ _ _ i (left, right) ({| first := []; mass := Pc 0 |}, {| first := []; mass := Pc 0 |}) E Hi) as N.
  rewrite Ei in N. set (found := nth i ps _) in *.
  assert (Hf : In found ps) by (apply nth_In; lia).
  unfold pair_of in N. simpl in N. destruct (start_of K h left) as [l|] eqn:El; [|discriminate].
  destruct (start_of K h right) as [r'|] eqn:Er; [|discriminate]. destruct (prior_of l) as [a|] eqn:Ea; [|discriminate].
  destruct (prior_of r') as [b|] eqn:Eb; [|discriminate]. injection N as N. exists a, b. split; [rewrite N; exact Hf|].
  assert (One : forall w z start, start_of K h w = Some start -> prior_of start = Some z -> exists k, 0 < k /\
            eval (mass z) p = k * weight_of p h w /\
            forall word, spelled h word -> weight m p z word = k * weight_with p h w word).
  { intros w z start E1 E2. destruct (start_of_right K h w start E1) as [P1 [P2 P3]]. destruct (P3 p in_domain) as [P4 P5].
    destruct (prior_of_right start z p (states h) E2 P1 P2 in_domain) as [k [Hk [K1 K2]]].
    exists k. split; [exact Hk|]. split.
    - rewrite K2, <- P5. rewrite (proj2 (mass_of_right K h start P1)) by exact in_domain. reflexivity.
    - intros word Hw. unfold weight. rewrite K1, Hn, (apply_word_same word Hw), dot_times, P4, weight_with_right. reflexivity. }
  intros w z [Hwz|Hwz]; injection Hwz as -> ->; [apply (One left a l) | apply (One right b r')]; assumption.
Qed.

Theorem all_within_private about : all_within m p about -> sequences_private p h about (value p ratio) pairs.
Proof.
  intros H left right Hin Hl Hr word Hw Ha. destruct (pair_right left right Hin) as [a [b [Hab Hpair]]].
  destruct (Hpair left a (or_introl eq_refl)) as [k [Hk [Ma Wa]]].
  destruct (Hpair right b (or_intror eq_refl)) as [j [Hj [Mb Wb]]].
  destruct symbols_right as [Hsym _]. destruct ratio_right as [Hu ->].
  assert (Hrange : in_range m word) by (unfold in_range; rewrite Hsym; exact Hw).
  destruct (H a b Hab word Hrange Ha) as [H1 H2].
  assert (PA : 0 < eval (mass a) p) by (rewrite Ma; apply Rmult_lt_0_compat; assumption).
  assert (PB : 0 < eval (mass b) p) by (rewrite Mb; apply Rmult_lt_0_compat; assumption).
  assert (Qa : weight m p a word / eval (mass a) p = sequence_probability p h left word).
  { rewrite Ma, (Wa word Hw). unfold sequence_probability. field. split; lra. }
  assert (Qb : weight m p b word / eval (mass b) p = sequence_probability p h right word).
  { rewrite Mb, (Wb word Hw). unfold sequence_probability. field. split; lra. }
  apply within_ratio in H1; [|assumption..]. apply within_ratio in H2; [|assumption..]. rewrite Qa, Qb in H1, H2.
  split; assumption.
Qed.

End Model.

(** ** What is computed

    Files say which vectors there are, and with which weights they make up others. Where a vector is a multiple of one that
    is named, the factor is found here. Nothing rests on this: [check_closed] and [check_runs] look at all of it. *)

Definition factor_of (v : whole_vector) : Z := fold_right Z.gcd 0%Z v.
Definition moved (t : list (list Chains.poly)) (v : whole_vector) : whole_vector := whole_apply (whole_table t) v.

(** Rays; and by source, ray or 1, and by symbol a number and weights of rays. *)
Record ray_cone := { spanning : list whole_vector; hints : list (list (Z * list (nat * Z))) }.

Definition weights_from (n : nat) (l : list (nat * Z)) : list Z :=
  map (fun k => fold_right (fun entry found => if Nat.eqb (fst entry) k then snd entry + found else found)%Z 0%Z l) (seq 0 n).

Definition ways_from (m : model) (k : ray_cone) : list (list (Z * list Z)) :=
  map (fun source =>
    map (fun way =>
      let g := factor_of (moved (fst way) (fst source)) in
      (fst (snd way), map (Z.mul g) (weights_from (length (spanning k)) (snd (snd way)))))
      (combine (steps m) (snd source)))
    (combine (spanning k ++ [repeat 1%Z (size m)]) (hints k)).

Definition keeps_closed (h : hidden_markov) (k : ray_cone) (ratio : expression) (pairs : list (weights * weights)) : bool :=
  match model_of h ratio pairs with
  | Some m => check_closed (proved K) m (spanning k) (ways_from m k)
  | None => false
  end.

(** Vectors by their numbers: which are kept, which are dropped, and which one comes of each that was kept before. *)
Definition level_hints := (list nat * list (nat * (Z * list (Z * nat))) * list (list nat))%type.

Record run_hints := {
  directions : list bool;
  only_left : list bool;
  only_right : list bool;
  reach_of_both : list bool * list bool;
  by_length : list level_hints
}.

Record kept_vectors := { vectors : list whole_vector; run_list : list run_hints }.

Fixpoint levels_from (m : model) (vs : list whole_vector) (before : list whole_vector) (l : list level_hints) : list level :=
  match l with
  | [] => []
  | (kept, dropping, places) :: l =>
      let vector_at k := nth k vs [] in
      let now := map vector_at kept in
      {| level_kept := now;
         dropped := map (fun d => (vector_at (fst d), snd d)) dropping;
         ways_on := map (fun source =>
           map (fun way => let g := factor_of (moved (fst way) (fst source)) in
                           if (g =? 0)%Z then None else Some (g, snd way))
               (combine (steps m) (snd source)))
           (combine before places)
      |} :: levels_from m vs now l
  end.

Definition runs_from (m : model) (k : kept_vectors) : list run :=
  map (fun r => {|
    turns := directions r;
    smaller := only_left r;
    larger := only_right r;
    reached := reach_of_both r;
    levels := levels_from m (vectors k) [repeat 1%Z (size m)] (by_length r)
  |}) (run_list k).

(** No weight of a step, of a secret or of the bound is negative. *)
Definition signs_right (m : model) : bool :=
  whole_steps m
  && forallb (fun lr => forallb (proved K) (mass (fst lr) :: mass (snd lr) :: first (fst lr) ++ first (snd lr))) (secrets m)
  && proved K (above m) && proved K (under m).

Definition keeps_levels (h : hidden_markov) (lengths : list nat) (k : kept_vectors)
    (ratio : expression) (pairs : list (weights * weights)) : bool :=
  match model_of h ratio pairs with
  | Some m => signs_right m && check_runs (proved K) m lengths (runs_from m k)
  | None => false
  end.

Lemma signs_possible m p : Symbolic.inside K p -> signs_right m = true -> possible m p.
Proof.
  intros Hp. unfold signs_right. rewrite !andb_true_iff. intros [[[H1 H2] H3] H4]. split; [|split].
  - unfold whole_steps in H1. intros t row q Ht Hr Hq. rewrite forallb_forall in H1. specialize (H1 t Ht).
    rewrite forallb_forall in H1. specialize (H1 row Hr). rewrite forallb_forall in H1. specialize (H1 q Hq).
    apply andb_true_iff in H1. destruct H1 as [H1 H1']. destruct q as [z|]; [|discriminate H1]. simpl in *.
    apply (IZR_le 0). apply Z.leb_le. exact H1'.
  - intros a b Hab. rewrite forallb_forall in H2. specialize (H2 _ Hab). rewrite forallb_forall in H2. simpl in H2.
    assert (G : forall q, q = mass a \/ q = mass b \/ In q (first a) \/ In q (first b) -> 0 <= eval q p).
    { intros q Hq. apply (proved_right K p); [apply H2 | exact Hp]. destruct Hq as [->|[->|Hq]]; [now left | now right; left|].
      right. right. apply in_or_app. exact Hq. }
    split; (split; [intros q Hq|]); apply G; tauto.
  - split; apply (proved_right K p); assumption.
Qed.

End CaseCones.

(** ** The theorems that files of cases use *)

Theorem closed_theorem c h k pairs ratio :
  keeps_closed c h k ratio pairs = true ->
  forall values, in_domain c values ->
  sequences_private (at_values values) h of_any_length (value (at_values values) ratio) pairs.
Proof.
  unfold keeps_closed. destruct (model_of c h ratio pairs) as [m|] eqn:E; [|discriminate]. intros H values Hv.
  apply in_domain_right in Hv. apply (all_within_private c h ratio pairs m E (at_values values) Hv).
  apply (check_closed_sound (proved (algebra_of c)) m (spanning k) (ways_from m k) (at_values values)); [|exact H].
  intros f Hf. apply (proved_right (algebra_of c) (at_values values) f Hf Hv).
Qed.

Theorem levels_theorem c h lengths k pairs ratio :
  keeps_levels c h lengths k ratio pairs = true ->
  forall values, in_domain c values ->
  sequences_private (at_values values) h (fun word => In (length word) lengths) (value (at_values values) ratio) pairs.
Proof.
  unfold keeps_levels. destruct (model_of c h ratio pairs) as [m|] eqn:E; [|discriminate]. intros H values Hv.
  apply andb_true_iff in H. destruct H as [S H].
  apply in_domain_right in Hv. apply (all_within_private c h ratio pairs m E (at_values values) Hv).
  apply (check_runs_sound (proved (algebra_of c)) m lengths (runs_from m k) (at_values values)); [| |exact H].
  - intros f Hf. apply (proved_right (algebra_of c) (at_values values) f Hf Hv).
  - apply (signs_possible c m (at_values values) Hv S).
Qed.
