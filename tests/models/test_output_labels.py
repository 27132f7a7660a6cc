"""Labels of outputs, releases, shared tables and noise tables: what is wrong with some, by key."""

from __future__ import annotations

from pathlib import Path

import pytest

from paramverify.errors import InputError
from paramverify.models.model import Model
from paramverify.models.names import check_labels, is_like_number
from paramverify.privacy.cases import PrivacyCase, load

CASE = """
[prior]
x = { bernoulli = "1/3" }
y = { given = "x", table = { 0 = { 0 = "1/2", 1 = "1/2" }, 1 = { 1 = "1" } } }
MORE

[mechanism]
MECHANISM

[secrets]
one = "x == 1"
zero = "x == 0"
pairs = [["one", "zero"]]

[privacy]
epsilon = 3
"""
GEOMETRIC = 'kind = "geometric"\nquery = "x + y"\nnoise = { truncated_geometric = "1/2", range = 2 }\n'
RELEASE = 'kind = "release"\nquery = "x + y"\n'


def read(tmp_path: Path, mechanism: str = GEOMETRIC, more: str = "") -> PrivacyCase:
    """Reads a case with this mechanism and these variables besides."""
    path = tmp_path / "case.toml"
    path.write_text(CASE.replace("MECHANISM", mechanism).replace("MORE", more))
    return load(path)


def outputs(case: PrivacyCase) -> tuple[str, ...]:
    """The outputs of a case."""
    assert isinstance(case.model, Model)
    return case.model.hmm.observations


LABELS = 'labels = { 0 = "none", 1 = "one", 2 = "two" }\n'


@pytest.mark.parametrize(
    ("mechanism", "expected"),
    [
        (GEOMETRIC, ("0", "1", "2")),
        (GEOMETRIC + LABELS, ("none", "one", "two")),
        (RELEASE, ("0", "1", "2")),
        (RELEASE + LABELS, ("none", "one", "two")),
        (
            RELEASE + 'table = { 0 = { no = 1 }, 1 = { yes = "1/2", no = "1/2" }, 2 = { yes = 1 } }',
            ("no", "yes"),
        ),
        (RELEASE + 'noise = { truncated_geometric = "1/2", range = 2 }\n' + LABELS, ("none", "one", "two")),
        (
            'kind = "noisy_max"\nqueries = ["x", "y"]\nnoise = { truncated_geometric = "1/2", range = 1 }\n'
            'labels = { 1 = "x wins", 2 = "y wins" }',
            ("x wins", "y wins"),
        ),
        (
            'kind = "randomized_response"\nquery = "x"\ntruth = "3/4"\nlabels = { 0 = "no", 1 = "yes" }',
            ("no", "yes"),
        ),
        (RELEASE.replace('"x + y"', '"x + y >= 1"') + 'labels = { 0 = "no", 1 = "yes" }', ("no", "yes")),
    ],
)
def test_outputs_have_their_labels(mechanism: str, expected: tuple[str, ...], tmp_path: Path) -> None:
    """Each output is called by its label, in the order of the outputs."""
    assert outputs(read(tmp_path, mechanism)) == expected


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ('{ 0 = "a", 1 = "b" }', "mechanism.labels: the output 2 has no label"),
        ('{ 0 = "a", 1 = "a", 2 = "c" }', "the label 'a' is used twice; choose another one"),
        ('{ 0 = "a b", 1 = "a  b", 2 = "c" }', "look alike"),
        ('{ 0 = "é", 1 = "e\\u0301", 2 = "c" }', "look alike"),
        (
            '{ 0 = "1", 1 = "b", 2 = "c" }',
            "mechanism.labels.0: the label '1' is already the name of another output; choose another label",
        ),
        ('{ 0 = "7", 1 = "b", 2 = "c" }', "the label '7' could be mistaken for a number"),
        ('{ 0 = "", 1 = "b", 2 = "c" }', "a label must have 1 to 100 visible characters"),
        ('{ 0 = "a\\u200b", 1 = "a", 2 = "c" }', "a label must have 1 to 100 visible characters"),
        ("{ 0 = 1, 1 = 2, 2 = 3 }", 'mechanism.labels.0: a label must be in quotes, such as "yes"'),
        ('["a", "b", "c"]', "mechanism.labels: must be a table"),
    ],
)
@pytest.mark.parametrize("mechanism", [GEOMETRIC, RELEASE])
def test_labels_that_may_be_confused(mechanism: str, labels: str, words: str, tmp_path: Path) -> None:
    """Labels are refused that look alike or like numbers, or are missing; the error names the key."""
    if mechanism == RELEASE and "there is no output" in words:
        return  # values that the query may have are not known before the prior is
    with pytest.raises(InputError) as caught:
        read(tmp_path, f"{mechanism}labels = {labels}\n")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "text", ["0", "-1", "1.5", "1/2", "1e3", "+1", "1_0", "0x1f", "inf", "nan", "1j", "²", "١"]
)
def test_what_is_like_a_number(text: str) -> None:
    """Whatever any reader of numbers takes is like a number, in every script."""
    assert is_like_number(text)


