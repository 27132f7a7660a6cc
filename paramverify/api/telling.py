"""`sample` and `check`: tests by sampling, and evidence that is checked again."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any, TypedDict

from paramverify.api.options import clock
from paramverify.api.reading import Bound, Kind, Read
from paramverify.api.results import CheckReport, Drawing, SampleReport
from paramverify.api.values import between, point_at, whole
from paramverify.errors import InputError, located
from paramverify.portfolio.session import Options
from paramverify.privacy.cases import PrivacyCase, load
from paramverify.reports import evidence_checks, sampling_reports
from paramverify.reports.pictures import privacy_plots
from paramverify.reports.pictures.plot_style import styled
from paramverify.statistics.case_testing import (
    CertifiedSet,
    Plan,
    SamplingGoal,
    carry_out,
    numbers,
    worst_pair,
)
from paramverify.statistics.certification import Certified
from paramverify.statistics.detection import MOST_LEVEL, Settings
from paramverify.statistics.learned_attacks import Learner
from paramverify.statistics.samplers import MOST_PAIRS
from paramverify.subjects.questions import Sample
from paramverify.subjects.running import check_asked, has_own_engine

RUNS = 500_000
BISECTED = Fraction(1, 1000)
SELECTED = 5  # one in so many runs chooses the event


class SampleOptions(TypedDict, total=False):
    """What to sample, how much, and what to do with the findings: the keyword arguments of `sample`."""

    direct: bool
    """bool: Draw the noise of the mechanism instead of sampling the model."""
    goal: str | None
    """text: Compute exact probabilities of the findings (`"certify"`), find and prove the tight budget
    (`"search"`), or compare the implementation with the exact probabilities (`"audit"`)."""
    epsilon: Bound | Sequence[Bound] | None
    """number, text or list of these: Test these budgets instead of that of the case."""
    delta: Bound | None
    """number or text: Test sets of outputs, with this δ instead of that of the case."""
    at: Mapping[str, Bound]
    """dict: Set parameters to these numbers."""
    length: int | None
    """int: Sample output sequences of this length."""
    pairs: int
    """int: Try at most this many secret pairs."""
    runs: int
    """int: Test on this many runs for each side."""
    select: int | None
    """int: Choose the event on this many runs; by default a fifth of `runs`."""
    level: float | None
    """number: Limit the probability of a wrong rejection, to at most 1/2; by default 0.05, or 0.01 for an
    audit."""
    confidence: float
    """number: Set the confidence of the lower bound on ε."""
    classifier: str
    """text: Learn the attack behind the lower bound by this classifier, `"logistic"` or `"perceptron"`."""
    bisection: Bound | None
    """number or text: Search by bisection, until both ends are this close; needs `goal="search"`."""
    seed: int
    """int: Set the seed of all runs."""
    workers: int
    """int: Share the runs among this many processes, with the same results."""
    timeout: float
    """number: Stop the whole call after this many seconds of wall-clock time."""


@dataclass(frozen=True)
class SampleRequest:
    """What `sample` is asked for; see there."""

    implementation: Callable[..., Any] | None = None
    direct: bool = False
    goal: str | None = None
    epsilon: Bound | Sequence[Bound] | None = None
    delta: Bound | None = None
    at: Mapping[str, Bound] = field(default_factory=dict)
    length: int | None = None
    pairs: int = MOST_PAIRS
    runs: int = RUNS
    select: int | None = None
    level: float | None = None
    confidence: float = 0.9
    classifier: str = Learner.LOGISTIC.value
    bisection: Bound | None = None
    seed: int = 0
    workers: int = 1
    timeout: float = 60.0


def sample_read(reading: Callable[[], Read], asked: SampleRequest) -> SampleReport:
    """Reads a case and tests it by sampling; see `paramverify.sample`."""
    plan = _plan(asked)
    with clock(Options(seconds=plan.seconds, limit=plan.seconds)) as left:
        read = reading()
        check_asked(read.subject, Sample, read.file)
        return _sample(read, replace(plan, seconds=left().seconds))


def _sample(read: Read, plan: Plan) -> SampleReport:
    """Tests a case that was read."""
    started = time.perf_counter()

    def again(at: Mapping[str, Fraction]) -> PrivacyCase:
        if not at:
            case: PrivacyCase = read.content
            return case
        with read.file.as_file():
            return load(read.path, at)

    with located(file=str(read.path)):
        found = carry_out(again, plan)
    worst = (
        max(found.certified, key=_leak, default=None)
        or max(found.certified_sets, key=_excess, default=None)
        or (worst_pair(found.certified_pairs) if found.certified_pairs else None)
    )
    drawing: Drawing | None = None
    if found.detection:
        curves = sampling_reports.curves(found.case.title, found.detection)
        drawing = styled(lambda ax: privacy_plots.pvalues_figure(curves, ax))
    return SampleReport(
        kind=read.kind,
        lines=tuple(sampling_reports.testing_lines(found)),
        document=sampling_reports.testing_document(found),
        seconds=time.perf_counter() - started,
        found=found.is_found,
        rejected=found.is_violated or (found.audit is not None and not found.audit.passes),
        witness=worst.witness.told() if worst else None,
        point=dict(found.audit.point) if found.audit else {},
        result=found,
        _drawing=drawing,
    )


def _leak(found: Certified) -> Any:
    ratio = found.witness.ratio
    return (found.is_violation, float("inf") if ratio is None else float(ratio))


def _excess(found: CertifiedSet) -> float:
    return float(found.witness.beyond - found.witness.delta)


def _plan(asked: SampleRequest) -> Plan:
    goals = [goal.value for goal in SamplingGoal]
    learners = [learner.value for learner in Learner]
    for name, value, known in (("goal", asked.goal, goals), ("classifier", asked.classifier, learners)):
        if value is not None and value not in known:
            raise InputError(f"{value!r} is unknown: write one of {', '.join(known)}", key=name)
    goal = None if asked.goal is None else SamplingGoal(asked.goal)
    if goal is SamplingGoal.AUDIT and asked.implementation is None and not asked.direct:
        raise InputError(
            "an audit has nothing to compare with the model: give implementation, or direct=True", key="goal"
        )
    if asked.implementation is not None and asked.direct:
        raise InputError("implementation and direct exclude each other: leave one out", key="direct")
    if asked.bisection is not None and goal is not SamplingGoal.SEARCH:
        raise InputError('bisection is a way to search: add goal="search"', key="bisection")
    runs = whole("runs", asked.runs, 1)
    level = asked.level if asked.level is not None else 0.01 if goal is SamplingGoal.AUDIT else 0.05
    share = float(between("level", level, 1))
    if share > MOST_LEVEL:
        raise InputError(f"{level} is too large: give at most 1/2", key="level")
    select = max(1, runs // SELECTED) if asked.select is None else whole("select", asked.select, 1)
    confidence = float(between("confidence", asked.confidence, 1))
    seconds = float(between("timeout", asked.timeout))
    epsilons = _texts(asked.epsilon)
    with located(key="epsilon"):
        numbers(epsilons)
    function = asked.implementation
    return Plan(
        goal=goal,
        settings=Settings(runs, select, share, confidence, learner=Learner(asked.classifier)),
        function=None if function is None else lambda: function,
        direct=asked.direct,
        epsilons=epsilons,
        at=point_at(asked.at),
        length=None if asked.length is None else whole("length", asked.length, 1),
        pairs=whole("pairs", asked.pairs, 1),
        seed=whole("seed", asked.seed, 0),
        workers=whole("workers", asked.workers, 1),
        bisection=None if asked.bisection is None else between("bisection", asked.bisection),
        seconds=seconds,
        limit=seconds,
        delta=None if asked.delta is None else between("delta", asked.delta, 1),
    )


def _texts(given: Bound | Sequence[Bound] | None) -> tuple[str, ...]:
    if given is None:
        return ()
    listed = given if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    return tuple(map(str, listed))


def check_evidence(
    given: str | PathLike[str] | Mapping[str, Any], read: Read | None, required: bool = False
) -> CheckReport:
    """Checks evidence again; see `paramverify.check`."""
    started = time.perf_counter()
    if read and has_own_engine(read.subject):
        reason = f"{read.subject.title} is decided by its own engine, not by paramverify"
        raise InputError(f"check does not apply to this case: {reason}", file=str(read.path))
    content = json.dumps(given) if isinstance(given, Mapping) else evidence_checks.read_text(Path(given))
    with read.file.as_file() if read else nullcontext():
        found = evidence_checks.checked(
            content, str(read.path) if read else None, given=read.file.more if read else None
        )
    found = replace(found, required=required)
    document = evidence_checks.document(found)
    report = found.report
    return CheckReport(
        kind=read.kind if read else Kind.PRIVACY,
        lines=tuple(evidence_checks.lines(found)),
        document=document,
        seconds=time.perf_counter() - started,
        accepted=report.accepted and not found.unknown,
        verdict=str(document.get("verdict", "")),
        solvers=tuple(report.solvers),
    )
