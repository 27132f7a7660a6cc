"""Detection for divergences: find events that tell two secrets apart, and bound a divergence from below.

Events E_1, ..., E_m and a direction are fixed on the runs for selection. On fresh runs let L_k be at most
P(E_k) and U_k at least Q(E_k), by Clopper and Pearson, each wrong with probability at most w/(2m). With
probability at least 1 − w all of them are right. Then every point (U_k, L_k) lies on or below the curve of
the errors of tests between P and Q, as do (0, 0), (1, 1) and the concave hull of all. This hull is the curve
of the two distributions whose masses are the steps of its corners. By Blackwell's theorem ([DongRS22]) these
come from P and Q by one random map of outputs, so no divergence of them is larger than that of P from Q: the
data processing inequality ([ErvenH14], for f-divergences [KairouzOV15]).

So the divergence of the steps is a lower bound, for all divergences and orders at once. With one event it is
the divergence of two numbers, L_1 and U_1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from paramverify.divergences.masses import MassDivergence, Masses
from paramverify.errors import InputError
from paramverify.statistics.detection import (
    ATTACKED,
    NO_EVENT,
    SELECT,
    TEST,
    TIES,
    Chosen,
    EventSet,
    Learned,
    Outputs,
    Settings,
    least_level,
)
from paramverify.statistics.events import LEAST, Measured, events
from paramverify.statistics.learned_attacks import intervals, train
from paramverify.statistics.samplers import Counts, Experiment, Output
from paramverify.statistics.sampling_runs import Runs

if TYPE_CHECKING:
    import numpy as np

MOST_EVENTS = 6  # that are tested together
KEPT = 24  # events from which these are chosen
CUTS = 24  # sets of the outputs with the largest, or the smallest, ratios

Hits = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Others:
    """All outputs but those of a set."""

    chosen: Chosen

    def hits(self, counts: Sequence[Counts], more: int, rng: np.random.Generator) -> Hits:
        """Returns how many of the counted runs of its own and of the other side are not in the set."""
        second, first = self.chosen.hits(counts, 1 - more, rng)
        return sum(counts[more].values()) - first, sum(counts[1 - more].values()) - second

    def __str__(self) -> str:
        match self.chosen:
            case Outputs():
                return f"S: all outputs but {str(self.chosen).removeprefix('S = ')}"
            case EventSet():
                return f"S: not ({self.chosen.event})"
            case Learned():
                return "S: the outputs that a learned attack does not accept"


AnyEvent = Chosen | Others


@dataclass(frozen=True, eq=False)
class CandidatePair:
    """Two secrets at a point that may be too far apart: side `more` (0 left, 1 right) from the other one.

    `least` is what the runs for selection show of the divergence, and `seen` what they would show without
    any error; both only compare candidates. `endless`: one of the events came on this side only, so the
    divergence may be infinite.
    """

    experiment: Experiment
    more: int
    chosen: tuple[AnyEvent, ...]
    bound: float
    least: float
    seen: float
    endless: bool

    @property
    def secrets(self) -> tuple[str, str]:
        """The secret whose distance from the other one is bounded, and the other."""
        return self.experiment.secret(self.more), self.experiment.secret(1 - self.more)

    @property
    def score(self) -> tuple[float, float]:
        """How far it is beyond its bound for certain, then how far it seems to be."""
        return self.least - self.bound, self.seen - self.bound


@dataclass(frozen=True, eq=False)
class TestedPair:
    """A candidate, and what fresh runs say: `p` is the least level at which its bound is rejected.

    The divergence is at least `least` with probability `confidence` over the runs.
    """

    candidate: CandidatePair
    hits: tuple[Hits, ...]
    runs: int
    p: float
    least: float
    confidence: float


@dataclass(frozen=True, eq=False)
class DivergenceDetection:
    """What testing says of each bound that was asked for, in ascending order.

    `selected` are the most telling candidates on the selection runs, the best first.
    """

    divergence: MassDivergence
    asked: tuple[TestedPair, ...]
    selected: tuple[CandidatePair, ...]
    settings: Settings

    @property
    def is_rejected(self) -> bool:
        """Whether one of the bounds that were asked for is rejected."""
        return any(map(self.rejects, self.asked))

    def rejects(self, row: TestedPair) -> bool:
        """Tells whether a bound is rejected: in ascending order, up to the first that is not.

        Who keeps a bound keeps every larger one. So the smallest bound that is kept has to be rejected first,
        and that happens with probability at most the level.
        """
        known = self.asked[: self.asked.index(row) + 1]
        return all(before.p <= self.settings.level for before in known)


def hull(points: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Returns the corners of the concave hull of (0, 0), (1, 1) and points above the line between them."""
    highest: dict[float, float] = {}
    for x, y in points:
        highest[x] = max(y, highest.get(x, 0.0))
    found = [(0.0, 0.0)]
    for point in [*sorted((x, y) for x, y in highest.items() if x < 1), (1.0, 1.0)]:
        while len(found) > 1 and not _bends(found[-2], found[-1], point):
            found.pop()
        found.append(point)
    return found


