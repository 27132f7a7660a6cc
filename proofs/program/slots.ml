(* Systems with any number of slots: the steps are those of paramverify/kernel/slot_evidence.py; the function that accepts
   is extracted from Coq. *)

open Faults
open Json
module C = Checker

let check data =
  let program = field "program" data and steps = int_of (field "steps" data) in
  let does name = field name program = Bool true in
  let sign written = match int_of written with (1 | -1) as sign -> sign | _ -> rejected "a form has something else than signs" in
  let form written =
    let more, less = List.partition (fun sign -> sign = 1) (List.map sign (items_of written)) in
    (List.length more, List.length less)
  in
  let forms = List.sort_uniq compare (List.map form (items_of (field "forms" data))) in
  if not (does "deletes") then rejected "slots keep their points: the states are never equal again";
  if does "shared" && does "drops" then rejected "slots share their places: a data point of one decides about another";
  if not (List.mem (1, 0) forms) then rejected "an insertion leads to no form";
  if List.exists (fun (more, less) -> more + less > steps) forms then rejected "a query costs more than the steps say";
  if not (C.check_slots (does "shared") (does "drops") (does "deletes") forms steps) then
    rejected "a data point leads to another form";
  [ Printf.sprintf "slots: %d forms, %d*t*epsilon for every t, maxPts, data and K: proved" (List.length forms) steps ]
