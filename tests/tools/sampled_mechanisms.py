"""Mechanisms in Python for the tests of sampling: right ones, wrong ones, and some that break the rules."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

Given = tuple[int, ...]
One = int


def geometric(rng: np.random.Generator, given: One, size: int) -> np.ndarray[Any, Any]:
    """The truncated 1/2-geometric mechanism on {0, 1, 2}: two-sided geometric noise, cut off at the ends."""
    return np.clip(given + rng.geometric(0.5, size) - rng.geometric(0.5, size), 0, 2)


def one_by_one(rng: np.random.Generator, given: One) -> int:
    """The same, one run at a time."""
    return int(geometric(rng, given, 1)[0])


def off_by_one(rng: np.random.Generator, given: One, size: int) -> np.ndarray[Any, Any]:
    """Wrong: one of the two geometric draws counts from 0, the other from 1."""
    return np.clip(given + rng.geometric(0.5, size) - rng.geometric(0.5, size) - 1, 0, 2)


def rounded_laplace(rng: np.random.Generator, given: One, size: int) -> np.ndarray[Any, Any]:
    """Wrong: Laplace noise of the same epsilon, rounded to whole numbers, as floats."""
    return np.clip(np.round(given + rng.laplace(0, 1 / np.log(2), size)), 0, 2)


def leaking(rng: np.random.Generator, given: One, size: int) -> np.ndarray[Any, Any]:
    """Wrong: one run in ten thousand answers with a number that the model does not have."""
    return np.where(rng.random(size) < 1e-4, 7, geometric(rng, given, size))


def noisy_max(rng: np.random.Generator, given: Given, size: int) -> np.ndarray[Any, Any]:
    """Noisy max with ties broken uniformly, written on its own."""
    noise = rng.geometric(0.5, (size, len(given))) - rng.geometric(0.5, (size, len(given)))
    noisy = np.clip(np.array(given) + noise, 0, 2)
    return 1 + np.argmax(noisy + rng.random(noisy.shape) / 2, axis=1)


def noisy_max_first(rng: np.random.Generator, given: Given, size: int) -> np.ndarray[Any, Any]:
    """Wrong where ties are broken uniformly: the first maximum is taken."""
    noise = rng.geometric(0.5, (size, len(given))) - rng.geometric(0.5, (size, len(given)))
    return 1 + np.argmax(np.clip(np.array(given) + noise, 0, 2), axis=1)


def above_threshold(rng: np.random.Generator, given: Given) -> list[str]:
    """Above threshold on {0, 1, 2}, which stops after its first positive answer."""
    threshold, *answers = given
    noisy = np.clip(threshold + rng.geometric(0.75) - rng.geometric(0.75), 0, 2)
    outputs = []
    for answer in answers:
        above = np.clip(answer + rng.geometric(0.5) - rng.geometric(0.5), 0, 2) >= noisy
        outputs.append("⊤" if above else "⊥")
        if above:
            break
    return outputs


def sparse_vector(rng: np.random.Generator, given: Given) -> list[str]:
    """The program of cases/programs/sparse-vector.toml at alpha = 1/2, written on its own."""
    return _above(given, rng, noisy_threshold=rng.geometric(0.75) - rng.geometric(0.75))


def _above(given: Given, rng: np.random.Generator, noisy_threshold: int) -> list[str]:
    told = []
    for answer in given:
        if answer + rng.geometric(0.5) - rng.geometric(0.5) >= noisy_threshold:
            return [*told, "above"]
        told.append("below")
    return told


def laplace(rng: np.random.Generator, given: One, size: int) -> np.ndarray[Any, Any]:
    """Continuous Laplace noise of epsilon 1: no output comes twice."""
    return given + rng.laplace(0, 1, size)


def too_few(rng: np.random.Generator, given: One, size: int) -> np.ndarray[Any, Any]:
    """Breaks the rule that there are `size` outputs."""
    return geometric(rng, given, size)[1:]


def no_arguments() -> int:
    """Breaks the rule that a mechanism has an input."""
    return 0


def failing(rng: np.random.Generator, given: One, size: int) -> None:
    """Raises an exception of its own."""
    raise ZeroDivisionError("division by nothing")


def slow(rng: np.random.Generator, given: One) -> int:
    """Takes longer than anybody waits."""
    time.sleep(0.01)
    return 0


def unique(rng: np.random.Generator, given: One) -> str:
    """A label that does not come again."""
    return f"x{rng.bytes(16).hex()}"


def far(rng: np.random.Generator, given: One, size: int) -> np.ndarray[Any, Any]:
    """Numbers of which the squares overflow, and infinity, whatever the input."""
    return np.where(rng.random(size) < 0.1, np.inf, rng.uniform(-1, 1, size) * 1.7e308)


def nested(rng: np.random.Generator, given: One) -> list[list[int]]:
    """Breaks the rule that an output is a label or a list of labels."""
    return [[1], [2]]


def opaque(rng: np.random.Generator, given: One) -> object:
    """Breaks it too: this object has no stable text."""
    return object()


def ends(rng: np.random.Generator, given: One) -> None:
    """Ends the program, as if all were well."""
    raise SystemExit(0)


nameless = lambda rng, given: 0  # noqa: E731


def at_the_ends(rng: np.random.Generator, given: One, size: int) -> np.ndarray[Any, Any]:
    """A number that is infinite half of the time, on the side that depends on the answer."""
    end = np.inf if given == 1 else -np.inf
    return np.where(rng.random(size) < 0.5, end, rng.normal(size=size) + given)


def undefined(rng: np.random.Generator, given: One, size: int) -> np.ndarray[Any, Any]:
    """No number half of the time."""
    return np.where(rng.random(size) < 0.5, np.nan, rng.normal(size=size) + given)


def nothing(rng: np.random.Generator, given: One) -> list[int]:
    """An empty list, always."""
    del rng, given
    return []


def sometimes_nothing(rng: np.random.Generator, given: One) -> list[int]:
    """An empty list, or the answer itself."""
    return [] if rng.random() < 0.5 else [given]


def seven(rng: np.random.Generator, given: One) -> int:
    """One output, whatever the answer is: there are no two classes to learn."""
    del rng, given
    return 7
