(* Compositions whose masses are rational: delta for an epsilon that is a logarithm, and the least ratio for a delta. The
   steps are those of paramverify/kernel/composition_evidence.py; the functions that accept are extracted from Coq. What the
   distributions of a release are is read here, and that is trusted. *)

open Faults
open Json
module C = Checker

let most_times = 100_000
let most_atoms = 20_000
let most_work = 10_000_000  (* outputs that are put together *)
let most_outputs = 1_000_000  (* together; Coq itself reads no larger natural number *)

let loss written =
  match List.map (fun part -> Text.number (string_of part)) (items_of written) with
  | [ rational; ratio ] -> if Q.sign ratio <= 0 then rejected "not a positive number" else (rational, ratio)
  | _ -> invalid_arg "loss"

(* The number whose logarithm a loss is. *)
let ratio_of written =
  let rational, ratio = loss written in
  if Q.sign rational <> 0 then unknown "a composition with exp is not known to the proved checker";
  ratio

let number name data = Text.number (string_of (field name data))

let whole name data =
  let value = number name data in
  if Q.sign value <= 0 || (not (Z.equal (Q.den value) Z.one)) || Q.gt value (Q.of_int most_atoms) then
    misformed ~path:[ Key name ] "not a whole number, or too large";
  Z.to_int (Q.num value)

(* The probabilities of the outputs of a release under both inputs. *)
let rec outputs release =
  match field "kind" release with
  | String "table" ->
      let pair row = match items_of row with [ p; q ] -> (Text.number (string_of p), Text.number (string_of q)) | _ -> invalid_arg "row" in
      List.map pair (items_of (field "outputs" release))
  | String "randomized_response" ->
      (* The truth, or one of the other values, each of them less likely. *)
      let c = ratio_of (field "step" release) and others = whole "values" release - 2 in
      if others < 0 || Q.lt c Q.one then misformed ~path:[ Key "values" ] "not a randomised response";
      let bottom = Q.add c (Q.of_int (others + 1)) in
      let large = Q.div c bottom and small = Q.inv bottom and rest = Q.div (Q.of_int others) bottom in
      [ (large, small); (small, large); (rest, rest) ]
  | String "discrete_laplace" ->
      (* Noise on whole numbers that falls by one factor from each to the next: below one answer, above the other, and
         each number between them. *)
      let c = ratio_of (field "step" release) and far = whole "sensitivity" release in
      if Q.leq c Q.one then misformed ~path:[ Key "step" ] "not above 0";
      let a = Q.inv c in
      let end_ = Q.inv (Q.add Q.one a) in
      let inner = Q.mul (Q.sub Q.one a) end_ in
      let at x =
        let share = if x = 0 || x = far then end_ else inner in
        (Q.mul share (Values.power a (far - x)), Q.mul share (Values.power a x))
      in
      List.init (far + 1) at
  | String "sampled" ->
      let rate = number "rate" release in
      if Q.sign rate <= 0 || Q.gt rate Q.one then misformed ~path:[ Key "rate" ] "not a probability";
      let mixed (p, q) = (Q.add (Q.mul (Q.sub Q.one rate) q) (Q.mul rate p), q) in
      List.map mixed (outputs (field "of" release))
  | String "turned" -> List.map (fun (p, q) -> (q, p)) (outputs (field "of" release))
  | _ -> unknown "a composition with noise that is rounded is not known to the proved checker"

let kind_of release = string_of (field "kind" release)
let same a b = canonical a = canonical b
let turned release = Object [ ("kind", String "turned"); ("of", release) ]

(* Two ways are those of a sample, M against Q and Q against M, and one way is of none. In each of them one pair of
   distributions is all, or nothing is exact. *)
let check_ways place ways =
  let wrong reason = misformed ~path:[ Key "components"; Place place; Key "ways" ] reason in
  let dominating way = field "dominating" way and pairs way = items_of (field "pairs" way) in
  let several () = rejected "a release has no rational masses, or several pairs: nothing is exact" in
  match ways with
  | [ way ] ->
      let of_sample release = List.mem (kind_of release) [ "sampled"; "turned" ] in
      if List.exists of_sample (dominating way :: pairs way) then wrong "a sample has two directions";
      (match pairs way with [] -> () | [ pair ] when same pair (dominating way) -> () | _ -> several ())
  | [ one; other ] ->
      if kind_of (dominating one) <> "sampled" then wrong "two ways are those of a sample";
      if pairs one <> [] then several ();
      if not (same (dominating other) (turned (dominating one))) then wrong "the second way is not the other direction";
      if pairs other <> [] then wrong "the pairs are not those of the other direction"
  | _ -> wrong "no component, or one without a way"

let value = function
  | String text -> plain ~most:60 text
  | data -> (
      match List.map string_of (items_of data) with
      | [ rational; ratio ] ->
          let parts = (if rational = "0" then [] else [ rational ]) @ if ratio = "1" then [] else [ "ln(" ^ ratio ^ ")" ] in
          plain ~most:60 (if parts = [] then "0" else String.concat " + " parts)
      | _ -> invalid_arg "value")

