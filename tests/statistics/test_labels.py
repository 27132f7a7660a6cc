"""Labels of outputs: equal numbers have one, and outputs of different types have different ones."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from calling_tools import called

from paramverify.claims import show_sequence
from paramverify.errors import InputError
from paramverify.privacy.cases import load
from paramverify.statistics.black_boxes import BlackBox, BlackBoxSource, CaseInputs
from paramverify.statistics.events import Feature, KnownObservations, Quantity, as_number, label, spelt
from paramverify.statistics.samplers import Draws, Experiment

SPELLINGS = [
    "1", "1.0", "0.5", "1/2", "nan", "NaN", "inf", "-inf", "infinity", "None", "True", "False", " 1", "1_0",
    "1e3", "'1'", "'nan'", '"1"', "''", "'", "b'a'", "1j", "(1+2j)", "sNaN", "-0", "00", "١", "a",
    "'a'", "a b", "",
]  # fmt: skip
VALUES = [
    1, 0.5, 10, 1000, math.inf, -math.inf, math.nan, None, True, False, b"a", b"1", 1j, 1 + 2j, 0, 2**60,
    Decimal("sNaN"),
]  # fmt: skip
SAME = [
    (1, 1.0, np.int64(1), np.float32(1), Fraction(1)),
    (0, 0.0, -0.0, np.int8(0)),
    (True, np.bool_(True)),
    (math.nan, np.float32("nan"), -math.nan),
    ("1", np.str_("1")),
    (b"a", np.bytes_(b"a")),
]
FLIP = """
[mechanism]
kind = "hmm"
states = ["left", "right"]
observations = ["0", "1"]
transitions = { left = { left = "1" }, right = { right = "1" } }
emissions = { left = { 0 = "2/3", 1 = "1/3" }, right = { 0 = "1/3", 1 = "2/3" } }
[prior]
left = { left = "1" }
right = { right = "1" }
[secrets]
pairs = [["left", "right"]]
[privacy]
ratio = "2"
"""


def counted(output: object) -> tuple[str, ...]:
    """Returns the labels of an output that comes in every run."""
    box = BlackBox(lambda rng, given: output, False, ((0,),), Draws.of([[Fraction(1)]]), None)
    (found,) = box(np.random.default_rng(1), 3)
    return found


@pytest.mark.parametrize("group", SAME)
def test_equal_values_have_one_label(group: tuple[object, ...]) -> None:
    """However a value is stored, its label is the same."""
    assert len({label(value) for value in group}) == 1
    assert len({counted(value) for value in group}) == 1


@pytest.mark.slow
def test_other_types_have_other_labels() -> None:
    """No two different outputs have one label, also in messages, and no text is read as a number."""
    outputs = [*SPELLINGS, *VALUES]
    for one, other in combinations(outputs, 2):
        assert label(one) != label(other), (one, other)
        assert counted(one) != counted(other)
        assert show_sequence([label(one)]) != show_sequence([label(other)])
        assert spelt(label(one)) != spelt(label(other))
    assert [text for text in SPELLINGS if as_number(label(text)) is not None] == []
    assert [as_number(label(value)) for value in (1, 0.5, math.inf)] == [1, 0.5, math.inf]


def test_labels_in_words() -> None:
    """A number is shown without quotes, and a text that looks like one with them."""
    assert [show_sequence([label(v)]) for v in (1, "1", "a", "a b")] == ["1", "'1'", "a", "'a b'"]
    counts = [str(Feature(Quantity.COUNT, 0, label(v))) for v in (1, "1", "⊤")]
    assert counts == ["number of 1", "number of '1'", "number of '⊤'"]


@pytest.mark.parametrize(
    ("names", "output", "named"),
    [
        (("0", "1"), 1, "1"),
        (("0", "1"), "1", "1"),
        (("0", "1"), True, "True"),
        (("0", "1"), "1.0", "'1.0'"),
        (("1/2", "1"), "0.5", "'0.5'"),
        (("1.0", "2"), 1, "1.0"),
        (("01", "2"), 1, "1"),
        (("nan", "2"), "nan", "nan"),
        (("None", "2"), "None", "None"),
        (("'1'", "2"), "1", "\"'1'\""),
        (("'1'", "2"), "'1'", "'1'"),
    ],
)
def test_observations_of_a_case(names: tuple[str, ...], output: object, named: str) -> None:
    """A text means the observation of its spelling, another value the only one that is spelt as it."""
    assert KnownObservations.of(names).label(output) == named


def test_two_spellings_of_a_number() -> None:
    """A number that may be two observations is refused; the texts are told apart."""
    known = KnownObservations.of(["1", "1.0"])
    assert [known.label(text) for text in ("1", "1.0")] == ["1", "1.0"]
    with pytest.raises(InputError, match=r"the output 1 could mean '1' or '1\.0'"):
        known.label(1)


def outputs_by(first: object, second: object) -> Callable[..., Any]:
    def mechanism(rng: np.random.Generator, given: object) -> object:
        return first if given in (1, "left") else second

    return mechanism


@pytest.mark.parametrize(("first", "second"), [(None, "None"), ("1", 1), (True, 1)])
def test_a_leak_by_type(
    first: object, second: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Code that tells its input by the type of its output only is found, and JSON names both outputs."""
    module = tmp_path / f"leak_{abs(hash((str(first), str(type(first)), str(second))))}.py"
    module.write_text("outputs = None\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    imported = __import__(module.stem)
    imported.outputs = outputs_by(first, second)
    arguments = ("--neighbours", "0", "1", "--epsilon", "1", "--runs", "400", "--json")
    out = called("sample", "--mechanism", f"{module.stem}:outputs", *arguments)[1]
    found = json.loads(out)
    assert found["tested"][0]["rejected"]
    assert found["tested"][0]["event"]["value"] in ([label(first)], [label(second)])


def test_outputs_of_a_case(tmp_path: Path) -> None:
    """With a case whose observations look like numbers, numbers and texts are these; truth values are not."""
    path = tmp_path / "case.toml"
    path.write_text(FLIP, encoding="utf-8")
    source_of = CaseInputs.of(load(str(path)))
    experiment = Experiment("left", "right", {})
    for first, second, wanted in (
        (0, 1.0, {("0",), ("1",)}),
        ("0", np.int64(1), {("0",), ("1",)}),
        (False, "1", {("False",), ("1",)}),
        ("nan", math.nan, {("'nan'",), ("nan",)}),
    ):
        source = BlackBoxSource(outputs_by(first, second), source_of)
        found = {o for side in (0, 1) for o in source.sampler(experiment, side)(np.random.default_rng(1), 5)}
        assert found == wanted
