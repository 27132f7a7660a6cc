"""The portfolio against each backend alone and against the virtual best of them, claim by claim.

    python benchmarks/portfolio.py [--limit 3]

Claims: the conformance table of the tests, and the first claims of every case of finite length. A backend
that leaves a claim open within the limit counts with the limit. Prints Markdown for docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from paramverify.answers import Open
from paramverify.backends import discover
from paramverify.claims import Claim
from paramverify.encodings.sequences import sequence_claims
from paramverify.errors import LimitError
from paramverify.models.model import Model
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.cases import load
from paramverify.processes.attempts import Attempt, AttemptLimits
from paramverify.processes.runner import Runner

ROOT = Path(__file__).parent.parent
FIRST = 6  # claims of each case


def all_claims() -> list[Claim]:
    """Returns the claims, `E` enclosed."""
    sys.path.insert(0, str(ROOT / "tests" / "tools"))
    from conformance import TABLE

    claims = [known.claim() for known in TABLE]
    for path in sorted((ROOT / "cases").glob("*.toml")):
        model = load(path).model
        if isinstance(model, Model) and model.lengths:
            with suppress(LimitError):  # a case whose sequences are too many for this encoding
                claims += sequence_claims(model)[:FIRST]
    return [replace(claim, domain=claim.domain.enclose(64)) for claim in claims]


def main() -> None:
    """Measures and prints."""
    os.environ["PARAMVERIFY_HISTORY"] = "off"
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=float, default=3.0)
    limit = parser.parse_args().limit
    claims = all_claims()
    names = [name for name, backend in discover().items() if backend.version() is not None]
    alone: dict[str, list[tuple[float, bool]]] = {name: [] for name in names}
    ours: list[tuple[float, bool]] = []
    with Runner() as runner:
        runner.warm(names)
        for claim in claims:
            for name in names:
                decision = runner.run(Attempt(name, claim), AttemptLimits(limit))
                solved = not isinstance(decision.answer, Open)
                alone[name].append((min(decision.seconds, limit) if solved else limit, solved))
            with Session(Options(seconds=limit)) as session:
                decision = session.decide(claim)
            solved = not isinstance(decision.answer, Open)
            ours.append((min(decision.seconds, limit) if solved else limit, solved))
    best = [min(row) for row in zip(*([s for s, _ in alone[name]] for name in names), strict=True)]
    print(f"{len(claims)} claims, limit {limit:g} s\n")
    print("| who | solved | total s |\n| --- | --- | --- |")
    for name in names:
        print(f"| {name} alone | {sum(ok for _, ok in alone[name])} | {sum(s for s, _ in alone[name]):.2f} |")
    solved = sum(any(alone[name][k][1] for name in names) for k in range(len(claims)))
    print(f"| virtual best backend | {solved} | {sum(best):.2f} |")
    total = sum(s for s, _ in ours)
    print(f"| portfolio | {sum(ok for _, ok in ours)} | {total:.2f} |")
    allowed = 1.2 * sum(best) + 0.05 * len(claims)
    print(f"\n1.2 times the virtual best plus 50 ms for each claim is {allowed:.2f} s.")


if __name__ == "__main__":
    main()
