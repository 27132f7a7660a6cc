"""Simplification: a chain of steps, each of which reduces a claim to claims that are easier to decide.

A step is a function from a claim to a `Reduction`, or to None where it does not apply; see `reductions` for
what its guarantees mean. Every step can be left out by name, so that its effect can be measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from paramverify.algebra.polynomials import (
    Point,
    constant_value,
    is_constant,
    primitive,
    substitute,
    variables,
)
from paramverify.algebra.signs import sign_on
from paramverify.claims import Claim
from paramverify.evidence import certificates
from paramverify.evidence.certificates import CONSTANT, POSITIVE, Proof
from paramverify.simplify.constraints import empty_step, equation_step, stretch_step
from paramverify.simplify.factors import factor_step
from paramverify.simplify.products import product_step
from paramverify.simplify.reductions import (
    AT_LEAST_ZERO,
    AT_MOST_ZERO,
    Guarantee,
    Premise,
    Reduction,
    Step,
    about,
    live_constraints,
    quotient,
    refuted,
    setting,
    unrestricted,
)

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
    premise = Premise(reduced, setting(value))
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
    premise = Premise(about(claim, substitute(claim.polynomial, value)), setting(value))
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
        Premise(about(claim, substitute(claim.polynomial, value)), setting(value)) for value in values
    )
    return Reduction(
        "ends",
        Guarantee.EXACT,
        premises,
        lambda proofs: certificates.ends(name, proofs[0], proofs[1], concave),
    )


STEPS: Mapping[str, Step] = {
    "fixed": fixed_step,
    "product": product_step,
    "sign": sign_step,
    "empty": empty_step,
    "equations": equation_step,
    "stretch": stretch_step,
    "factors": factor_step,
    "content": content_step,
    "monotone": monotone_step,
    "ends": ends_step,
}
