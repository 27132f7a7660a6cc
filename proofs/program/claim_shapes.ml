(* The forms of proofs and claims, and of what all kinds of documents have: the case, obligations, points. *)

open Shapes

let sign = one_of [ "+"; "-" ]
let ending = one_of [ "lower"; "upper" ]

let rec proof value = Lazy.force proofs value

and proofs =
  lazy
    (let part ?optional required = record ?optional (("kind", text) :: required) in
     let of_ = [ ("constraint", whole); ("proof", proof) ] in
     let factor =
       record [ ("factor", text); ("multiplicity", whole) ] ~optional:[ ("sign", sign); ("proof", proof) ]
     in
     let entry = by_type ~strings:text ~numbers:whole () in
     let token = by_type ~strings:(one_of [ "+" ]) ~objects:proof ~lists:(listed entry) () in
     let near = [ ("least", rational); ("power", whole); ("bound", rational) ] in
     let ends = row [ rational; rational ] in
     let cell = record [ ("proof", proof) ] ~optional:(("terms", whole) :: ("enclosure", ends) :: near) in
     let squares = listed (row [ rational; text ]) in
     let side = tagged_row [ ("low", [ text; rational ]); ("high", [ text; rational ]); ("constraint", [ whole ]) ] in
     let terms = listed (record [ ("product", listed side); ("squares", squares) ]) in
     let two = row [ whole; whole ] in
     tagged "kind"
       [
         ("constant", part []);
         ("fixed", part [ ("variable", text); ("proof", proof) ]);
         ("factors", part [ ("constant", rational); ("factors", listed factor) ]);
         ("sum", part [ ("parts", listed (record [ ("polynomial", text); ("proof", proof) ])) ]);
         ("ends", part [ ("variable", text); ("lower", proof); ("upper", proof) ] ~optional:[ ("concave", proof) ]);
         ("monotone", part [ ("variable", text); ("end", ending); ("derivative", proof); ("proof", proof) ]);
         ( "quadratic",
           part [ ("variable", text); ("leading", proof); ("constant", proof); ("discriminant", proof) ] );
         ("bernstein", part [ ("tree", listed token) ]);
         ("convex", part [ ("point", table text) ] ~optional:[ ("minimal", text); ("interval", ends) ]);
         ("constraint", part (("factor", rational) :: of_));
         ("divide", part (("factor", text) :: ("cofactor", text) :: ("sign", sign) :: of_));
         ("contradiction", part [ ("constraints", two) ]);
         ("stretch", part (("variable", text) :: of_));
         ("eliminate", part [ ("variable", text); ("constraints", two); ("proof", proof) ]);
         ( "product",
           part [ ("variable", text); ("powers", table whole); ("reflected", listed text); ("proof", proof) ] );
         ("blowup", part [ ("corner", table ending); ("parts", table proof) ]);
         ("enclose", part [ ("interval", ends); ("proof", proof) ]);
         ("exponential", part []);
         ("logarithm", part [ ("variable", text); ("cuts", listed rational); ("parts", listed cell) ]);
         ("squares", part [ ("terms", terms) ] ~optional:[ ("multiplier", terms) ]);
         ("vanish", part (("squares", squares) :: of_));
         ("lemma", part [ ("name", text) ]);
         ( "solver",
           part [ ("solver", text); ("version", text) ] ~optional:[ ("options", table text); ("transcript", text) ] );
       ])

let domain =
  [ ("variables", listed text); ("box", table text); ("constraints", listed (row [ text; one_of [ ">"; ">=" ] ])) ]

let claim =
  record
    (("polynomial", text) :: domain)
    ~optional:[ ("constant", rational); ("ties", table (row [ text; rational ])) ]

let point = table rational
let exact = record [ ("exact", text); ("lower", rational); ("upper", rational) ]
let real = by_type ~strings:rational ~objects:exact ()

let largest = listed (record [ ("output", listed text); ("probabilities", row [ real; real ]) ])

let side_condition = "output sequences that are impossible under one of the two secrets are ignored"

let entry proof = record [ ("claim", claim); ("proof", proof) ] ~optional:[ ("origins", listed text) ]
let case = record [ ("title", text); ("digest", text) ] ~optional:[ ("set", table text) ]
let status = one_of [ "holds"; "violated"; "unknown" ]

let domain_alone = record domain ~optional:[ ("constant", rational) ]

(* What every kind of document may say about its case. *)
let about_case stands its_budget =
  [
    ("case", case);
    ("obligations", listed (entry proof));
    ("points", listed point);
    ("reduction", stands);
    ("outputs", names);
    ("side_condition", one_of [ side_condition ]);
    ("budget", its_budget);
  ]

let kind_of ?(stands = beyond "a pair that stands for all others") ?(its_budget = beyond "a budget") name required optional =
  let about = about_case stands its_budget in
  record (("format", one_of [ name ]) :: ("version", number_one) :: required) ~optional:(about @ optional)
