"""What the second reader reads from documents: polynomials, domains, roots and kinds."""

from __future__ import annotations

import re
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from mpmath import mp, mpf
from written_evidence import evidence

from paramverify.kernel.strict_reading import Rejected, UnreadCase
from paramverify.rereader.second_evidence import (
    Evidence,
    StatedDomain,
    StatedWitness,
    interval,
    is_merged,
    origins,
    polynomial,
    quotient_at,
    quotient_degree,
)

F = Fraction
Json = dict[str, Any]
POLYNOMIALS = """0|7/3|-1|x|-x|x^2|-x^2*y^3 - 1/2*x^2*y + 5|3/2*x^2*_q1 - y + 1|1/6*x*y^4 + 1/10*x^2*y - 2/15
2*3*x*x - y*x^3|-7/2*y^12 + x^11*y + 1/9*_q1^2"""


def test_polynomials_have_the_values_of_python() -> None:
    """Texts are evaluated at random points, with zeros and whole numbers among them; degrees are of terms."""
    random = Random(5)
    for text in POLYNOMIALS.replace("\n", "|").split("|"):
        read, code = polynomial(text), re.sub(r"\b\d+", r"F(\g<0>)", text.replace("^", "**"))
        for _ in range(12):
            point = {n: F(random.randint(-9, 9), random.choice((1, 1, 4, 6))) for n in ("x", "y", "_q1")}
            value = eval(code, {"F": F, **point})
            assert read.at({n: point[n] for n in read.degrees}) == read.at(point) == value, text
            assert quotient_at(text, point) == value
            assert not value or quotient_at(["x - 20*y^2 - 1/7", text], point) == (
                (point["x"] - 20 * point["y"] ** 2 - F(1, 7)) / value
            )
    degrees = {text: (polynomial(text).degree, polynomial(text).degrees) for text in ("3", "x*y^2 - x^2 + 1")}
    assert degrees == {"3": (0, {}), "x*y^2 - x^2 + 1": (3, {"x": 2, "y": 2})}
    assert [quotient_degree(q) for q in ("x^2*y", ["x^2*y + 1", "y^4"], ["1", "2"])] == [3, 7, 0]


def test_intervals_and_domains() -> None:
    """A point is in a domain if it is in each interval and every constraint is true, strict ones strictly."""
    assert interval("(0, 1/2]") == (F(0), F(1, 2), False, True)
    assert interval("[-3/2, 7)") == (F(-3, 2), F(7), True, False)
    data: Json = {"variables": ["p", "E", "q", "x_q"], "box": {"p": "[0, 1]", "q": "(0, 2)"}}
    data |= {"constraints": [["p - q", ">="], ["1/2*E - p", ">"]], "constant": "1/2"}
    found = StatedDomain.of(data, {"q": ("x_q", F(1))})
    assert (found.known, found.exponent, found.parameters) == (True, F(1, 2), ["p", "x_q"])
    found = StatedDomain.of(data)
    assert found.parameters == ["p", "q", "x_q"]
    assert StatedDomain.of({**data, "variables": ["p", "E"]}).parameters == ["p"]
    del data["constant"]
    assert StatedDomain.of(data).parameters == ["p", "E", "q", "x_q"]
    assert not StatedDomain.of({}).known
    assert StatedDomain.of({"variables": []}).known
    domain = StatedDomain.of({**data, "variables": ["p", "q"]})
    points = {(1, "1/2"): True, ("1/2", "1/2"): True, ("1/2", 1): False, (0, 0): False, (2, 1): False}
    for (p, q), inside in points.items():
        point = {"p": F(p), "q": F(q)}
        assert domain.has(point, lambda known=point: {**known, "E": F(4)}) is inside  # type: ignore[misc]
        assert not domain.has(point, lambda known=point: {**known, "E": 2 * known["p"]})  # type: ignore[misc]


