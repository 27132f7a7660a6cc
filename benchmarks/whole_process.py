"""Whole processes: `paramverify verify` with the portfolio, beside the backend that is the fastest.

    python benchmarks/whole_process.py RESULTS [--limit 10] [--best 3]

RESULTS is what benchmarks/literature.py measured. For each case of cases/inequalities the backends that were
the fastest are asked again, each by a process of its own (`--backends NAME`), and the least time counts. The
cases of finite length in cases/ follow, with `bernstein`, `z3` and `yices` beside the portfolio. All
processes start cold, one at a time. Prints Markdown for docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from literature import FACTOR, ROOT

from paramverify.models.model import Model
from paramverify.privacy.cases import load

MORE = 0.25  # seconds: what a whole process of the portfolio may need more than that of the best backend
USUAL = ("bernstein", "z3", "yices")
DECIDED = (0, 1)  # exit codes


def seconds(path: Path, limit: float, *options: str) -> float:
    """Returns the seconds of one process; infinity where it does not decide the case."""
    command = [sys.executable, "-m", "paramverify", "verify", str(path), "--timeout", f"{limit:g}", *options]
    started = time.perf_counter()
    ended = subprocess.run(command, capture_output=True, check=False)
    spent = time.perf_counter() - started
    return spent if ended.returncode in DECIDED else float("inf")


def fastest(results: Path, count: int) -> dict[str, list[str]]:
    """Returns the backends that were the fastest on each case, by the seconds of all its claims."""
    found: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for line in results.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if not row["who"].startswith("portfolio"):
            name = row["name"].rpartition(" ")[0]
            found[name][row["who"]] += row["seconds"] if row["said"] else float("inf")
    return {name: sorted(times, key=lambda who: times[who])[:count] for name, times in found.items()}


def lines(title: str, cases: Sequence[tuple[Path, list[str]]], limit: float) -> Iterator[str]:
    """Yields the rows about some cases."""
    best, ours, late = [], [], []
    for path, names in cases:
        alone = min(seconds(path, limit, "--backends", name) for name in names)
        if alone == float("inf"):
            continue
        portfolio = seconds(path, limit)
        best.append(alone)
        ours.append(min(portfolio, limit))
        if portfolio > FACTOR * alone + MORE:
            late.append(f"{path.stem} {portfolio:.2f} s, best {alone:.2f} s")
    yield f"| {title} | {len(best)} | {sum(best):.1f} | {sum(ours):.1f} | {len(late)} | {'; '.join(late)} |"


def main() -> None:
    """Measures and prints."""
    os.environ["PARAMVERIFY_HISTORY"] = "off"
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=Path)
    parser.add_argument("--limit", type=float, default=10.0)
    parser.add_argument("--best", type=int, default=3)
    chosen = parser.parse_args()
    first = fastest(chosen.results, chosen.best)
    paths = sorted((ROOT / "cases" / "inequalities").glob("*.toml"))
    literature = [(path, first[path.stem]) for path in paths if path.stem in first]
    ours = []
    for path in sorted((ROOT / "cases").glob("*.toml")):
        model = load(path).model
        if isinstance(model, Model) and model.lengths:
            ours.append((path, list(USUAL)))
    print(f"| cases | decided | best backend s | portfolio s | over {FACTOR} times and {MORE} s | which |")
    print("| --- | --- | --- | --- | --- | --- |")
    print("\n".join(lines("the literature", literature, chosen.limit)))
    print("\n".join(lines("ours", ours, chosen.limit)))


if __name__ == "__main__":
    main()
