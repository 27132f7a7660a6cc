"""Region maps: a partition of the parameter box into safe, violating and undecided cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from itertools import islice
from math import prod

from paramverify.algebra.domains import Domain, Interval
from paramverify.algebra.volumes import Inside, VolumeShare, shares
from paramverify.claims import Claim, without_enclosure
from paramverify.synthesis.folding import Fold, ascending_parts, ascending_volume, numbers


class Status(StrEnum):
    """What is known of every point of a cell."""

    SAFE = "safe"
    VIOLATING = "violating"
    UNDECIDED = "undecided"
    OUTSIDE = "outside"  # no point of the cell is in the parameter domain
    MIRRORED = "mirrored"  # symmetric parameters do not ascend there: other cells say what holds


INSIDE = (Status.SAFE, Status.VIOLATING, Status.UNDECIDED)
MANY = 100_000  # cells that are measured together
BESIDE = (Status.OUTSIDE, Status.MIRRORED)  # of cells that no share counts


@dataclass(frozen=True)
class Cell:
    """A closed box over the free parameters, with what was proved of all its points in the domain.

    `claim` is the number of a claim that fails at each of them, `at` the values of the quantified parameters
    with which it does, where the cell is violating.
    """

    status: Status
    box: tuple[tuple[Fraction, Fraction], ...]
    claim: int | None = None
    at: tuple[tuple[str, Fraction], ...] = ()

    @property
    def volume(self) -> Fraction:
        """The volume of the box."""
        return prod((high - low for low, high in self.box), start=Fraction(1))


@dataclass(frozen=True, eq=False)
class RegionMap:
    """Cells that tile the box over the free parameters, in the order of `parameters`.

    At a safe point all claims hold for all values of the `quantified` parameters in the domain; at a
    violating point some claim fails for some. Cells touch in their faces only. `interrupted` says that the
    time did not suffice, `stopped` that it was a KeyboardInterrupt. Without claims, as of `kl`, the map has
    its `domain`, and the claims of cells are directions of secret pairs. Where parameters are symmetric,
    `folds` has their classes: a point has the status of the point at which those of each class ascend.
    """

    parameters: tuple[str, ...]
    quantified: tuple[str, ...]
    box: tuple[tuple[Fraction, Fraction], ...]
    claims: tuple[Claim, ...]
    cells: Collection[Cell]
    seconds: float
    interrupted: bool = False
    stopped: bool = False
    domain: Domain | None = None
    folds: tuple[tuple[str, ...], ...] = ()

    @cached_property
    def volumes(self) -> Mapping[Status, VolumeShare]:
        """Bounds of the volume inside the domain of the cells with each status."""
        cells = self.listed
        found = dict.fromkeys(INSIDE, VolumeShare(Fraction(0), Fraction(0)))
        folds = numbers(self.parameters, self.folds)
        if self.inside.conditions:
            parts = ((c.status, *part) for c in cells for part in ascending_parts(c.box, folds))
            while some := list(islice(parts, MANY)):
                volumes = self.inside.volumes([box for _, box, _ in some])
                for (status, _, times), part in zip(some, volumes, strict=True):
                    own = found[status]
                    found[status] = VolumeShare(
                        own.lower + times * part.lower, own.upper + times * part.upper
                    )
            return found
        if folds:
            return {s: VolumeShare(size, size) for s, size in _folded_sizes(cells, folds).items()}
        # Many cells have the same size, and adding fractions is slow.
        counts = Counter((cell.status, tuple(high - low for low, high in cell.box)) for cell in cells)
        for (status, sides), count in counts.items():
            size = found[status].lower + count * prod(sides, start=Fraction(1))
            found[status] = VolumeShare(size, size)
        return found

    @cached_property
    def inside(self) -> Inside:
        """The points over the parameters that are in the domain."""
        if not self.claims and self.domain is not None:
            return Inside.of(self.domain, self.parameters)
        if not self.claims:
            return Inside(self.parameters, (), {}, ())
        return Inside.of(self.claims[0].domain, self.parameters)

    @property
    def listed(self) -> Iterator[Cell]:
        """The cells that the shares count, in their order."""
        return (cell for cell in self.cells if cell.status not in BESIDE)

    @cached_property
    def shares(self) -> Mapping[Status, VolumeShare]:
        """Bounds of the share of the domain (its volume, constraints included) that has each status."""
        return shares(self.volumes)

    def share(self, status: Status) -> Fraction:
        """Returns a certified share of the domain: undecided at most this, safe or violating at least."""
        return self.shares[status].upper if status is Status.UNDECIDED else self.shares[status].lower


def _folded_sizes(cells: Iterable[Cell], folds: Sequence[Fold]) -> dict[Status, Fraction]:
    """Returns the volume of all images of the cells with each status."""
    sizes: dict[Status, dict[int, int]] = {status: {} for status in INSIDE}
    for cell in cells:
        size, own = ascending_volume(cell.box, folds), sizes[cell.status]
        own[size.denominator] = own.get(size.denominator, 0) + size.numerator
    return {
        status: sum((Fraction(top, bottom) for bottom, top in own.items()), Fraction(0))
        for status, own in sizes.items()
    }


def stretches(found: RegionMap) -> list[tuple[Status, Fraction, Fraction]]:
    """Returns the cells of a map of one parameter, neighbouring ones of one status put together."""
    joined: list[tuple[Status, Fraction, Fraction]] = []
    for cell in sorted(found.cells, key=lambda cell: cell.box[0]):
        (low, high), status = cell.box[0], cell.status
        if joined and joined[-1][0] is status and joined[-1][2] == low:
            low = joined.pop()[1]
        joined.append((status, low, high))
    return joined


def on_cell(
    claim: Claim, domain: Domain, free: Sequence[str], box: Sequence[tuple[Fraction, Fraction]]
) -> Claim:
    """Returns the claim that f ≥ 0 on a cell within the domain, the other parameters being quantified."""
    part = dict(domain.box)
    for name, (low, high) in zip(free, box, strict=True):
        whole = domain.box[name]
        closed = (whole.lower_closed or low > whole.lower, whole.upper_closed or high < whole.upper)
        part[name] = Interval(low, high, *closed)
    return without_enclosure(Claim(claim.polynomial, replace(domain, box=part), claim.origins))
