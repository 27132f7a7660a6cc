"""Comparisons of programs that are never true: misspelt labels, and labels compared with numbers."""

from __future__ import annotations

import re

import pytest

from paramverify.api import loads
from paramverify.errors import InputError, ProgramError
from paramverify.models.programs.program_reading import read_program
from paramverify.models.programs.static_analysis import check_comparisons, never_read

ANSWERS = {"x": ["yes", "no"], "n": [0, 1], "b": ["yes", 3]}

SURVEY = """
[parameters]
p = "(0, 1)"
[prior]
ann = { categorical = { yes = "p", no = "1 - p" } }
bob = { categorical = { yes = "p", no = "(1 - p)/2", refuse = "(1 - p)/2" } }
[mechanism]
kind = "program"
source = "if x == 'LABEL':\\n    output(flip(1/3))\\nelse:\\n    output(flip(1/2))"
inputs = { x = "QUERY" }
[secrets]
one = "ann == 'yes'"
two = "ann == 'no'"
pairs = [["one", "two"]]
[privacy]
epsilon = "ln(3)"
"""


@pytest.mark.parametrize(
    ("text", "told", "line"),
    [
        ('output(x == "Yes")', "x is compared with 'Yes', which it never equals; did you mean 'yes'?", 1),
        ('output("Yes" != x)', "x is compared with 'Yes', which it never equals; did you mean 'yes'?", 1),
        (
            'y = x\nif y == "Yes":\n    output(1)',
            "y is compared with 'Yes', which it never equals; did you mean 'yes'?",
            2,
        ),
        (
            'output(x in ["yes", "On"])',
            "x is compared with 'On', which it never equals; choose from 'no', 'yes'",
            1,
        ),
        (
            'output(x not in ("yess", "no"))',
            "x is compared with 'yess', which it never equals; did you mean 'yes'?",
            1,
        ),
        (
            "output(x == 1)",
            "x is compared with a number, which it never equals; choose from 'no', 'yes'",
            1,
        ),
        (
            "output(x == True)",
            "x is compared with True or False, which it never equals; choose from 'no', 'yes'",
            1,
        ),
        ("output(x == n)", "a label is compared with a number, which it never equals", 1),
        ('output(n == "yes")', "n is compared with 'yes', which it never equals: n is a number", 1),
        ('output(n + 1 == "yes")', "this is compared with 'yes', which it never equals: this is a number", 1),
        (
            'y = choice({"red": 1/2, "blue": 1/2})\noutput(y == "rad")',
            "y is compared with 'rad', which it never equals; did you mean 'red'?",
            2,
        ),
        (
            'def f(z):\n    return z == "Yes"\noutput(f(x))',
            "z is compared with 'Yes', which it never equals; did you mean 'yes'?",
            2,
        ),
        (
            'def f(z):\n    return z\noutput(f(x) == "Yes")',
            "this is compared with 'Yes', which it never equals; did you mean 'yes'?",
            3,
        ),
        (
            'y = ["a", x]\noutput(y[0] == "Yes")',
            "this is compared with 'Yes', which it never equals; did you mean 'yes'?",
            2,
        ),
        (
            'for y in [x, "a"]:\n    if y == "Yes":\n        output(1)',
            "y is compared with 'Yes', which it never equals; did you mean 'yes'?",
            2,
        ),
    ],
)
def test_what_is_never_equal_is_refused(text: str, told: str, line: int) -> None:
    """A label that a variable never has, and a number beside labels, with what may have been meant."""
    with pytest.raises(ProgramError, match=re.escape(told)) as error:
        check_comparisons(read_program(text), ANSWERS)
    assert error.value.line == line


@pytest.mark.parametrize(
    "text",
    [
        'output(x == "yes")',
        'output(b == 3 or b == "yes" or b == 4)',
        'y = "start"\nfor k in range(3):\n    if y == "end":\n        output(k)\n    y = "end"',
        'y = 0\nif x == "yes":\n    y = "set"\noutput(y == "set")',
        'y = [0, 0]\ny[1] = "set"\noutput(y[0] == "set")',
        "y = []\noutput(x in y)",
        'y = "a" if n == 1 else 2\noutput(y == "a" or y == 7)',
        'def f(z):\n    if z == 1:\n        return "one"\n    return z\noutput(f(n) == "one")',
        'a, c = x, n\noutput(c == "yes")',  # values that are taken apart are told of together
        "output(p == 1)",
        "output(n == 5)",  # a number may be computed; only its being a number is looked at
    ],
)
def test_what_may_be_equal_is_read(text: str) -> None:
    """What one path may make equal is a comparison, wherever in the program the value is given."""
    check_comparisons(read_program(text), ANSWERS)


def test_labels_of_a_prior() -> None:
    """A variable of the prior has its own labels; all of them, also those that no secret has."""

    def case(label: str, query: str) -> str:
        return SURVEY.replace("LABEL", label).replace("QUERY", query)

    with pytest.raises(
        InputError, match=r"x is compared with 'Yes', which it never equals; did you mean 'yes'\?"
    ):
        loads(case("Yes", "ann"))
    with pytest.raises(InputError, match="x is compared with 'refuse', which it never equals"):
        loads(case("refuse", "ann"))
    for label, query in (("yes", "ann"), ("refuse", "bob")):
        assert loads(case(label, query)).kind


def test_variables_that_nothing_reads() -> None:
    """A name that is assigned alone and never read is told; counters of loops and `_` are not."""
    text = "total = 0\nfor k in range(3):\n    totl = total + 1\n_ = 1\na, c = 1, 2\noutput(total)"
    assert never_read(read_program(text)) == ["totl"]
    assert never_read(read_program("def f(z):\n    w = z\n    return z\nw = 1\noutput(f(w))")) == ["w"]
