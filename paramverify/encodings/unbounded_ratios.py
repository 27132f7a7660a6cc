"""Proofs that no budget is enough: a loop of observations that one secret makes likelier every time.

For the family u·wⁿ·z, n = 0, 1, 2, ..., and a state s,

    Pr(u wⁿ z | left)  ≥ (π·T_u)(s) · aⁿ · (T_z·1)(s)    with a = T_w[s,s],
    Pr(u wⁿ z | right) ≤ bⁿ · (τ·T_u)·x                   if T_w·x ≤ b·x and T_z·1 ≤ x on some states,

up to one factor for both that depends on the length only. So with a > b the ratio grows beyond every bound,
at least like (a/b)ⁿ. The states are those that τ·T_u reaches by any number of loops. All of this is about one
prior; one is enough to refute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product
from typing import Any

from flint import fmpq, fmpq_mat

from paramverify.algebra.polynomials import constant_value, is_constant
from paramverify.claims import Origin
from paramverify.encodings.cone import Matrix, has_numbers, matrices, stated
from paramverify.encodings.point_violations import at_point
from paramverify.evidence.certificates import text
from paramverify.models.context import sample_points
from paramverify.models.model import Model
from paramverify.models.priors import InitialDistribution

MAX_LOOP = 3
MAX_WORDS = 2_000
MAX_PAIRS = 100
MAX_POINTS = 4

Row = dict[int, Fraction]


@dataclass(frozen=True)
class Loop:
    """Pr(u wⁿ z | left) / Pr(u wⁿ z | right) ≥ factor · growth^n for every n, at one point of the domain.

    `state`, `bounds` (x by state) and `rates` (a, b) are what shows it; `growth` = a/b > 1. The observations
    and states are numbers of the model that was given.
    """

    left: str
    right: str
    point: tuple[tuple[str, Fraction], ...]
    prefix: tuple[int, ...]
    loop: tuple[int, ...]
    suffix: tuple[int, ...]
    state: int
    bounds: tuple[tuple[int, Fraction], ...]
    rates: tuple[Fraction, Fraction]
    factor: Fraction

    @property
    def growth(self) -> Fraction:
        """The factor by which the ratio grows, at least, with every loop."""
        return self.rates[0] / self.rates[1]

    def sequence(self, n: int) -> tuple[int, ...]:
        """Returns u·wⁿ·z."""
        return self.prefix + self.loop * n + self.suffix

    def beyond(self, bound: Fraction) -> int:
        """Returns the smallest n for which the ratio is shown to be larger than the bound."""
        n, value = 0, self.factor
        while value <= bound:
            n, value = n + 1, value * self.growth
        return n

    def origin(self, model: Model, n: int) -> Origin:
        """Returns the secrets and the sequence with n loops, in words."""
        return Origin(self.left, self.right, tuple(model.hmm.observations[o] for o in self.sequence(n)))


def no_budget(model: Model, check: Callable[[], None] = lambda: None) -> Loop | None:
    """Returns a proof that the ratio is unbounded over all lengths, for some prior of the domain; or None.

    None says nothing. Loops of at most `MAX_LOOP` observations are tried, short and steep ones first.
    `check` is called all the time, and may raise an error to end the search.
    """
    for point in islice(sample_points(model.domain), MAX_POINTS):
        fixed = at_point(model, point)
        if not has_numbers(fixed.hmm):
            return None
        named = tuple((n, point[n]) for n in model.domain.ring.parameters)
        search = _NoBudgetSearch(fixed, named, matrices(fixed.hmm), check)
        for size in range(1, MAX_LOOP + 1):
            best = max(search.loops(size), key=_steepness, default=None)
            if best:
                return best
    return None


def _steepness(found: Loop) -> tuple[Fraction, int, Fraction]:
    return found.growth, -len(found.prefix) - len(found.suffix), found.factor


@dataclass
class _NoBudgetSearch:
    model: Model
    point: tuple[tuple[str, Fraction], ...]
    tables: tuple[Matrix, ...]
    check: Callable[[], None]

    def loops(self, size: int) -> Iterator[Loop]:
        """Yields loops of one length, the steepest for each direction, prefix, suffix and word."""
        count = len(self.tables)
        ends = [(), *((o,) for o in range(count))]
        sums = {z: self._after(z) for z in ends}
        words = list(islice(product(range(count), repeat=size), MAX_WORDS))
        powers: dict[tuple[int, ...], _Power] = {}
        for w in words:
            self.check()
            powers[w] = _Power(self._matrix(w))
        for pair in self.model.pairs[:MAX_PAIRS]:
            for one, other, left, right in (
                (pair.left, pair.right, pair.pi, pair.tau),
                (pair.right, pair.left, pair.tau, pair.pi),
            ):
                for u in ends:
                    first, second = self._row(left, u), self._row(right, u)
                    if not first:
                        continue
                    for w in words:
                        self.check()
                        for z in ends:
                            found = self._loop(first, second, powers[w], sums[z])
                            if found:
                                state, bounds, rates, factor = found
                                yield Loop(
                                    one,
                                    other,
                                    self.point,
                                    prefix=u,
                                    loop=w,
                                    suffix=z,
                                    state=state,
                                    bounds=bounds,
                                    rates=rates,
                                    factor=factor,
                                )

    def _loop(
        self, left: Row, right: Row, power: _Power, after: list[Fraction]
    ) -> tuple[int, tuple[tuple[int, Fraction], ...], tuple[Fraction, Fraction], Fraction] | None:
        matrix = power.rows
        usable = [s for s in left if after[s] and matrix[s].get(s)]
        if not usable:
            return None
        state = max(usable, key=lambda s: matrix[s][s])
        a = matrix[state][state]
        states = sorted(_reached(matrix, right))
        if not any(after[s] for s in states):
            return None  # then the right side is zero, which is a violation of another kind
        bound = _bound(power, states, after, a)
        if bound is None:
            return None
        b, x = bound
        total = sum((weight * x[s] for s, weight in right.items()), Fraction(0))
        if not total:
            return None
        return state, tuple(x.items()), (a, b), left[state] * after[state] / total

    def _row(self, start: InitialDistribution, word: Sequence[int]) -> Row:
        """Returns the conditioned prior times T_word, with numbers."""
        if not all(map(is_constant, (start.mass, *start.weights.values()))):
            return {}  # a weight with `E` is no number
        mass = constant_value(start.mass)
        row = {s: constant_value(w) / mass for s, w in start.weights.items() if w}
        for observation in word:
            moved: Row = {}
            for state, weight in row.items():
                for successor, entry in self.tables[observation][state]:
                    moved[successor] = moved.get(successor, Fraction(0)) + weight * entry
            row = moved
        return row

    def _after(self, word: Sequence[int]) -> list[Fraction]:
        """Returns T_word · 1."""
        vector = [Fraction(1)] * len(self.model.hmm.states)
        for observation in reversed(word):
            table = self.tables[observation]
            vector = [sum((w * vector[t] for t, w in row), Fraction(0)) for row in table]
        return vector

    def _matrix(self, word: Sequence[int]) -> list[Row]:
        rows: list[Row] = [{s: Fraction(1)} for s in range(len(self.model.hmm.states))]
        for observation in word:
            table = self.tables[observation]
            moved: list[Row] = []
            for row in rows:
                new: Row = {}
                for state, weight in row.items():
                    for successor, entry in table[state]:
                        new[successor] = new.get(successor, Fraction(0)) + weight * entry
                moved.append(new)
            rows = moved
        return rows


def _reached(matrix: list[Row], start: Row) -> set[int]:
    found, pending = set(start), list(start)
    while pending:
        for successor in matrix[pending.pop()]:
            if successor not in found:
                found.add(successor)
                pending.append(successor)
    return found


class _Power:
    """The matrix of a word, with what was solved about it: that is the same for all ends of the loop."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows
        self.sums = [sum(row.values(), Fraction(0)) for row in rows]
        self._inverses: dict[tuple[tuple[int, ...], Fraction], fmpq_mat | None] = {}

    def inverse(self, states: list[int], b: Fraction) -> fmpq_mat | None:
        """Returns (b - T)^(-1) on the states, or None where there is none."""
        key = (tuple(states), b)
        if key not in self._inverses:
            zero = Fraction(0)
            entries = [
                _flint((b if i == j else zero) - self.rows[i].get(j, zero)) for i in states for j in states
            ]
            system = fmpq_mat(len(states), len(states), entries)
            self._inverses[key] = system.inv() if system.det() != 0 else None
        return self._inverses[key]


