"""The words of programs as Python names: what a function that `mechanism` decorates may import and call.

The body of such a function is read and never run. So these functions do nothing but say so, and give editors
and type checkers what they need.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import NoReturn, TypeVar

from paramverify.errors import InputError

Number = int | float | Fraction
Value = TypeVar("Value")


def _outside(name: str) -> InputError:
    reason = "stands in a function that @paramverify.mechanism decorates, which is read and not run"
    return InputError(f"{name}(...) {reason}; call that function to draw samples")


def flip(p: Number) -> bool:
    """True with probability p."""
    raise _outside("flip")


def uniform(lo: int, hi: int) -> int:
    """Each whole number from lo to hi alike."""
    raise _outside("uniform")


def choice(table: Mapping[Value, Number]) -> Value:
    """Each value of the table with its probability."""
    raise _outside("choice")


def binomial(n: int, p: Number) -> int:
    """Pr(k) = C(n, k)·p^k·(1−p)^(n−k)."""
    raise _outside("binomial")


def geometric(a: Number) -> int:
    """Pr(k) = (1−a)/(1+a)·a^|k|, on all whole numbers."""
    raise _outside("geometric")


def one_sided_geometric(a: Number) -> int:
    """Pr(k) = (1−a)·a^k, for k ≥ 0."""
    raise _outside("one_sided_geometric")


def laplace(b: Number) -> float:
    """Density exp(−|x|/b)/(2b)."""
    raise _outside("laplace")


def exponential(b: Number) -> float:
    """Density exp(−x/b)/b, for x ≥ 0."""
    raise _outside("exponential")


def gauss(sigma: Number) -> float:
    """Density exp(−x²/(2σ²))/(σ·√(2π))."""
    raise _outside("gauss")


def discrete_gaussian(sigma: Number) -> int:
    """Pr(k) in proportion to exp(−k²/(2σ²)), on all whole numbers."""
    raise _outside("discrete_gaussian")


def clamp(x: Number, lo: Number, hi: Number) -> Number:
    """The number from lo to hi that is nearest to x."""
    raise _outside("clamp")


def exp(x: Number) -> float:
    """e to the power of x, where a probability is needed."""
    raise _outside("exp")


def output(value: object) -> None:
    """Adds a value to the output."""
    raise _outside("output")


def stop() -> NoReturn:
    """Ends the run; `return` does so too."""
    raise _outside("stop")
