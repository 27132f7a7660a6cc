(* Interactive systems: the steps are those of paramverify/checker/systems.py and unwinding.py. What is not asked of
   the functions that are extracted from Coq is the form of a system: which actions a state enables together. *)

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

(* What is the same for all states that a state may be related to. *)
let label system state =
  match if state = never system then [ (-1, []) ] else system.rows.(state) with
  | [] -> "stopped"
  | (action, _) :: _ -> if action < system.inputs then "input" else string_of_int action

let is_hidden system state = state < never system && List.exists (fun (a, _) -> a >= system.visible) system.rows.(state)

(* Closures of hidden states, group by group. A group that does not lead to itself is left with each step. *)
let read_group numbers system group : C.closure list =
  let size = Array.length system.rows in
  let weights value = List.map (fun row -> match items_of row with [ Int s; w ] -> (s, weight numbers w) | _ -> invalid_arg "ends") (items_of value) in
  let given = Hashtbl.create 8 in
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
    let settled (t, w) =
      let t = if t = -1 then never system else state_of size t in
      if is_hidden system t then unknown "a closure with a hidden state is not known to the proved checker";
      (t, w)
    in
    let ends = List.map settled ends in
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

(* Different choices from each row, by augmenting paths: the choice of each row. *)
let matching (rows : int list list) =
  let rows = Array.of_list rows and owner = Hashtbl.create 16 in
  let rec place tried row =
    let take choice =
      (not (Hashtbl.mem tried choice))
      && begin
           Hashtbl.add tried choice ();
           let free = match Hashtbl.find_opt owner choice with None -> true | Some other -> place tried other in
           if free then Hashtbl.replace owner choice row;
           free
         end
    in
    List.exists take rows.(row)
  in
  let all = List.init (Array.length rows) Fun.id in
  if List.for_all (fun row -> place (Hashtbl.create 16) row) all then begin
    let chosen = Array.make (Array.length rows) 0 in
    Hashtbl.iter (fun choice row -> chosen.(row) <- choice) owner;
    Some (Array.to_list chosen)
  end
  else None

(* Each choice as its place in what the choices before it leave. *)
let places count chosen =
  let rec from left = function
    | [] -> []
    | choice :: rest ->
        let rec place k = function
          | [] -> invalid_arg "places"
          | other :: others -> if other = choice then k else place (k + 1) others
        in
        place 0 left :: from (List.filter (fun other -> other <> choice) left) rest
  in
  from (List.init count Fun.id) chosen

(* The other way round. *)
let inverse chosen =
  let found = Array.make (List.length chosen) 0 in
  List.iteri (fun row choice -> found.(choice) <- row) chosen;
  Array.to_list found

(* --- what is shown ------------------------------------------------------------------------------------------ *)

let proves goal proof = C.check C.max_depth [] goal proof
let same_actions system x y =
  let both_wait = system.partial && label system x = "input" && label system y = "input" in
  if (not both_wait) && actions system x <> actions system y then
    rejected (Printf.sprintf "states %d and %d do not enable the same actions" x y)

(* Asks the proved function. Raises Rejected where it says no. *)
let settle closed numbers ratio why reason =
  let { system; table; groups; reach; _ } = closed in
  if
    not
      (C.check_interactive proves numbers.goal numbers.signs table system.visible system.data (guarded system) groups system.initial reach
         ratio why)
  then rejected reason

