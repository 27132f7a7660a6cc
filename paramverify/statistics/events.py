"""Events: sets of outputs that may tell two secrets apart, and which of them are searched.

The search space is that of the event selector of [S], section 4.3: single outputs; for a number, intervals;
for several outputs, intervals of one of them, of how often a label came, and of the length. `search_space`
makes it.

What an output of code is called: its label. Outputs of different types have different ones.

Numbers, truth values, None and bytes are called as Python shows them, whole floats as whole numbers. A text
is called by itself. Where that would be the label of something else (`1`, `nan`, `None`), or looks as if it
were in quotes, it is in quotes: `'1'`.

A case knows its observations as texts, also where they look like numbers. There an output means what a name
in a case file means (`models.names`): a text the observation of exactly this spelling; another value the only
observation that is spelt as it.

The search space of the event selector: which events of an experiment are looked at, and which are kept.

All of this sees the runs for selection only. So an interval may be fitted to them as closely as one likes:
the test is on fresh runs, of one event that was fixed before ([S] section 4.3).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import cached_property, reduce
from numbers import Number
from operator import add
from typing import TYPE_CHECKING, Any, cast

from paramverify.algebra.rationals import rounded
from paramverify.claims import show_sequence
from paramverify.errors import InputError
from paramverify.models.names import as_value
from paramverify.statistics.samplers import Counts, Experiment, Output

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Equal values of one of these types have the same label, and comparing them runs no code of the user.
PLAIN = frozenset({int, float, str, bool, bytes, type(None)})
SHAPE = "an output must be a number, a label, or a list of them"

_QUOTED = re.compile(r"[bB]?['\"]")
_NAMES = frozenset({"True", "False", "None"})
_READERS: tuple[Callable[[str], Any], ...] = (complex, Fraction, Decimal)


class ValueLabel(str):
    """The label of a value that is no text."""

    __slots__ = ()


def frozen(value: object) -> object:
    """Returns a value as one of a type in `PLAIN`, or as the label of a number of another type.

    Raises:
        InputError: neither a number, nor a truth value, text or None: other objects have no stable text.
    """
    import numpy as np

    if isinstance(value, np.generic):
        value = value.item()
    if type(value) in PLAIN or type(value) is ValueLabel:
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bytes):
        return bytes(value)
    if not isinstance(value, Number):
        listed = isinstance(value, (list, tuple, np.ndarray))
        other = "not a list in a list" if listed else f"not {type(value).__name__}"
        raise InputError(f"{SHAPE}, {other}", key="--mechanism")
    return ValueLabel(_of_value(value))


def label(value: object) -> str:
    """Returns the label of an output; see the module.

    Raises:
        InputError: it has none, as `frozen` says.
    """
    if type(value) is float and not value.is_integer():
        return repr(value)  # most outputs of continuous mechanisms
    value = frozen(value)
    if isinstance(value, str) and not isinstance(value, ValueLabel):
        shown = _text(value)
        return repr(shown) if _like_another(shown) else shown
    return _of_value(value)


def _of_value(value: object) -> str:
    """Returns the label of a frozen value that is no text."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    return _text(value)


def _text(value: object) -> str:
    try:
        shown = str(value)
    except ValueError:
        raise InputError("an output has too many digits", key="--mechanism") from None
    # Unpaired surrogates cannot be printed.
    return shown.encode(errors="backslashreplace").decode()


def _like_another(text: str) -> bool:
    """Tells whether a text is the label of something else, or could be taken for one in quotes."""
    if text in _NAMES or _QUOTED.match(text):
        return True
    for read in _READERS:
        with suppress(ValueError, ArithmeticError):
            read(text)
            return True
    return False


def spelt(label: str) -> str:
    """Returns a label as messages name it: in quotes where it is that of a text."""
    return label if _like_another(label) else repr(label)


