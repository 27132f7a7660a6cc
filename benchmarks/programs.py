"""Programs against published times: whole processes, all ordered pairs of neighbours, verdict with evidence.

    python benchmarks/programs.py [--runs 3] [--only TEXT]

The programs are those of the tables of [Bhusal25]: inputs in {−1, 0, 1}^N, neighbours differ by at most 1 in
each answer. Prints Markdown for docs/benchmarks.md: the medians of wall and processor times, the goal, the
ratio of processor times to a built-in kind in the same run, and what the tool of [Bhusal25] takes, published
and repeated on a machine like this one. The ratio depends the least on the machine and its load. It takes
about one minute.
"""

from __future__ import annotations

import argparse
import os
import resource
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


CLAMPED = """\
best = -1
arg = 0
count = 0
for i in range(len(q)):
    x = clamp(q[i] + geometric(1 / 2), 0, 2)
    if x > best:
        best = x
        arg = i
        count = 1
    elif x == best:
        count += 1
        if flip(1 / count):
            arg = i
return arg + 1
"""

BUILT_IN = """\
[mechanism]
kind = "noisy_max"
queries = 5
noise = { truncated_geometric = "1/2", range = 2 }
ties = "uniform"

[neighbours]
differ = "each"

[privacy]
ratio = "288/73"
"""

HALF, ONE, ALPHA = 'eps = "1/2"', 'eps = "1"', 'alpha = "(0, 1)"'
EVERY = 'eps = "(0, oo)"'
EPS = 'epsilon = "eps"'
THREE_TIMES = "3 × built-in"


@dataclass(frozen=True)
class Row:
    """A program, its answers, its budget, and the goal in seconds; `pairs` instead of all neighbours."""

    name: str
    source: str
    length: int
    parameters: str = HALF
    budget: str = EPS
    goal: str = ""
    published: str = ""  # seconds, by [Bhusal25]
    repeated: str = ""  # seconds, of their tool on a machine like this one
    pairs: str = ""
    values: str = "-1..1"

    def case(self) -> str:
        """Returns the case file."""
        neighbours = f"pairs = {self.pairs}" if self.pairs else 'differ = "each"'
        return (
            f'[parameters]\n{self.parameters}\n\n[mechanism]\nkind = "program"\n'
            f'source = """\n{self.source}"""\n\n'
            f'[mechanism.inputs]\nq = {{ length = {self.length}, values = "{self.values}" }}\n\n'
            f"[neighbours]\n{neighbours}\n\n[privacy]\n{self.budget}\n"
        )


def rows() -> Iterator[Row]:
    """Yields the rows of the table."""
    laplace = SPARSE.format(threshold="laplace(2 / eps)", query="laplace(4 / eps)")
    yield Row("SVT, Laplace, eps = 1/2", laplace, 2, goal="0.5", published="32", repeated="7.3")
    yield Row("SVT, Laplace, eps = 1/2", laplace, 3, goal="1", published="279", repeated="34")
    yield Row("SVT, Laplace, eps = 1/2", laplace, 4, goal="2", published="1638", repeated="173")
    yield Row("SVT, Laplace, eps = 1/2", laplace, 5, goal="8", published="> 600")
    yield Row("SVT, Laplace, eps = 1/2", laplace, 6)
    geometric = SPARSE.format(threshold="geometric(alpha**2)", query="geometric(alpha)")
    for length, goal in ((4, "2"), (6, "30")):
        yield Row("SVT, geometric, all alpha", geometric, length, ALPHA, 'ratio = "1/alpha**4"', goal)
    yield Row("noisy max, Laplace, eps = 1/2", NOISY_MAX, 3, goal="1", published="152", repeated="31")
    yield Row("noisy max, Laplace, eps = 1/2", NOISY_MAX, 4, goal="3", published="> 600")
    yield Row("noisy max, Laplace, eps = 1/2", NOISY_MAX, 6, goal="60")
    yield Row("k-min-max, Laplace, eps = 1/2", MIN_MAX, 4, goal="10", repeated="200 for N = 3")
    yield Row("m-range, Laplace, eps = 1/2", RANGE, 2, goal="10", repeated="19 for m = 1")
    leaky = SPARSE.format(threshold="laplace(4 / eps)", query="laplace(4 / (3 * eps))")
    yield Row("leaky 4, eps = 1", leaky, 2, ONE, goal="1", published="167", repeated="93")
    leaky = SPARSE.format(threshold="laplace(2 / eps)", query="0")
    yield Row("leaky 5, eps = 1/2", leaky, 2, goal="1", published="1", repeated="1.4")
    yield Row("leaky 6, eps = 1", NEVER_STOPS, 3, ONE, goal="1", published="1075", repeated="67")
    for length, known, own in ((2, "32", "7.3"), (3, "279", "34"), (4, "1638", "173"), (5, "> 600", "")):
        yield Row("SVT, Laplace, every eps", laplace, length, EVERY, published=known, repeated=own)
    for length, known, own in ((3, "152", "31"), (4, "> 600", ""), (5, "", "")):
        yield Row("noisy max, Laplace, every eps", NOISY_MAX, length, EVERY, published=known, repeated=own)
    yield Row("leaky 6, every eps", NEVER_STOPS, 3, EVERY, published="1075", repeated="67")
    yield Row("noisy max, clamped, program", CLAMPED, 5, "", 'ratio = "288/73"', THREE_TIMES, values="0..2")
    goals = {11: "2", 25: "10"}
    published = {5: "48", 11: "500"}
    for length in (5, 10, 11, 20, 25, 30, 40, 50):
        pair = f"[[{[0] * length}, {[1] * length}]]"
        goal, known = goals.get(length, ""), published.get(length, "")
        yield Row("SVT, Laplace, one pair", laplace, length, goal=goal, published=known, pairs=pair)


def measured(case_text: str, runs: int) -> tuple[str, float, float]:
    """Returns the verdict, and the median wall and processor times of whole processes that write evidence."""
    with TemporaryDirectory() as folder:
        case = Path(folder) / "case.toml"
        case.write_text(case_text, encoding="utf-8")
        command = [sys.executable, "-m", "paramverify", "verify", str(case), "--timeout", "600"]
        walls, processors = [], []
        for _ in range(runs):
            start, before = time.perf_counter(), _processor()
            done = subprocess.run(
                [*command, "--evidence", str(Path(folder) / "evidence.json")],
                capture_output=True,
                text=True,
                check=False,
            )
            walls.append(time.perf_counter() - start)
            processors.append(_processor() - before)
        verdict = done.stdout.split(":")[0] or f"code {done.returncode}"
        return verdict, statistics.median(walls), statistics.median(processors)


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    print(f"Load of the machine at the start: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.\n")
    print("| program | N | verdict | goal s | wall s | processor s | ratio | [Bhusal25] s | repeated s |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    verdict, wall, built_in = measured(BUILT_IN, given.runs)
    show("noisy max, clamped, built-in kind", "5", verdict, "", f"{wall:.2f}", f"{built_in:.2f}", "1", "", "")
    for row in rows():
        if given.only in row.name:
            verdict, wall, processor = measured(row.case(), given.runs)
            times = (f"{wall:.2f}", f"{processor:.2f}", f"{processor / built_in:.1f}")
            show(row.name, str(row.length), verdict, row.goal, *times, row.published, row.repeated)


def show(*cells: str) -> None:
    """Prints a row of the table."""
    print("|" + "".join(f" {cell} |" if cell else " |" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
