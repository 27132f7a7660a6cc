(* The roots of a polynomial in one variable between rational numbers: with s from 0 on, x = (a + b*s)/(1 + s) runs from
   a to b. Where the coefficients in s have no change of sign, there is no root. Where they have one, there is one root
   at most. *)
From Coq Require Import Reals ZArith QArith Qreals Lra Lia List Bool.
From Paramverify Require Import Poly Goal Roots RuleConvexRoot.
Import ListNotations.
Local Open Scope R_scope.

(* --- computations with lists of coefficients ------------------------------------------------------------------ *)

Fixpoint line_add (l m : list Z) : list Z :=
  match l, m with
  | [], _ => m
  | _, [] => l
  | a :: l, b :: m => (a + b)%Z :: line_add l m
  end.

Definition line_scale (c : Z) (l : list Z) : list Z := map (Z.mul c) l.

(* (a + b*s) times a polynomial. *)
Definition line_by (a b : Z) (l : list Z) : list Z := line_add (line_scale a l) (0%Z :: line_scale b l).

(* The polynomial at (a + b*s)/(d*(1 + s)), as a quotient. *)
Fixpoint moebius (a b d : Z) (l : list Z) : list Z * list Z :=
  match l with
  | [] => ([], [1%Z])
  | [c] => ([c], [1%Z])
  | c :: l => let (n, w) := moebius a b d l in
      let v := line_by d d w in (line_add (line_scale c v) (line_by a b n), v)
  end.

Definition between_ends (low high : Q) (l : list Z) : list Z :=
  fst (moebius (Qnum low * Zpos (Qden high)) (Qnum high * Zpos (Qden low)) (Zpos (Qden low * Qden high)) l).

Definition some_not_zero (l : list Z) : bool := existsb (fun a => negb (Z.eqb a 0)) l.

Definition no_root (l : list Z) (low high : Q) : bool :=
  let n := between_ends low high l in (all_up n || all_down n) && some_not_zero n.

(* The value at p/q, times a power of q. *)
Fixpoint line_value (l : list Z) (p q : Z) : Z * Z :=
  match l with
  | [] => (0%Z, 1%Z)
  | c :: l => let (v, w) := line_value l p q in (c * w * q + p * v, w * q)%Z
  end.

Definition line_sign (l : list Z) (x : Q) : Z := Z.sgn (fst (line_value l (Qnum x) (Zpos (Qden x)))).

Definition one_root (l : list Z) (low high : Q) : bool :=
  let n := between_ends low high l in
  qlt low high && (line_sign l low * line_sign l high <? 0)%Z && some_not_zero n && (one_change n || one_change (line_scale (-1) n)).

(* --- they are right ------------------------------------------------------------------------------------------- *)

Lemma line_add_ok : forall l m x, poly_at (line_add l m) x = poly_at l x + poly_at m x.
Proof.
  unfold poly_at. induction l as [|a l IH]; intros [|b m] x; simpl; try lra. rewrite IH, plus_IZR. ring.
Qed.

Lemma line_scale_ok : forall c l x, poly_at (line_scale c l) x = IZR c * poly_at l x.
Proof.
  unfold poly_at, line_scale. induction l as [|a l IH]; intro x; simpl; [lra|]. rewrite IH, mult_IZR. ring.
Qed.

Lemma line_by_ok : forall a b l x, poly_at (line_by a b l) x = (IZR a + IZR b * x) * poly_at l x.
Proof.
  intros a b l x. unfold line_by. rewrite line_add_ok, line_scale_ok.
  change (poly_at (0%Z :: line_scale b l) x) with (0 + x * poly_at (line_scale b l) x). rewrite line_scale_ok. ring.
Qed.

Lemma moebius_ok : forall a b d l s, (0 < d)%Z -> 0 <= s ->
  0 < poly_at (snd (moebius a b d l)) s /\
  poly_at (fst (moebius a b d l)) s
  = poly_at (snd (moebius a b d l)) s * poly_at l ((IZR a + IZR b * s) / (IZR d * (1 + s))).
