"""For which values `kl` or `zcdp` keeps its bound: intervals with certified ends, and maps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from paramverify.algebra.domains import Interval
from paramverify.algebra.realroots import rational_root
from paramverify.claims import Claim
from paramverify.evidence.losses import LossWitness
from paramverify.models.model import Model
from paramverify.portfolio.session import Session
from paramverify.privacy.losses import directions
from paramverify.synthesis.intervals import Part, Partition
from paramverify.synthesis.loss_regions import loss_map, witness_in
from paramverify.synthesis.maps import Cell, RegionMap, Status

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
    parts = [_part(runs, number, interval) for number in range(len(runs))]
    every = directions(model)
    witnesses = {}
    for number, run in enumerate(runs):
        witness = witness_in(model, every, [name], run)
        if witness:
            witnesses[number] = witness
    quantified = tuple(n for n in found.quantified if not model.domain.box[n].is_point)
    return Partition(name, quantified, interval, (), tuple(parts)), witnesses, found


_FIRST = (Status.OUTSIDE, Status.SAFE, Status.VIOLATING, Status.UNDECIDED)  # who has an end in common


def _part(runs: Sequence[Sequence[Cell]], number: int, interval: Interval) -> Part:
    """Returns cells in a row as a part; an end that two parts share is of the one that says more."""
    run = runs[number]
    status, low, high = run[0].status, run[0].box[0][0], run[-1].box[0][1]

    def closed(other: int, own: bool) -> bool:
        if not 0 <= other < len(runs):
            return own
        return _FIRST.index(status) < _FIRST.index(runs[other][0].status)

    return Part(
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
