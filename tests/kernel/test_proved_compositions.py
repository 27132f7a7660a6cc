"""Compositions by the program that is extracted from Coq: exact numbers, as in Python, and none is false."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest
from composition_oracle import Pair, brute_delta, brute_ratio, mixed, random_pair, turned
from engine_documents import Json, engine_document, own
from three_checkers import NOT_KNOWN, agreed, built, by_program, in_python

ONE = Fraction(1, 10**6)  # by which numbers are made wrong
NO_GRID = {"grid": None, "spans": [], "choice": [0]}


def table(pair: Pair) -> Json:
    """Returns a release with a list of masses."""
    return {"kind": "table", "outputs": [[str(p), str(q)] for p, q in pair]}


def stated(releases: Sequence[tuple[Json, int]], question: Json, exact: Any, **more: Any) -> Json:
    """Returns what is said of releases; one of a sample is looked at in both directions."""
    ways = [
        [{"dominating": given, "pairs": []}, {"dominating": {"kind": "turned", "of": given}, "pairs": []}]
        if given["kind"] == "sampled"
        else [{"dominating": given, "pairs": []}]
        for given, _ in releases
    ]
    found = {
        "components": [{"times": n, "ways": way} for way, (_, n) in zip(ways, releases, strict=True)],
        "question": question,
        "directions": [NO_GRID] * max(map(len, ways)),
        **{"exact": exact, "lower": None, "upper": None, **more},
    }
    return engine_document("composition", "bounds", **found)


def asked(random: Random) -> tuple[list[tuple[Json, int]], list[list[Pair]]]:
    """Returns random releases, some of them of a sample, and the pairs of each direction."""
    releases, directions = list[tuple[Json, int]](), [list[Pair](), list[Pair]()]
    sampled = random.random() < 0.4
    for _ in range(random.randint(1, 2)):
        pair, times, given = random_pair(random, 3, zeros=False), random.randint(1, 2), Json()
        both: list[Pair] = [pair, pair]
        given = table(pair)
        if sampled:
            rate = Fraction(random.randint(1, 3), 4)
            given = {"kind": "sampled", "of": given, "rate": str(rate)}
            both = [mixed(pair, rate), turned(mixed(pair, rate))]
        releases.append((given, times))
        for pairs, one in zip(directions, both, strict=True):
            pairs += [one] * times
    return releases, directions if sampled else directions[:1]


def test_exact_numbers_are_those_of_all_outputs(tmp_path: Path) -> None:
    """Deltas for an epsilon, and ratios for a delta, by brute force; numbers a bit away are rejected."""
    random, right, wrong = Random(12), list[Json](), list[Json]()
    for _ in range(15):
        releases, directions = asked(random)
        ratio, share = Fraction(random.randint(4, 12), 4), Fraction(random.randint(1, 9), 40)
        delta = max(brute_delta(pairs, ratio) for pairs in directions)
        ratios = [brute_ratio(pairs, share) for pairs in directions]
        numbers: list[tuple[Json, Fraction]] = [({"epsilon": ["0", str(ratio)]}, delta)]
        numbers.append(({"delta": str(share)}, max(r for r in ratios if r is not None)))
        for question, exact in numbers:
            right.append(stated(releases, question, str(exact)))
            wrong += [stated(releases, question, str(exact + step)) for step in (ONE, -ONE)]
    assert agreed(right, tmp_path) == {"accepted": len(right)}
    answers = by_program(built(), [tmp_path / f"{k}.json" for k in range(len(right))])
    for document, answer in zip(right, answers, strict=True):
        assert answer.lines == in_python(json.dumps(document).encode()).lines
    assert agreed(wrong, tmp_path / "wrong") == {"rejected": len(wrong)}


RESPONSE = {"kind": "randomized_response", "step": ["0", "3"], "values": "2"}
LAPLACE = {"kind": "discrete_laplace", "step": ["0", "2"], "sensitivity": "2"}
EPSILON: Json = {"epsilon": ["0", "1"]}


def known() -> list[Json]:
    """Returns documents with exact numbers: of each kind of release, for each kind of question."""
    sample = {"kind": "sampled", "of": RESPONSE, "rate": "1/2"}
    return [
        stated([(RESPONSE, 1)], EPSILON, "1/2"),
        stated([(RESPONSE, 1)], {"delta": "0"}, "3"),
        stated([(RESPONSE, 2)], {"delta": "0"}, "9"),
        stated([(LAPLACE, 1)], {"delta": "0"}, "4"),
        stated([(LAPLACE, 1)], EPSILON, "1/2"),
        stated([(sample, 1)], EPSILON, "1/4"),
    ]


def test_releases_of_each_kind(tmp_path: Path) -> None:
    """All are accepted, and no other number is accepted of one."""
    made = known()
    assert agreed(made, tmp_path / "true") == {"accepted": len(made)}
    wrong = [with_exact(d, str(Fraction(own(d)["exact"]) + step)) for d in made for step in (ONE, -ONE)]
    assert agreed(wrong, tmp_path) == {"rejected": len(wrong)}


def with_exact(document: Json, exact: str) -> Json:
    """Returns the document with another number."""
    (about,) = document["statements"]
    return {**document, "statements": [{**about, "exact": exact}]}


GAUSSIAN = {"kind": "discrete_gaussian", "sigma": "1", "sensitivity": "1"}
UNKNOWN = {
    "with bounds that are rounded": stated([(RESPONSE, 1)], EPSILON, None, lower="1/2", upper="1/2"),
    "with exp": stated([({**RESPONSE, "step": ["1", "1"]}, 1)], EPSILON, "1/2"),
    "with noise that is rounded": stated([(GAUSSIAN, 1)], EPSILON, "1/2"),
}


@pytest.mark.parametrize("what", UNKNOWN)
def test_what_is_not_known_is_named(what: str, tmp_path: Path) -> None:
    """Rounded numbers and exp are said to be not known, and nothing is accepted then."""
    path = tmp_path / "evidence.json"
    path.write_text(json.dumps(UNKNOWN[what]))
    (answer,) = by_program(built(), [path])
    assert answer.word == NOT_KNOWN
    assert f"a composition {what}" in answer.lines[0]
