(** Polynomials that are not negative on a box, by homogeneous forms.

    With a·u + b·v = 1 and c·u + d·v = x, a polynomial of degree n in x is a form Σ cⱼ·uⁿ⁻ʲ·vʲ.  For
    x = (A·u + B·v)/D with u + v = 1 its coefficients are those of Bernstein, up to positive numbers.  Where u
    and v are at least zero and all coefficients are, the polynomial is.  A form is written as a polynomial
    again: the chain of the variable k has the coefficients cⱼ.  A change of u and v, which is a matrix of whole
    numbers, is all that is ever done: to begin, and for each cut.  It is made of shears, which only add where
    they can. *)

From Coq Require Import ZArith Reals List Lia Lra Bool QArith Qreals Psatz.
From Paramverify Require Import Poly Goal.
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

(** * Forms on boxes *)

Record form := Form { fpoly : poly; fdegrees : list nat; fmats : list mat; fgood : bool }.
Definition mat_at (l : list mat) (k : nat) : mat := nth k l identity.

Fixpoint put (l : list mat) (k : nat) (m : mat) : list mat :=
  match k, l with
  | O, [] => [m]
  | O, _ :: l => m :: l
  | S k, [] => identity :: put [] k m
  | S k, a :: l => a :: put l k m
  end.

Lemma mat_put_same : forall k l m, mat_at (put l k m) k = m.
Proof. unfold mat_at; induction k; intros [|a l] m; simpl; auto. Qed.

Lemma mat_put_other : forall k l m j, j <> k -> mat_at (put l k m) j = mat_at l j.
Proof.
  unfold mat_at; induction k; intros [|a l] m [|j] H; simpl; try easy.
  - now destruct j.
  - rewrite IHk by lia; now destruct j.
  - apply IHk; lia.
Qed.

Definition form_of (p : poly) (ns : list nat) : form := Form p ns [] true.

Definition step (k : nat) (l : list move) (f : form) : form :=
  let n := nth k (fdegrees f) 0%nat in
  if fgood f && fits_at k n (fpoly f)
  then Form (at_depth k (apply_moves l n) (fpoly f)) (fdegrees f)
         (put (fmats f) k (mmul (mat_at (fmats f) k) (mat_of_moves l))) true
  else Form (Pc 0) (fdegrees f) [] false.

(** The form is p, seen from other coordinates. *)
Definition shows (f : form) (p : poly) : Prop :=
  fgood f = true -> forall u v, fval (fpoly f) (fdegrees f) u v =
    fval p (fdegrees f) (fun k => toU (mat_at (fmats f) k) (u k) (v k))
      (fun k => toV (mat_at (fmats f) k) (u k) (v k)).

Lemma form_of_shows : forall p ns, shows (form_of p ns) p.
Proof.
  intros p ns _ u v; apply fval_ext; intro k; unfold mat_at; cbn [form_of fmats];
    rewrite nth_overflow by (simpl; lia); unfold toU, toV, identity; cbn [ma mb mc md]; lra.
Qed.

Lemma step_shows : forall k l f p, shows f p -> shows (step k l f) p.
Proof.
  intros k l f p H; unfold step.
  destruct (fgood f && fits_at k (nth k (fdegrees f) 0%nat) (fpoly f)) eqn:E; [|intro; discriminate].
  apply andb_prop in E as [E1 E2]; intros _ u v; cbn [fpoly fdegrees fmats].
  rewrite at_depth_ok by easy; rewrite (H E1).
  apply fval_ext; intro j; cbn [change fst snd]; (destruct (Nat.eq_dec j k) as [->|n];
    [rewrite !upd_same, mat_put_same, ?toU_mul, ?toV_mul; reflexivity
    |rewrite !upd_other, mat_put_other by easy; reflexivity]).
Qed.

