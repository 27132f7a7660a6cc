"""`budget` of cases whose probabilities are enclosed."""

from __future__ import annotations

import time
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from paramverify.algebra.exact_numbers import ExactNumber
from paramverify.api.reading import Read
from paramverify.api.results import BudgetReport
from paramverify.errors import InputError
from paramverify.models.enclosed import EnclosedModel
from paramverify.portfolio.session import Session
from paramverify.privacy.cases import PrivacyCase
from paramverify.reports import borders, enclosed_budgets
from paramverify.synthesis.borders import border_of
from paramverify.synthesis.least_enclosed import LeastTarget


def enclosed_budget(
    read: Read, case: PrivacyCase, session: Session, width: Fraction, given: Mapping[str, str]
) -> BudgetReport:
    """Finds the least bound of enclosed probabilities, for the one that is given."""
    started, begun = time.perf_counter(), time.monotonic()
    model = case.model
    assert isinstance(model, EnclosedModel)
    wanted = (
        LeastTarget.DELTA if "epsilon" in given else LeastTarget.RATIO_FOR if given else LeastTarget.RATIO
    )
    found = enclosed_budgets.find(model, session, width, wanted)
    border = border_of(case, found, session.options, begun)
    first, *more = enclosed_budgets.lines(case, model, found, given)

    def evidence() -> dict[str, Any]:
        raise InputError(enclosed_budgets.NO_EVIDENCE)

    none = found.infinite or found.upper is None
    return BudgetReport(
        kind=read.kind,
        lines=(first, *borders.lines(border), *more),
        document=enclosed_budgets.document(case, model, found, given) | borders.document(border),
        seconds=time.perf_counter() - started,
        notes=tuple(model.notes),
        lower=ExactNumber(None) if found.infinite else ExactNumber(found.lower),
        upper=ExactNumber(None) if none else ExactNumber(found.upper),
        attained=True,
        result=found,
        _evidence=evidence,
    )
