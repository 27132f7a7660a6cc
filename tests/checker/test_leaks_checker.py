"""The checker of loops that make a ratio grow: a small system by hand, and documents that are false."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from paramverify.checker.unwinding_evidence import check_document

D, Q, ZERO, ONE = range(4)  # the data point, the query, and the responses


def document(e: tuple[str, str] = ("1/2", "1/2"), **changes: object) -> dict[str, Any]:
    """Returns evidence that the ratio doubles with each loop `q, 0`.

    Without the point the system is in w or u after each answer 0, half and half, and answers 0 for sure. With
    the point it is in v, and answers 0 half of the time. The first answer 0 has 1/8 without the point.
    """
    half = "1/2"
    rows = [
        [[D, [[1, "1"]]], [Q, [[2, "1/8"], [7, "7/8"]]]],  # 0: the start
        [[D, [[1, "1"]]], [Q, [[3, half], [4, half]]]],  # 1: v
        [[ZERO, [[5, half], [6, half]]]],  # 2: answers 0, then w or u
        [[ZERO, [[1, "1"]]]],  # 3
        [[ONE, [[1, "1"]]]],  # 4
        [[D, [[5, "1"]]], [Q, [[2, "1"]]]],  # 5: w
        [[D, [[6, "1"]]], [Q, [[8, "1"]]]],  # 6: u
        [[ONE, [[5, "1"]]]],  # 7
        [[ZERO, [[5, e[0]], [6, e[1]]]]],  # 8
    ]
    growth = {"parameters": {}, "left": [Q, ZERO], "right": [D, Q, ZERO], "place": 0, "loop": [Q, ZERO]}
    return {
        "format": "paramverify-unwinding",
        "version": 1,
        "status": "violated",
        "domain": {"variables": [], "box": {}, "constraints": []},
        "system": {
            **{"data": ["d"], "queries": ["q"], "responses": ["0", "1"], "hidden": ["h"]},
            **{"initial": 0, "partial": False, "states": list("ivabcwuge"), "rows": rows},
        },
        "ratio": "2",
        "closures": [],
        "growth": {**growth, **changes},
    }


def test_a_loop_that_doubles_the_ratio() -> None:
    """The loop multiplies 1 against 1/2, also where the vectors have several states and little weight."""
    report = check_document(document())
    assert report.lines == ("a loop makes the ratio grow without limit: a violation, and there is no budget",)
    assert (report.accepted, report.status) == (True, "violated")
    assert check_document(document(left=[Q, ZERO, Q, ZERO], right=[D, Q, ZERO, Q, ZERO])).accepted
    assert check_document(document(loop=[Q, ZERO, Q, ZERO])).accepted


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"left": [], "right": [D]}, "leads to other states"),
        ({"loop": [Q]}, "leads to other states"),
        ({"loop": []}, "does not make the ratio grow"),
        ({"loop": [D]}, "does not make the ratio grow"),
        ({"left": [D, Q, ZERO], "right": [Q, ZERO]}, "does not make the ratio grow"),
        (
            {"left": [Q, ONE, Q, ZERO], "right": [D, Q, ONE, Q, ZERO], "loop": [Q, ONE]},
            "leads to other states",
        ),
        ({"loop": [ZERO]}, "a response is taken where a state waits"),
        ({"loop": [Q, D, ZERO]}, "a data point comes where a state does not take it"),
        ({"loop": [4]}, "neither an input nor a response"),
        ({"loop": [-1]}, "neither an input nor a response"),
        ({"left": [Q, ZERO], "right": [Q, D, ZERO], "place": 1}, "a data point comes where a state"),
        ({"right": [Q, Q, ZERO]}, "do not differ in one inserted data point"),
        ({"place": 1}, "do not differ in one inserted data point"),
        ({"place": -1}, "do not differ in one inserted data point"),
        ({"right": [Q, ZERO]}, "do not differ in one inserted data point"),
        ({"parameters": {"p": "1/2"}}, ""),
    ],
)
def test_loops_that_show_nothing(changes: dict[str, object], reason: str) -> None:
    """Other states, other steps, other inputs and a ratio that does not grow are rejected."""
    report = check_document(document(**changes))
    assert not report.accepted
    assert reason in report.lines[0]


@pytest.mark.parametrize("shares", [("1/4", "3/4"), ("3/4", "1/4")])
def test_vectors_that_change(shares: tuple[str, str]) -> None:
    """A loop that leads to the same states with other shares may not be repeated."""
    report = check_document(document(shares))
    assert not report.accepted
    assert "does not keep the vectors" in report.lines[0]


def test_states_that_are_impossible_at_the_point() -> None:
    """At p = 0 the state u has the probability 0, and what it would do plays no part."""
    found = document(("1/4", "3/4"), parameters={"p": "0"})
    found["domain"] = {"variables": ["p"], "box": {"p": "[0, 1]"}, "constraints": []}
    found["system"]["rows"][2] = [[ZERO, [[6, "p"], [5, "-p + 1"]]]]
    assert check_document(found).accepted
    found["growth"]["parameters"] = {"p": "1/2"}
    assert "does not keep the vectors" in check_document(found).lines[0]
    found["growth"]["parameters"] = {"p": "2"}
    assert not check_document(found).accepted


def test_what_comes_with_a_loop() -> None:
    """A loop comes with the status violated, alone, and without assumptions about the environment."""
    right = document()
    assert "a witness comes with the status violated" in check_document({**right, "status": "holds"}).lines[0]
    witness = {
        **{"parameters": {}, "left": [Q], "right": [D, Q], "place": 0, "trace": [Q], "closed": False},
        "probabilities": ["1", "1"],
    }
    assert "without a loop" in check_document({**right, "witness": witness}).lines[0]
    assert not check_document({**right, "tight": None}).accepted
    partial = copy.deepcopy(right)
    partial["system"]["partial"] = True
    assert "assuming that no input comes where it is not accepted" in check_document(partial).lines[0]
