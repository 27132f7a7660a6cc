(* Region maps: a box is cut again and again, and of each part something is proved: that all claims are true
   there, that no point of the domain is there, or that a claim fails at values of some variables. A claim is a
   number times powers of factors, so that the signs of the factors give its sign. *)
From Coq Require Import Reals ZArith QArith Qreals Lra Lia List Bool Arith.
From Paramverify Require Import Poly Goal Certificate Rule Bernstein RuleCore RuleBernstein Check Sound.
From Paramverify Require Export Parts.
Import ListNotations.
Local Open Scope R_scope.

(* --- the check ----------------------------------------------------------------------------------------------- *)

(* A number, and powers of factors by their places. *)
Definition powers := (Q * list (nat * positive))%type.

(* How a claim is known: by a proof, or by the signs of its factors on parts of the box. *)
Inductive shown := ByProof (c : cert) | BySigns (t : cuts unit).

(* What a part of the map is. A mirrored one says nothing of its own, see `Folds`. *)
Inductive part :=
  | Safe (l : list shown)
  | Outside (t : cuts unit)
  | Violating (i : nat) (at_ : list (nat * Q))
  | Mirrored
  | Undecided.

Section Check.

Variable rec : checker.
Variable factors : list qpoly.
Variable constant : option nat.  (* the variable that stands for the exponential of a number *)

Definition factor (i : nat) : qpoly := nth i factors (qconst 0).

Fixpoint product_of (l : list (nat * positive)) : qpoly :=
  match l with [] => qconst 1 | (i, m) :: l => qmul (qpow (factor i) m) (product_of l) end.

Definition is_product (p : qpoly) (w : powers) : bool := qeq (qmul (qconst (fst w)) (product_of (snd w))) p.

Definition even (m : positive) : bool := match m with xO _ => true | _ => false end.

Definition signs_of (b : box) (l : list (nat * positive)) : list (option comparison * positive) :=
  map (fun f => (weak_sign b (factor (fst f)), snd f)) l.

Definition vanishes (s : option comparison * positive) : bool := match fst s with Some Eq => true | _ => false end.

Fixpoint odd_signs (l : list (option comparison * positive)) (pos : bool) : bool :=
  match l with
  | [] => pos
  | (s, m) :: l =>
    if even m then odd_signs l pos
    else match s with Some Gt => odd_signs l pos | Some Lt => odd_signs l (negb pos) | _ => false end
  end.

(* The product is nowhere negative. *)
Definition nonneg_product (b : box) (w : powers) : bool :=
  let l := signs_of b (snd w) in existsb vanishes l || odd_signs l (qle 0 (fst w)).

(* A constraint is nowhere fulfilled. *)
Definition nowhere (g : goal) : bool := existsb (fails g) (seq 0 (length (gconds g))).

Definition is_shown (g : goal) (p : qpoly) (w : powers) (s : shown) : bool :=
  match s with
  | ByProof c => rec (for_poly (match constant with Some k => with_interval g k None | None => g end) p) c
  | BySigns t => on_parts (fun h => nonneg_product (gbox h) w || nowhere h) g t
  end.

Fixpoint all_shown (g : goal) (claims : list (qpoly * powers)) (l : list shown) : bool :=
  match claims, l with
  | [], [] => true
  | (p, w) :: claims, s :: l => is_shown g p w s && all_shown g claims l
  | _, _ => false
  end.

(* The sign of a product of powers at values of some variables, where no factor is zero. *)
Fixpoint strict_product (b : box) (at_ : list (nat * Q)) (l : list (nat * positive)) (pos : bool) : option bool :=
  match l with
  | [] => Some pos
  | (i, m) :: l =>
    match strict_sign b (with_values at_ (factor i)) with
    | Some s => strict_product b at_ l (if even m then pos else Bool.eqb pos s)
    | None => None
    end
  end.

Definition fulfilled (g : goal) (at_ : list (nat * Q)) (c : cond) : bool :=
  match c with
  | Some (p, strict) =>
    negb (mentions at_ p) ||
    (let q := num (with_values at_ p) in if strict then positive_on (gbox g) q else nonneg_on (gbox g) q)
  | None => true
  end.

Definition fails_there (g : goal) (w : powers) (at_ : list (nat * Q)) : bool :=
  values_inside (gbox g) at_ && facts_apart g at_ && forallb (fulfilled g at_) (gconds g) &&
  (qlt 0 (fst w) || qlt (fst w) 0) &&
  match strict_product (gbox g) at_ (snd w) (qlt 0 (fst w)) with Some false => true | _ => false end.

Fixpoint descends (b : box) (l : list nat) : bool :=
  match l with
  | [] => false
  | k :: l =>
    existsb (fun j => match at_axis b k, at_axis b j with Some i, Some m => qle (hi m) (lo i) | _, _ => false end) l
    || descends b l
  end.

