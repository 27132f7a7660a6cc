"""Releases of a composition that come from a case: those of the case, in both directions, and no others."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from random import Random
from typing import Any

import pytest
from engine_documents import engine_document

from paramverify.rereader import second_compositions
from paramverify.rereader.second_reading import SecondLook, second_look

CASE = """
[mechanism]
kind = "release"
query = "x"
[mechanism.table]
0 = { a = "3/4", b = "1/4" }
1 = { a = "1/4", b = "1/4", c = "1/2" }
2 = { a = "1/2", c = "1/2" }
[mechanism.inputs]
x = { values = "0..2" }
[neighbours]
differ = "one"
by = 1
[privacy]
ratio = 4
"""
Table = list[tuple[str, str]]
FIRST: Table = [("3/4", "1/4"), ("1/4", "1/4"), ("0", "1/2")]
SECOND: Table = [("1/4", "1/2"), ("1/4", "0"), ("1/2", "1/2")]
FAR: Table = [("1", "0"), ("0", "1")]
LIKE: Table = [("1/2", "1/2"), ("1/2", "1/2")]  # as likely under both secrets


def turned(table: Table) -> Table:
    """Returns a release in the other direction."""
    return [(q, p) for p, q in table]


PAIRS = [FIRST, turned(FIRST), SECOND, turned(SECOND)]


def looked(
    dominating: Table, pairs: list[Table], case: str = CASE, around: tuple[str, ...] = ()
) -> SecondLook:
    """Returns what the second reader says of one component."""
    written: list[Any] = [{"kind": "table", "outputs": table} for table in (dominating, *pairs)]
    for kind in around:
        written = [{"kind": kind, "of": each} for each in written]
    component = {"times": 2, "case": {}, "ways": [{"dominating": written[0], "pairs": written[1:]}]}
    return second_look(engine_document("composition", "bounds", components=[component]), case)


TRUE: list[tuple[Table, list[Table]]] = [
    (FAR, PAIRS),
    (FAR, PAIRS[::-1]),
    (FAR, [FIRST]),
    (FAR, [[*FIRST[::-1], ("0", "0")]]),
    (FAR, [[("3/8", "1/8"), ("3/8", "1/8"), *FIRST[1:]]]),
]
FALSE: list[tuple[Table, list[Table], str]] = [
    (FIRST, PAIRS, "is not dominated"),
    (turned(FIRST), PAIRS, "is not dominated"),
    (SECOND, [SECOND], "is not dominated"),
    (LIKE, PAIRS, "is not dominated"),
    (FAR, [], "is not one of the case"),
    (FAR, [FAR], "is not one of the case"),
    (FAR, [LIKE], "is not one of the case"),
    (FAR, [*PAIRS, LIKE], "is not one of the case"),
    (FAR, [LIKE, *PAIRS], "is not one of the case"),
    (FAR, [[("3/4", "1/4"), ("1/4", "3/4")]], "is not one of the case"),
]


@pytest.mark.parametrize("around", [(), ("sampled",), ("turned",), ("turned", "sampled")])
def test_releases_of_the_case(around: tuple[str, ...]) -> None:
    """What dominates does so for all pairs, and each pair is one of the case, in whatever order."""
    for dominating, pairs in TRUE:
        look = looked(dominating, pairs, around=around)
        assert (look.compared, look.agrees) == (True, True), look.line
        assert look.line == "read a second time: 4 pairs of distributions agree with the components"
    for dominating, pairs, words in FALSE:
        look = looked(dominating, pairs, around=around)
        assert (look.compared, look.agrees, words in look.line) == (True, False, True), (pairs, look.line)


IMPOSSIBLE = CASE.replace(
    '[mechanism.inputs]\nx = { values = "0..2" }', "[prior]\nx = { uniform = [0, 2] }"
).replace(
    '[neighbours]\ndiffer = "one"\nby = 1', '[secrets]\na = "x == 0"\nb = "x == 1"\npairs = [["a", "b"]]'
)
OTHERS = [
    (CASE + 'length = "1..2"', False, True),
    (IMPOSSIBLE, True, False),
    (CASE.replace('b = "1/4", c = "1/2"', 'b = "1/2", c = "1/4"'), True, False),
    (CASE.replace("by = 1", 'by = "any"'), True, True),  # FAR dominates what is more, too
    (CASE.replace("ratio = 4", "ratio = 2"), True, True),
    (CASE.replace('"1/2", c = "1/2" }\n[', '"p", c = "1 - p" }\n[parameters]\np = "(0, 1)"\n['), False, True),
]


@pytest.mark.parametrize(("case", "compared", "agrees"), OTHERS)
def test_other_cases(case: str, compared: bool, agrees: bool) -> None:
    """Other probabilities are noticed, and not other bounds; a case with parameters is not read."""
    look = looked(FAR, PAIRS, case)
    assert (look.compared, look.agrees) == (compared, agrees), look.line
    assert ("secret is impossible" in look.line) == (case == IMPOSSIBLE)


def test_a_limit_of_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A case with as many pairs as the limit says is compared, one with more is not."""
    for most in (1, 2, 3):
        monkeypatch.setattr(second_compositions, "MOST_PAIRS", most)
        assert looked(FAR, PAIRS).compared == (most >= 2)


def test_domination_against_sets_of_outputs() -> None:
    """δ(c) is the largest P(S) − c·Q(S) of sets S, and one release dominates where its δ is never smaller."""
    draw = Random(2)
    ratios = sorted({Fraction(a, b) for a in range(5) for b in range(1, 5)} | {Fraction(100)})
    seen = set()
    for _ in range(300):
        both = [
            [(Fraction(draw.randrange(5)), Fraction(draw.randrange(5))) for _ in range(2)] for _ in range(2)
        ]
        deltas = [
            [
                max(sum(p - c * q for p, q in s) for n in range(3) for s in combinations(one, n))
                for c in ratios
            ]
            for one in both
        ]
        assert [[second_compositions._delta(one, c) for c in ratios] for one in both] == deltas
        larger = all(a >= b for a, b in zip(*deltas, strict=True))
        assert second_compositions._dominates(*both) == larger, both
        seen.add(larger)
    assert len(seen) == 2


def test_noise_is_no_list_of_outputs() -> None:
    """The releases of a case are tables."""
    noise = {"kind": "laplace", "scale": "1", "sensitivity": "1"}
    component = {"times": 1, "case": {}, "ways": [{"dominating": noise, "pairs": []}]}
    look = second_look(engine_document("composition", "bounds", components=[component]), CASE)
    assert (look.agrees, "no list of outputs" in look.line) == (False, True)
