(* The form of evidence: one envelope, its domains, its statements, and what a witness or a budget says. *)

open Faults
open Json
open Shapes
open Proof_shapes

let pair shape = row [ shape; shape ]
let rationals = listed rational
let wholes = listed whole
let texts = listed text

(* --- domains, and numbers in witnesses ----------------------------------------------------------------- *)

let domain =
  record
    [ ("variables", texts); ("box", table text); ("constraints", listed (row [ text; one_of [ ">"; ">=" ] ])) ]
    ~optional:[ ("constant", rational); ("ties", table (row [ text; rational ])) ]

let point = table rational
let exact = record [ ("exact", text); ("lower", rational); ("upper", rational) ]
let real = by_type ~strings:rational ~objects:exact ()

let ratio =
  let quotient = function String ("infinity" | "undefined") -> () | value -> rational value in
  by_type ~strings:quotient ~objects:real ()

(* A number of a density, or of a set of numbers: exact, or rationals around it alone. *)
let chance =
  by_type ~strings:rational ~objects:(record [ ("lower", rational); ("upper", rational) ] ~optional:[ ("exact", text) ]) ()

(* A coordinate: rational, or the only root of a polynomial in x in an interval. *)
let coordinates =
  let root = record [ ("lower", rational); ("upper", rational); ("root_of", text) ] in
  table (by_type ~strings:rational ~objects:root ())

(* --- statements about signs, and about one direction of a pair ------------------------------------------- *)

let about = [ ("domain", natural); ("polynomial", text) ]
let origins = ("origins", listed (row [ text; text; whole ]))
let parts = [ ("domain", natural); ("room", text); ("terms", texts); origins ]

let average =
  [
    ("domain", natural);
    ("of", one_of [ "kl"; "zcdp" ]);
    ("bound", row [ rational; listed (pair rational) ]);
    ("total", text);
    ("outputs", listed (pair text));
    origins;
  ]

let cut = ("cut", [ text; rational ])

let parts_step =
  let shown = [ ("+", [ natural; proof ]); ("-", [ natural; proof ]); ("<", [ natural; text; proof; proof ]) ] in
  let steps = tagged_row ([ cut; ("sign", [ text ]); ("free", []); ("claim", [ natural ]) ] @ shown) in
  function List _ as step -> steps step | other -> by_type ~objects:proof () other

let signs =
  let from = [ ("origins", names) ] in
  [
    ("obligation", (("proof", proof) :: about, from));
    ("lemma", (("name", text) :: ("proof", proof) :: about, []));
    ("claim", (("proof", maybe proof) :: about, from));
    ("comparison", (("strict", flag) :: ("proof", proof) :: about, [ ("negated", text) ]));
  ]

let directions =
  let product = maybe (row [ rational; listed (pair whole) ]) in
  let step = tagged_row [ cut; ("outside", [ natural ]); ("+", [ rationals ]) ] in
  [
    ("parts", (("tree", listed parts_step) :: parts, []));
    ("average", (("factors", texts) :: ("products", listed product) :: ("tree", listed step) :: average, []));
  ]

(* --- witnesses and budgets -------------------------------------------------------------------------------- *)

let largest = listed (record [ ("output", texts); ("probabilities", pair real) ])

let compared =
  [
    ("secrets", texts);
    ("observations", texts);
    ("probabilities", pair real);
    ("ratio", ratio);
    ("bound", real);
    ("exceeds", flag);
  ]

(* Sets of outputs beside places of densities; and the distance of the inputs. *)
let beside =
  let quotient = function String "infinity" -> () | value -> chance value in
  let within = [ ("observations", texts); ("probabilities", pair chance); ("ratio", quotient) ] in
  [ ("distance", rational); ("densities", flag); ("within", record within ~optional:[ ("steps", table rational) ]) ]

let order_or_measure = [ ("order", whole); ("measure", text) ]

let moment =
  [ ("secrets", texts); ("length", whole); ("moment", ratio); ("bound", real); ("exceeds", flag); ("largest", largest) ]

let set =
  [
    ("parameters", point);
    ("secrets", pair text);
    ("length", whole);
    ("outputs", listed texts);
    ("probabilities", pair real);
    ("bound", real);
    ("delta", real);
    ("beyond", real);
    ("exceeds", flag);
  ]

