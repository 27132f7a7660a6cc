"""Where formulas of dpCTL* hold in a model ([L]): shown to be true, shown to be false, or neither (None).

D{ε, δ}[φ] in a state s: Pr(s, φ) ≤ e^ε·Pr(t, φ) + δ and Pr(t, φ) ≤ e^ε·Pr(s, φ) + δ for each neighbour t,
under each word of actions; with e^ε ≥ 1 and δ ≥ 0 it is true of s itself. In a decision process it is true
where the largest probability of one state over all schedulers and the smallest of the other are in that
relation, or where both states have the same probability under every word; it is decided where the formula
is bounded, and false where one word shows it. P compares the extreme probability over all schedulers.

A family is a formula for each whole number k from the first on. Its members are looked at one by one, up to
the last one, or up to a number K after which there is an argument for each part that mentions k:

tail      D{ε, δ}[X^m (a U[k+c, ...] b)]: such a path is in a for k + c steps after m. The largest probability
          of that falls with k, and for K it is at most δ in all states that are compared.
equality  D{ε, δ}[X^m (a U[k+c, k+d] b)]: after m steps and n = first + c steps within a, and any number of
          further steps within a, the difference of the two states is orthogonal to all vectors of
          probabilities of a U[0, d−c] b. D{ε, δ}[X^m (a U[i, k+d] b)]: after m steps, i steps within a, and
          any number of steps of the paths that did not come to b, as much of both states has come to b.
          Both are shown of a negation, too, and a R b is !(!a U !b).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from .chain_models import CheckedChain, Row
from .path_probabilities import GoalProgression, Move, Paths, Vector, VectorSpan, is_state, normal
from .quotient_values import QuotientValues, Value, gathered
from .strict_reading import Rejected

MAX_MEMBERS = 10_000
Truth = bool | None


@dataclass
class Truths:
    """Formulas in one model; `word` and `repeated` are the actions of a scheduler against a D."""

    chain: CheckedChain
    values: QuotientValues
    word: tuple[int, ...] = ()
    repeated: int = 0
    _paths: dict[str, Paths] = field(default_factory=dict)
    _extremes: dict[tuple[bool, Fraction], Vector] = field(default_factory=dict)
    _hold: dict[tuple[int, str], bool] = field(default_factory=dict)
    _known: dict[tuple[str, int], Truth] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._progression = GoalProgression(self._holds)

    def at(self, formula: Any, state: int) -> Truth:
        """Returns whether a state formula holds in a state."""
        kind = formula[0]
        if kind in ("true", "false"):
            return bool(kind == "true")
        if kind == "label":
            if formula[1] not in self.chain.labels:
                raise Rejected(f"no label {formula[1]!r:.60}")
            return state in self.chain.labels[formula[1]]
        if kind == "not":
            inner = self.at(formula[1], state)
            return None if inner is None else not inner
        if kind in ("and", "or"):
            return _joined((self.at(part, state) for part in formula[1]), kind == "or")
        if kind not in ("P", "D"):
            raise Rejected("a path formula stands where a state formula is needed")
        key = (repr(formula), state)
        if key not in self._known:
            self._known[key] = self._share(formula, state) if kind == "P" else self._private(formula, state)
        return self._known[key]

    def paths(self, path: Any) -> Paths:
        """Returns the probabilities of a path formula."""
        name = repr(path)
        if name not in self._paths:
            self._paths[name] = Paths(
                self.chain, self.values, self._progression, normal(path), self._extremes
            )
        return self._paths[name]

    def _holds(self, state: int, leaf: str) -> bool:
        if (state, leaf) not in self._hold:
            found = self.at(json.loads(leaf), state)
            if found is None:
                raise Rejected("the truth of a formula within a path formula is not shown")
            self._hold[state, leaf] = found
        return self._hold[state, leaf]

    def _share(self, formula: Any, state: int) -> Truth:
        """Compares a probability with a number, the extreme one where there are schedulers."""
        _, relation, bound, path = formula
        lower = relation in (">", ">=")
        value = self.paths(path).probabilities([state], not lower)[state]
        gap = value - self.values.read(bound)
        return self.values.truth(gap if lower else -gap, relation in ("<", ">"))

    def _private(self, formula: Any, state: int) -> Truth:
        _, ratio, delta, path = formula
        near = self.chain.neighbours.get(state, ())
        if not self.chain.scheduled:
            raise Rejected("D is about query schedulers, but the model declares no scheduler")
        if not near:
            return self._reflexive(formula)
        e, d = self.values.read(ratio), self.values.read(delta)
        paths = self.paths(path)

        def compared(upper: Mapping[int, Value], lower: Mapping[int, Value]) -> Truth:
            pairs = [pair for t in near for pair in ((state, t), (t, state))]
            return _joined((self.values.truth(e * lower[t] + d - upper[s], False) for s, t in pairs), False)

        starts = [state, *near]
        if self.chain.scheduled and len(self.chain.actions) <= 1:  # there is nothing to choose
            found = paths.probabilities(starts, True)
            return _joined((self._reflexive(formula), compared(found, found)), False)
        if self.word:
            found = paths.probabilities(starts, True, self.word, self.repeated)
            return False if compared(found, found) is False else None
        reflexive = self._reflexive(formula)
        with suppress(Rejected):  # where the extreme probabilities are not had, they are not enough
            if reflexive and compared(paths.probabilities(starts, True), paths.probabilities(starts, False)):
                return True
        if reflexive and self.values.shows(d - 1):
            return True
        if paths.bounded:
            all_starts = self._compared_states()
            every = paths.words(all_starts if {*starts} <= {*all_starts} else starts)
            return _joined((reflexive, *(compared(v, v) for v in every)), False)
        return True if reflexive and all(paths.equal(state, t) for t in near) else None

    def _reflexive(self, formula: Any) -> Truth:
        """Tells whether a state is within the bounds of itself: e^ε ≥ 1 and δ ≥ 0."""
        e, d = self.values.read(formula[1]), self.values.read(formula[2])
        return True if self.values.shows(e - 1) and self.values.shows(d) else None

    # --- families -----------------------------------------------------------------------------------

    def everywhere(self, formula: Any) -> Truth:
        """Returns whether a state formula holds in every initial state."""
        return _joined((self.at(formula, state) for state in self.chain.initial), False)

    def members(self, formula: Any, first: int, last: int) -> Truth:
        """Returns whether the members of a family hold, from one number to another one."""
        if last - first >= MAX_MEMBERS:
            raise Rejected(f"a family of more than {MAX_MEMBERS:,} formulas")
        return _joined((self.everywhere(instance(formula, k)) for k in range(first, last + 1)), False)

    def argued(self, formula: Any, first: int, until: int, argument: str) -> bool:
        """Tells whether all members from `until` on follow from an argument, given those before."""
        parts = [part for part in _conjuncts(formula) if mentions(part)]
        for part in parts:
            if part[0] != "D" or self._reflexive(part) is not True:
                return False
            steps, path, turned = _shifted(part[3])
            if path[0] != "until" or mentions(path[1]) or mentions(path[2]):
                return False
            if argument == "tail":
                shown = not turned and isinstance(path[3], dict) and self._tail(part, steps, path, until)
            else:
                shown = self._alike(steps, path, first)
            if not shown:
                return False
        return True

    def _compared_states(self) -> list[int]:
        near = (t for s in self.chain.initial for t in self.chain.neighbours.get(s, ()))
        return list(dict.fromkeys([*self.chain.initial, *near]))

    def _tail(self, formula: Any, steps: int, path: Any, until: int) -> bool:
        length = until + path[3]["more"]
        if length < 1:
            return False
        stay: Any = ["release", ["false"], path[1], 0, length - 1]
        for _ in range(steps):
            stay = ["next", stay]
        largest = self.paths(stay).probabilities(self._compared_states(), True)
        delta = self.values.read(formula[2])
        return all(self.values.shows(delta - value) for value in largest.values())

    def _alike(self, steps: int, path: Any, first: int) -> bool:
        """Tells whether neighbours have one probability of X^steps U for every k and under all words.

        The vector of two neighbours moves freely, then inside of the left side, as often as the lower bound
        says. If k stands there, what follows is one formula, and its probabilities under all words are looked
        at. Otherwise a last entry is the share of what has come to the right side.
        """
        _, left, right, low, high = path
        window = isinstance(low, dict)
        start = first + low["more"] if window else low
        if not isinstance(high, dict) or start < 0 or (window and high["more"] < low["more"]):
            return False
        if not (is_state(left) and is_state(right)):
            return False
        every = range(len(self.chain.states))
        inside, goal = ([self.at(part, s) for s in every] for part in (left, right))
        if None in inside or None in goal:
            return False
        last = self.paths(["until", left, right, 0, high["more"] - low["more"] if window else 0])
        done = len(every)  # where what has come to the right side stays
        goal.append(True)
        ends: list[Mapping[int, Value]] = [{done: Fraction(1)}]
        if window:
            ends = list(last.words(list(every)))

        def free(action: int, s: int) -> Row:
            return self.chain.rows[s][action]

        def within(action: int, s: int) -> Row:
            if s == done:
                return ((done, Fraction(1)),)
            return self.chain.rows[s][action] if inside[s] else ()

        def settled(entries: Iterable[tuple[int, Value]]) -> Row:
            return tuple((done if goal[t] else t, w) for t, w in entries if goal[t] or inside[t])

        def onward(action: int, s: int) -> Row:
            return within(action, s) if window else settled(within(action, s))

        def further(level: list[Vector], times: int, move: Move) -> list[Vector]:
            """Returns what spans what vectors become by so many steps, under each word of actions."""
            for _ in range(times):
                level = last.onward(level, move, VectorSpan())
            return level

        for s in self.chain.initial:
            for t in self.chain.neighbours.get(s, ()):
                level: list[Vector] = [{s: Fraction(1), t: Fraction(-1)}]
                level = further(level, steps, free)
                level = further(level, start, within)
                if not window:
                    level = further(
                        [gathered(settled(v.items())) for v in level],
                        max(first + high["more"] - low, 0),
                        onward,
                    )
                for v in last.spanned(level, onward):
                    if any(
                        sum((x * y.get(n, Fraction(0)) for n, x in v.items()), Fraction(0)) != Fraction(0)
                        for y in ends
                    ):
                        return False
        return True


def _joined(truths: Iterable[Truth], either: bool) -> Truth:
    """Returns whether all are true, or with `either` whether one is."""
    found: Truth = not either
    for truth in truths:
        if truth is either:
            return either
        if truth is None:
            found = None
    return found


def _conjuncts(formula: Any) -> list[Any]:
    if formula[0] == "and":
        return [part for inner in formula[1] for part in _conjuncts(inner)]
    return [formula]


def _shifted(path: Any) -> tuple[int, Any, bool]:
    """Returns how often X stands before what follows, that with U for R, and whether it is negated."""
    steps, turned = 0, False
    while path[0] in ("next", "not"):
        steps, turned = steps + (path[0] == "next"), turned is not (path[0] == "not")
        path = path[1]
    if path[0] == "release":
        path = ["until", ["not", path[1]], ["not", path[2]], *path[3:]]
        turned = not turned
    return steps, path, turned


def mentions(formula: Any) -> bool:
    """Tells whether a number of steps depends on the number of the family."""
    return isinstance(formula, dict) or (isinstance(formula, list) and any(map(mentions, formula)))


def instance(formula: Any, k: int) -> Any:
    """Returns the member of a family for a number.

    Raises:
        Rejected: a number of steps would be negative.
    """
    if isinstance(formula, list):
        return [instance(part, k) for part in formula]
    if not isinstance(formula, dict):
        return formula
    if k + formula["more"] < 0:
        raise Rejected(f"a number of steps is negative for the member {k}")
    return k + formula["more"]