Proof.
  intros a b d l s D S. apply IZR_lt in D. assert (T : 0 < IZR d * (1 + s)) by (apply Rmult_lt_0_compat; lra).
  induction l as [|c l IH]; [cbn; unfold poly_at; simpl; split; lra|].
  destruct l as [|c2 l]; [cbn; unfold poly_at; simpl; split; lra|].
  change (moebius a b d (c :: c2 :: l)) with (let (n, w) := moebius a b d (c2 :: l) in
    let v := line_by d d w in (line_add (line_scale c v) (line_by a b n), v)).
  destruct (moebius a b d (c2 :: l)) as [n w] eqn:M. cbn [fst snd] in *. destruct IH as [I1 I2].
  rewrite line_add_ok, line_scale_ok, !line_by_ok, I2. set (x := (IZR a + IZR b * s) / (IZR d * (1 + s))) in *.
  replace (IZR d + IZR d * s) with (IZR d * (1 + s)) by ring. split; [now apply Rmult_lt_0_compat|].
  change (poly_at (c :: c2 :: l) x) with (IZR c + x * poly_at (c2 :: l) x).
  replace (IZR a + IZR b * s) with (x * (IZR d * (1 + s))) by (unfold x; field; lra). ring.
Qed.

(* A point between the ends, and its s. *)
Definition ratio_at (a b x : R) : R := (x - a) / (b - x).

Lemma between_ends_ok : forall low high l x, Q2R low < x < Q2R high -> exists w, 0 < w /\
  poly_at (between_ends low high l) (ratio_at (Q2R low) (Q2R high) x) = w * poly_at l x.
Proof.
  intros low high l x [A B]. unfold between_ends.
  set (s := ratio_at (Q2R low) (Q2R high) x). assert (S : 0 < s) by (unfold s, ratio_at; apply Rdiv_lt_0_compat; lra).
  destruct (moebius_ok (Qnum low * Zpos (Qden high)) (Qnum high * Zpos (Qden low)) (Zpos (Qden low * Qden high)) l s
    ltac:(lia) ltac:(lra)) as [M1 M2].
  eexists. split; [exact M1|]. rewrite M2. f_equal. f_equal.
  rewrite Pos2Z.inj_mul, !mult_IZR.
  pose proof (pos_IZR (Qden low)) as P. pose proof (pos_IZR (Qden high)) as Q.
  transitivity ((Q2R low + Q2R high * s) / (1 + s)).
  - unfold Q2R, Rdiv. field. repeat split; lra.
  - unfold s, ratio_at. field. lra.
Qed.

Lemma ratio_at_increases : forall a b x y, a < x < y -> y < b -> 0 < ratio_at a b x < ratio_at a b y.
Proof.
  intros a b x y [A B] C. unfold ratio_at. split; [apply Rdiv_lt_0_compat; lra|].
  apply Rmult_lt_reg_r with ((b - x) * (b - y)); [apply Rmult_lt_0_compat; lra|].
  replace ((x - a) / (b - x) * ((b - x) * (b - y))) with ((x - a) * (b - y)) by (field; lra).
  replace ((y - a) / (b - y) * ((b - x) * (b - y))) with ((y - a) * (b - x)) by (field; lra). nra.
Qed.

Lemma all_up_positive : forall l x, all_up l = true -> some_not_zero l = true -> 0 < x -> 0 < poly_at l x.
Proof.
  induction l as [|a l IH]; intros x U N X; [discriminate|]. unfold poly_at in *. simpl in *.
  apply andb_prop in U as [U1 U2]. apply Z.leb_le in U1. pose proof (all_up_ok l x U2 ltac:(lra)) as P.
  unfold poly_at in P. destruct (Z.eqb_spec a 0) as [->|K]; simpl in N.
  - pose proof (Rmult_lt_0_compat _ _ X (IH x U2 N X)). lra.
  - assert (0 < IZR a) by (apply IZR_lt; lia). assert (0 <= x * hor x (map IZR l)) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma all_down_negative : forall l x, all_down l = true -> some_not_zero l = true -> 0 < x -> poly_at l x < 0.
Proof.
  induction l as [|a l IH]; intros x U N X; [discriminate|].
  pose proof (all_down_falls l x x) as F. unfold poly_at in *. simpl in *.
  apply andb_prop in U as [U1 U2]. apply Z.leb_le in U1. destruct (F U2 ltac:(lra)) as [_ P].
  destruct (Z.eqb_spec a 0) as [->|K]; simpl in N.
  - pose proof (IH x U2 N X). assert (x * hor x (map IZR l) < 0) by nra. lra.
  - assert (IZR a < 0) by (apply IZR_lt; lia). assert (x * hor x (map IZR l) <= 0) by nra. lra.
