(* A whole document: every statement with its proof, points of the domains, and the witness. The steps are those of
   paramverify/kernel/, one after the other, so that both give the same answers. *)

open Faults
open Json
open Statements
open Ledgers

let no_point = "not shown by this document alone: that the domain has a point"
let witness_of (document : document) = field_opt "witness" document.about
let constraints data = items_of (field "constraints" (field "domain" data))

(* That the claim of a witness is false at its point. *)
let told_witness witness =
  match field_opt "polynomial" (field "claim" witness) with
  | Some _ -> Printf.sprintf "witness: the claim (%s) is false there" (stated (field "claim" witness))
  | _ -> "witness: the claim is false there"

(* --- claims ---------------------------------------------------------------------------------------------- *)

(* Whether a claim may be true because its constraints contradict each other. Points are not checked with -1 >= 0. *)
let may_be_empty (document : document) { statement = { data; _ }; _ } =
  origins data <> [] && constraints data <> [] && (field "polynomial" data = String "-1" || points document = [])

let refute witness =
  let claim = Claims.of_statement (field "claim" witness) in
  match field_opt "algebraic" witness with
  | Some _ -> Roots.refute claim witness
  | None ->
      let point = field "parameters" witness in
      inside (Key "witness") (inside (Key "parameters") Statement_shapes.point) point;
      Certify.refute claim point

let check_told witness =
  if field_opt "algebraic" witness <> None then Roots.check_numbers witness else Told.check_numbers witness

(* The claims are about the pair of a statement, and on its domain. *)
let check_question about ledger =
  let side name =
    match List.map (fun v -> string_of_int (int_of v)) (items_of (field name about)) with
    | [ one ] -> one ^ ","
    | several -> String.concat ", " several
  in
  let named one other = Printf.sprintf "(%s) against (%s), output " (side one) (side other) in
  let prefixes = [ named "left" "right"; named "right" "left" ] in
  let of_pair origin = List.exists (fun prefix -> String.starts_with ~prefix (string_of origin)) prefixes in
  let check { statement = { data; _ }; _ } =
    if field_opt "origins" data = None || not (List.for_all of_pair (origins data)) then
      rejected "a claim is about another pair than the one that stands for others";
    match field_opt "domain" about with
    | Some domain when domain <> field "domain" data ->
        rejected "a claim is about another domain than the pair that stands for others"
    | _ -> ()
  in
  List.iter check ledger

let check_standing about ledger =
  check_question about ledger;
  (if field_opt "domain" about = None then Standing.prove else Everywhere.prove) about

let check_claims (document : document) =
  let { status; about; _ } = document in
  let own = obligations document and ledger = claims document in
  check_points document;
  let allowed = field_opt "side_condition" about <> None && ledger = [] in
  let nothing_shown = proved ledger + trusted ledger = 0 && beyond ledger = [] && not allowed in
  let lacking = status = "holds" && (still_open ledger > 0 || nothing_shown) in
  let settled = refused ledger = None && not lacking in
  Option.iter refute (witness_of document);
  if settled then Option.iter check_told (witness_of document);
  let reduction = if settled then field_opt "reduction" about else None in
  Option.iter (fun about -> check_standing about ledger) reduction;
  let when_ condition line = if condition then [ line ] else [] in
  let after =
    when_ lacking "rejected: a claim of the case has no proof"
    @ when_ (settled && status = "holds" && ledger = []) "nothing is compared: there is no claim"
    @ Option.to_list (Option.map told_witness (witness_of document))
    @ when_ (reduction <> None) "no neighbours have a larger ratio than this pair"
    @ when_ (settled && status <> "violated" && List.exists (may_be_empty document) ledger) no_point
  in
  let answer = if not settled then Rejected_it else if beyond ledger <> [] then Not_known else Accepted in
  let all = own @ ledger in
  {
    (shown document all [] (proved all) ~after) with
    answer;
    still_open = still_open all;
    not_known = (if answer = Not_known then beyond ledger else []);
  }

(* --- claims about directions of pairs ---------------------------------------------------------------------- *)

