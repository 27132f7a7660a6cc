"""`paramverify sample CASE`: statistical tests by sampling, and what the model says about their findings."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from paramverify.algebra.expressions import constant
from paramverify.cli import _output
from paramverify.cli._common import (
    OUTPUT_FILE,
    case_argument,
    json_option,
    parse_point,
    print_json,
    say,
    time_limit,
    timeout_option,
)
from paramverify.cli._exits import Exit
from paramverify.errors import InputError, located
from paramverify.models.kinds import need_privacy
from paramverify.models.model import Model
from paramverify.portfolio.obligations import require_possible
from paramverify.privacy.cases import Case, load
from paramverify.reports import sampling as shown
from paramverify.reports.pictures import pvalues
from paramverify.statistics.audit import audit
from paramverify.statistics.blackbox import BlackBoxSource, check_shared, load_mechanism
from paramverify.statistics.certification import (
    certify,
    check_length,
    epsilon_at,
    suspicious,
    tight_ratio,
    worst,
)
from paramverify.statistics.detection import SELECT, Detection, Settings, detect
from paramverify.statistics.events import CandidateEvent
from paramverify.statistics.experiments import MOST_PAIRS, Experiment, chosen_points, experiments, length_of
from paramverify.statistics.guidance import guided
from paramverify.statistics.inputs import CaseInputs
from paramverify.statistics.mechanisms import DirectSource
from paramverify.statistics.runs import Runs, require, runs_of
from paramverify.statistics.samplers import ModelSource, Source

LISTED = (100, "Test a case by sampling, and certify or prove what is found.")

PRECISION = Fraction(1, 10**9)  # relative distance of the bounds that a search ends with
MOST_EPSILON = 700  # beyond, exp(-epsilon) is not a float
CERTIFIED = 10  # candidates that are evaluated exactly


class _Goal(Enum):
    """What is done with what testing finds."""

    CERTIFY = "certify"
    SEARCH = "search"
    AUDIT = "audit"


@dataclass(frozen=True, eq=False)
class Asked:
    """What the user asked to be sampled."""

    case: Case
    model: Model
    experiments: list[Experiment]
    epsilons: list[float]
    settings: Settings
    code: bool  # whether an implementation is sampled, rather than the model
    goal: _Goal | None


@click.command("sample")
@case_argument
@click.option("--mechanism", metavar="MODULE:FUNCTION", help="Sample this Python function, not the model.")
@click.option("--direct", is_flag=True, help="Draw the mechanism's noise instead of sampling the model.")
@click.option("--certify", "wanted", flag_value="certify", help="Evaluate what testing finds exactly.")
@click.option("--search", "wanted", flag_value="search", help="Find the tight budget from it, and prove it.")
@click.option("--audit", "wanted", flag_value="audit", help="Compare the implementation with the model.")
@click.option("--epsilon", multiple=True, metavar="E,...", help="Budgets to test instead of the case's.")
@click.option("--length", type=click.IntRange(min=1), metavar="N", help="Length of the output sequences.")
@click.option("--at", "at", multiple=True, metavar="P=1/2,...", help="Values of parameters.")
@click.option("--pairs", type=click.IntRange(min=1), default=MOST_PAIRS, show_default=True, metavar="N",
              help="Secret pairs to try, those with an input pattern first.")  # fmt: skip
@click.option("--runs", type=click.IntRange(min=1), default=500_000, show_default=True, metavar="N",
              help="Runs to test on, for each side.")  # fmt: skip
@click.option("--select", type=click.IntRange(min=1), metavar="N",
              help="Runs to choose the event on; a fifth of --runs by default.")  # fmt: skip
@click.option("--level", type=click.FloatRange(0, 1, True, True), metavar="P",
              help="Probability of a wrong rejection; 0.05, and 0.01 for --audit.")  # fmt: skip
@click.option("--confidence", type=click.FloatRange(0, 1, True, True), default=0.9, show_default=True,
              metavar="C", help="Confidence of the lower bound on epsilon.")  # fmt: skip
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, metavar="N", help="Seed of all runs."
)
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, metavar="N",
              help="Processes that share the runs; the results are the same.")  # fmt: skip
@click.option("--plot", type=OUTPUT_FILE, metavar="FILE", help="Plot p-values: .svg or .png.")
@json_option
@timeout_option
def command(
    case: str,
    mechanism: str | None,
    direct: bool,
    wanted: str | None,
    epsilon: tuple[str, ...],
    length: int | None,
    at: tuple[str, ...],
    pairs: int,
    runs: int,
    select: int | None,
    level: float | None,
    confidence: float,
    seed: int,
    workers: int,
    plot: Path | None,
    as_json: bool,
    timeout: float,
) -> int:
    """Test a case by sampling.

    A test proves nothing: it gives candidates, which --certify evaluates exactly.

    Exit code 1 if a budget is rejected, or with --certify if a candidate is a violation, else 3. With
    --search: 0 if the tight budget was found, else 3. With --audit: 0 if no difference was found, else 1.
    """
    goal = _Goal(wanted) if wanted else None
    if mechanism and direct:
        raise click.UsageError("give either --mechanism or --direct")
    if goal is _Goal.AUDIT and plot:
        raise click.UsageError("--audit has no plot")
    require()
    if plot:
        pvalues.check_plot(plot)
    level = level or (0.01 if goal is _Goal.AUDIT else 0.05)
    settings = Settings(runs, select or max(1, runs // 5), level, confidence)
    deadline = time.monotonic() + _output.remaining(timeout)
    with time_limit(timeout):
        loaded, source = _subject(case, mechanism, direct, goal, workers=workers)
        model, given = need_privacy(loaded.model, "sample"), parse_point(at)
        points = chosen_points(model, given, seed, *([1] if goal is _Goal.AUDIT else []))
        size = length_of(model, length)
        if goal in (_Goal.CERTIFY, _Goal.SEARCH):
            check_length(model, size)
        listed = experiments(model, size, points, pairs)
        with runs_of(source, seed, workers) as sampled:
            if goal is _Goal.AUDIT:
                return _audit(sampled, model, listed, settings, as_json)
            epsilons = _epsilons(epsilon, model, points)
            if len(points) > 1:
                listed = guided(sampled, model, listed, settings, given)
            code = mechanism is not None
            asked = Asked(loaded, model, listed, epsilons, settings=settings, code=code, goal=goal)
            return _test(asked, sampled, plot, as_json, deadline)


def _subject(
    path: str, mechanism: str | None, direct: bool, goal: _Goal | None, workers: int
) -> tuple[Case, Source]:
    """Returns the case, for an audit that of its single inputs, and what is to be sampled for it."""
    loaded = load(path)
    model = need_privacy(loaded.model, "sample")
    if model.side_condition:
        raise InputError(f"sample draws all sequences, and in this case {model.side_condition}")
    require_possible(model)
    if not mechanism and not direct:
        if goal is _Goal.AUDIT:
            raise click.UsageError("--audit compares with the model: give --mechanism or --direct")
        return loaded, ModelSource(model)
    case_inputs = CaseInputs.of(loaded)
    if goal is _Goal.AUDIT:
        case_inputs = case_inputs.by_input()
    if not mechanism:
        return case_inputs.case, DirectSource(case_inputs)
    function = load_mechanism(mechanism)
    if workers > 1:
        check_shared(function)
    return case_inputs.case, BlackBoxSource(function, case_inputs)


def _audit(sampled: Runs, model: Model, listed: list[Experiment], settings: Settings, as_json: bool) -> Exit:
    found = audit(sampled, model, listed, settings.runs, settings.level)
    _print(shown.audit_lines(found), shown.audit_document(found), as_json)
    return Exit.HOLDS if found.passes else Exit.VIOLATED


def _test(asked: Asked, sampled: Runs, plot: Path | None, as_json: bool, deadline: float) -> Exit:
    found = detect(sampled, asked.experiments, asked.epsilons, asked.settings)
    if plot:
        pvalues.write_pvalues(shown.curves(asked.case.title, found), plot)
    document = shown.document(found)
    lines = shown.lines(found) + ([] if asked.goal else ["", *shown.table(found)])
    _output.found(lines, document)
    model = asked.model
    code = Exit.VIOLATED if any(found.rejects(row) for row in found.asked) else Exit.UNKNOWN
    if asked.goal is _Goal.CERTIFY:
        tried = [
            certify(model, c, _seen(sampled, c, found)) for c in suspicious(model, found.selected, CERTIFIED)
        ]
        certified = [entry for entry in tried if entry]
        unknown = len(tried) - len(certified)
        lines = [*shown.certified_lines(model, certified, unknown, asked.code), *lines]
        document |= shown.certified_document(model, certified, unknown)
        code = Exit.VIOLATED if any(entry.is_violation for entry in certified) else Exit.UNKNOWN
    elif asked.goal is _Goal.SEARCH:
        tried = [certify(model, c, _seen(sampled, c, found)) for c in found.selected[:CERTIFIED]]
        certified = [entry for entry in tried if entry]
        if not certified:
            raise InputError("no output that the model knows was seen")
        start = worst(certified).witness
        tight = tight_ratio(asked.case, start, PRECISION, deadline - time.monotonic())
        lines = [*shown.tight_lines(tight), *lines]
        document |= shown.tight_document(tight)
        code = Exit.HOLDS if tight.is_within(PRECISION) else Exit.UNKNOWN
    _print(lines, document, as_json)
    return code


def _print(lines: list[str], document: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(document)
    else:
        for line in lines:
            say(line)


def _seen(sampled: Runs, candidate: CandidateEvent, found: Detection) -> list[tuple[str, ...]]:
    both = sampled.both(SELECT, candidate.experiment, found.settings.select)
    return list(dict.fromkeys(output for counts in both for output, _ in counts.most_common()))


def _epsilons(given: tuple[str, ...], model: Model, points: list[dict[str, Fraction]]) -> list[float]:
    """Returns the budgets to test: those given, else that of the case if it is one number at all points."""
    texts = [text for part in given for text in part.split(",") if text.strip()]
    if texts:
        with located(key="--epsilon"):
            values = [constant(text) for text in texts]
            if min(values) < 0:
                raise InputError("a budget is not negative")
            if max(values) > MOST_EPSILON:
                raise InputError(f"a budget of more than {MOST_EPSILON} cannot be tested")
            return [float(value) for value in values]
    if given:
        raise InputError("no budget is given", key="--epsilon")
    own = {epsilon_at(model, point) for point in points}
    if len(own) > 1:
        raise InputError("the budget of the case depends on parameters: give --at or --epsilon")
    return [max(0.0, value) for value in own]
