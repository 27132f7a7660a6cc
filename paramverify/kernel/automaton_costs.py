"""What ways of an automaton cost, as multiples of ε: bounds from above for all ways, and from below for one.

Compare a way under streams α and β with |α_k − β_k| ≤ 1 (for the terms, see `automaton_runs`). Move the k-th
sample by s_k in [-1, 1]. If s respects the order in which the way compares samples, and is 0 where a sample
is put out, the way under α becomes the way under β, and each density falls by a factor of
exp(d·ε·|s_k + α_k − β_k|) at most, or exp(d·ε·|s_k|) if nothing is read. So Pr_α(way) ≤ exp(W·ε)·Pr_β(way)
with the sum W of these costs d·|s_k + α_k − β_k|; for insample' the cost d'·|α_k − β_k| is added. The cost of
a way is the least W. It is convex in α − β, so differences ±1 are enough. If only one entry differs,
differences with one ±1 and 0 elsewhere are enough, because also W(0) = 0.

**Demands** say what the rest of each way asks of stored values, and what it costs. The document has classes
that cover all ways that are possible, and demands: a class, a set Z of shifts of the stored values, and a
weight. Each link from a demand to the next is checked: from any shifts in Z, and for each difference ±1, a
shift of the new sample within the level keeps the order and leads into the next set; the weight falls by
the cost. For each edge and each demand at its end there is a link. So from the end of any way to its
beginning there is a chain of demands, and its first weight bounds W.

**Flows** show that a way with differences δ = β − α costs no less. A sample wants the shift δ_k, which costs
nothing, or 0 if it reads nothing. One that is put out has the shift 0, and costs d·|δ_k|. Two flows go along
the order of the way: between samples that want 1 and those that want less, and between those that want 0 or
more and those that want -1, within the rates. For every t in (0, 1) the samples with s > t are closed
upwards, so that their cut is at least the first flow; for t in (-1, 0) the second one. The integral over t is
the cost.

No multiple below the cost W of a way is enough. For τ = 0, 1, 2, ... let a(τ) = ln Pr(way) under the stream
τ·δ, for densities too. As τ grows, a(τ)/τ goes to −ε·W, for every ε: the most likely samples are τ times the
best shifts, but for a bounded distance. Each a(τ) − a(τ+1) is at most ε·W, and their average goes to it. So
some come as near to ε·W as one likes, whatever ε is.

**Tables** bound what ways have cost so far, for all shifts of the stored values at once. For a way and
differences ±1 of the streams, let c(s) be the least cost so far among shifts of its samples that keep the
order, for each assignment s of shifts in {-1, 0, 1} to the stored values. One more step makes another such
function of it, which is larger where c is larger. So if c is at most a table, and every step leads from each
table to functions that are at most a table again, all functions are. If a table has no entry for some shifts,
it bounds nothing there. What a way costs is the least value of its function, so at most the least entry of a
table. Its `costs` are only for shifts for which it bounds something, written as one sign for each variable.

Tables of lengths (`lengths`) say how many inputs were read so far. A step leads to what a table bounds that
has read no more. So tables with at most n inputs bound all ways that read at most n. A multiple that is
enough for every length is enough for each one, without tables. If one entry differs, a table says whether it
was read (`differed`). Differences are 0 before and after it, and 1 or -1 for it. A way without a difference
costs 0 at most, so the tables bound it too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from .automaton_runs import FIRST, Machine, Order, RunTransition, reached, walk
from .strict_reading import Rejected

# --- demands ----------------------------------------------------------------------------------------


Shift = int | tuple[int]  # of a stored value, by its variable, or a number


@dataclass(frozen=True)
class _Demand:
    """A class, a set of shifts of the stored values, and a weight.

    The shifts in the set are in the order of all `pairs`, of variables, or of a bound and a variable.
    """

    place: int
    low: dict[int, int]
    high: dict[int, int]
    pairs: frozenset[tuple[Shift, Shift]]
    weight: Fraction

    def at_most(self, one: Shift, other: Shift) -> bool:
        """Tells whether one shift is at most another one for all shifts in the set."""
        most = one[0] if isinstance(one, tuple) else self.high.get(one, 1)
        least = other[0] if isinstance(other, tuple) else self.low.get(other, -1)
        return most <= least or one == other or (one, other) in self.pairs


def _demand(data: Any, variables: int, classes: int) -> _Demand:
    low = {variable: least for variable, least, _ in data["bounds"]}
    high = {variable: most for variable, _, most in data["bounds"]}
    if len(low) < len(data["bounds"]) or any(not -1 <= low[v] <= high[v] <= 1 for v in low):
        raise Rejected("a demand has an invalid bound")
    pairs: set[tuple[Shift, Shift]] = {(x, y) for x, y in data["pairs"]}
    if any(not 0 <= v < variables for v in (*low, *(v for pair in data["pairs"] for v in pair))):
        raise Rejected("a demand is about a variable that does not exist")
    weight = Fraction(data["weight"])
    if not 0 <= data["class"] < classes or weight < 0:
        raise Rejected("a demand has no class, or its weight is negative")
    pairs |= {((low[v],), v) for v in low} | {(v, (high[v],)) for v in high}
    return _Demand(data["class"], low, high, frozenset(pairs), weight)


def _possible(demand: _Demand) -> bool:
    """Tells whether some shifts are in the set of a demand: the least ones, if any."""
    least: dict[Shift, int] = {shift: -1 for pair in demand.pairs for shift in pair}
    least |= {shift: shift[0] for shift in least if isinstance(shift, tuple)}
    for _ in least:
        for x, y in demand.pairs:
            least[y] = max(least[y], least[x])
    return all(least[shift] == shift[0] for shift in least if isinstance(shift, tuple))


def proved(read: Machine, proof: Any) -> Fraction:
    """Returns the multiple that is shown."""
    classes, edges = proof["classes"], covered(read, proof)
    demands = [_demand(data, read.variables, len(classes)) for data in proof["demands"]]
    if {demand.place for demand in demands} != set(range(len(classes))):
        raise Rejected("a class has no demand, so a way that ends there is not covered")
    links: set[tuple[int, int]] = set()
    for source, target, edge, level in proof["links"]:
        if not (0 <= source < len(demands) and 0 <= target < len(demands) and 0 <= edge < len(edges)):
            raise Rejected("a link connects demands that do not exist")
        _check_link(read, demands[source], demands[target], edges[edge], level)
        links.add((edge, target))
    for number, (_, target, _) in enumerate(edges):
        for k, demand in enumerate(demands):
            if demand.place == target and (number, k) not in links:
                raise Rejected(f"edge {number} has no link to demand {k}")
    first = [demand for demand in demands if demand.place == 0]
    if not all(map(_possible, first)):
        raise Rejected("a demand at the beginning has no shifts")
    bound = Fraction(proof["multiple"])
    if any(demand.weight > bound for demand in first):
        raise Rejected("the multiple is smaller than a weight at the beginning")
    return bound


def covered(read: Machine, proof: Any) -> list[tuple[int, ...]]:
    """Returns the edges between classes, if every way that is possible is a way of classes, from class 0."""
    classes, edges = proof["classes"], [tuple(edge) for edge in proof["edges"]]
    following: dict[tuple[int, int], int] = {}
    for source, target, number in edges:
        if not (0 <= source < len(classes) and 0 <= target < len(classes) and 0 <= number < len(read.steps)):
            raise Rejected("an edge connects classes that do not exist")
        if following.setdefault((source, number), target) != target:
            raise Rejected("a transition leads from one class to two classes")
    if classes[:1] != [0]:
        raise Rejected("class 0 is not a class of the first state")

    def after(order: Order, place: int) -> Iterator[tuple[Order, int]]:
        for number, found in read.following(order):
            target = following.get((place, number))
            if target is None or classes[target] != found.state:
                raise Rejected(f"class {place} lacks transition {number}, which is possible there")
            yield found, target

    reached((FIRST, 0), lambda at: after(*at))
    return edges


def _check_link(read: Machine, now: _Demand, later: _Demand, edge: tuple[int, ...], level: int) -> None:
    """Checks that from all shifts of a demand a step leads to the next one, within a level."""
    step = read.steps[edge[2]]
    state = read.states[step.source]
    if now.place != edge[0] or later.place != edge[1]:
        raise Rejected("a link does not follow its edge")
    if not 0 <= level <= (2 if state.reads else 1):
        raise Rejected("a link has an invalid level")
    if now.weight < state.rate * level + read.second_cost(step) + later.weight:
        raise Rejected("a weight does not fall by the cost of a link")
    lower, upper = list[Shift](step.above), list[Shift](step.below)
    if step.output == "insample":
        lower, upper = [*lower, (0,)], [*upper, (0,)]
    for x, y in later.pairs:
        if x in step.stored and y not in step.stored:
            upper.append(y)
        elif y in step.stored and x not in step.stored:
            lower.append(x)
        elif x not in step.stored and not now.at_most(x, y):
            raise Rejected("a demand does not have the bounds or the pairs of the next one")
    free = all(now.at_most(low, high) for low in lower for high in upper)
    wanted = 1 if state.reads else 0
    within = all(now.at_most(low, (level - wanted,)) for low in lower)
    if not (free and within and all(now.at_most((wanted - level,), high) for high in upper)):
        raise Rejected("a sample cannot be moved within its level")


# --- flows ------------------------------------------------------------------------------------------


def least_cost(read: Machine, data: Any, one: bool = False) -> Fraction:
    """Returns what a way costs at least, by its flows; each entry differs, or only `one` does."""
    steps, signs = data["steps"], data["signs"]
    if len(steps) != len(signs):
        raise Rejected("a way has one difference for each step")
    walk(read, FIRST, *steps)
    wishes: list[int] = []
    cost = Fraction(0)
    for number, sign in zip(steps, signs, strict=True):
        step = read.steps[number]
        reads = read.states[step.source].reads
        if sign not in ((-1, 0, 1) if one else (-1, 1)) if reads else sign:
            raise Rejected("a difference is 1 or -1 where an input is read, and 0 elsewhere")
        cost += read.second_cost(step) * abs(sign)
        if step.output == "insample":
            cost += read.states[step.source].rate * abs(sign)
        wishes.append(0 if step.output == "insample" else -sign)
    if one and sum(map(abs, signs)) > 1:
        raise Rejected("more than one entry differs")
    high = flow_value(read, steps, data["high"], wishes, (0, 1))
    return cost + high + flow_value(read, steps, data["low"], wishes, (-1, 0))


def compared(read: Machine, steps: Sequence[int]) -> set[tuple[int, int]]:
    """Returns the pairs of places whose samples a way compares directly, the lower one first."""
    holder: dict[int, int] = {}
    found: set[tuple[int, int]] = set()
    for place, number in enumerate(steps):
        step = read.steps[number]
        found |= {(holder[v], place) for v in step.above} | {(place, holder[v]) for v in step.below}
        holder |= dict.fromkeys(step.stored, place)
    return found


def flow_value(
    read: Machine, steps: Sequence[int], flow: Any, wishes: Sequence[Fraction | int], ends: tuple[Any, Any]
) -> Fraction:
    """Returns the value of a flow along the order of the samples of a way, within the rates.

    It goes to samples whose wishes are at most the first one of two ends, from samples whose wishes are at
    least the second one. A sample that is put out has no rate that bounds the flow.
    """
    above = compared(read, steps)
    net = [Fraction(0)] * len(steps)
    for low, high, text in flow:
        amount = Fraction(text)
        if (low, high) not in above or amount < 0:
            raise Rejected("a flow does not follow the order of samples")
        net[low] += amount
        net[high] -= amount
    for number, wish, amount in zip(steps, wishes, net, strict=True):
        step = read.steps[number]
        if (amount > 0 and wish < ends[1]) or (amount < 0 and wish > ends[0]):
            raise Rejected("a flow begins or ends at a sample that wants something else")
        if abs(amount) > read.states[step.source].rate and step.output != "insample":
            raise Rejected("a flow is larger than a rate")
    return sum((amount for amount in net if amount > 0), Fraction(0))


# --- tables -----------------------------------------------------------------------------------------

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
    bound = Fraction(proof["multiple"])
    _check_tables(read, [_table(data) for data in proof["tables"]], edges, {0: bound}, counted=False)
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
    stated = {budget["length"]: Fraction(budget["multiple"]) for budget in data["budgets"]}
    if not stated or min(stated) < 0 or len(stated) < len(data["budgets"]):
        raise Rejected("lengths are numbers of inputs, each with one budget")
    if any(("differed" in table) is not one for table in data["tables"]):
        raise Rejected("tables know whether an entry has differed where one entry differs, and only there")
    needed = {n: multiple for n, multiple in stated.items() if bound is None or multiple < bound}
    if needed:
        _check_tables(read, [_table(table) for table in data["tables"]], edges, needed, one=one)
    return stated


def _check_tables(
    read: Machine,
    tables: Sequence[_AutomatonTable],
    edges: Iterable[tuple[int, ...]],
    budgets: Mapping[int, Fraction],
    *,
    counted: bool = True,
    one: bool = False,
) -> None:
    """Checks that tables bound all ways within the budgets of lengths, of all if no inputs are `counted`."""
    for length, multiple in budgets.items():
        if any(not t.costs or min(t.costs.values()) > multiple for t in tables if t.read <= length):
            raise Rejected(f"a table has costs above the multiple {multiple}, or bounds nothing")
    first = [t for t in tables if t.place == 0 and not t.variables and t.read == 0 and not t.differed]
    if not any(t.costs[()] >= 0 for t in first):
        raise Rejected("there is no table for the start")
    for source, target, number in edges:
        step = read.steps[number]
        reads = read.states[step.source].reads
        for table in tables:
            inputs = table.read + (reads and counted)
            if table.place != source or inputs > max(budgets):
                continue
            after = [t for t in tables if t.place == target and t.read <= inputs]
            for sign in (0,) if not reads or table.differed else (-1, 0, 1) if one else (-1, 1):
                differed = one and (table.differed or sign != 0)
                if not _leads(read, step, table, sign, [t for t in after if t.differed is differed]):
                    raise Rejected("a step leads from a table to costs that no table bounds")


def _table(data: Any) -> _AutomatonTable:
    variables, count = tuple(data["variables"]), data.get("read", 0)
    if len(set(variables)) < len(variables) or count < 0:
        raise Rejected("a table has a variable twice, or a negative count of reads")
    if any(len(shifts) != len(variables) or set(shifts) - set(SIGNS) for shifts in data["costs"]):
        raise Rejected("a cost of a table has one sign for each variable: -, 0 or +")
    costs = {tuple(SIGNS.index(s) - 1 for s in shifts): Fraction(c) for shifts, c in data["costs"].items()}
    return _AutomatonTable(data["class"], variables, costs, count, data.get("differed", False))


def _leads(
    read: Machine, step: RunTransition, now: _AutomatonTable, sign: int, after: Iterable[_AutomatonTable]
) -> bool:
    """Tells whether a step leads from what a table bounds to what one of the tables after it bounds."""
    if not step.above | step.below <= set(now.variables):
        raise Rejected("a table lacks a variable that is compared")

    @cache
    def stepped(variables: tuple[int, ...]) -> Costs:
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

    known = set(now.variables) | step.stored
    return any(
        all(key in (found := stepped(later.variables)) and found[key] <= c for key, c in later.costs.items())
        for later in after
        if known.issuperset(later.variables)
    )
