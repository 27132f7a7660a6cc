"""The system motivated by PINQ ([T]): slots of data points, explored from a step function.

A data point goes to the current slot, which drops it if it is full. A query is answered with noise from the
points of all slots; then the next slot becomes the current one, and is emptied. So a point is used in at most
as many answers as there are slots.

The noise adds −ln p for each unit by which the true answer changes: with data points of size at most v, one
point more or less costs −ln p for a count and −v·ln p for a sum. Each query has noise of its own, and a range
of its own: answers are clamped to it, and so is what is released.

The program `sample_N` of [T] A.2, line by line, as an automaton of coin flips, and its distribution.

N(m, t, p) is noise n for an answer t in −m..m: it has probability p^|n|/(1+p) if t+n is −m or m, and else
(1−p)/(1+p)·p^|n| where −m < t+n < m. The program depends only on the distances of the answer from the two
ends, `down` = m + t and `up` = m − t:

    02 if flip(p/(1+p)):
    03     if flip(p^(down−1)): return −down
    06     q := (p−1)/(p^(down−1)−1)                     as printed: (p−1)/(p^down−p)
    07     for n := −1; n > −down+1; n−−:
    08         if flip(q): return n
    10         q := p·q/(1−q)
    11     return −down+1
       else:
    13     if flip(p^up): return up
    16     q := (p−1)·p^t/(p^m−p^t), which is (p−1)/(p^up−1)
    17     for n := 0; n < up−1; n++:
    18         if flip(q): return n
    20         q := p·q/(1−q)
    21     return up−1

Line 06 as printed is 1/p times what it must be. It matters where its loop runs, which is for down ≥ 3. At
down = 0 line 03 flips a coin with the probability 1/p, which is read as one that comes up heads.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Generic, NamedTuple, TypeVar

from paramverify.algebra.polynomials import RationalFunction, Ring
from paramverify.errors import LimitError, ModelError
from paramverify.models.systems.transition_systems import (
    Actions,
    Distribution,
    System,
    Weight,
    Weights,
    is_number,
    rows_of,
)

State = TypeVar("State", bound=Hashable)
Steps = Iterable[tuple[str, Mapping[State, Weight]]]

LIMIT = 1_000_000


def explore(
    initial: State,
    step: Callable[[State], Steps[State]],
    actions: Actions,
    *,
    ring: Ring | None = None,
    partial: bool = False,
    limit: int = LIMIT,
    name: Callable[[State], str] = str,
    fields: Callable[[State], Mapping[str, int]] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> System:
    """Returns the system of the states that are reachable from `initial`.

    `step(state)` yields (action, {successor: probability}) for every enabled action; probabilities are whole
    numbers, `Fraction`s, flint rationals, or rational functions of `ring`. `name` gives the state in words;
    different states may have the same one. `fields` gives the variables of a state. `progress` is called with
    the number of states that were expanded and of those that are known. The conditions on systems are checked
    by `transition_systems.check`.

    Raises:
        LimitError: more than `limit` states.
        ModelError: an action that is not declared, or that is enabled twice in one state.
    """
    reached = _Reached(initial, limit)
    numbers = {action: number for number, action in enumerate(actions.names)}
    found: list[tuple[int, int, list[tuple[int, Weight]]]] = []
    for state, known in enumerate(reached.order):  # grows while it is walked through
        for action, distribution in step(known):
            if action not in numbers:
                raise ModelError(f"state {name(known)!r}: the action {action!r} is not declared")
            found.append((state, numbers[action], reached.numbered(distribution)))
        if progress and state % 1000 == 999:
            progress(state + 1, len(reached.order))
    weights = Weights(ring or Ring(), reached.numeric)
    memory: dict[int, tuple[Weight, Weight]] = {}

    def converted(weight: Weight) -> Weight:
        # The same object stands for the same probability; it is kept, so its id is not used again.
        if id(weight) not in memory:
            memory[id(weight)] = (weight, weights.of(weight))
        return memory[id(weight)][1]

    def steps() -> Iterable[tuple[int, int, Distribution]]:
        for state, action, entries in found:
            yield state, action, tuple((s, converted(w)) for s, w in entries)

    names = tuple(name(state) for state in reached.order)
    return System(
        names,
        actions,
        initial=0,
        rows=rows_of(names, actions, steps()),
        weights=weights,
        partial=partial,
        variables=columns([fields(state) for state in reached.order]) if fields else {},
    )


def columns(rows: Sequence[Mapping[str, int]]) -> dict[str, tuple[int | None, ...]]:
    """Returns the variables of states by name, from those of each state."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: tuple(row.get(name) for row in rows) for name in names}


