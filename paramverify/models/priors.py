"""Finite priors as small Bayesian networks with parametric tables, as `[prior]` gives them; secrets as
predicates.

The assignments of a small prior are listed with their exact weights. A larger one stays a network, from which
the variables are eliminated (`models.networks`). Conditioning on a secret keeps the assignments that satisfy
it and never divides; their total mass goes along instead.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import comb

from paramverify import printable, spelling
from paramverify.algebra.expressions import (
    INDICES,
    Arrays,
    Expression,
    Index,
    IndexMistake,
    Value,
    bound,
    entry,
    evaluate,
    in_reach,
    reaching,
    sizes_of,
    without_entries,
)
from paramverify.algebra.polynomials import Polynomial, RationalFunction
from paramverify.errors import CaseError, InputError, located
from paramverify.models.context import Checks
from paramverify.models.names import as_value, check_compared_labels, distinct, find, nearest, same
from paramverify.models.networks import Answers, Factor, Network, Query, truth, valued
from paramverify.models.noise import MAX_RANGE
from paramverify.models.noise.truncated_geometric import truncated_geometric
from paramverify.spelling import nearest as nearest_word
from paramverify.tables import (
    EXPRESSION,
    NAME,
    TEXT,
    VALUE,
    Either,
    Key,
    Listed,
    Section,
    Table,
    as_expression,
    at_most_one,
    by_name,
    check_name,
    exactly_one,
    needs,
    whole,
)

ALONE = ("bernoulli", "binomial", "categorical", "uniform")
WRITTEN = (*ALONE, "truncated_geometric")
DISTRIBUTIONS = (*WRITTEN, "given", "like", "count")
MAX_COUNT = 2_000  # entries of an array
_SIZE = whole(1, MAX_COUNT)


_ROW = by_name(
    "[prior.NAME.table.VALUE]",
    "A distribution: each value with its probability.",
    EXPRESSION,
    "A probability.",
    named="VALUE",
)
_BERNOULLI = Key("bernoulli", EXPRESSION, "1 with this probability, and 0 otherwise.")
_BINOMIAL = Key(
    "binomial",
    Listed("[trials, probability]", (whole(1, 1000), EXPRESSION)),
    "The number of successes: the number of trials, and the probability of success in each.",
)
_UNIFORM = Key("uniform", Listed("a list of values", VALUE, least=1), "Values that are equally likely.")
_CATEGORICAL = "Any values, each with its probability."
FIRST = Section(
    "[prior.NAME.first]",
    "The distribution of the entries whose earlier variables do not exist.",
    (
        _BERNOULLI,
        _BINOMIAL,
        Key("categorical", replace(_ROW, name="[prior.NAME.first.categorical]"), _CATEGORICAL),
        _UNIFORM,
    ),
    rules=(exactly_one(*ALONE),),
)
DISTRIBUTION = Section(
    "[prior.NAME]",
    "A random variable.",
    (
        _BERNOULLI,
        _BINOMIAL,
        Key("categorical", replace(_ROW, name="[prior.NAME.categorical]"), _CATEGORICAL),
        _UNIFORM,
        Key(
            "truncated_geometric",
            EXPRESSION,
            "The number alpha of truncated geometric noise on 0..range, from 0 to 1.",
        ),
        Key("range", whole(1, MAX_RANGE), "The largest value of this noise."),
        Key(
            "around",
            EXPRESSION,
            "The number to which the noise is added: an expression over earlier variables.",
        ),
        Key("like", TEXT, "The name of an earlier variable whose distribution this one copies."),
        Key(
            "given",
            Either((TEXT, Listed("a list of texts", TEXT, least=1))),
            "The earlier variable, or list of variables, on which this one depends; in an array, "
            "for example `person[i-1]`.",
        ),
        Key(
            "table",
            by_name(
                "[prior.NAME.table]",
                "A distribution for each value of `given`.",
                _ROW,
                "A distribution.",
                named="VALUE",
            ),
            "A distribution for each value of `given`; for several variables, separate the values by commas.",
        ),
        Key(
            "count",
            Either(
                (whole(1, MAX_COUNT), Listed("two whole numbers", (whole(1, MAX_COUNT), whole(1, MAX_COUNT))))
            ),
            "Makes this an array of variables that are distributed alike: NAME[1], NAME[2] and "
            "so on, or rows and columns.",
        ),
        Key("first", FIRST),
        Key(
            "outside", VALUE, "In an array: the value that stands for variables in `given` that do not exist."
        ),
    ),
    rules=(
        exactly_one(*WRITTEN, "table", "like"),
        at_most_one(*WRITTEN, "given"),
        at_most_one(*ALONE, "table", "around"),
        needs("table", "given"),
        needs("truncated_geometric", "range", "around"),
        needs("range", "truncated_geometric"),
        needs("first", "count", "given"),
        needs("outside", "count", "given"),
        at_most_one("like", "count"),
    ),
)
PRIOR = Section(
    "[prior]",
    "The attacker's prior belief: variables in order; later ones may depend on earlier ones.",
    others=Key(
        "NAME",
        Either((EXPRESSION, DISTRIBUTION)),
        "A variable: its distribution, or an expression over earlier variables.",
    ),
    names=NAME,
)


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
            raise CaseError(f"the table has no row for {shown}; add one", key="table")
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
            check_compared_labels(self.around, earlier)

    def __call__(self, assignment: Mapping[str, Value]) -> Row:
        return self.near(evaluate(self.around, assignment))

    def near(self, value: Value) -> Row:
        """Returns the distribution around a value."""
        top = self.noise.range
        if isinstance(value, str) or value not in range(top + 1):
            found = f"{self.around.text} is {printable.name(str(value))}"
            raise CaseError(
                f"{found}, but with this range it must be a whole number from 0 to {top}", key="around"
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
            raise CaseError(f"{name} has no {key}, so it cannot be replaced; remove this key", key=key)
    return Table({**written[name], **own})


_VARIABLE = re.compile(r"\w+\s*(\[[^\]]*\])?")  # or an entry of an array


def read_entry(entry: object, earlier: Mapping[str, Collection[Value]], checks: Checks) -> Entry:
    if isinstance(entry, (str, int)):
        expression = as_expression(entry)
        check_compared_labels(expression, earlier)
        return Derived(expression, checks)
    if not isinstance(entry, dict):
        raise CaseError("a variable must be a distribution (a table) or an expression over earlier variables")
    table = Table(entry, DISTRIBUTION)
    result: Rows
    if "given" in table:
        given = [table.text("given")] if isinstance(table.get("given"), str) else table.texts("given")
        for name in given:
            if name not in earlier:
                base = name.partition("[")[0]
                near = spelling.nearest(base, without_entries(earlier))
                mend = f"did you mean {near}?" if near and near != base else ""
                if not _VARIABLE.fullmatch(name):
                    mend = f'given names variables: define s = "{name}" first, and write given = "s"'
                    if "[" in name:
                        mend = "given names variables: write a list of them"
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
                    raise CaseError("this must be a table from values to probabilities")
                _no_distribution(row)
                parts = [key] if len(given) == 1 else key.split(",")
                if len(parts) != len(given):
                    raise CaseError(f"this key must have one value for each of {', '.join(given)}")
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
    reason = f"{kind} is a distribution, but a row of the table lists values"
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
            raise CaseError("uniform needs a list of values, such as [0, 1, 2]", key="uniform")
        share = RationalFunction.of(checks.ring.number(Fraction(1, len(values))))
        with located(key="uniform"):
            return _checked(dict.fromkeys(distinct(values), share), checks)
    if "categorical" in table:
        return _row(table.table("categorical").data, checks)
    table.check_spelling(*DISTRIBUTIONS, alike=spelling.TYPED)
    raise CaseError(
        f"this variable has no known distribution: give one of {', '.join(WRITTEN)}, like, "
        "or given with table"
    )


def _binomial(table: Table, checks: Checks) -> dict[Value, RationalFunction]:
    arguments = table.get("binomial")
    if not isinstance(arguments, list) or len(arguments) != 2:
        raise CaseError(
            "binomial needs a list of two: write binomial = [number of trials, probability]", key="binomial"
        )
    trials, probability = arguments
    if not isinstance(trials, int) or isinstance(trials, bool) or not 1 <= trials <= 1000:
        raise CaseError("the number of trials must be a whole number from 1 to 1000", key="binomial")
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


_OWN = ("count", "first", "outside")


def check_array(given: Mapping[str, object], names: Collection[str]) -> None:
    """Checks the size of an array, and that its indices mean nothing else.

    Raises:
        CaseError: a mistake.
    """
    table = Table(given, DISTRIBUTION)
    sizes = sizes_of(table.get("count"))
    if sizes is None:
        raise CaseError("count must be a whole number from 1 on, or a list of two", key="count")
    total = 1
    for size in sizes:
        total *= size
    if total > MAX_COUNT:
        raise CaseError(f"an array may have at most {MAX_COUNT:,} entries", key="count")
    for index in INDICES[: len(sizes)]:
        if index in names:
            raise CaseError(f"{index} is reserved for the index of arrays: rename this variable")
    table.get("outside")
    if "first" in table:
        first = table.table("first")
        if sum(word in first for word in ALONE) != 1 or len(first.data) > 1:
            raise CaseError(f"first must be a single distribution: one of {', '.join(ALONE)}", key="first")


def names_of(name: str, arrays: Arrays) -> list[str]:
    """Returns the names of the entries of an array; none of what is no array."""
    return [entry(name, place) for place in arrays.places(name)] if name in arrays.sizes else []


def entries_of(
    name: str, given: Mapping[str, object], arrays: Arrays
) -> Iterator[tuple[str, dict[str, object]]]:
    """Yields the entries of an array in their order, each with its name and its own table.

    An earlier variable that does not exist has the value `outside`; where none exists, the distribution is
    that of `first`.

    Raises:
        CaseError: an index that is none, or an entry that needs `first` or `outside`.
    """
    plain = {key: value for key, value in given.items() if key not in _OWN}
    parents = plain.get("given", [])
    listed = [parents] if isinstance(parents, str) else parents
    if "like" in plain:
        raise CaseError("like is not supported in an array; write the distribution out", key="like")
    for key in ("first", "outside"):
        if key in given and not listed:
            alone = "move the distribution beside count" if key == "first" else "delete this line"
            raise CaseError("this key has no effect without given", key=key, mend=f"{alone}, or add given")
    for place in arrays.places(name):
        here = Arrays(arrays.sizes, bound(place))
        if not isinstance(listed, list) or not all(isinstance(g, str) for g in listed) or not listed:
            yield entry(name, place), dict(plain)
            continue
        found = [_parent(text, here) for text in listed]
        if None not in found:
            yield entry(name, place), {**plain, "given": found}
        else:
            yield entry(name, place), _at_edge(given, found, entry(name, place))


def _parent(text: str, here: Arrays) -> str | None:
    """Returns the variable that a text of `given` names at an index; None where there is none."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        if isinstance(tree, ast.Name) and tree.id in here.sizes:
            return here.here(tree.id)
        if not isinstance(tree, ast.Subscript) or not isinstance(tree.value, ast.Name):
            return text
        if tree.value.id not in here.sizes:
            raise IndexMistake(f"{tree.value.id} is not an array of the prior{_near(tree.value.id, here)}", 0)
        place: Index = here.place(tree)
    except IndexMistake as mistake:
        raise CaseError(f"{text}: {mistake.reason}", key="given") from None
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return text
    return entry(tree.value.id, place) if here.has(tree.value.id, place) else None


