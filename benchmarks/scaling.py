"""How commands grow, what a cluster costs, and how far more workers help.

    python benchmarks/scaling.py [--part growth|overhead|simulation|all] [--workers 1,2]

Growth: the processor seconds of a family of problems of growing size, and the exponent of the power of the
size that fits them best: least squares of the logarithms. Overhead: tasks of known length on a cluster of
this machine, against the same tasks without it, in processor seconds of all processes and by the clock.
Simulation: 10^5 attempts of `compare` and a map of 10^7 cells on 1 to 1,000 workers, from times that are
measured first. Prints Markdown for docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import heapq
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import log
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from paramverify.algebra.domains import Domain, parse_interval
from paramverify.algebra.polynomials import Ring
from paramverify.claims import Claim
from paramverify.comparison.comparison_results import ResultsFile
from paramverify.comparison.comparison_runs import CompareOptions, plan, run
from paramverify.comparison.comparison_subjects import read_subjects
from paramverify.exact.branching import decide_exactly
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.cases import load
from paramverify.privacy.verification import verify
from paramverify.synthesis.case_budget import case_budget
from paramverify.synthesis.map_files import cell_document, read_cell
from paramverify.synthesis.maps import Status
from paramverify.synthesis.regions import region_map
from paramverify.tasks.cluster import Cluster, TaskPlace
from paramverify.tasks.task_distribution import BATCH, batch_size
from paramverify.tasks.tasks import HERE, busy_task

ROOT = Path(__file__).parent.parent
CASES = ROOT / "cases"
LEAST = 0.02  # processor seconds; below, a size says nothing about growth
MEMORY = 4 << 30


# --- growth -------------------------------------------------------------------------------------------------

Family = tuple[str, str, Sequence[int], Callable[[int], Callable[[], object]]]


def _case(text: str) -> Callable[[], object]:
    def work() -> object:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "case.toml"
            path.write_text(text)
            return verify(load(str(path)), Options(seconds=600))

    return work


def people(size: int) -> Callable[[], object]:
    """A noisy count of independent people."""
    text = (CASES / "geometric-independent.toml").read_text().split("[expect]")[0]
    return _case(text.replace("[2,", f"[{size},").replace("range = 2", f"range = {size}"))


def answers(size: int) -> Callable[[], object]:
    """The noisy maximum of that many answers."""
    text = (CASES / "noisy-max-naive-3-ln2.toml").read_text().split("[expect]")[0]
    return _case(text.replace("queries = 3", f"queries = {size}").replace("ln(2)", "2*ln(2)"))


def length(size: int) -> Callable[[], object]:
    """A survey with memory that is repeated that often."""
    text = (CASES / "survey-memory.toml").read_text().split("[expect]")[0]
    return _case(text.replace("1..5", f"1..{size}"))


def states(size: int) -> Callable[[], object]:
    """A hidden Markov model that goes around that many states."""
    names = [f"s{k}" for k in range(size)]
    rows = "\n".join(f'{n} = {{ {n} = "p", {names[(k + 1) % size]} = "1 - p" }}' for k, n in enumerate(names))
    seen = "\n".join(
        f'{n} = {{ yes = "{Fraction(1, 4) if k % 2 else Fraction(3, 4)}", '
        f'no = "{Fraction(3, 4) if k % 2 else Fraction(1, 4)}" }}'
        for k, n in enumerate(names)
    )
    return _case(
        f"""[parameters]
