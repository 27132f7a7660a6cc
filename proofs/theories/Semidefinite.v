(* Quadratic forms that are nowhere negative: elimination with whole numbers, and entries between bounds. *)
From Coq Require Import Reals Lra Lia List Arith ZArith Bool.
From Paramverify Require Import Poly Convexity.
Import ListNotations.
Open Scope R_scope.

(* A row has the entry on the diagonal, and those on its right. *)
Fixpoint dot (b x : list R) : R :=
  match b, x with a :: b, y :: x => a * y + dot b x | _, _ => 0 end.

Fixpoint form (t : list (R * list R)) (x : list R) : R :=
  match t, x with
  | (a, b) :: t, y :: x => a * (y * y) + 2 * y * dot b x + form t x
  | _, _ => 0
  end.

Definition real_rows (t : list (Z * list Z)) : list (R * list R) :=
  map (fun r => (IZR (fst r), map IZR (snd r))) t.

(* --- elimination ----------------------------------------------------------------------------------- *)

(* a·l - c·b, where what is missing counts as 0. *)
Fixpoint combine_rows (a c : Z) (l b : list Z) : list Z :=
  match l, b with
  | [], _ => map (fun y => - c * y)%Z b
  | _, [] => map (fun x => a * x)%Z l
  | x :: l, y :: b => (a * x - c * y)%Z :: combine_rows a c l b
  end.

Fixpoint eliminate (a : Z) (b : list Z) (t : list (Z * list Z)) : list (Z * list Z) :=
  match b with
  | [] => map (fun r => (a * fst r, map (fun x => a * x) (snd r)))%Z t
  | c :: b =>
    match t with
    | [] => (- c * c, combine_rows a c [] b)%Z :: eliminate a b []
    | (d, l) :: t => (a * d - c * c, combine_rows a c l b)%Z :: eliminate a b t
    end
  end.

Fixpoint semidefinite (n : nat) (t : list (Z * list Z)) : bool :=
  match t with
  | [] => true
  | (a, b) :: t =>
    match n with
    | O => false
    | S n =>
      if (0 <? a)%Z then semidefinite n (eliminate a b t)
      else (a =? 0)%Z && forallb (Z.eqb 0) b && semidefinite n t
    end
  end.

Lemma dot_scaled : forall a l x, dot (map IZR (map (fun y => a * y)%Z l)) x = IZR a * dot (map IZR l) x.
Proof.
  induction l as [|y l IH]; intros [|v x]; simpl; try ring. rewrite IH, mult_IZR. ring.
Qed.

Lemma dot_combined : forall a c l b x,
  dot (map IZR (combine_rows a c l b)) x = IZR a * dot (map IZR l) x - IZR c * dot (map IZR b) x.
Proof.
  induction l as [|u l IH]; intros [|v b] x; cbn [combine_rows].
  - simpl. ring.
  - rewrite (dot_scaled (- c)), opp_IZR. simpl. ring.
  - rewrite dot_scaled. simpl. ring.
  - destruct x as [|y x]; simpl; [ring|]. rewrite IH, minus_IZR, !mult_IZR. ring.
Qed.

Lemma form_scaled : forall a t x,
  form (real_rows (map (fun r => (a * fst r, map (fun y => a * y) (snd r)))%Z t)) x = IZR a * form (real_rows t) x.
Proof.
  induction t as [|[d l] t IH]; intros [|y x]; simpl; try ring.
  rewrite IH, mult_IZR, dot_scaled. ring.
Qed.

Lemma form_eliminated : forall a b t x,
  IZR a * form (real_rows t) x
  = form (real_rows (eliminate a b t)) x + dot (map IZR b) x * dot (map IZR b) x.
Proof.
  induction b as [|c b IH]; intros t x.
  - cbn [eliminate]. rewrite form_scaled. simpl. ring.
  - destruct t as [|[d l] t]; destruct x as [|y x]; try (simpl; ring).
    + pose proof (IH [] x) as E. cbn [eliminate]. simpl in E. simpl.
      rewrite (dot_scaled (- c)), mult_IZR, opp_IZR. nra.
    + pose proof (IH t x) as E. cbn [eliminate]. simpl.
      rewrite dot_combined, minus_IZR, !mult_IZR. nra.
Qed.

Lemma zeros_dot : forall b x, forallb (Z.eqb 0) b = true -> dot (map IZR b) x = 0.
Proof.
  induction b as [|c b IH]; intros [|y x] H; simpl; try reflexivity.
  cbn [forallb] in H. apply andb_prop in H as [H1 H2]. apply Z.eqb_eq in H1. subst.
  rewrite IH by assumption. ring.
Qed.

