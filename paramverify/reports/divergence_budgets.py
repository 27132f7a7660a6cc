"""The least bound of a divergence, in words and as JSON data."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import inf
from typing import Any

from paramverify import printable
from paramverify.algebra.decimals import at_least, at_most, decimal_text, relation, rounded
from paramverify.algebra.logarithms import outward
from paramverify.algebra.realroots import RealRoot
from paramverify.algebra.reals import Real
from paramverify.claims import AllOutputs
from paramverify.errors import LimitError
from paramverify.evidence.moments import MomentWitness
from paramverify.models.divergences import LossBound, Renyi
from paramverify.models.kinds import need_privacy
from paramverify.models.model import Model
from paramverify.portfolio.obligations import discharge
from paramverify.portfolio.session import Session
from paramverify.privacy.cases import PrivacyCase
from paramverify.reports import budgets, documents, text
from paramverify.synthesis.least_divergence import LeastMoment, least_moment
from paramverify.synthesis.least_loss import LeastLoss, least_loss
from paramverify.synthesis.suprema import TightBudget


def is_asked(case: PrivacyCase) -> bool:
    """Tells whether the budget of a case is the least bound of a divergence."""
    return isinstance(case.model, Model) and isinstance(case.model.measure, Renyi | LossBound)


Least = LeastMoment | LeastLoss


def find(case: PrivacyCase, session: Session, precision: Fraction) -> Least:
    """Returns the least bound of the divergence of a case.

    Raises:
        LimitError: a limit was met, or the model is in doubt.
    """
    model = need_privacy(case.model, "budget", together=True)
    doubt, _ = discharge(session, model)
    if doubt:
        raise LimitError(f"the model is in doubt: {doubt.detail}")
    if isinstance(model.measure, LossBound):
        return least_loss(model, session, precision)
    return least_moment(model, session, precision)


def evidence(case: PrivacyCase, found: Least, session: Session) -> dict[str, Any]:
    """Returns the evidence of a least bound; the obligations are proved over the ring of its claims."""
    from paramverify.reports.budget_evidence import budget_document
    from paramverify.reports.loss_budget_evidence import loss_budget_document

    model = need_privacy(case.model, "budget", together=True)
    if isinstance(found, LeastLoss):
        return loss_budget_document(case, found, discharge(session, model)[1])
    proof = found.sum.proof
    return budget_document(case, found.sum, discharge(session, proof.model if proof else model)[1])


def lines(case: PrivacyCase, found: Least, words: Iterable[str]) -> list[str]:
    """Returns the least bound in words; `words` are the programs on whose word it rests."""
    model = need_privacy(case.model, "budget", together=True)
    if isinstance(found, LeastLoss):
        return _loss_lines(case, model, found)
    best, origin = found.sum, found.sum.origin
    assert isinstance(origin, AllOutputs)
    left, right = printable.name(origin.left), printable.name(origin.right)
    where = text.priors(model.domain, case)
    if best.infinite:
        head = f"no {found.key} bound {where}: the divergence is infinite, or grows without limit"
    elif best.upper is None:
        head = f"the largest sum is {budgets.exact_text(best)} (no upper bound was proved); {where}"
    else:
        head = f"least {_least(found)} {where}"
    statement = budgets.BudgetStatement.of(model, best)
    more, _ = text.session_words(words)
    shown = budgets.exact_text(best)
    if len(shown) > text.LONGEST + 20:
        shown = f"≈ {decimal_text(best.lower, 12)}"
    return [
        head,
        f"  {text.moment_told(left, right, found.order, origin.length)}: {shown}",
        f"  {statement.reached()}",
        *_near(best),
        *more,
        *(f"Note: {note}." for note in model.notes),
    ]


def _near(found: TightBudget) -> list[str]:
    """Returns the largest sum at a prior of the domain, where none is known to reach the largest one."""
    near = found.approached[-1] if found.approached and found.witness is None else None
    if not isinstance(near, MomentWitness) or near.moment is None or not near.parameters:
        return []
    return [f"  With {text.place(near)}: the sum {text.equals(near.moment)}"]


def _loss_lines(case: PrivacyCase, model: Model, found: LeastLoss) -> list[str]:
    where = text.priors(model.domain, case)
    name = found.kind.value
    if found.infinite:
        head = f"no {name} bound {where}: the divergence is infinite"
    elif found.upper is None:
        head = f"the least {name} is at least {at_least(found.lower, 9)} {where}; no upper bound was proved"
    elif found.lower == found.upper:
        head = f"least {name}: {rounded(found.lower)} {where}"
    else:
        bounds = f"between {at_least(found.lower, 9)} and {at_most(found.upper, 9)}"
        head = f"least {name}: {bounds} {where}"
    left, right = map(printable.name, found.secrets)
    lines = [head, f"  all outputs under '{left}' against '{right}'"]
    witness = found.witness if found.upper != 0 else None
    if witness and witness.parameters:
        lines.append(f"  the largest that was found is at {text.place(witness)}")
    if witness and witness.order is not None and not found.infinite:
        order = _order(witness.order)
        lines.append(f"  it is the Renyi divergence of an order, divided by the order; {order}")
    return [*lines, *(f"Note: {note}." for note in model.notes)]


def _order(order: Fraction) -> str:
    """Returns which order it is; one that would be told as 1 is told by what it is above 1."""
    near = rounded(order, 6)
    if near.removeprefix("≈ ") == "1":
        return f"this order is 1 + x with x {relation(order - 1, 3)}"
    return f"this order is {near}"


def _loss_document(case: PrivacyCase, model: Model, found: LeastLoss) -> dict[str, Any]:
    name = found.kind.value
    bounds = documents.between((found.lower, found.upper)) if found.upper is not None else None
    return {
        "measure": name,
        f"{name}_lower": "infinity" if found.infinite else outward(found.lower, -inf),
        f"{name}_upper": "infinity" if found.infinite else bounds[1] if bounds else "unknown",
        "proved_upper": documents.exact(found.upper) if found.upper is not None else None,
        "secrets": list(found.secrets),
        "length": found.length,
        "boxes": found.boxes,
        "witness": documents.witness(found.witness) if found.witness else None,
        **documents.inputs(case),
        "notes": list(model.notes),
    }


def _least(found: LeastMoment) -> str:
    if found.key == "chi_squared":
        return f"chi_squared {_less_one(found)}"
    return f"renyi of order {found.order}: epsilon {found.epsilon.told()}"


def _less_one(found: LeastMoment) -> str:
    """Returns the sum minus one in words."""
    value = found.sum.value
    if isinstance(value, Real):
        one = value.denominator * 0 + 1
        return text.number(value - Real.of(one, one, value.constant))
    if isinstance(value, RealRoot) and value.is_rational:
        exact, near = documents.exact(value.lower - 1), rounded(value.lower - 1)
        if len(exact) > text.LONGEST:
            return near
        return exact if exact.isdigit() else f"{exact} ({near})"
    low, high = found.sum.lower - 1, (found.sum.upper or Fraction(0)) - 1
    return f"between {at_least(low, 12)} and {at_most(high, 12)}"


def document(case: PrivacyCase, found: Least, words: Iterable[str]) -> dict[str, Any]:
    """Returns the same as JSON data."""
    model = need_privacy(case.model, "budget", together=True)
    if isinstance(found, LeastLoss):
        return _loss_document(case, model, found)
    best = found.sum
    statement = budgets.BudgetStatement.of(model, best)
    number = {name.replace("ratio", "moment"): v for name, v in statement.ratio_document().items()}
    _, told = text.session_words(words)
    return {
        "measure": found.key,
        "order": found.order,
        **number,
        **budgets.epsilon_document(found.epsilon, best.infinite),
        "attained": best.attained,
        "proved_upper": documents.exact(statement.proved_upper)
        if statement.proved_upper is not None
        else None,
        "secrets": [best.origin.left, best.origin.right],
        "length": getattr(best.origin, "length", 1),
        "where": statement.where,
        "witness": documents.witness(best.witness) if best.witness else None,
        "approached": list(statement.approached),
        **told,
        **documents.inputs(case),
        "notes": list(model.notes),
    }
