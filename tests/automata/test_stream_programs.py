"""Programs over streams: as automata, beside the same programs written out, and what is refused."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

import pytest
from automaton_oracle import least_cost, random_automaton, ways
from conftest import ROOT
from stream_programs import chances, random_laplace, unrolled, written_out

from paramverify.answers import Standing
from paramverify.automata.automaton import Automaton, read_automaton
from paramverify.automata.stream_cases import StreamCase, load, read_budget
from paramverify.automata.stream_costs import verify_one
from paramverify.automata.stream_programs import Unit, translate
from paramverify.automata.stream_verdicts import AutomatonReport, StreamVerdict, decide, verify
from paramverify.automata.way_programs import program
from paramverify.errors import InputError, LimitError, ProgramError
from paramverify.models.programs.program_reading import read_program
from paramverify.models.programs.stream_loops import stream_of
from paramverify.portfolio.session import Options
from paramverify.privacy.verification import verify as verify_case
from paramverify.verdicts import Holds

CASES = sorted((ROOT / "cases" / "automata").glob("*.toml"))
TWINS = [path for path in CASES if (path.parent / f"{path.stem.removeprefix('stream-')}.dipa").exists()]
OPTIONS = Options(seconds=60)
SVT = """t = laplace(2 / eps)
for x in stream(values="real"):
    y = x + laplace(4 / eps)
    if y >= t:
        output("above")
        stop
    output("below")
