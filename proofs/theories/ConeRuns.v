(** Sequences of given lengths: the vectors of each length are no worse than combinations of those that are kept. *)

From Coq Require Import Reals ZArith List Lra Lia Bool Arith.
From Paramverify Require Import Privacy Hmm Coverings Poly Goal ConeModels Masks Cones ConeLevels.
Import ListNotations.
Local Open Scope R_scope.

Definition at_most (s : list bool) (x y : vector) : Prop := forall i, nth i s false = true -> nth i x 0 <= nth i y 0.

Lemma at_most_cons b s x xs y ys : at_most (b :: s) (x :: xs) (y :: ys) -> (b = true -> x <= y) /\ at_most s xs ys.
Proof. intros H. split; [apply (H 0%nat) | intros i; apply (H (S i))]. Qed.

Lemma supported_monotone e row s x y : supported row s = true -> (forall p, In p row -> 0 <= eval p e) ->
  length x = length row -> length y = length row -> at_most s x y -> dot (numbers e row) x <= dot (numbers e row) y.
Proof.
  revert s x y. induction row as [|p row IH]; intros [|b s] [|x xs] [|y ys] H P Hx Hy A; simpl in *; try discriminate;
    try lra.
  apply andb_true_iff in H. destruct H as [Hb H]. apply at_most_cons in A. destruct A as [A0 A].
  fold (numbers e row). assert (dot (numbers e row) xs <= dot (numbers e row) ys).
  { apply (IH s xs ys H); [intros q Hq; apply P; right; exact Hq | lia | lia | exact A]. }
  apply orb_true_iff in Hb. destruct Hb as [Hb|Hb].
  - specialize (A0 Hb). assert (eval p e * x <= eval p e * y) by (apply Rmult_le_compat_l; [apply P; left; reflexivity | exact A0]).
    lra.
  - rewrite (nothing_right p e Hb). lra.
Qed.

Lemma leads_monotone e n rows s x y : leads rows s s = true -> (forall row p, In row rows -> In p row -> 0 <= eval p e) ->
  length s = n -> length x = n -> length y = n -> at_most s x y ->
  at_most s (apply (map (numbers e) rows) x) (apply (map (numbers e) rows) y).
Proof.
  intros H P Ls Lx Ly A. assert (G : forall rows r, leads rows r s = true ->
    (forall row p, In row rows -> In p row -> 0 <= eval p e) ->
    at_most r (apply (map (numbers e) rows) x) (apply (map (numbers e) rows) y)); [|apply G; assumption].
  clear H P rows. induction rows as [|row rows IH]; intros [|b r] H P; simpl in *; try discriminate.
  - intros i. destruct i; discriminate.
  - apply andb_true_iff in H. destruct H as [Hb H]. intros [|i] Hi; simpl in *.
    + subst b. simpl in Hb. pose proof (supported_length _ _ Hb) as L.
      apply (supported_monotone e row s); try assumption; try congruence.
      intros p Hp. apply (P row p); [left; reflexivity | exact Hp].
    + apply (IH r H); [|exact Hi]. intros q p Hq Hp. apply (P q p); [right; exact Hq | exact Hp].
Qed.

Lemma no_worse_at_most l r x y : no_worse l r x y <-> at_most l x y /\ at_most r y x.
Proof.
  split.
  - intros H. split; intros i; apply H.
  - intros [A B] i. split; [apply A | apply B].
Qed.

Section Runs.
Variable shown : poly -> bool.
Variable m : model.
Notation n := (size m).

Definition mix (ways : list (Z * nat)) (known : list whole_vector) : whole_vector :=
  combination (map fst ways) (map (fun way => nth (snd way) known (repeat 0%Z n)) ways) (repeat 0%Z n).

Fixpoint settle (small large : list bool) (known : list whole_vector) (l : list (whole_vector * (Z * list (Z * nat)))) :
    option (list whole_vector) :=
  match l with
  | [] => Some known
  | (v, (c, ways)) :: l =>
      if (0 <? c)%Z && Nat.eqb (length v) n && all_nonnegative (map fst ways) && entries c small large v (mix ways known)
      then settle small large (known ++ [v]) l else None
  end.

