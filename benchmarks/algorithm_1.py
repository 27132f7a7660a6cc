"""Algorithm 1 of [F] on the cases of its evaluation, beside the exact claims: whole processes, with a limit.

    python benchmarks/algorithm_1.py [--seconds 60] [--only NAME]

Runs `paramverify verify CASE` with `--encoding monolithic`, which is Algorithm 1 with Z3, and without it. The
published times were measured on an Intel Core i7-8750H with 4 GB and 4 cores in a virtual machine, by FAIER
with Z3, and Redlog for Example 5. Prints a Markdown table for docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
SHORT = "below 2 s"
WORDS = {0: "holds", 1: "violated", 3: "-"}


@dataclass(frozen=True)
class Row:
    """A line of the evaluation: its name there, the case and changes of its text, and the published time."""

    name: str
    case: str
    published: str
    changes: tuple[tuple[str, str], ...] = ()


ROWS = (
    Row("Example 2, ln 2", "geometric-neighbours", f"holds, {SHORT}"),
    Row("Example 3, ln 2", "geometric-contagious-ln2", f"violated, {SHORT}"),
    Row("Example 4, ln 2", "geometric-independent", f"holds, {SHORT}"),
    Row("Example 5, ln 2", "noisy-max-independent", "Z3: none in 60 min; Redlog: holds"),
    Row("Example 6, ln 2", "noisy-max-five-diseases", f"violated, {SHORT}"),
    Row("Example 6.3, ln 2", "noisy-max-contagious", "violated"),
    Row("Algorithm 2 of the full version, ln 2", "noisy-max-naive-3-ln2", "violated"),
    Row(
        "above threshold, 4 ln 2, length 11 of Fig. 3",
        "above-threshold-figure-3",
        f"violated, {SHORT}",
        (('length = "1..11"', "length = 11"),),
    ),
    Row(
        "above threshold, 4 ln 2, the pair of the published sequence",
        "above-threshold-figure-3",
        f"violated, {SHORT}",
        (('length = "1..11"', "length = 11"), ("pairs = [", 'pairs = [["t2r0", "_t2r1"]]\n# [')),
    ),
    Row("noisy max, n = 5, 1.372", "noisy-max-5-below", "violated, 234 s"),
    Row("noisy max, n = 5, 1.373", "noisy-max-5-above", "holds, 523 s"),
    Row(
        "noisy max, n = 5, 1.34",
        "noisy-max-5-below",
        "violated, 40 s",
        (("1.372", "1.34"),),
    ),
)


def case_text(row: Row) -> str:
    """Returns the case file of a row.

    A change from `pairs = [` keeps only its own pair: the lines of the other pairs become comments.
    """
    text = (ROOT / "cases" / f"{row.case}.toml").read_text(encoding="utf-8")
    for old, new in row.changes:
        if old not in text:
            raise SystemExit(f"{row.case} has no {old!r}")
        head, _, tail = text.partition(old)
        if old == "pairs = [":
            others, _, tail = tail.partition("\n]\n")
            tail = others.replace("\n", "\n# ") + "\n" + tail
        text = head + new + tail
    return text


def measured(path: str, seconds: float, *options: str) -> str:
    """Returns the verdict and the wall-clock time of a whole process."""
    command = [sys.executable, "-m", "paramverify", "verify", path, "--timeout", str(seconds), *options]
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    took = time.perf_counter() - started
    word = WORDS[done.returncode]
    return f"{word}, {took:.2f} s" if word != "-" else f"none in {seconds:g} s"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--only", default="", help="rows whose name has this text")
    arguments = parser.parse_args()
    print("| in [F] | published | Algorithm 1 here | exact claims |")
    print("| --- " * 4 + "|")
    for row in ROWS:
        if arguments.only not in row.name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{row.case}.toml"
            path.write_text(case_text(row), encoding="utf-8")
            formulas = measured(str(path), arguments.seconds, "--encoding", "monolithic")
            claims = measured(str(path), arguments.seconds)
        print(f"| {row.name} | {row.published} | {formulas} | {claims} |", flush=True)


if __name__ == "__main__":
    main()
