"""The evidence of a verification as one JSON document, and what a case must have proved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from paramverify.algebra.points import contains
from paramverify.algebra.polynomials import key
from paramverify.answers import Decision, Standing
from paramverify.checker import claims as checker
from paramverify.checker import cones as cone_checker
from paramverify.checker import enclosed as enclosed_checker
from paramverify.checker import intervals as interval_checker
from paramverify.checker import losses as loss_checker
from paramverify.checker import neighbours as product_checker
from paramverify.checker import regions as region_checker
from paramverify.checker import sets as set_checker
from paramverify.checker import shapes
from paramverify.checker.strict import Misformed, changed, check, read, shown
from paramverify.claims import Claim, Origin, to_document, without_enclosure
from paramverify.encodings.at_points import at_point
from paramverify.encodings.choice import chosen, claims_of
from paramverify.encodings.cone_certificates import model_document
from paramverify.encodings.excesses import excesses, listed_outcomes, statement
from paramverify.encodings.lumping import lump
from paramverify.encodings.sets import set_claims
from paramverify.errors import DefectError, InputError
from paramverify.evidence import certificates
from paramverify.evidence.sets import given_set
from paramverify.evidence.witnesses import (
    ExactSetWitness,
)
from paramverify.models.divergences import LossBound
from paramverify.models.enclosed import EnclosedModel
from paramverify.models.kinds import AnyModel, need_privacy
from paramverify.models.mechanisms.program import ProgramMechanism
from paramverify.models.model import Model
from paramverify.models.settings import case_entry
from paramverify.portfolio.obligations import needs_of, points_for, read_points, unmet
from paramverify.privacy.approximate import domain_document
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.sides import check_is_own, check_is_whole
from paramverify.privacy.verification import PrivacyReport
from paramverify.reports import documents, enclosed_evidence, loss_evidence, window_evidence
from paramverify.reports.violations import broken_claim, claim_of, recheck_witness, witness_document
from paramverify.synthesis.map_documents import to_document as map_document
from paramverify.synthesis.maps import RegionMap
from paramverify.synthesis.vanishing import checked_zeros
from paramverify.verdicts import Violated

SHOWN = 3  # origins that are listed for one claim


def evidence_document(case: PrivacyCase, report: PrivacyReport) -> dict[str, Any]:
    """Returns every claim with its proof, or the witness; for `checker`.

    Of a case about every length it is the certificate of a cone or of a loop, for `checker.cones`.
    """
    check_is_own(case)
    status = report.status.value
    if isinstance(case.model, EnclosedModel):
        own = enclosed_evidence.enclosed_document(case, case.model, report)
        return own | about(case, report.obligations, status)
    if isinstance(case.model, Model) and isinstance(case.model.measure, LossBound):
        own = loss_evidence.certificate(case.model, case.model.measure, report)
        return {**own, "status": status, **about(case, report.obligations, status)}
    if report.certificate is not None:
        document = {**report.certificate, "status": status, **about(case, report.obligations, status)}
        if isinstance(report.verdict, Violated) and isinstance(report.verdict.witness, ExactSetWitness):
            document["witness"] = {**document["witness"], **documents.evidence_of(report.verdict.witness)}
        return document
    settled = list(zip(report.own_claims, report.decisions, strict=False)) + list(report.obligations)
    entries = [certificates.settled(_short(claim), decision) for claim, decision in settled]
    violation = None
    if isinstance(report.verdict, Violated):
        found = report.verdict.witness
        broken = broken_claim(case.model, found)
        violation = witness_document(broken, found)
        entries = [entry for entry in entries if entry["proof"] is not None]
    document = certificates.evidence(
        case.title, case.digest, status, certificates.distinct(entries), violation
    ) | {"case": case_entry(case.title, case.digest, case.settings)}
    points = points_for(case.model, needs_of(case.model)) if status == Standing.HOLDS else []
    windows = window_evidence.statement(report.windows) if status == Standing.HOLDS else {}
    more = {**({"points": points} if points else {}), **({"windows": windows} if windows else {})}
    return {**document, **more, **statements(case, status)}


def check_has_evidence(case: PrivacyCase) -> None:
    """Checks that verdicts about a case have evidence.

    Raises:
        InputError: they have none: its probabilities are enclosed, and the kernel does not come to them; or
            its epsilon stands beside other exponents than its own.
    """
    check_is_whole(case)
    if isinstance(case.model, EnclosedModel):
        enclosed_evidence.check_has_enclosed_evidence(case, case.model)


def about(
    case: PrivacyCase, obligations: Iterable[tuple[Claim, Decision]], status: str | None = None
) -> dict[str, Any]:
    """Returns what evidence says of its case besides: the proved obligations, and points of the domain."""
    own = [certificates.settled(_short(claim), decision) for claim, decision in obligations]
    points = points_for(case.model, needs_of(case.model)) if status != Standing.VIOLATED else []
    return {
        "case": case_entry(case.title, case.digest, case.settings),
        "obligations": certificates.distinct(own),
        **({"points": points} if points else {}),
        **statements(case, status),
    }


def statements(case: PrivacyCase, status: str | None = None) -> dict[str, Any]:
    """Returns what the verdict needs besides: its side condition, and the pair that stands for the others."""
    if not isinstance(case.model, Model):
        return {}
    own = {"outputs": list(case.model.hmm.observations)} if _has_sets(case) else {}
    if case.model.side_condition:
        return own | {"side_condition": case.model.side_condition}  # then no pair stands for others
    if case.model.stands_for is None or status == Standing.VIOLATED:
        return own
    pair = case.model.pairs[0]
    return own | {"reduction": case.model.stands_for.document(pair.left, pair.right)}


def _has_sets(case: PrivacyCase) -> bool:
    """Tells whether outputs of a case are sets of numbers, or places of densities."""
    mechanism = case.mechanism
    return case.times == 1 and isinstance(mechanism, ProgramMechanism) and bool(mechanism.ranges)


def _short(claim: Claim) -> Claim:
    return replace(without_enclosure(claim), origins=claim.origins[:SHOWN])


def expected_claims(model: AnyModel, told: Mapping[str, set[str]]) -> list[dict[str, Any]] | None:
    """Returns the claims that a case makes, by a path of their own (`Encoding.again`), and its obligations.

    For each origin in words that is a key of `told`, the polynomial of its claim is added there. None where
    the claims are about some sequences only, and a certificate is the evidence.
    """
    again = chosen(model).again
    if again is None or (isinstance(model, Model) and not model.lengths):
        return None
    found: dict[tuple[str, int], Claim] = {}
    for claim in again(model):
        name = key(claim.polynomial)
        for words in told.keys() & {str(origin) for origin in claim.origins} if told else ():
            told[words].add(name)
        found.setdefault((name, id(claim.domain)), claim)
    return [*(to_document(without_enclosure(claim)) for claim in found.values()), *_obligations(model)]


def check_with_case(text: str, case: PrivacyCase) -> checker.KernelReport:
    """Checks evidence against the claims that a case makes, derived from it again, and its obligations.

    Malformed evidence of any kind gives a report that is not accepted.
    """
    model = case.model
    try:
        document = read(text)
        check(document, shapes.FORM)
        own = case_entry(case.title, case.digest, case.settings)
        if document.get("case", own if document["format"] == region_checker.FORMAT else None) != own:
            raise checker.Rejected(changed(document.get("case"), case.digest, case.title))
        status = document.get("status")
        needed = statements(case, status)
        if _without_proofs(document.get("reduction")) != _without_proofs(needed.get("reduction")):
            raise checker.Rejected("it is about other neighbours")
        if document.get("outputs") != needed.get("outputs"):
            raise checker.Rejected("it names other outputs than the case has")
        if document.get("side_condition") != needed.get("side_condition"):
            raise checker.Rejected("it has another side condition than the case")
        report = _CHECKS[document["format"]](document, case)
        report = product_checker.with_statements(document, report)
        if not report.accepted:
            return report
        if report.status == Standing.VIOLATED and document["format"] == set_checker.FORMAT:
            known = need_privacy(model, "evidence about sets of outputs", sets=True)
            return _recheck_set(document["witness"], known, report)
        again = (loss_checker.FORMAT, enclosed_checker.FORMAT)  # their witnesses were computed again
        if report.status == Standing.VIOLATED and document["format"] in again:
            return report
        if report.status == Standing.VIOLATED and "witness" in document:
            return recheck_witness(document, model, report)
        reason = unmet(model, needs_of(model), read_points(document))
        if reason and report.status != Standing.UNKNOWN:
            raise checker.Rejected(reason)
    except checker.Rejected as error:
        return checker.KernelReport(False, (f"rejected: {error}",))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        return checker.KernelReport(False, (f"rejected: not evidence about this case: {error!s:.200}",))
    return report


def _expected_of_windows(
    stated: Mapping[str, Any], case: PrivacyCase, told: dict[str, set[str]]
) -> list[dict[str, Any]] | None:
    """Returns the claims of windows, those of all other pairs, and the obligations."""
    near, rest = window_evidence.expected(stated, case, told)
    others = expected_claims(rest, told) if rest.pairs else _obligations(rest)
    return None if others is None else [*near, *others]


def _without_proofs(reduction: object) -> object:
    """Returns what a statement about neighbours says; the kernel replays its proofs."""
    if not isinstance(reduction, Mapping):
        return reduction
    return {name: value for name, value in reduction.items() if name != "proofs"}


def _obligations(model: AnyModel) -> list[dict[str, Any]]:
    return [to_document(without_enclosure(o.claim)) for o in model.obligations]


def _check_claims(document: dict[str, Any], case: PrivacyCase) -> checker.KernelReport:
    """Checks claims one by one, each the case's own, and where they are said to come from."""
    model, needed = case.model, _obligations(case.model)
    if isinstance(model, Model) and model.measure.by_sets:
        raise checker.Rejected("the case has a delta, and this evidence is about outputs one by one")
    told: dict[str, set[str]] = {o: set() for e in document["claims"] for o in e.get("origins", [])}
    if "windows" in document:
        expected = _expected_of_windows(document["windows"], case, told)
    else:
        expected = expected_claims(model, told)
    if expected is None:
        if document["status"] != Standing.VIOLATED:
            reason = "for so many sequences, only a certificate of a cone or a witness is evidence"
            raise checker.Rejected(reason)
        model = need_privacy(model, "this witness", tied=True, densities=True)
        left, right = document["witness"]["secrets"]
        origin = Origin(left, right, tuple(document["witness"]["observations"]))
        if model.lengths and len(origin.observations) not in model.lengths:
            raise checker.Rejected("the case is not about sequences of this length")
        expected = [to_document(claim_of(model, origin)), *needed]
        # The witness and the obligations are enough, and are all that is checked.
        document = {**document, "claims": [e for e in document["claims"] if e["claim"] in needed]}
    report = checker.check_document(document, expected, case.digest, needed)
    if report.accepted and isinstance(model, Model) and model.nothing_compared:
        report = replace(report, lines=(*report.lines, model.nothing_compared))
    for k, entry in enumerate(document["claims"] if report.accepted else ()):
        for j, text in enumerate(entry.get("origins", [])):
            if not told[text]:
                reason = f"the case has no claim about {shown(text)}"
                raise Misformed(reason, "claims", k, "origins", j)
            if entry["claim"]["polynomial"] not in told[text]:
                raise Misformed("the case makes another claim there", "claims", k, "origins", j)
    return report


