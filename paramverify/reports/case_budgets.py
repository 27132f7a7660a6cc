"""The budget of a case as `budget` reports it, also of a divergence: lines, a JSON document, and evidence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any, ClassVar

from paramverify import printable
from paramverify.algebra.budgets import Epsilon, outward
from paramverify.algebra.rationals import at_least, at_most, decimal_text, raised, relation, rounded
from paramverify.algebra.real_roots import RealRoot
from paramverify.algebra.reals import Real
from paramverify.bounds import AnyBounds
from paramverify.divergences import Average, Event, SumDivergence
from paramverify.evidence import number_words
from paramverify.evidence.number_words import rounded_ends
from paramverify.evidence.witness import AnyWitness
from paramverify.models.definitions import NO_BUDGET
from paramverify.models.model import TOGETHER, Model, divergence_of, is_about, need_privacy, refuse_tied
from paramverify.portfolio.obligations import discharge, undoubted
from paramverify.portfolio.session import Session
from paramverify.privacy.cases import PrivacyCase
from paramverify.reports import budgets, json_documents, sentences
from paramverify.synthesis.borders import Beyond
from paramverify.synthesis.case_budget import CaseBudget, least_moment
from paramverify.synthesis.least_loss import is_near_loss, least_loss
from paramverify.synthesis.multiples import Multiple
from paramverify.synthesis.quotients import RatioBounds

NOTHING = Beyond()


def model_of(case: PrivacyCase) -> Model:
    """Returns the model whose budget is asked for.

    Raises:
        InputError: the case is not about privacy.
    """
    return need_privacy(case.model, "budget", NO_BUDGET, tied=True, densities=True)


def lines(case: PrivacyCase, found: CaseBudget, words: Iterable[str], beyond: Beyond = NOTHING) -> list[str]:
    """Returns the budget in words; `words` are the programs on whose word it rests."""
    model = model_of(case)
    first, *rest = told(case, found, beyond.multiple)
    more, _ = sentences.session_words(words)
    about = f"  {sentences.priors(model.domain, case)}"
    return [
        first,
        about,
        *budgets.border_lines(beyond.border),
        *rest,
        *more,
        *(f"Note: {n}." for n in model.notes),
    ]


def told(case: PrivacyCase, found: CaseBudget, multiple: Multiple | None = None) -> list[str]:
    """Returns the budget in words, without inputs and notes.

    What multiple of the bound of the case is enough comes first. Where no number bounds the ratio, but the
    bound of the case does, that does.
    """
    model = model_of(case)
    if found.distances:
        shown = budgets.distance_lines(model, found.distances)
    else:
        shown = budgets.ratio_lines(model, found.ratio)
    if not found.relative:
        first, *rest = shown
        return [f"{first}{sentences.but(model)}", *rest]
    if multiple:
        enough = [budgets.multiple(case.budget, budgets.among(model), multiple)]
    else:
        enough = (
            budgets.enough(case.budget, budgets.among(model), found.relative) if found.ratio.infinite else []
        )
    first, *rest = [*enough, *shown]
    return [
        f"{first}{sentences.but(model)}",
        *rest,
        budgets.line(model, case.budget, found.relative, multiple),
    ]


def document(
    case: PrivacyCase, found: CaseBudget, words: Iterable[str], beyond: Beyond = NOTHING
) -> dict[str, Any]:
    """Returns the budget as JSON data."""
    model = model_of(case)
    shown = budgets.ratio_document(model, found.ratio)
    shown |= budgets.distance_document(found.distances) if found.distances else {}
    if found.relative:
        shown["relative_to"] = case.budget
        shown["relative"] = budgets.relative_document(model, found.relative)
    if beyond.multiple:
        one = beyond.multiple
        fails = str(one.fails) if one.fails else None
        shown["multiple"] = {"enough": str(one.enough), "fails": fails, "least": one.least}
        if one.enough < 1:
            shown["relative"]["tight"] = False
    _, told = sentences.session_words(words)
    about = json_documents.side_condition(model) | json_documents.inputs(case) | {"notes": list(model.notes)}
    return shown | told | about | budgets.border_document(beyond.border)


def evidence(case: PrivacyCase, budget: CaseBudget, session: Session) -> dict[str, Any]:
    """Returns the evidence of a budget; the obligations are proved over the ring of its claims."""
    from paramverify.reports.budget_evidence import budget_document, distance_document

    refuse_tied(case.model, "the evidence of a budget")
    found = budget.ratio
    model = found.proof.model if found.proof else model_of(case)
    _, obligations = discharge(session, model)
    if budget.distances:
        return distance_document(case, budget.distances, obligations)
    return budget_document(case, found, obligations)


def is_asked(case: PrivacyCase) -> bool:
    """Tells whether the budget of a case is the least bound of a divergence."""
    return case.model.event is Event.ALL


def _near(found: RatioBounds) -> list[str]:
    """Returns the largest sum at a prior of the domain, where none is known to reach the largest one."""
    near = found.approached[-1] if found.approached and found.witness is None else None
    if near is None or near.ratio is None or not near.parameters:
        return []
    return [f"  With {near.place}: the sum {number_words.equals(near.ratio)}"]


def _order(order: Fraction) -> str:
    """Returns which order it is; one that would be told as 1 is told by what it is above 1."""
    near = rounded(order, 6)
    if near.removeprefix("≈ ") == "1":
        return f"this order is 1 + x with x {relation(order - 1, 3)}"
    return f"this order is {near}"


def _least(measure: SumDivergence, found: RatioBounds) -> str:
    epsilon = _epsilon(measure, found)
    if epsilon and not measure.exact:
        return f"renyi of order {measure.renyi_order}: epsilon {epsilon.told()}"
    return f"{measure.key} {_least_value(measure, found)}"


def _epsilon(measure: SumDivergence, found: RatioBounds) -> Epsilon | None:
    """Returns the least bound of a Rényi divergence, enclosed."""
    return found.epsilon.per(Fraction(measure.renyi_order - 1)) if measure.renyi_order else None


def _least_value(measure: SumDivergence, found: RatioBounds) -> str:
    """Returns the sum minus what it has more than the divergence, in words."""
    value, less = found.value, measure.less
    if isinstance(value, Real):
        one = value.denominator * 0 + 1
        return budgets.raised_number(value - Real.of(one * less, one, value.constant))
    if isinstance(value, RealRoot) and value.is_rational:
        least = value.lower - less
        exact = number_words.exact(least)
        if len(exact) > number_words.LONGEST:
            return raised(least)
        return exact if exact.isdigit() else f"{exact} ({rounded(least)})"
    low, high = found.low - less, (found.high or Fraction(0)) - less
    return f"between {at_least(low, 12)} and {at_most(high, 12)}"


@dataclass(frozen=True)
class LeastSum:
    """The least bound of a divergence that is a sum of quotients."""

    case: PrivacyCase
    model: Model
    solvers: ClassVar[bool] = True  # whether solvers may answer, too

    def find(self, session: Session, precision: Fraction) -> AnyBounds:
        """Returns the least bound."""
        return least_moment(self.model, session, precision)

    def is_near(self, found: AnyBounds, precision: Fraction) -> bool:
        """Tells whether the relative distance of the ends is at most the precision."""
        return found.is_within(precision)

    def witness(self, found: AnyBounds) -> AnyWitness | None:
        """Returns what has the least bound."""
        return found.witness

    def evidence(self, found: AnyBounds, session: Session) -> dict[str, Any]:
        """Returns the evidence of a bound; the obligations are proved over the ring of its claims."""
        from paramverify.reports.budget_evidence import budget_document

        model = found.proof.model if found.proof else self.model
        return budget_document(self.case, found, discharge(session, model)[1])

    def lines(self, found: AnyBounds, words: Iterable[str]) -> list[str]:
        """Returns a bound in words; `words` are the programs on whose word it rests."""
        case, model, measure = self.case, self.model, divergence_of(self.model, SumDivergence)
        left, right = map(printable.name, found.secrets)
        where = sentences.priors(model.domain, case)
        if found.infinite:
            head = f"no {measure.key} bound {where}: the divergence is infinite, or grows without limit"
        elif found.high is None:
            head = f"the largest sum is {budgets.exact_text(found)} (no upper bound was proved); {where}"
        else:
            head = f"least {_least(measure, found)} {where}"
        more, _ = sentences.session_words(words)
        shown = budgets.exact_text(found)
        if len(shown) > number_words.LONGEST + 20:
            shown = f"≈ {decimal_text(found.low, 12)}"
        return [
            head,
            f"  {measure.sum_told(left, right, found.length)}: {shown}",
            f"  {budgets.reached(model, found)}",
            *_near(found),
            *more,
            *(f"Note: {note}." for note in model.notes),
        ]

    def document(self, found: AnyBounds, words: Iterable[str]) -> dict[str, Any]:
        """Returns the same as JSON data."""
        measure = divergence_of(self.model, SumDivergence)
        epsilon, order = _epsilon(measure, found), measure.renyi_order
        proved = budgets.proved_upper(found)
        _, told = sentences.session_words(words)
        return {
            "measure": measure.key,
            **({"order": order} if order else {}),
            **budgets.least_document(found, "moment"),
            **(budgets.epsilon_document(epsilon, found.infinite) if epsilon else {}),
            "attained": found.attained,
            "proved_upper": None if proved is None else number_words.exact(proved),
            "secrets": list(found.secrets),
            "length": found.length,
            "where": budgets.where_needed(self.model, found),
            "witness": found.witness.answer() if found.witness else None,
            "approached": [w.answer() for w in found.approached],
            **told,
            **json_documents.inputs(self.case),
            "notes": list(self.model.notes),
        }


class LeastLoss(LeastSum):
    """The least bound of a divergence that is an average of the loss."""

    solvers = False

    def find(self, session: Session, precision: Fraction) -> AnyBounds:
        """Returns the least bound."""
        return least_loss(self.model, session, precision)

    def is_near(self, found: AnyBounds, precision: Fraction) -> bool:
        """Tells whether the relative distance of the ends is at most the precision."""
        return is_near_loss(found, precision)

    def witness(self, found: AnyBounds) -> AnyWitness | None:
        """Returns None: the document alone has it."""
        return None

    def evidence(self, found: AnyBounds, session: Session) -> dict[str, Any]:
        """Returns the evidence of a bound; the obligations are proved."""
        from paramverify.reports.budget_evidence import loss_budget_document

        return loss_budget_document(self.case, found, discharge(session, self.model)[1])

    def lines(self, found: AnyBounds, words: Iterable[str]) -> list[str]:
        """Returns a bound in words."""
        model, name = self.model, self.model.measure.key
        where = sentences.priors(model.domain, self.case)
        if found.infinite:
            head = f"no {name} bound {where}: the divergence is infinite"
        elif found.high is None:
            head = f"the least {name} is at least {at_least(found.low, 9)} {where}; no upper bound was proved"
        elif found.known is not None:
            head = f"least {name}: {rounded(found.low)} {where}"
        else:
            bounds = f"between {at_least(found.low, 9)} and {at_most(found.high, 9)}"
            head = f"least {name}: {bounds} {where}"
        left, right = map(printable.name, found.secrets)
        lines = [head, f"  all outputs under '{left}' against '{right}'"]
        witness = found.witness if found.high != 0 else None
        if witness and witness.parameters:
            lines.append(f"  the largest that was found is at {witness.place}")
        if witness and witness.order is not None and not found.infinite:
            order = _order(witness.order)
            lines.append(f"  it is the Renyi divergence of an order, divided by the order; {order}")
        return [*lines, *(f"Note: {note}." for note in model.notes)]

    def document(self, found: AnyBounds, words: Iterable[str]) -> dict[str, Any]:
        """Returns the same as JSON data."""
        name = self.model.measure.key
        bounds = rounded_ends((found.low, found.high)) if found.high is not None else None
        return {
            "measure": name,
            f"{name}_lower": "infinity" if found.infinite else outward(found.low, -inf),
            f"{name}_upper": "infinity" if found.infinite else bounds[1] if bounds else "unknown",
            "proved_upper": number_words.exact(found.high) if found.high is not None else None,
            "secrets": list(found.secrets),
            "length": found.length,
            "boxes": found.proof.boxes if found.proof else 0,
            "witness": found.witness.answer() if found.witness else None,
            **json_documents.inputs(self.case),
            "notes": list(self.model.notes),
        }


def least_of(case: PrivacyCase) -> LeastSum:
    """Returns what is asked of the divergence of a case.

    Raises:
        InputError: it has none.
    """
    model = need_privacy(case.model, "budget", events=TOGETHER)
    return (LeastLoss if is_about(model, Average) else LeastSum)(case, model)


def find(case: PrivacyCase, session: Session, precision: Fraction) -> AnyBounds:
    """Returns the least bound of the divergence of a case.

    Raises:
        LimitError: a limit was met, or the model is in doubt.
    """
    asked = least_of(case)
    undoubted(session, asked.model)
    return asked.find(session, precision)
