"""What chains of simplification leave for a solver, and what they cost.

    python benchmarks/simplification.py [--limit 2] [--backend z3]

The claims are those of benchmarks/literature.py: cases/inequalities, then our own. Each is simplified by each
chain, and the backend decides what is left, part by part, each within the limit. Prints Markdown for
docs/benchmarks.md: the seconds of simplification, how many claims it decides alone, how many are decided in
all, the seconds in all (a claim that stays open counts with the limit), and how many claims are decided that
the default chain leaves to be open, and the other way round.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence

from literature import ROOT, questions
from portfolio import all_claims

from paramverify.answers import Proved, Refuted
from paramverify.claims import Claim
from paramverify.exact.procedure_outcomes import Outcome, settle
from paramverify.formats.refutations import Confirm, refuter
from paramverify.processes.attempts import Attempt, AttemptLimits
from paramverify.processes.runner import Runner
from paramverify.simplify.chain import simplify
from paramverify.simplify.step_names import BUILT_IN

CHAINS: dict[str, Sequence[str]] = {
    "none": (),
    "factors": ("factors",),
    "sympy": ("sympy",),
    "default": BUILT_IN,
    "default without ideal": tuple(name for name in BUILT_IN if name != "ideal"),
    "sympy,default": ("sympy", *BUILT_IN),
    "default,sympy": (*BUILT_IN, "sympy"),
}


def decided(claim: Claim, steps: Sequence[str], runner: Runner, backend: str, limit: float) -> bool:
    """Tells whether a claim is decided by what a chain leaves of it."""
    until = time.perf_counter() + limit

    def leaf(part: Claim, confirm: Confirm) -> Outcome:
        left = until - time.perf_counter()
        if left <= 0:
            return Outcome(reason="no time is left")
        said = runner.run(Attempt(backend, part), AttemptLimits(left)).answer
        if isinstance(said, Refuted):
            return Outcome(point=confirm(said.point))
        return Outcome(proof={"kind": "none"} if isinstance(said, Proved) else None)

    found = settle(claim, leaf, refuter(claim), () if claim.domain.ring.tied else steps)
    return found.proof is not None or found.point is not None


def rows(claims: Sequence[Claim], backend: str, limit: float) -> Iterator[str]:
    """Yields the table of all chains on these claims."""
    answers: dict[str, list[bool]] = {}
    numbers: dict[str, tuple[float, int, float]] = {}
    with Runner() as runner:
        runner.warm((backend,))
        for name, steps in CHAINS.items():
            simplifying = total = 0.0
            alone = 0
            answers[name] = []
            for claim in claims:
                started = time.perf_counter()
                tree = simplify(claim, () if claim.domain.ring.tied else steps)
                simplifying += time.perf_counter() - started
                alone += not tree.leaves()
                started = time.perf_counter()
                said = decided(claim, steps, runner, backend, limit)
                total += time.perf_counter() - started if said else limit
                answers[name].append(said)
            numbers[name] = simplifying, alone, total
    yield "| steps | simplification s | alone | decided | total s | more than default | fewer |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for name, (simplifying, alone, total) in numbers.items():
        pairs = list(zip(answers[name], answers["default"], strict=True))
        more, fewer = sum(a and not b for a, b in pairs), sum(b and not a for a, b in pairs)
        cells = (f"`{name}`", f"{simplifying:.2f}", alone, sum(answers[name]), f"{total:.1f}", more, fewer)
        yield "| " + " | ".join(map(str, cells)) + " |"


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=float, default=2.0)
    parser.add_argument("--backend", default="z3")
    given = parser.parse_args()
    simplify(all_claims()[0], ("sympy",))  # loads what is needed
    for title, claims in {
        "inequalities": [q.claim for q in questions(ROOT / "cases" / "inequalities")],
        "our own claims": all_claims(),
    }.items():
        print(f"{title}: {len(claims)} claims\n")
        print("\n".join(rows(claims, given.backend, given.limit)), "\n")


if __name__ == "__main__":
    main()
