(* Compositions of releases whose masses are rational: delta for a given ratio, and the least ratio for a given delta,
   exactly. A release is a list of pairs: the probabilities of an output under the one and under the other input. *)
From Coq Require Import Reals ZArith QArith Qreals Lra Lia List Bool Arith.
Import ListNotations.
Local Open Scope R_scope.

Definition output := (R * R)%type.

(* The largest P(S) - c * Q(S) of all sets S of outputs. *)
Fixpoint delta (c : R) (l : list output) : R :=
  match l with [] => 0 | a :: l => Rmax 0 (fst a - c * snd a) + delta c l end.

Definition both (a b : output) : output := (fst a * fst b, snd a * snd b).

(* One output after the other, each release with randomness of its own. *)
Fixpoint composed (releases : list (list output)) : list output :=
  match releases with
  | [] => [(1, 1)]
  | r :: releases => flat_map (fun a => map (both a) (composed releases)) r
  end.

Definition nonneg (a : output) : Prop := 0 <= fst a /\ 0 <= snd a.
Definition all_nonneg (l : list output) : Prop := forall a, In a l -> nonneg a.

(* --- adaptive releases ------------------------------------------------------------------------------------------ *)

(* A tree of releases: which release comes next depends on the outputs before. *)
Inductive adaptive := Done | Next (l : list (output * adaptive)).

Fixpoint outputs_of (t : adaptive) : list output :=
  match t with
  | Done => [(1, 1)]
  | Next l =>
    (fix all l := match l with [] => [] | b :: l => map (both (fst b)) (outputs_of (snd b)) ++ all l end) l
  end.

Lemma delta_app : forall c l m, delta c (l ++ m) = delta c l + delta c m.
Proof. intros c. induction l as [|a l IH]; intro m; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma delta_nonneg : forall c l, 0 <= delta c l.
Proof. intros c. induction l as [|a l IH]; simpl; [lra|]. pose proof (Rmax_l 0 (fst a - c * snd a)). lra. Qed.

Lemma max_scaled : forall p x, 0 <= p -> Rmax 0 (p * x) = p * Rmax 0 x.
Proof.
  intros p x P. unfold Rmax. destruct (Rle_dec 0 x) as [X|X], (Rle_dec 0 (p * x)) as [Y|Y]; try lra; nra.
Qed.

Lemma delta_scaled : forall a l c, 0 <= c -> nonneg a -> all_nonneg l ->
  (0 < fst a -> delta c (map (both a) l) = fst a * delta (c * snd a / fst a) l) /\
  (fst a = 0 -> delta c (map (both a) l) = 0).
Proof.
  intros [p q] l c C [P Q] N. cbn [fst snd] in *. induction l as [|b l IH]; cbn [map delta both fst snd]; [split; intros; ring|].
  destruct IH as [I1 I2]; [intros x X; apply N; now right|]. destruct (N b (or_introl eq_refl)) as [B1 B2]. split; intro E.
  - rewrite (I1 E), Rmult_plus_distr_l. f_equal. rewrite <- max_scaled by lra. f_equal. field. lra.
  - rewrite (I2 E). subst p. rewrite Rmax_left; [ring|]. assert (0 <= c * (q * snd b)) by (repeat apply Rmult_le_pos; lra). lra.
Qed.

(* A release that has at least the delta of another one has it after any output before. *)
Lemma dominated_after : forall a l m c, 0 <= c -> nonneg a -> all_nonneg l -> all_nonneg m ->
  (forall d, 0 <= d -> delta d l <= delta d m) -> delta c (map (both a) l) <= delta c (map (both a) m).
Proof.
  intros a l m c C A L M D. destruct (delta_scaled a l c C A L) as [L1 L2], (delta_scaled a m c C A M) as [M1 M2].
  destruct A as [P Q]. destruct (Req_dec (fst a) 0) as [E|E]; [rewrite L2, M2 by assumption; lra|].
  assert (0 < fst a) by lra. rewrite L1, M1 by assumption. apply Rmult_le_compat_l; [lra|]. apply D.
  apply Rmult_le_pos; [now apply Rmult_le_pos|]. left. now apply Rinv_0_lt_compat.
Qed.

Lemma both_comm : forall a b, both a b = both b a.
Proof. intros [p q] [r s]. unfold both. cbn [fst snd]. f_equal; ring. Qed.

Lemma delta_exchanged : forall c l m,
  delta c (flat_map (fun a => map (both a) m) l) = delta c (flat_map (fun b => map (both b) l) m).
