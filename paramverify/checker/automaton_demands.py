"""Demands: what the rest of each way asks of stored values, and what it costs. See `automata`.

Standard library only.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .automaton_runs import Machine, first_order
from .strict import Rejected


@dataclass(frozen=True)
class _Demand:
    """A class, bounds and pairs of shifts, and a weight."""

    place: int
    low: dict[int, int]
    high: dict[int, int]
    pairs: frozenset[tuple[int, int]]
    weight: Fraction

    def at_most(self, one: int | tuple[int, ...], other: int | tuple[int, ...]) -> bool:
        """Tells whether one shift is at most another one for all shifts; a number is given as a tuple."""
        most = one[0] if isinstance(one, tuple) else self.high.get(one, 1)
        least = other[0] if isinstance(other, tuple) else self.low.get(other, -1)
        return most <= least or one == other or (one, other) in self.pairs


def _demand(data: Any, variables: int, classes: int) -> _Demand:
    low, high = {}, {}
    for variable, least, most in data["bounds"]:
        if not 0 <= variable < variables or variable in low or not -1 <= least <= most <= 1:
            raise Rejected("a demand has a bound that is none")
        low[variable], high[variable] = least, most
    pairs = frozenset((x, y) for x, y in data["pairs"])
    if any(not 0 <= v < variables for pair in pairs for v in pair):
        raise Rejected("a demand is about a variable that is not there")
    weight = Fraction(data["weight"])
    if not 0 <= data["class"] < classes or weight < 0:
        raise Rejected("a demand has no class, or a negative weight")
    return _Demand(data["class"], low, high, pairs, weight)


def _possible(demand: _Demand) -> bool:
    """Tells whether some shifts are in the set of a demand: the least ones, if any."""
    least = dict(demand.low)
    for _ in range(len({v for pair in demand.pairs for v in pair}) + 1):
        for x, y in demand.pairs:
            least[y] = max(least.get(y, -1), least.get(x, -1))
    ordered = all(least.get(x, -1) <= least.get(y, -1) for x, y in demand.pairs)
    return ordered and all(value <= demand.high.get(v, 1) for v, value in least.items())


def proved(read: Machine, proof: Any) -> Fraction:
    """Returns the multiple that is shown."""
    classes = proof["classes"]
    edges, following = classes_of(read, proof)
    covered(read, classes, following)
    demands = [_demand(data, read.variables, len(classes)) for data in proof["demands"]]
    if {demand.place for demand in demands} != set(range(len(classes))):
        raise Rejected("a class has no demand: a way that ends there is not covered")
    links: set[tuple[int, int]] = set()
    for source, target, edge, level in proof["links"]:
        if not (0 <= source < len(demands) and 0 <= target < len(demands) and 0 <= edge < len(edges)):
            raise Rejected("a link is between demands that are not there")
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


def classes_of(read: Machine, proof: Any) -> tuple[list[tuple[int, ...]], dict[tuple[int, int], int]]:
    """Returns the edges between classes, and where each transition leads from each class."""
    classes = proof["classes"]
    edges = [tuple(edge) for edge in proof["edges"]]
    following: dict[tuple[int, int], int] = {}
    for source, target, number in edges:
        if not (0 <= source < len(classes) and 0 <= target < len(classes) and 0 <= number < len(read.steps)):
            raise Rejected("an edge is between classes that are not there")
        if following.setdefault((source, number), target) != target:
            raise Rejected("a transition leads from one class to two")
    return edges, following


def covered(read: Machine, classes: list[int], following: dict[tuple[int, int], int]) -> None:
    """Checks that every way that is possible is a way of classes, from class 0."""
    if not classes or classes[0] != 0:
        raise Rejected("class 0 is not one of the first state")
    seen = {(first_order(read), 0)}
    waiting = list(seen)
    for order, place in waiting:
        for number, after in read.following(order):
            target = following.get((place, number))
            if target is None or classes[target] != after.state:
                raise Rejected(f"class {place} has not transition {number}, which is possible")
            if (after, target) not in seen:
                seen.add((after, target))
                waiting.append((after, target))


def _check_link(read: Machine, now: _Demand, later: _Demand, edge: tuple[int, ...], level: int) -> None:
    """Checks that from all shifts of a demand a step leads to the next one, within a level."""
    step = read.steps[edge[2]]
    state = read.states[step.source]
    if now.place != edge[0] or later.place != edge[1]:
        raise Rejected("a link does not follow its edge")
    if not 0 <= level <= (2 if state.reads else 1):
        raise Rejected("a link has a level that is none")
    if now.weight < state.rate * level + read.second_cost(step) + later.weight:
        raise Rejected("a weight does not fall by the cost of a link")
    wanted = 1 if state.reads else 0
    lower: list[int | tuple[int, ...]] = [(-1,), *step.above]
    upper: list[int | tuple[int, ...]] = [(1,), *step.below]
    if step.output == "insample":
        lower, upper = [*lower, (0,)], [*upper, (0,)]
    for variable in later.low:
        ends: tuple[int, int] = (later.low[variable], later.high[variable])
        if variable in step.stored:
            lower, upper = [*lower, (ends[0],)], [*upper, (ends[1],)]
        elif not (now.at_most((ends[0],), variable) and now.at_most(variable, (ends[1],))):
            raise Rejected("a demand does not have the bounds of the next one")
    for x, y in later.pairs:
        if x in step.stored and y not in step.stored:
            upper.append(y)
        elif y in step.stored and x not in step.stored:
            lower.append(x)
        elif x not in step.stored and not now.at_most(x, y):
            raise Rejected("a demand does not have the pairs of the next one")
    free = all(now.at_most(low, high) for low in lower for high in upper)
    within = all(now.at_most(low, (level - wanted,)) for low in lower)
    if not (free and within and all(now.at_most((wanted - level,), high) for high in upper)):
        raise Rejected("a sample cannot be moved within its level")
