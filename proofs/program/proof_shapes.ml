(* The forms of proofs. *)

open Shapes

let sign = one_of [ "+"; "-" ]
let ending = one_of [ "lower"; "upper" ]

let rec proof value = Lazy.force proofs value

and proofs =
  lazy
    (let part ?(optional = []) required = (required, optional) in
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
     kinds
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
