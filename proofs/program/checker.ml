(* The functions that are extracted from Coq. With a file, each call is written to it with its answer, so that Coq
   can be asked the same: see tests/tools/asked_in_coq.py. Without one nothing is done besides. What only helps to find
   a proof (`at_most`, `quotient`, `row`) is not written. *)

include Extracted

(* Values as OCaml keeps them, as whole numbers: a constructor with arguments is minus its number, from -1, and all
   else is itself. Who reads this has to know the type. *)
let rec write out value =
  if Obj.is_int value then output_string out (" " ^ string_of_int (Obj.obj value))
  else if Obj.tag value = Obj.custom_tag then output_string out (" " ^ Big_int_Z.string_of_big_int (Obj.obj value))
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

let asked name arguments run =
  match !file with
  | Some out when not !is_inside ->
      is_inside := true;
      let answer = Fun.protect ~finally:(fun () -> is_inside := false) run in
      output_string out name;
      List.iter (write out) (arguments ());
      write out (Obj.repr answer);
      output_string out "\n";
      answer
  | _ -> run ()

let ( ! ) = Obj.repr  (* of an argument *)

(* A function as an argument: what it said when it was asked. *)
let remembering f =
  let said = ref [] in
  let remembered x =
    let y = f x in
    said := (x, y) :: said.contents;
    y
  in
  (remembered, fun () -> Obj.repr said.contents)

let check depth lemmas g c = asked "check" (fun () -> [ !depth; !lemmas; !g; !c ]) (fun () -> check depth lemmas g c)
let refutes g v = asked "refutes" (fun () -> [ !g; !v ]) (fun () -> refutes g v)
let refutes_with_exp g v = asked "refutes_with_exp" (fun () -> [ !g; !v ]) (fun () -> refutes_with_exp g v)

let refutes_at_root g m a b p =
  asked "refutes_at_root" (fun () -> [ !g; !m; !a; !b; !p ]) (fun () -> refutes_at_root g m a b p)

let refutes_with_log g v b = asked "refutes_with_log" (fun () -> [ !g; !v; !b ]) (fun () -> refutes_with_log g v b)

let sign_with_log facts v b strict f =
  asked "sign_with_log" (fun () -> [ !facts; !v; !b; !strict; !f ]) (fun () -> sign_with_log facts v b strict f)

let check_excess lemmas g l t =
  asked "check_excess" (fun () -> [ !lemmas; !g; !l; !t ]) (fun () -> check_excess lemmas g l t)

let refutes_sum g l b v = asked "refutes_sum" (fun () -> [ !g; !l; !b; !v ]) (fun () -> refutes_sum g l b v)

let refutes_sum_with_exp g l b v =
  asked "refutes_sum_with_exp" (fun () -> [ !g; !l; !b; !v ]) (fun () -> refutes_sum_with_exp g l b v)

let check_cone find claims m c =
  let find, said = remembering find in
  asked "check_cone" (fun () -> [ said (); !claims; !m; !c ]) (fun () -> check_cone find claims m c)

let check_loop m l = asked "check_loop" (fun () -> [ !m; !l ]) (fun () -> check_loop m l)
let check_standing s = asked "check_standing" (fun () -> [ !s ]) (fun () -> check_standing s)

let stands find known s =
  let find, said = remembering find in
  let known, kept = remembering known in
  asked "stands" (fun () -> [ said (); kept (); !s ]) (fun () -> stands find known s)

(* In Coq `proves` is the check of a claim without lemmas, so nothing is written of it. *)
let check_region proves factors constant claims folds g t =
  asked "check_region"
    (fun () -> [ !factors; !constant; !claims; !folds; !g; !t ])
    (fun () -> check_region proves factors constant claims folds g t)

let symmetric claims g folds = asked "symmetric" (fun () -> [ !claims; !g; !folds ]) (fun () -> symmetric claims g folds)

let check_interactive proves g signs s visible data guarded groups initial reach ratio why =
  asked "check_interactive"
    (fun () -> [ !g; !signs; !s; !visible; !data; !guarded; !groups; !initial; !reach; !ratio; !why ])
    (fun () -> check_interactive proves g signs s visible data guarded groups initial reach ratio why)

let check_accepted s inputs start given loop pairs =
  asked "check_accepted"
    (fun () -> [ !s; !inputs; !start; !given; !loop; !pairs ])
    (fun () -> check_accepted s inputs start given loop pairs)

