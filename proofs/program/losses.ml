(* Claims about divergences with a logarithm: each is at most a bound, by a tree in preorder; or it is larger at a point.
   The steps are those of paramverify/kernel/loss_evidence.py; the functions that accept are extracted from Coq. What is computed
   here (ranges of factors, logarithms) is shown there once more: nothing rests on it. *)

open Faults
open Json
module C = Checker

let unit = Logarithms.unit
let ln = Logarithms.ln
let at_unit = Logarithms.at_unit
let largest = Logarithms.most  (* no exponential of a larger number is computed *)
let smallest = Z.mul (Z.of_int (-300)) unit
let nothing = Z.neg (Z.shift_left unit 40)  (* at least the logarithm of 0 *)
let max_power = 1_000

let guess (q : C.q) =
  let low, high = ln (Q.make q.C.qnum q.C.qden) in
  if Z.gt (Z.max (Z.abs low) (Z.abs high)) largest then unknown "a logarithm of such a number is not known to the proved checker";
  (low, high)

(* --- claims ------------------------------------------------------------------------------------------------- *)

let measure claim = match field "of" claim with String "kl" -> C.KL | _ -> C.ZCDP

(* Bounds of a number, and of factors of logarithms of numbers; and the bound as the proved checker takes it. *)
let bound_of written =
  match items_of written with
  | [ number; logs ] ->
      let pair row = match items_of row with [ f; n ] -> (Text.number (string_of f), Text.number (string_of n)) | _ -> invalid_arg "bound" in
      let start = Text.number (string_of number) and logs = List.map pair (items_of logs) in
      let plus (low, high) (factor, n) =
        let below, above = ln n in
        let one = Q.mul factor (at_unit below) and other = Q.mul factor (at_unit above) in
        (Q.add low (Q.min one other), Q.add high (Q.max one other))
      in
      let low, high = List.fold_left plus (start, start) logs in
      if Q.sign low < 0 then misformed ~path:[ Key "bound" ] "not at least 0";
      let pair (factor, n) = (Certify.rational factor, Certify.rational n) in
      ((low, high), (Certify.rational start, List.map pair logs))
  | _ -> invalid_arg "bound"

(* The domain, where E is what it stands for. *)
let statement_of domain =
  let statement = Claims.read domain "0" in
  Certify.check_enclosure statement;
  if statement.exponent = None then statement
  else { statement with box = List.filter (fun (name, _) -> name <> "E") statement.box }

let polynomials (statement : Claims.t) claim =
  let pair row = match items_of row with [ p; q ] -> [ p; q ] | _ -> invalid_arg "outputs" in
  let texts = field "total" claim :: List.concat_map pair (items_of (field "outputs" claim)) in
  List.map (fun written -> Text.polynomial (string_of written) statement.names) texts

let rec pairs = function p :: q :: rest -> (p, q) :: pairs rest | _ -> []

let loss_of found : C.loss =
  match List.map Certify.polynomial found with
  | whole :: rest -> { C.whole; outcomes = pairs rest }
  | [] -> invalid_arg "loss"

(* The powers of the factors in a product, and its constant; nothing for 0. *)
let product count poly written =
  let wrong () = rejected "a product is another polynomial" in
  if (written = Null) <> Text.Monomials.is_empty poly then wrong ();
  match written with
  | Null -> None
  | _ -> (
      match items_of written with
      | [ content; factors ] ->
          let content = Text.number (string_of content) and powers = Array.make count 0 in
          if Q.sign content = 0 then wrong ();
          let enter row =
            match List.map int_of (items_of row) with
            | [ k; e ] when k >= 0 && k < count && e >= 1 && e <= max_power -> powers.(k) <- powers.(k) + e
            | _ -> rejected "a product has a factor that is not there"
          in
          List.iter enter (items_of factors);
          Some (Certify.rational content, Array.to_list powers)
      | _ -> invalid_arg "product")

(* --- trees --------------------------------------------------------------------------------------------------- *)

let both ends = (Certify.rational (fst ends), Certify.rational (snd ends))

