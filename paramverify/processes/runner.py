"""The runner: starts attempts, waits for them, races them, and leaves nothing behind.

Every attempt runs in a process group of its own, forked from the zygote (see `zygote`), under limits of
wall-clock time, processor time and address space. A backend that hangs, crashes, floods its output or lies
costs at most its time limit; what it reports as a refutation is recomputed exactly before it counts as one.
"""

from __future__ import annotations

import json
import math
import os
import re
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import contains, in_words
from paramverify.answers import Answer, Decision, End, Open, Proved, Refuted
from paramverify.backends import Backend, certifies
from paramverify.claims import Claim, to_document
from paramverify.formats.refutations import fails_at
from paramverify.processes import process_control as processes
from paramverify.processes.attempts import (
    Attempt,
    AttemptLimits,
    answer_from_document,
    preloads,
    resolve,
    settings,
)
from paramverify.processes.zygote import OUT_OF_MEMORY

CHUNK = 1 << 16
TRANSCRIPT_HALF = 1 << 15  # bytes kept from each end of what an attempt prints
MAX_ANSWER = 1 << 28  # bytes
START_PATIENCE = 60.0  # seconds for the zygote to import libraries and fork
END_PATIENCE = 10.0  # seconds for the zygote to report the end of an attempt that it was told to kill

TRACEBACK = "Traceback (most recent call last)"
MEMORY_SIGNS = re.compile(r"out of memory|bad_alloc|(cannot|unable to) (re)?allocate|memoryerror", re.I)


class Transcript:
    """What an attempt printed: the beginning and the end of it, however much it was."""

    def __init__(self) -> None:
        self.head = bytearray()
        self.tail = bytearray()
        self.dropped = 0

    def add(self, data: bytes) -> None:
        """Takes the next bytes."""
        room = TRANSCRIPT_HALF - len(self.head)
        self.head += data[:room]
        self.tail += data[room:]
        excess = len(self.tail) - TRANSCRIPT_HALF
        if excess > 0:
            del self.tail[:excess]
            self.dropped += excess

    def text(self) -> str:
        """Returns the text, with a note where something is left out."""
        gap = f"\n[... {self.dropped} bytes left out ...]\n".encode() if self.dropped else b""
        return bytes(self.head + gap + self.tail).decode(errors="replace")


@dataclass(frozen=True)
class AttemptOutcome:
    """How an attempt went: the decision, and what its processes used (processor seconds, peak bytes).

    `memory` is the largest resident size of one process, shared libraries included; both are 0 where
    no process was started or its end was not seen.
    """

    decision: Decision
    cpu: float = 0.0
    memory: int = 0


