"""Commands in processes of their own, forked from one that has imported the package already.

Starting Python and importing what a command needs takes half a second; forked from a process that has done
so, it takes some hundredths. The process that forks has asked for no plugins, so nothing is remembered there.
What a test says about the start itself (what is imported, how streams are opened, how much memory it takes)
needs a process that begins from nothing.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, NoReturn

from paramverify import plugins

ROOT = Path(__file__).resolve().parents[2]
MESSAGE = 1 << 20
SERVER = "import sys; sys.path[:0] = {tools}; import warm_processes; warm_processes.serve({end})"
# What does something when it is imported, needs pytest, or asks for plugins, as the choices of commands do.
AWAY = re.compile(r"__main__$|\.testing|\.cli\.(?!main$|_supervisor$|_output$)")


def run(
    words: Sequence[str], cwd: Path, environment: Mapping[str, str], path: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """Runs `python WORDS` (`-c SCRIPT`, or `-m paramverify ...`) with more folders in front of its path."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        request = {
            "words": list(words),
            "cwd": str(cwd),
            "environment": dict(environment),
            "path": list(path),
        }
        server = _server()
        socket.send_fds(server, [json.dumps(request).encode()], [out.fileno(), err.fileno()])
        code = int(server.recv(MESSAGE))
        for file in (out, err):
            file.seek(0)
        return subprocess.CompletedProcess(list(words), code, out.read(), err.read())


@cache
def _server() -> socket.socket:
    """Starts the process that forks; it ends when this one does."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        tools = repr([str(Path(__file__).parent), str(ROOT)])
        command = [sys.executable, "-c", SERVER.format(tools=tools, end=theirs.fileno())]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()])

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


def serve(end: int) -> None:
    """Imports everything; then forks a process for each request, one after the other."""
    _import_everything()
    gc.collect()
    gc.freeze()
    with socket.socket(fileno=end) as control:
        while True:
            data, files, _, _ = socket.recv_fds(control, MESSAGE, 2)
            if not data:
                return
            child = os.fork()
            if not child:
                control.close()
                _be(json.loads(data), files)
            for file in files:
                os.close(file)
            control.send(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])).encode())


def _import_everything() -> None:
    package = import_module("paramverify")
    for module in walk_packages(package.__path__, "paramverify."):
        if not AWAY.search(module.name):
            import_module(module.name)
    import_module("matplotlib.figure")
    assert not plugins._plugins.cache_info().misses, "a module asks for plugins when it is imported"


def _be(request: dict[str, Any], files: Sequence[int]) -> NoReturn:
    """Is the life of a forked process: what Python would do with these words."""
    for place, file in enumerate(files, start=1):
        os.dup2(file, place)
        os.close(file)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["cwd"])
    sys.path[:0] = request["path"]
    code = 1
    try:
        code = _done(request["words"])
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
    except BaseException:
        traceback.print_exc()
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _done(words: list[str]) -> int:
    kind, what, *rest = words
    if kind == "-c":
        sys.argv = ["-c", *rest]
        exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})
        return 0
    assert (kind, what) == ("-m", "paramverify"), words
    sys.argv = ["paramverify", *rest]
    import_module("paramverify.cli.main").main()
    return 0
