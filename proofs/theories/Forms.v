(** Homogeneous forms: their values, their degrees, and changes of their variables.

    A polynomial of degree n in one variable is read as a form Σ cⱼ·uⁿ⁻ʲ·vʲ, and so on for each variable.  A form
    is written as a polynomial again: the chain of variable k has the coefficients cⱼ.  The pair u, v of a
    variable is changed by moves, which only add where they can; a matrix of whole numbers says what they do. *)

From Coq Require Import ZArith Reals List Lia Lra Bool QArith Qreals Psatz.
From Paramverify Require Import Poly.
Import ListNotations.
Local Open Scope R_scope.

(** * Values of forms, whose degrees are ns *)

Fixpoint wt (ns : list nat) (u : env) : R :=
  match ns with [] => 1 | n :: ns => u 0%nat ^ n * wt ns (shift u) end.

Fixpoint fval (p : poly) (ns : list nat) (u v : env) : R :=
  match p with
  | Pc c => IZR c * wt ns u
  | PX q p =>
      u 0%nat ^ hd 0%nat ns * fval q (tl ns) (shift u) (shift v)
      + v 0%nat * fval p (pred (hd 0%nat ns) :: tl ns) u v
  end.

Lemma wt_cons : forall ns u, wt ns u = u 0%nat ^ hd 0%nat ns * wt (tl ns) (shift u).
Proof. intros [|n ns] u; simpl; lra. Qed.

Lemma wt_ext : forall ns u x, (forall k, u k = x k) -> wt ns u = wt ns x.
Proof.
  induction ns as [|n ns IH]; intros u x H; simpl; [easy|].
  rewrite (H 0%nat), (IH _ (shift x)); [easy|intro; apply H].
Qed.

Lemma fval_ext : forall p ns u v x y, (forall k, u k = x k) -> (forall k, v k = y k) ->
  fval p ns u v = fval p ns x y.
Proof.
  induction p as [c|q IHq p IHp]; intros ns u v x y H K; simpl.
  - now rewrite (wt_ext _ u x).
  - rewrite (H 0%nat), (K 0%nat), (IHp _ u v x y), (IHq _ (shift u) (shift v) (shift x) (shift y)); auto;
      intro; first [apply H | apply K].
Qed.

Lemma fval_hd : forall p ns u v, fval p (hd 0%nat ns :: tl ns) u v = fval p ns u v.
Proof. intros [c|q p] ns u v; [simpl; now rewrite (wt_cons ns)|reflexivity]. Qed.

Lemma wt_one : forall ns, wt ns (fun _ => 1) = 1.
Proof.
  induction ns as [|n ns IH]; simpl; [easy|].
  rewrite pow1; change (shift (fun _ => 1)) with (fun _ : nat => 1); rewrite IH; lra.
Qed.

Lemma fval_one : forall p ns e, fval p ns (fun _ => 1) e = eval p e.
Proof.
  induction p as [c|q IHq p IHp]; intros ns e; cbn [fval eval].
  - rewrite wt_one; lra.
  - rewrite pow1; change (shift (fun _ => 1)) with (fun _ : nat => 1); rewrite IHq, IHp; lra.
Qed.

Lemma fval_mkX : forall q p ns u v, fval (mkX q p) ns u v = fval (PX q p) ns u v.
Proof.
  intros [c|q1 q2] [[| |]|p1 p2] ns u v; try reflexivity.
  cbn [fval mkX]; rewrite (wt_cons ns); lra.
Qed.

Lemma fval_addc : forall a p ns u v, fval (addc a p) ns u v = IZR a * wt ns u + fval p ns u v.
Proof.
  induction p as [c|q IHq p IHp]; intros ns u v; cbn [fval addc].
  - rewrite plus_IZR; lra.
  - rewrite IHq, (wt_cons ns); lra.
Qed.

