"""The tables of docs/papers.md, which are written from docs/papers.toml.

python docs/_site/papers.py        writes the tables into the page
"""

from __future__ import annotations

import re
import textwrap
import tomllib
from pathlib import Path
from typing import Any

from results import line

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "docs" / "papers.toml"
PAGE = ROOT / "docs" / "papers.md"
BLOCK = re.compile(r"(<!-- rows: ([\w-]+) -->\n).*?(<!-- end of rows -->)", re.DOTALL)
MOST = 2  # texts of a row that the page shows


def rows_of(section: str) -> list[dict[str, Any]]:
    """Returns the rows of one section of the page."""
    document = tomllib.loads(DATA.read_text(encoding="utf-8"))
    return [row for row in document["row"] if row["section"] == section]


def rendered(section: str) -> str:
    """Returns the table of a section, the rows that have no command, and how many the file alone has."""
    rows = rows_of(section)
    shown = [row for row in rows if row.get("page", True)]
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


def filled(page: str) -> str:
    """Returns the page with the rows of the file."""
    return BLOCK.sub(lambda match: match[1] + rendered(match[2]) + match[3], page)


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
