"""Sources: docs/references.md defines the keys by which code, cases and documentation cite them."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import generated
import pytest
from conftest import ROOT

REFERENCES = ROOT / "docs" / "references.md"
YEAR = r"\b(?:1[89]|20)\d\d\b"
KEY = r"\[([A-Z]|[A-Z][A-Za-z]*\d\d)\]"  # [F], [Farin02]
DEFINED = re.findall(rf"^- \*\*{KEY}\*\* ", REFERENCES.read_text(encoding="utf-8"), re.MULTILINE)

CODE = sorted((ROOT / "paramverify").rglob("*.py"))
SOURCES = [*CODE, *sorted((ROOT / "benchmarks").glob("*.py"))]
PAGES = sorted({*ROOT.glob("*.md"), *(ROOT / "docs").glob("**/*.md")} - {REFERENCES})
NOTEBOOKS = sorted((ROOT / "docs").glob("**/*.ipynb"))
CASES = sorted((ROOT / "cases").rglob("*.toml"))


def remarks(source: str) -> Iterator[str]:
    """The docstrings and comments of a Python source."""
    pending: list[ast.AST] = [ast.parse(source)]
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            yield ast.get_docstring(node, clean=False) or ""
        pending += [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr)]
    yield from re.findall(r"(?:^|\s)# .*$", source, re.MULTILINE)


@cache
def prose(path: Path) -> str:
    """What a file says in words: remarks of Python, comments of TOML, and a page without its code."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return "\n".join(remarks(text)) if re.search(rf"{KEY}|{YEAR}", text) else ""
    if path.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    if path.suffix == ".toml":
        return "\n".join(re.findall(r"^#.*|\s#[^\"'\n]*$", text, re.MULTILINE))
    return re.sub(r"`[^`\n]+`", "", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL))


def cited(text: str) -> set[str]:
    """The keys in a text; an index such as T[A] is none."""
    return set(re.findall(rf"(?<!\w){KEY}", text))


@pytest.mark.slow
def test_keys_that_are_cited_are_those_that_are_defined() -> None:
    """A key that code, a case or a page cites has an entry, and no entry is there that nobody cites.

    No docstring and no comment of the package gives the year of a source, and no page ends a bracket with it,
    as in (Warner, 1965): they give the key.
    """
    texts = (*SOURCES, *PAGES, *NOTEBOOKS, *CASES)
    found = {str(path.relative_to(ROOT)): cited(prose(path)) for path in texts}
    found |= {name: cited(table()) for name, table in generated.TABLES.items()}
    unknown = {path: keys - set(DEFINED) for path, keys in found.items()}
    assert {path: keys for path, keys in unknown.items() if keys} == {}
    assert set(DEFINED) - set().union(*found.values()) == set()
    assert lines_with(YEAR, CODE) == []
    assert lines_with(rf"{YEAR}\)", PAGES) == []


def test_entries_are_in_order() -> None:
    """Each key is defined once; the four sources of the project come first, the others by the alphabet."""
    assert [key for key, times in Counter(DEFINED).items() if times > 1] == []
    assert [*"FLST", *sorted(key for key in DEFINED if len(key) > 1)] == DEFINED


def test_every_entry_has_authors_a_title_and_a_year() -> None:
    """An entry names who wrote what, and when."""
    text = REFERENCES.read_text(encoding="utf-8")
    entries = re.split(r"\n(?=- \*\*\[|## |\Z)", text)
    for entry in (e for e in entries if e.startswith("- ")):
        assert re.match(rf"- \*\*{KEY}\*\* [^:*]+: \*[^*]+\*.*\b(1[89]|20)\d\d\b", " ".join(entry.split())), (
            entry
        )


def lines_with(pattern: str, paths: list[Path]) -> list[str]:
    """The lines of prose that a pattern is found in, with the names of the files."""
    return [f"{path.name}: {line}" for path in paths for line in re.findall(f".*{pattern}.*", prose(path))]
