"""A case tested by sampling, and what is done with what is found: certified, searched from, or audited."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction

from paramverify.algebra.budgets import read_epsilon
from paramverify.algebra.decimals import logarithm
from paramverify.algebra.expressions import evaluate, parse
from paramverify.errors import InputError, located
from paramverify.models.kinds import need_privacy
from paramverify.models.measures import Metric
from paramverify.models.model import Model
from paramverify.portfolio.obligations import require_possible
from paramverify.privacy.cases import PrivacyCase
from paramverify.statistics.audit import Audit, audit
from paramverify.statistics.bisection import Bisection, bisect
from paramverify.statistics.blackbox import BlackBoxSource, Mechanism
from paramverify.statistics.certification import (
    Certified,
    TightRatio,
    certify,
    check_length,
    epsilon_at,
    suspicious,
    tight_ratio,
    worst,
)
from paramverify.statistics.detection import SELECT, Detection, Settings, detect
from paramverify.statistics.divergence_detection import DivergenceDetection
from paramverify.statistics.divergence_testing import CertifiedPair, certify_pairs, tested_divergence
from paramverify.statistics.events import CandidateEvent
from paramverify.statistics.experiments import (
    MOST_PAIRS,
    Experiment,
    chosen_points,
    experiments,
    length_of,
)
from paramverify.statistics.guidance import guided
from paramverify.statistics.inputs import CaseInputs
from paramverify.statistics.mechanisms import DirectSource
from paramverify.statistics.rounded import rounded
from paramverify.statistics.runs import Runs, runs_of
from paramverify.statistics.samplers import ModelSource, Source
from paramverify.statistics.set_detection import SetDetection
from paramverify.statistics.set_testing import CertifiedSet, certify_sets, tested_sets, with_delta
from paramverify.tasks.tasks import HERE, Executor

PRECISION = Fraction(1, 10**9)  # relative distance of the bounds that a search ends with
BISECTED = Fraction(1, 1000)  # distance of the ends of a bisection: the three decimals of [F]
MOST_EPSILON = 700  # beyond, exp(-epsilon) is not a float
CERTIFIED = 10  # candidates that are evaluated exactly

AnyDetection = Detection | SetDetection | DivergenceDetection


class SamplingGoal(Enum):
    """What is done with what testing finds."""

    CERTIFY = "certify"
    SEARCH = "search"
    AUDIT = "audit"


@dataclass(frozen=True)
class Plan:
    """What is sampled, how much, and what for.

    Without a `function`, and not `direct`, the model is sampled; it is asked for when the case has been read,
    because it may import code of the user. `epsilons` are texts, as in a case; `at`
    gives numbers to parameters. `delta` takes the place of that of the case. `bisection` is how close both
    ends of a search come, or None for another search. `seconds` is the time for all, `limit` what is told
    where it is over. `plotted` says that p-values are to be drawn.
    """

    goal: SamplingGoal | None
    settings: Settings
    function: Callable[[], Mechanism] | None = None
    direct: bool = False
    epsilons: tuple[str, ...] = ()
    at: Mapping[str, Fraction] = field(default_factory=dict)
    length: int | None = None
    pairs: int = MOST_PAIRS
    seed: int = 0
    workers: int = 1
    executor: Executor = HERE
    bisection: Fraction | None = None
    seconds: float = 60.0
    limit: float = 60.0
    delta: Fraction | None = None
    plotted: bool = False


@dataclass(frozen=True, eq=False)
class SamplingResult:
    """What testing found: an audit, or a detection with what was made of it."""

    case: PrivacyCase
    model: Model
    plan: Plan
    audit: Audit | None = None
    detection: Detection | None = None
    certified: tuple[Certified, ...] = ()
    unknown: int = 0
    tight: TightRatio | None = None
    halved: Bisection | None = None
    sets: SetDetection | None = None
    certified_sets: tuple[CertifiedSet, ...] = ()
    divergence: DivergenceDetection | None = None
    certified_pairs: tuple[CertifiedPair, ...] = ()

    @property
    def is_found(self) -> bool:
        """Whether what was asked for was found: no difference in an audit, the tight budget in a search."""
        if self.audit:
            return self.audit.passes
        if self.halved:
            return self.halved.is_found
        return self.tight is not None and self.tight.is_within(PRECISION)

    @property
    def is_violated(self) -> bool:
        """Whether a budget was rejected, or with `CERTIFY` a candidate is a violation."""
        if self.plan.goal is SamplingGoal.CERTIFY:
            return (
                any(c.witness.exceeds for c in self.certified)
                or any(c.witness.exceeds for c in self.certified_sets)
                or any(c.witness.exceeds for c in self.certified_pairs)
            )
        found = self.detection or self.sets or self.divergence
        return self.plan.goal is None and found is not None and found.is_rejected


def carry_out(
    load: Callable[[Mapping[str, Fraction]], PrivacyCase],
    plan: Plan,
    on_detection: Callable[[PrivacyCase, AnyDetection], None] = lambda case, found: None,
) -> SamplingResult:
    """Tests a case, which is loaded with numbers for some parameters; `on_detection` hears of the first half.

    Raises:
        InputError: a case that cannot be sampled, or a plan that it has no use for.
        LimitError: a model larger than the bounds of this package.
    """
    deadline = time.monotonic() + plan.seconds
    goal, settings = plan.goal, plan.settings
    loaded, source = _subject(load({} if goal is SamplingGoal.SEARCH else plan.at), plan)
    model = need_privacy(loaded.model, "sample", sets=True, together=True)
    points = chosen_points(model, dict(plan.at), plan.seed, *([1] if goal is SamplingGoal.AUDIT else []))
    size = length_of(model, plan.length)
    if isinstance(model.measure, Metric) and (goal is SamplingGoal.SEARCH or plan.bisection):
        raise InputError("the bound of the case depends on the distance of two inputs: use budget")
    if goal in (SamplingGoal.CERTIFY, SamplingGoal.SEARCH):
        check_length(model, size)
    listed = experiments(model, size, points, plan.pairs)
    with runs_of(source, plan.seed, plan.workers, plan.executor) as sampled:
        if goal is SamplingGoal.AUDIT:
            found = audit(sampled, model, listed, settings.runs, settings.level)
            return SamplingResult(loaded, model, plan, audit=found)
        if model.measure.by_sets or model.measure.together:
            return _of_many(SamplingResult(loaded, model, plan), sampled, listed, on_detection)
        epsilons = _epsilons(plan.epsilons, model, points)
        if len(points) > 1:
            listed = guided(sampled, model, listed, settings, dict(plan.at))
        detection = detect(sampled, listed, epsilons, settings)
        on_detection(loaded, detection)
        return _followed(SamplingResult(loaded, model, plan, detection=detection), sampled, deadline)


def _subject(loaded: PrivacyCase, plan: Plan) -> tuple[PrivacyCase, Source]:
    """Returns the case, for an audit that of its single inputs, and what is to be sampled for it."""
    loaded = rounded(
        loaded, certified=plan.goal in (SamplingGoal.CERTIFY, SamplingGoal.SEARCH) or bool(plan.bisection)
    )
    model = with_delta(need_privacy(loaded.model, "sample", sets=True, together=True), plan.delta)
    loaded = replace(loaded, model=model)
    if (model.measure.by_sets or model.measure.together) and plan.goal is not SamplingGoal.AUDIT:
        _check_many(plan, model)
    if model.side_condition:
        reason = f"in this case {model.side_condition}, and sample draws all sequences"
        raise InputError(f"{reason}; so it cannot test this case: use verify or budget")
    require_possible(model)
    if plan.function is None and not plan.direct:
        return loaded, ModelSource(model)
    case_inputs = CaseInputs.of(loaded)
    if plan.goal is SamplingGoal.AUDIT:
        case_inputs = case_inputs.by_input()
    if plan.function is None:
        return case_inputs.case, DirectSource(case_inputs)
    return case_inputs.case, BlackBoxSource(plan.function(), case_inputs)


def _check_many(plan: Plan, model: Model) -> None:
    """Refuses what has no meaning for outputs that are compared in sets, or all together."""
    key = model.measure.key
    has = f"is about outputs one by one, and this case has {'a delta' if key == 'delta' else key}"
    if plan.goal is SamplingGoal.SEARCH:
        instead = "`budget` finds its least bound"
        if key == "delta":
            instead = "`budget` has --delta-for and --epsilon-for"
        raise InputError(f"a search {has}: {instead}", key="--search")
    if plan.plotted:
        raise InputError(f"the plot {has}", key="--plot")


def _of_many(
    found: SamplingResult,
    sampled: Runs,
    listed: Sequence[Experiment],
    on_detection: Callable[[PrivacyCase, AnyDetection], None],
) -> SamplingResult:
    """Returns what is found about outputs in sets, or all together, with what is made of it."""
    plan, model = found.plan, found.model
    certifies = plan.goal is SamplingGoal.CERTIFY
    epsilons = _given(plan.epsilons)
    if model.measure.together:
        divergence = tested_divergence(
            sampled, model, listed, epsilons, settings=plan.settings, fixed=plan.at
        )
        on_detection(found.case, divergence)
        pairs = certify_pairs(model, divergence) if certifies else []
        return replace(found, divergence=divergence, certified_pairs=tuple(pairs))
    sets = tested_sets(sampled, model, listed, epsilons, settings=plan.settings, fixed=plan.at)
    on_detection(found.case, sets)
    certified, unknown = certify_sets(sampled, model, sets) if certifies else ([], 0)
    return replace(found, sets=sets, certified_sets=tuple(certified), unknown=unknown)


def _followed(found: SamplingResult, sampled: Runs, deadline: float) -> SamplingResult:
    """Returns what was found with what is made of it."""
    plan, model, detection = found.plan, found.model, found.detection
    assert detection is not None
    if plan.goal is None:
        return found
    left = deadline - time.monotonic()
    if plan.bisection is not None:
        halved = bisect(found.case, detection.interval, plan.bisection, left, plan.limit)
        return replace(found, halved=halved)
    selected = detection.selected
    if plan.goal is SamplingGoal.CERTIFY:
        tried = [
            certify(model, c, _seen(sampled, c, detection)) for c in suspicious(model, selected, CERTIFIED)
        ]
        certified = tuple(entry for entry in tried if entry)
        return replace(found, certified=certified, unknown=len(tried) - len(certified))
    tried = [certify(model, c, _seen(sampled, c, detection)) for c in selected[:CERTIFIED]]
    known = [entry for entry in tried if entry]
    if not known:
        raise InputError("no output that the model knows was seen")
    start = worst(known).witness
    tight = tight_ratio(found.case, start, PRECISION, deadline - time.monotonic())
    return replace(found, tight=tight)


def _seen(sampled: Runs, candidate: CandidateEvent, found: Detection) -> list[tuple[str, ...]]:
    both = sampled.both(SELECT, candidate.experiment, found.settings.select)
    return list(dict.fromkeys(output for counts in both for output, _ in counts.most_common()))


def _epsilons(given: Sequence[str], model: Model, points: Iterable[Mapping[str, Fraction]]) -> list[float]:
    """Returns the budgets to test: those given, else that of the case if it is one number at all points."""
    if given:
        return _given(given)
    if isinstance(model.measure, Metric):
        reason = "the bound of the case depends on the distance of two inputs, and a test is about one number"
        raise InputError(f"{reason}: give --epsilon")
    own = {epsilon_at(model, point) for point in points}
    if len(own) > 1:
        raise InputError("the budget of the case depends on parameters: give --at or --epsilon")
    return [max(0.0, value) for value in own]


def _given(given: Sequence[str]) -> list[float]:
    with located(key="--epsilon"):
        return numbers(given)


def numbers(given: Sequence[str]) -> list[float]:
    """Returns budgets as numbers; each text may have several, with commas between them.

    Raises:
        InputError: a text that is no budget, or one that cannot be tested.
    """
    texts = [text for part in given for text in part.split(",") if text.strip()]
    if given and not texts:
        raise InputError("no budget is given")
    values = [_budget(text) for text in texts]
    if min(values, default=0) < 0:
        raise InputError("a budget is not negative")
    if max(values, default=0) > MOST_EPSILON:
        raise InputError(f"a budget of more than {MOST_EPSILON} cannot be tested")
    return values


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
