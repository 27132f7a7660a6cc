(* Numbers of a witness as people read them: rationals, and formulas in E = exp(q), or in ln(b), between two. They are
   compared with each other only: that a claim fails is proved. The steps are those of paramverify/kernel/witness_numbers.py. *)

open Faults
open Json

let largest_power = 10_000
let largest_exponent = Q.of_int 1_000
let terms_of_exp = [ 10; 30; 100; 300; 1000 ]
let bits_of_logs = [ 64; 256; 1024; 4096 ]

(* --- exp and logarithms between rationals ----------------------------------------------------------- *)

let rec power base exponent =
  if exponent = 0 then Q.one
  else
    let half = power base (exponent / 2) in
    let square = Q.mul half half in
    if exponent mod 2 = 1 then Q.mul square base else square

let known_exponents : (string, Q.t * Q.t) Hashtbl.t = Hashtbl.create 16

(* Bounds of exp(q) for q > 0 by so many terms; what is left is below a geometric series. *)
let exp_bounds q count =
  let key = Q.to_string q ^ " " ^ string_of_int count in
  match Hashtbl.find_opt known_exponents key with
  | Some bounds -> bounds
  | None ->
      let rec sum total term n =
        if n < count || Q.geq q (Q.of_int (n + 1)) then
          sum (Q.add total term) (Q.div (Q.mul term q) (Q.of_int (n + 1))) (n + 1)
        else (total, Q.add total (Q.div term (Q.sub Q.one (Q.div q (Q.of_int (n + 1))))))
      in
      let bounds = sum Q.zero Q.one 0 in
      Hashtbl.add known_exponents key bounds;
      bounds

let rounded_down top bottom = Z.fdiv top bottom
let rounded_up top bottom = Z.cdiv top bottom

(* Bounds of the sum of z^(2i+1)/(2i+1) for z between 0 and 1/3. *)
let artanh z bits =
  let one = Z.shift_left Z.one bits in
  let square = Q.mul z z in
  let rec sum low high below above i =
    if Z.gt above Z.one && i < bits then
      let odd = Z.of_int ((2 * i) + 1) in
      let below' = rounded_down (Z.mul below (Q.num square)) (Q.den square) in
      let above' = rounded_up (Z.mul above (Q.num square)) (Q.den square) in
      sum (Z.add low (rounded_down below odd)) (Z.add high (rounded_up above odd)) below' above' (i + 1)
    else (Q.make low one, Q.make (Z.add high (Z.shift_left above 1)) one)
  in
  let start = Z.mul (Q.num z) one in
  sum Z.zero Z.zero (rounded_down start (Q.den z)) (rounded_up start (Q.den z)) 0

let log_bounds value bits =
  let two_to k = if k >= 0 then Q.of_bigint (Z.shift_left Z.one k) else Q.inv (Q.of_bigint (Z.shift_left Z.one (-k))) in
  let k = Z.numbits (Q.num value) - Z.numbits (Q.den value) in
  let k = if Q.lt value (two_to k) then k - 1 else k in
  let u = Q.div value (two_to k) in
  let first = artanh (Q.of_ints 1 3) bits and second = artanh (Q.div (Q.sub u Q.one) (Q.add u Q.one)) bits in
  let bound side = Q.mul (Q.of_int 2) (Q.add (Q.mul (Q.of_int k) (side first)) (side second)) in
  (bound fst, bound snd)

(* The sign of a polynomial in one number, which each of some enclosures contains. *)
let sign_between poly enclosures =
  let ends (low, high) =
    Text.Monomials.fold
      (fun x c (least, most) ->
        let below = Q.mul c (power low (List.hd x)) and above = Q.mul c (power high (List.hd x)) in
        (Q.add least (Q.min below above), Q.add most (Q.max below above)))
      poly (Q.zero, Q.zero)
  in
  let rec refine = function
    | [] -> rejected "the sign of a number is not decided"
    | enclosure :: rest -> (
        match ends (enclosure ()) with
        | least, _ when Q.sign least > 0 -> 1
        | _, most when Q.sign most < 0 -> -1
        | _ -> refine rest)
  in
  refine enclosures

