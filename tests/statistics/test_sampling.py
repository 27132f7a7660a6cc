"""Sampling: what is drawn follows the exact probabilities, and depends on the seed alone."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import sampled_mechanisms as mechanisms
from hypothesis import given, settings
from hypothesis import strategies as st

from paramverify.claims import Origin
from paramverify.errors import InputError, LimitError
from paramverify.evidence.witnesses import evaluate
from paramverify.models.mechanisms import Input
from paramverify.models.neighbourhoods import pattern_pairs, patterned
from paramverify.privacy.cases import PrivacyCase, load
from paramverify.statistics import audit as auditing
from paramverify.statistics import samplers
from paramverify.statistics.audit import audit
from paramverify.statistics.black_boxes import (
    BlackBoxSource,
    CaseInputs,
    DirectSource,
    check_shared,
    load_mechanism,
)
from paramverify.statistics.samplers import (
    Draws,
    Experiment,
    ModelSource,
    chosen_points,
    experiments,
    length_of,
)
from paramverify.statistics.sampling_runs import CHUNK, Runs, runs_of

CASES = Path(__file__).parents[2] / "cases"


def case(name: str) -> PrivacyCase:
    return load(CASES / f"{name}.toml")


def trials(
    loaded: PrivacyCase, length: int | None = None, pairs: int = 8, points: int = 1
) -> list[Experiment]:
    model = loaded.model
    chosen = chosen_points(model, {}, seed=1, most=points)
    return experiments(model, length_of(model, length), chosen, pairs)


# --- draws ------------------------------------------------------------------------------------------


rows = st.lists(
    st.lists(st.integers(1, 10**12), min_size=1, max_size=9).map(
        lambda weights: [Fraction(w, sum(weights)) for w in weights]
    ),
    min_size=1,
    max_size=6,
)


@pytest.mark.slow
@given(rows, st.integers(0, 2**32))
@settings(max_examples=40)
def test_draws_invert_the_distribution_function(table: list[list[Fraction]], seed: int) -> None:
    """A uniform number U draws the entry whose exact interval it falls into, up to 2^-64; both ways agree."""
    found = Draws.of(table)
    for row, probabilities in enumerate(table):
        at = np.full(50, row)
        entries = found.entries(np.random.default_rng(seed), at) - found.offsets[row]
        assert (entries == found.row(np.random.default_rng(seed), row, 50)).all()
        uniform = samplers.bits(np.random.default_rng(seed), 50)
        for u, entry in zip(uniform.tolist(), entries.tolist(), strict=True):
            below = sum(probabilities[:entry], Fraction(0))
            assert below * 2**64 - 1 <= u <= (below + probabilities[entry]) * 2**64 + 1


def test_thresholds_are_exact_up_to_the_last_bit() -> None:
    """Thresholds are within 2^-64 of the exact sums, also for probabilities that no float can hold."""
    tiny = Fraction(1, 3 * 2**70)
    found = Draws.of([[Fraction(1, 3), Fraction(2, 3) - tiny, tiny]])
    exact = [Fraction(1, 3), 1 - tiny]
    for threshold, value in zip(found.thresholds.tolist(), exact, strict=False):
        assert abs(Fraction(threshold, 2**64) - value) <= Fraction(1, 2**64)


# --- models -----------------------------------------------------------------------------------------

SAMPLED = [
    ("discrete-laplace", 2),  # probabilities with exp(-1/2)
    ("noisy-max-five-diseases", None),
    ("time-series-2-day-3", None),  # bridges
    ("above-threshold-prior", 3),
    ("above-threshold", 3),  # answers chosen by an adversary
]


@pytest.mark.parametrize(("name", "length"), SAMPLED)
def test_samples_follow_the_model(name: str, length: int | None) -> None:
    """Sequences from a model come as often as the exact forward recursion says, at several points."""
    loaded = case(name)
    listed = trials(loaded, length, pairs=4, points=2)
    found = audit(Runs(ModelSource(loaded.model), 7), loaded.model, listed, 20_000, 1e-3)
    assert found.passes, [f.worst for f in found.rejected]


def test_expectations_are_the_exact_probabilities() -> None:
    """What the audit expects is what exact evaluation gives, and sums to one."""
    model = case("above-threshold").model
    choices = ("01", "12", "12", "12", "21")
    left, right = model.pairs[0].left, model.pairs[0].right
    expected = [auditing.probabilities(model, Experiment(left, right, {}, 5, choices), s) for s in (0, 1)]
    word = ("01⊥", "12⊥", "12⊥", "12⊥", "21⊤")
    witness = evaluate(model, Origin(left, right, word), {})
    assert [e[word] for e in expected] == pytest.approx([float(p) for p in witness.probabilities])
    assert [sum(e.values()) for e in expected] == pytest.approx([1, 1])
    assert witness.ratio is not None
    assert witness.ratio.rational == 20


def test_seeds() -> None:
    """The same seed gives the same counts, another one others; stages and sides share no numbers."""
    loaded = case("noisy-max-naive-3-ln2")
    (experiment, *_) = trials(loaded)
    source = ModelSource(loaded.model)
    first, same, other = (Runs(source, s).both(0, experiment, 1_000) for s in (1, 1, 2))
    assert first == same
    assert first != other
    once = Runs(source, 1)
    assert once.counts(0, experiment, 0, 1_000) != once.counts(1, experiment, 0, 1_000)
    assert once.counts(0, experiment, 0, 1_000) is once.counts(0, experiment, 0, 1_000)


@pytest.mark.slow
def test_workers_change_nothing() -> None:
    """Two processes give exactly the counts of one, for models and for functions found by their name."""
    loaded = case("geometric-neighbours")
    (experiment, *_) = trials(loaded)
    black_box = BlackBoxSource(mechanisms.geometric, CaseInputs.of(loaded))
    for source in (ModelSource(loaded.model), black_box):
        with runs_of(source, 3) as alone, runs_of(source, 3, workers=2) as shared:
            size = 2 * CHUNK + 1_000
            counts = alone.both(0, experiment, size)
            assert counts == shared.both(0, experiment, size)
            assert [sum(c.values()) for c in counts] == [size, size]


def test_answers_that_cannot_be_chosen() -> None:
    """An adversary cannot choose answers that are no neighbours."""
    model = case("above-threshold").model
    experiment = Experiment(model.pairs[0].left, model.pairs[0].right, {}, 1, ("02",))
    with pytest.raises(InputError, match="'02' cannot be chosen"):
        ModelSource(model).sampler(experiment, 0)


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many states or sequences are refused, not worked on."""
    model = case("above-threshold").model
    (experiment, *_) = experiments(model, 4, [{}])
    monkeypatch.setattr(samplers, "MAX_STATES", 2)
    with pytest.raises(LimitError, match="more than 2 reachable states"):
        ModelSource(model).sampler(experiment, 0)
    monkeypatch.setattr(auditing, "MOST_SEQUENCES", 3)
    with pytest.raises(LimitError, match="more than 3 output sequences"):
        auditing.probabilities(model, experiment, 0)


