"""Sums of measures, and measures of fewer variables, in a form that keeps variables apart where it can."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from itertools import combinations

from paramverify.errors import UnsupportedError
from paramverify.models.programs import pieces as p
from paramverify.models.programs.coefficients import Coefficient
from paramverify.models.programs.measure import UNIT_KEY, Linear, Measure
from paramverify.models.programs.values import resolved


def total(measures: Sequence[Measure]) -> Measure:
    """Returns the sum of measures of the same variables.

    Those that differ in the factor of the same variables only become one with the sum in its place, as long
    as there are any; so `(f + c·g)·(h + d·k)` is found from its four products.
    """
    kept = list(measures)
    for names in sorted({_names(f) for m in kept for f in m.factors}, key=sorted):
        if len(kept) > 1:
            kept = _with_sums(kept, names)
    return reduce(Measure.plus, kept)


def _with_sums(measures: Sequence[Measure], names: frozenset[int]) -> list[Measure]:
    """Returns the measures with those as one that differ in the factor of some variables only."""
    found: dict[Hashable, list[Measure]] = {}
    for number, measure in enumerate(measures):
        others = [f for f in measure.factors if _names(f) != names]
        alone = sum(len(_names(f)) for f in others) + len(names) == len(measure.whole)
        what = frozenset(map(p.text, others)) if alone and _number(measure) else number
        found.setdefault(what, []).append(measure)
    return [_sum(group, names) for group in found.values()]


def _sum(measures: Sequence[Measure], names: frozenset[int]) -> Measure:
    first, *others = measures
    if not others:
        return first
    number = _number(first)
    assert number is not None
    (known,) = (f for f in first.factors if _names(f) == names)
    for measure in others:
        by = _number(measure)
        assert by is not None
        (more,) = (f for f in measure.factors if _names(f) == names)
        known = p.plus(known, p.scaled(more, by / number))
    return replace(first, factors=(*(f for f in first.factors if _names(f) != names), known))


def _names(factor: p.Pieces) -> frozenset[int]:
    return frozenset(p.names_in(factor))


def _number(measure: Measure) -> Coefficient | None:
    """Returns the scalar of a measure, if it is a rational function."""
    return measure.scalar[UNIT_KEY] if measure.scalar.keys() == {UNIT_KEY} else None


def fewer(rows: Sequence[Linear], measure: Measure) -> tuple[list[Linear], Measure]:
    """Returns numbers with less noise that have the same distribution, and the measure of that noise.

    Noises that all numbers have as a sum become one. Where the numbers have differences only, such as
    `n - T`, the differences to one noise take the place of the noises, and that one is summed out.
    """
    found = list(rows)
    while True:
        names = sorted({n for r in found for n in r.names})
        columns = {n: tuple(dict(r.slopes).get(n, Fraction(0)) for r in found) for n in names}
        step = _summed(found, measure, columns) or _rebased(found, measure, columns)
        if step is None:
            return found, measure
        found, measure = step


Step = tuple[list[Linear], Measure]


def _summed(
    rows: Sequence[Linear], measure: Measure, columns: Mapping[int, tuple[Fraction, ...]]
) -> Step | None:
    for first, second in combinations(columns, 2):
        if columns[first] != columns[second] or measure.whole[first] != measure.whole[second]:
            continue
        for pair in ((first, second), (second, first)):
            with suppress(UnsupportedError):
                done = measure.summed(*pair)
                if done is not None:
                    after, new, gone, kept = done
                    alias = {gone: Linear(((kept, Fraction(-1)), (new, Fraction(1))))}
                    return _numbers(resolved(r, alias) for r in rows), after.without({kept})
    return None


def _rebased(
    rows: Sequence[Linear], measure: Measure, columns: Mapping[int, tuple[Fraction, ...]]
) -> Step | None:
    for name in columns:
        own = _connected(measure, name)
        for other in columns:
            inside = own | _connected(measure, other)
            alike = len({measure.whole[n] for n in inside}) == 1
            none = all(not sum(columns[n][k] for n in inside) for k in range(len(rows)))
            if alike and none and len(inside) > 1:
                joined, outside = measure.joined(inside)
                new = p.rebased(joined, name)
                left = [Linear.of({n: k for n, k in r.slopes if n != name}, r.constant) for r in rows]
                return _numbers(left), replace(measure, factors=(*outside, new)).without({name})
    return None


def turned(rows: Sequence[Linear], measure: Measure) -> Step:
    """Returns the numbers with noise that each number adds where it was subtracted, if that is alone."""
    found = list(rows)
    for name in sorted({n for r in rows for n in r.names}):
        first = next(dict(r.slopes)[name] for r in found if name in r.names)
        inside, outside = measure.joined([name])
        if first < 0 and p.names_in(inside) == {name}:
            measure = replace(measure, factors=(*outside, p.rebased(inside, name)))
            found = [
                Linear(tuple((n, -k if n == name else k) for n, k in r.slopes), r.constant) for r in found
            ]
    return found, measure


def _connected(measure: Measure, name: int) -> frozenset[int]:
    """Returns the variables that factors connect with one."""
    found, more = frozenset[int](), frozenset({name})
    while more != found:
        found = more
        more = found.union(*(n for n in map(_names, measure.factors) if n & found))
    return found


def _numbers(values: Iterable[Linear | Fraction]) -> list[Linear]:
    found = []
    for value in values:
        assert isinstance(value, Linear)  # a number keeps its noise
        found.append(value)
    return found