(** What comes of a kept vector is zero, or a multiple of a vector that is known. *)
Definition check_on (known : list whole_vector) (v : whole_vector) (t : list whole_vector) (way : option (Z * nat)) : bool :=
  let found := whole_apply t v in
  match way with
  | None => same found (repeat 0%Z n)
  | Some (c, j) => (0 <=? c)%Z && same found (map (Z.mul c) (nth j known (repeat 0%Z n)))
  end.

(** [tables] are the steps, as [short_tables] makes them. *)
Definition check_level (tables : list (list whole_vector)) (small large : list bool) (before : list whole_vector)
    (lv : level) : bool :=
  match settle small large (level_kept lv) (dropped lv) with
  | Some known =>
      forallb (fun v => Nat.eqb (length v) n) (level_kept lv)
      && pairwise (fun v row => pairwise (check_on known v) tables row) before (ways_on lv)
  | None => false
  end.

Definition turned_bounds (directions : list bool) (v : list poly) : bool :=
  forallb (fun lr => forallb (fun turned : bool =>
    shown (if turned then compared m (snd lr) (fst lr) v else compared m (fst lr) (snd lr) v)) directions) (secrets m).

Fixpoint check_levels (tables : list (list whole_vector)) (r : run) (lengths : list nat) (before : list whole_vector) (k : nat)
    (l : list level) : bool :=
  match l with
  | [] => forallb (fun j => Nat.ltb j k) lengths
  | lv :: l =>
      check_level tables (smaller r) (larger r) before lv
      && (negb (existsb (Nat.eqb k) lengths)
          || forallb (fun v => turned_bounds (turns r) (as_polys v)) (level_kept lv))
      && check_levels tables r lengths (level_kept lv) (S k) l
  end.

Definition check_run (lengths : list nat) (r : run) : bool :=
  let (p, q) := reached r in
  Nat.eqb (length p) n && Nat.eqb (length q) n
  && forallb (fun t => leads t p p && leads t q q) (steps m)
  && forallb (fun lr => supported (first (fst lr)) p && supported (first (snd lr)) q) (secrets m)
  && forallb (fun turned : bool => apart (smaller r) (if turned then p else q) && apart (larger r) (if turned then q else p))
       (turns r)
  && check_levels (short_tables (steps m)) r lengths [repeat 1%Z n] 1 (levels r).

Definition check_runs (lengths : list nat) (runs : list run) : bool :=
  shaped m && whole_steps m && forallb (fun k => Nat.ltb 0 k) lengths
  && existsb (fun r => existsb (fun turned => turned) (turns r)) runs
  && existsb (fun r => existsb negb (turns r)) runs
  && forallb (check_run lengths) runs.

Variable e : env.
Hypothesis shown_right : forall f, shown f = true -> 0 <= eval f e.
Hypothesis is_possible : possible m e.
Hypothesis is_shaped : shaped m = true.
Hypothesis is_whole_steps : whole_steps m = true.

Section Direction.
Variables (l r : list bool) (left right : prior).
Hypothesis length_l : length l = n.
Hypothesis length_r : length r = n.
Hypothesis leads_l : forall t, In t (steps m) -> leads t l l = true.
Hypothesis leads_r : forall t, In t (steps m) -> leads t r r = true.
Hypothesis supported_l : supported (first left) l = true.
Hypothesis supported_r : supported (first right) r = true.
Hypothesis possible_left : possible_prior e left.
Hypothesis possible_right : possible_prior e right.

Definition good (kept : list whole_vector) (x : vector) : Prop :=
  length x = n /\ exists y, spanned n (map reals kept) y /\ no_worse l r x y.

Definition long (kept : list whole_vector) : Prop := Forall (fun v => length v = n) (map reals kept).

Lemma good_zeros kept : good kept (zeros n).
Proof.
  split; [apply repeat_length|]. exists (zeros n). split; [apply spanned_zero|]. intros i. split; intros; lra.
Qed.

Lemma good_plus kept w x v : long kept -> 0 <= w -> good kept x -> good kept v -> good kept (plus_scaled w x v).
Proof.
  intros Hk Hw [Lx [y [Sy Ny]]] [Lv [z [Sz Nz]]]. split; [apply length_plus_scaled; assumption|].
  exists (plus_scaled w y z). pose proof (spanned_length _ _ _ Hk Sy) as Ly. pose proof (spanned_length _ _ _ Hk Sz) as Lz.
  split; [apply spanned_scaled_more; assumption|]. apply no_worse_plus; try assumption; congruence.
Qed.

