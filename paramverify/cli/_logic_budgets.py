"""The least budgets of `paramverify logic`: delta for an epsilon, epsilon for a delta, and the curve."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from paramverify.algebra.budgets import read_epsilon
from paramverify.algebra.expressions import parse
from paramverify.algebra.polynomials import to_rational_function
from paramverify.cli import _output
from paramverify.cli._common import print_json, say
from paramverify.cli._exits import Exit
from paramverify.cli._pictures import Picture
from paramverify.errors import LimitError, located
from paramverify.logic.budgets import Corner, Least, curve, least_delta, least_ratio
from paramverify.logic.syntax import Property
from paramverify.logic.verification import LogicSession
from paramverify.processes.alarms import Lift
from paramverify.reports import logic as reports
from paramverify.reports.pictures.deltas import write_curve
from paramverify.reports.text import session_words


@dataclass(frozen=True)
class LogicTarget:
    """What is to be found: the least delta for an epsilon, the least epsilon for a delta, a curve."""

    epsilon: str | None
    delta: str | None
    curve: bool
    plot: Picture | None

    @property
    def any(self) -> bool:
        """Whether anything is."""
        return self.epsilon is not None or self.delta is not None or self.curve


@dataclass
class _Answer:
    """What is known of the budgets of one property: lines, the same as JSON data, and its curve so far."""

    lines: list[str] = field(default_factory=list)
    document: dict[str, Any] = field(default_factory=dict)
    corners: list[Corner] = field(default_factory=list)
    enough: bool = True  # whether every least budget has an upper bound

    def least(self, kind: str, found: Least, line: str) -> None:
        """Takes a least delta or ratio."""
        self.enough &= found.infinite or found.upper is not None
        self.document[kind] = reports.least(found)
        self.lines.append(line)


def find_budgets(work: LogicSession, wanted: LogicTarget, as_json: bool, lift: Lift) -> int:
    """Finds the budgets of all formulas, draws their curves after the time limit, and tells them.

    Raises:
        LimitError: a limit ended the search; what is known of the curves was drawn, and is told.
    """
    answers: dict[str, _Answer] = {}
    try:
        for name, found in work.case.properties.items():
            answers[name] = _Answer(document={"formula": found.text})
            with located(key=name):
                _search(work, name, found, wanted, answers[name])
            if wanted.curve:
                _tell_curve(work, name, answers[name])
            _output.add("budgets", {"property": name, **answers[name].document}, *answers[name].lines)
    except LimitError:
        lift()
        _keep_part(work, wanted, answers)
        raise
    lift()
    _draw(work, wanted, answers)
    more, words = session_words(work.session.words)
    if as_json:
        documents = {name: answer.document for name, answer in answers.items()}
        print_json({"budgets": documents, **words, "notes": list(work.case.relation.notes)})
    else:
        for line in (*(line for answer in answers.values() for line in answer.lines), *more):
            say(line)
    return Exit.HOLDS if all(answer.enough for answer in answers.values()) else Exit.UNKNOWN


def _search(work: LogicSession, name: str, found: Property, wanted: LogicTarget, answer: _Answer) -> None:
    """Finds what is wanted of one property, and puts it into the answer as it comes."""
    ring = work.chain.domain.ring
    if wanted.epsilon is not None:
        ratio = read_epsilon(parse(wanted.epsilon)).ratio(ring, lambda e: to_rational_function(e, ring))
        answer.document["epsilon_given"] = wanted.epsilon
        least = least_delta(work, found, ratio)
        told = reports.least_line(name, found, least, f"epsilon = {wanted.epsilon}", "delta")
        answer.least("delta", least, told)
    if wanted.delta is not None:
        answer.document["delta_given"] = wanted.delta
        least = least_ratio(work, found, to_rational_function(parse(wanted.delta), ring))
        told = reports.least_line(name, found, least, f"delta = {wanted.delta}", "ratio")
        answer.least("ratio", least, told)
        answer.document["epsilon"] = reports.epsilon(least)
    if wanted.curve:
        for corner in curve(work, found):
            answer.corners.append(corner)


def _tell_curve(work: LogicSession, name: str, answer: _Answer) -> None:
    """Adds the curve as far as it is known."""
    corners = answer.corners
    linear = work.chain.numeric and not work.chain.domain.ring.parameters
    answer.lines.append(reports.curve_heading(name, corners, linear))
    answer.lines += reports.corner_lines(corners, linear)
    answer.document["curve"] = [
        {"ratio": str(c.ratio), "epsilon": c.epsilon, "delta": str(c.delta), "exact": c.exact}
        for c in corners
    ]


def _keep_part(work: LogicSession, wanted: LogicTarget, answers: dict[str, _Answer]) -> None:
    """Tells and draws what is known when a limit ends the search: of the last property a part."""
    name, last = list(answers.items())[-1]
    if last.corners:
        _tell_curve(work, name, last)
        last.document["curve_is_whole"] = False
        far = f"beyond epsilon ≈ {last.corners[-1].epsilon:.6g}"
        last.lines.append(f"  The curve of {name} is not known {far}.")
    if last.lines:
        _output.add("budgets", {"property": name, **last.document}, *last.lines)
    what = ", so there is no picture of it" if wanted.plot else ""
    for missing in work.case.properties if wanted.curve else ():
        if missing not in answers or not answers[missing].corners:
            _output.add("without_curve", missing, f"  No point of the curve of {missing} is known{what}.")
    _draw(work, wanted, answers, part=name)


def _draw(work: LogicSession, wanted: LogicTarget, answers: dict[str, _Answer], part: str = "") -> None:
    """Draws the curves that are known; that of the property `part` is not whole."""
    if not wanted.plot:
        return
    plot, several = wanted.plot.path, len(work.case.properties) > 1
    # The time limit was lifted: half a picture is none.
    for name, answer in answers.items():
        if answer.corners:
            path = plot.with_name(f"{plot.stem}-{name}{plot.suffix}") if several else plot
            text, whole = work.case.properties[name].text, name != part
            write_curve(answer.corners, text, path, whole=whole, page=wanted.plot.page)
