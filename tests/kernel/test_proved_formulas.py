"""Formulas of dpCTL* by the program that is extracted from Coq: as in Python, and none that is false."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

from engine_documents import NO_PARAMETERS, engine_document
from formula_tools import VALUES, formula, model, summed
from oracle_tools import Json
from three_checkers import NOT_KNOWN, agreed, built, by_program

from paramverify.kernel.chain_models import read_chain

LONG = 4  # steps; the formulas of this file look at fewer


def stated(chain: Json, tree: Any, status: str, **more: Any) -> Json:
    """Returns evidence about one formula without parameters."""
    found = {"name": "f", "text": "f", "formula": tree, "status": status, **more}
    return engine_document("formulas", status, NO_PARAMETERS, model=chain, formulas=[found])


def test_probabilities_are_sums_over_all_paths(tmp_path: Path) -> None:
    """Random formulas and chains: just the sum is at most the probability, and D needs just its quotient."""
    right, wrong = list[bytes](), list[bytes]()
    for seed in range(12):
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


ROWS = [[[1, "1/2"], [2, "1/2"]], [[3, "1/3"], [4, "2/3"]], [[3, "1/2"], [4, "1/2"]], [[3, "1"]], [[4, "1"]]]


def ending(**changes: Any) -> Json:
    """Returns a chain that ends in 3 or in 4: from 1 with 1/3 in 3, from 2 with 1/2."""
    return {
        **{"states": list("abcde"), "actions": ["a"], "scheduled": True, "initial": [0]},
        **{"steps": ROWS, "rows": [[k] for k in range(5)]},
        **{"labels": {"goal": [3], "way": [0, 1], "first": [1]}, "neighbours": [[1, 2]]},
        **changes,
    }


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
    for seed in range(6):
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
