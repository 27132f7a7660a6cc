"""Agreement between backends: contradicting answers are an error of their own kind, never a verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from paramverify import backends
from paramverify.answers import Decision, Proved
from paramverify.claims import Claim
from paramverify.errors import DisagreementError
from paramverify.portfolio.strategies import BUILT_IN
from paramverify.processes.attempts import resolve, split_name
from paramverify.processes.running import is_decided


def check_agreement(claim: Claim, decisions: Iterable[Decision]) -> None:
    """Checks that no two decisions about one claim contradict each other.

    Raises:
        DisagreementError: one backend proved the claim and another refuted it; both transcripts are kept.
    """
    decided = [d for d in decisions if is_decided(d)]
    proofs = [d for d in decided if isinstance(d.answer, Proved)]
    refutations = [d for d in decided if not isinstance(d.answer, Proved)]
    if proofs and refutations:
        answers = tuple(
            (d.backend, "proved" if isinstance(d.answer, Proved) else "refuted", d.answer.transcript)
            for d in (proofs[0], refutations[0])
        )
        raise DisagreementError(claim.digest()[:12], answers)


def program(name: str) -> str:
    """Returns what a backend's answers depend on: `cvc5` for `cvc5-cov`, `built-in` for all built-ins."""
    return name if name == BUILT_IN else backends.program(resolve(name), split_name(name)[0])


def confirmation(count: int) -> Callable[[Decision], bool]:
    """Returns an `until` for one race: `count` different programs have decided, or two contradict."""
    seen: dict[str, bool] = {}

    def until(decision: Decision) -> bool:
        if is_decided(decision):
            seen[program(decision.backend)] = isinstance(decision.answer, Proved)
        return len(seen) >= count or len(set(seen.values())) > 1

    return until
