"""Unwinding families that a case file gives: relations by conditions on the fields of two states.

The family is never trusted. Its relations are taken as they are written, closed reflexively and
symmetrically, which loses nothing: the lifting is monotone and symmetric, and it relates equal distributions
by the identity. Then the published checks decide (`unwinding`). Relations need not grow with their index. For
evidence they are made to: if rel is a family, so is rel'[i] = rel[0] ∪ ... ∪ rel[i], because the lifting is
monotone.

One family serves all states s and data points d of the paper's Rels[s][d]: the unions over s and d of
families with the same δ and t, level by level, are a family too, and cover what each of them covers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paramverify.algebra.polynomials import RationalFunction
from paramverify.errors import CaseError, located
from paramverify.interactive.bounds import WeightJudge, plain, power
from paramverify.interactive.closure import Closures
from paramverify.interactive.unwinding import (
    Failure,
    Pair,
    is_all_covered,
    is_unwinding_family,
)
from paramverify.models.chains.relations import where
from paramverify.models.systems.conditions import read_condition
from paramverify.models.systems.system import StateKind, System
from paramverify.models.systems.weights import Weight

MAX_LEVELS = 1_000


@dataclass(frozen=True, eq=False)
class WrittenFamily:
    """A family as the case gives it: e^δ, and rel[0], ..., rel[t] as pairs x < y of terminal states."""

    step: RationalFunction
    relations: tuple[dict[Pair, None], ...]

    @property
    def steps(self) -> int:
        """t, the number of steps."""
        return len(self.relations) - 1


@dataclass(frozen=True, eq=False)
class GivenFamily:
    """A family of the case that the published checks accept, with the least level of each pair."""

    ratio: Weight
    steps: int
    table: dict[Pair, int]

    def levels(self) -> dict[Pair, int]:
        """Returns the least i with the pair in rel[i]."""
        return self.table


def read_relations(conditions: Sequence[str], system: System) -> tuple[dict[Pair, None], ...]:
    """Returns rel[0], ..., rel[t] from one condition for each.

    States that move unseen are in no relation, and neither are states without a field that is asked for.

    Raises:
        ExpressionError, CaseError: a mistake in a condition; no condition, or too many.
    """
    if not 1 <= len(conditions) <= MAX_LEVELS + 1:
        reason = f"a list of 1 to {MAX_LEVELS + 1:,} conditions is needed here, for rel[0], ..., rel[t]"
        raise CaseError(reason, key="rel")
    hidden = {s for s in range(len(system.states)) if system.kind(s) is StateKind.HIDDEN}
    found: dict[str, dict[Pair, None]] = {}
    for level, text in enumerate(conditions):
        if text not in found:
            with located(key=f"rel[{level}]"):
                pairs = {(min(p), max(p)) for p in where(system, read_condition(text)) if not hidden & {*p}}
            found[text] = dict.fromkeys(sorted(pairs))
    return tuple(found[text] for text in conditions)


def examine(
    closures: Closures, given: WrittenFamily, judge: WeightJudge, bound: Weight
) -> GivenFamily | Failure:
    """Returns the family if it is an unwinding family that covers all insertions within the bound.

    Otherwise the first failure: the pair, the level and the action, or the insertion that is not covered.
    """
    step, one = plain(given.step), closures.system.weights.one

    def within(left: Weight, right: Weight) -> bool:
        return judge.at_most(left, right, step) and judge.at_most(right, left, step)

    failure = is_unwinding_family(closures, given.relations, within)
    failure = failure or is_all_covered(closures, given.relations[-1])
    if failure:
        return failure
    if not (judge.at_most(one, step) and judge.at_most(power(step, given.steps), one, bound)):
        return Failure("its steps together are not shown to be within the bound", given.steps, None)
    table: dict[Pair, int] = {}
    for level, relation in enumerate(given.relations):
        for pair in relation:
            table.setdefault(pair, level)
    return GivenFamily(step, given.steps, table)
