"""Whether a proof about listed whole numbers ends at their ranges: larger ones, to look for a violation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from paramverify.errors import InputError
from paramverify.evidence.witnesses import AnyWitness
from paramverify.models.ranges import ends_of
from paramverify.privacy.cases import Case, read_case

BITS = (0, 1)  # a range of these is that of all bits


@dataclass(frozen=True, eq=False)
class Larger:
    """A violation among larger inputs than those of a case: the inputs in words, and its witness."""

    over: str
    witness: AnyWitness


def larger_cases(case: Case) -> Iterator[Case]:
    """Yields the case with larger ranges of its whole numbers, the next ones first.

    Ranges are made longer by one number above, by one below, and to twice their length. Neighbours have to be
    described by `differ` or `related`, which means the same for other inputs. What cannot be read with them,
    such as a program with an index out of its array, is left out.

    Raises:
        LimitError: there are too many inputs, or the time is over.
    """
    mechanism, neighbours = (case.data.get(name, {}) for name in ("mechanism", "neighbours"))
    inputs = mechanism.get("inputs", {})
    if not case.neighbours or not {"differ", "related"} & neighbours.keys():
        return
    ranges = {name: ends for name, ends in ((n, _ends(inputs[n])) for n in inputs) if ends and ends != BITS}
    if not ranges:
        return
    for below, above, twice in ((0, 1, False), (1, 0, False), (0, 0, True)):
        longer = dict(inputs)
        for name, (low, high) in ranges.items():
            more = high - low + 1 if twice else 0
            ends = low - below - (more if low < 0 else 0), high + above + more
            longer[name] = {**inputs[name], "values": f"{ends[0]}..{ends[1]}"}
        larger = {**case.data, "mechanism": {**mechanism, "inputs": longer}}
        with suppress(InputError):
            yield read_case(larger, case.digest, case.path, text=case.text)


def _ends(given: object) -> tuple[int, int] | None:
    """Returns the ends of a range of whole numbers; a list is taken to have all values that there are."""
    values: Any = given.get("values") if isinstance(given, dict) else None
    return ends_of(values) if isinstance(values, str) else None
