"""The pairs of probabilities that D compares as quotients over the parameter domain, and their suprema.

p ≤ c·q + δ at every point iff c is at least the supremum of (p − δ)/q, and iff δ is at least that of p − c·q,
where p − c·q + c = p + c·(1 − q) ≥ 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from paramverify.algebra.branches import branches
from paramverify.algebra.polynomials import (
    Polynomial,
    RationalFunction,
    constant_value,
    is_constant,
    key,
    value_at,
)
from paramverify.algebra.signs import Sign, sign_on
from paramverify.answers import Open, Proved
from paramverify.claims import Claim, Origin
from paramverify.errors import LimitError, ModelError, UnsupportedError
from paramverify.logic.numbers import in_ring
from paramverify.logic.verification import LogicSession
from paramverify.models.chains.chain import Value
from paramverify.models.context import Checks, sample_points
from paramverify.portfolio.obligations import decide
from paramverify.synthesis.paths import points_of
from paramverify.synthesis.quotients import Quotient
from paramverify.synthesis.suprema import SupremumSearch, TightBudget


@dataclass(frozen=True, eq=False)
class Pair:
    """Two probabilities that a D formula compares, and where they are from.

    `sufficient` tells that they are bounds of those that query schedulers reach ([L] Prop. 2).
    """

    left: Value
    right: Value
    origin: Origin
    index: int | None = None
    sufficient: bool = False


def delta_quotient(work: LogicSession, pair: Pair, ratio: RationalFunction) -> Quotient:
    """Returns p − c·q + c = p + c·(1 − q) ≥ 0 as a quotient."""
    ring = work.chain.domain.ring
    one = RationalFunction.of(ring.number(1))
    value = in_ring(pair.left, ring) + ratio * (one - in_ring(pair.right, ring))
    return _quotient(work, value, pair)


def ratio_quotient(work: LogicSession, pair: Pair, delta: RationalFunction) -> Quotient:
    """Returns (p − δ)/q as a quotient, with nothing divided out that may be zero on the domain."""
    ring = work.chain.domain.ring
    left, right = in_ring(pair.left, ring) - delta, in_ring(pair.right, ring)
    below = _oriented(work, left.denominator, pair), _oriented(work, right.denominator, pair)
    top = left.numerator if below[0] == left.denominator else -left.numerator
    bottom = right.numerator if below[1] == right.denominator else -right.numerator
    return Quotient(top * below[1], bottom * below[0], pair.origin)


def below_delta(work: LogicSession, pair: Pair, delta: RationalFunction) -> bool:
    """Decides p ≤ δ, which is what a pair demands whose q is zero at every point."""
    rest = delta - in_ring(pair.left, work.chain.domain.ring)
    claim = Claim(rest.numerator * rest.denominator, work.chain.domain, (pair.origin,))
    answer = decide(work.session, claim).answer
    if isinstance(answer, Open):
        raise LimitError(
            f"a probability is zero at every point, and whether delta is enough is open: {answer.detail}"
        )
    return isinstance(answer, Proved)


def _quotient(work: LogicSession, value: RationalFunction, pair: Pair) -> Quotient:
    bottom = _oriented(work, value.denominator, pair)
    top = value.numerator if bottom == value.denominator else -value.numerator
    return Quotient(top, bottom, pair.origin)


def _oriented(work: LogicSession, polynomial: Polynomial, pair: Pair) -> Polynomial:
    """Returns a polynomial or its negative, whichever is nonnegative on the domain.

    A probability may vanish at a closed end of the domain; there the quotient may grow beyond all bounds.
    """
    checks = Checks(work.chain.domain)
    try:
        found = checks.positive(polynomial, "a denominator")
        known = work.discharge(checks.obligations) is None
    except ModelError:
        values = (value_at(polynomial, point) for point in sample_points(work.chain.domain))
        found = polynomial if next((v for v in values if v), 1) > 0 else -polynomial
        claim = Claim(found, work.chain.domain, (pair.origin,))
        known = isinstance(work.session.decide(claim).answer, Proved)
    if not known:
        raise LimitError(f"the sign of {polynomial} on the domain is not known")
    return found


def largest(quotients: Sequence[Quotient], work: LogicSession, floor: Fraction) -> TightBudget | None:
    """Returns the supremum over all quotients that are not proved to be at most `floor`, if there are any."""
    best: TightBudget | None = None
    seen: set[tuple[str, str]] = set()
    precision = Fraction(1, 10**9)
    parts = branches(work.chain.domain)
    points = points_of(parts, max(1, 200 // max(1, len(parts))))
    for quotient in quotients:
        name = (key(quotient.left), key(quotient.right))
        if name in seen:
            continue
        seen.add(name)
        search = SupremumSearch(
            work.chain, work.session, whole=quotient, precision=precision, branches=parts, points=points
        )
        if isinstance(search.at_most(floor).answer, Proved):
            continue
        own = search.supremum() if _nonnegative(search) else search.bisect(floor, {})
        if own.infinite:
            return own
        if best is None or (own.upper is not None and best.upper is not None and own.lower > best.upper):
            best = own
        elif own.upper is None or best.upper is None or own.upper > best.lower:
            best = _merged(best, own)
    return best


def _nonnegative(search: SupremumSearch) -> bool:
    known = (Sign.POSITIVE, Sign.NONNEGATIVE, Sign.ZERO)
    return all(sign_on(part.a, part.branch.domain) in known for part in search.parts)


def _merged(first: TightBudget, second: TightBudget) -> TightBudget:
    """Returns the larger of two suprema that bounds do not tell apart: exact if equal, else bounds."""
    if first.value is not None and second.value is not None and first.lower == second.lower:
        return first
    larger = second if second.lower > first.lower else first
    upper = None if first.upper is None or second.upper is None else max(first.upper, second.upper)
    same = upper is not None and larger.upper == upper
    return larger if same else replace(larger, upper=upper, value=None, attained=None)


def rational_number(ratio: RationalFunction) -> Fraction:
    """Returns a ratio that is a rational number."""
    if not (is_constant(ratio.numerator) and is_constant(ratio.denominator)):
        raise UnsupportedError(
            "with parameters, the least delta needs an epsilon that is ln of a rational number"
        )
    return constant_value(ratio.numerator) / constant_value(ratio.denominator)
