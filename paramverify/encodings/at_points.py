"""Violations found at single points of the domain, where all probabilities are numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import islice

from paramverify.algebra.polynomials import (
    Point,
    Polynomial,
    constant_value,
    is_constant,
    substitute,
)
from paramverify.claims import Origin
from paramverify.encodings.cone import directed_candidates, has_numbers, runs
from paramverify.encodings.lumping import lump
from paramverify.encodings.sequences import claim_polynomial
from paramverify.models.context import sample_points
from paramverify.models.hmm import HMM, HmmStep
from paramverify.models.model import Model
from paramverify.models.priors import InitialDistribution

MAX_RAYS = 200  # of one length
MAX_POINTS = 25


def find_violation(
    model: Model, most: int = 30, check: Callable[[], None] = lambda: None
) -> tuple[Origin, dict[str, Fraction]] | None:
    """Returns a sequence of at most that length and a point of the domain with a ratio above the bound.

    The parameters are replaced by the numbers of simple points, one after the other, and the cone encoding
    finds the largest ratio at each. Nothing is said by None. The caller evaluates the finding exactly.
    `check` is called all the time, and may raise an error to end the search.
    """
    for point in islice(sample_points(model.domain), MAX_POINTS):
        fixed = at_point(model, point)
        small = lump(fixed).model
        if not has_numbers(small.hmm):
            return None
        directions = runs(small)
        for found in islice(zip(*(levels for levels, _ in directions), strict=True), most):
            check()
            if any(len(level.kept) > MAX_RAYS for level in found):
                break
            for level, (_, turns) in zip(found, directions, strict=True):
                for vector, word in level.kept.items():
                    check()
                    for candidate in directed_candidates(small, vector, word, turns):
                        f = claim_polynomial(small, candidate)
                        if is_constant(f) and constant_value(f) < 0:
                            return candidate.origin, {n: point[n] for n in model.domain.ring.parameters}
    return None


def with_numbers(model: Model) -> Model:
    """Returns the model with parameters that the case fixes replaced by their values; the domain stays."""
    fixed = {
        n: i.lower for n, i in model.domain.box.items() if i.is_point and n in model.domain.ring.parameters
    }
    return at_point(model, fixed) if fixed else model


def at_point(model: Model, point: Point) -> Model:
    """Returns the model with the parameters that a point gives replaced by rationals; the ring stays."""

    def fixed(polynomial: Polynomial) -> Polynomial:
        return substitute(polynomial, {n: point[n] for n in model.domain.ring.parameters if n in point})

    memory: dict[int, InitialDistribution] = {}

    def start(given: InitialDistribution) -> InitialDistribution:
        if id(given) not in memory:
            weights = {s: fixed(w) for s, w in given.weights.items()}
            memory[id(given)] = InitialDistribution(
                {s: w for s, w in weights.items() if w}, fixed(given.mass)
            )
        return memory[id(given)]

    hmm = model.hmm
    steps = tuple(
        tuple(HmmStep(s.observation, s.successor, w) for s in row if (w := fixed(s.weight)))
        for row in hmm.steps
    )
    small = HMM(
        hmm.ring,
        hmm.states,
        observations=hmm.observations,
        steps=steps,
        denominator=fixed(hmm.denominator),
        chosen=hmm.chosen,
    )
    pairs = tuple(replace(p, pi=start(p.pi), tau=start(p.tau)) for p in model.pairs)
    return replace(model, hmm=small, pairs=pairs, measure=model.measure.map(fixed))
