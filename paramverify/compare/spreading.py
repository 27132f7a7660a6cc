"""Attempts of a comparison as tasks, and what a worker does for one: it runs it as it is run here."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from paramverify.answers import Decision, End, Open
from paramverify.claims import Claim, from_document, to_document
from paramverify.compare.scripts import ComparedScript
from paramverify.compare.trials import claim_attempt
from paramverify.errors import InputError
from paramverify.processes.answers import decision_from_document, decision_to_document
from paramverify.processes.attempts import Attempt, AttemptLimits, resolve
from paramverify.processes.runner import AttemptOutcome, Runner
from paramverify.processes.running import END_PATIENCE, START_PATIENCE, checked
from paramverify.scripts.asking import script_attempt
from paramverify.tasks.tasks import Task
from paramverify.tasks.worker import runner


@dataclass(frozen=True)
class AttemptPlan:
    """One attempt: who is asked what, in which version, with simplification or without, and its limits."""

    what: Claim | ComparedScript
    backend: str
    version: str
    simplification: bool
    limits: AttemptLimits

    def attempt(self) -> Attempt:
        """Returns the attempt for a runner."""
        if isinstance(self.what, ComparedScript):
            return script_attempt(self.backend, self.what.text)
        return claim_attempt(self.backend, self.what, self.simplification)


@dataclass(frozen=True)
class Tried:
    """How an attempt went, and the seconds from before its start to its end."""

    outcome: AttemptOutcome
    seconds: float


def attempt_task(asked: AttemptPlan, own: Callable[[], Runner], preloaded: tuple[str, ...]) -> Task[Tried]:
    """Returns the attempt as a task, which the runner that `own` gives does where it is done here."""

    def here() -> Tried:
        runner = own()
        runner.warm(preloaded)  # which costs nothing but after a restart of the zygote
        return _tried(runner, asked)

    def document() -> dict[str, Any]:
        script = isinstance(asked.what, ComparedScript)
        return {
            "script" if script else "claim": _told(asked.what),
            "backend": asked.backend,
            "version": asked.version,
            "simplification": asked.simplification,
            "seconds": asked.limits.seconds,
            "memory": asked.limits.memory,
        }

    def read(told: Mapping[str, Any]) -> Tried:
        decision = decision_from_document(told["decision"])
        if isinstance(asked.what, Claim):
            decision = replace(decision, answer=checked(decision.answer, asked.what))
        outcome = AttemptOutcome(decision, float(told["cpu"]), int(told["memory"]))
        return Tried(outcome, float(told["seconds"]))

    def lost(reason: str) -> Tried:
        return Tried(AttemptOutcome(Decision(Open(End.CRASHED, reason), asked.backend, asked.version)), 0.0)

    longest = asked.limits.seconds + START_PATIENCE + END_PATIENCE
    return Task("attempt", here, document, read, lost, seconds=longest)


def _told(what: Claim | ComparedScript) -> Any:
    return to_document(what) if isinstance(what, Claim) else what.text


def attempted(document: Mapping[str, Any]) -> dict[str, Any]:
    """Makes the attempt of a document of `attempt_task`; returns how it went as JSON data.

    Raises:
        InputError: the backend is not one of this installation, or has another version here.
    """
    name, version = document["backend"], document["version"]
    found = None if ":" in name else _version(name)
    if found != version:
        here = f"has version {found} there" if found else "is missing there"
        raise InputError(f"the backend {name} {here}, and {version} here: install the same on all workers")
    what: Claim | ComparedScript = (
        ComparedScript(document["script"], "", None)
        if "script" in document
        else from_document(document["claim"])
    )
    limits = AttemptLimits(float(document["seconds"]), int(document["memory"]))
    runner().warm((name,))
    made = _tried(runner(), AttemptPlan(what, name, version, bool(document["simplification"]), limits))
    return {
        "decision": decision_to_document(made.outcome.decision),
        "cpu": made.outcome.cpu,
        "memory": made.outcome.memory,
        "seconds": made.seconds,
    }


@cache
def _version(name: str) -> str | None:
    return resolve(name).version()


def _tried(by: Runner, asked: AttemptPlan) -> Tried:
    started = time.monotonic()
    outcome = by.trial(asked.attempt(), asked.limits)
    return Tried(outcome, time.monotonic() - started)