def check_has_map_evidence(case: PrivacyCase) -> None:
    """Checks that there is evidence of a map of a case.

    Raises:
        InputError: there is none.
    """
    if isinstance(case.model, Model) and isinstance(case.model.measure, LossBound):
        name = case.model.measure.key
        reason = f"there is no evidence of a map of {name}: `verify --evidence` proves a bound"
        raise InputError(f"{reason}, `synthesize --witness --evidence` shows a prior", key=f"privacy.{name}")


def map_evidence(
    case: PrivacyCase, found: RegionMap, obligations: Iterable[tuple[Claim, Decision]]
) -> dict[str, Any]:
    """Returns a region map with all that is needed to check it, and what it says of its case."""
    check_has_map_evidence(case)
    document = map_document(found, case.model.domain) | about(case, obligations)
    if not isinstance(case.model, Model) or not case.model.measure.by_sets:
        return document
    known = set_claims(case.model)
    if [key(claim.polynomial) for claim in known.claims] != document["claims"]:
        raise DefectError("the claims of the map are not those of the sums")
    return document | {"sums": [cover.document() for cover in known.covers]}


def _check_regions(document: Mapping[str, Any], case: PrivacyCase) -> checker.KernelReport:
    if isinstance(case.model, Model) and case.model.measure.by_sets:
        zero = case.model.domain.ring.number(0)
        domain = to_document(without_enclosure(Claim(zero, case.model.domain)))
        stated = [{**domain, "polynomial": text} for text in document["claims"]]
        return region_checker.check_document(document, stated, _obligations(case.model), _sums(case.model))
    stated = [to_document(without_enclosure(claim)) for claim in claims_of(case.model)]
    return region_checker.check_document(document, stated, _obligations(case.model))


