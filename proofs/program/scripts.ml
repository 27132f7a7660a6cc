(* Evidence about SMT-LIB scripts: claims with their proofs, question by question. The steps are those of
   paramverify/kernel/script_evidence.py. That the claims are those of a script, and that its assertions are true at the
   models, is not looked at here, but by `paramverify check` with the script. *)

open Faults
open Json
open Ledgers

let word = function "holds" -> "unsat" | "violated" -> "sat" | other -> other

type answered = { told : string; its : entry list; trusted : string list; sworn : bool; said : string }

let question ledger k data =
  let wrong reason = misformed ~path:[ Key "questions"; Place k ] reason in
  let status = string_of (field "status" data) in
  if (field_opt "model" data <> None) <> (status = "violated") then
    wrong "a model comes with the status violated, and only with it";
  let places = List.map int_of (items_of (field "claims" data)) in
  let solvers = List.map string_of (items_of (field "solvers" data)) in
  if status <> "holds" && (places <> [] || solvers <> []) then wrong "claims and solvers are for the status holds";
  if status = "holds" && places = [] && solvers = [] then wrong "no claim shows this unsat: check it beside its script";
  if not (Claims.different places) then wrong "a claim is there twice";
  let named place =
    match List.find_opt (fun { statement; _ } -> statement.Statements.place = place) ledger with
    | Some entry -> entry
    | None -> wrong (Printf.sprintf "the statement %d is no claim" place)
  in
  let its = List.map named places in
  if still_open its > 0 then wrong "a claim has no proof";
  let trusted_to = List.sort_uniq compare (Ledgers.solvers its @ solvers) in
  let names = if trusted_to = [] then "" else ", on the word of " ^ String.concat ", " (List.map quoted trusted_to) in
  let count = if its = [] then "" else ", " ^ counted (proved its + trusted its) "claim" in
  {
    told = Printf.sprintf "question %d: %s%s%s" (k + 1) (word status) count names;
    its;
    trusted = trusted_to;
    sworn = solvers <> [];
    said = word status;
  }

(* What is told of each question, about the claims of the document. *)
let check ledger data =
  if items_of (field "questions" data) = [] then misformed ~path:[ Key "questions" ] "a script without a question";
  let found = List.mapi (question ledger) (items_of (field "questions" data)) in
  let asked = List.concat_map (fun one -> one.its) found in
  let forgotten { statement; _ } = misformed ~path:(Statements.at statement) "no question names this claim" in
  Option.iter forgotten (List.find_opt (fun entry -> not (List.memq entry asked)) ledger);
  found
