"""The system motivated by PINQ ([T]): slots of data points, and queries about all of them.

A data point goes to the current slot, which drops it if it is full. A query is answered with noise from the
points of all slots; then the next slot becomes the current one, and is emptied. So a point is used in at most
as many answers as there are slots.

The noise adds ε = −ln p for each unit by which the true answer changes: with a data domain of numbers of size
at most v, one point more or less costs ε for a count and v·ε for a sum. The answers are clamped to
−range..range, and so is what is released.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from paramverify.algebra.polynomials import RationalFunction, Ring
from paramverify.models.systems.explore import explore
from paramverify.models.systems.sampling import Flip, flip, start
from paramverify.models.systems.system import Actions, System
from paramverify.models.systems.weights import Weight

Content = tuple[tuple[int, ...], ...]  # the points of each slot, sorted; the current slot comes first


# The states are named tuples, which are quick keys. No two kinds are equal as tuples: a query is a text, an
# output a number.


class Waiting(NamedTuple):
    """A data point or a query may come."""

    slots: Content


class Asked(NamedTuple):
    """A query has come."""

    slots: Content
    query: str


class Flipping(NamedTuple):
    """The program that draws the noise flips its next coin."""

    slots: Content
    answer: int
    coin: Flip


class Responding(NamedTuple):
    """The output is about to be released."""

    slots: Content
    output: int


State = Waiting | Asked | Flipping | Responding

FUNCTIONS: Mapping[str, Callable[[Content], int]] = {
    "count": lambda slots: sum(map(len, slots)),
    "sum": lambda slots: sum(map(sum, slots)),
}


@dataclass(frozen=True, eq=False)
class Slots:
    """The parameters of the system, and of the ways to break it.

    `noise[f][o]` is the probability that the answer f − limit is released as o − limit. With `sampler`, that
    is the base p of a truncated geometric distribution which the program `sample_N` draws by coin flips.
    A point is dropped when its slot is full (`drops`), or it never comes then, as an assumption about the
    environment. `shared` counts `points` over all slots together; without `delete` the
    slot that becomes current keeps its points. Without slots no point is ever stored.
    """

    slots: int
    points: int
    data: tuple[int, ...]
    queries: tuple[str, ...]
    limit: int
    ring: Ring
    noise: tuple[tuple[RationalFunction, ...], ...] = ()
    sampler: RationalFunction | None = None
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
    actions = Actions(
        tuple(f"point {d}" for d in given.data),
        given.queries,
        tuple(str(o) for o in range(-given.limit, given.limit + 1)),
        ("answer", "flip"),
    )
    initial: State = Waiting(((),) * given.slots)
    return explore(
        initial,
        lambda state: _step(given, state),
        actions,
        ring=given.ring,
        partial=not given.drops,
        limit=states,
        name=_name,
        fields=(lambda state: _fields(given, state)) if fields else None,
        progress=progress,
    )


def _step(given: Slots, state: State) -> Iterable[tuple[str, Mapping[State, Weight]]]:
    slots = state.slots
    match state:
        case Waiting():
            for point in given.data:
                after = _added(given, slots, point)
                if after is not None:
                    yield f"point {point}", {Waiting(after): 1}
            for query in given.queries:
                yield query, {Asked(slots, query): 1}
        case Asked():
            answer = max(-given.limit, min(given.limit, FUNCTIONS[state.query](slots)))
            rest = _advanced(given, slots)
            if given.sampler is None:
                row = given.noise[answer + given.limit]
                yield "answer", {Responding(rest, o - given.limit): w for o, w in enumerate(row)}
            else:
                yield "answer", {Flipping(rest, answer, start(answer, given.limit)): 1}
        case Flipping():
            after_flip = _flip(given, state.coin, state.answer)
            yield "flip", {_outcome(o, slots, state.answer): w for o, w in after_flip.items()}
        case Responding():
            yield str(state.output), {Waiting(slots): 1}


def _flip(given: Slots, coin: Flip, answer: int) -> Mapping[int | Flip, Weight]:
    assert given.sampler is not None
    return flip(coin, answer, given.limit, given.sampler)


def _outcome(after: int | Flip, slots: Content, answer: int) -> State:
    return Responding(slots, after) if isinstance(after, int) else Flipping(slots, answer, after)


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
        case Asked():
            return f"{shown} {state.query}?"
        case Responding():
            return f"{shown} answers {state.output}"
        case Flipping():
            return f"{shown} flips for {state.answer}: {state.coin}"
