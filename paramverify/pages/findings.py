"""What was found about a case: the verdict with its witness, the budget, the claims, the formulas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import islice
from typing import Any

from paramverify import printable
from paramverify.algebra.rationals import decimal_text
from paramverify.answers import Decision, Standing
from paramverify.claims import AllOutputs, Claim, Origin
from paramverify.divergences import Event
from paramverify.encodings.sequences import probabilities
from paramverify.errors import LimitError
from paramverify.evidence import number_words
from paramverify.evidence.witness import AnyWitness
from paramverify.evidence.witnesses import ExactCounterexample, ExactWitness
from paramverify.models.model import of_privacy
from paramverify.pages.markup import Element, Part, h
from paramverify.pages.parts import (
    ABOUT,
    Row,
    TableCell,
    badge,
    facts,
    folded,
    fraction,
    left_out,
    listing,
    number,
    paragraph,
    section,
    table,
)
from paramverify.pages.questions import formula
from paramverify.pages.summary import word
from paramverify.pages.work import PageOmission, PrivacyWork
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.runs import told_run
from paramverify.reports import budgets, case_budgets, verdict_reports
from paramverify.synthesis.case_budget import CaseBudget
from paramverify.verdicts import Violated, status_of

MOST_CLAIMS = 500
MOST_FORMULAS = 60


def verdict(work: PrivacyWork) -> Element:
    """Returns the verdict in words, and what shows a violation."""
    report, case = work.report, work.case
    first, *more = verdict_reports.headline(report, case)
    parts: list[Part] = [
        paragraph(badge(report.status, word(work)), " ", h("code", printable.line(first))),
        h("p", _in_words(work), class_="plain"),
    ]
    parts += [paragraph(printable.line(line)) for line in more]
    if isinstance(report.verdict, Violated):
        parts += _witness(report.verdict.witness, case)
    return section("Verdict", parts)


def _in_words(work: PrivacyWork) -> str:
    """Returns the verdict for somebody who does not know the words."""
    sides = "two neighbouring inputs" if work.case.neighbours else "the secrets of a pair"
    who = "" if work.case.neighbours else ", whichever prior of the family an attacker has"
    holds, violated = _NAMED[work.case.model.event]
    told = {Standing.HOLDS: holds, Standing.VIOLATED: violated}.get(work.standing, _OPEN)
    return told.format(sides=sides, who=who)


_NAMED = {
    Event.OUTPUT: (
        "No output tells {sides} apart by more than the budget allows{who}.",
        "An output tells {sides} apart by more than the budget allows.",
    ),
    Event.SET: (
        "No set of outputs tells {sides} apart by more than the budget allows{who}.",
        "A set of outputs tells {sides} apart by more than the budget allows.",
    ),
    Event.ALL: (
        "The outputs under {sides} are no farther apart than the bound allows{who}.",
        "The outputs under {sides} are farther apart than the bound allows.",
    ),
    Event.COMPARISON: (
        "The claim is true at every point of the parameters.",
        "The claim is false at a point of the parameters.",
    ),
}


_OPEN = "This was not decided: neither a proof nor a counterexample was found."


def _witness(found: AnyWitness, case: PrivacyCase) -> list[Part]:
    shown = _FACTS.get(type(found))
    told = verdict_reports.run_lines(told_run(case, found))
    run = [listing("\n".join(map(printable.line, told)), "The run of the program")] if told else []
    if shown is None:
        return [*(paragraph(printable.line(line)) for line in found.lines()), *run]
    return [shown(found), *run]


def _compared(found: ExactCounterexample) -> Element:
    rows: list[tuple[str, Part]] = _point(found.parameters)
    rows += [
        ("claim", h("code", found.stated.text)),
        ("left side", number(found.left)),
        ("right side", number(found.right)),
        ("left − right", number(found.difference)),
    ]
    return facts(rows)


def _leak(found: ExactWitness) -> Element:
    outputs = number_words.word(found.observations)
    left, right = found.probabilities
    rows = _point(found.parameters)
    rows += [(name, value) for name, value in found.meant.items()]
    rows += [
        ("output", h("code", outputs)),
        (f"Pr({outputs} | {printable.name(found.left)})", number(left)),
        (f"Pr({outputs} | {printable.name(found.right)})", number(right)),
        ("ratio", number(found.ratio) if found.ratio else "infinite: the second probability is zero"),
        ("bound", number(found.bound)),
    ]
    return h("div", paragraph("This shows it, exactly:"), facts(rows), paragraph(_OTHERS))


_OTHERS = "Another output may have a larger ratio at this point."


def _point(values: Mapping[str, Fraction]) -> list[tuple[str, Part]]:
    return [(name, fraction(value)) for name, value in values.items()]


_FACTS: Mapping[type, Callable[[Any], Element]] = {ExactCounterexample: _compared, ExactWitness: _leak}


def budget(work: PrivacyWork) -> Element:
    """Returns the tight budget, or why it is not here."""
    found = work.budget
    if isinstance(found, PageOmission):
        return section("Tight budget", left_out("The tight budget is left out", found.reason))
    if not isinstance(found, CaseBudget):
        told = case_budgets.divergence_lines(work.case, found, ())
        title, told = "Least bound", [line for line in told if not line.startswith("Note: ")]
    else:
        title, told = "Tight budget", case_budgets.told(work.case, found, work.around.multiple)
    lines = [told[0], *budgets.border_lines(work.around.border), *told[1:]]
    return section(title, [paragraph(printable.line(_capital(line.strip()))) for line in lines])


def _capital(line: str) -> str:
    """Returns a line with a capital letter, unless it begins with a name that is not a word."""
    return line if " = " in line[:10] else f"{line[:1].upper()}{line[1:]}"


def claims(work: PrivacyWork) -> Element:
    """Returns the claims with who decided them, to be sorted."""
    report = work.report
    about_privacy = not work.case.model.comparisons
    rows: list[Row] = []
    for place, claim in enumerate(report.claims[:MOST_CLAIMS]):
        decision = report.decisions[place] if place < len(report.decisions) else None
        rows.append(
            [TableCell(str(place + 1), str(place + 1)), *_claim(claim, about_privacy), *_settled(decision)]
        )
    if not rows:
        return left_out(
            "Claims", "the proof is about all of them together" if work.report.certificate else "none"
        )
    about: list[Part] = ["secret", "against", "output"] if about_privacy else ["comparison"]
    head = ["no.", *about, "merged", "verdict", "decided by", "seconds"]
    count = len(report.claims)
    title = f"{count:,} claim{'s' * (count != 1)}"
    if count > MOST_CLAIMS:
        title = f"The first {MOST_CLAIMS} of {title}"
    each = _CLAIMED.get(work.case.model.event, "a polynomial is nowhere negative")
    told = f"Each claim says that {each}. Equal claims are merged."
    return folded(title, paragraph(told), table(title, head, rows, sortable=True))


_CLAIMED = {Event.SET: "what its outputs have beyond c is at most δ in all"}


def _claim(claim: Claim, about_privacy: bool) -> list[Part | TableCell]:
    merged = str(len(claim.origins))
    first = claim.origins[0] if claim.origins else None
    if isinstance(first, AllOutputs):
        return [
            printable.name(first.left),
            printable.name(first.right),
            "all outputs",
            TableCell(merged, merged),
        ]
    if isinstance(first, Origin):
        names = [
            printable.name(first.left),
            printable.name(first.right),
            number_words.word(first.observations),
        ]
        return [*names, TableCell(merged, merged)]
    told = str(first) if first else "the cone of all sequences"
    return [h("code", told), *(["", ""] if about_privacy else []), TableCell(merged, merged)]


def _settled(decision: Decision | None) -> list[Part | TableCell]:
    if decision is None:
        return ["not tried", "", ""]
    standing = status_of(decision.answer)
    seconds = decimal_text(Fraction(decision.seconds).limit_denominator(10**6), 2)
    who = f"{decision.backend} {decision.version}".strip()
    word = TableCell(badge(standing, standing.of_claim), standing.of_claim)
    return [word, who, TableCell(f"{ABOUT}{seconds}", str(Fraction(seconds)))]


def formulas(case: PrivacyCase) -> Element:
    """Returns the probabilities of the outputs as formulas."""
    model = of_privacy(case.model, "a page", tied=True, densities=True)
    whole = model.whole or model
    if not whole.lengths:
        return left_out("Formulas of the outputs", "the case is about sequences of every length")
    try:
        listed = list(islice(probabilities(whole), MOST_FORMULAS + 1))
    except LimitError as error:
        return left_out("Formulas of the outputs", str(error))
    rows: list[Row] = [
        [printable.name(secret), number_words.word(word), formula(function, whole)]
        for word, secret, function in listed[:MOST_FORMULAS]
    ]
    title = "Probability of each output"
    if len(listed) > MOST_FORMULAS:
        title = f"Probability of an output, the first {MOST_FORMULAS}"
    side = "input" if case.neighbours else "secret"
    shown = table(title, [side, "output", "probability"], rows, sortable=True)
    return shown if len(listed) <= 12 else folded(title, shown)
