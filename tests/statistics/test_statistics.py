"""Statistical tests, attacks and audits: their levels, and what they find."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sampled_mechanisms as mechanisms
from scipy import stats

from paramverify.errors import InputError
from paramverify.privacy.cases import PrivacyCase, load
from paramverify.statistics import detection
from paramverify.statistics.audit import Fit, audit, fit, holm
from paramverify.statistics.black_boxes import BlackBoxSource, CaseInputs
from paramverify.statistics.detection import (
    Detection,
    PValues,
    Settings,
    assess,
    detect,
    event_test,
    p_value,
    selected,
)
from paramverify.statistics.detection import Tested as Row
from paramverify.statistics.events import (
    Feature,
    FeatureRange,
    Measured,
    OutputEvent,
    Quantity,
    candidates,
    events,
)
from paramverify.statistics.learned_attacks import confidence_bound, lower_bound, train
from paramverify.statistics.samplers import Experiment, ModelSource, chosen_points, experiments
from paramverify.statistics.sampling_runs import Runs

CASES = Path(__file__).parents[2] / "cases"
SMALL = Settings(runs=20_000, select=5_000)


def case(name: str) -> PrivacyCase:
    return load(CASES / f"{name}.toml")


# --- the hypothesis test ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "runs", "epsilon"),
    [(70, 30, 100, 0.5), (700, 340, 1_000, math.log(2)), (5, 0, 50, 1.0), (0, 5, 50, 1.0), (9, 9, 10, 0.2)],
)
def test_p_values_are_averages_of_fishers_test(first: int, second: int, runs: int, epsilon: float) -> None:
    """The p-value is the mean of Fisher's exact test over thinned counts, computed here the slow way."""
    keep = math.exp(-epsilon)
    total = 0.0
    for kept in range(first + 1):
        table = [[kept, second], [runs - kept, runs - second]]
        tail = stats.fisher_exact(table, alternative="greater").pvalue
        total += stats.binom.pmf(kept, first, keep) * tail
    assert p_value(first, second, runs, epsilon) == pytest.approx(total, rel=1e-9)


def test_p_values_without_thinning() -> None:
    """For epsilon 0 it is Fisher's exact test itself; a larger epsilon is rejected less."""
    exact = stats.fisher_exact([[60, 40], [40, 60]], alternative="greater").pvalue
    assert p_value(60, 40, 100, 0.0) == pytest.approx(exact)
    values = [p_value(600, 300, 1_000, e) for e in (0.0, 0.3, 0.6, 0.7, 0.8, 1.2)]
    assert values == sorted(values)


