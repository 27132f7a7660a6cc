(* A whole document: every claim with its proof, what the proofs share, points of the domain, and the witness.
   The steps are those of paramverify/kernel/claim_evidence.py, one after the other, so that both give the same answers. *)

open Faults
open Json
open Ledgers

(* Replays the claims about the model itself. Raises Rejected where one is not proved. *)
let obligations document =
  let ledger = new_ledger () in
  (match field_opt "obligations" document with
  | Some (List entries) -> List.iteri (enter ledger Certify.no_lemmas "obligation") entries
  | _ -> ());
  if ledger.bad > 0 then rejected "an obligation of the model is not proved";
  List.iter unknown ledger.beyond;
  ledger

let no_point = "not shown by this document alone: that the domain has a point"

let is_some key about = match field_opt key about with Some (List (_ :: _)) -> true | _ -> false

(* Whether a claim may be true because its constraints contradict each other. Points are not checked with -1 >= 0. *)
let may_be_empty document entry =
  let claim = field "claim" entry in
  is_some "origins" entry && is_some "constraints" claim
  && (field "polynomial" claim = String "-1" || not (is_some "points" document))

let check_evidence document =
  let status = string_of (field "status" document) in
  let witness = field_opt "witness" document in
  if (witness <> None) <> (status = "violated") then
    misformed ~path:[ Key "status" ] "a witness comes with the status violated, and only with it";
  let own = obligations document in
  let ledger = new_ledger () in
  let lemmas = lemmas_of document in
  let entries = items_of (field "claims" document) in
  List.iteri (enter ledger lemmas "claim") entries;
  check_points document entries;
  let tell line = ledger.told <- line :: ledger.told in
  let nothing = ledger.settled = 0 && ledger.beyond = [] && not (field_opt "side_condition" document <> None && entries = []) in
  let lacking = status = "holds" && (ledger.unproved > 0 || nothing) in
  if lacking then tell "rejected: a claim of the case has no proof";
  if status = "holds" && entries = [] && ledger.bad = 0 && not lacking then tell "nothing is compared: there is no claim";
  (match witness with
  | Some witness ->
      let claim = Claims.read (field "claim" witness) in
      (match field_opt "algebraic" witness with
      | Some _ -> Roots.refute claim witness
      | None ->
          let point = field "parameters" witness in
          inside (Key "witness") (inside (Key "parameters") Claim_shapes.point) point;
          Certify.refute claim point);
      tell (told_witness witness)
  | None -> ());
  let accepted = ledger.bad = 0 && not lacking in
  let question about =
    let side name =
      match List.map (fun v -> string_of_int (int_of v)) (items_of (field name about)) with
      | [ one ] -> one ^ ","
      | several -> String.concat ", " several
    in
    let named one other = Printf.sprintf "(%s) against (%s), output " (side one) (side other) in
    let of_pair origin =
      List.exists (fun start -> String.starts_with ~prefix:start (string_of origin)) [ named "left" "right"; named "right" "left" ]
    in
    let check entry =
      if not (List.for_all of_pair (items_of (field "origins" entry))) then
        rejected "a claim is about another pair than the one that stands for others";
      let same key = field key (field "claim" entry) = field key (field "domain" about) in
      if field_opt "domain" about <> None && not (List.for_all same [ "variables"; "box"; "constraints" ]) then
        rejected "a claim is about another domain than the pair that stands for others"
    in
    List.iter check entries
  in
  let stands about =
    let prove = if field_opt "domain" about = None then Standing.prove else Everywhere.prove in
    try prove about; question about; true
    with (Rejected _ | Misformed _) as error -> tell ("rejected: " ^ reason_of error); false
  in
  let accepted =
    match field_opt "reduction" document with
    | Some about when accepted ->
        let found = stands about in
        if found then tell "no neighbours have a larger ratio than this pair";
        found
    | _ -> accepted
  in
  let check_numbers witness =
    if field_opt "algebraic" witness <> None then Roots.check_numbers witness else Told.check_numbers witness
  in
  if accepted then Option.iter check_numbers witness;
  if accepted && status <> "violated" && List.exists (may_be_empty document) entries then tell no_point;
  let answer = if not accepted then Rejected_it else if ledger.beyond <> [] then Not_known else Accepted in
  {
    answer;
    format = string_of (field "format" document);
    lines = List.rev own.told @ List.rev ledger.told;
    proved = ledger.good + own.good;
    trusted = ledger.sworn + own.sworn;
    still_open = ledger.unproved + own.unproved;
    status;
    solvers = List.sort_uniq compare (ledger.names @ own.names);
    side_condition = (match field_opt "side_condition" document with Some (String words) -> words | _ -> "");
    not_known = (if answer = Not_known then List.rev ledger.beyond else []);
  }

