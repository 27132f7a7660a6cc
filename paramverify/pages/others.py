"""The findings about interactive systems and about formulas of dpCTL*."""

from __future__ import annotations

from paramverify import printable
from paramverify.algebra.domains import in_words
from paramverify.answers import Standing
from paramverify.interactive.probability_bounds import power
from paramverify.models.systems.transition_systems import is_zero
from paramverify.pages.markup import Element, Part, h
from paramverify.pages.parts import (
    TableCell,
    badge,
    facts,
    folded,
    left_out,
    listing,
    paragraph,
    section,
    table,
)
from paramverify.pages.work import LogicWork, SystemWork
from paramverify.reports import logic_reports as told_logic
from paramverify.reports.interactive_reports import brief, row, shown
from paramverify.verdicts import Holds, Violated

_TOGETHER = {
    Standing.HOLDS: "Every formula is true.",
    Standing.VIOLATED: "Not every formula is true.",
    Standing.UNKNOWN: "Not every formula is decided.",
}
MOST_STATES = 40  # whose steps are listed
FEW = 12  # steps that are not folded


def system_question(work: SystemWork) -> list[Part]:
    """Returns what is asked of an interactive system."""
    case, system = work.case, work.case.system
    names = system.actions
    asked = (
        "Can somebody who asks the queries and sees the responses tell whether one data point more was put "
        "in? It is private if for all inputs that differ in one inserted data point, and every set of "
        "observations, the two probabilities differ by no more than the factor of the budget, both ways."
    )
    about: list[tuple[str, Part]] = [
        ("budget", h("code", case.budget)),
        ("data points", _listed(names.data)),
        ("queries", _listed(names.queries)),
        ("responses", _listed(names.responses)),
        ("states", f"{len(system.states):,}"),
        ("parameters", case.domain.told() or "none: all numbers are fixed"),
    ]
    return [paragraph(asked), facts(about), _steps(work)]


def _listed(names: tuple[str, ...]) -> Part:
    return row(names, range(len(names))) if names else "none"


def _steps(work: SystemWork) -> Element:
    case, system = work.case, work.case.system
    if len(system.states) > MOST_STATES:
        return left_out("The steps of the system", f"{len(system.states):,} states are too many for a table")
    rows = [
        [
            printable.name(system.states[state]),
            printable.name(system.actions.names[action]),
            printable.name(system.states[successor]),
            brief(case, weight),
        ]
        for state, steps in enumerate(system.rows)
        for action, distribution in steps.items()
        for successor, weight in distribution
    ]
    head: list[Part] = ["in state", "action", "next state", "probability"]
    shown = table("Steps of the system", head, rows, sortable=True)
    return shown if len(rows) <= FEW else folded(f"The steps of the system, {len(rows)}", shown)


def system_verdict(work: SystemWork) -> Element:
    """Returns the verdict about an interactive system with its proof or witness in words."""
    case, report = work.case, work.report
    where = (
        f" for all {case.domain.told()}" if case.domain.told() and isinstance(report.verdict, Holds) else ""
    )
    told = f" differential noninterference with {case.budget}{where}."
    parts: list[Part] = [paragraph(badge(report.status, report.status.of_case), told)]
    if isinstance(report.verdict, Violated):
        parts.append(_refutation(work))
    elif not isinstance(report.verdict, Holds):
        parts.append(paragraph(printable.line(report.reason)))
    if report.family:
        steps = report.family.steps
        total = shown(case, power(report.family.ratio, steps))
        each = shown(case, report.family.ratio)
        words = f"{steps} step{'s' * (steps != 1)} of ratio {each}, together {total}"
        parts.append(paragraph(f"An unwinding family proves it: {words}."))
    if report.costs and report.costs.ratio is not None:
        parts.append(
            paragraph(f"Steps paid with what they leak have the ratio {shown(case, report.costs.ratio)}.")
        )
    if report.failure:
        parts.append(paragraph(f"The unwinding family of the case fails: {report.failure.reason}."))
    return section("Verdict", parts)


def _refutation(work: SystemWork) -> Element:
    case, report = work.case, work.report
    found = report.refutation
    assert found is not None
    names = case.system.actions.names
    left, right = found.probabilities
    at = in_words(report.parameters)
    ratio = "infinite: the second probability is zero" if is_zero(right) else brief(case, left / right)
    return facts(
        [
            *([("parameters", at)] if at else []),
            ("inputs", row(names, found.left)),
            ("against", row(names, found.right)),
            ("observed", row(names, found.event.trace) + (", then nothing" if found.event.closed else "")),
            ("probabilities", f"{brief(case, left)} and {brief(case, right)}"),
            ("ratio", ratio),
            ("bound", brief(case, report.bound)),
        ]
    )


def logic_question(work: LogicWork) -> list[Part]:
    """Returns what is asked of a chain or a decision process."""
    case, chain = work.case, work.case.chain
    what = "decision process" if chain.is_decision_process else "Markov chain"
    about: list[tuple[str, Part]] = [
        ("model", f"a {what} with {len(chain.states):,} states"),
        ("initial states", ", ".join(printable.name(chain.states[s]) for s in chain.initial[:MOST_STATES])),
        ("pairs of neighbours", f"{case.relation.size // 2:,}"),
        ("parameters", case.domain.told() or "none: all numbers are fixed"),
    ]
    asked = "Is each formula true in every initial state, at every point of the parameters?"
    rows = [[h("code", name), h("code", found.text)] for name, found in case.properties.items()]
    return [paragraph(asked), facts(about), table("Formulas of dpCTL*", ["name", "formula"], rows)]


def logic_verdict(work: LogicWork) -> Element:
    """Returns what was found about each formula, with counterexamples in words."""
    rows: list[list[Part | TableCell]] = []
    for name, result in work.results.items():
        word = result.status.of_claim
        how = "; ".join(method.value for method in result.methods)
        count = str(result.comparisons)
        rows.append(
            [h("code", name), TableCell(badge(result.status, word), word), TableCell(count, count), how]
        )
    told: list[Part] = []
    for name, result in work.results.items():
        if result.counterexample:
            lines = told_logic.counterexample_lines(result.counterexample, work.case.properties[name])
            told.append(section(f"Why {name} is false", listing("\n".join(lines), "Counterexample"), level=4))
        elif result.reason:
            told.append(paragraph(h("code", name), f": {printable.line(result.reason)}."))
    head: list[Part] = ["formula", "verdict", "comparisons", "method"]
    together = paragraph(badge(work.standing, work.standing.of_claim), f" {_TOGETHER[work.standing]}")
    return section("Verdict", together, table("Verdict on each formula", head, rows, sortable=True), told)


def nothing_to_map(what: str) -> Element:
    """Returns the section that says why there is no map."""
    return section("Map", left_out("There is no map", what))
