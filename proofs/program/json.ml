(* Reads JSON strictly: no key twice, whole numbers of at most 18 characters only, bounded nesting, and no half of a
   character. What is not JSON at all is told apart from what is not accepted. *)

open Faults

type t =
  | Null
  | Bool of bool
  | Int of int
  | String of string
  | List of t list
  | Object of (string * t) list
  | Fault of string  (* stands for something that is not accepted: the reason *)

exception Not_json of string

let max_nesting = 200
let max_whole = 18
let deepest = 10_000  (* what is nested deeper is not even read *)

let kind = function
  | Null -> "null"
  | Bool b -> if b then "True" else "False"
  | Int n -> string_of_int n
  | String s -> quoted s
  | List _ -> "a list"
  | Object _ -> "an object"
  | Fault _ -> "something else"

(* --- characters ------------------------------------------------------------------------------------ *)

(* Tells whether bytes are UTF-8: no half of a character, nothing written longer than it is. *)
let is_utf8 text =
  let size = String.length text in
  let byte i = if i < size then Char.code text.[i] else 0 in
  let follows i = byte i land 0xC0 = 0x80 in
  let rec from i =
    if i >= size then true
    else
      let b = byte i in
      if b < 0x80 then from (i + 1)
      else if b >= 0xC2 && b <= 0xDF then follows (i + 1) && from (i + 2)
      else if b >= 0xE0 && b <= 0xEF then
        let second = byte (i + 1) in
        follows (i + 1) && follows (i + 2)
        && (b <> 0xE0 || second >= 0xA0)
        && (b <> 0xED || second <= 0x9F)
        && from (i + 3)
      else if b >= 0xF0 && b <= 0xF4 then
        let second = byte (i + 1) in
        follows (i + 1) && follows (i + 2) && follows (i + 3)
        && (b <> 0xF0 || second >= 0x90)
        && (b <> 0xF4 || second <= 0x8F)
        && from (i + 4)
      else false
  in
  from 0

(* Writes a code point; halves of characters too, which is_utf8 then refuses. *)
let add_code buffer code =
  let add b = Buffer.add_char buffer (Char.chr b) in
  let tail shift = add (0x80 lor ((code lsr shift) land 0x3F)) in
  if code < 0x80 then add code
  else if code < 0x800 then (add (0xC0 lor (code lsr 6)); tail 0)
  else if code < 0x10000 then (add (0xE0 lor (code lsr 12)); tail 6; tail 0)
  else (add (0xF0 lor (code lsr 18)); tail 12; tail 6; tail 0)

(* --- the grammar ----------------------------------------------------------------------------------- *)

let is_digit c = c >= '0' && c <= '9'

let repeated_key items =
  let seen = Hashtbl.create 16 in
  let again (name, _) = Hashtbl.mem seen name || (Hashtbl.add seen name (); false) in
  List.find_opt again items

(* Returns the data of a JSON text, with faults in the place of what is not accepted. *)
let parse text =
  let size = String.length text in
  let fail at = raise (Not_json (Printf.sprintf "not JSON: at byte %d" at)) in
  let peek i = if i < size then text.[i] else '\000' in
  let rec blank i = match peek i with ' ' | '\t' | '\n' | '\r' when i < size -> blank (i + 1) | _ -> i in
  let word i expected value =
    let n = String.length expected in
    if i + n <= size && String.sub text i n = expected then Some (value, i + n) else None
  in
  let hex i =
    let digit k =
      match peek k with
      | '0' .. '9' as c -> Char.code c - 48
      | 'a' .. 'f' as c -> Char.code c - 87
      | 'A' .. 'F' as c -> Char.code c - 55
      | _ -> fail k
    in
    (digit i lsl 12) lor (digit (i + 1) lsl 8) lor (digit (i + 2) lsl 4) lor digit (i + 3)
  in
  let high code = code >= 0xD800 && code <= 0xDBFF and low code = code >= 0xDC00 && code <= 0xDFFF in
  let characters start =
    let buffer = Buffer.create 32 in
    let rec plain i =
      if i >= size then fail start
      else match text.[i] with '"' | '\\' -> i | c when Char.code c < 0x20 -> fail i | _ -> plain (i + 1)
    in
    let rec from i =
      let last = plain i in
      Buffer.add_substring buffer text i (last - i);
      if text.[last] = '"' then last + 1 else escape (last + 1)
    and escape i =
      let simple c = Buffer.add_char buffer c; from (i + 1) in
      match peek i with
      | ('"' | '\\' | '/') as c when i < size -> simple c
      | 'b' -> simple '\b'
      | 'f' -> simple '\012'
      | 'n' -> simple '\n'
      | 'r' -> simple '\r'
      | 't' -> simple '\t'
      | 'u' ->
          let code = hex (i + 1) in
          if high code && peek (i + 5) = '\\' && peek (i + 6) = 'u' && low (hex (i + 7)) then begin
            add_code buffer (0x10000 + ((code - 0xD800) lsl 10) + (hex (i + 7) - 0xDC00));
            from (i + 11)
          end
          else (add_code buffer code; from (i + 5))
      | _ -> fail i
    in
    let after = from start in
    (Buffer.contents buffer, after)
  in
  let number start =
    let rec digits i = if is_digit (peek i) then digits (i + 1) else i in
    let first = if peek start = '-' then start + 1 else start in
    if not (is_digit (peek first)) then fail start;
    let whole = if peek first = '0' then first + 1 else digits first in
    let fraction = if peek whole = '.' && is_digit (peek (whole + 1)) then digits (whole + 1) else whole in
    let after =
      match peek fraction with
      | 'e' | 'E' ->
          let sign = match peek (fraction + 1) with '+' | '-' -> fraction + 2 | _ -> fraction + 1 in
          if is_digit (peek sign) then digits sign else fraction
      | _ -> fraction
    in
    let shown = String.sub text start (after - start) in
    if after > whole then (Fault (quoted shown ^ " is not accepted: numbers are whole, or strings such as '1/2'"), after)
    else if after - start <= max_whole then (Int (int_of_string shown), after)
    else (Fault ("the number " ^ quoted shown ^ " is too long"), after)
  in
  let rec value depth i =
    if depth > deepest then raise (Rejected (Printf.sprintf "nested deeper than %d levels" max_nesting));
    match peek i with
    | '"' -> let s, after = characters (i + 1) in (String s, after)
    | '[' -> list depth [] (blank (i + 1))
    | '{' -> members depth [] (blank (i + 1))
    | _ -> (
        let known = [ ("null", Null); ("true", Bool true); ("false", Bool false) ] in
        let odd = [ "NaN"; "Infinity"; "-Infinity" ] in
        let faults = List.map (fun w -> (w, Fault (quoted w ^ " is not accepted: numbers are whole, or strings such as '1/2'"))) odd in
        match List.find_map (fun (w, v) -> word i w v) (known @ faults) with Some found -> found | None -> number i)
  and list depth items i =
    if items = [] && peek i = ']' then (List [], i + 1)
    else
      let item, after = value (depth + 1) i in
      let after = blank after in
      match peek after with
      | ',' -> list depth (item :: items) (blank (after + 1))
      | ']' -> (List (List.rev (item :: items)), after + 1)
      | _ -> fail after
  and members depth items i =
    if items = [] && peek i = '}' then (Object [], i + 1)
    else begin
      if peek i <> '"' then fail i;
      let name, after = characters (i + 1) in
      let after = blank after in
      if peek after <> ':' then fail after;
      let item, after = value (depth + 1) (blank (after + 1)) in
      let after = blank after in
      match peek after with
      | ',' -> members depth ((name, item) :: items) (blank (after + 1))
      | '}' -> (Object (List.rev ((name, item) :: items)), after + 1)
      | _ -> fail after
    end
  in
  let data, after = value 0 (blank 0) in
  if blank after < size then fail (blank after);
  data