Qed.

Theorem no_root_ok : forall l low high x, no_root l low high = true -> Q2R low < x < Q2R high -> poly_at l x <> 0.
Proof.
  intros l low high x H X. unfold no_root in H. apply andb_prop in H as [H N].
  destruct (between_ends_ok low high l x X) as (w & W & E).
  assert (S : 0 < ratio_at (Q2R low) (Q2R high) x) by (unfold ratio_at; apply Rdiv_lt_0_compat; lra).
  intro Z0. rewrite Z0, Rmult_0_r in E. apply orb_prop in H as [H|H].
  - pose proof (all_up_positive _ _ H N S). lra.
  - pose proof (all_down_negative _ _ H N S). lra.
Qed.

(* Behind a root the values are negative. *)
Lemma falls_behind : forall l x y, one_change l = true -> some_not_zero l = true -> 0 < x < y -> poly_at l x = 0 ->
  poly_at l y < 0.
Proof.
  induction l as [|a l IH]; intros x y H N X Z0; [discriminate|]. cbn [one_change] in H.
  pose proof (falls_from_there l x y) as F. unfold poly_at in *. simpl in *.
  destruct (Z.leb_spec 0 a) as [A|A].
  - specialize (F H ltac:(lra)). destruct (Z.eqb_spec a 0) as [->|K]; simpl in N.
    + assert (G : hor x (map IZR l) = 0) by (apply Rmult_eq_reg_l with x; lra).
      pose proof (IH x y H N X G). assert (y * hor y (map IZR l) < 0) by nra. lra.
    + assert (0 < IZR a) by (apply IZR_lt; lia).
      assert (G : hor x (map IZR l) < 0).
      { destruct (Rlt_le_dec (hor x (map IZR l)) 0) as [|P]; [assumption|].
        assert (0 <= x * hor x (map IZR l)) by (apply Rmult_le_pos; lra). lra. }
      specialize (F ltac:(lra)). assert (y * hor y (map IZR l) <= y * hor x (map IZR l)) by nra.
      assert (y * hor x (map IZR l) < x * hor x (map IZR l)) by nra. lra.
  - assert (IZR a < 0) by (apply IZR_lt; lia). destruct (all_down_falls l x x H ltac:(lra)) as [_ P]. unfold poly_at in P.
    assert (x * hor x (map IZR l) <= 0) by nra. lra.
Qed.

Lemma line_value_ok : forall l p q, (0 < q)%Z -> (0 < snd (line_value l p q))%Z /\
  IZR (fst (line_value l p q)) = IZR (snd (line_value l p q)) * poly_at l (IZR p / IZR q).
Proof.
  intros l p q K. pose proof (IZR_lt _ _ K). induction l as [|c l [I1 I2]]; simpl.
  - unfold poly_at; simpl; split; [lia | lra].
  - destruct (line_value l p q) as [v w]. cbn [fst snd] in *. split; [lia|].
    rewrite plus_IZR, !mult_IZR, I2. unfold poly_at. simpl. field. lra.
Qed.

Lemma line_sign_ok : forall l x,
  ((0 < line_sign l x)%Z <-> 0 < poly_at l (Q2R x)) /\ ((line_sign l x < 0)%Z <-> poly_at l (Q2R x) < 0).
Proof.
  intros l x. destruct (line_value_ok l (Qnum x) (Zpos (Qden x)) ltac:(lia)) as [P E]. unfold line_sign.
  apply IZR_lt in P. change (IZR (Qnum x) / IZR (Zpos (Qden x))) with (Q2R x) in E.
  set (v := fst (line_value l (Qnum x) (Zpos (Qden x)))) in *. set (w := IZR (snd (line_value l (Qnum x) (Zpos (Qden x))))) in *.
  set (f := poly_at l (Q2R x)) in *. assert (Sp : (0 < Z.sgn v)%Z <-> (0 < v)%Z) by (destruct v; simpl; lia).
  assert (Sn : (Z.sgn v < 0)%Z <-> (v < 0)%Z) by (destruct v; simpl; lia). rewrite Sp, Sn.
  split; split; intro H.
  - apply IZR_lt in H. rewrite E in H. apply Rmult_lt_reg_l with w; lra.
  - apply lt_IZR. rewrite E. now apply Rmult_lt_0_compat.
  - apply IZR_lt in H. rewrite E in H. apply Rmult_lt_reg_l with w; lra.
  - apply lt_IZR. rewrite E. nra.