@pytest.mark.slow
def test_cells_make_p_values_larger_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Averaging over cells of thinned counts never gives a smaller p-value, and hardly a larger one."""
    for second in (3_300, 3_450, 3_600):
        binned = p_value(7_000, second, 20_000, math.log(2))
        monkeypatch.setattr(detection, "CELLS", 10**9)
        exact = p_value(7_000, second, 20_000, math.log(2))
        monkeypatch.undo()
        assert exact <= binned <= 1.05 * exact


SEEDS = 60


def rejections(epsilon: float, runs: int = 2_000) -> int:
    """How often the whole procedure rejects a budget of the 1/2-geometric mechanism, whose ratio is 2."""
    model = case("geometric-neighbours").model
    listed = experiments(model, 1, [{}])
    settings = Settings(runs, runs // 2)
    count = 0
    for seed in range(SEEDS):
        drawn = Runs(ModelSource(model), seed)
        tested = assess(drawn, selected(drawn, listed, settings), epsilon, settings)
        count += tested.values.p <= settings.level
    return count


@pytest.mark.slow
def test_violations_are_found() -> None:
    """At three quarters of the tight ratio every seed rejects."""
    assert rejections(math.log(1.5)) == SEEDS


# --- events -----------------------------------------------------------------------------------------


def test_events() -> None:
    """Events are single outputs, starts of sequences, counts of labels, and intervals of numbers."""
    sequences = [Counter({("a", "b"): 30, ("a", "c"): 20}), Counter({("b", "b"): 50})]
    kinds = {(e.kind, e.value) for e in events(sequences)}
    assert ("is", ("a", "c")) in kinds
    assert ("starts with", ("a",)) in kinds
    start = OutputEvent("starts with", ("a",))
    assert [Measured(c).hits([start]) for c in sequences] == [[50], [0]]
    numbers = [Counter({("0",): 10, ("1.5",): 10, ("3",): 10}), Counter({("3",): 30})]
    half = OutputEvent("range", (), (FeatureRange(Feature(Quantity.VALUE), high=1.5),))
    assert half in events(numbers)
    assert str(half) == "output at most 1.5"
    assert [Measured(c).hits([half]) for c in numbers] == [[20], [0]]
    for counts in (*sequences, *numbers):
        listed = events(sequences) + events([sequences[0], numbers[0]]) + events(numbers)
        slow = [sum(n for output, n in counts.items() if output in event) for event in listed]
        assert Measured(counts).hits(listed) == slow
    assert ("-7",) in half
    assert ("end",) not in half
    labels = Counter({("x",): 5, ("y",): 5, ("z",): 5})
    assert not [e for e in events([labels, labels]) if e.kind != "is"]


def test_directions_of_candidates() -> None:
    """Each event is a candidate in both directions, with opposite signs of the estimate."""
    experiment = Experiment("x", "y", {})
    found = candidates(experiment, [Counter({("a",): 80, ("b",): 20}), Counter({("a",): 40, ("b",): 60})])
    (left,) = [c for c in found if c.event.value == ("a",) and c.more == 0]
    (right,) = [c for c in found if c.event.value == ("a",) and c.more == 1]
    assert left.secrets == ("x", "y")
    assert right.secrets == ("y", "x")
    assert left.epsilon == pytest.approx(-right.epsilon)
    assert left.epsilon == pytest.approx(math.log(80.5 / 40.5))
    assert left.lower < left.epsilon


@pytest.mark.slow
def test_continuous_outputs() -> None:
    """A continuous mechanism is tested on intervals, and attacked on its numbers."""
    case_inputs = CaseInputs.of(case("geometric-neighbours"))
    runs = Runs(BlackBoxSource(mechanisms.laplace, case_inputs), 1)
    listed = experiments(case_inputs.case.model, 1, [{}], pairs=1)
    found = detect(runs, listed, [0.7, 1.05], SMALL)
    low, high = found.asked
    assert found.rejects(low)
    assert not found.rejects(high)
    assert low.candidate.event.kind == "range"
    assert 0.7 < found.bound.epsilon < 1


# --- the attack -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "second"), [(400, 100), (1, 0), (1_000, 1_000), (1_000, 0)])
def test_clopper_pearson(first: int, second: int) -> None:
    """The bound is the quotient of one-sided Clopper–Pearson limits, as the exact binomial test inverts
    them."""
    low = stats.binomtest(first, 1_000, alternative="greater").proportion_ci(0.95, "exact").low
    high = stats.binomtest(second, 1_000, alternative="less").proportion_ci(0.95, "exact").high
    assert confidence_bound(first, second, 1_000, 0.9) == pytest.approx(math.log(low / high))


def test_no_hits_give_no_bound() -> None:
    """Where the attack accepts nothing on its side, nothing is known."""
    assert confidence_bound(0, 100, 1_000, 0.9) == -math.inf


@pytest.mark.slow
def test_attacks_accept_their_share() -> None:
    """Ties are broken at random so that an attack accepts the wanted share of the other side's outputs."""
    counts = [
        Counter({("1",): 600, ("2",): 300, ("3",): 100}),
        Counter({("1",): 200, ("2",): 300, ("3",): 500}),
    ]
    attacks = [a for a in train(Experiment("x", "y", {}), counts) if a.more == 0]
    outputs = [("1",), ("2",), ("3",)]
    for attack in attacks:
        accepted = zip(outputs, attack.accepts(outputs), strict=True)
        assert sum(counts[1][o] * chance for o, chance in accepted) == pytest.approx(attack.share * 1_000)
    small = next(a for a in attacks if a.share == 0.1)
    assert small.accepts(outputs) == pytest.approx([0.5, 0, 0])
    whole = next(a for a in attacks if a.share == 0.5)
    assert whole.accepts(outputs) == [1, 1, 0]
    rng = np.random.default_rng(1)
    assert lower_bound(whole, counts, rng, 0.9).hits == (900, 500)


