"""Bounds of compositions on a grid, beside sums over all outputs that are computed here by other means."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import erf, exp, log, sqrt
from random import Random
from typing import Any

import pytest

from paramverify.kernel.convolutions import LossGrid, LowerMasses, UpperMasses, power
from paramverify.kernel.release_losses import NOTHING, ExactLoss, read
from paramverify.kernel.strict_reading import Rejected

Masses = list[tuple[Any, Any]]  # of each output, under P and under Q
Written = dict[str, Any]
FINE, SPAN = 4_000, (-48, 48)
RATIOS = [Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(2), Fraction(5)]  # e^ε


def written_losses(step: Sequence[str]) -> tuple[float, int]:
    """Returns a step, and a range in which nearly all noise of this step is."""
    size = float(Fraction(step[0])) + log(Fraction(step[1]))
    return size, int(20 / size)


def cells(below: Callable[[float], float], far: float, shift: float) -> Masses:
    """Returns the masses of small intervals, from how likely noise is below a number."""
    ends = [far * (2 * k / FINE - 1) for k in range(FINE + 1)]
    own, other = ([below(x - by) for x in ends] for by in (shift, 0))
    return [(own[k + 1] - own[k], other[k + 1] - other[k]) for k in range(FINE)]


def outputs(written: Mapping[str, Any]) -> Masses:
    """Returns all outputs of a release, or nearly all."""
    kind = written["kind"]
    if kind == "table":
        return [(Fraction(p), Fraction(q)) for p, q in written["outputs"]]
    if kind == "turned":
        return [(q, p) for p, q in outputs(written["of"])]
    if kind == "sampled":
        rate = float(Fraction(written["rate"]))
        return [((1 - rate) * q + rate * p, q) for p, q in outputs(written["of"])]
    if kind == "randomized_response":
        large, count = exp(written_losses(written["step"])[0]), int(written["values"])
        total = large + count - 1
        masses = [(large, 1.0), (1.0, large), *[(1.0, 1.0)] * (count - 2)]
        return [(p / total, q / total) for p, q in masses]
    if kind in ("discrete_laplace", "discrete_gaussian"):
        shift = int(written["sensitivity"])
        if kind == "discrete_laplace":
            size, far = written_losses(written["step"])
            exponent = lambda x: size * abs(x)  # noqa: E731
        else:
            variance, far = float(Fraction(written["sigma"])) ** 2, 40
            exponent = lambda x: x * x / (2 * variance)  # noqa: E731
        total = sum(exp(-exponent(x)) for x in range(-far, far + 1))
        return [(exp(-exponent(x - shift)) / total, exp(-exponent(x)) / total) for x in range(-far, far + 1)]
    moved = float(Fraction(written["sensitivity"]))
    if kind == "laplace":
        scale = float(Fraction(written["scale"]))
        below = lambda x: exp(x / scale) / 2 if x < 0 else 1 - exp(-x / scale) / 2  # noqa: E731
        return cells(below, 30 * scale, moved)
    sigma = float(Fraction(written["sigma"]))
    return cells(lambda x: (1 + erf(x / sigma / sqrt(2))) / 2, 12 * sigma, moved)


def together(found: Masses, times: int) -> Masses:
    """Returns all outputs of releases that are made so many times."""
    made = found
    for _ in range(times - 1):
        made = [(p * r, q * s) for (p, q), (r, s) in product(made, found)]
    return made


def delta(found: Masses, ratio: Any) -> Any:
    """Returns how much likelier a set of outputs may be."""
    ratio = ratio if isinstance(found[0][0], Fraction) else float(ratio)
    return sum(max(0, p - ratio * q) for p, q in found)


def bounds(
    written: Written, times: int, step: ExactLoss, bits: int, tail: int = 60
) -> list[tuple[Fraction, Fraction]]:
    """Returns what the kernel says of δ for each of the numbers e^ε."""
    losses, grid = read(written), LossGrid(step, bits, tail)
    span = None if losses.whole == NOTHING else SPAN
    upper = power(UpperMasses.of(losses, grid, span), times, UpperMasses.times)
    lower = power(LowerMasses.of(losses, grid, span), times, LowerMasses.times)
    ends = [ExactLoss(ratio=ratio).ends() for ratio in RATIOS]
    return [(lower.delta(e), upper.delta(e)) for e in ends]


def distribution(random: Random, size: int) -> list[Fraction]:
    """Returns random masses, of which some may be zero."""
    weights = [Fraction(random.choice((0, 1, 1, 2, 3, 7))) for _ in range(size)]
    total = sum(weights) or Fraction(1)
    return [w / total for w in weights] if sum(weights) else [Fraction(1), *weights[1:]]


@pytest.mark.parametrize(("bits", "tail"), [(120, 60), (40, 60), (40, 8), (30, 2)])
def test_tables(bits: int, tail: int) -> None:
    """Exact numbers are between the bounds, whatever is rounded; and bounds of many bits are narrow."""
    for seed in range(12):
        random = Random(seed)
        sides = (distribution(random, 4) for _ in range(2))
        masses = list(zip(*sides, strict=True))
        written = {"kind": "table", "outputs": [[str(p), str(q)] for p, q in masses]}
        for times, step in product((1, 2, 3), (ExactLoss(ratio=Fraction(8, 7)), ExactLoss(Fraction(1, 9)))):
            found = bounds(written, times, step, bits, tail)
            for ratio, (low, high) in zip(RATIOS, found, strict=True):
                exact = delta(together(masses, times), ratio)
                assert low <= exact <= high, (seed, times, ratio)
                if bits == 120:
                    assert float(high - exact) < 0.03 * times
                    assert float(exact - low) < 0.17 * times


@pytest.mark.parametrize("bits", [120, 40, 26])
@pytest.mark.parametrize("bottom", [2, 3])
def test_losses_on_the_grid(bits: int, bottom: int) -> None:
    """Where all losses are points of the grid only the rounding is between the bounds."""
    a = Fraction(1, bottom)
    masses = [(1 / (1 + a), a / (1 + a)), (a / (1 + a), 1 / (1 + a))]
    written = {"kind": "table", "outputs": [[str(p), str(q)] for p, q in masses]}
    for times in (1, 2, 5, 6):
        found = bounds(written, times, ExactLoss(ratio=Fraction(bottom)), bits)
        for ratio, (low, high) in zip(RATIOS, found, strict=True):
            exact = delta(together(masses, times), ratio)
            assert low <= exact <= high
            assert bits == 26 or float(high - low) < 2.0 ** (times + 4 - bits) + 2.0 ** (times - 33)


LAPLACE = {"kind": "laplace", "scale": "2", "sensitivity": "1"}
GAUSSIAN = {"kind": "gaussian", "sigma": "3/2", "sensitivity": "1"}
DISCRETE = {"kind": "discrete_laplace", "step": ["1", "1"], "sensitivity": "2"}
WHOLE = {"kind": "discrete_gaussian", "sigma": "3/2", "sensitivity": "1"}
RESPONSE = {"kind": "randomized_response", "step": ["1/3", "2"], "values": "4"}
NOISE: list[tuple[Written, int]] = [
    (LAPLACE, 1),
    (GAUSSIAN, 1),
    (DISCRETE, 2),
    ({**DISCRETE, "step": ["0", "3/2"]}, 2),
    (RESPONSE, 3),
    ({**RESPONSE, "step": ["0", "5"], "values": "2"}, 3),
    ({**RESPONSE, "step": ["1", "1"], "values": "2"}, 3),
]


@pytest.mark.parametrize(
    ("noise", "most"), [*NOISE, pytest.param(WHOLE, 2, marks=pytest.mark.slow)], ids=lambda n: str(n)[10:40]
)
def test_noise(noise: Written, most: int) -> None:
    """Sums over all outputs are between the bounds, which are narrow: of noise, and of samples with noise."""
    for way in ("", "turned", "sampled", "sampled turned", "turned sampled"):
        written = noise
        for word in way.split()[::-1]:
            written = {"kind": word, "of": written, **({"rate": "1/3"} if word == "sampled" else {})}
        for times in range(1, most + 1):
            masses = together(outputs(written), times)
            known = [delta(masses, ratio) for ratio in RATIOS]
            for bits, step in ((120, ExactLoss(Fraction(1, 8))), (60, ExactLoss(ratio=Fraction(9, 8)))):
                for told, (low, high) in zip(known, bounds(written, times, step, bits), strict=True):
                    assert float(low) - 1e-5 <= told <= float(high) + 1e-9, (way, times)
                    assert float(high) - told < 0.03 * times
                    assert told - float(low) < 0.13 * times


@pytest.mark.parametrize(
    ("written", "span"), [(DISCRETE, (0, 4)), (LAPLACE, None), (LAPLACE, (3, 3)), (LAPLACE, (0, 60_001))]
)
def test_spans(written: Written, span: tuple[int, int] | None) -> None:
    """A density needs a span with points that are not too many, and other noise has none."""
    for side in (UpperMasses, LowerMasses):
        with pytest.raises(Rejected, match="span"):
            side.of(read(written), LossGrid(ExactLoss(Fraction(1, 8)), 60, 60), span)
