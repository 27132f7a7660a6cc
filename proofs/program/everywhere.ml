(* A pair of inputs of noisy max that has the largest ratio of all neighbours, for all parameters; the steps are those of
   paramverify/kernel/worst_pair_evidence.py. The function that accepts is extracted from Coq: it computes by itself what has to be
   shown. What is computed here says which proof shows which part, and nothing rests on that. *)

open Faults
open Json
module C = Checker

let max_classes = Z.of_int 20_000

(* --- polynomials ----------------------------------------------------------------------------------------- *)

let nothing : Text.poly = Text.Monomials.empty
let plus (a : Text.poly) (b : Text.poly) = Text.Monomials.fold Text.add b a
let scaled c (a : Text.poly) : Text.poly = if Q.sign c = 0 then nothing else Text.Monomials.map (Q.mul c) a
let minus a b = plus a (scaled Q.minus_one b)

let times (a : Text.poly) (b : Text.poly) : Text.poly =
  let row x c found = Text.Monomials.fold (fun y e found -> Text.add (List.map2 ( + ) x y) (Q.mul c e) found) b found in
  Text.Monomials.fold row a nothing

let one width : Text.poly = Text.Monomials.singleton (List.init width (fun _ -> 0)) Q.one
let total = List.fold_left plus nothing

(* What positive multiples have in common, as a short text. *)
let key poly = Digest.string (Marshal.to_string (Signs.shape poly) [ Marshal.No_sharing ])

let rec terms width before (chain : C.poly) =
  match chain with
  | C.Pc c -> if Z.equal c Z.zero then [] else [ (List.rev_append before (List.init (width - List.length before) (fun _ -> 0)), c) ]
  | C.PX (first, rest) ->
      let raise_ (x, c) = (List.mapi (fun k e -> if k = List.length before then e + 1 else e) x, c) in
      terms width (0 :: before) first @ List.map raise_ (terms width before rest)

let of_chain width chain = List.fold_left (fun poly (x, c) -> Text.add x (Q.of_bigint c) poly) nothing (terms width [] chain)

(* --- noisy max ------------------------------------------------------------------------------------------- *)

type maxima = {
  about : Claims.t;
  noise : Text.poly array array;
  below : Text.poly array array;
  step : int;
  uniform : bool;
  answers : int;
  known : (int list * int * int list, Text.poly) Hashtbl.t;
}

let top maxima = Array.length maxima.noise - 1

(* The probability that the own answer is released, up to a power of the sum of a row. *)
let compute maxima before own behind =
  let width = List.length maxima.about.names in
  let won v =
    let lose (less, equal) found =
      List.map2 (fun a b -> plus (times less a) (times equal b)) (found @ [ nothing ]) (nothing :: found)
    in
    let at u equal f = (maxima.below.(f).(u), if equal then maxima.noise.(f).(v) else nothing) in
    let others =
      if maxima.uniform then List.map (at v true) behind
      else List.map (at v false) before @ List.map (at (v + 1) false) behind
    in
    let tied = List.fold_left (fun found one -> lose one found) [ one width ] others in
    times maxima.noise.(own).(v) (total (List.mapi (fun k c -> scaled (Q.make Z.one (Z.of_int (k + 1))) c) tied))
  in
  total (List.init (top maxima + 1) won)

let probability maxima (before, own, behind) =
  let place = (List.sort compare before, own, List.sort compare behind) in
  match Hashtbl.find_opt maxima.known place with
  | Some found -> found
  | None ->
      let before, own, behind = place in
      let found = compute maxima before own behind in
      Hashtbl.add maxima.known place found;
      found

(* All sorted lists of some length of the numbers from a first one to a last one. *)
let rec multisets first last size =
  if size = 0 then [ [] ]
  else if first > last then []
  else List.map (fun rest -> first :: rest) (multisets first last (size - 1)) @ multisets (first + 1) last size

let classes maxima =
  let free = top maxima - maxima.step and n = maxima.answers in
  let choose m k = if k > m then Z.zero else Z.bin (Z.of_int m) k in
  let several = if maxima.uniform then choose (n - 1 + free) free else choose (n + (2 * free)) ((2 * free) + 1) in
  if Z.gt (Z.mul (Z.of_int (free + 1)) several) max_classes then rejected "too many classes of inputs to check";
  let moved = List.map (( + ) maxima.step) in
  let of_sizes (before, behind) =
    let of_own k =
      let own = maxima.step + k in
      let with_before a = List.map (fun b -> ((a, own, b), (moved a, k, moved b))) (multisets 0 free behind) in
      List.concat_map with_before (multisets 0 free before)
    in
    List.concat_map of_own (List.init (free + 1) Fun.id)
  in
  List.concat_map of_sizes (if maxima.uniform then [ (0, n - 1) ] else List.init n (fun k -> (k, n - 1 - k)))

