"""The tight budget for sequences of every length: between a violation and an invariant cone.

The ratio of a sequence at a prior is a lower bound, a ratio for which an invariant cone is found an upper
one. Neither search is complete, so the bounds may stay apart.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

from paramverify.algebra.exact_numbers import ExactNumber
from paramverify.algebra.rationals import simplest_between
from paramverify.algebra.real_roots import RealRoot, exact
from paramverify.bounds import INFINITY
from paramverify.claims import Origin
from paramverify.encodings.unbounded_ratios import certificate, no_budget
from paramverify.errors import LimitError, TimeLimitError
from paramverify.evidence.witnesses import ExactWitness, evaluate
from paramverify.models.model import Model, without_bound
from paramverify.portfolio.session import Session
from paramverify.privacy.every_length_verification import verify_all_lengths
from paramverify.synthesis.numbers import middle
from paramverify.synthesis.proofs import BoundProof, RatioBounds, rebound
from paramverify.synthesis.suprema import UNBOUNDED
from paramverify.verdicts import Holds, Violated

NEAREST = Fraction(1, 10_000)  # the relative distance at which the search for an invariant cone ends
FURTHEST = 10  # times that the bound is doubled before an upper one is given up


def tight_budget_of_every_length(
    model: Model, session: Session, precision: Fraction, relative: bool = False
) -> RatioBounds:
    """Returns bounds on the supremum of the ratio over the domain, all pairs, directions and sequences.

    With `relative` it is the supremum of that ratio divided by the case's own bound. The lower bound is the
    ratio of a sequence at a prior, the upper one is proved by an invariant cone; they are equal where the
    lower one is proved. That there is no budget is proved by a loop.

    Raises:
        LimitError: neither a violation of the bound 1 was found nor an upper bound.
    """
    loop = no_budget(model, session.in_time)
    if loop:
        place = {name: exact(value) for name, value in loop.point}
        origins = [loop.origin(model, n) for n in (1, 2, 4, 8, 16)]
        growing = tuple(evaluate(model, origin, dict(loop.point)) for origin in origins)
        document = certificate(model, loop)
        none = RatioBounds.none("ratio", loop.origin(model, 3), place)
        return replace(none, approached=growing, endless=document)
    search = _EveryLengthSearch(model, model if relative else without_bound(model), session, relative)
    with suppress(TimeLimitError):  # the bounds so far stand
        search.run(precision)
    return search.found()


@dataclass(eq=False)
class _EveryLengthSearch:
    """What is known so far: `lower` is the ratio of `best`; no cone was found for ratios up to `tried`."""

    model: Model
    plain: Model
    session: Session
    relative: bool
    lower: Fraction = Fraction(0)
    tried: Fraction = Fraction(0)
    upper: Fraction | None = None
    best: ExactWitness | None = None
    proof: BoundProof | None = None
    infinite: bool = False
    last: Fraction = Fraction(0)  # the lower bound that was tried as an upper one

    def run(self, precision: Fraction) -> None:
        """Narrows the bounds until they are near enough, or nothing helps."""
        for _ in range(FURTHEST):
            self.try_ratio(max(self.tried, Fraction(1)) * 2)
            if self.upper is not None or self.infinite or self.lower > UNBOUNDED:
                break
        while self.upper is not None and not self.infinite:
            if self.lower and self.settles(self.lower):
                break
            if self.upper - self.tried <= max(precision, NEAREST) * self.upper:
                break
            self.try_ratio(simplest_between(*middle(self.tried, self.upper)))

    def settles(self, lower: Fraction) -> bool:
        """Tells whether the lower bound is an upper one too; asked once for each."""
        if self.last != lower:
            self.last = lower
            self.try_ratio(lower)
        return self.upper == lower

    def try_ratio(self, ratio: Fraction) -> None:
        """Looks for a proof that the supremum is at most this, or for a sequence with a larger ratio."""
        scaled = rebound(self.plain, ratio)
        found = verify_all_lengths(scaled, self.session)
        if isinstance(found.verdict, Holds):
            self.upper = ratio
            self.proof = BoundProof(ratio, scaled, found.claims, found.decisions, found.certificate)
            self._tell()
            return
        self.tried = max(self.tried, ratio)
        if isinstance(found.verdict, Violated) and isinstance(found.verdict.witness, ExactWitness):
            witness = found.verdict.witness
            origin = Origin(witness.left, witness.right, witness.observations)
            same = evaluate(self.model, origin, witness.parameters)
            if same.ratio is None:
                self.best, self.infinite = same, True
                return
            reached = (same.ratio / same.bound if self.relative else same.ratio).enclosure()[0]
            if reached > self.lower:
                self.best, self.lower = same, reached
                self.tried = max(self.tried, min(reached, self.upper or reached))
                self._tell()

    def _tell(self) -> None:
        if self.best is not None:
            self.session.bound(self.found())

    def found(self) -> RatioBounds:
        """Returns what is known, as bounds."""
        if self.best is None:
            raise LimitError("no bound was found for every length; give privacy.length as a number")
        place: dict[str, RealRoot] = {name: exact(v) for name, v in self.best.parameters.items()}
        origin = Origin(self.best.left, self.best.right, self.best.observations)
        if self.infinite:
            return replace(RatioBounds.none("ratio", origin, place, True), witness=self.best)
        known = True if self.lower == self.upper else None
        low, high = ExactNumber(self.lower), INFINITY if self.upper is None else ExactNumber(self.upper)
        found = RatioBounds("ratio", low, high, known, origin=origin, place=place)
        return replace(found, witness=self.best, proof=self.proof)
