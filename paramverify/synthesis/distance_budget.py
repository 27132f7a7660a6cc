"""The tight budget where bounds depend on distances: the least r with ratio ≤ r^d at each distance d.

For each distance d the largest ratio R(d) is found and proved like every tight budget. The least r is the
largest of the roots R(d)^(1/d). Two roots are compared by whole powers, R(d)^e with R(e)^d: exactly where
both ratios are algebraic, or both are numbers of Q(exp(g)); else by enclosures.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from math import lcm

from flint import fmpq_poly

from paramverify.algebra.budgets import Epsilon
from paramverify.algebra.polynomials import rational
from paramverify.algebra.real_roots import RealRoot, compare, power
from paramverify.algebra.reals import Real
from paramverify.bounds import Value
from paramverify.errors import ModelError
from paramverify.models.model import Model
from paramverify.portfolio.session import Session
from paramverify.synthesis.budget import tight_budget
from paramverify.synthesis.proofs import RatioBounds

ZERO = Fraction(0)
WIDTH = Fraction(1, 10**60)  # of an algebraic number that is compared


@dataclass(frozen=True, eq=False)
class AtDistance:
    """The largest ratio of the pairs at one distance."""

    distance: Fraction
    found: RatioBounds

    @property
    def epsilon(self) -> Epsilon:
        """ε for one unit of distance, or what the bounds of the ratio tell of it."""
        return self.found.epsilon.per(self.distance) if self.distance else Epsilon(ZERO, ZERO)


@dataclass(frozen=True, eq=False)
class DistanceBudget:
    """The largest ratio at each distance, by rising distance, and the one whose root is the largest.

    With `is_exact`, no other root is larger than that of `largest`. `infinite` means that no r is enough.
    """

    parts: tuple[AtDistance, ...]
    largest: AtDistance
    is_exact: bool

    def each(self, change: Callable[[RatioBounds], RatioBounds]) -> DistanceBudget:
        """Returns the same with a change of what is found at each distance."""
        parts = tuple(replace(part, found=change(part.found)) for part in self.parts)
        return replace(self, parts=parts, largest=parts[self.parts.index(self.largest)])

    @property
    def infinite(self) -> bool:
        """Whether there is no budget: a ratio grows without limit, or is above 1 at the distance 0."""
        return self.largest.found.infinite or not self.largest.distance

    @property
    def epsilon(self) -> Epsilon:
        """ε for one unit of distance, or bounds of it."""
        if self.infinite:
            return Epsilon(None, None, False)
        if self.is_exact:
            return self.largest.epsilon
        known = [part.epsilon for part in self.parts]
        highs = [e.high for e in known if e.high is not None]
        low = max((e.low for e in known if e.low is not None), default=ZERO)
        return Epsilon(low, max(highs) if len(highs) == len(known) else None, False)


def distance_budget(model: Model, session: Session, precision: Fraction) -> DistanceBudget:
    """Returns the tight budget of a model whose bounds depend on distances.

    Raises:
        LimitError: too many sequences. ModelError: all inputs are at distance 0.
    """
    distances = sorted({pair.distance for pair in model.pairs if pair.distance is not None})
    if distances == [0]:
        raise ModelError("all inputs are at distance 0, and there is no budget for one unit of distance")
    parts = tuple(
        AtDistance(distance, tight_budget(_at(model, distance), session, precision)) for distance in distances
    )
    for part in parts:
        if part.found.infinite or (not part.distance and part.found.low > 1):
            return DistanceBudget(parts, part, True)
    apart = [part for part in parts if part.distance]
    largest = apart[0]
    for part in apart[1:]:
        if _less(largest, part):
            largest = part
    same = all(part.found.high == 1 for part in parts if not part.distance)
    known = same and largest.found.value is not None
    return DistanceBudget(parts, largest, known and all(_less(largest, part) is False for part in apart))


def _at(model: Model, distance: Fraction) -> Model:
    return replace(model, pairs=tuple(pair for pair in model.pairs if pair.distance == distance))


def _less(one: AtDistance, other: AtDistance) -> bool | None:
    """Tells whether the root of one is smaller than that of another one; None where it is not decided."""
    if one is other:
        return False
    scale = lcm(one.distance.denominator, other.distance.denominator)
    powers = int(other.distance * scale), int(one.distance * scale)
    left, right = one.found.value, other.found.value
    if isinstance(left, RealRoot) and isinstance(right, RealRoot):
        return compare(power(left, powers[0]), power(right, powers[1])) < 0
    exact = _exact(left, right)
    if exact:
        return (_power(exact[0], powers[0]) - _power(exact[1], powers[1])).sign() < 0
    (low, high), (least, most) = (_between(part.found) for part in (one, other))
    if high is not None and high ** powers[0] < least ** powers[1]:
        return True
    if most is not None and low ** powers[0] >= most ** powers[1]:
        return False
    return None


def _between(found: RatioBounds) -> tuple[Fraction, Fraction | None]:
    if isinstance(found.value, RealRoot):
        near = found.value.refined(WIDTH)
        return near.lower, near.upper
    return found.value.enclosure(256) if found.value is not None else (found.low, found.high)


def _exact(*values: Value | None) -> tuple[Real, ...]:
    """Returns ratios as numbers of one Q(E), or nothing where one of them is algebraic or not known."""
    constant = next((v.constant for v in values if isinstance(v, Real) and v.constant), None)
    found: list[Real] = []
    for value in values:
        if isinstance(value, RealRoot) and value.is_rational:
            found.append(Real(fmpq_poly([rational(value.lower)]), fmpq_poly([1]), constant))
        elif isinstance(value, Real) and (value.constant == constant or value.rational is not None):
            found.append(Real(value.numerator, value.denominator, constant))
        else:
            return ()
    return tuple(found)


def _power(value: Real, exponent: int) -> Real:
    one = Real(fmpq_poly([1]), fmpq_poly([1]), value.constant)
    return reduce(lambda a, b: a * b, [value] * exponent, one)


def root(value: Fraction, degree: int) -> Fraction | None:
    """Returns the positive root of a positive rational of some degree where that is rational, else None."""
    parts = [_whole_root(n, degree) for n in (value.numerator, value.denominator)]
    return None if None in parts else Fraction(*(p for p in parts if p is not None))


def _whole_root(value: int, degree: int) -> int | None:
    low, high = 0, 1 << (value.bit_length() // degree + 1)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if middle**degree < value else (low, middle)
    return low if low**degree == value else None
