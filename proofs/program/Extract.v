(** The functions of which theorems say that they are right, as OCaml. Whole numbers become those of Zarith. *)

From Coq Require Import Extraction ExtrOcamlBasic ExtrOcamlNatInt ExtrOcamlZBigInt QArith.
From Paramverify Require Import Poly Goal Certificate Check Witness WitnessPoints WitnessLogarithm WitnessBeside Sets Covers SetWitness.
From Paramverify Require Import ConeModels Cones ConeLevels ConeRuns ConeLoops EveryLength Maxima Standing MonotoneMaxima Everywhere.
From Paramverify Require Import Parts Maps Folds Weights Interactive Families Closures Systems Violations LowerBounds.
From Paramverify Require Import Environment Growth Slots Formulas Decisions Choices.
From Paramverify Require Import Losses LossWitness Intervals Compositions.

Extraction "extracted.ml"
  check max_depth refutes refutes_with_exp refutes_at_root refutes_with_log refutes_beside_logs check_excess check_covers refutes_sum refutes_sum_with_exp
  check_cone check_loop check_standing stands check_region symmetric check_interactive check_violation check_lower_bound same_value
  check_accepted check_growth check_slots run_from check_formula check_choices bound_path check_loss refutes_loss check_line roots_known signed_uses
  check_exact_delta check_exact_ratio.
