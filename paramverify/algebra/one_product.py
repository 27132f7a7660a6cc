"""Polynomials of a high degree that depend on one product only: f(x) = g(u), u = ∏ sᵢ^vᵢ, sᵢ = xᵢ or 1 − xᵢ.

So it is with channels that all have to work, or all have to fail. The sign of f on a box is then that of g, a
polynomial in one variable, on an interval: where its real roots are known, nothing of a high degree is left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, count
from math import gcd, prod

from flint import fmpq, fmpz, fmpz_poly

from paramverify.algebra.bernstein import on_unit
from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Interval
from paramverify.algebra.polynomials import Polynomial, Ring, variables
from paramverify.algebra.real_roots import sign_at, variations

Terms = dict[tuple[int, ...], fmpq]
Ends = tuple[Fraction, Fraction]

MANY = 400  # Bernstein coefficients from which on it is worth while to look for this form
PRIME = (1 << 61) - 1
PLACES = ((3, 7), (11, 29))  # of the two points at which derivatives are compared, modulo the prime
REFLECTION = fmpz_poly([1, -1])
NARROW = Fraction(1, 1 << 48)  # the width of the interval around a root
MAX_PARTS = 1_000


@dataclass(frozen=True, eq=False)
class OneProduct:
    """c·f(x) = g(u) with some c > 0: the powers of u by name, which of them are of 1 − x, and g."""

    powers: Mapping[str, int]
    reflected: frozenset[str]
    outer: fmpz_poly

    def values(self, box: Mapping[str, Ends]) -> Ends:
        """Returns the least and the largest value of u on a closed box on which no sᵢ is negative."""
        low = high = Fraction(1)
        for name, power in self.powers.items():
            least, most = self.shares(name, *box[name])
            low, high = low * least**power, high * most**power
        return low, high

    def inner(self, ring: Ring) -> Polynomial:
        """Returns u in a ring that has the variables."""
        found = ring.number(1)
        for name, power in self.powers.items():
            x = ring.variable(name)
            found *= (1 - x if name in self.reflected else x) ** power
        return found

    def shares(self, name: str, low: Fraction, high: Fraction) -> Ends:
        """Returns the least and the largest value of sᵢ."""
        return (1 - high, 1 - low) if name in self.reflected else (low, high)

    def holds_on(self, box: Mapping[str, Interval]) -> bool:
        """Tells whether no sᵢ is negative on a box."""
        return all(self.shares(name, box[name].lower, box[name].upper)[0] >= 0 for name in self.powers)


@dataclass(frozen=True)
class Roots:
    """The roots of g inside an interval: `cuts` are places inside, between which there is at most one root.

    `around` are closed intervals in order, each with one root inside and different signs at its ends; `last`
    is the sign of g at the upper end of the whole.
    """

    cuts: tuple[Fraction, ...]
    around: tuple[Ends, ...]
    last: int


def is_large(polynomial: Polynomial) -> bool:
    """Tells whether a polynomial has so many Bernstein coefficients that the form g(u) saves work."""
    return prod(int(d) + 1 for d in polynomial.degrees()) >= MANY


def one_product(polynomial: Polynomial) -> OneProduct | None:
    """Returns the form g(u) of a polynomial in two variables or more, if it has one; E must not occur."""
    names = variables(polynomial)
    if len(names) < 2 or GENERATOR in names:
        return None
    every = [str(n) for n in polynomial.context().names()]
    axes = [every.index(name) for name in names]
    terms = {tuple(int(x[k]) for k in axes): c for x, c in polynomial.to_dict().items()}
    plain = _plain(names, terms)
    if plain is not None:
        return plain
    chosen = _choice(terms)
    if chosen is None:
        return None
    for axis, is_reflected in enumerate(chosen):
        if is_reflected:
            terms = _reflected(terms, axis)
    found = _plain(names, terms)
    reflected = frozenset(n for n, is_reflected in zip(names, chosen, strict=True) if is_reflected)
    return found and replace(found, reflected=reflected)


def _plain(names: Sequence[str], terms: Terms) -> OneProduct | None:
    """Returns the form with all sᵢ = xᵢ: all exponents are multiples of one vector."""
    first = next(x for x in terms if any(x))
    shared = gcd(*first)
    powers = tuple(e // shared for e in first)
    if not all(powers):
        return None
    size = 1 + max(x[0] for x in terms) // powers[0]
    outer, scale = [fmpz(0)] * size, fmpz(1)
    for c in terms.values():
        scale = scale.lcm(c.q)
    for x, c in terms.items():
        k = x[0] // powers[0]
        if any(e != k * v for e, v in zip(x, powers, strict=True)):
            return None
        outer[k] = (c * scale).p
    powers, outer = _least(powers, outer)
    return OneProduct(dict(zip(names, powers, strict=True)), frozenset(), fmpz_poly(outer))


def _least(powers: tuple[int, ...], outer: list[fmpz]) -> tuple[tuple[int, ...], list[fmpz]]:
    """Returns the form with the least degree of g."""
    shared = gcd(*(k for k, c in enumerate(outer) if c))
    return tuple(v * shared for v in powers), outer[::shared]


def _choice(terms: Terms) -> list[bool] | None:
    """Returns for which variables sᵢ = 1 − xᵢ, if f may have the form; what is returned is to be checked.

    Where f = g(u), sᵢ·∂f/∂xᵢ is ±vᵢ·u·g′(u), and vᵢ is in proportion to the degree of f in xᵢ.
    """
    degrees = [max(x[k] for x in terms) for k in range(len(next(iter(terms))))]
    found = []
    for start, step in PLACES:
        point = [pow(start + step * k, 5, PRIME) for k in range(len(degrees))]
        slopes = _slopes(terms, point)
        if slopes is None:
            return None
        found.append([(x * s % PRIME, (x - 1) * s % PRIME) for x, s in zip(point, slopes, strict=True)])
    for first in (0, 1):
        chosen = [first]
        for k, degree in enumerate(degrees[1:], 1):
            same = [
                side
                for side in (0, 1)
                if all(not (at[k][side] * degrees[0] - at[0][first] * degree) % PRIME for at in found)
            ]
            chosen += same[:1]
        if len(chosen) == len(degrees):
            return [bool(side) for side in chosen]
    return None


def _slopes(terms: Terms, point: Sequence[int]) -> list[int] | None:
    """Returns the partial derivatives at a point modulo the prime."""
    sums = [0] * len(point)
    for x, c in terms.items():
        if not int(c.q) % PRIME:
            return None
        value = int(c.p) * pow(int(c.q), -1, PRIME) % PRIME
        for place, exponent in zip(point, x, strict=True):
            value = value * pow(place, exponent, PRIME) % PRIME
        for k, exponent in enumerate(x):
            sums[k] = (sums[k] + value * exponent) % PRIME
    return [total * pow(place, -1, PRIME) % PRIME for total, place in zip(sums, point, strict=True)]


def _reflected(terms: Terms, axis: int) -> Terms:
    """Returns the polynomial with a variable x replaced by 1 − x."""
    scale = fmpz(1)
    for c in terms.values():
        scale = scale.lcm(c.q)
    rows: dict[tuple[int, ...], dict[int, fmpz]] = {}
    for x, c in terms.items():
        rows.setdefault((*x[:axis], *x[axis + 1 :]), {})[x[axis]] = (c * scale).p
    result: Terms = {}
    for rest, row in rows.items():
        changed = fmpz_poly([row.get(k, fmpz(0)) for k in range(max(row) + 1)])(REFLECTION)
        for k in range(changed.degree() + 1):
            if changed[k]:
                result[*rest[:axis], k, *rest[axis:]] = fmpq(changed[k], scale)
    return result


def roots_inside(outer: fmpz_poly, lower: Fraction, upper: Fraction) -> Roots | None:
    """Returns the roots of g in (lower, upper), which are simple; g must not vanish at the ends.

    Bisection by Descartes' rule of signs ([CollinsAkritas76]). None where g has a multiple root, or where
    very many cuts are needed.
    """
    if outer.gcd(outer.derivative()).degree() > 0:
        return None
    cuts: list[Fraction] = []
    around: list[Ends] = []
    pending = [(on_unit(outer, lower, upper), lower, upper)]
    while pending:
        current, low, high = pending.pop()
        count = variations(current)
        if count == 1:
            around.append((low, high))
        elif count > 1:
            middle = _unequal(outer, low, high)
            cuts.append(middle)
            if len(cuts) > MAX_PARTS:
                return None
            pending += [(on_unit(outer, a, b), a, b) for a, b in ((low, middle), (middle, high))]
    narrow = tuple(_narrow(outer, *ends) for ends in sorted(around))
    return Roots(tuple(sorted(cuts)), narrow, sign_at(outer, upper))


def _unequal(outer: fmpz_poly, low: Fraction, high: Fraction) -> Fraction:
    """Returns a place inside at which g is not zero: the middle if that is one."""
    ratios = chain([Fraction(1, 2)], (Fraction(k, 2 * k + 1) for k in count(1)))
    return next(at for at in (low + (high - low) * r for r in ratios) if sign_at(outer, at))


def _narrow(outer: fmpz_poly, low: Fraction, high: Fraction) -> Ends:
    """Returns a narrow interval around the only root between two places at which the signs differ."""
    below = sign_at(outer, low)
    while high - low > NARROW:
        middle = _unequal(outer, low, high)
        low, high = (middle, high) if sign_at(outer, middle) == below else (low, middle)
    return low, high
