"""An unknown answer of the logic names each limit that ended a search."""

from __future__ import annotations

from types import ModuleType

import pytest
from conftest import ROOT

from paramverify.errors import TimeLimitError
from paramverify.logic import scheduler_equivalence, schedulers
from paramverify.logic.formula_families import check_property
from paramverify.logic.logic_cases import LogicOptions, load
from paramverify.logic.probability_comparisons import SchedulerChoice
from paramverify.logic.property_checking import FormulaResult, LogicSession
from paramverify.logic.scheduler_equivalence import WeightedAutomaton
from paramverify.logic.semantics import Semantics
from paramverify.portfolio.session import Session
from paramverify.verdicts import Unknown

FOLDER = ROOT / "cases" / "logic"


def check(
    session: Session, case: str, formula: str, method: SchedulerChoice = SchedulerChoice.AUTO
) -> FormulaResult:
    """What the logic says about a formula."""
    found = load(FOLDER / f"{case}.toml", LogicOptions((formula,)))
    return check_property(LogicSession(found, session, method), found.properties["property"])


@pytest.mark.parametrize(
    ("room", "limit", "most", "words"),
    [
        (schedulers, "LONGEST", 12, "were tried with up to 12 actions"),
        (schedulers, "MAX_PERIODIC_VECTORS", 5, "actions, up to 5 different vectors"),
        (schedulers, "MAX_WORK", 40, "with up to 2 actions, up to 40 entries of vectors"),
        (schedulers, "MAX_LONG", 3, "a sequence of 2 actions was not tried: it needs more than 3 entries"),
        (
            scheduler_equivalence,
            "MAX_NODES",
            2,
            "numbers was not decided: the product of model and formula has more than 2",
        ),
        (
            scheduler_equivalence,
            "MAX_WORK",
            2,
            "the vectors of action sequences have more than 2 entries together",
        ),
    ],
)
def test_searches(
    session: Session, monkeypatch: pytest.MonkeyPatch, room: ModuleType, limit: str, most: int, words: str
) -> None:
    """Whatever ends the search for a query scheduler or for equality, the reason says which limit it was."""
    monkeypatch.setattr(room, limit, most)
    found = check(session, "emptiness", "D{1, 1/6}[ F at_B ]")
    assert isinstance(found.verdict, Unknown)
    assert words in found.reason


def test_one_action(session: Session) -> None:
    """The sufficient condition alone is followed by sequences of one action, and the reason says so."""
    found = check(session, "emptiness", "D{1, 1/6}[ F at_B ]", SchedulerChoice.SUFFICIENT)
    assert "those that repeat the last action were tried with up to 1 action" in found.reason


@pytest.mark.parametrize(("limit", "words"), [("MAX_VECTORS", "different vectors"), ("MAX_STEPS", "entries")])
def test_enumeration(session: Session, monkeypatch: pytest.MonkeyPatch, limit: str, words: str) -> None:
    """Where a bounded formula has too many action sequences, the reason of an unknown answer says so."""
    monkeypatch.setattr(schedulers, limit, 1)
    found = check(session, "emptiness", "D{1, 1/6}[ F<=9 at_B ]")
    assert isinstance(found.verdict, Unknown)
    assert f"not all action sequences were enumerated: more than 1 {words}" in found.reason


@pytest.mark.slow
def test_functions(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """With parameters the reason names those that the entries are functions of; families say it too."""
    assert check(session, "equal-copies", "D{0, 0}[ F goal ]").status == "holds"
    monkeypatch.setattr(scheduler_equivalence, "MAX_WORK", 3)
    reason = check(session, "equal-copies", "D{0, 0}[ F goal ]").reason
    assert "equivalence of the weighted automata with functions of p was not decided" in reason
    assert "more than 3 entries together" in reason
    reason = check(session, "equal-copies", "forall k: D{0, 0}[ true U=k goal ]").reason
    assert "equality for every k was not decided" in reason


def test_time(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the time is over while equality is decided, the words say so, with the parameters."""

    def late(self: WeightedAutomaton, first: int, second: int) -> None:
        raise TimeLimitError(7)

    monkeypatch.setattr(WeightedAutomaton, "difference", late)
    words = "7 s is over, while equivalence of the weighted automata with functions of p was being decided"
    with pytest.raises(TimeLimitError, match=words):
        check(session, "equal-copies", "D{0, 0}[ F goal ]")


def test_open_points_are_not_called_true(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """A point at which the formula is neither true nor false is not told as a point where it is true."""
    monkeypatch.setattr(scheduler_equivalence, "MAX_WORK", 3)
    monkeypatch.setattr(Semantics, "_try_words", lambda *_: None)
    found = check(session, "equal-copies", "D{0, 0}[ F goal ]")
    assert isinstance(found.verdict, Unknown)
    assert "true at all points" not in found.reason
