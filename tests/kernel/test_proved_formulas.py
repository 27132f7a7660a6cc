"""Formulas of dpCTL* by the program that is extracted from Coq: as in Python, and none that is false."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest
from engine_documents import NO_PARAMETERS, engine_document
from formula_tools import VALUES, formula, model, summed
from oracle_tools import Json
from test_dpctl_kernel import made
from three_checkers import NOT_KNOWN, agreed, built, by_program, changed

from paramverify.kernel.chain_models import read_chain
from paramverify.portfolio.session import Session

# Bounded formulas, nested ones, F, numbers, parameters, E, each kind of verdict. In models with choices
# there are words of actions, and families with the argument `tail`.
SHIPPED = (
    *("double-survey", "geometric", "geometric-symbolic", "survey", "survey-coin"),
    *("subsampling-majority", "subsampling-majority-as-printed", "interactive-survey"),
    *("above-threshold-one-pair", "above-threshold-two-copies-one-pair", "above-threshold"),
)
LONG = 4  # steps; the formulas of this file look at fewer


@pytest.fixture(scope="module")
def documents() -> Iterator[list[Json]]:
    """Evidence of shipped cases."""
    with Session() as session:
        yield [json.loads(json.dumps(made(session, name))) for name in SHIPPED]


def stated(chain: Json, tree: Any, status: str, **more: Any) -> Json:
    """Returns evidence about one formula without parameters."""
    found = {"name": "f", "text": "f", "formula": tree, "status": status, **more}
    return engine_document("formulas", status, NO_PARAMETERS, model=chain, formulas=[found])


@pytest.mark.slow
def test_shipped_formulas_get_the_same_answers(documents: list[Json], tmp_path: Path) -> None:
    """All are accepted with the same numbers of formulas; of changed ones both say the same."""
    assert agreed(documents, tmp_path / "true") == {"accepted": len(SHIPPED)}
    counts = agreed(changed(documents, 60, 61), tmp_path)
    assert counts["rejected"] > 24, counts
    assert counts["accepted"] > 4, counts
    assert counts.get(NOT_KNOWN, 0) < 9, counts


def test_probabilities_are_sums_over_all_paths(tmp_path: Path) -> None:
    """Random formulas and chains: just the sum is at most the probability, and D needs just its quotient."""
    right, wrong = list[bytes](), list[bytes]()
    for seed in range(25):
        random = Random(seed)
        chain, tree = model(random, 3, 1), formula(random, 3)
        read = read_chain(chain, VALUES)
        low, high = sorted(summed(read, s, (0,) * LONG, tree) for s in (0, 1))
        here = summed(read, 0, (0,) * LONG, tree)
        more = here + Fraction(1, 1000)
        truths: list[tuple[Any, bool]] = [
            (["P", ">=", str(here), tree], True),
            (["P", "<=", str(here), tree], True),
            (["P", ">", str(here), tree], False),
            (["P", ">=", str(more), tree], False),
            (["D", "1", str(high - low), tree], True),
        ]
        if low:
            truths.append((["D", str(high / low), "0", tree], True))
        if low < high:
            truths.append((["D", "1", str((high - low) / 2), tree], False))
            truths.append((["not", ["D", "1", "0", tree]], True))
        for one, truth in truths:
            right.append(json.dumps(stated(chain, one, "holds")).encode())
            point: Json = {"parameters": {}, "state": 0}
            wrong.append(json.dumps(stated(chain, one, "violated", **point)).encode())
            if not truth:
                right[-1], wrong[-1] = wrong[-1], right[-1]
    assert agreed(right, tmp_path) == {"accepted": len(right)}
    assert agreed(wrong, tmp_path / "wrong") == {"rejected": len(wrong)}


def test_models_with_choices(tmp_path: Path) -> None:
    """Under all words of actions, just the largest difference is enough; a word shows that less is not."""
    true, false, doubtful = list[bytes](), list[bytes](), list[bytes]()
    for seed in range(20):
        random = Random(seed)
        chain, tree = model(random, 3, 2), formula(random, 2)
        read = read_chain(chain, VALUES)
        words = product(range(2), repeat=3)
        gaps = [abs(summed(read, 0, word, tree) - summed(read, 1, word, tree)) for word in words]
        enough, point = ["D", "1", str(max(gaps)), tree], {"parameters": {}, "state": 0}
        doubtful.append(json.dumps(stated(chain, enough, "holds")).encode())
        false.append(json.dumps(stated(chain, ["and", [enough, enough]], "violated", **point)).encode())
        if any(gaps):
            less = ["D", "1", str(max(gaps) * Fraction(9, 10)), tree]
            true.append(json.dumps(stated(chain, ["and", [enough, less]], "violated", **point)).encode())
            false.append(json.dumps(stated(chain, less, "holds")).encode())
    assert agreed(true, tmp_path) == {"accepted": len(true)}
    assert agreed(false, tmp_path / "false").get("accepted", 0) == 0
    counts = agreed(doubtful, tmp_path / "doubtful")
    assert counts["accepted"] > 10, counts
    assert counts["accepted"] + counts.get(NOT_KNOWN, 0) == len(doubtful), counts


def test_families_without_a_last_number(tmp_path: Path) -> None:
    """With a path that is the rarer the longer it is, all members hold; not before it is rare enough."""
    chain = ending(steps=[[[0, "1/2"], [3, "1/2"]], [[1, "1/4"], [3, "3/4"]], *ROWS[2:]], neighbours=[[0, 1]])
    stay = ["until", ["not", ["label", "goal"]], ["label", "goal"], {"more": 0}, {"more": 0}]
    twice = {**chain, "actions": ["a", "b"], "rows": [[0, 1], [1, 0], [2, 2], [3, 3], [4, 4]]}
    right, wrong = list[bytes](), list[bytes]()
    for model_of, last in ((chain, 3), (twice, 3)):
        for until in (last, last + 1, last - 1):
            family = {"family": {"first": 0, "last": None}, "until": until, "argument": "tail"}
            one = stated(model_of, ["D", "1", "1/2", ["next", stay]], "holds", **family)
            right.append(json.dumps(one).encode())
            less = stated(model_of, ["D", "1", "1/5", ["next", stay]], "holds", **family)
            wrong.append(json.dumps(less).encode())
    assert agreed(right, tmp_path) == {"accepted": len(right)}
    assert agreed(wrong, tmp_path / "wrong").get("accepted", 0) == 0


ROWS = [[[1, "1/2"], [2, "1/2"]], [[3, "1/3"], [4, "2/3"]], [[3, "1/2"], [4, "1/2"]], [[3, "1"]], [[4, "1"]]]


def ending(**changes: Any) -> Json:
    """Returns a chain that ends in 3 or in 4: from 1 with 1/3 in 3, from 2 with 1/2."""
    return {
        **{"states": list("abcde"), "actions": ["a"], "scheduled": True, "initial": [0]},
        **{"steps": ROWS, "rows": [[k] for k in range(5)]},
        **{"labels": {"goal": [3], "way": [0, 1], "first": [1]}, "neighbours": [[1, 2]]},
        **changes,
    }


def test_any_number_of_steps(tmp_path: Path) -> None:
    """F and U have the probabilities to reach their goal; families and formulas within formulas, too."""
    goal, way = ["label", "goal"], ["label", "way"]
    reach, stay = ["until", ["true"], goal, 0, None], ["until", way, goal, 0, None]
    member = ["until", ["true"], goal, {"more": 0}, {"more": 2}]
    private = ["D", "3/2", "0", reach]
    right = [
        *(["P", relation, "5/12", reach] for relation in (">=", "<=")),
        *(["P", relation, "1/6", stay] for relation in (">=", "<=")),
        ["P", ">", "0", ["next", ["and", [["label", "first"], private, ["not", ["D", "7/5", "0", reach]]]]]],
        ["or", [["false"], ["not", ["P", ">", "5/12", reach]]]],
    ]
    wrong = [
        ["P", ">", "5/12", reach],
        ["P", "<", "1/6", stay],
        ["and", [private, ["P", ">", "1/2", reach]]],
        ["P", "<=", "0", ["next", ["and", [["label", "first"], private]]]],
    ]
    holding = [stated(ending(), tree, "holds") for tree in right]
    near = ending(initial=[1, 2])
    holding += [
        stated(near, ["D", "3/2", "0", reach], "holds"),
        stated(near, ["D", "1", "1/6", reach], "holds"),
    ]
    family = {"family": {"first": 0, "last": 3}}
    holding.append(stated(near, ["D", "1", "1/6", member], "holds", **family))
    beyond = stated(near, ["D", "1", "1/7", member], "violated", parameters={}, state=1, index=2, **family)
    false = [stated(ending(), tree, "holds") for tree in wrong]
    false += [
        stated(near, ["D", "7/5", "0", reach], "holds"),
        stated(near, ["D", "1/2", "1", reach], "holds"),
    ]
    false += [
        stated(near, ["D", "1", "1/7", member], "holds", **family),
        stated(near, goal, "holds", **family),
    ]
    far = {"parameters": {}, "index": 2, **family}
    false += [stated(near, ["D", "1", "1/6", member], "violated", state=1, **far)]
    false += [stated(near, ["D", "1", "1/7", member], "violated", state=0, **far)]
    false += [
        stated(ending(labels={"goal": [5]}), ["true"], "holds"),
        stated(ending(initial=[]), ["true"], "holds"),
    ]
    accepted = [json.dumps(d).encode() for d in (*holding, beyond)]
    assert agreed(accepted, tmp_path) == {"accepted": len(accepted)}
    rejected = [json.dumps(d).encode() for d in false]
    assert agreed(rejected, tmp_path / "wrong") == {"rejected": len(rejected)}


def test_what_is_not_known_of_formulas(tmp_path: Path) -> None:
    """Choices, chances that no number of steps settles, G behind a step, families without a last number."""
    goal = ["label", "goal"]
    again = ending(steps=[[[0, "1/2"], [3, "1/2"]], *ROWS[1:]])
    endless: Json = {"family": {"first": 0, "last": None}, "until": 2, "argument": "equality"}
    two = ending(actions=["a", "b"], rows=[[k, k] for k in range(5)])
    made_ones = [
        stated(two, ["P", ">", "0", ["next", goal]], "holds"),
        stated(again, ["P", ">", "1/2", ["until", ["true"], goal, 0, None]], "holds"),
        stated(
            ending(), ["P", ">", "1/2", ["next", ["release", ["false"], ["not", goal], 0, None]]], "holds"
        ),
        stated(
            ending(),
            ["D", "1", "1/2", ["until", ["true"], goal, {"more": 0}, {"more": 0}]],
            "holds",
            **endless,
        ),
    ]
    paths = [tmp_path / f"{k}.json" for k in range(len(made_ones))]
    for path, document in zip(paths, made_ones, strict=True):
        path.write_text(json.dumps(document))
    answers = list(by_program(built(), paths))
    assert [answer.word for answer in answers] == [NOT_KNOWN] * len(made_ones)
    assert len({answer.lines for answer in answers}) == len(made_ones)


def onwards(random: Random, states: int) -> list[list[list[Any]]]:
    """Returns steps to later states only; the last two states stay where they are."""
    rows = list[list[list[Any]]]()
    for state in range(states - 2):
        targets = sorted(random.sample(range(state + 1, states), min(2, states - state - 1)))
        share = Fraction(random.randint(1, 4), 5)
        shares = [share, 1 - share] if len(targets) == 2 else [Fraction(1)]
        rows.append([[target, str(part)] for target, part in zip(targets, shares, strict=True)])
    return [*rows, [[states - 2, "1"]], [[states - 1, "1"]]]


def paths(rows: list[list[list[Any]]], state: int, steps: int) -> Iterator[tuple[list[int], Fraction]]:
    """Yields the paths from a state with so many steps, and their probabilities."""
    if steps == 0:
        yield [state], Fraction(1)
        return
    for target, share in rows[state]:
        for path, rest in paths(rows, target, steps - 1):
            yield [state, *path], Fraction(share) * rest


def test_release_without_a_number_of_steps(tmp_path: Path) -> None:
    """R, G and W: the probability is the sum over the paths on which nothing is false before its release."""
    states, right, wrong = 6, list[bytes](), list[bytes]()
    for seed in range(15):
        random = Random(seed)
        rows = onwards(random, states)
        first, second = (set(random.sample(range(states), random.randint(1, 4))) for _ in range(2))
        labels = {"first": sorted(first), "second": sorted(second)}
        f, h = ["label", "first"], ["label", "second"]
        weak, always = ["release", h, ["or", [f, h]], 0, None], ["release", ["false"], h, 0, None]
        kinds = ((["release", f, h, 0, None], first, second), (weak, second, first | second))
        for tree, released, kept in (*kinds, (always, set[int](), second)):
            both = [
                sum(
                    (
                        share
                        for path, share in paths(rows, state, states)
                        if all(w in kept or released & set(path[:k]) for k, w in enumerate(path))
                    ),
                    Fraction(0),
                )
                for state in (0, 1)
            ]
            gap = abs(both[0] - both[1])
            truths: list[tuple[Any, bool]] = [
                (["P", ">=", str(both[0]), tree], True),
                (["not", ["P", ">", str(both[0]), tree]], True),
                (["P", "<", str(both[0]), tree], False),
                (["D", "1", str(gap), tree], True),
            ]
            if gap:
                truths.append((["D", "1", str(gap * Fraction(9, 10)), tree], False))
            near = ending(states=list("abcdef"), steps=rows, labels=labels, neighbours=[[0, 1]])
            near["rows"] = [[k] for k in range(states)]
            for one, truth in truths:
                point: Json = {} if truth else {"parameters": {}, "state": 0}
                status, other = ("holds", "violated") if truth else ("violated", "holds")
                right.append(json.dumps(stated(near, one, status, **point)).encode())
                turned: Json = {"parameters": {}, "state": 0} if truth else {}
                wrong.append(json.dumps(stated(near, one, other, **turned)).encode())
    assert agreed(right, tmp_path) == {"accepted": len(right)}
    assert agreed(wrong, tmp_path / "wrong") == {"rejected": len(wrong)}