Lemma fval_padd : forall p q ns u v, fval (padd p q) ns u v = fval p ns u v + fval q ns u v.
Proof.
  induction p as [a|p1 IH1 p2 IH2]; intros q ns u v; cbn [padd]; [apply fval_addc|].
  destruct q as [b|q1 q2].
  - cbn [fval]; rewrite fval_addc, (wt_cons ns); lra.
  - rewrite fval_mkX; cbn [fval]; rewrite IH1, IH2; lra.
Qed.

Lemma fval_pscale : forall a p ns u v, fval (pscale a p) ns u v = IZR a * fval p ns u v.
Proof.
  assert (G : forall a p ns u v, fval (pmapz a p) ns u v = IZR a * fval p ns u v).
  { induction p as [c|q IHq p IHp]; intros ns u v; cbn [fval pmapz].
    - rewrite mult_IZR; lra.
    - rewrite IHq, IHp; lra. }
  intros a p ns u v; unfold pscale; destruct a as [|[| |]|]; try apply G; simpl; lra.
Qed.

(** * Degrees *)

(** The chain has at most n + 1 coefficients. *)
Fixpoint fits (n : nat) (p : poly) {struct p} : bool :=
  match p with
  | Pc _ => true
  | PX _ p => match p with Pc Z0 => true | _ => match n with O => false | S m => fits m p end end
  end.

Lemma fits_PX : forall n q p, fits (S n) (PX q p) = true <-> fits n p = true.
Proof. intros n q [[| |]|p1 p2]; split; auto. Qed.

Lemma fits_mkX : forall n q p, fits n p = true -> fits (S n) (mkX q p) = true.
Proof. intros n [c|q1 q2] [[| |]|p1 p2] H; simpl in *; auto. Qed.

Lemma fits_PX_0 : forall q p, fits 0 (PX q p) = true -> p = Pc 0.
Proof. intros q [[| |]|p1 p2] H; simpl in *; easy. Qed.

Lemma fits_addc : forall n a p, fits n p = true -> fits n (addc a p) = true.
Proof. intros n a [c|q p] H; simpl; auto. Qed.

Lemma fits_padd : forall n p q, fits n p = true -> fits n q = true -> fits n (padd p q) = true.
Proof.
  intros n p; revert n; induction p as [a|p1 IH1 p2 IH2]; intros n q P Q; cbn [padd]; [now apply fits_addc|].
  destruct q as [b|q1 q2].
  - destruct n; [apply fits_PX_0 in P; now subst|]; apply fits_PX in P; now apply fits_PX.
  - destruct n as [|n].
    + apply fits_PX_0 in P, Q; subst; simpl; now destruct (padd p1 q1).
    + apply fits_PX in P, Q; apply fits_mkX; auto.
Qed.

Lemma fits_pscale : forall n a p, fits n p = true -> fits n (pscale a p) = true.
Proof.
  assert (G : forall a p n, fits n p = true -> fits n (pmapz a p) = true).
  { induction p as [c|q IHq p IHp]; intros n H; [easy|]; cbn [pmapz]; destruct n as [|n].
    - apply fits_PX_0 in H; subst; simpl; now rewrite Z.mul_0_r.
    - apply fits_PX in H; apply fits_PX; auto. }
  intros n a p H; unfold pscale; destruct a as [|[| |]|]; auto.
Qed.

Lemma fval_up : forall p n ns u v, fits n p = true ->
  fval p (S n :: ns) u v = u 0%nat * fval p (n :: ns) u v.
Proof.
  induction p as [c|q _ p IH]; intros n ns u v H; cbn [fval wt hd tl pred pow]; [lra|].
  destruct n as [|n].
  - apply fits_PX_0 in H; subst; cbn [fval]; lra.
  - apply fits_PX in H; rewrite (IH _ _ _ _ H); cbn [pow pred]; lra.
Qed.

(** * Changes of u and v along one axis: reversal, shears, scales *)

