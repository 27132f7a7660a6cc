"""Simplification: a chain of steps, each of which reduces a claim to claims that are easier to decide.

A step is a function from a claim to a `Reduction`, or to None where it does not apply. A reduction says how
the proofs of its premises become a proof of the claim, how a point that refutes a premise becomes one that should
refute the claim, and how far it is faithful:

- exact: the claim holds iff all premises hold;
- sound for proof: the claim holds if all premises hold.

Two facts are used all over. (1) f is continuous, so on a box without constraints f ≥ 0 on the box iff f ≥ 0
on its closure. (2) Where such a box has an inside in every variable of f, a factor s ≥ 0 that is not
identically zero can be divided out: the points with s > 0 are dense. Constraints break (2), for they may leave
nothing but points with s = 0; then a step is exact only where s > 0 on the box. (A constraint that holds on
the whole box is not counted.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from random import Random

from flint import fmpq

from paramverify.algebra.domains import Constraint, Domain, Interval
from paramverify.algebra.polynomials import (
    Point,
    Polynomial,
    constant_value,
    fraction,
    is_constant,
    primitive,
    rational,
    substitute,
    value_at,
    variables,
)
from paramverify.algebra.segments import negative_between
from paramverify.algebra.signs import Sign, sign_on
from paramverify.claims import Claim
from paramverify.encodings.refutations import refuter
from paramverify.evidence import certificates
from paramverify.evidence.certificates import CONSTANT, POSITIVE, Proof

MAX_FACTOR_TERMS = 20_000  # larger polynomials are not factored; flint needs well below a second up to here
MAX_FACTOR_DEGREE = 400
MAX_STRETCHED = 100_000  # Bernstein coefficients of a polynomial after a change of variables
MAX_LINEAR = 6  # linear variables that are decided at both ends: at most 2**6 premises

_POSITIVE = (Sign.POSITIVE, Sign.NONNEGATIVE, Sign.ZERO)
_NEGATIVE = (Sign.NEGATIVE, Sign.NONPOSITIVE)
_STRICT = (Sign.POSITIVE, Sign.NEGATIVE)


class Guarantee(Enum):
    """Which verdicts about the premises are verdicts about the claim."""

    EXACT = "exact"
    PROOF = "sound for proof"


@dataclass(frozen=True, eq=False)
class Premise:
    """A claim to be decided instead; `lift` turns a point of its domain into one of the reduced claim's."""

    claim: Claim
    lift: Callable[[Point], Point] = lambda point: point


@dataclass(frozen=True, eq=False)
class Reduction:
    """One step applied: the premises, and how their proofs make a proof of the claim."""

    step: str
    guarantee: Guarantee
    premises: tuple[Premise, ...]
    certify: Callable[[Sequence[Proof]], Proof]


Step = Callable[[Claim], Reduction | None]


@dataclass(frozen=True, eq=False)
class Simplified:
    """A claim with the step that reduced it and the simplified premises; without a step it is a leaf."""

    claim: Claim
    reduction: Reduction | None = None
    parts: tuple[Simplified, ...] = field(default=())

    @property
    def guarantee(self) -> Guarantee:
        """How far the verdicts about the leaves are verdicts about the claim."""
        own = self.reduction.guarantee if self.reduction else Guarantee.EXACT
        exact = own is Guarantee.EXACT and all(part.guarantee is Guarantee.EXACT for part in self.parts)
        return Guarantee.EXACT if exact else Guarantee.PROOF

    @property
    def exact(self) -> bool:
        """Whether the claim holds iff all leaves hold."""
        return self.guarantee is Guarantee.EXACT

    def leaves(self) -> list[Premise]:
        """Returns the claims that are left to decide, each with the lift to a point of this claim."""
        if not self.reduction:
            return [Premise(self.claim)]
        return [
            Premise(leaf.claim, _then(leaf.lift, premise.lift))
            for premise, part in zip(self.reduction.premises, self.parts, strict=True)
            for leaf in part.leaves()
        ]

    def proof(self, proofs: Sequence[Proof]) -> Proof:
        """Returns the proof of the claim, given those of the leaves in their order."""
        rest = list(proofs)[::-1]

        def build(node: Simplified) -> Proof:
            if not node.reduction:
                return rest.pop()
            return node.reduction.certify([build(part) for part in node.parts])

        return build(self)

    def steps(self) -> list[str]:
        """Returns the names of the steps that were applied, the outermost first."""
        own = [self.reduction.step] if self.reduction else []
        return own + [name for part in self.parts for name in part.steps()]


