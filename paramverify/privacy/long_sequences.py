"""Sequences of a length for which there are too many: what all lengths together say about it.

A model that is private for sequences of every length is so for those of each length. The other way round, let
a word ω have Pr(ω|A) > c·Pr(ω|B). The probabilities of ω are the sums of those of ωa over all outputs a, so
some ωa has Pr(ωa|A) > c·Pr(ωa|B), and one that has the largest ratio does. So a violation by a short word
is continued to the length that is asked for.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

from paramverify.algebra.polynomials import Point, Polynomial, constant_value, is_constant, primitive
from paramverify.answers import Decision, Refuted
from paramverify.claims import Claim, Origin
from paramverify.divergences import MaxDivergence
from paramverify.encodings.encoding import Candidate
from paramverify.encodings.point_violations import at_point
from paramverify.encodings.sequences import claim_polynomial, forward_sum, levels, steps_by_observation
from paramverify.errors import LimitError, UnsupportedError
from paramverify.evidence.divergence_witnesses import pair_of
from paramverify.evidence.witnesses import ExactWitness, evaluate
from paramverify.exact.procedure_outcomes import VERSION
from paramverify.models.model import Model, is_about
from paramverify.portfolio.session import Session
from paramverify.portfolio.strategies import BUILT_IN
from paramverify.privacy.every_length_verification import EveryLengthOutcome, verify_all_lengths
from paramverify.verdicts import Holds, Violated

NOTE = 'the proof is for sequences of every length; with length = "all" it has evidence'

LONG = 24  # lengths below which all sequences are listed
FEW = 2_000  # vectors of one length, and
TERMS = 100_000  # in all their polynomials, that are formed to see whether there are many

Numbers = dict[int, Fraction]  # the weights of states


def are_many(session: Session, model: Model) -> bool:
    """Tells whether there are too many sequences of half of the longest length to list all soon.

    So it is, too, where there are few of them but their polynomials are long.

    Raises:
        TimeLimitError: the time is over.
    """
    longest = max(model.lengths, default=0)
    if longest < LONG:
        return False
    terms = 0
    for level in levels(model.hmm, longest // 2):
        session.in_time()
        terms += sum(len(f) for _, vector in level for f in vector.values())
        if len(level) > FEW or terms > TERMS:
            return True
    return False


def by_every_length(session: Session, model: Model) -> EveryLengthOutcome | None:
    """Returns what sequences of every length say about those of a model; None where that is nothing."""
    hmm = model.hmm
    plain = is_about(model, MaxDivergence) and model.whole is None and model.stands_for is None
    if not plain or not model.lengths or hmm.densities or hmm.spreads or hmm.chosen:
        return None
    left = max(0.01, (session.deadline - time.monotonic()) / 2)
    try:
        with Session(replace(session.options, seconds=left, on_decision=None)) as inner:
            inner.asked = session.asked
            found = verify_all_lengths(replace(model, lengths=()), inner)
    except LimitError:
        return None
    if isinstance(found.verdict, Holds):
        return replace(found, certificate=None, note=NOTE)
    if isinstance(found.verdict, Violated) and isinstance(found.verdict.witness, ExactWitness):
        witness = found.verdict.witness
        origin = Origin(witness.left, witness.right, witness.observations)
        with suppress(UnsupportedError):
            return violation_of_length(model, origin, witness.parameters)
    return None


def violation_of_length(model: Model, origin: Origin, point: Point) -> EveryLengthOutcome | None:
    """Returns a violation by a continuation of a word with one of the lengths; None for a longer word."""
    length = min((n for n in model.lengths if n >= len(origin.observations)), default=None)
    if length is None:
        return None
    longer = replace(origin, observations=_continued(model, origin, point, length))
    witness = evaluate(model, longer, point)
    if not witness.exceeds:
        return None
    claim = Claim(stated(model, longer), model.domain, (longer,))
    return EveryLengthOutcome(
        Violated(witness), (claim,), (Decision(Refuted(dict(point)), BUILT_IN, VERSION),)
    )


def stated(model: Model, origin: Origin) -> Polynomial:
    """Returns the polynomial of the claim about one sequence of observations."""
    pair = pair_of(model, origin.left, origin.right)
    left, right = (forward_sum(model, start, origin.observations) for start in (pair.pi, pair.tau))
    candidate = Candidate(left * pair.tau.mass, right * pair.pi.mass, origin, pair.distance)
    return primitive(claim_polynomial(model, candidate))[1]


def _continued(model: Model, origin: Origin, point: Point, length: int) -> tuple[str, ...]:
    """Returns a word of a length that begins with another one, each output the one with the largest ratio."""
    fixed = at_point(model, point)
    pair = pair_of(fixed, origin.left, origin.right)
    steps = steps_by_observation(fixed.hmm)
    names = fixed.hmm.observations
    numbers = [[(s, t, _number(w)) for s, t, w in own] for own in steps]
    left, right = ({s: _number(w) for s, w in start.weights.items()} for start in (pair.pi, pair.tau))
    word = [names.index(name) for name in origin.observations]
    for observation in word:
        left, right = _moved(numbers[observation], left), _moved(numbers[observation], right)
    while len(word) < length:
        best: tuple[Numbers, Numbers, int] | None = None
        for observation, own in enumerate(numbers):
            a, b = _moved(own, left), _moved(own, right)
            more = sum(a.values()) * (sum(best[1].values()) if best else 0)
            if sum(a.values()) and (best is None or more > sum(best[0].values()) * sum(b.values())):
                best = a, b, observation
        if best is None:
            break
        left, right = best[0], best[1]
        word.append(best[2])
    return tuple(names[observation] for observation in word)


def _number(polynomial: Polynomial) -> Fraction:
    """Returns a number that stands as a polynomial.

    Raises:
        UnsupportedError: the constant `E` is in it.
    """
    if not is_constant(polynomial):
        raise UnsupportedError("numbers are needed for long words, and this case has exp")
    return constant_value(polynomial)


def _moved(steps: list[tuple[int, int, Fraction]], weights: Mapping[int, Fraction]) -> Numbers:
    found: Numbers = {}
    for state, successor, weight in steps:
        if state in weights:
            found[successor] = found.get(successor, Fraction(0)) + weights[state] * weight
    return found