Record mat := Mat { ma : Z; mb : Z; mc : Z; md : Z }.
Definition identity := Mat 1 0 0 1.
Definition toU (m : mat) (u v : R) : R := IZR (ma m) * u + IZR (mb m) * v.
Definition toV (m : mat) (u v : R) : R := IZR (mc m) * u + IZR (md m) * v.
Definition mmul (m t : mat) : mat :=
  Mat (ma m * ma t + mb m * mc t) (ma m * mb t + mb m * md t)
      (mc m * ma t + md m * mc t) (mc m * mb t + md m * md t).

Lemma toU_mul : forall m t u v, toU (mmul m t) u v = toU m (toU t u v) (toV t u v).
Proof. intros; unfold toU, toV, mmul; cbn [ma mb mc md]; rewrite !plus_IZR, !mult_IZR; lra. Qed.

Lemma toV_mul : forall m t u v, toV (mmul m t) u v = toV m (toU t u v) (toV t u v).
Proof. intros; unfold toU, toV, mmul; cbn [ma mb mc md]; rewrite !plus_IZR, !mult_IZR; lra. Qed.

Definition change (t : mat) (k : nat) (u v : env) : env * env :=
  (upd u k (toU t (u k) (v k)), upd v k (toV t (u k) (v k))).

Lemma wt_change0 : forall ns u x, wt ns (shift (upd u 0 x)) = wt ns (shift u).
Proof. intros; apply wt_ext; now intro. Qed.

Lemma fval_change0 : forall q ns u v x y,
  fval q ns (shift (upd u 0 x)) (shift (upd v 0 y)) = fval q ns (shift u) (shift v).
Proof. intros; apply fval_ext; now intro. Qed.

(** v becomes c·u + v. *)
Fixpoint shear (c : Z) (p : poly) : poly :=
  match p with
  | Pc _ => p
  | PX q r => let s := shear c r in padd (lift q) (padd (pscale c s) (mkX (Pc 0) s))
  end.

(** v becomes d·v; [pw] is a power of d. *)
Fixpoint scale_from (pw d : Z) (p : poly) : poly :=
  match p with
  | Pc _ => pscale pw p
  | PX q r => mkX (pscale pw q) (match r with Pc Z0 => Pc 0 | _ => scale_from (pw * d) d r end)
  end.

(** u and v change places, in a form of degree n. *)
Fixpoint pad (n : nat) (p : poly) : poly := match n with O => p | S n => mkX (Pc 0) (pad n p) end.
Fixpoint rev_onto (n : nat) (p acc : poly) {struct p} : poly :=
  match p with
  | Pc _ => pad n (mkX p acc)
  | PX q r =>
      match r with
      | Pc Z0 => pad n (mkX q acc)
      | _ => match n with O => Pc 0 | S n => rev_onto n r (mkX q acc) end
      end
  end.

Inductive move := Rev | Shear (c : Z) | Scale (d : Z).
Definition mat_of_move (o : move) : mat :=
  match o with Rev => Mat 0 1 1 0 | Shear c => Mat 1 0 c 1 | Scale d => Mat 1 0 0 d end.
Definition apply_move (n : nat) (p : poly) (o : move) : poly :=
  match o with
  | Rev => rev_onto n p (Pc 0)
  | Shear c => if Z.eqb c 0 then p else shear c p
  | Scale d => if Z.eqb d 1 then p else scale_from 1 d p
  end.

Lemma is_zero_poly_dec : forall p : poly, {p = Pc 0} + {p <> Pc 0}.
Proof. intros [[| |]|]; [now left| | |]; now right. Qed.

Lemma fits_low : forall n p, fits n p = true -> fits (S n) p = true.
Proof.
  intros n p; revert n; induction p as [c|q _ p IH]; intros n H; [easy|].
  destruct n; [apply fits_PX_0 in H; now subst|]; apply fits_PX in H; apply fits_PX; auto.
Qed.

Lemma fits_lift : forall n q, fits n (lift q) = true.
Proof. intros n [c|q1 q2]; easy. Qed.

(** (c·u + v)·p, of a degree more. *)
Lemma lin_val : forall c p n ns u v, fits n p = true ->
  fval (padd (pscale c p) (mkX (Pc 0) p)) (S n :: ns) u v
  = (IZR c * u 0%nat + v 0%nat) * fval p (n :: ns) u v.
