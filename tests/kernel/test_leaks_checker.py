"""The checker of loops that make a ratio grow: a small system by hand, and documents that are false."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from engine_documents import NO_PARAMETERS, engine_document, own, with_own
from three_checkers import asked_later

checked, compared_with_the_proved_checker = asked_later()

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
    system = {
        **{"data": ["d"], "queries": ["q"], "responses": ["0", "1"], "hidden": ["h"]},
        **{"initial": 0, "partial": False, "states": list("ivabcwuge"), "rows": rows},
    }
    more = {"system": system, "ratio": "2", "closures": [], "growth": {**growth, **changes}}
    return engine_document("unwinding", "violated", NO_PARAMETERS, **more)


def test_what_comes_with_a_loop() -> None:
    """A loop comes with the status violated, alone, and without assumptions about the environment."""
    right = document()
    assert "'holds' does not go with growth" in checked({**right, "status": "holds"}).lines[0]
    witness = {
        **{"parameters": {}, "left": [Q], "right": [D, Q], "place": 0, "trace": [Q], "closed": False},
        "probabilities": ["1", "1"],
    }
    assert (
        "'violated' does not go with growth and witness" in checked(with_own(right, witness=witness)).lines[0]
    )
    partial = with_own(right, system={**own(right)["system"], "partial": True})
    assert "assuming that no input comes where it is not accepted" in checked(partial).lines[0]
    own(right)["tight"] = None
    assert "'violated' does not go with growth and tight" in checked(right).lines[0]


def test_a_loop_that_is_accepted() -> None:
    """The ratio doubles with each loop, if w and u keep their shares."""
    line = "a loop makes the ratio grow without limit: a violation, and there is no budget"
    assert checked(document()).lines == (line,)
    assert not checked(document(("1/3", "2/3"))).accepted


HIDDEN, NEITHER = 4, "is neither an input nor a response"
STEPS: list[tuple[dict[str, Any], str]] = [
    *(({"left": [Q, k], "right": [D, Q, k]}, NEITHER) for k in (HIDDEN, 5, -1)),
    *(({"loop": [Q, k]}, NEITHER) for k in (HIDDEN, 5, -1)),
    ({"left": [ZERO], "right": [D, ZERO]}, "a response is taken in a state that waits for an input"),
    ({"left": [ONE], "right": [D, ONE]}, "a response is taken in a state that waits for an input"),
    ({"loop": [Q, ZERO, ZERO]}, "a response is taken in a state that waits for an input"),
    ({"left": [Q, D], "right": [D, Q, D]}, "a data point arrives where a state does not accept it"),
    ({"loop": [Q, ONE]}, "the loop leads to other states than it started from"),
    ({"loop": [Q]}, "the loop leads to other states than it started from"),
    ({"loop": []}, "the loop does not increase the ratio"),
    ({"loop": [D]}, "the loop does not increase the ratio"),
    ({"left": [Q, ZERO], "right": [Q, ZERO]}, "must differ in one inserted data point"),
]


@pytest.mark.parametrize(("change", "reason"), STEPS)
def test_steps_of_loops_that_are_none(change: dict[str, Any], reason: str) -> None:
    """Each step is an input or a response that the runs take; the loop leads back, and tells them apart."""
    report = checked(document(**change))
    assert not report.accepted
    assert reason in report.lines[0]


def test_steps_that_some_states_do_not_take() -> None:
    """A query leaves out runs that answer first; points come where all wait, answers where none does."""
    system = own(document())["system"]
    rows = [[[D, [[9, "1"]]], [Q, [[7, "1/2"], [10, "1/2"]]]], *system["rows"][1:]]
    rows += [[[D, [[9, "1"]]], [Q, [[4, "1/2"], [1, "1/2"]]]], [[D, [[10, "1"]]], [Q, [[2, "1"]]]]]
    for steps, loop, line in (
        ([Q, Q, ZERO], [Q, ZERO], "a loop makes the ratio grow without limit"),
        ([Q, ZERO], [], "a response is taken in a state that waits for an input"),
        ([Q, D], [], "a data point arrives where a state does not accept it"),
    ):
        given = document(left=steps, right=[D, *steps], loop=loop)
        changed = with_own(given, system={**system, "rows": rows, "states": [*system["states"], "x", "y"]})
        assert line in checked(changed).lines[0]


def test_loops_in_environments_that_give_accepted_inputs_only() -> None:
    """A run that answers 0 with 1/4 is outgrown by one with 1/2, half of whose states take no query."""
    system = own(document())["system"]
    rows = copy.deepcopy(system["rows"])
    rows[1][1][1], rows[6] = [[3, "1/4"], [4, "3/4"]], [[D, [[6, "1"]]]]
    given = with_own(document(), system={**system, "partial": True, "rows": rows})
    assert "an input arrives that the environment is assumed not to send" in checked(given).lines[0]
    rows[6] = system["rows"][6]
    given = with_own(document(), system={**system, "partial": True, "rows": rows})
    assert "assuming that no input comes where it is not accepted" in checked(given).lines[0]
