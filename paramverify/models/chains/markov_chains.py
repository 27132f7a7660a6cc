"""Markov chains and Markov decision processes with exact functions of the parameters, large ones in
arrays.

Large Markov chains in arrays: no object for a transition, and none for a state that nobody asks for.

A chain with a million states has one array for the successors of all of them. Rows, names and sets of states
look like the tuples and sets of small models, and each is made when it is asked for.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias, TypeVar, overload

from flint import fmpq

from paramverify.algebra.domains import Domain, number_at
from paramverify.algebra.polynomials import (
    Polynomial,
    RationalFunction,
    Ring,
    constant_value,
    is_constant,
    rational,
)
from paramverify.errors import InputError
from paramverify.models.context import Obligation

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


ANY = "*"  # the action of a state that moves alike under every action


@dataclass(frozen=True, eq=False)
class Chain:
    """A Markov chain, or a Markov decision process.

    `rows[s][a]` is the distribution after action number a in state s. Where `ANY` is the only action, this is
    a Markov chain. Every action is enabled in every state: query schedulers choose without seeing the state
    ([L]). Where that is not so, `unscheduled` says why, and `rows[s]` are the choices of state s in any
    order: this is enough for ordinary schedulers, and no D is about such a model. Large chains have their
    rows in arrays (`flat`), and names that are made when they are asked for.

    `variables` give a whole number for each state, or None; `truths` are those that are truth values, as 1
    and 0. `conditions` tell the states of conditions that need more than variables, by their texts.
    `obligations` are claims about the tables that have to be proved before a verdict counts.
    """

    states: Sequence[str]
    actions: tuple[str, ...]
    rows: Sequence[tuple[Row, ...]]
    initial: tuple[int, ...]
    labels: Mapping[str, Set[int]]
    variables: Mapping[str, Sequence[int | None]]
    domain: Domain
    obligations: tuple[Obligation, ...] = ()
    unscheduled: str = ""
    truths: frozenset[str] = frozenset()
    conditions: Mapping[str, Set[int]] = field(default_factory=dict)

    @property
    def is_decision_process(self) -> bool:
        """Whether there is anything to choose."""
        return bool(self.unscheduled) or self.actions != (ANY,)

    @cached_property
    def numeric(self) -> bool:
        """Whether every probability is a rational number, kept as a flint rational."""
        if isinstance(self.rows, FlatRows):
            return not any(isinstance(value, RationalFunction) for value in self.rows.values)
        return all(not isinstance(v, RationalFunction) for rows in self.rows for r in rows for _, v in r)

    @property
    def one(self) -> Value:
        """The probability one, in the arithmetic of this model."""
        return fmpq(1) if self.numeric else RationalFunction.of(self.domain.ring.number(1))

    @property
    def zero(self) -> Value:
        """The probability zero, in the arithmetic of this model."""
        return fmpq(0) if self.numeric else RationalFunction.of(self.domain.ring.number(0))

    def function(self, value: Value) -> RationalFunction:
        """Returns a probability of this model as a rational function of the domain's ring."""
        if isinstance(value, RationalFunction):
            return value
        return RationalFunction.of(self.domain.ring.context.constant(value))

    def choices(self, state: int) -> tuple[Row, ...]:
        """Returns the different distributions among which a scheduler chooses in a state."""
        return tuple({id(row): row for row in self.rows[state]}.values())

    def under(self, action: int) -> Chain:
        """Returns the Markov chain of the query scheduler that always chooses one action."""
        rows = tuple((row[action],) for row in self.rows)
        return replace(self, actions=(ANY,), rows=rows)

    def at(self, point: Mapping[str, Fraction]) -> Chain:
        """Returns the model at one parameter point: its ring has no parameters, and `E` if it had that.

        Rows are evaluated from the model, so a probability that is zero at the point is left out.
        """
        domain = self.domain
        ring = Ring((), domain.constant)
        if isinstance(self.rows, FlatRows):
            flat = self.rows.mapped(lambda value: at_point(value, point, ring))
            numbers = uniform(((tuple(enumerate(flat.values)),),), ring)[0][0]
            flat = replace(flat, values=tuple(value for _, value in numbers))
            return replace(self, rows=flat, domain=Domain(ring, {}), obligations=())
        found: dict[int, tuple[Row, ...]] = {}
        memory: dict[int, Row] = {}

        def row_at(row: Row) -> Row:
            if id(row) not in memory:
                values = [(t, at_point(v, point, ring)) for t, v in row]
                memory[id(row)] = tuple((t, v) for t, v in values if not is_zero(v))
            return memory[id(row)]

        for state, rows in enumerate(self.rows):
            found[state] = tuple(row_at(row) for row in rows)
        rows_ = uniform(tuple(found.values()), ring)
        return replace(self, rows=rows_, domain=Domain(ring, {}), obligations=())


def at_point(value: Value, point: Mapping[str, Fraction], ring: Ring) -> Value:
    """Returns a value at a parameter point, as an element of a ring in which at most `E` is left.

    Raises:
        InputError: the denominator is zero at the point.
    """
    if not isinstance(value, RationalFunction):
        return value
    top, bottom = (polynomial_at(p, point, ring) for p in (value.numerator, value.denominator))
    if not bottom:
        raise InputError("a probability is undefined at this point because its denominator is zero")
    return RationalFunction.of(top, bottom)


def polynomial_at(polynomial: Polynomial, point: Mapping[str, Fraction], ring: Ring) -> Polynomial:
    """Returns a polynomial at a parameter point, as one in `E` alone (or a number)."""
    value = number_at(polynomial, point)
    return ring.context.from_dict(
        {(k,) if ring.constant else (): c for k, c in enumerate(value.coeffs()) if c}
    )


def uniform(rows: tuple[tuple[Row, ...], ...], ring: Ring) -> tuple[tuple[Row, ...], ...]:
    """Returns the rows with numbers as flint rationals, if all of them are numbers; else unchanged.

    Equal row objects stay one object.
    """
    entries = (v for state in rows for row in state for _, v in row)
    if not all(_is_number(v) for v in entries):
        memory: dict[int, Row] = {}

        def lifted(row: Row) -> Row:
            if id(row) not in memory:
                memory[id(row)] = tuple(
                    (
                        t,
                        v
                        if isinstance(v, RationalFunction)
                        else RationalFunction.of(ring.context.constant(v)),
                    )
                    for t, v in row
                )
            return memory[id(row)]

        return tuple(tuple(lifted(row) for row in state) for state in rows)
    known: dict[int, Row] = {}

    def plain(row: Row) -> Row:
        if id(row) not in known:
            known[id(row)] = tuple((t, _number(v)) for t, v in row)
        return known[id(row)]

    return tuple(tuple(plain(row) for row in state) for state in rows)


def _is_number(value: Value) -> bool:
    if not isinstance(value, RationalFunction):
        return True
    return is_constant(value.numerator) and is_constant(value.denominator)


def _number(value: Value) -> Value:
    if not isinstance(value, RationalFunction):
        return value
    return rational(constant_value(value.numerator) / constant_value(value.denominator))