class Running:
    """An attempt that was started; `outcome` is None until it has ended."""

    def __init__(
        self, attempt: Attempt, limits: AttemptLimits, version: str, options: Mapping[str, str]
    ) -> None:
        self.attempt = attempt
        self.limits = limits
        self.outcome: AttemptOutcome | None = None
        self.number = 0
        self.pid = 0  # of the attempt's own process, once it exists
        self.channel: socket.socket | None = None
        self.output = -1  # the runner's end of the transcript pipe
        self.stopping = False  # whether only the end of its processes is waited for
        self._version = version
        self._options = options
        self._task = memoryview(b"")
        self._answer = bytearray()
        self._transcript = Transcript()
        self._cause: Open | None = None  # set where the runner ends the attempt
        self._since = time.monotonic()  # when the present stage began: asked for, running, stopping
        self._seconds = 0.0

    @property
    def decision(self) -> Decision | None:
        """The decision, once the attempt has ended."""
        return self.outcome.decision if self.outcome else None

    def connect(self, number: int, channel: socket.socket, output: int, task: bytes) -> None:
        """Gives it the runner's ends of its pipes, and the task to be sent."""
        channel.setblocking(False)
        os.set_blocking(output, False)
        self.number, self.channel, self.output = number, channel, output
        self._task = memoryview(task)

    def began(self, pid: int) -> None:
        """Notes that the attempt's process exists; from now on its time runs."""
        self.pid = pid
        if not self.stopping:
            self._since = time.monotonic()

    def due(self) -> float:
        """Returns the moment (monotonic) at which the present stage must be over."""
        if self.stopping:
            return self._since + END_PATIENCE
        return self._since + (self.limits.seconds if self.pid else START_PATIENCE)

    def stop(self, cause: Open | None) -> None:
        """Notes that the attempt is to end, for a reason, or None because the answer is there."""
        if not self.stopping:
            now = time.monotonic()
            self._seconds = now - self._since if self.pid or cause is None else 0.0
            self._cause, self.stopping, self._since = cause, True, now

    def send(self) -> bool:
        """Sends more of the task; true once there is no more to send, or nobody to read it."""
        assert self.channel
        try:
            while self._task:
                self._task = self._task[self.channel.send(self._task[:CHUNK]) :]
            self.channel.shutdown(socket.SHUT_WR)
        except BlockingIOError:
            return False
        except OSError:  # the process has died; its end is going to be reported
            pass
        return True

    def receive(self) -> bool:
        """Takes a piece of the answer; false if there is none now."""
        assert self.channel
        try:
            data = self.channel.recv(CHUNK)
        except OSError:  # nothing there, or the process has died
            return False
        if not self.stopping:  # what comes after the end was decided is too late
            self._answer += data
            if data.endswith(b"\n"):
                self.stop(None)
            elif len(self._answer) > MAX_ANSWER:
                self.stop(Open(End.MEMORY, f"the answer has more than {MAX_ANSWER} bytes"))
        return bool(data)

    def listen(self) -> bool:
        """Takes a piece of what it prints; false if there is none now."""
        try:
            data = os.read(self.output, CHUNK)
        except BlockingIOError:
            return False
        self._transcript.add(data)
        return bool(data)

    def conclude(self, code: int | None, cpu: float = 0.0, memory: int = 0, lost: str = "") -> None:
        """Settles the outcome from the return code of its process or, where that is not known, why."""
        if code is not None:  # everyone who could write is dead, so that both loops end
            while self.receive():
                pass
            while self.listen():
                pass
        self.stop(None)
        answer = self._cause or self._interpret(code, memory, lost)
        parts = (answer.transcript, self._transcript.text())
        self.settle(replace(answer, transcript="\n".join(filter(None, parts))), cpu, memory)

    def settle(self, answer: Answer, cpu: float = 0.0, memory: int = 0) -> None:
        """Sets the outcome and closes the pipes."""
        self.close()
        name = self.attempt.backend
        self.outcome = AttemptOutcome(
            Decision(answer, name, self._version, self._options, self._seconds), cpu, memory
        )

    def close(self) -> None:
        """Closes the runner's ends of the pipes."""
        if self.channel:
            self.channel.close()
            os.close(self.output)
            self.channel = None

    def _interpret(self, code: int | None, memory: int, lost: str) -> Answer:
        if self._answer.endswith(b"\n"):
            try:
                return checked(answer_from_document(json.loads(self._answer)), self.attempt.claim)
            except ValueError as error:
                return Open(End.CRASHED, f"the answer cannot be read: {error}")
        if code is None:
            return Open(End.CRASHED, lost)
        if code == -signal.SIGXCPU:
            return Open(End.TIMEOUT, "its processor time was used up")
        # Libraries that cannot get memory abort, run into a segmentation fault, or raise errors of their own;
        # a kill that was not ours comes from the system when memory is short.
        if code == OUT_OF_MEMORY or (
            code != 0 and (MEMORY_SIGNS.search(self._transcript.text()) or 2 * memory > self.limits.memory)
        ):
            return Open(End.MEMORY, f"needed more than {self.limits.memory / (1 << 20):.0f} MiB")
        if code < 0:
            return Open(End.CRASHED, f"its process died of {signal.Signals(-code).name}")
        told = self._transcript.text()
        if TRACEBACK in told:
            *_, last = told.rstrip().splitlines()
            return Open(End.CRASHED, f"it ended with an error: {last:.200}")
        return Open(End.CRASHED, f"its process ended without an answer, exit status {code}")


def checked(answer: Answer, claim: Claim) -> Answer:
    """Returns the answer, or `Open` for a refutation whose point does not violate the claim exactly.

    Nothing here trusts the backend: membership and value are recomputed exactly on the runner's own claim.
    The constant `E` is an ordinary variable where the box has an interval for it, otherwise the number it is.
    """
    if not isinstance(answer, Refuted):
        return answer
    domain = claim.domain
    as_number = (domain.constant is not None and GENERATOR not in domain.box) or bool(domain.ring.tied)
    needed = set(domain.ring.parameters if as_number else domain.ring.names)
    shown = in_words(answer.point)[:500]
    if not needed <= set(answer.point):
        reason = f"the model has no value for some parameter: {shown}"
    elif not (contains(domain, answer.point) if as_number else answer.point in domain):
        reason = f"the model does not violate the claim: outside the domain at {shown}"
    elif not fails_at(claim, answer.point) if as_number else claim.holds_at(answer.point):
        reason = f"the model does not violate the claim at {shown}"
    else:
        return replace(answer, point={n: answer.point[n] for n in domain.ring.names if n in needed})
    return Open(End.GAVE_UP, reason, answer.transcript)