(* All are about one domain, and one bound of a divergence; no direction is there twice. *)
let check_directions (document : document) statements =
  let settled = Hashtbl.create 16 in
  let about data = List.map (fun key -> field_opt key data) [ "domain"; "of"; "bound" ] in
  let first = match (statements, witness_of document) with
    | ({ data; _ } : Statements.t) :: _, _ -> about data
    | [], Some witness -> about (field "claim" witness)
    | [], None -> []
  in
  let one (statement : Statements.t) =
    let wrong key reason = misformed ~path:(at statement @ [ Key key ]) reason in
    if about statement.data <> first then wrong "domain" "claims about more than one domain or bound";
    let enter origin =
      if Hashtbl.mem settled origin then wrong "origins" "this direction was there before";
      Hashtbl.add settled origin ()
    in
    if origins statement.data = [] then wrong "origins" "a claim about no direction";
    List.iter enter (origins statement.data)
  in
  List.iter one statements;
  let same witness =
    if about (field "claim" witness) <> first then
      misformed ~path:[ Key "witness"; Key "claim" ] "claims about more than one domain or bound"
  in
  Option.iter same (witness_of document);
  if document.status = "holds" && statements = [] then rejected "a claim of the case has no proof"

let title ({ number; _ } : Statements.t) what = Printf.sprintf "claim %d (%s): proved" number what

let check_parts (document : document) =
  let obligations = obligations document and statements = of_kind "parts" document in
  check_points document;
  check_directions document statements;
  List.iter (fun statement -> within statement Sets.prove statement.data) statements;
  let refute witness =
    let claim = field "claim" witness in
    let origin = List (items_of (field "secrets" witness) @ [ field "length" witness ]) in
    if not (List.mem origin (origins claim)) then
      misformed ~path:[ Key "witness"; Key "secrets" ] "the claim is about other secrets";
    Sets.refute claim (field "parameters" witness);
    let constant = field_opt "constant" (field "domain" claim) in
    Told.check_set witness (Option.map (fun q -> Text.number (string_of q)) constant)
  in
  Option.iter refute (witness_of document);
  let lines = List.map (fun statement -> title statement "every set of outputs") statements in
  let after = lines @ Option.to_list (Option.map told_witness (witness_of document)) in
  shown document obligations [] (proved obligations + List.length statements) ~after

let no_negative_probability = "not shown by this document alone: that no probability is negative"

let check_average (document : document) =
  let obligations = obligations document and statements = of_kind "average" document in
  check_points document;
  check_directions document statements;
  let signs = match statements with first :: _ -> Some (Signs.around_statement document first) | [] -> None in
  let one statement =
    let boxes, is_shown = within statement (Losses.prove (Option.get signs)) statement.data in
    (title statement "all outputs together" ^ Printf.sprintf " on %d box%s" boxes (if boxes = 1 then "" else "es"), is_shown)
  in
  let found = List.map one statements in
  let told witness =
    Losses.refute witness;
    let contribute = "not shown by this document alone: which outputs contribute most" in
    told_witness witness :: (if items_of (field "largest" witness) = [] then [] else [ contribute ])
  in
  let witness = Option.fold ~none:[] ~some:told (witness_of document) in
  let unsigned = if List.for_all snd found then [] else [ no_negative_probability ] in
  shown document obligations [] (proved obligations + List.length statements) ~after:(List.map fst found @ unsigned @ witness)

(* --- engines ------------------------------------------------------------------------------------------------- *)

let no_negative_weight =
  "not shown by this document alone: that no weight, no mass and no side of the bound is negative"

let says (document : document) status =
  if document.status <> status then misformed ~path:[ Key "status" ] ("these statements show " ^ quoted status)

(* Certificates about many sequences. *)
let check_cone (document : document) engine obligations comparisons =
  let own = within engine (fun data -> Cones.prove data comparisons) engine.data in
  says document own.status;
  let is_shown = Cones.check_signs (Signs.around_statement document engine) own.model in
  let report =
    shown document obligations own.lines (own.proved + proved obligations)
      ~after:(if is_shown then [] else [ no_negative_weight ])
  in
  {
    report with
    trusted = report.trusted + List.length own.solvers;
    solvers = List.sort_uniq compare (report.solvers @ List.concat own.solvers);
  }

