"""The least budget of a case by bisection between the bounds of testing.

This is Algorithm 5 of the full version of [F], and Algorithm 4 of the other. Testing gives an interval from
an ε that it rejects to one with a p-value of 1. The interval is halved, and at each ε the case is verified.
Testing may be wrong at both ends, so they are verified too, and the search leaves the interval where an end
is not what testing said. So what is found rests on verification alone.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from fractions import Fraction

from paramverify.algebra.constants import ExpConstant
from paramverify.encodings.no_budget import no_budget
from paramverify.evidence.witnesses import Witness
from paramverify.models.kinds import need_privacy
from paramverify.portfolio.session import Options
from paramverify.privacy.cases import Case
from paramverify.privacy.verification import Report, verify
from paramverify.statistics.certification import with_ratio, witness_in
from paramverify.verdicts import Holds

BITS = 40  # of the rational that stands for e^ε; more where a ratio is so near
MOST_BITS = 640
SHARE = 0.9  # of the time; what is found has to be told
MOST_EPSILON = 64  # no larger budget is tried


@dataclass(frozen=True, eq=False)
class Step:
    """One verification: whether the case is private with ε; None where that stays open.

    Where it holds, it was verified with the ratio `ratio` <= e^ε. Where it does not, `witness` has a ratio
    above e^ε; both compared exactly.
    """

    epsilon: Fraction
    holds: bool | None
    ratio: Fraction
    report: Report
    witness: Witness | None


@dataclass(frozen=True, eq=False)
class Bisection:
    """What bisection proved: the case is not private with `violated`, and private with `holds`.

    Either is None where none was found. `testing` is the interval that testing gave. With `infinite` there is
    no budget at all; `steps` are all verifications, in their order. `last` is the step that stayed open and
    ended the search, if one did.
    """

    testing: tuple[float | None, float | None]
    precision: Fraction
    violated: Step | None
    holds: Step | None
    steps: tuple[Step, ...]
    infinite: bool = False

    @property
    def last(self) -> Step | None:
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
    def wrong(self) -> tuple[Step, ...]:
        """The ends of the interval, rounded outwards, at which verification contradicts testing."""
        left, right = self.testing
        return tuple(
            step
            for step in self.steps
            if (step.holds is True and left is not None and step.epsilon <= _decimal(left))
            or (step.holds is False and right is not None and step.epsilon >= _decimal(right))
        )


def bisect(
    case: Case, testing: tuple[float | None, float | None], precision: Fraction, seconds: float
) -> Bisection:
    """Returns the least budget of a case up to `precision`, which is positive, from the interval of testing.

    The values of ε that are tried are multiples of `precision`, so the ends that are found do not depend on
    the interval. For the result b, with `b.is_found` and a finite budget:
    sup ratio > e^b.violated.epsilon, sup ratio <= e^b.holds.epsilon, and both differ by at most `precision`.
    """
    model = need_privacy(case.model, "a search")
    if not model.lengths and no_budget(model):
        return Bisection(testing, precision, None, None, (), infinite=True)
    search = _Search(case, precision, time.monotonic() + SHARE * seconds)
    left, right = testing
    low = max(0, math.floor(_decimal(left) / precision)) if left is not None else 0
    high = math.ceil(_decimal(right) / precision) if right is not None else low + math.ceil(1 / precision)
    search.run(low, max(high, low + 1))
    steps = tuple(search.steps)
    infinite = any(step.witness is not None and step.witness.ratio is None for step in steps)
    return Bisection(testing, precision, search.violated, search.holds, steps=steps, infinite=infinite)


class _Search:
    """The verifications that were made, and the nearest ones on both sides of the least budget."""

    def __init__(self, case: Case, precision: Fraction, deadline: float) -> None:
        self.case = case
        self.precision = precision
        self.deadline = deadline
        self.steps: list[Step] = []
        self.violated: Step | None = None
        self.holds: Step | None = None

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
            low, high, width = high, high + width, 2 * width
            if high * self.precision > MOST_EPSILON or not self.tried(high):
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

    def step(self, epsilon: Fraction) -> Step:
        """Verifies the case with the budget ε, by a rational ratio at most e^ε, as near as it must be."""
        bits = BITS
        while True:
            ratio = ExpConstant(epsilon).enclosure(bits)[0] if epsilon else Fraction(1)
            left = max(self.deadline - time.monotonic(), 0.01)  # a verification without time says unknown
            report = verify(with_ratio(self.case, ratio), Options(seconds=left))
            witness = witness_in(report)
            if isinstance(report.verdict, Holds):
                return Step(epsilon, True, ratio, report, None)
            if witness is None:
                return Step(epsilon, None, ratio, report, None)
            if _is_above(witness, epsilon):
                return Step(epsilon, False, ratio, report, witness)
            if bits >= MOST_BITS:
                return Step(epsilon, None, ratio, report, None)
            bits *= 2


def _decimal(value: float) -> Fraction:
    """Returns a tested ε as it is written: 1.2 is 6/5."""
    return Fraction(str(value))


def _is_above(witness: Witness, epsilon: Fraction) -> bool:
    """Tells whether the ratio of a witness is above e^ε, from enclosures; false where they overlap."""
    if witness.ratio is None:
        return True
    if not epsilon:
        return bool(witness.ratio.enclosure(MOST_BITS)[0] > 1)
    return witness.ratio.enclosure(MOST_BITS)[0] >= ExpConstant(epsilon).enclosure(MOST_BITS)[1]
