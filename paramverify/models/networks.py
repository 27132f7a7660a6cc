"""Priors as networks.

What each variable depends on, sums taken apart, and joint distributions by elimination.

Nothing here lists assignments. An expression over many variables is taken apart: `a + b + c` becomes a chain
of partial sums, each a variable of its own with few values. A query that is a sum needs not even that: every
value of an addend is a power of a variable of the ring; the powers of a product are the values of a sum.

Sums of products of factors, one variable after the other, on a tree of small sets of variables.

Variable elimination as messages on a junction tree ([KollerFriedman09] chapters 9 and 10). The order is that
of the min-fill heuristic of networkx. A message depends only on what is on its side of the tree. So totals
that differ in evidence share the messages from sides without evidence: all of them need about two passes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from itertools import product
from math import lcm, prod
from typing import TypeVar

from flint import fmpq, fmpq_mpoly_ctx

from paramverify import printable
from paramverify.algebra.expressions import (
    Expression,
    Name,
    Node,
    Operation,
    RationalConstant,
    Value,
    evaluate,
    unknown_name,
)
from paramverify.algebra.polynomials import Polynomial, RationalFunction
from paramverify.errors import InputError, LimitError
from paramverify.models.context import Checks


@dataclass(frozen=True, eq=False)
class Addend:
    """A number times a part of an expression."""

    times: Fraction
    part: Expression


@dataclass(frozen=True, eq=False)
class Addends:
    """An expression as a constant plus addends; `plain` if it is no sum, and the only addend is all of it."""

    constant: Fraction
    addends: tuple[Addend, ...]
    plain: bool


def addends_of(expression: Expression, sums: Mapping[str, Expression]) -> Addends:
    """Returns what an expression adds up; `sums` are the variables that stand for sums, with these."""
    constant = Fraction(0)
    found: list[Addend] = []
    pending = [Addend(Fraction(1), expression)]
    while pending:
        addend = pending.pop()
        node = addend.part.root
        if isinstance(node, RationalConstant):
            constant += addend.times * node.value
        elif isinstance(node, Name) and node.name in sums:
            pending.append(Addend(addend.times, sums[node.name]))
        elif isinstance(node, Operation) and (parts := _parts(node)):
            more = [Addend(addend.times * t, Expression(addend.part.text, n)) for t, n in parts]
            pending.extend(reversed(more))
        else:
            found.append(addend)
    plain = len(found) == 1 and found[0].part.root is expression.root
    return Addends(constant, tuple(found), plain)


def _parts(node: Operation) -> list[tuple[Fraction, Node]]:
    """Returns numbers and parts whose products an operation adds up; none of one that is no sum."""
    if node.operator == "+":
        return [(Fraction(1), part) for part in node.arguments]
    if node.operator == "neg":
        return [(Fraction(-1), node.arguments[0])]
    numbers = [_number(part) for part in node.arguments]
    if node.operator == "*" and sum(n is None for n in numbers) == 1:
        times = Fraction(1)
        for number in numbers:
            times *= 1 if number is None else number
        return [(times, node.arguments[numbers.index(None)])]
    if node.operator == "/" and numbers[0] is None and numbers[1]:
        return [(1 / numbers[1], node.arguments[0])]
    return []


def _number(node: Node) -> Fraction | None:
    return node.value if isinstance(node, RationalConstant) else None


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
    reason = f"{len(names)} variables must be considered together, and they have {count:,} combinations"
    return LimitError(f"{reason} of values, but at most {MAX_TABLE:,} are supported: {shown}")


LOCAL = 256  # combinations of values up to which an expression is a table as it stands
MAX_POWER = 100_000  # that stands for a value of a query
FOLDED = ("+", "*", "min", "max", "and", "or")  # taken apart from left to right

T = TypeVar("T")
Answers = tuple[Value, ...]
Weights = Mapping[Value, RationalFunction]


@dataclass(frozen=True, eq=False)
class NetworkVariable:
    """A variable: the earlier ones that it depends on, its values, and how likely each is given theirs.

    Combinations of values of the earlier ones that never happen may have no weights.
    """

    name: str
    needs: tuple[str, ...]
    values: tuple[Value, ...]
    rows: Mapping[Row, Weights]


@dataclass(frozen=True, eq=False)
class QueryTerm:
    """An addend of a query: the power of the query's variable for each combination of values."""

    scope: tuple[str, ...]
    powers: Mapping[Row, int]


