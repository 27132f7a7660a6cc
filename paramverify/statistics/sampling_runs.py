"""Seeded runs in chunks, here or on workers: the result depends on the seed alone."""

from __future__ import annotations

import multiprocessing
import signal
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.pool import Pool
from multiprocessing.process import BaseProcess
from typing import Any, Protocol, runtime_checkable

from paramverify.errors import InputError, LimitError
from paramverify.statistics.black_boxes import ENDED
from paramverify.statistics.events import Measured, OutputEvent
from paramverify.statistics.samplers import Counts, Experiment, Sampler, Source, Walks
from paramverify.tasks.tasks import HERE, Executor, Task, in_order

Chunk = tuple[Sampler, int, tuple[int, ...], int]  # sampler, seed, place, size


def draw(chunk: Chunk) -> Counts:
    """Makes the runs of a chunk, with the random numbers of its place."""
    import numpy as np

    sampler, seed, place, size = chunk
    return sampler(np.random.default_rng(np.random.SeedSequence(seed, spawn_key=place)), size)


@runtime_checkable
class PlainSampler(Protocol):
    """A sampler that is plain data."""

    def document(self) -> dict[str, Any]:
        """Returns it as JSON data, for `Walks.of`."""


@dataclass(frozen=True)
class ExecutorChunks:
    """Chunks that an executor does; the counts are those of one process."""

    executor: Executor

    def map(self, chunks: Sequence[Chunk]) -> Iterator[Counts]:
        """Yields the counts of each chunk in order.

        Raises:
            InputError: the sampler is no plain data, and the executor is elsewhere.
            LimitError: every worker that was given a chunk died.
        """
        yield from in_order(self.executor, [self._task(chunk) for chunk in chunks])

    def _task(self, chunk: Chunk) -> Task[Counts]:
        sampler, seed, place, size = chunk

        def document() -> dict[str, Any]:
            if not isinstance(sampler, PlainSampler):
                raise InputError("--cluster can only sample models: leave --mechanism and --direct out")
            return {"sampler": sampler.document(), "seed": seed, "place": list(place), "size": size}

        return Task("draw", lambda: draw(chunk), document, _counts, _lost)


def _counts(told: Any) -> Counts:
    return Counter({tuple(output): int(number) for output, number in told})


def _lost(reason: str) -> Counts:
    raise LimitError(reason)


def drawn(document: Mapping[str, Any]) -> list[tuple[list[str], int]]:
    """Makes the runs of one chunk; returns each output with how often it came."""
    place = tuple(document["place"])
    counts = draw((Walks.of(document["sampler"]), int(document["seed"]), place, int(document["size"])))
    return [(list(output), number) for output, number in counts.items()]


CHUNK = 100_000
LOOK = 0.2  # seconds between two looks whether all workers live
INSTALL = "pip install 'paramverify[stats]'"


def require() -> None:
    """Raises an InputError that says how to get them if numpy, scipy or scikit-learn is missing."""
    from importlib.util import find_spec

    missing = [name for name in ("numpy", "scipy", "sklearn") if find_spec(name) is None]
    if missing:
        raise InputError(f"sampling needs numpy, scipy and scikit-learn: {INSTALL}")


@dataclass(eq=False)
class Workers:
    """A pool, and the processes that it started with; none of them ends before the work is done."""

    pool: Pool
    processes: list[BaseProcess]

    def map(self, tasks: Sequence[Chunk]) -> Iterator[Counts]:
        """Yields the counts of each task in order.

        Raises:
            InputError: the mechanism ended one of the processes.
            LimitError: the system killed one.
        """
        mapped = self.pool.imap(draw, tasks)
        for _ in tasks:
            while True:
                try:
                    yield mapped.next(LOOK)
                    break
                except multiprocessing.TimeoutError:
                    self._check()

    def _check(self) -> None:
        for process in self.processes:
            code = process.exitcode
            if code == -signal.SIGKILL:
                raise LimitError(
                    "the operating system killed a process of --workers, probably because memory ran out"
                )
            if code is not None:
                how = f"the signal {signal.Signals(-code).name}" if code < 0 else f"the exit code {code}"
                raise InputError(f"{ENDED}, with {how}", key="--mechanism")


