(* Why evidence is not accepted. *)

type step = Key of string | Place of int

(* The evidence does not prove what it claims. *)
exception Rejected of string

(* A part of a document is not of its form; the steps are the way to it. *)
exception Misformed of string * step list

(* The program does not know this: it is neither accepted nor rejected. *)
exception Unknown of string

(* A text is no evidence of any kind. *)
exception No_evidence of string

let rejected reason = raise (Rejected reason)
let misformed ?(path = []) reason = raise (Misformed (reason, path))
let unknown reason = raise (Unknown reason)

(* Runs a reader of a part, and puts the step to that part before the way to what is wrong in it. *)
let inside step reader value =
  try reader value with Misformed (reason, path) -> raise (Misformed (reason, step :: path))

let shown_length = 60

(* Text of a document for a terminal: shortened, without control characters. *)
let plain ?(most = shown_length) text =
  let cut = if String.length text <= most then text else String.sub text 0 most ^ "..." in
  let escaped c = if Char.code c < 32 || Char.code c = 127 then Printf.sprintf "\\x%02x" (Char.code c) else String.make 1 c in
  String.concat "" (List.map escaped (List.of_seq (String.to_seq cut)))

let quoted text = "'" ^ plain text ^ "'"

(* A number of things, such as 1,200 claims. *)
let counted count what =
  let digits = string_of_int count in
  let size = String.length digits in
  let grouped = List.init size (fun k -> (if k > 0 && (size - k) mod 3 = 0 then "," else "") ^ String.make 1 digits.[k]) in
  Printf.sprintf "%s %s%s" (String.concat "" grouped) what (if count = 1 then "" else "s")

let place path =
  let word = function Key name -> "." ^ plain name | Place k -> Printf.sprintf "[%d]" k in
  match String.concat "" (List.map word path) with
  | "" -> "the document"
  | text when text.[0] = '.' -> String.sub text 1 (String.length text - 1)
  | text -> text

let reason_of = function
  | Rejected reason -> reason
  | Misformed (reason, path) -> place path ^ ": " ^ reason
  | error -> raise error
