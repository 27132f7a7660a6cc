"""The supremum of a univariate rational function on an interval, exact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from flint import Ordering, fmpq, fmpq_mpoly_ctx, fmpq_poly, fmpz, fmpz_poly

from paramverify.algebra.polynomials import Polynomial, rational
from paramverify.algebra.realroots import RealRoot, compare, isolate
from paramverify.algebra.simplest import simplest_between

MAX_SIZE = 1_300  # degree of a place times that of the quotient, for its value to be written: a second
ROUNDS = 12  # times that places are halved `HALVINGS` times, to tell their values apart
HALVINGS = 8


@dataclass(frozen=True)
class Supremum:
    """sup a/b, and all places in the closed interval where it is reached or approached; None is infinity.

    Of a constant quotient they are the ends and one rational inside. With `upper` the value is none that is
    written: its minimal polynomial is too large. Then the supremum is at most `upper`, and a/b is that at a
    rational number near one of the places; `places` may have too many.
    """

    value: RealRoot | None
    places: tuple[RealRoot, ...]
    upper: Fraction | None = None

    @property
    def place(self) -> RealRoot:
        """One of the places."""
        return self.places[0]


def exact(value: Fraction) -> RealRoot:
    """Returns a rational number as the root of its minimal polynomial."""
    return RealRoot(fmpz_poly([-value.numerator, value.denominator]), 1, value, value)


def suprema(top: fmpz_poly, bottom: fmpz_poly, lower: Fraction, upper: Fraction) -> Supremum:
    """Returns the supremum of top/bottom over the open interval (lower, upper), or over a single point.

    Both polynomials are nonnegative on the interval and coprime, and the bottom one is not zero. If the
    bottom vanishes in the closed interval, the top is positive there, so the quotient is unbounded.
    Otherwise the quotient is continuous on the closed interval, and its maximum there, which is at an end
    or at a root of the derivative, is the supremum over the open one.
    """
    poles = isolate(bottom, lower, upper) if bottom.degree() > 0 else []
    if poles:
        return Supremum(None, tuple(poles))
    places = [exact(lower), exact(upper)]
    slope = top.derivative() * bottom - top * bottom.derivative()
    if slope and lower < upper:
        places += isolate(slope, lower, upper)
    elif lower < upper:
        places.append(exact(simplest_between(lower, upper)))
    places = _largest(top, bottom, places)
    if any(_is_large(top, bottom, place) for place in places):
        return Supremum(None, tuple(places), max(_range(top, bottom, place)[1] for place in places))
    found = [(value_of(top, bottom, place), place) for place in places]
    value = reduce(lambda a, b: b if compare(b, a) > 0 else a, (v for v, _ in found))
    return Supremum(value, tuple(place for own, place in found if compare(own, value) == 0))


def _is_large(top: fmpz_poly, bottom: fmpz_poly, place: RealRoot) -> bool:
    """Tells whether the minimal polynomial of the value at a place is work of more than a second."""
    degree = max(top.degree(), bottom.degree())
    return not place.is_rational and place.factor.degree() * degree > MAX_SIZE


def _largest(top: fmpz_poly, bottom: fmpz_poly, places: list[RealRoot]) -> list[RealRoot]:
    """Returns the places but those at which the value is less than elsewhere, by enclosures."""
    for _ in range(ROUNDS):
        ranges = [_range(top, bottom, place) for place in places]
        least = max(low for low, _ in ranges)
        places = [place for place, (_, high) in zip(places, ranges, strict=True) if high >= least]
        if len(places) == 1 and not _is_large(top, bottom, places[0]):
            break
        for _ in range(HALVINGS):
            places = [place if place.is_rational else place.halved() for place in places]
    return places


def near_best(top: fmpz_poly, bottom: fmpz_poly, places: Sequence[RealRoot]) -> tuple[Fraction, Fraction]:
    """Returns a rational number near one of the places, and the largest top/bottom at such numbers."""
    found = []
    for place in places:
        at = place.lower if place.is_rational else simplest_between(place.lower, place.upper)
        value = top(rational(at)) / bottom(rational(at))
        found.append((at, Fraction(int(value.p), int(value.q))))
    return max(found, key=lambda pair: pair[1])


def value_of(top: fmpz_poly, bottom: fmpz_poly, place: RealRoot) -> RealRoot:
    """Returns top/bottom, which is positive or zero, at an algebraic number, with its minimal polynomial.

    For an irrational place x with minimal polynomial m, the value is a root of the resultant
    Res_x(m(x), top(x) − v·bottom(x)) in v.
    """
    if place.is_rational:
        at = rational(place.lower)
        quotient = top(at) / bottom(at)
        return exact(Fraction(int(quotient.p), int(quotient.q)))
    context = fmpq_mpoly_ctx.get(("x", "v"), Ordering.lex)
    v = context.gen(1)

    def lift(polynomial: fmpz_poly) -> Polynomial:
        return context.from_dict({(k, 0): fmpq(c) for k, c in enumerate(polynomial.coeffs())})

    resultant = lift(place.factor).resultant(lift(top) - v * lift(bottom), "x")
    coefficients = [fmpz(0)] * (int(resultant.degrees()[1]) + 1)
    scale = reduce(lambda a, b: a.lcm(b), (c.q for c in resultant.coeffs()), fmpz(1))
    for monomial, coefficient in resultant.to_dict().items():
        coefficients[int(monomial[1])] = (coefficient * scale).p
    polynomial = fmpz_poly(coefficients)
    while True:
        low, high = _range(top, bottom, place)
        roots = isolate(polynomial, low, high)
        if len(roots) == 1:
            return roots[0]
        for _ in range(8):
            place = place.halved()


def sign_of(polynomial: fmpz_poly, place: RealRoot) -> int:
    """Returns the sign -1, 0 or 1 of a polynomial at an algebraic number."""
    if not polynomial or not polynomial % place.factor:
        return 0
    while True:
        low, high = _bounds(polynomial, place)
        if low > 0 or high < 0:
            return 1 if low > 0 else -1
        place = place.halved()


def _range(top: fmpz_poly, bottom: fmpz_poly, place: RealRoot) -> tuple[Fraction, Fraction]:
    """Returns bounds of top/bottom on the closed interval of a root."""
    low_top, high_top = _bounds(top, place)
    low_bottom, high_bottom = _bounds(bottom, place)
    while low_bottom <= 0:
        place = place.halved()
        low_top, high_top = _bounds(top, place)
        low_bottom, high_bottom = _bounds(bottom, place)
    return max(low_top, Fraction(0)) / high_bottom, high_top / low_bottom


def _bounds(polynomial: fmpz_poly, place: RealRoot) -> tuple[Fraction, Fraction]:
    """Returns bounds on the interval of a root by Taylor expansion at its middle."""
    middle, radius = (place.lower + place.upper) / 2, (place.upper - place.lower) / 2
    shifted = fmpq_poly(polynomial)(fmpq_poly([rational(middle), 1]))
    spread = Fraction(0)
    for k in range(1, int(shifted.degree()) + 1):
        c = shifted[k]
        spread += abs(Fraction(int(c.p), int(c.q))) * radius**k
    center = Fraction(int(shifted[0].p), int(shifted[0].q))
    return center - spread, center + spread
