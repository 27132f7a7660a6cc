"""Interactive systems: the slots example, proved and refuted, with sizes and times.

    python benchmarks/interactive.py [--large]

Times are processor seconds of this process. Prints Markdown for docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import time
from fractions import Fraction
from itertools import pairwise

from flint import fmpq

from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import RationalFunction, Ring
from paramverify.interactive.closures import Closures
from paramverify.interactive.probability_bounds import WeightJudge
from paramverify.interactive.refutation import search
from paramverify.interactive.step_costs import cheapest
from paramverify.interactive.unwinding_families import largest_family, pair_graph
from paramverify.models.context import Checks
from paramverify.models.noise.truncated_geometric import truncated_geometric
from paramverify.models.systems import slot_systems
from paramverify.models.systems.transition_systems import check

SMALL = [(t, k, "drop", t * k) for t in (1, 2, 3) for k in (1, 2)]
SMALL += [(t, k, "never", t * k) for t in (1, 2, 3) for k in (1, 2)]
LARGE = [(4, 2, "drop", 8), (3, 3, "drop", 9), (4, 3, "drop", 12), (5, 2, "drop", 30)]


def measure(count: int, points: int, full: str, limit: int) -> str:
    """Returns one row of the table."""
    checks = Checks(Domain(Ring(), {}))
    half = RationalFunction.of(checks.ring.number(Fraction(1, 2)))
    noise = tuple(map(tuple, truncated_geometric(half, 2 * limit, checks).rows))
    judge = WeightJudge(checks)
    marks = [time.process_time()]
    queries = dict.fromkeys(("count", "sum"), slot_systems.Answers(-limit, limit, noise))
    given = slot_systems.Slots(count, points, (-1, 1), queries, checks.ring, drops=full == "drop")
    system = slot_systems.build(given)
    check(system, checks)
    marks.append(time.process_time())
    closures = Closures(system)
    step = fmpq(2) if full == "never" else fmpq(4)
    graph = pair_graph(closures)
    family = largest_family(closures, step, count, judge, graph)
    marks.append(time.process_time())
    costs = cheapest(closures, judge, step**count)
    marks.append(time.process_time())
    assert family is not None
    assert costs.ratio == step**count
    told = "-"
    if full == "drop":
        found = search(closures, judge, fmpq(2) ** count).refutation
        assert found is not None
        told = f"{len(found.left)} against {len(found.right)} inputs"
    marks.append(time.process_time())
    spent = " | ".join(f"{b - a:.2f}" for a, b in pairwise(marks))
    proved = f"{'' if full == 'never' else '2'}tε"
    sizes = f"{len(system.states):,} | {len(graph.pairs):,}"
    return f"| {count} | {points} | {full} | {limit} | {sizes} | {proved} | {told} | {spent} |"


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="state spaces up to 100,000 as well")
    what = "| t | maxPts | full | range | states | pairs | proved | tε refuted by |"
    print(f"{what} build s | family s | costs s | refute s |")
    print("|" + " --- |" * 12)
    for row in SMALL + (LARGE if parser.parse_args().large else []):
        print(measure(*row), flush=True)


if __name__ == "__main__":
    main()
