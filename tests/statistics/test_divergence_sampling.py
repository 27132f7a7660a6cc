"""Tests of divergences by sampling: bounds that are right as often as they say, and known mechanisms."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from pathlib import Path
from random import Random

import numpy as np
import pytest

import paramverify
from paramverify.cli.main import run
from paramverify.divergences.masses import CHI_SQUARED, KL, ZCDP, MassDivergence, of_order
from paramverify.errors import InputError
from paramverify.privacy.cases import load
from paramverify.statistics.case_testing import Plan, SamplingGoal, carry_out
from paramverify.statistics.detection import Outputs, Settings
from paramverify.statistics.divergence_detection import (
    Others,
    PairSearch,
    detect_divergence,
    hull,
    least_divergence,
    steps,
)
from paramverify.statistics.samplers import Counts, Experiment
from paramverify.statistics.sampling_runs import runs_of

CASES = Path(__file__).parents[2] / "cases" / "divergences"
RENYI, RHO = (str(CASES / f"geometric-{name}-below.toml") for name in ("renyi", "zcdp"))
ALL = (of_order(2), of_order(5), CHI_SQUARED, KL, ZCDP)


def far(divergence: MassDivergence, p: list[float], q: list[float]) -> float:
    return divergence.of(list(zip(p, q, strict=True)))


def drawn(random: Random, size: int) -> list[float]:
    parts = [random.random() ** 2 + 0.01 for _ in range(size)]
    return [part / sum(parts) for part in parts]


def test_no_hull_of_events_is_farther_than_the_distributions() -> None:
    """Whatever events and random decisions are chosen, the steps of their hull have a smaller divergence."""
    random = Random(3)
    near = 0
    for _ in range(60):
        p, q = drawn(random, 6), drawn(random, 6)
        rules = [[random.choice((0.0, 1.0, random.random())) for _ in p] for _ in range(random.randint(1, 9))]
        points = [
            tuple(sum(x * d for x, d in zip(side, rule, strict=True)) for side in (q, p)) for rule in rules
        ]
        masses = steps(points)
        assert sum(a for a, _ in masses) == pytest.approx(1)
        assert sum(b for _, b in masses) == pytest.approx(1)
        for divergence in ALL:
            assert divergence.of(masses) <= far(divergence, p, q) + 1e-12
        ordered = sorted(range(6), key=lambda k: -p[k] / q[k])
        curve = zip(accumulate(q[k] for k in ordered), accumulate(p[k] for k in ordered), strict=True)
        for divergence in ALL:  # all sets by their ratio lose nothing
            near += divergence.of(steps(curve := list(curve))) == pytest.approx(
                far(divergence, p, q), rel=1e-9
            )
    assert near == 60 * len(ALL)


def test_corners_of_a_hull() -> None:
    """The corners are above all points, in exact numbers; those below the line to (1, 1) are none."""
    random = Random(4)
    for _ in range(50):
        points = [(random.randint(0, 20) / 32, random.randint(0, 31) / 32) for _ in range(6)]
        corners = hull(points)
        assert corners[0] == (0, 0)
        assert corners[-1] == (1, 1)
        for (a, b), (c, d) in pairwise(corners):
            assert a <= c
            assert all((c - a) * (y - b) <= (d - b) * (x - a) for x, y in points)
        assert set(corners[1:-1]) <= {(x, y) for x, y in points if y > x}
    assert hull([(0.5, 0.4), (0.9, 0.1)]) == [(0, 0), (1, 1)]


@pytest.mark.slow
def test_bounds_are_right_as_often_as_they_say() -> None:
    """Of 150 samples at most a fifth have a bound that is too large, with the level 1/5; some come near."""
    p, q, n = [0.5, 0.3, 0.2], [0.2, 0.3, 0.5], 400
    rng = np.random.default_rng(5)
    for divergence in ALL:
        true, wrong, largest = far(divergence, p, q), 0, 0.0
        for _ in range(150):
            first, second = (rng.multinomial(n, side) for side in (p, q))
            hits = [(int(first[:k].sum()), int(second[:k].sum())) for k in (1, 2)]
            least = least_divergence(divergence, hits, n, 0.2)
            wrong += least > true
            largest = max(largest, least)
        assert wrong <= 30
        assert largest > 0.8 * true


def test_what_is_not_in_a_set() -> None:
    """The complement of a set has all other runs, on the side that is asked for."""
    counts: tuple[Counts, Counts] = Counter({("a",): 30, ("b",): 70}), Counter({("a",): 55, ("c",): 45})
    others = Others(Outputs(frozenset({("a",)})))
    rng = np.random.default_rng(0)
    assert others.hits(counts, 0, rng) == (70, 45)
    assert others.hits(counts, 1, rng) == (45, 70)


@dataclass(frozen=True)
class Known:
    """A source whose outputs have given probabilities."""

    sides: Mapping[int, tuple[float, ...]]

    def sampler(self, experiment: Experiment, side: int) -> Known.Draw:
        """Returns the sampler of a side."""
        del experiment
        return Known.Draw(self.sides[side])

    @dataclass(frozen=True)
    class Draw:
        """Draws numbers from 0."""

        shares: tuple[float, ...]

        def __call__(self, rng: np.random.Generator, size: int) -> Counts:
            return Counter({(str(k),): int(n) for k, n in enumerate(rng.multinomial(size, self.shares)) if n})


def rejections(divergence: MassDivergence, factor: float, seeds: int, level: float) -> int:
    """How often a bound is rejected, that is so many times the true divergence."""
    p, q = (0.4, 0.35, 0.25), (0.25, 0.35, 0.4)
    bound = factor * far(divergence, list(p), list(q))
    count = 0
    for seed in range(seeds):
        with runs_of(Known({0: p, 1: q}), seed) as runs:
            search = PairSearch(runs, divergence, Settings(1_000, 300, level))
            count += detect_divergence(search, [Experiment("a", "b", {})], [[bound]]).is_rejected
    return count


@pytest.mark.slow
@pytest.mark.parametrize(("divergence", "power"), [(of_order(3), 10), (ZCDP, 10)])
def test_a_true_bound_is_rejected_with_the_probability_of_the_level(
    divergence: MassDivergence, power: int
) -> None:
    """At the true divergence at most half of the seeds are rejected, at the level 3/10; far below it most."""
    assert rejections(divergence, 1.0, 12, 0.3) <= 6
    assert rejections(divergence, 0.3, 12, 0.3) >= power


def sampled(
    path: str, epsilons: tuple[str, ...], at: str, goal: SamplingGoal | None = None, runs: int = 20_000
) -> object:
    plan = Plan(goal, Settings(runs, runs // 5), epsilons=epsilons, at={"p": Fraction(at)}, seed=1)
    return carry_out(lambda point: load(path), plan)


def test_wrong_bounds_are_rejected_and_true_ones_are_not() -> None:
    """At p = 1/1000 the divergence of order 4 is 0.5590 or less: 0.4 and 0.5 are rejected, 0.57 is not."""
    found = sampled(RENYI, ("0.57, 0.4", "0.5"), "1/1000").divergence
    assert [row.candidate.bound for row in found.asked] == [0.4, 0.5, 0.57]
    assert [found.rejects(row) for row in found.asked] == [True, True, False]
    exact = paramverify.load(RENYI).with_(renyi={"order": 4, "epsilon": "0.57"})
    assert exact.verify().verdict == "private"
    assert all(0.5 < row.least < 0.5606 for row in found.asked)


@pytest.mark.slow
def test_a_violating_prior_is_found_and_evaluated() -> None:
    """The search over priors leads to a small p; the divergence there is above the bound, exactly."""
    found = paramverify.sample(RENYI, goal="certify", runs=4_000, select=2_000)
    assert found.rejected
    witness = found.witness
    assert isinstance(witness, paramverify.DivergenceWitness)
    assert witness.moment > witness.bound
    assert witness.parameters["p"] < Fraction(1, 30)
    assert "candidates were confirmed by exact evaluation" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["verdict"] == "not private"


@pytest.mark.slow
def test_rho_by_any_order() -> None:
    """Zero-concentrated privacy: 1/10 is rejected at one prior, and 1/5 is refuted there by an order."""
    found = sampled(RHO, (), "1/100", SamplingGoal.CERTIFY)
    assert found.is_violated
    assert found.certified_pairs[0].witness.order > 1
    low = paramverify.load(RHO).with_(zcdp="1/10").sample(at={"p": "1/100"}, runs=10_000)
    assert low.rejected
    (row,) = low.to_dict()["tested"]
    assert row["zcdp"] == 0.1
    assert 0.1 < row["lower_bound"]["zcdp"] < 0.227


@pytest.mark.slow
def test_what_is_within_its_bound_is_spurious() -> None:
    """With few runs chance looks like a violation of a true bound; exact evaluation says that it is none."""
    case = paramverify.load(RENYI).with_(renyi={"order": 4, "epsilon": "0.57"})
    found = case.sample(goal="certify", runs=200, select=100, seed=4)
    assert not found.rejected
    assert "Spurious" in str(found)
    assert all(entry["spurious"] for entry in found.to_dict()["candidates"])


def test_an_output_of_one_side_only_is_infinitely_far() -> None:
    """However large the bound is, what came on one side only is a candidate, and exactly a violation."""
    rows = ('a = "1/2"\nb = "1/2"', 'a = "1/2"\nc = "1/2"')
    emissions = "\n".join(f"[mechanism.emissions.{i}]\n{row}" for i, row in enumerate(rows))
    case = paramverify.loads(
        '[mechanism]\nkind = "hmm"\nstates = ["0", "1"]\nobservations = ["a", "b", "c"]\n'
        f'{emissions}\n[neighbours]\npairs = [["0", "1"]]\n[privacy]\nkl = "100"\n'
    )
    found = case.sample(goal="certify", runs=500)
    assert found.rejected
    assert found.witness.divergence == float("inf")
    assert "is infinite" in str(found)


def test_what_has_no_meaning_for_divergences_is_refused() -> None:
    """A search, an epsilon of rho and a delta beside it."""
    for options, words in (
        ({"goal": "search"}, "budget"),
        ({"epsilon": 1}, "zcdp, which has no epsilon"),
        ({"delta": "1/10"}, "epsilon, but this case has zcdp"),
    ):
        with pytest.raises(InputError, match=words):
            paramverify.sample(RHO, runs=100, **options)


def test_audits_of_other_measures() -> None:
    """An audit is about all probabilities, whatever the measure is; so is one of a decorated function."""
    assert paramverify.sample(RENYI, goal="audit", direct=True, runs=2_000).found

    from paramverify import flip

    @paramverify.mechanism(
        inputs={"n": {"values": [0, 1]}}, neighbours={"differ": "one"}, ratio=2, delta="1/4"
    )
    def answer(n):  # type: ignore[no-untyped-def]
        truth = flip(3 / 4)
        return n if truth else 1 - n

    assert answer.probabilities()["0"]["0"] == Fraction(3, 4)
    assert answer.audit(runs=2_000).passes
    assert not answer.audit(lambda rng, n: n, runs=2_000).passes


@pytest.mark.slow
def test_a_mechanism_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Gaussian noise of variance 1 has D_α = α/2 for a difference of 1, so its least rho is 1/2."""
    (tmp_path / "gaussian_noise.py").write_text(
        "def count(rng, answers, size):\n    return answers + rng.normal(0, 1, size)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    told = ["sample", "--mechanism", "gaussian_noise:count", "--neighbours", "0", "1", "--runs", "10000"]
    assert run([*told, "--zcdp", "1/4", "--json"]) == 1
    (row,) = json.loads(capfd.readouterr().out)["tested"]
    assert 0.25 < row["lower_bound"]["zcdp"] < 0.5
    assert run([*told, "--renyi", "2,1"]) == 3
    assert "not rejected by the test: renyi of order 2, epsilon = 1" in capfd.readouterr().out
    for option, words in (
        (["--renyi", "1,1"], "--renyi: the order must be a whole number"),
        (["--renyi", "1"], "an order and a bound"),
        (["--kl", "0"], "above 0"),
        (["--kl", "1", "--zcdp", "1"], "give one of"),
        (["--kl", "1", "--plot", "a.svg"], "tests all outputs together"),
    ):
        assert run([*told, *option]) == 2
        assert words in capfd.readouterr().err


@pytest.mark.slow
def test_a_case_with_another_divergence(capfd: pytest.CaptureFixture[str]) -> None:
    """An option takes the place of the bound of a case: pure privacy is tested as zero-concentrated."""
    case = str(CASES.parent / "geometric-independent.toml")
    at = ["--at", "p=1/100", "--runs", "5000"]
    assert run(["sample", case, "--zcdp", "1/10", *at, "--certify"]) == 1
    assert "rho times the order" in capfd.readouterr().out
    assert run(["sample", case, "--chi-squared", "1", *at]) == 3