def _near(name: str, here: Arrays) -> str:
    near = nearest_word(name, here.sizes)
    return f"; did you mean {near}?" if near else ""


def _at_edge(given: Mapping[str, object], parents: list[str | None], name: str) -> dict[str, object]:
    """Returns the table of an entry of which some earlier variables do not exist."""
    first, table = given.get("first"), given.get("table")
    if "first" in given and all(parent is None for parent in parents):
        assert isinstance(first, dict)  # it is checked
        return dict(first)
    if "outside" not in given or not isinstance(table, dict):
        mend = "write, for example, outside = 0: the value to use for a variable that does not exist"
        reason = f"{name} depends on a variable that does not exist"
        if all(parent is None for parent in parents):
            mend = 'write, for example, first = { bernoulli = "1/2" }, or outside = 0'
        raise CaseError(reason, key="given", mend=mend)
    outside = as_value(given["outside"])
    rows: dict[str, object] = {}
    for key, row in table.items():
        parts = [key] if len(parents) == 1 else str(key).split(",")
        if len(parts) != len(parents):
            raise CaseError(
                f"this key must have one value for each of {len(parents)} variables", key=f"table.{key}"
            )
        fits = all(as_value(part.strip()) == outside for part, p in zip(parts, parents, strict=True) if not p)
        left = ",".join(part.strip() for part, parent in zip(parts, parents, strict=True) if parent)
        if fits and left in rows:
            raise CaseError("two rows are for the same values; remove one of them", key=f"table.{key}")
        if fits:
            rows[left] = row
    kept = [parent for parent in parents if parent]
    if kept:
        return {"given": kept, "table": rows}
    if not rows:
        raise CaseError(
            f"the table has no row for {given['outside']}, the value of outside; add one", key="table"
        )
    return {"categorical": rows[""]}


