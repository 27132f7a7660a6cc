(* Region maps: cells tile the box of the free parameters, and each is what it says. The steps are those of
   paramverify/kernel/region_evidence.py; the function that looks at the cells is extracted from Coq. *)

open Faults
open Json
module C = Checker

let max_tokens = 100_000
let max_cells = 2_000_000
let max_coefficients = 2_000_000

type map = {
  about : Claims.t;  (* the domain *)
  goal : C.goal;
  free : string list;
  quantified : string list;
  factors : Text.poly array;
  claims : (C.qpoly * (C.q * (int * Z.t) list)) list;
}

let interval (about : Claims.t) name =
  match List.assoc_opt name about.box with
  | Some found -> found
  | None -> rejected ("no interval of " ^ quoted name)

(* Only variables with an interval occur, and the coefficients are not too many. *)
let check_form (about : Claims.t) poly =
  let size = ref 1 in
  let look k name =
    let most = Text.degree k poly in
    if most > 0 then begin
      ignore (interval about name);
      size := !size * (most + 1);
      if !size > max_coefficients then rejected "a polynomial has too many Bernstein coefficients"
    end
  in
  List.iteri look about.names

let read_product factors poly width entry =
  let multiple = Text.number (string_of (field "constant" entry)) in
  if Q.sign multiple = 0 then rejected "a product with the constant zero";
  let degrees = List.init width (fun k -> Text.degree k poly) in
  let most = 1 + List.fold_left ( + ) 0 degrees in
  let other () = rejected "the product of the factors is another polynomial" in
  let one count row =
    match items_of row with
    | [ Int index; Int power ] ->
        if index < 0 || index >= Array.length factors || power < 1 then rejected "not a factor and its multiplicity";
        let varies = Text.Monomials.exists (fun x _ -> List.exists (fun e -> e > 0) x) factors.(index) in
        if power > (if varies then most else 1) || count > most then other ();
        (index, Z.of_int power)
    | _ -> invalid_arg "product"
  in
  (Certify.rational multiple, List.mapi one (items_of (field "factors" entry)))

let read_map document =
  let about, goal = Certify.domain_of (field "domain" document) in
  let constant = about.exponent <> None in
  let parameters = List.filter (fun name -> not (constant && name = "E")) about.names in
  let free = List.map string_of (items_of (field "free" document)) in
  if free = [] || not (Claims.different free && List.for_all (fun name -> List.mem name parameters) free) then
    rejected "the free parameters are not parameters";
  let fixed name = let { Text.low; high; _ } = interval about name in Q.equal low high in
  if List.exists fixed free then rejected "a free parameter is fixed";
  let read value = Text.polynomial (string_of value) about.names in
  let factors = Array.of_list (List.map read (items_of (field "factors" document))) in
  let texts = items_of (field "claims" document) and products = items_of (field "products" document) in
  if List.length texts <> List.length products then rejected "not a product for each claim";
  let claim text entry =
    let poly = read text in
    (Certify.polynomial poly, read_product factors poly (List.length about.names) entry)
  in
  let claims = List.map2 claim texts products in
  Array.iter (check_form about) factors;
  List.iter (fun (poly, _) -> check_form about poly) about.constraints;
  { about; goal; free; quantified = List.filter (fun name -> not (List.mem name free)) parameters; factors; claims }

let axis map name = Certify.axis map.about name

let read_folds map document =
  let folds = match field_opt "symmetric" document with Some folds -> items_of folds | None -> [] in
  let folds = List.map (fun names -> List.map string_of (items_of names)) folds in
  let every = List.concat folds in
  let free name = List.mem name map.free in
  if not (Claims.different every && List.for_all free every && List.for_all (fun fold -> List.length fold > 1) folds)
  then rejected "not classes of different free parameters";
  let axes = List.map (List.map (axis map)) folds in
  if not (C.symmetric (List.map fst map.claims) map.goal axes) then rejected "parameters are not symmetric";
  (folds, axes)

(* --- cells --------------------------------------------------------------------------------------------- *)

type cell = { box : (Q.t * Q.t) array; entry : Json.t }

