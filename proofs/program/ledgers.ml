(* Statements about signs one after the other, each with its proof, and points of their domains. *)

open Faults
open Json
open Statements

type answer = Accepted | Rejected_it | Not_known

type report = {
  answer : answer;
  kind : string;
  lines : string list;
  proved : int;
  trusted : int;
  still_open : int;
  status : string;
  solvers : string list;
  side_condition : string;
  not_known : string list;  (* what is not known here, where nothing is rejected *)
}

let nothing answer =
  {
    answer; kind = ""; lines = []; proved = 0; trusted = 0; still_open = 0; status = ""; solvers = [];
    side_condition = ""; not_known = [];
  }

type outcome = Open | Proved | Trusted of string list | Refused of string | Beyond of string
type entry = { statement : Statements.t; outcome : outcome }

(* Replays the proof of one statement. Raises Misformed where it is none. *)
let replay lemmas (statement : Statements.t) =
  let claim = try Claims.of_statement statement.data with Rejected reason -> misformed ~path:(at statement) reason in
  let outcome =
    match field "proof" statement.data with
    | Null -> Open
    | proof -> (
        match Certify.replay lemmas claim proof with
        | [] -> Proved
        | solvers -> Trusted (List.sort_uniq compare solvers)
        | exception ((Rejected _ | Misformed _) as error) -> Refused (reason_of error)
        | exception Unknown reason -> Beyond reason)
  in
  { statement; outcome }

let line { statement = { kind; number; data; _ }; outcome } =
  let words =
    match outcome with
    | Open -> "open"
    | Proved -> "proved"
    | Trusted solvers -> "trusted to " ^ String.concat ", " (List.map quoted solvers)
    | Refused reason -> "rejected: " ^ reason
    | Beyond reason -> "not checked: " ^ reason
  in
  Printf.sprintf "%s %d (%s): %s" kind number (stated data) words

let count outcome ledger = List.length (List.filter (fun entry -> outcome entry.outcome) ledger)
let proved = count (function Proved -> true | _ -> false)
let trusted = count (function Trusted _ -> true | _ -> false)
let still_open = count (function Open -> true | _ -> false)
let refused ledger = List.find_opt (fun entry -> match entry.outcome with Refused _ -> true | _ -> false) ledger
let beyond ledger = List.filter_map (fun entry -> match entry.outcome with Beyond reason -> Some reason | _ -> None) ledger

let solvers ledger =
  List.sort_uniq compare (List.concat_map (fun entry -> match entry.outcome with Trusted names -> names | _ -> []) ledger)

let lemmas_of (document : document) =
  let one known (statement : Statements.t) =
    let read data =
      let name = text_of "name" data and claim = Claims.of_statement data in
      if Certify.has known name then rejected "the lemmas do not have different names";
      Certify.with_lemma known name claim (Certify.replay known claim (field "proof" data))
    in
    within statement read statement.data
  in
  List.fold_left one Certify.no_lemmas (of_kind "lemma" document)

let claims (document : document) = List.map (replay (lemmas_of document)) (of_kind "claim" document)

(* Replays the claims about the model itself. Raises Rejected where one is not proved. *)
let obligations (document : document) =
  let ledger = List.map (replay Certify.no_lemmas) (of_kind "obligation" document) in
  Option.iter (fun entry -> rejected (line entry)) (refused ledger);
  List.iter unknown (beyond ledger);
  ledger

(* The domains of claims of a case, in which points are looked up: a claim -1 >= 0 says that there is none. *)
let domains (document : document) =
  let about (statement : Statements.t) =
    match (statement.kind, document.engine) with
    | "claim", _ -> origins statement.data <> [] && field "polynomial" statement.data <> String "-1"
    | ("parts" | "average"), _ -> true
    | _, engine -> engine = Some statement && statement.on >= 0
  in
  let of_witness = match field_opt "witness" document.about with
    | Some witness when field_opt "polynomial" (field "claim" witness) <> Some (String "-1") ->
        [ field "domain" (field "claim" witness) ]
    | _ -> []
  in
  let found = List.map (fun (statement : Statements.t) -> field "domain" statement.data) (List.filter about document.all) in
  let found =
    match document.engine with
    | Some { on; _ } when on < 0 -> items_of (field "domains" document.about)  (* of an engine that names none *)
    | _ -> found
  in
  List.sort_uniq compare (List.map canonical (of_witness @ found))

let check_points (document : document) =
  let points = points document in
  let read domain =
    Certify.check_enclosure (Claims.read domain "-1");
    Claims.read (of_choices domain) "-1"
  in
  let domains = if points = [] then [] else List.map read (domains document) in
  let one k point =
    let refuted domain =
      try Certify.refute domain point
      with (Rejected _ | Misformed _) as error -> misformed ~path:[ Key "points"; Place k ] (reason_of error)
    in
    List.iter refuted domains
  in
  List.iteri one points

(* The report on a document whose statements are shown: lines of these, and those of the obligations. *)
let shown ?(after = []) (document : document) obligations lines proved =
  {
    (nothing Accepted) with
    kind = document.kind;
    lines = lines @ List.map line obligations @ after;
    proved;
    trusted = trusted obligations;
    status = document.status;
    solvers = solvers obligations;
    side_condition = (match field_opt "side_condition" document.about with Some (String words) -> words | _ -> "");
  }
