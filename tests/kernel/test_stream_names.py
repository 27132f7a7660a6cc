"""Streams whose entry has the name of another variable, and words that the tool has for itself."""

from __future__ import annotations

import random
import tomllib
from collections import Counter
from fractions import Fraction
from itertools import cycle, product
from pathlib import Path

import pytest
from stream_programs import loaded, random_finite, random_laplace

from paramverify.automata.automaton_evidence import machine
from paramverify.automata.stream_programs import Unit, translate
from paramverify.cli.main import run
from paramverify.errors import ProgramError
from paramverify.kernel.strict_reading import UnreadCase
from paramverify.models.model import Model
from paramverify.models.programs.program_reading import read_program
from paramverify.models.programs.stream_loops import stream_of
from paramverify.rereader.second_numbers import Calculator
from paramverify.rereader.second_processes import Streamed
from paramverify.rereader.second_stream_programs import ProgramTurn
from paramverify.rereader.second_streams import SideBySide, StreamProgram
from paramverify.rereader.second_values import PowerSum

CASE = '''[mechanism]
kind = "program"
source = """
{}"""
[neighbours]
differ = "each"
[privacy]
ratio = 2
length = {}
'''
BEFORE = ("x = 0\n", "x, k = 1, 0\n", "for j in [0, 1]:\n    x = j\n", "x = 1\nx = x - 1\n")
MARKS = ("#goes on", "(no output)", "end", "#turn", "first stream", "0/1: a")


@pytest.mark.parametrize("seed", range(8))
def test_finite_noise(seed: int) -> None:
    """What the name of the entry was before the loop changes no probability."""
    generator = random.Random(seed)
    text = random_finite(generator)
    both = [loaded(CASE.format(start + text, 3)).model for start in ("", generator.choice(BEFORE))]
    assert all(isinstance(model, Model) for model in both)
    plain, other = (model.hmm for model in both if isinstance(model, Model))
    assert rows(plain) == rows(other)


def rows(model: object) -> Counter[tuple[str, str]]:
    """How often each observation has each probability, from all states."""
    below = model.denominator  # type: ignore[attr-defined]
    return Counter(
        (model.observations[step.observation], f"{step.weight} / {below}")  # type: ignore[attr-defined]
        for steps in model.steps  # type: ignore[attr-defined]
        for step in steps
    )


@pytest.mark.parametrize("seed", range(8))
def test_laplace_noise(seed: int) -> None:
    """The automaton is the same, and so are the turns of the second reader."""
    text = random_laplace(random.Random(seed))
    assert transitions(text) == transitions(f"x = 1\n{text}")
    found = translate(stream_of(read_program(text)), {"eps": Unit(Fraction(1))})
    assert (
        SideBySide(
            StreamProgram(f"x = 1\n{text}", {"eps": PowerSum.variable("eps")}), machine(found)
        ).compare()
        > 2
    )


def transitions(text: str) -> list[object]:
    """The transitions of a program, without their lines."""
    found = translate(stream_of(read_program(text)), {"eps": Unit(Fraction(1))}).transitions
    return [(t.source, t.target, t.output, t.above, t.below, t.stored) for t in found]


LEAKS = [
    *(f"{start}for x in stream(values=[0, 1]):\n    output(x)\n" for start in BEFORE),
    'x, n = 1, 0\nfor x in stream(values="-1..1"):\n    output("yes" if x + n > 0 else "no")\n',
    "n = 0\nx = 0\nfor  x  in stream(values=[0, 1]):  # stream(values=[0, 1])\n    n = 1 - n\n"
    "    output(n + x)\n",
    *(f'for x in stream(values=[0, 1]):\n    output(["{w}", x])\n' for w in MARKS),
    *(f'for x in stream(values=[0, 1]):\n    output("{w}" if x == 1 else "a")\n    stop\n' for w in MARKS),
    *(f'for x in stream(values=[0, 1]):\n    if x == 1:\n        output("{w}")\n    stop\n' for w in MARKS),
]


