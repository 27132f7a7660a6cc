(* What is seen of an interactive system with some inputs, and how likely that is: witnesses of violations, and lower
   bounds of budgets. The steps are those of paramverify/kernel/system_witnesses.py. *)

open Faults
open Json
open Systems
module C = Checker

(* Two input sequences, one with one data point more. *)
let check_one_more system left right place =
  let longer, shorter = if List.length left > List.length right then (left, right) else (right, left) in
  let inserted = List.filteri (fun k _ -> k = place) longer and rest = List.filteri (fun k _ -> k <> place) longer in
  match inserted with
  | [ point ] when rest = shorter && point < system.data -> ()
  | _ -> rejected "the inputs do not differ in one inserted data point"

let check_inputs system left right place =
  let input a = if a < 0 || a >= system.inputs then rejected (string_of_int a ^ " is not an input") in
  List.iter input (left @ right);
  check_one_more system left right place

(* Checks that each of the inputs comes where it is accepted, also those of a loop, again and again. *)
let check_accepted closed given loop =
  let { system; table; groups; closed_table; _ } = closed in
  if system.partial then begin
    let start = C.ends_of table system.visible (List.concat groups) system.initial in
    let seen = Hashtbl.create 64 in
    let rec from = function
      | [] -> ()
      | (x, k) :: rest when Hashtbl.mem seen (x, k) -> from rest
      | (x, k) :: rest ->
          Hashtbl.add seen (x, k) ();
          let targets a = List.map fst closed.after.(x).(a) in
          let all = List.concat_map targets (List.init system.visible Fun.id) in
          let next =
            if label system x <> waits then List.map (fun y -> (y, k)) all
            else
              match C.input_at given loop k with
              | Some i -> List.map (fun y -> (y, C.behind given loop k)) (targets i)
              | None -> []
          in
          from (next @ rest)
    in
    from (List.map (fun (x, _) -> (x, 0)) start);
    let all = List.of_seq (Hashtbl.to_seq_keys seen) in
    if not (C.check_accepted closed_table system.inputs start given loop all) then
      rejected "an input comes that the environment is assumed not to give"
  end

let environment = "no input comes where it is not accepted"
let assumption system = if system.partial then ", assuming that " ^ environment else ""

type seen = { left : int list; right : int list; trace : int list; only : bool }

(* Two sequences of inputs and an observation. *)
let read_seen closed data =
  let system = closed.system in
  let actions name = List.map int_of (items_of (field name data)) in
  let left = actions "left" and right = actions "right" and trace = actions "trace" in
  check_inputs system left right (int_of (field "place" data));
  check_accepted closed left [];
  check_accepted closed right [];
  if List.exists (fun a -> a < system.data || a >= system.visible) trace then
    rejected "the observation has something that is not seen";
  { left; right; trace; only = field "closed" data = Bool true }

let chances closed seen =
  let { system; table; groups; closed_table; _ } = closed in
  let start = C.ends_of table system.visible (List.concat groups) system.initial in
  let found given = C.likely_weight closed_table system.data system.inputs system.visible seen.only start given seen.trace in
  (found seen.left, found seen.right)

(* What is told of an observation that is too likely. *)
let refute document =
  let witness = field "witness" document in
  let numbers = at_point document (field "parameters" witness) in
  let system = read numbers (field "system" document) in
  let closed = close numbers system (items_of (field "closures" document)) in
  let ratio = weight numbers (field "ratio" document) in
  let ({ left; right; trace; only } as seen) = read_seen closed witness in
  if not (shown numbers true (fst ratio)) then misformed ~path:[ Key "ratio" ] "the bound is not positive";
  let beyond =
    C.check_violation numbers.goal closed.table system.data system.inputs system.visible closed.groups system.initial ratio
      left right trace only
  in
  if not beyond then rejected "the probabilities are not shown to be beyond the bound";
  let same k told found =
    if not (C.same_weight (weight numbers told) found) then
      misformed ~path:[ Key "witness"; Key "probabilities"; Place k ] "the system gives another number"
  in
  let first, second = chances closed seen in
  List.iteri (fun k (told, found) -> same k told found)
    (List.combine (items_of (field "probabilities" witness)) [ first; second ]);
  [ "the observation exceeds the bound: a violation" ^ assumption system ]

(* The lower bound of a budget: an observation with its probabilities, on the whole domain or at a point of it. *)
let check_tight document closed numbers told =
  let point = field_opt "parameters" told in
  let numbers, closed =
    match point with
    | None -> (numbers, closed)
    | Some point ->
        let numbers = at_point document point in
        let system = read numbers (field "system" document) in
        (numbers, close numbers system (items_of (field "closures" document)))
  in
  ignore (weight numbers (field "ratio" document));
  let system = closed.system in
  let ({ left; right; trace; only } as seen) = read_seen closed told in
  let first, second, possible =
    match (items_of (field "probabilities" told), chances closed seen) with
    | [ first; second ], (p, q) ->
        let same v w =
          if point = None then C.same_weight v w
          else C.same_value numbers.goal numbers.signs v w
        in
        let number k told found =
          let value = weight numbers told in
          if not (same value found) then
            misformed ~path:[ Key "tight"; Key "probabilities"; Place k ] "the system gives another number";
          value
        in
        let first = number 0 first p in
        (first, number 1 second q, not (C.same_weight q (C.added_up [])))
    | _ -> invalid_arg "probabilities"
  in
  let shown =
    C.check_lower_bound Certify.proves numbers.goal numbers.signs closed.table system.data system.inputs system.visible
      closed.groups system.initial left right trace only first second
  in
  if not shown then
    if possible && point = None then unknown "that the observation is possible on the right is not shown in a way that is known"
    else rejected "the observation is not shown to be possible on the right"
