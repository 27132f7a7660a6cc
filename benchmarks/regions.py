"""Region maps until 1 % of the parameter box is undecided: time, cells and shares; and Storm beside them.

    python benchmarks/regions.py [--coverage 1/100] [--storm] [--limit 60]

Problems: claims of cases of this project at other privacy budgets, the probability that a random parametric
Markov chain reaches its target, at most its value at an inner point, and polynomials of degree near (48, 48).
Seconds are those of the processor. The last two columns are of maps whose cells are all cut in the middle.

With `--storm`, parametric Markov chains in PRISM's language instead: Storm builds the model, decides regions
by parameter lifting, and computes the rational function that is given to us as a claim. Prints Markdown
tables for docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from unittest.mock import patch

from random_chains import RING, UNIT, Problem, chain_problems

from paramverify.algebra.polynomials import Polynomial
from paramverify.claims import Claim
from paramverify.encodings.sequences import sequence_claims
from paramverify.privacy.cases import load
from paramverify.synthesis import pieces
from paramverify.synthesis.maps import RegionMap, Status
from paramverify.synthesis.regions import region_map

ROOT = Path(__file__).parent.parent
CASES = [
    ("noisy-max-independent", 'epsilon = "ln(3/2)"', "pA pB"),
    ("noisy-max-independent", 'epsilon = "ln(7/4)"', "pA pB"),
    ("noisy-max-independent", 'epsilon = "1/2"', "pA pB"),
    ("noisy-max-own-record", 'epsilon = "ln(11/6)"', "pA pB"),
    ("above-threshold-prior-2", 'epsilon = "2*ln(2)"', "p t"),
    ("above-threshold-prior", "ratio = 4", "p q"),
    ("randomized-response-condition", "ratio = 3", "p t"),
    ("survey-fresh", "ratio = 40", "p t"),
]


def case_problems() -> Iterator[Problem]:
    """Yields the cases at other budgets."""
    with TemporaryDirectory() as folder:
        for name, budget, free in CASES:
            text = (ROOT / "cases" / f"{name}.toml").read_text().split("[expect]")[0].split("[quantify]")[0]
            if "[privacy]" not in text:
                text += "[privacy]\n"
            lines = [
                line for line in text.splitlines() if line.split("=")[0].strip() not in ("epsilon", "ratio")
            ]
            lines.insert(lines.index("[privacy]") + 1, budget)
            path = Path(folder) / "case.toml"
            path.write_text("\n".join(lines))
            model = load(path).model
            yield Problem(f"{name}, {budget}", sequence_claims(model), model.domain, tuple(free.split()))


def high_problems() -> Iterator[Problem]:
    """Yields polynomials of degree near (48, 48)."""
    one, p, q = RING.number(1), RING.variable("p"), RING.variable("q")

    def walk(width: int, steps: int, random: Random | None) -> Polynomial:
        """The probability that a walk is absorbed at the upper end within so many steps."""
        values = [RING.number(0)] * (width - 1) + [one]
        for step in range(steps):
            x = (p, q)[step % 2]
            ends = [(k + 1, k - 1) for k in range(width)]
            if random:
                ends = [(random.randrange(width), random.randrange(width)) for _ in range(width)]
            inner = [x * values[up] + (one - x) * values[down] for up, down in ends[1:-1]]
            values = [values[0], *inner, values[-1]]
        return values[width // 2]

    def problem(name: str, f: Polynomial) -> Problem:
        return Problem(name, [Claim(f, UNIT)], UNIT, ("p", "q"))

    third = RING.number(Fraction(1, 3))
    yield problem("bounded retransmission, 16 packets, 3 tries", (one - (one - p * q) ** 3) ** 16 - third)
    yield problem("gambler, 11 states, 96 steps", walk(11, 96, None) - third)
    yield problem("random walk, 12 states, 96 steps", walk(12, 96, Random(1)) - third)
    yield problem("wavy, dense", _wavy(Random(2), 48))


def _wavy(random: Random, degree: int) -> Polynomial:
    """A dense polynomial of random small coefficients in x − 1/2 and y − 1/2, which crosses zero."""
    terms = {(i, j): Fraction(random.randint(-99, 99)) for i in range(degree + 1) for j in range(degree + 1)}
    dense = RING.from_terms(terms)
    half = RING.number(Fraction(1, 2))
    return dense.compose(RING.variable("p") * 2 - half * 2, RING.variable("q") * 2 - half * 2)


def measured(problem: Problem, coverage: Fraction) -> str:
    """Returns a row of the table."""
    found, seconds = timed(problem, coverage)
    with patch.object(pieces, "WORTH", 2):  # no part of a cell is worth a cut beside the middle
        halved, halving = timed(problem, coverage)
    degrees = [
        max(int(c.polynomial.degrees()[k]) for c in problem.claims)
        for k, n in enumerate(problem.domain.ring.names)
        if n in problem.free
    ]
    shares = " | ".join(
        f"{float(found.share(s)):.3f}" for s in (Status.SAFE, Status.VIOLATING, Status.UNDECIDED)
    )
    quantified = f", for all {', '.join(found.quantified)}" if found.quantified else ""
    return (
        f"| {problem.name}{quantified} | {tuple(degrees)} | {len(problem.claims)} | {shares} "
        f"| {len(found.cells)} | {seconds:.2f} | {len(halved.cells)} | {halving:.2f} |"
    )


def timed(problem: Problem, coverage: Fraction) -> tuple[RegionMap, float]:
    """Returns a map and the seconds of the processor that it took."""
    started = time.process_time()
    found = region_map(problem.claims, problem.domain, problem.free, coverage)
    seconds = time.process_time() - started
    assert found.share(Status.UNDECIDED) <= coverage
    return found, seconds


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--coverage", type=Fraction, default=Fraction(1, 100))
    parser.add_argument("--storm", action="store_true")
    parser.add_argument("--limit", type=float, default=60.0)
    chosen = parser.parse_args()
    if chosen.storm:
        from storm_regions import compare

        compare(chain_problems(6), chosen.coverage, chosen.limit)
        return
    columns = (
        "problem | degree | claims | safe | violating | undecided | cells | s | cells, halved | s, halved"
    )
    print(f"| {columns} |\n" + "| --- " * 10 + "|")
    for problem in [*case_problems(), *(found for found, _, _ in chain_problems(12)), *high_problems()]:
        print(measured(problem, chosen.coverage), flush=True)


if __name__ == "__main__":
    main()
