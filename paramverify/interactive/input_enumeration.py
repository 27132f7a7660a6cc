"""Refutation by all pairs of input sequences in the order of their length, and the points at which a
system is examined.

For an input sequence w let f(σ) be the probability that σ is all that the analyst sees, as a function of
the parameters, and g(σ) that of w with one data point more. Each observation σ gives the two claims
f ≤ e^ε·g and g ≤ e^ε·f on the whole domain. So what decides is the supremum of the quotient over the domain,
which may be near one of its ends, and not its value at points that were chosen before. What is found is a
point of the domain; there the probabilities are evaluated again.

Where responses may follow for ever, a run is cut off after some of them, and then stands for all observations
that begin alike.

The points of a domain at which a system is looked at: points of the boundary, and simple ones.

Whether an observation is possible depends on which probabilities are zero. They are polynomials over
denominators without zeros, so the domain falls into finitely many parts, each with its set of irreducible
factors that vanish. One point of a part stands for all of it: where an observation is impossible at one of
them, it is at all. An observation that is possible with one of two inputs only, on any part, leaves no
budget. Simple points are in the part without a factor that vanishes, as a rule. The other parts lie at closed
ends, on faces, or inside, and their equations lead to them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations, islice, product

from flint import fmpq

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domain_branches import Branch, where
from paramverify.algebra.domains import Constraint, Domain, contains, sign_at
from paramverify.algebra.polynomials import Polynomial, primitive, variables
from paramverify.algebra.real_roots import RealRoot, isolate, univariate
from paramverify.algebra.signs import Sign, sign_on
from paramverify.answers import Refuted
from paramverify.claims import Claim, nowhere
from paramverify.errors import ModelError
from paramverify.exact.branching import decide_exactly
from paramverify.exact.procedure_outcomes import RemainingWork
from paramverify.exact.univariate import sign_at_root
from paramverify.interactive.closures import SILENT, Closures
from paramverify.interactive.probability_bounds import WeightJudge
from paramverify.interactive.refutation import AnalystView, Inputs, at_point
from paramverify.interactive.system_cases import InteractiveCase
from paramverify.models.context import sample_points
from paramverify.models.systems.transition_systems import (
    Distribution,
    StateKind,
    System,
    Weight,
    Weights,
    as_function,
    is_zero,
)

MOST_PARTS = 200  # sets of factors that are tried
MOST_POINTS = 200  # of a part, of which the one with the fewest zeros is taken
PLACE_WORK = 100  # boxes for the question whether a part has a point

Parameters = dict[str, Fraction]


@dataclass(frozen=True, eq=False)
class SystemAtPoint:
    """A point of the domain, and the system there.

    Where the point is irrational, `root` is the value of the only parameter, and the system has the possible
    steps of that point, but with other probabilities.
    """

    parameters: Parameters
    system: System
    root: dict[str, RealRoot] = field(default_factory=dict)


def simple_places(case: InteractiveCase, first: Sequence[Parameters], most: int) -> Iterator[SystemAtPoint]:
    """Yields the given points and then at most so many simple ones of the domain, each once."""
    names = case.domain.ring.parameters
    if not names:
        yield SystemAtPoint({}, case.system)
        return
    seen: set[tuple[Fraction, ...]] = set()
    for point in [*first, *islice(sample_points(case.domain), most)]:
        values = tuple(point[name] for name in names)
        if values not in seen:
            seen.add(values)
            parameters = dict(zip(names, values, strict=True))
            yield SystemAtPoint(parameters, at_point(case.system, case.domain, parameters))


def boundary_places(case: InteractiveCase, deadline: float = float("inf")) -> Iterator[SystemAtPoint]:
    """Yields one place for each part of the domain on which some probability is zero and others are not.

    Parts with few vanishing factors come first. A part is left out where no point of it is found, where only
    irrational points of several parameters are in it, and when there are too many or the deadline is over.
    """
    factors = _factors(case)
    empty: list[frozenset[int]] = []
    tried = 0
    for size in range(1, len(case.domain.ring.parameters) + 1):
        for chosen in combinations(range(len(factors)), size):
            if any(part <= {*chosen} for part in empty):
                continue
            tried += 1
            if tried > MOST_PARTS or time.monotonic() > deadline:
                return
            zeros = [factors[k] for k in chosen]
            point = _point(case.domain, zeros, factors)
            if point is not None:
                yield SystemAtPoint(point, at_point(case.system, case.domain, point))
                continue
            roots = _roots(case.domain, zeros[0]) if size == 1 else {}
            yield from (SystemAtPoint({}, _without(case.system, zeros[0]), root) for root in roots)
            empty.append(frozenset(chosen))


def _factors(case: InteractiveCase) -> list[Polynomial]:
    """Returns the irreducible factors of probabilities that may be zero on the domain."""
    if case.system.weights.numeric:
        return []
    ring, found = case.domain.ring, dict[str, Polynomial]()
    numerators = {
        str(numerator): numerator
        for row in case.system.rows
        for step in row.values()
        for numerator in (as_function(weight, ring).numerator for _, weight in step)
    }
    for numerator in numerators.values():
        for factor, _ in numerator.factor()[1]:
            known = primitive(factor)[1]
            if set(variables(known)) - {GENERATOR}:
                found.setdefault(str(known), known)
    apart = (Sign.POSITIVE, Sign.NEGATIVE)
    return [f for f in found.values() if sign_on(f, case.domain) not in apart]


def _point(domain: Domain, zeros: list[Polynomial], factors: list[Polynomial]) -> Parameters | None:
    """Returns a point of the domain at which polynomials are zero, and of the factors few others."""
    parts = [Branch(domain)]
    for zero in zeros:
        parts = [part for branch in parts for part in where(branch, branch.restrict(zero))]
    best: tuple[int, Parameters] | None = None
    for part in parts:
        for sample in islice(sample_points(part.domain), MOST_POINTS):
            point = part.lift(sample)
            if not contains(domain, point) or any(sign_at(domain, zero, point) for zero in zeros):
                continue
            vanishing = sum(not sign_at(domain, f, point) for f in factors)
            if best is None or vanishing < best[0]:
                best = vanishing, point
            if vanishing == len(zeros):
                return point
    if best is not None or not parts:
        return best[1] if best else None
    equations = [Constraint(sign * zero, False, "") for zero in zeros for sign in (1, -1)]
    claim = nowhere(replace(domain, constraints=(*domain.constraints, *equations)))
    answer = decide_exactly(claim, RemainingWork(boxes=PLACE_WORK))
    return {n: answer.point[n] for n in domain.ring.parameters} if isinstance(answer, Refuted) else None


def _roots(domain: Domain, factor: Polynomial) -> Iterator[dict[str, RealRoot]]:
    """Yields the irrational points at which a factor is zero, of a domain with one parameter and no E."""
    if len(domain.ring.parameters) != 1 or domain.constant is not None:
        return
    (name,) = domain.ring.parameters
    interval = domain.box[name]
    constraints = [(univariate(c.polynomial), c.strict) for c in domain.constraints]
    product = univariate(factor)
    for constraint, _ in constraints:
        product *= constraint
    if not product:
        return
    for root in isolate(product, interval.lower, interval.upper):
        signs = [(sign_at_root(constraint, root), strict) for constraint, strict in constraints]
        inside = all(sign > 0 or (sign == 0 and not strict) for sign, strict in signs)
        if not root.is_rational and inside and not sign_at_root(univariate(factor), root):
            yield {name: root}


def _without(system: System, factor: Polynomial) -> System:
    """Returns the system without the steps whose probabilities have a factor, the others equally likely."""
    weights = Weights(system.weights.ring, True)

    def kept(step: Distribution) -> Distribution:
        ring = system.weights.ring
        ends = [s for s, w in step if as_function(w, ring).numerator % factor]
        return tuple((s, weights.of(fmpq(1, len(ends)))) for s in ends)

    rows = tuple({a: kept(step) for a, step in row.items()} for row in system.rows)
    return replace(system, rows=rows, weights=weights)


MOST_RESPONSES = 8  # in a row
MOST_INPUTS = 12
MOST_TRACES = 2_000
ENUMERATION_WORK = 400  # boxes for one claim

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
        answer = decide_exactly(Claim(polynomial, self.judge.domain), RemainingWork(boxes=ENUMERATION_WORK))
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
