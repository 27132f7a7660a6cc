"""The answers about interactive systems."""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction
from typing import Any

from paramverify.algebra.exact_numbers import ExactNumber
from paramverify.answers import Standing
from paramverify.bounds import AnyBounds, Bounds
from paramverify.errors import InputError
from paramverify.evidence import envelope
from paramverify.interactive import system_certificates
from paramverify.interactive.pinq_induction import every, read_program
from paramverify.interactive.system_cases import InteractiveCase, load
from paramverify.interactive.system_verification import InteractiveBudget, tight_budget
from paramverify.interactive.system_verification import verify as verify_system
from paramverify.models.settings import with_settings
from paramverify.models.systems.transition_systems import is_number
from paramverify.models.systems.transition_systems import text as weight_text
from paramverify.portfolio.session import Options
from paramverify.reports import every_slots, interactive_reports
from paramverify.reports.interactive_reports import exact, shown
from paramverify.reports.pictures.dot_graphs import system_dot
from paramverify.subjects.questions import PRECISION, Budget, Explain, Show, Verify
from paramverify.subjects.results import Result, ShowFacts
from paramverify.subjects.subject import CaseFile, Watch
from paramverify.verdicts import Unknown

SHARE = 0.8  # of the time that is left for a budget; building what is said takes some too


def verify(file: CaseFile, asked: Verify, options: Options, watch: Watch) -> Result:
    """Decides differential noninterference; with `every`, for every number of slots and points at once."""
    if asked.every:
        return _every(file, asked)
    case = _case(file, watch, bounded=True)
    size = len(case.system.states)

    def searched(what: str, done: int, total: int) -> None:
        tried = f"; {done} of {total} {what} {'was' if done == 1 else 'were'} tried" if done else ""
        document = {"states": size, "stage": what, "done": done, "total": total}
        watch.found([f"  the system has {size:,} states{tried}."], document)
        watch.progress(done, total)

    found = verify_system(case, options, searched)
    lines, document = (
        list(interactive_reports.all_verdict_lines(case, found)),
        interactive_reports.verdict_document(case, found),
    )
    if asked.points is not None:
        several = interactive_reports.several(case, found, asked.points)
        lines, document = [*lines, f"  {several['statement']}"], document | {"points": several}
    reason = (
        f"{found.verdict.end.value}: {found.verdict.detail}" if isinstance(found.verdict, Unknown) else ""
    )
    return Result(
        lines,
        document,
        seconds=found.seconds,
        standing=found.status,
        ending=found.status,
        notes=tuple(interactive_reports.remarks(case, found)),
        reason=reason,
        found=found,
        evidence=lambda: system_certificates.evidence_document(case, found, options),
    )


def _every(file: CaseFile, asked: Verify) -> Result:
    """Proves a budget for every t, maxPts, data and set K of functions with ε."""
    if asked.points is not None:
        raise InputError("--every is about all slots at once: it takes neither --dot nor --points")
    if file.settings:
        raise InputError("--every is about all values at once: leave -D out", key="-D")
    with file.as_file():
        program, title, digest = read_program(str(file.path))
    found = every(program)
    status = Standing.UNKNOWN if found.reason else Standing.HOLDS
    about = {"program": program.document(), "forms": [list(form) for form in found.forms]}
    own = {"kind": "slots", **about, "steps": found.steps}
    case = {"case": {"title": title, "digest": digest}}
    evidence = (
        None if found.reason else (lambda: envelope.document(status.value, case, envelope.statements(own)))
    )
    return Result(
        every_slots.lines(found),
        every_slots.document(found, status, about),
        standing=status,
        ending=status,
        reason=found.reason,
        found=found,
        evidence=evidence,
        no_evidence="for what is undecided",
    )


