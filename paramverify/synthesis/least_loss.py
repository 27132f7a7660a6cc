"""The least bound of a loss (`kl`, `zcdp`) over all priors, between two certified numbers.

The lower one is the loss at a point of the domain, enclosed from the model. The upper one is proved on boxes,
as `verify` proves a bound: a little more than the lower one first, and more where that is not proved. A proof
that fails may show a point with a larger loss.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice, product

from paramverify.algebra.constants import GENERATOR, lower_bound, working_precision
from paramverify.algebra.exact_numbers import ExactNumber
from paramverify.algebra.rationals import simplest_between
from paramverify.answers import Proved
from paramverify.bounds import INFINITY, Bounds
from paramverify.claims import AllOutputs, Claim
from paramverify.divergences import Average
from paramverify.errors import LimitError
from paramverify.evidence.divergence_witnesses import BITS, Distributions, LossWitness, loss_at, number
from paramverify.models.context import sample_points
from paramverify.models.model import Model, divergence_of
from paramverify.portfolio.session import Session
from paramverify.privacy.loss_intervals import near_order
from paramverify.privacy.loss_verification import (
    LossDirection,
    Tree,
    at_bound,
    covers,
    directions,
    evaluated,
    nothing_apart,
    origins,
    worst_order,
)
from paramverify.synthesis.supremum import Functional, supremum

POINTS = 30  # simple points of the domain at which losses are compared first
STEPS = 30  # of the climb from the best of them, along each parameter
ENDS = (Fraction(1, 2**10), Fraction(1, 2**20), Fraction(1, 2**40))  # how near to the ends of intervals
FIRST = Fraction(1, 10)  # the relative distance of the first upper bound that is tried
FINER = 10
NOTHING = ExactNumber(0)


@dataclass(frozen=True, eq=False)
class LossProof:
    """What was found on boxes, so many of them; no trees where an upper end is not proved by them."""

    boxes: int
    trees: tuple[tuple[LossDirection, Tree], ...] = ()


LossBounds = Bounds[
    LossWitness, LossProof
]  # of zcdp the divergence of the order of a witness, over the order


def is_near_loss(found: LossBounds, precision: Fraction) -> bool:
    """Tells whether the relative distance of the bounds is at most the precision."""
    return found.is_within(precision, max(found.high or Fraction(0), precision))


def least_loss(model: Model, session: Session, precision: Fraction) -> LossBounds:
    """Returns the least bound of a loss of a model, whatever its own bound is.

    Raises:
        LimitError: too many sequences, or too large polynomials.
    """
    measure = divergence_of(model, Average)
    hunt = _LossHunt(model, session, measure, precision)
    best = hunt.largest()
    return best if best.infinite else hunt.bounded(best)


@dataclass(frozen=True, eq=False)
class _TriedLoss:
    """What came of a bound for all directions: trees that prove it, or a point where it fails, or neither."""

    boxes: int
    trees: tuple[tuple[LossDirection, Tree], ...] | None = None
    witness: LossWitness | None = None


@dataclass(eq=False)
class _LossHunt(Functional[LossWitness, LossProof]):
    most = 20

    model: Model
    session: Session
    measure: Average
    precision: Fraction
    width: Fraction = FIRST  # relative distance of the next trial
    near: bool = False

    def largest(self) -> LossBounds:
        """Returns the largest loss that was found at a point."""
        best: LossBounds | None = None
        for point in islice(sample_points(self.model.domain), POINTS):
            best = self._better(best, point)
            if best and best.infinite:
                return best
        if best is None:
            raise LimitError(
                "no simple point of the domain was found at which both secrets have positive probability"
            )
        assert best.witness is not None
        for point in self._ends(best.witness.parameters):
            best = self._better(best, point)
            assert best is not None
            if best.infinite:
                return best
        return self._climbed(best)

    def _better(self, best: LossBounds | None, point: Mapping[str, Fraction]) -> LossBounds | None:
        for origin in origins(self.model):
            self.session.in_time()
            found = evaluated(self.model, origin, point)
            if found is not None:
                own = self._needed(found)
                if best is None or own.infinite or own.low > best.low:
                    best = own
                if own.infinite:
                    return own
        return best

    def _needed(self, found: Distributions) -> LossBounds:
        """Returns what one direction needs at a point, at least."""
        kind = type(self.measure)
        order = Fraction(2) if kind.of_orders else None  # any one, where all are infinite
        with working_precision(BITS):
            if kind.of_orders and not found.is_infinite:
                kl = max(Fraction(0), lower_bound(found.kl()))
                order = worst_order(found, number(kl) * 2 + 1)
                near_one = near_order(1 + Fraction(1, 2**30))
                if lower_bound(found.renyi(order)) / order < kl:
                    order = near_one
        witness = loss_at(found, self.measure, order)
        origin = AllOutputs(*found.secrets, length=found.length)
        low = None if witness.value is None else max(Fraction(0), witness.value[0] / (order or 1))
        upper = INFINITY if low is None else None
        return LossBounds("divergence", ExactNumber(low), upper, origin=origin, witness=witness)

    def _ends(self, point: Mapping[str, Fraction]) -> Iterator[dict[str, Fraction]]:
        """Yields points near the corners of the box, or at them where these belong to it."""
        box = {n: i for n, i in self.model.domain.box.items() if n != GENERATOR and not i.is_point}
        for near in ENDS:
            choices = []
            for interval in box.values():
                step = (interval.upper - interval.lower) * near
                choices.append(
                    [
                        interval.lower if interval.lower_closed else interval.lower + step,
                        interval.upper if interval.upper_closed else interval.upper - step,
                    ]
                )
            for ends in islice(product(*choices), 16):
                yield {**point, **dict(zip(box, ends, strict=True))}

    def _climbed(self, best: LossBounds) -> LossBounds:
        """Returns the largest loss of a climb along the axes with steps that become smaller."""
        box = {n: i for n, i in self.model.domain.box.items() if n != GENERATOR and not i.is_point}
        step = Fraction(1, 4)
        for _ in range(STEPS if box else 0):
            before = best.lower
            assert best.witness is not None
            point = best.witness.parameters
            for name, interval in box.items():
                width = (interval.upper - interval.lower) * step
                for moved in (point[name] - width, point[name] + width):
                    if moved in interval:
                        found = self._better(best, {**point, name: moved})
                        assert found is not None
                        best = found
            if best.lower == before:
                step /= 2
        return best

    def _alike(self, every: Sequence[LossDirection]) -> bool:
        """Tells whether both distributions are proved to be the same at each point of the domain."""
        for direction in every:
            for p, q in direction.found.outputs:
                for difference in (p - q, q - p) if p != q else ():
                    decision = self.session.decide(Claim(difference, self.model.domain))
                    if not isinstance(decision.answer, Proved):
                        return False
        return True

    # --- upper bounds ------------------------------------------------------------------------------------

    def bounded(self, best: LossBounds) -> LossBounds:
        """Returns the largest loss with an upper bound, as near to it as the precision, or as it can be."""
        every = directions(self.model)
        if all(direction.is_equal for direction in every):
            trees = tuple((direction, nothing_apart()) for direction in every)
            return replace(best, lower=NOTHING, upper=NOTHING, proof=LossProof(0, trees))
        if self.model.domain.constraints and not best.infinite and self._alike(every):
            return replace(best, lower=NOTHING, upper=NOTHING)
        return supremum(self, self.session, best, self._more(best))

    def is_near(self, best: LossBounds) -> bool:
        """Tells whether a proof brought the upper end near to the lower one."""
        return self.near

    def next(self, best: LossBounds, made: list[Fraction], lower: int) -> Fraction | None:
        """Returns a little more than the lower end."""
        return self._more(best)

    def _more(self, best: LossBounds) -> Fraction:
        trial = best.low * (1 + self.width) if best.low else self.width
        return simplest_between(trial - (trial - best.low) / 8, trial)

    def enough(self, best: LossBounds, bound: Fraction) -> LossBounds | None:
        """Proves a bound for all directions; the next one is finer then, and farther where it stays open."""
        found = self._covered(directions(self.model), bound)
        boxes, trees = found.boxes, best.proof.trees if best.proof else ()
        boxes += best.proof.boxes if best.proof else 0
        if found.trees is not None:
            self.near = bound - best.low <= self.precision * bound
            self.width = max(self.width / FINER, self.precision / 2)
            return replace(best, upper=ExactNumber(bound), proof=LossProof(boxes, found.trees))
        best = replace(best, proof=LossProof(boxes, trees))
        if found.witness is not None:
            more = self._raised(best, found.witness)
            return more if more.infinite else replace(more, upper=best.upper, proof=best.proof)
        self.near = best.high is not None or self.width >= 8
        self.width *= 4
        return best

    def _covered(self, every: list[LossDirection], trial: Fraction) -> _TriedLoss:
        """Returns how a bound is proved for all directions, if it is, or where it fails."""
        boxes = 0
        trees: list[tuple[LossDirection, Tree]] = []
        measure = at_bound(self.measure, trial)
        try:
            with closing(covers(self.session, self.model, every, measure)) as made:
                for direction, found in zip(every, made, strict=True):
                    boxes += found.boxes
                    if found.tree is None:
                        return _TriedLoss(boxes, witness=found.witness)
                    trees.append((direction, found.tree))
        except LimitError:
            return _TriedLoss(boxes)
        return _TriedLoss(boxes, tuple(trees))

    def _raised(self, best: LossBounds, witness: LossWitness) -> LossBounds:
        """Returns the larger loss at a point where a bound fails."""
        found = self._better(best, witness.parameters)
        assert found is not None
        if witness.value is None:
            return found
        low = witness.value[0] / (witness.order or 1)
        if low <= found.low:
            return found
        origin = AllOutputs(witness.left, witness.right, length=witness.length)
        return replace(found, lower=ExactNumber(low), witness=witness, origin=origin)
