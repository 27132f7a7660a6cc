"""Probabilities at one parameter point, exact, straight from the model.

This is the path on which witnesses are re-evaluated. It shares nothing with the encodings: the parameters
are replaced by rationals first, then the forward recursion of [F] section 2 runs on numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq_poly

from paramverify import printable
from paramverify.algebra import domains
from paramverify.algebra.constants import Transcendental
from paramverify.algebra.domains import number_at
from paramverify.algebra.polynomials import Point, Polynomial, RationalFunction
from paramverify.algebra.reals import Real
from paramverify.errors import InputError, LimitError
from paramverify.models.model import Model, OnDomain
from paramverify.models.priors import InitialDistribution

MAX_SEQUENCES = 100_000  # of one length


@dataclass(frozen=True, eq=False)
class Values:
    """Polynomials and rational functions of a model of any kind, at one parameter point."""

    model: OnDomain
    point: Point

    def value(self, polynomial: Polynomial) -> fmpq_poly:
        """Returns the value of a polynomial at the point, as a polynomial in `constant`."""
        ring = self.model.domain.ring
        if ring.tied:
            return domains.number_in_ring(ring, polynomial, self.point)
        return number_at(polynomial, self.point)

    @property
    def constant(self) -> Transcendental | None:
        """The number in which values at the point are polynomials, `E` as a rule."""
        ring = self.model.domain.ring
        return domains.constant_at(ring, self.point) if ring.tied else ring.constant

    def real(self, numerator: fmpq_poly, denominator: fmpq_poly) -> Real:
        """Returns the quotient."""
        return Real.of(numerator, denominator, self.constant)

    def function(self, function: RationalFunction) -> Real:
        """Returns the value of a rational function whose denominator is positive at the point."""
        return self.real(self.value(function.numerator), self.value(function.denominator))


@dataclass(frozen=True, eq=False)
class Numbers(Values):
    """A privacy question at one parameter point: the bound, masses and probabilities as numbers."""

    model: Model

    def bound(self, distance: Fraction | None = None) -> Real:
        """Returns the bound of the measure at the point, for a pair of inputs at a distance."""
        return self.model.ratio_bound(distance).bound(self.function)

    def mass(self, start: InitialDistribution) -> Real:
        """Returns the mass of a conditioned prior (its weights are only fixed up to a factor)."""
        return self.real(self.value(start.mass), fmpq_poly([1]))

    def probability(self, start: InitialDistribution, observations: Sequence[int]) -> Real:
        """Returns Pr(observations | start) by the forward recursion.

        α_0 are the weights of the start; each observation moves α along the steps that emit it; the result
        is the sum of α over mass · denominator^length. The mass must be positive at the point.
        """
        weights: Mapping[int, fmpq_poly] = {s: self.value(w) for s, w in start.weights.items()}
        for observation in observations:
            moved: dict[int, fmpq_poly] = {}
            for state, weight in weights.items():
                for step in self.model.hmm.steps[state]:
                    if step.observation == observation:
                        part = weight * self.value(step.weight)
                        moved[step.successor] = moved.get(step.successor, fmpq_poly()) + part
            weights = moved
        total = sum(weights.values(), fmpq_poly())
        scale = self.value(self.model.hmm.denominator) ** len(observations)
        return self.real(total, self.value(start.mass) * scale)


def observation_indices(model: Model, observations: Sequence[str]) -> tuple[int, ...]:
    """Returns the numbers of the named observations.

    Raises:
        InputError: an unknown observation.
    """
    known = {name: k for k, name in enumerate(model.hmm.observations)}
    for name in observations:
        if name not in known:
            raise InputError(
                f"unknown output {name!r}; the outputs of the mechanism are "
                f"{', '.join(map(printable.name, known))}"
            )
    return tuple(known[name] for name in observations)


def probabilities_at(
    numbers: Numbers, starts: Iterable[InitialDistribution], length: int
) -> list[dict[tuple[int, ...], fmpq_poly]]:
    """Returns Pr(ω | start) · mass · denominator^length for each possible sequence ω, for each start.

    By the forward recursion of [F] section 2 on numbers.

    Raises:
        LimitError: more than `MAX_SEQUENCES` sequences.
    """
    rows = _steps(numbers)
    return [_words(numbers, rows, start, length) for start in starts]


Steps = list[list[tuple[int, int, fmpq_poly]]]


def _steps(numbers: Numbers) -> Steps:
    """Returns the steps of each state with numbers as weights."""
    memory: dict[int, fmpq_poly] = {}
    rows: Steps = []
    for row in numbers.model.hmm.steps:
        for step in row:
            if id(step.weight) not in memory:
                memory[id(step.weight)] = numbers.value(step.weight)
        rows.append([(s.observation, s.successor, memory[id(s.weight)]) for s in row])
    return rows


def _words(
    numbers: Numbers, rows: Steps, start: InitialDistribution, length: int
) -> dict[tuple[int, ...], fmpq_poly]:
    """Returns Pr(ω | start) · mass · denominator^length for each possible sequence ω."""
    level: dict[tuple[tuple[int, ...], int], fmpq_poly]
    level = {((), s): numbers.value(w) for s, w in start.weights.items()}
    for _ in range(length):
        moved: dict[tuple[tuple[int, ...], int], fmpq_poly] = {}
        for (word, state), share in level.items():
            for seen, successor, weight in rows[state]:
                part = share * weight
                if part:
                    place = (*word, seen), successor
                    moved[place] = moved[place] + part if place in moved else part
        if len(moved) > MAX_SEQUENCES:
            raise LimitError(
                f"there are more than {MAX_SEQUENCES:,} output sequences of length {length}; "
                "choose a smaller length"
            )
        level = moved
    found: dict[tuple[int, ...], fmpq_poly] = {}
    for (word, _), share in level.items():
        found[word] = found[word] + share if word in found else share
    return found
