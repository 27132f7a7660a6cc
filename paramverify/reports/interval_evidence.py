"""Evidence of exact intervals as a document: what it needs of its case, and what it says of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from paramverify.answers import Decision
from paramverify.claims import Claim
from paramverify.errors import InputError
from paramverify.models.model import Model
from paramverify.privacy.cases import PrivacyCase
from paramverify.reports.evidence import about, check_has_map_evidence
from paramverify.synthesis.interval_documents import check_can_write, to_document
from paramverify.synthesis.intervals import Partition
from paramverify.synthesis.vanishing import checked_zeros


def check_has_synthesis_evidence(case: PrivacyCase, exact: bool) -> None:
    """Checks that there may be evidence of exact intervals, or of a map, of a case.

    Raises:
        InputError: there is none.
    """
    check_has_map_evidence(case)
    if not exact:
        return
    check_can_write(case.model.domain)
    if isinstance(case.model, Model) and case.model.measure.by_sets:
        raise InputError("there is no evidence of exact intervals with a delta: leave --exact out")
    if checked_zeros(case.model).all:
        raise InputError("there is no evidence of exact intervals where probabilities may vanish")


def interval_evidence(
    case: PrivacyCase, found: Partition, obligations: Iterable[tuple[Claim, Decision]]
) -> dict[str, Any]:
    """Returns exact intervals with all that is needed to check them, and what they say of their case."""
    check_has_synthesis_evidence(case, exact=True)
    return to_document(found, case.model.domain) | about(case, obligations)
