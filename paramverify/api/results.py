"""What a mechanism in Python answers: the results of the subjects, which print as the commands do."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from paramverify.models.model import Model
from paramverify.privacy.cases import Case
from paramverify.privacy.runs import LeftOut, ToldRun, told_run
from paramverify.privacy.verification import Report
from paramverify.reports import distances, relative, sampling, text, verdicts
from paramverify.reports.budgets import Statement
from paramverify.statistics.audit import Audit
from paramverify.synthesis.case_budget import CaseBudget
from paramverify.verdicts import Violated

_Told = TypeVar("_Told")


@dataclass(frozen=True, eq=False, repr=False)
class MechanismReport(Report):
    """A verdict; printed, it is what `paramverify verify` says."""

    case: Case = field(kw_only=True)

    @property
    def run(self) -> ToldRun | LeftOut | None:
        """The run of the program behind the witness; None where there is no violation."""
        return told_run(self.case, self.verdict.witness) if isinstance(self.verdict, Violated) else None

    def __str__(self) -> str:
        return "\n".join([*verdicts.lines(self, self.case), *verdicts.notes(self, self.case)])

    def __repr__(self) -> str:
        return f"<{self.status.of_case}: {verdicts.headline(self, self.case)[0].rstrip('.')}>"


@dataclass(frozen=True, eq=False, repr=False)
class MechanismBudget(CaseBudget):
    """A tight budget; printed, it is what `paramverify budget` says."""

    case: Case = field(kw_only=True)
    model: Model = field(kw_only=True)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def __repr__(self) -> str:
        return f"<{self._lines()[0]}>"

    def _lines(self) -> list[str]:
        statement = Statement.of(self.model, self.ratio)
        first, *rest = distances.lines(self.distances, statement) if self.distances else statement.lines()
        beside = [relative.line(self.model, self.case.budget, self.relative)] if self.relative else []
        notes = [f"Note: {note}." for note in self.model.notes]
        return [f"{first}{text.but(self.model)}", *rest, *beside, *notes]


@dataclass(frozen=True, eq=False, repr=False)
class MechanismAudit(Audit):
    """An audit; printed, it is what `paramverify sample --audit` says."""

    def __str__(self) -> str:
        return "\n".join(sampling.audit_lines(self))

    def __repr__(self) -> str:
        return f"<{sampling.audit_lines(self)[0].rstrip('.')}>"


def told(kind: type[_Told], found: Any, **more: Any) -> _Told:
    """Returns a result of a subject as the result that prints; `more` is what its words need besides."""
    return kind(**{f.name: getattr(found, f.name) for f in fields(found)}, **more)
