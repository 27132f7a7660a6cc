"""Chains and decision processes of evidence, whose rows are shown to be probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from .quotient_values import QuotientValues, Value
from .strict_reading import Misformed

Row: TypeAlias = tuple[tuple[int, Value], ...]


@dataclass(frozen=True, eq=False)
class CheckedChain:
    """A model: `rows[s][a]` are the successors of state s under action a, without those of probability zero.

    Where it is not `scheduled`, the rows of a state are its choices in any order, and no D is about it.
    Of the neighbours of a state, the state itself is not listed.
    """

    states: tuple[str, ...]
    actions: tuple[str, ...]
    scheduled: bool
    initial: tuple[int, ...]
    rows: tuple[tuple[Row, ...], ...]
    labels: Mapping[str, frozenset[int]]
    neighbours: Mapping[int, tuple[int, ...]]


def read_chain(data: Any, values: QuotientValues) -> CheckedChain:
    """Reads a model, and checks that all rows are probabilities.

    Raises:
        Rejected: they are not, or names and numbers of states do not fit.
    """
    size = len(data["states"])
    for name in ("states", "actions"):
        if not data[name]:
            raise Misformed("the model must have at least one", "model", name)
    if not data["initial"]:
        raise Misformed("the model has no initial state", "model")
    distributions = (
        values.distribution(entries, size, f"model.steps[{k}]") for k, entries in enumerate(data["steps"])
    )
    steps = [tuple((t, w) for t, w in row if w != Fraction(0)) for row in distributions]
    if len(data["rows"]) != size:
        raise Misformed("there must be one entry for each state", "model", "rows")
    for k, row in enumerate(data["rows"]):
        if not row or (data["scheduled"] and len(row) != len(data["actions"])):
            raise Misformed("there must be one step for each action", "model", "rows", k)
        if max(row) >= len(steps):
            raise Misformed("the model has no such step", "model", "rows", k)
    near: dict[int, set[int]] = {}
    for k, (s, t) in enumerate(data["neighbours"]):
        if not s < t < size:
            raise Misformed("these must be two states, the first one first", "model", "neighbours", k)
        near.setdefault(s, set()).add(t)
        near.setdefault(t, set()).add(s)
    for place, listed in (("initial", data["initial"]), *data["labels"].items()):
        if any(s >= size for s in listed) or len(set(listed)) < len(listed):
            raise Misformed(f"{place}: these must be different states", "model")
    return CheckedChain(
        states=tuple(data["states"]),
        actions=tuple(data["actions"]),
        scheduled=data["scheduled"],
        initial=tuple(data["initial"]),
        rows=tuple(tuple(steps[number] for number in row) for row in data["rows"]),
        labels={name: frozenset(states) for name, states in data["labels"].items()},
        neighbours={s: tuple(sorted(ts)) for s, ts in near.items()},
    )
