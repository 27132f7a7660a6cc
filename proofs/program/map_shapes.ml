(* The forms of region maps and of exact intervals. *)

open Shapes
open Claim_shapes

let cell =
  let box = [ ("status", text); ("box", listed (row [ rational; rational ])) ] in
  let cuts = ("cuts", maybe (table (listed text))) in
  let plain = record box in
  tagged "status"
    [
      ("safe", record box ~optional:[ cuts; ("proofs", table ~key:index proof) ]);
      ("outside", record box ~optional:[ cuts ]);
      ("violating", record (box @ [ ("claim", whole); ("at", point) ]));
      ("mirrored", plain);
      ("undecided", plain);
    ]

let products = listed (record [ ("constant", rational); ("factors", listed (row [ whole; whole ])) ])

let regions =
  kind_of "paramverify-regions"
    [
      ("domain", domain_alone);
      ("free", listed text);
      ("claims", listed text);
      ("factors", listed text);
      ("products", products);
      ("cells", listed cell);
    ]
    [
      ("sums", beyond "a map about sets of outputs");
      ("symmetric", listed (listed text));
      ("by_roots", beyond "a factor with its roots");
    ]

let intervals =
  let part =
    [ ("status", one_of [ "safe"; "violating"; "outside" ]); ("ends", row [ whole; whole ]); ("closed", row [ flag; flag ]) ]
  in
  kind_of "paramverify-intervals"
    [
      ("domain", record domain);
      ("claims", listed text);
      ("factors", listed text);
      ("products", products);
      ("constraints", products);
      ("breaks", listed (record [ ("factor", whole); ("between", row [ rational; rational ]) ]));
      ("cuts", listed (listed rational));
      ("parts", listed (record part));
    ]
    []
