(* Whether the numbers that a witness tells of a violation agree with each other. Nothing rests on them: that the
   claim fails at the point is what is proved. *)

open Faults
open Json

let at name reason = misformed ~path:[ Key "witness"; Key name ] reason

(* A number of a witness; a formula in exp or in a logarithm is beyond this program. *)
let value = function
  | String s -> Text.number s
  | _ -> unknown "a number with exp or a logarithm is not known to the proved checker"

let is_true relation sign =
  match relation with
  | "<" -> sign < 0
  | "<=" -> sign <= 0
  | ">" -> sign > 0
  | ">=" -> sign >= 0
  | _ -> sign = 0

(* Either none of these keys is there, or all are; a formula may have probabilities alone. *)
let check_together witness names =
  let given = List.filter (fun name -> field_opt name witness <> None) names in
  if given <> [] && given <> names && given <> [ "probabilities" ] then
    let missing = List.find (fun name -> field_opt name witness = None) names in
    misformed ~path:[ Key "witness" ] ("the key " ^ quoted missing ^ " is missing")

let check_ratio witness left right =
  let zero = Q.sign right = 0 in
  (match field "ratio" witness with
  | String (("infinity" | "undefined") as word) ->
      if (not zero) || word <> if Q.sign left <> 0 then "infinity" else "undefined" then
        at "ratio" "not the quotient of the probabilities"
  | told ->
      if zero || not (Q.equal (Q.mul (value told) right) left) then at "ratio" "not the quotient of the probabilities");
  let bound = value (field "bound" witness) in
  if Q.sign bound <= 0 then at "bound" "not positive";
  let more = match field_opt "delta" witness with None -> Q.zero | Some delta -> value delta in
  if Q.sign more < 0 then at "delta" "negative";
  if Q.leq (Q.sub left more) (Q.mul bound right) || field_opt "exceeds" witness = Some (Bool false) then
    misformed ~path:[ Key "witness" ] "the probabilities are within the bound"

let check_comparison witness =
  let number name = value (field name witness) in
  let left = number "left" and right = number "right" and difference = number "difference" in
  if not (Q.equal (Q.sub left right) difference) then at "difference" "not the left side minus the right side";
  if is_true (string_of (field "relation" witness)) (Q.sign difference) || field "fails" witness <> Bool true then
    misformed ~path:[ Key "witness" ] "the comparison is true for these sides"

let check_names witness =
  let two = field_opt "ratio" witness <> None in
  (match field_opt "secrets" witness with
  | Some (List secrets) ->
      if List.length secrets <> (if two then 2 else 1) && field_opt "probabilities" witness <> None then
        at "secrets" "not as many names as probabilities";
      (match secrets with first :: second :: _ when two && first = second -> at "secrets" "twice the same" | _ -> ())
  | _ -> ());
  (match field_opt "index" witness with Some (Int k) when k < 0 -> at "index" "negative" | _ -> ());
  let actions = Option.map items_of (field_opt "actions" witness) in
  (match actions with
  | Some listed when listed = [] || not two -> at "actions" "actions are those of two runs, and at least one"
  | _ -> ());
  match field_opt "repeated" witness with
  | Some (Int k) when not (0 < k && k <= List.length (Option.value actions ~default:[])) ->
      at "repeated" "not from one to the number of actions"
  | _ -> ()

let check_numbers witness =
  (match field_opt "constant" (field "claim" witness) with
  | Some (String q) when Q.sign (Text.number q) <= 0 -> at "claim" "the constant is not positive"
  | _ -> ());
  List.iter (check_together witness)
    [ [ "probabilities"; "ratio"; "bound" ]; [ "relation"; "left"; "right"; "difference"; "fails" ] ];
  (match field_opt "probabilities" witness with
  | Some (List ([ left; right ] as both)) ->
      let check chance =
        let chance = value chance in
        if Q.sign chance < 0 || Q.gt chance Q.one then at "probabilities" "not between 0 and 1"
      in
      List.iter check both;
      if field_opt "ratio" witness <> None then check_ratio witness (value left) (value right)
  | _ -> ());
  if field_opt "relation" witness <> None then check_comparison witness;
  check_names witness
