"""The tables and examples of docs/constructs.md, which the site makes from docs/constructs.toml."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from results import line

DATA = Path(__file__).resolve().parents[1] / "constructs.toml"


@cache
def data() -> dict[str, Any]:
    """Returns what the file has."""
    return tomllib.loads(DATA.read_text(encoding="utf-8"))


def groups() -> dict[str, list[dict[str, Any]]]:
    """Returns the rows of each group, in the order of the file."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in data()["row"]:
        found.setdefault(row["group"], []).append(row)
    return found


def tables() -> str:
    """Returns a table of each group, and one of what is refused."""
    lines: list[str] = []
    for group, rows in groups().items():
        lines += [f"## {group}", "", line(("construct", "meaning")), line(["---"] * 2)]
        lines += [line((row["construct"], row["exact"])) for row in rows]
        lines.append("")
    lines += ["## What is refused", "", line(("refused", "write instead")), line(["---"] * 2)]
    lines += [line((row["construct"], row["mend"])) for row in data()["refused"]]
    return "\n".join([*lines, ""])


def examples() -> str:
    """Returns the first example of each row, and of what is refused, as code."""
    parts = [
        (group, [(row["construct"], row["example"]) for row in rows]) for group, rows in groups().items()
    ]
    parts.append(("What is refused", [(row["construct"], row["example"]) for row in data()["refused"]]))
    lines: list[str] = []
    for group, rows in parts:
        lines += [f'??? example "{group}"', "", "    ```python"]
        for construct, body in rows:
            lines += [f"    # {construct.replace('`', '')}", "    def f(x):"]
            lines += [f"        {text}" for text in body.strip("\n").split("\n")] + [""]
        lines[-1:] = ["    ```", ""]
    lines += ['??? example "Imports and definitions for all examples"', "", "    ```python"]
    lines += [f"    {text}".rstrip() for text in data()["preamble"].strip("\n").split("\n")]
    return "\n".join([*lines, "    ```", ""])
