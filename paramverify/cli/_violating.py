"""The form `--witness` of `paramverify synthesize`: a violating prior, or that there is none."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import click

from paramverify.cli import _output
from paramverify.cli._common import parse_point, progress_bar, write_json
from paramverify.cli._exits import Exit
from paramverify.portfolio.session import Session
from paramverify.privacy.cases import PrivacyCase
from paramverify.reports import safe_values
from paramverify.reports import synthesis as telling
from paramverify.synthesis import violating
from paramverify.synthesis.violating import Objective


def witness_answer(
    case: PrivacyCase,
    session: Session,
    objective: Objective | None,
    near: Sequence[str],
    tolerance: Fraction,
    evidence: Path | None,
) -> telling.Answer:
    """Returns a violating prior, or that there is none, and writes the evidence if a file is given."""
    wanted = objective or (Objective.NEAREST if near else Objective.SIMPLEST)
    if (wanted is Objective.NEAREST) != bool(near):
        raise click.UsageError("--objective nearest needs --near, and no other objective takes it")
    with progress_bar("claims") as progress:
        point = parse_point(near)
        found = violating.violating_prior(case.model, session, wanted, point, tolerance, progress=progress)
    told = safe_values.prior(case, found, wanted)
    document, lines = told.document, told.lines
    if evidence:
        _output.found(lines, document)
        write_json(evidence, safe_values.prior_evidence(case, session, found), indent=1)
    code = Exit.VIOLATED if found.witness else Exit.HOLDS if found.complete else Exit.UNKNOWN
    return code, document, lines
