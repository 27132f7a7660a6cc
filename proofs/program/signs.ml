(* Which polynomials are plainly never negative on a domain: the steps are those of paramverify/kernel/plain_signs.py.
   That no probability of a loss and no weight of a cone is negative is a premise of the theorems. Here a reason is looked
   for, and the proved checker is asked whether it is one. Where there is none, a line of the report says so. *)

open Faults
open Json
module C = Checker

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
  shown : ((int list * string) list, Text.poly * (C.q -> C.cert)) Hashtbl.t;  (* with a proof of its multiples *)
  goal : C.goal;
  lemmas : C.goal list;  (* obligations, which were replayed, or are trusted to a solver *)
  found : ((int list * string) list, int) Hashtbl.t;
}

(* What a document shows about signs on the domain of a statement, where its obligations were replayed. *)
let around_statement document (about : Statements.t) =
  let statement = Claims.read (field "domain" about.data) "0" in
  let own = List.map (fun (name, { Text.low; high; _ }) -> (name, (low, high))) statement.box in
  let box =
    match statement.exponent with
    | Some q when Q.sign q > 0 && Q.leq q largest_constant -> ("E", around q) :: List.remove_assoc "E" own
    | _ -> own
  in
  let shown = Hashtbl.create 16 in
  let add poly proof = Hashtbl.replace shown (shape poly) (poly, proof) in
  List.iteri (fun k (poly, _) -> add poly (fun a -> C.CConstraint (k, a, C.CConstant))) statement.constraints;
  let lemmas = ref [] in
  let enter (obligation : Statements.t) =
    if obligation.on = about.on then begin
      let own = Claims.of_statement obligation.data and k = List.length !lemmas in
      lemmas := !lemmas @ [ Certify.goal_of own ];
      let factor = (Certify.polynomial own.poly, Z.one) in
      add own.poly (fun a -> C.CFactors (a, [ (factor, Some (true, C.CLemma k)) ]))
    end
  in
  List.iter enter (Statements.of_kind "obligation" document);
  let goal = Certify.goal_of statement in
  let fact q = C.Exp (Certify.axis statement "E", Certify.rational q) in
  let facts = match statement.exponent with Some q when goal.gfacts = [] -> [ fact q ] | _ -> goal.gfacts in
  { names = statement.names; box; shown; goal = { goal with gfacts = facts }; lemmas = !lemmas; found = Hashtbl.create 64 }

(* Asks the proved checker whether a polynomial is never negative, for a reason that was found. *)
let is_proved signs poly proof =
  C.check C.max_depth signs.lemmas { signs.goal with gpoly = Certify.polynomial poly } proof

let leading poly = snd (Text.Monomials.max_binding poly)

let mentions_constant signs poly =
  match Text.position "E" signs.names with Some k -> Text.degree k poly > 0 | None -> false

(* A proof by what is shown already, or by Bernstein coefficients. *)
let reason signs poly key =
  if Text.Monomials.is_empty poly then C.CConstant
  else
    match (Hashtbl.find_opt signs.shown key, List.assoc_opt "E" signs.box) with
    | Some (known, proof), _ -> proof (Certify.rational (Q.div (leading poly) (leading known)))
    | None, Some (low, high) when signs.goal.gfacts <> [] && mentions_constant signs poly ->
        C.CEnclose (Certify.rational low, Certify.rational high, C.CBernstein C.TLeaf)
    | None, _ -> C.CBernstein C.TLeaf

let reason_of signs poly = reason signs poly (shape poly)

let plain_sign signs poly key =
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

let look signs poly key =
  let sign = plain_sign signs poly key in
  if sign = 1 && not (is_proved signs poly (reason signs poly key)) then 0 else sign

(* 1 for what is proved never to be negative on the domain, -1 for never positive, or else 0. *)
let sign signs poly =
  let key = shape poly in
  match Hashtbl.find_opt signs.found key with
  | Some sign -> sign
  | None ->
      let sign = look signs poly key in
      Hashtbl.add signs.found key sign;
      sign
