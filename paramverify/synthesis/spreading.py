"""Region maps by many workers: parts of the box are tasks, and the map that is made here knows their cells.

A first, coarse map cuts the box until enough cells are open. Each open cell is the box of a map of its own.
All of them tile the box, like the cells of a run that was interrupted; so `regions.region_map` takes them as
known, and goes on, where they are not enough. Which parts there are does not depend on
who makes them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from paramverify.algebra.domains import Domain, Interval
from paramverify.algebra.polynomials import key
from paramverify.claims import Claim, from_document, to_document
from paramverify.errors import LimitError
from paramverify.synthesis.map_files import cell_document, read_cell
from paramverify.synthesis.maps import Cell, RegionMap, Status
from paramverify.synthesis.regions import region_map
from paramverify.tasks.tasks import Executor, Task

PARTS = 256  # open cells of the coarse map, at least
COARSE = Fraction(1, 2)  # share that it leaves open at first, then its powers
RESERVE = 0.1  # share of the time that is left for the map that puts the parts together

Cells = tuple[Cell, ...]


@dataclass(frozen=True)
class CellTiling:
    """Cells that tile the box; whether a limit or Ctrl-C (`stopped`) ended the work on them.

    They are the `map` where little enough of it is open. `by_workers` says that some come from workers.
    """

    cells: Cells
    ended: bool = False
    stopped: bool = False
    map: RegionMap | None = None
    by_workers: bool = False


def spread_cells(
    claims: Sequence[Claim],
    domain: Domain,
    free: Sequence[str],
    coverage: Fraction,
    executor: Executor,
    known: Sequence[Cell],
    keep: Callable[[Cell], None],
    until: float,
    folds: tuple[tuple[str, ...], ...] = (),
) -> CellTiling:
    """Returns cells that tile the box, made by the tasks of an executor; those that are known already first.

    `keep` hears of each cell that is decided, when its part has come. The time ends at `until` (monotonic);
    the cells of parts that have not come by then stay open. Nothing is done where tasks are done here, or
    where parameters are tied to others.
    """
    if executor.is_here or domain.ring.tied or not claims:
        return CellTiling(tuple(known))
    coarse = _coarse(claims, domain, free, coverage, known=known, keep=keep, until=until, folds=folds)
    open_cells = [cell for cell in coarse.cells if cell.status is Status.UNDECIDED]
    total = coarse.share(Status.UNDECIDED)
    if total <= coverage or coarse.stopped:
        enough = total <= coverage
        return CellTiling(tuple(coarse.cells), coarse.stopped, coarse.stopped, coarse if enough else None)
    until -= RESERVE * max(0.0, until - time.monotonic())
    reach = min(Fraction(1, 2), coverage / total)
    about = _told(claims, domain, free)
    tasks = [_part(about, claims, domain, free, cell=cell, reach=reach, until=until) for cell in open_cells]
    parts: dict[int, Cells] = {}
    ended = stopped = False
    try:
        with closing(executor.map(tasks, until)) as results:
            for result in results:
                parts[result.number] = found = result.get()
                for cell in found:
                    if cell.status is not Status.UNDECIDED:
                        keep(cell)
    except (KeyboardInterrupt, LimitError) as error:  # what has come is kept, the rest stays open
        ended, stopped = True, isinstance(error, KeyboardInterrupt)
    rest = [parts.get(number, (cell,)) for number, cell in enumerate(open_cells)]
    decided = (cell for cell in coarse.cells if cell.status is not Status.UNDECIDED)
    cells = (*decided, *(cell for part in rest for cell in part))
    whole = replace(coarse, cells=cells, interrupted=False)
    enough = not ended and whole.share(Status.UNDECIDED) <= coverage
    return CellTiling(cells, ended, stopped, whole if enough else None, bool(parts))


def _coarse(
    claims: Sequence[Claim],
    domain: Domain,
    free: Sequence[str],
    coverage: Fraction,
    *,
    known: Sequence[Cell],
    keep: Callable[[Cell], None],
    until: float,
    folds: tuple[tuple[str, ...], ...],
) -> RegionMap:
    """Returns a map with enough open cells to hand out, or one that is good enough."""
    reach = COARSE
    while True:
        left = max(0.0, until - time.monotonic())
        wanted = max(reach, coverage)
        found = region_map(claims, domain, free, wanted, on_cell=keep, known=known, seconds=left, folds=folds)
        open_cells = sum(cell.status is Status.UNDECIDED for cell in found.cells)
        if open_cells >= PARTS or found.share(Status.UNDECIDED) <= coverage or found.interrupted or not left:
            return found
        known, reach = tuple(found.cells), reach * COARSE


# --- one part -----------------------------------------------------------------------------------------------


def _told(claims: Sequence[Claim], domain: Domain, free: Sequence[str]) -> dict[str, Any]:
    """Returns what all parts have in common, as JSON data."""
    return {
        "domain": to_document(Claim(domain.ring.number(0), domain)),
        "polynomials": [key(claim.polynomial) for claim in claims],
        "free": list(free),
    }


def _part(
    about: Mapping[str, Any],
    claims: Sequence[Claim],
    domain: Domain,
    free: Sequence[str],
    *,
    cell: Cell,
    reach: Fraction,
    until: float,
) -> Task[Cells]:
    def left() -> float:
        return max(0.01, until - time.monotonic())

    def here() -> Cells:
        return _mapped(claims, domain, free, cell=cell, reach=reach, seconds=left())

    def document() -> dict[str, Any]:
        return {**about, "cell": cell_document(cell), "coverage": str(reach), "seconds": left()}

    def read(told: Any) -> Cells:
        found = tuple(read_cell(one) for one in told)
        inside = all(
            low <= a < b <= high
            for one in found
            for (low, high), (a, b) in zip(cell.box, one.box, strict=True)
        )
        if not inside or sum(one.volume for one in found) != cell.volume:
            raise ValueError("the returned cells do not partition the given cell")
        if any(not 0 <= (one.claim or 0) < len(claims) for one in found):
            raise ValueError("a cell refers to a claim that does not exist")
        return found

    def lost(reason: str) -> Cells:
        del reason
        return (cell,)  # it stays open

    return Task("map", here, document, read, lost, seconds=left())


def mapped(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Makes the map of one part, from a document of `spread_cells`; returns its cells as JSON data."""
    domain = from_document(document["domain"]).domain
    claims = [Claim(domain.ring.parse(text), domain) for text in document["polynomials"]]
    cells = _mapped(
        claims,
        domain,
        document["free"],
        cell=read_cell(document["cell"]),
        reach=Fraction(document["coverage"]),
        seconds=float(document["seconds"]),
    )
    return [cell_document(cell) for cell in cells]


def _mapped(
    claims: Sequence[Claim],
    domain: Domain,
    free: Sequence[str],
    *,
    cell: Cell,
    reach: Fraction,
    seconds: float,
) -> Cells:
    """Returns cells that tile one open cell of the box, until the share `reach` of it is open."""
    box = dict(domain.box)
    for name, (low, high) in zip(free, cell.box, strict=True):
        whole = box[name]
        box[name] = Interval(
            low,
            high,
            whole.lower_closed if low == whole.lower else True,
            whole.upper_closed if high == whole.upper else True,
        )
    try:
        found = region_map(claims, replace(domain, box=box), free, reach, seconds=seconds)
    except LimitError:  # such as more cells than a map may have: it stays open
        return (cell,)
    return tuple(found.cells)
