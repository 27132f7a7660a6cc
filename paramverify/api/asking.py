"""`verify`, `budget`, `synthesize` and `show`: from the arguments of a call to a report."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paramverify.algebra.exact_numbers import ExactNumber
from paramverify.answers import Standing
from paramverify.api.options import Limits, clock, options_of
from paramverify.api.reading import Bound, Kind, Read
from paramverify.api.results import (
    BudgetReport,
    ShowReport,
    StreamBudgetReport,
    SynthesisReport,
    VerifyReport,
)
from paramverify.api.values import between, point_at
from paramverify.errors import InputError, LimitError, TimeLimitError, located
from paramverify.evidence.told_witnesses import Witness
from paramverify.interactive.system_cases import InteractiveCase
from paramverify.interactive.system_verification import Noninterference
from paramverify.portfolio.session import Options
from paramverify.reports.interactive_reports import exact
from paramverify.subjects.questions import PRECISION, TOLERANCE, Budget, Question, Show, Synthesize, Verify
from paramverify.subjects.results import CaseFacts, FormulaFacts, Result, ShowFacts, ValueFacts
from paramverify.subjects.running import check_asked, declined, run
from paramverify.synthesis.violating import Objective

Reading = Callable[[], Read]


def _answer(read: Read, question: Question, options: Options) -> Result:
    """Answers a question about what was read.

    Raises:
        InputError: an argument that is not for files of its subject.
    """
    check_asked(read.subject, type(question), read.file)
    for name, reason in declined(read.subject, type(question), question.given(), options).items():
        raise InputError(reason, key=name.replace("-", "_"))
    return run(read.file, question, options, subject=read.subject)


def _common(read: Read, result: Result) -> dict[str, Any]:
    """Returns what all reports have."""

    def evidence() -> dict[str, Any]:
        if result.evidence is None:
            raise InputError(result.without_evidence())
        return result.evidence()

    return {
        "kind": read.kind,
        "lines": tuple(result.lines),
        "document": result.document,
        "seconds": result.seconds,
        "notes": result.notes,
        "result": result.found,
        "_evidence": evidence if result.evidence or result.no_evidence else None,
    }


def verify_read(reading: Reading, limits: Limits) -> VerifyReport:
    """Reads a case and decides it; see `paramverify.verify`."""
    options = options_of(limits)
    started = time.perf_counter()
    read: Read | None = None
    try:
        with clock(options) as left:
            read = reading()
            result = _answer(read, Verify(numbers=False), left())
    except LimitError as error:
        if read is None and not isinstance(error, TimeLimitError):
            raise
        return _open(read, error, time.perf_counter() - started)
    witness: Any = result.witness.told() if result.witness else None
    if isinstance(result.found, Noninterference):
        witness = _leak(read.content, result.found)
    return VerifyReport(
        **_common(read, result),
        status=result.standing or Standing.UNKNOWN,
        witness=witness,
        run=result.of(CaseFacts).run,
        reason=result.reason,
        formulas=result.of(FormulaFacts).verdicts,
    )


def _open(read: Read | None, error: LimitError, seconds: float) -> VerifyReport:
    """Returns the report of a limit that was met before anything was decided."""
    claimed = read is not None and read.subject.of_claims
    word = Standing.UNKNOWN.of_claim if claimed else Standing.UNKNOWN.of_case
    document: dict[str, Any] = {"status": Standing.UNKNOWN, "verdict": word, "reason": str(error)}
    if isinstance(error, TimeLimitError):
        document["end"] = "timeout"
    kind = read.kind if read else Kind.PRIVACY
    return VerifyReport(kind, (f"{word}: {error}",), document, seconds, reason=str(error))


def _leak(case: InteractiveCase, found: Noninterference) -> Witness | None:
    """Returns a violation of an interactive system, where its numbers are numbers."""
    leak, names = found.refutation, case.system.actions.names
    if leak is None:
        return None
    numbers = [exact(case, weight) for weight in (*leak.probabilities, found.bound)]
    left, right, bound = (None if n is None else ExactNumber(n) for n in numbers)
    if left is None or right is None or bound is None:
        return None
    return Witness(
        parameters=dict(found.parameters),
        left=tuple(names[a] for a in leak.left),
        right=tuple(names[a] for a in leak.right),
        observations=tuple(names[a] for a in leak.event.trace),
        probabilities=(left, right),
        ratio=left / right if right else ExactNumber(None),
        bound=bound,
    )


def budget_of(
    reading: Reading,
    precision: Bound,
    limits: Limits,
    delta_for: Bound | None = None,
    epsilon_for: Bound | None = None,
    *,
    length: int | str | None = None,
    epsilon: Bound | None = None,
) -> BudgetReport:
    """Reads a case and finds its tight budget, or the least δ or ε; see `paramverify.budget`."""
    width, options = between("precision", precision, 1), options_of(limits)
    if delta_for is not None and epsilon_for is not None:
        raise InputError("delta_for and epsilon_for exclude each other: give one of them")
    question = Budget(
        precision=None if width == PRECISION else width,
        delta_for=None if delta_for is None else str(delta_for),
        epsilon_for=None if epsilon_for is None else str(epsilon_for),
        length=None if length is None else str(length),
        epsilon=None if epsilon is None else str(between("epsilon", epsilon)),
        options=("delta_for", "epsilon_for"),
    )
    with clock(options) as left:
        read = reading()
        result = _answer(read, question, left())
    if result.bound("multiple"):
        return _streams(read, result)
    main = next(iter(result.bounds), None)
    relative = result.bound("relative")
    numbers = main if main and main.name != "divergence" else None  # which is no ratio
    return BudgetReport(
        **_common(read, result),
        lower=numbers.lower if numbers else None,
        upper=numbers.upper if numbers else None,
        attained=main.attained if main else None,
        witness=result.witness.told() if result.witness else None,
        of_delta=delta_for is not None or bool(main and main.name == "delta"),
        relative=relative.known if relative else None,
        tight=relative.tight if relative else None,
    )


def _streams(read: Read, result: Result) -> StreamBudgetReport:
    every = result.bounds[0]
    return StreamBudgetReport(
        **_common(read, result),
        multiple=every.upper,
        multiple_lower=every.lower,
        exact=result.ending is Standing.HOLDS,
        lengths={
            int(each.name.removeprefix("length ")): (each.lower, each.upper or ExactNumber(None))
            for each in result.bounds[1:]
        },
    )


@dataclass(frozen=True)
class SynthesisRequest:
    """What `synthesize` is asked for; see there."""

    form: str | None = None
    parameters: Sequence[str] = ()
    coverage: Bound | None = None
    objective: str | None = None
    near: Mapping[str, Bound] | None = None
    precision: Bound = TOLERANCE

    def question(self) -> Synthesize:
        """Returns it as a question.

        Raises:
            InputError: arguments that do not go together, or are not known.
        """
        forms = ("witness", "region", "exact")
        if self.form is not None and self.form not in forms:
            raise InputError(f"{self.form!r} is unknown: write one of {', '.join(forms)}", key="form")
        about_prior = self.objective is not None or self.near is not None
        if about_prior and self.form not in (None, "witness"):
            raise InputError('objective and near choose a violating prior: write form="witness"', key="form")
        if (about_prior or self.form == "witness") and self.parameters:
            raise InputError(
                "one prior has all parameters: use parameters with region or exact", key="parameters"
            )
        with located(key="objective"):
            known = [objective.value for objective in Objective]
            if self.objective is not None and self.objective not in known:
                raise InputError(f"{self.objective!r} is unknown: write one of {', '.join(known)}")
        return Synthesize(
            form="witness" if about_prior else self.form,
            parameters=self.parameters,
            coverage=None if self.coverage is None else between("coverage", self.coverage, 1),
            objective=self.objective,
            near=point_at(self.near),
            precision=between("precision", self.precision, 1),
        )


def values_of(reading: Reading, asked: SynthesisRequest, limits: Limits) -> SynthesisReport:
    """Reads a case and finds where it is private; see `paramverify.synthesize`."""
    with clock(options_of(limits)) as left:
        read = reading()
        check_asked(read.subject, Synthesize, read.file)
        result = _answer(read, asked.question(), left())
    facts = result.of(ValueFacts)
    return SynthesisReport(
        **_common(read, result),
        form=facts.form,
        complete=facts.complete,
        witness=result.witness.told() if result.witness else None,
        _drawing=facts.drawing,
    )


def show_read(read: Read) -> ShowReport:
    """Returns the formulas of a case; see `paramverify.show`."""
    started = time.perf_counter()
    common = _common(read, result := _answer(read, Show(), Options()))
    del common["result"]
    facts = result.of(ShowFacts)
    return ShowReport(
        **{**common, "seconds": time.perf_counter() - started},
        complete=facts.complete,
        _latex=facts.latex,
        _graph=facts.graph,
    )
