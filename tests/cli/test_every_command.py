"""Every option of a command on a case of each kind: no crash, a documented exit code, and valid JSON.

What commands say of each shipped case is looked at in tests/test_shipped_cases.py.
"""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from calling_tools import called, strict_json
from conftest import ROOT
from kept_cases import keep
from quick import shipped

from paramverify.reports.pictures import plot_style

KINDS = (
    "noisy-max-contagious",
    "above-threshold-prior",
    "design-randomized-response",
    "geometric-metric",
    "discrete-laplace",
    "survey-memory-all",
    "retransmission-bound",
    "blood-test",
    "geometric-independent-below",
    "coarse-noise",
    "programs/family",
    "programs/noisy-max-gauss",
    "approximate/family-delta",
    "divergences/geometric-renyi-below",
    "automata/stream-sparse-vector-one",
)
CASES = [ROOT / "cases" / f"{name}.toml" for name in KINDS]
CHAINS = [ROOT / "cases" / "logic" / f"{name}.toml" for name in ("survey-coin", "above-threshold-one-pair")]
SYSTEMS = [
    ROOT / "cases" / "interactive" / f"{name}.toml" for name in ("slots-1-bad-noise", "slots-2-symbolic")
]
SHORT = ("--timeout", "0.5")

# In one process the time limit is a signal, which may come while Python calls a finalizer.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

# Each case takes the next row of each command: every row meets a case, and every command a case of each kind.
ROWS: dict[str, list[list[str]]] = {
    "verify": [
        ["--json", "--strategy", "solvers"],
        ["--backends", "z3"],
        ["--json", "--confirm", "2"],
        ["--strategy", "built-in,z3:0.3; bernstein:0.3/2"],
        ["--json", "--backends", "bernstein,roots,qepcad"],
        ["--confirm", "1"],
        ["--json", "--backends", "yices,cvc5", "--confirm", "2"],
    ],
    "budget": [[], ["--json"], ["--precision", "1/1000"], ["--json", "--precision", "0.1"]],
    "synthesize": [
        [],
        ["--json"],
        ["--witness"],
        ["--witness", "--json"],
        ["--region", "--coverage", "0.3", "--plot", "map.svg"],
        ["--region", "--json", "--coverage", "0.2", "--evidence", "map.json"],
        ["--exact", "--json"],
        ["--exact", "--plot", "parts.svg"],
        ["--objective", "ratio", "--precision", "0.1"],
        ["--objective", "simplest", "--json", "--evidence", "witness.json"],
        ["--near", "p=1/2", "--json"],
        ["--region", "--state", "cells.jsonl", "--coverage", "0.5"],
        ["--region", "--parameters", "p", "--json"],
        ["--plot", "map.png"],
    ],
    "show": [[], ["--json"], ["--latex"], ["--graph"], ["--graph", "--json"], ["--latex", "--json"]],
    "export": [
        ["--to", "smtlib2", "--together"],
        ["--to", "qepcad", "--claim", "1", "--json"],
        ["--to", "redlog", "-o", "files", "--json"],
        ["--to", "smtlib2", "-o", "files"],
        ["--to", "qepcad", "--free", "p", "--claim", "1"],
        ["--to", "redlog", "--together", "--json"],
        ["--to", "smtlib2", "--claim", "2"],
    ],
    "sample": [
        ["--runs", "200"],
        ["--runs", "200", "--json", "--certify"],
        ["--runs", "200", "--direct"],
        ["--runs", "200", "--search", "--json"],
        ["--runs", "200", "--search", "--bisection", "--precision", "1/10", "--classifier", "perceptron"],
        ["--runs", "200", "--audit", "--direct", "--json"],
        ["--runs", "200", "--plot", "curves.svg", "--epsilon", "0.5,1", "--at", "p=1/2"],
        ["--runs", "200", "--certify", "--length", "2", "--pairs", "2"],
    ],
}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    keep(monkeypatch, ("verify", "budget", "synthesize", "show", "export", "certify"))


@pytest.mark.parametrize("path", shipped(CASES), scope="module")
@pytest.mark.parametrize("command", ROWS)
def test_commands(command: str, path: Path) -> None:
    """A command ends as the documentation says, with a terminal and without."""
    rows, number = ROWS[command], CASES.index(path)
    called(command, str(path), *SHORT, *rows[number % len(rows)], terminal=number % 2 == 0)