def is_decided(decision: Decision) -> bool:
    """Tells whether the answer settles the claim."""
    return isinstance(decision.answer, (Proved, Refuted))


__all__ = ["Attempt", "AttemptLimits", "AttemptOutcome", "Runner", "Running"]

A_CENTURY = 3.2e9  # seconds; stands for no limit of processor time
READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE

BOOTSTRAP = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from paramverify.processes.zygote import main; main(int(sys.argv[2]), sys.argv[3])"
)


class Runner:
    """Runs attempts in killable processes; a context manager, to be used from one thread.

    One runner per program is normal: its zygote is started on first use, or earlier by `warm`, and serves
    until `close`. If this process dies, however it dies, all attempts are killed.
    """

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._zygote: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._received = b""
        self._scratch = ""
        self._active: dict[int, Running] = {}
        self._numbers = 0
        self._known: dict[str, tuple[Backend, str | None, list[str]]] = {}

    def __enter__(self) -> Runner:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def abandon(self) -> None:
        """Ends all attempts, from any thread: the thread that waits for them hears that they are lost."""
        if self._zygote:
            self._zygote.kill()

    def close(self) -> None:
        """Kills every attempt and the zygote; running attempts end as interrupted."""
        for running in self._active.values():
            running.stop(Open(End.INTERRUPTED, "the runner was closed"))
        self._drop_zygote(gently=bool(self._active))
        self._selector.close()

    def warm(self, backends: Iterable[str] = ()) -> None:
        """Starts the zygote, and has it load the libraries of the given backends, without waiting for it."""
        self._ensure_zygote()
        modules = [module for name in backends for module in self._backend(name)[2]]
        if modules and self._control:
            self._post({"import": modules})

    def start(self, attempt: Attempt, limits: AttemptLimits) -> Running:
        """Starts an attempt without waiting for it.

        Where the backend is missing on this machine the attempt has ended already, as unavailable.

        Raises:
            InputError: the backend is unknown.
        """
        backend, version, modules = self._backend(attempt.backend)
        options = settings(backend, attempt.options, attempt.backend)
        running = Running(attempt, limits, version or "", options)
        if version is None:
            running.settle(
                Open(End.UNAVAILABLE, f"{attempt.backend} is missing; to get it: {backend.install}")
            )
            return running
        document = {"backend": attempt.backend, "claim": to_document(attempt.claim), "options": options}
        task = json.dumps(document).encode()
        request = {
            "import": modules,
            "memory": limits.memory,
            "cpu": math.ceil(min(limits.seconds, A_CENTURY)) + 1,
        }
        if not (self._launch(running, task, request) or self._launch(running, task, request)):
            running.settle(Open(End.CRASHED, "the process that starts attempts is not running"))
        return running

    def wait(self, runnings: Sequence[Running], timeout: float | None = None) -> list[Running]:
        """Returns those that have ended, as soon as there is one, or none when `timeout` seconds are over."""
        until = math.inf if timeout is None else time.monotonic() + timeout
        ended = [r for r in runnings if r.outcome]
        while runnings and not ended:
            self._step(max(0.0, until - time.monotonic()))
            ended = [r for r in runnings if r.outcome]
            if time.monotonic() >= until:
                break
        return ended

    def cancel(self, runnings: Iterable[Running], reason: str) -> None:
        """Kills attempts; when this returns, they have ended, as interrupted if they had not before."""
        stopped = [r for r in runnings if not r.outcome]
        for running in stopped:
            if not running.stopping:
                self._stop(running, Open(End.INTERRUPTED, reason))
        while any(not r.outcome for r in stopped):
            self._step(math.inf)

    def run(self, attempt: Attempt, limits: AttemptLimits) -> Decision:
        """Runs one attempt to its end."""
        return self.trial(attempt, limits).decision

    def trial(self, attempt: Attempt, limits: AttemptLimits) -> AttemptOutcome:
        """Runs one attempt to its end, and says what it used."""
        running = self.start(attempt, limits)
        try:
            while not running.outcome:
                self._step(math.inf)
        finally:
            self.cancel([running], "interrupted")
        return running.outcome

    def race(
        self,
        attempts: Sequence[Attempt],
        limits: AttemptLimits,
        until: Callable[[Decision], bool] | None = None,
        width: int | None = None,
        turn: float = math.inf,
        alone: float = 0.0,
        evidence: Callable[[float], float] | None = None,
    ) -> list[Decision]:
        """Runs attempts side by side and stops them all at the first decision that `until` accepts.

        At first `width` run at a time (as many as there are processors), in the order given: `alone` seconds
        long, for more would only slow them down. Then one more joins each time that `turn` seconds have
        passed: so none has to wait until those before it give up. The seconds of `limits` are those of the
        whole race: who starts later has what is left. `until` sees each decision once, as it comes; without
        it, any proof or refutation ends the race. Returns one decision for each attempt; an attempt that was
        stopped, or never started, is interrupted. An answer that was complete when the race ended is kept, so
        that a contradiction can be seen. Where a race has ended with a word and no certificate, after s
        seconds, those that certify go on for `evidence(s)` seconds at most; those that have not started do so
        if that is more than a turn.
        """
        enough = until or is_decided
        width = width or os.cpu_count() or 1
        # Those that start together do so by how much has to be loaded: one import holds up the next start.
        first = sorted(attempts[:width], key=lambda a: len(self._backend(a.backend)[2]))
        queue = [*first, *attempts[width:]]
        runnings: list[Running] = []
        pending: list[Running] = []
        over = False
        began = time.monotonic()

        def own() -> AttemptLimits | None:
            if len(runnings) < width:
                return limits
            left = round(began + limits.seconds - time.monotonic(), 2)
            return replace(limits, seconds=left) if left > 0 else None

        try:
            while not over and (pending or (len(runnings) < len(attempts) and own())):
                turns = max(0, int((time.monotonic() - began - alone) / turn))
                while len(pending) < width + turns and len(runnings) < len(attempts) and (share := own()):
                    running = self.start(queue[len(runnings)], share)
                    runnings.append(running)
                    pending.append(running)
                next_turn = began + alone + (turns + 1) * turn - time.monotonic()
                waiting = len(runnings) < len(attempts) and turn < math.inf
                for ended in self.wait(pending, max(0.0, next_turn) if waiting else None):
                    pending.remove(ended)
                    assert ended.decision
                    over = enough(ended.decision) or over
            if over and evidence and _word_only(runnings):
                seconds = evidence(time.monotonic() - began)
                self.cancel([r for r in pending if not _certifies(r.attempt)], "another backend was faster")
                for attempt in [a for a in queue[len(runnings) :] if _certifies(a)] if seconds > turn else []:
                    runnings.append(self.start(attempt, limits))
                self._await_certificate([r for r in runnings if not r.outcome], seconds)
        finally:
            self.cancel(runnings, "another backend was faster" if over else "interrupted")
        return _decisions(attempts, runnings, over)

    def _await_certificate(self, runnings: Sequence[Running], seconds: float) -> None:
        """Waits until one of these attempts has decided, all have ended, or the time is over."""
        until = time.monotonic() + seconds
        left = list(runnings)
        while left and time.monotonic() < until:
            ended = self.wait(left, until - time.monotonic())
            if any(r.decision and is_decided(r.decision) for r in ended):
                break
            left = [r for r in left if r not in ended]

    def _backend(self, name: str) -> tuple[Backend, str | None, list[str]]:
        """Returns a backend, its version and what to preload, looked up once per runner."""
        if name not in self._known:
            found = resolve(name)
            self._known[name] = (found, found.version(), preloads(name, found))
        return self._known[name]

    # -- the zygote

    def _ensure_zygote(self) -> None:
        if self._zygote and self._zygote.poll() is not None:
            self._drop_zygote()
        if self._zygote:
            return
        self._scratch = tempfile.mkdtemp(prefix="paramverify-")
        ours, theirs = socket.socketpair()
        with theirs:
            # The module search path is handed over as it is; `-P` keeps the working directory out of it.
            command = [sys.executable, "-P", "-c", BOOTSTRAP]
            command += [json.dumps(sys.path), str(theirs.fileno()), self._scratch]
            self._zygote = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # so that numpy starts no threads there
                start_new_session=True,  # a Ctrl-C at the terminal reaches this process only
            )
        self._control, self._received = ours, b""
        self._selector.register(ours, READ, None)

    def _drop_zygote(self, gently: bool = False) -> None:
        """Ends the zygote and every attempt, and settles those attempts."""
        if not (self._zygote and self._control):
            return
        self._selector.unregister(self._control)
        self._control.close()  # which tells the zygote to kill all attempts and to end
        with suppress(subprocess.TimeoutExpired):
            self._zygote.wait(END_PATIENCE if gently else 0.0)
        self._zygote.kill()
        lost = f"the process that starts attempts ended, exit status {self._zygote.wait()}"
        self._zygote = self._control = None
        for running in list(self._active.values()):
            # An attempt's own process dies with the zygote; this is for those that it has started.
            if running.pid:
                processes.kill_group(running.pid)
            self._forget(running)
            running.conclude(None, lost=lost)
        shutil.rmtree(self._scratch, ignore_errors=True)

    def _post(self, message: dict[str, Any], descriptors: Sequence[int] = ()) -> bool:
        """Sends a message to the zygote; false if it has died."""
        if not self._control:
            return False
        data = json.dumps(message).encode() + b"\n"
        try:
            if descriptors:
                sent = socket.send_fds(self._control, [data], list(descriptors))
                data = data[sent:]
            self._control.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            return False
        return True

    # -- one attempt

    def _launch(self, running: Running, task: bytes, request: dict[str, Any]) -> bool:
        """Asks the zygote for a process; false if the zygote has died."""
        self._ensure_zygote()
        self._numbers += 1
        ours, theirs = socket.socketpair()
        reader, writer = os.pipe()
        running.connect(self._numbers, ours, reader, task)
        posted = self._post({"start": self._numbers, **request}, [theirs.fileno(), writer])
        theirs.close()
        os.close(writer)
        if not posted:
            running.close()
            self._drop_zygote()
            return False
        self._active[self._numbers] = running
        self._selector.register(ours, READ if running.send() else READ | WRITE, running)
        self._selector.register(reader, READ, running)
        return True

    def _stop(self, running: Running, cause: Open) -> None:
        """Ends an attempt for a reason, unless its answer has come in."""
        while not running.stopping and running.receive():
            pass
        running.stop(cause)
        self._post({"finish": running.number})

    def _forget(self, running: Running) -> None:
        """Takes an attempt out of the loop."""
        del self._active[running.number]
        assert running.channel
        for end in (running.channel, running.output):
            with suppress(KeyError):  # at its end already
                self._selector.unregister(end)

    # -- the loop

    def _step(self, timeout: float) -> None:
        """Waits for events, at most until `timeout` seconds or a limit are over, and handles them."""
        due = min((r.due() for r in self._active.values()), default=math.inf) - time.monotonic()
        patience = min(due, timeout)
        for key, mask in self._selector.select(None if patience == math.inf else max(0.0, patience)):
            if key.data is None:
                self._hear()
            elif key.data.number in self._active:
                self._serve(key.data, key.fileobj, mask)
        now = time.monotonic()
        for running in list(self._active.values()):
            if running.due() > now:
                continue
            if running.stopping or not running.pid:
                self._drop_zygote()  # it does not react
                return
            self._stop(running, Open(End.TIMEOUT, f"no answer within {running.limits.seconds:g} s"))

    def _serve(self, running: Running, end: object, mask: int) -> None:
        """Moves bytes over the pipes of one attempt."""
        assert running.channel
        if end is not running.channel:
            if not running.listen():
                self._selector.unregister(running.output)
            return
        if mask & WRITE and running.send():
            self._selector.modify(running.channel, READ, running)
        if mask & READ:
            was_stopping = running.stopping
            if not running.receive():
                self._selector.unregister(running.channel)
            if running.stopping and not was_stopping:
                self._post({"finish": running.number})

    def _hear(self) -> None:
        """Takes what the zygote reports."""
        assert self._control
        try:
            data = self._control.recv(1 << 16)
        except ConnectionResetError:
            data = b""
        if not data:
            self._drop_zygote()
            return
        *lines, self._received = (self._received + data).split(b"\n")
        for line in lines:
            report = json.loads(line)
            if "started" in report:
                self._active[report["started"]].began(report["pid"])
            elif "refused" in report:
                running = self._active[report["refused"]]
                self._forget(running)
                running.conclude(None, lost=f"no process could be started: {report['reason']}")
            else:
                running = self._active[report["ended"]]
                self._forget(running)
                running.conclude(report["code"], report["cpu"], report["memory"])


def _decisions(attempts: Sequence[Attempt], runnings: Sequence[Running], over: bool) -> list[Decision]:
    """Returns the decision of each attempt, in their order."""
    unstarted = Open(End.TIMEOUT, "no time was left to ask it")
    if over:
        unstarted = Open(End.INTERRUPTED, "another backend was faster")
    made = {id(r.attempt): r.decision for r in runnings}
    return [made.get(id(a)) or Decision(unstarted, a.backend) for a in attempts]


def _word_only(runnings: Sequence[Running]) -> bool:
    """Tells whether a race has proofs, and none by a procedure that gives certificates."""
    proved = [r for r in runnings if r.decision and isinstance(r.decision.answer, Proved)]
    return bool(proved) and not any(_certifies(r.attempt) for r in proved)


def _certifies(attempt: Attempt) -> bool:
    """Tells whether an attempt may give a certificate."""
    return certifies(resolve(attempt.backend))
