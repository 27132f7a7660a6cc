"""The evidence of a budget: the case with its bound replaced by a number, and witnesses near that number.

The document is that of a verdict, with one key more:

    "budget": {"bound": ["24", "7"], "witnesses": [...]}

`bound` is the numerator and the denominator of the number that stands for the case's bound in all claims, as
polynomials in `E` where there is one (null: no upper bound, and the claims are the case's own). `witnesses`
have growing ratios; the last one is the lower bound. So what is shown is: no ratio exceeds the bound, and
the last witness has its ratio.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from flint import fmpq_poly

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.polynomials import Polynomial, RationalFunction, in_generator, key, variables
from paramverify.algebra.reals import Real
from paramverify.answers import Decision, End, Standing
from paramverify.checker import claims as checker
from paramverify.checker.documents import BUDGET
from paramverify.checker.polynomials import parse
from paramverify.claims import AllOutputs, Claim, Origin
from paramverify.errors import EvidenceError, InputError
from paramverify.evidence.witnesses import Evaluated, ExactWitness, divergence_at, evaluate
from paramverify.models.divergences import Renyi
from paramverify.models.kinds import need_privacy
from paramverify.models.measures import Metric, Pure
from paramverify.models.model import Model
from paramverify.models.rebound import without_bound
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.verification import PrivacyReport, levels_certificate
from paramverify.reports import documents, text
from paramverify.reports.budgets import growing
from paramverify.reports.evidence import about, evidence_document
from paramverify.synthesis.quotients import as_polynomials
from paramverify.synthesis.suprema import TightBudget
from paramverify.verdicts import Holds, Unknown, Verdict, Violated

Check = Callable[[str, PrivacyCase], checker.KernelReport]


def budget_document(
    case: PrivacyCase, found: TightBudget, obligations: tuple[tuple[Claim, Decision], ...]
) -> dict[str, Any]:
    """Returns the evidence of a budget; the obligations of the proof or the case are proved."""
    witnesses = growing(found)
    bound = None
    if found.proof:
        proof = found.proof
        one = replace(proof.model, measure=Pure.number(proof.model.domain.ring, 1))
        bound = [key(f) for f in as_polynomials(proof.bound, one)]
        certificate = proof.certificate
        if certificate is None:
            certificate = levels_certificate(proof.model, proof.claims, proof.decisions)
        report = PrivacyReport(
            verdict=Holds(proof.decisions),
            claims=proof.claims,
            decisions=proof.decisions,
            domain=proof.model.domain,
            notes=proof.model.notes,
            seconds=0.0,
            obligations=obligations,
            certificate=dict(certificate) if certificate else None,
        )
        document = evidence_document(replace(case, model=proof.model), report)
    elif found.loop:
        # A loop goes beyond every bound, also where no witness is long enough to be beyond that of the case.
        status = Standing.VIOLATED.value
        document = {**found.loop, "status": status, **about(case, obligations, status)}
    else:
        verdict: Verdict = Unknown(End.GAVE_UP, "no upper bound was proved")
        if witnesses and witnesses[-1].exceeds:
            verdict = Violated(witnesses[-1])
        report = PrivacyReport(
            verdict=verdict,
            claims=(),
            decisions=(),
            domain=case.model.domain,
            notes=case.model.notes,
            seconds=0.0,
            obligations=obligations,
        )
        document = evidence_document(case, report)
    return document | {BUDGET: {"bound": bound, "witnesses": [documents.evidence_of(w) for w in witnesses]}}


def check_budget(document: Mapping[str, Any], case: PrivacyCase, check: Check) -> checker.KernelReport:
    """Checks the evidence of a budget: the claims of the case with the bound, and every witness again.

    Malformed evidence gives a report that is not accepted.
    """
    try:
        stated = _read(document)
        model = need_privacy(case.model, "the evidence of a budget", densities=True, together=True)
        scaled = model
        bounds = stated.get("bounds")
        if stated["bound"] is not None:
            scaled = bounded(model, stated["bound"])
        elif bounds is not None:
            scaled = bounded_by_distance(model, bounds)
        rest = {name: value for name, value in document.items() if name != BUDGET}
        report = check(json.dumps(rest), replace(case, model=scaled))
        if not report.accepted:
            return report
        found = [_again(model, written) for written in stated["witnesses"]]
        if isinstance(model.measure, Metric):
            line = _distances_line(scaled if bounds is not None else None, found)
        else:
            what = "sum of all outputs" if isinstance(model.measure, Renyi) else "ratio"
            line = _line(scaled if stated["bound"] is not None else None, found, what)
        if document.get("kind") == "loop":
            line = "budget: there is none; the loop makes the ratio larger than every number"
    except (ValueError, KeyError, TypeError, AttributeError, EvidenceError, checker.Rejected) as error:
        return checker.KernelReport(False, (f"rejected: the budget: {error!s:.200}",))
    return replace(report, lines=(*report.lines, line), status=BUDGET)


def bounded(model: Model, written: list[str]) -> Model:
    """Returns the model with a bound that is written as a numerator and a denominator.

    Raises:
        EvidenceError: not two polynomials in `E`, or not a positive number.
    """
    plain = without_bound(model)
    bound = _bound(plain, written)
    one = plain.measure
    return replace(plain, measure=replace(one, bound=bound) if isinstance(one, Renyi) else Pure(bound))


def bounded_by_distance(model: Model, written: Mapping[str, list[str]]) -> Model:
    """Returns the model with a bound for each distance, written like that of `bounded`.

    Raises:
        EvidenceError: see `bounded`; or other distances than those of the model.
    """
    plain = without_bound(model)
    bounds = {Fraction(distance): Pure(_bound(plain, pair)) for distance, pair in written.items()}
    if bounds.keys() != {pair.distance for pair in model.pairs}:
        raise EvidenceError("the case has other distances")
    return replace(plain, measure=Metric(bounds))


def _bound(plain: Model, written: list[str]) -> RationalFunction:
    ring, constant = plain.domain.ring, plain.domain.constant
    parts: list[Polynomial] = []
    for item in written:
        polynomial = ring.from_terms(dict(parse(item, ring.names)))
        if set(variables(polynomial)) - {GENERATOR if constant else ""}:
            raise EvidenceError("the bound is not a number")
        number = in_generator(polynomial) if constant else fmpq_poly(list(polynomial.coeffs()) or [0])
        if Real(number, fmpq_poly([1]), constant).sign() <= 0:
            raise EvidenceError("the bound is not positive")
        parts.append(polynomial)
    return RationalFunction(parts[0], parts[1])


def _read(document: Mapping[str, Any]) -> dict[str, Any]:
    stated = document[BUDGET]
    bound = stated.get("bound") if isinstance(stated, dict) else None
    fine = isinstance(stated, dict) and stated.keys() - {"bounds"} == {"bound", "witnesses"}
    fine = fine and isinstance(stated["witnesses"], list)
    if bound is not None:
        fine = fine and isinstance(bound, list) and len(bound) == 2 and all(isinstance(b, str) for b in bound)
        fine = fine and document.get("status") == Standing.HOLDS
    bounds = stated.get("bounds") if fine else None
    if bounds is not None:
        fine = bound is None and isinstance(bounds, dict) and document.get("status") == Standing.HOLDS
        fine = fine and all(
            isinstance(b, list) and [type(t) for t in b] == [str, str] for b in bounds.values()
        )
    if not fine:
        raise EvidenceError("not a bound of two texts, or null, and a list of witnesses")
    return dict(stated)


def _again(model: Model, written: Mapping[str, Any]) -> Evaluated:
    """Evaluates a witness again, from the model.

    Raises:
        EvidenceError: the model gives other numbers.
    """
    left, right = written["secrets"]
    point = {name: Fraction(value) for name, value in written["parameters"].items()}
    together = isinstance(model.measure, Renyi)
    length = written["length"] if together else len(written["observations"])
    if model.lengths and length not in model.lengths:
        raise EvidenceError("the case is not about sequences of this length")
    found: Evaluated
    try:
        if together:
            found = divergence_at(model, AllOutputs(left, right, length=length), point)
        else:
            found = evaluate(model, Origin(left, right, tuple(written["observations"])), point)
    except InputError as error:
        raise EvidenceError(f"a witness: {error}") from None
    if documents.evidence_of(found) != written:
        raise EvidenceError("the model gives other numbers for a witness")
    return found


def _line(scaled: Model | None, found: list[Evaluated], what: str) -> str:
    """Returns what was shown, in words."""
    lowest, where = "no witness is given", ""
    if found:
        where = f" at {text.place(found[-1])}" if found[-1].parameters else ""
        lowest = f"it is {_ratio(found[-1])}{where} (evaluated again)"
    if scaled is None:
        return f"budget: no upper bound of the {what} is stated here; {lowest}"
    bound = _number(scaled, None)
    ratio = found[-1].ratio if found else None
    told = f"budget: the largest {what} is"
    if ratio is not None and ratio.describe() == bound.describe():
        last = found[-1]
        reached = (
            "approached by outputs" if isinstance(last, ExactWitness) and not last.reached else "reached"
        )
        return f"{told} {text.number(bound)}, proved, and {reached}{where} (evaluated again)"
    return f"{told} at most {text.number(bound)}, proved; {lowest}"


def _number(scaled: Model, distance: Fraction | None) -> Real:
    """Returns the number that is the bound of a model, for a distance."""
    constant, measure = scaled.domain.constant, scaled.measure
    ratio = measure.bound if isinstance(measure, Renyi) else measure.at(distance).ratio
    parts = [
        in_generator(f) if constant else fmpq_poly(list(f.coeffs()))
        for f in (ratio.numerator, ratio.denominator)
    ]
    return Real.of(parts[0], parts[1], constant)


def _distances_line(scaled: Model | None, found: list[Evaluated]) -> str:
    """Returns in words what no ratio at each distance exceeds, and where a witness reaches that."""
    if scaled is None:
        return "budget: no upper bound of the ratio is stated here"
    assert isinstance(scaled.measure, Metric)
    told = []
    for distance in sorted(scaled.measure.bounds):
        bound = _number(scaled, distance)
        ratios = [
            w.ratio.describe()
            for w in found
            if isinstance(w, ExactWitness) and w.distance == distance and w.ratio is not None
        ]
        reached = "reached" if bound.describe() in ratios else "which no witness reaches"
        told.append(f"{text.number(bound)} at the distance {distance}, {reached}")
    return f"budget: the ratio is at most (proved) {'; '.join(told)}"


def _ratio(witness: Evaluated) -> str:
    return text.number(witness.ratio) if witness.ratio is not None else "infinity"
