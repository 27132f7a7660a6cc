(* Exact intervals of one parameter: between its ends the line is cut at roots of polynomials, and each piece has one
   status. A point is outside where a constraint fails, safe where all claims hold, and violating elsewhere. *)
From Coq Require Import Reals ZArith QArith Qreals Lra Lia List Bool Arith.
From Paramverify Require Import Poly Goal Maps Roots Descartes.
Import ListNotations.
Local Open Scope R_scope.

(* --- the check ------------------------------------------------------------------------------------------------ *)

(* A root of a factor, by its place: a rational number, or the only root between two. *)
Record brk := Brk { brk_low : Q; brk_high : Q; brk_of : nat }.

Inductive line_status := LineOutside | LineSafe | LineViolating.

(* A polynomial in one variable as a list of whole numbers. *)
Fixpoint coefficients_of (p : poly) : list Z :=
  match p with Pc c => [c] | PX (Pc c) p => c :: coefficients_of p | PX (PX _ _) _ => [] end.
Fixpoint one_variable (p : poly) : bool :=
  match p with Pc _ => true | PX (Pc _) p => one_variable p | PX (PX _ _) _ => false end.

(* A claim, or a constraint, which may be strict; with the factors whose product it is. *)
Record signed := Signed { signed_poly : qpoly; signed_product : powers; signed_strict : bool }.
Definition signed_line (f : signed) : list Z := coefficients_of (num (signed_poly f)).
Definition signed_uses (f : signed) : list nat := map fst (snd (signed_product f)).

Section Line.

Variable factors : list qpoly.
Variables start stop : Q.
Variable breaks : list brk.
Variable cuts : list (list Q).
Variables claims constraints : list signed.

Definition factor_line (i : nat) : list Z := coefficients_of (num (factor factors i)).

(* No root between a and b, where the polynomial is not zero at some places between them. *)
Fixpoint clear (l : list Z) (a : Q) (marks : list Q) (b : Q) : bool :=
  match marks with
  | [] => no_root l a b
  | c :: marks => no_root l a c && negb (Z.eqb (line_sign l c) 0) && clear l c marks b
  end.

Definition clear_between (l : list Z) (a : Q) (marks : list Q) (b : Q) : bool :=
  clear l a (filter (fun c => qlt a c && qlt c b) marks) b.

Definition root_at (l : list Z) (k : brk) : bool :=
  if qsame (brk_low k) (brk_high k) then Z.eqb (line_sign l (brk_low k)) 0 else one_root l (brk_low k) (brk_high k).

Fixpoint all_roots (l : list Z) (a : Q) (ks : list brk) (marks : list Q) : bool :=
  match ks with
  | [] => clear_between l a marks stop
  | k :: ks => clear_between l a marks (brk_low k) && all_roots l (brk_high k) ks marks
  end.

Definition roots_known (i : nat) : bool :=
  all_roots (factor_line i) start (filter (fun k => Nat.eqb (brk_of k) i) breaks) (nth i cuts []).

Definition all_zero (l : list Z) : bool := forallb (Z.eqb 0) l.

Definition signed_ok (f : signed) : bool :=
  one_variable (num (signed_poly f)) && negb (Qeq_bool (fst (signed_product f)) 0) &&
  is_product factors (signed_poly f) (signed_product f) &&
  (all_zero (signed_line f) || forallb roots_known (signed_uses f)).

Fixpoint ascending (a : Q) (ks : list brk) : bool :=
  match ks with
  | [] => qlt a stop
  | k :: ks => qlt a (brk_low k) && qle (brk_low k) (brk_high k) && ascending (brk_high k) ks
  end.

Definition status_by (sign : signed -> Z) : line_status :=
  if existsb (fun c => if signed_strict c then (sign c <=? 0)%Z else (sign c <? 0)%Z) constraints then LineOutside
  else if forallb (fun f => (0 <=? sign f)%Z) claims then LineSafe else LineViolating.

Definition sign_here (x : Q) (f : signed) : Z := line_sign (signed_line f) x.
Definition sign_at_break (k : brk) (f : signed) : Z :=
  if existsb (Nat.eqb (brk_of k)) (signed_uses f) then 0%Z else sign_here (brk_low k) f.