def _then(first: Callable[[Point], Point], second: Callable[[Point], Point]) -> Callable[[Point], Point]:
    return lambda point: second(first(point))


def simplify(claim: Claim, steps: Sequence[str] | None = None, exact: bool = False) -> Simplified:
    """Returns the claim simplified by the named steps, by default all of them, in the order of `STEPS`.

    With `exact` only exact reductions are made. Every reduction removes a variable, lowers a degree or uses
    up a constraint, so this ends.
    """
    chosen = list(STEPS.values()) if steps is None else [STEPS[name] for name in steps]
    for step in chosen:
        reduction = step(claim)
        if reduction and not (exact and reduction.guarantee is not Guarantee.EXACT):
            parts = tuple(simplify(premise.claim, steps, exact) for premise in reduction.premises)
            return Simplified(claim, reduction, parts)
    return Simplified(claim)


def live_constraints(domain: Domain) -> list[tuple[int, Constraint]]:
    """Returns the constraints that do not hold on the whole box, as far as their signs show, with their indices."""
    return [(k, c) for k, c in enumerate(domain.constraints) if not _holds_on_box(c, domain)]


def _holds_on_box(constraint: Constraint, domain: Domain) -> bool:
    sign = sign_on(constraint.polynomial, domain)
    return sign is Sign.POSITIVE or (not constraint.strict and sign in _POSITIVE)


def _free(domain: Domain) -> Callable[[str], bool]:
    """Returns a function that tells whether nothing but its interval restricts a variable."""
    bound = {name for _, c in live_constraints(domain) for name in variables(c.polynomial)}
    return lambda name: name not in bound


def _about(claim: Claim, polynomial: Polynomial) -> Claim:
    return replace(claim, polynomial=polynomial)


def _fails(claim: Claim, step: str, at: Point, guarantee: Guarantee) -> Reduction:
    """Returns the reduction to the false claim −1 ≥ 0, refuted at the given point."""
    false = Premise(_about(claim, claim.domain.ring.number(-1)), lambda _: at)
    return Reduction(step, guarantee, (false,), lambda proofs: proofs[0])


# --- the steps --------------------------------------------------------------------------------------


def sign_step(claim: Claim) -> Reduction | None:
    """The claim is decided by its Bernstein coefficients on the box, or is a constraint itself."""
    polynomial = claim.polynomial
    if is_constant(polynomial):
        if constant_value(polynomial) < 0:
            return None
        return Reduction("sign", Guarantee.EXACT, (), lambda _: CONSTANT)
    sign = sign_on(polynomial, claim.domain)
    if sign in _POSITIVE:
        return Reduction("sign", Guarantee.EXACT, (), lambda _: POSITIVE)
    for index, constraint in enumerate(claim.domain.constraints):
        quotient = _quotient(polynomial, constraint.polynomial)
        if quotient > 0:
            proof = certificates.constraint(index, quotient, CONSTANT)
            return Reduction("sign", Guarantee.EXACT, (), lambda _: proof)
    if sign in _NEGATIVE and not live_constraints(claim.domain):
        return _fails(claim, "sign", {}, Guarantee.EXACT)
    return None


