"""Cells of a region map that are examined: what is open of each, and the parts that a cut makes of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

from paramverify.algebra.bernstein import BITS, HALF
from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import is_constant
from paramverify.answers import Answer, Proved
from paramverify.claims import Claim
from paramverify.errors import InputError, UnsupportedError
from paramverify.exact.branching import decide_exactly
from paramverify.exact.procedure_outcomes import RemainingWork
from paramverify.portfolio.session import Session
from paramverify.synthesis.factors import Ends, FactorState, SignFactor, targets
from paramverify.synthesis.maps import Cell, Status, ascending_volume, mirrored_side, mirrors, numbers
from paramverify.synthesis.maps import on_cell as claim_on
from paramverify.synthesis.pieces import WORTH, Examiner, Piece, cut_of, negative_vertex
from paramverify.synthesis.tiling import NO_TILES, Box, sides

WHOLE = 1 << 400  # the volume of the box, in units of its own
SMALLEST = 16  # such units in a cell that is cut
TOUCHING = 4  # halvings after which a claim that seems to touch zero is given to the other exact procedures
MAX_TRIALS, TRIAL = 200, RemainingWork(boxes=300, coefficients=500_000)  # how often, and how much they may do
EARNED = 10  # trials for each that succeeds


@dataclass(frozen=True, eq=False)
class Node:
    """A cell with the open pieces of the claims, and of whether it is outside; `size` is about its volume."""

    box: Box
    size: int
    open: dict[int, list[Piece]]
    domain: list[Piece]


class Nodes:
    """The cells over the free parameters of claims on one domain."""

    def __init__(
        self,
        claims: Sequence[Claim],
        domain: Domain,
        free: Sequence[str],
        folds: Sequence[Sequence[str]],
    ) -> None:
        self.claims, self.domain, self.free = claims, domain, tuple(free)
        self.box: Box = tuple((domain.box[n].lower, domain.box[n].upper) for n in self.free)
        self.quantified = tuple(n for n in domain.ring.parameters if n not in self.free)
        self.folds = numbers(self.free, folds)
        self.targets, self.factors = targets(claims, domain)
        self.examiner = Examiner(domain)
        self.order = list(range(len(self.targets)))
        self.hits = [0] * len(self.targets)
        self.trials = MAX_TRIALS

    def root(self) -> Node:
        """Returns the whole box with all claims open."""
        whole = {n: (i.lower, i.upper) for n, i in self.domain.box.items()}
        states = [self._state(factor, whole) for factor in self.factors]
        conditions = tuple(
            (k, self._state(SignFactor(c.polynomial, self.domain), whole))
            for k, c in enumerate(self.domain.constraints)
            if not is_constant(c.polynomial)
        )
        ranging = [n for n in self.quantified if not self.domain.box[n].is_point]
        pieces = {}
        for number, target in enumerate(self.targets):
            odd, masks = tuple(states[k] for k in target.odd), tuple(states[k] for k in target.masks)
            mentioned = {n for s in (*odd, *masks, *(s for _, s in conditions)) for n in s.factor.names}
            over = {n: whole[n] for n in ranging if n in mentioned}
            pieces[number] = [Piece(over, target.sign, odd, masks, conditions)]
        over = {n: whole[n] for n in ranging if any(n in s.factor.names for _, s in conditions)}
        outside = [Piece(over, -1, (), (), conditions)] if conditions else []
        return Node(self.box, WHOLE, pieces, outside)

    def _state(self, factor: SignFactor, whole: dict[str, Ends]) -> FactorState:
        for name in factor.names:
            if name not in self.domain.box:
                reason = f"this case contains both {name} and its exponential, which a map does not support"
                raise UnsupportedError(f"{reason}: set {name} to a number with -D {name}=1/2")
        names = [n for n in factor.names if not self.domain.box[n].is_point]
        fixed = {n: whole[n][0] for n in factor.names if n not in names}
        box = {n: whole[n] for n in names}
        state = FactorState(factor, box, factor.enclosed(box, fixed, BITS), None, fixed)
        state.lighten()
        return state

    def entries(self) -> list[int]:
        """Returns how many coefficients each factor has, in low degrees."""
        return [prod(1 + min(4, degree) for degree in f.degrees.values()) for f in self.factors]

    def weight(self, box: Box, size: int) -> int:
        """Returns the volume of all images of a cell, at most one unit too large."""
        if not self.folds:
            return size
        volume = Fraction(1)
        for low, high in box:
            volume *= high - low
        share = ascending_volume(box, self.folds) / volume
        return -(-size * share.numerator // share.denominator)

    def examine(self, node: Node) -> Cell | Node:
        """Returns the decided cell, or what is open of it."""
        if self.folds and mirrors(node.box, self.folds):
            return Cell(Status.MIRRORED, node.box)
        outside = node.domain
        if outside:
            outside = self.examiner.vacuous(outside)
            if not outside:
                return Cell(Status.OUTSIDE, node.box)
        remaining = {}
        for number in self.order:
            if number not in node.open:
                continue
            pieces, point = self.examiner.examine(node.open[number])
            if point is not None:
                self._hit(number)
                values = {n: point.get(n, self.domain.box[n].simplest()) for n in self.quantified}
                return Cell(Status.VIOLATING, node.box, self.targets[number].claim, tuple(values.items()))
            if pieces and not self._touches(node, number, pieces):
                remaining[number] = pieces
        if not remaining:
            return Cell(Status.SAFE, node.box)
        return Node(node.box, node.size, remaining, outside)

    def _touches(self, node: Node, number: int, pieces: list[Piece]) -> bool:
        """Tells whether a claim that seems to touch zero for some quantified values is proved in another way.

        Cutting does not end then on the whole region where it does so. It seems to if no vertex has f < 0.
        """
        depth = WHOLE.bit_length() - node.size.bit_length()
        if depth < TOUCHING or depth % 2 or not self.trials or not any(piece.box for piece in pieces):
            return False
        if any(map(negative_vertex, pieces)):
            return False
        self.trials -= 1
        proved = self._proved(node, number, lambda claim: decide_exactly(claim, replace(TRIAL)))
        if proved:
            self.trials = min(MAX_TRIALS, self.trials + EARNED)
        return proved

    def _proved(self, node: Node, number: int, decide: Callable[[Claim], Answer]) -> bool:
        claim = self.claims[self.targets[number].claim]
        return isinstance(decide(claim_on(claim, self.domain, self.free, node.box)), Proved)

    def all_proved(self, node: Node, session: Session) -> bool:
        """Tells whether the backends of a session prove all open claims on a cell."""
        if any(negative_vertex(piece) for pieces in node.open.values() for piece in pieces):
            return False
        return all(self._proved(node, number, lambda c: session.decide(c).answer) for number in node.open)

    def _hit(self, number: int) -> None:
        """Counts a violation: claims that fail often are examined first."""
        self.hits[number] += 1
        if self.order[0] != number:
            self.order.sort(key=lambda k: -self.hits[k])

    def cut(self, node: Node) -> tuple[int, Fraction]:
        """Returns the number of the free parameter to cut, and the ratio of its length."""
        mirrored = mirrored_side(node.box, self.folds)
        if mirrored and mirrored[0] >= WORTH:
            return mirrored[1:]
        found = cut_of(node.open.values(), self.free)
        if found is not None:
            return found
        lengths = [(high - low) / (b - a) for (low, high), (a, b) in zip(node.box, self.box, strict=True)]
        return lengths.index(max(lengths)), HALF

    def parts(self, node: Node, axis: int, ratio: Fraction = HALF) -> list[Node]:
        """Returns both sides of a cut of a cell."""
        name = self.free[axis]
        split = {
            number: [piece.split(name, ratio) for piece in pieces] for number, pieces in node.open.items()
        }
        domain = [piece.split(name, ratio) for piece in node.domain]
        low, high = node.box[axis]
        boxes, sizes = sides(node.box, axis, low + (high - low) * ratio), portions(node.size, ratio)
        return [
            Node(
                boxes[side],
                sizes[side],
                {number: [both[side] for both in pieces] for number, pieces in split.items()},
                [both[side] for both in domain],
            )
            for side in (0, 1)
        ]


def portions(size: int, ratio: Fraction) -> tuple[int, int]:
    """Returns the volumes on both sides of a cut: their sum is exact, each is less than one unit off.

    Raises:
        InputError: one of them is less than one unit; no cut of a map is that near to a face.
    """
    below = size * ratio.numerator // ratio.denominator
    if not 0 < below < size:
        raise InputError(NO_TILES)
    return below, size - below
