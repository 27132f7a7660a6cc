"""Comparing backends, with and without simplification.

The attempts, in threads here or as tasks elsewhere.

Attempts run one at a time, so that they do not disturb each other's times; or on the workers of a cluster,
one at a time on each. Each result is kept as it comes (see `comparison_results`); what is there already is
not repeated.

What a comparison runs in the process of an attempt: simplification and a backend together.

That is a backend for the runner, named `module:attribute`, which takes the name of the backend to be measured
as an option. So the limits, and what is measured, cover all that an answer needs, simplification included.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from functools import cache
from math import inf
from types import TracebackType
from typing import Any, TypeVar

from paramverify import __version__
from paramverify.algebra.polynomials import rational
from paramverify.answers import Answer, Decision, End, Open, Proved, Refuted
from paramverify.backends import DECIDES, Ability, Backend, asked
from paramverify.claims import Claim, from_document, to_document
from paramverify.comparison.comparison_results import Record, ResultsFile, identity
from paramverify.comparison.comparison_subjects import ComparedItem, ComparedScript, Skipped, Subjects
from paramverify.errors import InputError
from paramverify.evidence.certificates import replayed
from paramverify.exact.procedure_outcomes import VERSION, Outcome, answer, by_enclosures, settle
from paramverify.formats.refutations import Confirm, refuter
from paramverify.kernel.strict_reading import Rejected
from paramverify.processes.attempts import (
    Attempt,
    AttemptLimits,
    decision_from_document,
    decision_to_document,
    formed,
    resolve,
    settings,
)
from paramverify.processes.runner import END_PATIENCE, START_PATIENCE, AttemptOutcome, Runner, checked
from paramverify.scripts.script_solutions import script_attempt, why_not
from paramverify.tasks.tasks import HERE, Executor, Task, TaskResult
from paramverify.tasks.worker import machine
from paramverify.tasks.worker import runner as worker_runner
from paramverify.verdicts import status_of

T = TypeVar("T")


class Runners:
    """A runner for each thread that asks for one; a context manager, which closes them all."""

    def __init__(self) -> None:
        self._local = threading.local()
        self._all: list[Runner] = []

    def __enter__(self) -> Runners:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for runner in self._all:
            runner.close()

    def own(self) -> Runner:
        """Returns the runner of this thread."""
        if not hasattr(self._local, "runner"):
            self._local.runner = Runner()
            self._all.append(self._local.runner)
        runner: Runner = self._local.runner
        return runner

    def abandon(self) -> None:
        """Ends what all runners are doing; for whoever gives up, from any thread."""
        for runner in self._all:
            runner.abandon()


class Jobs:
    """Does tasks in so many threads; they have to wait for other processes rather than to compute."""

    is_here = False

    def __init__(self, width: int, runners: Runners) -> None:
        self.width = width
        self._runners = runners

    def map(self, tasks: Sequence[Task[T]], until: float = inf) -> Generator[TaskResult[T], None, None]:
        """Yields the result of each task, as they end."""
        del until
        pool = ThreadPoolExecutor(self.width)
        try:
            numbers = {pool.submit(task.here): number for number, task in enumerate(tasks)}
            for done in as_completed(numbers):
                yield TaskResult(numbers[done], done.result)
        except BaseException:  # whoever asks has been interrupted, or closes this
            pool.shutdown(wait=False, cancel_futures=True)
            self._runners.abandon()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


NO_PROOF = {"kind": "none"}
TRIAL = f"{__name__}:CLAIM_TRIAL"  # what it imports is loaded before attempts, and no part of their times
NOT_ASKED = "settled by simplification before the backend was asked"


def claim_attempt(backend: str, claim: Claim, simplification: bool) -> Attempt:
    """Returns the attempt of a backend on a claim, with or without simplification in front of it."""
    options = {"backend": backend, "simplification": "on" if simplification else "off"}
    return Attempt(TRIAL, claim, options)


@dataclass
class _TrialLeaves:
    """Asks a backend about the claims that simplification left, and keeps what it said."""

    backend: Backend
    settings: Mapping[str, str]
    whole: Claim
    denies: bool = False  # of the claim that is compared, and without a point
    asked: int = 0
    certified: int = 0
    spurious: bool = False
    open: list[Open] = field(default_factory=list)
    transcripts: list[str] = field(default_factory=list)

    def decide(self, claim: Claim, confirm: Confirm) -> Outcome:
        self.asked += 1
        said = formed(asked(self.backend, claim, self.settings), claim)
        self.transcripts.append(said.transcript if not isinstance(said, Refuted) else "refuted")
        if isinstance(said, Refuted):
            point = confirm(said.point)
            self.spurious = self.spurious or point is None
            self.denies = self.denies or (point is None and claim.text() == self.whole.text())
            return Outcome(point=point, reason="its refutation fails exact evaluation")
        if isinstance(said, Proved):
            self.certified += said.certificate is not None
            if said.certificate is not None:
                proof = said.certificate.get("proof")  # what is none is kept, and rejected by the judge
                return Outcome(proof=proof if isinstance(proof, Mapping) else NO_PROOF)
            made = Decision(said, self.backend.name, self.backend.version() or "", self.settings)
            return Outcome(proof=made.proof)
        self.open.append(said)
        # What it says of a part, or of an enclosure, may be true where the whole claim holds.
        self.denies = self.denies or (said.denies and claim.text() == self.whole.text())
        return Outcome(reason=said.detail or said.end.value)


@dataclass(frozen=True)
class ClaimTrial:
    """Decides a claim with one backend; options `backend`, and `simplification`, which is on or off.

    `Proved` and `Refuted` are about the claim with `E` as the number it is: where the backend refutes an
    enclosure of it only, closer ones follow. A certificate is given only where it is complete without
    anybody's word.
    """

    name: str = "claim-trial"
    builtin: bool = False
    description: str = "a backend with or without simplification, for comparisons"
    install: str = ""
    abilities: frozenset[Ability] = DECIDES

    def version(self) -> str | None:
        """Returns the version of this package."""
        return VERSION

    def decide(self, claim: Claim, options: Mapping[str, str]) -> Answer:
        """Decides the claim with the backend that the options name."""
        backend = resolve(options["backend"])
        steps = None if options["simplification"] == "on" else ()
        leaves = _TrialLeaves(backend, settings(backend, {}, options["backend"]), claim)

        def closed(about: Claim) -> Outcome:
            leaves.spurious = False
            return settle(about, leaves.decide, refuter(about), steps)

        found = by_enclosures(claim, closed, lambda: leaves.spurious)
        transcript = "\n".join(filter(None, leaves.transcripts)) if leaves.asked else NOT_ASKED
        said = answer(claim, found)
        if isinstance(said, Proved):
            complete = leaves.certified == leaves.asked
            return Proved(said.certificate if complete else None, transcript)
        if isinstance(said, Open):
            end = leaves.open[0].end if leaves.open else said.end
            return replace(said, end=end, transcript=transcript, denies=leaves.denies)
        return replace(said, transcript=transcript)


CLAIM_TRIAL = ClaimTrial()


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
    worker_runner().warm((name, TRIAL))
    made = _tried(worker_runner(), AttemptPlan(what, name, version, bool(document["simplification"]), limits))
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


MEMORY = 4 << 30  # bytes of address space for an attempt
TRANSCRIPT = 2000  # characters that are kept of what a backend printed


@dataclass(frozen=True)
class CompareOptions:
    """What the user chose: backends, limits of an attempt, repetitions.

    Attempts that are made `beside` others, on machines that come and go, have times of their own.
    They are not those that are made alone here, and neither are those of several `jobs` on this machine.
    With `raw`, solvers are asked about claims as they are, and never about simplified ones.
    """

    backends: tuple[str, ...]
    seconds: float = 10.0
    memory: int = MEMORY
    repeat: int = 1
    beside: bool = False
    jobs: int = 1
    raw: bool = False


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
        if False in kinds and backend.builtin and not choice.raw:
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
            for name, simplification in _ways(subject, backends, choice.raw):
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


def _ways(subject: ComparedItem, backends: Mapping[str, Backend], raw: bool) -> Iterator[tuple[str, bool]]:
    for name, backend in backends.items():
        if isinstance(subject.what, ComparedScript):
            if why_not(backend) is None:
                yield name, False
            continue
        if backend.builtin or not raw:
            yield name, True
        if not backend.builtin:
            yield name, False


def complete(attempts: Sequence[Planned], records: Mapping[str, Record]) -> list[Record]:
    """Returns the records of claims of which every attempt of one repetition has been made.

    These alone can be compared: each configuration has its answer, in time or not.
    """
    groups: dict[tuple[str, str, int, int], list[Record | None]] = defaultdict(list)
    for planned in attempts:
        about = planned.subject
        place = about.case, about.encoding, about.number, planned.record["repeat"]
        groups[place].append(records.get(identity(planned.record)))
    return [record for group in groups.values() if None not in group for record in group if record]


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
        shared = (*choice.backends, TRIAL)
        tasks = [attempt_task(_asked(planned, choice), runners.own, shared) for planned in waiting]
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
