"""What was understood of a case about streams with unbounded noise, before anything is decided."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paramverify import printable
from paramverify.automata.automaton import GEOMETRIC
from paramverify.automata.cases import StreamCase
from paramverify.automata.orders import explore
from paramverify.automata.verification import never_taken
from paramverify.checker.strict import counted
from paramverify.reports.automata import notes, stream
from paramverify.reports.streams import budget_of
from paramverify.reports.understood import Understood


def stream_understood(case: StreamCase, data: Mapping[str, Any]) -> Understood:
    """Returns what was understood of a case about streams; `data` is its file.

    Raises:
        InputError: a guard reads what has no value, or two guards are true at once.
        LimitError: the automaton is too large.
    """
    found, automaton = Understood(case.title), case.automaton
    given = {name: printable.name(str(value)) for name, value in data["parameters"].items()}
    shown = [f"{n} in {v}" if n == case.parameter else f"{n} = {v}" for n, v in given.items()]
    found.add("parameters", given, ", ".join(shown))
    question = "can neighbouring streams be told apart by what is put out, at any length?"
    found.add("question", "streams", question)
    _neighbours(found, case)
    graph = explore(automaton)
    kind = "from a file" if case.in_file else "made from the program"
    sizes = {
        "states": len(automaton.states),
        "variables": len(automaton.variables),
        "transitions": len(automaton.transitions),
    }
    told = ", ".join(counted(n, name.removesuffix("s")) for name, n in sizes.items())
    never = list(never_taken(automaton, graph))
    found.add("automaton", sizes | {"noise": automaton.noise, "never": never}, f"{kind}: {told}")
    found.add("budget", f"epsilon = {budget_of(case)}", f"epsilon = {budget_of(case)}")
    claims = f"no polynomials: it is decided for every {case.parameter} > 0 and every length"
    found.add("claims", {"count": None}, claims)
    if case.in_file:
        found.warnings += [
            line.strip().removeprefix("Note: ").rstrip(".")
            for line in notes(automaton, graph)
            if line.strip().startswith("Note: ")
        ]
    return found


def _neighbours(found: Understood, case: StreamCase) -> None:
    """Adds which streams are neighbours, and what their entries are."""
    by = "any" if case.by is None else str(case.by)
    told: dict[str, Any] = {"differ": "one" if case.one else "each", "by": by}
    who = "one entry differs" if case.one else "each entry may differ"
    words = [f"{who}, {'by anything' if case.by is None else f'by {by} at most'}"]
    if case.values is None:
        whole = "whole " if case.automaton.noise == GEOMETRIC else ""
        words.append(f"entries are any {whole}numbers")
    else:
        told["values"] = [str(value) for value in case.values]
        words.append(f"entries are of {stream(case.values)}")
    found.add("neighbours", told, *words)