Lemma good_scaled kept w x : 0 <= w -> good kept x -> good kept (scaled w x).
Proof.
  intros Hw [Lx [y [Sy Ny]]]. split; [rewrite scaled_length; exact Lx|]. exists (scaled w y).
  split; [apply spanned_scaled; assumption | apply no_worse_scaled; assumption].
Qed.

Lemma good_trans kept x y : length x = n -> no_worse l r x y -> good kept y -> good kept x.
Proof.
  intros Lx H [Ly [z [Sz Nz]]]. split; [exact Lx|]. exists z. split; [exact Sz|]. apply (no_worse_trans l r x y z); assumption.
Qed.

Lemma good_spanned kept rays v : long kept -> (forall x, In x rays -> good kept x) -> spanned n rays v -> good kept v.
Proof.
  intros Hk Hr H. induction H as [|x w v Hin Hw Hv IH]; [apply good_zeros|]. apply good_plus; auto.
Qed.

Lemma good_kept kept v : long kept -> In v kept -> good kept (reals v).
Proof.
  intros Hk Hin. assert (Lv : length (reals v) = n).
  { unfold long in Hk. rewrite Forall_forall in Hk. apply Hk. apply in_map. exact Hin. }
  split; [exact Lv|]. exists (plus_scaled 1 (reals v) (zeros n)). split.
  - apply spanned_more; [apply in_map; exact Hin | lra | apply spanned_zero].
  - intros i. rewrite nth_plus_scaled by (rewrite Lv; symmetry; apply repeat_length).
    unfold zeros. rewrite nth_repeat. split; intros; lra.
Qed.

Lemma good_nth kept known j : (forall v, In v known -> good kept (reals v)) -> good kept (reals (nth j known (repeat 0%Z n))).
Proof.
  intros H. destruct (nth_in_or_default j known (repeat 0%Z n)) as [Hin|E]; [apply H; exact Hin|].
  rewrite E, reals_zeros. apply good_zeros.
Qed.

Lemma settle_good small large kept : long kept -> apart small r = true -> apart large l = true ->
  forall rest known all, (forall v, In v known -> good kept (reals v)) ->
  settle small large known rest = Some all -> forall v, In v all -> good kept (reals v).
Proof.
  intros Hk As Al. induction rest as [|[v [c ways]] rest IH]; simpl; intros known all Hknown H.
  - injection H as <-. exact Hknown.
  - destruct ((0 <? c)%Z && Nat.eqb (length v) n && all_nonnegative (map fst ways) && entries c small large v (mix ways known)) eqn:E;
      [|discriminate].
    rewrite !andb_true_iff in E. destruct E as [[[Hc Lv] Hways] He]. apply Z.ltb_lt in Hc. apply Nat.eqb_eq in Lv.
    apply (IH (known ++ [v]) all); [|exact H]. intros u Hu. apply in_app_or in Hu. destruct Hu as [Hu|[<-|[]]]; [apply Hknown; exact Hu|].
    assert (Gm : good kept (reals (mix ways known))).
    { apply (good_spanned kept (map reals (map (fun way => nth (snd way) known (repeat 0%Z n)) ways))); [exact Hk | |].
      - intros x Hx. apply in_map_iff in Hx. destruct Hx as [z [<- Hz]]. apply in_map_iff in Hz. destruct Hz as [way [<- _]].
        apply good_nth. exact Hknown.
      - unfold mix. apply combination_spanned; [exact Hways | apply incl_refl]. }
    pose proof (entries_right c small large l r v (mix ways known) Hc He As Al) as Hn.
    assert (Lr : length (reals v) = n) by (unfold reals; rewrite map_length; exact Lv).
    assert (Gc : good kept (scaled (IZR c) (reals v))) by (apply (good_trans kept _ (reals (mix ways known))); [rewrite scaled_length; exact Lr | exact Hn | exact Gm]).
    apply IZR_lt in Hc. apply (good_scaled kept (/ IZR c)) in Gc; [|left; apply Rinv_0_lt_compat; exact Hc].
    rewrite <- (unscaled (IZR c) (reals v) (scaled (IZR c) (reals v))) in Gc; [exact Gc | lra | reflexivity].
Qed.

Lemma check_level_good small large before lv o x : apart small r = true -> apart large l = true ->
  check_level (short_tables (steps m)) small large before lv = true -> long before -> (o < length (steps m))%nat -> good before x ->
  long (level_kept lv) /\ good (level_kept lv) (apply (table m e o) x).
