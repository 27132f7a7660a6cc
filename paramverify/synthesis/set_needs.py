"""What a direction of a secret pair needs at one point: the least δ for an ε, or the least ratio for a δ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

from flint import fmpq_poly

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import number_at
from paramverify.algebra.polynomials import Point, RationalFunction, rational
from paramverify.algebra.real_roots import RealRoot, compare, exact
from paramverify.algebra.reals import Real
from paramverify.divergences import PositiveParts
from paramverify.encodings.output_sums import PairOutcomes
from paramverify.evidence.witnesses import ExactSetWitness
from paramverify.models.model import Model, divergence_of

Place = Mapping[str, RealRoot]


class NeedKind(StrEnum):
    """What is looked for."""

    DELTA = "delta"
    RATIO = "ratio"


@dataclass(frozen=True, eq=False)
class LeastBound:
    """The least δ or the least ratio e^ε, and where it is needed.

    `value` is exact where it is known; else it lies between `lower` and `upper` (None: no bound was proved).
    `infinite`: no ratio is enough. `attained` tells whether a point of the domain needs it, where that is
    known. `witness` is a set of outputs that needs `value`, or at least `lower`, at a rational point.
    `proved` is a number that is enough, proved for all claims; `place` a point of the closure.
    """

    kind: NeedKind
    value: RealRoot | Real | None
    lower: Fraction
    upper: Fraction | None
    secrets: tuple[str, str]
    length: int
    place: Place = field(default_factory=dict)
    infinite: bool = False
    attained: bool | None = None
    witness: ExactSetWitness | None = None
    proved: Fraction | None = None

    def is_within(self, precision: Fraction) -> bool:
        """Tells whether it is exact, or known well enough."""
        if self.infinite or self.value is not None:
            return True
        return self.upper is not None and self.upper - self.lower <= precision * max(self.upper, Fraction(1))


def needed_at(kind: NeedKind, model: Model, direction: PairOutcomes, point: Point) -> LeastBound | None:
    """Returns what one direction needs at a point; None where a secret is impossible there.

    None as well where the bound has no value, which may be so at an end of the domain: 1/alpha at alpha = 0.
    """
    measure, constant = divergence_of(model, PositiveParts), model.domain.constant
    total = number_at(direction.total, point)
    one = fmpq_poly([1])
    given = measure.ratio if kind is NeedKind.DELTA else measure.delta
    if Real.of(total, one, constant).sign() <= 0 or not number_at(given.denominator, point):
        return None
    shares = direction.at(point)
    place = {n: exact(v) for n, v in point.items() if n != GENERATOR}

    def found(value: Real | None) -> LeastBound:
        low, high = value.enclosure() if value else (Fraction(0), None)
        number = value if value is None or value.rational is None else exact(value.rational)
        return LeastBound(
            kind,
            number,
            lower=low,
            upper=high,
            secrets=(direction.left, direction.right),
            length=direction.length,
            place=place,
            infinite=value is None,
            attained=True,
        )

    def real(function: RationalFunction) -> Real:
        top, bottom = (number_at(f, point) for f in (function.numerator, function.denominator))
        return Real.of(top, bottom, constant)

    def worst(c: Real) -> tuple[fmpq_poly, fmpq_poly]:
        """Returns the sums over the outputs with p > c·q."""
        chosen = [
            (p, q)
            for p, q in shares
            if Real.of(p * c.denominator - q * c.numerator, one, constant).sign() > 0
        ]
        return sum((p for p, _ in chosen), fmpq_poly()), sum((q for _, q in chosen), fmpq_poly())

    if kind is NeedKind.DELTA:
        c = real(measure.ratio)
        p, q = worst(c)
        top, bottom = p * c.denominator - q * c.numerator, total * c.denominator
        return found(Real.of(top, bottom, constant))
    delta, c = real(measure.delta), Real.of(one, one, constant)
    while True:  # each round takes the best ratio for the set that is worst for the last one (Newton)
        p, q = worst(c)
        top, bottom = p * delta.denominator - total * delta.numerator, q * delta.denominator
        if Real.of(top, one, constant).sign() <= 0:
            return found(c)
        if not bottom:
            return found(None)
        more = Real.of(top, bottom, constant)
        if (more - c).sign() <= 0:
            return found(c)
        c = more


def is_more(first: LeastBound, second: LeastBound) -> bool:
    """Tells whether the first bound is known to be larger."""
    if first.infinite or second.infinite:
        return first.infinite and not second.infinite
    if isinstance(first.value, Real) and isinstance(second.value, Real):
        return (first.value - second.value).sign() > 0
    if isinstance(first.value, RealRoot) and isinstance(second.value, RealRoot):
        return compare(first.value, second.value) > 0
    return first.lower > second.lower


def number_of(best: LeastBound) -> Fraction | Real | None:
    """Returns an exact value with which claims can be written."""
    if isinstance(best.value, RealRoot):
        return best.value.lower if best.value.is_rational else None
    return best.value


def real_of(best: LeastBound, model: Model) -> Real:
    """Returns a value that is a number in E, or rational."""
    if isinstance(best.value, Real):
        return best.value
    assert best.value is not None
    return Real.of(fmpq_poly([rational(best.value.lower)]), fmpq_poly([1]), model.domain.constant)