def _check_intervals(document: Mapping[str, Any], case: PrivacyCase) -> checker.KernelReport:
    if isinstance(case.model, Model) and (case.model.measure.by_sets or checked_zeros(case.model).all):
        raise checker.Rejected("there are no exact intervals of claims of such a case")
    stated = [to_document(without_enclosure(claim)) for claim in claims_of(case.model)]
    return interval_checker.check_document(document, stated, _obligations(case.model))


def _check_cone(document: Mapping[str, Any], case: PrivacyCase) -> checker.KernelReport:
    """Checks a certificate about every length: its model must be the case's, and the obligations proved."""
    model = need_privacy(case.model, "a certificate about many sequences", densities=True)
    about = document["lengths"] == list(model.lengths) if document["kind"] == "levels" else not model.lengths
    if not about:
        raise checker.Rejected("the case is about other lengths")
    if document["kind"] == "loop":
        point = {name: Fraction(value) for name, value in document["point"].items()}
        if point.keys() != set(model.domain.ring.parameters) or not contains(model.domain, point):
            raise checker.Rejected("the loop is not about a prior of the case")
        small = at_point(model, point)
    else:
        small = lump(model).model
    return cone_checker.check_document(document, model_document(small), _obligations(model))


def _check_sets(document: Mapping[str, Any], case: PrivacyCase) -> checker.KernelReport:
    """Checks claims about sums, each the case's own, derived forwards and one sequence after the other."""
    model = need_privacy(case.model, "evidence about sets of outputs", sets=True)
    if not model.measure.by_sets:
        raise checker.Rejected("the case has no delta")
    zero = model.domain.ring.number(0)
    if document["domain"] != domain_document(model.domain, zero):
        raise checker.Rejected("the case has another domain")
    return set_checker.check_document(document, _sums(model), _obligations(model))


