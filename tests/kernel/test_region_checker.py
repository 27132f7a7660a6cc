"""The checker of region maps: documents by hand, each true one accepted and each false one rejected."""

import copy
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from three_checkers import asked_later
from written_evidence import evidence, with_first

from paramverify.kernel import region_evidence as region_checker
from paramverify.kernel.documents import check_document
from paramverify.kernel.evidence_polynomials import evaluate, parse
from paramverify.kernel.ledger import Demanded, KernelReport

checked, compared_with_the_proved_checker = asked_later()

Json = dict[str, Any]
Factors = list[tuple[str, int]]
CLOSED = "[0, 1]"
HERE, HALVES = ["+"], ["q", "+", "+"]


def document(
    claims: list[tuple[str, str, Factors]],
    cells: list[Json],
    box: dict[str, str] | None = None,
    constraints: tuple[tuple[str, str], ...] = (),
    free: str = "p",
    **about: str,
) -> Json:
    """Returns a map of claims, each with the constant and the factors of its product."""
    box = {"p": CLOSED, "q": CLOSED} if box is None else box
    factors = list(dict.fromkeys(text for _, _, used in claims for text, _ in used))
    domain = {"variables": [*box], "box": box, "constraints": [list(c) for c in constraints], **about}
    own = {
        "kind": "cells",
        "domain": 0,
        "claims": [text for text, _, _ in claims],
        "free": [*free],
        "factors": factors,
        "products": [
            {"constant": c, "factors": [[factors.index(text), power] for text, power in used]}
            for _, c, used in claims
        ],
        "cells": cells,
    }
    return evidence("map", [domain], own)


def cell(status: str, low: str = "0", high: str = "1", **more: Any) -> Json:
    return {"box": [[low, high]], "status": status, **more}


def safe(tokens: list[str] | None = None, low: str = "0", high: str = "1") -> Json:
    return cell("safe", low, high, **({} if tokens is None else {"cuts": {"0": tokens}}))


def violating(at: str = "1/2", low: str = "0", high: str = "1", claim: int = 0) -> Json:
    return cell("violating", low, high, claim=claim, at={"q": at})


def single(claim: tuple[str, str, Factors], entry: Json, **more: Any) -> Json:
    """Returns a map of one claim with one cell."""
    return document([claim], [entry], **more)


def accepted(given: Json) -> bool:
    report = checked(given)
    assert report.accepted == (not report.lines[0].startswith("rejected: "))
    return report.accepted


def refused(given: Json, reason: str) -> bool:
    report = checked(given)
    return not report.accepted and reason in report.lines[0]


NEGATIVE = ("-1", "-1", [])  # fails everywhere
POSITIVE = ("p + q + 1", "1", [("p + q + 1", 1)])
MIXED = ("q - 1/2", "1", [("q - 1/2", 1)])
SQUARE = ("q^2 - q + 1/4", "1", [("q - 1/2", 2)])
TWICE = ("2*q^2 - 2*q + 1/2", "1", [("q - 1/2", 1), ("2*q - 1", 1)])
TURNED = ("-2*q^2 + 2*q - 1/2", "-1", [("q - 1/2", 1), ("2*q - 1", 1)])


# --- safe cells -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "tokens", "right"),
    [
        (POSITIVE, None, True),
        (POSITIVE, HERE, True),
        (POSITIVE, HALVES, True),
        (("-p - q - 1", "-1", [("p + q + 1", 1)]), None, False),
        (("-p - q - 1", "1", [("-p - q - 1", 1)]), HERE, False),
        (("p + q + 1", "-1", [("-p - q - 1", 1)]), None, True),
        (MIXED, None, False),
        (MIXED, HALVES, False),
        (SQUARE, None, True),
        (SQUARE, HERE, True),
        (("-q^2 + q - 1/4", "-1", [("q - 1/2", 2)]), None, False),
        (("-q^2 + q - 1/4", "-1", [("q - 1/2", 2)]), HALVES, False),
        (TWICE, None, False),
        (TWICE, HALVES, True),
        (TURNED, HALVES, False),
        (("2*q^2 - 3*q + 9/8", "1", [("q - 3/4", 1), ("2*q - 3/2", 1)]), ["q", "+", "q", "+", "+"], True),
        (("1/2*q^2 - 1/4*q", "1/2", [("q", 1), ("q - 1/2", 1)]), HALVES, False),
        (("q^3 - q^2 + 1/4*q", "1", [("q", 1), ("q - 1/2", 2)]), None, True),
        (("q^3 - 3/2*q^2 + 3/4*q - 1/8", "1", [("q - 1/2", 3)]), None, False),
        (("q^3", "1", [("q", 3)]), None, True),
        (("0", "1", [("0", 1)]), None, True),
        (("0", "-1", [("0", 1)]), None, True),
        (("0", "-1", [("q - 1/2", 1), ("0", 1)]), None, True),
        (NEGATIVE, None, False),
        (NEGATIVE, HALVES, False),
        (("1", "1", []), None, True),
        (("q", "1", [("q", 1)]), None, True),
        (("q - 1", "1", [("q - 1", 1)]), None, False),
        (("1 - q", "1", [("1 - q", 1)]), None, True),
    ],
)
def test_safe_cells(claim: tuple[str, str, Factors], tokens: list[str] | None, right: bool) -> None:
    """The signs of the factors on each part show that a claim holds, and never one that fails somewhere."""
    given = single(claim, safe(tokens))
    assert accepted(given) == right
    values = [
        evaluate(parse(claim[0], "pq"), [Fraction(a, 8), Fraction(b, 8)]) for a in range(9) for b in range(9)
    ]
    assert min(values) >= 0 or not right
    assert not accepted(single(claim, {**safe(tokens), "status": "violating"}))


