"""Programs that backends run: found on this machine, fed, listened to, and told apart by how they end.

In an attempt of the portfolio a program belongs to the attempt's process group and has its limits, so nothing
is limited here unless the caller asks for it.
"""

from __future__ import annotations

import os
import re
import resource
import selectors
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from paramverify.answers import End, Open

CHUNK = 1 << 16
POLL = 0.2  # seconds between looks at whether a silent program has ended
MAX_OUTPUT = 1 << 26  # bytes on standard output; no answer is so long
MAX_ERRORS = 1 << 15  # bytes kept of the end of standard error
MAX_TRANSCRIPT = 1 << 16  # characters kept of what a program printed
MEMORY_SIGNS = re.compile(
    r"out of memory|bad_alloc|memoryerror|memory exhausted|(cannot|unable to) (re)?allocate", re.IGNORECASE
)


@dataclass(frozen=True)
class Finished:
    """How a program ended: exit status (negative for a signal), what it printed, peak memory in bytes.

    `cut` says why it was killed, if it was.
    """

    code: int
    output: str
    errors: str = ""
    memory: int = 0
    cut: Open | None = None

    @property
    def transcript(self) -> str:
        """What it printed, without the middle where that is very long."""
        return "\n".join(_shortened(text.strip()) for text in (self.output, self.errors) if text.strip())

    def failure(self) -> Open | None:
        """Returns why nothing that it printed counts, or None for a program that ended with status 0."""
        if self.cut or self.code == 0:
            return self.cut
        if self.code == -signal.SIGXCPU:
            return Open(End.TIMEOUT, "its processor time was used up", self.transcript)
        bound, _ = resource.getrlimit(resource.RLIMIT_AS)
        # Some programs do not say so when they get no memory, but run into a segmentation fault.
        scarce = self.code < 0 and bound != resource.RLIM_INFINITY and 2 * self.memory > bound
        if scarce or MEMORY_SIGNS.search(self.transcript):
            return Open(End.MEMORY, "the program ran out of memory", self.transcript)
        if self.code < 0:
            detail = f"the program died of {signal.Signals(-self.code).name}"
        else:
            detail = f"the program ended with exit status {self.code}"
        return Open(End.CRASHED, detail, self.transcript)


def _shortened(text: str) -> str:
    if len(text) <= MAX_TRANSCRIPT:
        return text
    half = MAX_TRANSCRIPT // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}"


def find(name: str) -> str | None:
    """Returns the path of a program: beside this Python, where its packages put programs, or on PATH."""
    scripts = Path(sysconfig.get_path("scripts")) / name
    return str(scripts) if os.access(scripts, os.X_OK) and scripts.is_file() else shutil.which(name)


@lru_cache
def banner(command: tuple[str, ...], environment: tuple[tuple[str, str], ...] = (), text: str = "") -> str:
    """Returns what a program prints when asked for its version; empty where it cannot be run."""
    try:
        return run(command, text, environment=dict(environment), seconds=10).output
    except OSError:
        return ""


def run(
    command: Sequence[str],
    text: str,
    *,
    reply: Callable[[str], str] | None = None,
    environment: Mapping[str, str] | None = None,
    seconds: float | None = None,
    memory: int | None = None,
) -> Finished:
    """Runs a program on a text, which it reads from standard input, until it ends.

    With `reply`, its input stays open until its first whole line of output, for which that function gives
    the rest of the text. `seconds` and `memory` (bytes of address space) are limits for a program that is
    not run in an attempt; it then has a process group of its own, which is killed at the limit.

    Raises:
        OSError: the program cannot be started.
    """
    limited = seconds is not None or memory is not None
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **environment} if environment else None,
        process_group=0 if limited else None,
    ) as process:
        talk = _Talk(process, text.encode(), reply)
        cut: Open | None = Open(End.INTERRUPTED)  # Ctrl-C too must not leave the program behind
        try:
            if memory is not None and sys.platform.startswith("linux"):
                with suppress(ProcessLookupError):
                    resource.prlimit(process.pid, resource.RLIMIT_AS, (memory, memory))
            cut = talk.run(None if seconds is None else time.monotonic() + seconds)
        finally:
            if cut and process.returncode is None:
                with suppress(ProcessLookupError, PermissionError):
                    (os.killpg if limited else os.kill)(process.pid, signal.SIGKILL)
                talk.collect(0)
    return Finished(process.returncode, *talk.printed(), talk.memory, cut)


