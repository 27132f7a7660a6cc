"""Detection: find an event or a set of outputs that seems to break a budget, and test it on fresh runs.

The three steps of StatDP [S] (input generator, event selector, hypothesis test) and the attack of DP-Sniper
[Bichsel21] share their runs: one set to select, and another, never looked at before, to test.

The hypothesis test of StatDP: is an event more likely than ε-privacy allows?

[S] Algorithm 2: of the c1 hits on one side each is kept with probability e^-ε, which leaves c̃1 of them. If
p1 <= e^ε·p2 for the probabilities of the event, then c̃1 is at most as large as c2 in distribution, and
Fisher's exact test of c̃1 against c2 gives a p-value. It is averaged over c̃1, here by its exact
distribution.

A set S breaks the bounds if Pr(S | more) > e^ε·Pr(S | less) + δ. The best set has the outputs that are more
than e^ε times as likely, which the runs for selection show ([Bichsel21] looks for outputs like that by a
learned ratio, with a threshold and a random decision at it). Whatever is chosen, it is tested on other runs:
Clopper–Pearson intervals bound both probabilities, each with half of the level, so

    δ  ≥  Pr(S | more) − e^ε·Pr(S | less)  ≥  low − e^ε·high        with at least that confidence.

An attack that decides at random is a set of outputs and coins: nobody who has only the output and coins can
do more than (ε, δ) allows for sets.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramverify.claims import show_sequence
from paramverify.errors import InputError
from paramverify.statistics.events import (
    LEAST,
    CandidateEvent,
    Measured,
    OutputEvent,
    candidates,
    events,
    most_telling,
)
from paramverify.statistics.learned_attacks import Attack, Learner, LowerBound, interval, lower_bound, train
from paramverify.statistics.samplers import Counts, Experiment, Output
from paramverify.statistics.sampling_runs import Runs

if TYPE_CHECKING:
    import numpy as np

CELLS = 400
SPREAD = 9  # standard deviations of c̃1 that the average covers: what is left out is below 10^-17


@dataclass(frozen=True)
class PValues:
    """`p` tests Pr(event | more) <= e^ε·Pr(event | less); `reversed` the same with the sides exchanged."""

    epsilon: float
    p: float
    reversed: float


def p_value(first: int, second: int, runs: int, epsilon: float) -> float:
    """Returns the averaged p-value for `first` hits on one side and `second` on the other, of `runs` each.

    E[1 − Hypergeom.cdf(c̃1 − 1 | 2n, n, c̃1 + c2)] with c̃1 ~ Binomial(c1, e^-ε), which is Fisher's exact
    test averaged over the thinning. A small value speaks against p1 <= e^ε·p2. ε must not be negative.

    With more than `CELLS` values of c̃1 they are put into cells, and each cell counts with its smallest
    c̃1. The tail falls with c̃1, so the p-value only becomes larger, by some hundredths of itself where it
    is 0.05.
    """
    import numpy as np
    from scipy import stats

    keep = math.exp(-epsilon)
    spread = SPREAD * math.sqrt(first * keep * (1 - keep)) + SPREAD
    low, high = max(0, math.floor(first * keep - spread)), min(first, math.ceil(first * keep + spread))
    kept = np.arange(low, high + 1, 1 + (high - low) // CELLS)
    below = stats.binom.cdf(np.append(kept[1:] - 1, high), first, keep)
    weights = np.diff(below, prepend=0.0)
    tails = stats.hypergeom.sf(kept - 1, 2 * runs, runs, kept + second)
    return float(min(1.0, np.sum(weights * tails) / np.sum(weights)))


def event_test(hits: tuple[int, int], runs: int, epsilon: float) -> PValues:
    """Returns the p-values of an event that came `hits` times on the side where it is taken as more likely,
    and on the other, of `runs` each.

    The event and its direction must have been chosen on other runs. Then rejecting where `p` <= level is
    wrong with probability at most about the level (averaging only draws the p-value towards 1/2).
    """
    first, second = hits
    return PValues(epsilon, p_value(first, second, runs, epsilon), p_value(second, first, runs, epsilon))


SELECT, TEST, TIES = 0, 1, 2  # stages: each has random numbers of its own
GRID = 12  # values of ε besides those that are asked for
REACH = 6  # standard errors that they reach to both sides of the estimate
ATTACKED = 3  # experiments on which attacks are trained
NO_EVENT = f"no output came {LEAST} times: use more --runs, or a mechanism with fewer different labels"
MOST_LEVEL = 0.5
WHY_LEVEL = "averaging pulls p-values towards 1/2, so the test does not keep a larger level"
SURE = 0.999  # a p-value above is as good as 1


@dataclass(frozen=True)
class Settings:
    """How much is run, and how sure the answers are."""

    runs: int = 500_000
    select: int = 100_000
    level: float = 0.05
    confidence: float = 0.9
    learner: Learner = Learner.LOGISTIC

    def __post_init__(self) -> None:
        if min(self.runs, self.select) < 1:
            raise ValueError("runs and select must be at least 1")
        if not 0 < self.level <= MOST_LEVEL:
            raise ValueError(f"a level must be above 0 and at most 1/2: {WHY_LEVEL}")


@dataclass(frozen=True, eq=False)
class Tested:
    """One value of ε: the candidate that was selected for it, and its p-values on fresh runs."""

    candidate: CandidateEvent
    values: PValues


@dataclass(frozen=True, eq=False)
class Detection:
    """What testing says: p-values over ε (ascending), and a lower bound on ε.

    `asked` are the rows for the values that were asked for. `selected` are the most telling candidates on the
    selection runs, the best first.
    """

    rows: tuple[Tested, ...]
    asked: tuple[Tested, ...]
    bound: LowerBound
    selected: tuple[CandidateEvent, ...]
    settings: Settings

    @property
    def interval(self) -> tuple[float | None, float | None]:
        """The largest tested ε that is rejected, and the smallest one above with a p-value above `SURE` ([F]
        Algorithm 4).

        None where there is no such ε. The left end is above the true ε with probability at most about twice
        the level, see `rejects`; the right end is no statement: that a test finds nothing proves nothing.
        """
        rejected = [row.values.epsilon for row in self.rows if self.rejects(row)]
        left = max(rejected, default=None)
        sure = [r.values.epsilon for r in self.rows if r.values.p > SURE]
        return left, min((e for e in sure if left is None or e > left), default=None)

    @property
    def is_rejected(self) -> bool:
        """Whether one of the bounds that were asked for is rejected."""
        return any(map(self.rejects, self.asked))

    def rejects(self, row: Tested) -> bool:
        """Tells whether the ε of a row is rejected.

        The values that were asked for are tested in ascending order, up to the first that is not rejected.
        Who is ε-private is so with every larger ε too. So of all budgets that the mechanism keeps, the
        smallest that was asked for has to be rejected first, and that alone happens with probability at most
        about the level: however many values are asked for, no correct one is rejected with a larger
        probability.

        The other values say more about the interval, and never hinder a value that was asked for. Such a
        value is rejected if a larger one that was asked for is; or if it and all smaller ones of all rows
        have p-values up to the level, which is a second order with the same bound.
        """
        if row in self.asked:
            return row.values.p <= self.settings.level and self.blocked_by(row) is None
        larger = [r for r in self.asked if r.values.epsilon >= row.values.epsilon]
        smaller = [r for r in self.rows if r.values.epsilon <= row.values.epsilon]
        return any(map(self.rejects, larger)) or all(r.values.p <= self.settings.level for r in smaller)

    def blocked_by(self, row: Tested) -> float | None:
        """Returns the smallest ε asked for that is below the row's and is not rejected; None if none."""
        before = [r.values for r in self.asked if r.values.epsilon < row.values.epsilon]
        return min((v.epsilon for v in before if v.p > self.settings.level), default=None)


