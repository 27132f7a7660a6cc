(* paramverify-check EVIDENCE: checks a document of evidence; the replay of proofs is extracted from Coq. *)

open Faults
open Ledgers
open Documents

let usage =
  "usage: paramverify-check EVIDENCE\n\
  \       paramverify-check --json EVIDENCE ...\n\
  \       paramverify-check --asked FILE --json EVIDENCE ...\n\n\
   Checks a document of evidence. The function that replays proofs is proved correct in Coq.\n\
   --asked writes what is asked of the proved functions to FILE, so that Coq can be asked the same.\n\
   EVIDENCE may be - for standard input. What this program does not know it says, and accepts nothing then.\n\n\
   Exit codes: 0 accepted, 1 rejected, 2 there is no such evidence, or it cannot be read, 3 not known,\n\
   74 the output could not be written."

let read_all channel =
  let buffer = Buffer.create 65536 in
  let chunk = Bytes.create 65536 in
  let rec more () =
    let count = input channel chunk 0 (Bytes.length chunk) in
    if count > 0 then (Buffer.add_subbytes buffer chunk 0 count; more ())
  in
  more ();
  Buffer.contents buffer

let contents path =
  set_binary_mode_in stdin true;
  let text =
    if path = "-" then read_all stdin
    else begin
      if Sys.file_exists path && Sys.is_directory path then raise (No_evidence "is a folder: give the file that holds the evidence");
      let channel = open_in_bin path in
      Fun.protect ~finally:(fun () -> close_in channel) (fun () -> read_all channel)
    end
  in
  let mark = "\xEF\xBB\xBF" in
  let text = if String.starts_with ~prefix:mark text then String.sub text 3 (String.length text - 3) else text in
  if not (Json.is_utf8 text) then raise (No_evidence "not UTF-8 text");
  text

let unit_of report =
  match report.kind with
  | "cells" -> "cell"
  | "line" -> "part"
  | "formulas" -> "formula"
  | _ -> "claim"

let counts report =
  let names = if report.solvers = [] then "" else " (" ^ String.concat ", " (List.map quoted report.solvers) ^ ")" in
  Printf.sprintf "%s proved, %d trusted to solvers%s, %d open" (counted report.proved (unit_of report)) report.trusted names report.still_open

let verdict report =
  match report.answer with
  | Accepted -> "accepted: " ^ counts report
  | Rejected_it -> "REJECTED: " ^ counts report
  | Not_known -> "NOT KNOWN: " ^ String.concat "; " (List.sort_uniq compare report.not_known)

let word = function Accepted -> "accepted" | Rejected_it -> "rejected" | Not_known -> "not known"
let code = function Accepted -> 0 | Rejected_it -> 1 | Not_known -> 3

let as_json report =
  let texts items = Json.List (List.map (fun item -> Json.String item) items) in
  Json.Object
    [
      ("answer", String (word report.answer));
      ("kind", String report.kind);
      ("status", String report.status);
      ("proved", Int report.proved);
      ("trusted", Int report.trusted);
      ("open", Int report.still_open);
      ("solvers", texts report.solvers);
      ("side_condition", String report.side_condition);
      ("not_known", texts report.not_known);
      ("lines", texts report.lines);
    ]

let answer path =
  match check_text (contents path) with
  | report -> Ok report
  | exception No_evidence reason -> Error (2, "error: " ^ path ^ ": " ^ reason)
  | exception Sys_error reason -> Error (2, "error: " ^ reason)
  | exception Stack_overflow -> Error (3, "undecided: " ^ path ^ ": too deep for the stack")
  | exception (Invalid_argument reason | Failure reason) -> Error (3, "undecided: " ^ path ^ ": " ^ reason)
  | exception Not_found -> Error (3, "undecided: " ^ path ^ ": a part is missing")
  | exception Out_of_memory -> Error (3, "undecided: " ^ path ^ ": there is not enough memory")
  | exception error -> Error (3, "undecided: " ^ path ^ ": a defect of this program: " ^ Printexc.to_string error)

let tell path =
  match answer path with
  | Ok report ->
      List.iter print_endline (report.lines @ [ verdict report ]);
      code report.answer
  | Error (code, reason) -> prerr_endline reason; code

let tell_as_json path =
  let found = answer path in
  Calls.end_of_document ();
  match found with
  | Ok report ->
      print_endline (Json.written (as_json report));
      code report.answer
  | Error (code, reason) ->
      print_endline (Json.written (Object [ ("error", String reason); ("code", Int code) ]));
      prerr_endline reason;
      code

let is_path word = word = "-" || not (String.starts_with ~prefix:"-" word)

let rec run = function
  | "--asked" :: path :: ("--json" :: _ as rest) -> Calls.write_to path; run rest
  | [ ("--help" | "-h") ] -> print_endline usage
  | "--json" :: (_ :: _ as paths) -> exit (List.fold_left max 0 (List.map tell_as_json paths))
  | [ path ] when is_path path -> exit (tell path)
  | _ -> prerr_endline usage; exit 2

let () =
  try run (List.tl (Array.to_list Sys.argv))
  with Sys_error reason ->
    (try prerr_endline ("error: output: " ^ reason) with Sys_error _ -> ());
    List.iter close_out_noerr [ stdout; stderr ]; (* or `exit` would try again, and end with 2 *)
    exit 74