MAX_ASSIGNMENTS = 1_000  # that are listed

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
class Condition:
    """What a secret says of a prior: the assignments on which it holds with their weights, or factors."""

    weights: Mapping[Assignment, RationalFunction] | None
    evidence: Sequence[Factor] = ()


@dataclass(frozen=True, eq=False)
class Prior:
    """The joint distribution of the prior's variables: a weight for every possible assignment.

    `values` are the values of each variable, also those that only parts of the distribution have. With many
    assignments `weights` is None, and the `network` says the same.
    """

    names: tuple[str, ...]
    weights: Mapping[Assignment, RationalFunction] | None
    values: Mapping[str, Collection[Value]]
    network: Network

    def where(self, secret: Expression) -> Condition:
        """Returns the part of the joint distribution on which the secret holds (weights not rescaled).

        Raises:
            ExpressionError: a mistake in the secret, such as a label that the compared variable never takes.
            LimitError: it is about too many variables at once.
        """
        check_compared_labels(secret, self.values)
        if self.weights is None:
            return Condition(None, self.network.evidence(self.network.known(secret)))
        kept = {
            values: weight
            for values, weight in self.weights.items()
            if truth(secret, dict(zip(self.names, values, strict=True)))
        }
        return Condition(kept)

    def answers(
        self, conditions: Mapping[str, Condition], queries: Sequence[tuple[str, Expression]]
    ) -> dict[str, dict[Answers, RationalFunction]]:
        """Returns the weight of each combination of answers under each condition.

        Weights count up to one positive factor for all. The queries come with their keys in the case file.

        Raises:
            ExpressionError: a mistake in a query.
            LimitError: too many variables depend on each other.
        """
        if self.weights is None:
            evidence = {name: condition.evidence for name, condition in conditions.items()}
            return self.network.weights(evidence, self.counted(queries))
        return {name: self._listed(condition, queries) for name, condition in conditions.items()}

    def counted(self, queries: Sequence[tuple[str, Expression]]) -> list[Query]:
        """Returns the queries as powers, where the assignments are not listed.

        Raises:
            InputError: a mistake in a query. LimitError: one that is too wide.
        """
        listed = []
        for key, query in queries:
            with located(key=key):
                listed.append(self.network.query(query))
        return listed

    def _listed(
        self, condition: Condition, queries: Sequence[tuple[str, Expression]]
    ) -> dict[Answers, RationalFunction]:
        found: dict[Answers, RationalFunction] = {}
        for values, weight in (condition.weights or {}).items():
            if not weight.numerator:
                continue
            assignment = dict(zip(self.names, values, strict=True))
            answers: Answers = ()
            for key, query in queries:
                with located(key=key):
                    answers = (*answers, valued(query, assignment))
            found[answers] = found[answers] + weight if answers in found else weight
        return found


