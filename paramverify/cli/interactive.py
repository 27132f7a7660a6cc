"""`paramverify interactive CASE`: differential noninterference of an interactive system."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from paramverify.algebra.points import in_words
from paramverify.cli import _output
from paramverify.cli._common import (
    OUTPUT_FILE,
    case_argument,
    json_option,
    print_json,
    progress_bar,
    say,
    session_option,
    session_options,
    time_limit,
    timeout_option,
    write_json,
    write_text,
)
from paramverify.cli._every import every_slots
from paramverify.cli._exits import STATUS_CODES, Exit
from paramverify.cli._settings import settings
from paramverify.interactive.bounds import power
from paramverify.interactive.cases import InteractiveCase, load
from paramverify.interactive.certificates import evidence_document
from paramverify.interactive.unwinding import Failure
from paramverify.interactive.verification import Noninterference, verify
from paramverify.models.systems.weights import is_zero, text
from paramverify.reports.pictures.systems import dot
from paramverify.reports.systems import brief, row, shown
from paramverify.reports.text import notes, on_word, words
from paramverify.verdicts import Holds, Unknown, Violated

LISTED = (40, "Prove differential noninterference of an interactive system, or show how it leaks.")

WRITE = "Write the evidence to this file, for `paramverify check`."
ASSUMED = "  Assumed of the environment: no input ever comes in a waiting state that does not accept it."
POINTS = "Say what follows for inputs that differ in up to this many data points."
EVERY = "Prove a budget of slots for every number of slots and points, all data and all functions at once."
PICTURE = "Write a picture of the system in DOT to this file, and decide nothing."


@click.command("interactive")
@case_argument
@json_option
@timeout_option
@session_option
@click.option("--evidence", "evidence", type=OUTPUT_FILE, help=WRITE)
@click.option("--points", type=click.IntRange(0, 1_000), help=POINTS)
@click.option("--every", "every", is_flag=True, help=EVERY)
@click.option("--dot", "picture", type=OUTPUT_FILE, help=PICTURE)
def command(
    case: str,
    as_json: bool,
    timeout: float,
    backends: str | None,
    strategy: str | None,
    confirm: int,
    evidence: Path | None,
    points: int | None,
    every: bool,
    picture: Path | None,
) -> int:
    """Prove differential noninterference of an interactive system, or show how it leaks."""
    if every:
        if picture or points is not None:
            raise click.UsageError("--every is about all slots at once: it takes neither --dot nor --points")
        if settings():
            raise click.UsageError("--every is about all values at once: leave -D out")
        with time_limit(timeout):
            return every_slots(case, as_json, evidence)
    options = session_options(timeout, backends, strategy, confirm)
    with time_limit(timeout) as lift, progress_bar("states, families") as progress:

        def explored(done: int, total: int) -> None:
            document = {"stage": "states", "done": done, "total": total}
            _output.found([f"  {done:,} states were explored, and {total:,} were known."], document)
            progress(done, total)

        loaded = load(case, explored, settings=settings())
        if picture:
            if evidence:
                raise click.UsageError("--dot decides nothing, so there is no evidence to write")
            write_text(picture, dot(loaded.system))
            if as_json:
                print_json({"states": len(loaded.system.states), "picture": str(picture)})
            return Exit.HOLDS
        size = len(loaded.system.states)

        def told(what: str, done: int, total: int) -> None:
            tried = f"; {done} of {total} {what} were tried" if done else ""
            document = {"states": size, "stage": what, "done": done, "total": total}
            _output.found([f"  the system has {size:,} states{tried}."], document)
            progress(done, total)

        report = verify(loaded, options, told)
        if evidence:
            lift()
            document = evidence_document(loaded, report, options)
            write_json(evidence, document)
    if as_json:
        several = {} if points is None else {"points": _several(loaded, report, points)}
        print_json(_document(loaded, report) | several)
        return STATUS_CODES[report.status]
    for line in (*_lines(loaded, report), *(f"  {line}" for line in notes(loaded.checks.notes, ""))):
        say(line)
    if points is not None:
        say(f"  {_several(loaded, report, points)['statement']}")
    return STATUS_CODES[report.status]


def _lines(case: InteractiveCase, report: Noninterference) -> list[str]:
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


def _several(case: InteractiveCase, report: Noninterference, points: int) -> dict[str, Any]:
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


def _document(case: InteractiveCase, report: Noninterference) -> dict[str, Any]:
    family, costs = report.family, report.costs
    constant = case.domain.constant
    document: dict[str, Any] = {
        "status": report.status,
        "verdict": report.status.of_case,
        "environment": "accepted" if case.system.partial else "any",
        "states": len(case.system.states),
        "pairs": report.pairs,
        "claims": len(report.claims) + len(report.obligations),
        "seconds": round(report.seconds, 6),
        "notes": list(case.checks.notes),
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
        document["evidence"]["given"] = {
            "accepted": failure is None,
            **({} if failure is None else _failed(case, failure)),
        }
    if case.subroutines:
        document["subroutines"] = [{"state": s.state, "states": s.states} for s in case.subroutines]
    document["evidence"] |= words([decision for _, decision in (*report.claims, *report.obligations)])
    if constant:
        document["constant"] = f"E = exp({constant.exponent})"
    names = case.system.actions.names
    found = report.refutation
    if found is not None:
        left, right = found.probabilities
        document["witness"] = {
            "parameters": {name: str(value) for name, value in report.parameters.items()},
            "inputs": [[names[a] for a in found.left], [names[a] for a in found.right]],
            "observations": [names[a] for a in found.event.trace],
            "then_nothing": found.event.closed,
            "probabilities": [text(left), text(right)],
            "ratio": None if is_zero(right) else text(left / right),
        }
    elif isinstance(report.verdict, Unknown):
        document["reason"] = report.reason
    return document


def _failed(case: InteractiveCase, failure: Failure) -> dict[str, Any]:
    names, actions = case.system.states, case.system.actions.names
    return {
        "reason": failure.reason,
        "level": failure.level,
        "pair": [names[s] for s in failure.pair] if failure.pair else None,
        "action": None if failure.action is None else actions[failure.action],
    }
