"""Tests and attacks for sets of outputs: Clopper–Pearson by exact binomial sums, and known mechanisms."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import comb
from pathlib import Path
from random import Random

import pytest

import paramverify
from paramverify.cli.main import run
from paramverify.errors import InputError, ParamverifyError
from paramverify.privacy.cases import PrivacyCase, load
from paramverify.statistics.case_testing import Plan, SamplingGoal, carry_out
from paramverify.statistics.detection import BudgetPoint, Outputs, Settings, candidates_for, p_of
from paramverify.statistics.learned_attacks import interval
from paramverify.statistics.samplers import Experiment

CASES = Path(__file__).parents[2] / "cases" / "approximate"
BELOW = str(CASES / "geometric-independent-below.toml")
SMALL = Settings(runs=20_000, select=4_000)


def tail(n: int, p: Fraction, k: int) -> Fraction:
    """The probability of at least k successes."""
    return sum((comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(k, n + 1)), Fraction(0))


@pytest.mark.parametrize(("first", "second"), [(0, 0), (3, 0), (12, 5), (40, 40)])
def test_intervals_by_exact_sums(first: int, second: int) -> None:
    """At each end so many hits, or more extreme ones, have just the probability that is allowed."""
    n, wrong = 40, Fraction(1, 50)
    low, high = (Fraction(x) for x in interval(first, second, n, float(wrong)))
    assert low == 0 if not first else abs(tail(n, low, first) - wrong) < Fraction(1, 10**9)
    assert high == 1 if second == n else abs(1 - tail(n, high, second + 1) - wrong) < Fraction(1, 10**9)


def test_the_p_value_is_the_level_at_which_intervals_reject() -> None:
    """Just above it they reject, just below they do not; within the bounds it is 1."""
    bounds = BudgetPoint(1.5, 0.1)
    p = p_of((700, 300), 1000, bounds)
    for factor, rejects in ((1.01, True), (0.99, False)):
        low, high = interval(700, 300, 1000, p * factor / 2)
        assert (low > 1.5 * high + 0.1) == rejects
    assert 0 < p < 0.01
    assert p_of((300, 700), 1000, bounds) == 1
    assert p_of((1000, 0), 1000, BudgetPoint(1.0, 0.5)) < 1e-60


def test_bounds_of_delta_are_right_as_often_as_they_say() -> None:
    """The lower bound of Pr(S | left) − 2·Pr(S | right) is too large in at most a tenth of 400 samples."""
    n, p, q = 300, 0.6, 0.25
    random = Random(7)
    wrong = 0
    for _ in range(400):
        first, second = (sum(random.random() < x for _ in range(n)) for x in (p, q))
        low, high = interval(first, second, n, 0.05)
        wrong += low - 2 * high > p - 2 * q
    assert wrong <= 40


def test_the_set_of_outputs_above_the_ratio() -> None:
    """The candidates have the set of all outputs that came more than the ratio times as often."""
    experiment = Experiment("a", "b", {})
    left: Counter[tuple[str, ...]] = Counter({("0",): 500, ("1",): 400, ("2",): 100})
    right: Counter[tuple[str, ...]] = Counter({("0",): 200, ("1",): 300, ("2",): 500})
    found = candidates_for(experiment, (left, right), BudgetPoint(1.2, 0.1))
    best = max(found, key=lambda c: c.lower)
    sets = {(c.more, c.chosen.outputs) for c in found if isinstance(c.chosen, Outputs)}
    assert (0, frozenset({("0",), ("1",)})) in sets
    assert (1, frozenset({("2",)})) in sets
    assert best.secrets == ("b", "a")
    assert best.beyond == pytest.approx(0.5 - 1.2 * 0.1)


def sampled(epsilons: tuple[str, ...], at: str, goal: SamplingGoal | None = None, **more: Fraction) -> object:
    """What testing says of the case that is not private, at one prior."""

    def case(point: object) -> PrivacyCase:
        del point
        return load(BELOW)

    return carry_out(case, Plan(goal, SMALL, epsilons=epsilons, at={"p": Fraction(at)}, seed=1, **more))


@pytest.mark.slow
def test_wrong_bounds_are_rejected_and_true_ones_are_not() -> None:
    """At p = 1/50 the set {0} needs δ = 77183/495000 with the ratio 3/2; 1/10 is rejected, 4/25 is not."""
    wrong, right = (sampled((), "1/50", delta=Fraction(d)) for d in ("1/10", "4/25"))
    assert wrong.is_violated
    assert not right.is_violated
    for found in (wrong, right):
        (row,) = found.sets.asked
        assert 0.13 < row.delta < Fraction(77183, 495000)
    assert wrong.sets.asked[0].p < 1e-6


def test_smaller_epsilons_come_first() -> None:
    """Of several values of ε the smaller ones are rejected, with the same delta."""
    found = sampled(("0.1,2",), "1/50")
    first, second = found.sets.asked
    assert found.sets.rejects(first)
    assert not found.sets.rejects(second)
    assert first.candidate.bounds.ratio < second.candidate.bounds.ratio


def test_candidates_are_evaluated_exactly() -> None:
    """With --certify the set is a violation, evaluated exactly, or it is said to be spurious."""
    found = sampled((), "1/200", SamplingGoal.CERTIFY, delta=Fraction(1, 10))
    assert found.is_violated
    (entry,) = found.certified_sets
    assert entry.witness.exceeds
    assert entry.witness.delta.enclosure()[0] == Fraction(1, 10)


def test_sampling_in_python() -> None:
    """`paramverify.sample` takes a delta, also for a case without one, and gives the set as its witness."""
    at = {"p": Fraction(1, 200)}
    options = {"goal": "certify", "delta": "1/10", "runs": 4000, "select": 2000, "at": at}
    found = paramverify.sample(BELOW, **options)
    assert found.rejected
    assert isinstance(found.witness, paramverify.SetWitness)
    assert found.witness.delta == Fraction(1, 10)
    pure = paramverify.sample(str(CASES.parent / "geometric-independent.toml"), **options)
    assert not pure.rejected  # with its ratio 2 no set needs 1/10
    assert "ratio = 2, delta = 0.1" in "\n".join(pure.lines)


def test_what_has_no_meaning_for_sets_is_refused() -> None:
    """A search and a plot are about outputs one by one."""
    with pytest.raises(InputError, match="budget"):
        sampled((), "1/50", SamplingGoal.SEARCH)
    for name, words in (("geometric-metric", "distance"), ("above-threshold", "an adversary chooses")):
        with pytest.raises(ParamverifyError, match=words):
            paramverify.sample(str(CASES.parent / f"{name}.toml"), delta="1/10", runs=100)
    with pytest.raises(InputError, match="plot"):
        sampled((), "1/50", plotted=True)


@pytest.mark.slow
def test_a_mechanism_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Without a case: Laplace noise with ε = 1 has the least δ 1 - e^(-1/4) = 0.22 for ε = 1/2."""
    (tmp_path / "noisy_count.py").write_text(
        "import numpy as np\n\n\ndef count(rng, answers):\n    return answers + rng.laplace(0, 1)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    told = ["sample", "--mechanism", "noisy_count:count", "--neighbours", "0", "1", "--epsilon", "1/2"]
    runs = ["--runs", "4000", "--select", "2000"]
    assert run([*told, "--delta", "1/20", *runs]) == 1
    assert "rejected by the test: ratio ≈ 1.64872, delta = 0.05" in capfd.readouterr().out
    assert run([*told, "--delta", "3/10", *runs, "--json"]) == 3
    assert '"not rejected"' in capfd.readouterr().out
    assert run([*told, "--delta", "2"]) == 2
