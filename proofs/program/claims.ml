(* Claims of a document as data: names, intervals, the polynomial and the constraints. This reading is trusted. *)

open Faults
open Json

(* name = -ln(variable)/step *)
type tie = { name : string; variable : string; step : Q.t }

type t = {
  names : string list;
  box : (string * Text.interval) list;
  poly : Text.poly;
  constraints : (Text.poly * bool) list;  (* with true where it is strict *)
  exponent : Q.t option;  (* of E = exp(q) *)
  ties : tie list;
}

let rec different = function [] -> true | first :: rest -> (not (List.mem first rest)) && different rest

let constraint_of names row =
  match items_of row with
  | [ written; relation ] -> (Text.polynomial (string_of written) names, string_of relation = ">")
  | _ -> invalid_arg "constraint"

let tie_of names box (name, row) =
  let variable, step =
    match items_of row with
    | [ variable; step ] -> (string_of variable, Text.number (string_of step))
    | _ -> invalid_arg "tie"
  in
  (match List.assoc_opt variable box with
  | Some { Text.low; high; _ } when List.mem name names && (not (List.mem_assoc name box)) && Q.sign step > 0 ->
      if Q.sign low < 0 || Q.gt high Q.one then rejected (plain name ^ " is a logarithm of numbers beyond (0, 1]")
  | _ -> rejected (plain name ^ " and " ^ plain variable ^ " are not tied in a way that is known"));
  { name; variable; step }

(* Reads a domain of the right form, and a polynomial on it. Raises Rejected where they are none. *)
let read domain written =
  let names = List.map string_of (items_of (field "variables" domain)) in
  if not (different names && List.for_all Text.is_name names) then
    rejected "the variables of a claim are not different names";
  let range (name, written) =
    if not (List.mem name names) then rejected ("not an interval of a variable: " ^ plain name);
    (name, Text.interval (string_of written))
  in
  let box = List.map range (fields (field "box" domain)) in
  let constraints = List.map (constraint_of names) (items_of (field "constraints" domain)) in
  let exponent = Option.map (fun q -> Text.number (string_of q)) (field_opt "constant" domain) in
  let given = match field_opt "ties" domain with Some ties -> fields ties | None -> [] in
  let ties = List.map (tie_of names box) given in
  let tied = List.map (fun tie -> tie.name) ties in
  if not (different (List.map (fun tie -> tie.variable) ties)) || List.mem "E" tied then
    rejected "two variables are tied to one";
  let known name = List.mem_assoc name box || List.mem name tied || (name = "E" && exponent <> None) in
  if not (List.for_all known names) then rejected "a variable of a claim has no interval";
  (match (exponent, List.rev names) with
  | Some _, "E" :: _ | None, _ -> ()
  | Some _, _ -> rejected "the constant of a claim has no variable");
  let poly = Text.polynomial written names in
  { names; box; poly; constraints; exponent; ties }

(* The claim of a statement, whose domain stands in it. *)
let of_statement data = read (field "domain" data) (string_of (field "polynomial" data))

(* Raises Rejected where a point does not give each parameter, and nothing else, or is outside of the box.
   Returns the values in the order of the names. *)
let point_of claim point =
  let values = List.map (fun (name, number) -> (name, Text.number (string_of number))) (fields point) in
  let tied name = List.exists (fun tie -> tie.name = name) claim.ties in
  let free = List.filter (fun name -> not ((name = "E" && claim.exponent <> None) || tied name)) claim.names in
  let given = List.map fst values in
  if List.sort compare given <> List.sort compare free then
    rejected ("a point must give " ^ String.concat ", " free ^ ", and nothing else");
  values