# --- mechanisms and black boxes ---------------------------------------------------------------------

DIRECT = [
    ("noisy-max-5-below", None),
    ("noisy-max-naive-3-ln2", None),  # ties go to the first
    ("geometric-independent", None),
    ("above-threshold", 3),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "length"), DIRECT)
def test_drawing_the_noise_agrees_with_the_model(name: str, length: int | None) -> None:
    """Mechanisms that are run as defined follow the closed formulas of their models, input by input."""
    case_inputs = CaseInputs.of(case(name)).by_input()
    listed = trials(case_inputs.case, length)
    found = audit(Runs(DirectSource(case_inputs), 5), case_inputs.case.model, listed, 20_000, 1e-3)
    assert found.passes, [f.worst for f in found.rejected]


@pytest.mark.slow
def test_mixtures_of_inputs() -> None:
    """Under a prior, a mechanism is run on inputs that are drawn from the conditioned prior."""
    loaded = case("noisy-max-independent")
    case_inputs = CaseInputs.of(loaded)
    point = {name: Fraction(1, 3) for name in ("pA", "pB", "pC")}
    (experiment,) = experiments(loaded.model, 1, [point])
    inputs = case_inputs.inputs(experiment, 0)
    assert len(inputs) == 2 * 3 * 3
    assert sum(float(p) for p in inputs.values()) == pytest.approx(1)
    # A is 1 or 2 under "infected": (4/9, 1/9) before conditioning.
    assert sum(float(p) for given_, p in inputs.items() if given_[0] == 1) == pytest.approx(4 / 5)
    found = audit(Runs(DirectSource(case_inputs), 5), loaded.model, [experiment], 50_000, 1e-3)
    assert found.passes


