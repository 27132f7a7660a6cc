(** When one polynomial is a positive multiple of another one: quick answers for those that are written alike. *)

From Coq Require Import ZArith Reals Lia Lra.
From Paramverify Require Import Poly.
Local Open Scope R_scope.

(** a·p = b·q, seen coefficient by coefficient: [vm_compute] stops at the first that differs. *)
Fixpoint same_multiple (a b : Z) (p q : poly) : bool :=
  match p, q with
  | Pc c, Pc d => Z.eqb (a * c) (b * d)
  | PX p1 p2, PX q1 q2 => if same_multiple a b p1 q1 then same_multiple a b p2 q2 else false
  | _, _ => false
  end.

Lemma same_multiple_ok : forall a b p q, same_multiple a b p q = true ->
  forall e, IZR a * eval p e = IZR b * eval q e.
Proof.
  intros a b; induction p as [c|p1 IH1 p2 IH2]; intros [d|q1 q2] H e; simpl in H; try discriminate.
  - apply Z.eqb_eq in H; simpl; now rewrite <- !mult_IZR, H.
  - destruct (same_multiple a b p1 q1) eqn:E; [|discriminate]; simpl.
    rewrite !Rmult_plus_distr_l, (IH1 _ E (shift e)).
    replace (IZR a * (e 0%nat * eval p2 e)) with (e 0%nat * (IZR a * eval p2 e)) by ring.
    rewrite (IH2 _ H e); ring.
Qed.

(** The same as [proportional] for polynomials that are written alike, and much quicker where it fails. *)
Definition multiples (p q : poly) : bool :=
  let a := lead p in
  let b := lead q in
  if Z.ltb 0 (a * b) then same_multiple (Z.abs b) (Z.abs a) p q else false.

Lemma multiples_ok : forall p q, multiples p q = true ->
  exists a b, 0 < a /\ 0 < b /\ forall e, a * eval p e = b * eval q e.
Proof.
  intros p q; unfold multiples; destruct (Z.ltb_spec 0 (lead p * lead q)) as [L|]; [|discriminate]; intro H.
  exists (IZR (Z.abs (lead q))), (IZR (Z.abs (lead p))); repeat split; try (apply IZR_lt; nia).
  now apply same_multiple_ok.
Qed.
