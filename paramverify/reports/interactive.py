"""The verdict on an interactive system, as text and as JSON."""

from __future__ import annotations

from typing import Any

from paramverify.algebra.points import in_words
from paramverify.interactive.bounds import power
from paramverify.interactive.cases import InteractiveCase
from paramverify.interactive.unwinding import Failure
from paramverify.interactive.verification import Noninterference
from paramverify.models.systems.weights import is_zero, text
from paramverify.reports.systems import brief, row, shown
from paramverify.reports.text import notes, on_word, words
from paramverify.verdicts import Holds, Unknown, Violated

ASSUMED = "  Assumed of the environment: no input ever comes in a waiting state that does not accept it."


def all_lines(case: InteractiveCase, report: Noninterference) -> list[str]:
    """Returns the verdict in words, with the notes."""
    return [*lines(case, report), *(f"  {line}" for line in notes(remarks(case, report), ""))]


def remarks(case: InteractiveCase, report: Noninterference) -> list[str]:
    """Returns the notes about the case and its verdict."""
    return [*case.checks.notes, *([report.unasked] if report.unasked else [])]


def lines(case: InteractiveCase, report: Noninterference) -> list[str]:
    """Returns the verdict in words, without the notes."""
    pairs = f"{report.pairs:,} pair{'s' * (report.pairs != 1)}"
    size = f"{len(case.system.states):,} states, {pairs}, {report.seconds:.2g} s"
    everywhere = case.domain.told()
    where = f" for all {everywhere}" if everywhere else ""
    assumed = [ASSUMED] if case.system.partial else []
    if isinstance(report.verdict, Violated):
        return [
            f"{report.status.of_case}: no differential noninterference with {case.budget} ({size}).",
            *_witness(case, report),
            *_failure(report),
            *assumed,
        ]
    if isinstance(report.verdict, Unknown):
        first = f"{report.status.of_case}: differential noninterference with {case.budget} ({size})."
        return [first, f"  {report.reason}", *_failure(report), *assumed]
    word = on_word([decision for _, decision in (*report.claims, *report.obligations)])
    lines = [
        f"{report.status.of_case}{word}: differential noninterference with {case.budget}{where} ({size})."
    ]
    family, costs = report.family, report.costs
    if family:
        steps = f"{family.steps} step{'s' * (family.steps != 1)}"
        total = shown(case, power(family.ratio, family.steps))
        whose = "Unwinding family of the case" if case.given else "Unwinding family"
        lines.append(f"  {whose}: {steps} of ratio {shown(case, family.ratio)}, together {total}.")
    else:
        lines += _failure(report) or ["  No unwinding family within the bound was found."]
    if costs and costs.ratio is not None:
        lines.append(f"  Steps paid with what they leak: ratio {shown(case, costs.ratio)}.")
    if case.subroutines:
        lines += [
            f"  Subroutine: the hidden step of {s.state!r} is replaced by an automaton with {s.states} "
            f"step{'s' * (s.states != 1)} that ends alike."
            for s in case.subroutines
        ]
    return lines + assumed


def several(case: InteractiveCase, report: Noninterference, points: int) -> dict[str, Any]:
    """Returns what a bound for one data point says about several ([T], Proposition 13)."""
    if not isinstance(report.verdict, Holds):
        reason = "Nothing follows for several data points: the bound is not proved for one."
        return {"count": points, "ratio": None, "statement": reason}
    ratio = shown(case, power(report.bound, points))
    between = ", and let the environment give every sequence in between" if case.system.partial else ""
    statement = (
        f"Up to {points} data points (Proposition 13): let at most {points} insertions of data points make"
        f" the inputs w and w' equal{between}. Then Pr(S | w) <= {ratio} * Pr(S | w') for every set S of"
        " observable traces."
    )
    return {"count": points, "ratio": ratio, "statement": statement}


def _failure(report: Noninterference) -> list[str]:
    """Returns where the family of the case fails, in words."""
    return [f"  The unwinding family of the case fails: {report.failure.reason}."] if report.failure else []


def _witness(case: InteractiveCase, report: Noninterference) -> list[str]:
    found = report.refutation
    assert found is not None
    names = case.system.actions.names
    at = in_words(report.parameters)
    left, right = found.probabilities
    ratio = "impossible with the other" if is_zero(right) else f"ratio {brief(case, left / right)}"
    nothing = ", then nothing" if found.event.closed else ""
    return [
        *([f"  With {at}:"] if at else []),
        f"  inputs   {row(names, found.left)}",
        f"  against  {row(names, found.right)}",
        f"  observed {row(names, found.event.trace)}{nothing}",
        f"  with probabilities {brief(case, left)} and {brief(case, right)}: {ratio},"
        f" beyond the bound {brief(case, report.bound)}.",
    ]


def document(case: InteractiveCase, report: Noninterference) -> dict[str, Any]:
    """Returns the verdict as JSON data."""
    family, costs = report.family, report.costs
    constant = case.domain.constant
    told: dict[str, Any] = {
        "status": report.status,
        "verdict": report.status.of_case,
        "environment": "accepted" if case.system.partial else "any",
        "states": len(case.system.states),
        "pairs": report.pairs,
        "claims": len(report.claims) + len(report.obligations),
        "seconds": round(report.seconds, 6),
        "notes": remarks(case, report),
        "evidence": {
            "family": family
            and {
                "ratio": shown(case, family.ratio),
                "steps": family.steps,
                "total": shown(case, power(family.ratio, family.steps)),
            },
            "costs": None if costs is None or costs.ratio is None else {"total": shown(case, costs.ratio)},
        },
    }
    if case.given:
        failure = report.failure
        told["evidence"]["given"] = {
            "accepted": failure is None,
            **({} if failure is None else _failed(case, failure)),
        }
    if case.subroutines:
        told["subroutines"] = [{"state": s.state, "states": s.states} for s in case.subroutines]
    told["evidence"] |= words([decision for _, decision in (*report.claims, *report.obligations)])
    if constant:
        told["constant"] = f"E = exp({constant.exponent})"
    names = case.system.actions.names
    found = report.refutation
    if found is not None:
        left, right = found.probabilities
        told["witness"] = {
            "parameters": {name: str(value) for name, value in report.parameters.items()},
            "inputs": [[names[a] for a in found.left], [names[a] for a in found.right]],
            "observations": [names[a] for a in found.event.trace],
            "then_nothing": found.event.closed,
            "probabilities": [text(left), text(right)],
            "ratio": None if is_zero(right) else text(left / right),
        }
    elif isinstance(report.verdict, Unknown):
        told["reason"] = report.reason
    return told


def _failed(case: InteractiveCase, failure: Failure) -> dict[str, Any]:
    names, actions = case.system.states, case.system.actions.names
    return {
        "reason": failure.reason,
        "level": failure.level,
        "pair": [names[s] for s in failure.pair] if failure.pair else None,
        "action": None if failure.action is None else actions[failure.action],
    }
