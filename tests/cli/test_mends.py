"""The mistakes that people make: each is told at its line with what to write instead, and that works."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from paramverify.cli.main import run
from paramverify.errors import InputError
from paramverify.interactive.system_cases import load as load_interactive
from paramverify.privacy.cases import load

CASE = """title = "one answer"
[parameters]
p = "[0, 1]"
q = "[1/10, 1/2]"
[prior]
john = { bernoulli = "p" }
sick = { binomial = [2, "q"] }
[mechanism]
kind = "geometric"
query = "sick"
noise = { truncated_geometric = "1/2", range = 2 }
[secrets]
yes = "john == 1 and sick >= 1"
no = "john == 0"
pairs = [["yes", "no"]]
[privacy]
epsilon = "ln(2)"
"""
RESPONSE = """[parameters]
c = "(0, 1)"
[prior]
john = { bernoulli = "c" }
[mechanism]
kind = "randomized_response"
query = "john"
truth = "3/4"
[secrets]
yes = "john == 1"
no = "john == 0"
pairs = [["yes", "no"]]
[privacy]
ratio = 3
"""

# What stands in the case, what is written instead, the line, and what is told; the mend takes its place.
MENDS = [
    ('"john == 0"', '"john = 0"', 14, "secrets.no: write == for equality: john == 0"),
    (
        '"[0, 1]"',
        '"0..1"',
        3,
        'parameters.p: neither an interval such as (0, 1) or [1/10, 0.4] nor a number; write "[0, 1]"',
    ),
    ('"[0, 1]"', '"0 <= p <= 1"', 3, 'write "[0, 1]"'),
    (
        '"[0, 1]"',
        "[0, 1]",
        3,
        'parameters.p: an interval must be text such as "(0, 1)" or "[1/10, 0.4]"; write "[0, 1]"',
    ),
    ('"[0, 1]"', "(0, 1)", 3, 'put texts and formulas in quotes; write "(0, 1)"'),
    ('"ln(2)"', '"ln 2"', 17, "privacy.epsilon: syntax error; write ln(2)"),
    ('"ln(2)"', "ln(2)", 17, 'put texts and formulas in quotes; write "ln(2)"'),
    ('"ln(2)"', '"0.5 nats"', 17, "privacy.epsilon: syntax error; write 0.5"),
    ('"ln(2)"', '"0,5"', 17, "privacy.epsilon: not allowed in an expression: tuple; write 0.5"),
    ('"ln(2)"', '"50%"', 17, "privacy.epsilon: syntax error; write 50/100"),
    ('"q"', '"q^2"', 7, "prior.sick.binomial: write ** for a power, not ^: q**2"),
    ('"john == 1 and sick >= 1"', '"john == 1 && sick >= 1"', 13, "write john == 1 and sick >= 1"),
    (
        '"john == 1 and sick >= 1"',
        '"john == 1 and sick => 1"',
        13,
        "write >=, not =>: john == 1 and sick >= 1",
    ),
    ('"john == 1 and sick >= 1"', '"!(john =< 0) & sick == 1"', 13, "write not (john <= 0) and sick == 1"),
    ('"1/2"', "1/2", 11, 'not TOML: Unclosed inline table; put texts and formulas in quotes; write "1/2"'),
    ('"1/2"', "“1/2”", 11, 'write plain quotes: noise = { truncated_geometric = "1/2", range = 2 }'),
    (
        "range = 2",
        "range = 1",
        11,
        "mechanism.noise.range: the range is 1, but sick can be 2; write range = 2",
    ),
    ('epsilon = "ln(2)"', 'epsilom = "ln(2)"', 17, "privacy.epsilom: unknown key; did you mean 'epsilon'?"),
    ('query = "sick"', 'query = "Sick"', 10, "mechanism.query: unknown name 'Sick'; did you mean 'sick'?"),
    (
        'kind = "geometric"',
        'kind = "Geometric"',
        9,
        "unknown mechanism 'Geometric'; did you mean 'geometric'?",
    ),
    ('kind = "geometric"', 'kind: "geometric"', 9, 'write kind = "geometric"'),
    ("[secrets]", "[[secrets]]", 12, "secrets: must be a table; write [secrets], in one pair of brackets"),
    ("[secrets]", "[secrets", 12, "write [secrets]"),
]


def told(text: str, tmp_path: Path) -> InputError | None:
    """Returns what is wrong with the text of a case."""
    file = tmp_path / "case.toml"
    file.write_bytes(text.encode())
    try:
        load(file)
    except InputError as error:
        return error
    return None


def mended(wrong: str, error: InputError) -> str:
    """Returns what the mend says in the place of what is wrong."""
    meant = re.fullmatch(r"did you mean '(.*)'\?", error.mend)
    if meant:
        words = re.findall(r"\w+", wrong)
        return wrong.replace(
            next(w for w in words if w not in CASE and w.lower()[:3] == meant[1][:3]), meant[1]
        )
    proposal = re.fullmatch(r"write (?:plain quotes: )?(.*?)(?:, in one pair of brackets)?", error.mend)
    assert proposal
    if "“" in wrong:
        return re.findall('"[^"]*"', proposal[1])[0]
    return f'"{proposal[1]}"' if wrong[0] == '"' and proposal[1][0] != '"' else proposal[1]


@pytest.mark.parametrize(("right", "wrong", "line", "said"), MENDS)
def test_a_mend_works(right: str, wrong: str, line: int, said: str, tmp_path: Path) -> None:
    """A common mistake is told once, at its line, and the case can be read with the mend in its place."""
    assert CASE.count(right) == 1
    error = told(CASE.replace(right, wrong), tmp_path)
    assert error is not None
    assert len(error.parts) == 1
    assert error.file_line == line
    assert str(error).startswith(f"{tmp_path / 'case.toml'}:{line}: ")
    assert said in str(error)
    assert told(CASE.replace(right, mended(wrong, error)), tmp_path) is None


PAIRED = [  # what is wrong in a case of randomised response, and what is told; nobody knows what was meant
    (
        'truth = "3/4"',
        'truth = "john"',
        8,
        "john is a variable of [prior], but only parameters are allowed here",
    ),
    (
        "ratio = 3",
        'ratio = 3\nepsilon = "ln(3)"',
        14,
        "privacy.ratio: give either epsilon or ratio; both are here: delete one",
    ),
    ("ratio = 3", "ratios = 3", 14, "privacy.ratios: unknown key; did you mean 'ratio'?"),
    ("ratio = 3", "", 13, 'privacy: give either epsilon or ratio; write epsilon = "ln(2)", for example'),
    (
        'bernoulli = "c"',
        'categorical = { 0 = "c", 1 = "1/2" }',
        4,
        "the probabilities sum to c + 1/2 instead of 1",
    ),
    (
        'bernoulli = "c"',
        'categorical = { 0 = "1/2", 1 = "2/5" }',
        4,
        "the probabilities sum to 9/10 instead of 1",
    ),
    (
        'query = "john"',
        'query = "c"',
        7,
        "c is a parameter, but only variables of [prior] are allowed here; the known names are john",
    ),
    (
        "[privacy]",
        "[prior]",
        13,
        "the table [prior] is defined already, at line 3; put the keys of both below one of them",
    ),
    (
        'no = "john == 0"',
        'yes = "john == 0"',
        11,
        "the key secrets.yes is defined already, at line 10; delete one of them",
    ),
    (
        'kind = "randomized_response"',
        "kind = 'randomized response'",
        6,
        "did you mean 'randomized_response'?",
    ),
]


@pytest.mark.parametrize(("right", "wrong", "line", "said"), PAIRED)
def test_a_mistake_is_told(right: str, wrong: str, line: int, said: str, tmp_path: Path) -> None:
    """A mistake with more than one mend is told once, at its line."""
    assert told(RESPONSE, tmp_path) is None
    error = told(RESPONSE.replace(right, wrong), tmp_path)
    assert error is not None
    assert len(error.parts) == 1
    assert error.file_line == line
    assert said in str(error)


def test_a_parameter_that_is_not_declared(tmp_path: Path) -> None:
    """A parameter without an interval is told once, with the line that declares it, which works."""
    wrong = RESPONSE.replace('"3/4"', '"1 - c*d"').replace("ratio = 3", 'ratio = "3 + 0*d"')
    error = told(wrong, tmp_path)
    assert error is not None
    assert len(error.parts) == 1
    assert error.file_line == 8
    line = re.match("to declare a parameter, add (.*) below \\[parameters\\]; known here: c$", error.mend)
    assert line
    assert line[1] == 'd = "(0, 1)"'
    again = told(wrong.replace("[parameters]", f"[parameters]\n{line[1]}"), tmp_path)
    assert again is None or "unknown name" not in str(again)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"mechanism": {"kind": "geometric"}}', "this is JSON, not TOML"),
        ("---\n- a\n", "this is YAML, not TOML"),
        ("import numpy as np\n\ndef f(q):\n    return q\n", "this is a Python program, not TOML"),
        ("(set-logic QF_NRA)\n(check-sat)\n", "this is SMT-LIB, not TOML"),
        ("dtmc\n\nmodule m\nendmodule\n", "this is a PRISM model, not TOML"),
        ("<html></html>", "this is XML or HTML, not TOML"),
    ],
)
def test_another_format(text: str, said: str, tmp_path: Path) -> None:
    """A file in another format is told as one mistake, with the name of that format."""
    error = told(text, tmp_path)
    assert error is not None
    assert f"case.toml:1: {said}; " in str(error)


@pytest.mark.parametrize("change", ["\ufeff{}", "crlf", "tabs"])
def test_signs_that_do_no_harm(change: str, tmp_path: Path) -> None:
    """A mark at the beginning, line ends of Windows and tabs change nothing, and lines are counted alike."""
    texts = {"crlf": CASE.replace("\n", "\r\n"), "tabs": CASE.replace(" = ", "\t=\t")}
    text = texts.get(change) or f"\ufeff{CASE}"
    assert told(text, tmp_path) is None
    error = told(text.replace("ln(2)", "ln 2"), tmp_path)
    assert error is not None
    assert error.file_line == 17


def test_another_encoding(tmp_path: Path) -> None:
    """A file in UTF-16 is told as such, and a wrong byte with its line."""
    file = tmp_path / "case.toml"
    file.write_bytes(CASE.encode("utf-16"))
    with pytest.raises(InputError, match=r"case\.toml:1: not UTF-8 text .*it is UTF-16: save it as UTF-8"):
        load(file)
    file.write_bytes(CASE.encode().replace(b"sick =", b"s\xfcck ="))
    with pytest.raises(InputError, match=r"case\.toml:7: not UTF-8 text"):
        load(file)


def test_all_mistakes_of_the_syntax(tmp_path: Path) -> None:
    """Unquoted values are told together, each with its line; so are other mistakes of TOML."""
    wrong = (
        CASE.replace('"ln(2)"', "ln(2)").replace('"[0, 1]"', "(0, 1)").replace('"1/2", range', "1/2, range")
    )
    error = told(wrong, tmp_path)
    assert error is not None
    assert [part.file_line for part in error.parts] == [3, 11, 17]


MANY = """title = "many"
[parameters]
pA = "0..1"
pB = "(0, 1)"
constraints = ["pA + pB <= 1", "pA = 3"]
[prior]
A = { binomial = [2, "pA"] }
B = { binomial = [2, "pB +"], x = 3 }
D = "B + 1"
[mechanism]
kind = "noisy_max"
queries = ["A", "B +"]
noise = { truncated_geometric = "1/pA", range = "2", foo = 2 }
tie = 3
[secrets]
one = "A => 1"
two = "AA <= 1"
three = "B == 1"
pairs = [["one", "two"], ["one"]]
[privacy]
epsilon = "ln 2"
lenght = 3
[foo]
x = 1
"""
TOLD = [
    (3, "parameters.pA"),
    (5, "parameters.constraints[1]"),
    (8, "prior.B.binomial"),
    (12, "mechanism.queries[1]"),
    (13, "mechanism.noise.range"),
    (13, "mechanism.noise.foo"),
    (14, "mechanism.tie"),
    (16, "secrets.one"),
    (17, "secrets.two"),
    (19, "secrets.pairs[1]"),
    (21, "privacy.epsilon"),
    (22, "privacy.lenght"),
    (23, "foo"),
]


def test_all_mistakes_are_told_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Mistakes that do not depend on each other are told together, in order, in text and JSON."""
    file = tmp_path / "case.toml"
    file.write_text(MANY)
    assert run(["verify", str(file), "--json"]) == 2
    printed = capsys.readouterr()
    document = json.loads(printed.out)
    found = document["errors"]
    places = [(e["line"], e["key"]) for e in found]
    assert sorted(places) == sorted(TOLD)
    assert [line for line, _ in places] == sorted(line for line, _ in places)
    assert {e["file"] for e in found} == {str(file)}
    assert found[0]["mend"] == 'write "[0, 1]"'
    starts = [line for line in printed.err.splitlines() if line.startswith("error: ")]
    assert [s.split(": ")[1:3] for s in starts] == [[f"{file}:{e['line']}", e["key"]] for e in found]
    assert all(e["message"] in document["reason"] for e in found)


