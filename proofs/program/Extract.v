(** The functions of which theorems say that they are right, as OCaml. Whole numbers become those of Zarith. *)

From Coq Require Import Extraction ExtrOcamlBasic ExtrOcamlNatInt ExtrOcamlZBigInt QArith.
From Paramverify Require Import Poly Goal Certificate Check Witness WitnessPoints Sets SetWitness.

Extraction "checker.ml"
  check max_depth refutes refutes_with_exp refutes_at_root check_excess refutes_sum refutes_sum_with_exp.
