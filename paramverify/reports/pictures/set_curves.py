"""The curve above a line of intervals for sets of outputs: the delta that is needed against its bound."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product

from flint import fmpq, fmpq_poly

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.decimals import nearest
from paramverify.algebra.polynomials import rational, substitute, variables
from paramverify.encodings.excesses import outcomes
from paramverify.errors import LimitError
from paramverify.models.measures import Approximate
from paramverify.models.model import Model
from paramverify.reports.pictures.curves import (
    EVALUATIONS,
    LEAST_POINTS,
    MOST_QUOTIENTS,
    POINTS,
    Curve,
    other_points,
    ratio_curve,
    univariate_part,
)


@dataclass(frozen=True, eq=False)
class _SetSum:
    """Σ max(0, tᵢ)/total − δ with polynomials in one parameter; `over`/`under` is δ."""

    terms: tuple[fmpq_poly, ...]
    total: fmpq_poly
    over: fmpq_poly
    under: fmpq_poly

    def needed(self, place: Fraction) -> Fraction | None:
        """Returns the delta that is needed at a place; None where a secret is impossible."""
        x = rational(place)
        total = self.total(x)
        return (
            _number(sum((max(rational(0), t(x)) for t in self.terms), rational(0)) / total) if total else None
        )

    def given(self, place: Fraction) -> Fraction:
        """Returns the delta of the case at a place, 0 where it is not defined."""
        x = rational(place)
        under = self.under(x)
        return _number(self.over(x) / under) if under else Fraction(0)


def _number(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def curve_of(model: Model, name: str) -> Curve | None:
    """Returns what the bound of a model is compared with, as a function of one parameter; None for none."""
    return delta_curve(model, name) if model.measure.by_sets else ratio_curve(model, name)


def delta_curve(model: Model, name: str) -> Curve | None:
    """Returns the largest δ that some secret pair needs as a function of one parameter.

    Where there are other parameters, it is the largest over some of their values, evenly spaced in their
    intervals. Where the δ of the case depends on these, the largest difference is drawn against 0. None where
    there are too many sums for a picture.
    """
    measure = model.measure
    assert isinstance(measure, Approximate)
    try:
        both = [d for pair in islice(outcomes(model), MOST_QUOTIENTS) for d in (pair, pair.turned)]
    except LimitError:
        return None
    others = list(other_points(model.domain.enclose(128), name))
    size = len(others) * sum(len(direction.outputs) for direction in both)
    if size > MOST_QUOTIENTS:
        return None
    ratio, delta = measure.ratio, measure.delta
    free = {*variables(delta.numerator), *variables(delta.denominator)}
    relative = not free <= {name, GENERATOR}
    sums = []
    for direction, point in product(both, others):
        parts = [
            *(p * ratio.denominator - q * ratio.numerator for p, q in direction.outputs),
            direction.total * ratio.denominator,
            delta.numerator,
            delta.denominator,
        ]
        *terms, total, over, under = (univariate_part(substitute(f, point), name) for f in parts)
        sums.append(_SetSum(tuple(terms), total, over, under))

    def largest(place: Fraction) -> float:
        known = [
            need - each.given(place) if relative else need
            for each in sums
            if (need := each.needed(place)) is not None
        ]
        return nearest(max(known)) if known else 0.0

    def bound(place: Fraction) -> float:
        return 0.0 if relative or not sums else nearest(sums[0].given(place))

    points = max(LEAST_POINTS, min(POINTS, EVALUATIONS // (2 * max(1, size))))
    fixed = not relative and not free
    label = "largest delta needed - delta" if relative else "largest delta needed"
    told = f"delta = {delta}" if fixed else "delta"
    return Curve(label, largest, bound, told, points, over="all sets of outputs and all pairs")
