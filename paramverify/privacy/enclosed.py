"""Verification by enclosures: the probabilities of a case are balls with proved errors.

Private is said where the balls prove each direction, not private where they refute one. What they do not
tell apart is enclosed again, with twice as many bits, up to those that the case allows. A sum of `max(0, P −
r·Q)` over outputs has an upper end with every term that may be positive, and a lower end with those that are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from flint import arb

from paramverify import printable
from paramverify.algebra.constants import working_precision
from paramverify.answers import End
from paramverify.errors import LimitError, TimeLimitError
from paramverify.evidence.enclosed_witnesses import witness_of
from paramverify.models.enclosed_models import EnclosedModel, EnclosedProbabilities, are_same, bits_of
from paramverify.models.priors import SecretPair
from paramverify.portfolio.session import Session
from paramverify.privacy.every_length_verification import EveryLengthOutcome
from paramverify.verdicts import Holds, Unknown, Violated


@dataclass(frozen=True, eq=False)
class DirectionDecision:
    """What balls say of one direction: it is proved, or a set of outputs refutes it, or neither."""

    proved: bool
    beyond: tuple[int, ...] = ()


def verify_enclosed(session: Session, model: EnclosedModel) -> EveryLengthOutcome:
    """Decides a case whose probabilities are enclosed, and whose obligations are proved."""
    pending = list(directions(model))
    count, probabilities = len(pending), 0
    try:
        for bits in bits_of(model.table):
            known = EnclosedProbabilities(model.table, bits, session.in_time)
            still: list[SecretPair] = []
            for pair in pending:
                found = compared(model, known, pair)
                if found.beyond:
                    return EveryLengthOutcome(Violated(witness_of(model, known, pair, found.beyond)))
                if not found.proved:
                    still.append(pair)
            pending = still
            probabilities = max(probabilities, known.count)
            if not pending:
                return EveryLengthOutcome(Holds(()), balls=(probabilities, bits))
    except LimitError as error:
        end = End.TIMEOUT if isinstance(error, TimeLimitError) else End.GAVE_UP
        return EveryLengthOutcome(Unknown(end, str(error)))
    return EveryLengthOutcome(Unknown(End.GAVE_UP, _undecided(model, pending[0], len(pending), count)))


def _undecided(model: EnclosedModel, pair: SecretPair, left: int, count: int) -> str:
    names = " against ".join(printable.name(name) for name in (pair.left, pair.right))
    more = f" (and {left - 1:,} more of {count:,} directions)" if left > 1 else ""
    return (
        f"{names}{more}: {model.table.bits} bits do not separate the probabilities from the bound, which may "
        f"be reached exactly; write, for example, bits = {2 * model.table.bits} in [mechanism]"
    )


def directions(model: EnclosedModel) -> Iterator[SecretPair]:
    """Yields all directions of the pairs of a model."""
    for pair in model.pairs:
        yield pair
        yield pair.turned


def compared(model: EnclosedModel, known: EnclosedProbabilities, pair: SecretPair) -> DirectionDecision:
    """Compares the probabilities of all outputs under a pair with the bound, in its direction."""
    left, right = known.under(pair.pi), known.under(pair.tau)
    with working_precision(known.encloser.precision):
        ratio = known.number(model.measure.bound_at(pair.distance))
        if model.measure.share:
            same = {k for k in range(len(left)) if ratio >= 1 and are_same(known.table, pair, k)}
            return _of_sets((left, right), ratio, known.number(model.measure.share), same)
        proved = True
        for k, (p, q) in enumerate(zip(left, right, strict=True)):
            bound = ratio * q
            if p > bound:
                return DirectionDecision(False, (k,))
            proved = proved and (bool(p <= bound) or (bool(ratio >= 1) and are_same(known.table, pair, k)))
        return DirectionDecision(proved)


def _of_sets(
    both: tuple[list[arb], list[arb]], ratio: arb, delta: arb, same: Collection[int]
) -> DirectionDecision:
    """Compares sets; the outputs in `same` have no excess, and no excess is above 1."""
    if delta >= 1:
        return DirectionDecision(True)
    total, positive = arb(0), []
    left, right = both
    for k, (p, q) in enumerate(zip(left, right, strict=True)):
        excess = p - ratio * q
        if k in same:
            continue
        if excess > 0:
            total += excess
            positive.append(k)
        elif not excess <= 0:
            total += arb(0).union(excess.upper())
    if total <= delta:
        return DirectionDecision(True)
    certain = sum((left[k] for k in positive), arb(0)) - ratio * sum((right[k] for k in positive), arb(0))
    return DirectionDecision(False, tuple(positive) if certain > delta else ())
