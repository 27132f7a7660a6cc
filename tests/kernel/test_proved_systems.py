"""Interactive systems by the program that is extracted from Coq: the answers of Python, and none is false."""

from __future__ import annotations

import json
from copy import deepcopy
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest
from conftest import ROOT
from engine_documents import NO_PARAMETERS, engine_document, own, told, with_own
from oracle_tools import Json, Runs, inside, points_of, value_of
from three_checkers import NOT_KNOWN, agreed, built, by_program, changed

from paramverify.interactive.system_cases import load
from paramverify.interactive.system_certificates import evidence_document
from paramverify.interactive.system_verification import verify
from paramverify.kernel.documents import engine_of

# Families and costs; with parameters, with E = exp(q), with hidden steps that may come again and again.
SHIPPED = (
    *("slots-0", "slots-2-one-value", "slots-2-laplace", "slots-2-symbolic"),
    *("sample-n", "survey", "survey-subroutines", "unwinding-add-only"),
)
# Violations: with parameters, with E, and with an observation after which nothing is seen.
VIOLATED = (
    "sample-n-printed",
    "slots-1-full",
    "slots-1-bad-noise",
    "slots-2-symbolic-full",
    "slots-2-laplace-full",
)


@pytest.fixture(scope="module")
def systems() -> list[Json]:
    """Evidence of shipped cases that hold, and of those that are violated."""
    cases = [load(ROOT / "cases" / "interactive" / f"{name}.toml") for name in (*SHIPPED, *VIOLATED)]
    return [json.loads(json.dumps(evidence_document(case, verify(case)))) for case in cases]


@pytest.mark.slow
def test_shipped_systems_get_the_same_answers(systems: list[Json], tmp_path: Path) -> None:
    """All are accepted with the same numbers of comparisons; of changed ones both say the same."""
    assert agreed(systems, tmp_path / "true") == {"accepted": len(systems)}
    assert {own(d)["proof"]["kind"] for d in systems if d["status"] == "holds"} == {"family", "costs"}
    assert [document["status"] for document in systems].count("violated") == len(VIOLATED)
    assert any(group["times"] for document in systems for group in own(document)["closures"])
    counts = agreed(changed(systems, 120, 41), tmp_path)
    assert counts["rejected"] > 60, counts
    assert counts.get(NOT_KNOWN, 0) < 8, counts


def is_true(given: Json, random: Random) -> bool:
    """Whether short inputs are within the bound, or the chances of a witness are those of the system."""
    document = told(given)
    if document["status"] == "holds":
        return all(Runs(document, point).within() for point in points_of(document["domain"], random, 1))
    witness = document["witness"]
    point = {name: Fraction(text) for name, text in witness["parameters"].items()}
    runs, trace, slack = Runs(document, point), tuple(witness["trace"]), Fraction(1, 10**12)
    said = [weight_of(weight, point) for weight in witness["probabilities"]]
    seen = [runs.seen(tuple(witness[side]), trace) for side in ("left", "right")]
    same = all(low - slack <= p <= high + slack for p, (low, high) in zip(said, seen, strict=True))
    return (
        inside(document["domain"], point) and (same or witness["closed"]) and said[0] > runs.ratio * said[1]
    )


def weight_of(weight: Any, point: dict[str, Fraction]) -> Fraction:
    """Returns the value of a polynomial, or of a quotient of two."""
    top, bottom = (weight, "1") if isinstance(weight, str) else weight
    return value_of(top, point) / value_of(bottom, point)


def test_no_false_evidence_is_accepted(systems: list[Json], tmp_path: Path) -> None:
    """Changed systems, bounds, closures and witnesses that the program accepts are true of short inputs."""
    enclosed = [d for d in systems if "witness" in own(d) and "constant" in d["domains"][0]]
    small = [d for d in systems if len(own(d)["system"]["rows"]) < 25 and d not in enclosed]
    assert len(small) > 5
    paths = list[Path]()
    for data in changed(small, 180, 42):
        paths.append(tmp_path / f"{len(paths)}.json")
        paths[-1].write_bytes(data)
    accepted = [p for p, a in zip(paths, by_program(built(), paths), strict=True) if a.word == "accepted"]
    assert len(accepted) > 4
    random, seen, statuses = Random(2), set[str](), set[str]()
    for path in accepted:
        document = json.loads(path.read_bytes().decode("utf-8-sig"))
        if engine_of(document) is None:
            continue
        statuses.add(document["status"])
        about = json.dumps([told(document).get(name) for name in ("domain", "system", "ratio", "witness")])
        if about not in seen:
            seen.add(about)
            assert is_true(document, random), path
    assert statuses == {"holds", "violated"}


ROWS = [  # a data point leads to a state that answers 0 more often; h is a hidden step, again and again
    [[0, [[1, "1"]]], [1, [[2, "1"]]]],
    [[0, [[1, "1"]]], [1, [[3, "1"]]]],
    [[4, [[2, "1/2"], [4, "1/8"], [5, "3/8"]]]],
    [[4, [[3, "1/2"], [4, "1/4"], [5, "1/4"]]]],
    [[2, [[6, "1"]]]],
    [[3, [[6, "1"]]]],
    [],
]


def leaking(ratio: str, ends: tuple[str, str] = ("1/4", "3/4"), times: str = "2", **more: object) -> Json:
    """Returns a system whose answers are 1/4 and 1/2 likely where the hidden steps are over."""
    left = [[4, ends[0]], [5, ends[1]]]
    found = {
        "system": {
            **{"data": ["d"], "queries": ["q"], "responses": ["0", "1"], "hidden": ["h"]},
            **{"initial": 0, "partial": False, "states": list("abcdefg"), "rows": ROWS},
        },
        "ratio": ratio,
        "closures": [
            {"ends": [[2, left]], "times": [[2, times]]},
            {"ends": [[3, [[4, "1/2"], [5, "1/2"]]]], "times": [[3, "2"]]},
        ],
        "proof": {"kind": "family", "delta": "2", "steps": 1, "levels": [[0, 1, 1]]},
        **more,
    }
    return engine_document("unwinding", domain=NO_PARAMETERS, **found)


