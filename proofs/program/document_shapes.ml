(* The forms of documents, by their formats. *)

open Faults
open Json
open Shapes

let formats =
  [ "composition"; "slots"; "automaton"; "enclosed" ]
  |> List.map (fun name -> "paramverify-" ^ name)

let document value =
  match List.assoc_opt "format" (members value) with
  | Some (String name) when List.mem name formats -> unknown ("the format '" ^ name ^ "' is not known to the proved checker")
  | _ ->
      tagged "format"
        [
          ("paramverify-evidence", Evidence_shapes.evidence);
          ("paramverify-sets", Sum_shapes.sets);
          ("paramverify-cone", Model_shapes.cone);
          ("paramverify-regions", Map_shapes.regions);
          ("paramverify-unwinding", Model_shapes.unwinding);
          ("paramverify-losses", Sum_shapes.losses);
          ("paramverify-script", Evidence_shapes.script);
          ("paramverify-formulas", Model_shapes.formulas);
          ("paramverify-intervals", Map_shapes.intervals);
        ]
        value
