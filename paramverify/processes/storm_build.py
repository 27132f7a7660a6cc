"""Storm builds a model in a process of its own, which ends with its reader, however that ends.

A call into Storm may take hours, and neither a signal handler of Python nor a thread gets its turn while it
runs. So a process of its own builds (`models.chains.prism_files`), and this one waits: when the time limit or
Ctrl-C ends the waiting, the process is killed. Its address space is limited. It dies with the thread that
waits, so no way to end the command leaves it behind. Its memory is free before anything is computed here.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict
from importlib import import_module
from tempfile import TemporaryDirectory

from paramverify.errors import LimitError, ParamverifyError, TimeLimitError
from paramverify.models.chains.prism_files import Built, Request, build, receive, send, send_mistake
from paramverify.processes import process_control as processes

MEMORY = 4 << 30  # bytes
OUT_OF_MEMORY = 41  # exit code of a process that gives no answer
CHUNK = 1 << 20
FOREVER = (1 << 31) - 2  # seconds of processor time

BOOTSTRAP = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from paramverify.processes.storm_build import main; "
    "main(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])"
)


def build_apart(request: Request, memory: int = MEMORY) -> Built:
    """Returns the model that Storm builds in a process of its own, with `memory` bytes of address space.

    Raises:
        InputError: what `build` raises there.
        LimitError: the memory was not enough, or the process crashed.
        TimeLimitError: the time limit of the caller came while this waited; the process has ended.
    """
    command = [sys.executable, "-P", "-c", BOOTSTRAP, json.dumps(sys.path), str(os.getpid()), str(memory)]
    with TemporaryDirectory() as folder:  # for the files of the process, which may be killed at any moment
        return _received([*command, json.dumps(asdict(request))], folder, memory)


def _received(command: list[str], folder: str, memory: int) -> Built:
    process = subprocess.Popen(
        command,
        env={**os.environ, "TMPDIR": folder},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # a Ctrl-C at the terminal reaches this process only
    )
    assert process.stdout
    data = bytearray()
    try:
        while piece := os.read(process.stdout.fileno(), CHUNK):
            data += piece
        code = process.wait()
    except TimeLimitError as error:
        raise error.during("Storm was building the model") from None
    finally:
        if process.returncode is None:
            processes.kill_tree(process.pid)
            process.wait()
        process.stdout.close()
    if code:
        raise LimitError(_reason(code, memory))
    return receive(data)


def _reason(code: int, memory: int) -> str:
    """Returns why a process gave no model."""
    limit = f"; the limit is {memory / (1 << 30):.3g} GiB"
    if code == OUT_OF_MEMORY or code in (-signal.SIGABRT, -signal.SIGKILL):
        return f"Storm ran out of memory while it was building the model{limit}"
    name = signal.Signals(-code).name if code < 0 else f"the exit code {code}"
    return f"Storm ended with {name} while it was building the model{limit}"


def main(parent: int, memory: int, request: str) -> None:
    """The process: builds what is asked for, and writes it to standard output."""
    processes.die_with_parent(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(ImportError):
        import_module("stormpy")  # before the limit: how a library fails that finds no memory has many forms
    processes.limit(memory, FOREVER)
    # Storm may write to the standard output, which is the way of the answer.
    with open(os.dup(1), "wb") as pipe:
        os.dup2(2, 1)
        try:
            try:
                built = build(Request(**json.loads(request)))
            except ParamverifyError as error:
                send_mistake(error, pipe)
            else:
                send(built, pipe)
        except MemoryError:
            os._exit(OUT_OF_MEMORY)
    with suppress(OSError):
        sys.stdout.flush()
    os._exit(0)  # Storm's memory goes back at once
