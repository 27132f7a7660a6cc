"""What a comparison says, as text for a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Any

from paramverify.answers import DECIDED, Standing
from paramverify.comparison.comparison_subjects import SCRIPT, as_it_is
from paramverify.comparison.comparison_summary import ComparisonSummary, Judgement, MedianRun
from paramverify.kernel.strict_reading import counted
from paramverify.reports.sentences import columns

INTERRUPTED = "Interrupted: what follows is about the claims of which every attempt was made."
RAW = "solvers are asked about claims as they are; built-in procedures simplify first"


def lines(document: Mapping[str, Any]) -> list[str]:
    """Returns the summary as text for a terminal: for each encoding a table, and who contributes what."""
    result: list[str] = []
    if not document["complete"]:
        result += [INTERRUPTED, ""]
    for best, simplified in zip(document["virtual_best"], document["simplification"], strict=True):
        encoding = best["encoding"]
        rows = by_score([r for r in document["configurations"] if r["encoding"] == encoding])
        rows.append({**best, "backend": "virtual best", "simplification": ""})
        rows = [row for row in rows if row["claims"]]  # others were asked about nothing
        many = counted(simplified["claims"], "question" if encoding == SCRIPT else "claim")
        result += [f"{encoding}: {many}, at most {document['timeout']:g} s for each"]
        if document["raw"] and not as_it_is(encoding):
            result.append(RAW)
        if simplified["settled"]:
            many = f"{simplified['settled']} of them" + (" was" if simplified["settled"] == 1 else " were")
            result.append(
                f"{many} settled by simplification: they count only in rows without it, and not for the "
                "virtual best"
            )
        result.append("")
        result += [*_scores(rows), ""] if rows else []
        parts = [c for c in document["contributions"] if c["encoding"] == encoding]
        if len(parts) > 1:
            header = ("contributes", "fastest", "alone", "PAR-2 of the best without it")
            parts.sort(key=lambda c: (-c["only"], -c["par2_loss"]))
            table = [
                (c["backend"], str(c["fastest"]), str(c["only"]), _seconds(c["par2_without"])) for c in parts
            ]
            result += [*columns(*_aligned(header, table, 1)), ""]
            result += _alone(parts)
    if len({row["encoding"] for row in document["encodings"]} - {SCRIPT}) > 1:
        result += [*_side_by_side(document["encodings"]), ""]
    conditions = {row["case"]: row["side_condition"] for row in document["cases"] if "side_condition" in row}
    result += [f"On a side condition, {case}: {told}." for case, told in conditions.items()]
    result += [""] * bool(conditions)
    if document["unsolved"]:
        shown = [f"{p['case']} {p['claim']}" for p in document["unsolved"]]
        more = f" and {len(shown) - 10} more" if len(shown) > 10 else ""
        result += [f"Solved by no backend: {', '.join(shown[:10])}{more}", ""]
    if document["skipped"]:
        result += ["Left out:", *(f"  {s['what']}: {s['reason']}" for s in document["skipped"]), ""]
    return result[:-1]


def by_score(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Returns configurations in the order of their encodings and PAR-2; the best ones come first."""
    return sorted(rows, key=lambda r: (r["encoding"], inf if r["par2"] is None else r["par2"]))


SHOWN = 20  # rows of a table of claims


def claim_lines(made: ComparisonSummary) -> list[str]:
    """Returns what each backend answers about each claim, as a table for each encoding.

    A cell is about the claim as it is; of a backend that simplifies always, about what that leaves.
    """
    result: list[str] = []
    for encoding in made.encodings():
        runs = {
            c.backend: made.runs[c] for c in made.runs if c.encoding == encoding and c.simplification != "off"
        }
        runs |= {
            c.backend: made.runs[c] for c in made.runs if c.encoding == encoding and c.simplification == "off"
        }
        problems = list(dict.fromkeys(problem for each in runs.values() for problem in each))
        question = "question" if encoding == SCRIPT else "claim"
        rows = [
            [f"{problem.case} {problem.claim}", *(_answered(each.get(problem)) for each in runs.values())]
            for problem in problems[:SHOWN]
        ]
        result += ["", *columns(*_aligned([question, *runs], rows, 1))]
        if len(problems) > SHOWN:
            result.append(f"... and {counted(len(problems) - SHOWN, question)} more, in table-{encoding}.csv")
    return result


