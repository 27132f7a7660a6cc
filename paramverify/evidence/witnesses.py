"""Witnesses of violations, one output or a set of them, evaluated exactly from the model and outside every
backend.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import islice, product
from typing import Any

from flint import fmpq_poly

from paramverify import printable
from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Interval, contains, in_words
from paramverify.algebra.exact_numbers import ExactNumber
from paramverify.algebra.polynomials import Point, meant, variables
from paramverify.algebra.rationals import simplest_between
from paramverify.algebra.reals import Real
from paramverify.claims import AllOutputs, Claim, Direction, Origin, Stated
from paramverify.divergences import MaxDivergence, PositiveParts, SumDivergence
from paramverify.errors import DefectError, InputError
from paramverify.evidence import number_words as words
from paramverify.evidence.divergence_witnesses import (
    MomentWitness,
    Word,
    moment_at,
    pair_of,
    shares_at,
)
from paramverify.evidence.interval_witnesses import DensityWitness, OutputSets
from paramverify.evidence.told_witnesses import Counterexample, SetWitness, Witness
from paramverify.evidence.witness import AnyWitness
from paramverify.formats.refutations import fails_at
from paramverify.models.context import sample_points
from paramverify.models.hmm import ArithmeticSequence, Spreads
from paramverify.models.model import AnyModel, Model, divergence_of, of_privacy
from paramverify.models.model_evaluation import Numbers, Values, observation_indices

MOST_STEPS = 12  # whole numbers up to the power of 2 with this exponent are tried in the place of a limit
MAX_BITS = 4_096  # of a power of a base
TOWARDS_OUTPUT = 10  # points of the domain that are tried, too


def spreads_of(model: Model, origin: Origin) -> Spreads:
    """Returns the numbers of an output that variables of the claims stand for, in words."""
    return tuple(entry for name in origin.observations for entry in model.hmm.spreads.get(name, ()))


def exact_spreads(model: Model, origin: Origin, point: Point) -> Spreads:
    """Returns the same at a point where an output is meant, with exact weights.

    Raises:
        InputError: no output is meant there, or its number is known by bounds only.
    """
    found = spreads_of(model, origin)
    word = observation_indices(model, origin.observations)
    for _, spread in found:
        if spread.slack and _is_bounded(model, word, spread.slack):
            raise InputError("the number of this output is bounded only: no exact probability is known")
        if spread.whole and not spread.is_whole_at(model.domain.ring, point):
            raise InputError(f"{spread.variable} stands for no whole number at this point")
    return found


def _is_bounded(model: Model, word: Sequence[int], slack: str) -> bool:
    """Tells whether a variable occurs in the probability of an output under any input."""
    steps = (step for row in model.hmm.steps for step in row)
    return any(step.observation in word and slack in variables(step.weight) for step in steps)


def at_an_output(
    model: Model, claim: Claim, origin: Origin, point: dict[str, Fraction]
) -> dict[str, Fraction] | None:
    """Returns the point where a claim fails, or one near it at which an output is meant; None without one.

    Numbers that are known by bounds only refute nothing: outputs with exact numbers do.
    """
    used = variables(claim.polynomial)
    for _, spread in spreads_of(model, origin):
        if spread.slack in used:
            return None
        if spread.whole and spread.variable in used:
            return _at_whole_number(claim, spread, point)
    return point


def _at_whole_number(claim: Claim, spread: ArithmeticSequence, point: Point) -> dict[str, Fraction] | None:
    """Returns a point near a given one where a claim fails and a whole number of an output is meant."""
    ring = claim.domain.ring
    others = [point, *({**point, **p} for p in islice(sample_points(claim.domain), TOWARDS_OUTPUT))]
    for near in others:
        t = spread.near(ring, near)
        steps = [2**k for k in range(MOST_STEPS)] if t is None else [round(t) + k for k in (0, 1, -1, 2)]
        base = spread.base_at(ring, near)
        for k in dict.fromkeys([*steps, 0, 1, 2, 4, 8]):
            if 0 <= k <= 2**MOST_STEPS and base.denominator.bit_length() * k <= MAX_BITS:
                tried = {**near, spread.variable: base**k}
                if fails_at(claim, tried):
                    return tried
    return None


MAX_DENOMINATOR_BITS = 4_096
OUTPUTS, SECONDS = 12, 0.5  # how many are compared with a witness, and for how long at most
TOWARDS = 10  # points of the domain in whose direction others are tried


@dataclass(frozen=True, eq=False)
class ExactWitness(AnyWitness):
    """Two exact probabilities of one output under two secrets, at one rational parameter point.

    `exceeds` tells whether left > bound · right, decided exactly; then the ratio is beyond the bound. Where
    an output is a place of a density, or a limit, the two numbers are `densities`, up to a factor. Then
    `within` is a set of outputs beside it that is too likely, too.
    """

    parameters: Mapping[str, Fraction]
    left: str
    right: str
    observations: tuple[str, ...]
    probabilities: tuple[Real, Real]
    bound: Real
    exceeds: bool
    meant: Mapping[str, str] = field(default_factory=dict)  # unbounded parameters, in words
    distance: Fraction | None = None  # of the two inputs, where the bound depends on it
    densities: bool = False
    beside: DensityWitness | None = None

    unread: frozenset[str] = frozenset()  # variables for numbers of other outputs

    @cached_property
    def within(self) -> OutputSets | None:
        """A set of outputs that is too likely, with its probabilities; None where none is looked for."""
        return self.beside.within() if self.beside is not None and self.exceeds else None

    @property
    def reached(self) -> bool | None:
        """Whether sets of outputs have the ratio, if no output has a larger one; None if it is not known."""
        return True if not self.densities else self.beside.reached(self.ratio) if self.beside else None

    def __repr__(self) -> str:
        told = " ".join(self.observations)
        left, right = self.probabilities
        at = f" at {in_words(self.parameters)}" if self.parameters else ""
        sides = f"{left.describe()} under {self.left!r}, {right.describe()} under {self.right!r}"
        return f"<Witness: output {told} with probability {sides}{at}>"

    @property
    def ratio(self) -> Real | None:
        """Pr(observations | left) / Pr(observations | right); None stands for infinity (right side zero)."""
        return MaxDivergence.leak(*self.probabilities)

    @property
    def shown(self) -> bool:
        """Whether the ratio is beyond the bound."""
        return self.exceeds

    @property
    def origin(self) -> Origin:
        """The output, and the direction in which it is compared."""
        return Origin(self.left, self.right, self.observations)

    @property
    def word(self) -> tuple[str, ...]:
        """The output sequence."""
        return self.observations

    @property
    def size(self) -> tuple[bool, Fraction]:
        """The ratio: infinite, or a number just below it."""
        return _size(self.ratio)

    def _rational(self) -> dict[str, Fraction]:
        return {name: value for name, value in self.parameters.items() if name not in self.unread}

    def breaks(self, claim: Claim) -> bool:
        """Tells whether a claim fails at the point."""
        return fails_at(claim, self.parameters)

    def lines(self) -> list[str]:
        """Returns sentences: prior, secrets, output, probabilities, ratio and bound."""
        at = f"With {self.place}: " if self.parameters else ""
        return [f"{at}{self.comparison()}", *self.probability_lines()]

    def probability_lines(self) -> list[str]:
        """Returns the two probabilities; of sets beside the output, where it is about densities."""
        found = self.within
        told = found or self
        name = "density" if self.densities and not found else "Pr"
        outputs = words.word(told.observations)
        lines = [
            f"{name}({outputs} | {printable.name(secret)}) {words.chance(value)}"
            for secret, value in zip((self.left, self.right), told.probabilities, strict=True)
        ]
        if not found:
            return lines
        limit = any(map(_is_limit, self.observations))
        ratio = words.factor(self.ratio) if self.ratio else "infinity" if limit else "infinite"
        verb = "tends to" if limit else "is"
        what = "the ratio" if limit else "the ratio of the densities"
        return [*lines, f"At {words.word(self.observations)} {what} {verb} {ratio}"]

    def comparison(self) -> str:
        """Returns the sentence that compares both probabilities with each other and the bound."""
        found = self.within or self
        left, ratio = found.probabilities[0], found.ratio
        outcome = words.sequence(found.observations)
        verb = "is" if len(self.observations) == 1 else "are"
        secrets = [f"under '{printable.name(secret)}'" for secret in (self.left, self.right)]
        possible = isinstance(left, tuple) or left.sign() > 0
        if ratio:
            times = words.between(ratio) if isinstance(ratio, tuple) else words.factor(ratio)
            told = f"{outcome} {verb} {times} times as likely {secrets[0]} as {secrets[1]}"
        elif possible and any(map(_is_limit, found.observations)):
            told = f"{outcome} {verb} infinitely more likely {secrets[0]} than {secrets[1]}"
        elif possible:
            told = f"{outcome} {verb} possible {secrets[0]} and impossible {secrets[1]}"
        else:
            told = f"{outcome} {verb} impossible {' and '.join(secrets)}"
        return (
            f"{told}, which {'exceeds' if self.exceeds else 'is within'} the bound {self.bound_in_words()}."
        )

    def bound_in_words(self) -> str:
        """Returns the bound, with the distance of the inputs where it depends on that."""
        far = f" for the distance {self.distance}" if self.distance is not None else ""
        return f"{words.number(self.bound)}{far}"

    def document(self) -> dict[str, Any]:
        """Returns parameters, secrets, observations, probabilities, ratio and bound as JSON data."""
        return {
            "parameters": {name: str(value) for name, value in self.parameters.items()},
            "secrets": [self.left, self.right],
            "observations": list(self.observations),
            "probabilities": [words.real(p) for p in self.probabilities],
            "ratio": words.real(self.ratio)
            if self.probabilities[0].sign() > 0 or self.ratio
            else "undefined",
            "bound": words.real(self.bound),
            "exceeds": self.exceeds,
            **({"distance": str(self.distance)} if self.distance is not None else {}),
            **({"densities": True} if self.densities else {}),
            **({"within": self.within.document()} if self.within else {}),
        }

    def told(self) -> Witness:
        """Returns it as Python programs get it."""
        left, right = self.probabilities
        return Witness(
            parameters=dict(self.parameters),
            left=self.left,
            right=self.right,
            observations=tuple(self.observations),
            probabilities=(ExactNumber(left), ExactNumber(right)),
            ratio=ExactNumber(self.ratio),
            bound=ExactNumber(self.bound),
            densities=self.densities,
            within=self.within.told() if self.within else None,
        )


def _is_limit(observation: str) -> bool:
    """Tells whether an output is a limit of numbers: a zero there does not say that any is impossible."""
    return "far above" in observation or "far below" in observation


def _size(ratio: Real | None) -> tuple[bool, Fraction]:
    return (True, Fraction(0)) if ratio is None else (False, ratio.enclosure()[0])


@dataclass(frozen=True, eq=False)
class ExactCounterexample(AnyWitness):
    """A comparison of a case and the exact values of its two sides, at one rational parameter point.

    `fails` tells whether the comparison is false there, decided exactly.
    """

    parameters: Mapping[str, Fraction]
    stated: Stated
    relation: str
    left: Real
    right: Real
    fails: bool
    meant: Mapping[str, str] = field(default_factory=dict)  # unbounded parameters, in words

    @property
    def difference(self) -> Real:
        """The left side minus the right side."""
        return self.left - self.right

    @property
    def shown(self) -> bool:
        """Whether the comparison is false."""
        return self.fails

    @property
    def origin(self) -> Stated:
        """The comparison."""
        return self.stated

    def lines(self) -> list[str]:
        """Returns sentences: the point, the comparison, and its sides."""
        at = f"With {self.place}: " if self.parameters else ""
        told, sign = words.equals(self.difference), self.difference.sign()
        if sign and told.endswith("≈ 0"):  # the sign is said, however small the difference is
            told += f" (in truth {'above' if sign > 0 else 'below'} 0)"
        return [
            f"{at}{self.stated.text} is {'false' if self.fails else 'true'}.",
            f"left side {words.equals(self.left)}",
            f"right side {words.equals(self.right)}",
            f"left - right {told}, which is {'not ' * self.fails}{self.relation} 0",
        ]

    def document(self) -> dict[str, Any]:
        """Returns the point, the comparison and the values of its sides as JSON data."""
        return {
            "parameters": {name: words.exact(value) for name, value in self.parameters.items()},
            "number": self.stated.number,
            "statement": self.stated.text,
            "relation": self.relation,
            "left": words.real(self.left),
            "right": words.real(self.right),
            "difference": words.real(self.difference),
            "fails": self.fails,
        }

    def told(self) -> Counterexample:
        """Returns it as Python programs get it."""
        sides = ExactNumber(self.left), ExactNumber(self.right)
        return Counterexample(dict(self.parameters), self.stated.text, *sides)


@dataclass(frozen=True, eq=False)
class ExactSetWitness(AnyWitness):
    """Two exact probabilities of one set of outputs under two secrets, at one rational parameter point.

    All `outputs` are sequences of `length`, in the order of the observations of the model. `exceeds` tells
    whether left > bound · right + delta, decided exactly.
    """

    parameters: Mapping[str, Fraction]
    left: str
    right: str
    length: int
    outputs: tuple[Word, ...]
    probabilities: tuple[Real, Real]
    bound: Real
    delta: Real
    exceeds: bool
    meant: Mapping[str, str] = field(default_factory=dict)  # unbounded parameters, in words
    key: str = "delta"  # what `delta` is in [privacy]

    def __repr__(self) -> str:
        left, right = self.probabilities
        at = f" at {in_words(self.parameters)}" if self.parameters else ""
        sides = f"{left.describe()} under {self.left!r}, {right.describe()} under {self.right!r}"
        size = len(self.outputs)
        return f"<SetWitness: {size} output{'s' * (size != 1)} with probability {sides}{at}>"

    @property
    def beyond(self) -> Real:
        """The left probability minus the bound times the right one: the least delta for this set."""
        return self.probabilities[0] - self.bound * self.probabilities[1]

    @property
    def shown(self) -> bool:
        """Whether the set is more likely than the bounds allow."""
        return self.exceeds

    @property
    def size(self) -> tuple[bool, Fraction]:
        """What it has beyond both bounds, or a number just below."""
        return False, (self.beyond - self.delta).enclosure()[0]

    def lines(self) -> list[str]:
        """Returns sentences: prior, secrets, the set, its probabilities and bounds."""
        at = f"With {self.place}: " if self.parameters else ""
        left, right = (printable.name(secret) for secret in (self.left, self.right))
        size = len(self.outputs)
        what = f"{at}the set S of {size} output{'s' * (size != 1)}"
        far = "too likely" if self.exceeds else "within the bounds"
        return [
            f"{what} is {far} under '{left}', compared with '{right}'.",
            f"S = {words.outputs(self.outputs)}",
            f"Pr(S | {left}) {words.equals(self.probabilities[0])}",
            f"Pr(S | {right}) {words.equals(self.probabilities[1])}",
            f"{words.gap(f'Pr(S | {left})', words.factor(self.bound), f'Pr(S | {right})')} "
            f"{words.equals(self.beyond)}, "
            f"which is {'more' if self.exceeds else 'not more'} than {self.key} {words.equals(self.delta)}",
        ]

    def document(self) -> dict[str, Any]:
        """Returns it as JSON data; `beyond` is what `delta` would have to be for the set."""
        return {
            "parameters": {name: str(value) for name, value in self.parameters.items()},
            "secrets": [self.left, self.right],
            "length": self.length,
            "outputs": [list(output) for output in self.outputs],
            "probabilities": [words.real(p) for p in self.probabilities],
            "bound": words.real(self.bound),
            "delta": words.real(self.delta),
            "beyond": words.real(self.beyond),
            "exceeds": self.exceeds,
        }

    def told(self) -> SetWitness:
        """Returns it as Python programs get it."""
        left, right = self.probabilities
        return SetWitness(
            parameters=dict(self.parameters),
            left=self.left,
            right=self.right,
            outputs=self.outputs,
            probabilities=(ExactNumber(left), ExactNumber(right)),
            bound=ExactNumber(self.bound),
            delta=ExactNumber(self.delta),
            beyond=ExactNumber(self.beyond),
        )


Evaluated = ExactWitness | MomentWitness


def compare_at(model: AnyModel, stated: Stated, point: Point) -> ExactCounterexample:
    """Returns the exact values of both sides of a comparison at a point.

    Raises:
        InputError: no such comparison, or a point outside of the domain.
    """
    parameters = {name: point[name] for name in model.domain.ring.parameters if name in point}
    if len(parameters) < len(model.domain.ring.parameters) or not contains(model.domain, parameters):
        raise InputError(f"this point is not in the domain {model.domain.describe()}")
    if not 0 <= stated.number < len(model.comparisons):
        raise InputError(f"the case claims {len(model.comparisons)} comparisons only")
    comparison = model.comparisons[stated.number]
    values = Values(model, parameters)
    left, right = values.function(comparison.left), values.function(comparison.right)
    fails = not comparison.is_true((left - right).sign())
    own = Stated(stated.number, comparison.text)
    return ExactCounterexample(
        parameters,
        own,
        relation=comparison.relation,
        left=left,
        right=right,
        fails=fails,
        meant=meant(model.domain.ring.unbounded, parameters),
    )


def evaluate(model: Model, origin: Origin, point: Point) -> ExactWitness:
    """Returns the exact probabilities of an output under both secrets at a point.

    Raises:
        InputError: an unknown secret or observation, a point outside of the domain, or a secret that has
            probability zero there.
    """
    if isinstance(origin, AllOutputs):
        raise DefectError("all outputs are evaluated as one")
    numbers = _numbers(model, point)
    parameters = dict(numbers.point)
    pair = pair_of(model, origin.left, origin.right)
    pi, tau = pair.pi, pair.tau
    for name, start in ((origin.left, pi), (origin.right, tau)):
        if numbers.mass(start).sign() <= 0:
            raise InputError(f"the secret {name!r} has probability zero at this point")
    word = observation_indices(model, origin.observations)
    spreads = exact_spreads(model, origin, parameters)
    left, right = numbers.probability(pi, word), numbers.probability(tau, word)
    measure = model.ratio_bound(pair.distance)
    bound = numbers.bound(pair.distance)
    away = {*model.domain.ring.outputs} - {spread.variable for _, spread in spreads}
    return ExactWitness(
        parameters,
        origin.left,
        right=origin.right,
        observations=origin.observations,
        probabilities=(left, right),
        bound=bound,
        exceeds=measure.exceeds(left, right, bound),
        meant=meant(model.domain.ring.unbounded, parameters)
        | {word: spread.at(model.domain.ring, parameters) for word, spread in spreads},
        distance=model.distance(pair),
        densities=any(map(model.hmm.is_density, origin.observations)),
        beside=DensityWitness(numbers, (pi, tau), origin.observations, bound),
        unread=frozenset(away),
    )


def evaluate_either(model: Model, origin: Origin, point: Point) -> Evaluated:
    """Returns what one output, or all of them, have at a point; see `evaluate` and `divergence_at`."""
    if isinstance(origin, AllOutputs):
        return divergence_at(model, origin, point)
    return evaluate(model, origin, point)


def divergence_at(model: Model, origin: AllOutputs, point: Point) -> MomentWitness:
    """Returns the sum of a Rényi model over all outputs, in one direction, at a point.

    Raises:
        InputError: see `evaluate`.
        LimitError: too many sequences.
    """
    own, numbers = divergence_of(model, SumDivergence), _numbers(model, point)
    pair = pair_of(model, origin.left, origin.right)
    return moment_at(numbers, own, pair, (pair.left, pair.right), origin.length)


def _numbers(model: Model, point: Point) -> Numbers:
    """Returns the model at a point of its domain."""
    nowhere = dict.fromkeys(
        model.domain.ring.outputs, Fraction(0)
    )  # an output without such a number needs none
    point = {**nowhere, **point}
    parameters = {name: point[name] for name in model.domain.ring.parameters if name in point}
    missing = [name for name in model.domain.ring.parameters if name not in point]
    if missing:
        raise InputError(f"no value for {', '.join(missing)}")
    if not contains(model.domain, parameters):
        raise InputError(f"this point is not in the domain {model.domain.describe()}")
    return Numbers(model, parameters)


def find_witness(model: AnyModel, claim: Claim, point: Point) -> AnyWitness | None:
    """Returns the witness at the simplest point found near a backend's refutation, or None if it is spurious.

    Spurious means that the claim is not violated at the point when `E` is taken as the number it is. If the
    claim is about a set of outputs, the worst set there is the witness: it is at least as far beyond the
    bounds.
    """
    if not claim.origins:
        return None
    origin = claim.origins[0]
    if isinstance(origin, Stated):
        return _false(model, claim, origin, point)
    model = of_privacy(model, "a witness", tied=True, densities=True)
    if isinstance(origin, Direction):
        return find_set_witness(model, claim, origin, point)
    if isinstance(origin, AllOutputs):
        parameters = _failing(claim, point)
        if parameters is None:
            return None
        return _divergent(model, claim, origin, simplest_violation(claim, parameters))
    return find_output(model, claim, origin, point)


def _failing(claim: Claim, point: Point) -> dict[str, Fraction] | None:
    """Returns the parameters of a point if the claim fails there."""
    parameters = {name: value for name, value in point.items() if name != GENERATOR}
    return parameters if fails_at(claim, parameters) else None


def _false(model: AnyModel, claim: Claim, stated: Stated, point: Point) -> ExactCounterexample | None:
    """Returns the point near a refutation where a comparison is false."""
    parameters = _failing(claim, point)
    if parameters is None:
        return None
    counterexample = compare_at(model, stated, simplest_violation(claim, parameters))
    if not counterexample.fails:
        raise DefectError("a claim is violated at a point where its comparison is true")
    return counterexample


def find_output(model: Model, claim: Claim, origin: Origin, point: Point) -> ExactWitness | None:
    """Returns the witness about one output at the simplest point near a refutation; see `find_witness`."""
    parameters = _failing(claim, point)
    found = parameters if parameters is None else at_an_output(model, claim, origin, parameters)
    if parameters is None or found is None:
        return None
    if found != parameters:
        return evaluate(model, origin, found)
    simple = simplest_violation(claim, parameters)
    witness = evaluate(model, origin, simple)
    if not witness.exceeds:
        raise DefectError("a claim is violated at a point where the model is within its bound")
    inside = _inside(claim, simple) if witness.ratio is None else simple
    return witness if inside == simple else evaluate(model, origin, inside)


def find_set_witness(
    model: Model, claim: Claim, direction: Direction, point: Point
) -> ExactSetWitness | None:
    """Returns the worst set of outputs at the simplest point found near a refutation; see `find_witness`."""
    parameters = _failing(claim, point)
    if parameters is None:
        return None
    simple = simplest_violation(claim, parameters)
    witness = worst_set(model, direction.left, direction.right, direction.length, simple)
    if not witness.exceeds:
        raise DefectError("a claim is violated at a point where the model is within its bound")
    return witness


def _inside(claim: Claim, point: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """Returns the point with simple coordinates between the ends of the box, as far as the claim fails there.

    An output that is impossible under one secret is so at most points: an end, such as a certain infection,
    would look like a special case.
    """
    found = dict(point)
    for name, value in point.items():
        interval = claim.domain.box[name]
        if value in (interval.lower, interval.upper) and not interval.is_point:
            middle = Interval(interval.lower, interval.upper, False, False).simplest()
            if fails_at(claim, {**found, name: middle}):
                found[name] = middle
    return found


def has_larger(model: Model, witness: ExactWitness, claims: Sequence[Claim]) -> bool:
    """Tells whether an output under two secrets is known with at least twice the ratio of a witness.

    Some outputs are looked at, at the point of the witness and at simple points of the domain with the same
    bound; False says nothing.
    """
    if witness.ratio is None or witness.densities:
        return False
    own = Origin(witness.left, witness.right, witness.observations)
    every = [origin for claim in claims for origin in claim.origins if isinstance(origin, Origin)]
    others = every[:: max(1, len(every) // OUTPUTS)][:OUTPUTS]
    points = list(islice(sample_points(model.domain), OUTPUTS))
    tried = [
        *((own, point) for point in points),
        *((origin, at) for at in (witness.parameters, *points[:2]) for origin in others),
    ]
    until = time.monotonic() + SECONDS
    for origin, point in tried:
        if time.monotonic() > until:
            break
        with suppress(InputError):
            other = evaluate(model, origin, point)
            twice = other.ratio is None or (other.ratio - witness.ratio - witness.ratio).sign() >= 0
            if twice and (other.bound - witness.bound).sign() == 0:
                return True
    return False


def _divergent(model: Model, claim: Claim, origin: AllOutputs, point: Point) -> MomentWitness | None:
    """Returns the witness at a point where a claim about a divergence fails, or beside it.

    Where a denominator vanishes the claim may say more than the sum; then it fails at points near by, too.
    """
    tried = [point]
    for other in islice(sample_points(claim.domain), TOWARDS):
        for k in (1, 2, 4, 8, 16, 32):
            tried.append({n: v + (other[n] - v) / 2**k for n, v in point.items() if n in other})
    for near in tried:
        if fails_at(claim, near):
            with suppress(InputError):
                found = divergence_at(model, origin, near)
                if found.exceeds:
                    return found
    return None


def simplest_violation(claim: Claim, start: Point) -> dict[str, Fraction]:
    """Returns a point with small denominators where the claim is violated, given one where it is.

    First simple points of the box are tried, then each coordinate of the given point is replaced by the
    simplest rational near it that keeps the violation.
    """
    box = {name: claim.domain.box[name] for name in claim.domain.ring.parameters}
    names = [name for name, interval in box.items() if not interval.is_point]
    values = [_simple_values(box[name]) for name in names]
    if len(names) <= 3:
        for choice in sorted(product(*values), key=lambda c: (sum(v.denominator for v in c), c)):
            candidate = {**start, **dict(zip(names, choice, strict=True))}
            if fails_at(claim, candidate):
                return candidate
    current = dict(start)
    for name in names:
        current[name] = _simplest_coordinate(claim, current, name)
    return current


def _simple_values(interval: Interval) -> list[Fraction]:
    width = interval.upper - interval.lower
    steps = [Fraction(n, d) for d in range(1, 6) for n in range(d + 1)]
    found = {interval.lower + width * step for step in steps} | {interval.simplest()}
    return [value for value in found if value in interval]


def _simplest_coordinate(claim: Claim, point: Point, name: str) -> Fraction:
    """Returns the simplest rational in the widest tried interval around the coordinate that still violates.

    f < 0 is an open condition in one coordinate, so some interval around it has only violating points,
    unless the domain itself has none there; then the coordinate stays as it is.
    """
    interval = claim.domain.box[name]
    value = point[name]
    radius = interval.upper - interval.lower
    if value in (interval.lower, interval.upper):
        return value
    while radius.denominator.bit_length() < MAX_DENOMINATOR_BITS:
        low, high = max(interval.lower, value - radius), min(interval.upper, value + radius)
        simple = simplest_between(low, high)
        if simple.denominator > value.denominator:
            return value
        if fails_at(claim, {**point, name: simple}):
            return simple
        radius /= 2
    return value


@dataclass(frozen=True, eq=False)
class Sides:
    """How likely each sequence of one length is under two secrets at one point, exactly; see `sides`."""

    numbers: Numbers
    left: str
    right: str
    length: int
    shares: Mapping[Word, tuple[fmpq_poly, fmpq_poly]]  # by sequence, over `scales`
    scales: tuple[fmpq_poly, fmpq_poly]

    def probabilities(self, outputs: Collection[Word]) -> tuple[Real, Real]:
        """Returns the probabilities of a set of sequences under both secrets."""
        zero = fmpq_poly()
        parts = [self.shares.get(word, (zero, zero)) for word in outputs]
        one, other = (sum((part[side] for part in parts), zero) for side in (0, 1))
        return self.numbers.real(one, self.scales[0]), self.numbers.real(other, self.scales[1])

    def beyond(self, bound: Real) -> tuple[Word, ...]:
        """Returns the sequences that are more than `bound` times as likely on the left: the worst set."""
        one = bound.denominator
        found = []
        for word, (p, q) in self.shares.items():
            # p/left > top/bottom · q/right, all denominators positive
            gap = p * self.scales[1] * one - q * self.scales[0] * bound.numerator
            if self.numbers.real(gap, fmpq_poly([1])).sign() > 0:
                found.append(word)
        return tuple(found)

    def endless(self) -> tuple[Word, ...]:
        """Returns the sequences that are possible on the left only."""
        return tuple(word for word, (p, q) in self.shares.items() if p and not q)

    def witness(self, outputs: tuple[Word, ...], bound: Real, delta: Real) -> ExactSetWitness:
        """Returns what a set of sequences says about bounds."""
        probabilities = self.probabilities(outputs)
        measure = self.numbers.model.measure
        found = ExactSetWitness(
            self.numbers.point,
            self.left,
            right=self.right,
            length=self.length,
            outputs=outputs,
            probabilities=probabilities,
            bound=bound,
            delta=delta,
            exceeds=False,
            meant=meant(self.numbers.model.domain.ring.unbounded, self.numbers.point),
            key=measure.key if isinstance(measure, PositiveParts) else "delta",
        )
        return replace(found, exceeds=(found.beyond - delta).sign() > 0)


def sides(model: Model, left: str, right: str, length: int, point: Point) -> Sides:
    """Returns the probabilities of all sequences of one length under two secrets at a point.

    By the forward recursion of [F] section 2 on numbers, apart from the encodings.

    Raises:
        InputError: unknown secrets, a point outside of the domain, or a secret that is impossible there.
        LimitError: more than `MAX_SEQUENCES` sequences.
    """
    parameters = {name: point[name] for name in model.domain.ring.parameters if name in point}
    missing = [name for name in model.domain.ring.parameters if name not in point]
    if missing:
        raise InputError(f"no value for {', '.join(missing)}")
    if not contains(model.domain, parameters):
        raise InputError(f"this point is not in the domain {model.domain.describe()}")
    pair = pair_of(model, left, right)
    numbers = Numbers(model, parameters)
    found = shares_at(numbers, pair, (pair.left, pair.right), length)
    shares = {tuple(model.hmm.observations[o] for o in word): both for word, both in found.words.items()}
    return Sides(numbers, pair.left, pair.right, length=length, shares=shares, scales=found.scales)


def bounds_at(model: Model, numbers: Numbers) -> tuple[Real, Real]:
    """Returns e^ε and δ of an (ε, δ) model at a point."""
    measure = divergence_of(model, PositiveParts)
    return numbers.function(measure.ratio), numbers.function(measure.delta)


def worst_set(model: Model, left: str, right: str, length: int, point: Point) -> ExactSetWitness:
    """Returns the set of sequences that needs the largest delta in one direction at a point."""
    found = sides(model, left, right, length, point)
    bound, delta = bounds_at(model, found.numbers)
    return found.witness(found.beyond(bound), bound, delta)


def given_set(
    model: Model, left: str, right: str, outputs: Collection[Word], point: Point
) -> ExactSetWitness:
    """Returns what a set of sequences of one length says of one direction at a point.

    Raises:
        InputError: no sequence, two lengths, one sequence twice, or an unknown observation; see `sides`.
    """
    lengths = {len(word) for word in outputs}
    if len(lengths) != 1:
        raise InputError("a set of outputs has at least one, all of one length")
    if len(set(outputs)) < len(outputs):
        raise InputError("an output of the set is there twice")
    for word in outputs:
        observation_indices(model, word)
    found = sides(model, left, right, lengths.pop(), point)
    bound, delta = bounds_at(model, found.numbers)
    order = {name: k for k, name in enumerate(model.hmm.observations)}
    told = tuple(sorted(outputs, key=lambda word: [order[name] for name in word]))
    return found.witness(told, bound, delta)