@pytest.mark.parametrize(
    ("tokens", "right"),
    [
        (HALVES, True),
        (["q", "+", "q", "+", "+"], True),
        (["q", "q", "+", "+", "+"], True),
        (["q", "+"], False),
        (["q", "+", "+", "+"], False),
        (["+", "+"], False),
        (["p", "+", "+"], False),
        (["r", "+", "+"], False),
        (["q", "-", "+"], False),
        ([], False),
        ("+", False),
        (None, False),
        ({"+": 1}, False),
    ],
)
def test_cuts_are_of_quantified_parameters_and_complete(tokens: Any, right: bool) -> None:
    """A subdivision names quantified parameters, and has exactly one end for each part."""
    assert accepted(single(TWICE, cell("safe", cuts={"0": tokens}))) == right


def test_the_number_of_cuts_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many entries as the limit are followed, one more is refused."""
    monkeypatch.setattr(region_checker, "MAX_TOKENS", 3)
    assert accepted(single(TWICE, safe(HALVES)))
    monkeypatch.setattr(region_checker, "MAX_TOKENS", 2)
    assert refused(single(TWICE, safe(HALVES)), "not a list of cuts")


def test_every_claim_is_shown() -> None:
    """A second claim that fails makes a safe cell wrong; each claim has a proof of its own."""
    two = document([POSITIVE, TWICE], [cell("safe", cuts={"1": HALVES})])
    assert accepted(two)
    for entry in (cell("safe"), cell("safe", cuts={"0": HALVES}), cell("safe", cuts={"1": HERE})):
        assert not accepted(with_first(two, cells=[entry]))
    assert not accepted(document([POSITIVE, MIXED], [cell("safe", cuts={"1": HALVES})]))
    assert not accepted(document([MIXED, POSITIVE], [cell("safe", cuts={"0": HALVES})]))
    assert accepted(document([TWICE, POSITIVE], [cell("safe", cuts={"0": HALVES, "1": HERE})]))


@pytest.mark.parametrize(
    ("constraints", "tokens", "right"),
    [
        ([("q - 2", ">=")], HERE, True),
        ([("q - 1", ">")], HERE, True),
        ([("q - 1", ">=")], HERE, False),
        ([("q - 1/2", ">")], HERE, False),
        ([("q - 1/2", ">")], HALVES, False),
        ([("q", ">="), ("q - 2", ">=")], HERE, True),
        ([("q - 1/2", ">"), ("1/2 - q", ">=")], HALVES, False),
        ([("q - 1/2", ">"), ("1/2 - q", ">")], HALVES, True),
        ([("q - 1/2", ">"), ("1/2 - q", ">")], HERE, False),
        ([("q + p - 2", ">")], HERE, True),
        ([("p - 1", ">")], HERE, True),
        ([], HERE, False),
    ],
)
def test_constraints_that_hold_nowhere(
    constraints: list[tuple[str, str]], tokens: list[str], right: bool
) -> None:
    """Where some constraint holds nowhere there is nothing to show; a strict one may be zero there."""
    given = single(NEGATIVE, safe(tokens), constraints=tuple(constraints))
    assert accepted(given) == right
    outside = single(NEGATIVE, cell("outside", cuts={"outside": tokens}), constraints=tuple(constraints))
    assert accepted(outside) == right
    assert refused(single(NEGATIVE, cell("outside", cuts={"0": tokens}), constraints=tuple(constraints)), "")


# --- proofs of other kinds ----------------------------------------------------------------------------

BERNSTEIN = {"kind": "bernstein", "tree": ["+"]}


def test_proofs_are_about_the_cell() -> None:
    """A proof for the cell is accepted where the claim holds on the cell, and not where it fails there."""
    claim = ("p - 1/2", "1", [("p - 1/2", 1)])
    rest = {"cuts": {}, "proofs": {"0": BERNSTEIN}}
    low, high = cell("undecided", "0", "1/2"), cell("safe", "1/2", "1", **rest)
    assert accepted(document([claim], [low, high]))
    assert accepted(document([claim], [high, low]))
    wrong = cell("safe", "0", "1/2", **rest)
    assert not accepted(document([claim], [wrong, high]))
    assert not accepted(document([claim], [wrong, cell("undecided", "1/2", "1")]))
    other = document([POSITIVE, claim], [low, {**high, "proofs": {"1": BERNSTEIN}}])
    assert accepted(other)
    cells = [{**wrong, "proofs": {"1": BERNSTEIN}}, cell("undecided", "1/2", "1")]
    assert refused(with_first(other, cells=cells), "")


def test_answers_of_solvers_show_no_cell() -> None:
    """A map holds nothing that is only trusted."""
    trusted = {"kind": "solver", "solver": "z9", "version": "1"}
    assert refused(single(NEGATIVE, cell("safe", proofs={"0": trusted})), "by a solver only: z9 1")


def divided(cofactor: str) -> Json:
    """Returns the proof that q ≥ 1/2 follows from cofactor·(q − 1/2) ≥ 0, if the cofactor is positive."""
    rest = {"kind": "constraint", "constraint": 1, "factor": "1", "proof": {"kind": "constant"}}
    return {
        "kind": "divide",
        "constraint": 0,
        "factor": "q - 1/2",
        "cofactor": cofactor,
        "sign": "+",
        "proof": rest,
    }


@pytest.mark.parametrize(
    ("interval", "low", "high", "cofactor", "constraint", "right"),
    [
        ("(0, 1]", "0", "1/2", "p", "p*q - 1/2*p", True),
        ("[0, 1]", "0", "1/2", "p", "p*q - 1/2*p", False),
        ("[0, 1)", "0", "1/2", "p", "p*q - 1/2*p", False),
        ("[0, 1)", "1/2", "1", "1 - p", "q - 1/2 - p*q + 1/2*p", True),
        ("[0, 1]", "1/2", "1", "1 - p", "q - 1/2 - p*q + 1/2*p", False),
        ("(0, 1]", "1/2", "1", "1 - p", "q - 1/2 - p*q + 1/2*p", False),
        ("(0, 1)", "1/2", "1", "p - 1/2", "p*q - 1/2*q - 1/2*p + 1/4", False),
        ("(0, 1)", "0", "1/2", "1/2 - p", "1/2*q - p*q - 1/4 + 1/2*p", False),
        ("(0, 1)", "1/2", "1", "p", "p*q - 1/2*p", True),
    ],
)
def test_proofs_leave_out_ends_only_if_the_domain_does(
    interval: str, low: str, high: str, cofactor: str, constraint: str, right: bool
) -> None:
    """An end of a cell is open iff it is an end of the domain and open there."""
    shown = cell("safe", low, high, proofs={"0": divided(cofactor)})
    rest = cell("undecided", *(("1/2", "1") if low == "0" else ("0", "1/2")))
    given = document([MIXED], [shown, rest], {"p": interval, "q": CLOSED}, ((constraint, ">="),))
    assert accepted(given) == right


# --- violating cells ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "at", "right"),
    [
        (NEGATIVE, "1/2", True),
        (MIXED, "1/4", True),
        (MIXED, "1/2", False),
        (MIXED, "3/4", False),
        (MIXED, "0", True),
        (POSITIVE, "1/2", False),
        (("-p - q - 1", "-1", [("p + q + 1", 1)]), "1/2", True),
        (SQUARE, "1/4", False),
        (("-q^2 + q - 1/4", "-1", [("q - 1/2", 2)]), "1/4", True),
        (("-q^2 + q - 1/4", "-1", [("q - 1/2", 2)]), "1/2", False),
        (TURNED, "1/4", True),
        (TURNED, "3/4", True),
        (TURNED, "1/2", False),
        (TWICE, "1/4", False),
        (("q^2*p + q - 1/2", "1", [("q^2*p + q - 1/2", 1)]), "1/4", True),
        (("q^2*p + q - 1/2", "1", [("q^2*p + q - 1/2", 1)]), "1/3", True),
        (("q^2*p + q - 1/2", "1", [("q^2*p + q - 1/2", 1)]), "2/5", False),
        (("q^2*p + q - 1/2", "1", [("q^2*p + q - 1/2", 1)]), "1/2", False),
        (("p - q", "1", [("p - q", 1)]), "1", False),
        (("p - 2*q", "1", [("p - 2*q", 1)]), "1", True),
        (("p - 2*q", "1", [("p - 2*q", 1)]), "1/2", False),
        (("p - 2*q", "1", [("p - 2*q", 1)]), "0", False),
        (("p - 2", "1", [("p - 2", 1)]), "0", True),
        (("p^2 + q^2 - 2*p*q - 2", "1", [("p^2 + q^2 - 2*p*q - 2", 1)]), "1", True),
        (("0", "1", [("0", 1)]), "1", False),
        (("0", "-1", [("0", 1)]), "1", False),
        (("-p^2 + 2/3*p - 1/9", "-1", [("p - 1/3", 2)]), "1", False),
        (("-q^3", "-1", [("q", 3)]), "1", True),
        (("-q^3", "-1", [("q", 3)]), "0", False),
    ],
)
def test_violating_cells(claim: tuple[str, str, Factors], at: str, right: bool) -> None:
    """A cell is violating where the claim fails at one value of q for every p; zero is no failure."""
    assert accepted(single(claim, violating(at))) == right
    values = [evaluate(parse(claim[0], "pq"), [Fraction(k, 24), Fraction(at)]) for k in range(25)]
    assert right == (max(values) < 0)


@pytest.mark.parametrize("interval", ["[0, 1]", "(0, 1]", "[0, 1)", "(0, 1)", "[1/2, 1/2]"])
@pytest.mark.parametrize("at", ["-1/2", "0", "1/4", "1/2", "1", "3/2"])
def test_values_are_in_their_intervals(interval: str, at: str) -> None:
    """The value of a quantified parameter is one of the domain, ends only if they belong to it."""
    low, high = (Fraction(end) - Fraction(at) for end in interval[1:-1].split(", "))
    right = (low < 0 or (low == 0 and interval[0] == "[")) and (
        high > 0 or (high == 0 and interval[-1] == "]")
    )
    assert accepted(single(NEGATIVE, violating(at), box={"p": CLOSED, "q": interval})) == right


@pytest.mark.parametrize(
    ("constraint", "at", "right"),
    [
        (("q - p", ">="), "1/2", True),
        (("q - p", ">"), "1/2", False),
        (("q - p", ">"), "3/4", True),
        (("q - p", ">="), "1/4", False),
        (("q^2 - p", ">"), "3/4", True),
        (("q^2 - p", ">"), "1/2", False),
        (("1/2 - q", ">"), "1/2", False),
        (("1/2 - q", ">="), "1/2", True),
        (("1/2 - q", ">"), "1/4", True),
        (("p - 1/4", ">"), "1/2", True),  # points where it fails are not in the domain for any q
        (("p - 2", ">"), "1/2", True),
    ],
)
def test_constraints_hold_on_violating_cells(constraint: tuple[str, str], at: str, right: bool) -> None:
    """A constraint with q holds on the whole cell, a strict one strictly; others say which p count."""
    cells = [violating(at, "0", "1/2"), cell("undecided", "1/2", "1")]
    assert accepted(document([NEGATIVE], cells, constraints=(constraint,))) == right
    both = (("q + 1", ">"), constraint)
    assert accepted(document([NEGATIVE], cells, constraints=both)) == right
    assert accepted(document([NEGATIVE], cells, constraints=both[::-1])) == right


@pytest.mark.parametrize(
    ("interval", "factor", "low", "high", "right"),
    [
        ("(0, 1]", "p", "0", "1/2", True),
        ("[0, 1]", "p", "0", "1/2", False),
        ("[0, 1)", "p", "0", "1/2", False),
        ("[0, 1]", "p", "1/2", "1", True),
        ("[0, 1)", "1 - p", "1/2", "1", True),
        ("[0, 1]", "1 - p", "1/2", "1", False),
        ("(0, 1]", "1 - p", "1/2", "1", False),
        ("(0, 1)", "p - 1/2", "1/2", "1", False),
        ("(0, 1)", "1/2 - p", "0", "1/2", False),
        ("(0, 1)", "p - p^2", "0", "1", True),
        ("[0, 1)", "p - p^2", "0", "1", False),
        ("(0, 1]", "p - p^2", "0", "1", False),
        ("(0, 1)", "p - p^2", "0", "1/2", True),
    ],
)
def test_factors_vanish_at_no_point_of_a_violating_cell(
    interval: str, factor: str, low: str, high: str, right: bool
) -> None:
    """A factor may be zero at an end that is open in the domain, not at one inside it."""
    negated = {"p": "-p", "1 - p": "p - 1", "p - 1/2": "1/2 - p", "1/2 - p": "p - 1/2", "p - p^2": "p^2 - p"}
    claim = (negated[factor], "-1", [(factor, 1)])
    cells = [violating("1/2", low, high)]
    if (low, high) != ("0", "1"):
        cells.append(cell("undecided", *(("1/2", "1") if low == "0" else ("0", "1/2"))))
    assert accepted(document([claim], cells, {"p": interval, "q": CLOSED})) == right


@pytest.mark.parametrize(
    ("factor", "first", "second", "right"),
    [
        ("p + r", "[0, 1]", "[0, 1]", False),
        ("p + r", "(0, 1]", "[0, 1]", True),
        ("p + r", "[0, 1]", "(0, 1)", True),
        ("p + r", "[0, 1)", "[0, 1)", False),
        ("p*r", "(0, 1)", "[0, 1]", False),
        ("p*r", "(0, 1)", "(0, 1]", True),
        ("p*r", "[0, 1)", "(0, 1]", False),
    ],
)
def test_factors_that_vanish_in_a_corner_or_on_edges(
    factor: str, first: str, second: str, right: bool
) -> None:
    """p + r is zero at one corner, and p*r on two edges; their points count unless all are left out."""
    entry = {"box": [["0", "1"], ["0", "1"]], "status": "violating", "claim": 0, "at": {"q": "1/2"}}
    claim = ("-p - r" if "+" in factor else "-p*r", "-1", [(factor, 1)])
    assert accepted(document([claim], [entry], {"p": first, "r": second, "q": CLOSED}, free="pr")) == right


# --- tiling and counting --------------------------------------------------------------------------------


def grid(*boxes: tuple[str, str, str, str]) -> Json:
    cells = [{"box": [[a, b], [c, d]], "status": "undecided"} for a, b, c, d in boxes]
    return document([POSITIVE], cells, {"p": CLOSED, "r": CLOSED, "q": CLOSED}, free="pr")


PINWHEEL = [  # tiles that no cut separates
    ("0", "2/3", "0", "1/3"),
    ("2/3", "1", "0", "2/3"),
    ("1/3", "1", "2/3", "1"),
    ("0", "1/3", "1/3", "1"),
    ("1/3", "2/3", "1/3", "2/3"),
]


@pytest.mark.parametrize(
    ("boxes", "right"),
    [
        ([("0", "1", "0", "1")], True),
        ([("0", "1/2", "0", "1"), ("1/2", "1", "0", "1")], True),
        ([("0", "1", "1/2", "1"), ("0", "1", "0", "1/2")], True),
        ([("0", "1/2", "0", "1"), ("1/2", "1", "0", "1/2"), ("1/2", "1", "1/2", "1")], True),
        ([("0", "1/2", "0", "1/2"), ("1/2", "1", "0", "1/2"), ("0", "1", "1/2", "1")], True),
        ([("0", "1/2", "0", "1")], False),
        ([], False),
        ([("0", "1/2", "0", "1"), ("1/2", "1", "0", "1/2")], False),
        ([("0", "1/2", "0", "1"), ("1/2", "1", "0", "1"), ("1/2", "1", "0", "1")], False),
        ([("0", "1/3", "0", "1"), ("1/3", "1", "0", "1")], True),
        ([("0", "5/16", "0", "1"), ("5/16", "1", "0", "3/7"), ("5/16", "1", "3/7", "1")], True),
        (PINWHEEL, False),
        ([("0", "1/3", "0", "1"), ("1/4", "1", "0", "1")], False),
        ([("0", "1/3", "0", "1"), ("1/2", "1", "0", "1")], False),
        ([("0", "3/4", "0", "1"), ("1/2", "1", "0", "1")], False),
        ([("0", "1", "0", "1"), ("0", "1", "0", "1")], False),
        ([("0", "1/2", "0", "1"), ("1/2", "2", "0", "1")], False),
        ([("-1", "1/2", "0", "1"), ("1/2", "1", "0", "1")], False),
        ([("0", "1/4", "0", "1"), ("1/2", "1", "0", "1")], False),
        ([("0", "1/2", "0", "1"), ("3/4", "1", "0", "1")], False),
        ([("1/2", "0", "0", "1"), ("1/2", "1", "0", "1")], False),
    ],
)
def test_cells_tile_the_box(boxes: list[tuple[str, str, str, str]], right: bool) -> None:
    """Cells come of cutting the box across, anywhere; nothing is missing, there twice, or beside it."""
    assert accepted(grid(*boxes)) == right
    assert accepted(grid(*boxes[::-1])) == right


def test_the_number_of_cells_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many cells as the limit are read, one more is refused."""
    cells = [cell("undecided", "0", "1/2"), cell("undecided", "1/2", "1")]
    monkeypatch.setattr(region_checker, "MAX_CELLS", 2)
    assert accepted(document([POSITIVE], cells))
    monkeypatch.setattr(region_checker, "MAX_CELLS", 1)
    assert refused(document([POSITIVE], cells), "the map has too many cells")


