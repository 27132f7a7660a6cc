"""What a page says about a map never leaves out the constraints of the domain."""

from __future__ import annotations

from pathlib import Path

from page_tools import Page, examined

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
    assert "The picture is about the values of p, q with p + q < 1." in told
    assert any(line.endswith("about their points with p + q < 1.") for line in told)
    assert found.data("data-map-1")["map"]["within"] == " with p + q < 1"
    script = (ASSETS / "map.js").read_text(encoding="utf-8")
    assert "${this.map.within}" in script
    assert "python3 -S -m checker c.evidence.json" in found.content
    assert "python -m" not in found.content