"""


def automaton_of(text: str) -> Automaton:
    """The automaton of a program."""
    return translate(stream_of(read_program(text)), {"eps": Unit(Fraction(1))})


@pytest.mark.parametrize("path", TWINS, ids=lambda path: path.stem)
def test_twins(path: Path) -> None:
    """A program and the automaton written for it need the same multiple, or have the same kind of leak."""
    twin = verify(read_automaton(path.parent / f"{path.stem.removeprefix('stream-')}.dipa"))
    own = verify(load(path).automaton)
    assert (own.standing, own.multiple, own.least) == (twin.standing, twin.multiple, twin.least)
    assert (own.family and own.family.kind) == (twin.family and twin.family.kind)


def output_of(automaton: Automaton, steps: tuple[int, ...]) -> str:
    """What a way puts out."""
    words = [automaton.transitions[number].output for number in steps]
    return ", ".join(word for word in words if word != "(nothing)")


def complete(automaton: Automaton, length: int) -> list[tuple[int, ...]]:
    """The ways on all streams of a length, until the next entry would be read or the end."""
    found = []
    for steps in ways(automaton, 3 * length + 2):
        reads = [automaton.states[automaton.transitions[n].source].reads for n in steps]
        last = automaton.transitions[steps[-1]].target
        ended = not automaton.leaving[last]
        if sum(reads) <= length and (ended or (sum(reads) == length and automaton.states[last].reads)):
            found.append(steps)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_random_programs_beside_the_engine(seed: int) -> None:
    """A way of the automaton is as likely as its output is in the program that is written out."""
    generator = random.Random(seed)
    text = random_laplace(generator)
    automaton, length = automaton_of(text), 2
    streams = [[Fraction(generator.randint(-2, 2), 2) for _ in range(length)] for _ in range(2)]
    if streams[0] == streams[1]:
        streams[1][0] += 1
    expected = chances(unrolled(written_out(text), streams), 0)
    found = complete(automaton, length)
    assert sorted(output_of(automaton, steps) for steps in found) == sorted(expected)
    for steps in generator.sample(found, min(3, len(found))):
        own = streams[0][: sum(automaton.states[automaton.transitions[n].source].reads for n in steps)]
        case = unrolled(program(automaton, steps, Fraction(1, 8)), [own, [own[0] + 1, *own[1:]]])
        assert chances(case, 0)["way"] == pytest.approx(expected[output_of(automaton, steps)], abs=1e-9)


@pytest.mark.slow
def test_budgets_beside_the_engine() -> None:
    """On whole numbers and two entries: a proved multiple is enough, for each entry and for one entry."""
    for differ, epsilon in (("each", "eps"), ("one", "1/4 * eps")):
        pairs = (
            [([0, 0], [1, -1]), ([0, 0], [1, 1])]
            if differ == "each"
            else [([0, 0], [0, 1]), ([0, 1], [0, 0])]
        )
        for one, other in pairs:
            streams = [list(map(Fraction, one)), list(map(Fraction, other))]
            found = verify_case(unrolled(written_out(SVT), streams, epsilon), OPTIONS)
            assert isinstance(found.verdict, Holds)
        assert decided(differ, epsilon).standing is Standing.HOLDS
    assert decided("one", "1/5 * eps").standing is Standing.VIOLATED
    assert decided("each", "3/4 * eps").standing is Standing.VIOLATED


def decided(differ: str, epsilon: str, text: str = SVT) -> StreamVerdict:
    """What is found of a program with these neighbours and this budget."""
    budget = read_budget(epsilon, "eps", {})
    stream = stream_of(read_program(text))
    values = None if stream.values is None else tuple(v for v in stream.values if isinstance(v, Fraction))
    case = StreamCase("x", "", automaton_of(text), "eps", budget, differ == "one", values=values)
    return decide(case, OPTIONS)


@pytest.mark.slow
def test_one_entry_by_brute_force() -> None:
    """No way of random automata costs more than the bound for one entry, and most bounds are the least."""
    tight = 0
    for seed in range(60):
        automaton = random_automaton(random.Random(seed))
        try:
            report = verify_one(automaton)
        except InputError:
            continue
        worst = Fraction(0)
        for steps in ways(automaton, 4):
            for place, number in enumerate(steps):
                step = automaton.transitions[number]
                if not automaton.state_of(step).reads:
                    continue
                for sign in (1, -1):
                    signs = [0] * len(steps)
                    signs[place] = sign
                    seconds = sum(automaton.second_rate(automaton.transitions[n]) for n in steps)
                    own = least_cost(automaton, steps, signs) - seconds + automaton.second_rate(step)
                    worst = max(worst, own)
        assert worst <= report.multiple
        if report.confused is None:
            tight += worst <= report.least == report.multiple
    assert tight >= 20


def test_few_values() -> None:
    """What is enough for all numbers is enough for few values; else an example within them is needed."""
    text = SVT.replace('"real"', '"-1..1"')
    assert decided("each", "eps", text).standing is Standing.HOLDS
    found = decided("each", "1/4 * eps", text)
    assert found.standing is Standing.VIOLATED
    assert found.example is not None
    assert {*found.example.streams.first, *found.example.streams.second} <= {-1, 0, 1}


@pytest.mark.parametrize(
    ("values", "differ"),
    [('"5..7"', "each"), ("[-3, -2]", "one")],
)
def test_violations_within_few_values(values: str, differ: str) -> None:
    """Streams of these values are found, which are neighbours."""
    text = SVT.replace('"real"', values)
    assert decided(differ, "eps", text).standing is Standing.HOLDS
    found = decided(differ, "1/8 * eps", text)
    assert found.standing is Standing.VIOLATED
    assert found.example is not None
    streams = found.example.streams
    assert found.case.values is not None
    assert {*streams.first, *streams.second} <= {*found.case.values}
    moved = [abs(a - b) for a, b in zip(streams.first, streams.second, strict=True)]
    assert max(moved) <= 1
    assert differ == "each" or sum(map(bool, moved)) == 1


REFUSED = {
    "x >= t": "add noise to an entry of the stream before it is compared or output",
    "x + laplace(4 / eps) >= 3": "noise is compared with noisy values, not with numbers",
    "x + laplace(4 / eps) == t": "noise is equal to nothing",
    "x + laplace(4 / eps) >= laplace(1 / eps)": "noise is compared with a value that has a name",
    "x + laplace(4) >= t": "a scale is a positive number divided by the parameter",
    "x + laplace(4 / eps) + laplace(1 / eps) >= t": "a sum has one noise only",
    "x + laplace(4 / eps) >= t + 1": "noise was drawn before",
    "2 * x + laplace(4 / eps) >= t": "nothing else is done with these; divide both sides of the comparison",
    "x + laplace(4 / eps) >= c": "draw the threshold before the loop, c = 7 + laplace(2 / eps)",
    "x + geometric(1/2) >= t": "geometric is not in a stream with Laplace noise: its noise is laplace",
    "t - x < laplace(4 / eps)": "nothing is added to it now: write x + laplace(4 / eps) > t",
    "max(x + laplace(4 / eps), t) >= t": "max takes no noise in a stream",
    "flip(1/2)": "flip is not in a stream with Laplace noise",
    "t >= u": "only the noise that was drawn last is compared",
    "x + laplace(4 / eps) >= v": "v has no value here",
    "x + laplace(4 / eps)": "a test is true or false",
}


@pytest.mark.parametrize("test", REFUSED)
def test_what_no_automaton_does(test: str) -> None:
    """It is refused with the line, and what to write instead."""
    text = f"""t, c = laplace(2 / eps), 7