(* Region maps; statements beside one say that its claims are about all sets of outputs. *)
let check_cells (document : document) (engine : Statements.t) obligations =
  let parts = of_kind "parts" document in
  check_directions document parts;
  let count, still_open, lines, after = within engine (Regions.check parts) engine.data in
  { (shown document obligations lines count ~after) with still_open; status = "region map" }

(* Exact intervals. *)
let check_line (document : document) (engine : Statements.t) obligations =
  let lines = within engine Intervals.check engine.data in
  { (shown document obligations lines (List.length lines)) with status = "exact intervals" }

(* Interactive systems. *)
let check_unwinding (document : document) (engine : Statements.t) obligations comparisons =
  let status = document.status and given key = field_opt key engine.data <> None in
  let wrong key reason = misformed ~path:(at engine @ [ Key key ]) reason in
  if status = "unknown" then misformed ~path:[ Key "status" ] "there is nothing to check in what says 'unknown'";
  if given "witness" && given "growth" then wrong "growth" "a witness comes without a loop that makes the ratio grow";
  let comes_with key is_there its =
    if is_there <> (status = its) then
      misformed ~path:[ Key "status" ] (Printf.sprintf "a %s comes with the status %s, and only with it" key its)
  in
  comes_with "witness" (given "witness" || given "growth") "violated";
  comes_with "proof" (given "proof") "holds";
  if given "tight" && status <> "holds" then wrong "tight" "a lower bound comes with the status holds only";
  if given "reason" then wrong "reason" "a reason comes with the status unknown only";
  if status = "violated" && comparisons <> [] then wrong "kind" "a violation needs no comparisons";
  let check data =
    if given "growth" then (Growth.check data, 0)
    else if status = "violated" then (Observations.refute data, 0)
    else Unwinding.check data comparisons
  in
  let lines, count = within engine check engine.data in
  let partial = field "partial" (field "system" engine.data) = Bool true in
  let side_condition = if partial && status <> "violated" then Observations.environment else "" in
  let status = if given "tight" then "budget" else status in
  { (shown document obligations lines (count + proved obligations)) with status; side_condition }

(* Systems with any number of slots. *)
let check_slots (document : document) (engine : Statements.t) obligations =
  says document "holds";
  let drops = field "drops" (field "program" engine.data) = Bool true in
  let side_condition = if drops then "" else "no data point comes to a full slot" in
  { (shown document obligations (within engine Slots.check engine.data) (proved obligations)) with side_condition }

(* Formulas of dpCTL*. *)
let check_formulas (document : document) (engine : Statements.t) obligations comparisons =
  let lines, count, still_open, status = within engine (fun data -> Formulas.check data comparisons) engine.data in
  says document status;
  let nowhere = status <> "violated" && constraints engine.data <> [] && points document = [] in
  { (shown document obligations lines count ~after:(if nowhere then [ no_point ] else [])) with still_open }

(* Compositions. *)
let check_composition (document : document) (engine : Statements.t) obligations =
  let lines = within engine Compositions.check engine.data in
  { (shown document obligations lines (1 + proved obligations)) with status = "composition" }

(* Questions of a script. *)
let check_script (document : document) (engine : Statements.t) obligations =
  let ledger = claims document in
  Option.iter (fun entry -> rejected (line entry)) (refused ledger);
  let found = within engine (Scripts.check ledger) engine.data in
  let sum count = List.fold_left (fun total one -> total + count one) 0 found in
  let report = shown document obligations [] (proved obligations) in
  {
    report with
    answer = (if beyond ledger = [] then Accepted else Not_known);
    lines = List.map (fun (one : Scripts.answered) -> one.told) found @ report.lines;
    proved = report.proved + proved ledger;
    trusted = report.trusted + trusted ledger + sum (fun (one : Scripts.answered) -> if one.sworn then 1 else 0);
    still_open = sum (fun one -> if one.said = "unknown" then 1 else 0);
    status = String.concat ", " (List.map (fun (one : Scripts.answered) -> one.said) found);
    solvers = List.sort_uniq compare (report.solvers @ List.concat_map (fun (one : Scripts.answered) -> one.trusted) found);
    not_known = beyond ledger;
  }

