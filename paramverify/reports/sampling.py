"""What `paramverify sample` prints, as text and as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from paramverify.algebra.decimals import at_least, at_most, percent, relation, rounded
from paramverify.algebra.logarithms import Epsilon
from paramverify.algebra.points import in_words
from paramverify.claims import show_sequence
from paramverify.models.model import Model
from paramverify.reports import certified as shown
from paramverify.reports import documents, text
from paramverify.reports.budgets import exact_text, ratio_document
from paramverify.reports.pictures.pvalues import Curves
from paramverify.reports.tables import columns
from paramverify.statistics.attack import LowerBound
from paramverify.statistics.audit import Audit, Fit
from paramverify.statistics.certification import Certified, TightRatio, simplest, worst
from paramverify.statistics.detection import SURE, Detection, Tested
from paramverify.statistics.events import CandidateEvent, OutputEvent

UNLIKELY = 0.01  # chance with which an audit misses an output
MOST_NAMED = 8  # inputs that an audit names
MOST_REJECTED = 10  # rejected fits that are told one by one


def lines(found: Detection) -> list[str]:
    """Returns what testing says about the budgets asked for, the interval, and the lower bound."""
    told = []
    for row in found.asked:
        rejects = found.rejects(row)
        verdict = "rejected" if rejects else "not rejected"
        values = row.values
        level = f"level {found.settings.level:g}"
        tested = f"epsilon {relation(values.epsilon)} (p {relation(values.p, 3)}, {level})"
        told.append(f"{verdict} by the test: {tested}")
        blocked = found.blocked_by(row)
        if blocked is not None and values.p <= found.settings.level:
            told.append(f"  the smaller epsilon {relation(blocked)} is not rejected, so no larger one is")
        told.append(f"  {'candidate' if rejects else 'most telling event'}: {_event(row.candidate)}")
    told.append(interval_line(found.interval))
    told.append(_bound(found.bound))
    settings = found.settings
    told.append(
        f"{settings.select:,} runs on each side to choose the event, {settings.runs:,} to test it; "
        "tests prove nothing."
    )
    return told


def interval_line(ends: tuple[float | None, float | None]) -> str:
    """Returns the sentence about the interval from testing; see `Detection.interval`."""
    left, right = ends
    low = f"rejected up to {rounded(left)}" if left is not None else "nothing rejected"
    larger = "larger " * (left is not None)
    none = f"no {larger}tested value has a p-value above {SURE}"
    high = none if right is None else f"p-value above {SURE} first at {rounded(right)}"
    return f"interval from testing: {low}, {high}"


def table(found: Detection) -> list[str]:
    """Returns the table of p-values over ε."""
    rows = [
        (rounded(v.epsilon), rounded(v.p, 3), rounded(v.reversed, 3), _short(row.candidate))
        for row in found.rows
        for v in [row.values]
    ]
    return columns(("epsilon", "p", "reversed", "event"), rows)


def _event(candidate: CandidateEvent) -> str:
    more, less = candidate.secrets
    chosen = _sides(candidate)
    at = in_words(candidate.experiment.point)
    return f"{candidate.event}, under {more!r} against {less!r}{chosen}{at and f', {at}'}"


def _sides(candidate: CandidateEvent) -> str:
    choices = candidate.experiment.choices
    return f", answers {' '.join(choices)}" if choices else ""


def _short(candidate: CandidateEvent) -> str:
    more, less = candidate.secrets
    return f"{candidate.event}: {more} / {less}"


def _bound(bound: LowerBound) -> str:
    first, second = bound.hits
    more, less = (bound.attack.experiment.secret(s) for s in (bound.attack.more, 1 - bound.attack.more))
    epsilon = max(0.0, bound.epsilon)
    return (
        f"epsilon is at least {_least(epsilon)} with confidence {percent(bound.confidence)}: an attack "
        f"accepts {first:,} of {bound.runs:,} runs under {more!r}, {second:,} under {less!r}"
    )


def _least(epsilon: float) -> str:
    return at_least(Fraction(epsilon)) if math.isfinite(epsilon) else "infinity"


def document(found: Detection) -> dict[str, Any]:
    """Returns what testing says as JSON data."""
    left, right = found.interval
    bound = found.bound
    return {
        "status": "rejected" if found.is_rejected else "not rejected",
        "level": found.settings.level,
        "runs": {"select": found.settings.select, "test": found.settings.runs},
        "tested": [_row(found, row) for row in found.asked],
        "table": [_row(found, row) for row in found.rows],
        "interval": [left, right],
        "lower_bound": {
            "epsilon": bound.epsilon if math.isfinite(bound.epsilon) else None,
            "confidence": bound.confidence,
            "hits": list(bound.hits),
            "runs": bound.runs,
            "secrets": [
                bound.attack.experiment.secret(s) for s in (bound.attack.more, 1 - bound.attack.more)
            ],
        },
    }


def _row(found: Detection, row: Tested) -> dict[str, Any]:
    candidate = row.candidate
    blocked = found.blocked_by(row) if row in found.asked else None
    return {
        "epsilon": row.values.epsilon,
        "p": row.values.p,
        "p_reversed": row.values.reversed,
        "rejected": found.rejects(row),
        **({"blocked_by": blocked} if blocked is not None and row.values.p <= found.settings.level else {}),
        "event": _event_document(candidate.event),
        "secrets": list(candidate.secrets),
        "pattern": candidate.experiment.pattern,
        "parameters": {name: str(value) for name, value in candidate.experiment.point.items()},
    }


def _event_document(event: OutputEvent) -> dict[str, Any]:
    document: dict[str, Any] = {"kind": event.kind, "value": list(event.value), "text": str(event)}
    if event.conditions:
        document["conditions"] = [
            {"of": str(c.feature), "from": _end(c.low, -math.inf), "to": _end(c.high, math.inf)}
            for c in event.conditions
        ]
    return document


def _end(value: float, none: float) -> float | str | None:
    """Returns the end of an interval: None where there is none, and `inf` or `-inf` where it is infinite."""
    if value == none:
        return None
    return value if math.isfinite(value) else str(value)


def curves(title: str, found: Detection) -> Curves:
    """Returns what is plotted."""
    rows = [row.values for row in found.rows]
    return Curves(
        title=title,
        epsilons=[row.epsilon for row in rows],
        p=[row.p for row in rows],
        reversed=[row.reversed for row in rows],
        level=found.settings.level,
        budget=found.asked[0].values.epsilon,
        bound=found.bound.epsilon,
        confidence=found.bound.confidence,
    )


def certified_lines(model: Model, certified: Sequence[Certified], unknown: int, code: bool) -> list[str]:
    """Returns what exact evaluation says about the candidates, see `reports.certified.lines`."""
    real = [entry for entry in certified if entry.is_violation]
    told = shown.lines(
        len(real),
        len(certified),
        unknown,
        code=code,
        seen="output was seen beyond the bound",
        witness=simplest(model, worst(real)) if real else None,
    )
    spurious = "Not in the model" if code else "Spurious"
    for entry in certified:
        if not entry.is_violation:
            ratio = entry.witness.ratio
            exact = text.number(ratio) if ratio else "infinity"
            seen = f"seen {rounded(math.exp(entry.candidate.epsilon), 4)} times"
            told.append(
                f"  {spurious}: {_event(entry.candidate)}: {seen}, "
                f"exactly {exact} times as likely, within {text.bound(entry.witness)}."
            )
    return told


def certified_document(model: Model, certified: Sequence[Certified], unknown: int) -> dict[str, Any]:
    """Returns the exact evaluations as JSON data."""
    real = [entry for entry in certified if entry.is_violation]
    listed = [shown.entry(e.witness, seen_ratio=math.exp(e.candidate.epsilon)) for e in certified]
    return shown.document(listed, unknown, simplest(model, worst(real)) if real else None)


def tight_lines(tight: TightRatio) -> list[str]:
    """Returns the result of the search for the tight budget."""
    witness, tries = tight.witness, len(tight.steps)
    if tight.infinite and witness.ratio:
        head = "no budget: the ratio grows without limit with longer sequences"
    elif tight.infinite:
        head = "no budget: an output is possible under one secret only"
    elif tight.exact and witness.ratio:
        epsilon = Epsilon.of(witness.ratio).told()
        head = f"tight budget: ratio {text.number(witness.ratio)}, epsilon {epsilon}, proved"
    elif tight.limit and tight.limit.infinite:
        head = "no budget: the ratio grows without limit"
    elif tight.limit and tight.limit.value is not None:
        reached = "not reached, " if tight.limit.attained is False else ""
        exact = exact_text(tight.limit)
        head = f"tight budget: ratio {exact}, epsilon {tight.limit.epsilon.told()}, {reached}proved"
    elif tight.upper is not None and witness.ratio:
        upper = tight.upper if isinstance(tight.upper, Fraction) else tight.upper.middle()
        low, high = at_least(witness.ratio.middle(), 12), at_most(upper, 12)
        head = f"tight budget: ratio between {low} and {high}, both proved"
    else:
        low_text = text.number(witness.ratio) if witness.ratio else "infinity"
        head = f"the ratio is at least {low_text}; no upper bound was proved"
    near = []
    if witness.parameters and not tight.infinite:
        place = text.place(witness)
        seen = f"near it, ratio {text.number(witness.ratio)}, " if not tight.exact and witness.ratio else ""
        near = [f"  {seen}with {place}:"]
    return [
        f"{head} ({tries} verification{'s' * (tries != 1)})" if tries else head,
        *near,
        *(f"  {x}" for x in text.witness_lines(witness)[1:]),
    ]


def tight_document(tight: TightRatio) -> dict[str, Any]:
    """Returns the result of the search as JSON data."""
    ratio = tight.witness.ratio
    found: dict[str, Any] = {"status": "bounded"}
    limit = tight.limit
    if tight.infinite:
        found |= {"status": "found", "ratio": "infinity"}
    elif tight.exact:
        found |= {"status": "found", "ratio": documents.real(ratio)}
    elif limit and (limit.infinite or limit.value is not None):
        found |= {"status": "found", **ratio_document(limit), "attained": limit.attained}
    else:
        found["ratio_lower"] = documents.real(ratio)
        found["ratio_upper"] = str(tight.upper) if tight.upper is not None else "unknown"
    found["witness"] = documents.witness(tight.witness)
    found["verifications"] = len(tight.steps)
    return found


def audit_lines(found: Audit) -> list[str]:
    """Returns the sentences that tell an audit."""
    inputs = f"{len(found.fits)} input{'s' * (len(found.fits) != 1)}"
    names = list(dict.fromkeys(fit.experiment.secret(fit.side) for fit in found.fits))
    most = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    listed = f"  The inputs are {', '.join(names[:MOST_NAMED])}{most}; nothing is said about others."
    size = f"{found.fits[0].runs:,} runs each, level {found.level:g}"
    if found.passes:
        least = min(fit.p for fit in found.fits)
        smallest = f"The smallest of {len(found.fits)} p-values is {rounded(least, 3)}."
        unseen = rounded(1 - UNLIKELY ** (1 / found.fits[0].runs), 2)
        small = f"in 1 of 100 audits, an output of probability {unseen} that the model does not have"
        may = f"Small differences may stay unseen: {small}."
        return [f"no difference found: {inputs}, {size}.", f"  {smallest} {may}", listed, *_at(found)]
    told = [f"differs from the model: {len(found.rejected)} of {inputs}, {size}.", *_at(found)]
    told += [f"  {_fit(fit)}" for fit in found.rejected[:MOST_REJECTED]]
    if len(found.rejected) > MOST_REJECTED:
        told.append(f"  and {len(found.rejected) - MOST_REJECTED} more")
    return told


def _at(found: Audit) -> list[str]:
    """Returns the line that names the point at which everything was compared, where there are parameters."""
    named = [in_words(found.point), *(f"{name} = {value}" for name, value in found.meaning.items())]
    shown = ", ".join(filter(None, named))
    return [f"  All of this is with {shown}; `at` (`--at`) gives other numbers."] if shown else []


def _expected(number: float) -> str:
    told = f"{number:,.1f}"
    return told if float(told.replace(",", "")) == number else f"≈ {told}"


def _fit(fit: Fit) -> str:
    output, came, expected = fit.worst
    where = f"{fit.experiment.secret(fit.side)}"
    if fit.experiment.choices:
        where += f", answers {' '.join(fit.experiment.choices)}"
    if fit.impossible:
        return f"{where}: output {show_sequence(output)} came {came:,} times; the model says it is impossible"
    told = f"output {show_sequence(output)} came {came:,} times, {_expected(expected)} were expected"
    return f"{where}: p {relation(fit.p, 3)}; {told}"


def audit_document(found: Audit) -> dict[str, Any]:
    """Returns an audit as JSON data."""
    rejected = {id(fit) for fit in found.rejected}
    return {
        "status": "no difference found" if found.passes else "different",
        "level": found.level,
        "parameters": {name: str(value) for name, value in found.point.items()},
        **({"meaning": dict(found.meaning)} if found.meaning else {}),
        "inputs": [
            {
                "input": fit.experiment.secret(fit.side),
                "answers": list(fit.experiment.choices),
                "runs": fit.runs,
                "cells": fit.cells,
                "statistic": fit.statistic if math.isfinite(fit.statistic) else None,
                "p": fit.p,
                "rejected": id(fit) in rejected,
                "impossible": {show_sequence(o): n for o, n in fit.impossible.items()},
                "worst": {"output": list(fit.worst[0]), "came": fit.worst[1], "expected": fit.worst[2]},
            }
            for fit in found.fits
        ],
    }
