"""What is found out about a case before its page is written: the verdict, its evidence, the budget, the map.

Each step has a share of the time. The verdict comes first; what the rest cannot find in its time is left out,
and the page says so with the reason.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from paramverify import printable
from paramverify.algebra.domains import check_names
from paramverify.answers import Standing
from paramverify.bounds import AnyBounds
from paramverify.errors import InputError, LimitError, TimeLimitError, located
from paramverify.files import read_file, standing_for
from paramverify.interactive import system_cases as systems
from paramverify.interactive.system_certificates import evidence_document as system_evidence
from paramverify.interactive.system_verification import Noninterference
from paramverify.interactive.system_verification import verify as verify_system
from paramverify.kernel.documents import counts_of
from paramverify.logic import logic_cases as logics
from paramverify.logic.formula_families import check_property
from paramverify.logic.property_checking import FormulaResult, LogicSession
from paramverify.models.model import need_formulas, of_privacy
from paramverify.models.settings import Settings
from paramverify.portfolio.obligations import Proofs, undoubted
from paramverify.portfolio.session import Options, Session
from paramverify.privacy import cases
from paramverify.privacy.verification import PrivacyReport
from paramverify.reports import case_budgets, evidence_checks, logic_reports
from paramverify.reports.case_evidence import evidence_document
from paramverify.reports.logic_evidence import evidence_of
from paramverify.subjects.kinds import InteractiveSubject, LogicSubject
from paramverify.subjects.questions import Hand
from paramverify.subjects.registry import opened
from paramverify.subjects.running import check_asked
from paramverify.subjects.subject import CaseFile
from paramverify.synthesis.borders import Beyond, beyond, border_of, verify_beyond
from paramverify.synthesis.case_budget import CaseBudget, case_budget
from paramverify.synthesis.safe_values import Intervals, MapOptions, Regions, default_coverage, safe_values
from paramverify.tables import MAX_BYTES

ROUGHLY = Fraction(1, 50)  # of a map may stay undecided, at least
PRECISION = Fraction(1, 10**9)  # of a budget that is not found exactly
VERDICT, CHECK, BUDGET = 0.5, 0.25, 0.5  # shares of the time that is left

Found = TypeVar("Found")
Limit = Callable[[float], AbstractContextManager[Any]]  # ends what is done within it after some seconds


@dataclass(frozen=True)
class Evidence:
    """Evidence as the text of a file, the name of that file, and the verdict that it shows alone."""

    name: str
    text: str
    status: str

    @property
    def digest(self) -> str:
        """The SHA-256 digest of the file."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @staticmethod
    def of(path: str, document: Mapping[str, Any]) -> Evidence:
        """Returns evidence about a case as it is written into a file."""
        text = printable.json_lines(document) + "\n"
        kept = text.encode(errors="backslashreplace").decode()
        return Evidence(f"{Path(path).stem}.evidence.json", kept, str(document.get("status", "")))


