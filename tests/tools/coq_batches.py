"""Questions to the checking functions inside Coq, many at a time, by `vm_compute`.

A question is a row: the number of variables, and a text of whole numbers that the reader below takes. The
first number says which function is asked. Its answer is all that is looked at.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from forging_tools import Json

from paramverify.checker.algebraic import read_place
from paramverify.checker.claims import read_claim
from paramverify.checker.exponentials import sign_in_exp
from paramverify.checker.goals import Statement
from paramverify.checker.polynomials import Poly, number, parse, whole
from paramverify.reports.theorems.certificates import polynomial, proof_numbers, rational, several

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 20  # for a question
TOO_LATE = "Error: Timeout!"
LATE, UNREAD = "late", "not read"
Said = bool | str  # accepted or not, or why there is no answer
PROOF, POINT, ROOT_POINT, SUM, SET_POINT = range(5)
Row = tuple[int, str]  # the number of variables, and a question as numbers
HEADER = """From Coq Require Import ZArith List String QArith.
From Paramverify Require Import Poly Goal Certificate Check Reader Witness WitnessPoints Sets SetWitness.
Import ListNotations.
Definition read_goal (width : nat) : reader goal :=
  f <~ read_qpoly width; b <~ read_list (read_option read_interval); c <~ read_list (read_condition width);
  l <~ read_list read_fact; give (Goal f b c l).
Fixpoint read_set_tree (width deep : nat) : reader set_tree :=
  match deep with
  | O => fail
  | S deep =>
      let proof := read_cert width deepest in
      let below := read_set_tree width deep in
      kind <~ one;
      match kind with
      | 0%Z => c <~ proof; give (Leaf c)
      | 1%Z => i <~ read_nat; c <~ proof; t <~ below; give (Counts i c t)
      | 2%Z => i <~ read_nat; c <~ proof; t <~ below; give (Nothing i c t)
      | 3%Z => i <~ read_nat; u <~ read_qpoly width; c <~ proof; d <~ proof; t <~ below;
          give (Bounded i u c d t)
      | 4%Z => k <~ read_nat; a <~ read_Q; l <~ below; h <~ below; give (CutAt k a l h)
      | 5%Z => p <~ read_qpoly width; u <~ below; d <~ below; give (CutBy p u d)
      | 6%Z => t <~ below; give (Free t)
      | _ => fail
      end
  end.
Definition read_answer (width : nat) : reader bool :=
  kind <~ one; g <~ read_goal width;
  match kind with
  | 0%Z => c <~ read_cert width deepest; give (check max_depth [] g c)
  | 1%Z => v <~ read_list read_Q;
      give (match gfacts g with [] => refutes g v | _ => refutes_with_exp g v end)
  | 2%Z => m <~ read_qpoly 1; a <~ read_Q; b <~ read_Q; p <~ read_list (read_qpoly 1);
      give (refutes_at_root g m a b p)
  | 3%Z => l <~ read_list (read_qpoly width); t <~ read_set_tree width deepest; give (check_excess [] g l t)
  | 4%Z => l <~ read_list (read_qpoly width); b <~ read_list read_bool; v <~ read_list read_Q;
      give (match gfacts g with [] => refutes_sum g l b v | _ => refutes_sum_with_exp g l b v end)
  | _ => fail
  end.
Definition answer (row : nat * string) : option bool :=
  match read_answer (fst row) (numbers (snd row)) with Some (b, []) => Some b | _ => None end.
