"""The supremum of one quotient of probabilities over the parameter domain.

Lower bounds are values at points of the closed box, which are limits of values inside; upper bounds are
claims `c·b − a ≥ 0` that were proved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice, product

from flint import fmpz, fmpz_poly

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.decimals import logarithm
from paramverify.algebra.domains import Domain
from paramverify.algebra.maxima import exact, supremum
from paramverify.algebra.polynomials import Polynomial, rational, substitute, value_at, variables
from paramverify.algebra.realroots import RealRoot, compare, univariate
from paramverify.algebra.simplest import simplest_between
from paramverify.claims import Claim, Origin
from paramverify.models.checks import sample_points
from paramverify.models.evaluation import Real
from paramverify.models.kinds import OnDomain
from paramverify.portfolio.session import Session
from paramverify.verdicts import Decision, Open, Proved, Refuted

Place = Mapping[str, RealRoot]

MAX_FACES = 2_000  # faces of the box on which an exact maximum is looked for
UNBOUNDED = Fraction(10) ** 15  # a ratio beyond which the search for an upper bound gives up


@dataclass(frozen=True, eq=False)
class TightBudget:
    """The supremum of the ratio, and where it is reached or approached.

    One of three: `value`, an exact real number (`infinite` false); `infinite`; or `lower ≤ sup ≤ upper`, both
    certified. `attained` tells whether a prior of the domain reaches the supremum; None if that is not known.
    `place` is a point of the closed box, `origin` the secrets and the output. `decisions` are the proofs of
    the upper bound.
    """

    lower: Fraction
    upper: Fraction | None
    origin: Origin
    place: Place
    value: RealRoot | Real | None = None
    attained: bool | None = None
    infinite: bool = False
    decisions: tuple[Decision, ...] = ()

    @property
    def epsilon(self) -> float:
        """The logarithm of the ratio, rounded; of the upper bound where the ratio is not exact."""
        if self.infinite or self.upper is None:
            return float("inf")
        if isinstance(self.value, Real):
            return logarithm(self.value.middle())
        return logarithm(self.upper)


@dataclass(frozen=True, eq=False)
class Quotient:
    """A candidate left/right, and the same in lowest terms a/b with a, b ≥ 0 on the domain."""

    left: Polynomial
    right: Polynomial
    a: Polynomial
    b: Polynomial
    origin: Origin

    @property
    def has_parameters(self) -> bool:
        return any(name != GENERATOR for f in (self.a, self.b) for name in variables(f))


def sampled(a: Polynomial, b: Polynomial, domain: Domain) -> tuple[Fraction, dict[str, Fraction]]:
    """Returns the largest value of a/b at a few points of the domain, and one such point."""
    best: tuple[Fraction, dict[str, Fraction]] = Fraction(-1), {}
    for point in islice(sample_points(domain), 200):
        below = value_at(b, point)
        if below:
            best = max(best, (value_at(a, point) / below, point), key=lambda found: found[0])
    return best


@dataclass(frozen=True, eq=False)
class Search:
    """The supremum of a/b over the domain, for coprime a and b that are nonnegative on it."""

    model: OnDomain
    session: Session
    whole: Quotient
    precision: Fraction

    @property
    def a(self) -> Polynomial:
        """The numerator in lowest terms."""
        return self.whole.a

    @property
    def b(self) -> Polynomial:
        """The denominator in lowest terms."""
        return self.whole.b

    @property
    def origin(self) -> Origin:
        """The secrets and the output."""
        return self.whole.origin

    @property
    def names(self) -> list[str]:
        """The parameters that occur, `E` excepted."""
        return [n for n in self.model.domain.ring.parameters if n in (*variables(self.a), *variables(self.b))]

    def at_most(self, bound: Fraction) -> Decision:
        """Decides the claim a/b ≤ bound."""
        polynomial = self.b * rational(bound) - self.a
        return self.session.decide(Claim(polynomial, self.model.domain.enclose(128), (self.origin,)))

    def supremum(self) -> TightBudget:
        """Returns the supremum, exact where it is on an edge or at a vertex."""
        domain = self.model.domain
        simple = not domain.constraints and not domain.constant
        if simple:
            found = self.on_edges()
            if found.infinite:
                return found
            value = found.value
            assert isinstance(value, RealRoot)
            if len(self.names) <= 1:
                return found  # the one edge is the whole box
            if value.is_rational:
                decision = self.at_most(value.lower)
                if isinstance(decision.answer, Proved):
                    return replace(found, decisions=(decision,))
            lower, place = value.lower, found.place
        else:
            largest, point = sampled(self.a, self.b, domain)
            lower, place = (
                max(largest, Fraction(0)),
                {n: exact(v) for n, v in point.items() if n != GENERATOR},
            )
        return self.bisect(lower, place)

    def on_edges(self) -> TightBudget:
        """Returns the largest supremum over the edges of the box, which is at most that over the box.

        a/b is continuous where b > 0, so its values on an edge are limits of values inside the box.
        """
        box, names = self.model.domain.box, self.names
        best: TightBudget | None = None
        edges = (
            (free, dict(zip([n for n in names if n != free], ends, strict=True)))
            for free in names
            for ends in product(*(sorted({box[n].lower, box[n].upper}) for n in names if n != free))
        )
        for free, fixed in islice(edges, MAX_FACES):
            top, bottom = _integral_pair(substitute(self.a, fixed), substitute(self.b, fixed), free)
            if not top:
                continue  # the ratio is zero here, or 0/0
            corner = {name: exact(value) for name, value in fixed.items()}
            if not bottom:
                place = {n: {**corner, free: exact(box[free].simplest())}[n] for n in names}
                return TightBudget(
                    Fraction(0), None, self.origin, place, None, self._inside(place, True), True
                )
            lower, upper = box[free].lower, box[free].upper
            result = supremum(*_coprime(top, bottom, box[free].simplest()), lower, upper)
            place = {n: {**corner, free: result.place}[n] for n in names}
            if result.value is None:
                return TightBudget(
                    Fraction(0), None, self.origin, place, None, self._inside(place, True), True
                )
            value = result.value.refined(self.precision * result.value.lower)
            inside = self._inside(place)
            candidate = TightBudget(value.lower, value.upper, self.origin, place, value, inside)
            if best is None or prefer(candidate, best):
                best = candidate
        return best or TightBudget(Fraction(0), Fraction(0), self.origin, {}, exact(Fraction(0)), False)

    def bisect(self, lower: Fraction, place: Place) -> TightBudget:
        """Narrows certified bounds: a proof lowers the upper one, a refuting point raises the lower one."""
        upper: Fraction | None = None
        decisions: tuple[Decision, ...] = ()
        attained: bool | None = None
        trial = max(lower, Fraction(1)) * 2
        while upper is None or upper - lower > self.precision * lower:
            decision = self.at_most(trial)
            if isinstance(decision.answer, Proved):
                upper, decisions = trial, (decision,)
            elif isinstance(decision.answer, Refuted):
                point = {n: v for n, v in decision.answer.point.items() if n != GENERATOR}
                lower = max(lower, self._ratio_at(point, trial))
                place, attained = {n: exact(v) for n, v in point.items()}, None
                if lower > UNBOUNDED:
                    break
            else:
                assert isinstance(decision.answer, Open)
                break
            known = TightBudget(lower, None, self.origin, place, None, attained, False)
            self.session.bound(known)
            trial = lower * 2 if upper is None else simplest_between(*middle(lower, upper))
        found = TightBudget(lower, upper, self.origin, place, None, attained, False, decisions)
        return self.recognise(found) if upper is not None else found

    def recognise(self, found: TightBudget) -> TightBudget:
        """Returns the exact supremum if it is a simple rational ratio at a simple point near the best one.

        Nothing is guessed: the ratio at the point is a lower bound, and that it is an upper bound is proved.
        """
        domain = self.model.domain
        if domain.constant or domain.constraints:
            return found
        for digits in (4, 8, 16, 32):
            point = {}
            for name, root in found.place.items():
                interval = domain.box[name]
                radius = (interval.upper - interval.lower) / 2**digits
                near = simplest_between(root.lower - radius, root.lower + radius)
                point[name] = min(max(near, interval.lower), interval.upper)
            full = {**{n: i.simplest() for n, i in domain.box.items()}, **point}
            below = value_at(self.b, full)
            if not below:
                continue
            ratio = value_at(self.a, full) / below
            if ratio < found.lower:
                continue
            decision = self.at_most(ratio)
            if isinstance(decision.answer, Proved):
                place = {name: exact(value) for name, value in point.items()}
                value, inside = exact(ratio), self._inside(place)
                return TightBudget(ratio, ratio, self.origin, place, value, inside, False, (decision,))
        return found

    def _ratio_at(self, point: Mapping[str, Fraction], default: Fraction) -> Fraction:
        """Returns a/b at a point where it is larger than the default; the default itself where `E` occurs."""
        if self.model.domain.constant:
            return default
        below = value_at(self.b, point)
        return max(default, value_at(self.a, point) / below) if below > 0 else default

    def _inside(self, place: Place, infinite: bool = False) -> bool:
        """Tells whether the domain has the place, both secrets are possible there, and so is the output.

        The undivided right side, Pr(ω|right) times both masses, is positive there iff all three are.
        """
        box = self.model.domain.box
        if any(root.is_rational and root.lower not in box[name] for name, root in place.items()):
            return False
        return _nonzero(self.whole.left if infinite else self.whole.right, place)


def _nonzero(polynomial: Polynomial, place: Place) -> bool:
    """Tells whether a polynomial does not vanish at a place with at most one irrational coordinate."""
    rest = substitute(polynomial, {n: r.lower for n, r in place.items() if r.is_rational})
    factors = [root.factor for root in place.values() if not root.is_rational]
    if not rest or not factors:
        return bool(rest)
    return univariate(rest).gcd(factors[0]).degree() < 1


def middle(lower: Fraction, upper: Fraction) -> tuple[Fraction, Fraction]:
    """Returns the ends of the middle quarter of an interval."""
    return lower + (upper - lower) * 3 / 8, lower + (upper - lower) * 5 / 8


def prefer(candidate: TightBudget, best: TightBudget) -> bool:
    """Tells whether the first is larger, or as large and attained where the other is not."""
    assert isinstance(candidate.value, RealRoot)
    assert isinstance(best.value, RealRoot)
    order = compare(candidate.value, best.value)
    return order > 0 or (order == 0 and bool(candidate.attained) and not best.attained)


def _integral_pair(top: Polynomial, bottom: Polynomial, name: str) -> tuple[fmpz_poly, fmpz_poly]:
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


def _coprime(top: fmpz_poly, bottom: fmpz_poly, inner: Fraction) -> tuple[fmpz_poly, fmpz_poly]:
    """Divides out the greatest common divisor; the signs are kept, which are those of nonnegative functions.

    The divisor may change its sign in the interval only where both vanish, and then a sign would change
    together; both quotients are nonnegative on the interval or both nonpositive, and are turned.
    """
    common = top.gcd(bottom)
    top, bottom = top // common, bottom // common
    at = rational(inner)
    negative = bottom(at) < 0 or (bottom(at) == 0 and top(at) < 0)
    return (-top, -bottom) if negative else (top, bottom)
