"""What case files expect: each expectation is a check of its own, with a message that a team understands."""

from __future__ import annotations

import re
import tomllib
import warnings
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paramverify.api.results import BudgetReport, Report, VerifyReport

TABLE = re.compile(rb"""^[\s\xef\xbb\xbf\[]*["']?expect["']?\s*[\].=]""", re.MULTILINE)
CASES = ("mechanism", "claim", "system", "model", "states")  # one of these makes a file a case
PARTS = (
    "parameters",
    "prior",
    "query",
    "secrets",
    "neighbours",
    "privacy",
    "parametric",
    "formulas",
    "properties",
)
LIMITS = ("timeout", "memory", "interrupted", "crashed", "unavailable")  # ends that are no answer
KEYS = ("verdict", "status", "ratio", "attained")
WORDS = KEYS[:2]
LEFT_OUT = ("ratio", "delta", "sufficient")  # of a formula: numbers that are asked for on the command line


class Failed(Exception):
    """An expectation that is not met, or a file from which none can be read; the text is for people."""


class WeakerVerdictWarning(UserWarning):
    """A case is private as expected, but not for larger inputs, or on a side condition only."""


def warn_if_weaker(report: VerifyReport, where: str = "") -> None:
    """Warns if a proof has a side condition, or is known not to be one for larger inputs."""
    __tracebackhide__ = True
    beyond = f"not for {report.larger['inputs']}" if report.larger else ""
    for told in filter(None, (beyond, report.document.get("side_condition"))):
        warnings.warn(f"{where}{report.verdict}, but {told}", WeakerVerdictWarning, stacklevel=3)


class UncheckedExpectation(Exception):
    """An expectation that no test compares with; the text says why."""


def has_expectations(path: Path) -> bool:
    """Tells whether a file looks like a case with `expect`; what cannot be read may be one with a mistake."""
    try:
        content = path.read_bytes()
    except OSError:
        return True
    try:
        data = tomllib.loads(content.decode("utf-8-sig"))
    except ValueError:
        return TABLE.search(content) is not None
    return "expect" in data and any(get_close_matches(name, (*CASES, *PARTS)) for name in data)


@dataclass(frozen=True)
class Expectation:
    """One thing that a file expects: of the case, or of one of its formulas."""

    key: str
    value: Any
    formula: str = ""

    @property
    def name(self) -> str:
        """The name of the test, such as `verdict`, or `survey.verdict` for a formula."""
        return f"{self.formula}.{self.key}" if self.formula else self.key

    def check(self, path: Path, seconds: float, known: MutableMapping[str, Report]) -> None:
        """Decides the case within a time; `known` keeps reports, so that a file is decided once.

        Raises:
            Failed: the expectation is not met, or nothing was decided.
            UncheckedExpectation: nothing compares with this.
        Warns:
            WeakerVerdictWarning: it is private, but not for larger inputs, or on a side condition.
        """
        from paramverify.api.cases import budget, verify
        from paramverify.errors import ParamverifyError

        if self.formula and self.key in LEFT_OUT:
            raise UncheckedExpectation(f"`paramverify logic` finds this number: {self.name} = {self.value}")
        if self.key not in (WORDS if self.formula else KEYS):
            raise Failed(f"unknown expectation {self.name!r}; choose from {', '.join(KEYS)}")
        decide = verify if self.key in WORDS else budget
        try:
            if decide.__name__ not in known:
                known[decide.__name__] = decide(path, timeout=seconds)
        except ParamverifyError as error:
            raise Failed(str(error)) from error
        report: Any = known[decide.__name__]
        self._word(report, path) if self.key in WORDS else self._number(report)

    def _word(self, report: VerifyReport, path: Path) -> None:
        from paramverify.answers import Standing
        from paramverify.subjects.registry import subject_named

        def word(standing: Standing) -> str:
            claimed = subject_named(report.kind).of_claims
            return standing.of_claim if claimed else standing.of_case

        # Another word than these is a mistake, of which the reader of the case tells.
        wanted = word(Standing(self.value)) if self.key == "status" else self.value
        found = report.formulas.get(self.formula, report.reason) if self.formula else word(report.status)
        end = str(report.document.get("end", report.reason.partition(":")[0]))
        if found != wanted or (report.status is Standing.UNKNOWN and end in LIMITS):
            raise self._failed(
                wanted,
                f"{found}, because a limit ended the run: {report.reason}" if end in LIMITS else found,
                report,
            )
        if report.status is Standing.HOLDS:
            warn_if_weaker(report, f"{path}: ")

    def _number(self, report: BudgetReport) -> None:
        from paramverify.algebra.exact_numbers import ExactNumber
        from paramverify.api.values import fraction
        from paramverify.errors import ParamverifyError

        if self.key == "attained":
            if report.attained is not self.value:
                raise self._failed(self.value, report.attained, report)
            return
        try:
            wanted = ExactNumber(None if self.value == "infinity" else fraction(str(self.value)))
        except (ParamverifyError, ValueError) as error:
            told = f'{self.name} = {self.value}: write a number, such as "3/2", or "infinity"'
            raise Failed(f"{told} ({error})") from error
        if report.ratio is None or report.ratio != wanted:
            raise self._failed(wanted, report.ratio or "no exact number", report)

    def _failed(self, wanted: object, found: object, report: Report) -> Failed:
        return Failed(f"expected {self.name}: {wanted}\nfound: {found}\n\n{report}")


def expectations(path: Path) -> list[Expectation]:
    """Returns what a case file expects.

    Raises:
        Failed: it cannot be read, or expects nothing.
    """
    from paramverify.errors import ParamverifyError
    from paramverify.tables import read_document

    try:
        data = read_document(path).data
    except ParamverifyError as error:
        raise Failed(str(error)) from None
    table = data.get("expect")
    found = list(_listed(table)) if isinstance(table, dict) else []
    if not found:
        raise Failed(f"{path}: the case has no expectation: add a table [expect] with a verdict")
    return found


def _listed(table: dict[str, Any]) -> Iterator[Expectation]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from (Expectation(key, entry, name) for key, entry in value.items())
        else:
            yield Expectation(name, value)
