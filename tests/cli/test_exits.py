"""How the command line ends: its exit codes, and what it prints where it cannot go on."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

import click
import pytest
import warm_processes
from calling_tools import strict_json
from conftest import ROOT

from paramverify.cli import main as main_module
from paramverify.cli._commands import commands
from paramverify.cli._exits import CODES, STATUS_CODES, Exit
from paramverify.cli.main import run
from paramverify.errors import DefectError, DisagreementError

CASE = str(ROOT / "cases" / "blood-test.toml")
CRASHES: list[Callable[[], BaseException]] = [
    lambda: IndexError("tuple index out of range"),
    lambda: RecursionError("maximum recursion depth exceeded"),
    lambda: AssertionError(),
    lambda: DefectError("a box of a finished search is open"),
    lambda: ValueError("first line\nsecond line " + "x" * 10_000),
    lambda: SystemExit(0),
]


def fail(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Lets the command `show` end with an error that nobody foresaw."""

    def load(path: str, **settings: object) -> None:
        raise error

    monkeypatch.setattr("paramverify.privacy.cases.load", load)


def paramverify(
    *arguments: str,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stdout: IO[str] | int = subprocess.PIPE,
    stderr: IO[str] | int = subprocess.PIPE,
) -> subprocess.CompletedProcess[str]:
    """Runs the command line in a process of its own."""
    command = [sys.executable, "-P", "-m", "paramverify", *arguments]
    return subprocess.run(
        command, stdout=stdout, stderr=stderr, cwd=cwd, env={**os.environ, **(env or {})}, text=True
    )


def forked(
    *arguments: str, env: Mapping[str, str] | None = None, cwd: Path = ROOT
) -> subprocess.CompletedProcess[str]:
    """The same where nothing depends on how Python starts."""
    return warm_processes.run(["-m", "paramverify", *arguments], cwd, {**os.environ, **(env or {})})


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A small case whose outputs are no ASCII."""
    text = (ROOT / "cases" / "above-threshold.toml").read_text(encoding="utf-8")
    for shipped, small in (('"1..5"', "2"), ('"4*ln(2)"', '"ln(2)"')):
        assert shipped in text
        text = text.replace(shipped, small)
    path = tmp_path_factory.mktemp("wide") / "case.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def wide_document(wide: str) -> Any:
    """What `show --json` says of it where UTF-8 is spoken."""
    ended = paramverify("show", wide, "--json")
    assert "⊥" in ended.stdout
    return strict_json(ended.stdout)


@pytest.mark.parametrize("crash", CRASHES)
def test_an_unexpected_error_is_no_verdict(
    crash: Callable[[], BaseException], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It ends with 70 and one line that names the error and says whose defect it is."""
    error = crash()
    fail(monkeypatch, error)
    assert run(["show", CASE]) == Exit.DEFECT == 70
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert len(err) < 1000
    assert err.startswith(f"internal error: {type(error).__name__}")
    assert "a defect of paramverify, not of the input; please report it" in err


