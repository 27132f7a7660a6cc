"""Systems of several parts: what they show is what the parts show, each of its own inputs."""

from __future__ import annotations

import random
import tomllib
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import pytest
from conftest import ROOT
from interactive_tools import Enumeration, no_parameters, random_system

import paramverify
from paramverify.algebra.polynomials import Ring
from paramverify.cli.main import run
from paramverify.errors import InputError
from paramverify.kernel.strict_reading import Rejected
from paramverify.models.systems.system_parts import side_by_side
from paramverify.models.systems.transition_systems import System, check
from paramverify.rereader.second_numbers import Calculator
from paramverify.rereader.second_systems import SideBySide

CASE = ROOT / "cases" / "interactive" / "clinic-and-laboratory.toml"


def ends(system: System) -> bool:
    """Tells whether all hidden steps end, no state stops, and every input is accepted."""
    plain = Enumeration(system)
    moves = all(-1 not in plain.terminal(step) for row in system.rows for step in row.values())
    return moves and all(system.rows) and not system.partial


SYSTEMS = [system for system in map(random_system, range(60)) if ends(system)]


def seen(parts: Mapping[str, System], whole: System, trace: tuple[int, ...]) -> tuple[tuple[str, ...], ...]:
    """What of a trace belongs to each part, in its own words."""
    names = [whole.actions.names[action] for action in trace]
    return tuple(tuple(n[len(p) + 2 :] for n in names if n.startswith(f"{p}: ")) for p in parts)


@pytest.mark.parametrize("seed", range(12))
def test_parts_answer_independently(seed: int) -> None:
    """Given the inputs, the probability of a trace is the product of those of the parts: by enumeration."""
    drawn = random.Random(seed)
    parts = dict(zip("abc", drawn.sample(SYSTEMS, 2 + seed % 2), strict=False))
    whole = side_by_side(parts, Ring())
    check(whole, no_parameters())
    together = Enumeration(whole)
    alone = {name: Enumeration(part) for name, part in parts.items()}
    for _ in range(6):
        inputs = tuple(drawn.choice(whole.actions.inputs) for _ in range(3))
        words = [whole.actions.names[action] for action in inputs]
        expected: dict[tuple[tuple[str, ...], ...], Fraction] = {(): Fraction(1)}
        for name, part in parts.items():
            own = [w.removeprefix(f"{name}: ") for w in words if ": " not in w or w.startswith(f"{name}: ")]
            known = {word: number for number, word in enumerate(part.actions.names)}
            traces: Counter[tuple[str, ...]] = Counter()
            for trace, weight in alone[name].given(tuple(known[w] for w in own if w in known)).items():
                traces[tuple(part.actions.names[a] for a in trace)] += weight  # type: ignore[assignment]
            expected = {(*k, t): p * q for k, p in expected.items() for t, q in traces.items()}
        found: Counter[tuple[tuple[str, ...], ...]] = Counter()
        for trace, weight in together.given(inputs).items():
            found[seen(parts, whole, trace)] += weight  # type: ignore[assignment]
        assert {k: p for k, p in found.items() if p} == {k: p for k, p in expected.items() if p}


def two(first: str, second: str, privacy: str = 'ratio = "2"') -> str:
    """A case of two surveys with these chances of the truth, about the same people."""
    survey = """
[system.parts.{name}]
initial = "none"
data = {data}
queries = ["ask"]
responses = ["yes", "no"]
hidden = ["toss"]
[system.parts.{name}.steps]
none = {{ {none} ask = "asked none" }}
some = {{ {some} ask = "asked some" }}
"asked none" = {{ toss = {{ "say no" = "{truth}", "say yes" = "1 - {truth}" }} }}
"asked some" = {{ toss = {{ "say yes" = "{truth}", "say no" = "1 - {truth}" }} }}
"say yes" = {{ yes = "end" }}
"say no" = {{ no = "end" }}
end = {{ {end} ask = "over" }}
over = {{ no = "end" }}
"""
    text = '[system]\nkind = "parts"\n'
    for name, given in {"one": first, "two": second}.items():
        data, truth = given.split(": ")
        points = [point for point in data.split() if point != "-"]
        moves = {
            start: " ".join(f'{point} = "{after}",' for point in points)
            for start, after in {"none": "some", "some": "some", "end": "end"}.items()
        }
        text += survey.format(name=name, data=points, truth=truth, **moves)
    return text + f"[privacy]\n{privacy}\n"


