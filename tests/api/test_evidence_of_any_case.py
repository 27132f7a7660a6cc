"""Evidence belongs to the text of a case: to what `loads` read, and to a copy of the file by another name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

import paramverify

CASES = [
    "survey-memory-all.toml",
    "inequalities/schur-1.toml",
    "interactive/survey.toml",
    "logic/survey.toml",
    "automata/stream-sparse-vector-one.toml",
]
NAMES = ("a copy (2).toml", "other")


def untitled(text: str) -> str:
    """Returns a case without its title, which some are without."""
    return "\n".join(line for line in text.splitlines() if not line.startswith("title ="))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "change"), [(name, (str, untitled)[k % 2]) for k, name in enumerate(CASES)])
def test_evidence_is_of_the_text(name: str, change: Callable[[str], str], tmp_path: Path) -> None:
    """Evidence of a case from text is accepted beside it, and beside files with the same text."""
    text = change((ROOT / "cases" / name).read_text())
    case = paramverify.loads(text)
    evidence = paramverify.verify(case, timeout=60).evidence()
    assert paramverify.check(evidence, case).accepted
    for copy in NAMES:
        (tmp_path / copy).write_text(text)
        found = paramverify.check(evidence, str(tmp_path / copy))
        assert found.accepted, (copy, found.lines)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["automata/sparse-vector.dipa", "logic/survey.prism"])
def test_files_of_other_tools(name: str, tmp_path: Path) -> None:
    """The same for an automaton, and for a model of PRISM with formulas beside it."""
    file = ROOT / "cases" / name
    copy = tmp_path / f"other{file.suffix}"
    copy.write_bytes(file.read_bytes())
    given: dict[str, Any] = {}
    if file.suffix == ".prism":
        given = {"formulas": ["P>0 [ F true ]"], "parameters": {"c": "[1/4, 1/2]"}}
    first, second = (paramverify.load(path, **given) for path in (file, copy))
    evidence = paramverify.verify(first, timeout=60).evidence()
    for case in (first, second):
        found = paramverify.check(evidence, case)
        assert found.accepted, found.lines
