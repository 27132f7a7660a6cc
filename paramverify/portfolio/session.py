"""A session: decides claims one after the other, with one time limit for all of them."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType

from paramverify.algebra.constants import GENERATOR
from paramverify.backends import backend
from paramverify.backends.bernstein import ENCLOSURES, decide_exactly
from paramverify.backends.settling import VERSION, Confirm, Outcome, Work, answer, refuter, settle
from paramverify.claims import Claim, without_enclosure
from paramverify.evidence import certificates
from paramverify.portfolio.agreement import check_agreement
from paramverify.portfolio.runner import Attempt, Limits, Runner
from paramverify.verdicts import Decision, End, Open, Proved

BUILT_IN = "built-in"  # the name under which the exact procedures of this package decide together
QUICK = Work(boxes=300, coefficients=500_000)  # what they may do in this process: some tens of milliseconds
RACE = ("bernstein", "z3", "cvc5-cov", "cvc5")


@dataclass(frozen=True)
class Options:
    """What the user may choose: the backends that race for a claim, and the limits.

    `seconds` is the wall-clock time for the whole session, `memory` the address space of one attempt in
    bytes. Without `backends`, the exact procedures of this package come first, then a race.
    """

    seconds: float = 60.0
    memory: int = 4 << 30
    backends: tuple[str, ...] = ()


@dataclass
class _Tally:
    """What happened to one claim in the race: who decided parts of it, and why other attempts ended."""

    winners: list[str] = field(default_factory=list)
    version: str = ""
    options: dict[str, str] = field(default_factory=dict)
    ends: list[tuple[End, str]] = field(default_factory=list)
    spurious: bool = False


class Session:
    """Decides claims; a context manager that leaves no process behind.

    First the exact procedures of this package run here, with a small bound on their work. What they leave
    open is simplified, and the backends race for what is left, each in a process that is killed at the limit.
    """

    def __init__(self, options: Options | None = None) -> None:
        self.options = options or Options()
        self.deadline = time.monotonic() + self.options.seconds
        self._runner: Runner | None = None
        self._quick = not self.options.backends or BUILT_IN in self.options.backends
        self._names = tuple(n for n in self.options.backends if n != BUILT_IN)
        if not self.options.backends:
            self._names = tuple(n for n in RACE if backend(n).version() is not None)
        for name in self._names:
            backend(name)

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._runner:
            self._runner.close()

    def decide(self, claim: Claim) -> Decision:
        """Returns how the claim was settled, or why it was not.

        A proof is one for the constant `E` as the number it is, and a refutation a point of the domain at
        which the claim fails exactly.

        Raises:
            DisagreementError: two backends contradict each other.
        """
        started = time.monotonic()
        claim = without_enclosure(claim)
        if self._quick:
            found = decide_exactly(claim, replace(QUICK))
            if not isinstance(found, Open) or not self._names:
                return Decision(found, BUILT_IN, VERSION, seconds=time.monotonic() - started)
        return replace(self._race(claim), seconds=time.monotonic() - started)

    def _race(self, claim: Claim) -> Decision:
        tally = _Tally()
        found = Outcome()
        for bits in ENCLOSURES if claim.domain.constant else (0,):
            closed = replace(claim, domain=claim.domain.enclose(bits))
            tally.spurious = False
            found = settle(closed, lambda part, confirm: self._leaf(part, confirm, tally), refuter(closed))
            if found.proof is not None and claim.domain.constant:
                interval = closed.domain.box[GENERATOR]
                proof = certificates.enclose((interval.lower, interval.upper), found.proof)
                found = Outcome(proof=proof)
            if found.proof is not None or found.point is not None or not tally.spurious:
                break
        winners = ", ".join(dict.fromkeys(tally.winners))
        if found.proof is not None or found.point is not None:
            return Decision(answer(claim, found), winners, tally.version, tally.options)
        end = max((end for end, _ in tally.ends), key=_INFORMATIVE.index, default=End.GAVE_UP)
        detail = "; ".join(dict.fromkeys(text for _, text in tally.ends)) or found.reason
        return Decision(Open(end, detail), ", ".join(self._names))

    def _leaf(self, claim: Claim, confirm: Confirm, tally: _Tally) -> Outcome:
        """Lets the backends race for a claim that simplification left."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            tally.ends.append((End.TIMEOUT, f"the limit of {self.options.seconds:g} s is over"))
            return Outcome(reason="no time was left")
        if self._runner is None:
            self._runner = Runner()
        attempts = [Attempt(name, claim) for name in self._names]
        limits = Limits(left, self.options.memory)
        decisions = self._runner.race(attempts, limits, width=max(2, os.cpu_count() or 1))
        check_agreement(claim, decisions)
        return self._read(decisions, confirm, tally)

    def _read(self, decisions: Sequence[Decision], confirm: Confirm, tally: _Tally) -> Outcome:
        for decision in decisions:
            said = decision.answer
            if isinstance(said, Open):
                tally.ends.append((said.end, f"{decision.backend}: {said.detail or said.end.value}"))
                continue
            tally.winners.append(decision.backend)
            tally.version, tally.options = decision.version, dict(decision.options)
            if isinstance(said, Proved):
                return Outcome(proof=_proof(decision, said))
            point = confirm(said.point)
            if point is not None:
                return Outcome(point=point)
            tally.spurious = True
            tally.ends.append(
                (End.GAVE_UP, f"{decision.backend}: its refutation does not stand exact evaluation")
            )
        return Outcome(reason="; ".join(text for _, text in tally.ends))


_INFORMATIVE = (
    End.INTERRUPTED,
    End.DECIDED,
    End.DISAGREEMENT,
    End.UNAVAILABLE,
    End.CRASHED,
    End.MEMORY,
    End.GAVE_UP,
    End.TIMEOUT,
)


def _proof(decision: Decision, said: Proved) -> certificates.Proof:
    if said.certificate is not None:
        proof: certificates.Proof = said.certificate["proof"]
        return proof
    return certificates.solver(decision.backend, decision.version, decision.options, said.transcript)
