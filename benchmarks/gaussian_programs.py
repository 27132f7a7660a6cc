"""Programs with Gaussian noise against published times: whole processes of `paramverify verify`.

    python benchmarks/gaussian_programs.py [--runs 3] [--only TEXT]

The programs are those of Table 7 of [Bhusal25], with the noise of its repository: `gauss(eps/2, 0)` there has
the standard deviation 2/eps. Inputs are in {−1, 0, 1}^N. Prints Markdown for docs/benchmarks.md. It takes two
minutes.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

SPARSE = """\
T = {threshold}(2 / eps)
for x in q:
    if x + {query}(4 / eps) < T:
        output(1)
        stop
    output(0)
"""
NOISY_MAX = """\
best = q[0] + gauss(2 / eps)
who = 0
for i in range(1, len(q)):
    v = q[i] + gauss(2 / eps)
    if v > best:
        best = v
        who = i
output(who)
"""
RANGE = """\
low = gauss(4 / eps)
high = 1 + gauss(4 / eps)
for x in q:
    v = x + gauss(2 / eps)
    if v > low and v < high:
        output(1)
    else:
        output(0)
        stop
"""
MIN_MAX = """\
hi = q[0] + gauss(2 / eps)
lo = hi
for i in range(1, len(q)):
    v = q[i] + gauss(2 / eps)
    if i >= 2:
        if v > lo and v < hi:
            output(1)
            stop
        output(0)
    if v > hi:
        hi = v
    elif v < lo:
        lo = v
"""


@dataclass(frozen=True)
class Row:
    """A program with its length, whether one pair or all are compared, and the published seconds."""

    name: str
    source: str
    length: int
    every: bool
    published: str
    epsilon: str = "1/2"

    def case(self) -> str:
        """Returns the case file."""
        zeros = [0] * self.length
        pairs = 'differ = "each"' if self.every else f"pairs = [[{zeros}, {[*zeros[:-1], 1]}]]"
        return (
            f'[parameters]\neps = "1/2"\n[mechanism]\nkind = "program"\nsource = """\n{self.source}"""\n'
            f'[mechanism.inputs]\nq = {{ length = {self.length}, values = "-1..1" }}\n'
            f"[neighbours]\n{pairs}\n"
            f'[privacy]\nepsilon = "{self.epsilon}"\ndelta = "1/100"\n'
        )


def sparse(name: str, noise: tuple[str, str], length: int, every: bool, published: str) -> Row:
    """Returns a row of sparse vector."""
    source = SPARSE.format(threshold=noise[0], query=noise[1])
    return Row(name, source, length, every, published, "1.24")


ROWS = [
    sparse("SVT-Gauss", ("gauss", "gauss"), 5, False, "7.9"),
    sparse("SVT-Gauss", ("gauss", "gauss"), 25, False, "441"),
    sparse("SVT-Gauss", ("gauss", "gauss"), 5, True, ""),
    sparse("SVT-Mix, Laplace threshold", ("laplace", "gauss"), 5, False, "20 to 72"),
    sparse("SVT-Mix, Laplace threshold", ("laplace", "gauss"), 17, False, "344 to 525"),
    sparse("SVT-Mix, Laplace queries", ("gauss", "laplace"), 5, False, "20 to 72"),
    sparse("SVT-Mix, Laplace queries", ("gauss", "laplace"), 10, False, "344 to 525"),
    Row("noisy max", NOISY_MAX, 4, False, "38"),
    Row("noisy max", NOISY_MAX, 4, True, "303"),
    Row("m-range", RANGE, 2, False, "171"),
    Row("m-range", RANGE, 2, True, ""),
    Row("m-range", RANGE, 3, False, "> 600"),
    Row("m-range", RANGE, 3, True, ""),
    Row("k-min-max", MIN_MAX, 4, False, "41"),
    Row("k-min-max", MIN_MAX, 4, True, ""),
]


def measured(path: Path, runs: int) -> tuple[str, float, float]:
    """Returns the verdict, and the medians of wall and processor seconds."""
    walls, processors, word = [], [], ""
    for _ in range(runs):
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        command = [sys.executable, "-m", "paramverify", "verify", str(path), "--timeout", "600"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        walls.append(time.perf_counter() - started)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        processors.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        word = done.stdout.split(":")[0]
    return word, statistics.median(walls), statistics.median(processors)


def main() -> None:
    """Measures all rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    print("| program | N | pairs | verdict | wall s | processor s | [Bhusal25] s |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with TemporaryDirectory() as folder:
        for row in ROWS:
            if given.only not in row.name:
                continue
            path = Path(folder) / "case.toml"
            path.write_text(row.case())
            word, wall, processor = measured(path, given.runs)
            pairs = "all" if row.every else "one"
            times = f"{wall:.2f} | {processor:.2f} | {row.published}"
            print(f"| {row.name} | {row.length} | {pairs} | {word} | {times} |", flush=True)


if __name__ == "__main__":
    main()
