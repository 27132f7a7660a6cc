"""What the bound of a case is where the ratio comes near to it: only where it is above 1 is it tight.

Under two secrets the probabilities of all outputs sum to 1, so some ratio is at least 1 at every point.
Where the bound tends to 1, the largest ratio does so too, and the supremum of ratio/bound is 1 whatever the
bound is elsewhere: 1/alpha**50 is 1 at alpha = 1, and so is 1/alpha. Where the bound b is above 1 and
ratio/bound tends to 1, no c·b with c < 1 and no power b^k with k < 1 is a bound.
"""

from __future__ import annotations

from fractions import Fraction

from flint import fmpq_poly

from paramverify.algebra.domains import number_at
from paramverify.algebra.reals import Real
from paramverify.bounds import ClosureLimit, Place
from paramverify.claims import Origin
from paramverify.divergences import MaxDivergence
from paramverify.models.model import Model


def beside(model: Model, origin: Origin, place: Place) -> ClosureLimit:
    """Returns the bound of a model for a pair of secrets at a place of the closure."""
    if any(not root.is_rational for root in place.values()):
        return ClosureLimit(place, None)
    box = model.domain.box
    if model.domain.constraints and not place.keys() >= set(model.domain.ring.parameters):
        return ClosureLimit(place, None)
    point = {name: box[name].simplest() for name in model.domain.ring.parameters}
    point |= {name: root.lower for name, root in place.items()}
    ratio, constant = _bound(model, origin).ratio, model.domain.constant
    top, bottom = (number_at(f, point) for f in (ratio.numerator, ratio.denominator))
    above, below = (Real(f, fmpq_poly([1]), constant).sign() for f in (top, bottom))
    if not below:
        return ClosureLimit(place, None, grows=bool(above))
    return ClosureLimit(
        place, Real.of(top, bottom, constant) if below > 0 else Real.of(-top, -bottom, constant)
    )


def _bound(model: Model, origin: Origin) -> MaxDivergence:
    """Returns the bound of the two secrets of an origin."""
    if not model.measure.distances:
        return model.ratio_bound()
    wanted = {origin.left, origin.right}
    return model.ratio_bound(next(p.distance for p in model.pairs if {p.left, p.right} == wanted))


def is_one(value: object) -> bool:
    """Tells whether an exact supremum is 1."""
    if isinstance(value, Real):
        return value.rational == 1
    return value is not None and getattr(value, "lower", None) == getattr(value, "upper", None) == Fraction(1)
