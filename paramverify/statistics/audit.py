"""Auditing an implementation: do its outputs follow the model that was verified?

For each input the counts of the outputs are compared with the model's exact probabilities by Pearson's
chi-square test, in cells that expect enough runs for its approximation, and rare outputs one by one by the
exact binomial test. Outputs that the model says are impossible settle the matter without a test. The p-values
of all inputs together are judged by Holm's procedure ([Holm79]): an implementation that follows the model is
rejected with probability at most about the level, whatever the inputs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from paramverify.algebra.polynomials import meant
from paramverify.errors import LimitError
from paramverify.evidence.divergence_witnesses import directed
from paramverify.models.mechanisms.above_threshold import choice
from paramverify.models.model import Model
from paramverify.models.model_evaluation import Numbers
from paramverify.statistics.samplers import Counts, Experiment, Output
from paramverify.statistics.sampling_runs import Runs

# Runs that a cell must expect. The usual 5 is right for a level of 0.05; Holm's procedure looks at tails that
# are far smaller, where a cell that expects 5 is rejected several times too often.
LEAST_EXPECTED = 50
MOST_SEQUENCES = 20_000
AUDIT = 3  # the stage of the runs


@dataclass(frozen=True, eq=False)
class Fit:
    """How one side of an experiment fits: the cells after pooling, the statistic, and the p-value.

    `impossible` are outputs that came and that the model gives probability zero or does not know; then p =
    0. `worst` is the output that is farthest from its expectation in standard deviations: (output, came,
    expected).
    """

    experiment: Experiment
    side: int
    runs: int
    cells: int
    statistic: float
    p: float
    impossible: Mapping[Output, int]
    worst: tuple[Output, int, float]


@dataclass(frozen=True, eq=False)
class Audit:
    """The fits of all sides, and which of them Holm's procedure rejects at the level.

    `point` has the parameters at which everything was compared; where that is several points, it is empty.
    `meaning` has, in words, the parameters that stand there under another name.
    """

    fits: tuple[Fit, ...]
    rejected: tuple[Fit, ...]
    level: float
    point: Mapping[str, Fraction] = field(default_factory=dict)
    meaning: Mapping[str, str] = field(default_factory=dict)

    @property
    def passes(self) -> bool:
        """Whether no difference was found. This proves nothing: a small difference may stay unseen."""
        return not self.rejected


def audit(runs: Runs, model: Model, experiments: Sequence[Experiment], size: int, level: float) -> Audit:
    """Compares an implementation with the model on every different side of the experiments.

    Raises:
        LimitError: the model has more than `MOST_SEQUENCES` output sequences of the length.
    """
    fits = []
    for experiment, side in _sides(experiments):
        expected = probabilities(model, experiment, side)
        fits.append(fit(experiment, side, runs.counts(AUDIT, experiment, side, size), expected))
    points = {tuple(experiment.point.items()): experiment.point for experiment in experiments}
    point = next(iter(points.values())) if len(points) == 1 else {}
    meaning = meant(model.domain.ring.unbounded, point)
    return Audit(tuple(fits), tuple(holm(fits, level)), level=level, point=point, meaning=meaning)


def _sides(experiments: Sequence[Experiment]) -> Iterator[tuple[Experiment, int]]:
    seen: set[tuple[object, ...]] = set()
    for experiment in experiments:
        for side in (0, 1):
            answers = tuple(c[side] for c in experiment.choices)
            place = experiment.secret(side), tuple(experiment.point.items()), answers
            if place not in seen:
                seen.add(place)
                yield experiment, side


def probabilities(model: Model, experiment: Experiment, side: int) -> dict[Output, float]:
    """Returns the probability of every possible output of one side, correctly rounded up to the last bits.

    Raises:
        LimitError: more than `MOST_SEQUENCES` outputs.
    """
    start = directed(model, experiment.left, experiment.right)[side]
    numbers, hmm = Numbers(model, experiment.point), model.hmm
    weights: dict[tuple[int, int], Any] = {}  # by state and number of the step
    words: dict[Output, dict[int, Any]] = {(): {s: numbers.value(w) for s, w in start.weights.items()}}
    for wanted in experiment.choices or ("",) * experiment.length:
        longer: dict[Output, dict[int, Any]] = {}
        for word, states in words.items():
            for state, weight in states.items():
                for k, step in enumerate(hmm.steps[state]):
                    name = hmm.observations[step.observation]
                    if hmm.chosen and choice(name) not in ("", wanted):
                        continue
                    if (state, k) not in weights:
                        weights[state, k] = numbers.value(step.weight)
                    moved = longer.setdefault((*word, name), {})
                    part = weight * weights[state, k]
                    moved[step.successor] = moved[step.successor] + part if step.successor in moved else part
        words = longer
        if len(words) > MOST_SEQUENCES:
            raise LimitError(
                f"there are more than {MOST_SEQUENCES:,} output sequences: audit a shorter --length"
            )
    scale = numbers.value(start.mass) * numbers.value(hmm.denominator) ** experiment.length
    found = {word: numbers.real(sum(states.values()), scale) for word, states in words.items()}
    return {word: float(value) for word, value in found.items() if value.sign() > 0}


def fit(experiment: Experiment, side: int, counts: Counts, expected: Mapping[Output, float]) -> Fit:
    """Returns how the counts of one side fit the model's probabilities.

    Outputs that expect fewer than `LEAST_EXPECTED` runs are rare. For the chi-square test they are pooled,
    the rarest first, until each cell expects that many; which share a cell does not depend on the counts.
    Each is tested by itself too, so that pooling hides none. p is Bonferroni's bound for all these tests; 1
    where one output is certain, and there is nothing to compare.
    """
    runs = sum(counts.values())
    impossible = {o: n for o, n in counts.items() if o not in expected}
    if impossible:
        output, came = max(impossible.items(), key=lambda entry: entry[1])
        return Fit(
            experiment=experiment,
            side=side,
            runs=runs,
            cells=len(expected),
            statistic=math.inf,
            p=0.0,
            impossible=impossible,
            worst=(output, came, 0.0),
        )
    cells = [(runs * p, counts[o]) for o, p in expected.items()]
    worst = max(
        ((o, counts[o], runs * p) for o, p in expected.items()),
        key=lambda entry: abs(entry[1] - entry[2]) / math.sqrt(entry[2] or math.ulp(0.0)),
    )
    observed, wanted = _pooled(cells)
    statistic, tests = 0.0, [_rare(cells, runs)]
    if len(observed) > 1:
        from scipy import stats

        total = sum(wanted)
        tested: Any = stats.chisquare(observed, [w * runs / total for w in wanted])
        statistic = float(tested.statistic)
        tests.append(float(tested.pvalue))
    made = [p for p in tests if p is not None]
    p = min(1.0, len(made) * min(made)) if made else 1.0
    return Fit(
        experiment=experiment,
        side=side,
        runs=runs,
        cells=len(observed),
        statistic=statistic,
        p=p,
        impossible={},
        worst=worst,
    )


def _pooled(cells: Sequence[tuple[float, int]]) -> tuple[list[int], list[float]]:
    observed: list[int] = []
    wanted: list[float] = []
    for expectation, came in sorted(cells, key=lambda cell: cell[0]):
        if wanted and wanted[-1] < LEAST_EXPECTED:
            wanted[-1] += expectation
            observed[-1] += came
        else:
            wanted.append(expectation)
            observed.append(came)
    if len(wanted) > 1 and wanted[-1] < LEAST_EXPECTED:
        wanted[-2:] = [sum(wanted[-2:])]
        observed[-2:] = [sum(observed[-2:])]
    return observed, wanted


def _rare(cells: Sequence[tuple[float, int]], runs: int) -> float | None:
    """Returns Bonferroni's bound for exact two-sided binomial tests of the rare outputs; None without any."""
    import numpy as np
    from scipy import stats

    rare = [cell for cell in cells if cell[0] < LEAST_EXPECTED]
    if not rare:
        return None
    chances, came = np.array([w / runs for w, _ in rare]), np.array([n for _, n in rare])
    tails = np.minimum(stats.binom.cdf(came, runs, chances), stats.binom.sf(came - 1, runs, chances))
    return float(min(1.0, 2 * len(rare) * tails.min()))


def holm(fits: Sequence[Fit], level: float) -> list[Fit]:
    """Returns the fits that Holm's procedure rejects, the smallest p-value first.

    The k-th smallest of m p-values is rejected while it is at most level / (m − k + 1). The probability
    that a true fit is among them is at most the level.
    """
    rejected: list[Fit] = []
    for k, tested in enumerate(sorted(fits, key=lambda f: f.p)):
        if tested.p > level / (len(fits) - k):
            break
        rejected.append(tested)
    return rejected