(* By noisy value, the own answer and the other one whose factors have the largest quotients. *)
let read_named document maxima =
  let free = top maxima - maxima.step in
  let named name size low high =
    let found = match field_opt name document with Some answers -> List.map int_of (items_of answers) | None -> [] in
    if List.length found <> size || not (List.for_all (fun f -> low <= f && f <= high) found) then
      misformed ~path:[ Key name ] "must name an answer for each noisy value";
    found
  in
  let own = named "own" (top maxima + 1) maxima.step (top maxima) in
  (own, named "others" (top maxima + 2) 0 free)

(* That the answers that are named have the largest quotients; a column of zeros makes all products zero. *)
let factors maxima (own, others) =
  let column table change v best =
    if Array.for_all (fun row -> Text.Monomials.is_empty row.(v)) table then []
    else
      let entry f = table.(f).(v) in
      let compared f =
        if f = best || f + change < 0 || f + change > top maxima then []
        else [ (minus (times (entry best) (entry (f + change))) (times (entry f) (entry (best + change))), false) ]
      in
      (entry best, true) :: List.concat_map compared (List.init (top maxima + 1) Fun.id)
  in
  List.concat (List.mapi (column maxima.noise (- maxima.step)) own)
  @ List.concat (List.mapi (column maxima.below maxima.step) others)

(* The products of the factors that are named and of their neighbours, but for those that are zero. *)
let products maxima (own, others) =
  let width = List.length maxima.about.names and others = Array.of_list others in
  let at before v f moved =
    let below w = maxima.below.(others.(w) + moved).(w) in
    let several = List.init before (fun _ -> below v) @ List.init (maxima.answers - 1 - before) (fun _ -> below (v + 1)) in
    List.fold_left times (one width) (maxima.noise.(f - moved).(v) :: several)
  in
  let one_ before v f = (at before v f 0, at before v f maxima.step) in
  let all = List.concat_map (fun before -> List.mapi (one_ before) own) (List.init maxima.answers Fun.id) in
  List.filter (fun (here, _) -> not (Text.Monomials.is_empty here)) all

(* What has to be shown, in the order of the proofs, and whether it is above 0. *)
let needs maxima named (one, other) =
  let best = probability maxima one and bottom = probability maxima other in
  let entries = List.concat_map Array.to_list (Array.to_list maxima.noise) in
  let falls f v = minus maxima.below.(f).(v + 1) maxima.below.(f + 1).(v + 1) in
  let falling = List.concat_map (fun f -> List.init (top maxima) (falls f)) (List.init (top maxima) Fun.id) in
  let compared (x, y) = minus (times best y) (times x bottom) in
  let at_least poly = (poly, false) in
  let first, pairs =
    match named with
    | Some named -> (factors maxima named, products maxima named)
    | None -> ([], List.map (fun (x, y) -> (probability maxima x, probability maxima y)) (classes maxima))
  in
  List.map at_least (entries @ falling) @ ((best, true) :: first) @ List.map at_least (List.map compared pairs)

(* --- a document ------------------------------------------------------------------------------------------- *)

let read_pair document maxima =
  let input name = List.map int_of (items_of (field name document)) in
  let left = input "left" and right = input "right" and output = int_of (field "output" document) in
  let n = maxima.answers in
  let none () = rejected "the pair is no pair of neighbouring inputs" in
  if List.length left <> n || List.length right <> n || output < 1 || output > n || (maxima.uniform && output <> 1) then none ();
  let inside f = 0 <= f && f <= top maxima in
  if not (List.for_all inside (left @ right)) then none ();
  let change k = if k = output - 1 then - maxima.step else maxima.step in
  if not (List.for_all Fun.id (List.mapi (fun k (f, g) -> g - f = change k) (List.combine left right))) then none ();
  let divided x = (List.filteri (fun k _ -> k < output - 1) x, List.nth x (output - 1), List.filteri (fun k _ -> k >= output) x) in
  let all (before, own, behind) = if maxima.uniform then ([], own, before @ behind) else (before, own, behind) in
  (left, right, output, (all (divided left), all (divided right)))

