"""Lower bounds on ε by a learned attack, in the manner of DP-Sniper ([Bichsel21]).

A classifier estimates Pr(first side | output). The attack accepts the outputs that it scores above a
threshold t, and those at t with probability q, so that it accepts a chosen share of the other side's outputs.
On fresh runs, Clopper–Pearson intervals bound how often it accepts on each side:

    ε >= ln(p1_low / p2_high)        with at least the stated confidence,

because each one-sided bound fails with probability at most (1 − confidence)/2, and an attack is an event.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from paramverify.statistics.experiments import Experiment
from paramverify.statistics.samplers import Counts, Output

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHARES = (0.001, 0.01, 0.1)  # of the other side's outputs; DP-Sniper takes 0.01
WHOLE = 10  # and attacks that accept the best so many outputs, without ties to break
MOST_LABELS = 50  # labels of one place of the output that get an indicator each
FARTHEST = 1e100  # numbers beyond are taken as this, so that squares are finite
MOST_OUTPUTS = 200  # outputs that get an indicator each


@dataclass(frozen=True, eq=False)
class Classifier:
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
                centred = (np.array([_number(label) for label in here]) - middle) / spread
                columns.append(np.column_stack([centred, centred**2, np.abs(centred), np.sign(centred)]))
        return np.hstack(columns)

    def scores(self, outputs: Sequence[Output]) -> list[float]:
        """Returns the scores, rounded so that outputs that differ in the last bits only are ties."""
        return [round(float(v), 9) for v in self.features(outputs) @ self.weights]


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
    from scipy import stats

    wrong = (1 - confidence) / 2
    if not first:
        return -math.inf
    low = stats.beta.ppf(wrong, first, runs - first + 1)
    high = stats.beta.isf(wrong, second + 1, runs - second) if second < runs else 1.0
    return math.log(low / high)


def train(experiment: Experiment, counts: Sequence[Counts]) -> list[Attack]:
    """Returns attacks in both directions, by logistic regression on the outputs of both sides.

    Besides those that accept fixed shares of the other side's outputs there are some that accept the best
    outputs as a whole, which need no random decision.
    """
    outputs = list(dict.fromkeys((*counts[0], *counts[1])))
    classifier = _classifier(outputs, counts)
    scores = classifier.scores(outputs)
    found = []
    for more in (0, 1):
        others = counts[1 - more]
        runs = sum(others.values())
        masses: dict[float, int] = {}
        for output, score in zip(outputs, _signed(scores, more), strict=True):
            masses[score] = masses.get(score, 0) + others[output]
        ordered = sorted(masses, reverse=True)
        whole = accumulate(masses[score] for score in ordered[:WHOLE])
        for wanted in sorted({*(share * runs for share in SHARES), *map(float, whole)} - {0.0}):
            threshold, ties = _threshold(ordered, masses, wanted)
            found.append(
                Attack(experiment, classifier, more=more, threshold=threshold, ties=ties, share=wanted / runs)
            )
    return found


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


def _classifier(outputs: Sequence[Output], counts: Sequence[Counts]) -> Classifier:
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    labels: list[dict[str, int]] = []
    scales: list[tuple[float, float]] = []
    for place in range(max(len(o) for o in outputs)):
        here = [o[place] if place < len(o) else "" for o in outputs]
        known = {label: k for k, label in enumerate(dict.fromkeys(here))}
        numbers = np.array([_number(label) for label in here])
        labels.append(known if len(known) <= MOST_LABELS else {})
        scales.append((float(numbers.mean()), float(numbers.std()) or 1.0))
    few = {o: k for k, o in enumerate(outputs)} if len(outputs) <= MOST_OUTPUTS else {}
    untrained = Classifier(few, tuple(labels), tuple(scales), np.zeros(0))
    features = untrained.features(outputs)
    weights = np.array([side[o] for side in counts for o in outputs], dtype=float)
    sides = np.repeat([1, 0], len(outputs))
    model: Any = LogisticRegression(C=1e3, max_iter=1_000)
    model.fit(np.concatenate([features, features]), sides, sample_weight=weights / weights.mean())
    return replace(untrained, weights=model.coef_[0])


def _indicators(places: Sequence[int | None], size: int) -> NDArray[np.float64]:
    import numpy as np

    found = np.zeros((len(places), size))
    for row, place in enumerate(places):
        if place is not None:
            found[row, place] = 1
    return found


def _number(label: str) -> float:
    try:
        value = float(label)
    except ValueError:
        return 0.0
    return 0.0 if math.isnan(value) else max(-FARTHEST, min(FARTHEST, value))


def lower_bound(
    attack: Attack, counts: Sequence[Counts], rng: np.random.Generator, confidence: float
) -> LowerBound:
    """Returns the bound that an attack shows on runs that it was not trained on."""
    runs = sum(counts[0].values())
    hits = attack.hits(counts, rng)
    return LowerBound(confidence_bound(*hits, runs, confidence), confidence, attack, hits, runs)