def test_explicit_models_are_given_their_state() -> None:
    """A black box for explicit tables gets the name of the initial state; labels stay labels."""
    loaded = case("time-series-2")
    case_inputs = CaseInputs.of(loaded)
    (experiment,) = trials(loaded)
    assert [list(case_inputs.inputs(experiment, side)) for side in (0, 1)] == [[("ill",)], [("well",)]]
    explicit = CaseInputs.of(case("discrete-laplace"))
    (first, *_) = trials(explicit.case)
    assert list(explicit.inputs(first, 0)) == [(Fraction(0),)]


def test_labels_may_look_like_anything(tmp_path: Path) -> None:
    """An input with brackets and commas in its name is one label."""
    (tmp_path / "case.toml").write_text(
        '[mechanism]\nkind = "randomized_response"\nvalues = ["(yes, of course)", "no"]\ntruth = "3/4"\n'
        '[neighbours]\ndiffer = "each"\n[privacy]\nratio = 3\n'
    )
    loaded = load(tmp_path / "case.toml")
    (experiment,) = trials(loaded)
    inputs = [list(CaseInputs.of(loaded).inputs(experiment, side)) for side in (0, 1)]
    assert inputs == [[("(yes, of course)",)], [("no",)]]
    counts = Runs(ModelSource(loaded.model), 1).counts(0, experiment, 1, 1_000)
    assert 200 < counts[("(yes, of course)",)] < 300


@pytest.mark.slow
def test_sequences_end_early() -> None:
    """A mechanism that stops is filled up with `end`, and the adversary's answers go in front of its
    outputs."""
    loaded = case("above-threshold")
    case_inputs = CaseInputs.of(loaded)
    listed = trials(loaded, 3, pairs=2)
    runs = Runs(BlackBoxSource(mechanisms.above_threshold, case_inputs), 1)
    assert audit(runs, loaded.model, listed, 5_000, 1e-3).passes
    counts = runs.counts(0, listed[0], 0, 500)
    assert ("12⊤", "end", "end") in counts


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("geometric", "write module:function"),
        ("no_such_module_here:f", "cannot import"),
        ("sampled_mechanisms:none", "has no function 'none'"),
        ("sampled_mechanisms:Given", "cannot be read"),
        ("sampled_mechanisms:__doc__", "is not a function"),
    ],
)
def test_names_of_mechanisms(name: str, message: str) -> None:
    """Mistakes in the name of a mechanism are told."""
    loaded = case("geometric-neighbours")
    with pytest.raises(InputError, match=message):
        BlackBoxSource(load_mechanism(name), CaseInputs.of(loaded)).sampler(trials(loaded)[0], 0)


def test_rules_for_mechanisms() -> None:
    """Wrong arguments, a wrong number of outputs and wrong lengths are told."""
    loaded = case("geometric-neighbours")
    case_inputs = CaseInputs.of(loaded)
    (experiment, *_) = trials(loaded)
    with pytest.raises(InputError, match=r"must accept \(rng, input\)"):
        BlackBoxSource(mechanisms.no_arguments, case_inputs).sampler(experiment, 0)
    with pytest.raises(InputError, match="instead of 100 outputs"):
        Runs(BlackBoxSource(mechanisms.too_few, case_inputs), 1).counts(0, experiment, 0, 100)
    with pytest.raises(
        InputError,
        match=(
            r"raised ZeroDivisionError: division by nothing \(for the "
            r"input 0\)"
        ),
    ):
        Runs(BlackBoxSource(mechanisms.failing, case_inputs), 1).counts(0, experiment, 0, 100)
    for mechanism, message in (
        (mechanisms.nested, "not a list in a list"),
        (mechanisms.opaque, "a number, a label, or a list of them, not object"),
        (mechanisms.ends, "raised SystemExit"),
        (lambda rng, given: np.array(10**5000), "too many digits"),
    ):
        with pytest.raises(InputError, match=message):
            Runs(BlackBoxSource(mechanism, case_inputs), 1).counts(0, experiment, 0, 100)
    whole = Runs(BlackBoxSource(lambda rng, given: np.array(3.0), case_inputs), 1)
    assert whole.counts(0, experiment, 0, 100) == {("3",): 100}
    with pytest.raises(InputError, match="defined by its name"):
        check_shared(mechanisms.nameless)
    (longer, *_) = trials(loaded, 2)
    with pytest.raises(InputError, match="a sequence of length 1, but the case has length 2"):
        Runs(BlackBoxSource(mechanisms.geometric, case_inputs), 1).counts(0, longer, 0, 100)


# --- what is tried ----------------------------------------------------------------------------------


