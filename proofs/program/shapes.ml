(* The forms of values: a shape returns nothing, or raises Misformed with the reason and the way to the place. *)

open Faults
open Json

type shape = Json.t -> unit

let text : shape = function String _ -> () | other -> misformed ("must be a string, not " ^ kind other)
let whole : shape = function Int _ -> () | other -> misformed ("must be a whole number, not " ^ kind other)
let flag : shape = function Bool _ -> () | other -> misformed ("must be true or false, not " ^ kind other)

let all_from start predicate s =
  let rec from i = i >= String.length s || (predicate s.[i] && from (i + 1)) in
  from start

(* An exact rational such as -3/2: digits, and behind a slash digits that are not all zero. *)
let is_rational s =
  let digits s = s <> "" && all_from 0 is_digit s in
  let body = if s <> "" && s.[0] = '-' then String.sub s 1 (String.length s - 1) else s in
  match String.index_opt body '/' with
  | None -> digits body
  | Some k ->
      let bottom = String.sub body (k + 1) (String.length body - k - 1) in
      digits (String.sub body 0 k) && digits bottom && not (all_from 0 (fun c -> c = '0') bottom)

let is_unsigned s = is_rational s && s.[0] <> '-'

let rational value =
  text value;
  let s = string_of value in
  if not (is_rational s) then misformed ("must be a number such as '-3/2', not " ^ quoted s)

(* A rational that is computed with again and again. *)
let short value =
  let most = 2_000 and s = rational value; string_of value in
  let unsigned = if s.[0] = '-' then String.sub s 1 (String.length s - 1) else s in
  if List.exists (fun part -> String.length part > most) (String.split_on_char '/' unsigned) then
    misformed (quoted s ^ " has more digits than the limit, 2,000")

(* A whole number in digits, as the key of an object. *)
let index name =
  let long = String.length name > max_whole in
  if name = "" || long || not (all_from 0 is_digit name) || (name.[0] = '0' && name <> "0") then
    misformed ("must be the digits of a whole number, not " ^ quoted name)

let one_of words : shape = function
  | String s when List.mem s words -> ()
  | other -> misformed ("must be " ^ String.concat " or " (List.map quoted words) ^ ", not " ^ kind other)

let number wanted : shape = function
  | Int found when List.mem found wanted -> ()
  | other -> misformed ("must be " ^ String.concat " or " (List.map string_of_int wanted) ^ ", not " ^ kind other)

let maybe shape : shape = function Null -> () | value -> shape value

let listed shape : shape = function
  | List items -> List.iteri (fun k item -> inside (Place k) shape item) items
  | other -> misformed ("must be a list, not " ^ kind other)

(* Different strings, so that a name is that of one thing. *)
let names : shape = fun value ->
  listed text value;
  let seen = Hashtbl.create 64 in
  let one k = function
    | String name when Hashtbl.mem seen name -> misformed ~path:[ Place k ] ("the name " ^ quoted name ^ " is there twice")
    | String name -> Hashtbl.add seen name ()
    | _ -> ()
  in
  match value with List items -> List.iteri one items | _ -> ()

let row shapes : shape = function
  | List items when List.length items = List.length shapes ->
      List.iteri (fun k (shape, item) -> inside (Place k) shape item) (List.combine shapes items)
  | other -> misformed (Printf.sprintf "must be a list of %d, not %s" (List.length shapes) (kind other))

let members = function Object items -> items | other -> misformed ("must be an object, not " ^ kind other)

let table ?(key = fun _ -> ()) shape : shape =
  let each (name, item) = inside (Key name) key name; inside (Key name) shape item in
  fun value -> List.iter each (members value)

let record ?(optional = []) required : shape =
 fun value ->
  let items = members value in
  let missing (name, _) = not (List.mem_assoc name items) in
  (match List.find_opt missing required with
  | Some (name, _) -> misformed ("the key " ^ quoted name ^ " is missing")
  | None -> ());
  let inner (name, item) =
    match List.assoc_opt name required with
    | Some shape -> inside (Key name) shape item
    | None -> (
        match List.assoc_opt name optional with
        | Some shape -> inside (Key name) shape item
        | None -> misformed ~path:[ Key name ] "this key is not known")
  in
  List.iter inner items

(* An object whose kind says which keys it must have, and which it may have. *)
let kinds ?(key = "kind") those : shape =
 fun value ->
  match List.assoc_opt key (members value) with
  | Some (String kind) when List.mem_assoc kind those ->
      let required, optional = List.assoc kind those in
      record ~optional ((key, text) :: required) value
  | Some other -> misformed ~path:[ Key key ] ("not known: " ^ Json.kind other)
  | None -> misformed ~path:[ Key key ] "not known: None"

let tagged_row kinds : shape = function
  | List (String kind :: _) as value when List.mem_assoc kind kinds -> row (text :: List.assoc kind kinds) value
  | List (first :: _) -> misformed ~path:[ Place 0 ] ("not known: " ^ kind first)
  | other -> misformed ("must be a list with entries, not " ^ kind other)

(* A value whose JSON type says which of some shapes it has. *)
let by_type ?strings ?objects ?lists ?numbers () : shape =
 fun value ->
  let found =
    match value with
    | String _ -> strings
    | Object _ -> objects
    | List _ -> lists
    | Int _ -> numbers
    | Null | Bool _ | Fault _ -> None
  in
  match found with Some shape -> shape value | None -> misformed ("of another type: " ^ kind value)

let natural value =
  whole value;
  if int_of value < 0 then misformed ("must not be negative: " ^ kind value)
