(* From claims and proofs as evidence has them to goals and certificates of the proved checker, token by token.
   Nothing rests on the certificates that come out: the checker accepts none that does not prove its goal.
   That a goal says what its claim says is trusted. *)

open Faults
open Json
module C = Checker

let max_depth = 60  (* of proofs inside proofs, as in paramverify/kernel/proof_rules.py *)
let max_sides = 256
let max_power = 20_000  (* of a factor, times its degree *)

(* --- numbers and polynomials ----------------------------------------------------------------------- *)

let rational (q : Q.t) : C.q = { C.qnum = Q.num q; qden = Q.den q }
let number value = rational (Text.number (string_of value))

(* The chain of a polynomial: first by powers of the first variable. *)
let rec chain (terms : (int list * Z.t) list) : C.poly =
  match terms with
  | [] -> C.Pc Z.zero
  | ([], c) :: _ -> C.Pc c
  | _ ->
      let most = List.fold_left (fun most (x, _) -> max most (List.hd x)) 0 terms in
      let rows = Array.make (most + 1) [] in
      List.iter (fun (x, c) -> rows.(List.hd x) <- (List.tl x, c) :: rows.(List.hd x)) terms;
      let row k found =
        let here = chain rows.(k) in
        match (here, found) with C.Pc _, None -> Some here | _, None -> Some (C.PX (here, C.Pc Z.zero)) | _, Some rest -> Some (C.PX (here, rest))
      in
      let rec from k found = if k < 0 then found else from (k - 1) (row k found) in
      Option.get (from most None)

let polynomial (poly : Text.poly) : C.qpoly =
  let coefficients, scale = Text.whole poly in
  { C.num = chain (Text.Monomials.bindings coefficients); pden = scale }

(* --- claims ---------------------------------------------------------------------------------------- *)

type lemma = { name : string; claim : Claims.t; goal : C.goal; solvers : string list }
type lemmas = lemma list

let no_lemmas : lemmas = []
let has lemmas name = List.exists (fun lemma -> lemma.name = name) lemmas

let axis (claim : Claims.t) name =
  match Text.position name claim.names with Some k -> k | None -> rejected ("no variable " ^ quoted name)

let interval_of (i : Text.interval) : C.interval =
  { C.lo = rational i.low; hi = rational i.high; lopen = i.open_low; hopen = i.open_high }

let stands_for_itself (claim : Claims.t) = claim.exponent <> None && not (List.mem_assoc "E" claim.box)

let goal_of (claim : Claims.t) : C.goal =
  let interval name = Option.map interval_of (List.assoc_opt name claim.box) in
  let logarithm (tie : Claims.tie) = C.Log (axis claim tie.name, axis claim tie.variable, rational tie.step) in
  let exponential =
    match claim.exponent with
    | Some q when stands_for_itself claim -> [ C.Exp (axis claim "E", rational q) ]
    | _ -> []
  in
  {
    C.gpoly = polynomial claim.poly;
    gbox = List.map interval claim.names;
    gconds = List.map (fun (poly, strict) -> Some (polynomial poly, strict)) claim.constraints;
    gfacts = exponential @ List.map logarithm claim.ties;
  }

(* --- proofs ---------------------------------------------------------------------------------------- *)

type scope = { about : Claims.t; known : lemmas }

let text_of name proof = string_of (field name proof)
let need name proof = match field_opt name proof with Some value -> value | None -> rejected ("the key " ^ quoted name ^ " is missing")
let parsed scope written = polynomial (Text.polynomial (string_of written) scope.about.names)

(* The number of a variable that has an interval, or had one made by a rule. *)
let variable scope written = axis scope.about (string_of written)

let index value = match value with Int k when k >= 0 -> k | other -> rejected ("no constraint number " ^ kind other)
let positive k = if k >= 1 then Z.of_int k else rejected "a power must be a positive whole number"

