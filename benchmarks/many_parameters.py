"""Region maps in three to six parameters: processor seconds until few is undecided, memory, and Storm beside.

    python benchmarks/many_parameters.py [--coverage 1/20] [--limit 60] [--plain] [--storm]

Each case runs in a process of its own. `--plain` also makes each map without folding symmetric parameters.
With `--storm` the probability of a parametric Markov chain to reach its target is asked of Storm's parameter
lifting as well, on the same box, in the same run. Prints Markdown tables for docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from paramverify.privacy.cases import load
from paramverify.synthesis.maps import Status, symmetric
from paramverify.synthesis.questions import axes_of, region_claims
from paramverify.synthesis.regions import region_map

LETTERS = "ABCDEF"
SERIES = """
[parameters]
p = "[1/10, 9/10]"
q = "[1/10, 9/10]"
r = "[1/10, 9/10]"
s = "[1/10, 9/10]"
[mechanism]
kind = "time_series"
states = ["off", "on"]
truth = "s"
initial = { off = "1 - r", on = "r" }
[mechanism.transitions]
off = { off = "1 - p", on = "p" }
on = { off = "q", on = "1 - q" }
[neighbours]
differ = "one"
[privacy]
ratio = "4"
length = "1..3"
"""
NETWORK = """
[parameters]
p = "(0, 1)"
q = "(0, 1)"
r = "(0, 1)"
s = "(0, 1)"
[define]
ill = "a + b + c + d"
[prior]
a = { bernoulli = "p" }
b = { given = "a", table = { 0 = { 0 = "1 - q", 1 = "q" }, 1 = { 0 = "1 - r", 1 = "r" } } }
c = { given = "b", table = { 0 = { 0 = "1 - q", 1 = "q" }, 1 = { 0 = "1 - s", 1 = "s" } } }
d = { like = "c", given = "c" }
[secrets]
first_ill = "a == 1"
first_well = "a == 0"
pairs = [["first_ill", "first_well"]]
[mechanism]
kind = "geometric"
query = "ill"
noise = { truncated_geometric = "1/2", range = 4 }
[privacy]
ratio = "3"
"""


def noisy_max(count: int) -> str:
    """Returns a case of noisy max over so many diseases, each contracted independently."""
    names = LETTERS[:count]
    lines = ["[parameters]", *(f'p{n} = "(0, 1)"' for n in names), "[prior]"]
    lines += [f'{n} = {{ binomial = [2, "p{n}"] }}' for n in names]
    queries = ", ".join(f'"{n}"' for n in names)
    lines += ["[mechanism]", 'kind = "noisy_max"', f"queries = [{queries}]", 'ties = "uniform"']
    lines += ['noise = { truncated_geometric = "1/2", range = 2 }', "[secrets]", 'some = "A >= 1"']
    lines += ['few = "A <= 1"', 'pairs = [["some", "few"]]', "[privacy]", 'epsilon = "ln(3/2)"']
    return "\n".join(lines)


def count_of(people: int) -> str:
    """Returns a case of a noisy count of people who are ill at rates of their own."""
    names = [f"x{k}" for k in range(people)]
    lines = ["[parameters]", *(f'p{k} = "(0, 1)"' for k in range(people)), "[prior]"]
    lines += [f'{n} = {{ bernoulli = "p{k}" }}' for k, n in enumerate(names)]
    total = " + ".join(names)
    lines += ["[secrets]", f'some = "{total} >= 1"', f'few = "{total} <= 1"', 'pairs = [["some", "few"]]']
    lines += ["[mechanism]", 'kind = "geometric"', f'query = "{total}"']
    lines += [f'noise = {{ truncated_geometric = "1/2", range = {people} }}', "[privacy]", 'ratio = "2"']
    return "\n".join(lines)


def cases() -> Iterator[tuple[str, str]]:
    """Yields names and texts of cases."""
    for count in (3, 4, 5, 6):
        yield f"noisy max, {count} diseases", noisy_max(count)
    yield "time series, p q r s", SERIES
    yield "network of four people, p q r s", NETWORK
    for people in (4, 5, 6):
        yield f"count of {people} people", count_of(people)


def measured(name: str, text: str, coverage: Fraction, limit: float, fold: bool) -> str:
    """Returns a row of the table."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "case.toml"
        path.write_text(text)
        case = load(path)
    claims = region_claims(case.model)
    axes, domain = axes_of(case, claims), case.model.domain
    started = time.process_time()
    folds = symmetric(claims, domain, axes) if fold else ()
    found = region_map(claims, domain, axes, coverage, seconds=limit, folds=folds)
    seconds = time.process_time() - started
    degrees = [max(int(c.polynomial.degrees()[domain.ring.names.index(n)]) for c in claims) for n in axes]
    shares = " | ".join(
        f"{float(found.share(s)):.3f}" for s in (Status.SAFE, Status.VIOLATING, Status.UNDECIDED)
    )
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    cells = sum(cell.status in (Status.SAFE, Status.VIOLATING) for cell in found.cells)
    told = "; ".join(", ".join(names) for names in folds) or ("none" if fold else "not folded")
    problem = f"| {name} | {tuple(degrees)} | {len(claims)} | {told} "
    return f"{problem}| {shares} | {cells} | {seconds:.2f} | {used} |"


def alone(work: Callable[..., Any], *arguments: Any) -> Any:
    """Calls a function in a process of its own."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments)


def main(chosen: Sequence[str] | None = None) -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--coverage", type=Fraction, default=Fraction(1, 20))
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--storm", action="store_true")
    given = parser.parse_args(chosen)
    if given.storm:
        from storm_many_parameters import compare

        compare(given.coverage, given.limit)
        return
    print(
        "| case | degree | claims | symmetric | private | not private | undecided | decided cells | s | MB |"
    )
    print("| --- " * 10 + "|")
    for name, text in cases():
        for fold in (True, False) if given.plain else (True,):
            print(alone(measured, name, text, given.coverage, given.limit, fold), flush=True)


if __name__ == "__main__":
    main()