def read_prior(table: Table, checks: Checks) -> Prior:
    """Reads `[prior]`: variables in order, where later entries may refer to earlier ones.

    The checks keep the mistakes: a malformed entry, an unknown name, or a table that is not a distribution.
    Their variables are left out.

    Raises:
        LimitError: a variable depends on too many others at once.
    """
    reader = _PriorReader(checks)
    for name in table:
        before = len(checks.mistakes.found)
        with checks.mistakes, located(key=name):
            reader.read(table, name)
            continue
        own = {name, *names_of(name, in_reach())}
        for part in checks.mistakes.found[before:]:
            if part.unknown in own:  # a mistake about itself follows from no other one
                part.unknown = ""
                if len(own) > 1:
                    two = any("," in one for one in own)  # two sizes
                    form = (
                        "[i-1,j]: variables are ordered row by row, such as week by week" if two else "[i-1]"
                    )
                    part.retell(part.reason, f"write, for example, {name}{form}")
        checks.mistakes.broken |= own
    weights = None if reader.is_long else reader.weights
    return Prior(tuple(reader.taken), weights, reader.taken, reader.network)


class _PriorReader:
    """Reads the variables one after the other; their assignments are listed as long as they are few."""

    def __init__(self, checks: Checks) -> None:
        self.checks = checks
        self.network = Network(checks)
        self.weights: dict[Assignment, RationalFunction] = {(): RationalFunction.of(checks.ring.number(1))}
        self.is_long = False
        self.entries: dict[str, Entry] = {}  # those that are not in the network yet
        self.taken: dict[str, Collection[Value]] = {}
        self.written: dict[str, Mapping[str, object]] = {}

    def read(self, table: Table, name: str) -> None:
        check_name(name)
        if name in self.checks.ring.parameters:
            raise CaseError("this is already the name of a parameter; choose another name")
        given = table.get(name)
        if isinstance(given, dict) and "count" in given:
            arrays = in_reach()
            check_array(given, [*self.checks.ring.parameters, *table.data])
            alike: dict[object, Entry] = {}
            for place, (own, raw) in zip(arrays.places(name), entries_of(name, given, arrays), strict=True):
                try:
                    with reaching(Arrays(arrays.sizes, bound(place))):
                        self._entry(own, raw, alike=alike)
                except InputError as error:
                    error.retell(f"{own}: {error.reason}")
                    raise
            return
        self._entry(name, given, like="like" in given if isinstance(given, dict) else False)

    def _entry(
        self, name: str, given: object, like: bool = False, alike: dict[object, Entry] | None = None
    ) -> None:
        entry = shared(given, self.written)
        data = entry.data if isinstance(entry, Table) else entry
        rows = self._read(data) if alike is None else self._alike(data, alike)
        if isinstance(entry, Table):
            self.written[name] = entry.data
        weights = None if self.is_long else self._listed(rows)
        if isinstance(rows, Rows) and rows.stray and not like:
            raise rows.stray
        self.entries[name] = rows
        if weights is not None:
            self.weights = weights
            self.taken[name] = dict.fromkeys(values[-1] for values in weights)
        else:
            self.is_long = True
            for other, its in self.entries.items():
                its.join(self.network, other)
            self.entries.clear()
            self.taken[name] = self.network.values_of(name)

    def _read(self, data: object) -> Entry:
        return read_entry(data, self.taken, self.checks)

    def _alike(self, data: object, known: dict[object, Entry]) -> Entry:
        """Reads an entry of an array; one that has the table of an earlier one is not read again."""
        assert isinstance(data, dict)
        given = [name for name in data.get("given", ()) if name in self.taken]
        rest = {key: value for key, value in data.items() if key != "given"}
        key = repr(rest), tuple(tuple(self.taken[name]) for name in given), len(data.get("given", ()))
        found = known.get(key)
        if isinstance(found, Rows) and len(found.given) == len(given):
            return Rows(given, found.rows, found.stray)
        known[key] = self._read(data)
        return known[key]

    def _listed(self, entry: Entry) -> dict[Assignment, RationalFunction] | None:
        """Returns all assignments with one more variable; None where there would be too many."""
        extended: dict[Assignment, RationalFunction] = {}
        for values, weight in self.weights.items():
            for value, probability in entry(dict(zip(self.taken, values, strict=True))).items():
                extended[(*values, value)] = weight * probability
                if len(extended) > MAX_ASSIGNMENTS:
                    return None
        return extended
