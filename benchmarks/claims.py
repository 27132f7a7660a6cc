"""Claims of growing degree, number of parameters and nearness to zero: built-ins against Z3 and cvc5 alone.

    python benchmarks/claims.py [--limit 10]

The claims are f = Σ_i (x_i^k − c_i)² · (1 + ∏ x_j) + δ ≥ 0 on the open unit box, expanded, with
c_i = i/(n+1): degree 2k + 1 in each parameter, minimum δ at an irrational point. They hold for δ ≥ 0 and
fail for δ < 0. Prints a Markdown table for docs/benchmarks.md; `-` means not decided within the limit.
"""

from __future__ import annotations

import argparse
from fractions import Fraction

from paramverify.algebra.domains import Interval, box_domain
from paramverify.algebra.polynomials import Ring
from paramverify.answers import Decision, Open, Proved
from paramverify.claims import Claim
from paramverify.processes.attempts import Attempt, AttemptLimits
from paramverify.processes.runner import Runner

BACKENDS = ("bernstein", "z3", "cvc5", "cvc5-cov")
PROBLEMS = [
    *((1, d, Fraction(1, 1000)) for d in (3, 7, 15, 31, 47)),
    *((2, d, Fraction(1, 1000)) for d in (3, 7, 15, 31, 47)),
    *((n, 3, Fraction(1, 1000)) for n in (3, 4, 5, 6)),
    *((2, 5, Fraction(1, 10**k)) for k in (1, 3, 6, 9)),
    (2, 5, Fraction(0)),
    *((2, 5, -Fraction(1, 10**k)) for k in (9, 6, 3, 1)),
]


def problem(parameters: int, degree: int, margin: Fraction) -> Claim:
    """Returns the claim with that many parameters, degree in each, and minimum."""
    names = tuple(f"x{i}" for i in range(1, parameters + 1))
    ring = Ring(names)
    one = ring.number(1)
    product, total = one, ring.number(0)
    for i, name in enumerate(names, 1):
        x = ring.variable(name)
        product *= x
        total += (x ** ((degree - 1) // 2) - ring.number(Fraction(i, parameters + 1))) ** 2
    unit = Interval(Fraction(0), Fraction(1))
    return Claim(total * (one + product) + ring.number(margin), box_domain(ring, dict.fromkeys(names, unit)))


def cell(decision: Decision, holds: bool) -> str:
    """Returns the seconds, or - where the claim stayed open; a wrong answer stops the benchmark."""
    if isinstance(decision.answer, Open):
        return f"- ({decision.answer.end.value})"
    assert isinstance(decision.answer, Proved) == holds, decision
    return f"{decision.seconds:.3f}"


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=float, default=10.0)
    limit = AttemptLimits(parser.parse_args().limit)
    print(f"| parameters | degree in each | minimum | terms | {' | '.join(BACKENDS)} |")
    print("| --- " * (len(BACKENDS) + 4) + "|")
    with Runner() as runner:
        for parameters, degree, margin in PROBLEMS:
            claim = problem(parameters, degree, margin)
            found = [runner.run(Attempt(name, claim), limit) for name in BACKENDS]
            cells = " | ".join(cell(decision, margin >= 0) for decision in found)
            print(
                f"| {parameters} | {degree} | {float(margin):g} | {len(claim.polynomial)} | {cells} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
