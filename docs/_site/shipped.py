"""Pages about the shipped cases: one for each, and a list of all with title, kind and expected verdict."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

FOLDER = "shipped/"
GROUPS = {
    "": ("Mechanisms, priors and inequalities", "verify"),
    "programs": ("Programs", "verify"),
    "automata": ("Streams with unbounded noise", "verify"),
    "approximate": ("Sets of outputs, with a delta", "verify"),
    "divergences": ("Divergences: Renyi, zero-concentrated and others", "verify"),
    "inequalities": ("Inequalities from the literature", "verify"),
    "logic": ("Formulas of dpCTL*", "logic"),
    "interactive": ("Interactive systems", "interactive"),
    "interactive/large": ("Large interactive systems", "interactive"),
}
LESS = "---\nsearch:\n  boost: 0.4\n---\n\n"  # what is written about cases is found before the cases
SHOWN = (".toml", ".prism", ".rat")
WORDS = {
    "privacy": {"holds": "private", "violated": "not private", "unknown": "undecided"},
    "claims": {"holds": "true", "violated": "false", "unknown": "undecided"},
}


def page_of(place: str) -> str:
    """Returns the page of a file or folder below cases/."""
    inner = place.removeprefix("cases").lstrip("/")
    if not inner.endswith(SHOWN):
        return f"{FOLDER}all.md"
    return f"{FOLDER}{inner.removesuffix('.toml')}.md"


def pages(root: Path) -> dict[str, str]:
    """Returns the text of every page about shipped cases, by its place in the site."""
    found: dict[str, str] = {}
    rows: dict[str, list[str]] = {group: [] for group in GROUPS}
    for path in sorted((root / "cases").rglob("*")):
        if path.suffix not in SHOWN:
            continue
        inner = path.relative_to(root / "cases").as_posix()
        group = path.parent.relative_to(root / "cases").as_posix().replace(".", "", 1)
        text = path.read_text(encoding="utf-8")
        place = page_of(f"cases/{inner}")
        found[place] = page(inner, text, GROUPS[group][1])
        if path.suffix == ".toml":
            data = tomllib.loads(text)
            name = f"[{path.stem}]({place.removeprefix(FOLDER)})"
            rows[group].append(f"| {name} | {cell(title(data, inner))} | {expected(data)} |")
    found[f"{FOLDER}all.md"] = listing(rows)
    return found


def page(inner: str, text: str, command: str) -> str:
    """Returns the page of one file: its title, what is expected of it, how it is run, and its text."""
    if not inner.endswith(".toml"):
        return f'{LESS}# {inner}\n\n```text title="cases/{inner}"\n{text.rstrip()}\n```\n'
    data = tomllib.loads(text)
    lines = [f"# {title(data, inner)}", ""]
    if expected(data):
        lines += [f"Expected: **{expected(data)}**.", ""]
    if "source" in data:
        lines += [f"Source: {data['source']}.", ""]
    lines += ["```console", f"$ paramverify {command} cases/{inner}", "```", ""]
    lines += [f'```toml title="cases/{inner}"', text.rstrip(), "```", ""]
    return LESS + "\n".join(lines)


def listing(rows: dict[str, list[str]]) -> str:
    """Returns the page that lists all shipped cases."""
    lines = [
        "# Shipped cases",
        "",
        "`paramverify cases` lists these cases, and `paramverify cases NAME` prints one. Each of them states",
        "its expected verdict in `[expect]`.",
        "",
    ]
    for group, (heading, _) in GROUPS.items():
        lines += [f"## {heading}", "", "| case | what it asks | expected |", "| --- | --- | --- |"]
        lines += [*rows[group], ""]
    return "\n".join(lines)


def title(data: dict[str, Any], inner: str) -> str:
    """Returns the title of a case, or the name of its file."""
    return str(data.get("title", inner))


def cell(text: str) -> str:
    """Returns a text that may stand in a cell of a table."""
    return text.replace("|", "\\|")


def expected(data: dict[str, Any]) -> str:
    """Returns what `[expect]` says in the words of the tool."""
    found = data.get("expect", {})
    claims = "claim" in data or "formulas" in data
    words = WORDS["claims" if claims else "privacy"]
    if "verdict" in found:
        return str(found["verdict"])
    if "status" in found:
        return words.get(found["status"], str(found["status"]))
    inner = [v["status"] for v in found.values() if isinstance(v, dict) and "status" in v]
    return ", ".join(dict.fromkeys(words.get(status, str(status)) for status in inner))