Proof.
  intros c l m. induction l as [|a l IH].
  - cbn [flat_map]. induction m as [|b m IHm]; [reflexivity|]. exact IHm.
  - cbn [flat_map]. rewrite delta_app, IH. clear IH. set (f := fun b => map (both b) l).
    set (h := fun b => map (both b) (a :: l)). induction m as [|b m IHm]; [simpl; ring|].
    assert (H : h b = both b a :: f b) by reflexivity.
    cbn [flat_map map]. rewrite !delta_app, <- IHm, H. cbn [delta]. rewrite (both_comm a b). ring.
Qed.

Lemma delta_each : forall c (f h : output -> list output) l,
  (forall a, In a l -> delta c (f a) <= delta c (h a)) -> delta c (flat_map f l) <= delta c (flat_map h l).
Proof.
  intros c f h. induction l as [|a l IH]; intro H; cbn [flat_map]; [lra|]. rewrite !delta_app.
  pose proof (H a (or_introl eq_refl)). pose proof (IH (fun b B => H b (or_intror B))). lra.
Qed.

Lemma composed_nonneg : forall rs, (forall r, In r rs -> all_nonneg r) -> all_nonneg (composed rs).
Proof.
  induction rs as [|r rs IH]; intros H a A; cbn [composed] in A.
  - destruct A as [<-|[]]. split; simpl; lra.
  - apply in_flat_map in A as (b & B & A). apply in_map_iff in A as (x & <- & X).
    destruct (H r (or_introl eq_refl) b B) as [B1 B2]. destruct (IH (fun s S => H s (or_intror S)) x X) as [X1 X2].
    split; cbn [both fst snd]; now apply Rmult_le_pos.
Qed.

(* Each release has at most the delta of the one that is given for its place, for every c from 0 on. *)
Fixpoint dominated (rs : list (list output)) (t : adaptive) : Prop :=
  match rs, t with
  | [], Done => True
  | r :: rs, Next l =>
    all_nonneg (map fst l) /\ (forall c, 0 <= c -> delta c (map fst l) <= delta c r) /\
    (fix all l := match l with [] => True | b :: l => dominated rs (snd b) /\ all l end) l
  | _, _ => False
  end.

(* No adaptive composition has a larger delta than the releases that dominate it, made independently. *)
Theorem adaptive_composition : forall rs, (forall r, In r rs -> all_nonneg r) -> forall t, dominated rs t ->
  all_nonneg (outputs_of t) /\ forall c, 0 <= c -> delta c (outputs_of t) <= delta c (composed rs).
Proof.
  induction rs as [|r rs IH]; intros N [|l] D; try destruct D.
  - split; [|intros; cbn; lra]. intros a [<-|[]]. split; simpl; lra.
  - rename H into A. destruct H0 as [M D].
    assert (Nr : forall s, In s rs -> all_nonneg s) by (intros s S; apply N; now right).
    assert (K : all_nonneg (outputs_of (Next l)) /\
      forall c, 0 <= c -> delta c (outputs_of (Next l)) <= delta c (flat_map (fun a => map (both a) (composed rs)) (map fst l))).
    { clear M. induction l as [|[a t] l IHl]; cbn [outputs_of map flat_map fst snd] in *.
      - split; [intros a []|intros; lra].
      - destruct D as [D1 D2]. destruct (IH Nr t D1) as [T1 T2]. destruct IHl as [L1 L2]; [|assumption|].
        { intros x X. apply A. now right. }
        pose proof (A a (or_introl eq_refl)) as Aa. split.
        + intros x X. apply in_app_or in X as [X|X]; [|now apply L1]. apply in_map_iff in X as (y & <- & Y).
          destruct Aa, (T1 y Y). split; cbn [both fst snd]; now apply Rmult_le_pos.
        + intros c C. rewrite !delta_app. apply Rplus_le_compat; [|now apply L2].
          apply dominated_after; auto. now apply composed_nonneg. }
    destruct K as [K1 K2]. split; [exact K1|]. intros c C. apply Rle_trans with (1 := K2 c C).
    cbn [composed]. rewrite (delta_exchanged c (map fst l)), (delta_exchanged c r). apply delta_each. intros b B.
    pose proof (composed_nonneg rs Nr) as Nc. apply dominated_after; auto. apply N. now left.
Qed.

(* --- whole numbers ------------------------------------------------------------------------------------------------ *)

(* Masses of outputs, to be divided by a number; outputs with the same quotient are put together. *)
Definition mass := (Z * Z)%type.

Definition multiply (a b : mass) : mass := ((fst a * fst b)%Z, (snd a * snd b)%Z).
Definition add (a b : mass) : mass := ((fst a + fst b)%Z, (snd a + snd b)%Z).
Definition side (a b : mass) : comparison := Z.compare (fst b * snd a) (fst a * snd b).

