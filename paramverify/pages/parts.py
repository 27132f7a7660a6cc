"""The parts that pages are made of: sections, tables that can be sorted, numbers, folded parts, commands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from paramverify.algebra.rationals import decimal_text
from paramverify.algebra.reals import Real
from paramverify.answers import Standing
from paramverify.evidence import number_words
from paramverify.pages import mathml
from paramverify.pages.markup import Element, Part, add, h

Row: TypeAlias = "list[Part | TableCell]"

LONGEST = 60  # characters of an exact number that is shown as a formula
ABOUT = "≈ "

TONES = {Standing.HOLDS: "good", Standing.VIOLATED: "bad"}  # classes of the style sheet


@dataclass(frozen=True)
class TableCell:
    """A cell of a table, and what it is sorted by: a rational as text, or any text."""

    part: Part
    key: str | None = None


def tone(standing: Standing) -> str:
    """Returns the class of the style sheet for a verdict."""
    return TONES.get(standing, "open")


def badge(standing: Standing, words: str) -> Element:
    """Returns the word of a verdict, with its colour and its mark."""
    return h("span", words, class_=f"badge {tone(standing)}")


def number(value: Real) -> list[Part]:
    """Returns an exact number, and its decimal where it is none itself."""
    exact = number_words.exactly(value)
    shown: Part = mathml.real(value) if len(exact) <= LONGEST else h("code", exact, class_="long")
    return (
        [shown] if exact.lstrip("-").isdigit() else [shown, about(value.middle(), value.rational is not None)]
    )


def about(value: Fraction, is_exact: bool = True) -> Element:
    """Returns a number as a decimal, behind the exact one: rounded, unless it is the same number."""
    decimal = decimal_text(value)
    same = is_exact and Fraction(decimal) == value
    return h("span", f"{'= ' if same else ABOUT}{decimal}", class_="about")


def fraction(value: Fraction) -> list[Part]:
    """Returns a rational number, and its decimal where it is no whole one."""
    shown: list[Part] = [mathml.rational(value)]
    return shown if value.denominator == 1 else [*shown, about(value)]


def section(title: str, *parts: Part, level: int = 3, **attributes: str) -> Element:
    """Returns a section with its heading."""
    return h("section", h(f"h{level}", title), *parts, **attributes)


def paragraph(*parts: Part) -> Element:
    """Returns a paragraph."""
    return h("p", *parts)


def items(parts: Iterable[Part]) -> Element:
    """Returns a list."""
    return h("ul", [h("li", part) for part in parts])


def facts(pairs: Iterable[tuple[str, Part]]) -> Element:
    """Returns names with what they are."""
    return h("dl", [[h("dt", name), h("dd", part)] for name, part in pairs], class_="facts")


def table(
    caption: str,
    head: Sequence[Part],
    rows: Iterable[Sequence[Part | TableCell]],
    *,
    sortable: bool = False,
    first_is_head: bool = False,
) -> Element:
    """Returns a table that scrolls by itself where it is wide; with a mouse or keys it can be sorted."""
    body = h("tbody")
    for row in rows:
        line = h("tr")
        for column, entry in enumerate(row):
            cell = entry if isinstance(entry, TableCell) else TableCell(entry)
            tag = "th" if first_is_head and column == 0 else "td"
            scope = "row" if tag == "th" else None
            add(line, h(tag, cell.part, scope=scope, data_key=cell.key))
        add(body, line)
    heading = h("thead", h("tr", [h("th", part, scope="col") for part in head]))
    whole = h("table", heading, body, aria_label=caption, data_sortable=sortable)
    scrolled = h("div", whole, class_="scroll", role="region", aria_label=caption, tabindex=0)
    return h("figure", h("figcaption", caption), scrolled, class_="table")


def folded(summary: str, *parts: Part) -> Element:
    """Returns a part that is shown when its summary is chosen, and on paper."""
    return h("details", h("summary", summary), *parts)


def listing(content: str, label: str, numbered: bool = False) -> Element:
    """Returns a text as it is, with numbers of lines where they are wanted."""
    lines = content.removeprefix("\ufeff").rstrip().splitlines()
    shown: Part = "\n".join(lines)
    if numbered:
        shown = [h("span", f"{line}\n", class_="line") for line in lines]
    return h("pre", h("code", shown), class_="listing", role="region", aria_label=label, tabindex=0)


def commands(*lines: str) -> Element:
    """Returns commands for a terminal."""
    return listing("\n".join(lines), "Commands")


def left_out(what: str, why: str) -> Element:
    """Returns the sentence that something is not on the page."""
    return h("p", f"{what}: {why.split(chr(10))[0].rstrip('.')}.", class_="left-out")