(** To the interval [A/D, B/D], from 1 and x: D·(u + v) = 1 and A·u + B·v = x. *)
Definition moves_to (a b d : Z) : list move := [Rev; Scale d; Rev; Shear a; Scale (b - a); Rev; Shear 1; Rev].
Definition moves_of (i : interval) : list move :=
  let (a, m) := lo i in
  let (b, n) := hi i in
  if Pos.eqb m n then moves_to a b (Zpos m) else moves_to (a * Zpos n) (b * Zpos m) (Zpos (m * n)).

Fixpoint on_axes (b : box) (k : nat) (f : form) : form :=
  match b with
  | [] => f
  | None :: b => on_axes b (S k) f
  | Some i :: b => on_axes b (S k) (step k (moves_of i) f)
  end.

Definition form_on (b : box) (ns : list nat) (p : poly) : form := on_axes b 0 (form_of p ns).

Lemma form_on_shows : forall b ns p, shows (form_on b ns p) p.
Proof.
  intros b ns p; unfold form_on; generalize (form_of_shows p ns); generalize (form_of p ns), 0%nat.
  induction b as [|[i|] b IH]; intros f k H; simpl; auto.
  now apply IH, step_shows.
Qed.

(** Only variables with an interval occur. *)
Fixpoint flat (b : box) (p : poly) : bool :=
  match p with
  | Pc _ => true
  | PX q r =>
      match b with
      | Some _ :: b' => flat b' q && flat b r
      | None :: b' => is_zero r && flat b' q
      | [] => false
      end
  end.

Definition mask (b : box) (e : env) : env := fun k => match at_axis b k with Some _ => e k | None => 0 end.

Lemma flat_eval : forall p b e, flat b p = true -> eval p (mask b e) = eval p e.
Proof.
  induction p as [c|q IHq p IHp]; intros b e H; [easy|].
  destruct b as [|[i|] b]; simpl in H; try discriminate; apply andb_prop in H as [H1 H2]; cbn [eval].
  - rewrite IHp by easy; change (shift (mask (Some i :: b) e)) with (mask b (shift e)).
    rewrite IHq by easy; reflexivity.
  - change (shift (mask (None :: b) e)) with (mask b (shift e)).
    rewrite IHq by easy; rewrite !(is_zero_eval _ H1); lra.
Qed.

Definition is_identity (m : mat) : bool :=
  Z.eqb (ma m) 1 && Z.eqb (mb m) 0 && Z.eqb (mc m) 0 && Z.eqb (md m) 1.

(** The interval is in [c/a, d/b]. *)
Definition covers1 (o : option interval) (m : mat) : bool :=
  match o with
  | None => is_identity m
  | Some i =>
      Z.ltb 0 (ma m) && Z.ltb 0 (mb m) &&
      Z.leb (mc m * Zpos (Qden (lo i))) (ma m * Qnum (lo i)) &&
      Z.leb (mb m * Qnum (hi i)) (md m * Zpos (Qden (hi i)))
  end.

Fixpoint covers (b : box) (l : list mat) : bool :=
  match b, l with
  | [], l => forallb is_identity l
  | o :: b, [] => match o with None => covers b [] | Some _ => false end
  | o :: b, m :: l => covers1 o m && covers b l
  end.

Lemma covers_at : forall b l k, covers b l = true -> covers1 (at_axis b k) (mat_at l k) = true.
Proof.
  unfold at_axis, mat_at; induction b as [|o b IH]; intros l k H.
  - simpl in H; replace (nth k [] None) with (@None interval) by now destruct k.
    rewrite forallb_forall in H; destruct (Nat.lt_ge_cases k (length l)) as [L|L].
    + apply H; now apply nth_In.
    + now rewrite nth_overflow.
  - destruct l as [|m l]; simpl in H.
    + destruct o; [discriminate|]; destruct k; [easy|].
      specialize (IH [] k H); now destruct k.
    + apply andb_prop in H as [H1 H2]; destruct k; simpl; auto.
Qed.

(** The u and v of a point. *)
Definition ucoord (m : mat) (x : R) : R :=
  let D := IZR (ma m) * IZR (md m) - IZR (mb m) * IZR (mc m) in
  if Req_EM_T D 0 then / IZR (ma m) else (IZR (md m) - IZR (mb m) * x) / D.
