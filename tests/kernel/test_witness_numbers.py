"""Numbers of witnesses that are written as formulas, beside floating point."""

from __future__ import annotations

import operator
from contextlib import nullcontext
from fractions import Fraction
from itertools import product
from math import e, log
from typing import Any

import pytest

from paramverify.kernel.claim_evidence import read_claim
from paramverify.kernel.evidence_polynomials import parse
from paramverify.kernel.strict_reading import Misformed, Rejected
from paramverify.kernel.witness_numbers import (
    Exponential,
    check_numbers,
    check_place,
    rational,
    read_place,
    read_value,
)

HALF = Fraction(1, 2)
FORMULAS: list[tuple[str, Fraction | None, float]] = [
    ("exp(1/2)", HALF, e**0.5),
    ("-3/2*exp(1)", HALF, -1.5 * e),
    ("2*exp(-3/2)", HALF, 2 * e**-1.5),
    ("(2*E^2 - 1)/(E + 3) with E = exp(1/2)", HALF, (2 * e - 1) / (e**0.5 + 3)),
    ("((-1)*E + 1)/(E) with E = exp(1/2)", HALF, (1 - e**0.5) / e**0.5),
    ("E - 2 with E = exp(1/2)", HALF, e**0.5 - 2),
    ("3*ln(2) - 1", None, 3 * log(2) - 1),
    ("(1)/(ln(3/2)^2)", None, 1 / log(1.5) ** 2),
    ("ln(5)", HALF, log(5)),
]


@pytest.mark.parametrize(("text", "exponent", "value"), FORMULAS)
def test_values(text: str, exponent: Fraction | None, value: float) -> None:
    """A formula has the value that it has, with its sign, and this is between its bounds."""
    tiny, of = Fraction(1, 10**9), exponent and Exponential(exponent)
    near = Fraction(value)
    told = {"exact": text, "lower": str(near - tiny), "upper": str(near + tiny)}
    found = read_value(told, of, "bound")
    assert found.sign() == (1 if value > 0 else -1)
    assert found.minus(rational(near - tiny)).sign() == 1 == -found.minus(rational(near + tiny)).sign()
    assert rational(near + tiny).minus(found).sign() == 1 == -rational(near - tiny).minus(found).sign()
    square = found.by(found).minus(rational(Fraction(value * value)))
    assert square.minus(rational(tiny)).sign() < 0 < square.minus(rational(-tiny)).sign()
    for wrong in ({"lower": str(near + tiny)}, {"upper": str(near - tiny)}):
        with pytest.raises(Misformed, match="the number does not lie between its bounds"):
            read_value({**told, **wrong}, of, "bound")


NONE: list[tuple[str, Fraction | None, str]] = [
    ("(1)/((-1)*E) with E = exp(1/2)", HALF, "denominator is not positive"),
    ("(1)/(E - 2) with E = exp(1/2)", HALF, "denominator is not positive"),
    ("(1)/(-ln(2))", None, "denominator is not positive"),
    ("(1)/(0) with E = exp(1/2)", HALF, "denominator is not positive"),
    ("ln(1/2)", None, "not above 1"),
    ("ln(1)", None, "not above 1"),
    ("ln(2) + ln(3)", None, "two logarithms"),
    ("exp(1/2)", None, "no constant"),
    ("exp(1/3)", HALF, "no multiple"),
    ("exp(10001/2)", HALF, "no multiple"),
    ("exp(5000)", HALF, "the number does not lie between its bounds"),
    ("E with E = exp(1)", HALF, "not a formula"),
    ("E with E = exp(1/2", HALF, "not a formula"),
]


def test_numbers_in_two_constants() -> None:
    """A number in one constant is not compared with one in another."""
    told = ({"exact": text, "lower": "0", "upper": "2"} for text in ("ln(2)", "exp(1/2)"))
    left, right = (read_value(data, Exponential(HALF), "bound") for data in told)
    with pytest.raises(Rejected, match="numbers in two constants"):
        left.minus(right)


