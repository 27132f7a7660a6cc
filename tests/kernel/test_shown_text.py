"""What a checker shows of a document was proved or compared: a changed text is rejected, or not shown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from calling_tools import called
from conftest import ROOT
from three_checkers import NOT_KNOWN, built, by_program

from paramverify.kernel.documents import AVERAGE, CLAIMS, PARTS, RULES, check_text, kind_of
from paramverify.reports.evidence_checks import checked

# A command for each kind and status; its evidence may be checked beside its first argument.
COMMANDS = (
    "verify cases/noisy-max-independent.toml",
    "verify cases/noisy-max-independent-below.toml",
    "verify cases/survey-memory-all.toml",
    "verify cases/approximate/noisy-max-below.toml",
    "verify cases/divergences/survey-zcdp.toml",
    "logic cases/logic/survey.toml",
    "verify cases/automata/stream-sparse-vector-one.toml",
    "verify cases/automata/stream-sparse-vector-never-stops.toml",
    "verify cases/programs/noisy-max-gauss.toml",
    "budget cases/geometric-contagious-ln2.toml",
    "interactive cases/interactive/sample-n-printed.toml",
    "interactive cases/interactive/slots-2.toml --every",
    "synthesize cases/noisy-max-independent-below.toml --region --coverage 0.4",
    "synthesize cases/geometric-independent-below.toml --exact",
    "compose gaussian:sigma=2,times=3 --delta-for 1",
    "verify script.smt2 --backends built-in",
)
SCRIPT = """(declare-const x Real)
(declare-const y Real)
(assert (and (< 0 x) (< x 1) (< 0 y) (< y 1)))
(push)
(assert (< (* x y) (- 1)))
(check-sat)
(pop)
(assert (< (* x y) (/ 1 2)))
(check-sat)
"""
FORGED = "FORGED"
MOST = 30  # texts of a document that are changed
FOLDER = TemporaryDirectory()  # of the script and of evidence
SCRIPTS = Path(FOLDER.name)
# What is said of solvers is their word, and named so.
WORDS_OF_SOLVERS = {"solver", "version", "solvers", "options", "transcript"}


def arguments(command: str) -> list[str]:
    """Returns the arguments of a command, with the places of its files."""
    words = [str(ROOT / word) if word.startswith("cases/") else word for word in command.split()]
    return [str(SCRIPTS / word) if word.endswith(".smt2") else word for word in words]


@cache
def evidence(command: str) -> str:
    """Returns the evidence that a command writes."""
    (SCRIPTS / "script.smt2").write_text(SCRIPT)
    file = SCRIPTS / "evidence.json"
    found = called(*arguments(command), "--evidence", str(file))
    assert found.code in (0, 1), found.err
    text = file.read_text()
    file.unlink()
    return text


def texts(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yields the ways to all texts of a document that are no numbers."""
    if isinstance(value, str) and any(c.isalpha() for c in value):
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        if key not in WORDS_OF_SOLVERS:
            yield from texts(inner, (*path, key))


def kind(document: Any, path: tuple[Any, ...]) -> tuple[Any, ...]:
    """Returns the way to a text with the kinds of what it leads through, instead of numbers."""
    found: list[Any] = []
    for key in path:
        document = document[key]
        own = document.get("kind", "*") if isinstance(document, dict) else "*"
        found.append(own if isinstance(key, int) else key)
    return tuple(found)


def forged(command: str) -> Iterator[dict[str, Any]]:
    """Yields the evidence with one text changed, of each kind of text some."""
    document = json.loads(evidence(command))
    kinds: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for path in texts(document):
        kinds.setdefault(kind(document, path), []).append(path)
    chosen = [path for paths in kinds.values() for path in (paths[0], paths[-1])]
    for path in dict.fromkeys(chosen[:MOST]):
        changed = deepcopy(document)
        holder = changed
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] += FORGED
        yield changed


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_no_changed_text_is_shown(command: str, tmp_path: Path) -> None:
    """Alone, beside its case, and by the proved checker: what is accepted does not show the changed text."""
    case = None if command.startswith("compose") else arguments(command)[1]
    assert checked(evidence(command), case).report.accepted
    files = []
    for document in forged(command):
        text = json.dumps(document)
        files.append(tmp_path / f"{len(files)}.json")
        files[-1].write_text(text)
        for report in (check_text(text), checked(text, case).report):
            assert not report.accepted or FORGED not in " ".join(report.lines), report.lines
    for answer in by_program(built(), files):
        assert answer.word in ("rejected", NOT_KNOWN) or FORGED not in " ".join(answer.lines), answer.lines


@pytest.mark.slow
def test_every_kind_is_tried() -> None:
    """The commands write evidence of every kind."""
    found = {kind_of(json.loads(evidence(command))) for command in COMMANDS}
    assert found == {*RULES, CLAIMS, PARTS, AVERAGE}
