"""The tight budget: the supremum of the ratio over all priors, secrets and outputs, exact where it can be.

For a candidate (A, B), the two probabilities of one output up to a common factor, let a/b be A/B in lowest
terms. The supremum of the ratio over the priors where both secrets have positive probability equals the
supremum of a/b over the box, because those priors are dense in it; and `sup ≤ c` is the claim `c·b − a ≥ 0`.
So every upper bound here is a claim that was proved, and every lower bound a ratio at a point or its limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice, product
from math import log

from flint import fmpq_poly, fmpz, fmpz_poly

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Domain
from paramverify.algebra.maxima import exact, supremum
from paramverify.algebra.polynomials import (
    Polynomial,
    constant_value,
    key,
    rational,
    substitute,
    value_at,
    variables,
)
from paramverify.algebra.realroots import RealRoot, compare, univariate
from paramverify.algebra.simplest import simplest_between
from paramverify.claims import Claim, Origin
from paramverify.encodings.sequences import Candidate, candidates
from paramverify.errors import DefectError
from paramverify.models.checks import sample_points
from paramverify.models.evaluation import Real
from paramverify.models.model import Model
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
            return log(float(self.value))
        return log(self.upper.numerator) - log(self.upper.denominator)


def tight_budget(
    model: Model,
    session: Session,
    precision: Fraction = Fraction(1, 10**9),
    relative: bool = False,
) -> TightBudget:
    """Returns the supremum of Pr(ω|left)/Pr(ω|right) over the domain, all pairs, directions and sequences.

    With `relative` it is the supremum of that ratio divided by the case's own bound: 1 if the bound is tight.
    Exact where the supremum is at a vertex or on an edge of the box, or at a rational point that is
    recognised; otherwise bounds whose relative distance is at most `precision`, if the limits allow.

    Raises:
        LimitError: too many sequences.
    """
    scale = (model.ratio.numerator, model.ratio.denominator) if relative else None
    found = list(_distinct(candidates(model), scale))
    unlimited = _impossible(found, model.domain)
    if unlimited:
        return unlimited
    possible = [c for c in found if c.left and c.right]
    best = _largest_number([c for c in possible if not c.has_parameters], model)
    free = [c for c in possible if c.has_parameters]
    for candidate in sorted(free, key=lambda c: _sampled(c.a, c.b, model.domain)[0], reverse=True):
        best = _improve(best, candidate, model, session, precision)
        if best.infinite:
            break
    if best is None:
        raise DefectError("a model without any possible output")
    return best


@dataclass(frozen=True, eq=False)
class _Quotient:
    """A candidate left/right, and the same in lowest terms a/b with a, b ≥ 0 on the domain."""

    left: Polynomial
    right: Polynomial
    a: Polynomial
    b: Polynomial
    origin: Origin

    @property
    def has_parameters(self) -> bool:
        return any(name != GENERATOR for f in (self.a, self.b) for name in variables(f))


def _distinct(found: Iterable[Candidate], scale: tuple[Polynomial, Polynomial] | None) -> Iterator[_Quotient]:
    """Yields the different quotients, divided by the bound if one is given."""
    seen: set[tuple[str, str]] = set()
    for candidate in found:
        left, right = candidate.left, candidate.right
        if scale:
            left, right = left * scale[1], right * scale[0]
        common = left.gcd(right) if left and right else left * 0 + 1
        a, b = left / common, right / common
        content = max(abs(c) for c in (*b.coeffs(), *a.coeffs())) if a or b else 1
        if a and b and a.leading_coefficient() < 0:
            content = -content
        same = (key(a / content), key(b / content))
        if same not in seen:
            seen.add(same)
            yield _Quotient(left, right, a, b, candidate.origin)


def _impossible(found: list[_Quotient], domain: Domain) -> TightBudget | None:
    """Returns infinity if an output is identically impossible under one secret only."""
    for candidate in found:
        if candidate.left and not candidate.right:
            for point in sample_points(domain):
                if value_at(candidate.left, point) > 0:
                    place = {k: exact(v) for k, v in point.items() if k != GENERATOR}
                    return TightBudget(Fraction(0), None, candidate.origin, place, None, True, True)
    return None


def _largest_number(fixed: list[_Quotient], model: Model) -> TightBudget | None:
    """Returns the largest ratio among candidates without parameters; exact also with `E`."""
    best: tuple[Real, _Quotient] | None = None
    for candidate in fixed:
        constant = model.domain.constant
        a, b = _in_constant(candidate.a), _in_constant(candidate.b)
        if (constant.sign(b) if constant else b[0]) < 0:
            a, b = -a, -b
        value = Real.of(a, b, constant)
        if best is None or (value - best[0]).sign() > 0:
            best = value, candidate
    if best is None:
        return None
    value, candidate = best
    low, high = value.enclosure()
    point = next(islice(sample_points(model.domain), 1), {})
    place = {name: exact(v) for name, v in point.items() if name != GENERATOR}
    number: RealRoot | Real = exact(value.rational) if value.rational is not None else value
    return TightBudget(low, high, candidate.origin, place, number, True)


def _in_constant(polynomial: Polynomial) -> fmpq_poly:
    """Returns a polynomial in which at most `E`, the last variable, occurs as a univariate one."""
    coefficients = {int(m[-1]) if m else 0: c for m, c in polynomial.to_dict().items()}
    names = [str(n) for n in polynomial.context().names()]
    if GENERATOR not in names:
        return fmpq_poly([rational(constant_value(polynomial))])
    return fmpq_poly([coefficients.get(k, 0) for k in range(max(coefficients, default=0) + 1)])


def _improve(
    best: TightBudget | None, candidate: _Quotient, model: Model, session: Session, precision: Fraction
) -> TightBudget:
    """Returns the larger of the best so far and the supremum for this candidate."""
    _, point = _sampled(candidate.a, candidate.b, model.domain)
    if point and value_at(candidate.b, point) < 0:
        candidate = replace(candidate, a=-candidate.a, b=-candidate.b)
    search = _Search(model, session, candidate, precision)
    if best and best.upper is not None and not isinstance(best.value, Real):
        bound = best.upper if best.value is None else best.value.lower
        decision = search.at_most(bound)
        if isinstance(decision.answer, Proved):
            return replace(best, decisions=(*best.decisions, decision))
    own = search.supremum()
    if best is None or own.infinite or own.lower > (best.upper or best.lower):
        return own
    if own.upper is not None and own.upper <= best.lower:
        return replace(best, decisions=(*best.decisions, *own.decisions))
    # The two enclosures overlap: the supremum of both lies between the larger ends.
    larger = own if own.lower >= best.lower else best
    upper = max(own.upper or UNBOUNDED, best.upper or UNBOUNDED)
    same = isinstance(best.value, RealRoot) and best.value == own.value
    if same or larger.upper == upper:
        return replace(larger, decisions=(*best.decisions, *own.decisions))
    return replace(
        larger, upper=upper, value=None, attained=None, decisions=(*best.decisions, *own.decisions)
    )


def _sampled(a: Polynomial, b: Polynomial, domain: Domain) -> tuple[Fraction, dict[str, Fraction]]:
    """Returns the largest value of a/b at a few points of the domain, and one such point."""
    best: tuple[Fraction, dict[str, Fraction]] = Fraction(-1), {}
    for point in islice(sample_points(domain), 200):
        below = value_at(b, point)
        if below:
            best = max(best, (value_at(a, point) / below, point), key=lambda found: found[0])
    return best


@dataclass(frozen=True, eq=False)
class _Search:
    """The supremum of a/b over the domain, for coprime a and b that are nonnegative on it."""

    model: Model
    session: Session
    whole: _Quotient
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
            sampled, point = _sampled(self.a, self.b, domain)
            lower, place = (
                max(sampled, Fraction(0)),
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
            if best is None or _prefer(candidate, best):
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
            trial = lower * 2 if upper is None else simplest_between(*_middle(lower, upper))
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


def _middle(lower: Fraction, upper: Fraction) -> tuple[Fraction, Fraction]:
    return lower + (upper - lower) * 3 / 8, lower + (upper - lower) * 5 / 8


def _prefer(candidate: TightBudget, best: TightBudget) -> bool:
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
