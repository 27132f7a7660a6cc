"""Goals: a polynomial that is to be shown nonnegative on a set D; and its Bernstein coefficients.

D is the set of points of a box that satisfy the conditions (constraints) `g ≥ 0` or `g > 0` of the goal.

Let f be a polynomial of degree d in one variable t of [0, 1]. Its Bernstein coefficients are the numbers b_k
with f(t) = Σ b_k·C(d,k)·t^k·(1−t)^(d−k). The polynomials C(d,k)·t^k·(1−t)^(d−k) are nonnegative there and sum
to 1, so f(t) is an average of the b_k: it lies between the least and the largest of them. At t = 0 and t = 1
it is b_0 and b_d. Of several variables, the basis polynomials are the products of those of each variable. Any
box is mapped onto the unit box first. As only signs matter, the coefficients are computed as whole numbers,
up to one positive factor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from math import comb, lcm, prod
from typing import Any

from .evidence_polynomials import (
    MAX_COEFFICIENTS,
    ONE,
    Box,
    Condition,
    Poly,
    compose,
    constant,
    degree,
    whole,
)
from .strict_reading import Rejected


@dataclass(frozen=True)
class Tie:
    """A variable that is tied to another one, instead of having an interval: name = −ln(variable)/step.

    The other variable has an interval, and is above 0. Its rules are in `tied_variables`.
    """

    name: str
    variable: str
    step: Fraction


@dataclass(frozen=True)
class Goal:
    """To show: poly ≥ 0 on D, the points of the box that satisfy the conditions (None: dropped).

    The box is taken as closed, but for the ends named in `open`, as (variable, 0 or 1 for lower or upper).
    """

    names: tuple[str, ...]
    poly: Poly
    box: Box
    conditions: tuple[Condition | None, ...]
    open: frozenset[tuple[str, int]] = frozenset()
    ties: tuple[Tie, ...] = ()

    @property
    def tied(self) -> bool:
        """Whether a variable occurs that stands for the logarithm of another one."""
        axes = [self.names.index(tie.name) for tie in self.ties]
        polys = [self.poly, *(c[0] for c in self.conditions if c)]
        return any(x[axis] for axis in axes for poly in polys for x in poly)

    def axis(self, name: str) -> int:
        """Returns the index of a variable that has an interval."""
        if name not in self.box:
            raise Rejected(f"there is no variable {name!r:.40}")
        return self.names.index(name)

    def variable(self, name: str, factor: Fraction = ONE) -> Poly:
        """Returns a variable times a number as a polynomial."""
        return {tuple(int(other == name) for other in self.names): factor}

    def condition(self, index: int) -> Condition:
        """Returns a condition by its index."""
        found = self.conditions[index] if 0 <= index < len(self.conditions) else None
        if found is None:
            raise Rejected(f"there is no constraint number {index!r:.40}")
        return found

    def about(self, poly: Poly) -> Goal:
        """Returns the goal for another polynomial on the same set."""
        return replace(self, poly=poly)

    def without(self, name: str, poly: Poly) -> Goal:
        """Returns the goal for a polynomial on the set D without the conditions that mention a variable.

        Only its interval restricts the variable there, so with each point the set has all others on its line
        in the direction of the variable. As it contains D, what is shown on it is true on D.
        """
        axis = self.axis(name)
        kept = tuple(c if c and not degree(c[0], axis) else None for c in self.conditions)
        return replace(self, poly=poly, conditions=kept)

    def at_end(self, name: str, upper: int) -> Goal:
        """Returns the goal that f is not negative where a variable is at an end of its interval, as above."""
        value = constant(self.box[name][upper], len(self.names))
        return self.without(name, compose(self.poly, self.axis(name), value))

    def replaced(self, name: str, image: Poly, interval: tuple[Fraction, Fraction]) -> Goal:
        """Returns the goal with a variable replaced by a polynomial, in which it has another interval."""
        axis = self.axis(name)
        conditions = tuple(c and (compose(c[0], axis, image), c[1]) for c in self.conditions)
        kept = self.open - {(name, 0), (name, 1)}
        box = {**self.box, name: interval}
        return Goal(self.names, compose(self.poly, axis, image), box, conditions, kept, ties=self.ties)

    def cut(self, name: str, at: Fraction) -> tuple[Goal, Goal]:
        """Returns the goals for both parts of a cut of the box, the one below first.

        Raises:
            Rejected: the place is not inside.
        """
        self.axis(name)
        low, high = self.box[name]
        if not low < at < high:
            raise Rejected(f"the cut of {name} at {at!s:.40} does not lie inside the box")
        below, above = ({**self.box, name: ends} for ends in ((low, at), (at, high)))
        return (
            replace(self, box=below, open=self.open - {(name, 1)}),
            replace(self, box=above, open=self.open - {(name, 0)}),
        )


@dataclass(frozen=True)
class BernsteinCoefficients:
    """Bernstein coefficients up to one positive factor: row-major over the axes named."""

    names: tuple[str, ...]
    degrees: tuple[int, ...]
    entries: list[int]

    def lines(self, name: str) -> tuple[int, list[slice]]:
        """Returns the degree along an axis and where each line of coefficients along that axis stands."""
        axis = self.names.index(name)
        d, stride = self.degrees[axis], 1
        for other in self.degrees[axis + 1 :]:
            stride *= other + 1
        starts = (o + i for o in range(0, len(self.entries), stride * (d + 1)) for i in range(stride))
        return d, [slice(s, s + stride * d + 1, stride) for s in starts]

    def weak_sign(self) -> int | None:
        """Returns 1 or -1 for coefficients of one weak sign, 0 if all are zero, otherwise None."""
        low, high = min(self.entries), max(self.entries)
        if low == high == 0:
            return 0
        return 1 if low >= 0 else -1 if high <= 0 else None

    def cut(self, name: str, ratio: Fraction) -> tuple[BernsteinCoefficients, BernsteinCoefficients]:
        """Returns the forms on both sides of a cut, by de Casteljau's averages, scaled to whole numbers."""
        lower, upper = self.entries[:], self.entries[:]
        p, m = ratio.numerator, ratio.denominator
        d, lines = self.lines(name)
        for line in lines:
            row = self.entries[line]
            first, last = [row[0] * m**d], [row[-1] * m**d]
            for k in range(1, d + 1):
                row = [(m - p) * a + p * b for a, b in pairwise(row)]
                first.append(row[0] * m ** (d - k))
                last.append(row[-1] * m ** (d - k))
            lower[line], upper[line] = first, last[::-1]
        return replace(self, entries=lower), replace(self, entries=upper)

    def end(self, name: str, upper: bool) -> BernsteinCoefficients:
        """Returns the form on the face where a variable is at an end."""
        axis = self.names.index(name)
        _, lines = self.lines(name)
        entries = [self.entries[line][-1 if upper else 0] for line in lines]
        return BernsteinCoefficients(
            self.names[:axis] + self.names[axis + 1 :],
            self.degrees[:axis] + self.degrees[axis + 1 :],
            entries,
        )

    def slope(self, name: str) -> BernsteinCoefficients:
        """Returns the form of the derivative along an axis of the unit box."""
        axis = self.names.index(name)
        d, lines = self.lines(name)
        if not d:
            return replace(self, entries=[0] * len(self.entries))
        shorter = (*self.degrees[:axis], d - 1, *self.degrees[axis + 1 :])
        entries = [0] * (len(self.entries) // (d + 1) * d)
        target = BernsteinCoefficients(self.names, shorter, entries)
        for line, place in zip(lines, target.lines(name)[1], strict=True):
            entries[place] = [d * (b - a) for a, b in pairwise(self.entries[line])]
        return target


def bernstein(goal: Goal, poly: Poly) -> BernsteinCoefficients:
    """Returns the Bernstein coefficients of a polynomial on the box of the goal."""
    axes = [k for k in range(len(goal.names)) if degree(poly, k)]
    names, degrees = tuple(goal.names[k] for k in axes), tuple(degree(poly, k) for k in axes)
    if (size := prod(d + 1 for d in degrees)) > MAX_COEFFICIENTS:
        raise Rejected("a polynomial has too many Bernstein coefficients")
    entries = [0] * size
    for x, c in whole(poly)[0].items():
        place = 0
        for k, d in zip(axes, degrees, strict=True):
            place = place * (d + 1) + x[k]
        entries[place] = c
    form = BernsteinCoefficients(names, degrees, entries)
    for name in names:
        goal.axis(name)
        d, lines = form.lines(name)
        convert = converter(d, *goal.box[name])
        for line in lines:
            entries[line] = convert(entries[line])
    return form


def converter(d: int, low: Fraction, high: Fraction) -> Any:
    """Returns the map from power to Bernstein coefficients on [low, high], times a positive number.

    With low = a/m and high − low = w/m, m^d·f(x) = Σ fᵢ·m^(d−i)·(a + w·t)^i.
    """
    m = lcm(low.denominator, high.denominator)
    a, w = int(low * m), int((high - low) * m)
    powers = [m ** (d - i) for i in range(d + 1)]
    common = lcm(*(comb(d, j) for j in range(d + 1)))
    weights = [common // comb(d, j) for j in range(d + 1)]
    widths = [w**i for i in range(d + 1)]

    def convert(row: list[int]) -> list[int]:
        moved = shifted([c * p for c, p in zip(row, powers, strict=True)], a)
        # With t = 1/(1+s), (1+s)^d·f has the coefficients C(d,k)·b_{d−k}.
        found = shifted([c * p for c, p in zip(moved, widths, strict=True)][::-1], 1)
        return [c * weight for c, weight in zip(found, weights, strict=True)][::-1]

    return convert


def shifted(coefficients: Sequence[int], by: int) -> list[int]:
    """Returns the coefficients of f(x + by)."""
    row = list(coefficients)
    for start in range(len(row)):
        carried = row[-1]
        for k in range(len(row) - 2, start - 1, -1):
            carried = row[k] = row[k] + by * carried
    return row


@dataclass
class Context:
    """What the rules may refer to, and the solvers that a proof trusts."""

    exponent: Fraction | None = None
    lemmas: dict[str, WrittenClaim] = field(default_factory=dict)
    trusted: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    powers: dict[tuple[tuple[str, ...], str, int], Poly] = field(default_factory=dict)  # computed before


@dataclass(frozen=True)
class WrittenClaim:
    """A claim as it is written: its goal, and the exponent q where E stands for exp(q)."""

    goal: Goal
    exponent: Fraction | None
