"""Programs with unbounded noise by summation: Python runs the text once for each path through it.

Noise is an array of cells, with the weight of each. A comparison that is true on some cells and false on
others makes Python run the text twice. Whole numbers are cells of their own; continuous noise is cut into
cells on which every comparison is constant. Noise is cut off where less than 1e-15 of it is left. Nothing of
the package is used.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import cache
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

REST = 35.0  # exp(-35) is 6e-16
NODES, SHARES = np.polynomial.legendre.leggauss(14)
NODES, SHARES = (NODES + 1) / 2, SHARES / 2

Cells = NDArray[Any]
Output = tuple[Hashable, ...]


class Stopped(Exception):
    """The program has stopped."""


class Cloud:
    """A number with noise: its value on each cell."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, oracle: CloudOracle, values: Cells) -> None:
        self.oracle = oracle
        self.values = values

    def _new(self, values: Cells) -> Cloud:
        return Cloud(self.oracle, values)

    def __add__(self, other: Any) -> Cloud:
        return self._new(self.values + _of(other))

    def __sub__(self, other: Any) -> Cloud:
        return self._new(self.values - _of(other))

    def __rsub__(self, other: Any) -> Cloud:
        return self._new(_of(other) - self.values)

    def __mul__(self, other: Any) -> Cloud:
        return self._new(self.values * _of(other))

    def __truediv__(self, other: Any) -> Cloud:
        return self._new(self.values / _of(other))

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Cloud:
        return self._new(-self.values)

    def __abs__(self) -> Cloud:
        return self._new(abs(self.values))

    def __lt__(self, other: Any) -> bool:
        return self.oracle.decided(self.values < _of(other))

    def __le__(self, other: Any) -> bool:
        return self.oracle.decided(self.values <= _of(other))

    def __gt__(self, other: Any) -> bool:
        return self.oracle.decided(self.values > _of(other))

    def __ge__(self, other: Any) -> bool:
        return self.oracle.decided(self.values >= _of(other))

    def __eq__(self, other: Any) -> bool:
        return self.oracle.decided(self.values == _of(other))

    def __ne__(self, other: Any) -> bool:
        return not self == other

    def __bool__(self) -> bool:
        raise TypeError("a number with noise is no condition")


def _of(value: Any) -> Any:
    return value.values if isinstance(value, Cloud) else float(value)


