"""A second reading of what is near two secrets of a large prior, at one point: by listing all values.

The variables of a table or of an addend are neighbours. The interior has those nearer to the secrets than a
distance, the separator the neighbours of the interior outside of it. near(s, n) is the weight of the sum n of
the addends that touch the interior, where the separator has the values s. mass(v) is the same for the
ancestors of the secrets and a distance one larger, without sums. Let r be a sum of the other addends. Then

    c·near_B(s)·K·mass_A(v) − near_A(s)·K·mass_B(v) ≥ 0    with K = Pr(output | n + r)

for all s, v, r and outputs, in both directions, is what the claims of a window say. Standard library only;
the first reader eliminates variables instead, and shares no code with this one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import lcm
from operator import mul
from typing import Any, TypeAlias

from ..kernel.strict_reading import Rejected, UnreadCase
from .second_matching import differences, origin
from .second_mechanisms import read
from .second_networks import addends
from .second_numbers import Calculator, Value
from .second_priors import row, written
from .second_processes import Input, Words, queries_of
from .second_reader import PointProbabilities, SecondReader, as_input

MAX_LISTED = 200_000  # combinations of values

Sums: TypeAlias = tuple[Fraction, ...]
Table: TypeAlias = dict[tuple[Value, ...], dict[Sums, Fraction]]
Factor: TypeAlias = tuple[frozenset[str], Callable[[Mapping[str, Value]], Any]]


class NearSecrets:
    """A prior with tables, and the addends of the answers, at one point."""

    def __init__(self, prior: Mapping[str, Any], queries: Sequence[Any], at: Calculator) -> None:
        self.at = at
        self.prior = prior
        self.parents: dict[str, list[str]] = {}
        self.values: dict[str, list[Value]] = {}
        self.addends: list[tuple[int, frozenset[str], Callable[[Mapping[str, Value]], Fraction]]] = []
        self.count = len(queries)
        for name in prior:
            self._read(name)
        for k, query in enumerate(queries):
            for part, sign in addends(at.parsed(query)):
                self.addends.append((k, self._names(part), self._addend(part, sign)))

    def _read(self, name: str) -> None:
        entry = written(self.prior, name)
        if not isinstance(entry, dict) or "around" in entry:
            raise UnreadCase("windows of a prior with variables that are no tables")
        given = entry.get("given", [])
        self.parents[name] = [given] if isinstance(given, str) else list(given)
        found: dict[Value, None] = {}
        for values in self._listed(self.parents[name]):
            found |= dict.fromkeys(row(entry, values, self.at.knowing(values)))
        self.values[name] = list(found)

    def _names(self, tree: ast.expr) -> frozenset[str]:
        return frozenset(n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id in self.prior)

    def _addend(self, tree: ast.expr, sign: int) -> Callable[[Mapping[str, Value]], Fraction]:
        def value(known: Mapping[str, Value]) -> Fraction:
            found = self.at.knowing(known).value(tree)
            if isinstance(found, str):
                raise UnreadCase("an answer that is a label")
            return sign * found

        return value

    def _listed(self, names: Collection[str]) -> Iterator[dict[str, Value]]:
        """Yields all values of some variables."""
        size = 1
        for name in names:
            size *= len(self.values[name])
        if size > MAX_LISTED:
            raise UnreadCase("windows with very many values")
        for values in product(*(self.values[name] for name in names)):
            yield dict(zip(names, values, strict=True))

    def _used(self, names: Collection[str]) -> list[str]:
        """Returns some variables and all on which they depend."""
        found, pending = set(names), list(names)
        while pending:
            fresh = [p for p in self.parents[pending.pop()] if p not in found]
            found |= set(fresh)
            pending += fresh
        return [name for name in self.prior if name in found]

    def _table(self, name: str) -> Factor:
        entry, parents = written(self.prior, name), self.parents[name]
        known: dict[tuple[Value, ...], dict[Value, Fraction]] = {}

        def weight(values: Mapping[str, Value]) -> Fraction:
            given = tuple(values[p] for p in parents)
            if given not in known:
                own = {p: values[p] for p in parents}
                known[given] = row(entry, own, self.at.knowing(own))
            return known[given].get(values[name], Fraction(0))

        return frozenset([name, *parents]), weight

    def _around(
        self, secret: Any, core: Collection[str], names: Sequence[str], distance: int, sums: bool
    ) -> tuple[Table, list[int]]:
        """Returns the weights for each value of the separator, and the addends that are outside."""
        tables = [self._table(name) for name in names]
        marks = self.addends if sums else []
        scopes = [scope for scope, _ in tables] + [scope for _, scope, _ in marks]
        interior, edge = set(core), set(core)
        for _ in range(distance - 1):
            edge = {n for scope in scopes if scope & edge for n in scope} - interior
            interior |= edge
        inside = [k for k, scope in enumerate(scopes) if scope & interior]
        separator = sorted({n for k in inside for n in scopes[k]} - interior)
        tree = self.at.parsed(secret)
        found: Table = {}
        for values in self._listed([*sorted(interior), *separator]):
            if self.at.knowing(values).value(tree) == 0:
                continue
            weight, total = Fraction(1), [Fraction(0)] * self.count
            for k in inside:
                if k < len(tables):
                    weight *= tables[k][1](values)
                else:
                    query, _, value = marks[k - len(tables)]
                    total[query] += value(values)
            if weight:
                own = found.setdefault(tuple(values[n] for n in separator), {})
                place = tuple(total)
                own[place] = own.get(place, Fraction(0)) + weight
        return found, [k for k in range(len(marks)) if k + len(tables) not in inside]

    def _far(self, outside: Sequence[int]) -> set[Sums]:
        """Returns all sums of the addends that are outside."""
        found: set[Sums] = {(Fraction(0),) * self.count}
        for k in outside:
            query, scope, value = self.addends[k]
            steps = {value(values) for values in self._listed(sorted(scope))}
            found = {(*s[:query], s[query] + step, *s[query + 1 :]) for s in found for step in steps}
            if len(found) > MAX_LISTED:
                raise UnreadCase("windows with very many sums")
        return found

    def brackets(
        self, secrets: tuple[Any, Any], distance: int, bound: Fraction, words: Callable[[Sums], Words | None]
    ) -> tuple[int, bool]:
        """Returns how many different brackets there are, and whether none of them is negative."""
        core = {n for secret in secrets for n in self._names(self.at.parsed(secret))}
        asked = core | {n for _, scope, _ in self.addends for n in scope}
        near, masses = [], []
        outside: list[int] = []
        for secret in secrets:
            table, outside = self._around(secret, core, self._used(asked), distance, sums=True)
            near.append(table)
            masses.append(self._around(secret, core, self._used(core), distance + 1, sums=False)[0])
        none: dict[Sums, Fraction] = {}
        known = {
            tuple(whole([sum(table.get(v, none).values(), Fraction(0)) for table in masses]))
            for v in [*masses[0], *masses[1]]
        }
        likely: set[tuple[int, ...]] = set()
        far = self._far(outside)
        for s in dict.fromkeys([*near[0], *near[1]]):
            sums = list(dict.fromkeys(n for table in near for n in table.get(s, none)))
            weights = whole([table.get(s, none).get(n, Fraction(0)) for table in near for n in sums])
            for rest in far:
                own = [words(tuple(a + b for a, b in zip(n, rest, strict=True))) or {} for n in sums]
                for word in dict.fromkeys(word for chances in own for word in chances):
                    chance = whole([chances.get(word, Fraction(0)) for chances in own])
                    halves = (weights[: len(sums)], weights[len(sums) :])
                    likely.add(tuple(sum(map(mul, half, chance)) for half in halves))
        top, bottom = bound.numerator, bound.denominator
        brackets = (
            top * y * q - bottom * x * p
            for (a, b), (p_, q_) in product(likely, known)
            for x, y, p, q in ((a, b, q_, p_), (b, a, p_, q_))
        )
        return 2 * len(likely) * len(known), all(value >= 0 for value in brackets)


def whole(values: Sequence[Fraction]) -> list[int]:
    """Returns numbers times their common denominator."""
    scale = lcm(*(v.denominator for v in values))
    return [v.numerator * (scale // v.denominator) for v in values]


def keep_bound(
    reader: SecondReader,
    found: Sequence[PointProbabilities],
    pairs: Sequence[tuple[str, str]],
    points: Sequence[tuple[Mapping[str, Fraction], Fraction]],
    windows: Mapping[tuple[str, str], int],
) -> str:
    """Checks the bound for all pairs at some points, and what their windows need; tells what was compared.

    Raises:
        Rejected: the bound is broken, or a bracket is negative.
    """
    count = brackets = 0
    for left, right in dict.fromkeys(pairs):
        for item, differ in differences(found, left, right, 1, reader.one_sided):
            count += 1
            if any(t is not None and t < 0 for t in differ):
                raise Rejected(f"the bound is broken by {origin(item)}")
    somewhere = reader.calculator(*points[0])
    process = read(reader.data["mechanism"], somewhere)
    inputs = {x for given in reader.under_secrets(process, somewhere).values() for x in given}
    for pair, distance in windows.items():
        for point, base in points:
            at = reader.calculator(point, base)
            number, keeps = _brackets(reader, at, pair, distance, inputs)
            brackets += number
            if not keeps:
                raise Rejected(f"the window of {pair[0]} and {pair[1]} does not keep the bound")
    places = f"{len(points)} points" if len(points) > 1 else "a point"
    return f"{count} comparisons of probabilities, and {brackets} of windows, keep the bound at {places}"


def _brackets(
    reader: SecondReader,
    at: Calculator,
    secrets: tuple[str, str],
    distance: int,
    inputs: Collection[Input],
) -> tuple[int, bool]:
    """Looks at the window of two secrets; `inputs` are the answers that may happen, and no others do."""
    mechanism = reader.data["mechanism"]
    process = read(mechanism, at)
    process.prepare(list(inputs))
    reachable = {tuple(Fraction(a) for a in given) for given in inputs}
    known: dict[Sums, Words | None] = {}

    def words(answers: Sums) -> Words | None:
        if answers not in known:
            possible = answers in reachable
            known[answers] = process.words(as_input(answers, process), 1, None) if possible else None
        return known[answers]

    near = NearSecrets(reader.data["prior"], queries_of(mechanism), at)
    left, right = (reader.data["secrets"][name] for name in secrets)
    return near.brackets((left, right), distance, reader.ratio(at), words)
