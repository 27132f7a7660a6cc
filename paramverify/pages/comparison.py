"""The backends of a comparison as a table that can be sorted, from the summary that `compare` writes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from paramverify.algebra.rationals import decimal_text, rounded
from paramverify.answers import DECIDED
from paramverify.comparison.comparison_summary import Judgement
from paramverify.errors import InputError, located
from paramverify.files import read_file
from paramverify.kernel.strict_reading import counted
from paramverify.pages.markup import Element, h
from paramverify.pages.parts import ABOUT, TableCell, paragraph, section, table
from paramverify.reports.comparison_reports import INTERRUPTED, RAW, alarm, by_score

MAX_BYTES = 50_000_000
WORDS = ("encoding", "backend", "simplification")
COUNTS = (
    "claims",
    "solved",
    *DECIDED,
    "timeout",
    "out_of_memory",
    "gave_up",
    "crashed",
    "wrong",
    "unconfirmed",
)
SECONDS = ("par2", "wall", "cpu")
COLUMNS = (
    *("encoding", "backend", "simplified", "asked", "solved", "true", "false", "timeout"),
    *("out of memory", "gave up", "crashed", "wrong", "unconfirmed", "PAR-2 s", "wall s", "CPU s"),
)
RARE = COLUMNS[7:13]  # left out where all are 0


def read_summary(path: Path) -> Mapping[str, Any]:
    """Reads a `summary.json` of `compare`.

    Raises:
        InputError: not such a file.
    """
    with located(file=str(path)):
        try:
            document = json.loads(read_file(path, MAX_BYTES, "a summary"), parse_float=Fraction)
            backends(document)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError("not a summary.json of `paramverify compare`") from None
        found: Mapping[str, Any] = document
        return found


def backends(document: Mapping[str, Any]) -> Element:
    """Returns the section that compares backends, one line for each and its options."""
    limit = decimal_text(Fraction(document["timeout"]))
    told = (
        f"An attempt is one backend on one claim, with at most {limit} s. `asked` counts the claims that a "
        "backend was asked about; they differ where simplification settled some, or where a backend was left "
        "out. PAR-2 is the mean time, where a claim that was not solved, or answered wrongly, counts as two "
        "limits. Times are measured, and depend on the machine."
    )
    told += f" In this comparison {RAW}." if document["raw"] else ""
    partial = [] if document["complete"] else [paragraph(INTERRUPTED)]
    listed = [_row(row) for row in by_score(document["configurations"])]
    kept = [
        k for k, name in enumerate(COLUMNS) if name not in RARE or any(row[k].key != "0" for row in listed)
    ]
    head = [COLUMNS[k] for k in kept]
    compared = table("Backends", head, [[row[k] for k in kept] for row in listed], sortable=True)
    parts = [*partial, paragraph(told), *_alarms(document), compared, *_lists(document)]
    return h("article", section("Comparison of backends", *parts, level=2))


def _alarms(document: Mapping[str, Any]) -> list[Element]:
    """Returns what must not be: disagreements and wrong answers, one line each."""
    told = alarm(Judgement({}, tuple(document["disagreements"]), tuple(document["wrong"])))
    if not told:
        return [paragraph("No two answers contradict each other, and no answer contradicts what is known.")]
    return [h("ul", *(h("li", line, class_="alarm") for line in told))]


def _lists(document: Mapping[str, Any]) -> list[Element]:
    """Returns what was compared, what simplification settled, what nobody solved, and what was left out."""
    cases = [
        f"{file['case']} ({file['encoding']}): {counted(int(file['claims']), 'claim')}"
        for file in document["cases"]
    ]
    settled = [
        f"{part['encoding']}: simplification settled {int(part['settled'])} of "
        f"{counted(int(part['claims']), 'claim')} before a backend was asked, so no backend scores for them"
        for part in document["simplification"]
    ]
    unsolved = [f"{p['case']}, claim {int(p['claim'])} ({p['encoding']})" for p in document["unsolved"]]
    left_out = [f"{part['what']}: {part['reason']}" for part in document["skipped"]]
    titled = {
        "Compared": cases,
        "Settled by simplification": settled,
        "Solved by no backend": unsolved,
        "Left out": left_out,
    }
    return [
        h("div", h("h3", title), h("ul", *(h("li", entry) for entry in entries)))
        for title, entries in titled.items()
        if entries
    ]


def _row(row: Mapping[str, Any]) -> list[TableCell]:
    words = [TableCell(str(row[name]), str(row[name])) for name in WORDS]
    counts = [TableCell(str(int(row[name])), str(int(row[name]))) for name in COUNTS]
    return [*words, *counts, *(_seconds(row[name]) for name in SECONDS)]


def _seconds(value: Fraction | int | None) -> TableCell:
    if value is None:
        return TableCell("–", "")
    exact = Fraction(value)
    shown = rounded(exact, 3)
    return TableCell(h("span", shown, class_="about") if shown.startswith(ABOUT) else shown, str(exact))