Definition vcoord (m : mat) (x : R) : R :=
  let D := IZR (ma m) * IZR (md m) - IZR (mb m) * IZR (mc m) in
  if Req_EM_T D 0 then 0 else (IZR (ma m) * x - IZR (mc m)) / D.

(** What is known of u and v on an axis, whose ends are left out or not. *)
Definition proper (lopen hopen : bool) (u v : R) : Prop :=
  0 <= u /\ 0 <= v /\ (0 < u \/ 0 < v) /\ (lopen = true -> 0 < v) /\ (hopen = true -> 0 < u).

Definition flags (o : option interval) : bool * bool :=
  match o with Some i => (lopen i, hopen i) | None => (false, true) end.

Lemma Q2R_bounds : forall q, Q2R q * IZR (Zpos (Qden q)) = IZR (Qnum q).
Proof. intros [n d]; unfold Q2R; simpl; field; apply Rgt_not_eq, pos_IZR. Qed.

Lemma coords_ok : forall o m x, covers1 o m = true -> (forall i, o = Some i -> inside i x) ->
  (o = None -> x = 0) ->
  toU m (ucoord m x) (vcoord m x) = 1 /\ toV m (ucoord m x) (vcoord m x) = x /\
  proper (fst (flags o)) (snd (flags o)) (ucoord m x) (vcoord m x).
