"""Answers about delta that an oracle of fractions computes again: designs, several answers, curves."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, exp, prod
from random import Random

import pytest

import paramverify
from paramverify.models.model import SETS, need_privacy
from paramverify.portfolio.session import Options, Session
from paramverify.synthesis.set_curve import curve

COUNT = """
[parameters]
alpha = {{ in = "(0, 1)", design = true }}
p = "({low}, {high})"
[design]
minimise = "alpha"
[prior]
infected = {{ binomial = [2, "p"] }}
[mechanism]
kind = "geometric"
query = "infected"
noise = {{ truncated_geometric = "alpha", range = 2 }}
[secrets]
somebody = "infected >= 1"
anything = "true"
pairs = [["somebody", "anything"]]
[privacy]
ratio = "{ratio}"
delta = "{delta}"
"""


def needed(alpha: Fraction, p: Fraction, ratio: Fraction) -> Fraction:
    """The least δ at a prior, from the definition of truncated geometric noise on 0, 1, 2."""
    rows = [
        [alpha ** abs(r - k) * ((1 - alpha if 0 < r < 2 else 1) / (1 + alpha)) for r in range(3)]
        for k in range(3)
    ]
    weights = [comb(2, k) * p**k * (1 - p) ** (2 - k) for k in range(3)]
    one, other = (
        [sum(weights[k] * rows[k][r] for k in known) / sum(weights[k] for k in known) for r in range(3)]
        for known in ((1, 2), (0, 1, 2))
    )
    return max(
        sum(max(Fraction(0), a - ratio * b) for a, b in zip(x, y, strict=True))
        for x, y in ((one, other), (other, one))
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ratio", "delta", "low", "high"),
    [("5/4", "8/29", "1/10", "7/10"), ("1", "3/20", "1/5", "4/5"), ("2", "1/7", "3/10", "7/10")],
)
def test_the_best_design_by_brute_force(ratio: str, delta: str, low: str, high: str) -> None:
    """A little above the smallest alpha no prior of a grid needs more than δ; a little below one does."""
    found = paramverify.loads(COUNT.format(ratio=ratio, delta=delta, low=low, high=high)).synthesize()
    line = next(line for line in found.lines if line.startswith("smallest alpha: "))
    best = Fraction(line.rpartition("≈ ")[2].rstrip(")"))
    a, b = Fraction(low), Fraction(high)
    grid = [a + (b - a) * Fraction(k, 64) for k in range(65)]  # ends are limits, so they count too
    worst = [
        max(needed(best + step, p, Fraction(ratio)) for p in grid)
        for step in (Fraction(1, 10**5), -Fraction(1, 200))
    ]
    assert worst[0] <= Fraction(delta) < worst[1]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_several_answers_of_neighbours(seed: int) -> None:
    """`times` with [neighbours]: least δ, least ε and tight ratio are those of all sequences of answers."""
    random = Random(seed)
    times, chances = random.randint(2, 3), []
    for _ in range(2):
        cuts = sorted(random.sample(range(1, 12), 2))
        chances.append([Fraction(n, 12) for n in (cuts[0], cuts[1] - cuts[0], 12 - cuts[1])])
    steps = "\n".join(
        f"if s == {i}:\n    if u < {12 * row[0]}:\n        return 0\n    if u < {12 * (row[0] + row[1])}:\n"
        "        return 1\n    return 2"
        for i, row in enumerate(chances)
    )
    case = paramverify.loads(
        f'[mechanism]\nkind = "program"\ntimes = {times}\n'
        f'source = """\nu = uniform(0, 11)\n{steps}\nreturn 0\n"""\n'
        '[mechanism.inputs]\ns = { values = "0..1" }\n[neighbours]\ndiffer = "each"\n[privacy]\nratio = "2"\n'
    )
    both = [[prod(row[k] for k in word) for word in product(range(3), repeat=times)] for row in chances]
    sides = (both, both[::-1])
    ratio = Fraction(3, 2)

    def delta(at: Fraction) -> Fraction:
        return max(sum(max(Fraction(0), p - at * q) for p, q in zip(*side, strict=True)) for side in sides)

    assert case.budget(delta_for="ln(3/2)").delta == delta(ratio)
    assert case.budget().ratio == max(p / q for side in sides for p, q in zip(*side, strict=True))
    least = Fraction(str(case.budget(epsilon_for="1/20").ratio))
    assert delta(least) <= Fraction(1, 20)
    assert least == 1 or delta(least - Fraction(1, 10**9)) > Fraction(1, 20)


def test_a_curve_with_a_constant_of_exp() -> None:
    """Randomised response among three: points and lines between them are above δ, by the gap at most."""
    chance = "exp(3/2)/(exp(3/2) + 2)"
    rows = "".join(
        f"[mechanism.emissions.{i}]\n"
        + "".join(f'{o} = "{chance if k == i else "1/(exp(3/2) + 2)"}"\n' for k, o in enumerate("abc"))
        for i in range(3)
    )
    text = f"""
[mechanism]
kind = "hmm"
states = ["0", "1", "2"]
observations = ["a", "b", "c"]
{rows}
[neighbours]
pairs = [["0", "1"], ["1", "2"]]
[privacy]
ratio = "1"
delta = "1"
"""
    model = need_privacy(paramverify.loads(text)._read.content.model, "this", events=SETS)
    with Session(Options(seconds=30)) as session:
        found = curve(model, session, Fraction(1, 1000))
    assert found.gap < Fraction(1, 500)

    def exact(ratio: float) -> float:
        top, rest = exp(1.5) / (exp(1.5) + 2), 1 / (exp(1.5) + 2)
        return max(0.0, top - ratio * rest) + max(0.0, rest - ratio * top) + max(0.0, rest * (1 - ratio))

    for first, second in zip(found.points, found.points[1:], strict=False):
        for share in (0, 0.3, 0.7):
            ratio = float(first.ratio) * (1 - share) + float(second.ratio) * share
            line = float(first.delta) * (1 - share) + float(second.delta) * share
            assert exact(ratio) - 1e-12 <= line <= exact(ratio) + float(found.gap) + 1e-12