p = "(0, 1)"
[mechanism]
kind = "hmm"
states = {names}
observations = ["yes", "no"]
[mechanism.transitions]
{rows}
[mechanism.emissions]
{seen}
[prior.first]
s0 = "1"
[prior.second]
s1 = "1"
[secrets]
pairs = [["first", "second"]]
[privacy]
ratio = "9"
length = 2
""".replace("'", '"')
    )


def _claim(parameters: int, degree: int) -> Claim:
    """Returns a random claim whose least value on the unit box is known to be 1/1000."""
    random, names = Random(f"{parameters} {degree}"), [f"x{k}" for k in range(parameters)]
    ring = Ring(tuple(names))
    middle = [Fraction(random.randrange(20, 80), 100) for _ in names]
    squares = " + ".join(
        f"({n} - {m})^2*({Fraction(1, 2)} + {n}^{max(0, degree - 2)})"
        for n, m in zip(names, middle, strict=True)
    )
    domain = Domain(ring, {n: parse_interval("[0, 1]") for n in names})
    return Claim(ring.parse(f"{squares} + 1/1000"), domain)


def parameters(size: int) -> Callable[[], object]:
    """One claim of degree 4 in that many parameters."""
    claim = _claim(size, 4)
    return lambda: decide_exactly(claim)


def degree(size: int) -> Callable[[], object]:
    """One claim of that degree in two parameters."""
    claim = _claim(2, size)
    return lambda: decide_exactly(claim)


def tight(size: int) -> Callable[[], object]:
    """The tight budget of the noisy maximum of that many answers."""
    text = (CASES / "noisy-max-naive-3-ln2.toml").read_text().split("[expect]")[0]

    def work() -> object:
        with TemporaryDirectory() as folder, Session(Options(seconds=600)) as session:
            path = Path(folder) / "case.toml"
            path.write_text(text.replace("queries = 3", f"queries = {size}"))
            return case_budget(load(str(path)).model, session, Fraction(1, 10**9))  # type: ignore[arg-type]

    return work


def fineness(size: int) -> Callable[[], object]:
    """A map of two parameters that leaves 1/size of the square undecided."""
    claim = _ring_claim()
    return lambda: region_map([claim], claim.domain, ["x", "y"], Fraction(1, size))


def _ring_claim() -> Claim:
    ring = Ring(("x", "y"))
    domain = Domain(ring, {n: parse_interval("[0, 1]") for n in ("x", "y")})
    return Claim(ring.parse("x^2 + y^2 - 3/4*x*y - 1/3"), domain)


FAMILIES: Sequence[Family] = (
    ("verify", "people in a count", (20, 40, 80, 160), people),
    ("verify", "answers of a noisy maximum", (3, 4, 5, 6), answers),
    ("verify", "length of sequences", (50, 100, 200, 400), length),
    ("verify", "states of a hidden Markov model", (64, 128, 256, 512), states),
    ("verify, one claim", "parameters", (2, 3, 4, 5), parameters),
    ("verify, one claim", "degree", (32, 64, 128, 256), degree),
    ("budget", "answers of a noisy maximum", (2, 3, 4, 5), tight),
    ("synthesize", "1 / share undecided", (64, 256, 1024, 4096), fineness),
)


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Returns b for which c·size^b fits the seconds best: least squares of the logarithms."""
    x, y = [log(s) for s in sizes], [log(t) for t in seconds]
    mean = sum(x) / len(x)
    return sum((a - mean) * b for a, b in zip(x, y, strict=True)) / sum((a - mean) ** 2 for a in x)


def growth() -> None:
    """Prints the table of all families."""
    print("| command | grows | sizes | processor seconds | exponent |")
    print("| --- | --- | --- | --- | --- |")
    for command, what, sizes, make in FAMILIES:
        times = []
        for size in sizes:
            work = make(size)
            times.append(min(_processor(work) for _ in range(2)))
        known = [(s, t) for s, t in zip(sizes, times, strict=True) if t >= LEAST]
        fitted = f"{exponent(*zip(*known, strict=True)):.1f}" if len(known) > 1 else "-"  # type: ignore[arg-type]
        told = ", ".join(f"{t:.3f}" for t in times)
        print(f"| {command} | {what} | {', '.join(map(str, sizes))} | {told} | {fitted} |", flush=True)


def _processor(work: Callable[[], object]) -> float:
    before = time.process_time()
    work()
    return time.process_time() - before


# --- what a cluster costs -----------------------------------------------------------------------------------


def _used() -> float:
    """Returns the processor seconds of this process and of those of its children that have ended."""
    found = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in found)


def _below(process: int) -> float:
    """Returns the processor seconds of all processes below this one, until now."""
    total = 0.0
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        for child in task.read_text().split():
            fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
            total += (int(fields[11]) + int(fields[12])) / 100 + _below(int(child))
    return total