def fixed_step(claim: Claim) -> Reduction | None:
    """A variable whose interval is one point is replaced by it."""
    domain = claim.domain
    mentioned = set(variables(claim.polynomial)).union(*(variables(c.polynomial) for c in domain.constraints))
    name = next((n for n, interval in domain.box.items() if interval.is_point and n in mentioned), None)
    if name is None:
        return None
    value = {name: domain.box[name].lower}
    constraints = tuple(replace(c, polynomial=substitute(c.polynomial, value)) for c in domain.constraints)
    reduced = replace(
        claim,
        polynomial=substitute(claim.polynomial, value),
        domain=replace(domain, constraints=constraints),
    )
    premise = Premise(reduced, _setting(value))
    return Reduction("fixed", Guarantee.EXACT, (premise,), lambda proofs: certificates.fixed(name, proofs[0]))


def _setting(values: Point) -> Callable[[Point], Point]:
    return lambda point: {**point, **values}


@dataclass(frozen=True, eq=False)
class _Factor:
    """A primitive irreducible factor; `sign` and `proof` where its sign on the domain is known."""

    polynomial: Polynomial
    multiplicity: int
    sign: Sign | None
    proof: Proof | None

    @property
    def direction(self) -> int:
        return -1 if self.sign in _NEGATIVE else 1


def factor_step(claim: Claim) -> Reduction | None:
    """Content, even powers and factors of known sign are divided out, the others become claims of their own.

    Without constraints every irreducible factor of odd multiplicity must have one sign on the box: where it changes its sign,
    the other factors do not vanish identically (they are coprime to it), so the product changes its sign. The
    sign that it must have is the one at any point where it is not zero.
    """
    polynomial, domain = claim.polynomial, claim.domain
    if is_constant(polynomial) or not _factorable(polynomial):
        return None
    if any(domain.box[name].is_point for name in variables(polynomial)):
        return None  # the box has no inside; the step for fixed variables is switched off
    constant, found = factorisation(polynomial)
    if len(found) == 1 and found[0][1] == 1:
        return None
    live = live_constraints(domain)
    factors = [_with_sign(g, m, domain, live) for g, m in found]
    unknown = [f for f in factors if f.multiplicity % 2 and f.sign is None]
    direction = 1 if constant > 0 else -1
    for known in factors:
        if known.multiplicity % 2 and known.sign is not None:
            direction *= known.direction
    if live:
        strict = all(f.sign in _STRICT or (f in unknown and f.multiplicity == 1) for f in factors)
        guarantee = Guarantee.EXACT if strict else Guarantee.PROOF
        return _product_left(claim, constant, factors, unknown, direction, guarantee)
    start = _generic_point(domain, [f.polynomial for f in factors])
    signs = [1 if value_at(f.polynomial, start) > 0 else -1 for f in unknown]
    for sign in signs:
        direction *= sign
    if direction < 0:
        return _fails(claim, "factors", start, Guarantee.EXACT)
    base = {name: interval.simplest() for name, interval in domain.box.items()}

    def lift(point: Point) -> Point:
        # On the way from where a factor has the wrong sign to `start`, f is negative: near the point, if only
        # known factors vanish there, or on one side of the place where the factor changes its sign.
        point = {**base, **point}
        return (
            point
            if value_at(polynomial, point) < 0
            else next(negative_between(polynomial, point, start), point)
        )

    premises = tuple(
        Premise(_about(claim, f.polynomial * sign), lift) for f, sign in zip(unknown, signs, strict=True)
    )

    def certify(proofs: Sequence[Proof]) -> Proof:
        shown = {id(f): (s, p) for f, s, p in zip(unknown, signs, proofs, strict=True)}
        return certificates.factors(
            constant,
            [(f.polynomial, f.multiplicity, *shown.get(id(f), (f.direction, f.proof))) for f in factors],
        )

    return Reduction("factors", Guarantee.EXACT, premises, certify)


