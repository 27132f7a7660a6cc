"""Detection for (ε, δ): find a set of outputs that seems too likely, and test it on fresh runs.

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
from paramverify.statistics.attack import Attack, interval, train
from paramverify.statistics.detection import ATTACKED, NO_EVENT, SELECT, TEST, TIES, Settings
from paramverify.statistics.events import Measured, OutputEvent
from paramverify.statistics.experiments import Experiment
from paramverify.statistics.runs import Runs
from paramverify.statistics.samplers import Counts, Output
from paramverify.statistics.search_space import LEAST, events

if TYPE_CHECKING:
    import numpy as np

SURE = (0, 1, 2)  # standard errors by which an output of a set is above the ratio
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
    for errors in SURE:
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