@dataclass(eq=False)
class Runs:
    """Runs of a source. Each (stage, experiment, side, chunk) has its own stream of random numbers.

    The streams are those that `numpy.random.SeedSequence(seed)` spawns, so they are independent, and runs of
    different stages (to select an event, and to test it) never share a number. Results are kept: asking twice
    for the same runs gives the same counts without running again.
    """

    source: Source
    seed: int
    pool: Workers | ExecutorChunks = field(default_factory=lambda: ExecutorChunks(HERE))
    _numbers: dict[int, int] = field(default_factory=dict)
    _kept: dict[tuple[int, int, int, int], Counts] = field(default_factory=dict)
    _measured: dict[tuple[int, int, int], tuple[Measured, Measured]] = field(default_factory=dict)
    _hits: dict[tuple[int, int, OutputEvent, int], tuple[int, int]] = field(default_factory=dict)
    _experiments: list[Experiment] = field(default_factory=list)

    def counts(self, stage: int, experiment: Experiment, side: int, size: int) -> Counts:
        """Returns how often each output came in `size` runs of one side of an experiment."""
        number = self._numbers.setdefault(id(experiment), len(self._numbers))
        if number == len(self._experiments):
            self._experiments.append(experiment)  # keeps it alive, so that its id stays its own
        place = stage, number, side, size
        if place not in self._kept:
            sampler = self.source.sampler(experiment, side)
            sizes = [min(CHUNK, size - done) for done in range(0, size, CHUNK)]
            tasks = [(sampler, self.seed, (stage, number, side, k), n) for k, n in enumerate(sizes)]
            total: Counts = Counter()
            for part in self.pool.map(tasks):
                total.update(part)
            self._kept[place] = total
        return self._kept[place]

    def both(self, stage: int, experiment: Experiment, size: int) -> tuple[Counts, Counts]:
        """Returns the counts of the left and of the right side."""
        left, right = (self.counts(stage, experiment, side, size) for side in (0, 1))
        return left, right

    def hits(self, stage: int, experiment: Experiment, event: OutputEvent, size: int) -> tuple[int, int]:
        """Returns how many of the runs of the left and of the right side ended in an event."""
        place = stage, id(experiment), event, size
        if place not in self._hits:
            left, right = self._sides(stage, experiment, size)
            self._hits[place] = left.hits([event])[0], right.hits([event])[0]
        return self._hits[place]

    def _sides(self, stage: int, experiment: Experiment, size: int) -> tuple[Measured, Measured]:
        place = stage, id(experiment), size
        if place not in self._measured:
            left, right = self.both(stage, experiment, size)
            self._measured[place] = Measured(left), Measured(right)
        return self._measured[place]


@contextmanager
def runs_of(source: Source, seed: int, workers: int = 1, executor: Executor = HERE) -> Iterator[Runs]:
    """Gives the runs of a source: shared by `workers` processes, or done by an executor.

    The counts are the same for every number of workers, and every executor. With workers, the source's
    mechanism must be found by its name in a fresh process, and a script must guard its own start with
    `if __name__ == "__main__"`.

    Raises:
        InputError: the extra `stats` is not installed.
    """
    require()
    if workers == 1:
        yield Runs(source, seed, ExecutorChunks(executor))
        return
    from multiprocessing import get_context

    # Leaving the pool, for whatever reason, ends its processes at once.
    before = set(multiprocessing.active_children())
    with get_context("spawn").Pool(workers, _ignore_interrupts) as pool:
        started = [child for child in multiprocessing.active_children() if child not in before]
        yield Runs(source, seed, Workers(pool, started))


def _ignore_interrupts() -> None:
    """Leaves Ctrl-C to the first process, which ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
