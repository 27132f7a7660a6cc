"""Programs with continuous noise, given the values of some of it: nodes of integration for thresholds.

The draws that `nodes` chooses become nodes of numeric integration; every other draw is an interval, and a
comparison with it has a conditional probability at each node. Nothing of the package is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from cloud_oracle import NODES, SHARES, Cells, Output, Stopped, as_python

FAR = 35  # scales of noise after which it is cut off


class Interval:
    """A draw that is no node: X with density exp(-|x|/scale)/(2·scale), known to be between two ends."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, oracle: GivenOracle, scale: float) -> None:
        self.oracle = oracle
        self.scale = scale
        self.low: Cells = np.array(-math.inf)
        self.high: Cells = np.array(math.inf)

    def above(self, limit: Cells) -> bool:
        """Says whether X is above a limit; both are tried, each with its probability at each node."""
        cut = np.clip(limit, self.low, self.high)
        whole = self._between(self.low, self.high)
        answer = not self.oracle.branch()
        part = self._between(cut, self.high) if answer else self._between(self.low, cut)
        self.oracle.share = self.oracle.share * np.divide(
            part, whole, out=0 * (part + whole), where=whole > 0
        )
        self.low, self.high = (cut, self.high) if answer else (self.low, cut)
        return answer

    def _between(self, low: Cells, high: Cells) -> Cells:
        def left(x: Cells) -> Cells:  # Pr(X ≤ x) for x ≤ 0
            return np.exp(np.minimum(x, 0) / self.scale) / 2

        negative = left(np.minimum(high, 0)) - left(np.minimum(low, 0))
        positive = left(-np.maximum(low, 0)) - left(-np.maximum(high, 0))
        return np.asarray(negative + positive)


class Shifted:
    """A draw plus a number, or a node."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, oracle: GivenOracle, draw: Interval | None, number: Any) -> None:
        self.oracle, self.draw, self.number = oracle, draw, number

    def __add__(self, other: float) -> Shifted:
        return Shifted(self.oracle, self.draw, self.number + other)

    __radd__ = __add__

    def __ge__(self, other: Any) -> bool:
        if not isinstance(other, Shifted):
            other = Shifted(self.oracle, None, np.array(float(other)))
        if self.draw is not None and other.draw is None:
            return self.draw.above(other.number - self.number)
        if self.draw is None and other.draw is not None:
            return not other.draw.above(self.number - other.number)
        assert self.draw is None, "two draws are compared that are no nodes"
        return self.oracle.split(self.number >= other.number)

    def __le__(self, other: Any) -> bool:
        return not self >= other  # equal values have probability zero

    __gt__, __lt__ = __ge__, __le__


class GivenOracle:
    """Finds the distribution of a program with Laplace noise; `nodes(k, scale)` chooses the nodes."""

    def __init__(self, axes: int, nodes: Callable[[int, float], bool]) -> None:
        self.axes = axes
        self.nodes = nodes
        self.pending: list[list[int]] = []

    def distribution(self, text: str, given: Mapping[str, Any]) -> dict[Output, float]:
        """Returns the probability of each sequence of outputs."""
        code = compile(as_python(text, given), "program", "exec")
        found: dict[Output, float] = {}
        self.pending = [[]]
        while self.pending:
            self.script, self.place, self.drawn, self.used = self.pending.pop(), 0, 0, 0
            self.share: Cells = np.ones((1,) * self.axes)
            told: list[Any] = []
            words = {"len": len, "range": range, "laplace": self._draw, "output": told.append}
            words |= {"min": min, "max": max}
            with suppress(Stopped):
                exec(code, {"__builtins__": {}, **words, "_stop": _stop, **given})
            what = tuple(told)
            found[what] = found.get(what, 0.0) + float(self.share.sum())
        return found

    def branch(self) -> int:
        """Returns 0, and 1 in another run."""
        if self.place == len(self.script):
            self.pending.append([*self.script, 1])
            self.script = [*self.script, 0]
        self.place += 1
        return self.script[self.place - 1]

    def split(self, test: Cells) -> bool:
        """Says whether a comparison of nodes is true; both are tried."""
        answer = not self.branch()
        self.share = self.share * (test if answer else ~test)
        return answer

    def _draw(self, scale: float) -> Shifted:
        self.drawn += 1
        if self.used == self.axes or not self.nodes(self.drawn - 1, scale):
            return Shifted(self, Interval(self, scale), np.array(0.0))
        ends = np.unique([*range(-6, 7), *(s * (6 + scale * k) for k in range(FAR) for s in (-1, 1))])
        x = (ends[:-1, None] + np.diff(ends)[:, None] * NODES).ravel()
        weight = (np.diff(ends)[:, None] * SHARES).ravel() * np.exp(-abs(x) / scale) / (2 * scale)
        shape = [1] * self.axes
        shape[self.used] = -1
        self.used += 1
        self.share = self.share * weight.reshape(shape)
        return Shifted(self, None, x.reshape(shape))


def _stop() -> None:
    raise Stopped
