(** Documents about many sequences: what the program asks, and that its answers are right. *)

From Coq Require Import Reals ZArith List Lra Lia Bool Arith.
From Paramverify Require Import Privacy Hmm Coverings Poly Goal ConeModels Cones ConeLevels ConeRuns ConeLoops.
Import ListNotations.
Local Open Scope R_scope.

Inductive cone_proof :=
| Ratios (c : ratio_cone)
| Closed (rays : list whole_vector) (ways : list (list (Z * list Z)))
| Levels (lengths : list nat) (runs : list run).

(** The sequences that a document is about: those of some lengths, or all but the empty one. *)
Definition about_words (c : cone_proof) (word : list nat) : Prop :=
  match c with Levels lengths _ => In (length word) lengths | _ => word <> [] end.

(** [claims]: polynomials that are at least zero on the domain; [find] says which one is needed. *)
Definition check_cone (find : poly -> nat) (claims : list qpoly) (m : model) (c : cone_proof) : bool :=
  let shown := follows find (map num claims) in
  match c with
  | Ratios c => check_ratios shown m c
  | Closed rays ways => check_closed shown m rays ways
  | Levels lengths runs => check_runs shown m lengths runs
  end.

Theorem check_cone_sound : forall find claims m c,
  (forall p, In p claims -> holds (for_poly (domain m) p)) -> check_cone find claims m c = true ->
  forall e, dom (domain m) e -> possible m e -> all_within m e (about_words c).
Proof.
  intros find claims m c K H e D P.
  assert (S : forall f, follows find (map num claims) f = true -> 0 <= eval f e).
  { apply follows_right. intros q Hq. apply in_map_iff in Hq. destruct Hq as [p [<- Hp]].
    apply qeval_sign. exact (holds_for_poly _ _ _ D (K p Hp)). }
  destruct c as [c|rays ways|lengths runs]; simpl in H.
  - apply (check_ratios_sound _ m e S P c H).
  - apply (check_closed_sound _ m rays ways e S H).
  - apply (check_runs_sound _ m lengths runs e S P H).
Qed.

(** * No bound at all *)

Lemma long_enough (x c : R) : 0 < x -> exists k : nat, c < (1 + x) ^ k.
Proof.
  intros Hx. destruct (archimed (c / x)) as [H _]. exists (Z.to_nat (up (c / x))).
  apply Rlt_le_trans with (1 + INR (Z.to_nat (up (c / x))) * x); [|apply Rfunctions.poly; exact Hx].
  assert (Hn : IZR (up (c / x)) <= INR (Z.to_nat (up (c / x)))) by (rewrite INR_IZR_INZ; apply IZR_le; lia).
  assert (c / x * x < INR (Z.to_nat (up (c / x))) * x) by (apply Rmult_lt_compat_r; lra).
  replace (c / x * x) with c in H0 by (field; lra). lra.
Qed.

Lemma outgrows a b (x y : nat -> R) (f g p q : R) : 0 < b < a -> 0 < f -> 0 < g -> 0 < p -> 0 < q ->
  (forall k, 0 < x k) -> (forall k, 0 <= y k) ->
  (forall k, f * a ^ k * (y k * p) <= g * b ^ k * (x k * q)) ->
  forall c, exists k, c * (y k / q) < x k / p.
Proof.
  intros [Hb Ha] Hf Hg Hp Hq Hx Hy H c.
  assert (Hr : 0 < (a - b) / b) by (apply Rdiv_lt_0_compat; lra).
  destruct (long_enough ((a - b) / b) (c * g / f) Hr) as [k Hk]. exists k.
  replace (1 + (a - b) / b) with (a / b) in Hk by (field; lra).
  specialize (H k). specialize (Hx k). specialize (Hy k).
  pose proof (pow_lt _ k Hb) as PB. assert (PA : 0 < a ^ k) by (apply pow_lt; lra).
  assert (E : (a / b) ^ k = a ^ k / b ^ k).
  { unfold Rdiv. rewrite Rpow_mult_distr. f_equal. apply pow_inv. }
  rewrite E in Hk. set (u := a ^ k) in *. set (v := b ^ k) in *. set (s := x k) in *. set (t := y k) in *.
  assert (Hc : c * g * v < f * u).
  { apply (Rmult_lt_compat_r (f * v)) in Hk; [|apply Rmult_lt_0_compat; assumption].
    replace (c * g / f * (f * v)) with (c * g * v) in Hk by (field; lra).
    replace (u / v * (f * v)) with (f * u) in Hk by (field; lra). exact Hk. }
  destruct (Rle_lt_or_eq_dec 0 t Hy) as [Ht|Ht].
  - assert (H1 : (c * g * v) * (t * p) < (f * u) * (t * p)) by (apply Rmult_lt_compat_r; [apply Rmult_lt_0_compat; assumption | exact Hc]).
    assert (H2 : (g * v) * (c * t * p) < (g * v) * (s * q)) by lra.
    apply Rmult_lt_reg_l in H2; [|apply Rmult_lt_0_compat; assumption].
    apply (Rmult_lt_compat_r (/ (p * q))) in H2; [|apply Rinv_0_lt_compat; apply Rmult_lt_0_compat; assumption].
    replace (c * t * p * / (p * q)) with (c * (t / q)) in H2 by (field; lra).
    replace (s * q * / (p * q)) with (s / p) in H2 by (field; lra). exact H2.
  - rewrite <- Ht. unfold Rdiv. rewrite Rmult_0_l, Rmult_0_r. apply Rmult_lt_0_compat; [exact Hx | apply Rinv_0_lt_compat; exact Hp].