def _answered(run: MedianRun | None) -> str:
    """Returns an answer and its seconds, such as `true 0.020`; why there is none; `-` without an attempt."""
    if run is None:
        return "-"
    record = run.record
    if record["status"] in DECIDED:
        word = _counted(record["status"], record["encoding"] == SCRIPT)
        return f"{'wrong: ' * run.wrong}{word} {_seconds(record['wall'])}"
    return str(record["end"])


COUNTS = (
    *("solved", *DECIDED),
    *("timeout", "out_of_memory", "gave_up", "crashed", "wrong", "unconfirmed"),
)


def _scores(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns the table of one encoding, without counts that are zero everywhere."""
    counts = [name for name in COUNTS if name == "solved" or any(row[name] for row in rows)]
    words = [_counted(name, rows[0]["encoding"] == SCRIPT) for name in counts]
    header = ["backend", "simplified", "asked", *words, "PAR-2", "wall s", "CPU s", "peak MiB"]
    cells = [
        [
            *(row["backend"], row["simplification"]),
            *(str(row[name]) for name in ("claims", *counts)),
            *(_seconds(row[name]) for name in ("par2", "wall", "cpu")),
            f"{row['peak_memory'] / (1 << 20):.0f}",
        ]
        for row in rows
    ]
    return columns(*_aligned(header, cells, 2))


def _side_by_side(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    header = ("case", "encoding", "verdict", "claims", "encoding s", "deciding s")
    cells = [
        [
            *(row["case"], row["encoding"], _status(row), str(row["claims"]), _seconds(row["seconds"])),
            "-" if row["deciding"] is None else _seconds(row["deciding"]),
        ]
        for row in sorted(rows, key=lambda row: str(row["case"]))
    ]
    return columns(*_aligned(header, cells, 3))


def _status(row: Mapping[str, Any]) -> str:
    on = ", on a side condition" if row["status"] == Standing.HOLDS and "side_condition" in row else ""
    return f"{row['verdict']}{on}"


def _alone(parts: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns what each backend solves that no other one does."""
    told = []
    for part in parts:
        shown = [f"{p['case']} {p['claim']}" for p in part["alone"]]
        more = f" and {len(shown) - 5} more" if len(shown) > 5 else ""
        told += [f"Solved by {part['backend']} alone: {', '.join(shown[:5])}{more}"] if shown else []
    return [*told, ""] if told else []


def _counted(name: str, script: bool) -> str:
    if name not in DECIDED:
        return name.replace("_", " ")
    return Standing(name).of_script if script else Standing(name).of_claim


def _told(words: str, script: bool = False) -> str:
    """Returns what JSON says of claims or of scripts, in the words for people."""

    def word(found: re.Match[str]) -> str:
        standing = Standing(found[0])
        return standing.of_script if script else standing.of_claim

    return re.sub(rf"\b({'|'.join(Standing)})\b", word, words)


def _seconds(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"


def _aligned(
    header: Sequence[str], rows: Sequence[Sequence[str]], words: int
) -> tuple[list[str], list[list[str]]]:
    """Returns header and rows with all columns but the first few aligned to the right."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]

    def line(cells: Sequence[str]) -> list[str]:
        return [c if k < words else c.rjust(w) for k, (c, w) in enumerate(zip(cells, widths, strict=True))]

    return line(header), [line(row) for row in rows]


def alarm(judgement: Judgement) -> list[str]:
    """Returns one line for each disagreement and each wrong answer."""
    result = []
    for entry in judgement.disagreements:
        place = f"{entry['case']}, claim {entry['claim']} ({entry['encoding']})"
        parts = "; ".join(
            f"{_told(status, entry['encoding'] == SCRIPT)}: {', '.join(entry[status])}" for status in DECIDED
        )
        result.append(f"DISAGREEMENT on {place}: {parts}; their transcripts are in results.jsonl")
    for entry in judgement.wrong:
        script = entry["encoding"] == SCRIPT
        claim = f", claim {entry['claim']}" if "claim" in entry else ""
        who = f"{entry['backend']} said" if "backend" in entry else "found"
        place = f"{entry['case']}{claim} ({entry['encoding']})"
        known = f"{entry['verdict']} ({entry['by']})" if "verdict" in entry else _told(entry["known"], script)
        result.append(f"WRONG ANSWER on {place}: {who} {_told(entry['said'], script)}; known: {known}")
    return result
