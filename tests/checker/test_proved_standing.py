"""A pair that stands for all others: the program that is extracted from Coq says what Python says."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path
from random import Random

import pytest
from conftest import ROOT
from forging_tools import Json
from three_checkers import NOT_KNOWN, built, by_program, changed, differences, in_python

from paramverify.cli.main import run

CASE = ROOT / "cases" / "noisy-max-10.toml"
CLAIM = {"variables": [], "box": {}, "constraints": [], "polynomial": "1"}
Input = tuple[int, ...]
Noise = list[list[Fraction]]


def released(noise: Noise, given: Input, ties: str) -> list[Fraction]:
    """Returns the probability of each output, by all noisy answers."""
    found = [Fraction(0)] * len(given)
    for noisy in product(range(len(noise)), repeat=len(given)):
        chance = prod((noise[f][v] for f, v in zip(given, noisy, strict=True)), start=Fraction(1))
        best = [k for k, v in enumerate(noisy) if v == max(noisy)]
        for k in best if ties == "uniform" else best[:1]:
            found[k] += chance / (len(best) if ties == "uniform" else 1)
    return found


def ratios(
    noise: Noise, n: int, ties: str, differ: str, step: int
) -> dict[tuple[Input, Input], Fraction | None]:
    """Returns the largest ratio of each pair of neighbours; None where it is not finite."""
    inputs = list(product(range(len(noise)), repeat=n))
    chances = {given: released(noise, given, ties) for given in inputs}
    found: dict[tuple[Input, Input], Fraction | None] = {}
    for x, y in product(inputs, inputs):
        changes = [abs(a - b) for a, b in zip(x, y, strict=True) if a != b]
        if all(c <= step for c in changes) and (differ == "each" or len(changes) <= 1):
            both = [(p, q) for p, q in zip(chances[x], chances[y], strict=True) if p or q]
            finite = all(p and q for p, q in both)
            found[x, y] = max(max(p / q, q / p) for p, q in both) if finite else None
    return found


def noises(random: Random, values: int) -> Noise:
    rows = [[random.choice((0, 1, 1, 2, 3, 5)) for _ in range(values)] for _ in range(values)]
    rows = [row if any(row) else [1] * values for row in rows]
    return [[Fraction(x, sum(row)) for x in row] for row in rows]


def evidence(reduction: Json) -> Json:
    """Returns evidence of a true claim, with a statement about neighbours."""
    claims = [{"claim": CLAIM, "proof": {"kind": "constant"}, "origins": ["a"]}]
    head = {"format": "paramverify-evidence", "version": 1, "status": "holds"}
    return {**head, "claims": claims, "reduction": reduction}


def statements(random: Random, count: int) -> Iterator[tuple[Json, bool]]:
    """Yields statements about small noise, and whether they are true: by all inputs and all noisy answers."""
    for _ in range(count):
        values, n = random.choice(((2, 1), (2, 2), (2, 3), (3, 2), (3, 3)))
        noise, ties, differ = (
            noises(random, values),
            random.choice(("uniform", "first")),
            random.choice(("each", "one")),
        )
        by = random.choice(("any", "1", "2"))
        found = ratios(noise, n, ties, differ, values if by == "any" else int(by))
        largest = max((r for r in found.values() if r is not None), default=Fraction(1))
        best = [pair for pair, r in found.items() if r == largest]
        for left, right in (random.choice(best or list(found)), random.choice(list(found))):
            about = {"noise": [[str(x) for x in row] for row in noise], "ties": ties, "answers": n}
            about |= {"differ": differ, "by": by, "left": [*left], "right": [*right]}
            yield about, found[left, right] == largest and None not in found.values()


def test_statements_are_accepted_iff_they_are_true(tmp_path: Path) -> None:
    """Of pairs of small noise exactly those with the largest ratio of all neighbours are accepted."""
    paths, wanted = [], []
    for k, (about, true) in enumerate(statements(Random(3), 60)):
        paths.append(tmp_path / f"{k}.json")
        paths[-1].write_text(json.dumps(evidence(about)))
        wanted.append("accepted" if true else "rejected")
    assert [answer.word for answer in by_program(built(), paths)] == wanted
    assert [in_python(path.read_bytes()).word for path in paths] == wanted
    assert min(wanted.count("accepted"), wanted.count("rejected")) > 15


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Json:
    """Evidence of a case with ten answers."""
    path = tmp_path_factory.mktemp("standing") / "evidence.json"
    run(["verify", str(CASE), "--evidence", str(path)])
    found: Json = json.loads(path.read_text(encoding="utf-8"))
    assert "noise" in found["reduction"]
    return found


def test_changed_statements_get_the_same_answers(shipped: Json, tmp_path: Path) -> None:
    """Changed and mangled statements: both accept them, or both reject them, with the same counts."""
    true = [evidence(about) for about, good in statements(Random(8), 12) if good]
    few = {**shipped, "claims": shipped["claims"][:1]}
    documents = [*true, evidence(shipped["reduction"]), few]
    (tmp_path / "true").mkdir()
    found, counts = differences(built(), [json.dumps(d).encode() for d in documents], tmp_path / "true")
    assert (found, counts) == ([], {"accepted": len(documents)})
    found, counts = differences(built(), changed(documents, 500, 77), tmp_path)
    assert found == []
    assert min(counts["rejected"], counts["accepted"]) > 20, counts
    assert counts.get(NOT_KNOWN, 0) < 25, counts


def test_too_many_neighbours_are_not_known(shipped: Json, tmp_path: Path) -> None:
    """What would take too long is said to be not known, and so is noise with parameters."""
    many = copy.deepcopy(shipped)
    about = many["reduction"]
    about |= {"answers": 40, "left": [1] * 40, "right": [0] + [2] * 39}
    parametric = copy.deepcopy(shipped)
    parametric["reduction"]["domain"] = {"variables": [], "box": {}, "constraints": []}
    paths = [tmp_path / "many.json", tmp_path / "parametric.json"]
    for path, document in zip(paths, (many, parametric), strict=True):
        path.write_text(json.dumps(document))
    assert [answer.word for answer in by_program(built(), paths)] == [NOT_KNOWN] * 2
