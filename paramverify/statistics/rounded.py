"""Enclosed probabilities as rational numbers near them, for tests by sampling, which prove nothing."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from paramverify.algebra.constants import working_precision
from paramverify.algebra.polynomials import RationalFunction
from paramverify.errors import InputError
from paramverify.evidence.enclosed import ends
from paramverify.models.context import Checks
from paramverify.models.enclosed import EnclosedModel, EnclosedProbabilities
from paramverify.models.hmm import one_shot
from paramverify.models.model import Model
from paramverify.privacy.cases import PrivacyCase

BITS = 48
SCALE = 2**40
NOTE = "the probabilities are rounded to multiples of 2^-40; tests by sampling do not see that"


def rounded(case: PrivacyCase, certified: bool = False) -> PrivacyCase:
    """Returns the case with probabilities that are rounded, if they are enclosed; other cases as they are.

    Raises:
        InputError: what is found by sampling is to be `certified`: that needs the exact numbers.
    """
    model = case.model
    if not isinstance(model, EnclosedModel):
        return case
    if certified:
        reason = "the probabilities of gauss and discrete_gaussian are enclosed"
        raise InputError(f"{reason}: `verify` and `budget` compare all of them; leave this option out")
    known = EnclosedProbabilities(model.table, BITS)
    ring = model.domain.ring
    rows = []
    for state in range(len(model.table.states)):
        with working_precision(known.encloser.precision):
            middles = [sum(ends(ball)) / 2 for ball in known.given(state)]
        near = [Fraction(round(m * SCALE), SCALE) for m in middles]
        near[near.index(max(near))] += 1 - sum(near)
        rows.append([RationalFunction.of(ring.number(value)) for value in near])
    hmm = one_shot(Checks(model.domain), list(model.table.states), list(model.table.observations), rows)
    plain = Model(
        domain=model.domain,
        hmm=hmm,
        pairs=model.pairs,
        measure=model.measure,
        obligations=model.obligations,
        notes=(*model.notes, NOTE),
        maybe_empty=model.maybe_empty,
    )
    return replace(case, model=plain)
