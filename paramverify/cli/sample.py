"""`paramverify sample`: statistical tests by sampling, and what the model says about their findings."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from paramverify.algebra.budgets import read_epsilon
from paramverify.algebra.decimals import logarithm
from paramverify.algebra.expressions import constant, evaluate, parse
from paramverify.cli import _output
from paramverify.cli._common import (
    OUTPUT_FILE,
    Lift,
    json_option,
    parse_point,
    print_json,
    say,
    time_limit,
    timeout_option,
    whole,
)
from paramverify.cli._exits import Exit
from paramverify.cli._settings import settings
from paramverify.errors import InputError, located
from paramverify.models.kinds import need_privacy
from paramverify.models.measures import Metric
from paramverify.models.model import Model
from paramverify.portfolio.obligations import require_possible
from paramverify.privacy.cases import Case, load
from paramverify.reports import bisection as bisected
from paramverify.reports import sampling as shown
from paramverify.reports.pictures import pvalues
from paramverify.reports.pictures.plots import check_plot
from paramverify.statistics.alone import alone, patterns, read_input, with_arguments
from paramverify.statistics.attack import Learner
from paramverify.statistics.audit import audit
from paramverify.statistics.bisection import bisect
from paramverify.statistics.blackbox import BlackBoxSource, Mechanism, check_shared, load_mechanism
from paramverify.statistics.certification import (
    certify,
    check_length,
    epsilon_at,
    suspicious,
    tight_ratio,
    worst,
)
from paramverify.statistics.detection import MOST_LEVEL, SELECT, WHY_LEVEL, Detection, Settings, detect
from paramverify.statistics.events import CandidateEvent
from paramverify.statistics.experiments import MOST_PAIRS, Experiment, chosen_points, experiments, length_of
from paramverify.statistics.guidance import guided
from paramverify.statistics.inputs import CaseInputs
from paramverify.statistics.mechanisms import DirectSource
from paramverify.statistics.runs import Runs, require, runs_of
from paramverify.statistics.samplers import ModelSource, Source
from paramverify.statistics.user_code import watched_by

LISTED = (100, "Test a case by sampling, and certify or prove what is found.")

PRECISION = Fraction(1, 10**9)  # relative distance of the bounds that a search ends with
BISECTED = Fraction(1, 1000)  # distance of the ends of a bisection: the three decimals of [F]
MOST_EPSILON = 700  # beyond, exp(-epsilon) is not a float
CERTIFIED = 10  # candidates that are evaluated exactly


class _Goal(Enum):
    """What is done with what testing finds."""

    CERTIFY = "certify"
    SEARCH = "search"
    AUDIT = "audit"


@dataclass(frozen=True)
class _Options:
    """What the user typed."""

    case: str | None
    mechanism: str | None
    argument: tuple[str, ...]
    neighbours: tuple[tuple[str, str], ...]
    answers: int | None
    differ: str
    direct: bool
    wanted: str | None
    bisection: bool
    precision: str | None
    epsilon: tuple[str, ...]
    length: int | None
    at: tuple[str, ...]
    pairs: int
    runs: int
    select: int | None
    level: float | None
    confidence: float
    learner: str
    seed: int
    workers: int
    plot: Path | None
    as_json: bool
    timeout: float

    @property
    def goal(self) -> _Goal | None:
        """What is done with what testing finds."""
        return _Goal(self.wanted) if self.wanted else None

    @property
    def settings(self) -> Settings:
        """How much is run, and how sure the answers are."""
        level = self.level or (0.01 if self.goal is _Goal.AUDIT else 0.05)
        select = self.select or max(1, self.runs // 5)
        return Settings(self.runs, select, level, self.confidence, learner=Learner(self.learner))

    def check(self) -> None:
        """Raises a UsageError if options do not go together."""
        if self.mechanism and self.direct:
            raise click.UsageError("give either --mechanism or --direct")
        if self.level and self.level > MOST_LEVEL:
            raise click.UsageError(f"--level is at most 1/2: {WHY_LEVEL}")
        if self.goal is _Goal.AUDIT and self.plot:
            raise click.UsageError("--audit has no plot")
        if self.bisection and self.goal is not _Goal.SEARCH:
            raise click.UsageError("--bisection is a way to --search: give both")
        if self.precision and not self.bisection:
            raise click.UsageError("--precision is for --bisection")
        for inputs in self.neighbours:
            if any(text.startswith("--") for text in inputs):
                raise click.UsageError("--neighbours needs two inputs, such as 0 1")
        if self.argument and not self.mechanism:
            raise click.UsageError("--argument is for --mechanism")
        alone = bool(self.neighbours) or self.answers is not None
        if self.case is not None:
            if alone:
                raise click.UsageError("a case has its own neighbours: give no --neighbours and no --answers")
            return
        if not self.mechanism or not alone:
            raise click.UsageError(
                "give a CASE, or a --mechanism with --neighbours or --answers to test it alone"
            )
        if self.goal or self.at or self.length:
            raise click.UsageError("--certify, --search, --audit, --at and --length need a CASE")


@dataclass(frozen=True, eq=False)
class Asked:
    """What the user asked to be sampled."""

    case: Case
    model: Model
    experiments: list[Experiment]
    epsilons: list[float]
    options: _Options


@click.command("sample")
@click.argument("case", metavar="[CASE]", type=click.Path(), required=False)
@click.option("--mechanism", metavar="MODULE:FUNCTION", help="Sample this Python function, not the model.")
@click.option("--argument", multiple=True, metavar="NAME=VALUE", help="Give the function an argument.")
@click.option("--neighbours", nargs=2, multiple=True, metavar="LEFT RIGHT",
              help="Without a case: two neighbouring inputs, such as 1,1 2,2.")  # fmt: skip
@click.option("--answers", type=click.IntRange(min=1), metavar="N",
              help="Without a case: inputs of N answers, by the usual patterns.")  # fmt: skip
@click.option("--differ", type=click.Choice(["each", "one"]), default="each", show_default=True,
              help="With --answers: how many of them differ.")  # fmt: skip
@click.option("--direct", is_flag=True, help="Draw the mechanism's noise instead of sampling the model.")
@click.option("--certify", "wanted", flag_value="certify", help="Evaluate what testing finds exactly.")
@click.option("--search", "wanted", flag_value="search", help="Find the tight budget from it, and prove it.")
@click.option("--bisection", is_flag=True, help="With --search: bisect the interval from testing.")
@click.option("--precision", metavar="E",
              help="With --bisection: stop when both ends are this close.  [default: 0.001]")  # fmt: skip
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
              help="Probability of a wrong rejection, at most 1/2; 0.05, and 0.01 for --audit.")  # fmt: skip
@click.option("--confidence", type=click.FloatRange(0, 1, True, True), default=0.9, show_default=True,
              metavar="C", help="Confidence of the lower bound on epsilon.")  # fmt: skip
@click.option("--classifier", "learner", type=click.Choice([learner.value for learner in Learner]),
              default=Learner.LOGISTIC.value, show_default=True,
              help="What learns the attack of the lower bound.")  # fmt: skip
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, metavar="N", help="Seed of all runs."
)
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, metavar="N",
              help="Processes that share the runs; the results are the same.")  # fmt: skip
@click.option("--plot", type=OUTPUT_FILE, metavar="FILE", help="Plot p-values: .svg or .png.")
@json_option
@timeout_option
def command(**typed: Any) -> int:
    """Test a case by sampling, or a mechanism in Python without a case.

    A test proves nothing: it gives candidates, which --certify evaluates exactly.

    Exit code 1 if a budget is rejected, or with --certify if a candidate is a violation, else 3. With
    --search: 0 if the tight budget was found, else 3. With --audit: 0 if no difference was found, else 1.
    """
    options = _Options(**typed)
    options.check()
    _precision(options.precision)
    require()
    if options.plot:
        check_plot(options.plot)
    with time_limit(options.timeout) as lift:
        return _test_alone(options, lift) if options.case is None else _with_case(options, options.case, lift)


def _with_case(options: _Options, path: str, lift: Lift) -> Exit:
    deadline = time.monotonic() + _output.remaining(options.timeout)
    goal, settings = options.goal, options.settings
    loaded, source = _subject(path, options)
    model, given = need_privacy(loaded.model, "sample"), parse_point(options.at)
    points = chosen_points(model, given, options.seed, *([1] if goal is _Goal.AUDIT else []))
    size = length_of(model, options.length)
    if isinstance(model.measure, Metric) and (goal is _Goal.SEARCH or options.bisection):
        raise InputError("the bound of the case depends on the distance of two inputs: use budget")
    if goal in (_Goal.CERTIFY, _Goal.SEARCH):
        check_length(model, size)
    listed = experiments(model, size, points, options.pairs)
    with runs_of(source, options.seed, options.workers) as sampled:
        if goal is _Goal.AUDIT:
            return _audit(sampled, model, listed, settings, options.as_json)
        epsilons = _epsilons(options.epsilon, model, points)
        if len(points) > 1:
            listed = guided(sampled, model, listed, settings, given)
        return _test(Asked(loaded, model, listed, epsilons, options), sampled, deadline, lift)


def _subject(path: str, options: _Options) -> tuple[Case, Source]:
    """Returns the case, for an audit that of its single inputs, and what is to be sampled for it."""
    given = parse_point(options.at)
    loaded = load(path, {} if options.goal is _Goal.SEARCH else given, settings())
    model = need_privacy(loaded.model, "sample")
    if model.side_condition:
        reason = f"in this case {model.side_condition}, and sample draws all sequences"
        raise InputError(f"{reason}; so it cannot test this case: use verify or budget")
    require_possible(model)
    goal, mechanism = options.goal, options.mechanism
    if not mechanism and not options.direct:
        if goal is _Goal.AUDIT:
            raise click.UsageError("--audit compares with the model: give --mechanism or --direct")
        return loaded, ModelSource(model)
    case_inputs = CaseInputs.of(loaded)
    if goal is _Goal.AUDIT:
        case_inputs = case_inputs.by_input()
    if not mechanism:
        return case_inputs.case, DirectSource(case_inputs)
    return case_inputs.case, BlackBoxSource(_function(mechanism, options), case_inputs)


def _function(name: str, options: _Options) -> Mechanism:
    watched_by(_output.runs_users_code)
    function = with_arguments(load_mechanism(name), options.argument)
    if options.workers > 1:
        check_shared(function)
    return function


def _audit(sampled: Runs, model: Model, listed: list[Experiment], settings: Settings, as_json: bool) -> Exit:
    found = audit(sampled, model, listed, settings.runs, settings.level)
    _print(shown.audit_lines(found), shown.audit_document(found), as_json)
    return Exit.HOLDS if found.passes else Exit.VIOLATED


def _test_alone(options: _Options, lift: Lift) -> Exit:
    """Tests a mechanism in Python on neighbours that the user gave."""
    epsilons = _numbers(options.epsilon)
    if not epsilons:
        raise click.UsageError("without a CASE there is no budget to test: give it with --epsilon")
    assert options.mechanism is not None
    pairs = [("", read_input(left), read_input(right)) for left, right in options.neighbours]
    if options.answers is not None:
        pairs += patterns(options.answers, options.differ)
    source, listed = alone(_function(options.mechanism, options), pairs, options.pairs)
    with runs_of(source, options.seed, options.workers) as sampled:
        found = detect(sampled, listed, epsilons, options.settings)
    return _tell(found, options.mechanism, options, lift)


def _tell(found: Detection, title: str, options: _Options, lift: Lift) -> Exit:
    """Prints what testing found, where nothing more is asked for."""
    if options.plot:
        lift()
        pvalues.write_pvalues(shown.curves(title, found), options.plot)
    _print([*shown.lines(found), "", *shown.table(found)], shown.document(found), options.as_json)
    return Exit.VIOLATED if any(found.rejects(row) for row in found.asked) else Exit.UNKNOWN


def _test(asked: Asked, sampled: Runs, deadline: float, lift: Lift) -> Exit:
    options, model = asked.options, asked.model
    found = detect(sampled, asked.experiments, asked.epsilons, options.settings)
    if options.goal is None:
        return _tell(found, asked.case.title, options, lift)
    if options.plot:
        with whole():
            pvalues.write_pvalues(shown.curves(asked.case.title, found), options.plot)
    document, lines = shown.document(found), shown.lines(found)
    _output.found(lines, document)
    if options.bisection:
        seconds = deadline - time.monotonic()
        halved = bisect(asked.case, found.interval, _precision(options.precision), seconds, options.timeout)
        lines, document = [*bisected.lines(halved), *lines], document | bisected.document(halved)
        code = Exit.HOLDS if halved.is_found else Exit.UNKNOWN
    elif options.goal is _Goal.CERTIFY:
        tried = [
            certify(model, c, _seen(sampled, c, found)) for c in suspicious(model, found.selected, CERTIFIED)
        ]
        certified = [entry for entry in tried if entry]
        unknown = len(tried) - len(certified)
        lines = [*shown.certified_lines(model, certified, unknown, options.mechanism is not None), *lines]
        document |= shown.certified_document(model, certified, unknown)
        code = Exit.VIOLATED if any(entry.is_violation for entry in certified) else Exit.UNKNOWN
    else:
        tried = [certify(model, c, _seen(sampled, c, found)) for c in found.selected[:CERTIFIED]]
        certified = [entry for entry in tried if entry]
        if not certified:
            raise InputError("no output that the model knows was seen")
        start = worst(certified).witness
        tight = tight_ratio(asked.case, start, PRECISION, deadline - time.monotonic())
        lines, document = [*shown.tight_lines(tight), *lines], document | shown.tight_document(tight)
        code = Exit.HOLDS if tight.is_within(PRECISION) else Exit.UNKNOWN
    _print(lines, document, options.as_json)
    return code


def _precision(given: str | None) -> Fraction:
    with located(key="--precision"):
        value = constant(given) if given else BISECTED
        if not 0 < value <= 1:
            raise InputError("a number above 0 and at most 1 is needed")
        return value


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
    if given:
        return _numbers(given)
    if isinstance(model.measure, Metric):
        reason = "the bound of the case depends on the distance of two inputs, and a test is about one number"
        raise InputError(f"{reason}: give --epsilon")
    own = {epsilon_at(model, point) for point in points}
    if len(own) > 1:
        raise InputError("the budget of the case depends on parameters: give --at or --epsilon")
    return [max(0.0, value) for value in own]


def _budget(text: str) -> float:
    """Returns a budget that is written as in a case: a number, or a sum with logarithms such as ln(2)."""
    found = read_epsilon(parse(text))
    if abs(found.rational) > 2 * MOST_EPSILON:  # it may be no float
        return (2.0 if found.rational > 0 else -2.0) * MOST_EPSILON
    total = float(found.rational)
    for factor, argument in found.logarithms:
        value = evaluate(argument)
        if not isinstance(value, Fraction) or value <= 0:
            raise InputError(f"the logarithm in {text!r} is not that of a positive number")
        total += factor * logarithm(value)
    return total


def _numbers(given: tuple[str, ...]) -> list[float]:
    texts = [text for part in given for text in part.split(",") if text.strip()]
    with located(key="--epsilon"):
        if given and not texts:
            raise InputError("no budget is given")
        values = [_budget(text) for text in texts]
        if min(values, default=0) < 0:
            raise InputError("a budget is not negative")
        if max(values, default=0) > MOST_EPSILON:
            raise InputError(f"a budget of more than {MOST_EPSILON} cannot be tested")
    return values
