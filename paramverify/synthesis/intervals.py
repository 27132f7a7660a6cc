"""Exact intervals of one parameter with algebraic ends, and how the line is cut into them.

The roots of polynomials cut the interval of the parameter into open pieces and single points. Claims with
`E = exp(g)` are treated as polynomials over the field Q(E): an irreducible factor that mentions `E` has
neither rational nor multiple roots, because `E` is transcendental (Lindemann).

Exact parts of one parameter's interval as a condition of polynomials, without roots in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Domain, Interval
from paramverify.algebra.polynomials import Polynomial, Ring, is_constant, key, rational, variables
from paramverify.algebra.rationals import simplest_between
from paramverify.algebra.real_roots import (
    FieldRoot,
    RealRoot,
    SignOf,
    apart,
    between,
    isolate,
    isolate_over,
    number_sign,
    rational_root,
    sign_at,
    sign_of,
    univariate,
)
from paramverify.claims import Claim
from paramverify.formats.quantified_questions import (
    AndCondition,
    Condition,
    OrCondition,
    comparison,
    comparisons,
    simplified,
    truth,
)
from paramverify.simplify.reductions import factorisation
from paramverify.synthesis.maps import Status

Root = RealRoot | FieldRoot


@dataclass(frozen=True)
class Mark:
    """What is known of a point: its status, and the number of a claim that fails there.

    `hint` is a polynomial that is negative there, with values of other parameters put in; it may be negative
    at neighbouring points, too.
    """

    status: Status
    claim: int | None = None
    hint: Polynomial | None = None


@dataclass(frozen=True, eq=False)
class CriticalRoot:
    """A root, and the irreducible polynomial whose root it is."""

    root: Root
    factor: Polynomial

    @property
    def lower(self) -> Fraction:
        """At most the root."""
        return self.root.lower

    @property
    def upper(self) -> Fraction:
        """At least the root."""
        return self.root.upper

    @property
    def is_rational(self) -> bool:
        """Whether the root is a rational number."""
        return self.root.is_rational

    def halved(self) -> CriticalRoot:
        """Returns the same root in an interval of half the width."""
        return replace(self, root=self.root.halved())


@dataclass(frozen=True, eq=False)
class StatusInterval:
    """An interval of the parameter, or a single point, all of whose points have one status.

    `sample` is a simple rational inside, None where there is none; in a violating part the claim with the
    number `claim` fails there (in other places of the part it may be another one).
    """

    status: Status
    lower: Root
    upper: Root
    lower_closed: bool
    upper_closed: bool
    sample: Fraction | None = None
    claim: int | None = None

    @property
    def is_point(self) -> bool:
        """Whether the part is one point."""
        return self.lower is self.upper

    def __contains__(self, value: Fraction) -> bool:
        below, above = side(value, self.lower), side(value, self.upper)
        return (below > 0 or (below == 0 and self.lower_closed)) and (
            above < 0 or (above == 0 and self.upper_closed)
        )


@dataclass(frozen=True, eq=False)
class Partition:
    """The interval of one parameter, cut into parts in increasing order; every point lies in exactly one.

    At a point of a safe part all claims hold for all values of the `quantified` parameters in the domain, at
    one of a violating part some claim fails for some; all of it exact. Neighbouring parts differ in status.
    """

    parameter: str
    quantified: tuple[str, ...]
    interval: Interval
    claims: tuple[Claim, ...]
    parts: tuple[StatusInterval, ...]

    def status_at(self, value: Fraction) -> Status:
        """Returns the status of a rational value; outside of the interval it is `OUTSIDE`."""
        return next((part.status for part in self.parts if value in part), Status.OUTSIDE)

    def having(self, status: Status) -> tuple[StatusInterval, ...]:
        """Returns the parts with a status."""
        return tuple(part for part in self.parts if part.status is status)


def fixed_values(domain: Domain, *names: str) -> Mapping[str, Fraction]:
    """Returns the values of the parameters that have only one, apart from the given ones."""
    return {n: i.lower for n, i in domain.box.items() if i.is_point and n not in names and n != GENERATOR}


def critical_values(
    polynomials: Sequence[Polynomial],
    name: str,
    interval: Interval,
    sign: SignOf,
    check: Callable[[], None] = lambda: None,
) -> list[CriticalRoot]:
    """Returns the roots of polynomials in one parameter in the closed interval, in disjoint intervals.

    Each root occurs once: different irreducible factors have no root in common.
    """
    different: dict[str, Polynomial] = {}
    for f in polynomials:
        check()
        different |= {key(g): g for g, _ in _factors(f) if name in variables(g)}
    found: list[CriticalRoot] = []
    for factor in different.values():
        check()
        roots: Sequence[Root]
        if variables(factor) == (name,):
            roots = isolate(univariate(factor), interval.lower, interval.upper)
        else:
            roots = isolate_over(factor, name, interval.lower, interval.upper, sign)
        found += [CriticalRoot(root, factor) for root in roots]
    return apart(found)


def _factors(polynomial: Polynomial) -> list[tuple[Polynomial, int]]:
    return [] if is_constant(polynomial) else factorisation(polynomial)[1]


def cut(
    interval: Interval,
    critical: Sequence[CriticalRoot],
    at_value: Callable[[Fraction], Mark],
    at_root: Callable[[CriticalRoot, Mark, Mark], Mark],
) -> tuple[StatusInterval, ...]:
    """Returns the parts of an interval whose status is constant between neighbouring critical values.

    `at_value` decides a rational value, `at_root` an irrational critical one, given the marks of the pieces
    on both sides.
    """
    if interval.is_point:
        return (_at(rational_root(interval.lower), at_value(interval.lower)),)
    ends = (interval.lower, interval.upper)
    inner = [c for c in critical if not (c.root.is_rational and c.root.lower in ends)]
    first, last = rational_root(ends[0]), rational_root(ends[1])
    borders: list[Root] = [first, *(c.root for c in inner), last]
    samples = [simplest_between(*between(left, right)) for left, right in pairwise(borders)]
    marks = [at_value(sample) for sample in samples]
    pieces: list[StatusInterval] = []
    if interval.lower_closed:
        pieces.append(_at(first, at_value(interval.lower)))
    for k, (mark, sample) in enumerate(zip(marks, samples, strict=True)):
        pieces.append(_inside(borders[k], borders[k + 1], mark, sample))
        if k < len(inner):
            root = inner[k].root
            between_them = at_value(root.lower) if root.is_rational else at_root(inner[k], mark, marks[k + 1])
            pieces.append(_at(root, between_them))
    if interval.upper_closed:
        pieces.append(_at(last, at_value(interval.upper)))
    return merged(pieces)


def _at(root: Root, mark: Mark) -> StatusInterval:
    """Returns the part that consists of one value."""
    sample = root.lower if root.is_rational else None
    return StatusInterval(mark.status, root, root, True, True, sample=sample, claim=mark.claim)


def _inside(lower: Root, upper: Root, mark: Mark, sample: Fraction) -> StatusInterval:
    """Returns the part between two values."""
    return StatusInterval(mark.status, lower, upper, False, False, sample=sample, claim=mark.claim)


def merged(pieces: Sequence[StatusInterval]) -> tuple[StatusInterval, ...]:
    """Returns neighbouring pieces of equal status as one, with the simpler of their samples."""
    parts: list[StatusInterval] = []
    for piece in pieces:
        if parts and parts[-1].status is piece.status:
            before = parts[-1]
            simpler = min(
                (p for p in (before, piece) if p.sample is not None),
                key=lambda p: (p.sample.denominator, abs(p.sample)) if p.sample is not None else (0, 0),
                default=before,
            )
            parts[-1] = replace(
                before,
                upper=piece.upper,
                upper_closed=piece.upper_closed,
                sample=simpler.sample,
                claim=simpler.claim,
            )
        else:
            parts.append(piece)
    return tuple(parts)


def side(value: Fraction, root: Root) -> int:
    """Returns -1, 0 or 1 as a rational is less than, equal to, or greater than a root."""
    while root.lower <= value <= root.upper:
        if root.is_rational:
            return 0
        root = root.halved()
    return -1 if value < root.lower else 1


def parts_where(
    condition: Condition, name: str, interval: Interval, ring: Ring
) -> tuple[StatusInterval, ...]:
    """Returns the parts of an interval, safe where a condition on this parameter alone is true."""

    def mark(true: bool) -> Mark:
        return Mark(Status.SAFE if true else Status.VIOLATING)

    def at_value(value: Fraction) -> Mark:
        return mark(condition.holds_at({**dict.fromkeys(ring.names, Fraction(0)), name: value}))

    def at_root(place: CriticalRoot, below: Mark, above: Mark) -> Mark:
        root = place.root
        assert isinstance(root, RealRoot)
        return mark(truth(condition, lambda f: sign_of(univariate(f), root)))

    polynomials = [part.polynomial for part in comparisons(condition)]
    return cut(interval, critical_values(polynomials, name, interval, number_sign(None)), at_value, at_root)


def condition_of(found: Partition, ring: Ring) -> Condition | None:
    """Returns a condition on the parameter that is true exactly in the safe parts; None for ends with `E`.

    A root α of f in (a, b), its only one there, is written by the sign s of f before it: x ≤ α iff x ≤ a, or
    x < b and s·f(x) ≥ 0.
    """
    x = ring.variable(found.parameter)
    parts: list[Condition] = []
    whole = found.interval
    for part in found.parts:
        if part.status is not Status.SAFE:
            continue
        if not (isinstance(part.lower, RealRoot) and isinstance(part.upper, RealRoot)):
            return None
        ends: list[Condition] = []
        first = part.lower.upper == whole.lower and part.lower_closed == whole.lower_closed
        last = part.upper.lower == whole.upper and part.upper_closed == whole.upper_closed
        if not first or part.is_point:
            ends.append(_beyond(x, part.lower, 1, part.lower_closed))
        if not last or part.is_point:
            ends.append(_beyond(x, part.upper, -1, part.upper_closed))
        parts.append(AndCondition(tuple(ends)))
    return simplified(OrCondition(tuple(parts)))


def _beyond(x: Polynomial, root: RealRoot, side: int, closed: bool) -> Condition:
    """Returns the condition x ≥ α (side 1) or x ≤ α (side −1), or without equality."""
    relation = {(1, True): ">=", (1, False): ">", (-1, True): "<=", (-1, False): "<"}

    def compared(value: Fraction, way: int, equal: bool) -> Condition:
        return comparison(x - x.context().constant(rational(value)), relation[way, equal])

    if root.is_rational:
        return compared(root.lower, side, closed)
    powers = (int(c) * x**k for k, c in enumerate(root.factor.coeffs()))
    value = sum(powers, 0 * x) * sign_at(root.factor, root.lower)
    near = comparison(value, relation[-side, closed])
    away, beside = (root.upper, root.lower) if side > 0 else (root.lower, root.upper)
    return OrCondition((compared(away, side, True), AndCondition((compared(beside, side, False), near))))
