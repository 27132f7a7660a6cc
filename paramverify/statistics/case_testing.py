"""A case tested by sampling.

Where to sample, which bounds are tested, and what is done with what is found.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from typing import TypeVar

from paramverify.algebra.budgets import read_epsilon
from paramverify.algebra.constants import working_precision
from paramverify.algebra.domains import contains
from paramverify.algebra.expressions import evaluate, parse
from paramverify.algebra.polynomials import RationalFunction
from paramverify.algebra.rationals import logarithm
from paramverify.claims import AllOutputs
from paramverify.divergences import Average, Event, HockeyStick, SumDivergence
from paramverify.encodings.output_sums import excesses
from paramverify.errors import InputError, located
from paramverify.evidence.divergence_witnesses import LossWitness, MomentWitness, directed
from paramverify.evidence.enclosed_witnesses import ends
from paramverify.evidence.witnesses import ExactSetWitness, bounds_at, given_set
from paramverify.models.context import Checks
from paramverify.models.enclosed_models import EnclosedModel, EnclosedProbabilities
from paramverify.models.hmm import one_shot
from paramverify.models.model import Model, of_privacy
from paramverify.models.model_evaluation import Numbers
from paramverify.portfolio.obligations import require_possible
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.loss_verification import far_apart, is_within
from paramverify.privacy.set_verification import find_set
from paramverify.statistics.audit import Audit, audit
from paramverify.statistics.black_boxes import BlackBoxSource, CaseInputs, DirectSource, Mechanism
from paramverify.statistics.certification import (
    Bisection,
    Certified,
    TightRatio,
    bisect,
    certify,
    check_length,
    epsilon_at,
    suspicious,
    tight_ratio,
    worst,
)
from paramverify.statistics.detection import (
    NO_EVENT,
    SELECT,
    BudgetPoint,
    CandidateSet,
    Detection,
    SetDetection,
    Settings,
    best_of,
    detect,
    detect_sets,
)
from paramverify.statistics.divergence_detection import (
    CandidatePair,
    DivergenceDetection,
    PairSearch,
    detect_divergence,
)
from paramverify.statistics.events import CandidateEvent, candidates
from paramverify.statistics.samplers import (
    MOST_PAIRS,
    Experiment,
    ModelSource,
    Output,
    Source,
    chosen_points,
    experiments,
    length_of,
)
from paramverify.statistics.sampling_runs import Runs, runs_of
from paramverify.tasks.tasks import HERE, Executor

ROUNDS = 8

Score = TypeVar("Score", float, tuple[float, float])


def guided(
    runs: Runs,
    model: Model,
    start: Sequence[Experiment],
    settings: Settings,
    fixed: Mapping[str, Fraction],
    rounds: int = ROUNDS,
) -> list[Experiment]:
    """Returns the experiments and more of them, nearer and nearer to where the ratio seems largest.

    From the experiment with the largest ratio one parameter at a time is moved half of the way to either end
    of its interval, and the best of these experiments is the next start, until none is better. Parameters
    that are `fixed` stay. Only runs for selection are made, so that tests on fresh runs stay valid.

    Raises:
        InputError: no event came often enough to be tested.
    """

    def largest(experiment: Experiment) -> float | None:
        counts = runs.both(SELECT, experiment, settings.select)
        return max((c.lower for c in candidates(experiment, counts)), default=None)

    return towards(model, start, largest, fixed, rounds)


def towards(
    model: Model,
    start: Sequence[Experiment],
    score: Callable[[Experiment], Score | None],
    fixed: Mapping[str, Fraction],
    rounds: int = ROUNDS,
) -> list[Experiment]:
    """Returns the experiments and more of them, nearer and nearer to where the score seems largest.

    Raises:
        InputError: no experiment has a score.
    """
    found = list(start)
    first = [(value, e) for e in start if (value := score(e)) is not None]
    if not first:
        raise InputError(NO_EVENT)
    best = max(first, key=_value)
    for _ in range(rounds):
        nearby = [replace(best[1], point=point) for point in _nearby(model, best[1], fixed)]
        found += nearby
        tried = [(value, e) for e in nearby if (value := score(e)) is not None]
        following = max(tried, key=_value, default=best)
        if following[0] <= best[0]:
            break
        best = following
    return found


def _value(scored: tuple[Score, Experiment]) -> Score:
    return scored[0]


def _nearby(
    model: Model, experiment: Experiment, fixed: Mapping[str, Fraction]
) -> Iterator[dict[str, Fraction]]:
    starts = directed(model, experiment.left, experiment.right)
    for name in model.domain.ring.parameters:
        interval = model.domain.box[name]
        if name in fixed or interval.is_point:
            continue
        for end in (interval.lower, interval.upper):
            point = {**experiment.point, name: (experiment.point[name] + end) / 2}
            if point[name] == experiment.point[name] or not contains(model.domain, point):
                continue
            numbers = Numbers(model, point)
            if all(numbers.mass(side).sign() > 0 for side in starts):
                yield point


BITS = 48
SCALE = 2**40
NOTE = "the probabilities are rounded to multiples of 2^-40, which tests by sampling cannot detect"


def rounded(case: PrivacyCase, certified: bool = False) -> PrivacyCase:
    """Returns the case with probabilities that are rounded, if they are enclosed; other cases as they are.

    Raises:
        InputError: what is found by sampling is to be `certified`: that needs the exact numbers.
    """
    model = case.model
    if not isinstance(model, EnclosedModel):
        return case
    if certified:
        reason = "the probabilities of gauss and discrete_gaussian are enclosed, not exact"
        raise InputError(f"{reason}: leave this option out, and use `verify` or `budget`")
    known = EnclosedProbabilities(model.table, BITS)
    ring = model.domain.ring
    rows = []
    for state in range(len(model.table.states)):
        with working_precision(known.encloser.precision):
            middles = [sum(ends(ball)) / 2 for ball in known.given(state)]
        near = [Fraction(round(m * SCALE), SCALE) for m in middles]
        near[near.index(max(near))] += 1 - sum(near)
        rows.append([RationalFunction.of(ring.number(value)) for value in near])
    hmm = one_shot(Checks(model.domain), list(model.table.states), list(model.table.observations), rows)
    plain = Model(
        domain=model.domain,
        hmm=hmm,
        pairs=model.pairs,
        measure=model.measure,
        obligations=model.obligations,
        notes=(*model.notes, NOTE),
        maybe_empty=model.maybe_empty,
    )
    return replace(case, model=plain)


@dataclass(frozen=True, eq=False)
class CertifiedSet:
    """A candidate and the exact probabilities of its outputs; a violation if `witness.exceeds`."""

    candidate: CandidateSet
    witness: ExactSetWitness


def with_delta(model: Model, delta: Fraction | None) -> Model:
    """Returns the model with another delta, which a test is about.

    Raises:
        InputError: the model compares no sets of outputs.
    """
    if delta is None:
        return model
    if model.hmm.chosen:
        reason = "sets of outputs are not compared if an adversary chooses answers: leave --delta out"
        raise InputError(reason, key="--delta")
    given = RationalFunction.of(model.domain.ring.number(delta))
    if model.event is Event.ALL:
        reason = f"comparing sets of outputs requires an epsilon, but this case has {model.measure.key}"
        raise InputError(f"{reason}: leave --delta out", key="--delta")
    ratio = model.measure.bound_at(None)
    of_sets = delta or model.measure.share is not None
    return replace(model, measure=HockeyStick(ratio, given)) if of_sets else model


def tested_sets(
    runs: Runs,
    model: Model,
    listed: Sequence[Experiment],
    epsilons: Sequence[float],
    settings: Settings,
    fixed: Mapping[str, Fraction],
) -> SetDetection:
    """Tests the bounds of a model, or its delta with other values of ε, on experiments and near them.

    With parameters that are not `fixed`, experiments nearer and nearer to the worst point are added.

    Raises:
        InputError: no output came often enough to be tested.
    """
    wanted: list[float | None] = [*sorted(set(epsilons))] or [None]
    free = any(not model.domain.box[n].is_point for n in model.domain.ring.parameters if n not in fixed)

    def score(experiment: Experiment) -> float | None:
        best = best_of(runs, experiment, _bounds(model, experiment, wanted[-1]), settings)
        return best.lower if best else None

    all_of_them = towards(model, listed, score, fixed) if free else list(listed)
    asked = [[_bounds(model, experiment, epsilon) for experiment in all_of_them] for epsilon in wanted]
    return detect_sets(runs, all_of_them, asked, settings)


def _bounds(model: Model, experiment: Experiment, epsilon: float | None) -> BudgetPoint:
    ratio, delta = bounds_at(model, Numbers(model, experiment.point))
    if epsilon is not None:
        return BudgetPoint(math.exp(epsilon), float(delta))
    return BudgetPoint(float(ratio), float(delta), model.measure.key)


def certify_sets(runs: Runs, model: Model, found: SetDetection) -> tuple[list[CertifiedSet], int]:
    """Returns the exact evaluations of the sets that were seen beyond their bounds.

    The number is that of the sets of which the model has no output.
    """
    known, unknown = [], 0
    for candidate in dict.fromkeys(row.candidate for row in found.asked):
        if candidate.beyond <= candidate.bounds.delta:
            continue
        both = runs.both(SELECT, candidate.experiment, candidate.runs)
        chosen = _known(model, {o for counts in both for o in counts if o in candidate.chosen})
        if chosen:
            point = candidate.experiment.point
            known.append(CertifiedSet(candidate, given_set(model, *candidate.secrets, chosen, point)))
        else:
            unknown += 1
    return known, unknown


def _known(model: Model, outputs: Iterable[Output]) -> list[Output]:
    labels = set(model.hmm.observations)
    return sorted(output for output in outputs if labels.issuperset(output))


def simplest_set(model: Model, found: CertifiedSet) -> ExactSetWitness:
    """Returns the worst set of a violated direction at the simplest point near the one that was sampled."""
    witness = found.witness
    wanted = (witness.left, witness.right, witness.length)
    claim = next((c for c in excesses(model) if wanted in c.origins), None)
    if claim is None or not model.domain.ring.parameters:
        return witness
    return find_set(model, replace(claim, origins=(wanted,)), witness.parameters)


CERTIFIED = 10  # candidates that are evaluated exactly


@dataclass(frozen=True, eq=False)
class CertifiedPair:
    """A candidate and its exact divergence: a violation if `witness.exceeds`, spurious if `within`."""

    candidate: CandidatePair
    witness: MomentWitness | LossWitness
    within: bool


def tested_divergence(
    runs: Runs,
    model: Model,
    listed: Sequence[Experiment],
    epsilons: Sequence[float],
    settings: Settings,
    fixed: Mapping[str, Fraction],
) -> DivergenceDetection:
    """Tests the bound of a model, or other values of ε of its Rényi divergence, on experiments and near them.

    With parameters that are not `fixed`, experiments nearer and nearer to the worst point are added.

    Raises:
        InputError: no output came often enough to be tested, or a divergence that has no ε.
    """
    measure = model.measure
    assert isinstance(measure, SumDivergence | Average)
    if not measure.processed:
        reason = (
            f"a test requires a divergence that no function of the outputs makes larger, but {measure.key}"
        )
        raise InputError(
            f"{reason} does not declare this (`processed`): use verify or budget",
            key=f"privacy.{measure.key}",
        )
    divergence = measure.on_masses
    if epsilons and divergence.order is None:
        reason = f"the case bounds {divergence.key}, which has no epsilon: change the bound in the case"
        raise InputError(reason, key="--epsilon")
    search = PairSearch(runs, divergence, settings)

    def bound(experiment: Experiment) -> float:
        if epsilons:
            return max(epsilons)
        return measure.limit(Numbers(model, experiment.point).function)

    def score(experiment: Experiment) -> tuple[float, float] | None:
        return max((pair.score for pair in search.single(experiment, bound(experiment))), default=None)

    free = any(not model.domain.box[n].is_point for n in model.domain.ring.parameters if n not in fixed)
    all_of_them = towards(model, listed, score, fixed) if free else list(listed)
    wanted: list[float | None] = [*sorted(set(epsilons))] or [None]
    asked = [[bound(e) if epsilon is None else epsilon for e in all_of_them] for epsilon in wanted]
    return detect_divergence(search, all_of_them, asked)


def certify_pairs(model: Model, found: DivergenceDetection) -> list[CertifiedPair]:
    """Returns the exact divergences of the secrets and priors that seem to be beyond the bound of a model."""
    certified = []
    beyond = [pair for pair in found.selected if pair.seen > pair.bound or pair.endless]
    for candidate in beyond[:CERTIFIED]:
        origin = AllOutputs(*candidate.secrets, length=candidate.experiment.length)
        point = candidate.experiment.point
        witness = far_apart(model, origin, point)
        certified.append(CertifiedPair(candidate, witness, is_within(model, witness, point)))
    return certified


def worst_pair(certified: Sequence[CertifiedPair]) -> CertifiedPair:
    """Returns the violation with the largest divergence, or another one if there is none."""
    return max(certified, key=lambda entry: (entry.witness.exceeds, entry.witness.nearness))


PRECISION = Fraction(1, 10**9)  # relative distance of the bounds that a search ends with
BISECTED = Fraction(1, 1000)  # distance of the ends of a bisection: the three decimals of [F]
MOST_EPSILON = 700  # beyond, exp(-epsilon) is not a float

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
            witnesses = (
                *(each.witness for each in self.certified),
                *(each.witness for each in self.certified_sets),
                *(each.witness for each in self.certified_pairs),
            )
            return any(witness.exceeds for witness in witnesses)
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
    model = of_privacy(loaded.model, "sample")
    points = chosen_points(model, dict(plan.at), plan.seed, *([1] if goal is SamplingGoal.AUDIT else []))
    size = length_of(model, plan.length)
    if model.measure.distances and (goal is SamplingGoal.SEARCH or plan.bisection):
        raise InputError(
            "--search is not available, because the bound of the case depends on the "
            "distance of two inputs: use budget"
        )
    if goal in (SamplingGoal.CERTIFY, SamplingGoal.SEARCH):
        check_length(model, size)
    listed = experiments(model, size, points, plan.pairs)
    with runs_of(source, plan.seed, plan.workers, plan.executor) as sampled:
        if goal is SamplingGoal.AUDIT:
            found = audit(sampled, model, listed, settings.runs, settings.level)
            return SamplingResult(loaded, model, plan, audit=found)
        if model.measure.event is not Event.OUTPUT:
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
    model = with_delta(of_privacy(loaded.model, "sample"), plan.delta)
    loaded = replace(loaded, model=model)
    if model.measure.event is not Event.OUTPUT and plan.goal is not SamplingGoal.AUDIT:
        _check_many(plan, model)
    if model.side_condition:
        reason = f"in this case {model.side_condition}, but sample draws all sequences"
        raise InputError(f"{reason}, so it cannot test this case: use verify or budget")
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
    has = f"compares outputs one by one, but this case has {'a delta' if key == 'delta' else key}"
    if plan.goal is SamplingGoal.SEARCH:
        instead = "use `budget` to find the least bound"
        if key == "delta":
            instead = "use `budget` with --delta-for or --epsilon-for"
        raise InputError(f"--search {has}: {instead}", key="--search")
    if plan.plotted:
        raise InputError(f"--plot {has}: leave it out", key="--plot")


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
    if model.measure.event is Event.ALL:
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
        raise InputError("none of the outputs that were seen exists in the model")
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
    if model.measure.distances:
        reason = "the bound of the case depends on the distance of two inputs, but a test needs one number"
        raise InputError(f"{reason}: add --epsilon")
    own = {epsilon_at(model, point) for point in points}
    if len(own) > 1:
        raise InputError("the budget of the case depends on parameters: add --at or --epsilon")
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
        raise InputError("no budget is given: write, for example, 1/2 or ln(2)")
    values = [_budget(text) for text in texts]
    if min(values, default=0) < 0:
        raise InputError("a budget must not be negative")
    if max(values, default=0) > MOST_EPSILON:
        raise InputError(f"a budget must be at most {MOST_EPSILON} to be tested")
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
            raise InputError(f"the argument of ln must be positive in {text!r}")
        total += factor * logarithm(value)
    return total
