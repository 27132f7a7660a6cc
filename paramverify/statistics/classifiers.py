"""Classifiers: they tell from an output which side it probably came from.

`logistic` is logistic regression on indicators of outputs and labels, and on numbers with their squares.
`perceptron` is the network of DP-Sniper ([Bichsel21]): two hidden layers of 10 and 5 rectified units and a
logistic output, which minimise cross entropy with a small penalty for large weights, by Adam. Its input are
the numbers of an output, standardised, and a flag for each label that is no number.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from paramverify.statistics.events import as_number, column_of
from paramverify.statistics.samplers import Counts, Output

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_LABELS = 50  # labels of one place of the output that get an indicator each
FARTHEST = 1e100  # numbers beyond are taken as this, so that squares are finite
MOST_OUTPUTS = 200  # outputs that get an indicator each

HIDDEN = (10, 5)  # units of the layers of the perceptron
PENALTY = 1e-4
RATE = 0.01
BATCH = 1_000
EPOCHS = 10
DECIMALS = 3  # of its scores: nearer ones are ties


class Classifier(Protocol):
    """Scores outputs: the larger, the more they look like the left side."""

    def scores(self, outputs: Sequence[Output]) -> list[float]:
        """Returns one score for each output, also for those it was not trained on."""


@dataclass(frozen=True, eq=False)
class Logistic:
    """A linear score for every output, also for those it was not trained on.

    Each whole output in `outputs` has an indicator, each label in `labels[place]` too; a place without labels
    is read as a number, standardised by `scales[place]`.
    """

    outputs: Mapping[Output, int]
    labels: tuple[Mapping[str, int], ...]
    scales: tuple[tuple[float, float], ...]
    weights: NDArray[np.float64]

    def features(self, outputs: Sequence[Output]) -> NDArray[np.float64]:
        """Returns one row for each output."""
        import numpy as np

        columns = [_indicators([self.outputs.get(o) for o in outputs], len(self.outputs))]
        for place, (known, (middle, spread)) in enumerate(zip(self.labels, self.scales, strict=True)):
            here = [o[place] if place < len(o) else "" for o in outputs]
            if known:
                columns.append(_indicators([known.get(label) for label in here], len(known)))
            else:
                centred = (_numbers(here) - middle) / spread
                columns.append(np.column_stack([centred, centred**2, np.abs(centred), np.sign(centred)]))
        return np.hstack(columns)

    def scores(self, outputs: Sequence[Output]) -> list[float]:
        """Returns the scores, rounded so that outputs that differ in the last bits only are ties."""
        return [round(float(v), 9) for v in self.features(outputs) @ self.weights]


def logistic(outputs: Sequence[Output], counts: Sequence[Counts]) -> Logistic:
    """Returns a logistic regression that was trained on the counts of the left and of the right side."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    labels: list[dict[str, int]] = []
    scales: list[tuple[float, float]] = []
    for place in range(max(len(o) for o in outputs)):
        here = [o[place] if place < len(o) else "" for o in outputs]
        known = {label: k for k, label in enumerate(dict.fromkeys(here))}
        numbers = _numbers(here)
        labels.append(known if len(known) <= MOST_LABELS else {})
        scales.append((float(numbers.mean()), float(numbers.std()) or 1.0))
    few = {o: k for k, o in enumerate(outputs)} if len(outputs) <= MOST_OUTPUTS else {}
    untrained = Logistic(few, tuple(labels), tuple(scales), np.zeros(0))
    features = untrained.features(outputs)
    weights = np.array([side[o] for side in counts for o in outputs], dtype=float)
    sides = np.repeat([1, 0], len(outputs))
    model: Any = LogisticRegression(C=1e3, max_iter=1_000)
    with _one_thread():
        model.fit(np.concatenate([features, features]), sides, sample_weight=weights / weights.mean())
    return replace(untrained, weights=model.coef_[0])


def _indicators(places: Sequence[int | None], size: int) -> NDArray[np.float64]:
    import numpy as np

    found = np.zeros((len(places), size))
    for row, place in enumerate(places):
        if place is not None:
            found[row, place] = 1
    return found


def _numbers(labels: Sequence[str]) -> NDArray[np.float64]:
    """Returns the numbers that labels are, 0 for others, none beyond `FARTHEST`."""
    import numpy as np

    numbers = column_of(labels)
    return np.clip(np.where(np.isnan(numbers), 0.0, numbers), -FARTHEST, FARTHEST)


@dataclass(frozen=True, eq=False)
class Perceptron:
    """A trained network, and how it reads outputs: `flags[place]` are labels that are no numbers."""

    flags: tuple[Mapping[str, int], ...]
    middle: NDArray[np.float64]
    spread: NDArray[np.float64]
    network: Any

    def scores(self, outputs: Sequence[Output]) -> list[float]:
        """Returns the estimated probabilities of the left side, rounded."""
        rows = (_flagged(outputs, self.flags) - self.middle) / self.spread
        return [round(float(p), DECIMALS) for p in self.network.predict_proba(rows)[:, 1]]


def perceptron(outputs: Sequence[Output], counts: Sequence[Counts], seed: int) -> Perceptron:
    """Returns a perceptron that was trained on the runs of the left and of the right side.

    The seed decides its first weights and the order of the runs.
    """
    import numpy as np
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    flags: list[dict[str, int]] = []
    for place in range(max(len(o) for o in outputs)):
        here = dict.fromkeys(o[place] if place < len(o) else "" for o in outputs)
        named = [label for label in here if as_number(label) is None][:MOST_LABELS]
        flags.append({label: k for k, label in enumerate(named)})
    features = _flagged(outputs, flags)
    amounts = [np.array([side[o] for o in outputs]) for side in counts]
    rows = np.vstack([np.repeat(features, amount, axis=0) for amount in amounts])
    sides = np.repeat([1, 0], [int(amount.sum()) for amount in amounts])
    middle, spread = rows.mean(axis=0), rows.std(axis=0)
    spread[spread == 0] = 1.0
    network: Any = MLPClassifier(
        HIDDEN,
        activation="relu",
        solver="adam",
        alpha=PENALTY,
        batch_size=min(BATCH, len(rows)),
        learning_rate_init=RATE,
        max_iter=EPOCHS,
        random_state=seed,
    )
    with _one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the number of epochs is meant
        network.fit((rows - middle) / spread, sides)
    return Perceptron(tuple(flags), middle, spread, network)


def _one_thread() -> AbstractContextManager[object]:
    """Lets matrices be multiplied by one thread: so small ones it is faster, and sums have one order."""
    from threadpoolctl import threadpool_limits  # scikit-learn needs it too

    limits: AbstractContextManager[object] = threadpool_limits(1)
    return limits


def _flagged(outputs: Sequence[Output], flags: Sequence[Mapping[str, int]]) -> NDArray[np.float64]:
    """Returns for each place of the outputs its number, 0 where it has none, and its flags."""
    import numpy as np

    columns = [] if flags else [np.zeros((len(outputs), 1))]  # all outputs are empty lists
    for place, known in enumerate(flags):
        here = [o[place] if place < len(o) else "" for o in outputs]
        columns.append(_numbers(here)[:, None])
        columns.append(_indicators([known.get(label) for label in here], len(known)))
    return np.hstack(columns)