Definition check_part (claims : list (qpoly * powers)) (folds : list (list nat)) (g : goal) (r : part) : bool :=
  match r with
  | Safe l => all_shown g claims l
  | Outside t => on_parts nowhere g t
  | Violating i at_ => match nth_error claims i with Some (_, w) => fails_there g w at_ | None => false end
  | Mirrored => existsb (descends (gbox g)) folds
  | Undecided => true
  end.

(* The polynomial of the goal plays no part. What is returned are the parts, with their boxes. *)
Definition check_region (claims : list (qpoly * powers)) (folds : list (list nat)) (g : goal) (t : cuts part) :
  option (list (goal * part)) :=
  if forallb (fun c => is_product (fst c) (snd c)) claims then
    match parts_of g t [] with
    | Some l => if forallb (fun x => check_part claims folds (fst x) (snd x)) l then Some l else None
    | None => None
    end
  else None.

(* --- it is right ------------------------------------------------------------------------------------------- *)

(* What a part says of a point of the domain. *)
Definition says (g : goal) (claims : list (qpoly * powers)) (e : env) (r : part) : Prop :=
  match r with
  | Safe _ => forall p, In p (map fst claims) -> 0 <= qeval p e
  | Outside _ => False
  | Violating i at_ => exists p, nth_error (map fst claims) i = Some p /\
      dom g (set_values at_ e) /\ qeval p (set_values at_ e) < 0
  | Mirrored | Undecided => True
  end.

Hypothesis rec_honest : honest rec.

Lemma even_ok : forall m, even m = true -> exists n, m = xO n.
Proof. intros [n|n|] H; try discriminate. now exists n. Qed.

Lemma odd_ok : forall m, even m = false -> forall n, m <> xO n.
Proof. intros [n|n|] H m; try discriminate. Qed.

Lemma odd_signs_ok : forall b e, in_box b e -> forall l acc (pos : bool),
  (if pos then 0 <= acc else acc <= 0) -> odd_signs (signs_of b l) pos = true -> 0 <= acc * qeval (product_of l) e.
Proof.
  intros b e B. induction l as [|[i m] l IH]; intros acc pos A H.
  - simpl in *. subst pos. rewrite qeval_const, Q2R_1. lra.
  - cbn [product_of]. rewrite qeval_mul, qeval_pow, <- Rmult_assoc.
    cbn [signs_of map fst snd odd_signs] in H. fold (signs_of b l) in H.
    destruct (even m) eqn:M.
    + apply even_ok in M as [n ->]. apply (IH _ pos); [|exact H]. pose proof (even_power (qeval (factor i) e) n).
      destruct pos; [now apply Rmult_le_pos|]. assert (0 <= - acc * qeval (factor i) e ^ Pos.to_nat n~0) by
        (apply Rmult_le_pos; lra). lra.
    + destruct (odd_power (qeval (factor i) e) m (odd_ok m M)) as (y & Y & ->).
      pose proof (weak_sign_ok b (factor i) e B) as W.
      destruct (weak_sign b (factor i)) as [[| |]|]; try discriminate H.
      * apply (IH _ (negb pos)); [|exact H].
        assert (K : 0 <= - qeval (factor i) e * y) by (apply Rmult_le_pos; lra).
        destruct pos; simpl.
        -- assert (0 <= acc * (- qeval (factor i) e * y)) by now apply Rmult_le_pos. lra.
        -- assert (0 <= - acc * (- qeval (factor i) e * y)) by (apply Rmult_le_pos; lra). lra.
      * apply (IH _ pos); [|exact H].
        assert (K : 0 <= qeval (factor i) e * y) by now apply Rmult_le_pos.
        destruct pos; simpl.
        -- now apply Rmult_le_pos.
        -- assert (0 <= - acc * (qeval (factor i) e * y)) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma vanishes_ok : forall b e, in_box b e -> forall l, existsb vanishes (signs_of b l) = true ->
  qeval (product_of l) e = 0.
Proof.
  intros b e B. induction l as [|[i m] l IH]; intro H; [discriminate|].
  cbn [signs_of map existsb] in H. fold (signs_of b l) in H. cbn [product_of]. rewrite qeval_mul, qeval_pow.
  apply orb_prop in H as [H|H]; [|rewrite (IH H); lra].
  unfold vanishes in H. cbn [fst snd] in H. pose proof (weak_sign_ok b (factor i) e B) as W.
  destruct (weak_sign b (factor i)) as [[| |]|]; try discriminate H. rewrite W, pow_i by lia. lra.
Qed.

Lemma nonneg_product_ok : forall b w p e, nonneg_product b w = true -> is_product p w = true -> in_box b e ->
  0 <= qeval p e.