def _product_left(
    claim: Claim,
    constant: Fraction,
    factors: Sequence[_Factor],
    unknown: Sequence[_Factor],
    direction: int,
    guarantee: Guarantee,
) -> Reduction | None:
    """Returns the reduction to the product of the factors of unknown sign, which constraints may couple."""
    if len(unknown) == len(factors) and all(f.multiplicity == 1 for f in factors):
        return None
    if not unknown and direction < 0:
        return None  # f ≤ 0: the claim holds only where the constraints leave points with f = 0, or none
    rest = claim.domain.ring.number(1)
    for factor in unknown:
        rest = rest * factor.polynomial
    known = [
        (f.polynomial, f.multiplicity - (f in unknown), f.direction, f.proof)
        for f in factors
        if f not in unknown or f.multiplicity > 1
    ]

    def certify(proofs: Sequence[Proof]) -> Proof:
        if not unknown:
            return certificates.factors(constant, known)
        return certificates.factors(constant, [*known, (rest, 1, direction, proofs[0])])

    if not unknown:
        return Reduction("factors", Guarantee.EXACT, (), certify)
    premise = Premise(_about(claim, rest * direction))
    return Reduction("factors", guarantee, (premise,), certify)


def _factorable(polynomial: Polynomial) -> bool:
    return len(polynomial) <= MAX_FACTOR_TERMS and int(polynomial.total_degree()) <= MAX_FACTOR_DEGREE


def factorisation(polynomial: Polynomial) -> tuple[Fraction, list[tuple[Polynomial, int]]]:
    """Returns a constant and primitive irreducible polynomials with multiplicities, whose product this is."""
    lead, found = polynomial.factor()
    constant = fmpq(lead)
    result = []
    for g, m in found:
        content, g = primitive(g)
        constant *= rational(content) ** int(m)
        result.append((g, int(m)))
    return fraction(constant), result


def _with_sign(
    polynomial: Polynomial, multiplicity: int, domain: Domain, live: Sequence[tuple[int, Constraint]]
) -> _Factor:
    for index, constraint in live:
        quotient = _quotient(polynomial, constraint.polynomial)
        if quotient:
            sign = Sign.POSITIVE if constraint.strict else Sign.NONNEGATIVE
            proof = certificates.constraint(index, abs(quotient), CONSTANT)
            return _Factor(polynomial, multiplicity, sign if quotient > 0 else -sign, proof)
    return _Factor(polynomial, multiplicity, sign_on(polynomial, domain), POSITIVE)


def _quotient(left: Polynomial, right: Polynomial) -> Fraction:
    """Returns c with left = c·right, for a left side that is not zero; 0 if there is none."""
    if len(left) != len(right):
        return Fraction(0)
    quotient = left.leading_coefficient() / right.leading_coefficient()
    return fraction(quotient) if left == right * quotient else Fraction(0)


def _generic_point(domain: Domain, polynomials: Sequence[Polynomial]) -> dict[str, Fraction]:
    """Returns a point inside the box where none of the polynomials vanishes; none of them is zero."""
    ratios = {name: Fraction(1, 2) for name in domain.box}
    draws = Random(1)
    bottom = 7
    while True:
        point = {n: i.lower + (i.upper - i.lower) * ratios[n] for n, i in domain.box.items()}
        if all(value_at(f, point) for f in polynomials):
            return point
        # More and more values for each coordinate: a polynomial that is not zero misses one of the choices.
        bottom *= 2
        ratios = {name: Fraction(draws.randrange(1, bottom), bottom) for name in domain.box}


def content_step(claim: Claim) -> Reduction | None:
    """A positive number is divided out, so that the coefficients become coprime whole numbers."""
    if is_constant(claim.polynomial):
        return None
    content, reduced = primitive(claim.polynomial)
    if content == 1:
        return None

    def certify(proofs: Sequence[Proof]) -> Proof:
        return certificates.factors(content, [(reduced, 1, 1, proofs[0])])

    return Reduction("content", Guarantee.EXACT, (Premise(_about(claim, reduced)),), certify)


def monotone_step(claim: Claim) -> Reduction | None:
    """A variable in which f is monotone on the box is replaced by the end where f is smallest.

    Exact: the end belongs to the closure of the box, and nothing else restricts the variable.
    """
    domain, free = claim.domain, _free(claim.domain)
    for name in filter(free, variables(claim.polynomial)):
        sign = sign_on(claim.polynomial.derivative(name), domain)
        if sign is not None:
            return _at_smaller_end(claim, name, 0 if sign in _POSITIVE else 1)
    return None


