"""Events: sets of outputs that may tell two secrets apart, and the choice of the most telling one."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from paramverify.claims import show_sequence
from paramverify.statistics.experiments import Experiment
from paramverify.statistics.samplers import Counts, Output

MOST_SINGLE = 200
MOST_PREFIXES = 200
HALF_LINES = 20
LEAST = 5  # an output that came less often is no event of its own


@dataclass(frozen=True)
class Event:
    """A set of outputs: those that are, start with, are at most, or are at least `value`."""

    kind: str  # "is", "starts with", "at most" or "at least"
    value: Output

    def __contains__(self, output: Output) -> bool:
        if self.kind == "is":
            return output == self.value
        if self.kind == "starts with":
            return output[: len(self.value)] == self.value
        bound, number = _number(self.value[0]), _number(output[0])
        if bound is None or number is None:
            return False
        return number <= bound if self.kind == "at most" else number >= bound

    def __str__(self) -> str:
        shown = show_sequence(self.value)
        return f"output {shown}" if self.kind == "is" else f"output {self.kind} {shown}"


@dataclass(frozen=True, eq=False)
class CandidateEvent:
    """An event of an experiment in one direction: it is more likely on side `more` (0 left, 1 right)."""

    experiment: Experiment
    event: Event
    more: int
    hits: tuple[int, int]  # on the side where it is more likely, and on the other
    runs: int

    @property
    def secrets(self) -> tuple[str, str]:
        """The secret under which the event is more likely, and the other."""
        return self.experiment.secret(self.more), self.experiment.secret(1 - self.more)

    @property
    def epsilon(self) -> float:
        """The logarithm of the ratio of the frequencies, half a run added to each so that it is finite."""
        return math.log((self.hits[0] + 0.5) / (self.hits[1] + 0.5))

    @property
    def error(self) -> float:
        """The standard error of `epsilon`, by the delta method."""
        shares = [1 / (hits + 0.5) - 1 / (self.runs + 1) for hits in self.hits]
        return math.sqrt(sum(shares))

    @property
    def lower(self) -> float:
        """An estimate of ε that is surely not too large: three standard errors below `epsilon`."""
        return self.epsilon - 3 * self.error

    def score(self, epsilon: float) -> float:
        """Returns how many standard errors the first frequency is above e^ε times the second.

        A score orders candidates before the test; it is no test.
        """
        first, second = self.hits
        thinned = first * math.exp(-epsilon)
        return (thinned - second) / math.sqrt(thinned + second + 1)


def events(counts: Sequence[Counts]) -> list[Event]:
    """Returns events over the outputs that came: single outputs, starts of sequences, and half-lines."""
    total: Counter[Output] = Counter()
    for counted in counts:
        total.update(counted)
    found = [Event("is", o) for o, n in total.most_common(MOST_SINGLE) if n >= LEAST]
    starts: Counter[Output] = Counter()
    for output, n in total.items():
        for length in range(1, len(output)):
            starts[output[:length]] += n
    found += [Event("starts with", o) for o, _ in starts.most_common(MOST_PREFIXES)]
    return found + _half_lines(total)


def _half_lines(total: Counts) -> list[Event]:
    numbers = {o: _number(o[0]) for o in total if len(o) == 1}
    if len(numbers) < max(3, len(total)) or any(v is None for v in numbers.values()):
        return []
    ordered = sorted(numbers, key=lambda o: numbers[o] or 0.0)
    all_runs, below = sum(total.values()), 0
    found: dict[Output, None] = {}
    for output in ordered[:-1]:
        below += total[output]
        if below * HALF_LINES >= all_runs * (len(found) + 1) or len(ordered) <= HALF_LINES:
            found[output] = None
    return [Event(kind, o) for o in found for kind in ("at most", "at least")]


def hits_of(found: Sequence[Event], counts: Counts) -> list[int]:
    """Returns for each event how many of the counted runs ended in it; the counts are gone through once."""
    lengths = {len(e.value) for e in found if e.kind == "starts with"}
    starts: Counter[Output] = Counter()
    for output, n in counts.items() if lengths else ():
        for length in lengths:
            starts[output[:length]] += n
    half_lines = _Line.of(counts) if any(e.kind in ("at most", "at least") for e in found) else None
    hits = []
    for event in found:
        if half_lines and event.kind in ("at most", "at least"):
            hits.append(half_lines.hits(event))
        else:
            hits.append((counts if event.kind == "is" else starts)[event.value])
    return hits


@dataclass(frozen=True, eq=False)
class _Line:
    """The numbers among the outputs in ascending order, and how many runs there are below each."""

    numbers: list[float]
    below: list[int]

    @staticmethod
    def of(counts: Counts) -> _Line:
        pairs = sorted((v, n) for o, n in counts.items() if (v := _number(o[0])) is not None)
        return _Line([v for v, _ in pairs], list(accumulate((n for _, n in pairs), initial=0)))

    def hits(self, event: Event) -> int:
        bound = _number(event.value[0])
        assert bound is not None
        if event.kind == "at most":
            return self.below[bisect_right(self.numbers, bound)]
        return self.below[-1] - self.below[bisect_left(self.numbers, bound)]


def candidates(experiment: Experiment, counts: Sequence[Counts]) -> list[CandidateEvent]:
    """Returns both directions of every event of an experiment, with how often it came."""
    runs = sum(counts[0].values())
    listed = events(counts)
    found = []
    for event, *hits in zip(listed, *(hits_of(listed, side) for side in counts), strict=True):
        found.append(CandidateEvent(experiment, event, 0, (hits[0], hits[1]), runs))
        found.append(CandidateEvent(experiment, event, 1, (hits[1], hits[0]), runs))
    return found


def most_telling(found: Iterable[CandidateEvent], epsilon: float) -> CandidateEvent:
    """Returns the candidate with the largest score at ε; the first of equals."""
    return max(found, key=lambda c: c.score(epsilon))


def _number(label: str) -> float | None:
    try:
        value = float(label)
    except ValueError:
        return None
    return None if math.isnan(value) else value
