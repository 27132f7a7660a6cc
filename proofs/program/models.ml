(* Models of certificates about many sequences, as paramverify/kernel/cone_evidence.py reads them, and the same as data of the
   proved checker. That this data says what the document says is trusted. *)

open Faults
open Json
module C = Checker

let max_states = 100_000
let max_entries = 1_000_000  (* of all matrices together: they are kept in full *)

module Whole = Map.Make (Int)

let index_of written =
  match int_of_string_opt written with Some k -> k | None -> rejected ("not an index: " ^ quoted written)

type start = { weights : Text.poly Whole.t; mass : Text.poly }

type model = {
  statement : Claims.t;  (* about the domain; its polynomial says nothing *)
  states : int;
  tables : Text.poly Whole.t Whole.t array;  (* by observation, state and successor *)
  pairs : (string * string * start * start) list;
  ratio : Text.poly * Text.poly;
}

let is_constant poly = Text.Monomials.for_all (fun x _ -> List.for_all (fun e -> e = 0) x) poly
let number_of poly = Text.Monomials.fold (fun _ c _ -> c) poly Q.zero

let weight names written =
  let poly = Text.polynomial (string_of written) names in
  if is_constant poly && Q.sign (number_of poly) < 0 then rejected ("a negative weight: " ^ quoted (string_of written));
  poly

let plus left right = Text.Monomials.fold (fun x c found -> Text.add x c found) left right

let start_of names states entry =
  let one found (s, written) = Whole.add (index_of s) (weight names written) found in
  let weights = List.fold_left one Whole.empty (fields (field "weights" entry)) in
  if Whole.exists (fun s _ -> s >= states) weights then rejected "a prior with an unknown state";
  let mass = weight names (field "mass" entry) in
  if Text.Monomials.is_empty mass then rejected "a secret that is impossible for every prior";
  { weights; mass }

let read domain data =
  let statement = Claims.read domain "0" in
  Certify.check_enclosure statement;
  let names = statement.names in
  let states = int_of (field "states" data) in
  if states < 1 || states > max_states then rejected "the number of states is out of range";
  let count = List.length (items_of (field "observations" data)) in
  let tables = Array.make count Whole.empty in
  let step row =
    match items_of row with
    | [ Int s; Int o; Int t; written ] ->
        let inside k n = 0 <= k && k < n in
        if not (inside s states && inside o count && inside t states) then
          rejected "a step with an unknown state or observation";
        let row = Option.value (Whole.find_opt s tables.(o)) ~default:Whole.empty in
        let before = Option.value (Whole.find_opt t row) ~default:Text.Monomials.empty in
        tables.(o) <- Whole.add s (Whole.add t (plus (weight names written) before) row) tables.(o)
    | _ -> invalid_arg "step"
  in
  List.iter step (items_of (field "steps" data));
  let pair row =
    match items_of row with
    | [ String left; String right; pi; tau ] -> (left, right, start_of names states pi, start_of names states tau)
    | _ -> invalid_arg "pair"
  in
  let written = items_of (field "pairs" data) in
  if written = [] then misformed ~path:[ Key "model"; Key "pairs" ] "nothing is compared";
  let known = Hashtbl.create 16 in
  let twice k row =
    match items_of row with
    | left :: right :: _ ->
        let both = (min left right, max left right) in
        if left = right || Hashtbl.mem known both then misformed ~path:[ Key "model"; Key "pairs"; Place k ] "twice the same";
        Hashtbl.add known both ()
    | _ -> ()
  in
  List.iteri twice written;
  let pairs = List.map pair (items_of (field "pairs" data)) in
  let ratio =
    match items_of (field "ratio" data) with
    | [ top; bottom ] ->
        let top = weight names top in
        (top, weight names bottom)
    | _ -> invalid_arg "ratio"
  in
  if Text.Monomials.is_empty (snd ratio) then rejected "the denominator of the bound is zero";
  if states * states > max_entries / max count 1 then unknown "a model with so many states is not known to the proved checker";
  { statement; states; tables; pairs; ratio }

let denominators polys =
  List.fold_left (fun scale poly -> Text.Monomials.fold (fun _ c scale -> Z.lcm scale (Q.den c)) poly scale) Z.one polys

(* A polynomial times a number that makes its coefficients whole. *)
let times scale poly : C.poly =
  let whole c = Z.mul (Q.num c) (Z.divexact scale (Q.den c)) in
  Certify.chain (Text.Monomials.bindings (Text.Monomials.map whole poly))

let dense states scale row =
  let at k = match Whole.find_opt k row with Some poly -> times scale poly | None -> C.Pc Z.zero in
  List.init states at

let polys_of row = List.map snd (Whole.bindings row)

let prior_of states start : C.prior =
  let scale = denominators (start.mass :: polys_of start.weights) in
  { C.first = dense states scale start.weights; mass = times scale start.mass }

(* The matrices, all multiplied by one positive number. *)
let scale_of model =
  Array.fold_left
    (fun scale table -> Whole.fold (fun _ row scale -> Z.lcm scale (denominators (polys_of row))) table scale)
    Z.one model.tables

(* The same model as data of the proved checker. *)
let model_of model : C.model =
  let n = model.states and scale = scale_of model in
  let row table s = dense n scale (Option.value (Whole.find_opt s table) ~default:Whole.empty) in
  let top, bottom = model.ratio in
  let common = denominators [ top; bottom ] in
  {
    C.size = n;
    steps = Array.to_list (Array.map (fun table -> List.init n (row table)) model.tables);
    scale;
    secrets = List.map (fun (_, _, pi, tau) -> (prior_of n pi, prior_of n tau)) model.pairs;
    above = times common top;
    under = times common bottom;
    domain = Certify.goal_of model.statement;
  }
