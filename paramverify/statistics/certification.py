"""From testing to certainty.

Candidates are evaluated exactly, and the least budget is bisected and proved.

Testing alone proves nothing in either direction. What it finds is a candidate, and the model decides about it
([F] section 7.2).

The least budget of a case by bisection between the bounds of testing.

This is Algorithm 5 of the full version of [F], and Algorithm 4 of the other. Testing gives an interval from
an ε that it rejects to one with a p-value of 1. The interval is halved, and at each ε the case is verified.
Testing may be wrong at both ends, so they are verified too, and the search leaves the interval where an end
is not what testing said. So what is found rests on verification alone.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from flint import fmpq_poly

from paramverify.algebra.constants import GENERATOR, ExpConstant
from paramverify.algebra.polynomials import Polynomial, RationalFunction, Ring, fraction
from paramverify.algebra.rationals import simplest_between
from paramverify.algebra.reals import Real
from paramverify.claims import Claim, Origin
from paramverify.divergences import MaxDivergence
from paramverify.encodings.encoding import Candidate as Compared
from paramverify.encodings.sequences import claim_polynomial, forward_sum
from paramverify.encodings.unbounded_ratios import no_budget
from paramverify.errors import InputError, LimitError
from paramverify.evidence.divergence_witnesses import pair_of
from paramverify.evidence.witnesses import ExactWitness, evaluate, find_output
from paramverify.models.model import Model, need_privacy, without_bound
from paramverify.models.model_evaluation import Numbers
from paramverify.portfolio.obligations import discharge
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.verification import PrivacyReport, verify
from paramverify.statistics.events import CandidateEvent
from paramverify.statistics.samplers import Output
from paramverify.synthesis.budget import tight_budget
from paramverify.synthesis.quotients import RatioBounds
from paramverify.verdicts import Holds, Unknown, violating_output

SHARE = 0.7  # of the time is for the search, whose last verification may take longer
MOST_OUTPUTS = 20  # outputs of one event that are evaluated


@dataclass(frozen=True, eq=False)
class Certified:
    """A candidate and the exact probabilities of its output; a violation if `witness.exceeds`, else
    spurious."""

    candidate: CandidateEvent
    witness: ExactWitness

    @property
    def is_violation(self) -> bool:
        """Whether the ratio is beyond the bound of the case, decided exactly."""
        return self.witness.exceeds


def certify(model: Model, candidate: CandidateEvent, outputs: Iterable[Output]) -> Certified | None:
    """Returns the exact evaluation of a candidate; `outputs` are those that came in its experiment.

    An event of several outputs breaks a bound only if one of its outputs does, so the worst of the outputs
    that came stands for it. None if the model knows none of them.

    Raises:
        InputError: the candidate is longer than the sequences that the case is about.
    """
    check_length(model, candidate.experiment.length)
    known = set(model.hmm.observations)
    chosen = [o for o in outputs if o in candidate.event and known.issuperset(o)][:MOST_OUTPUTS]
    left, right = candidate.secrets
    found = [evaluate(model, Origin(left, right, output), candidate.experiment.point) for output in chosen]
    return Certified(candidate, max(found, key=_severity)) if found else None


def check_length(model: Model, length: int) -> None:
    """Raises an InputError if the case is about shorter sequences: a ratio of longer ones is none of its own.

    A ratio of shorter ones is exceeded or reached by that of one of their continuations.
    """
    if model.lengths and length > max(model.lengths):
        reason = f"--length must be at most {max(model.lengths)}, the length of the case, but it is {length}"
        raise InputError(reason, key="--length")


def simplest(model: Model, certified: Certified) -> ExactWitness:
    """Returns the witness of a violation at the simplest parameter point near it that keeps the violation."""
    witness = certified.witness
    if not model.domain.ring.parameters:
        return witness
    origin = Origin(witness.left, witness.right, witness.observations)
    pair = pair_of(model, witness.left, witness.right)
    left = forward_sum(model, pair.pi, witness.observations) * pair.tau.mass
    right = forward_sum(model, pair.tau, witness.observations) * pair.pi.mass
    polynomial = claim_polynomial(model, Compared(left, right, origin, pair.distance))
    claim = Claim(polynomial, model.domain, (origin,))
    return find_output(model, claim, origin, witness.parameters) or witness


def worst(certified: Sequence[Certified]) -> Certified:
    """Returns the one with the largest exact ratio."""
    return max(certified, key=lambda entry: _severity(entry.witness))


def suspicious(model: Model, found: Sequence[CandidateEvent], most: int) -> list[CandidateEvent]:
    """Returns the single outputs whose observed ratio is beyond the case's bound at their point, surest
    first."""
    beyond: list[tuple[float, CandidateEvent]] = []
    for candidate in found:
        if candidate.event.kind == "is":
            left, right = candidate.secrets
            distance = pair_of(model, left, right).distance
            epsilon = epsilon_at(model, candidate.experiment.point, distance)
            if candidate.epsilon > epsilon:
                beyond.append((candidate.score(epsilon), candidate))
    beyond.sort(key=lambda entry: entry[0], reverse=True)
    return [candidate for _, candidate in beyond[:most]]


def epsilon_at(model: Model, point: Mapping[str, Fraction], distance: Fraction | None = None) -> float:
    """Returns the case's ε at a parameter point, as a float for tests and for showing."""
    return math.log(Numbers(model, point).bound(distance))