Fixpoint merge (l : list mass) : list mass -> list mass :=
  fix inner (m : list mass) : list mass :=
    match l, m with
    | [], _ => m
    | _, [] => l
    | a :: k, b :: n =>
      match side a b with Eq => add a b :: merge k n | Lt => a :: merge k m | Gt => b :: inner n end
    end.

Fixpoint together (l : list mass) : list mass :=
  match l with
  | [] => []
  | a :: l =>
    match together l with
    | b :: m => match side a b with Eq => add a b :: m | _ => a :: b :: m end
    | [] => [a]
    end
  end.

Definition released (r l : list mass) : list mass :=
  together (fold_right (fun a found => merge (map (multiply a) l) found) [] r).

(* Nothing where there are more outputs than a limit. *)
Fixpoint again (limit n : nat) (r l : list mass) : option (list mass) :=
  match n with
  | O => Some l
  | S n => let m := released r l in if Nat.leb (length m) limit then again limit n r m else None
  end.

(* Releases: masses, by what they are divided, and how often each is made. *)
Definition releases := list (list mass * Z * nat).

Fixpoint masses_of (limit : nat) (rs : releases) : option (list mass * Z) :=
  match rs with
  | [] => Some ([(1, 1)%Z], 1%Z)
  | (r, b, n) :: rs =>
    match masses_of limit rs with
    | Some (l, c) => option_map (fun m => (m, (b ^ Z.of_nat n * c)%Z)) (again limit n r l)
    | None => None
    end
  end.

Definition sum (l : list Z) : Z := fold_right Z.add 0%Z l.

Definition distributions (x : list mass * Z * nat) : bool :=
  match x with (r, b, _) =>
    (0 <? b)%Z && forallb (fun a => (0 <=? fst a)%Z && (0 <=? snd a)%Z) r &&
    (sum (map fst r) =? b)%Z && (sum (map snd r) =? b)%Z
  end.

Definition excess (c : Q) (l : list mass) : Z :=
  sum (map (fun a => Z.max 0 (fst a * QDen c - Qnum c * snd a)) l).

(* Delta against a number. *)
Definition against (c s : Q) (x : list mass * Z) : comparison :=
  Z.compare (excess c (fst x) * QDen s) (Qnum s * (snd x * QDen c)).

Definition at_most (o : comparison) : bool := match o with Gt => false | _ => true end.
Definition equal (o : comparison) : bool := match o with Eq => true | _ => false end.

Fixpoint all_masses (limit : nat) (ds : list releases) : option (list (list mass * Z)) :=
  match ds with
  | [] => Some []
  | d :: ds =>
    match masses_of limit d, all_masses limit ds with Some x, Some l => Some (x :: l) | _, _ => None end
  end.

(* The largest delta of some directions, for a ratio. *)
Definition check_exact_delta (limit : nat) (ds : list releases) (c s : Q) : option bool :=
  option_map (fun l => forallb (forallb distributions) ds && Qle_bool 0 c &&
    forallb (fun x => at_most (against c s x)) l && existsb (fun x => equal (against c s x)) l) (all_masses limit ds).

(* Some output is as likely as this times the other probability, or more. *)
Definition reaches (r : Q) (l : list mass) : bool :=
  existsb (fun a => (0 <? snd a)%Z && (Qnum r * snd a <=? fst a * QDen r)%Z) l.

(* The least ratio from 1 on with at most this delta. *)
Definition check_exact_ratio (limit : nat) (ds : list releases) (d r : Q) : option bool :=
  option_map (fun l => forallb (forallb distributions) ds && Qle_bool 1 r &&
    forallb (fun x => at_most (against r d x)) l &&
    (Qeq_bool r 1 || existsb (fun x => equal (against r d x) && reaches r (fst x)) l)) (all_masses limit ds).

(* --- they are right -------------------------------------------------------------------------------------------------- *)

Definition shared (b : Z) (a : mass) : output := (IZR (fst a) / IZR b, IZR (snd a) / IZR b).

(* The releases of a direction, each as often as it is made. *)
Definition outputs (rs : releases) : list (list output) :=
  flat_map (fun x => match x with (r, b, n) => repeat (map (shared b) r) n end) rs.

Definition natural (a : mass) : Prop := (0 <= fst a /\ 0 <= snd a)%Z.
Definition naturals (l : list mass) : Prop := forall a, In a l -> natural a.

Lemma shared_nonneg : forall b a, (0 < b)%Z -> natural a -> nonneg (shared b a).
Proof.
  intros b a B [P Q]. apply IZR_lt in B. apply IZR_le in P, Q.
  split; cbn [shared fst snd]; apply Rmult_le_pos; auto; left; now apply Rinv_0_lt_compat.
Qed.

Lemma shares_nonneg : forall b l, (0 < b)%Z -> naturals l -> all_nonneg (map (shared b) l).
Proof. intros b l B N a A. apply in_map_iff in A as (x & <- & X). now apply shared_nonneg; [|apply N]. Qed.