def _at_smaller_end(claim: Claim, name: str, end: int) -> Reduction:
    interval = claim.domain.box[name]
    value = {name: interval.upper if end else interval.lower}
    premise = Premise(_about(claim, substitute(claim.polynomial, value)), _setting(value))
    return Reduction(
        "monotone",
        Guarantee.EXACT,
        (premise,),
        lambda proofs: certificates.monotone(name, end, POSITIVE, proofs[0]),
    )


def ends_step(claim: Claim) -> Reduction | None:
    """A variable in which f is linear or concave on the box is replaced by both of its ends.

    Exact: both ends belong to the closure of the box, and nothing else restricts the variable.
    """
    domain, polynomial = claim.domain, claim.polynomial
    degrees = dict(zip(domain.ring.names, map(int, polynomial.degrees()), strict=True))
    candidates = [n for n in variables(polynomial) if degrees[n] == 1]
    if len(candidates) > MAX_LINEAR:
        return None
    candidates += [n for n in variables(polynomial) if degrees[n] > 1]
    for name in filter(_free(domain), candidates):
        concave = None
        if degrees[name] > 1:
            if sign_on(polynomial.derivative(name).derivative(name), domain) not in _NEGATIVE:
                continue
            concave = POSITIVE
        return _at_both_ends(claim, name, concave)
    return None


def _at_both_ends(claim: Claim, name: str, concave: Proof | None) -> Reduction:
    interval = claim.domain.box[name]
    values: list[Point] = [{name: interval.lower}, {name: interval.upper}]
    premises = tuple(
        Premise(_about(claim, substitute(claim.polynomial, value)), _setting(value)) for value in values
    )
    return Reduction(
        "ends",
        Guarantee.EXACT,
        premises,
        lambda proofs: certificates.ends(name, proofs[0], proofs[1], concave),
    )


def equation_step(claim: Claim) -> Reduction | None:
    """Constraints g ≥ 0 and −g ≥ 0 with g linear in a variable, up to a number, give the value of that variable."""
    domain = claim.domain
    live = live_constraints(domain)
    for i, first in live:
        for j, second in live:
            if i < j and _opposite(first.polynomial, second.polynomial):
                for name in variables(first.polynomial):
                    bound = _bound(first.polynomial, name)
                    if bound:
                        return _eliminated(claim, name, bound[1], i, j)
    return None


def _opposite(left: Polynomial, right: Polynomial) -> bool:
    return bool(primitive(left)[1] == -primitive(right)[1])


def _bound(polynomial: Polynomial, name: str) -> tuple[Fraction, Polynomial] | None:
    """Returns (a, u) if the polynomial is a·(x − u) with a number a and u without x."""
    slope = polynomial.derivative(name)
    if not slope or not is_constant(slope):
        return None
    a = constant_value(slope)
    return a, substitute(polynomial, {name: Fraction(0)}) / rational(-a)


def _eliminated(claim: Claim, name: str, value: Polynomial, i: int, j: int) -> Reduction:
    domain, ring = claim.domain, claim.domain.ring
    interval = domain.box[name]
    room = (
        Constraint(value - ring.number(interval.lower), not interval.lower_closed, ""),
        Constraint(ring.number(interval.upper) - value, not interval.upper_closed, ""),
    )
    reduced = _replaced(claim, name, value, interval, {i, j}, room)

    lift = _inside(reduced, name, value)

    return Reduction(
        "equations",
        Guarantee.EXACT,
        (Premise(reduced, lift),),
        lambda proofs: certificates.eliminate(name, i, j, proofs[0]),
    )