@dataclass(frozen=True, eq=False)
class Query:
    """A query as powers of a variable: its addends, the largest power, and the value that a power means."""

    marks: tuple[QueryTerm, ...]
    most: int
    value: Callable[[int], Value]

    @property
    def values(self) -> tuple[Value, ...]:
        """The values that sums of powers have, also where not all addends have them together."""
        powers = 1
        for mark in self.marks:
            powers = reduce(int.__or__, (powers << power for power in set(mark.powers.values())), 0)
        return tuple(self.value(k) for k in range(powers.bit_length()) if powers >> k & 1)


@dataclass
class Network:
    """Variables in order; each depends on earlier ones only.

    `sums` are variables that are sums of many others. They are taken apart where they are needed one by one.
    """

    checks: Checks
    variables: dict[str, NetworkVariable] = field(default_factory=dict)
    sums: dict[str, tuple[Expression, Query]] = field(default_factory=dict)
    parts: int = 0  # variables that expressions were taken apart into

    def values_of(self, name: str) -> tuple[Value, ...]:
        """Returns the values of a variable; of a sum, also some that it may not have."""
        return self.variables[name].values if name in self.variables else self.sums[name][1].values

    def known(self, expression: Expression) -> Expression:
        """Returns an expression of which all names are variables.

        Raises:
            ExpressionError: another name.
        """
        for name, node in expression.names().items():
            if name not in self.variables and name not in self.sums:
                raise unknown_name(expression, node, name, [*self.variables, *self.sums])
        return expression

    def add(self, name: str, needs: Sequence[str], row: Callable[[Mapping[str, Value]], Weights]) -> None:
        """Adds a variable whose distribution `row` gives for the values of those that it needs.

        Raises:
            InputError: what `row` raises for values that the earlier variables have together.
            LimitError: too many combinations of values.
        """
        once = tuple(dict.fromkeys(needs))  # person[i-1] and person[i//2] may be one variable
        rows = self._table(once, row)
        values = dict.fromkeys(value for weights in rows.values() for value in weights)
        self.variables[name] = NetworkVariable(name, once, tuple(values), rows)

    def derive(self, name: str, expression: Expression) -> None:
        """Adds a variable that is a function of earlier ones; errors as of `add`."""
        if self._combinations(expression.root) > LOCAL and not addends_of(expression, {}).plain:
            self.sums[name] = expression, self.query(expression)
            return
        self._define(name, self.apart(expression))

    def _define(self, name: str, expression: Expression) -> None:
        one = RationalFunction.of(self.checks.ring.number(1))
        self.add(name, tuple(expression.names()), lambda values: {valued(expression, values): one})

    def _table(
        self, needs: Sequence[str], entry: Callable[[Mapping[str, Value]], T], given: Sequence[Factor] = ()
    ) -> dict[Row, T]:
        """Returns an entry for each combination of values, but for those that never happen, given evidence.

        Raises:
            InputError: what `entry` raises for a combination that happens.
        """
        self._one_by_one(needs)
        listed = [self.variables[name].values for name in needs]
        if prod(map(len, listed)) > MAX_TABLE:
            raise too_wide(needs, prod(map(len, listed)))
        found: dict[Row, T] = {}
        failed: dict[Row, InputError] = {}
        for row in product(*listed):
            try:
                found[row] = entry(dict(zip(needs, row, strict=True)))
            except InputError as error:
                failed[row] = error
        if failed and self._happens(tuple(needs), failed, given):
            for row, mistake in failed.items():
                if self._happens(tuple(needs), [row], given):
                    raise mistake
        return found

    def _one_by_one(self, needs: Iterable[str]) -> None:
        """Takes sums apart, of which each value is needed."""
        for name in needs:
            if name in self.sums and name not in self.variables:
                self._define(name, self.apart(self.sums[name][0]))

    def _happens(self, scope: tuple[str, ...], rows: Collection[Row], given: Sequence[Factor]) -> bool:
        """Tells whether the variables have one of these combinations of values, whatever its probability."""
        one = self.checks.ring.number(1)
        evidence = [*given, Factor(scope, dict.fromkeys(rows, one))]
        used = self.used([f.scope for f in evidence])
        factors = [
            Factor((*v.needs, v.name), {(*row, x): one for row, weights in v.rows.items() for x in weights})
            for v in used
        ]
        values = {v.name: v.values for v in used}
        return bool(Tree(values, factors, [f.scope for f in evidence], one).total(evidence))

    def used(self, scopes: Iterable[Sequence[str]]) -> list[NetworkVariable]:
        """Returns the variables of some scopes and all that these depend on, in order.

        Those that are left out sum to 1, for each of their rows does.
        """
        pending = [name for scope in scopes for name in scope]
        wanted: set[str] = set()
        while pending:
            name = pending.pop()
            if name not in wanted:
                wanted.add(name)
                pending += self.variables[name].needs
        return [variable for name, variable in self.variables.items() if name in wanted]

    def _combinations(self, node: Node) -> int:
        names = Expression("", node).names()
        return prod(len(self.values_of(name)) for name in names)

    def apart(self, expression: Expression) -> Expression:
        """Returns the same expression over few variables; its parts become variables of their own.

        Raises:
            LimitError: a part depends on too many variables at once.
        """
        return Expression(expression.text, self._apart(expression.root, expression.text))

    def _apart(self, node: Node, text: str) -> Node:
        if not isinstance(node, Operation) or self._combinations(node) <= LOCAL:
            return node
        parts = [self._alone(part, text) for part in node.arguments]
        if node.operator not in FOLDED:
            return Operation(node.operator, tuple(parts), node.column)
        found = parts[0]
        for k, part in enumerate(parts[1:], 2):
            joined = Operation(node.operator, (found, part), node.column)
            found = joined if k == len(parts) else self._alone(joined, text)
        return found

    def _alone(self, node: Node, text: str) -> Node:
        """Returns an expression over one variable at most."""
        small = self._apart(node, text)
        if len(Expression(text, small).names()) <= 1:
            return small
        self.parts += 1
        name = f"part {self.parts} of {printable.name(text, 40)}"
        self._define(name, Expression(text, small))
        return Name(name, node.column)

    def evidence(self, secret: Expression) -> list[Factor]:
        """Returns factors whose product is 1 where a secret holds, else 0.

        Raises:
            ExpressionError: the secret is a label. InputError: a mistake in it. LimitError: it is too wide.
        """
        one = self.checks.ring.number(1)
        found: list[Factor] = []
        for node in _conjuncts(secret.root):
            part = self.apart(Expression(secret.text, node))
            needs = tuple(part.names())

            def true(values: Mapping[str, Value], part: Expression = part) -> bool:
                return truth(part, values)

            rows = self._table(needs, true, found)
            found.append(Factor(needs, {row: one for row, holds in rows.items() if holds}))
        return found

    def query(self, expression: Expression) -> Query:
        """Returns a query as powers.

        Raises:
            InputError: a mistake in it. LimitError: it depends on too many variables at once, or has too many
                values.
        """
        taken = addends_of(expression, {name: known for name, (known, _) in self.sums.items()})
        tables: list[tuple[tuple[str, ...], dict[Row, Value]]] = []
        for addend in taken.addends:
            part = self.apart(addend.part)

            def value(values: Mapping[str, Value], part: Expression = part) -> Value:
                found = valued(part, values)
                if isinstance(found, str) and not taken.plain:
                    raise part.error(f"the label {found!r} is not a number", part.root)
                return found

            tables.append((tuple(part.names()), self._table(tuple(part.names()), value)))
        if taken.plain:
            scope, table = tables[0]
            listed = list(dict.fromkeys(table.values()))
            number = {value: k for k, value in enumerate(listed)}
            mark = QueryTerm(scope, {row: number[value] for row, value in table.items()})
            return Query((mark,), len(listed) - 1, listed.__getitem__)
        scaled = [
            (scope, {row: a.times * Fraction(value) for row, value in table.items()})
            for a, (scope, table) in zip(taken.addends, tables, strict=True)
        ]
        unit = lcm(1, *(v.denominator for _, table in scaled for v in table.values()))
        least = [min(table.values()) for _, table in scaled]
        marks = tuple(
            QueryTerm(scope, {row: int((value - low) * unit) for row, value in table.items()})
            for (scope, table), low in zip(scaled, least, strict=True)
        )
        most = sum(max(mark.powers.values()) for mark in marks)
        if most > MAX_POWER:
            shown = printable.line(expression.text[:70])
            raise LimitError(f"{shown} has too many values: at most {MAX_POWER:,} are supported")
        bottom = sum(least, taken.constant)
        return Query(marks, most, lambda power: bottom + Fraction(power, unit))

    def weights(
        self, secrets: Mapping[str, Sequence[Factor]], queries: Sequence[Query]
    ) -> dict[str, dict[Answers, RationalFunction]]:
        """Returns how likely each combination of answers is together with each secret.

        All weights are those of the joint distribution times one common polynomial that is positive on the
        domain. Combinations with the weight zero are left out.

        Raises:
            LimitError: too many variables depend on each other, with their names.
        """
        marks = [(k, mark) for k, query in enumerate(queries) for mark in query.marks]
        scopes = [f.scope for factors in secrets.values() for f in factors] + [m.scope for _, m in marks]
        used = self.used(scopes)
        ring = self.checks.ring
        context = ring.context.append_gens(*(f"answer {k}" for k in range(len(queries))))
        one = context.constant(1)
        factors = [self.factor(variable, context) for variable in used]
        first = len(ring.names)
        for k, mark in marks:
            powers = {p: context.gen(first + k) ** p for p in set(mark.powers.values())}
            factors.append(Factor(mark.scope, {row: powers[p] for row, p in mark.powers.items()}))
        tree = Tree({v.name: v.values for v in used}, factors, scopes, one)
        found: dict[str, dict[Answers, RationalFunction]] = {}
        for name, given in secrets.items():
            lifted = [Factor(f.scope, dict.fromkeys(f.weights, one)) for f in given]
            found[name] = {
                tuple(query.value(power) for query, power in zip(queries, powers, strict=True)): weight
                for powers, weight in by_powers(tree.total(lifted), ring.context, first).items()
            }
        return found

    def factor(self, variable: NetworkVariable, context: fmpq_mpoly_ctx) -> Factor:
        """Returns the table of a variable, times its common denominator, in a larger ring."""
        entries = {(*row, x): p for row, ws in variable.rows.items() for x, p in ws.items() if p.numerator}
        functions = {id(p): p for p in entries.values()}
        bottom = self.checks.common_denominator(functions.values())
        lifted = {
            k: (p.numerator * (bottom / p.denominator)).project_to_context(context)
            for k, p in functions.items()
        }
        return Factor((*variable.needs, variable.name), {row: lifted[id(p)] for row, p in entries.items()})


