"""Arrays of a prior, read a second time: a case with them is the same case written out by hand."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from paramverify.kernel.strict_reading import UnreadCase
from paramverify.rereader.second_arrays import without_arrays
from paramverify.rereader.second_reader import PointProbabilities, SecondReader

CASE = """
[parameters]
p = "(0, 1)"
[define]
DEFINE
[prior]
PRIOR
[mechanism]
kind = "geometric"
query = '''QUERY'''
noise = { truncated_geometric = "1/2", range = 20 }
[secrets]
SECRETS
[privacy]
ratio = 5
"""
TABLE = 'table = { 0 = { 0 = "9/10", 1 = "1/10" }, 1 = { 0 = "p", 1 = "1 - p" } }'
ROW = f'x = {{ count = 3, given = "x[i-1]", first = {{ bernoulli = "p" }}, {TABLE} }}'
ROW_OUT = "\n".join(
    ['x1 = { bernoulli = "p" }', *(f'x{k} = {{ given = "x{k - 1}", {TABLE} }}' for k in (2, 3))]
)
FREE = 'x = { count = 2, bernoulli = "p" }\ny = { count = 2, bernoulli = "1/3" }'
FREE_OUT = 'x1 = { bernoulli = "p" }\nx2 = { bernoulli = "p" }\n'
FREE_OUT += 'y1 = { bernoulli = "1/3" }\ny2 = { bernoulli = "1/3" }'
ROWS = """0 = "1/4", 1 = "3/4" }, "1, 0" = { 0 = "1/5", 1 = "4/5" }, "0,1" = { 0 = "1/6", 1 = "5/6" }"""
GRID = f"""z = {{ count = [2, 2], given = ["z[i-1, j]", "z[i, j-1]"], outside = 0,
    first = {{ bernoulli = "p" }}, table = {{ "0,0" = {{ {ROWS},
    "1,1" = {{ 0 = "p", 1 = "1 - p" }} }} }}""".replace("\n", "")
GRID_OUT = """z11 = { bernoulli = "p" }
z12 = { given = "z11", table = { 0 = { 0 = "1/4", 1 = "3/4" }, 1 = { 0 = "1/6", 1 = "5/6" } } }
z21 = { given = "z11", table = { 0 = { 0 = "1/4", 1 = "3/4" }, 1 = { 0 = "1/5", 1 = "4/5" } } }
z22 = { given = ["z12", "z21"], table = { "0,0" = { ROWS, "1,1" = { 0 = "p", 1 = "1 - p" } } }""".replace(
    "ROWS", ROWS
)
HOUSE = f'h = {{ count = 2, bernoulli = "p" }}\nm = {{ count = [2, 2], given = "h[i]", {TABLE} }}'
HOUSE_OUT = 'h1 = { bernoulli = "p" }\nh2 = { bernoulli = "p" }\n' + "\n".join(
    f'm{i}{j} = {{ given = "h{i}", {TABLE} }}' for i in (1, 2) for j in (1, 2)
)
PLAIN = 'count = { uniform = [0, 1] }\nt = "count"\nten = 10'
NOISY = 'truncated_geometric = "p", range = 1, around ='
LABELS = 'table = { "a,b" = { "a,b" = "1/3", c = "2/3" }, c = { c = 1 } }'
EACH = 'ill = "x[i] == 1"\nwell = "x[i] == 0"\npairs = [["ill", "well"]]'
EACH_OUT = "\n".join(f'"ill[{k}]" = "x{k} == 1"\n"well[{k}]" = "x{k} == 0"' for k in (1, 2, 3))
EACH_OUT += '\npairs = [["ill[1]", "well[1]"], ["ill[2]", "well[2]"], ["ill[3]", "well[3]"]]'
ONE = 'a = "x[1] == 1"\nb = "not x[2] == 1 or false"\npairs = [["a", "b"]]'
ONE_OUT = ONE.replace("[1]", "1").replace("[2]", "2")
# [define], the prior, the query and the secrets: with arrays, and written out.
WRITTEN = {
    "a row": [("", ""), (ROW, ROW_OUT), ("sum(x)", "x1 + x2 + x3"), (EACH, EACH_OUT)],
    "a grid": [
        ("", ""),
        (GRID, GRID_OUT),
        ("max(z) + 2*z[2, 1] + 3*z[1,\n\t2]", "max(z11, z12, z21, z22) + 2*z21 + 3*z12"),
        (
            'a = "z[i, j] == 1"\nb = "sum(z) == 1"\npairs = [["a", "b"]]',
            "\n".join(f'"a[{i}, {j}]" = "z{i}{j} == 1"' for i in (1, 2) for j in (1, 2))
            + '\nb = "z11 + z12 + z21 + z22 == 1"\n'
            + 'pairs = [["a[1, 1]", "b"], ["a[1, 2]", "b"], ["a[2, 1]", "b"], ["a[2, 2]", "b"]]',
        ),
    ],
    "households": [
        ('n = "any(m)"\nk = 3', 'n = "m11 or m12 or m21 or m22"\nk = 3'),
        (HOUSE, HOUSE_OUT),
        (
            "sum(m[i, j]*h[3 - i]) + n + k*all(h) + sum(h[1] + 0*(m))",
            "(m11 + m12)*h2 + (m21 + m22)*h1 + n + k*(h1 and h2) + 4*h1",
        ),
        (
            'a = "abs(h[i] - 1) == 0 and sum(h) == 1"\nb = "min(m) == 0"\npairs = [["b", "a"]]',
            '"a[1]" = "h1 == 1 and h1 + h2 == 1"\n"a[2]" = "h2 == 1 and h1 + h2 == 1"\n'
            'b = "min(m11, m12, m21, m22) == 0"\npairs = [["b", "a[1]"], ["b", "a[2]"]]',
        ),
    ],
    "arrays, and others": [
        ("", ""),
        (
            f'{FREE}\nv = {{ given = "x[2]", {TABLE} }}\nw = {{ like = "y[1]" }}\nu = {{ {NOISY} "x[1]" }}\n'
            f'{PLAIN}\ng = {{ count = 2, given = "x", {TABLE} }}\n'
            f'e = {{ count = 2, given = "e[i-1]", outside = "a,b", {LABELS} }}',
            f'{FREE_OUT}\nv = {{ given = "x2", {TABLE} }}\nw = {{ like = "y1" }}\nu = {{ {NOISY} "x1" }}\n'
            f'{PLAIN}\ng1 = {{ given = "x1", {TABLE} }}\ng2 = {{ given = "x2", {TABLE} }}\n'
            f'e1 = {{ categorical = {{ "a,b" = "1/3", c = "2/3" }} }}\ne2 = {{ given = "e1", {LABELS} }}',
        ),
        (
            "[0, 2, 3][sum(x)] + g[1] + 2*g[2] + max(2*x[i]*y[i]) + min(x[1], y[2])"
            " + sum(t*x) + 2*abs(v - w) + u*(ten - 9) + (e[1] == 'a,b')*(e[2] == 'c')",
            "[0, 2, 3][x1 + x2] + g1 + 2*g2 + max(2*x1*y1, 2*x2*y2) + min(x1, y2)"
            " + t*(x1 + x2) + 2*abs(v - w) + u + (e1 == 'a,b')*(e2 == 'c')",
        ),
        (ONE, ONE_OUT),
    ],
    "outputs around an entry": [
        ("", ""),
        (
            f'x = {{ count = 2, bernoulli = "p" }}\nr = {{ count = 2, {NOISY} "x[3 - i]" }}',
            'x1 = { bernoulli = "p" }\nx2 = { bernoulli = "p" }\n'
            f'r1 = {{ {NOISY} "x2" }}\nr2 = {{ {NOISY} "x1" }}',
        ),
        ("2*r[1] + r[2]", "2*r1 + r2"),
        (ONE, ONE_OUT),
    ],
}


def found(*parts: str) -> PointProbabilities:
    """Returns what the second reader finds in a case at p = 2/7."""
    text = CASE
    for name, part in zip(("DEFINE", "PRIOR", "QUERY", "SECRETS"), parts, strict=True):
        text = text.replace(name, part)
    reader = SecondReader(text, None)
    masses = reader.masses({"p": Fraction(2, 7)}, Fraction(1), [1])
    assert [*masses.words] == [*dict.fromkeys(n for pair in reader.pairs({}, Fraction(1)) for n in pair)]
    return masses


@pytest.mark.parametrize("name", WRITTEN)
def test_arrays_are_what_is_written_out(name: str) -> None:
    """Indices, running indices, functions over arrays, borders, and a copy of a secret for each entry."""
    with_arrays, plain = (found(*parts) for parts in zip(*WRITTEN[name], strict=True))
    assert with_arrays.words == plain.words


MISTAKES = [
    ("x[2]", "x[i] == 1", "an entry that the array has not"),
    ("x[0]", "x[i] == 1", "an entry that the array has not"),
    ("sum(x[i+1])", "x[i] == 1", "an entry that the array has not"),
    ("x + 1", "x[i] == 1", "unknown name 'x'"),
    ("abs(x[i])", "x[i] == 1", "'i'"),
    ("sum(x, x)", "x[i] == 1", "unknown name 'x'"),
    ("sum(x[1])", "x[i] == 1", "a list is needed"),
    ("sum(y[i] + x)", "x[i] == 1", "unknown name"),
    ("sum(x)", "x[i] == x", "unknown name 'x'"),
    ("sum(x)", "sum(x, x[i]) == 1", "unknown name 'x'"),
    ("sum(x)", "y[i] == 1 and x[i] == 1", "unknown name"),
]


@pytest.mark.parametrize(("query", "secret", "words"), MISTAKES)
def test_entries_that_no_array_has(query: str, secret: str, words: str) -> None:
    """An index beyond the border, a running index outside of a function, or a bare array is a mistake."""
    with pytest.raises((ValueError, KeyError, UnreadCase), match=words):
        found("", ROW.replace("count = 3", "count = 1"), query, EACH.replace("x[i] == 1", secret))


def test_what_names_no_array_stays() -> None:
    """So do cases in which no variable has a count, and those without a mechanism."""
    prior = {"x": {"bernoulli": "1/2"}, "t": "count", "n": 3}
    data: dict[str, Any] = {"prior": prior, "mechanism": {"query": "x[1]"}}
    assert without_arrays(data) == data
    data = {"prior": {"x": {"count": 2}}, "formulas": {}}
    assert without_arrays(data) == data
    texts = {"source": "x = 1\noutput(x)", "query": "a\n+ 1", "range": 3}
    data = {
        "prior": {"x": {"count": 2}},
        "secrets": {"pairs": []},
        "define": {},
        "mechanism": {"parts": [texts]},
    }
    assert without_arrays(data)["mechanism"] == data["mechanism"]
    texts["query"] = "x[1]\n+ x[2]"
    assert without_arrays(data)["mechanism"]["parts"][0]["query"] == "x·1 + x·2"
