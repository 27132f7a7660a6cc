"""A mechanism that answers several times: counts of outputs, against all sequences by fractions alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path
from random import Random

import pytest
from set_oracle import Drawn, Point, drawn, points
from set_oracle import value as value_of

from paramverify.divergences import MaxDivergence
from paramverify.errors import CaseError, InputError, LimitError
from paramverify.models.hmm import repeated
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.cases import load
from paramverify.statistics.black_boxes import CaseInputs
from paramverify.synthesis.budget import tight_budget
from paramverify.synthesis.least_sets import least_bound
from paramverify.synthesis.set_needs import NeedKind

RATIO = Fraction(3, 2)
CASE = """
[parameters]
t = "[1/2, 3/4]"
[prior]
x = { bernoulli = "1/2" }
[mechanism]
kind = "randomized_response"
times = TIMES
query = "x"
truth = "t"
[secrets]
yes = "x == 1"
no = "x == 0"
pairs = [["yes", "no"]]
[privacy]
ratio = "27"
"""


def sequences(found: Drawn, side: int, times: int, at: Point) -> Iterator[Fraction]:
    """How likely each sequence of outputs is under one secret: one input, new noise each time."""
    prior = [value_of(entry, at) for entry in found.priors[side]]
    rows = [[value_of(entry, at) for entry in row] for row in found.emissions]
    for word in product(range(len(rows[0])), repeat=times):
        yield sum((w * prod(row[o] for o in word) for w, row in zip(prior, rows, strict=True)), Fraction(0))


def needed(found: Drawn, times: int, at: Point) -> Fraction:
    """The least delta over all sets of sequences, in both directions, at a point."""
    one, other = (list(sequences(found, side, times, at)) for side in (0, 1))
    return max(
        sum((max(Fraction(0), p - RATIO * q) for p, q in zip(a, b, strict=True)), Fraction(0))
        for a, b in ((one, other), (other, one))
    )


@pytest.mark.parametrize("seed", range(700, 704))
def test_counts_say_as_much_as_sequences(seed: int) -> None:
    """The least delta for the counts is that of all sequences, and of the model of sequences."""
    found, times = drawn(Random(seed), seed % 2), 2 + seed % 2
    model = found.model(RATIO, Fraction(1))
    counted = replace(model, hmm=repeated(model.hmm, times))
    with Session(Options(seconds=30)) as session:
        known = least_bound(counted, session, Fraction(1, 10**9), NeedKind.DELTA)
        same = least_bound(replace(model, lengths=(times,)), session, Fraction(1, 10**9), NeedKind.DELTA)
    assert (known.low, known.high) == (same.low, same.high)
    brute = max(needed(found, times, at) for at in points(found.names, 9))
    assert known.high is not None
    assert brute <= known.high
    if not found.names:
        assert brute == known.low == known.high


def test_pure_privacy_of_counts(tmp_path: Path) -> None:
    """Three answers about one bit have the third power of the ratio of one, over an interval of truths."""
    path = tmp_path / "case.toml"
    path.write_text(CASE.replace("TIMES", "3"), encoding="utf-8")
    case = load(path)
    assert case.times == 3
    assert isinstance(case.model.measure, MaxDivergence)  # type: ignore[union-attr]
    with Session(Options(seconds=30)) as session:
        found = tight_budget(case.model, session)  # type: ignore[arg-type]
    assert found.high == found.low == 27
    with pytest.raises(InputError, match="answers several times"):
        CaseInputs.of(case)


def test_what_has_a_memory_is_no_repeated_release() -> None:
    """Where an output changes what comes next, or the counts are too many, there is one line."""
    cases = Path(__file__).parents[2] / "cases"
    series = load(cases / "above-threshold.toml")
    with pytest.raises(CaseError, match="depends on its earlier outputs"):
        repeated(series.model.hmm, 2)  # type: ignore[union-attr]
    many = load(cases / "approximate" / "geometric-independent.toml")
    with pytest.raises(LimitError, match="counts"):
        repeated(many.model.hmm, 1000)  # type: ignore[union-attr]


def test_a_wrong_number_of_times_is_told(tmp_path: Path) -> None:
    """Zero times is no number of times."""
    path = tmp_path / "case.toml"
    path.write_text(CASE.replace("TIMES", "0"), encoding="utf-8")
    with pytest.raises(InputError, match="times"):
        load(path)


def test_counts_of_two_inputs_with_one_name(tmp_path: Path) -> None:
    """Outputs of different inputs are different, also where the names of their counts would be the same."""
    rows = '0 = { "x:1 y" = "1/2", z = "1/2" }, 1 = { x = "1/2", "y:1 z" = "1/2" }'
    text = CASE.replace('kind = "randomized_response"', 'kind = "release"').replace("TIMES", "2")
    path = tmp_path / "case.toml"
    path.write_text(text.replace('truth = "t"', f"table = {{ {rows} }}"))
    with pytest.raises(InputError, match="two counts of outputs have the same name"):
        load(path)