let check_violating_set document domain witness =
  let claim = field "claim" witness in
  let origin = List (items_of (field "secrets" witness) @ [ field "length" witness ]) in
  if not (List.mem origin (items_of (field "origins" claim))) then
    misformed ~path:[ Key "witness"; Key "secrets" ] "the claim is about other secrets";
  Sets.refute domain claim (field "parameters" witness);
  Told.check_set witness (Option.map (fun q -> Text.number (string_of q)) (field_opt "constant" domain))

(* Claims about sets of outputs: paramverify/kernel/set_evidence.py has the same steps. *)
let check_sets document =
  let status = string_of (field "status" document) and witness = field_opt "witness" document in
  if (witness <> None) <> (status = "violated") then
    misformed ~path:[ Key "status" ] "a witness comes with the status violated, and only with it";
  let ledger = obligations document in
  let domain = field "domain" document in
  check_points document [ about_domain domain ];
  let tell line = ledger.told <- line :: ledger.told in
  let settled = Hashtbl.create 16 in
  let one k claim =
    let origins = items_of (field "origins" claim) in
    let enter_origin origin =
      if Hashtbl.mem settled origin then
        misformed ~path:[ Key "claims"; Place k; Key "origins" ] "this direction was there before";
      Hashtbl.add settled origin ()
    in
    List.iter enter_origin origins;
    if origins = [] then misformed ~path:[ Key "claims"; Place k; Key "origins" ] "a claim about no direction";
    Sets.prove domain claim;
    match origins with
    | List [ String _; String _; _ ] :: _ -> tell (Printf.sprintf "claim %d (every set of outputs): proved" (k + 1))
    | _ -> misformed ~path:[ Key "claims"; Place k; Key "origins" ] "a claim about no direction"
  in
  let claims = items_of (field "claims" document) in
  List.iteri one claims;
  if status = "holds" && Hashtbl.length settled = 0 then rejected "a claim of the case has no proof";
  (match witness with
  | Some witness ->
      check_violating_set document domain witness;
      tell (told_witness witness)
  | None -> ());
  {
    (nothing Accepted) with
    format = string_of (field "format" document);
    lines = List.rev ledger.told;
    proved = ledger.good + List.length claims;
    trusted = ledger.sworn;
    status;
    solvers = List.sort_uniq compare ledger.names;
  }

let no_negative_weight =
  "not shown by this document alone: that no weight, no mass and no side of the bound is negative"

let no_negative_probability = "not shown by this document alone: that no probability is negative"

(* A certificate about many sequences: paramverify/kernel/cone_evidence.py has the same steps. *)
let check_cone document =
  let shown = Cones.prove document in
  let ledger = obligations document in
  let domain = fields (field "domain" (field "model" document)) in
  let about = Object [ ("claim", Object (("polynomial", String "0") :: domain)); ("origins", List [ String "" ]) ] in
  let is_shown = Cones.check_signs (Signs.of_document document (Object domain)) shown.model in
  check_points document [ about ];
  {
    (nothing Accepted) with
    format = string_of (field "format" document);
    lines = shown.lines @ List.rev ledger.told @ (if is_shown then [] else [ no_negative_weight ]);
    proved = shown.proved + ledger.good;
    trusted = List.length shown.solvers + ledger.sworn;
    status = shown.status;
    solvers = List.sort_uniq compare (ledger.names @ List.concat shown.solvers);
    side_condition = (match field_opt "side_condition" document with Some (String words) -> words | _ -> "");
  }

