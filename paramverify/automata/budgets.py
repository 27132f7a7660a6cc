"""The budget of a case about streams: multiple·ε + plus, for every ε > 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from paramverify.algebra.budgets import Budget as Sum
from paramverify.algebra.budgets import read_epsilon
from paramverify.errors import ExpressionError, InputError
from paramverify.tables import as_expression


@dataclass(frozen=True)
class StreamBudget:
    """`multiple`·ε + `plus`, where both are 0 or more.

    If W·ε is the least budget for each ε, then this one is enough for every ε iff W ≤ multiple: for
    ε > plus/(W − multiple) it is less than W·ε.
    """

    multiple: Fraction
    plus: Fraction = Fraction(0)

    def text(self, name: str) -> str:
        """Returns the budget as an expression of a case file, where ε is called `name`."""
        return f"{self.multiple} * {name}{f' + {self.plus}' if self.plus else ''}"


def read_budget(value: object, parameter: str, constants: Mapping[str, Fraction]) -> StreamBudget:
    """Reads a budget that is linear in the parameter by value: `eps/2 + eps/4`, `c * eps`, `eps + 1`.

    `constants` are the parameters that are numbers.

    Raises:
        InputError: the value is no expression; it is not linear; or it is negative for some ε.
    """
    what = f"a multiple of {parameter} is needed, such as 5/4 * {parameter}, or with a number added to it"
    try:
        expression = as_expression(value, constants)
    except ExpressionError as error:
        power = error.mend and "^" in error.text
        if power and not _is_budget(error.text.replace("^", "**"), parameter, constants):
            error.retell(what)  # the mend is no budget
        raise
    try:
        found = read_epsilon(expression, {parameter})
    except ExpressionError as error:
        error.retell(what)
        raise
    if found.logarithms:
        raise ExpressionError(what, expression.text, 0)
    budget = _linear(found)
    if budget.multiple < 0 or budget.plus < 0:
        raise ExpressionError(f"a budget is 0 or more for every {parameter} > 0", expression.text, 0)
    return budget


def _is_budget(text: str, parameter: str, constants: Mapping[str, Fraction]) -> bool:
    """Tells whether a text is a budget."""
    try:
        read_budget(text, parameter, constants)
    except InputError:
        return False
    return True


def _linear(found: Sum) -> StreamBudget:
    return StreamBudget(sum((factor for _, factor in found.multiples), Fraction(0)), found.rational)
