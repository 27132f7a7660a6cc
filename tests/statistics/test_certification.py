"""Testing and certainty together: candidates are certified, tight budgets found and proved."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from paramverify.algebra.real_roots import RealRoot
from paramverify.errors import InputError
from paramverify.portfolio.session import Options
from paramverify.privacy import verification
from paramverify.privacy.cases import PrivacyCase, load
from paramverify.privacy.verification import verify
from paramverify.statistics.case_testing import guided
from paramverify.statistics.certification import certify, simplest, suspicious, tight_ratio, worst
from paramverify.statistics.detection import SELECT, Detection, Settings, detect
from paramverify.statistics.events import Feature, FeatureRange, OutputEvent, Quantity, candidates
from paramverify.statistics.samplers import ModelSource, chosen_points, experiments, length_of
from paramverify.statistics.sampling_runs import Runs
from paramverify.verdicts import Holds, Violated

CASES = Path(__file__).parents[2] / "cases"
TIGHT = math.log(288 / 73)  # noisy max of five answers
SMALL = Settings(runs=20_000, select=5_000)


def case(name: str) -> PrivacyCase:
    return load(CASES / f"{name}.toml")


def detected(
    loaded: PrivacyCase,
    epsilons: list[float],
    settings: Settings = SMALL,
    seed: int = 1,
    length: int | None = None,
) -> tuple[Runs, Detection]:
    model = loaded.model
    runs = Runs(ModelSource(model), seed)
    listed = experiments(model, length_of(model, length), chosen_points(model, {}, seed))
    return runs, detect(runs, listed, epsilons, settings)


@pytest.mark.slow
def test_noisy_max_of_five() -> None:
    """The test and the attack bracket ln(288/73); the search returns the ratio exactly, and proves it."""
    loaded = case("noisy-max-5-below")
    runs, found = detected(loaded, [1.2, 1.6], Settings(200_000, 50_000))
    left, right = found.interval
    assert left is not None
    assert right is not None
    assert left < TIGHT < right
    assert right - left < 0.2
    assert 1.3 < found.bound.epsilon < TIGHT
    low, high = found.asked
    assert found.rejects(low)
    assert not found.rejects(high)
    assert low.candidate.secrets == ("(1, 1, 1, 1, 1)", "(0, 2, 2, 2, 2)")
    best = next(found.selected[k] for k in range(1))
    start = certify(loaded.model, best, runs.both(SELECT, best.experiment, found.settings.select)[0])
    assert start is not None
    tight = tight_ratio(loaded, start.witness, Fraction(1, 10**6), 60)
    assert tight.exact
    assert tight.witness.ratio is not None
    assert tight.witness.ratio.rational == Fraction(288, 73)
    assert isinstance(tight.steps[-1].report.verdict, Holds)


@pytest.mark.slow
def test_a_search_finds_a_supremum_that_nothing_attains() -> None:
    """The ratio of the independent case comes near 2 and never reaches it: the supremum is 2, exactly."""
    loaded = case("geometric-independent")
    _, found = detected(loaded, [0.5])
    start = certify(loaded.model, found.selected[0], [found.selected[0].event.value])
    assert start is not None
    tight = tight_ratio(loaded, start.witness, Fraction(1, 1000), 60)
    assert not tight.exact
    assert tight.upper == 2
    assert tight.is_within(Fraction(1, 1000))
    assert tight.limit is not None
    assert isinstance(tight.limit.value, RealRoot)
    assert tight.limit.value.lower == tight.limit.value.upper == 2
    assert tight.limit.attained is False
    assert tight.witness.ratio is not None
    ratio = tight.witness.ratio.rational
    assert ratio is not None
    assert 1 < ratio < 2


def test_impossible_outputs(tmp_path: Path) -> None:
    """An output that is possible under one input only leaves no budget."""
    (tmp_path / "case.toml").write_text(
        '[mechanism]\nkind = "geometric"\nnoise = { table = [["1/2", "1/2"], ["0", "1"]] }\n'
        '[neighbours]\ndiffer = "each"\n[privacy]\nratio = 100\n'
    )
    loaded = load(tmp_path / "case.toml")
    _, found = detected(loaded, [4.0])
    best = found.selected[0]
    start = certify(loaded.model, best, [best.event.value])
    assert start is not None
    assert start.is_violation
    assert tight_ratio(loaded, start.witness, Fraction(1, 1000), 60).infinite
    assert found.bound.epsilon > 5


@pytest.mark.slow
def test_every_length() -> None:
    """For every length a ratio that grows without limit is told, and else the supremum is bounded by
    proofs."""
    growing = case("above-threshold-all")
    _, found = detected(growing, [2.0], length=3)
    start = certify(growing.model, found.selected[0], [found.selected[0].event.value])
    assert start is not None
    assert tight_ratio(growing, start.witness, Fraction(1, 10), 30).infinite
    bounded = case("time-series-2-all")
    _, found = detected(bounded, [1.0], length=3)
    start = certify(bounded.model, found.selected[0], [found.selected[0].event.value])
    assert start is not None
    tight = tight_ratio(bounded, start.witness, Fraction(1, 10), 60)
    assert tight.is_within(Fraction(1, 10))
    assert tight.upper is None or float(tight.upper) <= 6


@pytest.mark.slow
def test_longer_sequences_say_nothing_about_a_case() -> None:
    """A case about two answers is private with 4 ln 2; a ratio of five answers is not its own."""
    loaded = case("above-threshold")
    short = replace(loaded, model=replace(loaded.model, lengths=(1, 2)))
    assert isinstance(verify(short).verdict, Holds)
    _, found = detected(loaded, [2.0])
    start = certify(loaded.model, found.selected[0], [found.selected[0].event.value])
    assert start is not None
    assert len(start.witness.observations) == 5
    with pytest.raises(InputError, match="at most 2, the length of the case, but it is 5"):
        certify(short.model, found.selected[0], [found.selected[0].event.value])
    with pytest.raises(InputError, match="at most 2, the length of the case, but it is 5"):
        tight_ratio(short, start.witness, Fraction(1, 1000), 60)


@pytest.mark.slow
def test_above_threshold_with_short_inputs() -> None:
    """Testing sequences of length 3 says that 4 ln 2 is fine; five answers, and exactly, it is violated."""
    loaded = case("above-threshold")
    budget = 4 * math.log(2)
    _, short = detected(loaded, [budget], length=3)
    assert not short.rejects(short.asked[0])
    assert short.asked[0].values.p > 0.99
    assert isinstance(verify(loaded).verdict, Violated)
    runs, longer = detected(loaded, [budget], Settings(100_000, 50_000), length=5)
    assert longer.rejects(longer.asked[0])
    found = [
        certify(loaded.model, c, runs.both(SELECT, c.experiment, 50_000)[0])
        for c in suspicious(loaded.model, longer.selected, 10)
    ]
    violation = worst([c for c in found if c])
    assert violation.is_violation
    assert violation.witness.ratio is not None
    assert violation.witness.ratio.rational == 32


@pytest.mark.slow
def test_spurious_candidates_are_named() -> None:
    """Just above the tight budget testing has candidates, and exact evaluation names each as spurious."""
    loaded = case("noisy-max-naive-3-ln8")
    certified = []
    for seed in range(10):
        _, found = detected(loaded, [2.0], seed=seed)
        for candidate in suspicious(loaded.model, found.selected, 10):
            assert candidate.epsilon > math.log(8)
            certified.append(certify(loaded.model, candidate, [candidate.event.value]))
        if certified:
            break
    assert certified
    assert not any(entry is None or entry.is_violation for entry in certified)


def test_events_of_several_outputs_are_certified_by_their_worst() -> None:
    """An event is as bad as its worst output at most; outputs that the model does not know are passed
    over."""
    model = case("geometric-neighbours").model
    experiment = experiments(model, 1, [{}])[0]
    counts = [Counter({("0",): 60, ("1",): 20, ("2",): 20}), Counter({("0",): 30, ("1",): 40, ("2",): 30})]
    at_most_one = OutputEvent("range", (), (FeatureRange(Feature(Quantity.VALUE), high=1.0),))
    half = next(c for c in candidates(experiment, counts) if c.event == at_most_one and not c.more)
    found = certify(model, half, [("7",), ("2",), ("1",), ("0",)])
    assert found is not None
    assert found.witness.observations == ("0",)
    assert certify(model, half, [("7",)]) is None


@pytest.mark.slow
def test_samples_guide_to_a_violating_prior() -> None:
    """No point of the first ones violates the budget; points near the best of them do."""
    loaded = case("above-threshold-prior-2")
    model = loaded.model
    runs = Runs(ModelSource(model), 0)
    settings = Settings(100_000, 50_000)
    start = experiments(model, 4, chosen_points(model, {}, seed=0))
    budget = 2 * math.log(2)
    assert not suspicious(model, detect(runs, start, [budget], settings).selected, 5)
    more = guided(runs, model, start, settings, {})
    found = suspicious(model, detect(runs, more, [budget], settings).selected, 5)
    certified = certify(model, found[0], [found[0].event.value])
    assert certified is not None
    assert certified.is_violation
    simple = simplest(model, certified)
    assert simple.exceeds
    assert max(v.denominator for v in simple.parameters.values()) <= 8
    fixed = guided(runs, model, start, settings, {"p": Fraction(1), "q": Fraction(1), "t": Fraction(1)})
    assert len(fixed) == len(start)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["noisy-max-3-above", "noisy-max-naive-3-ln2", "above-threshold"],
)  # fmt: skip
def test_likely_pairs_change_no_verdict(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking at pairs with a pattern first gives the same verdicts as not looking."""
    loaded = case(name)
    kinds = []
    for many in (0, 10**9):
        monkeypatch.setattr(verification, "MANY_PAIRS", many)
        verdict = verify(loaded, Options(seconds=60)).verdict
        kinds.append(type(verdict))
        if isinstance(verdict, Violated):
            assert verdict.witness.exceeds
    assert kinds[0] is kinds[1]


@pytest.mark.slow
def test_likely_pairs_find_violations_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """With many pairs a violation is found without the claims of all of them."""
    loaded = case("noisy-max-5-below")
    assert len(loaded.model.pairs) > verification.MANY_PAIRS
    monkeypatch.setattr(verification, "is_long", lambda model: False)
    report = verify(loaded)
    assert isinstance(report.verdict, Violated)
    assert len(report.claims) == len(report.decisions) == 1
