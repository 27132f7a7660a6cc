"""Region maps: a partition of the parameter box into safe, violating and undecided cells.

Symmetric parameters of a region map: one ordering of them stands for all.

Parameters are symmetric if the exchange of any two of them turns the claims into the same claims, and the
domain into itself. Then a point has the status of the point with the same values in ascending order. So the
cells at which these parameters ascend are enough; a cell in which none do mirrors others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from itertools import combinations, islice, pairwise, product
from math import factorial, prod

from paramverify.algebra.domains import Domain, Interval
from paramverify.algebra.polynomials import Polynomial, primitive
from paramverify.algebra.volumes import Inside, VolumeShare, shares
from paramverify.claims import Claim, without_enclosure


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


Ends = tuple[Fraction, Fraction]
Fold = tuple[int, ...]  # the numbers of symmetric free parameters, in ascending order

LEAST_AXES = 3  # free parameters of a map that is folded: what is drawn as it is has two


def symmetric(claims: Iterable[Claim], domain: Domain, free: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Returns the classes of symmetric parameters among the free ones: those with at least two members.

    An exchange of two of them leaves the claims, the constraints and the intervals as they are.
    """
    if len(free) < LEAST_AXES or domain.ring.tied:
        return ()
    names = domain.ring.names
    stated = {(_content(claim.polynomial), None) for claim in claims}
    limits = {(_content(limit.polynomial), limit.strict) for limit in domain.constraints}

    def alike(first: str, second: str) -> bool:
        if domain.box[first] != domain.box[second]:
            return False
        order = list(range(len(names)))
        a, b = names.index(first), names.index(second)
        order[a], order[b] = b, a
        return all(
            {(frozenset((tuple(x[k] for k in order), c) for x, c in terms), kind) for terms, kind in known}
            == known
            for known in (stated, limits)
        )

    classes: list[list[str]] = []
    for name in free:
        own = next((c for c in classes if alike(c[0], name)), None)
        if own is None:
            classes.append([name])
        else:
            own.append(name)
    return tuple(tuple(c) for c in classes if len(c) > 1)


Content = frozenset[tuple[tuple[int, ...], Fraction]]


def _content(polynomial: Polynomial) -> Content:
    """Returns the terms of a polynomial, a positive factor left out."""
    terms = primitive(polynomial)[1].to_dict().items()
    return frozenset((tuple(map(int, x)), Fraction(int(c.p), int(c.q))) for x, c in terms)


def numbers(free: Sequence[str], folds: Iterable[Sequence[str]]) -> tuple[Fold, ...]:
    """Returns the classes by the numbers of their parameters among the free ones."""
    return tuple(tuple(free.index(name) for name in names) for names in folds)


def mirrors(box: Sequence[Ends], folds: Iterable[Fold]) -> bool:
    """Tells whether symmetric parameters ascend nowhere in a box, but for its boundary."""
    return any(box[a][0] >= box[b][1] for fold in folds for a, b in combinations(fold, 2))


def mirrored_side(box: Sequence[Ends], folds: Iterable[Fold]) -> tuple[Fraction, int, Fraction] | None:
    """Returns the largest part of a box that one cut shows to mirror others, with axis and ratio."""
    best: tuple[Fraction, int, Fraction] | None = None
    for fold in folds:
        for a, b in combinations(fold, 2):
            (low, high), (least, most) = box[a], box[b]
            if low < most < high:  # the values of a above all of b
                ratio = (most - low) / (high - low)
                best = max(best or (Fraction(0), 0, Fraction(0)), (1 - ratio, a, ratio))
            if least < low < most:  # those of b below all of a
                ratio = (low - least) / (most - least)
                best = max(best or (Fraction(0), 0, Fraction(0)), (ratio, b, ratio))
    return best


def images(folds: Iterable[Fold]) -> int:
    """Returns how many orders the symmetric parameters have."""
    return prod(factorial(len(fold)) for fold in folds)


def ascending_volume(box: Sequence[Ends], folds: Sequence[Fold]) -> Fraction:
    """Returns the volume of the part of a box in which the symmetric parameters ascend, times `images`.

    With the ends of the intervals the line falls into parts of lengths l. A way to give each parameter of a
    class one part, in ascending order, has the volume Π l^m/m!, with m parameters in a part.
    """
    folded = {axis for fold in folds for axis in fold}
    volume = prod((high - low for k, (low, high) in enumerate(box) if k not in folded), start=Fraction(1))
    for fold in folds:
        volume *= factorial(len(fold)) * _ascending([box[k] for k in fold])
    return volume


def ascending_parts(
    box: Sequence[Ends], folds: Sequence[Fold]
) -> Iterator[tuple[tuple[Ends, ...], Fraction]]:
    """Yields boxes with a number each: the images of the part of a box that ascends have the volume of all.

    With the ends of the intervals the line falls into parts, as in `ascending_volume`. Where m parameters
    of a class are in one part, every order of them has the same share of what is symmetric in them: 1/m!.
    """
    ways = [list(_placed([box[k] for k in fold])) for fold in folds]
    for chosen in product(*ways):
        part, share = list(box), Fraction(images(folds))
        for fold, places in zip(folds, chosen, strict=True):
            for axis, ends in zip(fold, places, strict=True):
                part[axis] = ends
            share /= prod(factorial(n) for n in Counter(places).values())
        yield tuple(part), share


def _placed(intervals: Sequence[Ends]) -> Iterator[tuple[Ends, ...]]:
    """Yields the ways to give each interval one of the parts that it has, in ascending order."""
    parts = list(pairwise(sorted({end for ends in intervals for end in ends})))
    pending: list[tuple[int, tuple[Ends, ...]]] = [(0, ())]
    while pending:
        first, places = pending.pop()
        if len(places) == len(intervals):
            yield places
            continue
        low, high = intervals[len(places)]
        for k in range(first, len(parts)):
            if low <= parts[k][0] and parts[k][1] <= high:
                pending.append((k, (*places, parts[k])))


def _ascending(intervals: Sequence[Ends]) -> Fraction:
    if all(high <= least for (_, high), (least, _) in pairwise(intervals)):
        return prod((high - low for low, high in intervals), start=Fraction(1))
    places = sorted({end for ends in intervals for end in ends})
    ways = [Fraction(1)] + [Fraction(0)] * len(intervals)  # by how many parameters have their part
    for low, high in pairwise(places):
        longer = list(ways)
        for start, way in enumerate(ways):
            part = way
            for count, (least, most) in enumerate(intervals[start:] if way else (), 1):
                if least > low or high > most:
                    break
                part *= (high - low) / count
                longer[start + count] += part
        ways = longer
    return ways[-1]
