"""Quotients of probabilities, as they are and in lowest terms on the branches of a domain.

The numbers that a supremum can be, and how they are compared.

The proof of a budget: a case with its bound replaced by a number, decided like any other case.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from flint import fmpq, fmpq_poly, fmpz, fmpz_poly

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domain_branches import Branch
from paramverify.algebra.polynomials import (
    Polynomial,
    constant_value,
    in_generator,
    key,
    rational,
    substitute,
    value_at,
    variables,
)
from paramverify.algebra.real_roots import RealRoot, compare, exact, univariate
from paramverify.algebra.reals import Real
from paramverify.answers import Decision
from paramverify.bounds import Bounds, Place, Value
from paramverify.claims import Claim, Origin
from paramverify.divergences import Quotients
from paramverify.evidence.witnesses import Evaluated
from paramverify.models.context import sample_points
from paramverify.models.model import Model, OnDomain, divergence_of

Bound = Fraction | Real


@dataclass(frozen=True, eq=False)
class BranchQuotient:
    """A quotient on one branch of the domain: left/right there, and a/b in lowest terms with b ≥ 0."""

    branch: Branch
    left: Polynomial
    right: Polynomial
    a: Polynomial
    b: Polynomial

    @staticmethod
    def of(quotient: Quotient, branch: Branch) -> BranchQuotient:
        """Returns the quotient on the branch."""
        left, right = branch.restrict(quotient.left), branch.restrict(quotient.right)
        if not left:
            return BranchQuotient(branch, left, right, left, right)
        common = left.gcd(right) if left and right else left * 0 + 1
        a, b = left / common, right / common
        point = next((p for p in sample_points(branch.domain) if value_at(b, p)), None) if b else None
        if point is not None and value_at(b, point) < 0:
            a, b = -a, -b
        return BranchQuotient(branch, left, right, a, b)

    @property
    def names(self) -> list[str]:
        """The parameters that occur in lowest terms, `E` excepted."""
        used = {*variables(self.a), *variables(self.b)}
        return [n for n in self.branch.domain.ring.parameters if n in used]

    def full(self, place: Place) -> Place:
        """Returns the place with the parameters that are fixed or replaced on the branch, where rational."""
        if any(not root.is_rational for root in place.values()):
            constant = {n: i for n, i in self.branch.images.items() if not variables(i)}
            return {
                **{n: exact(constant_value(i)) for n, i in constant.items()},
                **place,
            }
        free = {n: i.simplest() for n, i in self.branch.domain.box.items() if n not in self.branch.images}
        point = self.branch.lift(free | {n: r.lower for n, r in place.items()})
        return {n: exact(v) for n, v in point.items() if n in place or n in self.branch.images}

    def value_at(self, point: Mapping[str, Fraction]) -> Real | None:
        """Returns a/b at a point of the closed box that gives the parameters; None where b is zero."""
        point = {n: v for n, v in point.items() if n != GENERATOR}
        constant = self.branch.domain.constant
        top, bottom = (in_generator(substitute(f, point)) for f in (self.a, self.b))
        if not bottom or (constant and constant.sign(bottom) == 0):
            return None
        if (constant.sign(bottom) if constant else bottom[0]) < 0:
            top, bottom = -top, -bottom
        return Real.of(top, bottom, constant)


@dataclass(frozen=True, eq=False)
class Quotient:
    """Two polynomials whose quotient is the ratio where the right one is positive; it is nowhere negative."""

    left: Polynomial
    right: Polynomial
    origin: Origin

    def mentions(self, names: Collection[str]) -> bool:
        """Tells whether one of some variables occurs."""
        return any(name in names for f in (self.left, self.right) for name in variables(f))


def sampled(
    quotient: Quotient, points: Sequence[Mapping[str, Fraction]]
) -> tuple[Fraction, dict[str, Fraction]]:
    """Returns the largest value of left/right at points where the right side is not zero, and the point."""
    best: tuple[Fraction, dict[str, Fraction]] = Fraction(-1), {}
    for point in points:
        below = value_at(quotient.right, point)
        if below:
            value = value_at(quotient.left, point) / below
            if value > best[0]:
                best = value, dict(point)
    return best


def distinct(
    found: Iterable[Quotient], parts: Sequence[Branch]
) -> Iterator[tuple[Quotient, Quotient | None]]:
    """Yields the quotients that differ in lowest terms, each with the sum of those that do not.

    Only on branches that are boxes; elsewhere what is divided out may be zero wherever it matters.
    """
    boxes = all(branch.is_box for branch in parts)
    groups: dict[tuple[tuple[str, str], ...], list[Quotient]] = {}
    for quotient in found:
        names = []
        for branch in parts:
            left, right = branch.restrict(quotient.left), branch.restrict(quotient.right)
            common = left.gcd(right) if boxes and left and right else left * 0 + 1
            a, b = left / common, right / common
            scale = max((abs(c) for c in (*b.coeffs(), *a.coeffs())), default=1)
            if a and a.leading_coefficient() < 0:
                scale = -scale
            names.append((key(a / scale), key(b / scale)))
        groups.setdefault(tuple(names), []).append(quotient)
    for alike in groups.values():
        first, total = alike[0], None
        if len(alike) > 1:
            left, right = first.left * 0, first.left * 0
            for quotient in alike:
                left, right = left + quotient.left, right + quotient.right
            total = Quotient(left, right, first.origin)
        yield first, total


def as_polynomials(bound: Bound, model: OnDomain) -> tuple[Polynomial, Polynomial]:
    """Returns the numerator and the positive denominator of a bound in the model's ring."""
    ring = model.domain.ring
    if isinstance(bound, Fraction):
        return ring.number(bound.numerator), ring.number(bound.denominator)
    zeros = (0,) * len(ring.parameters)

    def lift(polynomial: fmpq_poly) -> Polynomial:
        coefficients = polynomial.coeffs()
        return ring.context.from_dict(
            {(*zeros, k) if ring.constant else zeros: c for k, c in enumerate(coefficients)}
        )

    return lift(bound.numerator), lift(bound.denominator)


