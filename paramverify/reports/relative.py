"""The largest ratio relative to the bound of a case, in words and as JSON data."""

from __future__ import annotations

from typing import Any

from paramverify.algebra.decimals import decimal_text
from paramverify.algebra.realroots import RealRoot
from paramverify.models.model import Model
from paramverify.reports.budgets import ratio_document
from paramverify.synthesis.suprema import TightBudget

UNDECIDED = "whether it is reached is not decided"


def line(model: Model, bound: str, found: TightBudget) -> str:
    """Returns in words how near the largest ratio comes to the bound of the case, which is given in words."""
    return f"relative to the case's {bound}: {_told(found)}"


def document(model: Model, found: TightBudget) -> dict[str, Any]:
    """Returns the same as JSON data."""
    return ratio_document(found) | {"attained": found.attained}


def _told(found: TightBudget) -> str:
    if found.infinite:
        return "the ratio exceeds the bound without limit"
    if isinstance(found.value, RealRoot) and found.value.lower == found.value.upper == 1:
        reached = {True: "it is reached", False: "it is not reached", None: UNDECIDED}
        return f"the bound is tight, {reached[found.attained]}"
    return f"the largest ratio is {decimal_text(found.lower, 12)} times the bound"
