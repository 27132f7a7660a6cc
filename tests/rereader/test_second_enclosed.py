"""Ways through programs with enclosed probabilities, compared with runs: forged ways are noticed."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest
from case_texts import program_case

from paramverify.cli.main import run
from paramverify.evidence import envelope
from paramverify.kernel.strict_reading import UnreadCase
from paramverify.privacy.cases import load
from paramverify.reports.enclosed_ways import read_ways
from paramverify.reports.evidence_checks import checked
from paramverify.rereader import second_enclosed
from paramverify.rereader.second_enclosed import DrawnNoise, ways_of
from paramverify.rereader.second_numbers import Calculator
from paramverify.rereader.second_reading import SecondLook, second_look

FOLDER = Path(__file__).parents[2] / "cases" / "programs"
NAMES = ["discrete-gauss-threshold", "noisy-max-gauss", "range-mixed", "sparse-vector-gauss"]
Json = dict[str, Any]


def document_of(path: Path) -> Json:
    """Returns the ways of a case as evidence has them, with its bound."""
    case = load(path)
    numbers = {name: str(Fraction(value)) for name, value in case.data["privacy"].items()}
    of = "epsilon" if "epsilon" in numbers else "ratio"
    own = {
        "kind": "paths",
        "bound": {"of": of, "value": numbers[of]},
        **read_ways(path.read_text()),
        "cells": [],
    }
    own |= {"delta": numbers["delta"]} if "delta" in numbers else {}
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


SMALL = program_case(
    """
coin = flip(1/4)
z = n + gauss(2)
w = geometric(1/2)
if z >= 5/2 and (coin or w <= n + 1):
    return "high"
return "low"
""",
    'n = { values = "0..2" }',
    'ratio = "3"\ndelta = "1/9"',
    near='differ = "one"',
)


@pytest.mark.slow
def test_ways_that_differ_by_little(tmp_path: Path) -> None:
    """No run at random numbers notices a small change, and no enclosure: ways are those of the program."""
    case = FOLDER / "sparse-vector-gauss.toml"
    evidence = tmp_path / "evidence.json"
    assert run(["verify", str(case), "--evidence", str(evidence)]) == 0
    document = json.loads(evidence.read_text())
    assert checked(json.dumps(document), str(case)).report.accepted
    places = [
        (name, output, k, at)
        for name, outputs in document["statements"][0]["inputs"].items()
        for output, ways in outputs.items()
        for k, way in enumerate(ways)
        for at in range(len(way["region"]))
    ]
    for name, output, k, at in Random(1).sample(places, 4):
        other = deepcopy(document)
        side = other["statements"][0]["inputs"][name][output][k]["region"][at]
        side[1] = str(Fraction(side[1]) + Fraction(1, 10**9))
        found = checked(json.dumps(other), str(case)).report
        assert (found.accepted, found.lines[-1]) == (
            False,
            "rejected: the case has other paths through its program",
        )


def paths(found: Any, way: tuple[Any, ...] = ()) -> list[tuple[tuple[Any, ...], str]]:
    """Returns the places of all numbers in a document."""
    if isinstance(found, str):
        return [(way, found)] if found.lstrip("-").replace("/", "").isdigit() else []
    each = found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ()
    return [one for key, inner in each for one in paths(inner, (*way, key))]


@pytest.mark.slow
def test_every_number_of_a_small_program_is_compared(tmp_path: Path) -> None:
    """Each weight, slope, bound and scale of noise is that of the program."""
    path = tmp_path / "case.toml"
    path.write_text(SMALL)
    document = document_of(path)
    look = looked(document, path)
    assert look.agrees
    assert "agree with its runs at 600 random numbers for its noise, which meet 15" in look.line
    places = paths(document["statements"])
    assert len(places) > 40
    own = document["statements"][0]
    for inputs in ({**own["inputs"], "3": own["inputs"]["2"]}, dict(reversed(own["inputs"].items()))):
        look = looked({**document, "statements": [{**own, "inputs": inputs}]}, path)
        assert (look.compared, look.agrees) == (True, False)
    for (*steps, last), number in places[::5]:
        changed = json.loads(json.dumps(document))
        inner = changed["statements"]
        for step in steps:
            inner = inner[step]
        inner[last] = str(Fraction(number) + 4)
        look = looked(changed, path)
        assert (look.compared, look.agrees) == (True, False), (steps, last, look.line)


def test_runs_and_bounds_of_a_small_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many numbers are taken as runs allow; both bounds are those of the case, which is one program."""
    path = tmp_path / "case.toml"
    path.write_text(SMALL)
    document, near = document_of(path), list[set[Fraction]]()

    def noted(*given: Any) -> DrawnNoise:
        near.append({*given[2]})
        return DrawnNoise(*given)

    monkeypatch.setattr(second_enclosed, "DrawnNoise", noted)
    assert looked(document, path).agrees
    bound = Fraction(5, 2)  # of z = n + gauss(2), and w is beside n + 1
    assert near[::200] == [{bound - n, n - bound, n + 1, -n - 2} for n in range(3)]
    for most, numbers in ((60, 3 * 20), (300, 3 * 51)):  # the coin has two outcomes, and one number is more
        monkeypatch.setattr(second_enclosed, "MOST_RUNS", most)
        assert f"at {numbers} random numbers" in looked(document, path).line
    text = SMALL.replace('ratio = "3"\ndelta = "1/9"', 'epsilon = "2"')
    path.write_text(text)
    plain = document_of(path)
    assert looked(plain, path).agrees
    for more, delta, agrees in (
        ("delta = 0\n", None, False),
        ("delta = 0\n", "0", True),
        ("delta = 0\n", "1/9", False),
        ("", "0", False),
    ):
        path.write_text(text + more)
        own = {**plain["statements"][0], **({} if delta is None else {"delta": delta})}
        assert looked({**plain, "statements": [own]}, path).agrees is agrees
    for old, new in (
        ("[mechanism]\n", '[parameters]\np = "(0, 1)"\n[mechanism]\n'),
        ("[mechanism]\n", '[mechanism]\ncalls = { f = { kind = "release" } }\n'),
        ('[neighbours]\ndiffer = "one"', "[secrets]\npairs = []"),
        ('"program"', '"release"'),
    ):
        path.write_text(text.replace(old, new))
        look = looked(plain, path)
        words = "a parameter without a value" if "parameters" in new else "another mechanism than one program"
        assert (look.compared, look.agrees, words in look.line) == (False, False, True)


