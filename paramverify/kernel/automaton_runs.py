"""Automata over streams: what they are, and which transitions are possible in which order of stored values.

A state with rate d draws the sample x + mean + Lap(1/(d·ε)), where x is the next input, or 0 if it reads
none. If noise is geometric, Pr(k) is proportional to exp(-d·ε·|k|) on whole numbers, and sums take the place
of integrals. A transition is taken if the sample lies above and below stored values, which is its guard. It
may store the sample, and puts out a word, the sample itself (`insample`), or a second sample of the same
entry (`insample'`), for which the state has another rate d' and mean. A way is a sequence of transitions. Its
probability under a stream is a density if it puts out samples. If the automaton is `late`, a way shows
something of streams that are longer by one than what it reads: it may have drawn or put out what belongs to
the next entry.

All orders of stored values that agree with the guards of a way have positive probability, because samples
have densities that are positive everywhere. So a transition is possible iff no value that must lie below
the sample is known to lie above one that must lie above it.

Geometric samples are whole numbers, all of them with positive probability, and they may be equal.
Comparisons x ≤ y and x < y have a solution iff no circle of them has a `<`: if there is none, let each value
be the largest number of `<` on a chain that ends there.

Outputs tell the way if no two transitions that are possible in one order put out the same. Then probabilities
of ways are probabilities of outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, TypeVar

from .strict_reading import Rejected

MAX_ORDERS = 100_000
MAX_COMPARED = 8  # values at one state, to see whether guards run out
SAMPLE = -1  # among variables: the new sample


@dataclass(frozen=True)
class RunState:
    """Whether a state reads, its rate, the rate of insample' (0 if none), and both means."""

    reads: bool
    rate: Fraction
    second: Fraction
    mean: Fraction
    second_mean: Fraction


@dataclass(frozen=True)
class RunTransition:
    """A transition; variables by their numbers."""

    source: int
    target: int
    output: str
    above: frozenset[int]
    below: frozenset[int]
    stored: frozenset[int]
    apart: frozenset[int]

    @property
    def never(self) -> bool:
        """Whether the guard contradicts itself."""
        return bool(self.above & self.below & self.apart)


@dataclass(frozen=True)
class Order:
    """A state, the variables that have a value and are still compared, and pairs (x, y) with x ≤ y.

    `apart` are those of the pairs with x < y.
    """

    state: int
    known: frozenset[int]
    pairs: frozenset[tuple[int, int]]
    apart: frozenset[tuple[int, int]]


FIRST = Order(0, frozenset(), frozenset(), frozenset())  # what is known in the beginning: nothing


@dataclass(frozen=True)
class Machine:
    """The automaton that evidence is about; `live` has for each state what may still be compared."""

    states: tuple[RunState, ...]
    steps: tuple[RunTransition, ...]
    variables: int
    leaving: tuple[tuple[int, ...], ...]
    live: tuple[frozenset[int], ...]
    whole: bool = False  # noise is geometric
    late: bool = False  # a way may need one entry more than it reads

    def entries(self, steps: Iterable[int]) -> int:
        """Returns how many entries a stream needs, so that a run takes a way."""
        return sum(self.states[self.steps[number].source].reads for number in steps) + self.late

    def second_cost(self, step: RunTransition) -> Fraction:
        """Returns what the release of insample' costs for a difference of 1."""
        state = self.states[step.source]
        return state.second if step.output == "insample'" and state.reads else Fraction(0)

    def following(self, order: Order) -> Iterator[tuple[int, Order]]:
        """Returns the transitions that are possible, and what is known after each.

        Raises:
            Rejected: two of them are possible at once, or a variable has no value.
        """
        found: list[int] = []
        for number in self.leaving[order.state]:
            step = self.steps[number]
            if step.never:
                continue
            if not step.above | step.below <= order.known:
                raise Rejected(f"transition {number} compares a variable that has no value")
            if not fits([step], order):
                continue
            for other in (self.steps[k] for k in found):
                if fits([step, other], order):
                    raise Rejected(f"transition {number} is possible together with another one")
            found.append(number)
        for number in found:
            yield number, after(self, order, number)


def machine(data: Any) -> Machine:
    """Returns the automaton of a document.

    Raises:
        Rejected: it is none.
    """
    states = tuple(map(_state, data["states"]))
    if len({s["name"] for s in data["states"]}) < len(states):
        raise Rejected("two states have the same name")
    if not states or any(s.rate <= 0 or s.second < 0 for s in states):
        raise Rejected("there is no state, or a rate is not positive")
    whole = "noise" in data
    if whole and any(mean.denominator > 1 for s in states for mean in (s.mean, s.second_mean)):
        raise Rejected("noise is geometric, but a mean is not a whole number")
    steps = tuple(_step(s, len(states), len(data["variables"]), whole) for s in data["transitions"])
    for step in steps:
        if step.output == "insample'" and not states[step.source].second:
            raise Rejected("insample' is an output of a state without a rate for it")
    leaving = tuple(tuple(n for n, s in enumerate(steps) if s.source == k) for k in range(len(states)))
    variables, live = len(data["variables"]), _live(len(states), steps)
    return Machine(states, steps, variables, leaving, live, whole=whole, late=data.get("late", False))


def _state(data: Any) -> RunState:
    second, second_mean = map(Fraction, data["second"] or (0, 0))
    return RunState(data["reads"], Fraction(data["rate"]), second, Fraction(data["mean"]), second_mean)


