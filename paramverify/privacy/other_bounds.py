"""A case file read with other bounds of its privacy than its own."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from os import PathLike
from pathlib import Path

from paramverify.algebra.expressions import constant
from paramverify.divergences.registry import measures
from paramverify.errors import CaseError, InputError, located
from paramverify.models.neighbourhoods import NAME
from paramverify.models.settings import NONE, Settings
from paramverify.privacy.cases import NOWHERE, PrivacyCase, read_case
from paramverify.tables import read_document

ABOUT_BOUNDS = ("quantify", "design")  # tables that speak of the bounds of the file


def load_with_bounds(
    path: str | PathLike[str],
    bounds: Mapping[str, object],
    settings: Settings = NONE,
    at: Mapping[str, Fraction] = NOWHERE,
) -> PrivacyCase:
    """Reads a case file like `load`, with other bounds of its privacy, as they stand in `[privacy]`.

    What the case says of conditions and designs is not looked at: they are about its own bounds.

    Raises:
        InputError: the case is not about privacy, or its bounds depend on a distance; see `load`.
    """
    document = read_document(Path(path))
    data = document.data
    privacy, neighbours = data.get("privacy"), data.get("neighbours")
    with document.errors():
        if isinstance(neighbours, dict) and NAME in neighbours:
            reason = "these bounds are for all pairs alike, and the case gives the distance of two inputs"
            raise CaseError(reason, key=f"neighbours.{NAME}")
        if isinstance(privacy, dict):
            kept = {name: value for name, value in privacy.items() if name not in measures()}
            data = {name: table for name, table in data.items() if name not in ABOUT_BOUNDS}
            data["privacy"] = {**kept, **bounds}
    return read_case(document.saying(data), at, settings=settings)


def load_for_least(
    path: str | PathLike[str],
    delta_for: str | None,
    epsilon_for: str | None,
    settings: Settings = NONE,
    names: tuple[str, str] = ("--delta-for", "--epsilon-for"),
) -> PrivacyCase:
    """Reads a case with the bound for which the least other one is looked for: an epsilon, else a delta.

    `names` are what errors call them. The bound that is looked for is 1 in the case.

    Raises:
        InputError: the bound has no meaning; see `load_with_bounds`.
    """
    if delta_for is not None:
        try:
            return load_with_bounds(path, {"epsilon": delta_for, "delta": "1"}, settings)
        except InputError as error:
            if error.key.startswith("privacy.epsilon"):
                raise InputError(error.reason, key=names[0]) from None
            raise
    assert epsilon_for is not None
    with located(key=names[1]):
        value = constant(epsilon_for)
        if not 0 < value <= 1:
            reason = "a delta above 0, and at most 1, is needed here"
            raise InputError(f"{reason}; for delta 0 leave the option out" if value == 0 else reason)
    return load_with_bounds(path, {"ratio": "1", "delta": str(value)}, settings)


def is_total_variation(case: PrivacyCase) -> bool:
    """Tells whether a case bounds the total variation distance, which is the least delta for the ratio 1."""
    return "total_variation" in case.document.data.get("privacy", {})
