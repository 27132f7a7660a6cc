"""Losses that are no polynomials on boxes: each direction is proved on all of them, or fails at a point."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from flint import fmpq_poly

from paramverify.algebra.constants import GENERATOR, working_precision
from paramverify.algebra.domains import Domain, Interval, contains, number_at
from paramverify.algebra.polynomials import variables
from paramverify.algebra.reals import Real
from paramverify.claims import AllOutputs
from paramverify.divergences import Average
from paramverify.encodings.output_sums import PairOutcomes, joint_statement, outcomes, reduced
from paramverify.encodings.point_violations import with_numbers
from paramverify.evidence.divergence_witnesses import BITS, Balls, ball, bound_of
from paramverify.models.model import Model
from paramverify.privacy.enclosed_losses import EnclosedOutput, Factors, OnBox, excluded, within
from paramverify.privacy.loss_points import is_beyond
from paramverify.privacy.loss_proofs import CoverBox, Tree

MAX_BOXES = 4_000  # of one direction

Point = Mapping[str, Fraction]


@dataclass(frozen=True, eq=False)
class LossDirection:
    """Directions of secret pairs that have the same outputs, reduced, and as products."""

    alike: tuple[AllOutputs, ...]
    found: PairOutcomes
    outputs: tuple[EnclosedOutput, ...]
    factors: Factors

    @property
    def origin(self) -> AllOutputs:
        """The first of them."""
        return self.alike[0]

    @property
    def origins(self) -> list[tuple[str, str, int]]:
        """All of them, as evidence names them; a case may list a pair in both directions."""
        return list(dict.fromkeys((o.left, o.right, o.length) for o in self.alike))

    @property
    def is_equal(self) -> bool:
        """Whether both distributions are the same at every prior."""
        ratios = [output.ratio for output in self.outputs]
        return all(r is not None and not r.powers and r.constant == 1 for r in ratios)

    @property
    def names(self) -> frozenset[str]:
        """The parameters that matter, and `E`."""
        return frozenset(n for f in self.factors.known.values() for n in variables(f))

    def at(self, domain: Domain, point: Point) -> Balls | None:
        """Returns the probabilities at a point of the domain where the secrets are possible, else None."""
        if not contains(domain, point):
            return None
        total, constant = number_at(self.found.total, point), domain.constant
        if Real.of(total, fmpq_poly([1]), constant).sign() <= 0:
            return None
        balls, endless = [], []
        with working_precision(BITS):
            for number, (top, bottom) in enumerate(self.found.at(point)):
                p, q = Real.of(top, total, constant), Real.of(bottom, total, constant)
                if p.sign() and not q.sign():
                    endless.append((number,))
                elif p.sign():
                    balls.append((ball(p), ball(q)))
        return Balls(balls=balls, endless=tuple(endless))


@dataclass(frozen=True, eq=False)
class Covered:
    """What was found of one direction: a tree of boxes that proves it, a point where it fails, or neither."""

    tree: Tree | None = None
    point: Point | None = None
    boxes: int = 0


def directions(model: Model) -> list[LossDirection]:
    """Returns all directions of a model; those with the same distributions come once.

    Raises:
        LimitError: too many sequences, or too large polynomials.
    """
    model = with_numbers(model)
    factors = Factors()
    found: dict[str, LossDirection] = {}
    for pair in outcomes(model):
        for each in (pair, pair.turned):
            own = reduced(each)
            text = str(joint_statement(own, ()))
            origin = AllOutputs(each.left, each.right, length=each.length)
            if text in found:
                found[text] = replace(found[text], alike=(*found[text].alike, origin))
            else:
                found[text] = LossDirection((origin,), own, tuple(factors.outputs(own)), factors)
    return list(found.values())


def cover(
    direction: LossDirection,
    domain: Domain,
    measure: Average,
    in_time: Callable[[], None],
    confirm: Callable[[Point], bool],
    names: frozenset[str] | None = None,
) -> Covered:
    """Proves that a loss is at most its bound on boxes that cover a domain, or finds a point where it is not.

    A point counts where the probabilities of the direction are beyond the bound, and `confirm` agrees. Boxes
    are cut across `names`, the parameters that matter.
    """
    with working_precision(BITS):
        bound = bound_of(measure)
    closed = domain.enclose(96)
    matter = direction.names if names is None else names
    sides = [n for n in closed.box if n in matter and n != GENERATOR and not closed.box[n].is_point]
    root = CoverBox(closed.box)
    pending = deque([root])
    boxes = 0
    while pending:
        in_time()
        part = pending.popleft()
        box = part.box
        boxes += 1
        part.constraint = excluded(closed, box)
        if part.constraint is not None:
            continue
        part.orders = within(OnBox(direction.outputs, direction.factors, box), measure, bound)
        if part.orders is not None:
            continue
        point = {n: (i.lower + i.upper) / 2 for n, i in box.items() if n != GENERATOR}
        found = direction.at(domain, point)
        if found and is_beyond(found, measure) and confirm(point):
            return Covered(point=point, boxes=boxes)
        if not sides or boxes + len(pending) > MAX_BOXES:
            return Covered(boxes=boxes)
        part.cut(_longest(box, sides, closed.box))
        pending.extend(part.halves)
    return Covered(root.tree(), boxes=boxes)


def _longest(box: Mapping[str, Interval], names: list[str], whole: Mapping[str, Interval]) -> str:
    """Returns the side of a box that is longest, compared with the whole."""

    def length(name: str) -> Fraction:
        own, all_ = box[name], whole[name]
        return (own.upper - own.lower) / (all_.upper - all_.lower)

    return max(names, key=length)
