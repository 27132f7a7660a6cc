"""Places where a polynomial in x and eps = −ln(x)/step is negative, looked for with balls of numbers.

A place that is found is one. Where none is found nothing has been said.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb, fmpq

from paramverify.algebra.constants import working_precision
from paramverify.algebra.domains import Interval
from paramverify.algebra.exponents import Unbounded
from paramverify.algebra.polynomials import Polynomial

BITS = 192
GRID = 64  # parts of the interval
FAR = 64  # the ends are approached to 2**-FAR of the interval
ROUNDS = 60  # in which a lowest place is enclosed


def negative_place(polynomial: Polynomial, tie: Unbounded, interval: Interval) -> Fraction | None:
    """Returns an x inside the interval where a polynomial in x and eps is negative, if one is found."""
    look = _Look(polynomial, tie)
    width = interval.upper - interval.lower
    shares = {Fraction(j, GRID) for j in range(1, GRID)}
    shares |= {Fraction(1, 2**k) for k in range(7, FAR)} | {1 - Fraction(1, 2**k) for k in range(7, FAR)}
    places = [interval.lower + width * share for share in sorted(shares)]
    with working_precision(BITS):
        values = [look.at(x) for x in places]
        for x, value in zip(places, values, strict=True):
            if value < 0:
                return x
        for k in range(1, len(places) - 1):
            if values[k].mid() <= values[k - 1].mid() and values[k].mid() <= values[k + 1].mid():
                found = look.below(places[k - 1], places[k + 1])
                if found is not None:
                    return found
    return None


class _Look:
    """Values of one polynomial."""

    def __init__(self, polynomial: Polynomial, tie: Unbounded) -> None:
        names = [str(n) for n in polynomial.context().names()]
        x, t = names.index(tie.variable), names.index(tie.name)
        self.terms = [(int(m[x]), int(m[t]), c) for m, c in polynomial.to_dict().items()]
        self.degrees = [max(i for i, _, _ in self.terms), max(j for _, j, _ in self.terms)]
        self.step = tie.step

    def at(self, place: Fraction) -> arb:
        """Returns a ball that contains the value at a rational x in (0, 1]."""
        x = arb(fmpq(place.numerator, place.denominator))
        t = -x.log() * self.step.denominator / self.step.numerator
        powers = [[arb(1)], [arb(1)]]
        for k, value in enumerate((x, t)):
            for _ in range(self.degrees[k]):
                powers[k].append(powers[k][-1] * value)
        return sum((arb(c) * powers[0][i] * powers[1][j] for i, j, c in self.terms), arb(0))

    def below(self, low: Fraction, high: Fraction) -> Fraction | None:
        """Returns a place between two others where the value is negative, if the lowest one there is."""
        for _ in range(ROUNDS):
            inner = [low + (high - low) * Fraction(k, 4) for k in range(5)]
            values = [self.at(x) for x in inner]
            for x, value in zip(inner, values, strict=True):
                if value < 0:
                    return x
            best = min(range(1, 4), key=lambda k: values[k].mid())
            low, high = inner[best - 1], inner[best + 1]
        return None
