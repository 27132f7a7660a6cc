"""Handing out tasks: in batches, a few for each worker, again where workers die, and each result once.

Small tasks go together, so that what Dask needs for a call is small beside the work. A batch whose workers
died has a suspect among its tasks. These wait until nothing else is under way. Then each goes out alone, and
what kills its workers again is given up: it cannot be the fault of another task.
"""

from __future__ import annotations

import json
import re
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from functools import partial
from math import inf, sqrt
from queue import Empty, SimpleQueue
from typing import Any, Generic, Protocol, TypeVar

from paramverify import printable
from paramverify.errors import ClusterError, DefectError, EvidenceError
from paramverify.tasks.tasks import Task, TaskResult
from paramverify.tasks.worker import as_versions, check_versions, error_from_document, versions

BATCH = 0.2  # seconds of work that a batch is to have, at least
COST = 0.01  # seconds that client and scheduler may need for a batch: no more workers than they can serve
MOST = 1000  # tasks of a batch
BYTES = 1 << 20  # of the text of a batch, about
AHEAD = 2  # batches for each task that is done at the same time: the next one is there when one ends
LOOK = 0.25  # seconds between two looks whether the scheduler is there
LONGEST = 1 << 28  # characters of an answer
KILLED = re.compile(r"distributed\.scheduler KilledWorker .* (\d{1,6})$", re.DOTALL)
MALFORMED = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    IndexError,
    ArithmeticError,
    RecursionError,
    EvidenceError,
)
FETCH = 2.0  # seconds for a result that is said to be there, at first; a worker may have died with it

T = TypeVar("T")


class Sending(Protocol):
    """The connection to a cluster; see `cluster.Cluster`."""

    @property
    def width(self) -> int: ...
    @property
    def connected(self) -> bool: ...
    def submit(self, text: str, heard: Callable[[Any], None]) -> Any: ...
    def forget(self, futures: Sequence[Any]) -> None: ...
    def again(self) -> None: ...
    def whose(self, future: Any) -> str: ...


@dataclass(eq=False)
class _Batch:
    """Tasks that were given to a worker together; `alone` is one whose workers have died before."""

    numbers: list[int]
    alone: bool
    future: Any = None


