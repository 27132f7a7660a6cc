"""Functions of a program that are called inside expressions: Python gives the same distribution."""

from __future__ import annotations

from fractions import Fraction

import pytest
from program_oracle import Oracle, proved

from paramverify.errors import ProgramError
from paramverify.models.programs.program_reading import read_program

FUNCTIONS = """
def f(x):
    if flip(1/4):
        return x
    return x + uniform(0, 1)
def g(x, y):
    return f(x) - f(y)
"""

EXPRESSIONS = [
    "f(f(0)) + f(1) * 2",
    "g(f(2), 1) == 0",
    "q[f(0) % 2]",
    "q[0] == 0 and f(1)",
    "q[0] == 1 and f(1)",
    "f(0) or f(5) or 7",
    "f(0) and f(5) and f(7)",
    "1 < 2 and 3 and f(0) and 5",
    "f(3) if f(0) else f(9)",
    "f(3) if q[1] else 2",
    "0 <= q[0] < f(1)",
    "1 < 2 < f(2) and f(0)",
    "(1 and f(0)) and f(0) or f(1)",
    "not f(0)",
    "max(f(0), f(1))",
    "sum([f(0), f(1)])",
    "f(0) in [f(1), 1]",
    "[f(0), [f(1)]]",
    "flip(f(0) / 4)",
    "[1, 2, 3][f(0):]",
]

STATEMENTS = [
    "n = 0\nif f(1) > 1:\n    n = 5\nelif g(f(2), 1) == 0:\n    n = 6\nelse:\n    n = f(0) - 9\noutput(n)",
    "b = [0, 0]\nb[f(0) % 2] = f(3)\noutput(b)",
    "n = 0\nn += f(1) * 2\noutput(n)",
    "n = 0\nwhile n < f(1) and n + f(0) < 3:\n    n = n + 1\n    if f(0) == 1:\n        continue\n"
    "    if n == 3:\n        break\noutput(n)",
    "for k in range(f(1)):\n    output(k)",
    "for k in [f(1), f(2)]:\n    output(k)",
    "return f(f(1))",
]


@pytest.mark.parametrize("text", [*(f"output({e})" for e in EXPRESSIONS), *STATEMENTS])
def test_calls_in_expressions(text: str) -> None:
    """A call stands wherever a value may, and is made in the runs in which Python makes it."""
    (found,) = proved(FUNCTIONS + text, [[0, 1]], {})
    python = FUNCTIONS + text.replace("return f(f(1))", "output(f(f(1)))")
    assert found == Oracle(Fraction(1, 4), 1).distribution(python, {"q": [0, 1]})


def test_noise_goes_through_calls() -> None:
    """A function may return noise, which is compared where it is called."""
    text = "def noisy(x):\n    return x + geometric(a)\n"
    text += "if noisy(q[0]) > noisy(q[1]) + 1:\n    output(1)\n    stop\noutput(0)"
    plain = (
        "y = q[0] + geometric(a)\nz = q[1] + geometric(a)\nif y > z + 1:\n    output(1)\n    stop\noutput(0)"
    )
    point = {"a": Fraction(1, 3)}
    assert proved(text, [[0, 1], [1, 0]], point) == proved(plain, [[0, 1], [1, 0]], point)


SEVERAL = "def f(x):\n    return x, 1\n"


@pytest.mark.parametrize("text", ["output(f(1))", "if f(1) == 2:\n    output(1)", "y = f(1)\noutput(y)"])
def test_functions_with_several_values(text: str) -> None:
    """Several values are taken apart at once."""
    with pytest.raises(ProgramError, match="f returns several values") as caught:
        read_program(SEVERAL + text)
    assert caught.value.line == 3
    assert caught.value.column == text.index("f(1)")
