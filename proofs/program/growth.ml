(* Interactive systems without a budget: two runs, one with one data point more, and a loop that both make. The steps
   are those of `check_growth` in paramverify/kernel/system_witnesses.py. *)

open Faults
open Json
open Systems
open Observations
module C = Checker

(* The factor by which the loop changes the probabilities: one of them tells it, and the proved function compares all. *)
let factor_of numbers before after =
  let positive (_, (top, _)) = shown numbers true top in
  match List.find_opt positive before with
  | None -> rejected "the loop leads to other states"
  | Some (state, (c, d)) -> (
      match List.assoc_opt state after with
      | Some (a, b) when shown numbers true a -> C.times_weight (a, b) (d, c)
      | _ -> rejected "the loop leads to other states")

(* What is told of a loop. *)
let check document =
  let told = field "growth" document in
  let numbers = at_point document (field "parameters" told) in
  let system = read numbers (field "system" document) in
  let closed = close numbers system (items_of (field "closures" document)) in
  let steps name = List.map int_of (items_of (field name told)) in
  let left = steps "left" and right = steps "right" and loop = steps "loop" in
  let one a = if a < 0 || a >= system.visible then rejected (string_of_int a ^ " is neither an input nor a response") in
  List.iter one (left @ right @ loop);
  check_one_more system left right (int_of (field "place" told));
  let given = List.filter (fun a -> a < system.inputs) in
  List.iter (fun side -> check_accepted closed (given side) (given loop)) [ left; right ];
  let start = C.ends_of closed.table system.visible (List.concat closed.groups) system.initial in
  let follow from t =
    match C.run_from closed.closed_table system.data system.inputs system.visible from t with
    | Some found -> found
    | None -> rejected "a data point comes where a state does not take it, or a response where one waits for an input"
  in
  let factor side =
    let before = follow start side in
    factor_of numbers before (follow before loop)
  in
  let more = factor left and less = factor right in
  if
    not
      (C.check_growth numbers.goal closed.table system.data system.inputs system.visible closed.groups system.initial left
         right loop more less)
  then rejected "the loop does not keep the vectors, or does not make the ratio grow";
  [ "a loop makes the ratio grow without limit: a violation, and there is no budget" ^ assumption system ]