def inside(part: BranchQuotient, place: Place) -> bool:
    """Tells whether a branch that is a box has the place, and both secrets and the output are possible there.

    The right side, Pr(ω|right) times both masses, is positive there iff all three are; the supremum is finite
    and positive, so the left side is then, too.
    """
    box = part.branch.domain.box
    if any(root.is_rational and root.lower not in box[name] for name, root in place.items()):
        return False
    return _nonzero(part.right, place)


def _nonzero(polynomial: Polynomial, place: Place) -> bool:
    """Tells whether a polynomial does not vanish at a place with at most one irrational coordinate.

    Where it has parameters that the place does not give: whether it does not for some values of them.
    """
    rest = substitute(polynomial, {n: r.lower for n, r in place.items() if r.is_rational})
    irrational = next(((n, r.factor) for n, r in place.items() if not r.is_rational), None)
    if not rest or irrational is None:
        return bool(rest)
    name, factor = irrational
    axis = [str(n) for n in rest.context().names()].index(name)
    by_others: dict[tuple[int, ...], dict[tuple[int, ...], fmpq]] = {}
    for monomial, coefficient in rest.to_dict().items():
        others = (*monomial[:axis], 0, *monomial[axis + 1 :])
        own = tuple(int(e) if k == axis else 0 for k, e in enumerate(monomial))
        by_others.setdefault(others, {})[own] = coefficient
    parts = (rest.context().from_dict(terms) for terms in by_others.values())
    return any(univariate(part).gcd(factor).degree() < 1 for part in parts)


def integral_pair(top: Polynomial, bottom: Polynomial, name: str) -> tuple[fmpz_poly, fmpz_poly]:
    """Returns both as univariate integer polynomials, multiplied by the same positive number."""
    axis = [str(n) for n in top.context().names()].index(name)
    scale = fmpz(1)
    for coefficient in (*top.coeffs(), *bottom.coeffs()):
        scale = scale.lcm(coefficient.q)
    result = []
    for polynomial in (top, bottom):
        coefficients = [fmpz(0)] * (int(polynomial.degrees()[axis]) + 1 if polynomial else 0)
        for monomial, coefficient in polynomial.to_dict().items():
            coefficients[int(monomial[axis])] = (coefficient * scale).p
        result.append(fmpz_poly(coefficients))
    return result[0], result[1]


def coprime(top: fmpz_poly, bottom: fmpz_poly, inner: Fraction) -> tuple[fmpz_poly, fmpz_poly]:
    """Divides out the greatest common divisor; the signs are kept, which are those of nonnegative functions.

    The divisor may change its sign in the interval only where both vanish, and then a sign would change
    together; both quotients are nonnegative on the interval or both nonpositive, and are turned.
    """
    common = top.gcd(bottom)
    top, bottom = top // common, bottom // common
    at = rational(inner)
    negative = bottom(at) < 0 or (bottom(at) == 0 and top(at) < 0)
    return (-top, -bottom) if negative else (top, bottom)


def place_of(point: Mapping[str, Fraction]) -> Place:
    """Returns a point as a place."""
    return {n: exact(v) for n, v in point.items() if n != GENERATOR}


def middle(lower: Fraction, upper: Fraction) -> tuple[Fraction, Fraction]:
    """Returns the ends of the middle quarter of an interval."""
    return lower + (upper - lower) * 3 / 8, lower + (upper - lower) * 5 / 8


def order(left: Value, right: Value) -> int:
    """Returns -1, 0 or 1 as the first number is smaller than, equal to, or greater than the second.

    With a constant `E` every exact supremum is rational or a `Real`, so the two kinds can be compared.
    """
    if isinstance(left, RealRoot) and isinstance(right, RealRoot):
        return compare(left, right)
    return (_real(left, right) - _real(right, left)).sign()


def _real(value: Value, other: Value) -> Real:
    if isinstance(value, Real):
        return value
    assert isinstance(other, Real)
    one = other.denominator * 0 + 1
    return Real.of(one * rational(value.lower), one, other.constant)


@dataclass(frozen=True, eq=False)
class BoundProof:
    """All claims of a model with one bound, each proved: no ratio at any prior exceeds the bound.

    `certificate` is a document for `checker.cone_evidence` where the model is about every length.
    """

    bound: Bound
    model: Model
    claims: tuple[Claim, ...]
    decisions: tuple[Decision, ...]
    certificate: Mapping[str, Any] | None = None


RatioBounds = Bounds[Evaluated, BoundProof]


def rebound(model: Model, bound: Bound) -> Model:
    """Returns the model with its ratio bound multiplied by a number."""
    top, bottom = as_polynomials(bound, model)
    return replace(model, measure=divergence_of(model, Quotients).scaled(top, bottom))
