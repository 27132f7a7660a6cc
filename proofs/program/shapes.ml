(* The forms of values: a shape returns nothing, or raises Misformed with the reason and the way to the place. *)

open Faults
open Json

type shape = Json.t -> unit

let text : shape = function String _ -> () | other -> misformed ("must be a string, not " ^ kind other)
let whole : shape = function Int _ -> () | other -> misformed ("must be a whole number, not " ^ kind other)
let flag : shape = function Bool _ -> () | other -> misformed ("must be true or false, not " ^ kind other)

let all_from start predicate s =
  let rec from i = i >= String.length s || (predicate s.[i] && from (i + 1)) in
  from start

(* An exact rational such as -3/2: digits, and behind a slash digits that are not all zero. *)
let is_rational s =
  let digits s = s <> "" && all_from 0 is_digit s in
  let body = if s <> "" && s.[0] = '-' then String.sub s 1 (String.length s - 1) else s in
  match String.index_opt body '/' with
  | None -> digits body
  | Some k ->
      let bottom = String.sub body (k + 1) (String.length body - k - 1) in
      digits (String.sub body 0 k) && digits bottom && not (all_from 0 (fun c -> c = '0') bottom)

let is_unsigned s = is_rational s && s.[0] <> '-'

let rational value =
  text value;
  let s = string_of value in
  if not (is_rational s) then misformed ("must be a number such as '-3/2', not " ^ quoted s)

(* A whole number in digits, as the key of an object. *)
let index name =
  let long = String.length name > max_whole in
  if name = "" || long || not (all_from 0 is_digit name) || (name.[0] = '0' && name <> "0") then
    misformed ("must be the digits of a whole number, not " ^ quoted name)

let one_of words : shape = function
  | String s when List.mem s words -> ()
  | other -> misformed ("must be " ^ String.concat " or " (List.map quoted words) ^ ", not " ^ kind other)

let number_one : shape = function Int 1 -> () | other -> misformed ("must be 1, not " ^ kind other)
let maybe shape : shape = function Null -> () | value -> shape value

let listed shape : shape = function
  | List items -> List.iteri (fun k item -> inside (Place k) shape item) items
  | other -> misformed ("must be a list, not " ^ kind other)

let row shapes : shape = function
  | List items when List.length items = List.length shapes ->
      List.iteri (fun k (shape, item) -> inside (Place k) shape item) (List.combine shapes items)
  | other -> misformed (Printf.sprintf "must be a list of %d, not %s" (List.length shapes) (kind other))

let members = function Object items -> items | other -> misformed ("must be an object, not " ^ kind other)

let table ?(key = fun _ -> ()) shape : shape =
  let each (name, item) = inside (Key name) key name; inside (Key name) shape item in
  fun value -> List.iter each (members value)

let record ?(optional = []) required : shape =
 fun value ->
  let items = members value in
  let missing (name, _) = not (List.mem_assoc name items) in
  (match List.find_opt missing required with
  | Some (name, _) -> misformed ("the key " ^ quoted name ^ " is missing")
  | None -> ());
  let inner (name, item) =
    match List.assoc_opt name required with
    | Some shape -> inside (Key name) shape item
    | None -> (
        match List.assoc_opt name optional with
        | Some shape -> inside (Key name) shape item
        | None -> misformed ~path:[ Key name ] "this key is not known")
  in
  List.iter inner items

let tagged key kinds : shape =
 fun value ->
  match List.assoc_opt key (members value) with
  | Some (String kind) when List.mem_assoc kind kinds -> (List.assoc kind kinds) value
  | Some other -> misformed ~path:[ Key key ] ("not known: " ^ kind other)
  | None -> misformed ~path:[ Key key ] "not known: None"

let tagged_row kinds : shape = function
  | List (String kind :: _) as value when List.mem_assoc kind kinds -> row (text :: List.assoc kind kinds) value
  | List (first :: _) -> misformed ~path:[ Place 0 ] ("not known: " ^ kind first)
  | other -> misformed ("must be a list with entries, not " ^ kind other)

