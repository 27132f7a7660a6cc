"""Labels and numbers in conditions: what is misspelt is never equal, so such a comparison is a mistake."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from paramverify.algebra.expressions import Expression, Name, Node, Operation, RationalConstant, Text, Value
from paramverify.models.names import as_value, nearest


def check_labels(expression: Expression, values: Mapping[str, Collection[Value]]) -> None:
    """Checks that labels are compared only with variables that may take them, and numbers only with variables
    that may be numbers: what is misspelt is never equal.

    Raises:
        ExpressionError: a comparison that no value of the variable can make true.
    """
    for node in expression.nodes():
        if isinstance(node, Operation) and node.operator in ("==", "!="):
            for one, other in (node.arguments, node.arguments[::-1]):
                _check_equal(expression, one, other, values)


def _check_equal(
    expression: Expression, one: Node, other: Node, values: Mapping[str, Collection[Value]]
) -> None:
    if isinstance(one, Text) and isinstance(other, (RationalConstant, Operation)):
        raise expression.error(f"a number is never the label {one.value!r}", one)
    if not isinstance(other, Name) or other.name not in values:
        return
    known = values[other.name]
    numbers = [v for v in known if not isinstance(v, str)]
    if isinstance(one, Text) and one.value not in known:
        number = as_value(one.value) in numbers
        hint = f"; write {one.value} without quotes" if number else nearest(one.value, known)
        raise expression.error(f"{other.name} is never {one.value!r}{hint}", one)
    if isinstance(one, Name) and one.name not in values and one.name in known:
        raise expression.error(f"a label has quotes: '{one.name}'", one)
    if isinstance(one, (RationalConstant, Operation)) and not numbers:
        raise expression.error(f"{other.name} is never a number{nearest('', known)}", one)
    only_numbers = isinstance(one, Name) and not any(isinstance(v, str) for v in values.get(one.name, ("",)))
    if isinstance(one, Name) and only_numbers and not numbers:
        raise expression.error(f"{one.name} is a number and {other.name} is a label", one)
