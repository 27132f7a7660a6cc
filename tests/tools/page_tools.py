"""Pages for tests: small cases, the pages about them, and what a page has, read by the standard library."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from fractions import Fraction
from html.parser import HTMLParser
from itertools import product
from pathlib import Path
from typing import Any

from paramverify.pages.work import Examined, PageOptions, examine
from paramverify.portfolio.session import Options

CASES = Path(__file__).resolve().parent.parent.parent / "cases"

THREE = """
title = "Two people and a noisy count"

[parameters]
p = "(0, 1)"
c = "[0, 1]"
alpha = "[1/4, 3/4]"

[prior]
john = { bernoulli = "p" }
kin = { given = "john", table = { 0 = { 0 = "1 - c*p", 1 = "c*p" }, 1 = { 0 = "1 - c", 1 = "c" } } }
sick = "john + kin"

[mechanism]
kind = "geometric"
query = "sick"
noise = { truncated_geometric = "alpha", range = 2 }

[secrets]
infected = "john == 1"
healthy = "john == 0"
pairs = [["infected", "healthy"]]

[privacy]
ratio = "3"
"""

# Noise with the constant exp(-1/2), and a constraint: E = exp(1/2).
CONSTANT = """
title = "A noisy count with <b>e</b> & a \\"quote\\" in its title"

[parameters]
p = "[0, 1]"
q = "[0, 1]"
constraints = ["p + q <= 1"]

[prior]
record = { categorical = { 0 = "p", 1 = "q", 2 = "1 - p - q" } }

[mechanism]
kind = "geometric"
query = "record"
noise = { truncated_geometric = "exp(-1/2)", range = 2 }

[secrets]
low = "record <= 1"
high = "record >= 1"
pairs = [["low", "high"]]

[privacy]
epsilon = "1/2"
"""


def examined(path: Path, seconds: float = 20) -> Examined:
    """Returns what `report` finds about a case."""
    wanted = PageOptions(Options(), None, lambda left: nullcontext())
    return examine(str(path), wanted, seconds)


def geometric(alpha: Fraction, answer: int) -> list[Fraction]:
    """Returns the truncated geometric noise on 0..2, by clamping sums of the two-sided geometric series."""
    inner = (1 - alpha) / (1 + alpha)
    row = [inner * alpha ** abs(output - answer) for output in range(3)]
    row[0] += inner * alpha ** (answer + 1) / (1 - alpha)
    row[2] += inner * alpha ** (3 - answer) / (1 - alpha)
    return row


def leaks_of_three(p: Fraction, c: Fraction, alpha: Fraction) -> dict[str, tuple[Fraction, Fraction]]:
    """Returns for each output of the case `THREE` both probabilities at a point, by enumeration."""
    found = {}
    for output in range(3):
        sides = []
        for john in (1, 0):
            second = c if john else c * p
            sides.append(
                (1 - second) * geometric(alpha, john)[output] + second * geometric(alpha, john + 1)[output]
            )
        found[str(output)] = (sides[0], sides[1])
    return found


def leaks_of_constant(p: Fraction, q: Fraction, e: Fraction) -> dict[str, tuple[Fraction, Fraction]]:
    """Returns the same for the case `CONSTANT`, with a number in the place of exp(1/2)."""
    weights = [p, q, 1 - p - q]
    found = {}
    for output in range(3):
        rows = [geometric(1 / e, record)[output] for record in range(3)]
        low = sum((w * r for w, r in zip(weights[:2], rows[:2], strict=True)), Fraction(0)) / sum(weights[:2])
        high = sum((w * r for w, r in zip(weights[1:], rows[1:], strict=True)), Fraction(0)) / sum(
            weights[1:]
        )
        found[str(output)] = (low, high)
    return found


def evaluated(terms: list[list[Any]], point: list[Fraction]) -> Fraction:
    """Returns the value of a polynomial from the data of a page."""
    total = Fraction(0)
    for coefficient, *exponents in terms:
        value = Fraction(coefficient)
        for base, exponent in zip(point, exponents, strict=True):
            value *= base**exponent
        total += value
    return total


def grid(*sides: tuple[Fraction, Fraction], steps: int = 4) -> Iterator[list[Fraction]]:
    """Yields inner points of a box."""
    shares = [Fraction(k, steps) for k in range(1, steps)]
    yield from map(list, product(*([low + (high - low) * t for t in shares] for low, high in sides)))


@dataclass
class Seen:
    """An element of a page: its tag, its attributes, the text within it, and the tags around it."""

    tag: str
    attributes: Mapping[str, str]
    around: tuple[str, ...]
    text: str = ""


@dataclass
class Page(HTMLParser):
    """The elements of a page in their order."""

    content: str
    elements: list[Seen] = field(default_factory=list)
    open: list[Seen] = field(default_factory=list)

    VOID = ("meta", "link", "input", "br", "hr")

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.feed(self.content)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keeps an element."""
        around = tuple(seen.tag for seen in self.open)
        seen = Seen(tag, {name: value or "" for name, value in attrs}, around)
        self.elements.append(seen)
        if tag not in self.VOID:
            self.open.append(seen)

    def handle_endtag(self, tag: str) -> None:
        """Closes an element, which has to be the one that was opened last."""
        assert self.open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        """Adds text to all elements around it."""
        for seen in self.open:
            seen.text += data

    def having(self, tag: str, **attributes: str) -> list[Seen]:
        """Returns the elements with a tag and attributes."""
        wanted = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
        return [s for s in self.elements if s.tag == tag and wanted.items() <= s.attributes.items()]

    def data(self, name: str) -> Any:
        """Returns a block of JSON."""
        (block,) = self.having("script", id=name)
        return json.loads(block.text)