Lemma alike : forall b c x y, (0 < b)%Z -> 0 <= c -> natural x -> natural y -> side x y = Eq ->
  Rmax 0 (fst (shared b (add x y)) - c * snd (shared b (add x y))) =
  Rmax 0 (fst (shared b x) - c * snd (shared b x)) + Rmax 0 (fst (shared b y) - c * snd (shared b y)).
Proof.
  intros b c [p q] [r s] B C [P Q] [R0 S] E. unfold side in E. apply Z.compare_eq in E. cbn [fst snd] in *.
  apply (f_equal IZR) in E. rewrite !mult_IZR in E. apply IZR_lt in B. apply IZR_le in P, Q, R0, S.
  cbn [shared add fst snd]. rewrite !plus_IZR.
  assert (V : forall u v, u / IZR b - c * (v / IZR b) = / IZR b * (u - c * v)) by (intros; field; lra).
  assert (I : 0 <= / IZR b) by (left; now apply Rinv_0_lt_compat).
  rewrite !V, !max_scaled by exact I. rewrite <- Rmult_plus_distr_l. f_equal.
  set (u := IZR p) in *. set (v := IZR q) in *. set (w := IZR r) in *. set (z := IZR s) in *. clearbody u v w z.
  destruct (Rle_lt_dec (u - c * v) 0) as [X|X], (Rle_lt_dec (w - c * z) 0) as [Y|Y].
  - rewrite !Rmax_left by lra. ring.
  - rewrite (Rmax_left 0 (u - c * v)), (Rmax_right 0 (w - c * z)) by lra.
    assert (u - c * v = 0).
    { destruct (Req_dec w 0) as [W|W]; [assert (0 <= c * z) by (now apply Rmult_le_pos); lra|].
      assert (w * (u - c * v) = u * (w - c * z)) by nra. assert (0 <= u * (w - c * z)) by (apply Rmult_le_pos; lra).
      assert (0 < w) by lra. nra. }
    rewrite Rmax_right; lra.
  - rewrite (Rmax_right 0 (u - c * v)), (Rmax_left 0 (w - c * z)) by lra.
    assert (w - c * z = 0).
    { destruct (Req_dec u 0) as [W|W]; [assert (0 <= c * v) by (now apply Rmult_le_pos); lra|].
      assert (w * (u - c * v) = u * (w - c * z)) by nra. assert (0 <= w * (u - c * v)) by (apply Rmult_le_pos; lra).
      assert (0 < u) by lra. nra. }
    rewrite Rmax_right; lra.
  - rewrite !Rmax_right by lra. ring.
Qed.

Lemma add_natural : forall x y, natural x -> natural y -> natural (add x y).
Proof. intros x y [A B] [C D]. split; cbn [add fst snd]; lia. Qed.

Lemma merge_ok : forall b c, (0 < b)%Z -> 0 <= c -> forall l m, naturals l -> naturals m -> naturals (merge l m) /\
  delta c (map (shared b) (merge l m)) = delta c (map (shared b) l) + delta c (map (shared b) m).
Proof.
  intros b c B C. induction l as [|x l IHl]; intros m L M.
  - destruct m; cbn [merge map delta]; (split; [assumption | simpl; ring]).
  - induction m as [|y m IHm]; [cbn [merge]; split; [assumption | simpl; ring]|].
    assert (X : natural x) by (apply L; now left). assert (Y : natural y) by (apply M; now left).
    assert (Ll : naturals l) by (intros a A; apply L; now right). assert (Mm : naturals m) by (intros a A; apply M; now right).
    change (merge (x :: l) (y :: m)) with
      (match side x y with Eq => add x y :: merge l m | Lt => x :: merge l (y :: m) | Gt => y :: merge (x :: l) m end).
    destruct (side x y) eqn:E.
    + destruct (IHl m Ll Mm) as [N D]. split.
      * intros a [<-|A]; [now apply add_natural | now apply N].
      * cbn [map delta]. rewrite D, (alike b c x y) by assumption. ring.
    + destruct (IHl (y :: m) Ll M) as [N D]. split; [intros a [<-|A]; auto|].
      change (map (shared b) (x :: merge l (y :: m))) with (shared b x :: map (shared b) (merge l (y :: m))).
      cbn [delta]. rewrite D. cbn [map delta]. ring.
    + destruct (IHm Mm) as [N D]. split; [intros a [<-|A]; auto|].
      change (map (shared b) (y :: merge (x :: l) m)) with (shared b y :: map (shared b) (merge (x :: l) m)).
      cbn [delta]. rewrite D. cbn [map delta]. ring.
Qed.

