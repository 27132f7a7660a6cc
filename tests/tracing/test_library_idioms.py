"""Idioms of libraries in adopted functions: scaled noise, cosines, bounds that are floats, and many ways."""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import paramverify
from paramverify.errors import InputError

POSITIVE = {"epsilon": "(0, oo)"}
VALUE = {"value": {"values": "0..2"}}


def adopt(function: Callable[..., Any], **given: Any) -> paramverify.Mechanism:
    """Adopts a function of one whole number with a symbolic epsilon."""
    known: dict[str, Any] = {
        "inputs": VALUE,
        "parameters": POSITIVE,
        "epsilon": "epsilon",
        "neighbours": {"differ": "one", "by": 1},
    }
    return paramverify.adopt(function, **{**known, **given})


def _scaled(value: int, epsilon: float) -> float:
    return value + np.random.laplace() * (1 / epsilon)


def _scaled_twice(value: int, epsilon: float) -> float:
    noise = np.random.laplace()
    return value + noise / epsilon - 3 * (noise / epsilon)


def _scaled_and_kept(value: int, epsilon: float) -> list[float]:
    noise = np.random.laplace()
    return [value + noise / epsilon, noise]


def _scaled_after(value: int, epsilon: float) -> float:
    noise = np.random.laplace()
    return value + (noise if noise < 0 else noise * (1 / epsilon))


def test_noise_times_a_formula_is_noise_of_that_scale() -> None:
    """A draw is multiplied by a parameter after it was drawn; the product stands for it from then on."""
    assert "laplace(1/(epsilon))" in adopt(_scaled).to_toml()
    assert adopt(_scaled).verify().verdict == "private"
    assert adopt(_scaled_twice).verify().verdict == "private"
    for function, word in ((_scaled_and_kept, "multiplied"), (_scaled_after, "compared")):
        with pytest.raises(InputError, match=word):
            adopt(function)


def _two_products(value: int, epsilon: float) -> float:
    draws = [random.random() for _ in range(4)]
    first = math.log(1 - draws[0]) * math.cos(math.pi * draws[1])
    return value - (first + math.log(1 - draws[2]) * math.cos(math.pi * draws[3])) / epsilon


def _one_product(value: int, epsilon: float) -> float:
    return value + math.log(1 - random.random()) * math.cos(math.pi * random.random()) / epsilon


def _same_product(value: int, epsilon: float) -> float:
    one = math.log(1 - random.random()) * math.cos(math.pi * random.random())
    return value + (one + one) / epsilon


def _same_angle(value: int, epsilon: float) -> float:
    angle = 2 * math.pi * random.random()
    noise = math.log(random.random()) * math.cos(angle) + math.log(random.random()) * math.sin(angle)
    return value + noise / epsilon


def _half_angle(value: int, epsilon: float) -> float:
    noise = [math.log(random.random()) * math.sin(math.pi * random.random()) for _ in range(2)]
    return value + (noise[0] + noise[1]) / epsilon


def _uneven(value: int, epsilon: float) -> float:
    noise = [math.log(random.random()) * math.cos(math.pi * random.random()) for _ in range(2)]
    return value + (noise[0] + 2 * noise[1]) / epsilon


def test_two_logarithms_times_cosines_are_laplace_noise() -> None:
    """The sum of two independent log(U) * cos(pi * V) is Laplace noise; no other use is supported."""
    adopted = adopt(_two_products)
    assert "laplace(1/(epsilon))" in adopted.to_toml()
    assert adopted.verify().verdict == "private"
    for function in (_one_product, _same_product, _same_angle, _half_angle, _uneven):
        with pytest.raises(InputError, match=r"cos"):
            adopt(function)


def test_the_sum_of_two_products_has_the_law_of_laplace() -> None:
    """Samples of the sum agree with the distribution function of Laplace noise."""
    rng = np.random.default_rng(1)
    u, v, w, x = rng.random((4, 40_000))
    noise = np.sort(np.log(1 - u) * np.cos(np.pi * v) + np.log(1 - w) * np.cos(np.pi * x))
    exact = np.where(noise < 0, np.exp(noise) / 2, 1 - np.exp(-noise) / 2)
    assert np.abs(exact - np.arange(len(noise)) / len(noise)).max() < 0.0136  # missed with probability 1e-6


def _float_bound(value: int) -> int:
    return (value + random.randint(0, math.pow(2, 2) - 1)) % 4  # type: ignore[arg-type]


def _numpy_float_bound(value: int) -> int:
    return int(value + np.random.randint(0, 8 / 2)) % 4


def _broken_bound(value: int) -> int:
    return int(value + np.random.randint(0, 5 / 2)) % 4


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_bounds_that_are_whole_floats() -> None:
    """Bounds of random whole numbers may be floats where Python allows it."""
    plain: dict[str, Any] = {"parameters": None, "epsilon": 0}
    assert adopt(_numpy_float_bound, **plain).verify().verdict == "private"
    with pytest.raises(InputError, match="not whole"):
        adopt(_broken_bound, **plain)
    if sys.version_info < (3, 12):
        adopted = adopt(_float_bound, **plain)
        assert adopted.verify().verdict == "private"
        assert any("3.12" in note for note in adopted.explored.notes)


def _folded(value: int, epsilon: float) -> float:
    def fold(number: float) -> float:
        return fold(-number) if number < 0 else fold(2 - number) if number > 1 else number

    return fold(value + np.random.laplace(scale=1 / epsilon))


def test_a_recursion_without_a_bound_is_named() -> None:
    """The message of a recursion that follows noise says what to do."""
    with pytest.raises(InputError, match="recursion"):
        adopt(_folded)


def _hash_of(modulus: int) -> Callable[[int], int]:
    return lambda value: value % modulus


HASHES = [_hash_of(2), _hash_of(3)]


def _hashed(value: int) -> list[int]:
    k = random.randrange(2)
    return [k, HASHES[k](value)]


def test_functions_of_one_text_have_closures_of_their_own() -> None:
    """Two functions that one function made are not one function that changed."""
    adopted = adopt(_hashed, parameters=None, epsilon=1)
    assert len(adopted.probabilities()["1"]) == 2


def _many_ways(value: int) -> list[int]:
    return [random.randrange(70), value]


def _many_inputs(value: int) -> int:
    return value


@pytest.mark.slow
def test_more_ways_than_blocks_inside_each_other() -> None:
    """Many inputs and many outputs of a draw are no deep program."""
    for function, values in ((_many_ways, "0..1"), (_many_inputs, "0..69")):
        adopted = adopt(function, parameters=None, epsilon=1, inputs={"value": {"values": values}})
        assert "elif" in adopted.to_toml()
        assert adopted.verify().verdict == "not private"


def test_larger_inputs_are_not_asked_of_a_program_that_was_made() -> None:
    """The last branch of an adopted program belongs to a listed input, and says nothing about others."""
    report = adopt(_scaled).verify()
    assert report.larger is None
    assert "larger inputs" in str(report)
    assert "private for value" not in str(report)
