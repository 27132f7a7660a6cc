"""Case files with one random mistake each, and whether paramverify reads them; some mistakes are none."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

from mangling_tools import toml

from paramverify.automata import stream_cases as streams
from paramverify.composition.composing import DirectedRelease
from paramverify.composition.release_losses import Loss, Response
from paramverify.composition.written_releases import read_components
from paramverify.errors import CaseError, InputError, LimitError, ParamverifyError
from paramverify.interactive import system_cases as interactive
from paramverify.logic import logic_cases as logic
from paramverify.privacy import cases as privacy

OTHERS: tuple[Any, ...] = (
    True,
    1,
    1.5,
    "a",
    "",
    [],
    ["a"],
    [1],
    {},
    {"a": 1},
    {"a": {"b": 1}},
    date(2026, 1, 2),
)

# Refusals that are about keys and types. A schema does not know the names of states, and `paramverify budget`
# needs no [privacy] of an interactive system.
SHAPES = re.compile(
    r"unknown (key|table|mechanism)|needed here|is missing|^(give|write) |must be |^noise is |come together|"
    r"^a distribution is one of|is not one of count|belongs to|has no inputs|^an interval is|"
    r"a name has letters|needs a \[claim\]|is a whole number from|is no range|no values|an empty list"
)
MEANINGS = re.compile(
    r"query expressions|'privacy' is missing|\bor give \[neighbours\]|give all inputs|by mechanism"
)
NAMES_OF_STATES = re.compile(r"mechanism\.(transitions|emissions|initial)\b")


@dataclass(frozen=True)
class Mutated:
    """A case with one change: how it was made, and its data."""

    kind: str
    place: str
    data: dict[str, Any]

    def text(self) -> str:
        """Returns it as TOML."""
        return toml(self.data)


def mutated(data: dict[str, Any], random: Random) -> Mutated:
    """Returns the data with one change of a random kind at a random place."""
    kind = random.choice(("unknown", "renamed", "type", "type", "word", "missing", "missing"))
    data = copy.deepcopy(data)
    places = list(_places(data))
    tables = [data, *(v for _, _, v in places if isinstance(v, dict))]
    if kind == "unknown":
        random.choice(tables)[random.choice(("zzz", "kind", "table", "range", "by"))] = random.choice(OTHERS)
        return Mutated(kind, "", data)
    if kind == "renamed":
        table = random.choice([t for t in tables if t])
        name = random.choice(list(table))
        table[misspelt(name, random)] = table.pop(name)
        return Mutated(kind, name, data)
    if kind == "word":
        places = [p for p in places if isinstance(p[2], str) and p[2]]
        holder, at, value = random.choice(places)
        holder[at] = misspelt(value, random)
        return Mutated(kind, str(at), data)
    holder, at, value = random.choice(places)
    if kind == "missing":
        del holder[at]
    else:
        holder[at] = copy.deepcopy(random.choice([v for v in OTHERS if type(v) is not type(value)]))
    return Mutated(kind, str(at), data)


def misspelt(word: str, random: Random) -> str:
    """Returns a word with one letter too many or too few."""
    at = random.randrange(len(word)) if word else 0
    return word[:at] + word[at + 1 :] if random.random() < 0.5 else word[:at] + "q" + word[at:]


def _places(node: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Yields each value inside with what holds it and its key or index."""
    for at, value in node.items() if isinstance(node, dict) else enumerate(node):
        yield node, at, value
        if isinstance(value, dict | list):
            yield from _places(value)


def kind_of(data: dict[str, Any]) -> str:
    """Returns the kind of a case, by the tables that tell it."""
    if "system" in data:
        return "interactive"
    if any(name in data for name in ("model", "states", "formulas")):
        return "logic"
    if "component" in data:
        return "composition"
    if "automaton" in data:
        return "automaton"
    claimed = "claim" in data or ("define" in data and "mechanism" not in data)
    return "claim" if claimed else "privacy"


def released(path: Path) -> None:
    """Reads a file of releases, whose cases need not be there."""
    way = DirectedRelease.of(Response(Loss(ratio=Fraction(2)), 2))
    read_components(str(path), lambda name, settings: (way, ()))


def refusal(path: Path, kind: str) -> ParamverifyError | None:
    """Returns how paramverify refuses a case file, if it does."""
    loads: dict[str, Any] = {"interactive": interactive.load, "logic": logic.load, "composition": released}
    loads["automaton"] = streams.load
    load = streams.load if streams.about_streams(path) else loads.get(kind, privacy.load)
    try:
        load(path)
    except (InputError, LimitError) as error:
        return error
    return None


def is_about_shape(error: ParamverifyError) -> bool:
    """Tells whether a refusal is about keys and types, and not about what texts and numbers mean."""
    parts: tuple[InputError, ...] = getattr(error, "parts", (error,))
    return any(
        isinstance(part, CaseError)
        and SHAPES.search(part.reason)
        and not MEANINGS.search(part.reason)
        and not (NAMES_OF_STATES.match(part.key) and re.search("unknown key|is missing", part.reason))
        for part in parts
    )
