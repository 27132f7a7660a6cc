"""Programs of the library whose outputs are computed by hand; tests/test_shipped_cases.py runs the others."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from given_oracle import GivenOracle
from kept_cases import kept
from running_texts import GROWING, NUMERIC, VALUES, number

from paramverify.portfolio.session import Options
from paramverify.privacy.verification import PrivacyReport, verify

CASES = sorted((Path(__file__).parents[2] / "cases" / "programs").glob("*.toml"))
RELATED = [
    p
    for p in CASES
    if {"related", "distance"} & set(tomllib.loads(p.read_text()).get("neighbours", ()))
    and p.stem not in GROWING
    and not p.stem.startswith(NUMERIC)
]

Given = tuple[Any, ...]


@cache
def verified(path: Path) -> PrivacyReport:
    """Returns what the default settings say of a case."""
    return verify(kept(path), Options(seconds=120))


def test_the_leak_of_a_released_value_by_hand() -> None:
    """Pr(below four times, then -1 or less) is a sum over the threshold; its ratio is 32 > 16 at 1/2."""
    a, reach = Fraction(1, 2), 40

    def mass(k: int, ratio: Fraction) -> Fraction:
        return (1 - ratio) / (1 + ratio) * ratio ** abs(k)

    def under(k: int) -> Fraction:
        """Returns Pr(noise < k)."""
        return a ** (1 - k) / (1 + a) if k <= 0 else 1 - a**k / (1 + a)

    def released(x: int) -> float:
        threshold = range(-reach, 0)  # at most -1, for the released value is
        return float(
            sum(mass(t, a * a) * under(t - x) ** 4 * (under(0 - x) - under(t - x)) for t in threshold)
        )

    assert abs(released(0) / released(1) - 32) < 1e-9
    path = next(p for p in CASES if p.stem == "sparse-vector-value-leaks")
    witness = verified(path).verdict.witness  # type: ignore[union-attr]
    assert witness.ratio is not None
    assert witness.ratio.rational == 32
    assert abs(float(witness.probabilities[0].rational) - released(0)) < 1e-12


def test_two_intervals_are_two_independent_tests() -> None:
    """Both inside has the probability of the first times that of the second, by integration."""
    text = (
        "low = laplace(8)\nhigh = 1 + laplace(8)\ny = x + laplace(4)\n"
        "if y >= low and y <= high:\n    output(1)\nelse:\n    output(0)"
    )
    inside = {x: GivenOracle(2, lambda k, _: k < 2).distribution(text, {"x": x})[(1,)] for x in (-1, 0, 1)}
    found = kept(next(p for p in CASES if p.stem == "two-intervals-test")).model
    hmm = found.hmm  # type: ignore[union-attr]
    for k, state in enumerate(hmm.states):
        x, y = map(int, state.strip("()").split(","))
        (step,) = (s for s in hmm.steps[k] if hmm.observations[s.observation] == "in, in")
        constant = found.domain.ring.constant  # type: ignore[union-attr]
        at = math.exp(float(constant.exponent))
        value = _at(step.weight, at) / _at(hmm.denominator, at)
        assert abs(value - inside[x] * inside[y]) < 1e-4


def _at(polynomial: Any, value: float) -> float:
    return sum(int(c.p) / int(c.q) * value ** int(m[-1]) for m, c in polynomial.to_dict().items())


def _clamped(centre: int, alpha: Fraction, low: int, high: int) -> dict[Any, Fraction]:
    """Returns the distribution of clamp(centre + geometric(alpha), low, high)."""
    found = {k: (1 - alpha) / (1 + alpha) * alpha ** abs(k - centre) for k in range(low + 1, high)}
    found[low] = alpha ** (centre - low) / (1 + alpha)
    return found | {high: alpha ** (high - centre) / (1 + alpha)}


def _each(rows: list[dict[Any, Fraction]]) -> dict[Any, Fraction]:
    """Returns the distribution of independent outputs, one after the other."""
    return {
        tuple(k for k, _ in chosen): math.prod(share for _, share in chosen)
        for chosen in product(*(row.items() for row in rows))
    }


def _grouped(x: tuple[Any, ...], a: Fraction) -> dict[Any, Fraction]:
    row = _clamped(x[1], a if x[0] == "small" else a * a, 0, 3)
    return {(x[0], k): share for k, share in row.items()}


def _answers(x: tuple[int, ...], a: Fraction) -> dict[Any, Fraction]:
    kept = 1 / (1 + 2 * a)  # exp(eps) / (exp(eps) + 2) where a = exp(-eps)
    return _each([{v: kept if v == w else (1 - kept) / 2 for v in range(3)} for w in x])


def _apart(x: tuple[int, ...], y: tuple[int, ...]) -> int:
    return sum(abs(v - w) for v, w in zip(x, y, strict=True))


def _near(x: tuple[Any, ...], y: tuple[Any, ...]) -> int | None:
    return 2 if x[0] == y[0] and abs(x[1] - y[1]) <= (1 if x[0] == "large" else 2) else None


# The inputs, the distribution on each, and the exponent of 1/alpha that bounds a pair (None: no neighbours).
BY_FORMULA: dict[str, tuple[list[Any], Callable[..., dict[Any, Fraction]], Callable[..., int | None]]] = {
    "histogram-related": (
        list(product((0, 1), repeat=3)),
        lambda x, a: _each([_clamped(v, a, -1, 2) for v in x]),
        lambda x, y: 1 if _apart(x, y) <= 1 else None,
    ),
    "histogram-moved-record": (
        list(product((0, 1), repeat=3)),
        lambda x, a: _each([_clamped(v, a, -1, 2) for v in x]),
        lambda x, y: 2 if sum(x) == sum(y) and _apart(x, y) == 2 else None,
    ),
    "geometric-metric": (
        list(product(range(3), repeat=2)),
        lambda x, a: _each([_clamped(v, a, 0, 2) for v in x]),
        _apart,
    ),
    "geometric-metric-grid": (
        [(n,) for n in range(6)],
        lambda x, a: _clamped(x[0] // 2 * 2, a, 0, 4),
        _apart,
    ),
    "randomized-response-hamming": (
        list(product(range(3), repeat=3)),
        _answers,
        lambda x, y: sum(v != w for v, w in zip(x, y, strict=True)),
    ),
    "public-group": (list(product(("small", "large"), range(4))), _grouped, _near),
}


@pytest.mark.parametrize("path", RELATED, ids=lambda path: path.stem)
def test_related_inputs_by_formula(path: Path) -> None:
    """The bound of each related pair holds at three alphas, by fractions; or the violated case breaks one."""
    inputs, row, exponent = BY_FORMULA[path.stem]
    broken = False
    for alpha in (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)):
        rows = {x: row(x, alpha) for x in inputs}
        assert all(sum(found.values()) == 1 for found in rows.values())
        for x, y in product(inputs, inputs):
            power = exponent(x, y)
            if x != y and power is not None:
                broken |= any(p > rows[y][o] / alpha**power for o, p in rows[x].items())
    assert broken == (tomllib.loads(path.read_text())["expect"]["status"] == "violated")


def _below(x: float, scale: float) -> float:
    """How likely Laplace noise is below a number."""
    return math.exp(x / scale) / 2 if x < 0 else 1 - math.exp(-x / scale) / 2


def _witness(name: str) -> tuple[float, list[list[int]], list[float]]:
    """Returns eps, the two inputs and their probabilities of a witness."""
    path = next(p for p in CASES if p.stem == name)
    witness = verified(path).verdict.witness  # type: ignore[union-attr]
    inputs = [[int(v) for v in text.strip("()").split(",")] for text in (witness.left, witness.right)]
    return (
        number(witness.meant["eps"]),
        inputs,
        [float(sum(p.enclosure()) / 2) for p in witness.probabilities],
    )


def test_the_sign_of_the_largest_answer_by_hand() -> None:
    """All answers are negative: a product of independent tails."""
    eps, inputs, told = _witness("noisy-max-value-sign")
    for given, share in zip(inputs, told, strict=True):
        assert abs(math.prod(_below(-v, 2 / eps) for v in given) - share) < 1e-12
    assert told[0] > math.exp(eps) * told[1]


@pytest.mark.parametrize("name", VALUES)
def test_the_sign_of_a_released_answer_by_hand(name: str) -> None:
    """An integral over the threshold: answers below it, then one above it whose value is below the cut."""
    threshold, answer, cut = VALUES[name]
    eps, inputs, told = _witness(name)
    a, b, steps = threshold / eps, answer / eps, 100
    for given, share in zip(inputs, told, strict=True):
        *before, last = given

        def density(t: float, before: list[int] = before, last: int = last) -> float:
            least = math.prod(_below(t - v, b) for v in before)
            return math.exp(-abs(t) / a) / (2 * a) * least * (_below(cut - last, b) - _below(t - last, b))

        total = 0.0
        for start in range(-80, cut):  # Simpson's rule, between the places where it is not smooth
            values = [density(start + k / steps) for k in range(steps + 1)]
            total += (values[0] + values[-1] + 4 * sum(values[1:-1:2]) + 2 * sum(values[2:-1:2])) / (
                3 * steps
            )
        assert abs(total / share - 1) < 1e-6
    assert told[0] > math.exp(eps) * told[1]
