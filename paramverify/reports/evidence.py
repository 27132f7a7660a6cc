"""The evidence of a verification as one JSON document, and what a case must have proved."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

from paramverify.algebra.polynomials import key, primitive
from paramverify.cases import Case
from paramverify.claims import Claim, Origin, to_document, without_enclosure
from paramverify.encodings.sequences import forward_sums
from paramverify.evidence import certificates, checker
from paramverify.evidence.witnesses import evaluate
from paramverify.models.model import Model
from paramverify.reports import documents
from paramverify.verdicts import Decision, Proved, Violated
from paramverify.verification import Report

SHOWN = 3  # origins that are listed for one claim


def evidence_document(case: Case, report: Report, status: str) -> dict[str, Any]:
    """Returns every claim with its proof, or the witness; for `evidence.checker`."""
    settled = list(zip(report.claims, report.decisions, strict=False)) + list(report.obligations)
    entries = [certificates.entry(_short(claim), _proof(decision)) for claim, decision in settled]
    violation = None
    if isinstance(report.verdict, Violated):
        found = report.verdict.witness
        broken = without_enclosure(report.claims[len(report.decisions) - 1])
        violation = certificates.witness(broken, found.parameters, documents.witness(found))
        entries = [entry for entry in entries if entry["proof"] is not None]
    return certificates.evidence(case.title, case.digest, status, entries, violation)


def _short(claim: Claim) -> Claim:
    return replace(without_enclosure(claim), origins=claim.origins[:SHOWN])


def _proof(decision: Decision) -> certificates.Proof | None:
    answer = decision.answer
    if not isinstance(answer, Proved):
        return None
    if answer.certificate is None:
        return certificates.solver(decision.backend, decision.version, decision.options, answer.transcript)
    proof: certificates.Proof = answer.certificate["proof"]
    return proof


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


def recheck_witness(text: str, model: Model, report: checker.Report) -> checker.Report:
    """Evaluates the witness of accepted evidence again, from the model; the probabilities must agree."""
    written = json.loads(text).get("witness")
    if written is None:
        return report
    try:
        left, right = written["secrets"]
        origin = Origin(left, right, tuple(written["observations"]))
        point = {name: Fraction(value) for name, value in written["parameters"].items()}
        found = evaluate(model, origin, point)
    except (KeyError, TypeError, ValueError) as error:
        return replace(report, accepted=False, lines=(*report.lines, f"rejected: the witness: {error}"))
    own = documents.witness(found)
    if not found.exceeds or any(written.get(name) != own[name] for name in own if name != "parameters"):
        line = "rejected: the model gives other numbers for the witness"
        return replace(report, accepted=False, lines=(*report.lines, line))
    return replace(report, lines=(*report.lines, "witness: evaluated again from the model"))