let loss =
  [
    ("parameters", point);
    ("secrets", pair text);
    ("length", whole);
    ("measure", one_of [ "kl"; "zcdp" ]);
    ("value", by_type ~strings:(one_of [ "infinity" ]) ~lists:(pair rational) ());
    ("bound", by_type ~strings:rational ~lists:(pair rational) ());
    ("exceeds", flag);
    ("largest", largest);
  ]

let order = [ ("order", rational) ]

let witness =
  let algebraic = [ ("minimal", text); ("interval", pair rational); ("coordinates", table text) ] in
  let sides =
    [
      ("algebraic", record algebraic);
      ("number", whole);
      ("statement", text);
      ("relation", one_of [ "<"; "<="; ">"; ">="; "==" ]);
      ("left", real);
      ("right", real);
      ("difference", real);
      ("fails", flag);
    ]
  in
  kinds
    [
      ( "claim",
        ([ ("claim", record about); ("parameters", coordinates) ], sides @ compared @ beside @ moment @ order_or_measure) );
      ("set", (("claim", record parts) :: set, []));
      ("average", (("claim", record average) :: loss, order));
    ]

(* The witness of a bound: of one output, or of a sum, which has a `moment`, of an order or a measure. *)
let of_bound : shape = function
  | Object items as value when List.mem_assoc "moment" items ->
      let own (name, _) = name = if List.mem_assoc "measure" items then "measure" else "order" in
      record ((("parameters", point) :: moment) @ List.filter own order_or_measure) value
  | value -> record (("parameters", point) :: compared) ~optional:beside value

let budget =
  let least witness = [ ("enough", maybe rational); ("witnesses", listed witness) ] in
  let of_set = (("given", text) :: least (record set), []) and of_loss = (least (record loss ~optional:order), []) in
  let bound = [ ("bound", maybe (pair text)); ("witnesses", listed of_bound) ] in
  kinds
    [
      ("bound", (bound, [ ("bounds", table (pair text)) ]));
      ("delta", of_set);
      ("ratio", of_set);
      ("kl", of_loss);
      ("zcdp", of_loss);
    ]

(* A pair of inputs that stands for all neighbours: with noise of numbers, or for all parameters of a domain. *)
let reduction =
  let about noise =
    [
      ("noise", listed (listed noise));
      ("ties", one_of [ "uniform"; "first" ]);
      ("answers", whole);
      ("differ", one_of [ "each"; "one" ]);
      ("by", text);
      ("left", wholes);
      ("right", wholes);
    ]
  in
  let how = one_of [ "classes"; "terms"; "ends" ] in
  let everywhere = [ ("domain", natural); ("output", whole); ("how", how); ("proofs", listed proof) ] @ about text in
  function
  | Object items as value when List.mem_assoc "domain" items ->
      record everywhere ~optional:[ ("own", wholes); ("others", wholes) ] value
  | value -> record (about rational) value

(* --- engine: cones ------------------------------------------------------------------------------------------- *)

let cone =
  let start = record [ ("weights", table ~key:index text); ("mass", text) ] in
  let model =
    record
      [
        ("states", whole);
        ("observations", names);
        ("steps", listed (row [ whole; whole; whole; text ]));
        ("pairs", listed (row [ text; text; start; start ]));
        ("ratio", pair text);
      ]
  in
  let combination = table ~key:index rational and vectors = listed rationals in
  let level = record [ ("kept", wholes); ("dropped", listed (row [ whole; combination ])) ] in
  let directions = listed (number [ 0; 1 ]) in
  let run = record [ ("below", wholes); ("above", wholes); ("directions", directions); ("levels", listed level) ] in
  let rule own = ([ ("kind", text); ("domain", natural); ("model", model) ] @ own, []) in
  kinds ~key:"rule"
    [
      ("levels", rule [ ("lengths", wholes); ("runs", listed run); ("vectors", vectors) ]);
      ("closed", rule [ ("rays", vectors); ("steps", listed (listed combination)) ]);
      ("ratios", rule [ ("depth", whole); ("states", wholes); ("normals", vectors) ]);
      ( "loop",
        rule
          [
            ("point", point);
            ("secrets", pair text);
            ("prefix", wholes);
            ("loop", wholes);
            ("suffix", wholes);
            ("state", whole);
            ("bounds", combination);
            ("rates", pair rational);
            ("factor", rational);
          ] );
    ]

