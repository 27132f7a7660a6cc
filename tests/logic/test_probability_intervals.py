"""P with an interval, as the paper writes it: P[1/4, 3/4], with open and closed ends."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random

import pytest
from conftest import ROOT
from engine_documents import own
from logic_models import path_sum, random_chain

from paramverify.cli.main import run
from paramverify.errors import ExpressionError
from paramverify.logic.formula_families import check_property
from paramverify.logic.formula_grammar import read_property
from paramverify.logic.formula_syntax import Probability
from paramverify.logic.logic_cases import LogicCase, LogicOptions, load
from paramverify.logic.property_checking import LogicSession
from paramverify.models.chains.state_relations import closed
from paramverify.portfolio.session import Session

FOLDER = ROOT / "cases" / "logic"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "formula", "status"),
    [
        ("survey", "P[1/4, 3/4] [ X out1 ]", "holds"),
        ("survey", "P(1/4, 3/4] [ X out1 ]", "violated"),
        ("survey", "P[1/4, 3/4) [ X out1 ]", "violated"),
        ("survey", "P(0.2, exp(-1/4)] [ X out1 ]", "holds"),
        ("survey", "!P[1/3, 1/2] [ X out1 ]", "holds"),
        ("survey", "D{ln(3), 0}[ F P[1/4, 3/4] [ X out1 ] ]", "holds"),
        ("survey-coin", "P((1 - c)/4, (1 + c)/2] [ X out1 ]", "holds"),
        ("survey-coin", "P[1/4, 3/4] [ X out1 ]", "violated"),
        ("interactive-survey", "P[1/5, 4/5] [ X out1 ]", "holds"),
        ("interactive-survey", "P[1/4, 3/4] [ X out1 ]", "violated"),
    ],
)
def test_intervals_of_the_survey(file: str, formula: str, status: str, session: Session) -> None:
    """The yes has probability 3/4 or 1/4; with high accuracy 4/5 or 1/5, and a scheduler may choose that."""
    case = load(FOLDER / f"{file}.toml", LogicOptions((formula,)))
    assert check_property(LogicSession(case, session), case.properties["property"]).status == status


@pytest.mark.slow
def test_ends_of_random_chains(session: Session) -> None:
    """On random chains an interval holds iff the probability, summed over all paths, lies in it."""
    random = Random(5)
    statuses = []
    for _ in range(16):
        chain = random_chain(random, 3)
        found = read_property("P[0, 1] [ X (a & X b) ]").formula
        path = found.parts[0].path  # type: ignore[union-attr]
        values = [path_sum(chain, path, s) for s in range(len(chain.states))]
        ends = sorted((random.choice(values), random.choice((*values, Fraction(1)))))
        for opening, closing in product("[(", "])"):
            if ends[0] == ends[1] and opening + closing != "[]":
                continue
            text = f"P{opening}{ends[0]}, {ends[1]}{closing} [ X (a & X b) ]"
            inside = all(
                (v > ends[0] if opening == "(" else v >= ends[0])
                and (v < ends[1] if closing == ")" else v <= ends[1])
                for v in values
            )
            case = LogicCase("", "", "random", chain, closed([(1, 0)]), {})
            result = check_property(LogicSession(case, session), read_property(text))
            assert result.status == ("holds" if inside else "violated")
            statuses.append(inside)
    assert 10 < sum(statuses) < len(statuses) - 10


def test_how_an_interval_is_written() -> None:
    """An interval is printed as one P, and in a family every member is."""
    assert str(read_property("P(1/4,3/4] [X a]").formula) == "P(1/4, 3/4] [ X a ]"
    found = read_property("P[1/4, 3/4) [ a ]").formula
    assert [str(p) for p in found.parts] == ["P>=1/4 [ a ]", "P<3/4 [ a ]"]  # type: ignore[union-attr]
    assert all(isinstance(p, Probability) for p in found.parts)  # type: ignore[union-attr]
    assert "P[0, 1/2] [" in str(read_property("D{0, 0}[ F P[0, 1/2] [ X a ] ]").formula)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("P[1/2, 1/4] [ a ]", "the interval is empty"),
        ("P(1/2, 1/2] [ a ]", "the interval is empty"),
        ("P=1/2 [ a ]", "or has an interval"),
        ("P[1/2 [ a ]", "unexpected '['"),
    ],
)
def test_mistakes(text: str, part: str) -> None:
    """An interval without numbers, or half an interval, is a mistake with its place."""
    with pytest.raises(ExpressionError, match="column") as caught:
        read_property(text)
    assert part in str(caught.value)


def test_interval_in_evidence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both ends are part of the formula; a violation is told with the end that fails."""
    path = tmp_path / "evidence.json"
    case = str(FOLDER / "survey.toml")
    assert run(["logic", case, "-p", "P[1/4, 3/4] [ X out1 ]", "--evidence", str(path)]) == 0
    found = json.loads(path.read_text())
    (entry,) = own(found)["formulas"]
    assert (found["status"], entry["formula"][0], len(entry["formula"][1])) == ("holds", "and", 2)
    assert run(["check", str(path)]) == 0
    capsys.readouterr()
    assert run(["logic", case, "-p", "P[1/4, 1/2] [ X out1 ]", "--evidence", str(path)]) == 1
    told = capsys.readouterr().out
    assert "false: property: P[1/4, 1/2] [ X out1 ]" in told
    assert "P<=1/2 [ X out1 ] is false in state plus: the probability is 3/4 (0.75)." in told
    assert json.loads(path.read_text())["status"] == "violated"
    assert run(["check", str(path)]) == 0
