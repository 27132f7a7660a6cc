"""Mechanisms at one point for the second reader: what may happen next in a state, and how likely it is.

Standard library only, and no code of the first reader. Everything is a number: see `second_numbers`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from .second_numbers import Value
from .second_programs import InputPlaces
from .strict import UnreadCase

Input = tuple[Value, ...]
State = Any
Steps = list[tuple[str, State, Fraction]]  # what is observed, what comes next, how likely that is
Words = dict[tuple[str, ...], Fraction]

MAX_WAYS = 60_000
MAX_WORK = 1_000_000  # steps at one point


class Process:
    """A mechanism at one point: `start` gives weighted states of an input, `steps` what happens next.

    `answers` are the values of each answer of an input. `default_by` is how far neighbours are apart.
    """

    answers: tuple[Sequence[Value], ...]
    default_by: Any = 1
    work = 0  # steps so far

    def prepare(self, inputs: Sequence[Input]) -> None:
        """Takes all inputs that are looked at, before the first one is."""

    def start(self, given: Input) -> list[tuple[State, Fraction]]:
        """Returns where an input starts."""
        return [(given, Fraction(1))]

    def steps(self, state: State) -> Steps:
        """Returns what may happen in a state."""
        raise UnreadCase

    def words(self, given: Input, length: int, wanted: Sequence[str] | None = None) -> Words:
        """Returns how likely each sequence of observations is, or the one that is `wanted`."""
        ways: dict[tuple[tuple[str, ...], State], Fraction] = {}
        for state, chance in self.start(given):
            add(ways, ((), state), chance)
        for k in range(length):
            grown: dict[tuple[tuple[str, ...], State], Fraction] = {}
            for (word, state), chance in ways.items():
                steps = self.steps(state)
                self.work += len(steps)
                for seen, following, share in steps:
                    if share and (wanted is None or seen == wanted[k]):
                        add(grown, ((*word, seen), following), chance * share)
            if len(grown) > MAX_WAYS or self.work > MAX_WORK:
                raise UnreadCase("there are too many sequences")
            ways = grown
        found: Words = {}
        for (word, _), chance in ways.items():
            add(found, word, chance)
        return found


class Repeated(Process):
    """A mechanism that answers several times: what is seen is how often each output is there."""

    def __init__(self, inner: Process, times: int) -> None:
        self.inner, self.times = inner, times
        self.answers, self.default_by = inner.answers, inner.default_by

    def steps(self, state: State) -> Steps:
        single = self.inner.words(state, 1)
        ways: dict[tuple[str, ...], Fraction] = {(): Fraction(1)}
        for _ in range(self.times):
            grown: dict[tuple[str, ...], Fraction] = {}
            for seen, chance in ways.items():
                for (name,), share in single.items():
                    add(grown, tuple(sorted((*seen, name))), chance * share)
            self.work += len(ways) * len(single)
            if len(grown) > MAX_WAYS or self.work > MAX_WORK:
                raise UnreadCase("there are too many counts of outputs")
            ways = grown
        return [(_counts(seen), state, chance) for seen, chance in ways.items()]


class Parts(Process):
    """Mechanisms that answer about the same data, each by itself: what is seen is a tuple."""

    def __init__(self, parts: Sequence[tuple[Process, int]]) -> None:
        self.inner = [part for part, _ in parts]
        self.sizes = [queries for _, queries in parts]
        each = zip(self.inner, self.sizes, strict=True)
        anything: Any = (None,)  # whatever is given
        split = [tuple(part.answers) or anything * size for part, size in each]
        self.answers = tuple(values for part in split for values in part) if any(self.sizes) else split[0]
        near = {part.default_by for part in self.inner}
        self.default_by = near.pop() if len(near) == 1 else None

    def steps(self, state: State) -> Steps:
        ways: list[tuple[tuple[str, ...], Fraction]] = [((), Fraction(1))]
        rest = state
        for part, size in zip(self.inner, self.sizes, strict=True):
            given, rest = (rest[:size], rest[size:]) if any(self.sizes) else (state, state)
            row = part.words(given, 1)
            ways = [((*seen, *word), p * q) for seen, p in ways for word, q in row.items()]
            self.work += len(ways)
            if len(ways) > MAX_WAYS or self.work > MAX_WORK:
                raise UnreadCase("there are too many tuples of outputs")
        found = [(_tuple(seen), state, p) for seen, p in ways]
        if len({name for name, _, _ in found}) < len(found):
            raise ValueError("two tuples of outputs with one name")
        return found


def _tuple(seen: Sequence[str]) -> str:
    """Returns the name of a tuple; an output with a comma stands in brackets."""
    return "(" + ", ".join(f"({name})" if ", " in name else name for name in seen) + ")"


def queries_of(table: Mapping[str, Any]) -> list[Any]:
    """Returns the expressions over the prior that a mechanism is applied to; none with `[neighbours]`."""
    if table["kind"] == "parts":
        return [query for part in table["parts"] for query in queries_of(part)]
    if table["kind"] == "program":
        return list(InputPlaces(table["inputs"]).queries or ())
    found = table.get("queries", table.get("query", table.get("start")))
    if found is None or "inputs" in table or (isinstance(found, int) and "queries" in table):
        return []
    listed = found if isinstance(found, list) else [found]
    return [table["threshold"], *listed] if table["kind"] == "above_threshold" else listed


def _counts(seen: tuple[str, ...]) -> str:
    """Returns the name of counts: each output with how often it is there, in the order of their names."""
    return " ".join(f"{name}:{seen.count(name)}" for name in sorted(set(seen)))


def add(target: dict[Any, Fraction], key: Any, chance: Fraction) -> None:
    """Adds a chance to that of a key."""
    target[key] = target.get(key, Fraction(0)) + chance