(* Region maps: paramverify/kernel/region_evidence.py has the same steps. *)
let check_regions document =
  let ledger = obligations document in
  let domain = field "domain" document in
  let is_parameter (name, _) = not (name = "E" && field_opt "constant" domain <> None) in
  let box = Object (List.filter is_parameter (fields (field "box" domain))) in
  check_points document [ about_domain (Object (("box", box) :: List.remove_assoc "box" (fields domain))) ];
  let proved, still_open, lines = Regions.check document in
  {
    (nothing Accepted) with
    format = string_of (field "format" document);
    lines = lines @ List.rev ledger.told;
    proved;
    trusted = ledger.sworn;
    still_open;
    status = "region map";
    solvers = List.sort_uniq compare ledger.names;
  }

(* Interactive systems: paramverify/kernel/unwinding_evidence.py has the same steps. *)
let check_unwinding document =
  let status = string_of (field "status" document) in
  let wrong key reason = misformed ~path:[ Key key ] reason in
  if status = "unknown" then wrong "status" "there is nothing to check in what says 'unknown'";
  let given key = field_opt key document <> None in
  if given "witness" && given "growth" then wrong "growth" "a witness comes without a loop that makes the ratio grow";
  let comes_with key is_there its =
    if is_there <> (status = its) then
      wrong "status" (Printf.sprintf "a %s comes with the status %s, and only with it" key its)
  in
  comes_with "witness" (given "witness" || given "growth") "violated";
  comes_with "proof" (given "proof") "holds";
  let tight = field_opt "tight" document <> None in
  if tight && status <> "holds" then wrong "status" "a lower bound comes with the status holds only";
  if field_opt "reason" document <> None then wrong "reason" "a reason comes with the status unknown only";
  let ledger = obligations document in
  check_points document [ about_domain (field "domain" document) ];
  let none = match field_opt "claims" document with Some (List (_ :: _)) -> false | _ -> true in
  if status = "violated" && not none then wrong "claims" "a violation needs no comparisons";
  let lines, count =
    if given "growth" then (Growth.check document, 0)
    else if status = "violated" then (Observations.refute document, 0)
    else Unwinding.check document
  in
  {
    (nothing Accepted) with
    format = string_of (field "format" document);
    lines = lines @ List.rev ledger.told;
    proved = count + ledger.good;
    trusted = ledger.sworn;
    status = (if tight then "budget" else status);
    solvers = List.sort_uniq compare ledger.names;
  }

(* Claims about divergences: paramverify/kernel/loss_evidence.py has the same steps. *)
let check_losses document =
  let status = string_of (field "status" document) and witness = field_opt "witness" document in
  if (witness <> None) <> (status = "violated") then
    misformed ~path:[ Key "status" ] "a witness comes with the status violated, and only with it";
  let ledger = obligations document in
  let domain = field "domain" document in
  let about = Object [ ("claim", Object (("polynomial", String "0") :: fields domain)); ("origins", List [ String "" ]) ] in
  check_points document [ about ];
  let ends, bound = Losses.bound_of (field "bound" document) in
  let signs = Signs.of_document document domain and shown = ref true in
  let tell line = ledger.told <- line :: ledger.told in
  let settled = Hashtbl.create 16 in
  let one k claim =
    let origins = items_of (field "origins" claim) in
    let enter_origin origin =
      if Hashtbl.mem settled origin then
        misformed ~path:[ Key "claims"; Place k; Key "origins" ] "this direction was there before";
      Hashtbl.add settled origin ()
    in
    List.iter enter_origin origins;
    if origins = [] then misformed ~path:[ Key "claims"; Place k; Key "origins" ] "a claim about no direction";
    let boxes, is_shown = Losses.prove document signs bound claim in
    if not is_shown then shown := false;
    match origins with
    | List [ String _; String _; _ ] :: _ ->
        tell (Printf.sprintf "claim %d (all outputs together): proved on %d box%s" (k + 1) boxes (if boxes = 1 then "" else "es"))
    | _ -> misformed ~path:[ Key "claims"; Place k; Key "origins" ] "a claim about no direction"
  in
  let claims = items_of (field "claims" document) in
  List.iteri one claims;
  if not !shown then tell no_negative_probability;
  if status = "holds" && Hashtbl.length settled = 0 then rejected "a claim of the case has no proof";
  (match witness with
  | Some witness ->
      Losses.refute document (ends, bound) witness;
      tell (told_witness witness);
      if items_of (field "largest" witness) <> [] then tell "not shown by this document alone: which outputs contribute most"
  | None -> ());
  {
    (nothing Accepted) with
    format = string_of (field "format" document);
    lines = List.rev ledger.told;
    proved = ledger.good + List.length claims;
    trusted = ledger.sworn;
    status;
    solvers = List.sort_uniq compare ledger.names;
  }

