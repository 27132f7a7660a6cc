"""A second way through a large prior, at one point: variable by variable, with what is still needed of each.

It draws one variable after the other. A state has the values that something later depends on, and the sums so
far; states with the same values are one, with the sum of their weights. Standard library only. The first
reader eliminates variables on a tree instead, and shares no code and no order with this one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

from ..kernel.strict_reading import UnreadCase
from .second_numbers import Calculator, Value
from .second_priors import row, written

MAX_STATES = 200_000
SMALL = 11  # variables of a prior in which mistakes are noticed that no answer depends on
FEW = 3  # addends that are no sum of its own

Known = Mapping[str, Value]


@dataclass
class _NetworkStep:
    """Something that can be done when the values of some names are known; `makes` is known after it.

    A draw has its own distribution, an addend goes into the sum `makes`, a test drops states.
    """

    kind: str  # "draw", "value", "addend", "test"
    needs: frozenset[str]
    makes: str
    at: Callable[[Known], Any]


class Walk:
    """A prior, what is asked of it, and the steps that are still to be done."""

    def __init__(self, prior: Mapping[str, Any], here: Calculator) -> None:
        self.prior = prior
        self.here = here
        self.steps: list[_NetworkStep] = []
        self.wanted: set[str] = set()
        self.open: dict[str, int] = {}  # addends that a sum still waits for

    def weights(self, secret: Any, queries: Sequence[Any]) -> dict[tuple[Value, ...], Fraction]:
        """Returns the weights of the answers where a secret holds, up to one factor."""
        for tree in self._conjuncts(secret):
            self._step("test", tree, "")
        names = [f"query·{k}" for k in range(len(queries))]
        for name, query in zip(names, queries, strict=True):
            self._define(name, query)
        for name in self.prior if len(self.prior) <= SMALL else ():
            self._want(name)
        states: dict[tuple[tuple[str, Value], ...], int] = {(): 1}
        known: list[str] = []
        while self.steps:
            step = self._next(known)
            self.steps.remove(step)
            states = self._done(step, states)
            if step.makes not in known:
                known.append(step.makes)
            needed = {n for s in self.steps for n in s.needs} | set(names) | self.open.keys()
            if not needed.issuperset(known):
                states = self._without(needed, states)
                known = [name for name in known if name in needed]
            if len(states) > MAX_STATES:
                raise UnreadCase("a prior of which too much depends on each other")
        return {
            tuple(dict(state)[name] for name in names): Fraction(weight) for state, weight in states.items()
        }

    # --- what there is to do

    def _conjuncts(self, given: Any) -> list[ast.expr]:
        found, pending = [], [self.here.parsed(given)]
        while pending:
            node = pending.pop()
            if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
                pending.extend(node.values)
            else:
                found.append(node)
        return found

    def _step(self, kind: str, tree: ast.expr, makes: str, sign: int = 1) -> None:
        needs = frozenset(n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id in self.prior)

        def value(known: Known) -> Value:
            found = self.here.knowing(known).value(tree)
            if isinstance(found, str) and kind != "value":
                raise ValueError(f"the label {found!r:.60} stands for a number")
            return found if isinstance(found, str) else sign * found

        self.steps.append(_NetworkStep(kind, needs, makes, value))
        for name in sorted(needs):
            self._want(name)

    def _define(self, name: str, given: Any) -> None:
        """Adds the steps that give an expression its name."""
        tree = self.here.parsed(given)
        if isinstance(tree, ast.Name) and tree.id in self.prior and not isinstance(self.prior[tree.id], dict):
            # another name for a derived variable
            self._define(name, self.prior[tree.id])
            return
        parts = addends(tree)
        if len(parts) <= FEW:
            self._step("value", tree, name)
            return
        self.open[name] = len(parts)
        for part, sign in parts:
            self._step("addend", part, name, sign)

    def _want(self, name: str) -> None:
        if name in self.wanted:
            return
        self.wanted.add(name)
        entry = written(self.prior, name)
        if not isinstance(entry, dict):
            self._define(name, entry)
            return
        needs: list[str] = []
        if "given" in entry:
            needs = [entry["given"]] if isinstance(entry["given"], str) else list(entry["given"])
        if "around" in entry:
            centre = f"around·{name}"
            self._define(centre, entry["around"])
            entry, needs = {**entry, "around": centre}, [centre]

        def drawn(known: Known) -> dict[Value, Fraction]:
            return row(entry, known, self.here.knowing(known))

        self.steps.append(_NetworkStep("draw", frozenset(needs), name, drawn))
        for other in needs:
            if other in self.prior:
                self._want(other)

    # --- doing it

    def _next(self, known: Sequence[str]) -> _NetworkStep:
        """Returns a step that can be done: one without a draw, else of the last value, a leaf first."""
        have = set(known) - self.open.keys()
        ready = [s for s in self.steps if s.needs <= have]
        if not ready:
            raise ValueError("a variable depends on itself, or on nothing that is known")
        at_once = next((s for s in ready if s.kind != "draw"), None)
        if at_once:
            return at_once

        def order(step: _NetworkStep) -> tuple[bool, list[bool]]:
            children = any(step.makes in s.needs and s.kind == "draw" for s in self.steps)
            return not children, [name in step.needs for name in reversed(known)]

        return max(ready, key=order)

    def _done(
        self, step: _NetworkStep, states: Mapping[tuple[tuple[str, Value], ...], int]
    ) -> dict[tuple[tuple[str, Value], ...], int]:
        found: dict[tuple[tuple[str, Value], ...], int] = {}
        memory: dict[tuple[Value, ...], Any] = {}
        needs = sorted(step.needs)
        listed: list[tuple[dict[str, Value], int, Any]] = []
        for state, weight in states.items():
            known = dict(state)
            key = tuple(known[name] for name in needs)
            if key not in memory:
                memory[key] = step.at({name: known[name] for name in needs})
            listed.append((known, weight, memory[key]))
        draws = memory.values() if step.kind == "draw" else ()
        unit = lcm(*(p.denominator for chances in draws for p in chances.values()))
        for known, weight, result in listed:
            if step.kind == "test":
                _count(found, known, weight if result != 0 else 0)
            elif step.kind == "draw":
                for value, chance in result.items():
                    _count(found, {**known, step.makes: value}, weight * int(chance * unit))
            elif step.kind == "value":
                _count(found, {**known, step.makes: result}, weight)
            else:
                before = known.get(step.makes, Fraction(0))
                assert isinstance(before, Fraction)
                _count(found, {**known, step.makes: before + result}, weight)
        if step.kind == "addend":
            self.open[step.makes] -= 1
            if not self.open[step.makes]:
                del self.open[step.makes]
        return found

    def _without(
        self, needed: set[str], states: Mapping[tuple[tuple[str, Value], ...], int]
    ) -> dict[tuple[tuple[str, Value], ...], int]:
        found: dict[tuple[tuple[str, Value], ...], int] = {}
        for state, weight in states.items():
            _count(found, {name: value for name, value in state if name in needed}, weight)
        return found


def _count(found: dict[tuple[tuple[str, Value], ...], int], known: Known, weight: int) -> None:
    if weight:
        key = tuple(sorted(known.items()))
        found[key] = found.get(key, 0) + weight


def addends(tree: ast.expr) -> list[tuple[ast.expr, int]]:
    """Returns the parts of a sum with their signs."""
    found: list[tuple[ast.expr, int]] = []
    pending = [(tree, 1)]
    while pending:
        node, sign = pending.pop()
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            pending += [(node.right, sign if isinstance(node.op, ast.Add) else -sign), (node.left, sign)]
        else:
            found.append((node, sign))
    return found