Qed.

Lemma repeated_range m l k : in_range m (before_loop l ++ body l ++ behind_loop l) -> in_range m (looped l k).
Proof.
  intros H. apply Forall_app in H. destruct H as [H1 H]. apply Forall_app in H. destruct H as [H2 H3].
  unfold looped. apply Forall_app. split; [exact H1|]. apply Forall_app. split; [|exact H3].
  induction k as [|k IH]; simpl; [constructor | apply Forall_app; split; assumption].
Qed.

Lemma check_ends_unbounded m l e left right : shaped m = true -> whole_steps m = true ->
  in_range m (before_loop l ++ body l ++ behind_loop l) -> body l <> [] -> check_ends m l left right = true ->
  unbounded m e left right.
Proof.
  intros Hm Hz Hrange Hbody Hends.
  pose proof Hrange as Hr. apply Forall_app in Hr. destruct Hr as [R1 Hr]. apply Forall_app in Hr. destruct Hr as [R2 R3].
  pose proof (grows m e Hm Hz l left right R1 R2 R3 Hends) as G. cbv zeta in G.
  unfold check_ends in Hends. cbv zeta in Hends. rewrite !andb_true_iff in Hends.
  destruct Hends as [[[[[[[[[[[[[[[[[[Cl Cr] _] _] _] _] _] _] _] _] _] CU] CB] CA] _] _] Cf] Cg] _].
  apply Z.ltb_lt, IZR_lt in CU. apply Z.ltb_lt, IZR_lt in CB. apply Z.ltb_lt, IZR_lt in CA. apply Z.ltb_lt, IZR_lt in Cf. apply Z.ltb_lt, IZR_lt in Cg.
  destruct (prior_right e left Cl) as [_ [_ [Ml Pl]]]. destruct (prior_right e right Cr) as [_ [_ [Mr Pr]]].
  rewrite <- Ml in Pl. rewrite <- Mr in Pr. intros c.
  set (a := IZR (rate_up l) / IZR (rate_under l)) in *. set (b := IZR (rate_down l) / IZR (rate_under l)) in *.
  assert (Hb : 0 < b) by (apply Rdiv_lt_0_compat; lra).
  assert (Hab : b < a) by (apply Rmult_lt_compat_r; [apply Rinv_0_lt_compat|]; lra).
  (* one loop more, so that no word is empty *)
  destruct (outgrows a b
    (fun k => dot (numbers e (first left)) (apply_word (table m e) (looped l (S k)) (ones (size m))))
    (fun k => dot (numbers e (first right)) (apply_word (table m e) (looped l (S k)) (ones (size m))))
    (IZR (factor_top l) * a) (IZR (factor_bottom l) * b) (eval (mass left) e) (eval (mass right) e))
    with (c := c) as [k Hk]; try assumption; try (split; assumption); try (apply Rmult_lt_0_compat; lra).
  - intros k. apply (G (S k)).
  - intros k. apply (G (S k)).
  - intros k. destruct (G (S k)) as [_ [_ H]]. simpl pow in H. rewrite !Rmult_assoc in H |- *. exact H.
  - exists (looped l (S k)). split; [|split].
    + unfold looped. simpl. destruct (before_loop l); [|discriminate]. destruct (body l); [congruence | discriminate].
    + apply repeated_range. exact Hrange.
    + unfold weight. set (s := IZR (Zpos (scale m))). assert (Hs : 0 < s) by (apply IZR_lt; reflexivity).
      change (matrix m e) with (fun o => map (divided s) (table m e o)). rewrite !apply_word_divided by lra.
      rewrite !dot_divided_right. set (d := s ^ length (looped l (S k))). assert (Hd : 0 < d) by (apply pow_lt; exact Hs).
      cbv beta in Hk.
      set (x := dot (numbers e (first left)) (apply_word (table m e) (looped l (S k)) (ones (size m)))) in *.
      set (y := dot (numbers e (first right)) (apply_word (table m e) (looped l (S k)) (ones (size m)))) in *.
      apply (Rmult_lt_compat_r (/ d)) in Hk; [|apply Rinv_0_lt_compat; exact Hd].
      replace (y / d / eval (mass right) e) with (y / eval (mass right) e * / d) by (field; lra).
      replace (x / d / eval (mass left) e) with (x / eval (mass left) e * / d) by (field; lra). lra.
Qed.

(** No bound holds for the pair of secrets, in one of the directions. *)
Theorem check_loop_sound : forall m l, check_loop m l = true ->
  exists a b, In (a, b) (secrets m) /\ forall e, if swapped l then unbounded m e b a else unbounded m e a b.
Proof.
  intros m l. unfold check_loop. rewrite !andb_true_iff. intros [[[[Hm Hz] Hr] Hbody] H].
  destruct (nth_error (secrets m) (which l)) as [[a b]|] eqn:E; [|discriminate]. apply nth_error_In in E.
  exists a, b. split; [exact E|]. intros e.
  assert (Hrange : in_range m (before_loop l ++ body l ++ behind_loop l)).
  { apply Forall_forall. intros o Ho. rewrite forallb_forall in Hr. apply Nat.ltb_lt. apply Hr. exact Ho. }
  assert (Hne : body l <> []) by (intros B; rewrite B in Hbody; discriminate Hbody).
  destruct (swapped l); apply (check_ends_unbounded m l); assumption.
Qed.
