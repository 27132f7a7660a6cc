"""Errors name a place that the file has, and a mend that is right."""

from __future__ import annotations

import copy
import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paramverify.cases import load
from paramverify.errors import InputError
from paramverify.interactive.cases import load as load_interactive
from paramverify.logic.cases import load as load_logic

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
WRONG: list[Any] = [True, 3, "zzz", {"zzz": "zzz"}]


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


@pytest.mark.parametrize("name", CASES)
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
            try:
                read(file)
            except InputError as error:
                told += 1
                assert exists(error.key, wrong), f"{path} = {value!r}: {error}"
    assert told > 20
