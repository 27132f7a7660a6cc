"""The kernel of compositions by itself: what is exact, what was asked, and what a document does not show."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, prod
from typing import Any

import mpmath
import pytest
from engine_documents import engine_document, own, with_own

from paramverify.kernel import composition_evidence
from paramverify.kernel.composition_evidence import bounds_of, epsilon_of
from paramverify.kernel.documents import check_document
from paramverify.kernel.ledger import KernelReport

Release = dict[str, Any]
LEFT = ("releases of cases with their files",)


def table(*outputs: tuple[str, str]) -> Release:
    """A release with a list of masses."""
    return {"kind": "table", "outputs": [list(each) for each in outputs]}


FAR = table(("9/10", "1/10"), ("1/10", "9/10"))
NEAR = table(("1/2", "1/2"), ("1/2", "1/2"))
RESPONSE = {"kind": "randomized_response", "step": ["0", "9"], "values": "2"}  # the same as FAR


def replayed(
    dominating: Release, pairs: list[Release], question: dict[str, Any], **found: Any
) -> KernelReport:
    """What the kernel says of one release."""
    direction = {"grid": None, "spans": [], "choice": [0]}
    parts = {
        "components": [{"times": 1, "ways": [{"dominating": dominating, "pairs": pairs}]}],
        "question": question,
        "directions": [direction],
        **{"exact": None, "lower": None, "upper": None, **found},
    }
    return check_document(engine_document("composition", "bounds", **parts))


ONE = {"epsilon": ["0", "1"]}
ASKED: list[tuple[dict[str, Any], dict[str, str]]] = [
    (ONE, {"exact": "4/5"}),
    ({"delta": "0"}, {"exact": "9"}),
    ({"delta": "1/10"}, {"exact": "8"}),
    ({"delta": "3/4"}, {"exact": "3/2"}),
    ({"delta": "4/5"}, {"exact": "1"}),
    ({"delta": "1"}, {"exact": "1"}),
    ({"delta": "0"}, {"lower": "2", "upper": "3"}),
    (ONE, {"lower": "4/5", "upper": "4/5"}),
]


@pytest.mark.parametrize(("question", "found"), ASKED)
@pytest.mark.parametrize("pairs", [[NEAR], [NEAR, FAR], [NEAR, NEAR]])
def test_what_dominates_says_nothing_exact_of_others(
    pairs: list[Release], question: dict[str, Any], found: dict[str, str]
) -> None:
    """Numbers of the dominating pair are exact where it is the only one, and bound none of another."""
    assert replayed(FAR, [], question, **found).accepted
    assert replayed(FAR, [FAR], question, **found).accepted
    assert not replayed(FAR, pairs, question, **found).accepted


def test_what_was_asked_is_told() -> None:
    """A number says nothing without the ε or the δ that it is about."""
    told = replayed(FAR, [], ONE, exact="4/5").lines
    assert "asked: the least delta for epsilon = 0" in told
    assert (
        "asked: the least delta for epsilon = ln(2)"
        in replayed(FAR, [], {"epsilon": ["0", "2"]}, exact="7/10").lines
    )
    assert (
        "asked: the least epsilon for delta = 1/10" in replayed(FAR, [], {"delta": "1/10"}, exact="8").lines
    )


QUESTIONS: list[dict[str, Any]] = [{}, {**ONE, "delta": "1/10"}, {"epsilon": ["-1", "1"]}]


@pytest.mark.parametrize("question", QUESTIONS)
def test_one_thing_is_asked(question: dict[str, Any]) -> None:
    """Either ε from 0 on, or δ: also where the number is exact."""
    assert not replayed(FAR, [], question, exact="4/5").accepted


def test_tables_need_a_case() -> None:
    """A table without the name of its case is as little shown as one with it; noise stands for itself."""
    assert replayed(FAR, [], ONE, exact="4/5").not_compared == LEFT
    assert replayed(RESPONSE, [], ONE, exact="4/5").not_compared == ()


NO_DISTRIBUTIONS = [
    (table(("1", "1/2"), ("0", "1/4")), "1/2"),
    (table(("1/2", "1/2"), ("1/4", "1/2")), "0"),
    (table(("3/2", "1/2"), ("-1/2", "1/2")), "1"),
    (table(("1/2", "3/2"), ("1/2", "-1/2")), "1"),
]


@pytest.mark.parametrize(("wrong", "exact"), NO_DISTRIBUTIONS)
def test_masses_of_a_table_are_those_of_distributions(wrong: Release, exact: str) -> None:
    """Both sum to one, and none is negative, whatever the numbers of such a table would be."""
    assert "not two distributions" in replayed(wrong, [], ONE, exact=exact).lines[-1]


EVERY = engine_document(
    "composition",
    "bounds",
    **{
        "components": [{"times": 1, "ways": [{"dominating": RESPONSE, "pairs": []}]}],
        "question": ONE,
        "directions": [{"grid": None, "spans": [], "choice": [0]}],
        "exact": "4/5",
        "lower": None,
        "upper": None,
    },
)


def test_many_releases_are_exact_on_a_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 40 answers the least delta is the sum over how many are true; listed, they are 40 * 41 products."""
    n = 40
    chances = [Fraction(comb(n, k) * 9**k, 10**n) for k in range(n + 1)]
    exact = sum((max(p - q, Fraction(0)) for p, q in zip(chances, chances[::-1], strict=True)), Fraction(0))
    component = own(EVERY)["components"][0] | {"times": n}
    for most, step in product((n * (n + 1) - 1, n * (n + 1)), ("9", "3", "27", None)):
        monkeypatch.setattr(composition_evidence, "MOST_PRODUCTS", most)
        grid = step and {"step": ["0", step], "bits": 64, "tail": 64}
        direction = {"grid": grid, "spans": [], "choice": [0]}
        found = with_own(EVERY, components=[component], directions=[direction], exact=str(exact))
        report = check_document(found)
        assert report.accepted == (step in ("9", "3") or most == n * (n + 1))
        assert report.accepted or "too many outputs" in report.lines[-1]
        assert not check_document(with_own(found, exact=str(exact - Fraction(1, 10**n)))).accepted