def _bound(
    power: _Power, states: list[int], after: list[Fraction], a: Fraction
) -> tuple[Fraction, dict[int, Fraction]] | None:
    """Returns b < a and x ≥ 0 with T·x ≤ b·x and `after` ≤ x on the states, if they are found."""
    top = max(after[s] for s in states)
    b = max(power.sums[s] for s in states)
    if 0 < b < a:
        return b, dict.fromkeys(states, top)
    least = [_flint(after[s]) for s in states]
    for eighths in range(4, 8):
        # x = Σ_k (T/b)^k·y solves T·x = b·(x − y). If it is not negative, T·x ≤ b·x, and then x ≥ y too.
        b = a * eighths / 8
        inverse = power.inverse(states, b)
        if inverse is None:
            continue
        solved = (inverse * (_flint(b) * fmpq_mat(len(states), 1, least))).entries()
        if all(v >= 0 and v >= y for v, y in zip(solved, least, strict=True)):
            return b, {s: Fraction(int(v.p), int(v.q)) for s, v in zip(states, solved, strict=True)}
    return None


def _flint(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)


def certificate(model: Model, loop: Loop) -> dict[str, Any]:
    """Returns the certificate that the ratio is unbounded; the model in it is the one at the loop's point."""
    content = {
        "point": {name: text(value) for name, value in loop.point},
        "secrets": [loop.left, loop.right],
        "prefix": list(loop.prefix),
        "loop": list(loop.loop),
        "suffix": list(loop.suffix),
        "state": loop.state,
        "bounds": {str(s): text(x) for s, x in loop.bounds},
        "rates": [text(rate) for rate in loop.rates],
        "factor": text(loop.factor),
    }
    return stated(at_point(model, dict(loop.point)), "loop", content)