# --- what a map is about ------------------------------------------------------------------------------


def test_values_of_all_quantified_parameters_count() -> None:
    """A factor with one of two quantified parameters is fixed by its value; E has none."""
    box = {"p": CLOSED, "q": CLOSED, "r": CLOSED}
    for factor in ("q", "r"):
        claim = (f"-{factor}", "-1", [(factor, 1)])
        for at, right in (("1/2", True), ("0", False)):
            values = {"q": "1", "r": "1", factor: at}
            given = document([claim], [{**violating(), "at": values}], box, free="p")
            assert accepted(given) if right else refused(given, "a factor may vanish")
    negative = ("5/2*q - E*q", "-1", [("E - 5/2", 1), ("q", 1)])
    assert accepted(with_constant("[27/10, 28/10]", negative, violating()))


def test_multiplications_are_bounded_by_degrees() -> None:
    """Factors that are numbers count once each, and there are not many more of them than degrees."""
    number = ("4*q + 4", "1", [("q + 1", 1), ("4", 1)])
    assert accepted(single(number, safe()))
    assert refused(single(("4*q + 4", "1", [("q + 1", 1), ("2", 2)]), safe()), "differs from the polynomial")
    for many, right in ((2, True), (3, False), (4, False)):
        claim = ("q + 1", "1", [("q + 1", 1), *[("1", 1)] * many])
        assert accepted(single(claim, safe())) == right
    cube = ("q^3", "1", [("q", 3)])
    assert accepted(single(cube, safe()))
    for power in (2, 4, 5, 6):
        assert refused(single(("q^3", "1", [("q", power)]), safe()), "differs from the polynomial")
    assert accepted(single(("p*q", "1", [("p", 1), ("q", 1)]), safe()))