@pytest.mark.parametrize("arguments", [["--debug", "show", CASE], ["show", CASE, "--debug"]])
def test_debug_shows_the_traceback(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--debug` before the command or after it shows where an error came from."""
    fail(monkeypatch, IndexError("tuple index out of range"))
    assert run(arguments) == 70
    err = capsys.readouterr().err
    assert err.startswith("Traceback (most recent call last):")
    assert "test_exits.py" in err
    assert err.splitlines()[-1].startswith("internal error: IndexError: tuple index out of range")


def test_an_unexpected_error_as_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With `--json` an error is one object too."""
    fail(monkeypatch, KeyError("p"))
    assert run(["show", CASE, "--json"]) == 70
    document = strict_json(capsys.readouterr().out)
    assert (document["status"], document["error"]) == ("error", "KeyError")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (MemoryError(), 3),
        (KeyboardInterrupt(), 130),
        (click.UsageError("no"), 2),
        (OSError(28, "No space left on device"), 74),
        (OSError(28, "No space left on device", "evidence.json"), 74),
        (PermissionError(13, "Permission denied", "evidence.json"), 2),
        (DisagreementError("c", (("a", "holds", ""), ("b", "violated", ""))), 3),
    ],
)
def test_codes_of_errors(
    error: BaseException, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each kind of error has its code, and something is said."""
    fail(monkeypatch, error)
    assert run(["show", CASE]) == code
    assert capsys.readouterr().err


def test_codes_are_documented() -> None:
    """Every code stands in the help and on one page; the README has those of verdicts and leads to it."""
    text = (ROOT / "docs/exit-codes.md").read_text()
    assert all(f"{code.value} " in text for code in Exit)
    readme = (ROOT / "README.md").read_text()
    assert all(f"{code.value} for " in readme for code in (*STATUS_CODES.values(), Exit.INPUT))
    assert "docs/exit-codes.md" in readme
    assert all(f"{code.value} " in CODES for code in Exit)


def test_every_command_has_the_shared_options(capsys: pytest.CaptureFixture[str]) -> None:
    """Options that all commands have are in the help of each."""
    for name in commands():
        assert run([name, "--help"]) == 0
        out = capsys.readouterr().out
        assert all(option in out for option in ("--debug", "--config FILE", "--json", "--timeout"))


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["verify", CASE, "--json"], ["--help"]])
def test_a_full_device(arguments: list[str]) -> None:
    """What cannot be written is one clear line and a code of its own, also where it shows at the end only."""
    with Path("/dev/full").open("w") as full:
        ended = paramverify(*arguments, stdout=full)
    assert (ended.returncode, ended.stderr) == (74, "error: output: No space left on device\n")
    with Path("/dev/full").open("w") as full:
        assert paramverify(*arguments, stdout=full, stderr=full).returncode == 74


WRITING = [
    ["verify", CASE, "--evidence"],
    ["budget", CASE, "--evidence"],
    ["logic", str(ROOT / "cases" / "logic" / "survey.toml"), "--evidence"],
    ["logic", str(ROOT / "cases" / "logic" / "survey.toml"), "--curve", "--plot"],
    ["interactive", str(ROOT / "cases" / "interactive" / "survey.toml"), "--evidence"],
    ["interactive", str(ROOT / "cases" / "interactive" / "survey.toml"), "--dot"],
    ["sample", CASE, "--plot"],
    *(["synthesize", CASE, "--region", option] for option in ("--state", "--plot", "--evidence")),
]


@pytest.mark.parametrize("command", WRITING, ids=lambda command: f"{command[0]} {command[-1]}")
def test_a_file_that_cannot_be_written_is_refused_at_once(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pipe that nobody reads, a folder, and a file in no folder are refused before any work is done."""
    os.mkfifo(tmp_path / "pipe.svg")
    (tmp_path / "folder.svg").mkdir()
    for name in ("pipe.svg", "folder.svg", "nowhere/file.svg"):
        assert run([*command, str(tmp_path / name)]) == Exit.INPUT
        out, err = capsys.readouterr()
        assert out == ""
        assert name.split("/")[0] in err


def test_evidence_through_an_open_pipe() -> None:
    """A pipe that is open already has a reader: it takes evidence."""
    ended = paramverify("verify", CASE, "--evidence", "/dev/stdout")
    assert ended.returncode == 1
    assert '"format": "paramverify-evidence"' in ended.stdout


@pytest.mark.parametrize("arguments", [["show", CASE], ["--help"]])
def test_ctrl_c_before_the_work_begins(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C outside of the command itself ends with 130 and one word too, and no traceback."""

    def interrupted(*given: object) -> int:
        raise KeyboardInterrupt

    for name in ("supervise", "run"):
        monkeypatch.setattr(main_module, name, interrupted)
    monkeypatch.setattr(sys, "argv", ["paramverify", *arguments])
    with pytest.raises(SystemExit) as ended:
        main_module.main()
    assert ended.value.code == Exit.INTERRUPTED
    assert capsys.readouterr() == ("", "interrupted\n")


def test_evidence_on_a_full_device() -> None:
    """A file that cannot be written is named."""
    ended = paramverify("verify", CASE, "--evidence", "/dev/full")
    assert (ended.returncode, ended.stderr) == (74, "error: /dev/full: No space left on device\n")


def test_a_reader_that_goes_away(wide: str) -> None:
    """`paramverify show ... | head -1` says nothing about the closed pipe."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as pipe:
        ended = paramverify("show", wide, stdout=pipe)
    assert ended.returncode == 74
    assert "Error" not in ended.stderr
    assert "rror:" not in ended.stderr


@pytest.mark.parametrize("closed", [1, 2])
def test_closed_streams(closed: int) -> None:
    """Closed standard streams change no exit code."""
    command = f"exec {sys.executable} -m paramverify verify {CASE} {closed}>&-"
    assert subprocess.run(["sh", "-c", command], capture_output=True).returncode == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "environment",
    [
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "latin-1"},
    ],
)
def test_terminals_without_unicode(
    environment: dict[str, str], wide: str, wide_document: Any, tmp_path: Path
) -> None:
    """Where UTF-8 is not spoken, words are escaped, JSON stays JSON, and files are UTF-8 all the same."""
    words = paramverify("show", wide, env=environment)
    assert words.returncode == 0
    assert strict_json(paramverify("show", wide, "--json", env=environment).stdout) == wide_document
    evidence = tmp_path / "evidence.json"
    assert paramverify("verify", wide, "--evidence", str(evidence), env=environment).returncode == 1
    assert "⊥" in evidence.read_text(encoding="utf-8")


def test_a_home_is_not_needed(tmp_path: Path) -> None:
    """A user without a home folder, as in containers, is served too."""
    environment = {"HOME": "", "XDG_CACHE_HOME": "", "XDG_CONFIG_HOME": "", "PARAMVERIFY_HISTORY": ""}
    ended = paramverify("verify", CASE, env=environment, cwd=tmp_path)
    assert ended.returncode == 1
    assert not list(tmp_path.iterdir())


# --- code from the working folder --------------------------------------------------------------------


def evil(folder: Path) -> Path:
    """Returns a configuration whose solver leaves a mark, laid where a command might look for one."""
    program = folder / "program"
    program.write_text(f"#!/bin/sh\ntouch {folder}/ran\necho unsat\n")
    program.chmod(0o700)
    text = f'[solvers.evil]\ncommand = ["{program}"]\nversion = "1"\n'
    for path in (
        "paramverify.toml",
        "config.toml",
        "paramverify/config.toml",
        ".config/paramverify/config.toml",
    ):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder / "paramverify.toml"


@pytest.mark.slow
@pytest.mark.parametrize(
    "relative",
    [{"XDG_CONFIG_HOME": ".config"}, {"HOME": "."}],
)
def test_nothing_of_the_working_folder_is_run(tmp_path: Path, relative: dict[str, str]) -> None:
    """No command takes solvers from a file that lies where it is called."""
    evil(tmp_path)
    ended = forked("backends", cwd=tmp_path, env=relative)
    assert ended.returncode == 0
    assert "evil" not in ended.stdout + ended.stderr
    ended = forked("verify", CASE, "--backends", "evil", cwd=tmp_path, env=relative)
    assert ended.returncode == 2
    assert "unknown backend 'evil'" in ended.stderr
    assert not (tmp_path / "ran").exists()


@pytest.mark.slow
@pytest.mark.parametrize("before", [True, False])
def test_a_configuration_that_is_named(tmp_path: Path, before: bool) -> None:
    """`--config FILE` makes its solvers known for that call, before the command or after it."""
    config = ["--config", evil(tmp_path).name]
    hard = 'p = "(0, 1)"\nq = "(0, 1)"\n[claim]\nholds = "p**4 + q**4 + 1/10 >= p*q/3"\n'
    (tmp_path / "case.toml").write_text(f"[parameters]\n{hard}")
    command = ["verify", "case.toml", "--backends", "evil", "--timeout", "20"]
    ended = forked(*([*config, *command] if before else [*command, *config]), cwd=tmp_path)
    assert ended.returncode == 0
    assert (tmp_path / "ran").exists()
    assert run(["backends", *config[:1], str(tmp_path / config[1])]) == 0
    assert "PARAMVERIFY_CONFIG" not in os.environ
    assert forked("backends", "--config", "nowhere.toml").returncode == 2


def test_a_program_beside_its_configuration(tmp_path: Path) -> None:
    """A program with a folder in its name is looked for from the configuration, wherever the user is."""
    evil(tmp_path)
    config = tmp_path / "relative.toml"
    config.write_text('[solvers.mine]\ncommand = ["./program"]\nversion = "1"\n')
    (tmp_path / "elsewhere").mkdir()
    ended = forked("backends", "--config", str(config), cwd=tmp_path / "elsewhere")
    assert [line.split()[1] for line in ended.stdout.splitlines() if line.startswith("mine")] == ["1"]


@pytest.mark.parametrize(
    "name", ["os:system", "json:loads", ":", "z3:", "..:x", "paramverify.backends:Backend"]
)
def test_what_is_no_backend(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Objects that are no backends are refused as such, before anything is decided."""
    assert run(["verify", CASE, "--backends", name]) == 2
    assert "backend" in capsys.readouterr().err
