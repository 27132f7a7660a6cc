"""Claims about an empty domain: every one is true there, so evidence without the case says that."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from three_checkers import built, by_program

from paramverify.checker.documents import check_text
from paramverify.checker.formula_evidence import NO_POINT
from paramverify.cli.main import run
from paramverify.reports.evidence_checks import replay

MISSING = "that the domain has a point"
OUTSIDE = {"kind": "bernstein", "tree": [["outside", 0]]}
TREE = {"kind": "bernstein", "tree": ["+"]}
UNCONSTRAINED = ("1 - c", [], TREE)
EMPTY = ("c - 3", [["c - 2", ">"]], OUTSIDE)
SOME = ("c", [["c - 1/4", ">="]], TREE)
STRICT = ("-1", [["-c - 1", ">="]], OUTSIDE)
Part = tuple[str, list[list[str]], dict[str, object]]


def evidence(*parts: Part, point: str = "", about: tuple[str, ...] = ("c <= 1",)) -> str:
    """Returns evidence about claims with a parameter c in (0, 1)."""
    claims = [
        {
            "claim": {"variables": ["c"], "box": {"c": "(0, 1)"}, "polynomial": f, "constraints": given},
            "origins": list(about),
            "proof": proof,
        }
        for f, given, proof in parts
    ]
    more = {"points": [{"c": point}]} if point else {}
    kind = {"format": "paramverify-evidence", "version": 1, "status": "holds"}
    return json.dumps({**kind, "case": {"title": "", "digest": "0" * 64}, "claims": claims, **more})


NOT_SHOWN = [
    evidence(EMPTY),
    evidence(SOME),
    evidence(UNCONSTRAINED, EMPTY),
    evidence(STRICT),
    evidence(STRICT, point="1/2"),  # no point is compared with such a claim
    evidence(STRICT, SOME, point="1/2"),
]
SHOWN = [evidence(UNCONSTRAINED), evidence(SOME, point="1/2"), evidence(SOME, UNCONSTRAINED, point="1/2")]


@pytest.mark.parametrize("text", NOT_SHOWN)
def test_constraints_without_a_point(text: str) -> None:
    """A line says that no point of the domain is shown, and the case is needed for it."""
    report = check_text(text)
    assert report.accepted, report.lines
    assert NO_POINT in report.lines
    assert MISSING in report.not_compared


@pytest.mark.parametrize("text", SHOWN)
def test_a_point_settles_it(text: str) -> None:
    """With a point, or without constraints, nothing is missing."""
    report = check_text(text)
    assert report.accepted, report.lines
    assert (NO_POINT in report.lines, MISSING in report.not_compared) == (False, False)


@pytest.mark.parametrize("text", [*NOT_SHOWN, *SHOWN])
def test_budgets_leave_it_to_the_case_too(text: str) -> None:
    """With another bound than that of the case both checkers leave the same to the case."""
    built()
    stated = json.dumps(json.loads(text) | {"budget": {"bound": ["2", "1"], "witnesses": []}})
    report = check_text(stated)
    assert report.accepted, report.lines
    assert (MISSING in report.not_compared) is (text in NOT_SHOWN)
    assert replay(stated).report.not_compared == report.not_compared


def test_no_point_of_an_empty_domain() -> None:
    """No point is accepted there."""
    assert not check_text(evidence(EMPTY, point="1/2")).accepted


def test_the_proved_checker_agrees(tmp_path: Path) -> None:
    """The extracted program has the same answers and the same lines."""
    checker, texts = built(), [*NOT_SHOWN, *SHOWN, evidence(EMPTY, point="1/2")]
    paths = [tmp_path / f"{k}.json" for k in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    for text, found in zip(texts, by_program(checker, paths), strict=True):
        report = check_text(text)
        assert found.word == ("accepted" if report.accepted else "rejected"), text
        if report.accepted:
            assert tuple(found.lines) == report.lines, text


def test_the_case_settles_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the case nothing is missing: it shows that its domain has a point."""
    case, path = tmp_path / "case.toml", tmp_path / "e.json"
    parameters = '[parameters]\nc = "(0, 1)"\nconstraints = ["c*(1 - c) >= 1/10"]\n'
    case.write_text(parameters + '[claim]\nholds = ["c**2 < 1", "c <= 1"]\n')
    assert run(["verify", str(case), "--evidence", str(path)]) == 0
    assert run(["check", str(path)]) == 0
    assert MISSING in capsys.readouterr().out
    assert run(["check", str(path), "--case", str(case)]) == 0
    assert MISSING not in capsys.readouterr().out
