"""Expressions whose names all have values, evaluated exactly."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping
from fractions import Fraction
from math import ceil, floor

from paramverify.algebra.arrays import INDICES, without_entries
from paramverify.algebra.trees import Expression, Name, Node, Operation, RationalConstant, Text, Value
from paramverify.errors import ExpressionError
from paramverify.spelling import nearest

MAX_BITS = 100_000  # size of a number that evaluation may create
LISTED = 20  # known names that a message has

_ORDER: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def evaluate(expression: Expression, values: Mapping[str, Value] | None = None) -> Value:
    """Evaluates an expression exactly where every name has a value.

    Comparisons and connectives give booleans, which count as 0 and 1 in arithmetic. `exp` and `ln` have
    no rational value and are refused here.

    Raises:
        ExpressionError: an unknown name, a label in arithmetic, a division by zero, `exp` or `ln`.
    """
    try:
        return _Evaluation(expression, values or {}).value(expression.root)
    except RecursionError:
        raise ExpressionError("nested too deeply", expression.text, 0) from None


class _Evaluation:
    """Evaluates the nodes of one expression."""

    def __init__(self, expression: Expression, known: Mapping[str, Value]) -> None:
        self.expression = expression
        self.known = known

    def value(self, node: Node) -> Value:
        if isinstance(node, (RationalConstant, Text)):
            return node.value
        if isinstance(node, Name):
            if node.name not in self.known:
                raise unknown_name(self.expression, node, node.name, self.known)
            return self.known[node.name]
        found = self.truth(node)
        return self.arithmetic(node) if found is None else found

    def number(self, node: Node) -> Fraction:
        value = self.value(node)
        if isinstance(value, str):
            raise self.expression.error(f"the label {value!r} is not a number", node)
        return Fraction(value)

    def truth(self, node: Operation) -> bool | None:
        """Returns whether a comparison, or what a connective joins, is true; None of arithmetic."""
        op, args = node.operator, node.arguments
        if op in _ORDER:
            return _ORDER[op](self.number(args[0]), self.number(args[1]))
        if op in ("==", "!="):
            return (self.value(args[0]) == self.value(args[1])) == (op == "==")
        if op == "and":
            return all(self.number(a) != 0 for a in args)
        if op == "or":
            return any(self.number(a) != 0 for a in args)
        if op == "not":
            return self.number(args[0]) == 0
        return None

    def arithmetic(self, node: Operation) -> Fraction:
        op, args = node.operator, node.arguments
        if op == "+":
            total = Fraction(0)
            for argument in args:
                total = self.bounded(node, total + self.number(argument))
            return total
        if op == "*":
            result = Fraction(1)
            for argument in args:
                result = self.bounded(node, result * self.number(argument))
            return result
        if op == "neg":
            return -self.number(args[0])
        if op == "/":
            return self.quotient(node, args[0], args[1])
        if op == "**":
            return self.power(node, self.number(args[0]), int(self.number(args[1])))
        if op in ("min", "max"):
            return (min if op == "min" else max)(self.number(a) for a in args)
        if op == "abs":
            return abs(self.number(args[0]))
        if op in ("floor", "ceil"):
            return Fraction((floor if op == "floor" else ceil)(self.number(args[0])))
        if op == "mod":
            return self.remainder(args[0], args[1])
        if op == "if":
            return self.number(args[1] if self.number(args[0]) else args[2])
        raise self.expression.error(f"{op} is not allowed here: its value is not rational", node)

    def quotient(self, node: Operation, dividend: Node, divisor: Node) -> Fraction:
        by = self.number(divisor)
        if by == 0:
            raise self.expression.error("division by zero", divisor)
        return self.bounded(node, self.number(dividend) / by)

    def remainder(self, dividend: Node, divisor: Node) -> Fraction:
        number, by = self.number(dividend), self.number(divisor)
        if number.denominator != 1 or by.denominator != 1:
            raise self.expression.error("mod is about whole numbers", dividend)
        if by <= 0:
            raise self.expression.error("mod needs a divisor of 1 or more", divisor)
        return number % by

    def power(self, node: Operation, base: Fraction, exponent: int) -> Fraction:
        if base == 0 and exponent < 0:
            raise self.expression.error("division by zero", node)
        bits = max(abs(base.numerator), base.denominator).bit_length()
        if bits * abs(exponent) > MAX_BITS:
            raise self.expression.error("the value is too large", node)
        return base**exponent

    def bounded(self, node: Node, value: Fraction) -> Fraction:
        if max(abs(value.numerator), value.denominator).bit_length() > MAX_BITS:
            raise self.expression.error("the value is too large", node)
        return value


def unknown_name(expression: Expression, node: Node, name: str, known: Collection[str]) -> ExpressionError:
    """Returns the error for a name that is not known here, with the nearest one that is."""
    listed = without_entries(known)
    near = nearest(name, listed)
    mend = f"did you mean {near!r}?" if near else ""
    if not near:
        shown = ", ".join(sorted(listed)[:LISTED]) + (", ..." if len(listed) > LISTED else "")
        mend = f"known here: {shown}" if known else "no names are known here"
    if name in INDICES and any("[" in other for other in known):
        mend = f"{name} counts the entries of an array: write it in an index, or choose another name"
    error = ExpressionError(f"unknown name {name!r}", expression.text, node.column, mend)
    error.unknown, error.known = name, frozenset(known)
    return error
