"""The tables of docs/mechanisms.md: each row with a case says of it what its file and our commands say.

A row names the case, the inputs and the verdict. That the verdict is true is what other tests of
all shipped cases check. The exact budgets are computed here.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest
from calling_tools import printed
from conftest import ROOT

PAGE = ROOT / "docs" / "mechanisms.md"
HEADER = ["mechanism", "published", "case", "here", "tight ε"]
SIZES = {"StatDP": 11, "CheckDP": 17, "DP-Sniper": 20}
TWICE = {"CheckDP sparsevector"}  # for one positive and for two


@dataclass(frozen=True)
class Row:
    """A row of a table."""

    name: str
    members: tuple[str, ...]
    case: str
    here: str
    tight: tuple[str, ...]

    @property
    def data(self) -> dict[str, Any]:
        """The case file."""
        return tomllib.loads((ROOT / self.case).read_text(encoding="utf-8"))


def quoted(cell: str) -> tuple[str, ...]:
    return tuple(re.findall(r"`([^`]+)`", cell))


def rows() -> list[Row]:
    found, inside = [], False
    for line in PAGE.read_text(encoding="utf-8").split("\n"):
        cells = [cell.strip() for cell in line.strip().split("|")[1:-1]]
        inside = cells == HEADER or (inside and line.startswith("|"))
        if not inside or cells == HEADER or set(line) <= set("|- "):
            continue
        assert len(cells) == len(HEADER), line
        name, members, case, here, tight = cells
        tools = tuple(f"{a} {b}" for a, b in re.findall(r"(StatDP|CheckDP|DP-Sniper) `([^`]+)`", members))
        link = re.fullmatch(r"\[`(.+)`\]\(\.\./(cases/programs/\1\.toml)\)", case)
        assert link, line
        found.append(Row(name, tools, link[2], here, quoted(tight)))
    return found


ROWS = rows()


def test_all_mechanisms_of_the_collections_are_there() -> None:
    """Each collection has as many mechanisms as it is published with, each in one row."""
    counts = Counter(member for row in ROWS for member in row.members)
    assert {member for member, count in counts.items() if count > 1} == TWICE
    assert Counter(member.split()[0] for member in counts) == SIZES


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.case.rpartition("/")[2])
def test_a_row_says_what_its_case_says(row: Row) -> None:
    """The verdict is that of the case, about its inputs and its parameters."""
    data = row.data
    words = {"private": "holds", "not private": "violated"}
    verdict = "not private" if row.here.startswith("not private") else "private"
    assert row.here.startswith(verdict)
    assert data["expect"]["status"] == words[verdict]
    symbolic = [name for name, given in data.get("parameters", {}).items() if given[0] == "("]
    letters = {"eps": "ε", "f": "f"}
    every = re.findall(r"(?:every|some) (\w)", row.here)
    assert every == [letters[name] for name in symbolic]
    (given,) = data["mechanism"]["inputs"].values()
    for words_of_inputs in quoted(row.here):
        count, _, values = words_of_inputs.rpartition(" × ")
        assert (given.get("length", ""), given["values"]) == (int(count) if count else "", values)
    multiple = re.search(r"with (\S+) ε", row.here)
    if "epsilon" in data["privacy"]:
        bound = f"{multiple[1]}*eps" if multiple else "eps"
        assert data["privacy"]["epsilon"] == (bound if symbolic else data["privacy"]["epsilon"])
    assert row.tight


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.case.rpartition("/")[2])
def test_budgets(row: Row) -> None:
    """`budget` finds the exact number, at ε = 1/10 where the case has an ε."""
    given = [t.split() for t in row.tight if t.startswith("-D ")]
    at = [*(word for words in given for word in words)]
    if not at and "eps" in row.data.get("parameters", {}):
        at = ["-D", "eps=1/10"]
    shown = printed("budget", str(ROOT / row.case), *at).out
    for said in (t for t in row.tight if not t.startswith("-D ")):
        assert (said if said == "no budget" else f"epsilon {said}") in shown
