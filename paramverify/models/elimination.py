"""Sums of products of factors, one variable after the other, on a tree of small sets of variables.

Variable elimination as messages on a junction tree ([KollerFriedman09] chapters 9 and 10). The order is that
of the min-fill heuristic of networkx. A message depends only on what is on its side of the tree. So totals
that differ in evidence share the messages from sides without evidence: all of them need about two passes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from paramverify import printable
from paramverify.algebra.expressions import Value
from paramverify.algebra.polynomials import Polynomial
from paramverify.errors import LimitError

MAX_TABLE = 100_000  # combinations of values of the variables that are looked at together
LISTED = 12  # variables that a message names

Row = tuple[Value, ...]
Bag = frozenset[str]


@dataclass(frozen=True, eq=False)
class Factor:
    """A function of the variables of its scope: a weight for each combination; zero for those left out."""

    scope: tuple[str, ...]
    weights: Mapping[Row, Polynomial]

    def __mul__(self, other: Factor) -> Factor:
        shared = [name for name in other.scope if name in self.scope]
        rest = [k for k, name in enumerate(other.scope) if name not in self.scope]
        where = [self.scope.index(name) for name in shared]
        there = [other.scope.index(name) for name in shared]
        fitting: dict[Row, list[tuple[Row, Polynomial]]] = {}
        for row, weight in other.weights.items():
            key = tuple(row[k] for k in there)
            fitting.setdefault(key, []).append((tuple(row[k] for k in rest), weight))
        found: dict[Row, Polynomial] = {}
        for row, weight in self.weights.items():
            for more, by in fitting.get(tuple(row[k] for k in where), ()):
                found[(*row, *more)] = by if weight.is_one() else weight if by.is_one() else weight * by
        return Factor((*self.scope, *(other.scope[k] for k in rest)), found)

    def onto(self, names: Collection[str]) -> Factor:
        """Returns the sum over all other variables."""
        places = [k for k, name in enumerate(self.scope) if name in names]
        found: dict[Row, Polynomial] = {}
        for row, weight in self.weights.items():
            key = tuple(row[k] for k in places)
            found[key] = found[key] + weight if key in found else weight
        kept = {key: weight for key, weight in found.items() if weight}
        return Factor(tuple(self.scope[k] for k in places), kept)

    @property
    def size(self) -> int:
        """How many terms all weights have."""
        return sum(map(len, self.weights.values()))


class Tree:
    """A junction tree of factors; `scopes` are sets of variables besides that evidence will be about."""

    def __init__(
        self,
        values: Mapping[str, Sequence[Value]],
        factors: Iterable[Factor],
        scopes: Iterable[Collection[str]],
        one: Polynomial,
    ) -> None:
        """Forms the tree.

        Raises:
            LimitError: more than `MAX_TABLE` combinations of values in one bag, with its variables. Nothing
                has been computed then.
        """
        listed = list(factors)
        self.one = one
        self.bags, self.near = _decomposed(values, [f.scope for f in listed] + [tuple(s) for s in scopes])
        _check_width(self.bags, values)
        self.inside: list[list[Factor]] = [[] for _ in self.bags]
        self._place: dict[frozenset[str], int] = {}
        for factor in listed:
            self.inside[self.place(factor.scope)].append(factor)
        self._messages: dict[tuple[int, int, tuple[int, ...]], Factor] = {}
        self._seen: list[Factor] = []  # evidence, which the messages know by its identity

    def place(self, scope: Collection[str]) -> int:
        """Returns the number of the first bag that has all variables of a scope."""
        names = frozenset(scope)
        if names not in self._place:
            self._place[names] = next(k for k, bag in enumerate(self.bags) if names <= bag)
        return self._place[names]

    def total(self, evidence: Sequence[Factor]) -> Polynomial:
        """Returns the sum of the products of all factors and the evidence over all assignments."""
        given: dict[int, list[Factor]] = {}
        self._seen += evidence
        for factor in evidence:
            given.setdefault(self.place(factor.scope), []).append(factor)
        root = min(given, default=0)
        order: list[tuple[int, int]] = [(root, -1)]
        for bag, parent in order:
            order += [(other, bag) for other in self.near[bag] if other != parent]
        below: dict[int, tuple[int, ...]] = {k: tuple(id(f) for f in given.get(k, ())) for k, _ in order}
        incoming: dict[int, list[Factor]] = {k: [] for k, _ in order}
        for bag, parent in reversed(order[1:]):
            key = bag, parent, below[bag]
            if key not in self._messages:
                product = self._product([*self.inside[bag], *given.get(bag, ()), *incoming[bag]])
                self._messages[key] = product.onto(self.bags[bag] & self.bags[parent])
            incoming[parent].append(self._messages[key])
            below[parent] += below[bag]
        product = self._product([*self.inside[root], *given.get(root, ()), *incoming[root]])
        return product.onto(()).weights.get((), self.one - self.one)

    def _product(self, factors: Sequence[Factor]) -> Factor:
        """Multiplies factors, those with few terms first."""
        found = Factor((), {(): self.one})
        for factor in sorted(factors, key=lambda f: f.size):
            found = found * factor
        return found


def _decomposed(
    values: Mapping[str, Sequence[Value]], scopes: Iterable[tuple[str, ...]]
) -> tuple[list[Bag], list[list[int]]]:
    """Returns the bags of a tree decomposition by the min-fill heuristic, and the neighbours of each."""
    import networkx
    from networkx.algorithms.approximation import treewidth_min_fill_in

    graph = networkx.Graph()
    graph.add_nodes_from(values)
    for scope in scopes:
        graph.add_edges_from((a, b) for k, a in enumerate(scope) for b in scope[:k])
    if not graph:
        return [frozenset()], [[]]
    _, tree = treewidth_min_fill_in(graph)
    # In the order of the variables, so that equal inputs give equal work.
    place = {name: k for k, name in enumerate(values)}
    bags: list[Bag] = sorted(tree, key=lambda bag: sorted(place[name] for name in bag))
    number = {bag: k for k, bag in enumerate(bags)}
    return bags, [sorted(number[other] for other in tree[bag]) for bag in bags]


def _check_width(bags: Iterable[Bag], values: Mapping[str, Sequence[Value]]) -> None:
    for bag in bags:
        count = prod(len(values[name]) for name in bag)
        if count > MAX_TABLE:
            raise too_wide([name for name in values if name in bag], count)


def too_wide(names: Sequence[str], count: int) -> LimitError:
    """Returns the error for variables that have too many combinations of values."""
    shown = ", ".join(map(printable.name, names[:LISTED])) + (", ..." if len(names) > LISTED else "")
    reason = f"{len(names)} variables have to be looked at together, with {count:,} combinations"
    return LimitError(f"{reason} of values, and at most {MAX_TABLE:,} are: {shown}")
