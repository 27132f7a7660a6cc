"""Comparing: every backend, with and without simplification, on all that some cases and scripts ask.

Attempts run one at a time, so that they do not disturb each other's times; or on the workers of a cluster,
one at a time on each. Each result is kept as it comes (see `results`); what is there already is not repeated.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from paramverify import __version__
from paramverify.algebra.polynomials import rational
from paramverify.answers import Decision, Open, Proved, Refuted
from paramverify.backends import Backend
from paramverify.checker.claims import Rejected
from paramverify.claims import Claim
from paramverify.compare.jobs import Jobs, Runners
from paramverify.compare.results import Record, ResultsFile, identity
from paramverify.compare.scripts import ComparedScript
from paramverify.compare.spreading import AttemptPlan, attempt_task
from paramverify.compare.subjects import ComparedItem, Skipped, Subjects
from paramverify.compare.trials import NOT_ASKED
from paramverify.errors import InputError
from paramverify.evidence.replaying import replayed
from paramverify.processes.attempts import AttemptLimits, resolve, settings
from paramverify.processes.runner import AttemptOutcome
from paramverify.scripts.asking import why_not
from paramverify.tasks.tasks import HERE, Executor
from paramverify.tasks.worker import machine
from paramverify.verdicts import status_of

MEMORY = 4 << 30  # bytes of address space for an attempt
TRANSCRIPT = 2000  # characters that are kept of what a backend printed


@dataclass(frozen=True)
class CompareOptions:
    """What the user chose: backends, limits of an attempt, repetitions.

    Attempts that are made `beside` others, on machines that come and go, have times of their own.
    They are not those that are made alone here, and neither are those of several `jobs` on this machine.
    """

    backends: tuple[str, ...]
    seconds: float = 10.0
    memory: int = MEMORY
    repeat: int = 1
    beside: bool = False
    jobs: int = 1


@dataclass(frozen=True, eq=False)
class Planned:
    """One attempt to be made; `record` holds what identifies it and what is known before it runs."""

    subject: ComparedItem
    backend: str
    simplification: bool
    record: Record

    @property
    def configuration(self) -> tuple[str, str, str]:
        """Encoding, backend and simplification."""
        return self.subject.encoding, self.backend, str(self.record["simplification"])


# --- what is planned ------------------------------------------------------------------------------


def installed(backends: Mapping[str, Backend]) -> dict[str, str]:
    """Returns the versions of backends.

    Raises:
        InputError: one is not installed; the message says how to get it.
    """
    versions: dict[str, str] = {}
    for name, found in backends.items():
        version = found.version()
        if version is None:
            raise InputError(f"the backend {name} is not installed; to get it: {found.install}")
        versions[name] = version
    return versions


def plan(found: Subjects, choice: CompareOptions) -> tuple[list[Planned], list[Skipped]]:
    """Returns the attempts in the order in which they run, and what is left out, with the reasons.

    The built-in procedures simplify by themselves, so they run once, with simplification. Scripts run as they
    are, on those backends that can.

    Raises:
        InputError: a backend is unknown or not installed.
    """
    backends = {name: resolve(name) for name in choice.backends}
    versions = installed(backends)
    kinds = {isinstance(subject.what, ComparedScript) for subject in found.subjects}
    skipped = list(found.skipped)
    for name, backend in backends.items():
        if True in kinds and (reason := why_not(backend)):
            skipped.append(Skipped(f"{name} on scripts", reason))
        if False in kinds and backend.builtin:
            reason = "a built-in procedure, which always simplifies by itself"
            skipped.append(Skipped(f"{name} without simplification", reason))
    common = {
        "timeout": choice.seconds,
        "memory_limit": choice.memory,
        "machine": {"cluster": True} if choice.beside else machine() | _shared(choice),
        "paramverify": __version__,
    }
    attempts = []
    for repeat in range(1, choice.repeat + 1):
        for subject in found.subjects:
            for name, simplification in _ways(subject, backends):
                record = {
                    "case": subject.case,
                    "encoding": subject.encoding,
                    "claim": subject.number,
                    "digest": subject.digest,
                    "origin": subject.origin,
                    "backend": name,
                    "version": versions[name],
                    "options": settings(backends[name], {}, name),
                    "simplification": "on" if simplification else "off",
                    "repeat": repeat,
                    **common,
                }
                attempts.append(Planned(subject, name, simplification, record))
    return attempts, skipped


def _shared(choice: CompareOptions) -> dict[str, int]:
    return {"jobs": choice.jobs} if choice.jobs > 1 else {}


def _ways(subject: ComparedItem, backends: Mapping[str, Backend]) -> Iterator[tuple[str, bool]]:
    for name, backend in backends.items():
        if isinstance(subject.what, ComparedScript):
            if why_not(backend) is None:
                yield name, False
            continue
        yield name, True
        if not backend.builtin:
            yield name, False


# --- running ----------------------------------------------------------------------------------------


@dataclass
class RemainingTime:
    """How long the attempts that are left are going to take, by those of the same configuration so far."""

    left: dict[tuple[str, str, str], int] = field(default_factory=lambda: defaultdict(int))
    times: dict[tuple[str, str, str], list[float]] = field(default_factory=lambda: defaultdict(list))

    def note(self, configuration: tuple[str, str, str], seconds: float) -> None:
        """Takes the time of a finished attempt."""
        self.times[configuration].append(seconds)

    def seconds(self) -> float | None:
        """Returns the estimate, or None as long as nothing has finished."""
        everything = [t for times in self.times.values() for t in times]
        if not everything:
            return None
        mean = sum(everything) / len(everything)
        return sum(
            count * (sum(self.times[c]) / len(self.times[c]) if self.times[c] else mean)
            for c, count in self.left.items()
        )


@dataclass(frozen=True)
class Advance:
    """Where a comparison is: attempts done and all, which one is next, and the seconds left, if known."""

    done: int
    total: int
    now: str
    seconds_left: float | None


def run(
    attempts: Sequence[Planned],
    choice: CompareOptions,
    results: ResultsFile,
    progress: Callable[[Advance], None] | None = None,
    executor: Executor = HERE,
) -> list[Record]:
    """Makes the attempts that have no result yet, and returns all results in the order of the plan.

    Raises:
        ClusterLostError: the scheduler of a cluster is gone; the results until then are kept.
    """
    estimate = RemainingTime()
    waiting: list[Planned] = []
    for planned in attempts:
        known = results.records.get(identity(planned.record))
        if known is None:
            waiting.append(planned)
            estimate.left[planned.configuration] += 1
        else:
            estimate.note(planned.configuration, float(known["wall"]))
    before = len(attempts) - len(waiting)

    def show(done: int) -> None:
        if progress:
            record = waiting[done].record if done < len(waiting) else None
            now = f"{record['case']} {record['claim']}: {record['backend']}" if record else ""
            left = estimate.seconds()
            shared = None if left is None else left / executor.width
            progress(Advance(before + done, len(attempts), now, shared))

    judge = _Judge()
    with Runners() as runners:
        if choice.jobs > 1 and executor.is_here:
            executor = Jobs(choice.jobs, runners)
        tasks = [attempt_task(_asked(planned, choice), runners.own, choice.backends) for planned in waiting]
        show(0)
        for done, ended in enumerate(executor.map(tasks), 1):
            planned, tried = waiting[ended.number], ended.get()
            result = judge.result(planned.subject, tried.outcome, tried.seconds)
            asked = not _settled(planned, result)
            where = {} if ended.place is None else {"ran_on": ended.place}
            results.add({**planned.record, **result, "asked": asked, **where})
            estimate.left[planned.configuration] -= 1
            estimate.note(planned.configuration, tried.seconds)
            show(done)
    return [results.records[identity(planned.record)] for planned in attempts]


def _asked(planned: Planned, choice: CompareOptions) -> AttemptPlan:
    version = str(planned.record["version"])
    limits = AttemptLimits(choice.seconds, choice.memory)
    return AttemptPlan(planned.subject.what, planned.backend, version, planned.simplification, limits)


def _settled(planned: Planned, result: Mapping[str, Any]) -> bool:
    """Tells whether simplification left nothing for the backend.

    Then there is a complete certificate, which no solver can give; a built-in procedure can, and says so.
    """
    if not planned.simplification or result["evidence"] != "certificate":
        return False
    return not resolve(planned.backend).builtin or result["transcript"] == NOT_ASKED


@dataclass
class _Judge:
    """Turns outcomes into results, and says what evidence they rest on.

    A witness was evaluated exactly by the runner. A certificate is replayed here by the checker, once.
    """

    replayed: dict[tuple[str, str], str] = field(default_factory=dict)

    def result(self, subject: ComparedItem, outcome: AttemptOutcome, seconds: float) -> dict[str, Any]:
        """Returns the part of a record that the outcome gives; `seconds` is from before its start."""
        decision, said = outcome.decision, outcome.decision.answer
        result: dict[str, Any] = {
            "status": status_of(said),
            "end": "decided",
            "detail": "",
            "evidence": None,
            "denies": False,
        }
        if isinstance(said, Open):
            result |= {"end": said.end.value, "detail": said.detail, "denies": said.denies}
        elif isinstance(said, Proved):
            result["evidence"] = self._evidence(subject, decision)
        else:
            result["evidence"] = "word"
            if isinstance(subject.what, Claim):
                result |= {"evidence": "witness", "witness": _point(said)}
        known = subject.expected
        if result["evidence"] in ("witness", "certificate"):
            known = result["status"]
        # On a busy machine the runner may hear of the start and of the answer at once. The processor time was
        # spent in between, so it is a bound from below, as long as it is not more than what has passed.
        wall = max(decision.seconds, min(outcome.cpu, seconds))
        return {
            **result,
            "known": known,
            "wall": round(wall, 6),
            "cpu": round(outcome.cpu, 6),
            "memory": outcome.memory,
            "transcript": _shortened(said.transcript),
        }

    def _evidence(self, subject: ComparedItem, decision: Decision) -> str:
        """Returns certificate, rejected (a certificate that proves nothing) or word."""
        said = decision.answer
        if not (isinstance(said, Proved) and said.certificate and isinstance(subject.what, Claim)):
            return "word"
        key = subject.digest, hashlib.sha256(repr(said.certificate).encode()).hexdigest()
        if key not in self.replayed:
            try:
                trusted = replayed(subject.what, said.certificate)
                self.replayed[key] = "word" if trusted else "certificate"
            except Rejected:
                self.replayed[key] = "rejected"
        return self.replayed[key]


def _shortened(text: str) -> str:
    half = TRANSCRIPT // 2
    return text if len(text) <= TRANSCRIPT else f"{text[:half]}\n[...]\n{text[-half:]}"


def _point(answer: Refuted) -> dict[str, str]:
    return {name: str(rational(value)) for name, value in answer.point.items()}
