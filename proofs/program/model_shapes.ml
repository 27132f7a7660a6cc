(* The forms of what is about a model: interactive systems, formulas of dpCTL*, and sequences of outputs. *)

open Faults
open Json
open Shapes
open Claim_shapes

let weight = by_type ~strings:text ~lists:(row [ text; text ]) ()
let distribution = listed (row [ whole; weight ])

let system =
  record
    [
      ("states", names);
      ("data", names);
      ("queries", names);
      ("responses", names);
      ("hidden", names);
      ("initial", whole);
      ("partial", flag);
      ("rows", listed (listed (row [ whole; distribution ])));
    ]

let unwinding_proof =
  let levels = listed (row [ whole; whole; whole ]) in
  let costs = listed (row [ whole; whole; weight ]) in
  tagged "kind"
    [
      ("family", record [ ("kind", text); ("delta", weight); ("steps", whole); ("levels", levels) ]);
      ("costs", record [ ("kind", text); ("classes", listed (listed whole)); ("costs", costs) ]);
    ]

let unwinding =
  let comparison =
    record [ ("polynomial", text); ("strict", flag); ("proof", proof) ] ~optional:[ ("negated", text) ]
  in
  let leak =
    [
      ("left", listed whole);
      ("right", listed whole);
      ("place", whole);
      ("trace", listed whole);
      ("closed", flag);
      ("probabilities", row [ weight; weight ]);
    ]
  in
  let parameters = [ ("parameters", point) ] and steps = listed whole in
  let closure = record [ ("ends", listed (row [ whole; distribution ])); ("times", distribution) ] in
  kind_of "paramverify-unwinding"
    [
      ("status", status);
      ("domain", domain_alone);
      ("system", system);
      ("ratio", weight);
      ("closures", listed closure);
    ]
    [
      ("reason", text);
      ("proof", unwinding_proof);
      ("claims", listed comparison);
      ("witness", record (parameters @ leak));
      ("tight", maybe (record leak ~optional:parameters));
      ("growth", record (parameters @ [ ("left", steps); ("right", steps); ("place", whole); ("loop", steps) ]));
    ]

(* --- formulas of dpCTL* --------------------------------------------------------------------------------- *)

let steps_of = by_type ~numbers:natural ~objects:(record [ ("more", whole) ]) ()

let rec formula value =
  tagged_row
    [
      ("true", []);
      ("false", []);
      ("label", [ text ]);
      ("not", [ formula ]);
      ("and", [ listed formula ]);
      ("or", [ listed formula ]);
      ("next", [ formula ]);
      ("until", [ formula; formula; steps_of; maybe steps_of ]);
      ("release", [ formula; formula; steps_of; maybe steps_of ]);
      ("P", [ one_of [ "<"; "<="; ">"; ">=" ]; weight; formula ]);
      ("D", [ weight; weight; formula ]);
    ]
    value

let chain =
  record
    [
      ("states", names);
      ("actions", names);
      ("scheduled", flag);
      ("initial", listed natural);
      ("steps", listed (listed (row [ natural; weight ])));
      ("rows", listed (listed natural));
      ("labels", table (listed natural));
      ("neighbours", listed (row [ natural; natural ]));
    ]

let formulas =
  let comparison =
    record [ ("polynomial", text); ("strict", flag); ("proof", proof) ] ~optional:[ ("negated", text) ]
  in
  let entry =
    record
      [ ("name", text); ("text", text); ("formula", formula); ("status", status) ]
      ~optional:
        [
          ("family", record [ ("first", natural); ("last", maybe natural) ]);
          ("until", natural);
          ("argument", one_of [ "tail"; "equality" ]);
          ("parameters", point);
          ("state", natural);
          ("index", natural);
          ("actions", listed text);
          ("repeated", natural);
          ("reason", text);
        ]
  in
  record
    [
      ("format", one_of [ "paramverify-formulas" ]);
      ("version", number_one);
      ("status", status);
      ("domain", domain_alone);
      ("model", chain);
      ("formulas", listed entry);
      ("claims", listed comparison);
    ]
    ~optional:[ ("case", case); ("points", listed point) ]

(* --- many sequences ---------------------------------------------------------------------------------- *)

(* A whole number in digits, as the key of an object. *)
let is_index s =
  let size = String.length s in
  size >= 1 && size <= 18 && all_from 0 is_digit s && (size = 1 || s.[0] <> '0')

let indexed shape value =
  let one (name, _) =
    if not (is_index name) then misformed ~path:[ Key name ] ("must be the digits of a whole number, not " ^ quoted name)
  in
  List.iter one (members value);
  table shape value

let start = record [ ("weights", indexed text); ("mass", text) ]

let model =
  record
    [
      ("domain", record domain ~optional:[ ("constant", rational) ]);
      ("states", whole);
      ("observations", names);
      ("steps", listed (row [ whole; whole; whole; text ]));
      ("pairs", listed (row [ text; text; start; start ]));
      ("ratio", row [ text; text ]);
    ]

let direction : shape = function Int (0 | 1) -> () | other -> misformed ("must be 0 or 1, not " ^ kind other)

let cone =
  let about =
    [
      ("case", case);
      ("obligations", listed (entry proof));
      ("points", listed point);
      ("reduction", beyond "a pair that stands for all others");
      ("outputs", names);
      ("side_condition", one_of [ side_condition ]);
      ("budget", beyond "a budget");
      ("status", status);
    ]
  in
  let part required =
    let head = [ ("format", one_of [ "paramverify-cone" ]); ("version", number_one); ("kind", text); ("model", model) ] in
    record (head @ required) ~optional:about
  in
  let claims = ("claims", listed (record [ ("claim", claim); ("proof", proof) ])) in
  let vectors = listed (listed rational) and wholes = listed whole in
  let level = record [ ("kept", wholes); ("dropped", listed (row [ whole; indexed rational ])) ] in
  let run =
    record [ ("below", wholes); ("above", wholes); ("directions", listed direction); ("levels", listed level) ]
  in
  tagged "kind"
    [
      ("levels", part [ claims; ("lengths", wholes); ("runs", listed run); ("vectors", vectors) ]);
      ("closed", part [ claims; ("rays", vectors); ("steps", listed (listed (indexed rational))) ]);
      ("ratios", part [ claims; ("depth", whole); ("states", wholes); ("normals", vectors) ]);
      ( "loop",
        part
          [
            ("point", point);
            ("secrets", row [ text; text ]);
            ("prefix", wholes);
            ("loop", wholes);
            ("suffix", wholes);
            ("state", whole);
            ("bounds", indexed rational);
            ("rates", row [ rational; rational ]);
            ("factor", rational);
          ] );
    ]