let in_range q = Q.sign q > 0 && Q.leq q largest_exponent

let sign_in_exp (poly : Text.poly) exponent =
  if Text.degree 0 poly = 0 then Q.sign (Option.value (Text.Monomials.find_opt [ 0 ] poly) ~default:Q.zero)
  else
    match exponent with
    | Some q when Q.equal q Q.zero -> Q.sign (Text.Monomials.fold (fun _ c total -> Q.add c total) poly Q.zero)
    | Some q when in_range q -> sign_between poly (List.map (fun count () -> exp_bounds q count) terms_of_exp)
    | _ -> rejected "the exponent of the constant is out of range"

let sign_in_log (poly : Text.poly) base =
  if Text.degree 0 poly = 0 then Q.sign (Option.value (Text.Monomials.find_opt [ 0 ] poly) ~default:Q.zero)
  else sign_between poly (List.map (fun bits () -> log_bounds base bits) bits_of_logs)

(* --- quotients -------------------------------------------------------------------------------------- *)

(* A quotient of polynomials in exp(exponent), or in ln(base); the lower one is positive. *)
type t = { top : Text.poly; bottom : Text.poly; exponent : Q.t option; base : Q.t option }

let constant c = Text.add [ 0 ] c Text.Monomials.empty
let rational ?exponent value = { top = constant value; bottom = constant Q.one; exponent; base = None }

let product (p : Text.poly) (q : Text.poly) : Text.poly =
  let times x c y d found = Text.add [ List.hd x + List.hd y ] (Q.mul c d) found in
  Text.Monomials.fold (fun x c found -> Text.Monomials.fold (times x c) q found) p Text.Monomials.empty

let difference (p : Text.poly) (q : Text.poly) : Text.poly =
  Text.Monomials.fold (fun x c found -> Text.add x (Q.neg c) found) q p

(* The base of both, or None for exp: two numbers are in one constant, or one of them is a number without it. *)
let common a b =
  let used v = if Text.degree 0 v.top > 0 || Text.degree 0 v.bottom > 0 then Some v.base else None in
  match (used a, used b) with
  | Some p, Some q when not (Option.equal Q.equal p q) -> rejected "numbers in two constants"
  | Some base, _ | None, Some base -> base
  | None, None -> None

let minus a b =
  let top = difference (product a.top b.bottom) (product b.top a.bottom) in
  { top; bottom = product a.bottom b.bottom; exponent = a.exponent; base = common a b }

let by a b =
  let top = product a.top b.top and bottom = product a.bottom b.bottom in
  { top; bottom; exponent = a.exponent; base = common a b }

let is_zero a = Text.Monomials.is_empty a.top
let sign a = match a.base with Some base -> sign_in_log a.top base | None -> sign_in_exp a.top a.exponent

let rec to_power a exponent = if exponent = 0 then rational Q.one else by (to_power a (exponent - 1)) a

(* --- reading ---------------------------------------------------------------------------------------- *)

(* The place of a part of a text, from some place on. *)
let find part text start =
  let size = String.length part in
  let rec from k =
    if k + size > String.length text then None else if String.sub text k size = part then Some k else from (k + 1)
  in
  from start

let behind text k = String.sub text k (String.length text - k)

(* The text before and behind the first place of a part. *)
let cut part text =
  Option.map (fun k -> (String.sub text 0 k, behind text (k + String.length part))) (find part text 0)

let inside_of prefix suffix text =
  let outer = String.length prefix + String.length suffix in
  if String.length text >= outer && String.starts_with ~prefix text && String.ends_with ~suffix text then
    Some (String.sub text (String.length prefix) (String.length text - outer))
  else None

