"""The least bounds of cases whose probabilities are enclosed, for `budget`."""

from __future__ import annotations

import time
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from paramverify.cli._common import print_json, say
from paramverify.cli._exits import Exit
from paramverify.errors import InputError
from paramverify.models.enclosed import EnclosedModel
from paramverify.portfolio.session import Session
from paramverify.privacy.cases import PrivacyCase
from paramverify.reports import borders, enclosed_budgets
from paramverify.synthesis.borders import border_of
from paramverify.synthesis.least_enclosed import LeastTarget


def enclosed_budget(
    case: PrivacyCase,
    session: Session,
    width: Fraction,
    given: Mapping[str, str],
    *,
    as_json: bool = False,
    evidence: Path | None = None,
) -> int:
    """Finds a least bound and tells it; exit code 3 where it is not known within the precision."""
    model = case.model
    assert isinstance(model, EnclosedModel)
    if evidence:
        raise InputError(enclosed_budgets.NO_EVIDENCE, key="--evidence")
    wanted = (
        LeastTarget.DELTA if "epsilon" in given else LeastTarget.RATIO_FOR if given else LeastTarget.RATIO
    )
    started = time.monotonic()
    found = enclosed_budgets.find(model, session, width, wanted)
    border = border_of(case, found, session.options, started)
    if as_json:
        print_json(enclosed_budgets.document(case, model, found, given) | borders.document(border))
    else:
        first, *told = enclosed_budgets.lines(case, model, found, given)
        for line in (first, *borders.lines(border), *told):
            say(line)
    return Exit.HOLDS if found.is_within(width) else Exit.UNKNOWN
