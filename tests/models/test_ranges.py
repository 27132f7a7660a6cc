"""Ranges and lists of values: one limit and one message, wherever they stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from paramverify import loads
from paramverify.cli.main import run
from paramverify.errors import InputError, LimitError

PROGRAM = """
[parameters]
eps = "(0, oo)"
[mechanism]
kind = "program"
source = "output(q)"
[mechanism.inputs]
q = {{ values = {} }}
[neighbours]
related = "abs(x - y) == 1"
[privacy]
epsilon = "eps"
"""
STREAM = """
[parameters]
eps = "(0, oo)"
[mechanism]
kind = "program"
source = '''
for x in stream(values={}):
    output(x + laplace(1/eps))
'''
[neighbours]
differ = "one"
[privacy]
epsilon = "eps"
length = "all"
"""
PLACES = {"mechanism.inputs.q.values": PROGRAM, "mechanism.source": STREAM}
TOO_MANY = {'"0..1000"': "1,001", '"-7..1000000"': "1,000,008", f'"0..1{"0" * 40}"': "more than 10**15"}
LISTED = str(list(range(1001)))


@pytest.mark.parametrize(
    ("place", "values", "number"),
    [
        *((place, *entry) for place in PLACES for entry in TOO_MANY.items()),
        ("mechanism.inputs.q.values", LISTED, "1,001"),
    ],
)
def test_more_values_than_can_be_listed(place: str, values: str, number: str, tmp_path: Path) -> None:
    """The message names the place, the number and the limit; the command ends with exit code 3."""
    with pytest.raises(LimitError) as told:
        loads(PLACES[place].format(values))
    assert f"{place}: there are {number} values, but at most 1,000 can be listed; list fewer" in str(
        told.value
    )
    case = tmp_path / "case.toml"
    case.write_text(PLACES[place].format(values), encoding="utf-8")
    assert run(["verify", str(case)]) == 3


@pytest.mark.parametrize("values", [str(list(range(1000))), '" -999 .. 0 "'], ids=["list", "range"])
def test_as_many_values_as_can_be_listed(values: str) -> None:
    """The limit itself, which all places share, is no error."""
    pair = 'pairs = [["0", "-1"]]' if ".." in values else 'pairs = [["0", "1"]]'
    loads(PROGRAM.format(values).replace('related = "abs(x - y) == 1"', pair))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("values", ['"5..0"', '"0..x"', '"1.."', "[]", '"0...5"'])
def test_what_is_no_range(place: str, values: str) -> None:
    """A range the wrong way round has no values."""
    with pytest.raises(InputError, match="values"):
        loads(PLACES[place].format(values))