Proof.
  intros b [a l] p e H E B. unfold is_product in E. apply qeq_eval with (e := e) in E. rewrite <- E.
  cbn [fst snd] in *. rewrite qeval_mul, qeval_const. apply orb_prop in H as [H|H].
  - rewrite (vanishes_ok b e B l H). lra.
  - apply (odd_signs_ok b e B l (Q2R a) (qle 0 a)); [|exact H]. destruct (qle 0 a) eqn:L.
    + apply qle_R in L. now rewrite Q2R_0 in L.
    + assert (K : qlt a 0 = true) by (unfold qlt, qle in *; now rewrite L).
      apply qlt_R in K. rewrite Q2R_0 in K. lra.
Qed.

Lemma nowhere_ok : forall g e, nowhere g = true -> dom g e -> False.
Proof. intros g e H D. apply existsb_exists in H as (i & _ & H). exact (fails_sound _ _ _ H D). Qed.

Lemma is_shown_ok : forall g p w s e, is_shown g p w s = true -> is_product p w = true -> dom g e -> 0 <= qeval p e.
Proof.
  intros g p w [c|t] e H E D; cbn [is_shown] in H.
  - apply rec_honest in H. eapply holds_for_poly; [|exact H]. destruct constant as [k|]; [|exact D].
    apply dom_with_interval; [assumption|]. discriminate.
  - apply (on_parts_ok _ _ _ _ _ _ H D). intros h K Dh. apply orb_prop in K as [K|K].
    + exact (nonneg_product_ok _ _ _ _ K E (proj1 Dh)).
    + destruct (nowhere_ok _ _ K Dh).
Qed.

Lemma all_shown_ok : forall g e, dom g e -> forall claims l,
  forallb (fun c => is_product (fst c) (snd c)) claims = true -> all_shown g claims l = true ->
  forall p, In p (map fst claims) -> 0 <= qeval p e.
Proof.
  intros g e D. induction claims as [|[q w] claims IH]; intros [|s l] E H p K; try discriminate; [destruct K|].
  cbn [all_shown forallb fst snd] in *. apply andb_prop in H as [H1 H2]. apply andb_prop in E as [E1 E2].
  destruct K as [<-|K]; [exact (is_shown_ok _ _ _ _ _ H1 E1 D) | exact (IH l E2 H2 p K)].
Qed.

Lemma strict_product_ok : forall b at_ e, in_box b e -> forall l acc (pos : bool),
  (if pos then 0 < acc else acc < 0) -> strict_product b at_ l pos = Some false ->
  acc * qeval (product_of l) (set_values at_ e) < 0.
Proof.
  intros b at_ e B. induction l as [|[i m] l IH]; intros acc pos A H.
  - cbn [strict_product product_of] in *. inversion H; subst. rewrite qeval_const, Q2R_1. lra.
  - cbn [product_of strict_product] in *. rewrite qeval_mul, qeval_pow, <- Rmult_assoc.
    pose proof (strict_sign_ok b (with_values at_ (factor i)) e B) as S.
    destruct (strict_sign b (with_values at_ (factor i))) as [s|]; [|discriminate].
    rewrite with_values_ok in S. set (x := qeval (factor i) (set_values at_ e)) in *.
    apply (IH _ _) with (2 := H). clear H IH.
    assert (N : x <> 0) by (destruct s; lra).
    destruct (even m) eqn:M.
    + apply even_ok in M as [n ->]. pose proof (even_power x n). assert (x ^ Pos.to_nat n~0 <> 0) by now apply pow_nonzero.
      destruct pos; [apply Rmult_lt_0_compat; lra|].
      assert (0 < - acc * x ^ Pos.to_nat n~0) by (apply Rmult_lt_0_compat; lra). lra.
    + destruct (odd_power x m (odd_ok m M)) as (y & Y & E). pose proof (pow_nonzero x (Pos.to_nat m) N) as Z.
      rewrite E in *. assert (Py : 0 < y) by (destruct Y as [Y|Y]; [assumption|]; subst y; lra).
      destruct s, pos; simpl.
      * apply Rmult_lt_0_compat; [assumption|]. now apply Rmult_lt_0_compat.
      * assert (0 < - acc * (x * y)) by (apply Rmult_lt_0_compat; [lra | now apply Rmult_lt_0_compat]). lra.
      * assert (0 < acc * (- x * y)) by (apply Rmult_lt_0_compat; [lra | apply Rmult_lt_0_compat; lra]). lra.
      * assert (0 < - acc * (- x * y)) by (apply Rmult_lt_0_compat; [lra | apply Rmult_lt_0_compat; lra]). lra.
Qed.

