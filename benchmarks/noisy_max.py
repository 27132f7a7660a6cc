"""Noisy max with symbolic noise against the number of answers: whole processes.

    python benchmarks/noisy_max.py [--runs 3] [--seconds 120]

Truncated geometric noise for all alpha in (0, 1): `verify` with evidence, and `check` of that evidence alone.
Up to five answers all pairs are formed; from six on one pair is proved to stand for all. Prints
Markdown for docs/benchmarks.md: the medians of processor times. Each process is killed at the limit.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

CASE = """title = "Noisy max"
[parameters]
alpha = "(0, 1)"
[mechanism]
kind = "noisy_max"
queries = {answers}
noise = {{ truncated_geometric = "alpha", range = {range} }}
ties = "{ties}"
[neighbours]
differ = "{differ}"
[privacy]
ratio = "{ratio}"
"""
ROWS = (
    *((n, 2, "uniform", "each") for n in (3, 5, 6, 7, 10, 20, 50)),
    *((n, 2, "first", "each") for n in (5, 10, 20, 50)),
    *((n, 2, "uniform", "one") for n in (10, 20)),
    *((n, 2, "first", "one") for n in (10, 20)),
    *((n, 3, "uniform", "each") for n in (10, 20)),
)


def ratio(answers: int, ties: str, differ: str) -> str:
    """Returns a bound that holds for all alpha."""
    if differ == "one":
        return "1/alpha"
    return "1/alpha**2" if ties == "uniform" else f"1/alpha**{answers}"


def seconds_of(command: Sequence[str], limit: float) -> tuple[float, str] | None:
    """Returns the processor seconds of a whole process and what it prints; None at the limit."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=limit)
    except subprocess.TimeoutExpired:
        return None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=120)
    given = parser.parse_args()
    print(f"Load of the machine at the start: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.\n")
    print("| answers | range | ties | differ | verdict | proofs of the pair | `verify` s | `check` s |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    program = [sys.executable, "-m", "paramverify"]
    with TemporaryDirectory() as folder:
        case, evidence = Path(folder) / "case.toml", Path(folder) / "evidence.json"
        for answers, most, ties, differ in ROWS:
            bound = ratio(answers, ties, differ)
            values = {"answers": answers, "range": most, "ties": ties, "differ": differ, "ratio": bound}
            case.write_text(CASE.format(**values), encoding="utf-8")
            evidence.unlink(missing_ok=True)
            verify = [*program, "verify", str(case), "--evidence", str(evidence)]
            proved = [seconds_of(verify, given.seconds) for _ in range(given.runs)]
            cells = [str(answers), str(most), ties, differ]
            if None in proved or not evidence.exists():
                print(f"| {' | '.join(cells)} | - | - | - | - |", flush=True)
                continue
            document = json.loads(evidence.read_text(encoding="utf-8"))
            reduction = document.get("reduction")
            steps = f"{len(reduction['proofs'])}, `{reduction['how']}`" if reduction else "all pairs"
            checked = [
                seconds_of([*program, "check", str(evidence)], given.seconds) for _ in range(given.runs)
            ]
            verdict = next(out.split(":")[0] for _, out in filter(None, proved))
            times = [
                f"{statistics.median(s for s, _ in filter(None, found)):.2f}" if all(found) else "-"
                for found in (proved, checked)
            ]
            print(f"| {' | '.join([*cells, verdict, steps, *times])} |", flush=True)


if __name__ == "__main__":
    main()