def compared(given: Json, stated: list[Json]) -> KernelReport:
    """The report on a map of a case that makes these claims."""
    return checked(given, Demanded(stated=stated))


def test_the_claims_are_those_of_the_case() -> None:
    """With claims given, a map of others, of another domain or in another order is refused."""
    given = document([POSITIVE, SQUARE], [safe()])
    (domain,), (own,) = given["domains"], given["statements"]
    claims = [{**domain, "polynomial": text} for text in own["claims"]]
    assert compared(given, claims).accepted
    for wrong in (
        claims[::-1],
        claims[:1],
        [*claims, claims[0]],
        [],
        [claims[0], {**claims[1], "polynomial": "q"}],
    ):
        assert compared(given, wrong).lines == ("rejected: the map is about other claims",)
    for change in (
        {"box": {"p": CLOSED, "q": "[0, 2]"}},
        {"box": {"p": CLOSED}},
        {"constraints": [["q", ">"]]},
        {"variables": ["q", "p"]},
        {"constant": "1"},
        {"box": {**domain["box"], "E": "[2, 3]"}},
    ):
        for k in (0, 1):
            wrong = copy.deepcopy(claims)
            wrong[k] |= change
            assert compared(given, wrong).lines == ("rejected: the map is about another domain",)
    turned = with_first(
        {**given, "domains": [{**domain, "box": {"p": CLOSED, "q": "[0, 2]"}}, domain]}, domain=1
    )
    assert compared(turned, claims).accepted
    assert compared(with_first(turned, domain=0), claims).lines == (
        "rejected: the map is about another domain",
    )
    assert refused(with_first(turned, domain=2), "there is no domain number 2")