Lemma semidefinite_ok : forall n t, semidefinite n t = true -> forall x, 0 <= form (real_rows t) x.
Proof.
  induction n as [|n IH]; intros [|[a b] t] H [|y x]; try discriminate; try (simpl; lra).
  cbn [semidefinite] in H. simpl real_rows. cbn [form]. fold (real_rows t).
  destruct (Z.ltb_spec 0 a) as [L|L].
  - apply IZR_lt in L. pose proof (IH _ H x) as P. pose proof (form_eliminated a b t x) as E.
    apply Rmult_le_reg_l with (IZR a); [assumption|]. rewrite Rmult_0_r.
    set (B := dot (map IZR b) x) in *. set (F := form (real_rows t) x) in *.
    replace (IZR a * (IZR a * (y * y) + 2 * y * B + F))
      with ((IZR a * y + B) * (IZR a * y + B) + (IZR a * F - B * B)) by ring.
    pose proof (Rle_0_sqr (IZR a * y + B)) as S. unfold Rsqr in S. lra.
  - apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2].
    apply Z.eqb_eq in H1. subst a. rewrite zeros_dot by assumption. pose proof (IH _ H3 x). lra.
Qed.

(* --- entries between bounds ------------------------------------------------------------------------ *)

Definition widths (l : list (Z * Z)) : list Z := map (fun r => snd r - fst r)%Z l.
Definition sums (l : list (Z * Z)) : list Z := map (fun r => fst r + snd r)%Z l.
Definition total (l : list Z) : Z := fold_right Z.add 0%Z l.

Fixpoint add_rows (l b : list Z) : list Z :=
  match l, b with
  | [], _ => b
  | _, [] => l
  | x :: l, y :: b => (x + y)%Z :: add_rows l b
  end.

(* From a·x² + 2·x·Σ hⱼ·xⱼ with lowⱼ ≤ hⱼ ≤ highⱼ: twice the middle, less the widths on the diagonal. *)
Fixpoint weakened (rows : list (Z * list (Z * Z))) (less : list Z) : list (Z * list Z) :=
  match rows with
  | [] => map (fun a => (- a, [])%Z) less
  | (a, l) :: rows =>
    (2 * a - hd 0 less - total (widths l), sums l)%Z :: weakened rows (add_rows (tl less) (widths l))
  end.

Fixpoint within (l : list (Z * Z)) (h : list R) : Prop :=
  match l, h with
  | [], [] => True
  | (low, high) :: l, y :: h => IZR low <= y <= IZR high /\ within l h
  | _, _ => False
  end.

Fixpoint rows_within (rows : list (Z * list (Z * Z))) (t : list (R * list R)) : Prop :=
  match rows, t with
  | [], [] => True
  | (a, l) :: rows, (y, h) :: t => IZR a <= y /\ within l h /\ rows_within rows t
  | _, _ => False
  end.

Fixpoint dot_squares (l : list Z) (x : list R) : R :=
  match l, x with a :: l, y :: x => IZR a * (y * y) + dot_squares l x | _, _ => 0 end.

Lemma dot_squares_added : forall l b x, dot_squares (add_rows l b) x = dot_squares l x + dot_squares b x.
Proof.
  induction l as [|u l IH]; intros [|v b] x; cbn [add_rows]; try (destruct x; simpl; ring).
  destruct x as [|y x]; simpl; [ring|]. rewrite IH, plus_IZR. ring.
Qed.

Lemma widths_nonneg : forall l h, within l h -> 0 <= IZR (total (widths l)).
Proof.
  induction l as [|[low high] l IH]; intros [|y h] H; simpl in *; try tauto; [lra|].
  destruct H as [H1 H2]. apply IH in H2. rewrite plus_IZR, minus_IZR.
  lra.
Qed.

Lemma row_bound : forall l h v x, within l h ->
  4 * v * dot h x >= 2 * v * dot (map IZR (sums l)) x
                     - IZR (total (widths l)) * (v * v) - dot_squares (widths l) x.
Proof.
  induction l as [|[low high] l IH]; intros [|y h] v x H; try (simpl in H; tauto); [simpl; lra|].
  destruct x as [|w x].
  - pose proof (widths_nonneg _ _ H) as P. cbn [dot dot_squares map sums widths fst snd].
    cbn [widths map fst snd] in P.
    pose proof (Rle_0_sqr v) as S. unfold Rsqr in S.
    pose proof (Rmult_le_pos _ _ P S). lra.
  - destruct H as [H1 H2]. pose proof (IH h v x H2) as E.
    cbn [dot dot_squares map sums widths fst snd total fold_right].
    unfold sums, widths, total in E. unfold sums, widths, total.
    rewrite (plus_IZR (high - low)), minus_IZR, (plus_IZR low).
    set (A := dot (map IZR _) x) in *. set (B := dot_squares _ x) in *.
    set (C := IZR (fold_right _ _ _)) in *. set (F := dot h x) in *.
    assert (K : 4 * v * (y * w) >= 2 * v * ((IZR low + IZR high) * w)
                 - (IZR high - IZR low) * (v * v) - (IZR high - IZR low) * (w * w)).
    { assert (P1 : 0 <= (y - IZR low) * ((v + w) * (v + w))).
      { apply Rmult_le_pos; [lra|]. apply Rle_0_sqr. }
      assert (P2 : 0 <= (IZR high - y) * ((v - w) * (v - w))).
      { apply Rmult_le_pos; [lra|]. apply Rle_0_sqr. }
      nra. }
    nra.
