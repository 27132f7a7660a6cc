"""Ways through programs with enclosed probabilities, compared with runs: forged ways are noticed."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from paramverify.evidence import envelope
from paramverify.privacy.cases import load
from paramverify.reports.enclosed_ways import read_ways
from paramverify.rereader.second_reading import SecondLook, second_look

FOLDER = Path(__file__).parents[2] / "cases" / "programs"
NAMES = ["discrete-gauss-threshold", "noisy-max-gauss", "range-mixed", "sparse-vector-gauss"]
Json = dict[str, Any]


def document_of(path: Path) -> Json:
    """Returns the ways of a case as evidence has them, with its bound."""
    case = load(path)
    epsilon, delta = (str(Fraction(case.data["privacy"][name])) for name in ("epsilon", "delta"))
    bound = {"of": "epsilon", "value": epsilon}
    own = {"kind": "paths", "bound": bound, "delta": delta, **read_ways(path.read_text()), "cells": [1, 1]}
    return json.loads(json.dumps(envelope.document("holds", envelope.statements(own))))  # type: ignore[no-any-return]


def looked(document: Json, path: Path) -> SecondLook:
    """Returns what the second reader says."""
    return second_look(document, path.read_text(), folder=path.parent)


def first(document: Json) -> tuple[Json, list[Json]]:
    """Returns the outputs of the first input, and the ways to the first of them."""
    outputs = next(iter(document["statements"][0]["inputs"].values()))
    return outputs, next(iter(outputs.values()))


def weight(document: Json) -> None:
    first(document)[1][0]["weight"] = "1/2"


def moved(document: Json) -> None:
    region = first(document)[1][0]["region"]
    region[0][1] = str(int(region[0][1]) + 1)


def turned(document: Json) -> None:
    region = first(document)[1][0]["region"]
    region[0][0] = [[v, s.removeprefix("-") if s.startswith("-") else f"-{s}"] for v, s in region[0][0]]


def left_out(document: Json) -> None:
    first(document)[1].pop(0)


def twice(document: Json) -> None:
    ways = first(document)[1]
    ways.append(ways[0])


def exchanged(document: Json) -> None:
    outputs, _ = first(document)
    one, other = list(outputs)[:2]
    outputs[one], outputs[other] = outputs[other], outputs[one]


def other_noise(document: Json) -> None:
    document["statements"][0]["noise"][0][1] = "3"


def other_pairs(document: Json) -> None:
    document["statements"][0]["pairs"].reverse()


def other_input(document: Json) -> None:
    inputs = document["statements"][0]["inputs"]
    one, other = list(inputs)[:2]
    inputs[one], inputs[other] = inputs[other], inputs[one]


def other_bound(document: Json) -> None:
    document["statements"][0]["bound"]["value"] = "7"


FORGED = [
    weight,
    moved,
    turned,
    left_out,
    twice,
    exchanged,
    other_noise,
    other_pairs,
    other_input,
    other_bound,
]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_forged_ways_are_noticed(name: str) -> None:
    """The ways of a program agree with its runs; another weight, region, output or noise does not."""
    path = FOLDER / f"{name}.toml"
    document = document_of(path)
    look = looked(document, path)
    assert (look.compared, look.agrees) == (True, True), look.line
    count = sum(
        len(ways) for outputs in document["statements"][0]["inputs"].values() for ways in outputs.values()
    )
    assert look.line.endswith(f"which meet {count} of them"), look.line
    for forge in FORGED:
        changed = json.loads(json.dumps(document))
        changes: Callable[[Json], None] = forge
        changes(changed)
        look = looked(changed, path)
        assert (look.compared, look.agrees) == (True, False), (forge.__name__, look.line)
