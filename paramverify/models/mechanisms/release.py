"""`kind = "release"`: the value of an expression, as it is or by chance, under labels if the case gives some.

Without `noise` and `table` the value itself is released: then the attacker's doubt is all that protects it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from paramverify.algebra.expressions import Expression, Value, evaluate
from paramverify.algebra.polynomials import RationalFunction
from paramverify.errors import CaseError, located
from paramverify.models.context import Checks
from paramverify.models.hmm import HMM
from paramverify.models.mechanisms import Input, Mechanism
from paramverify.models.mechanisms._inputs import RANGE, Anything, read_inputs
from paramverify.models.mechanisms._one_shot import OneShot
from paramverify.models.mechanisms._queries import LABELS
from paramverify.models.names import check_compared_labels as check_compared
from paramverify.models.names import check_labels, distinct, find, read_labels, same
from paramverify.models.noise import NOISE, read_noise
from paramverify.models.priors import InitialDistribution
from paramverify.models.relations import InputPart, Shape
from paramverify.tables import (
    EXPRESSION,
    NAME,
    VALUE,
    Either,
    Key,
    Listed,
    Section,
    Table,
    as_expression,
    at_most_one,
    by_name,
)

CHECKED = True  # `read` checks the probabilities
TOLD = "The value of a query is released: unchanged, with noise, or by a table of probabilities."

_ROW = by_name(
    "[mechanism.table.VALUE]",
    "A distribution; outputs that you leave out have probability zero.",
    EXPRESSION,
    "A probability.",
    named="VALUE",
)
TABLE = replace(
    by_name(
        "[mechanism.table]",
        "The probability of each output, for each value of `query`.",
        _ROW,
        "The distribution of the output for this value.",
        named="VALUE",
    ),
    least=1,
)
INPUT = Section(
    "[mechanism.inputs.NAME]",
    "An input of the expression, for [neighbours].",
    (
        Key(
            "values",
            Either((RANGE, Listed("a list of values", VALUE, least=1))),
            'The possible values: a list, or a range such as "0..3".',
            needed=True,
        ),
    ),
)
INPUTS = Section(
    "[mechanism.inputs]",
    "The inputs that `query` uses, for [neighbours].",
    others=Key("NAME", INPUT, "An input with its values."),
    names=NAME,
    least=1,
)
SECTION = Section(
    "release",
    "The value of an expression, unchanged or randomised.",
    (
        Key(
            "query",
            EXPRESSION,
            "The expression that is released, over the variables of [prior] or over `inputs`.",
            needed=True,
        ),
        Key("noise", NOISE, "The noise that is added to a value from 0 to `range`."),
        Key("table", TABLE),
        LABELS,
        Key("inputs", INPUTS),
    ),
    rules=(at_most_one("noise", "table"),),
)

Row = Mapping[str, RationalFunction]


@dataclass(frozen=True, eq=False, kw_only=True)
class ExpressionRelease(OneShot):
    """One value of an expression; `value` gives it for an input, whose parts have the names `parts`."""

    value: Callable[[Input], Value]
    parts: tuple[str, ...]
    labels: Table

    @property
    def shape(self) -> Shape:
        """The inputs with their names."""
        return tuple(InputPart(name, None) for name in self.parts) or (InputPart("", None),)

    def build(self, inputs: Sequence[Input]) -> tuple[HMM, list[InitialDistribution]]:
        """Returns the model with one state for each distinct input, and the outputs that these have."""
        if self.outputs:
            return super().build(inputs)
        values = sorted(dict.fromkeys(map(self.value, inputs)), key=_order)
        shown = [str(v) for v in values]
        check_labels(v for v in values if isinstance(v, str))
        outputs = self._named(shown)
        one, zero = (RationalFunction.of(self.checks.ring.number(n)) for n in (1, 0))

        def release(given: Input) -> list[RationalFunction]:
            return [one if v == self.value(given) else zero for v in values]

        return OneShot(self.checks, self.queries, self.answers, outputs, release).build(inputs)

    def _named(self, shown: Sequence[str]) -> tuple[str, ...]:
        """Returns the labels of values; labels of values that do not occur here are left out."""
        if "labels" not in self.labels:
            return tuple(shown)
        with located(key="mechanism"):
            given = self.labels.table("labels").data
            every = dict.fromkeys((*shown, *given))
            named = dict(zip(every, read_labels(self.labels, list(every)), strict=True))
        return tuple(named[name] for name in shown)


def _order(value: Value) -> tuple[bool, Fraction, str]:
    return (True, Fraction(0), value) if isinstance(value, str) else (False, Fraction(value), "")


def read(table: Table, checks: Checks) -> Mechanism:
    """Reads `query`, `noise` or `table` or neither, `labels`, and `inputs` for `[neighbours]`."""
    query = table.expression("query")
    parts, answers = _inputs(table, checks, query)

    def value(given: Input) -> Value:
        found = evaluate(query, dict(zip(parts, given, strict=True))) if parts else given[0]
        return Fraction(found) if isinstance(found, bool) else found

    if "noise" in table and "table" in table:
        raise CaseError("give either noise or table, not both", key="table")
    if "noise" not in table and "table" not in table:
        table.get("labels")

        def none(given: Input) -> Sequence[RationalFunction]:
            return ()

        answers = answers or (Anything(),)
        queries = () if parts else (query,)
        return ExpressionRelease(checks, queries, answers, (), none, value=value, parts=parts, labels=table)
    rows, outputs = _noisy(table, checks) if "noise" in table else _table(table, checks)

    def release(given: Input) -> Sequence[RationalFunction]:
        try:
            return rows[find(value(given), list(rows))]
        except CaseError as error:
            reason = f"{query.text} is {value(given)}: {error.reason}"
            raise CaseError(reason, key="mechanism.query") from None

    return ExpressionRelease(
        checks,
        () if parts else (query,),
        answers or ((tuple(rows),) if "noise" in table else (Anything(),)),
        read_labels(table, outputs),
        release,
        value=value,
        parts=parts,
        labels=table,
    )


def _inputs(
    table: Table, checks: Checks, query: Expression
) -> tuple[tuple[str, ...], tuple[tuple[Value, ...], ...]]:
    """Reads `[mechanism.inputs]`: the names and values of what the query is about, for `[neighbours]`."""
    if "inputs" not in table:
        return (), ()
    with table.within("inputs") as inputs:
        parameters = (*checks.ring.parameters, *(u.name for u in checks.ring.unbounded))
        given = read_inputs(inputs, parameters, INPUT)
        for name, found in given.items():
            if found.queries:
                reason = f'write {name} = {{ values = "0..1" }} here; expressions belong in query'
                raise CaseError(reason, key=name)
        if not given:
            raise CaseError("inputs is empty: remove the table, or list an input")
    values = {name: found.answers[0] for name, found in given.items()}
    with located(key="query"):
        check_compared(query, values)
        for name, node in query.names().items():
            if name not in values:
                raise query.error(f"unknown name {name!r}; the inputs are {', '.join(values)}", node)
    return tuple(values), tuple(values.values())


def _noisy(table: Table, checks: Checks) -> tuple[dict[Value, Sequence[RationalFunction]], list[str]]:
    noise = read_noise(table, "noise", checks)
    rows: dict[Value, Sequence[RationalFunction]] = {Fraction(f): row for f, row in enumerate(noise.rows)}
    return rows, [str(o) for o in range(noise.top + 1)]


def _table(table: Table, checks: Checks) -> tuple[dict[Value, Sequence[RationalFunction]], list[str]]:
    """Reads `table`: for each value of the query, how likely each output is."""
    with table.within("table") as given:
        known = distinct(given)
        written: dict[Value, dict[Value, RationalFunction]] = {}
        spelt: dict[Value, str] = {}
        for value, name in known.items():
            with given.within(str(name)) as row:
                written[value] = {}
                for output, text in distinct(row).items():
                    if spelt.setdefault(output, str(text)) != text:
                        raise CaseError(same(spelt[output], text))
                    with located(key=str(text)):
                        written[value][output] = checks.function(as_expression(row.get(str(text))))
                checks.distribution({str(o): p for o, p in written[value].items()}, "this row")
        if len(written) < 1:
            raise CaseError("table must have a row for each value of the query")
        check_labels(output for output in spelt if isinstance(output, str))
    zero = RationalFunction.of(checks.ring.number(0))
    rows = {value: [row.get(output, zero) for output in spelt] for value, row in written.items()}
    return dict(rows), [str(output) for output in spelt]
