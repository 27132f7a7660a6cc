"""Arrays in `[prior]`: `count = 200` variables that are alike, each of which may depend on earlier ones."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping

from paramverify.algebra.arrays import INDICES, Arrays, Index, IndexMistake, bound, entry, sizes_of
from paramverify.errors import CaseError
from paramverify.models.names import as_value
from paramverify.models.prior_keys import ALONE, DISTRIBUTION, MAX_COUNT
from paramverify.spelling import nearest
from paramverify.tables import Table

_OWN = ("count", "first", "outside")


def check_array(given: Mapping[str, object], names: Collection[str]) -> None:
    """Checks the size of an array, and that its indices mean nothing else.

    Raises:
        CaseError: a mistake.
    """
    table = Table(given, DISTRIBUTION)
    sizes = sizes_of(table.get("count"))
    if sizes is None:
        raise CaseError("a whole number from 1 on, or a list of two, is needed here", key="count")
    total = 1
    for size in sizes:
        total *= size
    if total > MAX_COUNT:
        raise CaseError(f"an array has at most {MAX_COUNT:,} entries", key="count")
    for index in INDICES[: len(sizes)]:
        if index in names:
            raise CaseError(f"{index} is an index where there are arrays: choose another name for it")
    table.get("outside")
    if "first" in table:
        first = table.table("first")
        if sum(word in first for word in ALONE) != 1 or len(first.data) > 1:
            raise CaseError(f"a distribution is needed here: one of {', '.join(ALONE)}", key="first")


def names_of(name: str, arrays: Arrays) -> list[str]:
    """Returns the names of the entries of an array; none of what is no array."""
    return [entry(name, place) for place in arrays.places(name)] if name in arrays.sizes else []


def entries_of(
    name: str, given: Mapping[str, object], arrays: Arrays
) -> Iterator[tuple[str, dict[str, object]]]:
    """Yields the entries of an array in their order, each with its name and its own table.

    An earlier variable that does not exist has the value `outside`; where none exists, the distribution is
    that of `first`.

    Raises:
        CaseError: an index that is none, or an entry that needs `first` or `outside`.
    """
    plain = {key: value for key, value in given.items() if key not in _OWN}
    parents = plain.get("given", [])
    listed = [parents] if isinstance(parents, str) else parents
    if "like" in plain:
        raise CaseError("an array has its own distribution", key="like")
    for key in ("first", "outside"):
        if key in given and not listed:
            alone = "write what stands here beside count" if key == "first" else "delete this line"
            raise CaseError("this belongs to given", key=key, mend=f"{alone}, or add given")
    for place in arrays.places(name):
        here = Arrays(arrays.sizes, bound(place))
        if not isinstance(listed, list) or not all(isinstance(g, str) for g in listed) or not listed:
            yield entry(name, place), dict(plain)
            continue
        found = [_parent(text, here) for text in listed]
        if None not in found:
            yield entry(name, place), {**plain, "given": found}
        else:
            yield entry(name, place), _at_edge(given, found, entry(name, place))


def _parent(text: str, here: Arrays) -> str | None:
    """Returns the variable that a text of `given` names at an index; None where there is none."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        if isinstance(tree, ast.Name) and tree.id in here.sizes:
            return here.here(tree.id)
        if not isinstance(tree, ast.Subscript) or not isinstance(tree.value, ast.Name):
            return text
        if tree.value.id not in here.sizes:
            raise IndexMistake(f"{tree.value.id} is no array of the prior{_near(tree.value.id, here)}", 0)
        place: Index = here.place(tree)
    except IndexMistake as mistake:
        raise CaseError(f"{text}: {mistake.reason}", key="given") from None
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return text
    return entry(tree.value.id, place) if here.has(tree.value.id, place) else None


def _near(name: str, here: Arrays) -> str:
    near = nearest(name, here.sizes)
    return f"; did you mean {near}?" if near else ""


def _at_edge(given: Mapping[str, object], parents: list[str | None], name: str) -> dict[str, object]:
    """Returns the table of an entry of which some earlier variables do not exist."""
    first, table = given.get("first"), given.get("table")
    if "first" in given and all(parent is None for parent in parents):
        assert isinstance(first, dict)  # it is checked
        return dict(first)
    if "outside" not in given or not isinstance(table, dict):
        mend = "write outside = 0, say: the value that counts where there is none"
        reason = f"{name} depends on a variable that does not exist"
        if all(parent is None for parent in parents):
            mend = 'write first = { bernoulli = "1/2" }, say, or outside = 0'
        raise CaseError(reason, key="given", mend=mend)
    outside = as_value(given["outside"])
    rows: dict[str, object] = {}
    for key, row in table.items():
        parts = [key] if len(parents) == 1 else str(key).split(",")
        if len(parts) != len(parents):
            raise CaseError(
                f"one value for each of {len(parents)} variables is needed in this key", key=f"table.{key}"
            )
        fits = all(as_value(part.strip()) == outside for part, p in zip(parts, parents, strict=True) if not p)
        left = ",".join(part.strip() for part, parent in zip(parts, parents, strict=True) if parent)
        if fits and left in rows:
            raise CaseError("two rows are for the same values", key=f"table.{key}")
        if fits:
            rows[left] = row
    kept = [parent for parent in parents if parent]
    if kept:
        return {"given": kept, "table": rows}
    if not rows:
        raise CaseError(f"the table has no row for {given['outside']}, which outside says", key="table")
    return {"categorical": rows[""]}
