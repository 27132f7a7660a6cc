"""The backends of a comparison as a table that can be sorted, from the summary that `compare` writes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from paramverify.algebra.decimals import decimal_text
from paramverify.answers import DECIDED
from paramverify.errors import InputError, located
from paramverify.files import read_file
from paramverify.pages.markup import Element, h
from paramverify.pages.parts import ABOUT, Cell, paragraph, section, table

MAX_BYTES = 50_000_000
WORDS = ("encoding", "backend", "simplification")
COUNTS = ("claims", "solved", *DECIDED, "timeout", "out_of_memory", "gave_up", "crashed", "wrong")
SECONDS = ("par2", "wall", "cpu")
COLUMNS = (
    *("encoding", "backend", "simplified", "claims", "solved", "true", "false", "timeout"),
    *("out of memory", "gave up", "crashed", "wrong", "PAR-2 s", "wall s", "CPU s"),
)
RARE = COLUMNS[7:12]  # left out where all are 0


def read_summary(path: Path) -> Mapping[str, Any]:
    """Reads a `summary.json` of `compare`.

    Raises:
        InputError: not such a file.
    """
    with located(file=str(path)):
        try:
            document = json.loads(read_file(path, MAX_BYTES, "a summary"), parse_float=Fraction)
            for row in document["configurations"]:
                _row(row)
            Fraction(document["timeout"])
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError("not a summary.json of `paramverify compare`") from None
        found: Mapping[str, Any] = document
        return found


def backends(document: Mapping[str, Any]) -> Element:
    """Returns the section that compares backends, one line for each and its options."""
    limit = decimal_text(Fraction(document["timeout"]))
    told = (
        f"Every backend tried every claim, with at most {limit} s for each. PAR-2 is the mean time, where "
        "a claim that was not solved counts as two limits. Times are measured, and depend on the machine."
    )
    listed = [_row(row) for row in document["configurations"]]
    kept = [
        k for k, name in enumerate(COLUMNS) if name not in RARE or any(row[k].key != "0" for row in listed)
    ]
    head = [COLUMNS[k] for k in kept]
    compared = table("Backends", head, [[row[k] for k in kept] for row in listed], sortable=True)
    return h("article", section("Comparison of backends", paragraph(told), compared, level=2))


def _row(row: Mapping[str, Any]) -> list[Cell]:
    words = [Cell(str(row[name]), str(row[name])) for name in WORDS]
    counts = [Cell(str(int(row[name])), str(int(row[name]))) for name in COUNTS]
    return [*words, *counts, *(_seconds(row[name]) for name in SECONDS)]


def _seconds(value: Fraction | int | None) -> Cell:
    if value is None:
        return Cell("–", "")
    exact = Fraction(value)
    return Cell(h("span", f"{ABOUT}{decimal_text(exact, 3)}", class_="about"), str(exact))
