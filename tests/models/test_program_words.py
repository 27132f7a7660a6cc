"""Words that Python keeps for itself, and `stream` without its values, are told as what they are."""

from __future__ import annotations

import keyword
from fractions import Fraction
from pathlib import Path

import pytest

from paramverify.algebra.expressions import parse
from paramverify.automata.stream_programs import Unit, translate
from paramverify.errors import ExpressionError, InputError, ProgramError
from paramverify.models.programs.program_reading import read_program
from paramverify.models.programs.stream_loops import stream_of
from paramverify.privacy.cases import load

USES = (  # each has the name NAME in its first line, at the column that follows
    ("NAME = 1\noutput(NAME)", 0),
    ("for NAME in q:\n    output(NAME)", 4),
    ("def f(NAME):\n    return NAME\noutput(f(1))", 6),
    ("a, NAME = 1, 2\noutput(NAME)", 3),
    ("output(q[0] >= NAME)", 15),
)
TAKEN = ("None", "True", "False")  # constants: fine where a value stands


@pytest.mark.parametrize("word", sorted(set(keyword.kwlist) - set(TAKEN))[::3])
def test_words_of_python(word: str) -> None:
    """A word of Python as a name is told with its place, and the name that is proposed is read."""
    for text, column in USES:
        with pytest.raises(ProgramError) as caught:
            read_program(text.replace("NAME", word))
        told = str(caught.value)
        assert f"line 1: {word} is a reserved word; choose another name, such as {word}_" in told
        assert told.splitlines()[-1].index("^") == 4 + column
        read_program(text.replace("NAME", f"{word}_"))


@pytest.mark.parametrize("word", TAKEN)
def test_constants_are_no_names(word: str) -> None:
    """Nothing is assigned to a constant."""
    with pytest.raises(ProgramError, match=f"{word} is a reserved word; choose another name"):
        read_program(f"{word} = 1\noutput(1)")


ODD = {
    "many": "in " * 30_000,
    "deep": f"in = {'(' * 90}1{')' * 90}\noutput(1)",
    "open": '"' * 3,
    "too deep": f"in = {'-' * 90_000}1",
}


@pytest.mark.parametrize("name", ODD)
def test_odd_lines(name: str) -> None:
    """Whatever the line is, one reason is told."""
    with pytest.raises(ProgramError):
        read_program(ODD[name])


@pytest.mark.parametrize("word", ["lambda", "is", "from"])
def test_words_in_expressions(word: str) -> None:
    """Expressions of a case have the same message, with the place of the word."""
    with pytest.raises(ExpressionError) as caught:
        parse(f"1/2 + {word}")
    assert f"{word} is a reserved word: choose another name" in str(caught.value)
    assert str(caught.value).splitlines()[-1].index("^") == 4 + 6
    assert parse(f"1/2 + {word}_").names()
    with pytest.raises(ExpressionError, match="syntax error"):
        parse(f"1/2 + '{word}' *")


@pytest.mark.parametrize("word", ["stop", "output"])
def test_statements_are_no_values(word: str) -> None:
    """What stands on a line of its own is no value, and no variable."""
    with pytest.raises(
        ProgramError, match="must be a statement on its own line; choose another name for a value"
    ):
        read_program(f"output(q[0] >= {word})")
    with pytest.raises(ProgramError, match=f"{word} is a reserved word or a function"):
        read_program(f"{word} = 1\noutput(1)")


CASE = """
[parameters]
eps = "(0, oo)"
[mechanism]
kind = "program"
source = '''
{}
'''
{}
[neighbours]
differ = "each"
[privacy]
epsilon = "eps"
"""
BARE = "for x in stream:\n    output(x + laplace(1 / eps) >= 0)\n    stop"
INPUT = '[mechanism.inputs]\n{} = {{ length = 1, values = "0..1" }}'


@pytest.mark.parametrize("inputs", ["", INPUT.format("q")])
def test_stream_without_values(inputs: str, tmp_path: Path) -> None:
    """A loop over the word `stream` is told what a stream needs; what is proposed is read."""
    path = tmp_path / "case.toml"
    path.write_text(CASE.format(BARE, inputs))
    with pytest.raises(InputError) as caught:
        load(path)
    assert (
        'line 1: stream needs the possible values of an entry: stream(values="real"), or '
        'stream(values="-1..1")'
    ) in str(caught.value)
    assert str(caught.value).splitlines()[-1].index("^") == 4 + 9
    for values in ("real", "-1..1"):
        read = stream_of(read_program(BARE.replace("stream", f'stream(values="{values}")')))
        assert (read.values is None) is (values == "real")


@pytest.mark.parametrize("op", ["+", "-", "*", "/", "//", "%", "**"])
def test_augmented_assignments_over_a_stream(op: str) -> None:
    """`c += 1` is `c = c + 1` in the automaton of a stream, and so are the others."""
    text = (
        't = laplace(2 / eps)\nc = 3\nfor x in stream(values="real"):\n'
        "    if x + laplace(4 / eps) >= t:\n        output(c)\n        {}\n"
        "        if c > 5 or c < 2:\n            stop\n        c = 3\n    else:\n        output('no')\n"
    )
    parameters = {"eps": Unit(Fraction(1))}
    short, long = (
        translate(stream_of(read_program(text.format(line))), parameters)
        for line in (f"c {op}= 2", f"c = c {op} 2")
    )
    assert short.states == long.states
    assert short.transitions == long.transitions
