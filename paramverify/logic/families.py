"""Families of formulas: one for each whole number k, and arguments that settle all large k at once.

For infinitely many k the members up to some K are checked one by one. For the others there is one of these
arguments, or none, and then the answer says up to which k it goes:

- *Tail*: in D{ε, δ}[ X^m (a U[k+c, ...] b) ] a path satisfies the inner formula only if a holds for k+c
  steps. The largest probability g(k) of that over all schedulers falls with k. If g(K) ≤ δ in every state
  that is compared, then Pr(s) ≤ g(k) ≤ g(K) ≤ δ ≤ e^ε·Pr(t) + δ for all k ≥ K.
- *Settling*: on a Markov chain the vector of a U[k+c, k+d] b or a U[k+c, ∞) b is w_k = B^k·w_0 for a fixed
  matrix B ≥ 0 (k steps in a, then a U[c, d] b), and D is linear in it up to δ ≥ 0. If w_{K+1} = Σ λ_i·w_i
  with λ ≥ 0 over members i ≤ K (and Σ λ_i ≤ 1 if δ is not zero), then so is w_{K+2} = Σ λ_i·w_{i+1}, and so
  on: all members follow from those up to K. This is the argument of the cone encoding.
- *Equality*: both states of every pair have the same probability for every k under every query scheduler
  (`equal_families`), also with parameters. If they do not, the first k that tells a pair apart is a member
  that is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm

from paramverify.algebra.cones import combination, whole
from paramverify.algebra.decimals import at_most
from paramverify.algebra.polynomials import constant_value, is_constant, rational
from paramverify.answers import End
from paramverify.errors import SizeError, UndeterminedError, UnsupportedError
from paramverify.logic.comparisons import Choice, Method
from paramverify.logic.equal_families import Pattern, first_difference
from paramverify.logic.judges import ExactJudge
from paramverify.logic.periodic import Cut, no_cut
from paramverify.logic.semantics import Semantics, Truth, conjuncts
from paramverify.logic.syntax import (
    Constant,
    Formula,
    Index,
    Next,
    Private,
    Probability,
    Property,
    Until,
    children,
    instance,
    is_state,
    parts,
)
from paramverify.logic.verification import Result, Work
from paramverify.models.chains.chain import Value
from paramverify.verdicts import Holds, Unknown, Violated

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


def check_property(work: Work, found: Property, progress: Callable[[int, int], None] | None = None) -> Result:
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
    results: list[Result] = []
    doubt: Result | None = None
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
    merged = Result(
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


def _member(work: Work, formula: Formula) -> Result:
    """Checks one member; on decision processes first by the sufficient condition, which is cheap for all
    k."""
    if work.chain.is_decision_process and work.method == Choice.AUTO:
        result = replace(work, method=Choice.SUFFICIENT).check(formula)
        if not isinstance(result.verdict, Unknown):
            return result
    return work.check(formula)


def _argument(work: Work, found: Property, cut: Cut) -> tuple[Argument | None, int]:
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
        arguments.append(own)
    known = [argument for argument in arguments if argument is not None]
    if len(known) < len(arguments):
        return None, apart
    return max(known, key=lambda a: a.last, default=None), apart


def equality(work: Work, formula: Private, found: Property, cut: Cut = no_cut) -> tuple[Argument | None, int]:
    """Looks for pairs that have the same probability for every k; else the least k at which one differs.

    `cut` is told why it is not known.
    """
    assert found.variable is not None
    split = _pattern(formula.path, found.variable)
    chain, relation = work.chain, work.case.relation
    nothing = None, found.first
    if split is None or work.method == Choice.SUFFICIENT:
        return nothing
    steps, until = split
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
        more = None if until.high is None else until.high.offset - until.low.offset
        pattern = Pattern(steps, until.low.offset, more, left, right)
        first = max(found.first, -until.low.offset)
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


def mentions(formula: Formula, variable: str | None) -> bool:
    """Tells whether a number of steps in a formula depends on the variable of its family."""
    if isinstance(formula, Until) and variable in (formula.low.name, formula.high and formula.high.name):
        return True
    return any(mentions(part, variable) for part in children(formula))


def _pattern(path: Formula, variable: str) -> tuple[int, Until] | None:
    """Splits X^m (a U[k+c, ...] b) whose parts do not mention k into m and the inner formula."""
    steps = 0
    while isinstance(path, Next):
        steps, path = steps + 1, path.inner
    if not isinstance(path, Until) or path.release or path.low.name != variable:
        return None
    if mentions(path.left, variable) or mentions(path.right, variable):
        return None
    return steps, path


def _tail(work: Work, formula: Private, found: Property) -> Argument | None:
    assert found.variable is not None
    split = _pattern(formula.path, found.variable)
    chain = work.chain
    semantics = Semantics(chain, work.case.relation, ExactJudge(chain))
    delta = semantics.number(formula.delta)
    if split is None or not (is_constant(delta.numerator) and is_constant(delta.denominator)):
        return None
    bound = rational(constant_value(delta.numerator) / constant_value(delta.denominator))
    if bound <= 0 or not chain.numeric:
        return None
    steps, until = split
    starts = {*chain.initial, *(t for s in chain.initial for t in work.case.relation[s])}
    engine = semantics.engine()
    for last in _growing(found.first):
        length = last + until.low.offset
        if length < 1:
            continue
        stay: Formula = Until(Constant(False), until.left, Index(None, 0), Index(None, length - 1), True)
        for _ in range(steps):
            stay = Next(stay)
        try:
            node, leaves = engine.compile(stay)
            upper = engine.extremes(node, leaves, sorted(starts), Method.EXTREMES).upper
        except (SizeError, UndeterminedError, UnsupportedError):
            return None
        largest = max(upper.values())
        if largest <= bound:
            text = (
                f"from {found.variable} = {last} on, {until.left} holds for so many steps with "
                "probability at most "
                f"{at_most(Fraction(str(largest)))} <= delta under every scheduler, and that falls with "
                f"{found.variable}"
            )
            return Argument(last, text)
    return None


def _growing(first: int) -> Iterator[int]:
    yield from range(first, first + 30)
    yield from range(first + 30, first + TAIL_MOST, 10)


def _settling(work: Work, formula: Private, found: Property) -> Argument | None:
    """Looks for a K at which the vectors of a U[k+c, ...] b settle, on a Markov chain of numbers."""
    assert found.variable is not None
    split = _pattern(formula.path, found.variable)
    chain = work.chain
    if split is None or chain.is_decision_process or not chain.numeric:
        return None
    _, until = split
    if not (is_state(until.left) and is_state(until.right)):
        return None
    high = None if until.high is None else Index(None, until.high.offset - until.low.offset)
    semantics = Semantics(chain, work.case.relation, ExactJudge(chain))
    delta = semantics.number(formula.delta)
    states = range(len(chain.states))
    engine = semantics.engine()
    try:
        found_left = semantics.truth(until.left, states)
        node, leaves = engine.compile(replace(until, low=Index(None, 0), high=high))
        start = engine.exact(chain, node, leaves, states)
    except (SizeError, UndeterminedError, UnsupportedError):
        return None
    left = [found_left[s] is Truth.YES for s in states]
    vector: list[Value] = [start[s] for s in states]
    for _ in range(found.first + until.low.offset):
        vector = _step(work, left, vector)
    seen: list[tuple[int, ...]] = []
    extra = bool(delta.numerator)
    for last in range(found.first, found.first + SETTLE_MOST):
        if sum(map(bool, vector)) > SETTLE_WIDTH:
            return None
        seen.append(_whole(vector, extra))
        vector = _step(work, left, vector)
        columns = [*seen, (*(0 for _ in states), 1)] if extra else seen
        following = _whole(vector, extra)
        if not any(map(bool, vector)) or combination(following, columns) is not None:
            name = found.variable
            return Argument(
                last, f"the vector of probabilities for {name} = {last + 1} is a combination of earlier ones"
            )
    return None


def _step(work: Work, left: list[bool], vector: list[Value]) -> list[Value]:
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
