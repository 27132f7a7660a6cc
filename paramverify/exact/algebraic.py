"""Violations at irrational points only: found by numbers, and then verified exactly in a number field.

A claim f ≥ 0 that fails at a point fails near it, so it has a rational witness unless constraints that
are not strict leave no room: equations, or an inequality that is met at single points. Such points are
sought in three steps. Damped Gauss-Newton steps from some places of the box make the broken conditions
smaller. Then the conditions that are zero there, and those of [John48], are a system with a regular zero,
which Newton's method finds to many bits; where it is not regular, coordinates are fixed at simple rationals.
At last the coordinates are guessed as elements of a number field by LLL ([Lenstra82]). Only what
`fails_at_algebraic` confirms counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import islice, product
from random import Random

from flint import fmpq, fmpq_poly

from paramverify.algebra.domains import Interval
from paramverify.algebra.number_fields import FINE_BITS, AlgebraicPoint, of_root, recognised
from paramverify.algebra.polynomials import Point, Polynomial, fraction, rational, substitute, variables
from paramverify.algebra.simplest import simplest_between
from paramverify.claims import Claim
from paramverify.exact.lines import failing_places
from paramverify.exact.newton import CriticalPoints, Zeros, near_zero, refined
from paramverify.formats.refutations import fails_at, fails_at_algebraic
from paramverify.simplify.reductions import live_constraints

MAX_VARIABLES = 6
MAX_TERMS = 600  # of all conditions together
SEEDS = 24
EFFORT = 1_000_000  # monomials that are evaluated; about a second
LITTLE = 40_000  # the same for a look before anything else
STEPS = 80
SMALL = 1e-6  # what is less of a condition, relative to its coefficients, may be zero
ROUGH = Fraction(1, 1 << 12)  # by which a place may be moved to a simple rational point
SLICES = (Fraction(1, 16), Fraction(1, 256))  # of the width of an interval, around a place to cut at
MAX_SLICES = 12  # over all levels

Found = AlgebraicPoint | Point


def may_fail_at_algebraic(claim: Claim) -> bool:
    """Tells whether a claim may fail at irrational points and at no rational one; cheap, and no proof.

    Without a constraint that is not strict, it does not: an open set that is not empty has rational points.
    """
    domain = claim.domain
    if domain.constant is not None or domain.ring.tied:
        return False
    if not any(not c.strict and c.polynomial.total_degree() > 1 for c in domain.constraints):
        return False
    live = [c for _, c in live_constraints(domain)]
    size = len(claim.polynomial) + sum(len(c.polynomial) for c in live)
    used = {name for p in (claim.polynomial, *(c.polynomial for c in live)) for name in variables(p)}
    thin = any(not c.strict and c.polynomial.total_degree() > 1 for c in live)
    return thin and size <= MAX_TERMS and len(used) <= MAX_VARIABLES


def algebraic_violation(claim: Claim, effort: int = EFFORT) -> Found | None:
    """Returns a point of the domain at which the claim fails, algebraic or even rational, or None.

    What is returned was confirmed exactly; None says nothing about the claim. `effort` is about how many
    monomials may be evaluated to come near such points.
    """
    if not may_fail_at_algebraic(claim):
        return None
    return _SliceSearch(claim, effort=effort).run()


@dataclass
class _SliceSearch:
    """A claim, what was fixed of its variables, and how many slices may still be tried."""

    claim: Claim
    fixed: dict[str, Fraction] = field(default_factory=dict)
    effort: int = EFFORT
    slices: list[int] = field(default_factory=lambda: [MAX_SLICES])

    @cached_property
    def part(self) -> Claim:
        """The claim with what was fixed."""
        domain = self.claim.domain
        constraints = tuple(
            replace(c, polynomial=substitute(c.polynomial, self.fixed)) for c in domain.constraints
        )
        at = {name: Interval(v, v, True, True) for name, v in self.fixed.items()}
        smaller = replace(domain, box={**domain.box, **at}, constraints=constraints)
        return replace(self.claim, polynomial=substitute(self.claim.polynomial, self.fixed), domain=smaller)

    @cached_property
    def conditions(self) -> list[tuple[Polynomial, bool]]:
        """What has to be at least zero, or more than zero (true), at a point that is sought."""
        live = [(c.polynomial, c.strict) for _, c in live_constraints(self.part.domain)]
        return [*live, (-self.part.polynomial, True)]

    @cached_property
    def names(self) -> list[str]:
        """The variables that matter and are not fixed."""
        used = {name for condition, _ in self.conditions for name in variables(condition)}
        return [n for n, i in self.part.domain.box.items() if n in used and not i.is_point]

    @cached_property
    def _step(self) -> int:
        """About how many monomials a step evaluates: of values, of first and of second derivatives."""
        count = len(self.names)
        return sum(len(c) for c, _ in self.conditions) * (1 + count + count * (count + 1) // 2)

    def run(self, near: Point | None = None) -> Found | None:
        constant = [(c, strict) for c, strict in self.conditions if not variables(c)]
        if any(not c or c.leading_coefficient() < 0 for c, strict in constant if strict or c):
            return None
        if len(self.names) <= 1:
            return self._on_line(self.names[0]) if self.names else self._accept({})
        zeros = Zeros([c for c, _ in self.conditions], self.names)
        tried: list[list[float]] = []
        for seed in self._seeds(near):
            place = self._descended(zeros, seed)
            if place is None or any(_alike(place, other) for other in tried):
                continue
            tried.append(place)
            found = self._at(place)
            if found is not None:
                return found
        return None

    def _on_line(self, name: str) -> Found | None:
        rationals, roots = failing_places(self.part, name)
        for value in rationals:
            if (found := self._accept({name: value})) is not None:
                return found
        for root in roots:
            point = of_root(root, name, self._full({}))
            if fails_at_algebraic(self.claim, point):
                return point.tidied()
        return None

    def _full(self, point: Point) -> dict[str, Fraction]:
        simple = {name: interval.simplest() for name, interval in self.claim.domain.box.items()}
        return {**simple, **self.fixed, **point}

    def _accept(self, point: Point) -> Found | None:
        full = self._full(point)
        return full if fails_at(self.claim, full) else None

    # --- numbers: places where no condition is broken by much ---------------------------------------

    def _seeds(self, near: Point | None) -> Iterator[list[float]]:
        """Yields places to begin at: the given one, else some of the box, as many as the effort allows."""
        count = max(1, min(SEEDS, self.effort // (STEPS * self._step)))
        return islice(self._all_seeds(near), count)

    def _all_seeds(self, near: Point | None) -> Iterator[list[float]]:
        box = [self.part.domain.box[n] for n in self.names]
        if near is not None:
            yield [float(near.get(n, i.simplest())) for n, i in zip(self.names, box, strict=True)]
            return
        yield [float(i.lower + i.upper) / 2 for i in box]
        if len(box) <= 3:
            for corner in product((0.2, 0.8), repeat=len(box)):
                yield [
                    float(i.lower) + r * float(i.upper - i.lower) for i, r in zip(box, corner, strict=True)
                ]
        random = Random(21)
        while True:
            yield [random.uniform(float(i.lower), float(i.upper)) for i in box]

    def _descended(self, zeros: Zeros, start: list[float]) -> list[float] | None:
        """Returns a place of the box where what is broken of the conditions is tiny, or None."""
        box = [self.part.domain.box[n] for n in self.names]
        ends = [(float(i.lower), float(i.upper)) for i in box]
        return near_zero(zeros, start, ends, min(STEPS, max(1, self.effort // self._step)))

    # --- exactly ------------------------------------------------------------------------------------

    def _at(self, place: list[float]) -> Found | None:
        """Returns a point near a place, of the first system that leads to one; else those of slices."""
        held = self._held(place)
        if held:
            return self._with(held, place)
        simple = [simplest_between(Fraction(v) - ROUGH, Fraction(v) + ROUGH) for v in place]
        if (found := self._accept(dict(zip(self.names, simple, strict=True)))) is not None:
            return found
        active = self._active(place)
        if not active:
            return None  # what is broken is an open condition, and not by much
        for system in self._systems(active, place):
            exact = refined(system, FINE_BITS)
            if exact is not None and (found := self._guessed(exact[: len(self.names)])) is not None:
                return found
        return self._sliced(place)

    def _held(self, place: Sequence[float]) -> dict[str, Fraction]:
        """Returns the variables that are at a closed end of their interval."""
        held = {}
        for name, at in zip(self.names, place, strict=True):
            interval = self.part.domain.box[name]
            reach = SMALL * float(interval.upper - interval.lower)
            for end in (interval.lower, interval.upper):
                if abs(at - float(end)) < reach and end in interval:
                    held[name] = end
        return held

    def _with(self, more: Mapping[str, Fraction], place: Sequence[float]) -> Found | None:
        start = {n: Fraction(v) for n, v in zip(self.names, place, strict=True) if n not in more}
        return _SliceSearch(self.claim, {**self.fixed, **more}, self.effort, self.slices).run(start)

    def _active(self, place: Sequence[float]) -> list[Polynomial]:
        """Returns the conditions that may be zero at a place, of those that are each other's negative one."""
        zeros = Zeros([c for c, strict in self.conditions if not strict], self.names)
        found: list[Polynomial] = []
        for polynomial, value in zip(zeros.polynomials, zeros.values(place), strict=True):
            if abs(value) < SMALL and -polynomial not in found and polynomial not in found:
                found.append(polynomial)
        return found

    def _systems(
        self, active: Sequence[Polynomial], place: Sequence[float]
    ) -> Iterator[Zeros | CriticalPoints]:
        """Yields systems that a point near the place may be a regular zero of."""
        start = [rational(Fraction(v)) for v in place]
        flat = [p for p in active if Zeros([p], self.names).is_flat(place)]
        slopes = [s for p in flat for n in self.names if (s := p.derivative(n))]
        yield Zeros([*active, *slopes], self.names, start)
        critical = CriticalPoints.near(active, self.names, start)
        if critical is not None:
            yield critical

    def _guessed(self, exact: Sequence[fmpq]) -> Found | None:
        reach = Fraction(1, 1 << (FINE_BITS // 2))
        simple = [simplest_between(fraction(v) - reach, fraction(v) + reach) for v in exact]
        if (found := self._accept(dict(zip(self.names, simple, strict=True)))) is not None:
            return found
        rest = {n: fmpq_poly([rational(v)]) for n, v in self._full({}).items() if n not in self.names}
        for point in recognised(self.names, exact, [rational(v) for v in simple]):
            whole = replace(point, coordinates={**rest, **point.coordinates})
            if fails_at_algebraic(self.claim, whole):
                return whole.tidied()
        return None

    def _sliced(self, place: Sequence[float]) -> Found | None:
        """Looks where one variable has a simple value near a place."""
        for share in SLICES:
            for name, at in zip(self.names, place, strict=True):
                if self.slices[0] <= 0:
                    return None
                self.slices[0] -= 1
                interval = self.part.domain.box[name]
                reach = (interval.upper - interval.lower) * share
                low, high = (
                    max(interval.lower, Fraction(at) - reach),
                    min(interval.upper, Fraction(at) + reach),
                )
                value = simplest_between(low, high)
                if value in interval and (found := self._with({name: value}, place)) is not None:
                    return found
        return None


def _alike(left: Sequence[float], right: Sequence[float]) -> bool:
    return all(abs(a - b) < 1e-5 * (1 + abs(a)) for a, b in zip(left, right, strict=True))
