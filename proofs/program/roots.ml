(* Witnesses at irrational points: coordinates are polynomials in t, the only root of a polynomial in an interval. That a
   claim fails there is proved; the steps around it are those of paramverify/kernel/witness_numbers.py. *)

open Faults
open Json
module C = Checker

let max_degree = 200
let max_halvings = 1_000

type place = { minimal : Text.poly; low : Q.t; high : Q.t; coordinates : (string * Text.poly) list }

let coefficient k (poly : Text.poly) = Option.value (Text.Monomials.find_opt [ k ] poly) ~default:Q.zero
let degree poly = Text.degree 0 poly
let value poly at = Text.value poly [ at ]
let plus p q = Values.difference p (Values.difference Text.Monomials.empty q)

(* The coefficients in the basis of Bernstein on an interval. *)
let entries poly low high =
  let n = degree poly and width = Q.sub high low in
  let rec moved k found =
    if k < 0 then found
    else
      let line = Text.add [ 1 ] width (Values.constant low) in
      moved (k - 1) (plus (Values.product found line) (Values.constant (coefficient k poly)))
  in
  let shifted = moved n Text.Monomials.empty in
  let share j i = Q.make (Z.bin (Z.of_int j) i) (Z.bin (Z.of_int n) i) in
  let entry j =
    List.fold_left (fun sum i -> Q.add sum (Q.mul (share j i) (coefficient i shifted))) Q.zero (List.init (j + 1) Fun.id)
  in
  List.init (n + 1) entry

let isolates poly low high =
  let rec changes = function
    | a :: (b :: _ as rest) -> (if a <> b then 1 else 0) + changes rest
    | _ -> 0
  in
  let signs () = List.filter (fun sign -> sign <> 0) (List.map Q.sign (entries poly low high)) in
  Q.lt low high && degree poly >= 1
  && Q.sign (value poly low) <> 0
  && Q.sign (value poly high) <> 0
  && changes (signs ()) = 1

let rec reduced minimal poly =
  let d = degree minimal and top = degree poly in
  if top < d then poly
  else
    let factor = Q.div (coefficient top poly) (coefficient d minimal) in
    let shifted = Text.Monomials.fold (fun x c found -> Text.add [ List.hd x + top - d ] (Q.mul factor c) found) minimal in
    reduced minimal (Values.difference poly (shifted Text.Monomials.empty))

(* The value of a polynomial in one variable at a coordinate, reduced. *)
let composed place poly at =
  let rec from k found =
    if k < 0 then found
    else
      let next = plus (Values.product found at) (Values.constant (coefficient k poly)) in
      from (k - 1) (reduced place.minimal next)
  in
  from (degree poly) Text.Monomials.empty

let sign place found =
  let below = Q.sign (value place.minimal place.low) > 0 in
  let rec halve low high times =
    if times = 0 then rejected "the sign of a value at an algebraic point is not shown";
    let signs = List.map Q.sign (entries found low high) in
    if List.for_all (fun s -> s > 0) signs then 1
    else if List.for_all (fun s -> s < 0) signs then -1
    else
      let middle = Q.div_2exp (Q.add low high) 1 in
      let at = Q.sign (value place.minimal middle) in
      if at = 0 then Q.sign (value found middle)
      else if at > 0 = below then halve middle high (times - 1)
      else halve low middle (times - 1)
  in
  if Text.Monomials.is_empty found then 0 else halve place.low place.high max_halvings

let ends_of written = match List.map Text.(fun v -> number (string_of v)) (items_of written) with
  | [ low; high ] -> (low, high)
  | _ -> invalid_arg "interval"

let read data =
  let in_t written = Text.polynomial (string_of written) [ "t" ] in
  let minimal = in_t (field "minimal" data) and low, high = ends_of (field "interval" data) in
  if degree minimal > max_degree || not (isolates minimal low high) then
    rejected "the minimal polynomial is not shown to have exactly one root in the interval";
  let coordinate (name, written) = (name, reduced minimal (in_t written)) in
  { minimal; low; high; coordinates = List.map coordinate (fields (field "coordinates" data)) }

let away place at number = sign place (Values.difference at (Values.constant number))