def budget(file: CaseFile, asked: Budget, options: Options, watch: Watch) -> Result:
    """Finds the largest ratio over all inputs that differ in one data point, and all observations."""
    if asked.of_sets:
        raise InputError("delta_for and epsilon_for are for cases with [mechanism] and [privacy]")
    end = time.monotonic() + options.seconds
    case = _case(file, watch)

    def so_far(best: InteractiveBudget) -> None:
        """Keeps the bounds, in case that a limit ends the run."""
        bounds = {"ratio_lower": "unknown", "ratio_upper": "unknown"}
        bounds |= {"ratio_lower": shown(case, best.lower)} if best.lower is not None else {}
        bounds |= {"ratio_upper": shown(case, best.upper)} if best.upper is not None else {}
        words = f"  the largest ratio is at least {bounds['ratio_lower']}"
        most = f", and at most {bounds['ratio_upper']}" if best.upper is not None else ""
        watch.found([f"{words}{most}."], bounds)

    share = replace(options, seconds=SHARE * max(end - time.monotonic(), 0.0))
    found = tight_budget(case, share, so_far)
    known = found.boundless or found.exact or _near(found, asked.precision or PRECISION)
    return Result(
        list(interactive_reports.all_budget_lines(case, found)),
        interactive_reports.budget_document(case, found),
        seconds=found.seconds,
        ending=Standing.HOLDS if known else Standing.UNKNOWN,
        notes=tuple(case.checks.notes),
        bounds=(_bounds(case, found),),
        found=found,
        evidence=lambda: system_certificates.budget_document(case, found, options),
    )


def _near(found: InteractiveBudget, width: Fraction) -> bool:
    """Tells whether the bounds are numbers within the precision."""
    bounds = [found.lower, found.upper]
    if not all(b is not None and is_number(b) for b in bounds):
        return False
    low, high = (Fraction(weight_text(b)) for b in bounds)
    return high - low <= width * low


def _bounds(case: InteractiveCase, found: InteractiveBudget) -> AnyBounds:
    numbers = [None if w is None else exact(case, w) for w in (found.lower, found.upper)]
    low, high = (None if n is None else ExactNumber(n) for n in numbers)
    if found.boundless:
        low = high = ExactNumber(None)
    elif found.upper is None:
        high = ExactNumber(None)
    attained = found.growth is None if found.boundless else True if found.exact else None
    return Bounds("ratio", low, high, attained)


def explain(file: CaseFile, asked: Explain, options: Options, watch: Watch) -> Result:
    """Says what was understood of a system."""
    from paramverify.reports.case_explanations import lines, system_understood

    del asked, options
    found = system_understood(_case(file, watch), with_settings(file.tables, file.settings))
    return Result(lines(found), found.document(), found=found)


def show(file: CaseFile, asked: Show, options: Options, watch: Watch) -> Result:
    """Returns the size of a system, and the system as a graph."""
    del options
    case = _case(file, watch)
    size = len(case.system.states)
    if asked.graph:
        text = system_dot(case.system)
        return Result(
            text.splitlines(), {"graph": text}, found=case, facts=ShowFacts(text, graph=lambda: text)
        )
    line = f"{case.title}: {size:,} states; `--graph` (in Python `graph()`) shows them as a graph"
    document: dict[str, Any] = {"title": case.title, "states": size}
    return Result([line], document, found=case, facts=ShowFacts(graph=lambda: system_dot(case.system)))


def _case(file: CaseFile, watch: Watch, bounded: bool = False) -> InteractiveCase:
    """Reads a system; where a bound is needed, its reader says that it is missing."""

    def explored(done: int, total: int) -> None:
        document = {"stage": "states", "done": done, "total": total}
        watch.found([f"  {done:,} states were explored, and {total:,} were known."], document)
        watch.progress(done, total)

    case: InteractiveCase = file.content(
        lambda given: load(given.path, explored, bounded=bounded, settings=given.settings)
    )
    if bounded and not case.bounded:
        with file.as_file():
            load(file.path, settings=file.settings)
    return case
