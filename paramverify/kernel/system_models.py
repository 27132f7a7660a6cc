"""The systems of evidence about interactive systems: weights, conditions and closures, checked when read.

States and actions are numbers from 0; actions are in the order data, queries, responses, hidden. Inputs are
data points and queries; outputs are responses, which are seen, and hidden actions, which are not. A state has
a row of entries `[action, [[state, probability], ...]]`: the actions that it enables, and where each leads. A
probability is a polynomial such as `"1/3"`, or a quotient of two such as `["p", "p + 1"]`, whose bottom is
shown to be positive. The conditions are:

system    At most one output is enabled where one is, and otherwise all inputs (or, with `partial`, some).
          Probabilities are nonnegative and sum to one.
closures  For hidden states, group by group, where they end: ν(h) = Σ p(h, k)·ν(k). A group that leads to
          itself has numbers h ≥ 0 with h = 1 + Q·h, bounds of the expected number of steps in it, so it is
          left almost surely and the equations have one solution. A group that leads nowhere else never ends
          (⊥, -1).

States that are not hidden are called terminal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from .evidence_polynomials import Poly, constant, parse, plus, times
from .ledger import Ask
from .rounded_constants import sign_in_exp
from .strict_reading import Rejected

SILENT = -1

Weight = tuple[Poly, Poly]  # numerator, and denominator, which is positive
Distribution = tuple[tuple[int, Weight], ...]
Pair = tuple[int, int]


@dataclass
class WeightSigns:
    """Weights as they are written, and the signs that `ask` knows."""

    names: tuple[str, ...]
    exponent: Fraction | None
    ask: Ask
    memory: dict[object, Weight] = field(default_factory=dict)
    known: dict[tuple[int, ...], bool] = field(default_factory=dict)
    kept: list[Weight] = field(default_factory=list)

    @property
    def one(self) -> Weight:
        """The weight 1."""
        return self.read("1")

    def read(self, text: Any) -> Weight:
        """Reads `"1/3"` or `["p", "p + 1"]`, the denominator shown to be positive."""
        key = text if isinstance(text, str) else tuple(text)
        if key not in self.memory:
            parts = [text] if isinstance(text, str) else list(text)
            top, bottom = (parse(part, self.names) for part in (parts if len(parts) == 2 else [*parts, "1"]))
            if not self.sign(bottom, True):
                raise Rejected(f"the denominator of {key!r:.80} is not shown to be positive")
            self.memory[key] = (top, bottom)
        return self.memory[key]

    def sign(self, poly: Poly, strict: bool = False) -> bool:
        """Tells whether f ≥ 0, or f > 0 where strict, is shown on the domain."""
        last = len(self.names) - 1
        if all(not e for x in poly for k, e in enumerate(x) if not (self.exponent is not None and k == last)):
            coefficients = {x[last] if self.exponent is not None else 0: c for x, c in poly.items()}
            found = sign_in_exp(coefficients, self.exponent)
            return found > 0 if strict else found >= 0
        return self.ask(poly, strict)

    def at_most(self, left: Sequence[Weight], right: Sequence[Weight]) -> bool:
        """Tells whether the product of the left weights is shown to be at most that of the right ones."""
        key = (*map(id, left), 0, *map(id, right))
        if key not in self.known:
            self.kept += [*left, *right]  # so that their ids stay theirs
            low = self.product([w[0] for w in left] + [w[1] for w in right])
            high = self.product([w[0] for w in right] + [w[1] for w in left])
            self.known[key] = self.sign(plus(high, low, Fraction(-1)))
        return self.known[key]

    def product(self, parts: Iterable[Poly]) -> Poly:
        """Returns a product of polynomials."""
        result = constant(Fraction(1), len(self.names))
        for part in parts:
            result = times(result, part)
        return result

    def sum(self, weights: Sequence[Weight]) -> Weight:
        """Returns the sum of weights."""
        if not weights:
            return ({}, constant(Fraction(1), len(self.names)))
        top, bottom = weights[0]
        for a, b in weights[1:]:
            if b == bottom:
                top = plus(top, a)
            else:
                top, bottom = plus(times(top, b), times(a, bottom)), times(bottom, b)
        return top, bottom

    def times(self, left: Weight, right: Weight) -> Weight:
        """Returns the product of two weights."""
        return times(left[0], right[0]), times(left[1], right[1])

    def equal(self, left: Weight, right: Weight) -> bool:
        """Tells whether two weights are the same function."""
        return left is right or times(left[0], right[1]) == times(right[0], left[1])


@dataclass
class CheckedSystem:
    """The system of a document, with the closures of hidden states once they are checked."""

    data: int
    inputs: int
    hidden: int  # the first hidden action
    count: int  # of actions
    initial: int
    partial: bool
    rows: tuple[Mapping[int, Distribution], ...]
    closures: dict[int, Distribution] = field(default_factory=dict)
    moved: dict[Pair, Distribution] = field(default_factory=dict)

    def kind(self, state: int) -> str:
        """Returns what a state does next."""
        for action in self.rows[state]:
            return "input" if action < self.inputs else "hidden" if action >= self.hidden else "response"
        return "stopped"

    def is_hidden(self, state: int) -> bool:
        """Tells whether a state moves unseen."""
        return any(action >= self.hidden for action in self.rows[state])


def read_system(data: Any, numbers: WeightSigns) -> CheckedSystem:
    """Reads a system and checks the conditions on it.

    Raises:
        Rejected: one of them fails.
    """
    kinds = [data[name] for name in ("data", "queries", "responses", "hidden")]
    counts = list(map(len, kinds))
    if len(set().union(*kinds)) < sum(counts):
        raise Rejected("two actions have the same name")
    inputs, hidden = counts[0] + counts[1], sum(counts[:3])
    partial = data["partial"] is True
    size = len(data["rows"])
    rows = []
    distributions: dict[tuple[int, ...], bool] = {}
    for state, row in enumerate(data["rows"]):
        found: dict[int, Distribution] = {}
        for action, step in row:
            if action in found or not 0 <= action < sum(counts):
                raise Rejected(f"state {state} has an action twice, or one that is none")
            entries = tuple((state_of(s, size), numbers.read(w)) for s, w in step)
            key = tuple(id(w) for _, w in entries)
            if key not in distributions:
                if not numbers.equal(numbers.sum([w for _, w in entries]), numbers.one):
                    raise Rejected(f"state {state}, action {action}: the probabilities do not sum to one")
                if not all(numbers.sign(w[0]) for _, w in entries):
                    raise Rejected(
                        f"state {state}, action {action}: a probability is not shown to be nonnegative"
                    )
                distributions[key] = True
            if len({s for s, _ in entries}) < len(entries):
                raise Rejected(f"state {state}, action {action}: a successor is there twice")
            found[action] = entries
        if any(a >= inputs for a in found) and len(found) > 1:
            raise Rejected(f"state {state} is not output-deterministic")
        if found and not partial and any(a < inputs for a in found) and len(found) < inputs:
            raise Rejected(f"state {state} is not quasi-input-enabled")
        rows.append(found)
    return CheckedSystem(
        counts[0],
        inputs,
        hidden=hidden,
        count=sum(counts),
        initial=state_of(data["initial"], size),
        partial=partial,
        rows=tuple(rows),
    )


def state_of(value: int, size: int) -> int:
    if not 0 <= value < size:
        raise Rejected(f"{value!r:.40} is not a state")
    return value


def check_closures(system: CheckedSystem, numbers: WeightSigns, groups: Any) -> None:
    """Checks where hidden states end, group by group.

    Raises:
        Rejected: an equation fails, or a group is not shown to be left almost surely.
    """
    for group in groups:
        members = {state_of(s, len(system.rows)) for s, _ in group["ends"]}
        if not all(system.is_hidden(s) for s in members) or members & system.closures.keys():
            raise Rejected("a group of hidden states is not one of new hidden states")
        given = {
            s: tuple((t if t == SILENT else state_of(t, len(system.rows)), numbers.read(w)) for t, w in ends)
            for s, ends in group["ends"]
        }
        times_ = {s: numbers.read(w) for s, w in group["times"]}
        steps = {s: next(iter(system.rows[s].values())) for s in members}
        cyclic = any(t in members for s in members for t, _ in steps[s])
        if cyclic and not times_:
            if not all(t in members for s in members for t, _ in steps[s]):
                raise Rejected("a group of hidden states can be left, and its times are missing")
            if any(
                len(ends) != 1 or ends[0][0] != SILENT or not numbers.equal(ends[0][1], numbers.one)
                for ends in given.values()
            ):
                raise Rejected("a group of hidden states that never ends has ends")
            system.closures.update(given)
            continue
        for s in members if cyclic else ():
            inner = [numbers.times(w, times_[t]) for t, w in steps[s] if t in members]
            if not numbers.equal(times_[s], numbers.sum([numbers.one, *inner])) or not numbers.sign(
                times_[s][0]
            ):
                raise Rejected("the expected numbers of hidden steps do not satisfy their equations")
        for s in members:
            total: dict[int, list[Weight]] = {}
            for t, w in steps[s]:
                for end, share in given[t] if t in members else ends_of(system, numbers, t):
                    total.setdefault(end, []).append(numbers.times(w, share))
            if sorted(total) != sorted(end for end, _ in given[s]) or not all(
                numbers.equal(numbers.sum(total[end]), w) for end, w in given[s]
            ):
                raise Rejected(f"the closure of hidden state {s} does not satisfy its equations")
        system.closures.update(given)
    if any(system.is_hidden(s) and s not in system.closures for s in range(len(system.rows))):
        raise Rejected("a hidden state has no closure")


def ends_of(system: CheckedSystem, numbers: WeightSigns, state: int) -> Distribution:
    if not system.is_hidden(state):
        return ((state, numbers.one),)
    if state not in system.closures:
        raise Rejected("a group of hidden states leads to one that comes later")
    return system.closures[state]


def after(system: CheckedSystem, numbers: WeightSigns, state: int, action: int) -> Distribution:
    """Returns the closure of an action of a terminal state."""
    key = (state, action)
    if key not in system.moved:
        step = system.rows[state][action]
        if len(step) == 1 and numbers.equal(step[0][1], numbers.one):
            system.moved[key] = ends_of(system, numbers, step[0][0])
        elif not any(system.is_hidden(s) for s, _ in step):
            system.moved[key] = step
        else:
            total: dict[int, list[Weight]] = {}
            for s, w in step:
                for end, share in ends_of(system, numbers, s):
                    total.setdefault(end, []).append(numbers.times(w, share))
            system.moved[key] = tuple((end, numbers.sum(ws)) for end, ws in total.items())
    return system.moved[key]


def reachable(system: CheckedSystem, numbers: WeightSigns) -> list[int]:
    """Returns the terminal states that some inputs lead to."""
    found = dict.fromkeys(s for s, _ in ends_of(system, numbers, system.initial) if s != SILENT)
    pending = list(found)
    for state in pending:  # grows while it is walked through
        for action in system.rows[state]:
            for s, _ in after(system, numbers, state, action):
                if s != SILENT and s not in found:
                    found[s] = None
                    pending.append(s)
    return pending


def insertions(system: CheckedSystem, numbers: WeightSigns) -> Iterable[tuple[int, Distribution]]:
    """Yields each reachable state that takes a data point, with the closure."""
    for state in reachable(system, numbers):
        for action in system.rows[state]:
            if action < system.data:
                yield state, after(system, numbers, state, action)


def common(system: CheckedSystem, left: int, right: int) -> tuple[int, ...]:
    """Returns the actions to compare.

    Raises:
        Rejected: the states do not enable the same ones.
    """
    one, other = system.rows[left], system.rows[right]
    if one.keys() == other.keys():
        return tuple(one)
    if system.partial and system.kind(left) == system.kind(right) == "input":
        return tuple(a for a in one if a in other)
    raise Rejected(f"states {left} and {right} do not enable the same actions")