let check_engine (document : document) (engine : Statements.t) =
  if List.mem document.kind Statement_shapes.beyond then
    unknown (Printf.sprintf "a statement of the kind %s is not known to the proved checker" (quoted document.kind));
  let obligations = obligations document and comparisons = of_kind "comparison" document in
  check_points document;
  match document.kind with
  | "cone" -> check_cone document engine obligations comparisons
  | "cells" -> check_cells document engine obligations
  | "line" -> check_line document engine obligations
  | "unwinding" -> check_unwinding document engine obligations comparisons
  | "slots" -> check_slots document engine obligations
  | "composition" -> check_composition document engine obligations
  | "formulas" -> check_formulas document engine obligations comparisons
  | _ -> check_script document engine obligations

(* --- documents ------------------------------------------------------------------------------------------------ *)

let check_statements (document : document) =
  match (document.engine, document.kind) with
  | Some engine, _ -> check_engine document engine
  | None, "parts" -> check_parts document
  | None, "average" -> check_average document
  | _ -> check_claims document

(* A document whose claims have another bound than the case says so; that is compared with the case only. Without a
   number and a witness, and without a loop, it says nothing, and keeps its status. *)
let budget_line stated =
  match (field_opt "enough" stated, field_opt "bound" stated) with
  | Some enough, _ ->
      let enough = match enough with String s -> s | _ -> "none" in
      Printf.sprintf "budget: the %s in the claims is said to be %s, and was not compared" (text_of "kind" stated) enough
  | None, Some (List [ String top; String bottom ]) ->
      let bound = if bottom = "1" then top else top ^ " over " ^ bottom in
      Printf.sprintf "budget: the bound in the claims is said to be %s; neither it nor a witness was compared" (plain ~most:300 bound)
  | None, _ -> "budget: the bound in the claims is said to be none; neither it nor a witness was compared"

(* Every domain is one, also if no statement is about it: an interval of E contains its number. *)
let check_domain place domain =
  try Certify.check_enclosure (Claims.read domain "0")
  with Rejected reason -> misformed ~path:[ Key "domains"; Place place ] reason

let check (document : document) =
  match field_opt "budget" document.about with
  | None -> check_statements document
  | Some stated ->
      let report = check_statements document in
      let says = document.status = "holds" || field "witnesses" stated <> List [] || document.engine <> None in
      if report.answer <> Accepted then report
      else
        let status = if says then "budget" else report.status in
        { report with lines = report.lines @ [ budget_line stated ]; status }

let is_evidence = function
  | Object items -> (
      match List.assoc_opt "format" (List.rev items) with
      | Some (String name) -> String.starts_with ~prefix:"paramverify-" name
      | _ -> false)
  | _ -> false

(* Checks the text of a document. Raises No_evidence for what is none of any kind. *)
let check_text text =
  let rejection error = { (nothing Rejected_it) with lines = [ "rejected: " ^ reason_of error ] } in
  match parse text with
  | exception Not_json reason -> raise (No_evidence ("this is not evidence: " ^ reason))
  | exception (Rejected _ as error) -> rejection error
  | data -> (
      try
        walk 0 [] data;
        Statement_shapes.envelope data;
        List.iteri check_domain (items_of (field "domains" data));
        check (Statements.read data)
      with
      | (Rejected _ | Misformed _) as error ->
          if not (is_evidence data) then
            raise (No_evidence "this is not evidence: it has no `format` such as 'paramverify-evidence'");
          rejection error
      | Unknown reason -> { (nothing Not_known) with lines = [ "not checked: " ^ reason ]; not_known = [ reason ] })