def _severity(witness: ExactWitness) -> tuple[int, float]:
    ratio = witness.ratio
    if ratio is None:
        return int(witness.probabilities[0].sign() > 0), 0.0
    return 0, float(ratio)


@dataclass(frozen=True, eq=False)
class CertificationStep:
    """One step of the search: the ratio that was tried, and the report on it."""

    ratio: Real | Fraction
    report: PrivacyReport


@dataclass(frozen=True, eq=False)
class TightRatio:
    """The supremum of the ratio is at least that of `witness`, and at most `upper` where that is known.

    `exact` where both are equal: the witness attains the supremum. `steps` are the verifications that were
    made; the last that holds proves the upper bound. With `infinite` there is none: the witness's right side
    is impossible, or the ratio grows without limit with longer sequences. `limit` is what was proved of the
    supremum where no witness is known to attain it: an exact value, infinity, or bounds.
    """

    witness: ExactWitness
    upper: Real | Fraction | None
    exact: bool
    infinite: bool
    steps: tuple[CertificationStep, ...]
    limit: RatioBounds | None = None

    def is_within(self, precision: Fraction) -> bool:
        """Tells whether the supremum is known exactly, or up to a relative distance."""
        if self.exact or self.infinite:
            return True
        if self.limit and (self.limit.infinite or self.limit.value is not None):
            return True
        if self.upper is None or self.witness.ratio is None:
            return False
        low = self.witness.ratio.enclosure()[1]
        high = self.upper if isinstance(self.upper, Fraction) else self.upper.enclosure()[1]
        return high - low <= precision * low


