"""Evidence of proofs by windows: the claims of the windows, why they are enough, and forged documents."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paramverify.kernel.documents import check_text
from paramverify.portfolio.session import Options
from paramverify.privacy.cases import load
from paramverify.privacy.verification import verify
from paramverify.reports.case_evidence import evidence_document
from paramverify.reports.evidence_checks import checked
from paramverify.rereader.second_reading import second_look

ROW = """
title = "A row of people"
[parameters]
p = "[1/10, 2/5]"
c = "[1/10, 3/10]"
[prior.person]
count = 14
given = "person[i-1]"
first = { bernoulli = "p" }
table = { 0 = { 0 = "9/10", 1 = "1/10" }, 1 = { 0 = "1-c", 1 = "c" } }
[secrets]
ill = "person[7] == 1"
well = "person[7] == 0"
end = "person[14] == 1"
start = "person[14] == 0"
pairs = [["ill", "well"], ["end", "start"]]
[mechanism]
kind = "geometric"
query = "sum(person)"
noise = { truncated_geometric = "1/2", range = 14 }
[privacy]
ratio = "4"
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """The path of a case, and its evidence."""
    path = tmp_path_factory.mktemp("windows") / "case.toml"
    path.write_text(ROW)
    case = load(str(path))
    report = verify(case, Options(seconds=60, evidence=1.0))
    assert report.windows
    return str(path), json.dumps(evidence_document(case, report))


@pytest.mark.slow
def test_windows_have_evidence(made: tuple[str, str]) -> None:
    """It is accepted with and without its case, and the second reader finds the brackets again."""
    path, text = made
    assert len(json.loads(text)["windows"]["pairs"]) == 2
    assert check_text(text).accepted
    found = checked(text, path)
    assert found.report.accepted
    assert found.look is not None
    assert found.look.compared
    assert "of windows" in found.look.line


def _windows(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda document: document["windows"].update(changes)


def _distance(value: int) -> Callable[[dict[str, Any]], None]:
    return lambda document: document["windows"]["pairs"][0].__setitem__(2, value)


FORGED: dict[str, Callable[[dict[str, Any]], None]] = {
    "no windows": lambda d: d.pop("windows"),
    "another reason": _windows(statement="because"),
    "no pairs": _windows(pairs=[]),
    "a nearer window": _distance(1),
    "a window of nothing": _distance(0),
    "a window without end": _distance(13),
    "another pair": _windows(pairs=[["ill", "start", 2]]),
    "a pair twice": lambda d: d["windows"]["pairs"].append(d["windows"]["pairs"][0]),
    "a claim less": lambda d: d["statements"].pop(),
    "an open claim": lambda d: d["statements"][0].update(proof=None),
    "another origin": lambda d: d["statements"][0].update(origins=["well against ill, output 1"]),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged(name: str, made: tuple[str, str]) -> None:
    """A document about other windows, or with fewer claims, is rejected."""
    path, text = made
    document = json.loads(text)
    FORGED[name](document)
    assert not checked(json.dumps(document), path).report.accepted


@pytest.mark.slow
def test_the_second_reader_computes_windows(made: tuple[str, str]) -> None:
    """What a nearer window needs does not hold, which the second reader finds by itself."""
    path, text = made
    document = json.loads(text)
    assert second_look(document, Path(path).read_text()).agrees
    _distance(1)(document)
    look = second_look(document, Path(path).read_text())
    assert (look.compared, look.agrees) == (True, False)
    assert "window" in look.line