class DistributedTasks(Generic[T]):
    """One round of tasks on a cluster."""

    def __init__(self, cluster: Sending, tasks: Sequence[Task[T]]) -> None:
        self.cluster, self.tasks = cluster, tasks
        self.waiting = deque(range(len(tasks)))
        self.suspects: deque[int] = deque()
        self.out: set[_Batch] = set()
        self.heard: SimpleQueue[_Batch] = SimpleQueue()
        self.fetch = FETCH
        self.mean: float | None = None  # seconds of a task, of late

    def results(self, until: float = inf) -> Generator[TaskResult[T], None, None]:
        """Yields each result once, as they come.

        Raises:
            ClusterError: a worker has another version, or cannot work at all.
            ClusterLostError: the scheduler went away and did not come back.
        """
        try:
            while self.waiting or self.out or self.suspects:
                try:
                    self._fill()
                except ConnectionError:
                    self._again()
                    continue
                left = until - time.monotonic()
                if left <= 0:
                    return
                try:
                    batch = self.heard.get(timeout=min(LOOK, left))
                except Empty:
                    if not self.cluster.connected:
                        self._again()
                    continue
                if batch in self.out:
                    yield from self._taken(batch)
        finally:
            self.cluster.forget([batch.future for batch in self.out if batch.future])

    # -- giving

    def _fill(self) -> None:
        while self.waiting and len(self.out) < AHEAD * self.cluster.width:
            self._give(_Batch(self._next(), alone=False))
        if self.suspects and not self.out:
            self._give(_Batch([self.suspects.popleft()], alone=True))

    def _next(self) -> list[int]:
        """Takes the tasks of the next batch, which have one name."""
        size = 1 if self.mean is None else batch_size(self.mean, len(self.waiting), self.cluster.width)
        name = self.tasks[self.waiting[0]].name
        numbers: list[int] = []
        while self.waiting and len(numbers) < size and self.tasks[self.waiting[0]].name == name:
            numbers.append(self.waiting.popleft())
        return numbers

    def _give(self, batch: _Batch) -> None:
        documents: list[str] = []
        length = 0
        for k, number in enumerate(batch.numbers):
            documents.append(json.dumps(self.tasks[number].document()))
            length += len(documents[-1])
            if length > BYTES:  # the rest goes another time
                self.waiting.extendleft(reversed(batch.numbers[k + 1 :]))
                batch.numbers = batch.numbers[: k + 1]
                break
        tasks = [self.tasks[number] for number in batch.numbers]
        head = {
            "versions": versions(),
            "name": tasks[0].name,
            "seconds": [None if task.seconds == inf else task.seconds for task in tasks],
        }
        text = f'{json.dumps(head)[:-1]}, "tasks": [{", ".join(documents)}]}}'
        self.out.add(batch)
        batch.future = self.cluster.submit(text, lambda future: self.heard.put(batch))

    # -- taking

    def _taken(self, batch: _Batch) -> Iterator[TaskResult[T]]:
        try:
            packed = batch.future.result(timeout=self.fetch)
        except (CancelledError, TimeoutError, OSError):
            if self.cluster.connected and not batch.future.cancelled():  # it is made again
                self.fetch *= 2
                self.out.discard(batch)
                self.cluster.forget([batch.future])
                self._back(batch)
            else:
                self._again()
            return
        except Exception as error:  # what Dask says where a worker died, or cannot even begin
            killed = KILLED.match(str(error))
            if not killed:
                raise ClusterError(
                    f"a worker could not do its task: {printable.name(str(error), 200)}"
                ) from None
            self.out.discard(batch)
            if batch.alone:
                yield self._given_up(batch.numbers[0], 2 * (int(killed[1]) + 1))
            else:
                self.suspects.extend(batch.numbers)
            return
        self.out.discard(batch)
        try:
            reply = answer_of(packed)
            if isinstance(reply, dict) and "refused" in reply:
                check_versions(as_versions(reply["refused"]), "a worker")
                raise ClusterError("a worker has other versions")
            results, place, seconds = _formed(reply, len(batch.numbers))
        except MALFORMED as error:
            raise self._malformed(batch, error) from None
        mean = seconds / len(batch.numbers)
        self.mean = mean if self.mean is None else 0.7 * self.mean + 0.3 * mean
        for number, result in zip(batch.numbers, results, strict=True):
            yield TaskResult(number, partial(self._value, batch, self.tasks[number], result), place)

    def _value(self, batch: _Batch, task: Task[T], result: dict[str, Any]) -> T:
        """Returns the value of a task, or raises its error; what is neither is an error of its worker."""
        try:
            if "value" in result:
                return task.read(result["value"])
            error = error_from_document(result["error"])
        except MALFORMED as wrong:
            raise self._malformed(batch, wrong) from None
        if isinstance(error, DefectError):
            told = printable.name(str(error), 200)
            raise ClusterError(f"{self.cluster.whose(batch.future)} could not do its task: {told}")
        raise error

    def _malformed(self, batch: _Batch, error: Exception) -> ClusterError:
        told = printable.name(f"{type(error).__name__}: {error}", 200)
        return ClusterError(f"{self.cluster.whose(batch.future)} returned an invalid answer: {told}")

    def _given_up(self, number: int, deaths: int) -> TaskResult[T]:
        reason = f"every worker that was given this task died, {deaths} times"
        return TaskResult(number, partial(self.tasks[number].lost, reason))

    def _back(self, batch: _Batch) -> None:
        if batch.alone:
            self.suspects.appendleft(batch.numbers[0])
        else:
            self.waiting.extendleft(reversed(batch.numbers))

    def _again(self) -> None:
        """Connects once more, and gives again what had not come back."""
        for batch in self.out:
            self._back(batch)
        self.out = set()
        self.waiting = deque(sorted(self.waiting))
        self.cluster.again()


def batch_size(mean: float, waiting: int, width: int) -> int:
    """Returns how many tasks of `mean` seconds go together, where some wait for `width` workers.

    Batches of b seconds cost `COST` for each, one after the other, and the last one may begin when all others
    have ended: waiting·mean·COST/b + b seconds, which is least at b = √(waiting·mean·COST). The share of each
    worker is as good, where that is more.
    """
    mean = max(mean, 1e-6)
    share = max(waiting // (AHEAD * width), int(sqrt(waiting * mean * COST) / mean))
    return max(1, min(int(max(BATCH, COST * width) / mean), share, MOST))


def answer_of(packed: Any) -> Any:
    """Returns the JSON data that a worker has sent as a text; see `connection.Packed`.

    Raises:
        ValueError: it is something else.
    """
    if not hasattr(packed, "text"):
        raise ValueError("a text is needed")
    text = packed.text()
    if len(text) > LONGEST:
        raise ValueError(f"more than {LONGEST:,} characters")
    return json.loads(text, parse_constant=_no_number)


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is not a number")


def _formed(reply: Any, count: int) -> tuple[list[dict[str, Any]], dict[str, Any], float]:
    """Returns the results, the facts about the machine, and the seconds of a reply.

    Raises:
        ValueError: it has another form.
    """
    if not isinstance(reply, dict) or set(reply) != {"results", "machine", "seconds"}:
        raise ValueError("results, machine and seconds are needed, and nothing else")
    results, seconds = reply["results"], reply["seconds"]
    if not isinstance(results, list) or len(results) != count:
        raise ValueError(f"{count} results are needed")
    for result in results:
        if not isinstance(result, dict) or list(result) not in (["value"], ["error"]):
            raise ValueError("a result has a value or an error")
    if not isinstance(reply["machine"], dict) or not isinstance(seconds, float) or not seconds >= 0:
        raise ValueError("no machine, or no time")
    return results, reply["machine"], seconds
