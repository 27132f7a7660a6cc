"""Proves or refutes privacy of discrete mechanisms for every prior of a parameter domain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paramverify.language import (
    binomial,
    choice,
    clamp,
    exp,
    exponential,
    flip,
    geometric,
    laplace,
    one_sided_geometric,
    output,
    stop,
    uniform,
)

if TYPE_CHECKING:
    from paramverify.api import Mechanism, mechanism

__version__ = "0.1.0"

__all__ = [
    "Mechanism",
    "binomial",
    "choice",
    "clamp",
    "exp",
    "exponential",
    "flip",
    "geometric",
    "laplace",
    "mechanism",
    "one_sided_geometric",
    "output",
    "stop",
    "uniform",
]


def __getattr__(name: str) -> Any:
    """Returns what is imported when it is used: importing the package alone loads nothing else."""
    if name not in ("mechanism", "Mechanism"):
        raise AttributeError(f"module 'paramverify' has no attribute {name!r}")
    from paramverify import api

    return getattr(api, name)
