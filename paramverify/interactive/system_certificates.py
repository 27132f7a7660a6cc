"""The evidence of a case of an interactive system as one JSON document, for `kernel.unwinding_evidence`."""

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
from paramverify.evidence import certificates, envelope
from paramverify.interactive.closures import SILENT, Closures
from paramverify.interactive.probability_bounds import WeightJudge
from paramverify.interactive.refutation import Refutation
from paramverify.interactive.step_costs import Costs
from paramverify.interactive.system_cases import GivenFamily, InteractiveCase
from paramverify.interactive.system_verification import InteractiveBudget, Noninterference
from paramverify.interactive.unwinding_families import Family
from paramverify.kernel.documents import BUDGET, check_document, engine_of
from paramverify.kernel.evidence_polynomials import Poly
from paramverify.kernel.ledger import Demanded, KernelReport
from paramverify.kernel.system_witnesses import IMPOSSIBLE
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
    own = _engine(case, judge)
    match report.verdict:
        case Violated(refutation):
            own["witness"] = _witness(refutation, report.parameters, judge)
        case Unknown(_, reason):
            own["reason"] = reason
        case _ if report.family is not None:
            own["proof"] = _family(report.family, judge)
        case _:
            assert report.costs is not None
            own["proof"] = _costs(report.costs, judge)
    return _document(case, own, report.status, report.obligations, options)


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
    own = _engine(case, judge)
    if found.growth is not None:
        own["growth"] = {
            "parameters": _texts(found.parameters),
            "left": list(found.growth.left),
            "right": list(found.growth.right),
            "place": found.growth.place,
            "loop": list(found.growth.loop),
        }
    elif found.root:
        own["reason"] = "the point at which the observation is impossible is irrational"
    elif found.boundless:
        assert found.leak is not None
        own["witness"] = _witness(found.leak, found.parameters, judge)
    elif found.proof is None:
        own["reason"] = "no upper bound was proved"
    else:
        own["ratio"] = _weight(found.upper, judge)
        proof = found.proof
        own["proof"] = _family(proof, judge) if isinstance(proof, Family) else _costs(proof, judge)
        at = {"parameters": _texts(found.parameters)} if found.somewhere else {}
        own["tight"] = None if found.leak is None else {**at, **_leak(found.leak, judge)}
    return _document(case, own, status, found.obligations, options)


def _engine(case: InteractiveCase, judge: WeightJudge) -> dict[str, Any]:
    """Returns the statement about a system, without what shows something of it."""
    return {"kind": "unwinding", **subject(case, judge), "closures": _closures(Closures(case.system), judge)}


def _document(
    case: InteractiveCase,
    own: dict[str, Any],
    status: Standing,
    obligations: Proofs,
    options: Options | None,
) -> dict[str, Any]:
    """Returns the document of a statement, with the comparisons that it needs."""
    proved = [
        certificates.settled(without_enclosure(claim), made, "obligation") for claim, made in obligations
    ]
    points = points_for(case, needs_of(case))
    about = {
        "case": case_entry(case.title, case.digest, case.settings),
        "statements": envelope.distinct(proved),
        **({"points": points} if points else {}),
    }
    begun = envelope.document(status.value, about, envelope.statements(own))
    if "proof" not in own or case.system.weights.numeric:
        return begun
    compared = _comparisons(case, begun, options)
    return envelope.document(status.value, about, envelope.statements(*compared, own))


def check_with_case(document: Mapping[str, Any], case: InteractiveCase) -> KernelReport:
    """Checks evidence against the system, the bound and the obligations of a case, derived from it again.

    Malformed evidence of any kind gives a report that is not accepted.
    """
    known, own = document.get("case"), engine_of(document)
    if own is None or own["kind"] != "unwinding":
        return KernelReport(False, ("rejected: the evidence is not about an interactive system",))
    if known != case_entry(case.title, case.digest, case.settings):
        return KernelReport(False, (f"rejected: {envelope.changed(known, case.digest, case.title)}",))
    expected = json.loads(json.dumps(subject(case)))
    if "tight" in own:
        del expected["ratio"]  # what is shown is a budget, and not the bound of the case
    obligations = [to_document(without_enclosure(o.claim)) for o in case.checks.obligations]
    report = check_document(document, Demanded(obligations=obligations, engine=expected))
    if not report.accepted:
        return report
    reason = ""
    if not case.bounded and "witness" in own and not report.lines[0].startswith(IMPOSSIBLE):
        reason = "the case has no [privacy], and the observation is possible with both inputs"
    elif report.status in (Standing.HOLDS, BUDGET):
        reason = unmet(case, needs_of(case), read_points(document))
    return replace(report, accepted=False, lines=(f"rejected: {reason}",)) if reason else report


def subject(case: InteractiveCase, judge: WeightJudge | None = None) -> dict[str, Any]:
    """Returns what the evidence is about: domain, system and bound, derived from the case."""
    judge = judge or WeightJudge(case.checks)
    domain = envelope.domain_document(case.domain)
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


def _comparisons(
    case: InteractiveCase, document: Mapping[str, Any], options: Options | None
) -> list[dict[str, Any]]:
    """Returns the comparisons that the kernel asks for, with their proofs."""
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
                    about = without_enclosure(Claim(polynomial, case.domain))
                    entry = certificates.comparison(about, decision.proof, strict)
                    found.append(entry | ({"negated": key(-polynomial)} if strict else {}))
            return known[name]

        report = check_document(document, ask=ask)
    if not report.accepted:
        raise DefectError(f"the evidence is not accepted: {report.lines}")
    return found


def _claim(case: InteractiveCase, polynomial: Polynomial, strict: bool) -> Claim:
    domain = case.domain
    if not strict:
        return without_enclosure(Claim(polynomial, domain))
    return without_enclosure(positive(polynomial, domain, "the denominator is not positive"))
