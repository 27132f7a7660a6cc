(* Interactive systems: the steps are those of paramverify/kernel/system_models.py. What is not asked of the functions that
   are extracted from Coq is the form of a system: which actions a state enables together. *)

open Faults
open Json
module C = Checker

type t = {
  data : int;
  inputs : int;
  visible : int;  (* actions from this number on are hidden *)
  count : int;  (* of actions *)
  initial : int;
  partial : bool;  (* a state may accept some inputs only; the others are assumed not to come *)
  rows : (int * (int * C.weight) list) list array;  (* by state, the actions that it enables *)
}

(* What may be asked about weights. *)
type numbers = {
  names : string list;
  goal : C.goal;
  signs : C.sign list;
  at_point : (int * C.q) list;  (* values of the variables, where all is about one point *)
  known : (string list, C.weight) Hashtbl.t;
}

let shown numbers strict poly = C.ask numbers.goal numbers.signs strict poly
let at_most numbers left right = C.at_most numbers.goal numbers.signs left right

(* Reads a weight such as "1/3" or ["p", "p + 1"], whose denominator has to be positive. *)
let weight numbers value : C.weight =
  let parts = match value with String s -> [ s; "1" ] | value -> List.map string_of (items_of value) in
  match Hashtbl.find_opt numbers.known parts with
  | Some found -> found
  | None -> (
      let read part = C.with_values numbers.at_point (Certify.polynomial (Text.polynomial part numbers.names)) in
      match List.map read parts with
      | [ top; bottom ] ->
          if not (shown numbers true bottom) then rejected "a denominator is not shown to be positive";
          Hashtbl.add numbers.known parts (top, bottom);
          (top, bottom)
      | _ -> invalid_arg "weight")

let state_of size k = if k >= 0 && k < size then k else rejected (string_of_int k ^ " is not a state")

let steps numbers size value =
  let one row = match items_of row with [ Int s; w ] -> (state_of size s, weight numbers w) | _ -> invalid_arg "step" in
  List.map one (items_of value)

let read numbers data =
  let length name = List.length (items_of (field name data)) in
  let actions = List.concat_map (fun name -> items_of (field name data)) [ "data"; "queries"; "responses"; "hidden" ] in
  if List.length (List.sort_uniq compare actions) < List.length actions then rejected "two actions have the same name";
  let points = length "data" in
  let inputs = points + length "queries" in
  let hidden = inputs + length "responses" in
  let count = hidden + length "hidden" in
  let partial = field "partial" data = Bool true in
  let rows = Array.of_list (items_of (field "rows" data)) in
  let size = Array.length rows in
  let one state row =
    let fail reason = rejected (Printf.sprintf "state %d %s" state reason) in
    let enter found entry =
      match items_of entry with
      | [ Int action; step ] ->
          if List.mem_assoc action found || action < 0 || action >= count then
            fail "has an action twice, or one that is none";
          let step = steps numbers size step in
          if not (C.same_weight (C.added_up step) C.one) then fail "has probabilities that do not sum to one";
          if not (List.for_all (fun (_, w) -> shown numbers false (fst w)) step) then
            fail "has a probability that is not shown to be nonnegative";
          let targets = List.map fst step in
          if List.length (List.sort_uniq compare targets) < List.length targets then fail "has a successor twice";
          found @ [ (action, step) ]
      | _ -> invalid_arg "row"
    in
    let found = List.fold_left enter [] (items_of row) in
    if List.exists (fun (a, _) -> a >= inputs) found && List.length found > 1 then fail "is not output-deterministic";
    if (not partial) && List.exists (fun (a, _) -> a < inputs) found && List.length found < inputs then
      fail "is not quasi-input-enabled";
    found
  in
  let rows = Array.mapi one rows in
  { data = points; inputs; visible = hidden; count; initial = state_of size (int_of (field "initial" data)); partial; rows }

(* The state of what goes on hidden for ever: none of the system. *)
let never system = Array.length system.rows

(* The inputs that are assumed to come only where they are accepted are those below this number. *)
let guarded system = if system.partial then system.inputs else 0

(* By state and action, as the functions take it. *)
let table system : C.system =
  let row found = List.init system.count (fun a -> Option.value (List.assoc_opt a found) ~default:[]) in
  List.map row (Array.to_list system.rows)

let actions system state = List.sort compare (List.map fst system.rows.(state))

(* What is the same for all states that a state may be related to: the action that is an output, or one of these. *)
let waits = -1
let stopped = -2

let label system state =
  match if state = never system then [ (-1, []) ] else system.rows.(state) with
  | [] -> stopped
  | (action, _) :: _ -> if action < system.inputs then waits else action

let is_hidden system state = state < never system && List.exists (fun (a, _) -> a >= system.visible) system.rows.(state)

