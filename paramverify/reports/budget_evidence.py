"""The evidence of least budgets: claims that prove a number, and witnesses near that number.

The document is that of a verdict, with one key more:

    "budget": {"kind": "bound", "bound": ["24", "7"], "witnesses": [...]}

`bound` is the numerator and the denominator of the number that stands for the case's bound in all claims, as
polynomials in `E` where there is one (null: no upper bound, and the claims are the case's own). `witnesses`
have growing ratios; the last one is the lower bound. So what is shown is: no ratio exceeds the bound, and
the last witness has its ratio.

The evidence of a budget with distances: all claims, each with the largest ratio at its distance.

The document is that of `reports.budget_evidence`, with `bounds` in place of `bound`: a numerator and a
denominator for each distance. `bound` is null then.

The least bound of a divergence that is no polynomial as evidence: trees that prove a number, and a point.

It is the evidence of `verify` for the case with the number that is enough, in the form `paramverify-losses`,
with `budget` besides: which divergence it is, the number that is `enough` (null: none was proved), and a
witness, which needs nearly that.

It is the evidence of `verify` for the case with the given bound and the number that is enough, in the form
`paramverify-sets`, with `budget` besides: what was `given` as a text, the number that is `enough` (null: none
was proved), and a set of outputs. The set has exactly room for itself: Pr(S | left) = bound·Pr(S | right) +
delta, where one of both is the given bound. So what is shown is: `enough` is enough, and what the set needs
is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from flint import fmpq_poly

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.polynomials import (
    Polynomial,
    RationalFunction,
    in_generator,
    key,
    rational,
    variables,
)
from paramverify.algebra.rationals import at_least
from paramverify.algebra.reals import Real
from paramverify.answers import Decision, End, Standing
from paramverify.claims import AllOutputs, Claim
from paramverify.divergences import DistanceBound, MaxDivergence, PositiveParts
from paramverify.errors import EvidenceError, InputError
from paramverify.evidence import envelope, number_words
from paramverify.evidence.divergence_witnesses import LossWitness
from paramverify.evidence.witnesses import (
    Evaluated,
    ExactSetWitness,
    evaluate_either,
    given_set,
)
from paramverify.kernel.documents import BUDGET, check_together, engine_of, says_budget
from paramverify.kernel.evidence_polynomials import parse
from paramverify.kernel.ledger import KernelReport
from paramverify.kernel.strict_reading import Misformed, Rejected
from paramverify.models.model import (
    SETS,
    TOGETHER,
    Model,
    divergence_of,
    need_privacy,
    without_bound,
)
from paramverify.models.settings import NONE, Settings
from paramverify.portfolio.session import Session
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.every_length_verification import EveryLengthOutcome
from paramverify.privacy.loss_verification import at_bound, proofs
from paramverify.privacy.other_bounds import load_with_bounds
from paramverify.privacy.set_verification import proof_document, verify_sets
from paramverify.privacy.verification import PrivacyReport, levels_certificate
from paramverify.reports.budgets import growing
from paramverify.reports.case_evidence import (
    about,
    again,
    check_with_case,
    evaluated,
    evidence_document,
    evidence_of,
    origin_of,
)
from paramverify.synthesis.case_budget import DistanceBudget
from paramverify.synthesis.least_loss import LossBounds
from paramverify.synthesis.quotients import RatioBounds, as_polynomials
from paramverify.synthesis.set_needs import NeedKind, SetBounds
from paramverify.verdicts import Holds, Unknown, Verdict, Violated

Check = Callable[[Mapping[str, Any], PrivacyCase], KernelReport]


def budget_document(
    case: PrivacyCase, found: RatioBounds, obligations: tuple[tuple[Claim, Decision], ...]
) -> dict[str, Any]:
    """Returns the evidence of a budget; the obligations of the proof or the case are proved."""
    witnesses = growing(found)
    bound = None
    if found.proof:
        proof = found.proof
        one = replace(proof.model, measure=MaxDivergence.number(proof.model.domain.ring, 1))
        bound = [key(f) for f in as_polynomials(proof.bound, one)]
        certificate = proof.certificate
        if certificate is None:
            certificate = levels_certificate(proof.model, proof.claims, proof.decisions)
        known = dict(certificate) if certificate else None
        said = EveryLengthOutcome(Holds(proof.decisions), proof.claims, proof.decisions, known)
        report = PrivacyReport.of(proof.model, said, obligations)
        document = evidence_document(replace(case, model=proof.model), report)
    elif found.endless:
        # A loop goes beyond every bound, also where no witness is long enough to be beyond that of the case.
        status = Standing.VIOLATED.value
        document = envelope.document(status, about(case, obligations, status), found.endless)
    else:
        verdict: Verdict = Unknown(End.GAVE_UP, "no upper bound was proved")
        if witnesses and witnesses[-1].exceeds:
            verdict = Violated(witnesses[-1])
        report = PrivacyReport.of(case.model, EveryLengthOutcome(verdict), obligations)
        document = evidence_document(case, report)
    stated = {"kind": "bound", "bound": bound, "witnesses": [w.document() for w in witnesses]}
    return document | {BUDGET: stated}


def check_budget(document: Mapping[str, Any], case: PrivacyCase, check: Check) -> KernelReport:
    """Checks the evidence of a budget: the claims of the case with the bound, and every witness again.

    Malformed evidence gives a report that is not accepted.
    """
    try:
        check_together(document)
        stated = document[BUDGET]
        model = need_privacy(case.model, "the evidence of a budget", events=TOGETHER, densities=True)
        scaled = model
        bounds = stated.get("bounds")
        if stated["bound"] is not None:
            scaled = bounded(model, stated["bound"])
        elif bounds is not None:
            scaled = bounded_by_distance(model, bounds)
        rest = {name: value for name, value in document.items() if name != BUDGET}
        report = check(rest, replace(case, model=scaled))
        if not report.accepted:
            return report
        found = [_derived_budget(model, written) for written in stated["witnesses"]]
        if model.measure.distances:
            line = _distances_line(scaled if bounds is not None else None, found)
        else:
            bounds_it = scaled if stated["bound"] is not None else None
            line = _budget_line(bounds_it, found, model.measure.largest_told)
        if (engine_of(document) or {}).get("rule") == "loop":
            line = "budget: there is none; the loop makes the ratio larger than every number"
    except (ValueError, KeyError, TypeError, AttributeError, EvidenceError, Rejected) as error:
        return KernelReport(False, (f"rejected: the budget: {error!s:.200}",))
    return _told(report, document, line)


def _told(report: KernelReport, document: Mapping[str, Any], line: str) -> KernelReport:
    """Returns a report with what was shown of a budget; one that says nothing leaves the verdict as it is."""
    status = BUDGET if says_budget(document) else report.status
    return replace(report, lines=(*report.lines, line), status=status)


def bounded(model: Model, written: list[str]) -> Model:
    """Returns the model with a bound that is written as a numerator and a denominator.

    Raises:
        EvidenceError: not two polynomials in `E`, or not a positive number.
    """
    plain = without_bound(model)
    bound = _bound(plain, written)
    return replace(plain, measure=plain.measure.with_bound(bound))


def bounded_by_distance(model: Model, written: Mapping[str, list[str]]) -> Model:
    """Returns the model with a bound for each distance, written like that of `bounded`.

    Raises:
        EvidenceError: see `bounded`; or other distances than those of the model.
    """
    plain = without_bound(model)
    bounds = {Fraction(distance): MaxDivergence(_bound(plain, pair)) for distance, pair in written.items()}
    if bounds.keys() != {pair.distance for pair in model.pairs}:
        raise EvidenceError("the case has other distances")
    return replace(plain, measure=DistanceBound(bounds))


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


def _derived_budget(model: Model, written: Mapping[str, Any]) -> Evaluated:
    """Evaluates a witness again, from the model.

    Raises:
        EvidenceError: the model gives other numbers.
    """
    point = {name: Fraction(value) for name, value in written["parameters"].items()}
    origin = origin_of(model, written)
    length = origin.length if isinstance(origin, AllOutputs) else len(origin.observations)
    if model.lengths and length not in model.lengths:
        raise EvidenceError("the case is not about sequences of this length")
    found: Evaluated
    try:
        found = evaluate_either(model, origin, point)
    except InputError as error:
        raise EvidenceError(f"a witness: {error}") from None
    if found.document() != written:
        raise EvidenceError("the model gives other numbers for a witness")
    return found


def _budget_line(scaled: Model | None, found: list[Evaluated], what: str) -> str:
    """Returns what was shown, in words."""
    lowest, where = "no witness is given", ""
    if found:
        where = f" at {found[-1].place}" if found[-1].parameters else ""
        lowest = f"it is {_ratio(found[-1])}{where} (evaluated again)"
    if scaled is None:
        return f"budget: no upper bound of the {what} is stated here; {lowest}"
    bound = _number(scaled, None)
    ratio = found[-1].ratio if found else None
    told = f"budget: the largest {what} is"
    if ratio is not None and ratio.describe() == bound.describe():
        reached = "reached" if found[-1].reached else "approached by outputs"
        return f"{told} {number_words.number(bound)}, proved, and {reached}{where} (evaluated again)"
    return f"{told} at most {number_words.number(bound)}, proved; {lowest}"


def _number(scaled: Model, distance: Fraction | None) -> Real:
    """Returns the number that is the bound of a model, for a distance."""
    constant = scaled.domain.constant
    ratio = scaled.measure.bound_at(distance)
    parts = [
        in_generator(f) if constant else fmpq_poly(list(f.coeffs()))
        for f in (ratio.numerator, ratio.denominator)
    ]
    return Real.of(parts[0], parts[1], constant)


def _distances_line(scaled: Model | None, found: list[Evaluated]) -> str:
    """Returns in words what no ratio at each distance exceeds, and where a witness reaches that."""
    if scaled is None:
        return "budget: no upper bound of the ratio is stated here"
    told = []
    for distance in sorted(scaled.measure.distances):
        bound = _number(scaled, distance)
        ratios = [w.ratio.describe() for w in found if w.distance == distance and w.ratio is not None]
        reached = "reached" if bound.describe() in ratios else "which no witness reaches"
        told.append(f"{number_words.number(bound)} at the distance {distance}, {reached}")
    return f"budget: the ratio is at most (proved) {'; '.join(told)}"


def _ratio(witness: Evaluated) -> str:
    return number_words.number(witness.ratio) if witness.ratio is not None else "infinity"


def distance_document(
    case: PrivacyCase, found: DistanceBudget, obligations: tuple[tuple[Claim, Decision], ...]
) -> dict[str, Any]:
    """Returns the evidence of a budget; the obligations of the proofs or the case are proved."""
    model = need_privacy(case.model, "the evidence of a budget", densities=True)
    witnesses = [w for part in found.parts for w in growing(part.found)]
    proofs = {part.distance: part.found.proof for part in found.parts if part.found.proof}
    bounds: dict[str, list[str]] | None = None
    claims: list[Claim] = []
    decisions: list[Decision] = []
    verdict: Verdict = Unknown(End.GAVE_UP, "no upper bound was proved at some distance")
    beyond = next((w for w in witnesses if w.exceeds), None)
    if len(proofs) == len(found.parts):
        measures: dict[Any, MaxDivergence] = {d: proof.model.ratio_bound(d) for d, proof in proofs.items()}
        first = next(iter(proofs.values())).model
        pairs = tuple(pair for proof in proofs.values() for pair in proof.model.pairs)
        model = replace(first, pairs=pairs, measure=DistanceBound(measures))
        bounds = {
            str(d): [key(measure.ratio.numerator), key(measure.ratio.denominator)]
            for d, measure in measures.items()
        }
        claims = [claim for proof in proofs.values() for claim in proof.claims]
        decisions = [decision for proof in proofs.values() for decision in proof.decisions]
        verdict = Holds(tuple(decisions))
    elif beyond:
        verdict = Violated(beyond)
    said = EveryLengthOutcome(verdict, tuple(claims), tuple(decisions))
    report = PrivacyReport.of(model, said, obligations)
    document = evidence_document(replace(case, model=model), report)
    stated = {"kind": "bound", "bound": None, **({"bounds": bounds} if bounds else {})}
    return document | {BUDGET: {**stated, "witnesses": [w.document() for w in witnesses]}}


def loss_budget_document(
    case: PrivacyCase, found: LossBounds, obligations: tuple[tuple[Claim, Decision], ...]
) -> dict[str, Any]:
    """Returns the evidence of a least bound; the obligations of the case are proved."""
    model, measure = evidence_of(case).loss("evidence of a least bound")
    number, trees = found.high, found.proof.trees if found.proof else ()
    if number is not None and not trees:
        reason = "there is no evidence if two distributions are equal because of constraints"
        raise InputError(f"{reason}; write a bound into the case, and `verify --evidence` proves it")
    known = measure if number is None else at_bound(measure, number)
    status = (Standing.UNKNOWN if number is None else Standing.HOLDS).value
    witnesses = []
    if found.witness is not None:
        witness = found.witness
        origin = witness.left, witness.right, witness.length
        own = evaluated(model, measure, origin, witness.parameters, witness.order)
        witnesses.append(own.exact_document())
    stated = {
        "kind": measure.key,
        "enough": None if number is None else number_words.exact(number),
        "witnesses": witnesses,
    }
    certificate = proofs(model, known, trees if number is not None else ())
    return envelope.document(status, about(case, obligations, status), certificate, {BUDGET: stated})


def check_loss_budget(document: Mapping[str, Any], case: PrivacyCase) -> KernelReport:
    """Checks such evidence against a case: its claims with the number as the bound, and the point again.

    Malformed evidence gives a report that is not accepted.
    """
    try:
        check_together(document)
        stated = document[BUDGET]
        model, measure = evidence_of(case).loss("evidence of a least bound")
        if stated["kind"] != measure.key:
            raise EvidenceError("the case has another measure")
        number = None if stated["enough"] is None else Fraction(stated["enough"])
        bounded = model if number is None else replace(model, measure=at_bound(measure, number))
        rest = {name: value for name, value in document.items() if name != BUDGET}
        report = check_with_case(rest, replace(case, model=bounded))
        if not report.accepted:
            return report
        found = [again(model, measure, written) for written in stated["witnesses"]]
    except (ValueError, KeyError, TypeError, EvidenceError, InputError, Rejected) as error:
        return KernelReport(False, (f"rejected: the budget: {error!s:.200}",))
    return _told(report, document, _loss_budget_line(stated["kind"], number, found))


def _loss_budget_line(name: str, number: Fraction | None, found: list[LossWitness]) -> str:
    """Returns what was shown, in words."""
    told = f"budget: the least {name}"
    upper = f"is at most {number_words.exact(number)}, proved" if number is not None else ""
    lower = ""
    for witness in found:
        where = f" at {witness.place}" if witness.parameters else ""
        least = witness.value and max(Fraction(0), witness.value[0] / (witness.order or 1))
        lower = "is infinite" if least is None else f"is at least {at_least(least, 9)}"
        lower += f"{where} (evaluated again)"
    if not upper:
        return f"{told} {lower}; no number is proved to be enough" if lower else f"{told} is not known"
    return f"{told} {upper}" + (f"; it {lower}" if lower else "")


def bounds_for(kind: NeedKind, given: str) -> dict[str, str]:
    """Returns the bounds with which a case is read: the given one, and 1 for that which is looked for."""
    return {"epsilon": given, "delta": "1"} if kind is NeedKind.DELTA else {"ratio": "1", "delta": given}


def enough(model: Model, kind: NeedKind, number: Fraction) -> Model:
    """Returns the model with a number in place of what is looked for."""
    measure = divergence_of(model, PositiveParts)
    value = RationalFunction.of(model.domain.ring.number(number))
    changed = replace(measure, delta=value) if kind is NeedKind.DELTA else replace(measure, ratio=value)
    return replace(model, measure=changed)


def set_budget_document(
    case: PrivacyCase,
    found: SetBounds,
    given: str,
    session: Session,
    obligations: tuple[tuple[Claim, Decision], ...],
) -> dict[str, Any]:
    """Returns the evidence of a bound that was found for a case; the obligations of the case are proved."""
    model = need_privacy(case.model, "evidence of a least bound", events=SETS)
    status, certificate, number = Standing.UNKNOWN, proof_document([]), None
    kind = NeedKind(found.name)
    if found.high is not None:
        bounded = enough(model, kind, found.high)
        proved = verify_sets(session, bounded)
        if isinstance(proved.verdict, Holds) and proved.certificate is not None:
            status, certificate, number = Standing.HOLDS, dict(proved.certificate), found.high
    stated = {
        "kind": kind.value,
        "given": given,
        "enough": None if number is None else number_words.exact(number),
        "witnesses": [w.document() for w in (found.witness,) if w is not None and _needs(w)],
    }
    rest = about(case, obligations, status.value)
    return envelope.document(status.value, rest, certificate, {BUDGET: stated})


def _needs(found: ExactSetWitness) -> bool:
    """Tells whether a set needs its bounds: a ratio is at least 1, also where each set has room to spare."""
    return bool(found.outputs) and (found.beyond - found.delta).sign() >= 0


def check_set_budget(document: Mapping[str, Any], path: str, settings: Settings = NONE) -> KernelReport:
    """Checks such evidence against a case file: its claims with both bounds, and the set again.

    Malformed evidence gives a report that is not accepted.

    Raises:
        InputError: a case file that cannot be read, or has no outputs to compare.
    """
    stated = document[BUDGET]
    try:
        check_together(document)
        kind = NeedKind(stated["kind"])
        case = load_with_bounds(path, bounds_for(kind, stated["given"]), settings)
        model = need_privacy(case.model, "evidence of a least bound", events=SETS)
        if model.measure.share is None:
            raise EvidenceError("with the given delta 0 no sets are compared")
        number = None if stated["enough"] is None else Fraction(stated["enough"])
        bounded = model if number is None else enough(model, kind, number)
        rest = {name: value for name, value in document.items() if name != BUDGET}
        report = check_with_case(rest, replace(case, model=bounded))
        if not report.accepted:
            return report
        found = [_derived_set_budget(model, kind, written) for written in stated["witnesses"]]
    except (ValueError, KeyError, TypeError, EvidenceError, InputError, Rejected) as error:
        return KernelReport(False, (f"rejected: the budget: {error!s:.200}",))
    return _told(report, document, _set_budget_line(kind, stated["given"], number, found))


def _derived_set_budget(model: Model, kind: NeedKind, written: Mapping[str, Any]) -> ExactSetWitness:
    """Evaluates a set again, from the model.

    Raises:
        EvidenceError: the model gives other numbers.
    """
    left, right = written["secrets"]
    point = {name: Fraction(value) for name, value in written["parameters"].items()}
    found = given_set(model, left, right, [tuple(word) for word in written["outputs"]], point)
    if written["length"] not in model.lengths or (left, right) != (found.left, found.right):
        raise EvidenceError("the case has other secrets, or sequences of another length")
    own = _needing(kind, found).document()
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


def _set_budget_line(
    kind: NeedKind, given: str, number: Fraction | None, found: list[ExactSetWitness]
) -> str:
    """Returns what was shown, in words."""
    other = "epsilon" if kind is NeedKind.DELTA else "delta"
    distance = " (the total variation distance)" if kind is NeedKind.DELTA and given == "0" else ""
    told = f"budget: with {other} = {given} the least {kind.value}{distance}"
    upper = (
        ""
        if number is None
        else number_words.number(Real.of(fmpq_poly([rational(number)]), fmpq_poly([1]), None))
    )
    needed = [w.delta if kind is NeedKind.DELTA else w.bound for w in found if not w.exceeds]
    endless = any(w.exceeds for w in found)
    where = f" at {found[0].place}" if found and found[0].parameters else ""
    if endless:
        return f"{told} is more than every number{where} (evaluated again)"
    lower = f"is at least {number_words.number(needed[0])}{where} (evaluated again)" if needed else ""
    if number is None:
        return f"{told} {lower}; no number is proved to be enough" if lower else f"{told} is not known"
    if kind is NeedKind.RATIO and number == 1:  # it cannot be less
        return f"{told} is {upper}, proved"
    if needed and number_words.number(needed[0]) == upper and needed[0].rational == number:
        return f"{told} is {upper}, proved, and needed{where} (evaluated again)"
    return f"{told} is at most {upper}, proved" + (f"; it {lower}" if lower else "")
