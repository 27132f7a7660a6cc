"""Real roots of univariate polynomials, isolated exactly, and the suprema of rational functions that
follow.

A polynomial is factored over the rationals; linear factors give rational roots exactly, and the roots of
every other irreducible factor are simple and irrational, so they are never at a rational cut. They are
isolated by Descartes' rule of signs on bisected intervals ([CollinsAkritas76]): the number of sign variations
of the Bernstein coefficients on an interval is at least the number of roots inside, and differs from it by an
even number; so 0 means none and 1 means exactly one. Bisection ends for square-free polynomials (the one- and
two-circle theorems).

Real roots of polynomials whose coefficients are known by their signs only.

The coefficients are elements of an ordered field: polynomials in the other variables of the ring, which stand
for real numbers such as `E = exp(g)` or the root of another polynomial. All that is asked of the field is a
function that gives the sign of an element. Descartes' rule of signs on bisected intervals needs nothing else
([CollinsAkritas76]).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cmp_to_key, reduce
from itertools import pairwise
from typing import Protocol, Self, TypeVar

from flint import Ordering, fmpq, fmpq_mat, fmpq_mpoly_ctx, fmpq_poly, fmpz, fmpz_poly

from paramverify.algebra.bernstein import SHIFT, bernstein_entries, on_unit, weighted
from paramverify.algebra.constants import ExpConstant
from paramverify.algebra.polynomials import (
    Polynomial,
    constant_value,
    in_generator,
    primitive,
    rational,
    substitute,
    variables,
)
from paramverify.algebra.rationals import nearest, simplest_between
from paramverify.algebra.reals import show_polynomial
from paramverify.errors import DefectError


class Isolated(Protocol):
    """A real number between two rationals, which can be brought together; equal ends are the number."""

    @property
    def lower(self) -> Fraction:
        """At most the number."""

    @property
    def upper(self) -> Fraction:
        """At least the number."""

    @property
    def is_rational(self) -> bool:
        """Whether the ends are equal."""

    def halved(self) -> Self:
        """Returns the same number in an interval of half the width."""


AnyRoot = TypeVar("AnyRoot", bound=Isolated)


@dataclass(frozen=True)
class RealRoot:
    """A real root of an irreducible primitive polynomial.

    Either `lower == upper` is the root, a rational; or the root is irrational, lower < root < upper, and
    `factor` has no other root in the closed interval. `multiplicity` is that in the isolated polynomial.
    """

    factor: fmpz_poly
    multiplicity: int
    lower: Fraction
    upper: Fraction

    @property
    def is_rational(self) -> bool:
        """Whether the root is a rational number."""
        return self.lower == self.upper

    def precise(self, bits: int = 64) -> RealRoot:
        """Returns the root in an enclosure that is no wider than the root over 2^bits."""
        if self.is_rational:
            return self
        root = self
        while root.lower <= 0 <= root.upper:  # the root is not 0, which is rational
            root = root.refined(max(-root.lower, root.upper) / 4)
        return root.refined(min(abs(root.lower), abs(root.upper)) / 2**bits)

    def middle(self) -> Fraction:
        """Returns the number if it is rational, otherwise a rational next to it, relative to its size."""
        small = self.precise()
        return (small.lower + small.upper) / 2

    def __float__(self) -> float:
        return nearest(self.middle())

    def __str__(self) -> str:
        """Returns the number in words: `3/2`, or `≈ 1.41421 (a root of x^2 - 2)`."""
        if self.is_rational:
            return str(rational(self.lower))
        return f"≈ {float(self):.12g} (a root of {show_polynomial(self.factor, 'x')})"

    def __repr__(self) -> str:
        return f"RealRoot({self})"

    def halved(self) -> RealRoot:
        """Returns the same root in an interval of half the width."""
        if self.is_rational:
            return self
        middle = (self.lower + self.upper) / 2
        # The one root inside is simple, so the factor has opposite signs at the ends and is not zero there.
        if sign_at(self.factor, middle) == sign_at(self.factor, self.lower):
            return replace(self, lower=middle)
        return replace(self, upper=middle)

    def refined(self, width: Fraction) -> RealRoot:
        """Returns the same root in an interval that is at most so wide."""
        root = self
        while root.upper - root.lower > width:
            root = root.halved()
        return root


def rational_root(value: Fraction) -> RealRoot:
    """Returns a rational number as the simple root of a linear polynomial."""
    factor = fmpz_poly([-value.numerator, value.denominator])
    return RealRoot(factor, 1, value, value)


def around(value: Fraction | RealRoot) -> tuple[Fraction, Fraction]:
    """Returns rationals near a number and on both sides of it; equal ones if it is rational."""
    if isinstance(value, Fraction):
        return value, value
    close = value.precise()
    return close.lower, close.upper


def power(root: RealRoot, exponent: int) -> RealRoot:
    """Returns a positive root to the power of a positive whole number.

    The matrix C of the factor has its roots as eigenvalues, so C^n has their n-th powers.
    """
    if root.is_rational:
        return rational_root(root.lower**exponent)
    degree = int(root.factor.degree())
    top = root.factor[degree]
    rows = [[fmpq(int(i == j + 1)) for j in range(degree)] for i in range(degree)]
    for i, row in enumerate(rows):
        row[-1] = -fmpq(root.factor[i], top)
    matrix = fmpq_mat(rows)
    raised = matrix
    for _ in range(exponent - 1):
        raised = raised * matrix
    polynomial = fmpz_poly(raised.charpoly().numer())
    while True:
        found = isolate(polynomial, max(root.lower, Fraction(0)) ** exponent, root.upper**exponent)
        if len(found) == 1:
            return found[0]
        root = root.halved()


def univariate(polynomial: Polynomial) -> fmpz_poly:
    """Returns the primitive integer polynomial that is a positive multiple of one in at most one variable.

    Raises:
        ValueError: more than one variable occurs.
    """
    degrees = [int(d) for d in polynomial.degrees()]
    axes = [k for k, d in enumerate(degrees) if d > 0]
    if len(axes) > 1:
        raise ValueError(f"{polynomial} is not univariate")
    axis = axes[0] if axes else None
    scale = fmpz(1)
    terms = polynomial.to_dict()
    for coefficient in terms.values():
        scale = scale.lcm(coefficient.q)
    coefficients = [fmpz(0)] * (degrees[axis] + 1 if axis is not None else 1)
    for monomial, coefficient in terms.items():
        coefficients[int(monomial[axis]) if axis is not None else 0] = (coefficient * scale).p
    result = fmpz_poly(coefficients)
    content = abs(result.content()) if result else fmpz(1)
    return result // content if content > 1 else result


def sign_at(polynomial: fmpz_poly, point: Fraction) -> int:
    """Returns the sign -1, 0 or 1 of the value at a rational point."""
    value = polynomial(rational(point))
    return (value > 0) - (value < 0)


def isolate(polynomial: fmpz_poly, lower: Fraction, upper: Fraction) -> list[RealRoot]:
    """Returns the roots in the closed interval in increasing order, in pairwise disjoint intervals.

    Rational roots are recognised exactly. The intervals of irrational roots lie in [lower, upper].

    Raises:
        ValueError: the zero polynomial.
    """
    if not polynomial:
        raise ValueError("every number is a root of the zero polynomial")
    roots: list[RealRoot] = []
    for factor, multiplicity in polynomial.factor()[1]:
        if factor.degree() == 1:
            root = Fraction(-int(factor[0]), int(factor[1]))
            if lower <= root <= upper:
                roots.append(RealRoot(factor, int(multiplicity), root, root))
        elif lower < upper:
            roots += [RealRoot(factor, int(multiplicity), a, b) for a, b in _intervals(factor, lower, upper)]
    return apart(roots)


def variations(polynomial: fmpz_poly) -> int:
    """Returns the sign variations of the Bernstein coefficients on the unit interval."""
    count, last = 0, 0
    for coefficient in weighted(polynomial):
        sign = (coefficient > 0) - (coefficient < 0)
        if sign and last and sign != last:
            count += 1
        last = sign or last
    return count


def bernstein_coefficients(polynomial: fmpz_poly, lower: Fraction, upper: Fraction) -> list[int]:
    """Returns the Bernstein coefficients on an interval, times one positive number."""
    return [int(entry) for entry in bernstein_entries(polynomial, lower, upper)[0]]


def _intervals(factor: fmpz_poly, lower: Fraction, upper: Fraction) -> list[tuple[Fraction, Fraction]]:
    """Returns isolating intervals for an irreducible factor of degree at least 2."""
    found: list[tuple[Fraction, Fraction]] = []
    pending = [(on_unit(factor, lower, upper), lower, upper)]
    while pending:
        current, low, high = pending.pop()
        count = variations(current)
        if count == 1:
            found.append((low, high))
        elif count > 1:
            middle = (low + high) / 2
            degree = current.degree()
            # 2^d·f(t/2) is f on the lower half; shifted by one it is f on the upper half.
            half = fmpz_poly([current[i] << (degree - i) for i in range(degree + 1)])
            pending += [(half, low, middle), (half(SHIFT), middle, high)]
    return found


def apart(roots: Sequence[AnyRoot]) -> list[AnyRoot]:
    """Returns different roots in order, refined until no two intervals meet."""
    work = list(roots)
    while True:
        work.sort(key=lambda r: (r.lower, r.upper))
        touching = [k for k in range(len(work) - 1) if work[k].upper >= work[k + 1].lower]
        if not touching:
            return work
        # Roots are distinct numbers, so halving separates them.
        for k in {*touching, *(k + 1 for k in touching)}:
            work[k] = work[k].halved()


def compare(left: RealRoot, right: RealRoot) -> int:
    """Returns -1, 0 or 1 as the first root is smaller than, equal to, or greater than the second."""
    if left.factor == right.factor or (left.is_rational and right.is_rational):
        common = max(left.lower, right.lower) <= min(left.upper, right.upper)
        same = common and _same(left, right)
        if same:
            return 0
    while max(left.lower, right.lower) <= min(left.upper, right.upper):
        left, right = left.halved(), right.halved()
    return -1 if left.upper < right.lower else 1


def _same(left: RealRoot, right: RealRoot) -> bool:
    if left.is_rational or right.is_rational:
        return left.lower == right.lower and left.upper == right.upper
    low, high = max(left.lower, right.lower), min(left.upper, right.upper)
    return low < high and sign_at(left.factor, low) != sign_at(left.factor, high)


order = cmp_to_key(compare)


def between(left: Isolated, right: Isolated) -> tuple[Fraction, Fraction]:
    """Returns rational ends strictly between two different roots, the first one smaller, not narrower than
    half of their distance.

    Raises:
        DefectError: the roots are not in that order.
    """
    while True:
        gap = right.lower - left.upper
        if gap > 0 and (left.upper - left.lower) + (right.upper - right.lower) <= gap:
            return left.upper, right.lower
        if left.is_rational and right.is_rational:
            raise DefectError("the roots are not in increasing order")
        left, right = left.halved(), right.halved()


SignOf = Callable[[Polynomial], int]
"""Gives the sign -1, 0 or 1 of an element of the field."""

Coefficients = list[Polynomial]
"""Of a univariate polynomial, the constant one first."""


def number_sign(constant: ExpConstant | None) -> SignOf:
    """Returns the sign of numbers: rationals, and polynomials in the generator `E` that stands for exp(g)."""

    def sign(element: Polynomial) -> int:
        if constant is not None and variables(element):
            return constant.sign(in_generator(element))
        value = constant_value(element)
        return (value > 0) - (value < 0)

    return sign


@dataclass(frozen=True, eq=False)
class FieldRoot:
    """A simple real root of a polynomial in `name`, over the field whose signs are given.

    Either `lower == upper` is the root; or lower < root < upper, and there is no other root in the closed
    interval.
    """

    polynomial: Polynomial
    name: str
    sign: SignOf
    lower: Fraction
    upper: Fraction

    @property
    def is_rational(self) -> bool:
        """Whether the root is known to be the rational number that both ends are."""
        return self.lower == self.upper

    @property
    def degree(self) -> int:
        """The degree of the polynomial in its variable."""
        return len(coefficients(self.polynomial, self.name)) - 1

    def halved(self) -> FieldRoot:
        """Returns the same root in an interval of half the width."""
        if self.is_rational:
            return self
        middle = (self.lower + self.upper) / 2
        at_middle = self._sign_at(middle)
        if at_middle == 0:
            return replace(self, lower=middle, upper=middle)
        # The root is simple and the only one, so the ends have opposite signs.
        same = at_middle == self._sign_at(self.lower)
        return replace(self, lower=middle) if same else replace(self, upper=middle)

    def refined(self, width: Fraction) -> FieldRoot:
        """Returns the same root in an interval that is at most so wide."""
        root = self
        while root.upper - root.lower > width:
            root = root.halved()
        return root

    def _sign_at(self, value: Fraction) -> int:
        return self.sign(substitute(self.polynomial, {self.name: value}))


def coefficients(polynomial: Polynomial, name: str) -> Coefficients:
    """Returns the coefficients of the powers of a variable, up to its degree; none for zero."""
    if not polynomial:
        return []
    context = polynomial.context()
    axis = [str(n) for n in context.names()].index(name)
    parts: list[dict[tuple[int, ...], fmpq]] = [{} for _ in range(int(polynomial.degrees()[axis]) + 1)]
    for monomial, coefficient in polynomial.to_dict().items():
        powers = tuple(0 if k == axis else int(e) for k, e in enumerate(monomial))
        parts[int(monomial[axis])][powers] = coefficient
    return [context.from_dict(part) for part in parts]


def assemble(parts: Sequence[Polynomial], name: str) -> Polynomial:
    """Returns the polynomial with the given coefficients of the powers of a variable, at least one."""
    context = parts[0].context()
    variable = context.gen([str(n) for n in context.names()].index(name))
    total = parts[-1]
    for part in parts[-2::-1]:
        total = total * variable + part
    return total


def bernstein(parts: Coefficients, lower: Fraction, upper: Fraction) -> Coefficients:
    """Returns positive multiples of the Bernstein coefficients of a polynomial on an interval."""
    return _weighted(_on_unit(parts, lower, upper))


def isolate_over(
    polynomial: Polynomial, name: str, lower: Fraction, upper: Fraction, sign: SignOf
) -> list[FieldRoot]:
    """Returns the roots in the closed interval in increasing order, in pairwise disjoint intervals.

    All complex roots of the polynomial must be simple, and its leading coefficient not zero.
    """
    exact: set[Fraction] = set()
    found: list[FieldRoot] = []

    def root(low: Fraction, high: Fraction) -> FieldRoot:
        return FieldRoot(polynomial, name, sign, low, high)

    def is_zero(value: Fraction) -> bool:
        if sign(substitute(polynomial, {name: value})) == 0:
            exact.add(value)
        return value in exact

    is_zero(lower), is_zero(upper)
    pending: list[tuple[Coefficients, Fraction, Fraction]] = []
    if lower < upper:
        pending.append((_on_unit(coefficients(polynomial, name), lower, upper), lower, upper))
    while pending:
        current, low, high = pending.pop()
        count = _variations(_weighted(current), sign)
        if count == 0:
            continue
        if count == 1 and low not in exact and high not in exact:
            found.append(root(low, high))
            continue
        middle = (low + high) / 2
        is_zero(middle)
        degree = len(current) - 1
        half = [part * 2 ** (degree - k) for k, part in enumerate(current)]
        pending += [(half, low, middle), (_shifted(half), middle, high)]
    return apart([*found, *(root(value, value) for value in exact)])


def algebraic_sign(root: Isolated, minimal: Polynomial, name: str, sign: SignOf) -> SignOf:
    """Returns the sign of polynomials in `name` at a root of an irreducible polynomial over a field.

    `minimal` is irreducible in the ring over the rationals and mentions `name`, and its other variables are
    numbers that are algebraically independent (there is at most one, `E`). So, by Gauss' lemma, an element
    vanishes at the root iff `minimal` divides it. Otherwise an interval around the root that is short enough
    has Bernstein coefficients of one sign.
    """
    known = [root]

    def of(element: Polynomial) -> int:
        if name in variables(element):
            element = divmod(element, minimal)[1]
        if not element:
            return 0
        parts = coefficients(element, name)
        if len(parts) == 1:
            return sign(element)
        while True:
            at = known[0]
            if at.is_rational:
                return sign(substitute(element, {name: at.lower}))
            signs = {sign(entry) for entry in bernstein(parts, at.lower, at.upper)}
            if signs in ({1}, {-1}):
                return signs.pop()
            known[0] = at.halved()

    return of


def negative_point(
    polynomial: Polynomial, name: str, lower: Fraction, upper: Fraction, sign: SignOf
) -> Fraction | None:
    """Returns a simple rational strictly between lower and upper where f < 0; None iff f ≥ 0 on the interval.

    The coefficients are in any ordered field. The polynomial divided by its greatest common divisor with its
    derivative has the same roots, all of them simple; between two neighbouring ones the sign is constant.
    For lower = upper it is about that point.
    """

    def is_negative(at: Fraction) -> bool:
        return sign(substitute(polynomial, {name: at})) < 0

    if lower == upper:
        return lower if is_negative(lower) else None
    parts = _stripped(coefficients(polynomial, name), sign)
    roots: list[FieldRoot] = []
    if len(parts) > 1:
        slope = [part * k for k, part in enumerate(parts)][1:]
        simple = _divided(parts, _common(parts, slope, sign), sign)[0]
        roots = isolate_over(assemble(_small(simple), name), name, lower, upper, sign)
    points = sorted({lower, upper, *(r.lower for r in roots), *(r.upper for r in roots)})
    points += [(a + b) / 2 for a, b in pairwise(points)]
    # The closed intervals are disjoint: among these points there is one between any two neighbouring roots.
    found = next((at for at in points[::-1] if is_negative(at)), None)
    if found is None:
        return None
    radius = (upper - lower) / 2
    while True:  # f < 0 near the point, too, and inside if the point is an end
        near = simplest_between(max(lower, found - radius), min(upper, found + radius))
        if is_negative(near):
            return near
        radius /= 2


def _stripped(parts: Coefficients, sign: SignOf) -> Coefficients:
    """Returns the coefficients up to the last one that is not zero in the field."""
    while parts and sign(parts[-1]) == 0:
        parts = parts[:-1]
    return parts


def _divided(top: Coefficients, bottom: Coefficients, sign: SignOf) -> tuple[Coefficients, Coefficients]:
    """Returns (q, r) with lead^k · top = q · bottom + r, where r has a lower degree than bottom."""
    lead, rest = bottom[-1], list(top)
    quotient: Coefficients = []
    while len(rest) >= len(bottom):
        head, offset = rest[-1], len(rest) - len(bottom)
        quotient = [part * lead for part in quotient] + [head]
        rest = [part * lead for part in rest]
        for k, part in enumerate(bottom):
            rest[k + offset] -= head * part
        rest = rest[:-1]
    return quotient[::-1], _stripped(rest, sign)


def _common(left: Coefficients, right: Coefficients, sign: SignOf) -> Coefficients:
    """Returns a greatest common divisor, by Euclid's algorithm with pseudo-remainders."""
    right = _stripped(right, sign)
    while right:
        left, right = right, _small(_divided(left, right, sign)[1])
    return left