let check_family closed numbers ratio proof =
  let system = closed.system in
  let step = weight numbers (field "delta" proof) and steps = int_of (field "steps" proof) in
  if steps < 0 || steps > 10_000 then rejected "the number of steps is none";
  let size = Array.length system.rows in
  let levels = Hashtbl.create 64 in
  let enter row =
    match items_of row with
    | [ Int x; Int y; Int level ] ->
        if level < 0 then rejected "a level is none";
        let x = state_of size x and y = state_of size y in
        Hashtbl.replace levels (min x y, max x y) level
    | _ -> invalid_arg "levels"
  in
  List.iter enter (items_of (field "levels" proof));
  let related x y level =
    x = y || match Hashtbl.find_opt levels (min x y, max x y) with Some found -> found <= level | None -> false
  in
  (* The partners of the outcomes, and whether they are of the same level. *)
  let bijection x y level action =
    let mu = closed.after.(x).(action) and nu = closed.after.(y).(action) in
    let fail () = rejected (Printf.sprintf "pair (%d, %d) of level %d, action %d: no bijection of supports" x y level action) in
    let alone = system.partial && (mu = [] || nu = []) in
    if (not alone) && List.length mu <> List.length nu then fail ();
    let choices good =
      let row (s, w) =
        let fits k (r, v) = if label system s = label system r && good s w r v then Some k else None in
        List.filter_map Fun.id (List.mapi fits nu)
      in
      matching (List.map row mu)
    in
    match if alone then Some [] else choices (fun s w r v -> related s r level && C.same_weight w v) with
    | Some chosen -> (true, chosen)
    | None -> (
        let near s w r v =
          related s r (level - 1) && at_most numbers [ w ] [ step; v ] && at_most numbers [ v ] [ step; w ]
        in
        match if level = 0 then None else choices near with Some chosen -> (false, chosen) | None -> fail ())
  in
  let pairs (x, y) level found =
    if is_hidden system x || is_hidden system y then rejected "a pair has a hidden state";
    same_actions system x y;
    let each action =
      let same, chosen = bijection x y level action in
      let told chosen = List.map (fun place -> (same, place)) (places (List.length chosen) chosen) in
      (told chosen, told (inverse chosen))
    in
    let both = List.init system.visible each in
    let one one_state other_state mates : C.pair = { one_state; other_state; pair_level = level; mates } in
    if x = y then found else one x y (List.map fst both) :: one y x (List.map snd both) :: found
  in
  let found = Hashtbl.fold pairs levels [] in
  settle closed numbers ratio (C.ByFamily (step, found, steps))
    "the family is not shown to be one, or does not cover an insertion";
  Printf.sprintf "unwinding family: %s, %s: proved" (counted (Hashtbl.length levels) "pair") (counted steps "step")

let check_costs closed numbers ratio proof =
  let system = closed.system and reach = closed.reach in
  if not (at_most numbers [ C.one ] [ ratio ]) then rejected "the bound is not shown to be at least one";
  let size = Array.length system.rows in
  let classes = Array.make size (-1) in
  let blocks = items_of (field "classes" proof) in
  List.iteri (fun block members -> List.iter (fun s -> classes.(state_of size (int_of s)) <- block) (items_of members)) blocks;
  if List.exists (fun s -> s < size && classes.(s) < 0) reach then rejected "a state has no class";
  let leader = Array.make (List.length blocks) (-1) in
  List.iter (fun s -> if s < size && leader.(classes.(s)) < 0 then leader.(classes.(s)) <- s) reach;
  let by_state = List.map (max 0) (Array.to_list classes) @ [ List.length blocks ] in
  let leaders = List.map (max 0) (Array.to_list leader) @ [ never system ] in
  let quotient = C.quotient closed.closed_table by_state leaders system.visible in
  let prices = Hashtbl.create 64 in
  let enter row =
    match items_of row with
    | [ Int x; Int y; w ] -> Hashtbl.replace prices (x, y) (weight numbers w)
    | _ -> invalid_arg "costs"
  in
  List.iter enter (items_of (field "costs" proof));
  let led x = if x = List.length blocks then never system else if x < 0 || x >= Array.length leader || leader.(x) < 0 then rejected "a cost of no class" else leader.(x) in
  let injection x y price action =
    let mu = C.row quotient x action and nu = C.row quotient y action in
    let row (z, w) =
      let fits k (other, v) =
        let left = if z = other then Some [ w ] else Option.map (fun d -> [ w; d ]) (Hashtbl.find_opt prices (z, other)) in
        let alike = label system (led z) = label system (led other) in
        match left with Some left when alike && at_most numbers left [ price; v ] -> Some k | _ -> None
      in
      List.filter_map Fun.id (List.mapi fits nu)
    in
    match if system.partial && nu = [] then Some [] else matching (List.map row mu) with
    | Some chosen -> places (List.length nu) chosen
    | None -> rejected (Printf.sprintf "classes (%d, %d), action %d: the cost is too small" x y action)
  in
  let entry (x, y) price found : C.priced list =
    if x = y then rejected "a cost of a class with itself";
    if max x y >= List.length blocks then rejected "a cost of no class";
    same_actions system (led x) (led y);
    { C.left = x; right = y; price; partners = List.init system.visible (injection x y price) } :: found
  in
  let entries = Hashtbl.fold entry prices [] in
  settle closed numbers ratio (C.ByCosts (by_state, leaders, entries))
    "the costs are not shown, or do not cover an insertion";
  Printf.sprintf "costs: %d pairs of classes: proved" (Hashtbl.length prices)

