"""Smaller models with the same probabilities: unreachable states dropped, states that act alike merged.

States s and t act alike if for every observation ω and every class C of states that act alike,
Σ_{u∈C} T_ω[s,u] = Σ_{u∈C} T_ω[t,u]. Then v_ω(s) = v_ω(t) for every sequence ω, by induction on its length
(ordinary lumpability: [KemenySnell60] section 6.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from paramverify.algebra.polynomials import Polynomial, key
from paramverify.models.hmm import HMM, HmmStep
from paramverify.models.model import Model
from paramverify.models.priors import InitialDistribution


@dataclass(frozen=True, eq=False)
class Lumped:
    """A model with the same probabilities; `classes[s]` is the new state of s, None if s is unreachable."""

    model: Model
    classes: tuple[int | None, ...]


def lump(model: Model) -> Lumped:
    """Returns the coarsest such model: Pr(ω | secret) is the same for every sequence, secret and point."""
    hmm = model.hmm
    classes = _refine(hmm, _reachable(model))
    members: dict[int, int] = {}  # one state of each class
    for state, number in enumerate(classes):
        if number is not None:
            members.setdefault(number, state)
    steps = tuple(
        tuple(HmmStep(o, c, w) for (o, c), w in _sums(hmm.steps[members[k]], classes).items())
        for k in range(len(members))
    )
    names = tuple(hmm.states[members[k]] for k in range(len(members)))
    small = HMM(
        hmm.ring,
        names,
        observations=hmm.observations,
        steps=steps,
        denominator=hmm.denominator,
        chosen=hmm.chosen,
    )
    memory: dict[int, InitialDistribution] = {}

    def start(given: InitialDistribution) -> InitialDistribution:
        # Pairs that share a distribution go on sharing it.
        if id(given) not in memory:
            weights: dict[int, Polynomial] = {}
            for state, weight in given.weights.items():
                number = classes[state]
                if number is not None:
                    weights[number] = weights[number] + weight if number in weights else weight
            memory[id(given)] = InitialDistribution(weights, given.mass)
        return memory[id(given)]

    pairs = tuple(replace(p, pi=start(p.pi), tau=start(p.tau)) for p in model.pairs)
    return Lumped(replace(model, hmm=small, pairs=pairs), classes)


def _reachable(model: Model) -> set[int]:
    pending = [s for p in model.pairs for d in (p.pi, p.tau) for s, w in d.weights.items() if w]
    found = set(pending)
    while pending:
        for step in model.hmm.steps[pending.pop()]:
            if step.successor not in found:
                found.add(step.successor)
                pending.append(step.successor)
    return found


def _sums(row: Sequence[HmmStep], classes: Sequence[int | None]) -> dict[tuple[int, int], Polynomial]:
    """Returns the total weight by observation and class."""
    sums: dict[tuple[int, int], Polynomial] = {}
    for step in row:
        number = classes[step.successor]
        assert number is not None  # successors of reachable states are reachable
        place = (step.observation, number)
        sums[place] = sums[place] + step.weight if place in sums else step.weight
    return {place: weight for place, weight in sums.items() if weight}


def _refine(hmm: HMM, states: set[int]) -> tuple[int | None, ...]:
    """Splits classes until the states of each have the same sums."""
    classes: list[int | None] = [0 if s in states else None for s in range(len(hmm.states))]
    count = 1
    while True:
        numbers: dict[tuple[object, ...], int] = {}
        refined: list[int | None] = [None] * len(classes)
        for state in sorted(states):
            sums = _sums(hmm.steps[state], classes)
            signature = (classes[state], *sorted((*place, key(weight)) for place, weight in sums.items()))
            refined[state] = numbers.setdefault(signature, len(numbers))
        if len(numbers) == count:
            return tuple(refined)
        classes, count = refined, len(numbers)
