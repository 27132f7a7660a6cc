(** All that files of cases need. *)

From Coq Require Export Reals ZArith List Bool Lra QArith.
From Coq Require String.
From Paramverify Require Poly Goal Certificate.
From Paramverify Require Export Expressions Sums Programs Privacy Networks Hmm Coverings Sequences Mechanisms Case Reader
  CaseSets CaseCones ConeReader Distances Language Outcomes ProgramClaims.
Export ListNotations.
Export String.StringSyntax.
Delimit Scope string_scope with string.
Close Scope Q_scope.
Close Scope string_scope.
Close Scope nat_scope.
Close Scope bool_scope.
Open Scope bool_scope.
Open Scope Z_scope.
Open Scope name_scope.
