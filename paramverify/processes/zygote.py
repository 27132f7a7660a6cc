"""The zygote: a small process from which the processes of attempts are forked.

Forking from here costs milliseconds, because the libraries are loaded already, and it is safe, because there
is one thread only and nothing of the user's program: the user's `__main__` is never imported.

The runner sends lines of JSON over a Unix socket, and the zygote answers with lines:

    → {"start": n, "import": [modules], "memory": bytes, "cpu": seconds}    and two descriptors (see below)
    ← {"started": n, "pid": pid}      or {"refused": n, "reason": text} where no process could be made
    → {"finish": n}                   kill it now, if it is still there
    ← {"ended": n, "code": code, "cpu": seconds, "memory": bytes}           exactly once for each one started

The first descriptor is the attempt's channel: the task comes in, up to the end of input, and the answer goes
out as one line. The second takes its standard output and error. When an attempt's process ends by itself or
by `finish`, whatever it started is killed before `ended` is sent. When the runner's end of the socket closes,
for whatever reason, the zygote kills all attempts and ends; when the zygote dies, so do the attempts.
"""

from __future__ import annotations

import gc
import json
import os
import selectors
import shutil
import signal
import socket
import sys
import tempfile
import traceback
from collections import deque
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from paramverify.answers import Answer, End, Open
from paramverify.backends import asked
from paramverify.claims import from_document
from paramverify.errors import InputError, LimitError
from paramverify.processes import process_control as processes
from paramverify.processes.attempts import answer_to_document, formed, resolve

OUT_OF_MEMORY = 41  # exit codes of an attempt's process that gives no answer
FAILED = 42

MESSAGE = 1 << 16
DESCRIPTORS = 2