@dataclass(frozen=True)
class KnownObservations:
    """The observations of a case, by which outputs are called where they mean one of them."""

    names: frozenset[str]
    numbers: dict[Fraction | None, tuple[str, ...]]

    @staticmethod
    def of(observations: Sequence[str]) -> KnownObservations:
        """Returns them with the numbers that they are spelt as."""
        numbers: dict[Fraction | None, tuple[str, ...]] = {}
        for name in dict.fromkeys(observations):
            value = as_value(name)
            if isinstance(value, Fraction):
                numbers[value] = (*numbers.get(value, ()), name)
        return KnownObservations(frozenset(observations), numbers)

    def label(self, value: object) -> str:
        """Returns the observation that an output means, or its own label, which is none of the observations.

        Raises:
            InputError: a number that two observations are spelt as; what has no label.
        """
        value = frozen(value)
        is_text = isinstance(value, str) and not isinstance(value, ValueLabel)
        own = label(value)
        exact = _text(value) if is_text else own
        named = () if is_text else self.numbers.get(_number(own), ())
        if len(named) > 1:
            reason = f"the output {own} could mean {named[0]!r} or {named[1]!r}: return one of these texts"
            raise InputError(reason, key="--mechanism")
        if named or exact in self.names:
            return named[0] if named else exact
        while own in self.names:
            own = repr(own)
        return own


def _number(shown: str) -> Fraction | None:
    """Returns the number that a label of a value is, decimals as they are written."""
    with suppress(ValueError, ZeroDivisionError):
        return Fraction(shown)
    return None


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


MOST_SINGLE = 200
MOST_PREFIXES = 200
MOST_PLACES = 20  # coordinates that are looked at one by one
MOST_LABELS = 10  # labels that are counted
MOST_SHAPES = 20
LEAST = 5  # an output that came less often is no event of its own
FEW = 24  # so many different numbers are ends of intervals themselves
QUANTILES = 32  # beyond, these and round numbers are
TAILS = (0.001, 0.003, 0.01)  # and quantiles near both ends
ROUND = 16
ATOM = 0.01  # and numbers that so large a share of the runs has
LADDER = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0)  # values of ε for each of which
KEPT = 4  # intervals are kept, in each direction
CORNERS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)  # quantiles at which all coordinates are cut
SURE = 4  # standard errors from which on two sides differ in a coordinate

Sides = tuple[Measured, Measured]


def candidates(experiment: Experiment, counts: Sequence[Counts]) -> list[CandidateEvent]:
    """Returns both directions of every event of an experiment, with how often it came."""
    runs = sum(counts[0].values())
    sides = Measured(counts[0]), Measured(counts[1])
    listed = list(dict.fromkeys(_events(sides)))
    found = []
    for event, left, right in zip(listed, *(side.hits(listed) for side in sides), strict=True):
        found.append(CandidateEvent(experiment, event, 0, (left, right), runs))
        found.append(CandidateEvent(experiment, event, 1, (right, left), runs))
    return found


def events(counts: Sequence[Counts]) -> list[OutputEvent]:
    """Returns events over the outputs that came: single outputs, starts, intervals, shapes and corners."""
    return list(dict.fromkeys(_events((Measured(counts[0]), Measured(counts[1])))))


def _events(sides: Sides) -> Iterator[OutputEvent]:
    total: Counter[Output] = Counter()
    for side in sides:
        total.update(side.counts)
    runs = max(int(side.weights.sum()) for side in sides)
    yield from (OutputEvent("is", o) for o, n in total.most_common(MOST_SINGLE) if n >= LEAST)
    real = any(is_real(label) for output in total for label in output[:1])
    starts: Counter[Output] = Counter()
    for output, n in total.items() if not real else ():  # starts that are real numbers come once
        for length in range(1, len(output)):
            starts[output[:length]] += n
    yield from (OutputEvent("starts with", o) for o, _ in starts.most_common(MOST_PREFIXES))
    found = features(sides)
    for feature in found:
        yield from (OutputEvent("range", (), (c,)) for c in intervals(sides, feature, runs))
    yield from _corners(sides, [f for f in found if f.quantity is Quantity.COORDINATE])
    yield from _shaped(sides, runs)


