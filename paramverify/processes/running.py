"""One attempt as the runner sees it: what came over its pipes, and what that means in the end."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.points import contains, in_words
from paramverify.answers import Answer, Decision, End, Open, Proved, Refuted
from paramverify.claims import Claim
from paramverify.formats.refutations import fails_at
from paramverify.processes.answers import answer_from_document
from paramverify.processes.attempts import Attempt, AttemptLimits
from paramverify.processes.zygote import OUT_OF_MEMORY

CHUNK = 1 << 16
TRANSCRIPT_HALF = 1 << 15  # bytes kept from each end of what an attempt prints
MAX_ANSWER = 1 << 28  # bytes
START_PATIENCE = 60.0  # seconds for the zygote to import libraries and fork
END_PATIENCE = 10.0  # seconds for the zygote to report the end of an attempt that it was told to kill

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
        reason = f"the model does not give a value to each parameter: {shown}"
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
