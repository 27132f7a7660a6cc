"""The second reader on its own: releases of inputs, and mistakes that it notices without the first reader."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from paramverify.rereader.second_reader import SecondReader

F = Fraction

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
ratio = 3
"""
GEOMETRIC = (
    'kind = "geometric"\nquery = "x + y"\nnoise = { table = [["1", "0"], ["1/2", "1/2"], ["0", "1"]] }\n'
)


def words(mechanism: str = GEOMETRIC, more: str = "") -> dict[str, dict[tuple[str, ...], Fraction] | None]:
    """What the second reader finds at the only point."""
    text = CASE.replace("MECHANISM", mechanism).replace("MORE", more)
    return dict(SecondReader(text, None).masses({}, F(1), [1]).words)


def test_it_reads_the_case() -> None:
    """Without a mistake it has the probabilities, which are those of the fractions."""
    found = words()
    assert found["one"] == {("1",): 1}
    assert found["zero"] == {("0",): F(3, 4), ("1",): F(1, 4)}


@pytest.mark.parametrize(
    ("mechanism", "more"),
    [
        (GEOMETRIC, 'z = { like = "w" }\nw = { bernoulli = "1/2" }'),  # below
        (GEOMETRIC, 'z = { like = "z" }'),
        (GEOMETRIC, 'z = { like = "x", table = { 0 = { 0 = "1" } } }'),
        (GEOMETRIC, 'z = { truncated_geometric = "1/2", range = 2, around = "x + 1/2" }'),
        (GEOMETRIC, 'z = { truncated_geometric = "1/2", range = 1, around = "x + y" }'),
        (GEOMETRIC.replace('["1", "0"]', '["1"]'), ""),
        (GEOMETRIC + 'labels = { 0 = "a", 1 = "a" }', ""),
        (GEOMETRIC + 'labels = { 0 = "a" }', ""),
        ('kind = "release"\nquery = "x"\ntable = { 0 = { a = "1/2" }, 1 = { a = "1" } }', ""),
        ('kind = "release"\nquery = "x"\ntable = { 0 = { a = "2", b = "-1" }, 1 = { a = "1" } }', ""),
        ('kind = "release"\nquery = "x"\ntable = { 0 = { a = "1" } }', ""),
        (
            'kind = "release"\nquery = "x"\ntable = { "1" = { a = "1" }, "1.0" = { a = 1 }, 0 = { a = 1 } }',
            "",
        ),
        (
            'kind = "release"\nquery = "x"\ntable = { 0 = { "1" = "1/2", "1.0" = "1/2" }, 1 = { a = "1" } }',
            "",
        ),
    ],
)
def test_mistakes_are_noticed(mechanism: str, more: str) -> None:
    """Each is an error of malformed data, by which evidence about the case is rejected."""
    with pytest.raises((ValueError, KeyError)):
        words(mechanism, more)


def test_releases_of_inputs() -> None:
    """The query is evaluated on the inputs: against the definition, for each input."""
    text = """
[parameters]
p = "(0, 1)"

[define]
most = "max(a, b)"

[mechanism]
kind = "release"
query = "most - c >= 1"
table = { 1 = { yes = "p", no = "1 - p" }, 0 = { no = "1" } }

[mechanism.inputs]
a = { values = "0..1" }
b = { values = [0, 2] }
c = { values = "0..1" }

[neighbours]
differ = "one"
by = "any"

[privacy]
ratio = 3
"""
    p = F(2, 7)
    found = SecondReader(text, None).masses({"p": p}, F(1), [1]).words
    assert len(found) == 8
    for a, b, c in product((0, 1), (0, 2), (0, 1)):
        expected = {("yes",): p, ("no",): 1 - p} if max(a, b) - c >= 1 else {("no",): F(1)}
        assert found[f"({a}, {b}, {c})"] == expected