def with_constant(interval: str, claim: tuple[str, str, Factors], entry: Json) -> Json:
    """Returns a map in which E stands for exp(1)."""
    return document([claim], [entry], {"p": CLOSED, "q": CLOSED, "E": interval}, constant="1")


def test_the_constant_has_an_interval() -> None:
    """E is a parameter more; its interval is shown to contain exp(1), and may differ from the case's."""
    claim = ("E - 5/2", "1", [("E - 5/2", 1)])
    narrow = with_constant("[27/10, 28/10]", claim, safe())
    assert accepted(narrow)
    assert not accepted(with_constant("[2, 3]", claim, safe()))
    assert not accepted(with_constant("[28/10, 3]", claim, safe()))
    exact = safe() | {"proofs": {"0": {"kind": "exponential"}}}
    alone = check_document(with_constant("[2, 3]", claim, exact))
    assert alone.accepted  # the proved checker has no such proof where E has an interval
    false = ("E - 11/4", "1", [("E - 11/4", 1)])
    assert not accepted(with_constant("[2, 3]", false, exact))
    stated = {**narrow["domains"][0], "polynomial": "E - 5/2", "box": {"p": CLOSED, "q": CLOSED}}
    assert compared(narrow, [stated]).accepted
    wide = {**stated, "box": {**stated["box"], "E": "[2, 3]"}}
    assert compared(narrow, [wide]).accepted
    other = {**stated, "constant": "1/2"}
    assert not compared(narrow, [other]).accepted
    named = {"p": CLOSED, "q": CLOSED, "E": "[26/10, 3]"}
    small = single(claim, safe(), box=named)  # a parameter that is called E, and is no constant
    assert accepted(small)
    assert compared(small, [{**small["domains"][0], "polynomial": "E - 5/2"}]).accepted
    larger = {**small["domains"][0], "polynomial": "E - 5/2", "box": {**named, "E": "[2, 3]"}}
    assert not compared(small, [larger]).accepted
    free = with_first(narrow, free=["E"], cells=[{**safe(), "box": [["27/10", "28/10"]]}])
    assert refused(free, "not parameters")