u = laplace(2 / eps)
for x in stream(values="real"):
    if {test}:
        output("above")
        stop
    output("below")
"""
    with pytest.raises(ProgramError) as error:
        automaton_of(text)
    assert REFUSED[test] in error.value.reason
    assert error.value.line == 4


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("for x in stream(values=3):\n    output(x)", "the values of a stream must be"),
        ("for x in streams(values=[0]):\n    output(x)", "unknown function streams; did you mean stream?"),
        ("for x in stream([0, 1]):\n    output(x)", "stream needs the possible values of an entry"),
        ("if flip(1/2):\n    for x in stream(values=[0]):\n        output(x)", "at the left margin"),
        ("y = stream(values=[0])\noutput(1)", "is only allowed in a for loop at the left margin"),
        ('for x in stream(values="real"):\n    output(1)\noutput(2)', "must not continue after its loop"),
    ],
)
def test_mistakes_in_streams(text: str, reason: str) -> None:
    """A loop over a stream is the last statement, and its values are said in one of three ways."""
    with pytest.raises(ProgramError) as error:
        stream_of(read_program(text))
    assert reason in str(error.value)


@pytest.mark.parametrize("line", ["a = x", "a += x", "a = 1 + x", "a, b = x, 0"])
def test_entries_that_are_kept(line: str) -> None:
    """The line is named that keeps an entry, and not the one that reads it in the next turn."""
    text = 't, a = laplace(1 / eps), 0\nfor x in stream(values="real"):\n'
    text += f"    if a + laplace(1 / eps) >= t:\n        output(1)\n    {line}\n"
    with pytest.raises(ProgramError, match="a depends on an entry: compare an entry, or output it") as error:
        automaton_of(text)
    assert error.value.line == 5


@pytest.mark.slow
def test_a_count_without_end() -> None:
    """Variables with infinitely many values are refused."""
    with pytest.raises(LimitError, match=r"line 4 of the program: n has .* stop before it grows"):
        automaton_of(
            't = laplace(1 / eps)\nn = 0\nfor x in stream(values="real"):\n    n += 1\n    output(n)\n'
        )


@pytest.mark.parametrize(
    "line",
    ["while True:\n    pass", "while True:\n    n = n * n + 2", "a = [0]\nwhile True:\n    a = a + a"],
)
def test_work_without_end(line: str) -> None:
    """A turn that takes too long, or makes too much, is refused."""
    with pytest.raises(ProgramError):
        automaton_of(f'n = 2\n{line}\nfor x in stream(values="real"):\n    output(1)\n')


def test_outputs_without_places() -> None:
    """Words of which one begins with another do not tell the way; so nothing is refuted by them."""
    quiet = SVT.replace('        stop\n    output("below")', "        pass")
    found = decided("each", "eps", quiet)
    assert isinstance(found.report, AutomatonReport)
    assert found.report.confused
    assert found.standing is Standing.UNKNOWN
    assert decided("each", "eps", SVT.replace('    output("below")', "    pass")).standing is Standing.HOLDS
