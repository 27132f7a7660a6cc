"""Files of decided cells, so that an interrupted region map goes on where it stopped.

JSON lines: a header that says which claims, domain and free parameters the cells are about, then one line for
each cell, appended when it is decided. A last line that was cut off is dropped. A line `{"run": 1}` begins a
run: cells that were undecided before it may have been cut since. So may cells that mirrored others, unless it
has `"folded": true`: then symmetric parameters are looked at where they ascend only.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from math import inf
from pathlib import Path
from typing import Any

from paramverify.algebra.domains import Domain
from paramverify.claims import Claim, without_enclosure
from paramverify.errors import EvidenceError, InputError, located
from paramverify.files import open_regular, read_file, read_stream
from paramverify.synthesis.maps import Cell, Status

FORMAT, VERSION = "paramverify-cells", 1
RUN: dict[str, Any] = {"run": 1}  # a line
FOLDED = {**RUN, "folded": True}  # another one
MAX_BYTES = 1_000_000_000
_MALFORMED = (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError)
_NUMBER = re.compile(r"-?[0-9]{1,4000}(/[0-9]{1,4000})?")


def map_digest(claims: Sequence[Claim], domain: Domain, free: Sequence[str]) -> str:
    """Returns a digest of what a region map is about: equal digests, equal maps up to their cells."""
    texts = [without_enclosure(Claim(claim.polynomial, domain)).text() for claim in claims]
    return hashlib.sha256(json.dumps([list(free), texts]).encode()).hexdigest()


def cell_document(cell: Cell) -> dict[str, Any]:
    """Returns a cell as JSON data, numbers as strings."""
    document: dict[str, Any] = {
        "status": cell.status.value,
        "box": [[str(low), str(high)] for low, high in cell.box],
    }
    if cell.status is Status.VIOLATING:
        document["claim"] = cell.claim
        document["at"] = {name: str(value) for name, value in cell.at}
    return document


def read_cell(document: Mapping[str, Any]) -> Cell:
    """Returns the cell that `cell_document` wrote.

    Raises:
        EvidenceError: it is not one.
    """
    try:
        status = Status(document["status"])
        box = tuple((_number(low), _number(high)) for low, high in document["box"])
        if status is not Status.VIOLATING:
            return Cell(status, box)
        at = tuple((name, _number(value)) for name, value in document["at"].items())
        if type(document["claim"]) is not int:
            raise TypeError("claim must be the number of a claim")
        return Cell(status, box, document["claim"], at)
    except _MALFORMED as error:
        raise EvidenceError(f"a line is not a cell of a region map: {error!r:.100}") from error


def _number(text: object) -> Fraction:
    if not isinstance(text, str) or not _NUMBER.fullmatch(text):
        raise ValueError('a number must be exact and written as text, such as "1/2"')
    return Fraction(text)


def load_cells(path: Path, claims: Sequence[Claim], domain: Domain, free: Sequence[str]) -> tuple[Cell, ...]:
    """Returns the cells of a file about the same claims, domain and free parameters; none without a file.

    Raises:
        EvidenceError: the file is about something else, or is not of this form.
    """
    if not path.exists():
        return ()
    with located(file=str(path)):
        data = read_file(path, MAX_BYTES, "a file of cells", EvidenceError)
    return _read(path, data, claims, domain, free)[0]


def _read(
    path: Path, data: bytes, claims: Sequence[Claim], domain: Domain, free: Sequence[str]
) -> tuple[tuple[Cell, ...], int]:
    """Returns the cells, and how many bytes of the file are whole lines."""
    length = data.rfind(b"\n") + 1
    try:
        header, *lines = (json.loads(line) for line in data[:length].splitlines() or [b"{}"])
    except (ValueError, RecursionError) as error:
        raise EvidenceError(f"the file does not consist of JSON lines: {error}", file=str(path)) from error
    if not length and not data:
        return (), 0
    if not isinstance(header, dict) or (header.get("format"), header.get("version")) != (FORMAT, VERSION):
        raise EvidenceError(f"the file is not a file of cells ({FORMAT} version {VERSION})", file=str(path))
    if header.get("digest") != map_digest(claims, domain, free):
        reason = (
            "the cells belong to other claims, another domain or other free parameters: choose another file"
        )
        raise EvidenceError(reason, file=str(path))
    cells: list[Cell] = []
    for line in lines:
        if line == RUN:
            cells = [cell for cell in cells if cell.status is not Status.MIRRORED]
        elif line != FOLDED:
            cells.append(read_cell(line))
    if any(len(c.box) != len(free) or not 0 <= (c.claim or 0) < max(1, len(claims)) for c in cells):
        raise EvidenceError("a cell does not belong to the region map", file=str(path))
    return tuple(cells), length


class CellFile:
    """An open file of cells: `known` are those of earlier runs. The first one of a run comes after a line."""

    def __init__(
        self,
        path: Path,
        known: tuple[Cell, ...],
        append: Callable[[Mapping[str, Any]], None],
        folded: bool = False,
    ):
        self.path, self._append, self.folded = path, append, folded
        self.known = tuple(cell for cell in known if folded or cell.status is not Status.MIRRORED)
        self._begun = False

    def keep(self, cell: Cell) -> None:
        """Appends a cell."""
        if not self._begun:
            self._append(FOLDED if self.folded else RUN)
            self._begun = True
        self._append(cell_document(cell))

    def stored(self) -> Iterator[Cell]:
        """Yields the decided cells of the file, and the undecided ones of this run; one is in memory."""
        run, unfolded = 0.0, 0  # the lines that begin this run, and the last one that looked everywhere
        for number, line in self._lines():
            if line.get("run"):
                run = number
                unfolded = unfolded if line == FOLDED else number
        if not self._begun:
            run = inf
        for number, line in self._lines():
            if number and not line.get("run"):
                cell = read_cell(line)
                first = {Status.UNDECIDED: run, Status.MIRRORED: unfolded if self.folded else inf}
                if number >= first.get(cell.status, 0):
                    yield cell

    def _lines(self) -> Iterator[tuple[int, dict[str, Any]]]:
        with self.path.open("rb") as stream:
            yield from enumerate(map(json.loads, stream))


@contextmanager
def cell_file(
    path: Path, claims: Sequence[Claim], domain: Domain, free: Sequence[str], folded: bool = False
) -> Iterator[CellFile]:
    """Opens a file of cells for going on; `folded` says that a map is made with `folds`.

    Its `known`, `keep` and `stored` are what `region_map` takes as `known`, `on_cell` and `stored`. Each line
    is written at once, so that a killed run loses at most the last one. One run at a time has the file.

    Raises:
        EvidenceError: the file is about something else, or is not of this form.
        InputError: another run has the file.
    """
    with located(file=str(path)):
        opened = open_regular(path, os.O_RDWR | os.O_CREAT, EvidenceError)
    with opened as stream:
        with located(file=str(path)):
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise InputError(
                    "another run is using this file: wait for its end, or choose another file"
                ) from None
            data = read_stream(stream, MAX_BYTES, "a file of cells", EvidenceError)
        known, length = _read(path, data, claims, domain, free)
        stream.truncate(length)
        stream.seek(0, os.SEEK_END)

        def append(document: Mapping[str, Any]) -> None:
            stream.write(json.dumps(document, separators=(",", ":")).encode() + b"\n")

        if not length:
            append({"format": FORMAT, "version": VERSION, "digest": map_digest(claims, domain, free)})
        yield CellFile(path, known, append, folded)
