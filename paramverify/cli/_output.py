"""What a command prints, and what it knows so far: one answer at the end, or what was found until a limit.

Standard output is held back while a command runs and is written at once when it has ended, so a run that is
stopped has never printed half an answer. Beside it a command keeps what it has found so far (`found`, `add`);
this is told when a limit ends the run. Where a supervisor watches over the process (see `_supervisor`), it
gets everything as it comes, because it may have to tell it after this process was killed.
"""

from __future__ import annotations

import io
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, TextIO

SO_FAR = "so_far"  # key of a JSON answer without a verdict: what was found until a limit ended the run


class CommandOutput:
    """What a command has found so far: lines for people, and the same as JSON data."""

    def __init__(self) -> None:  # no dataclass: importing `dataclasses` would make `--help` slower
        self.lines: list[str] = []
        self.document: dict[str, Any] = {}
        self.violated = ""  # the verdict once something was refuted, which no limit takes back
        self.evidence = False  # whether it is in the file that the user named

    def found(self, lines: Sequence[str], document: Mapping[str, Any]) -> None:
        """Takes this instead of what was known before."""
        self.lines, self.document = list(lines), dict(document)

    def add(self, key: str, entry: Any, lines: Sequence[str]) -> None:
        """Takes one more entry of a list."""
        self.lines += lines
        self.document.setdefault(key, []).append(entry)

    def answer(self, status: str, reason: str, end: str = "", verdict: str = "") -> dict[str, Any]:
        """Returns a JSON answer of a run that did not end, with what is known."""
        answer: dict[str, Any] = {"status": status, **({"verdict": verdict} if verdict else {})}
        answer["reason"] = reason
        if end:
            answer["end"] = end
        return answer | ({SO_FAR: self.document} if self.document else {})


class SupervisorLink(NamedTuple):
    """The way to the supervisor: lines go up, and one byte comes down when printing is allowed."""

    up: int
    down: int
    started: float  # of the program, by the monotonic clock
    as_json: bool

    def send(self, word: str, content: object = None) -> None:
        """Sends one line; a supervisor that has gone takes this process with it."""
        import json

        data = f"{word} {json.dumps(content)}\n".encode()
        with suppress(OSError):
            while data:
                data = data[os.write(self.up, data) :]


known = CommandOutput()
_link: SupervisorLink | None = None
_held: _Held | None = None


def connect(link: SupervisorLink) -> None:
    """Says that a supervisor watches over this process."""
    global _link
    _link = link


# --- limits -----------------------------------------------------------------------------------------


def limit_time(seconds: float) -> None:
    """Tells the supervisor the time limit, counted from the start of the program."""
    _send("time", seconds)


def limit_step(seconds: float) -> None:
    """Tells the supervisor that what is done now has to end within some seconds."""
    _send("step", seconds)


def limit_memory(size: int) -> None:
    """Tells the supervisor the memory limit in bytes."""
    _send("memory", size)


def ended(code: int) -> None:
    """Tells the supervisor that the work is done, and with which exit code."""
    _send("end", code)


def lift() -> None:
    """Ends the time limit: the answer is known, and the files that the user named are written."""
    _send("lift")


def hold() -> None:
    """Holds the time limit back: a file is being written."""
    _send("hold")


def resume() -> None:
    """Tells that the file is there: the time limit counts again, with some time to end by itself."""
    _send("resume")


def remaining(seconds: float) -> float:
    """Returns what is left of a time limit, counted from the start of the program where that is known."""
    return max(0.01, seconds - (time.monotonic() - _link.started)) if _link else seconds


def runs_users_code(running: bool) -> None:
    """Tells the supervisor that code of the user runs now, or no more: it may end this process."""
    _send("users", running)


def _send(word: str, content: object = None) -> None:
    if _link:
        _link.send(word, content)


# --- what is known so far ---------------------------------------------------------------------------


def found(lines: Sequence[str], document: Mapping[str, Any]) -> None:
    """Keeps what is known so far, instead of what was known before."""
    known.found(lines, document)
    if _link:
        _link.send("found", document if _link.as_json else list(lines))


def add(key: str, entry: Any, *lines: str) -> None:
    """Keeps one more entry of what is known so far."""
    known.add(key, entry, lines)
    if _link and (_link.as_json or lines):
        _link.send("add", [key, entry] if _link.as_json else list(lines))


def violated(word: str) -> None:
    """Keeps that something was refuted: this word stays the verdict when a limit ends the run."""
    known.violated = word
    _send("violated", word)


def evidence_written() -> None:
    """Keeps that the evidence is in its file."""
    known.evidence = True
    _send("evidence")


def without_evidence(arguments: Sequence[str]) -> str:
    """Returns what to say if the file of `--evidence` is not written when a limit ends the run; or ""."""
    for k, option in enumerate(arguments):
        name, equals, attached = option.partition("=")
        if name == "--evidence" and (path := attached if equals else "".join(arguments[k + 1 : k + 2])):
            return f"No evidence was written to {path}."
    return ""


def stopped(reason: str, verdict: str) -> str:
    """Returns the message of a run that a limit ended when the verdict was known."""
    return f"stopped: {reason}. The verdict was known before: {verdict}"


# --- printing ---------------------------------------------------------------------------------------


class _Held:
    """Takes the place of standard output."""

    def __init__(self, real: TextIO) -> None:
        self.real = real
        self.content = _Bytes(real)
        errors = getattr(real, "errors", None) or "strict"
        self.stream = io.TextIOWrapper(
            self.content, encoding=real.encoding or "utf-8", errors=errors, write_through=True
        )

    def take(self) -> str:
        """Returns what was printed since the last time."""
        data = self.content.getvalue()
        self.content.seek(0)
        self.content.truncate()
        return data.decode(self.stream.encoding, self.stream.errors or "strict")


class _Bytes(io.BytesIO):
    """Bytes in memory that look like a terminal where the real output is one."""

    def __init__(self, real: TextIO) -> None:
        super().__init__()
        self._real = real

    def isatty(self) -> bool:
        return self._real.isatty()


@contextmanager
def held() -> Iterator[None]:
    """Holds back standard output; what is left is written in the end."""
    global _held, known
    known = CommandOutput()
    if sys.stdout is None:
        yield
        return
    before, _held = _held, _Held(sys.stdout)
    sys.stdout = _held.stream
    try:
        yield
    finally:
        with suppress(OSError):
            release()
        sys.stdout, _held = _held.real, before


def release() -> None:
    """Writes what is held back, once the supervisor, if there is one, has left the telling to this process.

    Raises:
        OSError: the output cannot be written; what is left of it is lost.
    """
    if _held is None or not (text := _held.take()):
        return
    tell()
    write(_held.real, text)


def tell() -> None:
    """Waits until the supervisor, if there is one, has left the telling to this process."""
    if _link:
        _link.send("print")
        os.read(_link.down, 1)


def discard() -> None:
    """Forgets what is held back."""
    if _held:
        _held.take()


def write(stream: TextIO | None, text: str) -> None:
    """Writes a text at once; a stream that was closed before the start is none.

    Raises:
        OSError: it cannot be written. Then the stream leads nowhere, so that Python does not try again.
    """
    if stream is None:
        return
    try:
        stream.write(text)
        stream.flush()
    except OSError:
        silence(stream)
        raise


def silence(stream: TextIO) -> None:
    """Sends what a stream still holds to nowhere, or Python would complain about it at its end."""
    with suppress(OSError, ValueError):  # a stream that is no file has nothing to lose
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
