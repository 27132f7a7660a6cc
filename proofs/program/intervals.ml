(* Exact intervals of one parameter: the line is cut at roots of factors, and each piece has one status. The steps are
   those of paramverify/kernel/interval_evidence.py; the function that finds the statuses is extracted from Coq. *)

open Faults
open Json
module C = Checker

let max_degree = 5_000
let word = function C.LineOutside -> "outside" | C.LineSafe -> "safe" | C.LineViolating -> "violating"
let in_words = function
  | C.LineOutside -> "outside of the domain"
  | C.LineSafe -> "where the claims are true"
  | C.LineViolating -> "where one is false"

let zipped what one first second =
  if List.length first <> List.length second then rejected ("not as many as the " ^ what);
  List.map2 one first second

(* Pieces of the line: a status, the places where it begins and ends, and whether these belong to it. *)
type piece = { status : C.line_status; ends : int * int; closed : bool * bool }

let written piece =
  let first, last = piece.ends and left, right = piece.closed in
  Object
    [ ("status", String (word piece.status)); ("ends", List [ Int first; Int last ]); ("closed", List [ Bool left; Bool right ]) ]

(* Points and what is between them take turns; the ends of the box may be left out. *)
let pieces closed statuses =
  let last = (List.length statuses - 1) / 2 in
  let one n status =
    let k = n / 2 in
    if n mod 2 = 1 then [ { status; ends = (k, k + 1); closed = (false, false) } ]
    else if (k > 0 || fst closed) && (k < last || snd closed) then [ { status; ends = (k, k); closed = (true, true) } ]
    else []
  in
  List.concat (List.mapi one statuses)

let joined pieces =
  let join found piece =
    match found with
    | before :: rest when before.status = piece.status ->
        let ends = (fst before.ends, snd piece.ends) and closed = (fst before.closed, snd piece.closed) in
        { piece with ends; closed } :: rest
    | _ -> piece :: found
  in
  List.rev (List.fold_left join [] pieces)

let check document =
  let about, _ = Certify.domain_of (field "domain" document) in
  let name, range =
    match (about.names, about.box, about.exponent) with
    | [ name ], [ (_, range) ], None -> (name, range)
    | _ -> rejected "exact intervals are about one parameter, and without a constant E"
  in
  let read value = Text.polynomial (string_of value) about.names in
  let parsed = Array.of_list (List.map read (items_of (field "factors" document))) in
  let factors = List.map Certify.polynomial (Array.to_list parsed) in
  let break entry : C.brk =
    let which = int_of (field "factor" entry) in
    if which < 0 || which >= Array.length parsed then rejected "a break of a factor that is not there";
    match items_of (field "between" entry) with
    | [ low; high ] -> { brk_low = Certify.number low; brk_high = Certify.number high; brk_of = which }
    | _ -> invalid_arg "between"
  in
  let breaks = List.map break (items_of (field "breaks" document)) in
  let given = List.map items_of (items_of (field "cuts" document)) in
  let cuts = zipped "factors" (fun _ row -> List.map Certify.number row) factors given in
  let signed (poly, strict) entry : C.signed =
    let signed_product = Regions.read_product parsed poly 1 entry in
    { signed_poly = Certify.polynomial poly; signed_product; signed_strict = strict }
  in
  let polys = List.map (fun text -> (read text, false)) (items_of (field "claims" document)) in
  let claims = zipped "products" signed polys (items_of (field "products" document)) in
  let constraints = zipped "constraints" signed about.constraints (items_of (field "constraints" document)) in
  let start = Certify.rational range.low and stop = Certify.rational range.high in
  let used = List.concat_map C.signed_uses (claims @ constraints) in
  let check_factor k poly =
    let row = List.map (fun cut -> Text.number (string_of cut)) (List.nth given k) in
    let rec ascend = function a :: (b :: _ as rest) -> Q.lt a b && ascend rest | _ -> true in
    if Text.degree 0 poly > max_degree then rejected "a factor of a too high degree";
    if (not (ascend row)) || List.exists (fun cut -> Q.equal (Text.value poly [ cut ]) Q.zero) row then
      rejected "a factor vanishes at a cut, or the cuts do not ascend";
    let shown =
      if Text.Monomials.is_empty poly then List.for_all (fun (b : C.brk) -> b.brk_of <> k) breaks
      else List.mem k used || C.roots_known factors start stop breaks cuts k
    in
    if not shown then rejected "it is not shown that the breaks are all roots"
  in
  Array.iteri check_factor parsed;
  match C.check_line factors start stop breaks cuts claims constraints with
  | None -> rejected "it is not shown that the breaks are all roots, or a product is another polynomial"
  | Some statuses ->
      let parts = joined (pieces (not range.open_low, not range.open_high) statuses) in
      let wanted = List.map (fun part -> canonical (written part)) parts in
      let stated = items_of (field "parts" document) in
      let check k part =
        if List.nth_opt wanted k <> Some (canonical part) then
          misformed ~path:[ Key "parts"; Place k ] "not what the signs of the claims show"
      in
      List.iteri check stated;
      if List.length stated <> List.length wanted then rejected "there are fewer parts than the signs of the claims show";
      let between = List.map (fun entry -> List.map string_of (items_of (field "between" entry))) (items_of (field "breaks" document)) in
      let texts = List.map string_of (items_of (field "factors" document)) in
      let place k =
        if k = 0 then Q.to_string range.low
        else if k > List.length breaks then Q.to_string range.high
        else
          match List.map Text.number (List.nth between (k - 1)) with
          | [ low; high ] when Q.equal low high -> Q.to_string low
          | [ low; high ] ->
              let factor = List.nth texts (List.nth breaks (k - 1)).brk_of in
              let cut = if String.length factor > 100 then String.sub factor 0 100 else factor in
              Printf.sprintf "the root of %s between %s and %s" (plain ~most:100 cut) (Q.to_string low) (Q.to_string high)
          | _ -> invalid_arg "between"
      in
      let told { status; ends = first, last; closed = left, right } =
        let sign closed = if closed then "<=" else "<" in
        if first = last then Printf.sprintf "%s = %s: %s" name (place first) (in_words status)
        else Printf.sprintf "%s %s %s %s %s: %s" (place first) (sign left) name (sign right) (place last) (in_words status)
      in
      List.map told parts
