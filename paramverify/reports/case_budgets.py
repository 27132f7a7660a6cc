"""The budget of a case as `budget` tells it: lines, a JSON document, and evidence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from paramverify.models.kinds import need_privacy, refuse_tied
from paramverify.models.model import Model
from paramverify.portfolio.obligations import discharge
from paramverify.portfolio.session import Session
from paramverify.privacy.cases import PrivacyCase
from paramverify.reports import borders, distances, documents, relative, text
from paramverify.reports.budgets import BudgetStatement
from paramverify.synthesis.borders import Beyond
from paramverify.synthesis.case_budget import CaseBudget
from paramverify.synthesis.multiples import Multiple

NOTHING = Beyond()
INSTEAD = "for the largest value of a function f, `verify` claims `f <= c` with other numbers c"


def model_of(case: PrivacyCase) -> Model:
    """Returns the model whose budget is asked for.

    Raises:
        InputError: the case is not about privacy.
    """
    return need_privacy(case.model, "budget", INSTEAD, tied=True, densities=True)


def lines(case: PrivacyCase, found: CaseBudget, words: Iterable[str], beyond: Beyond = NOTHING) -> list[str]:
    """Returns the budget in words; `words` are the programs on whose word it rests."""
    model = model_of(case)
    first, *rest = told(case, model, found, beyond.multiple)
    more, _ = text.session_words(words)
    about = f"  {text.priors(model.domain, case)}"
    return [first, about, *borders.lines(beyond.border), *rest, *more, *(f"Note: {n}." for n in model.notes)]


def told(case: PrivacyCase, model: Model, found: CaseBudget, multiple: Multiple | None = None) -> list[str]:
    """Returns the budget in words, without inputs and notes.

    What multiple of the bound of the case is enough comes first. Where no number bounds the ratio, but the
    bound of the case does, that does.
    """
    statement = BudgetStatement.of(model, found.ratio)
    shown = distances.lines(found.distances, statement) if found.distances else statement.lines()
    if not found.relative:
        first, *rest = shown
        return [f"{first}{text.but(model)}", *rest]
    if multiple:
        enough = [relative.multiple(case.budget, statement.among, multiple)]
    else:
        enough = relative.enough(case.budget, statement.among, found.relative) if found.ratio.infinite else []
    first, *rest = [*enough, *shown]
    return [f"{first}{text.but(model)}", *rest, relative.line(model, case.budget, found.relative, multiple)]


def document(
    case: PrivacyCase, found: CaseBudget, words: Iterable[str], beyond: Beyond = NOTHING
) -> dict[str, Any]:
    """Returns the budget as JSON data."""
    model = model_of(case)
    shown = BudgetStatement.of(model, found.ratio).document()
    shown |= distances.document(found.distances) if found.distances else {}
    if found.relative:
        shown["relative_to"] = case.budget
        shown["relative"] = relative.document(model, found.relative)
    if beyond.multiple:
        one = beyond.multiple
        fails = str(one.fails) if one.fails else None
        shown["multiple"] = {"enough": str(one.enough), "fails": fails, "least": one.least}
        if one.enough < 1:
            shown["relative"]["tight"] = False
    _, told = text.session_words(words)
    about = documents.side_condition(model) | documents.inputs(case) | {"notes": list(model.notes)}
    return shown | told | about | borders.document(beyond.border)


def evidence(case: PrivacyCase, budget: CaseBudget, session: Session) -> dict[str, Any]:
    """Returns the evidence of a budget; the obligations are proved over the ring of its claims."""
    from paramverify.reports.budget_evidence import budget_document
    from paramverify.reports.distance_evidence import distance_document

    refuse_tied(case.model, "the evidence of a budget")
    found = budget.ratio
    model = found.proof.model if found.proof else model_of(case)
    _, obligations = discharge(session, model)
    if budget.distances:
        return distance_document(case, budget.distances, obligations)
    return budget_document(case, found, obligations)
