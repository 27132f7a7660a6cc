(* The envelope of a document: which statements it has, what they are about, and whether they belong together. *)

open Faults
open Json

type t = {
  place : int;  (* among all statements *)
  number : int;  (* among those of its kind, from 1 on *)
  kind : string;
  on : int;  (* the number of its domain, or -1 *)
  data : Json.t;  (* with the domain itself in the place of its number *)
}

type document = {
  about : Json.t;  (* with the domain itself in a witness and a reduction *)
  status : string;
  kind : string;  (* that of the engine, or of the claims *)
  engine : t option;
  all : t list;
}

let of_kind kind document = List.filter (fun (statement : t) -> statement.kind = kind) document.all
let at (statement : t) = [ Key "statements"; Place statement.place ]
let within (statement : t) reader value = inside (Key "statements") (inside (Place statement.place) reader) value

(* What a claim says. Where it comes from is not told: that is compared with a case, which is not seen here. *)
let stated data =
  let polynomial = string_of (field "polynomial" data) in
  match List.rev (items_of (field "constraints" (field "domain" data))) with
  | last :: _ when polynomial = "-1" -> (
      match items_of last with
      | [ text; relation ] -> Printf.sprintf "no point of the domain has %s %s 0" (plain (string_of text)) (string_of relation)
      | _ -> invalid_arg "stated")
  | _ -> plain polynomial ^ " >= 0"

let engines = [ "cone"; "cells"; "line"; "unwinding"; "slots"; "formulas"; "composition"; "script" ] @ Statement_shapes.beyond

(* The kinds that may stand beside an engine, or in a document without one. *)
let beside = function
  | "claims" -> [ "claim"; "lemma"; "obligation" ]
  | "script" -> [ "claim" ]
  | "parts" | "cells" -> [ "parts"; "obligation" ]
  | "average" -> [ "average"; "obligation" ]
  | "cone" | "unwinding" -> [ "comparison"; "obligation" ]
  | "formulas" -> [ "comparison" ]
  | "line" | "paths" -> [ "obligation" ]
  | _ -> []

(* With which kinds of documents something may be said besides. *)
let of_outputs = [ "claims"; "parts"; "average"; "cells"; "cone"; "line" ]
let of_cases = of_outputs @ [ "unwinding"; "slots"; "formulas"; "paths"; "automaton" ]

let belongs =
  [
    ("case", of_cases);
    ("points", of_cases);
    ("windows", [ "claims" ]);
    ("reduction", [ "claims" ]);
    ("side_condition", of_outputs);
    ("outputs", of_outputs);
  ]

let number_of data = match field_opt "domain" data with Some (Int k) when k >= 0 -> k | _ -> -1

(* The same with the domain that it names. *)
let resolved domains data =
  match number_of data with
  | -1 -> data
  | k when k < Array.length domains -> Object (("domain", domains.(k)) :: List.remove_assoc "domain" (fields data))
  | k -> misformed ~path:[ Key "domain" ] (Printf.sprintf "there is no domain %d" k)

(* The same with another value of a key, if it has that. *)
let replaced key change data =
  match field_opt key data with
  | Some value -> Object ((key, inside (Key key) change value) :: List.remove_assoc key (fields data))
  | None -> data

(* A domain without the interval of E, which stands for a number and is no choice. *)
let of_choices domain =
  let is_choice (name, _) = not (name = "E" && field_opt "constant" domain <> None) in
  replaced "box" (fun box -> Object (List.filter is_choice (fields box))) domain

let read_domains data =
  let seen = Hashtbl.create 16 in
  let read k domain =
    let text = written (canonical domain) in
    let wrong reason = misformed ~path:[ Key "domains"; Place k ] reason in
    if Hashtbl.mem seen text then wrong (Printf.sprintf "the same as domain %d" (Hashtbl.find seen text));
    Hashtbl.add seen text k;
    (try ignore (Claims.read domain "0") with Rejected reason -> wrong reason);
    domain
  in
  Array.of_list (List.mapi read (items_of (field "domains" data)))

(* Logarithms belong to claims, lemmas and obligations alone; also a witness against something else knows none. *)
let may_be_tied = [ "claim"; "lemma"; "obligation" ]

let check_tied kind data =
  match field_opt "domain" data with
  | Some domain when field_opt "ties" domain <> None && not (List.mem kind may_be_tied) ->
      misformed ~path:[ Key "domain" ] "logarithms are for claims alone"
  | _ -> ()

let read_statements domains data =
  let counts = Hashtbl.create 8 and seen = Hashtbl.create 64 in
  let read place entry =
    let kind = string_of (field "kind" entry) and on = number_of entry in
    let number = 1 + Option.value (Hashtbl.find_opt counts kind) ~default:0 in
    Hashtbl.replace counts kind number;
    (match field_opt "polynomial" entry with
    | Some polynomial when kind <> "lemma" ->
        let identity = (kind, on, polynomial, field_opt "strict" entry) in
        let again before = rejected (Printf.sprintf "%s %d is %s %d again" kind number kind before) in
        Option.iter again (Hashtbl.find_opt seen identity);
        Hashtbl.add seen identity number
    | _ -> ());
    let statement = { place; number; kind; on; data = entry } in
    let look entry =
      let data = resolved domains entry in
      if on >= 0 then check_tied kind data;
      data
    in
    { statement with data = within statement look entry }
  in
  List.mapi read (items_of (field "statements" data))

