"""What `paramverify sample` prints about divergences, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from paramverify.algebra.decimals import at_least, percent, relation, rounded
from paramverify.algebra.points import in_words
from paramverify.reports import certified as shown
from paramverify.reports.set_sampling import p_value
from paramverify.statistics.divergence_detection import CandidatePair, DivergenceDetection, TestedPair
from paramverify.statistics.divergence_testing import CertifiedPair, worst_pair


def lines(found: DivergenceDetection) -> list[str]:
    """Returns what testing says about the bounds that were asked for, and the lower bounds."""
    told = []
    words = found.divergence.words
    for row in found.asked:
        rejects = found.rejects(row)
        verdict = "rejected" if rejects else "not rejected"
        tested = f"{words} {relation(row.candidate.bound)} ({p_value(row.p)}, level {_level(found)})"
        told.append(f"{verdict} by the test: {tested}")
        if not rejects and row.p <= found.settings.level:
            told.append("  a smaller bound is not rejected, so no larger one is")
        told.append(f"  {'candidate' if rejects else 'most telling secrets'}: {_candidate(row.candidate)}")
        told.append(f"  {_least(found.divergence.name, row)}")
        told += [f"    {line}" for line in _events(row)]
    settings = found.settings
    return [
        *told,
        f"{settings.select:,} runs on each side to choose the events, {settings.runs:,} to test them; "
        "tests prove nothing.",
    ]


def _level(found: DivergenceDetection) -> str:
    return f"{found.settings.level:g}"


def _candidate(candidate: CandidatePair) -> str:
    more, less = candidate.secrets
    at = in_words(candidate.experiment.point)
    return f"{more!r} seems too far from {less!r}{at and f', {at}'}"


def _least(name: str, row: TestedPair) -> str:
    least = at_least(Fraction(row.least)) if row.least else "0"
    many = f"{len(row.hits)} event{'s' * (len(row.hits) != 1)}"
    return f"{name} is at least {least} with confidence {percent(row.confidence)}, by {many}:"


def _events(row: TestedPair) -> list[str]:
    more, less = row.candidate.secrets
    return [
        f"{chosen}, {first:,} of {row.runs:,} runs under {more!r}, {second:,} under {less!r}"
        for chosen, (first, second) in zip(row.candidate.chosen, row.hits, strict=True)
    ]


def document(found: DivergenceDetection) -> dict[str, Any]:
    """Returns what testing says as JSON data."""
    return {
        "status": "rejected" if found.is_rejected else "not rejected",
        "level": found.settings.level,
        "runs": {"select": found.settings.select, "test": found.settings.runs},
        "tested": [_row(found, row) for row in found.asked],
    }


def _row(found: DivergenceDetection, row: TestedPair) -> dict[str, Any]:
    candidate = row.candidate
    return {
        **found.divergence.document(candidate.bound),
        "p": row.p,
        "rejected": found.rejects(row),
        "events": [
            {"text": str(chosen), "hits": list(hits)}
            for chosen, hits in zip(candidate.chosen, row.hits, strict=True)
        ],
        "secrets": list(candidate.secrets),
        "parameters": {name: str(value) for name, value in candidate.experiment.point.items()},
        "lower_bound": {
            **found.divergence.document(row.least),
            "confidence": row.confidence,
            "runs": row.runs,
        },
    }


def certified_lines(found: DivergenceDetection, certified: Sequence[CertifiedPair], code: bool) -> list[str]:
    """Returns what exact evaluation says about the candidates; see `reports.certified.lines`."""
    real = [entry for entry in certified if entry.witness.exceeds]
    told = shown.lines(
        len(real),
        len(certified),
        0,
        code=code,
        seen="secrets were seen beyond the bound",
        witness=worst_pair(real).witness if real else None,
    )
    for entry in certified:
        if not entry.witness.exceeds:
            spurious = "Not in the model" if code else "Spurious"
            words = f"{spurious if entry.within else 'Undecided'}: {_candidate(entry.candidate)}"
            seen = rounded(entry.candidate.seen, 4)
            told.append(f"  {words}: {found.divergence.name} {seen} was seen.")
    return told


def certified_document(certified: Sequence[CertifiedPair]) -> dict[str, Any]:
    """Returns the exact evaluations as JSON data."""
    real = [entry for entry in certified if entry.witness.exceeds]
    listed = [shown.entry(e.witness, seen_divergence=e.candidate.seen) for e in certified]
    for entry, told in zip(certified, listed, strict=True):
        told["spurious"] = entry.within
    return shown.document(listed, 0, worst_pair(real).witness if real else None)