def features(sides: Sides) -> list[Feature]:
    """Returns what is worth reading off the outputs that came."""
    import numpy as np

    lengths = np.unique(np.concatenate([side.lengths for side in sides]))
    longest = int(lengths.max(initial=0))
    if longest <= 1:
        return [Feature(Quantity.VALUE)]
    found = [Feature(Quantity.COORDINATE, place) for place in range(min(longest, MOST_PLACES))]
    labels: Counter[str] = Counter()
    for side in sides:
        mixed = np.flatnonzero(~_reals(side).all(axis=1) | (side.lengths < side.table.shape[1]))
        for k in mixed.tolist():
            output = side.outputs[k]
            for label in output:
                labels[label] += side.counts[output]
    often = [label for label, _ in labels.most_common() if not is_real(label)]
    found += [Feature(Quantity.COUNT, 0, label) for label in often[:MOST_LABELS]]
    if len(lengths) > 1:
        found.append(Feature(Quantity.LENGTH))
    if all(np.array_equal((~np.isnan(side.table)).sum(axis=1), side.lengths) for side in sides):
        found += [Feature(q) for q in (Quantity.SMALLEST, Quantity.LARGEST, Quantity.SUM)]
    return found


def _reals(side: Measured) -> NDArray[np.bool_]:
    """Tells of each place of each output whether it is a number that is not whole."""
    import numpy as np

    found: NDArray[np.bool_] = np.isfinite(side.table) & (side.table != np.floor(side.table))
    return found


def intervals(sides: Sides, feature: Feature, runs: int) -> list[FeatureRange]:
    """Returns the most telling intervals of a feature, those without an end on one side included.

    `runs` were made on each side.

    For each ε of a ladder and each direction, the intervals with the largest score are kept, and those whose
    ratio is surely the largest. Where few numbers came, all intervals of them are compared; else intervals
    between quantiles and round numbers.
    """
    import numpy as np

    numbers = np.concatenate([side.numbers(feature) for side in sides])
    weights = np.concatenate([side.weights for side in sides])
    known = ~np.isnan(numbers)
    ends = _ends(numbers[known], weights[known])
    if len(ends) < 2:
        return []
    low, high = np.concatenate([[-math.inf], ends]), np.concatenate([ends, [math.inf]])
    i, j = np.triu_indices(len(low))
    i, j = np.concatenate([i, np.arange(1, len(low))]), np.concatenate([j, np.arange(len(ends))])
    whole = (low[i] == -math.inf) & (high[j] == math.inf)
    low, high = low[i][~whole], high[j][~whole]
    left, right = (side.between(feature, low, high) for side in sides)
    best = dict.fromkeys([*_best(left, right, runs), *_best(right, left, runs)])
    return [FeatureRange(feature, float(low[k]), float(high[k])) for k in best]


def _best(first: NDArray[np.int64], second: NDArray[np.int64], runs: int) -> list[int]:
    """Returns the numbers of the most telling events, as `CandidateEvent` scores them."""
    import numpy as np

    often = np.flatnonzero(first >= LEAST)
    a, b = first[often].astype(float), second[often].astype(float)
    error = np.sqrt(1 / (a + 0.5) + 1 / (b + 0.5) - 2 / (runs + 1))
    measures = [np.log((a + 0.5) / (b + 0.5)) - 3 * error]
    for epsilon in LADDER:
        thinned = a * math.exp(-epsilon)
        measures.append((thinned - b) / np.sqrt(thinned + b + 1))
    # A stable order of rounded numbers: the last bits of a square root do not decide.
    ranked = [np.argsort(-np.round(m, 9), kind="stable")[:KEPT] for m in measures]
    return [int(often[k]) for order in ranked for k in order]


