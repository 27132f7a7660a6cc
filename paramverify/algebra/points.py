"""One parameter point: values, signs and membership, exactly, with `E` as the number that it stands for.

A point gives every parameter by name; what it says besides, also about `E`, is not looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from flint import fmpq_poly

from paramverify.algebra import ties
from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import (
    Point,
    Polynomial,
    Ring,
    in_generator,
    rational,
    substitute,
    value_at,
    variables,
)
from paramverify.algebra.ties import tied_in
from paramverify.errors import InputError


def number_at(polynomial: Polynomial, point: Point) -> fmpq_poly:
    """Returns the value of a polynomial at a point, as a polynomial in `E`; what is tied may not occur.

    Raises:
        KeyError: the point lacks a parameter of the ring.
    """
    names = [str(name) for name in polynomial.context().names()]
    given = {name: point[name] for name in names if name != GENERATOR and name in point}
    if len(given) < len(names) - (GENERATOR in names):
        missing = set(names) - given.keys() - {GENERATOR}
        if missing.intersection(variables(polynomial)):
            raise KeyError(*missing)
        given |= dict.fromkeys(missing, Fraction(0))
    if len(given) == len(names):
        return fmpq_poly([rational(value_at(polynomial, given))])
    return in_generator(substitute(polynomial, given))


def sign_at(domain: Domain, polynomial: Polynomial, point: Point) -> int:
    """Returns the sign of a polynomial of the domain's ring at a point: -1, 0 or 1.

    Raises:
        KeyError: the point lacks a parameter of the ring.
        LimitError: what is tied has no exact value there; see `ties.constant_at`.
    """
    if tied_in(domain.ring, polynomial):
        return ties.sign_at(domain.ring, polynomial, point)
    if domain.constant is not None:
        return domain.constant.sign(number_at(polynomial, point))
    value = value_at(polynomial, point)
    return int(value > 0) - int(value < 0)


def contains(domain: Domain, point: Point) -> bool:
    """Tells whether a point that gives every parameter is in the domain."""
    box = {name: i for name, i in domain.box.items() if name != GENERATOR or domain.constant is None}
    if not all(name in point and point[name] in interval for name, interval in box.items()):
        return False
    for constraint in domain.constraints:
        sign = sign_at(domain, constraint.polynomial, point)
        if sign < 0 or (sign == 0 and constraint.strict):
            return False
    return True


def check_names(ring: Ring, point: Mapping[str, Fraction]) -> None:
    """Raises an InputError if a point names what is no parameter of a ring, with the names that are."""
    for name in point:
        if name not in ring.parameters:
            for unbounded in ring.unbounded:
                if name == unbounded.name:
                    reason = f"give {unbounded.variable} instead, which stands for {unbounded.meaning}"
                    raise InputError(f"{name} has no rational points: {reason}")
            known = ", ".join(ring.parameters) or "none"
            raise InputError(f"there is no parameter {name!r}; there are: {known}")


def in_words(point: Point) -> str:
    """Returns a point as people read it, such as `p = 1/2, q = 0`; nothing for one without parameters."""
    return ", ".join(f"{name} = {rational(value)}" for name, value in point.items())
