"""The encoding of Rényi privacy.

One claim for each secret pair, direction and length; and where probabilities may vanish.

Let p and q be the two probabilities of an output, times T = `PairOutcomes.total`. The sum of all p^α/q^(α−1)
is at most bound·T: that is multiplied by L, a common multiple of all q^(α−1) that is nowhere negative,

    f = bound·T·L − Σ p^α·(L / q^(α−1)) ≥ 0.

Fractions are reduced first. Where L(θ) ≠ 0, f(θ) ≥ 0 says what it should. Zeros of L need an argument:

- (p, q) ↦ p^α/q^(α−1), with 0 at (0, 0) and ∞ at p > 0 = q, is lower semicontinuous ([ErvenH14] Theorem 19).
  So if the sum is within the bound at points θ_n → θ, it is at θ.
- The zeros of L have a dense complement in the domain D if D is convex, or open in a convex set, and L is
  not zero at one point of it: L is no zero polynomial on the segment from any θ to that point. Boxes, linear
  constraints and strict constraints give such a D.
- With other constraints D may have isolated points. Then there are claims for each part of D on which the
  same probabilities are zero (`strata`).

Where p = q = 0, a reduced fraction may be positive, and p^α/q^(α−1) is 0: then f ≥ 0 says more than it
should. So `Moment.cancelled` remembers what was reduced.

An output with q = 0 everywhere must have p = 0 everywhere: the claim −p ≥ 0.

Where probabilities of a Rényi model may vanish, so that its claims may say something else than its sums.

A claim f ≥ 0 of `moments` is L·total times `bound − sum`, with fractions in lowest terms. Let g run through
the irreducible factors of L and of what was cancelled. Where none of them is 0, f ≥ 0 says what it should.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Constraint, Domain, number_at
from paramverify.algebra.polynomials import Polynomial, is_constant, key, primitive, rational
from paramverify.algebra.signs import Sign, sign_on
from paramverify.claims import AllOutputs, Claim
from paramverify.divergences import Average, PositiveParts, SumDivergence
from paramverify.encodings.encoding import Candidate, Encoding, PossibleZeros
from paramverify.encodings.output_sums import (
    PairOutcomes,
    listed_outcomes,
    ordered_outcomes,
    outcomes,
    strata,
    vanishing,
)
from paramverify.encodings.point_violations import with_numbers
from paramverify.errors import LimitError, UnsupportedError
from paramverify.models.context import sample_points
from paramverify.models.model import AnyModel, Model, divergence_of, is_about
from paramverify.simplify.reductions import factorable, factorisation

MAX_TERMS = 20_000  # of the common multiple, as its degrees allow
POINTS = 200  # of the domain at which a polynomial is tried

TOUCHES = (
    "the probability of an output may be zero where the constraints hold with =; "
    "write them with <, or make the domain smaller"
)

_ONE_SIGN = {Sign.POSITIVE: 1, Sign.NONNEGATIVE: 1, Sign.NEGATIVE: -1, Sign.NONPOSITIVE: -1}


@dataclass(frozen=True, eq=False)
class Moment:
    """For every θ: a sum, such as Σ_ω Pr(ω|left)^α/Pr(ω|right)^(α−1), is `above`/`below` where both
    secrets are possible.

    So it is where `below` ≠ 0 and none of `cancelled` is 0; `below` is total·multiple and nowhere negative.
    `endless` are the probabilities, up to a positive factor, of outputs that are impossible on the right
    everywhere.
    """

    origin: AllOutputs
    above: Polynomial
    below: Polynomial
    multiple: Polynomial
    total: Polynomial
    endless: tuple[Polynomial, ...]
    cancelled: tuple[Polynomial, ...]

    def may_vanish(self, domain: Domain) -> bool:
        """Tells whether the quotient is not known to be the sum on the whole domain."""
        known = (Sign.POSITIVE, Sign.NEGATIVE)
        return any(sign_on(f, domain) not in known for f in (self.multiple, *self.cancelled))

    def vanishes_rarely(self, domain: Domain) -> bool:
        """Tells whether the quotient is known to be the sum on a dense part of the domain."""
        return all(vanishes_rarely(f, domain) for f in (self.multiple, *self.cancelled))


def moments(model: Model, found: Iterable[PairOutcomes] | None = None) -> Iterator[Moment]:
    """Yields the sum of each direction and length; `found` are the outcomes of the model, if they are known.

    Raises:
        LimitError: the common multiple is too large.
    """
    measure = divergence_of(model, SumDivergence)
    signs: dict[str, int] = {}
    for pair in _outcomes(model, measure) if found is None else found:
        for direction in (pair, pair.turned):
            yield from moments_of(measure, direction, model.domain, signs)


def _outcomes(model: Model, measure: SumDivergence) -> Iterator[PairOutcomes]:
    return outcomes(model) if measure.merged else ordered_outcomes(model)


def moments_of(
    measure: SumDivergence, found: PairOutcomes, domain: Domain, signs: dict[str, int]
) -> Iterator[Moment]:
    """Yields the sums of one direction; `signs` remembers those of factors on the domain."""
    for quotients in measure.quotients(found.outputs, found.total):
        yield _moment(quotients, found, domain, signs)


def _moment(
    quotients: Iterable[tuple[Polynomial, Polynomial]],
    found: PairOutcomes,
    domain: Domain,
    signs: dict[str, int],
) -> Moment:
    summed: dict[str, tuple[Polynomial, Polynomial]] = {}  # numerators by their denominator
    endless = []
    cancelled: dict[str, Polynomial] = {}
    for above, below in quotients:
        if not above:
            continue
        if not below:
            endless.append(above)
            continue
        top, bottom, shared = _reduced(above, below)
        for fine in (top, found.total):  # there the fraction is 0 too, or nothing is compared
            shared = _without(shared, fine)
        if not is_constant(shared):
            cancelled[key(shared)] = shared
        name = key(bottom)
        summed[name] = (summed[name][0] + top if name in summed else top), bottom
    multiple = _multiple([bottom for _, bottom in summed.values()], domain, signs, found.total * 0 + 1)
    zero = found.total * 0
    above = sum((top * (multiple / bottom) for top, bottom in summed.values()), zero)
    origin = AllOutputs(found.left, found.right, length=found.length)
    return Moment(
        origin,
        above,
        below=found.total * multiple,
        multiple=multiple,
        total=found.total,
        endless=tuple(endless),
        cancelled=tuple(cancelled.values()),
    )


def _reduced(above: Polynomial, below: Polynomial) -> tuple[Polynomial, Polynomial, Polynomial]:
    """Returns a quotient in lowest terms, with a primitive denominator, and what was cancelled."""
    shared = above.gcd(below)
    content, bottom = primitive(below / shared)
    return above / shared / rational(content), bottom, shared


def _without(polynomial: Polynomial, other: Polynomial) -> Polynomial:
    """Returns a polynomial without the factors that another one has."""
    common = polynomial.gcd(other)
    while not is_constant(common):
        polynomial = polynomial / common
        common = polynomial.gcd(common)
    return polynomial


def _multiple(
    found: Iterable[Polynomial], domain: Domain, signs: dict[str, int], one: Polynomial
) -> Polynomial:
    """Returns a common multiple that is nowhere negative on the domain.

    It is the least one, but for factors of odd power without a known sign: these are there once more.
    """
    powers: dict[str, tuple[Polynomial, int]] = {}
    for polynomial in found:
        if is_constant(polynomial):
            continue
        if not factorable(polynomial):
            raise LimitError("a probability is too large a polynomial to be factored")
        for factor, power in factorisation(polynomial)[1]:
            name = key(factor)
            powers[name] = factor, max(power, powers.get(name, (factor, 0))[1])
    size = 1
    degrees = [0] * len(one.context().names())
    for factor, power in powers.values():
        degrees = [d + int(e) * power for d, e in zip(degrees, factor.degrees(), strict=True)]
    for degree in degrees:
        size *= degree + 1
    if size > MAX_TERMS:
        told = f"a sum over all outputs would have up to {size:,} terms"
        raise LimitError(f"{told}: the order is too large for so many outputs with parameters")
    result = one
    for name, (factor, power) in sorted(powers.items()):
        if power % 2:
            if name not in signs:
                signs[name] = _ONE_SIGN.get(sign_on(factor, domain) or Sign.ZERO, 0)
            if signs[name]:
                factor = factor * signs[name]
            else:
                power += 1
        result = result * factor**power
    return result


# --- zeros of the common multiple ---------------------------------------------------------------------


def vanishes_rarely(polynomial: Polynomial, domain: Domain) -> bool:
    """Tells whether the zeros of a polynomial are known to have a dense complement in the domain."""
    if sign_on(polynomial, domain) in (Sign.POSITIVE, Sign.NEGATIVE):
        return True
    if not all(c.strict or _is_linear(c) for c in domain.constraints):
        return False
    return any(number_at(polynomial, point) for point in islice(sample_points(domain), POINTS))


def may_vanish(model: Model) -> bool:
    """Tells whether a sum of the model is not known to be its quotient on the whole domain."""
    model = with_numbers(model)
    return any(found.may_vanish(model.domain) for found in moments(model))


def _is_linear(constraint: Constraint) -> bool:
    names = [str(name) for name in constraint.polynomial.context().names()]
    return all(
        sum(int(e) for name, e in zip(names, monomial, strict=True) if name != GENERATOR) <= 1
        for monomial in constraint.polynomial.to_dict()
    )


# --- claims -------------------------------------------------------------------------------------------


def _made(model: Model, found: Iterable[PairOutcomes] | None = None) -> Iterator[Claim]:
    """Yields the claims of each direction, not merged."""
    model = with_numbers(model)
    measure = divergence_of(model, SumDivergence)
    signs: dict[str, int] = {}
    for pair in _outcomes(model, measure) if found is None else found:
        for direction in (pair, pair.turned):
            known = tuple(moments_of(measure, direction, model.domain, signs))
            if all(moment.vanishes_rarely(model.domain) for moment in known):
                for moment in known:
                    yield from _claims_of(measure, moment, model.domain)
                continue
            if not measure.stratified:
                raise LimitError(TOUCHES)
            for stratum in strata(direction, model.domain):
                for moment in moments_of(measure, stratum.found, stratum.domain, {}):
                    for claim in _claims_of(measure, moment, stratum.domain):
                        yield replace(claim, polynomial=claim.polynomial * stratum.positive)
                for p in stratum.nothing:
                    yield Claim(primitive(-p)[1], stratum.domain, (known[0].origin,))


def _claims_of(measure: SumDivergence, moment: Moment, domain: Domain) -> Iterator[Claim]:
    """Yields the claims of a sum that is its quotient on the domain."""
    yield Claim(primitive(measure.claim(moment.above, moment.below))[1], domain, (moment.origin,))
    for p in moment.endless:
        yield Claim(primitive(-p)[1], domain, (moment.origin,))


def _claims(model: AnyModel) -> tuple[Claim, ...]:
    merged: dict[tuple[str, int], Claim] = {}
    for claim in _made(_own(model)):
        name = claim.text(), 0
        before = merged.get(name)
        origins = tuple(dict.fromkeys((*(before.origins if before else ()), *claim.origins)))
        merged[name] = replace(claim, origins=origins)
    return tuple(merged.values())


def _again(model: AnyModel) -> Iterator[Claim]:
    """Yields the claims from outcomes that are found forwards, one sequence after the other."""
    model = _own(model)
    merged = divergence_of(model, SumDivergence).merged
    return _made(model, (listed_outcomes if merged else ordered_outcomes)(model))


def _candidates(model: Model) -> Iterator[Candidate]:
    """Yields each sum as a quotient: what is at most the bound.

    Raises:
        LimitError: a denominator may vanish on a part of the domain without neighbours.
    """
    model = with_numbers(model)
    for moment in moments(_own(model)):
        if not moment.vanishes_rarely(model.domain):
            raise LimitError(TOUCHES)
        origin = moment.origin
        yield Candidate(moment.above, moment.below, origin)
        yield from (Candidate(p, p * 0, origin) for p in moment.endless)


def _own(model: AnyModel) -> Model:
    if is_about(model, SumDivergence):
        return model
    if is_about(model, PositiveParts, Average):
        raise model.measure.refused()
    raise UnsupportedError("the encoding moments is about Renyi privacy only")


def zeros_of(model: AnyModel) -> PossibleZeros:
    """Returns where the claims of a Rényi model and its sums may differ.

    Raises:
        LimitError: too many sequences, or too large polynomials.
    """
    model = with_numbers(_own(model))
    multiples: list[Polynomial] = []
    cancelled: list[Polynomial] = []
    for moment in moments(model):
        multiples.append(moment.multiple)
        cancelled += moment.cancelled
    return PossibleZeros(vanishing(multiples, model.domain), vanishing(cancelled, model.domain))


ENCODING = Encoding(
    "moments",
    "one claim for each secret pair, direction and length: all outputs together, for Renyi privacy",
    claims=_claims,
    suits=lambda model: 1_000,
    candidates=_candidates,
    again=_again,
    form=SumDivergence,
    zeros=zeros_of,
)
