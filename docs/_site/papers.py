"""The tables of docs/papers.md, which the site makes from docs/papers.toml."""

from __future__ import annotations

import textwrap
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from results import line

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "docs" / "papers.toml"
MOST = 2  # texts of a row that the page shows


@cache
def sections() -> dict[str, list[dict[str, Any]]]:
    """Returns the rows of each section of the page, in the order of the file."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in tomllib.loads(DATA.read_text(encoding="utf-8"))["row"]:
        found.setdefault(row["section"], []).append(row)
    return found


def rendered(section: str) -> str:
    """Returns the table of a section, and then a list of the rows that have no command."""
    shown = [row for row in sections()[section] if row.get("page", True)]
    lines = [line(("in the paper", "published", "command", "ours")), line(["---"] * 4)]
    for row in shown:
        if "command" in row:
            ours = ", ".join(f"`{text}`" for text in row["prints"][:MOST])
            note = f"; {row['note']}" if "note" in row else ""
            published = "–" if row["published"] == "no number" else row["published"]
            lines.append(line((row["item"], published, abridged(row["command"]), ours + note)))
    lines.append("")
    without = [row for row in shown if "why" in row]
    for row in without:
        text = f"- {row['item']} (published: {row['published']}): {row['why']}."
        lines += textwrap.wrap(text, 120, subsequent_indent="  ", break_on_hyphens=False)
    lines += [""] if without else []
    return "\n".join(lines)


def abridged(command: str) -> str:
    """Returns the command without options, which the file has, and without the folder and ending of cases."""
    _, name, *rest = command.split()
    if rest[0].startswith(
        "--"
    ):  # a mechanism of the package, such as paramverify.statistics.examples:laplace
        return f"`{name} {rest[1].rpartition(':')[2]} ...`"
    case = rest[0].removeprefix("cases/").removesuffix(".toml")
    return f"`{name} {case}{' ...' * (len(rest) > 1)}`"
