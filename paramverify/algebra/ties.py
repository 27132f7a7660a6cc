"""Parameters that stand beside their exponentials: `eps` beside `x_eps = exp(−step·eps)`.

At a rational x ≠ 1 such a parameter is `−ln(x)/step`, a rational multiple of ln(b) for a rational b > 1.
That is transcendental [Lindemann82], so a polynomial in it with rational coefficients is zero only
identically, and every sign at such a point is decided by enclosures.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache

from flint import fmpq, fmpq_poly, fmpz

from paramverify.algebra.constants import GENERATOR, LogConstant, Transcendental
from paramverify.algebra.exponents import Unbounded
from paramverify.algebra.polynomials import Point, Polynomial, Ring, rational, substitute, variables
from paramverify.errors import LimitError, UnsupportedError

MAX_BITS = 20_000  # of a number whose logarithm is taken


def tied_in(ring: Ring, *polynomials: Polynomial) -> tuple[Unbounded, ...]:
    """Returns the tied parameters that occur in a polynomial of the ring."""
    if not ring.tied:
        return ()
    used = {name for f in polynomials for name in variables(f)}
    return tuple(u for u in ring.tied if u.name in used)


def refuse_ties(ring: Ring, polynomials: Iterable[Polynomial], what: str) -> None:
    """Raises an UnsupportedError if something tied occurs; `what` names who knows polynomials alone."""
    for tie in tied_in(ring, *polynomials):
        reason = f"{tie.name} stands beside {tie.meaning}, which is no polynomial"
        raise UnsupportedError(f"{reason}; {what} cannot say it")


def constant_at(ring: Ring, point: Point, polynomial: Polynomial | None = None) -> Transcendental | None:
    """Returns the number in which the value of a polynomial at a point is one; of all of the ring without it.

    It is the constant of the ring, or the logarithm of which what is tied is a rational multiple there.

    Raises:
        LimitError: there are two such numbers, and nobody knows whether they are algebraically independent.
    """
    found: dict[Fraction, None] = {}
    used = ring.names if polynomial is None else variables(polynomial)
    for tie in ring.tied:
        if tie.name in used and tie.variable in point and point[tie.variable] != 1:
            found[_root(point[tie.variable])[0]] = None
    numbers: list[Transcendental] = [LogConstant(base) for base in found]
    if ring.constant is not None and GENERATOR in used:
        numbers.append(ring.constant)
    if len(numbers) > 1:
        named = " and ".join(number.name for number in numbers)
        raise LimitError(f"{named} may be algebraically dependent: no exact number can be given here")
    return numbers[0] if numbers else None


def number_at(ring: Ring, polynomial: Polynomial, point: Point) -> fmpq_poly:
    """Returns the value of a polynomial at a point as a polynomial in the number of `constant_at`.

    Raises:
        KeyError: the point lacks a parameter of the ring.
        LimitError: see `constant_at`.
    """
    constant_at(ring, point)
    return _number_at(ring, polynomial, point)


def _number_at(ring: Ring, polynomial: Polynomial, point: Point) -> fmpq_poly:
    rest = substitute(polynomial, {name: point[name] for name in ring.parameters})
    places = [(ring.names.index(name), factor) for name, factor in _multiples_at(ring, point).items()]
    coefficients: dict[int, fmpq] = {}
    for monomial, coefficient in rest.to_dict().items():
        power = int(monomial[-1]) if ring.constant else 0
        for place, factor in places:
            power += int(monomial[place])
            coefficient *= rational(factor) ** int(monomial[place])
        coefficients[power] = coefficients.get(power, fmpq(0)) + coefficient
    return fmpq_poly([coefficients.get(k, fmpq(0)) for k in range(max(coefficients, default=0) + 1)])


def sign_at(ring: Ring, polynomial: Polynomial, point: Point) -> int:
    """Returns the sign of a polynomial at a point: -1, 0 or 1.

    Raises:
        KeyError: the point lacks a parameter of the ring.
        LimitError: two numbers of `constant_at` occur in it.
    """
    number, constant = _number_at(ring, polynomial, point), constant_at(ring, point, polynomial)
    return constant.sign(number) if constant else int(number[0] > 0) - int(number[0] < 0)


def _multiples_at(ring: Ring, point: Point) -> Mapping[str, Fraction]:
    """Returns the factor of the logarithm of `constant_at` for each tied parameter."""
    found = {}
    for tie in ring.tied:
        if tie.variable in point:
            value = point[tie.variable]
            found[tie.name] = Fraction(0) if value == 1 else _root(value)[1] / tie.step
    return found


@lru_cache(4_096)
def _root(value: Fraction) -> tuple[Fraction, int]:
    """Returns (b, k) with value = b^(−k) for 0 < value < 1, where b > 1 is no power of another rational."""
    top, bottom = value.denominator, value.numerator
    if not 0 < value < 1 or top.bit_length() > MAX_BITS:
        raise LimitError("the logarithm of this number is not taken")
    for k in range(top.bit_length(), 1, -1):
        first = _exact_root(top, k)
        second = _exact_root(bottom, k) if first else 0
        if first and second:
            return Fraction(first, second), k
    return Fraction(top, bottom), 1


def _exact_root(value: int, k: int) -> int:
    """Returns the k-th root of a positive whole number if that is whole, else 0."""
    root = int(fmpz(value).root(k)) if value > 1 else 1
    return root if root**k == value else 0
