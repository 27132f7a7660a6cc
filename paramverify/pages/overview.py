"""The summary at the top of an article: the question, the answer, the bound, and what the answer rests on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import assert_never

from paramverify import __version__, printable
from paramverify.algebra.budgets import Epsilon
from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Domain, number_at
from paramverify.algebra.polynomials import RationalFunction, variables
from paramverify.algebra.reals import Real
from paramverify.answers import Standing
from paramverify.divergences import Event
from paramverify.divergences.forms import PositiveParts
from paramverify.divergences.max_divergence import MaxDivergence
from paramverify.divergences.sums import SumDivergence
from paramverify.errors import LimitError
from paramverify.evidence import number_words
from paramverify.models.model import Model, of_privacy
from paramverify.models.neighbourhoods import ALONE
from paramverify.pages.handing import decisions
from paramverify.pages.markup import Element, Part, h
from paramverify.pages.parts import badge, facts, items, section
from paramverify.pages.summary import word
from paramverify.pages.work import Examined, LogicWork, PrivacyWork, Recheck, SystemWork
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.secrets import EXCLUDED
from paramverify.reports import sentences, verdict_reports
from paramverify.reports.interactive_reports import CONDITION
from paramverify.verdicts import Unknown

FORMULA = ", which depends on the parameters"
POSITIVE = re.compile(r"(\w+) in \(0, oo\)")
EPSILON = re.compile(r"\bepsilon = ([\d./e+-]+)(?:,|$)")


def overview(work: Examined) -> Element:
    """Returns the summary of a case of any kind, in words that need no knowledge of the rest of the page."""
    match work:
        case PrivacyWork():
            asked, about = _asked(work), _about(work)
        case SystemWork():
            asked, about = _asked_of_system(work), _about_system(work)
        case LogicWork():
            asked, about = FORMULAS, _about_formulas(work)
        case _:
            assert_never(work)
    answer: list[Part] = [badge(work.standing, word(work)), " ", _answer(work)]
    rows: list[tuple[str, Part]] = [
        ("Question", asked),
        ("Answer", answer),
        *about,
        ("Rests on", _listed(_rests(work))),
        ("Re-checked", rechecked(work.recheck, work.standing)),
        ("Date", f"{work.made:%Y-%m-%d} (UTC)"),
        ("Version", f"paramverify {__version__}"),
        ("SHA-256 of the case", h("code", work.case.digest, class_="case-digest")),
    ]
    return section("Summary", facts(rows), class_="summary")


def _listed(lines: Sequence[str]) -> Part:
    return lines[0] if len(lines) == 1 else items(lines)


# --- what was asked ---------------------------------------------------------------------------------

SYSTEM = (
    "If two inputs of the system differ in one inserted data point, is every set of observations at most "
    "e^ε times as likely under one of them as under the other{who}?"
)
FORMULAS = "Is each formula true in every initial state, at every point of the domain of the parameters?"


def _asked(work: PrivacyWork) -> str:
    case = work.case
    if case.model.comparisons:
        return "Is the claim true at every point of the domain of its parameters?"
    return asked(of_privacy(case.model, "a page", tied=True, densities=True), case.neighbours)


def _asked_of_system(work: SystemWork) -> str:
    return SYSTEM.format(who=f", provided that {CONDITION}" if work.case.system.partial else "")


def asked(model: Model, neighbours: bool) -> str:
    """Returns the question of a case about privacy as one sentence."""
    what = "output" if tuple(model.lengths) == (1,) else "sequence of outputs"
    if model.event is Event.SET or (model.whole or model).hmm.densities:
        what = f"set of {what}s" if what == "output" else "set of sequences of outputs"
    one = "one of two neighbouring inputs" if neighbours else "one secret of a pair"
    other = "the other input" if neighbours else "the other secret"
    who = "" if neighbours else ", for every prior that the case describes"
    if model.side_condition:
        who += f", if {model.side_condition}"
    match model.event:
        case Event.ALL:
            of = "two neighbouring inputs" if neighbours else "the two secrets of a pair"
            return f"Are the distributions of the outputs under {of} within the bound of each other{who}?"
        case Event.SET:
            bound = "e^ε times as likely"
            return f"Is every {what} at most {bound}, plus δ, under {one} as under {other}{who}?"
        case _:
            far = ", where ε depends on their distance" if model.measure.distances else ""
            return f"Is every {what} at most e^ε times as likely under {one} as under {other}{far}{who}?"


# --- the answer -------------------------------------------------------------------------------------

_YES = {
    Event.COMPARISON: "Yes: the claim is true at every such point.",
}
_NO = {
    Event.COMPARISON: "No: the claim is false at the point below.",
}
_KEPT = "Yes: the bound is never exceeded."
_LARGER = "This is not true for larger inputs, as the counterexample below shows."
_EXCEEDED = "No: the counterexample below exceeds the bound."
_OPEN = "No answer was found: there is neither a proof nor a counterexample. Do not treat it as {good}."


def _answer(work: Examined) -> str:
    good = "private" if not isinstance(work, LogicWork) and not _is_claim(work) else "true"
    if work.standing is Standing.UNKNOWN:
        return _OPEN.format(good=good)
    yes = work.standing is Standing.HOLDS
    if isinstance(work, LogicWork):
        return "Yes: every formula is true." if yes else "No: not every formula is true; see below."
    if isinstance(work, SystemWork):
        held = f"Yes, if {CONDITION}." if work.case.system.partial else _KEPT
        return held if yes else _EXCEEDED
    model = work.case.model
    if not yes:
        return _NO.get(model.event, _EXCEEDED)
    told = _YES.get(model.event, _KEPT)
    if model.side_condition:
        told = f"Yes{sentences.but(model).replace(';', ',', 1)}."
    return f"{told} {_LARGER}" if work.report.larger else told


def _is_claim(work: PrivacyWork | SystemWork) -> bool:
    return isinstance(work, PrivacyWork) and bool(work.case.model.comparisons)


# --- the bound, the inputs and the parameters -----------------------------------------------------------


def _about(work: PrivacyWork) -> list[tuple[str, Part]]:
    case, domain = work.case, work.case.model.domain
    if case.model.comparisons:
        texts = dict.fromkeys(c.text for c in case.model.comparisons)
        return [("Claim", [h("div", h("code", text)) for text in texts]), ("Parameters", _parameters(domain))]
    model = of_privacy(case.model, "a page", tied=True, densities=True)
    priors = "every prior that the case file describes, with all values of the parameters below"
    if not _has_several_priors(case):
        priors = "the one prior of the case file"
    if case.neighbours:
        priors = "not part of the question: inputs are compared directly"
    return [
        ("Bound", _bound(case.budget, model)),
        ("Inputs", _listed([printable.line(case.over), *_noted(work, ALONE)])),
        ("Priors", _listed([priors, *_noted(work, EXCLUDED)])),
        ("Parameters", _parameters(domain)),
    ]


def _has_several_priors(case: PrivacyCase) -> bool:
    """Tells whether the prior may depend on a parameter with more than one value; else there is one prior."""
    domain = case.model.domain
    free = {name for name, interval in domain.box.items() if name != GENERATOR and not interval.is_point}
    if case.prior is None or case.prior.weights is None:
        return bool(free)
    parts = [part for w in case.prior.weights.values() for part in (w.numerator, w.denominator)]
    return any(free.intersection(variables(part)) for part in parts)


def _noted(work: PrivacyWork, what: str) -> list[str]:
    """Returns the notes about what the verdict does not cover, as sentences."""
    return [printable.line(f"{note[:1].upper()}{note[1:]}.") for note in work.report.notes if what in note]


def _about_system(work: SystemWork) -> list[tuple[str, Part]]:
    case = work.case
    least = _decimals(_constant(case.ratio, case.domain), case.budget)
    bound: Part = [h("code", case.budget), least]
    return [
        ("Bound", bound),
        ("Inputs", "all pairs of input sequences that differ in one inserted data point"),
        ("Parameters", _parameters(case.domain)),
    ]


def _about_formulas(work: LogicWork) -> list[tuple[str, Part]]:
    count = len(work.case.properties)
    return [
        ("Formulas", f"{count}: {', '.join(map(printable.name, work.case.properties))}"),
        ("Parameters", _parameters(work.case.domain)),
    ]


def _parameters(domain: Domain) -> Part:
    told = POSITIVE.sub(r"\1 > 0", domain.told())
    return h("code", told) if told else "none: all numbers are fixed"


def _bound(budget: str, model: Model) -> Part:
    measure, domain = model.measure, model.domain
    shown = h("code", budget)
    if measure.distances:
        return [shown, ", which depends on the distance of the two inputs"]
    told = ""
    match measure:
        case MaxDivergence() | PositiveParts():
            told = _decimals(_constant(measure.ratio, domain), budget)
            delta = _constant(measure.delta, domain) if isinstance(measure, PositiveParts) else None
            told += f", δ {number_words.equals(delta)}" if delta else ""
            if isinstance(measure, PositiveParts) and delta is None and told != FORMULA:
                told += "; δ depends on the parameters"
        case SumDivergence():
            bound = _constant(measure.bound, domain)
            told = f", that is, {measure.value_told(bound)}" if bound else FORMULA
    return [shown, told]


def _constant(function: RationalFunction, domain: Domain) -> Real | None:
    """Returns the value of a function if it is the same at all points of a domain; None if it is not seen."""
    fixed = {name: interval.lower for name, interval in domain.box.items() if interval.is_point}
    used = {name for part in (function.numerator, function.denominator) for name in variables(part)}
    if used - fixed.keys() - {GENERATOR}:
        return None
    point = {name: fixed.get(name, Fraction(1, 2)) for name in domain.ring.parameters}
    top, bottom = (number_at(part, point) for part in (function.numerator, function.denominator))
    return Real.of(top, bottom, domain.constant)


def _decimals(ratio: Real | None, budget: str) -> str:
    """Returns epsilon as a decimal, if the budget does not have it, and the ratio, its exponential."""
    if ratio is None:
        return FORMULA
    epsilon = ""
    try:
        found = Epsilon.of(ratio)
        if found.low != found.high or not _is_written(found.low, budget):
            epsilon = f"epsilon {found.told()}, "
    except LimitError:
        pass
    return f", that is, {epsilon}e^ε = {number_words.number(ratio)}"


def _is_written(epsilon: Fraction | None, budget: str) -> bool:
    """Tells whether a budget in words has this epsilon as a number."""
    try:
        return any(Fraction(text) == epsilon for text in EPSILON.findall(budget))
    except ValueError:
        return False


# --- what the answer rests on -----------------------------------------------------------------------------


def _rests(work: Examined) -> list[str]:
    """Returns which procedures or solvers found the proof, or what shows that there is a violation."""
    if work.standing is Standing.UNKNOWN:
        return _open(work)
    if work.standing is Standing.VIOLATED:
        return ["a counterexample that paramverify evaluated from the model, without asking a solver"]
    told = _proof(work)
    trusted = sentences.words(decisions(work))
    if count := trusted["without_certificate"]:
        who = ", ".join(trusted["on_the_word_of"])
        told.append(f"the word of {who}: {count} proof{'s have' if count > 1 else ' has'} no certificate")
    else:
        told.append("every proof has a certificate, so no solver has to be trusted")
    return told


def _proof(work: Examined) -> list[str]:
    if isinstance(work, PrivacyWork):
        return [_uncapital(verdict_reports.headline(work.report, work.case)[-1].rstrip("."))]
    who = sentences.backends_used(decisions(work))
    found = [f"proofs of claims: {who}" if who else "exact evaluation of the model"]
    if isinstance(work, SystemWork):
        return [*(["an unwinding family"] if work.report.family else []), *found]
    how = dict.fromkeys(method.value for result in work.results.values() for method in result.methods)
    return [*([", ".join(how)] if how else []), *found]


def _open(work: Examined) -> list[str]:
    if isinstance(work, LogicWork):
        return ["no proof and no counterexample for some of the formulas"]
    verdict = work.report.verdict
    assert isinstance(verdict, Unknown)
    detail = [line.strip().rstrip(".") for line in verdict.detail.split("\n") if line.strip()]
    return [f"no proof and no counterexample ({verdict.end.value})", *map(printable.line, detail)]


def _uncapital(line: str) -> str:
    return f"{line[:1].lower()}{line[1:]}"


def rechecked(found: Recheck, standing: Standing) -> str:
    """Returns what the checker says of the evidence, in a sentence."""
    if found.reason:
        advice = "Use a longer --timeout, or run" if found.late else "Run"
        return f"no; {found.reason}. {advice} the commands under Evidence."
    if not found.accepted:
        return f"REJECTED by the checker: {found.counts}. Do not rely on this page."
    what = "what was proved so far was accepted" if standing is Standing.UNKNOWN else "accepted"
    how = "with exact arithmetic and without a solver"
    if found.trusted:
        how = "but it did not check what rests on the word of solvers"
    told = f"{what} by the checker when this page was written, {how}"
    told += f" ({found.counts})" if found.counts else ""
    if found.status != standing and standing is not Standing.UNKNOWN:
        told += "; the evidence shows less than the answer"
    return ". ".join([told, *found.second]) + "."
