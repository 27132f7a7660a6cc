(* Certificates about many sequences: the steps are those of paramverify/kernel/cone_evidence.py; the functions that accept
   are extracted from Coq. The lengths of `levels`, and which secrets a `loop` is about, are read here, and that is trusted.
   What is computed (where states lead to, rays, combinations) is only a help, on which nothing rests. *)

open Faults
open Json
open Models
module C = Checker

let max_normals = 40
let max_size = 5

(* --- claims ------------------------------------------------------------------------------------------ *)

(* A text that is the same for two polynomials iff one is a positive multiple of the other. *)
let signature (poly : C.poly) =
  let rec short = function
    | C.Pc _ as p -> p
    | C.PX (q, p) -> (
        match (short q, short p) with C.Pc c, C.Pc z when Z.equal z Z.zero -> C.Pc c | q, p -> C.PX (q, p))
  in
  let rec content found = function C.Pc c -> Z.gcd found c | C.PX (q, p) -> content (content found q) p in
  let poly = short poly in
  let divisor = content Z.zero poly in
  let buffer = Buffer.create 64 in
  let rec write = function
    | C.Pc c ->
        Buffer.add_string buffer (Z.to_string (if Z.equal divisor Z.zero then c else Z.divexact c divisor));
        Buffer.add_char buffer ' '
    | C.PX (q, p) -> Buffer.add_char buffer '('; write q; write p; Buffer.add_char buffer ')'
  in
  write poly;
  Buffer.contents buffer

type settled = { polys : C.qpoly list; find : C.poly -> int; proved : int; solvers : string list list }

(* Replays the proofs of all comparisons, which are about the domain of the model. *)
let settle comparisons =
  let places = Hashtbl.create 64 in
  let read k data =
    if field "strict" data = Bool true || field_opt "negated" data <> None then misformed "no weight has to be above another one";
    let statement = Claims.of_statement data in
    let solvers = Certify.replay Certify.no_lemmas statement (field "proof" data) in
    let poly = Certify.polynomial statement.poly in
    Hashtbl.replace places (signature poly.C.num) k;
    (poly, solvers)
  in
  let one k (comparison : Statements.t) = Statements.within comparison (read k) comparison.data in
  let found = List.mapi one comparisons in
  let count = List.length found in
  let find poly = Option.value (Hashtbl.find_opt places (signature poly)) ~default:count in
  let solvers = List.filter (fun names -> names <> []) (List.map snd found) in
  { polys = List.map fst found; find; proved = count - List.length solvers; solvers }

(* --- vectors of numbers ------------------------------------------------------------------------------ *)

let vector size data =
  let one written =
    let value = Text.number (string_of written) in
    if not (Z.equal (Q.den value) Z.one) then rejected "not a vector of whole numbers";
    Q.num value
  in
  let found = List.map one (items_of data) in
  if List.length found <> size then rejected "not a vector of whole numbers";
  found

let vectors size data = Array.of_list (List.map (vector size) (items_of data))
let content entries = List.fold_left Z.gcd Z.zero entries

let at array k what = if 0 <= k && k < Array.length array then array.(k) else rejected what

(* Rows of whole numbers that are not zero. Raises Rejected where a step has a parameter. *)
let numeric model =
  let scale = scale_of model in
  let entry poly =
    if not (is_constant poly) then rejected "the steps have parameters";
    let value = number_of poly in
    if Q.sign value < 0 then rejected "a step has a negative weight";
    Z.mul (Q.num value) (Z.divexact scale (Q.den value))
  in
  let row table s =
    let entries = Option.value (Whole.find_opt s table) ~default:Whole.empty in
    List.filter (fun (_, w) -> Z.sign w <> 0) (Whole.bindings (Whole.map entry entries))
  in
  Array.map (fun table -> Array.init model.states (row table)) model.tables

let applied table entries =
  let entries = Array.of_list entries in
  let sum row = List.fold_left (fun total (t, w) -> Z.add total (Z.mul w entries.(t))) Z.zero row in
  Array.to_list (Array.map sum table)

