(** All that files of cases need. *)

From Coq Require Export Reals ZArith List String Bool Lra QArith.
From Paramverify Require Poly Goal Certificate.
From Paramverify Require Export Expressions Sums Programs Privacy Networks Hmm Coverings Sequences Mechanisms Case Reader.
Export ListNotations.
Close Scope Q_scope.
Close Scope string_scope.
Close Scope nat_scope.
Close Scope bool_scope.
Open Scope bool_scope.
Open Scope Z_scope.
