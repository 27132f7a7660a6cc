"""Exact intervals of x_eps where claims are about x_eps and eps = −ln(x_eps)/step, and nothing else.

An irreducible factor has simple zeros only, and different factors have none in common (`exact.logarithms`).
So the interval of x is cut into cells on which the factor has one sign, or is monotone with different signs
at the ends: then there is one zero. With D = x·∂/∂x − (1/step)·∂/∂eps, D f has the sign of the derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from paramverify.algebra.domains import Domain, sign_in_ring, tied_in
from paramverify.algebra.polynomials import Polynomial, Unbounded, key, rational, variables
from paramverify.algebra.real_roots import FieldRoot, apart, isolate, univariate
from paramverify.claims import Claim
from paramverify.errors import UnsupportedError
from paramverify.exact.logarithms import halves, shown_between, shown_near_zero
from paramverify.exact.procedure_outcomes import RemainingWork
from paramverify.synthesis.intervals import CriticalRoot, Mark, Partition, Root, cut
from paramverify.synthesis.maps import Status

MAX_DEPTH = 60  # cuts of one cell
FARTHEST = 512  # zeros are looked for down to 2**-FARTHEST


@dataclass(frozen=True, eq=False)
class TiedRoot(FieldRoot):
    """A simple zero of a polynomial in x and eps; `domain` has the tie."""

    domain: Domain | None = None

    def _sign_at(self, value: Fraction) -> int:
        assert self.domain is not None
        return sign_in_ring(self.domain.ring, self.polynomial, {self.name: value})


def tied_parts(
    claims: Sequence[Claim], domain: Domain, name: str, check: Callable[[], None] = lambda: None
) -> Partition:
    """Returns where on the interval of x_eps all claims hold.

    Raises:
        UnsupportedError: another parameter or a constraint, or zeros beyond the bounds of this module.
    """
    used = {n for claim in claims for n in variables(claim.polynomial)}
    tie = next((u for u in domain.ring.tied if u.variable == name), None)
    if tie is None or not used <= {name, tie.name} or domain.constraints:
        raise UnsupportedError("exact intervals of a parameter beside its exponential need it alone")
    different: dict[str, Polynomial] = {}
    for claim in claims:
        check()
        different |= {key(g): g for g, multiplicity in claim.polynomial.factor()[1] if multiplicity % 2}
    interval = domain.box[name]
    found: list[CriticalRoot] = []
    for factor in different.values():
        check()
        roots: Sequence[Root]
        if tied_in(domain.ring, factor):
            roots = list(_zeros(factor, domain, tie, check))
        else:
            roots = isolate(univariate(factor), interval.lower, interval.upper)
        found += [CriticalRoot(root, factor) for root in roots]
    critical = apart(found)

    def mark(value: Fraction, but: Polynomial | None = None) -> Mark:
        for k, claim in enumerate(claims):
            if but is not None and not divmod(claim.polynomial, but)[1]:
                continue  # it is zero there
            if sign_in_ring(domain.ring, claim.polynomial, {name: value}) < 0:
                return Mark(Status.VIOLATING, k)
        return Mark(Status.SAFE)

    def at_root(place: CriticalRoot, below: Mark, above: Mark) -> Mark:
        # No other factor has a zero in the closed interval of this one.
        return mark(place.lower, place.factor)

    parts = cut(interval, critical, mark, at_root)
    return Partition(name, (), interval, tuple(claims), parts)


def _zeros(
    factor: Polynomial, domain: Domain, tie: Unbounded, check: Callable[[], None]
) -> Iterator[TiedRoot]:
    """Yields the zeros of an irreducible polynomial in x and eps, from the right to the left."""
    interval, work = domain.box[tie.variable], RemainingWork()
    x = domain.ring.variable(tie.variable)
    slope = x * factor.derivative(tie.variable) - factor.derivative(tie.name) / rational(tie.step)
    low = interval.lower

    def sign(value: Fraction) -> int:
        return sign_in_ring(domain.ring, factor, {tie.variable: value})

    if not low:
        k = 4
        low = min(Fraction(1, 2**k), interval.upper / 2)
        while not shown_near_zero(Claim(factor * (sign(low) or 1), domain), tie, low, work):
            k *= 2
            low = Fraction(1, 2**k)
            if k > FARTHEST or work.exhausted:
                raise UnsupportedError("zeros far away cannot be excluded")
    pending = [(a, b, 0) for a, b in halves(low, interval.upper)]
    while pending:
        check()
        a, b, depth = pending.pop(0)
        ends = sign(a), sign(b)
        if a == b or shown_between(Claim(factor * (ends[0] or ends[1]), domain), tie, (a, b), work):
            continue
        if any(shown_between(Claim(slope * way, domain), tie, (a, b), work) for way in (1, -1)):
            if ends[0] * ends[1] < 0:
                yield TiedRoot(factor, tie.variable, _no_sign, lower=a, upper=b, domain=domain)
            continue
        if depth >= MAX_DEPTH or work.exhausted:
            raise UnsupportedError("zeros are too near to each other")
        middle = (a + b) / 2
        pending = [(middle, b, depth + 1), (a, middle, depth + 1), *pending]


def _no_sign(polynomial: Polynomial) -> int:
    raise UnsupportedError("signs of such a zero are those at a value of x")
