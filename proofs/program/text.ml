(* Numbers and polynomials as evidence writes them. This reading is trusted: nothing proves that a text means this. *)

open Faults

let max_exponent = 10_000
let max_digits = 200_000

(* A polynomial: exponents, one for each variable, to coefficients that are not zero. *)
module Monomials = Map.Make (struct
  type t = int list

  let compare = compare
end)

type poly = Q.t Monomials.t

let integer digits =
  if digits = "" || String.length digits > max_digits || not (Shapes.all_from 0 Json.is_digit digits) then
    rejected ("not a whole number: " ^ quoted digits);
  Z.of_string digits

let without_minus s =
  if s <> "" && s.[0] = '-' then (true, String.sub s 1 (String.length s - 1)) else (false, s)

(* The parts of a text before and behind the first place of a character. *)
let divided separator s =
  match String.index_opt s separator with
  | None -> (s, None)
  | Some k -> (String.sub s 0 k, Some (String.sub s (k + 1) (String.length s - k - 1)))

(* Reads an exact rational such as -3/2. *)
let number s =
  let negative, body = without_minus s in
  let top, bottom = divided '/' body in
  let denominator = match bottom with None -> Z.one | Some digits -> integer digits in
  if Z.equal denominator Z.zero then rejected "a denominator is zero";
  let value = Q.make (integer top) denominator in
  if negative then Q.neg value else value

let add exponents coefficient poly =
  let total = Q.add coefficient (Option.value (Monomials.find_opt exponents poly) ~default:Q.zero) in
  if Q.equal total Q.zero then Monomials.remove exponents poly else Monomials.add exponents total poly

(* The terms of a sum with their signs: between two of them stands " + " or " - ". *)
let terms s =
  let first_negative, body = without_minus s in
  let size = String.length body in
  let rec split negative start i found =
    if i + 2 >= size then List.rev ((negative, String.sub body start (size - start)) :: found)
    else if body.[i] = ' ' && (body.[i + 1] = '+' || body.[i + 1] = '-') && body.[i + 2] = ' ' then
      split (body.[i + 1] = '-') (i + 3) (i + 3) ((negative, String.sub body start (i - start)) :: found)
    else split negative start (i + 1) found
  in
  split first_negative 0 0 []

let position name names =
  let rec from k = function [] -> None | first :: rest -> if first = name then Some k else from (k + 1) rest in
  from 0 names

(* Reads a polynomial such as 3/2*p^2*q - p + 1. *)
let polynomial s names : poly =
  let width = List.length names in
  let term poly (negative, written) =
    let exponents = Array.make width 0 in
    let factor coefficient part =
      let name, power = divided '^' part in
      match position name names with
      | Some axis ->
          let power = match power with None -> Z.one | Some digits -> integer digits in
          let total = Z.add power (Z.of_int exponents.(axis)) in
          if Z.gt total (Z.of_int max_exponent) then
            rejected (Printf.sprintf "an exponent is larger than %d" max_exponent);
          exponents.(axis) <- Z.to_int total;
          coefficient
      | None ->
          if part <> "" && part.[0] = '-' then rejected ("not a polynomial: " ^ quoted s);
          Q.mul coefficient (number part)
    in
    let one = if negative then Q.minus_one else Q.one in
    let coefficient = List.fold_left factor one (String.split_on_char '*' written) in
    add (Array.to_list exponents) coefficient poly
  in
  List.fold_left term Monomials.empty (terms s)

(* Whole coefficients, and the positive number by which they are to be divided. *)
let whole (poly : poly) =
  let scale = Monomials.fold (fun _ c scale -> Z.lcm scale (Q.den c)) poly Z.one in
  (Monomials.map (fun c -> Z.mul (Q.num c) (Z.divexact scale (Q.den c))) poly, scale)

let degree axis (poly : 'a Monomials.t) = Monomials.fold (fun x _ most -> max most (List.nth x axis)) poly 0

(* The value at a point, one number for each variable. *)
let value (poly : poly) point =
  let rec power base exponent =
    if exponent = 0 then Q.one
    else
      let half = power base (exponent / 2) in
      let square = Q.mul half half in
      if exponent mod 2 = 1 then Q.mul square base else square
  in
  let term x c total = Q.add total (List.fold_left2 (fun c base e -> Q.mul c (power base e)) c point x) in
  Monomials.fold term poly Q.zero

let is_name s =
  let letter c = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') in
  s <> "" && letter s.[0] && Shapes.all_from 1 (fun c -> letter c || Json.is_digit c || c = '_') s

type interval = { low : Q.t; high : Q.t; open_low : bool; open_high : bool }

(* Reads an interval such as [0, 1/2). *)
let interval s =
  let fail () = rejected ("not an interval: " ^ quoted s) in
  let size = String.length s in
  if size < 6 then fail ();
  let open_low = match s.[0] with '(' -> true | '[' -> false | _ -> fail () in
  let open_high = match s.[size - 1] with ')' -> true | ']' -> false | _ -> fail () in
  match String.split_on_char ',' (String.sub s 1 (size - 2)) with
  | [ low; high ] when high <> "" && high.[0] = ' ' ->
      let low = number low and high = number (String.sub high 1 (String.length high - 1)) in
      let order = Q.compare low high in
      if order > 0 || (order = 0 && (open_low || open_high)) then rejected ("the interval " ^ plain s ^ " is empty");
      { low; high; open_low; open_high }
  | _ -> fail ()
