"""The tight budget: the supremum of the ratio over all priors, secrets and outputs, exact where it can be.

For a candidate (A, B), the two probabilities of one output up to a common factor, let a/b be A/B in lowest
terms. The supremum of the ratio over the priors where both secrets have positive probability equals the
supremum of a/b over the box, because those priors are dense in it; and `sup ≤ c` is the claim `c·b − a ≥ 0`.
So every upper bound here is a claim that was proved, and every lower bound a ratio at a point or its limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import islice

from flint import fmpq_poly

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Domain
from paramverify.algebra.maxima import exact
from paramverify.algebra.polynomials import Polynomial, constant_value, in_generator, key, rational, value_at
from paramverify.algebra.realroots import RealRoot
from paramverify.encodings.choice import candidates_of
from paramverify.encodings.sequences import Candidate
from paramverify.errors import DefectError
from paramverify.models.checks import sample_points
from paramverify.models.evaluation import Real
from paramverify.models.model import Model
from paramverify.portfolio.session import Session
from paramverify.synthesis.suprema import Quotient, Search, TightBudget, prefer, sampled
from paramverify.verdicts import Proved


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
    found = list(_distinct(candidates_of(model), scale))
    unlimited = _impossible(found, model.domain)
    if unlimited:
        return unlimited
    possible = [c for c in found if c.left and c.right]
    best = _largest_number([c for c in possible if not c.has_parameters], model)
    free = [c for c in possible if c.has_parameters]
    for candidate in sorted(free, key=lambda c: sampled(c.a, c.b, model.domain)[0], reverse=True):
        best = _improve(best, candidate, model, session, precision)
        session.bound(_so_far(best))
        if best.infinite:
            break
    if best is None:
        raise DefectError("a model without any possible output")
    return best


def _so_far(best: TightBudget) -> TightBudget:
    """Returns what the largest of some suprema says about that of all: it is a lower bound."""
    return best if best.infinite else replace(best, upper=None, value=None, attained=None)


def _distinct(found: Iterable[Candidate], scale: tuple[Polynomial, Polynomial] | None) -> Iterator[Quotient]:
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
            yield Quotient(left, right, a, b, candidate.origin)


def _impossible(found: list[Quotient], domain: Domain) -> TightBudget | None:
    """Returns infinity if an output is identically impossible under one secret only."""
    for candidate in found:
        if candidate.left and not candidate.right:
            for point in sample_points(domain):
                if value_at(candidate.left, point) > 0:
                    place = {k: exact(v) for k, v in point.items() if k != GENERATOR}
                    return TightBudget(Fraction(0), None, candidate.origin, place, None, True, True)
    return None


def _largest_number(fixed: list[Quotient], model: Model) -> TightBudget | None:
    """Returns the largest ratio among candidates without parameters; exact also with `E`."""
    best: tuple[Real, Quotient] | None = None
    for candidate in fixed:
        constant = model.domain.constant
        a, b = _number(candidate.a), _number(candidate.b)
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


def _number(polynomial: Polynomial) -> fmpq_poly:
    """Returns a polynomial without parameters as one in `E`, the last variable where the ring has it."""
    last = polynomial.context().names()[-1:]
    return (
        in_generator(polynomial)
        if last == (GENERATOR,)
        else fmpq_poly([rational(constant_value(polynomial))])
    )


def _improve(
    best: TightBudget | None, candidate: Quotient, model: Model, session: Session, precision: Fraction
) -> TightBudget:
    """Returns the larger of the best so far and the supremum for this candidate."""
    _, point = sampled(candidate.a, candidate.b, model.domain)
    if point and value_at(candidate.b, point) < 0:
        candidate = replace(candidate, a=-candidate.a, b=-candidate.b)
    search = Search(model, session, candidate, precision)
    if best and best.upper is not None and not isinstance(best.value, Real):
        decision = search.at_most(best.upper if best.value is None else best.value.lower)
        if isinstance(decision.answer, Proved):
            return replace(best, decisions=(*best.decisions, decision))
    own = search.supremum()
    return own if best is None else _larger(best, own)


def _larger(best: TightBudget, own: TightBudget) -> TightBudget:
    """Returns the supremum over both candidates; bounds only, where which one is larger is not known."""
    if own.infinite:
        return own
    decisions = (*best.decisions, *own.decisions)
    if isinstance(best.value, RealRoot) and isinstance(own.value, RealRoot):
        return replace(own if prefer(own, best) else best, decisions=decisions)
    if best.upper is not None and own.upper is not None:
        if own.lower > best.upper:
            return replace(own, decisions=decisions)
        if own.upper <= best.lower:
            return replace(best, decisions=decisions)
    larger = own if own.lower > best.lower else best
    upper = None if best.upper is None or own.upper is None else max(best.upper, own.upper)
    return replace(larger, upper=upper, value=None, attained=None, decisions=decisions)