Proof.
  intros As Al H Hb Ho [Lx [y [Sy Ny]]]. unfold check_level in H.
  destruct (settle small large (level_kept lv) (dropped lv)) as [known|] eqn:E; [|discriminate].
  apply andb_true_iff in H. destruct H as [Hk Hon]. rewrite forallb_forall in Hk.
  assert (Lk : long (level_kept lv)).
  { apply Forall_forall. intros v Hv. apply in_map_iff in Hv. destruct Hv as [z [<- Hz]]. unfold reals. rewrite map_length.
    apply Nat.eqb_eq. apply Hk. exact Hz. }
  split; [exact Lk|].
  assert (Hknown : forall v, In v known -> good (level_kept lv) (reals v)).
  { apply (settle_good small large (level_kept lv) Lk As Al (dropped lv) (level_kept lv)); [|exact E].
    intros v Hv. apply good_kept; assumption. }
  destruct (table_at m e o Ho) as [t [Hin Et]]. pose proof (shaped_table m e is_shaped o) as Lt.
  destruct is_possible as [Psteps _].
  apply (good_trans _ _ (apply (table m e o) y)).
  - unfold apply. rewrite map_length. exact Lt.
  - apply no_worse_at_most in Ny. destruct Ny as [N1 N2]. pose proof (spanned_length _ _ _ Hb Sy) as Ly.
    rewrite Et. apply no_worse_at_most. split.
    + apply (leads_monotone e n); try assumption; [apply leads_l; exact Hin|]. intros row p Hrow Hp. apply (Psteps t row p); assumption.
    + apply (leads_monotone e n); try assumption; [apply leads_r; exact Hin|]. intros row p Hrow Hp. apply (Psteps t row p); assumption.
  - clear Ny Lx x. induction Sy as [|z w v Hz Hw Hv IH]; [rewrite apply_zeros, Lt; apply good_zeros|].
    rewrite apply_plus_scaled.
    + apply good_plus; [exact Lk | exact Hw | | exact IH]. apply in_map_iff in Hz. destruct Hz as [k [<- Hz]].
      destruct (pairwise_left _ _ _ Hon k Hz) as [row [_ H1]]. destruct (pairwise_left _ _ _ H1 _ (in_short_tables _ t Hin)) as [way [_ H2]].
      rewrite Et, (whole_apply_right m e t k is_whole_steps Hin). unfold check_on in H2. rewrite apply_without_zeros in H2. destruct way as [[c j]|].
      * apply andb_true_iff in H2. destruct H2 as [Hc H2]. apply same_spec in H2. rewrite H2, reals_scaled.
        apply good_scaled; [apply (IZR_le 0); apply Z.leb_le; exact Hc | apply good_nth; exact Hknown].
      * apply same_spec in H2. rewrite H2, reals_zeros. apply good_zeros.
    + rewrite (spanned_length _ _ _ Hb Hv). unfold long in Hb. rewrite Forall_forall in Hb. apply Hb. exact Hz.
Qed.

Lemma margin_no_worse x y : length x = n -> length y = n -> no_worse l r x y ->
  margin m e left right y <= margin m e left right x.
Proof.
  intros Lx Ly H. apply no_worse_at_most in H. destruct H as [H1 H2]. unfold margin.
  destruct possible_left as [Pl Ml]. destruct possible_right as [Pr Mr]. destruct is_possible as [_ [_ [Pa Pu]]].
  pose proof (supported_length _ _ supported_l) as L1. pose proof (supported_length _ _ supported_r) as L2.
  assert (D1 : dot (numbers e (first left)) x <= dot (numbers e (first left)) y) by (apply (supported_monotone e _ l); try assumption; congruence).
  assert (D2 : dot (numbers e (first right)) y <= dot (numbers e (first right)) x) by (apply (supported_monotone e _ r); try assumption; congruence).
  assert (eval (above m) e * (dot (numbers e (first right)) y * eval (mass left) e)
          <= eval (above m) e * (dot (numbers e (first right)) x * eval (mass left) e))
    by (apply Rmult_le_compat_l; [exact Pa|]; apply Rmult_le_compat_r; assumption).
  assert (eval (under m) e * (dot (numbers e (first left)) x * eval (mass right) e)
          <= eval (under m) e * (dot (numbers e (first left)) y * eval (mass right) e))
    by (apply Rmult_le_compat_l; [exact Pu|]; apply Rmult_le_compat_r; assumption).
  lra.
