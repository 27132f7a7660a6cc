"""Whole numbers of PRISM files, where Storm takes what PRISM refuses.

In PRISM `/` gives a real number, which no whole-number variable, bound or constant may get; Storm takes 3/2
for 1 or for 3/2, as it stands in the file. PRISM refuses a range without the initial value; Storm keeps some
of its bits. Values out of range that updates give are refused while Storm explores
(`building`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from paramverify.errors import InputError

_REAL_INSIDE = ("FLOOR", "CEIL")
_UNRANGED = re.compile(r":\s*int\b")


def check_whole_numbers(content: Any, text: str) -> None:
    """Refuses a division where a program needs a whole number.

    Raises:
        InputError: with the place and the expression.
    """
    for place, expression in _whole(content, text):
        if expression.has_integer_type() and _divides(expression):
            raise InputError(
                f"{place} is a whole number, and a quotient is none for PRISM: {expression}",
                mend="write floor(...) or ceil(...) around it",
            )


def check_ranges(content: Any, text: str) -> None:
    """Refuses variables whose range does not have their initial value; all constants have values.

    Raises:
        InputError: with the variable, its range and the value.
    """
    for variable in _ranged(content.substitute_constants(), text):
        low, high = map(_number, _bounds(variable))
        first = _number(variable.initial_value_expression)
        if first is not None and ((low is not None and first < low) or (high is not None and first > high)):
            raise InputError(
                f"the initial value {first} of the variable {variable.name!r} is not in its range "
                f"{low}..{high}",
                key=str(variable.name),
            )


def _ranged(content: Any, text: str) -> Iterator[Any]:
    """Yields variables with bounds and an initial value; Storm crashes where a missing one is read."""
    if content.has_initial_states_expression or _UNRANGED.search(text):
        return
    yield from content.global_integer_variables
    for module in content.modules:
        yield from module.integer_variables


def _bounds(variable: Any) -> tuple[Any, Any]:
    return variable.lower_bound_expression, variable.upper_bound_expression


def _number(expression: Any) -> int | None:
    """Returns the value of an expression, None where there is none."""
    if not expression.has_integer_type() or expression.contains_variables():
        return None
    return int(expression.evaluate_as_int())


def _whole(content: Any, text: str) -> Iterator[tuple[str, Any]]:
    """Yields what a program gives to whole-number constants, bounds and variables."""
    for constant in content.constants:
        if constant.defined and str(constant.type) == "int":
            yield f"the constant {constant.name!r}", constant.definition
    for variable in _ranged(content, text):
        for expression in (*_bounds(variable), variable.initial_value_expression):
            yield f"each bound and value of the variable {variable.name!r}", expression
    for module in content.modules:
        for command in module.commands:
            for update in command.updates:
                for assignment in update.assignments:
                    if assignment.variable.has_integer_type():
                        yield f"the variable {assignment.variable.name!r}", assignment.expression


def _divides(expression: Any) -> bool:
    """Tells whether PRISM takes a whole-number expression of Storm's for a real number."""
    pending = [expression]
    while pending:
        found = pending.pop()
        if not found.is_function_application:
            continue
        operator = str(found.operator).removeprefix("OperatorType.")
        if operator == "DIVIDE":
            return True
        if operator not in _REAL_INSIDE:
            first = 1 if operator == "ITE" else 0
            pending.extend(found.get_operand(place) for place in range(first, found.arity))
    return False