(* Rationals such as (-1/2) without the brackets, as the first coefficient of a sum may be written. *)
let rec without_brackets text =
  match String.index_opt text '(' with
  | None -> text
  | Some k -> (
      let head = String.sub text 0 (k + 1) in
      match String.index_from_opt text k ')' with
      | Some e when Shapes.is_rational (String.sub text (k + 1) (e - k - 1)) ->
          String.sub text 0 k ^ String.sub text (k + 1) (e - k - 1) ^ without_brackets (behind text (e + 1))
      | _ -> head ^ without_brackets (behind text (k + 1)))

let quotient body exponent base =
  let part written = Text.polynomial (without_brackets written) [ "E" ] in
  let shorter text first last =
    let size = String.length text in
    if size <= first + last then "" else String.sub text first (size - first - last)
  in
  let above, below =
    match cut ")/(" body with Some (head, rest) -> (shorter head 1 0, shorter rest 0 1) | None -> (body, "1")
  in
  let found = { top = part above; bottom = part below; exponent; base } in
  if sign { found with top = found.bottom } <= 0 then rejected "the denominator is not positive";
  found

(* The arguments of the logarithms of a text. *)
let logarithms text =
  let rec from k found =
    match find "ln(" text k with
    | None -> found
    | Some at -> (
        match String.index_from_opt text at ')' with
        | Some e when e > at + 3 && Shapes.is_unsigned (String.sub text (at + 3) (e - at - 3)) ->
            from (e + 1) (String.sub text (at + 3) (e - at - 3) :: found)
        | _ -> from (at + 1) found)
  in
  List.sort_uniq compare (from 0 [])

let rec replaced part by_ text =
  match cut part text with None -> text | Some (head, rest) -> head ^ by_ ^ replaced part by_ rest

let exponential text exponent =
  let factor, rest =
    match cut "*" text with Some (head, rest) when Shapes.is_rational head -> (Some head, rest) | _ -> (None, text)
  in
  match inside_of "exp(" ")" rest with
  | Some q when Shapes.is_rational q ->
      let power = Q.div (Text.number q) exponent in
      if (not (Z.equal (Q.den power) Z.one)) || Z.gt (Z.abs (Q.num power)) (Z.of_int largest_power) then
        rejected "an exponent that is no multiple of the constant's";
      let factor = constant (Text.number (Option.value factor ~default:"1")) and power = Z.to_int (Q.num power) in
      let high = Text.add [ abs power ] Q.one Text.Monomials.empty in
      let top, bottom = if power > 0 then (high, constant Q.one) else (constant Q.one, high) in
      Some { top = product factor top; bottom; exponent = Some exponent; base = None }
  | _ -> None

let formula text exponent =
  match (logarithms text, exponent) with
  | _ :: _ :: _, _ -> rejected "a formula with two logarithms"
  | [ argument ], _ ->
      let base = Text.number argument in
      if Q.leq base Q.one then rejected "a logarithm of a number that is not above 1";
      quotient (replaced ("ln(" ^ argument ^ ")") "E" text) None (Some base)
  | [], None -> rejected "a formula with exp, but the claim has no constant"
  | [], Some q -> (
      if Q.sign q = 0 then rejected "a constant that is exp(0)";
      match exponential text q with
      | Some value -> value
      | None -> (
          match cut " with E = exp(" text with
          | Some (body, tail) -> (
              match inside_of "" ")" tail with
              | Some told when Q.equal (Text.number told) q -> quotient body exponent None
              | _ -> rejected "not a formula in the constant of the claim")
          | None -> rejected "not a formula in the constant of the claim"))

(* Reads a number of a witness; of one with a formula, the rationals must be on both sides of it. *)
let read data exponent path =
  match data with
  | String s -> rational ?exponent (Text.number s)
  | data -> (
      let bound name = rational (Text.number (string_of (field name data))) in
      try
        let value = formula (string_of (field "exact" data)) exponent in
        if sign (minus value (bound "lower")) < 0 || sign (minus value (bound "upper")) > 0 then
          rejected "not between its bounds";
        value
      with Rejected reason -> misformed ~path:(Key "witness" :: path) reason)