Qed.

Lemma margin_good kept x : length (first left) = n -> length (first right) = n -> long kept ->
  (forall v, In v kept -> 0 <= margin m e left right (reals v)) -> good kept x -> 0 <= margin m e left right x.
Proof.
  intros Ll Lr Hk H [Lx [y [Sy Ny]]]. apply Rle_trans with (margin m e left right y).
  - rewrite <- dot_excess by assumption. apply (spanned_dot n (map reals kept)); [exact Hk | | exact Sy].
    intros z Hz. apply in_map_iff in Hz. destruct Hz as [v [<- Hz]]. rewrite dot_excess by assumption. apply H. exact Hz.
  - apply margin_no_worse; [exact Lx | apply (spanned_length _ _ _ Hk Sy) | exact Ny].
Qed.

(** From the vectors of words of the length before. *)
Lemma check_levels_right (ru : run) (turned : bool) lengths :
  In turned (turns ru) -> apart (smaller ru) r = true -> apart (larger ru) l = true ->
  length (first left) = n -> length (first right) = n ->
  (forall v, turned_bounds (turns ru) v = true -> 0 <= margin m e left right (numbers e v)) ->
  forall ls before k, check_levels (short_tables (steps m)) ru lengths before (S k) ls = true -> long before ->
  (forall word, in_range m word -> length word = k -> good before (apply_word (table m e) word (ones n))) ->
  forall word, in_range m word -> (k < length word)%nat -> In (length word) lengths ->
    0 <= margin m e left right (apply_word (table m e) word (ones n)).
Proof.
  intros Ht As Al Ll Lr Hb. induction ls as [|lv ls IH]; intros before k H Hk Hg word Hw Hlt Hin; simpl in H.
  - rewrite forallb_forall in H. specialize (H _ Hin). apply Nat.ltb_lt in H. lia.
  - rewrite !andb_true_iff in H. destruct H as [[H1 H2] H3].
    assert (Hstep : forall w, in_range m w -> length w = S k ->
              long (level_kept lv) /\ good (level_kept lv) (apply_word (table m e) w (ones n))).
    { intros [|o w] Hw' Lw; [discriminate|]. inversion Hw' as [|? ? Ho Hw'']; subst.
      change (apply_word (table m e) (o :: w) (ones n)) with (apply (table m e o) (apply_word (table m e) w (ones n))).
      apply (check_level_good (smaller ru) (larger ru) before); try assumption. apply Hg; [exact Hw''|]. simpl in Lw. lia. }
    destruct (Nat.eq_dec (length word) (S k)) as [E|Hne].
    + destruct (Hstep word Hw E) as [Hlong Hgood]. apply (margin_good (level_kept lv)); try assumption.
      intros v Hv. rewrite <- (numbers_as_polys e). apply Hb. apply orb_true_iff in H2. destruct H2 as [H2|H2].
      * apply negb_true_iff in H2. rewrite <- not_true_iff_false in H2. exfalso. apply H2. apply existsb_exists.
        exists (S k). split; [rewrite <- E; exact Hin | apply Nat.eqb_refl].
      * rewrite forallb_forall in H2. apply H2. exact Hv.
    + assert (Hlong : long (level_kept lv)).
      { destruct (Hstep (firstn (S k) word)) as [A _].
        - rewrite <- (firstn_skipn (S k) word) in Hw. apply Forall_app in Hw. apply Hw.
        - apply firstn_length_le. lia.
        - exact A. }
      apply (IH (level_kept lv) (S k) H3 Hlong); [|exact Hw | lia | exact Hin].
      intros w Hw' Lw. apply Hstep; assumption.
Qed.

End Direction.

Lemma good_one l r : good l r [repeat 1%Z n] (ones n).
Proof.
  rewrite <- reals_ones. apply good_kept; [|left; reflexivity]. constructor; [|constructor].
  unfold reals. rewrite map_length. apply repeat_length.
Qed.

Lemma check_run_right lengths ru (turned : bool) : check_run lengths ru = true -> In turned (turns ru) ->
  forall a b, In (a, b) (secrets m) -> forall word, in_range m word -> word <> [] -> In (length word) lengths ->
  let (left, right) := if turned then (b, a) else (a, b) in
  0 <= margin m e left right (apply_word (table m e) word (ones n)).