Lemma together_ok : forall b c, (0 < b)%Z -> 0 <= c -> forall l, naturals l -> naturals (together l) /\
  delta c (map (shared b) (together l)) = delta c (map (shared b) l).
Proof.
  intros b c B C. induction l as [|x l IH]; intro L; [split; [assumption | reflexivity]|].
  assert (X : natural x) by (apply L; now left). destruct IH as [N D]; [intros a A; apply L; now right|].
  cbn [together]. destruct (together l) as [|y m] eqn:T.
  - split; [intros a [<-|[]]; assumption|]. cbn [map delta] in *. rewrite <- D. reflexivity.
  - assert (Y : natural y) by (apply N; now left). destruct (side x y) eqn:E.
    + split; [intros a [<-|A]; [now apply add_natural | apply N; now right]|].
      cbn [map delta] in *. rewrite (alike b c x y), <- D by assumption. ring.
    + split; [intros a [<-|A]; auto|]. cbn [map delta] in *. now rewrite <- D.
    + split; [intros a [<-|A]; auto|]. cbn [map delta] in *. now rewrite <- D.
Qed.

Lemma multiply_natural : forall x l, natural x -> naturals l -> naturals (map (multiply x) l).
Proof.
  intros x l [P Q] L a A. apply in_map_iff in A as (y & <- & Y). destruct (L y Y). split; cbn [multiply fst snd]; lia.
Qed.

Lemma multiply_shared : forall b e x l, (0 < b)%Z -> (0 < e)%Z ->
  map (shared (b * e)) (map (multiply x) l) = map (both (shared b x)) (map (shared e) l).
Proof.
  intros b e x l B E. rewrite !map_map. apply map_ext. intro y. unfold shared, both, multiply. cbn [fst snd].
  rewrite !mult_IZR. apply IZR_lt in B, E. f_equal; field; lra.
Qed.

(* The same delta for every c from 0 on. *)
Definition same (l m : list output) : Prop := forall c, 0 <= c -> delta c l = delta c m.

Lemma same_after : forall a l m, nonneg a -> all_nonneg l -> all_nonneg m -> same l m -> same (map (both a) l) (map (both a) m).
Proof.
  intros a l m A L M S c C. apply Rle_antisym; apply dominated_after; auto; intros d D; rewrite (S d D); lra.
Qed.

Lemma released_ok : forall b e r l rest, (0 < b)%Z -> (0 < e)%Z -> naturals r -> naturals l -> all_nonneg rest ->
  same (map (shared e) l) rest -> naturals (released r l) /\
  same (map (shared (b * e)) (released r l)) (flat_map (fun a => map (both a) rest) (map (shared b) r)).
Proof.
  intros b e r l rest B E R0 L Rest S.
  assert (BE : (0 < b * e)%Z) by lia.
  assert (F : forall c, 0 <= c -> naturals (fold_right (fun a found => merge (map (multiply a) l) found) [] r) /\
    delta c (map (shared (b * e)) (fold_right (fun a found => merge (map (multiply a) l) found) [] r)) =
    delta c (flat_map (fun a => map (both a) rest) (map (shared b) r))).
  { intros c C. induction r as [|x r IH]; [split; [intros a []|reflexivity]|].
    destruct IH as [N D]; [intros a A; apply R0; now right|]. assert (X : natural x) by (apply R0; now left).
    cbn [fold_right map flat_map]. destruct (merge_ok (b * e) c BE C _ _ (multiply_natural x l X L) N) as [N2 D2].
    split; [exact N2|]. rewrite D2, D, delta_app. f_equal. rewrite multiply_shared by assumption.
    apply (same_after (shared b x) (map (shared e) l) rest); auto using shared_nonneg, shares_nonneg. }
  split.
  - destruct (F 0 (Rle_refl 0)) as [N _]. exact (proj1 (together_ok (b * e) 0 BE (Rle_refl 0) _ N)).
  - intros c C. destruct (F c C) as [N D]. unfold released. now rewrite (proj2 (together_ok (b * e) c BE C _ N)).
Qed.

Lemma again_ok : forall limit b r, (0 < b)%Z -> naturals r -> forall n e l m rest, (0 < e)%Z -> naturals l ->
  (forall s, In s rest -> all_nonneg s) -> same (map (shared e) l) (composed rest) -> again limit n r l = Some m ->
  naturals m /\ same (map (shared (b ^ Z.of_nat n * e)) m) (composed (repeat (map (shared b) r) n ++ rest)).
