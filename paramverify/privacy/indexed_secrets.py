"""Secrets about each entry of an array: `ill = "person[i] == 1"` stands for a secret about each person."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from paramverify.algebra.expressions import Arrays, Index, IndexMistake, bound, entry, in_reach, named_in
from paramverify.errors import CaseError, ExpressionError, located
from paramverify.tables import Table

Pair = tuple[str, str]


def every_index(table: Table, wanted: Sequence[Pair]) -> tuple[dict[str, str], list[Pair]]:
    """Returns the texts of all copies of secrets that have an index, by their names, and the pairs of copies.

    The two secrets of a pair have the same index; a secret without an index is paired with each copy.

    Raises:
        ExpressionError: an index that is none, or one for which there is no entry.
        CaseError: two secrets of a pair with different indices.
    """
    arrays = in_reach()
    copies: dict[str, str] = {}
    places: dict[str, list[Index]] = {}
    for name, text in table.data.items():
        over = _over(text, arrays) if name != "pairs" and arrays.sizes and isinstance(text, str) else None
        if over is None:
            continue
        places[name] = list(arrays.places(over))
        table.told.add(name)  # it is no condition by itself
        for place in places[name]:
            with located(key=name):
                copies[entry(name, place)] = _written(text, Arrays(arrays.sizes, bound(place)))
    pairs: dict[Pair, None] = {}
    for left, right in wanted:
        if left in places and right in places and places[left] != places[right]:
            reason = f"{left} has {len(places[left])} indices and {right} has others: each needs a partner"
            mend = (
                f"name the pairs, such as {entry(left, places[left][0])} and {entry(right, places[right][0])}"
            )
            raise CaseError(reason, key=f"pairs[{wanted.index((left, right))}]", mend=mend)
        for place in places.get(left) or places.get(right) or [()]:
            copy = (entry(n, place) if n in places else n for n in (left, right))
            pairs[next(copy), next(copy)] = None
    return copies, list(pairs)


def base_name(name: str) -> str:
    """Returns the name of the secret of which one is a copy."""
    return name.partition("[")[0]


def _over(text: str, arrays: Arrays) -> str | None:
    """Returns the first array that a secret names with a running index, if any."""
    try:
        found = named_in(ast.parse(_line(text), mode="eval"), arrays.sizes, bare=False)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None  # told where it is read
    return found[0] if found else None


def _line(text: str) -> str:
    return text.strip().replace("\n", " ").replace("\t", " ")


def _written(text: str, arrays: Arrays) -> str:
    """Returns a secret with the numbers of its indices."""
    line = _line(text)
    found = line
    tree = ast.parse(line, mode="eval")
    for node in sorted(_subscripts(tree.body, arrays), key=lambda n: -n.col_offset):
        assert isinstance(node.value, ast.Name)
        try:
            name = entry(node.value.id, arrays.place(node))
        except IndexMistake as mistake:
            raise ExpressionError(mistake.reason, line, mistake.column) from None
        found = found[: node.col_offset] + name + found[node.end_col_offset :]
    return found


def _subscripts(tree: ast.AST, arrays: Arrays) -> Iterator[ast.Subscript]:
    """Yields the entries with a running index, without those inside of functions that run by themselves."""
    if isinstance(tree, ast.Subscript) and named_in(tree, arrays.sizes, bare=False):
        yield tree
    elif named_in(tree, arrays.sizes, bare=False):
        for inner in ast.iter_child_nodes(tree):
            yield from _subscripts(inner, arrays)
