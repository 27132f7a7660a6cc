"""The evidence of a case of an interactive system as one JSON document, for `checker.unwinding_evidence`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from paramverify.algebra.polynomials import Polynomial, key, primitive
from paramverify.answers import Proved, Standing
from paramverify.claims import Claim, positive, to_document, without_enclosure
from paramverify.errors import DefectError
from paramverify.evidence import certificates
from paramverify.interactive.closures import SILENT, Closures
from paramverify.interactive.probability_bounds import WeightJudge
from paramverify.interactive.refutation import Refutation
from paramverify.interactive.step_costs import Costs
from paramverify.interactive.system_cases import GivenFamily, InteractiveCase
from paramverify.interactive.system_verification import InteractiveBudget, Noninterference
from paramverify.interactive.unwinding_families import Family
from paramverify.kernel.claim_evidence import KernelReport
from paramverify.kernel.documents import BUDGET
from paramverify.kernel.evidence_polynomials import Poly
from paramverify.kernel.strict_reading import changed
from paramverify.kernel.system_witnesses import IMPOSSIBLE
from paramverify.kernel.unwinding_evidence import FORMAT, VERSION, check_document
from paramverify.models.settings import case_entry
from paramverify.models.systems.transition_systems import System, Weight, text
from paramverify.portfolio.obligations import Proofs, needs_of, points_for, read_points, unmet
from paramverify.portfolio.session import Options, Session
from paramverify.verdicts import Unknown, Violated


def evidence_document(
    case: InteractiveCase, report: Noninterference, options: Options | None = None
) -> dict[str, Any]:
    """Returns the system, its closures, and the family, the costs or the witness.

    The comparisons with parameters that the checker needs are found by running it, and decided by a session.
    """
    judge = WeightJudge(case.checks)
    document = _about(case, judge, report.status, report.obligations)
    match report.verdict:
        case Violated(refutation):
            document["witness"] = _witness(refutation, report.parameters, judge)
            return document
        case Unknown(_, reason):
            document["reason"] = reason
            return document
    if report.family is not None:
        document["proof"] = _family(report.family, judge)
    else:
        assert report.costs is not None
        document["proof"] = _costs(report.costs, judge)
    document["claims"] = [] if case.system.weights.numeric else _claims(case, document, options)
    return document


def budget_document(
    case: InteractiveCase, found: InteractiveBudget, options: Options | None = None
) -> dict[str, Any]:
    """Returns the evidence of a budget.

    That is the proof of its upper bound with the observation of its lower bound, or the loop or the
    impossible observation that leaves no budget. Where no upper bound is proved, or the observation is
    impossible at an irrational point, there is the status unknown.
    """
    judge = WeightJudge(case.checks)
    unknown = Standing.UNKNOWN if found.proof is None else Standing.HOLDS
    status = Standing.VIOLATED if found.boundless and not found.root else unknown
    document = _about(case, judge, status, found.obligations)
    if found.growth is not None:
        document["growth"] = {
            "parameters": _texts(found.parameters),
            "left": list(found.growth.left),
            "right": list(found.growth.right),
            "place": found.growth.place,
            "loop": list(found.growth.loop),
        }
    elif found.root:
        document["reason"] = "the point at which the observation is impossible is irrational"
    elif found.boundless:
        assert found.leak is not None
        document["witness"] = _witness(found.leak, found.parameters, judge)
    elif found.proof is None:
        document["reason"] = "no upper bound was proved"
    else:
        document["ratio"] = _weight(found.upper, judge)
        proof = found.proof
        document["proof"] = _family(proof, judge) if isinstance(proof, Family) else _costs(proof, judge)
        at = {"parameters": _texts(found.parameters)} if found.somewhere else {}
        document["tight"] = None if found.leak is None else {**at, **_leak(found.leak, judge)}
        document["claims"] = [] if case.system.weights.numeric else _claims(case, document, options)
    return document


def _about(
    case: InteractiveCase, judge: WeightJudge, status: Standing, obligations: Proofs
) -> dict[str, Any]:
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "case": case_entry(case.title, case.digest, case.settings),
        "status": status.value,
        **subject(case, judge),
    }
    proved = [certificates.settled(without_enclosure(claim), made) for claim, made in obligations]
    if proved:
        document["obligations"] = certificates.distinct(proved)
    points = points_for(case, needs_of(case))
    if points:
        document["points"] = points
    document["closures"] = _closures(Closures(case.system), judge)
    return document


def check_with_case(document: Any, case: InteractiveCase) -> KernelReport:
    """Checks evidence against the system, the bound and the obligations of a case, derived from it again.

    Malformed evidence of any kind gives a report that is not accepted.
    """
    known = document.get("case") if isinstance(document, dict) else None
    if known is not None and known != case_entry(case.title, case.digest, case.settings):
        return KernelReport(False, (f"rejected: {changed(known, case.digest, case.title)}",))
    expected = json.loads(json.dumps(subject(case)))
    if isinstance(document, dict) and "tight" in document:
        del expected["ratio"]  # what is shown is a budget, and not the bound of the case
    report = check_document(document, expected)
    if not report.accepted:
        return report
    reason = ""
    proved = [entry["claim"] for entry in document.get("obligations", [])]
    if document.get("case") != case_entry(case.title, case.digest, case.settings):
        reason = changed(document.get("case"), case.digest, case.title)
    elif any(to_document(without_enclosure(o.claim)) not in proved for o in case.checks.obligations):
        reason = "an obligation of the case is not proved"
    elif not case.bounded and "witness" in document and not report.lines[0].startswith(IMPOSSIBLE):
        reason = "the case has no [privacy], and the observation is possible with both inputs"
    elif report.status in (Standing.HOLDS, BUDGET):
        reason = unmet(case, needs_of(case), read_points(document))
    return replace(report, accepted=False, lines=(f"rejected: {reason}",)) if reason else report


def subject(case: InteractiveCase, judge: WeightJudge | None = None) -> dict[str, Any]:
    """Returns what the evidence is about: domain, system and bound, derived from the case."""
    judge = judge or WeightJudge(case.checks)
    claim = without_enclosure(Claim(case.domain.ring.number(0), case.domain))
    domain = {k: v for k, v in to_document(claim).items() if k != "polynomial"}
    return {"domain": domain, "system": _system(case.system, judge), "ratio": _weight(case.ratio, judge)}


def _weight(weight: Weight, judge: WeightJudge) -> Any:
    numerator, denominator = judge.oriented(weight)
    return key(numerator) if denominator.is_one() else [key(numerator), key(denominator)]


def _system(system: System, judge: WeightJudge) -> dict[str, Any]:
    memory: dict[str, Any] = {}

    def weight(value: Weight) -> Any:
        name = text(value)
        if name not in memory:
            memory[name] = _weight(value, judge)
        return memory[name]

    return {
        "states": list(system.states),
        "data": list(system.actions.data),
        "queries": list(system.actions.queries),
        "responses": list(system.actions.responses),
        "hidden": list(system.actions.hidden),
        "initial": system.initial,
        "partial": system.partial,
        "rows": [[[a, [[s, weight(w)] for s, w in step]] for a, step in row.items()] for row in system.rows],
    }


def _closures(closures: Closures, judge: WeightJudge) -> list[dict[str, Any]]:
    return [
        {
            "ends": [[s, [[t, _weight(w, judge)] for t, w in closures.hidden[s]]] for s in states],
            "times": [[s, _weight(w, judge)] for s, w in zip(states, times, strict=False)],
        }
        for states, times in closures.groups
    ]


def _family(family: Family | GivenFamily, judge: WeightJudge) -> dict[str, Any]:
    return {
        "kind": "family",
        "delta": _weight(family.ratio, judge),
        "steps": family.steps,
        "levels": [[x, y, level] for (x, y), level in family.levels().items()],
    }


def _costs(costs: Costs, judge: WeightJudge) -> dict[str, Any]:
    blocks: list[list[int]] = [[] for _ in costs.partition.members]
    for state, block in costs.partition.classes.items():
        blocks[block].append(state)
    return {
        "kind": "costs",
        "classes": blocks,
        "costs": [[x, y, _weight(c, judge)] for (x, y), c in costs.values().items() if SILENT not in (x, y)],
    }


def _witness(
    refutation: Refutation, parameters: Mapping[str, Fraction], judge: WeightJudge
) -> dict[str, Any]:
    return {"parameters": _texts(parameters), **_leak(refutation, judge)}


def _texts(parameters: Mapping[str, Fraction]) -> dict[str, str]:
    return {name: str(value) for name, value in parameters.items()}


def _leak(refutation: Refutation, judge: WeightJudge) -> dict[str, Any]:
    return {
        "left": list(refutation.left),
        "right": list(refutation.right),
        "place": refutation.place,
        "trace": list(refutation.event.trace),
        "closed": refutation.event.closed,
        "probabilities": [_weight(p, judge) for p in refutation.probabilities],
    }


def _claims(case: InteractiveCase, document: dict[str, Any], options: Options | None) -> list[dict[str, Any]]:
    """Returns the claims that the checker asks for, with their proofs."""
    ring = case.domain.ring
    known: dict[tuple[str, bool], bool] = {}
    found: list[dict[str, Any]] = []
    with Session(options) as session:

        def ask(poly: Poly, strict: bool) -> bool:
            polynomial: Polynomial = primitive(ring.from_terms(poly))[1]
            name = (key(polynomial), strict)
            if name not in known:
                decision = session.decide(_claim(case, polynomial, strict))
                known[name] = isinstance(decision.answer, Proved)
                if known[name]:
                    entry = {
                        "polynomial": name[0],
                        "strict": strict,
                        "proof": decision.proof,
                    }
                    found.append(entry | ({"negated": key(-polynomial)} if strict else {}))
            return known[name]

        report = check_document({**document, "claims": []}, ask=ask)
    if not report.accepted:
        raise DefectError(f"the evidence is not accepted: {report.lines}")
    return found


def _claim(case: InteractiveCase, polynomial: Polynomial, strict: bool) -> Claim:
    domain = case.domain
    if not strict:
        return without_enclosure(Claim(polynomial, domain))
    return without_enclosure(positive(polynomial, domain, "the denominator is not positive"))
