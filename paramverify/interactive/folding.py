"""Closures with surely following steps after a response folded in.

Two states that give the same response r and then are surely in x' and y' are related, or cost, as x' and y'
are. So an entry of a closure is kept as what can be seen next and where that surely leads, and the many pairs
of responding states need not be kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from paramverify.interactive.closure import SILENT, Closures
from paramverify.interactive.quotients import Fan
from paramverify.models.systems.system import StateKind
from paramverify.models.systems.weights import Weight

States = tuple[tuple[int, Weight], ...]


class Entry(NamedTuple):
    """One state of a support: its place there, the state, where it surely leads (or itself), its weight."""

    place: int
    state: int
    target: int
    weight: Weight


Grouped = dict[object, tuple[Entry, ...]]  # by what is enabled: states in different groups are never related


class Folded:
    """Closures by group; `after` gives them, of states or of classes of states, with `member` for a class."""

    def __init__(
        self, closures: Closures, after: Callable[[int, int], States], member: Callable[[int], int]
    ) -> None:
        self.closures = closures
        self.after = after
        self.member = member
        self._labels: dict[int, tuple[object, int]] = {}
        self._grouped: dict[tuple[int, int], Grouped] = {}
        self._fans: dict[tuple[int, int], Fan | None] = {}
        self._same: dict[tuple[object, ...], tuple[object, ...]] = {}

    def grouped(self, state: int, action: int) -> Grouped:
        """Returns the closure of an action."""
        key = (state, action)
        found = self._grouped.get(key)
        if found is None:
            lists: dict[object, list[Entry]] = {}
            for place, (successor, weight) in enumerate(self.after(state, action)):
                label, target = self._label(successor)
                lists.setdefault(label, []).append(Entry(place, successor, target, weight))
            found = self._grouped[key] = {label: tuple(entries) for label, entries in lists.items()}
        return found

    def fans(self, left: int, right: int, action: int) -> tuple[Fan, Fan] | None:
        """Returns the closures of an action in two states if both are fans with the same labels."""
        one, other = self._fan(left, action), self._fan(right, action)
        return (one, other) if one and other and one.labels is other.labels else None

    def _fan(self, state: int, action: int) -> Fan | None:
        key = (state, action)
        if key not in self._fans:
            grouped = self.grouped(state, action)
            entries = [group[0] for group in grouped.values()]
            targets = {entry.target for entry in entries if entry.target != entry.state}
            plain = len(targets) == 1 and all(e.target != e.state for e in entries)
            if len(entries) < 2 or not plain or any(len(group) > 1 for group in grouped.values()):
                self._fans[key] = None
            else:
                labels = tuple(grouped)
                weights = tuple(entry.weight for entry in entries)
                labels = self._same.setdefault(labels, labels)
                self._fans[key] = Fan(labels, targets.pop(), weights, tuple(map(id, weights)))
        return self._fans[key]

    def _label(self, state: int) -> tuple[object, int]:
        known = self._labels.get(state)
        if known is None:
            known = self._labels[state] = self._new(state)
        return known

    def _new(self, state: int) -> tuple[object, int]:
        if state == SILENT:
            return SILENT, SILENT
        one = self.member(state)
        kind = self.closures.kinds[one]
        if kind is not StateKind.RESPONSE:
            return kind.value, state
        action = next(iter(self.closures.system.rows[one]))
        following = self.after(state, action)
        if len(following) > 1:
            return action, state
        target = following[0][0]
        waits = target == SILENT or self.closures.kinds[self.member(target)] is not StateKind.RESPONSE
        return action, target if waits else state


def paired(left: Entry, right: Entry) -> tuple[int, int]:
    """Returns the states that have to be related so that two entries are: the targets, if both are folded."""
    if (left.target == left.state) is (right.target == right.state):
        return left.target, right.target
    return left.state, right.state
