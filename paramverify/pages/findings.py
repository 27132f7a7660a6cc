"""What was found about a case, a system or formulas: verdict, witness, budget, claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import islice
from typing import Any

from paramverify import printable
from paramverify.algebra.domains import in_words
from paramverify.algebra.rationals import decimal_text
from paramverify.answers import Decision, Standing
from paramverify.claims import AllOutputs, Claim, Origin
from paramverify.divergences import Event
from paramverify.encodings.sequences import probabilities
from paramverify.errors import LimitError
from paramverify.evidence import number_words
from paramverify.evidence.witness import AnyWitness
from paramverify.evidence.witnesses import ExactCounterexample, ExactWitness
from paramverify.interactive.probability_bounds import power
from paramverify.kernel.strict_reading import counted
from paramverify.models.model import of_privacy
from paramverify.models.systems.transition_systems import is_zero
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
from paramverify.pages.work import LogicWork, PageOmission, PrivacyWork, SystemWork
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.runs import told_run
from paramverify.reports import budgets, case_budgets, verdict_reports
from paramverify.reports import logic_reports as told_logic
from paramverify.reports.interactive_reports import brief, row, shown
from paramverify.synthesis.case_budget import CaseBudget
from paramverify.verdicts import Holds, Violated, status_of

# --- findings ---------------------------------------------------------------------------------------

MOST_CLAIMS = 500
MOST_FORMULAS = 60


def verdict(work: PrivacyWork) -> list[Part]:
    """Returns what shows a violation, or one of larger inputs; nothing if there is none."""
    report, case = work.report, work.case
    if isinstance(report.verdict, Violated):
        return [section("Counterexample", _witness(report.verdict.witness, case))]
    if not report.larger:
        return []
    _, *more = verdict_reports.headline(report, case)
    shown = [paragraph(printable.line(line)) for line in more[:-1]]
    return [section("Counterexample of larger inputs", shown)]


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
    names = f"{printable.name(found.left)} than under {printable.name(found.right)}"
    told = f"At these values the output is more likely under {names}, by more than the bound allows:"
    return h("div", paragraph(told), facts(rows), paragraph(_OTHERS))


_OTHERS = "All these values are exact. Another output may have a larger ratio at this point."


def _point(values: Mapping[str, Fraction]) -> list[tuple[str, Part]]:
    return [(name, fraction(value)) for name, value in values.items()]


_FACTS: Mapping[type, Callable[[Any], Element]] = {ExactCounterexample: _compared, ExactWitness: _leak}


def budget(work: PrivacyWork) -> Element:
    """Returns the tight budget, or why it is not here."""
    found = work.budget
    if work.case.model.event is Event.SET:
        return section("Tight budget", left_out("The tight budget is left out", _PAIR))
    if isinstance(found, PageOmission):
        return section("Tight budget", left_out("The tight budget is left out", found.reason))
    if not isinstance(found, CaseBudget):
        told = case_budgets.least_of(work.case).lines(found, ())
        title, told = "Least bound", [line for line in told if not line.startswith("Note: ")]
    else:
        title, told = "Tight budget", case_budgets.told(work.case, found, work.around.multiple)
    if work.standing is Standing.HOLDS and isinstance(found, CaseBudget) and found.ratio.infinite:
        told = _without_limit(told)
    lines = [told[0], *budgets.border_lines(work.around.border), *told[1:]]
    return section(title, [paragraph(printable.line(_capital(line.strip()))) for line in lines])


_PAIR = "each delta has its own least epsilon; `paramverify budget --epsilon-for DELTA` finds it"
_UNBOUNDED = "no single number bounds"
_DEPENDS = (
    "how much this bound protects depends on the values of the parameters, and no single number is a bound "
    "for all of them"
)


def _without_limit(told: list[str]) -> list[str]:
    """Returns lines that say of a ratio without a largest value what the bound of the case means then."""
    places = [k for k, line in enumerate(told) if line.strip().lower().startswith(_UNBOUNDED)]
    kept = [line for k, line in enumerate(told) if k not in places and k - 1 not in places]
    return [*kept, *([_DEPENDS] if places else [])] or told


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
        why = (
            "one certificate proves all comparisons together"
            if work.report.certificate
            else "none was needed"
        )
        return left_out("There is no table of claims", why)
    about: list[Part] = ["under", "against", "output"] if about_privacy else ["comparison"]
    head = ["no.", *about, "merged", "verdict", "decided by", "seconds"]
    count = len(report.claims)
    title = f"{count:,} claim{'s' * (count != 1)}"
    if count > MOST_CLAIMS:
        title = f"The first {MOST_CLAIMS} of {title}"
    each = _CLAIMED.get(work.case.model.event, "a polynomial is nonnegative on the whole domain")
    told = f"Each claim states that {each}. Comparisons that lead to the same claim are merged."
    if origins := sum(len(claim.origins) for claim in report.claims):
        compared = f"{counted(origins, 'comparison')} of the case {'lead' if origins > 1 else 'leads'} to"
        told += (
            f" Here, {compared} {counted(count, 'claim')}; the column `merged` counts those of each claim."
        )
    return folded(title, paragraph(told), table(title, head, rows, sortable=True))


_CLAIMED = {Event.SET: "the parts of all probabilities above e^ε times the other one add up to at most δ"}


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
    word = TableCell(badge(standing, standing.of_claim), standing.of_claim)
    return [word, decision.by, TableCell(f"{ABOUT}{seconds}", str(Fraction(seconds)))]


def formulas(case: PrivacyCase) -> Element:
    """Returns the probabilities of the outputs as formulas."""
    model = of_privacy(case.model, "a page", tied=True, densities=True)
    whole = model.whole or model
    if not whole.lengths:
        return left_out(
            "The formulas of the outputs are left out", "the case is about sequences of every length"
        )
    try:
        listed = list(islice(probabilities(whole), MOST_FORMULAS + 1))
    except LimitError as error:
        return left_out("The formulas of the outputs are left out", str(error))
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


# --- the findings about interactive systems and about formulas of dpCTL* ----------------------------

MOST_STATES = 40  # whose steps are listed
FEW = 12  # steps that are not folded


def system_question(work: SystemWork) -> list[Part]:
    """Returns what is asked of an interactive system."""
    case, system = work.case, work.case.system
    names = system.actions
    asked = (
        "An observer sends the queries and sees the responses. The system is private if, for all inputs that "
        "differ in one inserted data point and for every set of observations, neither of the two "
        "probabilities is more than e^ε times the other, where e^ε is the ratio of the bound."
    )
    about: list[tuple[str, Part]] = [
        ("bound", h("code", case.budget)),
        ("data points", _listed(names.data)),
        ("queries", _listed(names.queries)),
        ("responses", _listed(names.responses)),
        ("states", f"{len(system.states):,}"),
        ("parameters", case.domain.told() or "none: all numbers are fixed"),
    ]
    return [paragraph(asked), facts(about)]


def _listed(names: tuple[str, ...]) -> Part:
    return row(names, range(len(names))) if names else "none"


def system_steps(work: SystemWork) -> Element:
    """Returns the steps of a system as a table."""
    case, system = work.case, work.case.system
    if len(system.states) > MOST_STATES:
        return left_out(
            "The steps of the system are left out", f"{len(system.states):,} states are too many for a table"
        )
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


_TITLES = {
    Standing.HOLDS: "Proof",
    Standing.VIOLATED: "Counterexample",
    Standing.UNKNOWN: "What was tried",
}


def system_verdict(work: SystemWork) -> Element:
    """Returns the proof about an interactive system in words, or the witness of a violation."""
    case, report = work.case, work.report
    where = (
        f" for all {case.domain.told()}" if case.domain.told() and isinstance(report.verdict, Holds) else ""
    )
    told = f"The property is differential noninterference with {case.budget}{where}."
    parts: list[Part] = [paragraph(told)]
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
            paragraph(
                f"If each step is charged what it leaks, the ratio is {shown(case, report.costs.ratio)}."
            )
        )
    if report.failure:
        parts.append(paragraph(f"The unwinding family of the case fails: {report.failure.reason}."))
    return section(_TITLES[report.status], parts)


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
    rows = [[h("code", name), h("code", found.text)] for name, found in case.properties.items()]
    return [facts(about), table("Formulas of dpCTL*", ["name", "formula"], rows)]


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
    return section("Verdicts", table("Verdict on each formula", head, rows, sortable=True), told)


def nothing_to_map(what: str) -> Element:
    """Returns the section that says why there is no map."""
    return section("Map", left_out("There is no map", what))
