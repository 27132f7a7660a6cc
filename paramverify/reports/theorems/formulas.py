"""Formulas over real numbers as people write them, in the words of Coq: with few brackets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from paramverify.algebra.expressions import (
    Expression,
    Name,
    Node,
    Operation,
    RationalConstant,
    evaluate,
    parse,
)
from paramverify.algebra.polynomials import Polynomial, RationalFunction, key
from paramverify.errors import UnsupportedError

MAX_POWER = 1_000  # Coq counts a power in steps of one

# Levels of Coq: a smaller one binds more tightly.
SUM, PRODUCT, NEGATIVE, POWER, APPLIED, ATOM = 50, 40, 35, 30, 10, 0

RELATIONS = {"<": "<", "<=": "<=", ">": ">", ">=": ">=", "==": "="}


@dataclass(frozen=True)
class Formulas:
    """Formulas over parameters and functions of a case; both `reals` and `functions` are written in Coq."""

    reals: Mapping[str, str]
    functions: Mapping[str, str]

    def lowered(self, tree: Expression, node: Node | None = None) -> Node:
        """Returns a formula with + * / neg, exp, and powers by whole numbers from 0 alone.

        Raises:
            UnsupportedError: it has something else.
        """
        node = tree.root if node is None else node
        if isinstance(node, RationalConstant):
            return node
        if isinstance(node, Name) and (node.name in self.reals or node.name in self.functions):
            return node
        if not isinstance(node, Operation):
            raise UnsupportedError(f"a theorem has no words for {tree.text!r:.60}")
        if node.operator == "**":
            power = evaluate(Expression(tree.text, node.arguments[1]))
            return raised(self.lowered(tree, node.arguments[0]), Fraction(power))
        if node.operator not in ("+", "*", "/", "neg", "exp"):
            raise UnsupportedError(f"a theorem has no words for {tree.text!r:.60}")
        return Operation(node.operator, tuple(self.lowered(tree, a) for a in node.arguments), node.column)

    def function(self, given: RationalFunction) -> Node:
        """Returns a function in lowest terms as a formula."""
        top, bottom = self.polynomial(given.numerator), self.polynomial(given.denominator)
        one = isinstance(bottom, RationalConstant) and bottom.value == 1
        return top if one else Operation("/", (top, bottom), 0)

    def polynomial(self, polynomial: Polynomial) -> Node:
        """Returns a polynomial as a formula."""
        return self.lowered(parse(key(polynomial).replace("^", "**")))

    def written(self, node: Node, level: int = SUM) -> str:
        """Returns a formula in the words of Coq, in brackets where it does not bind as tightly as `level`."""
        text, own = self._written(node)
        return text if own <= level else f"({text})"

    def _written(self, node: Node) -> tuple[str, int]:
        if isinstance(node, RationalConstant):
            return _number(node.value)
        if isinstance(node, Name):
            name = node.name
            text = self.functions[name] if name in self.functions else self.reals[name]
            return text, APPLIED if " " in text else ATOM
        assert isinstance(node, Operation)  # as `lowered` gives it
        first, *rest = node.arguments
        if node.operator == "+":
            text = self.written(first)
            for part in rest:
                if isinstance(part, Operation) and part.operator == "neg":
                    text += f" - {self.written(part.arguments[0], SUM - 1)}"
                else:
                    text += f" + {self.written(part, NEGATIVE - 1 if _is_negative(part) else SUM - 1)}"
            return text, SUM
        if node.operator == "exp":
            return f"exp ({self.written(first)})", APPLIED
        if node.operator == "neg":
            return f"- {self.written(first, NEGATIVE)}", NEGATIVE
        if node.operator == "**":
            power = rest[0]
            assert isinstance(power, RationalConstant)
            return f"{self.written(first, POWER - 1)} ^ {power.value}", POWER
        parts = [self.written(first, PRODUCT), *(self.written(part, POWER) for part in rest)]
        return f" {node.operator} ".join(parts), PRODUCT


def _is_negative(node: Node) -> bool:
    return isinstance(node, RationalConstant) and node.value < 0


def _number(value: Fraction) -> tuple[str, int]:
    sign = "- " if value < 0 else ""
    if value.denominator == 1:
        return f"{sign}{abs(value.numerator)}", NEGATIVE if sign else ATOM
    return f"{sign}{abs(value.numerator)} / {value.denominator}", PRODUCT


def raised(base: Node, power: Fraction) -> Node:
    """Returns a power; one below zero is one over that above zero.

    Raises:
        UnsupportedError: it is no whole number, or too large.
    """
    if power.denominator != 1 or abs(power) > MAX_POWER:
        raise UnsupportedError(f"a theorem has powers by whole numbers up to {MAX_POWER:,} alone")
    if power < 0:
        return Operation("/", (RationalConstant(Fraction(1), 0), raised(base, -power)), 0)
    return Operation("**", (base, RationalConstant(power, 0)), 0)


def divisors(node: Node) -> Iterator[Node]:
    """Yields what a formula divides by, rational numbers left out, those within others first."""
    if isinstance(node, Operation) and node.operator != "exp":
        for part in node.arguments:
            yield from divisors(part)
        if node.operator == "/" and not _is_rational(node.arguments[1]):
            yield node.arguments[1]


def exponentials(node: Node) -> Iterator[Operation]:
    """Yields the exponentials of a formula."""
    if isinstance(node, Operation):
        if node.operator == "exp":
            yield node
        else:
            for part in node.arguments:
                yield from exponentials(part)


def _is_rational(node: Node) -> bool:
    if isinstance(node, Operation):
        return node.operator != "exp" and all(map(_is_rational, node.arguments))
    return isinstance(node, RationalConstant)


def size_of(node: Node, sizes: Mapping[str, int]) -> int:
    """Returns how many operations, names and numbers a formula has; `sizes` are those of functions."""
    if isinstance(node, Operation):
        return 1 + sum(size_of(part, sizes) for part in node.arguments)
    return sizes.get(node.name, 1) if isinstance(node, Name) else 1
