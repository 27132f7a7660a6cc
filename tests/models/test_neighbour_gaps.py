"""Values that are far apart: who has no neighbour is said, with the `by` that gives one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, product
from math import ceil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paramverify.cli.main import run
from paramverify.errors import CaseError, InputError
from paramverify.models.mechanisms._queries import changes, count_neighbours, enough_by, near_answers
from paramverify.privacy.cases import load

CASE = """
[mechanism]
kind = "program"
source = "output(q + geometric(1/2))"
[mechanism.inputs]
q = {{ values = [{values}] }}
[neighbours]
differ = "{differ}"
{by}
[privacy]
epsilon = 1
"""
STREAMS = {
    "automaton": """
[parameters]
eps = "(0, oo)"
[mechanism]
kind = "program"
source = '''
T = laplace(2 / eps)
for x in stream(values=[{values}]):
    if x + laplace(4 / eps) >= T:
        output("above")
        stop
    output("below")
'''
[neighbours]
differ = "{differ}"
{by}
[privacy]
epsilon = "eps"
length = "all"
""",
    "table": """
[mechanism]
kind = "program"
source = '''
for x in stream(values=[{values}]):
    output(x)
'''
[neighbours]
differ = "{differ}"
{by}
[privacy]
epsilon = 1
length = "all"
""",
}


def written(folder: Path, case: str, values: str, differ: str = "one", by: str = "") -> Path:
    """Writes a case; `by` is a line of it."""
    path = folder / "case.toml"
    path.write_text(case.format(values=values, differ=differ, by=by), encoding="utf-8")
    return path


@pytest.mark.parametrize("differ", ["one", "each"])
@pytest.mark.parametrize(
    ("values", "by", "enough"),
    [
        ("0, 5, 10, 20", "", "10"),
        ("0, 5, 10, 20", "by = 4", "10"),
        ("0, 1", "by = 0", "1"),
        ('"1/2", 2, 5', "", "3"),
        ("-7, 30", "by = 36", "37"),
    ],
)
def test_what_is_too_far_apart_is_said_with_what_is_enough(
    differ: str, values: str, by: str, enough: str, tmp_path: Path
) -> None:
    """The message names the reason and the least `by` for values that follow each other, and that works."""
    with pytest.raises(InputError) as caught:
        load(written(tmp_path, CASE, values, differ, by))
    assert "differ by at most" in str(caught.value)
    assert caught.value.parts[0].mend.startswith(f"write by = {enough},")
    assert "neighbours.by" in str(caught.value)
    mended = load(written(tmp_path, CASE, values, differ, f"by = {enough}"))
    assert mended.model.pairs
    assert not any("no neighbour" in note for note in mended.model.notes)


def test_one_input_alone_has_no_neighbour(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="because there is only one input"):
        load(written(tmp_path, CASE, "7"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("values", "alone", "enough"), [("0, 1, 10, 20", "10, 20", 10), ("3, 0, 2", "0", 2), ("0, 1, 3", "3", 2)]
)
def test_inputs_that_are_left_out_are_named(
    values: str, alone: str, enough: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A verdict about some inputs says which it is not about; with the `by` that is named, all are."""
    path = written(tmp_path, CASE, values)
    told = f"no neighbour, so the verdict does not cover {alone}; with by = {enough}, "
    assert run(["verify", str(path)]) == 0
    assert told in capsys.readouterr().out
    run(["verify", str(path), "--json"])
    assert any(told in note for note in json.loads(capsys.readouterr().out)["notes"])
    run(["verify", str(written(tmp_path, CASE, values, by=f"by = {enough}"))])
    assert "no neighbour" not in capsys.readouterr().out


def test_far_numbers_are_neighbours_by_anything() -> None:
    """The largest `by` that may be written is below 1,000,000."""
    assert [enough_by([[Fraction(0), Fraction(n)]]) for n in (999_999, 1_000_000)] == ["999999", '"any"']


NUMBERS = st.lists(st.fractions(-40, 40, max_denominator=3), min_size=1, max_size=4, unique=True)


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(st.lists(NUMBERS, min_size=1, max_size=3), st.integers(0, 30), st.sampled_from(["one", "each"]))
def test_the_message_comes_exactly_if_no_pair_is_near(
    answers: Sequence[Sequence[Fraction]], by: int, differ: str
) -> None:
    """Against all pairs by force; and `enough_by` is enough for each two values that follow each other."""
    pairs = ((x, y) for x, y in product(product(*answers), repeat=2) if x != y)
    apart = ([abs(a - b) for a, b in zip(x, y, strict=True)] for x, y in pairs)
    some = any(max(far) <= by and (differ == "each" or sum(map(bool, far)) == 1) for far in apart)
    if some:
        near_answers(answers, differ, by)
    else:
        with pytest.raises(CaseError):
            near_answers(answers, differ, by)
    steps = [b - a for values in answers for a, b in pairwise(sorted(values))]
    assert enough_by(answers) == str(max(map(ceil, steps), default=1))


