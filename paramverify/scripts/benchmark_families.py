"""Claims of cases as a family of benchmarks for SMT solvers: named, graded, and with what is known of each.

A claim of fewer than two variables is left out, and so is one that another case has already. The status is
stated where there is evidence: a certificate that the kernel replays, or a point that was evaluated exactly.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from paramverify import __version__
from paramverify.algebra.constants import GENERATOR
from paramverify.answers import Decision, Proved, Refuted, Standing
from paramverify.claims import Claim, from_document, to_document
from paramverify.evidence import certificates, envelope
from paramverify.evidence.certificates import replayed
from paramverify.exact.branching import decide_exactly
from paramverify.formats.refutations import fails_at
from paramverify.formats.solver_formulas import occurring
from paramverify.kernel.strict_reading import Rejected
from paramverify.portfolio.session import QUICK, Session
from paramverify.simplify.chain import simplify

BITS = 64  # precision of the rational enclosure of exp(q)
ENCLOSED = "constant"  # the variable for exp(q)
LEAST = 2  # variables of a claim that is not trivial
SLOW = 2.0  # seconds
GRADES = {
    1: "simplification alone decides it",
    2: "the exact procedures decide it with little work",
    3: "a backend decides it within 2 s",
    4: "a backend decides it later",
    5: "no backend decides it within the time limit",
}


@dataclass(frozen=True, eq=False)
class KnownClaim:
    """What is known of a claim: standing, evidence (certificate, witness, word, none), and a grade."""

    standing: Standing
    evidence: str
    grade: int
    seconds: float
    document: Mapping[str, Any] | None = None

    @property
    def status(self) -> str:
        """The status that a script may state: sat and unsat rest on evidence that anybody can check."""
        shown = self.evidence in ("certificate", "witness")
        return self.standing.of_script if shown else Standing.UNKNOWN.of_script


@dataclass(frozen=True, eq=False)
class Member:
    """A benchmark: its name with family and number, its claim, and what is known of it."""

    name: str
    family: str
    number: int
    claim: Claim
    known: KnownClaim


def plain(claim: Claim) -> Claim:
    """Returns the claim about every value that the enclosure of `E` has, with a parameter in its place.

    It is the claim that a script states. If it holds, so does the claim; it may fail where the claim holds.
    """
    if claim.domain.constant is None:
        return claim
    enclosed = replace(claim, domain=claim.domain.enclose(BITS))
    names = enclosed.domain.ring.names
    name = next(
        n for n in (ENCLOSED, *(f"{ENCLOSED}{k}" for k in range(1, len(names) + 2))) if n not in names
    )
    told = to_document(enclosed)
    del told["constant"]

    def renamed(text: str) -> str:
        return re.sub(rf"\b{GENERATOR}\b", name, text)

    told["variables"] = [name if n == GENERATOR else n for n in told["variables"]]
    told["box"] = {name if n == GENERATOR else n: interval for n, interval in told["box"].items()}
    told["polynomial"] = renamed(told["polynomial"])
    told["constraints"] = [[renamed(text), relation] for text, relation in told["constraints"]]
    return replace(from_document(told), origins=claim.origins)


def known_of(claim: Claim, session: Session) -> KnownClaim:
    """Returns what can be shown of a claim without the constant `E`, and how hard that was."""
    started = time.monotonic()
    tree = simplify(claim)
    if not tree.leaves():
        decision, grade = Decision(decide_exactly(claim), "built-in"), 1
    else:
        decision, grade = Decision(decide_exactly(claim, replace(QUICK)), "built-in"), 2
    if not isinstance(decision.answer, (Proved, Refuted)):
        decision = session.decide(claim)
        grade = 3 if decision.seconds <= SLOW else 4
    return _judged(claim, replace(decision, seconds=time.monotonic() - started), grade)


def _judged(claim: Claim, decision: Decision, grade: int) -> KnownClaim:
    said, about = decision.answer, {"case": {"title": "claim", "digest": claim.digest()}}
    if isinstance(said, Refuted) and fails_at(claim, said.point):
        point = {name: said.point[name] for name in claim.domain.ring.parameters}
        written = {name: certificates.text(value) for name, value in point.items()}
        witness = {"kind": "claim", "claim": envelope.sign(claim), "parameters": written}
        document = envelope.document(Standing.VIOLATED.value, about, {"witness": witness})
        return KnownClaim(Standing.VIOLATED, "witness", grade, decision.seconds, document)
    if isinstance(said, Proved):
        evidence = "word"
        if said.certificate is not None:
            try:
                evidence = "word" if replayed(claim, said.certificate) else "certificate"
            except Rejected:
                return KnownClaim(Standing.UNKNOWN, "none", 5, decision.seconds)
        own = certificates.settled(replace(claim, origins=()), decision)
        document = envelope.document(Standing.HOLDS.value, about, envelope.statements(own))
        return KnownClaim(Standing.HOLDS, evidence, grade, decision.seconds, document)
    return KnownClaim(Standing.UNKNOWN, "none", 5, decision.seconds)


def information(title: str, license_: str, category: str) -> dict[str, str]:
    """Returns what a benchmark says of itself: source, license and category, as SMT-LIB asks for it.

    Bars, which would end the text, are left away.
    """
    source = "\n".join(
        [
            f"Generated by: paramverify {__version__}",
            "Application: privacy of mechanisms whose prior has parameters; satisfiable iff the claim fails",
            f"Case: {title}",
        ]
    )
    return {
        "source": f"|\n{source.replace('|', '').replace(chr(92), '')}\n|",
        "license": f'"{license_.replace(chr(34), "")}"',
        "category": f'"{category}"',
    }


def members(
    family: str, claims: Iterable[Claim], session: Session, taken: set[str], left: Counter[str]
) -> Iterator[Member]:
    """Yields the benchmarks of a family; digests are added to `taken`, reasons for others to `left`.

    Raises:
        TimeLimitError: the time of the session is over before all claims were looked at.
    """
    number = 0
    for claim in claims:
        session.in_time()
        about = plain(claim)
        if len(occurring(about)) < LEAST:
            left["fewer than two variables"] += 1
            continue
        if about.digest() in taken:
            left["the same as another claim"] += 1
            continue
        taken.add(about.digest())
        number += 1
        yield Member(f"{family}-{number:04}", family, number, about, known_of(about, session))


def row(member: Member) -> Sequence[object]:
    """Returns the row of a benchmark in the table of a collection; see `COLUMNS`."""
    f, known = member.claim.polynomial, member.known
    names = occurring(member.claim)
    size = len(names), int(f.total_degree()), len(f), len(member.claim.domain.constraints)
    told = f"{member.family}/{member.name}.smt2", member.family, member.number
    return (
        *told,
        *size,
        known.status,
        known.evidence,
        known.grade,
        round(known.seconds, 3),
        member.claim.digest(),
    )


COLUMNS = (
    *("file", "family", "number", "variables", "degree", "terms", "constraints"),
    *("status", "evidence", "grade", "seconds", "digest"),
)