# --- symmetric parameters -------------------------------------------------------------------------------

QUARTERS = [[["0", "1/2"], ["0", "1/2"]], [["0", "1/2"], ["1/2", "1"]], [["1/2", "1"], ["1/2", "1"]]]
ABOVE = [["1/2", "1"], ["0", "1/2"]]  # where p is at least r


def folded(
    claim: tuple[str, str, Factors],
    mirrored: Any = ABOVE,
    classes: Any = (("p", "r"),),
    box: dict[str, str] | None = None,
    constraints: tuple[tuple[str, str], ...] = (),
) -> Json:
    """Returns a map of p and r, which are said to be symmetric, with one cell that mirrors others."""
    rest = [each for each in [*QUARTERS, ABOVE] if each != mirrored]
    cells = [{"box": each, "status": "undecided"} for each in rest]
    cells.append({"box": mirrored, "status": "mirrored"})
    box = {"p": CLOSED, "r": CLOSED, "q": CLOSED, **(box or {})}
    return with_first(document([claim], cells, box, constraints, "pr"), symmetric=[list(n) for n in classes])


def test_a_cell_mirrors_others_where_its_parameters_do_not_ascend() -> None:
    """p ≤ r holds at a point inside of each cell but one, and at none where p has the upper half."""
    claim = ("p + r - q", "1", [("p + r - q", 1)])
    report = checked(folded(claim))
    assert report.accepted
    assert (report.proved, report.open) == (0, 3)
    assert {"1 cell that mirror others", "symmetric: p, r"} <= set(report.lines)
    assert not any("mirror" in line for line in checked(single(POSITIVE, safe())).lines)
    for quarter in QUARTERS:
        assert refused(folded(claim, quarter), "a cell mirrors no others")
    assert refused(folded(claim, classes=(("r", "p"),)), "a cell mirrors no others")
    assert accepted(folded(claim, QUARTERS[1], classes=(("r", "p"),)))
    assert refused(folded(claim, classes=()), "a cell mirrors no others")


def test_the_exchange_of_symmetric_parameters_changes_nothing() -> None:
    """Neither claims, up to a positive factor, nor constraints, nor ends of the box."""
    claim = ("p + r - q", "1", [("p + r - q", 1)])
    for other in ("p + 2*r - q", "p - r", "p*r + p"):
        assert refused(folded((other, "1", [(other, 1)])), "p and r are not symmetric")
    for ends in ("(0, 1]", "[0, 1)", "(0, 1)"):
        assert refused(folded(claim, box={"p": ends}), "p and r are not symmetric")
        assert accepted(folded(claim, box={"p": ends, "r": ends}))
    for one_sided in (("p - 1/4", ">"), ("p + 2*r", ">=")):
        assert refused(folded(claim, constraints=(one_sided,)), "p and r are not symmetric")
    assert accepted(folded(claim, constraints=(("p + r", ">"), ("2*p - 1/2", ">="), ("3*r - 3/4", ">="))))
    assert refused(
        folded(claim, constraints=(("p - 1/4", ">="), ("r - 1/4", ">"))), "p and r are not symmetric"
    )
    for classes in ((("p",),), (("p", "q"),), (("p", "p"),), (("p", "r"), ("r", "p")), (("p", "x"),), ((),)):
        assert refused(folded(claim, classes=classes), "not classes of different free parameters")


