"""What `paramverify sample` prints, as text and as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from paramverify.algebra.budgets import Epsilon
from paramverify.algebra.domains import in_words
from paramverify.algebra.rationals import at_least, at_most, decimal_text, percent, relation, rounded
from paramverify.algebra.reals import Real
from paramverify.answers import Standing
from paramverify.claims import show_sequence
from paramverify.evidence import number_words
from paramverify.evidence.divergence_witnesses import LossWitness
from paramverify.evidence.witnesses import Evaluated, ExactSetWitness
from paramverify.models.model import Model
from paramverify.reports import json_documents, sentences
from paramverify.reports.budgets import exact_text, least_document, raised_number
from paramverify.reports.pictures.privacy_plots import Curves
from paramverify.reports.sentences import columns
from paramverify.statistics.audit import Audit, Fit
from paramverify.statistics.case_testing import (
    AnyDetection,
    CertifiedPair,
    CertifiedSet,
    SamplingGoal,
    SamplingResult,
    simplest_set,
    worst_pair,
)
from paramverify.statistics.certification import (
    Bisection,
    BisectionStep,
    Certified,
    TightRatio,
    simplest,
    worst,
)
from paramverify.statistics.detection import (
    SMALLEST,
    SURE,
    BudgetPoint,
    CandidateSet,
    Detection,
    Outputs,
    SetDetection,
    Tested,
    TestedSet,
)
from paramverify.statistics.divergence_detection import CandidatePair, DivergenceDetection, TestedPair
from paramverify.statistics.events import CandidateEvent, OutputEvent
from paramverify.statistics.learned_attacks import LowerBound


def bisection_lines(found: Bisection) -> list[str]:
    """Returns what bisection proved, and what testing had said."""
    count = len(found.steps)
    tries = f" ({count} verification{'s' * (count != 1)})" if count else ""
    told = [f"bisection: {_head(found)}{tries}"]
    left, right = found.testing
    low = rounded(left) if left is not None else "none"
    high = rounded(right) if right is not None else "none"
    told.append(f"  testing gave the interval from {low} to {high}; the result does not depend on it.")
    for step in found.wrong:
        standing = Standing.HOLDS if step.holds else Standing.VIOLATED
        stands = f"the case is {standing.of_case} with epsilon = {_shown(step.epsilon)}"
        told.append(f"  testing was wrong at its {'left' if step.holds else 'right'} end: {stands}.")
    if found.last:
        told.append(
            f"  epsilon = {_shown(found.last.epsilon)} stayed {Standing.UNKNOWN.of_case}: {found.last.reason}"
        )
    if found.at_most is not None:
        told.append(
            f"  no budget up to {_shown(found.at_most)} was proved to be enough, and no larger one is tried."
        )
    witness = found.violated.witness if found.violated else None
    if witness:
        if witness.parameters:
            told.append(f"  with {in_words(witness.parameters)}:")
        told += [f"  {line}" for line in witness.lines()[1:]]
    return told


def _head(found: Bisection) -> str:
    if found.infinite and not found.steps:
        return "no budget: the ratio grows without limit with longer sequences"
    if found.infinite:
        return "no budget: an output is possible under one secret only"
    parts = []
    if found.violated:
        parts.append(f"{Standing.VIOLATED.of_case} with epsilon = {_shown(found.violated.epsilon)}")
    if found.holds:
        parts.append(f"{Standing.HOLDS.of_case} with epsilon = {_shown(found.holds.epsilon)}")
    if not parts:
        return "nothing was proved"
    return f"{', '.join(parts)}; {'both are proved' if len(parts) == 2 else 'this is proved'}"


def _shown(value: Fraction) -> str:
    """Returns a value of ε exactly where it is a short decimal number, else as a fraction."""
    shown = decimal_text(value, 12)
    return shown if Fraction(shown) == value else str(value)


def bisection_document(found: Bisection) -> dict[str, Any]:
    """Returns the bisection as JSON data; the values of ε are exact."""
    witness = found.violated.witness if found.violated else None
    return {
        "status": "found" if found.is_found else "bounded",
        "infinite": found.infinite,
        "violated": str(found.violated.epsilon) if found.violated else None,
        "holds": str(found.holds.epsilon) if found.holds else None,
        "precision": str(found.precision),
        "testing": list(found.testing),
        "wrong_ends": [str(step.epsilon) for step in found.wrong],
        **({"at_most": str(found.at_most)} if found.at_most is not None else {}),
        "steps": [_step(step) for step in found.steps],
        "witness": witness.answer() if witness else None,
    }


def _step(step: BisectionStep) -> dict[str, Any]:
    standing = {True: Standing.HOLDS, False: Standing.VIOLATED, None: Standing.UNKNOWN}[step.holds]
    ratio = step.ratio.describe() if isinstance(step.ratio, Real) else str(step.ratio)
    told = {"epsilon": str(step.epsilon), "status": standing, "verdict": standing.of_case, "ratio": ratio}
    return told | ({"reason": step.reason} if step.reason else {})


AnyWitness = Evaluated | ExactSetWitness | LossWitness


def exact_lines(
    real: int, certified: int, unknown: int, *, code: bool, seen: str, witness: AnyWitness | None
) -> list[str]:
    """Returns the first lines: how many of the candidates are violations, and the witness of one of these.

    `unknown` is how many more there are whose output the model does not have; `code` tells whether the
    candidates come from an implementation, about which the model says nothing; `seen` is what makes one.
    """
    told = []
    if certified:
        head = Standing.VIOLATED.of_case if real else "no violation found, which proves nothing"
        told.append(f"{head}: {real} of {_candidates(certified)} were confirmed by exact evaluation.")
    elif not unknown:
        told.append(f"no candidate, which proves nothing: no {seen}")
    if unknown:
        told.append(f"{_candidates(unknown)} with outputs that do not exist in the model")
    if code:
        told.append(
            "  This is about the model; use --audit to test whether the implementation differs from it."
        )
    return told + [f"  {line}" for line in (witness.lines() if witness else ())]


def _candidates(number: int) -> str:
    return f"{number} candidate{'s' * (number != 1)}"


def exact_document(
    candidates: Sequence[dict[str, Any]], unknown: int, witness: AnyWitness | None
) -> dict[str, Any]:
    """Returns the same as JSON data, with an entry for each candidate."""
    standing = Standing.VIOLATED if witness else Standing.UNKNOWN
    found: dict[str, Any] = {"status": standing, "verdict": standing.of_case}
    if witness:
        found["witness"] = witness.answer()
    return {**found, "candidates": list(candidates), "not_in_the_model": unknown}


def entry(witness: AnyWitness, **seen: float) -> dict[str, Any]:
    """Returns one candidate: what was seen of it, and its exact evaluation."""
    return {"spurious": not witness.exceeds, **seen, "witness": witness.answer()}


def p_value(value: float) -> str:
    """Returns a p-value in words; the smallest is a bound, because smaller ones are not looked for."""
    return f"p {relation(value, 3)}" if value > float(f"1e{SMALLEST}") else f"p at most 1e{SMALLEST}"


def set_lines(found: SetDetection) -> list[str]:
    """Returns what testing says about the bounds that were asked for, and the lower bounds on delta."""
    told = []
    for row in found.asked:
        rejects = found.rejects(row)
        verdict = "rejected" if rejects else "not rejected"
        tested = f"{_bounds(row.candidate.bounds)} ({p_value(row.p)}, level {found.settings.level:g})"
        told.append(f"{verdict} by the test: {tested}")
        if not rejects and row.p <= found.settings.level:
            told.append("  a smaller epsilon is not rejected, so larger ones are not rejected either")
        told.append(
            f"  {'candidate' if rejects else 'most significant set'}: {_set_candidate(row.candidate)}"
        )
        told.append(f"  {_set_least(row)}")
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


def _set_candidate(candidate: CandidateSet) -> str:
    more, less = candidate.secrets
    at = in_words(candidate.experiment.point)
    return f"{candidate.chosen}, under {more!r} against {less!r}{at and f', {at}'}"


def _set_least(row: TestedSet) -> str:
    first, second = row.hits
    more, less = row.candidate.secrets
    least = at_least(Fraction(row.delta)) if row.delta else "0"
    return (
        f"{row.candidate.bounds.key} is at least {least} with confidence {percent(row.confidence)}: "
        f"the set came in {first:,} of {row.runs:,} runs under {more!r}, {second:,} under {less!r}"
    )


def set_document(found: SetDetection) -> dict[str, Any]:
    """Returns what testing says as JSON data."""
    return {
        "status": "rejected" if found.is_rejected else "not rejected",
        "level": found.settings.level,
        "runs": {"select": found.settings.select, "test": found.settings.runs},
        "tested": [_set_row(found, row) for row in found.asked],
    }


def _set_row(found: SetDetection, row: TestedSet) -> dict[str, Any]:
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


def certified_set_lines(
    model: Model, certified: Sequence[CertifiedSet], unknown: int, code: bool
) -> list[str]:
    """Returns what exact evaluation says about the sets; `code` tells whether an implementation was run."""
    real = [entry for entry in certified if entry.witness.exceeds]
    told = exact_lines(
        len(real),
        len(certified),
        unknown,
        code=code,
        seen="set was seen to exceed the bounds",
        witness=simplest_set(model, real[0]) if real else None,
    )
    spurious = "Not in the model" if code else "Spurious"
    for entry in certified:
        if not entry.witness.exceeds:
            seen = rounded(entry.candidate.beyond, 4)
            exact = number_words.number(entry.witness.beyond)
            needed = f"needs {entry.candidate.bounds.key} {seen} according to the runs, exactly {exact}"
            told.append(f"  {spurious}: {_set_candidate(entry.candidate)}: {needed}.")
    return told


def certified_set_document(model: Model, certified: Sequence[CertifiedSet], unknown: int) -> dict[str, Any]:
    """Returns the exact evaluations as JSON data."""
    real = [entry for entry in certified if entry.witness.exceeds]
    listed = [entry(e.witness, seen_delta=e.candidate.beyond) for e in certified]
    return exact_document(listed, unknown, simplest_set(model, real[0]) if real else None)


def divergence_lines(found: DivergenceDetection) -> list[str]:
    """Returns what testing says about the bounds that were asked for, and the lower bounds."""
    told = []
    words = found.divergence.words
    for row in found.asked:
        rejects = found.rejects(row)
        verdict = "rejected" if rejects else "not rejected"
        tested = f"{words} {relation(row.candidate.bound)} ({p_value(row.p)}, level {_level(found)})"
        told.append(f"{verdict} by the test: {tested}")
        if not rejects and row.p <= found.settings.level:
            told.append("  a smaller bound is not rejected, so larger ones are not rejected either")
        told.append(
            f"  {'candidate' if rejects else 'most significant secrets'}: "
            f"{_divergence_candidate(row.candidate)}"
        )
        told.append(f"  {_divergence_least(found.divergence.name, row)}")
        told += [f"    {line}" for line in _events(row)]
    settings = found.settings
    return [
        *told,
        f"{settings.select:,} runs on each side to choose the events, {settings.runs:,} to test them; "
        "tests prove nothing.",
    ]


def _level(found: DivergenceDetection) -> str:
    return f"{found.settings.level:g}"


def _divergence_candidate(candidate: CandidatePair) -> str:
    more, less = candidate.secrets
    at = in_words(candidate.experiment.point)
    return f"{more!r} seems too far from {less!r}{at and f', {at}'}"


def _divergence_least(name: str, row: TestedPair) -> str:
    least = at_least(Fraction(row.least)) if row.least else "0"
    many = f"{len(row.hits)} event{'s' * (len(row.hits) != 1)}"
    return f"{name} is at least {least} with confidence {percent(row.confidence)}, by {many}:"


def _events(row: TestedPair) -> list[str]:
    more, less = row.candidate.secrets
    return [
        f"{chosen}, {first:,} of {row.runs:,} runs under {more!r}, {second:,} under {less!r}"
        for chosen, (first, second) in zip(row.candidate.chosen, row.hits, strict=True)
    ]


def divergence_document(found: DivergenceDetection) -> dict[str, Any]:
    """Returns what testing says as JSON data."""
    return {
        "status": "rejected" if found.is_rejected else "not rejected",
        "level": found.settings.level,
        "runs": {"select": found.settings.select, "test": found.settings.runs},
        "tested": [_divergence_row(found, row) for row in found.asked],
    }


def _divergence_row(found: DivergenceDetection, row: TestedPair) -> dict[str, Any]:
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


def certified_divergence_lines(
    found: DivergenceDetection, certified: Sequence[CertifiedPair], code: bool
) -> list[str]:
    """Returns what exact evaluation says about the candidates; see `reports.sampling_reports.exact_lines`."""
    real = [entry for entry in certified if entry.witness.exceeds]
    told = exact_lines(
        len(real),
        len(certified),
        0,
        code=code,
        seen="secrets were seen to exceed the bound",
        witness=worst_pair(real).witness if real else None,
    )
    for entry in certified:
        if not entry.witness.exceeds:
            spurious = "Not in the model" if code else "Spurious"
            words = f"{spurious if entry.within else 'Undecided'}: {_divergence_candidate(entry.candidate)}"
            seen = rounded(entry.candidate.seen, 4)
            told.append(f"  {words}: the runs showed {found.divergence.name} {seen}.")
    return told


def certified_divergence_document(certified: Sequence[CertifiedPair]) -> dict[str, Any]:
    """Returns the exact evaluations as JSON data."""
    real = [entry for entry in certified if entry.witness.exceeds]
    listed = [entry(e.witness, seen_divergence=e.candidate.seen) for e in certified]
    for found, told in zip(certified, listed, strict=True):
        told["spurious"] = found.within
    return exact_document(listed, 0, worst_pair(real).witness if real else None)


UNLIKELY = 0.01  # chance with which an audit misses an output
MOST_NAMED = 8  # inputs that an audit names
MOST_REJECTED = 10  # rejected fits that are told one by one


def event_lines(found: Detection) -> list[str]:
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
            told.append(
                f"  the smaller epsilon {relation(blocked)} is not rejected, so larger ones are "
                "not rejected either"
            )
        told.append(f"  {'candidate' if rejects else 'most significant event'}: {_event(row.candidate)}")
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
        f"epsilon is at least {_event_least(epsilon)} with confidence {percent(bound.confidence)}: an attack "
        f"accepts {first:,} of {bound.runs:,} runs under {more!r}, {second:,} under {less!r}"
    )


def _event_least(epsilon: float) -> str:
    return at_least(Fraction(epsilon)) if math.isfinite(epsilon) else "infinity"


def event_document(found: Detection) -> dict[str, Any]:
    """Returns what testing says as JSON data."""
    left, right = found.interval
    bound = found.bound
    return {
        "status": "rejected" if found.is_rejected else "not rejected",
        "level": found.settings.level,
        "runs": {"select": found.settings.select, "test": found.settings.runs},
        "tested": [_event_row(found, row) for row in found.asked],
        "table": [_event_row(found, row) for row in found.rows],
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


def _event_row(found: Detection, row: Tested) -> dict[str, Any]:
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


def certified_event_lines(
    model: Model, certified: Sequence[Certified], unknown: int, code: bool
) -> list[str]:
    """Returns what exact evaluation says about the candidates, see `reports.sampling_reports.exact_lines`."""
    real = [entry for entry in certified if entry.is_violation]
    told = exact_lines(
        len(real),
        len(certified),
        unknown,
        code=code,
        seen="output was seen to exceed the bound",
        witness=simplest(model, worst(real)) if real else None,
    )
    spurious = "Not in the model" if code else "Spurious"
    for entry in certified:
        if not entry.is_violation:
            ratio = entry.witness.ratio
            exact = number_words.number(ratio) if ratio else "infinity"
            seen = f"seen {rounded(math.exp(entry.candidate.epsilon), 4)} times as often"
            told.append(
                f"  {spurious}: {_event(entry.candidate)}: {seen}, "
                f"exactly {exact} times as likely, within {entry.witness.bound_in_words()}."
            )
    return told


def certified_event_document(model: Model, certified: Sequence[Certified], unknown: int) -> dict[str, Any]:
    """Returns the exact evaluations as JSON data."""
    real = [entry for entry in certified if entry.is_violation]
    listed = [entry(e.witness, seen_ratio=math.exp(e.candidate.epsilon)) for e in certified]
    return exact_document(listed, unknown, simplest(model, worst(real)) if real else None)


def tight_lines(tight: TightRatio) -> list[str]:
    """Returns the result of the search for the tight budget."""
    witness, tries = tight.witness, len(tight.steps)
    if tight.infinite and witness.ratio:
        head = "no budget: the ratio grows without limit with longer sequences"
    elif tight.infinite:
        head = "no budget: an output is possible under one secret only"
    elif tight.exact and witness.ratio:
        epsilon = Epsilon.of(witness.ratio).told()
        head = f"tight budget: ratio {raised_number(witness.ratio)}, epsilon {epsilon}, proved"
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
        low_text = number_words.number(witness.ratio) if witness.ratio else "infinity"
        head = f"the ratio is at least {low_text}; no upper bound was proved"
    near = []
    if witness.parameters and not tight.infinite:
        place = witness.place
        seen = (
            f"near it, ratio {number_words.number(witness.ratio)}, "
            if not tight.exact and witness.ratio
            else ""
        )
        near = [f"  {seen}with {place}:"]
    return [
        f"{head} ({tries} verification{'s' * (tries != 1)})" if tries else head,
        *near,
        *(f"  {x}" for x in witness.lines()[1:]),
    ]


def tight_document(tight: TightRatio) -> dict[str, Any]:
    """Returns the result of the search as JSON data."""
    ratio = tight.witness.ratio
    found: dict[str, Any] = {"status": "bounded"}
    limit = tight.limit
    if tight.infinite:
        found |= {"status": "found", "ratio": "infinity"}
    elif tight.exact:
        found |= {"status": "found", "ratio": number_words.real(ratio)}
    elif limit and (limit.infinite or limit.value is not None):
        found |= {"status": "found", **least_document(limit), "attained": limit.attained}
    else:
        found["ratio_lower"] = number_words.real(ratio)
        found["ratio_upper"] = str(tight.upper) if tight.upper is not None else "unknown"
    found["witness"] = tight.witness.answer()
    found["verifications"] = len(tight.steps)
    return found


def audit_lines(found: Audit) -> list[str]:
    """Returns the sentences that tell an audit."""
    inputs = f"{len(found.fits)} input{'s' * (len(found.fits) != 1)}"
    names = list(dict.fromkeys(fit.experiment.secret(fit.side) for fit in found.fits))
    most = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    listed = f"  The inputs are {', '.join(names[:MOST_NAMED])}{most}; the audit does not cover others."
    size = f"{found.fits[0].runs:,} runs each, level {found.level:g}"
    if found.passes:
        least = min(fit.p for fit in found.fits)
        smallest = f"The smallest of {len(found.fits)} p-values is {rounded(least, 3)}."
        unseen = rounded(1 - UNLIKELY ** (1 / found.fits[0].runs), 2)
        small = f"1 of 100 audits misses an output of probability {unseen} that is impossible in the model"
        may = f"Small differences may go undetected: {small}."
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
    return [f"  All of this is with {shown}; use --at (`at` in Python) for other numbers."] if shown else []


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


def detected_lines(found: AnyDetection) -> list[str]:
    """Returns in words what testing alone found."""
    if isinstance(found, SetDetection):
        return set_lines(found)
    return event_lines(found) if isinstance(found, Detection) else divergence_lines(found)


def detected_document(found: AnyDetection) -> dict[str, Any]:
    """Returns the same as JSON data."""
    if isinstance(found, SetDetection):
        return set_document(found)
    return event_document(found) if isinstance(found, Detection) else divergence_document(found)


def testing_lines(found: SamplingResult) -> list[str]:
    """Returns in words what testing found, and what was made of it."""
    if found.audit:
        return audit_lines(found.audit)
    tested = found.detection or found.sets or found.divergence
    assert tested is not None
    told = detected_lines(tested)
    certify, code = found.plan.goal is SamplingGoal.CERTIFY, found.plan.function is not None
    if found.sets:
        known = found.model, found.certified_sets, found.unknown
        return [*(certified_set_lines(*known, code) if certify else []), *told]
    if found.divergence:
        pairs = found.divergence, found.certified_pairs
        return [*(certified_divergence_lines(*pairs, code) if certify else []), *told]
    assert found.detection is not None
    if found.plan.goal is None:
        return [*told, "", *table(found.detection)]
    about = f"  {sentences.priors(found.model.domain, found.case)}"
    if found.halved:
        first, *more = bisection_lines(found.halved)
        return [first, about, *more, *told]
    if certify:
        return [*certified_event_lines(found.model, found.certified, found.unknown, code), *told]
    assert found.tight is not None
    first, *more = tight_lines(found.tight)
    return [first, about, *more, *told]


def testing_document(found: SamplingResult) -> dict[str, Any]:
    """Returns the same as JSON data."""
    if found.audit:
        return audit_document(found.audit)
    tested = found.detection or found.sets or found.divergence
    assert tested is not None
    told = detected_document(tested)
    certify = found.plan.goal is SamplingGoal.CERTIFY
    if found.sets:
        known = found.model, found.certified_sets, found.unknown
        return told | (certified_set_document(*known) if certify else {})
    if found.divergence:
        return told | (certified_divergence_document(found.certified_pairs) if certify else {})
    about = json_documents.inputs(found.case)
    if found.halved:
        return told | bisection_document(found.halved) | about
    if certify:
        return told | certified_event_document(found.model, found.certified, found.unknown)
    return told | tight_document(found.tight) | about if found.tight else told