Proof.
  intros limit b r B R0. induction n as [|n IH]; intros e l m rest E L Rest Al H; cbn [again] in H.
  - inversion H; subst. rewrite Z.pow_0_r, Z.mul_1_l. now split.
  - destruct (Nat.leb _ limit); [|discriminate].
    destruct (released_ok b e r l (composed rest) B E R0 L (composed_nonneg rest Rest) Al) as [N D].
    destruct (IH (b * e)%Z (released r l) m (map (shared b) r :: rest)) as [N2 D2]; auto.
    + lia.
    + intros s [<-|I]; [now apply shares_nonneg | now apply Rest].
    + split; [exact N2|]. rewrite Nat2Z.inj_succ, Z.pow_succ_r by lia.
      replace (b * b ^ Z.of_nat n * e)%Z with (b ^ Z.of_nat n * (b * e))%Z by ring.
      replace (repeat (map (shared b) r) (S n) ++ rest) with (repeat (map (shared b) r) n ++ map (shared b) r :: rest); [exact D2|].
      cbn [repeat]. rewrite repeat_cons, <- app_assoc. reflexivity.
Qed.

Lemma valid : forall r b n, distributions (r, b, n) = true -> (0 < b)%Z /\ naturals r.
Proof.
  intros r b n H. unfold distributions in H. do 2 (apply andb_prop in H as [H _]). apply andb_prop in H as [H1 H2].
  split; [now apply Z.ltb_lt|]. intros a A. rewrite forallb_forall in H2. specialize (H2 a A).
  apply andb_prop in H2 as [H2 H3]. apply Z.leb_le in H2, H3. now split.
Qed.

Lemma outputs_nonneg : forall rs, forallb distributions rs = true -> forall s, In s (outputs rs) -> all_nonneg s.
Proof.
  intros rs H s S. unfold outputs in S. apply in_flat_map in S as ([[r b] n] & I & S). rewrite forallb_forall in H.
  destruct (valid r b n (H _ I)). apply repeat_spec in S. subst. now apply shares_nonneg.
Qed.

Lemma masses_ok : forall limit rs l e, forallb distributions rs = true -> masses_of limit rs = Some (l, e) ->
  (0 < e)%Z /\ naturals l /\ same (map (shared e) l) (composed (outputs rs)).
Proof.
  intros limit. induction rs as [|[[r b] n] rs IH]; intros l e D H; cbn [masses_of] in H.
  - inversion H; subst. split; [lia|]. split; [intros a [<-|[]]; split; simpl; lia|]. intros c C.
    cbn [outputs flat_map composed map delta shared fst snd]. now replace (1 / 1) with 1 by field.
  - cbn [forallb] in D. apply andb_prop in D as [D1 D2]. destruct (valid r b n D1) as [B R0].
    destruct (masses_of limit rs) as [[k f]|]; [|discriminate].
    destruct (again limit n r k) as [m|] eqn:A; [|discriminate]. cbn [option_map] in H. inversion H; subst. clear H.
    destruct (IH k f D2 eq_refl) as (F & K & S).
    destruct (again_ok limit b r B R0 n f k l (outputs rs) F K (outputs_nonneg rs D2) S A) as [N T].
    split; [apply Z.mul_pos_pos; [apply Z.pow_pos_nonneg; lia | exact F]|]. split; [exact N | exact T].
Qed.

Lemma all_masses_in : forall limit ds l, all_masses limit ds = Some l ->
  (forall d, In d ds -> exists x, In x l /\ masses_of limit d = Some x) /\
  (forall x, In x l -> exists d, In d ds /\ masses_of limit d = Some x).
Proof.
  intros limit. induction ds as [|d ds IH]; intros l H; cbn [all_masses] in H.
  - inversion H; subst. split; intros y [].
  - destruct (masses_of limit d) as [x|] eqn:M; [|discriminate].
    destruct (all_masses limit ds) as [m|]; [|discriminate]. inversion H; subst. destruct (IH m eq_refl) as [I1 I2].
    split; intros y [<-|Y].
    + exists x. split; [now left | exact M].
    + destruct (I1 y Y) as (z & Z1 & Z2). exists z. split; [now right | exact Z2].
    + exists d. split; [now left | exact M].
    + destruct (I2 y Y) as (z & Z1 & Z2). exists z. split; [now right | exact Z2].
Qed.

Lemma excess_ok : forall c e l, (0 < e)%Z ->
  delta (Q2R c) (map (shared e) l) = IZR (excess c l) / (IZR e * IZR (QDen c)).
