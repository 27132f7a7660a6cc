(** A polynomial as the product of two others: found by division, and shown by multiplication.

    Probabilities that a program computes may have factors above and below that cancel, so that a claim is a proved
    polynomial times one that is plainly at least zero. *)

From Coq Require Import ZArith Reals List Lia Lra Bool.
From Paramverify Require Import Chains.
Import ListNotations.
Local Open Scope R_scope.

(** The coefficients of the powers of variable 0, from the highest one down. *)
Fixpoint powers (f : poly) : list poly := match f with Pc c => [Pc c] | PX q p => powers p ++ [q] end.

Fixpoint without_zeros (l : list poly) : list poly :=
  match l with f :: l => if is_zero f then without_zeros l else f :: l | [] => [] end.

Definition of_powers (l : list poly) : poly := fold_left (fun p q => PX q p) l (Pc 0).

(** [l - a * m], term by term from the highest one; [m] is not longer. *)
Fixpoint reduce (a : poly) (l m : list poly) : list poly :=
  match l, m with
  | x :: l, y :: m => psub x (pmul a y) :: reduce a l m
  | _, _ => l
  end.

(** Division of [f] by [g], where it leaves nothing: else what is found is no quotient. *)
Fixpoint quotient (depth : nat) (f g : poly) : option poly :=
  match depth with
  | O => None
  | S depth =>
      match f, g with
      | Pc a, Pc b => if (b =? 0)%Z then None else if (a mod b =? 0)%Z then Some (Pc (a / b)) else None
      | _, _ =>
          match without_zeros (powers g) with
          | [] => None
          | highest :: below =>
              (fix long (steps : nat) (l found : list poly) : option poly :=
                 match steps with
                 | O => Some (of_powers (rev found))
                 | S steps =>
                     match l with
                     | [] => None
                     | x :: l =>
                         match (if is_zero x then Some (Pc 0) else quotient depth x highest) with
                         | Some a => long steps (reduce a l below) (a :: found)
                         | None => None
                         end
                     end
                 end) (S (length (powers f)) - length (highest :: below))%nat (powers f) []
          end
      end
  end.

(** Some h with s f = g h, for s > 0. *)
Definition cofactor (f g : poly) : option poly :=
  let s := Z.abs (lead g) in
  match quotient 64 (pscale s f) g with
  | Some h => if Z.ltb 0 s && peq (pscale s f) (pmul g h) then Some h else None
  | None => None
  end.

(** Whether [f] is a multiple of [g] by some polynomial that passes a test. *)
Definition multiple_by (good : poly -> bool) (f g : poly) : bool :=
  match cofactor f g with Some h => good h | None => false end.

Lemma multiple_by_right good f g : multiple_by good f g = true ->
  exists s h, 0 < s /\ good h = true /\ forall e, s * eval f e = eval g e * eval h e.
Proof.
  unfold multiple_by, cofactor. generalize (quotient 64 (pscale (Z.abs (lead g)) f) g). intros [q|] H; [|discriminate].
  destruct (Z.ltb 0 (Z.abs (lead g)) && peq (pscale (Z.abs (lead g)) f) (pmul g q)) eqn:E; [|discriminate].
  apply andb_true_iff in E. destruct E as [E1 E2]. apply Z.ltb_lt in E1.
  exists (IZR (Z.abs (lead g))), q. split; [apply IZR_lt; exact E1 | split; [exact H|]].
  intros e. pose proof (peq_eval _ _ E2 e) as P. rewrite eval_pscale, eval_pmul in P. exact P.
Qed.
