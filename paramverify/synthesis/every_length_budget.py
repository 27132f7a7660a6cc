"""The tight budget for sequences of every length: between a violation and an invariant cone.

The ratio of a sequence at a prior is a lower bound, a ratio for which an invariant cone is found an upper
one. Neither search is complete, so the bounds may stay apart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from paramverify.algebra.exact_numbers import ExactNumber
from paramverify.algebra.real_roots import exact
from paramverify.bounds import INFINITY
from paramverify.encodings.unbounded_ratios import certificate, no_budget
from paramverify.errors import LimitError, TimeLimitError
from paramverify.evidence.witnesses import Evaluated, evaluate
from paramverify.models.model import Model, without_bound
from paramverify.portfolio.session import Session
from paramverify.privacy.every_length_verification import verify_all_lengths
from paramverify.synthesis.quotients import BoundProof, RatioBounds, rebound
from paramverify.synthesis.supremum import Functional, supremum
from paramverify.verdicts import Holds, violating_output

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
    plain = model if relative else without_bound(model)
    search = _EveryLengthSearch(model, plain, session, relative, max(precision, NEAREST))
    found = supremum(search, session, RatioBounds("ratio", ExactNumber(0), INFINITY), Fraction(2))
    if found.witness is None:
        raise LimitError("no bound was found for every length: write privacy.length as a number")
    return replace(found, attained=True) if found.known is not None else found


@dataclass(eq=False)
class _EveryLengthSearch(Functional[Evaluated, BoundProof]):
    """No invariant cone was found for ratios up to `tried`, which is no lower end.

    `last` is the last trial, `asked` the last that was a lower end.
    """

    tries = 10_000

    model: Model
    plain: Model
    session: Session
    relative: bool
    precision: Fraction
    tried: Fraction = Fraction(0)
    doubled: int = 0
    asked: Fraction = Fraction(0)
    last: Fraction = Fraction(0)

    def is_near(self, best: RatioBounds) -> bool:
        """Tells whether the bounds are near enough, after the lower one was tried as an upper one."""
        if best.known is not None or best.high is None:
            return best.known is not None or self.doubled == FURTHEST
        waits = best.low not in (0, self.asked) and self.last != self.asked
        return not waits and best.high - self.tried <= self.precision * best.high

    def failed(self, best: RatioBounds) -> Fraction:
        """Returns the largest ratio for which no invariant cone was found."""
        return self.tried

    def next(self, best: RatioBounds, made: list[Fraction], lower: int) -> Fraction | None:
        """Returns the next trial; two lower ends in a row could come nearer to the supremum without end."""
        return super().next(best, made, self.tries if self.last == self.asked else lower)

    def enough(self, best: RatioBounds, bound: Fraction) -> RatioBounds | None:
        """Looks for a proof that the supremum is at most this, or for a sequence with a larger ratio."""
        self.doubled += best.high is None
        self.last, self.asked = bound, bound if bound == best.low else self.asked
        scaled = rebound(self.plain, bound)
        try:
            found = verify_all_lengths(scaled, self.session)
            if isinstance(found.verdict, Holds):
                proof = BoundProof(bound, scaled, found.claims, found.decisions, found.certificate)
                return replace(best, upper=ExactNumber(bound), proof=proof)
            self.tried = max(self.tried, bound)
            witness = violating_output(found.verdict)
            if witness is None:
                return best
            origin = witness.origin
            same = evaluate(self.model, origin, witness.parameters)
        except TimeLimitError:  # the bounds so far stand
            return None
        place = {name: exact(value) for name, value in same.parameters.items()}
        if same.ratio is None:
            return replace(RatioBounds.none("ratio", origin, place, True), witness=same)
        reached = (same.ratio / same.bound if self.relative else same.ratio).enclosure()[0]
        if reached <= best.low:
            return best
        self.tried = max(self.tried, min(reached, best.high or reached))
        return replace(best, lower=ExactNumber(reached), origin=origin, place=place, witness=same)