let read_cell map entry =
  let side row =
    match items_of row with
    | [ low; high ] -> (Text.number (string_of low), Text.number (string_of high))
    | _ -> invalid_arg "box"
  in
  let box = Array.of_list (List.map side (items_of (field "box" entry))) in
  if Array.length box <> List.length map.free || Array.exists (fun (low, high) -> Q.geq low high) box then
    rejected "a cell is not a box over the free parameters";
  { box; entry }

let middle (low, high) = Q.div (Q.add low high) (Q.of_int 2)

(* An axis, a place on it that no cell straddles, and the cells on both sides. The middle is tried first. *)
let separated box cells =
  let at_middle axis =
    let place = middle box.(axis) in
    let below, rest = List.partition (fun cell -> Q.leq (snd cell.box.(axis)) place) cells in
    if below <> [] && rest <> [] && List.for_all (fun cell -> Q.leq place (fst cell.box.(axis))) rest then
      Some (axis, place, below, rest)
    else None
  in
  let anywhere axis =
    let low, high = box.(axis) in
    let order a b =
      let first = Q.compare (fst a.box.(axis)) (fst b.box.(axis)) in
      if first <> 0 then first else Q.compare (snd a.box.(axis)) (snd b.box.(axis))
    in
    let rec search reached before = function
      | [] -> None
      | cell :: rest as here ->
          let place = fst cell.box.(axis) in
          if before <> [] && Q.leq reached place && Q.lt place high then Some (axis, place, List.rev before, here)
          else search (Q.max reached (snd cell.box.(axis))) (cell :: before) rest
    in
    search low [] (List.stable_sort order cells)
  in
  let axes = List.init (Array.length box) Fun.id in
  match List.find_map at_middle axes with
  | Some found -> found
  | None -> (
      match List.find_map anywhere axes with
      | Some found -> found
      | None -> rejected "the cells do not tile the box")

(* Cuts of the quantified parameters at the middles of their intervals, in preorder. *)
let cuts map tokens : unit C.cuts =
  let count = List.length tokens in
  if count = 0 || count > max_tokens then rejected "not a list of cuts";
  let rec one box = function
    | [] -> rejected "fewer cuts than parts"
    | "+" :: rest -> (C.Part (), rest)
    | name :: rest ->
        if not (List.mem name map.quantified) then rejected ("not a quantified parameter: " ^ quoted name);
        let low, high = List.assoc name box in
        let place = middle (low, high) in
        let within ends = (name, ends) :: List.remove_assoc name box in
        let below, rest = one (within (low, place)) rest in
        let above, rest = one (within (place, high)) rest in
        (C.Cut (axis map name, Certify.rational place, below, above), rest)
  in
  let whole name = let { Text.low; high; _ } = interval map.about name in (name, (low, high)) in
  match one (List.map whole map.quantified) (List.map string_of tokens) with
  | found, [] -> found
  | _ -> rejected "more cuts than parts"

let safe map entry : C.part =
  let given = match field_opt "cuts" entry with Some Null -> rejected "it is not shown that a cell is safe" | Some cuts -> fields cuts | None -> [] in
  let proofs = match field_opt "proofs" entry with Some proofs -> fields proofs | None -> [] in
  let one index _ : C.shown =
    let name = string_of_int index in
    match List.assoc_opt name proofs with
    | Some proof -> C.ByProof (Certify.certificate { about = map.about; known = Certify.no_lemmas } 0 proof)
    | None ->
        let tokens = match List.assoc_opt name given with Some tokens -> items_of tokens | None -> [ String "+" ] in
        C.BySigns (cuts map tokens)
  in
  C.Safe (List.mapi one map.claims)

let outside map entry : C.part =
  match field_opt "cuts" entry with
  | None | Some Null -> rejected "it is not shown that a cell is outside of the domain"
  | Some given -> (
      match field_opt "outside" given with
      | Some tokens -> C.Outside (cuts map (items_of tokens))
      | None -> rejected "it is not shown that a cell is outside of the domain")

