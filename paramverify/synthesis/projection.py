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

Exact intervals of x_eps where claims are about x_eps and eps = −ln(x_eps)/step, and nothing else.

An irreducible factor has simple zeros only, and different factors have none in common (`exact.logarithms`).
So the interval of x is cut into cells on which the factor has one sign, or is monotone with different signs
at the ends: then there is one zero. With D = x·∂/∂x − (1/step)·∂/∂eps, D f has the sign of the derivative.

Exact parts of one parameter's interval where projection applies to small pieces only.

A region map decides most of the interval. On the short pieces that it leaves open, claims tend to be monotone
in what projection cannot eliminate otherwise, and it finds the exact ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Domain, Interval, sign_in_ring, tied_in
from paramverify.algebra.polynomials import (
    Point,
    Polynomial,
    Unbounded,
    is_constant,
    key,
    rational,
    substitute,
    variables,
)
from paramverify.algebra.rationals import simplest_between
from paramverify.algebra.real_roots import (
    FieldRoot,
    SignOf,
    algebraic_sign,
    apart,
    coefficients,
    isolate,
    negative_point,
    number_sign,
    rational_root,
    univariate,
)
from paramverify.algebra.signs import Sign, sign_on
from paramverify.claims import Claim
from paramverify.errors import InputError, TimeLimitError, UnsupportedError
from paramverify.exact.logarithms import halves, shown_between, shown_near_zero
from paramverify.exact.procedure_outcomes import RemainingWork
from paramverify.simplify.reductions import AT_LEAST_ZERO, AT_MOST_ZERO, NEVER_ZERO, factorisation
from paramverify.synthesis.intervals import (
    CriticalRoot,
    Mark,
    Partition,
    Root,
    StatusInterval,
    critical_values,
    cut,
    fixed_values,
    merged,
)
from paramverify.synthesis.maps import Cell, Status
from paramverify.synthesis.regions import region_map

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
        raise InputError(f"there is no parameter {name!r}; choose from {', '.join(domain.ring.parameters)}")
    fixed = fixed_values(domain, name)
    conditions = [(substitute(c.polynomial, fixed), c.strict) for c in domain.constraints]
    for constraint, (polynomial, _) in zip(domain.constraints, conditions, strict=True):
        mixed = set(variables(polynomial)) - {name, GENERATOR}
        if mixed:
            raise UnsupportedError(
                f"the constraint {constraint.text} mentions {', '.join(sorted(mixed))}: "
                f"the exact method supports constraints on {name} only"
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
        f"method supports one such parameter besides {name}"
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
            "the exact method does not support degrees as high as these"
        )


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
        raise UnsupportedError(
            "exact intervals of a parameter that occurs with its exponential require "
            "that it is the only parameter"
        )
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
                raise UnsupportedError("zeros at very large values cannot be excluded")
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
            raise UnsupportedError("zeros are too close to each other")
        middle = (a + b) / 2
        pending = [(middle, b, depth + 1), (a, middle, depth + 1), *pending]


def _no_sign(polynomial: Polynomial) -> int:
    raise UnsupportedError("signs of such a zero are those at a value of x")


MAPS = 1 / 3  # of the time is for the maps, so that something is left where none of them helps
COVERAGES = (Fraction(1, 20), Fraction(1, 200), Fraction(1, 2000), Fraction(1, 20000))


def exact_parts(
    claims: Sequence[Claim],
    domain: Domain,
    name: str,
    seconds: float = 60.0,
    in_time: Callable[[], None] | None = None,
) -> Partition:
    """Returns where on the interval of one parameter all claims hold for all values of the others.

    By projection on the whole interval; where that does not apply, on the pieces that ever finer region maps
    leave undecided, within the time limit. All statuses are exact, as those of the closed cells of a map are.
    `in_time` ends the search in the place of this limit, where the seconds are what is left of another one.

    Raises:
        InputError: there is no such parameter.
        UnsupportedError: projection does not apply to some piece that is left.
        TimeLimitError: the time is over; a single call of the arithmetic library is not interrupted.
    """
    if any(tied_in(claim.domain.ring, claim.polynomial) for claim in claims):
        return tied_parts(claims, domain, name, in_time or (lambda: None))
    started = time.monotonic()
    until = started + MAPS * seconds

    def over() -> None:
        if time.monotonic() > started + seconds:
            raise TimeLimitError(seconds)

    check = in_time or over
    try:
        return project(claims, domain, name, check)
    except UnsupportedError as error:
        reason = error
    for coverage in COVERAGES:
        found = region_map(claims, domain, [name], coverage, seconds=until - time.monotonic())
        if found.stopped:
            raise KeyboardInterrupt
        if found.interrupted:
            break
        pieces: list[StatusInterval] = []
        try:
            for cell in sorted(found.cells, key=lambda c: c.box):
                pieces += _parts(cell, claims, domain, name, check)
        except UnsupportedError as error:
            reason = error
            continue
        quantified = tuple(n for n in found.quantified if not domain.box[n].is_point)
        return Partition(name, quantified, domain.box[name], tuple(claims), merged(pieces))
    raise reason


def _parts(
    cell: Cell, claims: Sequence[Claim], domain: Domain, name: str, check: Callable[[], None]
) -> Sequence[StatusInterval]:
    """Returns the parts of a cell; its upper end belongs to the next cell, if there is one."""
    whole = domain.box[name]
    low, high = cell.box[0]
    last = high == whole.upper
    piece = Interval(low, high, low > whole.lower or whole.lower_closed, last and whole.upper_closed)
    if cell.status is Status.UNDECIDED:
        return project(claims, replace(domain, box={**domain.box, name: piece}), name, check).parts
    ends = rational_root(low), rational_root(high)
    sample = simplest_between(low, high)
    return [
        StatusInterval(
            cell.status,
            *ends,
            lower_closed=piece.lower_closed,
            upper_closed=piece.upper_closed,
            sample=sample,
            claim=cell.claim,
        )
    ]