def _step(data: Any, states: int, variables: int, whole: bool) -> RunTransition:
    if ("strict" in data) != whole:
        raise Rejected("a transition must say which comparisons are strict exactly if noise is geometric")
    above, below, stored = (frozenset(data[name]) for name in ("above", "below", "stored"))
    apart = frozenset(data["strict"]) if whole else above | below
    if not apart <= above | below:
        raise Rejected("a strict comparison does not exist")
    if not (0 <= data["source"] < states and 0 <= data["target"] < states):
        raise Rejected("a transition connects states that do not exist")
    if any(not 0 <= v < variables for v in above | below | stored):
        raise Rejected("a transition uses a variable that does not exist")
    return RunTransition(data["source"], data["target"], data["output"], above, below, stored, apart)


def _live(states: int, steps: Iterable[RunTransition]) -> tuple[frozenset[int], ...]:
    live: list[frozenset[int]] = [frozenset()] * states
    changed = True
    while changed:
        changed = False
        for step in steps:
            if step.never:
                continue
            found = live[step.source] | step.above | step.below | (live[step.target] - step.stored)
            changed = changed or found != live[step.source]
            live[step.source] = found
    return tuple(live)


def fits(steps: Iterable[RunTransition], order: Order) -> bool:
    """Tells whether a sample may be where the guards of all these steps ask it to be."""
    lower, upper = dict[int, bool](), dict[int, bool]()  # values, and whether the sample is not equal to them
    for step in steps:
        for side, values in ((lower, step.above), (upper, step.below)):
            side |= {v: v in step.apart or side.get(v, False) for v in values}
    return not any(
        (low == high or (high, low) in order.pairs) and (first or last or (high, low) in order.apart)
        for low, first in lower.items()
        for high, last in upper.items()
    )


def runs_out(read: Machine, order: Order) -> bool:
    """Tells whether a sample may lie where no guard is true: then the run ends, and puts out nothing.

    A value lies below the sample (<), is equal to it (=), or lies above it (>), which is a guard itself.
    Where many values are compared, the answer is True.
    """
    steps = [read.steps[number] for number in read.leaving[order.state]]
    values = sorted({v for step in steps for v in step.above | step.below})
    if len(values) > MAX_COMPARED:
        return True
    for places in product("<=>" if read.whole else "<>", repeat=len(values)):
        at = [*zip(values, places, strict=True)]
        above, below, apart = (frozenset(v for v, k in at if k in signs) for signs in ("<=", "=>", "<>"))
        here = RunTransition(order.state, order.state, "", above, below, frozenset(), apart)
        if fits([here], order) and not any(fits([here, step], order) for step in steps):
            return True
    return False


def after(read: Machine, order: Order, number: int) -> Order:
    """Returns what is known after a transition: the sample is put between the values, and then stored."""
    step = read.steps[number]
    told = {pair: pair in order.apart for pair in order.pairs}
    told |= {(v, SAMPLE): v in step.apart for v in step.above}
    told |= {(SAMPLE, v): v in step.apart for v in step.below}
    for middle in (*sorted(step.above | step.below), SAMPLE):  # values are closed already
        lower = [(x, strict) for (x, y), strict in told.items() if y == middle]
        upper = [(y, strict) for (x, y), strict in told.items() if x == middle]
        for (low, first), (high, last) in product(lower, upper):
            if low != high:
                told[low, high] = told.get((low, high), False) or first or last
    told[SAMPLE, SAMPLE] = False
    kept = (order.known | step.stored) & read.live[step.target]
    names = {v: [v] for v in kept - step.stored} | {SAMPLE: list(step.stored & kept)}
    pairs = {
        (x, y): strict
        for (low, high), strict in told.items()
        for x, y in product(names.get(low, ()), names.get(high, ()))
        if x != y
    }
    return Order(step.target, kept, frozenset(pairs), frozenset(p for p, strict in pairs.items() if strict))


def walk(read: Machine, order: Order, *numbers: int) -> Order:
    """Returns what is known after some transitions of a way.

    Raises:
        Rejected: one is not possible there.
    """
    for number in numbers:
        found = dict(read.following(order)).get(number)
        if found is None:
            raise Rejected(f"transition {number} is impossible at its place in a way")
        order = found
    return order


Place = TypeVar("Place", bound=Hashable)


def reached(first: Place, following: Callable[[Place], Iterable[Place]]) -> tuple[Place, ...]:
    """Returns all that is reached from a first place.

    Raises:
        Rejected: that is too much.
    """
    found = {first: None}
    waiting = [first]
    for place in waiting:
        for other in following(place):
            if other not in found:
                found[other] = None
                waiting.append(other)
        if len(found) > MAX_ORDERS:
            raise Rejected("there are too many orders of stored values")
    return tuple(found)


def explore(read: Machine) -> tuple[Order, ...]:
    """Returns all that may be known in a run.

    Raises:
        Rejected: two guards are true at once, or there is too much.
    """
    return reached(FIRST, lambda order: (found for _, found in read.following(order)))


def outputs_differ(read: Machine) -> None:
    """Checks that outputs tell the way: no two possible transitions put out the same word, or numbers.

    Raises:
        Rejected: two do.
    """
    for order in explore(read):
        outputs = [read.steps[number].output for number, _ in read.following(order)]
        words = ["" if word in ("insample", "insample'") else word for word in outputs]
        if len(set(words)) < len(words):
            raise Rejected("two transitions of one state have the same output: outputs do not show the way")
