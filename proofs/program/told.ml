(* Whether the numbers that a witness tells of a violation agree with each other. Nothing rests on them: that the
   claim fails at the point is what is proved. *)

open Faults
open Json

let at name reason = misformed ~path:[ Key "witness"; Key name ] reason

let is_true relation sign =
  match relation with
  | "<" -> sign < 0
  | "<=" -> sign <= 0
  | ">" -> sign > 0
  | ">=" -> sign >= 0
  | _ -> sign = 0

(* Either none of these keys is there, or all are. *)
let check_together witness names =
  let given = List.filter (fun name -> field_opt name witness <> None) names in
  if given <> [] && given <> names then
    let missing = List.find (fun name -> field_opt name witness = None) names in
    misformed ~path:[ Key "witness" ] ("the key " ^ quoted missing ^ " is missing")

let within_one value = Values.sign value >= 0 && Values.sign (Values.minus value (Values.rational Q.one)) <= 0

let chances witness exponent =
  let read k chance =
    let path = [ Key "probabilities"; Place k ] in
    let value = Values.read chance exponent path in
    if not (within_one value) then misformed ~path:(Key "witness" :: path) "not between 0 and 1";
    value
  in
  match List.mapi read (items_of (field "probabilities" witness)) with
  | [ left; right ] -> (left, right)
  | _ -> invalid_arg "probabilities"

let positive_bound number =
  let bound = number "bound" in
  if Values.sign bound <= 0 then at "bound" "not positive";
  bound

let check_ratio witness number left right =
  let zero = Values.sign right = 0 in
  (match field "ratio" witness with
  | String (("infinity" | "undefined") as word) ->
      if (not zero) || word <> if Values.sign left <> 0 then "infinity" else "undefined" then
        at "ratio" "not the quotient of the probabilities"
  | _ ->
      if zero || not (Values.is_zero (Values.minus (Values.by (number "ratio") right) left)) then
        at "ratio" "not the quotient of the probabilities");
  let bound = positive_bound number in
  if Values.sign (Values.minus left (Values.by bound right)) <= 0 || field_opt "exceeds" witness = Some (Bool false) then
    misformed ~path:[ Key "witness" ] "the probabilities are within the bound"

let check_comparison witness number =
  let left = number "left" and right = number "right" and difference = number "difference" in
  if not (Values.is_zero (Values.minus (Values.minus left right) difference)) then
    at "difference" "not the left side minus the right side";
  if is_true (string_of (field "relation" witness)) (Values.sign difference) || field "fails" witness <> Bool true then
    misformed ~path:[ Key "witness" ] "the comparison is true for these sides"

let max_order = 10_000
let in_moment = [ "secrets"; "length"; "order"; "moment"; "bound"; "exceeds"; "largest" ]
let in_sum = [ "secrets"; "length"; "measure"; "moment"; "bound"; "exceeds"; "largest" ]

(* The keys of a sum: of a measure that has no order, if it names one. *)
let sum_of witness =
  if field_opt "measure" witness <> None && field_opt "order" witness = None then in_sum else in_moment

(* A sum of p^order/q^(order-1) is above its bound, and no smaller than its parts together. That of a measure without an order
   has no parts that are known here. *)
let check_moment witness number exponent =
  let names = sum_of witness in
  check_together witness names;
  let known = names = in_moment in
  let order = if known then int_of (field "order" witness) else 2 and told = field "moment" witness in
  let endless = told = String "infinity" in
  if order < 2 || int_of (field "length" witness) < 1 || told = String "undefined" then
    misformed ~path:[ Key "witness" ] "not a sum of an order from 2 on";
  if order > max_order then misformed ~path:[ Key "witness"; Key "order" ] "an order above 10,000";
  let outputs = List.map (fun share -> items_of (field "output" share)) (items_of (field "largest" witness)) in
  if
    List.length (List.sort_uniq compare outputs) < List.length outputs
    || List.exists (fun output -> List.length output <> int_of (field "length" witness)) outputs
  then at "largest" "an output of another length, or one twice";
  let found = if endless then Values.rational Q.zero else number "moment" in
  let rest = ref found in
  let check_part k share =
    let path = [ Key "largest"; Place k ] in
    let wrong reason = misformed ~path:(Key "witness" :: path) reason in
    match List.map (fun v -> Values.read v exponent path) (items_of (field "probabilities" share)) with
    | [ p; q ] ->
        if not (Values.sign p > 0 && within_one p && within_one q) then wrong "not probabilities";
        if known && endless <> (Values.sign q = 0) then at "moment" "a sum is infinite iff an output is possible on the left only";
        if known && not endless then begin
          let inverse = { q with Values.top = q.Values.bottom; bottom = q.Values.top } in
          rest := Values.minus !rest (Values.by (Values.to_power p order) (Values.to_power inverse (order - 1)));
          if Values.sign !rest < 0 then at "moment" "less than its parts"
        end
    | _ -> invalid_arg "probabilities"
  in
  let parts = items_of (field "largest" witness) in
  List.iteri check_part parts;
  let bound = positive_bound number in
  if parts = [] then at "largest" "no output";
  if field "exceeds" witness <> Bool true || not (endless || Values.sign (Values.minus found bound) > 0) then
    misformed ~path:[ Key "witness" ] "the sum is within the bound"