# --- sums over sets of outputs ----------------------------------------------------------------------------

BELOW = [["-", 0, BERNSTEIN], ["claim", 0]]  # the only term is nowhere positive


def beside(given: Json, tree: list[Any], number: int = 0, terms: tuple[str, ...] = ("p - 2",)) -> Json:
    """Returns a map and a sum beside it, on one of its domains."""
    stated = {"domain": number, "room": "1", "terms": [*terms], "origins": [["a", "b", 1]]}
    return {**given, "statements": [*given["statements"], {"kind": "parts", **stated, "tree": tree}]}


def test_claims_of_a_map_come_from_sums() -> None:
    """Each leaf is the claim that it names, each claim is at a leaf, and the case has sums or has none."""
    one, (domain,) = single(("1", "1", []), safe()), single(POSITIVE, safe())["domains"]
    given = beside(one, BELOW)
    assert accepted(given)
    assert "1 sum over all sets of outputs" in checked(given).lines[-1]
    directions = [{"domain": domain, "room": "1", "terms": ["p - 2"], "origins": [["a", "b", 1]]}]
    stated = [{**domain, "polynomial": "1"}]
    assert checked(given, Demanded(stated=stated, directions=directions)).accepted
    for wanted in (Demanded(stated=stated), Demanded(stated=stated, directions=[])):
        assert not checked(given, wanted).accepted
    assert not checked(one, Demanded(stated=stated, directions=directions)).accepted
    assert refused(beside(one, [BELOW[0], ["claim", 1]]), "a leaf of the tree refers to another claim")
    assert refused(beside(one, [BELOW[0], BERNSTEIN]), "a leaf of the tree is no proof")
    assert refused(beside(one, BELOW[1:]), "the sign of a term is not shown at a leaf")
    assert refused(beside(one, BELOW[1:], terms=("p + 1",)), "the sign of a term is not shown at a leaf")
    assert refused(beside(one, [["+", 0, BERNSTEIN], ["claim", 0]], terms=("p",)), "refers to another claim")
    word = {"kind": "solver", "solver": "z9", "version": "1"}
    assert refused(beside(one, [["-", 0, word], ["claim", 0]]), "a sign is known by a solver only: z9 1")
    turned = [*directions, {**directions[0], "origins": [["b", "a", 1]]}]
    report = checked(given, Demanded(stated=stated, directions=turned))
    assert report.lines == ("rejected: a claim of the case has no tree",)
    two = document([("1", "1", []), POSITIVE], [safe()])
    assert refused(beside(two, BELOW), "a claim of the map is not about a set of outputs")


def test_sums_are_on_the_domain_of_the_map() -> None:
    """They are about the same points; only the interval of the constant E is left out there."""
    given = with_constant("[27/10, 28/10]", ("1", "1", []), safe())
    (domain,) = given["domains"]
    own = {**domain, "box": {"p": CLOSED, "q": CLOSED}}
    for other, right in (
        (own, True),
        ({**own, "box": {"p": CLOSED, "q": "[0, 1/2]"}}, False),
        ({**own, "constraints": [["q", ">"]]}, False),
        ({**own, "constant": "1/2"}, False),
    ):
        found = beside({**given, "domains": [domain, other]}, BELOW, 1)
        assert (
            accepted(found) if right else refused(found, "statements[1].domain: a sum is on another domain")
        )
    assert refused(beside(given, BELOW), "statements[1].domain: a sum is on another domain")


# --- parts that are none --------------------------------------------------------------------------------

DIFFERS = "the product of the factors differs from the polynomial"
GOOD = single(POSITIVE, safe())
BAD = single(NEGATIVE, violating())


def product_of(constant: str, *factors: list[int]) -> Json:
    return {"products": [{"constant": constant, "factors": [*factors]}]}


NONE: list[tuple[Json, Json, str]] = [
    *((GOOD, {"free": free}, "not parameters") for free in ([], ["p", "p"], ["x"], ["p", "x"])),
    (GOOD, {"claims": ["p + q"]}, DIFFERS),
    (GOOD, {"claims": []}, "malformed"),
    (GOOD, {"factors": []}, "not a factor"),
    (GOOD, {"factors": ["p + q"]}, DIFFERS),
    (GOOD, {"products": []}, "malformed"),
    (GOOD, product_of("0"), "the constant zero"),
    *((GOOD, product_of("1", [0, n]), DIFFERS) for n in (2, 9)),
    (GOOD, product_of("2", [0, 1]), DIFFERS),
    *((GOOD, product_of("1", [k, 1]), "not a factor") for k in (1, -1)),
    *((GOOD, product_of("1", [0, 1], [0, n]), "not a factor") for n in (0, -1)),
    (GOOD, {"cells": [cell("safe", cuts={"0": []})]}, "not a list of cuts"),
    (GOOD, {"cells": [cell("safe", cuts=None)]}, "it is not shown that a cell is safe"),
    (GOOD, {"cells": [cell("outside")]}, "a cell is outside"),
    (GOOD, {"cells": [cell("outside", cuts=None)]}, "a cell is outside"),
    *(
        (GOOD, {"cells": [{**safe(), "box": box}]}, "not a box over the free parameters")
        for box in ([], [["0", "1"], ["0", "1"]], [["0", "0"]], [["1", "0"]])
    ),
    *((BAD, {"cells": [violating(claim=k)]}, "a violating cell has no claim") for k in (-1, 1)),
    *(
        (BAD, {"cells": [{**violating(), "at": at}]}, "has no values for the quantified")
        for at in ({}, {"p": "1/2"}, {"q": "1/2", "p": "1/2"}, {"r": "1/2"})
    ),
]


