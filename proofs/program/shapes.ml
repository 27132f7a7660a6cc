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
let table shape : shape = fun value -> List.iter (fun (name, item) -> inside (Key name) shape item) (members value)

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

let side_condition = "output sequences that are impossible under one of the two secrets are ignored"

let entry proof = record [ ("claim", claim); ("proof", proof) ] ~optional:[ ("origins", listed text) ]
let case = record [ ("title", text); ("digest", text) ] ~optional:[ ("set", table text) ]
let status = one_of [ "holds"; "violated"; "unknown" ]

let evidence =
  record
    [
      ("format", one_of [ "paramverify-evidence" ]);
      ("version", number_one);
      ("status", status);
      ("claims", listed (entry (maybe proof)));
    ]
    ~optional:
      [
        ("case", case);
        ("obligations", listed (entry proof));
        ("points", listed point);
        ("reduction", beyond "a pair that stands for all others");
        ("outputs", listed text);
        ("side_condition", one_of [ side_condition ]);
        ("budget", beyond "a budget");
        ("windows", beyond "a bound on windows");
        ("lemmas", listed (record [ ("name", text); ("claim", claim); ("proof", proof) ]));
        ("witness", witness);
        ("windows", beyond "a proof about what is near");
      ]

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
      ("domain", record domain ~optional:[ ("constant", rational) ]);
      ("claims", listed (record (("tree", listed set_step) :: sum)));
    ]
    ~optional:
      [
        ("case", case);
        ("obligations", listed (entry proof));
        ("points", listed point);
        ("outputs", listed text);
        ("witness", record (("claim", record sum) :: set_witness));
        ("budget", beyond "a budget");
      ]

let formats =
  [ "cone"; "regions"; "unwinding"; "losses"; "composition"; "formulas"; "slots"; "automaton"; "script"; "intervals"; "enclosed" ]
  |> List.map (fun name -> "paramverify-" ^ name)

let document value =
  match List.assoc_opt "format" (members value) with
  | Some (String name) when List.mem name formats -> unknown ("the format '" ^ name ^ "' is not known to the proved checker")
  | _ -> tagged "format" [ ("paramverify-evidence", evidence); ("paramverify-sets", sets) ] value
