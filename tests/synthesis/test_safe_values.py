"""Where a case is private, asked from Python: the same answers as those of the command."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from paramverify.cli.main import run
from paramverify.portfolio.quantifier_elimination import Elimination
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.cases import load
from paramverify.synthesis.maps import RegionMap, Status
from paramverify.synthesis.regions import region_map
from paramverify.synthesis.safe_values import (
    AnswerForm,
    ExactCondition,
    Intervals,
    MapOptions,
    Regions,
    safe_values,
)

CASES = Path(__file__).parents[2] / "cases"
ONE, TWO = CASES / "geometric-contagious-ln2.toml", CASES / "randomized-response-condition.toml"


def told(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    """Returns what the command prints as JSON."""
    run(["synthesize", *map(str, arguments), "--json"])
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_one_parameter_has_intervals(capsys: pytest.CaptureFixture[str]) -> None:
    """The form that suits one parameter is exact intervals, with a witness in each violating part."""
    with Session(Options(seconds=60)) as session:
        found = safe_values(load(ONE), session)
    assert isinstance(found, Intervals)
    parts = found.partition.parts
    assert [part.status.value for part in parts] == [p["status"] for p in told(capsys, ONE)["parts"]]
    assert sorted(found.witnesses) == [k for k, p in enumerate(parts) if p.status is Status.VIOLATING] != []
    assert found.possible == any(part.status is Status.SAFE for part in parts)


def test_a_map_is_told_while_it_is_made(capsys: pytest.CaptureFixture[str]) -> None:
    """A map has the cells of the command's, its shares grow while it is made, and its end is told once."""
    seen: list[Mapping[Status, float]] = []
    made: list[int] = []
    options = MapOptions(Fraction(1, 20), on_shares=seen.append, on_map=lambda: made.append(len(seen)))
    with Session(Options(seconds=60)) as session:
        found = safe_values(load(TWO), session, ("p", "t"), {AnswerForm.MAP}, options)
    assert isinstance(found, Regions)
    assert found.complete
    assert not found.reused
    command = told(capsys, TWO, "--region", "--parameters", "p,t", "--coverage", "1/20")
    assert len(found.map.cells) == len(command["cells"])
    assert [sum(shares.values()) for shares in seen] == sorted(sum(shares.values()) for shares in seen)
    assert made == [len(seen)] != [0]
    assert found.witness is not None


def test_a_map_is_cut_for_a_part_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cutting of a map gets less than the session's time, so something is left for its witness."""
    given: list[float] = []

    def cut(*arguments: Any, seconds: float, **options: Any) -> RegionMap:
        given.append(seconds)
        return region_map(*arguments, seconds=seconds, **options)

    monkeypatch.setattr("paramverify.synthesis.safe_values.region_map", cut)
    with Session(Options(seconds=600)) as session:
        found = safe_values(load(TWO), session, ("p", "t"), {AnswerForm.MAP}, MapOptions(Fraction(1, 20)))
    assert isinstance(found, Regions)
    assert found.complete
    assert len(given) == 1
    assert 0 < given[0] < 600


@pytest.mark.slow
def test_only_the_forms_that_are_allowed() -> None:
    """Intervals do not apply to two parameters: nothing else is tried then unless it is allowed."""
    with Session(Options(seconds=60)) as session:
        assert safe_values(load(TWO), session, ("p", "t"), {AnswerForm.INTERVALS}) is None
        found = safe_values(load(TWO), session, ("t",), {AnswerForm.CONDITION})
    assert isinstance(found, ExactCondition)
    assert found.parameters == ("t",)
    assert isinstance(found.found, Elimination)
    private = [
        t
        for t in range(11, 90)
        if found.found.condition.holds_at({"t": Fraction(t, 100), "p": Fraction(1, 2)})
    ]
    assert private == list(range(25, 76))


@pytest.mark.slow
@pytest.mark.parametrize(("parameters", "most"), [("t", "0.01"), ("p,t", "0.01"), ("p,q,t", "0.05")])
def test_the_default_coverage(parameters: str, most: str, capsys: pytest.CaptureFixture[str]) -> None:
    """More parameters leave more undecided, unless the user says how much."""
    case = CASES / "above-threshold-prior-2.toml"
    asked = (case, "--region", "--parameters", parameters)
    assert told(capsys, *asked)["shares"] == told(capsys, *asked, "--coverage", most)["shares"]
