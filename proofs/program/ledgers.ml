(* Claims one after the other, each with its proof, and points of their domains: what all kinds of documents share.
   The steps are those of `Ledger` in paramverify/kernel/claim_evidence.py. *)

open Faults
open Json

type answer = Accepted | Rejected_it | Not_known

type report = {
  answer : answer;
  format : string;
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
    answer; format = ""; lines = []; proved = 0; trusted = 0; still_open = 0; status = ""; solvers = [];
    side_condition = ""; not_known = [];
  }

(* Claims of a document one after the other. *)
type ledger = {
  mutable good : int;
  mutable sworn : int;
  mutable unproved : int;
  mutable bad : int;
  mutable settled : int;
  seen : (string, int) Hashtbl.t;  (* claims, as canonical text, to their places *)
  mutable names : string list;
  mutable told : string list;  (* the latest line first *)
  mutable beyond : string list;
}

let new_ledger () =
  { good = 0; sworn = 0; unproved = 0; bad = 0; settled = 0; seen = Hashtbl.create 64; names = []; told = []; beyond = [] }

(* What a claim says. Where it comes from is not told: that is compared with a case, which is not seen here. *)
let statement claim = plain ~most:60 (string_of (field "polynomial" claim)) ^ " >= 0"
let title what index entry = Printf.sprintf "%s %d (%s)" what (index + 1) (statement (field "claim" entry))

(* Replays the proof of one claim. Raises Rejected or Misformed where it is none, or was there already. *)
let enter ledger lemmas what index entry =
  let claim = field "claim" entry in
  let identity = written (canonical claim) in
  (match Hashtbl.find_opt ledger.seen identity with
  | Some before -> rejected (Printf.sprintf "%s %d is %s %d again" what (index + 1) what (before + 1))
  | None -> Hashtbl.add ledger.seen identity index);
  let path = [ Key (what ^ "s"); Place index; Key "claim" ] in
  let statement = try Claims.read claim with (Rejected _ | Misformed _) as error -> misformed ~path (reason_of error) in
  let tell text = ledger.told <- (title what index entry ^ ": " ^ text) :: ledger.told in
  match field "proof" entry with
  | Null ->
      ledger.unproved <- ledger.unproved + 1;
      tell "open"
  | proof -> (
      match Certify.replay lemmas statement proof with
      | [] ->
          ledger.good <- ledger.good + 1;
          ledger.settled <- ledger.settled + 1;
          tell "proved"
      | solvers ->
          ledger.sworn <- ledger.sworn + 1;
          ledger.settled <- ledger.settled + 1;
          ledger.names <- solvers @ ledger.names;
          tell ("trusted to " ^ String.concat ", " (List.map quoted (List.sort_uniq compare solvers)))
      | exception ((Rejected _ | Misformed _) as error) ->
          ledger.bad <- ledger.bad + 1;
          tell ("rejected: " ^ reason_of error)
      | exception Unknown reason ->
          ledger.beyond <- reason :: ledger.beyond;
          tell ("not checked: " ^ reason))

let lemmas_of document =
  let one known lemma =
    let name = string_of (field "name" lemma) and statement = Claims.read (field "claim" lemma) in
    if Certify.has known name then rejected "the lemmas do not have different names";
    let solvers = Certify.replay known statement (field "proof" lemma) in
    Certify.with_lemma known name statement solvers
  in
  match field_opt "lemmas" document with
  | Some (List lemmas) -> List.fold_left one Certify.no_lemmas lemmas
  | _ -> Certify.no_lemmas

(* The domains of the claims of a case: those with origins, but for a claim -1 >= 0, which says that there is none. *)
let domains entries =
  let about entry =
    let claim = field "claim" entry in
    let origins = match field_opt "origins" entry with Some (List (_ :: _)) -> true | _ -> false in
    if origins && field "polynomial" claim <> String "-1" then
      Some (Object (("polynomial", String "-1") :: List.remove_assoc "polynomial" (fields claim)))
    else None
  in
  List.sort_uniq compare (List.map canonical (List.filter_map about entries))

(* That the claim of a witness is false at its point. *)
let told_witness witness =
  match field_opt "claim" witness with
  | Some claim when field_opt "polynomial" claim <> None -> Printf.sprintf "witness: the claim (%s) is false there" (statement claim)
  | _ -> "witness: the claim is false there"

let check_points document entries =
  match field_opt "points" document with
  | Some (List (_ :: _ as points)) ->
      let domains = List.map Claims.read (domains entries) in
      let one k point =
        let inside domain =
          try Certify.refute domain point
          with (Rejected _ | Misformed _) as error -> misformed ~path:[ Key "points"; Place k ] (reason_of error)
        in
        List.iter inside domains
      in
      List.iteri one points
  | _ -> ()

(* Replays the claims about the model itself. Raises Rejected where one is not proved. *)
let obligations document =
  let ledger = new_ledger () in
  (match field_opt "obligations" document with
  | Some (List entries) -> List.iteri (enter ledger Certify.no_lemmas "obligation") entries
  | _ -> ());
  if ledger.bad > 0 then rejected "an obligation of the model is not proved";
  List.iter unknown ledger.beyond;
  ledger

(* A claim on a domain, as one of a case, so that points can be looked up in it. *)
let about_domain domain =
  Object [ ("claim", Object (("polynomial", String "0") :: fields domain)); ("origins", List [ String "" ]) ]