Proof.
  intros [i|] [a b c d] x H I N; unfold covers1 in H.
  - repeat apply andb_prop in H as [H ?H]; cbn [ma mb mc md] in *.
    apply Z.ltb_lt in H, H2; apply Z.leb_le in H0, H1.
    specialize (I i eq_refl); destruct i as [l h lp hp]; cbn [lo hi] in *.
    destruct I as [I J]; cbn [lo hi lopen hopen] in I, J.
    apply IZR_lt in H, H2; apply IZR_le in H0, H1; rewrite !mult_IZR in H0, H1.
    pose proof (Q2R_bounds l) as L; pose proof (Q2R_bounds h) as K.
    pose proof (pos_IZR (Qden l)) as PL; pose proof (pos_IZR (Qden h)) as PH.
    assert (A : IZR c <= IZR a * Q2R l).
    { apply Rmult_le_reg_r with (IZR (Zpos (Qden l))); nra. }
    assert (B : IZR b * Q2R h <= IZR d).
    { apply Rmult_le_reg_r with (IZR (Zpos (Qden h))); nra. }
    assert (Lx := below_le _ _ _ I); assert (Hx := below_le _ _ _ J).
    unfold ucoord, vcoord, toU, toV, proper; cbn [ma mb mc md flags fst snd lopen hopen].
    set (D := IZR a * IZR d - IZR b * IZR c).
    assert (U : 0 <= IZR d - IZR b * x).
    { assert (IZR b * x <= IZR b * Q2R h) by (apply Rmult_le_compat_l; lra); lra. }
    assert (V : 0 <= IZR a * x - IZR c).
    { assert (IZR a * Q2R l <= IZR a * x) by (apply Rmult_le_compat_l; lra); lra. }
    assert (DE : D = IZR a * (IZR d - IZR b * x) + IZR b * (IZR a * x - IZR c)) by (unfold D; ring).
    assert (U' : 0 <= IZR a * (IZR d - IZR b * x)) by (apply Rmult_le_pos; lra).
    assert (V' : 0 <= IZR b * (IZR a * x - IZR c)) by (apply Rmult_le_pos; lra).
    assert (D0 : 0 <= D) by lra.
    destruct (Req_EM_T D 0) as [E|E].
    + assert (X : IZR a * x - IZR c = 0).
      { apply Rmult_eq_reg_l with (IZR b); lra. }
      assert (Y : IZR d - IZR b * x = 0).
      { apply Rmult_eq_reg_l with (IZR a); lra. }
      assert (X1 : x <= Q2R l) by (apply Rmult_le_reg_l with (IZR a); lra).
      assert (X2 : Q2R h <= x) by (apply Rmult_le_reg_l with (IZR b); lra).
      assert (P : 0 < / IZR a) by now apply Rinv_0_lt_compat.
      split; [field; lra|]; split.
      * replace (IZR c) with (IZR a * x) by lra; field; lra.
      * split; [lra|]; split; [lra|]; split; [now left|].
        split; intros ->; simpl in *; lra.
    + assert (Dp : 0 < D) by lra.
      split; [unfold D in *; field; easy|]; split; [unfold D in *; field; easy|].
      assert (P : 0 < / D) by now apply Rinv_0_lt_compat.
      unfold Rdiv; split; [apply Rmult_le_pos; lra|]; split; [apply Rmult_le_pos; lra|]; split.
      * destruct (Rle_lt_or_eq_dec _ _ U) as [U1|U1]; [left; now apply Rmult_lt_0_compat|right].
        apply Rmult_lt_0_compat; [|easy]; rewrite <- U1 in DE.
        destruct (Rle_lt_or_eq_dec _ _ V) as [V1|V1]; [easy|]; rewrite <- V1 in DE; lra.
      * split; intros ->; simpl in *; apply Rmult_lt_0_compat; try easy.
        -- assert (IZR a * Q2R l < IZR a * x) by (now apply Rmult_lt_compat_l). lra.
        -- assert (IZR b * x < IZR b * Q2R h) by (now apply Rmult_lt_compat_l). lra.
  - unfold is_identity in H; repeat apply andb_prop in H as [H ?H]; cbn [ma mb mc md] in *.
    apply Z.eqb_eq in H, H0, H1, H2; subst; rewrite (N eq_refl).
    unfold ucoord, vcoord, toU, toV, proper; cbn [ma mb mc md flags fst snd].
    destruct (Req_EM_T _ _) as [E|E]; [lra|]; repeat split; try lra; try discriminate.
Qed.

(** * Signs *)

Fixpoint nonneg (p : poly) : bool :=
  match p with Pc c => Z.leb 0 c | PX q p => nonneg q && nonneg p end.

Lemma wt_nonneg : forall ns u, (forall k, 0 <= u k) -> 0 <= wt ns u.
Proof.
  induction ns as [|n ns IH]; intros u H; simpl; [lra|].
  apply Rmult_le_pos; [now apply pow_le|]; apply IH; intro; apply H.
Qed.

Lemma fval_nonneg : forall p ns u v, nonneg p = true -> (forall k, 0 <= u k) -> (forall k, 0 <= v k) ->
  0 <= fval p ns u v.
Proof.
  induction p as [c|q IHq p IHp]; intros ns u v H U V; simpl in *.
  - apply Rmult_le_pos; [apply IZR_le; now apply Z.leb_le|now apply wt_nonneg].
  - apply andb_prop in H as [H1 H2].
    assert (0 <= fval q (tl ns) (shift u) (shift v)) by (apply IHq; auto; intro; [apply U|apply V]).
    assert (0 <= fval p (pred (hd 0%nat ns) :: tl ns) u v) by now apply IHp.
    pose proof (pow_le (u 0%nat) (hd 0%nat ns) (U 0%nat)); pose proof (V 0%nat); nra.
Qed.

(** The form shows that p is at least zero on the box. *)
Definition leaf (f : form) (b : box) (p : poly) : bool :=
  fgood f && nonneg (fpoly f) && flat b p && covers b (fmats f).

Lemma shows_at : forall f p b e, shows f p -> fgood f = true -> flat b p = true ->
  covers b (fmats f) = true -> in_box b e ->
  let u := fun k => ucoord (mat_at (fmats f) k) (mask b e k) in
  let v := fun k => vcoord (mat_at (fmats f) k) (mask b e k) in
  eval p e = fval (fpoly f) (fdegrees f) u v /\
  forall k, proper (fst (flags (at_axis b k))) (snd (flags (at_axis b k))) (u k) (v k).
Proof.
  intros f p b e S G F C B u v.
  assert (P : forall k,
    toU (mat_at (fmats f) k) (u k) (v k) = 1 /\ toV (mat_at (fmats f) k) (u k) (v k) = mask b e k /\
    proper (fst (flags (at_axis b k))) (snd (flags (at_axis b k))) (u k) (v k)).
  { intro k; apply coords_ok; [now apply covers_at| |]; unfold mask; intros; rewrite H; auto. }
  split; [|intro k; apply P].
  rewrite <- (flat_eval _ _ _ F), (S G), <- (fval_one _ (fdegrees f)).
  apply fval_ext; intro k; symmetry; apply P.
Qed.

Lemma leaf_ok : forall f b p e, shows f p -> leaf f b p = true -> in_box b e -> 0 <= eval p e.
Proof.
  intros f b p e S H B; unfold leaf in H; repeat apply andb_prop in H as [H ?H].
  destruct (shows_at f p b e S) as [-> P]; auto.
  apply fval_nonneg; auto; intro k; apply P.
Qed.

(** The degrees in all variables. *)
Fixpoint lmax (l m : list nat) : list nat :=
  match l, m with [], m => m | l, [] => l | a :: l, b :: m => Nat.max a b :: lmax l m end.
Fixpoint degrees (p : poly) : list nat :=
  match p with
  | Pc _ => []
  | PX q r =>
      lmax (O :: degrees q)
        (match r with Pc Z0 => [] | _ => match degrees r with [] => [1%nat] | n :: l => S n :: l end end)
  end.

Definition nonneg_at (ns : list nat) (b : box) (p : poly) : bool := leaf (form_on b ns p) b p.
Definition nonneg_on (b : box) (p : poly) : bool := nonneg_at (degrees p) b p.

Lemma nonneg_at_ok : forall ns b p e, nonneg_at ns b p = true -> in_box b e -> 0 <= eval p e.
Proof. intros ns b p e H B; exact (leaf_ok _ _ _ _ (form_on_shows b ns p) H B). Qed.

Lemma nonneg_on_ok : forall b p e, nonneg_on b p = true -> in_box b e -> 0 <= eval p e.
Proof. intros b p e; apply nonneg_at_ok. Qed.

(** * Positive forms

    Each point lies inside a face, with the other variables at ends that are in the box. *)

Definition pfirst (p : poly) : poly := match p with Pc _ => p | PX q _ => q end.
Fixpoint plast (n : nat) (p : poly) : poly :=
  match n with O => pfirst p | S n => match p with Pc _ => Pc 0 | PX _ p => plast n p end end.
Fixpoint psum (p : poly) : poly := match p with Pc _ => p | PX q p => padd q (psum p) end.

Fixpoint positive_form (fl : list (bool * bool)) (ns : list nat) (p : poly) : bool :=
  match fl with
  | [] => match ns, p with [], Pc c => Z.ltb 0 c | _, _ => false end
  | (l, h) :: fl =>
      (l || positive_form fl (tl ns) (pfirst p)) && (h || positive_form fl (tl ns) (plast (hd 0%nat ns) p)) &&
      (if l && h then positive_form fl (tl ns) (psum p) else true)
  end.

Lemma nonneg_mkX : forall q p, nonneg q = true -> nonneg p = true -> nonneg (mkX q p) = true.
Proof. intros [c|q1 q2] [[| |]|p1 p2] Q P; simpl in *; rewrite ?Q, ?P; easy. Qed.

Lemma nonneg_addc : forall a p, (0 <= a)%Z -> nonneg p = true -> nonneg (addc a p) = true.
Proof.
  induction p as [c|q IHq p IHp]; simpl; intros A H.
  - apply Z.leb_le in H; apply Z.leb_le; lia.
  - apply andb_prop in H as [H1 H2]; now rewrite IHq, H2.
Qed.

Lemma nonneg_padd : forall p q, nonneg p = true -> nonneg q = true -> nonneg (padd p q) = true.
Proof.
  induction p as [a|p1 IH1 p2 IH2]; intros q P Q; cbn [padd].
  - apply nonneg_addc; auto; now apply Z.leb_le.
  - simpl in P; apply andb_prop in P as [P1 P2]; destruct q as [b|q1 q2]; simpl in Q.
    + simpl; rewrite P2, nonneg_addc; auto; now apply Z.leb_le.
    + apply andb_prop in Q as [Q1 Q2]; apply nonneg_mkX; auto.
Qed.

Lemma nonneg_pfirst : forall p, nonneg p = true -> nonneg (pfirst p) = true.
Proof. intros [c|q p] H; simpl in *; [easy|]; now apply andb_prop in H. Qed.

Lemma nonneg_plast : forall n p, nonneg p = true -> nonneg (plast n p) = true.
Proof.
  induction n; intros p H; [now apply nonneg_pfirst|].
  destruct p; [easy|]; simpl in *; apply andb_prop in H as [_ H]; auto.
Qed.

Lemma nonneg_psum : forall p, nonneg p = true -> nonneg (psum p) = true.
Proof.
  induction p as [c|q IHq p IHp]; intro H; [easy|]; simpl in *.
  apply andb_prop in H as [H1 H2]; apply nonneg_padd; auto.
Qed.

Section Faces.
Variables u v : env.
Hypothesis U : forall k, 0 <= u k.
Hypothesis V : forall k, 0 <= v k.

Lemma low_nonneg : forall q ns, nonneg q = true -> 0 <= fval q ns (shift u) (shift v).
Proof. intros q ns H; apply fval_nonneg; auto; intro; [apply U|apply V]. Qed.

Lemma fval_first : forall p ns, nonneg p = true ->
  u 0%nat ^ hd 0%nat ns * fval (pfirst p) (tl ns) (shift u) (shift v) <= fval p ns u v.
Proof.
  intros [c|q p] ns H; cbn [pfirst fval].
  - rewrite (wt_cons ns); lra.
  - simpl in H; apply andb_prop in H as [H1 H2].
    pose proof (fval_nonneg p (pred (hd 0%nat ns) :: tl ns) u v H2 U V); pose proof (V 0%nat); nra.
Qed.

Lemma fval_last : forall n p ns, nonneg p = true ->
  v 0%nat ^ n * fval (plast n p) ns (shift u) (shift v) <= fval p (n :: ns) u v.
Proof.
  induction n as [|n IH]; intros p ns H.
  - pose proof (fval_first p (0%nat :: ns) H) as K; cbn [hd tl pow] in K; cbn [pow plast]; lra.
  - destruct p as [c|q p]; cbn [plast fval].
    + pose proof (fval_nonneg (Pc c) (S n :: ns) u v H U V) as K; cbn [fval] in K; lra.
    + simpl in H; apply andb_prop in H as [H1 H2]; cbn [hd tl pred].
      pose proof (IH p ns H2); pose proof (V 0%nat); pose proof (low_nonneg q ns H1).
      pose proof (pow_le (u 0%nat) (S n) (U 0%nat)).
      assert (0 <= u 0%nat ^ S n * fval q ns (shift u) (shift v)) by now apply Rmult_le_pos.
      change (v 0%nat ^ S n) with (v 0%nat * v 0%nat ^ n); nra.
Qed.

Lemma fval_sum : 0 < u 0%nat -> 0 < v 0%nat -> forall p ns n, nonneg p = true ->
  0 < fval (psum p) ns (shift u) (shift v) -> 0 < fval p (n :: ns) u v.
Proof.
  intros U0 V0; induction p as [c|q _ p IH]; intros ns n H K; cbn [psum fval wt] in *.
  - pose proof (pow_lt _ n U0); nra.
  - simpl in H; apply andb_prop in H as [H1 H2]; cbn [hd tl]; rewrite fval_padd in K.
    pose proof (pow_lt _ n U0); pose proof (low_nonneg q ns H1).
    pose proof (fval_nonneg p (pred n :: ns) u v H2 U V).
    assert (N : 0 <= fval (psum p) ns (shift u) (shift v)) by now apply low_nonneg, nonneg_psum.
    destruct (Rle_lt_or_eq_dec _ _ N) as [L|L].
    + pose proof (IH ns (pred n) H2 L).
      assert (0 < v 0%nat * fval p (pred n :: ns) u v) by now apply Rmult_lt_0_compat.
      assert (0 <= u 0%nat ^ n * fval q ns (shift u) (shift v)) by (apply Rmult_le_pos; lra).
      lra.
    + assert (0 < u 0%nat ^ n * fval q ns (shift u) (shift v)) by (apply Rmult_lt_0_compat; lra).
      assert (0 <= v 0%nat * fval p (pred n :: ns) u v) by (apply Rmult_le_pos; lra).
      lra.
Qed.
End Faces.

Lemma positive_ok : forall fl ns p u v, nonneg p = true -> positive_form fl ns p = true ->
  (forall k, proper (fst (nth k fl (false, true))) (snd (nth k fl (false, true))) (u k) (v k)) ->
  0 < fval p ns u v.
Proof.
  induction fl as [|[l h] fl IH]; intros ns p u v N H P.
  - simpl in H; destruct ns; [|discriminate]; destruct p; [|discriminate].
    apply Z.ltb_lt, IZR_lt in H; simpl; lra.
  - assert (U : forall k, 0 <= u k) by (intro k; apply (P k)).
    assert (V : forall k, 0 <= v k) by (intro k; apply (P k)).
    assert (I : forall q, nonneg q = true -> positive_form fl (tl ns) q = true ->
      0 < fval q (tl ns) (shift u) (shift v)).
    { intros q Q R; apply IH; auto; intro k; apply (P (S k)). }
    cbn [positive_form] in H; apply andb_prop in H as [H H3]; apply andb_prop in H as [H1 H2].
    destruct (P 0%nat) as (_ & _ & E & L & K); cbn [nth fst snd] in L, K.
    rewrite <- (fval_hd p ns).
    destruct (Rle_lt_or_eq_dec _ _ (U 0%nat)) as [U0|U0].
    + destruct (Rle_lt_or_eq_dec _ _ (V 0%nat)) as [V0|V0].
      * destruct l; [destruct h|].
        -- apply fval_sum; auto; apply I; auto; now apply nonneg_psum.
        -- eapply Rlt_le_trans; [|apply fval_last; auto].
           apply Rmult_lt_0_compat; [now apply pow_lt|]; apply I; auto; now apply nonneg_plast.
        -- eapply Rlt_le_trans; [|apply fval_first; auto]; cbn [hd tl].
           apply Rmult_lt_0_compat; [now apply pow_lt|]; apply I; auto; now apply nonneg_pfirst.
      * destruct l; [specialize (L eq_refl); lra|].
        eapply Rlt_le_trans; [|apply fval_first; auto]; cbn [hd tl].
        apply Rmult_lt_0_compat; [now apply pow_lt|]; apply I; auto; now apply nonneg_pfirst.
    + destruct h; [specialize (K eq_refl); lra|].
      eapply Rlt_le_trans; [|apply fval_last; auto].
      apply Rmult_lt_0_compat; [apply pow_lt; lra|]; apply I; auto; now apply nonneg_plast.
Qed.

Definition positive_on (b : box) (p : poly) : bool :=
  let f := form_on b (degrees p) p in
  leaf f b p && positive_form (map flags b) (fdegrees f) (fpoly f).

Lemma positive_on_ok : forall b p e, positive_on b p = true -> in_box b e -> 0 < eval p e.
Proof.
  intros b p e H B; unfold positive_on, leaf in H; repeat apply andb_prop in H as [H ?H].
  destruct (shows_at _ p b e (form_on_shows b (degrees p) p)) as [-> P]; auto.
  apply positive_ok with (map flags b); auto; intro k; specialize (P k); unfold at_axis in P.
  change (false, true) with (flags None); now rewrite map_nth.
Qed.
