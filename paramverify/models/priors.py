"""Finite priors as small Bayesian networks with parametric tables, and secrets as predicates.

A prior is enumerated: every assignment of its variables gets an exact weight. Conditioning on a secret
keeps the assignments that satisfy it and never divides; their total mass goes along instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb

from paramverify import printable
from paramverify.algebra.expressions import Expression, Name, Operation, Text, Value, evaluate
from paramverify.algebra.polynomials import Polynomial, RationalFunction
from paramverify.errors import CaseError, LimitError, located
from paramverify.models.checks import Checks
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
    """Two secrets that must not be told apart, with the conditioned priors `pi` and `tau`."""

    left: str
    right: str
    pi: InitialDistribution
    tau: InitialDistribution


@dataclass(frozen=True, eq=False)
class Prior:
    """The joint distribution of the prior's variables: a weight for every possible assignment."""

    names: tuple[str, ...]
    weights: Mapping[Assignment, RationalFunction]

    def assignments(self) -> Iterable[tuple[dict[str, Value], RationalFunction]]:
        """Yields every possible assignment with its probability."""
        for values, weight in self.weights.items():
            yield dict(zip(self.names, values, strict=True)), weight

    def where(self, secret: Expression) -> Prior:
        """Returns the part of the joint distribution on which the secret holds (weights not rescaled).

        Raises:
            ExpressionError: a mistake in the secret, such as a label that the compared variable never takes.
        """
        check_labels(secret, self.names, self.weights)
        kept = {
            tuple(assignment.values()): weight
            for assignment, weight in self.assignments()
            if _truth(secret, assignment)
        }
        return Prior(self.names, kept)


def check_labels(secret: Expression, names: Sequence[str], assignments: Iterable[Assignment]) -> None:
    """Checks that a label is compared only with variables that may take it: a misspelt one is never equal.

    Raises:
        ExpressionError: it is compared with a variable that has other values only.
    """
    values: dict[str, set[Value]] = {name: set() for name in names}
    for assignment in assignments:
        for name, value in zip(names, assignment, strict=True):
            values[name].add(value)
    for node in secret.nodes():
        if not (isinstance(node, Operation) and node.operator in ("==", "!=")):
            continue
        for one, other in (node.arguments, node.arguments[::-1]):
            if isinstance(one, Text) and isinstance(other, Name) and other.name in values:
                known = values[other.name]
                if one.value not in known:
                    shown = ", ".join(sorted(printable.name(str(value)) for value in known))
                    raise secret.error(f"{other.name} is never {one.value!r}; its values are {shown}", one)


def _truth(secret: Expression, assignment: Mapping[str, Value]) -> bool:
    value = evaluate(secret, assignment)
    if isinstance(value, str):
        raise secret.error("a secret is a condition, not a label", secret.root)
    return value != 0


def read_prior(table: Table, checks: Checks) -> Prior:
    """Reads `[prior]`: variables in order, where later entries may refer to earlier ones.

    Raises:
        InputError: a malformed entry, an unknown name, or a table that is not a distribution.
        LimitError: more than `MAX_ASSIGNMENTS` assignments.
    """
    names: list[str] = []
    one = RationalFunction.of(checks.ring.number(1))
    weights: dict[Assignment, RationalFunction] = {(): one}
    for name in table:
        with located(key=name):
            check_name(name)
            if name in checks.ring.parameters:
                raise CaseError("this name is a parameter already")
            rows = _entry(table.get(name), names, checks)
            extended: dict[Assignment, RationalFunction] = {}
            for values, weight in weights.items():
                for value, probability in rows(dict(zip(names, values, strict=True))).items():
                    extended[(*values, value)] = weight * probability
                    if len(extended) > MAX_ASSIGNMENTS:
                        raise LimitError(f"the prior has more than {MAX_ASSIGNMENTS} assignments")
            weights = extended
        names.append(name)
    return Prior(tuple(names), weights)


Row = Mapping[Value, RationalFunction]


class _Rows:
    """The conditional table of one variable: from the values of earlier variables to a row."""

    def __init__(self, given: list[str], rows: Mapping[tuple[Value, ...], Row]) -> None:
        self.given = given
        self.rows = rows

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


def _entry(entry: object, earlier: list[str], checks: Checks) -> _Rows | _Derived:
    if isinstance(entry, (str, int)):
        return _Derived(as_expression(entry), checks)
    if not isinstance(entry, dict):
        raise CaseError("a distribution (a table) or an expression over earlier variables is needed here")
    table = Table(entry)
    result: _Rows
    if "given" in table:
        given = [table.text("given")] if isinstance(table.get("given"), str) else table.texts("given")
        for name in given:
            if name not in earlier:
                raise CaseError(f"{name!r} is not an earlier variable of the prior", key="given")
        rows: dict[tuple[Value, ...], Row] = {}
        for condition, row in table.table("table").data.items():
            with located(key=f"table.{condition}"):
                parts = [part.strip() for part in condition.split(",")]
                if len(parts) != len(given):
                    raise CaseError(f"one value for each of {', '.join(given)} is needed in this key")
                if not isinstance(row, dict):
                    raise CaseError("a table from values to probabilities is needed here")
                rows[tuple(as_value(part) for part in parts)] = _row(row, checks)
        result = _Rows(given, rows)
    else:
        result = _Rows([], {(): _unconditional(table, checks)})
    table.close()
    return result


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
        return _checked({as_value(v): share for v in values}, checks)
    if "categorical" in table:
        return _row(table.table("categorical").data, checks)
    known = ("bernoulli", "binomial", "categorical", "uniform", "given")
    reason = "a distribution is one of bernoulli, binomial, categorical, uniform, or given with table"
    raise CaseError(reason + table.hint(*known))


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
    for value, probability in entries.items():
        with located(key=value):
            if as_value(value) in row:
                raise CaseError("this value occurs twice")
            row[as_value(value)] = checks.function(as_expression(probability))
    return _checked(row, checks)


def _checked(row: dict[Value, RationalFunction], checks: Checks) -> Row:
    checks.distribution({str(value): p for value, p in row.items()}, "this distribution")
    return row


def as_value(value: object) -> Value:
    """Returns the value that a key or list entry names: a rational where it reads as one, else a label."""
    if isinstance(value, int):
        return Fraction(value)
    if not isinstance(value, str):
        raise CaseError("a number or a label is needed here")
    try:
        return Fraction(value) if len(value) < 100 and "e" not in value.lower() else value
    except (ValueError, ZeroDivisionError):
        return value
