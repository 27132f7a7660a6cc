"""A task that only takes time: to measure what a cluster costs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from paramverify.errors import LimitError
from paramverify.tasks.tasks import Task

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