@pytest.mark.parametrize(("text", "exponent", "words"), NONE)
def test_what_is_no_number(text: str, exponent: Fraction | None, words: str) -> None:
    """A denominator is positive, a logarithm is one of a number above 1, and exp that of the claim."""
    with pytest.raises(Misformed, match=words):
        read_value(
            {"exact": text, "lower": "-100", "upper": "100"}, exponent and Exponential(exponent), "bound"
        )


# --- what a witness says, against fractions ---------------------------------------------------------

NUMBERS = [Fraction(text) for text in ("-1/2", "0", "1/4", "1/2", "1", "3/2")]
CLAIM: dict[str, Any] = {"polynomial": "p"}


def refused(witness: dict[str, Any], claim: dict[str, Any] = CLAIM) -> str:
    """Returns why the numbers of a witness are refused, "" for what is accepted."""
    try:
        check_numbers({"claim": claim, **witness})
    except Rejected as error:
        return str(error)
    return ""


def test_two_probabilities() -> None:
    """Both are in [0, 1], the ratio is theirs, and above a positive bound: for all numbers of a grid."""
    accepted = 0
    for p, q, bound in product(NUMBERS, repeat=3):
        true = 0 <= p <= 1 and 0 <= q <= 1 and bound > 0 and p > bound * q
        right = str(p / q) if q else "infinity" if p else "undefined"
        for ratio in {right, "infinity", "undefined", "1/3"}:
            for more in ({}, {"exceeds": True}, {"exceeds": False}, {"secrets": ["A", "B"]}):
                told = {"probabilities": [str(p), str(q)], "ratio": ratio, "bound": str(bound), **more}
                good = true and ratio == right and more != {"exceeds": False}
                assert (refused(told) == "") == good, told
                accepted += good
    assert accepted > 50
    told = {"probabilities": ["0", "0"], "ratio": "infinity", "bound": "1"}
    assert refused(told) == "witness.ratio: not the quotient of the probabilities"


def test_two_sides_of_a_comparison() -> None:
    """The difference is that of the sides, and the relation is false."""
    relations = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq}
    for (name, true), left, right in product(relations.items(), NUMBERS, NUMBERS):
        for difference, fails in product((left - right, right - left, Fraction(1, 7)), (True, False)):
            told = {"relation": name, "left": str(left), "right": str(right), "difference": str(difference)}
            good = fails and difference == left - right and not true(left, right)
            assert (refused({**told, "fails": fails}) == "") == good, told


def share(*chances: Fraction | int, output: str = "a") -> dict[str, Any]:
    """Returns an output of a sum, one letter for each step, with both of its probabilities."""
    return {"output": list(output), "probabilities": [str(chance) for chance in chances]}


def test_sums_of_an_order() -> None:
    """A sum of p^order/q^(order - 1) is above its bound, and no part of it is larger; or it is infinite."""
    base = {"secrets": ["A", "B"], "length": 1, "exceeds": True}
    for order, p, q, total in product((2, 3), NUMBERS, NUMBERS, (*NUMBERS, "infinity", "undefined")):
        told = {**base, "order": order, "moment": str(total), "bound": "1/4", "largest": [share(p, q)]}
        right = 0 < p <= 1 and 0 <= q <= 1
        if isinstance(total, str):
            good = right and total == "infinity" and q == 0
        else:
            good = right and q > 0 and total > Fraction(1, 4) and total >= p**order / q ** (order - 1)
        assert (refused(told) == "") == good, told
    good = {**base, "order": 2, "moment": "1/2", "bound": "1/4", "largest": [share(NUMBERS[2], 1)]}
    assert refused(good) == ""
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"order": 1}, "order from 2"),
        ({"order": 10_001}, "above 10,000"),
        ({"length": 0}, "order from 2"),
        ({"moment": "undefined"}, "order from 2"),
        ({"largest": []}, "no output"),
        ({"exceeds": False}, "within the bound"),
        ({"bound": "1/2"}, "within the bound"),
        ({"bound": "0"}, "not positive"),
        ({"largest": [share(NUMBERS[2], 1), share(1, 1, output="b")]}, "less than its parts"),
        ({"largest": [share(NUMBERS[3], 1), share(NUMBERS[3], 1)]}, "or one twice"),
        ({"largest": [share(NUMBERS[3], 1, output="ab")]}, "another length"),
        ({"length": 2}, "another length"),
        ({"secrets": ["A", "A"]}, "secrets: twice the same"),
        ({"secrets": ["A"]}, "not two names"),
    ]
    two = [
        share(p, q, output=output) for p, q, output in ((NUMBERS[2], NUMBERS[3], "a"), (NUMBERS[3], 1, "b"))
    ]
    assert refused({**good, "moment": "3/8", "largest": two}) == ""
    assert "less than its parts" in refused({**good, "moment": "37/100", "largest": two})
    for more, words in wrong:
        assert words in refused({**good, **more}), more
    for name in ("order", "secrets", "length", "bound", "exceeds", "largest"):
        assert f"the key '{name}' is missing" in refused({k: v for k, v in good.items() if k != name})


