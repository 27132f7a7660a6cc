"""From testing to certainty: candidates are evaluated exactly, and the tight budget is found and proved.

Testing alone proves nothing in either direction. What it finds is a candidate, and the model decides about it
([F] section 7.2).
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.polynomials import Polynomial, RationalFunction, Ring, fraction
from paramverify.algebra.reals import Real
from paramverify.algebra.simplest import simplest_between
from paramverify.claims import Claim, Origin
from paramverify.encodings.encoding import Candidate as Compared
from paramverify.encodings.no_budget import no_budget
from paramverify.encodings.sequences import claim_polynomial, forward_sum
from paramverify.errors import InputError, LimitError
from paramverify.evidence.pairs import pair_of
from paramverify.evidence.witnesses import ExactWitness, evaluate, find_witness
from paramverify.models.evaluation import Numbers
from paramverify.models.kinds import need_privacy
from paramverify.models.measures import Pure
from paramverify.models.model import Model
from paramverify.portfolio.obligations import discharge
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.verification import PrivacyReport, verify
from paramverify.statistics.events import CandidateEvent
from paramverify.statistics.samplers import Output
from paramverify.synthesis.budget import tight_budget
from paramverify.synthesis.suprema import TightBudget
from paramverify.verdicts import Holds, Violated

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
        reason = f"the case is about sequences of at most {max(model.lengths)} outputs, not {length}"
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
    found = find_witness(model, claim, witness.parameters)
    return found if isinstance(found, ExactWitness) else witness


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
    limit: TightBudget | None = None

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

    This stands beside the bisection of [F] Algorithm 5 (`bisection`). The exact ratio r of the candidate is
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
        worse = witness_in(report)
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
        worse = witness_in(report)
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
    return replace(known, upper=tight.upper, limit=tight)


def witness_in(report: PrivacyReport) -> ExactWitness | None:
    """Returns the witness of a violation of privacy, if the report has one."""
    if isinstance(report.verdict, Violated) and isinstance(report.verdict.witness, ExactWitness):
        return report.verdict.witness
    return None


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
    return replace(case, budget=f"ratio = {ratio}", model=replace(model, measure=Pure(bound)))


def _polynomial(ring: Ring, coefficients: Sequence[Any]) -> Polynomial:
    total = ring.number(0)
    for power, coefficient in enumerate(coefficients):
        part = ring.number(fraction(coefficient))
        if power:
            if GENERATOR not in ring.names:
                raise InputError("the ratio has a constant that the case does not have")
            part *= ring.variable(GENERATOR) ** power
        total += part
    return total