def _small(parts: Coefficients) -> Coefficients:
    """Returns a rational multiple with smaller coefficients."""
    scales = [primitive(part)[0] for part in parts if part]
    return [part / rational(scales[0]) for part in parts] if scales else parts


def _variations(weighted: Coefficients, sign: SignOf) -> int:
    signs = [s for s in map(sign, weighted) if s]
    return sum(a != b for a, b in pairwise(signs))


def _shifted(parts: Coefficients) -> Coefficients:
    """Returns the coefficients of f(t + 1)."""
    work = list(parts)
    for first in range(len(work) - 1):
        for k in range(len(work) - 2, first - 1, -1):
            work[k] = work[k] + work[k + 1]
    return work


def _weighted(unit: Coefficients) -> Coefficients:
    """Returns C(d,i)·b_{d−i} for the Bernstein coefficients b on the unit interval."""
    return _shifted(unit[::-1])


def _on_unit(parts: Coefficients, lower: Fraction, upper: Fraction) -> Coefficients:
    """Returns a positive multiple of f(lower + (upper − lower)·t)."""
    width = rational(upper - lower)
    # f(lower·s) shifted by one is f(lower + lower·t); a lower end of zero needs no shift.
    if not lower:
        return [part * width**k for k, part in enumerate(parts)]
    low = rational(lower)
    moved = _shifted([part * low**k for k, part in enumerate(parts)])
    return [part * (width / low) ** k for k, part in enumerate(moved)]


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
