"""For which values `kl` or `zcdp` keeps its bound: intervals with certified ends, and maps.

For which values `kl` or `zcdp` keeps its bound: cells that are proved private or not private.

A cell is safe if each direction is proved on boxes that cover it and all values of the other parameters, as
`verify` proves a domain (`privacy.loss_intervals`). It is violating if one direction is proved to be above
the bound on all of it, at values of the others that are written beside it (`privacy.loss_intervals`). Where
the loss is equal to its bound a cell stays open, however small it is.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from heapq import heappop, heappush
from itertools import count, islice
from math import prod

from flint import arb

from paramverify.algebra.bernstein import bernstein_form
from paramverify.algebra.constants import GENERATOR, working_precision
from paramverify.algebra.domains import Constraint, Domain, Interval, contains
from paramverify.algebra.polynomials import variables
from paramverify.algebra.rationals import simplest_between
from paramverify.algebra.real_roots import rational_root
from paramverify.algebra.signs import Sign, sign_on
from paramverify.claims import Claim
from paramverify.divergences import Average
from paramverify.errors import TimeLimitError
from paramverify.evidence.divergence_witnesses import BITS, LossWitness, bound_of
from paramverify.models.context import sample_points
from paramverify.models.model import Model, divergence_of
from paramverify.portfolio.session import Session
from paramverify.privacy.loss_intervals import OnBox, beyond, excluded, within
from paramverify.privacy.loss_verification import LossDirection, broken, directions
from paramverify.synthesis.intervals import Partition, StatusInterval, fixed_values, merged, side
from paramverify.synthesis.maps import Cell, RegionMap, Status
from paramverify.synthesis.projection import project
from paramverify.synthesis.quotients import middle

NARROW = Fraction(1, 10**6)  # of the interval of a parameter: how wide a part may be that stays open


def mattering(model: Model) -> tuple[Claim, ...]:
    """Returns claims in which the parameters that matter occur; they are not claims of the model."""
    found = {n: f for each in directions(model) for n, f in each.factors.known.items()}
    return tuple(Claim(f, model.domain) for f in found.values())


def loss_parts(
    model: Model, name: str, session: Session, on_cell: Callable[[Cell], None] = lambda cell: None
) -> tuple[Partition, dict[int, LossWitness], RegionMap]:
    """Returns the parts of one parameter's interval, witnesses of the violating ones, and the map of them.

    Where the loss crosses its bound there is an undecided part between rational ends, wide at most `NARROW`
    of the interval if the limits suffice.
    """
    found = loss_map(model, [name], session, Fraction(0), narrow=NARROW, on_cell=on_cell)
    interval = model.domain.box[name]
    cells = sorted(found.cells, key=lambda cell: cell.box[0])
    runs: list[list[Cell]] = []
    for cell in cells:
        if runs and runs[-1][-1].status is cell.status:
            runs[-1].append(cell)
        else:
            runs.append([cell])
    cut = [_part(runs, number, interval) for number in range(len(runs))]
    parts, alone = _in_domain(model, name, session, cut)
    every = directions(model)
    witnesses = {}
    for number, part in enumerate(parts):
        if part.status is Status.VIOLATING:
            inside = [own for cell in (*alone, *cells) for own in _inside(part, cell)]
            witness = witness_in(model, every, [name], inside)
            if witness:
                witnesses[number] = witness
    quantified = tuple(n for n in found.quantified if not model.domain.box[n].is_point)
    return Partition(name, quantified, interval, (), tuple(parts)), witnesses, found


def own_constraints(model: Model, name: str) -> tuple[Constraint, ...]:
    """Returns the constraints that are about one parameter alone."""
    fixed = fixed_values(model.domain, name)
    return tuple(
        c for c in model.domain.constraints if set(variables(c.polynomial)) - set(fixed) <= {name, GENERATOR}
    )


def _in_domain(
    model: Model, name: str, session: Session, parts: Sequence[StatusInterval]
) -> tuple[tuple[StatusInterval, ...], list[Cell]]:
    """Returns parts cut at the ends of the domain, exactly, and its points without neighbours, as cells."""
    own = own_constraints(model, name)
    if not own:
        return tuple(parts), []
    alone: list[Cell] = []
    pieces: list[StatusInterval] = []
    for piece in project((), replace(model.domain, constraints=own), name, session.in_time).parts:
        if piece.status is Status.OUTSIDE:
            pieces.append(piece)
        elif piece.is_point and piece.lower.is_rational:
            alone.append(at_value(model, name, piece.lower.lower, session))
            pieces.append(replace(piece, status=alone[-1].status))
        else:
            pieces += (common for part in parts for common in _common(piece, part))
    return merged(pieces), alone


def _common(piece: StatusInterval, part: StatusInterval) -> Iterator[StatusInterval]:
    """Yields what a piece of the domain and a part with rational ends have in common, if anything."""
    low, high = part.lower.lower, part.upper.lower
    below, above = side(low, piece.lower), side(high, piece.upper)
    lower, upper = part.lower if below > 0 else piece.lower, part.upper if above < 0 else piece.upper
    left = (below < 0 or part.lower_closed) and (below > 0 or piece.lower_closed)
    right = (above > 0 or part.upper_closed) and (above < 0 or piece.upper_closed)
    width = min(side(high, piece.lower), -side(low, piece.upper))
    if width > 0 and not piece.is_point:
        yield replace(part, lower=lower, upper=upper, lower_closed=left, upper_closed=right)
    elif width >= 0 and left and right:
        yield replace(part, lower=lower, upper=lower, lower_closed=True, upper_closed=True)


def _inside(part: StatusInterval, cell: Cell) -> Iterator[Cell]:
    """Yields what of a cell is in a part."""
    ((low, high),) = cell.box
    low, high = max(low, part.lower.upper), min(high, part.upper.lower)
    if low < high and not (low in part and high in part):
        low, high = middle(low, high)
    if low <= high and low in part:
        yield replace(cell, box=((low, high),))


_FIRST = (Status.OUTSIDE, Status.SAFE, Status.VIOLATING, Status.UNDECIDED)  # who has an end in common


def _part(runs: Sequence[Sequence[Cell]], number: int, interval: Interval) -> StatusInterval:
    """Returns cells in a row as a part; an end that two parts share is of the one that says more."""
    run = runs[number]
    status, low, high = run[0].status, run[0].box[0][0], run[-1].box[0][1]

    def closed(other: int, own: bool) -> bool:
        if not 0 <= other < len(runs):
            return own
        return _FIRST.index(status) < _FIRST.index(runs[other][0].status)

    return StatusInterval(
        status,
        rational_root(low),
        rational_root(high),
        closed(number - 1, interval.lower_closed),
        closed(number + 1, interval.upper_closed),
    )


def is_close(found: Partition) -> bool:
    """Tells whether all parts that stay open are as narrow as they should be."""
    width = (found.interval.upper - found.interval.lower) * NARROW
    return all(part.upper.lower - part.lower.lower <= 4 * width for part in found.having(Status.UNDECIDED))


def map_with_witness(
    model: Model,
    axes: Sequence[str],
    session: Session,
    coverage: Fraction,
    on_cell: Callable[[Cell], None],
) -> tuple[RegionMap, LossWitness | None]:
    """Returns a map, and a witness in one of its violating cells."""
    found = loss_map(model, axes, session, coverage, on_cell=on_cell)
    return found, None if found.stopped else witness_in(model, directions(model), axes, found.cells)


MAX_CELLS = 5_000  # that are looked at
MAX_BOXES = 60  # of the other parameters, for one cell and direction
TRIED = 8  # points of cells at which a witness is looked for
OTHERS = 8  # values of the other parameters at which a cell is tried first

Box = tuple[tuple[Fraction, Fraction], ...]
Point = Mapping[str, Fraction]


def loss_map(
    model: Model,
    axes: Sequence[str],
    session: Session,
    coverage: Fraction,
    narrow: Fraction = Fraction(0),
    on_cell: Callable[[Cell], None] = lambda cell: None,
) -> RegionMap:
    """Returns the map of a model whose measure is a loss.

    At most the share `coverage` of the box stays undecided, if the limits suffice. A cell is not cut when no
    side of it is longer than the share `narrow` of the side of the whole box.

    Raises:
        LimitError: too many sequences, or too large polynomials.
    """
    return _LossRegionSearch.of(model, axes, session).run(coverage, narrow, on_cell)


def at_value(model: Model, name: str, value: Fraction, session: Session) -> Cell:
    """Returns one value of a parameter as a cell: whether the bound is kept there, for all of the others."""
    box: Box = ((value, value),)
    return _LossRegionSearch.of(model, [name], session).examined(box) or Cell(Status.UNDECIDED, box)


@dataclass(eq=False)
class _LossRegionSearch:
    model: Model
    measure: Average
    axes: tuple[str, ...]
    session: Session
    domain: Domain  # with an enclosure of `E`
    every: list[LossDirection]
    bound: arb
    others: list[str]
    tried: list[tuple[int, dict[str, Fraction]]] = field(default_factory=list)  # which were violating before

    @staticmethod
    def of(model: Model, axes: Sequence[str], session: Session) -> _LossRegionSearch:
        measure = divergence_of(model, Average)
        every = directions(model)
        with working_precision(BITS):
            bound = bound_of(measure)
        box = model.domain.box
        named = {n for d in every for n in d.names} | {
            n for c in model.domain.constraints for n in variables(c.polynomial)
        }
        others = [n for n in box if n in named and n not in (*axes, GENERATOR) and not box[n].is_point]
        return _LossRegionSearch(
            model,
            measure,
            axes=tuple(axes),
            session=session,
            domain=model.domain.enclose(96),
            every=every,
            bound=bound,
            others=others,
        )

    def run(self, coverage: Fraction, narrow: Fraction, on_cell: Callable[[Cell], None]) -> RegionMap:
        """Examines the largest open cell, until few are open."""
        started = time.monotonic()
        whole: Box = tuple((self.domain.box[n].lower, self.domain.box[n].upper) for n in self.axes)
        numbers = count()
        pending: list[tuple[Fraction, int, Box]] = []
        cells: list[Cell] = []
        size = prod((high - low for low, high in whole), start=Fraction(1))
        left, outside, looked = size, Fraction(0), 0
        heappush(pending, (-size, next(numbers), whole))
        interrupted = stopped = False
        try:
            while pending and left > coverage * (size - outside) and looked < MAX_CELLS:
                self.session.in_time()
                volume, _, box = heappop(pending)
                cell = self.examined(box)
                looked += 1
                if cell is not None:
                    left += volume
                    outside -= volume if cell.status is Status.OUTSIDE else 0
                    cells.append(cell)
                    on_cell(cell)
                elif self._is_narrow(box, whole, narrow):
                    cells.append(Cell(Status.UNDECIDED, box))
                else:
                    for part in self._parts(box, whole):
                        own = prod((high - low for low, high in part), start=Fraction(1))
                        heappush(pending, (-own, next(numbers), part))
        except TimeLimitError:
            interrupted = True
        except KeyboardInterrupt:
            interrupted = stopped = True
        cells += [Cell(Status.UNDECIDED, box) for _, _, box in pending]
        missing = size - sum((cell.volume for cell in cells), Fraction(0))
        if missing:  # the cell that was looked at when the time was over
            cells.append(Cell(Status.UNDECIDED, box))
        return RegionMap(
            self.axes,
            tuple(n for n in self.model.domain.ring.parameters if n not in self.axes),
            box=whole,
            claims=(),
            cells=tuple(cells),
            seconds=time.monotonic() - started,
            interrupted=interrupted,
            stopped=stopped,
            domain=self.model.domain,
        )

    def _is_narrow(self, box: Box, whole: Box, narrow: Fraction) -> bool:
        sides = zip(box, whole, strict=True)
        return all(high - low <= narrow * (top - bottom) for (low, high), (bottom, top) in sides)

    def _parts(self, box: Box, whole: Box) -> Iterator[Box]:
        """Yields both parts of a cell, cut across its longest side at a simple number near the middle."""
        lengths = [
            (high - low) / (top - bottom) for (low, high), (bottom, top) in zip(box, whole, strict=True)
        ]
        axis = lengths.index(max(lengths))
        low, high = box[axis]
        cut = simplest_between(*middle(low, high))
        for part in ((low, cut), (cut, high)):
            yield (*box[:axis], part, *box[axis + 1 :])

    # --- one cell ----------------------------------------------------------------------------------------

    def examined(self, box: Box) -> Cell | None:
        """Returns the cell if it is decided."""
        sides = {n: Interval(low, high, True, True) for n, (low, high) in zip(self.axes, box, strict=True)}
        own = {**self.domain.box, **sides}
        if excluded(self.domain, own) is not None:
            return Cell(Status.OUTSIDE, box)
        center = {n: (low + high) / 2 for n, (low, high) in zip(self.axes, box, strict=True)}
        found = self._violating(own, center)
        if found is not None:
            number, at = found
            return Cell(Status.VIOLATING, box, number, tuple(sorted(at.items())))
        if all(self._is_safe(direction, own) for direction in self.every):
            return Cell(Status.SAFE, box)
        return None

    def _violating(
        self, box: Mapping[str, Interval], center: Point
    ) -> tuple[int, dict[str, Fraction]] | None:
        """Returns a direction that is above the bound on the whole box at values of the others, if found."""
        for number, at in self._candidates(center):
            fixed = {n: Interval(v, v, True, True) for n, v in at.items()}
            direction = self.every[number]
            part = {**box, **fixed}
            if not self._counts(direction, part, at):
                continue
            found = OnBox(direction.outputs, direction.factors, part)
            witness = broken(self.model, direction.origin, self.measure, self._full({**center, **at}))
            orders = [witness.order] if witness and witness.order is not None else []
            if beyond(found, self.measure, self.bound, orders):
                return number, at
        return None

    def _candidates(self, center: Point) -> Iterator[tuple[int, dict[str, Fraction]]]:
        """Yields directions and values of the others at which the center is violating; the last one first."""
        for number, at in list(self.tried):
            if self._breaks(number, {**center, **at}):
                self.tried.remove((number, at))
                self.tried.insert(0, (number, at))
                yield number, at
                return
        for at in self._others():
            for number in range(len(self.every)):
                if self._breaks(number, {**center, **at}):
                    self.tried.insert(0, (number, at))
                    del self.tried[OTHERS:]
                    yield number, at
                    return

    def _others(self) -> Iterator[dict[str, Fraction]]:
        """Yields simple values of the other parameters."""
        if not self.others:
            yield {}
            return
        for point in islice(sample_points(self.model.domain), OTHERS):
            yield {n: point[n] for n in self.others}

    def _breaks(self, number: int, point: Point) -> bool:
        full = self._full(point)
        origin = self.every[number].origin
        return broken(self.model, origin, self.measure, full) is not None

    def _full(self, point: Point) -> dict[str, Fraction]:
        """Returns a point with values of the parameters that do not matter."""
        box = self.model.domain.box
        return {n: point[n] if n in point else box[n].simplest() for n in self.model.domain.ring.parameters}

    def _counts(self, direction: LossDirection, box: Mapping[str, Interval], at: Point) -> bool:
        """Tells whether all points of a cell that are in the domain count, with these values of the others.

        They are in the domain with them, and both secrets are possible there.
        """
        for constraint in self.model.domain.constraints:
            if set(variables(constraint.polynomial)) <= {*self.axes, GENERATOR}:
                continue
            least = min(bernstein_form(constraint.polynomial, box).entries)
            if least < 0 or (constraint.strict and least == 0):
                return False
        whole = self.domain.box
        open_ = {
            n: Interval(
                i.lower,
                i.upper,
                i.lower > whole[n].lower or whole[n].lower_closed,
                i.upper < whole[n].upper or whole[n].upper_closed,
            )
            for n, i in box.items()
            if not i.is_point
        }
        total = direction.found.total
        return sign_on(total, replace(self.domain, box={**box, **open_})) in (Sign.POSITIVE, Sign.NEGATIVE)

    def _is_safe(self, direction: LossDirection, box: Mapping[str, Interval]) -> bool:
        """Tells whether a direction is proved on a cell, for all values of the other parameters."""
        pending = deque([box])
        names = [n for n in self.others if n in direction.names]
        boxes = 0
        while pending:
            self.session.in_time()
            part = pending.popleft()
            boxes += 1
            if excluded(self.domain, part) is not None:
                continue
            own = OnBox(direction.outputs, direction.factors, part)
            if within(own, self.measure, self.bound) is not None:
                continue
            if not names or boxes + len(pending) > MAX_BOXES:
                return False
            point = {n: (i.lower + i.upper) / 2 for n, i in part.items() if n != GENERATOR}
            if contains(self.model.domain, point) and broken(
                self.model, direction.origin, self.measure, point
            ):
                self.tried.insert(0, (self.every.index(direction), {n: point[n] for n in self.others}))
                del self.tried[OTHERS:]
                return False
            pending.extend(self._halves(part, names))
        return True

    def _halves(self, part: Mapping[str, Interval], names: Sequence[str]) -> Iterator[Mapping[str, Interval]]:
        """Yields both halves of a box, cut across the longest side of some parameters."""
        whole = self.domain.box

        def length(name: str) -> Fraction:
            return (part[name].upper - part[name].lower) / (whole[name].upper - whole[name].lower)

        name = max(names, key=length)
        own = part[name]
        cut = (own.lower + own.upper) / 2
        for low, high in ((own.lower, cut), (cut, own.upper)):
            yield {**part, name: Interval(low, high, True, True)}


# --- witnesses ------------------------------------------------------------------------------------------


def witness_in(
    model: Model, every: Sequence[LossDirection], axes: Sequence[str], cells: Iterable[Cell]
) -> LossWitness | None:
    """Returns the witness at a simple point of the violating cells, evaluated from the model, if any.

    `every` are the directions of the model.
    """
    measure = divergence_of(model, Average)
    found: list[tuple[Fraction, Cell, dict[str, Fraction]]] = []
    for cell in cells:
        if cell.claim is not None:
            point = _simple_point(model.domain, axes, cell)
            found.append((sum((Fraction(v.denominator) for v in point.values()), Fraction(0)), cell, point))
    for _, cell, point in sorted(found, key=lambda entry: entry[0])[:TRIED]:
        assert cell.claim is not None
        box = model.domain.box
        full = {**{n: box[n].simplest() for n in model.domain.ring.parameters}, **dict(cell.at), **point}
        witness = broken(model, every[cell.claim].origin, measure, full)
        if witness:
            return witness
    return None


def _simple_point(domain: Domain, axes: Sequence[str], cell: Cell) -> dict[str, Fraction]:
    """Returns a simple point of a cell, in the intervals of the domain."""
    found = {}
    for name, (low, high) in zip(axes, cell.box, strict=True):
        value = simplest_between(low, high) if low < high else low
        found[name] = value if value in domain.box[name] else simplest_between(*middle(low, high))
    return found