class CloudOracle:
    """Finds the distribution of a program with at most `draws` noisy values on each path.

    All numbers with which continuous noise is compared are multiples of `step`. Sums of continuous values are
    only covered for two draws.
    """

    def __init__(self, draws: int, step: float = 1.0, rest: float = REST) -> None:
        self.draws = draws
        self.rest = rest
        self.step = step
        self.pending: list[list[int]] = []
        self.weights: dict[tuple[tuple[str, float], ...], Cells] = {}

    def distribution(self, text: str, given: Mapping[str, Any]) -> dict[Output, float]:
        """Returns the probability of each sequence of outputs."""
        code = compile(as_python(text, given), "program", "exec")
        found: dict[Output, float] = {}
        self.pending = [[]]
        while self.pending:
            self._start(self.pending.pop())
            names = {"__builtins__": {}, **self._words(), **{k: _copied(v) for k, v in given.items()}}
            with suppress(Stopped):
                exec(code, names)
            what = tuple(self.told)
            found[what] = found.get(what, 0.0) + self._weight()
        return {what: share for what, share in found.items() if share}

    def decided(self, test: Cells) -> bool:
        """Says whether a comparison is true; both are tried where both are possible."""
        inside = test & self.mask
        if not inside.any():
            return False
        rest = ~test & self.mask
        if not rest.any():
            return True
        answer = not self._branch(2)
        self.mask = inside if answer else rest
        return answer

    def _start(self, script: list[int]) -> None:
        self.script, self.place = script, 0
        self.mask: Cells = np.ones((1,) * (self.draws + 1), dtype=bool)
        self.told: list[Hashable] = []
        self.share = 1.0
        self.axes: list[tuple[str, float, Cells]] = []  # of each draw: kind, rate, the cells

    def _branch(self, count: int) -> int:
        if self.place == len(self.script):
            self.pending += [[*self.script, k] for k in range(1, count)]
            self.script = [*self.script, 0]
        self.place += 1
        return self.script[self.place - 1]

    def _pick(self, outcomes: Sequence[tuple[Any, Any]]) -> Any:
        possible = [(value, float(p)) for value, p in outcomes if p]
        value, p = possible[self._branch(len(possible))]
        self.share *= p
        return value

    def _draw(self, kind: str, rate: float) -> Cloud:
        """Draws noise with the weight exp(-rate·|v|); the next axis is its own."""
        far = math.ceil(self.rest / (rate if kind in WHOLE else rate * self.step))
        one_sided = kind in ("one_sided_geometric", "exponential")
        shape = [1] * (self.draws + 1)
        shape[len(self.axes) + 1] = -1
        cells = np.arange(0 if one_sided else -far, far + 1).reshape(shape).astype(float)
        self.axes.append((kind, rate, cells))
        if kind in WHOLE:
            return Cloud(self, cells)
        part = _middles(self.draws)[:, len(self.axes) - 1].reshape([-1] + [1] * self.draws)
        return Cloud(self, (cells + part) * self.step)

    def _weight(self) -> float:
        """Returns the weight of the cells that the path has left."""
        drawn = tuple((kind, rate) for kind, rate, _ in self.axes)
        if drawn not in self.weights:
            self.weights[drawn] = self._weights()
        return self.share * float(np.sum(self.weights[drawn], where=self.mask))

    def _weights(self) -> Cells:
        whole = all(kind in WHOLE for kind, _, _ in self.axes)
        weight: Cells = np.full((1,) * (self.draws + 1), float(whole))
        smooth: list[list[tuple[Cells | None, float]]] = []  # of each axis: where, and the rate in a cell
        for k in range(self.draws):
            if k >= len(self.axes) or self.axes[k][0] in WHOLE:
                smooth.append([(None, 0.0)])
            else:
                _, rate, cells = self.axes[k]
                signs = [(cells >= 0, rate * self.step), (cells < 0, -rate * self.step)]
                smooth.append([(where, r) for where, r in signs if where.any()])
        for where, rates in () if whole else _products(smooth):
            parts = np.array(_parts(self.draws, rates)).reshape([-1] + [1] * self.draws)
            weight = weight + (parts if where is None else parts * where)
        for kind, rate, cells in self.axes:
            values = cells if kind in WHOLE else cells * self.step
            a = math.exp(-rate)
            scale = {
                "geometric": (1 - a) / (1 + a),
                "one_sided_geometric": 1 - a,
                "laplace": rate * self.step / 2,
                "exponential": rate * self.step,
            }[kind]
            weight = weight * (scale * np.exp(-rate * abs(values)))
        return weight

    def _words(self) -> dict[str, Any]:
        return {
            **{"len": len, "abs": abs, "min": _least, "max": _largest, "sum": sum, "range": range},
            "clamp": lambda x, low, high: low if x <= low else high if x >= high else x,
            "flip": lambda p: self._pick([(True, p), (False, 1 - Fraction(p))]),
            "uniform": lambda low, high: self._pick(
                [(k, Fraction(1, high - low + 1)) for k in range(low, high + 1)]
            ),
            "binomial": lambda n, p: self._pick(
                [(k, math.comb(n, k) * p**k * (1 - p) ** (n - k)) for k in range(n + 1)]
            ),
            "choice": lambda table: self._pick([*table.items()]),
            "geometric": lambda a: self._draw("geometric", -math.log(a)),
            "one_sided_geometric": lambda a: self._draw("one_sided_geometric", -math.log(a)),
            "laplace": lambda b: self._draw("laplace", 1 / b),
            "exponential": lambda b: self._draw("exponential", 1 / b),
            "output": self._output,
            "_stop": self._stop,
        }

    def _output(self, value: Any) -> None:
        self.told.append(self._plain(value))

    def _plain(self, value: Any) -> Hashable:
        if isinstance(value, list):
            return tuple(map(self._plain, value))
        if not isinstance(value, Cloud):
            return (type(value).__name__, value) if isinstance(value, (bool, str)) else float(value)
        possible = np.unique(
            np.broadcast_to(value.values, np.broadcast(value.values, self.mask).shape)[
                np.broadcast_to(self.mask, np.broadcast(value.values, self.mask).shape)
            ]
        )
        assert len(possible) < 100, "an output with noise"
        return next(float(v) for v in possible if value == v)

    def _stop(self) -> None:
        raise Stopped


