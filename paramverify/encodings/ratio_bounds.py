"""Upper bounds on the ratio for sequences of every length, by a cone of bounded ratios ([Protasov10]).

Let K = {v ≥ 0 : v_i ≤ u_ij·v_j} hold the vector 1 and be kept by every T_ω. Then v_ω is in K for every ω, and
T_w·K for the words w of one length holds v_ω for all sequences that are at least as long. A quotient of two
linear functions with nonnegative coefficients is largest on an extreme ray.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from paramverify.algebra.cones import Vector, extreme_rays
from paramverify.algebra.polynomials import constant_value, is_constant
from paramverify.encodings.cone import Matrix, has_numbers, matrices, product
from paramverify.encodings.every_length import MARGINS, EveryLength, by_normals
from paramverify.encodings.lumping import lump
from paramverify.encodings.ratio_cones import kept_normals
from paramverify.models.model import Model
from paramverify.models.priors import InitialDistribution

MAX_STATES = 5  # as many as `checker` takes for a cone of bounded ratios
MAX_DEPTH = 5
MAX_VECTORS = 1_500  # that are looked at for one depth


@dataclass(frozen=True, eq=False)
class UpperRatio:
    """That no ratio exceeds `ratio`: the cone with these normals holds what `depth` observations precede."""

    ratio: Fraction
    small: Model
    normals: tuple[Vector, ...]
    depth: int

    def proof(self, check: Callable[[], None]) -> EveryLength:
        """Returns the claims that all hold if the ratio is at most the bound of the model."""
        return by_normals(self.small, max(1, self.depth), self.normals, check)


def upper_bound(
    model: Model, enough: Fraction, check: Callable[[], None] = lambda: None
) -> UpperRatio | None:
    """Returns b with Pr(ω | left) ≤ b · Pr(ω | right) for every sequence ω, pair and direction, or None.

    For models without parameters; None says nothing. The search ends with a bound that is `enough`. `check`
    is called all the time, and may raise an error to end the search.
    """
    small = lump(model).model
    starts = [(_row(p.pi), _row(p.tau)) for p in small.pairs]
    size = len(small.hmm.states)
    if not has_numbers(small.hmm) or size > MAX_STATES or any(None in pair for pair in starts):
        return None
    pairs = [(a, b) for a, b in starts if a is not None and b is not None]
    tables = matrices(small.hmm)
    best: UpperRatio | None = None
    for margin in reversed(MARGINS):  # wide cones are found fast
        normals = kept_normals([[_dense(t, size) for t in tables]], size, margin, check)
        if normals is None:
            return best  # narrower cones close later, or never
        # Shorter sequences than the words before the cone are looked at one by one.
        short: list[Vector] = []
        level: list[Vector] = [(1,) * size]
        behind: list[Vector] = list(extreme_rays(normals, size))
        for depth in range(MAX_DEPTH):
            check()
            found = _largest(pairs, [*short, *level, *behind])
            if found is not None and (best is None or found < best.ratio):
                best = UpperRatio(found, small, tuple(normals), depth)
            if best is not None and best.ratio <= enough:
                return best
            short += level
            level = _moved(tables, level)
            behind = _moved(tables, behind)
            if len(behind) > MAX_VECTORS or len(level) > MAX_VECTORS:
                break
        if best is None:
            return None  # a ratio of entries grows without end; other roundings say the same
    return best


def _moved(tables: Sequence[Matrix], vectors: Iterable[Vector]) -> list[Vector]:
    products = (product(table, vector) for vector in vectors for table in tables)
    return list(dict.fromkeys(v for v in products if any(v)))


def _row(start: InitialDistribution) -> dict[int, Fraction] | None:
    if not all(map(is_constant, (start.mass, *start.weights.values()))):
        return None
    mass = constant_value(start.mass)
    return {state: constant_value(weight) / mass for state, weight in start.weights.items() if weight}


def _dense(table: Matrix, size: int) -> list[list[int]]:
    return [[dict(row).get(t, 0) for t in range(size)] for row in table]


def _largest(
    pairs: Sequence[tuple[dict[int, Fraction], dict[int, Fraction]]], vectors: Sequence[Vector]
) -> Fraction | None:
    """Returns the largest quotient of a pair's two sums in either direction; None for infinity."""
    best = Fraction(0)
    for left, right in pairs:
        for vector in vectors:
            a, b = (sum((w * vector[s] for s, w in row.items()), Fraction(0)) for row in (left, right))
            if bool(a) != bool(b):
                return None
            if a:
                best = max(best, a / b, b / a)
    return best
