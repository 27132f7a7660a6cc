"""Slots for every t, maxPts, data and K: the induction against systems that are written out."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from calling_tools import called
from engine_documents import Json, engine_document
from slot_families import case_text

from paramverify.interactive.closures import Closures
from paramverify.interactive.pinq_induction import DataPointProgram, Every, Form, every
from paramverify.interactive.system_cases import load
from paramverify.interactive.system_verification import tight_budget
from paramverify.interactive.unwinding_families import pair_graph
from paramverify.kernel.documents import check_document, check_text
from paramverify.kernel.ledger import Demanded
from paramverify.models.systems.transition_systems import StateKind

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "cases" / "interactive"
PAPER = DataPointProgram(shared=False, drops=True, deletes=True)


def document(found: Every, **changes: object) -> Json:
    """Returns the evidence of what was found."""
    parts: Json = {"program": found.program.document(), "forms": found.forms, "steps": found.steps, **changes}
    told: Json = json.loads(json.dumps(engine_document("slots", **parts)))
    return told


def test_the_induction_of_the_paper() -> None:
    """Add and swap are all forms, and a query costs 2ε; without drops there is add only, and ε."""
    found = every(PAPER)
    assert (found.forms, found.steps, found.reason) == (((1,), (1, -1)), 2, "")
    never = every(DataPointProgram(shared=False, drops=False, deletes=True))
    assert (never.forms, never.steps) == (((1,),), 1)
    assert "another slot" in every(DataPointProgram(shared=True, drops=True, deletes=True)).reason
    assert "for ever" in every(DataPointProgram(shared=False, drops=True, deletes=False)).reason


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("drops", [False, True])
@pytest.mark.parametrize("deletes", [False, True])
def test_the_checker_agrees(shared: bool, drops: bool, deletes: bool) -> None:
    """What the prover finds is accepted, and what it does not find is rejected, whatever forms are told."""
    program = DataPointProgram(shared, drops, deletes)
    found = every(program)
    told = [
        document(found),
        document(found, forms=[[1], [1, -1]], steps=2),
        document(found, forms=[[1]], steps=1),
    ]
    accepted = [check_document(one).accepted for one in told]
    assert any(accepted) == (not found.reason)
    if not found.reason:
        assert accepted[0]
        assert check_text(json.dumps(told[0])).status == "holds"
        assert accepted[2] == (not drops)


def test_evidence_that_shows_nothing() -> None:
    """Too few forms, too few steps, other signs and another program are rejected."""
    found = every(PAPER)
    for changes, reason in (
        ({"forms": [[1]]}, "leads to another form"),
        ({"forms": [[1, -1]]}, "an insertion leads to no form"),
        ({"forms": []}, "an insertion leads to no form"),
        ({"steps": 1}, "costs more than the steps say"),
        ({"forms": [[1], [1, -1], [2]]}, "something else than signs"),
        ({"program": {"shared": True, "drops": True, "deletes": True}}, "share their places"),
        ({"program": {"shared": False, "drops": True, "deletes": False}}, "never equal again"),
    ):
        report = check_document(document(found, **changes))
        assert not report.accepted
        assert reason in report.lines[0]
    assert check_document(document(found, forms=[[1], [1, -1], [-1]])).accepted  # one point less is add, too
    other = {"shared": False, "drops": False, "deletes": True}
    report = check_document(document(found), Demanded(engine={"program": other}))
    assert report.lines == ("rejected: the evidence has another program than the case",)


def form_of(left: Counter[str], right: Counter[str]) -> Form:
    """Returns the signs by which the right multiset differs from the left one."""
    more, less = right - left, left - right
    return (1,) * more.total() + (-1,) * less.total()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("slots", "points", "full"),
    [(1, 1, "drop"), (2, 1, "drop"), (2, 2, "drop"), (1, 3, "drop"), (2, 2, "never"), (3, 1, "never")],
)
def test_written_out_systems_have_these_forms(slots: int, points: int, full: str, tmp_path: Path) -> None:
    """Every pair that insertions lead to differs in one slot by a form; all forms and the budget occur."""
    path = tmp_path / "case.toml"
    path.write_text(case_text(slots, points).replace("[unwinding]", f'full = "{full}"\n[unwinding]'))
    system = load(path).system
    found = every(DataPointProgram(shared=False, drops=full == "drop", deletes=True))
    seen: set[Form] = set()
    for pair in pair_graph(Closures(system)).pairs:
        if not all(system.kind(s) is StateKind.INPUT for s in pair):
            continue
        contents = [
            [Counter(() if slot == "-" else slot.split(",")) for slot in system.states[s].split("|")]
            for s in pair
        ]
        forms = [form_of(*sides) for sides in zip(*contents, strict=True) if sides[0] != sides[1]]
        assert len(forms) == 1
        seen.add(max(forms[0], tuple(sorted((-sign for sign in forms[0]), reverse=True))))
    assert seen == set(found.forms)
    assert tight_budget(load(path)).upper == 2 ** (found.steps * slots)


def test_the_command(tmp_path: Path) -> None:
    """`--every` tells the bound, the forms and what is assumed, and `check` takes its evidence."""
    path, evidence = str(FOLDER / "slots-2.toml"), str(tmp_path / "evidence.json")
    found = called("interactive", path, "--every", "--evidence", evidence)
    assert found.code == 0
    assert found.out.startswith(
        "true for every number t of slots, every maxPts, all data and every set K of functions: if each "
        "answer is private with an epsilon for one data point, t slots have 2*t*epsilon.\n"
    )
    assert "one slot differs by add, swap" in found.out
    told = json.loads(called("interactive", path, "--every", "--json").out)
    assert (told["status"], told["verdict"]) == ("holds", "true")
    assert (told["status"], told["bound"], told["forms"]) == ("holds", "2*t*epsilon", [[1], [1, -1]])
    assert called("check", evidence, "--case", path).code == 0
    assert "not compared (give --case): what the program does with the case" in called("check", evidence).out
    line = "a statement about slots in general: proved; the noise and the bound of the case are not looked at"
    assert (
        f"checked as far as it can be without the case: {line}; not compared" in called("check", evidence).out
    )
    assert called("check", evidence, "--case", path).out.endswith(f"\nchecked: {line}\n")
    told = json.loads(called("check", evidence, "--case", path, "--json").out)
    assert (told["verdict"], told["not_compared"]) == ("true", ["the noise and the bound of the case"])
    other = str(FOLDER / "slots-2-never-full.toml")
    assert called("check", evidence, "--case", other).code == 1
    assert "another case file" in called("check", evidence, "--case", str(FOLDER / "slots-3.toml")).out
    assert "no data point ever comes to a full slot" in called("interactive", other, "--every").out
    shared = called("interactive", str(FOLDER / "slots-2-shared.toml"), "--every", "--json")
    assert (shared.code, json.loads(shared.out)["bound"]) == (3, None)
    assert called("interactive", str(FOLDER / "survey.toml"), "--every").code == 2
    assert called("interactive", path, "--every", "--points", "2").code == 2


SLOTS = """
[system]
kind = "slots"
slots = 2
points = 1
data = [-1, 1]
queries = ["sum"]
range = 2
noise = { truncated_geometric = "1/2" }
[privacy]
epsilon = "ln(2)"
"""


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("points = 1", 'points = 1\ndelete = "false"', "system.delete: must be true or false"),
        ("points = 1", "points = 1\ndelete = 0", "system.delete: must be true or false"),
        ("points = 1", "points = 1\ndelet = false", "system.delet: unknown key"),
        ("points = 1", "points = 0", "system.points"),
        ("slots = 2\n", "", "the key 'slots' is missing"),
        ('epsilon = "ln(2)"', 'ratio = "1/2"', "privacy.ratio"),
        ('[privacy]\nepsilon = "ln(2)"', "", "the key 'privacy' is missing"),
        ("[privacy]", "[privacys]\n[privacy]", "privacys: unknown key"),
        ("[privacy]", '[unwinding]\nstep = "ln(2)"\nrel = ["nothing = 1"]\n[privacy]', "nothing"),
    ],
)
def test_mistakes_in_the_case(old: str, new: str, reason: str, tmp_path: Path) -> None:
    """A mistake in the case is told by `--every` and `check --case` in the words of `interactive`."""
    path, evidence = tmp_path / "case.toml", str(tmp_path / "evidence.json")
    path.write_text(SLOTS)
    assert called("interactive", str(path), "--every", "--evidence", evidence).code == 0
    assert old in SLOTS
    path.write_text(SLOTS.replace(old, new))
    calls = (["interactive"], ["interactive", "--every"], ["check", evidence, "--case"])
    found = [called(*words, str(path)) for words in calls]
    assert [one.code for one in found] == [2, 2, 2]
    assert reason in found[0].err
    assert found[0].err == found[1].err == found[2].err


def test_json_tells_the_environment() -> None:
    """JSON of `--every` says what is assumed of the environment, as other verdicts do."""
    for name, word in (("slots-2", "any"), ("slots-2-never-full", "accepted")):
        told = json.loads(called("interactive", str(FOLDER / f"{name}.toml"), "--every", "--json").out)
        assert told["environment"] == word