def detect(
    runs: Runs, experiments: Sequence[Experiment], epsilons: Sequence[float], settings: Settings
) -> Detection:
    """Tests the given values of ε, and others around the ratio that was observed.

    For each ε the most telling event of all experiments, and its direction, is chosen on the selection runs;
    then it is tested on fresh runs of its experiment. Each p-value is one of a test that was fixed before the
    data was seen.

    Raises:
        InputError: no event came often enough to be tested.
    """
    found = selected(runs, experiments, settings)
    if not found:
        raise InputError(NO_EVENT)
    best = max(found, key=lambda c: c.lower)
    ordered = sorted(found, key=lambda c: c.lower, reverse=True)
    values = sorted({*epsilons, *_grid(best, settings)})
    rows = tuple(assess(runs, found, epsilon, settings) for epsilon in values)
    asked = tuple(row for row in rows if row.values.epsilon in set(epsilons))
    likely = list(dict.fromkeys(c.experiment for c in ordered))[:ATTACKED]
    return Detection(rows, asked, attacked(runs, likely, settings), tuple(ordered), settings)


def selected(runs: Runs, experiments: Sequence[Experiment], settings: Settings) -> list[CandidateEvent]:
    """Returns all candidates of the experiments, from the runs for selection."""
    return [
        candidate
        for experiment in experiments
        for candidate in candidates(experiment, runs.both(SELECT, experiment, settings.select))
    ]


