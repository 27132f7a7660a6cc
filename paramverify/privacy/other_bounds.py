"""A case file read with other bounds of its privacy than its own."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from os import PathLike
from pathlib import Path

from paramverify.errors import CaseError
from paramverify.models.distances import NAME
from paramverify.models.settings import NONE, Settings
from paramverify.privacy.cases import NOWHERE, Case, read_case
from paramverify.privacy.keys import MEASURES
from paramverify.tables import in_case, read_document

ABOUT_BOUNDS = ("quantify", "design")  # tables that speak of the bounds of the file


def load_with_bounds(
    path: str | PathLike[str],
    bounds: Mapping[str, object],
    settings: Settings = NONE,
    at: Mapping[str, Fraction] = NOWHERE,
) -> Case:
    """Reads a case file like `load`, with other bounds of its privacy, as they stand in `[privacy]`.

    What the case says of conditions and designs is not looked at: they are about its own bounds.

    Raises:
        InputError: the case is not about privacy, or its bounds depend on a distance; see `load`.
    """
    document = read_document(Path(path))
    data = document.data
    privacy, neighbours = data.get("privacy"), data.get("neighbours")
    with in_case(str(path), document.text):
        if isinstance(neighbours, dict) and NAME in neighbours:
            reason = "these bounds are for all pairs alike, and the case gives the distance of two inputs"
            raise CaseError(reason, key=f"neighbours.{NAME}")
        if isinstance(privacy, dict):
            kept = {name: value for name, value in privacy.items() if name not in MEASURES}
            data = {name: table for name, table in data.items() if name not in ABOUT_BOUNDS}
            data["privacy"] = {**kept, **bounds}
    return read_case(data, document.digest, str(path), at, text=document.text, settings=settings)
