(* Chains of evidence about formulas: the steps are those of paramverify/kernel/chain_models.py. *)

open Faults
open Json
module C = Checker

type t = {
  size : int;
  actions : string list;
  initial : int list;
  rows : C.chain list;  (* by action and state, what it leads to *)
  labels : (string * int list) list;
  near : (int * int) list;  (* in both orders *)
  word : int list;  (* actions against a formula, of which the last ones are repeated *)
  repeated : int;
}

let most_states = 1_500
let different items = List.length (List.sort_uniq compare items) = List.length items

(* Reads a model. Raises Rejected or Misformed where its rows are no probabilities, or names and numbers do not fit;
   Unknown for models with choices. *)
let read data (numbers : Systems.numbers) =
  let names key =
    let found = List.map string_of (items_of (field key data)) in
    if found = [] then misformed ~path:[ Key "model"; Key key ] "there is none";
    found
  in
  let size = List.length (names "states") and actions = names "actions" in
  let scheduled = field "scheduled" data = Bool true in
  let initial = List.map int_of (items_of (field "initial" data)) in
  if initial = [] then misformed ~path:[ Key "model" ] "there is no initial state";
  let step k entries =
    let row = match Systems.weight numbers, items_of entries with
      | read, entries -> List.map (fun entry -> match items_of entry with [ Int t; w ] -> (t, read w) | _ -> invalid_arg "step") entries
    in
    if List.exists (fun (t, _) -> t >= size) row || not (different (List.map fst row)) then
      misformed ~path:[ Key "model"; Key "steps"; Place k ] "not different states";
    if not (C.same_weight (C.added_up row) C.one) then rejected (Printf.sprintf "model.steps[%d]: the probabilities do not sum to one" k);
    if not (List.for_all (fun (_, (top, _)) -> Systems.shown numbers false top) row) then
      rejected (Printf.sprintf "model.steps[%d]: a probability is not shown to be nonnegative" k);
    row
  in
  let steps = Array.of_list (List.mapi step (items_of (field "steps" data))) in
  let rows = items_of (field "rows" data) in
  if List.length rows <> size then misformed ~path:[ Key "model"; Key "rows" ] "not one entry for each state";
  let choices k row =
    let row = List.map int_of (items_of row) in
    let path = [ Key "model"; Key "rows"; Place k ] in
    if row = [] || (scheduled && List.length row <> List.length actions) then misformed ~path "not one step for each action";
    if List.exists (fun number -> number >= Array.length steps) row then misformed ~path "no such step";
    row
  in
  let rows = List.mapi choices rows in
  let pair k entry =
    match items_of entry with
    | [ Int s; Int t ] when s < t && t < size -> [ (s, t); (t, s) ]
    | _ -> misformed ~path:[ Key "model"; Key "neighbours"; Place k ] "not two states, the first one first"
  in
  let near = List.sort_uniq compare (List.concat (List.mapi pair (items_of (field "neighbours" data)))) in
  let labels = List.map (fun (name, states) -> (name, List.map int_of (items_of states))) (fields (field "labels" data)) in
  let fits (place, listed) =
    if List.exists (fun s -> s >= size) listed || not (different listed) then
      misformed ~path:[ Key "model" ] (plain place ^ ": not different states")
  in
  List.iter fits (("initial", initial) :: labels);
  if not scheduled then unknown "a model whose choices are no queries is not known to the proved checker";
  if size > most_states then unknown (Printf.sprintf "a model with more than %s" (counted most_states "state"));
  { size; actions; initial; rows = List.mapi (fun a _ -> List.map (fun row -> steps.(List.nth row a)) rows) actions; labels; near; word = []; repeated = 0 }
