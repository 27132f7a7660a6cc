"""Every command on cases with a delta: it answers, or refuses with the reason; none takes them as pure."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from paramverify.cli._commands import commands
from paramverify.cli.main import cli, run

ROOT = Path(__file__).parents[2]
HOLDS = str(ROOT / "cases" / "approximate" / "shuffled-among-10.toml")
FAILS = str(ROOT / "cases" / "approximate" / "geometric-independent-below.toml")

FEW = ["--runs", "1000", "--select", "500"]
# What is asked, the exit code for a case that holds and one that does not, and what is said.
ASKED: list[tuple[str, list[str], int, int, str]] = [
    ("verify", [], 0, 1, "private: ratio"),
    ("verify", ["--encoding", "monolithic"], 2, 2, "this case has a delta"),
    ("budget", [], 2, 2, "requires a case without delta: use `budget --delta-for"),
    ("budget", ["--delta-for", "ln(3/2)"], 0, 0, "least delta"),
    ("budget", ["--epsilon-for", "1/10"], 0, 0, "least ratio"),
    ("budget", ["--epsilon-for", "0"], 2, 2, "a delta above 0"),
    ("budget", ["--delta-for", "-1"], 2, 2, "epsilon would be negative"),
    ("budget", ["--delta-for", "1", "--epsilon-for", "1/9"], 2, 2, "exclude each other: give one of them"),
    ("synthesize", [], 0, 0, "private: ratio"),
    ("synthesize", ["--witness"], 0, 1, "private: ratio"),
    ("synthesize", ["--witness", "--objective", "ratio"], 2, 2, "--delta-for"),
    ("synthesize", ["--region"], 0, 0, "private"),
    ("synthesize", ["--exact"], 0, 0, "private: ratio"),
    ("certify", ["--at", "t=3/5,p=1/9"], 2, 2, "there is no parameter"),
    ("certify", ["--observations", "1", "--at", "t=1/2"], 2, 2, "give the outputs of a set with --output"),
    ("show", [], 0, 0, "probability"),
    ("show", ["--graph"], 0, 0, "digraph"),
    ("compare", ["--backends", "roots", "-o", "kept"], 0, 0, "sets: "),
    ("compare", ["--encodings", "cone"], 2, 2, "there is nothing to compare"),
    ("export", ["--to", "smtlib2", "--together"], 0, 0, "(check-sat)"),
    ("export", ["--to", "smtlib2", "--encoding", "sums", "--claim", "1"], 0, 0, "(ite (> t!1 0) t!1 0)"),
    ("export", ["--to", "qepcad", "--claim", "1"], 0, 0, "finish"),
    ("export", ["--to", "redlog", "--claim", "1"], 0, 0, "rlqe"),
    ("export", ["--to", "smtlib2", "--encoding", "monolithic"], 2, 2, "this case has a delta"),
    ("sample", [*FEW], 3, 3, "not rejected by the test: ratio"),
    ("sample", ["--runs", "4000", "--delta", "1/1000"], 1, 1, "rejected by the test: ratio"),
    ("sample", [*FEW, "--search"], 2, 2, "use `budget` with --delta-for"),
    ("sample", [*FEW, "--audit", "--direct"], 0, 0, "no difference found"),
    ("compose", ["--delta-for", "1"], 2, 2, "error: "),
    ("report", ["--output", "page.html"], 0, 1, "page.html"),
    ("prove", ["--output", "theorem"], 0, 1, "written: theorem/case.v"),
    ("explain", [], 0, 0, "2 claims about the sum of all outputs, for 2 directions"),
    ("logic", [], 2, 2, "no formulas"),
    ("interactive", [], 2, 2, "not [system]"),
    ("backends", [], 0, 0, "bernstein"),
]
NOT_ABOUT_CASES = {"adopt", "backends", "check", "convert", "new", "cases", "schema"}


@pytest.mark.parametrize(("name", "options", "held", "broken", "words"), ASKED)
def test_commands_answer_or_refuse(
    name: str,
    options: list[str],
    held: int,
    broken: int,
    words: str,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A command either answers with the right code, or says that the case has a delta, with code 2."""
    monkeypatch.chdir(tmp_path)
    for case, code in ((HOLDS, held), (FAILS, broken)):
        given = [] if name == "backends" else [case]
        found = run([name, *given, *options])
        told = capfd.readouterr()
        assert found == code, (case, told)
        assert words in told.out + told.err or (case == FAILS and code != 2), (case, told)
        assert code != 2 or "Traceback" not in told.err


def test_every_command_is_asked() -> None:
    """Whoever adds a command says here what it does with a delta."""
    assert set(commands()) - {entry[0] for entry in ASKED} <= NOT_ABOUT_CASES


def test_given_sets(capfd: pytest.CaptureFixture[str]) -> None:
    """A set of outputs is evaluated in both directions; one that is not too likely is none."""
    assert run(["certify", FAILS, "--at", "p=1/2", "--output", "0"]) == 0
    assert run(["certify", FAILS, "--at", "p=1/1000", "--output", "2", "--output", "1"]) == 1
    assert "S = {1, 2}" in capfd.readouterr().out
    assert run(["certify", FAILS, "--at", "p=1/2", "--output", "0", "--output", "0"]) == 2
    assert run(["certify", FAILS, "--at", "p=1/2", "--output", "7"]) == 2


def test_help_names_the_options() -> None:
    """The options about sets are in the help of their commands."""
    told = CliRunner().invoke(cli, ["budget", "--help"]).output
    assert "--delta-for" in told
    assert "--epsilon-for" in told
    assert "--output" in CliRunner().invoke(cli, ["certify", "--help"]).output
