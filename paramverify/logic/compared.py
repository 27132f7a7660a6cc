"""The pairs of probabilities that the D formulas of a property compare, for their least budgets.

Where Prop. 2 of [L] would compare the largest probability of one state with the smallest of another, equality
under every query scheduler is tried first ([Tzeng92]): two equal probabilities need no budget at all.
"""

from __future__ import annotations

from collections.abc import Iterator

from paramverify.algebra.polynomials import RationalFunction
from paramverify.claims import Origin
from paramverify.errors import InputError, LimitError, SizeError, UndeterminedError, UnsupportedError
from paramverify.logic.comparisons import Method, SchedulerChoice
from paramverify.logic.equivalence import WeightedAutomaton
from paramverify.logic.families import equality
from paramverify.logic.family_shapes import mentions
from paramverify.logic.judges import ClaimJudge, ExactJudge
from paramverify.logic.quotients import Pair
from paramverify.logic.semantics import Semantics, conjuncts
from paramverify.logic.syntax import Formula, Private, Property, instance
from paramverify.logic.verification import LogicSession
from paramverify.models.chains.chain import Value
from paramverify.models.context import Checks

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