let tree (statement : Claims.t) factors box tokens =
  let leaves = ref 0 in
  let rec step box = function
    | [] -> rejected "a leaf of the tree is missing"
    | List [ String "cut"; String name; at ] :: rest -> (
        let axis = Certify.axis statement name and at = Text.number (string_of at) in
        match List.assoc_opt name box with
        | Some (low, high) when Q.lt low at && Q.lt at high ->
            let within ends = (name, ends) :: List.remove_assoc name box in
            let below, rest = step (within (low, at)) rest in
            let above, rest = step (within (at, high)) rest in
            (C.LossCut (axis, Certify.rational at, below, above), rest)
        | Some _ -> rejected ("the cut of " ^ plain name ^ " is not inside")
        | None -> rejected ("no interval of " ^ quoted name))
    | List [ String "outside"; Int k ] :: rest ->
        if k < 0 || k >= List.length statement.constraints then rejected (Printf.sprintf "no constraint number %d" k);
        incr leaves;
        let _, most = Signs.range_of statement.names box (fst (List.nth statement.constraints k)) in
        (C.LossOutside (k, Certify.rational most), rest)
    | List [ String "+"; orders ] :: rest ->
        incr leaves;
        let ranges = List.map (fun factor -> both (Signs.range_of statement.names box factor)) factors in
        (C.LossLeaf (ranges, List.map Certify.number (items_of orders)), rest)
    | token :: _ -> rejected ("unknown entry of a tree: " ^ kind token)
  in
  match step box tokens with
  | found, [] -> (found, !leaves)
  | _ -> rejected "the tree has too many leaves"

(* A proof that a product, or minus it, is never negative: by the signs of its factors, or as it is. *)
let product_proof signs factors poly content rows minus =
  let turned sign poly = if sign < 0 then Text.Monomials.map Q.neg poly else poly in
  let one (k, e) =
    let sign, factor = factors.(k) in
    let premise = if e mod 2 = 0 then None else Some (sign > 0, Signs.reason_of signs (turned sign factor)) in
    ((Certify.polynomial factor, Z.of_int e), premise)
  in
  let is_signed (k, e) = e mod 2 = 0 || fst factors.(k) <> 0 in
  if List.for_all is_signed rows then
    C.CFactors (Certify.rational (if minus then Q.neg content else content), List.map one rows)
  else Signs.reason_of signs (turned (if minus then -1 else 1) poly)

(* Whether the probabilities are proved never to be negative: their products, which were checked, have one sign, and so
   has the total, their sum. Raises Rejected where two have different signs. *)
let check_signs signs factors found products =
  let factors = Array.of_list (List.map (fun factor -> (Signs.sign signs factor, factor)) factors) in
  let sign_of poly written =
    match written with
    | Null -> None
    | _ -> (
        match items_of written with
        | [ content; rows ] ->
            let pair row = match List.map int_of (items_of row) with [ k; e ] -> (k, e) | _ -> invalid_arg "product" in
            let content = Text.number (string_of content) and rows = List.map pair (items_of rows) in
            let times sign (k, e) = if e mod 2 = 0 then sign else sign * fst factors.(k) in
            let sign = List.fold_left times (Q.sign content) rows in
            let sign = if sign = 0 then Signs.sign signs poly else sign in
            Some (sign, poly, product_proof signs factors poly content rows (sign < 0))
        | _ -> invalid_arg "product")
  in
  let found = List.filter_map Fun.id (List.map2 sign_of (List.tl found) (List.tl products)) in
  let some wanted = List.exists (fun (sign, _, _) -> sign = wanted) found in
  if some 1 && some (-1) then rejected "a probability is negative";
  let is_shown (sign, poly, proof) =
    sign <> 0 && Signs.is_proved signs (if sign < 0 then Text.Monomials.map Q.neg poly else poly) proof
  in
  List.for_all is_shown found

(* Raises Rejected where a tree does not show a claim, or a probability is negative; returns the number of its leaves, and
   whether it is shown that no probability is negative. *)