let rec certificate scope depth proof : C.cert =
  if depth > max_depth then rejected "proofs are nested too deeply";
  let inner value = certificate scope (depth + 1) value in
  let part name = inner (need name proof) in
  let axis_of name = variable scope (field name proof) in
  let kind = text_of "kind" proof in
  match kind with
  | "constant" -> C.CConstant
  | "fixed" -> C.CFixed (axis_of "variable", part "proof")
  | "factors" -> C.CFactors (number (field "constant" proof), List.map (factor scope inner) (items_of (field "factors" proof)))
  | "sum" ->
      let one item = (parsed scope (field "polynomial" item), inner (field "proof" item)) in
      C.CSum (List.map one (items_of (field "parts" proof)))
  | "ends" -> C.CEnds (axis_of "variable", part "lower", part "upper", Option.map inner (field_opt "concave" proof))
  | "monotone" -> C.CMonotone (axis_of "variable", text_of "end" proof = "upper", part "derivative", part "proof")
  | "quadratic" -> C.CQuadratic (axis_of "variable", part "leading", part "constant", part "discriminant")
  | "bernstein" -> C.CBernstein (tree scope inner (items_of (field "tree" proof)))
  | "convex" -> convex scope proof
  | "constraint" -> C.CConstraint (index (field "constraint" proof), number (field "factor" proof), part "proof")
  | "divide" ->
      let poly name = parsed scope (field name proof) in
      let plus = text_of "sign" proof = "+" in
      C.CDivide (index (field "constraint" proof), poly "factor", poly "cofactor", plus, part "proof")
  | "contradiction" -> (
      match items_of (field "constraints" proof) with
      | [ first; second ] -> C.CContradiction (index first, index second)
      | _ -> invalid_arg "contradiction")
  | "stretch" -> C.CStretch (axis_of "variable", index (field "constraint" proof), part "proof")
  | "eliminate" -> (
      match items_of (field "constraints" proof) with
      | [ first; second ] -> C.CEliminate (axis_of "variable", index first, index second, part "proof")
      | _ -> invalid_arg "eliminate")
  | "product" ->
      let reflected = List.map string_of (items_of (field "reflected" proof)) in
      let powers = fields (field "powers" proof) in
      if List.exists (fun name -> not (List.mem_assoc name powers)) reflected then rejected "not powers of parameters";
      let one (name, power) =
        if int_of power > max_power then rejected "a factor does not depend on the product of powers alone";
        ((axis scope.about name, positive (int_of power)), List.mem name reflected)
      in
      C.CProduct (axis_of "variable", List.map one powers, part "proof")
  | "blowup" ->
      let corner = fields (field "corner" proof) and parts = fields (field "parts" proof) in
      let names list = List.sort compare (List.map fst list) in
      if List.length corner < 2 || names corner <> names parts then rejected "a cone is missing";
      let one (name, side) = ((axis scope.about name, string_of side = "upper"), inner (List.assoc name parts)) in
      C.CBlowup (List.map one corner)
  | "enclose" -> (
      match items_of (field "interval" proof) with
      | [ low; high ] ->
          if not (stands_for_itself scope.about) then rejected "there is no constant to enclose";
          let ends = { Text.low = Text.number (string_of low); high = Text.number (string_of high); open_low = false; open_high = false } in
          let about = { scope.about with box = ("E", ends) :: scope.about.box } in
          C.CEnclose (number low, number high, certificate { scope with about } (depth + 1) (need "proof" proof))
      | _ -> invalid_arg "enclose")
  | "exponential" ->
      if not (stands_for_itself scope.about) then rejected "there is no constant that stands for itself";
      C.CExponential
  | "logarithm" ->
      let cells = List.map (cell inner) (items_of (field "parts" proof)) in
      C.CLogarithm (axis_of "variable", List.map number (items_of (field "cuts" proof)), cells)
  | "squares" -> C.CSquares (terms scope (field "terms" proof), Option.map (terms scope) (field_opt "multiplier" proof))
  | "vanish" -> C.CVanish (index (field "constraint" proof), squares scope (field "squares" proof), part "proof")
  | "lemma" -> lemma scope (text_of "name" proof)
  | "solver" -> unknown "a proof that rests in part on a solver's word is not known to the proved checker"
  | other -> rejected ("unknown kind of proof: " ^ quoted other)

and factor scope inner item =
  let poly = Text.polynomial (text_of "factor" item) scope.about.names in
  let times = int_of (field "multiplicity" item) in
  let degree = Text.Monomials.fold (fun x _ most -> max most (List.fold_left ( + ) 0 x)) poly 0 in
  if times < 1 then rejected "a multiplicity must be a positive whole number";
  if degree = 0 || times > max_power / degree then rejected "the product of the factors is another polynomial";
  let premise =
    if times mod 2 = 0 then None else Some (string_of (need "sign" item) = "+", inner (need "proof" item))
  in
  ((polynomial poly, Z.of_int times), premise)

(* A tree is written in preorder: the lower part of a cut comes first. *)
and tree scope inner tokens : C.tree =
  let rec one = function
    | [] -> rejected "a leaf of the tree is missing"
    | String "+" :: rest -> (C.TLeaf, rest)
    | (Object _ as proof) :: rest -> (C.TProof (inner proof), rest)
    | List (String "outside" :: Int k :: _) :: rest -> (C.TOutside (index (Int k)), rest)
    | List (String "low" :: (String _ as name) :: _) :: rest ->
        let below, rest = one rest in
        (C.TLow (variable scope name, below), rest)
    | List (String "high" :: (String _ as name) :: _) :: rest ->
        let above, rest = one rest in
        (C.THigh (variable scope name, above), rest)
    | List (String "cut" :: (String _ as name) :: (String _ as at) :: _) :: rest ->
        let low, rest = one rest in
        let high, rest = one rest in
        (C.TCut (variable scope name, number at, low, high), rest)
    | token :: _ -> rejected ("unknown entry of a tree: " ^ kind token)
  in
  match one tokens with
  | found, [] -> found
  | _ -> rejected "the tree has too many leaves"