def overhead(workers: Sequence[int]) -> None:
    """Prints what tasks of several lengths cost on a cluster of this machine, and without it."""
    import os

    print(
        "| workers | task ms | tasks | here, processor s | cluster, processor s | more | clock s | ideal s |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for count in workers:
        with Cluster(TaskPlace("local", count, memory=MEMORY), lambda line: None) as cluster:
            list(cluster.map([busy_task(k, 0.01) for k in range(20)]))  # all is imported then
            for seconds, number in ((0.001, 2000), (0.01, 600), (0.05, 200), (0.2, 50)):
                tasks = [busy_task(k, seconds) for k in range(number)]
                before = _used()
                assert [result.get() for result in HERE.map(tasks)] == list(range(number))
                alone = _used() - before
                before, since = _used() + _below(os.getpid()), time.monotonic()
                assert sorted(result.get() for result in cluster.map(tasks)) == list(range(number))
                clock = time.monotonic() - since
                spread = _used() + _below(os.getpid()) - before
                ideal = number * seconds / count
                print(
                    f"| {count} | {1000 * seconds:g} | {number} | {alone:.2f} | {spread:.2f} "
                    f"| {100 * (spread / alone - 1):.0f} % | {clock:.2f} | {ideal:.2f} |",
                    flush=True,
                )


# --- how far workers help ----------------------------------------------------------------------------------


def simulate(seconds: Sequence[float], workers: int, serial: float, delay: float, batched: bool) -> float:
    """Returns the seconds until all tasks are done, by events, as `tasks.task_distribution` hands them out.

    One process (client and scheduler) needs `serial` seconds for each batch, one after the other; a batch is
    under way for `delay` seconds there and back. Each worker has one batch and one ahead.
    """
    mean = sum(seconds) / len(seconds)
    position, clock, free_at = 0, 0.0, 0.0
    ready = [(0.0, worker) for worker in range(workers)]
    heapq.heapify(ready)
    while position < len(seconds):
        free, worker = heapq.heappop(ready)
        size = 1
        if batched:
            size = batch_size(mean, len(seconds) - position, workers)
        work = sum(seconds[position : position + size])
        position += size
        free_at = max(free_at, free - BATCH) + serial  # it is sent while the one before is done
        end = max(free, free_at + delay) + work
        clock = max(clock, end + delay)
        heapq.heappush(ready, (end, worker))
    return clock


def _costs() -> tuple[float, float]:
    """Returns the processor seconds of client and scheduler for a batch, and the seconds there and back."""
    with Cluster(TaskPlace("local", 1, memory=MEMORY), lambda line: None) as cluster:
        list(cluster.map([busy_task(k, 0.0) for k in range(20)]))
        before, given = (
            time.process_time(),
            cluster.given,
        )  # the scheduler of a local cluster is in this process
        list(cluster.map([busy_task(k, BATCH / 10) for k in range(100)]))
        serial = (time.process_time() - before) / (cluster.given - given)
        since = time.monotonic()
        for _ in range(20):
            list(cluster.map([busy_task(0, 0.0)]))
        delay = (time.monotonic() - since) / 20
    return serial, delay


def _attempts() -> list[float]:
    """Returns the seconds of attempts of `compare`: built-in and Z3 on shipped cases."""
    names = ("noisy-max-contagious", "geometric-independent", "geometric-neighbours", "survey-memory")
    choice = CompareOptions(("bernstein", "z3"), seconds=10.0)
    attempts, _ = plan(read_subjects([str(CASES / f"{name}.toml") for name in names], ()), choice)
    with TemporaryDirectory() as folder, ResultsFile(Path(folder) / "results.jsonl") as results:
        return [float(record["wall"]) for record in run(attempts, choice, results)]


def _cells() -> tuple[float, float, list[int]]:
    """Returns the seconds to make a cell, and to read it again; and how many cells parts have."""
    claim, counts = _ring_claim(), []
    before = time.process_time()
    found = region_map([claim], claim.domain, ["x", "y"], Fraction(1, 400))
    made = (time.process_time() - before) / len(found.cells)
    before = time.process_time()
    cells = [read_cell(cell_document(cell)) for cell in found.cells]
    replace(found, cells=tuple(cells)).share(Status.UNDECIDED)
    known = (time.process_time() - before) / len(found.cells)
    coarse = region_map([claim], claim.domain, ["x", "y"], Fraction(1, 100))
    for low, high in [(c.box[0], c.box[1]) for c in coarse.cells if c.status == "undecided"][:256]:
        inside = [
            c
            for c in cells
            if low[0] <= c.box[0][0] and c.box[0][1] <= low[1] and high[0] <= c.box[1][0] <= high[1]
        ]
        counts.append(max(1, len(inside)))
    return made, known, counts


def simulation() -> None:
    """Prints how long 10^5 attempts and a map of 10^7 cells take with more and more workers."""
    random = Random(20)
    serial, delay = _costs()
    print(
        f"A batch costs client and scheduler {1000 * serial:.1f} ms, "
        f"and is {1000 * delay:.1f} ms on its way.\n"
    )
    times = _attempts()
    tasks = [random.choice(times) for _ in range(100_000)]
    made, known, counts = _cells()
    parts = _scaled([random.choice(counts) for _ in range(256)], 10_000_000)
    print(f"{len(times)} attempts take {1000 * sum(times) / len(times):.0f} ms on average.")
    print(f"A cell takes {1e6 * made:.0f} µs to make, and {1e6 * known:.0f} µs to write and read.\n")
    print("| workers | 10^5 attempts, s | speed-up | 10^7 cells, s | speed-up |")
    print("| --- | --- | --- | --- | --- |")
    alone, map_alone = sum(tasks), 10_000_000 * made
    for workers in (1, 10, 100, 1000):
        first = simulate(tasks, workers, serial, delay, True)
        second = simulate([made * cells for cells in parts], workers, serial, delay, False)
        second += 10_000_000 * known
        print(
            f"| {workers:,} | {first:,.0f} | {alone / first:,.1f} "
            f"| {second:,.0f} | {map_alone / second:,.1f} |"
        )


def _scaled(counts: Sequence[int], total: int) -> Sequence[float]:
    factor = total / sum(counts)
    return [count * factor for count in counts]


def main() -> None:
    """Runs the parts that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--part", choices=["growth", "overhead", "simulation", "all"], default="all")
    parser.add_argument("--workers", default="1,2")
    given = parser.parse_args()
    workers = [int(n) for n in given.workers.split(",")]
    parts: dict[str, Callable[[], None]] = {
        "growth": growth,
        "overhead": lambda: overhead(workers),
        "simulation": simulation,
    }
    for name, part in parts.items():
        if given.part in (name, "all"):
            print(f"\n{name}\n")
            part()


if __name__ == "__main__":
    main()