(* A value whose JSON type says which of some shapes it has. *)
let by_type ?strings ?objects ?lists ?numbers () : shape =
 fun value ->
  let found =
    match value with
    | String _ -> strings
    | Object _ -> objects
    | List _ -> lists
    | Int _ -> numbers
    | Null | Bool _ | Fault _ -> None
  in
  match found with Some shape -> shape value | None -> misformed ("of another type: " ^ kind value)

(* A part that this program does not look into. *)
let beyond what : shape = fun _ -> unknown (what ^ " is not known to the proved checker")

(* --- proofs ---------------------------------------------------------------------------------------- *)

let sign = one_of [ "+"; "-" ]
let ending = one_of [ "lower"; "upper" ]

let rec proof value = Lazy.force proofs value

and proofs =
  lazy
    (let part ?optional required = record ?optional (("kind", text) :: required) in
     let of_ = [ ("constraint", whole); ("proof", proof) ] in
     let factor =
       record [ ("factor", text); ("multiplicity", whole) ] ~optional:[ ("sign", sign); ("proof", proof) ]
     in
     let entry = by_type ~strings:text ~numbers:whole () in
     let token = by_type ~strings:(one_of [ "+" ]) ~objects:proof ~lists:(listed entry) () in
     let near = [ ("least", rational); ("power", whole); ("bound", rational) ] in
     let ends = row [ rational; rational ] in
     let cell = record [ ("proof", proof) ] ~optional:(("terms", whole) :: ("enclosure", ends) :: near) in
     let squares = listed (row [ rational; text ]) in
     let side = tagged_row [ ("low", [ text; rational ]); ("high", [ text; rational ]); ("constraint", [ whole ]) ] in
     let terms = listed (record [ ("product", listed side); ("squares", squares) ]) in
     let two = row [ whole; whole ] in
     tagged "kind"
       [
         ("constant", part []);
         ("fixed", part [ ("variable", text); ("proof", proof) ]);
         ("factors", part [ ("constant", rational); ("factors", listed factor) ]);
         ("sum", part [ ("parts", listed (record [ ("polynomial", text); ("proof", proof) ])) ]);
         ("ends", part [ ("variable", text); ("lower", proof); ("upper", proof) ] ~optional:[ ("concave", proof) ]);
         ("monotone", part [ ("variable", text); ("end", ending); ("derivative", proof); ("proof", proof) ]);
         ( "quadratic",
           part [ ("variable", text); ("leading", proof); ("constant", proof); ("discriminant", proof) ] );
         ("bernstein", part [ ("tree", listed token) ]);
         ("convex", part [ ("point", table text) ] ~optional:[ ("minimal", text); ("interval", ends) ]);
         ("constraint", part (("factor", rational) :: of_));
         ("divide", part (("factor", text) :: ("cofactor", text) :: ("sign", sign) :: of_));
         ("contradiction", part [ ("constraints", two) ]);
         ("stretch", part (("variable", text) :: of_));
         ("eliminate", part [ ("variable", text); ("constraints", two); ("proof", proof) ]);
         ( "product",
           part [ ("variable", text); ("powers", table whole); ("reflected", listed text); ("proof", proof) ] );
         ("blowup", part [ ("corner", table ending); ("parts", table proof) ]);
         ("enclose", part [ ("interval", ends); ("proof", proof) ]);
         ("exponential", part []);
         ("logarithm", part [ ("variable", text); ("cuts", listed rational); ("parts", listed cell) ]);
         ("squares", part [ ("terms", terms) ] ~optional:[ ("multiplier", terms) ]);
         ("vanish", part (("squares", squares) :: of_));
         ("lemma", part [ ("name", text) ]);
         ( "solver",
           part [ ("solver", text); ("version", text) ] ~optional:[ ("options", table text); ("transcript", text) ] );
       ])

(* --- documents ------------------------------------------------------------------------------------- *)

let domain =
  [ ("variables", listed text); ("box", table text); ("constraints", listed (row [ text; one_of [ ">"; ">=" ] ])) ]

let claim =
  record
    (("polynomial", text) :: domain)
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

let within =
  let quotient = function String "infinity" -> () | value -> chance value in
  record
    [ ("observations", listed text); ("probabilities", row [ chance; chance ]); ("ratio", quotient) ]
    ~optional:[ ("steps", table rational) ]