PLAIN = (("9/10", "1/10"), ("1/10", "9/10"))
ALONE = (("1/10", "0"), ("9/10", "1/10"), ("0", "9/10"))  # the first output is impossible under Q


@pytest.mark.parametrize("releases", [(PLAIN,), (ALONE,), (ALONE, PLAIN), (PLAIN, ALONE, ALONE)])
@pytest.mark.parametrize("ratio", ["1", "2", "9", "80", "729", "1000"])
def test_what_is_exact(releases: tuple[tuple[tuple[str, str], ...], ...], ratio: str) -> None:
    """The least delta is the sum over all outputs, with a grid and without."""
    exact = Fraction(0)
    for outputs in product(*releases):
        p, q = (prod(map(Fraction, side)) for side in zip(*outputs, strict=True))
        exact += max(p - Fraction(ratio) * q, Fraction(0))
    components = [{"times": 1, "ways": [{"dominating": table(*each), "pairs": []}]} for each in releases]
    for grid in (None, {"step": ["0", "9"], "bits": 64, "tail": 64}):
        direction = {"grid": grid, "spans": [], "choice": [0] * len(releases)}
        for off in (0, -1, 1):
            stated = {"question": {"epsilon": ["0", ratio]}, "exact": str(exact + Fraction(off, 10**9))}
            found = with_own(EVERY, components=components, directions=[direction], **stated)
            assert check_document(found).accepted == (off == 0), check_document(found).lines


def test_the_larger_direction_counts() -> None:
    """Half of the people are asked: (1/2, 1/2) against (1/10, 9/10), and the other way round."""
    sample = {"kind": "sampled", "rate": "1/2", "of": table(*PLAIN)}
    ways = [{"dominating": each, "pairs": []} for each in (sample, {"kind": "turned", "of": sample})]
    directions = own(EVERY)["directions"] * 2
    for ratio in ("1", "6/5", "3/2", "3"):
        c, half, few, many = map(Fraction, (ratio, "1/2", "1/10", "9/10"))
        there = max(half - c * few, Fraction(0)) + max(half - c * many, Fraction(0))
        back = max(few - c * half, Fraction(0)) + max(many - c * half, Fraction(0))
        for exact in {there, back}:
            parts = {"question": {"epsilon": ["0", ratio]}, "exact": str(exact), "directions": directions}
            found = with_own(EVERY, components=[{"times": 1, "ways": ways}], **parts)
            assert check_document(found).accepted == (exact == max(there, back)), check_document(found).lines


def test_losses_without_a_largest_one() -> None:
    """An output that is impossible under Q has no largest loss, and no delta of zero."""
    for low, high, side in (("0", "9", "large"), ("0", None, "large")):
        line = replayed(table(*ALONE), [], {"delta": "0"}, lower=low, upper=high).lines[-1]
        assert f"the largest loss is not shown to be so {side}" in line


@pytest.mark.parametrize("epsilon", ["1/10", "1", "3/2", "2"])
def test_bounds_are_on_their_sides(epsilon: str) -> None:
    """The delta of one answer, 9/10 - exp(epsilon)/10, lies between bounds that are near to each other."""
    document = own(EVERY) | {"question": {"epsilon": [epsilon, "1"]}}
    bounds, ends = bounds_of(document), epsilon_of(document)
    assert ends is not None
    with mpmath.workdps(80):
        fraction = Fraction(epsilon)
        number = (9 - mpmath.exp(mpmath.mpf(fraction.numerator) / fraction.denominator)) / 10
        true = Fraction(int(mpmath.floor(number * 2**200)), 2**200)
    assert bounds.least(ends) <= true < true + Fraction(1, 2**200) <= bounds.most(ends)
    assert bounds.most(ends) - bounds.least(ends) < Fraction(1, 10**12)


WAY = own(EVERY)["components"][0]["ways"][0]


@pytest.mark.parametrize("ways", [[], [[]], [[], [WAY]], [[WAY], []], [[WAY] * 3]])
def test_components_without_ways(ways: list[Any]) -> None:
    """There is a component, and each has one way or two."""
    components = [{"times": 1, "ways": given} for given in ways]
    for count in (0, 1, 3):
        told = with_own(EVERY, components=components, directions=own(EVERY)["directions"] * count)
        assert "no component, or one without a way" in check_document(told).lines[-1]