(* Exact intervals: paramverify/kernel/interval_evidence.py has the same steps. *)
let check_intervals document =
  let ledger = obligations document in
  check_points document [ about_domain (field "domain" document) ];
  let lines = Intervals.check document in
  {
    (nothing Accepted) with
    format = string_of (field "format" document);
    lines = lines @ List.rev ledger.told;
    proved = List.length lines;
    trusted = ledger.sworn;
    status = "exact intervals";
    solvers = List.sort_uniq compare ledger.names;
  }

(* Formulas of dpCTL*: paramverify/kernel/formula_evidence.py has the same steps. *)
let check_formulas document =
  check_points document [ about_domain (field "domain" document) ];
  let lines, proved, still_open, status = Formulas.check document in
  let constrained = is_some "constraints" (field "domain" document) in
  let nowhere = status <> "violated" && constrained && not (is_some "points" document) in
  let lines = lines @ if nowhere then [ no_point ] else [] in
  { (nothing Accepted) with format = string_of (field "format" document); lines; proved; still_open; status }

let check_claims document =
  match field "format" document with
  | String "paramverify-formulas" -> check_formulas document
  | String "paramverify-sets" -> check_sets document
  | String "paramverify-cone" -> check_cone document
  | String "paramverify-regions" -> check_regions document
  | String "paramverify-unwinding" -> check_unwinding document
  | String "paramverify-losses" -> check_losses document
  | String "paramverify-intervals" -> check_intervals document
  | String "paramverify-script" -> Scripts.check document
  | _ -> check_evidence document

(* A document whose claims have another bound than the case says so; that is compared with the case only. *)
let budget_line stated =
  match (field_opt "enough" stated, field_opt "bound" stated) with
  | Some enough, _ ->
      let enough = match enough with String s -> s | _ -> "none" in
      Printf.sprintf "budget: the %s in the claims is said to be %s, and was not compared" (string_of (field "kind" stated)) enough
  | None, Some (List [ String top; String bottom ]) ->
      let bound = if bottom = "1" then top else top ^ " over " ^ bottom in
      Printf.sprintf "budget: the bound in the claims is said to be %s; neither it nor a witness was compared" (plain ~most:300 bound)
  | None, _ -> "budget: the bound in the claims is said to be none; neither it nor a witness was compared"

let check document =
  match field_opt "budget" document with
  | None -> check_claims document
  | Some stated ->
      let report = check_claims (Object (List.remove_assoc "budget" (fields document))) in
      if report.answer <> Accepted then report
      else { report with lines = report.lines @ [ budget_line stated ]; status = "budget" }

let is_evidence = function
  | Object items -> (
      match List.assoc_opt "format" (List.rev items) with
      | Some (String name) -> String.starts_with ~prefix:"paramverify-" name
      | _ -> false)
  | _ -> false

(* Checks the text of a document. Raises No_evidence for what is none of any kind. *)
let check_text text =
  let told line = "rejected: " ^ line in
  let rejection error = { (nothing Rejected_it) with lines = [ told (reason_of error) ] } in
  match parse text with
  | exception Not_json reason -> raise (No_evidence ("this is no evidence: " ^ reason))
  | exception (Rejected _ as error) -> rejection error
  | data -> (
      try
        walk 0 [] data;
        Document_shapes.document data;
        check data
      with
      | (Rejected _ | Misformed _) as error ->
          if not (is_evidence data) then
            raise (No_evidence "this is no evidence: it has no `format` such as 'paramverify-evidence'");
          rejection error
      | Unknown reason -> { (nothing Not_known) with lines = [ "not checked: " ^ reason ]; not_known = [ reason ] })
