"""Lower bounds on ε by a learned attack, in the manner of DP-Sniper ([Bichsel21]).

A classifier (`classifiers`) estimates Pr(first side | output). The attack accepts the outputs that it scores
above a threshold t, and those at t with probability q, so that it accepts a chosen share of the other side's
outputs.
On fresh runs, Clopper–Pearson intervals bound how often it accepts on each side:

    ε >= ln(p1_low / p2_high)        with at least the stated confidence,

because each one-sided bound fails with probability at most (1 − confidence)/2, and an attack is an event.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import accumulate
from typing import TYPE_CHECKING

from paramverify.statistics.classifiers import Classifier, logistic, perceptron
from paramverify.statistics.experiments import Experiment
from paramverify.statistics.samplers import Counts, Output

if TYPE_CHECKING:
    import numpy as np

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