let of_witness = [ ("claim", "claims"); ("set", "parts"); ("average", "average") ]
let of_budget = [ ("bound", "claims"); ("delta", "parts"); ("ratio", "parts"); ("kl", "average"); ("zcdp", "average") ]
let text_of key data = string_of (field key data)

(* A witness comes with the status violated, and only with it, unless a statement shows the violation by itself. *)
let check_status document =
  let wrong reason = misformed ~path:[ Key "status" ] reason in
  let words =
    match document.kind with
    | "cells" | "line" -> [ "map" ]
    | "script" -> [ "answers" ]
    | "composition" -> [ "bounds" ]
    | "automaton" -> [ "holds"; "violated"; "unknown"; "bounds" ]
    | _ -> [ "holds"; "violated"; "unknown" ]
  in
  if not (List.mem document.status words) then wrong (quoted document.status ^ " does not belong to these statements");
  let shown = document.engine = None && document.status = "violated" in
  if (field_opt "witness" document.about <> None) <> shown then
    wrong "a witness comes with the status violated, and only with it; statements of engines have none";
  if field_opt "windows" document.about <> None && document.status <> "holds" then
    misformed ~path:[ Key "windows" ] "windows prove, and refute nothing"

(* A number is enough where the claims hold, and only there. Claims about a divergence are about that number. *)
let check_budget document stated =
  let given key = match field_opt key stated with Some Null | Some (Object []) | None -> None | found -> found in
  if (List.find_map given [ "enough"; "bound"; "bounds" ] <> None) <> (document.status = "holds") then
    misformed ~path:[ Key "status" ] "a budget says a number where the claims hold, and only there";
  let same claim =
    if field "of" claim <> field "kind" stated then
      misformed ~path:[ Key "budget"; Key "kind" ] "the claims are about another divergence";
    match (given "enough", field "bound" claim) with
    | Some enough, bound when bound <> List [ enough; List [] ] ->
        misformed ~path:[ Key "budget"; Key "enough" ] "the claims have another bound"
    | _ -> ()
  in
  if document.kind = "average" then begin
    List.iter (fun (statement : t) -> same statement.data) (of_kind "average" document);
    Option.iter (fun witness -> same (field "claim" witness)) (field_opt "witness" document.about)
  end

(* Reads a document of the right form. *)
let read data =
  let domains = read_domains data in
  let all = read_statements domains data in
  let witness = field_opt "witness" data in
  let engine = List.find_opt (fun (statement : t) -> List.mem statement.kind engines) all in
  let form = List.find_opt (fun (statement : t) -> List.mem statement.kind [ "parts"; "average" ]) all in
  let budget = Option.map (fun stated -> List.assoc (text_of "kind" stated) of_budget) (field_opt "budget" data) in
  let kind =
    match (engine, form, witness) with
    | Some found, _, _ | None, Some found, _ -> found.kind
    | None, None, Some witness -> List.assoc (text_of "kind" witness) of_witness
    | None, None, None -> Option.value ~default:"claims" budget
  in
  let fits (statement : t) =
    let one = List.mem statement.kind (beside kind) in
    if not (one || engine = Some statement) then
      misformed ~path:(at statement) (Printf.sprintf "a statement of the kind %s does not stand beside %s" (quoted statement.kind) kind);
    let other found = misformed ~path:(at statement @ [ Key "domain" ]) ("another domain than that of " ^ found) in
    let same (engine : t) = canonical (of_choices (field "domain" engine.data)) = canonical (field "domain" statement.data) in
    match (engine, statement.kind) with
    | Some { on; _ }, "comparison" when statement.on <> on -> other "the engine"
    | Some engine, "parts" when not (same engine) -> other "the map"
    | _ -> ()
  in
  List.iter fits all;
  let said (key, kinds) =
    if field_opt key data <> None && not (List.mem kind kinds) then
      misformed ~path:[ Key key ] ("this does not belong to a document about " ^ kind)
  in
  List.iter said belongs;
  if budget <> None && budget <> Some kind && not (kind = "cone" && budget = Some "claims") then
    misformed ~path:[ Key "budget" ] ("this does not belong to a document about " ^ kind);
  let own witness =
    let about = text_of "kind" witness in
    if List.assoc about of_witness <> kind then misformed ~path:[ Key "kind" ] ("no witness against " ^ kind);
    let look claim =
      let data = resolved domains claim in
      check_tied about data;
      data
    in
    replaced "claim" look witness
  in
  let about = if engine = None then replaced "witness" own data else data in
  let about = replaced "reduction" (resolved domains) about in
  let document = { about; status = text_of "status" data; kind; engine; all } in
  check_status document;
  Option.iter (check_budget document) (field_opt "budget" about);
  document

let origins data = match field_opt "origins" data with Some (List found) -> found | _ -> []
let points document = match field_opt "points" document.about with Some (List found) -> found | _ -> []
