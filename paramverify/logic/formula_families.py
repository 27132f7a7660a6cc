"""Families of formulas: one for each whole number k, and arguments that settle all large k at once.

For infinitely many k the members up to some K are checked one by one. For the others there is one of these
arguments, or none, and then the answer says up to which k it goes:

- *Tail*: in D{ε, δ}[ X^m (a U[k+c, ...] b) ] a path satisfies the inner formula only if a holds for k+c
  steps. The largest probability g(k) of that over all schedulers falls with k. If g(K) ≤ δ in every state
  that is compared, then Pr(s) ≤ g(k) ≤ g(K) ≤ δ ≤ e^ε·Pr(t) + δ for all k ≥ K.
- *Settling*: on a Markov chain the vector of a U[k+c, k+d] b or a U[k+c, ∞) b is w_k = B^k·w_0 for a fixed
  matrix B ≥ 0 (k steps in a, then a U[c, d] b), and D is linear in it up to δ ≥ 0. If w_{K+1} = Σ λ_i·w_i
  with λ ≥ 0 over members i ≤ K (and Σ λ_i ≤ 1 if δ is not zero), then so is w_{K+2} = Σ λ_i·w_{i+1}, and so
  on: all members follow from those up to K. This is the argument of the cone encoding. For a U[i, k+c] b it
  is w_{k+1} = r + B·w_k, and for a negation 1 − w_k, by an affine map T. Then Σ λ_i = 1 is needed, and a
  vector f with T(f) = f may be among the combined ones if D holds at f: that without an upper bound.
- *Bounds*: Pr(a U[i, k+c] b) grows with k, up to that of a U[i, ∞) b. If D or P holds for all numbers between
  both for k = K, it holds from K on. The same is true of negations, which fall, and of a U[k+c, ...] b and
  its negation: the one is at most that a holds for k+c steps, and the other at least that it does not.
- *Equality*: both states of every pair have the same probability for every k under every query scheduler
  (`scheduler_equivalence`), also with parameters. Negation keeps that. If they do not, the first k that tells
  a pair apart is a member that is looked at.

Path formulas with the number k of a family in the bounds of one operator, in one form.

R, W and G are negations of U and F: a R b = !(!a U !b).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm

from paramverify.algebra.cones import combination, whole
from paramverify.algebra.polynomials import constant_value, is_constant, rational
from paramverify.algebra.rationals import at_most
from paramverify.answers import End
from paramverify.errors import SizeError, UndeterminedError, UnsupportedError
from paramverify.logic.formula_syntax import (
    Constant,
    Formula,
    Index,
    Next,
    Not,
    Private,
    Probability,
    Property,
    Until,
    children,
    instance,
    is_state,
    parts,
)
from paramverify.logic.judges import ExactJudge
from paramverify.logic.probability_comparisons import Method, PathEngine, PathProbabilities, SchedulerChoice
from paramverify.logic.property_checking import FormulaResult, LogicSession
from paramverify.logic.scheduler_equivalence import Pattern, first_difference
from paramverify.logic.schedulers import Cut, no_cut
from paramverify.logic.semantics import Semantics, Truth, conjuncts
from paramverify.models.chains.markov_chains import Value
from paramverify.verdicts import Holds, Unknown, Violated


@dataclass(frozen=True)
class Shape:
    """X^steps (a U[...] b), or with `negated` the negation; `grows` if k stands in the upper bound alone."""

    steps: int
    until: Until
    negated: bool
    grows: bool


def shape_of(path: Formula, variable: str) -> Shape | None:
    """Reads a path formula with k in the bounds of one operator, whose parts do not mention k."""
    steps, negated = 0, False
    while isinstance(path, (Next, Not)):
        steps, negated = steps + isinstance(path, Next), negated is not isinstance(path, Not)
        path = path.inner
    if not isinstance(path, Until) or mentions(path.left, variable) or mentions(path.right, variable):
        return None
    if path.release:
        path = replace(path, left=_opposite(path.left), right=_opposite(path.right), release=False)
        negated = not negated
    grows = path.low.name is None
    if (path.high.name if path.high else None) != variable and (grows or path.high):
        return None
    return Shape(steps, path, negated, grows)


def _opposite(formula: Formula) -> Formula:
    if isinstance(formula, Constant):
        return Constant(not formula.value)
    return formula.inner if isinstance(formula, Not) else Not(formula)


def later(inner: Formula, shape: Shape) -> Formula:
    """Returns the path formula of a shape with another formula in the place of its U."""
    inner = Not(inner) if shape.negated else inner
    for _ in range(shape.steps):
        inner = Next(inner)
    return inner


def staying(shape: Shape, length: int) -> Until:
    """Returns that the left side of U holds for so many steps, which are one at least."""
    return Until(Constant(False), shape.until.left, Index(None, 0), Index(None, length - 1), True)


def mentions(formula: Formula, variable: str | None) -> bool:
    """Tells whether a number of steps in a formula depends on the variable of its family."""
    if isinstance(formula, Until) and variable in (formula.low.name, formula.high and formula.high.name):
        return True
    return any(mentions(part, variable) for part in children(formula))


TAIL_MOST = 120  # the largest K that is tried
SETTLE_MOST = 24
SETTLE_WIDTH = 40  # entries of w that are not zero
UNPROVED = 10  # members that are checked where no argument is found
LATER = 5  # members after one that stays open in which a violation is looked for
MAX_MEMBERS = 10_000


@dataclass(frozen=True)
class Argument:
    """Why it is enough to check the members from first to `last`."""

    last: int
    text: str


def check_property(
    work: LogicSession, found: Property, progress: Callable[[int, int], None] | None = None
) -> FormulaResult:
    """Checks a formula, or every member of a family; a family that is infinite needs an argument."""
    if found.variable is None:
        return work.check(found.formula)
    argument: Argument | None = None
    cuts: list[str] = []
    if found.last is None:
        argument, apart = _argument(work, found, cuts.append)
        last = argument.last if argument else max(found.first + UNPROVED, apart)
    else:
        last = found.last
        if last - found.first >= MAX_MEMBERS:
            raise SizeError(f"a family of more than {MAX_MEMBERS:,} formulas")
    results: list[FormulaResult] = []
    doubt: FormulaResult | None = None
    for k in range(found.first, last + 1):
        result = _member(work, instance(found.formula, {found.variable: k}))
        if progress:
            progress(k - found.first + 1, last - found.first + 1)
        match result.verdict:
            case Violated(example):
                return replace(result, verdict=Violated(replace(example, index=k)))
            case Unknown(end, reason):
                doubt = doubt or replace(result, verdict=Unknown(end, f"{found.variable} = {k}: {reason}"))
                last = min(last, k + LATER)
        results.append(result)
        if k >= last:
            break
    if doubt is not None:
        return doubt
    claims = tuple({c.text(): (c, d) for r in results for c, d in r.claims}.values())
    merged = FormulaResult(
        Holds(tuple(decision for _, decision in claims)),
        claims,
        sum(r.comparisons for r in results),
        tuple(dict.fromkeys(m for r in results for m in r.methods)),
        complete=all(r.complete for r in results),
    )
    if found.last is not None:
        return merged
    if argument is not None:
        told = f"larger {found.variable}: {argument.text}"
        return replace(merged, argument=told, last=argument.last, complete=False)
    reason = f"holds for {found.variable} = {found.first}..{last}, and no argument was found for larger ones"
    reason = "; ".join((reason, *dict.fromkeys(cuts)))
    return replace(merged, verdict=Unknown(End.GAVE_UP, reason))


def _member(work: LogicSession, formula: Formula) -> FormulaResult:
    """Checks one member; on decision processes first by the sufficient condition, which is cheap for all
    k."""
    if work.chain.is_decision_process and work.method == SchedulerChoice.AUTO:
        result = replace(work, method=SchedulerChoice.SUFFICIENT).check(formula)
        if not isinstance(result.verdict, Unknown):
            return result
    return work.check(formula)


def _argument(work: LogicSession, found: Property, cut: Cut) -> tuple[Argument | None, int]:
    """Returns an argument for all conjuncts, if there is one for each, and a k at which a pair differs."""
    arguments: list[Argument | None] = []
    apart = found.first
    for part in conjuncts(found.formula):
        if not mentions(part, found.variable):
            continue
        own: Argument | None = None
        if isinstance(part, Private):
            own, differs = equality(work, part, found, cut)
            apart = max(apart, differs)
            if own is None and not work.chain.domain.ring.parameters:
                own = _tail(work, part, found) or _settling(work, part, found)
        if own is None and isinstance(part, (Private, Probability)):
            own = _bounds(work, part, found)
        arguments.append(own)
    known = [argument for argument in arguments if argument is not None]
    if len(known) < len(arguments):
        return None, apart
    return max(known, key=lambda a: a.last, default=None), apart


def equality(
    work: LogicSession, formula: Private, found: Property, cut: Cut = no_cut
) -> tuple[Argument | None, int]:
    """Looks for pairs that have the same probability for every k; else the least k at which one differs.

    `cut` is told why it is not known.
    """
    assert found.variable is not None
    shape = shape_of(formula.path, found.variable)
    chain, relation = work.chain, work.case.relation
    nothing = None, found.first
    if shape is None or work.method == SchedulerChoice.SUFFICIENT:
        return nothing
    until, offset = shape.until, shape.until.low.offset
    if not (is_state(until.left) and is_state(until.right)):
        return nothing
    nested = any(isinstance(p, (Private, Probability)) for p in (*parts(until.left), *parts(until.right)))
    if nested and chain.domain.ring.parameters:
        return nothing
    semantics = Semantics(chain, relation, ExactJudge(chain))
    pairs = {(min(s, t), max(s, t)) for s in chain.initial for t in relation[s]}
    try:
        left, right = (
            frozenset(state for state, true in enumerate(semantics.engine().leaf(part)) if true)
            for part in (until.left, until.right)
        )
        more = None if until.high is None else until.high.offset - offset
        pattern = Pattern(shape.steps, offset, more, left, right, grows=shape.grows)
        first = max(found.first, -offset)
        differ = [first_difference(chain, pattern, pair, first) for pair in sorted(pairs)]
    except (SizeError, UndeterminedError, UnsupportedError) as error:
        cut(f"equality for every {found.variable} was not decided: {error}")
        return nothing
    apart = [k for k in differ if k is not None]
    if apart:
        return None, min(apart)
    under = " under every sequence of actions" if chain.is_decision_process else ""
    text = f"both states of every pair have the same probability{under}, for every {found.variable}"
    return Argument(found.first, text), found.first


def _tail(work: LogicSession, formula: Private, found: Property) -> Argument | None:
    assert found.variable is not None
    shape = shape_of(formula.path, found.variable)
    chain = work.chain
    semantics = Semantics(chain, work.case.relation, ExactJudge(chain))
    delta = semantics.number(formula.delta)
    if shape is None or shape.negated or shape.grows or not chain.numeric:
        return None
    if not (is_constant(delta.numerator) and is_constant(delta.denominator)):
        return None
    bound = rational(constant_value(delta.numerator) / constant_value(delta.denominator))
    if bound <= 0:
        return None
    until = shape.until
    starts = {*chain.initial, *(t for s in chain.initial for t in work.case.relation[s])}
    engine = semantics.engine()
    for last in _growing(found.first):
        length = last + until.low.offset
        if length < 1:
            continue
        try:
            upper = _extremes(engine, later(staying(shape, length), shape), sorted(starts)).upper
        except (SizeError, UndeterminedError, UnsupportedError):
            return None
        largest = max(upper.values())
        if largest <= bound:
            text = (
                f"from {found.variable} = {last} on, {until.left} holds for this many steps with "
                "probability at most "
                f"{at_most(Fraction(str(largest)))} <= delta under every scheduler, and that falls with "
                f"{found.variable}"
            )
            return Argument(last, text)
    return None


def _growing(first: int) -> Iterator[int]:
    yield from range(first, first + 30)
    yield from range(first + 30, first + TAIL_MOST, 10)


def _extremes(engine: PathEngine, path: Formula, starts: Sequence[int]) -> PathProbabilities:
    """Returns the largest and smallest probability over all schedulers, without parameters."""
    return engine.extremes(*engine.compile(path), starts, Method.EXTREMES)


def _bounds(work: LogicSession, formula: Private | Probability, found: Property) -> Argument | None:
    """Looks for a K from which on the bounds of all later probabilities satisfy the formula."""
    assert found.variable is not None
    shape = shape_of(formula.path, found.variable)
    chain = work.chain
    if shape is None or not chain.numeric or chain.domain.ring.parameters:
        return None
    if isinstance(formula, Private) and not (shape.grows or shape.negated):
        return None  # `_tail` is about these
    semantics = Semantics(chain, work.case.relation, ExactJudge(chain))
    starts = sorted({*chain.initial, *(t for s in chain.initial for t in work.case.relation[s])})
    engine, falls = semantics.engine(), shape.grows is shape.negated

    def satisfied(upper: Mapping[int, Value], lower: Mapping[int, Value]) -> bool:
        between = PathProbabilities(dict(upper), dict(lower), Method.EXTREMES)
        found = semantics.of(formula, chain.initial, between)
        return all(semantics.judge.judge(comparison) is Truth.YES for comparison in found)

    try:
        upper = lower = dict.fromkeys(starts, chain.one if shape.negated else chain.zero)
        if shape.grows:
            limit = _extremes(engine, later(replace(shape.until, high=None), shape), starts)
            upper, lower = limit.upper, limit.lower
        if not satisfied(upper, lower):
            return None
        for last in _doubling(found.first):
            if shape.grows:
                path = instance(formula.path, {found.variable: last})
            elif (length := last + shape.until.low.offset) < 1:
                continue
            else:
                path = later(staying(shape, length), shape)
            member = _extremes(engine, path, starts)
            if satisfied(member.upper, lower) if falls else satisfied(upper, member.lower):
                text = (
                    f"from {found.variable} = {last} on the probabilities lie between those for "
                    f"{found.variable} = {last} and their limits, and all numbers between satisfy the formula"
                )
                return Argument(last, text)
    except (SizeError, UndeterminedError, UnsupportedError):
        pass
    return None


def _doubling(first: int) -> Iterator[int]:
    """Yields some numbers from the first on: each member up to the one that is enough is checked as well."""
    yield from (first, first + 1)
    more = 2
    while more <= TAIL_MOST:
        yield from (first + more, first + more + more // 2)
        more *= 2


def _settling(work: LogicSession, formula: Private, found: Property) -> Argument | None:
    """Looks for a K at which the vectors of a family settle, on a Markov chain of numbers."""
    assert found.variable is not None
    shape = shape_of(formula.path, found.variable)
    chain = work.chain
    if shape is None or chain.is_decision_process or not chain.numeric:
        return None
    until = shape.until
    if not (is_state(until.left) and is_state(until.right)):
        return None
    semantics = Semantics(chain, work.case.relation, ExactJudge(chain))
    delta = semantics.number(formula.delta)
    states = range(len(chain.states))
    engine = semantics.engine()
    before = until.low.offset
    more = None if until.high is None else until.high.offset - before
    first = max(found.first, -(more or 0)) if shape.grows else found.first
    fixed: list[list[Value]] = []  # at which the formula holds
    try:
        left, right = (
            [found is Truth.YES for found in semantics.truth(part, states).values()]
            for part in (until.left, until.right)
        )
        more = first + more if shape.grows and more is not None else more
        high = None if more is None else Index(None, more)
        start = engine.exact(chain, *engine.compile(replace(until, low=Index(None, 0), high=high)), states)
        if shape.grows:
            limit = replace(until, high=None)
            if isinstance(work.check(replace(formula, path=later(limit, shape))).verdict, Holds):
                end = engine.exact(chain, *engine.compile(replace(limit, low=Index(None, 0))), states)
                fixed.append([end[s] for s in states])
        elif shape.negated or delta.numerator:
            fixed.append([chain.zero for _ in states])
    except (SizeError, UndeterminedError, UnsupportedError):
        return None
    vector: list[Value] = [start[s] for s in states]
    onward = [a and not b for a, b in zip(left, right, strict=True)] if shape.grows else left
    for _ in range(0 if shape.grows else found.first + before):
        vector = _step(work, left, vector)
    extra = shape.grows or shape.negated or bool(delta.numerator)
    seen = [_whole(end, extra) for end in fixed]
    for last in range(first, first + SETTLE_MOST):
        if sum(map(bool, vector)) > SETTLE_WIDTH:
            return None
        seen.append(_whole(vector, extra))
        vector = _step(work, onward, vector)
        if shape.grows:
            vector = [chain.one if b else value for b, value in zip(right, vector, strict=True)]
        if not any(map(bool, vector)) or combination(_whole(vector, extra), seen) is not None:
            name = found.variable
            return Argument(
                last, f"the vector of probabilities for {name} = {last + 1} is a combination of earlier ones"
            )
    return None


def _step(work: LogicSession, left: list[bool], vector: list[Value]) -> list[Value]:
    chain = work.chain
    moved: list[Value] = []
    for state, rows in enumerate(chain.rows):
        total = chain.zero
        if left[state]:
            for successor, weight in rows[0]:
                total = total + weight * vector[successor]
        moved.append(total)
    return moved


def _whole(vector: list[Value], extra: bool) -> tuple[int, ...]:
    """Returns the vector as whole numbers up to a positive factor, with an entry one added if asked for."""
    scale = lcm(*(int(v.q) for v in vector))
    numbers = [int((v * scale).p) for v in vector]
    return whole([*numbers, scale] if extra else numbers)