let violating map entry : C.part =
  let index = int_of (field "claim" entry) in
  if index < 0 || index >= List.length map.claims then rejected "a violating cell without a claim";
  let given = List.map (fun (name, value) -> (name, Text.number (string_of value))) (fields (field "at" entry)) in
  if List.sort compare (List.map fst given) <> List.sort compare map.quantified then
    rejected "a violating cell without values of the quantified parameters";
  let value (name, at) =
    let { Text.low; high; open_low; open_high } = interval map.about name in
    let above = Q.lt low at || (Q.equal low at && not open_low) in
    if not (above && (Q.lt at high || (Q.equal at high && not open_high))) then
      rejected "a value of a quantified parameter is outside of its interval";
    (* A parameter with one value only is no choice. *)
    if Q.equal low high then None else Some (axis map name, Certify.rational at)
  in
  C.Violating (index, List.filter_map value given)

let part map entry : C.part =
  match field "status" entry with
  | String "safe" -> safe map entry
  | String "outside" -> outside map entry
  | String "violating" -> violating map entry
  | String "mirrored" -> C.Mirrored
  | _ -> C.Undecided

(* The cuts that make the cells, and the boxes of the cells in their order. *)
let tree map cells =
  let whole name = let { Text.low; high; _ } = interval map.about name in (low, high) in
  let order = ref [] in
  let rec build box cells : C.part C.cuts =
    match cells with
    | [ cell ] when Array.for_all2 (fun (a, b) (c, d) -> Q.equal a c && Q.equal b d) cell.box box ->
        order := cell :: !order;
        C.Part (part map cell.entry)
    | _ ->
        let k, place, below, above = separated box cells in
        let side ends = Array.mapi (fun j old -> if j = k then ends else old) box in
        let low = build (side (fst box.(k), place)) below in
        let high = build (side (place, snd box.(k))) above in
        C.Cut (axis map (List.nth map.free k), Certify.rational place, low, high)
  in
  let found = build (Array.of_list (List.map whole map.free)) cells in
  (found, List.rev !order)

let same_box map (goal : C.goal) cell =
  let number (q : C.q) = Q.make q.qnum q.qden in
  let same k name =
    match List.nth goal.gbox (axis map name) with
    | Some { C.lo; hi; _ } -> Q.equal (number lo) (fst cell.box.(k)) && Q.equal (number hi) (snd cell.box.(k))
    | None -> false
  in
  List.for_all Fun.id (List.mapi same map.free)

let names_of_cells =
  [
    ("safe", "where the claims are true");
    ("violating", "where one is false");
    ("outside", "outside of the domain");
    ("mirrored", "that mirror others");
    ("undecided", "undecided");
  ]

(* How many cells are what, and what is told. Raises Rejected where one is not what it says, or they do not tile, or its
   claims are not those of sums over all sets of outputs. *)
let check parts document =
  if field_opt "by_roots" document <> None then unknown "a factor with its roots is not known to the proved checker";
  let map = read_map document in
  let folds, axes = read_folds map document in
  let entries = items_of (field "cells" document) in
  let cells = List.map (read_cell map) entries in
  if List.compare_length_with cells max_cells > 0 then rejected "too many cells";
  let found, order = tree map cells in
  let constant = Option.map (fun _ -> axis map "E") map.about.exponent in
  let factors = List.map Certify.polynomial (Array.to_list map.factors) in
  (match C.check_region Certify.proves factors constant map.claims axes map.goal found with
  | Some parts when List.compare_lengths parts order = 0 && List.for_all2 (fun (g, _) cell -> same_box map g cell) parts order -> ()
  | _ -> rejected "a cell is not shown to be what it says, or a product is another polynomial");
  let count status = List.length (List.filter (fun entry -> field "status" entry = String status) entries) in
  let line (status, words) =
    if status = "mirrored" && folds = [] then None
    else Some (Printf.sprintf "%d %s %s" (count status) (if count status = 1 then "cell" else "cells") words)
  in
  let lines = List.filter_map line names_of_cells @ List.map (fun names -> "symmetric: " ^ String.concat ", " names) folds in
  let sums = List.length (List.concat_map (fun (part : Statements.t) -> items_of (field "origins" part.data)) parts) in
  let of_sums () =
    Sets.cover (List.map fst map.claims) parts;
    let sets = counted (List.length map.claims) "set" in
    [ Printf.sprintf "%s over all sets of outputs: everywhere one of %s is the worst" (counted sums "sum") sets ]
  in
  (count "safe" + count "violating", count "undecided", lines, if parts = [] then [] else of_sums ())
