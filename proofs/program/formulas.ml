(* Formulas of dpCTL*: the steps are those of paramverify/kernel/formula_evidence.py and truths.py. *)

open Faults
open Json
module C = Checker

let most_members = 10_000
let most_steps = 1_000

(* --- formulas of documents -------------------------------------------------------------------------------------- *)

let parts = function List (String kind :: rest) -> (kind, rest) | _ -> invalid_arg "formula"

let rec inner formula =
  match parts formula with
  | ("not" | "next"), [ f ] -> [ f ]
  | ("and" | "or"), [ List fs ] -> fs
  | ("until" | "release"), f :: h :: _ -> [ f; h ]
  | ("P" | "D"), [ _; _; f ] -> [ f ]
  | _ -> []

(* Whether a number of steps depends on the number of the family. *)
let rec mentions formula =
  let own = match parts formula with
    | ("until" | "release"), [ _; _; low; high ] -> List.exists (function Object _ -> true | _ -> false) [ low; high ]
    | _ -> false
  in
  own || List.exists mentions (inner formula)

(* The member of a family. *)
let rec instance k formula =
  let again = instance k in
  match parts formula with
  | (("until" | "release") as kind), [ f; h; low; high ] ->
      let ending = function Object _ as more -> Int (k + int_of (field "more" more)) | ending -> ending in
      let low = ending low and high = ending high in
      let negative = function Int n -> n < 0 | _ -> false in
      if negative low || negative high then rejected (Printf.sprintf "a number of steps is negative for the member %d" k);
      List [ String kind; again f; again h; low; high ]
  | (("not" | "next") as kind), [ f ] -> List [ String kind; again f ]
  | (("and" | "or") as kind), [ List fs ] -> List [ String kind; List (List.map again fs) ]
  | (("P" | "D") as kind), [ a; b; f ] -> List [ String kind; a; b; again f ]
  | _ -> formula

let rec is_state formula =
  match parts formula with
  | ("next" | "until" | "release"), _ -> false
  | ("P" | "D"), _ -> true
  | _ -> List.for_all is_state (inner formula)

(* --- formulas of the proved functions ---------------------------------------------------------------------------- *)

let rec state (chain : Chains.t) numbers formula : C.formula =
  let of_part = state chain numbers and weight = Systems.weight numbers in
  match parts formula with
  | "true", _ -> C.Truth true
  | "false", _ -> C.Truth false
  | "label", [ String name ] -> (
      match List.assoc_opt name chain.labels with
      | Some states -> C.Among states
      | None -> unknown "a label that the model does not have")
  | "not", [ f ] -> C.Not (of_part f)
  | "and", [ List fs ] -> List.fold_right (fun f rest -> C.And (of_part f, rest)) fs (C.Truth true)
  | "or", [ List fs ] -> List.fold_right (fun f rest -> C.Or (of_part f, rest)) fs (C.Truth false)
  | "P", [ String relation; bound; f ] ->
      C.Share (relation.[0] = '>', String.length relation = 1, weight bound, event chain numbers f)
  | "D", [ ratio; delta; f ] -> C.Private (weight ratio, weight delta, event chain numbers f)
  | _ -> unknown "a path formula where a state formula is needed"

and path chain numbers formula : C.path0 =
  let of_part = path chain numbers in
  let bounded low high = match (low, high) with
    | Int low, Int high ->
        if max low high > most_steps then unknown (Printf.sprintf "a path formula about more than %s" (counted most_steps "step"));
        (low, high)
    | _ -> unknown "an unbounded operator within a path formula"
  in
  match parts formula with
  | _ when is_state formula -> C.State (state chain numbers formula)
  | "not", [ f ] -> C.NotP (of_part f)
  | "and", [ List fs ] -> List.fold_right (fun f rest -> C.AndP (of_part f, rest)) fs (C.State (C.Truth true))
  | "or", [ List fs ] -> List.fold_right (fun f rest -> C.OrP (of_part f, rest)) fs (C.State (C.Truth false))
  | "next", [ f ] -> C.Next (of_part f)
  | "until", [ f; h; low; high ] ->
      let low, high = bounded low high in
      C.Until (of_part f, of_part h, low, high)
  | "release", [ f; h; low; high ] ->
      let low, high = bounded low high in
      C.NotP (C.Until (C.NotP (of_part f), C.NotP (of_part h), low, high))
  | _ -> invalid_arg "formula"

and event chain numbers formula : C.event =
  match parts formula with
  | "until", [ f; h; Int 0; Null ] when is_state f && is_state h -> C.Ever (state chain numbers f, state chain numbers h)
  | "release", [ f; h; Int 0; Null ] when is_state f && is_state h ->
      C.Release (state chain numbers f, state chain numbers h)
  | _ -> C.Within (path chain numbers formula)

