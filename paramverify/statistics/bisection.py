"""The least budget of a case by bisection between the bounds of testing.

This is Algorithm 5 of the full version of [F], and Algorithm 4 of the other. Testing gives an interval from
an ε that it rejects to one with a p-value of 1. The interval is halved, and at each ε the case is verified.
Testing may be wrong at both ends, so they are verified too, and the search leaves the interval where an end
is not what testing said. So what is found rests on verification alone.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from fractions import Fraction

from flint import fmpq_poly

from paramverify.algebra.constants import ExpConstant
from paramverify.algebra.reals import Real
from paramverify.encodings.no_budget import no_budget
from paramverify.evidence.witnesses import ExactWitness
from paramverify.models.kinds import need_privacy
from paramverify.models.rebound import without_bound
from paramverify.portfolio.session import Options
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.verification import PrivacyReport, verify
from paramverify.statistics.certification import with_ratio, witness_in
from paramverify.verdicts import Holds, Unknown

BITS = 40  # of the rational that stands for e^ε; more where a ratio is so near
MOST_BITS = 640
SHARE = 0.9  # of the time; what is found has to be told
MOST_EPSILON = 64  # no larger budget is tried


@dataclass(frozen=True, eq=False)
class BisectionStep:
    """One verification: whether the case is private with ε; None where that stays open.

    Where it holds, it was verified with the ratio `ratio` <= e^ε, which is e^ε itself where no rational ratio
    decides. Where it does not, `witness` has a ratio above e^ε; both compared exactly.
    """

    epsilon: Fraction
    holds: bool | None
    ratio: Fraction | Real
    report: PrivacyReport
    witness: ExactWitness | None

    @property
    def reason(self) -> str:
        """Why the step stayed open; empty where it did not."""
        if self.holds is not None:
            return ""
        verdict = self.report.verdict
        return verdict.detail if isinstance(verdict, Unknown) else "the largest ratio is too near e^epsilon"


@dataclass(frozen=True, eq=False)
class Bisection:
    """What bisection proved: the case is not private with `violated`, and private with `holds`.

    Either is None where none was found. `testing` is the interval that testing gave. With `infinite` there is
    no budget at all; `steps` are all verifications, in their order. `last` is the step that stayed open and
    ended the search, if one did. With `at_most` the search ended because no larger budget is tried.
    """

    testing: tuple[float | None, float | None]
    precision: Fraction
    violated: BisectionStep | None
    holds: BisectionStep | None
    steps: tuple[BisectionStep, ...]
    infinite: bool = False
    at_most: Fraction | None = None

    @property
    def last(self) -> BisectionStep | None:
        """The verification that stayed open, which ended the search."""
        return self.steps[-1] if self.steps and self.steps[-1].holds is None else None

    @property
    def is_found(self) -> bool:
        """Whether the least budget is known up to the precision, or it is known that there is none."""
        if self.infinite:
            return True
        if self.holds is None:
            return False
        if self.violated is None:
            return self.holds.epsilon == 0
        return self.holds.epsilon - self.violated.epsilon <= self.precision

    @property
    def wrong(self) -> tuple[BisectionStep, ...]:
        """The ends of the interval, rounded outwards, at which verification contradicts testing.

        Of several verifications that contradict an end, the one that is farthest from it.
        """
        left, right = self.testing
        holds = [
            s for s in self.steps if s.holds is True and left is not None and s.epsilon <= _decimal(left)
        ]
        violated = [
            s for s in self.steps if s.holds is False and right is not None and s.epsilon >= _decimal(right)
        ]
        ends = (min(holds, key=_epsilon, default=None), max(violated, key=_epsilon, default=None))
        return tuple(step for step in ends if step)


def bisect(
    case: PrivacyCase,
    testing: tuple[float | None, float | None],
    precision: Fraction,
    seconds: float,
    limit: float | None = None,
) -> Bisection:
    """Returns the least budget of a case up to `precision`, which is positive, from the interval of testing.

    The values of ε that are tried are multiples of `precision`, so the ends that are found do not depend on
    the interval. `limit` is the time limit that is told, where `seconds` are what is left of it.
    For the result b, with `b.is_found` and a finite budget:
    sup ratio > e^b.violated.epsilon, sup ratio <= e^b.holds.epsilon, and both differ by at most `precision`.
    """
    model = need_privacy(case.model, "a search")
    if not model.lengths and no_budget(model):
        return Bisection(testing, precision, None, None, (), infinite=True)
    search = _BisectionSearch(case, precision, time.monotonic() + SHARE * seconds, limit or seconds)
    left, right = testing
    low = max(0, math.floor(_decimal(left) / precision)) if left is not None else 0
    high = math.ceil(_decimal(right) / precision) if right is not None else low + math.ceil(1 / precision)
    search.run(low, max(high, low + 1))
    steps = tuple(search.steps)
    infinite = any(step.witness is not None and step.witness.ratio is None for step in steps)
    return Bisection(
        testing,
        precision,
        search.violated,
        search.holds,
        steps=steps,
        infinite=infinite,
        at_most=search.at_most,
    )


class _BisectionSearch:
    """The verifications that were made, and the nearest ones on both sides of the least budget."""

    def __init__(self, case: PrivacyCase, precision: Fraction, deadline: float, limit: float) -> None:
        self.case = case
        self.plain = replace(case, model=without_bound(need_privacy(case.model, "a search")))
        self.precision = precision
        self.deadline = deadline
        self.limit = limit
        self.steps: list[BisectionStep] = []
        self.violated: BisectionStep | None = None
        self.holds: BisectionStep | None = None
        self.at_most: Fraction | None = None

    def run(self, low: int, high: int) -> None:
        """Bisects between two multiples of the precision, after both were verified."""
        width = high - low
        if not self.tried(low):
            return
        while self.violated is None and low > 0:  # testing was wrong: the left end holds
            low, high, width = max(0, low - width), low, 2 * width
            if not self.tried(low):
                return
        if self.violated is None:
            return
        if self.holds is None and not self.tried(high):
            return
        while self.holds is None:  # testing was wrong: the right end is violated
            most = max(math.floor(MOST_EPSILON / self.precision), 1)
            if high >= most:
                self.at_most = high * self.precision
                return
            low, high, width = high, min(high + width, most), 2 * width
            if not self.tried(high):
                return
        while high - low > 1:
            middle = (low + high) // 2
            if not self.tried(middle):
                return
            low, high = (low, middle) if self.steps[-1].holds else (middle, high)

    def tried(self, multiple: int) -> bool:
        """Verifies the case with a multiple of the precision; false where the search ends with it."""
        step = self.step(multiple * self.precision)
        self.steps.append(step)
        if step.holds is None:
            return False
        if step.holds:
            self.holds = step
            return True
        self.violated = step
        return step.witness is not None and step.witness.ratio is not None

    def step(self, epsilon: Fraction) -> BisectionStep:
        """Verifies the case with the budget ε: by a rational ratio next to e^ε, or by e^ε itself.

        The largest ratio of a case is a quotient of polynomials in E = exp(g), or rational. So it can be e^ε
        only if ε is a multiple of g (Lindemann), and then the case is verified with a power of E.
        """
        bits = BITS
        while True:
            ratio = ExpConstant(epsilon).enclosure(bits)[0] if epsilon else Fraction(1)
            step = self.verified(self.case, epsilon, ratio)
            if step.holds is not None or step.witness is None:
                return step
            if bits == BITS and (power := power_of(self.plain, epsilon)):
                return self.verified(self.plain, epsilon, power)
            if bits >= MOST_BITS:
                return step
            bits *= 2

    def verified(self, case: PrivacyCase, epsilon: Fraction, ratio: Fraction | Real) -> BisectionStep:
        """Verifies a case with a ratio at most e^ε; a violation counts if it is above e^ε."""
        left = max(self.deadline - time.monotonic(), 0.01)  # a verification without time says unknown
        report = verify(with_ratio(case, ratio), Options(seconds=left, limit=self.limit))
        witness = witness_in(report)
        if isinstance(report.verdict, Holds):
            return BisectionStep(epsilon, True, ratio, report, None)
        above = witness is not None and (isinstance(ratio, Real) or _is_above(witness, epsilon))
        return BisectionStep(epsilon, False if above else None, ratio, report, witness)


def power_of(case: PrivacyCase, epsilon: Fraction) -> Real | None:
    """Returns e^ε as a power of the constant of a case; None if it is none."""
    constant = need_privacy(case.model, "a search").domain.constant
    if constant is None or (power := epsilon / constant.exponent).denominator != 1 or not power:
        return None
    return Real(fmpq_poly([0] * int(power) + [1]), fmpq_poly([1]), constant)


def _epsilon(step: BisectionStep) -> Fraction:
    return step.epsilon


def _decimal(value: float) -> Fraction:
    """Returns a tested ε as it is written: 1.2 is 6/5."""
    return Fraction(str(value))


def _is_above(witness: ExactWitness, epsilon: Fraction) -> bool:
    """Tells whether the ratio of a witness is above e^ε, from enclosures; false where they overlap."""
    if witness.ratio is None:
        return True
    if not epsilon:
        return bool(witness.ratio.enclosure(MOST_BITS)[0] > 1)
    return witness.ratio.enclosure(MOST_BITS)[0] >= ExpConstant(epsilon).enclosure(MOST_BITS)[1]
