"""The least bounds of cases whose probabilities are enclosed, for `budget`."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from paramverify.cli._common import print_json, say
from paramverify.cli._exits import Exit
from paramverify.errors import InputError
from paramverify.models.enclosed import Enclosed
from paramverify.portfolio.session import Session
from paramverify.privacy.cases import Case
from paramverify.reports import enclosed_budgets
from paramverify.synthesis.least_enclosed import Wanted


def enclosed_budget(
    case: Case,
    session: Session,
    width: Fraction,
    given: Mapping[str, str],
    *,
    as_json: bool = False,
    evidence: Path | None = None,
) -> int:
    """Finds a least bound and tells it; exit code 3 where it is not known within the precision."""
    model = case.model
    assert isinstance(model, Enclosed)
    if evidence:
        raise InputError(enclosed_budgets.NO_EVIDENCE, key="--evidence")
    wanted = Wanted.DELTA if "epsilon" in given else Wanted.RATIO_FOR if given else Wanted.RATIO
    found = enclosed_budgets.find(model, session, width, wanted)
    if as_json:
        print_json(enclosed_budgets.document(case, model, found, given))
    else:
        for line in enclosed_budgets.lines(case, model, found, given):
            say(line)
    return Exit.HOLDS if found.is_within(width) else Exit.UNKNOWN