@pytest.mark.parametrize(
    ("minimal", "ends", "root"),
    [
        ("t^2 - 2", ("1", "2"), "2"),
        ("-t^2 + 2", ("1", "2"), "2"),
        ("t^2 - 3", ("-2", "-1"), "3"),
        ("t^2 - 1/4", ("0", "1"), "1/4"),
        ("t^2 - t", ("1", "3"), "1"),
        ("t^2 - 9", ("0", "3"), "9"),
    ],
)
def test_roots(minimal: str, ends: tuple[str, str], root: str) -> None:
    """A rational very near to the only root of a polynomial in an interval, and numbers computed from it."""
    algebraic = {"minimal": minimal, "interval": ends, "coordinates": {"p": "t + 1/2", "q": "3*t^2"}}
    stated = StatedWitness({"algebraic": algebraic, "length": 3})
    mp.prec = 500
    sign = -1 if ends[0].startswith("-") else 1
    for found, true in (
        (stated.root["t"], sign * mp.sqrt(mpf(F(root).numerator) / F(root).denominator)),
        (stated.point["p"], sign * mp.sqrt(mpf(F(root).numerator) / F(root).denominator) + mpf(1) / 2),
        (stated.point["q"], 3 * mpf(F(root).numerator) / F(root).denominator),
        (
            stated.near({"exact": "t^3 - 1"}),
            sign * mp.sqrt(mpf(F(root).numerator) / F(root).denominator) ** 3 - 1,
        ),
    ):
        assert abs(mpf(found.numerator) / found.denominator - true) < mpf(2) ** -390
    assert (stated.near("7/3"), stated.length, stated.word, stated.secrets) == (F(7, 3), 3, None, ("", ""))


# --- documents --------------------------------------------------------------------------------------

DOMAINS = [
    {"variables": ["p"], "box": {"p": "(0, 1)"}, "constraints": []},
    {"variables": ["p"], "box": {"p": "(0, 1/2)"}, "constraints": []},
    {"variables": ["p"], "box": {"p": "(0, 1)"}, "constraints": [["p", ">"]]},
]
CLAIM: Json = {"kind": "claim", "domain": 0, "polynomial": "p^2 - p^5", "origins": ["a"]}
SUM: Json = {"kind": "parts", "domain": 0, "room": "p^3", "terms": ["p", "p^4*q"], "origins": [["a", "b", 1]]}
LOSS: Json = {"kind": "average", "domain": 0, "total": "p^6", "outputs": [["p", "1"], ["p^7", "p^8"]]}
CELLS: Json = {"kind": "cells", "domain": 1, "claims": ["p - 1", "p^3"]}
FIRST: Json = {"observations": ["x", "y"], "secrets": ["l", "r"], "parameters": {"p": "1/3"}}
KINDS: list[tuple[Json, str, int]] = [  # what a document has, its kind, and the largest degree
    ({}, "claims", 0),
    ({"statements": [CLAIM, {**CLAIM, "polynomial": "p"}]}, "claims", 5),
    ({"statements": [{**CLAIM, "origins": []}]}, "claims", 0),
    ({"statements": [CLAIM, SUM]}, "parts", 5),
    ({"statements": [{**SUM, "terms": ["p"]}]}, "parts", 3),
    ({"statements": [LOSS]}, "average", 8),
    ({"statements": [{**LOSS, "outputs": [["p", "1"]]}]}, "average", 6),
    ({"statements": [{"kind": "lemma"}, CLAIM, CELLS]}, "cells", 3),
    ({"statements": [{**CELLS, "kind": "line"}]}, "line", 3),
    ({"statements": [{"kind": "obligation"}, {"kind": "cone", "domain": 2}, CLAIM]}, "cone", 0),
    ({"budget": {"kind": "bound"}}, "claims", 0),
    ({"budget": {"kind": "delta"}}, "parts", 0),
    ({"budget": {"kind": "zcdp"}}, "average", 0),
    ({"statements": [CLAIM], "budget": {"kind": "kl"}}, "average", 0),
    ({"status": "violated", "witness": {**FIRST, "kind": "claim", "claim": CLAIM}}, "claims", 0),
    ({"status": "violated", "witness": {"kind": "set", "claim": SUM}}, "parts", 0),
    ({"status": "violated", "witness": {"kind": "average", "claim": LOSS}}, "average", 0),
]