Proof.
  intros c p n ns u v H.
  rewrite fval_padd, fval_mkX, fval_pscale, fval_up by easy; cbn [fval hd tl pred]; lra.
Qed.

Lemma lin_fits : forall c p n, fits n p = true -> fits (S n) (padd (pscale c p) (mkX (Pc 0) p)) = true.
Proof. intros c p n H; apply fits_padd; [now apply fits_pscale, fits_low|now apply fits_mkX]. Qed.

Lemma fval_lift : forall q n ns u v, fval (lift q) (n :: ns) u v = u 0%nat ^ n * fval q ns (shift u) (shift v).
Proof. intros; unfold lift; rewrite fval_mkX; cbn [fval hd tl]; lra. Qed.

Lemma shear_ok : forall c p n ns u v, fits n p = true -> fits n (shear c p) = true /\
  fval (shear c p) (n :: ns) u v
  = fval p (n :: ns) (fst (change (Mat 1 0 c 1) 0 u v)) (snd (change (Mat 1 0 c 1) 0 u v)).
Proof.
  intros c p; induction p as [z|q _ r IH]; intros n ns u v H.
  - split; [easy|]; cbn [shear fval wt change fst]; rewrite upd_same, wt_change0.
    unfold toU; cbn [ma mb]; rewrite Rmult_1_l, Rmult_0_l, Rplus_0_r; reflexivity.
  - cbn [shear]; destruct n as [|n].
    + apply fits_PX_0 in H; subst; cbn [shear].
      replace (padd (pscale c (Pc 0)) (mkX (Pc 0) (Pc 0))) with (Pc 0) by (destruct c as [|[| |]|]; easy).
      split; [apply fits_padd; [apply fits_lift|easy]|].
      rewrite fval_padd, fval_lift; cbn [fval hd tl pow change fst snd]; rewrite fval_change0; lra.
    + apply fits_PX in H; destruct (IH n ns u v H) as [E1 E2]; split.
      * apply fits_padd; [apply fits_lift|now apply lin_fits].
      * rewrite fval_padd, fval_lift, lin_val, E2 by easy.
        cbn [fval hd tl pred change fst snd]; rewrite !upd_same, fval_change0; unfold toU, toV; cbn [ma mb mc md].
        rewrite !Rmult_1_l, Rmult_0_l, Rplus_0_r; reflexivity.
Qed.

Lemma scale_ok : forall d p pw n ns u v, fits n p = true -> fits n (scale_from pw d p) = true /\
  fval (scale_from pw d p) (n :: ns) u v
  = IZR pw * fval p (n :: ns) (fst (change (Mat 1 0 0 d) 0 u v)) (snd (change (Mat 1 0 0 d) 0 u v)).
Proof.
  intros d p; induction p as [z|q _ r IH]; intros pw n ns u v H.
  - cbn [scale_from]; split; [now apply fits_pscale|]; rewrite fval_pscale.
    cbn [fval wt change fst]; rewrite upd_same, wt_change0.
    unfold toU; cbn [ma mb]; rewrite Rmult_1_l, Rmult_0_l, Rplus_0_r; reflexivity.
  - assert (U : fst (change (Mat 1 0 0 d) 0 u v) 0%nat = u 0%nat).
    { cbn [change fst]; rewrite upd_same; unfold toU; cbn [ma mb]; lra. }
    assert (V : snd (change (Mat 1 0 0 d) 0 u v) 0%nat = IZR d * v 0%nat).
    { cbn [change snd]; rewrite upd_same; unfold toV; cbn [mc md]; lra. }
    cbn [scale_from]; destruct (is_zero_poly_dec r) as [->|Z].
    + split; [apply fits_lift|].
      rewrite fval_mkX; cbn [fval hd tl]; rewrite fval_pscale, U; cbn [change fst snd].
      rewrite fval_change0; lra.
    + replace (match r with Pc Z0 => Pc 0 | _ => scale_from (pw * d) d r end) with (scale_from (pw * d) d r)
        by (destruct r as [[| |]|]; easy).
      destruct n as [|n]; [apply fits_PX_0 in H; easy|]; apply fits_PX in H.
      destruct (IH (pw * d)%Z n ns u v H) as [E1 E2]; split; [now apply fits_mkX|].
      rewrite fval_mkX; cbn [fval hd tl pred]; rewrite fval_pscale, E2, U, V, mult_IZR.
      replace (fval q ns (shift (fst (change (Mat 1 0 0 d) 0 u v))) (shift (snd (change (Mat 1 0 0 d) 0 u v))))
        with (fval q ns (shift u) (shift v)) by (cbn [change fst snd]; now rewrite fval_change0).
      ring.