def truth(secret: Expression, values: Mapping[str, Value]) -> bool:
    """Tells whether a secret holds.

    Raises:
        ExpressionError: it is a label, or a mistake in it.
    """
    value = evaluate(secret, values)
    if isinstance(value, str):
        raise secret.error("a secret must be a condition, such as x == 1, not a label", secret.root)
    return value != 0


def valued(expression: Expression, values: Mapping[str, Value]) -> Value:
    """Returns the value of an expression; truth is 1 or 0."""
    value = evaluate(expression, values)
    return Fraction(value) if isinstance(value, bool) else value


def _conjuncts(node: Node) -> list[Node]:
    if isinstance(node, Operation) and node.operator == "and":
        return [inner for part in node.arguments for inner in _conjuncts(part)]
    return [node]


def by_powers(
    total: Polynomial, context: fmpq_mpoly_ctx, first: int
) -> dict[tuple[int, ...], RationalFunction]:
    """Returns the coefficients of a polynomial by the powers of its last variables, from the `first` on."""
    terms: dict[tuple[int, ...], dict[tuple[int, ...], fmpq]] = {}
    for powers, coefficient in total.to_dict().items():
        terms.setdefault(tuple(map(int, powers[first:])), {})[powers[:first]] = coefficient
    return {powers: RationalFunction.of(context.from_dict(own)) for powers, own in sorted(terms.items())}