(* A comparison with parameters: the polynomial is at least 0, or above it, on the domain. *)
let read_sign domain about known place entry : C.sign =
  let path = [ Key "claims"; Place place ] in
  let strict = field "strict" entry = Bool true and negated = field_opt "negated" entry in
  if (negated <> None) <> strict then misformed ~path "the negative comes with a strict comparison";
  let names = about.Claims.names in
  let poly = Text.polynomial (string_of (field "polynomial" entry)) names in
  let claim =
    match negated with
    | None -> Object (("polynomial", field "polynomial" entry) :: fields domain)
    | Some opposite ->
        let minus = Text.polynomial (string_of opposite) names in
        if not (Text.Monomials.equal Q.equal (Text.Monomials.map Q.neg poly) minus) then
          rejected "the negative of a polynomial is another one";
        let more = List (items_of (field "constraints" domain) @ [ List [ opposite; String ">=" ] ]) in
        Object (("polynomial", String "-1") :: ("constraints", more) :: List.remove_assoc "constraints" (fields domain))
  in
  let key = Certify.polynomial poly in
  if List.exists (fun (other, found) -> other = strict && C.proportional found.C.num key.C.num) !known then
    misformed ~path "the same comparison again";
  known := (strict, key) :: !known;
  let statement = Claims.read claim in
  ((strict, key), Certify.certificate { about = statement; known = Certify.no_lemmas } 0 (field "proof" entry))

(* What is told, and how many comparisons with parameters are proved. *)
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
            if label system x <> "input" then List.map (fun y -> (y, k)) all
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

let assumption system = if system.partial then ", assuming that no input comes where it is not accepted" else ""

(* Numbers at a point of the domain. *)
let at_point document point =
  let nowhere = Claims.read (Object (("polynomial", String "-1") :: fields (field "domain" document))) in
  Certify.refute nowhere point;  (* the claim -1 >= 0 fails at each point of the domain *)
  let facts = match nowhere.exponent with Some q -> [ C.Exp (Certify.axis nowhere "E", Certify.rational q) ] | None -> [] in
  let goal = { C.gpoly = Certify.polynomial nowhere.poly; gbox = []; gconds = []; gfacts = facts } in
  let value (name, number) = (Certify.axis nowhere name, Certify.number number) in
  { names = nowhere.names; goal; signs = []; at_point = List.map value (fields point); known = Hashtbl.create 64 }

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
    C.check_lower_bound proves numbers.goal numbers.signs closed.table system.data system.inputs system.visible
      closed.groups system.initial left right trace only first second
  in
  if not shown then
    if possible && point = None then unknown "that the observation is possible on the right is not shown in a way that is known"
    else rejected "the observation is not shown to be possible on the right"

(* Systems in which nothing that is seen tells much, and lower bounds of their budgets. *)
let check document =
  let domain = field "domain" document in
  let about, goal = Certify.domain_of domain in
  let entries = match field_opt "claims" document with Some entries -> items_of entries | None -> [] in
  let signs = List.mapi (read_sign domain about (ref [])) entries in
  let numbers = { names = about.names; goal; signs; at_point = []; known = Hashtbl.create 64 } in
  let system = read numbers (field "system" document) in
  let closed = close numbers system (items_of (field "closures" document)) in
  let proof = field "proof" document and ratio = weight numbers (field "ratio" document) in
  let told =
    match field "kind" proof with
    | String "family" -> check_family closed numbers ratio proof
    | _ -> check_costs closed numbers ratio proof
  in
  let lower =
    match field_opt "tight" document with
    | None -> []
    | Some Null -> [ "no observation: the ratio 1 is a lower bound" ]
    | Some seen ->
        check_tight document closed numbers seen;
        let plain = function String s -> plain ~most:200 s | value -> "(" ^ String.concat ")/(" (List.map string_of (items_of value)) ^ ")" in
        let told = String.concat " over " (List.map plain (items_of (field "probabilities" seen))) in
        [ "an observation has the ratio " ^ told ^ ": a lower bound" ]
  in
  let count = List.length entries in
  (((told ^ assumption system) :: lower) @ [ Printf.sprintf "%d comparison%s with parameters" count (if count = 1 then "" else "s") ], count)