def assess(runs: Runs, found: Sequence[CandidateEvent], epsilon: float, settings: Settings) -> Tested:
    """Tests the most telling candidate for ε on fresh runs of its experiment."""
    candidate = most_telling(found, epsilon)
    left, right = runs.hits(TEST, candidate.experiment, candidate.event, settings.runs)
    hits = (right, left) if candidate.more else (left, right)
    return Tested(candidate, event_test(hits, settings.runs, epsilon))


def attacked(runs: Runs, experiments: Sequence[Experiment], settings: Settings) -> LowerBound:
    """Returns what the best attack shows on fresh runs; attacks are trained and compared on the selection."""
    import numpy as np

    rng = np.random.default_rng(np.random.SeedSequence(runs.seed, spawn_key=(TIES,)))
    attacks = []
    for experiment in experiments:
        counts = runs.both(SELECT, experiment, settings.select)
        for attack in train(experiment, counts, settings.learner, runs.seed):
            attacks.append((lower_bound(attack, counts, rng, settings.confidence).epsilon, attack))
    best = max(attacks, key=lambda entry: entry[0])[1]
    fresh = runs.both(TEST, best.experiment, settings.runs)
    return lower_bound(best, fresh, rng, settings.confidence)


def _grid(best: CandidateEvent, settings: Settings) -> list[float]:
    """Returns values around the estimate, as far as its error on both sets of runs reaches; none below 0."""
    error = best.error * math.sqrt(1 + settings.select / settings.runs)
    places = [best.epsilon + error * REACH * (2 * k / GRID - 1) for k in range(GRID + 1)]
    return sorted({round(max(0.0, place), 4) for place in places})


SURE_OF_SETS = (0, 1, 2)  # standard errors by which an output of a set is above the ratio
ERRORS = 3  # standard errors that are taken off where sets are compared
SHOWN = 12  # outputs of a set that are told
SMALLEST = -100  # of p-values, as a power of 10; smaller ones are told as this one


@dataclass(frozen=True)
class BudgetPoint:
    """What is tested: e^ε and δ at one point. `key` is what the case calls δ."""

    ratio: float
    delta: float
    key: str = "delta"


@dataclass(frozen=True)
class Outputs:
    """The set of some outputs."""

    outputs: frozenset[Output]

    def hits(self, counts: Sequence[Counts], more: int, rng: np.random.Generator) -> tuple[int, int]:
        """Returns how many of the counted runs of its own and of the other side are in the set."""
        del rng
        first, second = (sum(counts[side][o] for o in self.outputs) for side in (more, 1 - more))
        return first, second

    def __contains__(self, output: Output) -> bool:
        return output in self.outputs

    def __str__(self) -> str:
        told = sorted(show_sequence(output) for output in self.outputs)
        more = f", ... and {len(told) - SHOWN} more" if len(told) > SHOWN else ""
        return f"S = {{{', '.join(told[:SHOWN])}{more}}}"