let check_growth g s data inputs visible groups initial left right loop more less =
  asked "check_growth"
    (fun () -> [ !g; !s; !data; !inputs; !visible; !groups; !initial; !left; !right; !loop; !more; !less ])
    (fun () -> check_growth g s data inputs visible groups initial left right loop more less)

let run_from s data inputs visible start given =
  asked "run_from"
    (fun () -> [ !s; !data; !inputs; !visible; !start; !given ])
    (fun () -> run_from s data inputs visible start given)

let check_formula proves g signs c near initial f where_false =
  asked "check_formula"
    (fun () -> [ !g; !signs; !c; !near; !initial; !f; !where_false ])
    (fun () -> check_formula proves g signs c near initial f where_false)

let check_choices proves g signs cs near initial ratio delta what =
  asked "check_choices"
    (fun () -> [ !g; !signs; !cs; !near; !initial; !ratio; !delta; !what ])
    (fun () -> check_choices proves g signs cs near initial ratio delta what)

let bound_path cs near g signs largest allowed p =
  asked "bound_path"
    (fun () -> [ !cs; !near; !g; !signs; !largest; !allowed; !p ])
    (fun () -> bound_path cs near g signs largest allowed p)

let check_violation g s data inputs visible groups initial ratio left right trace only =
  asked "check_violation"
    (fun () ->
      [ !g; !s; !data; !inputs; !visible; !groups; !initial; !ratio; !left; !right; !trace; !only ])
    (fun () -> check_violation g s data inputs visible groups initial ratio left right trace only)

let check_lower_bound proves g signs s data inputs visible groups initial left right trace only first second =
  asked "check_lower_bound"
    (fun () ->
      [ !g; !signs; !s; !data; !inputs; !visible; !groups; !initial; !left; !right; !trace; !only; !first; !second ])
    (fun () ->
      check_lower_bound proves g signs s data inputs visible groups initial left right trace only first second)

let same_value g signs v w = asked "same_value" (fun () -> [ !g; !signs; !v; !w ]) (fun () -> same_value g signs v w)
let same_weight v w = asked "same_weight" (fun () -> [ !v; !w ]) (fun () -> same_weight v w)
let added_up row = asked "added_up" (fun () -> [ !row ]) (fun () -> added_up row)
let ask g signs strict f = asked "ask" (fun () -> [ !g; !signs; !strict; !f ]) (fun () -> ask g signs strict f)

let with_values values f = asked "with_values" (fun () -> [ !values; !f ]) (fun () -> with_values values f)
let proportional f g = asked "proportional" (fun () -> [ !f; !g ]) (fun () -> proportional f g)

let closed_system s visible closures =
  asked "closed_system" (fun () -> [ !s; !visible; !closures ]) (fun () -> closed_system s visible closures)

let ends_of s visible closures state =
  asked "ends_of" (fun () -> [ !s; !visible; !closures; !state ]) (fun () -> ends_of s visible closures state)

let likely_weight s data inputs visible only start given trace =
  asked "likely_weight"
    (fun () -> [ !s; !data; !inputs; !visible; !only; !start; !given; !trace ])
    (fun () -> likely_weight s data inputs visible only start given trace)

let check_loss unit largest smallest guess nothing m b g ends c fs t l tree =
  let guess, said = remembering guess in
  asked "check_loss"
    (fun () ->
      [ !unit; !largest; !smallest; said (); !nothing; !m; !b; !g; !ends; !c; !fs; !t; !l; !tree ])
    (fun () -> check_loss unit largest smallest guess nothing m b g ends c fs t l tree)

let refutes_loss unit largest smallest guess m b g c point total sizes order =
  let guess, said = remembering guess in
  asked "refutes_loss"
    (fun () ->
      [ !unit; !largest; !smallest; said (); !m; !b; !g; !c; !point; !total; !sizes; !order ])
    (fun () -> refutes_loss unit largest smallest guess m b g c point total sizes order)

let check_line factors start stop breaks cuts claims constraints =
  asked "check_line"
    (fun () -> [ !factors; !start; !stop; !breaks; !cuts; !claims; !constraints ])
    (fun () -> check_line factors start stop breaks cuts claims constraints)

let roots_known factors start stop breaks cuts k =
  asked "roots_known"
    (fun () -> [ !factors; !start; !stop; !breaks; !cuts; !k ])
    (fun () -> roots_known factors start stop breaks cuts k)

let signed_uses s = asked "signed_uses" (fun () -> [ !s ]) (fun () -> signed_uses s)
