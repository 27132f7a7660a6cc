"""Example 5 (noisy max, independent diseases): whole processes, and the six claims in one process.

    python benchmarks/example5.py [--repeat 5] [--limit 60]

Prints Markdown tables for docs/benchmarks.md. The baseline is Z3 alone on the un-factored claims with the
given limit for each, measured in the same run.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from paramverify.answers import Proved
from paramverify.encodings.sequences import sequence_claims
from paramverify.exact.branching import decide_exactly
from paramverify.privacy.cases import load
from paramverify.processes.attempts import Attempt, AttemptLimits
from paramverify.processes.runner import Runner

CASE = Path(__file__).parent.parent / "cases" / "noisy-max-independent.toml"


def times(action: Callable[[], object], repeat: int) -> list[float]:
    """Returns the seconds of each repetition, after one that does not count."""
    action()
    found = []
    for _ in range(repeat):
        started = time.perf_counter()
        action()
        found.append(time.perf_counter() - started)
    return found


def row(name: str, seconds: list[float], note: str = "") -> str:
    """Returns one row: minimum, median and maximum."""
    low, middle, high = min(seconds), statistics.median(seconds), max(seconds)
    return f"| {name} | {low:.4f} | {middle:.4f} | {high:.4f} | {note} |"


def process(*arguments: str) -> Callable[[], object]:
    """Returns an action that runs the command line as a process of its own."""
    command = [sys.executable, "-m", "paramverify", *arguments]
    return lambda: subprocess.run(command, check=True, capture_output=True)


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--limit", type=float, default=60.0)
    options = parser.parse_args()
    claims = sequence_claims(load(CASE).model)

    print("| what | min s | median s | max s | note |\n| --- | --- | --- | --- | --- |")
    print(row("`paramverify verify`, whole process", times(process("verify", str(CASE)), options.repeat)))
    print(row("`paramverify --help`, whole process", times(process("--help"), options.repeat)))

    def built_in() -> None:
        assert all(isinstance(decide_exactly(claim), Proved) for claim in claims)

    ours = times(built_in, options.repeat)
    print(row("built-in procedures, six claims in process, certificates included", ours))
    seconds, solved = 0.0, 0
    with Runner() as runner:
        for claim in claims:
            decision = runner.run(Attempt("z3", claim), AttemptLimits(options.limit))
            seconds += decision.seconds
            solved += isinstance(decision.answer, Proved)
    note = f"{solved} of {len(claims)} proved, limit {options.limit:g} s each"
    print(row("Z3 alone, six un-factored claims", [seconds], note))
    ratio = seconds / statistics.median(ours)
    print(f"\nZ3 alone took at least {ratio:,.0f} times as long as the built-in procedures.")


if __name__ == "__main__":
    main()
