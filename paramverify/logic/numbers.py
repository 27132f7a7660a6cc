"""Values of a model as polynomials of the domain's ring and as exact real numbers."""

from __future__ import annotations

from flint import fmpq_poly

from paramverify.algebra.polynomials import RationalFunction, Ring, in_generator
from paramverify.errors import DefectError
from paramverify.models.chains.chain import Value
from paramverify.models.evaluation import Real


def in_ring(value: Value, ring: Ring) -> RationalFunction:
    """Returns a flint rational or a rational function as a rational function of the ring."""
    if isinstance(value, RationalFunction):
        return value
    return RationalFunction.of(ring.context.constant(value))


def real(value: Value, ring: Ring) -> Real:
    """Returns a value without parameters as an exact real number."""
    if not isinstance(value, RationalFunction):
        return Real.of(fmpq_poly([value]), fmpq_poly([1]), ring.constant)
    top, bottom = in_generator(value.numerator), in_generator(value.denominator)
    if (ring.constant.sign(bottom) if ring.constant else (bottom[0] > 0) - (bottom[0] < 0)) < 0:
        top, bottom = -top, -bottom
    return Real.of(top, bottom, ring.constant)


def sign(value: Value, ring: Ring) -> int:
    """Returns the sign of a value without parameters, exactly."""
    if not isinstance(value, RationalFunction):
        return int(value > 0) - int(value < 0)
    if ring.parameters:
        raise DefectError("the sign of a function of parameters was asked for")
    return real(value, ring).sign()