# --- the audit --------------------------------------------------------------------------------------


def audited(name: str, mechanism: Any, size: int = 20_000, seed: int = 1, level: float = 1e-4) -> Any:
    case_inputs = CaseInputs.of(case(name)).by_input()
    model = case_inputs.case.model
    listed = experiments(model, 1, chosen_points(model, {}, seed, 1))
    runs = Runs(BlackBoxSource(mechanism, case_inputs), seed)
    return audit(runs, model, listed, size, level)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "mechanism"),
    [
        ("noisy-max-3-above", mechanisms.noisy_max),
        ("noisy-max-naive-3-ln2", mechanisms.noisy_max_first),
    ],
)
def test_right_implementations_pass(name: str, mechanism: Any) -> None:
    """Implementations that were written on their own, by another definition of the noise, pass."""
    assert audited(name, mechanism).passes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "mechanism"),
    [
        ("geometric-neighbours", mechanisms.rounded_laplace),
        ("noisy-max-naive-3-ln2", mechanisms.noisy_max),
    ],
)
def test_wrong_implementations_are_caught(name: str, mechanism: Any) -> None:
    """Noise that is off by one, rounded Laplace noise, and another way to break ties are caught."""
    found = audited(name, mechanism)
    assert not found.passes
    assert found.rejected[0].p < 1e-6


def test_impossible_outputs_need_no_test() -> None:
    """An output that the model does not have is told, with the input and how often it came."""
    found = audited("geometric-neighbours", mechanisms.leaking)
    assert not found.passes
    assert found.rejected[0].p == 0
    assert set(found.rejected[0].impossible) == {("7",)}


@pytest.mark.slow
def test_right_implementations_pass_at_the_level() -> None:
    """Over many seeds a right implementation fails at most as often as the level says, whatever the
    inputs."""
    failures = sum(
        not audited("geometric-neighbours", mechanisms.geometric, 2_000, seed, 0.1).passes
        for seed in range(SEEDS)
    )
    assert failures <= stats.binom.ppf(0.999, SEEDS, 0.1)


def test_pooling() -> None:
    """Cells that expect too little are pooled; what is left agrees with the textbook statistic."""
    experiment = Experiment("x", "y", {})
    expected = {("a",): 0.5, ("b",): 0.46, ("c",): 0.03, ("d",): 0.01}
    found = fit(experiment, 0, Counter({("a",): 540, ("b",): 424, ("c",): 36}), expected)
    assert found.cells == 2  # the rarest three: 40 expected from c and d, which need b
    assert found.statistic == pytest.approx((540 - 500) ** 2 / 500 * 2)
    assert found.p == pytest.approx(2 * 2 * 2 * stats.binom.cdf(0, 1_000, 0.01))  # d did not come at all
    both = fit(experiment, 0, Counter({("a",): 600, ("b",): 360, ("c",): 30, ("d",): 10}), expected)
    assert both.p == pytest.approx(2 * stats.chi2.sf(both.statistic, 1))
    common = fit(experiment, 0, Counter({("a",): 60, ("b",): 40}), {("a",): 0.5, ("b",): 0.5})
    assert (common.cells, common.p) == (2, pytest.approx(stats.chi2.sf(4, 1)))
    alone = fit(experiment, 0, Counter({("a",): 3}), {("a",): 1.0})
    assert (alone.cells, alone.p) == (1, 1.0)
    certain = fit(experiment, 0, Counter({("a",): 1_000}), {("a",): 1.0})
    assert (certain.cells, certain.p) == (1, 1.0)
    few = fit(experiment, 0, Counter({("a",): 2, ("b",): 2}), {("a",): 0.5, ("b",): 0.5})
    assert (few.cells, few.p) == (1, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("chances", "runs", "level"),
    [([0.01] * 100, 400, 0.1), ([0.001] * 1_000, 20_000, 0.1), ([0.001, 0.999], 5_000, 0.002)],
)
def test_rare_outputs_keep_the_level(chances: list[float], runs: int, level: float) -> None:
    """Equally rare outputs are not pooled by how often they came, and far tails of rare ones are exact."""
    rng = np.random.default_rng(3)
    experiment = Experiment("x", "y", {})
    expected = {(str(k),): p for k, p in enumerate(chances)}
    trials = 300
    rejected = 0
    for _ in range(trials):
        drawn = rng.multinomial(runs, chances)
        counts = Counter({(str(k),): int(n) for k, n in enumerate(drawn) if n})
        rejected += fit(experiment, 0, counts, expected).p <= level
    assert rejected <= stats.binom.ppf(0.9999, trials, level)


