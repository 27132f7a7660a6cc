"""Finite priors as small Bayesian networks with parametric tables, and secrets as predicates.

A prior is enumerated: every assignment of its variables gets an exact weight. Conditioning on a secret
keeps the assignments that satisfy it and never divides; their total mass goes along instead.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import comb

from paramverify import printable
from paramverify.algebra.expressions import Expression, Name, Node, Number, Operation, Text, Value, evaluate
from paramverify.algebra.polynomials import Polynomial, RationalFunction
from paramverify.errors import CaseError, LimitError, located
from paramverify.models.context import Checks
from paramverify.models.names import as_value, distinct, find, nearest, same
from paramverify.models.noise.truncated_geometric import truncated_geometric
from paramverify.models.prior_keys import DISTRIBUTION, DISTRIBUTIONS, WRITTEN
from paramverify.tables import Table, as_expression, check_name

MAX_ASSIGNMENTS = 200_000

Assignment = tuple[Value, ...]


@dataclass(frozen=True, eq=False)
class InitialDistribution:
    """A distribution over the states of a model: weight(s) / mass, wherever the mass is positive.

    The mass is the sum of the weights, and nonnegative on the domain. Where it is zero the secret has
    probability zero, and the distribution is undefined.
    """

    weights: Mapping[int, Polynomial]
    mass: Polynomial

    @staticmethod
    def point(state: int, one: Polynomial) -> InitialDistribution:
        """Returns the distribution that is in one state for sure."""
        return InitialDistribution({state: one}, one)

    @staticmethod
    def of(weights: Mapping[int, RationalFunction], checks: Checks) -> InitialDistribution:
        """Returns the distribution proportional to nonnegative weights with positive denominators."""
        kept = {s: w for s, w in weights.items() if w.numerator}
        denominator = checks.common_denominator(kept.values())
        # One positive factor for all weights and the mass cancels in every conditioned probability.
        cleared = {s: w.numerator * (denominator / w.denominator) for s, w in kept.items()}
        mass = checks.ring.number(0)
        for weight in cleared.values():
            mass += weight
        return InitialDistribution(cleared, mass)


@dataclass(frozen=True, eq=False)
class SecretPair:
    """Two secrets that must not be told apart, with the conditioned priors `pi` and `tau`.

    Neighbouring inputs of a mechanism have their `inputs`, and their `distance` where the case gives one.
    """

    left: str
    right: str
    pi: InitialDistribution
    tau: InitialDistribution
    inputs: tuple[Assignment, Assignment] | None = None
    distance: Fraction | None = None

    @property
    def turned(self) -> SecretPair:
        """The other direction."""
        inputs = self.inputs and (self.inputs[1], self.inputs[0])
        return replace(self, left=self.right, right=self.left, pi=self.tau, tau=self.pi, inputs=inputs)


@dataclass(frozen=True, eq=False)
class Prior:
    """The joint distribution of the prior's variables: a weight for every possible assignment.

    `values` are the values of each variable, also those that only parts of the distribution have.
    """

    names: tuple[str, ...]
    weights: Mapping[Assignment, RationalFunction]
    values: Mapping[str, Collection[Value]]

    def assignments(self) -> Iterable[tuple[dict[str, Value], RationalFunction]]:
        """Yields every possible assignment with its probability."""
        for values, weight in self.weights.items():
            yield dict(zip(self.names, values, strict=True)), weight

    def where(self, secret: Expression) -> Prior:
        """Returns the part of the joint distribution on which the secret holds (weights not rescaled).

        Raises:
            ExpressionError: a mistake in the secret, such as a label that the compared variable never takes.
        """
        check_labels(secret, self.values)
        kept = {
            tuple(assignment.values()): weight
            for assignment, weight in self.assignments()
            if _truth(secret, assignment)
        }
        return Prior(self.names, kept, self.values)


def check_labels(expression: Expression, values: Mapping[str, Collection[Value]]) -> None:
    """Checks that labels are compared only with variables that may take them, and numbers only with variables
    that may be numbers: what is misspelt is never equal.

    Raises:
        ExpressionError: a comparison that no value of the variable can make true.
    """
    for node in expression.nodes():
        if isinstance(node, Operation) and node.operator in ("==", "!="):
            for one, other in (node.arguments, node.arguments[::-1]):
                _check_equal(expression, one, other, values)


def _check_equal(
    expression: Expression, one: Node, other: Node, values: Mapping[str, Collection[Value]]
) -> None:
    if isinstance(one, Text) and isinstance(other, (Number, Operation)):
        raise expression.error(f"a number is never the label {one.value!r}", one)
    if not isinstance(other, Name) or other.name not in values:
        return
    known = values[other.name]
    numbers = [v for v in known if not isinstance(v, str)]
    if isinstance(one, Text) and one.value not in known:
        number = as_value(one.value) in numbers
        hint = f"; write {one.value} without quotes" if number else nearest(one.value, known)
        raise expression.error(f"{other.name} is never {one.value!r}{hint}", one)
    if isinstance(one, Name) and one.name not in values and one.name in known:
        raise expression.error(f"a label has quotes: '{one.name}'", one)
    if isinstance(one, (Number, Operation)) and not numbers:
        raise expression.error(f"{other.name} is never a number{nearest('', known)}", one)
    only_numbers = isinstance(one, Name) and not any(isinstance(v, str) for v in values.get(one.name, ("",)))
    if isinstance(one, Name) and only_numbers and not numbers:
        raise expression.error(f"{one.name} is a number and {other.name} is a label", one)


def _truth(secret: Expression, assignment: Mapping[str, Value]) -> bool:
    value = evaluate(secret, assignment)
    if isinstance(value, str):
        raise secret.error("a secret is a condition, not a label", secret.root)
    return value != 0


def read_prior(table: Table, checks: Checks) -> Prior:
    """Reads `[prior]`: variables in order, where later entries may refer to earlier ones.

    The checks keep the mistakes: a malformed entry, an unknown name, or a table that is not a distribution.
    Their variables are left out.

    Raises:
        LimitError: more than `MAX_ASSIGNMENTS` assignments.
    """
    names: list[str] = []
    one = RationalFunction.of(checks.ring.number(1))
    weights: dict[Assignment, RationalFunction] = {(): one}
    taken: dict[str, dict[Value, None]] = {}
    written: dict[str, Mapping[str, object]] = {}
    for name in table:
        with checks.mistakes, located(key=name):
            check_name(name)
            if name in checks.ring.parameters:
                raise CaseError("this name is a parameter already")
            entry = _shared(table.get(name), written)
            rows = _entry(entry.data if isinstance(entry, Table) else entry, taken, checks)
            if isinstance(entry, Table):
                written[name] = entry.data
            extended: dict[Assignment, RationalFunction] = {}
            own: dict[Value, None] = {}
            for values, weight in weights.items():
                for value, probability in rows(dict(zip(names, values, strict=True))).items():
                    extended[(*values, value)] = weight * probability
                    own[value] = None
                    if len(extended) > MAX_ASSIGNMENTS:
                        raise LimitError(f"the prior has more than {MAX_ASSIGNMENTS} assignments")
            if isinstance(rows, _Rows) and rows.stray and "like" not in table.table(name):
                raise rows.stray
            weights, taken[name] = extended, own
            names.append(name)
            continue
        checks.mistakes.broken.add(name)
    return Prior(tuple(names), weights, taken)


Row = Mapping[Value, RationalFunction]


class _Rows:
    """The conditional table of one variable: from the values of earlier variables to a row."""

    def __init__(
        self, given: list[str], rows: Mapping[tuple[Value, ...], Row], stray: CaseError | None = None
    ) -> None:
        self.given = given
        self.rows = rows
        self.stray = stray  # what is wrong with a key that no value has, told if no row is missing

    def __call__(self, assignment: Mapping[str, Value]) -> Row:
        condition = tuple(assignment[name] for name in self.given)
        if condition not in self.rows:
            shown = ", ".join(
                f"{n} = {printable.name(str(v))}" for n, v in zip(self.given, condition, strict=True)
            )
            raise CaseError(f"the table has no row for {shown}", key="table")
        return self.rows[condition]


class _Derived:
    """A variable that is a function of earlier ones."""

    def __init__(self, expression: Expression, checks: Checks) -> None:
        self.expression = expression
        self.one = RationalFunction.of(checks.ring.number(1))

    def __call__(self, assignment: Mapping[str, Value]) -> Row:
        value = evaluate(self.expression, assignment)
        return {Fraction(value) if isinstance(value, bool) else value: self.one}


class _Around:
    """A variable with truncated geometric noise around a function of earlier ones."""

    def __init__(self, table: Table, earlier: Mapping[str, Collection[Value]], checks: Checks) -> None:
        alpha = checks.function(table.expression("truncated_geometric"))
        self.noise = truncated_geometric(alpha, table.integer("range"), checks)
        self.around = table.expression("around")
        with located(key="around"):
            check_labels(self.around, earlier)

    def __call__(self, assignment: Mapping[str, Value]) -> Row:
        value, top = evaluate(self.around, assignment), self.noise.range
        if isinstance(value, str) or value not in range(top + 1):
            found = f"{self.around.text} is {printable.name(str(value))}"
            raise CaseError(
                f"{found}; with this range, a whole number from 0 to {top} is needed", key="around"
            )
        return {Fraction(o): p for o, p in enumerate(self.noise.rows[int(value)])}


def _shared(entry: object, written: Mapping[str, Mapping[str, object]]) -> object:
    """Returns an entry, where it is a table with what it takes over from another variable by `like`."""
    if not isinstance(entry, dict):
        return entry
    table = Table(entry, DISTRIBUTION)
    if "like" not in table:
        return table
    name = table.text("like")
    if name not in written:
        reason = f"{name!r} is not an earlier variable with a distribution"
        raise CaseError(reason + nearest(name, list(written)) if written else reason, key="like")
    own = {key: table.get(key) for key in ("given", "around") if key in table}
    table.close()
    for key in own:
        if key not in written[name]:
            raise CaseError(f"{name} has no {key}: leave it out", key=key)
    return Table({**written[name], **own})


def _entry(
    entry: object, earlier: Mapping[str, Collection[Value]], checks: Checks
) -> _Rows | _Derived | _Around:
    if isinstance(entry, (str, int)):
        expression = as_expression(entry)
        check_labels(expression, earlier)
        return _Derived(expression, checks)
    if not isinstance(entry, dict):
        raise CaseError("a distribution (a table) or an expression over earlier variables is needed here")
    table = Table(entry, DISTRIBUTION)
    result: _Rows
    if "given" in table:
        given = [table.text("given")] if isinstance(table.get("given"), str) else table.texts("given")
        for name in given:
            if name not in earlier:
                mistake = CaseError(f"{name!r} is not an earlier variable of the prior", key="given")
                mistake.unknown = name
                raise mistake
        rows: dict[tuple[Value, ...], Row] = {}
        keys: dict[tuple[Value, ...], str] = {}
        stray: CaseError | None = None
        for key, row in table.table("table").data.items():
            with located(key=f"table.{key}"):
                if not isinstance(row, dict):
                    raise CaseError("a table from values to probabilities is needed here")
                parts = [key] if len(given) == 1 else key.split(",")
                if len(parts) != len(given):
                    raise CaseError(f"one value for each of {', '.join(given)} is needed in this key")
                try:
                    condition = _condition(parts, given, earlier)
                except CaseError as error:
                    stray = CaseError(error.reason, key=f"table.{key}")
                    continue
                if condition in rows:
                    raise CaseError(same(keys[condition], key))
                rows[condition], keys[condition] = _row(row, checks), key
        result = _Rows(given, rows, stray)
    elif "truncated_geometric" in table:
        around = _Around(table, earlier, checks)
        table.close()
        return around
    else:
        result = _Rows([], {(): _unconditional(table, checks)})
    table.close()
    return result


def _condition(
    parts: list[str], given: list[str], earlier: Mapping[str, Collection[Value]]
) -> tuple[Value, ...]:
    """Reads the key of a row: one value for each condition. Blanks count only where a label has them.

    Raises:
        CaseError: a value that the variable never has, or more than one meaning.
    """
    found = []
    for name, part in zip(given, parts, strict=True):
        known, plain = list(earlier[name]), part.strip()
        if len(given) > 1 and plain != part:
            if part in known and plain in known:
                raise CaseError(f"{part!r} and {plain!r} are both values of {name}: rename one of them")
            part = part if part in known else plain
        try:
            found.append(find(part, known))
        except CaseError as error:
            raise CaseError(f"{name} is never {part!r}: {error.reason}") from None
    return tuple(found)


def _unconditional(table: Table, checks: Checks) -> Row:
    if "bernoulli" in table:
        with located(key="bernoulli"):
            success = checks.function(as_expression(table.get("bernoulli")))
        return _checked({Fraction(0): _complement(success), Fraction(1): success}, checks)
    if "binomial" in table:
        return _checked(_binomial(table, checks), checks)
    if "uniform" in table:
        values = table.get("uniform")
        if not isinstance(values, list) or not values:
            raise CaseError("a list of values is needed here", key="uniform")
        share = RationalFunction.of(checks.ring.number(Fraction(1, len(values))))
        with located(key="uniform"):
            return _checked(dict.fromkeys(distinct(values), share), checks)
    if "categorical" in table:
        return _row(table.table("categorical").data, checks)
    table.check_spelling(*DISTRIBUTIONS)
    raise CaseError(f"a distribution is one of {', '.join(WRITTEN)}, like, or given with table")


def _binomial(table: Table, checks: Checks) -> dict[Value, RationalFunction]:
    arguments = table.get("binomial")
    if not isinstance(arguments, list) or len(arguments) != 2:
        raise CaseError("write binomial = [number of trials, probability]", key="binomial")
    trials, probability = arguments
    if not isinstance(trials, int) or isinstance(trials, bool) or not 1 <= trials <= 1000:
        raise CaseError("the number of trials is a whole number from 1 to 1000", key="binomial")
    with located(key="binomial"):
        success = checks.function(as_expression(probability))
    failure = _complement(success)
    one = RationalFunction.of(checks.ring.number(1))
    _checked({Fraction(0): failure, Fraction(1): success}, checks)
    result: dict[Value, RationalFunction] = {}
    for k in range(trials + 1):
        ways = RationalFunction.of(checks.ring.number(comb(trials, k)))
        result[Fraction(k)] = ways * (success**k if k else one) * (failure ** (trials - k))
    return result


def _complement(probability: RationalFunction) -> RationalFunction:
    one = RationalFunction.of(probability.numerator.context().constant(1))
    return one - probability


def _row(entries: Mapping[str, object], checks: Checks) -> Row:
    row: dict[Value, RationalFunction] = {}
    for value, name in distinct(entries).items():
        with located(key=str(name)):
            row[value] = checks.function(as_expression(entries[str(name)]))
    return _checked(row, checks)


def _checked(row: dict[Value, RationalFunction], checks: Checks) -> Row:
    checks.distribution({str(value): p for value, p in row.items()}, "this distribution")
    return row
