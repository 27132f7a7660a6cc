"""What `pytest -m "not slow"` leaves out of long tables: most shipped cases, and all but the first seeds."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

# A small case of each mechanism and of each kind of question; the others are for the whole suite.
KINDS = frozenset(
    (
        "above-threshold-prior",
        "blood-test",
        "design-randomized-response",
        "discrete-laplace",
        "family",
        "geometric-contagious-ln2",
        "geometric-independent",
        "geometric-renyi-below",
        "noisy-max-contagious",
        "noisy-max-naive-3-ln2",
        "randomized-response",
        "retransmission-bound",
        "slots-1-bad-noise",
        "slots-2-symbolic",
        "stream-sparse-vector-one",
        "survey",
        "survey-coin",
        "survey-memory-all",
        "time-series-2-slow",
    )
)


# Cases of which a smaller one is shipped, too, and on which one command takes seconds. Tests of what cases
# expect take them (tests/test_shipped_cases.py), but do not check their evidence in each way; other tests of
# every case learn nothing from the size.
LARGE = frozenset(
    (
        "above-threshold-figure-3-four",
        "geometric-symbolic-200",
        "noisy-max-5-above",
        "noisy-max-five-diseases",
        "noisy-max-laplace-4",
        "shuffled-among-1000",
        "time-series-3-all",
    )
)


def shipped(paths: Iterable[Path], large: bool = False) -> list[Any]:
    """Returns parameters, one for each case; those that are not of the chosen kinds are slow."""
    chosen = [path for path in paths if large or path.stem not in LARGE]
    return [pytest.param(path, id=_name(path), marks=_slow(path.stem not in KINDS)) for path in chosen]


def seeds(count: int, quick: int) -> list[Any]:
    """Returns the seeds from 0; all but the first are slow."""
    return [pytest.param(seed, marks=_slow(seed >= quick)) for seed in range(count)]


def _name(path: Path) -> str:
    """Returns the name of a case, with its folder."""
    folder = path.parent.name
    return path.stem if folder == "cases" else f"{folder}/{path.stem}"


def _slow(so: bool) -> tuple[pytest.MarkDecorator, ...]:
    return (pytest.mark.slow,) if so else ()
