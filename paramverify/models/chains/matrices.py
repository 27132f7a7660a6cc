"""The matrix of a model that Storm built, as arrays.

Each entry that Storm hands to Python costs more than Storm needs to find it. So Storm writes the model to a
file, in its own format ([Hensel22]), and this file is read in large pieces: a line such as `\t\t3 : 1/2` is a
transition, and `\taction ...` starts a choice. The numbers of both are compared with the matrix.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from paramverify.errors import LimitError

Numbers: TypeAlias = "array[int]"

PIECE = 1 << 24  # bytes
_ENTRY = re.compile(rb"\t\t(\d+) : ([^\n]+)\n")
_CHOICE = b"\n\taction"


def transitions(model: Any) -> tuple[Numbers, Numbers, Numbers, dict[str, int]]:
    """Returns where the row of each choice begins, targets, values as numbers, and those values.

    Raises:
        LimitError: there was no room for the file.
    """
    import stormpy

    begins, targets, weights = array("q", [0]), array("i"), array("i")
    places: dict[bytes, int] = {}
    options = stormpy.io.DirectEncodingExporterOptions()
    options.allow_placeholders = False
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.drn"
        stormpy.io.export_to_drn(model, str(path), options=options)
        end = 0
        for piece in _pieces(path):
            rows = piece.split(_CHOICE)
            for row in rows[1:]:
                end += row.count(b"\n\t\t")
                begins.append(end)
            found = _ENTRY.findall(piece)
            targets.extend(map(int, [target for target, _ in found]))
            for _, value in found:
                if value not in places:
                    places[value] = len(places)
            weights.extend([places[value] for _, value in found])
    matrix = model.transition_matrix
    if (len(begins) - 1, len(targets), end) != (matrix.nr_rows, matrix.nr_entries, matrix.nr_entries):
        raise LimitError(
            "Storm could not write the whole model to a file: is the disk for temporary files full?"
        )
    return begins, targets, weights, {value.decode(): place for value, place in places.items()}


def _pieces(path: Path) -> Iterator[bytes]:
    """Yields the file in pieces of whole lines; all but the first begin at a state."""
    with path.open("rb") as file:
        rest = b""
        while read := file.read(PIECE):
            rest += read
            cut = rest.rfind(b"\nstate ")
            if cut > 0:
                yield rest[: cut + 1]
                rest = rest[cut:]
        yield rest