@pytest.mark.parametrize(
    ("first", "second", "ratio"),
    [
        ("ill: 2/3", "ill: 3/4", "6"),  # a person is in both answers
        ("ill: 2/3", "well: 3/4", "3"),  # or in one of them
        ("ill well: 2/3", "well: 3/4", "6"),
        ("ill: 2/3", "-: 3/4", "2"),
    ],
)
def test_budgets_of_parts(first: str, second: str, ratio: str, tmp_path: Path) -> None:
    """Budgets are multiplied where a data point goes to both parts; the larger one counts where none does."""
    case = paramverify.loads(two(first, second))
    found = case.budget()
    assert found.ratio == Fraction(ratio)
    assert paramverify.check(found.evidence(), case).accepted
    proved = paramverify.loads(two(first, second, f'ratio = "{ratio}"')).verify()
    assert proved
    other = paramverify.loads(two(first, second.replace("3/4", "4/5"), f'ratio = "{ratio}"'))
    assert not paramverify.check(proved.evidence(), other).accepted


@pytest.mark.parametrize(
    ("first", "second", "notes"),
    [
        ("ill: 2/3", "ill: 3/4", ["'ill' goes to more than one part"]),
        ("ill well: 2/3", "ill well: 3/4", ["'ill', 'well' go to more than one part"]),
        ("ill: 2/3", "well: 3/4", ["every data point goes to at most one part"]),
        (
            "ill: 2/3",
            "Ill: 3/4",
            [
                "every data point goes to at most one part",
                "the data points 'ill' of one and 'Ill' of two are spelt differently, so they are two "
                "points: to make them one, write both alike",
            ],
        ),
    ],
)
def test_notes_on_data_points(first: str, second: str, notes: list[str]) -> None:
    """They say which data points parts share, and which look as if they were meant to be shared."""
    assert list(paramverify.loads(two(first, second)).verify().notes) == notes


WAITING = """
[system]
kind = "parts"
[system.parts.A]
data = ["d", "e"]
queries = ["q"]
responses = ["r"]
initial = "s"
{environment}
fields = {{ b_c = {{ s = 0 }} }}
[system.parts.A.steps]
s = {{ d = "m", e = "s", q = "x" }}
x = {{ r = "s" }}
m = {{ {first} }}
[system.parts.{second}]
data = ["d", "e"]
initial = "s"
{environment}
fields = {{ c = {{ s = 0 }} }}
[system.parts.{second}.steps]
s = {{ d = "m", e = "s" }}
m = {{ {other} }}
[privacy]
ratio = "2"
"""
ASSUMED = 'environment = "accepted"'


@pytest.mark.parametrize(
    ("environment", "first", "other", "second", "words"),
    [
        # Each part waits for what the other one refuses: that is no system that has stopped.
        (
            ASSUMED,
            'e = "m"',
            'd = "m"',
            "B",
            "state 'm & m': a part waits, but another part refuses each",
        ),
        (ASSUMED, "", 'd = "m"', "B", "state 'm & m': a part waits, but another part refuses each"),
        ("", "", 'd = "m", e = "m"', "B", "state 'm & m': a part waits, but another part refuses each"),
        ("", 'e = "m", d = "m", q = "x"', "", "B", "state 'm & m' is not quasi-input-enabled"),
        (ASSUMED, 'e = "m"', 'e = "m"', "A_b", "two fields of the parts have the name 'A_b_c'"),
    ],
)
def test_parts_that_refuse_each_other(
    environment: str, first: str, other: str, second: str, words: str
) -> None:
    """What parts together would say wrongly is refused: a part that waits for ever, and names of fields."""
    text = WAITING.format(environment=environment, first=first, other=other, second=second)
    with pytest.raises(InputError) as told:
        paramverify.loads(text).budget()
    assert words in str(told.value)
    assert (
        paramverify.loads(
            text.replace(f"m = {{ {first} }}", 'm = { d = "m", e = "m", q = "x" }', 1)
            .replace(f"m = {{ {other} }}", 'm = { d = "m", e = "m" }')
            .replace("A_b", "B")
        )
        .budget()
        .ratio
        == 1
    )