@pytest.mark.parametrize(("text", "length"), [*zip(LEAKS, cycle(["2", '"all"']), strict=False)])
def test_what_is_put_out_is_told(
    text: str, length: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A program that puts out its entry leaks, whatever its names and words are; both readers say so."""
    case, evidence = tmp_path / "case.toml", tmp_path / "e.json"
    case.write_text(CASE.format(text, length))
    assert run(["verify", str(case), "--evidence", str(evidence)]) == 1
    assert run(["check", str(evidence), "--case", str(case)]) == 0
    assert "the probabilities of the witness agree" in capsys.readouterr().out


ALIKE = [
    *(("True", "1"), ("True", '"True"'), ("1", '"1"'), ("1", "[1]"), ('"1"', '"True"'), ("False", "0")),
    *(("[1]", "[True]"), ("[1]", "[[1]]"), ("[[1]]", "[[True]]"), ("[0, False]", "[False, 0]")),
]


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_kept_values_that_look_alike(one: str, other: str, tmp_path: Path) -> None:
    """What a variable keeps is told apart, by type too, with both kinds of noise and by both readers."""
    case, evidence = tmp_path / "case.toml", tmp_path / "e.json"
    turn = f"    output(c)\n    c = {other} if x == 1 else {one}\n"
    case.write_text(CASE.format(f"c = {one}\nfor x in stream(values=[0, 1]):\n{turn}", 2))
    assert run(["verify", str(case), "--evidence", str(evidence)]) == 1
    assert run(["check", str(evidence), "--case", str(case)]) == 0
    branches = f"    if x + laplace(4 / eps) >= T:\n        c = {other}\n    else:\n        c = {one}\n"
    text = f'T = laplace(2 / eps)\nc = {one}\nfor x in stream(values="real"):\n    output(c)\n{branches}'
    found = translate(stream_of(read_program(text)), {"eps": Unit(Fraction(1))})
    assert len({t.output for t in found.transitions}) == 2
    assert SideBySide(StreamProgram(text, {"eps": PowerSum.variable("eps")}), machine(found)).compare() > 2


SHARED = [
    ("a = [0]\nb = a\n", "", "b[0] = {}", "a[0]"),
    ("a = [0]\nc = [a, a]\n", "", "c[0][0] = {}", "c[1]"),
    ("a = [[0]]\nb = a[0]\n", "", "b[0] = {}", "a"),
    ("a = [0]\nb = [a] if 1 > 0 else [[0]]\n", "", "b[0][0] = {}", "a"),
    ("a = [0]\n", "    b = a\n", "b[0] = {}", "a[0]"),
    ("a = [[0], 1]\n", "    b = [a[0], 2]\n    b[1] = 3\n", "b[0][0] = {}", "a"),
    ("a, b = [0], [1]\n", "    b = a\n", "b[0] = {}", "a[0]"),
]


@pytest.mark.parametrize(("setup", "first", "change", "told"), SHARED)
def test_lists_with_two_names(
    setup: str, first: str, change: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A list with two names that is changed is refused by both readers, wherever its names were given."""
    case = tmp_path / "case.toml"
    finite = f"{setup}for x in stream(values=[0, 1]):\n{first}    {change.format('x')}\n    output({told})\n"
    case.write_text(CASE.format(finite, '"all"'))
    assert run(["verify", str(case)]) == 2
    assert "list" in capsys.readouterr().err
    document = tomllib.loads(case.read_text())["mechanism"]
    process = Streamed(document, Calculator({}, None, Fraction(1)))
    process.compared([((Fraction(0),), (Fraction(1),))], "each")
    try:
        first_words, second_words = (process.words((Fraction(side),), 1) for side in range(2))
        assert not any("0/1" in told for (told,) in first_words.keys() & second_words.keys())
    except UnreadCase:  # the names are kept from turn to turn
        assert "b" in setup or "c" in setup
    branches = f"        {change.format('True')}\n    else:\n        {change.format('1')}\n"
    body = f"{first}    if x + laplace(4 / eps) >= T:\n{branches}    output({told})\n"
    noisy = f'T = laplace(2 / eps)\n{setup}for x in stream(values="real"):\n{body}'
    with pytest.raises(ProgramError, match="list"):
        stream_of(read_program(noisy))
    program = StreamProgram(noisy, {"eps": PowerSum.variable("eps")})
    after = ProgramTurn(program, None, ()).go().after()
    with pytest.raises(UnreadCase, match="two names"):
        ProgramTurn(program, ProgramTurn(program, after, (True,)).go().after(), (True,)).go()


@pytest.mark.parametrize("differ", ["each", "one"])
def test_entries_that_may_differ(differ: str) -> None:
    """Two streams of bits may differ in every place, or in one of them, and each tells its own entry."""
    stream = {"source": "for x in stream(values=[0, 1]):\n    output(x)\n"}
    process = Streamed(stream, Calculator({}, None, Fraction(1)))
    process.compared([((Fraction(0),), (Fraction(1),))], differ)
    pairs = [*product((0, 1), repeat=2)]
    words = [w for w in product(pairs, repeat=3) if differ == "each" or sum(a != b for a, b in w) <= 1]
    for side in range(2):
        wanted = {tuple(f"{pair[0]}/{pair[1]}: {pair[side]}" for pair in word) for word in words}
        assert process.words((Fraction(side),), 3) == dict.fromkeys(wanted, 1)


def test_lists_with_one_name(tmp_path: Path) -> None:
    """Lists that are copied, or never changed, are read by both readers, and a change is seen."""
    case, evidence = tmp_path / "case.toml", tmp_path / "e.json"
    for text, code in (
        ("a = [0]\nb = a + []\nfor x in stream(values=[0, 1]):\n    b[0] = x\n    output(a[0])\n", 0),
        ("a = [0]\nb = a + []\nfor x in stream(values=[0, 1]):\n    b[0] = x\n    output(b[0])\n", 1),
        ("a = [0]\nb = a\nfor x in stream(values=[0, 1]):\n    output([a, b])\n", 0),
    ):
        case.write_text(CASE.format(text, 2))
        assert run(["verify", str(case), "--evidence", str(evidence)]) == code
        assert run(["check", str(evidence), "--case", str(case)]) == 0


NUMBERS_OF = (
    "max(b, 0)",
    "min(b, 5)",
    "max([b, 0])",
    "max(0, b)",
    "min(b, 1)",
    "clamp(b, 0, 2)",
    "abs(b)",
    "b",
)


@pytest.mark.parametrize("told", NUMBERS_OF)
def test_numbers_of_truth_values(told: str, tmp_path: Path) -> None:
    """Functions of True and of 1 give the same with Laplace noise as with finite noise, to both readers."""
    finite = f"for x in stream(values=[0, 1]):\n    b = True if x == 1 else 1\n    output({told})\n"
    case = tmp_path / "case.toml"
    case.write_text(CASE.format(finite, 1))
    leaks = run(["verify", str(case)]) == 1
    branches = "    if x + laplace(4 / eps) >= T:\n        b = True\n    else:\n        b = 1\n"
    noisy = f'T = laplace(2 / eps)\nfor x in stream(values="real"):\n{branches}    output({told})\n'
    found = translate(stream_of(read_program(noisy)), {"eps": Unit(Fraction(1))})
    outputs = {t.output for t in found.transitions if "nothing" not in t.output}
    assert (len(outputs) == 2) is leaks
    assert SideBySide(StreamProgram(noisy, {"eps": PowerSum.variable("eps")}), machine(found)).compare() > 1


QUOTIENTS = [
    ["1/2", "5", "1", "2/5"],
    ["1/2", "3", "1", "2/3"],
    ["0.5", "5", "1", "0.4"],
    ["-1/2", "5", "-1", "2/5"],
]


@pytest.mark.slow
@pytest.mark.parametrize("values", QUOTIENTS)
def test_quotients_as_entries(values: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each pair of entries has a name of its own, and both readers have the same names."""
    case, evidence = tmp_path / "case.toml", tmp_path / "e.json"
    listed = ", ".join(values)
    text = f'for x in stream(values=[{listed}]):\n    output("a" if flip(1/2 + x / 100) else "b")\n'
    case.write_text(CASE.format(text, 1).replace('"each"', '"each"\nby = "any"'))
    model = loaded(case.read_text()).model
    assert isinstance(model, Model)
    assert len(model.hmm.observations) == 2 * len(values) ** 2
    assert run(["verify", str(case), "--evidence", str(evidence)]) == 0
    assert run(["check", str(evidence), "--case", str(case)]) == 0
    assert "read a second time" in capsys.readouterr().out


@pytest.mark.parametrize("word", MARKS)
def test_several_outputs_in_one_turn(word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are refused, whatever they are."""
    case = tmp_path / "case.toml"
    text = (
        f'for x in stream(values=[0, 1]):\n    output("a")\n    output("{word}")\n    output([x])\n    stop\n'
    )
    case.write_text(CASE.format(text, '"all"'))
    assert run(["verify", str(case)]) == 2
    assert "each turn of the loop must output exactly one value" in capsys.readouterr().err


def test_a_length_is_needed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A stream without a length is no question."""
    case = tmp_path / "case.toml"
    text = "for x in stream(values=[0, 1]):\n    output(x if flip(2/3) else 1 - x)\n"
    case.write_text(CASE.format(text, 1).replace("length = 1\n", ""))
    for command in (["verify"], ["budget"], ["show"], ["explain"], ["synthesize"], ["certify"]):
        assert run([*command, str(case)]) == 2
        assert 'a stream needs a length: write length = "all", or length = "1..5"' in capsys.readouterr().err
    case.write_text(CASE.format(text, 1))
    assert run(["verify", str(case)]) == 0
    case.write_text(CASE.format(text, 2))
    assert run(["verify", str(case)]) == 1