"""


# --- questions ----------------------------------------------------------------------------------------


def proof_row(claim: Json, proof: Json) -> Row:
    """Asks whether a proof shows a claim.

    Raises:
        Exception: they are not of the form that checkers demand, or the proof refers to lemmas.
    """
    statement = read_claim(claim)
    return _row(PROOF, statement, _facts(statement), proof_numbers(proof, statement.goal.names))


def point_row(claim: Json, point: Mapping[str, str]) -> Row:
    """Asks whether a claim fails at a rational point; raises as `proof_row`."""
    statement = read_claim(claim)
    return _row(POINT, statement, _own_exp(statement), _values(statement, point))


def root_row(claim: Json, place: Json) -> Row:
    """Asks whether a claim fails at a point whose coordinates are polynomials in a root."""
    statement = read_claim(claim)
    read = read_place(place)
    ends = [n for end in read.ends for n in rational(end)]
    point = several(statement.goal.names, lambda name: _poly(read.coordinates[name]))
    return _row(ROOT_POINT, statement, _facts(statement), [*_poly(read.minimal), *ends, *point])


def sum_row(domain: Json, claim: Json) -> Row:
    """Asks whether a tree shows that a sum of max(0, t) is at most its room."""
    statement = read_claim({**domain, "polynomial": claim["room"]})
    names = statement.goal.names
    tree = _tree(claim["tree"], names)
    return _row(SUM, statement, _facts(statement), [*_terms(claim, names), *tree])


def set_point_row(domain: Json, claim: Json, point: Mapping[str, str]) -> Row:
    """Asks whether the terms that are positive at a point sum to more than their room there."""
    statement = read_claim({**domain, "polynomial": claim["room"]})
    names = statement.goal.names
    values = {name: number(text) for name, text in point.items()}
    signs = [_sign(parse(text, names), names, values, statement.exponent) for text in claim["terms"]]
    chosen = several(signs, lambda sign: [int(sign > 0)])
    asked = [*_terms(claim, names), *chosen, *_values(statement, point)]
    return _row(SET_POINT, statement, _own_exp(statement), asked)


def _row(kind: int, statement: Statement, facts: list[list[int]], asked: list[int]) -> Row:
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
    numbers = [kind, *_poly(goal.poly), *box, *conditions, *several(facts, list), *asked]
    return len(goal.names), " ".join(map(str, numbers))


def _facts(statement: Statement) -> list[list[int]]:
    """Returns what variables stand for; E is any number of its interval where it has one."""
    goal = statement.goal
    names = goal.names
    facts = [[1, names.index(t.name), names.index(t.variable), *rational(t.step)] for t in goal.ties]
    return facts if "E" in goal.box else [*_own_exp(statement), *facts]


def _own_exp(statement: Statement) -> list[list[int]]:
    if statement.exponent is None:
        return []
    return [[0, statement.goal.names.index("E"), *rational(statement.exponent)]]


def _values(statement: Statement, point: Mapping[str, str]) -> list[int]:
    return several(statement.goal.names, lambda name: rational(point.get(name, "0")))


def _poly(poly: Poly) -> list[int]:
    terms, scale = whole(poly)
    return [scale, *several(sorted(terms.items()), lambda item: [item[1], *item[0]])]


def _terms(claim: Json, names: Sequence[str]) -> list[int]:
    return several(claim["terms"], lambda text: polynomial(text, names))


def _tree(tokens: Sequence[Any], names: Sequence[str]) -> list[int]:
    """Returns a tree in preorder, as it is read."""
    found: list[int] = []
    for token in tokens:
        if isinstance(token, dict):
            found += [0, *proof_numbers(token, names)]
        elif token[0] in ("+", "-"):
            found += [1 + (token[0] == "-"), token[1], *proof_numbers(token[2], names)]
        elif token[0] == "<":
            proofs = [n for proof in token[3:] for n in proof_numbers(proof, names)]
            found += [3, token[1], *polynomial(token[2], names), *proofs]
        elif token[0] == "cut":
            found += [4, names.index(token[1]), *rational(token[2])]
        elif token[0] == "sign":
            found += [5, *polynomial(token[1], names)]
        else:
            found += [6]
    return found


def _sign(poly: Poly, names: Sequence[str], values: Mapping[str, Fraction], exponent: Fraction | None) -> int:
    """Returns the sign of a polynomial at a point, where E is exp(exponent)."""
    powers: dict[int, Fraction] = {}
    for x, c in poly.items():
        power = 0
        for name, k in zip(names, x, strict=True):
            if name == "E" and exponent is not None:
                power = k
            else:
                c *= values[name] ** k
        powers[power] = powers.get(power, Fraction(0)) + c
    return sign_in_exp(powers, exponent)


# --- answers ------------------------------------------------------------------------------------------


def answers(rows: Sequence[Row], seconds: int = SECONDS) -> list[Said]:
    """Returns what Coq says of each row: LATE where it takes longer than the given seconds, UNREAD where the
    row is no question.

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
    given = re.findall(r"= \((\d+)(?:%Z)?,\s+(Some\s+true|Some\s+false|None)\)", done.stdout)
    found: dict[int, Said] = {
        int(k): word.endswith("true") or (UNREAD if word == "None" else False) for k, word in given
    }
    late = done.stderr.count(TOO_LATE)
    assert done.returncode == 0, done.stderr
    assert len(given) == len(found) == len(rows) - late, done.stdout[-500:] + done.stderr[-1000:]
    return [found.get(k, LATE) for k in range(len(rows))]
