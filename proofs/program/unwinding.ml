(* Interactive systems in which nothing that is seen tells much: families and costs. The steps are those of
   paramverify/kernel/unwinding_evidence.py. Nothing rests on the partners that are looked for here. *)

open Faults
open Json
open Systems
open Observations
module C = Checker

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

let same_actions system x y =
  let both_wait = system.partial && label system x = waits && label system y = waits in
  if (not both_wait) && actions system x <> actions system y then
    rejected (Printf.sprintf "states %d and %d do not enable the same actions" x y)

(* Asks the proved function. Raises Rejected where it says no. *)
let settle closed numbers ratio why reason =
  let { system; table; groups; reach; _ } = closed in
  if
    not
      (C.check_interactive Certify.proves numbers.goal numbers.signs table system.visible system.data (guarded system) groups system.initial reach
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

(* Systems in which nothing that is seen tells much, and lower bounds of their budgets. *)
let check document comparisons =
  let numbers = numbers_of document comparisons in
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
  let count = List.length comparisons in
  ((told :: lower) @ [ Printf.sprintf "%d comparison%s with parameters" count (if count = 1 then "" else "s") ], count)
