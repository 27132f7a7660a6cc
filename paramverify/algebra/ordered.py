"""Real roots of polynomials whose coefficients are known by their signs only.

The coefficients are elements of an ordered field: polynomials in the other variables of the ring, which stand
for real numbers such as `E = exp(g)` or the root of another polynomial. All that is asked of the field is a
function that gives the sign of an element. Descartes' rule of signs on bisected intervals needs nothing else
([CollinsAkritas76]; see `realroots`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from flint import fmpq

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
from paramverify.algebra.realroots import Isolated, apart
from paramverify.algebra.simplest import simplest_between

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
    """Returns C(d,i)·b_{d−i} for the Bernstein coefficients b on the unit interval; see `realroots`."""
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
