"""A session's work as tasks: what another process must be told to decide a claim as this session would."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from paramverify.answers import Decision, End, FailsAt, Open, Refuted
from paramverify.claims import Claim, to_document
from paramverify.evidence.replaying import from_worker
from paramverify.formats.refutations import fails_at, fails_at_algebraic
from paramverify.portfolio.strategies import Stage, Strategy
from paramverify.processes.answers import decision_from_document
from paramverify.tasks.tasks import Task


def decide_task(
    claim: Claim, here: Callable[[], Decision], told: Callable[[], dict[str, Any]], seconds: float
) -> Task[Decision]:
    """Returns the task to decide a claim in some seconds; `told` gives the options of the session for it."""

    def document() -> dict[str, Any]:
        return {"claim": to_document(claim), **told()}

    def read(told: Mapping[str, Any]) -> Decision:
        return checked(claim, decision_from_document(told))

    def lost(reason: str) -> Decision:
        return Decision(Open(End.CRASHED, reason), "cluster")

    return Task("decide", here, document, read, lost, seconds=seconds)


def checked(claim: Claim, decision: Decision) -> Decision:
    """Returns a worker's decision: a refutation counts where the claim fails here, exactly, as it is said to.

    A proof counts if the kernel accepts it here; without a certificate it is on the word of the worker.
    """
    decision = from_worker(claim, decision)
    said = decision.answer
    wrong = isinstance(said, Refuted) and not fails_at(claim, said.point)
    wrong = wrong or (isinstance(said, FailsAt) and not fails_at_algebraic(claim, said.at))
    if wrong:
        spurious = Open(End.GAVE_UP, "the refutation does not stand exact evaluation", said.transcript)
        return replace(decision, answer=spurious)
    return decision


def strategy_document(strategy: Strategy) -> list[dict[str, Any]]:
    """Returns a strategy as JSON data; no limit of seconds is null."""
    return [
        {
            "backends": list(stage.names()),
            "seconds": None if stage.seconds == float("inf") else stage.seconds,
            "cuts": stage.cuts,
        }
        for stage in strategy
    ]


def read_strategy(document: list[Mapping[str, Any]]) -> Strategy:
    """Returns the strategy that `strategy_document` wrote."""
    return tuple(
        Stage(
            tuple(stage["backends"]),
            float("inf") if stage["seconds"] is None else float(stage["seconds"]),
            int(stage["cuts"]),
        )
        for stage in document
    )
