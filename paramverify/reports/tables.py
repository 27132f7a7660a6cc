"""Plain tables for the terminal and for files: as wide as they need to be, never wrapped."""

from __future__ import annotations

from collections.abc import Sequence

from paramverify.printable import escaped


def columns(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Returns the lines of a table with aligned columns, the header underlined."""
    table = [[escaped(cell) for cell in row] for row in (header, *rows)]
    widths = [max(len(row[k]) for row in table) for k in range(len(header))]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in table]
    return [lines[0], "  ".join("-" * w for w in widths), *lines[1:]]
