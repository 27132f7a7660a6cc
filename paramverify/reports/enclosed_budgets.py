"""The least bounds of cases whose probabilities are enclosed, in words and as JSON data."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from paramverify import printable
from paramverify.algebra.constants import working_precision
from paramverify.algebra.decimals import at_least, at_most
from paramverify.errors import LimitError
from paramverify.evidence.enclosed import ends
from paramverify.models.enclosed import EnclosedModel
from paramverify.models.programs.densities import number
from paramverify.portfolio.obligations import discharge
from paramverify.portfolio.session import Session
from paramverify.privacy.cases import PrivacyCase
from paramverify.reports import documents, enclosures, text
from paramverify.synthesis.least_enclosed import LeastEnclosed, LeastTarget, least_enclosed

NO_EVIDENCE = "a least bound of enclosed probabilities has no evidence: nothing replays integrals and sums"
DIGITS = 12
LOG_BITS = 160


def find(model: EnclosedModel, session: Session, precision: Fraction, wanted: LeastTarget) -> LeastEnclosed:
    """Returns the least bound of a case whose probabilities are enclosed.

    Raises:
        LimitError: the model is in doubt, or nothing was found within a limit.
    """
    doubt, _ = discharge(session, model)
    if doubt:
        raise LimitError(f"the model is in doubt: {doubt.detail}")
    return least_enclosed(session, model, wanted, precision)


def lines(
    case: PrivacyCase, model: EnclosedModel, found: LeastEnclosed, given: Mapping[str, str]
) -> list[str]:
    """Returns what was found in words; `given` is the bound for which it was asked."""
    where = text.priors(model.domain, case)
    left, right = (f"'{printable.name(s)}'" for s in (found.pair.left, found.pair.right))
    what = "delta" if found.wanted is LeastTarget.DELTA else "ratio"
    told = " and ".join(f"{name} = {value}" for name, value in given.items())
    with_given = f"; with {told} {where}" if told else f" {where}"
    if found.infinite:
        head = (
            f"no {'budget' if not given else 'epsilon is enough'}{with_given}: some outputs are impossible "
        )
        head += "on the other side"
    elif found.upper is None:
        head = f"the least {what} is at least {at_least(found.lower, DIGITS)}; no upper bound was proved"
    else:
        head = f"least {what} {_told(found)}{_epsilon(found)}{with_given}"
    names = enclosures.outputs(found.outputs)
    return [
        head,
        f"  {names} under {left} against {right}; enclosed with {found.bits} bits",
        *(f"Note: {note}." for note in model.notes),
    ]


def _told(found: LeastEnclosed) -> str:
    assert found.upper is not None
    if found.lower == found.upper:
        return str(found.lower)
    return f"between {at_least(found.lower, DIGITS)} and {at_most(found.upper, DIGITS)}"


def _logarithms(found: LeastEnclosed) -> tuple[Fraction, Fraction | None]:
    """Returns numbers below and above the logarithm of the ratio."""
    with working_precision(LOG_BITS):
        low = ends(number(max(found.lower, Fraction(1))).log())[0]
        high = None if found.upper is None else ends(number(max(found.upper, Fraction(1))).log())[1]
    return max(low, Fraction(0)), high


def _epsilon(found: LeastEnclosed) -> str:
    if found.wanted is LeastTarget.DELTA:
        return ""
    low, high = _logarithms(found)
    assert high is not None
    return f", epsilon between {at_least(low, DIGITS)} and {at_most(high, DIGITS)}"


def document(
    case: PrivacyCase, model: EnclosedModel, found: LeastEnclosed, given: Mapping[str, str]
) -> dict[str, Any]:
    """Returns the same as JSON data; `given` are the bounds for which it was asked."""
    what = "delta" if found.wanted is LeastTarget.DELTA else "ratio"
    told: dict[str, Any] = {f"{name}_given": value for name, value in given.items()}
    if found.infinite:
        told[what] = "infinity"
    else:
        upper = "unknown" if found.upper is None else at_most(found.upper, 30)
        told |= {f"{what}_lower": at_least(found.lower, 30), f"{what}_upper": upper}
    if what == "ratio" and not found.infinite:
        low, high = _logarithms(found)
        told |= {
            "epsilon_lower": at_least(low, 30),
            "epsilon_upper": "unknown" if high is None else at_most(high, 30),
        }
    return told | {
        "attained": True,
        "secrets": [found.pair.left, found.pair.right],
        "outputs": [[name] for name in found.outputs],
        "bits": found.bits,
        **documents.inputs(case),
        "notes": list(model.notes),
    }
