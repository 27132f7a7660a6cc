"""The three encodings on five cases with sequences, and noisy max against the number of answers.

    python benchmarks/three_encodings.py [--seconds 60] [--only sequences] [--only noisy-max]

Every attempt is a whole process, killed at the limit, whose peak of memory is that of itself and its
children. All claims of a case must be proved, or one refuted by a witness that stands exact evaluation.

- sequences: the enumerating encoding, decided by the exact procedures of this package;
- cone: the cone encoding, decided in the same way; with parametric transitions it merges equal vectors;
- monolithic: Algorithm 1 of [F], decided by Z3.

The largest length decided within the limit is found by doubling and bisection. Prints Markdown tables for
docs/benchmarks.md; `-` means not decided within the limit.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

# Nothing heavy is imported here: the process that measures would pass its memory on to the measured one.
if TYPE_CHECKING:
    from paramverify.models.model import Model

ROOT = Path(__file__).parent.parent
CASES = ("above-threshold", "above-threshold-prior", "survey-memory", "time-series-2", "time-series-3")
ENCODINGS = ("sequences", "cone", "monolithic")
FIXED = (2, 5, 10)
MOST = 400
MEMORY = 4 << 30  # bytes of address space
UNLIMITED = 10**6  # seconds, as Z3's own limit: the process is killed instead

NOISY_MAX = """title = "Noisy max"
[mechanism]
kind = "noisy_max"
queries = {queries}
noise = {{ truncated_geometric = "1/2", range = 2 }}
ties = "{ties}"
[neighbours]
differ = "each"
[privacy]
ratio = 4
"""


@dataclass(frozen=True)
class Attempt:
    """What a process said, or None where it was killed; its wall-clock seconds and peak of memory in MiB."""

    said: dict[str, str] | None
    seconds: float
    memory: float

    def cell(self) -> str:
        """Returns time and memory for a table."""
        return f"{self.seconds:.2f} s, {self.memory:.0f} MiB" if self.said else "-"


def attempt(command: list[str], seconds: float) -> Attempt:
    """Runs a command as a process of its own that prints one JSON object, and kills it at the limit.

    Between it and this process stands one that measures it with `getrusage`.
    """
    watched = [sys.executable, __file__, "--watch", str(seconds), "--", *command]
    done = subprocess.run(watched, capture_output=True, text=True, check=False)
    report = json.loads(done.stdout)
    return Attempt(report["said"], report["seconds"], report["memory"])


def watch(command: list[str], seconds: float) -> None:
    """Runs the command under the limits and prints what it said and used."""

    def limits() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True, preexec_fn=limits)
    try:
        output, _ = process.communicate(timeout=seconds)
        ended = process.returncode == 0
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        ended = False
    passed = time.perf_counter() - started
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    said = json.loads(output) if ended else None
    print(json.dumps({"said": said, "seconds": passed, "memory": memory}))


# --- what runs in a process of its own ----------------------------------------------------------------


def solve(encoding: str, case: Path, length: int) -> dict[str, str]:
    """Decides a case for sequences of one length; returns the verdict and the size of what was decided.

    The size is the number of terms of all claims, or of different subterms of all formulas.
    """
    from paramverify.privacy.cases import load

    model = replace(load(case).model, lengths=(length,))
    return by_formulas(model, length) if encoding == "monolithic" else by_claims(encoding, model)


def by_claims(encoding: str, model: Model) -> dict[str, str]:
    """Decides with the claims of an encoding."""
    from paramverify.answers import Proved, Refuted
    from paramverify.claims import without_enclosure
    from paramverify.encodings.cone import cone_claims
    from paramverify.encodings.sequences import sequence_claims
    from paramverify.evidence.witnesses import evaluate
    from paramverify.exact.branching import decide_exactly

    claims = (cone_claims if encoding == "cone" else sequence_claims)(model)
    terms = sum(len(claim.polynomial) for claim in claims)
    size = f"{len(claims)} claims, {terms} terms"
    for claim in claims:
        answer = decide_exactly(without_enclosure(claim))
        if isinstance(answer, Refuted):
            point = {name: answer.point[name] for name in model.domain.ring.parameters}
            if not evaluate(model, claim.origins[0], point).exceeds:
                raise SystemExit("a refutation that does not stand exact evaluation")
            return {"status": "violated", "size": size}
        if not isinstance(answer, Proved):
            raise SystemExit(4)
    return {"status": "holds", "size": size}


def by_formulas(model: Model, length: int) -> dict[str, str]:
    """Decides with the monolithic formulas and Z3, one after the other."""
    from paramverify.encodings import monolithic
    from paramverify.evidence.witnesses import ExactWitness

    if model.stands_for:
        raise SystemExit(4)  # more pairs of inputs than can be formed
    count = subterms = 0
    status = "holds"
    for formula in monolithic.formulas(model, length):
        count += 1
        subterms += formula.size
        if status == "violated":
            continue  # the size is still counted
        answer = monolithic.solve(model, formula, UNLIMITED)
        if isinstance(answer, ExactWitness):
            status = "violated"
        elif not isinstance(answer, monolithic.Unsatisfiable):
            raise SystemExit(4)
    return {"status": status, "size": f"{count} formulas, {subterms} subterms"}


# --- tables -------------------------------------------------------------------------------------------


def one(encoding: str, name: str, length: int, seconds: float) -> Attempt:
    """Returns the attempt of an encoding on a case with one length."""
    case = str(ROOT / "cases" / f"{name}.toml")
    return attempt([sys.executable, __file__, "--solve", encoding, case, str(length)], seconds)


def largest(tries: Callable[[int], Attempt]) -> tuple[int, Attempt | None]:
    """Returns the largest length that is decided, at most `MOST`, by doubling and bisection."""
    best, found = 0, None
    high, step = MOST + 1, 1
    while best < MOST and high - best > 1:
        length = min(step, MOST) if high > MOST else (best + high) // 2
        tried = tries(length)
        if tried.said:
            best, found = length, tried
            step = 2 * length
        else:
            high = length
    return best, found


def sequences_table(seconds: float, names: list[str]) -> None:
    """Prints sizes, times and memory at fixed lengths, and the largest length within the limit."""
    header = " | ".join(f"length {length}" for length in FIXED)
    print(f"| case | encoding | size at length {FIXED[1]} | {header} | largest length | verdict there |")
    print("| --- " * (len(FIXED) + 5) + "|")
    for name in names:
        for encoding in ENCODINGS:
            tries = cache(partial(one, encoding, name, seconds=seconds))
            best, found = largest(tries)
            fixed = [tries(length) if length <= best else None for length in FIXED]
            cells = " | ".join(tried.cell() if tried else "-" for tried in fixed)
            middle = fixed[1].said if fixed[1] else None
            size = middle["size"] if middle else "-"
            verdict = found.said["status"] if found and found.said else "-"
            top = f"{best}{' or more' if best == MOST else ''}: {found.cell()}" if found else "-"
            print(f"| {name} | {encoding} | {size} | {cells} | {top} | {verdict} |", flush=True)


def noisy_max_table(seconds: float, most: int) -> None:
    """Prints time and memory of the tight budget, and of the monolithic encoding as far as it goes."""
    print("| answers | ties | tight ratio | `budget`, whole process | monolithic encoding and Z3 |")
    print("| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for ties in ("uniform", "first"):
            going = True
            for n in range(2, most + 1):
                case = Path(folder) / f"noisy-max-{ties}-{n}.toml"
                case.write_text(NOISY_MAX.format(queries=n, ties=ties), encoding="utf-8")
                budget = attempt(
                    [sys.executable, "-m", "paramverify", "budget", str(case), "--json"], seconds
                )
                ratio = budget.said["ratio"] if budget.said else "-"
                shown = "not tried"
                if going:
                    old = attempt(
                        [sys.executable, __file__, "--solve", "monolithic", str(case), "1"], seconds
                    )
                    going = old.said is not None
                    shown = f"{old.cell()} ({old.said['size']})" if old.said else "-"
                print(f"| {n} | {ties} | {ratio} | {budget.cell()} | {shown} |", flush=True)


def main() -> None:
    """Measures and prints; with --solve or --watch it is the process that is measured, or that measures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="limit for each process")
    parser.add_argument("--only", choices=("sequences", "noisy-max"))
    parser.add_argument("--cases", default=",".join(CASES), help="comma-separated names of cases")
    parser.add_argument("--most", type=int, default=12, help="largest number of answers of noisy max")
    parser.add_argument("--solve", nargs=3, metavar=("ENCODING", "CASE", "LENGTH"), help=argparse.SUPPRESS)
    parser.add_argument("--watch", type=float, help=argparse.SUPPRESS)
    parser.add_argument("command", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.solve:
        encoding, case, length = options.solve
        print(json.dumps(solve(encoding, Path(case), int(length))))
    elif options.watch:
        watch(options.command, options.watch)
    else:
        if options.only != "noisy-max":
            sequences_table(options.seconds, options.cases.split(","))
            print()
        if options.only != "sequences":
            noisy_max_table(options.seconds, options.most)


if __name__ == "__main__":
    main()
