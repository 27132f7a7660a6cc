"""For which values of one parameter the claims hold for all values of the others: exact, by projection.

With one other parameter p, every claim f is split into irreducible factors. On an interval of the free
parameter a where no leading coefficient and no discriminant of a factor in p vanishes, no two factors have a
common root in p (their resultant is not zero), and no factor vanishes at an end of p's interval, the real
roots in p are continuous, keep their order and cross no end ([Collins75]; [McCallum88], in two variables). So
the truth of `f ≥ 0 for all p` is constant there, and a rational sample decides it. Factors of even
multiplicity do not matter where they are not identically zero. A critical value beside a safe interval is
safe, because f is continuous; any other one is decided exactly, over the field that it generates.

With more than one other parameter, those in which a claim is linear, monotone or concave on the whole box are
replaced by ends of their intervals, which is exact at every value of a: such a function is smallest there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import Point, Polynomial, is_constant, key, substitute, variables
from paramverify.algebra.real_roots import SignOf, algebraic_sign, coefficients, negative_point, number_sign
from paramverify.algebra.signs import Sign, sign_on
from paramverify.claims import Claim
from paramverify.errors import InputError, UnsupportedError
from paramverify.simplify.reductions import AT_LEAST_ZERO, AT_MOST_ZERO, NEVER_ZERO, factorisation
from paramverify.synthesis.intervals import CriticalRoot, Mark, Partition, critical_values, cut, fixed_values
from paramverify.synthesis.maps import Status

MAX_REPLACED = 8  # parameters that are replaced by ends
MAX_WORK = 20_000_000  # of a discriminant, see `_check_size`: some twenty seconds
CONSTANT = 150  # times as much work with the constant `E` in a polynomial


def project(
    claims: Sequence[Claim], domain: Domain, name: str, check: Callable[[], None] = lambda: None
) -> Partition:
    """Returns where on the interval of one parameter all claims hold for all values of all others.

    Constraints may mention the free parameter only. A parameter with one value is not quantified. `check` is
    called before each piece of work, and may raise an error to end it.

    Raises:
        InputError: there is no such parameter.
        UnsupportedError: a constraint mentions another parameter, or a claim is linear in too few of them.
    """
    if name not in domain.ring.parameters:
        raise InputError(f"there is no parameter {name!r}; there are: {', '.join(domain.ring.parameters)}")
    fixed = fixed_values(domain, name)
    conditions = [(substitute(c.polynomial, fixed), c.strict) for c in domain.constraints]
    for constraint, (polynomial, _) in zip(domain.constraints, conditions, strict=True):
        mixed = set(variables(polynomial)) - {name, GENERATOR}
        if mixed:
            raise UnsupportedError(
                f"the constraint {constraint.text} mentions {', '.join(sorted(mixed))}: "
                f"the exact method allows constraints on {name} only"
            )
    parts = [
        (part, number)
        for number, claim in enumerate(claims)
        for part in _checked(_reduced(substitute(claim.polynomial, fixed), domain, name), check)
    ]
    parts = list({key(part): (part, number) for part, number in reversed(parts)}.values())[::-1]

    every = [f for part, _ in parts for f in _checked(_projection(part, domain, name), check)]
    values = _ProjectedValues(domain, name, parts, conditions, check=check)
    polynomials = [*every, *(c for c, _ in conditions)]
    critical = critical_values(polynomials, name, domain.box[name], values.sign, check)
    quantified = tuple(n for n in domain.ring.parameters if n != name and n not in fixed)
    found = cut(domain.box[name], critical, values.at_value, values.at_root)
    return Partition(name, quantified, domain.box[name], tuple(claims), found)


@dataclass(frozen=True, eq=False)
class _ProjectedValues:
    """Decides single values of the parameter.

    `parts` of claims have the number of their claim, `conditions` on the parameter whether they are strict.
    """

    domain: Domain
    name: str
    parts: Sequence[tuple[Polynomial, int]]
    conditions: Sequence[tuple[Polynomial, bool]]
    check: Callable[[], None]

    @cached_property
    def sign(self) -> SignOf:
        """The sign of a number of the case, in which `E` may occur."""
        return number_sign(self.domain.constant)

    def at_value(self, value: Fraction) -> Mark:
        """Decides a rational value."""
        at = {self.name: value}
        if self._outside(lambda f: self.sign(substitute(f, at))):
            return Mark(Status.OUTSIDE)
        return self._decide(self.sign, at)

    def at_root(self, critical: CriticalRoot, left: Mark, right: Mark) -> Mark:
        """Decides an irrational value, known by the signs of its polynomials."""
        signs = algebraic_sign(critical.root, critical.factor, self.name, self.sign)
        if self._outside(signs):
            return Mark(Status.OUTSIDE)
        if Status.SAFE in (left.status, right.status):
            return Mark(Status.SAFE)
        for beside in (left, right):
            if beside.hint is not None and signs(beside.hint) < 0:
                return beside
        return self._decide(signs, {})

    def _outside(self, signs: SignOf) -> bool:
        found = [(signs(c), strict) for c, strict in self.conditions]
        return any(s < 0 or (strict and s == 0) for s, strict in found)

    def _decide(self, signs: SignOf, at: Point) -> Mark:
        """Decides a value that is substituted, or known by the signs of its polynomials."""
        for part, number in self.parts:
            self.check()
            failing = _failing(part, at, self.domain, self.name, signs)
            if failing is not None:
                return Mark(Status.VIOLATING, number, failing)
        return Mark(Status.SAFE)


def _checked(found: Iterable[Polynomial], check: Callable[[], None]) -> Iterator[Polynomial]:
    """Yields polynomials as they are made, looking at the time between them."""
    check()
    for polynomial in found:
        yield polynomial
        check()


def _failing(
    polynomial: Polynomial, at: Point, domain: Domain, name: str, signs: SignOf
) -> Polynomial | None:
    """Returns f with a value put in for its one other parameter, if any, at which f < 0; None without one."""
    here = substitute(polynomial, at)
    bound = _bound(here, name)
    if not bound:
        return polynomial if signs(here) < 0 else None
    interval = domain.box[bound[0]]
    value = negative_point(here, bound[0], interval.lower, interval.upper, signs)
    return None if value is None else substitute(polynomial, {bound[0]: value})


def _bound(polynomial: Polynomial, name: str) -> list[str]:
    return [n for n in variables(polynomial) if n not in (name, GENERATOR)]


def _reduced(polynomial: Polynomial, domain: Domain, name: str) -> Iterator[Polynomial]:
    """Yields polynomials in the parameter and at most one other, all ≥ 0 for all others iff f is.

    Raises:
        UnsupportedError: more than one other parameter stays.
    """
    polynomial = _without_signs(polynomial, domain, name)
    bound = _bound(polynomial, name)
    if len(bound) < 2:
        yield polynomial
        return
    for other in bound if len(bound) <= MAX_REPLACED else ():
        ends = _smallest_at(polynomial, domain, other)
        if ends:
            for end in ends:
                yield from _reduced(substitute(polynomial, {other: end}), domain, name)
            return
    raise UnsupportedError(
        f"a claim is neither linear nor shown to be monotone or concave in {' and '.join(bound)}: the exact "
        f"method allows one such parameter besides {name}"
    )


def _smallest_at(polynomial: Polynomial, domain: Domain, other: str) -> tuple[Fraction, ...]:
    """Returns the ends of a parameter's interval of which one is a minimum, whatever the others are.

    None if that is not shown: the polynomial is linear, monotone, or concave in the parameter on the box.
    """
    interval = domain.box[other]
    slope = polynomial.derivative(other)
    sign = sign_on(slope, domain)
    if sign is not None:
        return (interval.lower if sign in AT_LEAST_ZERO else interval.upper,)
    if sign_on(slope.derivative(other), domain) in (*AT_MOST_ZERO, Sign.ZERO):
        return (interval.lower, interval.upper)
    return ()


def _without_signs(polynomial: Polynomial, domain: Domain, name: str) -> Polynomial:
    """Returns f without factors of known sign, where that changes the truth at no value of the parameter.

    A factor that vanishes nowhere on the domain may go; so may one in which the free parameter does not
    occur, for it is not zero at a dense set of values of the others (none of which has one value only).
    """
    if is_constant(polynomial):
        return polynomial
    constant, factors = factorisation(polynomial)
    rest = domain.ring.number(1 if constant > 0 else -1)
    for factor, multiplicity in factors:
        sign = sign_on(factor, domain)
        goes = sign in NEVER_ZERO or (
            name not in variables(factor)
            and (multiplicity % 2 == 0 or sign in AT_LEAST_ZERO or sign in AT_MOST_ZERO)
        )
        if not goes:
            rest = rest * factor**multiplicity
        elif multiplicity % 2 and sign in AT_MOST_ZERO:
            rest = -rest
    return rest


def _projection(polynomial: Polynomial, domain: Domain, name: str) -> Iterator[Polynomial]:
    """Yields polynomials in the free parameter between whose roots `f ≥ 0 for all p` is constant."""
    if is_constant(polynomial):
        return
    odd: list[Polynomial] = []
    for factor, multiplicity in factorisation(polynomial)[1]:
        if not _bound(factor, name):
            yield factor
        elif multiplicity % 2:
            odd.append(factor)
    for factor in odd:
        p = _bound(factor, name)[0]
        parts = coefficients(factor, p)
        yield parts[-1]
        if len(parts) > 2:
            _check_size(factor, p, name)
            yield factor.discriminant(p)
        for end in {domain.box[p].lower, domain.box[p].upper}:
            yield substitute(factor, {p: end})
    for left, right in combinations(odd, 2):
        yield left.resultant(right, _bound(left, name)[0])


def _check_size(factor: Polynomial, other: str, name: str) -> None:
    """Checks that a discriminant is no work of minutes: one call of the library is not interrupted.

    With degrees d and e it is about d³·e².

    Raises:
        UnsupportedError: it is.
    """
    degrees = {str(n): int(d) for n, d in zip(factor.context().names(), factor.degrees(), strict=True)}
    work = degrees[other] ** 3 * degrees[name] ** 2 * (CONSTANT if degrees.get(GENERATOR) else 1)
    if work > MAX_WORK:
        raise UnsupportedError(
            f"a claim has degree {degrees[other]} in {other} and {degrees[name]} in {name}: "
            "too much for the exact method"
        )