def test_what_is_not_like_a_number() -> None:
    """Words, names with digits, and marks are labels; those that differ in case are seen to differ."""
    labels = ["yes", "no", "Yes", "n1", "1st", "⊥", "a/b", "flu (bad)", "infection", "j", "e", "x"]
    assert not any(map(is_like_number, labels))
    check_labels(labels)


@pytest.mark.parametrize(
    ("mechanism", "words"),
    [
        ('kind = "release"\n', "mechanism.query: the key 'query' is missing"),
        (RELEASE + "table = { 0 = { a = 1 } }", "mechanism.query: x + y is 2: 2 is not a possible value"),
        (RELEASE + 'table = { 0 = { a = "1/2" } }', "this row: the probabilities sum to 1/2"),
        (RELEASE + 'table = { 0 = { "1" = 1 }, 1 = { "1.0" = 1 } }', "'1' and '1.0' are the same value"),
        (RELEASE + 'table = { 0 = { "1e3" = 1 }, 1 = { "1000" = 1 } }', "could be mistaken for a number"),
        (
            RELEASE + '[mechanism.inputs]\nz = { values = "0..1" }',
            "mechanism.query: unknown name 'x'; the inputs are z",
        ),
        (
            RELEASE + '[mechanism.inputs]\nz = "x"',
            'write z = { values = "0..1" } here; expressions belong in query',
        ),
        (
            GEOMETRIC.replace('truncated_geometric = "1/2", range = 2', 'table = [["1"], ["1/2", "1/2"]]'),
            "row 1 has 2 entries, but row 0 has 1",
        ),
    ],
)
def test_mistakes_in_releases(mechanism: str, words: str, tmp_path: Path) -> None:
    """Mistakes are told by key, with what is right."""
    with pytest.raises(InputError) as caught:
        read(tmp_path, mechanism)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ('z = { like = "w" }', "prior.z.like: 'w' is not an earlier variable with a distribution"),
        (
            'w = "x + y"\nz = { like = "w" }',
            "prior.z.like: 'w' is not an earlier variable with a distribution",
        ),
        (
            'z = { like = "x", given = "y" }',
            "prior.z.given: x has no given, so it cannot be replaced; remove this key",
        ),
        (
            'w = "x + y"\nz = { like = "y", given = "w" }',
            "prior.z.table: the table has no row for w = 2; add one",
        ),
        ('z = { like = "y", given = ["x", "y"] }', "this key must have one value for each of x, y"),
        ('z = { truncated_geometric = "1/2", range = 1 }', "prior.z.around: the key 'around' is missing"),
        (
            'z = { truncated_geometric = "1/2", range = 1, around = "x/2" }',
            "prior.z.around: x/2 is 1/2, but with this range",
        ),
        (
            'z = { truncated_geometric = "3/2", range = 1, around = "x" }',
            "1 - alpha of the truncated geometric noise",
        ),
        (
            'z = { truncated_geometric = "1/2", range = 0, around = "x" }',
            "prior.z.range: must be a whole number from 1 to 1000",
        ),
    ],
)
def test_mistakes_in_the_prior(more: str, words: str, tmp_path: Path) -> None:
    """Mistakes in shared tables and in noise are told by key, with what is right."""
    with pytest.raises(InputError) as caught:
        read(tmp_path, more=more)
    assert words in str(caught.value)


def test_a_shared_table_may_have_more_rows(tmp_path: Path) -> None:
    """A row that the second variable never needs is no mistake; in the first one it is."""
    more = 'w = "0*x"\nz = { like = "y", given = "w" }'
    assert read(tmp_path, more=more).prior is not None
    with pytest.raises(InputError, match="is never"):
        read(tmp_path, more='w = "0*x"\nz = { given = "w", table = { 0 = { 0 = 1 }, 1 = { 0 = 1 } } }')
