"""Formulas about an empty domain: every one is true there, so that is refused, or said."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from test_formula_documents import COIN, TIGHT, document
from three_checkers import built, by_program

from paramverify.checker.documents import check_text
from paramverify.checker.formula_evidence import NO_POINT
from paramverify.checker.second_formulas import ChainLook
from paramverify.checker.strict_reading import Rejected
from paramverify.cli.main import run
from paramverify.reports.evidence_checks import replay

Json = dict[str, Any]
CASE = (ROOT / "cases" / "logic" / "survey-coin.toml").read_text()
TRUE = {"formula": TIGHT, "status": "holds"}
OPEN = {"formula": TIGHT, "status": "unknown"}


def about(box: str, constraints: list[list[str]], *points: str, entries: Sequence[Json] = (TRUE,)) -> str:
    """Returns evidence about a coin that no parameter c changes, for c in a domain."""
    domain = {"variables": ["c"], "box": {"c": box}, "constraints": constraints}
    more = {"points": [{"c": point} for point in points]} if points else {}
    return json.dumps(document(COIN, *entries) | {"domain": domain} | more)


EMPTY = ["(1, 0)", "(1, 1)", "[1, 1)", "[1, 1/2]"]
NOWHERE = [[["c - 2", ">="]], [["c", ">"], ["-c", ">"]], [["-c^2 - 1", ">="]]]
SOMEWHERE: list[list[list[str]]] = [[["c - 1/4", ">="]], [["c", ">"], ["1 - c", ">"]]]


@pytest.mark.parametrize("box", EMPTY)
@pytest.mark.parametrize("entry", [TRUE, OPEN], ids=["true", "undecided"])
def test_empty_intervals(box: str, entry: Json) -> None:
    """An empty interval is refused, whatever is said of the formula."""
    text = about(box, [], entries=[entry])
    report = check_text(text)
    assert (report.accepted, report.lines) == (False, (f"rejected: the interval {box} is empty",))


@pytest.mark.parametrize("constraints", [*NOWHERE, *SOMEWHERE])
@pytest.mark.parametrize("entries", [[TRUE], [OPEN], [TRUE, OPEN], [OPEN, TRUE]])
def test_constraints_without_a_point(constraints: list[list[str]], entries: list[Json]) -> None:
    """Where no point is given, a line says that constraints may contradict each other."""
    text = about("(0, 1)", constraints, entries=entries)
    report = check_text(text)
    assert report.accepted
    assert NO_POINT in report.lines
    assert "that the domain has a point" in report.not_compared


@pytest.mark.parametrize("constraints", NOWHERE)
def test_no_point_of_an_empty_domain(constraints: list[list[str]]) -> None:
    """No point is accepted there."""
    text = about("(0, 1)", constraints, "1/2")
    assert not check_text(text).accepted


@pytest.mark.parametrize("constraints", [[], *SOMEWHERE])
def test_a_point_settles_it(constraints: list[list[str]]) -> None:
    """With a point of the domain, or without constraints, nothing is missing."""
    text = about("(0, 1)", constraints, *["1/2"] * bool(constraints))
    report = check_text(text)
    assert (report.accepted, NO_POINT in report.lines) == (True, False)
    assert "that the domain has a point" not in report.not_compared


def test_the_proved_checker_agrees(tmp_path: Path) -> None:
    """The extracted program has the same answers, and says the same of the domain."""
    checker, texts = built(), [about(box, [], entries=[entry]) for box in EMPTY for entry in (TRUE, OPEN)]
    texts += [
        about("(0, 1)", given, *points, entries=entries)
        for given in (*NOWHERE, *SOMEWHERE)
        for points in ((), ("1/2",))
        for entries in ([TRUE], [TRUE, OPEN])
    ]
    paths = [tmp_path / f"{k}.json" for k in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    for text, found in zip(texts, by_program(checker, paths), strict=True):
        report = check_text(text)
        assert found.word == ("accepted" if report.accepted else "rejected"), text
        assert (NO_POINT in found.lines) == (NO_POINT in report.lines), text


@pytest.mark.parametrize("entries", [[TRUE], [OPEN], [TRUE, OPEN]])
@pytest.mark.parametrize("points", [(), ("1/2",)])
def test_both_leave_the_same_to_the_case(entries: list[Json], points: tuple[str, ...]) -> None:
    """What was not compared is the same list with the proved checker."""
    built()
    text = about("(0, 1)", SOMEWHERE[0], *points, entries=entries)
    missing = replay(text).report.not_compared
    assert missing == check_text(text).not_compared
    assert ("that the domain has a point" in missing) is (not points)


# --- with the case ------------------------------------------------------------------------------------


def constrained(constraint: str) -> str:
    """The case with a constraint on its parameter, and without the formula that is false."""
    text = CASE.replace("[parameters]\n", f'[parameters]\nconstraints = ["{constraint}"]\n')
    return "\n".join(line for line in text.splitlines() if not line.startswith("fixed"))


@pytest.mark.slow
@pytest.mark.parametrize("constraint", ["c >= 1/4", "c < 1/2", "c*(1 - c) >= 1/10"])
def test_evidence_of_a_constrained_case(
    constraint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its evidence has a point where constraints are left, and both readers accept it with its case."""
    case, path = tmp_path / "case.toml", tmp_path / "e.json"
    case.write_text(constrained(constraint))
    assert run(["logic", str(case), "--evidence", str(path)]) == 0
    written = json.loads(path.read_text())
    assert bool(written.get("points")) is bool(written["domain"]["constraints"])
    assert run(["check", str(path), "--case", str(case)]) == 0
    told = capsys.readouterr().out
    assert "read a second time: " in told
    assert NO_POINT not in told


OTHER = [
    "(1/4, 1)",
    "[1/4, 1]",
    "[1/3, 1)",
    "[1/5, 1)",
    "[249/1000, 1)",
    "[251/1000, 1)",
    "[250001/1000000, 1)",
    "(0, 1)",
]


@pytest.mark.parametrize("box", ["[1/4, 1)", *OTHER])
def test_the_second_reader_compares_ends(box: str) -> None:
    """A constraint may have become an end of an interval; any other end is noticed."""
    text = constrained("c >= 1/4")
    stated = json.loads(about(box, [])) | {"case": {"title": "", "digest": sha256(text.encode()).hexdigest()}}
    look = ChainLook(stated, text, {})
    if box not in OTHER:
        look._check_domain()
        return
    with pytest.raises(Rejected, match="the domain of the case is another one, at c = "):
        look._check_domain()
