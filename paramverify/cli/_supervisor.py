"""The supervisor: runs a command in a child process, and ends it when time or memory is over.

A call inside a library (flint, Storm) may take hours, and while it runs neither a signal handler of Python
nor a thread gets its turn. So the program forks before it has imported anything large; the child is the
command, and the parent waits. The child ends by itself at its time limit as a rule. If it does not, it is
killed with all that it started, and the parent tells what the child had reported until then (see `_output`).

- The child has a process group of its own. Ctrl-C and Ctrl-Z are passed on to it; a second Ctrl-C kills it.
- The child dies with the parent, and its zygote and attempts die with the child (see `processes.zygote`).
  What is left of them comes to the parent, which waits for it or kills it, and only then ends.
- Memory is the resident size, looked at many times a second; address space would count what libraries only
  reserve. It is that of the child alone: backends have limits of their own.
- The child asks before it prints. After that nobody ends it, so no answer is cut in two or told twice.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import inf
from types import FrameType

from paramverify import printable
from paramverify.cli import _output
from paramverify.cli._exits import Exit

AFTER = 0.5  # seconds after the time limit in which the command may end by itself
PATIENCE = 10.0  # seconds after Ctrl-C, likewise
LOOK = 0.02  # seconds between two looks at the memory
STRAYS = 0.25  # seconds for the processes of a killed command to end by themselves
CHUNK = 1 << 16

PASSED_ON = (signal.SIGINT, signal.SIGTSTP)
DEADLY = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


def supervise(arguments: Sequence[str], work: Callable[[list[str]], int]) -> int:
    """Returns the exit code of a command, which runs in a child process under its limits.

    Where the system has no `fork`, the command runs in this process. In the child this returns, too.
    """
    if not hasattr(os, "fork"):
        return work(list(arguments))
    started = time.monotonic() - time.process_time()  # loading Python took at least that
    up, down = os.pipe(), os.pipe()
    for stream in (sys.stdout, sys.stderr):
        if stream:
            stream.flush()
    parent = os.getpid()
    heard = [n for n in (*PASSED_ON, *DEADLY) if signal.getsignal(n) != signal.SIG_IGN]
    signal.pthread_sigmask(signal.SIG_BLOCK, heard)  # until both know what to do
    child = os.fork()
    if child:
        os.close(up[1])
        os.close(down[0])
        watch = _ChildWatch(child, up[0], down[1], started, "--json" in arguments)
        watch.limit(_asked(arguments))
        watch.without = _output.without_evidence(arguments)
        watch.take_signals(heard)
        return watch.run()
    os.close(up[0])
    os.close(down[1])
    os.setpgid(0, 0)
    for number in (signal.SIGTTIN, signal.SIGTTOU):
        signal.signal(number, signal.SIG_IGN)  # the terminal takes this group for one in the background
    from paramverify.processes.process_control import die_with_parent

    die_with_parent(parent)
    _output.connect(_output.SupervisorLink(up[1], down[0], started, "--json" in arguments))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, heard)
    code = work(list(arguments))
    _output.ended(code)
    return code


def _asked(arguments: Sequence[str]) -> float:
    """Returns the time limit on the command line: it holds already while the command is imported.

    What is no number there, the command itself refuses; that of `compare` is for each attempt.
    """
    found = inf
    for k, option in enumerate(arguments):
        name, equals, attached = option.partition("=")
        if name == "--timeout" and "compare" not in arguments:
            with suppress(ValueError):
                found = float(attached if equals else "".join(arguments[k + 1 : k + 2]))
    return found if found > 0 else inf


def size_text(size: int) -> str:
    """Returns a number of bytes as people write it: `4 GiB`, `500 MB`."""
    for unit, name in ((1 << 30, "GiB"), (10**9, "GB"), (1 << 20, "MiB"), (10**6, "MB")):
        if size % unit == 0:
            return f"{size // unit:,} {name}"
    return f"{size:,} bytes"


class _ChildWatch:
    """What the parent knows of the child."""

    def __init__(self, child: int, up: int, down: int, started: float, as_json: bool) -> None:
        self.child, self.up, self.down, self.started, self.as_json = child, up, down, started, as_json
        self.seconds, self.due = inf, inf  # the limit as it was given, and when it is over
        self.held = inf  # when the limit would be over, while it is held back
        self.memory = inf
        self.said = b""
        self.reports: list[bytes] = []  # what was found so far, as it came
        self.violated = ""  # the verdict once something was refuted
        self.without = ""  # what to say of evidence that is not written
        self.printing = False
        self.killing = False  # then the child may not begin to print
        self.answered = False  # whether the child came to the end of its work
        self.users = False  # whether code of the user runs
        self.interrupts: list[float] = []
        self.dying = 0  # the signal that ends this process, too
        self.wake, self.waker = os.pipe()

    def limit(self, seconds: float) -> None:
        """Sets the time limit, counted from the start of the program."""
        self.seconds = seconds
        self.due = self.started + seconds + AFTER

    # -- signals

    def take_signals(self, heard: Sequence[signal.Signals]) -> None:
        """Takes over Ctrl-C, Ctrl-Z and what ends programs, and wakes up when the child ends."""
        for end in (self.wake, self.waker):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(self.waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        handlers = {signal.SIGINT: self._interrupt, signal.SIGTSTP: self._pause}
        for number in heard:
            signal.signal(number, handlers.get(number, self._die))
        with suppress(OSError):
            os.setpgid(self.child, self.child)  # it does so, too; who is first does not matter
        signal.pthread_sigmask(signal.SIG_UNBLOCK, heard)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self.interrupts.append(time.monotonic())
        with suppress(ProcessLookupError):
            os.kill(self.child, signal.SIGINT)

    def _pause(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        with suppress(ProcessLookupError):
            os.killpg(self.child, signal.SIGSTOP)
            os.kill(os.getpid(), signal.SIGSTOP)
            os.killpg(self.child, signal.SIGCONT)

    def _die(self, number: int, frame: FrameType | None) -> None:
        del frame
        self.dying = number

    # -- watching

    def run(self) -> int:
        """Waits for the end of the child, or brings it about; returns the exit code."""
        from paramverify.processes.process_control import adopt_orphans, reap

        adopt_orphans()
        ready: list[int] = []
        ends = [self.up, self.wake]
        while True:
            if self.wake in ready:
                with suppress(BlockingIOError):
                    os.read(self.wake, CHUNK)
            if self.up in ready and not self._hear():
                ends.remove(self.up)
            ended = reap(self.child)
            if ended:
                while select.select([self.up], [], [], 0)[0] and self._hear():
                    pass
                self._sweep()
                if ended.code < 0:
                    return self._died(-ended.code, ended.memory)
                return ended.code if self.answered else self._unanswered(ended.code)
            if self.dying:
                self._kill()
                signal.signal(self.dying, signal.SIG_DFL)
                os.kill(os.getpid(), self.dying)
            code = None if self.printing else self._over()
            if code is not None:
                return code
            patience = min(LOOK, max(0.0, self.due - time.monotonic()))
            ready = select.select(ends, [], [], LOOK if self.printing else patience)[0]

    def _hear(self) -> bool:
        """Takes what the child says; false if it says no more."""
        data = os.read(self.up, CHUNK)
        *lines, self.said = (self.said + data).split(b"\n")
        for line in lines:
            word, _, content = line.partition(b" ")
            if word == b"found":
                self.reports = [line]
            elif word == b"add":
                self.reports.append(line)
            elif word == b"time":
                self.limit(float(content))
            elif word == b"step":
                self.seconds = float(content)
                self.due = time.monotonic() + self.seconds + AFTER
            elif word == b"memory":
                self.memory = int(content)
            elif word == b"users":
                self.users = content == b"true"
            elif word == b"violated":
                self.violated = content.decode().strip('"')
            elif word == b"evidence":
                self.without = ""
            elif word == b"end":
                self.answered = True
            elif word == b"lift":
                self.due = self.held = inf
            elif word == b"hold":
                self.held, self.due = min(self.held, self.due), inf
            elif word == b"resume":
                self.due, self.held = max(self.held, time.monotonic() + AFTER), inf
            elif word == b"print" and not self.killing:
                self.printing = True
                os.write(self.down, b".")
        return bool(data)

    def _over(self) -> int | None:
        """Kills the child and returns the exit code if a limit is met, or Ctrl-C has no effect."""
        now = time.monotonic()
        if len(self.interrupts) > 1 or (self.interrupts and now > self.interrupts[0] + PATIENCE):
            self._kill()
            _say("interrupted\n")
            return Exit.INTERRUPTED
        if now >= self.due:
            self._kill()
            return self._tell(f"the time limit of {self.seconds:g} s is over", "timeout")
        if self.memory < inf and _resident(self.child) > self.memory:
            self._kill()
            return self._tell(f"the memory limit of {size_text(int(self.memory))} is reached", "memory")
        return None

    # -- the end

    def _kill(self) -> None:
        """Kills the child and all that it started."""
        from paramverify.processes.process_control import kill_tree

        self.killing = True
        while select.select([self.up], [], [], 0)[0] and self._hear():
            pass
        kill_tree(self.child)
        with suppress(ChildProcessError):
            os.waitpid(self.child, 0)
        self._sweep()
        if sys.stderr and sys.stderr.isatty():
            _say("\r\x1b[2K\x1b[?25h")  # instead of a line of progress, and the cursor is back

    def _sweep(self) -> None:
        """Waits until every process of the command has ended; kills those that take too long."""
        from paramverify.processes.process_control import kill_strays

        until = time.monotonic() + STRAYS
        while time.monotonic() < until:
            try:
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    time.sleep(0.002)
            except ChildProcessError:
                return
        kill_strays(())

    def _unanswered(self, code: int) -> int:
        """Returns the exit code after a library or plugin ended the process: its own is no answer."""
        if self.interrupts:
            _say("interrupted\n")
            return Exit.INTERRUPTED
        if self.users:
            return self._tell(f"the mechanism ended the process, with the exit code {code}", "", Exit.INPUT)
        reason = f"the process of the command ended before it was done, with exit code {code}"
        return self._tell(reason, "crashed", Exit.DEFECT)

    def _died(self, number: int, memory: int) -> int:
        """Returns the exit code after a signal ended the child, and says which, and what it may mean."""
        name = signal.Signals(number).name
        if number == signal.SIGKILL:
            return self._tell(
                f"the system killed the command ({name}), probably because memory ran out", "memory"
            )
        if number == signal.SIGABRT and memory > self.memory / 2:
            return self._tell(f"a library ran out of memory and gave up ({name})", "memory")
        if number == signal.SIGXCPU:
            return self._tell(f"the system's limit on processor time is reached ({name})", "timeout")
        if number in (*DEADLY, signal.SIGINT):
            return 128 + number
        if self.users:
            return self._tell(f"the mechanism ended the process, with the signal {name}", "", Exit.INPUT)
        reason = f"the signal {name} ended the command: this is a defect, or a library ran out of memory"
        return self._tell(reason, "crashed", Exit.DEFECT)

    def _tell(self, reason: str, end: str, code: int = Exit.UNKNOWN) -> int:
        """Tells why there is no verdict, and what was found until then; returns the exit code."""
        kind = {Exit.UNKNOWN: "undecided", Exit.INPUT: "error"}.get(Exit(code), "internal error")
        status = "unknown" if code == Exit.UNKNOWN else "error"
        if self.violated and code == Exit.UNKNOWN and not self.printing:
            from paramverify.answers import Standing

            kind, status, code = self.violated, Standing.VIOLATED.value, Exit.VIOLATED
        if self.printing:
            _say(f"{kind}: {reason}\n")
            return code  # the answer was told already
        text = ""
        import json

        known = _output.CommandOutput()
        for report in self.reports:
            word, _, content = report.partition(b" ")
            told = json.loads(content)
            if not self.as_json:
                known.lines += told
            elif word == b"found":
                known.document = told
            else:
                known.document.setdefault(told[0], []).append(told[1])
        _say(f"{_output.stopped(reason, kind) if code == Exit.VIOLATED else f'{kind}: {reason}'}\n")
        if self.without and code in (Exit.UNKNOWN, Exit.VIOLATED):
            _say(f"{printable.line(self.without)}\n")
        if self.as_json:
            verdict = kind if code in (Exit.UNKNOWN, Exit.VIOLATED) else ""
            text = printable.json_text(known.answer(status, reason, end, verdict)) + "\n"
        elif known.lines:
            text = "\n".join(map(printable.line, known.lines)) + "\n"
        with suppress(OSError):
            _output.write(sys.stdout, text)
        return code


def _say(text: str) -> None:
    with suppress(OSError):
        _output.write(sys.stderr, text)


def _resident(process: int) -> int:
    """Returns the resident size of a process in bytes; 0 where the system does not tell."""
    try:
        with open(f"/proc/{process}/statm", "rb") as sizes:
            return int(sizes.read().split()[1]) * os.sysconf("SC_PAGESIZE")
    except (OSError, IndexError):
        return 0
