"""Random one-shot mechanisms with (ε, δ) bounds, and brute force over all sets of their outputs.

The brute force is fractions and loops: it shares no code with the package.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, combinations, product
from math import lcm
from operator import mul
from random import Random

from random_models import parametric_model, random_row

from paramverify.algebra.polynomials import RationalFunction
from paramverify.divergences import HockeyStick
from paramverify.models.model import Model

Point = Mapping[str, Fraction]
Mix = tuple[Fraction, Fraction, str]  # a·(1 − x) + b·x, for the parameter x; for "" it is a


@dataclass(frozen=True)
class Drawn:
    """Tables of a mechanism whose entries are mixtures, and two priors of its inputs."""

    names: tuple[str, ...]
    emissions: list[list[Mix]]
    priors: tuple[list[Mix], list[Mix]]

    def shares(self, side: int, point: Point) -> list[Fraction]:
        """How likely each output is under one secret, at a point."""
        return self.both(point)[side]

    def both(self, point: Point) -> tuple[list[Fraction], list[Fraction]]:
        """How likely each output is under either secret, at a point."""
        rows = [[value(entry, point) for entry in row] for row in self.emissions]
        columns = list(zip(*rows, strict=True))

        def under(secret: list[Mix]) -> list[Fraction]:
            prior = [value(entry, point) for entry in secret]
            return [sum(map(mul, prior, column), Fraction(0)) for column in columns]

        return under(self.priors[0]), under(self.priors[1])

    def least_delta(self, side: int, ratio: Fraction, point: Point) -> tuple[Fraction, tuple[int, ...]]:
        """The largest Pr(S | side) − ratio · Pr(S | other) over all sets of outputs, and the set."""
        shares = self.both(point)
        return largest_set(shares[side], shares[1 - side], ratio)

    def largest_delta(self, ratio: Fraction, point: Point) -> Fraction:
        """The same for the side where it is larger, without the set."""
        one, other = self.both(point)
        return max(largest_set(one, other, ratio)[0], largest_set(other, one, ratio)[0])

    def model(self, ratio: Fraction, delta: Fraction, length: int = 1) -> Model:
        """The model of the package with these bounds."""
        size, box = len(self.emissions), {name: (Fraction(0), Fraction(1)) for name in self.names}
        transitions = [["1" if k == j else "0" for j in range(size)] for k in range(size)]
        emissions = [[text(entry) for entry in row] for row in self.emissions]
        pi, tau = ([text(entry) for entry in prior] for prior in self.priors)
        found = parametric_model(box, transitions, emissions, pi, tau, str(ratio), (length,))
        ring = found.domain.ring
        bounds = (RationalFunction.of(ring.number(bound)) for bound in (ratio, delta))
        return replace(found, measure=HockeyStick(*bounds))


def largest_set(
    one: list[Fraction], other: list[Fraction], ratio: Fraction
) -> tuple[Fraction, tuple[int, ...]]:
    """The largest Pr(S | one) − ratio · Pr(S | other) over all sets of outputs, and the set."""
    parts = [p - ratio * q for p, q in zip(one, other, strict=True)]
    scale = lcm(*(part.denominator for part in parts))  # sums of whole numbers are faster
    whole = [part.numerator * (scale // part.denominator) for part in parts]
    subsets = chain.from_iterable(combinations(range(len(whole)), n) for n in range(len(whole) + 1))
    best, chosen = max((sum(whole[k] for k in s), s) for s in subsets)
    return Fraction(best, scale), chosen


def value(entry: Mix, point: Point) -> Fraction:
    """An entry of a table at a point."""
    a, b, name = entry
    return a * (1 - point[name]) + b * point[name] if name else a


def text(entry: Mix) -> str:
    """An entry as an expression."""
    a, b, name = entry
    return f"({a})*(1 - {name}) + ({b})*{name}" if name else str(a)


def drawn(random: Random, parameters: int) -> Drawn:
    """A random mechanism with 2 or 3 inputs and at most 4 outputs; its entries have so many parameters."""
    names = ("p", "q")[:parameters]
    inputs, outputs = random.randint(2, 3), random.randint(2, 4)

    def row(size: int, name: str) -> list[Mix]:
        return [(a, b, name) for a, b in zip(random_row(random, size), random_row(random, size), strict=True)]

    used = [random.choice(("", *names)) for _ in range(inputs)] if names else [""] * inputs
    emissions = [row(outputs, name) for name in used]
    priors = row(inputs, names[-1] if names else ""), row(inputs, random.choice(("", *names)))
    return Drawn(names, emissions, priors)


def points(names: tuple[str, ...], most: int = 50) -> Iterator[dict[str, Fraction]]:
    """A grid of at most so many points of the unit box, its ends included."""
    steps = max(n for n in range(1, most + 1) if n ** len(names) <= most) if names else 1
    values = [Fraction(k, max(1, steps - 1)) for k in range(steps)]
    for chosen in product(values, repeat=len(names)):
        yield dict(zip(names, chosen, strict=True))


def binomial(n: int, p: Fraction) -> list[Fraction]:
    """How likely each number of successes is, by convolution."""
    found = [Fraction(1)]
    for _ in range(n):
        found = [a * (1 - p) + b * p for a, b in zip([*found, 0], [0, *found], strict=True)]
    return found
