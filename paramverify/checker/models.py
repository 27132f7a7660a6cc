"""Models of certificates about many sequences: weights, priors, and vectors of polynomials."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import Any

from .claims import (
    Rejected,
    read_claim,
)
from .polynomials import Poly, constant, parse, plus, times
from .strict import Misformed, shown
from .vectors import whole

MAX_STATES = 100_000
Table = dict[int, dict[int, Poly]]  # by state and successor
PolyVector = dict[int, Poly]


@dataclass(frozen=True)
class Start:
    """A conditioned prior: weights by state, and their mass."""

    weights: PolyVector
    mass: Poly


@dataclass(frozen=True)
class CheckedModel:
    """What the document is about."""

    names: tuple[str, ...]
    states: int
    tables: tuple[Table, ...]
    pairs: tuple[tuple[str, str, Start, Start], ...]
    ratio: tuple[Poly, Poly]

    def one(self) -> PolyVector:
        """Returns the vector (1, ..., 1)."""
        return {s: constant(Fraction(1), len(self.names)) for s in range(self.states)}


def read_model(data: Any) -> CheckedModel:
    """Reads a model from its document."""
    names = read_claim({**data["domain"], "polynomial": "0"}).goal.names
    states, count = data["states"], len(data["observations"])
    if not 0 < states <= MAX_STATES:
        raise Rejected("the number of states is out of range")
    tables: list[Table] = [{} for _ in range(count)]
    for state, observation, successor, weight in data["steps"]:
        if not all(0 <= k < n for k, n in ((state, states), (observation, count), (successor, states))):
            raise Rejected("a step with an unknown state or observation")
        row = tables[observation].setdefault(state, {})
        row[successor] = plus(row.get(successor, {}), read_weight(weight, names))

    def start(entry: Any) -> Start:
        weights = {int(s): read_weight(w, names) for s, w in entry["weights"].items()}
        if not weights.keys() <= set(range(states)):
            raise Rejected("a prior with an unknown state")
        mass = read_weight(entry["mass"], names)
        if not mass:
            raise Rejected("a secret that is impossible for every prior")
        return Start(weights, mass)

    if not data["pairs"]:
        raise Misformed("nothing is compared", "model", "pairs")
    known: set[frozenset[str]] = set()
    for k, (left, right, *_) in enumerate(data["pairs"]):
        if left == right or {left, right} in known:
            raise Misformed("twice the same", "model", "pairs", k)
        known.add(frozenset((left, right)))
    pairs = tuple((left, right, start(pi), start(tau)) for left, right, pi, tau in data["pairs"])
    top, bottom = (read_weight(part, names) for part in data["ratio"])
    if not bottom:
        raise Rejected("the denominator of the bound is zero")
    return CheckedModel(names, states, tuple(tables), pairs, (top, bottom))


def read_weight(text: str, names: Sequence[str]) -> Poly:
    """Reads a weight, which must not be a negative number; of one with parameters that is taken to be so."""
    poly = parse(text, names)
    if not any(map(any, poly)) and any(c < 0 for c in poly.values()):
        raise Rejected(f"a negative weight: {shown(text)}")
    return poly


def shape(poly: Poly) -> frozenset[tuple[tuple[int, ...], Fraction]]:
    """Returns what positive multiples of a polynomial have in common."""
    if not poly:
        return frozenset()
    scale = abs(poly[max(poly)])
    return frozenset((x, c / scale) for x, c in poly.items())


def bounds(model: CheckedModel, vector: PolyVector, directions: Sequence[int] = (0, 1)) -> Iterator[Poly]:
    """Yields F(v) for every secret pair and the given directions (1: right secret against left one)."""
    top, bottom = model.ratio
    for _, _, pi, tau in model.pairs:
        left, right = times(dot(pi, vector), tau.mass), times(dot(tau, vector), pi.mass)
        for turned in directions:
            a, b = (right, left) if turned else (left, right)
            yield plus(times(top, b), times(bottom, a), Fraction(-1))


def dot(start: Start, vector: PolyVector) -> Poly:
    """Returns Σ_s π(s)·v(s)."""
    total: Poly = {}
    for state, weight in start.weights.items():
        if state in vector:
            total = plus(total, times(weight, vector[state]))
    return total


def apply(table: Table, vector: PolyVector) -> PolyVector:
    """Returns T·v; states with zero are left out."""
    found: PolyVector = {}
    for state, row in table.items():
        total: Poly = {}
        for successor, weight in row.items():
            if successor in vector:
                total = plus(total, times(weight, vector[successor]))
        if total:
            found[state] = total
    return found


def lift(model: CheckedModel, vector: Sequence[Fraction], states: Sequence[int]) -> PolyVector:
    """Returns a vector of numbers on some states as one of polynomials."""
    return {s: constant(x, len(model.names)) for s, x in zip(states, vector, strict=True) if x}


def numeric(model: CheckedModel) -> list[list[list[tuple[int, int]]]]:
    """Returns the matrices by rows of (column, whole number), multiplied by one positive number."""
    scale = 1
    for table in model.tables:
        for row in table.values():
            for weight in row.values():
                if any(map(any, weight)):
                    raise Rejected("the steps have parameters")
                for value in weight.values():
                    if value < 0:
                        raise Rejected("a step has a negative weight")
                    scale = scale * value.denominator // gcd(scale, value.denominator)
    zero = (0,) * len(model.names)
    return [
        [[(t, int(w[zero] * scale)) for t, w in table.get(s, {}).items() if w] for s in range(model.states)]
        for table in model.tables
    ]


def moved(matrix: list[list[tuple[int, int]]], vector: Sequence[int]) -> tuple[int, ...]:
    """Returns T·v divided by the greatest common divisor of its entries."""
    return whole([sum(w * vector[t] for t, w in row) for row in matrix])


def reached(model: CheckedModel, side: int, turned: int) -> set[int]:
    """Returns the states that secrets of one side reach."""
    found = {s for _, _, pi, tau in model.pairs for s in ((pi, tau)[side ^ turned]).weights}
    pending = list(found)
    while pending:
        state = pending.pop()
        for table in model.tables:
            for successor in table.get(state, {}):
                if successor not in found:
                    found.add(successor)
                    pending.append(successor)
    return found