def test_patterns_of_the_papers() -> None:
    """The input patterns for five answers are among the first pairs, and every pair are neighbours."""
    found = {(name, frozenset((x, y))) for name, x, y in pattern_pairs(5, 2)}
    ones = (1, 1, 1, 1, 1)
    assert ("one above", frozenset((ones, (2, 1, 1, 1, 1)))) in found
    assert ("one below", frozenset((ones, (0, 1, 1, 1, 1)))) in found
    assert ("one above, rest below", frozenset((ones, (2, 0, 0, 0, 0)))) in found
    assert ("one below, rest above", frozenset((ones, (0, 2, 2, 2, 2)))) in found
    assert ("half and half", frozenset((ones, (0, 0, 2, 2, 2)))) in found
    assert ("all above", frozenset((ones, (2, 2, 2, 2, 2)))) in found
    assert ("X shape", frozenset(((1, 1, 0, 0, 0), (0, 0, 1, 1, 1)))) in found
    for _, x, y in pattern_pairs(5, 2):
        assert all(abs(a - b) <= 1 for a, b in zip(x, y, strict=True))
        assert x != y


def test_patterned_pairs_come_first() -> None:
    """Pairs of a model that have a pattern are found by their names, and come first in experiments."""
    pairs = case("noisy-max-5-below").model.pairs
    named = patterned(pairs)
    assert named[0][0] == "one above"
    assert {id(pair) for _, pair in named} <= {id(pair) for pair in pairs}
    assert len({id(pair) for _, pair in named}) == len(named)
    listed = trials(case("noisy-max-naive-3-ln2"), pairs=50)
    assert [bool(e.pattern) for e in listed] == sorted((bool(e.pattern) for e in listed), reverse=True)
    assert patterned(case("discrete-laplace").model.pairs) == []


def test_points() -> None:
    """Points are in the domain, repeat with the seed, and keep the given values."""
    model = case("above-threshold-prior").model
    points = chosen_points(model, {"p": Fraction(1, 7)}, seed=1)
    assert points == chosen_points(model, {"p": Fraction(1, 7)}, seed=1)
    assert all(p["p"] == Fraction(1, 7) and Fraction(1, 4) <= p["q"] <= Fraction(3, 4) for p in points)
    assert len({tuple(p.values()) for p in points}) == len(points) > 5
    with pytest.raises(InputError, match="there is no parameter 'z'"):
        chosen_points(model, {"z": Fraction(1)}, seed=1)
    with pytest.raises(InputError, match="no point with p = 2 was found in the domain"):
        chosen_points(model, {"p": Fraction(2)}, seed=1)


def test_secrets_without_probability_are_left_out(tmp_path: Path) -> None:
    """A point at which a secret is impossible is no experiment."""
    text = (CASES / "geometric-contagious-ln2.toml").read_text().replace('"(0, 1)"', '"[0, 1]"')
    (tmp_path / "case.toml").write_text(text)
    model = load(tmp_path / "case.toml").model
    zero, half = {"p": Fraction(0)}, {"p": Fraction(1, 2)}
    assert [e.point for e in experiments(model, 1, [zero, half])] == [half]
    with pytest.raises(InputError, match="probability 0"):
        experiments(model, 1, [zero])


def test_the_file_may_change(tmp_path: Path) -> None:
    """What a case is applied to is kept as it was read: its file may change, or go, after that."""

    def given() -> list[dict[Input, tuple[object, object]]]:
        case_inputs = CaseInputs.of(loaded)
        found = [case_inputs.inputs(e, side) for e in trials(loaded) for side in (0, 1)]
        return [{x: (p.numerator, p.denominator) for x, p in inputs.items()} for inputs in found]

    file = tmp_path / "case.toml"
    text = (CASES / "geometric-contagious-ln2.toml").read_text()
    file.write_text(text)
    loaded = load(file)
    before = given()
    file.write_text(text.replace('"john + kin"', '"john"').replace("range = 2", "range = 3"))
    assert given() == before != []
    file.unlink()
    sampler = DirectSource(CaseInputs.of(loaded)).sampler(trials(loaded)[0], 0)
    counts = sampler(np.random.default_rng(1), 100)
    assert sum(counts.values()) == 100
    assert {output for (output,) in counts} <= {"0", "1", "2"}


def test_every_length_needs_one() -> None:
    """A case about every length is sampled at one length, which has to be given."""
    model = case("above-threshold-all").model
    assert length_of(model, 4) == 4
    with pytest.raises(InputError, match="--length"):
        length_of(model, None)
