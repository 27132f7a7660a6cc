"""Zones: sets of points that bounds on variables and on differences of two variables describe.

A zone is the set of all v with `v[i] − v[j] ≤ c` for each of its bounds `(i, j): c`, where v[0] = 0. It is
kept closed: every bound that follows from two others is there, so equal zones have equal bounds ([Dill89]).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

ZERO = 0  # the variable that is always 0
Number = int | Fraction
Bound = tuple[int, int]
Zone = tuple[tuple[Bound, Number], ...]
Reals = frozenset[int]  # the variables that are no whole numbers

EVERYWHERE: Zone = ()
NONE: Reals = frozenset()
REMEMBERED = 1 << 16  # results of a function that are kept


def exact(value: Number) -> Number:
    """Returns the same number, as an int if it is a whole one: these are compared faster."""
    return value.numerator if value.denominator == 1 else value


def zone_of(bounds: Mapping[Bound, Number], reals: Reals = NONE) -> Zone | None:
    """Returns the zone with these bounds, closed; None where no point satisfies all of them.

    With whole bounds and whole variables "no point" means no whole point too. Of `reals`, a set in which the
    difference of two has one value only is left out too: it has no weight.
    """
    found = dict(bounds)
    names = {name for pair in found for name in pair}
    for middle in names:
        into = [(i, c) for (i, j), c in found.items() if j == middle and i != middle]
        out = [(j, c) for (i, j), c in found.items() if i == middle and j != middle]
        for i, first in into:
            for j, second in out:
                total = first + second
                if i == j:
                    if total < 0 or (total == 0 and (i or middle) in reals):
                        return None
                elif (i, j) not in found or total < found[i, j]:
                    found[i, j] = total
    return tuple(sorted(found.items()))


@lru_cache(REMEMBERED)
def within(zone: Zone, bounds: tuple[tuple[Bound, Number], ...], reals: Reals = NONE) -> Zone | None:
    """Returns the part of a zone that satisfies more bounds; None where it is empty, see `zone_of`."""
    found = dict(zone)
    changed = False
    for pair, c in bounds:
        if pair[0] == pair[1]:
            if c < 0:
                return None
        elif pair not in found or c < found[pair]:
            found[pair] = c
            changed = True
    return zone_of(found, reals) if changed else zone


def without(zone: Zone, name: int) -> Zone:
    """Returns the bounds of a closed zone that say nothing of a variable: the shadow of the zone."""
    return tuple(entry for entry in zone if name not in entry[0])


def bounds_below(zone: Zone, name: int) -> list[tuple[int, Number]]:
    """Returns all (j, c) with `v[name] ≥ v[j] + c`."""
    return [(i, -c) for (i, j), c in zone if j == name]


def bounds_above(zone: Zone, name: int) -> list[tuple[int, Number]]:
    """Returns all (j, c) with `v[name] ≤ v[j] + c`."""
    return [(j, c) for (i, j), c in zone if i == name]


def renamed(zone: Zone, names: Mapping[int, int]) -> Zone:
    """Returns the zone with other numbers for its variables."""
    return tuple(sorted(((names.get(i, i), names.get(j, j)), c) for (i, j), c in zone))


def shifted(zone: Zone, name: int, by: Number) -> Zone:
    """Returns the zone of `v[name] + by` in the place of `v[name]`."""
    return tuple((pair, exact(c + by * ((pair[0] == name) - (pair[1] == name)))) for pair, c in zone)


def ends(zone: Zone) -> tuple[Number | None, Number | None]:
    """Returns the least and the largest value in a zone of at most one variable; None where there is none."""
    found = {pair[0] == ZERO: c for pair, c in zone}
    low = found.get(True)
    return None if low is None else -low, found.get(False)