def test_no_event_came_often_enough() -> None:
    """Labels that all differ leave nothing to test, which is told."""
    loaded = case("geometric-neighbours")
    source = BlackBoxSource(mechanisms.unique, CaseInputs.of(loaded))
    with pytest.raises(InputError, match="no output came 5 times"):
        detect(Runs(source, 1), experiments(loaded.model, 1, [{}]), [1.0], Settings(100, 100))


@pytest.mark.slow
def test_far_numbers_can_be_attacked() -> None:
    """Numbers whose squares are beyond floats do not stop the attack."""
    loaded = case("geometric-neighbours")
    source = BlackBoxSource(mechanisms.far, CaseInputs.of(loaded))
    found = detect(Runs(source, 1), experiments(loaded.model, 1, [{}]), [1.0], Settings(2_000, 1_000))
    assert found.bound.epsilon < 1


@pytest.mark.slow
@pytest.mark.parametrize("runs", [5, 20])
def test_bounds_and_p_values_are_valid_for_every_count(runs: int) -> None:
    """With all counts weighed exactly, wrong rejections and wrong bounds are at most as likely as stated."""
    counts = range(runs + 1)
    bounds = np.array([[confidence_bound(a, b, runs, 0.9) for b in counts] for a in counts])
    for epsilon in (0.0, 0.5, 1.5):
        p = np.array([[p_value(a, b, runs, epsilon) for b in counts] for a in counts])
        for less in (0.01, 0.05, 0.2, 0.5, 1.0):
            more = min(1.0, math.exp(epsilon) * less)
            weights = np.outer(stats.binom.pmf(counts, runs, more), stats.binom.pmf(counts, runs, less))
            assert weights[bounds > math.log(more / less) + 1e-12].sum() <= 0.1
            for level in (0.01, 0.05, 0.2):
                assert weights[p <= level].sum() <= level


def test_holm() -> None:
    """Holm's procedure rejects step by step and stops at the first p-value that is too large."""
    one = Fit(Experiment("x", "y", {}), 0, 1, 2, 0.0, 0.0, {}, ((), 0, 0.0))
    fits = [replace(one, p=p) for p in (0.03, 0.01, 0.04, 0.005)]
    assert [f.p for f in holm(fits, 0.05)] == [0.005, 0.01]
    assert [f.p for f in holm(fits, 0.1)] == [0.005, 0.01, 0.03, 0.04]
    assert holm(fits, 0.01) == []


def test_settings() -> None:
    """Numbers of runs that make no sense are refused; the direction is part of what was chosen before."""
    with pytest.raises(ValueError, match="at least 1"):
        Settings(runs=0)
    values = event_test((90, 10), 100, 1.0)
    assert values.p < 0.01 < 0.99 < values.reversed
    with pytest.raises(InputError):
        experiments(case("geometric-neighbours").model, 1, [])


def test_values_nobody_asked_for_block_nothing() -> None:
    """A value asked for is rejected by the order of those asked for; a blocked one names what blocks it."""
    candidate: Any = None

    def row(epsilon: float, p: float) -> Row:
        return Row(candidate, PValues(epsilon, p, 1.0))

    grid, first, second, third = row(0.5, 0.4), row(1.0, 0.01), row(1.5, 0.3), row(2.0, 0.01)
    bound: Any = None
    found = Detection((grid, first, second, third), (first, second, third), bound, (), Settings())
    assert [found.rejects(r) for r in found.asked] == [True, False, False]
    assert found.blocked_by(third) == 1.5
    assert found.interval[0] == 1.0
