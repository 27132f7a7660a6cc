"""Chunks of runs as tasks: the numbers of a sampler and a place in the stream of random numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from paramverify.errors import InputError, LimitError
from paramverify.statistics.samplers import Counts, Sampler, Walks
from paramverify.tasks.tasks import Executor, Task, in_order

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
                raise InputError("--cluster samples models: leave --mechanism and --direct out")
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