@dataclass(frozen=True)
class EventSet:
    """The set of the outputs of an event: an interval, say."""

    event: OutputEvent

    def hits(self, counts: Sequence[Counts], more: int, rng: np.random.Generator) -> tuple[int, int]:
        """Returns how many of the counted runs of its own and of the other side are in the set."""
        del rng
        first, second = (Measured(counts[side]).hits([self.event])[0] for side in (more, 1 - more))
        return first, second

    def __contains__(self, output: Output) -> bool:
        return output in self.event

    def __str__(self) -> str:
        return f"S: {self.event}"


@dataclass(frozen=True, eq=False)
class Learned:
    """What a trained attack accepts; at its threshold it decides at random."""

    attack: Attack

    def hits(self, counts: Sequence[Counts], more: int, rng: np.random.Generator) -> tuple[int, int]:
        """Returns how many of the counted runs of its own and of the other side the attack accepts."""
        del more
        return self.attack.hits(counts, rng)

    def __contains__(self, output: Output) -> bool:
        return self.attack.accepts([output])[0] >= 0.5

    def __str__(self) -> str:
        return "S: the outputs that a learned attack accepts"


Chosen = Outputs | EventSet | Learned


@dataclass(frozen=True, eq=False)
class CandidateSet:
    """A set of outputs that may be too likely on side `more` (0 left, 1 right) of an experiment.

    `hits` are those of the runs for selection, on that side and on the other.
    """

    experiment: Experiment
    chosen: Chosen
    more: int
    bounds: BudgetPoint
    hits: tuple[int, int]
    runs: int

    @property
    def secrets(self) -> tuple[str, str]:
        """The secret under which the set is more likely, and the other."""
        return self.experiment.secret(self.more), self.experiment.secret(1 - self.more)

    @property
    def beyond(self) -> float:
        """The delta that the set needs, as it was seen on the runs for selection."""
        return (self.hits[0] - self.bounds.ratio * self.hits[1]) / self.runs

    @property
    def lower(self) -> float:
        """An estimate of how far the set is beyond the bounds that is surely not too large."""
        c = self.bounds.ratio
        p, q = ((h + 2) / (self.runs + 4) for h in self.hits)  # so that no hit is no certainty
        error = math.sqrt((p * (1 - p) + c * c * q * (1 - q)) / self.runs)
        return self.beyond - self.bounds.delta - ERRORS * error


@dataclass(frozen=True, eq=False)
class TestedSet:
    """A candidate, and what fresh runs say: `p` is the level from which on its bounds are rejected.

    `delta` is a lower bound of the least δ for its e^ε, with probability `confidence` over the runs.
    """

    candidate: CandidateSet
    hits: tuple[int, int]
    runs: int
    p: float
    delta: float
    confidence: float


@dataclass(frozen=True, eq=False)
class SetDetection:
    """What testing says of each pair of bounds that was asked for, in ascending order of ε."""

    asked: tuple[TestedSet, ...]
    settings: Settings

    @property
    def is_rejected(self) -> bool:
        """Whether one of the bounds that were asked for is rejected."""
        return any(map(self.rejects, self.asked))

    def rejects(self, row: TestedSet) -> bool:
        """Tells whether bounds are rejected: in ascending order, up to the first that are not.

        Who keeps some bounds keeps the same δ with every larger ε. So the smallest ε that is kept has to be
        rejected first, and that happens with probability at most the level.
        """
        known = self.asked[: self.asked.index(row) + 1]
        return all(before.p <= self.settings.level for before in known)


def p_of(hits: tuple[int, int], runs: int, bounds: BudgetPoint) -> float:
    """Returns the least level at which Clopper–Pearson intervals reject p ≤ ratio·q + delta; at most 1."""

    def rejected(level: float) -> bool:
        low, high = interval(*hits, runs, level / 2)
        return low > bounds.ratio * high + bounds.delta

    return least_level(rejected)


