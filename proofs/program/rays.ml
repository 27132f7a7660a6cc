(* Cones of a few dimensions: extreme rays, and certificates for theories/Coverings.v that they span the cone. Nothing
   rests on what is computed here: the proved checker accepts no wrong certificate. *)

open Faults
module C = Checker

let position x list =
  let rec from k = function [] -> None | first :: rest -> if first = x then Some k else from (k + 1) rest in
  from 0 list

let unit n k = List.init n (fun j -> if j = k then Z.one else Z.zero)
let dot left right = List.fold_left2 (fun total x y -> Z.add total (Z.mul x y)) Z.zero left right
let is_zero q = Q.sign q = 0
let rationals row = Array.of_list (List.map Q.of_bigint row)
let minus_times factor row other = Array.mapi (fun k x -> Q.sub x (Q.mul factor other.(k))) row

(* Reduces rows of numbers one after the other; returns reduced rows with the places of their leading ones. *)
let reduced rows =
  let one found row =
    let row = List.fold_left (fun row (other, pivot) -> minus_times row.(pivot) row other) row found in
    let size = Array.length row in
    let rec leading k = if k = size then None else if is_zero row.(k) then leading (k + 1) else Some k in
    match leading 0 with
    | None -> found
    | Some pivot ->
        let row = Array.map (fun x -> Q.div x row.(pivot)) row in
        List.map (fun (other, place) -> (minus_times other.(pivot) other row, place)) found @ [ (row, pivot) ]
  in
  List.fold_left one [] rows

(* A basis of the vectors on which all rows vanish. *)
let kernel rows size =
  let found = reduced rows in
  let free = List.filter (fun k -> not (List.exists (fun (_, pivot) -> pivot = k) found)) (List.init size Fun.id) in
  let line k =
    let entries = Array.init size (fun j -> if j = k then Q.one else Q.zero) in
    List.iter (fun (row, pivot) -> entries.(pivot) <- Q.neg row.(k)) found;
    entries
  in
  List.map line free

let whole_row entries =
  let scale = Array.fold_left (fun scale x -> Z.lcm scale (Q.den x)) Z.one entries in
  let found = Array.to_list (Array.map (fun x -> Z.mul (Q.num x) (Z.divexact scale (Q.den x))) entries) in
  let divisor = List.fold_left Z.gcd Z.zero found in
  if Z.equal divisor Z.zero then found else List.map (fun x -> Z.divexact x divisor) found

(* All choices of some elements, in their order. *)
let rec choices count list =
  match (count, list) with
  | 0, _ -> [ [] ]
  | _, [] -> []
  | _, first :: rest -> List.map (fun chosen -> first :: chosen) (choices (count - 1) rest) @ choices count rest

(* The extreme rays of the cone where no normal has a negative product. *)
let extreme normals size =
  if size = 0 then []
  else begin
    let rows = List.map (fun normal -> (normal, rationals normal)) normals in
    if kernel (List.map snd rows) size <> [] then rejected "the cone is too large, or contains a line";
    let one found chosen =
      match kernel (List.map snd chosen) size with
      | [ line ] ->
          let line = whole_row line in
          let inside ray = List.for_all (fun normal -> Z.sign (dot normal ray) >= 0) normals in
          let rays = List.filter inside [ line; List.map Z.neg line ] in
          List.fold_left (fun found ray -> if List.mem ray found then found else ray :: found) found rays
      | _ -> found
    in
    List.rev (List.fold_left one [] (choices (size - 1) rows))
  end

(* Weights of vectors that are linearly independent, with the target as their sum. *)
let solve vectors target =
  let count = List.length vectors in
  let row k = Array.of_list (List.map (fun v -> Q.of_bigint (List.nth v k)) vectors @ [ Q.of_bigint (List.nth target k) ]) in
  let found = reduced (List.init (List.length target) row) in
  if List.exists (fun (_, pivot) -> pivot = count) found || List.length found < count then None
  else
    let value k = List.find (fun (_, pivot) -> pivot = k) found in
    Some (List.init count (fun k -> (fst (value k)).(count)))

let independent vectors =
  let one (kept, rows) v =
    let more = rows @ [ rationals v ] in
    if List.length (reduced more) > List.length rows then (kept @ [ v ], more) else (kept, rows)
  in
  fst (List.fold_left one ([], []) vectors)

(* Sums of normals with weights that are at least zero, and of equalities, that are a target. *)
let weights target normals equalities =
  let fixed = independent equalities in
  let size = List.length target in
  let numbered = List.mapi (fun k normal -> (k, normal)) normals in
  let rec first = function
    | [] -> rejected "the cone is not that of its rays"
    | chosen :: rest -> (
        match solve (fixed @ List.map snd chosen) target with
        | Some found when List.for_all (fun x -> Q.sign x >= 0) (List.filteri (fun k _ -> k >= List.length fixed) found) ->
            let of_equality e = match position e fixed with Some k -> List.nth found k | None -> Q.zero in
            let of_normal k =
              match position k (List.map fst chosen) with
              | Some place -> List.nth found (List.length fixed + place)
              | None -> Q.zero
            in
            (List.mapi (fun k _ -> of_normal k) normals, equalities, of_equality)
        | _ -> first rest)
  in
  let ls, es, of_equality = first (choices (max 0 (size - List.length fixed)) numbered) in
  (* An equality that is there twice has its weight once. *)
  let once (seen, found) e = if List.mem e seen then (seen, found @ [ Q.zero ]) else (e :: seen, found @ [ of_equality e ]) in
  (ls, snd (List.fold_left once ([], []) es))

let zero size normals equalities : C.covering =
  let side sign =
    List.init size (fun k -> weights (List.map (fun x -> Z.mul sign x) (unit size k)) normals equalities)
  in
  let sides = [ side Z.one; side Z.minus_one ] in
  let all = List.concat_map (List.concat_map (fun (a, b) -> a @ b)) sides in
  let scale = List.fold_left (fun scale x -> Z.lcm scale (Q.den x)) Z.one all in
  let whole x = Z.mul (Q.num x) (Z.divexact scale (Q.den x)) in
  let rows side = List.map (fun (a, b) -> (List.map whole a, List.map whole b)) side in
  match sides with [ at_least; at_most ] -> C.Point_zero (scale, rows at_least, rows at_most) | _ -> invalid_arg "sides"

(* One goes against a ray until an inequality becomes an equality; what is left lies in a face. *)
let rec covering size normals rays equalities : C.covering =
  match List.find_opt (fun ray -> List.for_all (fun e -> Z.sign (dot e ray) = 0) equalities) rays with
  | None -> zero size normals equalities
  | Some ray ->
      let faces = List.filter (fun normal -> Z.sign (dot normal ray) > 0) normals in
      C.Along (ray, List.map (fun normal -> covering size normals rays (normal :: equalities)) faces)
