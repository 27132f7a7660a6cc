"""Priors as networks: what each variable depends on, and the joint distribution of some expressions.

Nothing here lists assignments. An expression over many variables is taken apart: `a + b + c` becomes a chain
of partial sums, each a variable of its own with few values. A query that is a sum needs not even that: every
value of an addend is a power of a variable of the ring; the powers of a product are the values of a sum.
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
from paramverify.algebra.expressions import Expression, Name, Node, Operation, Value, evaluate, unknown_name
from paramverify.algebra.polynomials import Polynomial, RationalFunction
from paramverify.errors import InputError, LimitError
from paramverify.models.addends import addends_of
from paramverify.models.context import Checks
from paramverify.models.elimination import MAX_TABLE, Factor, Row, Tree, too_wide

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
            raise LimitError(f"{shown} has too many values: at most {MAX_POWER:,} are counted")
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
        raise secret.error("a secret is a condition, not a label", secret.root)
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
