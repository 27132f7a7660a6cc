"""Numbers of an output that are compared one by one: a variable of the claims says which one is meant.

Between two breaks, and beyond the last one, the densities under all inputs are sums of `c·b^o`. With a base r
in (0, 1) of which all the b are powers, up to a common factor, they are polynomials in `y = r^|o − anchor|`.
Beyond the last break y goes through (0, 1], and the variable w is y. On an interval of the length L it goes
through [r^L, 1], and `y = 1 − w·(1 − r^L)`. So w in [0, 1] says which number is meant, for all parameters;
w = 0 beyond the last break is the limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import log

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.polynomials import RationalFunction, Ring, value_at

BITS = 256  # of the enclosure of `E` from which an output is rounded


@dataclass(frozen=True)
class ArithmeticSequence:
    """The numbers `anchor + way·t`: the variable w of a claim stands for t.

    Without a `length` t goes from 0 to infinity, and w = base^t. Else it goes from 0 to `length`, and
    `1 − w·(1 − base) = base^(t/length)`. The base is in (0, 1). Of `whole` numbers t is one, too.
    With a `slack` claims say more: they are about a variable more, which stands for one number that is not
    rational. So they prove, and refute nothing.
    """

    variable: str
    base: RationalFunction
    anchor: Fraction
    way: Fraction = Fraction(1)
    length: Fraction | None = None
    whole: bool = False
    slack: str = ""

    def divided(self, slope: Fraction) -> ArithmeticSequence:
        """Returns the spread of the numbers divided by another one."""
        return replace(self, anchor=self.anchor / slope, way=self.way / slope)

    def moved(self, by: Fraction) -> ArithmeticSequence:
        """Returns the spread of the numbers plus another one."""
        return replace(self, anchor=self.anchor + by)

    def number(self, steps: int) -> Fraction:
        """Returns the number at t = steps."""
        return self.anchor + self.way * steps

    def near(self, ring: Ring, point: Mapping[str, Fraction]) -> float | None:
        """Returns t about where a point has it; None for infinity."""
        w = point[self.variable]
        base = self.base_at(ring, point)
        power = w if self.length is None else 1 - w * (1 - base)
        if not power:
            return None
        return _log(power) / _log(base) * float(self.length or 1)

    def is_whole_at(self, ring: Ring, point: Mapping[str, Fraction]) -> bool:
        """Tells whether a point means a whole number."""
        t = self.near(ring, point)
        return t is not None and point[self.variable] == self.base_at(ring, point) ** round(t)

    def base_at(self, ring: Ring, point: Mapping[str, Fraction]) -> Fraction:
        """Returns the base at a point; about that where it has the number `E`."""
        values = dict(point)
        if ring.constant is not None:
            values[GENERATOR] = ring.constant.enclosure(BITS)[0]
        return value_at(self.base.numerator, values) / value_at(self.base.denominator, values)

    def at(self, ring: Ring, point: Mapping[str, Fraction]) -> str:
        """Returns words for the number that a point means: one that is not whole is rounded."""
        t = self.near(ring, point)
        if t is None:
            return "-oo" if self.way < 0 else "oo"
        if self.whole:
            return str(self.number(round(t)))
        place = float(self.anchor) + float(self.way) * t
        exact = not t or (self.length is not None and point[self.variable] == 1)
        return str(self.anchor + self.way * (self.length or 0 if t else 0)) if exact else f"≈ {place:.6g}"


def _log(value: Fraction) -> float:
    return log(value.numerator) - log(value.denominator)