Qed.

Lemma pad_val : forall n p N ns u v,
  fval (pad n p) (N :: ns) u v = v 0%nat ^ n * fval p ((N - n)%nat :: ns) u v.
Proof.
  induction n as [|n IH]; intros p N ns u v; cbn [pad pow].
  - rewrite Nat.sub_0_r; lra.
  - rewrite fval_mkX; cbn [fval hd tl]; rewrite IH; replace (pred N - n)%nat with (N - S n)%nat by lia; lra.
Qed.

Lemma pad_fits : forall n m p, fits m p = true -> fits (n + m) (pad n p) = true.
Proof. induction n; intros m p H; simpl; [easy|]; now apply fits_mkX, IHn. Qed.

(** p may follow a coefficient, in a chain of degree n. *)
Definition room (n : nat) (p : poly) : Prop := p = Pc 0 \/ exists m, n = S m /\ fits m p = true.

Lemma room_fits : forall n q p, room n p -> fits n (mkX q p) = true.
Proof. intros n q p [->|(m & -> & H)]; [apply fits_lift|now apply fits_mkX]. Qed.

Lemma rev_ok : forall p n acc N ns u v, fits n p = true -> (n <= N)%nat -> room (N - n) acc ->
  fits N (rev_onto n p acc) = true /\
  fval (rev_onto n p acc) (N :: ns) u v
  = u 0%nat ^ (N - n) * fval p (n :: ns) (upd u 0 (v 0%nat)) (upd v 0 (u 0%nat))
    + v 0%nat ^ S n * fval acc (pred (N - n) :: ns) u v.
