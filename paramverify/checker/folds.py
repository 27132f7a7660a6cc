"""Symmetric parameters of a region map: their exchange leaves what the map is about as it is.

Then a point of the domain goes to one at which the parameters of each class ascend, by exchanges, and claims
that hold or fail there hold or fail at the point itself. So a cell at which no point of the interior ascends
needs no proof: the other cells contain all points with different values that ascend, and being closed, all
that ascend.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

from .maps import Map
from .polynomials import Poly, parse
from .strict import Rejected

Terms = frozenset[tuple[tuple[int, ...], Fraction]]


def read_folds(document: Any, found: Map) -> tuple[tuple[str, ...], ...]:
    """Returns the classes of symmetric parameters, all exchanges being checked.

    Raises:
        Rejected: an exchange of two neighbours of a class changes the claims, a constraint or the box.
    """
    folds = tuple(tuple(names) for names in document.get("symmetric", ()))
    every = [name for names in folds for name in names]
    if len(set(every)) < len(every) or not set(every) <= set(found.free) or any(len(n) < 2 for n in folds):
        raise Rejected("not classes of different free parameters")
    if folds and found.goal.ties:
        raise Rejected("a variable stands for a logarithm, and parameters are symmetric")
    names = found.goal.names
    claims = {(_terms(parse(text, names)), False) for text in found.claims}
    conditions = {(_terms(poly), strict) for poly, strict in found.conditions}
    for fold in folds:
        for first, second in pairwise(fold):
            a, b = names.index(first), names.index(second)
            alike = found.goal.box[first] == found.goal.box[second]
            alike = alike and all(
                ((first, end) in found.goal.open) == ((second, end) in found.goal.open) for end in (0, 1)
            )
            if not alike or any(_exchanged(known, a, b) != known for known in (claims, conditions)):
                raise Rejected(f"{first:.40} and {second:.40} are not symmetric")
    return folds


def _terms(poly: Poly) -> Terms:
    """Returns the terms, divided by the sum of the absolute values of the coefficients."""
    total = sum((abs(c) for c in poly.values()), Fraction(0))
    return frozenset((x, c / total) for x, c in poly.items())


def _exchanged(known: Iterable[tuple[Terms, bool]], a: int, b: int) -> set[tuple[Terms, bool]]:
    """Returns polynomials in which two variables have changed places."""

    def moved(x: tuple[int, ...]) -> tuple[int, ...]:
        places = list(x)
        places[a], places[b] = x[b], x[a]
        return tuple(places)

    return {(frozenset((moved(x), c) for x, c in terms), strict) for terms, strict in known}


def check_mirrored(
    box: Sequence[tuple[Fraction, Fraction]], free: Sequence[str], folds: Iterable[Sequence[str]]
) -> None:
    """Checks that symmetric parameters ascend at no point of the interior of a cell.

    Raises:
        Rejected: they may.
    """
    for names in folds:
        for first, second in combinations(names, 2):
            if box[free.index(first)][0] >= box[free.index(second)][1]:
                return
    raise Rejected("a cell mirrors no others")