(* --- engines: maps of parameters ------------------------------------------------------------------------------ *)

let products = listed (record [ ("constant", rational); ("factors", listed (pair whole)) ])
let about_claims = [ ("domain", natural); ("claims", texts); ("factors", texts); ("products", products) ]

let cells =
  let box = [ ("box", listed (pair rational)) ] and cuts = ("cuts", maybe (table texts)) in
  let cell =
    kinds ~key:"status"
      [
        ("safe", (box, [ cuts; ("proofs", table ~key:index proof) ]));
        ("outside", (box, [ cuts ]));
        ("violating", (("claim", whole) :: ("at", point) :: box, []));
        ("mirrored", (box, []));
        ("undecided", (box, []));
      ]
  in
  let by_roots = ("by_roots", fun _ -> ()) in  (* which is not looked into *)
  (("free", texts) :: ("cells", listed cell) :: about_claims, [ ("symmetric", listed texts); by_roots ])

let line =
  let status = one_of [ "safe"; "violating"; "outside" ] in
  let part = [ ("status", status); ("ends", pair whole); ("closed", pair flag) ] in
  let break = [ ("factor", whole); ("between", pair rational) ] in
  let own =
    [
      ("constraints", products);
      ("breaks", listed (record break));
      ("cuts", listed rationals);
      ("parts", listed (record part));
    ]
  in
  (own @ about_claims, [])

(* --- engine: interactive systems ------------------------------------------------------------------------------- *)

let weight = by_type ~strings:text ~lists:(pair text) ()

let unwinding =
  let distribution = listed (row [ whole; weight ]) in
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
  in
  let levels = listed (row [ whole; whole; whole ]) and costs = listed (row [ whole; whole; weight ]) in
  let proof =
    kinds
      [
        ("family", ([ ("delta", weight); ("steps", whole); ("levels", levels) ], []));
        ("costs", ([ ("classes", listed wholes); ("costs", costs) ], []));
      ]
  in
  let parameters = [ ("parameters", point) ] and inputs = [ ("left", wholes); ("right", wholes); ("place", whole) ] in
  let leak = [ ("trace", wholes); ("closed", flag); ("probabilities", pair weight) ] @ inputs in
  let group = record [ ("ends", listed (row [ whole; distribution ])); ("times", distribution) ] in
  ( [ ("domain", natural); ("system", system); ("ratio", weight); ("closures", listed group) ],
    [
      ("reason", text);
      ("proof", proof);
      ("witness", record (parameters @ leak));
      ("tight", maybe (record leak ~optional:parameters));
      ("growth", record ((("loop", wholes) :: parameters) @ inputs));
    ] )

let slots =
  let program = record [ ("shared", flag); ("drops", flag); ("deletes", flag) ] in
  ([ ("program", program); ("forms", listed wholes); ("steps", whole) ], [])

(* --- engine: formulas of dpCTL* ---------------------------------------------------------------------------------- *)

let rec formula value =
  let steps = by_type ~numbers:natural ~objects:(record [ ("more", whole) ]) () in
  tagged_row
    [
      ("true", []);
      ("false", []);
      ("label", [ text ]);
      ("not", [ formula ]);
      ("and", [ listed formula ]);
      ("or", [ listed formula ]);
      ("next", [ formula ]);
      ("until", [ formula; formula; steps; maybe steps ]);
      ("release", [ formula; formula; steps; maybe steps ]);
      ("P", [ one_of [ "<"; "<="; ">"; ">=" ]; weight; formula ]);
      ("D", [ weight; weight; formula ]);
    ]
    value

let verdict = one_of [ "holds"; "violated"; "unknown" ]

let formulas =
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
        ("neighbours", listed (pair natural));
      ]
  in
  let answer =
    record
      [ ("name", text); ("text", text); ("formula", formula); ("status", verdict) ]
      ~optional:
        [
          ("family", record [ ("first", natural); ("last", maybe natural) ]);
          ("until", natural);
          ("argument", one_of [ "tail"; "equality" ]);
          ("parameters", point);
          ("state", natural);
          ("index", natural);
          ("actions", texts);
          ("repeated", natural);
          ("reason", text);
        ]
  in
  ([ ("domain", natural); ("model", chain); ("formulas", listed answer) ], [])

