"""The curves above a line of intervals, and the exact signs that boundary curves on a plane are drawn
from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product
from math import comb
from typing import TYPE_CHECKING, Any

from flint import fmpq, fmpq_poly, fmpz, fmpz_mat

from paramverify.algebra.bernstein import BernsteinForm, bernstein_form, rotate
from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Domain, Interval
from paramverify.algebra.polynomials import Polynomial, rational, substitute, variables
from paramverify.algebra.rationals import nearest
from paramverify.claims import Claim
from paramverify.divergences import DistanceBound, MaxDivergence, PositiveParts
from paramverify.encodings.encoding import Candidate
from paramverify.encodings.output_sums import outcomes
from paramverify.encodings.sequences import candidates
from paramverify.errors import LimitError
from paramverify.models.model import AnyModel, Model, divergence_of, is_about

if TYPE_CHECKING:
    from numpy.typing import NDArray

INSET = Fraction(1, 4096)  # of the width of the box: claims may vanish on its border, which says nothing
SAMPLES = {0: 1, 1: 17, 2: 5}  # values of each quantified parameter, by their number; 3 if there are more
DOUBTFUL = 1e-12
SMALLEST = 1e-290


def steps(count: int) -> list[Fraction]:
    """Returns evenly spaced places in the unit interval, the first and the last a little inside."""
    if count == 1:
        return [Fraction(1, 2)]
    inner = [Fraction(k, count - 1) for k in range(1, count - 1)]
    return [INSET, *inner, 1 - INSET]


def failure_field(
    claims: Iterable[Claim],
    plane: Sequence[str],
    box: Sequence[tuple[Fraction, Fraction]],
    places: Sequence[Fraction],
    also: Mapping[str, Sequence[Fraction]] | None = None,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Returns two arrays with one row for each place up and one column for each place across the plane.

    An entry of the first is negative iff some claim fails there for some of the values of the other
    parameters that were tried (evenly spaced, and those of `also`); one of the second is negative iff none of
    these is in the closure of the domain. Places are fractions of the width of the box. Each polynomial is
    scaled by the sum of the absolute values of its Bernstein terms at the point, so entries are between -1
    and 1 and comparable, and factors that vanish on the border of the box do not flatten the array there.
    """
    import numpy as np

    shape = (len(places), len(places))
    failing, inside = np.ones(shape), np.full(shape, -1.0)
    area = {name: Interval(low, high, True, True) for name, (low, high) in zip(plane, box, strict=True)}
    by_domain: dict[int, list[Claim]] = {}
    for claim in claims:
        by_domain.setdefault(id(claim.domain), []).append(claim)
    for group in by_domain.values():
        space = _Space(group[0].domain, area, places, also or {})
        allowed = space.allowed()
        inside = np.maximum(inside, allowed.max(axis=0))
        for claim in group:
            values = space.values(claim.polynomial)
            if values is not None:
                failing = np.minimum(failing, np.where(allowed >= 0, values, 1.0).min(axis=0))
    return failing, inside if by_domain else np.ones(shape)


class _Space:
    """The points at which the claims over one domain are evaluated: those of the plane, times the samples.

    Arrays have the axes (sample, up, across).
    """

    def __init__(
        self,
        domain: Domain,
        area: Mapping[str, Interval],
        places: Sequence[Fraction],
        also: Mapping[str, Sequence[Fraction]],
    ) -> None:
        domain = domain.enclose(128)
        across, up = area
        self.domain = domain
        self.fixed = {n: i.lower for n, i in domain.box.items() if i.is_point and n not in area}
        self.box = {n: area.get(n, i) for n, i in domain.box.items() if n not in self.fixed}
        others = [name for name in self.box if name not in area]
        self.order = [*others, up, across]
        quantified = [name for name in others if name in domain.ring.parameters]
        self.places: dict[str, Sequence[Fraction]] = {across: places, up: places}
        for name in others:
            interval = self.box[name]
            count = SAMPLES.get(len(quantified), 3) if name in quantified else 1
            extra = [(v - interval.lower) / (interval.upper - interval.lower) for v in also.get(name, ())]
            self.places[name] = sorted({*steps(count), *(t for t in extra if 0 < t < 1)})
        samples = 1
        for name in others:
            samples *= len(self.places[name])
        self.shape = (samples, len(places), len(places))

    def allowed(self) -> NDArray[Any]:
        """Returns the least scaled value of the constraints: nonnegative in the closure of the domain."""
        import numpy as np

        result = np.ones(self.shape)
        for constraint in self.domain.constraints:
            values = self.values(constraint.polynomial)
            if values is not None:
                result = np.minimum(result, values)
        return result

    def values(self, polynomial: Polynomial) -> NDArray[Any] | None:
        """Returns the scaled values with their exact signs, or None if the polynomial is nowhere negative."""
        import numpy as np

        polynomial = substitute(polynomial, self.fixed)
        form = bernstein_form(polynomial, self.box)
        if min(form.entries) >= 0:
            return None
        if max(form.entries) <= 0:
            return np.full(self.shape, -1.0)
        names = variables(polynomial)
        values = _rounded(form, [self.places[n] for n in names])
        if values is None:
            values = _exact(form, [self.places[n] for n in names])
        occurring = [name for name in self.order if name in names]
        values = values.transpose([names.index(name) for name in occurring])
        sizes = [len(self.places[name]) for name in self.order]
        own = [size if name in names else 1 for name, size in zip(self.order, sizes, strict=True)]
        return np.broadcast_to(values.reshape(own), sizes).reshape(self.shape)


