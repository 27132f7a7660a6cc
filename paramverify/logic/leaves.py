"""Where formulas about labels and variables hold: one byte for each state, for all states at once."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from paramverify.algebra.expressions import evaluate, unknown_name
from paramverify.errors import InputError
from paramverify.logic.comparisons import unknown_label
from paramverify.logic.syntax import (
    Constant,
    Formula,
    Junction,
    Junctor,
    Label,
    Not,
    StateCondition,
    is_state,
    parts,
)
from paramverify.models.chains.chain import Chain
from paramverify.models.chains.flat import States

_TURNED = bytes((1, *bytes(255)))  # 0 becomes 1, and the rest 0


def check_labels(formula: Formula, chain: Chain) -> None:
    """Refuses labels and variables that the model does not have, wherever they stand.

    Raises:
        InputError: with the nearest known name.
    """
    for part in parts(formula):
        if isinstance(part, Label) and part.name not in chain.labels:
            raise unknown_label(part.name, chain)
        if isinstance(part, StateCondition) and part.text not in chain.conditions:
            for name, node in part.expression.names().items():
                if name not in chain.variables:
                    raise unknown_name(part.expression, node, name, chain.variables)
    if not is_state(formula):
        raise InputError("a path formula cannot be checked alone")


def marks(formula: Formula, chain: Chain) -> bytes | None:
    """Returns 1 for each state where a formula holds, else 0; None where the formula has P or D in it."""
    size = len(chain.states)
    if isinstance(formula, Constant):
        return bytes((formula.value,)) * size
    if isinstance(formula, Label):
        if formula.name not in chain.labels:
            raise unknown_label(formula.name, chain)
        return _of_states(chain.labels[formula.name], size)
    if isinstance(formula, StateCondition):
        if formula.text in chain.conditions:
            return _of_states(chain.conditions[formula.text], size)
        return _of_condition(formula, chain)
    if isinstance(formula, Not):
        inner = marks(formula.inner, chain)
        return None if inner is None else inner.translate(_TURNED)
    if not isinstance(formula, Junction):
        return None
    parts = [marks(part, chain) for part in formula.parts]
    known = [int.from_bytes(part, "big") for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    total = known[0]
    for part in known[1:]:
        total = total & part if formula.operator is Junctor.AND else total | part
    return total.to_bytes(size, "big")


def condition_at(formula: StateCondition, chain: Chain, state: int) -> bool:
    """Tells whether a condition on variables holds in a state; false where the state lacks one of them."""
    if formula.text in chain.conditions:
        return state in chain.conditions[formula.text]
    return _holds(formula, tuple(column[state] for column in _columns(formula, chain)))


def _of_states(states: object, size: int) -> bytes:
    if isinstance(states, States):
        return states.marks
    found = bytearray(size)
    assert isinstance(states, (set, frozenset))
    for state in states:
        found[state] = 1
    return bytes(found)


def _of_condition(formula: StateCondition, chain: Chain) -> bytes:
    """Evaluates a condition once for each combination of values that its variables have somewhere."""
    columns = _columns(formula, chain)
    if not columns:
        return bytes((_holds(formula, ()),)) * len(chain.states)
    known: dict[tuple[int | None, ...], bool] = {}
    found = bytearray()
    for values in zip(*columns, strict=True):
        holds = known.get(values)
        if holds is None:
            holds = known[values] = _holds(formula, values)
        found.append(holds)
    return bytes(found)


def _columns(formula: StateCondition, chain: Chain) -> list[Sequence[int | None]]:
    for name, node in formula.expression.names().items():
        if name not in chain.variables:
            raise unknown_name(formula.expression, node, name, chain.variables)
    return [chain.variables[name] for name in formula.expression.names()]


def _holds(formula: StateCondition, values: Sequence[int | None]) -> bool:
    known = {n: Fraction(v) for n, v in zip(formula.expression.names(), values, strict=True) if v is not None}
    return len(known) == len(values) and bool(evaluate(formula.expression, known))