let prove signs claim =
  let statement = statement_of (field "domain" claim) and _, bound = bound_of (field "bound" claim) in
  let constant q =
    if not (Q.sign q > 0 && Q.leq q Signs.largest_constant) then rejected "the exponent of the constant is out of range";
    Signs.around q
  in
  let constant = Option.map constant statement.exponent in
  let factors = List.map (fun f -> Text.polynomial (string_of f) statement.names) (items_of (field "factors" claim)) in
  let found = polynomials statement claim and products = items_of (field "products" claim) in
  if List.length found <> List.length products then rejected "there are products for other outputs";
  let total, rest =
    match List.map2 (product (List.length factors)) found products with
    | Some total :: rest -> (total, pairs rest)
    | _ -> rejected "the total is 0"
  in
  let ends (name, { Text.low; high; _ }) = (name, (low, high)) in
  let box = List.map ends statement.box @ match constant with Some ends -> [ ("E", ends) ] | None -> [] in
  let tree, leaves = tree statement factors box (items_of (field "tree" claim)) in
  let polys = factors in
  let goal = Certify.goal_of statement and factors = List.map Certify.polynomial factors in
  if
    not
      (C.check_loss unit largest smallest guess nothing (measure claim) bound goal (Option.map both constant) (loss_of found)
         factors total rest tree)
  then rejected "the divergence is not shown to be within its bound";
  (leaves, check_signs signs polys found products)

(* --- witnesses ------------------------------------------------------------------------------------------------- *)

(* Whether a polynomial is at least 0 at a point (so is 0), and bounds of its size: both 0, or both above 0. *)
let size (statement : Claims.t) values poly =
  let found = Sets.at_point statement values poly in
  if Text.degree 0 found = 0 then
    let value = Option.value (Text.Monomials.find_opt [ 0 ] found) ~default:Q.zero in
    (Q.sign value >= 0, (Q.abs value, Q.abs value))
  else
    let sign = Values.sign_in_exp found statement.exponent and q = Option.get statement.exponent in
    let small = Q.make Z.one (Z.shift_left Z.one 200) in
    let rec refine = function
      | [] -> rejected "a probability is not enclosed narrowly by 1000 terms"
      | count :: rest ->
          let below, above = Values.exp_bounds q count in
          let ends x c (least, most) =
            let c = if sign < 0 then Q.neg c else c in
            let low, high = if Q.sign c < 0 then (above, below) else (below, above) in
            let power base = Q.mul c (Values.power base (List.hd x)) in
            (Q.add least (power low), Q.add most (power high))
          in
          let low, high = Text.Monomials.fold ends found (Q.zero, Q.zero) in
          if Q.sign low > 0 && Q.leq (Q.sub high low) (Q.mul small low) then (low, high) else refine rest
    in
    (sign > 0, refine Values.terms_of_exp)

(* Bounds of |p|/|total| and |q|/|total| of all outputs. *)
let shares sizes =
  match sizes with
  | (sign, (low, high)) :: rest ->
      if Q.sign low = 0 then rejected "the total is 0 at this point";
      if List.exists (fun (own, (least, _)) -> Q.sign least > 0 && own <> sign) rest then
        rejected "a probability is negative at this point";
      let rest = List.map snd rest in
      let found = pairs (List.map (fun (a, b) -> (Q.div a high, Q.div b low)) rest) in
      let sum side end_ = List.fold_left (fun total pair -> Q.add total (end_ (side pair))) Q.zero found in
      let is_one side = Q.leq (sum side fst) Q.one && Q.geq (sum side snd) Q.one in
      if not (is_one fst && is_one snd) then rejected "the probabilities do not sum to 1 at this point";
      found
  | [] -> invalid_arg "shares"

(* Bounds of p·ln(p/q). *)
let kl_term (p, q) =
  let open Logarithms in
  let logs = [ fst (ln (Q.div (fst p) (snd q))); snd (ln (Q.div (snd p) (fst q))) ] in
  let each product = List.concat_map (fun a -> List.map (product a) logs) [ down (fst p); up (snd p) ] in
  let chosen better list = List.fold_left better (List.hd list) list in
  (chosen Z.min (each product_down), chosen Z.max (each product_up))

(* Bounds of p^a·q^(1-a). *)
let power_term order (p, q) =
  let open Logarithms in
  let more = Q.sub order Q.one in
  let low = Z.sub (times_down order (fst (ln (fst p)))) (times_up more (snd (ln (snd q)))) in
  let high = Z.sub (times_up order (snd (ln (snd p)))) (times_down more (fst (ln (fst q)))) in
  (exp low false, exp high true)

