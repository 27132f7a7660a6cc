"""Models without the sequences that are impossible under one of two secrets: a side condition on a verdict.

An encoding may have observations that only one of the two secrets can make, such as the suits of cards in
Fig. 3 of [F]; the proof of Theorem 10.2 there ignores sequences with probability zero. A sequence ω is
possible under a start π iff the set S_ω of states is not empty, with S = the support of π and
S_ωo = {t : T_o[s,t] > 0, s in S_ω}. So the product of the model with both sets, in which a step that makes
one of them empty is left out, gives a sequence the same probability if both secrets allow it, and else zero
on both sides; its claim reads 0 ≥ 0. Supports do not depend on the parameters: every probability of the
model that is not identically zero has to be positive on the whole domain.
"""

from __future__ import annotations

from dataclasses import replace

from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import Polynomial
from paramverify.algebra.signs import Sign, sign_on
from paramverify.errors import LimitError, ModelError
from paramverify.models.hmm import HMM, HmmStep
from paramverify.models.model import SIDE_CONDITION, Model
from paramverify.models.priors import InitialDistribution, SecretPair

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
                f"one-sided sequences can be ignored only where probabilities are positive on the whole "
                f"domain, or zero; {weight} is not known to be"
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
                raise LimitError(f"more than {MAX_STATES:,} states of both secrets together")
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
