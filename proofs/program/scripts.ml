(* Evidence about SMT-LIB scripts: claims with their proofs, question by question. The steps are those of
   paramverify/kernel/script_evidence.py. That the claims are those of a script, and that its assertions are true at the
   models, is not looked at here, but by `paramverify check` with the script. *)

open Faults
open Json
open Ledgers

let word = function "holds" -> "unsat" | "violated" -> "sat" | other -> other
let is_rejection line =
  let mark = ": rejected: " in
  let size = String.length mark in
  let rec from k = k + size <= String.length line && (String.sub line k size = mark || from (k + 1)) in
  from 0

type answered = { told : string; its : ledger; trusted : string list; sworn : int; unanswered : int; said : string }

let question k data =
  let wrong reason = misformed ~path:[ Key "questions"; Place k ] reason in
  let status = string_of (field "status" data) in
  if (field_opt "model" data <> None) <> (status = "violated") then
    wrong "a model comes with the status violated, and only with it";
  let claims = items_of (field "claims" data) and solvers = List.map string_of (items_of (field "solvers" data)) in
  if status <> "holds" && (claims <> [] || solvers <> []) then wrong "claims and solvers are for the status holds";
  if status = "holds" && claims = [] && solvers = [] then unknown "an answer unsat that no claim shows is not known to the proved checker";
  let its = new_ledger () in
  List.iteri (enter its Certify.no_lemmas "claim") claims;
  if its.bad > 0 then rejected (List.find is_rejection (List.rev its.told));
  let trusted = List.sort_uniq compare (its.names @ solvers) in
  let names = if trusted = [] then "" else ", on the word of " ^ String.concat ", " (List.map quoted trusted) in
  let proved = if claims = [] then "" else ", " ^ counted its.settled "claim" in
  {
    told = Printf.sprintf "question %d: %s%s%s" (k + 1) (word status) proved names;
    its;
    trusted;
    sworn = its.sworn + (if solvers = [] then 0 else 1);
    unanswered = (if status = "unknown" then 1 else 0);
    said = word status;
  }

let check document =
  let found = List.mapi question (items_of (field "questions" document)) in
  let sum count = List.fold_left (fun total one -> total + count one) 0 found in
  let beyond = List.concat_map (fun one -> List.rev one.its.beyond) found in
  {
    (nothing (if beyond = [] then Accepted else Not_known)) with
    format = string_of (field "format" document);
    lines = List.map (fun one -> one.told) found;
    proved = sum (fun one -> one.its.good);
    trusted = sum (fun one -> one.sworn);
    still_open = sum (fun one -> one.unanswered);
    status = String.concat ", " (List.map (fun one -> one.said) found);
    solvers = List.sort_uniq compare (List.concat_map (fun one -> one.trusted) found);
    not_known = beyond;
  }
