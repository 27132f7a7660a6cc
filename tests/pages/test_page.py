"""What a page has, of every kind of case: read without a browser."""

from __future__ import annotations

import hashlib
import re
import shutil
from base64 import b64encode
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from page_tools import (
    CASES,
    CONSTANT,
    THREE,
    Page,
    evaluated,
    examined,
    grid,
    leaks_of_constant,
    leaks_of_three,
)

from paramverify.kernel.documents import check_text
from paramverify.pages.page import ASSETS, SCRIPTS, STYLES, page

ONE = Fraction(1)


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Page:
    """The page about a case with three parameters."""
    path = tmp_path_factory.mktemp("three") / "three.toml"
    path.write_text(THREE)
    return Page(page([examined(path)]))


def check_form(found: Page) -> None:
    """Checks what every page has to have: language, order of headings, names, labels, and no addresses."""
    assert found.having("html", lang="en")
    levels = [int(seen.tag[1]) for seen in found.elements if re.fullmatch("h[1-6]", seen.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    names = [seen.attributes["id"] for seen in found.elements if "id" in seen.attributes]
    assert len(names) == len(set(names))
    for seen in found.elements:
        for attribute in ("href", "src", "action", "srcset", "data", "poster", "style", "onclick"):
            address = seen.attributes.get(attribute)
            assert address is None or address == "data:," or address[1:] in names, (seen.tag, address)
        assert not any(name.startswith("on") for name in seen.attributes)
        if "aria-labelledby" in seen.attributes:
            assert seen.attributes["aria-labelledby"] in names
        if seen.tag == "math":
            assert seen.attributes["alttext"]
    for field in found.having("input"):
        labelled = found.having("label", for_=field.attributes.get("id", "-"))
        assert labelled or field.attributes.get("aria-label")
    for picture in found.having("svg", role="img"):
        place = found.elements.index(picture)
        assert any(seen.tag == "title" and seen.text for seen in found.elements[place : place + 3])
    assert not any(seen.tag in ("section", "figure", "li", "dd") and not seen.text for seen in found.elements)


@pytest.mark.slow
def test_every_part_is_there(three: Page) -> None:
    """A case about privacy has the question, the verdict, a map with a slice, the budget and the evidence."""
    check_form(three)
    heads = [seen.text for seen in three.having("h3")]
    assert heads == [
        *["Summary", "Counterexample", "The question", "For which values", "Tight budget"],
        *["What was assumed", "Evidence", "Details", "The case file"],
    ]
    assert three.having("span", class_="badge bad")[0].text == "not private"
    assert len(three.having("input", type="range")) == 3
    assert [g.text.split("\n")[0] for g in three.having("title")][1].startswith(
        "Graph of the prior: kin depends"
    )
    assert "Proved nothing" not in three.content


def test_the_policy_allows_the_own_script_and_style_only(three: Page) -> None:
    """The head lets a browser load nothing, and run what has the digests of the page's own parts."""
    (policy,) = three.having("meta", http_equiv="Content-Security-Policy")
    rules = dict(rule.split(" ", 1) for rule in policy.attributes["content"].split("; "))
    assert rules["default-src"] == "'none'"
    (style,) = three.having("style")
    (script,) = [seen for seen in three.having("script") if "type" not in seen.attributes]
    for name, seen in (("style-src", style), ("script-src", script)):
        assert rules[name] == f"'sha256-{b64encode(hashlib.sha256(seen.text.encode()).digest()).decode()}'"
    assert not re.search(
        r"https?://|@import|url\((?!#)|fetch\(|XMLHttpRequest|innerHTML|eval\(", three.content
    )


def test_the_data_has_the_probabilities(three: Page) -> None:
    """The polynomials of the page give what enumeration gives, at points inside of the box."""
    data = three.data("data-map-1")
    sides = [(Fraction(s["low"]), Fraction(s["high"])) for s in data["box"]]
    for point in grid(*sides):
        wanted = leaks_of_three(*point)
        shown = {}
        for _, output, left, right in data["rows"]:
            tops = [[evaluated(part, point) for part in data["functions"][k]] for k in (left, right)]
            shown[output] = tuple(top / bottom for top, bottom in tops)
        assert shown == wanted


def test_the_cells_say_the_truth(three: Page) -> None:
    """At the middle of each decided cell the largest ratio is within the bound, or it is not."""
    data = three.data("data-map-1")
    decided = 0
    for status, *ends, _, _ in data["map"]["cells"]:
        word = data["map"]["statuses"][status]
        if word not in ("safe", "violating"):
            continue
        places = [Fraction(data["map"]["grids"][k // 2][end]) for k, end in enumerate(ends)]
        names = [*data["map"]["axes"], *data["map"]["others"]]
        middle = {n: (places[2 * k] + places[2 * k + 1]) / 2 for k, n in enumerate(names)}
        pairs = leaks_of_three(middle["p"], middle["c"], middle["alpha"]).values()
        largest = max(max(a / b, b / a) for a, b in pairs)
        assert (largest <= 3) == (word == "safe")
        decided += 1
    assert decided > 10


def test_the_evidence_is_in_the_page(three: Page) -> None:
    """The text within the page has the digest that it tells, and the checker accepts it; so does the case."""
    told = [seen.text for seen in three.having("code", class_="digest")]
    files = [three.data(name)["text"] for name in ("evidence-1", "case-1")]
    assert told == [hashlib.sha256(text.encode()).hexdigest() for text in files]
    assert check_text(files[0]).accepted
    assert files[1] == THREE


@pytest.mark.slow
def test_numbers_with_a_constant(tmp_path: Path) -> None:
    """With exp(1/2) the data are functions of E too, which are right for every number in its place.

    The title of this case has markup in it, which is text on the page.
    """
    path = tmp_path / "constant.toml"
    path.write_text(CONSTANT)
    found = Page(page([examined(path)]))
    check_form(found)
    assert found.having("h2")[0].text == 'A noisy count with <b>e</b> & a "quote" in its title'
    assert not found.having("b")
    data = found.data("data-map-1")
    assert data["generator"]["meaning"] == "exp(1/2)"
    low, high = (Fraction(data["generator"][end]) for end in ("low", "high"))
    assert 0 < high - low < Fraction(1, 2**200)
    for p, q in grid((Fraction(0), ONE / 2), (Fraction(0), ONE / 2)):
        for e in (Fraction(3, 2), Fraction(2)):
            shown = {}
            for _, output, left, right in data["rows"]:
                parts = [[evaluated(t, [p, q, e]) for t in data["functions"][k]] for k in (left, right)]
                shown[output] = tuple(top / bottom for top, bottom in parts)
            assert shown == leaks_of_constant(p, q, e)


@pytest.mark.slow
def test_pages_of_every_kind(tmp_path: Path) -> None:
    """Every kind of case has a page with its verdict; what it does not have is said with a reason."""
    names = {
        "design-geometric-contagious.toml": ("not private", "Values of alpha"),
        "geometric-metric.toml": ("private", "depends on the distance"),
        "survey-memory-all.toml": ("private", "sequences of every length"),
        "random-walk.toml": ("true", "There is no map: intervals and maps require"),
        "programs/sparse-vector.toml": ("private", "The program"),
        "interactive/survey.toml": ("private", "Steps of the system"),
        "interactive/sample-n-printed.toml": ("not private", "observed"),
        "logic/survey-coin.toml": ("false", "Verdict on each formula"),
    }
    shutil.copy(CASES / "random-walk.rat", tmp_path)
    works = [examined(Path(shutil.copy(CASES / name, tmp_path))) for name in names]
    found = Page(page(works, "Everything"))
    check_form(found)
    (table,) = [
        seen for seen in found.having("table") if seen.attributes["aria-label"] == "Cases of this page"
    ]
    assert table.text.count("not private") == 2
    for number, (word, told) in enumerate(names.values(), start=1):
        (article,) = found.having("article", id=f"report-{number}")
        place = found.elements.index(article)
        badge = next(s for s in found.elements[place:] if s.attributes.get("class", "").startswith("badge"))
        assert badge.text == word
        assert told in article.text + "".join(s.attributes.get("aria-label", "") for s in found.elements)
    assert found.having("msqrt")
    for number, work in enumerate(works, start=1):
        text = found.data(f"evidence-{number}")["text"]
        assert text == work.evidence.text
        assert check_text(text).accepted


def luminance(colour: str) -> float:
    """Returns the relative luminance of a colour, as WCAG 2.1 defines it."""
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Returns the contrast of two colours, from 1 to 21."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_contrast() -> None:
    """In light, in dark and on paper text has a contrast of 4.5 to 1 or more, and marks have 3 to 1."""
    texts = "\n".join((ASSETS / name).read_text() for name in STYLES)
    themes = [
        dict(re.findall(r"--([\w-]+): (#\w{6});", block)) for block in re.findall(r":root \{([^}]*)\}", texts)
    ]
    assert len(themes) == 3
    assert "@media screen and (prefers-color-scheme: dark)" in texts  # so paper has the colours of light
    themes[2] = themes[0] | themes[2]
    for theme in themes:
        for ground in ("paper", "panel"):
            for ink in ("ink", "soft", "link"):
                assert contrast(theme[ink], theme[ground]) >= 4.5, (ink, ground)
        for tone in ("good", "bad", "open"):
            assert contrast(theme[tone], theme["paper"]) >= 4.5, tone
            assert contrast(theme[tone], theme[f"{tone}-fill"]) >= 4.5, tone
            assert contrast(theme["ink"], theme[f"{tone}-fill"]) >= 4.5, tone
        assert contrast(theme["ink"], theme["paper"]) >= 7
        assert contrast(theme["soft"], theme["paper"]) >= 3  # frames of fields and pictures


def test_every_asset_is_used() -> None:
    """The page has all styles and scripts, each once."""
    assert sorted((*STYLES, *SCRIPTS)) == sorted(path.name for path in ASSETS.iterdir())
