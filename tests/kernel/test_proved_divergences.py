"""The proved checker and divergences: the answers of Python, and nothing that is false at a point."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import mpmath
import pytest
from engine_documents import NO_PARAMETERS
from oracle_tools import Json, value_of
from three_checkers import agreed, built, by_program
from written_evidence import evidence

TINY = mpmath.mpf(10) ** -9
LONG = 200  # bits


def linear(random: Random) -> list[int]:
    """Returns a + b·t, which is not negative on [0, 1], and may be 0 at an end."""
    return random.choice(
        [[random.randint(1, 5), random.randint(0, 4)], [0, random.randint(1, 4)], [2, -1], [1, -1]]
    )


def times(left: list[int], right: list[int]) -> list[int]:
    """Returns the product of two polynomials in t."""
    found = [0] * (len(left) + len(right) - 1)
    for i, a in enumerate(left):
        for k, b in enumerate(right):
            found[i + k] += a * b
    return found


def text_of(poly: list[int]) -> str:
    """Returns the text of a polynomial in t."""
    return " + ".join(f"{c}*t^{k}" for k, c in enumerate(poly)).replace("+ -", "- ")


def family(random: Random) -> Json:
    """Returns distributions: products of factors on the left, the same in another order on the right."""
    count, shared = random.randint(2, 4), linear(random)
    factors = [linear(random) for _ in range(count)] + [shared]
    powers: list[list[list[int]]] = [[[k, 1]] + [[count, 1]] * random.randint(0, 2) for k in range(count)]
    polys = []
    for row in powers:
        poly = [1]
        for k, _ in row:
            poly = times(poly, factors[k])
        polys.append(poly)
    size = max(map(len, polys))
    total = [sum(p[k] for p in polys if k < len(p)) for k in range(size)]
    turned = random.sample(range(count), count)
    pairs = [[text_of(polys[k]), text_of(polys[turned[k]])] for k in range(count)]
    products: list[Any] = [["1", [[count + 1, 1]]]]
    for k in range(count):
        products += [["1", powers[k]], ["1", powers[turned[k]]]]
    return {
        "total": text_of(total),
        "outputs": pairs,
        "origins": [["a", "b", 1]],
        "factors": [*map(text_of, factors), text_of(total)],
        "products": products,
    }


def tree(low: Fraction, high: Fraction, depth: int, orders: list[str]) -> list[Any]:
    """Returns a tree that cuts an interval again and again."""
    if not depth:
        return [["+", orders]]
    middle = (low + high) / 2
    below, above = (tree(*ends, depth - 1, orders) for ends in ((low, middle), (middle, high)))
    return [["cut", "t", str(middle)], *below, *above]


def shares(claim: Json, at: Fraction) -> list[tuple[Any, Any]]:
    """Returns both probabilities of each output at a point, as floating-point numbers of many bits."""
    point = {"t": at}
    total = value_of(claim["total"], point)
    exact = [[value_of(text, point) / total for text in pair] for pair in claim["outputs"]]
    return [tuple(mpmath.mpf(x.numerator) / x.denominator for x in pair) for pair in exact]


def divergence(found: list[tuple[Any, Any]], order: Fraction | None) -> Any:
    """Returns KL, or the Renyi divergence of an order, by their definitions."""
    kept = [(p, q) for p, q in found if p]
    if any(not q for _, q in kept):
        return mpmath.inf
    if order is None:
        return sum((p * mpmath.log(p / q) for p, q in kept), mpmath.mpf(0))
    a = mpmath.mpf(order.numerator) / order.denominator
    return mpmath.log(sum(p**a * q ** (1 - a) for p, q in kept)) / (a - 1)


def largest(claim: Json, measure: str, low: Fraction, high: Fraction) -> Any:
    """Returns the largest KL, or D_a/a, at some points and orders."""
    orders = [None] if measure == "kl" else [Fraction(k, 8) for k in (9, 12, 16, 24, 48, 160, 800)]
    points = [low + (high - low) * Fraction(k, 24) for k in range(1, 24, 2)]
    return max(divergence(shares(claim, x), a) / (a or 1) for x in points for a in orders)


def number(value: Any) -> str:
    """Returns a rational near a floating-point number."""
    return str(Fraction(int(mpmath.floor(value * 10**12)), 10**12))


def document(claim: Json, measure: str, bound: str, ends: str, **more: Any) -> Json:
    """Returns evidence about one direction; t is in an interval."""
    domain = {"variables": ["t"], "box": {"t": ends}, "constraints": []}
    return on(domain, claim, measure, [bound, []], **more)


def on(domain: Json, claim: Json, measure: str, bound: list[Any], **more: Any) -> Json:
    """Returns evidence about one direction; a witness is against its claim."""
    about = {"domain": 0, "of": measure, "bound": bound, **claim}
    if "witness" in more:
        more["witness"] = {"kind": "average", **more["witness"], "claim": about}
    shown = [] if "witness" in more else [{"kind": "average", **about}]
    return evidence("violated" if "witness" in more else "holds", [domain], *shown, **more)


def families(seed: int, count: int) -> Iterator[tuple[Json, bool]]:
    """Yields evidence about random families, and whether it is false at a point that was looked at."""
    random = Random(seed)
    with mpmath.workprec(LONG):
        for k in range(count):
            measure, claim = ("kl", "zcdp")[k % 2], family(random)
            low, high = random.choice([(Fraction(0), Fraction(1)), (Fraction(1, 4), Fraction(3, 4))])
            found = largest(claim, measure, low, high)
            most = found if 0 < found < 50 else mpmath.mpf(1)
            orders = (
                []
                if measure == "kl"
                else ["5/4", "3/2", "2", "3", "5", "9", "20", "60"][: random.randint(0, 8)]
            )
            for factor in (Fraction(4, 5), Fraction(99, 100), Fraction(11, 10), Fraction(3, 2), Fraction(4)):
                bound = number(most * factor.numerator / factor.denominator)
                new = {**claim, "tree": tree(low, high, random.randint(0, 4), orders)}
                said = mpmath.mpf(Fraction(bound).numerator) / Fraction(bound).denominator
                yield document(new, measure, bound, f"({low}, {high})"), bool(found > said + TINY)


def test_nothing_false_at_a_point_is_accepted(tmp_path: Path) -> None:
    """Random families with zeros at the ends, trees and bounds: the same answers, none for false ones."""
    made = list(families(3, 10))
    counts = agreed([d for d, _ in made], tmp_path)
    assert min(counts["accepted"], counts["rejected"]) > 8, counts
    answers = by_program(built(), [tmp_path / f"{k}.json" for k in range(len(made))])
    wrong = [answer.word for answer, (_, false) in zip(answers, made, strict=True) if false]
    assert len(wrong) > 8
    assert set(wrong) == {"rejected"}


def witnesses(seed: int, count: int) -> Iterator[tuple[Json, bool]]:
    """Yields documents with a witness, and whether the divergence is above the bound there."""
    random = Random(seed)
    with mpmath.workprec(LONG):
        for k in range(count):
            measure, claim = ("kl", "zcdp")[k % 2], family(random)
            at = Fraction(random.choice([0, 1, 2, 3, 4]), 4)
            order = None if measure == "kl" else Fraction(random.randint(5, 40), 4)
            if not value_of(claim["total"], {"t": at}):
                continue
            value = divergence(shares(claim, at), order)
            infinite = value == mpmath.inf
            factor = Fraction(random.randint(6, 14), 10)
            bound = Fraction(
                "1" if infinite else number(value / (order or 1) * factor.numerator / factor.denominator)
            )
            ends = [number(value - TINY / 4), number(value + TINY / 4)] if not infinite else "infinity"
            witness = {
                "parameters": {"t": str(at)},
                "secrets": ["a", "b"],
                "length": 1,
                "measure": measure,
                "value": ends,
                "bound": str(bound * (order or 1)),
                "exceeds": True,
                "largest": [],
                **({} if order is None else {"order": str(order)}),
            }
            about = {name: claim[name] for name in ("total", "outputs", "origins")}
            beyond = infinite or (value > 0 and factor < 1)
            if bound >= 0 and factor != 1 and (infinite or value > TINY):
                yield document(about, measure, str(bound), "[0, 1]", witness=witness), bool(beyond)


def test_witnesses_are_accepted_iff_they_are_beyond(tmp_path: Path) -> None:
    """By the definitions of the divergences, with 200 bits; infinite ones, too."""
    made = list(witnesses(5, 120))
    counts = agreed([d for d, _ in made], tmp_path)
    answers = by_program(built(), [tmp_path / f"{k}.json" for k in range(len(made))])
    assert [answer.word == "accepted" for answer in answers] == [beyond for _, beyond in made]
    assert min(counts["accepted"], counts["rejected"]) > 20, counts


RESPONSE: Json = {"total": "E + 1", "outputs": [["E", "1"], ["1", "E"]], "origins": [["a", "b", 1]]}
OF_EXP: Json = {"variables": ["E"], "box": {}, "constraints": [], "constant": "1/2"}


def about_exp(bound: str, leaf: list[Any], **domain: Any) -> Json:
    """Returns evidence that randomised response with ratio E = exp(1/2) is within a bound of KL."""
    claim = {
        **RESPONSE,
        "factors": ["E + 1", "E"],
        "products": [["1", [[0, 1]]], ["1", [[1, 1]]], ["1", []], ["1", []], ["1", [[1, 1]]]],
        "tree": leaf,
    }
    return on({**OF_EXP, **domain}, claim, "kl", [bound, []])


def test_where_exp_occurs(tmp_path: Path) -> None:
    """KL is (e^(1/2) - 1)/(e^(1/2) + 1)/2 = 0.122459..., with an interval of E or without."""
    leaf: list[Any] = [["+", []]]
    cut = [["cut", "E", "164872127/100000000"], *leaf, *leaf]  # is not inside: E is enclosed by 192 bits
    right = [about_exp("122460/1000000", leaf), about_exp("1/8", leaf, box={"E": "[1, 2]"})]
    wrong = [about_exp("122459/1000000", leaf), about_exp("1/8", cut), about_exp("1/8", leaf, constant="41")]
    wrong += [about_exp("1/8", leaf, box={"E": "[2, 3]"}), about_exp("1/8", leaf, constant="-1")]
    assert agreed([*right, *wrong], tmp_path) == {"accepted": len(right), "rejected": len(wrong)}


def test_witnesses_where_exp_occurs(tmp_path: Path) -> None:
    """Of randomised response with ratio exp(1/2): KL, and orders, by their definitions."""
    made, wanted = [], []
    with mpmath.workprec(LONG):
        ratio = mpmath.exp(mpmath.mpf(1) / 2)
        chances = [(ratio / (ratio + 1), 1 / (ratio + 1)), (1 / (ratio + 1), ratio / (ratio + 1))]
        for order in (None, Fraction(3, 2), Fraction(7)):
            value = divergence(chances, order)
            for bound in (Fraction(1, 20), Fraction(1, 5)):
                witness = {
                    "parameters": {},
                    "secrets": ["a", "b"],
                    "length": 1,
                    "measure": "kl" if order is None else "zcdp",
                    "value": [number(value - TINY / 4), number(value + TINY / 4)],
                    "bound": str(bound * (order or 1)),
                    "exceeds": True,
                    "largest": [],
                    **({} if order is None else {"order": str(order)}),
                }
                more = [str(bound), list[Any]()]
                made.append(on(OF_EXP, RESPONSE, witness["measure"], more, witness=witness))
                wanted.append("accepted" if value > float(bound) * (order or 1) else "rejected")
    assert set(wanted) == {"accepted", "rejected"}
    agreed(made, tmp_path)
    answers = by_program(built(), [tmp_path / f"{k}.json" for k in range(len(made))])
    assert [answer.word for answer in answers] == wanted


@pytest.mark.parametrize("text", ["1/3", "1", "7/5", "1" + "0" * 40, "1/" + "9" * 50])
def test_a_bound_with_logarithms(text: str, tmp_path: Path) -> None:
    """A bound is a number and factors of logarithms: it is enclosed, and must not be below 0."""
    outputs = [["3/4", "1/4"], ["1/4", "3/4"]]
    products = [["1", []], *([share, []] for pair in outputs for share in pair)]
    claim = {
        "total": "1",
        "outputs": outputs,
        "origins": [["a", "b", 1]],
        "factors": [],
        "products": products,
    }
    made, wanted = [], []
    with mpmath.workprec(LONG):
        log = mpmath.log(mpmath.mpf(Fraction(text).numerator) / Fraction(text).denominator)
        for factor in ("1", "-1", "1/50", "-1/50", "0"):
            for start in ("0", "1/2", "11/20", "3"):
                of = Fraction(factor)
                bound = mpmath.mpf(Fraction(start).numerator) / Fraction(start).denominator
                bound += log * of.numerator / of.denominator
                made.append(
                    on(NO_PARAMETERS, {**claim, "tree": [["+", []]]}, "kl", [start, [[factor, text]]])
                )
                wanted.append(bool(bound > mpmath.log(3) / 2))
    agreed(made, tmp_path)
    answers = by_program(built(), [tmp_path / f"{k}.json" for k in range(len(made))])
    assert [answer.word == "accepted" for answer in answers] == wanted