def test_kinds_of_documents() -> None:
    """A document is about what its engine is about, else its statements, witness or budget, in this order."""
    for given, kind, degree in KINDS:
        statements = given.get("statements", [])
        document = evidence("holds", DOMAINS, *statements)
        found = Evidence({**document, **given, "statements": statements})
        assert (found.kind, found.degree) == (kind, degree), given
        assert found.is_map == (kind in ("cells", "line"))
        assert found.about_sums == (kind == "parts")
        assert found.holds == ("witness" not in given)
        assert found.engine.get("kind", kind) == kind
        if found.is_map:
            assert found.signs == [{"polynomial": "p - 1"}, {"polynomial": "p^3"}]
        if "budget" not in given and given:
            low = {"cells": "(0, 1/2)", "line": "(0, 1/2)"}.get(kind, "(0, 1)")
            assert statements[:1] == [{**CLAIM, "origins": []}] or found.domain.box == {"p": interval(low)}
    both = Evidence(evidence("holds", DOMAINS, CLAIM, {"kind": "automaton"}, SUM))
    assert (both.kind, both.about_sums) == ("automaton", True)
    with pytest.raises(UnreadCase):
        Evidence(evidence("holds", DOMAINS, {**CLAIM, "origins": []})).domain  # noqa: B018


def test_parts_of_documents() -> None:
    """Claims with their words, those about the whole domain, windows, ties and witnesses."""
    statements = [{**CLAIM, "domain": k, "polynomial": f"p + {k}"} for k in (0, 1, 2, 0)]
    found = Evidence(evidence("holds", DOMAINS, *statements, {**CLAIM, "origins": []}))
    assert [c["polynomial"] for c in found.signs] == ["p + 0", "p + 1", "p + 2", "p + 0"]
    assert [c["polynomial"] for c in found.signs_everywhere] == ["p + 0", "p + 0"]
    assert (found.windows, found.witness, found.witnesses, found.ties) == (None, None, [], {})
    windows = {"pairs": [["a", "b", 2], ["b", "c", 1]]}
    assert Evidence(evidence("holds", DOMAINS, windows=windows)).windows == {("a", "b"): 2, ("b", "c"): 1}
    budget = {"kind": "bound", "witnesses": [FIRST, FIRST]}
    least = Evidence(evidence("bounds", DOMAINS, budget=budget))
    known = least.witnesses
    assert not least.domain.known
    assert [(w.word, w.length, w.secrets, w.point) for w in known] == 2 * [
        (("x", "y"), 2, ("l", "r"), {"p": F(1, 3)})
    ]
    assert [StatedWitness(each).length for each in ({}, {"length": "3"}, FIRST)] == [0, 3, 2]
    assert [is_merged({"origins": ["a"] * k}) for k in range(2, 5)] == [False, True, True]
    assert origins({"origins": ["a", ["l", "r", 2]]}) == ["a", ("l", "r", 2)]
    tied = [{**CLAIM, "ties": {"e": ["x", "1/2"]}}, {**CLAIM, "ties": {"f": ["x_f", "2"]}}]
    ties = {"e": ("x", F(1, 2)), "f": ("x_f", F(2))}
    assert Evidence(evidence("holds", DOMAINS, *tied)).ties == ties
    broken = evidence("violated", DOMAINS, tied[0], witness={**FIRST, "kind": "claim", "claim": tied[1]})
    assert Evidence(broken).ties == ties
    for other in (["y", "1/2"], ["x", "1/3"]):
        with pytest.raises(Rejected, match="tied in two ways"):
            Evidence(evidence("holds", DOMAINS, *tied, {**CLAIM, "ties": {"e": other}})).ties  # noqa: B018
