"""The least ε for a given δ, the least δ for a given ε, and the curve of both, for a D formula.

A D formula compares pairs (p, q) of probabilities: p ≤ c·q + δ with c = e^ε. So the least δ for c is the
largest p − c·q, and the least c for δ the largest (p − δ)/q, over all pairs, and over all parameter points.
Without parameters both are exact numbers, and the curve δ(c) is piecewise linear and convex in c: its corners
are those of the upper hull of the points (−q, p). With parameters suprema are found as for budgets of cases.

The pairs of probabilities that D compares as quotients over the parameter domain, and their suprema.

p ≤ c·q + δ at every point iff c is at least the supremum of (p − δ)/q, and iff δ is at least that of p − c·q,
where p − c·q + c = p + c·(1 − q) ≥ 0.

The pairs of probabilities that the D formulas of a property compare, for their least budgets.

Where Prop. 2 of [L] would compare the largest probability of one state with the smallest of another, equality
under every query scheduler is tried first ([Tzeng92]): two equal probabilities need no budget at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from flint import fmpq, fmpq_poly

from paramverify.algebra.budgets import Epsilon
from paramverify.algebra.domain_branches import branches
from paramverify.algebra.exact_numbers import ExactNumber
from paramverify.algebra.polynomials import (
    Polynomial,
    RationalFunction,
    constant_value,
    is_constant,
    key,
    value_at,
)
from paramverify.algebra.rationals import nearest
from paramverify.algebra.reals import Real
from paramverify.algebra.signs import Sign, sign_on
from paramverify.answers import Open, Proved
from paramverify.claims import Claim, Origin
from paramverify.errors import (
    InputError,
    LimitError,
    ModelError,
    SizeError,
    UndeterminedError,
    UnsupportedError,
)
from paramverify.logic.formula_families import equality, mentions
from paramverify.logic.formula_syntax import Formula, Private, Property, instance
from paramverify.logic.judges import ClaimJudge, ExactJudge
from paramverify.logic.probability_comparisons import Method, SchedulerChoice
from paramverify.logic.property_checking import LogicSession
from paramverify.logic.scheduler_equivalence import WeightedAutomaton
from paramverify.logic.semantics import Semantics, conjuncts, in_ring, real
from paramverify.models.chains.markov_chains import Value
from paramverify.models.context import Checks, sample_points
from paramverify.portfolio.obligations import decide
from paramverify.synthesis.paths import points_of
from paramverify.synthesis.quotients import Quotient, RatioBounds
from paramverify.synthesis.ratio_suprema import SupremumSearch


@dataclass(frozen=True, eq=False)
class Pair:
    """Two probabilities that a D formula compares, and where they are from.

    `sufficient` tells that they are bounds of those that query schedulers reach ([L] Prop. 2).
    """

    left: Value
    right: Value
    origin: Origin
    index: int | None = None
    sufficient: bool = False


def delta_quotient(work: LogicSession, pair: Pair, ratio: RationalFunction) -> Quotient:
    """Returns p − c·q + c = p + c·(1 − q) ≥ 0 as a quotient."""
    ring = work.chain.domain.ring
    one = RationalFunction.of(ring.number(1))
    value = in_ring(pair.left, ring) + ratio * (one - in_ring(pair.right, ring))
    return _quotient(work, value, pair)


def ratio_quotient(work: LogicSession, pair: Pair, delta: RationalFunction) -> Quotient:
    """Returns (p − δ)/q as a quotient, with nothing divided out that may be zero on the domain."""
    ring = work.chain.domain.ring
    left, right = in_ring(pair.left, ring) - delta, in_ring(pair.right, ring)
    below = _oriented(work, left.denominator, pair), _oriented(work, right.denominator, pair)
    top = left.numerator if below[0] == left.denominator else -left.numerator
    bottom = right.numerator if below[1] == right.denominator else -right.numerator
    return Quotient(top * below[1], bottom * below[0], pair.origin)


def below_delta(work: LogicSession, pair: Pair, delta: RationalFunction) -> bool:
    """Decides p ≤ δ, which is what a pair demands whose q is zero at every point."""
    rest = delta - in_ring(pair.left, work.chain.domain.ring)
    claim = Claim(rest.numerator * rest.denominator, work.chain.domain, (pair.origin,))
    answer = decide(work.session, claim).answer
    if isinstance(answer, Open):
        raise LimitError(
            f"a probability is zero at every point, and whether delta is enough is open: {answer.detail}"
        )
    return isinstance(answer, Proved)


def _quotient(work: LogicSession, value: RationalFunction, pair: Pair) -> Quotient:
    bottom = _oriented(work, value.denominator, pair)
    top = value.numerator if bottom == value.denominator else -value.numerator
    return Quotient(top, bottom, pair.origin)


def _oriented(work: LogicSession, polynomial: Polynomial, pair: Pair) -> Polynomial:
    """Returns a polynomial or its negative, whichever is nonnegative on the domain.

    A probability may vanish at a closed end of the domain; there the quotient may grow beyond all bounds.
    """
    checks = Checks(work.chain.domain)
    try:
        found = checks.positive(polynomial, "a denominator")
        known = work.discharge(checks.obligations) is None
    except ModelError:
        values = (value_at(polynomial, point) for point in sample_points(work.chain.domain))
        found = polynomial if next((v for v in values if v), 1) > 0 else -polynomial
        claim = Claim(found, work.chain.domain, (pair.origin,))
        known = isinstance(work.session.decide(claim).answer, Proved)
    if not known:
        raise LimitError(f"the sign of {polynomial} on the domain is not known")
    return found


def largest(quotients: Sequence[Quotient], work: LogicSession, floor: Fraction) -> RatioBounds | None:
    """Returns the supremum over all quotients that are not proved to be at most `floor`, if there are any."""
    best: RatioBounds | None = None
    seen: set[tuple[str, str]] = set()
    precision = Fraction(1, 10**9)
    parts = branches(work.chain.domain)
    points = points_of(parts, max(1, 200 // max(1, len(parts))))
    for quotient in quotients:
        name = (key(quotient.left), key(quotient.right))
        if name in seen:
            continue
        seen.add(name)
        search = SupremumSearch(
            work.chain, work.session, whole=quotient, precision=precision, branches=parts, points=points
        )
        if isinstance(search.at_most(floor).answer, Proved):
            continue
        own = search.supremum() if _nonnegative(search) else search.bisect(floor, {})
        if own.infinite:
            return own
        if best is None or (own.high is not None and best.high is not None and own.low > best.high):
            best = own
        elif own.high is None or best.high is None or own.high > best.low:
            best = _merged(best, own)
    return best


def _nonnegative(search: SupremumSearch) -> bool:
    known = (Sign.POSITIVE, Sign.NONNEGATIVE, Sign.ZERO)
    return all(sign_on(part.a, part.branch.domain) in known for part in search.parts)


def _merged(first: RatioBounds, second: RatioBounds) -> RatioBounds:
    """Returns the larger of two suprema that bounds do not tell apart: exact if equal, else bounds."""
    if first.value is not None and second.value is not None and first.low == second.low:
        return first
    larger = second if second.low > first.low else first
    if first.high is None or second.high is None:
        return larger.open()
    upper = max(first.high, second.high)
    return larger if larger.high == upper else replace(larger.open(), upper=ExactNumber(upper))


def rational_number(ratio: RationalFunction) -> Fraction:
    """Returns a ratio that is a rational number."""
    if not (is_constant(ratio.numerator) and is_constant(ratio.denominator)):
        raise UnsupportedError(
            "with parameters, the least delta needs an epsilon that is ln of a rational number"
        )
    return constant_value(ratio.numerator) / constant_value(ratio.denominator)


FAMILY = 10  # members of an infinite family that are looked at


def privates(found: Property) -> list[Private]:
    """Returns the D formulas of a property that is a conjunction of them.

    Raises:
        UnsupportedError: another property.
    """
    parts = conjuncts(found.formula)
    private = [part for part in parts if isinstance(part, Private)]
    if len(private) < len(parts) or not private:
        raise UnsupportedError("a budget is found for D formulas and conjunctions of them")
    return private


def pairs(work: LogicSession, found: Property) -> tuple[list[Pair], str]:
    """Returns the pairs that a property compares in its initial states.

    Of an infinite family the first members are taken, unless its pairs are equal for every number; the second
    result says so.

    Raises:
        LimitError: there is no engine for what is to be compared.
    """
    checks = Checks(work.chain.domain)
    semantics = _semantics(work, found, checks)
    result: dict[tuple[object, object], Pair] = {}
    last = found.first + FAMILY if found.last is None else found.last
    searched = ""
    for private in privates(found):
        members: list[int | None] = [None]
        if found.variable and mentions(private, found.variable):
            if found.last is None:
                if equality(work, private, found)[0]:
                    _put(result, _equal_pairs(work, private))
                    continue
                searched = f"{found.variable} = {found.first}..{last}"
            members = [*range(found.first, last + 1)]
        for k in members:
            formula: Formula = private
            if k is not None and found.variable:
                formula = instance(private, {found.variable: k})
            assert isinstance(formula, Private)
            _put(result, _compared(work, semantics, formula, k))
    doubt = work.discharge(checks.obligations)
    if doubt:
        raise LimitError(doubt.detail)
    if not result:
        raise InputError("no state has a neighbour, so every budget is enough", key="neighbours")
    return list(result.values()), searched


def _semantics(work: LogicSession, found: Property, checks: Checks) -> Semantics:
    judge = ExactJudge(work.chain)  # for nested formulas; with parameters they need claims
    claims = ClaimJudge(work.chain, work.session, checks, True)
    parametric = bool(work.chain.domain.ring.parameters)
    infinite = found.variable is not None and found.last is None
    # As in checking: for every k, action sequences are too many.
    wide = infinite and work.chain.is_decision_process and work.method == SchedulerChoice.AUTO
    return Semantics(
        work.chain,
        work.case.relation,
        claims if parametric else judge,
        claims.guard if parametric else None,
        SchedulerChoice.SUFFICIENT if wide else work.method,
    )


def _put(result: dict[tuple[object, object], Pair], more: Iterator[Pair]) -> None:
    for pair in more:
        same = (_name(pair.left), _name(pair.right))
        if same not in result or result[same].sufficient:
            result[same] = pair


def _name(value: Value) -> object:
    return str(value) if isinstance(value, RationalFunction) else value


def _compared(work: LogicSession, semantics: Semantics, formula: Private, k: int | None) -> Iterator[Pair]:
    """Yields the pairs of one formula; those of Prop. 2 for the states only that may differ."""
    chain = work.chain
    try:
        comparisons = list(semantics.comparisons(formula, chain.initial))
    except UnsupportedError as error:
        apart = _apart(work, semantics, formula)
        if apart is None or apart:
            tried = () if apart is None else ("equality under all query schedulers was not shown either",)
            told = "; ".join((error.reason, *tried, *semantics.cuts))
            raise LimitError(f"the least budget is not known: {told}") from None
        yield from _equal_pairs(work, formula)
        return
    wide = any(c.probabilities.method is Method.EXTREMES for c in comparisons)
    differ = _apart(work, semantics, formula) if wide else None
    for comparison in comparisons:
        origin = comparison.origin(chain)
        if differ is not None and frozenset(comparison.states) not in differ:
            yield Pair(chain.zero, chain.zero, origin, k)
        else:
            sufficient = comparison.probabilities.method is Method.EXTREMES
            yield Pair(comparison.left, comparison.right, origin, k, sufficient)


def _equal_pairs(work: LogicSession, formula: Private) -> Iterator[Pair]:
    """Yields a pair that needs no budget for each two neighbours."""
    chain = work.chain
    for s in chain.initial:
        for t in work.case.relation[s]:
            yield Pair(chain.zero, chain.zero, Origin(chain.states[s], chain.states[t], (str(formula.path),)))


def _apart(work: LogicSession, semantics: Semantics, formula: Private) -> set[frozenset[int]] | None:
    """Returns the neighbours that were not shown to be equal under every query scheduler.

    None where this cannot be tried: on chains, and where Prop. 2 or enumeration alone was asked for.
    """
    chain, relation = work.chain, work.case.relation
    if not chain.is_decision_process or work.method is not SchedulerChoice.AUTO:
        return None
    wanted = {frozenset((s, t)) for s in chain.initial for t in relation[s]}
    try:
        automaton = semantics.engine().automaton(formula.path, sorted({s for pair in wanted for s in pair}))
    except (SizeError, UndeterminedError, UnsupportedError) as error:
        semantics.cut(str(error))
        return wanted
    return {pair for pair in wanted if not _equal(automaton, sorted(pair), semantics)}


def _equal(automaton: WeightedAutomaton, states: list[int], semantics: Semantics) -> bool:
    try:
        return automaton.difference(states[0], states[-1]) is None
    except SizeError as error:
        semantics.cut(str(error))
        return False


SAMPLES = 16  # parts into which a curve is cut where its corners are not known
FARTHEST = Fraction(20)  # ratio at which such a curve ends


@dataclass(frozen=True, eq=False)
class Least:
    """The least δ, or the least ratio e^ε, that a formula needs; None where no budget is enough.

    Either `value` is exact, or `lower` and `upper` are certified bounds; `origin` is where it is needed.
    `sufficient` tells that extremal probabilities over all schedulers were compared ([L] Prop. 2), so that
    the least budget for query schedulers may be smaller: then it is at most `value` or `upper`. `searched`
    tells of an infinite family how far it was looked at.
    """

    value: Real | None
    lower: Fraction
    upper: Fraction | None
    origin: Origin
    infinite: bool = False
    sufficient: bool = False
    searched: str = ""

    @property
    def exact(self) -> bool:
        """Whether `value` is the least budget of the whole formula."""
        return self.value is not None and not self.sufficient and not self.searched

    def __float__(self) -> float:
        if self.infinite:
            return float("inf")
        if self.value is not None:
            return float(self.value)
        return nearest(self.upper) if self.upper is not None else float("inf")


@dataclass(frozen=True, eq=False)
class Corner:
    """A point of the curve: for the ratio e^ε the least δ, or an upper bound of it where not `exact`.

    The least δ is convex in the ratio, so the line between two points is an upper bound of it. `sufficient`
    and `searched` are those of `Least`.
    """

    ratio: Fraction
    delta: Fraction
    exact: bool = True
    sufficient: bool = False
    searched: str = ""

    @property
    def epsilon(self) -> float:
        """ε rounded."""
        return float(Epsilon.of(self.ratio).number())


def least_delta(work: LogicSession, found: Property, ratio: RationalFunction) -> Least:
    """Returns the least δ for a ratio e^ε: the supremum of p − ratio·q, at least zero."""
    candidates, searched = pairs(work, found)
    if work.chain.domain.ring.parameters:
        floor = rational_number(ratio)
        quotients = [delta_quotient(work, pair, ratio) for pair in candidates]
        best = largest(quotients, work, floor) or _at(floor, candidates[0].origin)
        return _least(best, floor, Fraction(0), any(p.sufficient for p in candidates), searched)
    ring = work.chain.domain.ring
    bound = real(ratio, ring)
    values = [(real(p.left, ring) - bound * real(p.right, ring), p) for p in _needed(candidates, work)]
    value, pair = _maximum(values)
    zero = real(fmpq(0), ring)
    if value.sign() < 0:
        value = zero
    low, high = value.enclosure()
    sufficient = pair.sufficient and value.sign() > 0
    return Least(
        value, Fraction(0) if sufficient else low, high, pair.origin, sufficient=sufficient, searched=searched
    )


def least_ratio(work: LogicSession, found: Property, delta: RationalFunction) -> Least:
    """Returns the least ratio e^ε ≥ 1 for δ: the supremum of (p − δ)/q."""
    candidates, searched = pairs(work, found)
    ring = work.chain.domain.ring
    if ring.parameters:
        quotients = []
        for pair in candidates:
            if not in_ring(pair.right, ring).numerator:
                if not below_delta(work, pair, delta):
                    return _unbounded(pair, searched)
                continue
            quotients.append(ratio_quotient(work, pair, delta))
        floor = Fraction(1)
        best = largest(quotients, work, floor) or _at(floor, candidates[0].origin)
        return _least(best, floor, floor, any(p.sufficient for p in candidates), searched)
    shift = real(delta, ring)
    values: list[tuple[Real, Pair]] = []
    for pair in _needed(candidates, work):
        top = real(pair.left, ring) - shift
        bottom = real(pair.right, ring)
        if top.sign() > 0:
            if bottom.sign() == 0:
                return _unbounded(pair, searched)
            values.append((top / bottom, pair))
    one = real(fmpq(1), ring)
    values = [v for v in values if (v[0] - one).sign() > 0]
    if not values:
        return Least(
            one,
            Fraction(1),
            upper=Fraction(1),
            origin=candidates[0].origin,
            searched=searched,
        )
    value, pair = _maximum(values)
    low, high = value.enclosure()
    return Least(
        value,
        Fraction(1) if pair.sufficient else low,
        upper=high,
        origin=pair.origin,
        sufficient=pair.sufficient,
        searched=searched,
    )


def _at(floor: Fraction, origin: Origin) -> RatioBounds:
    """Returns that a supremum is a number, which nothing exceeds."""
    number = ExactNumber(floor)
    return RatioBounds("ratio", number, number, origin=origin)


def _unbounded(pair: Pair, searched: str) -> Least:
    """Returns that a pair (p, 0) with p > δ has no ratio; by Prop. 2 only that no upper bound is known."""
    infinite = not pair.sufficient
    least = Fraction(0 if infinite else 1)
    return Least(
        None,
        least,
        upper=None,
        origin=pair.origin,
        infinite=infinite,
        sufficient=pair.sufficient,
        searched=searched,
    )


def _maximum(values: Sequence[tuple[Real, Pair]]) -> tuple[Real, Pair]:
    best = values[0]
    for found in values[1:]:
        if (found[0] - best[0]).sign() > 0:
            best = found
    return best


def _needed(candidates: Sequence[Pair], work: LogicSession) -> Sequence[Pair]:
    """Returns the pairs on the upper hull, where all probabilities are rational; all pairs otherwise."""
    return hull(candidates) if work.chain.numeric else candidates


def hull(candidates: Iterable[Pair]) -> list[Pair]:
    """Returns the pairs of which one makes p − c·q largest, for each c ≥ 0, by falling q.

    The upper left hull of the points (q, p): Andrew's monotone chain [Andrew79].
    """
    best: dict[Value, Pair] = {}
    for pair in candidates:
        if pair.right not in best or pair.left > best[pair.right].left:
            best[pair.right] = pair
    kept: list[Pair] = []
    for right in sorted(best):
        pair = best[right]
        if kept and pair.left <= kept[-1].left:
            continue  # another pair has a larger p with a smaller q
        while len(kept) > 1 and _below(kept[-2], kept[-1], pair):
            kept.pop()
        kept.append(pair)
    return kept[::-1]


def _below(first: Pair, middle: Pair, last: Pair) -> bool:
    """Tells whether the middle point is on or below the line through the two others."""
    rise = (middle.left - first.left) * (last.right - first.right)
    return bool(rise <= (last.left - first.left) * (middle.right - first.right))


def curve(work: LogicSession, found: Property) -> Iterator[Corner]:
    """Yields δ as a function of the ratio, from ratio one to where δ is zero or stays constant.

    Where all probabilities are rational numbers, these are corners, between which δ is linear in the ratio.
    Otherwise they are sample points, with certified upper bounds. The ratio rises, so what comes before a
    limit is the beginning of the curve.

    Raises:
        LimitError: no upper bound of δ was proved at a ratio.
    """
    if not work.chain.numeric or work.chain.domain.ring.parameters:
        yield from _sampled_curve(work, found)
        return
    candidates, searched = pairs(work, found)
    lines = hull(candidates)
    sufficient = any(p.sufficient for p in lines)
    ratios = {Fraction(1)}
    for first, second in pairwise(lines):
        # p − c·q and p' − c·q' meet at c = (p − p')/(q − q').
        meet = _fraction((first.left - second.left) / (first.right - second.right))
        if meet > 1:
            ratios.add(meet)
    for pair in lines:
        if pair.right > 0 and _fraction(pair.left / pair.right) > 1:
            ratios.add(_fraction(pair.left / pair.right))
    for ratio in sorted(ratios):
        delta = max(_fraction(p.left) - ratio * _fraction(p.right) for p in lines)
        bound = sufficient and delta > 0
        yield Corner(ratio, max(delta, Fraction(0)), not (bound or searched), bound, searched)
        if delta <= 0:
            break


def _sampled_curve(work: LogicSession, found: Property) -> Iterator[Corner]:
    """Yields upper bounds of δ at ratios from one to the least for δ = 0, or to `FARTHEST`."""
    ring = work.chain.domain.ring
    last = least_ratio(work, found, RationalFunction.of(ring.number(0)))
    top = FARTHEST if last.infinite or last.upper is None else min(last.upper, FARTHEST)
    for k in range(SAMPLES + 1):
        ratio = Fraction(float(top) ** (k / SAMPLES)).limit_denominator(10**4)  # any ratio will do
        least = least_delta(work, found, RationalFunction.of(ring.number(ratio)))
        if least.upper is None:
            raise LimitError(f"no upper bound of delta was proved at the ratio {ratio}")
        upper = max(least.upper, Fraction(0))
        exact = least.exact and least.lower == least.upper
        yield Corner(ratio, upper, exact, least.sufficient, least.searched)


def _fraction(value: Value) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def _least(best: RatioBounds, floor: Fraction, least: Fraction, sufficient: bool, searched: str) -> Least:
    """Returns a supremum as a budget: `floor` becomes `least`, and nothing is below."""
    lower = least if sufficient else max(best.low - floor + least, least)
    upper = None if best.high is None else max(best.high - floor + least, least)
    value = _rational(lower) if lower == upper else None
    return Least(
        value,
        lower,
        upper=upper,
        origin=best.origin,
        infinite=best.infinite and not sufficient,
        sufficient=sufficient and value is None,
        searched=searched,
    )


def _rational(value: Fraction) -> Real:
    return Real(fmpq_poly([fmpq(value.numerator, value.denominator)]), fmpq_poly([1]))
