"""Random interactive systems, and their traces by plain enumeration with Fractions."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

from flint import fmpq

from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import RationalFunction, Ring, fraction, rational
from paramverify.interactive.refutation import AnalystView
from paramverify.interactive.system_cases import InteractiveCase
from paramverify.models.context import Checks
from paramverify.models.systems.transition_systems import Actions, System, Weights, check, rows_of

Trace = tuple[int, ...]
TWO_ANSWERS = """
[parameters]
{box}
constraints = {constraints}
[system]
initial = "none"
data = ["d"]
queries = ["q"]
responses = ["a", "b"]
[system.steps.none]
d = "one"
q = {{ ra = "{left}", rb = "1-({left})" }}
[system.steps.one]
d = "one"
q = {{ ra = "{right}", rb = "1-({right})" }}
[system.steps.ra]
a = "none"
[system.steps.rb]
b = "none"
[privacy]
{privacy}
"""


class InadmissibleError(Exception):
    """An input comes that the environment is assumed not to give."""


def no_parameters() -> Checks:
    """Returns checks over the domain without parameters."""
    return Checks(Domain(Ring(), {}))


def case_of(system: System, ratio: Fraction, checks: Checks | None = None) -> InteractiveCase:
    """Returns a case as if it were read from a file."""
    checks = checks or no_parameters()
    bound = RationalFunction.of(checks.ring.number(ratio))
    return InteractiveCase("", "", "", "", f"ratio = {ratio}", system, checks, bound)


def random_system(seed: int, for_ever: bool = False) -> System:
    """Returns a small well-formed system: hidden loops, silent loops, stops, and assumptions now and then.

    With `for_ever`, a response may lead to further ones, also without end.
    """
    rng = random.Random(seed)
    points, queries, responses = rng.choice([1, 1, 2]), rng.choice([1, 1, 2]), 2
    actions = Actions(
        tuple(f"d{k}" for k in range(points)),
        tuple(f"q{k}" for k in range(queries)),
        tuple(f"r{k}" for k in range(responses)),
        ("h",),
    )
    waiting, responding, hidden = (
        rng.choice([1, 2, 2, 3, 3]),
        rng.choice([2, 2, 3, 4]),
        rng.choice([1, 2, 2, 3]),
    )
    waits = list(range(waiting))
    responds = list(range(waiting, waiting + responding))
    hides = list(range(waiting + responding, waiting + responding + hidden))
    stops = [waiting + responding + hidden] if rng.random() < 0.1 else []
    names = [
        f"{kind}{k}"
        for kind, states in zip("wrhs", (waits, responds, hides, stops), strict=True)
        for k in states
    ]
    partial = rng.random() < 0.2
    first = len(actions.inputs)

    def distribution(states: list[int], most: int) -> tuple[tuple[int, object], ...]:
        chosen = rng.sample(states, min(len(states), rng.randint(1, most)))
        shares = [rng.choice([1, 1, 2, 3]) for _ in chosen]
        return tuple((s, rational(Fraction(w, sum(shares)))) for s, w in zip(chosen, shares, strict=True))

    steps: list[tuple[int, int, tuple[tuple[int, object], ...]]] = []
    for state in waits:
        for action in actions.inputs:
            if partial and action in actions.points and rng.random() < 0.4:
                continue
            if action in actions.points:
                targets = waits if rng.random() < 0.85 else [*waits, *hides]
                steps.append((state, action, distribution(targets, 2 if rng.random() < 0.3 else 1)))
            else:
                steps.append((state, action, distribution([*hides, *responds], 2)))
    for number, state in enumerate(responds):
        after = waits if rng.random() < 0.9 else [*waits, *stops]
        ends = distribution([*waits, *responds], 2) if for_ever else distribution(after, 1)
        steps.append((state, first + number % responses, ends))
    for state in hides:
        inner = [state, *hides] if rng.random() < 0.4 else []
        ends = [] if rng.random() < 0.05 else [*responds, *responds]
        targets = list(dict.fromkeys([*ends, *inner])) or [state]
        steps.append((state, first + responses, distribution(targets, 4)))
    rows = rows_of(names, actions, steps)
    system = System(tuple(names), actions, 0, rows, Weights(Ring(), True), partial)
    check(system, no_parameters())
    return system


class Enumeration:
    """The probabilities of all complete traces, by recursion over inputs; hidden steps by Gauss-Jordan."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.starts: dict[Trace, dict[Trace, Fraction]] = {}
        self.known: dict[tuple[int, Trace], dict[Trace, Fraction]] = {}
        self.steps: dict[object, tuple[tuple[int, fmpq], ...]] = {}
        self.ends = self._hidden()

    def _hidden(self) -> dict[int, dict[int, Fraction]]:
        """Solves the equations for the least solution: states that cannot end are left out first."""
        rows = {
            s: {t: fraction(w) for t, w in step}
            for s, row in enumerate(self.system.rows)
            for a, step in row.items()
            if self.system.actions.is_hidden(a)
        }
        ending: set[int] = set()
        while True:
            more = {
                s
                for s, row in rows.items()
                if s not in ending and any(t not in rows or t in ending for t in row)
            }
            if not more:
                break
            ending |= more
        order = sorted(ending)
        table = []
        for s in order:
            equation = {("x", t): Fraction(int(t == s)) for t in order}
            for t, w in rows[s].items():
                if t in ending:
                    equation["x", t] -= w
                elif t not in rows:
                    equation["end", t] = w
            table.append(equation)
        for k, s in enumerate(order):
            pivot = next(j for j in range(k, len(table)) if table[j]["x", s])
            table[k], table[pivot] = table[pivot], table[k]
            scale = table[k]["x", s]
            table[k] = {key: value / scale for key, value in table[k].items()}
            for j in range(len(table)):
                factor = table[j]["x", s]
                if j != k and factor:
                    for key, value in table[k].items():
                        table[j][key] = table[j].get(key, Fraction(0)) - factor * value
        found = {s: {t: v for (kind, t), v in table[k].items() if kind == "end"} for k, s in enumerate(order)}
        return {s: found.get(s, {}) for s in rows}

    def terminal(self, step: tuple[tuple[int, object], ...]) -> dict[int, Fraction]:
        """Returns where a step ends; -1 for what never does."""
        total: dict[int, Fraction] = {}
        for state, weight in step:
            share = fraction(weight)
            for end, part in self.ends.get(state, {state: Fraction(1)}).items():
                total[end] = total.get(end, Fraction(0)) + share * part
        lost = 1 - sum(total.values())
        return {**total, -1: lost} if lost else total

    def traces(self, state: int, inputs: Trace) -> dict[Trace, Fraction]:
        """Returns the distribution of complete observable traces."""
        key = (state, inputs)
        if key not in self.known:
            self.known[key] = self._traces(state, inputs)
        return self.known[key]

    def _traces(self, state: int, inputs: Trace) -> dict[Trace, Fraction]:
        actions = self.system.actions
        row = {} if state == -1 else self.system.rows[state]
        waits = any(a in actions.inputs for a in row)
        if not row or (waits and not inputs):
            return {(): Fraction(1)}
        action, rest = (inputs[0], inputs[1:]) if waits else (next(iter(row)), inputs)
        if action not in row:
            raise InadmissibleError
        shown = () if action in actions.points else (action,)
        total: dict[Trace, Fraction] = {}
        for end, weight in self.terminal(row[action]).items():
            for trace, share in self.traces(end, rest).items():
                whole = (*shown, *trace)
                total[whole] = total.get(whole, Fraction(0)) + weight * share
        return total

    def given(self, inputs: Trace) -> dict[Trace, Fraction]:
        """Returns the distribution of traces from the initial state."""
        if inputs in self.starts:
            return self.starts[inputs]
        total: dict[Trace, Fraction] = {}
        for end, weight in self.terminal(((self.system.initial, rational(Fraction(1))),)).items():
            for trace, share in self.traces(end, inputs).items():
                total[trace] = total.get(trace, Fraction(0)) + weight * share
        self.starts[inputs] = total
        return total

    def probability(self, inputs: Trace, event: AnalystView) -> Fraction:
        """Returns the probability of an event."""
        size = len(event.trace)
        found = self.given(inputs).items()
        return sum(
            (w for t, w in found if (t == event.trace if event.closed else t[:size] == event.trace)),
            Fraction(0),
        )

    def admissible(self, inputs: Trace) -> bool:
        """Tells whether no state that some run waits in refuses the next input."""
        pending = [(s, 0) for s in self.terminal(((self.system.initial, rational(Fraction(1))),))]
        seen = set(pending)
        for state, taken in pending:  # grows while it is walked through
            row = {} if state == -1 else self.system.rows[state]
            waits = any(a in self.system.actions.inputs for a in row)
            if not row or (waits and taken == len(inputs)):
                continue
            action = inputs[taken] if waits else next(iter(row))
            if action not in row:
                return False
            for end in self.terminal(row[action]):
                if (end, taken + waits) not in seen:
                    seen.add((end, taken + waits))
                    pending.append((end, taken + waits))
        return True

    def moved(self, step: tuple[tuple[int, object], ...]) -> tuple[tuple[int, fmpq], ...]:
        """Returns where a step ends, in fast numbers."""
        if step not in self.steps:
            self.steps[step] = tuple((end, rational(w)) for end, w in self.terminal(step).items())
        return self.steps[step]

    def events(self, inputs: Trace, longest: int) -> tuple[dict[tuple[Trace, bool], fmpq], bool]:
        """Returns the probabilities of all beginnings (False) and complete traces (True) up to a length.

        Also tells whether some run takes all inputs within as many inputs and responses. Works for systems
        that respond for ever, too.
        """
        actions = self.system.actions
        found: dict[tuple[Trace, bool], fmpq] = {((), False): fmpq(1)}
        zero = fmpq(0)
        start = self.moved(((self.system.initial, fmpq(1)),))
        level: dict[tuple[int, int, Trace], fmpq] = {(state, 0, ()): weight for state, weight in start}
        taken_all = False
        while level:
            following: dict[tuple[int, int, Trace], fmpq] = {}
            for (state, taken, trace), weight in level.items():
                hidden_points = sum(a in actions.points for a in inputs[:taken])
                taken_all = taken_all or (taken == len(inputs) and len(trace) + hidden_points <= longest)
                row = {} if state == -1 else self.system.rows[state]
                waits = any(a in actions.inputs for a in row)
                if not row or (waits and taken == len(inputs)):
                    found[trace, True] = found.get((trace, True), zero) + weight
                    continue
                action = inputs[taken] if waits else next(iter(row))
                longer = trace if action in actions.points else (*trace, action)
                if len(longer) > longest:
                    continue
                if longer != trace:
                    found[longer, False] = found.get((longer, False), zero) + weight
                for end, share in self.moved(row[action]):
                    key = (end, taken + waits, longer)
                    following[key] = following.get(key, zero) + weight * share
            level = following
        return found, taken_all

    def largest_ratio(self, longest: int) -> tuple[Fraction, bool]:
        """Returns the largest ratio of two probabilities of an event, and whether one is infinite.

        All inputs are compared that some run takes with at most `longest` inputs and responses, and all
        beginnings and complete traces of that length.
        """
        known: dict[Trace, dict[tuple[Trace, bool], fmpq] | None] = {}

        def given(inputs: Trace) -> dict[tuple[Trace, bool], fmpq] | None:
            if inputs not in known:
                known[inputs] = self.events(inputs, longest)[0] if self.admissible(inputs) else None
            return known[inputs]

        zero, worst, infinite = fmpq(0), fmpq(1), False
        pending: list[Trace] = [()]
        for inputs in pending:  # grows while it is walked through
            if not self.admissible(inputs):
                continue
            known[inputs], taken_all = self.events(inputs, longest)
            if not taken_all:
                continue
            pending += [(*inputs, a) for a in self.system.actions.inputs]
            for shorter in {
                inputs[:k] + inputs[k + 1 :] for k, a in enumerate(inputs) if a in self.system.actions.points
            }:
                left, right = given(inputs), given(shorter)
                if left is None or right is None:
                    continue
                for event in left.keys() | right.keys():
                    a, b = left.get(event, zero), right.get(event, zero)
                    if bool(a) != bool(b):
                        infinite = True
                    elif a != b:
                        worst = max(worst, a / b, b / a)
        return fraction(worst), infinite


def two_answers(
    folder: Path, box: str, sides: tuple[str, str], privacy: str, constraints: str = "[]"
) -> Path:
    """Writes a case that answers a with the one probability without the data point, and with the other."""
    path = folder / "case.toml"
    left, right = sides
    path.write_text(
        TWO_ANSWERS.format(box=box, constraints=constraints, left=left, right=right, privacy=privacy)
    )
    return path