Qed.

Lemma line_continuous : forall l, continuity (poly_at l).
Proof. intro l. exact (hor_continuous (map IZR l)). Qed.

(* A change of sign needs a root. *)
Lemma root_between : forall l a b, a <= b -> poly_at l a * poly_at l b <= 0 -> exists x, a <= x <= b /\ poly_at l x = 0.
Proof. intros l a b A B. destruct (IVT_cor (poly_at l) a b (line_continuous l) A B) as (x & X & E). now exists x. Qed.

Theorem one_root_ok : forall l low high, one_root l low high = true ->
  exists x, Q2R low < x < Q2R high /\ poly_at l x = 0 /\
  forall y, Q2R low <= y <= Q2R high -> poly_at l y = 0 -> y = x.
Proof.
  intros l low high H. unfold one_root in H. apply andb_prop in H as [H C]. apply andb_prop in H as [H Nz]. apply andb_prop in H as [L S].
  apply qlt_R in L. apply Z.ltb_lt in S. destruct (line_sign_ok l low) as [A1 A2], (line_sign_ok l high) as [B1 B2].
  assert (T : poly_at l (Q2R low) * poly_at l (Q2R high) < 0).
  { apply Z.lt_mul_0 in S as [[P N]|[P N]].
    - apply A2 in P. apply B1 in N. clear - P N. nra.
    - apply A1 in P. apply B2 in N. clear - P N. nra. }
  destruct (root_between l (Q2R low) (Q2R high) ltac:(lra) ltac:(lra)) as (x & X & E). exists x.
  assert (In : forall y, Q2R low <= y <= Q2R high -> poly_at l y = 0 -> Q2R low < y < Q2R high).
  { intros y [Y1 Y2] Y. split.
    - destruct (Req_dec (Q2R low) y) as [<-|]; [rewrite Y in T; lra | lra].
    - destruct (Req_dec y (Q2R high)) as [->|]; [rewrite Y in T; lra | lra]. }
  assert (Two : forall y z, Q2R low < y < z -> z < Q2R high -> poly_at l y = 0 -> poly_at l z = 0 -> False).
  { intros y z Y Z Ey Ez. destruct (between_ends_ok low high l y ltac:(lra)) as (v & V & Fy).
    destruct (between_ends_ok low high l z ltac:(lra)) as (w & W & Fz).
    destruct (ratio_at_increases (Q2R low) (Q2R high) y z Y Z) as [R1 R2].
    set (n := between_ends low high l) in *. rewrite Ey, Rmult_0_r in Fy. rewrite Ez, Rmult_0_r in Fz.
    apply orb_prop in C as [C|C].
    - pose proof (falls_behind n _ _ C Nz (conj R1 R2) Fy). lra.
    - assert (N' : some_not_zero (line_scale (-1) n) = true).
      { clear - Nz. induction n as [|a n IH]; [discriminate|]. unfold some_not_zero in *. cbn [existsb line_scale map] in *.
        apply orb_prop in Nz as [Nz|Nz]; apply orb_true_intro; [left | right; now apply IH].
        destruct (Z.eqb_spec a 0); [discriminate|]. destruct (Z.eqb_spec (-1 * a) 0); [lia | reflexivity]. }
      assert (M : forall t, poly_at (line_scale (-1) n) t = - poly_at n t) by (intro t; rewrite line_scale_ok; lra).
      pose proof (falls_behind (line_scale (-1) n) _ _ C N' (conj R1 R2)) as F. rewrite !M, Fy, Fz in F. lra. }
  split; [now apply In|]. split; [exact E|]. intros y Y Ey. pose proof (In x X E). pose proof (In y Y Ey).
  destruct (Rtotal_order x y) as [K|[K|K]]; [|now symmetry|]; exfalso.
  - apply (Two x y); auto; lra.
  - apply (Two y x); auto; lra.
Qed.
