"""Refutation by all pairs of input sequences in the order of their length, for all parameters at once.

For an input sequence w let f(σ) be the probability that σ is all that the analyst sees, as a function of
the parameters, and g(σ) that of w with one data point more. Each observation σ gives the two claims
f ≤ e^ε·g and g ≤ e^ε·f on the whole domain. So what decides is the supremum of the quotient over the domain,
which may be near one of its ends, and not its value at points that were chosen before. What is found is a
point of the domain; there the probabilities are evaluated again.

Where responses may follow for ever, a run is cut off after some of them, and then stands for all observations
that begin alike.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from paramverify.algebra.polynomials import primitive
from paramverify.answers import Refuted
from paramverify.claims import Claim
from paramverify.errors import ModelError
from paramverify.exact.branching import decide_exactly
from paramverify.exact.settling import RemainingWork
from paramverify.interactive.bounds import WeightJudge
from paramverify.interactive.closure import SILENT, Closures
from paramverify.interactive.evaluation import AnalystView, Inputs
from paramverify.models.systems.system import StateKind
from paramverify.models.systems.weights import Weight, is_zero

MOST_RESPONSES = 8  # in a row
MOST_INPUTS = 12
MOST_TRACES = 2_000
WORK = 400  # boxes for one claim

Trace = tuple[int, ...]
States = dict[int, Weight]
Seen = dict[tuple[Trace, bool], States]  # the trace, and whether it was cut off


@dataclass(frozen=True)
class TraceCandidate:
    """Two sequences, the place of the data point, what is seen, and the point of the domain."""

    left: Inputs
    right: Inputs
    place: int
    event: AnalystView
    parameters: dict[str, Fraction]


class Enumeration:
    """What is seen for input sequences, each computed from the one without its last input.

    `length` is the length of the shorter sequences up to which all pairs were compared. Sequences
    with too many observations are left out.
    """

    def __init__(self, closures: Closures, judge: WeightJudge, bound: Weight, deadline: float) -> None:
        self.closures = closures
        self.judge = judge
        self.bound = bound
        self.deadline = deadline
        self.length = -1
        self._asked: set[str] = set()
        self._known: dict[Inputs, Seen | None] = {}

    def candidates(self) -> Iterator[TraceCandidate]:
        """Yields what exceeds the bound somewhere on the domain, the shortest inputs first."""
        actions = self.closures.system.actions
        for length in range(MOST_INPUTS):
            for shorter in product(actions.inputs, repeat=length):
                for place in range(length + 1):
                    for point in actions.points:
                        if time.monotonic() > self.deadline:
                            return
                        # The same sequence comes from each place next to a point that is alike.
                        if place and shorter[place - 1] == point:
                            continue
                        yield from self._compared(shorter, (*shorter[:place], point, *shorter[place:]), place)
            self.length = length
            self._known = {w: seen for w, seen in self._known.items() if len(w) >= length}

    def _compared(self, shorter: Inputs, longer: Inputs, place: int) -> Iterator[TraceCandidate]:
        one, other = self.seen(shorter), self.seen(longer)
        if one is None or other is None:
            return
        cut = [trace for seen in (one, other) for trace, open_end in seen if open_end]
        for event in _events(one, other, cut):
            if time.monotonic() > self.deadline:
                return
            f, g = (self._probability(seen, event) for seen in (one, other))
            for left, right, small, large in ((shorter, longer, g, f), (longer, shorter, f, g)):
                point = self._exceeded(large, small)
                if point is not None:
                    yield TraceCandidate(left, right, place, event, point)

    def _probability(self, seen: Seen, event: AnalystView) -> Weight:
        total = self.closures.system.weights.zero
        size = len(event.trace)
        for (trace, cut), states in seen.items():
            if trace == event.trace if event.closed else trace[:size] == event.trace:
                if event.closed and cut:
                    continue
                for weight in states.values():
                    total = total + weight
        return total

    def _exceeded(self, large: Weight, small: Weight) -> dict[str, Fraction] | None:
        """Returns a point at which large > bound·small, or None if none was found."""
        if is_zero(large) or large is small or large == small:
            return None
        try:
            sides = [self.judge.oriented(weight) for weight in (large, small, self.bound)]
        except ModelError:
            return None
        (a, ad), (b, bd), (c, cd) = sides
        polynomial = primitive(c * b * ad - cd * a * bd)[1]
        text = str(polynomial)
        if text in self._asked:
            return None
        self._asked.add(text)
        answer = decide_exactly(Claim(polynomial, self.judge.domain), RemainingWork(boxes=WORK))
        return dict(answer.point) if isinstance(answer, Refuted) else None

    def seen(self, inputs: Inputs) -> Seen | None:
        """Returns the traces of a sequence, with where the system is then; None if they are too many."""
        if inputs not in self._known:
            if inputs:
                before = self.seen(inputs[:-1])
                self._known[inputs] = None if before is None else self._taken(before, inputs[-1])
            else:
                start: Seen = {((), False): dict(self.closures.of(self.closures.system.initial))}
                self._known[inputs] = self._settled(start)
        return self._known[inputs]

    def _taken(self, before: Seen, action: int) -> Seen | None:
        points, rows = self.closures.system.actions.points, self.closures.system.rows
        after: Seen = {}
        for (trace, cut), states in before.items():
            for state, weight in states.items():
                waits = state != SILENT and self.closures.kinds[state] is StateKind.INPUT
                if cut or not waits or action not in rows[state]:
                    _add(after, (trace, cut), {state: weight})
                    continue
                longer = trace if action in points else (*trace, action)
                self._moved(after, longer, state, action, weight)
        return self._settled(after)

    def _moved(self, after: Seen, trace: Trace, state: int, action: int, weight: Weight) -> None:
        for successor, share in self.closures.after(state, action):
            _add(after, (trace, False), {successor: weight * share})

    def _settled(self, seen: Seen) -> Seen | None:
        """Lets the responses come, until the system waits, has stopped, or runs unseen for ever."""
        for _ in range(MOST_RESPONSES):
            following: Seen = {}
            moved = False
            for (trace, cut), states in seen.items():
                for state, weight in states.items():
                    if cut or state == SILENT or self.closures.kinds[state] is not StateKind.RESPONSE:
                        _add(following, (trace, cut), {state: weight})
                        continue
                    moved = True
                    response = next(iter(self.closures.system.rows[state]))
                    self._moved(following, (*trace, response), state, response, weight)
            if not moved:
                return seen
            seen = following
            if len(seen) > MOST_TRACES:
                return None
        ended: Seen = {}
        for (trace, cut), states in seen.items():
            for state, weight in states.items():
                runs = state != SILENT and self.closures.kinds[state] is StateKind.RESPONSE
                _add(ended, (trace, cut or runs), {state: weight})
        return ended


def _events(one: Seen, other: Seen, cut: list[Trace]) -> list[AnalystView]:
    """Returns what can be told apart: complete traces, and beginnings that were cut off."""
    events = dict.fromkeys(
        AnalystView(trace, not open_end) for seen in (one, other) for trace, open_end in seen
    )
    # A run that was cut off before an observation may or may not show it.
    return [e for e in events if not any(e.trace[: len(t)] == t and (e.closed or e.trace != t) for t in cut)]


def _add(seen: Seen, key: tuple[Trace, bool], states: States) -> None:
    known = seen.setdefault(key, {})
    for state, weight in states.items():
        known[state] = known[state] + weight if state in known else weight
