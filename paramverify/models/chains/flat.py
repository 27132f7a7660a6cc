"""Large Markov chains in arrays: no object for a transition, and none for a state that nobody asks for.

A chain with a million states has one array for the successors of all of them. Rows, names and sets of states
look like the tuples and sets of small models, and each is made when it is asked for.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar, overload

from paramverify.algebra.polynomials import RationalFunction

Value: TypeAlias = Any  # a flint rational where the model has numbers only, else a RationalFunction
Row: TypeAlias = tuple[tuple[int, Value], ...]  # successor and probability, which is not identically zero
Numbers: TypeAlias = "array[int]"


def is_zero(value: Value) -> bool:
    """Tells whether a value is identically zero."""
    return not (value.numerator if isinstance(value, RationalFunction) else value)


Entry = TypeVar("Entry", covariant=True)


class _Lazy(Sequence[Entry]):
    """A sequence whose entries are made when they are asked for."""

    def _entry(self, place: int) -> Entry:
        raise NotImplementedError

    @overload
    def __getitem__(self, place: int) -> Entry: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Entry, ...]: ...

    def __getitem__(self, place: int | slice) -> Entry | tuple[Entry, ...]:
        if isinstance(place, slice):
            return tuple(self._entry(k) for k in range(*place.indices(len(self))))
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        return self._entry(place % len(self))

    def __iter__(self) -> Iterator[Entry]:
        return map(self._entry, range(len(self)))


@dataclass(frozen=True, eq=False)
class FlatRows(_Lazy[tuple[Row]]):
    """The rows of a Markov chain: state s goes to `targets[k]` with the probability `values[weights[k]]`, for
    `begins[s] <= k < begins[s + 1]`.

    As a sequence it has `(row,)` for each state, like `Chain.rows`; each time a new tuple. No value is
    identically zero.
    """

    begins: Numbers
    targets: Numbers
    weights: Numbers
    values: tuple[Value, ...]

    def __len__(self) -> int:
        return len(self.begins) - 1

    def _entry(self, place: int) -> tuple[Row]:
        first, last = self.begins[place], self.begins[place + 1]
        values = self.values
        weights = self.weights[first:last]
        return (tuple((t, values[w]) for t, w in zip(self.targets[first:last], weights, strict=True)),)

    def mapped(self, change: Callable[[Value], Value]) -> FlatRows:
        """Returns the rows with other values; transitions whose value becomes zero are left out."""
        values = tuple(map(change, self.values))
        gone = {k for k, value in enumerate(values) if is_zero(value)}
        if not gone:
            return FlatRows(self.begins, self.targets, self.weights, values)
        begins, targets, weights = array("q", [0]), array("i"), array("i")
        for first, last in zip(self.begins, self.begins[1:], strict=False):
            for k in range(first, last):
                if self.weights[k] not in gone:
                    targets.append(self.targets[k])
                    weights.append(self.weights[k])
            begins.append(len(targets))
        return FlatRows(begins, targets, weights, values)


def flat(rows: Iterable[Row]) -> FlatRows:
    """Returns rows, one for each state, in arrays; those with no value but zero are left out."""
    begins, targets, weights = array("q", [0]), array("i"), array("i")
    places: dict[int, int] = {}  # by the identity of a value, which lives as long as the rows
    values: list[Value] = []
    for row in rows:
        for target, value in row:
            place = places.setdefault(id(value), len(values))
            if place == len(values):
                values.append(value)
            if not is_zero(value):
                targets.append(target)
                weights.append(place)
        begins.append(len(targets))
    return FlatRows(begins, targets, weights, tuple(values))


@dataclass(frozen=True, eq=False)
class Names(_Lazy[str]):
    """The name of each state, by its variables: `s=1 & !done`; the truth-valued ones are in `truths`."""

    size: int
    columns: Mapping[str, Sequence[int]]
    truths: frozenset[str]

    def __len__(self) -> int:
        return self.size

    def _entry(self, place: int) -> str:
        parts = []
        for name, column in self.columns.items():
            value = column[place]
            parts.append(("" if value else "!") + name if name in self.truths else f"{name}={value}")
        return " & ".join(parts)


@dataclass(frozen=True, eq=False)
class States(Set[int]):
    """A set of states as one byte for each state, 1 where it belongs to the set."""

    marks: bytes

    def __contains__(self, state: object) -> bool:
        return isinstance(state, int) and 0 <= state < len(self.marks) and self.marks[state] == 1

    def __iter__(self) -> Iterator[int]:
        place = self.marks.find(1)
        while place >= 0:
            yield place
            place = self.marks.find(1, place + 1)

    def __len__(self) -> int:
        return self.marks.count(1)
