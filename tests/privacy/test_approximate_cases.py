"""The shipped cases with a delta, and what the readers of a case say of one."""

from __future__ import annotations

import tomllib
from fractions import Fraction
from pathlib import Path

import pytest
from set_oracle import binomial

from paramverify.algebra.real_roots import RealRoot
from paramverify.divergences import HockeyStick, MaxDivergence
from paramverify.errors import InputError
from paramverify.models.model import Model
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.cases import load
from paramverify.privacy.other_bounds import load_with_bounds
from paramverify.synthesis.least_sets import least_bound
from paramverify.synthesis.set_needs import NeedKind

CASES = sorted((Path(__file__).parents[2] / "cases" / "approximate").glob("*.toml"))


@pytest.mark.parametrize("path", [p for p in CASES if "delta" in tomllib.loads(p.read_text())["expect"]])
def test_expected_least_delta(path: Path) -> None:
    """The least delta for the ratio of a case is the number that it expects, proved."""
    case = load(path)
    assert isinstance(case.model, Model)
    with Session(Options(seconds=60)) as session:
        found = least_bound(case.model, session, Fraction(1, 10**9), NeedKind.DELTA)
    assert isinstance(found.value, RealRoot)
    assert found.value.lower == found.value.upper == Fraction(case.expect["delta"])
    if case.model.domain.box:  # else it is a number, and no claim
        assert found.proof == found.value.lower
    if "attained" in case.expect:
        assert found.attained is case.expect["attained"]


def test_shuffled_responses_by_convolution() -> None:
    """The least delta of ten shuffled responses is that of a convolution of coins, by fractions alone."""
    t, ratio = Fraction(4, 5), Fraction(5, 4)
    others = binomial(9, 1 - t)
    yes = [t * a + (1 - t) * b for a, b in zip([0, *others], [*others, 0], strict=True)]
    no = [(1 - t) * a + t * b for a, b in zip([0, *others], [*others, 0], strict=True)]
    expected = max(
        sum((max(Fraction(0), a - ratio * b) for a, b in zip(p, q, strict=True)), Fraction(0))
        for p, q in ((yes, no), (no, yes))
    )
    case = load(next(path for path in CASES if path.stem == "shuffled-among-10"))
    assert Fraction(case.expect["delta"]) == expected


def test_noisy_max_needs_a_number_with_e() -> None:
    """The least delta of noisy max for epsilon = 1 is (24 - 7·e)/72, exactly."""
    case = load_with_bounds(CASES[0].parent / "noisy-max.toml", {"epsilon": "1", "delta": "1"})
    assert isinstance(case.model, Model)
    with Session(Options(seconds=60)) as session:
        found = least_bound(case.model, session, Fraction(1, 10**9), NeedKind.DELTA)
    assert found.value is not None
    assert not isinstance(found.value, RealRoot)
    assert [Fraction(str(c)) for c in found.value.numerator.coeffs()] == [Fraction(24, 72), Fraction(-7, 72)]
    assert found.value.denominator == 1
    assert found.attained


ONE = """
[parameters]
p = "(0, 1)"

[prior]
x = { bernoulli = "p" }

[mechanism]
kind = "randomized_response"
query = "x"
values = [0, 1]
truth = "3/4"

[secrets]
yes = "x == 1"
no = "x == 0"
pairs = [["yes", "no"]]

[privacy]
ratio = "2"
"""


def read(tmp_path: Path, more: str, start: str = ONE) -> Model:
    """The model of a case with more lines."""
    path = tmp_path / "case.toml"
    path.write_text(start + more)
    model = load(path).model
    assert isinstance(model, Model)
    return model


@pytest.mark.parametrize("delta", ["0", "0/5", "p - p"])
def test_a_delta_of_zero_is_pure(tmp_path: Path, delta: str) -> None:
    """With delta = 0 a case is about pure privacy, by the claims and the words of it."""
    assert isinstance(read(tmp_path, f'delta = "{delta}"\n').measure, MaxDivergence)
    assert isinstance(read(tmp_path, 'delta = "p/9"\n').measure, HockeyStick)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ('delta = "-1/9"', "delta must be a probability, from 0 to 1, but it is -1/9"),
        ('delta = "9/8"', "delta must be a probability, from 0 to 1, but it is 9/8"),
        ('delta = "2*p"', "delta is larger than 1"),
        ('delta = "p - 1/2"', "delta is negative"),
        ('delta = "1/9"\nlength = "all"', "with a delta the lengths are numbers"),
        ('delta = "1/9"\none_sided = "ignored"', "with a delta all outputs count"),
        ('delta = "1/9"\n[quantify]\nforall = ["p"]', "no parameter is left free"),
    ],
)
def test_bounds_that_are_none(tmp_path: Path, more: str, words: str) -> None:
    """A delta that is no probability, or has no meaning for a case, is an error with the reason."""
    with pytest.raises(InputError, match=words):
        read(tmp_path, more + "\n")


NEIGHBOURS = """
[mechanism]
kind = "{kind}"
queries = {queries}
noise = {{ truncated_geometric = "1/2", range = 2 }}
{more}

[neighbours]
differ = "each"
{distance}

[privacy]
ratio = "2"
delta = "1/9"
"""


@pytest.mark.parametrize(
    ("kind", "queries", "more", "distance", "words"),
    [
        ("noisy_max", 12, 'ties = "uniform"', "", "the neighbours are too many to form"),
        ("geometric", 1, "", 'distance = "abs(x - y)"', "depend on a distance have no delta"),
    ],
)
def test_comparisons_without_sets(
    tmp_path: Path, kind: str, queries: int, more: str, distance: str, words: str
) -> None:
    """Neighbours that one pair stands for, and bounds by distance, have no sets of outputs."""
    text = NEIGHBOURS.format(kind=kind, queries=queries, more=more, distance=distance)
    if kind == "geometric":
        text = text.replace("queries = 1\n", "")
    with pytest.raises(InputError, match=words):
        read(tmp_path, "", text)


def test_adversaries_are_refused() -> None:
    """Where an adversary chooses the answers, a delta is an error."""
    path = CASES[0].parents[1] / "above-threshold.toml"
    with pytest.raises(InputError, match="an adversary chooses the answers"):
        load_with_bounds(path, {"ratio": "2", "delta": "1/9"})