def as_python(text: str, given: Mapping[str, Any]) -> str:
    """Returns the text as a function that is called; `return` outside of functions is output and stop."""
    text = re.sub(r"\bstop\b", "_stop()", text)
    body = "\n".join(f"    {line}" for line in text.splitlines())
    names = [name for name, value in given.items() if not callable(value)]
    call = f"_told = _main({', '.join(names)})\nif _told is not None:\n    output(_told)"
    return f"def _main({', '.join(names)}):\n{body}\n{call}"


WHOLE = ("geometric", "one_sided_geometric")


def _copied(value: Any) -> Any:
    return [_copied(v) for v in value] if isinstance(value, list) else value


def _largest(*given: Any) -> Any:
    return max(given[0] if len(given) == 1 else given)


def _least(*given: Any) -> Any:
    return min(given[0] if len(given) == 1 else given)


def _products(axes: Sequence[Sequence[tuple[Cells | None, float]]]) -> list[tuple[Any, tuple[float, ...]]]:
    """Returns each combination of the signs of the axes: where it is, and the rates in a cell."""
    found: list[tuple[Any, tuple[float, ...]]] = [(None, ())]
    for axis in axes:
        found = [
            (where if other is None else other if where is None else where & other, (*rates, rate))
            for where, rates in found
            for other, rate in axis
        ]
    return found


@cache
def _regions(draws: int) -> list[NDArray[Any]]:
    """Returns the simplices of the unit cube on which all comparisons are constant, by their corners.

    For two draws the square is cut by both diagonals: then u < v and u + v < 1 are constant, too.
    """
    if draws == 2:
        corners = [(0, 0), (1, 0), (1, 1), (0, 1)]
        return [np.array([(0.5, 0.5), corners[k], corners[(k + 1) % 4]]) for k in range(4)]
    found = []
    for order in permutations(range(draws)):
        point, simplex = [0.0] * draws, [[0.0] * draws]
        for axis in order:
            point[axis] = 1.0
            simplex.append(list(point))
        found.append(np.array(simplex))
    return found


@cache
def _middles(draws: int) -> NDArray[Any]:
    """Returns a point of each region, different in all its coordinates and their sums."""
    return np.array([[*map(float, np.dot(_SPREAD[len(r)], r))] for r in _regions(draws)])


_SPREAD = {2: (0.5, 0.5), 3: (0.5, 0.25, 0.25), 4: (0.125, 0.25, 0.25, 0.375)}


@cache
def _parts(draws: int, rates: tuple[float, ...]) -> list[float]:
    """Returns the integral of exp(-Σ rate·u) over each region."""
    mesh = np.meshgrid(*[NODES] * draws, indexing="ij")
    weight = np.ones_like(mesh[0])
    for k, share in enumerate(np.meshgrid(*[SHARES] * draws, indexing="ij")):
        weight = weight * share * mesh[k] ** (draws - 1 - k)  # of the map from the cube to a simplex
    found = []
    for corners in _regions(draws):
        point = corners[0].reshape([-1] + [1] * draws) * np.ones_like(mesh[0])
        product = np.ones_like(mesh[0])
        for k in range(draws):
            product = product * mesh[k]
            point = point + (corners[k + 1] - corners[k]).reshape([-1] + [1] * draws) * product
        volume = abs(np.linalg.det(corners[1:] - corners[0]))
        total = sum(rate * point[k] for k, rate in enumerate(rates))
        found.append(float((np.exp(-total) * weight).sum() * volume))
    return found