def test_numbers_for_noise() -> None:
    """They are whole or not negative where the noise is, also near bounds, and the same for all runs."""
    at = Calculator({}, None, Fraction(1))
    for name in ("gauss", "laplace", "exponential", "geometric", "one_sided_geometric", "discrete_gaussian"):
        found = []
        for seed in range(60):
            noise = DrawnNoise(at, Random(seed), [Fraction(1001, 2)] if seed % 2 else [])
            ((value, weight),) = noise(name, [Fraction(1, 2)])
            noise.drawn = []
            assert noise(name, [Fraction(1, 2)]) == [(value, 1)] == [(value, weight)]
            assert noise.drawn == [(name, "1/2")]
            found.append(value)
        assert all(v.denominator == 1 for v in found) == ("geom" in name or "discrete" in name)
        assert (min(found) >= 0) == (name in ("exponential", "one_sided_geometric"))
        near = [v for v in found if abs(v - Fraction(1001, 2)) <= Fraction(5, 2)]
        assert 5 < len(near) < 25
        assert all(abs(v) <= 12 for v in found if v not in near)
        assert len({abs(v) > 3 for v in found}) == len({v.numerator % 3 for v in found}) - 1 == 2
    noise = DrawnNoise(at, Random(0), [])
    assert noise("flip", [Fraction(1, 4)]) == [(True, Fraction(1, 4)), (False, Fraction(3, 4))]
    with pytest.raises(UnreadCase):
        noise("gauss", [Fraction(1), Fraction(2)])
    assert noise.drawn == []
    engine: Json = {"noise": [["gauss", "1"], ["laplace", "1/2"]], "inputs": {"a": {}}}
    engine["inputs"]["a"]["x"] = [{"noise": [1, 0, 1], "region": [[[[2, "-1/2"]], "3"]], "weight": "1/3"}]
    (way,) = ways_of(engine, "a")
    assert way.noise == (("laplace", "1/2"), ("gauss", "1"), ("laplace", "1/2"))
    assert (way.region, way.output) == ((((((2, Fraction(-1, 2)),)), Fraction(3)),), "x")
    assert way.weight == Fraction(1, 3)
