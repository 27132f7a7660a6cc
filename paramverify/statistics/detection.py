"""Detection: find an event that seems to break a budget, test it on fresh runs, and bound ε from below.

The three steps of StatDP [S] (input generator, event selector, hypothesis test) and the attack of DP-Sniper
[Bichsel21] share their runs: one set to select, and another, never looked at before, to test.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from paramverify.errors import InputError
from paramverify.statistics.attack import Learner, LowerBound, lower_bound, train
from paramverify.statistics.events import CandidateEvent, most_telling
from paramverify.statistics.experiments import Experiment
from paramverify.statistics.hypothesis import PValues, event_test
from paramverify.statistics.runs import Runs
from paramverify.statistics.search_space import LEAST, candidates

SELECT, TEST, TIES = 0, 1, 2  # stages: each has random numbers of its own
GRID = 12  # values of ε besides those that are asked for
REACH = 6  # standard errors that they reach to both sides of the estimate
ATTACKED = 3  # experiments on which attacks are trained
NO_EVENT = f"no output came {LEAST} times: take more --runs, or a mechanism with fewer different labels"
MOST_LEVEL = 0.5
WHY_LEVEL = "p-values are averaged, which draws them towards 1/2, so a larger level is not kept"
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
            raise ValueError("at least one run is needed")
        if not 0 < self.level <= MOST_LEVEL:
            raise ValueError(f"a level is above 0 and at most 1/2: {WHY_LEVEL}")


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
