(* A pair of inputs of noisy max that has the largest ratio of all neighbours; paramverify/kernel/worst_pair_evidence.py looks
   at the same inputs. The function that accepts is extracted from Coq. That its data are those of the document is
   trusted; the ratio of the pair, which is computed here, is not. *)

open Faults
open Json
module C = Checker

let max_leaves = Z.of_int 500_000  (* multisets of neighbouring answers that are looked at *)

let reach by most =
  let size = String.length by in
  if by = "any" then most
  else if size >= 1 && size <= 9 && Shapes.all_from 0 is_digit by && by.[0] <> '0' then min (int_of_string by) most
  else misformed ~path:[ Key "by" ] "must be 'any' or the digits of a positive whole number"

(* The probability that an answer is released: the power of a term is how many others are equal to it. *)
let probability noise uniform given o =
  let sum row count = List.fold_left Q.add Q.zero (List.filteri (fun k _ -> k < count) row) in
  let row f = List.nth noise f in
  let won v =
    let lose found (k, f) =
      let less = sum (row f) v and equal = List.nth (row f) v in
      let less, equal =
        if k = o then (Q.one, Q.zero)
        else if uniform then (less, equal)
        else ((if k > o then Q.add less equal else less), Q.zero)
      in
      List.map2 (fun a b -> Q.add (Q.mul less a) (Q.mul equal b)) (found @ [ Q.zero ]) (Q.zero :: found)
    in
    let tied = List.fold_left lose [ Q.one ] (List.mapi (fun k f -> (k, f)) given) in
    let shares = List.mapi (fun k c -> Q.div c (Q.of_int (k + 1))) tied in
    Q.mul (List.nth (row (List.nth given o)) v) (List.fold_left Q.add Q.zero shares)
  in
  List.fold_left (fun total v -> Q.add total (won v)) Q.zero (List.init (List.length noise) Fun.id)

(* How many multisets of some size there are. *)
let multisets kinds size =
  let rec from k found =
    if k > size || Z.gt found max_leaves then found
    else from (k + 1) (Z.divexact (Z.mul found (Z.of_int (kinds + k - 1))) (Z.of_int k))
  in
  if kinds = 0 then Z.one else from 1 Z.one

let check_size values n step uniform one =
  let near =
    let count f = min (values - 1) (f + step) - max 0 (f - step) + 1 in
    List.fold_left (fun total f -> total + count f) 0 (List.init values Fun.id)
  in
  let groups o = if uniform then [ n - 1 ] else [ o; n - 1 - o ] in
  let at kinds o = List.fold_left (fun found size -> Z.mul found (multisets kinds size)) Z.one (groups o) in
  let leaves o = if one then Z.mul (at values o) (Z.of_int (2 * near)) else at near o in
  let outputs = if uniform then [ 0 ] else List.init n Fun.id in
  if Z.gt (List.fold_left (fun total o -> Z.add total (leaves o)) Z.zero outputs) max_leaves then
    unknown "a pair that stands for so many others is not known to the proved checker"

(* Raises Rejected where it is not shown, and Unknown where that is not known. *)
let prove document =
  let numbers row = List.map (fun written -> Text.number (string_of written)) (items_of row) in
  let noise = List.map numbers (items_of (field "noise" document)) in
  let values = List.length noise and n = int_of (field "answers" document) in
  let uniform = field "ties" document = String "uniform" and one = field "differ" document = String "one" in
  let input name = List.map int_of (items_of (field name document)) in
  let left = input "left" and right = input "right" in
  let no_distribution row =
    List.length row <> values || List.exists (fun x -> Q.sign x < 0) row
    || not (Q.equal (List.fold_left Q.add Q.zero row) Q.one)
  in
  if List.exists no_distribution noise then rejected "the noise is no distribution";
  let step = reach (string_of (field "by" document)) values in
  let known given = List.length given = n && List.for_all (fun f -> 0 <= f && f < values) given in
  if not (known left && known right) then rejected "the pair is no pair of neighbouring inputs";
  let changes = List.filter (fun change -> change > 0) (List.map2 (fun a b -> abs (a - b)) left right) in
  if List.exists (fun change -> change > step) changes || (one && List.length changes > 1) then
    rejected "the pair is no pair of neighbouring inputs";
  if n = 0 && uniform then rejected "there are no answers";
  check_size values n step uniform one;
  let ratio found o =
    let a = probability noise uniform left o and b = probability noise uniform right o in
    if (Q.sign a = 0) <> (Q.sign b = 0) then rejected "the ratio is not finite";
    if Q.sign a = 0 then found else Q.max found (Q.max (Q.div a b) (Q.div b a))
  in
  let best = List.fold_left ratio Q.one (List.init n Fun.id) in
  let common = List.fold_left (List.fold_left (fun scale x -> Z.lcm scale (Q.den x))) Z.one noise in
  let shared = List.fold_left (fun found k -> Z.lcm found (Z.of_int (k + 1))) Z.one (List.init n Fun.id) in
  let about =
    {
      C.noise = List.map (List.map (fun x -> Z.mul (Q.num x) (Z.divexact common (Q.den x)))) noise;
      noise_mass = common;
      answers = n;
      uniform_ties = uniform;
      one_differs = one;
      by_at_most = step;
      left_input = left;
      right_input = right;
      best_top = Q.num best;
      best_bottom = Q.den best;
      shares = List.init n (fun k -> Z.divexact shared (Z.of_int (k + 1)));
      shared;
    }
  in
  if not (C.check_standing about) then rejected "some neighbours have a larger ratio"
