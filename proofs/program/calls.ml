(* Calls of the functions that are extracted from Coq. With a file, each call is written to it with its answer, so that
   Coq can be asked the same: see tests/tools/asked_in_coq.py. Without one nothing is done besides. *)

open Extracted

(* Values as OCaml keeps them, as whole numbers: a constructor with arguments is minus its number, from -1, and all
   else is itself. Who reads this has to know the type. Raises Invalid_argument for a function. *)
let rec write out value =
  if Obj.is_int value then output_string out (" " ^ string_of_int (Obj.obj value))
  else if Obj.tag value = Obj.custom_tag then output_string out (" " ^ Big_int_Z.string_of_big_int (Obj.obj value))
  else if Obj.tag value >= Obj.lazy_tag then invalid_arg "a function cannot be written"
  else begin
    output_string out (" " ^ string_of_int (-1 - Obj.tag value));
    let last = Obj.size value - 1 in
    for k = 0 to last - 1 do write out (Obj.field value k) done;
    write out (Obj.field value last)
  end

let file : out_channel option ref = ref None
let is_inside = ref false  (* a function that is asked asks others *)

(* From now on calls are written. A line begins with the name of what is asked, and a point ends a document. *)
let write_to path = file := Some (open_out_bin path)
let end_of_document () = Option.iter (fun out -> output_string out ".\n"; flush out) !file

(* The types of answers. None of them is a function, so a call that lacks an argument has no type. *)
type _ answer =
  | Decision : bool answer
  | Number : int answer
  | Polynomial : qpoly answer
  | Weight : weight answer
  | Status : line_status answer
  | Part : (goal * part) answer
  | Pair : 'a answer * 'b answer -> ('a * 'b) answer
  | Perhaps : 'a answer -> 'a option answer
  | Each : 'a answer -> 'a list answer

let weights = Each (Pair (Number, Weight))  (* by state *)

(* An argument, and what is written of it after the call. *)
type 'a argument = { value : 'a; seen : (unit -> Obj.t) option }

(* A function as an argument: what it said when it was asked. *)
let remembered f =
  match !file with
  | None -> { value = f; seen = None }
  | Some _ ->
      let said = ref [] in
      let value x =
        let y = f x in
        said := (x, y) :: !said;
        y
      in
      { value; seen = Some (fun () -> Obj.repr !said) }

(* In Coq `proves` is the check of a claim without lemmas, so nothing is written of it. *)
let unwritten value = { value; seen = None }
let ( ! ) value = { value; seen = Some (fun () -> Obj.repr value) }

(* All arguments of a function. What is written is what the function is called with. *)
type (_, 'r) arguments =
  | [] : ('r, 'r) arguments
  | ( :: ) : 'a argument * ('f, 'r) arguments -> ('a -> 'f, 'r) arguments

let rec call : type f r. f -> (f, r) arguments -> r =
 fun f arguments -> match arguments with [] -> f | first :: rest -> call (f first.value) rest

let rec write_all : type f r. out_channel -> (f, r) arguments -> unit =
 fun out arguments ->
  match arguments with
  | [] -> ()
  | first :: rest -> Option.iter (fun seen -> write out (seen ())) first.seen; write_all out rest

let asked : type f r. string -> r answer -> f -> (f, r) arguments -> r =
 fun name _ f arguments ->
  match file.contents with
  | Some out when not is_inside.contents ->
      is_inside := true;
      let answer = Fun.protect ~finally:(fun () -> is_inside := false) (fun () -> call f arguments) in
      output_string out name;
      write_all out arguments;
      write out (Obj.repr answer);
      output_string out "\n";
      answer
  | _ -> call f arguments
