"""Where claims fail on a plane, as a field of numbers with exact signs: boundary curves are drawn from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING, Any

from flint import fmpz, fmpz_mat

from paramverify.algebra.bernstein import BernsteinForm, bernstein_form, rotate
from paramverify.algebra.domains import Domain, Interval
from paramverify.algebra.polynomials import Polynomial, substitute, variables
from paramverify.claims import Claim

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
