"""The functions that a task may name, and nothing else can be asked of a worker.

Each takes plain data, as `json.loads` gives it, and returns plain data.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from paramverify.errors import InputError

FUNCTIONS = {
    "decide": "paramverify.portfolio.spreading:decided",
    "sum": "paramverify.privacy.set_spreading:decided_sum",
    "loss": "paramverify.privacy.loss_spreading:covered",
    "attempt": "paramverify.compare.spreading:attempted",
    "draw": "paramverify.statistics.spreading:drawn",
    "map": "paramverify.synthesis.spreading:mapped",
    "busy": "paramverify.tasks.busy:busy",
}


def function(name: str) -> Callable[[Any], Any]:
    """Returns the function of that name.

    Raises:
        InputError: there is none.
    """
    if name not in FUNCTIONS:
        raise InputError(f"no task is called {name!r:.80}; there are {', '.join(FUNCTIONS)}")
    module, _, attribute = FUNCTIONS[name].partition(":")
    found: Callable[[Any], Any] = getattr(import_module(module), attribute)
    return found
