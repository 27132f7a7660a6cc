"""What a step of simplification makes of a claim, and the step that factors it.

A reduction says how the proofs of its premises become a proof of the claim, how a point that refutes a
premise becomes one that should refute the claim, and how far it is faithful:

- exact: the claim holds iff all premises hold;
- sound for proof: the claim holds if all premises hold.

Two facts are used by all steps. (1) f is continuous, so on a box without constraints f ≥ 0 on the box iff
f ≥ 0 on its closure. (2) Where such a box has an inside in every variable of f, a factor s ≥ 0 that is not
identically zero can be divided out: the points with s > 0 are dense. Constraints break (2), for they may
leave nothing but points with s = 0; then a step is exact only where s > 0 on the box. (A constraint that
holds on the whole box does not count.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from random import Random

from flint import fmpq

from paramverify.algebra.domains import Constraint, Domain
from paramverify.algebra.polynomials import (
    Point,
    Polynomial,
    fraction,
    is_constant,
    primitive,
    rational,
    value_at,
    variables,
)
from paramverify.algebra.signs import Sign, negative_between, sign_on
from paramverify.claims import Claim
from paramverify.evidence import certificates
from paramverify.evidence.certificates import CONSTANT, POSITIVE, Proof

AT_LEAST_ZERO = (Sign.POSITIVE, Sign.NONNEGATIVE, Sign.ZERO)
AT_MOST_ZERO = (Sign.NEGATIVE, Sign.NONPOSITIVE)
NEVER_ZERO = (Sign.POSITIVE, Sign.NEGATIVE)


class Guarantee(Enum):
    """Which verdicts about the premises are verdicts about the claim."""

    EXACT = "exact"
    PROOF = "sound for proof"


@dataclass(frozen=True, eq=False)
class Premise:
    """A claim to be decided instead; `lift` turns a point of its domain into one of the reduced claim's.

    `notes` say what was replaced or left out: each a name and what took its place, or words.
    """

    claim: Claim
    lift: Callable[[Point], Point] = lambda point: point
    notes: tuple[tuple[object, ...], ...] = ()

    @property
    def told(self) -> str:
        """The notes in words, in the order of the steps."""
        return "; ".join("".join(map(str, note)) for note in self.notes)


@dataclass(frozen=True, eq=False)
class Reduction:
    """One step applied: the premises, and how their proofs make a proof of the claim."""

    step: str
    guarantee: Guarantee
    premises: tuple[Premise, ...]
    certify: Callable[[Sequence[Proof]], Proof]


Step = Callable[[Claim], Reduction | None]


def live_constraints(domain: Domain) -> list[tuple[int, Constraint]]:
    """Returns the constraints, by index, that are not shown to hold on the whole box."""
    return [(k, c) for k, c in enumerate(domain.constraints) if not _holds_on_box(c, domain)]


def _holds_on_box(constraint: Constraint, domain: Domain) -> bool:
    sign = sign_on(constraint.polynomial, domain)
    return sign is Sign.POSITIVE or (not constraint.strict and sign in AT_LEAST_ZERO)


def unrestricted(domain: Domain) -> Callable[[str], bool]:
    """Returns a function that tells whether nothing but its interval restricts a variable."""
    bound = {name for _, c in live_constraints(domain) for name in variables(c.polynomial)}
    return lambda name: name not in bound


def about(claim: Claim, polynomial: Polynomial) -> Claim:
    return replace(claim, polynomial=polynomial)


def constrained(claim: Claim, more: Sequence[Constraint]) -> Claim:
    """Returns the claim on the part of its domain where more constraints hold."""
    domain = claim.domain
    return replace(claim, domain=replace(domain, constraints=(*domain.constraints, *more)))


def refuted(claim: Claim, step: str, at: Point, guarantee: Guarantee) -> Reduction:
    """Returns the reduction to the false claim −1 ≥ 0, refuted at the given point."""
    notes = set_to(at) or (("false at any point",),)
    false = Premise(about(claim, claim.domain.ring.number(-1)), lambda _: at, notes)
    return Reduction(step, guarantee, (false,), lambda proofs: proofs[0])


def setting(values: Point) -> Callable[[Point], Point]:
    return lambda point: {**point, **values}


def set_to(values: Point) -> tuple[tuple[object, ...], ...]:
    """Returns the notes that variables were replaced by numbers."""
    return tuple((name, " = ", value) for name, value in values.items())


def quotient(left: Polynomial, right: Polynomial) -> Fraction:
    """Returns c with left = c·right, for a left side that is not zero; 0 if there is none."""
    if len(left) != len(right):
        return Fraction(0)
    quotient = left.leading_coefficient() / right.leading_coefficient()
    return fraction(quotient) if left == right * quotient else Fraction(0)


MAX_FACTOR_TERMS = 20_000  # larger polynomials are not factored; flint needs well below a second up to here
MAX_FACTOR_DEGREE = 400


@dataclass(frozen=True, eq=False)
class _Factor:
    """A primitive irreducible factor; `sign` and `proof` where its sign on the domain is known."""

    polynomial: Polynomial
    multiplicity: int
    sign: Sign | None
    proof: Proof | None

    @property
    def direction(self) -> int:
        return -1 if self.sign in AT_MOST_ZERO else 1


def factor_step(claim: Claim) -> Reduction | None:
    """Content, even powers and factors of known sign are divided out, the others become claims of their own.

    Without constraints every irreducible factor of odd multiplicity must have one sign on the box: where it
    changes its sign, the other factors do not vanish identically (they are coprime to it), so the product
    changes its sign too. The sign that it must have is the one at any point where it is not zero.
    """
    if is_constant(claim.polynomial) or not factorable(claim.polynomial):
        return None
    return split_by_factors(claim, *factorisation(claim.polynomial))


def split_by_factors(
    claim: Claim, constant: Fraction, found: Sequence[tuple[Polynomial, int]]
) -> Reduction | None:
    """Returns what `factor_step` makes of a claim whose constant and primitive factors are known."""
    polynomial, domain = claim.polynomial, claim.domain
    if any(domain.box[name].is_point for name in variables(polynomial)):
        return None  # the box has no inside; the step for fixed variables is switched off
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
        strict = all(f.sign in NEVER_ZERO or (f in unknown and f.multiplicity == 1) for f in factors)
        guarantee = Guarantee.EXACT if strict else Guarantee.PROOF
        return _product_left(
            claim, constant, factors=factors, unknown=unknown, direction=direction, guarantee=guarantee
        )
    start = _generic_point(domain, [f.polynomial for f in factors])
    signs = [1 if value_at(f.polynomial, start) > 0 else -1 for f in unknown]
    for sign in signs:
        direction *= sign
    if direction < 0:
        return refuted(claim, "factors", start, Guarantee.EXACT)
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
        Premise(about(claim, f.polynomial * sign), lift, (("one factor of odd power",),))
        for f, sign in zip(unknown, signs, strict=True)
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
    premise = Premise(about(claim, rest * direction), notes=(("without factors of known sign",),))
    return Reduction("factors", guarantee, (premise,), certify)


def factorable(polynomial: Polynomial) -> bool:
    """Tells whether a polynomial is small enough to be factored."""
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


def loose_factorisation(polynomial: Polynomial) -> tuple[Fraction, list[tuple[Polynomial, int]]]:
    """Returns the same of a polynomial of any degree, where factors of a high degree may be reducible.

    Different factors have no common root. Powers of small factors are found by derivatives.
    """
    if factorable(polynomial):
        return factorisation(polynomial)
    if len(variables(polynomial)) > 1:
        return Fraction(1), [(polynomial, 1)]
    lead, parts = polynomial.factor_squarefree()
    constant = fraction(fmpq(lead))
    result: list[tuple[Polynomial, int]] = []
    for part, m in parts:
        content, g = primitive(part)
        number, found = factorisation(g) if factorable(g) else (Fraction(1), [(g, 1)])
        constant *= (content * number) ** int(m)
        result += [(h, k * int(m)) for h, k in found]
    return constant, result


def _with_sign(
    polynomial: Polynomial, multiplicity: int, domain: Domain, live: Sequence[tuple[int, Constraint]]
) -> _Factor:
    for index, constraint in live:
        multiple = quotient(polynomial, constraint.polynomial)
        if multiple:
            sign = Sign.POSITIVE if constraint.strict else Sign.NONNEGATIVE
            proof = certificates.constraint(index, abs(multiple), CONSTANT)
            return _Factor(polynomial, multiplicity, sign if multiple > 0 else -sign, proof)
    return _Factor(polynomial, multiplicity, sign_on(polynomial, domain), POSITIVE)


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