and convex scope proof =
  let point = fields (field "point" proof) in
  match field_opt "minimal" proof with
  | None ->
      let value name = match List.assoc_opt name point with Some at -> number at | None -> rational Q.zero in
      C.CConvex (List.map value scope.about.names)
  | Some minimal -> (
      let in_root written = polynomial (Text.polynomial (string_of written) [ "t" ]) in
      let value name = match List.assoc_opt name point with Some at -> in_root at | None -> polynomial Text.Monomials.empty in
      match items_of (need "interval" proof) with
      | [ low; high ] -> C.CConvexRoot (in_root minimal, number low, number high, List.map value scope.about.names)
      | _ -> invalid_arg "convex")

and cell inner part =
  let proof = inner (field "proof" part) in
  if field_opt "power" part <> None then
    let power = int_of (field "power" part) in
    if power < 0 || power > 500 then rejected "no bounds of a logarithm near 0"
    else (C.Near (number (need "least" part), power, number (need "bound" part)), proof)
  else
    match items_of (need "enclosure" part) with
    | [ low; high ] ->
        let terms = int_of (need "terms" part) in
        if terms > 1_000 then rejected "too many terms" else (C.Between (positive terms, number low, number high), proof)
    | _ -> invalid_arg "cell"

and squares scope rows =
  let one row = match items_of row with [ c; poly ] -> (number c, parsed scope poly) | _ -> invalid_arg "squares" in
  List.map one (items_of rows)

and terms scope rows =
  let side row =
    match items_of row with
    | [ String "low"; name; at ] -> C.SLow (variable scope name, number at)
    | [ String "high"; name; at ] -> C.SHigh (variable scope name, number at)
    | [ String "constraint"; k ] -> C.SCond (index k)
    | _ -> invalid_arg "side"
  in
  let term row =
    let sides = items_of (field "product" row) in
    if List.length sides > max_sides then rejected "a product of too many polynomials";
    (List.map side sides, squares scope (field "squares" row))
  in
  List.map term (items_of rows)

and lemma scope name =
  let rec from k = function
    | [] -> rejected ("no lemma " ^ quoted name ^ " before this place")
    | found :: _ when found.name = name ->
        if found.claim.names <> scope.about.names || found.claim.exponent <> scope.about.exponent then
          rejected ("the lemma " ^ quoted name ^ " says something else");
        C.CLemma k
    | _ :: rest -> from (k + 1) rest
  in
  from 0 scope.known

(* --- what the proved checker is asked -------------------------------------------------------------- *)

(* Whether a proof that needs no lemmas shows a goal. *)
let proves goal proof = C.check C.max_depth [] goal proof

let holds lemmas goal proof = C.check C.max_depth (List.map (fun lemma -> lemma.goal) lemmas) goal proof

(* The names of the lemmas that a proof refers to. *)
let rec used = function
  | Object items as proof ->
      let own =
        match (List.assoc_opt "kind" items, field_opt "name" proof) with
        | Some (String "lemma"), Some (String name) -> [ name ]
        | _ -> []
      in
      own @ List.concat_map (fun (_, value) -> used value) items
  | List items -> List.concat_map used items
  | _ -> []

(* A claim whose E has an interval is about all numbers in it, so the interval must contain exp(q). That is two claims,
   E - low >= 0 and high - E >= 0, which the proved checker is asked. *)
let check_enclosure (claim : Claims.t) =
  match (claim.exponent, List.assoc_opt "E" claim.box) with
  | Some q, Some { low; high; _ } ->
      let enclosed = C.CEnclose (rational low, rational high, C.CBernstein C.TLeaf) in
      let shown sign end_ =
        let poly = Text.Monomials.(add [ 1 ] sign (singleton [ 0 ] (Q.neg (Q.mul sign end_)))) in
        let poly = Text.Monomials.filter (fun _ c -> Q.sign c <> 0) poly in
        let facts = [ C.Exp (0, rational q) ] in
        C.check C.max_depth [] { C.gpoly = polynomial poly; gbox = [ None ]; gconds = []; gfacts = facts } enclosed
      in
      (* exp(0) is rational: it could be an end that is left out. *)
      if not (Q.sign q > 0 && shown Q.one low && shown Q.minus_one high) then
        rejected "the interval of E is not shown to contain its exponential"
  | _ -> ()