def test_places_that_are_there_twice(tmp_path: Path) -> None:
    """A hidden state, its number of steps and each of its ends are listed once, so nothing is left out."""
    right = leaking("2")
    made: list[Json] = []
    for k, group in enumerate(own(right)["closures"]):
        for part in (group["ends"], group["times"], *(ends for _, ends in group["ends"])):
            for entry in part:
                other = deepcopy(right)
                mirrored = own(other)["closures"][k]
                lists = (mirrored["ends"], mirrored["times"], *(ends for _, ends in mirrored["ends"]))
                next(rows for rows in lists if rows == part).append(entry)
                made.append(other)
    assert len(made) > 4
    assert agreed([right], tmp_path / "right") == {"accepted": 1}
    assert agreed(made, tmp_path / "twice") == {"rejected": len(made)}


def test_where_hidden_steps_end(tmp_path: Path) -> None:
    """Only the ends that the steps have are accepted, and only with the expected numbers of steps."""
    made = [leaking("2"), leaking("3")]
    wrong = [
        leaking("19/10"),
        leaking("2", ("1/2", "1/2")),
        leaking("2", ("1/3", "2/3")),
        leaking("2", times="1"),
    ]
    wrong += [leaking("2", times="3"), leaking("2", times="-2"), leaking("2", closures=[])]
    wrong += [leaking("2", closures=[{**group, "times": []} for group in own(leaking("2"))["closures"][:1]])]
    costs = {"kind": "costs", "classes": [[k] for k in range(7)], "costs": [[0, 1, "3/2"], [1, 0, "2"]]}
    made.append(leaking("2", proof=costs))
    wrong += [
        leaking("19/10", proof=costs),
        leaking("2", proof={**costs, "classes": [[0, 1], *costs["classes"][2:]]}),
    ]
    small = {**costs, "costs": [[0, 1, "3/2"], [1, 0, "3/2"]]}
    wrong.append(leaking("2", proof=small))
    assert agreed(made, tmp_path) == {"accepted": 3}
    counts = agreed(wrong, tmp_path / "wrong")
    assert counts.get("accepted", 0) == 0, counts
    assert counts["rejected"] >= len(wrong) - 1, counts


def test_an_observation_that_is_too_likely(tmp_path: Path) -> None:
    """With a data point the answer 0 is 1/2 likely, without it 1/4; all else that may be said is rejected."""

    def violated(ratio: str = "19/10", **changes: object) -> Json:
        seen: Json = {"parameters": {}, "left": [0, 1], "right": [1], "place": 0, "trace": [1, 2]}
        seen |= {"closed": False, "probabilities": ["1/2", "1/4"], **changes}
        return {**with_own(leaking(ratio), proof=None, witness=seen), "status": "violated"}

    right = [violated(), violated("1"), violated(closed=True)]
    right.append(violated("7/5", left=[1], right=[0, 1], trace=[1, 3], probabilities=["3/4", "1/2"]))
    wrong = [violated("2"), violated("3"), violated("-1"), violated(probabilities=["1/2", "1/5"])]
    wrong += [violated(trace=trace) for trace in ([], [1, 3], [2], [0, 1, 2], [1, 2, 4])]
    wrong += [violated(place=1), violated(place=2), violated(right=[0, 1]), violated(right=[])]
    wrong += [violated(left=[1]), violated(left=[0, 2]), violated(parameters={"p": "1"})]
    assert agreed(right, tmp_path) == {"accepted": len(right)}
    assert agreed(wrong, tmp_path / "wrong") == {"rejected": len(wrong)}


def test_states_that_nobody_can_tell_apart(tmp_path: Path) -> None:
    """Two outcomes of one class count together; a class of states that differ is rejected."""
    rows = [
        [[0, [[1, "1"]]], [1, [[2, "1/2"], [3, "1/4"], [4, "1/4"]]]],
        [[0, [[1, "1"]]], [1, [[2, "1/8"], [3, "1/8"], [4, "3/4"]]]],
        *[[[2, [[5, "1"]]]], [[2, [[6, "1"]]]], [[3, [[5, "1"]]]], [], []],
    ]
    system = {**own(leaking("3"))["system"], "rows": rows, "hidden": []}
    costs = [[0, 1, "3"], [1, 0, "3"]]
    made, wanted = [], []
    for classes, ratio, right in (
        ([[0], [1], [2, 3], [4], [5, 6]], "3", True),
        ([[0], [1], [2, 3], [4], [5, 6]], "29/10", False),
        ([[0], [1], [2], [3], [4], [5], [6]], "3", False),  # one by one the quotient is 4
        ([[0], [1], [2, 4], [3], [5, 6]], "3", False),
        ([[0, 1], [2, 3], [4], [5, 6]], "3", False),
        ([[0], [1], [2, 3], [5, 6]], "3", False),
    ):
        proof = {"kind": "costs", "classes": classes, "costs": costs}
        made.append(leaking(ratio, system=system, closures=[], proof=proof))
        wanted.append(right)
    assert agreed(made, tmp_path) == {"accepted": 1, "rejected": 5}
    paths = [tmp_path / f"{k}.json" for k in range(len(made))]
    assert [answer.word == "accepted" for answer in by_program(built(), paths)] == wanted
