"""What bare names in formulas stand for: labels, and in PRISM files truth values too ([Kwiatkowska11]).

In PRISM a name in quotes is a label, and a bare one is a variable, a formula or a constant. Here a bare name
may be a label as well. Where it may be both, and the two are not true in the same states, it is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import replace
from fractions import Fraction

from paramverify.algebra.expressions import Expression, Name, Operation, RationalConstant
from paramverify.errors import CaseError
from paramverify.logic.syntax import (
    Formula,
    Junction,
    Label,
    Next,
    Not,
    Private,
    Probability,
    ProbabilityQuestion,
    Property,
    StateCondition,
    Until,
    parts,
)
from paramverify.models.chains.chain import Chain


def conditions(found: Iterable[Formula]) -> dict[str, frozenset[str]]:
    """Returns the bare names and the conditions on states in formulas, each with the names in it."""
    result: dict[str, frozenset[str]] = {}
    for formula in found:
        for part in parts(formula):
            if isinstance(part, Label) and not part.quoted:
                result[part.name] = frozenset({part.name})
            elif isinstance(part, StateCondition):
                result[part.text] = frozenset(part.expression.names())
    return result


def resolved_property(found: Property, chain: Chain) -> Property:
    """Returns a property in which bare names of truth values are conditions on states.

    Raises:
        CaseError: a name that is a label and a truth value, or a variable with whole numbers.
    """
    return replace(found, formula=resolved(found.formula, chain))


def resolved_question(found: ProbabilityQuestion, chain: Chain) -> ProbabilityQuestion:
    """Returns a question in which bare names of truth values are conditions on states.

    Raises:
        CaseError: as `resolved_property` says.
    """
    return replace(found, path=resolved(found.path, chain))


def resolved(formula: Formula, chain: Chain) -> Formula:
    """Returns a formula in which bare names of truth values are conditions on states.

    On a Markov chain `Pmin` and `Pmax` are P.
    """
    if isinstance(formula, Label):
        return _label(formula, chain)
    if isinstance(formula, Not):
        inner = resolved(formula.inner, chain)
        if formula.written and isinstance(inner, Probability) and not chain.is_decision_process:
            return replace(inner, comparison=inner.comparison.opposite)
        return replace(formula, inner=inner)
    if isinstance(formula, Next):
        return replace(formula, inner=resolved(formula.inner, chain))
    if isinstance(formula, Junction):
        return replace(formula, parts=tuple(resolved(part, chain) for part in formula.parts))
    if isinstance(formula, Until):
        left, right = resolved(formula.left, chain), resolved(formula.right, chain)
        return replace(formula, left=left, right=right)
    if isinstance(formula, (Probability, Private)):
        return replace(formula, path=resolved(formula.path, chain))
    return formula


def _label(label: Label, chain: Chain) -> Formula:
    name = label.name
    if label.quoted:
        return label
    if name in chain.conditions:
        where: Set[int] = chain.conditions[name]
    elif name in chain.truths:
        where = {state for state, value in enumerate(chain.variables[name]) if value}
    elif name in chain.variables and name not in chain.labels:
        raise CaseError(f"{name} is a variable with whole numbers", mend=f"compare it, as in {name} = 1")
    else:
        return label
    if name in chain.labels and where != chain.labels[name]:
        raise CaseError(
            f"{name} is a label, and a formula or variable that is true in other states",
            mend=f'write "{name}" for the label, or give one of them another name',
        )
    one = RationalConstant(Fraction(1), label.column)
    test = Operation("==", (Name(name, label.column), one), label.column)
    return StateCondition(name, Expression(name, test))