(* --- what is said of them ------------------------------------------------------------------------------------------ *)

(* Asks the proved function. Raises Rejected where it says no, and Unknown where it does not decide. *)
let settle_chain (numbers : Systems.numbers) (chain : Chains.t) name where_false formula =
  let rows = List.hd chain.rows in
  let stated = state chain numbers formula in
  if not (C.check_formula Certify.proves numbers.goal numbers.signs rows chain.near chain.initial stated where_false) then begin
    let truths = C.truths numbers.goal numbers.signs rows chain.near stated in
    let states = match where_false with None -> chain.initial | Some state -> [ state ] in
    (* Where all are rational numbers, what is not decided is what no bounds of a state by itself allow. *)
    let rational = numbers.goal.gfacts = [] && List.length numbers.at_point = List.length numbers.names in
    let decided x = match List.nth_opt truths x with Some (Some _) -> true | Some None -> rational | None -> false in
    let otherwise x = match List.nth_opt truths x with Some (Some truth) -> truth <> (where_false = None) | Some None -> rational | None -> false in
    let sure = if where_false = None then List.exists otherwise states else List.for_all decided states in
    if not sure then unknown "the truth of a formula is not decided in a way that is known to the proved checker";
    rejected (plain name ^ ": it is not shown that the formula is " ^ if where_false = None then "true" else "false there")
  end

(* --- all words of actions ------------------------------------------------------------------------------------------ *)

let most_words = 5_000

let rec conjuncts formula = match parts formula with "and", [ List fs ] -> List.concat_map conjuncts fs | _ -> [ formula ]

(* D of a path formula that looks at so many steps, and has no part with probabilities. *)
let bounded_part chain numbers part =
  match parts part with
  | "D", [ ratio; delta; f ] ->
      let asked = path chain numbers f in
      if not (C.plain_path asked) then unknown "a formula within D, in a model with choices";
      (Systems.weight numbers ratio, Systems.weight numbers delta, asked)
  | _ -> unknown "a formula that is no D, in a model with choices"

let shows (numbers : Systems.numbers) (chain : Chains.t) states (ratio, delta, _) what =
  C.check_choices Certify.proves numbers.goal numbers.signs chain.rows chain.near states ratio delta what

(* A state, a mate of it and a word that show that it is not private, if they are found. *)
let breaking (numbers : Systems.numbers) (chain : Chains.t) given states (ratio, delta, asked) =
  let steps = C.depth asked and actions = List.init (List.length chain.rows) Fun.id in
  let pairs = List.concat_map (fun x -> List.map (fun y -> (x, y)) (C.mates_of chain.near x)) states in
  let left = ref most_words in
  let one word =
    decr left;
    let only = List.map (fun a -> [ a ]) word in
    match C.bound_path chain.rows chain.near numbers.goal numbers.signs true only asked with
    | None -> None
    | Some found ->
        let found = Array.of_list found in
        let seen (x, y) = C.hidden_by numbers.goal numbers.signs ratio delta found.(x) found.(y) <> Some false in
        let broken (x, y) = not (seen (x, y) && seen (y, x)) in
        Option.map (fun (x, y) -> (x, y, word)) (List.find_opt broken pairs)
  in
  let rec search word count =
    if !left <= 0 then None
    else if count = 0 then one word
    else List.find_map (fun action -> search (action :: word) (count - 1)) actions
  in
  match given with
  | [] -> search [] steps
  | given ->
      let first = Array.of_list given and repeated = chain.repeated in
      let size = Array.length first in
      one (List.init steps (fun k -> first.(if k < size then k else size - repeated + ((k - size) mod repeated))))

let settle_choices numbers (chain : Chains.t) name where_false formula =
  let named = List.map (bounded_part chain numbers) (conjuncts formula) in
  let broken given states ((_, _, asked) as part) =
    match breaking numbers chain given states part with
    | Some (state, mate, word) -> shows numbers chain [ state ] part (C.Broken (asked, mate, word))
    | None -> false
  in
  match where_false with
  | None ->
      let holds ((_, _, asked) as part) = shows numbers chain chain.initial part (C.Always asked) in
      let doubtful = List.filter (fun part -> not (holds part)) named in
      if List.exists (broken [] chain.initial) doubtful then rejected (plain name ^ ": it is not shown that the formula is true");
      if doubtful <> [] then unknown "the bounds of all words of actions do not decide a formula"
  | Some state ->
      if not (List.exists (broken chain.word [ state ]) named) then
        unknown "no word of actions is found that shows that a formula is false"

