"""Events: sets of outputs that may tell two secrets apart, and how often they came.

The search space is that of the event selector of [S], section 4.3: single outputs; for a number, intervals;
for several outputs, intervals of one of them, of how often a label came, and of the length. `search_space`
makes it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, reduce
from operator import add
from typing import TYPE_CHECKING, cast

from paramverify.algebra.decimals import rounded
from paramverify.claims import show_sequence
from paramverify.statistics.experiments import Experiment
from paramverify.statistics.labels import spelt
from paramverify.statistics.samplers import Counts, Output

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

OFTEN = 0.004  # so large a share of the runs makes an event one that came often
OUTSTANDING = 3.5  # the score from which on others count too
ANY_NUMBER = "*"  # how a shape shows a place that any number may take


class Quantity(Enum):
    """What may be read off an output."""

    VALUE = "output"  # of an output that is one number
    COORDINATE = "coordinate"
    COUNT = "number of"
    LENGTH = "number of outputs"
    SMALLEST = "smallest coordinate"
    LARGEST = "largest coordinate"
    SUM = "sum of the coordinates"


@dataclass(frozen=True)
class Feature:
    """A number that is read off an output. `place` counts from 0; `label` is what is counted."""

    quantity: Quantity
    place: int = 0
    label: str = ""

    def of(self, output: Output) -> float | None:
        """Returns the number, or None where the output has none."""
        match self.quantity:
            case Quantity.VALUE:
                return as_number(output[0]) if len(output) == 1 else None
            case Quantity.COORDINATE:
                return as_number(output[self.place]) if self.place < len(output) else None
            case Quantity.COUNT:
                return float(output.count(self.label))
            case Quantity.LENGTH:
                return float(len(output))
        numbers = [as_number(label) for label in output]
        known = [number for number in numbers if number is not None]
        if not known or len(known) < len(numbers):
            return None
        if self.quantity is Quantity.SUM:
            total = reduce(add, known)  # from left to right, as `Measured` adds
            return None if math.isnan(total) else total
        return min(known) if self.quantity is Quantity.SMALLEST else max(known)

    def __str__(self) -> str:
        if self.quantity is Quantity.COORDINATE:
            return f"coordinate {self.place + 1}"
        if self.quantity is Quantity.COUNT:
            return f"number of {spelt(self.label)}"
        return str(self.quantity.value)


@dataclass(frozen=True)
class FeatureRange:
    """A feature lies between `low` and `high`, both included; infinity where there is no such end."""

    feature: Feature
    low: float = -math.inf
    high: float = math.inf

    def __contains__(self, output: Output) -> bool:
        number = self.feature.of(output)
        return number is not None and self.low <= number <= self.high

    def __str__(self) -> str:
        if self.low == self.high:
            return f"{self.feature} is {rounded(self.low, 12)}"
        if self.low == -math.inf:
            return f"{self.feature} at most {rounded(self.high, 12)}"
        if self.high == math.inf:
            return f"{self.feature} at least {rounded(self.low, 12)}"
        return f"{self.feature} between {rounded(self.low, 12)} and {rounded(self.high, 12)}"


@dataclass(frozen=True)
class OutputEvent:
    """A set of outputs: those that are or start with `value`, or have its shape, and meet all conditions.

    A shape is a sequence of labels and of None, which stands for any number.
    """

    kind: str  # "is", "starts with", "shape" or "range"
    value: tuple[str | None, ...] = ()
    conditions: tuple[FeatureRange, ...] = ()

    def __contains__(self, output: Output) -> bool:
        if self.kind == "is":
            return output == self.value
        if self.kind == "starts with":
            return output[: len(self.value)] == self.value
        if self.kind == "shape" and not _has_shape(output, self.value):
            return False
        return all(output in condition for condition in self.conditions)

    def __str__(self) -> str:
        told = " and ".join(map(str, self.conditions))
        if self.kind == "range":
            return told
        if not self.value:
            return "output that is an empty list"
        shown = show_sequence(ANY_NUMBER if label is None else label for label in self.value)
        if self.kind == "shape":
            return f"output {shown}{told and f' with {told}'}"
        return f"output {shown}" if self.kind == "is" else f"output {self.kind} {shown}"


def _has_shape(output: Output, shape: Sequence[str | None]) -> bool:
    return len(output) == len(shape) and all(
        label == wanted if wanted is not None else is_real(label)
        for label, wanted in zip(output, shape, strict=True)
    )


@dataclass(frozen=True, eq=False)
class CandidateEvent:
    """An event of an experiment in one direction: it is more likely on side `more` (0 left, 1 right)."""

    experiment: Experiment
    event: OutputEvent
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

    def is_often(self, epsilon: float) -> bool:
        """Tells whether the event came often enough for a score at ε to mean something."""
        return self.hits[0] * math.exp(-epsilon) + self.hits[1] >= OFTEN * self.runs


class Measured:
    """Counted outputs, and the features that were read off them; each is read once."""

    def __init__(self, counts: Counts) -> None:
        import numpy as np

        self.counts = counts
        self.outputs = list(counts)
        self.weights = np.fromiter(counts.values(), dtype=np.int64, count=len(counts))
        self._numbers: dict[Feature, NDArray[np.float64]] = {}
        self._shaped: dict[tuple[str | None, ...] | None, NDArray[np.bool_]] = {}
        self._below: dict[Feature, tuple[NDArray[np.float64], NDArray[np.int64]]] = {}

    @cached_property
    def table(self) -> NDArray[np.float64]:
        """The outputs as rows of numbers; NaN for labels, and where an output has ended."""
        import numpy as np

        places = [
            [o[k] if k < len(o) else "" for o in self.outputs] for k in range(self.lengths.max(initial=0))
        ]
        columns = [column_of(labels) for labels in places]
        return np.column_stack(columns) if columns else np.zeros((len(self.outputs), 0))

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """How long each output is."""
        import numpy as np

        return np.array([len(output) for output in self.outputs], dtype=np.int64)

    def numbers(self, feature: Feature) -> NDArray[np.float64]:
        """Returns the feature of each output; NaN where it has none."""
        import numpy as np

        if feature not in self._numbers:
            width = self.table.shape[1]
            match feature.quantity:
                case Quantity.VALUE | Quantity.COORDINATE:
                    known = feature.place < width
                    found = self.table[:, feature.place] if known else np.full(len(self.outputs), np.nan)
                    if feature.quantity is Quantity.VALUE:
                        found = np.where(self.lengths == 1, found, np.nan)
                case Quantity.COUNT:
                    found = np.array([float(o.count(feature.label)) for o in self.outputs])
                case Quantity.LENGTH:
                    found = self.lengths.astype(float)
                case _:
                    found = self._folded(feature.quantity)
            self._numbers[feature] = found
        return self._numbers[feature]

    def _folded(self, quantity: Quantity) -> NDArray[np.float64]:
        import numpy as np

        fold = {Quantity.SMALLEST: np.minimum, Quantity.LARGEST: np.maximum, Quantity.SUM: np.add}[quantity]
        found = np.full(len(self.outputs), np.nan)
        for place in range(self.table.shape[1]):
            there = self.lengths > place
            column = self.table[there, place]
            found[there] = fold(found[there], column) if place else column
        return found

    def within(self, event: OutputEvent) -> NDArray[np.bool_]:
        """Tells of each output whether it has the shape of an event and meets its conditions."""
        import numpy as np

        shape = event.value if event.kind == "shape" else None
        if shape not in self._shaped:
            fits = [shape is None or _has_shape(output, shape) for output in self.outputs]
            self._shaped[shape] = np.array(fits, dtype=bool)
        found = self._shaped[shape].copy()
        for condition in event.conditions:
            numbers = self.numbers(condition.feature)
            found &= (condition.low <= numbers) & (numbers <= condition.high)
        return found

    def between(
        self, feature: Feature, low: NDArray[np.float64], high: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Returns for each pair of ends how many runs have the feature between them, ends included."""
        import numpy as np

        if feature not in self._below:
            numbers = self.numbers(feature)
            order = np.argsort(numbers, kind="stable")
            known = order[: len(order) - int(np.isnan(numbers).sum())]  # NaN comes last
            self._below[feature] = numbers[known], np.concatenate([[0], np.cumsum(self.weights[known])])
        ordered, below = self._below[feature]
        upper: NDArray[np.int64] = below[np.searchsorted(ordered, high, side="right")]
        return upper - below[np.searchsorted(ordered, low, side="left")]

    def hits(self, found: Sequence[OutputEvent]) -> list[int]:
        """Returns for each event how many of the counted runs ended in it."""
        import numpy as np

        lengths = {len(e.value) for e in found if e.kind == "starts with"}
        starts: Counter[tuple[str | None, ...]] = Counter()
        for output, n in self.counts.items() if lengths else ():
            for length in lengths:
                starts[output[:length]] += n
        hits = []
        for event in found:
            if event.kind == "is":
                hits.append(self.counts[cast(Output, event.value)])
            elif event.kind == "starts with":
                hits.append(starts[event.value])
            elif event.kind == "range" and len(event.conditions) == 1:
                (only,) = event.conditions
                hits.append(int(self.between(only.feature, np.array([only.low]), np.array([only.high]))[0]))
            else:
                hits.append(int(self.weights[self.within(event)].sum()))
        return hits


def most_telling(found: Iterable[CandidateEvent], epsilon: float) -> CandidateEvent:
    """Returns the candidate with the largest score at ε; the first of equals.

    Of many events that hardly came, one always seems to be telling. So events that came seldom count only
    where they stand out, or where there are no others.
    """
    scored = [(c.score(epsilon), c) for c in found]
    often = [entry for entry in scored if entry[0] >= OUTSTANDING or entry[1].is_often(epsilon)]
    return max(often or scored, key=lambda entry: entry[0])[1]


def column_of(labels: Sequence[str]) -> NDArray[np.float64]:
    """Returns the numbers that labels are, NaN for others."""
    import numpy as np

    try:
        return np.array(labels, dtype=float)  # much faster than one by one
    except ValueError:
        read = [as_number(label) for label in labels]
        return np.array([math.nan if v is None else v for v in read], dtype=float)


def as_number(label: str) -> float | None:
    """Returns the number that a label is, or None."""
    try:
        value = float(label)
    except ValueError:
        return None
    return None if math.isnan(value) else value


def is_real(label: str) -> bool:
    """Tells whether a label is a number that is not whole: outputs of continuous mechanisms are such."""
    value = as_number(label)
    return value is not None and not value.is_integer()
