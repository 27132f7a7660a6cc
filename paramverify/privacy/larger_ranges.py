"""Ranges of whole numbers made longer and shorter: what a case says of other inputs than those it lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from paramverify.errors import InputError
from paramverify.evidence.witness import AnyWitness
from paramverify.models.ranges import ends_of
from paramverify.privacy.cases import PrivacyCase, read_case

BITS = (0, 1)  # a range of these is that of all bits


@dataclass(frozen=True, eq=False)
class Larger:
    """A violation among larger inputs than those of a case: the inputs in words, and its witness."""

    over: str
    witness: AnyWitness


def larger_cases(case: PrivacyCase) -> Iterator[PrivacyCase]:
    """Yields the case with larger ranges of its whole numbers, the next ones first.

    Ranges are made longer by one number above, by one below, and to twice their length. Neighbours have to be
    described by `differ` or `related`, which means the same for other inputs. What cannot be read with them,
    such as a program with an index out of its array, is left out. There are none of a program that was made.

    Raises:
        LimitError: there are too many inputs, or the time is over.
    """
    if is_made(case):
        return
    yield from _each(case, lambda low, high: (low, high + 1))
    yield from _each(case, lambda low, high: (low - 1, high))
    yield from _each(case, _longer)


def smaller_cases(case: PrivacyCase) -> Iterator[PrivacyCase]:
    """Yields the case with ranges of its whole numbers without their largest ones, and without the smallest.

    They are read as those of `larger_cases` are; what has no neighbours then is left out.
    """
    yield from _each(case, lambda low, high: (low, max(low, high - 1)))
    yield from _each(case, lambda low, high: (min(high, low + 1), high))


def has_ranges(case: PrivacyCase) -> bool:
    """Tells whether a case lists whole numbers by ranges, and its neighbours mean the same for others."""
    return bool(_ranges(case))


def is_made(case: PrivacyCase) -> bool:
    """Tells whether a program was made for the listed inputs only, such as from runs of a function.

    Its last branch, which belongs to one of these inputs, says nothing about inputs that are not listed.
    """
    return "origin" in case.data.get("mechanism", {})


def lists_bits(case: PrivacyCase) -> bool:
    """Tells whether an input of a program is the range 0..1, which is taken to have all values that exist."""
    inputs = case.data.get("mechanism", {}).get("inputs", {}) if case.kind == "program" else {}
    return case.neighbours and any(_ends(given) == BITS for given in inputs.values())


def _longer(low: int, high: int) -> tuple[int, int]:
    """Returns a range of twice as many numbers; with negative ones, of three times as many."""
    more = high - low + 1
    return low - (more if low < 0 else 0), high + more


def _each(case: PrivacyCase, ends: Callable[[int, int], tuple[int, int]]) -> Iterator[PrivacyCase]:
    """Yields the case with other ends of all its ranges of whole numbers, if it has any and can be read."""
    ranges = _ranges(case)
    if not ranges:
        return
    mechanism = case.data["mechanism"]
    inputs = mechanism["inputs"]
    other = dict(inputs)
    for name, given in ranges.items():
        low, high = ends(*given)
        other[name] = {**inputs[name], "values": f"{low}..{high}"}
    changed = {**case.data, "mechanism": {**mechanism, "inputs": other}}
    with suppress(InputError):
        yield read_case(case.document.saying(changed))


def _ranges(case: PrivacyCase) -> dict[str, tuple[int, int]]:
    """Returns the ends of the ranges of a case by the names of inputs."""
    mechanism, neighbours = (case.data.get(name, {}) for name in ("mechanism", "neighbours"))
    if not case.neighbours or not {"differ", "related"} & neighbours.keys():
        return {}
    ends = ((name, _ends(given)) for name, given in mechanism.get("inputs", {}).items())
    return {name: own for name, own in ends if own and own != BITS}


def _ends(given: object) -> tuple[int, int] | None:
    """Returns the ends of a range of whole numbers; a list is taken to have all values that there are."""
    values: Any = given.get("values") if isinstance(given, dict) else None
    return ends_of(values) if isinstance(values, str) else None