def test_sums_without_an_order() -> None:
    """Of a measure that is named no part is known, but its probabilities are such."""
    good = {"secrets": ["A", "B"], "length": 1, "measure": "kl", "moment": "1/2", "bound": "1/4"}
    good |= {"exceeds": True, "largest": [share(1, NUMBERS[2])]}
    assert refused(good) == refused({**good, "moment": "infinity"}) == ""
    assert refused({**good, "order": 2}) == "witness.moment: less than its parts"
    for wrong in (share(0, 1), share(1, 2), share(2, 1), share(1, -1)):
        assert refused({**good, "largest": [wrong]}) == "witness.largest[0]: not probabilities"
    assert "within the bound" in refused({**good, "moment": "1/4"})
    assert "within the bound" in refused({**good, "moment": "infinity", "exceeds": False})
    for name in ("secrets", "length", "bound", "exceeds", "largest"):
        assert f"the key '{name}' is missing" in refused({k: v for k, v in good.items() if k != name})
    # Both are sums without one of their keys: a measure, or an order.
    assert "the key 'order' is missing" in refused({k: v for k, v in good.items() if k != "measure"})


def test_names_of_a_witness() -> None:
    """Two secrets of a ratio are different; a comparison of one probability is about one."""
    ratio = {"probabilities": ["1/2", "1/4"], "ratio": "2", "bound": "1"}
    assert refused({**ratio, "secrets": ["A", "A"]}) == "witness.secrets: twice the same"
    assert refused({**ratio, "secrets": ["A"]}) == "witness.secrets: not two names"
    for lone in ({"exceeds": False}, {"exceeds": True}, {"bound": "1"}, {"difference": "1"}):
        assert "is missing" in refused(lone), lone
    sides = {"relation": "<", "fails": True, "left": "1", "right": "1/2", "difference": "1/2"}
    assert refused({**sides, "secrets": ["A", "A"]}) == refused({**sides, "secrets": ["A"]}) == ""
    for exponent, words in (("0", "not positive"), ("-1", "not positive"), ("1/2", "")):
        assert words in refused(sides, {**CLAIM, "constant": exponent})
        assert bool(refused(sides, {**CLAIM, "constant": exponent})) == bool(words)
    for name in sides:
        assert refused({k: v for k, v in sides.items() if k != name})


