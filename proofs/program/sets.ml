(* Claims about sets of outputs: the sum of max(0, t) over some terms is at most the room, by a tree in preorder.
   The steps are those of paramverify/kernel/set_evidence.py; the functions that accept are extracted from Coq. *)

open Faults
open Json
module C = Checker

(* The claim whose polynomial is the room, and the terms. *)
let read claim =
  let statement = Claims.read (field "domain" claim) (string_of (field "room" claim)) in
  let term written = Text.polynomial (string_of written) statement.Claims.names in
  (statement, List.map term (items_of (field "terms" claim)))

(* The numbers of the terms whose sign is not shown yet, and where the variables are. *)
type part = { still_open : int list; box : (string * (Q.t * Q.t)) list }

let settled part k =
  if not (List.mem k part.still_open) then rejected (Printf.sprintf "term %d is not open" k);
  { part with still_open = List.filter (fun j -> j <> k) part.still_open }

let halves part name at =
  match List.assoc_opt name part.box with
  | Some (low, high) when Q.lt low at && Q.lt at high ->
      let within ends = { part with box = (name, ends) :: List.remove_assoc name part.box } in
      (within (low, at), within (at, high))
  | Some _ -> rejected ("the cut of " ^ plain name ^ " is not inside")
  | None -> rejected ("no interval of " ^ quoted name)

(* In a map the leaves name its claims, by numbers; elsewhere they have proofs. *)
let tree ?(in_map = false) (statement : Claims.t) count tokens : C.set_tree =
  let scope = { Certify.about = statement; known = Certify.no_lemmas } in
  let proof value = Certify.certificate scope 0 value in
  let rec step part = function
    | [] -> rejected "a leaf of the tree is missing"
    | (Object _ | List [ String "claim"; _ ]) :: _ when part.still_open <> [] ->
        rejected "the sign of a term is not shown at a leaf"
    | (Object _ as found) :: rest when not in_map -> (C.Leaf (proof found), rest)
    | List [ String "claim"; Int k ] :: rest when in_map -> (C.Leaf (C.CLemma k), rest)
    | List [ String "+"; Int k; shown ] :: rest ->
        let below, rest = step (settled part k) rest in
        (C.Counts (k, proof shown, below), rest)
    | List [ String "-"; Int k; shown ] :: rest ->
        let below, rest = step (settled part k) rest in
        (C.Nothing (k, proof shown, below), rest)
    | List [ String "<"; Int k; most; positive; above ] :: rest when not in_map ->
        let below, rest = step (settled part k) rest in
        (C.Bounded (k, Certify.parsed scope most, proof positive, proof above, below), rest)
    | List [ String "cut"; String name; at ] :: rest ->
        let axis = Certify.axis statement name and low, high = halves part name (Text.number (string_of at)) in
        let low, rest = step low rest in
        let high, rest = step high rest in
        (C.CutAt (axis, Certify.number at, low, high), rest)
    | List [ String "sign"; by ] :: rest ->
        let up, rest = step part rest in
        let down, rest = step part rest in
        (C.CutBy (Certify.parsed scope by, up, down), rest)
    | List [ String "free" ] :: rest ->
        let below, rest = step part rest in
        (C.Free below, rest)
    | token :: _ -> rejected ("unknown entry of a tree: " ^ kind token)
  in
  let ends (name, { Text.low; high; _ }) = (name, (low, high)) in
  match step { still_open = List.init count Fun.id; box = List.map ends statement.box } tokens with
  | found, [] -> found
  | _ -> rejected "the tree has too many leaves"

(* Raises Rejected where the claims of a map are not shown to be those of sums: at a point all hold iff all sums of
   max(0, t) are at most their rooms. *)
let cover claims (parts : Statements.t list) =
  let sum data =
    let statement, terms = read (Statements.replaced "domain" Statements.of_choices data) in
    let tree = tree ~in_map:true statement (List.length terms) (items_of (field "tree" data)) in
    (Certify.goal_of statement, (Certify.polynomial statement.poly, List.map Certify.polynomial terms, tree))
  in
  let found = List.map (fun (part : Statements.t) -> Statements.within part sum part.data) parts in
  let goal = fst (List.hd found) in
  if not (C.check_covers [] claims goal (List.map (fun ((_, (room, terms, tree)) : C.goal * _) -> ((room, terms), tree)) found)) then
    rejected "the trees do not show that the claims of the map are those of the sums"

(* Raises Rejected where a tree does not show a claim, and Unknown where that is not known. *)
let prove claim =
  let statement, terms = read claim in
  Certify.check_enclosure statement;
  let found = tree statement (List.length terms) (items_of (field "tree" claim)) in
  if not (C.check_excess [] (Certify.goal_of statement) (List.map Certify.polynomial terms) found) then
    rejected "the tree does not show the claim"

(* The value of a polynomial at a point: a polynomial in E, where that stands for a number. *)
let at_point (statement : Claims.t) values poly =
  let term x c found =
    let factor (c, power) name exponent =
      if name = "E" && statement.exponent <> None then (c, exponent)
      else (Q.mul c (Values.power (List.assoc name values) exponent), power)
    in
    let c, power = List.fold_left2 factor (c, 0) statement.names x in
    Text.add [ power ] c found
  in
  Text.Monomials.fold term poly Text.Monomials.empty

(* Raises Rejected where the sum is not shown to be larger than the room at a point of the domain. *)
let refute claim point =
  let statement, terms = read claim in
  let values = Claims.point_of statement point in
  Certify.check_enclosure statement;
  let chosen term = Values.sign_in_exp (at_point statement values term) statement.exponent > 0 in
  let chosen = List.map chosen terms and terms = List.map Certify.polynomial terms in
  let fails goal numbers =
    if goal.C.gfacts = [] then C.refutes_sum goal terms chosen numbers
    else C.refutes_sum_with_exp goal terms chosen numbers
  in
  Certify.fails_at statement values fails "the claim does not fail at the witness"
