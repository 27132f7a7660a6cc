"""An epsilon that does not fit beside the noise of its case: ratios just below and above e^epsilon decide it.

With l <= e^ε <= u: what is private with the ratio l is private with ε, and what is not private with the
ratio u is not private with ε. In between nothing is said. This holds for a ratio of probabilities and, with
the same δ, for sets of outputs.
"""

from __future__ import annotations

import time
from dataclasses import replace

from paramverify.errors import InputError, LimitError
from paramverify.portfolio.session import Options
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.verification import verify
from paramverify.verdicts import Holds, Violated

NEEDS = "evidence needs a bound that fits the noise"
SETTLES = ((Holds, "the proof is that of {}, just below e^epsilon"), (Violated, "{} is just above e^epsilon"))


def deciding(case: PrivacyCase, options: Options) -> PrivacyCase:
    """Returns the case, or that side of it which decides it, with a note about its ratio.

    Raises:
        LimitError: no side decides it.
    """
    if not case.sides:
        return case
    until = time.monotonic() + options.seconds
    for side, (kind, told) in zip(case.sides, SETTLES, strict=True):
        left = replace(options, seconds=max(0.01, (until - time.monotonic()) / 2))
        if isinstance(verify(side, left).verdict, kind):
            return with_note(side, told.format(side.stand_in))
    below, above = (side.stand_in for side in case.sides)
    reason = f"{below}, just below e^epsilon, is not proved, and {above}, just above it, not refuted"
    raise LimitError(f"privacy.epsilon: {reason}")


def measured(case: PrivacyCase) -> PrivacyCase:
    """Returns the case, or a side that has its probabilities, for what does not depend on its epsilon."""
    return case.sides[0] if case.sides else case


def with_note(case: PrivacyCase, note: str) -> PrivacyCase:
    """Returns the case, and each of its sides, with another note, if that is not empty."""
    if not note:
        return case
    if case.sides:
        return replace(case, sides=tuple(with_note(side, note) for side in case.sides))
    return replace(case, model=replace(case.model, notes=(*case.model.notes, note)))


def check_is_own(case: PrivacyCase) -> None:
    """Checks that a case is no side of another one, with whose file evidence would not agree.

    Raises:
        InputError: it is one, and which bound has evidence.
    """
    if case.stand_in:
        raise InputError(f"{NEEDS}: write {case.stand_in}", key="privacy.epsilon")


def check_is_whole(case: PrivacyCase) -> None:
    """Checks that a case has a model of its own.

    Raises:
        InputError: it has sides, and which of their bounds have evidence.
    """
    if case.sides:
        below, above = (side.stand_in for side in case.sides)
        raise InputError(
            f"{NEEDS}: write {below} to prove it, or {above} to refute it", key="privacy.epsilon"
        )