def test_coordinates_that_are_roots() -> None:
    """A coordinate is told as a root of a polynomial in an interval with no other, or as a rational."""
    point = {
        "minimal": "t^2 - 2",
        "interval": ["1", "2"],
        "coordinates": {"x": "t", "y": "1/2", "z": "t - 1"},
    }
    box = {"x": "[0, 2]", "y": "[0, 1]", "z": "[0, 1]"}
    domain = {"variables": [*box], "box": box, "constraints": [], "polynomial": "-x*y"}
    claim = read_claim(domain)
    x = {"root_of": "x^2 - 2", "lower": "1", "upper": "2"}
    z = {"root_of": "x^2 + 2*x - 1", "lower": "2/5", "upper": "1/2"}
    told = {"x": x, "y": "1/2", "z": z}
    check_place(claim, {"algebraic": point, "parameters": told})
    wrong: list[dict[str, Any]] = [
        {"x": {**x, "root_of": "x^2 - 3"}},
        {"x": {**x, "lower": "3/2"}},
        {"x": {**x, "upper": "7/5"}},
        {"x": {**x, "lower": "-2"}},
        {"x": {**x, "root_of": "2*x - 3"}},
        {"x": "7/5"},
        {"y": "1/3"},
        {"y": {"root_of": "x^2 - 1/3", "lower": "0", "upper": "1"}},
        {"z": {**z, "upper": "2/5", "lower": "1/3"}},
        {"z": x},
    ]
    for more in wrong:
        with pytest.raises(Misformed, match=f"parameters.{next(iter(more))}: this is not the coordinate"):
            check_place(claim, {"algebraic": point, "parameters": {**told, **more}})
    for more, name in (({"constant": "1"}, "E"), ({"ties": {"w": ["y", "1"]}}, "w")):
        other = read_claim({**domain, **more, "variables": [*box, name]})
        with pytest.raises(Rejected, match="with exp or a logarithm"):
            check_place(other, {"algebraic": point, "parameters": told})
    with pytest.raises(Rejected):
        check_place(read_claim({**domain, "polynomial": "x*y"}), {"algebraic": point, "parameters": told})
    with pytest.raises(Misformed, match="these are not the coordinates of the point"):
        check_place(claim, {"algebraic": point, "parameters": {"x": x, "y": "1/2"}})


@pytest.mark.parametrize(("interval", "other"), [(["0", "1"], ["2", "3"]), (["2", "3"], ["0", "1"])])
def test_another_root_of_the_same_polynomial(interval: list[str], other: list[str]) -> None:
    """A polynomial with two roots: the interval says which one, and both are positive."""
    point = {"minimal": "t^2 - 3*t + 1", "interval": interval, "coordinates": {"x": "t"}}
    domain = {"variables": ["x"], "box": {"x": "[0, 3]"}, "constraints": [], "polynomial": "-x"}
    for ends in (interval, other):
        told = {"x": {"root_of": "x^2 - 3*x + 1", "lower": ends[0], "upper": ends[1]}}
        with nullcontext() if ends == interval else pytest.raises(Misformed, match="not the coordinate"):
            check_place(read_claim(domain), {"algebraic": point, "parameters": told})


@pytest.mark.parametrize(
    "minimal", ["t^2 - 2", "2*t - 3", "t^2 - 5*t + 6", "t^3 - t", "1", "0", "t^2 - 2*t + 1"]
)
def test_intervals_with_one_root(minimal: str) -> None:
    """An interval has exactly one root inside, none at an end, and its ends in their order."""
    roots = {"t^2 - 2": [-(2**0.5), 2**0.5], "2*t - 3": [1.5], "t^2 - 5*t + 6": [2, 3], "t^3 - t": [-1, 0, 1]}
    roots["t^2 - 2*t + 1"] = [1, 1]
    for low, high in product(range(-3, 5), repeat=2):
        inside = [low <= root <= high for root in roots.get(minimal, ())]
        good = sum(inside) == 1 and not {low, high} & set(roots[minimal])
        point = {"minimal": minimal, "interval": [str(low), str(high)], "coordinates": {}}
        with nullcontext() if good else pytest.raises(Rejected, match="exactly one root"):
            read_place(point)


def test_signs_at_a_root_in_the_middle() -> None:
    """At a rational root, of a polynomial that has others, a sign is evaluated."""
    place = read_place({"minimal": "2*t^3 - 3*t^2 + 2*t - 3", "interval": ["1", "2"], "coordinates": {}})
    for text, sign in (("2*t - 3", 0), ("t^2 - 2", 1), ("2 - t^2", -1), ("t - 2", -1), ("4*t^2 - 9", 0)):
        assert place.sign(parse(text, ("t",))) == sign, text
    root = read_place({"minimal": "t^2 - 2", "interval": ["1", "2"], "coordinates": {}})
    assert [root.sign(parse(text, ("t",))) for text in ("t", "1 - t", "2 - t^2")] == [1, -1, 0]
    assert read_value({"exact": "1/2", "lower": "1/2", "upper": "1/2"}, place, "bound").of == place


