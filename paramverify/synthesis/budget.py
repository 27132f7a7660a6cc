"""The tight budget: the supremum of the ratio over all priors, secrets and outputs, exact where it can be.

A budget is a verdict. The search (see `ratio_suprema`) proposes a number; then the claims of the case with
that number as its bound are proved, all of them, as `verify` proves them. A lower bound is the exact ratio
of a prior of the domain, or a limit of such ratios. Whether the supremum is reached is a question of its
own (see `attainment`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from fractions import Fraction

from paramverify.algebra.domain_branches import Branch, branches
from paramverify.algebra.exact_numbers import ExactNumber
from paramverify.algebra.polynomials import Polynomial, key, primitive, value_at, variables
from paramverify.algebra.real_roots import RealRoot, exact
from paramverify.algebra.reals import Real
from paramverify.answers import Decision, FailsAt, Proved, Refuted
from paramverify.bounds import INFINITY, Place
from paramverify.claims import Claim, Origin
from paramverify.encodings.choice import candidates_of
from paramverify.encodings.encoding import Candidate
from paramverify.errors import ModelError
from paramverify.evidence.witnesses import Evaluated
from paramverify.exact.univariate import fails_without_witness
from paramverify.models.context import is_somewhere_positive
from paramverify.models.model import Model, without_bound
from paramverify.portfolio.session import Session
from paramverify.synthesis.attainment import Witnesses, beside, is_one, rational_point, reaching
from paramverify.synthesis.paths import points_of
from paramverify.synthesis.quotients import (
    Bound,
    BoundProof,
    Quotient,
    RatioBounds,
    as_polynomials,
    distinct,
    order,
    rebound,
    sampled,
)
from paramverify.synthesis.ratio_suprema import SupremumSearch, prefer

POINTS = 200  # simple points of the domain at which quotients are compared first
ROUNDS = 20  # times that the proof of an upper bound may find a larger ratio
WIDER = Fraction(1, 10**9)  # the relative distance of an upper bound that is proved where an exact one is not


def tight_budget(
    model: Model,
    session: Session,
    precision: Fraction = Fraction(1, 10**9),
    relative: bool = False,
) -> RatioBounds:
    """Returns the supremum of Pr(ω|left)/Pr(ω|right) over the domain, all pairs, directions and sequences.

    With `relative` it is the supremum of that ratio divided by the case's own bound. Where it is 1, see
    `attainment.beside` for whether the bound is tight.
    Exact where the supremum is at a vertex or on an edge of the box, or at a rational point that is
    recognised; otherwise bounds whose relative distance is at most `precision`, if the limits allow. The
    upper bound is proved for all claims, see `BoundProof`.

    Raises:
        LimitError: too many sequences.
        ModelError: no prior gives both secrets of a pair a positive probability.
    """
    hunt = _BudgetHunt.of(model, session, precision, relative)
    best = hunt.proved(hunt.largest())
    return hunt.beside(hunt.witnesses.shown(hunt.decided(best)))


@dataclass(eq=False)
class _BudgetHunt:
    """The quotients of a model, and what was decided about its claims so far.

    `model` is the case's, `plain` the one whose ratio, times a number, is the bound of the claims.
    """

    model: Model
    plain: Model
    session: Session
    precision: Fraction
    relative: bool
    parts: tuple[Branch, ...]
    witnesses: Witnesses
    quotients: list[Quotient] = field(default_factory=list)
    searches: list[SupremumSearch] = field(default_factory=list)
    memory: dict[str, Decision] = field(default_factory=dict)

    @staticmethod
    def of(model: Model, session: Session, precision: Fraction, relative: bool) -> _BudgetHunt:
        plain = model if relative else without_bound(model)
        parts = branches(plain.domain)
        hunt = _BudgetHunt(
            model,
            plain,
            session=session,
            precision=precision,
            relative=relative,
            parts=parts,
            witnesses=Witnesses(model, parts, precision, relative),
        )
        hunt.quotients = [_quotient(plain, c) for c in candidates_of(plain)]
        points = points_of(hunt.parts, max(1, POINTS // max(1, len(hunt.parts))))
        exact_ones = (q for q in hunt.quotients if q.left and not q.mentions(plain.hmm.wider))
        for whole, total in distinct(exact_ones, hunt.parts):
            least = Fraction(0 if relative else 1)
            own = SupremumSearch(
                model=plain,
                session=session,
                whole=whole,
                precision=precision,
                branches=hunt.parts,
                points=points,
                memory=hunt.memory,
                least=least,
                total=total,
            )
            if own.parts:
                hunt.searches.append(own)
        if not hunt.searches:
            raise ModelError(_nothing(model))
        return hunt

    def largest(self) -> RatioBounds:
        """Returns the largest supremum of the quotients, as far as it was found; it is still to be proved."""
        best: RatioBounds | None = None
        free = []
        for search in self.searches:
            value = search.number()
            if value is None:
                free.append(search)
            elif best is None or order(value, best.value or value) > 0:
                number = ExactNumber(value)
                place: Place = {n: exact(v) for n, v in self._anywhere(search).items()}
                best = RatioBounds("ratio", number, number, origin=search.origin, place=place)
        waiting = sorted(free, key=_promise, reverse=True)
        while waiting:
            self._look_ahead(best, waiting)
            search = waiting.pop(0)
            best = _improve(best, search)
            self.session.bound(best if best.infinite else best.open())
            if best.infinite:
                return best
        assert best is not None
        if best.low < 1 and not self.relative:
            best = self._at_least_one(best)
        return best

    def _look_ahead(self, best: RatioBounds | None, waiting: Sequence[SupremumSearch]) -> None:
        """Decides for the next quotients whether they are at most the best one, until one of them is not.

        It would be asked for each when its turn comes. Nothing is done where one is decided at a time.
        """
        bound = None if best is None else _least(best)
        if bound is None or self.session.ahead < 2:
            return
        near = {key(c.polynomial): c for c in (s.claim(bound) for s in waiting[: self.session.ahead])}
        new = {name: claim for name, claim in near.items() if name not in self.memory}
        if next(iter(near)) not in new:
            return
        with closing(self.session.decide_each(list(new.values()))) as made:
            for name, decision in zip(new, made, strict=True):
                self.memory[name] = decision
                if not isinstance(decision.answer, Proved):
                    return

    def _anywhere(self, search: SupremumSearch) -> Mapping[str, Fraction]:
        points = (p for p in search.points if value_at(search.whole.left, p))
        found = next(points, {})
        return {n: found[n] for n in self.plain.domain.ring.parameters if n in found}

    def _at_least_one(self, best: RatioBounds) -> RatioBounds:
        """Raises the lower bound to 1: the probabilities of all outputs sum to one under both secrets.

        Raises:
            ModelError: no prior gives both secrets of a pair a positive probability.
        """
        never = True
        for pair in self.plain.pairs:
            mass = pair.pi.mass * pair.tau.mass
            possible = is_somewhere_positive(mass, self.plain.domain)
            if possible is None:
                claim = Claim(-mass, self.plain.domain)
                answer = self.session.decide(claim).answer
                possible = isinstance(answer, Refuted | FailsAt) or fails_without_witness(claim)
                never = never and isinstance(answer, Proved)
            else:
                never = never and not possible
            if possible:
                high = INFINITY if best.high is None else ExactNumber(max(best.high, Fraction(1)))
                return replace(best, lower=ExactNumber(1), upper=high, attained=None)
        if never:
            raise ModelError(_nothing(self.model))
        return best

    # --- the upper bound -----------------------------------------------------------------------------

    def claims(self, bound: Bound) -> tuple[Claim, ...]:
        """Returns the claims of the model with a bound, like `claims_of`; equal ones are merged."""
        top, bottom = as_polynomials(bound, self.plain)
        merged: dict[str, tuple[Polynomial, list[Origin]]] = {}
        for q in self.quotients:
            _, polynomial = primitive(q.right * top - q.left * bottom)
            merged.setdefault(key(polynomial), (polynomial, []))[1].append(q.origin)
        return tuple(Claim(f, self.plain.domain, tuple(origins)) for f, origins in merged.values())

    def proved(self, best: RatioBounds) -> RatioBounds:
        """Returns the budget with a proof of all claims; without an upper bound where one stays open."""
        wider = False
        for _ in range(ROUNDS):
            bound = best.bound
            if best.infinite or bound is None:
                return best
            claims = self.claims(bound)
            decisions, failed = self._decide(claims)
            if failed is None:
                scaled = rebound(self.plain, bound)
                return replace(best, proof=BoundProof(bound, scaled, claims, decisions))
            answer = decisions[-1].answer
            if isinstance(answer, Refuted) and self.plain.hmm.wider.isdisjoint(variables(failed.polynomial)):
                best = self._raised(best, failed, answer)
            elif wider:
                break
            else:
                wider = True
                upper = ExactNumber((best.high or Fraction(1)) * (1 + WIDER))
                best = replace(best, lower=ExactNumber(best.low), upper=upper, attained=None)
        return best.open()

    def _decide(self, claims: Sequence[Claim]) -> tuple[tuple[Decision, ...], Claim | None]:
        """Returns the decisions up to the first claim that is not proved, and that claim."""
        new = {key(claim.polynomial): claim for claim in claims}
        new = {name: claim for name, claim in new.items() if name not in self.memory}
        decisions = []
        with closing(self.session.decide_each(list(new.values()))) as made:
            for claim in claims:
                name = key(claim.polynomial)
                if name not in self.memory:
                    self.memory[name] = next(made)
                decisions.append(self.memory[name])
                if not isinstance(decisions[-1].answer, Proved):
                    return tuple(decisions), claim
        return tuple(decisions), None

    def _raised(self, best: RatioBounds, claim: Claim, answer: Refuted) -> RatioBounds:
        """Returns the larger supremum of the quotient whose claim fails."""
        whole = next(q for q in self.quotients if q.origin == claim.origins[0])
        least = Fraction(0 if self.relative else 1)
        search = SupremumSearch(
            model=self.plain,
            session=self.session,
            whole=whole,
            precision=self.precision,
            branches=self.parts,
            points=(),
            memory=self.memory,
            least=least,
        )
        point = {n: v for n, v in answer.point.items() if n in self.plain.domain.ring.parameters}
        ratio = search.ratio_at(point)
        place: Place = {n: exact(v) for n, v in point.items()}
        if ratio is None:
            return RatioBounds.none("ratio", whole.origin, place, True)
        self.searches.append(search)
        return _larger(best, search.bisect(ratio, place))

    # --- whether it is reached ----------------------------------------------------------

    def decided(self, best: RatioBounds) -> RatioBounds:
        """Returns the budget with what is known about whether a prior reaches it."""
        if not best.infinite and (best.value is None or best.proof is None):
            return replace(best, attained=None)
        if isinstance(best.value, RealRoot) and not best.value.is_rational:
            # All places on the line with this value were looked at; every other quotient is smaller.
            return replace(best, attained=bool(best.attained))
        own = self._reached(best, best.origin, rational_point(best.place))
        if own:
            return own
        bound = None if best.infinite else best.bound
        answers = []
        for search in sorted(self.searches, key=lambda s: s.origin != best.origin):
            found = reaching(search, bound)
            if isinstance(found, dict):
                for origin in self._alike(search):
                    reached = self._reached(best, origin, found)
                    if reached:
                        return reached
                found = None
            answers.append(found)
        return replace(best, attained=False if all(a is False for a in answers) else None)

    def beside(self, best: RatioBounds) -> RatioBounds:
        """Returns a relative budget with what the bound is where its supremum 1 is; above 1 if possible."""
        if not self.relative or not is_one(best.value):
            return best
        found, all_known = beside(self.model, best.origin, best.place), len(self.plain.domain.box) == 1
        for search in self.searches if found.tight is None else ():
            for part in search.parts:
                if not part.branch.is_box or self.plain.domain.constant or not part.names:
                    all_known = all_known and not part.names
                    continue
                for own in search.each_edge(part):
                    if not is_one(own.value):
                        continue
                    other = beside(self.model, own.origin, own.place)
                    if other.tight:
                        return replace(best, tight=True, beside=replace(other, reached=own.attained is True))
                    all_known = all_known and other.is_one
        return replace(best, tight=found.tight, beside=replace(found, only=all_known and found.is_one))

    def _alike(self, search: SupremumSearch) -> Iterator[Origin]:
        yield search.origin
        if search.total is not None:
            yield from (q.origin for q in self.quotients if q.origin != search.origin)

    def _reached(
        self, best: RatioBounds, origin: Origin, point: Mapping[str, Fraction] | None
    ) -> RatioBounds | None:
        """Returns the budget with the witness at a point if its ratio is the supremum, exactly."""
        if point is None:
            return None
        witness = self.witnesses.at(origin, point)
        if witness is None or not self._is(witness, best):
            return None
        place = {n: exact(v) for n, v in witness.parameters.items()}
        return replace(best, attained=True, witness=witness, origin=origin, place=place)

    def _is(self, witness: Evaluated, best: RatioBounds) -> bool:
        ratio = self.witnesses.ratio(witness)
        if ratio is None or best.infinite:
            return ratio is None and best.infinite
        assert best.value is not None
        if isinstance(best.value, Real):  # in the ring of the claims, whose `E` may be another one
            plain = replace(self.witnesses, model=self.plain).at(best.origin, witness.parameters)
            own = self.witnesses.ratio(plain) if plain else None
            return own is not None and (own - best.value).sign() == 0
        return best.value.is_rational and ratio.rational == best.value.lower


def _quotient(model: Model, candidate: Candidate) -> Quotient:
    """Returns the ratio of a candidate divided by the bound of its pair."""
    ratio = model.measure.bound_at(candidate.distance)
    return Quotient(candidate.left * ratio.denominator, candidate.right * ratio.numerator, candidate.origin)


def _nothing(model: Model) -> str:
    names = ", ".join(f"{p.left!r} and {p.right!r}" for p in model.pairs[:5])
    if model.nothing_compared:
        return f"{model.nothing_compared}, so there is no ratio"
    return f"no prior gives both secrets of a pair a positive probability, so there is no ratio: {names}"


def _promise(search: SupremumSearch) -> tuple[bool, Fraction]:
    """Returns a guess of how large a quotient becomes, for the order in which they are looked at."""
    if any(not part.right for part in search.parts):
        return True, Fraction(0)
    return False, sampled(search.whole, search.points)[0]


def _least(best: RatioBounds) -> Bound | None:
    """Returns a bound that other quotients must pass to be larger, where there is one."""
    value = best.value
    irrational = isinstance(value, RealRoot) and not value.is_rational
    return value.lower if isinstance(value, RealRoot) and irrational else best.bound


def _improve(best: RatioBounds | None, search: SupremumSearch) -> RatioBounds:
    """Returns the larger of the best so far and the supremum for this candidate."""
    bound = None if best is None else _least(best)
    if best is not None and bound is not None:
        decision = search.at_most(bound)
        if isinstance(decision.answer, Proved):
            return best
    own = search.supremum()
    return own if best is None else _larger(best, own)


def _larger(best: RatioBounds, own: RatioBounds) -> RatioBounds:
    """Returns the supremum over both candidates; bounds only, where which one is larger is not known."""
    if own.infinite:
        return own
    if best.value is not None and own.value is not None:
        return own if prefer(own, best) else best
    if best.high is not None and own.high is not None:
        if own.low > best.high:
            return own
        if own.high <= best.low:
            return best
    larger = own if own.low > best.low else best
    upper = INFINITY if best.high is None or own.high is None else ExactNumber(max(best.high, own.high))
    return replace(larger.open(), upper=upper)
