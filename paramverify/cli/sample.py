"""`paramverify sample`: statistical tests by sampling, and what the model says about their findings."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import exp
from typing import Any

import click

from paramverify.cli import _output
from paramverify.cli._cluster import cluster_option, cluster_wanted, executor
from paramverify.cli._common import (
    functions_as_cases,
    json_option,
    print_json,
    say,
    time_limit,
    timeout_option,
    whole,
)
from paramverify.cli._divergences import Bounded, bounded, loader
from paramverify.cli._exits import Exit
from paramverify.cli._pictures import Picture, picture_options
from paramverify.errors import located
from paramverify.privacy.cases import PrivacyCase
from paramverify.processes.time_limits import Lift
from paramverify.reports import sampling_reports as shown
from paramverify.reports.pictures import privacy_plots
from paramverify.statistics.black_boxes import (
    Mechanism,
    alone,
    check_shared,
    load_mechanism,
    patterns,
    read_input,
    watched_by,
    with_arguments,
)
from paramverify.statistics.case_testing import BISECTED, AnyDetection, Plan, SamplingGoal, carry_out, numbers
from paramverify.statistics.detection import (
    MOST_LEVEL,
    WHY_LEVEL,
    BudgetPoint,
    Detection,
    Settings,
    detect,
    detect_sets,
)
from paramverify.statistics.divergence_detection import PairSearch, detect_divergence
from paramverify.statistics.learned_attacks import Learner
from paramverify.statistics.samplers import MOST_PAIRS
from paramverify.statistics.sampling_runs import require, runs_of
from paramverify.subjects.written_numbers import number, read_point

LISTED = (230, "Test a case or a Python function by sampling, and certify or prove what is found.")


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
    delta: str | None
    renyi: str | None
    chi_squared: str | None
    kl: str | None
    zcdp: str | None
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
    plot: Picture | None
    as_json: bool
    timeout: float

    @property
    def goal(self) -> SamplingGoal | None:
        """What is done with what testing finds."""
        return SamplingGoal(self.wanted) if self.wanted else None

    @property
    def bounded(self) -> Bounded | None:
        """The divergence that was asked for."""
        return bounded(vars(self))

    @property
    def settings(self) -> Settings:
        """How much is run, and how sure the answers are."""
        level = self.level or (0.01 if self.goal is SamplingGoal.AUDIT else 0.05)
        select = self.select or max(1, self.runs // 5)
        return Settings(self.runs, select, level, self.confidence, learner=Learner(self.learner))

    def check(self) -> None:
        """Raises a UsageError if options do not go together."""
        if self.mechanism and self.direct:
            raise click.UsageError("--mechanism and --direct exclude each other: leave one of them out")
        if self.level and self.level > MOST_LEVEL:
            raise click.UsageError(f"--level is {self.level:g}, but must be at most 1/2, because {WHY_LEVEL}")
        if self.goal is SamplingGoal.AUDIT and self.plot:
            raise click.UsageError("there is no plot of an audit: leave --plot out")
        if self.bisection and self.goal is not SamplingGoal.SEARCH:
            raise click.UsageError("--bisection is a way to search: add --search")
        if self.precision and not self.bisection:
            raise click.UsageError("--precision is only for bisection: add --bisection")
        for inputs in self.neighbours:
            if any(text.startswith("--") for text in inputs):
                raise click.UsageError(
                    "--neighbours has fewer than two inputs: write, for example, --neighbours 0 1"
                )
        if self.delta and self.plot:
            raise click.UsageError(
                "--plot draws single outputs, but --delta tests sets of outputs: leave one of them out"
            )
        if self.bounded and self.plot:
            raise click.UsageError(
                f"--plot draws single outputs, but {self.bounded.option} tests all outputs together: "
                "leave one of them out"
            )
        if self.argument and not self.mechanism:
            raise click.UsageError("--argument is for a Python function: add --mechanism MODULE:FUNCTION")
        if self.goal is SamplingGoal.AUDIT and self.case is not None and not (self.mechanism or self.direct):
            raise click.UsageError(
                "--audit has nothing to compare with the model: add --mechanism or --direct"
            )
        alone = bool(self.neighbours) or self.answers is not None
        if self.case is not None:
            if alone:
                raise click.UsageError(
                    "the case defines its neighbours: leave --neighbours and --answers out"
                )
            return
        if not self.mechanism or not alone:
            raise click.UsageError(
                "nothing to test: give a CASE, or --mechanism with --neighbours or --answers"
            )
        if self.goal or self.at or self.length:
            raise click.UsageError(
                "--certify, --search, --audit, --at and --length need a CASE: add one, or leave them out"
            )


@click.command("sample")
@click.argument("case", metavar="[CASE]", type=click.Path(), required=False, callback=functions_as_cases)
@click.option(
    "--mechanism", metavar="MODULE:FUNCTION", help="Sample this Python function instead of the model."
)
@click.option("--argument", multiple=True, metavar="NAME=VALUE", help="Pass this argument to the function.")
@click.option("--neighbours", nargs=2, multiple=True, metavar="LEFT RIGHT",
              help="Compare these neighbouring inputs, such as 1,1 2,2, if there is no case.")  # fmt: skip
@click.option("--answers", type=click.IntRange(min=1), metavar="N",
              help="Compare inputs with N answers, by the usual patterns, if there is no case.")  # fmt: skip
@click.option("--differ", type=click.Choice(["each", "one"]), default="each", show_default=True,
              help="Let each answer differ in the inputs of --answers, or only one.")  # fmt: skip
@click.option("--direct", is_flag=True, help="Draw the mechanism's noise instead of sampling the model.")
@click.option(
    "--certify", "wanted", flag_value="certify", help="Compute exact probabilities of what testing finds."
)
@click.option(
    "--search",
    "wanted",
    flag_value="search",
    help="Find the tight budget from what testing finds, and prove it.",
)
@click.option("--bisection", is_flag=True, help="Search by bisecting the interval that testing finds.")
@click.option("--precision", metavar="E",
              help="Stop the bisection at an interval of this length.  [default: 0.001]")  # fmt: skip
@click.option("--audit", "wanted", flag_value="audit", help="Compare the implementation with the model.")
@click.option(
    "--epsilon", multiple=True, metavar="E,...", help="Test these budgets instead of that of the case."
)
@click.option(
    "--delta", metavar="D", help="Test sets of outputs, with this delta instead of that of the case."
)
@click.option(
    "--renyi", metavar="ORDER,E", help="Test this bound on a Rényi divergence instead, such as 4,ln(2)."
)
@click.option("--chi-squared", metavar="B", help="Test this bound on the chi-squared divergence instead.")
@click.option("--kl", metavar="B", help="Test this bound on the Kullback-Leibler divergence instead.")
@click.option("--zcdp", metavar="RHO", help="Test zero-concentrated privacy with this rho instead.")
@click.option(
    "--length", type=click.IntRange(min=1), metavar="N", help="Sample output sequences of this length."
)
@click.option("--at", "at", multiple=True, metavar="P=1/2,...", help="Set parameters to these values.")
@click.option("--pairs", type=click.IntRange(min=1), default=MOST_PAIRS, show_default=True, metavar="N",
              help="Try at most N secret pairs, first those with an input pattern.")  # fmt: skip
@click.option("--runs", type=click.IntRange(min=1), default=500_000, show_default=True, metavar="N",
              help="Test on N runs for each of the two compared distributions.")  # fmt: skip
@click.option("--select", type=click.IntRange(min=1), metavar="N",
              help="Choose the event (outputs to test) on N runs; by default a fifth of --runs.")  # fmt: skip
@click.option("--level", type=click.FloatRange(0, 1, True, True), metavar="P",
              help="Limit the probability of a wrong rejection, to at most 1/2; by default 0.05, or 0.01 "
                   "for --audit.")  # fmt: skip
@click.option("--confidence", type=click.FloatRange(0, 1, True, True), default=0.9, show_default=True,
              metavar="C", help="Set the confidence of the lower bound on epsilon.")  # fmt: skip
@click.option("--classifier", "learner", type=click.Choice([learner.value for learner in Learner]),
              default=Learner.LOGISTIC.value, show_default=True,
              help="Learn the attack behind the lower bound by this classifier.")  # fmt: skip
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="Set the seed of all runs.",
)
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, metavar="N",
              help="Share the runs among N processes, with the same results.")  # fmt: skip
@picture_options("Plot p-values to this file (.svg, .png or .pdf).")
@json_option
@timeout_option
@cluster_option
def command(**typed: Any) -> int:
    """Test a case or a Python function by sampling, and certify or prove what is found.

    \b
    Example:
      paramverify sample case.toml --at alpha=1/2 --certify

    A test proves nothing, so use --certify to compute the exact probabilities of the candidates that it
    finds.

    Exit codes: 1 if a budget is rejected, or, with --certify, if a candidate is a violation; otherwise 3.
    With --search: 0 if the tight budget was found, otherwise 3. With --audit: 0 if no difference was found,
    otherwise 1.
    """
    options = _Options(**typed)
    options.check()
    if cluster_wanted() and (options.mechanism or options.direct or options.workers > 1):
        raise click.UsageError("--cluster samples models only: leave --mechanism, --direct and --workers out")
    _precision(options.precision)
    require()
    with time_limit(options.timeout) as lift:
        return _test_alone(options, lift) if options.case is None else _with_case(options, options.case, lift)


def _with_case(options: _Options, path: str, lift: Lift) -> Exit:
    goal = options.goal
    plan = Plan(
        goal=goal,
        settings=options.settings,
        function=partial(_function, options.mechanism, options) if options.mechanism else None,
        direct=options.direct,
        epsilons=options.epsilon,
        at=read_point(options.at),
        length=options.length,
        pairs=options.pairs,
        seed=options.seed,
        workers=options.workers,
        executor=executor(),
        bisection=_precision(options.precision) if options.bisection else None,
        seconds=_output.remaining(options.timeout),
        limit=options.timeout,
        delta=_delta(options.delta),
        plotted=options.plot is not None,
    )

    def detected(case: PrivacyCase, found: AnyDetection) -> None:
        if goal is None:
            lift()
        if options.plot and isinstance(found, Detection):
            with whole():
                privacy_plots.write_pvalues(
                    shown.curves(case.title, found), options.plot.path, options.plot.page
                )
        if goal is not None:
            _output.found(shown.detected_lines(found), shown.detected_document(found))

    found = carry_out(loader(options.bounded, path), plan, detected)
    _print(shown.testing_lines(found), shown.testing_document(found), options.as_json)
    if goal in (SamplingGoal.SEARCH, SamplingGoal.AUDIT):
        done = Exit.VIOLATED if goal is SamplingGoal.AUDIT else Exit.UNKNOWN
        return Exit.HOLDS if found.is_found else done
    return Exit.VIOLATED if found.is_violated else Exit.UNKNOWN


def _function(name: str, options: _Options) -> Mechanism:
    watched_by(_output.runs_users_code)
    function = with_arguments(load_mechanism(name), options.argument)
    if options.workers > 1:
        check_shared(function)
    return function


def _test_alone(options: _Options, lift: Lift) -> Exit:
    """Tests a mechanism in Python on neighbours that the user gave."""
    epsilons = _numbers(options.epsilon)
    given = options.bounded.read() if options.bounded else None
    if not epsilons and not given:
        raise click.UsageError("without a CASE there is no budget to test: add --epsilon")
    assert options.mechanism is not None
    pairs = [("", read_input(left), read_input(right)) for left, right in options.neighbours]
    if options.answers is not None:
        pairs += patterns(options.answers, options.differ)
    source, listed = alone(_function(options.mechanism, options), pairs, options.pairs)
    delta = _delta(options.delta)
    with runs_of(source, options.seed, options.workers) as sampled:
        if given:
            divergence, bound = given
            search = PairSearch(sampled, divergence, options.settings)
            return _tell_many(detect_divergence(search, listed, [[bound] * len(listed)]), options, lift)
        if delta:
            asked = [[BudgetPoint(exp(e), float(delta))] * len(listed) for e in sorted(set(epsilons))]
            return _tell_many(detect_sets(sampled, listed, asked, options.settings), options, lift)
        found = detect(sampled, listed, epsilons, options.settings)
    return _tell(found, options.mechanism, options, lift)


def _tell_many(found: AnyDetection, options: _Options, lift: Lift) -> Exit:
    """Prints what testing found about outputs that are not compared one by one."""
    lift()
    _print(shown.detected_lines(found), shown.detected_document(found), options.as_json)
    return Exit.VIOLATED if found.is_rejected else Exit.UNKNOWN


def _tell(found: Detection, title: str, options: _Options, lift: Lift) -> Exit:
    """Prints what testing found, where nothing more is asked for."""
    if options.plot:
        lift()
        privacy_plots.write_pvalues(shown.curves(title, found), options.plot.path, options.plot.page)
    _print([*shown.event_lines(found), "", *shown.table(found)], shown.event_document(found), options.as_json)
    return Exit.VIOLATED if found.is_rejected else Exit.UNKNOWN


def _precision(given: str | None) -> Fraction:
    if given is None:
        return BISECTED
    return number(given, "--precision", lambda value: 0 < value <= 1, "a number above 0 and at most 1")


def _delta(given: str | None) -> Fraction | None:
    if given is None:
        return None
    return number(given, "--delta", lambda value: 0 <= value <= 1, "a probability, from 0 to 1,")


def _print(lines: list[str], document: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(document)
    else:
        for line in lines:
            say(line)


def _numbers(given: tuple[str, ...]) -> list[float]:
    with located(key="--epsilon"):
        return numbers(given)
