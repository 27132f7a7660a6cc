"""Witnesses about densities have sets of outputs with probabilities, by integrals that are computed here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import isqrt
from pathlib import Path

import pytest
from program_budgets import OPTIONS, written
from program_budgets import budget as budget_of

from paramverify.claims import Origin
from paramverify.evidence.witnesses import ExactWitness, evaluate
from paramverify.models.model import need_privacy
from paramverify.privacy.cases import load
from paramverify.privacy.verification import verify
from paramverify.reports import budgets
from paramverify.reports.case_evidence import check_with_case, evidence_document
from paramverify.verdicts import Violated

HALF = Fraction(1, 2)  # e^(-eps) at the points of all witnesses here
EPS = 'eps = "(0, oo)"'
ONE = 'x = { values = "0..1" }'
MIXED = """if flip((1 + x) / 4):
    output(exponential(1 / eps))
else:
    output(exponential(1 / (2 * eps)))"""


def laplace(low: int, high: int, center: int) -> Fraction:
    """Returns how likely center + laplace(1/eps) is between two whole numbers."""

    def below(t: int) -> Fraction:
        return HALF * HALF ** (center - t) if t <= center else 1 - HALF * HALF ** (t - center)

    return below(high) - below(low)


def witness_of(path: Path) -> ExactWitness:
    """Returns the witness of a violated case."""
    verdict = verify(load(path), OPTIONS).verdict
    assert isinstance(verdict, Violated)
    assert isinstance(verdict.witness, ExactWitness)
    return verdict.witness


def interval(words: str) -> tuple[int, int]:
    """Returns the ends of `-1..0`."""
    low, high = map(int, words.split(".."))
    return low, high


def center(name: str) -> Sequence[int]:
    """Returns the numbers of an input such as `(0, 1)`."""
    return [int(v) for v in name.strip("()").split(",")]


@pytest.mark.parametrize(
    ("program", "parts"),
    [
        ("for x in q:\n    output(x + laplace(1 / eps))", lambda q: q),
        ("s = 0\nfor x in q:\n    s = s + x + laplace(1 / eps)\n    output(s)", lambda q: q),
    ],
)
def test_an_interval_beside_a_density_has_both_integrals(
    tmp_path: Path, program: str, parts: Callable[[Sequence[int]], Sequence[int]]
) -> None:
    """Independent numbers: the probabilities of intervals are products of differences of the distribution."""
    found = witness_of(written(tmp_path / "case.toml", program, 'epsilon = "eps"', EPS))
    assert found.densities
    assert found.parameters == {"x_eps": HALF}
    assert found.within is not None
    (words,) = found.within.observations
    ends = [interval(part.removeprefix("o2 - o1 ")) for part in words.split(", ")]
    for name, share in zip((found.left, found.right), found.within.probabilities, strict=True):
        own = Fraction(1)
        for (low, high), middle in zip(ends, parts(center(name)), strict=True):
            own *= laplace(low, high, middle)
        assert share.rational == own  # type: ignore[union-attr]


def tail(start: Fraction, x: int) -> Fraction:
    """Returns how likely the mixed program puts out a whole number or more."""
    p = Fraction(1 + x, 4)
    return p * HALF ** int(start) + (1 - p) * HALF ** int(2 * start)


def test_a_limit_has_a_half_line_beyond_the_bound(tmp_path: Path) -> None:
    """No output has the ratio 2 of the limit; all from 8 on together have more than 19/10."""
    path = written(tmp_path / "case.toml", MIXED, 'ratio = "19/10"', EPS, ONE)
    found = witness_of(path)
    assert found.observations == ("far above",)
    assert found.within is not None
    assert found.within.observations == (">= 8",)
    shares = tail(Fraction(8), 1), tail(Fraction(8), 0)
    assert tuple(p.rational for p in found.within.probabilities) == shares  # type: ignore[union-attr]
    assert Fraction(19, 10) < shares[0] / shares[1] < 2
    lines = found.lines()
    assert "'>= 8' is 514/259" in lines[0]
    assert lines[-1] == "At 'far above' the ratio tends to 2"
    best = budget_of(path).ratio
    assert best.attained is False
    assert not best.outputs
    model = need_privacy(load(path).model, "", densities=True)
    assert budgets.ratio_document(model, best)["attained"] is False
    assert budgets.ratio_document(model, best)["attained_by_outputs"] is False
    assert "approached by outputs, reached by none" in budgets.ratio_lines(model, best)[1]


def root(k: int) -> tuple[Fraction, Fraction]:
    """Returns numbers around (1/2)^(1/2^k), by square roots of whole numbers."""
    scale = 10**60
    low = high = Fraction(1, 2)
    for _ in range(k):
        low = Fraction(isqrt(int(low * scale**2)), scale)
        high = Fraction(isqrt(-int(-high * scale**2)) + 1, scale)
    return low, high


def test_an_interval_shorter_than_the_powers_of_the_ring_is_enclosed(tmp_path: Path) -> None:
    """The ratio 7/6 at 0 is passed by less than 1/1000: the interval is short, and told by enclosures."""
    path = written(tmp_path / "case.toml", MIXED, 'ratio = "1166/1000"', EPS, ONE)
    model = need_privacy(load(path).model, "", densities=True)
    found = evaluate(model, Origin("0", "1", ("just above 0",)), {"x_eps": HALF})
    assert found.exceeds
    assert found.within is not None
    (words,) = found.within.observations
    low, high = map(Fraction, words.split(".."))
    assert low == 0
    roots = root(high.denominator.bit_length() - 1)
    for x, share in zip((0, 1), found.within.probabilities, strict=True):
        p = Fraction(1 + x, 4)
        own = [1 - p * r**high.numerator - (1 - p) * r ** (2 * high.numerator) for r in roots]
        assert isinstance(share, tuple)
        assert share[0] <= min(own) <= max(own) <= share[1]
        assert share[1] - share[0] < Fraction(1, 10**25)


def test_an_atom_beside_a_density_is_kept_out_of_the_interval(tmp_path: Path) -> None:
    """0 has a probability of its own, with another ratio; the interval above it begins at a distance."""
    program = "if flip((3 - x) / 4):\n    output(0)\nelse:\n    output(exponential(1 / eps))"
    path = written(tmp_path / "case.toml", program, 'ratio = "19/10"', EPS, ONE)
    model = need_privacy(load(path).model, "", densities=True)
    found = evaluate(model, Origin("1", "0", ("just above 0",)), {"x_eps": HALF})
    assert found.within is not None
    assert found.within.observations == ("1/2..1",)
    assert found.within.ratio is not None
    low, high = found.within.ratio  # type: ignore[misc]
    assert Fraction(19, 10) < low <= 2 <= high


def test_a_constant_ratio_is_reached_by_an_interval(tmp_path: Path) -> None:
    """Below both centers the densities of Laplace noise have one ratio: intervals have it, too."""
    program = "for x in q:\n    output(x + laplace(1 / eps))"
    best = budget_of(written(tmp_path / "case.toml", program, 'epsilon = "2"', 'eps = "[1, 1]"')).ratio
    assert best.attained
    assert best.outputs


def test_a_limit_of_whole_numbers_has_a_whole_number(tmp_path: Path) -> None:
    """The gap of a sparse vector: 4 is the first power of two that passes 19/10, as a sum over noise says."""
    program = (
        "T = geometric(1/2)\ng = x + geometric(1/4) - T\nif g >= 0:\n    output(g)\nelse:\n    output(-1)"
    )
    found = witness_of(written(tmp_path / "case.toml", program, 'ratio = "19/10"', "", ONE))
    assert found.observations == ("far above",)
    assert found.within is not None
    (words,) = found.within.observations

    def chance(gap: int, x: int) -> Fraction:
        reach = range(-150, 151)  # what lies beyond weighs less than 2^-140
        return sum(
            (
                Fraction(1, 3) * HALF ** abs(t) * Fraction(3, 5) * Fraction(1, 4) ** abs(gap - x + t)
                for t in reach
            ),
            Fraction(0),
        )

    own = [chance(int(words), int(name)) for name in (found.left, found.right)]
    for mine, share in zip(own, found.within.probabilities, strict=True):
        assert 0 <= share.rational - mine < Fraction(1, 2**130)  # type: ignore[union-attr,operator]
    before = [chance(int(words) // 2, int(name)) for name in (found.left, found.right)]
    assert before[0] / before[1] < Fraction(19, 10) < own[0] / own[1]


def test_evidence_with_another_interval_is_rejected(tmp_path: Path) -> None:
    """The set beside a density and its probabilities are evaluated again."""
    path = written(tmp_path / "case.toml", MIXED, 'ratio = "19/10"', EPS, ONE)
    case = load(path)
    report = verify(case, OPTIONS)
    document = evidence_document(case, report)
    assert check_with_case(document, case).accepted
    assert isinstance(report.verdict, Violated)
    assert document["witness"]["within"] == report.verdict.witness.document()["within"]
    document["witness"]["within"]["probabilities"][0] = "1/2"
    assert not check_with_case(document, case).accepted
