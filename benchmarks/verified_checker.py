"""The proved checker against the one in Python, on evidence of shipped cases: answers, processor time.

    python benchmarks/verified_checker.py [--limit 5] [--folder FOLDER] [--only verify interactive region]

Makes evidence of every case that `verify` or `interactive` settles within the limit, and region maps of some
cases, and keeps it in the folder. Both check it. Prints how many claims both accept, what the proved checker
does not know, and the ratio of the times. The proved checker is a process for each document, as users run it,
and then one process for all of them, without the starts. Python's start is not counted.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import resource
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from heapq import nlargest
from pathlib import Path
from typing import Any, NamedTuple

from paramverify.cli.main import run
from paramverify.kernel.documents import check_text, kind_of
from paramverify.reports.evidence_checks import program

CASES = Path(__file__).resolve().parents[1] / "cases"
FOLDERS = (".", "inequalities", "programs", "approximate", "divergences")
MAPS = (  # cases with two parameters or more, whose maps are drawn within seconds
    *("noisy-max-independent-below", "noisy-max-contagious", "time-series-2", "time-series-3"),
    *("survey-memory", "count-four-rates"),
)
SLOWEST = 5  # documents that are told
KINDS = ("verify", "interactive", "region")


def orders(folder: Path, limit: float, only: Sequence[str]) -> Iterator[tuple[Path, list[str]]]:
    """Yields files and the commands that write them."""
    for case in (case for name in FOLDERS for case in sorted((CASES / name).glob("*.toml"))):
        if "verify" in only:
            yield (
                folder / f"{case.parent.name}-{case.stem}.json",
                ["verify", str(case), "--timeout", str(limit)],
            )
    for case in sorted((CASES / "interactive").glob("*.toml")):
        if "interactive" in only:
            yield (
                folder / f"interactive-{case.stem}.json",
                ["interactive", str(case), "--timeout", str(limit)],
            )
    for name in MAPS:
        if "region" in only:
            path = str(CASES / f"{name}.toml")
            yield folder / f"region-{name}.json", ["synthesize", path, "--region", "--coverage", "1/2"]


def evidence(folder: Path, limit: float, only: Sequence[str]) -> Iterator[Path]:
    """Yields files with the evidence of shipped cases; those of an earlier run are used again."""
    for path, order in orders(folder, limit, only):
        if not path.exists():
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                run([*order, "--evidence", str(path)])
        if path.exists():
            yield path


def by_program(paths: Sequence[Path]) -> tuple[list[dict[str, Any]], float]:
    """Returns the answers of one process to documents, and its processor seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([program(), "--json", *map(str, paths)], capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return [json.loads(line) for line in done.stdout.splitlines()], spent


class Row(NamedTuple):
    """A document to which both gave the same answer, and the processor seconds of both."""

    path: Path
    format: str
    proved: int
    python: float
    alone: float


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=float, default=5.0, help="seconds for each case")
    parser.add_argument("--folder", type=Path, help="where evidence is kept")
    parser.add_argument("--only", nargs="+", choices=KINDS, default=KINDS, help="kinds of evidence")
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp())
    folder.mkdir(exist_ok=True, parents=True)
    counts: Counter[str] = Counter()
    beyond: Counter[str] = Counter()
    rows: list[Row] = []
    for path in evidence(folder, options.limit, options.only):
        text = path.read_text(encoding="utf-8")
        started = time.process_time()
        report = check_text(text)
        spent = time.process_time() - started
        (found,), by_it = by_program([path])
        counts["documents"] += 1
        counts["claims"] += report.proved
        if found["answer"] == "not known":
            counts["documents not known"] += 1
            counts["claims proved in documents that are not known"] += found["proved"]
            beyond.update(set(found["not_known"]))
            continue
        if (found["answer"] == "accepted") != report.accepted or found["proved"] != report.proved:
            print(f"{path.name}: Python {report.accepted} {report.proved}, the program {found}")
            counts["documents with another answer"] += 1
            continue
        counts["documents with the same answer"] += 1
        counts["claims proved by both"] += report.proved
        rows.append(Row(path, kind_of(json.loads(text)), report.proved, spent, by_it))
    for what, count in counts.items():
        print(f"{what}: {count:,}")
    for reason, count in beyond.most_common():
        print(f"not known in {count} documents: {reason}")
    slow = [*nlargest(SLOWEST, rows, lambda row: row.python), *nlargest(SLOWEST, rows, lambda row: row.alone)]
    for row in dict.fromkeys(slow):
        print(f"| {row.path.stem} | {row.python:.2f} | {row.alone:.2f} | {row.python / row.alone:.1f} |")
    print("| kind | documents | claims | Python s | a process each s | one process s | ratio |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for kind in (*sorted({row.format for row in rows}), "all"):
        of_it = [row for row in rows if kind in ("all", row.format)]
        _, together = by_program([row.path for row in of_it])
        python, alone = sum(row.python for row in of_it), sum(row.alone for row in of_it)
        claims = sum(row.proved for row in of_it)
        print(f"| {kind} | {len(of_it)} | {claims:,} | {python:.2f} | {alone:.2f} | {together:.2f} ", end="")
        print(f"| {python / together:.1f} |")


if __name__ == "__main__":
    main()