let settle numbers (chain : Chains.t) name where_false formula =
  if List.length chain.actions = 1 then settle_chain numbers chain name where_false formula
  else settle_choices numbers chain name where_false formula

let rec shifted formula = match parts formula with "next", [ f ] -> let m, rest = shifted f in (m + 1, rest) | _ -> (0, formula)

(* All later members of a family follow: such a path stays in a part for so many steps, and that is rare. *)
let argue numbers (chain : Chains.t) name until formula =
  let refuse () = rejected (plain name ^ ": the argument for larger members fails") in
  let one part =
    match parts part with
    | "D", [ ratio; delta; f ] -> (
        let m, rest = shifted f in
        match parts rest with
        | "until", [ first; second; (Object _ as low); high ] when not (mentions first || mentions second) ->
            if high = Null then unknown "an unbounded operator within a path formula";
            let many = until + int_of (field "more" low) in
            if many < 1 then refuse ();
            let first = path chain numbers first in
            if not (C.plain_path first) then unknown "a formula within D, in a model with choices";
            let part = (Systems.weight numbers ratio, Systems.weight numbers delta, first) in
            if not (shows numbers chain chain.initial part (C.Later (m, first, many))) then
              unknown "the argument for larger members is not shown in a way that is known"
        | _ -> refuse ())
    | _ -> refuse ()
  in
  List.iter one (List.filter mentions (conjuncts formula))

let check_true document numbers entry name =
  let chain = Chains.read (field "model" document) numbers in
  let formula = field "formula" entry in
  match field_opt "family" entry with
  | None -> settle numbers chain name None formula
  | Some family -> (
      match (field "first" family, field "last" family) with
      | Int first, Int last ->
          if last - first >= most_members then rejected "a family of too many formulas";
          for k = first to last do settle numbers chain name None (instance k formula) done
      | Int first, _ ->
          let until = int_of (field "until" entry) in
          if until < first then misformed ~path:[ Key "until" ] "before the first member";
          if until - first >= most_members then rejected "a family of too many formulas";
          if field "argument" entry <> String "tail" then unknown "an argument by equality is not known to the proved checker";
          for k = first to until do settle numbers chain name None (instance k formula) done;
          argue numbers chain name until formula
      | _ -> invalid_arg "family")

let check_false document entry name =
  let numbers = Systems.at_point document (field "parameters" entry) in
  let chain = Chains.read (field "model" document) numbers in
  let place name =
    let rec from k = function [] -> misformed ~path:[ Key "actions" ] "no action of the model" | a :: rest -> if a = name then k else from (k + 1) rest in
    from 0 chain.actions
  in
  let chain =
    match field_opt "actions" entry with
    | Some (List (_ :: _ as actions)) ->
        let repeated = int_of (field "repeated" entry) and word = List.map (fun a -> place (string_of a)) actions in
        if repeated < 1 || repeated > List.length word then
          misformed ~path:[ Key "repeated" ] "from 1 to the number of actions are repeated";
        { chain with word; repeated }
    | _ -> chain
  in
  let formula = field "formula" entry in
  let formula =
    match field_opt "family" entry with
    | None -> formula
    | Some family ->
        let index = int_of (field "index" entry) in
        let beyond = match field "last" family with Int last -> index > last | _ -> false in
        if index < int_of (field "first" family) || beyond then misformed ~path:[ Key "index" ] "no member of the family";
        instance index formula
  in
  let state = int_of (field "state" entry) in
  if not (List.mem state chain.initial) then misformed ~path:[ Key "state" ] "not an initial state";
  settle numbers chain name (Some state) formula

let only_with = function
  | "holds" -> [ "family"; "until"; "argument" ]
  | "violated" -> [ "family"; "parameters"; "state"; "index"; "actions"; "repeated" ]
  | _ -> [ "family"; "reason" ]

(* A formula has what goes with what is said of it, and nothing else. *)
let check_form entry status =
  let given key = field_opt key entry <> None in
  let known = [ "name"; "text"; "formula"; "status" ] @ only_with status in
  let fits (key, _) = if not (List.mem key known) then misformed ~path:[ Key key ] ("this does not go with '" ^ status ^ "'") in
  List.iter fits (fields entry);
  let family = field_opt "family" entry in
  if family = None && (mentions (field "formula" entry) || given "until" || given "argument" || given "index") then
    misformed "a number of a family stands where there is none";
  if status <> "unknown" then begin
    let last = Option.map (field "last") family in
    let endless = last = Some Null in
    (match (family, last) with
    | Some family, Some (Int last) when last < int_of (field "first" family) -> misformed ~path:[ Key "family" ] "a family without a member"
    | _ -> ());
    let argued = given "argument" in
    if (status = "holds" && endless <> argued) || given "until" <> argued then
      misformed "an argument comes with a family without a last number, and only with it";
    if status = "violated" then begin
      if (not (given "parameters" && given "state")) || (family <> None) <> given "index" then
        misformed "the point, the state, or the number of the member, is missing";
      if given "actions" <> given "repeated" then
        misformed ~path:[ Key "actions" ] "actions come with the number of those that are repeated"
    end
  end

