"""(ε, δ) privacy as claims about sums over all outputs, and the parts of a domain where the same outputs
are impossible.

Let P and Q be the two probabilities of an output, and c = e^ε. `Pr(S | left) ≤ c·Pr(S | right) + δ` for every
set S of outputs says that Σ_ω max(0, P(ω) − c·Q(ω)) ≤ δ: the sum is the largest difference, and the outputs
with P > c·Q reach it ([DworkRoth14] Definition 2.4). With conditioned priors given as weights over masses,
all is multiplied by the masses and by the denominator, as in `sequences`:

    room − Σ_i max(0, t_i) ≥ 0        with polynomials room and t_i.

Outputs whose probabilities agree up to a positive factor are one term, for max(0, k·t) = k·max(0, t) with
k ≥ 0; sequences are merged level by level like that, with the sum of their factors.

Parts of a domain on which the same probabilities are zero.

Let G be the irreducible factors of the probabilities on the right that may vanish on a domain D. Where none
of them is 0, all these probabilities are positive. On D with g = 0, for one g of G, an output whose q has the
factor g is impossible on the right: so it must be on the left, and does not count. The other outputs are
looked at in the same way there. Every point of D where both secrets are possible is found like that.

Both distributions of a direction in one form, as evidence states them.

The total and the numbers of all outputs have no common factor, and the total is primitive with a positive
first coefficient. So equal distributions have equal texts, wherever they come from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from flint import fmpq, fmpq_poly

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Constraint, Domain, number_at
from paramverify.algebra.polynomials import (
    Point,
    Polynomial,
    in_generator,
    is_constant,
    key,
    primitive,
    rational,
    variables,
)
from paramverify.algebra.signs import Sign, sign_on
from paramverify.divergences import PositiveParts
from paramverify.encodings.point_violations import with_numbers
from paramverify.encodings.sequences import (
    MAX_VECTORS,
    Vector,
    applied,
    forward_sums,
    steps_by_observation,
    vector_key,
)
from paramverify.errors import LimitError, ModelError
from paramverify.models.hmm import HMM
from paramverify.models.model import Model, divergence_of
from paramverify.models.priors import InitialDistribution, SecretPair
from paramverify.simplify.reductions import factorable, factorisation


@dataclass(frozen=True, eq=False)
class PairOutcomes:
    """How likely the sequences of one length are under both secrets of a pair, times `total`.

    Each of `outputs` stands for all sequences whose two probabilities have one quotient, and has their sums:
    the left ones sum to `total`, and so do the right ones. `total` is nowhere negative on the domain, and
    positive where both secrets are possible.
    """

    left: str
    right: str
    length: int
    total: Polynomial
    outputs: tuple[tuple[Polynomial, Polynomial], ...]

    @property
    def turned(self) -> PairOutcomes:
        """The other direction."""
        outputs = tuple((q, p) for p, q in self.outputs)
        return PairOutcomes(self.right, self.left, length=self.length, total=self.total, outputs=outputs)

    def at(self, point: Point) -> list[tuple[fmpq_poly, fmpq_poly]]:
        """Returns both numbers of each output at a point, as polynomials in `E`."""
        if self.line is None:
            return [(number_at(p, point), number_at(q, point)) for p, q in self.outputs]
        name, parts = self.line
        value = rational(point[name])
        return [(fmpq_poly([p(value)]), fmpq_poly([q(value)])) for p, q in parts]

    @cached_property
    def line(self) -> tuple[str, list[tuple[fmpq_poly, fmpq_poly]]] | None:
        """The outputs as polynomials in the only parameter, where the ring has one."""
        names = self.total.context().names()
        if len(names) != 1 or names[0] == GENERATOR:
            return None
        return str(names[0]), [(in_generator(p), in_generator(q)) for p, q in self.outputs]


@dataclass(frozen=True, eq=False)
class Excess:
    """For every θ of the domain, Σ_i max(0, terms[i](θ)) ≤ room(θ).

    Said of each of the `origins`: left secret, right secret, and length. No term is zero, or a positive
    multiple of another.
    """

    room: Polynomial
    terms: tuple[Polynomial, ...]
    domain: Domain
    origins: tuple[tuple[str, str, int], ...]

    def text(self) -> str:
        """Returns the canonical text: equal texts say the same of one domain."""
        return "; ".join((key(self.room), *map(key, self.terms)))


def outcomes(model: Model) -> Iterator[PairOutcomes]:
    """Yields the outcomes of each secret pair and length, in one direction.

    Raises:
        LimitError: more than `MAX_VECTORS` different vectors of one length.
        ModelError: the probabilities of the outputs do not sum to one.
    """
    model = with_numbers(model)
    for length, vectors in _levels(model.hmm, model.lengths):
        memory: dict[int, list[Polynomial]] = {}
        for pair in model.pairs:
            sums = [_sums(start, vectors, memory) for start in (pair.pi, pair.tau)]
            yield _merged(model, pair, length, zip(*sums, strict=True))


def listed_outcomes(model: Model) -> Iterator[PairOutcomes]:
    """Yields the same by another path: forwards, from one sequence to the next, without merging vectors."""
    model = with_numbers(model)
    sums = {id(s): (s, forward_sums(model, s)) for p in model.pairs for s in (p.pi, p.tau)}
    for length in model.lengths:
        for pair in model.pairs:
            left, right = (sums[id(start)][1] for start in (pair.pi, pair.tau))
            zero = pair.pi.mass * 0
            words = [w for w in left.keys() | right.keys() if len(w) == length]
            yield _merged(model, pair, length, ((left.get(w, zero), right.get(w, zero)) for w in words))


def ordered_outcomes(model: Model) -> Iterator[PairOutcomes]:
    """Yields the outcomes with each sequence for itself, in the order of the outputs of the model."""
    model = with_numbers(model)
    sums = {id(s): (s, forward_sums(model, s)) for p in model.pairs for s in (p.pi, p.tau)}
    for length in model.lengths:
        for pair in model.pairs:
            left, right = (sums[id(start)][1] for start in (pair.pi, pair.tau))
            zero = pair.pi.mass * 0
            words = sorted(w for w in left.keys() | right.keys() if len(w) == length)
            outputs = tuple(
                (left.get(w, zero) * pair.tau.mass, right.get(w, zero) * pair.pi.mass) for w in words
            )
            total = pair.pi.mass * pair.tau.mass * model.hmm.denominator**length
            yield _checked(PairOutcomes(pair.left, pair.right, length=length, total=total, outputs=outputs))


def _levels(hmm: HMM, lengths: tuple[int, ...]) -> Iterator[tuple[int, list[Vector]]]:
    """Yields for each length the vectors v with v(s) = Σ_ω Pr(ω | s) · denominator^length, over like ω."""
    by_observation = steps_by_observation(hmm)
    one = hmm.ring.number(1)
    level: list[tuple[fmpq, Vector]] = [(fmpq(1), dict.fromkeys(range(len(hmm.states)), one))]
    for length in range(1, max(lengths) + 1):
        grown: dict[str, tuple[fmpq, Vector]] = {}
        for factor, vector in level:
            for steps in by_observation:
                content, product = applied(steps, vector)
                if product:
                    name = vector_key(product)
                    known = grown.get(name, (fmpq(0), product))[0]
                    grown[name] = known + factor * content, product
            if len(grown) > MAX_VECTORS:
                raise LimitError(
                    f"more than {MAX_VECTORS:,} different vectors for sequences of length {length}"
                )
        level = list(grown.values())
        if length in lengths:
            yield length, [{s: entry * factor for s, entry in vector.items()} for factor, vector in level]


def _sums(
    start: InitialDistribution, vectors: list[Vector], memory: dict[int, list[Polynomial]]
) -> list[Polynomial]:
    """Returns Σ_s π(s)·v(s) for each vector."""
    if id(start) not in memory:
        zero = start.mass * 0
        memory[id(start)] = [
            sum((weight * v[s] for s, weight in start.weights.items() if s in v), zero) for v in vectors
        ]
    return memory[id(start)]


def _merged(
    model: Model, pair: SecretPair, length: int, sums: Iterable[tuple[Polynomial, Polynomial]]
) -> PairOutcomes:
    """Returns the outcomes with proportional outputs as one."""
    scale = model.hmm.denominator**length
    total = pair.pi.mass * pair.tau.mass * scale
    found: dict[str, tuple[Polynomial, Polynomial]] = {}
    for one, other in sums:
        p, q = one * pair.tau.mass, other * pair.pi.mass
        if not p and not q:
            continue
        content = rational(primitive(p if p else q)[0])
        name = f"{key(p / content)};{key(q / content)}"
        before = found.get(name)
        found[name] = (before[0] + p, before[1] + q) if before else (p, q)
    outputs = tuple(found.values())
    return _checked(PairOutcomes(pair.left, pair.right, length=length, total=total, outputs=outputs))


def _checked(found: PairOutcomes) -> PairOutcomes:
    """Returns the outcomes, whose sums have to be the total."""
    zero = found.total * 0
    if any(sum(side, zero) != found.total for side in zip(*found.outputs, strict=True)):
        raise ModelError(
            "the probabilities of the outputs do not sum to 1, so sets of outputs are not compared",
            key="mechanism",
        )
    return found


def excesses(model: Model, found: Iterable[PairOutcomes] | None = None) -> tuple[Excess, ...]:
    """Returns claims that all hold iff an (ε, δ) model is private; equal ones are merged.

    `found` are the outcomes of the model, where they are known.
    """
    measure = divergence_of(with_numbers(model), PositiveParts)
    merged: dict[str, Excess] = {}
    for pair in outcomes(model) if found is None else found:
        for direction in (pair, pair.turned):
            origin = direction.left, direction.right, direction.length
            own = excess_of(measure, direction, model.domain)
            text = own.text()
            before = merged[text].origins if text in merged else ()
            origins = tuple(dict.fromkeys((*before, origin)))  # a case may list a pair in both directions
            merged[text] = Excess(own.room, own.terms, own.domain, origins)
    return tuple(merged.values())


def excess_of(measure: PositiveParts, found: PairOutcomes, domain: Domain) -> Excess:
    """Returns the claim of one direction, divided by a positive number."""
    sums: dict[str, tuple[Polynomial, fmpq]] = {}
    for p, q in found.outputs:
        t = measure.excess(p, q)
        if t:
            content, shape = primitive(t)
            name = key(shape)
            sums[name] = shape, rational(content) + (sums[name][1] if name in sums else 0)
    room = measure.room(found.total)
    scale = rational(primitive(found.total)[0])
    terms = tuple(shape * (factor / scale) for _, (shape, factor) in sorted(sums.items()))
    origin = found.left, found.right, found.length
    return Excess(room / scale, terms, domain, (origin,))


def statement(claim: Excess) -> dict[str, Any]:
    """Returns a claim about a sum as JSON data, without its domain."""
    return {
        "room": key(claim.room),
        "terms": [key(term) for term in claim.terms],
        "origins": [[left, right, length] for left, right, length in claim.origins],
    }


NEVER_ZERO = (Sign.POSITIVE, Sign.NEGATIVE)


def vanishing(found: Iterable[Polynomial], domain: Domain) -> tuple[Polynomial, ...]:
    """Returns the irreducible factors that are not known to be without zeros on a domain, each once."""
    different: dict[str, Polynomial] = {}
    for polynomial in {key(f): f for f in found if not is_constant(f)}.values():
        if not factorable(polynomial):
            raise LimitError("a probability is too large a polynomial to be factored")
        different |= {key(factor): factor for factor, _ in factorisation(polynomial)[1]}
    return tuple(f for f in different.values() if sign_on(f, domain) not in NEVER_ZERO)


MAX_STRATA = 64  # of one direction


@dataclass(frozen=True, eq=False)
class Stratum:
    """A part of a domain with the outputs that count there.

    `positive` is a square that is not zero exactly where no probability of them on the right is zero.
    `nothing` are probabilities that must be 0 there.
    """

    found: PairOutcomes
    domain: Domain
    positive: Polynomial
    nothing: tuple[Polynomial, ...]


def strata(found: PairOutcomes, domain: Domain) -> Iterator[Stratum]:
    """Yields the strata of a direction.

    Raises:
        LimitError: more than `MAX_STRATA`.
    """
    pending: list[tuple[PairOutcomes, Domain, tuple[Polynomial, ...], tuple[Polynomial, ...]]]
    pending = [(found, domain, (), ())]
    for _ in range(MAX_STRATA):
        if not pending:
            return
        own, part, zero, nothing = pending.pop()
        factors = [
            g
            for g in vanishing((q for _, q in own.outputs if q), domain)
            if not any(_apart(g, h) for h in zero)
        ]
        positive = own.total * 0 + 1
        for g in factors:
            positive = positive * g * g
        yield Stratum(own, part, positive, nothing)
        for g in factors:
            kept = tuple((p, q) for p, q in own.outputs if not q or q % g)
            gone = tuple(p for p, q in own.outputs if q and not q % g and p and p % g)
            flat = (Constraint(g, False, f"{g} >= 0"), Constraint(-g, False, f"{g} <= 0"))
            inner = replace(part, constraints=(*part.constraints, *flat))
            pending.append((replace(own, outputs=kept), inner, (*zero, g), gone))
    raise LimitError("the probabilities of too many outputs may be zero where the constraints hold with =")


def _apart(one: Polynomial, other: Polynomial) -> bool:
    """Tells whether two irreducible polynomials are known to have no zero in common."""
    return one != other and len(set(variables(one)) | set(variables(other))) == 1


def reduced(found: PairOutcomes) -> PairOutcomes:
    """Returns the same p/total and q/total, without common factors, in the order of their texts."""
    common = found.total
    for p, q in found.outputs:
        for each in (p, q):
            common = common.gcd(each) if each else common
    total = found.total / common
    scale = rational(primitive(total)[0])

    def divided(polynomial: Polynomial) -> Polynomial:
        """Returns a polynomial without the common factor."""
        return polynomial / common / scale

    outputs = sorted(
        ((divided(p), divided(q)) for p, q in found.outputs), key=lambda pair: list(map(key, pair))
    )
    return replace(found, total=total / scale, outputs=tuple(outputs))


def joint_statement(found: PairOutcomes, origins: Iterable[tuple[str, str, int]]) -> dict[str, Any]:
    """Returns a reduced direction as JSON data."""
    return {
        "total": key(found.total),
        "outputs": [[key(p), key(q)] for p, q in found.outputs],
        "origins": [list(origin) for origin in origins],
    }


def listed_statements(model: Model) -> list[dict[str, Any]]:
    """Returns what a model says of all directions, derived forwards and one sequence after the other."""
    return [
        joint_statement(reduced(each), [(each.left, each.right, each.length)])
        for pair in listed_outcomes(model)
        for each in (pair, pair.turned)
    ]
