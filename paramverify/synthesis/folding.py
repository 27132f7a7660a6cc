"""Symmetric parameters of a region map: one ordering of them stands for all.

Parameters are symmetric if the exchange of any two of them turns the claims into the same claims, and the
domain into itself. Then a point has the status of the point with the same values in ascending order. So the
cells at which these parameters ascend are enough; a cell in which none do mirrors others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, pairwise, product
from math import factorial, prod

from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import Polynomial, primitive
from paramverify.claims import Claim

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
