"""Errors name a place that the file has, and a mend that is right."""

from __future__ import annotations

import copy
import json
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from paramverify.errors import InputError
from paramverify.interactive.system_cases import load as load_interactive
from paramverify.logic.logic_cases import load as load_logic
from paramverify.privacy.cases import load

CASES = [
    "geometric-contagious-ln2",
    "time-series-2",
    "discrete-laplace",
    "above-threshold",
    "above-threshold-prior",
    "design-randomized-response",
    "randomized-response-condition",
    "blood-test",
    "logic/interactive-survey",
    "logic/survey-coin",
    "interactive/survey",
]
QUICK = ("blood-test", "geometric-contagious-ln2", "interactive/survey")
WRONG: list[Any] = [True, "zzz", {"zzz": "zzz"}]


def paths(data: dict[str, Any], start: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yields the path of each value in nested tables."""
    for name, value in data.items():
        yield (*start, name)
        if isinstance(value, dict):
            yield from paths(value, (*start, name))


def changed(data: dict[str, Any], path: tuple[str, ...], value: object) -> dict[str, Any]:
    """Returns a copy with another value at the path."""
    result = copy.deepcopy(data)
    inner = result
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value
    return result


def toml(value: object) -> str:
    """Returns a value as TOML, tables inline."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def exists(place: str, data: object) -> bool:
    """Tells whether the place is in the data, or is a key that could be added to one of its tables."""
    if not place:
        return True
    if isinstance(data, dict):
        inside = [name for name in data if place == name or place.startswith((f"{name}.", f"{name}["))]
        found = any(exists(place[len(name) :].removeprefix("."), data[name]) for name in inside)
        return found or not any(sign in place for sign in ".[")
    if isinstance(data, list) and place.startswith("["):
        number, rest = place[1:].split("]", 1)
        return int(number) < len(data) and exists(rest.removeprefix("."), data[int(number)])
    # Inside of a formula the error quotes its part.
    return place.startswith(("epsilon '", "delta '"))


def mistake(read: Callable[[Path], object], file: Path) -> InputError | None:
    """Returns the error that a file is told with, if any."""
    try:
        read(file)
    except InputError as error:
        return error
    return None


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in CASES]
)
def test_an_error_names_a_place_of_the_file(name: str, root: Path, tmp_path: Path) -> None:
    """Whatever value has a wrong type or sense, the key of the error is one that the file has or may have."""
    data = tomllib.loads((root / "cases" / f"{name}.toml").read_text(encoding="utf-8"))
    read = {"logic": load_logic, "interactive": load_interactive}.get(name.split("/")[0], load)
    file = tmp_path / "case.toml"
    told = 0
    for path in paths(data):
        for value in WRONG:
            wrong = changed(data, path, value)
            file.write_text("\n".join(f"{json.dumps(k)} = {toml(v)}" for k, v in wrong.items()))
            found = mistake(read, file)
            told += found is not None
            assert not found or exists(found.key, wrong), f"{path} = {value!r}: {found}"
    assert told > 20


HMM = """
[mechanism]
kind = "hmm"
states = ["low", "high"]
observations = ["clean", "dirty"]
start = "level"
emissions = { low = { clean = "3/4", dirty = "1/4" }, high = { clean = "1/4", dirty = "3/4" } }
[parameters]
p = "(0, 1)"
[prior]
level = { categorical = { low = "p", high = "1-p" } }
[secrets]
a = "level == 'low'"
b = "level == 'high'"
pairs = [["a", "b"]]
[privacy]
epsilon = "ln(4)"
"""


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ('start = "level"\n', "", "prior.level: start is missing"),
        ('start = "level"', 'start = "levl"', "mechanism.start: unknown name 'levl'; did you mean 'level'?"),
        ("level == 'low'", "level == low", "secrets.a: a label has quotes: 'low'"),
        ("level == 'low'", "level = 'low'", "secrets.a: write == for equality"),
        ('"(0, 1)"', '"0..1"', "parameters.p: neither an interval such as (0, 1)"),
        ('"(0, 1)"', "[0, 1]", "parameters.p: an interval is text such as"),
        ('"(0, 1)"', "true", "parameters.p: an interval is text such as"),
        ('"ln(4)"', '"ln(4)"\none_sided = "ignore"', 'privacy.one_sided: must be "ignored"; not'),
        (
            '"ln(4)"',
            "ln(4)",
            'case.toml:17: not TOML: Invalid value; texts and formulas stand in quotes; write "ln(4)"',
        ),
    ],
)
def test_a_typical_mistake_is_told_with_its_mend(right: str, wrong: str, told: str, tmp_path: Path) -> None:
    """Mistakes that beginners make are told at their place, with what to write instead."""
    file = tmp_path / "case.toml"
    file.write_text(HMM, encoding="utf-8")
    load(file)
    assert HMM.count(right) == 1
    file.write_text(HMM.replace(right, wrong), encoding="utf-8")
    with pytest.raises(InputError) as error:
        load(file)
    assert told in str(error.value)
