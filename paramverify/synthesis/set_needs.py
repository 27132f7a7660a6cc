"""What a direction of a secret pair needs at one point: the least δ for an ε, or the least ratio for a δ."""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction

from flint import fmpq_poly

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import number_at
from paramverify.algebra.exact_numbers import ExactNumber
from paramverify.algebra.polynomials import Point, RationalFunction, rational
from paramverify.algebra.real_roots import RealRoot, compare, exact
from paramverify.algebra.reals import Real
from paramverify.bounds import Bounds
from paramverify.claims import AllOutputs
from paramverify.divergences import PositiveParts
from paramverify.encodings.output_sums import PairOutcomes
from paramverify.evidence.witnesses import ExactSetWitness
from paramverify.models.model import Model, divergence_of


class NeedKind(StrEnum):
    """What is looked for."""

    DELTA = "delta"
    RATIO = "ratio"


SetBounds = Bounds[ExactSetWitness, Fraction]  # proved: a number that is enough, for all claims


def needed_at(kind: NeedKind, model: Model, direction: PairOutcomes, point: Point) -> SetBounds | None:
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

    def found(value: Real | None) -> SetBounds:
        number = ExactNumber(value)
        origin = AllOutputs(direction.left, direction.right, length=direction.length)
        return SetBounds(kind.value, number, number, True, origin=origin, place=place)

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


def is_more(first: SetBounds, second: SetBounds) -> bool:
    """Tells whether the first bound is known to be larger."""
    if first.infinite or second.infinite:
        return first.infinite and not second.infinite
    one, other = first.number, second.number
    if isinstance(one, Real) and isinstance(other, Real):
        return (one - other).sign() > 0
    if isinstance(one, RealRoot) and isinstance(other, RealRoot):
        return compare(one, other) > 0
    return first.low > second.low


def number_of(best: SetBounds) -> Fraction | Real | None:
    """Returns the lower end if it is a number with which claims can be written."""
    number = best.number
    if isinstance(number, RealRoot):
        return number.lower if number.is_rational else None
    return number


def real_of(best: SetBounds, model: Model) -> Real:
    """Returns the lower end as a number in E; a rational number stands for one that is irrational."""
    number = best.number
    if isinstance(number, Real):
        return number
    return Real.of(fmpq_poly([rational(best.low)]), fmpq_poly([1]), model.domain.constant)