Proof.
  unfold check_run. destruct (reached ru) as [p q]. rewrite !andb_true_iff.
  intros [[[[[Lp Lq] Hleads] Hpriors] Hapart] Hlevels] Ht a b Hab word Hw Hne Hin.
  apply Nat.eqb_eq in Lp. apply Nat.eqb_eq in Lq. rewrite forallb_forall in Hleads, Hpriors, Hapart.
  specialize (Hpriors _ Hab). simpl in Hpriors. apply andb_true_iff in Hpriors. destruct Hpriors as [Sa Sb].
  specialize (Hapart _ Ht). simpl in Hapart. apply andb_true_iff in Hapart. destruct Hapart as [As Al].
  destruct (shaped_priors m is_shaped a b Hab) as [La Lb].
  destruct is_possible as [_ [Hpos _]]. destruct (Hpos a b Hab) as [Pa Pb].
  assert (Kp : forall t, In t (steps m) -> leads t p p = true) by (intros t Hi; specialize (Hleads t Hi); apply andb_true_iff in Hleads; apply Hleads).
  assert (Kq : forall t, In t (steps m) -> leads t q q = true) by (intros t Hi; specialize (Hleads t Hi); apply andb_true_iff in Hleads; apply Hleads).
  assert (Hlong : long [repeat 1%Z n]).
  { constructor; [|constructor]. unfold reals. rewrite map_length. apply repeat_length. }
  assert (Hlt : (0 < length word)%nat) by (destruct word; [congruence | simpl; lia]).
  assert (Hempty : forall l r w, in_range m w -> length w = 0%nat -> good l r [repeat 1%Z n] (apply_word (table m e) w (ones n))).
  { intros l r [|o w] _ L; [apply good_one | discriminate]. }
  destruct turned; simpl in As, Al.
  - apply (check_levels_right q p b a Lq Lp Kq Kp Sb Sa Pb Pa ru true lengths Ht As Al Lb La) with
      (ls := levels ru) (before := [repeat 1%Z n]) (k := 0%nat); try assumption; [|apply Hempty].
    intros v Hv. unfold turned_bounds in Hv. rewrite forallb_forall in Hv. specialize (Hv _ Hab).
    rewrite forallb_forall in Hv. specialize (Hv _ Ht). simpl in Hv. apply shown_right in Hv. rewrite eval_compared in Hv. exact Hv.
  - apply (check_levels_right p q a b Lp Lq Kp Kq Sa Sb Pa Pb ru false lengths Ht As Al La Lb) with
      (ls := levels ru) (before := [repeat 1%Z n]) (k := 0%nat); try assumption; [|apply Hempty].
    intros v Hv. unfold turned_bounds in Hv. rewrite forallb_forall in Hv. specialize (Hv _ Hab).
    rewrite forallb_forall in Hv. specialize (Hv _ Ht). simpl in Hv. apply shown_right in Hv. rewrite eval_compared in Hv. exact Hv.
Qed.

End Runs.

Theorem check_runs_sound shown m lengths runs e : (forall f, shown f = true -> 0 <= eval f e) -> possible m e ->
  check_runs shown m lengths runs = true -> all_within m e (fun word => In (length word) lengths).
Proof.
  intros S P. unfold check_runs. rewrite !andb_true_iff. intros [[[[[Hm Hz] Hpos] Hyes] Hno] Hruns] a b Hab word Hw Hin.
  rewrite forallb_forall in Hpos, Hruns. pose proof (Hpos _ Hin) as Hlt. apply Nat.ltb_lt in Hlt.
  assert (Hne : word <> []) by (intros ->; simpl in Hlt; lia).
  apply existsb_exists in Hyes. destruct Hyes as [r1 [I1 E1]]. apply existsb_exists in E1. destruct E1 as [t1 [T1 E1]]. subst t1.
  apply existsb_exists in Hno. destruct Hno as [r2 [I2 E2]]. apply existsb_exists in E2. destruct E2 as [t2 [T2 E2]].
  destruct t2; [discriminate E2|].
  split; apply margin_within.
  - exact (check_run_right shown m e S P Hm Hz lengths r2 false (Hruns _ I2) T2 a b Hab word Hw Hne Hin).
  - exact (check_run_right shown m e S P Hm Hz lengths r1 true (Hruns _ I1) T1 a b Hab word Hw Hne Hin).
Qed.
