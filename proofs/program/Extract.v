(** The functions of which theorems say that they are right, as OCaml. Whole numbers become those of Zarith. *)

From Coq Require Import Extraction ExtrOcamlBasic ExtrOcamlNatInt ExtrOcamlZBigInt QArith.
From Paramverify Require Import Poly Goal Certificate Check Witness WitnessPoints Sets SetWitness ConeModels Cones
  ConeLevels ConeRuns ConeLoops EveryLength Maxima Standing Parts Maps Folds Weights Interactive Families Closures
  Systems Violations.

Extraction "checker.ml"
  check max_depth refutes refutes_with_exp refutes_at_root check_sum refutes_sum refutes_sum_with_exp
  check_cone check_loop check_standing check_region symmetric check_interactive check_violation.