def tight_ratio(case: PrivacyCase, start: ExactWitness, precision: Fraction, seconds: float) -> TightRatio:
    """Returns the tight ratio of a case, from an exactly evaluated candidate of testing.

    This stands beside the bisection of [F] Algorithm 5. The exact ratio r of the candidate is
    a lower bound. If the model is private with the bound r, then r is the tight ratio. If not, the violation
    has a larger ratio, which takes the place of r. Without parameters there are finitely many ratios, so this
    ends. Where ratios only come nearer and nearer to the supremum, `tight_budget` finds it; for every length
    bounds are bisected until their relative distance is at most `precision`, or most of the
    time is over. Every bound is verified; nothing of it rests on the test.
    """
    model = need_privacy(case.model, "a search")
    check_length(model, len(start.observations))
    steps: list[CertificationStep] = []
    lower = start
    deadline = time.monotonic() + SHARE * seconds

    def attempt(ratio: Real | Fraction) -> PrivacyReport:
        left = max(deadline - time.monotonic(), 0.01)  # a verification without time says unknown
        report = verify(with_ratio(case, ratio), Options(seconds=left))
        steps.append(CertificationStep(ratio, report))
        return report

    def found(upper: Real | Fraction | None, exact: bool = False) -> TightRatio:
        return TightRatio(lower, upper, exact, lower.ratio is None, tuple(steps))

    if not model.lengths and no_budget(model):
        return TightRatio(lower, None, False, True, ())
    for _ in range(_tries(model)):
        if lower.ratio is None:
            return found(None)
        report = attempt(lower.ratio)
        if isinstance(report.verdict, Holds):
            return found(lower.ratio, exact=True)
        worse = violating_output(report.verdict)
        if worse is None:
            break
        lower = worse
    if model.lengths:
        return _supremum(model, found(None), precision, deadline)
    upper: Fraction | None = None
    while lower.ratio is not None:
        low = lower.ratio.enclosure()[1]
        if upper is not None and upper - low <= precision * low:
            break
        # Twice as far as before while there is no upper bound, then a simple number near the middle.
        width = (upper - low) / 8 if upper is not None else low
        middle = simplest_between((low + upper) / 2 - width, (low + upper) / 2 + width) if upper else 2 * low
        report = attempt(middle)
        worse = violating_output(report.verdict)
        if isinstance(report.verdict, Holds):
            upper = middle
        elif worse is not None and (upper is not None or middle <= 2**64):
            lower = worse
        else:
            break
    return found(upper)


def _supremum(model: Model, known: TightRatio, precision: Fraction, deadline: float) -> TightRatio:
    """Returns what `tight_budget` finds where the ratios that were tried only come near the supremum."""
    try:
        with Session(Options(seconds=max(deadline - time.monotonic(), 0.01))) as session:
            doubt, _ = discharge(session, model)
            if doubt:
                return known
            tight = tight_budget(model, session, precision)
    except LimitError:
        return known
    place = {name: root.lower for name, root in tight.place.items() if root.is_rational}
    witness = known.witness
    if tight.attained and tight.value is not None and len(place) == len(tight.place):
        witness = evaluate(model, tight.origin, place)
        return replace(known, witness=witness, upper=witness.ratio, exact=True)
    return replace(known, upper=tight.high, limit=tight)


def _tries(model: Model) -> int:
    """Returns how often the ratio of a violation is tried as the bound before bisection begins."""
    return 5 if model.domain.ring.parameters else 1_000


def with_ratio(case: PrivacyCase, ratio: Real | Fraction) -> PrivacyCase:
    """Returns the case with another bound on the ratio, exact also where it is not rational."""
    model = need_privacy(case.model, "a search")
    ring = model.domain.ring
    if isinstance(ratio, Fraction):
        bound = RationalFunction.of(ring.number(ratio))
    else:
        top, bottom = (_polynomial(ring, p.coeffs()) for p in (ratio.numerator, ratio.denominator))
        # Not in lowest terms, so that both stay positive: the denominator of a Real is.
        bound = RationalFunction(top, bottom)
    return replace(case, budget=f"ratio = {ratio}", model=replace(model, measure=MaxDivergence(bound)))


def _polynomial(ring: Ring, coefficients: Sequence[Any]) -> Polynomial:
    total = ring.number(0)
    for power, coefficient in enumerate(coefficients):
        part = ring.number(fraction(coefficient))
        if power:
            if GENERATOR not in ring.names:
                raise InputError("the ratio contains a constant that does not occur in the case")
            part *= ring.variable(GENERATOR) ** power
        total += part
    return total


BITS = 40  # of the rational that stands for e^ε; more where a ratio is so near
MOST_BITS = 640
BISECTION_SHARE = 0.9  # of the time; what is found has to be told
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
        return (
            verdict.detail
            if isinstance(verdict, Unknown)
            else ("the largest ratio is too close to e^epsilon")
        )


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
    search = _BisectionSearch(case, precision, time.monotonic() + BISECTION_SHARE * seconds, limit or seconds)
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
        witness = violating_output(report.verdict)
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
