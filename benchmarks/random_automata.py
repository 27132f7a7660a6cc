"""Random automata over streams, against brute force and the exact engine for programs.

    python benchmarks/random_automata.py [--automata 1000] [--geometric] [--first 0] [--limit 20]

Each is a text that both readers read alike. The kernel accepts all evidence, with the budgets of the lengths
from 0 to 4. By brute force over all shifts no way of up to four steps costs more than what was proved of its
length. The closed forms of a way of up to six steps are evaluated at three numbers for epsilon: no loss
exceeds a proved multiple, and for each epsilon a loss exceeds three quarters of what was claimed of the way,
be it private or refuted. With geometric noise, the closed forms are compared with sums over a box too. Any
difference stops the run.
"""

from __future__ import annotations

import argparse
import math
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "tools"))

from automaton_oracle import chance, random_text, signs_of, ways, worst_cost

from paramverify.answers import Standing
from paramverify.automata.automaton import parse_automaton
from paramverify.automata.automaton_evidence import lengths as lengths_document
from paramverify.automata.stream_costs import by_length
from paramverify.automata.stream_verdicts import WIDTH, AutomatonReport, verify, worst_signs
from paramverify.automata.way_costs import Way, cost
from paramverify.automata.way_programs import chances, heights, streams
from paramverify.errors import InputError
from paramverify.kernel.documents import check_document, engine_of
from paramverify.reports.stream_reports import automaton_evidence_document
from paramverify.rereader.second_streams import compare

EPSILONS = (Fraction(1, 4), Fraction(1), Fraction(3))
TIMES = (0, 1, 128)  # how far away from the means streams are
LENGTHS = 4
STEPS = 6
WAYS = 30  # of each automaton, for brute force
SHARE = Fraction(3, 4)


class Slow(Exception):
    """A way has no answer in time."""


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """Ends what takes longer."""

    def over(*_: object) -> None:
        raise Slow

    signal.signal(signal.SIGALRM, over)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def need(true: bool, seed: int, what: str) -> None:
    """Stops the run where something is not as it must be."""
    if not true:
        raise SystemExit(f"seed {seed}: {what}")


def check_proofs(
    seed: int, text: str, report: AutomatonReport, generator: random.Random
) -> dict[int, Fraction]:
    """Checks readers, kernel, and the costs of ways by brute force; returns the multiples of lengths."""
    automaton, graph = report.automaton, report.graph
    lengths = by_length(graph, LENGTHS, 60)
    need(len(lengths.found) == LENGTHS + 1, seed, "no budgets of lengths")
    if report.standing is not Standing.UNKNOWN:
        more = {"lengths": lengths_document(graph, lengths, ways=report.confused is None)}
        document = automaton_evidence_document(report, Path("a.dipa"), text.encode(), more)
        told, engine = check_document(document), engine_of(document)
        need(told.accepted and engine is not None, seed, f"the kernel rejects: {told.lines}")
        compare(engine["automaton"], text)
    multiples = {entry.inputs: entry.multiple for entry in lengths.found}
    every = ways(automaton, 4)
    for way in generator.sample(every, min(WAYS, len(every))):
        worst = worst_cost(automaton, way)
        inputs = sum(automaton.state_of(automaton.transitions[n]).reads for n in way)
        need(worst <= multiples[inputs], seed, f"{way} costs more than its length")
        need(report.multiple is None or worst <= report.multiple, seed, f"{way} costs more than is proved")
    return multiples


def chosen(report: AutomatonReport, generator: random.Random) -> Way | None:
    """A way to evaluate: of a family its shortest one that costs, else a long one of some random ones."""
    automaton = report.automaton
    if report.family is not None:
        family = report.family
        for count in range(1, STEPS + 1):
            if family.way(count) and len(family.way(count)) <= STEPS:
                way = worst_signs(automaton, family, count) if count >= family.period else None
                if way is not None and way.cost >= family.gain:
                    return way
        return None
    every = ways(automaton, STEPS)
    found = [
        cost(automaton, steps, generator.choice(signs_of(automaton, steps)))
        for steps in generator.sample(every, min(WAYS, len(every)))
    ]
    costly = [way for way in found if way.cost]
    return max(costly, key=lambda way: (len(way.steps), way.cost), default=None)


def check_engine(seed: int, report: AutomatonReport, way: Way, geometric: bool) -> str:
    """Evaluates a way exactly, far from the means and near to them."""
    automaton = report.automaton
    exceeded = dict.fromkeys(EPSILONS, False)
    for times in TIMES:
        given = streams(automaton, way, times)
        known = chances(automaton, way, given, WIDTH)
        if known is None:
            return "beyond the engine"
        for epsilon in EPSILONS:
            found = known.loss(epsilon, math.inf)
            if found is None:
                continue  # these streams make the way no likelier
            need(found.low <= way.cost * epsilon, seed, f"{way.steps} has a loss of {float(found.low)}")
            if report.multiple is not None:
                need(found.low <= report.multiple * epsilon, seed, "a proved multiple is exceeded")
            exceeded[epsilon] = exceeded[epsilon] or found.low > SHARE * way.cost * epsilon
            if geometric and epsilon == 3 and times <= 1:
                put_out = heights(automaton, way.steps)
                first, second = (
                    chance(automaton, way.steps, stream, (3.0, put_out))
                    for stream in (given.first, given.second)
                )
                near = math.isclose(math.log(first / second), float(found.low), rel_tol=1e-3, abs_tol=1e-3)
                need(near, seed, f"sums over a box give another loss of {way.steps}")
    need(all(exceeded.values()), seed, f"{SHARE} of {way.cost} is not exceeded")
    return "agrees"


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--automata", type=int, default=1000)
    parser.add_argument("--geometric", action="store_true")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--limit", type=int, default=20, help="seconds for the closed forms of one way")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    seed, started = options.first, time.perf_counter()
    while counts["automata"] < options.automata:
        generator = random.Random(seed)
        text = random_text(generator, options.geometric)
        seed += 1
        try:
            report = verify(parse_automaton(text))
        except InputError:
            counts["no automata"] += 1
            continue
        counts["automata"] += 1
        counts[report.standing.of_case] += 1
        counts["least multiple found"] += report.tight
        check_proofs(seed - 1, text, report, generator)
        way = chosen(report, generator) if report.confused is None else None
        answer = "left out"
        if way is not None:
            try:
                with within(options.limit):
                    answer = check_engine(seed - 1, report, way, options.geometric)
            except Slow:
                answer = "out of time"
        counts[f"{report.standing.of_case}, way {answer}"] += 1
        if not counts["automata"] % 50:
            print(f"{counts['automata']} automata, {time.perf_counter() - started:.0f} s", flush=True)
    for what, count in counts.items():
        print(f"{count:6,} {what}")
    print(f"seeds {options.first} to {seed - 1}, {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
