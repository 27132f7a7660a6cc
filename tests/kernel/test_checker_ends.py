"""How the stand-alone checker ends: 1 is a rejection, and nothing else ends with it; and it ends in time."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from paramverify.cli.main import run
from paramverify.kernel import __main__ as program
from paramverify.kernel.documents import check_text
from paramverify.kernel.strict_reading import MAX_DIGITS, Misformed, by_type, check, listed, read, record

LIMIT = 60  # seconds in which every run has to end
COMMAND = [sys.executable, "-S", "-m", "kernel"]  # as with a copy of the folder alone


def checked(path: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Runs the checker on a file; the output is read unless the options say where it goes."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    folder = ROOT / "paramverify"
    return subprocess.run([*COMMAND, str(path)], cwd=folder, text=True, check=False, timeout=LIMIT, **streams)


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Evidence that is accepted."""
    path = tmp_path_factory.mktemp("evidence") / "evidence.json"
    assert run(["verify", str(ROOT / "cases/geometric-neighbours.toml"), "--evidence", str(path)]) == 0
    return path


@pytest.fixture(scope="module")
def composition(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Evidence about a composition of all kinds of noise that have parameters."""
    path = tmp_path_factory.mktemp("composition") / "evidence.json"
    asked = ["discrete_gaussian:sigma=3,times=2", "--delta-for", "1", "--evidence", str(path)]
    assert run(["compose", *asked]) == 0
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize(
    ("document", "stream"),
    [
        ("accepted", "stdout"),
        pytest.param("accepted", "stderr", marks=pytest.mark.slow),
        pytest.param("rejected", "both", marks=pytest.mark.slow),
        pytest.param("no JSON", "stdout", marks=pytest.mark.slow),
        ("no JSON", "stderr"),
    ],
)
def test_a_full_disk_is_no_rejection(document: str, stream: str, evidence: Path, tmp_path: Path) -> None:
    """Only where a stream that is needed cannot be written is the code another one, and then it says so."""
    path = tmp_path / "evidence.json"
    text = evidence.read_text(encoding="utf-8")
    other = text.replace('"status": "holds"', '"status": "violated"')
    path.write_text({"accepted": text, "rejected": other, "no JSON": "{"}[document], encoding="utf-8")
    alone = checked(path).returncode
    assert alone == {"accepted": 0, "rejected": 1, "no JSON": 2}[document]
    with open("/dev/full", "w", encoding="utf-8") as full:
        names = ("stdout", "stderr") if stream == "both" else (stream,)
        done = checked(path, **dict.fromkeys(names, full))
    written_to = "stderr" if document == "no JSON" else "stdout"
    assert done.returncode == (program.NOT_WRITTEN if written_to in names else alone)
    if stream == "stdout" and document != "no JSON":
        assert done.stderr == "error: output: No space left on device\n"


def test_a_closed_pipe_is_no_rejection(evidence: Path) -> None:
    """A reader that goes away, such as `head`, is none."""
    ends = os.pipe()
    os.close(ends[0])
    with os.fdopen(ends[1], "w") as closed:
        assert checked(evidence, stdout=closed).returncode == program.NOT_WRITTEN


@pytest.mark.slow
@pytest.mark.parametrize("size", [60_000_000, 120_000_000])
def test_no_memory_is_no_rejection(size: int, tmp_path: Path) -> None:
    """A document for which there is no memory is not decided."""
    path = tmp_path / "evidence.json"
    path.write_text(
        '{"format": "paramverify-evidence", "a": [' + "[0]," * 10_000_000 + "0]}", encoding="utf-8"
    )
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size))  # noqa: E731
    done = checked(path, preexec_fn=limit)
    assert done.returncode == program.NO_MEMORY, done.stderr
    assert "not enough memory" in done.stderr


WORDS = {program.NO_MEMORY: "not enough memory", program.INTERRUPTED: "interrupted"}


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (MemoryError(), program.NO_MEMORY),
        (RecursionError(), program.NO_MEMORY),
        (KeyboardInterrupt(), program.INTERRUPTED),
        (OSError(28, "full"), program.NOT_WRITTEN),
        (BrokenPipeError(32, "Broken pipe"), program.NOT_WRITTEN),
        *((kind("x"), program.DEFECT) for kind in (ValueError, KeyError, AssertionError, ZeroDivisionError)),
    ],
)
def test_no_exception_is_a_rejection(
    error: BaseException,
    code: int,
    evidence: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Whatever a check raises, the code is neither that of a rejection nor that of an acceptance."""

    def fails(text: str) -> None:
        raise error

    monkeypatch.setattr("paramverify.kernel.documents.check_text", fails)
    assert program.run([str(evidence)]) == code
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert (WORDS.get(code) or error.args[-1]) in err
    assert code not in (0, 1)
    assert str(code) in program.USAGE


def test_what_is_printed(evidence: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Lines and code for what is accepted, rejected, no evidence, no file, and asked in another way."""
    text, path = evidence.read_text(encoding="utf-8"), tmp_path / "-é.json"

    def run_on(*arguments: object) -> tuple[int, str, str]:
        code = program.run([str(argument) for argument in arguments])
        return (code, *capsys.readouterr())

    code, out, err = run_on(evidence)
    assert (code, out.splitlines()[-1][:7], err) == (0, "checked", "")
    path.write_text("\ufeff" + text, encoding="utf-8")
    assert run_on(path) == (0, out, "")
    path.write_text(text.replace('"status": "holds"', '"status": "violated"'), encoding="utf-8")
    code, out, err = run_on(path)
    assert (code, out.splitlines()[-1][:9], err) == (1, "REJECTED:", "")
    for asked in ((), (path, path), ("--case",), ("--help", path)):
        assert run_on(*asked) == (2, "", f"{program.USAGE}\n")
    for asked in (("--help",), ("-h",)):
        assert run_on(*asked) == (0, f"{program.USAGE}\n", "")
    path.write_text("[]", encoding="utf-8")
    assert run_on(path)[::2] == (
        2,
        f"error: {path}: this is not evidence: it must be an object, not a list\n",
    )
    told = f"error: {tmp_path} is a folder: name the file that contains the evidence\n"
    assert run_on(tmp_path) == (2, "", told)
    assert run_on(tmp_path / "none") == (2, "", f"error: there is no file {tmp_path / 'none'}\n")
    path.write_bytes(b"\xff")
    assert run_on(path)[2].startswith(f"error: {path}: 'utf-8' codec can't decode")


def test_streams_that_cannot_be_written(evidence: Path, tmp_path: Path) -> None:
    """A closed or a full one, or none at all; and characters that the stream has not are written out."""
    with open("/dev/full", "w") as full, redirect_stdout(full):
        assert program.run([str(evidence)]) == program.NOT_WRITTEN
        full.write("x")  # it goes nowhere now, so that Python ends as it should
    with open("/dev/full", "w") as full, redirect_stdout(None), redirect_stderr(full):
        assert program.run([str(tmp_path / "none")]) == program.NOT_WRITTEN
    with redirect_stdout(None), redirect_stderr(None):
        assert program.run([str(evidence)]) == 0
    with TextIOWrapper(BytesIO(), encoding="ascii") as ascii_only, redirect_stderr(ascii_only):
        assert program.run([str(tmp_path / "é")]) == 2
        ascii_only.seek(0)
        assert ascii_only.read() == f"error: there is no file {tmp_path}/\\xe9\n"


def test_the_modules_of_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy that is run as a file takes the modules beside it, whose folder is not looked in for others."""
    folder = tmp_path / "kernel"
    shutil.copytree(Path(program.__file__).parent, folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(program, "__package__", "")
    monkeypatch.setattr(program, "__file__", str(folder / "__main__.py"))
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(folder), ""])
    monkeypatch.chdir(folder)
    before = set(sys.modules)
    try:
        assert program._documents().__file__ == str(folder / "documents.py")
        assert sys.path == [str(tmp_path)]
    finally:
        for name in set(sys.modules) - before:
            del sys.modules[name]
    monkeypatch.setattr(sys, "path", ["", str(folder)])
    monkeypatch.chdir(tmp_path)
    try:
        program._documents()
        assert sys.path == [""]
    finally:
        for name in set(sys.modules) - before:
            del sys.modules[name]


@pytest.mark.slow
def test_a_doubled_key_is_found_at_once(tmp_path: Path) -> None:
    """Among 100,000 keys, wherever it is; and in each of many objects."""
    keys = [f'"k{n}": 0' for n in range(100_000)]
    for text in (
        "{" + ", ".join([*keys, '"k99999": 1']) + "}",
        "{" + ", ".join(['"k0": 1', *keys]) + "}",
        "[" + ", ".join(['{"a": 0, "a": 1}'] * 30_000) + "]",
    ):
        with pytest.raises(Misformed, match=r"one with the key .* twice"):
            check(read(text), by_type({list: listed(record({})), dict: record({})}))


def _set(value: Any, key: str, new: Any) -> bool:
    """Sets a key wherever it is in data; returns whether it is somewhere."""
    if isinstance(value, list):
        return bool(sum(_set(entry, key, new) for entry in value))
    if not isinstance(value, dict):
        return False
    found = [_set(entry, key, new) for entry in value.values()]
    if key in value:
        value[key] = new
    return key in value or any(found)


RELEASES: dict[str, Callable[[str], dict[str, Any]]] = {
    "sigma of gaussian": lambda n: {"kind": "gaussian", "sigma": n, "sensitivity": "1"},
    "sensitivity of gaussian": lambda n: {"kind": "gaussian", "sigma": "1", "sensitivity": n},
    "sigma of discrete_gaussian": lambda n: {"kind": "discrete_gaussian", "sigma": n, "sensitivity": "1"},
    "scale of laplace": lambda n: {"kind": "laplace", "scale": n, "sensitivity": "1"},
    "step of discrete_laplace": lambda n: {"kind": "discrete_laplace", "step": [n, "1"], "sensitivity": "1"},
    "values of randomized_response": lambda n: {
        "kind": "randomized_response",
        "step": ["1", "1"],
        "values": n,
    },
}
NUMBERS = ["9" * 5_000, f"1/{'9' * 5_000}", "3" + "0" * 4_000 + "1/1" + "0" * 4_000, "9" * (MAX_DIGITS + 1)]


@pytest.mark.slow
@pytest.mark.parametrize("number", NUMBERS, ids=["large", "small", "near 3", "just over"])
@pytest.mark.parametrize("release", RELEASES)
def test_numbers_of_releases_have_a_size(release: str, number: str, composition: dict[str, Any]) -> None:
    """A longer one is rejected at once, with the limit."""
    document = json.loads(json.dumps(composition))
    assert _set(document, "dominating", RELEASES[release](number))
    found = check_text(json.dumps(document))
    assert not found.accepted
    assert any("more digits than the limit, 2,000" in line for line in found.lines)


@pytest.mark.slow
@pytest.mark.parametrize("number", ["1/1000000", f"1/1{'0' * 300}", "1000000", "9" * 300])
@pytest.mark.parametrize("release", RELEASES)
def test_extreme_releases_end(release: str, number: str, composition: dict[str, Any]) -> None:
    """A number that is within the limit, and far from what the grid is for, is rejected in time."""
    document = json.loads(json.dumps(composition))
    assert _set(document, "dominating", RELEASES[release](number))
    assert not check_text(json.dumps(document)).accepted