class Zygote:
    """The server; `serve` returns when the runner has gone and every attempt is dead."""

    def __init__(self, control: socket.socket, scratch: Path) -> None:
        self.control = control
        self.scratch = scratch  # attempts have their temporary files below it
        self.selector = selectors.DefaultSelector()
        self.wake_reader, self.wake_writer = socket.socketpair()
        self.leaders: dict[int, int] = {}  # process by number of the attempt
        self.spent: dict[int, float] = {}  # seconds of programs that were killed with an attempt
        self.received = b""
        self.descriptors: deque[int] = deque()

    def serve(self) -> None:
        """Serves until the control socket closes."""
        processes.adopt_orphans()
        sys.set_int_max_str_digits(0)  # attempts have limits of their own
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the runner's affair
        signal.signal(signal.SIGCHLD, lambda *_: None)  # so that the wake-up descriptor is written to
        self.wake_reader.setblocking(False)
        self.wake_writer.setblocking(False)
        signal.set_wakeup_fd(self.wake_writer.fileno(), warn_on_full_buffer=False)
        self.selector.register(self.control, selectors.EVENT_READ)
        self.selector.register(self.wake_reader, selectors.EVENT_READ)
        try:
            while True:
                ready = [key.fileobj for key, _ in self.selector.select()]
                if self.wake_reader in ready:
                    self.wake_reader.recv(MESSAGE)
                if self.control in ready and not self._receive():
                    return
                self._collect()
        except (BrokenPipeError, ConnectionResetError):
            return  # the runner has gone
        finally:
            self._kill_all()
            shutil.rmtree(self.scratch, ignore_errors=True)

    def _receive(self) -> bool:
        """Takes one read's worth of messages; false at the end of input."""
        data, descriptors, _, _ = socket.recv_fds(self.control, MESSAGE, 16 * DESCRIPTORS)
        self.descriptors.extend(descriptors)
        if not data:
            return False
        *lines, self.received = (self.received + data).split(b"\n")
        for line in lines:
            message = json.loads(line)
            if "start" in message:
                self._start(message)
            elif "import" in message:
                _import(message["import"])
            elif message["finish"] in self.leaders:
                leader = self.leaders[message["finish"]]
                self.spent[message["finish"]] = processes.spent_below(leader)
                processes.kill_tree(leader)
        return True

    def _send(self, message: dict[str, Any]) -> None:
        self.control.sendall(json.dumps(message).encode() + b"\n")

    def _start(self, message: dict[str, Any]) -> None:
        number: int = message["start"]
        channel, transcript = self.descriptors.popleft(), self.descriptors.popleft()
        _import(message["import"])
        scratch = self.scratch / str(number)
        parent = os.getpid()
        try:
            scratch.mkdir()
            pid = os.fork()
        except OSError as error:
            self._send({"refused": number, "reason": str(error)})
        else:
            if not pid:
                self._attempt(
                    parent,
                    channel,
                    transcript=transcript,
                    scratch=scratch,
                    memory=message["memory"],
                    cpu=message["cpu"],
                )
            self.leaders[number] = pid
            self._send({"started": number, "pid": pid})
        os.close(channel)
        os.close(transcript)

    def _attempt(
        self, parent: int, channel: int, transcript: int, scratch: Path, memory: int, cpu: int
    ) -> NoReturn:
        """Is the life of an attempt's process, which must not come back into the server's loop."""
        code = FAILED
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.setsid()
            processes.die_with_parent(parent)
            processes.adopt_orphans()
            for closed in (self.control, self.wake_reader, self.wake_writer, self.selector):
                closed.close()
            for descriptor in self.descriptors:  # of attempts that are still to be started
                os.close(descriptor)
            os.dup2(transcript, 1)
            os.dup2(transcript, 2)
            os.close(transcript)
            os.set_inheritable(channel, False)  # programs that the backend starts do not get it
            tempfile.tempdir = os.environ["TMPDIR"] = str(scratch)
            processes.limit(memory, cpu)
            work(channel)
            code = 0
        except MemoryError:
            code = OUT_OF_MEMORY
        except BaseException:  # whatever it is, it becomes part of the transcript, and the attempt has failed
            with suppress(OSError, MemoryError):
                traceback.print_exc()
        finally:
            with suppress(OSError, ValueError, MemoryError):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(code)

    def _collect(self) -> None:
        """Reports the attempts that have ended, after killing what they left behind."""
        ended = {n: end for n, pid in self.leaders.items() if (end := processes.reap(pid)) is not None}
        if not ended:
            return
        for number in ended:
            del self.leaders[number]
        processes.kill_strays(self.leaders.values())
        for number, end in ended.items():
            shutil.rmtree(self.scratch / str(number), ignore_errors=True)
            cpu = end.cpu + self.spent.pop(number, 0.0)
            self._send({"ended": number, "code": end.code, "cpu": cpu, "memory": end.memory})

    def _kill_all(self) -> None:
        for pid in self.leaders.values():
            processes.kill_tree(pid)
        processes.kill_strays(())


def work(channel: int) -> None:
    """Reads the task from the channel, has the backend decide the claim, and writes the answer."""
    with socket.socket(fileno=channel) as stream:
        with stream.makefile("rb") as incoming:
            task = json.loads(incoming.read())
        answer = _decide(task)
        for output in (sys.stdout, sys.stderr):  # the runner kills this process once it has the answer
            output.flush()
        stream.sendall(json.dumps(answer_to_document(answer)).encode() + b"\n")


def _decide(task: dict[str, Any]) -> Answer:
    try:
        backend = resolve(task["backend"])
        claim = from_document(task["claim"])
        return formed(asked(backend, claim, task["options"]), claim)
    except (InputError, LimitError) as error:
        return Open(End.GAVE_UP, str(error))
    except ImportError as error:
        return Open(End.UNAVAILABLE, str(error))


def _import(modules: list[str]) -> None:
    """Imports what attempts are going to need, if it is there; the attempt reports what is missing."""
    missing = [name for name in modules if name not in sys.modules]
    for name in missing:
        with suppress(ImportError):
            import_module(name)
    if missing:
        gc.freeze()  # keeps the collector of forked processes from touching shared pages


def main(descriptor: int, scratch: str) -> None:
    """Serves on an inherited socket; `scratch` is an empty directory, which is removed in the end."""
    with socket.socket(fileno=descriptor) as control:
        control.set_inheritable(False)
        Zygote(control, Path(scratch)).serve()