def _check_losses(document: Mapping[str, Any], case: PrivacyCase) -> checker.KernelReport:
    model = need_privacy(case.model, "evidence about a divergence", together=True)
    return loss_evidence.check_losses(document, model, _obligations(model))


def _check_enclosed(document: Mapping[str, Any], case: PrivacyCase) -> checker.KernelReport:
    return enclosed_evidence.check_enclosed(document, case, _obligations(case.model))


def _sums(model: Model) -> list[dict[str, Any]]:
    """Returns the claims about sums of a case, one for each direction, derived forwards."""
    return [
        {**statement(claim), "origins": [list(origin)]}
        for claim in excesses(model, listed_outcomes(model))
        for origin in claim.origins
    ]


def _recheck_set(
    written: Mapping[str, Any], model: Model, report: checker.KernelReport
) -> checker.KernelReport:
    """Evaluates a set of outputs again, from the model; the numbers must agree.

    Raises:
        Rejected: they do not.
    """
    point = {name: Fraction(value) for name, value in written["parameters"].items()}
    left, right = written["secrets"]
    found = given_set(model, left, right, [tuple(word) for word in written["outputs"]], point)
    if not found.exceeds:
        raise checker.Rejected("the model does not pass its bounds at the witness")
    own = documents.evidence_of(found)
    for name in own:
        if sorted(written[name]) != sorted(own[name]) if name == "outputs" else written[name] != own[name]:
            raise Misformed("the model gives something else", "witness", name)
    return replace(report, lines=(*report.lines, "witness: evaluated again from the model"))


_CHECKS: dict[str, Callable[[dict[str, Any], PrivacyCase], checker.KernelReport]] = {
    set_checker.FORMAT: _check_sets,
    loss_checker.FORMAT: _check_losses,
    checker.FORMAT: _check_claims,
    cone_checker.FORMAT: _check_cone,
    region_checker.FORMAT: _check_regions,
    interval_checker.FORMAT: _check_intervals,
    enclosed_checker.FORMAT: _check_enclosed,
}