Proof.
  intros c e l E. apply IZR_lt in E. assert (D : 0 < IZR (QDen c)) by (apply IZR_lt; reflexivity).
  unfold excess. induction l as [|a l IH]; cbn [map delta sum fold_right]; [field; lra|].
  unfold sum in IH. rewrite IH, plus_IZR. cbn [shared fst snd].
  replace (IZR (fst a) / IZR e - Q2R c * (IZR (snd a) / IZR e)) with
    (/ (IZR e * IZR (QDen c)) * (IZR (fst a) * IZR (QDen c) - IZR (Qnum c) * IZR (snd a))) by (unfold Q2R; field; lra).
  rewrite max_scaled by (left; apply Rinv_0_lt_compat; now apply Rmult_lt_0_compat).
  replace (IZR (Z.max 0 (fst a * QDen c - Qnum c * snd a))) with (Rmax 0 (IZR (fst a) * IZR (QDen c) - IZR (Qnum c) * IZR (snd a))).
  - field. lra.
  - rewrite <- !mult_IZR, <- minus_IZR. unfold Rmax. destruct (Rle_dec _ _) as [L|L].
    + apply le_IZR in L. now rewrite Z.max_r by lia.
    + rewrite Z.max_l; [reflexivity|]. apply Znot_gt_le. intro G. apply L. apply IZR_le. lia.
Qed.

Lemma against_ok : forall c s l e, (0 < e)%Z ->
  match against c s (l, e) with
  | Eq => delta (Q2R c) (map (shared e) l) = Q2R s
  | Lt => delta (Q2R c) (map (shared e) l) < Q2R s
  | Gt => True
  end.
Proof.
  intros c s l e E. unfold against. cbn [fst snd]. pose proof (excess_ok c e l E) as X.
  assert (De : 0 < IZR e) by now apply IZR_lt.
  assert (Dc : 0 < IZR (QDen c)) by (apply IZR_lt; reflexivity). assert (Ds : 0 < IZR (QDen s)) by (apply IZR_lt; reflexivity).
  assert (P : 0 < IZR e * IZR (QDen c)) by now apply Rmult_lt_0_compat.
  destruct (Z.compare_spec (excess c l * QDen s) (Qnum s * (e * QDen c))) as [K|K|K]; [| |exact I]; rewrite X; unfold Q2R.
  - apply (f_equal IZR) in K. rewrite !mult_IZR in K. apply (Rmult_eq_reg_r (IZR e * IZR (QDen c) * IZR (QDen s))).
    + field_simplify; [|lra|lra]. lra.
    + apply Rgt_not_eq. now apply Rmult_lt_0_compat.
  - apply IZR_lt in K. rewrite !mult_IZR in K. apply (Rmult_lt_reg_r (IZR e * IZR (QDen c) * IZR (QDen s))).
    + now apply Rmult_lt_0_compat.
    + replace (IZR (excess c l) / (IZR e * IZR (QDen c)) * (IZR e * IZR (QDen c) * IZR (QDen s))) with
        (IZR (excess c l) * IZR (QDen s)) by (field; lra).
      replace (IZR (Qnum s) * / IZR (QDen s) * (IZR e * IZR (QDen c) * IZR (QDen s))) with
        (IZR (Qnum s) * (IZR e * IZR (QDen c))) by (field; lra).
      exact K.
Qed.

(* For this ratio, the number is the delta of one direction, and that of the others is not larger. *)
Theorem check_exact_delta_sound : forall limit ds c s, check_exact_delta limit ds c s = Some true ->
  (forall d, In d ds -> delta (Q2R c) (composed (outputs d)) <= Q2R s) /\
  exists d, In d ds /\ delta (Q2R c) (composed (outputs d)) = Q2R s.
Proof.
  intros limit ds c s H. unfold check_exact_delta in H. destruct (all_masses limit ds) as [l|] eqn:A; [|discriminate].
  cbn [option_map] in H. inversion H as [K]. clear H. apply andb_prop in K as [K X]. apply andb_prop in K as [K L].
  apply andb_prop in K as [V C]. apply Qle_bool_iff, Qle_Rle in C. rewrite RMicromega.Q2R_0 in C.
  rewrite forallb_forall in V, L. destruct (all_masses_in limit ds l A) as [I1 I2]. split.
  - intros d D. destruct (I1 d D) as ([k e] & J & M). destruct (masses_ok limit d k e (V d D) M) as (E & _ & S).
    rewrite <- (S _ C). pose proof (against_ok c s k e E) as O. specialize (L _ J).
    destruct (against c s (k, e)); [lra | lra | discriminate].
  - apply existsb_exists in X as ([k e] & J & X). destruct (I2 _ J) as (d & D & M). exists d. split; [exact D|].
    destruct (masses_ok limit d k e (V d D) M) as (E & _ & S). rewrite <- (S _ C). pose proof (against_ok c s k e E) as O.
    destruct (against c s (k, e)); [exact O | discriminate | discriminate].
Qed.