class _Reached(Generic[State]):
    """The states that were reached, in the order in which they were; whether all weights are numbers."""

    def __init__(self, initial: State, limit: int) -> None:
        self.order: list[State] = [initial]
        self.index: dict[State, int] = {initial: 0}
        self.limit = limit
        self.numeric = True

    def numbered(self, distribution: Mapping[State, Weight]) -> list[tuple[int, Weight]]:
        """Returns a distribution over numbers of states; new states get the next ones."""
        entries: list[tuple[int, Weight]] = []
        for successor, weight in distribution.items():
            at = self.index.get(successor)
            if at is None:
                at = self.index[successor] = len(self.order)
                self.order.append(successor)
                if len(self.order) > self.limit:
                    raise LimitError(f"the system has more than {self.limit:,} reachable states")
            entries.append((at, weight))
            self.numeric = self.numeric and is_number(weight)
        return entries


class Flip(NamedTuple):
    """The coin that is flipped next: the line of the program, and the noise n that a loop is at."""

    line: int
    noise: int

    def __str__(self) -> str:
        return f"line {self.line:02}" + (f", n = {self.noise}" if self.line in (8, 18) else "")


START = Flip(2, 0)

Flips = Mapping[
    Flip, Mapping[int | Flip, Weight]
]  # what a coin leads to: noise, which is returned, or a coin


def program(down: int, up: int, p: RationalFunction, printed: bool = False) -> Flips:
    """Returns what each coin leads to; with `printed`, line 06 is as it is printed.

    `down` and `up` are the distances of the answer from the least and the largest answer.
    """
    one = p / p
    heads = p / (one + p)
    below = _ends(p ** (down - 1) if down > 1 else one, -down, _loop(8, -1, -down + 1))
    above = _ends(p**up, up, _loop(18, 0, up - 1))
    found: dict[Flip, Mapping[int | Flip, Weight]] = {
        START: {Flip(3, 0): heads, Flip(13, 0): one - heads},
        Flip(3, 0): below,
        Flip(13, 0): above,
    }
    if down > 2:
        q = (one - p) / (one - p ** (down - 1))
        found.update(_flips(8, -1, -down + 1, q / p if printed else q, p))
    if up > 1:
        found.update(_flips(18, 0, up - 1, (one - p) / (one - p**up), p))
    return found


def distribution(down: int, up: int, p: RationalFunction) -> dict[int, RationalFunction]:
    """Returns N(m, t, p), by its definition; `down` and `up` are as for `program`."""
    one = p / p
    found: dict[int, RationalFunction] = {}
    for noise in range(-down, up + 1):
        weight = p ** abs(noise) / (one + p)
        found[noise] = weight if noise in (-down, up) else (one - p) * weight
    return found


def _ends(heads: RationalFunction, noise: int, after: int | Flip) -> Mapping[int | Flip, Weight]:
    one = heads / heads
    return {noise: one} if heads == one else {noise: heads, after: one - heads}


def _loop(line: int, noise: int, last: int) -> int | Flip:
    """Returns the coin of a loop at n, or what is returned where the loop has ended."""
    return last if (noise <= last if line == 8 else noise >= last) else Flip(line, noise)


def _flips(
    line: int, first: int, last: int, q: RationalFunction, p: RationalFunction
) -> Iterator[tuple[Flip, Mapping[int | Flip, Weight]]]:
    one = p / p
    for noise in range(first, last, 1 if first < last else -1):
        after = _loop(line, noise + (1 if first < last else -1), last)
        yield Flip(line, noise), {noise: q, after: one - q}
        q = p * q / (one - q)


Content = tuple[tuple[int, ...], ...]  # the points of each slot, sorted; the current slot comes first


# The states are named tuples, which are quick keys. No two kinds are equal as tuples: a query is a text, an
# output a number.


class Waiting(NamedTuple):
    """A data point or a query may come."""

    slots: Content


class QueryReceived(NamedTuple):
    """A query has come."""

    slots: Content
    query: str


class Flipping(NamedTuple):
    """The program that draws the noise flips its next coin."""

    slots: Content
    query: str
    answer: int
    coin: Flip


class Responding(NamedTuple):
    """The output is about to be released."""

    slots: Content
    output: int


SlotState = Waiting | QueryReceived | Flipping | Responding

FUNCTIONS: Mapping[str, Callable[[Content], int]] = {
    "count": lambda slots: sum(map(len, slots)),
    "sum": lambda slots: sum(map(sum, slots)),
}


@dataclass(frozen=True, eq=False)
class Answers:
    """How a query is answered, in low..high.

    `noise[f][o]` is the probability that the answer low + f is released as low + o. With `sampler`, that is
    the base p of a truncated geometric distribution which the program `sample_N` draws by coin flips;
    `printed` takes line 06 of that program as it is printed.
    """

    low: int
    high: int
    noise: tuple[tuple[RationalFunction, ...], ...] = ()
    sampler: RationalFunction | None = None
    printed: bool = False


