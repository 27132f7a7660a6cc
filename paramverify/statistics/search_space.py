"""The search space of the event selector: which events of an experiment are looked at, and which are kept.

All of this sees the runs for selection only. So an interval may be fitted to them as closely as one likes:
the test is on fresh runs, of one event that was fixed before ([S] section 4.3).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from paramverify.statistics.events import (
    CandidateEvent,
    Feature,
    FeatureRange,
    Measured,
    OutputEvent,
    Quantity,
    is_real,
)
from paramverify.statistics.experiments import Experiment
from paramverify.statistics.samplers import Counts, Output

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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
