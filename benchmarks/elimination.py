"""Quantifier elimination by QEPCAD and by the procedures of Redlog, on claims of shipped cases.

    python benchmarks/elimination.py [--limit 10] [CASE ...]

A problem is a case with two to four parameters without a constant such as exp(1): for which values of one of
its parameters do all claims hold for all values of the others? Each parameter is asked for. The programs get
the files of `export --free`, one after the other, each within the limit. A condition is compared with the
others at rational points; QEPCAD answers for the domain of the parameter alone, so points are taken there.
Prints Markdown for docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

from paramverify.algebra.domains import Domain
from paramverify.backends.programs import find
from paramverify.backends.qepcad import installation
from paramverify.backends.redlog import PROGRAMS
from paramverify.encodings.choice import listed_claims
from paramverify.errors import ParamverifyError
from paramverify.formats.elimination_scripts import (
    PROCEDURES,
    REDLOG_ANSWER,
    qepcad_script,
    read,
    redlog_script,
)
from paramverify.formats.quantified_questions import QuantifiedImplication, question
from paramverify.privacy.cases import load

ROOT = Path(__file__).resolve().parent.parent
Holds = Callable[[Fraction], bool]


def problems(paths: list[Path]) -> Iterator[tuple[str, str, QuantifiedImplication, Domain]]:
    """Yields cases with the parameter that is left free, as questions."""
    for path in paths:
        try:
            model = load(path).model
            claims = listed_claims(model)
        except ParamverifyError:
            continue
        names = model.domain.ring.parameters
        if not 2 <= len(names) <= 4 or model.domain.constant or model.domain.ring.tied or not claims:
            continue
        if any(claim.domain is not claims[0].domain for claim in claims):
            continue
        for name in names:
            polynomials = [claim.polynomial for claim in claims]
            yield path.stem, name, question(polynomials, claims[0].domain, (name,)), claims[0].domain


def of_qepcad(asked: QuantifiedImplication, limit: float) -> Holds | None:
    """Returns the condition that QEPCAD finds."""
    found = installation()
    assert found is not None
    command = [found.program, "-noecho", "-t", str(max(1, round(limit))), "+N20000000"]
    said = run(command, qepcad_script(asked), limit, found.environment)
    answer = re.search(r"An equivalent quantifier-free formula:\n\n(.*?)\n\n", said, re.DOTALL)
    if not answer:
        return None
    condition = read(" ".join(answer[1].split()), asked.ring, asked.renamed())
    zero = dict.fromkeys(asked.ring.names, Fraction(0))
    return lambda value: condition.holds_at(zero | {asked.free[0]: value})


def of_redlog(procedure: str) -> Callable[[QuantifiedImplication, float], Holds | None]:
    """Returns what asks a procedure of Redlog."""

    def asks(asked: QuantifiedImplication, limit: float) -> Holds | None:
        program = next(path for name in PROGRAMS if (path := find(name)))
        said = run([program], redlog_script(asked, procedure=procedure), limit)
        _, found, answer = said.partition(REDLOG_ANSWER)
        text = " ".join(re.sub(r"\$|\n\d+: ", " ", answer).split())  # without prompts
        if not found or not text or re.search(r"\b(all|ex)\b", text):
            return None
        plain = re.sub(r"(?<![<>])=", "==", text).replace("<>", "!=").replace("^", "**")
        plain = re.sub(r"\bv1\b", "V", plain)
        if not re.fullmatch(r"(?:and|or|not|true|false|[V0-9+\-*()<>=! ])*", plain):
            return None
        names = {"true": True, "false": False, "__builtins__": {}}
        return lambda value: bool(eval(plain, names | {"V": value}))

    return asks


def run(command: list[str], text: str, limit: float, environment: dict[str, str] | None = None) -> str:
    """Returns what a program says of a text within a limit; nothing where it does not end."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                command,
                input=text,
                capture_output=True,
                text=True,
                timeout=limit,
                env=environment,
                cwd=folder,
            )
        except subprocess.TimeoutExpired:
            return ""
    return done.stdout


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=float, default=10.0)
    parser.add_argument("cases", nargs="*", type=Path, default=sorted((ROOT / "cases").glob("*.toml")))
    given = parser.parse_args()
    programs = {"QEPCAD": of_qepcad} | {f"`{name}`": of_redlog(name) for name in (*PROCEDURES, "rlhqe")}
    solved, seconds = dict.fromkeys(programs, 0), dict.fromkeys(programs, 0.0)
    total = 0
    print(f"| case | free | bound | {' | '.join(programs)} |")
    print(f"| --- | --- | --- | {' | '.join('---' for _ in programs)} |")
    for case, name, asked, domain in problems(given.cases):
        total += 1
        low, high = domain.box[name].lower, domain.box[name].upper
        points = [p for k in range(101) if (p := low + (high - low) * Fraction(k, 100)) in domain.box[name]]
        cells, answers = [], {}
        for program, asks in programs.items():
            started = time.perf_counter()
            holds = asks(asked, given.limit)
            taken = time.perf_counter() - started
            seconds[program] += taken if holds else given.limit
            solved[program] += holds is not None
            cells.append(f"{taken:.2f} s" if holds else "-")
            if holds:
                answers[program] = [holds(point) for point in points]
        first = next(iter(answers), "")
        other = [name for name, answer in answers.items() if answer != answers[first]]
        if other:
            cells.append(f"{first} is contradicted by {', '.join(other)}")
        print(f"| {case} | {name} | {len(asked.bound)} | {' | '.join(cells)} |", flush=True)
    print(f"| solved of {total} | | | {' | '.join(str(solved[p]) for p in programs)} |")
    print(f"| seconds | | | {' | '.join(f'{seconds[p]:.0f}' for p in programs)} |")


if __name__ == "__main__":
    main()
