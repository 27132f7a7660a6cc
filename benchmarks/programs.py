"""Programs against published times: whole processes, all ordered pairs of neighbours, verdict with evidence.

    python benchmarks/programs.py [--runs 3] [--only TEXT]

The programs are those of the tables of DiPApprox (CCS 2025): inputs in {−1, 0, 1}^N, neighbours differ by at
most 1 in each answer. Prints Markdown for docs/benchmarks.md: the median of the wall times, beside the goal.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

SPARSE = """\
T = {threshold}
for x in q:
    if x + {query} >= T:
        output(1)
        stop
    output(0)
"""

NEVER_STOPS = """\
T = laplace(2 / eps)
for x in q:
    output(1 if x + laplace(2 / eps) >= T else 0)
"""

NOISY_MAX = """\
best = q[0] + laplace(2 / eps)
arg = 0
for i in range(1, len(q)):
    x = q[i] + laplace(2 / eps)
    if x > best:
        best = x
        arg = i
return arg
"""

RANGE = """\
low = laplace(4 / eps)
high = 1 + laplace(4 / eps)
for x in q:
    y = x + laplace(2 / eps)
    if y >= low and y <= high:
        output("in")
    else:
        output("out")
        stop
"""

MIN_MAX = """\
low = q[0] + laplace(4 / eps)
high = low
for i in range(1, len(q) - 1):
    x = q[i] + laplace(4 / eps)
    low = min(low, x)
    high = max(high, x)
x = q[len(q) - 1] + laplace(4 / eps)
return low <= x and x <= high
"""


@dataclass(frozen=True)
class Row:
    """A program, its answers, its budget, and the goal in seconds; `pairs` instead of all neighbours."""

    name: str
    source: str
    length: int
    parameters: str
    budget: str
    goal: str
    pairs: str = ""

    def case(self) -> str:
        """Returns the case file."""
        neighbours = f"pairs = {self.pairs}" if self.pairs else 'differ = "each"'
        return (
            f'[parameters]\n{self.parameters}\n\n[mechanism]\nkind = "program"\n'
            f'source = """\n{self.source}"""\n\n'
            f'[mechanism.inputs]\nq = {{ length = {self.length}, values = "-1..1" }}\n\n'
            f"[neighbours]\n{neighbours}\n\n[privacy]\n{self.budget}\n"
        )


def rows() -> Iterator[Row]:
    """Yields the rows of the table."""
    half, one, alpha = 'eps = "1/2"', 'eps = "1"', 'alpha = "(0, 1)"'
    fourth = 'ratio = "1/alpha**4"'
    laplace = SPARSE.format(threshold="laplace(2 / eps)", query="laplace(4 / eps)")
    geometric = SPARSE.format(threshold="geometric(alpha**2)", query="geometric(alpha)")
    for length, goal in ((2, "0.5"), (3, "1"), (4, "2"), (5, "8")):
        yield Row("SVT, Laplace, eps = 1/2", laplace, length, half, 'epsilon = "eps"', goal)
    for length, goal in ((4, "2"), (6, "30")):
        yield Row("SVT, geometric, all alpha", geometric, length, alpha, fourth, goal)
    for length, goal in ((11, "2"), (25, "10"), (50, "")):
        pair = f"[[{[0] * length}, {[1] * length}]]"
        yield Row("SVT, Laplace, one pair", laplace, length, half, 'epsilon = "eps"', goal, pair)
    for length, goal in ((3, "1"), (4, "3"), (6, "60")):
        yield Row("noisy max, Laplace, eps = 1/2", NOISY_MAX, length, half, 'epsilon = "eps"', goal)
    yield Row("k-min-max, Laplace", MIN_MAX, 4, half, 'epsilon = "4*eps"', "10")
    yield Row("m-range, Laplace", RANGE, 2, half, 'epsilon = "eps"', "10")
    leaky = SPARSE.format(threshold="laplace(4 / eps)", query="laplace(4 / (3 * eps))")
    yield Row("leaky 4", leaky, 2, one, 'epsilon = "eps"', "1")
    yield Row(
        "leaky 5", SPARSE.format(threshold="laplace(2 / eps)", query="0"), 2, half, 'epsilon = "eps"', "1"
    )
    yield Row("leaky 6", NEVER_STOPS, 3, one, 'epsilon = "eps"', "1")


def measured(row: Row, runs: int) -> tuple[str, float]:
    """Returns the verdict and the median wall time of whole processes that write evidence."""
    with TemporaryDirectory() as folder:
        case = Path(folder) / "case.toml"
        case.write_text(row.case(), encoding="utf-8")
        command = [sys.executable, "-m", "paramverify", "verify", str(case), "--timeout", "600"]
        seconds = []
        for _ in range(runs):
            start = time.perf_counter()
            done = subprocess.run(
                [*command, "--evidence", str(Path(folder) / "evidence.json")],
                capture_output=True,
                text=True,
                check=False,
            )
            seconds.append(time.perf_counter() - start)
        return done.stdout.split(":")[0], statistics.median(seconds)


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    print("| program | N | goal s | measured s | verdict |\n| --- | --- | --- | --- | --- |")
    for row in rows():
        if given.only in row.name:
            verdict, seconds = measured(row, given.runs)
            print(f"| {row.name} | {row.length} | {row.goal} | {seconds:.2f} | {verdict} |", flush=True)


if __name__ == "__main__":
    main()
