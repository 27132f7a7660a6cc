"""Sums taken apart: what an expression adds up, also by way of variables that are sums themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from paramverify.algebra.expressions import Expression, Name, Node, Operation, RationalConstant


@dataclass(frozen=True, eq=False)
class Addend:
    """A number times a part of an expression."""

    times: Fraction
    part: Expression


@dataclass(frozen=True, eq=False)
class Addends:
    """An expression as a constant plus addends; `plain` if it is no sum, and the only addend is all of it."""

    constant: Fraction
    addends: tuple[Addend, ...]
    plain: bool


def addends_of(expression: Expression, sums: Mapping[str, Expression]) -> Addends:
    """Returns what an expression adds up; `sums` are the variables that stand for sums, with these."""
    constant = Fraction(0)
    found: list[Addend] = []
    pending = [Addend(Fraction(1), expression)]
    while pending:
        addend = pending.pop()
        node = addend.part.root
        if isinstance(node, RationalConstant):
            constant += addend.times * node.value
        elif isinstance(node, Name) and node.name in sums:
            pending.append(Addend(addend.times, sums[node.name]))
        elif isinstance(node, Operation) and (parts := _parts(node)):
            more = [Addend(addend.times * t, Expression(addend.part.text, n)) for t, n in parts]
            pending.extend(reversed(more))
        else:
            found.append(addend)
    plain = len(found) == 1 and found[0].part.root is expression.root
    return Addends(constant, tuple(found), plain)


def _parts(node: Operation) -> list[tuple[Fraction, Node]]:
    """Returns numbers and parts whose products an operation adds up; none of one that is no sum."""
    if node.operator == "+":
        return [(Fraction(1), part) for part in node.arguments]
    if node.operator == "neg":
        return [(Fraction(-1), node.arguments[0])]
    numbers = [_number(part) for part in node.arguments]
    if node.operator == "*" and sum(n is None for n in numbers) == 1:
        times = Fraction(1)
        for number in numbers:
            times *= 1 if number is None else number
        return [(times, node.arguments[numbers.index(None)])]
    if node.operator == "/" and numbers[0] is None and numbers[1]:
        return [(1 / numbers[1], node.arguments[0])]
    return []


def _number(node: Node) -> Fraction | None:
    return node.value if isinstance(node, RationalConstant) else None
