"""Assignments: to names, to several names at once, and to entries of lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from paramverify.models.programs.evaluating import Evaluator, outside
from paramverify.models.programs.syntax import Apply, Assign, For
from paramverify.models.programs.values import DEAD, ProgramState, Value


@dataclass(frozen=True, eq=False)
class Assigner:
    """Assigns values in the states of one program."""

    evaluator: Evaluator

    def assigned(self, statement: Assign, state: ProgramState) -> list[ProgramState]:
        """Returns the states after an assignment."""
        found = []
        for after, value in self.evaluator.values(statement.value, state):
            if statement.indices:
                found += self.entered(statement, value, after)
                continue
            values = self.unpacked(statement, value)
            found.append(replace(after, values={**after.values, **values}))
        return found

    def unpacked(self, statement: Assign | For, value: Value) -> dict[str, Value]:
        """Returns the values of the names of an assignment."""
        names = statement.names
        if len(names) == 1:
            return {names[0]: value}
        if not isinstance(value, tuple) or len(value) != len(names):
            raise self.evaluator.error(f"{len(names)} values are needed here", statement.place)
        return dict(zip(names, value, strict=True))

    def entered(self, statement: Assign, value: Value, state: ProgramState) -> list[ProgramState]:
        """Returns the states after an assignment to an entry of a list."""
        (name,) = statement.names
        if name not in state.values:
            raise self.evaluator.no_value(name, statement.place)
        found = []
        for after, where in self.evaluator.all(statement.indices, state):
            new = self.put_into(statement, after.values[name], where, value)
            found.append(replace(after, values={**after.values, name: new}))
        return found

    def put_into(self, statement: Assign, inside: Value, where: Sequence[Value], value: Value) -> Value:
        if not where:
            return value
        if inside == DEAD:
            return DEAD  # nothing reads the list that would change
        node = Apply("index", (), statement.place)
        entries = list(self.evaluator.listed(node, inside))
        k = self.evaluator.whole(node, where[0])
        if not -len(entries) <= k < len(entries):
            raise self.evaluator.error(outside(k, entries), statement.place)
        entries[k] = self.put_into(statement, entries[k], where[1:], value)
        return tuple(entries)