@dataclass(frozen=True, eq=False)
class Slots:
    """The parameters of the system, and of the ways to break it.

    A point is dropped when its slot is full (`drops`), or it never comes then, as an assumption about the
    environment. `shared` counts `points` over all slots together; without `delete` the
    slot that becomes current keeps its points. Without slots no point is ever stored.
    """

    slots: int
    points: int
    data: tuple[int, ...]
    queries: Mapping[str, Answers]
    ring: Ring
    drops: bool = True
    shared: bool = False
    delete: bool = True


def build(
    given: Slots,
    *,
    states: int = 1_000_000,
    progress: Callable[[int, int], None] | None = None,
    fields: bool = False,
) -> System:
    """Returns the system that starts with empty slots; with `fields`, it has the variables of `_fields`.

    Raises:
        LimitError: more than `states` states.
    """
    released = sorted({o for answers in given.queries.values() for o in range(answers.low, answers.high + 1)})
    actions = Actions(
        tuple(f"point {d}" for d in given.data),
        tuple(given.queries),
        tuple(map(str, released)),
        ("answer", "flip"),
    )

    @cache
    def flips(query: str, answer: int) -> Flips:
        answers = given.queries[query]
        assert answers.sampler is not None
        return program(answer - answers.low, answers.high - answer, answers.sampler, answers.printed)

    initial: SlotState = Waiting(((),) * given.slots)
    return explore(
        initial,
        lambda state: _step(given, flips, state),
        actions,
        ring=given.ring,
        partial=not given.drops,
        limit=states,
        name=_name,
        fields=(lambda state: _fields(given, state)) if fields else None,
        progress=progress,
    )


def _step(
    given: Slots, flips: Callable[[str, int], Flips], state: SlotState
) -> Iterable[tuple[str, Mapping[SlotState, Weight]]]:
    slots = state.slots
    match state:
        case Waiting():
            for point in given.data:
                after = _added(given, slots, point)
                if after is not None:
                    yield f"point {point}", {Waiting(after): 1}
            for query in given.queries:
                yield query, {QueryReceived(slots, query): 1}
        case QueryReceived():
            answers = given.queries[state.query]
            answer = max(answers.low, min(answers.high, FUNCTIONS[state.query](slots)))
            rest = _advanced(given, slots)
            if answers.sampler is None:
                row = answers.noise[answer - answers.low]
                yield "answer", {Responding(rest, answers.low + o): w for o, w in enumerate(row)}
            else:
                yield "answer", {Flipping(rest, state.query, answer, START): 1}
        case Flipping():
            after_flip = flips(state.query, state.answer)[state.coin]
            yield "flip", {_outcome(end, state): w for end, w in after_flip.items()}
        case Responding():
            yield str(state.output), {Waiting(slots): 1}


def _outcome(after: int | Flip, state: Flipping) -> SlotState:
    if isinstance(after, int):
        return Responding(state.slots, state.answer + after)
    return Flipping(state.slots, state.query, state.answer, after)


def _added(given: Slots, slots: Content, point: int) -> Content | None:
    """Returns the slots with a point more, as they are if it is dropped, and None if it never comes."""
    if not slots or (sum(map(len, slots)) if given.shared else len(slots[0])) >= given.points:
        return slots if given.drops else None
    return (tuple(sorted((*slots[0], point))), *slots[1:])


def _advanced(given: Slots, slots: Content) -> Content:
    """Returns the slots with the next one, which is the oldest, as the current one."""
    if not slots:
        return slots
    oldest = slots[-1]
    return (() if given.delete else oldest, *slots[:-1])


def _fields(given: Slots, state: SlotState) -> dict[str, int]:
    """Returns what conditions on states may use; a state that moves unseen has nothing.

    Slot 0 is the current one, and slot k was so k queries ago. `n0` is the number of its points, and `n0_1`
    how many of them have the value `data[1]`. `responding` is 1 where `output` is about to be released.
    """
    if not isinstance(state, Waiting | Responding):
        return {}
    responding = isinstance(state, Responding)
    found = {"responding": int(responding), "output": state.output if isinstance(state, Responding) else 0}
    for k, slot in enumerate(state.slots):
        found[f"n{k}"] = len(slot)
        found |= {f"n{k}_{i}": slot.count(value) for i, value in enumerate(given.data)}
    return found


def _name(state: SlotState) -> str:
    shown = "|".join(",".join(map(str, slot)) or "-" for slot in state.slots) or "no slots"
    match state:
        case Waiting():
            return shown
        case QueryReceived():
            return f"{shown} {state.query}?"
        case Responding():
            return f"{shown} answers {state.output}"
        case Flipping():
            return f"{shown} {state.query} {state.answer}: {state.coin}"
