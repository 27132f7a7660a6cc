"""The rows of docs/constructs.toml: functions with the constructs that `adopt` supports or refuses."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parents[2] / "docs" / "constructs.toml"
TABLES: dict[str, Any] = tomllib.loads(DATA.read_text(encoding="utf-8"))
PREAMBLE: str = TABLES["preamble"].lstrip("\n") + "\n\n"
GROUPS = tuple(dict.fromkeys(row["group"] for row in TABLES["row"]))


@dataclass(frozen=True)
class Example:
    """One function f(x): what it shows, its source, and whether its law is sampled or refused, and why."""

    name: str
    source: str
    samples: int = 0
    reason: str = ""


def whole(body: str) -> str:
    """Returns the source of a module with the function `f(x)` that has a body."""
    return PREAMBLE + "def f(x):\n" + "".join(f"    {line}\n" for line in body.strip("\n").split("\n"))


def supported(group: str) -> Iterator[Example]:
    """Yields the examples of the rows of a group."""
    for row in TABLES["row"]:
        if row["group"] == group:
            for name, body in {row["construct"]: row["example"], **row.get("also", {})}.items():
                yield Example(name, whole(body), row.get("samples", 0))


def refused() -> Iterator[Example]:
    """Yields the examples that are refused, each with a part of the reason."""
    for row in TABLES["refused"]:
        for name, found in {row["construct"]: row, **row.get("also", {})}.items():
            yield Example(name, whole(found["example"]), reason=found["reason"])
