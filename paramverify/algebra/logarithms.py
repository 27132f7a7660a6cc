"""Budgets ε = ln x of exact ratios x, enclosed to a relative precision: text and JSON are views of them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf, nextafter

from paramverify.algebra import exact_values as values
from paramverify.algebra.decimals import at_least, at_most, decimal_text, relation
from paramverify.algebra.realroots import RealRoot
from paramverify.algebra.reals import Real

BITS = 80  # of the relative precision of a logarithm


@dataclass(frozen=True)
class Epsilon:
    """A budget ε with low ≤ ε ≤ high; None where nothing is known on that side.

    With `sharp`, ε is one number that is known: low = ε = high, or high − low ≤ |ε|/2^80 and ε is irrational.
    """

    low: Fraction | None
    high: Fraction | None
    sharp: bool = True

    @staticmethod
    def of(ratio: Fraction | RealRoot | Real) -> Epsilon:
        """Returns the logarithm of a positive number.

        Raises:
            LimitError: it is too near to 0.
        """
        simple = ratio if isinstance(ratio, Fraction) else values.simplest(ratio)
        return Epsilon(*values.precise(values.logarithm(simple), BITS))

    @staticmethod
    def between(lower: Fraction, upper: Fraction | None) -> Epsilon:
        """Returns what is known of the logarithm of a number between two ends."""
        if lower == upper:
            return Epsilon.of(lower)
        low = Epsilon.of(lower).low if lower > 0 else None
        return Epsilon(low, None if upper is None else Epsilon.of(upper).high, False)

    def per(self, distance: Fraction) -> Epsilon:
        """Returns the budget for one unit of a positive distance."""
        low, high = (None if end is None else end / distance for end in (self.low, self.high))
        return Epsilon(low, high, self.sharp)

    def negative(self) -> Epsilon:
        """Returns −ε."""
        low, high = (None if end is None else -end for end in (self.high, self.low))
        return Epsilon(low, high, self.sharp)

    def told(self, digits: int = 9) -> str:
        """Returns it behind its relation: `= 1/2` as a decimal, `≈ 0.693147181`, `between 0 and 0.1`."""
        if self.low is not None and self.low == self.high:
            return relation(self.low, digits)
        if self.sharp and self.low is not None and self.high is not None:
            return f"≈ {decimal_text((self.low + self.high) / 2, digits)}"
        if self.high is None:
            return "unknown" if self.low is None else f"at least {at_least(self.low, digits)}"
        most = at_most(self.high, digits)
        return f"at most {most}" if self.low is None else f"between {at_least(self.low, digits)} and {most}"

    def number(self) -> float | str:
        """Returns the nearest float, or one that is not below ε where only bounds are known, as JSON data."""
        if self.sharp and self.low is not None and self.high is not None:
            middle = (self.low + self.high) / 2
            return float(middle) or (decimal_text(middle, 17) if middle else 0.0)
        return "unknown" if self.high is None else outward(self.high, inf)

    def bounds(self) -> list[float | str]:
        """Returns floats between which ε lies, as JSON data."""
        low = "unknown" if self.low is None else outward(self.low, -inf)
        return [low, "unknown" if self.high is None else outward(self.high, inf)]


def outward(end: Fraction, towards: float) -> float:
    """Returns the float nearest to a number that does not lie inside of it, seen towards −∞ or ∞."""
    near = float(end)
    inside = Fraction(near) < end if towards > 0 else Fraction(near) > end
    return nextafter(near, towards) if inside else near
