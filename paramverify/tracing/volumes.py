"""Exact volumes of polytopes: the probabilities with which uniform draws meet linear inequalities.

A polytope is a list of rows (a, b), which mean a*x <= b; among them are the two ends of each axis. The
coefficients are rational numbers. The bounds are rational numbers, or formulas with their signs.

By Lasserre, n times the volume is the sum, over the facets, of the bound times the volume of the facet's
projection along an axis in which its row has the coefficient 1 or -1. This is true of rows that touch the
polytope in less than a facet, too, if no two rows mean the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from paramverify.tracing.formulas import Formula, Signs

Row = tuple[tuple[Fraction, ...], Any]  # the bound is a Fraction, or a Formula in all rows
ZERO = Fraction(0)


def volume(rows: Sequence[tuple[Sequence[Fraction], Formula]], signs: Signs) -> Formula:
    """Returns the volume of a polytope.

    Raises:
        Refused: it depends on the parameters which formula it is.
    """
    plain = [(tuple(a), b.number) for a, b in rows]
    if all(b is not None for _, b in plain):
        numbers = _Field(lambda b: (b > 0) - (b < 0), lambda q: q, lambda b: b)
        return Formula.of(numbers.volume(plain))
    formulas = _Field(signs, Formula.of, lambda b: b.number)
    found: Formula = formulas.volume([(tuple(a), b) for a, b in rows])
    return found


@dataclass(frozen=True)
class _Field:
    """What bounds are: their signs, how a rational number is one, and which number one is, if any."""

    sign: Callable[[Any], int]
    of: Callable[[Fraction], Any]
    number: Callable[[Any], Fraction | None]

    def volume(self, rows: Iterable[Row]) -> Any:
        kept = self._distinct(rows)
        if kept is None:
            return self.of(ZERO)
        count = len(next(iter(kept)))
        if count == 1:
            return kept[(Fraction(1),)] + kept[(Fraction(-1),)]
        kept = self._touching(kept, count)
        if kept is None:
            return self.of(ZERO)
        total = self.of(ZERO)
        for row in kept.items():
            if self.number(row[1]) != 0:
                total = total + row[1] * self.volume(self._facet(row, kept.items()))
        return total * self.of(Fraction(1, count))

    def _distinct(self, rows: Iterable[Row]) -> dict[tuple[Fraction, ...], Any] | None:
        """Returns bounds by coefficients, of which the first is 1 or -1; None if the volume is 0."""
        found: dict[tuple[Fraction, ...], Any] = {}
        for a, b in rows:
            first = next((abs(q) for q in a if q), ZERO)
            if not first:
                if self.sign(b) < 0:
                    return None
                continue
            if first != 1:
                a, b = tuple(q / first for q in a), b * self.of(1 / first)
            if a not in found or self.sign(b - found[a]) < 0:
                found[a] = b
        for a, b in found.items():
            other = found.get(tuple(-q for q in a))
            if other is not None and self.sign(b + other) <= 0:
                return None
        return found

    def _touching(
        self, rows: dict[tuple[Fraction, ...], Any], count: int
    ) -> dict[tuple[Fraction, ...], Any] | None:
        """Returns the rows without those that the ends of the axes imply; None if one excludes all."""
        low: list[Fraction | None] = [None] * count
        high: list[Fraction | None] = [None] * count
        for a, b in rows.items():
            if sum(map(bool, a)) == 1:
                k, bound = next(k for k, q in enumerate(a) if q), self.number(b)
                if a[k] > 0:
                    high[k] = bound
                else:
                    low[k] = None if bound is None else -bound
        found = {}
        for a, b in rows.items():
            used, bound = [k for k, q in enumerate(a) if q], self.number(b)
            if bound is None or len(used) == 1 or any(low[k] is None or high[k] is None for k in used):
                found[a] = b
                continue
            ends = [(a[k] * low[k], a[k] * high[k]) for k in used]  # type: ignore[operator]
            if sum(map(min, ends)) >= bound:
                return None
            if sum(map(max, ends)) > bound:
                found[a] = b
        return found

    def _facet(self, row: Row, rows: Iterable[Row]) -> list[Row]:
        """Returns the projection of the facet of a row along the first axis in which the row is not 0."""
        a, b = row
        k = next(k for k, q in enumerate(a) if q)
        found = []
        for other, bound in rows:
            if other is a:
                continue
            if not other[k]:
                found.append((other[:k] + other[k + 1 :], bound))
                continue
            times = other[k] / a[k]
            mixed = tuple(q - times * p for q, p in zip(other, a, strict=True))
            found.append((mixed[:k] + mixed[k + 1 :], bound - b * self.of(times)))
        return found
