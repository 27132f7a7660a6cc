"""The systems of evidence about interactive systems: conditions and closures, checked when read.

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

States that are not hidden are called terminal. Where hidden steps never end is a state, too, without actions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from .ledger import Statement
from .quotient_values import QuotientValues, Value, alike, same, spread, state_of
from .strict_reading import Rejected

SILENT = -1

Distribution = Mapping[int, Value]
Pair = tuple[int, int]


@dataclass
class CheckedSystem:
    """The system of a document, with the closures of hidden states once they are checked."""

    data: int
    inputs: int
    hidden: int  # the first hidden action
    partial: bool
    initial: int
    rows: tuple[Mapping[int, Distribution], ...]  # the last one is that of SILENT
    closures: dict[int, Distribution] = field(default_factory=dict)
    _moved: dict[Pair, Distribution] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """How many states there are."""
        return len(self.rows) - 1

    def waits(self, state: int) -> bool:
        """Tells whether a state takes inputs."""
        return any(action < self.inputs for action in self.rows[state])

    def is_hidden(self, state: int) -> bool:
        """Tells whether a state moves unseen."""
        return any(action >= self.hidden for action in self.rows[state])

    def ends_of(self, state: int) -> Distribution:
        """Returns where a state ends, which is itself if it is terminal."""
        if not self.is_hidden(state):
            return {state: Fraction(1)}
        if state not in self.closures:
            raise Rejected("a group of hidden states leads to one that comes later")
        return self.closures[state]

    @property
    def start(self) -> Distribution:
        """Where the initial state ends."""
        return self.ends_of(self.initial)

    def after(self, state: int, action: int) -> Distribution:
        """Returns the closure of an action of a terminal state."""
        key = (state, action)
        if key not in self._moved:
            self._moved[key] = spread(self.rows[state][action], lambda s: self.ends_of(s).items())
        return self._moved[key]

    def reachable(self) -> list[int]:
        """Returns the terminal states that some inputs lead to."""
        found = dict.fromkeys(self.start)
        pending = list(found)
        for state in pending:  # grows while it is walked through
            targets = dict.fromkeys(s for action in self.rows[state] for s in self.after(state, action))
            pending += [s for s in targets if s not in found]
            found |= targets
        return [state for state in found if state != SILENT]

    def insertions(self) -> Iterable[tuple[int, Distribution]]:
        """Yields each reachable state that takes a data point, with the closure."""
        for state in self.reachable():
            for action in self.rows[state]:
                if action < self.data:
                    yield state, self.after(state, action)

    def common(self, left: int, right: int) -> tuple[int, ...]:
        """Returns the actions to compare.

        Raises:
            Rejected: the states do not enable the same ones.
        """
        one, other = self.rows[left], self.rows[right]
        if one.keys() == other.keys():
            return tuple(one)
        if self.waits(left) and self.waits(right):  # Without `partial` both take all inputs.
            return tuple(a for a in one if a in other)
        raise Rejected(f"states {left} and {right} enable different actions")


def read_system(statement: Statement, values: QuotientValues) -> CheckedSystem:
    """Reads a system with its closures, and checks the conditions on it.

    Raises:
        Rejected: one of them fails.
    """
    data = statement["system"]
    kinds = [data[name] for name in ("data", "queries", "responses", "hidden")]
    counts = list(map(len, kinds))
    if len(set().union(*kinds)) < sum(counts):
        raise Rejected("two actions have the same name")
    inputs, hidden = counts[0] + counts[1], sum(counts[:3])
    partial = data["partial"] is True
    size = len(data["rows"])
    rows: list[Mapping[int, Distribution]] = []
    for state, row in enumerate(data["rows"]):
        found: dict[int, Distribution] = {}
        for action, step in row:
            if action in found or not 0 <= action < sum(counts):
                raise Rejected(f"state {state} has an action twice, or an action that does not exist")
            found[action] = dict(values.distribution(step, size, f"state {state}, action {action}"))
        if any(a >= inputs for a in found) and len(found) > 1:
            raise Rejected(f"state {state} is not output-deterministic")
        if not partial and any(a < inputs for a in found) and len(found) < inputs:
            raise Rejected(f"state {state} is not quasi-input-enabled")
        rows.append(found)
    initial = state_of(data["initial"], size)
    system = CheckedSystem(counts[0], inputs, hidden, partial, initial, rows=(*rows, {}))
    for group in statement["closures"]:
        system.closures |= _closures(system, values, group)
    if any(system.is_hidden(s) and s not in system.closures for s in range(size)):
        raise Rejected("a hidden state has no closure")
    return system


def _closures(system: CheckedSystem, values: QuotientValues, group: Any) -> Mapping[int, Distribution]:
    """Returns where the hidden states of a group end.

    Raises:
        Rejected: an equation fails, or the group is not shown to be left almost surely.
    """
    given = {
        state_of(s, system.size): {
            (t if t == SILENT else state_of(t, system.size)): values.read(w) for t, w in ends
        }
        for s, ends in group["ends"]
    }
    times = {s: values.read(w) for s, w in group["times"]}
    for listed in (group["ends"], group["times"], *(ends for _, ends in group["ends"])):
        if len({place for place, _ in listed}) < len(listed):
            raise Rejected("a hidden state of a group, or one of its ends, is listed twice")
    if not all(system.is_hidden(s) for s in given) or given.keys() & system.closures.keys():
        raise Rejected("a group of hidden states is not one of new hidden states")
    steps = {s: next(iter(system.rows[s].values())) for s in given}
    inside = [t in given for step in steps.values() for t in step]
    if any(inside) and not times:
        if not all(inside):
            raise Rejected("a group of hidden states can be left, and its times are missing")
        if not all(alike(ends, {SILENT: Fraction(1)}) for ends in given.values()):
            raise Rejected("a group of hidden states that never ends has ends")
        return given
    for s, step in steps.items() if any(inside) else ():
        expected = sum((w * times[t] for t, w in step.items() if t in given), Fraction(1))
        if not same(times[s], expected) or not values.shows(times[s]):
            raise Rejected("the expected numbers of hidden steps do not satisfy their equations")
    for s, step in steps.items():
        total = spread(step, lambda t: (given[t] if t in given else system.ends_of(t)).items())
        if not alike(total, given[s]):
            raise Rejected(f"the closure of hidden state {s} does not satisfy its equations")
    return given
