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
    reason = "has a meaning only in a function that @paramverify.mechanism decorates"
    return InputError(f"{name}(...) {reason}: call that function to draw samples")


def flip(p: Number) -> bool:
    """Returns True with probability p.

    Args:
        p (number): A probability, from 0 to 1.

    Returns:
        True or False.
    """
    raise _outside("flip")


def uniform(lo: int, hi: int) -> int:
    """Draws a whole number from lo to hi, each with the same probability.

    Args:
        lo (int): The least number.
        hi (int): The largest number.

    Returns:
        The number.
    """
    raise _outside("uniform")


def choice(table: Mapping[Value, Number]) -> Value:
    """Draws a value of a table.

    Args:
        table (dict): The probability of each value; the probabilities sum to 1.

    Returns:
        The value.
    """
    raise _outside("choice")


def binomial(n: int, p: Number) -> int:
    """Draws from the binomial distribution: Pr(k) = C(n, k)·p^k·(1−p)^(n−k) for k in 0..n.

    Args:
        n (int): The number of trials.
        p (number): The probability of success, from 0 to 1.

    Returns:
        The number of successes.
    """
    raise _outside("binomial")


def geometric(a: Number) -> int:
    """Draws two-sided geometric noise: Pr(k) = (1−a)/(1+a)·a^|k| for all whole numbers k.

    Args:
        a (number): The ratio of neighbouring probabilities, between 0 and 1; e^(−ε/Δ) for sensitivity Δ.

    Returns:
        The noise, which is unbounded.
    """
    raise _outside("geometric")


def one_sided_geometric(a: Number) -> int:
    """Draws from the geometric distribution: Pr(k) = (1−a)·a^k for k ≥ 0.

    Args:
        a (number): The ratio of neighbouring probabilities, between 0 and 1.

    Returns:
        The number, which is unbounded.
    """
    raise _outside("one_sided_geometric")


def laplace(b: Number) -> float:
    """Draws Laplace noise, with the density exp(−|x|/b)/(2b).

    Args:
        b (number): The scale, above 0.

    Returns:
        The noise, a real number.
    """
    raise _outside("laplace")


def exponential(b: Number) -> float:
    """Draws from the exponential distribution, with the density exp(−x/b)/b for x ≥ 0.

    Args:
        b (number): The mean, above 0.

    Returns:
        The real number.
    """
    raise _outside("exponential")


def gauss(sigma: Number) -> float:
    """Draws Gaussian noise, with the density exp(−x²/(2σ²))/(σ·√(2π)).

    Args:
        sigma (number): The standard deviation σ, above 0.

    Returns:
        The noise, a real number.
    """
    raise _outside("gauss")


def discrete_gaussian(sigma: Number) -> int:
    """Draws discrete Gaussian noise: Pr(k) is proportional to exp(−k²/(2σ²)) for all whole numbers k.

    Args:
        sigma (number): The parameter σ, above 0.

    Returns:
        The noise, which is unbounded.
    """
    raise _outside("discrete_gaussian")


def clamp(x: Number, lo: Number, hi: Number) -> Number:
    """Returns the number from lo to hi that is nearest to x.

    Args:
        x (number): The number.
        lo (number): The least result.
        hi (number): The largest result.

    Returns:
        The nearest number.
    """
    raise _outside("clamp")


def exp(x: Number) -> float:
    """Returns e to the power of x, for use in probabilities.

    Args:
        x (number): The exponent.

    Returns:
        The power.
    """
    raise _outside("exp")


def output(value: object) -> None:
    """Adds a value to the output of the program.

    Args:
        value (value): What an observer sees.
    """
    raise _outside("output")


def stop() -> NoReturn:
    """Ends the program, as `return` does."""
    raise _outside("stop")
