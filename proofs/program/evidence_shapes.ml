(* The forms of evidence about claims, and about the questions of scripts. *)

open Json
open Shapes
open Claim_shapes

let ratio =
  let quotient = function String ("infinity" | "undefined") -> () | value -> rational value in
  by_type ~strings:quotient ~objects:real ()

(* A number of a density, or of a set of numbers: exact, or rationals around it alone. *)
let chance =
  by_type ~strings:rational ~objects:(record [ ("lower", rational); ("upper", rational) ] ~optional:[ ("exact", text) ]) ()

let within =
  let quotient = function String "infinity" -> () | value -> chance value in
  record
    [ ("observations", listed text); ("probabilities", row [ chance; chance ]); ("ratio", quotient) ]
    ~optional:[ ("steps", table rational) ]

(* A coordinate: rational, or the only root of a polynomial in x in an interval. *)
let root = record [ ("lower", rational); ("upper", rational); ("root_of", text) ]
let coordinates = table (by_type ~strings:rational ~objects:root ())

let algebraic =
  record [ ("minimal", text); ("interval", row [ rational; rational ]); ("coordinates", table text) ]

let witness =
  record
    [ ("claim", claim); ("parameters", coordinates) ]
    ~optional:
      [
        ("algebraic", algebraic);
        ("secrets", listed text);
        ("observations", listed text);
        ("probabilities", row [ real; real ]);
        ("ratio", ratio);
        ("bound", real);
        ("exceeds", flag);
        ("distance", rational);
        ("densities", flag);
        ("within", within);
        ("length", whole);
        ("order", whole);
        ("measure", text);
        ("moment", ratio);
        ("largest", largest);
        ("number", whole);
        ("statement", text);
        ("relation", one_of [ "<"; "<="; ">"; ">="; "==" ]);
        ("left", real);
        ("right", real);
        ("difference", real);
        ("fails", flag);
      ]

(* The witness of a budget: of one output, or of a sum, which has a `moment`, of an order or a measure. *)
let compared : shape =
  let moment of_what =
    [ ("secrets", listed text); ("length", whole); of_what; ("moment", ratio); ("bound", real); ("exceeds", flag); ("largest", largest) ]
  in
  let output =
    [ ("secrets", listed text); ("observations", listed text); ("probabilities", row [ real; real ]); ("ratio", ratio);
      ("bound", real); ("exceeds", flag) ]
  in
  let beside = [ ("distance", rational); ("densities", flag); ("within", within) ] in
  function
  | Object items as value when List.mem_assoc "moment" items ->
      let of_what = if List.mem_assoc "measure" items then ("measure", text) else ("order", whole) in
      record (("parameters", point) :: moment of_what) value
  | value -> record (("parameters", point) :: output) ~optional:beside value

let budget =
  record
    [ ("bound", maybe (row [ text; text ])); ("witnesses", listed compared) ]
    ~optional:[ ("bounds", table (row [ text; text ])) ]

(* Why claims about what is near two secrets are enough; that is compared with the case only. *)
let windowed =
  "if c*near_B(s)*mass_A(v) - near_A(s)*mass_B(v) >= 0 for all values s and v of two separators around the "
  ^ "secrets A and B, and for all sums of what is far, then Pr(output | A) <= c*Pr(output | B)"

let windows = record [ ("statement", one_of [ windowed ]); ("pairs", listed (row [ text; text; whole ])) ]

(* That a pair of inputs has the largest ratio: about noise that consists of numbers. *)
let reduction =
  let about noise =
    [
      ("noise", listed (listed noise));
      ("ties", one_of [ "uniform"; "first" ]);
      ("answers", whole);
      ("differ", one_of [ "each"; "one" ]);
      ("by", text);
      ("left", listed whole);
      ("right", listed whole);
    ]
  in
  let everywhere =
    let how = one_of [ "classes"; "terms"; "ends" ] in
    let on_domain = record domain ~optional:[ ("constant", rational) ] in
    let required = [ ("domain", on_domain); ("output", whole); ("how", how); ("proofs", listed proof) ] in
    record (required @ about text) ~optional:[ ("own", listed whole); ("others", listed whole) ]
  in
  function Object items as value when List.mem_assoc "domain" items -> everywhere value | value -> record (about rational) value

let evidence =
  kind_of "paramverify-evidence" ~stands:reduction ~its_budget:budget
    [ ("status", status); ("claims", listed (entry (maybe proof))) ]
    [
      ("lemmas", listed (record [ ("name", text); ("claim", claim); ("proof", proof) ]));
      ("witness", witness);
      ("windows", windows);
    ]

let script =
  let value = function Bool _ -> () | other -> by_type ~strings:rational () other in
  let question =
    record [ ("status", status); ("claims", listed (entry proof)); ("solvers", listed text) ] ~optional:[ ("model", table value) ]
  in
  record
    [
      ("format", one_of [ "paramverify-script" ]);
      ("version", number_one);
      ("script", record [ ("name", text); ("digest", text) ]);
      ("questions", listed question);
    ]