let rec told release pairs =
  match kind_of release with
  | "table" ->
      let outputs = counted (List.length (items_of (field "outputs" release))) "output" in
      Printf.sprintf "a table of %s, for %s" outputs (counted (max 1 pairs) "pair")
  | "sampled" -> told (field "of" release) 0 ^ ", of a sample with rate " ^ string_of (field "rate" release)
  | "turned" -> told (field "of" release) 0 ^ ", turned"
  | kind ->
      let known = List.filter (fun (name, _) -> name <> "kind") (fields release) in
      kind ^ " with " ^ String.concat ", " (List.map (fun (name, v) -> name ^ " = " ^ value v) known)

(* A release as the proved functions take it: whole numbers, and by what they are divided. *)
let masses release times =
  let found = outputs release in
  let bottom = List.fold_left (fun scale (p, q) -> Z.lcm scale (Z.lcm (Q.den p) (Q.den q))) Z.one found in
  let scaled x = Z.mul (Q.num x) (Z.divexact bottom (Q.den x)) in
  ((List.map (fun (p, q) -> (scaled p, scaled q)) found, bottom), times)

let check data =
  if field "exact" data = Null then unknown "a composition with bounds that are rounded is not known to the proved checker";
  let components = items_of (field "components" data) and question = field "question" data in
  let given = field_opt "epsilon" question in
  if (given <> None) = (field_opt "delta" question <> None) then misformed ~path:[ Key "question" ] "an epsilon or a delta";
  if field "lower" data <> Null || field "upper" data <> Null then
    misformed ~path:[ Key "lower" ] "a number is exact, or between bounds";
  let ways component = items_of (field "ways" component) in
  let count = List.fold_left (fun most component -> max most (List.length (ways component))) 0 components in
  if count < 1 || count > 2 then misformed ~path:[ Key "components" ] "no component, or one without a way";
  List.iteri (fun place component -> check_ways place (ways component)) components;
  let directions = items_of (field "directions" data) in
  if List.length directions <> count then misformed ~path:[ Key "directions" ] "not those of the components";
  let line place component =
    let times = int_of (field "times" component) and way = List.hd (ways component) in
    if times < 1 || times > most_times then
      misformed ~path:[ Key "components"; Place place; Key "times" ] "not a number of releases";
    let pairs = List.length (items_of (field "pairs" way)) in
    Printf.sprintf "component %d: %s, %s" (place + 1) (told (field "dominating" way) pairs) (counted times "time")
  in
  let lines = List.mapi line components in
  let direction k =
    let release component =
      let found = ways component in
      masses (field "dominating" (List.nth found (if List.length found > 1 then k else 0))) (int_of (field "times" component))
    in
    List.map release components
  in
  let every = List.init count direction in
  let work = List.fold_left (fun work ((l, _), times) -> work + (times * List.length l)) 1 (List.concat every) in
  let limit = min most_outputs (most_work / work) and stated = number "exact" data in
  let is_zero name = match field_opt name question with Some (String text) -> Q.sign (Text.number text) = 0 | _ -> false in
  let largest = is_zero "delta" || (given <> None && Q.sign stated = 0) in
  (* Grids are a help to compute, and are not needed here. *)
  let check_grid direction =
    match field "grid" direction with
    | Null -> ()
    | grid ->
        let rational, ratio = loss (field "step" grid) in
        if Q.sign (Q.add rational (Logarithms.at_unit (fst (Logarithms.ln ratio)))) <= 0 then
          rejected "the step of the grid is not above 0"
  in
  if not largest then List.iter check_grid directions;
  let word = if largest then "the largest loss" else "computed again" in
  let answered = function
    | Some answer -> answer
    | None -> unknown "a composition with so many outputs is not known to the proved checker"
  in
  let shown = plain ~most:60 (string_of (field "exact" data)) in
  let what, other, is_right =
    match given with
    | Some epsilon ->
        let rational, c = loss epsilon in
        if Q.sign rational <> 0 && Q.sign stated <> 0 then
          misformed ~path:[ Key "exact" ] "for an epsilon that is no logarithm of a rational nothing is exact";
        if Q.sign rational <> 0 then unknown "a composition with exp is not known to the proved checker";
        if Q.lt c Q.one then misformed ~path:[ Key "question"; Key "epsilon" ] "below 0";
        let is_right = answered (C.check_exact_delta limit every (Certify.rational c) (Certify.rational stated)) in
        ("delta", "epsilon", is_right)
    | None ->
        let delta = number "delta" question in
        let is_right = answered (C.check_exact_ratio limit every (Certify.rational delta) (Certify.rational stated)) in
        ("the ratio e^epsilon", "delta", is_right)
  in
  if not is_right then misformed ~path:[ Key "exact" ] (what ^ " is another number");
  let least = if given = None then "epsilon" else "delta" in
  let asked = Printf.sprintf "asked: the least %s for %s = %s" least other (value (field other question)) in
  lines @ [ asked; Printf.sprintf "%s is %s, exactly: %s" what shown word ]
