(** What the checker accepts is true. *)

From Coq Require Import ZArith List Bool.
From Paramverify Require Import Poly Goal Certificate Rule RuleConvexRoot RuleConvex RuleMoves RuleExponential
  RuleBlowup RuleProduct RuleLogarithm RuleCore RuleBernstein RuleSquares RuleLemma Check.
Import ListNotations.

Theorem check_sound : forall depth lemmas g c,
  (forall l, In l lemmas -> holds l) -> check depth lemmas g c = true -> holds g.
Proof.
  induction depth as [|depth IH]; intros lemmas g c L H; [discriminate|].
  assert (R : honest (check depth lemmas)) by (intros h d K; exact (IH lemmas h d L K)).
  destruct c; cbn [check] in H;
  [ exact (check_constant_sound _ R _ H)
  | exact (check_fixed_sound _ R _ _ _ H)
  | exact (check_factors_sound _ R _ _ _ H)
  | exact (check_sum_sound _ R _ _ H)
  | exact (check_ends_sound _ R _ _ _ _ _ H)
  | exact (check_monotone_sound _ R _ _ _ _ _ H)
  | exact (check_quadratic_sound _ R _ _ _ _ _ H)
  | exact (check_bernstein_sound _ R _ _ H)
  | exact (check_convex_sound _ R _ _ H)
  | exact (check_convex_root_sound _ R _ _ _ _ _ H)
  | exact (check_constraint_sound _ R _ _ _ _ H)
  | exact (check_divide_sound _ R _ _ _ _ _ _ H)
  | exact (check_contradiction_sound _ R _ _ _ H)
  | exact (check_stretch_sound _ R _ _ _ _ H)
  | exact (check_eliminate_sound _ R _ _ _ _ _ H)
  | exact (check_product_sound _ R _ _ _ _ H)
  | exact (check_blowup_sound _ R _ _ H)
  | exact (check_enclose_sound _ R _ _ _ _ H)
  | exact (check_exponential_sound _ R _ H)
  | exact (check_logarithm_sound _ R _ _ _ _ H)
  | exact (check_squares_sound _ R _ _ _ H)
  | exact (check_vanish_sound _ R _ _ _ _ H)
  | exact (check_lemma_sound _ L _ _ H) ].
Qed.

Lemma check_lemmas_sound : forall depth l known all, (forall g, In g known -> holds g) ->
  check_lemmas depth known l = Some all -> forall g, In g all -> holds g.
Proof.
  induction l as [|[g c] l IH]; intros known all K H.
  - simpl in H; inversion H; subst; exact K.
  - cbn [check_lemmas] in H; destruct (check depth known g c) eqn:E; [|discriminate].
    apply (IH (known ++ [g])); [|exact H]; intros h I.
    apply in_app_or in I; destruct I as [I|[<-|[]]]; [exact (K h I)|].
    exact (check_sound _ _ _ _ K E).
Qed.

Theorem check_all_sound : forall depth lemmas claims,
  check_all depth lemmas claims = true -> forall g c, In (g, c) claims -> holds g.
Proof.
  intros depth lemmas claims H g c I; unfold check_all in H.
  destruct (check_lemmas depth [] lemmas) as [known|] eqn:E; [|discriminate].
  rewrite forallb_forall in H; specialize (H _ I); cbn [fst snd] in H.
  refine (check_sound _ _ _ _ _ H); intros l K.
  refine (check_lemmas_sound _ _ _ _ _ E _ K); intros h [].
Qed.
