"""Models of certificates about many sequences, with their vectors; and which polynomials have one sign.

Vectors and cones have whole numbers as entries, up to a positive factor. The extreme rays of a cone
{v : n·v ≥ 0 for all normals n}, if it contains no line, are those on which normals of rank size − 1 vanish.

A model has steps, priors of pairs of secrets, and a bound. Its weights are polynomials, of which none is
plainly a negative number. That those with parameters are nowhere negative on the domain is looked at in three
ways, one after the other:

1. The polynomial is a constraint of the domain, up to a positive factor.
2. An obligation of the document shows it on this domain, up to such a factor.
3. Its Bernstein coefficients on the box have one sign.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import gcd, lcm, prod
from typing import Any

from .evidence_polynomials import Poly, constant, degree, number, parse, plus, times
from .ledger import Evidence, multiple
from .proof_goals import Goal, WrittenClaim, bernstein
from .rounded_constants import UNIT, exp_bounds
from .strict_reading import Misformed, Rejected, shown

# --- vectors and cones ------------------------------------------------------------------------------

MAX_NORMALS = 40

Vector = tuple[Fraction, ...]


def read_vector(data: Any, size: int) -> tuple[int, ...]:
    """Reads a vector of whole numbers."""
    values = [number(x) for x in data]
    if len(values) != size or any(x.denominator != 1 for x in values):
        raise Rejected("not a vector of whole numbers")
    return tuple(int(x) for x in values)


def combined(
    weights: Mapping[int, Fraction], vectors: Mapping[int, Sequence[int]], size: int
) -> list[Fraction]:
    """Returns Σ λ_k·v_k for λ ≥ 0."""
    if any(w < 0 for w in weights.values()):
        raise Rejected("a combination with a negative weight")
    total = [Fraction(0)] * size
    for k, w in weights.items():
        total = [a + w * x for a, x in zip(total, vectors[k], strict=True)]
    return total


def extreme_rays(normals: Sequence[Sequence[int]], size: int) -> list[Vector]:
    """Returns the extreme rays of a cone {v : n·v ≥ 0} that has other vectors than 0.

    They are those on which normals of rank size − 1 vanish. There is one if and only if the rank of all is at
    least size − 1, and with v also −v if it is not more: then the cone contains a line.
    """
    if not size:
        return []
    if size > 5 or len(normals) > MAX_NORMALS:
        raise Rejected("the cone is too large")
    found: dict[Vector, None] = {}
    for chosen in combinations(normals, size - 1):
        line = minors(chosen)
        sides = {sum(a * x for a, x in zip(n, line, strict=True)) for n in normals}
        scale = max(map(abs, line))
        for sign in (1, -1):
            if scale and all(sign * side >= 0 for side in sides):
                found[tuple(Fraction(sign * x, scale) for x in line)] = None
    if not found or any(tuple(-x for x in ray) in found for ray in found):
        raise Rejected("the cone contains a line")
    return list(found)


def minors(rows: Sequence[Sequence[int]]) -> list[int]:
    """Returns the signed minors of m rows of m + 1 numbers: orthogonal to all, 0 if their rank is less."""
    if not rows:
        return [1]
    found = []
    for k in range(len(rows) + 1):
        first, *others = [(*row[:k], *row[k + 1 :]) for row in rows]
        found.append((-1) ** k * sum(a * b for a, b in zip(first, minors(others), strict=True)))
    return found


# --- models -----------------------------------------------------------------------------------------

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


def read_model(data: Any, names: tuple[str, ...]) -> CheckedModel:
    """Reads a model of a statement, with the variables of its domain."""
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


def bounds(model: CheckedModel, vector: PolyVector, directions: Sequence[int] = (0, 1)) -> Iterator[Poly]:
    """Yields F(v) for every secret pair and the given directions (1: right secret against left one)."""
    top, bottom = model.ratio
    for _, _, pi, tau in model.pairs:
        left, right = times(dot(pi.weights, vector), tau.mass), times(dot(tau.weights, vector), pi.mass)
        for turned in directions:
            a, b = (right, left) if turned else (left, right)
            yield plus(times(top, b), times(bottom, a), Fraction(-1))


def dot(row: PolyVector, vector: PolyVector) -> Poly:
    """Returns Σ_s row(s)·v(s)."""
    total: Poly = {}
    for state, weight in row.items():
        if state in vector:
            total = plus(total, times(weight, vector[state]))
    return total


def apply(table: Table, vector: PolyVector) -> PolyVector:
    """Returns T·v; states with zero are left out."""
    return {state: total for state, row in table.items() if (total := dot(row, vector))}


def lift(model: CheckedModel, vector: Iterable[Fraction | int], states: Iterable[int]) -> PolyVector:
    """Returns a vector of numbers on some states as one of polynomials."""
    width = len(model.names)
    return {s: constant(Fraction(x), width) for s, x in zip(states, vector, strict=True) if x}


def numeric(model: CheckedModel) -> list[list[list[tuple[int, int]]]]:
    """Returns the matrices by rows of (column, whole number), multiplied by one positive number."""
    weights = [w for table in model.tables for row in table.values() for w in row.values()]
    if any(any(map(any, w)) for w in weights):
        raise Rejected("the steps have parameters")
    numbers = [value for w in weights for value in w.values()]
    if any(value < 0 for value in numbers):
        raise Rejected("a step has a negative weight")
    scale = lcm(*(value.denominator for value in numbers))
    zero = (0,) * len(model.names)
    return [
        [[(t, int(w[zero] * scale)) for t, w in table.get(s, {}).items() if w] for s in range(model.states)]
        for table in model.tables
    ]


def moved(matrix: list[list[tuple[int, int]]], vector: Sequence[int]) -> tuple[int, ...]:
    """Returns T·v divided by the greatest common divisor of its entries."""
    found = [sum(w * vector[t] for t, w in row) for row in matrix]
    divisor = gcd(*found) or 1
    return tuple(x // divisor for x in found)


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


# --- signs ------------------------------------------------------------------------------------------

TERMS = 80  # of the series of the exponential
LARGEST = 40  # the exponent of a constant E
SMALL = 1_000  # Bernstein coefficients of a polynomial that is looked at


def with_constant(statement: WrittenClaim) -> Goal:
    """Returns the goal of a statement; a constant E has an interval that contains it.

    Raises:
        Rejected: the constant is too large, or not above 1.
    """
    if statement.exponent is None:
        return statement.goal
    if not 0 < statement.exponent <= LARGEST:
        raise Rejected("the exponent of the constant is out of range")
    low, high = exp_bounds(statement.exponent, TERMS)
    interval = Fraction(int(low * UNIT), UNIT), Fraction(int(high * UNIT) + 1, UNIT)
    return replace(statement.goal, box={**statement.goal.box, "E": interval})


def signs_of(about: Evidence, number: int) -> Signs:
    """Returns what a document shows about the signs of polynomials on a domain, given by its number."""
    if number not in about.kept:
        about.kept[number] = Signs(about, number)
    found: Signs = about.kept[number]
    return found


class Signs:
    """What a document shows about the signs of polynomials on one domain; its obligations are replayed."""

    def __init__(self, about: Evidence, number: int) -> None:
        domain = about.domain(number)
        try:
            self._goal = with_constant(domain)
        except Rejected:
            self._goal = domain.goal
        shown = [poly for poly, _ in filter(None, self._goal.conditions)]
        shown += [parse(text, self._goal.names) for own, text in about.obligations.settled if own == number]
        self._found = {multiple(plus({}, poly, Fraction(-1))): -1 for poly in shown}
        self._found |= {multiple(poly): 1 for poly in [{}, *shown]}

    def of(self, poly: Poly) -> int:
        """Returns 1 for what is shown never to be negative on the domain, −1 for never positive; else 0."""
        key = multiple(poly)
        if key not in self._found:
            degrees = {name: degree(poly, axis) for axis, name in enumerate(self._goal.names)}
            known = all(name in self._goal.box for name, d in degrees.items() if d)
            small = known and prod(d + 1 for d in degrees.values()) <= SMALL
            self._found[key] = (bernstein(self._goal, poly).weak_sign() or 0) if small else 0
        return self._found[key]
