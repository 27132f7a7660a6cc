"""The answers about chains and decision processes: formulas of dpCTL*, probabilities, and least budgets."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from paramverify.algebra.budgets import read_epsilon
from paramverify.algebra.expressions import parse
from paramverify.algebra.polynomials import to_rational_function
from paramverify.answers import Standing
from paramverify.errors import InputError, LimitError, located
from paramverify.logic.formula_budgets import Corner, Least, curve, least_delta, least_ratio
from paramverify.logic.formula_families import check_property
from paramverify.logic.formula_syntax import Property
from paramverify.logic.logic_cases import LogicCase
from paramverify.logic.probability_comparisons import SchedulerChoice
from paramverify.logic.property_checking import FormulaResult as Checked
from paramverify.logic.property_checking import LogicSession, answer
from paramverify.logic.property_checking import QuestionAnswer as Said
from paramverify.models.settings import with_settings
from paramverify.portfolio.session import Options, Session
from paramverify.reports import logic_reports as reports
from paramverify.reports.logic_evidence import evidence_of
from paramverify.reports.sentences import session_words
from paramverify.subjects.questions import Budget, Explain, Verify
from paramverify.subjects.results import FormulaFacts, Result
from paramverify.subjects.subject import CaseFile, Watch
from paramverify.tables import in_case


def verify(file: CaseFile, asked: Verify, options: Options, watch: Watch) -> Result:
    """Checks the formulas one after the other, and answers the questions for probabilities."""
    case = _case(file)
    for name in case.questions:
        with located(key=name):
            if asked.evidence:
                raise InputError(
                    "--evidence is for formulas that are true or false, and this asks for a number"
                )
            if not asked.numbers:
                raise InputError("P=? asks for a number and claims nothing: use `paramverify logic`")
    started = time.perf_counter()
    results: dict[str, Checked] = {}
    said: dict[str, Said] = {}
    with Session(options) as session, in_case(case.path, case.text):
        work = _prepared(case, session, SchedulerChoice(asked.method or SchedulerChoice.AUTO))
        domain = work.chain.domain
        for name in case.order:
            with located(key=name):
                if name in case.questions:
                    question = case.questions[name]
                    said[name] = answer(work, question)
                    entry = {"property": name, **reports.question_document(question, said[name], domain)}
                    watch.entry("answers", entry, *reports.question_lines(name, question, said[name], domain))
                    continue
                formula = case.properties[name]
                results[name] = check_property(work, formula, watch.progress)
            if results[name].status is Standing.VIOLATED:
                watch.violated(Standing.VIOLATED.of_claim)
            watch.entry(
                "properties",
                reports.entry(name, formula, results[name]),
                *reports.formula_lines(name, formula, results[name], domain),
            )
    standing = reports.status(results) if results else Standing.HOLDS
    unanswered = any(found.unknown is not None for found in said.values())
    seconds = time.perf_counter() - started
    obligations = [decision for _, decision in work.obligations]
    numbers = {
        name: reports.question_document(case.questions[name], found, domain) for name, found in said.items()
    }
    document: dict[str, Any] = {"answers": numbers} if numbers else {}
    if results:
        document = reports.formula_document(case, results, standing, seconds, obligations) | document
    else:
        document["seconds"] = round(seconds, 6)
    told = {
        name: reports.question_lines(name, case.questions[name], found, domain)
        for name, found in said.items()
    }
    first = next((name for name, found in results.items() if found.reason), "")

    @cache
    def evidence() -> tuple[dict[str, Any], list[str]]:
        """Returns the evidence, and remarks about what has none."""
        with Session(options) as again:
            return evidence_of(replace(work, session=again), results)

    return Result(
        reports.all_lines(case, results, obligations, told),
        document,
        seconds=seconds,
        standing=standing if results else None,
        ending=Standing.UNKNOWN if unanswered and standing is Standing.HOLDS else standing,
        notes=tuple(reports.notes(case)),
        reason=f"{first}: {results[first].reason}" if first else "",
        found=results,
        evidence=lambda: evidence()[0],
        facts=FormulaFacts(
            {name: found.status.of_claim for name, found in results.items()}, lambda: evidence()[1]
        ),
    ).remarked(session)


def explain(file: CaseFile, asked: Explain, options: Options, watch: Watch) -> Result:
    """Says what was understood of a model and its formulas."""
    from paramverify.reports.case_explanations import lines, logic_understood

    del asked, options, watch
    found = logic_understood(_case(file), with_settings(file.tables, file.settings))
    return Result(lines(found), found.document(), found=found)


def _case(file: CaseFile) -> LogicCase:
    found: LogicCase = file.content()
    return found


def _prepared(case: LogicCase, session: Session, choice: SchedulerChoice) -> LogicSession:
    """Returns the work on a model whose probabilities are probabilities.

    Raises:
        LimitError: that is not known.
    """
    work = LogicSession(case, session, choice)
    if doubt := work.prepare():
        raise LimitError(f"the model is in doubt: {doubt.detail}")
    return work


# --- least budgets ------------------------------------------------------------------------------------


@dataclass
class _LeastOf:
    """What is known of the budgets of one formula: lines, the same as JSON data, and its curve so far."""

    lines: list[str] = field(default_factory=list)
    document: dict[str, Any] = field(default_factory=dict)
    corners: list[Corner] = field(default_factory=list)
    enough: bool = True  # whether every least budget has an upper bound

    def least(self, kind: str, found: Least, line: str) -> None:
        """Takes a least delta or ratio."""
        self.enough &= found.infinite or found.upper is not None
        self.document[kind] = reports.least(found)
        self.lines.append(line)


def budget(file: CaseFile, asked: Budget, options: Options, watch: Watch) -> Result:
    """Finds the least δ for an ε, the least ε for a δ, and the curve, of each formula with D.

    Raises:
        LimitError: a limit ended the search; what is known of the curves is drawn, and said.
    """
    case = _case(file)
    if not (asked.of_sets or asked.plot):
        mend = "ask with --delta-for, --epsilon-for or --curve (delta_for and epsilon_for in Python)"
        raise InputError(f"budget does not apply to this case: its formulas have budgets inside; {mend}")
    for name in case.questions:
        with located(key=name):
            raise InputError("only formulas with D have a least budget, and this one asks for a probability")
    found: dict[str, _LeastOf] = {}
    with Session(options) as session, in_case(case.path, case.text):
        work = _prepared(
            case, session, SchedulerChoice.AUTO if asked.method is None else SchedulerChoice(asked.method)
        )
        try:
            for name, formula in case.properties.items():
                found[name] = _LeastOf(document={"formula": formula.text})
                with located(key=name):
                    _search(work, name, formula, asked, found[name])
                if asked.curve or asked.plot:
                    _tell_curve(work, name, found[name])
                watch.entry("budgets", {"property": name, **found[name].document}, *found[name].lines)
        except LimitError:
            watch.known()
            _keep_part(work, asked, found, watch)
            raise
        watch.known()
        _draw(work, found, watch)
        more, words = session_words(session.words)
    documents = {name: each.document for name, each in found.items()}
    enough = all(each.enough for each in found.values())
    return Result(
        [*(line for each in found.values() for line in each.lines), *more],
        {"budgets": documents, **words, "notes": list(case.relation.notes)},
        ending=Standing.HOLDS if enough else Standing.UNKNOWN,
        notes=tuple(reports.notes(case)),
        found=found,
    )


def _search(work: LogicSession, name: str, formula: Property, asked: Budget, found: _LeastOf) -> None:
    """Finds what is wanted of one formula, and puts it into the answer as it comes."""
    ring = work.chain.domain.ring
    if asked.delta_for is not None:
        ratio = read_epsilon(parse(asked.delta_for)).ratio(ring, lambda e: to_rational_function(e, ring))
        found.document["epsilon_given"] = asked.delta_for
        least = least_delta(work, formula, ratio)
        found.least(
            "delta",
            least,
            reports.least_line(name, formula, least, f"epsilon = {asked.delta_for}", "delta"),
        )
    if asked.epsilon_for is not None:
        found.document["delta_given"] = asked.epsilon_for
        least = least_ratio(work, formula, to_rational_function(parse(asked.epsilon_for), ring))
        found.least(
            "ratio",
            least,
            reports.least_line(name, formula, least, f"delta = {asked.epsilon_for}", "ratio"),
        )
        found.document["epsilon"] = reports.epsilon(least)
    if asked.curve or asked.plot:
        for corner in curve(work, formula):
            found.corners.append(corner)


def _tell_curve(work: LogicSession, name: str, found: _LeastOf) -> None:
    """Adds the curve as far as it is known."""
    corners = found.corners
    linear = work.chain.numeric and not work.chain.domain.ring.parameters
    found.lines.append(reports.curve_heading(name, corners, linear))
    found.lines += reports.corner_lines(corners, linear)
    found.document["curve"] = [
        {"ratio": str(c.ratio), "epsilon": c.epsilon, "delta": str(c.delta), "exact": c.exact}
        for c in corners
    ]


def _keep_part(work: LogicSession, asked: Budget, found: dict[str, _LeastOf], watch: Watch) -> None:
    """Says and draws what is known when a limit ends the search: of the last formula a part."""
    if not found:
        return
    name, last = list(found.items())[-1]
    if last.corners:
        _tell_curve(work, name, last)
        last.document["curve_is_whole"] = False
        far = f"beyond epsilon ≈ {last.corners[-1].epsilon:.6g}"
        last.lines.append(f"  The curve of {name} is not known {far}.")
    if last.lines:
        watch.entry("budgets", {"property": name, **last.document}, *last.lines)
    what = ", so there is no picture of it" if asked.plot else ""
    for missing in work.case.properties if asked.curve or asked.plot else ():
        if missing not in found or not found[missing].corners:
            watch.entry("without_curve", missing, f"  No point of the curve of {missing} is known{what}.")
    _draw(work, found, watch, part=name)


def _draw(work: LogicSession, found: dict[str, _LeastOf], watch: Watch, part: str = "") -> None:
    """Lets the curves be drawn that are known; that of the formula `part` is not whole."""
    several = len(work.case.properties) > 1
    for name, each in found.items():
        if each.corners:
            text = work.case.properties[name].text
            watch.curve(each.corners, text, name if several else "", whole=name != part)
