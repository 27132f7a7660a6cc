"""The curve above a line of intervals: the largest ratio of probabilities against its bound."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product

from flint import fmpq_poly

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.decimals import nearest
from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import Polynomial, rational, substitute
from paramverify.encodings.encoding import Candidate
from paramverify.encodings.sequences import candidates
from paramverify.errors import LimitError
from paramverify.models.measures import Metric, Pure
from paramverify.models.model import Model
from paramverify.reports.pictures.fields import SAMPLES, steps

POINTS = 401
LEAST_POINTS = 41
EVALUATIONS = 400_000  # of univariate polynomials, beyond which fewer points are taken
MOST_QUOTIENTS = 20_000  # beyond which there is no curve
INFINITE = float("inf")


@dataclass(frozen=True)
class Curve:
    """A function of one parameter, and the bound that it must not pass; `points` says how fine it is."""

    label: str
    value: Callable[[Fraction], float]
    bound: Callable[[Fraction], float]
    bound_label: str = "bound"
    points: int = POINTS
    over: str = "all outputs and pairs"

    def sample(
        self, box: tuple[Fraction, Fraction], also: Sequence[float] = ()
    ) -> list[tuple[float, float, float]]:
        """Returns (place, value, bound) at evenly spaced places of the box, and at further ones inside."""
        low, high = box
        places = {low + (high - low) * t for t in steps(self.points)}
        places.update(Fraction(x) for x in also if low < Fraction(x) < high)
        return [(float(x), self.value(x), self.bound(x)) for x in sorted(places)]


def ratio_curve(model: Model, name: str) -> Curve | None:
    """Returns the largest ratio over secret pairs and outputs as a function of one parameter.

    Where there are other parameters, it is the largest over some of their values, evenly spaced in their
    intervals. Where the bound depends on these, ratio over bound is drawn against 1. None where the model
    has observation sequences of every length, or too many for a picture, or compares all outputs together.
    """
    if not isinstance(model.measure, Pure | Metric):
        return None
    found = _candidates(model)
    domain = model.domain.enclose(128)
    others = list(other_points(domain, name))
    if not found or len(found) * len(others) > MOST_QUOTIENTS:
        return None
    free = model.measure.variables
    relative = not free <= {name, GENERATOR} or isinstance(model.measure, Metric)
    bounds = [model.measure.at(c.distance).ratio for c in found]
    pairs = [(c.left, c.right) for c in found]
    if relative:
        pairs = [(c.left * b.denominator, c.right * b.numerator) for c, b in zip(found, bounds, strict=True)]
    quotients: dict[tuple[str, str], tuple[fmpq_poly, fmpq_poly]] = {}
    for left, right in pairs:
        for point in others:
            top, bottom = (univariate_part(substitute(f, point), name) for f in (left, right))
            quotients.setdefault((str(top), str(bottom)), (top, bottom))
    bound, over, under = bounds[0], fmpq_poly([1]), fmpq_poly([1])
    if not relative:
        parts = (bound.numerator, bound.denominator)
        over, under = (univariate_part(substitute(f, others[0]), name) for f in parts)

    def largest(place: Fraction) -> float:
        return max(_quotient(top, bottom, place) for top, bottom in quotients.values())

    label = "largest ratio / bound" if relative else "largest ratio"
    points = max(LEAST_POINTS, min(POINTS, EVALUATIONS // (2 * len(quotients))))
    fixed = not relative and free <= {GENERATOR} and not domain.constant
    told = f"bound {bound}" if fixed else "bound"
    return Curve(label, largest, lambda place: _quotient(over, under, place), told, points)


def _candidates(model: Model) -> list[Candidate]:
    """Returns the candidates, or none where they are too many."""
    if not model.lengths:
        return []
    try:
        found = list(islice(candidates(model), MOST_QUOTIENTS + 1))
    except LimitError:
        return []
    return found if len(found) <= MOST_QUOTIENTS else []


def other_points(domain: Domain, name: str) -> Iterator[Mapping[str, Fraction]]:
    """Yields values of all other variables, evenly spaced in their intervals."""
    places: dict[str, list[Fraction]] = {}
    others = [n for n, i in domain.box.items() if n not in (name, GENERATOR) and not i.is_point]
    for other, interval in domain.box.items():
        if other == name:
            continue
        count = SAMPLES.get(len(others), 3) if other in others else 1
        width = interval.upper - interval.lower
        places[other] = [interval.lower + width * t for t in steps(count)]
    for values in product(*places.values()):
        yield dict(zip(places, values, strict=True))


def univariate_part(polynomial: Polynomial, name: str) -> fmpq_poly:
    """Returns a polynomial in one parameter as one of python-flint."""
    axis = [str(n) for n in polynomial.context().names()].index(name)
    terms = {int(m[axis]): c for m, c in polynomial.to_dict().items()}
    return fmpq_poly([terms.get(k, 0) for k in range(max(terms, default=0) + 1)])


def _quotient(top: fmpq_poly, bottom: fmpq_poly, place: Fraction) -> float:
    """Returns the quotient, rounded: infinite over zero, and zero where both are zero."""
    at = rational(place)
    above, below = top(at), bottom(at)
    if below == 0:
        return INFINITE if above > 0 else 0.0
    value = above / below
    return nearest(Fraction(int(value.p), int(value.q)))