let check_told place told =
  let names list = List.sort compare (List.map fst list) in
  if names told <> names place.coordinates then
    misformed ~path:[ Key "witness"; Key "parameters" ] "not the coordinates of the point";
  let right at = function
    | String s -> Text.Monomials.is_empty (Values.difference at (Values.constant (Text.number s)))
    | data ->
        let number name = Text.number (string_of (field name data)) in
        let low = number "lower" and high = number "upper" in
        let root = Text.polynomial (string_of (field "root_of" data)) [ "x" ] in
        isolates root low high
        && Text.Monomials.is_empty (composed place root at)
        && away place at low > 0 && away place at high < 0
  in
  let check (name, data) =
    if not (right (List.assoc name place.coordinates) data) then
      misformed ~path:[ Key "witness"; Key "parameters"; Key name ] "not the coordinate of the point"
  in
  List.iter check told

(* Raises Rejected where a claim is not shown to fail at the point of a witness. *)
let refute (claim : Claims.t) witness =
  let place = read (field "algebraic" witness) in
  if claim.exponent <> None || claim.ties <> [] then rejected "an algebraic point for a claim with exp or a logarithm";
  if List.sort compare (List.map fst place.coordinates) <> List.sort compare claim.names then
    rejected "a point must give each parameter, and nothing else";
  let coordinate name = Certify.polynomial (List.assoc name place.coordinates) in
  let low = Certify.rational place.low and high = Certify.rational place.high in
  let point = List.map coordinate claim.names in
  if not (C.refutes_at_root (Certify.goal_of claim) (Certify.polynomial place.minimal) low high point) then
    rejected "the claim does not fail at the witness";
  check_told place (fields (field "parameters" witness))

(* --- the numbers of a witness ------------------------------------------------------------------------ *)

let comparison = [ "relation"; "left"; "right"; "difference"; "fails" ]
let output = [ "probabilities"; "ratio"; "bound"; "exceeds" ]

let other =
  [ "kind"; "claim"; "parameters"; "algebraic"; "number"; "statement"; "secrets"; "observations"; "distance" ]

(* A number: a rational, or a polynomial in t between two rationals; reduced. *)
let read_number place path = function
  | String s -> Values.constant (Text.number s)
  | data ->
      let number name = Text.number (string_of (field name data)) in
      let value = reduced place.minimal (Text.polynomial (string_of (field "exact" data)) [ "t" ]) in
      if away place value (number "lower") < 0 || away place value (number "upper") > 0 then
        misformed ~path:(Key "witness" :: path) "not between its bounds";
      value

let check_output place witness number =
  let product p q = reduced place.minimal (Values.product p q) in
  let read k chance =
    let value = read_number place [ Key "probabilities"; Place k ] chance in
    if sign place value < 0 || away place value Q.one > 0 then Told.at "probabilities" "not between 0 and 1";
    value
  in
  match List.mapi read (items_of (field "probabilities" witness)) with
  | [ left; right ] ->
      let is_zero = Text.Monomials.is_empty in
      let bound = number "bound" in
      if sign place bound <= 0 then Told.at "bound" "not positive";
      let quotient =
        match field "ratio" witness with
        | String "infinity" -> is_zero right && not (is_zero left)
        | String "undefined" -> false
        | _ -> (not (is_zero right)) && is_zero (Values.difference (product (number "ratio") right) left)
      in
      if not quotient then Told.at "ratio" "not the quotient of the probabilities";
      if sign place (Values.difference left (product bound right)) <= 0 || field "exceeds" witness <> Bool true then
        misformed ~path:[ Key "witness" ] "the probabilities are within the bound"
  | _ -> invalid_arg "probabilities"

let check_comparison place witness number =
  let left = number "left" and right = number "right" and difference = number "difference" in
  if not (Text.Monomials.is_empty (Values.difference (Values.difference left right) difference)) then
    Told.at "difference" "not the left side minus the right side";
  if Told.is_true (string_of (field "relation" witness)) (sign place difference) || field "fails" witness <> Bool true then
    misformed ~path:[ Key "witness" ] "the comparison is true for these sides"

let check_numbers witness =
  let place = read (field "algebraic" witness) in
  let known = other @ comparison @ output in
  (match List.find_opt (fun (name, _) -> not (List.mem name known)) (fields witness) with
  | Some (name, _) -> Told.at name "not for an algebraic point"
  | None -> ());
  let compared = field_opt "relation" witness <> None in
  (match List.find_opt (fun name -> field_opt name witness = None) (if compared then comparison else output) with
  | Some name -> misformed ~path:[ Key "witness" ] ("the key " ^ quoted name ^ " is missing")
  | None -> ());
  let number name = read_number place [ Key name ] (field name witness) in
  if compared then check_comparison place witness number else check_output place witness number;
  Told.check_names witness