let largest = listed (record [ ("output", listed text); ("probabilities", row [ real; real ]) ])

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

(* The witness of a budget: of one output, or of the sum of an order, which has a `moment`. *)
let compared : shape =
  let moment = [ ("secrets", listed text); ("length", whole); ("order", whole); ("moment", ratio); ("bound", real); ("exceeds", flag); ("largest", largest) ] in
  let output =
    [ ("secrets", listed text); ("observations", listed text); ("probabilities", row [ real; real ]); ("ratio", ratio);
      ("bound", real); ("exceeds", flag) ]
  in
  let beside = [ ("distance", rational); ("densities", flag); ("within", within) ] in
  function
  | Object items as value when List.mem_assoc "moment" items -> record (("parameters", point) :: moment) value
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

let side_condition = "output sequences that are impossible under one of the two secrets are ignored"

let entry proof = record [ ("claim", claim); ("proof", proof) ] ~optional:[ ("origins", listed text) ]
let case = record [ ("title", text); ("digest", text) ] ~optional:[ ("set", table text) ]
let status = one_of [ "holds"; "violated"; "unknown" ]

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

(* What every kind of document may say about its case. *)
let about_case stands its_budget =
  [
    ("case", case);
    ("obligations", listed (entry proof));
    ("points", listed point);
    ("reduction", stands);
    ("outputs", listed text);
    ("side_condition", one_of [ side_condition ]);
    ("budget", its_budget);
  ]

let kind_of ?(stands = beyond "a pair that stands for all others") ?(its_budget = beyond "a budget") name required optional =
  let about = about_case stands its_budget in
  record (("format", one_of [ name ]) :: ("version", number_one) :: required) ~optional:(about @ optional)

let evidence =
  kind_of "paramverify-evidence" ~stands:reduction ~its_budget:budget
    [ ("status", status); ("claims", listed (entry (maybe proof))) ]
    [
      ("lemmas", listed (record [ ("name", text); ("claim", claim); ("proof", proof) ]));
      ("witness", witness);
      ("windows", windows);
    ]

let domain_alone = record domain ~optional:[ ("constant", rational) ]

(* --- region maps ------------------------------------------------------------------------------------- *)

let cell =
  let box = [ ("status", text); ("box", listed (row [ rational; rational ])) ] in
  let cuts = ("cuts", maybe (table (listed text))) in
  let plain = record box in
  tagged "status"
    [
      ("safe", record box ~optional:[ cuts; ("proofs", table ~key:index proof) ]);
      ("outside", record box ~optional:[ cuts ]);
      ("violating", record (box @ [ ("claim", whole); ("at", point) ]));
      ("mirrored", plain);
      ("undecided", plain);
    ]

let products = listed (record [ ("constant", rational); ("factors", listed (row [ whole; whole ])) ])

let regions =
  kind_of "paramverify-regions"
    [
      ("domain", domain_alone);
      ("free", listed text);
      ("claims", listed text);
      ("factors", listed text);
      ("products", products);
      ("cells", listed cell);
    ]
    [
      ("sums", beyond "a map about sets of outputs");
      ("symmetric", listed (listed text));
      ("by_roots", beyond "a factor with its roots");
    ]

let intervals =
  let part =
    [ ("status", one_of [ "safe"; "violating"; "outside" ]); ("ends", row [ whole; whole ]); ("closed", row [ flag; flag ]) ]
  in
  kind_of "paramverify-intervals"
    [
      ("domain", record domain);
      ("claims", listed text);
      ("factors", listed text);
      ("products", products);
      ("constraints", products);
      ("breaks", listed (record [ ("factor", whole); ("between", row [ rational; rational ]) ]));
      ("cuts", listed (listed rational));
      ("parts", listed (record part));
    ]
    []

(* --- interactive systems ------------------------------------------------------------------------------ *)

let weight = by_type ~strings:text ~lists:(row [ text; text ]) ()
let distribution = listed (row [ whole; weight ])