Lemma delta_falls : forall l c d, all_nonneg l -> c <= d -> delta d l <= delta c l.
Proof.
  intros l c d N C. induction l as [|a l IH]; cbn [delta]; [lra|]. destruct (N a (or_introl eq_refl)) as [_ Q].
  assert (Rmax 0 (fst a - d * snd a) <= Rmax 0 (fst a - c * snd a)).
  { apply Rmax_lub; [apply Rmax_l|]. apply Rle_trans with (fst a - c * snd a); [|apply Rmax_r].
    assert (c * snd a <= d * snd a) by now apply Rmult_le_compat_r. lra. }
  pose proof (IH (fun b B => N b (or_intror B))). lra.
Qed.

Lemma delta_falls_there : forall l c d a, all_nonneg l -> c < d -> In a l -> 0 < snd a -> d * snd a <= fst a ->
  delta d l < delta c l.
Proof.
  induction l as [|b l IH]; intros c d a N C I P A; [destruct I|]. cbn [delta].
  assert (Nl : all_nonneg l) by (intros x X; apply N; now right). destruct I as [->|I].
  - assert (c * snd a < d * snd a) by now apply Rmult_lt_compat_r.
    rewrite !Rmax_right by lra. pose proof (delta_falls l c d Nl (Rlt_le _ _ C)). lra.
  - pose proof (IH c d a Nl C I P A). pose proof (delta_falls [b] c d) as F. cbn [delta] in F.
    assert (all_nonneg [b]) by (intros x [<-|[]]; apply N; now left). specialize (F H0 (Rlt_le _ _ C)). lra.
Qed.

(* From this ratio on delta is at most the given one in all directions, and for no smaller ratio from 1 on. *)
Theorem check_exact_ratio_sound : forall limit ds d r, check_exact_ratio limit ds d r = Some true ->
  (forall x c, In x ds -> Q2R r <= c -> delta c (composed (outputs x)) <= Q2R d) /\
  (forall c, 1 <= c < Q2R r -> exists x, In x ds /\ Q2R d < delta c (composed (outputs x))).
Proof.
  intros limit ds d r H. unfold check_exact_ratio in H. destruct (all_masses limit ds) as [l|] eqn:A; [|discriminate].
  cbn [option_map] in H. inversion H as [K]. clear H. apply andb_prop in K as [K X]. apply andb_prop in K as [K L].
  apply andb_prop in K as [V C]. apply Qle_bool_iff, Qle_Rle in C. rewrite RMicromega.Q2R_1 in C.
  rewrite forallb_forall in V, L. destruct (all_masses_in limit ds l A) as [I1 I2]. split.
  - intros x c D G. destruct (I1 x D) as ([k e] & J & M). destruct (masses_ok limit x k e (V x D) M) as (E & N & S).
    rewrite <- (S c) by lra. pose proof (delta_falls _ _ _ (shares_nonneg e k E N) G).
    pose proof (against_ok r d k e E) as O. specialize (L _ J). destruct (against r d (k, e)); [lra | lra | discriminate].
  - intros c [G1 G2]. apply orb_prop in X as [X|X].
    { apply Qeq_bool_iff, Qeq_eqR in X. rewrite RMicromega.Q2R_1 in X. lra. }
    apply existsb_exists in X as ([k e] & J & X). apply andb_prop in X as [X Y]. cbn [fst] in Y.
    destruct (I2 _ J) as (x & D & M). exists x. split; [exact D|].
    destruct (masses_ok limit x k e (V x D) M) as (E & N & S). rewrite <- (S c) by lra.
    pose proof (against_ok r d k e E) as O. destruct (against r d (k, e)); [|discriminate|discriminate]. rewrite <- O.
    unfold reaches in Y. apply existsb_exists in Y as (a & I & Y). apply andb_prop in Y as [Y1 Y2].
    apply Z.ltb_lt, IZR_lt in Y1. apply Z.leb_le, IZR_le in Y2. rewrite !mult_IZR in Y2.
    assert (De : 0 < IZR e) by now apply IZR_lt. assert (Dr : 0 < IZR (QDen r)) by (apply IZR_lt; reflexivity).
    apply (delta_falls_there _ c (Q2R r) (shared e a)); [now apply shares_nonneg | exact G2 | now apply in_map | |].
    + cbn [shared snd]. apply Rmult_lt_0_compat; [exact Y1 | now apply Rinv_0_lt_compat].
    + cbn [shared fst snd]. unfold Q2R. apply (Rmult_le_reg_r (IZR e * IZR (QDen r))); [now apply Rmult_lt_0_compat|].
      replace (IZR (Qnum r) * / IZR (QDen r) * (IZR (snd a) / IZR e) * (IZR e * IZR (QDen r))) with
        (IZR (Qnum r) * IZR (snd a)) by (field; lra).
      replace (IZR (fst a) / IZR e * (IZR e * IZR (QDen r))) with (IZR (fst a) * IZR (QDen r)) by (field; lra).
      exact Y2.
Qed.
