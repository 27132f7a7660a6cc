"""Which monomials may occur in the squares: by the Newton polytope, sign symmetries and diagonal entries.

If f = Σ gᵢ², all monomials of the gᵢ are in one half of the Newton polytope of f ([Reznick78]). A variable
that is at least zero is looked at as a square x = t²: then a sum of squares in t is one in x, times
products of such variables. If flips of signs leave f as it is, Q falls into blocks ([Lofberg09]). Leaving
out too much loses proofs and never makes a wrong one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from random import Random

Powers = tuple[int, ...]

MAX_CANDIDATES = 6_000
MAX_PROGRAMS = 400  # linear programs, for monomials that no direction excludes
DIRECTIONS = 200


def halves(support: Sequence[Powers]) -> list[Powers]:
    """Returns the e with 2·e in the convex hull of the support, or a few more; none if there are too many."""
    if not support:
        return []
    inside = set(support)
    directions = list(_directions(len(support[0])))
    bounds = [max(_dot(d, s) for s in support) for d in directions]
    found = []
    for count, e in enumerate(_candidates(support)):
        if count > MAX_CANDIDATES:
            return []
        twice = tuple(2 * k for k in e)
        if all(_dot(d, twice) <= bound for d, bound in zip(directions, bounds, strict=True)):
            found.append(e)
    doubtful = [e for e in found if tuple(2 * k for k in e) not in inside]
    if len(doubtful) <= MAX_PROGRAMS:
        out = {e for e in doubtful if not _in_hull(tuple(2 * k for k in e), support)}
        found = [e for e in found if e not in out]
    return found


def _candidates(support: Sequence[Powers]) -> Iterator[Powers]:
    """Yields the e with 2·e in the box of the support, with a total degree that fits."""
    degrees = [sum(s) for s in support]
    least, most = -(-min(degrees) // 2), max(degrees) // 2
    ends = [(-(-min(column) // 2), max(column) // 2) for column in zip(*support, strict=True)]

    def rest(k: int, low: int, high: int) -> Iterator[Powers]:
        if k == len(ends):
            if low <= 0 <= high:
                yield ()
            return
        for e in range(ends[k][0], min(ends[k][1], high) + 1):
            for others in rest(k + 1, low - e, high - e):
                yield (e, *others)

    yield from rest(0, least, most)


def _directions(width: int) -> Iterator[Powers]:
    draws = Random(1)
    for k in range(width):
        for sign in (1, -1):
            yield tuple(sign * (i == k) for i in range(width))
    for i, j in product(range(width), repeat=2):
        if i != j:
            yield tuple((k == i) - (k == j) for k in range(width))
            yield tuple((k == i) + (k == j) for k in range(width))
    for _ in range(DIRECTIONS):
        yield tuple(draws.randrange(-3, 4) for _ in range(width))


def _dot(left: Powers, right: Powers) -> int:
    return sum(a * b for a, b in zip(left, right, strict=True))


def _in_hull(point: Powers, support: Sequence[Powers]) -> bool:
    """Tells whether a point seems to be an average of others: nonnegative weights that sum to 1."""
    import clarabel
    import numpy
    from scipy.sparse import csc_matrix

    count, width = len(support), len(point) + 1
    sums = numpy.vstack([numpy.array(support, dtype=float).T, numpy.ones(count)])
    matrix = csc_matrix(numpy.vstack([sums, -numpy.eye(count)]))
    right = numpy.array([*point, 1, *[0] * count], dtype=float)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    cones = [clarabel.ZeroConeT(width), clarabel.NonnegativeConeT(count)]
    data = (csc_matrix((count, count)), numpy.zeros(count), matrix, right, cones, settings)
    solved = clarabel.DefaultSolver(*data).solve()
    return "PrimalInfeasible" not in str(solved.status)


def flips(supports: Sequence[Powers]) -> list[Powers]:
    """Returns generators of the flips of signs that change no monomial: r with r·α even, modulo 2."""
    if not supports:
        return []
    width = len(supports[0])
    reduced: list[tuple[int, list[int]]] = []  # pivot, row
    for row in {tuple(k % 2 for k in s) for s in supports}:
        entries = list(row)
        for pivot, other in reduced:
            if entries[pivot]:
                entries = [a ^ b for a, b in zip(entries, other, strict=True)]
        if any(entries):
            pivot = entries.index(1)
            reduced = [
                (p, [a ^ b for a, b in zip(o, entries, strict=True)] if o[pivot] else o) for p, o in reduced
            ]
            reduced.append((pivot, entries))
    free = [k for k in range(width) if k not in {p for p, _ in reduced}]
    rows = []
    for k in free:
        r = [0] * width
        r[k] = 1
        for pivot, other in reduced:
            r[pivot] = other[k]
        rows.append(tuple(r))
    return rows


def classes(monomials: Sequence[Powers], symmetries: Sequence[Powers]) -> list[list[Powers]]:
    """Returns the monomials in groups that are changed in the same way by all flips."""
    found: dict[Powers, list[Powers]] = {}
    for e in monomials:
        found.setdefault(tuple(_dot(r, e) % 2 for r in symmetries), []).append(e)
    return list(found.values())


def consistent(groups: Sequence[Sequence[Powers]], support: Sequence[Powers]) -> list[list[Powers]]:
    """Returns the groups without those e for which 2·e can come from the square of e only, and is not in f.

    Then the diagonal entry at e is zero, and with it the row.
    """
    known, kept = set(support), [list(group) for group in groups]
    while True:
        mixed = {
            tuple(map(int.__add__, a, b)) for group in kept for k, a in enumerate(group) for b in group[:k]
        }
        size = sum(map(len, kept))
        kept = [[e for e in group if (t := tuple(2 * k for k in e)) in known or t in mixed] for group in kept]
        if sum(map(len, kept)) == size:
            return [group for group in kept if group]
