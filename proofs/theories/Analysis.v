(** What signs of derivatives say about functions of one real variable, by the mean value theorem. *)

From Coq Require Import Reals Lra.
Local Open Scope R_scope.

Section Line.
Variables f f1 f2 : R -> R.
Hypothesis D1 : forall x, derivable_pt_lim f x (f1 x).

Lemma mean : forall a b, a < b -> exists c, f b - f a = f1 c * (b - a) /\ a < c < b.
Proof. intros a b H; apply MVT_cor2; auto. Qed.

Lemma increasing_on : forall a b, a <= b -> (forall x, a < x < b -> 0 <= f1 x) -> f a <= f b.
Proof.
  intros a b [L|E] H; [|rewrite E; lra].
  destruct (mean a b L) as (c & E & C); specialize (H c C).
  assert (0 <= f1 c * (b - a)) by (apply Rmult_le_pos; lra); lra.
Qed.

Lemma decreasing_on : forall a b, a <= b -> (forall x, a < x < b -> f1 x <= 0) -> f b <= f a.
Proof.
  intros a b [L|E] H; [|rewrite E; lra].
  destruct (mean a b L) as (c & E & C); specialize (H c C).
  assert (0 <= - f1 c * (b - a)) by (apply Rmult_le_pos; lra); lra.
Qed.

Hypothesis D2 : forall x, derivable_pt_lim f1 x (f2 x).

(** A concave function is at least zero between two points at which it is. *)
Lemma concave_on : forall a b x, a <= x <= b -> (forall y, a < y < b -> f2 y <= 0) ->
  0 <= f a -> 0 <= f b -> 0 <= f x.
Proof.
  intros a b x [[L|<-] [M| ->]] H A B; try easy.
  destruct (Rle_or_lt 0 (f x)) as [K|K]; [easy|exfalso].
  destruct (mean a x L) as (c & E & C); destruct (mean x b M) as (d & F & D).
  assert (f1 c < 0).
  { destruct (Rlt_or_le (f1 c) 0) as [N|N]; [easy|exfalso].
    assert (0 <= f1 c * (x - a)) by (apply Rmult_le_pos; lra); lra. }
  assert (0 < f1 d).
  { destruct (Rlt_or_le 0 (f1 d)) as [N|N]; [easy|exfalso].
    assert (0 <= - f1 d * (b - x)) by (apply Rmult_le_pos; lra); lra. }
  destruct (MVT_cor2 f1 f2 c d) as (m & G & I); [lra|auto|].
  assert (N : f2 m <= 0) by (apply H; lra).
  assert (0 <= - f2 m * (d - c)) by (apply Rmult_le_pos; lra); lra.
Qed.
End Line.
