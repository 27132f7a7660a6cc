"""Subroutines of a case: hidden steps that are replaced by automata with the same ends ([T], Theorem 1)."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from paramverify.errors import CaseError, located
from paramverify.interactive.composition import Automaton, substitute
from paramverify.interactive.keys import SUBROUTINE
from paramverify.models.context import Checks
from paramverify.models.systems import wellformed
from paramverify.models.systems.system import System
from paramverify.models.systems.weights import Weight
from paramverify.tables import Table, as_expression


@dataclass(frozen=True)
class Subroutine:
    """A state whose hidden step was replaced, and the number of states of the automaton, ends left out."""

    state: str
    states: int


def replaced(given: Table, system: System, checks: Checks) -> tuple[System, tuple[Subroutine, ...]]:
    """Returns the system with the hidden steps of `[[subroutines]]` replaced, one after the other.

    Each automaton ends in the states that the step leads to, with the same probabilities, as functions on the
    whole domain. So every observation keeps its probability for all inputs.

    Raises:
        InputError: a mistake, with its place; an automaton that ends otherwise, or maybe never.
    """
    found: list[Subroutine] = []
    for number, entry in enumerate(_tables(given)):
        with located(key=f"subroutines[{number}]"):
            inner = Table(entry, SUBROUTINE)
            state, start = inner.text("state"), inner.text("start")
            automaton = _steps(inner, checks)
            ends = _ends(inner, automaton)
            inner.close()
            if start not in automaton:
                raise CaseError(f"the automaton has no steps for {start!r}", key="start")
            system = substitute(system, state, automaton, start=start, ends=ends, positive=checks.positive)
            wellformed.check(system, checks)
            found.append(Subroutine(state, len(automaton)))
    return system, tuple(found)


def _tables(given: Table) -> list[dict[str, object]]:
    value = given.get("subroutines")
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise CaseError("a list of tables is needed here: [[subroutines]]", key="subroutines")
    return value


def _steps(table: Table, checks: Checks) -> dict[Hashable, dict[Hashable, Weight]]:
    found: dict[Hashable, dict[Hashable, Weight]] = {}
    with table.within("steps") as rows:
        for state in rows:
            with rows.within(state) as row:
                found[state] = {}
                for after in row:
                    with located(key=after):
                        found[state][after] = checks.function(as_expression(row.get(after)))
    return found


def _ends(table: Table, automaton: Automaton) -> dict[Hashable, str]:
    """Returns the state of the system for each end; without `ends`, ends have the names of these states."""
    terminal = dict.fromkeys(str(s) for row in automaton.values() for s in row if s not in automaton)
    if "ends" not in table:
        return {name: name for name in terminal}
    with table.within("ends") as ends:
        found: dict[Hashable, str] = {name: ends.text(name) for name in ends}
        for name in found:
            if name not in terminal:
                reason = "the automaton does not end there: it has steps, or none leads there"
                raise CaseError(reason, key=str(name))
        return found
