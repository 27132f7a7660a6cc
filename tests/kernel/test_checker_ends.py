"""How the stand-alone checker ends: 1 is a rejection, and nothing else ends with it; and it ends in time."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
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


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (MemoryError(), program.NO_MEMORY),
        (RecursionError(), program.NO_MEMORY),
        (KeyboardInterrupt(), program.INTERRUPTED),
        (OSError(28, "No space left on device"), program.NOT_WRITTEN),
        (BrokenPipeError(32, "Broken pipe"), program.NOT_WRITTEN),
        *((kind("x"), program.DEFECT) for kind in (ValueError, KeyError, AssertionError, ZeroDivisionError)),
    ],
)
def test_no_exception_is_a_rejection(
    error: BaseException, code: int, evidence: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a check raises, the code is neither that of a rejection nor that of an acceptance."""

    def fails(text: str) -> None:
        raise error

    monkeypatch.setattr("paramverify.kernel.documents.check_text", fails)
    assert program.run([str(evidence)]) == code
    assert code not in (0, 1)
    assert str(code) in program.USAGE


@pytest.mark.slow
def test_a_doubled_key_is_found_at_once(tmp_path: Path) -> None:
    """Among 100,000 keys, wherever it is; and in each of many objects."""
    keys = [f'"k{n}": 0' for n in range(100_000)]
    for text in (
        "{" + ", ".join([*keys, '"k99999": 1']) + "}",
        "{" + ", ".join(['"k0": 1', *keys]) + "}",
        "[" + ", ".join(['{"a": 0, "a": 1}'] * 30_000) + "]",
    ):
        with pytest.raises(Misformed, match="is there twice"):
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
