"""For which values `kl` or `zcdp` keeps its bound: intervals with certified ends, and maps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Constraint, Interval
from paramverify.algebra.polynomials import variables
from paramverify.algebra.real_roots import rational_root
from paramverify.claims import Claim
from paramverify.evidence.divergence_witnesses import LossWitness
from paramverify.models.model import Model
from paramverify.portfolio.session import Session
from paramverify.privacy.loss_boxes import directions
from paramverify.synthesis.intervals import Partition, StatusInterval, fixed_values, merged, side
from paramverify.synthesis.loss_regions import at_value, loss_map, witness_in
from paramverify.synthesis.maps import Cell, RegionMap, Status
from paramverify.synthesis.numbers import middle
from paramverify.synthesis.projection import project

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
