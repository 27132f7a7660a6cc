(** Certificates about many sequences as text, in the order in which paramverify writes them.

    What is read is data that [check_closed] and [check_runs] look at, so nothing about the reader has to be proved. *)

From Coq Require Import ZArith List.
From Paramverify Require Import Coverings CaseCones Reader.
Import ListNotations.
Local Open Scope Z_scope.

Definition read_vector (n : nat) : reader whole_vector := times n one.

Definition rays_of (n : nat) (text : texts) : ray_cone :=
  match read_all (rays <~ read_list (read_vector n);
                  ways <~ read_list (read_list (c <~ one; l <~ read_list (k <~ read_nat; w <~ one; give (k, w)); give (c, l)));
                  give [{| spanning := rays; hints := ways |}]) text with
  | [k] => k
  | _ => {| spanning := []; hints := [] |}
  end.

Definition read_level : reader level_hints :=
  kept <~ read_list read_nat;
  dropping <~ read_list (v <~ read_nat; c <~ one; l <~ read_list (w <~ one; k <~ read_nat; give (w, k)); give (v, (c, l)));
  places <~ read_list (read_list read_nat);
  give (kept, dropping, places).

Definition read_run (n : nat) : reader run_hints :=
  turned <~ read_list read_bool;
  small <~ times n read_bool; large <~ times n read_bool; p <~ times n read_bool; q <~ times n read_bool;
  l <~ read_list read_level;
  give {| directions := turned; only_left := small; only_right := large; reach_of_both := (p, q); by_length := l |}.

Definition vectors_of (n : nat) (text : texts) : kept_vectors :=
  match read_all (vs <~ read_list (read_vector n); l <~ read_list (read_run n);
                  give [{| vectors := vs; run_list := l |}]) text with
  | [k] => k
  | _ => {| vectors := []; run_list := [] |}
  end.