Proof.
  assert (End : forall q n acc N ns u v, (n <= N)%nat -> room (N - n) acc ->
    fits N (pad n (mkX q acc)) = true /\
    fval (pad n (mkX q acc)) (N :: ns) u v
    = u 0%nat ^ (N - n) * (v 0%nat ^ n * fval q ns (shift u) (shift v))
      + v 0%nat ^ S n * fval acc (pred (N - n) :: ns) u v).
  { intros q n acc N ns u v L A; split.
    - replace N with (n + (N - n))%nat by lia; now apply pad_fits, room_fits.
    - rewrite pad_val, fval_mkX; cbn [fval hd tl pow]; ring. }
  induction p as [z|q _ r IH]; intros n acc N ns u v H L A.
  - destruct (End (Pc z) n acc N ns u v L A) as [E1 E2]; split; [exact E1|].
    cbn [rev_onto]; rewrite E2; cbn [fval wt]; rewrite upd_same, wt_change0; ring.
  - destruct (is_zero_poly_dec r) as [->|Z].
    + destruct (End q n acc N ns u v L A) as [E1 E2]; split; [exact E1|].
      cbn [rev_onto]; rewrite E2; cbn [fval hd tl]; rewrite upd_same, fval_change0; ring.
    + destruct n as [|n]; [apply fits_PX_0 in H; easy|]; apply fits_PX in H.
      replace (rev_onto (S n) (PX q r) acc) with (rev_onto n r (mkX q acc))
        by (destruct r as [[| |]|]; easy).
      assert (A' : room (N - n) (mkX q acc)).
      { right; exists (N - S n)%nat; split; [lia|now apply room_fits]. }
      destruct (IH n (mkX q acc) N ns u v H) as [E1 E2]; [lia|easy|]; split; [exact E1|].
      rewrite E2, fval_mkX; cbn [fval hd tl pred]; rewrite !upd_same, fval_change0.
      replace (pred (N - n)) with (N - S n)%nat by lia.
      replace (N - n)%nat with (S (N - S n)) by lia; cbn [pow]; ring.
Qed.

Lemma apply_move_ok : forall o n p ns u v, fits n p = true -> fits n (apply_move n p o) = true /\
  fval (apply_move n p o) (n :: ns) u v
  = fval p (n :: ns) (fst (change (mat_of_move o) 0 u v)) (snd (change (mat_of_move o) 0 u v)).
Proof.
  intros [|c|d] n p ns u v H; cbn [apply_move mat_of_move].
  - destruct (rev_ok p n (Pc 0) n ns u v H (le_n _)) as [E1 E2]; [now left|]; split; [easy|].
    rewrite E2, Nat.sub_diag; cbn [fval change fst snd]; unfold toU, toV; cbn [ma mb mc md].
    rewrite (fval_ext p (n :: ns) (upd u 0 (0 * u 0%nat + 1 * v 0%nat)) (upd v 0 (1 * u 0%nat + 0 * v 0%nat))
      (upd u 0 (v 0%nat)) (upd v 0 (u 0%nat))); [simpl; lra| |];
      intro k; unfold upd; destruct (Nat.eqb k 0); lra.
  - destruct (Z.eqb_spec c 0) as [->|_]; [split; [easy|]|now apply shear_ok].
    apply fval_ext; intro k; cbn [change fst snd]; unfold toU, toV, upd; cbn [ma mb mc md];
      destruct (Nat.eqb_spec k 0) as [->|_]; lra.
  - destruct (Z.eqb_spec d 1) as [->|_].
    + split; [easy|]; apply fval_ext; intro k; cbn [change fst snd]; unfold toU, toV, upd; cbn [ma mb mc md];
        destruct (Nat.eqb_spec k 0) as [->|_]; lra.
    + destruct (scale_ok d p 1 n ns u v H) as [E1 E2]; split; [easy|]; rewrite E2; lra.
Qed.

(** Several moves, the first one first. *)
Definition mat_of_moves (l : list move) : mat := fold_left (fun m o => mmul m (mat_of_move o)) l identity.
Definition apply_moves (l : list move) (n : nat) (p : poly) : poly := fold_left (apply_move n) l p.

Lemma change_mul : forall p ns m t u v,
  fval p ns (fst (change (mmul m t) 0 u v)) (snd (change (mmul m t) 0 u v))
  = fval p ns (fst (change m 0 (fst (change t 0 u v)) (snd (change t 0 u v))))
      (snd (change m 0 (fst (change t 0 u v)) (snd (change t 0 u v)))).
Proof.
  intros; apply fval_ext; intro k; cbn [change fst snd]; unfold upd; destruct (Nat.eqb_spec k 0) as [->|_];
    cbn [Nat.eqb]; rewrite ?toU_mul, ?toV_mul; reflexivity.
Qed.

Lemma apply_moves_ok : forall l n p ns u v, fits n p = true -> 
  fval (apply_moves l n p) (n :: ns) u v
  = fval p (n :: ns) (fst (change (mat_of_moves l) 0 u v)) (snd (change (mat_of_moves l) 0 u v)).
Proof.
  assert (G : forall l n p0 m p ns,
    (fits n p = true /\ forall u v, fval p (n :: ns) u v
       = fval p0 (n :: ns) (fst (change m 0 u v)) (snd (change m 0 u v))) ->
    forall u v, fval (fold_left (apply_move n) l p) (n :: ns) u v
      = fval p0 (n :: ns) (fst (change (fold_left (fun m o => mmul m (mat_of_move o)) l m) 0 u v))
          (snd (change (fold_left (fun m o => mmul m (mat_of_move o)) l m) 0 u v))).
  { induction l as [|o l IH]; intros n p0 m p ns [F E] u v; cbn [fold_left]; [apply E|].
    apply IH; destruct (apply_move_ok o n p ns u v F) as [F' _]; split; [exact F'|]; clear u v; intros u v.
    destruct (apply_move_ok o n p ns u v F) as [_ E']; rewrite E', E, change_mul; reflexivity. }
  intros l n p ns u v F; apply (G l n p identity p ns); split; [exact F|]; clear u v; intros u v.
  apply fval_ext; intro k; cbn [change fst snd]; unfold toU, toV, upd, identity; cbn [ma mb mc md];
    destruct (Nat.eqb_spec k 0) as [->|_]; lra.
Qed.

(** The same below k variables. *)
Fixpoint at_depth (k : nat) (f : poly -> poly) : poly -> poly :=
  match k with
  | O => f
  | S k =>
      fix go p :=
        match p with
        | Pc _ => mkX (at_depth k f p) (Pc 0)
        | PX q p => mkX (at_depth k f q) (match p with Pc Z0 => Pc 0 | _ => go p end)
        end
  end.

Fixpoint fits_at (k n : nat) : poly -> bool :=
  match k with
  | O => fits n
  | S k => fix go p := match p with Pc _ => true | PX q p => fits_at k n q && go p end
  end.

Lemma fits_at_Pc : forall k n c, fits_at k n (Pc c) = true.
Proof. destruct k; easy. Qed.

Lemma at_depth_ok : forall l k p ns u v, fits_at k (nth k ns 0%nat) p = true ->
  fval (at_depth k (apply_moves l (nth k ns 0%nat)) p) ns u v
  = fval p ns (fst (change (mat_of_moves l) k u v)) (snd (change (mat_of_moves l) k u v)).
Proof.
  intros l k; set (t := mat_of_moves l); induction k as [|k IH]; intros p ns u v H.
  - cbn [at_depth fits_at] in *.
    rewrite <- (fval_hd _ ns), <- (fval_hd p ns).
    replace (nth 0 ns 0%nat) with (hd 0%nat ns) in * by now destruct ns.
    now apply apply_moves_ok.
  - assert (G : forall q ns, fits_at k (nth k (tl ns) 0%nat) q = true ->
      fval (at_depth k (apply_moves l (nth k (tl ns) 0%nat)) q) (tl ns) (shift u) (shift v)
      = fval q (tl ns) (shift (fst (change t (S k) u v))) (shift (snd (change t (S k) u v)))).
    { intros q ms Q; rewrite (IH q (tl ms) (shift u) (shift v) Q); apply fval_ext; reflexivity. }
    assert (N : forall ns : list nat, nth (S k) ns 0%nat = nth k (tl ns) 0%nat).
    { intros [|a m]; [now destruct k|easy]. }
    rewrite N in *.
    remember (nth k (tl ns) 0%nat) as n eqn:En.
    revert ns En H; induction p as [c|q _ p IHp]; intros ns En H.
    + cbn [at_depth]; rewrite fval_mkX; cbn [fval].
      specialize (G (Pc c) ns); rewrite <- En in G; rewrite G by apply fits_at_Pc.
      cbn [fval]; rewrite (wt_cons ns); cbn [change fst]; rewrite upd_other by easy; lra.
    + cbn [fits_at] in H; apply andb_prop in H as [H1 H2].
      cbn [at_depth]; rewrite fval_mkX; cbn [fval].
      pose proof (G q ns) as Gq; rewrite <- En in Gq; rewrite Gq by easy.
      replace (fst (change t (S k) u v) 0%nat) with (u 0%nat) by reflexivity.
      replace (snd (change t (S k) u v) 0%nat) with (v 0%nat) by reflexivity.
      f_equal; f_equal.
      destruct (is_zero_poly_dec p) as [->|Z]; [cbn [fval]; lra|].
      rewrite <- (IHp (pred (hd 0%nat ns) :: tl ns)); [|exact En|exact H2].
      destruct p as [[| |]|]; try reflexivity; easy.
Qed.