class _Talk:
    """The bytes to and from one program, until it ends."""

    def __init__(
        self, process: subprocess.Popen[bytes], text: bytes, reply: Callable[[str], str] | None
    ) -> None:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        self.process = process
        self.input, self.output, self.errors = process.stdin, process.stdout, process.stderr
        self.pending = memoryview(text)
        self.reply = reply
        self.said = bytearray()
        self.complained = bytearray()
        self.memory = 0

    def run(self, until: float | None) -> Open | None:
        """Moves bytes until the program has ended; returns why it is to be killed before that."""
        with selectors.DefaultSelector() as selector:
            for stream in (self.input, self.output, self.errors):
                os.set_blocking(stream.fileno(), False)
            selector.register(self.output, selectors.EVENT_READ)
            selector.register(self.errors, selectors.EVENT_READ)
            selector.register(self.input, selectors.EVENT_WRITE)
            reading = 2
            while reading:
                if until is not None and time.monotonic() >= until:
                    return Open(End.TIMEOUT, "the time limit is over", self.printed()[0])
                left = POLL if until is None else min(POLL, until - time.monotonic())
                events = selector.select(max(0.0, left))
                # Others may hold its outputs open after its end.
                if not events and self.collect():
                    break
                for key, _ in events:
                    if key.fileobj is self.input:
                        self._write(selector)
                    elif not self._read(key.fileobj is self.output):
                        selector.unregister(key.fileobj)
                        reading -= 1
                if len(self.said) > MAX_OUTPUT:
                    return Open(End.GAVE_UP, f"the program printed more than {MAX_OUTPUT} bytes")
                self._answer(selector)
        while not self.collect(0 if until is None else os.WNOHANG):
            if until is not None and time.monotonic() >= until:
                return Open(End.TIMEOUT, "the program did not end", self.printed()[0])
            time.sleep(0.001)
        return None

    def collect(self, flags: int = os.WNOHANG) -> bool:
        """Notes how the program ended; tells whether it has."""
        if self.process.returncode is None:
            done, status, usage = os.wait4(self.process.pid, flags)
            if not done:
                return False
            self.process.returncode = os.waitstatus_to_exitcode(status)
            self.memory = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        return True

    def _write(self, selector: selectors.BaseSelector) -> None:
        """Sends more of the text, and closes the program's input at the end."""
        try:
            if self.pending:
                self.pending = self.pending[os.write(self.input.fileno(), self.pending[:CHUNK]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:  # it does not read on; what it has printed tells
            self.pending, self.reply = memoryview(b""), None
        if not self.pending:
            selector.unregister(self.input)
            if self.reply is None:
                self.input.close()

    def _answer(self, selector: selectors.BaseSelector) -> None:
        """Gives the reply once the whole text is written and a line has come."""
        if self.reply is None or self.pending or b"\n" not in self.said:
            return
        line = bytes(self.said).partition(b"\n")[0].decode(errors="replace")
        self.pending = memoryview(self.reply(line).encode())
        self.reply = None
        selector.register(self.input, selectors.EVENT_WRITE)

    def _read(self, from_output: bool) -> bool:
        """Takes what has come from one of the outputs; false at its end."""
        stream, kept = (self.output, self.said) if from_output else (self.errors, self.complained)
        data = os.read(stream.fileno(), CHUNK)
        kept += data
        if not from_output:
            del kept[:-MAX_ERRORS]
        return bool(data)

    def printed(self) -> tuple[str, str]:
        """Returns what came on standard output, and the end of what came on standard error."""
        return self.said.decode(errors="replace"), self.complained.decode(errors="replace")
