"""The entries of `[prior]`: how a variable is drawn, given the values of earlier ones."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fractions import Fraction
from math import comb

from paramverify import printable, spelling
from paramverify.algebra.arrays import without_entries
from paramverify.algebra.expressions import Expression, Value, evaluate
from paramverify.algebra.polynomials import RationalFunction
from paramverify.errors import CaseError, located
from paramverify.models.context import Checks
from paramverify.models.equalities import check_labels
from paramverify.models.names import distinct, find, nearest, same
from paramverify.models.networks import Network
from paramverify.models.noise.truncated_geometric import truncated_geometric
from paramverify.models.prior_keys import DISTRIBUTION, DISTRIBUTIONS, WRITTEN
from paramverify.tables import Table, as_expression

Row = Mapping[Value, RationalFunction]


class Rows:
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

    def join(self, network: Network, name: str) -> None:
        """Adds the variable to a network."""
        network.add(name, self.given, self)


class Derived:
    """A variable that is a function of earlier ones."""

    def __init__(self, expression: Expression, checks: Checks) -> None:
        self.expression = expression
        self.one = RationalFunction.of(checks.ring.number(1))

    def __call__(self, assignment: Mapping[str, Value]) -> Row:
        value = evaluate(self.expression, assignment)
        return {Fraction(value) if isinstance(value, bool) else value: self.one}

    def join(self, network: Network, name: str) -> None:
        """Adds the variable to a network."""
        network.derive(name, network.known(self.expression))


class Around:
    """A variable with truncated geometric noise around a function of earlier ones."""

    def __init__(self, table: Table, earlier: Mapping[str, Collection[Value]], checks: Checks) -> None:
        alpha = checks.function(table.expression("truncated_geometric"))
        self.noise = truncated_geometric(alpha, table.integer("range"), checks)
        self.around = table.expression("around")
        with located(key="around"):
            check_labels(self.around, earlier)

    def __call__(self, assignment: Mapping[str, Value]) -> Row:
        return self.near(evaluate(self.around, assignment))

    def near(self, value: Value) -> Row:
        """Returns the distribution around a value."""
        top = self.noise.range
        if isinstance(value, str) or value not in range(top + 1):
            found = f"{self.around.text} is {printable.name(str(value))}"
            raise CaseError(
                f"{found}; with this range, a whole number from 0 to {top} is needed", key="around"
            )
        return {Fraction(o): p for o, p in enumerate(self.noise.rows[int(value)])}

    def join(self, network: Network, name: str) -> None:
        """Adds the variable to a network."""
        part = network.apart(network.known(self.around))
        network.add(name, tuple(part.names()), lambda values: self.near(evaluate(part, values)))


Entry = Rows | Derived | Around


def shared(entry: object, written: Mapping[str, Mapping[str, object]]) -> object:
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


def read_entry(entry: object, earlier: Mapping[str, Collection[Value]], checks: Checks) -> Entry:
    if isinstance(entry, (str, int)):
        expression = as_expression(entry)
        check_labels(expression, earlier)
        return Derived(expression, checks)
    if not isinstance(entry, dict):
        raise CaseError("a distribution (a table) or an expression over earlier variables is needed here")
    table = Table(entry, DISTRIBUTION)
    result: Rows
    if "given" in table:
        given = [table.text("given")] if isinstance(table.get("given"), str) else table.texts("given")
        for name in given:
            if name not in earlier:
                base = name.partition("[")[0]
                near = spelling.nearest(base, without_entries(earlier))
                mend = f"did you mean {near}?" if near and near != base else ""
                reason = f"{name!r} is not an earlier variable of the prior"
                mistake = CaseError(reason, key="given", mend=mend)
                mistake.unknown = name
                raise mistake
        rows: dict[tuple[Value, ...], Row] = {}
        keys: dict[tuple[Value, ...], str] = {}
        stray: CaseError | None = None
        for key, row in table.table("table").data.items():
            with located(key=f"table.{key}"):
                if not isinstance(row, dict):
                    raise CaseError("a table from values to probabilities is needed here")
                _no_distribution(row)
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
        result = Rows(given, rows, stray)
    elif "truncated_geometric" in table:
        around = Around(table, earlier, checks)
        table.close()
        return around
    else:
        result = Rows([], {(): _unconditional(table, checks)})
    table.close()
    return result


def _no_distribution(row: Mapping[str, object]) -> None:
    """Refuses a row that says how a value is drawn, instead of each value with its probability."""
    (kind, told), *more = row.items() or [("", "")]
    if more or kind not in WRITTEN:
        return
    mend = "write each value with its probability"
    if kind == "bernoulli":
        chance = str(told)
        mend += f', such as {{ 0 = "1 - ({chance})", 1 = "{chance}" }}'
    reason = f"{kind} is a distribution, and a row of a table has values"
    raise CaseError(reason, key=kind, mend=mend)


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