(* Weights by index, as whole numbers over one denominator. *)
let weights_of data =
  let one (k, written) =
    let value = Text.number (string_of written) in
    if Q.sign value < 0 then rejected "a combination with a negative weight";
    (index_of k, value)
  in
  let found = List.map one (fields data) in
  let scale = List.fold_left (fun scale (_, w) -> Z.lcm scale (Q.den w)) Z.one found in
  (scale, List.map (fun (k, w) -> (k, Z.mul (Q.num w) (Z.divexact scale (Q.den w)))) found)

(* --- the rules --------------------------------------------------------------------------------------- *)

let closed document model : C.cone_proof =
  let tables = numeric model and n = model.states in
  let rays = vectors n (field "rays" document) in
  let sources = Array.to_list rays @ [ List.init n (fun _ -> Z.one) ] in
  let steps = List.map items_of (items_of (field "steps" document)) in
  if List.length steps <> List.length sources then rejected "a step is missing";
  let way source table entry =
    let scale, weights = weights_of entry in
    List.iter (fun (k, _) -> ignore (at rays k "no such ray")) weights;
    let divisor = content (applied table source) in
    let divisor = if Z.equal divisor Z.zero then Z.one else divisor in
    let at k = match List.assoc_opt k weights with Some w -> Z.mul w divisor | None -> Z.zero in
    (scale, List.init (Array.length rays) at)
  in
  let row source entries =
    if List.length entries <> Array.length tables then rejected "a step is missing";
    List.map2 (way source) (Array.to_list tables) entries
  in
  C.Closed (Array.to_list rays, List.map2 row sources steps)

(* The states in a list, as one flag for each state. *)
let flags states chosen = List.init states (fun s -> List.mem s chosen)

let reached model first =
  let found = Array.make model.states false in
  let rec visit s =
    if not found.(s) then begin
      found.(s) <- true;
      let row table = match Whole.find_opt s table with Some row -> Whole.iter (fun t _ -> visit t) row | None -> () in
      Array.iter row model.tables
    end
  in
  let pair (_, _, pi, tau) = Whole.iter (fun s _ -> visit s) (if first then pi else tau).weights in
  List.iter pair model.pairs;
  Array.to_list found

let levels document model : C.cone_proof =
  let tables = numeric model and n = model.states in
  let vectors = vectors n (field "vectors" document) in
  if Array.exists (List.exists (fun x -> Z.sign x < 0)) vectors then rejected "a vector with a negative entry";
  let lengths = List.sort_uniq compare (List.map int_of (items_of (field "lengths" document))) in
  if lengths = [] || List.hd lengths < 1 then rejected "lengths must be positive whole numbers";
  let named k = at vectors k "no such vector" in
  let level before data =
    let numbers = List.map int_of (items_of (field "kept" data)) in
    let distinct = List.fold_left (fun found k -> if List.mem k found then found else k :: found) [] numbers in
    let kept = List.map named (List.rev distinct) in
    let known = Hashtbl.create 64 and places = Hashtbl.create 64 and count = ref 0 in
    let enter k =
      Hashtbl.replace known k !count;
      if not (Hashtbl.mem places (named k)) then Hashtbl.add places (named k) !count;
      incr count
    in
    List.iter enter (List.rev distinct);
    let drop row =
      match items_of row with
      | [ Int k; entry ] ->
          let scale, weights = weights_of entry in
          let one (j, w) =
            match Hashtbl.find_opt known j with Some place -> (w, place) | None -> rejected "no such vector before"
          in
          let ways = List.map one weights in
          let found = named k in
          enter k;
          (found, (scale, ways))
      | _ -> invalid_arg "dropped"
    in
    let dropped = List.map drop (items_of (field "dropped" data)) in
    let way source table =
      let found = applied table source in
      let divisor = content found in
      if Z.equal divisor Z.zero then None
      else
        match Hashtbl.find_opt places (List.map (fun x -> Z.divexact x divisor) found) with
        | Some place -> Some (divisor, place)
        | None -> rejected "a vector is missing"
    in
    let ways_on = List.map (fun source -> List.map (way source) (Array.to_list tables)) before in
    (kept, { C.level_kept = kept; dropped; ways_on })
  in
  let run data =
    let below = List.map int_of (items_of (field "below" data)) in
    let above = List.map int_of (items_of (field "above" data)) in
    let turns = List.map (fun turn -> int_of turn = 1) (items_of (field "directions" data)) in
    let given = items_of (field "levels" data) in
    if List.length given < List.fold_left max 0 lengths then rejected "a length is missing";
    let one (before, found) data = let kept, level = level before data in (kept, level :: found) in
    let _, found = List.fold_left one ([ List.init n (fun _ -> Z.one) ], []) given in
    {
      C.turns;
      smaller = flags n below;
      larger = flags n above;
      reached = (reached model true, reached model false);
      levels = List.rev found;
    }
  in
  C.Levels (lengths, List.map run (items_of (field "runs" document)))

