"""Sets of shifts: what the stored values may be moved by, so that the rest of a run costs no more than
known.

A shift is -1, 0 or 1 for each stored value. A `Zone` is a set of shifts that is given by bounds of single
values and by pairs (x, y) with shift(x) ≤ shift(y). Zones are closed under what steps need of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

LOW, HIGH = -1, 1

# What lies below or above a shift: a variable by its number, or a number as a text of one.
Bounds = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class Zone:
    """Shifts with low ≤ shift(v) ≤ high for each (v, low, high), and shift(x) ≤ shift(y) for each pair."""

    bounds: Bounds = ()
    pairs: frozenset[tuple[int, int]] = frozenset()

    def of(self, variable: int) -> tuple[int, int]:
        """Returns the bounds of a variable."""
        for name, low, high in self.bounds:
            if name == variable:
                return low, high
        return LOW, HIGH

    @property
    def variables(self) -> frozenset[int]:
        """The variables that are not free."""
        return frozenset(v for v, _, _ in self.bounds) | {v for pair in self.pairs for v in pair}


FREE = Zone()


def meet(one: Zone, other: Zone | None) -> Zone | None:
    """Returns the shifts in both zones; None if there are none."""
    if other is None or other == FREE or one == other:
        return None if other is None else one
    bounds = {v: (low, high) for v, low, high in one.bounds}
    for v, low, high in other.bounds:
        least, most = bounds.get(v, (LOW, HIGH))
        bounds[v] = max(least, low), min(most, high)
    return zone(bounds, one.pairs | other.pairs)


def without(one: Zone, variables: frozenset[int]) -> Zone:
    """Returns the zone with nothing asked of these variables."""
    bounds = tuple(entry for entry in one.bounds if entry[0] not in variables)
    return Zone(bounds, frozenset(pair for pair in one.pairs if not variables & set(pair)))


def zone(bounds: Mapping[int, tuple[int, int]], pairs: Iterable[tuple[int, int]]) -> Zone | None:
    """Returns the zone with all that follows from its bounds and pairs, in one way only; None if empty."""
    low = {v: least for v, (least, _) in bounds.items()}
    high = {v: most for v, (_, most) in bounds.items()}
    known = {(x, y) for x, y in pairs if x != y}
    waiting = list(known)
    while waiting:
        x, y = waiting.pop()
        for first, second in [(x, z) for w, z in known if w == y] + [(w, y) for w, z in known if z == x]:
            if first != second and (first, second) not in known:
                known.add((first, second))
                waiting.append((first, second))
    floor = dict(low)
    roof = dict(high)
    for x, y in known:
        floor[y] = max(floor.get(y, LOW), low.get(x, LOW))
        roof[x] = min(roof.get(x, HIGH), high.get(y, HIGH))
    named = sorted(floor.keys() | roof.keys())
    kept = tuple((v, floor.get(v, LOW), roof.get(v, HIGH)) for v in named)
    if any(least > most for _, least, most in kept):
        return None
    told = frozenset((x, y) for x, y in known if roof.get(x, HIGH) > floor.get(y, LOW))
    return Zone(tuple(entry for entry in kept if entry[1:] != (LOW, HIGH)), told)