(* Bounds of the divergence, where it is finite. *)
let value_of found order =
  let term = match order with None -> kl_term | Some a -> power_term a in
  let add (low, high) pair =
    if Q.sign (fst (fst pair)) = 0 then (low, high)
    else
      let a, b = term pair in
      (Z.add low a, Z.add high b)
  in
  let low, high = List.fold_left add (Z.zero, Z.zero) found in
  match order with
  | None -> (at_unit low, at_unit high)
  | Some a ->
      if Z.sign low <= 0 then rejected "a sum is not shown to be above 0";
      let by value = Q.div (at_unit value) (Q.sub a Q.one) in
      (by (fst (ln (at_unit low))), by (snd (ln (at_unit high))))

let wide = Q.make Z.one (Z.of_int 1_000_000_000)

let ends_told = function
  | String _ as told -> (Text.number (string_of told), Text.number (string_of told))
  | told -> (
      match List.map (fun v -> Text.number (string_of v)) (items_of told) with
      | [ low; high ] -> (low, high)
      | _ -> invalid_arg "ends")

(* A number is told between two others as it is, or not much wider. *)
let is_told (low, high) (below, above) =
  Q.leq low high && Q.leq low above && Q.leq below high && Q.leq (Q.sub high low) (Q.add (Q.sub above below) wide)

(* The numbers of a witness: its divergence and the bound are as it says. Nothing rests on them. *)
let check_numbers found witness order (low, high) =
  let times = Option.value order ~default:Q.one in
  let infinite = List.exists (fun (p, q) -> Q.sign (fst p) > 0 && Q.sign (snd q) = 0) found in
  if (field "value" witness = String "infinity") <> infinite then
    misformed ~path:[ Key "witness" ] "the divergence is infinite iff an output is possible on the left only";
  if not (is_told (ends_told (field "bound" witness)) (Q.mul low times, Q.mul high times)) then
    Told.at "bound" "the bound is another number";
  if not infinite then
    let own = value_of found order in
    if not (is_told (ends_told (field "value" witness)) own) then Told.at "value" "the divergence at this point is another number"

let order_of witness measure =
  let order = Option.map (fun written -> Text.number (string_of written)) (field_opt "order" witness) in
  if (order <> None) = (measure = C.KL) then misformed ~path:[ Key "witness" ] "zcdp has an order, and kl has none";
  (match order with Some a when Q.leq a Q.one -> Told.at "order" "not above 1" | _ -> ());
  order

(* Raises Rejected where a claim is not shown to fail at the witness, or its numbers do not agree with it. *)
let refute witness =
  let claim = field "claim" witness in
  let measure = measure claim and ends, bound = bound_of (field "bound" claim) in
  (match items_of (field "secrets" witness) with
  | [ first; second ] when first = second -> Told.at "secrets" "twice the same"
  | _ -> ());
  let origin = List (items_of (field "secrets" witness) @ [ field "length" witness ]) in
  if not (List.mem origin (items_of (field "origins" claim))) then
    misformed ~path:[ Key "witness"; Key "secrets" ] "the claim is about other secrets";
  if field "measure" witness <> field "of" claim then
    misformed ~path:[ Key "witness"; Key "measure" ] "the claims are about another measure";
  if field "exceeds" witness <> Bool true then misformed ~path:[ Key "witness" ] "the divergence is within its bound";
  let domain = field "domain" claim in
  let about = Claims.read domain "-1" in
  Certify.refute about (field "parameters" witness);
  let statement = statement_of domain in
  let values = Claims.point_of statement (field "parameters" witness) in
  let polynomials = polynomials statement claim in
  let sizes = List.map (size statement values) polynomials in
  let found = shares sizes in
  let order = order_of witness measure in
  check_numbers found witness order ends;
  let number name = match List.assoc_opt name values with Some at -> Certify.rational at | None -> Certify.rational Q.zero in
  let sized (sign, ends) = (sign, both ends) in
  let total, rest = match List.map sized sizes with total :: rest -> (total, pairs rest) | [] -> invalid_arg "sizes" in
  let order = Certify.rational (Option.value order ~default:Q.zero) in
  if
    not
      (C.refutes_loss unit largest smallest guess measure bound (Certify.goal_of statement) (loss_of polynomials)
         (List.map number statement.names) total rest order)
  then misformed ~path:[ Key "witness" ] "the divergence is within its bound"
