"""The system motivated by PINQ ([T]): slots of data points, and queries about all of them.

A data point goes to the current slot, which drops it if it is full. A query is answered with noise from the
points of all slots; then the next slot becomes the current one, and is emptied. So a point is used in at most
as many answers as there are slots.

The noise adds −ln p for each unit by which the true answer changes: with data points of size at most v, one
point more or less costs −ln p for a count and −v·ln p for a sum. Each query has noise of its own, and a range
of its own: answers are clamped to it, and so is what is released.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from paramverify.algebra.polynomials import RationalFunction, Ring
from paramverify.models.systems.explore import explore
from paramverify.models.systems.sampling import START, Flip, Flips, program
from paramverify.models.systems.system import Actions, System
from paramverify.models.systems.weights import Weight

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


State = Waiting | QueryReceived | Flipping | Responding

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

    initial: State = Waiting(((),) * given.slots)
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
    given: Slots, flips: Callable[[str, int], Flips], state: State
) -> Iterable[tuple[str, Mapping[State, Weight]]]:
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


def _outcome(after: int | Flip, state: Flipping) -> State:
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


def _fields(given: Slots, state: State) -> dict[str, int]:
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


def _name(state: State) -> str:
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
