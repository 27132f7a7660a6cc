"""Evidence about scripts by the program that is extracted from Coq: its answers are those of Python."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest
from engine_documents import own
from oracle_tools import Json, points_of, value_of
from three_checkers import NOT_KNOWN, about_a_script, agreed, built, by_program, changed


@pytest.fixture(scope="module")
def script() -> Json:
    """Answers of each kind, with claims of many kinds and the word of a solver."""
    return about_a_script()


def test_true_answers_are_accepted_in_the_same_words(script: Json, tmp_path: Path) -> None:
    """Both accept, count the same, and say the same of each question."""
    path = tmp_path / "true.json"
    path.write_text(json.dumps(script))
    assert agreed([path.read_bytes()], tmp_path) == {"accepted": 1}
    (answer,) = by_program(built(), [path])
    kinds = len(own(script)["questions"][0]["claims"])
    assert answer.lines == (
        f"question 1: unsat, {kinds} claims",
        "question 2: sat",
        "question 3: unsat, 3 claims, on the word of 'cvc5', 'z3 4'",
        "question 4: unknown",
    )
    assert (answer.proved, answer.trusted, answer.open) == (kinds, 2, 1)


@pytest.mark.slow
def test_changed_answers_get_the_same_answers(script: Json, tmp_path: Path) -> None:
    """Of changed documents both say the same."""
    counts = agreed(changed([script], 100, 41), tmp_path)
    assert counts["rejected"] > 24, counts
    assert counts["accepted"] > 2, counts
    assert counts.get(NOT_KNOWN, 0) < 6, counts


def test_no_answer_rests_on_a_false_claim(script: Json, tmp_path: Path) -> None:
    """Claims are lowered in turn until they are false at a point of their domain."""
    random, paths = Random(6), list[Path]()
    for k in own(script)["questions"][0]["claims"]:
        claim = script["statements"][k]
        domain = script["domains"][claim["domain"]]
        for point in [] if domain.get("ties") else points_of(domain, random, 2):
            lowered = value_of(claim["polynomial"], point) + Fraction(1, 10**6)
            new = copy.deepcopy(script)
            new["statements"][k]["polynomial"] += f" - {lowered}" if lowered > 0 else ""
            paths.append(tmp_path / f"{len(paths)}.json")
            paths[-1].write_text(json.dumps(new))
    assert len(paths) > 20
    assert {answer.word for answer in by_program(built(), paths)} == {"rejected"}
