"""D over a predicate neighbourhood on chains of growing size, each step timed; and action sequences.

    python benchmarks/logic.py [--sizes 1000,10000,100000]

A state has a count r and a time t < 100: r moves up or down by one in each step, and at the end the
1/2-geometric mechanism tells whether it is above the middle. All states are initial, and two of the same time
are neighbours if their counts differ by at most one. Prints Markdown for docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

from flint import fmpq

from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import Ring
from paramverify.logic.formula_families import check_property
from paramverify.logic.formula_grammar import read_predicate, read_property
from paramverify.logic.logic_cases import LogicCase, load
from paramverify.logic.property_checking import LogicSession
from paramverify.models.chains.markov_chains import ANY, Chain, Row
from paramverify.models.chains.state_relations import closed, where
from paramverify.portfolio.session import Options, Session

STEPS = 100
FORMULA = "D{ln(2), 0}[ F above ]"
PREDICATE = "abs(r - r') <= 1 & t = t'"
ROOT = Path(__file__).parent.parent


def walk(size: int) -> Chain:
    """Returns a chain of so many states, and two for the release."""
    width = size // STEPS
    half, quarter, one = fmpq(1, 2), fmpq(1, 4), fmpq(1)
    count = width * STEPS
    rows: list[tuple[Row, ...]] = []
    for t in range(STEPS):
        for r in range(width):
            if t == STEPS - 1:
                far = half ** abs(r - width // 2)
                above = one - far / 3 if r >= width // 2 else far * 2 / 3
                rows.append((((count, above), (count + 1, one - above)),))
                continue
            moves: dict[int, fmpq] = {}
            for step, weight in ((-1, quarter), (0, half), (1, quarter)):
                place = (t + 1) * width + min(max(r + step, 0), width - 1)
                moves[place] = moves.get(place, fmpq(0)) + weight
            rows.append((tuple(moves.items()),))
    rows += [(((count, one),),), (((count + 1, one),),)]
    times = (*(k // width for k in range(count)), None, None)
    counts = (*(k % width for k in range(count)), None, None)
    names = (*(f"t{k // width}r{k % width}" for k in range(count)), "above", "below")
    labels = {"above": frozenset({count})}
    domain = Domain(Ring(), {})
    return Chain(names, (ANY,), tuple(rows), tuple(range(count)), labels, {"t": times, "r": counts}, domain)


def measure(size: int) -> str:
    """Returns one row of the table."""
    chain = walk(size)
    started = time.perf_counter()
    relation = closed(where(chain, read_predicate(PREDICATE)))
    joined = time.perf_counter()
    case = LogicCase("", "", "walk", chain, relation, {"walk": read_property(FORMULA)})
    with Session(Options(seconds=600)) as session:
        result = check_property(LogicSession(case, session), case.properties["walk"])
    ended = time.perf_counter()
    times = f"{joined - started:.2f} | {ended - joined:.2f} | {ended - started:.2f}"
    return (
        f"| {len(chain.states):,} | {relation.size:,} | {result.comparisons:,} | {times} | {result.status} |"
    )


def main() -> None:
    """Measures and prints."""
    os.environ["PARAMVERIFY_HISTORY"] = "off"
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1000,10000,100000")
    sizes = [int(text) for text in parser.parse_args().sizes.split(",")]
    print(f"`{FORMULA}` with the neighbourhood `{PREDICATE}`\n")
    print("| states | pairs | comparisons | neighbourhood s | formula s | together s | verdict |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for size in sizes:
        print(measure(size), flush=True)
    print("\n| case | formula | s | verdict | how |\n| --- | --- | --- | --- | --- |")
    for name in ("above-threshold", "above-threshold-one-pair", "subsampling-majority", "survey-coin"):
        case = load(ROOT / "cases" / "logic" / f"{name}.toml")
        for title, found in case.properties.items():
            with Session(Options(seconds=60)) as session:
                started = time.perf_counter()
                result = check_property(LogicSession(case, session), found)
                taken = time.perf_counter() - started
            how = ", ".join(method.name.lower() for method in result.methods)
            print(f"| {name} | {title} | {taken:.3f} | {result.status} | {how} |")


if __name__ == "__main__":
    main()
