"""Points of claims in which variables stand for numbers of outputs: whether an output is meant there."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import islice

from paramverify.algebra.polynomials import Point, variables
from paramverify.claims import Claim, Origin
from paramverify.errors import InputError
from paramverify.formats.refutations import fails_at
from paramverify.models.context import sample_points
from paramverify.models.evaluation import observation_indices
from paramverify.models.hmm import Spreads
from paramverify.models.model import Model
from paramverify.models.spreads import ArithmeticSequence

MOST_STEPS = 12  # whole numbers up to the power of 2 with this exponent are tried in the place of a limit
MAX_BITS = 4_096  # of a power of a base
TOWARDS = 10  # points of the domain that are tried, too


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
    others = [point, *({**point, **p} for p in islice(sample_points(claim.domain), TOWARDS))]
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