def _rounded(form: BernsteinForm, places: Sequence[Sequence[Fraction]]) -> NDArray[Any] | None:
    """Returns the scaled values in floating point, or None where a sign is in doubt.

    With unit roundoff u, all entries b and basis values B have a relative error of at most u (one division of
    integers each), and the sums over n axes of degrees d are products of matrices. So V = Σ bB and W = Σ |b|B
    have an error of at most (Σd + 4n + 4)·u·W to first order, far below `DOUBTFUL`·W for the degrees that
    are allowed here; what underflows adds less than 1e-300 to sums that are above `SMALLEST`.
    """
    import numpy as np

    if sum(form.degrees) > 2_000:
        return None
    largest = max(abs(int(entry)) for entry in form.entries)
    scaled = [int(entry) / largest for entry in form.entries]
    value = np.array(scaled).reshape([d + 1 for d in form.degrees])
    size = np.abs(value)
    for degree, ts in zip(form.degrees, places, strict=True):
        bottom = [t.denominator**degree for t in ts]
        rows = [[b / s for b in row] for row, s in zip(_basis(degree, ts), bottom, strict=True)]
        basis = np.array(rows).T
        value = np.tensordot(value, basis, axes=(0, 0))  # this axis goes to the end
        size = np.tensordot(size, basis, axes=(0, 0))
    if size.min() < SMALLEST:
        return None
    quotient = value / size
    return None if np.abs(quotient).min() < DOUBTFUL else quotient


def _exact(form: BernsteinForm, places: Sequence[Sequence[Fraction]]) -> NDArray[Any]:
    """Returns the scaled values from exact sums, rounded once; a zero is a claim that holds, so positive."""
    import numpy as np

    value, size = form.entries, [abs(entry) for entry in form.entries]
    for degree, ts in zip(form.degrees, places, strict=True):
        matrix = fmpz_mat(len(ts), degree + 1, [fmpz(b) for row in _basis(degree, ts) for b in row])
        value, size = rotate(matrix, value), rotate(matrix, size)
    quotients = [
        int(v) / int(w) or (-SMALLEST if v < 0 else SMALLEST) for v, w in zip(value, size, strict=True)
    ]
    return np.array(quotients).reshape([len(ts) for ts in places])


def _basis(degree: int, places: Sequence[Fraction]) -> list[list[int]]:
    """Returns the Bernstein basis polynomials at t = p/m, times m^degree: C(d,i)·p^i·(m−p)^(d−i)."""
    return [
        [
            comb(degree, i) * t.numerator**i * (t.denominator - t.numerator) ** (degree - i)
            for i in range(degree + 1)
        ]
        for t in places
    ]


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


def ratio_curve(model: AnyModel, name: str) -> Curve | None:
    """Returns the largest ratio over secret pairs and outputs as a function of one parameter.

    Where there are other parameters, it is the largest over some of their values, evenly spaced in their
    intervals. Where the bound depends on these, ratio over bound is drawn against 1. None where the model
    has observation sequences of every length, or too many for a picture, or compares all outputs together.
    """
    if not is_about(model, MaxDivergence, DistanceBound):
        return None
    found = _candidates(model)
    domain = model.domain.enclose(128)
    others = list(other_points(domain, name))
    if not found or len(found) * len(others) > MOST_QUOTIENTS:
        return None
    free = model.measure.variables
    relative = not free <= {name, GENERATOR} or bool(model.measure.distances)
    bounds = [model.ratio_bound(c.distance).ratio for c in found]
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


def curve_of(model: AnyModel, name: str) -> Curve | None:
    """Returns what the bound of a model is compared with, as a function of one parameter; None for none."""
    if is_about(model, PositiveParts):
        return delta_curve(model, name)
    return ratio_curve(model, name)


def delta_curve(model: Model, name: str) -> Curve | None:
    """Returns the largest δ that some secret pair needs as a function of one parameter.

    Where there are other parameters, it is the largest over some of their values, evenly spaced in their
    intervals. Where the δ of the case depends on these, the largest difference is drawn against 0. None where
    there are too many sums for a picture.
    """
    measure = divergence_of(model, PositiveParts)
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
