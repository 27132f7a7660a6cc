"""Factors that depend on one product of powers: f(x) = g(u), u = ∏ sᵢ^vᵢ, sᵢ = xᵢ or 1 − xᵢ.

Let [A, B] be the values of u on the box of the domain. For a factor of a region map, the document shows where
on [A, B] which sign g has. It vanishes at neither end, and cuts at which it does not vanish divide [A, B]
into parts. By Descartes' rule of signs for Bernstein coefficients, a part on which these have no variation of
sign has no root inside, and a part with one variation has exactly one. This root lies between two places of
the part at which the signs of g differ. So g has one sign between such a pair of places and the next one.

For a proof of the kind `product`, f ≥ 0 follows from g ≥ 0 on the values of u.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import lcm
from typing import Any

from .evidence_polynomials import ONE, Box, Poly, compose, constant, number, plus
from .evidence_polynomials import whole as scaled
from .proof_goals import Goal, shifted
from .strict_reading import Rejected, listed, rational, record, row, table, text, whole

MAX_DEGREE = 5_000  # of g

PRODUCT = {"powers": table(whole), "reflected": listed(text)}
BY_ROOTS = record(
    {**PRODUCT, "factor": whole, "cuts": listed(rational), "roots": listed(row(rational, rational))}
)


@dataclass(frozen=True)
class ByRoots:
    """A factor on a box: the powers of u, which are of 1 − x, and where g has which sign, never zero."""

    powers: tuple[tuple[str, int], ...]
    reflected: frozenset[str]
    box: Box
    signs: tuple[tuple[Fraction, Fraction, int], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters that occur."""
        return tuple(name for name, _ in self.powers)

    def values(self) -> tuple[Fraction, Fraction]:
        """Returns the least and the largest value of u."""
        least = most = Fraction(1)
        for name, power in self.powers:
            low, high = self.box[name]
            if name in self.reflected:
                low, high = 1 - high, 1 - low
            if low < 0:
                raise Rejected(f"the powers of {name:.40} may be negative")
            least, most = least * low**power, most * high**power
        return least, most

    def weak_sign(self) -> int | None:
        """Returns the sign of f on the box, where it does not vanish; None if that is not known."""
        least, most = self.values()
        return next((sign for low, high, sign in self.signs if low <= least and most <= high), None)

    def cut(self, name: str, ratio: Fraction) -> tuple[ByRoots, ByRoots]:
        """Returns the factor on both sides of a cut."""
        low, high = self.box[name]
        place = low + (high - low) * ratio
        below, above = ({**self.box, name: ends} for ends in ((low, place), (place, high)))
        return replace(self, box=below), replace(self, box=above)

    def at(self, values: Mapping[str, Fraction]) -> ByRoots:
        """Returns the factor with some parameters fixed."""
        return replace(self, box=self.box | {name: (value, value) for name, value in values.items()})


def read_by_roots(entry: Any, poly: Poly, names: Sequence[str], box: Box) -> ByRoots:
    """Reads how a factor depends on one product, and checks it.

    Raises:
        Rejected: it is not shown that the polynomial has this form and these signs.
    """
    form, outer = _read_product(entry, poly, names, box)
    least, most = form.values()
    cuts = [least, *map(number, entry["cuts"]), most]
    if any(low >= high for low, high in pairwise(cuts)) or not all(sign_at(outer, place) for place in cuts):
        raise Rejected("a polynomial vanishes at a cut, or the cuts do not ascend")
    around = [(number(low), number(high)) for low, high in entry["roots"]]
    places = [least]
    for low, high in pairwise(cuts):
        inside = [ends for ends in around if low <= ends[0] and ends[1] <= high]
        if len(inside) != variations(outer, low, high):
            raise Rejected("it is not shown that the roots are all")
        for left, right in inside:
            if len(inside) > 1 or left >= right or sign_at(outer, left) * sign_at(outer, right) >= 0:
                raise Rejected("it is not shown that one root lies between two places")
            places += [left, right]
    places.append(most)
    if len(places) != 2 * len(around) + 2:
        raise Rejected("a root is named that is not inside of a part")
    signs = [(low, high, sign_at(outer, high)) for low, high in zip(places[::2], places[1::2], strict=True)]
    return replace(form, signs=tuple(signs))


def product_goal(goal: Goal, proof: Any) -> Goal:
    """Returns the goal g(x) ≥ 0 on the values of u, for a variable x that takes the place of u."""
    name = proof["variable"]
    form, outer = _read_product(proof, goal.poly, goal.names, goal.box)
    poly = {tuple(k * (n == name) for n in goal.names): Fraction(c) for k, c in enumerate(outer) if c}
    kept = goal.without(name, poly)
    return replace(kept, box={**goal.box, name: form.values()}, open=goal.open - {(name, 0), (name, 1)})


def _read_product(entry: Any, poly: Poly, names: Sequence[str], box: Box) -> tuple[ByRoots, list[int]]:
    """Reads u, and returns it with the coefficients of g times a positive number."""
    powers = tuple((name, int(power)) for name, power in entry["powers"].items())
    reflected = frozenset(entry["reflected"])
    if not powers or not set(dict(powers)) <= set(box) or not reflected <= set(dict(powers)):
        raise Rejected("not powers of parameters")
    if any(power < 1 for _, power in powers):
        raise Rejected("not a positive power")
    form = ByRoots(powers, reflected, {name: box[name] for name, _ in powers}, ())
    return form, _outer(form, poly, names)


def _outer(form: ByRoots, poly: Poly, names: Sequence[str]) -> list[int]:
    """Returns the coefficients of g, times a positive number."""
    one = constant(ONE, len(names))
    for name in form.reflected:
        variable = {tuple(int(other == name) for other in names): ONE}
        poly = compose(poly, names.index(name), plus(one, variable, -ONE))
    terms, powers = scaled(poly)[0], dict(form.powers)
    (first, power), found = form.powers[0], dict[int, int]()
    for x, c in terms.items():
        k = x[names.index(first)] // power
        if any(e != k * powers.get(name, 0) for name, e in zip(names, x, strict=True)):
            raise Rejected("a factor does not depend on the product of powers alone")
        found[k] = c
    degree = max(found, default=0)
    if not 0 < degree <= MAX_DEGREE:
        raise Rejected("a factor has no degree in a product of powers, or a too high one")
    return [found.get(k, 0) for k in range(degree + 1)]


def variations(outer: Sequence[int], low: Fraction, high: Fraction) -> int:
    """Returns the variations of sign of the Bernstein coefficients on an interval.

    They are those of (1 + s)^d·g at low + (high − low)/(1 + s), up to positive numbers.
    """
    m, d = lcm(low.denominator, high.denominator), len(outer)
    row = shifted([c * m ** (d - k) for k, c in enumerate(outer)], int(low * m))
    width = int((high - low) * m)
    signs = [c // abs(c) for c in shifted([c * width**k for k, c in enumerate(row)][::-1], 1) if c]
    return sum(a != b for a, b in pairwise(signs))


def sign_at(outer: Sequence[int], place: Fraction) -> int:
    value, power = 0, 1
    for c in reversed(outer):
        value = value * place.numerator + c * power
        power *= place.denominator
    return (value > 0) - (value < 0)
