"""Region maps: where in the parameter box all claims hold, and where one fails, by subdivision.

On a cell, the claims hold if the Bernstein coefficients of their factors show it for all values of the
quantified parameters, and one fails if they show f < 0 on the whole cell for some values of them
([Garloff86]). What is open is cut in two, the largest cell first; all claims share the cells, and what is
settled on a cell is not looked at again inside.

Each cell is examined as soon as it is made, so that those that wait are open. Of these so many wait as have
MOST_WAITING coefficients together. With more, the largest of them is cut until little enough of it is open,
and what is still open then is left: so the memory is bounded. Where a file keeps the cells (`stored`), so is
that for cells that are told.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from heapq import heappop, heappush
from itertools import count
from math import inf

from paramverify.algebra.domains import Domain
from paramverify.claims import Claim
from paramverify.errors import InputError, LimitError
from paramverify.portfolio.session import Session
from paramverify.synthesis.maps import Cell, RegionMap, Status
from paramverify.synthesis.nodes import SMALLEST, WHOLE, Node, Nodes, portions
from paramverify.synthesis.tiling import Box, apart, cut_between, sides, undecided

MOST_WAITING = 4_000_000  # coefficients of the open claims of all cells that wait, about
FEWEST, MOST = 1_000, 100_000  # cells that may wait in any case, and at most
WITHIN, FEW = 10, 8  # so many times fewer wait inside of a cell that is cut for itself, and at least so many
DEEPEST = 50  # cells inside of one another that are cut for themselves
MOST_KEPT = 200_000  # cells that are in memory where a file keeps them as well
AGAIN = 20  # trials at first where an earlier run has made its own
MAX_ASKED = 64  # cells that are given to a session at the end


@dataclass(frozen=True, eq=False)
class _Later:
    """A cell that an earlier run left open; its pieces are made when it is examined."""

    box: Box
    size: int
    make: Callable[[], Node]


@dataclass(frozen=True, eq=False)
class SavedMap:
    """The cells of a map that a file keeps, and those that still wait: none of the file is in memory."""

    stored: Callable[[], Iterable[Cell]]
    waiting: Sequence[Cell]

    def __iter__(self) -> Iterator[Cell]:
        yield from self.stored()
        yield from self.waiting

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, cell: object) -> bool:
        return any(cell == own for own in self)


class _RegionSearch:
    """One run: the cells that wait, and those that are decided.

    `open` is the volume of the cells that wait or are left, `outside` that of cells outside of the domain.
    """

    def __init__(
        self,
        nodes: Nodes,
        folds: tuple[tuple[str, ...], ...],
        report: Callable[[Cell], None] | None,
        stored: Callable[[], Iterable[Cell]] | None = None,
        whole: int = WHOLE,
    ) -> None:
        self.nodes, self.folds, self.report, self.stored = nodes, folds, report, stored
        self.whole = whole  # the volume that is searched
        self.cells: list[Cell] | None = []  # None: the file alone has them
        self.heap: list[tuple[int, int, Node | _Later]] = []
        self.numbers = count()
        self.depth = self.open = self.outside = 0
        self.most = max(FEWEST, min(MOST, MOST_WAITING // max(1, sum(nodes.entries()))))

    def add(self, node: Node | _Later) -> None:
        """Puts a cell among those that wait."""
        weight = self.nodes.weight(node.box, node.size)
        self.open += weight
        heappush(self.heap, (-weight, next(self.numbers), node))

    def decide(self, cell: Cell, size: int) -> None:
        """Takes a cell over into the map."""
        if cell.status is Status.OUTSIDE:
            self.outside += self.nodes.weight(cell.box, size)
        self.take([cell])
        if self.report:
            self.report(cell)

    def take(self, cells: Iterable[Cell]) -> None:
        """Keeps cells; with many of them, the file alone does."""
        if self.cells is not None:
            self.cells.extend(cells)
            if self.stored and len(self.cells) > MOST_KEPT:
                self.cells = None

    def largest(self) -> Node | _Later:
        """Takes the largest cell out of those that wait."""
        weight, _, node = heappop(self.heap)
        self.open += weight
        return node

    def grow(self, node: Node | _Later) -> list[Node]:
        """Cuts a cell, decides what can be decided of its parts, and returns those that are open."""
        if isinstance(node, _Later):
            found = self.nodes.examine(node.make())
            if isinstance(found, Cell):
                self.decide(found, node.size)
                return []
            node = found
        result = []
        for half in self.nodes.parts(node, *self.nodes.cut(node)):
            found = self.nodes.examine(half)
            if isinstance(found, Cell):
                self.decide(found, half.size)
            else:
                result.append(found)
        return result

    def run(self, coverage: Fraction, deadline: float | None) -> bool:
        """Examines cells until few are open; tells whether time was up before."""
        while self.heap and not self.enough(coverage):
            if deadline is not None and time.monotonic() > deadline:
                return True
            if self.heap[0][2].size < SMALLEST:
                break
            if len(self.heap) >= self.most:
                return self.depth < DEEPEST and self.finish(coverage, deadline)
            for node in self.grow(self.largest()):
                self.add(node)
        return False

    def enough(self, coverage: Fraction) -> bool:
        """Whether no more than this share of the volume is open."""
        return self.open * coverage.denominator <= coverage.numerator * (self.whole - self.outside)

    def finish(self, coverage: Fraction, deadline: float | None) -> bool:
        """Cuts one waiting cell after the other, the largest first, until little of each is open.

        The share of each that may stay open is the same, so that of the whole is what is wanted. What is open
        of a cell is left, and does not wait. Tells whether time was up before.
        """
        share = coverage * (self.whole - self.outside) / max(1, self.open)
        while self.heap and not self.enough(coverage):
            node = self.largest()
            weight = self.nodes.weight(node.box, node.size)
            within = _RegionSearch(self.nodes, self.folds, lambda cell: self.decide(cell, 0), whole=weight)
            within.cells, within.most, within.depth = None, max(FEW, self.most // WITHIN), self.depth + 1
            within.add(node)
            late = within.run(share, deadline)
            self.open, self.outside = self.open + within.open, self.outside + within.outside
            for cell in within.rest():
                self.decide(cell, 0)
            if late:
                return True
        return False

    def cover(self, coverage: Fraction, deadline: float | None) -> bool:
        """Examines cells until little of the domain is shown to be open; tells whether time was up before.

        `run` compares volumes of whole cells. Where constraints cut cells, the share of the domain may be
        larger, and the cutting goes on.
        """
        wanted = coverage
        while True:
            interrupted = self.run(wanted, deadline)
            if interrupted or not self.nodes.domain.constraints or not coverage or self.stuck():
                return interrupted
            found = self.share()
            if found <= coverage:
                return False
            wanted = min(wanted, self.part()) * max(Fraction(1, 4), coverage / found / 2)

    def stuck(self) -> bool:
        """Whether nothing is left to cut, or the limits on cells are met."""
        return not self.heap or len(self.heap) >= self.most or self.heap[0][2].size < SMALLEST

    def part(self) -> Fraction:
        """Returns the open part of the volume of the cells that are not outside."""
        return Fraction(self.open, max(1, self.whole - self.outside))

    def share(self) -> Fraction:
        """Returns an upper bound of the share of the domain that is open."""
        return self.map(self.told()).share(Status.UNDECIDED)

    def rest(self) -> list[Cell]:
        """Returns the cells that wait, as undecided ones."""
        return [Cell(Status.UNDECIDED, node.box) for _, _, node in self.heap]

    def told(self) -> Collection[Cell]:
        """Returns all cells."""
        if self.cells is None and self.stored:
            return SavedMap(self.stored, self.rest())
        return (*(self.cells or ()), *self.rest())

    def map(self, cells: Collection[Cell]) -> RegionMap:
        """Returns the map that consists of the cells."""
        nodes = self.nodes
        return RegionMap(
            nodes.free,
            nodes.quantified,
            box=nodes.box,
            claims=tuple(nodes.claims),
            cells=cells,
            seconds=0.0,
            folds=self.folds,
        )

    def ask(self, session: Session, deadline: float | None) -> None:
        """Gives the largest open cells to the backends of a session; proofs of all claims make them safe."""
        waiting = [self.largest() for _ in range(min(MAX_ASKED, len(self.heap)))]
        until = min(session.deadline, deadline or inf)
        for node in waiting:
            found: Cell | Node | _Later = node
            if time.monotonic() < until and isinstance(node, _Later):
                found = self.nodes.examine(node.make())
            if isinstance(found, Node) and time.monotonic() < until and self.nodes.all_proved(found, session):
                found = Cell(Status.SAFE, node.box)
            if isinstance(found, Cell):
                self.decide(found, node.size)
            else:
                self.add(found)

    def resume(self, known: Iterable[Cell]) -> None:
        """Takes over decided cells of an earlier run, and puts the rest of the box among those that wait.

        Undecided cells say how that was cut. Where the earlier run was gone on with, cells may lie in them.
        """
        if not self.folds:
            open_again = {Status.MIRRORED: Status.UNDECIDED}
            known = [replace(c, status=open_again.get(c.status, c.status)) for c in known]
        known = list(known)
        self.take(cell for cell in known if cell.status is not Status.UNDECIDED)
        if known:
            self.nodes.trials = AGAIN
        pending = [(_Later(self.nodes.box, WHOLE, cache(self.nodes.root)), known)]
        while pending:
            later, inside = pending.pop()
            inside = [c for c in inside if c.status is not Status.UNDECIDED or c.box != later.box]
            if not inside:
                self.add(later)
            elif inside[0].box == later.box and len(inside) == 1:
                if inside[0].status is Status.OUTSIDE:
                    self.outside += self.nodes.weight(later.box, later.size)
            else:
                axis, cut = cut_between(later.box, inside)
                low, high = later.box[axis]
                ratio = (cut - low) / (high - low)
                both = cache(partial(self._both, later.make, axis, ratio))
                boxes, cells = sides(later.box, axis, cut), apart(inside, axis, cut)
                for side, size in enumerate(portions(later.size, ratio)):
                    pending.append((_Later(boxes[side], size, partial(_side, both, side)), cells[side]))

    def _both(self, make: Callable[[], Node], axis: int, ratio: Fraction) -> list[Node]:
        """Returns both halves of a cell that an earlier run cut; what is settled on it is left out again."""
        node, nodes = make(), self.nodes
        spare, nodes.trials = nodes.trials, 0  # no trials: an earlier run has made them
        found = nodes.examine(node)
        nodes.trials = spare
        return nodes.parts(found if isinstance(found, Node) else node, axis, ratio)


def _side(both: Callable[[], list[Node]], side: int) -> Node:
    return both()[side]


def _searched(
    search: _RegionSearch,
    known: Sequence[Cell],
    coverage: Fraction,
    session: Session | None,
    deadline: float | None,
) -> tuple[Collection[Cell], bool, bool]:
    """Returns the cells, whether the search was interrupted, and whether that was a KeyboardInterrupt."""
    resumed = False
    try:
        search.resume(known)
        resumed = True
        before = search.open
        interrupted = search.cover(coverage, deadline)
        if session and not interrupted and (not known or search.open < before):
            search.ask(session, deadline)
        return search.told(), interrupted, False
    except (KeyboardInterrupt, LimitError) as error:
        if not resumed:  # half of the known cells would not say how the rest was cut
            search = _RegionSearch(search.nodes, search.folds, search.report, search.stored)
            search.resume(known)
        waiting = search.told()
        # A cell that was being examined is in neither list.
        missing = undecided(search.nodes.box, list(waiting))
        cells: Collection[Cell] = (*waiting, *missing)
        if search.stored and isinstance(waiting, SavedMap):
            cells = SavedMap(search.stored, [*waiting.waiting, *missing])
        return cells, True, isinstance(error, KeyboardInterrupt)


def region_map(
    claims: Sequence[Claim],
    domain: Domain,
    free: Sequence[str],
    coverage: Fraction = Fraction(1, 100),
    *,
    on_cell: Callable[[Cell], None] | None = None,
    known: Sequence[Cell] = (),
    session: Session | None = None,
    seconds: float | None = None,
    folds: tuple[tuple[str, ...], ...] = (),
    stored: Callable[[], Iterable[Cell]] | None = None,
) -> RegionMap:
    """Returns cells over the free parameters that tell where all claims hold, until few are undecided.

    A safe cell: f(x, y) ≥ 0 for each claim, each x of the closed cell and each y of the quantified parameters
    (all others of the domain) with (x, y) in the domain. A violating cell: the claim that it names has
    f(x, y) < 0 for the y that it names and each x of the closed cell that is in the domain. Claims are about
    the polynomials only; their own domains are not looked at.

    Args:
        coverage: the largest share of the volume of the domain that may stay undecided. More is left only if
            the map was interrupted, or if too many cells are open.
        on_cell: called with each cell as it is decided, or left for good; cells of `known` are not repeated.
        known: cells of an earlier run with the same claims, domain and free parameters; undecided ones save
            the time to find them again. If they are enough for the coverage, nothing is done.
        session: decides claims on cells that are still open at the end, within its time limit.
        seconds: the wall-clock time after which the map is returned as it is, marked as interrupted; so does
            a KeyboardInterrupt (`stopped`) and a LimitError from a signal handler.
        folds: classes of symmetric parameters, from `symmetric`: they are looked at where they ascend only.
        stored: gives all cells that `on_cell` was given and the decided ones of `known`; then with more than
            MOST_KEPT of them none is kept in memory, but for those that wait.

    Raises:
        InputError: a free parameter that the domain does not have or that is fixed, a coverage outside
            [0, 1), or known cells that do not come from a subdivision of the box.
    """
    started = time.monotonic()
    _check(domain, free, coverage)
    nodes = Nodes(claims, domain, free, folds)
    deadline = None if seconds is None else started + seconds
    search = _RegionSearch(nodes, folds, on_cell, stored)
    cells, interrupted, stopped = _searched(search, known, coverage, session, deadline=deadline)
    made = replace(search.map(cells), seconds=time.monotonic() - started, stopped=stopped)
    # What was stopped after the coverage was reached is complete.
    return replace(made, interrupted=interrupted and made.share(Status.UNDECIDED) > coverage)


def _check(domain: Domain, free: Sequence[str], coverage: Fraction) -> None:
    for name in free:
        if name not in domain.ring.parameters:
            raise InputError(f"there is no parameter {name!r}", key="free")
        if domain.box[name].is_point:
            raise InputError(f"the parameter {name!r} has only one value", key="free")
    if not free or len(set(free)) < len(free):
        raise InputError("a region map needs at least one free parameter, and each only once", key="free")
    if not 0 <= coverage < 1:
        raise InputError("the undecided share must be at least 0 and below 1", key="coverage")
