"""The classifiers behind attacks: logistic regression, and the perceptron of DP-Sniper."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from paramverify.statistics import examples
from paramverify.statistics.black_boxes import alone, read_input
from paramverify.statistics.detection import Settings, attacked
from paramverify.statistics.learned_attacks import (
    HIDDEN,
    SHARE,
    Learner,
    confidence_bound,
    lower_bound,
    perceptron,
    train,
)
from paramverify.statistics.samplers import Experiment
from paramverify.statistics.sampling_runs import Runs

EXPERIMENT = Experiment("0", "1", {})
LABELS = [
    Counter({("a",): 600, ("b",): 300, ("c",): 100}),
    Counter({("a",): 200, ("b",): 300, ("c",): 500}),
]


def test_the_network_is_that_of_the_paper() -> None:
    """Two hidden layers of 10 and 5 units; numbers are standardised, labels are flags of their own."""
    rng = np.random.default_rng(1)
    sides = [Counter((str(x), "no" if x < m else "2") for x in rng.normal(m, 1, 400)) for m in (0, 1)]
    outputs = list(dict.fromkeys((*sides[0], *sides[1])))
    found = perceptron(outputs, sides, 1)
    assert HIDDEN == (10, 5)
    assert [w.shape for w in found.network.coefs_] == [(3, 10), (10, 5), (5, 1)]  # number, number, flag "no"
    assert (found.network.activation, found.network.solver, found.network.out_activation_) == (
        "relu",
        "adam",
        "logistic",
    )
    scores = found.scores(outputs)
    assert all(0 <= s <= 1 and s == round(s, 3) for s in scores)
    assert found.scores([("0.5", "other"), ("nan",), ("1e300", "2")])  # what it has not seen is scored too
    again = perceptron(outputs, sides, 1)
    assert again.scores(outputs) == scores


def test_attacks_of_the_perceptron_accept_its_share() -> None:
    """There is one attack for each direction; it accepts a hundredth of the other side."""
    attacks = train(EXPERIMENT, LABELS, Learner.PERCEPTRON, 0)
    assert [attack.more for attack in attacks] == [0, 1]
    outputs = [("a",), ("b",), ("c",)]
    for attack, best in zip(attacks, (("a",), ("c",)), strict=True):
        accepted = dict(zip(outputs, attack.accepts(outputs), strict=True))
        other = LABELS[1 - attack.more]
        assert sum(other[o] * chance for o, chance in accepted.items()) == pytest.approx(SHARE * 1_000)
        assert [o for o, chance in accepted.items() if chance] == [best]
    found = lower_bound(attacks[0], LABELS, np.random.default_rng(1), 0.9)
    assert found.epsilon == confidence_bound(*found.hits, 1_000, 0.9)


@pytest.mark.slow
@pytest.mark.parametrize("learner", list(Learner))
def test_bounds_of_a_continuous_mechanism(learner: Learner) -> None:
    """On Laplace noise of ε = 1, both learners bound ε below 1 with their confidence, and near it."""
    source, (experiment,) = alone(examples.laplace, [("", read_input("0"), read_input("1"))], 1)
    seeds, wrong = 2, 0
    for seed in range(seeds):
        drawn = Settings(20_000, 8_000, learner=learner)
        bound = attacked(Runs(source, seed), [experiment], drawn)
        wrong += bound.epsilon > 1
        assert bound.epsilon > 0.7
    assert wrong <= stats.binom.ppf(0.999, seeds, 0.1)


@pytest.mark.slow
def test_the_perceptron_sees_what_a_line_does_not() -> None:
    """Where the two numbers of an output agree in sign under one side only, the network finds it."""

    def signs(rng: np.random.Generator, given: int, size: int) -> np.ndarray:  # type: ignore[type-arg]
        x, y = rng.normal(size=(2, size))
        agree = np.abs(y) * np.sign(x)
        return np.column_stack([x, np.where(rng.random(size) < (0.9 if given else 0.1), agree, -agree)])

    source, (experiment,) = alone(signs, [("", read_input("0"), read_input("1"))], 1)
    drawn = Settings(20_000, 20_000, learner=Learner.PERCEPTRON)
    bound = attacked(Runs(source, 1), [experiment], drawn)
    assert 1.2 < bound.epsilon < math.log(9) + 0.1
