"""Running the program as a process of its own, and finding the processes that it leaves behind."""

import os
import subprocess
import sys
import time
from pathlib import Path

PATIENCE = 60  # seconds after which a run that hangs fails its test


def mark(number: int | str) -> dict[str, str]:
    """Returns an environment whose processes `marked` finds."""
    return {**os.environ, "PARAMVERIFY_TEST_MARK": f"{os.getpid()}-{number}"}


def marked(environment: dict[str, str]) -> list[int]:
    """Returns the processes that were started with this environment."""
    words = f"PARAMVERIFY_TEST_MARK={environment['PARAMVERIFY_TEST_MARK']}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and words in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue  # it ended, or belongs to somebody else
    return found


def gone(environment: dict[str, str]) -> bool:
    """Waits until no process with this environment is left; false if one stays."""
    until = time.monotonic() + PATIENCE
    while marked(environment):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def start(
    *arguments: object, environment: dict[str, str], stdin: int = subprocess.DEVNULL
) -> subprocess.Popen[str]:
    """Starts the program."""
    command = [sys.executable, "-m", "paramverify", *map(str, arguments)]
    return piped(command, environment, stdin)


_started: list[subprocess.Popen[str]] = []


def piped(
    command: list[str], environment: dict[str, str], stdin: int = subprocess.DEVNULL
) -> subprocess.Popen[str]:
    """Starts a command whose outputs come through pipes; it is killed after the test, if it still runs."""
    pipe = subprocess.PIPE
    _started.append(
        subprocess.Popen(command, env=environment, stdin=stdin, stdout=pipe, stderr=pipe, text=True)
    )
    return _started[-1]


def end_all() -> None:
    """Kills what `piped` started and still runs; its command and its solvers die with it."""
    while _started:
        process = _started.pop()
        if process.poll() is None:
            process.kill()
            process.communicate()
