(* Which polynomials are plainly never negative on a domain: the steps are those of paramverify/checker/signs.py.
   That no probability of a loss and no weight of a cone is negative is a premise of the theorems. Here it is looked at in
   plain OCaml, and this is trusted. Where it is not plain, a line of the report says so. *)

open Faults
open Json

let max_coefficients = 2_000_000
let terms_of_constant = 80
let largest_constant = Q.of_int 40
let small = 1_000  (* Bernstein coefficients of a polynomial that is looked at *)

(* --- the range of a polynomial on a box --------------------------------------------------------------------- *)

(* From the coefficients of powers to those of Bernstein on [low, high], in place. *)
let converted row low high =
  let d = Array.length row - 1 and width = Q.sub high low in
  for start = 0 to d - 1 do
    for k = d - 1 downto start do row.(k) <- Q.add row.(k) (Q.mul low row.(k + 1)) done
  done;
  let scale = ref Q.one in
  for k = 0 to d do
    row.(k) <- Q.div (Q.mul !scale row.(k)) (Q.of_bigint (Z.bin (Z.of_int d) k));
    scale := Q.mul !scale width
  done;
  let entry j =
    List.fold_left (fun sum i -> Q.add sum (Q.mul (Q.of_bigint (Z.bin (Z.of_int j) i)) row.(i))) Q.zero (List.init (j + 1) Fun.id)
  in
  Array.init (d + 1) entry

let range_of names box (poly : Text.poly) =
  let used = List.filter (fun (k, _) -> Text.degree k poly > 0) (List.mapi (fun k name -> (k, name)) names) in
  let ends (_, name) =
    match List.assoc_opt name box with Some ends -> ends | None -> rejected ("no interval of " ^ quoted name)
  in
  let axes = List.map (fun axis -> (fst axis, Text.degree (fst axis) poly, ends axis)) used in
  let one size (_, d, _) = if size > max_coefficients / (d + 1) then rejected "a polynomial has too many Bernstein coefficients" else size * (d + 1) in
  let size = List.fold_left one 1 axes in
  let entries = Array.make size Q.zero in
  let place x = List.fold_left (fun place (k, d, _) -> (place * (d + 1)) + List.nth x k) 0 axes in
  Text.Monomials.iter (fun x c -> entries.(place x) <- c) poly;
  let along stride (_, d, (low, high)) =
    for block = 0 to (size / (stride * (d + 1))) - 1 do
      for inner = 0 to stride - 1 do
        let at k = (block * stride * (d + 1)) + (k * stride) + inner in
        Array.iteri (fun k value -> entries.(at k) <- value) (converted (Array.init (d + 1) (fun k -> entries.(at k))) low high)
      done
    done;
    stride * (d + 1)
  in
  ignore (List.fold_left along 1 (List.rev axes));
  (Array.fold_left Q.min entries.(0) entries, Array.fold_left Q.max entries.(0) entries)

(* An interval that contains a constant E. *)
let around q =
  let low, high = Values.exp_bounds q terms_of_constant in
  (Logarithms.at_unit (Logarithms.down low), Logarithms.at_unit (Z.succ (Logarithms.down high)))

(* --- signs ---------------------------------------------------------------------------------------------------- *)

(* What positive multiples of a polynomial have in common. *)
let shape poly =
  if Text.Monomials.is_empty poly then []
  else
    let scale = Q.abs (snd (Text.Monomials.max_binding poly)) in
    List.map (fun (x, c) -> (x, Q.to_string (Q.div c scale))) (Text.Monomials.bindings poly)

type t = {
  names : string list;
  box : (string * (Q.t * Q.t)) list;
  shown : ((int list * string) list, unit) Hashtbl.t;
  found : ((int list * string) list, int) Hashtbl.t;
}

(* What a document shows about signs on a domain, where its obligations were replayed. *)
let of_document document domain =
  let statement = Claims.read (Object (("polynomial", String "0") :: fields domain)) in
  let own = List.map (fun (name, { Text.low; high; _ }) -> (name, (low, high))) statement.box in
  let box =
    match statement.exponent with
    | Some q when Q.sign q > 0 && Q.leq q largest_constant -> ("E", around q) :: List.remove_assoc "E" own
    | _ -> own
  in
  let shown = Hashtbl.create 16 in
  let add poly = Hashtbl.replace shown (shape poly) () in
  List.iter (fun (poly, _) -> add poly) statement.constraints;
  let enter entry =
    let claim = field "claim" entry in
    let about = Object (List.remove_assoc "polynomial" (fields claim)) in
    if field "proof" entry <> Null && canonical about = canonical domain then
      add (Text.polynomial (string_of (field "polynomial" claim)) statement.names)
  in
  (match field_opt "obligations" document with Some (List entries) -> List.iter enter entries | _ -> ());
  { names = statement.names; box; shown; found = Hashtbl.create 64 }

let look signs poly key =
  if Text.Monomials.is_empty poly || Hashtbl.mem signs.shown key then 1
  else if Hashtbl.mem signs.shown (shape (Text.Monomials.map Q.neg poly)) then -1
  else
    let degrees = List.mapi (fun axis name -> (name, Text.degree axis poly)) signs.names in
    let lacks (name, d) = d > 0 && not (List.mem_assoc name signs.box) in
    let size = List.fold_left (fun size (_, d) -> if size > small then size else size * (d + 1)) 1 degrees in
    if List.exists lacks degrees || size > small then 0
    else
      let low, high = range_of signs.names signs.box poly in
      if Q.sign low >= 0 then 1 else if Q.sign high <= 0 then -1 else 0

(* 1 for what is shown never to be negative on the domain, -1 for never positive, or else 0. *)
let sign signs poly =
  let key = shape poly in
  match Hashtbl.find_opt signs.found key with
  | Some sign -> sign
  | None ->
      let sign = look signs poly key in
      Hashtbl.add signs.found key sign;
      sign
