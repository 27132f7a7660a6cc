"""What a page says and shows of a map never leaves out the constraints of the domain."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from page_tools import Page, examined

from paramverify import loads
from paramverify.cli.main import run
from paramverify.pages.blanks import COLUMNS, ROWS, blank
from paramverify.pages.page import ASSETS, page

CASE = """
[parameters]
p = "(0, 1)"
q = "(0, 1)"
constraints = ["p + q < 1"]
[define]
f = "p + q/2"
[claim]
holds = "f <= 3/4"
"""


def test_the_map_of_a_page_has_the_constraints(tmp_path: Path) -> None:
    """The sentence above it, what is said of a cell, and all three shares; commands name python3."""
    path = tmp_path / "c.toml"
    path.write_text(CASE)
    found = Page(page([examined(path)]))
    told = [seen.text for seen in found.having("p")]
    assert "The picture shows the values of p, q with p + q < 1." in told
    assert any(line.endswith("about its points with p + q < 1.") for line in told)
    assert found.data("data-map-1")["map"]["within"] == " with p + q < 1"
    script = (ASSETS / "map.js").read_text(encoding="utf-8")
    assert "${this.map.within}" in script
    assert "python3 -S -m kernel c.evidence.json" in found.content
    assert "python -m" not in found.content


def test_what_is_outside_of_the_domain_is_blank(tmp_path: Path) -> None:
    """A block is blank iff its middle breaks the constraint; what no axis shows blanks nothing."""
    path = tmp_path / "c.toml"
    path.write_text(CASE)
    domain = loads(CASE).content.model.domain
    found = blank(domain, ("p", "q"), {})
    cells = {(row, first + k) for row, first, count in found.runs for k in range(count)}
    middle = {
        (row, column): Fraction(2 * column + 1, 2 * COLUMNS) + 1 - Fraction(2 * row + 1, 2 * ROWS)
        for row in range(ROWS)
        for column in range(COLUMNS)
    }
    assert cells == {place for place, total in middle.items() if total >= 1}
    assert found.constraints == (0,)
    drawn = [
        seen for seen in Page(page([examined(path)])).having("path") if seen.attributes["class"] == "blank"
    ]
    assert drawn[0].attributes["d"].count("M") == len(found.runs)
    assert blank(domain, ("p",), {}).runs == ()
    assert blank(loads(CASE.replace("p + q < 1", "p == q")).content.model.domain, ("p", "q"), {}).runs == ()


def test_the_parameters_of_the_map_are_chosen(tmp_path: Path) -> None:
    """A map over one parameter is for all values of the others: f <= 3/4 for all q iff p <= 1/2."""
    path, target = tmp_path / "c.toml", tmp_path / "c.html"
    path.write_text(CASE)
    assert run(["report", str(path), "-o", str(target), "--parameters", "p"]) == 1
    found = Page(target.read_text(encoding="utf-8"))
    assert found.data("data-map-1")["map"]["axes"] == ["p"]
    assert found.data("data-map-1")["map"]["quantified"] == ["q"]
    told = [seen.text for seen in found.having("p")]
    assert any("for all q in (0, 1) with p + q < 1" in line for line in told)
    rows = found.data("data-map-1")["map"]["parts"]
    ends = {row["status"]: [Fraction(row[end][0]) for end in ("lower", "upper")] for row in rows}
    assert ends["safe"][0] == 0
    assert Fraction(9, 20) < ends["safe"][1] <= Fraction(1, 2) <= ends["violating"][0] < Fraction(11, 20)
