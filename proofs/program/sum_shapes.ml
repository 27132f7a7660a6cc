(* The forms of claims about sums over outputs: sets of outputs, and divergences. *)

open Json
open Shapes
open Claim_shapes

let sum = [ ("room", text); ("terms", listed text); ("origins", listed (row [ text; text; whole ])) ]

let set_step =
  let steps =
    tagged_row
      [
        ("+", [ whole; proof ]);
        ("-", [ whole; proof ]);
        ("<", [ whole; text; proof; proof ]);
        ("cut", [ text; rational ]);
        ("sign", [ text ]);
        ("free", []);
      ]
  in
  function List _ as step -> steps step | other -> (by_type ~objects:proof ()) other

let set_witness =
  [
    ("parameters", point);
    ("secrets", row [ text; text ]);
    ("length", whole);
    ("outputs", listed (listed text));
    ("probabilities", row [ real; real ]);
    ("bound", real);
    ("delta", real);
    ("beyond", real);
    ("exceeds", flag);
  ]

let sets =
  record
    [
      ("format", one_of [ "paramverify-sets" ]);
      ("version", number_one);
      ("status", status);
      ("domain", domain_alone);
      ("claims", listed (record (("tree", listed set_step) :: sum)));
    ]
    ~optional:
      [
        ("case", case);
        ("obligations", listed (entry proof));
        ("points", listed point);
        ("outputs", names);
        ("witness", record (("claim", record sum) :: set_witness));
        ( "budget",
          record
            [
              ("kind", one_of [ "delta"; "ratio" ]);
              ("given", text);
              ("enough", maybe rational);
              ("witnesses", listed (record set_witness));
            ] );
      ]

let losses =
  let measure = one_of [ "kl"; "zcdp" ] and ends = row [ rational; rational ] in
  let loss = [ ("total", text); ("outputs", listed (row [ text; text ])); ("origins", listed (row [ text; text; whole ])) ] in
  let product = maybe (row [ rational; listed (row [ whole; whole ]) ]) in
  let step = tagged_row [ ("cut", [ text; rational ]); ("-", [ whole ]); ("+", [ listed rational ]) ] in
  let witness =
    [
      ("parameters", point);
      ("secrets", row [ text; text ]);
      ("length", whole);
      ("measure", measure);
      ("value", by_type ~strings:(one_of [ "infinity" ]) ~lists:ends ());
      ("bound", by_type ~strings:rational ~lists:ends ());
      ("exceeds", flag);
      ("largest", largest);
    ]
  in
  let order = [ ("order", rational) ] in
  let budget = [ ("kind", measure); ("enough", maybe rational); ("witnesses", listed (record witness ~optional:order)) ] in
  let tree = [ ("factors", listed text); ("products", listed product); ("tree", listed step) ] in
  record
    [
      ("format", one_of [ "paramverify-losses" ]);
      ("version", number_one);
      ("status", status);
      ("measure", measure);
      ("bound", row [ rational; listed ends ]);
      ("domain", record domain ~optional:[ ("constant", rational) ]);
      ("claims", listed (record (loss @ tree)));
    ]
    ~optional:
      [
        ("case", case);
        ("obligations", listed (entry proof));
        ("points", listed point);
        ("outputs", names);
        ("witness", record (("claim", record loss) :: witness) ~optional:order);
        ("budget", record budget);
      ]
