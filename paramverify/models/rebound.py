"""The same privacy question with another bound, and over a ring that has what it needs of `E` only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import gcd

from paramverify.algebra.constants import GENERATOR, ExpConstant
from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import Polynomial, Ring
from paramverify.claims import Claim
from paramverify.models.context import Obligation
from paramverify.models.divergences import LossBound, Renyi
from paramverify.models.measures import Approximate, Pure
from paramverify.models.model import Model
from paramverify.models.priors import InitialDistribution


def without_bound(model: Model) -> Model:
    """Returns the model with the bound 1.

    All `exp` of a case are powers of one `E`, those of its bound too. Here `E` is the power of it that the
    mechanism, the prior and the domain need, and is left out where they need none. So the largest ratio of a
    case does not depend on how its own bound is written.

    Raises:
        UnsupportedError: the measure compares sets of outputs, which have no ratio.
    """
    if isinstance(model.measure, Approximate | LossBound):
        model.measure.at(None)
    one = model.domain.ring.number(1)
    own = model.measure
    unit = own.unit(one) if isinstance(own, Renyi) else Pure.number(model.domain.ring, 1)
    model = replace(model, measure=unit)
    constant = model.domain.constant
    if constant is None:
        return model
    power = 0
    for polynomial in _polynomials(model):
        power = gcd(power, *(int(monomial[-1]) for monomial in polynomial.to_dict()))
        if power == 1:
            return model
    needed = ExpConstant(constant.exponent * power) if power else None
    return _Change(replace(model.domain.ring, constant=needed), power).model(model)


def _polynomials(model: Model) -> Iterator[Polynomial]:
    """Yields every polynomial of a model but those of its bound."""
    for domain in (model.domain, *(o.claim.domain for o in _obligations(model))):
        yield from (c.polynomial for c in domain.constraints)
    yield from (o.claim.polynomial for o in _obligations(model))
    yield model.hmm.denominator
    yield from (step.weight for row in model.hmm.steps for step in row)
    starts = {id(start): start for pair in model.pairs for start in (pair.pi, pair.tau)}
    for start in starts.values():
        yield from (start.mass, *start.weights.values())


def _obligations(model: Model) -> tuple[Obligation, ...]:
    empty = (model.maybe_empty,) if model.maybe_empty else ()
    return (*model.obligations, *model.maybe_impossible, *empty)


@dataclass(eq=False)
class _Change:
    """Writes the parts of a model over a ring in which `E` is a power of what it was, or is left out."""

    ring: Ring
    power: int
    _starts: dict[int, InitialDistribution] = field(default_factory=dict)
    _domains: dict[int, Domain] = field(default_factory=dict)

    def model(self, model: Model) -> Model:
        hmm = replace(
            model.hmm,
            ring=self.ring,
            steps=tuple(
                tuple(replace(s, weight=self.polynomial(s.weight)) for s in row) for row in model.hmm.steps
            ),
            denominator=self.polynomial(model.hmm.denominator),
        )
        empty = self.obligation(model.maybe_empty) if model.maybe_empty else None
        return replace(
            model,
            domain=self.domain(model.domain),
            hmm=hmm,
            pairs=tuple(replace(p, pi=self.start(p.pi), tau=self.start(p.tau)) for p in model.pairs),
            measure=model.measure.map(self.polynomial),
            obligations=tuple(map(self.obligation, model.obligations)),
            maybe_empty=empty,
            maybe_impossible=tuple(map(self.obligation, model.maybe_impossible)),
        )

    def polynomial(self, polynomial: Polynomial) -> Polynomial:
        terms = polynomial.to_dict().items()
        if not self.power:
            return self.ring.context.from_dict({m[:-1]: c for m, c in terms})
        return self.ring.context.from_dict({(*m[:-1], int(m[-1]) // self.power): c for m, c in terms})

    def start(self, start: InitialDistribution) -> InitialDistribution:
        """Returns one distribution for each: the encodings know them by identity."""
        if id(start) not in self._starts:
            weights: Mapping[int, Polynomial] = {s: self.polynomial(w) for s, w in start.weights.items()}
            self._starts[id(start)] = InitialDistribution(weights, self.polynomial(start.mass))
        return self._starts[id(start)]

    def domain(self, domain: Domain) -> Domain:
        if id(domain) not in self._domains:
            box = {n: i for n, i in domain.box.items() if n != GENERATOR}
            constraints = tuple(
                replace(c, polynomial=self.polynomial(c.polynomial)) for c in domain.constraints
            )
            written = Domain(self.ring, box, constraints)
            self._domains[id(domain)] = written.enclose(32) if GENERATOR in domain.box else written
        return self._domains[id(domain)]

    def obligation(self, obligation: Obligation) -> Obligation:
        claim = obligation.claim
        own = Claim(self.polynomial(claim.polynomial), self.domain(claim.domain), claim.origins)
        return replace(obligation, claim=own)
