"""Groups of runs with the same shape of values: split where runs part, and joined where they meet."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from paramverify.errors import LimitError
from paramverify.models.programs.columns import Array, Column, Single, joined, shape, taken, told_apart

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_GROUPS = 10_000


class VariableKey(NamedTuple):
    """A variable: of which call, counted from outside, and its name; or the mask of runs that have set it."""

    depth: int
    name: str
    is_mask: bool = False


@dataclass(frozen=True, eq=False)
class Group:
    """Some of the runs, with their variables and what they have told so far."""

    runs: NDArray[np.int64]
    values: Mapping[VariableKey, Column]
    outputs: tuple[Column, ...] = ()

    @property
    def size(self) -> int:
        """How many runs there are."""
        return len(self.runs)

    def taken(self, where: NDArray[np.int64]) -> Group:
        """Returns some of the runs, by their places in the group."""
        if len(where) == self.size:
            return self
        values = {key: taken(column, where) for key, column in self.values.items()}
        return Group(self.runs[where], values, tuple(taken(c, where) for c in self.outputs))

    def with_value(self, key: VariableKey, column: Column) -> Group:
        """Returns the group with a variable that all runs have set."""
        values = {**self.values, key: column}
        values.pop(key._replace(is_mask=True), None)
        return replace(self, values=values)

    def forgetting(self, keys: Collection[VariableKey]) -> Group:
        """Returns the group without some variables."""
        if self.values.keys().isdisjoint(keys):
            return self
        return replace(self, values={k: c for k, c in self.values.items() if k not in keys})

    def without(self, depth: int) -> Group:
        """Returns the group without the variables of a call, and of the calls in it."""
        return replace(self, values={k: c for k, c in self.values.items() if k.depth < depth})

    def split(self, mask: bool | Array) -> tuple[list[Group], list[Group]]:
        """Returns the runs in which a mask is true, and the others; none of the groups is empty."""
        import numpy as np

        if isinstance(mask, bool):
            return ([self], []) if mask else ([], [self])
        yes, no = np.flatnonzero(mask), np.flatnonzero(~mask)
        return [self.taken(yes)] if len(yes) else [], [self.taken(no)] if len(no) else []

    def told_apart(self, column: Column) -> Iterator[tuple[Group, Single]]:
        """Yields the runs with each value of a column."""
        for value, where in told_apart(column, self.size):
            if len(where):
                yield self.taken(where), value


def merged(groups: Sequence[Group]) -> list[Group]:
    """Returns the groups with those of the same shape as one.

    A variable that not all of them have set gets a mask, which tells the runs that have.

    Raises:
        LimitError: more than `MAX_GROUPS` shapes.
    """
    if len(groups) < 2:
        return list(groups)
    found: dict[Hashable, list[Group]] = {}
    for group in groups:
        lists = tuple(sorted((key, shape(c)) for key, c in group.values.items() if isinstance(c, tuple)))
        found.setdefault((lists, shape(group.outputs)), []).append(group)
    if len(found) > MAX_GROUPS:
        raise LimitError(f"the runs of the program have more than {MAX_GROUPS:,} shapes")
    return [_joined(parts) if len(parts) > 1 else parts[0] for parts in found.values()]


def _joined(groups: Sequence[Group]) -> Group:
    import numpy as np

    sizes = [group.size for group in groups]
    values: dict[VariableKey, Column] = {}
    for key in dict.fromkeys(k for group in groups for k in group.values if not k.is_mask):
        columns = [group.values.get(key) for group in groups]
        mask = key._replace(is_mask=True)
        if any(c is None for c in columns) or any(mask in group.values for group in groups):
            values[mask] = joined([_set(group, key) for group in groups], sizes)
            there = next(k for k, c in enumerate(columns) if c is not None)
            filler = taken(columns[there], np.zeros(1, dtype=np.int64))
            columns = [taken(filler, np.zeros(n, dtype=np.int64)) if c is None else c
                       for c, n in zip(columns, sizes, strict=True)]  # fmt: skip
        values[key] = joined(columns, sizes)
    outputs = tuple(
        joined([group.outputs[k] for group in groups], sizes) for k in range(len(groups[0].outputs))
    )
    return Group(np.concatenate([group.runs for group in groups]), values, outputs)


def _set(group: Group, key: VariableKey) -> Column:
    """Returns in which runs of a group a variable is set."""
    return group.values.get(key._replace(is_mask=True), key in group.values)
