"""The evidence of a verification as one JSON document, and what a case must have proved."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from paramverify.algebra.polynomials import key, primitive
from paramverify.cases import Case
from paramverify.claims import Claim, Origin, Stated, to_document, without_enclosure
from paramverify.encodings.at_points import at_point
from paramverify.encodings.choice import claims_of, is_long
from paramverify.encodings.cone_certificates import model_document
from paramverify.encodings.lumping import lump
from paramverify.encodings.refutations import fails_at
from paramverify.encodings.sequences import forward_sum, forward_sums
from paramverify.evidence import certificates, checker, cone_checker, product_checker, region_checker
from paramverify.evidence.witnesses import (
    AnyWitness,
    Counterexample,
    compare_at,
    directed,
    evaluate,
    in_domain,
)
from paramverify.models.inequality import Inequality
from paramverify.models.kinds import AnyModel, need_privacy
from paramverify.models.model import Model
from paramverify.models.product import reduction_document
from paramverify.reports import documents
from paramverify.verdicts import Violated
from paramverify.verification import Report

SHOWN = 3  # origins that are listed for one claim


def evidence_document(case: Case, report: Report, status: str) -> dict[str, Any]:
    """Returns every claim with its proof, or the witness; for `evidence.checker`.

    Of a case about every length it is the certificate of a cone or of a loop, for `evidence.cone_checker`.
    """
    if report.certificate is not None:
        own = [certificates.settled(_short(claim), decision) for claim, decision in report.obligations]
        about = {"title": case.title, "digest": case.digest}
        return {
            **report.certificate,
            "case": about,
            "status": status,
            "obligations": own,
            **reduction(case, status),
        }
    settled = list(zip(report.claims, report.decisions, strict=False)) + list(report.obligations)
    entries = [certificates.settled(_short(claim), decision) for claim, decision in settled]
    violation = None
    if isinstance(report.verdict, Violated):
        found = report.verdict.witness
        broken = _broken(case.model, found)
        violation = certificates.witness(broken, found.parameters, documents.witness(found))
        entries = [entry for entry in entries if entry["proof"] is not None]
    document = certificates.evidence(case.title, case.digest, status, entries, violation)
    return {**document, **reduction(case, status)}


def reduction(case: Case, status: str | None = None) -> dict[str, Any]:
    """Returns the statement that one pair of neighbours stands for all, where the verdict needs it."""
    if not isinstance(case.model, Model) or case.model.stands_for is None or status == "violated":
        return {}
    pair = case.model.pairs[0]
    return {"reduction": reduction_document(case.model.stands_for, pair.left, pair.right)}


def _broken(model: AnyModel, found: AnyWitness) -> Claim:
    """Returns the claim that fails at a witness."""
    if isinstance(found, Counterexample):
        failing = (c for c in claims_of(model) if found.stated in c.origins and fails_at(c, found.parameters))
        return without_enclosure(next(failing))
    return claim_of(need_privacy(model, "this witness"), Origin(found.left, found.right, found.observations))


def _short(claim: Claim) -> Claim:
    return replace(without_enclosure(claim), origins=claim.origins[:SHOWN])


def expected_claims(model: Model) -> Iterator[dict[str, Any]]:
    """Yields the claims that a case makes, by a path of their own: one sequence after the other, forwards.

    The verifying encoding works backwards on merged vectors. Here every sequence of observations is followed
    from the initial weights of each secret, so the two meet only in the result.
    """
    seen: set[str] = set()
    sums = forward_sums(model)
    for pair in model.pairs:
        left, right = sums[pair.left], sums[pair.right]
        for word in left.keys() | right.keys():
            zero = pair.pi.mass * 0
            a = left.get(word, zero) * pair.tau.mass
            b = right.get(word, zero) * pair.pi.mass
            for one, other in ((a, b), (b, a)):
                f = other * model.ratio.numerator - one * model.ratio.denominator
                _, polynomial = primitive(f)
                if key(polynomial) not in seen:
                    seen.add(key(polynomial))
                    yield to_document(without_enclosure(Claim(polynomial, model.domain)))
    for obligation in model.obligations:
        yield to_document(without_enclosure(obligation.claim))


def claim_of(model: Model, origin: Origin) -> Claim:
    """Returns the claim that one sequence of observations makes about one direction of a secret pair."""
    pi, tau = directed(model, origin.left, origin.right)
    left, right = (forward_sum(model, start, origin.observations) for start in (pi, tau))
    f = right * pi.mass * model.ratio.numerator - left * tau.mass * model.ratio.denominator
    return without_enclosure(Claim(primitive(f)[1], model.domain, (origin,)))


def check_with_case(text: str, case: Case) -> checker.Report:
    """Checks evidence against the claims that a case makes, derived from it again.

    Malformed evidence of any kind gives a report that is not accepted.
    """
    try:
        document = json.loads(text)
        model = case.model
        if document.get("reduction") != reduction(case, document.get("status")).get("reduction"):
            raise ValueError("it is about other neighbours")
        if document["format"] == cone_checker.FORMAT:
            return product_checker.with_reduction(document, _check_cone(document, case))
        if document["format"] == region_checker.FORMAT:
            stated = [to_document(without_enclosure(claim)) for claim in claims_of(model)]
            report = region_checker.check_document(document, stated)
            return product_checker.with_reduction(document, report)
        if isinstance(model, Inequality):
            claims = (*claims_of(model), *(o.claim for o in model.obligations))
            expected = [to_document(without_enclosure(claim)) for claim in claims]
        elif model.lengths and not is_long(model):
            expected = list(expected_claims(model))
        else:
            written = document["witness"]
            left, right = written["secrets"]
            origin = Origin(left, right, tuple(written["observations"]))
            if model.lengths and len(origin.observations) not in model.lengths:
                raise ValueError("the case is not about sequences of this length")
            document = {**document, "claims": []}  # the witness alone is enough, and is all that is checked
            expected = [to_document(claim_of(model, origin))]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        return checker.Report(False, (f"rejected: not evidence about this case: {error!s:.200}",))
    report = checker.check_document(document, expected, case.digest)
    report = product_checker.with_reduction(document, report)
    return recheck_witness(text, model, report) if report.accepted else report


def _check_cone(document: Mapping[str, Any], case: Case) -> checker.Report:
    """Checks a certificate about every length: its model must be the case's, and the obligations proved."""
    model = need_privacy(case.model, "a certificate about many sequences")
    about = document["lengths"] == list(model.lengths) if document["kind"] == "levels" else not model.lengths
    if not about or document["case"]["digest"] != case.digest:
        return checker.Report(False, ("rejected: the evidence belongs to another case file",))
    if document["kind"] == "loop":
        point = {name: Fraction(value) for name, value in document["point"].items()}
        if document["status"] != "violated" or not in_domain(model, point):
            return checker.Report(False, ("rejected: the loop is not about a prior of the case",))
        return cone_checker.check_document(document, model_document(at_point(model, point)))
    if document["status"] != "holds":
        return checker.Report(False, ("rejected: a cone shows that a case holds, nothing else",))
    wanted = [to_document(without_enclosure(o.claim)) for o in model.obligations]
    for claim in wanted:
        proofs = [entry["proof"] for entry in document["obligations"] if entry["claim"] == claim]
        try:
            checker.check_claim(claim, proofs[0] if proofs else None)
        except checker.Rejected as error:
            return checker.Report(False, (f"rejected: an obligation of the model: {error}",))
    return cone_checker.check_document(document, model_document(lump(model).model))


def recheck_witness(text: str, model: AnyModel, report: checker.Report) -> checker.Report:
    """Evaluates the witness of accepted evidence again, from the model; the numbers must agree."""
    written = json.loads(text).get("witness")
    if written is None:
        return report
    try:
        point = {name: Fraction(value) for name, value in written["parameters"].items()}
        found: AnyWitness
        if isinstance(model, Inequality):
            found = compare_at(model, Stated(int(written["number"]), written["statement"]), point)
            shown = found.fails
        else:
            left, right = written["secrets"]
            found = evaluate(model, Origin(left, right, tuple(written["observations"])), point)
            shown = found.exceeds
    except (KeyError, TypeError, ValueError) as error:
        return replace(report, accepted=False, lines=(*report.lines, f"rejected: the witness: {error}"))
    own = documents.witness(found)
    if not shown or any(written.get(name) != own[name] for name in own if name != "parameters"):
        line = "rejected: the model gives other numbers for the witness"
        return replace(report, accepted=False, lines=(*report.lines, line))
    return replace(report, lines=(*report.lines, "witness: evaluated again from the model"))