Lemma fulfilled_ok : forall g at_ c e, fulfilled g at_ c = true -> in_box (gbox g) e -> cond_holds e c ->
  cond_holds (set_values at_ e) c.
Proof.
  intros g at_ [[p s]|] e H B C; [|exact I]. simpl in *. apply orb_prop in H as [H|H].
  - apply negb_true_iff in H. rewrite not_mentioned by assumption. exact C.
  - destruct s; simpl in *; rewrite <- with_values_ok.
    + apply qeval_pos. exact (positive_on_ok _ _ _ H B).
    + apply qeval_sign. exact (nonneg_on_ok _ _ _ H B).
Qed.

Lemma fails_there_ok : forall g p w at_ e, fails_there g w at_ = true -> is_product p w = true -> dom g e ->
  dom g (set_values at_ e) /\ qeval p (set_values at_ e) < 0.
Proof.
  intros g p [a l] at_ e H E (B & C & F). unfold fails_there in H. cbn [fst snd] in *.
  apply andb_prop in H as [H H5]. apply andb_prop in H as [H H4]. apply andb_prop in H as [H H3].
  apply andb_prop in H as [H1 H2]. split; [split; [|split]|].
  - now apply values_inside_ok.
  - intros c K. rewrite forallb_forall in H3. exact (fulfilled_ok _ _ _ _ (H3 c K) B (C c K)).
  - intros f K. unfold facts_apart in H2. rewrite forallb_forall in H2. exact (facts_apart_ok _ _ _ (H2 f K) (F f K)).
  - unfold is_product in E. apply qeq_eval with (e := set_values at_ e) in E. rewrite <- E. cbn [fst snd].
    rewrite qeval_mul, qeval_const.
    destruct (strict_product (gbox g) at_ l (qlt 0 a)) as [[|]|] eqn:S; try discriminate.
    apply (strict_product_ok _ _ _ B _ _ _) with (2 := S). destruct (qlt 0 a) eqn:P.
    + apply qlt_R in P. rewrite Q2R_0 in P. exact P.
    + simpl in H4. apply qlt_R in H4. rewrite Q2R_0 in H4. exact H4.
Qed.

Lemma check_part_ok : forall claims folds g r e, forallb (fun c => is_product (fst c) (snd c)) claims = true ->
  check_part claims folds g r = true -> dom g e -> says g claims e r.
Proof.
  intros claims folds g [l|t|i at_| |] e E H D; cbn [check_part says] in *; try exact I.
  - exact (all_shown_ok g e D claims l E H).
  - apply (on_parts_ok _ _ _ _ _ _ H D). intros h K Dh. exact (nowhere_ok _ _ K Dh).
  - destruct (nth_error claims i) as [[p w]|] eqn:N; [|discriminate]. exists p.
    split; [now rewrite nth_error_map, N|]. apply nth_error_In in N. rewrite forallb_forall in E.
    exact (fails_there_ok g p w at_ e H (E _ N) D).
Qed.

(* The parts tile the box, and each is what it says, at all its points of the domain. *)
Theorem check_region_sound : forall claims folds g t l, check_region claims folds g t = Some l ->
  (forall e, dom g e -> exists h r, In (h, r) l /\ dom h e) /\
  (forall h r e, In (h, r) l -> dom h e -> dom g e /\ says h claims e r).
Proof.
  intros claims folds g t l H. unfold check_region in H.
  destruct (forallb (fun c => is_product (fst c) (snd c)) claims) eqn:E; [|discriminate].
  destruct (parts_of g t []) as [m|] eqn:P; [|discriminate].
  destruct (forallb (fun x => check_part claims folds (fst x) (snd x)) m) eqn:K; [|discriminate].
  inversion H; subst m. split.
  - intros e D. destruct (parts_reach _ _ _ _ _ _ P D) as (h & r & I & R & _). exists h, r. tauto.
  - intros h r e I D. split.
    + destruct (parts_inside _ _ _ _ _ _ _ P I) as [[]|N]. exact (N e D).
    + rewrite forallb_forall in K. exact (check_part_ok claims folds h r e E (K _ I) D).
Qed.

End Check.

Corollary check_map_sound : forall lemmas factors constant claims folds g t l, (forall h, In h lemmas -> holds h) ->
  check_region (check max_depth lemmas) factors constant claims folds g t = Some l ->
  (forall e, dom g e -> exists h r, In (h, r) l /\ dom h e) /\
  (forall h r e, In (h, r) l -> dom h e -> dom g e /\ says h claims e r).
Proof.
  intros lemmas factors constant claims folds g t l L H.
  refine (check_region_sound (check max_depth lemmas) factors constant _ claims folds g t l H).
  intros h c K. exact (check_sound max_depth lemmas h c L K).
Qed.
