"""Sets of outputs as witnesses against (ε, δ) privacy, evaluated exactly from the model at one point."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from flint import fmpq_poly

from paramverify.algebra.exponents import meant
from paramverify.algebra.points import contains
from paramverify.algebra.polynomials import Point
from paramverify.algebra.reals import Real
from paramverify.errors import InputError
from paramverify.evidence.moments import Word
from paramverify.evidence.pairs import pair_of
from paramverify.evidence.shares import shares_at
from paramverify.evidence.witnesses import ExactSetWitness
from paramverify.models.evaluation import Numbers, observation_indices
from paramverify.models.measures import Approximate
from paramverify.models.model import Model


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
    measure = model.measure
    assert isinstance(measure, Approximate)
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
