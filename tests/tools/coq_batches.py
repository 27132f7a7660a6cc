"""Claims and their proofs given to `check` inside Coq, many at a time, by `vm_compute`."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from forging_tools import Json

from paramverify.checker.claims import read_claim
from paramverify.checker.goals import Statement
from paramverify.checker.polynomials import Poly, whole
from paramverify.reports.theorems.certificates import proof_numbers, rational, several

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 20  # for a claim and its proof
TOO_LATE = "Error: Timeout!"
Row = tuple[int, str]  # the number of variables, and a claim and its proof as numbers
HEADER = """From Coq Require Import ZArith List String QArith.
From Paramverify Require Import Poly Goal Certificate Check Reader.
Import ListNotations.
Definition read_goal (width : nat) : reader goal :=
  f <~ read_qpoly width; b <~ read_list (read_option read_interval); c <~ read_list (read_condition width);
  l <~ read_list read_fact; give (Goal f b c l).
Definition answer (row : nat * string) : bool :=
  match (g <~ read_goal (fst row); c <~ read_cert (fst row) deepest; give (check max_depth [] g c))
    (numbers (snd row)) with
  | Some (b, []) => b
  | _ => false
  end.
"""


def numbers_of(claim: Json, proof: Json) -> Row:
    """Returns a claim and a proof as Coq's reader takes them: the number of variables, and a text of numbers.

    Raises:
        Exception: they are not of the form that checkers demand, or the proof refers to lemmas.
    """
    statement = read_claim(claim)
    goal = [*_goal(statement), *proof_numbers(proof, statement.goal.names)]
    return len(statement.goal.names), " ".join(map(str, goal))


def _goal(statement: Statement) -> list[int]:
    goal = statement.goal
    box = several(
        list(goal.names),
        lambda name: (
            [0]
            if name not in goal.box
            else [1, *rational(goal.box[name][0]), *rational(goal.box[name][1])]
            + [int((name, side) in goal.open) for side in (0, 1)]
        ),
    )
    conditions = several(goal.conditions, lambda c: [int(c[1]), *_poly(c[0])])
    facts = [
        [1, goal.names.index(t.name), goal.names.index(t.variable), *rational(t.step)] for t in goal.ties
    ]
    if statement.exponent is not None and "E" not in goal.box:
        facts.append([0, goal.names.index("E"), *rational(statement.exponent)])
    return [*_poly(goal.poly), *box, *conditions, *several(facts, list)]


def _poly(poly: Poly) -> list[int]:
    terms, scale = whole(poly)
    return [scale, *several(sorted(terms.items()), lambda item: [item[1], *item[0]])]


def answers(rows: Sequence[Row], seconds: int = SECONDS) -> list[bool | None]:
    """Returns what `check` says of each row; None where it takes longer than the given seconds.

    Coq reads all rows in one process, each as a command of its own, so that one that is slow stops no other.
    """
    if not rows:
        return []
    asked = "".join(
        f'Timeout {seconds} Eval vm_compute in ({k}%Z, answer ({width}%nat, "{text}"%string)).\n'
        for k, (width, text) in enumerate(rows)
    )
    command = ["coqtop", "-q", "-Q", str(ROOT / "proofs" / "theories"), "Paramverify"]
    done = subprocess.run(command, input=HEADER + asked, capture_output=True, text=True, check=False)
    given = re.findall(r"= \((\d+)(?:%Z)?,\s+(true|false)\)", done.stdout)
    found = {int(k): word == "true" for k, word in given}
    late = done.stderr.count(TOO_LATE)
    assert done.returncode == 0, done.stderr
    assert len(given) == len(found) == len(rows) - late, done.stderr[-1000:]
    return [found.get(k) for k in range(len(rows))]