(* The domain of a document; E has its interval, and is the exponential of a number besides. *)
let domain_of domain =
  let about = Claims.read domain "0" in
  check_enclosure about;
  let goal = goal_of about in
  match about.exponent with
  | Some q -> (about, { goal with C.gfacts = [ C.Exp (axis about "E", rational q) ] })
  | None -> (about, goal)

(* Returns the solvers on whose word a proof rests, none if it is replayed in full.
   Raises Rejected where it does not prove the claim, and Unknown where that is not known. *)
let replay lemmas (claim : Claims.t) proof =
  check_enclosure claim;
  match field "kind" proof with
  | String "solver" ->
      let name = text_of "solver" proof in
      if name = "" then rejected "a trusted answer must name the solver and its version";
      [ String.trim (name ^ " " ^ text_of "version" proof) ]
  | _ ->
      let found = certificate { about = claim; known = lemmas } 0 proof in
      if not (holds lemmas (goal_of claim) found) then rejected "the proof does not show the claim";
      let names = used proof in
      List.concat_map (fun lemma -> if List.mem lemma.name names then lemma.solvers else []) lemmas

let with_lemma lemmas name claim solvers = lemmas @ [ { name; claim; goal = goal_of claim; solvers } ]

(* Asks whether something fails at a rational point of a domain, where E is the number that it stands for. A goal with
   the fact E = exp(q) is about fewer points, so a claim for all E of an interval fails as well.
   Raises Rejected where it is not shown, and Unknown where that is not known. *)
let fails_at (claim : Claims.t) values fails reason =
  let goal = goal_of claim in
  let exponential = match claim.exponent with Some q -> [ C.Exp (axis claim "E", rational q) ] | None -> [] in
  let logarithms = List.filter (function C.Log _ -> true | C.Exp _ -> false) goal.C.gfacts in
  let value name = match List.assoc_opt name values with Some at -> rational at | None -> rational Q.zero in
  if not (fails { goal with C.gfacts = exponential @ logarithms } (List.map value claim.names)) then
    match claim.exponent with
    | Some q when not (Values.in_range q) -> unknown "exp of such a number is not known to the proved checker"
    | _ -> rejected reason

(* Asks whether a claim with logarithms fails at a rational point of its domain. Bounds of the logarithms are computed
   with more and more bits, and shown by the proved checker. *)
let fails_with_logs (claim : Claims.t) values =
  let argument (tie : Claims.tie) = List.assoc tie.variable values in
  let none (tie : Claims.tie) = Q.sign (argument tie) <= 0 || Q.gt (argument tie) Q.one in
  let lacks (tie : Claims.tie) = rejected ("the witness is outside of the domain: " ^ tie.variable ^ " has no logarithm there") in
  Option.iter lacks (List.find_opt none claim.ties);
  let bounds bits name =
    match List.find_opt (fun (tie : Claims.tie) -> tie.name = name) claim.ties with
    | Some tie ->
        let low, high = Values.log_bounds (Q.inv (argument tie)) bits in
        (rational low, rational high)
    | None -> (rational Q.zero, rational Q.zero)
  in
  let value name = match List.assoc_opt name values with Some at -> rational at | None -> rational Q.zero in
  let goal = goal_of claim and point = List.map value claim.names in
  (* More bits do not help where the contrary is seen. *)
  let contrary bounds =
    let sign = C.sign_with_log goal.C.gfacts point bounds in
    let wrong = function Some (poly, strict) -> sign (not strict) { poly with C.num = C.popp poly.C.num } | None -> false in
    sign false goal.C.gpoly || List.exists wrong goal.C.gconds
  in
  let rec refine = function
    | [] -> rejected "the claim does not fail at the witness"
    | bits :: rest ->
        let bounds = List.map (bounds bits) claim.names in
        if contrary bounds then rejected "the claim does not fail at the witness"
        else if not (C.refutes_with_log goal point bounds) then refine rest
  in
  refine Values.bits_of_logs

(* The same beside E = exp(q), where no polynomial mentions a logarithm. *)
let fails_beside_logs (claim : Claims.t) values =
  let axes = List.map (fun (tie : Claims.tie) -> axis claim tie.name) claim.ties in
  let mentions poly = List.exists (fun k -> Text.degree k poly > 0) axes in
  if List.exists mentions (claim.poly :: List.map fst claim.constraints) then
    rejected "a sign with both exp and a logarithm is not decided";
  fails_at claim values C.refutes_beside_logs "the claim does not fail at the witness"

(* Raises Rejected where a claim is not shown to fail at a rational point of its domain. *)
let refute (claim : Claims.t) point =
  let values = Claims.point_of claim point in
  check_enclosure claim;
  let fails goal numbers = if goal.C.gfacts = [] then C.refutes goal numbers else C.refutes_with_exp goal numbers in
  if claim.ties <> [] then (if claim.exponent = None then fails_with_logs else fails_beside_logs) claim values
  else fails_at claim values fails "the claim does not fail at the witness"
