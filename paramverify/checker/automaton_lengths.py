"""Checks budgets of streams of single lengths: tables that count inputs, ways, and gaps. See `automata`.

A multiple is enough for streams of n inputs if tables bound all ways that read at most n by it, or if it is
enough for every length. If the automaton is `late`, a way shows something of streams that are longer by one
than what it reads: it may have drawn or put out what belongs to the next entry. Tables and ways are about
differences of 1; what is told is multiplied by the largest difference of an entry. A way shows that less than
it costs is not enough, and a gap does so for entries of few values. Standard library only.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from .automaton_demands import classes_of, covered
from .automaton_gaps import StreamEntries, gap
from .automaton_least import least_cost
from .automaton_runs import Machine, explore, outputs_differ
from .automaton_tables import bounded_by_length
from .strict import Rejected


def lengths(
    read: Machine, document: Any, entries: StreamEntries, bound: Fraction | None, whom: str = ""
) -> list[str]:
    """Returns what is shown of streams of single lengths; ways are about entries of `whom`.

    `bound` is a multiple that is enough for every length and differences of 1, if one is shown.
    """
    if "lengths" not in document:
        return []
    data = document["lengths"]
    edges, following = classes_of(read, data)
    covered(read, data["classes"], following)
    multiples = bounded_by_length(read, data, edges, bound, entries.one)
    return [
        _length(read, budget, entries, multiples[budget["length"]] * entries.reach, whom)
        for budget in data["budgets"]
    ]


def _length(read: Machine, budget: Any, entries: StreamEntries, enough: Fraction, whom: str) -> str:
    length = budget["length"]
    line = f"length {length}: {enough} times epsilon is enough"
    if "least" in budget and "gap" in budget:
        raise Rejected("a way is about entries of any numbers, and a gap about few values")
    for name in {"least", "gap"} & budget.keys():
        steps = budget[name]["steps"]
        if not all(0 <= number < len(read.steps) for number in steps):
            raise Rejected("a way has a transition that is not there")
        if read.entries(steps) > length:
            raise Rejected(f"a way needs more than {length} inputs")
    if "gap" in budget:
        return f"{line}; {widest(read, budget['gap'], entries, enough)}"
    if "least" not in budget:
        return line
    if entries.values is not None:
        raise Rejected("a way shows nothing of entries of few values")
    outputs_differ(read, explore(read))
    cost = least_cost(read, budget["least"], entries.one) * entries.reach
    if cost > enough:
        raise Rejected(f"a way costs more than the budget of length {length}")
    return line + (", and no less is" if cost == enough else f", and no less than {cost} is") + whom


def widest(read: Machine, data: Any, entries: StreamEntries, enough: Fraction | None) -> str:
    """Checks a gap, and returns what is shown; `enough` is a multiple that is enough, if one is known."""
    if entries.values is None:
        raise Rejected("a gap is about entries of few values")
    outputs_differ(read, explore(read))
    cost = gap(read, data, entries)
    if cost <= 0:
        raise Rejected("a way does not get likelier under the first stream")
    if enough is not None and cost > enough:
        raise Rejected("a gap is wider than the multiple that is enough")
    return f"for large epsilon no multiple below {cost} is enough for two streams"
