"""The ways through a program where chance or noise decides, for the second reader.

A run that comes to a place with several ways takes one and notes the others; each of these is later a run of
its own, from the start. Standard library only, and no code of the first reader.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from .second_regions import Kinds, Region, VariableLaw, ends_of, limited, possible
from .second_values import Entry, NoisyNumber, calculated, plain
from .strict import UnreadCase

MAX_VALUES = 1_000  # of a number with noise that is told apart


@dataclass(frozen=True)
class ValueWay:
    """One way on: the value there, its probability, and the region of the noise."""

    value: Any
    weight: Fraction
    region: Region


@dataclass(kw_only=True)
class Ways:
    """Where a run is: on which `trail`, at which `place` of it, with which noise in which region."""

    trail: list[ValueWay] = field(default_factory=list)
    place: int = 0
    pending: list[list[ValueWay]] = field(default_factory=list)
    weight: Fraction = Fraction(1)
    region: Region = field(default_factory=dict)
    kinds: list[VariableLaw] = field(default_factory=list)
    noisy: bool = False  # whether outputs with noise have names

    def go(self, ways: Callable[[], Sequence[ValueWay]]) -> Any:
        """Takes the next way, and notes the others the first time."""
        if self.place == len(self.trail):
            found = ways()
            if not found:
                raise UnreadCase("a comparison that no value decides")
            self.pending += [[*self.trail, way] for way in found[1:]]
            self.trail.append(found[0])
        way = self.trail[self.place]
        self.place += 1
        self.weight *= way.weight
        self.region = way.region
        return way.value

    def listed(self, value: Entry) -> list[Entry]:
        if not isinstance(value, list):
            raise UnreadCase("a list is needed")
        return value

    def compared(self, word: str, left: Entry, right: Entry) -> bool:
        """Compares two values; where noise decides, each result that is possible is a way of its own."""
        if isinstance(left, list) and isinstance(right, list) and word in ("==", "!="):
            same = len(left) == len(right) and all(map(self.compared, ["=="] * len(left), left, right))
            return same == (word == "==")
        if isinstance(left, (str, list)) or isinstance(right, (str, list)):
            if word not in ("==", "!="):
                raise UnreadCase("an order of labels or lists")
            return (type(left) is type(right) and left == right) == (word == "==")
        found = calculated("Sub", left, right)
        if isinstance(found, NoisyNumber):
            return bool(self.go(lambda: self.ways(word, found)))
        sign = plain(found)
        return {
            "<": sign < 0,
            "<=": sign <= 0,
            ">": sign > 0,
            ">=": sign >= 0,
            "==": sign == 0,
            "!=": sign != 0,
        }[word]

    def ways(self, word: str, value: NoisyNumber) -> list[ValueWay]:
        """Returns the ways on where a value with noise is compared with zero."""
        yes, no = {
            "<": (["<"], [">="]),
            "<=": (["<="], [">"]),
            ">": ([">"], ["<="]),
            ">=": ([">="], ["<"]),
            "==": (["=="], ["<", ">"]),
            "!=": (["<", ">"], ["=="]),
        }[word]
        found = []
        for result, parts in ((True, yes), (False, no)):
            for part in parts:
                region = self.inside(value, part)
                if region is not None:
                    found.append(ValueWay(result, Fraction(1), region))
        return found

    def inside(self, value: NoisyNumber, word: str) -> Region | None:
        """Returns the part of the region where a value is below, above or equal to zero."""
        whole_only = all(self.kinds[v].whole for v in value.slopes)
        if word == "==" and not whole_only:
            return None
        region: Region | None = self.region
        sides = {"<": [1], "<=": [1], ">": [-1], ">=": [-1], "==": [1, -1]}[word]
        for side in sides:
            slopes = {v: s * side for v, s in value.slopes.items()}
            if region is not None:
                region = limited(region, self.kinds, slopes, -value.constant * side, word in "<>")
        return region if region is not None and possible(region, self.kinds) else None

    def told_apart(self, value: Entry, most: int = MAX_VALUES) -> Entry:
        """Returns a value without noise: each whole number that a bounded value may be is a way."""
        if not isinstance(value, NoisyNumber) or not _is_whole(value, self.kinds):
            return value
        return self.go(lambda: self.values_of(value, most))

    def values_of(self, value: NoisyNumber, most: int) -> list[ValueWay]:
        low, high = ends_of(self.region, self.kinds, value.slopes)
        if low is None or high is None or high - low > most:
            return [ValueWay(value, Fraction(1), self.region)]
        found = []
        for k in range(int(low), int(high) + 1):
            region = self.inside(NoisyNumber(value.slopes, Fraction(-k)), "==")
            if region is not None:
                found.append(ValueWay(value.constant + k, Fraction(1), region))
        return found

    def released(self, value: Entry) -> Entry:
        """Returns what an output says."""
        if isinstance(value, list):
            return [self.released(entry) for entry in value]
        found = self.told_apart(value)
        if isinstance(found, NoisyNumber) and self.noisy:
            return found
        if not isinstance(found, (bool, str, Fraction)):
            raise UnreadCase("an output with noise or with a parameter")
        return found


def _is_whole(value: NoisyNumber, kinds: Kinds) -> bool:
    return value.constant.denominator == 1 and all(
        kinds[v].whole and s.denominator == 1 for v, s in value.slopes.items()
    )