(* The states where one can be after each number of steps up to a depth, all of them in a set that is not left. *)
let tail model states depth =
  let n = model.states in
  let after s =
    let row table = match Whole.find_opt s table with Some row -> List.map fst (Whole.bindings row) | None -> [] in
    List.sort_uniq compare (List.concat_map row (Array.to_list model.tables))
  in
  let after = Array.init n after in
  if List.exists (fun s -> s < 0 || s >= n || List.exists (fun t -> not (List.mem t states)) after.(s)) states then
    rejected "the states are left by a step";
  let starts (_, _, pi, tau) = List.map fst (Whole.bindings pi.weights @ Whole.bindings tau.weights) in
  let here = List.sort_uniq compare (List.concat_map starts model.pairs) in
  let next here = List.sort_uniq compare (List.concat_map (fun s -> after.(s)) here) in
  let rec from here k = if k = 0 then [ here ] else here :: from (next here) (k - 1) in
  let found = from here depth in
  if List.exists (fun s -> not (List.mem s states)) (List.nth found depth) then rejected "a state is missing after the steps";
  List.map (flags n) found

let ratios document model : C.cone_proof =
  let states = List.map int_of (items_of (field "states" document)) and depth = int_of (field "depth" document) in
  let size = List.length states and n = model.states in
  if depth < 1 || depth > 20 || List.length (List.sort_uniq compare states) < size then
    rejected "the depth or the states are out of range";
  let tail = tail model states depth in
  let normals = List.map (vector size) (items_of (field "normals" document)) in
  if List.exists (fun normal -> Z.sign (List.fold_left Z.add Z.zero normal) < 0) normals then
    rejected "the cone does not contain 1";
  if size > max_size || (size > 0 && List.length normals > max_normals) then rejected "the cone is too large, or contains a line";
  let rays = Rays.extreme normals size in
  if List.exists (List.exists (fun x -> Z.sign x < 0)) rays then rejected "the cone has vectors with negative entries";
  let at entries s = match Rays.position s states with Some k -> List.nth entries k | None -> Z.zero in
  let lifted entries = List.init n (at entries) in
  let normals = List.map lifted normals and rays = List.map lifted rays in
  let kept = flags n states in
  let units = List.filteri (fun s _ -> not (List.nth kept s)) (List.init n (Rays.unit n)) in
  C.Ratios { C.kept; cone_normals = normals; cone_rays = rays; cone_cover = Rays.covering n normals rays units; tail }

