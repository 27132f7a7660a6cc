"""Simplification: a chain of steps, each of which reduces a claim to claims that are easier to decide.

A step is a function from a claim to a `Reduction`, or to None where it does not apply; see `reductions` for
what its guarantees mean. Every step can be left out by name, so that its effect can be measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial

from paramverify.algebra.domains import Constraint, Interval
from paramverify.algebra.one_product import OneProduct, is_large, one_product
from paramverify.algebra.polynomials import (
    Point,
    Polynomial,
    constant_value,
    is_constant,
    primitive,
    rational,
    substitute,
    value_at,
    variables,
)
from paramverify.algebra.real_roots import sign_at
from paramverify.algebra.signs import Sign, sign_on
from paramverify.claims import Claim
from paramverify.evidence import certificates
from paramverify.evidence.certificates import CONSTANT, POSITIVE, Proof
from paramverify.formats.refutations import fails_at, refuter
from paramverify.simplify.computer_algebra import ideal_step, sympy_step
from paramverify.simplify.reductions import (
    AT_LEAST_ZERO,
    AT_MOST_ZERO,
    Guarantee,
    Premise,
    Reduction,
    Step,
    about,
    factor_step,
    live_constraints,
    quotient,
    refuted,
    set_to,
    setting,
    unrestricted,
)
from paramverify.simplify.step_names import BUILT_IN

MAX_STRETCHED = 100_000  # Bernstein coefficients of a polynomial after a change of variables


def empty_step(claim: Claim) -> Reduction | None:
    """A constraint that fails on the whole box leaves no point, so the claim holds."""
    for index, constraint in live_constraints(claim.domain):
        sign = sign_on(constraint.polynomial, claim.domain)
        if sign is Sign.NEGATIVE or (constraint.strict and sign in (Sign.NONPOSITIVE, Sign.ZERO)):
            return Reduction("empty", Guarantee.EXACT, (), partial(_nowhere, index))
    return None


def _nowhere(index: int, proofs: Sequence[Proof]) -> Proof:
    return certificates.tree([certificates.outside(index)])


def equation_step(claim: Claim) -> Reduction | None:
    """Constraints g ≥ 0 and −g ≥ 0, with g = a·(x − u) for a number a, replace the variable x by u."""
    domain = claim.domain
    live = live_constraints(domain)
    for i, first in live:
        for j, second in live:
            if i < j and _opposite(first.polynomial, second.polynomial):
                if first.strict or second.strict:
                    return Reduction("equations", Guarantee.EXACT, (), partial(_impossible, i, j))
                for name in variables(first.polynomial):
                    bound = _bound(first.polynomial, name)
                    if bound:
                        return _eliminated(claim, name, bound[1], i, j)
    return None


def _impossible(i: int, j: int, proofs: Sequence[Proof]) -> Proof:
    return certificates.contradiction(i, j)


def _opposite(left: Polynomial, right: Polynomial) -> bool:
    return bool(left) and bool(primitive(left)[1] == -primitive(right)[1])


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
    reduced = _replaced(claim, name, image=value, interval=interval, used={i, j}, more=room)

    lift = _inside(claim, reduced, name, value)

    return Reduction(
        "equations",
        Guarantee.EXACT,
        (Premise(reduced, lift, ((name, " = ", value),)),),
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
    if sign_on(implied, domain) not in AT_LEAST_ZERO:
        return None
    reach = bound - ring.number(near)
    image = ring.number(near) + reach * ring.variable(name)
    closed = interval.lower_closed if below else interval.upper_closed
    # Where the other end is open, or the constraint strict, there is no x with u = e.
    room = Constraint(reach if below else -reach, strict or not closed, "")
    unit = Interval(Fraction(0), Fraction(1), closed, not strict)
    if _size_after(claim.polynomial, name, bound) > MAX_STRETCHED:
        return None
    reduced = _replaced(claim, name, image=image, interval=unit, used={index}, more=(room,))

    lift = _inside(claim, reduced, name, image)

    return Reduction(
        "stretch",
        Guarantee.EXACT,
        (Premise(reduced, lift, ((name, " = ", image, " with ", name, " in ", unit, " on the right"),)),),
        lambda proofs: certificates.stretch(name, index, proofs[0]),
    )


def _inside(claim: Claim, reduced: Claim, name: str, image: Polynomial) -> Callable[[Point], Point]:
    """Returns the lift that replaces a variable by its image.

    The reduced domain is simpler than the claim's, so there a point is moved until the claim fails.
    """
    base = {n: interval.simplest() for n, interval in reduced.domain.box.items()}

    def complete(point: Point) -> Point:
        point = {**base, **point}
        return {**point, name: value_at(image, point)}

    def accept(point: Point) -> Point | None:
        lifted = complete(point)
        return lifted if fails_at(claim, lifted) else None

    confirm = refuter(reduced, accept)
    return lambda point: confirm(point) or complete(point)


def _size_after(polynomial: Polynomial, name: str, bound: Polynomial) -> int:
    """Returns how many Bernstein coefficients there may be after x is replaced by a multiple of the bound."""
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
    """Returns the claim with a variable replaced, used constraints made trivial, and new ones appended."""
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


BITS = (64, 256, 1024)  # of a point at which u has nearly the wanted value


def product_step(claim: Claim) -> Reduction | None:
    """A claim f(x) = g(u) with u = ∏ sᵢ^vᵢ, sᵢ = xᵢ or 1 − xᵢ, becomes g(x) ≥ 0 for one of the variables.

    Exact: u is continuous, and the closed box is mapped onto an interval. A point that refutes g is near one
    with a rational x at which g(u) is negative, too.
    """
    polynomial, box = claim.polynomial, claim.domain.box
    if not is_large(polynomial):
        return None
    if claim.domain.ring.tied:
        return None  # a variable that stands for a logarithm of x would move with x
    names = variables(polynomial)
    if not all(map(unrestricted(claim.domain), names)) or any(box[name].is_point for name in names):
        return None
    form = one_product(polynomial)
    if form is None or not form.holds_on(box):
        return None
    name = names[0]
    low, high = form.values({n: (box[n].lower, box[n].upper) for n in names})
    ring = claim.domain.ring
    place = ring.names.index(name)
    outer = ring.from_terms(
        {
            tuple(k * (n == place) for n in range(len(ring.names))): Fraction(int(form.outer[k]))
            for k in range(form.outer.degree() + 1)
            if form.outer[k]
        }
    )
    domain = replace(claim.domain, box={**box, name: Interval(low, high, True, True)})

    def lift(point: Point) -> Point:
        wanted = point[name] if name in point else domain.box[name].simplest()
        return {**point, **_with_value(form, box, wanted)}

    def certify(proofs: Sequence[Proof]) -> Proof:
        return certificates.product(name, form.powers, form.reflected, proofs[0])

    factors = (f"(1 - {n})^{k}" if n in form.reflected else f"{n}^{k}" for n, k in form.powers.items())
    notes = ((name, " stands for ", "*".join(factors)),)
    premise = Premise(replace(claim, polynomial=outer, domain=domain), lift, notes)
    return Reduction("product", Guarantee.EXACT, (premise,), certify)


def _with_value(form: OneProduct, box: Mapping[str, Interval], wanted: Fraction) -> Point:
    """Returns a point of the box at which u is nearly the wanted value, on a line between two vertices."""
    found: Point = {}
    for bits in BITS:
        low, high = Fraction(0), Fraction(1)
        for _ in range(bits):
            middle = (low + high) / 2
            found = _on_line(form, box, middle)
            if _value(form, found) < wanted:
                low = middle
            else:
                high = middle
        if sign_at(form.outer, _value(form, found)) < 0:
            break
    return found


def _on_line(form: OneProduct, box: Mapping[str, Interval], share: Fraction) -> Point:
    """Returns the point at a share of the way on which all sᵢ grow."""
    ends = {n: (box[n].lower, box[n].upper) for n in form.powers}
    return {
        n: b + (a - b) * share if n in form.reflected else a + (b - a) * share for n, (a, b) in ends.items()
    }


def _value(form: OneProduct, point: Point) -> Fraction:
    return form.values({n: (x, x) for n, x in point.items()})[0]


MAX_LINEAR = 6  # linear variables that are decided at both ends: at most 2**6 premises


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
        """Returns the claims that are left, each with the lift to a point of this claim and what was done."""
        if not self.reduction:
            return [Premise(self.claim)]
        return [
            Premise(leaf.claim, _then(leaf.lift, premise.lift), premise.notes + leaf.notes)
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
    """Returns the claim simplified by the named steps, by default by all that are `BUILT_IN`.

    With `exact` only exact reductions are made. Every reduction removes a variable, lowers a degree or uses
    up a constraint, so this ends.
    """
    for name in BUILT_IN if steps is None else steps:
        reduction = STEPS[name](claim)
        if reduction and not (exact and reduction.guarantee is not Guarantee.EXACT):
            parts = tuple(simplify(premise.claim, steps, exact) for premise in reduction.premises)
            return Simplified(claim, reduction, parts)
    return Simplified(claim)


def sign_step(claim: Claim) -> Reduction | None:
    """The claim is decided by its Bernstein coefficients on the box, or is a constraint itself."""
    polynomial = claim.polynomial
    if is_constant(polynomial):
        if constant_value(polynomial) < 0:
            return None
        return Reduction("sign", Guarantee.EXACT, (), lambda _: CONSTANT)
    sign = sign_on(polynomial, claim.domain)
    if sign in AT_LEAST_ZERO:
        return Reduction("sign", Guarantee.EXACT, (), lambda _: POSITIVE)
    quotients = (quotient(polynomial, c.polynomial) for c in claim.domain.constraints)
    same = next(((k, q) for k, q in enumerate(quotients) if q > 0), None)
    if same:
        return Reduction("sign", Guarantee.EXACT, (), lambda _: certificates.constraint(*same, CONSTANT))
    if sign in AT_MOST_ZERO and not live_constraints(claim.domain):
        return refuted(claim, "sign", {}, Guarantee.EXACT)
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
    premise = Premise(reduced, setting(value), set_to(value))
    return Reduction("fixed", Guarantee.EXACT, (premise,), lambda proofs: certificates.fixed(name, proofs[0]))


def content_step(claim: Claim) -> Reduction | None:
    """A positive number is divided out, so that the coefficients become coprime whole numbers."""
    if is_constant(claim.polynomial):
        return None
    content, reduced = primitive(claim.polynomial)
    if content == 1:
        return None

    def certify(proofs: Sequence[Proof]) -> Proof:
        return certificates.factors(content, [(reduced, 1, 1, proofs[0])])

    return Reduction("content", Guarantee.EXACT, (Premise(about(claim, reduced)),), certify)


def monotone_step(claim: Claim) -> Reduction | None:
    """A variable in which f is monotone on the box is replaced by the end where f is smallest.

    Exact: the end belongs to the closure of the box, and nothing else restricts the variable.
    """
    domain, free = claim.domain, unrestricted(claim.domain)
    for name in filter(free, variables(claim.polynomial)):
        sign = sign_on(claim.polynomial.derivative(name), domain)
        if sign is not None:
            return _at_smaller_end(claim, name, 0 if sign in AT_LEAST_ZERO else 1)
    return None


def _at_smaller_end(claim: Claim, name: str, end: int) -> Reduction:
    interval = claim.domain.box[name]
    value = {name: interval.upper if end else interval.lower}
    premise = Premise(about(claim, substitute(claim.polynomial, value)), setting(value), set_to(value))
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
    for name in filter(unrestricted(domain), candidates):
        concave = None
        if degrees[name] > 1:
            if sign_on(polynomial.derivative(name).derivative(name), domain) not in AT_MOST_ZERO:
                continue
            concave = POSITIVE
        return _at_both_ends(claim, name, concave)
    return None


def _at_both_ends(claim: Claim, name: str, concave: Proof | None) -> Reduction:
    interval = claim.domain.box[name]
    values: list[Point] = [{name: interval.lower}, {name: interval.upper}]
    premises = tuple(
        Premise(about(claim, substitute(claim.polynomial, value)), setting(value), set_to(value))
        for value in values
    )
    return Reduction(
        "ends",
        Guarantee.EXACT,
        premises,
        lambda proofs: certificates.ends(name, proofs[0], proofs[1], concave),
    )


STEPS: Mapping[str, Step] = {  # those of `step_names`
    "fixed": fixed_step,
    "product": product_step,
    "sign": sign_step,
    "empty": empty_step,
    "equations": equation_step,
    "ideal": ideal_step,
    "stretch": stretch_step,
    "factors": factor_step,
    "content": content_step,
    "monotone": monotone_step,
    "ends": ends_step,
    "sympy": sympy_step,
}