@pytest.mark.parametrize("case", STREAMS)
@pytest.mark.parametrize(("values", "by"), [("0, 5", ""), ("0, 1", "by = 0")])
@pytest.mark.parametrize("differ", ["one", "each"])
def test_streams_without_neighbours_are_no_private_ones(
    case: str,
    values: str,
    by: str,
    differ: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Streams that are compared with themselves alone would be private by any budget."""
    path = written(tmp_path, STREAMS[case], values, differ, by)
    assert run(["verify", str(path)]) == 2
    assert "no input has a neighbour" in capsys.readouterr().err


ROWS = [
    ('bernoulli = "p/2"', '{ 0 = "1 - (p/2)", 1 = "p/2" }'),
    ('bernoulli = "1"', '{ 0 = "1 - (1)", 1 = "1" }'),
    ("bernoulli = 1", '{ 0 = "1 - (1)", 1 = "1" }'),
    ('binomial = [2, "p"]', "each value with its probability"),
    ("uniform = [0, 1]", "each value with its probability"),
    ('categorical = { 0 = "p", 1 = "1 - p" }', "each value with its probability"),
    ('truncated_geometric = "1/2"', "each value with its probability"),
]
PRIOR = """
[parameters]
p = "(0, 1)"
[prior]
a = {{ bernoulli = "p" }}
b = {{ given = "a", table = {{ 0 = {row}, 1 = {{ 0 = "1/2", 1 = "1/2" }} }} }}
[mechanism]
kind = "geometric"
query = "b"
noise = {{ truncated_geometric = "1/2", range = 1 }}
[secrets]
s = "a == 1"
t = "a == 0"
pairs = [["s", "t"]]
[privacy]
epsilon = 1
"""


@pytest.mark.parametrize(("row", "mend"), ROWS)
def test_a_distribution_is_no_label_of_a_table(row: str, mend: str, tmp_path: Path) -> None:
    """It is refused with what to write, which is read."""
    path = tmp_path / "case.toml"
    path.write_text(PRIOR.format(row=f"{{ {row} }}"), encoding="utf-8")
    with pytest.raises(InputError, match="is a distribution") as caught:
        load(path)
    told = caught.value.parts[0].mend
    assert mend in told
    if mend.startswith("{"):
        path.write_text(PRIOR.format(row=mend), encoding="utf-8")
        load(path)


LABELS = ["a,b", "a b", 'say "x"', "back\\slash", "True", "", "'q'"]


@pytest.mark.parametrize("command", ["verify", "show"])
@pytest.mark.parametrize("label", LABELS)
def test_a_label_is_quoted_once(
    command: str, label: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An output that is a label stands as JSON writes it, and in no other quotes."""
    path = tmp_path / "case.toml"
    text = CASE.format(values=f"{json.dumps(label)}, 'other'", differ="one", by='by = "any"')
    path.write_text(text.replace('"output(q + geometric(1/2))"', "'output(q)'"), encoding="utf-8")
    assert run([command, str(path)]) in (0, 1)
    told = capsys.readouterr().out
    shown = label if label == "a b" else json.dumps(label)
    quoted = json.dumps(label) if label != "a b" else "'a b'"
    assert quoted in told
    for mark in "'\"":
        assert f"{mark}{quoted}{mark}" not in told
        assert repr(shown) not in told or shown == "a b"


def test_evidence_about_labels_is_accepted(tmp_path: Path) -> None:
    """The second reader writes such labels in the same way."""
    path, evidence = tmp_path / "case.toml", tmp_path / "evidence.json"
    labels = ", ".join(map(json.dumps, LABELS[:-2]))
    source = "if flip(1/3):\n    output(q)\nelse:\n    output('another one')"
    text = CASE.format(values=labels, differ="one", by='by = "any"').replace("epsilon = 1", "epsilon = 5")
    path.write_text(text.replace('"output(q + geometric(1/2))"', json.dumps(source)), encoding="utf-8")
    assert run(["verify", str(path), "--evidence", str(evidence)]) in (0, 1)
    assert run(["check", str(evidence), "--case", str(path)]) == 0


@pytest.mark.parametrize("differ", ["one", "each"])
@pytest.mark.parametrize("by", [1, 2, None])
def test_the_number_of_neighbours(differ: str, by: int | None) -> None:
    """It is that of the pairs which are formed one by one."""
    answers = [[0, 1, 2], [0, 3, 4], [5]]
    near = near_answers(answers, differ, by)
    inputs = product(*(range(len(values)) for values in answers))
    pairs = {(x, y) for x in inputs for y in changes(x, near, differ) if x < y}
    assert count_neighbours(near, differ) == len(pairs)


def test_too_many_neighbours_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The message has their number, and what to write instead."""
    text = CASE.format(values="QQ", differ="each", by='by = "any"').replace(
        "values = [QQ]", 'length = 2, values = "0..99"'
    )
    path = tmp_path / "case.toml"
    path.write_text(text.replace("output(q", "output(q[0]"), encoding="utf-8")
    run(["verify", str(path)])
    assert "there are 49,995,000 pairs of neighbouring inputs" in capsys.readouterr().err
