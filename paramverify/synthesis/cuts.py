"""Where a cell of a region map is cut: so that much of it is decided on one side, if that can be.

Along an axis with slabs of coefficients, f is at least the polynomial in one variable whose coefficients are
the least ones of the slabs. Where that polynomial is not negative, f is not, whatever the other parameters
are; so it shows beforehand how much a cut decides. A cell is first made short in all axes but the one in
which the claims vary most: then the part that stays open lies across it, and both ends of it are cut off.

What is computed here only proposes a cut; what is said of the parts is proved for each of them. So floats do.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from itertools import pairwise

from paramverify.algebra.bernstein import HALF, enclosure_slabs, spreads
from paramverify.synthesis.pieces import Piece

STEPS = 16  # a cut is at a multiple of 1/16 of the length
WORTH = 0.25  # the least part of a cell that a cut beside the middle decides
NOWHERE = ([0, 0], [0, 0])
VOTES = 8  # open claims that have a say in where a cell is cut


def cut_of(open_claims: Collection[Sequence[Piece]], free: Sequence[str]) -> tuple[int, Fraction] | None:
    """Returns the number of a free parameter and the ratio at which it is cut; None if nothing varies."""
    votes = [0.0] * len(free)
    for pieces in list(open_claims)[:VOTES]:
        state = pieces[0].leading
        if state is None:
            continue
        steps = dict(zip(state.form.names, spreads(state.form), strict=True))
        whole = sum(steps.get(name, 0) for name in free)
        if whole:
            for k, name in enumerate(free):
                votes[k] += steps.get(name, 0) / whole
    if not any(votes):
        return None
    best, axis, ratio = max(_side(open_claims, free[k], k) for k in range(len(free)))
    return (axis, ratio) if best >= WORTH else (votes.index(max(votes)), HALF)


def _side(open_claims: Collection[Sequence[Piece]], name: str, axis: int) -> tuple[float, int, Fraction]:
    """Returns which part of a cell is decided by a cut of a parameter, about, and the ratio of that cut."""
    safe, violating = [STEPS, STEPS], [0, 0]
    for pieces in open_claims:
        holds, fails = [STEPS, STEPS], [STEPS, STEPS]
        for piece in pieces:
            for known, steps in zip((holds, fails), _decided(piece, name), strict=True):
                known[0], known[1] = min(known[0], steps[0]), min(known[1], steps[1])
            if not any(holds) and not any(fails):
                break
        for side in (0, 1):
            safe[side] = min(safe[side], holds[side])
            violating[side] = max(violating[side], fails[side])
    best, side = max((max(safe[side], violating[side]), side) for side in (0, 1))
    best = min(best, STEPS - 1)
    return best / STEPS, axis, Fraction(STEPS - best if side else best, STEPS)


def _decided(piece: Piece, name: str) -> tuple[list[int], list[int]]:
    """Returns for f ≥ 0 and for f < 0 how many steps from the lower and from the upper end it is seen."""
    if len(piece.odd) != 1:
        return NOWHERE
    form = piece.odd[0].form
    if name not in form.names:
        return NOWHERE
    rows = enclosure_slabs(form, form.names.index(name))
    found = []
    for sign, bound in ((1, min), (-1, max)):
        ends = [sign * bound(row) >= form.error for row in (rows[0], rows[-1])]
        if not any(ends):
            found.append([0, 0])
            continue
        values = [sign * bound(row) - form.error for row in rows]
        shift = max(0, max(map(abs, values)).bit_length() - 60)
        scaled = [float(value >> shift) for value in values]
        found.append([_steps(scaled[::turn], ends[side]) for side, turn in enumerate((1, -1))])
    if piece.sign < 0:
        found.reverse()
    return found[0], found[1] if not piece.masks and not piece.conditions else [0, 0]


def _steps(values: list[float], begins: bool) -> int:
    """Returns how many steps from the first end the coefficients of a part are not negative."""
    low, high = 0, STEPS
    while begins and high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _nonnegative(values, middle / STEPS) else (low, middle)
    return low


def _nonnegative(values: list[float], ratio: float) -> bool:
    """Tells whether the coefficients on the part [0, ratio] are not negative."""
    rest = 1 - ratio
    while len(values) > 1:
        values = [rest * a + ratio * b for a, b in pairwise(values)]
        if values[0] < 0:
            return False
    return True
