"""The condition of `[quantify]`, and what a verdict means for parameters that are to be chosen."""

from __future__ import annotations

import time
from collections.abc import Sequence

from paramverify.answers import Open, Standing
from paramverify.claims import Claim
from paramverify.encodings.choice import claims_of
from paramverify.errors import InputError, TimeLimitError, UnsupportedError
from paramverify.formats.conditions import AndCondition, question
from paramverify.models.inequality import Inequality
from paramverify.models.model import Model
from paramverify.portfolio.elimination import Elimination, check, eliminate
from paramverify.portfolio.session import Options, Session
from paramverify.portfolio.vertices import by_vertices
from paramverify.privacy.cases import PrivacyCase
from paramverify.reports.synthesis import condition_words
from paramverify.reports.text import verdict
from paramverify.synthesis.safe_values import AnswerForm, Intervals, safe_values
from paramverify.synthesis.written import condition_of

FOR_QEPCAD = 0.5  # of the time; the rest is for procedures of this package


def told(case: PrivacyCase, seconds: float) -> dict[str, str]:
    """Returns what is said besides a verdict, each under its name.

    Raises:
        InputError: the case has `[quantify]`, and claims from which no parameter can be eliminated.
    """
    found = _condition(case, seconds) if case.free else {}
    if case.design:
        names = ", ".join(case.design.parameters)
        found["design"] = f"the verdict is for every {names}; `synthesize` finds those that are private"
    return found


def _condition(case: PrivacyCase, seconds: float) -> dict[str, str]:
    """Returns the condition on the free parameters under which the case is private for all others."""
    model = case.model
    if isinstance(model, Model) and not model.lengths:
        raise InputError("[quantify] needs a finite privacy.length")
    claims = claims_of(model)
    if isinstance(model, Inequality) and any(claim.domain is not model.domain for claim in claims):
        raise InputError("[quantify] needs claims with <=, >= or ==, without < and >")
    started = time.monotonic()
    found = eliminate(claims, case.free, model.domain, seconds * FOR_QEPCAD)
    how = "on the word of QEPCAD"
    if isinstance(found, Open):
        own, how = _without_qepcad(case, claims, max(0.01, seconds - (time.monotonic() - started)))
        if own is None:
            return {"condition": f"undecided, {found.end.value}: {found.detail}"}
        found = own
    points = f"{found.checked} point{'s' * (found.checked != 1)}"
    standing = Standing.VIOLATED if found.text == "FALSE" else Standing.HOLDS
    where = condition_words(case, case.free, found.text)
    told = f"{verdict(standing, model)} {where} ({how}; compared exactly at {points})"
    return {"condition": told}


def _without_qepcad(
    case: PrivacyCase, claims: Sequence[Claim], seconds: float
) -> tuple[Elimination | None, str]:
    """Returns the condition by procedures of this package, and how it was shown to be equivalent."""
    domain = case.model.domain
    with Session(Options(seconds=seconds)) as session:
        try:
            found = by_vertices(claims, case.free, domain, session)
            if found is not None:
                return found, "proved from the ends of the other parameters"
            parts = safe_values(case, session, case.free, {AnswerForm.INTERVALS})
            if not isinstance(parts, Intervals):
                return None, ""
            condition = condition_of(parts.partition, domain.ring)
            if condition is None:
                return None, ""
            polynomials = [claim.polynomial for claim in claims]
            whole = question(polynomials, domain, case.free)
            checked = check(condition, claims, domain, whole, session.deadline)
        except (UnsupportedError, TimeLimitError):
            return None, ""
    given = AndCondition(whole.assumptions)
    return Elimination(condition, given, str(condition), "", checked), "by exact projection"
