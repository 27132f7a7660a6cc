"""The points of a domain at which a system is looked at: points of the boundary, and simple ones.

Whether an observation is possible depends on which probabilities are zero. They are polynomials over
denominators without zeros, so the domain falls into finitely many parts, each with its set of irreducible
factors that vanish. One point of a part stands for all of it: where an observation is impossible at one of
them, it is at all. An observation that is possible with one of two inputs only, on any part, leaves no
budget. Simple points are in the part without a factor that vanishes, as a rule. The other parts lie at closed
ends, on faces, or inside, and their equations lead to them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations, islice

from flint import fmpq

from paramverify.algebra.branches import Branch, where
from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Constraint, Domain
from paramverify.algebra.points import contains, sign_at
from paramverify.algebra.polynomials import Polynomial, primitive, variables
from paramverify.algebra.realroots import RealRoot, isolate, univariate
from paramverify.algebra.signs import Sign, sign_on
from paramverify.answers import Refuted
from paramverify.claims import nowhere
from paramverify.exact.branching import decide_exactly
from paramverify.exact.lines import sign_at_root
from paramverify.exact.settling import RemainingWork
from paramverify.interactive.cases import InteractiveCase
from paramverify.interactive.evaluation import at_point
from paramverify.models.context import sample_points
from paramverify.models.systems.system import Distribution, System
from paramverify.models.systems.weights import Weights, as_function

MOST_PARTS = 200  # sets of factors that are tried
MOST_POINTS = 200  # of a part, of which the one with the fewest zeros is taken
WORK = 100  # boxes for the question whether a part has a point

Parameters = dict[str, Fraction]


@dataclass(frozen=True, eq=False)
class SystemAtPoint:
    """A point of the domain, and the system there.

    Where the point is irrational, `root` is the value of the only parameter, and the system has the possible
    steps of that point, but with other probabilities.
    """

    parameters: Parameters
    system: System
    root: dict[str, RealRoot] = field(default_factory=dict)


def simple_places(case: InteractiveCase, first: Sequence[Parameters], most: int) -> Iterator[SystemAtPoint]:
    """Yields the given points and then at most so many simple ones of the domain, each once."""
    names = case.domain.ring.parameters
    if not names:
        yield SystemAtPoint({}, case.system)
        return
    seen: set[tuple[Fraction, ...]] = set()
    for point in [*first, *islice(sample_points(case.domain), most)]:
        values = tuple(point[name] for name in names)
        if values not in seen:
            seen.add(values)
            parameters = dict(zip(names, values, strict=True))
            yield SystemAtPoint(parameters, at_point(case.system, case.domain, parameters))


def boundary_places(case: InteractiveCase, deadline: float = float("inf")) -> Iterator[SystemAtPoint]:
    """Yields one place for each part of the domain on which some probability is zero and others are not.

    Parts with few vanishing factors come first. A part is left out where no point of it is found, where only
    irrational points of several parameters are in it, and when there are too many or the deadline is over.
    """
    factors = _factors(case)
    empty: list[frozenset[int]] = []
    tried = 0
    for size in range(1, len(case.domain.ring.parameters) + 1):
        for chosen in combinations(range(len(factors)), size):
            if any(part <= {*chosen} for part in empty):
                continue
            tried += 1
            if tried > MOST_PARTS or time.monotonic() > deadline:
                return
            zeros = [factors[k] for k in chosen]
            point = _point(case.domain, zeros, factors)
            if point is not None:
                yield SystemAtPoint(point, at_point(case.system, case.domain, point))
                continue
            roots = _roots(case.domain, zeros[0]) if size == 1 else {}
            yield from (SystemAtPoint({}, _without(case.system, zeros[0]), root) for root in roots)
            empty.append(frozenset(chosen))


def _factors(case: InteractiveCase) -> list[Polynomial]:
    """Returns the irreducible factors of probabilities that may be zero on the domain."""
    if case.system.weights.numeric:
        return []
    ring, found = case.domain.ring, dict[str, Polynomial]()
    numerators = {
        str(numerator): numerator
        for row in case.system.rows
        for step in row.values()
        for numerator in (as_function(weight, ring).numerator for _, weight in step)
    }
    for numerator in numerators.values():
        for factor, _ in numerator.factor()[1]:
            known = primitive(factor)[1]
            if set(variables(known)) - {GENERATOR}:
                found.setdefault(str(known), known)
    apart = (Sign.POSITIVE, Sign.NEGATIVE)
    return [f for f in found.values() if sign_on(f, case.domain) not in apart]


def _point(domain: Domain, zeros: list[Polynomial], factors: list[Polynomial]) -> Parameters | None:
    """Returns a point of the domain at which polynomials are zero, and of the factors few others."""
    parts = [Branch(domain)]
    for zero in zeros:
        parts = [part for branch in parts for part in where(branch, branch.restrict(zero))]
    best: tuple[int, Parameters] | None = None
    for part in parts:
        for sample in islice(sample_points(part.domain), MOST_POINTS):
            point = part.lift(sample)
            if not contains(domain, point) or any(sign_at(domain, zero, point) for zero in zeros):
                continue
            vanishing = sum(not sign_at(domain, f, point) for f in factors)
            if best is None or vanishing < best[0]:
                best = vanishing, point
            if vanishing == len(zeros):
                return point
    if best is not None or not parts:
        return best[1] if best else None
    equations = [Constraint(sign * zero, False, "") for zero in zeros for sign in (1, -1)]
    claim = nowhere(replace(domain, constraints=(*domain.constraints, *equations)))
    answer = decide_exactly(claim, RemainingWork(boxes=WORK))
    return {n: answer.point[n] for n in domain.ring.parameters} if isinstance(answer, Refuted) else None


def _roots(domain: Domain, factor: Polynomial) -> Iterator[dict[str, RealRoot]]:
    """Yields the irrational points at which a factor is zero, of a domain with one parameter and no E."""
    if len(domain.ring.parameters) != 1 or domain.constant is not None:
        return
    (name,) = domain.ring.parameters
    interval = domain.box[name]
    constraints = [(univariate(c.polynomial), c.strict) for c in domain.constraints]
    product = univariate(factor)
    for constraint, _ in constraints:
        product *= constraint
    if not product:
        return
    for root in isolate(product, interval.lower, interval.upper):
        signs = [(sign_at_root(constraint, root), strict) for constraint, strict in constraints]
        inside = all(sign > 0 or (sign == 0 and not strict) for sign, strict in signs)
        if not root.is_rational and inside and not sign_at_root(univariate(factor), root):
            yield {name: root}


def _without(system: System, factor: Polynomial) -> System:
    """Returns the system without the steps whose probabilities have a factor, the others equally likely."""
    weights = Weights(system.weights.ring, True)

    def kept(step: Distribution) -> Distribution:
        ring = system.weights.ring
        ends = [s for s, w in step if as_function(w, ring).numerator % factor]
        return tuple((s, weights.of(fmpq(1, len(ends)))) for s in ends)

    rows = tuple({a: kept(step) for a, step in row.items()} for row in system.rows)
    return replace(system, rows=rows, weights=weights)
