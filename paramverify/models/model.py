"""The models of a privacy question.

Who is compared with whom, through what, and by how much; and variants of a model.

Models without the sequences that are impossible under one of two secrets: a side condition on a verdict.

An encoding may have observations that only one of the two secrets can make, such as the suits of cards in
Fig. 3 of [F]; the proof of Theorem 10.2 there ignores sequences with probability zero. A sequence ω is
possible under a start π iff the set S_ω of states is not empty, with S = the support of π and
S_ωo = {t : T_o[s,t] > 0, s in S_ω}. So the product of the model with both sets, in which a step that makes
one of them empty is left out, gives a sequence the same probability if both secrets allow it, and else zero
on both sides; its claim reads 0 ≥ 0. Supports do not depend on the parameters: every probability of the
model that is not identically zero has to be positive on the whole domain.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import gcd
from typing import Any, Protocol, TypeGuard, TypeVar

from paramverify.algebra.constants import GENERATOR, ExpConstant
from paramverify.algebra.domains import Domain
from paramverify.algebra.expressions import Value
from paramverify.algebra.polynomials import Polynomial, RationalFunction, Ring
from paramverify.algebra.signs import Sign, sign_on
from paramverify.claims import Claim
from paramverify.divergences import Divergence, Event, MaxDivergence, Measure
from paramverify.errors import BesideError, DefectError, InputError, LimitError, ModelError, UnsupportedError
from paramverify.models.context import Obligation
from paramverify.models.definitions import Inequality
from paramverify.models.enclosed_models import EnclosedModel, PairsModel
from paramverify.models.hmm import HMM, HmmStep
from paramverify.models.neighbourhoods import Neighbourhood
from paramverify.models.priors import InitialDistribution, SecretPair

SIDE_CONDITION = "output sequences that are impossible under one of the two secrets are ignored"
NOTHING_COMPARED = "no output sequence is possible under both secrets of a pair, so nothing is compared"


@dataclass(frozen=True, eq=False)
class Model(PairsModel):
    """Pufferfish privacy of a hidden Markov model ([F] Definition 2), for all points of a domain.

    Private means: for every θ in the domain, every secret pair and both of its directions, the measure holds
    between the distributions of the observation sequences of each length wherever both secrets have positive
    probability.

    No lengths stand for every length. `stands_for` are neighbours that are too many to form: the one pair of
    the model has the largest ratio of them, for every output sequence, and is private iff all are.

    All this is so only if the `obligations` are proved. `maybe_empty` is a claim that must be refuted: it
    holds if the domain has no point, which is a mistake and not privacy; so are the claims of
    `maybe_impossible`, each of which holds if a secret has probability zero at every point of the domain.

    Where a case asks for less than privacy, the model is about that only; `whole` is the model of all
    sequences then, and `side_condition` says in words what is left out (`models.model`).
    """

    domain: Domain
    hmm: HMM
    pairs: tuple[SecretPair, ...]
    measure: Measure
    lengths: tuple[int, ...] = (1,)
    obligations: tuple[Obligation, ...] = ()
    notes: tuple[str, ...] = ()
    maybe_empty: Obligation | None = None
    stands_for: Neighbourhood | None = None
    maybe_impossible: tuple[Obligation, ...] = ()
    whole: Model | None = None

    @property
    def inputs(self) -> Sequence[tuple[Value, ...]]:
        """The inputs of the mechanism that the states are, in their order."""
        return self.hmm.inputs

    @property
    def outputs(self) -> Sequence[str]:
        """The names of the outputs."""
        return self.hmm.observations

    @property
    def every_length(self) -> bool:
        """Whether sequences of every length are compared."""
        return not self.lengths

    @property
    def wider(self) -> bool:
        """Whether claims say more than is asked: about numbers that no output has."""
        return bool(self.hmm.wider)

    def distance(self, pair: SecretPair) -> Fraction | None:
        """Returns the distance of two inputs where the bound depends on it."""
        return pair.distance if self.measure.distances else None

    def ratio_bound(self, distance: Fraction | None = None) -> MaxDivergence:
        """Returns the bound on each output, for two inputs at a distance; see `Divergence.ratio_at`."""
        return MaxDivergence(self.measure.ratio_at(distance))

    @property
    def side_condition(self) -> str:
        """What is left out, in words; "" for nothing."""
        return SIDE_CONDITION if self.whole else ""

    @property
    def nothing_compared(self) -> str:
        """That what is left out is everything, in words; "" where some sequence of the lengths is left."""
        if not self.whole:
            return ""
        reached = {s for p in self.pairs for start in (p.pi, p.tau) for s, w in start.weights.items() if w}
        for _ in range(min(self.lengths, default=1)):
            reached = {step.successor for state in reached for step in self.hmm.steps[state]}
            if not reached:
                return NOTHING_COMPARED
        return ""


Formal = Model | Inequality  # what has formulas, and makes claims
AnyModel = Formal | EnclosedModel

SETS = (Event.OUTPUT, Event.SET)
TOGETHER = (Event.OUTPUT, Event.ALL)

D = TypeVar("D", bound=Divergence)

PROBABILITIES = (
    "a case whose outputs have probabilities, but this program outputs real numbers, "
    "which have densities or limits of ratios"
)
ENCLOSED = "use `verify`, `budget`, `show`, `explain` or `sample`, which support such a case"


class Withheld:
    """Stands for the model of a case that has none: each question, also `isinstance`, is the error why."""

    def __init__(self, error: BesideError) -> None:
        object.__setattr__(self, "_error", error)

    def __getattribute__(self, name: str) -> Any:
        raise object.__getattribute__(self, "_error")


class OnDomain(Protocol):
    """Whatever is about the points of a parameter domain: a model of any kind."""

    @property
    def domain(self) -> Domain:
        """The parameter domain."""


def is_about(model: AnyModel, *forms: type[Divergence]) -> TypeGuard[Model]:
    """Tells whether a model is about hidden Markov models, with a divergence of one of these forms."""
    return isinstance(model, Model) and isinstance(model.measure, forms)


def divergence_of(model: Model | EnclosedModel, form: type[D]) -> D:
    """Returns the divergence of a model that is known to have this form."""
    found: Divergence = model.measure
    if not isinstance(found, form):
        raise DefectError(f"{found.key} is no divergence of the form {form.__name__}")
    return found


def refuse_tied(model: AnyModel, what: str) -> None:
    """Raises an UnsupportedError if a parameter stands beside its exponential; `what` does not cover that."""
    for tie in model.domain.ring.tied:
        beside = (
            f"{tie.name} occurs both by itself and as {tie.meaning} in this case, which "
            f"{what} does not support"
        )
        mend = f"--at {tie.name}=1/2" if what.startswith("sample") else f"-D {tie.name}=1/2"
        raise UnsupportedError(f"{beside}; use `verify`, or give {tie.name} a number: {mend}")


def refuse_wider(model: AnyModel, what: str) -> None:
    """Raises an UnsupportedError if claims say more than is asked: about numbers that no output has."""
    if model.wider:
        reason = (
            "an output number occurs both by itself and in an exponential, so the claims about "
            "outputs between breaks can prove privacy but not refute it"
        )
        raise UnsupportedError(f"{reason}; {what} does not support that, so use `verify`")


def need_formulas(model: AnyModel, what: str = "this") -> Formal:
    """Returns the model if it has formulas, and makes claims.

    Raises:
        InputError: its probabilities are enclosed; `what` names the command or option that does not apply.
    """
    if isinstance(model, EnclosedModel):
        reason = (
            f"{what} needs formulas for the probabilities, but those of gauss and "
            "discrete_gaussian are only enclosed in intervals"
        )
        raise InputError(f"{reason}: {ENCLOSED}", key="mechanism")
    return model


def need_privacy(
    model: AnyModel,
    what: str,
    instead: str = "use `verify`",
    events: Collection[Event] = (Event.OUTPUT,),
    tied: bool = False,
    densities: bool = False,
) -> Model:
    """Returns the model if it is a privacy question whose witnesses name such an event; see `of_privacy`.

    Raises:
        InputError: it is of another kind, or its witnesses name something else.
    """
    found = of_privacy(model, what, instead, tied=tied, densities=densities)
    if found.measure.event not in events:
        raise found.measure.not_for(what)
    return found


def of_privacy(
    model: AnyModel,
    what: str,
    instead: str = "use `verify`",
    tied: bool = False,
    densities: bool = False,
) -> Model:
    """Returns the model if it is a privacy question about a hidden Markov model, of any divergence.

    Raises:
        InputError: it is of another kind; `what` names the command or option that does not apply, `instead`
            says what does. Or a parameter is `tied` to its exponential, or its outputs have `densities`, and
            these are not said to apply.
    """
    if isinstance(model, Model):
        if not tied:
            refuse_tied(model, what)
        if model.hmm.densities and not densities:
            raise InputError(f"{what} needs {PROBABILITIES}", key="mechanism")
        return model
    need_formulas(model, what)
    raise InputError(
        f"{what} needs a case about privacy, with [mechanism] and [privacy], but this case "
        f"has a [claim]: {instead}"
    )


def without_bound(model: Model) -> Model:
    """Returns the model with the bound 1.

    All `exp` of a case are powers of one `E`, those of its bound too. Here `E` is the power of it that the
    mechanism, the prior and the domain need, and is left out where they need none. So the largest ratio of a
    case does not depend on how its own bound is written.

    Raises:
        UnsupportedError: the measure compares sets of outputs, which have no ratio.
    """
    one = RationalFunction.of(model.domain.ring.number(1))
    model = replace(model, measure=model.measure.with_bound(one))
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


MAX_STATES = 20_000

Sides = tuple[frozenset[int], frozenset[int]]  # the states that are possible under each secret of a pair


def without_one_sided(model: Model) -> Model:
    """Returns a model in which sequences that are impossible under one secret of a pair are so under both.

    Pr(ω | pi) and Pr(ω | tau) of each pair stay as they are for all other sequences. States need not have
    steps that sum to one any more. The `whole` of the result is the model that is given.

    Raises:
        ModelError: a probability may be zero at a point of the domain, and positive at another one.
        LimitError: more than `MAX_STATES` states.
    """
    hmm, pairs = _PairProduct(model.hmm, model.domain).of(model.pairs)
    found = replace(model, hmm=hmm, pairs=pairs, whole=model)
    return replace(found, notes=(*filter(None, (SIDE_CONDITION, found.nothing_compared)), *model.notes))


class _PairProduct:
    """The states of the product, found from those where pairs start."""

    def __init__(self, hmm: HMM, domain: Domain) -> None:
        self.hmm = hmm
        self.domain = domain
        self.numbers: dict[tuple[int, Sides], int] = {}
        self.pending: list[tuple[int, Sides]] = []
        self.sides: dict[Sides, int] = {}
        self.next: dict[Sides, dict[int, Sides]] = {}

    def of(self, pairs: tuple[SecretPair, ...]) -> tuple[HMM, tuple[SecretPair, ...]]:
        for row in self.hmm.steps:
            for step in row:
                self._positive(step.weight)
        moved = []
        for pair in pairs:
            here = frozenset(self._support(pair.pi)), frozenset(self._support(pair.tau))
            moved.append(replace(pair, pi=self._start(pair.pi, here), tau=self._start(pair.tau, here)))
        rows: list[tuple[HmmStep, ...]] = []
        names: list[str] = []
        for state, here in self.pending:  # grows on the way
            number = self.sides.setdefault(here, len(self.sides))
            names.append(self.hmm.states[state] + (f" @{number}" if number else ""))
            reached = self._next(here)
            steps = [s for s in self.hmm.steps[state] if s.observation in reached and s.weight]
            rows.append(
                tuple(replace(s, successor=self._number(s.successor, reached[s.observation])) for s in steps)
            )
        inputs = tuple(self.hmm.inputs[state] for state, _ in self.pending) if self.hmm.inputs else ()
        product = replace(self.hmm, states=tuple(names), steps=tuple(rows), inputs=inputs)
        return product, tuple(moved)

    def _positive(self, weight: Polynomial) -> None:
        if weight and sign_on(weight, self.domain) is not Sign.POSITIVE:
            raise ModelError(
                'one_sided = "ignored" requires that each probability is positive on the whole '
                f"domain, or zero on all of it; {weight} is not known to be"
            )

    def _support(self, start: InitialDistribution) -> list[int]:
        for weight in start.weights.values():
            self._positive(weight)
        return [state for state, weight in start.weights.items() if weight]

    def _start(self, start: InitialDistribution, here: Sides) -> InitialDistribution:
        weights = {self._number(s, here): w for s, w in start.weights.items() if w}
        return InitialDistribution(weights, start.mass)

    def _number(self, state: int, here: Sides) -> int:
        place = state, here
        if place not in self.numbers:
            if len(self.numbers) == MAX_STATES:
                raise LimitError(f"both secrets together have more than {MAX_STATES:,} states")
            self.numbers[place] = len(self.numbers)
            self.pending.append(place)
        return self.numbers[place]

    def _next(self, here: Sides) -> dict[int, Sides]:
        """Returns where each observation leads that is possible on both sides."""
        if here not in self.next:
            one, other = self._moves(here[0]), self._moves(here[1])
            self.next[here] = {o: (frozenset(one[o]), frozenset(other[o])) for o in one.keys() & other.keys()}
        return self.next[here]

    def _moves(self, states: frozenset[int]) -> dict[int, set[int]]:
        found: dict[int, set[int]] = {}
        for state in states:
            for step in self.hmm.steps[state]:
                if step.weight:
                    found.setdefault(step.observation, set()).add(step.successor)
        return found
