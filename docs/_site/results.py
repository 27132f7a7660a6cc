"""The tables of docs/benchmarks.md, which the site makes from the recorded results in benchmarks/results/.

    SCRIPT | python docs/_site/results.py NAME   records what a script printed as benchmarks/results/NAME.toml

A recorded file says how it was measured: `run` (the command), `recorded` (the day), `commit`, `machine` (a
name in machines.toml), `load` (what else ran), and `baseline` (what was measured in the same run to compare
with), which the page says in its own words. It has one `[[table]]` or more, with `columns` and `rows`. The
page leaves out `more_rows`, and shows the columns `shown` if a table has this key. A file with a `title`, and
what it is `about`, has a line in the last table of the page instead.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results"
USUAL = "M1"  # the machine that the page describes
KEYS = ("run", "recorded", "commit", "machine", "load", "baseline")


def names() -> list[str]:
    """Returns the names of the recorded files."""
    return sorted(path.stem for path in RESULTS.glob("*.toml") if path.stem != "machines")


def recorded(name: str) -> dict[str, Any]:
    """Returns one recorded file.

    Raises:
        ValueError: a key is missing, or a row has another number of cells than there are columns.
    """
    document = tomllib.loads((RESULTS / f"{name}.toml").read_text(encoding="utf-8"))
    if set(document) - {"title", "about"} != {*KEYS, "table"}:
        raise ValueError(f"{name}.toml needs the keys {', '.join(KEYS)} and tables, and no others")
    if document["machine"] not in tomllib.loads((RESULTS / "machines.toml").read_text(encoding="utf-8")):
        raise ValueError(f"{name}.toml: machines.toml has no machine {document['machine']!r}")
    for table in document["table"]:
        for row in (*table["rows"], *table.get("more_rows", ())):
            if len(row) != len(table["columns"]):
                raise ValueError(f"{name}.toml: {row} does not have {len(table['columns'])} cells")
    return document


def rendered(name: str) -> str:
    """Returns what the page shows of a recorded file: how it was measured, and its tables."""
    if name == "others":
        return others()
    document = recorded(name)
    said = [f"`{document['run']}`", document["recorded"]]
    said += [f"commit `{document['commit']}`"] if document["commit"] != "not recorded" else []
    said += [document["machine"]] if document["machine"] != USUAL else []
    load = "" if document["load"] == "not recorded" else f" ({document['load']})"
    hidden = sum(len(table.get("more_rows", ())) for table in document["table"])
    more = f"; `{name}.toml` has {hidden} more row{'s' * (hidden > 1)}" if hidden else ""
    lines = [f"{', '.join(said)}{load}{more}.", ""]
    for table in document["table"]:
        columns = table["columns"]
        places = [columns.index(name) for name in table.get("shown", columns)]
        lines += [line(columns[k] for k in places), line("---" for _ in places)]
        lines += [line(row[k] for k in places) for row in table["rows"]]
        lines.append("")
    return "\n".join(lines)


def others() -> str:
    """Returns the table of the files that have no tables in the page."""
    lines = [line(("file", "measured")), line(["---"] * 2)]
    for name in names():
        document = recorded(name)
        if "title" in document:
            lines.append(line((f"`{name}.toml`", document["title"])))
    return "\n".join([*lines, ""])


def line(cells: Any) -> str:
    """Returns the line of a row."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def tables_in(text: str) -> list[tuple[list[str], list[list[str]]]]:
    """Returns the columns and rows of all Markdown tables in what a script printed."""
    found: list[tuple[list[str], list[list[str]]]] = []
    for block in re.findall(r"(?:^\|.*\|\s*\n?)+", text, re.MULTILINE):
        rows = [
            [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row.strip())[1:-1]]
            for row in block.strip().split("\n")
        ]
        found.append((rows[0], rows[2:]))
    return found


def record(name: str, text: str) -> str:
    """Returns a recorded file with new rows.

    Of the printed tables it takes those with the first column and the number of columns of a recorded
    one, which also names them; all of them for a new file. What a script does not know, such as what
    else ran, stays as it was recorded, and all rows are shown: a person has to correct both.
    """
    old = recorded(name) if (RESULTS / f"{name}.toml").exists() else {}
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    values = {
        "run": old.get("run", f"python benchmarks/{name}.py"),
        "recorded": datetime.now(tz=UTC).date().isoformat(),
        "commit": commit.stdout.strip(),
        "machine": old.get("machine", "M1"),
        "load": old.get("load", "not recorded"),
        "baseline": old.get("baseline", "none"),
    }
    values |= {key: old[key] for key in ("title", "about") if key in old}
    lines = [f"{key} = {quoted(value)}" for key, value in values.items()]
    for columns, rows in tables_in(text):
        alike = [t for t in old.get("table", []) if heads(t["columns"]) == heads(columns)]
        if old and not alike:
            continue
        table = alike[0] if alike else {"columns": columns}
        for key in ("columns", "shown"):
            if key in table:
                lines += ["", "[[table]]"] if key == "columns" else []
                lines.append(f"{key} = [{', '.join(map(quoted, table[key]))}]")
        lines += ["rows = [", *(f"    [{', '.join(map(quoted, row))}]," for row in rows), "]"]
    return "\n".join(lines) + "\n"


def heads(columns: list[str]) -> tuple[str, int]:
    """Returns what two tables of the same measurement share: the first column, and how many there are."""
    return columns[0], len(columns)


def quoted(text: str) -> str:
    """Returns a text as TOML writes it."""
    return json.dumps(text, ensure_ascii=False)


if __name__ == "__main__":
    name = sys.argv[1]
    made = record(name, sys.stdin.read())
    (RESULTS / f"{name}.toml").write_text(made, encoding="utf-8")
