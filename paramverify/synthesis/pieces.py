"""One claim on one cell: the values of the quantified parameters are cut into pieces where that is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import islice, product

from paramverify.algebra.bernstein import HALF, Enclosure, at, face_indices, rises, spreads
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
