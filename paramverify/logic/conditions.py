"""Conditions on states: comparisons of arithmetic over state variables, from the parser's tree to ours."""

from __future__ import annotations

from fractions import Fraction

from paramverify.algebra.expressions import Name, Node, Operation, RationalConstant, exact_decimal
from paramverify.errors import ExpressionError
from paramverify.logic.parser import error, span

ARGUMENTS = {"abs": 1, "floor": 1, "ceil": 1, "mod": 2}


class Conditions:
    """Reads the conditions of one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.in_case = 0  # how many conditions of `? :` this is in

    def comparison(self, found: list[object]) -> Node:
        left, operator, right = found
        word = str(operator).replace("==", "=").replace("=", "==").replace("<==", "<=").replace(">==", ">=")
        word = word.replace("!==", "!=")
        first, second = self.node(left), self.node(right)
        return Operation(word, (first, second), first.column)

    def node(self, tree: object) -> Node:
        """Reads arithmetic over state variables."""
        from lark import Token, Tree

        if isinstance(tree, Token):
            column = tree.start_pos or 0
            if tree.type == "NUMBER":
                try:
                    return RationalConstant(exact_decimal(str(tree)), column)
                except ValueError as reason:
                    raise self.error(tree, str(reason)) from None
            if tree.type in ("TRUE", "FALSE"):
                return RationalConstant(Fraction(tree.type == "TRUE"), column)
            return Name(str(tree), column)
        assert isinstance(tree, Tree)
        kind, found = str(tree.data), tree.children
        column = tree.meta.start_pos
        if kind == "negative":
            return Operation("neg", (self.node(found[1]),), column)
        if kind == "power":
            raise self.error(tree, "powers are not allowed in conditions on states")
        if kind == "call":
            word, *arguments = found
            if str(word) in ("exp", "ln"):
                raise self.error(tree, f"{word} is not allowed in conditions on states")
            count = ARGUMENTS.get(str(word), len(arguments))
            if len(arguments) != count:
                raise self.error(tree, f"{word} has {'one argument' if count == 1 else 'two arguments'}")
            return Operation(str(word), tuple(map(self.node, arguments)), column)
        if kind == "case":
            condition, first, second = found
            self.in_case += 1
            test = self.truth(condition)
            self.in_case -= 1
            return Operation("if", (test, self.node(first), self.node(second)), column)
        assert kind in ("sum", "product")
        result = self.node(found[0])
        for sign, part in zip(found[1::2], found[2::2], strict=True):
            value = self.node(part)
            if str(sign) == "-":
                value = Operation("neg", (value,), value.column)
            result = Operation(
                "/" if str(sign) == "/" else "*" if kind == "product" else "+", (result, value), column
            )
        return result

    def truth(self, tree: object) -> Node:
        """Reads a predicate: comparisons joined by `&`, `|`, `!`; before `?` truth values too."""
        from lark import Token, Tree

        if isinstance(tree, Tree):
            kind, found = str(tree.data), tree.children
            if kind == "group":
                return self.truth(found[0])
            if kind == "label":
                return self.truth(found[0])
            words = {"and_": "and", "or_": "or", "not_": "not"}
            if kind in words:
                return Operation(words[kind], tuple(map(self.truth, found)), tree.meta.start_pos)
            if kind == "condition":
                return self.comparison(found)
            if kind == "truth" and self.in_case:
                return self.comparison([found[0], found[1], found[2]])
            if kind == "implies":
                first, second = map(self.truth, found)
                return Operation("or", (Operation("not", (first,), first.column), second), first.column)
        elif self.in_case and isinstance(tree, Token) and tree.type in ("TRUE", "FALSE", "NAME"):
            return self.node(tree)
        raise self.error(tree, "a comparison of state variables is needed here, such as r = r'")

    def slice(self, tree: object) -> str:
        start, end = span(tree)
        return self.text[start:end]

    def error(self, tree: object, reason: str) -> ExpressionError:
        return error(self.text, span(tree)[0], reason)