let check_names witness =
  let two = field_opt "ratio" witness <> None || field_opt "moment" witness <> None in
  match field_opt "secrets" witness with
  | Some (List secrets) ->
      let compared = field_opt "probabilities" witness <> None || field_opt "moment" witness <> None in
      if List.length secrets <> (if two then 2 else 1) && compared then
        at "secrets" "not as many names as probabilities";
      (match secrets with first :: second :: _ when two && first = second -> at "secrets" "twice the same" | _ -> ())
  | _ -> ()

(* The numbers of a set beside a witness, as far as enclosures go: chances, and their quotient. *)
let check_within told =
  let ends = function
    | String text -> (Text.number text, Text.number text)
    | data -> (Text.number (string_of (field "lower" data)), Text.number (string_of (field "upper" data)))
  in
  match List.map ends (items_of (field "probabilities" told)) with
  | [ (p, most); (q, r) ] ->
      let agrees =
        match field "ratio" told with
        | String "infinity" -> Q.sign q <= 0 && Q.sign most > 0
        | ratio ->
            let low, high = ends ratio in
            Q.leq (Q.mul low q) most && Q.leq p (Q.mul high r)
      in
      if (not agrees) || Q.sign (Q.min most r) < 0 || Q.gt (Q.max p q) Q.one then
        at "within" "not the quotient of two probabilities"
  | _ -> invalid_arg "probabilities"

let check_numbers witness =
  let exponent = Option.map (fun q -> Text.number (string_of q)) (field_opt "constant" (field "domain" (field "claim" witness))) in
  (match exponent with
  | Some q when Q.sign q <= 0 -> at "claim" "the constant is not positive"
  | _ -> ());
  let number name = Values.read (field name witness) exponent [ Key name ] in
  if field_opt "moment" witness <> None then check_moment witness number exponent
  else
    check_together witness
      ([ "probabilities"; "ratio"; "bound" ] @ if field_opt "exceeds" witness <> None then [ "exceeds" ] else []);
  check_together witness [ "relation"; "left"; "right"; "difference"; "fails" ];
  if field_opt "probabilities" witness <> None then begin
    let left, right = chances witness exponent in
    check_ratio witness number left right
  end;
  if field_opt "relation" witness <> None then check_comparison witness number;
  Option.iter check_within (field_opt "within" witness);
  check_names witness

(* The numbers of a set of outputs: its probability on the left is too large. *)
let check_set witness exponent =
  let read name = Values.read (field name witness) exponent [ Key name ] in
  (match items_of (field "secrets" witness) with
  | [ first; second ] when first = second -> at "secrets" "twice the same"
  | _ -> ());
  let outputs = List.map items_of (items_of (field "outputs" witness)) and length = int_of (field "length" witness) in
  if outputs = [] || List.exists (fun output -> List.length output <> length) outputs then
    at "outputs" "outputs of another length, or none";
  if List.length (List.sort_uniq compare outputs) < List.length outputs then at "outputs" "an output is there twice";
  let left, right = chances witness exponent in
  let bound = read "bound" and delta = read "delta" and beyond = read "beyond" in
  if Values.sign bound <= 0 then at "bound" "not positive";
  if Values.sign delta < 0 then at "delta" "negative";
  if not (Values.is_zero (Values.minus (Values.minus left (Values.by bound right)) beyond)) then
    at "beyond" "not the left probability minus bound times the right one";
  if Values.sign (Values.minus beyond delta) <= 0 || field "exceeds" witness <> Bool true then
    misformed ~path:[ Key "witness" ] "the set is within the bounds"