(* --- engine: compositions ---------------------------------------------------------------------------------------------- *)

let case = record [ ("title", text); ("digest", text) ] ~optional:[ ("set", table text) ]

let composition =
  let loss = pair short in
  let rec release value =
    kinds
      [
        ("table", ([ ("outputs", listed (pair rational)) ], []));
        ("randomized_response", ([ ("step", loss); ("values", short) ], []));
        ("discrete_laplace", ([ ("step", loss); ("sensitivity", short) ], []));
        ("discrete_gaussian", ([ ("sigma", short); ("sensitivity", short) ], []));
        ("laplace", ([ ("scale", short); ("sensitivity", short) ], []));
        ("gaussian", ([ ("sigma", short); ("sensitivity", short) ], []));
        ("sampled", ([ ("of", release); ("rate", short) ], []));
        ("turned", ([ ("of", release) ], []));
      ]
      value
  in
  let way = record [ ("dominating", release); ("pairs", listed release) ] in
  let grid = record [ ("step", loss); ("bits", whole); ("tail", whole) ] in
  let direction = [ ("grid", maybe grid); ("spans", listed (maybe (pair whole))); ("choice", wholes) ] in
  ( [
      ("components", listed (record [ ("times", whole); ("ways", listed way) ] ~optional:[ ("case", case) ]));
      ("question", record [] ~optional:[ ("epsilon", loss); ("delta", short) ]);
      ("directions", listed (record direction));
      ("exact", maybe rational);
      ("lower", maybe short);
      ("upper", maybe short);
    ],
    [] )

(* --- engine: scripts ------------------------------------------------------------------------------------------------ *)

let script =
  let value = function Bool _ -> () | other -> by_type ~strings:rational () other in
  let question =
    record
      [ ("status", verdict); ("claims", listed natural); ("solvers", texts) ]
      ~optional:[ ("model", table value) ]
  in
  ([ ("script", record [ ("name", text); ("digest", text) ]); ("questions", listed question) ], [])

(* --- the envelope --------------------------------------------------------------------------------------------------- *)

(* Kinds of statements that this program does not look into. *)
let beyond = [ "paths"; "automaton" ]

let statement : shape =
  let systems = [ ("unwinding", unwinding); ("slots", slots); ("formulas", formulas) ] in
  let engines = [ ("cells", cells); ("line", line); ("composition", composition); ("script", script) ] @ systems in
  let known = kinds (signs @ directions @ engines) in
  fun value ->
    match List.assoc_opt "kind" (members value) with
    | Some (String "cone") -> cone value
    | Some (String kind) when List.mem kind beyond -> ()
    | _ -> known value

let side_condition = "output sequences that are impossible under one of the two secrets are ignored"

(* Why claims about what is near two secrets are enough; that is compared with the case only. *)
let windowed =
  "if c*near_B(s)*mass_A(v) - near_A(s)*mass_B(v) >= 0 for all values s and v of two separators around the "
  ^ "secrets A and B, and for all sums of what is far, then Pr(output | A) <= c*Pr(output | B)"

let envelope : shape =
  let head = [ ("format", one_of [ "paramverify-evidence" ]); ("version", number [ 2 ]) ] in
  let status = one_of [ "holds"; "violated"; "unknown"; "map"; "bounds"; "answers" ] in
  let windows = [ ("statement", one_of [ windowed ]); ("pairs", listed (row [ text; text; whole ])) ] in
  let whole =
    record
      ([ ("status", status); ("domains", listed domain); ("statements", listed statement) ] @ head)
      ~optional:
        [
          ("case", case);
          ("side_condition", one_of [ side_condition ]);
          ("points", listed point);
          ("outputs", names);
          ("windows", record windows);
          ("reduction", reduction);
          ("witness", witness);
          ("budget", budget);
        ]
  in
  fun value ->
    (* What is of another version says so, whatever its keys are. *)
    let first (name, shape) = Option.iter (inside (Key name) shape) (List.assoc_opt name (members value)) in
    List.iter first head;
    whole value