(* --- what is accepted ------------------------------------------------------------------------------ *)

let check_text text path =
  if not (is_utf8 text) then raise (Misformed ("not a text: half of a character", List.rev path))

(* Raises Misformed for the first thing that is not accepted. *)
let rec walk depth path data =
  let here () = List.rev path in
  if depth > max_nesting then
    raise (Misformed (Printf.sprintf "nested deeper than %d levels" max_nesting, here ()));
  match data with
  | Fault reason -> raise (Misformed (reason, here ()))
  | String text -> check_text text path
  | List items ->
      List.iteri (fun k item -> match item with Int _ | Bool _ -> () | _ -> walk (depth + 1) (Place k :: path) item) items
  | Object items -> (
      (match repeated_key items with
      | Some (name, _) -> raise (Misformed ("the key " ^ quoted name ^ " is there twice", here ()))
      | None -> ());
      let inner (name, item) =
        check_text name path;
        match item with Int _ | Bool _ -> () | _ -> walk (depth + 1) (Key name :: path) item
      in
      List.iter inner items)
  | Null | Bool _ | Int _ -> ()

(* Returns the data of a JSON text.
   Raises Not_json where it is none, Rejected or Misformed where it is not accepted. *)
let read text =
  let data = parse text in
  walk 0 [] data;
  data

let fields = function Object items -> items | _ -> invalid_arg "not an object"
let field name data = List.assoc name (fields data)
let field_opt name data = List.assoc_opt name (fields data)
let string_of = function String s -> s | _ -> invalid_arg "not a string"
let int_of = function Int n -> n | _ -> invalid_arg "not a whole number"
let items_of = function List items -> items | _ -> invalid_arg "not a list"

(* The same data with the keys in order: two claims are the same iff these are equal. *)
let rec canonical = function
  | Object items ->
      let sorted = List.sort (fun (a, _) (b, _) -> compare a b) items in
      Object (List.map (fun (name, item) -> (name, canonical item)) sorted)
  | List items -> List (List.map canonical items)
  | data -> data

(* --- writing --------------------------------------------------------------------------------------- *)

let escaped text =
  let one c =
    match c with
    | '"' -> "\\\""
    | '\\' -> "\\\\"
    | c when Char.code c < 32 -> Printf.sprintf "\\u%04x" (Char.code c)
    | c -> String.make 1 c
  in
  "\"" ^ String.concat "" (List.map one (List.of_seq (String.to_seq text))) ^ "\""

let rec written = function
  | Null -> "null"
  | Bool b -> string_of_bool b
  | Int n -> string_of_int n
  | String s -> escaped s
  | List items -> "[" ^ String.concat ", " (List.map written items) ^ "]"
  | Object items ->
      "{" ^ String.concat ", " (List.map (fun (name, item) -> escaped name ^ ": " ^ written item) items) ^ "}"
  | Fault reason -> invalid_arg reason