def _ends(numbers: NDArray[np.float64], weights: NDArray[np.int64]) -> NDArray[np.float64]:
    """Returns the ends of intervals that are compared, ascending."""
    import numpy as np

    values, which = np.unique(numbers, return_inverse=True)
    if len(values) <= FEW:
        return values
    amounts = np.bincount(which.reshape(-1), weights=weights)
    below = np.cumsum(amounts) / amounts.sum()
    shares = np.array([*TAILS, *(np.arange(1, QUANTILES) / QUANTILES), *(1 - np.array(TAILS[::-1]))])
    quantiles = values[np.minimum(np.searchsorted(below, shares), len(values) - 1)]
    low, high = quantiles[len(TAILS)], quantiles[-1 - len(TAILS)]
    found = [values[amounts >= ATOM * amounts.sum()]]
    if math.isfinite(high - low) and high > low:
        step = _round_step((high - low) / ROUND)
        reach = (high - low) / 2
        first, last = max(quantiles[0], low - reach), min(quantiles[-1], high + reach)
        found.append(np.arange(math.ceil(first / step), math.floor(last / step) + 1) * step)
        grain = _round_step((high - low) / 1000)
        quantiles = np.round(np.round(quantiles / grain) * grain, 12)
    found.append(quantiles[np.isfinite(quantiles)])
    return np.unique(np.concatenate(found))


def _round_step(width: float) -> float:
    """Returns the largest of 1, 2 and 5 times a power of ten that is at most the width."""
    power = 10.0 ** math.floor(math.log10(width))
    return max(k * power for k in (1, 2, 5) if k * power <= width * (1 + 1e-9))


def _corners(sides: Sides, found: Sequence[Feature]) -> Iterator[OutputEvent]:
    """Yields products of half-lines: all coordinates in which the sides differ are cut at the same quantile.

    Each half-line is on the side where a coordinate is more likely; the opposite corner is for the other
    direction.
    """
    import numpy as np

    cuts: list[tuple[Feature, bool, NDArray[np.float64]]] = []
    for feature in found:
        numbers = [side.numbers(feature) for side in sides]
        if any(np.isnan(n).any() for n in numbers):
            continue
        both, weights = np.concatenate(numbers), np.concatenate([side.weights for side in sides])
        order = np.argsort(both, kind="stable")
        below = np.cumsum(weights[order]) / weights.sum()
        at = both[order][np.minimum(np.searchsorted(below, CORNERS), len(both) - 1)]
        middle = at[CORNERS.index(0.5)]
        above = [
            float(side.weights[n > middle].sum() / side.weights.sum())
            for side, n in zip(sides, numbers, strict=True)
        ]
        runs = int(sides[0].weights.sum())
        if abs(above[0] - above[1]) * math.sqrt(2 * runs) > SURE:
            spread = at[-1] - at[0]
            if math.isfinite(spread) and spread > 0:
                grain = _round_step(spread / 1000)
                at = np.round(np.round(at / grain) * grain, 12)
            cuts.append((feature, above[0] > above[1], at))
    if len(cuts) < 2:
        return
    for k in range(len(CORNERS)):
        for turned in (False, True):
            conditions = [
                FeatureRange(f, low=float(at[k])) if up != turned else FeatureRange(f, high=float(at[-1 - k]))
                for f, up, at in cuts
            ]
            yield OutputEvent("range", (), tuple(conditions))


def _shaped(sides: Sides, runs: int) -> Iterator[OutputEvent]:
    """Yields shapes of outputs that have labels and numbers, and intervals of their numbers."""
    shapes: Counter[tuple[str | None, ...]] = Counter()
    for side in sides:
        real = _reals(side)
        some = real.any(axis=1) & (real.sum(axis=1) < side.lengths)
        for output, places, mixed in zip(side.outputs, real.tolist(), some.tolist(), strict=True):
            if mixed:
                shape = tuple(None if r else label for label, r in zip(output, places, strict=False))
                shapes[shape] += side.counts[output]
    for shape, n in shapes.most_common(MOST_SHAPES):
        if n < LEAST:
            continue
        event = OutputEvent("shape", shape)
        yield event
        left, right = (_part(side, event) for side in sides)
        for place, label in enumerate(shape):
            if label is None:
                feature = Feature(Quantity.COORDINATE, place)
                yield from (
                    OutputEvent("shape", shape, (c,)) for c in intervals((left, right), feature, runs)
                )


def _part(side: Measured, event: OutputEvent) -> Measured:
    """Returns the outputs that are in an event."""
    within = side.within(event).tolist()
    kept = (o for o, inside in zip(side.outputs, within, strict=True) if inside)
    return Measured(Counter({o: side.counts[o] for o in kept}))
