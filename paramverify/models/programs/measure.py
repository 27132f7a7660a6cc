"""The weight of a set of runs: a product of functions of the noise that is still alive.

A `Measure` gives each value of the live noise a density (or probability): `scalar · Π factor`. Noise that no
comparison has joined yet stands in factors of its own, so ten noisy values cost ten small functions.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, floor

from paramverify.errors import DefectError
from paramverify.models.programs import pieces as p
from paramverify.models.programs import terms as t
from paramverify.models.programs.bases import Bases
from paramverify.models.programs.coefficients import Coefficient
from paramverify.models.programs.pieces import NoiseVariable, Pieces
from paramverify.models.programs.terms import TermKey, Terms
from paramverify.models.programs.zones import EVERYWHERE, ZERO, Bound, Number, Reals, Zone, exact

UNIT_KEY = TermKey()


@dataclass(frozen=True)
class Linear:
    """A number that depends on noise: `constant + Σ slope · v[name]`, no slope zero."""

    slopes: tuple[tuple[int, Fraction], ...]
    constant: Fraction = Fraction(0)

    @staticmethod
    def of(slopes: Mapping[int, Fraction], constant: Fraction) -> Linear | Fraction:
        """Returns the number, a plain one where no noise is left."""
        kept = tuple(sorted((name, k) for name, k in slopes.items() if k))
        return Linear(kept, constant) if kept else constant

    def plus(self, other: Linear | Fraction, times: Fraction = Fraction(1)) -> Linear | Fraction:
        """Returns self + times · other."""
        slopes = dict(self.slopes)
        if isinstance(other, Linear):
            for name, k in other.slopes:
                slopes[name] = slopes.get(name, Fraction(0)) + times * k
            return Linear.of(slopes, self.constant + times * other.constant)
        return Linear.of(slopes, self.constant + times * other)

    def scaled(self, by: Fraction) -> Linear | Fraction:
        """Returns by · self."""
        return Linear.of({name: by * k for name, k in self.slopes}, by * self.constant)

    @property
    def names(self) -> tuple[int, ...]:
        """The noise that it depends on."""
        return tuple(name for name, _ in self.slopes)


@dataclass(frozen=True, eq=False)
class Measure:
    """The weight of a set of runs, by the noise that is alive; `whole` tells which is a whole number."""

    bases: Bases
    scalar: Terms
    factors: tuple[Pieces, ...] = ()
    whole: Mapping[int, bool] = field(default_factory=dict)
    fresh: int = 1

    def times(self, by: Coefficient) -> Measure:
        """Returns the measure with all weights multiplied."""
        return replace(self, scalar=t.scaled(self.scalar, by))

    def weighted(self, by: Terms) -> Measure:
        """Returns the measure with all weights multiplied."""
        return replace(self, scalar=t.product(self.scalar, by))

    @property
    def unit(self) -> Terms:
        """The weight one."""
        return {UNIT_KEY: self.bases.calculus.one}

    @property
    def text(self) -> Hashable:
        """What measures with equal factors have in common; the scalar is left out."""
        return frozenset(p.text(factor) for factor in self.factors)

    def with_noise(self, pieces: Pieces, name: int, whole: bool) -> Measure:
        """Returns the measure with one more, independent variable."""
        return replace(
            self,
            factors=(*self.factors, pieces),
            whole={**self.whole, name: whole},
            fresh=max(self.fresh, name + 1),
        )

    def joined(self, names: Iterable[int]) -> tuple[Pieces, tuple[Pieces, ...]]:
        """Returns the product of the factors that have one of these variables, and the other factors."""
        wanted = set(names)
        inside: Pieces | None = None
        outside = []
        for factor in self.factors:
            if wanted.isdisjoint(p.names_in(factor)):
                outside.append(factor)
            else:
                inside = factor if inside is None else p.product(inside, factor, self.reals)
        one: Pieces = {EVERYWHERE: self.unit}
        return one if inside is None else inside, tuple(outside)

    def restricted(self, bounds: Sequence[tuple[Bound, Number]]) -> Measure | None:
        """Returns the part of the runs in which all bounds hold; None where there are certainly none.

        A comparison of noise from several factors becomes a factor of its own: the one that is gone first is
        then summed out alone.
        """
        names = {name for pair, _ in bounds for name in pair} - {ZERO}
        for k, factor in enumerate(self.factors):
            if names <= set(p.names_in(factor)):
                kept = p.restricted(factor, bounds, self.reals)
                factors = (*self.factors[:k], kept, *self.factors[k + 1 :])
                return replace(self, factors=factors) if kept else None
        part = p.restricted({EVERYWHERE: self.unit}, bounds, self.reals)
        return replace(self, factors=(*self.factors, part)) if part else None

    def without(self, dead: Iterable[int]) -> Measure:
        """Returns the measure of the other variables: these are summed or integrated out."""
        measure = self
        pending = set(dead)
        while pending:
            if measure.is_empty:  # comparisons that exclude each other: nothing is left to sum
                whole = {n: w for n, w in measure.whole.items() if n not in pending}
                return replace(measure, scalar={}, factors=(), whole=whole)
            name = min(pending, key=lambda n: measure._work(n))
            pending.remove(name)
            measure = measure._eliminated(name)
        return measure._gathered()

    def _gathered(self) -> Measure:
        """Returns the measure with one factor for each set of variables."""
        found: dict[frozenset[int], Pieces] = {}
        for factor in self.factors:
            names = frozenset(p.names_in(factor))
            found[names] = p.product(found[names], factor, self.reals) if names in found else factor
        for names, factor in found.items():
            if len(names) == 1 and len(factor) > 1:
                (name,) = names
                found[names] = p.flat(self.bases.calculus, factor, self._noise(name))
        return replace(self, factors=tuple(found.values()))

    @property
    def reals(self) -> Reals:
        """The variables that are no whole numbers."""
        return frozenset(name for name, whole in self.whole.items() if not whole)

    def _noise(self, name: int) -> NoiseVariable:
        return NoiseVariable(name, self.whole[name], self.reals)

    @property
    def is_empty(self) -> bool:
        """Whether no run has this weight."""
        return not self.scalar or not all(self.factors)

    def _work(self, name: int) -> int:
        inside = [f for f in self.factors if name in p.names_in(f)]
        result = 1
        for factor in inside:
            result *= (len(factor) + 1) * self.bases.work(factor, name)
        for _ in {n for f in inside for n in p.names_in(f)}:
            result *= 10
        return result

    def _eliminated(self, name: int) -> Measure:
        inside, outside = self.joined([name])
        rest = p.eliminated(self.bases.calculus, inside, self._noise(name), self.bases.small)
        whole = {n: w for n, w in self.whole.items() if n != name}
        if p.names_in(rest):
            return replace(self, factors=(*outside, rest), whole=whole)
        return replace(self, factors=outside, scalar=t.product(self.scalar, p.value(rest)), whole=whole)

    def summed(self, first: int, second: int) -> tuple[Measure, int, int, int] | None:
        """Returns a measure with v[first] + v[second] as one variable, its number, the replaced, the other.

        The replaced variable has to stand alone in its factor; None where neither does.
        """
        if not self.bases.sums:
            return None
        for gone, kept in ((second, first), (first, second)):
            inside, others = self.joined([gone])
            if p.names_in(inside) == {gone}:  # no comparison has met it: it is in no other factor
                total = self.fresh
                new = p.convolved(self.bases.calculus, inside, gone, (total, kept))
                whole = {n: w for n, w in self.whole.items() if n != gone} | {total: self.whole[gone]}
                return replace(self, factors=(*others, new), whole=whole, fresh=total + 1), total, gone, kept
        return None

    def moved(self, name: int, by: Fraction) -> Measure:
        """Returns the measure of v[name] + by in the place of v[name]."""
        calculus = self.bases.calculus
        return replace(
            self,
            factors=tuple(
                p.moved(calculus, f, name, exact(by)) if name in p.names_in(f) else f for f in self.factors
            ),
        )

    def renamed(self, names: Mapping[int, int]) -> Measure:
        """Returns the measure with other numbers for all its variables, from 1.

        Raises:
            DefectError: a factor has a variable that is not alive, whose number would be that of another one.
        """
        if any(not names.keys() >= set(p.names_in(f)) for f in self.factors):
            raise DefectError("a comparison of noise that is gone was left behind")
        return replace(
            self,
            factors=tuple(p.renamed(f, names) for f in self.factors),
            whole={names[n]: w for n, w in self.whole.items()},
            fresh=max(names.values(), default=0) + 1,
        )

    def plus(self, other: Measure) -> Measure:
        """Returns the sum of two measures of the same variables."""
        if self.is_empty or other.is_empty:
            return other if self.is_empty else self
        mine = {frozenset(p.names_in(f)): f for f in self.factors}
        theirs = {frozenset(p.names_in(f)): f for f in other.factors}
        if mine.keys() == theirs.keys():
            apart = [names for names in mine if mine[names] != theirs[names]]
            if not apart:
                return replace(self, scalar=t.plus(self.scalar, other.scalar))
            if len(apart) == 1:
                (names,) = apart
                total = p.plus(_by(mine[names], self.scalar), _by(theirs[names], other.scalar))
                kept = tuple(f for n, f in mine.items() if n != names)
                return replace(self, factors=(*kept, total), scalar={UNIT_KEY: self.bases.calculus.one})
        left, right = (m.joined(m.whole)[0] for m in (self, other))
        total = p.plus(_by(left, self.scalar), _by(right, other.scalar))
        return replace(self, factors=(total,), scalar={UNIT_KEY: self.bases.calculus.one})

    def bounds(self, value: Linear, strict: bool) -> list[tuple[Bound, Number]] | None:
        """Returns the bounds that say `value ≤ 0` (`< 0`), or None where they are no bounds of a zone."""
        slopes = dict(value.slopes)
        if len(slopes) == 1:
            ((name, k),) = slopes.items()
            limit = -value.constant / k
            pair = (name, ZERO) if k > 0 else (ZERO, name)
            return [(pair, self._limit(name, limit if k > 0 else -limit, strict))]
        if len(slopes) == 2:
            (first, k), (second, m) = slopes.items()
            if k == -m and self.whole[first] == self.whole[second]:
                pair = (first, second) if k > 0 else (second, first)
                return [(pair, self._limit(first, -value.constant / abs(k), strict))]
        return None

    def _limit(self, name: int, limit: Fraction, strict: bool) -> Number:
        if not self.whole[name]:
            return exact(limit)  # a set of measure zero is the difference
        return ceil(limit) - 1 if strict else floor(limit)


def _by(pieces: Pieces, scalar: Terms) -> dict[Zone, Terms]:
    return {zone: t.product(terms, scalar) for zone, terms in pieces.items()}