PARTIAL = """
[system]
kind = "parts"
[system.parts.A]
data = ["d", "e"]
queries = ["q"]
responses = ["r"]
initial = "s"
environment = "accepted"
[system.parts.A.steps]
s = { d = "m", e = "s", q = "x" }
x = { r = "s" }
m = { e = "m", q = "x" }
[system.parts.B]
data = ["d", "e"]
queries = ["k"]
responses = ["one", "two"]
initial = "s"
[system.parts.B.steps]
s = { d = "m", e = "s", k = "y" }
y = { one = "s" }
m = { d = "m", e = "m", k = "z" }
z = { two = "m" }
[privacy]
ratio = "2"
"""


def test_what_one_part_assumes_is_assumed_of_all() -> None:
    """If one part refuses a data point, it never comes; a second reading finds the same steps."""
    case = paramverify.loads(PARTIAL)
    leak = case.verify()
    assert not leak
    assert "Assumed of the environment: " in str(leak)
    assert paramverify.check(leak.evidence(), case).accepted
    alone = paramverify.loads(
        PARTIAL.replace('d = "m", e = "s", q', 'e = "s", q').replace('two = "m"', 'two = "s"')
    )
    proved = alone.verify()
    assert proved
    assert paramverify.check(proved.evidence(), alone).accepted


def test_the_second_reading_takes_no_waiting_for_an_end() -> None:
    """A state in which a part waits and nothing is accepted is refused there, too."""
    text = WAITING.format(environment=ASSUMED, first='e = "m"', other='d = "m"', second="B")
    with pytest.raises(Rejected, match="no input is accepted in the state 'm & m'"):
        SideBySide(tomllib.loads(text), Calculator({}, None, Fraction(1)))


MISTAKES = {
    'kind = "parts"\n[system.parts.a]\ninitial = "x"\nsteps = { x = {} }\n': "at least two systems",
    'kind = "parts"\n': "parts",
    'kind = "parts"\n[system.parts."a b"]\n[system.parts.c]\n': "a b",
    'kind = "parts"\n[system.parts.a]\nkind = "parts"\n[system.parts.c]\n': "system.parts.a.kind",
}


@pytest.mark.parametrize(("text", "named"), MISTAKES.items())
def test_mistakes_are_named(
    text: str, named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is no table of parts is told with its key."""
    file = tmp_path / "case.toml"
    file.write_text(f'[system]\n{text}[privacy]\nratio = "2"\n')
    assert run(["verify", str(file)]) == 2
    assert named in capsys.readouterr().err


def test_subroutines_and_keys_of_slots_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A system of parts has no states to be replaced, and no slots of its own."""
    file = tmp_path / "case.toml"
    step = '[[subroutines]]\nstate = "none"\nstart = "s"\nsteps.s = { some = "1" }\n'
    file.write_text(CASE.read_text() + step)
    assert run(["verify", str(file)]) == 2
    assert "subroutines are for a system that is not made of parts" in capsys.readouterr().err
    file.write_text(CASE.read_text().replace('kind = "parts"', 'kind = "parts"\nslots = 2'))
    assert run(["verify", str(file)]) == 2
    assert "system.slots" in capsys.readouterr().err
