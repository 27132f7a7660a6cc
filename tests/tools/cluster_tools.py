"""A real scheduler and real workers of Dask, as processes that a test may kill."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from functools import partial
from math import inf
from pathlib import Path
from typing import IO, TypeVar

from paramverify.tasks.tasks import Task, TaskResult
from paramverify.tasks.worker import function

T = TypeVar("T")

TOOLS = Path(__file__).parent
LOG = "PARAMVERIFY_TEST_LOG"  # where the poisoned worker notes whom it has killed


def free_port() -> int:
    """Returns a port that nobody listens at."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Processes:
    """A scheduler at a port that stays the same, and workers; all are killed in the end."""

    def __init__(self, folder: Path, deaths: int = 0, preload: str = "") -> None:
        self.port, self.preload = free_port(), preload
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.killed = folder / "killed"
        self.output: IO[bytes] = (folder / "output").open("wb")
        self.environment = {
            **os.environ,
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": str(deaths),
            "PARAMVERIFY_HISTORY": "off",
            LOG: str(self.killed),
            "PYTHONPATH": os.pathsep.join(filter(None, [str(TOOLS), os.environ.get("PYTHONPATH")])),
        }
        self.started: list[subprocess.Popen[bytes]] = []
        self.scheduler = self.schedule()

    def _start(self, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.{module}", "--no-dashboard", *arguments]
        process = subprocess.Popen(
            command, env=self.environment, stdin=subprocess.DEVNULL, stdout=self.output, stderr=self.output
        )
        self.started.append(process)
        return process

    def schedule(self) -> subprocess.Popen[bytes]:
        """Starts the scheduler."""
        self.scheduler = self._start("dask_scheduler", "--host", "127.0.0.1", "--port", str(self.port))
        return self.scheduler

    def work(self, workers: int = 1, nanny: bool = True) -> subprocess.Popen[bytes]:
        """Starts workers; with a nanny those that die are started again."""
        loaded = ["--preload", str(TOOLS / f"{self.preload}.py")] if self.preload else []
        kind = ["--nworkers", str(workers), *([] if nanny else ["--no-nanny"])]
        return self._start("dask_worker", self.address, "--nthreads", "1", *kind, *loaded)

    def kill_scheduler(self) -> None:
        """Kills the scheduler."""
        self.scheduler.kill()
        self.scheduler.wait()

    def close(self) -> None:
        """Kills everything."""
        for process in self.started:
            for child in (*_children(process.pid), process.pid):
                try:
                    os.kill(child, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            process.wait()
        self.output.close()


def worker_processes(address: str) -> list[int]:
    """Returns the processes of the workers that a scheduler knows."""
    from distributed import Client

    with Client(address, timeout=60, set_as_default=False) as client:
        return sorted(client.run(os.getpid).values())


def wait_for(address: str, workers: int) -> None:
    """Waits until a scheduler has some workers."""
    from distributed import Client

    with Client(address, timeout=60, set_as_default=False) as client:
        client.wait_for_workers(workers, timeout=120)


def _children(process: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            found += [*_children(child), child]
    return found


def settled(seconds: float = 0.05) -> None:
    """Gives other processes a moment."""
    time.sleep(seconds)


class Elsewhere:
    """Does tasks here, by way of the data that a worker would get."""

    is_here, width = False, 1

    def map(self, tasks: Sequence[Task[T]], until: float = inf) -> Generator[TaskResult[T], None, None]:
        for number, task in enumerate(tasks):
            told = json.loads(json.dumps(function(task.name)(json.loads(json.dumps(task.document())))))
            yield TaskResult(number, partial(task.read, told))
