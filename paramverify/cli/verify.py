"""`paramverify verify CASE`: holds, violated with a witness, or unknown."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from paramverify.answers import Decision, Open, Proved, Standing
from paramverify.claims import Claim
from paramverify.cli import _output
from paramverify.cli._budgets import verify_budgets, with_condition
from paramverify.cli._common import (
    MONOLITHIC,
    OUTPUT_FILE,
    case_argument,
    encoding_option,
    json_option,
    print_json,
    progress_bar,
    say,
    session_option,
    session_options,
    time_limit,
    timeout_option,
    write_json,
)
from paramverify.cli._exits import STATUS_CODES
from paramverify.cli._formulas import verify_formulas
from paramverify.cli._settings import settings
from paramverify.encodings.choice import claims_of
from paramverify.errors import InputError
from paramverify.models.inequality import Inequality
from paramverify.models.model import Model
from paramverify.portfolio.elimination import eliminate
from paramverify.portfolio.session import Options
from paramverify.privacy.cases import Case, load
from paramverify.privacy.runs import told_run
from paramverify.privacy.verification import Progress, Report, verify
from paramverify.reports import documents, runs, text, verdicts
from paramverify.reports.evidence import evidence_document
from paramverify.verdicts import Holds, Violated

LISTED = (10, "Prove a case private for every prior, or show how it leaks.")

BUDGETS = "Verify for each of these instead of the case's own budget, such as 1,ln(2),2."
WRITE = "Write the evidence to this file, for `paramverify check`."


@click.command("verify")
@case_argument
@json_option
@timeout_option
@session_option
@click.option("--evidence", "evidence", type=OUTPUT_FILE, help=WRITE)
@encoding_option
@click.option("--budgets", metavar="EPSILONS", help=BUDGETS)
def command(
    case: str,
    as_json: bool,
    timeout: float,
    backends: str | None,
    strategy: str | None,
    confirm: int,
    evidence: Path | None,
    encoding: str,
    budgets: str | None,
) -> int:
    """Prove a case private for every prior, or show how it leaks.

    A case with a [claim] of its own is proved for every point of its parameters, or refuted at one.
    With --budgets the exit code is that of the worst: 1, else 3, else 0.
    """
    options = session_options(timeout, backends, strategy, confirm)
    if encoding == MONOLITHIC:
        chosen = {"backends": backends, "strategy": strategy, "confirm": confirm > 1}
        for name in (n for n, given in {**chosen, "evidence": evidence, "budgets": budgets}.items() if given):
            raise click.UsageError(f"--encoding {MONOLITHIC} asks Z3, and has no claims: leave --{name} out")
        return verify_formulas(case, timeout, options, as_json)
    if budgets is not None:
        if evidence:
            raise click.UsageError("--evidence is for one budget: leave --budgets out")
        document = with_condition(_document) if as_json else None
        return verify_budgets(case, budgets, timeout=timeout, options=options, document=document)
    with time_limit(timeout) as lift, progress_bar("claims") as progress:
        until = time.monotonic() + options.seconds
        loaded = load(case, settings=settings())
        options, settled = _kept(options, progress, as_json)
        report = verify(loaded, options, settled)
        condition = _condition(loaded, max(0.01, until - time.monotonic())) if loaded.free else {}
    status = report.status
    if loaded.design:
        names = ", ".join(loaded.design.parameters)
        condition["design"] = f"the verdict is for every {names}; `synthesize` finds those that are private"
    if evidence:
        lift()
        write_json(evidence, evidence_document(loaded, report), indent=1)
    if as_json:
        print_json(_document(report, status, loaded) | documents.side_condition(loaded.model) | condition)
        return STATUS_CODES[status]
    for line in verdicts.lines(report, loaded):
        say(line)
    for name, told in condition.items():
        say(f"  {name.capitalize()}: {told}")
    for line in verdicts.notes(report, loaded):
        say(line)
    return STATUS_CODES[status]


def _kept(options: Options, progress: Progress, as_json: bool) -> tuple[Options, Progress]:
    """Returns both so that what is settled is kept, in case that a limit ends the run."""
    proved = 0

    def decided(claim: Claim, decision: Decision) -> None:
        nonlocal proved
        if claim.origins:
            proved += isinstance(decision.answer, Proved)
            if as_json:
                _output.add("claims", documents.origin(claim.origins[0]) | documents.decision(decision))

    def settled(done: int, total: int) -> None:
        if not as_json:
            _output.found([f"  {proved} of {total} claims were proved until then, {done} were tried."], {})
        progress(done, total)

    return replace(options, on_decision=decided), settled


def _condition(case: Case, seconds: float) -> dict[str, str]:
    """Returns the condition on the free parameters under which the case is private for all others."""
    model = case.model
    if isinstance(model, Model) and not model.lengths:
        raise InputError("[quantify] needs a finite privacy.length")
    claims = claims_of(model)
    if isinstance(model, Inequality) and any(claim.domain is not model.domain for claim in claims):
        raise InputError("[quantify] needs claims with <=, >= or ==, without < and >")
    found = eliminate(claims, case.free, model.domain, seconds)
    if isinstance(found, Open):
        return {"condition": f"undecided, {found.end.value}: {found.detail}"}
    names = ", ".join(case.free)
    kept = "private" if isinstance(model, Model) else "true"
    points = f"{found.checked} point{'s' * (found.checked != 1)}"
    told = f"{kept} exactly for {names} with {found.text} (compared exactly at {points})"
    return {"condition": told}


def _document(report: Report, status: Standing, case: Case) -> dict[str, Any]:
    claims = []
    for number, claim in enumerate(report.claims):
        first = documents.origin(claim.origins[0]) if claim.origins else {"about": "the invariant cone"}
        entry: dict[str, Any] = {**first, "merged": len(claim.origins)}
        if number < len(report.decisions):
            entry |= documents.decision(report.decisions[number])
        else:
            entry |= {"status": "not tried", "verdict": Standing.UNKNOWN.of_claim}
        claims.append(entry)
    words = text.words(verdicts.proofs(report))
    document: dict[str, Any] = {
        **documents.standing(status, case.model),
        "claims": claims,
        "seconds": round(report.seconds, 6),
        "evidence": {"decided_by": text.backends_used(report.decisions), **words},
        "notes": list(report.notes),
    }
    if isinstance(report.verdict, Violated):
        found = report.verdict.witness
        document["witness"] = documents.witness(found) | runs.document(told_run(case, found))
    elif not isinstance(report.verdict, Holds):
        document |= {"end": report.verdict.end.value, "reason": report.verdict.detail}
    return document