def stretch_step(claim: Claim) -> Reduction | None:
    """A constraint that bounds x by a polynomial u in other variables is turned into an interval.

    With x = e + (u − e)·x', where e is the other end of x, x runs from e to u as x' runs from 0 to 1. What is
    left of the constraint is ±(u − e) ≥ 0. So p + q ≤ 1 in the unit square becomes p = (1 − q)·p', a box.
    Exact where the box's own bound beyond u is implied; only such variables are taken.
    """
    domain = claim.domain
    for index, constraint in live_constraints(domain):
        names = variables(constraint.polynomial)
        degrees = dict(zip(domain.ring.names, map(int, claim.polynomial.degrees()), strict=True))
        for name in sorted(names, key=lambda n: degrees[n]):
            bound = _bound(constraint.polynomial, name)
            if bound and (reduction := _stretched(claim, name, index, *bound)):
                return reduction
    return None


def _stretched(claim: Claim, name: str, index: int, a: Fraction, bound: Polynomial) -> Reduction | None:
    domain, ring = claim.domain, claim.domain.ring
    interval, strict = domain.box[name], domain.constraints[index].strict
    below = a < 0  # x ≤ u
    near, far = (interval.lower, interval.upper) if below else (interval.upper, interval.lower)
    implied = ring.number(far) - bound if below else bound - ring.number(far)
    if sign_on(implied, domain) not in _POSITIVE:
        return None
    reach = bound - ring.number(near)
    image = ring.number(near) + reach * ring.variable(name)
    closed = interval.lower_closed if below else interval.upper_closed
    room = Constraint(reach if below else -reach, strict, "")
    unit = Interval(Fraction(0), Fraction(1), closed, not strict)
    if _size_after(claim.polynomial, name, bound) > MAX_STRETCHED:
        return None
    reduced = _replaced(claim, name, image, unit, {index}, (room,))

    lift = _inside(reduced, name, image)

    return Reduction(
        "stretch",
        Guarantee.EXACT,
        (Premise(reduced, lift),),
        lambda proofs: certificates.stretch(name, index, proofs[0]),
    )


def _inside(reduced: Claim, name: str, image: Polynomial) -> Callable[[Point], Point]:
    """Returns the lift that replaces a variable by its image, at a point of the reduced domain if there is one.

    The reduced domain is simpler than the claim's, so points of it that refute are easier to find.
    """
    confirm = refuter(reduced)

    def lift(point: Point) -> Point:
        complete = {**{n: b.simplest() for n, b in reduced.domain.box.items()}, **(confirm(point) or point)}
        return {**complete, name: value_at(image, complete)}

    return lift


def _size_after(polynomial: Polynomial, name: str, bound: Polynomial) -> int:
    """Returns a bound on the number of Bernstein coefficients after x is replaced by a multiple of the bound."""
    names = [str(n) for n in polynomial.context().names()]
    steps = int(polynomial.degrees()[names.index(name)])
    size = 1
    for own, more in zip(polynomial.degrees(), bound.degrees(), strict=True):
        size *= int(own) + steps * int(more) + 1
    return size


def _replaced(
    claim: Claim,
    name: str,
    image: Polynomial,
    interval: Interval,
    used: set[int],
    more: tuple[Constraint, ...],
) -> Claim:
    """Returns the claim with a variable replaced, used constraints made trivial (indices stay), and new ones."""
    domain = claim.domain
    images = [image if n == name else domain.ring.variable(n) for n in domain.ring.names]
    trivial = Constraint(domain.ring.number(1), False, "")
    constraints = tuple(
        trivial if k in used else replace(c, polynomial=c.polynomial.compose(*images))
        for k, c in enumerate(domain.constraints)
    )
    box = {**domain.box, name: interval}
    reduced = replace(domain, box=box, constraints=(*constraints, *more))
    return replace(claim, polynomial=claim.polynomial.compose(*images), domain=reduced)


STEPS: Mapping[str, Step] = {
    "fixed": fixed_step,
    "sign": sign_step,
    "equations": equation_step,
    "stretch": stretch_step,
    "factors": factor_step,
    "content": content_step,
    "monotone": monotone_step,
    "ends": ends_step,
}
