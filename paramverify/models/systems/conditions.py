"""Conditions on pairs of states, over the fields of both: `n0 = n0' & abs(n1 - n1') <= 1`."""

from __future__ import annotations

import re
from dataclasses import replace

from paramverify.algebra.expressions import Expression, Name, Node, Operation, parse
from paramverify.errors import ExpressionError
from paramverify.models.chains.relations import PRIME

_MARK = "_"  # stands for the prime while the text is parsed: both have one character
_PRIMED = re.compile(r"(?<=\w)'")
_JUNCTORS = ((r"&", " and "), (r"\|", " or "), (r"!(?!=)", " not "), (r"(?<![<>=!])=(?![=>])", "=="))


def read_condition(text: str) -> Expression:
    """Reads a condition; a name with a prime is a field of the second state.

    The signs of predicates of dpCTL* (`&`, `|`, `!`, `=`) stand for `and`, `or`, `not` and `==`.

    Raises:
        ExpressionError: a mistake, with its place; a field whose name ends with an underscore.
    """
    plain = text
    for pattern, word in _JUNCTORS:
        plain = re.sub(pattern, word, plain)
    taken = re.search(r"\w*_(?!\w)", plain)
    if taken:
        raise ExpressionError("the name of a field may not end with _ here", plain, taken.start())
    found = parse(_PRIMED.sub(_MARK, plain))
    return Expression(plain, _primed(found.root))


def _primed(node: Node) -> Node:
    if isinstance(node, Name) and node.name.endswith(_MARK):
        return replace(node, name=node.name[: -len(_MARK)] + PRIME)
    if isinstance(node, Operation):
        return replace(node, arguments=tuple(map(_primed, node.arguments)))
    return node
