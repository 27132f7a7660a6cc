(* The functions that are extracted from Coq, as calls that may be written. What only helps to find a proof (`at_most`,
   `quotient`, `row`) is not written. *)

open Calls
include Extracted

let check depth lemmas g c = asked "check" Decision check [ !depth; !lemmas; !g; !c ]
let refutes g v = asked "refutes" Decision refutes [ !g; !v ]
let refutes_with_exp g v = asked "refutes_with_exp" Decision refutes_with_exp [ !g; !v ]
let refutes_at_root g m a b p = asked "refutes_at_root" Decision refutes_at_root [ !g; !m; !a; !b; !p ]
let refutes_with_log g v b = asked "refutes_with_log" Decision refutes_with_log [ !g; !v; !b ]
let refutes_beside_logs g v = asked "refutes_beside_logs" Decision refutes_beside_logs [ !g; !v ]
let sign_with_log facts v b strict f = asked "sign_with_log" Decision sign_with_log [ !facts; !v; !b; !strict; !f ]
let check_excess lemmas g l t = asked "check_excess" Decision check_excess [ !lemmas; !g; !l; !t ]
let check_covers lemmas claims g sums = asked "check_covers" Decision check_covers [ !lemmas; !claims; !g; !sums ]
let refutes_sum g l b v = asked "refutes_sum" Decision refutes_sum [ !g; !l; !b; !v ]
let refutes_sum_with_exp g l b v = asked "refutes_sum_with_exp" Decision refutes_sum_with_exp [ !g; !l; !b; !v ]
let check_cone find claims m c = asked "check_cone" Decision check_cone [ remembered find; !claims; !m; !c ]
let check_loop m l = asked "check_loop" Decision check_loop [ !m; !l ]
let check_standing s = asked "check_standing" Decision check_standing [ !s ]
let stands find known s = asked "stands" Decision stands [ remembered find; remembered known; !s ]

let check_region proves factors constant claims folds g t =
  asked "check_region" (Perhaps (Each Calls.Part)) check_region
    [ unwritten proves; !factors; !constant; !claims; !folds; !g; !t ]

let symmetric claims g folds = asked "symmetric" Decision symmetric [ !claims; !g; !folds ]

let check_interactive proves g signs s visible data guarded groups initial reach ratio why =
  asked "check_interactive" Decision check_interactive
    [ unwritten proves; !g; !signs; !s; !visible; !data; !guarded; !groups; !initial; !reach; !ratio; !why ]

let check_accepted s inputs start given loop pairs =
  asked "check_accepted" Decision check_accepted [ !s; !inputs; !start; !given; !loop; !pairs ]

let check_growth g s data inputs visible groups initial left right loop more less =
  asked "check_growth" Decision check_growth
    [ !g; !s; !data; !inputs; !visible; !groups; !initial; !left; !right; !loop; !more; !less ]

let check_slots shared drops deletes forms steps =
  asked "check_slots" Decision check_slots [ !shared; !drops; !deletes; !forms; !steps ]

let run_from s data inputs visible start given =
  asked "run_from" (Perhaps weights) run_from [ !s; !data; !inputs; !visible; !start; !given ]

let check_formula proves g signs c near initial f where_false =
  asked "check_formula" Decision check_formula [ unwritten proves; !g; !signs; !c; !near; !initial; !f; !where_false ]

let check_choices proves g signs cs near initial ratio delta what =
  asked "check_choices" Decision check_choices
    [ unwritten proves; !g; !signs; !cs; !near; !initial; !ratio; !delta; !what ]

let bound_path cs near g signs largest allowed p =
  asked "bound_path" (Perhaps (Each Weight)) bound_path [ !cs; !near; !g; !signs; !largest; !allowed; !p ]

let check_violation g s data inputs visible groups initial ratio left right trace only =
  asked "check_violation" Decision check_violation
    [ !g; !s; !data; !inputs; !visible; !groups; !initial; !ratio; !left; !right; !trace; !only ]

let check_lower_bound proves g signs s data inputs visible groups initial left right trace only first second =
  asked "check_lower_bound" Decision check_lower_bound
    [
      unwritten proves; !g; !signs; !s; !data; !inputs; !visible; !groups; !initial; !left; !right; !trace; !only;
      !first; !second
    ]

let same_value g signs v w = asked "same_value" Decision same_value [ !g; !signs; !v; !w ]
let same_weight v w = asked "same_weight" Decision same_weight [ !v; !w ]
let added_up row = asked "added_up" Weight added_up [ !row ]
let ask g signs strict f = asked "ask" Decision ask [ !g; !signs; !strict; !f ]
let with_values values f = asked "with_values" Polynomial with_values [ !values; !f ]
let proportional f g = asked "proportional" Decision proportional [ !f; !g ]

let closed_system s visible closures =
  asked "closed_system" (Each (Each weights)) closed_system [ !s; !visible; !closures ]

let ends_of s visible closures state = asked "ends_of" weights ends_of [ !s; !visible; !closures; !state ]

let likely_weight s data inputs visible only start given trace =
  asked "likely_weight" Weight likely_weight [ !s; !data; !inputs; !visible; !only; !start; !given; !trace ]

let check_loss unit largest smallest guess nothing m b g ends c fs t l tree =
  asked "check_loss" Decision check_loss
    [ !unit; !largest; !smallest; remembered guess; !nothing; !m; !b; !g; !ends; !c; !fs; !t; !l; !tree ]

let refutes_loss unit largest smallest guess m b g c point total sizes order =
  asked "refutes_loss" Decision refutes_loss
    [ !unit; !largest; !smallest; remembered guess; !m; !b; !g; !c; !point; !total; !sizes; !order ]

let check_line factors start stop breaks cuts claims constraints =
  asked "check_line" (Perhaps (Each Status)) check_line
    [ !factors; !start; !stop; !breaks; !cuts; !claims; !constraints ]

let roots_known factors start stop breaks cuts k =
  asked "roots_known" Decision roots_known [ !factors; !start; !stop; !breaks; !cuts; !k ]

let signed_uses s = asked "signed_uses" (Each Number) signed_uses [ !s ]

let check_exact_delta limit ds c s =
  asked "check_exact_delta" (Perhaps Decision) check_exact_delta [ !limit; !ds; !c; !s ]

let check_exact_ratio limit ds d r =
  asked "check_exact_ratio" (Perhaps Decision) check_exact_ratio [ !limit; !ds; !d; !r ]
