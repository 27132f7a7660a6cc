"""Formulas that PRISM reads with other brackets: they are refused, and both readings are shown.

PRISM lets X, F, G and U take as much as they can ([Kwiatkowska11]): `F a & b` is `F (a & b)` there, as in
Storm, and `a & b U c` is `(a & b) U c`. Here they bind more strongly than `&`, `|`, `=>` and `<=>`. PRISM
also lets `<=>` bind more strongly than `=>`. With brackets a formula has one reading.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from paramverify.errors import ExpressionError
from paramverify.logic.parser import error, span

if TYPE_CHECKING:
    from lark import Token, Tree

JOINING = frozenset({"and_", "or_", "implies", "iff", "choice"})
UNARY = frozenset({"next_", "eventually"})


def check_brackets(text: str, tree: object) -> None:
    """Refuses a formula that PRISM reads otherwise.

    Raises:
        ExpressionError: with both readings, in brackets.
    """
    from lark import Tree

    for node in _trees(tree):
        if str(node.data) not in JOINING:
            continue
        for place, part in enumerate(node.children):
            last = place == len(node.children) - 1
            closed = last or (str(node.data) == "choice" and place == 1)  # a colon ends it
            taking = None if closed else _open_right(part)
            if taking is None and place > 0:
                taking = _open_left(part)
                if taking is not None:
                    raise _two_readings(text, node, taking, (span(node)[0], span(taking.children[0])[1]))
            elif taking is not None:
                raise _two_readings(text, node, taking, (span(taking.children[-1])[0], span(node)[1]))
            if str(node.data) == "iff" and isinstance(part, Tree) and str(part.data) == "implies":
                start = span(node)[0] if place else span(part.children[-1])[0]
                end = span(part.children[0])[1] if place else span(node)[1]
                raise _two_readings(text, node, part, (start, end))


def _two_readings(
    text: str, node: Tree[Token], part: Tree[Token], theirs: tuple[int, int]
) -> ExpressionError:
    """Returns the error: here a part is read as if it stood in brackets, in PRISM what `theirs` encloses."""
    start, end = span(node)

    def shown(inner: tuple[int, int]) -> str:
        low, high = inner
        return f"{text[start:low]}({text[low:high]}){text[high:end]}"

    place = span(part)[0]
    reason = (
        f"PRISM and paramverify read this in different ways: write {shown(theirs)} or {shown(span(part))}"
    )
    return error(text, place, reason)


def _open_right(tree: object) -> Tree[Token] | None:
    """Returns the operator at the right end of a formula that could take what follows."""
    while True:
        kind = _kind(tree)
        if kind in UNARY or kind == "until":
            return tree  # type: ignore[return-value]
        if kind not in JOINING and kind != "not_":
            return None
        tree = tree.children[-1]  # type: ignore[attr-defined]


def _open_left(tree: object) -> Tree[Token] | None:
    """Returns the U, W or R at the left end of a formula that could take what stands before."""
    while _kind(tree) in JOINING:
        tree = tree.children[0]  # type: ignore[attr-defined]
    return tree if _kind(tree) == "until" else None  # type: ignore[return-value]


def _kind(tree: object) -> str:
    return str(getattr(tree, "data", ""))


def _trees(tree: object) -> Iterator[Tree[Token]]:
    from lark import Tree

    pending = [tree]
    while pending:
        found = pending.pop()
        if isinstance(found, Tree):
            yield found
            pending += found.children
