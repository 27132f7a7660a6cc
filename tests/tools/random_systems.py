"""Random interactive systems with a parameter, and how many of them stay unknown.

    python tests/tools/random_systems.py [--count 80] [--seconds 3]

Prints one line for each system that stays unknown, and the number of each verdict.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction

from interactive_tools import case_of, random_system

from paramverify.algebra.domains import Domain, parse_interval
from paramverify.algebra.polynomials import RationalFunction, Ring
from paramverify.interactive.system_cases import InteractiveCase
from paramverify.interactive.system_verification import verify
from paramverify.models.context import Checks
from paramverify.models.systems.transition_systems import Distribution, System, Weights, check
from paramverify.portfolio.session import Options

DOMAINS = ("(0, 1)", "[1/10, 9/10]", "(0, 1/2]", "[1/3, 2/3]", "[1/4, 99/100]")
RATIOS = tuple(map(Fraction, ("3/2", "2", "3", "5", "9", "20")))


def parametric_case(seed: int) -> InteractiveCase:
    """Returns a small system in which steps to two states have probabilities in p, and a bound."""
    rng = random.Random(seed)
    ring = Ring(("p",))
    domain = Domain(ring, {"p": parse_interval(rng.choice(DOMAINS))})
    checks = Checks(domain)
    p, one = RationalFunction.of(ring.variable("p")), RationalFunction.of(ring.number(1))
    two = one + one
    choices = (p, one - p, p / two, one - p / two, one / two, one / (one + p))
    plain = random_system(seed)
    weights = Weights(ring, False)

    def step(distribution: Distribution) -> Distribution:
        if len(distribution) != 2:
            return tuple((s, weights.of(w)) for s, w in distribution)
        (left, _), (right, _) = distribution
        share = rng.choice(choices)
        return (left, share), (right, one - share)

    rows = tuple({a: step(d) for a, d in row.items()} for row in plain.rows)
    system: System = replace(plain, rows=rows, weights=weights)
    check(system, checks)
    return case_of(system, rng.choice(RATIOS), checks)


def main() -> None:
    """Counts the verdicts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=80)
    parser.add_argument("--seconds", type=float, default=3.0)
    given = parser.parse_args()
    counts: Counter[str] = Counter()
    for seed in range(given.count):
        report = verify(parametric_case(seed), Options(seconds=given.seconds))
        counts[report.status.value] += 1
        if report.reason:
            print(f"{seed}: {report.reason}", flush=True)
    print(dict(counts))


if __name__ == "__main__":
    main()