def steps(points: Iterable[tuple[float, float]]) -> Masses:
    """Returns the masses (p, q) that are the steps of the hull of points (q, p)."""
    return [(b[1] - a[1], b[0] - a[0]) for a, b in pairwise(hull(points))]


def _bends(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    """Tells whether the way from a over b to c turns to the right."""
    return (b[0] - a[0]) * (c[1] - a[1]) < (b[1] - a[1]) * (c[0] - a[0])


def least_divergence(divergence: MassDivergence, hits: Sequence[Hits], runs: int, wrong: float) -> float:
    """Returns a number that a divergence is not below, with probability at least 1 − `wrong` over the runs.

    `hits` are those of events that were fixed before the runs were made: of `runs` of P, and of as many of Q.
    """
    ends = intervals(hits, runs, wrong / (2 * len(hits)))
    return max(0.0, divergence.of(steps((high, low) for low, high in ends)))


@dataclass(frozen=True, eq=False)
class Counted:
    """An event with its hits on the runs for selection: on the side that is looked at, and on the other."""

    chosen: AnyEvent
    hits: Hits


def counted_events(counts: Sequence[Counts], more: int) -> Iterator[Counted]:
    """Yields events for one direction: sets by the ratio of outputs, other events, and their complements."""
    runs = sum(counts[0].values())
    for ordered, other in ((_often(counts, more), False), (_often(counts, 1 - more), True)):
        for outputs in _starts(ordered):
            first, second = (sum(counts[side][o] for o in outputs) for side in (more, 1 - more))
            yield _either(Outputs(outputs), (first, second), runs, other)
    sides = Measured(counts[more]), Measured(counts[1 - more])
    listed = events(counts)
    for event, first, second in zip(listed, *(side.hits(listed) for side in sides), strict=True):
        yield _either(EventSet(event), (first, second), runs, first < second)


def _either(chosen: Chosen, hits: Hits, runs: int, other: bool) -> Counted:
    """Returns an event, or all others."""
    return Counted(Others(chosen), (runs - hits[0], runs - hits[1])) if other else Counted(chosen, hits)


def _often(counts: Sequence[Counts], more: int) -> list[Output]:
    """Returns the outputs that came more often on side `more`, those with the largest ratios first."""
    ratios = {
        output: (first + 0.5) / (second + 0.5)
        for output, first in counts[more].items()
        for second in [counts[1 - more][output]]
        if first > second and first + second >= LEAST
    }
    return sorted(ratios, key=lambda output: (-ratios[output], output))


def _starts(ordered: Sequence[Output]) -> Iterator[frozenset[Output]]:
    """Yields starts of a sequence as sets: all of them, or some whose sizes grow."""
    size = len(ordered)
    sizes = range(1, size + 1) if size <= CUTS else {round(size ** (k / CUTS)) for k in range(1, CUTS + 1)}
    yield from (frozenset(ordered[:k]) for k in sorted(sizes))


def _outstanding(found: Sequence[Counted], runs: int, wrong: float) -> list[Counted]:
    """Returns the events that are corners of the hull where each is tested alone; at most `KEPT`."""
    ends = intervals([entry.hits for entry in found], runs, wrong / 2)
    at = {(high, low): entry for entry, (low, high) in zip(found, ends, strict=True)}
    corners = [at[corner] for corner in hull(at) if corner in at]
    return corners[:: -(-len(corners) // KEPT)] if corners else list(found[:1])


@dataclass(frozen=True, eq=False)
class _Choice:
    """Events of one direction, the least divergence that they show, and what is seen without any error."""

    events: tuple[Counted, ...]
    least: float
    seen: float


@dataclass(frozen=True, eq=False)
class PairSearch:
    """Looks for pairs of secrets that are far apart, on the runs for selection alone."""

    runs: Runs
    divergence: MassDivergence
    settings: Settings
    _kept: dict[tuple[Experiment, int], list[Counted]] = field(default_factory=dict)
    _single: dict[tuple[Experiment, int], _Choice] = field(default_factory=dict)
    _several: dict[tuple[Experiment, int], _Choice] = field(default_factory=dict)

    def single(self, experiment: Experiment, bound: float) -> list[CandidatePair]:
        """Returns both directions of an experiment, each with its most telling event; none without events."""
        found = []
        for more in (0, 1):
            place = experiment, more
            if place not in self._single:
                counts = self.runs.both(SELECT, experiment, self.settings.select)
                listed = list(counted_events(counts, more))
                if not listed:
                    continue
                own = _outstanding(listed, self.settings.select, self.settings.level)
                self._kept[place] = own
                self._single[place] = max((self._of((entry,)) for entry in own), key=_value)
            found.append(_pair(place, self._single[place], bound))
        return found

    def several(self, pair: CandidatePair, rng: np.random.Generator) -> CandidatePair:
        """Returns the same direction with several events, those of learned attacks too."""
        place = pair.experiment, pair.more
        if place not in self._several:
            listed = [*self._kept[place], *self._learned(*place, rng=rng)]
            best = self._single[place]
            while len(best.events) < MOST_EVENTS:
                rest = [entry for entry in listed if entry not in best.events]
                longer = [self._of((*best.events, entry)) for entry in rest]
                following = max(longer, key=_value, default=best)
                if following.least <= best.least:
                    break
                best = following
            self._several[place] = best
        return _pair(place, self._several[place], pair.bound)

    def _of(self, chosen: tuple[Counted, ...]) -> _Choice:
        size, hits = self.settings.select, [entry.hits for entry in chosen]
        least = least_divergence(self.divergence, hits, size, self.settings.level)
        shares = (((second + 0.5) / (size + 1), (first + 0.5) / (size + 1)) for first, second in hits)
        return _Choice(chosen, least, self.divergence.of(steps(shares)))

    def _learned(self, experiment: Experiment, more: int, rng: np.random.Generator) -> list[Counted]:
        counts = self.runs.both(SELECT, experiment, self.settings.select)
        found = []
        for attack in train(experiment, counts, self.settings.learner, self.runs.seed):
            learned = Learned(attack)
            chosen: AnyEvent = learned if attack.more == more else Others(learned)
            found.append(Counted(chosen, chosen.hits(counts, more, rng)))
        return found


def _value(choice: _Choice) -> tuple[float, float]:
    return choice.least, choice.seen


def _pair(place: tuple[Experiment, int], choice: _Choice, bound: float) -> CandidatePair:
    chosen = tuple(entry.chosen for entry in choice.events)
    endless = any(first > second == 0 for first, second in (entry.hits for entry in choice.events))
    return CandidatePair(*place, chosen, bound=bound, least=choice.least, seen=choice.seen, endless=endless)


def detect_divergence(
    search: PairSearch, experiments: Sequence[Experiment], asked: Sequence[Sequence[float]]
) -> DivergenceDetection:
    """Tests bounds of a divergence; each of `asked` has those of every experiment, and they ascend.

    Raises:
        InputError: no output came often enough to be tested.
    """
    import numpy as np

    rng = np.random.default_rng(np.random.SeedSequence(search.runs.seed, spawn_key=(TIES,)))
    rows: list[TestedPair] = []
    found: list[CandidatePair] = []
    for bounds in asked:
        pairs = zip(experiments, bounds, strict=True)
        found = [pair for experiment, bound in pairs for pair in search.single(experiment, bound)]
        if not found:
            raise InputError(NO_EVENT)
        found.sort(key=lambda pair: pair.score, reverse=True)
        found[:ATTACKED] = [search.several(pair, rng) for pair in found[:ATTACKED]]
        rows.append(_tested(search, max(found[:ATTACKED], key=lambda pair: pair.score), rng))
    return DivergenceDetection(search.divergence, tuple(rows), tuple(found), search.settings)


def _tested(search: PairSearch, candidate: CandidatePair, rng: np.random.Generator) -> TestedPair:
    """Returns what fresh runs say of a candidate."""
    settings = search.settings
    counts = search.runs.both(TEST, candidate.experiment, settings.runs)
    hits = tuple(chosen.hits(counts, candidate.more, rng) for chosen in candidate.chosen)

    def least(wrong: float) -> float:
        return least_divergence(search.divergence, hits, settings.runs, wrong)

    return TestedPair(
        candidate,
        hits,
        settings.runs,
        p=least_level(lambda level: least(level) > candidate.bound),
        least=least(1 - settings.confidence),
        confidence=settings.confidence,
    )
