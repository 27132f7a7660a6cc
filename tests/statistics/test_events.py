"""Events as the selector of StatDP has them: intervals, coordinates, counts, shapes, on one set of runs."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from paramverify.statistics import detection, examples
from paramverify.statistics.black_boxes import alone, read_input
from paramverify.statistics.detection import Detection, PValues, Settings, assess, detect, selected
from paramverify.statistics.events import (
    Feature,
    FeatureRange,
    Measured,
    OutputEvent,
    Quantity,
    candidates,
    events,
    intervals,
    most_telling,
)
from paramverify.statistics.samplers import Experiment
from paramverify.statistics.sampling_runs import Runs

SMALL = Settings(runs=10_000, select=4_000)


def detected(mechanism: object, left: str, right: str, epsilons: list[float]) -> Detection:
    pairs = [("", read_input(left), read_input(right))]
    source, listed = alone(mechanism, pairs, 1)  # type: ignore[arg-type]
    return detect(Runs(source, 1), listed, epsilons, SMALL)


def bump(rng: np.random.Generator, given: int, size: int) -> np.ndarray:  # type: ignore[type-arg]
    """Uniform on (0, 10), and 4 times as likely on (1, 2) under 1 as under 0: 4/25 against 1/25."""
    inside = rng.random(size) < (0.16 if given else 0.04)
    beside = rng.uniform(0, 9, size)
    return np.where(inside, 1 + rng.random(size), np.where(beside < 1, beside, beside + 1))


@pytest.mark.slow
def test_a_leak_between_two_numbers_is_found() -> None:
    """A leak of ratio 4 on (1, 2) is rejected up to near ln 4, by an interval; half-lines show below ln 2."""
    found = detected(bump, "0", "1", [1.1, 1.5])
    low, high = found.asked
    assert found.rejects(low)
    assert not found.rejects(high)
    (condition,) = low.candidate.event.conditions
    assert condition.low == pytest.approx(1, abs=0.1)
    assert condition.high == pytest.approx(2, abs=0.1)
    assert low.candidate.secrets == ("1", "0")
    # The half-lines, exactly: at the ends of the leak their ratios are extreme.
    density = {1: (0.84 / 9, 0.16), 0: (0.96 / 9, 0.04)}
    below = {s: {1: a, 2: a + b} for s, (a, b) in density.items()}
    lines = [
        side for x in (1, 2) for side in ((below[1][x], below[0][x]), (1 - below[1][x], 1 - below[0][x]))
    ]
    assert max(max(p / q, q / p) for p, q in lines) < 2
    assert density[1][1] / density[0][1] == pytest.approx(4)


def test_events_are_chosen_and_tested_on_different_runs() -> None:
    """What was chosen on some runs is tested on others, of which it has seen none."""

    def noise(rng: np.random.Generator, given: int, size: int) -> object:
        return rng.random(size)

    pairs = [("", read_input("0"), read_input("1"))]
    source, (experiment,) = alone(noise, pairs, 1)
    runs = Runs(source, 3)
    found = selected(runs, [experiment], SMALL)
    best = most_telling(found, 0.0)
    assert best.score(0.0) > 2  # a fit by chance, on these runs
    fresh = runs.hits(1, experiment, best.event, SMALL.runs)
    again = runs.both(0, experiment, SMALL.select)
    assert [Measured(c).hits([best.event])[0] for c in again] == [
        best.hits[best.more],
        best.hits[1 - best.more],
    ]
    assert fresh == tuple(Measured(c).hits([best.event])[0] for c in runs.both(1, experiment, SMALL.runs))
    assert runs.both(0, experiment, 100) != runs.both(1, experiment, 100)


@pytest.mark.slow
def test_many_events_make_no_false_claims() -> None:
    """Laplace noise is 1-private; over many seeds 1 is rejected at most as often as the level allows.

    For each seed thousands of events are compared on the runs for selection.
    """
    pairs = [("", read_input("0,0"), read_input("1,1"))]
    source, listed = alone(examples.laplace, pairs, 1)
    drawn = Settings(1_000, 500)
    seeds = 30
    wrong = 0
    for seed in range(seeds):
        runs = Runs(source, seed)
        wrong += assess(runs, selected(runs, listed, drawn), 1.0, drawn).values.p <= drawn.level
    assert wrong <= stats.binom.ppf(0.999, seeds, drawn.level)


def test_budgets_are_rejected_in_ascending_order() -> None:
    """A budget counts as rejected only if each smaller tested one is, so that many make no false claim."""
    experiment = Experiment("0", "1", {})
    candidate = candidates(experiment, [Counter({("a",): 50}), Counter({("a",): 50})])[0]
    for chances, left in (((0.01, 0.04, 0.3, 0.02), 0.2), ((0.2, 0.01, 0.01, 0.01), None)):
        rows = tuple(
            detection.Tested(candidate, PValues(0.1 * (k + 1), p, 1.0)) for k, p in enumerate(chances)
        )
        found = Detection(rows, rows, None, (), SMALL)  # type: ignore[arg-type]
        assert [found.rejects(r) for r in rows] == [
            left is not None and r.values.epsilon <= left for r in rows
        ]
        assert found.interval[0] == left


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.integers(0, 6), st.sampled_from("ab")), min_size=2, max_size=60),
    st.lists(st.tuples(st.integers(0, 6), st.sampled_from("ab")), min_size=2, max_size=60),
)
@settings(max_examples=40, deadline=None)
def test_hits_are_what_membership_says(first: list[tuple[int, str]], second: list[tuple[int, str]]) -> None:
    """Every event of the search space has as many hits as there are runs in it, one by one."""
    shapes = [
        lambda n, s: (str(n),),
        lambda n, s: (str(n), str(n / 2)),
        lambda n, s: (s,) * (n % 3) + (str(n / 4),),
    ]
    for shape in shapes:
        sides = [Counter(shape(n, s) for n, s in side) for side in (first, second)]
        listed = events(sides)
        for side in sides:
            slow = [sum(n for output, n in side.items() if output in event) for event in listed]
            assert Measured(side).hits(listed) == slow


def test_the_best_interval_is_found_among_all() -> None:
    """Of few numbers, the interval that is kept is the best of all pairs of ends, tried one by one."""
    rng = np.random.default_rng(2)
    for _ in range(5):
        weights = rng.integers(20, 200, (2, 12))
        sides = [Counter({(str(k),): int(n) for k, n in enumerate(row)}) for row in weights]
        runs = int(weights.sum(axis=1).max())
        feature = Feature(Quantity.VALUE)
        kept = intervals((Measured(sides[0]), Measured(sides[1])), feature, runs)

        def score(low: int, high: int, epsilon: float, rows: np.ndarray = weights) -> float:  # type: ignore[type-arg]
            a, b = rows[0, low : high + 1].sum() * math.exp(-epsilon), rows[1, low : high + 1].sum()
            return float((a - b) / math.sqrt(a + b + 1))

        for epsilon in (0.0, 0.5):
            best = max(score(i, j, epsilon) for i in range(12) for j in range(i, 12) if (i, j) != (0, 11))
            ends = [(max(c.low, 0), min(c.high, 11)) for c in kept]
            assert max(score(int(i), int(j), epsilon) for i, j in ends) == pytest.approx(best)


def test_vectors_have_coordinates_counts_and_corners() -> None:
    """Coordinates, counts of labels, the length, and products of half-lines are events."""
    rng = np.random.default_rng(1)
    vectors = [Counter(map(tuple, rng.normal([m, -m], 1, (500, 2)).astype(str).tolist())) for m in (0, 1)]
    shown = {str(c.feature) for e in events(vectors) for c in e.conditions}
    assert {"coordinate 1", "coordinate 2", "smallest coordinate", "sum of the coordinates"} <= shown
    corners = [e for e in events(vectors) if len(e.conditions) == 2]
    assert corners
    up, down = corners[0].conditions
    assert (up.low == -math.inf) == (down.high == math.inf)  # the sides differ in opposite directions
    words = [Counter({("⊥", "⊥", "⊤"): 40, ("⊥", "⊤"): 60}), Counter({("⊤",): 50, ("⊥", "⊤"): 50})]
    told = {str(e) for e in events(words)}
    assert "number of '⊥' at least 2" in told
    assert "number of outputs at most 1" in told
    both = OutputEvent("shape", ("⊥", None), (FeatureRange(Feature(Quantity.COORDINATE, 1), 0.5, 2.0),))
    assert str(both) == "output ⊥ * with coordinate 2 between 0.5 and 2"
    assert ("⊥", "1.5") in both
    assert ("⊥", "1") not in both
    assert ("⊤", "1.5") not in both
    mixed = [Counter({("⊥", f"{k / 7}"): 3 for k in range(1, 30)}), Counter({("⊤",): 90})]
    assert OutputEvent("shape", ("⊥", None)) in events(mixed)


def test_seldom_events_need_to_stand_out() -> None:
    """An event of a few runs that hardly stands out does not take the place of one that came often."""
    experiment = Experiment("0", "1", {})
    found = candidates(
        experiment, [Counter({("a",): 4_990, ("b",): 10}), Counter({("a",): 4_994, ("b",): 6})]
    )
    assert most_telling(found, 0.0).event == OutputEvent("is", ("a",))
    rare = candidates(experiment, [Counter({("a",): 4_980, ("b",): 20}), Counter({("a",): 5_000})])
    assert most_telling(rare, 0.0).event == OutputEvent("is", ("b",))
