"""Claims and formulas about an empty domain: every one is true there, so that is refused, or said."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from claim_documents import document as evidence
from claim_documents import statement
from conftest import ROOT
from test_formula_documents import COIN, TIGHT, document
from three_checkers import built, by_program

from paramverify.cli.main import run
from paramverify.kernel.claim_statements import NO_POINT
from paramverify.kernel.documents import check_document, check_text
from paramverify.kernel.ledger import Demanded
from paramverify.reports.evidence_checks import replay
from paramverify.rereader.second_reading import second_look

Json = dict[str, Any]
Part = tuple[str, list[list[str]], Json]
CASE = (ROOT / "cases" / "logic" / "survey-coin.toml").read_text()
MISSING = "that the domain has a point"
OUTSIDE = {"kind": "bernstein", "tree": [["outside", 0]]}
TREE = {"kind": "bernstein", "tree": ["+"]}
# Claims with a parameter c in (0, 1): a polynomial, constraints, and a proof.
UNCONSTRAINED: Part = ("1 - c", [], TREE)
EMPTY: Part = ("c - 3", [["c - 2", ">"]], OUTSIDE)
SOME: Part = ("c", [["c - 1/4", ">="]], TREE)
STRICT: Part = ("-1", [["-c - 1", ">="]], OUTSIDE)
# Formulas about a coin that no parameter c changes.
TRUE = {"formula": TIGHT, "status": "holds"}
OPEN = {"formula": TIGHT, "status": "unknown"}
NOWHERE = [[["c - 2", ">="]], [["c", ">"], ["-c", ">"]], [["-c^2 - 1", ">="]]]
SOMEWHERE: list[list[list[str]]] = [[["c - 1/4", ">="]], [["c", ">"], ["1 - c", ">"]]]


def domain(constraints: list[list[str]], box: str = "(0, 1)") -> Json:
    return {"variables": ["c"], "box": {"c": box}, "constraints": constraints}


def claims(*parts: Part, point: str = "") -> str:
    """Returns evidence about claims."""
    found = [
        statement({**domain(given), "polynomial": polynomial}, proof, origins=["c <= 1"])
        for polynomial, given, proof in parts
    ]
    return json.dumps(evidence(*found, **({"points": [{"c": point}]} if point else {})))


def formulas(constraints: list[list[str]], *entries: Json, point: str = "", box: str = "(0, 1)") -> str:
    """Returns evidence about formulas."""
    more = {"points": [{"c": point}]} if point else {}
    found = document(COIN, *(entries or (TRUE,)))
    return json.dumps({**found, "domains": [domain(constraints, box)], **more})


CLAIMS_NOT_SHOWN = [
    *(claims(*parts) for parts in ([EMPTY], [SOME], [UNCONSTRAINED, EMPTY], [STRICT])),
    *(
        claims(*parts, point="1/2") for parts in ([STRICT], [STRICT, SOME])
    ),  # no point is compared with STRICT
]
CLAIMS_SHOWN = [claims(UNCONSTRAINED), claims(SOME, point="1/2"), claims(SOME, UNCONSTRAINED, point="1/2")]
ENTRIES: list[Sequence[Json]] = [[TRUE], [OPEN], [TRUE, OPEN], [OPEN, TRUE]]
NOT_SHOWN = [*CLAIMS_NOT_SHOWN, *(formulas(c, *e) for c in (*NOWHERE, *SOMEWHERE) for e in ENTRIES)]
SHOWN = [*CLAIMS_SHOWN, formulas([]), *(formulas(c, *e, point="1/2") for c in SOMEWHERE for e in ENTRIES)]
BUDGET = {"kind": "bound", "bound": ["2", "1"], "witnesses": []}
INTERVALS = ["(1, 0)", "(1, 1)", "[1, 1)", "[1, 1/2]"]
WRONG = [claims(EMPTY, point="1/2"), *(formulas(c, point="1/2") for c in NOWHERE)]
WRONG += [formulas([], entry, box=box) for box in INTERVALS for entry in (TRUE, OPEN)]


@pytest.mark.parametrize("text", NOT_SHOWN)
def test_constraints_without_a_point(text: str) -> None:
    """A line says that no point of the domain is shown, and the case is needed for it."""
    report = check_text(text)
    assert report.accepted, report.lines
    assert NO_POINT in report.lines
    assert MISSING in report.not_compared


@pytest.mark.parametrize("text", SHOWN)
def test_a_point_settles_it(text: str) -> None:
    """With a point of the domain, or without constraints, nothing is missing."""
    report = check_text(text)
    assert report.accepted, report.lines
    assert (NO_POINT in report.lines, MISSING in report.not_compared) == (False, False)


def test_what_is_not_shown_besides() -> None:
    """Where a claim is not proved, or the case is there, nothing is said of the domain."""
    for parts in ([("c", [["c - 2", ">"]], None)], [SOME, ("c - 3", [["c - 2", ">"]], TREE)]):
        report = check_text(claims(*parts))
        assert (report.accepted, NO_POINT in report.lines) == (False, False)
    report = check_text(json.dumps(evidence(statement({**domain(SOME[1]), "polynomial": SOME[0]}, TREE))))
    assert (report.accepted, NO_POINT in report.lines) == (True, False), report.lines
    named = Demanded([{**domain(SOME[1]), "polynomial": SOME[0]}])
    report = check_document(json.loads(claims(SOME)), named)
    assert (report.accepted, NO_POINT in report.lines) == (True, False), report.lines


@pytest.mark.parametrize("text", WRONG)
def test_an_empty_domain_has_no_point(text: str) -> None:
    """A point there is refused, and so is an empty interval, whatever is said of the formula."""
    report = check_text(text)
    assert not report.accepted
    box = json.loads(text)["domains"][0]["box"]["c"]
    assert report.lines == (f"rejected: domains[0]: the interval {box} is empty",) or box not in INTERVALS


def test_the_proved_checker_agrees(tmp_path: Path) -> None:
    """The extracted program has the same answers, says the same of the domain, and leaves the same open."""
    texts = [*NOT_SHOWN, *SHOWN, *WRONG]
    paths = [tmp_path / f"{k}.json" for k in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    for text, found in zip(texts, by_program(built(), paths), strict=True):
        report = check_text(text)
        assert found.word == ("accepted" if report.accepted else "rejected"), text
        assert (NO_POINT in found.lines) == (NO_POINT in report.lines), text
        assert tuple(found.lines) == report.lines or text not in (*CLAIMS_NOT_SHOWN, *CLAIMS_SHOWN)
    for text in (*CLAIMS_NOT_SHOWN, *CLAIMS_SHOWN, NOT_SHOWN[-1], SHOWN[-1]):
        assert replay(text).report.not_compared == check_text(text).not_compared


@pytest.mark.parametrize("text", [*CLAIMS_NOT_SHOWN, *CLAIMS_SHOWN])
def test_budgets_leave_it_to_the_case_too(text: str) -> None:
    """With another bound than that of the case both checkers leave the same to the case."""
    built()
    stated = json.dumps(json.loads(text) | {"budget": BUDGET})
    report = check_text(stated)
    assert report.accepted, report.lines
    assert (MISSING in report.not_compared) is (text in CLAIMS_NOT_SHOWN)
    assert replay(stated).report.not_compared == report.not_compared


# --- with the case ------------------------------------------------------------------------------------


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
    assert bool(written.get("points")) is bool(written["domains"][0]["constraints"])
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
    stated = json.loads(formulas([], box=box)) | {
        "case": {"title": "", "digest": sha256(text.encode()).hexdigest()}
    }
    look = second_look(stated, text)
    assert ("only one of both domains has c = " in look.line) is (box in OTHER), look.line