def test_a_line_in_a_program(tmp_path: Path) -> None:
    """A mistake in a program in a case names the line of the file, and the line of the program."""
    text = """[mechanism]
kind = "program"
source = '''
x = q + 1

output(y)
'''
[mechanism.inputs]
q = { values = "0..1" }
[neighbours]
differ = "one"
[privacy]
ratio = 2
"""
    error = told(text, tmp_path)
    assert "case.toml:6: mechanism.source: line 3: y has no value here" in str(error)
    error = told(text.replace("output(y)", "output(x"), tmp_path)
    assert "case.toml:6: mechanism.source: line 3: syntax error" in str(error)
    error = told(text.replace("[mechanism.inputs]\nq =", "[neighbors]\nq ="), tmp_path)
    assert (
        "the program has no inputs, so paramverify does not know what is private; write [mechanism.inputs]"
    ) in str(error)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["verfy", "x.toml"], "No such command 'verfy': did you mean `paramverify verify`?"),
        (["Verify"], "did you mean `paramverify verify`?"),
        (["no/such.toml"], "No such command 'no/such.toml': did you mean `paramverify verify no/such.toml`?"),
        (["model.prism"], "did you mean `paramverify logic model.prism`?"),
        (["evidence.json"], "did you mean `paramverify check evidence.json`?"),
        (["verify", "x.toml", "--timout", "3"], "Did you mean '--timeout'?"),
        (["xyzzy"], "No such command 'xyzzy'."),
    ],
)
def test_a_command_that_is_none(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A word in the place of a command, and an option, is told with the one that is meant."""
    assert run(arguments) == 2
    assert said in capsys.readouterr().err.replace("\n", " ")


def test_a_file_in_the_place_of_a_command(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A case file in the place of a command is told with the command that reads it."""
    for name, command in (
        ("blood-test", "verify"),
        ("interactive/survey", "interactive"),
        ("logic/survey-coin", "logic"),
    ):
        path = root / "cases" / f"{name}.toml"
        assert run([str(path)]) == 2
        assert f"did you mean `paramverify {command} {path}`?" in capsys.readouterr().err


def test_delta_in_an_interactive_case(root: Path, tmp_path: Path) -> None:
    """A key `delta` of an interactive case is told with what is meant by it."""
    text = (root / "cases" / "interactive" / "survey.toml").read_text()
    file = tmp_path / "case.toml"
    file.write_text(text.replace("[privacy]", "[privacy]\ndelta = 0"))
    with pytest.raises(
        InputError, match=r"privacy\.delta: an interactive case has no delta, its privacy is pure"
    ):
        load_interactive(file)


def test_a_mistake_that_is_found_late(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A table that a proof shows to be no distribution, after the reading, is told with key and line."""
    below = "(p - q)**2*3/4 + ((p - 17/53)**2 + (q - 19/59)**2)/8 - 1/10000000"
    file = tmp_path / "case.toml"
    text = RESPONSE.replace('c = "(0, 1)"', 'p = "[0, 1]"\nq = "[0, 1]"').replace('"c"', f'"{below}"')
    assert told(text, tmp_path) is None
    assert run(["verify", str(file)]) == 2
    assert (
        f"error: {file}:5: prior.john: this distribution: the probability of 1 is" in capsys.readouterr().err
    )
