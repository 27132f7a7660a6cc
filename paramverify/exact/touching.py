"""Boxes on which f may touch zero: arguments that decide them where cutting them up never would.

Each argument looks at a box and returns an outcome for it, or points at which to cut, or None. They are tried
in this order: convexity and the exact minimum; a factor shared with a constraint; a cut at a rational
zero; a square completed in one variable; and cones around a vertex where f vanishes to second order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, product

from paramverify.algebra.bernstein import Patch
from paramverify.algebra.convexity import ROUGH_BITS, is_convex, minimum
from paramverify.algebra.domains import Constraint, Domain, Interval
from paramverify.algebra.number_fields import FINE_BITS, AlgebraicPoint, field_polynomial
from paramverify.algebra.polynomials import (
    Point,
    Polynomial,
    constant_value,
    is_constant,
    key,
    primitive,
    rational,
    substitute,
    value_at,
    variables,
)
from paramverify.algebra.signs import Sign, sign_on
from paramverify.algebra.simplest import simplest_between
from paramverify.claims import Claim
from paramverify.evidence import certificates
from paramverify.evidence.certificates import POSITIVE, Proof
from paramverify.exact.settling import Outcome, RemainingWork, through
from paramverify.formats.refutations import Confirm
from paramverify.simplify.reductions import AT_LEAST_ZERO

MAX_LEVEL = 6  # arguments inside arguments
MAX_PINNED_AXES = 3
ATTEMPT_BOXES = 500  # for each try to complete a square
BLOWUP_ROUNDS = 4  # cuts of each axis before a vertex where f vanishes to first order only is blown up

Solve = Callable[[Claim, RemainingWork, Confirm, int], Outcome]
Pins = tuple[tuple[str, Fraction], ...]


@dataclass(frozen=True, eq=False)
class Situation:
    """A claim on one closed box of a search: what is needed to decide it by other means.

    `form` has the coefficients of f on the box, `undecided` the indices of constraints that may cut the box;
    `rounds` counts the cuts of each axis, on average, and `level` the arguments around this one.
    """

    claim: Claim
    box: Mapping[str, Interval]
    form: Patch
    undecided: tuple[int, ...]
    rounds: int
    level: int
    work: RemainingWork
    confirm: Confirm
    solve: Solve

    @property
    def domain(self) -> Domain:
        """The domain of the claim, with the smaller box."""
        return replace(self.claim.domain, box={**self.claim.domain.box, **self.box})


def without(domain: Domain, name: str) -> Domain:
    """Returns the domain without the constraints on a variable; the others keep their indices."""
    trivial = Constraint(domain.ring.number(1), False, "")
    constraints = tuple(trivial if name in variables(c.polynomial) else c for c in domain.constraints)
    return replace(domain, constraints=constraints)


def by_convexity(here: Situation) -> Outcome | None:
    """Where f is convex, its minimum decides the box, if it can be recognised."""
    if not is_convex(here.form):
        return None
    f, precise = here.claim.polynomial, False

    def allowed(bits: int) -> bool:
        nonlocal precise
        if bits == ROUGH_BITS:
            return True
        # Evaluating f a few dozen times at numbers of so many bits, in units of about half a microsecond.
        cost = 40 * len(f) * int(f.total_degree()) * bits * bits // FINE_BITS**2
        affordable = here.work.affords(cost)
        precise = precise or affordable
        return affordable

    found = minimum(f, here.box, allowed)
    if found.below is not None:
        point = here.confirm(found.below)
        return Outcome(point=point) if point is not None else None
    if found.tangent is not None:
        return Outcome(proof=certificates.convex(found.tangent))
    if found.zero is not None:
        return Outcome(proof=_algebraic(found.zero))
    if precise:
        here.work.failed()
    return None


def _algebraic(point: AlgebraicPoint) -> Proof:
    coordinates = {name: key(field_polynomial(image)) for name, image in point.coordinates.items()}
    return certificates.convex_algebraic(key(field_polynomial(point.minimal)), point.interval, coordinates)


def by_shared_factor(here: Situation) -> Outcome | None:
    """With f = h·a, a constraint h·b ≥ 0, and b of one sign on the box: f ≥ 0 if a has the same sign."""
    f, domain = here.claim.polynomial, replace(here.domain, constraints=())
    for k in here.undecided:
        constraint = here.claim.domain.constraints[k].polynomial
        h = primitive(f.gcd(constraint))[1]
        if is_constant(h):
            continue
        a, b = f / h, constraint / h
        found = sign_on(b, domain)
        if found not in (Sign.POSITIVE, Sign.NEGATIVE):
            continue
        sign = 1 if found is Sign.POSITIVE else -1
        if sign_on(a * sign, domain) in AT_LEAST_ZERO:
            # The constraint that `divide` appends says sign·h ≥ 0.
            index = len(here.claim.domain.constraints)
            known = (h, 1, sign, certificates.constraint(index, Fraction(1), certificates.CONSTANT))
            rest = [] if is_constant(a) else [(a, 1, sign, POSITIVE)]
            number = constant_value(a) if is_constant(a) else Fraction(1)
            proof = certificates.factors(number, [known, *rest])
            return Outcome(proof=certificates.divide(k, h, b, sign, proof))
    return None


def by_rational_zero(here: Situation) -> Outcome | Pins | None:
    """The simplest rational point of the box, or of a face, refutes if f < 0; if f = 0, the cut is there."""
    names = here.form.names
    if len(names) > MAX_PINNED_AXES:
        return None
    f = here.claim.polynomial
    origin = dict.fromkeys(here.claim.domain.ring.names, Fraction(0))
    ends = [(here.box[n].lower, here.box[n].upper) for n in names]
    middles = [simplest_between(*pair) for pair in ends]
    for values in product(*((middle, *pair) for middle, pair in zip(middles, ends, strict=True))):
        inside = [n for n, value, middle in zip(names, values, middles, strict=True) if value == middle]
        if not inside:
            continue
        point = dict(zip(names, values, strict=True))
        value = value_at(f, {**origin, **point})
        if value < 0 and (confirmed := here.confirm(point)) is not None:
            return Outcome(point=confirmed)
        if value == 0:
            # A cut helps in those coordinates along which f is not zero throughout.
            rest = {n: {m: v for m, v in point.items() if m != n} for n in inside}
            pins = tuple((n, point[n]) for n in inside if substitute(f, rest[n]))
            if pins:
                return pins
    return None


def by_square(here: Situation) -> Outcome | None:
    """f = a·x² + b·x + c ≥ 0 for all real x if a ≥ 0, c ≥ 0 and 4·a·c − b² ≥ 0.

    This resolves zeros along curves, where the discriminant is often a multiple of a square. It proves, but
    does not refute: x is not any real number.
    """
    f = here.claim.polynomial
    if here.level >= MAX_LEVEL:
        return None
    for name in variables(f):
        second = f.derivative(name).derivative(name)
        if not second or second.derivative(name) or sign_on(second, here.domain) not in AT_LEAST_ZERO:
            continue
        zero = {name: Fraction(0)}
        a, b, c = second / 2, substitute(f.derivative(name), zero), substitute(f, zero)
        work, domain, proofs = here.work.part(ATTEMPT_BOXES), without(here.domain, name), []
        for part in (c, 4 * a * c - b * b):
            outcome = here.solve(Claim(part, domain), work, lambda point: point, here.level + 1)
            if outcome.proof is None:
                break
            proofs.append(outcome.proof)
        else:
            return Outcome(proof=certificates.quadratic(name, POSITIVE, *proofs))
    return None


def by_blowup(here: Situation) -> Outcome | None:
    """Decides the box by cones around a vertex, edge or larger face where f vanishes; see `_cones`.

    Bernstein coefficients there behave as those of the lowest form of f, on however small a box.
    """
    form = here.form
    if here.level >= MAX_LEVEL or all(value for _, value in form.corners()):
        return None
    order = 1 if here.rounds >= BLOWUP_ROUNDS else 2
    for size in range(2, len(form.names) + 1):
        for axes in combinations(range(len(form.names)), size):
            for ends in product((0, 1), repeat=size):
                if form.vanishes(dict(zip(axes, ends, strict=True)), order):
                    return _cones(here, {form.names[a]: end for a, end in zip(axes, ends, strict=True)})
    return None


def _cones(here: Situation, corner: Mapping[str, int]) -> Outcome:
    """Decides a claim on each cone around a face: one distance s is largest there, the others are r·s."""
    ring = here.claim.domain.ring
    start, way = {}, {}
    for name, end in corner.items():
        interval = here.box[name]
        first, last = (interval.upper, interval.lower) if end else (interval.lower, interval.upper)
        start[name], way[name] = first, last - first
    proofs: dict[str, Proof] = {}
    for largest in corner:
        s = (ring.variable(largest) - ring.number(start[largest])) / rational(way[largest])
        images = {
            n: ring.variable(n) * s * rational(way[n]) + ring.number(start[n]) for n in corner if n != largest
        }
        arguments = [images.get(n, ring.variable(n)) for n in ring.names]
        reduced = replace(
            here.domain,
            box={**here.domain.box, **dict.fromkeys(images, Interval(Fraction(0), Fraction(1), True, True))},
            constraints=tuple(
                replace(c, polynomial=c.polynomial.compose(*arguments)) for c in here.claim.domain.constraints
            ),
        )
        claim = replace(here.claim, polynomial=here.claim.polynomial.compose(*arguments), domain=reduced)
        confirm = through(_cone_lift(reduced, images), here.confirm)
        outcome = here.solve(claim, here.work, confirm, here.level + 1)
        if outcome.proof is None:
            return outcome
        proofs[largest] = outcome.proof
    return Outcome(proof=certificates.blowup(corner, proofs))


def _cone_lift(domain: Domain, images: Mapping[str, Polynomial]) -> Callable[[Point], Point]:
    base = {name: interval.simplest() for name, interval in domain.box.items()}

    def lift(point: Point) -> Point:
        full = {**base, **point}
        return {**full, **{name: value_at(image, full) for name, image in images.items()}}

    return lift