(* A formula as text, from the tree that is checked, as paramverify/kernel/formula_evidence.py writes it. *)
let count_words = function
  | Int n -> string_of_int n
  | more -> (match int_of (field "more" more) with 0 -> "k" | n -> Printf.sprintf "k%+d" n)

let steps_words low high =
  match (low, high) with
  | Int 0, Null -> ""
  | low, Null -> ">=" ^ count_words low
  | low, high when low = high -> "=" ^ count_words low
  | Int 0, high -> "<=" ^ count_words high
  | low, high -> Printf.sprintf "[%s, %s]" (count_words low) (count_words high)

let number_words = function
  | String text -> text
  | weight -> (match items_of weight with [ String top; String bottom ] -> Printf.sprintf "(%s)/(%s)" top bottom | _ -> invalid_arg "weight")

let rec formula_words formula =
  match parts formula with
  | "label", [ String name ] -> "\"" ^ String.map (fun c -> if c = '"' then '\'' else c) name ^ "\""
  | "not", [ f ] -> "!" ^ formula_words f
  | "next", [ f ] -> "X " ^ formula_words f
  | "and", [ List [] ] -> "true"
  | "or", [ List [] ] -> "false"
  | (("and" | "or") as kind), [ List fs ] ->
      "(" ^ String.concat (if kind = "and" then " & " else " | ") (List.map formula_words fs) ^ ")"
  | "until", [ List [ String "true" ]; f; low; high ] -> Printf.sprintf "F%s %s" (steps_words low high) (formula_words f)
  | "release", [ List [ String "false" ]; f; low; high ] -> Printf.sprintf "G%s %s" (steps_words low high) (formula_words f)
  | (("until" | "release") as kind), [ f; h; low; high ] ->
      let sign = if kind = "until" then "U" else "R" in
      Printf.sprintf "(%s %s%s %s)" (formula_words f) sign (steps_words low high) (formula_words h)
  | "P", [ String relation; bound; f ] -> Printf.sprintf "P%s%s [ %s ]" relation (number_words bound) (formula_words f)
  | "D", [ ratio; delta; f ] ->
      let ratio = if ratio = String "1" then "0" else Printf.sprintf "ln(%s)" (number_words ratio) in
      Printf.sprintf "D{%s, %s}[ %s ]" ratio (number_words delta) (formula_words f)
  | kind, _ -> kind

let stated entry =
  let words = formula_words (field "formula" entry) in
  match field_opt "family" entry with
  | None -> words
  | Some family ->
      let last = match field "last" family with Int last -> string_of_int last | _ -> "" in
      Printf.sprintf "forall k in %d..%s: %s" (int_of (field "first" family)) last words

let words = [ ("holds", "true"); ("violated", "false"); ("unknown", "undecided") ]

(* What is told of each formula, and how many are shown, and not shown. *)
let check document comparisons =
  let entries = items_of (field "formulas" document) in
  let name_of entry = string_of (field "name" entry) in
  if entries = [] || not (Chains.different (List.map name_of entries)) then
    misformed ~path:[ Key "formulas" ] "not formulas with different names";
  let numbers = Systems.numbers_of document comparisons in
  let one place entry =
    let status = string_of (field "status" entry) in
    let examine entry =
      check_form entry status;
      match status with
      | "holds" -> check_true document numbers entry (name_of entry)
      | "violated" -> check_false document entry (name_of entry)
      | _ -> ()
    in
    inside (Key "formulas") (inside (Place place) examine) entry;
    (status, Printf.sprintf "formula %d: %s: %s" (place + 1) (List.assoc status words) (plain ~most:300 (stated entry)))
  in
  let told = List.mapi one entries in
  let having status = List.length (List.filter (fun (its, _) -> its = status) told) in
  let found = List.find (fun status -> having status > 0) [ "violated"; "unknown"; "holds" ] in
  let still_open = having "unknown" in
  (List.map snd told, List.length told - still_open, still_open, found)
