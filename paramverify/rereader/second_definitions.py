"""A second reading of `[define]`, of what `-D` sets, and of points of the domain: standard library only.

The first reader puts trees in place of names. Here the text of a definition, in brackets, replaces its name.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice, product
from pathlib import Path
from typing import Any

from ..kernel.strict_reading import UnreadCase

# --- parameters of a case and points of their domain, for the second reader: standard library only ---

Interval = tuple[Fraction, Fraction, bool, bool]  # both ends, and whether each belongs to it

STEPS = ("3/7", "5/11", "8/13", "4/17", "14/19", "9/23", "20/29", "6/31")


def inside(value: Fraction, ends: Interval) -> bool:
    """Tells whether a number is in an interval."""
    low, high, with_low, with_high = ends
    return low < value < high or (value == low and with_low) or (value == high and with_high)


def endless(given: Any) -> bool:
    """Tells whether a parameter is written as `(0, oo)`."""
    if not isinstance(given, str) or given.strip()[:1] != "(" or given.strip()[-1:] != ")":
        return False
    low, _, high = given.strip()[1:-1].partition(",")
    return low.strip() == "0" and high.strip().removeprefix("+").strip().lower() in ("oo", "inf", "infinity")


def candidates(box: Mapping[str, Interval]) -> Iterator[dict[str, Fraction]]:
    """Yields points of a box: each coordinate another share of its interval first, then alike, then many."""
    shares = [Fraction(step) for step in STEPS]

    def at(chosen: Sequence[Fraction]) -> dict[str, Fraction]:
        return {
            name: low + (high - low) * share
            for (name, (low, high, _, _)), share in zip(box.items(), chosen, strict=True)
        }

    if all(low == high for low, high, _, _ in box.values()):
        yield at([Fraction(0)] * len(box))
        return
    size = len(shares)
    for shift in range(size):
        yield at([shares[(shift + 3 * k) % size] for k in range(len(box))])
    for share in shares:
        yield at([share] * len(box))
    for step in (Fraction(1), Fraction(1, 3), Fraction(1, 20)):
        yield from islice(
            (at([s * step for s in chosen]) for chosen in product(shares, repeat=len(box))), 500
        )


# --- second names -----------------------------------------------------------------------------------

MAX_LENGTH = 1_000_000

_WORD = re.compile(r"""'[^']*'|"[^"]*"|[0-9.][0-9A-Za-z_.]*|[A-Za-z_][A-Za-z0-9_]*""")


def written_out(text: str, definitions: Mapping[str, str]) -> str:
    """Returns an expression in which each name that is defined is replaced; what is in quotes is kept."""
    if not definitions:
        return text
    found = _WORD.sub(lambda word: definitions.get(word[0], word[0]), text)
    if len(found) > MAX_LENGTH:
        raise UnreadCase("an expression that is too long with its definitions")
    return found


def program_written_out(source: str, definitions: Mapping[str, str]) -> str:
    """Returns a program in which each name that is defined is replaced, on the same line."""
    if not definitions:
        return source
    lines = io.StringIO(source).readlines()
    try:
        tokens = list(tokenize.generate_tokens(iter(lines).__next__))
    except (tokenize.TokenError, SyntaxError):
        raise UnreadCase("the text is not a program") from None
    for token in reversed(tokens):
        if token.type == tokenize.NAME and token.string in definitions:
            (row, start), (_, end) = token.start, token.end
            line = lines[row - 1]
            lines[row - 1] = f"{line[:start]}{definitions[token.string]}{line[end:]}"
    return "".join(lines)


def definitions_of(data: Mapping[str, Any]) -> dict[str, str]:
    """Returns what each name of `[define]` stands for, in brackets and with nothing defined in it."""
    found: dict[str, str] = {}
    for name, given in data.get("define", {}).items():
        if isinstance(given, (bool, dict, list)):
            raise ValueError(f"{name!r:.40} is not defined by an expression")
        found[name] = f"({written_out(str(given).strip(), found)})"
    return found


def set_to(data: Mapping[str, Any], settings: Mapping[str, str]) -> dict[str, Any]:
    """Returns the data of a case file in which a definition or a parameter has each of these values."""
    found = {**data, "define": {**data.get("define", {})}, "parameters": {**data.get("parameters", {})}}
    for name, text in settings.items():
        if name in found["define"]:
            found["define"][name] = text
        elif name in found["parameters"] and name != "constraints":
            found["parameters"][name] = text
        else:
            raise ValueError(f"{name!r:.40} is neither a definition nor a parameter")
    return found


def read_files(table: dict[str, Any], folder: Path | None) -> None:
    """Puts the text of a program in place of the name of its file, also in parts and in what it calls."""
    inside = [*table.get("parts", ()), *table.get("calls", {}).values()]
    for part in inside if table["kind"] in ("parts", "program") else ():
        read_files(part, folder)
    if table["kind"] == "program" and "file" in table:
        if folder is None:
            raise UnreadCase("the file of a program, without the folder of the case")
        try:
            content = (folder / table["file"]).read_bytes()
            table["source"] = content.decode("utf-8-sig")
        except (OSError, ValueError):
            raise UnreadCase("the file of the program cannot be read") from None
