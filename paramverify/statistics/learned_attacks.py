"""Lower bounds on ε by a learned attack, in the manner of DP-Sniper ([Bichsel21]).

A classifier estimates Pr(first side | output). The attack accepts the outputs that it scores
above a threshold t, and those at t with probability q, so that it accepts a chosen share of the other side's
outputs.
On fresh runs, Clopper–Pearson intervals bound how often it accepts on each side:

    ε >= ln(p1_low / p2_high)        with at least the stated confidence,

because each one-sided bound fails with probability at most (1 − confidence)/2, and an attack is an event.

Classifiers: they tell from an output which side it probably came from.

`logistic` is logistic regression on indicators of outputs and labels, and on numbers with their squares.
`perceptron` is the network of DP-Sniper ([Bichsel21]): two hidden layers of 10 and 5 rectified units and a
logistic output, which minimise cross entropy with a small penalty for large weights, by Adam. Its input are
the numbers of an output, standardised, and a flag for each label that is no number.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from enum import Enum
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Protocol

from paramverify.statistics.events import as_number, column_of
from paramverify.statistics.samplers import Counts, Experiment, Output

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


SHARE = 0.01  # of the other side's outputs: the constant c of DP-Sniper
SHARES = (0.001, SHARE, 0.1)  # and what logistic regression tries
WHOLE = 10  # and attacks that accept the best so many outputs, without ties to break


class Learner(Enum):
    """What learns which outputs belong to which side."""

    LOGISTIC = "logistic"
    PERCEPTRON = "perceptron"


@dataclass(frozen=True, eq=False)
class Attack:
    """Accepts outputs with a score above the threshold, and those at it with probability `ties`.

    With `more` = 1 the attack wants the outputs of the right side, and all scores count with the other sign.
    `share` is how many of the other side's outputs it accepted when it was trained.
    """

    experiment: Experiment
    classifier: Classifier
    more: int
    threshold: float
    ties: float
    share: float

    def accepts(self, outputs: Sequence[Output]) -> list[float]:
        """Returns the probability of accepting each output."""
        signed = _signed(self.classifier.scores(outputs), self.more)
        return [1.0 if s > self.threshold else self.ties if s == self.threshold else 0.0 for s in signed]

    def hits(self, counts: Sequence[Counts], rng: np.random.Generator) -> tuple[int, int]:
        """Returns how many of the counted runs of its own and of the other side the attack accepts.

        Ties are broken by random draws. Every output is scored once, for both sides, so that the attack is
        one event on both, also where rounding makes a score depend on what it is computed with.
        """
        outputs = list(dict.fromkeys((*counts[0], *counts[1])))
        chances = [(o, chance) for o, chance in zip(outputs, self.accepts(outputs), strict=True) if chance]
        first, second = (
            sum(side[o] if chance == 1 else int(rng.binomial(side[o], chance)) for o, chance in chances)
            for side in (counts[self.more], counts[1 - self.more])
        )
        return first, second


@dataclass(frozen=True, eq=False)
class LowerBound:
    """ε is at least `epsilon` with probability `confidence` over the runs; the attack that shows it."""

    epsilon: float
    confidence: float
    attack: Attack
    hits: tuple[int, int]
    runs: int


def confidence_bound(first: int, second: int, runs: int, confidence: float) -> float:
    """Returns ln(p1_low / p2_high) by Clopper–Pearson bounds, each of confidence 1 − (1 − confidence)/2.

    Minus infinity where nothing was hit on the first side.
    """
    if not first:
        return -math.inf
    low, high = interval(first, second, runs, (1 - confidence) / 2)
    return math.log(low / high)


def interval(first: int, second: int, runs: int, wrong: float) -> tuple[float, float]:
    """Returns a lower bound of the first probability and an upper one of the second, by Clopper and Pearson.

    Each is wrong with probability at most `wrong`, above 0 and at most 1/2; of `runs` each, so many were hit.
    """
    ((low, high),) = intervals([(first, second)], runs, wrong)
    return low, high


def intervals(hits: Sequence[tuple[int, int]], runs: int, wrong: float) -> list[tuple[float, float]]:
    """Returns the `interval` of each pair of hits, of `runs` each."""
    import numpy as np
    from scipy import stats

    first, second = np.array(hits, dtype=float).reshape(-1, 2).T
    low = np.where(first > 0, stats.beta.ppf(wrong, np.maximum(first, 1), runs - first + 1), 0.0)
    high = np.where(second < runs, stats.beta.isf(wrong, second + 1, np.maximum(runs - second, 1)), 1.0)
    return list(zip(low.tolist(), high.tolist(), strict=True))


def train(
    experiment: Experiment, counts: Sequence[Counts], learner: Learner = Learner.LOGISTIC, seed: int = 0
) -> list[Attack]:
    """Returns attacks in both directions, learned from the outputs of both sides.

    With the perceptron there is one for each direction: it accepts the share of the other side's outputs that
    DP-Sniper does. With logistic regression other shares are tried too, and besides some attacks that accept
    the best outputs as a whole, which need no random decision.
    """
    outputs = list(dict.fromkeys((*counts[0], *counts[1])))
    whole_too = learner is Learner.LOGISTIC
    classifier: Classifier = logistic(outputs, counts) if whole_too else perceptron(outputs, counts, seed)
    scores = classifier.scores(outputs)
    classifier = _Remembering(classifier, dict(zip(outputs, scores, strict=True)))
    found = []
    for more in (0, 1):
        others = counts[1 - more]
        runs = sum(others.values())
        masses: dict[float, int] = {}
        for output, score in zip(outputs, _signed(scores, more), strict=True):
            masses[score] = masses.get(score, 0) + others[output]
        ordered = sorted(masses, reverse=True)
        wanted = {share * runs for share in (SHARES if whole_too else (SHARE,))}
        if whole_too:
            wanted |= set(map(float, accumulate(masses[score] for score in ordered[:WHOLE])))
        for amount in sorted(wanted - {0.0}):
            threshold, ties = _threshold(ordered, masses, amount)
            share = amount / runs
            found.append(Attack(experiment, classifier, more, threshold=threshold, ties=ties, share=share))
    return found


@dataclass(frozen=True, eq=False)
class _Remembering:
    """A classifier with the scores of what it was trained on, which several attacks ask for."""

    classifier: Classifier
    known: Mapping[Output, float]

    def scores(self, outputs: Sequence[Output]) -> list[float]:
        new = [output for output in outputs if output not in self.known]
        found = dict(zip(new, self.classifier.scores(new), strict=True)) if new else {}
        return [self.known[o] if o in self.known else found[o] for o in outputs]


def _signed(scores: Sequence[float], more: int) -> list[float]:
    return [-score for score in scores] if more else list(scores)


def _threshold(ordered: Sequence[float], masses: Mapping[float, int], wanted: float) -> tuple[float, float]:
    """Returns the threshold, and the probability for ties, with which the wanted number is accepted."""
    total = 0
    for score in ordered:
        if total + masses[score] >= wanted:
            return score, (wanted - total) / masses[score]
        total += masses[score]
    return ordered[-1], 1.0


def lower_bound(
    attack: Attack, counts: Sequence[Counts], rng: np.random.Generator, confidence: float
) -> LowerBound:
    """Returns the bound that an attack shows on runs that it was not trained on."""
    runs = sum(counts[0].values())
    hits = attack.hits(counts, rng)
    return LowerBound(confidence_bound(*hits, runs, confidence), confidence, attack, hits, runs)
