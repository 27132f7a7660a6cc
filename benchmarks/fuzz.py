"""Random claims: the built-ins against Z3 and a rational grid; how many stay open, and how long it takes.

    python benchmarks/fuzz.py [--claims 2000] [--limit 5] [--first 0]

Every proof is replayed by the checker, every refutation evaluated. Any disagreement stops the run. Prints
counts.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "tools"))

from claim_tools import ask_z3, failing_grid_point, random_claim, replayed

from paramverify.answers import Refuted
from paramverify.exact.branching import decide_exactly
from paramverify.exact.procedure_outcomes import RemainingWork
from paramverify.formats.refutations import fails_at


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--claims", type=int, default=2000)
    parser.add_argument("--limit", type=float, default=5.0, help="seconds that Z3 has for a claim")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    options = parser.parse_args()
    counts: Counter[tuple[str, str]] = Counter()
    seconds, slowest = 0.0, (0.0, 0)
    for seed in range(options.first, options.first + options.claims):
        claim = random_claim(seed)
        started = time.perf_counter()
        answer = decide_exactly(claim, RemainingWork(boxes=5000))
        spent = time.perf_counter() - started
        seconds, slowest = seconds + spent, max(slowest, (spent, seed))
        if replayed(answer):
            verdict = "holds"
            assert failing_grid_point(claim) is None, seed
        elif isinstance(answer, Refuted):
            verdict = "fails"
            assert fails_at(claim, answer.point), seed
        else:
            verdict = "open"
            print(f"open: seed {seed}: {answer}"[:300])
        other = ask_z3(claim, int(1000 * options.limit))
        assert (verdict, other) not in (("holds", "sat"), ("fails", "unsat")), seed
        counts[verdict, {"sat": "fails", "unsat": "holds"}.get(other, "open")] += 1
    print("| built-ins | Z3 | claims |\n| --- | --- | --- |")
    for (verdict, other), number in sorted(counts.items()):
        print(f"| {verdict} | {other} | {number} |")
    print(f"\nbuilt-ins: {seconds:.1f} s in all, at most {slowest[0]:.3f} s (seed {slowest[1]})")


if __name__ == "__main__":
    main()
