"""What a refusal tells people to write is accepted, and is what they meant."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from paramverify.cli.main import run

MEETING = {
    "SVT": (
        "T = laplace(2/eps)\nfor x in q:\n    if x + laplace(4/eps) >= T:\n        stop\n    output(0)",
        3,
        "laplace(2/eps) at line 1 and laplace(4/eps) at line 3, 2 times",
    ),
    "two": (
        "c = 2\nx = q[0] + laplace(c/eps)\ny = q[1] + laplace(c/eps)\noutput(x > y)",
        4,
        "laplace(c/eps) at line 2 and laplace(c/eps) at line 3",
    ),
    "one-sided": (
        "x = exponential(1/(3*eps))\ny = exponential(1/(3*eps))\noutput(q[0] + x + y > 1)",
        3,
        "exponential(1/(3*eps)) at line 1 and exponential(1/(3*eps)) at line 2",
    ),
    "abs": (
        "x = laplace(1/eps)\noutput(abs(x - laplace(1/eps)) > 1 + q[0])",
        2,
        "laplace(1/eps) at line 1 and laplace(1/eps) at line 2",
    ),
    "function": (
        "def f(x):\n    return x + laplace(2/eps)\nx = f(q[0])\ny = f(q[1])\noutput(x > y)",
        5,
        "laplace(2/eps) at line 2, 2 times",
    ),
}
CASE = """
[parameters]
eps = "(0, oo)"
[mechanism]
kind = "program"
source = '''
{}
'''
[mechanism.inputs]
q = {{ length = 2, values = "0..1" }}
[neighbours]
differ = "each"
[privacy]
epsilon = "4*eps"
"""


def told(folder: Path, text: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Returns the exit code of `verify`, and all that it says."""
    path = folder / "case.toml"
    path.write_text(text)
    code = run(["verify", str(path)])
    caught = capsys.readouterr()
    return code, caught.out + caught.err


@pytest.mark.parametrize("name", MEETING)
def test_noises_that_meet(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The place is that of the comparison, the noises are named, and both mends are accepted."""
    program, line, noises = MEETING[name]
    case = CASE.format(program)
    code, said = told(tmp_path, case, capsys)
    assert code == 2, said
    assert f"line {line}: the rates, or sums of rates, of noises that meet here are equal" in said
    assert noises in said
    number = re.search(r'such as (eps = "1/2") in \[parameters\]', said)
    assert number
    assert told(tmp_path, case.replace('eps = "(0, oo)"', number[1]), capsys)[0] in (0, 1)
    _, _, instead = said.partition("discrete noise: ")
    for mend in instead.split("\n")[0].split(", "):
        discrete, continuous = mend.split(" for ")
        assert continuous in case
        case = case.replace(continuous, discrete)
    code, said = told(tmp_path, case, capsys)
    assert code in (0, 1), said
