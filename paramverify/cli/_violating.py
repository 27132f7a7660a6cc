"""The form `--witness` of `paramverify synthesize`: a violating prior, or that there is none."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import click

from paramverify.answers import End
from paramverify.cli import _output
from paramverify.cli._common import parse_point, progress_bar, write_json
from paramverify.cli._exits import Exit
from paramverify.encodings.choice import claims_of, is_long
from paramverify.models.model import Model
from paramverify.portfolio.obligations import discharge
from paramverify.portfolio.session import Session
from paramverify.privacy.cases import Case
from paramverify.privacy.runs import told_run
from paramverify.privacy.verification import Report, levels_certificate
from paramverify.reports import synthesis as telling
from paramverify.reports.evidence import evidence_document
from paramverify.synthesis import violating
from paramverify.synthesis.violating import Objective
from paramverify.verdicts import Holds, Unknown, Verdict, Violated


def witness_answer(
    case: Case,
    session: Session,
    objective: Objective | None,
    near: Sequence[str],
    tolerance: Fraction,
    evidence: Path | None,
) -> telling.Answer:
    """Returns a violating prior, or that there is none, and writes the evidence if a file is given."""
    wanted = objective or (Objective.NEAREST if near else Objective.SIMPLEST)
    if (wanted is Objective.NEAREST) != bool(near):
        raise click.UsageError("--objective nearest needs --near, and the others have no use for it")
    with progress_bar("claims") as progress:
        point = parse_point(near)
        found = violating.violating_prior(case.model, session, wanted, point, tolerance, progress=progress)
    run = told_run(case, found.witness) if found.witness else None
    document = {"form": "witness", "objective": wanted.value, **telling.violating_document(case, found, run)}
    lines = telling.violating_lines(case, found, run)
    if evidence:
        _output.found(lines, document)
        _write_evidence(case, session, found, evidence)
    code = Exit.VIOLATED if found.witness else Exit.HOLDS if found.complete else Exit.UNKNOWN
    return code, document, lines


def _write_evidence(
    case: Case,
    session: Session,
    found: violating.Violating,
    path: Path,
) -> None:
    model = case.model
    _, obligations = discharge(session, model)
    verdict: Verdict = Unknown(End.GAVE_UP, found.reason)
    decisions = found.decisions
    if found.witness:
        verdict, decisions = Violated(found.witness), ()
    elif found.complete:
        verdict = Holds(decisions)
    claims, certificate = claims_of(model), None
    if isinstance(verdict, Holds) and isinstance(model, Model) and is_long(model):
        certificate = levels_certificate(model, claims, decisions)
    report = Report(
        verdict=verdict,
        claims=claims,
        decisions=decisions,
        domain=model.domain,
        notes=model.notes,
        seconds=0.0,
        obligations=obligations,
        certificate=certificate,
    )
    document = evidence_document(case, report)
    write_json(path, document, indent=1)
