"""Tables that bound what ways have cost so far, for all shifts of the stored values at once.

For a way and differences ±1 of the streams, let c(s) be the least cost so far among shifts of its samples
that keep the order, for each assignment s of shifts in {-1, 0, 1} to the stored values. One more step makes
another such function of it, which is larger where c is larger. So if c is at most a table, and every step
leads from each table to functions that are at most a table again, all functions are. Where a table has no
entry, it bounds nothing. What a way costs is the least value of its function, so at most the least entry of
a table.

Tables of lengths (`lengths`) say how many inputs were read so far. A step leads to what a table bounds that
has read no more. So tables with at most n inputs bound all ways that read at most n. A multiple that is
enough for every length is enough for each one, without tables.

Where one entry differs, a table says whether it was read (`differed`). Differences are 0 before and after it,
and 1 or -1 for it. A way without a difference costs 0 at most, so the tables bound it too.

Tables of many variables have `entries` in the place of `costs`: only the shifts for which they bound
something, written as one sign for each variable.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from .automaton_runs import Machine, RunTransition
from .strict import Rejected

MOST_VARIABLES = 6
SIGNS = "-0+"  # what the shifts -1, 0 and 1 are written as
Costs = dict[tuple[int, ...], Fraction]


@dataclass(frozen=True)
class _AutomatonTable:
    place: int
    variables: tuple[int, ...]
    costs: Costs  # without entries that bound nothing
    read: int = 0
    differed: bool = False


def bounded_by_tables(read: Machine, proof: Any, edges: Iterable[tuple[int, ...]]) -> Fraction:
    """Returns the multiple that tables show for all ways of classes, from class 0.

    Raises:
        Rejected: they do not.
    """
    tables = [_table(data) for data in proof["tables"]]
    bound = Fraction(proof["multiple"])
    if any(not table.costs or min(table.costs.values()) > bound for table in tables):
        raise Rejected("a table has costs beyond the multiple")
    if not any(t.place == 0 and not t.variables and t.costs[()] >= 0 for t in tables):
        raise Rejected("there is no table for the beginning")
    for source, target, number in edges:
        step = read.steps[number]
        reads = read.states[step.source].reads
        after = [table for table in tables if table.place == target]
        for table in tables:
            if table.place == source:
                for sign in (-1, 1) if reads else (0,):
                    if not _leads(read, step, table, sign, after):
                        raise Rejected("a step leads from a table to costs that no table bounds")
    return bound


def bounded_by_length(
    read: Machine, data: Any, edges: Iterable[tuple[int, ...]], bound: Fraction | None, one: bool
) -> dict[int, Fraction]:
    """Returns the multiples that are shown for ways of classes that read at most so many inputs.

    Each entry differs by 1 at most, or `one` does. `bound` is a multiple that is enough for every length, if
    one is shown.

    Raises:
        Rejected: the tables do not show what is less than that.
    """
    tables = [_table(table) for table in data["tables"]]
    stated = {budget["length"]: Fraction(budget["multiple"]) for budget in data["budgets"]}
    if not stated or min(stated) < 0 or len(stated) < len(data["budgets"]):
        raise Rejected("lengths are numbers of inputs, each with one budget")
    if any(not table.costs for table in tables):
        raise Rejected("a table bounds nothing")
    if any(("differed" in table) is not one for table in data["tables"]):
        raise Rejected("tables know whether an entry has differed where one entry differs, and only there")
    needed = {n: multiple for n, multiple in stated.items() if bound is None or multiple < bound}
    if not needed:
        return stated
    for length, multiple in needed.items():
        if any(min(table.costs.values()) > multiple for table in tables if table.read <= length):
            raise Rejected(f"a table has costs beyond the budget of length {length}")
    if not any(map(_is_first, tables)):
        raise Rejected("there is no table for the beginning")
    for source, target, number in edges:
        step = read.steps[number]
        reads = read.states[step.source].reads
        for table in tables:
            if table.place != source or table.read + reads > max(needed):
                continue
            after = [t for t in tables if t.place == target and t.read <= table.read + reads]
            for sign in _differences(reads, one, table.differed):
                differed = one and (table.differed or sign != 0)
                later = [t for t in after if t.differed is differed]
                if not _leads(read, step, table, sign, later):
                    raise Rejected("a step leads from a table to costs that no table bounds")
    return stated


def _is_first(table: _AutomatonTable) -> bool:
    first = table.place == 0 and not table.variables and table.read == 0 and not table.differed
    return first and table.costs[()] >= 0


def _differences(reads: bool, one: bool, differed: bool) -> tuple[int, ...]:
    """Returns the differences of an entry that have to be looked at."""
    if not reads or differed:
        return (0,)
    return (-1, 0, 1) if one else (-1, 1)


def _table(data: Any) -> _AutomatonTable:
    variables = tuple(data["variables"])
    if len(set(variables)) < len(variables) or ("entries" in data) is ("costs" in data):
        raise Rejected("a table has a variable twice, or not one list of costs")
    costs = _entries(data["entries"], len(variables)) if "entries" in data else _costs(data, len(variables))
    if data.get("read", 0) < 0:
        raise Rejected("a table has read less than nothing")
    return _AutomatonTable(data["class"], variables, costs, data.get("read", 0), data.get("differed", False))


def _costs(data: Any, variables: int) -> Costs:
    if variables > MOST_VARIABLES:
        raise Rejected("a table has too many variables")
    keys = list(product((-1, 0, 1), repeat=variables))
    if len(keys) != len(data["costs"]):
        raise Rejected("a table has not one entry for each assignment of shifts")
    return {k: Fraction(c) for k, c in zip(keys, data["costs"], strict=True) if c is not None}


def _entries(data: Any, variables: int) -> Costs:
    if any(len(shifts) != variables or set(shifts) - set(SIGNS) for shifts, _ in data):
        raise Rejected("an entry of a table has one sign for each variable: -, 0 or +")
    costs = {tuple(SIGNS.index(sign) - 1 for sign in shifts): Fraction(cost) for shifts, cost in data}
    if len(costs) < len(data):
        raise Rejected("an entry of a table is there twice")
    return costs


def _leads(
    read: Machine, step: RunTransition, now: _AutomatonTable, sign: int, after: Iterable[_AutomatonTable]
) -> bool:
    """Tells whether a step leads from what a table bounds to what one of the tables after it bounds."""
    if not step.above | step.below <= set(now.variables):
        raise Rejected("a table lacks a variable that is compared")
    known: dict[tuple[int, ...], Costs] = {}
    for later in after:
        if not set(later.variables) <= set(now.variables) | step.stored:
            continue
        if later.variables not in known:
            known[later.variables] = _stepped(read, step, now, sign, later.variables)
        found = known[later.variables]
        if all(key in found and found[key] <= cost for key, cost in later.costs.items()):
            return True
    return False


def _stepped(
    read: Machine, step: RunTransition, now: _AutomatonTable, sign: int, variables: tuple[int, ...]
) -> Costs:
    """Returns what ways cost at most after a step, for shifts of these variables."""
    state, found = read.states[step.source], Costs()
    for shifts, so_far in now.costs.items():
        of = dict(zip(now.variables, shifts, strict=True))
        for shift in (0,) if step.output == "insample" else (-1, 0, 1):
            if all(of[v] <= shift for v in step.above) and all(shift <= of[v] for v in step.below):
                key = tuple(shift if v in step.stored else of[v] for v in variables)
                cost = so_far + state.rate * abs(shift + sign) + read.second_cost(step) * abs(sign)
                found[key] = min(found.get(key, cost), cost)
    return found
