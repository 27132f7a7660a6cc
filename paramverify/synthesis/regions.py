"""Region maps: where in the parameter box all claims hold, and where one fails, by subdivision.

On a cell, the claims hold if the Bernstein coefficients of their factors show it for all values of the
quantified parameters, and one fails if they show f < 0 on the whole cell for some values of them
([Garloff86]). What is open is cut in two, the largest cell first; all claims share the cells, and what is
settled on a cell is not looked at again inside.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from heapq import heappop, heappush
from itertools import count
from math import inf

from paramverify.algebra.domains import Domain
from paramverify.algebra.enclosures import BITS, HALF
from paramverify.algebra.polynomials import is_constant
from paramverify.answers import Answer, Proved
from paramverify.claims import Claim
from paramverify.errors import InputError, LimitError
from paramverify.exact.branching import decide_exactly
from paramverify.exact.settling import Work
from paramverify.portfolio.session import Session
from paramverify.synthesis.cuts import cut_of
from paramverify.synthesis.factors import Ends, Factor, State, targets
from paramverify.synthesis.maps import Cell, RegionMap, Status
from paramverify.synthesis.maps import on_cell as claim_on
from paramverify.synthesis.pieces import Examiner, Piece, negative_vertex
from paramverify.synthesis.tiling import NO_TILES, Box, apart, cut_between, sides, undecided

WHOLE = 1 << 400  # the volume of the box, in units of its own: cuts are at multiples of 1/16
SMALLEST = 16  # such units in a cell that is cut
MAX_OPEN = 200_000  # cells that wait; with more of them, the map is returned as it is
TOUCHING = 4  # cuts after which a claim that seems to touch zero is given to the other exact procedures
MAX_TRIALS, TRIAL = 200, Work(boxes=300, coefficients=500_000)  # how often, and how much they may do
AGAIN, EARNED = 20, 10  # trials at first where an earlier run has made its own, and for each that succeeds
MAX_ASKED = 64  # cells that are given to a session at the end


@dataclass(frozen=True, eq=False)
class _Node:
    """A cell to be examined: the open pieces of the claims, and of whether it is outside."""

    box: Box
    size: int
    open: dict[int, list[Piece]]
    domain: list[Piece]


@dataclass(frozen=True, eq=False)
class _Later:
    """A cell that an earlier run left open; its pieces are made when it is examined."""

    box: Box
    size: int
    make: Callable[[], _Node]


class _Search:
    """One run: the cells that wait, and those that are decided."""

    def __init__(
        self,
        claims: Sequence[Claim],
        domain: Domain,
        free: Sequence[str],
        report: Callable[[Cell], None] | None,
    ) -> None:
        self.claims, self.domain, self.free, self.report = claims, domain, tuple(free), report
        self.box: Box = tuple((domain.box[n].lower, domain.box[n].upper) for n in self.free)
        self.quantified = tuple(n for n in domain.ring.parameters if n not in self.free)
        self.targets, polynomials = targets(claims, domain)
        self.factors = [Factor(polynomial, domain) for polynomial in polynomials]
        self.examiner = Examiner(domain)
        self.order = list(range(len(self.targets)))
        self.hits = [0] * len(self.targets)
        self.cells: list[Cell] = []
        self.heap: list[tuple[int, int, _Node | _Later]] = []
        self.numbers = count()
        self.open = self.outside = 0
        self.trials = MAX_TRIALS

    def root(self) -> _Node:
        """Returns the whole box with all claims open."""
        whole = {n: (i.lower, i.upper) for n, i in self.domain.box.items()}
        states = [self._state(factor, whole) for factor in self.factors]
        conditions = tuple(
            (k, self._state(Factor(c.polynomial, self.domain), whole))
            for k, c in enumerate(self.domain.constraints)
            if not is_constant(c.polynomial)
        )
        pieces = {}
        for number, target in enumerate(self.targets):
            odd, masks = tuple(states[k] for k in target.odd), tuple(states[k] for k in target.masks)
            mentioned = {n for s in (*odd, *masks, *(s for _, s in conditions)) for n in s.factor.names}
            over = {n: whole[n] for n in self.quantified if n in mentioned}
            pieces[number] = [Piece(over, target.sign, odd, masks, conditions)]
        over = {n: whole[n] for n in self.quantified if any(n in s.factor.names for _, s in conditions)}
        outside = [Piece(over, -1, (), (), conditions)] if conditions else []
        return _Node(self.box, WHOLE, pieces, outside)

    def _state(self, factor: Factor, whole: dict[str, Ends]) -> State:
        names = [n for n in factor.names if not self.domain.box[n].is_point]
        fixed = {n: whole[n][0] for n in factor.names if n not in names}
        box = {n: whole[n] for n in names}
        state = State(factor, box, factor.enclosed(box, fixed, BITS), None, fixed)
        state.lighten()
        return state

    def add(self, node: _Node | _Later) -> None:
        """Puts a cell among those that wait."""
        self.open += node.size
        heappush(self.heap, (-node.size, next(self.numbers), node))

    def decide(self, cell: Cell, size: int) -> None:
        """Takes a cell over into the map."""
        self.cells.append(cell)
        if cell.status is Status.OUTSIDE:
            self.outside += size
        if self.report:
            self.report(cell)

    def run(self, coverage: Fraction, deadline: float | None) -> bool:
        """Examines cells until few are open; tells whether time was up before."""
        total = WHOLE
        top, bottom = coverage.numerator, coverage.denominator
        while 0 < len(self.heap) < MAX_OPEN and self.open * bottom > top * (total - self.outside):
            if deadline is not None and time.monotonic() > deadline:
                return True
            if -self.heap[0][0] < SMALLEST:
                break
            _, _, later = heappop(self.heap)
            node = later.make() if isinstance(later, _Later) else later
            self.open -= later.size
            found = self.examine(node)
            if isinstance(found, Cell):
                self.decide(found, later.size)
            else:
                for half in self.parts(found, *self.cut(found)):
                    self.add(half)
        return False

    def cover(self, coverage: Fraction, deadline: float | None) -> bool:
        """Examines cells until little of the domain is shown to be open; tells whether time was up before.

        `run` compares volumes of whole cells. Where constraints cut cells, the share of the domain may be
        larger, and the cutting goes on.
        """
        wanted = coverage
        while True:
            interrupted = self.run(wanted, deadline)
            if interrupted or not self.domain.constraints or not coverage or self.stuck():
                return interrupted
            found = self.share()
            if found <= coverage:
                return False
            wanted = min(wanted, self.part()) * max(Fraction(1, 4), coverage / found / 2)

    def stuck(self) -> bool:
        """Whether nothing is left to cut, or the limits on cells are met."""
        return not 0 < len(self.heap) < MAX_OPEN or -self.heap[0][0] < SMALLEST

    def part(self) -> Fraction:
        """Returns the open part of the volume of the cells that are not outside."""
        return Fraction(self.open, max(1, WHOLE - self.outside))

    def share(self) -> Fraction:
        """Returns an upper bound of the share of the domain that is open."""
        return self.map((*self.cells, *self.rest())).share(Status.UNDECIDED)

    def rest(self) -> list[Cell]:
        """Returns the cells that wait, as undecided ones."""
        return [Cell(Status.UNDECIDED, node.box) for _, _, node in self.heap]

    def map(self, cells: tuple[Cell, ...]) -> RegionMap:
        """Returns the map that consists of the cells."""
        return RegionMap(
            self.free, self.quantified, box=self.box, claims=tuple(self.claims), cells=cells, seconds=0.0
        )

    def examine(self, node: _Node) -> Cell | _Node:
        """Returns the decided cell, or what is open of it."""
        outside = node.domain
        if outside:
            outside = self.examiner.vacuous(outside)
            if not outside:
                return Cell(Status.OUTSIDE, node.box)
        remaining = {}
        for number in self.order:
            if number not in node.open:
                continue
            pieces, point = self.examiner.examine(node.open[number])
            if point is not None:
                self._hit(number)
                values = {n: point.get(n, self.domain.box[n].simplest()) for n in self.quantified}
                return Cell(Status.VIOLATING, node.box, self.targets[number].claim, tuple(values.items()))
            if pieces and not self._touches(node, number, pieces):
                remaining[number] = pieces
        if not remaining:
            return Cell(Status.SAFE, node.box)
        return _Node(node.box, node.size, remaining, outside)

    def _touches(self, node: _Node, number: int, pieces: list[Piece]) -> bool:
        """Tells whether a claim that seems to touch zero for some quantified values is proved in another way.

        Cutting does not end then on the whole region where it does so. It seems to if no vertex has f < 0.
        """
        depth = WHOLE.bit_length() - node.size.bit_length()
        if depth < TOUCHING or depth % 2 or not self.trials or not any(piece.box for piece in pieces):
            return False
        if any(map(negative_vertex, pieces)):
            return False
        self.trials -= 1
        proved = self._proved(node, number, lambda claim: decide_exactly(claim, replace(TRIAL)))
        if proved:
            self.trials = min(MAX_TRIALS, self.trials + EARNED)
        return proved

    def _proved(self, node: _Node, number: int, decide: Callable[[Claim], Answer]) -> bool:
        claim = self.claims[self.targets[number].claim]
        return isinstance(decide(claim_on(claim, self.domain, self.free, node.box)), Proved)

    def ask(self, session: Session, deadline: float | None) -> None:
        """Gives the largest open cells to the backends of a session; proofs of all claims make them safe."""
        waiting = [heappop(self.heap) for _ in range(min(MAX_ASKED, len(self.heap)))]
        until = min(session.deadline, deadline or inf)
        for _, order, node in waiting:
            found: Cell | _Node | _Later = node
            if time.monotonic() < until:
                found = self.examine(node.make() if isinstance(node, _Later) else node)
            if isinstance(found, _Node) and time.monotonic() < until and self._all_proved(found, session):
                found = Cell(Status.SAFE, node.box)
            if isinstance(found, Cell):
                self.decide(found, node.size)
            else:
                heappush(self.heap, (-found.size, order, found))

    def _all_proved(self, node: _Node, session: Session) -> bool:
        if any(negative_vertex(piece) for pieces in node.open.values() for piece in pieces):
            return False
        return all(self._proved(node, number, lambda c: session.decide(c).answer) for number in node.open)

    def _hit(self, number: int) -> None:
        """Counts a violation: claims that fail often are examined first."""
        self.hits[number] += 1
        if self.order[0] != number:
            self.order.sort(key=lambda k: -self.hits[k])

    def cut(self, node: _Node) -> tuple[int, Fraction]:
        """Returns the number of the free parameter to cut, and the ratio of its length."""
        found = cut_of(node.open.values(), self.free)
        if found is not None:
            return found
        lengths = [(high - low) / (b - a) for (low, high), (a, b) in zip(node.box, self.box, strict=True)]
        return lengths.index(max(lengths)), HALF

    def parts(self, node: _Node, axis: int, ratio: Fraction = HALF) -> list[_Node]:
        """Returns both sides of a cut of a cell."""
        name = self.free[axis]
        split = {
            number: [piece.split(name, ratio) for piece in pieces] for number, pieces in node.open.items()
        }
        domain = [piece.split(name, ratio) for piece in node.domain]
        low, high = node.box[axis]
        boxes = sides(node.box, axis, low + (high - low) * ratio)
        return [
            _Node(
                boxes[side],
                portion(node.size, share),
                {number: [both[side] for both in pieces] for number, pieces in split.items()},
                [both[side] for both in domain],
            )
            for side, share in enumerate((ratio, 1 - ratio))
        ]

    def resume(self, known: Sequence[Cell]) -> None:
        """Takes over decided cells of an earlier run, and puts the rest of the box among those that wait.

        Undecided cells say how that was cut. Where the earlier run was gone on with, cells may lie in them.
        """
        self.cells.extend(cell for cell in known if cell.status is not Status.UNDECIDED)
        if known:
            self.trials = AGAIN
        pending = [(_Later(self.box, WHOLE, cache(self.root)), list(known))]
        while pending:
            later, inside = pending.pop()
            inside = [c for c in inside if c.status is not Status.UNDECIDED or c.box != later.box]
            if not inside:
                self.add(later)
            elif inside[0].box == later.box and len(inside) == 1:
                if inside[0].status is Status.OUTSIDE:
                    self.outside += later.size
            else:
                axis, cut = cut_between(later.box, inside)
                low, high = later.box[axis]
                ratio = (cut - low) / (high - low)
                both = cache(partial(self._both, later.make, axis, ratio))
                boxes, cells = sides(later.box, axis, cut), apart(inside, axis, cut)
                for side, share in enumerate((ratio, 1 - ratio)):
                    size = portion(later.size, share)
                    pending.append((_Later(boxes[side], size, partial(_side, both, side)), cells[side]))

    def _both(self, make: Callable[[], _Node], axis: int, ratio: Fraction) -> list[_Node]:
        """Returns both halves of a cell that an earlier run cut; what is settled on it is left out again."""
        node = make()
        spare, self.trials = self.trials, 0  # no trials: an earlier run has made them
        found = self.examine(node)
        self.trials = spare
        return self.parts(found if isinstance(found, _Node) else node, axis, ratio)


def portion(size: int, ratio: Fraction) -> int:
    """Returns a part of a volume.

    Raises:
        InputError: it is no whole number; the cuts of known cells are not those of a map.
    """
    exact, rest = divmod(size * ratio.numerator, ratio.denominator)
    if rest:
        raise InputError(NO_TILES)
    return exact


def _side(both: Callable[[], list[_Node]], side: int) -> _Node:
    return both()[side]


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
) -> RegionMap:
    """Returns cells over the free parameters that tell where all claims hold, until few are undecided.

    A safe cell: f(x, y) ≥ 0 for each claim, each x of the closed cell and each y of the quantified parameters
    (all others of the domain) with (x, y) in the domain. A violating cell: the claim that it names has
    f(x, y) < 0 for the y that it names and each x of the closed cell that is in the domain. Claims are about
    the polynomials only; their own domains are not looked at.

    Args:
        coverage: the largest share of the volume of the domain that may stay undecided. More is left only if
            the map was interrupted, or if too many cells are open.
        on_cell: called with each cell as it is decided; cells of `known` are not repeated.
        known: cells of an earlier run with the same claims, domain and free parameters; undecided ones save
            the time to find them again. If they are enough for the coverage, nothing is done.
        session: decides claims on cells that are still open at the end, within its time limit.
        seconds: the wall-clock time after which the map is returned as it is, marked as interrupted; so does
            a KeyboardInterrupt (`stopped`) and a LimitError from a signal handler.

    Raises:
        InputError: a free parameter that the domain does not have or that is fixed, a coverage outside
            [0, 1), or known cells that do not come from a subdivision of the box.
    """
    started = time.monotonic()
    _check(domain, free, coverage)
    search = _Search(claims, domain, free, on_cell)
    deadline = None if seconds is None else started + seconds
    stopped = resumed = False
    try:
        search.resume(known)
        resumed = True
        interrupted = search.cover(coverage, deadline)
        settled = bool(known) and len(search.cells) == sum(c.status is not Status.UNDECIDED for c in known)
        if session and not interrupted and not settled:
            search.ask(session, deadline)
        cells = (*search.cells, *search.rest())
    except (KeyboardInterrupt, LimitError) as error:
        interrupted, stopped = True, isinstance(error, KeyboardInterrupt)
        if not resumed:  # half of the known cells would not say how the rest was cut
            search = _Search(claims, domain, free, on_cell)
            search.resume(known)
        waiting = (*search.cells, *search.rest())
        # A cell that was being examined is in neither list.
        cells = (*waiting, *undecided(search.box, waiting))
    made = replace(search.map(cells), seconds=time.monotonic() - started, stopped=stopped)
    # What was stopped after the coverage was reached is complete.
    return replace(made, interrupted=interrupted and made.share(Status.UNDECIDED) > coverage)


def _check(domain: Domain, free: Sequence[str], coverage: Fraction) -> None:
    for name in free:
        if name not in domain.ring.parameters:
            raise InputError(f"there is no parameter {name!r}", key="free")
        if domain.box[name].is_point:
            raise InputError(f"the parameter {name!r} has one value only", key="free")
    if not free or len(set(free)) < len(free):
        raise InputError("a region map needs different free parameters, at least one", key="free")
    if not 0 <= coverage < 1:
        raise InputError("the undecided share must be at least 0 and below 1", key="coverage")
