"""What is said of streams where a command does not decide them, and why an example is missing."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest
from conftest import ROOT
from test_json_formats import mistakes

from paramverify.automata.automaton import Automaton, read_automaton
from paramverify.automata.stream_cases import StreamBudget
from paramverify.automata.stream_verdicts import ANY, Entries, Looked, candidates, first_example, verify
from paramverify.cli.main import run
from paramverify.portfolio.session import Options
from paramverify.reports.stream_reports import no_example

CASES = ROOT / "cases" / "automata"
CASE = """
[parameters]
eps = "(0, oo)"
c = 2
[mechanism]
kind = "program"
source = '''
t = laplace(2 / eps)
for x in stream(values="real"):
    if x + laplace(4 / eps) >= t:
        output("above")
        stop
    output("below")
'''
[neighbours]
differ = "each"
by = 2
[privacy]
epsilon = "c*eps"
length = "all"
"""


@pytest.fixture
def paths(tmp_path: Path) -> dict[str, str]:
    """A case with a program, one with an automaton, and the automaton itself."""
    path = tmp_path / "case.toml"
    path.write_text(CASE)
    own = {
        kind: str(CASES / f"sparse-vector.{end}") for kind, end in (("automaton", "toml"), ("file", "dipa"))
    }
    return {"program": str(path), **own}


def said(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """The exit code of a command, and what it prints on both streams."""
    code = run(arguments)
    found = capsys.readouterr()
    return code, found.out, found.err


@pytest.mark.parametrize("kind", ["program", "automaton", "file"])
def test_show(kind: str, paths: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """`show` says how large the automaton is and how to see it, and that works."""
    code, out, _ = said(["show", paths[kind]], capsys)
    assert code == 0
    assert re.search(r"\d+ states?, \d+ variables?, \d+ transitions?; `--graph` ", out)
    assert run(["verify", paths[kind]]) == 0
    code, out, _ = said(["show", paths[kind], "--graph"], capsys)
    assert (code, "digraph" in out) == (0, True)


@pytest.mark.slow
@pytest.mark.parametrize("command", [["verify"], ["show", "--graph"]])
def test_settings(command: list[str], paths: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """`-D` is refused for each file, with what to do instead; what is proposed is what it meant."""
    wanted = {
        ("program", "eps=1"): "the verdict is for every eps > 0: leave -D out",
        ("program", "c=1"): 'a case about streams takes no -D: write c = "1" into its [parameters]',
        ("program", "f=1"): "'f' is neither a definition nor a parameter of the file",
        ("automaton", "eps=1"): "the verdict is for every eps > 0: leave -D out",
        ("file", "eps=1"): "is an automaton: leave -D out, its verdict is for every epsilon",
    }
    for (kind, given), words in wanted.items():
        code, out, err = said([*command, paths[kind], "-D", given], capsys)
        assert (code, out, words in err) == (2, "", True), err
    path = Path(paths["program"])
    path.write_text(path.read_text().replace("\nc = 2\n", '\nc = "1"\n'))
    assert run(["verify", str(path)]) == 1


def test_other_commands(paths: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """A command that does not decide streams says one thing only: which command does."""
    for kind in ("program", "automaton"):
        for command in ("sample", "synthesize", "certify"):
            code, out, err = said([command, paths[kind]], capsys)
            assert (code, out) == (2, "")
            assert err.count("error:") == 1, err
            assert re.search("`paramverify verify` (decides it|to decide it)", err)
        for command in ("logic", "interactive"):
            code, out, err = said([command, paths[kind]], capsys)
            assert (code, out, err.count("error:"), "use `paramverify verify`" in err) == (2, "", 1, True)


@pytest.mark.parametrize("name", ["unwinding-2-1", "slots-0"])
def test_systems_have_a_second_reader(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`check` says that an interactive system was read a second time."""
    path, case = str(tmp_path / "e.json"), str(ROOT / "cases" / "interactive" / f"{name}.toml")
    run(["interactive", case, "--evidence", path])
    capsys.readouterr()
    _, out, _ = said(["check", path, "--case", case], capsys)
    assert re.search(
        r"^read a second time: \d+ states with their steps and the bound agree", out, re.MULTILINE
    )


# --- why there is no example --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sparse() -> Automaton:
    """An automaton that needs epsilon."""
    return read_automaton(CASES / "sparse-vector.dipa")


def looked(automaton: Automaton, below: Fraction, budget: int, entries: Entries, seconds: float) -> Looked:
    """What is found on the ways that cost more than `below`."""
    ways = list(candidates(verify(automaton), below))
    assert ways
    return first_example(automaton, ways, StreamBudget(Fraction(budget)), Options(seconds=seconds), entries)


@pytest.mark.slow
def test_nothing_left(sparse: Automaton) -> None:
    """All pairs of streams were evaluated and are within the budget: then no time is blamed."""
    found = looked(sparse, Fraction(0), 5, ANY, 60)
    assert (found.example, found.complete, found.undecided) == (None, True, 0)
    assert found.pairs >= found.ways > 0
    assert f"({found.pairs} pair" in no_example(found)
    assert "and nothing is left to try" in no_example(found)
    assert "time" not in no_example(found)


def test_no_time(sparse: Automaton) -> None:
    """Without time nothing is evaluated, and the time is blamed."""
    found = looked(sparse, Fraction(0), 5, ANY, 0.05)
    assert (found.example, found.complete, found.pairs) == (None, False, 0)
    assert no_example(found) == no_example(None) == "no example was found before the time limit"


def test_no_streams(sparse: Automaton) -> None:
    """Where no streams have the values of an entry, this is the reason."""
    found = looked(sparse, Fraction(0), 0, Entries((Fraction(7),), Fraction(0)), 60)
    assert (found.example, found.complete, found.pairs) == (None, True, 0)
    assert found.ways > 0
    assert "have other values" in no_example(found)


def test_long_ways(capsys: pytest.CaptureFixture[str]) -> None:
    """Ways that cost so much are too long to be evaluated, and text and JSON say so."""
    code, out, _ = said(["verify", str(CASES / "every-number.dipa"), "--budgets", "100"], capsys)
    reason = "o example was searched for, because the paths that cost so much have more than 40 steps"
    assert (code, f"N{reason}." in out, "A path that costs more is known." in out) == (1, True, True)
    code, out, _ = said(["verify", str(CASES / "every-number.dipa"), "--budgets", "100", "--json"], capsys)
    (found,) = json.loads(out)["budgets"]
    assert found["reason"] == f"n{reason}"
    assert list(mistakes(found, "enough", "budgets")) == []


def test_long_ways_of_a_case(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same of a case with a budget."""
    path = tmp_path / "case.toml"
    text = (CASES / "stream-sparse-vector-never-stops.toml").read_text()
    path.write_text(text.replace('epsilon = "eps"', 'epsilon = "999*eps"'))
    code, out, _ = said(["verify", str(path)], capsys)
    assert (code, "have more than 40 steps." in out) == (1, True)
    code, out, _ = said(["verify", str(path), "--json"], capsys)
    assert "more than 40 steps" in json.loads(out)["reason"]
    assert list(mistakes(json.loads(out), "verify of a stream", "case")) == []
