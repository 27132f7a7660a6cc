"""Shipped cases with a small mistake: each is told at its line, or is a case still; never a defect."""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from paramverify.automata.stream_cases import about_streams
from paramverify.automata.stream_cases import load as load_stream
from paramverify.errors import InputError, LimitError
from paramverify.interactive.system_cases import load as load_interactive
from paramverify.logic.logic_cases import load as load_logic
from paramverify.privacy.cases import load
from paramverify.toml_mistakes import TomlPlace, TomlPlaces, written

MUTATIONS = 150
LARGEST = 3_000  # bytes of a case that is read again and again
ROOTS = {"logic": load_logic, "interactive": load_interactive}
SLOW = re.compile(r"all-lengths|large|hmm-1[0-9]|svt|noisy-max-(?:[5-9]|1[0-9])")
FREE = ("title", "source", "expect")  # what a verdict does not depend on
WRONG = ['"zzz"', "true", "-7", "[]", "{}", '{ zzz = "1" }', '"1 +"', "1.5", '["zzz", "zzz"]', '""']


def reader(path: Path) -> Callable[[Path], object]:
    """Returns what reads the cases of a folder."""
    return load_stream if about_streams(path) else ROOTS.get(path.parent.name, load)


def small(path: Path) -> bool:
    """Whether a case is read fast, and from one file."""
    text = path.read_text(encoding="utf-8")
    return len(text) < LARGEST and "file =" not in text and not SLOW.search(path.stem)


CASES = [path for path in sorted((ROOT / "cases").rglob("*.toml")) if small(path)]


def keys_of(text: str) -> list[tuple[tuple[str | int, ...], TomlPlace]]:
    """Returns the keys with a value of their own, and their places."""
    found = TomlPlaces.of(text).found.items()
    return [
        (p, place) for p, place in found if place.start >= 0 and isinstance(p[-1], str) and p[0] not in FREE
    ]


def deleted(text: str, places: list[TomlPlace], rng: random.Random) -> str:
    """Deletes a key with its value."""
    place = rng.choice(places)
    end = place.end
    while text[end : end + 1] in (",", " "):
        end += 1
    return text[: place.key] + text[end:]


def misspelt(text: str, places: list[TomlPlace], rng: random.Random) -> str:
    """Doubles, drops or turns a letter of a key."""
    place = rng.choice(places)
    key = text[place.key : place.start].partition("=")[0].rstrip()
    at = rng.randrange(len(key))
    other = rng.choice([key[: at + 1] + key[at:], key[:at] + key[at + 1 :], key[:at] + key[at:].swapcase()])
    return text[: place.key] + other + text[place.key + len(key) :]


def mistyped(text: str, places: list[TomlPlace], rng: random.Random) -> str:
    """Gives a key a value of another kind."""
    place = rng.choice(places)
    return text[: place.start] + rng.choice(WRONG) + text[place.end :]


def swapped(text: str, places: list[TomlPlace], rng: random.Random) -> str:
    """Lets two values change places."""
    first, second = sorted(rng.sample(places, 2), key=lambda place: place.start)
    if second.start < first.end:
        return text
    one, other = text[first.start : first.end], text[second.start : second.end]
    return text[: first.start] + other + text[first.end : second.start] + one + text[second.end :]


def cut(text: str, places: list[TomlPlace], rng: random.Random) -> str:
    """Loses one sign of a value, such as a quote or a bracket."""
    place = rng.choice(places)
    at = rng.randrange(place.start, place.end)
    return text[:at] + text[at + 1 :]


def mutant(number: int) -> tuple[Path, str]:
    """Returns a case and its text with one mistake."""
    rng = random.Random(number)
    path = CASES[number % len(CASES)]
    text = path.read_text(encoding="utf-8").replace("\r\n", "\n")
    places = [place for _, place in keys_of(text)]
    change = (deleted, misspelt, mistyped, swapped, cut)[number // len(CASES) % 5]
    return path, change(text, places, rng)


def check_place(error: InputError, text: str) -> None:
    """The line is one of the file, and the key or its table stands there."""
    lines = text.split("\n")
    assert 1 <= error.file_line <= len(lines), error
    try:
        data: dict[str, Any] = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, ValueError):
        return
    places = TomlPlaces.of(text)
    starts = {written(path): place for path, place in places.found.items()}
    longest = max(
        (k for k in starts if error.key == k or error.key.startswith((f"{k}.", f"{k}["))), key=len, default=""
    )
    if longest:
        place = starts[longest]
        last = places.line(max(place.key, place.end - 1))
        assert places.line(place.key) <= error.file_line <= last, error
    else:
        assert error.file_line == 1, (error, data.keys())


@pytest.mark.parametrize(
    "part", [1, 2, *(pytest.param(k, marks=pytest.mark.slow) for k in (0, *range(3, 5)))]
)
def test_mutants(part: int, tmp_path: Path) -> None:
    """Whatever is wrong in a shipped case is an `InputError` with a line at which its key stands."""
    file = tmp_path / "case.toml"
    told = 0
    for number in range(part, MUTATIONS, 5):
        path, text = mutant(number)
        file.write_text(text, encoding="utf-8")
        try:
            reader(path)(file)
        except LimitError:
            continue
        except InputError as error:
            told += 1
            for mistake in error.parts:
                assert mistake.file == str(file), mistake
                check_place(mistake, text)
    assert told > MUTATIONS // 20