@pytest.mark.parametrize(("given", "change", "reason"), NONE)
def test_parts_that_are_none(given: Json, change: Json, reason: str) -> None:
    """Free parameters, products, cuts, boxes, claims and values that are none are refused."""
    assert accepted(given)
    assert refused(with_first(given, **change), reason)


def test_places_that_no_cell_straddles() -> None:
    """Of boxes cut at random: a place with cells on both sides, and the middle wherever there is one."""
    random, seen = Random(3), [0, 0]
    for _ in range(80):
        box = [(Fraction(0), Fraction(random.choice((1, 3)))), (Fraction(-1), Fraction(1))]
        boxes = [tuple(box)]
        for _ in range(random.randint(1, 8)):
            own = boxes.pop(random.randrange(len(boxes)))
            axis = random.randrange(2)
            low, high = own[axis]
            place = low + (high - low) * Fraction(random.choice((1, 2, 2, 3)), 4)
            for ends in ((low, place), (place, high)):
                boxes.append(tuple(ends if k == axis else other for k, other in enumerate(own)))
        random.shuffle(boxes)
        pending = [(tuple(box), [(own, None) for own in boxes])]
        while pending:
            whole, cells = pending.pop()
            if len(cells) == 1:
                assert cells[0][0] == whole
                continue
            axis, place, sides = region_checker.separated(whole, cells)
            low, high = whole[axis]
            assert low < place < high
            assert sorted([*sides[0], *sides[1]]) == sorted(cells)
            middles = [
                k
                for k, (a, b) in enumerate(whole)
                if all(c[k][1] * 2 <= a + b or a + b <= c[k][0] * 2 for c, _ in cells)
            ]
            seen[bool(middles)] += 1
            assert not middles or (axis == middles[0] and place * 2 == low + high)
            for side, ends in zip(sides, ((low, place), (place, high)), strict=True):
                assert side
                assert all(ends[0] <= c[axis][0] and c[axis][1] <= ends[1] for c, _ in side)
                pending.append((tuple(ends if k == axis else o for k, o in enumerate(whole)), side))
    assert min(seen) > 20


def test_signs_of_constants() -> None:
    """The sign is 1 or -1, and the powers are as they are written."""
    factors = [parse("p", "p"), parse("p - 1", "p")]
    written = [{"constant": "3/2", "factors": [[0, 2]]}, {"constant": "-2", "factors": [[1, 1]]}]
    polys = [parse("3/2*p^2", "p"), parse("-2*p + 2", "p")]
    assert region_checker.read_products(written, polys, factors, 1) == [(1, ((0, 2),)), (-1, ((1, 1),))]


def test_roots_of_factors_are_named_once() -> None:
    """A factor that is there; and a map without quantified parameters is one, too."""
    roots = {"factor": 0, "powers": {"q": 1}, "reflected": [], "cuts": [], "roots": [["2/5", "3/5"]]}
    given = single(MIXED, violating("1/4"))
    assert accepted(with_first(given, by_roots=[roots]))
    assert not accepted(with_first(single(MIXED, violating("3/4")), by_roots=[roots]))
    for wrong in ([roots, roots], [{**roots, "factor": 1}], [{**roots, "factor": -1}]):
        assert refused(with_first(given, by_roots=wrong), "this is not a factor, or it is listed twice")
    assert accepted(document([("p", "1", [("p", 1)])], [safe()], box={"p": CLOSED}))
    square, negative = "p^2*q^2 - p*q + 1/3", "-p^2*q^2 + p*q - 1/3"
    own = {"factor": 0, "powers": {"p": 1, "q": 1}, "reflected": [], "cuts": ["1/2"], "roots": []}
    for given in (
        single((square, "1", [(square, 1)]), safe()),
        single((negative, "-1", [(square, 1)]), violating("1")),
    ):
        assert not accepted(given)  # its Bernstein coefficients have both signs, at q = 1, too
        assert accepted(with_first(given, by_roots=[own]))


def test_boxes_of_maps_and_cells_have_a_volume() -> None:
    """No free parameter is fixed, and no cell is flat; no variable stands for a logarithm."""
    for fixed in ("pr", "rp"):
        box = {fixed[0]: "[1/2, 1/2]", fixed[1]: CLOSED, "q": CLOSED}
        assert refused(document([POSITIVE], [], box, free="pr"), "a free parameter is fixed")
    for ends in (("0", "1", "1/2", "1/2"), ("1/2", "1/2", "0", "1")):
        assert refused(grid(ends), "a cell is not a box over the free parameters")
    tied = {"variables": ["x", "e"], "box": {"x": "[1/2, 1]"}, "constraints": [], "ties": {"e": ["x", "1"]}}
    assert refused({**GOOD, "domains": [tied]}, "a variable stands for a logarithm")
    zero, third, one, two = Fraction(0), Fraction(1, 3), Fraction(1), Fraction(2)
    cells = [(((one, two), (zero, third)), None), (((zero, one), (third, one)), None)]
    axis, place, _ = region_checker.separated(((zero, one), (zero, one)), cells)
    assert (axis, place) == (1, third)  # the end of the other axis is no place to cut
