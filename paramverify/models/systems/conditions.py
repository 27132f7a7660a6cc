"""Conditions on pairs of states, over the fields of both: `n0 = n0' & abs(n1 - n1') <= 1`."""

from __future__ import annotations

import re
from dataclasses import replace

from paramverify.algebra.expressions import Expression, Name, Node, Operation, parse
from paramverify.errors import ExpressionError
from paramverify.models.chains.relations import PRIME

_MARK = "_"  # stands for the prime while the text is parsed: both have one character
_WORDS = {"&": " and ", "|": " or ", "!": " not ", "=": "==", "'": _MARK}
_SIGNS = re.compile(r"&|\||!(?!=)|(?<![<>!=])=(?![=>])|(?<=\w)'")


def read_condition(text: str) -> Expression:
    """Reads a condition; a name with a prime is a field of the second state.

    The signs of predicates of dpCTL* (`&`, `|`, `!`, `=`) stand for `and`, `or`, `not` and `==`.

    Raises:
        ExpressionError: a mistake, with its place; a field whose name ends with an underscore.
    """
    taken = re.search(r"\w*_(?!\w)", text)
    if taken:
        raise ExpressionError("the name of a field may not end with _ here", text, taken.start())
    plain, columns = _written_out(text)
    try:
        found = parse(plain)
    except ExpressionError as error:
        raise ExpressionError(error.reason, text, columns[min(error.column, len(plain))]) from None
    return Expression(text, _primed(found.root, columns))


def _written_out(text: str) -> tuple[str, list[int]]:
    """Returns the text with words for signs, and for each of its columns and its end the column before."""
    columns: list[int] = []
    plain, end = "", 0
    for sign in _SIGNS.finditer(text):
        columns += range(end, sign.start())
        word = _WORDS[sign.group()]
        columns += [sign.start()] * len(word)
        plain, end = plain + text[end : sign.start()] + word, sign.end()
    return plain + text[end:], [*columns, *range(end, len(text) + 1)]


def _primed(node: Node, columns: list[int]) -> Node:
    """Returns a node with primes for marks, at its column in the text as it was written."""
    if isinstance(node, Name) and node.name.endswith(_MARK):
        node = replace(node, name=node.name[: -len(_MARK)] + PRIME)
    if isinstance(node, Operation):
        node = replace(node, arguments=tuple(_primed(inner, columns) for inner in node.arguments))
    return replace(node, column=columns[node.column])
