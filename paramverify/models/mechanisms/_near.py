"""Which values of one answer are near each other, and the inputs near one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product

from paramverify.algebra.expressions import Value
from paramverify.errors import CaseError
from paramverify.models.names import as_value


def near_values(values: Sequence[Value], by: int | None) -> list[list[int]]:
    """Returns for the place of each value the places of those that are near it."""
    if by is None:
        return [list(range(len(values)))] * len(values)
    numbers = [_number(v) for v in values]
    return [[k for k, w in enumerate(numbers) if abs(v - w) <= by] for v in numbers]


def _number(value: Value) -> Fraction:
    number = as_value(value) if isinstance(value, str) else value
    if isinstance(number, str):
        raise CaseError(f'labels such as {number!r} have no distance; write by = "any"', key="by")
    return Fraction(number)


def changes(
    left: tuple[int, ...], near: Sequence[Sequence[Sequence[int]]], differ: str
) -> Iterable[tuple[int, ...]]:
    """Yields the inputs near one; an input is told by the places of its answers among their values."""
    if differ == "each":
        return product(*(near[k][v] for k, v in enumerate(left)))
    return ((*left[:k], w, *left[k + 1 :]) for k, v in enumerate(left) for w in near[k][v])