let read document =
  let about = Claims.read (field "domain" document) "0" in
  Certify.check_enclosure about;
  let row written = Array.of_list (List.map (fun p -> Text.polynomial (string_of p) about.names) (items_of written)) in
  let noise = Array.of_list (List.map row (items_of (field "noise" document))) in
  let size = Array.length noise in
  let sum row count = total (Array.to_list (Array.sub row 0 count)) in
  let whole = Array.map (fun row -> sum row (Array.length row)) noise in
  let differs a b = not (Text.Monomials.equal Q.equal a b) in
  if size < 2 || Array.exists (fun row -> Array.length row <> size) noise || Array.exists (differs whole.(0)) whole
     || Text.Monomials.is_empty whole.(0)
  then rejected "the noise is no distribution";
  let step = Standing.reach (string_of (field "by" document)) (size - 1) in
  let below = Array.map (fun row -> Array.init (size + 1) (sum row)) noise in
  let uniform = field "ties" document = String "uniform" in
  { about; noise; below; step; uniform; answers = int_of (field "answers" document); known = Hashtbl.create 64 }

(* The proofs by what they show. One for what was shown before is looked at here: the proved function takes only one. *)
let proofs_of maxima (goal : C.goal) wanted given =
  let above = Hashtbl.create 1 and shown = Hashtbl.create 64 in
  let certificate proof =
    try Certify.certificate { about = maxima.about; known = Certify.no_lemmas } 0 proof
    with Unknown _ -> rejected "a proof rests on the word of a solver"
  in
  let enter given (poly, strict) =
    if Text.Monomials.is_empty poly && not strict then given
    else
      match given with
      | [] -> rejected "a proof is missing that the pair has the largest ratio"
      | proof :: rest ->
          let found = (Certify.polynomial poly, certificate proof) in
          let table = if strict then above else shown in
          let place = key poly in
          if not (Hashtbl.mem table place) then Hashtbl.add table place found
          else begin
            let poly = fst found in
            let opposite = { poly with C.num = C.popp poly.C.num } in
            let below = { goal with gpoly = C.qconst (Certify.rational Q.minus_one); gconds = goal.gconds @ [ Some (opposite, false) ] } in
            if not (Certify.proves (if strict then below else { goal with gpoly = poly }) (snd found)) then
              rejected "the proof does not show the claim"
          end;
          rest
  in
  if List.fold_left enter given wanted <> [] then rejected "there are proofs of something else";
  (shown, above)

(* Raises Rejected where it is not shown, and Unknown where that is not known. *)
let prove document =
  let maxima = read document in
  if maxima.about.ties <> [] then rejected "noise with logarithms is not covered";
  let how = string_of (field "how" document) and one = field "differ" document = String "one" in
  if (how = "ends") <> one || (how = "terms" && maxima.uniform) then
    misformed ~path:[ Key "how" ] "this does not belong to these neighbours and ties";
  if how = "ends" then
    unknown ("a pair that stands for all others, for all parameters, by " ^ how ^ ", is not known to the proved checker");
  let left, right, output, pair = read_pair document maxima in
  let goal = Certify.goal_of maxima.about in
  let named = if how = "terms" then Some (read_named document maxima) else None in
  let shown, above = proofs_of maxima goal (needs maxima named pair) (items_of (field "proofs" document)) in
  let width = List.length maxima.about.names in
  let find table chain = Hashtbl.find_opt table (key (of_chain width chain)) in
  let denominators row scale = Array.fold_left (fun scale p -> Z.lcm scale (snd (Text.whole p))) scale row in
  let common = Q.of_bigint (Array.fold_right denominators maxima.noise Z.one) in
  let whole p = (Certify.polynomial (scaled common p)).C.num in
  let n = maxima.answers in
  let divided = List.fold_left (fun found k -> Z.lcm found (Z.of_int (k + 1))) Z.one (List.init n Fun.id) in
  let about =
    {
      C.about_all = goal;
      table = List.map (fun row -> List.map whole (Array.to_list row)) (Array.to_list maxima.noise);
      inputs = n;
      at_random = maxima.uniform;
      largest_change = maxima.step;
      one_input = left;
      other_input = right;
      released_one = output - 1;
      fractions = List.init n (fun k -> Z.divexact divided (Z.of_int (k + 1)));
      divided;
      by_products = named;
    }
  in
  if not (C.stands (find shown) (find above) about) then rejected "the proofs do not show that no neighbours have a larger ratio"
