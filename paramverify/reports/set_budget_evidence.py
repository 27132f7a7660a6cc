"""The least δ or the least ε of a case as evidence: claims that prove a number, and a set that needs one.

It is the evidence of `verify` for the case with the given bound and the number that is enough, in the form
`paramverify-sets`, with `budget` besides: what was `given` as a text, the number that is `enough` (null: none
was proved), and a set of outputs. The set has exactly room for itself: Pr(S | left) = bound·Pr(S | right) +
delta, where one of both is the given bound. So what is shown is: `enough` is enough, and what the set needs
is needed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from flint import fmpq_poly

from paramverify.algebra.polynomials import RationalFunction, rational
from paramverify.algebra.reals import Real
from paramverify.answers import Decision, Standing
from paramverify.checker import claims as checker
from paramverify.checker.documents import BUDGET
from paramverify.checker.strict import Misformed
from paramverify.claims import Claim
from paramverify.errors import EvidenceError, InputError
from paramverify.evidence.sets import given_set
from paramverify.evidence.witnesses import ExactSetWitness
from paramverify.models.kinds import need_privacy
from paramverify.models.measures import Approximate
from paramverify.models.model import Model
from paramverify.models.settings import NONE, Settings
from paramverify.portfolio.session import Session
from paramverify.privacy.approximate import proof_document, verify_sets
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.other_bounds import load_with_bounds
from paramverify.reports import documents, text
from paramverify.reports.evidence import about, check_with_case
from paramverify.synthesis.set_needs import LeastBound, NeedKind
from paramverify.verdicts import Holds


def bounds_for(kind: NeedKind, given: str) -> dict[str, str]:
    """Returns the bounds with which a case is read: the given one, and 1 for that which is looked for."""
    return {"epsilon": given, "delta": "1"} if kind is NeedKind.DELTA else {"ratio": "1", "delta": given}


def enough(model: Model, kind: NeedKind, number: Fraction) -> Model:
    """Returns the model with a number in place of what is looked for."""
    measure = model.measure
    assert isinstance(measure, Approximate)
    value = RationalFunction.of(model.domain.ring.number(number))
    changed = replace(measure, delta=value) if kind is NeedKind.DELTA else replace(measure, ratio=value)
    return replace(model, measure=changed)


def set_budget_document(
    case: PrivacyCase,
    found: LeastBound,
    given: str,
    session: Session,
    obligations: tuple[tuple[Claim, Decision], ...],
) -> dict[str, Any]:
    """Returns the evidence of a bound that was found for a case; the obligations of the case are proved."""
    model = need_privacy(case.model, "evidence of a least bound", sets=True)
    status, certificate, number = Standing.UNKNOWN, proof_document([], model.domain), None
    if found.upper is not None and not found.infinite:
        bounded = enough(model, found.kind, found.upper)
        proved = verify_sets(session, bounded)
        if isinstance(proved.verdict, Holds) and proved.certificate is not None:
            status, certificate, number = Standing.HOLDS, dict(proved.certificate), found.upper
    stated = {
        "kind": found.kind.value,
        "given": given,
        "enough": None if number is None else documents.exact(number),
        "witnesses": [documents.evidence_of(w) for w in (found.witness,) if w is not None and _needs(w)],
    }
    return {**certificate, "status": status.value, **about(case, obligations, status.value), BUDGET: stated}


def _needs(found: ExactSetWitness) -> bool:
    """Tells whether a set needs its bounds: a ratio is at least 1, also where each set has room to spare."""
    return bool(found.outputs) and (found.beyond - found.delta).sign() >= 0


def check_set_budget(
    document: Mapping[str, Any], path: str, settings: Settings = NONE
) -> checker.KernelReport:
    """Checks such evidence against a case file: its claims with both bounds, and the set again.

    Malformed evidence gives a report that is not accepted.

    Raises:
        InputError: a case file that cannot be read, or has no outputs to compare.
    """
    stated = document[BUDGET]
    kind = NeedKind(stated["kind"])
    try:
        case = load_with_bounds(path, bounds_for(kind, stated["given"]), settings)
        model = need_privacy(case.model, "evidence of a least bound", sets=True)
        if not model.measure.by_sets:
            raise EvidenceError("with the given delta 0 no sets are compared")
        number = None if stated["enough"] is None else Fraction(stated["enough"])
        if (number is not None) != (document["status"] == Standing.HOLDS):
            raise EvidenceError("a number is enough where the claims hold, and only there")
        bounded = model if number is None else enough(model, kind, number)
        rest = {name: value for name, value in document.items() if name != BUDGET}
        report = check_with_case(json.dumps(rest), replace(case, model=bounded))
        if not report.accepted:
            return report
        found = [_again(model, kind, written) for written in stated["witnesses"]]
    except (ValueError, KeyError, TypeError, EvidenceError, InputError, checker.Rejected) as error:
        return checker.KernelReport(False, (f"rejected: the budget: {error!s:.200}",))
    return replace(report, lines=(*report.lines, _line(kind, stated["given"], number, found)), status=BUDGET)


def _again(model: Model, kind: NeedKind, written: Mapping[str, Any]) -> ExactSetWitness:
    """Evaluates a set again, from the model.

    Raises:
        EvidenceError: the model gives other numbers.
    """
    left, right = written["secrets"]
    point = {name: Fraction(value) for name, value in written["parameters"].items()}
    found = given_set(model, left, right, [tuple(word) for word in written["outputs"]], point)
    if written["length"] not in model.lengths or (left, right) != (found.left, found.right):
        raise EvidenceError("the case has other secrets, or sequences of another length")
    own = documents.evidence_of(_needing(kind, found))
    for name, value in own.items():
        same = sorted(written[name]) == sorted(value) if name == "outputs" else written[name] == value
        if not same:
            raise Misformed("the model gives something else", BUDGET, "witnesses", name)
    return _needing(kind, found)


def _needing(kind: NeedKind, found: ExactSetWitness) -> ExactSetWitness:
    """Returns the set with the least bound that is enough for it; a ratio may be none."""
    left, right = found.probabilities
    if kind is NeedKind.DELTA:
        return replace(found, delta=found.beyond, exceeds=False)
    if right.sign() <= 0:
        return found
    ratio = (left - found.delta) / right
    return replace(found, bound=ratio, exceeds=False)


def _line(kind: NeedKind, given: str, number: Fraction | None, found: list[ExactSetWitness]) -> str:
    """Returns what was shown, in words."""
    other = "epsilon" if kind is NeedKind.DELTA else "delta"
    told = f"budget: with {other} = {given} the least {kind.value}"
    upper = (
        "" if number is None else text.number(Real.of(fmpq_poly([rational(number)]), fmpq_poly([1]), None))
    )
    needed = [w.delta if kind is NeedKind.DELTA else w.bound for w in found if not w.exceeds]
    endless = any(w.exceeds for w in found)
    where = f" at {text.place(found[0])}" if found and found[0].parameters else ""
    if endless:
        return f"{told} is more than every number{where} (evaluated again)"
    lower = f"is at least {text.number(needed[0])}{where} (evaluated again)" if needed else ""
    if number is None:
        return f"{told} {lower}; no number is proved to be enough" if lower else f"{told} is not known"
    if kind is NeedKind.RATIO and number == 1:  # it cannot be less
        return f"{told} is {upper}, proved"
    if needed and text.number(needed[0]) == upper and needed[0].rational == number:
        return f"{told} is {upper}, proved, and needed{where} (evaluated again)"
    return f"{told} is at most {upper}, proved" + (f"; it {lower}" if lower else "")
