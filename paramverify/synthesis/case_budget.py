"""The budget of a case: for its lengths or every length, and beside it the one relative to its own bound.

The tight budget where bounds depend on distances: the least r with ratio ≤ r^d at each distance d.

For each distance d the largest ratio R(d) is found and proved like every tight budget. The least r is the
largest of the roots R(d)^(1/d). Two roots are compared by whole powers, R(d)^e with R(e)^d: exactly where
both ratios are algebraic, or both are numbers of Q(exp(g)); else by enclosures.

The least bound of a Rényi divergence over all priors: the largest sum of P^α/Q^(α−1).

The sum is a quotient of two polynomials, whose supremum is found and proved as that of a ratio (`budget`).
Only where denominators vanish it is another question whether a prior reaches it: there the quotient is 0/0,
and the sum is not.
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
from paramverify.encodings.moments import may_vanish
from paramverify.errors import ModelError
from paramverify.models.model import Model, refuse_tied, refuse_wider
from paramverify.portfolio.session import Session
from paramverify.synthesis.attainment import beside, by_outputs, is_one
from paramverify.synthesis.budget import tight_budget
from paramverify.synthesis.every_length_budget import tight_budget_of_every_length
from paramverify.synthesis.quotients import RatioBounds
from paramverify.synthesis.tied_budget import tied_budget


@dataclass(frozen=True, eq=False)
class CaseBudget:
    """The largest ratio, and if the bound of the case has parameters, the largest ratio divided by it.

    Where the bound depends on distances, `ratio` is that at the distance whose root is the largest.
    """

    ratio: RatioBounds
    relative: RatioBounds | None
    distances: DistanceBudget | None = None

    def is_within(self, precision: Fraction) -> bool:
        """Tells whether both are exact, or bounds whose relative distance is at most the precision."""
        found = [self.ratio, *([self.relative] if self.relative else [])]
        found += [part.found for part in self.distances.parts] if self.distances else []
        return all(each.is_within(precision) for each in found)


def case_budget(model: Model, session: Session, precision: Fraction) -> CaseBudget:
    """Returns the tight budget of a model, see `tight_budget` and `tight_budget_of_every_length`.

    Raises:
        LimitError: too many sequences.
        ModelError: no prior gives both secrets of a pair a positive probability, or nothing is compared.
    """
    found = _by_parameters(model, session, precision)
    relative = found.relative and replace(by_outputs(model, found.relative), name="relative")
    return replace(found, ratio=by_outputs(model, found.ratio), relative=relative)


def _by_parameters(model: Model, session: Session, precision: Fraction) -> CaseBudget:
    """Returns the tight budget, which is attained if a point has it, be it as a limit for outputs."""
    if model.nothing_compared:
        raise ModelError(f"{model.nothing_compared}, so there is no ratio")
    if model.measure.distances:
        refuse_tied(model, "a budget for each distance")
        refuse_wider(model, "a budget for each distance")
        apart = distance_budget(model, session, precision).each(lambda found: by_outputs(model, found))
        own = tight_budget(model, session, precision, True) if has_parametric_bound(model) else None
        return CaseBudget(apart.largest.found, own, apart)
    if model.domain.ring.tied:
        found = tied_budget(model, session, precision)
        own = tied_budget(model, session, precision, True) if has_parametric_bound(model) else None
        return CaseBudget(found, own and _beside(model, replace(own, beside=None)))
    find = tight_budget if model.lengths else tight_budget_of_every_length
    found = find(model, session, precision)
    relative = find(model, session, precision, relative=True) if has_parametric_bound(model) else None
    return CaseBudget(found, relative and _beside(model, relative))


def _beside(model: Model, found: RatioBounds) -> RatioBounds:
    """Returns a largest relative ratio of 1 with what the bound is there."""
    if found.beside or not is_one(found.value):
        return found
    near = beside(model, found.origin, found.place)
    return replace(found, tight=near.tight, beside=near)


def has_parametric_bound(model: Model) -> bool:
    """Tells whether the bound of a model has parameters in it."""
    return not model.measure.variables.isdisjoint(model.domain.ring.parameters)


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
        raise ModelError("all inputs are at distance 0, so there is no budget for one unit of distance")
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


def least_moment(model: Model, session: Session, precision: Fraction) -> RatioBounds:
    """Returns the largest sum of a Rényi model, whatever its own bound is; see `tight_budget`.

    The least bound is `of_sum` of it: the logarithm over order − 1, or the sum less what it has more.

    Raises:
        LimitError: too many sequences, or a denominator that may vanish where constraints hold with equality.
        ModelError: no prior gives both secrets of a pair a positive probability.
    """
    found = tight_budget(model, session, precision)
    if found.attained is False and may_vanish(model):
        found = replace(found, attained=None)
    return replace(found, name="divergence")