@dataclass(frozen=True, eq=False)
class CaseSource:
    """A case file as it is on disk: its path, its data, and its text, with a mark of its encoding."""

    path: str
    data: Mapping[str, Any]
    text: str
    written: bool = False  # made by a subject or of a function, so that the text is not that of the file
    settings: Settings = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name without the folder."""
        return Path(self.path).name

    @property
    def saved(self) -> str:
        """The name under which its text is saved, which is that of a case file."""
        return f"{Path(self.path).stem}.toml" if self.written else self.name


@dataclass(frozen=True)
class PageOmission:
    """Something that the page does not have, and why."""

    reason: str


Budget = CaseBudget | AnyBounds | PageOmission


@dataclass(frozen=True)
class Recheck:
    """What the checker says of the evidence of a page, or the `reason` why it was not asked to the end.

    `status` is what the evidence shows, `counts` how many claims are settled in which way, and `second` what
    the second reader of the case file says, as sentences without a full stop. If something is `trusted` to
    solvers, the checker accepts it without a check. The checker was `late` if it did not end in its time.
    """

    accepted: bool = False
    status: str = ""
    counts: str = ""
    second: tuple[str, ...] = ()
    reason: str = ""
    trusted: bool = False
    late: bool = False


UNASKED = Recheck(reason="the checker was not run")


@dataclass(frozen=True, eq=False)
class PrivacyWork:
    """A case about privacy, or an inequality, and what was found about it."""

    source: CaseSource
    case: cases.PrivacyCase
    report: PrivacyReport
    evidence: Evidence
    budget: Budget
    values: Intervals | Regions | PageOmission
    around: Beyond = field(default_factory=Beyond)  # what is shown beside the budget
    recheck: Recheck = UNASKED
    made: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def standing(self) -> Standing:
        """The word for the verdict."""
        return self.report.status


@dataclass(frozen=True, eq=False)
class SystemWork:
    """An interactive system, and what was found about it."""

    source: CaseSource
    case: systems.InteractiveCase
    report: Noninterference
    evidence: Evidence
    recheck: Recheck = UNASKED
    made: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def standing(self) -> Standing:
        """The word for the verdict."""
        return self.report.status


@dataclass(frozen=True, eq=False)
class LogicWork:
    """A model with formulas, and what was found about them."""

    source: CaseSource
    case: logics.LogicCase
    results: Mapping[str, FormulaResult]
    obligations: Proofs
    evidence: Evidence
    standing: Standing
    recheck: Recheck = UNASKED
    made: datetime = field(default_factory=lambda: datetime.now(UTC))


Examined = PrivacyWork | SystemWork | LogicWork


@dataclass(frozen=True)
class PageOptions:
    """How the work is done: options of sessions, coverage of maps (None if any), limits of the steps.

    Maps are over `parameters`, for all values of the others; over those that suit if none is named.
    `settings` set definitions and parameters of each case.
    """

    options: Options
    coverage: Fraction | None
    limit: Limit
    parameters: tuple[str, ...] = ()
    settings: Settings = field(default_factory=dict)


def examine(path: str, wanted: PageOptions, seconds: float) -> Examined:
    """Returns what is found about a case of any kind within some seconds.

    Raises:
        InputError: any mistake in the file.
        LimitError: not even the verdict was found in time.
    """
    subject, file = opened(CaseFile(Path(path), wanted.settings))
    check_asked(subject, Hand, file)
    engines: dict[str, Callable[[CaseSource, PageOptions, float], Examined]]
    engines = {InteractiveSubject.name: _system, LogicSubject.name: _logic}
    with file.as_file():
        return engines.get(subject.name, _case)(_source(file), wanted, seconds)


def _case(source: CaseSource, wanted: PageOptions, seconds: float) -> PrivacyWork:
    until, path = time.monotonic() + seconds, source.path
    with wanted.limit(seconds):
        case = cases.load(path, settings=wanted.settings)
        need_formulas(case.model, "report")
        with located(file=path, key="--parameters"):
            check_names(case.model.domain.ring, dict.fromkeys(wanted.parameters, Fraction(0)))
        report = verify_beyond(case, _options(wanted, VERDICT * (until - time.monotonic())))
        evidence = Evidence.of(path, evidence_document(case, report))
    recheck = rechecked(evidence, path, wanted, CHECK * (until - time.monotonic()))
    budget: Budget = PageOmission("only a case about privacy has a budget")
    around = Beyond()
    if not case.model.comparisons:
        begun, most = time.monotonic(), BUDGET * (until - time.monotonic())
        budget = _tried(wanted, most, lambda s: _budget(case, s))
        around = _around(case, budget, _options(wanted, most), begun)
    values = _tried(wanted, until - time.monotonic(), lambda s: _values(case, wanted, s))
    return PrivacyWork(
        source,
        case,
        report,
        evidence=evidence,
        budget=budget,
        values=values,
        around=around,
        recheck=recheck,
    )


def rechecked(evidence: Evidence, path: str, wanted: PageOptions, seconds: float) -> Recheck:
    """Returns what the checker says of evidence, with the case file, within some seconds."""
    try:
        with wanted.limit(max(0.01, seconds)):
            found = evidence_checks.checked(evidence.text, path, wanted.settings)
    except TimeLimitError:
        return Recheck(reason=f"checking did not end within {seconds:.0f} s", late=True)
    except LimitError as error:
        return Recheck(reason=str(error))
    report, look = found.report, found.look
    second = () if look is None else (f"The case file was {look.line}",)
    settled = report.proved or report.trusted or report.open or not report.accepted
    counts = counts_of(report) if settled else ""
    return Recheck(report.accepted, str(report.status), counts, second, trusted=bool(report.trusted))


def _source(file: CaseFile) -> CaseSource:
    path = str(file.path)
    made = file.written or standing_for(file.path) is not None
    if (file.path.suffix != ".toml" and not made) or file.document is None:
        raise InputError("a page is about a case file, which ends with .toml", file=path)
    with located(file=path):
        content = read_file(file.path, MAX_BYTES, "a case file")
    return CaseSource(path, file.document.data, content.decode("utf-8"), made, file.settings)


def _options(wanted: PageOptions, seconds: float) -> Options:
    return replace(wanted.options, seconds=max(0.01, seconds))


def _tried(wanted: PageOptions, seconds: float, work: Callable[[Session], Found]) -> Found | PageOmission:
    """Returns what is found in a session, or why it is not: that is no reason to write no page."""
    try:
        with wanted.limit(max(0.01, seconds)), Session(_options(wanted, seconds)) as session:
            return work(session)
    except (InputError, LimitError) as error:
        return PageOmission(error.reason if isinstance(error, InputError) else str(error))


def _budget(case: cases.PrivacyCase, session: Session) -> CaseBudget | AnyBounds:
    if case_budgets.is_asked(case):
        return case_budgets.find(case, session, PRECISION)
    model = of_privacy(case.model, "budget", tied=True, densities=True)
    undoubted(session, model)
    return case_budget(model, session, PRECISION)


def _around(case: cases.PrivacyCase, budget: Budget, options: Options, begun: float) -> Beyond:
    if isinstance(budget, PageOmission):
        return Beyond()
    if isinstance(budget, CaseBudget):
        return beyond(case, budget, options, begun)
    measure = case_budgets.least_of(case).model.measure
    return Beyond(border=border_of(case, measure, budget, options, begun))


def _values(case: cases.PrivacyCase, wanted: PageOptions, session: Session) -> Intervals | Regions:
    domain = case.model.domain
    free = [name for name in domain.ring.parameters if not domain.box[name].is_point]
    if not free:
        raise InputError("no parameter of the case has more than one value")
    undoubted(session, case.model)
    share = wanted.coverage or max(ROUGHLY, default_coverage(len(wanted.parameters or free)))
    found = safe_values(case, session, wanted.parameters, options=MapOptions(share))
    assert isinstance(found, Intervals | Regions)  # these are the suitable forms
    return found


def _system(source: CaseSource, wanted: PageOptions, seconds: float) -> SystemWork:
    until, options = time.monotonic() + seconds, _options(wanted, 0.9 * seconds)
    with wanted.limit(seconds):
        case = systems.load(source.path, settings=wanted.settings)
        report = verify_system(case, options)
        evidence = Evidence.of(source.path, system_evidence(case, report, options))
    recheck = rechecked(evidence, source.path, wanted, until - time.monotonic())
    return SystemWork(source, case, report, evidence, recheck)


def _logic(source: CaseSource, wanted: PageOptions, seconds: float) -> LogicWork:
    until = time.monotonic() + seconds
    with wanted.limit(seconds):
        case = logics.load(Path(source.path), logics.LogicOptions(settings=wanted.settings))
        with Session(_options(wanted, 0.9 * seconds)) as session, located(file=case.path):
            work = LogicSession(case, session)
            if doubt := work.prepare():
                raise LimitError(f"the model is in doubt: {doubt.detail}")
            results = {name: check_property(work, found) for name, found in case.properties.items()}
            document, _ = evidence_of(work, results)
    standing = logic_reports.status(results)
    evidence = Evidence.of(source.path, document)
    return LogicWork(
        source,
        case,
        results,
        obligations=tuple(work.obligations),
        evidence=evidence,
        standing=standing,
        recheck=rechecked(evidence, source.path, wanted, until - time.monotonic()),
    )
