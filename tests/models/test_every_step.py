"""The case about every step of a grid has the probabilities of each grid, and those of continuous noise."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp, log

import pytest
from conftest import ROOT

import paramverify

CASE = paramverify.load(str(ROOT / "cases" / "noisy-max-every-step.toml"))


def weights(count: int, step: int, alpha: Fraction) -> list[Fraction]:
    """The truncated geometric mechanism on 0, 1/step, ..., 2: how likely each noisy count is."""
    found = [Fraction(0)] * (2 * step + 1)
    far = 80 * step  # beyond it all noise of one side lies at an end: its exact tail is added there
    for distance in range(-far, far + 1):
        place = min(max(count * step + distance, 0), 2 * step)
        found[place] += (1 - alpha) / (1 + alpha) * alpha ** abs(distance)
    tail = alpha ** (far + 1) / (1 + alpha)
    found[0] += tail
    found[-1] += tail
    return found


def first_wins(first: int, second: int, step: int, alpha: Fraction) -> Fraction:
    """Sums over all pairs of noisy counts of which the first is not smaller."""
    one, other = weights(first, step, alpha), weights(second, step, alpha)
    return sum((p * sum(other[: place + 1]) for place, p in enumerate(one)), Fraction(0))


@pytest.mark.parametrize("root", [(1, "1/2"), (2, "1/3"), (3, "1/2"), (4, "1/2")])
def test_each_step_is_a_point_of_the_case(root: tuple[int, str]) -> None:
    """With x = alpha**k, the largest ratio at the point of the step k is that of the grid, by brute force."""
    step, alpha = root[0], Fraction(root[1])
    x = alpha**step
    v = x * step * (1 - alpha) / (1 + alpha)
    r = (alpha - x) / (1 - x)
    w = (v - x * (1 - x) / (1 + x)) * 4 * (1 + x) / (1 - x) ** 3
    assert 0 <= r <= 1
    assert 0 <= w <= 1
    there = CASE.with_(parameters={"x": x, "r": r, "w": w}, privacy={"ratio": 1 / x**2})
    inputs = list(product(range(3), repeat=2))
    wins = {counts: first_wins(*counts, step, alpha) for counts in inputs}
    near = [(a, b) for a, b in product(inputs, repeat=2) if max(abs(a[0] - b[0]), abs(a[1] - b[1])) == 1]
    ratios = [max(wins[a] / wins[b], (1 - wins[a]) / (1 - wins[b])) for a, b in near]
    assert there.budget().ratio == max(ratios)


def test_the_limit_is_continuous_noise() -> None:
    """For alpha = 1 the worst ratio is that of clipped Laplace noise, by sums over a very fine grid."""
    x, steps = 0.5, 4000
    c = -log(x)
    grid = [2 * k / steps for k in range(steps)]
    width = 2 / steps

    def density(count: int, value: float) -> float:
        return c / 2 * exp(-c * abs(value - count))

    def below(count: int, value: float) -> float:
        away = exp(-c * abs(value - count)) / 2
        return away if value < count else 1 - away

    def second_wins(first: int, second: int) -> float:
        inner = sum(density(second, g + width / 2) * below(first, g + width / 2) * width for g in grid)
        return inner + (1 - below(second, 2)) * below(first, 2)  # clipped to 2, above the first

    end = (x * c / 2 - x * (1 - x) / (1 + x)) * 4 * (1 + x) / (1 - x) ** 3
    point = {"x": "1/2", "r": 1, "w": Fraction(end).limit_denominator(10**9)}
    found = CASE.with_(parameters=point, privacy={"ratio": 4}).budget().ratio
    assert found is not None
    assert float(found) == pytest.approx(second_wins(1, 1) / second_wins(2, 0), rel=1e-5)
