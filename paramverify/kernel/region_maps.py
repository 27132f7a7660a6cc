"""Region maps as they are read: the domain, the claims as signs of factors, and cells.

A map has a domain, free parameters x (the others, y, are quantified), claims f ≥ 0, factors g, and for each
claim a product c·∏ gᵢ^mᵢ that must equal f. Its cells are closed boxes over the free parameters. The constant
E is a parameter more, whose interval is shown to contain exp(q); it is never cut.

Of a factor g, its Bernstein coefficients are kept on each part of a subdivision. Of one that depends on one
product of powers, the roots are shown instead (see `product_substitution`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

from .evidence_polynomials import Box, Poly, constant, degree, number, parse, times
from .product_substitution import ByRoots, read_by_roots
from .proof_goals import BernsteinCoefficients, Goal, WrittenClaim, bernstein
from .strict_reading import Rejected

AnyForm = TypeVar("AnyForm", BernsteinCoefficients, ByRoots)
Cells = list[tuple[tuple[tuple[Fraction, Fraction], ...], Any]]


@dataclass(frozen=True)
class Map:
    """What a document is about."""

    domain: Any
    claims: tuple[Any, ...]
    goal: Goal
    free: tuple[str, ...]
    quantified: tuple[str, ...]
    parameters: tuple[str, ...]
    factors: tuple[Poly, ...]
    products: tuple[tuple[int, tuple[tuple[int, int], ...]], ...]  # sign of the constant; factors, powers
    conditions: tuple[tuple[Poly, bool], ...]
    by_roots: dict[int, ByRoots]

    def form(self, index: int) -> BernsteinCoefficients | ByRoots:
        """Returns what is known of a factor on the box of the domain."""
        known = self.by_roots.get(index)
        return bernstein(self.goal, self.factors[index]) if known is None else known

    def occurs(self, poly: Poly) -> bool:
        """Tells whether a quantified parameter with more than one value occurs."""
        ranging = [name for name in self.quantified if self.goal.box[name][0] < self.goal.box[name][1]]
        return any(degree(poly, self.goal.names.index(name)) for name in ranging)


@dataclass(frozen=True)
class MapNode:
    """A part of the subdivision: its box, and the forms of factors and of conditions there."""

    box: Box
    forms: tuple[BernsteinCoefficients | ByRoots, ...]
    conditions: tuple[BernsteinCoefficients, ...]

    def halves(self, name: str) -> list[MapNode]:
        """Returns the parts below and above the middle of a parameter."""
        low, high = self.box[name]
        return self.sides(name, (low + high) / 2)

    def sides(self, name: str, place: Fraction) -> list[MapNode]:
        """Returns the parts below and above a place inside the interval of a parameter."""
        low, high = self.box[name]
        ratio = (place - low) / (high - low)
        forms = [f.cut(name, ratio) if name in f.names else (f, f) for f in self.forms]
        conditions = [c.cut(name, ratio) if name in c.names else (c, c) for c in self.conditions]
        return [
            MapNode({**self.box, name: ends}, tuple(f[k] for f in forms), tuple(c[k] for c in conditions))
            for k, ends in enumerate(((low, place), (place, high)))
        ]


def read_map(document: Any, domain: WrittenClaim, written: Any) -> Map:
    """Reads the statement of a map on a domain, as it is `written`; checks that the products are the claims.

    Raises:
        Rejected: they are not, or something is malformed.
    """
    goal = domain.goal
    names = goal.names
    parameters = names[:-1] if domain.exponent is not None else names
    free = tuple(document["free"])
    if not free or len(set(free)) < len(free) or not set(free) <= set(parameters):
        raise Rejected("the free parameters are not parameters")
    if any(goal.box[name][0] == goal.box[name][1] for name in free):
        raise Rejected("a free parameter is fixed")
    factors = tuple(parse(text, names) for text in document["factors"])
    products = [
        read_product(entry, parse(text, names), factors, len(names))
        for text, entry in zip(document["claims"], document["products"], strict=True)
    ]
    quantified = tuple(name for name in parameters if name not in free)
    conditions = tuple(condition for condition in goal.conditions if condition is not None)
    by_roots = {}
    for entry in document.get("by_roots", ()):
        index = entry["factor"]
        if not 0 <= index < len(factors) or index in by_roots:
            raise Rejected("not a factor, or one that is named twice")
        by_roots[index] = read_by_roots(entry, factors[index], names, goal.box)
    return Map(
        domain=written,
        claims=tuple(document["claims"]),
        goal=goal,
        free=free,
        quantified=quantified,
        parameters=parameters,
        factors=factors,
        products=tuple(products),
        conditions=conditions,
        by_roots=by_roots,
    )


def read_product(
    entry: Any, poly: Poly, factors: Sequence[Poly], size: int
) -> tuple[int, tuple[tuple[int, int], ...]]:
    """Returns the sign of the constant, and the powers of factors: their product is the polynomial.

    Raises:
        Rejected: it is another polynomial.
    """
    multiple = number(entry["constant"])
    if not multiple:
        raise Rejected("a product with the constant zero")
    total = constant(multiple, size)
    powers: list[tuple[int, int]] = []
    most = 1 + sum(degree(poly, k) for k in range(size))
    for index, power in entry["factors"]:
        if not 0 <= index < len(factors) or power < 1:
            raise Rejected("not a factor and its multiplicity")
        # A factor with a variable has a degree, so the degrees bound the number of multiplications.
        if power > (most if any(map(any, factors[index])) else 1) or len(powers) > most:
            raise Rejected("the product of the factors is another polynomial")
        for _ in range(power):
            total = times(total, factors[index])
        powers.append((index, power))
    if total != poly:
        raise Rejected("the product of the factors is another polynomial")
    return (1 if multiple > 0 else -1, tuple(powers))


def separated(
    box: Sequence[tuple[Fraction, Fraction]], cells: Cells
) -> tuple[int, Fraction, tuple[Cells, Cells]]:
    """Returns an axis, a place on it that no cell straddles, and the cells on both sides.

    All cells are parts of the box, and neither side is without a cell. The middle is tried first.
    """
    for axis, (low, high) in enumerate(box):
        place = (low + high) / 2
        below = [c for c in cells if c[0][axis][1] <= place]
        above = [c for c in cells if place <= c[0][axis][0]]
        if below and above and len(below) + len(above) == len(cells):
            return axis, place, (below, above)
    for axis, (low, high) in enumerate(box):
        ordered = sorted(cells, key=lambda c: c[0][axis])
        reached = low
        for k, cell in enumerate(ordered):
            place = cell[0][axis][0]
            if k and reached <= place < high:
                return axis, place, (ordered[:k], ordered[k:])
            reached = max(reached, cell[0][axis][1])
    raise Rejected("the cells do not tile the box")
