"""Tasks that do not depend on each other, and the interface of what does them.

A task knows how it is done in this process, and how it is told to another one: as the name of a function that
every installation of this package has (`worker`), and plain data. Commands make tasks and read results. They
do not know who did the work.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from math import inf
from typing import Any, Generic, Protocol, TypeVar

from paramverify.errors import LimitError

T = TypeVar("T")

ADDRESSES = "local, local:4, tcp://host:8786 or tls://host:8786"  # of clusters


@dataclass(frozen=True, eq=False)
class Task(Generic[T]):
    """One piece of work.

    `here` does it in this process. `document` gives what the function called `name` needs elsewhere, as JSON
    data, and `read` the value from what that function returned. `lost` gives the value, or raises an error,
    where every process that was given the task has died; it is told why. The work takes at most `seconds`,
    or the process that does it elsewhere is ended.
    """

    name: str
    here: Callable[[], T]
    document: Callable[[], Mapping[str, Any]]
    read: Callable[[Any], T]
    lost: Callable[[str], T]
    seconds: float = inf


@dataclass(frozen=True, eq=False)
class TaskResult(Generic[T]):
    """What became of the task with this number: `get` returns its value, or raises its error.

    `place` has facts about the machine that did the work, where that was another process than this one.
    """

    number: int
    get: Callable[[], T]
    place: Mapping[str, Any] | None = None


class Executor(Protocol):
    """Does tasks."""

    @property
    def is_here(self) -> bool:
        """Whether tasks are done in this process, one at a time."""

    @property
    def width(self) -> int:
        """How many tasks are done at the same time, as far as is known."""

    def map(self, tasks: Sequence[Task[T]], until: float = inf) -> Generator[TaskResult[T], None, None]:
        """Yields the result of each task once, as they end; closing the generator gives up what is left.

        So does the moment `until` (by the monotonic clock); what is done here keeps to it by itself.
        """


@dataclass(frozen=True)
class Here:
    """Does tasks in this process, each when its result is asked for."""

    is_here: bool = True
    width: int = 1

    def map(self, tasks: Sequence[Task[T]], until: float = inf) -> Generator[TaskResult[T], None, None]:
        """Yields the results in the order of the tasks."""
        del until
        for number, task in enumerate(tasks):
            value = task.here()
            yield TaskResult(number, lambda value=value: value)  # type: ignore[misc]


HERE = Here()


def in_order(executor: Executor, tasks: Sequence[Task[T]], until: float = inf) -> Generator[T, None, None]:
    """Yields the values of tasks in their order, whatever the order in which they end.

    So whoever stops at some value has seen the same values with every executor. An error comes in its place.
    There are fewer values than tasks where the time is over first.
    """
    waiting: dict[int, TaskResult[T]] = {}
    wanted = 0
    with closing(executor.map(tasks, until)) as results:
        for result in results:
            waiting[result.number] = result
            while wanted in waiting:
                yield waiting.pop(wanted).get()
                wanted += 1


MOST = 3600.0  # seconds of processor time


def busy(document: Mapping[str, Any]) -> int:
    """Spends `seconds` of processor time of this thread, and returns the `number` that it was given."""
    until = time.thread_time() + min(float(document["seconds"]), MOST)
    while time.thread_time() < until:
        pass
    return int(document["number"])


def busy_task(number: int, seconds: float) -> Task[int]:
    """Returns the task whose value is the number."""
    document = {"number": number, "seconds": seconds}
    return Task("busy", lambda: busy(document), lambda: document, int, _lost)


def _lost(reason: str) -> int:
    raise LimitError(reason)