let system =
  record
    [
      ("states", listed text);
      ("data", listed text);
      ("queries", listed text);
      ("responses", listed text);
      ("hidden", listed text);
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

let natural value =
  whole value;
  if int_of value < 0 then misformed ("must not be negative: " ^ kind value)

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
      ("states", listed text);
      ("actions", listed text);
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

(* --- sets of outputs --------------------------------------------------------------------------------- *)

let sum = [ ("room", text); ("terms", listed text); ("origins", listed (row [ text; text; whole ])) ]

let set_step =
  let steps =
    tagged_row
      [
        ("+", [ whole; proof ]);
        ("-", [ whole; proof ]);
        ("<", [ whole; text; proof; proof ]);
        ("cut", [ text; rational ]);
        ("sign", [ text ]);
        ("free", []);
      ]
  in
  function List _ as step -> steps step | other -> (by_type ~objects:proof ()) other

let set_witness =
  [
    ("parameters", point);
    ("secrets", row [ text; text ]);
    ("length", whole);
    ("outputs", listed (listed text));
    ("probabilities", row [ real; real ]);
    ("bound", real);
    ("delta", real);
    ("beyond", real);
    ("exceeds", flag);
  ]

let sets =
  record
    [
      ("format", one_of [ "paramverify-sets" ]);
      ("version", number_one);
      ("status", status);
      ("domain", domain_alone);
      ("claims", listed (record (("tree", listed set_step) :: sum)));
    ]
    ~optional:
      [
        ("case", case);
        ("obligations", listed (entry proof));
        ("points", listed point);
        ("outputs", listed text);
        ("witness", record (("claim", record sum) :: set_witness));
        ( "budget",
          record
            [
              ("kind", one_of [ "delta"; "ratio" ]);
              ("given", text);
              ("enough", maybe rational);
              ("witnesses", listed (record set_witness));
            ] );
      ]

(* --- divergences --------------------------------------------------------------------------------------- *)

let losses =
  let measure = one_of [ "kl"; "zcdp" ] and ends = row [ rational; rational ] in
  let loss = [ ("total", text); ("outputs", listed (row [ text; text ])); ("origins", listed (row [ text; text; whole ])) ] in
  let product = maybe (row [ rational; listed (row [ whole; whole ]) ]) in
  let step = tagged_row [ ("cut", [ text; rational ]); ("-", [ whole ]); ("+", [ listed rational ]) ] in
  let witness =
    [
      ("parameters", point);
      ("secrets", row [ text; text ]);
      ("length", whole);
      ("measure", measure);
      ("value", by_type ~strings:(one_of [ "infinity" ]) ~lists:ends ());
      ("bound", by_type ~strings:rational ~lists:ends ());
      ("exceeds", flag);
      ("largest", largest);
    ]
  in
  let order = [ ("order", rational) ] in
  let budget = [ ("kind", measure); ("enough", maybe rational); ("witnesses", listed (record witness ~optional:order)) ] in
  let tree = [ ("factors", listed text); ("products", listed product); ("tree", listed step) ] in
  record
    [
      ("format", one_of [ "paramverify-losses" ]);
      ("version", number_one);
      ("status", status);
      ("measure", measure);
      ("bound", row [ rational; listed ends ]);
      ("domain", record domain ~optional:[ ("constant", rational) ]);
      ("claims", listed (record (loss @ tree)));
    ]
    ~optional:
      [
        ("case", case);
        ("obligations", listed (entry proof));
        ("points", listed point);
        ("outputs", listed text);
        ("witness", record (("claim", record loss) :: witness) ~optional:order);
        ("budget", record budget);
      ]

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
      ("observations", listed text);
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
      ("outputs", listed text);
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

(* --- scripts ------------------------------------------------------------------------------------------ *)

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

let formats =
  [ "composition"; "slots"; "automaton"; "enclosed" ]
  |> List.map (fun name -> "paramverify-" ^ name)

let document value =
  match List.assoc_opt "format" (members value) with
  | Some (String name) when List.mem name formats -> unknown ("the format '" ^ name ^ "' is not known to the proved checker")
  | _ ->
      tagged "format"
        [
          ("paramverify-evidence", evidence);
          ("paramverify-sets", sets);
          ("paramverify-cone", cone);
          ("paramverify-regions", regions);
          ("paramverify-unwinding", unwinding);
          ("paramverify-losses", losses);
          ("paramverify-script", script);
          ("paramverify-formulas", formulas);
          ("paramverify-intervals", intervals);
        ]
        value