def least_level(rejected: Callable[[float], bool]) -> float:
    """Returns the least level at which a test rejects, whose larger levels reject too; at most 1."""
    if not rejected(1.0):
        return 1.0
    low, high = float(SMALLEST), 0.0
    if rejected(math.pow(10, low)):
        return math.pow(10, low)
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if rejected(math.pow(10, middle)) else (middle, high)
    return math.pow(10, high)


def candidates_for(
    experiment: Experiment, counts: Sequence[Counts], bounds: BudgetPoint
) -> list[CandidateSet]:
    """Returns sets of outputs of an experiment in both directions, from the runs for selection."""
    runs = sum(counts[0].values())
    sides = Measured(counts[0]), Measured(counts[1])
    listed = events(counts)
    came = list(zip(listed, *(side.hits(listed) for side in sides), strict=True))
    found = []
    for more in (0, 1):
        for event, *hits in came:
            own = hits[more], hits[1 - more]
            found.append(CandidateSet(experiment, EventSet(event), more, bounds, hits=own, runs=runs))
        for chosen in _above(counts, more, bounds.ratio):
            first, second = (sum(counts[side][o] for o in chosen.outputs) for side in (more, 1 - more))
            found.append(CandidateSet(experiment, chosen, more, bounds, hits=(first, second), runs=runs))
    return found


def _above(counts: Sequence[Counts], more: int, ratio: float) -> list[Outputs]:
    """Returns the sets of outputs that came more than `ratio` times as often on one side."""
    found = []
    for errors in SURE_OF_SETS:
        chosen = frozenset(
            output
            for output, first in counts[more].items()
            for second in [counts[1 - more][output]]
            if first + second >= LEAST  # of real numbers each comes once, by chance on one side
            and first - ratio * second > errors * math.sqrt(first + ratio * ratio * second)
        )
        if chosen:
            found.append(Outputs(chosen))
    return list(dict.fromkeys(found))


def best_of(
    runs: Runs, experiment: Experiment, bounds: BudgetPoint, settings: Settings
) -> CandidateSet | None:
    """Returns the set of an experiment that is farthest beyond the bounds on the runs for selection."""
    counts = runs.both(SELECT, experiment, settings.select)
    found = candidates_for(experiment, counts, bounds)
    return max(found, key=lambda c: c.lower, default=None)


def detect_sets(
    runs: Runs, experiments: Sequence[Experiment], asked: Sequence[Sequence[BudgetPoint]], settings: Settings
) -> SetDetection:
    """Tests bounds; each of `asked` has those of every experiment, and they ascend in ε.

    Raises:
        InputError: no output came often enough to be tested.
    """
    import numpy as np

    rng = np.random.default_rng(np.random.SeedSequence(runs.seed, spawn_key=(TIES,)))
    rows = []
    for bounds in asked:
        pairs = list(zip(experiments, bounds, strict=True))
        found = [best for e, own in pairs if (best := best_of(runs, e, own, settings))]
        if not found:
            raise InputError(NO_EVENT)
        found.sort(key=lambda c: c.lower, reverse=True)
        for candidate in found[:ATTACKED]:
            counts = runs.both(SELECT, candidate.experiment, settings.select)
            for attack in train(candidate.experiment, counts, settings.learner, runs.seed):
                hits = attack.hits(counts, rng)
                own = Learned(attack), attack.more, candidate.bounds, hits, settings.select
                found.append(CandidateSet(candidate.experiment, *own))
        rows.append(_tested(runs, max(found, key=lambda c: c.lower), settings, rng))
    return SetDetection(tuple(rows), settings)


def _tested(runs: Runs, candidate: CandidateSet, settings: Settings, rng: np.random.Generator) -> TestedSet:
    """Returns what fresh runs say of a candidate."""
    counts = runs.both(TEST, candidate.experiment, settings.runs)
    hits = candidate.chosen.hits(counts, candidate.more, rng)
    low, high = interval(*hits, settings.runs, (1 - settings.confidence) / 2)
    return TestedSet(
        candidate,
        hits,
        settings.runs,
        p=p_of(hits, settings.runs, candidate.bounds),
        delta=max(0.0, low - candidate.bounds.ratio * high),
        confidence=settings.confidence,
    )
