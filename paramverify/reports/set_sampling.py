"""What `paramverify sample` prints about sets of outputs, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from paramverify.algebra.decimals import at_least, percent, relation, rounded
from paramverify.algebra.points import in_words
from paramverify.models.model import Model
from paramverify.reports import certified as shown
from paramverify.reports import text
from paramverify.statistics.set_detection import (
    SMALLEST,
    BudgetPoint,
    CandidateSet,
    Outputs,
    SetDetection,
    TestedSet,
)
from paramverify.statistics.set_testing import CertifiedSet, simplest_set


def p_value(value: float) -> str:
    """Returns a p-value in words; the smallest is a bound, because smaller ones are not looked for."""
    return f"p {relation(value, 3)}" if value > float(f"1e{SMALLEST}") else f"p at most 1e{SMALLEST}"


def lines(found: SetDetection) -> list[str]:
    """Returns what testing says about the bounds that were asked for, and the lower bounds on delta."""
    told = []
    for row in found.asked:
        rejects = found.rejects(row)
        verdict = "rejected" if rejects else "not rejected"
        tested = f"{_bounds(row.candidate.bounds)} ({p_value(row.p)}, level {found.settings.level:g})"
        told.append(f"{verdict} by the test: {tested}")
        if not rejects and row.p <= found.settings.level:
            told.append("  a smaller epsilon is not rejected, so no larger one is")
        told.append(f"  {'candidate' if rejects else 'most telling set'}: {_candidate(row.candidate)}")
        told.append(f"  {_least(row)}")
    settings = found.settings
    return [
        *told,
        f"{settings.select:,} runs on each side to choose the set, {settings.runs:,} to test it; "
        "tests prove nothing.",
    ]


def _bounds(bounds: BudgetPoint) -> str:
    if bounds.key != "delta":
        return f"{bounds.key} {relation(bounds.delta)}"
    return f"ratio {relation(bounds.ratio)}, delta {relation(bounds.delta)}"


def _candidate(candidate: CandidateSet) -> str:
    more, less = candidate.secrets
    at = in_words(candidate.experiment.point)
    return f"{candidate.chosen}, under {more!r} against {less!r}{at and f', {at}'}"


def _least(row: TestedSet) -> str:
    first, second = row.hits
    more, less = row.candidate.secrets
    least = at_least(Fraction(row.delta)) if row.delta else "0"
    return (
        f"{row.candidate.bounds.key} is at least {least} with confidence {percent(row.confidence)}: "
        f"the set came in {first:,} of {row.runs:,} runs under {more!r}, {second:,} under {less!r}"
    )


def document(found: SetDetection) -> dict[str, Any]:
    """Returns what testing says as JSON data."""
    return {
        "status": "rejected" if found.is_rejected else "not rejected",
        "level": found.settings.level,
        "runs": {"select": found.settings.select, "test": found.settings.runs},
        "tested": [_row(found, row) for row in found.asked],
    }


def _row(found: SetDetection, row: TestedSet) -> dict[str, Any]:
    candidate = row.candidate
    chosen = candidate.chosen
    listed = sorted(map(list, chosen.outputs)) if isinstance(chosen, Outputs) else None
    return {
        "ratio": candidate.bounds.ratio,
        "delta": candidate.bounds.delta,
        candidate.bounds.key: candidate.bounds.delta,
        "p": row.p,
        "rejected": found.rejects(row),
        "set": {"text": str(chosen), **({"outputs": listed} if listed is not None else {})},
        "secrets": list(candidate.secrets),
        "parameters": {name: str(value) for name, value in candidate.experiment.point.items()},
        "lower_bound": {
            "delta": row.delta,
            candidate.bounds.key: row.delta,
            "confidence": row.confidence,
            "hits": list(row.hits),
            "runs": row.runs,
        },
    }


def certified_lines(model: Model, certified: Sequence[CertifiedSet], unknown: int, code: bool) -> list[str]:
    """Returns what exact evaluation says about the sets; `code` tells whether an implementation was run."""
    real = [entry for entry in certified if entry.witness.exceeds]
    told = shown.lines(
        len(real),
        len(certified),
        unknown,
        code=code,
        seen="set was seen beyond the bounds",
        witness=simplest_set(model, real[0]) if real else None,
    )
    spurious = "Not in the model" if code else "Spurious"
    for entry in certified:
        if not entry.witness.exceeds:
            seen = rounded(entry.candidate.beyond, 4)
            exact = text.number(entry.witness.beyond)
            needed = f"needs {entry.candidate.bounds.key} {seen} as seen, exactly {exact}"
            told.append(f"  {spurious}: {_candidate(entry.candidate)}: {needed}.")
    return told


def certified_document(model: Model, certified: Sequence[CertifiedSet], unknown: int) -> dict[str, Any]:
    """Returns the exact evaluations as JSON data."""
    real = [entry for entry in certified if entry.witness.exceeds]
    listed = [shown.entry(e.witness, seen_delta=e.candidate.beyond) for e in certified]
    return shown.document(listed, unknown, simplest_set(model, real[0]) if real else None)
