"""The tight budget where a parameter stands beside its exponential: bounds that are proved, and limits.

The candidates for the supremum are the limits of the ratios where eps tends to 0 and to infinity. There the
leading terms are quotients of rational numbers, so a limit is exact. All claims are decided with the largest
limit as the bound. Where one fails, a rational x shows a larger ratio, and bounds are narrowed around it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.exact_numbers import ExactNumber
from paramverify.algebra.polynomials import (
    Polynomial,
    Unbounded,
    fraction,
    key,
    primitive,
    rational,
    value_at,
    variables,
)
from paramverify.algebra.real_roots import exact
from paramverify.answers import Decision, Proved, Refuted
from paramverify.bounds import INFINITY
from paramverify.claims import Claim, Origin
from paramverify.encodings.choice import candidates_of
from paramverify.errors import InputError, LimitError
from paramverify.evidence.witnesses import Evaluated, ExactWitness, evaluate
from paramverify.models.model import Model, without_bound
from paramverify.portfolio.session import Session
from paramverify.synthesis.quotients import BoundProof, Quotient, RatioBounds, rebound
from paramverify.synthesis.supremum import Functional, supremum


def tied_budget(model: Model, session: Session, precision: Fraction, relative: bool = False) -> RatioBounds:
    """Returns the supremum of the ratio, or of the ratio divided by the case's own bound.

    It is exact where it is a limit at an end of eps; otherwise bounds whose relative distance is at most the
    precision, if the limits allow. Whether it is reached is not decided.

    Raises:
        LimitError: too many sequences.
    """
    return _BudgetSearch.of(model, session, precision, relative).run()


@dataclass(frozen=True, eq=False)
class _BudgetSearch(Functional[Evaluated, BoundProof]):
    """The quotients whose supremum is asked for."""

    farthest = Fraction(2) ** 64
    part = Fraction(1, 3)

    model: Model
    session: Session
    precision: Fraction
    relative: bool
    quotients: tuple[Quotient, ...]

    @staticmethod
    def of(model: Model, session: Session, precision: Fraction, relative: bool) -> _BudgetSearch:
        plain = model if relative else without_bound(model)
        found: dict[str, Quotient] = {}
        for c in candidates_of(plain):
            bound = plain.ratio_bound(c.distance).ratio
            q = Quotient(c.left * bound.denominator, c.right * bound.numerator, c.origin)
            found.setdefault(f"{key(q.left)}/{key(q.right)}", q)
        return _BudgetSearch(plain, session, precision, relative, tuple(found.values()))

    def run(self) -> RatioBounds:
        best = RatioBounds("ratio", ExactNumber(0), INFINITY, origin=self.quotients[0].origin)
        for q in (q for q in self.quotients if not q.mentions(self.model.hmm.wider)):
            for limit, end, tie in self._limits(q):
                place = {tie.variable: exact(end)}
                if limit is None:
                    return RatioBounds.none("ratio", q.origin, place)
                if limit > best.low:
                    best = replace(best, lower=ExactNumber(limit), origin=q.origin, place=place)
        least = max(best.low, Fraction(0 if self.relative else 1))
        best = replace(best, lower=ExactNumber(least))
        proof = self._proof(least) if least else None
        if isinstance(proof, BoundProof):
            return replace(best, upper=best.lower, proof=proof)
        return supremum(self, self.session, best, 2 * max(best.low, Fraction(1)))

    def is_near(self, best: RatioBounds) -> bool:
        """Tells whether the relative distance of the bounds is at most the precision."""
        return best.is_within(self.precision)

    def enough(self, best: RatioBounds, bound: Fraction) -> RatioBounds | None:
        """Proves that a ratio is nowhere exceeded, or finds a point where it is."""
        found = self._proof(bound)
        if found is None:
            return None
        if isinstance(found, BoundProof):
            return replace(best, upper=ExactNumber(bound), proof=found)
        witness, ratio = found
        origin, place = _origin(witness), {n: exact(v) for n, v in witness.parameters.items()}
        if ratio is None:
            return replace(RatioBounds.none("ratio", origin, place, True), witness=witness)
        own = None if self.relative else witness
        return replace(best, lower=ExactNumber(ratio), origin=origin, place=place, witness=own)

    def _proof(self, bound: Fraction) -> BoundProof | tuple[ExactWitness, Fraction | None] | None:
        """Returns the proofs of all claims with a bound, a witness with a larger ratio, or None."""
        merged: dict[str, tuple[Polynomial, list[Origin]]] = {}
        for q in self.quotients:
            _, polynomial = primitive(q.right * rational(bound) - q.left)
            merged.setdefault(key(polynomial), (polynomial, []))[1].append(q.origin)
        claims = tuple(Claim(f, self.model.domain, tuple(origins)) for f, origins in merged.values())
        decisions: list[Decision] = []
        for claim in claims:
            self.session.in_time()
            decision = self.session.decide(claim)
            if isinstance(decision.answer, Refuted):
                return self._witness(claim, decision.answer)
            if not isinstance(decision.answer, Proved):
                return None
            decisions.append(decision)
        return BoundProof(bound, rebound(self.model, bound), claims, tuple(decisions))

    def _witness(self, claim: Claim, answer: Refuted) -> tuple[ExactWitness, Fraction | None] | None:
        """Returns the witness at a point, and a number that its ratio is not below; None for infinity."""
        point = {n: v for n, v in answer.point.items() if n != GENERATOR}
        origin = claim.origins[0]
        assert isinstance(origin, Origin)
        with suppress(InputError, LimitError):
            witness = evaluate(self.model, origin, point)
            ratio = witness.ratio
            if ratio is None:
                return witness, None
            value = ratio / witness.bound if self.relative else ratio
            return witness, value.enclosure(256)[0]
        return None

    def _limits(self, q: Quotient) -> Iterator[tuple[Fraction | None, Fraction, Unbounded]]:
        """Yields the limits of a quotient where eps tends to an end, with x there; None for infinity."""
        ring, box = self.model.domain.ring, self.model.domain.box
        for tie in ring.unbounded:
            if {*variables(q.left), *variables(q.right)} - {tie.name, tie.variable}:
                continue
            if self.model.domain.constraints or not q.left:
                continue
            ends = box[tie.variable]
            if ends.upper == 1:
                one = {tie.variable: Fraction(1), tie.name: Fraction(0)}
                top, bottom = (value_at(f, {**_zeros(f), **one}) for f in (q.left, q.right))
                if top or bottom:
                    yield (top / bottom if bottom else None), Fraction(1), tie
            if ends.lower == 0:
                if not q.right:
                    yield None, Fraction(0), tie
                    continue
                (a, c), (b, d) = _leading(q.left, tie), _leading(q.right, tie)
                if a > b:
                    yield None, Fraction(0), tie
                elif a == b:
                    yield c / d, Fraction(0), tie


def _origin(witness: ExactWitness) -> Origin:
    return Origin(witness.left, witness.right, witness.observations)


def _zeros(polynomial: Polynomial) -> dict[str, Fraction]:
    return {str(n): Fraction(0) for n in polynomial.context().names()}


def _leading(polynomial: Polynomial, tie: Unbounded) -> tuple[tuple[int, int], Fraction]:
    """Returns how fast the largest term falls where x tends to 0, larger for slower, and its coefficient."""
    names = [str(n) for n in polynomial.context().names()]
    x, t = names.index(tie.variable), names.index(tie.name) if tie.tied else -1
    terms = polynomial.to_dict().items()
    return max(((-int(m[x]), int(m[t]) if t >= 0 else 0), fraction(c)) for m, c in terms)
