"""Code of the user: outputs are counted as they were returned, and its mistakes are told as such."""

from __future__ import annotations

import os
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from paramverify.errors import InputError
from paramverify.statistics.black_boxes import BlackBox, is_vectorised
from paramverify.statistics.events import OutputEvent
from paramverify.statistics.samplers import Counts, Draws

BUFFER = [0]
ROW = np.zeros(2)


def counts(mechanism: Callable[..., Any], size: int = 1000, vectorised: bool = False) -> Counts:
    draws = Draws.of([[Fraction(1)]])
    box = BlackBox(mechanism, vectorised, inputs=(0,), draws=draws, length=None)
    return box(np.random.default_rng(1), size)


def reuse(rng: Any, given: Any) -> list[int]:
    BUFFER[0] = int(rng.integers(0, 2))
    return BUFFER


def reuse_array(rng: Any, given: Any) -> Any:
    ROW[:] = rng.integers(0, 2)
    return ROW


@pytest.mark.parametrize("mechanism", [reuse, reuse_array])
def test_reused_outputs(mechanism: Callable[..., Any]) -> None:
    """A list or array that is used again counts with each of its values."""
    assert sorted(n > 400 for n in counts(mechanism).values()) == [True, True]


@pytest.mark.parametrize("row", [[0], ROW])
def test_the_same_row(row: object) -> None:
    """One row for several outputs is refused."""
    with pytest.raises(InputError, match="for several outputs"):
        counts(lambda rng, given, size: [row] * size, vectorised=True)


@pytest.mark.parametrize(
    ("one", "other"), [(Decimal("1.50"), Decimal("1.5")), (10**16, 1e16), (Fraction(1, 2), 0.5)]
)
def test_equal_with_other_labels(one: object, other: object) -> None:
    """Equal values with different labels are counted apart, in any order."""
    for pair in ((one, other), (other, one)):
        found = counts(lambda rng, given, size, pair=pair: [pair[k % 2] for k in range(size)], 10, True)
        assert dict(found) == {(str(one),): 5, (str(other),): 5}


class Unread:
    def __str__(self) -> str:
        raise RuntimeError("no")


class Unsaid(BaseException):
    def __str__(self) -> str:
        raise RuntimeError("no")


class BadList(list[int]):
    def __iter__(self) -> Any:
        raise RuntimeError("no")


def fails(error: BaseException) -> Callable[..., Any]:
    def mechanism(rng: Any, given: Any) -> Any:
        raise error

    return mechanism


@pytest.mark.parametrize(
    ("mechanism", "reason"),
    [
        (fails(GeneratorExit()), "raised GeneratorExit"),
        (fails(StopIteration()), "raised StopIteration"),
        (fails(Unsaid()), "raised Unsaid, whose message cannot be read"),
        (lambda rng, given: Unread(), "not Unread"),
        (lambda rng, given: BadList([1]), "cannot be read: RuntimeError"),
        (lambda rng, given: np.ma.masked_array([1.0], mask=[True]), "masked"),
    ],
)
def test_mistakes_of_the_user(mechanism: Callable[..., Any], reason: str) -> None:
    """Whatever the code raises, and outputs that cannot be read, are mistakes in the input."""
    with pytest.raises(InputError, match=reason):
        counts(mechanism)


def test_rows_in_a_tuple() -> None:
    """Rows of different lengths may come in a tuple."""
    assert counts(lambda rng, given, size: ([1], [1, 2]), 2, True) == {("1",): 1, ("1", "2"): 1}


def test_the_empty_list_in_words() -> None:
    """An output without labels is named."""
    assert str(OutputEvent("is", ())) == "output that is an empty list"


def test_prints(capfd: pytest.CaptureFixture[str]) -> None:
    """What the code prints goes to standard error, also past Python."""

    def mechanism(rng: Any, given: Any) -> int:
        print("hello")
        os.write(1, b"raw")
        return 1

    counts(mechanism, 1)
    out, error = capfd.readouterr()
    assert out == ""
    assert "hello" in error
    assert "raw" in error


def _option(rng: Any, given: Any, off: int = 0) -> int:
    return int(given) + off


def _size(rng: Any, given: Any, size: int = 1) -> list[int]:
    return [int(given)] * size


def _late(rng: Any, given: Any, size: int, scale: float = 1.0) -> list[int]:
    return [int(given)] * size


@pytest.mark.parametrize(("mechanism", "many"), [(_option, False), (_size, True), (_late, True)])
def test_options_are_no_size(mechanism: Callable[..., Any], many: bool) -> None:
    """A third argument with a default is an option of the function, unless its name is `size`."""
    assert is_vectorised(mechanism) == many
