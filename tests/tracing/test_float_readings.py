"""Floats in adopted functions: read as the decimal numbers that Python shows, or as binary fractions."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from paramverify.api.adopting import adopt
from paramverify.errors import InputError

RATE = 0.1
RATES = np.array([0.5, 0.1])


class _Coin:
    """A coin with a probability."""

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def flip(self, x: int) -> bool:
        """Flips the coin."""
        return random.random() < self.rate


def _closure() -> Callable[..., bool]:
    rate = 0.1

    def flip(x: int) -> bool:
        return random.random() < rate

    return flip


def _literal(x: int) -> bool:
    return random.random() < 0.1


def _global(x: int) -> bool:
    return random.random() < RATE


def _default(x: int, rate: float = 0.1) -> bool:
    return random.random() < rate


def _array(x: int) -> bool:
    return bool(np.random.random() < RATES[1])


def _weights(x: int) -> bool:
    return random.choices([True, False], cum_weights=[0.1, 1])[0]


READINGS = {"decimal": Fraction(1, 10), "binary": Fraction(0.1)}


@pytest.mark.parametrize("floats", READINGS)
@pytest.mark.parametrize(
    "function", [_literal, _global, _default, _array, _weights, _closure(), _Coin(0.1).flip]
)
def test_probabilities(function: Callable[..., Any], floats: str) -> None:
    """A float is the probability that its reading says, wherever the code has it."""
    found = adopt(function, inputs={"x": {"values": [0, 1]}}, epsilon=1, floats=floats)
    assert Fraction(str(found.probabilities()["0"]["True"])) == READINGS[floats]


def _sum(x: int) -> bool:
    return random.random() < 0.1 + 0.2


def _rounding(x: int) -> bool:
    return 0.1 + 0.2 == 0.3


def _output(x: int) -> list[float]:
    return [RATE, 0.1, RATE + 0.1]


def _angle(x: int) -> bool:
    return bool(math.cos(math.pi * random.random()) * math.log(random.random()) > 9)


def test_arithmetic_is_exact() -> None:
    """Sums and outputs have the numbers of the reading; an input that is a float has, too."""

    def texts(function: Callable[..., Any], **inputs: Any) -> list[str]:
        given = inputs or {"x": {"values": [0, 1]}}
        return [adopt(function, inputs=given, epsilon=1, floats=word).to_toml() for word in READINGS]

    decimal, binary = texts(_sum)
    assert "flip((3/10))" in decimal
    assert f"flip(({Fraction(0.1) + Fraction(0.2)}))" in binary
    with pytest.raises(InputError, match="only rounding decides"):
        texts(_rounding)
    decimal, binary = texts(_output)
    assert "return [(1/10), (1/10), (1/5)]" in decimal
    exact = Fraction(0.1)
    assert f"return [({exact}), ({exact}), ({2 * exact})]" in binary
    decimal, binary = texts(lambda x: x == 0.1, x={"values": ["1/10", "1/2"]})
    assert "return True" in decimal
    assert "return True" in binary


def test_the_reading_is_noted() -> None:
    """The answer names the reading, and angles are read in the same way; another word is refused."""
    given: dict[str, Any] = {"inputs": {"x": {"values": [0, 1]}}, "epsilon": 1}
    assert "exact decimal numbers in the place of floats" in str(adopt(_literal, **given).verify())
    binary = str(adopt(_literal, floats="binary", **given).verify())
    assert "the binary fractions that they are, with exact arithmetic, in the place of floats" in binary
    for word in READINGS:
        with pytest.raises(InputError, match="product of a logarithm and a cosine"):
            adopt(_angle, floats=word, **given)
    with pytest.raises(InputError, match='write "decimal" or "binary"'):
        adopt(_literal, floats="hexadecimal", **given)