Definition middle_of (a b : Q) : Q := ((a + b) * (1 # 2))%Q.

Fixpoint statuses (a : Q) (ks : list brk) : list line_status :=
  match ks with
  | [] => [status_by (sign_here (middle_of a stop)); status_by (sign_here stop)]
  | k :: ks => status_by (sign_here (middle_of a (brk_low k))) :: status_by (sign_at_break k) :: statuses (brk_high k) ks
  end.

(* The statuses of the first end, of what is between it and the first break, of this break, and so on. *)
Definition check_line : option (list line_status) :=
  if ascending start breaks && forallb (fun k => root_at (factor_line (brk_of k)) k) breaks &&
     forallb (fun p => one_variable (num p)) factors && forallb signed_ok (constraints ++ claims)
  then Some (status_by (sign_here start) :: statuses start breaks) else None.

(* --- what it says --------------------------------------------------------------------------------------------- *)

Definition only (x : R) : env := fun _ => x.

Definition fulfils (x : R) (c : signed) : Prop := below (signed_strict c) 0 (qeval (signed_poly c) (only x)).

Definition status_is (s : line_status) (x : R) : Prop :=
  match s with
  | LineOutside => exists c, In c constraints /\ ~ fulfils x c
  | LineSafe => (forall c, In c constraints -> fulfils x c) /\ (forall f, In f claims -> 0 <= qeval (signed_poly f) (only x))
  | LineViolating => (forall c, In c constraints -> fulfils x c) /\ exists f, In f claims /\ qeval (signed_poly f) (only x) < 0
  end.

(* The root for which a break stands, and no other one. *)
Definition stands_for (k : brk) (r : R) : Prop :=
  Q2R (brk_low k) <= r <= Q2R (brk_high k) /\ qeval (factor factors (brk_of k)) (only r) = 0 /\
  forall y, Q2R (brk_low k) <= y <= Q2R (brk_high k) -> qeval (factor factors (brk_of k)) (only y) = 0 -> y = r.

(* The roots ascend from r on, and the pieces behind r have these statuses. *)
Fixpoint pieces_are (r : R) (rs : list R) (ss : list line_status) : Prop :=
  match rs, ss with
  | [], [s; t] => r < Q2R stop /\ (forall x, r < x < Q2R stop -> status_is s x) /\ status_is t (Q2R stop)
  | r' :: rs, s :: t :: ss => r < r' /\ (forall x, r < x < r' -> status_is s x) /\ status_is t r' /\ pieces_are r' rs ss
  | _, _ => False
  end.

(* --- it is right ---------------------------------------------------------------------------------------------- *)

Lemma coefficients_ok : forall p x, one_variable p = true -> eval p (only x) = poly_at (coefficients_of p) x.
Proof.
  unfold poly_at. induction p as [c|q _ p IH]; intros x H; simpl; [lra|].
  destruct q as [c|]; [|discriminate]. simpl in *. rewrite IH by exact H. reflexivity.
Qed.

Definition agree (z : Z) (v : R) : Prop := ((0 < z)%Z <-> 0 < v) /\ ((z < 0)%Z <-> v < 0).

Lemma agree_scaled : forall z v w, agree z v -> 0 < w -> agree z (v / w).
Proof.
  intros z v w [A B] W. assert (I : 0 < / w) by now apply Rinv_0_lt_compat. unfold Rdiv, agree.
  rewrite A, B. split; split; intro H; nra.
Qed.

Lemma qeval_line : forall p x, one_variable (num p) = true ->
  qeval p (only x) = poly_at (coefficients_of (num p)) x / IZR (Zpos (pden p)).
Proof. intros p x H. unfold qeval. now rewrite coefficients_ok. Qed.

Lemma zero_line_iff : forall p x, one_variable (num p) = true ->
  (qeval p (only x) = 0 <-> poly_at (coefficients_of (num p)) x = 0).
Proof.
  intros p x H. rewrite qeval_line by exact H. pose proof (pos_IZR (pden p)) as P. split; intro E.
  - apply Rmult_eq_reg_r with (/ IZR (Zpos (pden p))); [|apply Rinv_neq_0_compat; lra]. unfold Rdiv in E. lra.
  - rewrite E. unfold Rdiv. lra.
Qed.

Lemma product_zero : forall l e, qeval (product_of factors l) e = 0 <-> exists i, In i (map fst l) /\ qeval (factor factors i) e = 0.
Proof.
  induction l as [|[i m] l IH]; intro e; cbn [product_of map fst In].
  - rewrite qeval_const, Q2R_1. split; [lra | intros (i & [] & _)].
  - rewrite qeval_mul, qeval_pow. split.
    + intro H. apply Rmult_integral in H as [H|H].
      * exists i. split; [now left|]. destruct (Req_dec (qeval (factor factors i) e) 0) as [|N]; [assumption|].
        exfalso. exact (pow_nonzero _ (Pos.to_nat m) N H).
      * apply IH in H as (j & J & E). exists j. split; [now right | exact E].
    + intros (j & [<-|J] & E).
      * rewrite E, pow_i by apply Pos2Nat.is_pos. lra.
      * assert (P : qeval (product_of factors l) e = 0) by (apply IH; now exists j). rewrite P. lra.
Qed.

Lemma signed_zero : forall f x, is_product factors (signed_poly f) (signed_product f) = true ->
  Qeq_bool (fst (signed_product f)) 0 = false ->
  (qeval (signed_poly f) (only x) = 0 <-> exists i, In i (signed_uses f) /\ qeval (factor factors i) (only x) = 0).
Proof.
  intros f x P C. unfold is_product in P. rewrite <- (qeq_eval _ _ P (only x)), qeval_mul, qeval_const.
  unfold signed_uses. rewrite <- product_zero. split; intro H.
  - apply Rmult_integral in H as [H|H]; [|exact H]. exfalso. rewrite <- Q2R_0 in H. apply eqR_Qeq in H.
    apply Qeq_bool_neq in C. contradiction.
  - rewrite H. lra.
Qed.

Lemma clear_ok : forall l marks a b x, clear l a marks b = true -> Q2R a < x < Q2R b -> poly_at l x <> 0.
Proof.
  induction marks as [|c marks IH]; intros a b x H X; cbn [clear] in H; [now apply (no_root_ok l a b)|].
  apply andb_prop in H as [H K]. apply andb_prop in H as [H N].
  destruct (Rtotal_order x (Q2R c)) as [L|[->|G]].
  - apply (no_root_ok l a c); [exact H | lra].
  - intro Z0. destruct (line_sign_ok l c) as [A B]. destruct (Z.eqb_spec (line_sign l c) 0) as [|W]; [discriminate|].
    assert ((0 < line_sign l c)%Z \/ (line_sign l c < 0)%Z) as [S|S] by lia; [apply A in S | apply B in S]; lra.
  - apply (IH c b); [exact K | lra].
Qed.

Lemma all_roots_ok : forall l marks ks a x, all_roots l a ks marks = true -> Q2R a < x < Q2R stop -> poly_at l x = 0 ->
  exists k, In k ks /\ Q2R (brk_low k) <= x <= Q2R (brk_high k).
Proof.
  intros l marks. induction ks as [|k ks IH]; intros a x H X E; cbn [all_roots] in H.
  - exfalso. exact (clear_ok _ _ _ _ _ H X E).
  - apply andb_prop in H as [H K]. destruct (Rlt_le_dec x (Q2R (brk_low k))) as [L|L].
    + exfalso. apply (clear_ok _ _ _ _ x H ltac:(lra) E).
    + destruct (Rle_lt_dec x (Q2R (brk_high k))) as [M|M]; [exists k; split; [now left | lra]|].
      destruct (IH _ x K ltac:(lra) E) as (j & J & Y). exists j. split; [now right | exact Y].
Qed.

Lemma root_at_ok : forall k, one_variable (num (factor factors (brk_of k))) = true ->
  root_at (factor_line (brk_of k)) k = true -> exists r, stands_for k r.
Proof.
  intros k V H. unfold root_at in H. destruct (qsame (brk_low k) (brk_high k)) eqn:E.
  - apply qsame_R in E. exists (Q2R (brk_low k)). unfold stands_for. split; [lra|]. split; [|intros y Y _; lra].
    apply zero_line_iff; [exact V|]. apply Z.eqb_eq in H. unfold factor_line in H.
    destruct (line_sign_ok (coefficients_of (num (factor factors (brk_of k)))) (brk_low k)) as [A B].
    rewrite H in A, B. destruct (Rtotal_order (poly_at (coefficients_of (num (factor factors (brk_of k)))) (Q2R (brk_low k))) 0)
      as [K|[K|K]]; [apply B in K; lia | exact K | apply A in K; lia].
  - destruct (one_root_ok _ _ _ H) as (r & R1 & R2 & R3). exists r. unfold stands_for. split; [lra|].
    split; [now apply zero_line_iff|]. intros y Y Z0. apply R3; [exact Y|]. now apply zero_line_iff in Z0.
Qed.

Lemma same_sign : forall l a b, a <= b -> (forall y, a <= y <= b -> poly_at l y <> 0) ->
  (0 < poly_at l a <-> 0 < poly_at l b) /\ (poly_at l a < 0 <-> poly_at l b < 0).
Proof.
  intros l a b A N. pose proof (N a ltac:(lra)) as Na. pose proof (N b ltac:(lra)) as Nb.
  assert (P : 0 < poly_at l a * poly_at l b).
  { destruct (Rlt_le_dec 0 (poly_at l a * poly_at l b)) as [|K]; [assumption|].
    destruct (root_between l a b A K) as (y & Y & E). exfalso. exact (N y Y E). }
  split; split; intro H; nra.
Qed.

Lemma status_by_ok : forall sign x, (forall f, In f (constraints ++ claims) -> agree (sign f) (qeval (signed_poly f) (only x))) ->
  status_is (status_by sign) x.
Proof.
  intros sign x H. unfold status_by.
  destruct (existsb _ constraints) eqn:E.
  - apply existsb_exists in E as (c & I & C). exists c. split; [exact I|].
    destruct (H c (in_or_app _ _ _ (or_introl I))) as [A B]. unfold fulfils.
    destruct (signed_strict c); simpl; intro K.
    + apply Z.leb_le in C. apply A in K. lia.
    + apply Z.ltb_lt in C. apply B in C. lra.
  - assert (F : forall c, In c constraints -> fulfils x c).
    { intros c I. destruct (H c (in_or_app _ _ _ (or_introl I))) as [A B].
      assert (C : (if signed_strict c then (sign c <=? 0)%Z else (sign c <? 0)%Z) = false).
      { destruct (if signed_strict c then _ else _) eqn:G; [|reflexivity]. rewrite <- E. symmetry. apply existsb_exists. now exists c. }
      unfold fulfils. destruct (signed_strict c); simpl.
      - apply Z.leb_gt in C. now apply A.
      - apply Z.ltb_ge in C. destruct (Rle_lt_dec 0 (qeval (signed_poly c) (only x))) as [|K]; [assumption|]. apply B in K. lia. }
    destruct (forallb _ claims) eqn:G.
    + split; [exact F|]. intros f I. destruct (H f (in_or_app _ _ _ (or_intror I))) as [A B].
      rewrite forallb_forall in G. specialize (G f I). apply Z.leb_le in G.
      destruct (Rle_lt_dec 0 (qeval (signed_poly f) (only x))) as [|K]; [assumption|]. apply B in K. lia.
    + split; [exact F|]. assert (X : existsb (fun f => negb (0 <=? sign f)%Z) claims = true).
      { clear - G. induction claims as [|f l IH]; [discriminate|]. simpl in *. destruct (0 <=? sign f)%Z; simpl in *; auto. }
      apply existsb_exists in X as (f & I & N). exists f. split; [exact I|].
      destruct (H f (in_or_app _ _ _ (or_intror I))) as [A B]. apply B. destruct (Z.leb_spec 0 (sign f)); [discriminate | lia].
Qed.

Hypothesis plain_factors : forallb (fun p => one_variable (num p)) factors = true.

Lemma plain_factor : forall i, one_variable (num (factor factors i)) = true.
Proof.
  intro i. unfold factor. destruct (Nat.lt_ge_cases i (length factors)) as [L|L].
  - rewrite forallb_forall in plain_factors. apply plain_factors. now apply nth_In.
  - now rewrite nth_overflow.
Qed.

Lemma sign_here_ok : forall f q, signed_ok f = true -> agree (sign_here q f) (qeval (signed_poly f) (only (Q2R q))).
Proof.
  intros f q H. unfold signed_ok in H. do 3 apply andb_prop in H as [H _].
  rewrite qeval_line by exact H. apply agree_scaled; [|apply pos_IZR]. apply line_sign_ok.
Qed.

Lemma all_zero_ok : forall l x, all_zero l = true -> poly_at l x = 0.
Proof.
  unfold poly_at. induction l as [|a l IH]; intros x H; [reflexivity|]. unfold all_zero in H. cbn [forallb] in H.
  apply andb_prop in H as [H K]. apply Z.eqb_eq in H. subst a. simpl. rewrite IH by exact K. lra.
Qed.

(* A claim is zero everywhere, or the roots of its factors are known. *)
Lemma signed_cases : forall f, signed_ok f = true ->
  (forall x, qeval (signed_poly f) (only x) = 0) \/
  (forall x, qeval (signed_poly f) (only x) = 0 <->
    exists i, In i (signed_uses f) /\ roots_known i = true /\ qeval (factor factors i) (only x) = 0).
Proof.
  intros f H. unfold signed_ok in H. apply andb_prop in H as [H U]. apply andb_prop in H as [H P].
  apply andb_prop in H as [V C]. apply negb_true_iff in C. apply orb_prop in U as [U|U].
  - left. intro x. apply zero_line_iff; [exact V|]. now apply all_zero_ok.
  - right. intro x. rewrite (signed_zero f x P C). rewrite forallb_forall in U. split.
    + intros (i & I & E). exists i. auto.
    + intros (i & I & _ & E). exists i. auto.
Qed.

Lemma zero_agrees : forall z v w, agree z v -> v = 0 -> w = 0 -> agree z w.
Proof. intros z v w A -> ->. exact A. Qed.

(* Between two places without a root a claim keeps its sign. *)
Lemma keeps_sign : forall f q x, signed_ok f = true ->
  (forall i y, In i (signed_uses f) -> roots_known i = true -> Rmin (Q2R q) x <= y <= Rmax (Q2R q) x ->
    qeval (factor factors i) (only y) <> 0) ->
  agree (sign_here q f) (qeval (signed_poly f) (only x)).
Proof.
  intros f q x H N. pose proof (sign_here_ok f q H) as A. destruct (signed_cases f H) as [E|E].
  - exact (zero_agrees _ _ _ A (E _) (E _)).
  - assert (V : one_variable (num (signed_poly f)) = true) by (unfold signed_ok in H; do 3 apply andb_prop in H as [H _]; exact H).
    assert (M : forall y, Rmin (Q2R q) x <= y <= Rmax (Q2R q) x -> poly_at (signed_line f) y <> 0).
    { intros y Y K. apply zero_line_iff in K; [|exact V]. apply E in K as (i & I & R & K). exact (N i y I R Y K). }
    assert (S : (0 < poly_at (signed_line f) (Q2R q) <-> 0 < poly_at (signed_line f) x) /\
      (poly_at (signed_line f) (Q2R q) < 0 <-> poly_at (signed_line f) x < 0)).
    { destruct (Rle_lt_dec (Q2R q) x) as [L|L].
      - apply same_sign; [exact L|]. intros y Y. apply M. rewrite Rmin_left, Rmax_right by exact L. exact Y.
      - destruct (same_sign (signed_line f) x (Q2R q) ltac:(lra)) as [X1 X2].
        + intros y Y. apply M. rewrite Rmin_right, Rmax_left by lra. exact Y.
        + split; now symmetry. }
    rewrite qeval_line by exact V. apply agree_scaled; [|apply pos_IZR]. destruct (line_sign_ok (signed_line f) q) as [B1 B2].
    destruct S as [S1 S2]. unfold agree, sign_here. fold (signed_line f). rewrite B1, B2. split; assumption.
Qed.

Lemma stands_in : forall ks rs k, Forall2 stands_for ks rs -> In k ks -> exists r, In (k, r) (combine ks rs) /\ stands_for k r.
Proof.
  intros ks rs k F. induction F as [|j r ks rs S F IH]; intros []; subst.
  - exists r. split; [now left | exact S].
  - destruct (IH H) as (x & X & Y). exists x. split; [now right | exact Y].
Qed.

Lemma later : forall ks rs a k r, ascending a ks = true -> Forall2 stands_for ks rs -> In (k, r) (combine ks rs) ->
  Q2R a < r < Q2R stop.
Proof.
  intros ks rs a k r A F. revert a A. induction F as [|j x ks rs S F IH]; intros a A I; [destruct I|].
  cbn [ascending] in A. apply andb_prop in A as [A B]. apply andb_prop in A as [A C]. apply qlt_R in A. apply qle_R in C.
  destruct S as (S & _). destruct I as [I|I].
  - inversion I; subst j x. split; [lra|]. clear - B S. destruct S as [_ S]. revert B S. generalize (brk_high k) as h.
    intros h B S. revert h B S. induction ks as [|j ks IH]; intros h B S; cbn [ascending] in B.
    + apply qlt_R in B. lra.
    + apply andb_prop in B as [B D]. apply andb_prop in B as [B C]. apply qlt_R in B. apply qle_R in C.
      apply (IH (brk_high j) D). lra.
  - destruct (IH _ B I). lra.
Qed.

Definition known_behind (r : R) (ks : list brk) (rs : list R) : Prop :=
  forall i x, roots_known i = true -> r < x < Q2R stop -> qeval (factor factors i) (only x) = 0 ->
  exists k, In (k, x) (combine ks rs) /\ brk_of k = i.

Lemma middle_ok : forall a b, Q2R a < Q2R b -> Q2R a < Q2R (middle_of a b) < Q2R b.
Proof. intros a b H. unfold middle_of. rewrite Q2R_mult, Q2R_plus. replace (Q2R (1 # 2)) with (/ 2) by (unfold Q2R; simpl; lra). lra. Qed.

Hypothesis all_ok : forall f, In f (constraints ++ claims) -> signed_ok f = true.

Lemma open_piece : forall a b x q, (forall i y, roots_known i = true -> a < y < b -> qeval (factor factors i) (only y) <> 0) ->
  a < x < b -> a < Q2R q < b -> status_is (status_by (sign_here q)) x.
Proof.
  intros a b x q N X Q. apply status_by_ok. intros f I. apply keeps_sign; [now apply all_ok|].
  intros i y _ R Y. apply N; [exact R|]. unfold Rmin, Rmax in Y. destruct (Rle_dec (Q2R q) x); lra.
Qed.

Lemma pieces_ok : forall ks rs a r, ascending a ks = true -> Forall2 stands_for ks rs -> r <= Q2R a ->
  known_behind r ks rs -> pieces_are r rs (statuses a ks).
Proof.
  induction ks as [|k ks IH]; intros rs a r A F La K; inversion F; subst; cbn [statuses pieces_are].
  - cbn [ascending] in A. apply qlt_R in A. split; [lra|]. split.
    + intros x X. destruct (middle_ok a stop A). apply (open_piece r (Q2R stop)); [|exact X | lra].
      intros i y R Y E. destruct (K i y R Y E) as (k & [] & _).
    + apply status_by_ok. intros f I. apply sign_here_ok. now apply all_ok.
  - rename y into r1, l' into rs1, H1 into S, H3 into F1.
    assert (Later : forall j x, In (j, x) (combine ks rs1) -> Q2R (brk_high k) < x < Q2R stop).
    { intros j x. cbn [ascending] in A. apply andb_prop in A as [_ B]. now apply (later ks rs1). }
    destruct (later _ _ _ k r1 A F (or_introl eq_refl)) as [_ Stop].
    cbn [ascending] in A. apply andb_prop in A as [A B]. apply andb_prop in A as [A C]. apply qlt_R in A. apply qle_R in C.
    destruct S as (S1 & S2 & S3). split; [lra|]. split; [|split].
    + intros x X. destruct (middle_ok a (brk_low k) A). apply (open_piece r r1); [|exact X | lra].
      intros i y R Y E. destruct (K i y R ltac:(lra) E) as (j & [J|J] & _); [inversion J; lra|].
      specialize (Later _ _ J). lra.
    + apply status_by_ok. intros f I. unfold sign_at_break. destruct (existsb _ (signed_uses f)) eqn:U.
      * assert (Z0 : qeval (signed_poly f) (only r1) = 0).
        { apply existsb_exists in U as (i & I1 & I2). apply Nat.eqb_eq in I2. subst i.
          destruct (signed_cases f (all_ok f I)) as [E|E]; [apply E|].
          pose proof (all_ok f I) as G. unfold signed_ok in G. apply andb_prop in G as [G _]. apply andb_prop in G as [G P].
          apply andb_prop in G as [_ G]. apply negb_true_iff in G. apply (signed_zero f r1 P G). now exists (brk_of k). }
        rewrite Z0. split; split; intro; (lia || lra).
      * apply keeps_sign; [now apply all_ok|]. intros i y I1 R Y E. rewrite Rmin_left, Rmax_right in Y by lra.
        destruct (K i y R ltac:(lra) E) as (j & [J|J] & Ji).
        -- inversion J; subst j. assert (T : existsb (Nat.eqb (brk_of k)) (signed_uses f) = true).
           { apply existsb_exists. exists i. split; [exact I1 | now apply Nat.eqb_eq]. } congruence.
        -- specialize (Later _ _ J). lra.
    + apply IH; [exact B | exact F1 | lra|]. intros i x R X E. destruct (K i x R ltac:(lra) E) as (j & [J|J] & Ji).
      * inversion J; lra.
      * now exists j.
Qed.

End Line.

(* There are roots that ascend, one for each break; and each piece of the line has the status that is given. *)
Theorem check_line_sound : forall factors start stop breaks cuts claims constraints ss,
  check_line factors start stop breaks cuts claims constraints = Some ss ->
  exists s rest rs, ss = s :: rest /\ Forall2 (stands_for factors) breaks rs /\
  status_is claims constraints s (Q2R start) /\ pieces_are stop claims constraints (Q2R start) rs rest.
Proof.
  intros factors start stop breaks cuts claims constraints ss H. unfold check_line in H.
  destruct (_ && _) eqn:E in H; [|discriminate]. inversion H; subst ss. clear H.
  apply andb_prop in E as [E Ok]. apply andb_prop in E as [E Plain]. apply andb_prop in E as [Asc Roots].
  rewrite forallb_forall in Ok, Roots.
  assert (X : exists rs, Forall2 (stands_for factors) breaks rs).
  { clear - Roots Plain. induction breaks as [|k ks IH]; [now exists []|].
    destruct (root_at_ok factors k (plain_factor factors Plain _) (Roots k (or_introl eq_refl))) as (r & R).
    destruct IH as (rs & F); [intros j J; apply Roots; now right|]. exists (r :: rs). now constructor. }
  destruct X as (rs & F). eexists. eexists. exists rs. split; [reflexivity|]. split; [exact F|]. split.
  - apply status_by_ok. intros f I. eapply sign_here_ok. now apply Ok.
  - eapply pieces_ok; eauto; [lra|]. intros i x R X Z0. unfold roots_known in R.
    destruct (all_roots_ok _ _ _ _ _ x R X) as (k & K & Y).
    { apply zero_line_iff; [now apply plain_factor | exact Z0]. }
    apply filter_In in K as [K I]. apply Nat.eqb_eq in I. destruct (stands_in _ _ _ k F K) as (r & In_r & S).
    exists k. split; [|exact I]. destruct S as (_ & _ & S). rewrite <- I in Z0. now rewrite (S x Y Z0).
Qed.