def test_numbers_at_an_algebraic_point() -> None:
    """They are polynomials in t; such a witness has the keys of a ratio or a comparison, and no others."""
    point = {"minimal": "t^2 - 2", "interval": ["1", "2"], "coordinates": {"x": "t"}}
    small = {"exact": "t - 1", "lower": "2/5", "upper": "1/2"}
    sides = {"relation": "<", "fails": True, "left": "1", "difference": "1/2"}
    ratio = {"probabilities": [small, "1/4"], "ratio": {"exact": "4*t - 4", "lower": "1", "upper": "2"}}
    good: list[dict[str, Any]] = [
        {**ratio, "bound": "1", "exceeds": True},
        {**sides, "right": small, "difference": {"exact": "2 - t", "lower": "0", "upper": "1"}},
    ]
    for told in good:
        assert refused({**told, "algebraic": point}) == ""
        for name in told:
            missing = {k: v for k, v in told.items() if k != name}
            assert "is missing" in refused({**missing, "algebraic": point}), name
        assert (
            refused({**told, "algebraic": point, "moment": "1"})
            == "witness.moment: not for an algebraic point"
        )
        assert refused({**told, "algebraic": {**point, "interval": ["-2", "2"]}})
    assert "within the bound" in refused({**good[0], "bound": "2", "algebraic": point})
    assert "the difference" not in refused({**good[0], "algebraic": point})
    assert "not the left side" in refused({**good[1], "difference": small, "algebraic": point})
    # What has a ratio beside a comparison has a right one.
    beside = {**ratio, "probabilities": ["1/2", "1/4"], "bound": "1", **sides, "right": "1/2"}
    assert [refused({**beside, "ratio": text}) == "" for text in ("2", "3")] == [True, False]
    # One probability is compared with a number, and is no ratio.
    assert refused({**good[1], "probabilities": [small], "secrets": ["A"], "algebraic": point}) == ""


def test_numbers_of_a_set_beside_a_place() -> None:
    """They are chances, and the ratio may be their quotient; enclosures decide nothing that they do not."""
    ratio = {"probabilities": ["1/2", "1/4"], "ratio": "2", "bound": "1"}
    enclosed = {"lower": "7/16", "upper": "9/16"}
    rows: list[tuple[Any, Any, Any, bool]] = [
        ("1/2", "1/4", "2", True),
        ("1/2", "1/4", "3", False),
        ("1/2", "1/4", "1", False),
        ("1/2", "0", "infinity", True),
        ("0", "0", "infinity", False),
        ("1/2", "1/4", "infinity", False),
        ("1/2", "0", "7", False),
        ("1", "1/2", "2", True),
        ("1/2", "-1/4", "-2", False),
        ("-1/2", "1/4", "-2", False),
        ("5/4", "1/4", "5", False),
        ("1/4", "5/4", "1/5", False),
        (enclosed, "1/4", "2", True),
        (enclosed, "1/4", "9/4", True),
        (enclosed, "1/4", "7/3", False),
        (enclosed, "1/4", "5/3", False),
        ("1/2", enclosed, {"lower": "1/2", "upper": "7/8"}, False),
        ("1/2", enclosed, {"lower": "1/2", "upper": "8/9"}, True),
        ("1/2", enclosed, {"lower": "8/7", "upper": "2"}, True),
        ("1/2", enclosed, {"lower": "6/5", "upper": "2"}, False),
    ]
    for left, right, quotient, good in rows:
        within = {"observations": ["0..1"], "probabilities": [left, right], "ratio": quotient}
        assert (refused({**ratio, "within": within}) == "") == good, within