let loop document model : C.loop =
  Certify.refute (Claims.read (field "domain" document) "-1") (field "point" document);
  let tables = numeric model and n = model.states in
  let one, other =
    match items_of (field "secrets" document) with [ String a; String b ] -> (a, b) | _ -> invalid_arg "secrets"
  in
  let word name =
    let found = List.map int_of (items_of (field name document)) in
    if List.exists (fun o -> o < 0 || o >= Array.length tables) found then rejected "an unknown observation, or no loop";
    found
  in
  let before_loop = word "prefix" and body = word "loop" and behind_loop = word "suffix" in
  if body = [] then rejected "an unknown observation, or no loop";
  let rec place k = function
    | [] -> rejected "no such secret pair"
    | (left, right, pi, tau) :: rest ->
        if (left, right) = (one, other) || (right, left) = (one, other) then (k, left <> one, [ pi; tau ])
        else place (k + 1) rest
  in
  let which, swapped, starts = place 0 model.pairs in
  let parametric start = not (List.for_all is_constant (start.mass :: polys_of start.weights)) in
  if List.exists parametric starts then rejected "a prior has parameters";
  let at_state = int_of (field "state" document) in
  let given = List.map (fun (s, x) -> (index_of s, Text.number (string_of x))) (fields (field "bounds" document)) in
  if at_state < 0 || at_state >= n || List.exists (fun (s, _) -> s >= n) given then rejected "no such state";
  let common = List.fold_left (fun scale (_, x) -> Z.lcm scale (Q.den x)) Z.one given in
  let whole scale x = Z.mul (Q.num x) (Z.divexact scale (Q.den x)) in
  let bound s = match List.assoc_opt s given with Some x -> whole common x | None -> Z.zero in
  let a, b =
    match items_of (field "rates" document) with
    | [ a; b ] -> (Text.number (string_of a), Text.number (string_of b))
    | _ -> invalid_arg "rates"
  in
  let under = Z.lcm (Q.den a) (Q.den b) and factor = Text.number (string_of (field "factor" document)) in
  {
    C.which; swapped; before_loop; body; behind_loop; at_state;
    bounded = List.init n (fun s -> List.mem_assoc s given);
    bounds = List.init n bound;
    times = common;
    rate_up = whole under a;
    rate_down = whole under b;
    rate_under = under;
    factor_top = Q.num factor;
    factor_bottom = Q.den factor;
  }

type shown = { status : string; model : model; lines : string list; proved : int; solvers : string list list }

(* Whether weights, masses and sides of the bound are shown never to be negative. Raises Rejected where one is nowhere
   positive, and not 0. *)
let check_signs signs model =
  let start prior = prior.mass :: polys_of prior.weights in
  let pair (_, _, pi, tau) = start pi @ start tau in
  let rows table = List.concat_map (fun (_, row) -> polys_of row) (Whole.bindings table) in
  let all = fst model.ratio :: snd model.ratio :: List.concat_map pair model.pairs in
  let found = List.map (Signs.sign signs) (List.concat_map rows (Array.to_list model.tables) @ all) in
  if List.mem (-1) found then rejected "a weight, a mass or a side of the bound is negative";
  not (List.mem 0 found)

(* Raises Rejected where a certificate does not show what it says, and Unknown where that is not known. *)
let prove document comparisons =
  let kind = string_of (field "rule" document) in
  let status = if kind = "loop" then "violated" else "holds" in
  let model = read (field "domain" document) (field "model" document) in
  let data = model_of model in
  if kind = "loop" then begin
    if comparisons <> [] then misformed "a loop needs no comparisons";
    if not (C.check_loop data (loop document model)) then rejected "the ratio is not shown to grow";
    { status; model; lines = [ "the ratio grows with each loop" ]; proved = 1; solvers = [] }
  end
  else begin
    let rule = match kind with "closed" -> closed | "levels" -> levels | _ -> ratios in
    let proof = rule document model in
    let settled = settle comparisons in
    if not (C.check_cone settled.find settled.polys data proof) then rejected "the certificate does not show the bound";
    let count = List.length settled.polys in
    let names = List.sort_uniq compare (List.concat settled.solvers) in
    let how = if names = [] then "proved" else "proved or trusted" in
    let line = Printf.sprintf "%s: %d claim%s, and all that is needed follows" how count (if count = 1 then "" else "s") in
    { status; model; lines = line :: List.map (fun name -> "trusted to " ^ quoted name) names; proved = settled.proved; solvers = settled.solvers }
  end
