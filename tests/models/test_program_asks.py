"""Programs that call other mechanisms of their case: Python gives the same distribution, call by call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from asked_mechanisms import KNOWN, Maker, P, case_of, enumerated
from calling_tools import called

from paramverify.algebra.polynomials import value_at
from paramverify.encodings.sequences import probabilities
from paramverify.errors import InputError, ProgramError
from paramverify.models.mechanisms.program import shown_output
from paramverify.models.model import Model
from paramverify.privacy.cases import PrivacyCase, load, read_case
from paramverify.rereader.second_mechanisms import read as read_again
from paramverify.rereader.second_reader import SecondReader
from paramverify.tables import TomlDocument, in_case, toml_data

CASES = Path(__file__).parents[2] / "cases" / "programs"
SEEDS = (0, 3, 8, 49)  # few ways through these
Rows = dict[str, dict[tuple[str, ...], Fraction]]


def plain(told: Any) -> Any:
    """Returns an output of the oracle as the package has it."""
    kind, *inside = told
    return tuple(map(plain, inside)) if kind == "list" else inside[0]


def told(text: str) -> PrivacyCase:
    with in_case("case.toml", text):
        return read_case(TomlDocument(toml_data(text), text, path="case.toml"))


def rows_of(case: PrivacyCase, point: Mapping[str, Fraction]) -> Rows:
    """Returns for each input how likely each sequence is, at a point."""
    assert isinstance(case.model, Model)
    found: Rows = {}
    for word, name, share in probabilities(case.model):
        value = value_at(share.numerator, point) / value_at(share.denominator, point)
        if value:
            found.setdefault(name, {})[word] = value
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_random_calls(seed: int) -> None:
    """Adaptive calls of mechanisms of every kind, nested and in branches, against plain enumeration."""
    source = Maker(seed).source()
    rows = rows_of(told(case_of(source)), {"p": P})
    for given in ((0, 1), (2, 2)):
        wanted: dict[tuple[str, ...], Fraction] = {}
        for outputs, share in enumerated(source, given).items():
            name = (shown_output(tuple(map(plain, outputs))),)
            wanted[name] = wanted.get(name, Fraction(0)) + share
        assert rows[f"({given[0]}, {given[1]})"] == wanted, source


@pytest.mark.parametrize("seed", SEEDS[:2])
def test_calls_are_read_twice(seed: int) -> None:
    """The second reader goes through called programs by itself, and finds the same."""
    text = case_of(Maker(seed).source())
    reader = SecondReader(text, None)
    process = read_again(reader.data["mechanism"], reader.calculator({"p": P}, Fraction(1)))
    rows = rows_of(told(text), {"p": P})
    assert process.words((Fraction(0), Fraction(1)), 1) == rows["(0, 1)"]


def test_the_noise_of_each_call_is_fresh() -> None:
    """Two calls with the same arguments are independent: this is what a memory would get wrong."""
    rows = rows_of(told(case_of("output(coin(0))\noutput(coin(0))\n")), {"p": P})
    shares = [rows["(0, 0)"][f"{a}, {b}",] for a, b in product("01", "01")]
    assert shares == [P * P, P * (1 - P), (1 - P) * P, (1 - P) ** 2]


def test_samples_agree() -> None:
    """The sampler runs what is called: 20,000 runs are near the exact probabilities."""
    import numpy as np

    source = Maker(3).source() + "output(told(q))\nr = several(q[0], 2)\noutput(r)\noutput(largest(q))\n"
    case = told(case_of(source))
    rows = rows_of(case, {"p": P})["(0, 1)"]
    drawing = case.mechanism.run_at({"p": P})  # type: ignore[union-attr]
    counts = Counter(drawing(np.random.default_rng(5), (Fraction(0), Fraction(1)), 20_000).tolist())
    assert {(name,) for name in counts} <= rows.keys()
    for (name,), share in rows.items():
        near = 5 * (20_000 * float(share)) ** 0.5 + 5
        assert abs(counts[name] - 20_000 * float(share)) < near, name


WRONG = {
    "near = 1\noutput(near)": "near is a mechanism that the program calls; choose another name",
    "output(near)": "near is a mechanism; call it: near(...)",
    "near(1)\noutput(1)": "a value on its own has no effect",
    "output(coin())": "coin needs 1 argument: coin(x)",
    "output(near(1, 2))": "near takes 1 value, but gets 2",
    "output(largest([[1], 2]))": (
        "a list inside of a list cannot be an argument of largest, which takes numbers and labels"
    ),
    "output(near(7))": "value 1 of the input is 7; the mechanism takes 0..2",
    "output(near(p))": (
        "an expression in parameters cannot be an argument of near, which takes numbers and labels"
    ),
    "output(neer(1))": "unknown function neer; did you mean near?",
    "output(0 < near(1) < 2)": (
        "the middle of a chained comparison must be a name or a number; assign the call to a name first"
    ),
    'output(told(q) == "hihg")': "this is compared with 'hihg', which it never equals",
    'output(several(1, 2) == "yes")': "this is compared with 'yes', which it never equals",
    "output(near(x=1))": "arguments cannot be passed by name here; pass them by position",
}


@pytest.mark.parametrize("source", WRONG)
def test_wrong_calls(source: str) -> None:
    """A mistake in a call has the line of the call and a caret."""
    with pytest.raises(ProgramError) as found:
        told(case_of(source + "\n"))
    assert WRONG[source] in str(found.value)
    assert str(found.value).splitlines()[-1].strip() == "^"
    assert found.value.key == "mechanism.source"


def in_place(table: str, name: str = "other", source: str = "output(other(q[0]))") -> str:
    """A case that calls a mechanism with this table."""
    text = case_of(source + "\n")
    return text.replace("\n[neighbours]", f"\n[mechanism.calls.{name}]\n{table}\n\n[neighbours]")


PROGRAM = 'kind = "program"\ninputs = ["x"]\nsource = """\n{}\n"""'
MISTAKES = {
    "itself": (
        PROGRAM.format("return other(x)"),
        "other calls itself: recursion is not supported; write a loop",
    ),
    "changed": (
        PROGRAM.format("x[0] = 1\nreturn x"),
        "x is an input, which must not change: write b = x + [], and change b; other is called at line 1",
    ),
    "nothing": (PROGRAM.format("if x == 1:\n    return 1"), "a run of other ends without a value"),
    "numeric": (
        PROGRAM.format("return x + geometric(p)"),
        (
            "a mechanism that is called must not output a noisy number; write clamp(value, lo, "
            "hi), or compare it; other is called at line 1"
        ),
    ),
    "density": (
        PROGRAM.format("return x + laplace(2)"),
        (
            "a mechanism that is called must not output a noisy number; write clamp(value, lo, "
            "hi), or compare it; other is called at line 1"
        ),
    ),
    "no inputs": ('kind = "program"\nsource = "return 1"', "the key 'inputs' is missing"),
    "no source": ('kind = "program"\ninputs = ["x"]', "give either source or file"),
    "calls": ('kind = "program"\ninputs = ["x"]\nsource = "return x"\ncalls = {}', "unknown key"),
    "kind": ('kind = "randomised"', "unknown mechanism 'randomised'"),
    "times": (
        'kind = "randomized_response"\ntruth = "p"\ntimes = 2',
        "`times` is not supported for a mechanism that is called",
    ),
    "query": (
        'kind = "randomized_response"\ntruth = "p"\nquery = "x"',
        "remove the expressions over [prior] here",
    ),
    "state": (
        'kind = "above_threshold"\nqueries = 2\nthreshold = 1\n'
        'threshold_noise = { truncated_geometric = "1/2", range = 2 }\n'
        'query_noise = { truncated_geometric = "1/2", range = 2 }',
        "",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_wrong_tables(name: str) -> None:
    """A mistake in what is called has its table, and in a program its line and a caret."""
    table, reason = MISTAKES[name]
    with pytest.raises(InputError) as found:
        told(in_place(table, source="output(other([q[0]]))" if name == "changed" else "output(other(q[0]))"))
    assert reason in str(found.value)
    if isinstance(found.value, ProgramError):
        assert str(found.value).splitlines()[-1].strip() == "^"
    assert ".calls" in found.value.key or name == "state"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("laplace", "a reserved word"),
        ("print", "a built-in function of Python"),
        ("q", "an input"),
        ("p", "a parameter"),
        ("c", "a definition"),
    ],
)
def test_names_that_mean_something_else(name: str, reason: str) -> None:
    """A mechanism has a name of its own."""
    text = in_place('kind = "randomized_response"\ntruth = "p"', name, "output(1)")
    with pytest.raises(InputError, match=reason):
        told(text + '\n[define]\nc = "1/2"\n')


def test_lists_are_given_by_value() -> None:
    """A list that is passed, and one that comes back, may change without changing any other."""
    source = "b = q + []\nr = other(b)\nr[0] = 7\nb[1] = 9\noutput(b)\noutput(r)\noutput(other(q))\n"
    case = told(in_place(PROGRAM.format("return x"), source=source))
    assert rows_of(case, {"p": P})["(0, 1)"] == {("[0, 9], [7, 1], [0, 1]",): 1}


def test_scales_and_definitions() -> None:
    """A parameter may be an argument; a definition may be read by what is called."""
    table = PROGRAM.format("return 1 if flip(x / c) else 0")
    case = told(in_place(table, source="output(other(p))") + '\n[define]\nc = "2"\n')
    assert rows_of(case, {"p": P})["(0, 1)"] == {("1",): P / 2, ("0",): 1 - P / 2}
    assert not any("never calls other" in note or "nothing uses" in note for note in case.model.notes)
    assert "the program never calls near" in case.model.notes


def test_bounded_noise_as_an_argument() -> None:
    """A value that was noisy and has ends is told apart: the call gets each of its values."""
    rows = rows_of(told(case_of("output(near(clamp(q[0] + geometric(p), 0, 2)))\n")), {"p": P})
    share = (1 - P) / (1 + P)
    clamped = [P ** abs(o - 1) * (share if o == 1 else 1 / (1 + P)) for o in range(3)]
    near = KNOWN["near"].outcomes
    assert near
    wanted = sum(chance * dict(near([k]))[2] for k, chance in enumerate(clamped))
    assert rows["(1, 0)"]["2",] == wanted


def test_files_of_called_programs(tmp_path: Path) -> None:
    """The text of what is called may stand in a file, which is part of the case's digest."""
    text = in_place('kind = "program"\ninputs = ["x"]\nfile = "other.py"')
    (tmp_path / "case.toml").write_text(text)
    (tmp_path / "other.py").write_text("return x\n")
    case = load(tmp_path / "case.toml")
    assert rows_of(case, {"p": P})["(2, 0)"] == {("2",): 1}
    (tmp_path / "other.py").write_text("return x + 1\n")
    again = load(tmp_path / "case.toml")
    assert rows_of(again, {"p": P})["(2, 0)"] == {("3",): 1}
    assert again.digest != case.digest
    (tmp_path / "other.py").write_text("return x +\n")
    with pytest.raises(ProgramError, match=r"case.toml.*mechanism.calls.other.file: line 1: syntax error"):
        load(tmp_path / "case.toml")


def test_a_run_tells_what_calls_gave() -> None:
    """The run behind a violation has the outcome of each call."""
    shown = called("verify", str(CASES / "retry-until-yes.toml")).out
    assert 'line 4  if answer(ill) == "yes":  false: answer(ill) is "no"' in shown


@pytest.mark.slow
@pytest.mark.parametrize("length", [2, 3])
def test_sequences_of_runs(length: int) -> None:
    """`length` repeats a program with fresh noise: a sequence has the product of its runs' probabilities."""
    text = case_of("if flip(p):\n    output(q[0])\noutput(near(q[1]))\n")
    single = rows_of(told(text), {"p": P})
    rows = rows_of(told(text.replace('ratio = "2"', f'ratio = "2"\nlength = {length}')), {"p": P})
    for name in ("(0, 1)", "(2, 2)"):
        assert len(rows[name]) == len(single[name]) ** length
        for word, share in rows[name].items():
            wanted = Fraction(1)
            for output in word:
                wanted *= single[name][output,]
            assert share == wanted