def test_every_row_meets_a_case() -> None:
    """No option is left out: there are as many cases as rows, at least."""
    assert all(len(rows) <= len(CASES) for rows in ROWS.values())


@pytest.mark.parametrize("path", shipped(CASES), scope="module")
def test_certify(path: Path) -> None:
    """`certify` evaluates an output that `show` lists, in words and as JSON; other words are refused."""
    case = str(path)
    shown = called("show", case, "--json", *SHORT)
    rows = strict_json(shown.out).get("probabilities") if shown.out else None
    for row in (rows or [{"observations": ["x"], "secret": "a"}])[:1]:
        word = ",".join(row["observations"])
        names = list(dict.fromkeys(r["secret"] for r in rows or [row, {"secret": "b"}]))[:2]
        called("certify", case, "--observations", word, "--secrets", *(names * 2)[:2])
        called("certify", case, "--observations", word, "--json", "--at", "p=1/2")
        called("certify", case, "--observations", "no such output", "--json")


@pytest.mark.slow
@pytest.mark.parametrize("path", CHAINS, ids=lambda path: path.stem)
def test_logic(path: Path) -> None:
    """`logic` with all of its questions, on its own formulas and on others."""
    case = str(path)
    for number, row in enumerate(
        [
            [],
            ["--json", "--evidence", "e.json"],
            ["--delta-for", "ln(2)", "--json"],
            ["--epsilon-for", "0"],
            ["--curve", "--plot", "curve.svg", "--json"],
            ["--method", "sufficient"],
            ["--method", "exact", "--json", "--backends", "z3"],
            ["-p", "P>=1/2 [ F true ]", "--neighbours", "true = true", "--json"],
        ]
    ):
        called("logic", case, *SHORT, *row, terminal=number % 2 == 0)
    if Path("e.json").exists():
        called("check", "e.json", "--json")


@pytest.mark.parametrize("path", SYSTEMS, ids=lambda path: path.stem)
def test_interactive(path: Path) -> None:
    """`interactive` on a terminal, and with a picture instead of an answer."""
    called("interactive", str(path), *SHORT, terminal=True)
    called("interactive", str(path), *SHORT, "--dot", "system.dot", "--json")
    assert Path("system.dot").read_text(encoding="utf-8").startswith("digraph")


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", [*CHAINS[:1], *SYSTEMS[:1], ROOT / "cases" / "random-walk.rat", ROOT / "backends"]
)
@pytest.mark.parametrize("command", [*ROWS, "certify", "logic", "interactive", "compare", "check"])
def test_files_of_another_kind(command: str, path: Path) -> None:
    """A command that gets the file of another one says so and ends as bad input, unless it can use it."""
    more = {
        "certify": ["--observations", "x"],
        "export": ["--to", "qepcad"],
        "check": ["--case", str(CASES[0])],
    }
    few = ["--backends", "roots", "--timeout", "0.2"] if command == "compare" else []
    if command != "compare" or path.suffix:
        called(command, str(path), *more.get(command, []), *few, "--json")


@pytest.mark.slow
def test_compare_and_backends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A comparison runs, goes on from its results, and tells both in words and as JSON."""
    monkeypatch.setattr(plot_style, "available", lambda: False)  # tests/compare draws
    cases = [str(ROOT / "cases" / name) for name in ("blood-test.toml", "geometric-independent.toml")]
    for more in ([], ["--json"], ["--repeat", "2", "--encodings", "sequences,cone"]):
        called("compare", *cases, "--backends", "bernstein,roots", "--timeout", "1", *more)
    for more in ([], ["--json"]):
        called("backends", *more, terminal=not more)


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["verify", "--json"], ["backends"]])
def test_on_a_real_terminal(arguments: list[str]) -> None:
    """With all streams on a pseudo-terminal a command ends as elsewhere."""
    case = [] if arguments == ["backends"] else [str(ROOT / "cases" / "design-noisy-max.toml")]
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "paramverify", *arguments, *case, "--timeout", "3"]
    with subprocess.Popen(
        command, stdin=slave, stdout=slave, stderr=slave, env={**os.environ, "COLUMNS": "20"}
    ) as it:
        os.close(slave)
        said = b""
        while True:
            try:
                part = os.read(master, 1 << 16)
            except OSError:  # the other end is closed
                break
            said += part
            if not part:
                break
    os.close(master)
    assert it.returncode in (0, 1, 3)
    assert b"Traceback" not in said
    assert said