Qed.

Lemma dot_squares_form : forall l x, form (real_rows (map (fun a => (- a, [])%Z) l)) x = - dot_squares l x.
Proof.
  induction l as [|a l IH]; intros [|y x]; simpl; try ring. rewrite IH, opp_IZR. ring.
Qed.

Lemma weakened_ok : forall rows t less x, rows_within rows t ->
  2 * form t x >= form (real_rows (weakened rows less)) x + dot_squares less x.
Proof.
  induction rows as [|[a l] rows IH]; intros [|[y h] t] less x H; try (simpl in H; tauto).
  - simpl weakened. rewrite dot_squares_form. simpl. lra.
  - destruct H as (H1 & H2 & H3). destruct x as [|v x]; [destruct less; simpl; lra|].
    pose proof (row_bound l h v x H2) as B.
    pose proof (IH t (add_rows (tl less) (widths l)) x H3) as E.
    rewrite dot_squares_added in E.
    assert (L : dot_squares less (v :: x) = IZR (hd 0%Z less) * (v * v) + dot_squares (tl less) x)
      by (destruct less; simpl; ring).
    rewrite L. unfold real_rows. cbn [weakened map form fst snd]. fold (real_rows (weakened rows (add_rows (tl less) (widths l)))). rewrite !minus_IZR, mult_IZR.
    assert (P : 0 <= (y - IZR a) * (v * v)).
    { apply Rmult_le_pos; [lra|]. apply Rle_0_sqr. }
    nra.
Qed.

(* --- from sums over two indices to rows ------------------------------------------------------------- *)

Fixpoint listed (f : nat -> R) (n : nat) : list R :=
  match n with O => [] | S n => f 0%nat :: listed (fun i => f (S i)) n end.

Fixpoint triangle (h : nat -> nat -> R) (n : nat) : list (R * list R) :=
  match n with
  | O => []
  | S n => (2 * h 0%nat 0%nat, listed (fun j => h 0%nat (S j) + h (S j) 0%nat) n)
           :: triangle (fun i j => h (S i) (S j)) n
  end.

Lemma dot_listed : forall n f g, dot (listed f n) (listed g n) = rsum (fun i => f i * g i) n.
Proof. induction n as [|n IH]; intros f g; simpl; [reflexivity|]. rewrite IH. reflexivity. Qed.

Lemma form_triangle : forall n h d,
  form (triangle h n) (listed d n) = 2 * rsum (fun i => d i * rsum (fun j => d j * h i j) n) n.
Proof.
  induction n as [|n IH]; intros h d; [simpl; ring|].
  cbn [triangle listed form]. rewrite IH, dot_listed. simpl.
  rewrite (rsum_ext n (fun i => d (S i) * (d 0%nat * h (S i) 0%nat + rsum (fun j => d (S j) * h (S i) (S j)) n))
            (fun i => d 0%nat * (h (S i) 0%nat * d (S i)) + d (S i) * rsum (fun j => d (S j) * h (S i) (S j)) n))
    by (intros; ring).
  rewrite rsum_plus, rsum_scale.
  rewrite (rsum_ext n (fun i => (h 0%nat (S i) + h (S i) 0%nat) * d (S i))
            (fun i => h 0%nat (S i) * d (S i) + h (S i) 0%nat * d (S i))) by (intros; ring).
  rewrite rsum_plus.
  rewrite (rsum_ext n (fun j => d (S j) * h 0%nat (S j)) (fun j => h 0%nat (S j) * d (S j))) by (intros; ring).
  ring.
Qed.

(* The bounds of all entries of a Hessian (twice its entries on the diagonal) show that it curves upwards. *)
Lemma curved_upwards : forall rows n h d, semidefinite (length (weakened rows [])) (weakened rows []) = true ->
  rows_within rows (triangle h n) -> 0 <= rsum (fun i => d i * rsum (fun j => d j * h i j) n) n.
Proof.
  intros rows n h d H W. pose proof (semidefinite_ok _ _ H (listed d n)) as P.
  pose proof (weakened_ok rows _ [] (listed d n) W) as B. rewrite form_triangle in B. simpl in B. lra.
Qed.