(* Closures of hidden states, group by group. A group that does not lead to itself is left with each step. *)
let read_group numbers system group : C.closure list =
  let size = Array.length system.rows in
  let weights value = List.map (fun row -> match items_of row with [ Int s; w ] -> (s, weight numbers w) | _ -> invalid_arg "ends") (items_of value) in
  let given = Hashtbl.create 8 in
  let distinct rows =
    let places = List.map (fun row -> List.hd (items_of row)) (items_of rows) in
    if List.length (List.sort_uniq compare places) < List.length places then
      rejected "a hidden state of a group, or one of its ends, is there twice"
  in
  distinct (field "ends" group);
  distinct (field "times" group);
  List.iter (fun row -> distinct (List.nth (items_of row) 1)) (items_of (field "ends" group));
  let enter row =
    match items_of row with
    | [ Int s; ends ] -> Hashtbl.replace given (state_of size s) (weights ends)
    | _ -> invalid_arg "group"
  in
  List.iter enter (items_of (field "ends" group));
  let times = weights (field "times" group) in
  if List.exists (fun s -> not (is_hidden system s)) (List.of_seq (Hashtbl.to_seq_keys given)) then
    rejected "a group of hidden states is not one of hidden states";
  let leads state = List.exists (fun (_, step) -> List.exists (fun (t, _) -> Hashtbl.mem given t) step) system.rows.(state) in
  let cyclic = Hashtbl.fold (fun state _ found -> found || leads state) given false in
  let stays state = List.for_all (fun (_, step) -> List.for_all (fun (t, _) -> Hashtbl.mem given t) step) system.rows.(state) in
  let endless = cyclic && times = [] in
  if cyclic && times <> [] && Hashtbl.fold (fun state _ all -> all && stays state) given true then
    rejected "the expected numbers of hidden steps do not satisfy their equations";
  if endless then begin
    let fits state ends =
      if not (stays state) then rejected "a group of hidden states can be left, and its times are missing";
      match ends with
      | [ (-1, w) ] when C.same_weight w C.one -> ()
      | _ -> rejected "a group of hidden states that never ends has ends"
    in
    Hashtbl.iter fits given
  end;
  let one state ends found =
    (* The ends are where nothing goes on hidden: the share of a hidden state can only be 0. *)
    let settled (t, w) =
      let t = if t = -1 then never system else state_of size t in
      if not (is_hidden system t) then Some (t, w)
      else if C.same_weight w (C.added_up []) then None
      else rejected "a group of hidden states ends in a hidden state"
    in
    let ends = List.filter_map settled ends in
    let bound = if endless || not cyclic then C.one else
      match List.assoc_opt state (List.rev times) with
      | Some found -> found
      | None -> rejected "the expected numbers of hidden steps are missing"
    in
    (state, (bound, ends)) :: found
  in
  Hashtbl.fold one given []

(* A system with its closures, and where its visible actions lead to. *)
type closed = {
  system : t;
  table : C.system;
  groups : C.closure list list;
  after : (int * C.weight) list array array;
  closed_table : C.system;
  reach : int list;
}

let close numbers system groups =
  let groups = List.map (read_group numbers system) groups in
  let table = table system and all = List.concat groups in
  let closed_table = C.closed_system table system.visible all in
  let after = Array.of_list (List.map Array.of_list (closed_table @ [ List.init system.visible (fun _ -> []) ])) in
  let seen = Array.make (Array.length system.rows + 1) false in
  let rec from found = function
    | [] -> List.rev found
    | state :: rest when seen.(state) -> from found rest
    | state :: rest ->
        seen.(state) <- true;
        let next = List.concat_map (List.map fst) (Array.to_list after.(state)) in
        from (state :: found) (rest @ next)
  in
  let reach = from [] (List.map fst (C.ends_of table system.visible all system.initial)) in
  { system; table; groups; after; closed_table; reach }

(* Comparisons with parameters: each polynomial is at least 0, or above it, on the domain. *)
let read_signs comparisons : C.sign list =
  let known = ref [] in
  let read data =
    let strict = field "strict" data = Bool true and negated = field_opt "negated" data in
    if (negated <> None) <> strict then misformed "the negative comes with a strict comparison";
    let about = Claims.of_statement data in
    let claim =
      match negated with
      | None -> about
      | Some opposite ->
          let minus = Text.polynomial (string_of opposite) about.names in
          if not (Text.Monomials.equal Q.equal (Text.Monomials.map Q.neg about.poly) minus) then
            rejected "the negative of a polynomial is another one";
          { about with poly = Text.polynomial "-1" about.names; constraints = about.constraints @ [ (minus, false) ] }
    in
    let key = Certify.polynomial about.poly in
    if List.exists (fun (other, found) -> other = strict && C.proportional found.C.num key.C.num) !known then
      misformed "the same comparison again";
    known := (strict, key) :: !known;
    ((strict, key), Certify.certificate { about = claim; known = Certify.no_lemmas } 0 (field "proof" data))
  in
  List.map (fun (statement : Statements.t) -> Statements.within statement read statement.data) comparisons

(* What may be asked about weights on the domain of an engine. *)
let numbers_of engine comparisons =
  let about, goal = Certify.domain_of (field "domain" engine) in
  { names = about.Claims.names; goal; signs = read_signs comparisons; at_point = []; known = Hashtbl.create 64 }

(* Numbers at a point of the domain. *)
let at_point engine point =
  let nowhere = Claims.read (field "domain" engine) "-1" in
  Certify.refute nowhere point;  (* the claim -1 >= 0 fails at each point of the domain *)
  let facts = match nowhere.exponent with Some q -> [ C.Exp (Certify.axis nowhere "E", Certify.rational q) ] | None -> [] in
  let goal = { C.gpoly = Certify.polynomial nowhere.poly; gbox = []; gconds = []; gfacts = facts } in
  let value (name, number) = (Certify.axis nowhere name, Certify.number number) in
  { names = nowhere.names; goal; signs = []; at_point = List.map value (fields point); known = Hashtbl.create 64 }
