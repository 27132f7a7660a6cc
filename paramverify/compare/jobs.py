"""Several attempts at a time on this machine, each thread with a runner of its own."""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from math import inf
from types import TracebackType
from typing import TypeVar

from paramverify.processes.runner import Runner
from paramverify.tasks.tasks import Task, TaskResult

T = TypeVar("T")


class Runners:
    """A runner for each thread that asks for one; a context manager, which closes them all."""

    def __init__(self) -> None:
        self._local = threading.local()
        self._all: list[Runner] = []

    def __enter__(self) -> Runners:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for runner in self._all:
            runner.close()

    def own(self) -> Runner:
        """Returns the runner of this thread."""
        if not hasattr(self._local, "runner"):
            self._local.runner = Runner()
            self._all.append(self._local.runner)
        runner: Runner = self._local.runner
        return runner

    def abandon(self) -> None:
        """Ends what all runners are doing; for whoever gives up, from any thread."""
        for runner in self._all:
            runner.abandon()


class Jobs:
    """Does tasks in so many threads; they have to wait for other processes rather than to compute."""

    is_here = False

    def __init__(self, width: int, runners: Runners) -> None:
        self.width = width
        self._runners = runners

    def map(self, tasks: Sequence[Task[T]], until: float = inf) -> Generator[TaskResult[T], None, None]:
        """Yields the result of each task, as they end."""
        del until
        pool = ThreadPoolExecutor(self.width)
        try:
            numbers = {pool.submit(task.here): number for number, task in enumerate(tasks)}
            for done in as_completed(numbers):
                yield TaskResult(numbers[done], done.result)
        except BaseException:  # whoever asks has been interrupted, or closes this
            pool.shutdown(wait=False, cancel_futures=True)
            self._runners.abandon()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
