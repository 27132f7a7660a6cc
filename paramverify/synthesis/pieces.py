"""One claim on one cell: the values of the quantified parameters are cut into pieces where that is needed.

Where a cell of a region map is cut: so that much of it is decided on one side, if that can be.

Along an axis with slabs of coefficients, f is at least the polynomial in one variable whose coefficients are
the least ones of the slabs. Where that polynomial is not negative, f is not, whatever the other parameters
are; so it shows beforehand how much a cut decides. A cell is first made short in all axes but the one in
which the claims vary most: then the part that stays open lies across it, and both ends of it are cut off.

What is computed here only proposes a cut; what is said of the parts is proved for each of them. So floats do.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import islice, pairwise, product

from paramverify.algebra.bernstein import HALF, Enclosure, at, enclosure_slabs, face_indices, rises, spreads
from paramverify.algebra.domains import Domain
from paramverify.synthesis.factors import Ends, FactorState

MAX_PIECES = 64  # open pieces of one claim on one cell
MAX_SPLITS = 16  # cuts of pieces of one claim on one cell, beyond those that its parent had
MAX_VERTICES = 64  # vertices of a piece that are tried
INWARD = (
    1,
    3,
    6,
    10,
    16,
    24,
    40,
)  # halvings of the way from an open end of the domain to a piece's other end


@dataclass(frozen=True, eq=False)
class Piece:
    """The cell times a box of the quantified parameters, and what is still open there.

    There f has the sign of `sign` times the `odd` factors where no factor vanishes. `masks` may vanish;
    `conditions` are constraints, by number, that are not known to hold everywhere. The factors are those on
    the face where the `pinned` parameters are at an end of their interval, at which f is smallest.
    """

    box: Mapping[str, Ends]
    sign: int
    odd: tuple[FactorState, ...]
    masks: tuple[FactorState, ...] = ()
    conditions: tuple[tuple[int, FactorState], ...] = ()
    pinned: Mapping[str, Fraction] = field(default_factory=dict)

    def split(self, name: str, ratio: Fraction = HALF) -> tuple[Piece, Piece]:
        """Returns the pieces on both sides of a cut of a parameter, at a ratio of its length."""
        boxes = [self.box, self.box]
        if name in self.box:
            low, high = self.box[name]
            middle = low + (high - low) * ratio
            boxes = [{**self.box, name: (low, middle)}, {**self.box, name: (middle, high)}]
        odd = [state.split(name, ratio) for state in self.odd]
        masks = [state.split(name, ratio) for state in self.masks]
        conditions = [(k, state.split(name, ratio)) for k, state in self.conditions]
        below, above = (
            Piece(
                boxes[side],
                self.sign,
                odd=tuple(both[side] for both in odd),
                masks=tuple(both[side] for both in masks),
                conditions=tuple((k, both[side]) for k, both in conditions),
                pinned=self.pinned,
            )
            for side in (0, 1)
        )
        return below, above

    @property
    def leading(self) -> FactorState | None:
        """The first thing that is open, by whose variation a parameter to cut is chosen."""
        return next(iter((*self.odd, *self.masks, *(state for _, state in self.conditions))), None)


class Examiner:
    """Decides claims on cells of one domain."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain

    def settled(self, piece: Piece) -> Piece | None:
        """Returns what is open of a piece, or None if f ≥ 0 at all of its points in the domain."""
        conditions = []
        for k, state in piece.conditions:
            strict = self.domain.constraints[k].strict
            sign = state.sign()
            if sign < 0 and (state.form.upper < 0 or strict):
                return None
            if not (sign > 0 and (state.form.lower > 0 or not strict)):
                conditions.append((k, state))
        result, odd, masks = piece.sign, [], list(piece.masks)
        for state in piece.odd:
            sign = state.sign()
            if not sign:
                odd.append(state)
                continue
            if not state.form.error and not any(state.form.entries):
                return None  # f = 0
            if piece.pinned and sign * piece.sign < 0:
                odd.append(state)  # its sign is known on the face only
                continue
            result *= sign
            masks.append(state)
        if not odd and result > 0:
            return None
        masks = [state for state in masks if not state.nonzero(state.form)]
        return Piece(
            piece.box,
            result,
            odd=tuple(odd),
            masks=tuple(masks),
            conditions=tuple(conditions),
            pinned=piece.pinned,
        )

    def flattened(self, piece: Piece) -> Piece:
        """Fixes quantified parameters in which f is monotone at the end where it is smallest.

        Only where a single factor is open and no constraint: then f ≥ 0 on the piece iff on that face, and
        all Bernstein coefficients on the piece are at least those on the face.
        """
        if len(piece.odd) != 1 or piece.masks or piece.conditions:
            return piece
        (state,) = piece.odd
        every = state.factor.degrees
        pinned = dict(piece.pinned)
        for name in [n for n in state.form.names if n in piece.box]:
            slope = piece.sign * rises(state.form, name, every[name])
            if slope:
                pinned[name] = piece.box[name][slope < 0]
                state = state.pinned(name, slope < 0)
        return replace(piece, odd=(state,), pinned=pinned)

    def vacuous(self, pieces: Sequence[Piece]) -> list[Piece]:
        """Returns the pieces of which it is not proved that the domain has no point there."""
        return [piece for piece in map(self.settled, pieces) if piece is not None]

    def fails(self, piece: Piece) -> dict[str, Fraction] | None:
        """Returns values of the quantified parameters with which f < 0 on the whole cell within the domain.

        A constraint that only restricts the free parameters need not hold there: points outside of the domain
        are not spoken of.
        """
        if not piece.box:
            return {} if not piece.odd and piece.sign < 0 and not piece.masks else None
        ends = [
            [piece.pinned[name]] if name in piece.pinned else sorted(set(interval))
            for name, interval in piece.box.items()
        ]
        for values in islice(product(*ends), MAX_VERTICES):
            point = dict(zip(piece.box, values, strict=True))
            if self._negative(piece, point):
                found = self._inside(piece, point)
                if found is not None:
                    return found
        return None

    def _negative(self, piece: Piece, point: Mapping[str, Fraction]) -> bool:
        sign = piece.sign
        for state in piece.odd:
            form = _slice(state, point)
            if form.upper >= 0 and form.lower <= 0:
                return False
            sign *= 1 if form.lower > 0 else -1
        if sign > 0:
            return False
        if not all(state.nonzero(_slice(state, point)) for state in piece.masks):
            return False
        return all(
            _slice(state, point).lower >= (1 if self.domain.constraints[k].strict else 0)
            for k, state in piece.conditions
            if any(n in piece.box for n in state.factor.names)
        )

    def _inside(self, piece: Piece, point: Mapping[str, Fraction]) -> dict[str, Fraction] | None:
        """Returns the point itself if the domain has it, or one near it that does as well."""
        box = self.domain.box
        if all(value in box[name] for name, value in point.items()):
            return dict(point)
        for halvings in INWARD:
            near = {}
            for name, value in point.items():
                low, high = piece.box[name]
                other = high if value == low else low
                near[name] = value if value in box[name] else value + (other - value) / 2**halvings
            if self._exactly(piece, near):
                return near
        return None

    def _exactly(self, piece: Piece, point: Mapping[str, Fraction]) -> bool:
        """Tells the same as `_negative` for a point that is not a vertex, from the polynomials."""

        def at_point(state: FactorState) -> FactorState:
            fixed = {**state.fixed, **{n: v for n, v in point.items() if n in state.factor.names}}
            box = {n: ends for n, ends in state.box.items() if n not in piece.box}
            form = state.factor.enclosed(box, fixed, 256)
            return FactorState(state.factor, box, form=form, source=None, fixed=fixed, bits=256)

        placed = Piece(
            {},
            piece.sign,
            tuple(at_point(state) for state in piece.odd),
            tuple(at_point(state) for state in piece.masks),
            tuple(
                (k, at_point(state))
                for k, state in piece.conditions
                if set(state.factor.names) & set(piece.box)
            ),
        )
        settled = self.settled(placed)
        return settled is not None and not settled.odd and not settled.masks and not settled.conditions

    def examine(self, pieces: Sequence[Piece]) -> tuple[list[Piece], dict[str, Fraction] | None]:
        """Returns the open pieces of a claim on a cell, or values with which it fails on all of it.

        No open piece means that the claim holds on the cell within the domain.
        """
        todo = list(pieces)
        kept: list[Piece] = []
        budget = MAX_SPLITS
        while todo:
            piece = self.settled(todo.pop())
            if piece is None:
                continue
            point = self.fails(piece)
            if point is not None:
                return [], point
            if piece.box:
                piece = self.flattened(piece)
                name = self._worst(piece)
                if name and budget and len(todo) + len(kept) < MAX_PIECES:
                    budget -= 1
                    todo += piece.split(name)
                    continue
            kept.append(piece)
        return kept, None

    def _worst(self, piece: Piece) -> str | None:
        """Returns the quantified parameter to cut: that in which the leading factor varies most, if one."""
        state = piece.leading
        if state is None or not state.form.names:
            return None
        _, name = max(zip(spreads(state.form), state.form.names, strict=True))
        return name if name in piece.box else None


def _slice(state: FactorState, point: Mapping[str, Fraction]) -> Enclosure:
    """Returns the form on the face of its box where the quantified parameters are at a vertex."""
    form = state.form
    for name in [n for n in form.names if n in point]:
        form = at(form, name, Fraction(int(point[name] != state.box[name][0])))
    return form


def negative_vertex(piece: Piece) -> bool:
    """Tells whether f is negative at a vertex of the cell times the piece; not known with several factors."""
    if len(piece.odd) != 1:
        return True
    form = piece.odd[0].form
    corners: list[int] = []
    for ends in product((0, 1), repeat=len(form.degrees)):
        corners += face_indices(form.degrees, dict(enumerate(ends)))
    return any(piece.sign * form.entries[k] < -form.error for k in corners)


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
